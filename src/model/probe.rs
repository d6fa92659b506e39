//! The write-then-read probe: one write on the source, and what a plain replica read, a replica read after a wait and a
//! read on the source made of it, each at its instant on our clock.
//!
//! Here are the plan, the rows it writes, and what is known of a server before it starts; [`run`] is one run as it was
//! seen, [`summary`] what many of them add up to. Running it is the business of `monitor::prober`.

use serde::{Deserialize, Serialize};

pub mod run;
pub mod summary;

pub use run::{
    Outcome, ProbeRun, ReadFrom, ReplicaRun, Seen, Token, TokenFrom, Verdict, WaitKind, WaitSeen,
    WaitedRead, Write,
};
pub use summary::{ProbeSummary, ReplicaSummary};

use super::phrase::{Phrase, phrase};
use super::replication::Channel;
use super::sample::Identity;
use super::server::Product;
use super::time::Span;

/// Where our rows go unless the person names another schema.
pub const DEFAULT_SCHEMA: &str = "replicascope";

/// The table of ours in it.
pub const TABLE: &str = "probe";

/// Rows of one probe that lie in the table at any time.
pub const ROWS_KEPT: u32 = 500;

/// A source that refuses writes is asked again no sooner than this.
pub const REFUSED_PAUSE: Span = Span::from_secs(5);

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProbeFlavour {
    /// A new row each run: a late replica says "order not there".
    Insert,
    /// The same row each run: a late replica says the old address, which nobody notices.
    Update,
}

impl ProbeFlavour {
    pub fn code(self) -> &'static str {
        match self {
            ProbeFlavour::Insert => "insert",
            ProbeFlavour::Update => "update",
        }
    }
}

/// What the waited read waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Awaited {
    /// The GTID of this very commit.
    OwnGtid,
    /// All that the source had executed by then: also waits for everybody else's writes.
    WholeSet,
}

/// Who reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reader {
    /// The session that wrote, which knows what it wrote.
    #[default]
    Writer,
    /// Another session: nobody told it the GTID, so it asks the source for all that is executed before it waits.
    SomebodyElse,
}

/// How long after the commit the plain read is sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ReadDelay {
    /// At once, together with the wait.
    None,
    Fixed(Span),
    /// Spread evenly over 0…`up_to`; without it, over 0…the 99th percentile of the delay seen in the first runs.
    Swept {
        up_to: Option<Span>,
    },
}

/// One probe, single or repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbePlan {
    pub flavour: ProbeFlavour,
    pub awaited: Awaited,
    pub reader: Reader,
    /// The longest wait on a replica; always more than zero.
    pub wait_limit: Span,
    pub schema: String,
    pub read_delay: ReadDelay,
    pub runs: u32,
    /// Runs a second, at most.
    pub rate: f64,
    /// Also poll each replica as fast as it answers until the row is there: the floor no wait can be faster than.
    pub measures_floor: bool,
}

impl Default for ProbePlan {
    fn default() -> Self {
        ProbePlan {
            flavour: ProbeFlavour::Insert,
            awaited: Awaited::OwnGtid,
            reader: Reader::Writer,
            wait_limit: Span::from_secs(1),
            schema: DEFAULT_SCHEMA.to_owned(),
            read_delay: ReadDelay::None,
            runs: 1,
            rate: DEFAULT_RATE,
            measures_floor: false,
        }
    }
}

/// Runs a second where nobody asks for another number.
pub const DEFAULT_RATE: f64 = 20.0;
/// However it is asked for, no more runs a second than this.
pub const HIGHEST_RATE: f64 = 1_000.0;
pub const SHORTEST_WAIT: Span = Span::from_millis(1);
pub const LONGEST_WAIT: Span = Span::from_secs(60);
pub const MOST_RUNS: u32 = 1_000_000;

/// With a sweep to an end not given, so many runs are read at once to find it.
const RUNS_TO_LEARN: u32 = 20;
/// A sweep over less says nothing: instants of ours differ by as much.
const SHORTEST_SWEEP: Span = Span::from_millis(2);

impl ProbePlan {
    /// Why this plan cannot be carried out.
    pub fn problem(&self) -> Option<Phrase> {
        if self.wait_limit < SHORTEST_WAIT || self.wait_limit > LONGEST_WAIT {
            return Some(
                phrase("probe.plan.wait_limit")
                    .with("least", SHORTEST_WAIT)
                    .with("most", LONGEST_WAIT),
            );
        }
        if self.runs == 0 || self.runs > MOST_RUNS {
            return Some(phrase("probe.plan.runs").with("most", u64::from(MOST_RUNS)));
        }
        // NaN is no rate either.
        let rate_is_good = self.rate > 0.0 && self.rate <= HIGHEST_RATE;
        if !rate_is_good {
            return Some(phrase("probe.plan.rate").with("most", HIGHEST_RATE as u64));
        }
        let name = self.schema.trim();
        if name.is_empty() || name.chars().count() > 64 {
            return Some(phrase("probe.plan.schema"));
        }
        None
    }

    /// When the plain read of run `number` (from 1) is sent, after the commit. `p99_delay` is what the runs so far say
    /// of the delay.
    ///
    /// A sweep goes through its range by the golden ratio: after any number of runs it is covered evenly, so that a
    /// probe stopped early has a whole curve too.
    pub fn read_delay_of(&self, number: u32, p99_delay: Option<Span>) -> Span {
        match self.read_delay {
            ReadDelay::None => Span::ZERO,
            ReadDelay::Fixed(delay) => delay.or_zero(),
            ReadDelay::Swept { up_to: None } if number <= RUNS_TO_LEARN => Span::ZERO,
            ReadDelay::Swept { up_to } => {
                let end = up_to
                    .or(p99_delay)
                    .unwrap_or(SHORTEST_SWEEP)
                    .max(SHORTEST_SWEEP);
                let share = (f64::from(number) * 0.618_033_988_749_895).fract();
                Span::from_micros((end.micros() as f64 * share) as i64)
            }
        }
    }

    /// The row run `number` writes and reads.
    pub fn row(&self, probe: ProbeId, number: u32) -> ProbeRow {
        ProbeRow {
            probe,
            number: match self.flavour {
                ProbeFlavour::Insert => number,
                ProbeFlavour::Update => 0,
            },
        }
    }

    /// What run `number` writes: recognisable by anybody who finds it. Run 0 is the row that UPDATE starts from.
    pub fn value(&self, probe: ProbeId, number: u32) -> String {
        let what = match self.flavour {
            ProbeFlavour::Insert => "order",
            ProbeFlavour::Update => "address",
        };
        format!("{what} {:08x}-{number}", probe.0)
    }
}

/// Tells one probe's rows from another's: two workstations may probe the same source. Chosen at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeId(pub u32);

/// The primary key of a row of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeRow {
    pub probe: ProbeId,
    pub number: u32,
}

/// A server as it stands before the probe, and again when it may have changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerState {
    pub product: Product,
    pub identity: Identity,
    /// As the server says it; MariaDB has none.
    pub gtid_mode: Option<String>,
    /// New transactions get a GTID.
    pub has_gtids: bool,
    pub enforce_gtid_consistency: Option<String>,
    pub log_bin: bool,
    /// `None`: this account may not see them.
    pub channels: Option<Vec<Channel>>,
    /// Our table is there, as far as this account can tell.
    pub has_table: bool,
}

impl ServerState {
    /// Whether a write by us may be tried. `super_read_only` and Aurora's `innodb_read_only` count like `read_only`:
    /// an account that may write all the same would make an errant transaction.
    pub fn is_read_only(&self) -> bool {
        is_read_only(&self.identity)
    }

    pub fn is_replica(&self) -> bool {
        self.channels.as_ref().is_some_and(|all| !all.is_empty())
    }
}

/// Why waiting on a server with these channels would only use up its limit: the function does not notice threads that do
/// not run (T-8). Where we may not see them, the wait is tried.
pub fn why_not_wait(channels: Option<&[Channel]>) -> Option<WaitKind> {
    let channels = channels?;
    if channels.is_empty() {
        return Some(WaitKind::NoReplica);
    }
    let is_stopped = |channel: &Channel| !channel.applier.is_running();
    channels
        .iter()
        .all(is_stopped)
        .then_some(WaitKind::NotRunning)
}

/// One statement of a probe as a person reads it before the first run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedStatement {
    pub on: On,
    /// Without the comment that names us, with `;`.
    pub sql: String,
    pub changes_something: bool,
}

/// Which server a statement goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Source,
    Replica,
}

impl On {
    /// Its word in the catalogue.
    pub fn key(self) -> &'static str {
        match self {
            On::Source => "probe.on.source",
            On::Replica => "probe.on.replica",
        }
    }
}

pub fn is_read_only(identity: &Identity) -> bool {
    [
        identity.read_only,
        identity.super_read_only,
        identity.innodb_read_only,
    ]
    .contains(&Some(true))
}

/// One thing that must be so before a probe, and whether it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    pub met: Met,
    pub what: Phrase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    Yes,
    /// The probe goes on without it: part of what it shows is missing.
    Limits,
    /// No probe.
    No,
    CannotTell,
}

/// What must be so on the server that takes the write.
pub fn source_preconditions(state: &ServerState) -> Vec<Precondition> {
    let mut list = gtid_preconditions(state);
    let log = if state.log_bin { Met::Yes } else { Met::Limits };
    list.push(precondition(
        log,
        "probe.need.log_bin",
        "probe.need.no_log_bin",
    ));
    let writable = if state.is_read_only() {
        Met::No
    } else {
        Met::Yes
    };
    list.push(precondition(
        writable,
        "probe.need.writable",
        "probe.need.read_only",
    ));
    if state.is_replica() {
        list.push(Precondition {
            met: Met::Limits,
            what: phrase("probe.need.source_follows"),
        });
    }
    list
}

/// What must be so on a replica for its reads to say what they should.
pub fn replica_preconditions(state: &ServerState) -> Vec<Precondition> {
    let mut list = gtid_preconditions(state);
    list.push(match &state.channels {
        None => Precondition {
            met: Met::CannotTell,
            what: phrase("probe.need.threads_hidden"),
        },
        Some(channels) if channels.is_empty() => Precondition {
            met: Met::Limits,
            what: phrase("probe.need.no_replica"),
        },
        Some(channels) => threads(channels),
    });
    if let Some(filter) = filtered(state) {
        list.push(Precondition {
            met: Met::Limits,
            what: phrase("probe.need.filtered").with("filter", filter),
        });
    }
    let read_only = if state.is_read_only() {
        Met::Yes
    } else {
        Met::Limits
    };
    list.push(precondition(
        read_only,
        "probe.need.replica_read_only",
        "probe.need.replica_writable",
    ));
    list
}

fn gtid_preconditions(state: &ServerState) -> Vec<Precondition> {
    if state.product.is_mariadb() {
        return Vec::new();
    }
    let on = |yes: bool| if yes { Met::Yes } else { Met::Limits };
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
    let enforced = state
        .enforce_gtid_consistency
        .as_deref()
        .is_some_and(|value| value.eq_ignore_ascii_case("ON") || value == "1");
    vec![
        Precondition {
            met: on(state.has_gtids),
            what: phrase("probe.need.gtid_mode").with("value", told(&state.gtid_mode)),
        },
        Precondition {
            met: on(enforced),
            what: phrase("probe.need.gtid_consistency")
                .with("value", told(&state.enforce_gtid_consistency)),
        },
    ]
}

fn threads(channels: &[Channel]) -> Precondition {
    let stopped = channels
        .iter()
        .any(|channel| !channel.applier.is_running() || !channel.receiver.is_running());
    let met = if stopped { Met::Limits } else { Met::Yes };
    precondition(met, "probe.need.threads", "probe.need.threads_stopped")
}

/// Any filter is shown: whether it lets our schema through is left to the person, and to the probe itself.
fn filtered(state: &ServerState) -> Option<String> {
    let channels = state.channels.as_ref()?;
    let quoted: Vec<String> = channels
        .iter()
        .flat_map(|channel| channel.filters.quoted())
        .map(|(name, text)| format!("{name}={text}"))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}

fn precondition(met: Met, good: &'static str, bad: &'static str) -> Precondition {
    let what = match met {
        Met::Yes => phrase(good),
        _ => phrase(bad),
    };
    Precondition { met, what }
}

/// Which of the servers takes the writes: the one that follows nobody; of several, the one that others follow; of
/// several still, the one that may be written to. `None` where that does not decide.
pub fn choose_source(states: &[Option<ServerState>]) -> Option<usize> {
    let known = || {
        states
            .iter()
            .enumerate()
            .filter_map(|(index, state)| Some((index, state.as_ref()?)))
    };
    let free: Vec<(usize, &ServerState)> = known().filter(|(_, s)| !s.is_replica()).collect();
    let followed: Vec<(usize, &ServerState)> = free
        .iter()
        .copied()
        .filter(|(_, state)| known().any(|(_, other)| follows(other, &state.identity)))
        .collect();
    let only = |of: &[(usize, &ServerState)]| match of {
        [(index, _)] => Some(*index),
        several => match several
            .iter()
            .filter(|(_, state)| !state.is_read_only())
            .collect::<Vec<_>>()
            .as_slice()
        {
            [(index, _)] => Some(*index),
            _ => None,
        },
    };
    if followed.is_empty() {
        // Two that follow each other: the one that may be written to (R45).
        if free.is_empty() {
            return only(
                &known()
                    .filter(|(_, s)| !s.is_read_only())
                    .collect::<Vec<_>>(),
            );
        }
        return only(&free);
    }
    only(&followed)
}

fn follows(state: &ServerState, source: &Identity) -> bool {
    state.channels.iter().flatten().any(|channel| {
        let by_uuid = channel
            .source
            .uuid
            .as_ref()
            .zip(source.server_uuid.as_ref());
        let by_id = channel.source.server_id.zip(source.server_id);
        match (by_uuid, by_id) {
            (Some((theirs, ours)), _) => theirs.eq_ignore_ascii_case(ours),
            (None, Some((theirs, ours))) => theirs == ours && theirs != 0,
            (None, None) => false,
        }
    })
}

#[cfg(test)]
mod tests;
