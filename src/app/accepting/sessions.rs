//! The sessions of a run and what is done on them: one that writes, one that reads on the source, and for each replica
//! one that reads at once and one that waits first. One that was cut in an answer is not used again: another takes its
//! place at the next question.

use std::sync::Arc;

use super::{AcceptServer, AcceptTask};
use crate::link::probing::{ProbeDial, ProbePurpose, Written};
use crate::model::gtid::Gtids;
use crate::model::phrase::phrase;
use crate::model::probe::{
    ProbeRow, Seen, Token, WaitKind, WaitSeen, WaitedRead, is_read_only, why_not_wait,
};
use crate::model::sample::Identity;
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};
use crate::monitor::prober::{Keeper, read_kept, wait_then_read};

/// A replica gets this long to apply what was set up, or what a hold kept from it.
const CATCH_UP: Span = Span::from_secs(10);

pub struct Sessions<'a> {
    task: &'a AcceptTask,
    writer: Keeper,
    source_reader: Keeper,
    begun_as: Identity,
    pub replicas: Vec<Replica<'a>>,
    row: ProbeRow,
    /// Of the last write.
    number: u32,
}

pub struct Replica<'a> {
    pub server: &'a AcceptServer,
    pub links: Result<ReplicaLinks, Trouble>,
}

pub struct ReplicaLinks {
    reader: Keeper,
    waiter: Keeper,
}

/// A write and what it said.
pub struct Wrote {
    pub value: String,
    pub session: u64,
    pub written: Written,
}

impl<'a> Sessions<'a> {
    /// Connects, makes the table, and writes the row that the steps change.
    pub fn open(task: &'a AcceptTask) -> Result<Self, Trouble> {
        let mut writer = keeper(task, &task.source, ProbePurpose::Write);
        let begun_as = writer.ready()?.role()?;
        let mut source_reader = keeper(task, &task.source, ProbePurpose::Read);
        source_reader.ready()?;
        let mut sessions = Sessions {
            task,
            writer,
            source_reader,
            begun_as,
            replicas: task.replicas.iter().map(|s| open(task, s)).collect(),
            row: task.plan.row(task.probe, 0),
            number: 0,
        };
        sessions.may_write()?;
        sessions.writer.ready()?.create_table()?;
        sessions.writer.ready()?.remove_abandoned()?;
        let value = task.plan.value(task.probe, 0);
        sessions.writer.ready()?.insert(sessions.row, &value)?;
        // The drift test has a row of its own.
        let of_drift = sessions.drift_row();
        let last = sessions.writer.ready()?.insert(of_drift, &value)?;
        if let Ok(token) = &last.token {
            for replica in &mut sessions.replicas {
                if let Ok(links) = &mut replica.links {
                    catch_up(links, &token.gtids);
                }
            }
        }
        Ok(sessions)
    }

    pub fn source_name(&self) -> &str {
        &self.task.source.name
    }

    pub fn drift_row(&self) -> ProbeRow {
        ProbeRow {
            number: 1,
            ..self.row
        }
    }

    /// One more value into our row, unless the source has changed its role since (R44).
    pub fn write(&mut self) -> Result<Wrote, Trouble> {
        self.may_write()?;
        self.number += 1;
        let value = self.task.plan.value(self.task.probe, self.number);
        let link = self.writer.ready()?;
        let written = link.update(self.row, &value)?;
        Ok(Wrote {
            value,
            session: link.session_id(),
            written,
        })
    }

    fn may_write(&mut self) -> Result<(), Trouble> {
        let role = self.writer.ready()?.role()?;
        if is_read_only(&role) {
            return Err(said("probe.write.read_only"));
        }
        let who = |identity: &Identity| (identity.server_uuid.clone(), identity.server_id);
        if who(&role) != who(&self.begun_as) {
            return Err(said("probe.write.another_server"));
        }
        Ok(())
    }

    /// At once, on a session that has waited for nothing.
    pub fn plain_read(&mut self, replica: usize) -> Option<Seen> {
        let links = self.replicas.get_mut(replica)?.links.as_mut().ok()?;
        Some(read_kept(&mut links.reader, self.row))
    }

    /// Waits at most the plan's limit, then reads where that leads.
    pub fn waited_read(&mut self, replica: usize, wrote: &Wrote) -> Option<WaitedRead> {
        let links = self.replicas.get_mut(replica)?.links.as_mut().ok()?;
        let token = may_wait(links, &wrote.written.token).map_err(WaitSeen::not_sent);
        let (row, limit) = (self.row, self.task.plan.wait_limit);
        let source = &mut self.source_reader;
        let read_on_source = || read_kept(source, row);
        let link = links.waiter.ready();
        Some(wait_then_read(link, row, token, limit, read_on_source))
    }

    /// Why no wait would be sent to a replica; `None` where one would be.
    pub fn why_not_wait(&mut self, replica: usize) -> Option<WaitKind> {
        let links = self.replicas.get_mut(replica)?.links.as_mut().ok()?;
        why_no_wait_helps(links)
    }

    /// A replica that can be reached, one that replicates before one that does not.
    pub fn best_replica(&mut self) -> Option<usize> {
        let reached: Vec<usize> = (0..self.replicas.len())
            .filter(|place| self.replicas[*place].links.is_ok())
            .collect();
        let running = reached
            .iter()
            .copied()
            .find(|place| self.why_not_wait(*place).is_none());
        running.or(reached.first().copied())
    }

    /// How long a replica that was held back took to get to a write; `None` when it did not.
    pub fn catch_up(&mut self, replica: usize, wrote: &Wrote) -> Option<Span> {
        let links = self.replicas.get_mut(replica)?.links.as_mut().ok()?;
        let token = wrote.written.token.as_ref().ok()?;
        catch_up(links, &token.gtids)
    }

    /// Removes our rows.
    pub fn clean_up(mut self) -> Result<(), Trouble> {
        self.may_write()?;
        let last = self.drift_row().number;
        self.writer.ready()?.remove(self.row, last)
    }
}

fn keeper(task: &AcceptTask, server: &AcceptServer, purpose: ProbePurpose) -> Keeper {
    let dial: Arc<dyn ProbeDial> = server.dial.clone();
    Keeper::new(dial, purpose, &task.plan)
}

fn open<'a>(task: &'a AcceptTask, server: &'a AcceptServer) -> Replica<'a> {
    let mut links = ReplicaLinks {
        reader: keeper(task, server, ProbePurpose::Read),
        waiter: keeper(task, server, ProbePurpose::WaitThenRead),
    };
    let reached = links.reader.ready().and_then(|_| links.waiter.ready());
    let trouble = reached.err();
    Replica {
        server,
        links: trouble.map_or(Ok(links), Err),
    }
}

/// No wait is sent where it would only use up its limit: it does not notice threads that do not run (T-8).
fn may_wait(links: &mut ReplicaLinks, token: &Result<Token, WaitKind>) -> Result<Token, WaitKind> {
    match (token, why_no_wait_helps(links)) {
        (Err(kind), _) => Err(*kind),
        (Ok(_), Some(kind)) => Err(kind),
        (Ok(token), None) => Ok(token.clone()),
    }
}

fn why_no_wait_helps(links: &mut ReplicaLinks) -> Option<WaitKind> {
    let channels = links.reader.ready().and_then(|link| link.channels());
    why_not_wait(channels.unwrap_or(None).as_deref())
}

/// In pieces of the wait's own limit, above which its session's answers are given up.
fn catch_up(links: &mut ReplicaLinks, gtids: &Gtids) -> Option<Span> {
    let piece = Span::from_millis(500);
    let mut left = CATCH_UP;
    let mut taken = Span::ZERO;
    while left > Span::ZERO {
        if why_no_wait_helps(links).is_some() {
            return None;
        }
        let seen = links.waiter.ready().ok()?.wait(gtids, piece.to_duration());
        taken = taken + seen.length().unwrap_or(Span::ZERO);
        match seen.kind {
            WaitKind::Reached => return Some(taken),
            WaitKind::TimedOut => left = left - piece,
            _ => return None,
        }
    }
    None
}

fn said(key: &'static str) -> Trouble {
    Trouble {
        kind: TroubleKind::QueryFailed,
        what: phrase(key),
        hint: None,
        code: None,
        detail: String::new(),
    }
}
