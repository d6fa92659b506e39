//! One replica as the conductor sees it: the threads that read there, and their parts of a run.

use crossbeam_channel::{Sender, unbounded};

use super::ProbeTask;
use super::session::{Keeper, not_connected};
use super::workers::{
    Desk, LookOrder, Part, ReadOrder, SourceOrder, Told, WaitOrder, Waiter, looker, reader, unread,
};
use crate::link::probing::ProbePurpose;
use crate::model::probe::{ReadFrom, ReplicaRun, Seen, WaitKind, WaitSeen, WaitedRead};
use crate::model::time::Moment;
use crate::monitor::spawn;

/// The inboxes of its threads.
pub struct Replica {
    pub reads: Sender<ReadOrder>,
    pub waits: Sender<WaitOrder>,
    pub looks: Option<Sender<LookOrder>>,
}

/// Starts the threads that read on one replica of the task.
pub fn start_replica(
    task: &ProbeTask,
    place: usize,
    told: &Sender<Told>,
    source: &Sender<SourceOrder>,
) -> std::io::Result<Replica> {
    let server = &task.replicas[place];
    let keeper = |purpose| Keeper::new(server.dial.clone(), purpose, &task.plan);
    let desk = Desk {
        replica: Some(place),
        told: told.clone(),
    };
    let (reads, inbox) = unbounded();
    let (of_reads, desk_of_reads) = (keeper(ProbePurpose::Read), desk.clone());
    spawn(format!("read {}", server.name), move || {
        reader(of_reads, inbox, desk_of_reads)
    })?;
    let (waits, inbox) = unbounded();
    let waiter = Waiter {
        keeper: keeper(ProbePurpose::WaitThenRead),
        limit: task.plan.wait_limit,
        source: source.clone(),
        desk: desk.clone(),
        channels: None,
    };
    spawn(format!("wait {}", server.name), move || waiter.run(inbox))?;
    let mut looks = None;
    if task.plan.measures_floor {
        let (sender, inbox) = unbounded();
        let of_looks = keeper(ProbePurpose::Read);
        spawn(format!("look {}", server.name), move || {
            looker(of_looks, inbox, desk)
        })?;
        looks = Some(sender);
    }
    Ok(Replica {
        reads,
        waits,
        looks,
    })
}

/// One replica's part of a run as it comes in.
pub struct Parts {
    plain: Option<Seen>,
    waited: Option<WaitedRead>,
    looked: bool,
    first_visible: Option<Moment>,
}

impl Parts {
    pub fn of(replica: &Replica) -> Self {
        Parts {
            plain: None,
            waited: None,
            looked: replica.looks.is_none(),
            first_visible: None,
        }
    }

    pub fn is_incomplete(&self) -> bool {
        self.plain.is_none() || self.waited.is_none() || !self.looked
    }

    pub fn take(&mut self, part: Part) {
        match part {
            Part::Plain(seen) => self.plain = Some(seen),
            Part::Waited(waited) => self.waited = Some(*waited),
            Part::FirstVisible(at) => {
                self.looked = true;
                self.first_visible = at;
            }
            Part::Ready(_) | Part::Settled => {}
        }
    }

    pub fn put_together(self) -> ReplicaRun {
        ReplicaRun {
            plain: self.plain.unwrap_or_else(|| unread(not_connected())),
            waited: self.waited.unwrap_or_else(|| WaitedRead {
                wait: WaitSeen::not_sent(WaitKind::NoAnswer),
                read: unread(not_connected()),
                read_from: ReadFrom::Source,
                reason: WaitKind::NoAnswer.reason(),
            }),
            first_visible: self.first_visible,
        }
    }
}
