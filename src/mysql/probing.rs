//! A probe's sessions (`link::probing`): the only ones of ours that write, and only into a table of our own.

pub(super) mod statements;
mod tracking;

pub use statements::{account_sql, listed, listed_for_workload};

use std::time::Duration;

use crate::link::clock;
use crate::link::probing::{ProbeDial, ProbeLink, ProbePurpose, Written};
use crate::model::event::{Position, WaitOutcome};
use crate::model::gtid::Gtids;
use crate::model::phrase::phrase;
use crate::model::probe::{ProbePlan, ProbeRow, ServerState, Token, TokenFrom, WaitKind, WaitSeen};
use crate::model::replication::Channel;
use crate::model::sample::Identity;
use crate::model::server::Product;
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};

use super::connect::{Dialer, WAIT_MARGIN};
use super::dialect::{Dialect, has_gtids};
use super::privileges;
use super::queries::{Manner, Question};
use super::rows::{GtidCache, Rows, channels, facts, named};
use super::session::Session;
use super::trouble::{unreadable, wait_failed};
use super::wait;
use statements::ProbeSql;
use tracking::{Tracked, tracked};

impl ProbeDial for Dialer {
    fn dial_probe(
        &self,
        purpose: ProbePurpose,
        plan: &ProbePlan,
    ) -> Result<Box<dyn ProbeLink>, Trouble> {
        let limits = &self.endpoint().limits;
        let (manner, limit) = match purpose {
            ProbePurpose::Write => (Manner::Writes, limits.read),
            ProbePurpose::Read => (Manner::Reads, limits.read),
            ProbePurpose::WaitThenRead => (Manner::Waits, client_limit(plan.wait_limit)),
        };
        let (mut session, dialect) = self.open_in(manner, limit)?;
        if purpose == ProbePurpose::Write {
            ask_for_gtids(&mut session, &dialect)?;
        }
        let sql = ProbeSql::new(&dialect, &plan.schema);
        Ok(Box::new(MySqlProbe {
            session,
            dialect,
            sql,
            user: self.endpoint().user.clone(),
            sets: GtidCache::default(),
            last_token: None,
        }))
    }
}

/// A little above the server's own limit, which is in whole seconds on 5.7 (R21).
fn client_limit(wait: Span) -> Duration {
    Duration::from_secs(wait.to_duration().as_millis().div_ceil(1000) as u64) + WAIT_MARGIN
}

/// A server that cannot tell does so with an error, and the other ways are tried after each commit.
fn ask_for_gtids(session: &mut Session, dialect: &Dialect) -> Result<(), Trouble> {
    let sql = statements::tracking(dialect);
    match session.ask(Question::Hello, &sql) {
        Err(trouble) if session.is_spoiled() => Err(trouble),
        _ => Ok(()),
    }
}

struct MySqlProbe {
    session: Session,
    dialect: Dialect,
    sql: ProbeSql,
    user: String,
    sets: GtidCache,
    /// What the write before this one was told: `@@last_gtid` keeps it when a write got none.
    last_token: Option<Gtids>,
}

impl MySqlProbe {
    /// Like `Session::ask`, with the GRANT that would help.
    fn ask(&mut self, question: Question, sql: &str) -> Result<Rows, Trouble> {
        self.session.ask(question, sql).map_err(|mut trouble| {
            if trouble.kind == TroubleKind::MissingPrivilege {
                let account = privileges::account_name(None, &self.user);
                trouble.hint = self
                    .sql
                    .grant(question, &account)
                    .map(|sql| phrase("trouble.hint.grant").with("sql", sql));
            }
            trouble
        })
    }

    /// Rows of our table; none where the table itself, made on the source, has not arrived yet or never will
    /// (1146 ER_NO_SUCH_TABLE, 1049 ER_BAD_DB_ERROR).
    fn read_table(&mut self, sql: &str) -> Result<Rows, Trouble> {
        match self.ask(Question::ProbeRead, sql) {
            Err(trouble) if matches!(trouble.code, Some(1146 | 1049)) => Ok(Rows::default()),
            answer => answer,
        }
    }

    /// Sends one that changes a row, and says what it was told of the commit.
    fn write(&mut self, sql: &str) -> Result<Written, Trouble> {
        let asked_at = clock::now();
        let answer = self.ask(Question::ProbeWrite, sql);
        let committed_at = clock::now();
        answer.map_err(refusal)?;
        if self.session.affected_rows() == 0 {
            return Err(wait_failed("probe.write.no_row", ""));
        }
        let token = match tracked(&self.session.changes()) {
            Some(Tracked::Gtids(text)) => self.token(text.as_bytes(), TokenFrom::Session),
            // Zero-length is told too, when a write went to no binary log.
            Some(Tracked::LastGtid(text)) => self.token(text.as_bytes(), TokenFrom::Session),
            None => self.ask_for_token()?,
        };
        self.last_token = token.as_ref().ok().map(|token| token.gtids.clone());
        Ok(Written {
            asked_at,
            committed_at,
            token,
        })
    }

    /// The OK said nothing of a GTID: a proxy or an older server. On this very session, for it alone has surely seen
    /// the commit.
    fn ask_for_token(&mut self) -> Result<Result<Token, WaitKind>, Trouble> {
        if !self.dialect.product.is_mariadb() {
            return self.executed();
        }
        let rows = self.ask(Question::Mark, &self.sql.last_gtid.clone())?;
        let text = rows.single().unwrap_or_default();
        let token = self.token(text, TokenFrom::LastGtid);
        // Still that of the write before: this one got none.
        let is_new = |token: &Token| self.last_token.as_ref() != Some(&token.gtids);
        Ok(token.and_then(|token| {
            if is_new(&token) {
                Ok(token)
            } else {
                Err(WaitKind::NoGtid)
            }
        }))
    }

    /// Never an empty set: waiting for it would succeed at once (R21).
    fn token(&mut self, text: &[u8], from: TokenFrom) -> Result<Token, WaitKind> {
        match self.sets.read(text, self.dialect.product.flavour) {
            Ok(gtids) if !gtids.is_empty() => Ok(Token { gtids, from }),
            _ => Err(WaitKind::NoGtid),
        }
    }
}

impl ProbeLink for MySqlProbe {
    fn product(&self) -> &Product {
        &self.dialect.product
    }

    fn session_id(&self) -> u64 {
        self.session.id()
    }

    fn state(&mut self) -> Result<ServerState, Trouble> {
        let identity = self.role()?;
        let settings = self.ask(Question::ProbeState, &self.sql.settings.clone())?;
        let settings = named(&settings);
        let text = |name: &str| settings.text(name).map(str::to_owned);
        let gtid_mode = text("gtid_mode");
        let flavour = self.dialect.product.flavour;
        let channels = self.channels()?;
        let table = self.ask(Question::ProbeState, &self.sql.find_table.clone())?;
        Ok(ServerState {
            product: self.dialect.product.clone(),
            identity,
            has_gtids: flavour.is_mariadb() || gtid_mode.as_deref().is_some_and(has_gtids),
            gtid_mode,
            enforce_gtid_consistency: text("enforce_gtid_consistency"),
            log_bin: settings.switch(&["log_bin"]) == Some(true),
            channels,
            has_table: table.first().is_some(),
        })
    }

    fn role(&mut self) -> Result<Identity, Trouble> {
        let rows = self.ask(Question::ProbeState, &self.sql.role.clone())?;
        facts(&rows, self.dialect.product.flavour, &mut self.sets)
            .map(|facts| facts.identity)
            .ok_or_else(|| unreadable(Question::ProbeState))
    }

    fn channels(&mut self) -> Result<Option<Vec<Channel>>, Trouble> {
        match self.ask(Question::Channels, &self.sql.channels.clone()) {
            Ok(rows) => Ok(Some(channels(&rows, self.dialect.product.flavour))),
            Err(trouble) if self.is_spoiled() => Err(trouble),
            Err(_) => Ok(None),
        }
    }

    fn create_table(&mut self) -> Result<(), Trouble> {
        for sql in self.sql.create.clone() {
            self.ask(Question::ProbeTable, &sql).map_err(refusal)?;
        }
        Ok(())
    }

    fn insert(&mut self, row: ProbeRow, value: &str) -> Result<Written, Trouble> {
        let sql = self.sql.insert(row, value);
        self.write(&sql)
    }

    fn update(&mut self, row: ProbeRow, value: &str) -> Result<Written, Trouble> {
        let sql = self.sql.update(row, value);
        self.write(&sql)
    }

    /// With GTIDs off the set is that of former times: waiting for it would succeed at once, with the write unseen.
    fn executed(&mut self) -> Result<Result<Token, WaitKind>, Trouble> {
        if !self.dialect.log_bin {
            return Ok(Err(WaitKind::NoGtid));
        }
        let rows = self.ask(Question::Mark, &self.sql.executed.clone())?;
        let row = rows.first().ok_or_else(|| unreadable(Question::Mark))?;
        let mode_is_off = row
            .word(&["gtid_mode"])
            .is_some_and(|mode| !has_gtids(&mode));
        if mode_is_off || (!self.dialect.has_gtid_mode && !self.dialect.product.is_mariadb()) {
            return Ok(Err(WaitKind::GtidOff));
        }
        let position = row.bytes(&["position"]);
        let text = position.value().copied().unwrap_or_default();
        Ok(self.token(text, TokenFrom::ExecutedSet))
    }

    fn read(&mut self, row: ProbeRow) -> Result<Option<String>, Trouble> {
        let rows = self.read_table(&self.sql.read(row))?;
        Ok(rows.first().and_then(|row| row.text(&["value"])))
    }

    fn present(&mut self, from: ProbeRow, to: u32) -> Result<Vec<u32>, Trouble> {
        let rows = self.read_table(&self.sql.present(from, to))?;
        Ok(rows
            .iter()
            .filter_map(|row| row.told(&["number"]))
            .collect())
    }

    fn wait(&mut self, target: &Gtids, limit: Duration) -> WaitSeen {
        let target = Position::Gtids(target.clone());
        let (function, sql) = match wait::statement(&self.dialect, &target, "", limit) {
            Ok(statement) => statement,
            Err(trouble) => {
                return WaitSeen {
                    trouble: Some(trouble),
                    session: Some(self.session_id()),
                    ..WaitSeen::not_sent(WaitKind::BadArguments)
                };
            }
        };
        let asked_at = clock::now();
        let answer = self.session.ask(Question::Wait, &sql);
        let span = (asked_at, clock::now());
        let (kind, code, trouble) = match answer {
            Ok(rows) => judged(wait::outcome(function, &rows), &rows),
            Err(trouble) => failed(trouble, self.is_spoiled()),
        };
        WaitSeen {
            kind,
            session: Some(self.session_id()),
            span: Some(span),
            code,
            trouble,
        }
    }

    fn remove(&mut self, from: ProbeRow, to: u32) -> Result<(), Trouble> {
        let sql = self.sql.remove(from, to);
        self.ask(Question::ProbeCleanUp, &sql).map(drop)
    }

    fn remove_abandoned(&mut self) -> Result<(), Trouble> {
        let sql = self.sql.remove_abandoned.clone();
        self.ask(Question::ProbeCleanUp, &sql).map(drop)
    }

    fn is_spoiled(&self) -> bool {
        self.session.is_spoiled()
    }
}

type Judged = (WaitKind, Option<i64>, Option<Trouble>);

/// An answer. The number itself is the code of a timeout and of a number nobody expects.
fn judged(outcome: WaitOutcome, rows: &Rows) -> Judged {
    let text = rows.single().map(String::from_utf8_lossy);
    let number = text.as_ref().and_then(|text| text.trim().parse().ok());
    match outcome {
        WaitOutcome::Reached | WaitOutcome::Found | WaitOutcome::Equal => {
            (WaitKind::Reached, None, None)
        }
        WaitOutcome::TimedOut => (WaitKind::TimedOut, number, None),
        WaitOutcome::Failed(trouble) if text.is_none() => (WaitKind::Null, None, Some(trouble)),
        WaitOutcome::Failed(trouble) => (WaitKind::OddNumber, number, Some(trouble)),
    }
}

/// An error in place of an answer.
fn failed(trouble: Trouble, is_spoiled: bool) -> Judged {
    let kind = match trouble.code {
        None if trouble.kind == TroubleKind::TimedOut => WaitKind::NoAnswer,
        _ if is_spoiled => WaitKind::Lost,
        Some(1317) => WaitKind::Killed,
        Some(3024 | 1969 | 1205) => WaitKind::CutShort,
        Some(1210 | 1772 | 1941) => WaitKind::BadArguments,
        // "… cannot be executed when @@GLOBAL.GTID_MODE = OFF", under more than one number in the course of time.
        Some(_) if trouble.detail.contains("GTID_MODE") => WaitKind::GtidOff,
        _ => WaitKind::Refused,
    };
    let code = trouble.code.map(i64::from);
    (kind, code, Some(trouble))
}

/// The source is read-only, whatever the words: said as that, not as a failed query (R45).
fn refusal(trouble: Trouble) -> Trouble {
    match trouble.code {
        Some(code @ (1290 | 1836 | 1792)) => Trouble {
            what: phrase("probe.write.refused")
                .with("code", crate::model::phrase::Arg::Number(u64::from(code))),
            ..trouble
        },
        _ => trouble,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::captured::row;
    use super::*;

    fn told(kind: TroubleKind, code: Option<u32>, detail: &str) -> Trouble {
        Trouble {
            kind,
            what: phrase("x"),
            hint: None,
            code,
            detail: detail.into(),
        }
    }

    #[test]
    fn r20_every_way_a_wait_ends_is_told_apart() {
        use wait::Function::{MariaDbGtids, MySqlGtids};
        for (function, answer, kind, code) in [
            (MySqlGtids, Some("0"), WaitKind::Reached, None),
            (MySqlGtids, Some("1"), WaitKind::TimedOut, Some(1)),
            (MySqlGtids, Some("-1"), WaitKind::OddNumber, Some(-1)),
            (MySqlGtids, Some("2"), WaitKind::OddNumber, Some(2)),
            (MySqlGtids, None, WaitKind::Null, None),
            (MariaDbGtids, Some("-1"), WaitKind::TimedOut, Some(-1)),
            (MariaDbGtids, Some("1"), WaitKind::OddNumber, Some(1)),
        ] {
            let rows = row(&[("x", answer)]);
            let (seen, number, _) = judged(wait::outcome(function, &rows), &rows);
            assert_eq!((seen, number), (kind, code), "{function:?} {answer:?}");
        }
        use TroubleKind::{Lost, QueryFailed, TimedOut};
        for (trouble, is_spoiled, kind) in [
            (told(TimedOut, Some(3024), ""), false, WaitKind::CutShort),
            (told(TimedOut, Some(1969), ""), false, WaitKind::CutShort),
            (told(QueryFailed, Some(1317), ""), false, WaitKind::Killed),
            (
                told(QueryFailed, Some(1210), ""),
                false,
                WaitKind::BadArguments,
            ),
            (
                told(QueryFailed, Some(1772), ""),
                false,
                WaitKind::BadArguments,
            ),
            (told(TimedOut, None, ""), true, WaitKind::NoAnswer),
            (told(Lost, None, ""), true, WaitKind::Lost),
            (told(Lost, Some(1927), ""), true, WaitKind::Lost),
            (
                told(QueryFailed, Some(3111), "when @@GLOBAL.GTID_MODE = OFF."),
                false,
                WaitKind::GtidOff,
            ),
            (told(QueryFailed, Some(1105), "?"), false, WaitKind::Refused),
        ] {
            let code = trouble.code;
            assert_eq!(failed(trouble, is_spoiled).0, kind, "{code:?}");
        }
    }

    #[test]
    fn r21_the_client_waits_a_little_longer_than_the_server() {
        for (millis, limit) in [(1, 2), (1000, 2), (1001, 3)] {
            let limit = Duration::from_secs(limit);
            assert_eq!(client_limit(Span::from_millis(millis)), limit);
        }
    }

    #[test]
    fn r45_a_read_only_source_refuses_writes_and_is_not_a_failed_query() {
        for code in [1290, 1836, 1792] {
            let trouble = refusal(told(TroubleKind::QueryFailed, Some(code), ""));
            assert_eq!(trouble.what.key, "probe.write.refused", "{code}");
        }
        let other = refusal(told(TroubleKind::QueryFailed, Some(1062), ""));
        assert_eq!(other.what.key, "x");
    }
}
