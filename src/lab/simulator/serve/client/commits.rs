//! A session's commits: handed over to the world, waited for, told with their GTIDs.

use super::super::super::world::{CommitId, CommitState, Gtid, NextGtid, Until, Write};
use super::super::bench::{Bench, OpenSeat};
use super::super::generation::Habits;
use super::super::me::NextName;
use super::{After, Client, Next, Outcome, Stage};
use crate::lab::wire::{Answer, SessionChange, SqlError};
use crate::model::gtid::{GtidPosition, GtidSet, Gtids, mariadb};

impl Client {
    /// Hands a transaction over to the world.
    pub(super) fn commit(
        &mut self,
        bench: &mut Bench,
        mut write: Write,
        then: After,
    ) -> Result<(), SqlError> {
        let has_it = match &self.me.next_gtid {
            NextName::Given(gtid) => bench.world.executed(self.me.node).contains(&one(gtid)),
            _ => false,
        };
        if has_it {
            // It was carried out before: nothing happens, as on a replica that gets it twice.
            self.end_transaction(bench);
            self.stage = Stage::Sleeping {
                until: bench.world.now(),
                then,
            };
            return Ok(());
        }
        write.name = self.name_of_next(bench)?;
        write.is_logged = self.me.values.is_on("sql_log_bin");
        write.session = Some(self.me.id);
        bench.machines[self.me.node].counters.flushes += 1;
        let commit = bench.world.commit(self.me.node, write);
        self.open = None;
        self.me.is_in_transaction = false;
        self.stage = Stage::Committing { commit, then };
        Ok(())
    }

    pub(super) fn name_of_next(&self, bench: &Bench) -> Result<NextGtid, SqlError> {
        match &self.me.next_gtid {
            NextName::Given(gtid) => return Ok(NextGtid::Given(*gtid)),
            NextName::Used(gtid) => return Err(used_gtid(&gtid.to_string())),
            NextName::Automatic => {}
        }
        if !self.me.generation.is_mariadb() {
            return Ok(NextGtid::Automatic);
        }
        let number = |name: &str| self.me.values.number(name).unwrap_or(0.0) as u64;
        let domain = number("gtid_domain_id") as u32;
        let sequence = number("gtid_seq_no");
        if sequence > 0 {
            return Ok(NextGtid::Given(Gtid::MariaDb(mariadb::Gtid {
                domain,
                server_id: bench.world.identity(self.me.node).server_id,
                sequence,
            })));
        }
        if domain != bench.world.settings(self.me.node).gtid_domain_id {
            return Ok(NextGtid::InDomain(domain));
        }
        Ok(NextGtid::Automatic)
    }

    pub(super) fn committing(
        &mut self,
        bench: &mut Bench,
        commit: CommitId,
        then: After,
    ) -> Outcome {
        match bench.world.commit_state(commit) {
            CommitState::Flushing => {
                self.set_state(bench, "waiting for handler commit");
                self.stage = Stage::Committing { commit, then };
                Ok(Next::Wait(None))
            }
            CommitState::WaitingForReceipt { .. } => {
                let state = if self.me.generation.says_slave() {
                    "Waiting for semi-sync ACK from slave"
                } else {
                    "Waiting for semi-sync ACK from replica"
                };
                self.set_state(bench, state);
                self.stage = Stage::Committing { commit, then };
                Ok(Next::Wait(None))
            }
            CommitState::Done { gtid, .. } => {
                self.end_transaction(bench);
                if let Some(gtid) = gtid {
                    self.committed(&gtid);
                }
                self.after(
                    bench,
                    tracked(
                        then,
                        gtid.map(|g| self.tracked_gtid(&g.to_string()))
                            .unwrap_or_default(),
                    ),
                )
            }
            CommitState::Failed { code, message } => {
                self.end_transaction(bench);
                Err(SqlError::new(code, message))
            }
            CommitState::Lost => Ok(Next::Say(Answer::Cut)),
        }
    }

    pub(super) fn committed(&mut self, gtid: &Gtid) {
        self.me.last_gtid = gtid.to_string();
        if matches!(self.me.next_gtid, NextName::Given(_)) {
            self.me.next_gtid = NextName::Used(*gtid);
        }
        self.me.values.set("gtid_seq_no", "0");
    }

    /// How the OK packet tells the GTID of a commit, as the session asked for it.
    pub(super) fn tracked_gtid(&self, gtid: &str) -> Vec<SessionChange> {
        if self.me.generation.is_mariadb() {
            let asked = self
                .me
                .values
                .get("session_track_system_variables")
                .unwrap_or_default();
            let is_asked = asked
                .split(',')
                .any(|name| matches!(name.trim(), "last_gtid" | "*"));
            return is_asked
                .then(|| SessionChange::SystemVariable {
                    name: "last_gtid".to_owned(),
                    value: gtid.to_owned(),
                })
                .into_iter()
                .collect();
        }
        match self.me.values.get("session_track_gtids") {
            Some("OWN_GTID") => vec![SessionChange::Gtids(gtid.to_owned())],
            _ => Vec::new(),
        }
    }

    /// Nothing of it is held any more.
    pub(super) fn end_transaction(&mut self, bench: &mut Bench) {
        self.open = None;
        self.me.is_in_transaction = false;
        bench
            .world
            .unlock(self.me.node, self.me.id, Until::TransactionEnds);
        self.show_transaction(bench);
    }

    /// Lets others see the transaction as it stands.
    pub(super) fn show_transaction(&self, bench: &mut Bench) {
        let shown = self.open.as_ref().map(|open| {
            let changes = open.transaction.changes().len() as u64;
            OpenSeat {
                since: open.since,
                rows_modified: changes,
                rows_locked: changes,
                isolation: isolation(
                    self.me
                        .values
                        .get("transaction_isolation")
                        .or_else(|| self.me.values.get("tx_isolation")),
                ),
                waits_since: None,
            }
        });
        if let Some(seat) = self.seat_of(bench) {
            seat.transaction = shown;
        }
    }
}

fn one(gtid: &Gtid) -> Gtids {
    let text = gtid.to_string();
    match gtid {
        Gtid::MySql { .. } => Gtids::MySql(GtidSet::parse(&text).unwrap_or_default()),
        Gtid::MariaDb(_) => Gtids::MariaDb(GtidPosition::parse(&text).unwrap_or_default()),
    }
}

/// 1837.
pub(super) fn used_gtid(gtid: &str) -> SqlError {
    SqlError::new(
        1837,
        format!(
            "When @@SESSION.GTID_NEXT is set to a GTID, you must explicitly set it to a different value after a COMMIT or \
             ROLLBACK. Please check GTID_NEXT variable manual page for detailed explanation. Current \
             @@SESSION.GTID_NEXT is '{gtid}'."
        ),
    )
}

fn isolation(value: Option<&str>) -> &'static str {
    match value {
        Some("READ-UNCOMMITTED") => "READ UNCOMMITTED",
        Some("READ-COMMITTED") => "READ COMMITTED",
        Some("SERIALIZABLE") => "SERIALIZABLE",
        _ => "REPEATABLE READ",
    }
}

/// The GTID goes with the answer to the statement that committed.
fn tracked(then: After, changes: Vec<SessionChange>) -> After {
    match then {
        After::Say(Answer::Ok(mut done)) => {
            done.changes.extend(changes);
            After::Say(Answer::Ok(done))
        }
        other => other,
    }
}
