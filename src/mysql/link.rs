//! One session as a worker sees it (`link::Link`).

use std::sync::Arc;
use std::time::Duration;

use crate::link::{Depth, Link, MarkReading, WaitAnswer, clock};
use crate::model::event::Position;
use crate::model::sample::{Answer, ClockReading, Sample};
use crate::model::server::Product;
use crate::model::time::{Moment, ServerTime};
use crate::model::trouble::Trouble;

use super::asker::Asker;
use super::dialect::Dialect;
use super::endpoint::Endpoint;
use super::poll::Carried;
use super::queries::{self, NAME, Question, Statements};
use super::rows::{GtidCache, Row, channels, coordinates, wall};
use super::session::Session;
use super::trouble::{unreadable, wait_failed};
use super::wait;

/// A session with what it has learned of its server.
pub struct MySqlLink {
    pub(super) asker: Asker,
    pub(super) dialect: Dialect,
    pub(super) statements: Statements,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) sets: GtidCache,
    pub(super) carried: Carried,
}

impl MySqlLink {
    pub(super) fn new(
        session: Session,
        dialect: Dialect,
        statements: Statements,
        endpoint: Arc<Endpoint>,
    ) -> Self {
        MySqlLink {
            asker: Asker::new(session, dialect.product.clone(), endpoint.clone()),
            dialect,
            statements,
            endpoint,
            sets: GtidCache::default(),
            carried: Carried::default(),
        }
    }

    fn gtids(&mut self, row: Row<'_>, name: &str, question: Question) -> Result<Position, Trouble> {
        let bytes = row.bytes(&[name]);
        let bytes = bytes.value().ok_or_else(|| unreadable(question))?;
        match self.sets.read(bytes, self.dialect.product.flavour) {
            Ok(set) => Ok(Position::Gtids(set)),
            Err(text) => Err(Trouble {
                detail: text,
                ..unreadable(question)
            }),
        }
    }

    fn mark_by_gtids(&mut self) -> Result<MarkReading, Trouble> {
        let asked_at = clock::now();
        let rows = self
            .asker
            .session
            .ask(Question::Mark, &self.statements.mark)?;
        let answered_at = clock::now();
        let row = rows.first().ok_or_else(|| unreadable(Question::Mark))?;
        let position = self.gtids(row, "position", Question::Mark)?;
        let server = row
            .bytes(&["utc_now"])
            .value()
            .and_then(|bytes| wall(bytes));
        Ok(MarkReading {
            asked_at,
            answered_at,
            position,
            clock: server.map(|at| ClockReading {
                server: ServerTime(at.micros),
                asked_at,
                answered_at,
            }),
        })
    }

    /// GTID is off: the position in the binary log, for which a privilege is needed.
    fn mark_by_coordinates(&mut self) -> Result<MarkReading, Trouble> {
        if !self.dialect.log_bin {
            return Err(wait_failed("trouble.mark.no_binlog", ""));
        }
        let asked_at = clock::now();
        let sql = &self.statements.binlog_position;
        let answer = self
            .asker
            .ask(Question::BinlogPosition, sql, |rows| coordinates(&rows))?;
        let position = match answer {
            Answer::Known {
                value: Some(at), ..
            } => Position::Coordinates(at),
            Answer::Refused(trouble) => return Err(trouble),
            _ => return Err(unreadable(Question::Mark)),
        };
        Ok(MarkReading {
            asked_at,
            answered_at: clock::now(),
            position,
            clock: None,
        })
    }

    /// How far the first channel has executed its source's binary log.
    fn applied_coordinates(&mut self) -> Result<Position, Trouble> {
        let flavour = self.dialect.product.flavour;
        let sql = &self.statements.channels;
        let answer = self.asker.ask(Question::Channels, sql, |rows| {
            channels(&rows, flavour)
                .into_iter()
                .find_map(|channel| channel.executed)
        })?;
        match answer {
            Answer::Known {
                value: Some(at), ..
            } => Ok(Position::Coordinates(at)),
            Answer::Refused(trouble) => Err(trouble),
            _ => Err(unreadable(Question::Applied)),
        }
    }
}

/// A killed session notices when its statement next looks; most do within milliseconds.
const TIME_TO_DIE: Duration = Duration::from_millis(100);

impl MySqlLink {
    /// Whether a query for sessions finds one. An account that may not see the process list still sees its own.
    fn is_listed(&mut self, sql: &str) -> Result<bool, Trouble> {
        match self.asker.session.ask(Question::Predecessor, sql) {
            Ok(rows) => Ok(rows.first().is_some()),
            Err(trouble) if self.is_spoiled() => Err(trouble),
            Err(_) => Ok(false),
        }
    }
}

impl Link for MySqlLink {
    fn product(&self) -> &Product {
        &self.dialect.product
    }

    fn session_id(&self) -> u64 {
        self.asker.session.id()
    }

    fn poll(&mut self, depth: Depth) -> Result<Sample, Trouble> {
        self.sample(depth)
    }

    fn mark(&mut self) -> Result<MarkReading, Trouble> {
        if self.dialect.gtids {
            self.mark_by_gtids()
        } else {
            self.mark_by_coordinates()
        }
    }

    fn applied(&mut self) -> Result<Position, Trouble> {
        if !self.dialect.gtids {
            return self.applied_coordinates();
        }
        let sql = &self.statements.applied;
        let rows = self.asker.session.ask(Question::Applied, sql)?;
        let row = rows.first().ok_or_else(|| unreadable(Question::Applied))?;
        self.gtids(row, "applied", Question::Applied)
    }

    fn wait(
        &mut self,
        target: &Position,
        channel: &str,
        limit: Duration,
    ) -> Result<WaitAnswer, Trouble> {
        let limit = limit.min(self.endpoint.limits.wait);
        let statement = wait::statement(&self.dialect, target, channel, limit);
        let asked_at = clock::now();
        let outcome = match statement {
            Err(trouble) => wait::failed(trouble),
            Ok((function, sql)) => match self.asker.session.ask(Question::Wait, &sql) {
                Ok(rows) => wait::outcome(function, &rows),
                Err(trouble) if self.is_spoiled() => return Err(trouble),
                Err(trouble) => wait::failed(trouble),
            },
        };
        Ok(WaitAnswer {
            asked_at,
            answered_at: clock::now(),
            outcome,
        })
    }

    fn end_predecessor(&mut self, session_id: u64) -> Result<bool, Trouble> {
        let look = queries::hanging_session(&self.dialect, session_id);
        if !self.is_listed(&look)? {
            return Ok(true);
        }
        // Refused when it ended by itself in this moment; the second look tells.
        let kill = format!("{NAME}KILL {session_id}");
        if let Err(trouble) = self.asker.session.ask(Question::Predecessor, &kill)
            && self.is_spoiled()
        {
            return Err(trouble);
        }
        std::thread::sleep(TIME_TO_DIE);
        Ok(!self.is_listed(&look)?)
    }

    fn refused_until(&self) -> Option<Moment> {
        self.asker.refused_until()
    }

    fn is_spoiled(&self) -> bool {
        self.asker.session.is_spoiled()
    }

    fn cost(&self) -> (u64, u64) {
        self.asker.session.cost()
    }
}
