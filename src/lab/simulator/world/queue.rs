//! What is due, in order: by time, and at the same time in the order in which it was put in.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::model::time::Moment;

use super::NodeId;
use super::dump::DumpId;

/// Something that happens by itself. What it happens to may have changed since: every handler looks first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The next piece of work on this server is finished.
    WorkDone { node: NodeId, version: u64 },
    /// A group of commits is on disk.
    Flushed { node: NodeId, epoch: u64 },
    /// The oldest waiting commit has waited long enough for a receipt.
    ReceiptOverdue { node: NodeId, epoch: u64 },
    /// The sender has the line to itself again.
    Send { dump: DumpId },
    /// The first of what is on the way arrives.
    Arrive { dump: DumpId },
    /// The receipt of everything up to this sequence number reaches the source.
    Receipt { dump: DumpId, sequence: u64 },
    /// Perhaps a heartbeat is due.
    Heartbeat { dump: DumpId },
    /// Perhaps the receiver has heard nothing for too long.
    Silence { dump: DumpId },
    /// The receiver tries to connect.
    Connect { channel: ChannelKey, version: u64 },
    /// The try comes to an end: connected, or not.
    ConnectEnds { channel: ChannelKey, version: u64 },
    /// The planned delay of the next transaction is over.
    DelayOver { channel: ChannelKey, version: u64 },
    /// A worker has waited long enough for a lock.
    LockOverdue {
        channel: ChannelKey,
        worker: usize,
        run: u64,
    },
    /// The event scheduler's turn.
    Tick {
        node: NodeId,
        event: u64,
        version: u64,
    },
}

/// A channel, named so that a dead one is never mistaken for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ChannelKey {
    pub node: NodeId,
    pub number: u64,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Due>,
    put_in: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Due {
    at: Moment,
    turn: u64,
    event: Event,
}

impl Queue {
    pub fn put(&mut self, at: Moment, event: Event) {
        self.put_in += 1;
        self.heap.push(Due {
            at,
            turn: self.put_in,
            event,
        });
    }

    pub fn next_at(&self) -> Option<Moment> {
        self.heap.peek().map(|due| due.at)
    }

    /// The next event if it is due by then.
    pub fn take(&mut self, by: Moment) -> Option<(Moment, Event)> {
        if self.next_at()? > by {
            return None;
        }
        self.heap.pop().map(|due| (due.at, due.event))
    }
}

/// The heap gives the greatest first: the earliest is the greatest.
impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.turn).cmp(&(self.at, self.turn))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_at_the_same_time_keeps_its_order() {
        let at = Moment::from_unix_micros;
        let event = |node| Event::Flushed { node, epoch: 0 };
        let mut queue = Queue::default();
        queue.put(at(20), event(1));
        queue.put(at(10), event(2));
        queue.put(at(10), event(3));
        let order: Vec<_> = std::iter::from_fn(|| queue.take(at(15))).collect();
        assert_eq!(order, [(at(10), event(2)), (at(10), event(3))]);
        assert_eq!(queue.next_at(), Some(at(20)));
    }
}
