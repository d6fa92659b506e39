//! The lab in facts: what can be built, what traffic it carries, which faults can be made there, and how it stands.
//!
//! A lab is a topology of our own, made to be broken: simulated in this process, or real servers started and thrown
//! away. Everybody else meets its servers as ordinary servers with an address and an account.

mod faults;

use super::phrase::Phrase;
use super::profile::TopologyId;
use super::secret::Secret;
use super::server::Flavour;
use super::time::{Moment, Span};
use super::trouble::Trouble;
pub use faults::{Aim, Fault, FaultId, FaultKind, FaultNote, FaultState, Intensity, IntensityUnit};

/// The servers a simulation can play: names, columns and habits of that release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Generation {
    MySql57,
    MySql80,
    MySql84,
    #[default]
    MySql97,
    MariaDb1011,
    MariaDb118,
}

impl Generation {
    pub const ALL: [Generation; 6] = [
        Generation::MySql57,
        Generation::MySql80,
        Generation::MySql84,
        Generation::MySql97,
        Generation::MariaDb1011,
        Generation::MariaDb118,
    ];

    /// As `@@version` says it.
    pub fn version(self) -> &'static str {
        match self {
            Generation::MySql57 => "5.7.44-log",
            Generation::MySql80 => "8.0.37",
            Generation::MySql84 => "8.4.3",
            Generation::MySql97 => "9.7.4",
            Generation::MariaDb1011 => "10.11.18-MariaDB-log",
            Generation::MariaDb118 => "11.8.3-MariaDB-log",
        }
    }

    /// For the command line and files: `mysql-9.7`, `mariadb-10.11`.
    pub fn code(self) -> &'static str {
        match self {
            Generation::MySql57 => "mysql-5.7",
            Generation::MySql80 => "mysql-8.0",
            Generation::MySql84 => "mysql-8.4",
            Generation::MySql97 => "mysql-9.7",
            Generation::MariaDb1011 => "mariadb-10.11",
            Generation::MariaDb118 => "mariadb-11.8",
        }
    }

    pub fn from_code(code: &str) -> Option<Generation> {
        Generation::ALL.into_iter().find(|g| g.code() == code)
    }

    pub fn flavour(self) -> Flavour {
        match self {
            Generation::MariaDb1011 | Generation::MariaDb118 => Flavour::MariaDb,
            _ => Flavour::MySql,
        }
    }
}

/// What the servers of a lab are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    Simulated(Generation),
    /// Real servers of this flavour, if installed.
    Real(Flavour),
}

impl Default for Ground {
    fn default() -> Self {
        Ground::Simulated(Generation::default())
    }
}

impl Ground {
    pub fn flavour(self) -> Flavour {
        match self {
            Ground::Simulated(generation) => generation.flavour(),
            Ground::Real(flavour) => flavour,
        }
    }
}

/// Who copies from whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// One source, all others copy from it.
    #[default]
    Fan,
    /// Each copies from the one before it.
    Chain,
    /// Two sources; the others copy from both, on a channel each.
    MultiSource,
    /// A fan whose last replica applies everything later on purpose.
    Delayed { delay: Span },
}

/// A lab to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct LabPlan {
    pub ground: Ground,
    pub shape: Shape,
    /// Servers that copy.
    pub replicas: u32,
    pub semi_sync: bool,
    pub applier_workers: u32,
    /// Offered by the servers with a certificate of their own; simulated servers only.
    pub tls: bool,
    /// Two simulations with the same seed and the same commands do the same.
    pub seed: u64,
    pub traffic: Traffic,
}

impl Default for LabPlan {
    fn default() -> Self {
        LabPlan {
            ground: Ground::default(),
            shape: Shape::default(),
            replicas: 2,
            semi_sync: true,
            applier_workers: 4,
            tls: false,
            seed: 1,
            traffic: Traffic::default(),
        }
    }
}

/// How a lab is written down, to be made elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recipe {
    /// A Docker Compose file.
    #[default]
    Compose,
    /// A shell script around dbdeployer.
    Dbdeployer,
}

impl Recipe {
    pub fn file_name(self) -> &'static str {
        match self {
            Recipe::Compose => "compose.yaml",
            Recipe::Dbdeployer => "replicascope-lab.sh",
        }
    }
}

/// The most replicas of one lab. Real servers take some 200 MB of memory each.
pub const MOST_REPLICAS: u32 = 20;
pub const MOST_REAL_REPLICAS: u32 = 5;

/// What clients do to the lab.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Transactions on the source.
    pub writes_per_second: f64,
    /// Reads on the replicas, in turn.
    pub reads_per_second: f64,
    /// Rows changed by one transaction.
    pub rows_per_transaction: u32,
    /// Rows that all changes fall on; the fewer, the more they wait for each other. 0: spread over the whole table.
    pub hot_rows: u32,
}

impl Default for Traffic {
    fn default() -> Self {
        Traffic {
            writes_per_second: 5.0,
            reads_per_second: 20.0,
            rows_per_transaction: 1,
            hot_rows: 0,
        }
    }
}

/// Begins the id of every lab's topology and of no other: names become ids without this sign.
const LAB_TOPOLOGY: &str = "lab@";

/// The topology made of a lab's servers. It is never saved; another run is another topology.
pub fn lab_topology(run: u64) -> TopologyId {
    TopologyId(format!("{LAB_TOPOLOGY}{run}"))
}

pub fn is_lab_topology(id: &TopologyId) -> bool {
    id.0.starts_with(LAB_TOPOLOGY)
}

/// What became of the traffic since the lab runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrafficCounts {
    /// Transactions committed on a source, and the rows they changed.
    pub written: u64,
    pub rows_written: u64,
    /// Due and not committed: refused, or nobody to be reached.
    pub failed_writes: u64,
    pub read: u64,
    pub failed_reads: u64,
    pub last_error: Option<TrafficError>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TrafficError {
    pub at: Moment,
    pub server: LabServer,
    pub why: Trouble,
}

/// A server of the lab by its number; 0 is the first source. Numbers stay when roles change.
pub type LabServer = usize;

/// A server of a running lab, as anybody may reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabNode {
    pub server: LabServer,
    /// Such as `source`, `replica-1`.
    pub name: String,
    /// On loopback. Stays the same over a restart.
    pub port: u16,
    /// The servers it copies from now.
    pub copies_from: Vec<LabServer>,
    pub is_up: bool,
}

/// An account that every server of the lab knows.
#[derive(Clone, Debug)]
pub struct LabAccount {
    pub user: &'static str,
    pub password: Secret,
}

/// The accounts of a lab.
#[derive(Clone, Debug)]
pub struct LabAccounts {
    /// May do anything.
    pub admin: LabAccount,
    /// What watching takes, and writing into the schema of the probe.
    pub watcher: LabAccount,
    /// Reads and writes in the schema `shop`: for the programs of students.
    pub app: LabAccount,
}

impl LabAccounts {
    /// The account with this user name.
    pub fn of_user(&self, user: &str) -> Option<&LabAccount> {
        let all = [&self.admin, &self.watcher, &self.app];
        all.into_iter().find(|account| account.user == user)
    }
}

/// How a lab stands; told whole whenever something changed.
#[derive(Clone, Debug)]
pub struct LabStatus {
    pub plan: LabPlan,
    pub phase: LabPhase,
    pub nodes: Vec<LabNode>,
    /// While it runs.
    pub accounts: Option<LabAccounts>,
    /// PEM of the authority by which clients can verify the servers, where there is one.
    pub ca_pem: Option<String>,
    pub traffic: Traffic,
    /// What became of the traffic so far.
    pub carried: TrafficCounts,
    /// Oldest first; those that are over stay for a while.
    pub faults: Vec<FaultNote>,
    /// What this ground cannot do, and why.
    pub impossible: Vec<(FaultKind, Phrase)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LabPhase {
    /// Says what is being done.
    Starting(Phrase),
    Running {
        since: Moment,
    },
    Stopping,
    Stopped,
    Failed(Trouble),
}

/// What a person asks of the lab.
#[derive(Clone, Debug)]
pub enum LabOrder {
    Start(LabPlan),
    Stop,
    Carry(Traffic),
    Make(Fault),
    Undo(FaultId),
    UndoAll,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_what_they_name() {
        for generation in Generation::ALL {
            assert_eq!(Generation::from_code(generation.code()), Some(generation));
        }
    }
}
