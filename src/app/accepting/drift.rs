//! The drift test: the same users on pools with hygiene and on pools without, over real sessions (B-08, B-09), and one
//! transaction whose reads must stay where it began (B-07, C-12).
//!
//! The pools decide (`routing::pool`); here are the sessions, the users with bad habits, and a second look at each
//! session that was handed out, which trusts neither pool.

mod binding;
mod pools;

use std::collections::BTreeMap;

use crate::link::clock;
use crate::link::pooling::{PoolDial, PoolUse, PooledLink, Whereabouts};
use crate::model::acceptance::{Beside, DriftTable};
use crate::model::phrase::phrase;
use crate::model::probe::ProbeRow;
use crate::model::server::WatchId;
use crate::model::trouble::{Trouble, TroubleKind};
use crate::routing::decision::{Decision, Reason};
use crate::routing::pool::fields::{self, Clean, Difference, Field, Observed};
use crate::routing::pool::sloppy::Drift;
use crate::routing::record::{Freshness, Record, Recorded};
use crate::routing::request::{Need, QueryKind, Request, SessionKey};

pub use binding::BindingReport;
use pools::{SloppySide, StrictSide};

/// The only replica of the test, in the words of `routing`.
const REPLICA: WatchId = WatchId(2);

/// A value, and who answered.
type Read = (Option<String>, Whereabouts);

/// Which servers, and on which row.
pub struct DriftTask<'a> {
    /// Where sessions that write connect to: the source, or a proxy before it.
    pub writes: &'a dyn PoolDial,
    /// The source itself, to know it when it answers.
    pub source: &'a dyn PoolDial,
    pub replica: &'a dyn PoolDial,
    pub schema: &'a str,
    /// Of the server that is written to, and of the replica.
    pub names: [&'a str; 2],
    /// It is there already, on the replica too.
    pub row: ProbeRow,
    /// How often the whole list of habits is gone through.
    pub rounds: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DriftReport {
    pub strict: Handed,
    /// Cleaned, and destroyed for want of a way to clean, by the pools with hygiene.
    pub cleaned: u64,
    pub destroyed: u64,
    pub sloppy: Handed,
    /// What the pools without hygiene know of themselves.
    pub drift: Drift,
    pub binding: BindingReport,
    /// Every user's request, and every read inside the transaction.
    pub records: Vec<Recorded>,
}

impl DriftReport {
    /// Both sides beside each other, with every field, also those that carried nothing.
    pub fn table(&self) -> DriftTable {
        let beside = |count: &dyn Fn(&Handed) -> u64| Beside {
            strict: count(&self.strict),
            sloppy: count(&self.sloppy),
        };
        let carried = |field: Field| {
            let count = move |handed: &Handed| handed.carried.get(&field).copied().unwrap_or(0);
            (field.phrase(), beside(&count))
        };
        DriftTable {
            lent: beside(&|handed| handed.lent),
            wrong_server: beside(&|handed| handed.wrong_server),
            carried: Field::ALL.map(carried).into(),
            none_left: beside(&|handed| handed.none_left),
        }
    }
}

/// What borrowers got, as the second look saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handed {
    pub lent: u64,
    /// Another server answered than the one asked for.
    pub wrong_server: u64,
    /// What the last user had left on it.
    pub carried: BTreeMap<Field, u64>,
    /// Asked for, and there was none left.
    pub none_left: u64,
}

impl Handed {
    pub fn drifted(&self) -> bool {
        self.wrong_server > 0 || !self.carried.is_empty() || self.none_left > 0
    }

    /// What it carries.
    fn look(
        &mut self,
        link: &mut dyn PooledLink,
        expected: &Expected,
    ) -> Result<Vec<Difference>, Trouble> {
        self.lent += 1;
        let at = link.whereabouts()?;
        self.wrong_server += u64::from(at.server != expected.server);
        let carried = fields::differences(&observe(link)?, &expected.clean);
        for difference in &carried {
            *self.carried.entry(difference.field).or_default() += 1;
        }
        Ok(carried)
    }
}

/// What a session to a server is like when nobody has used it.
#[derive(Clone, Debug)]
struct Expected {
    server: String,
    clean: Clean,
}

/// Users as they are: each does its work and leaves something behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    Tidy,
    /// Forgets the COMMIT.
    LeavesTransaction,
    ChangesSchema,
    ChangesIsolation,
    LeavesLabel,
}

/// One after the other. Those of the source come in a row too, so that each can find what the one before it left.
const USERS: [(PoolUse, Habit); 7] = [
    (PoolUse::Writes, Habit::LeavesTransaction),
    (PoolUse::Writes, Habit::ChangesSchema),
    (PoolUse::Writes, Habit::ChangesIsolation),
    (PoolUse::Writes, Habit::LeavesLabel),
    (PoolUse::Reads, Habit::Tidy),
    (PoolUse::Reads, Habit::LeavesLabel),
    (PoolUse::Writes, Habit::Tidy),
];

/// Blocks; every statement within its session's limits. `is_stopped` is asked between users.
pub fn run(task: &DriftTask<'_>, is_stopped: &dyn Fn() -> bool) -> Result<DriftReport, Trouble> {
    let source = expected(task.source, PoolUse::Writes, task.schema)?;
    let replica = expected(task.replica, PoolUse::Reads, task.schema)?;
    let mut strict = StrictSide::new(task, &source, &replica);
    let mut sloppy = SloppySide::new(task, &source, &replica);
    for _ in 0..task.rounds.max(1) {
        for (pool_use, habit) in USERS {
            if is_stopped() {
                return Err(trouble("accept.stopped"));
            }
            strict.serve(pool_use, habit, task)?;
            sloppy.serve(pool_use, habit, task)?;
        }
    }
    let (binding, inside) = binding::run(task, &source, &replica)?;
    let mut records = std::mem::take(&mut strict.records);
    records.append(&mut sloppy.records);
    records.extend(inside);
    records.sort_by_key(|recorded| recorded.record.at);
    let (cleaned, destroyed) = strict.counts();
    Ok(DriftReport {
        strict: strict.handed,
        cleaned,
        destroyed,
        drift: sloppy.drift(),
        sloppy: sloppy.handed,
        binding,
        records,
    })
}

fn expected(dial: &dyn PoolDial, pool_use: PoolUse, schema: &str) -> Result<Expected, Trouble> {
    let mut link = dial.dial_pooled(pool_use, schema)?;
    let server = link.whereabouts()?.server;
    let carried = link.observe()?;
    match (carried.read_only, carried.schema, carried.isolation) {
        (Some(read_only), Some(schema), Some(isolation)) => Ok(Expected {
            server,
            clean: Clean {
                read_only,
                schema,
                isolation,
            },
        }),
        _ => Err(trouble("accept.drift.not_told")),
    }
}

/// In the words of `routing`.
fn observe(link: &mut dyn PooledLink) -> Result<Observed, Trouble> {
    let carried = link.observe()?;
    Ok(Observed {
        in_transaction: carried.in_transaction,
        read_only: carried.read_only,
        schema: carried.schema,
        isolation: carried.isolation,
        route_label: carried.route_label,
    })
}

/// One user's work. A transaction left open has only read, so that nobody has to wait for its locks.
fn work(
    link: &mut dyn PooledLink,
    habit: Habit,
    pool_use: PoolUse,
    task: &DriftTask<'_>,
    isolation: &str,
) -> Result<Read, Trouble> {
    if habit == Habit::LeavesTransaction {
        link.begin()?;
    }
    // Whoever was handed a session in another schema still finds the row: it is asked for with its schema.
    let read = link.read(task.row)?;
    match habit {
        Habit::Tidy | Habit::LeavesTransaction => Ok(()),
        Habit::ChangesSchema => link.use_schema("information_schema"),
        Habit::ChangesIsolation => link.set_isolation(another(isolation)),
        Habit::LeavesLabel => link.set_route_label(match pool_use {
            PoolUse::Writes => "read_write",
            PoolUse::Reads => "read_only",
        }),
    }?;
    Ok(read)
}

/// One user's request as it was served.
fn record(
    task: &DriftTask<'_>,
    (pool_use, habit): (PoolUse, Habit),
    (value, at): &Read,
    carried: Vec<Difference>,
    left: Vec<Difference>,
) -> Recorded {
    let (kind, decision) = match pool_use {
        PoolUse::Writes => (QueryKind::Write, Decision::source(Reason::IsWrite)),
        PoolUse::Reads => {
            let decision = Decision::replica(REPLICA, Reason::FitReplica);
            (QueryKind::List, decision)
        }
    };
    let request = Request {
        session: SessionKey(at.session),
        kind,
        at: clock::now(),
        in_transaction: habit == Habit::LeavesTransaction,
        need: Need::Nothing,
        reads_to: None,
    };
    let mut record = Record::new(&request, Vec::new(), decision);
    record.carried = carried;
    record.left = Some(left);
    let [source, replica] = task.names;
    Recorded {
        record,
        // Nobody writes this row here: whoever sees it at all sees it as it is.
        freshness: match value {
            Some(_) => Freshness::Fresh,
            None => Freshness::Stale,
        },
        server: match pool_use {
            PoolUse::Writes => source.to_owned(),
            PoolUse::Reads => replica.to_owned(),
        },
        is_careless: false,
    }
}

fn another(isolation: &str) -> &'static str {
    match isolation {
        "READ-COMMITTED" => "REPEATABLE-READ",
        _ => "READ-COMMITTED",
    }
}

fn trouble(key: &'static str) -> Trouble {
    Trouble {
        kind: TroubleKind::QueryFailed,
        what: phrase(key),
        hint: None,
        code: None,
        detail: String::new(),
    }
}
