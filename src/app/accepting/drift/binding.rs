//! One session with a transaction in the middle, routed twice: by `routing::binding`, which keeps a transaction where it
//! began, and by the kind of SQL alone, which sends every SELECT to the replica (B-01). Both on real sessions.

use super::pools::StrictPool;
use super::{DriftTask, Expected, REPLICA, trouble};
use crate::link::clock;
use crate::link::pooling::{PooledLink, Whereabouts};
use crate::model::server::WatchId;
use crate::model::trouble::Trouble;
use crate::routing::binding::{Binding, Place, Ran, Statement, Strayed, strayed};
use crate::routing::decision::{Decision, Reason};
use crate::routing::pool::{Lease, Origin};
use crate::routing::record::{Freshness, Record, Recorded};
use crate::routing::request::{Need, QueryKind, Request, SessionKey};

const SOURCE: WatchId = WatchId(1);
/// A server that is neither, behind a proxy.
const ELSEWHERE: WatchId = WatchId(0);

const SCRIPT: [Statement; 7] = [
    Statement::Read,
    Statement::Begin,
    Statement::Write,
    Statement::Read,
    Statement::Read,
    Statement::Commit,
    Statement::Read,
];

#[derive(Clone, Debug, PartialEq)]
pub struct BindingReport {
    pub bound: Trace,
    pub by_kind: Trace,
}

/// Where one session's statements ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    pub ran: Vec<Ran>,
    /// Statements that left their transaction.
    pub strayed: Vec<Strayed>,
    /// Reads inside the transaction, and how many of them saw what it had written.
    pub reads_inside: u64,
    pub saw_own_write: u64,
}

impl Trace {
    pub fn stayed(&self) -> bool {
        self.strayed.is_empty() && self.reads_inside > 0 && self.saw_own_write == self.reads_inside
    }
}

/// Who decides where a statement goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Router {
    Binding,
    KindOfSql,
}

pub fn run(
    task: &DriftTask<'_>,
    source: &Expected,
    replica: &Expected,
) -> Result<(BindingReport, Vec<Recorded>), Trouble> {
    let mut pools = Pools {
        source: StrictPool::new(Origin::Source, task.writes, task.schema, source),
        replica: StrictPool::of_replica(task.replica, task.schema, replica),
        servers: [source.server.clone(), replica.server.clone()],
        home: None,
        records: Vec::new(),
    };
    let report = BindingReport {
        bound: pools.session(Router::Binding, task)?,
        by_kind: pools.session(Router::KindOfSql, task)?,
    };
    Ok((report, pools.records))
}

struct Pools<'a> {
    source: StrictPool<'a>,
    replica: StrictPool<'a>,
    servers: [String; 2],
    /// The connection that holds the transaction.
    home: Option<Lease>,
    /// Of the reads inside the transactions.
    records: Vec<Recorded>,
}

impl Pools<'_> {
    fn session(&mut self, router: Router, task: &DriftTask<'_>) -> Result<Trace, Trouble> {
        let mut binding = Binding::default();
        let mut trace = Trace::default();
        // What nobody else can have written, and the other router has not.
        let text = match router {
            Router::Binding => "by binding, not yet committed",
            Router::KindOfSql => "by kind, not yet committed",
        };
        for statement in SCRIPT {
            let was_bound = binding.is_bound();
            let place = match (binding.statement(statement), router, statement) {
                (_, Router::KindOfSql, Statement::Read) => Place::Free,
                (place, ..) => place,
            };
            let ends = was_bound && !binding.is_bound();
            let (value, at) = self.run(place, statement, task, text, ends)?;
            trace.ran.push(Ran {
                statement,
                server: self.server(&at),
                connection: at.session,
            });
            if was_bound && statement == Statement::Read {
                let saw_own = value.as_deref() == Some(text);
                trace.reads_inside += 1;
                trace.saw_own_write += u64::from(saw_own);
                self.record(router, task, &at, saw_own);
            }
        }
        trace.strayed = strayed(SOURCE, &trace.ran);
        Ok(trace)
    }

    fn run(
        &mut self,
        place: Place,
        statement: Statement,
        task: &DriftTask<'_>,
        text: &str,
        ends: bool,
    ) -> Result<(Option<String>, Whereabouts), Trouble> {
        if place == Place::Free {
            let lease = lease(&mut self.replica)?;
            let answer = act(self.replica.link(&lease)?, statement, task, text);
            self.replica.give_back(lease);
            return answer;
        }
        let lease = match self.home.take() {
            Some(home) => home,
            None => lease(&mut self.source)?,
        };
        let answer = act(self.source.link(&lease)?, statement, task, text);
        let stays = (statement == Statement::Begin || place == Place::Bound) && !ends;
        if stays && answer.is_ok() {
            self.home = Some(lease);
        } else {
            self.source.give_back(lease);
        }
        answer
    }

    /// A read of what its own transaction has written.
    fn record(&mut self, router: Router, task: &DriftTask<'_>, at: &Whereabouts, saw_own: bool) {
        let request = Request {
            session: SessionKey(at.session),
            kind: QueryKind::List,
            at: clock::now(),
            in_transaction: true,
            need: Need::Nothing,
            reads_to: None,
        };
        let [source, replica] = task.names;
        let (name, decision) = match self.server(at) {
            SOURCE => (source, Decision::source(Reason::InTransaction)),
            on => (replica, Decision::replica(on, Reason::AnyReplica)),
        };
        self.records.push(Recorded {
            record: Record::new(&request, Vec::new(), decision),
            freshness: match saw_own {
                true => Freshness::Fresh,
                false => Freshness::Stale,
            },
            server: name.to_owned(),
            is_careless: router == Router::KindOfSql,
        });
    }

    fn server(&self, at: &Whereabouts) -> WatchId {
        match &self.servers {
            [source, _] if *source == at.server => SOURCE,
            [_, replica] if *replica == at.server => REPLICA,
            _ => ELSEWHERE,
        }
    }
}

fn lease(pool: &mut StrictPool<'_>) -> Result<Lease, Trouble> {
    pool.borrow()?
        .ok_or_else(|| trouble("accept.drift.none_left"))
}

/// Who answered is asked inside the transaction: before its end and after its beginning.
fn act(
    link: &mut dyn PooledLink,
    statement: Statement,
    task: &DriftTask<'_>,
    text: &str,
) -> Result<(Option<String>, Whereabouts), Trouble> {
    match statement {
        Statement::Read => link.read(task.row),
        Statement::Begin => {
            link.begin()?;
            Ok((None, link.whereabouts()?))
        }
        Statement::Commit => {
            let at = link.whereabouts()?;
            link.commit()?;
            Ok((None, at))
        }
        Statement::Write => {
            link.write(task.row, text)?;
            Ok((None, link.whereabouts()?))
        }
        // Not in the script.
        Statement::Rollback
        | Statement::ImplicitCommit
        | Statement::AutocommitOff
        | Statement::AutocommitOn => Ok((None, link.whereabouts()?)),
    }
}
