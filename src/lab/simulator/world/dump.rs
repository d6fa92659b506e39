//! Sending: one dump thread of a source, its line to the replica, and what is on the way.
//!
//! A line has a latency and a width. When it is cut, what is on the way stops there, and goes on when it is whole
//! again; neither end is told.

use std::collections::VecDeque;

use crate::lab::bed::LinkQuality;
use crate::model::time::{Moment, Span};

use super::binlog::{Entry, Place};
use super::commit::share_between;
use super::gtids::Having;
use super::queue::{ChannelKey, Event};
use super::transaction::Engine;
use super::{NodeId, World};

/// From this time on it takes to carry a transaction, its beginning is seen before its end.
const NOTICEABLE: Span = Span::from_millis(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DumpId(pub u64);

#[derive(Debug)]
pub(super) struct Dump {
    pub source: NodeId,
    /// The source's [`World::epoch`] when it began; another one means it is dead and nobody has told the replica.
    source_epoch: u64,
    pub channel: ChannelKey,
    /// The replica's end. A source notices a closed one only when it writes to it.
    pub is_open: bool,
    pub is_semi_sync: bool,
    pub thread_id: u64,
    pub user: String,
    pub since: Moment,
    /// The next to look at in the source's binary log.
    pub next: u64,
    /// What the replica had when it connected.
    pub having: Having,
    pub heartbeat_period: Span,
    /// Up to where the replica has confirmed.
    pub receipted: u64,
    last_received: Moment,
    line_free_at: Moment,
    is_send_due: bool,
    on_the_way: VecDeque<Parcel>,
    arrival_due: Option<Moment>,
    last_sent: Moment,
    cut_at: Option<Moment>,
    held_receipt: Option<u64>,
}

/// Something on the line.
#[derive(Debug)]
struct Parcel {
    leaves: Moment,
    arrives: Moment,
    content: Content,
    asks_receipt: bool,
}

#[derive(Debug)]
pub(super) enum Content {
    /// The first events of a transaction that takes a while.
    Begins(Entry),
    Ends(Entry),
    /// Nothing new up to there.
    Heartbeat(Place),
}

/// What the two ends agreed on.
pub(super) struct Handshake {
    pub source: NodeId,
    pub channel: ChannelKey,
    pub user: String,
    pub having: Having,
    pub is_semi_sync: bool,
    pub heartbeat_period: Span,
}

impl Dump {
    fn new(
        handshake: Handshake,
        source_epoch: u64,
        thread_id: u64,
        next: u64,
        now: Moment,
    ) -> Dump {
        Dump {
            source: handshake.source,
            source_epoch,
            channel: handshake.channel,
            is_open: true,
            is_semi_sync: handshake.is_semi_sync,
            thread_id,
            user: handshake.user,
            since: now,
            next,
            having: handshake.having,
            heartbeat_period: handshake.heartbeat_period,
            receipted: 0,
            last_received: now,
            line_free_at: now,
            is_send_due: false,
            on_the_way: VecDeque::new(),
            arrival_due: None,
            last_sent: now,
            cut_at: None,
            held_receipt: None,
        }
    }

    /// How much of the transaction that is arriving is there.
    pub fn arrived_share(&self, now: Moment, latency: Span) -> f64 {
        let now = self.cut_at.unwrap_or(now);
        self.on_the_way.front().map_or(1.0, |parcel| {
            share_between(parcel.leaves + latency, parcel.arrives, now)
        })
    }

    /// When the replica last heard something: also part of a transaction that is arriving.
    pub fn last_heard(&self, now: Moment, latency: Span) -> Moment {
        let until = self.cut_at.unwrap_or(now);
        match self.on_the_way.front() {
            Some(parcel) if parcel.leaves + latency <= until => until.max(self.last_received),
            _ => self.last_received,
        }
    }

    fn freeze(&mut self, now: Moment) {
        self.cut_at.get_or_insert(now);
    }

    /// The line is whole again: everything on it is later by as long as it was cut.
    fn thaw(&mut self, now: Moment) {
        let Some(cut_at) = self.cut_at.take() else {
            return;
        };
        let later = now.since(cut_at);
        for parcel in &mut self.on_the_way {
            parcel.leaves = parcel.leaves + later;
            parcel.arrives = parcel.arrives + later;
        }
        if self.line_free_at > cut_at {
            self.line_free_at = self.line_free_at + later;
        }
    }

    /// What is being carried goes on in the new width, and everything arrives after the new latency.
    fn adapt(&mut self, now: Moment, latency: Span, width_ratio: f64) {
        let now = self.cut_at.unwrap_or(now);
        if self.line_free_at > now {
            let left = self.line_free_at.since(now).secs_f64() * width_ratio;
            self.line_free_at = now + Span::from_secs_f64(left);
            if let Some(last) = self.on_the_way.back_mut() {
                last.arrives = self.line_free_at + latency;
            }
        }
        let mut latest = self.line_free_at.max(now) + latency;
        for parcel in self.on_the_way.iter_mut().rev() {
            parcel.arrives = parcel.arrives.min(latest);
            latest = parcel.arrives;
        }
    }
}

impl<E: Engine> World<E> {
    pub(super) fn open_dump(&mut self, handshake: Handshake) -> DumpId {
        let now = self.now;
        let (source, channel) = (handshake.source, handshake.channel);
        self.end_earlier_dumps(source, channel);
        let id = DumpId(self.next_number());
        let it = &mut self.nodes[source];
        let thread_id = it.next_thread_id();
        let next = it.binlog.start_for(&handshake.having);
        it.dumps.push(id);
        let mut dump = Dump::new(handshake, it.epoch, thread_id, next, now);
        let is_cut = self.link(channel.node, source).is_cut;
        if is_cut {
            dump.freeze(now);
        }
        let (heartbeat, timeout) = (dump.heartbeat_period, self.net_timeout(channel.node));
        self.dumps.insert(id, dump);
        if heartbeat > Span::ZERO {
            self.queue
                .put(now + heartbeat, Event::Heartbeat { dump: id });
        }
        self.queue.put(now + timeout, Event::Silence { dump: id });
        id
    }

    /// The replica hangs up. MySQL's source finds out when it next writes, MariaDB's at once.
    pub(super) fn hang_up(&mut self, id: DumpId) {
        let Some(dump) = self.dumps.get_mut(&id) else {
            return;
        };
        dump.is_open = false;
        dump.on_the_way.clear();
        let (source, replica) = (dump.source, dump.channel.node);
        let generation = self.nodes[source].identity.generation;
        if generation.flavour().is_mariadb() && !self.link(replica, source).is_cut {
            self.end_dump(id);
        }
    }

    /// The source's end is closed. Returns whom it was for.
    pub(super) fn end_dump(&mut self, id: DumpId) -> Option<Dump> {
        let dump = self.dumps.remove(&id)?;
        let source = dump.source;
        self.nodes[source].dumps.retain(|other| *other != id);
        let clients = self.semi_sync_clients(source);
        let it = &self.nodes[source];
        let semi_sync = &it.settings.semi_sync;
        let too_few = clients < u64::from(semi_sync.wait_for_replicas);
        let goes_off = !it.identity.generation.flavour().is_mariadb()
            && !semi_sync.wait_no_replica
            && semi_sync.source_enabled
            && it.semi_sync.counters.is_on;
        if too_few && goes_off {
            self.switch_semi_sync_off(source);
        }
        Some(dump)
    }

    pub(super) fn pump_all(&mut self, source: NodeId) {
        for id in self.nodes[source].dumps.clone() {
            self.pump(id);
        }
    }

    /// Sends what can be sent now.
    pub(super) fn pump(&mut self, id: DumpId) {
        let now = self.now;
        while let Some(dump) = self.dumps.get_mut(&id) {
            let source = &self.nodes[dump.source];
            let Some(entry) = source.binlog.entry(dump.next) else {
                return;
            };
            if dump.cut_at.is_some() {
                return;
            }
            if !dump.is_open {
                self.end_dump(id);
                return;
            }
            if dump.having.has(&entry.transaction.gtid) {
                dump.next += 1;
                continue;
            }
            if dump.line_free_at > now {
                if !dump.is_send_due {
                    dump.is_send_due = true;
                    let at = dump.line_free_at;
                    self.queue.put(at, Event::Send { dump: id });
                }
                return;
            }
            let entry = entry.clone();
            self.send(id, entry);
        }
    }

    pub(super) fn on_send(&mut self, id: DumpId) {
        if let Some(dump) = self.dumps.get_mut(&id) {
            dump.is_send_due = false;
            self.pump(id);
        }
    }

    pub(super) fn on_arrive(&mut self, id: DumpId) {
        let now = self.now;
        if let Some(dump) = self.dumps.get_mut(&id) {
            dump.arrival_due = None;
        }
        while let Some(dump) = self.dumps.get_mut(&id) {
            let due = dump.on_the_way.front().is_some_and(|p| p.arrives <= now);
            if !due || dump.cut_at.is_some() || !dump.is_open {
                break;
            }
            let Some(parcel) = dump.on_the_way.pop_front() else {
                break;
            };
            dump.last_received = now;
            if let (true, Content::Ends(entry)) = (parcel.asks_receipt, &parcel.content) {
                let sequence = entry.sequence;
                let back = self.latency(id);
                let event = Event::Receipt { dump: id, sequence };
                self.queue.put(now + back, event);
            }
            self.received(id, parcel.content);
        }
        self.schedule_arrival(id);
    }

    pub(super) fn on_receipt(&mut self, id: DumpId, sequence: u64) {
        let Some(dump) = self.dumps.get_mut(&id) else {
            return;
        };
        if dump.cut_at.is_some() {
            dump.held_receipt = dump.held_receipt.max(Some(sequence));
            return;
        }
        dump.receipted = dump.receipted.max(sequence);
        let source = dump.source;
        self.nodes[source].semi_sync.counters.net_waits += 1;
        self.on_confirmed(source);
    }

    pub(super) fn on_heartbeat(&mut self, id: DumpId) {
        let now = self.now;
        let Some(dump) = self.dumps.get_mut(&id) else {
            return;
        };
        let due = dump.last_sent + dump.heartbeat_period;
        if due > now {
            self.queue.put(due, Event::Heartbeat { dump: id });
            return;
        }
        dump.last_sent = now;
        let period = dump.heartbeat_period;
        if dump.cut_at.is_none() {
            if !dump.is_open {
                self.end_dump(id);
                return;
            }
            let place = self.nodes[dump.source].binlog.place();
            // While a transaction is being sent there is no silence to fill.
            if dump.line_free_at <= now {
                self.put_on_line(id, now, now, Content::Heartbeat(place), false);
            }
        }
        self.queue.put(now + period, Event::Heartbeat { dump: id });
    }

    pub(super) fn change_lines(&mut self, replica: NodeId, source: NodeId, old: LinkQuality) {
        let now = self.now;
        let new = self.link(replica, source);
        let width_ratio = self.width(old) / self.width(new);
        let between = |dump: &Dump| dump.source == source && dump.channel.node == replica;
        let dumps = self.dumps.iter().filter(|(_, dump)| between(dump));
        let ids: Vec<DumpId> = dumps.map(|(id, _)| *id).collect();
        if old.is_cut && !new.is_cut {
            self.try_again_over(replica, source);
        }
        for id in ids {
            let Some(dump) = self.dumps.get_mut(&id) else {
                continue;
            };
            if !new.is_cut && dump.source_epoch != self.nodes[source].epoch {
                self.hear_of_death(id);
                continue;
            }
            if !new.is_cut {
                dump.thaw(now);
            }
            dump.adapt(now, new.latency.or_zero(), width_ratio);
            if new.is_cut {
                dump.freeze(now);
            } else if let Some(sequence) = dump.held_receipt.take() {
                self.on_receipt(id, sequence);
            }
            self.schedule_arrival(id);
            self.pump(id);
        }
    }

    /// The line is whole again, and at its other end there is nobody any more.
    fn hear_of_death(&mut self, id: DumpId) {
        if let Some(dump) = self.dumps.remove(&id).filter(|dump| dump.is_open) {
            self.reconnect(dump.channel, true);
        }
    }

    /// How far each semi-sync replica of this source has confirmed.
    pub(super) fn receipts(&self, source: NodeId) -> Vec<u64> {
        let dumps = self.nodes[source].dumps.iter();
        dumps
            .filter_map(|id| self.dumps.get(id))
            .filter(|dump| dump.is_semi_sync)
            .map(|dump| dump.receipted)
            .collect()
    }

    pub(super) fn semi_sync_clients(&self, source: NodeId) -> u64 {
        let dumps = self.nodes[source].dumps.iter();
        let clients = dumps.filter(|id| self.dumps.get(id).is_some_and(|d| d.is_semi_sync));
        clients.count() as u64
    }

    fn send(&mut self, id: DumpId, entry: Entry) {
        let now = self.now;
        let Some(dump) = self.dumps.get(&id) else {
            return;
        };
        let (source, replica) = (dump.source, dump.channel.node);
        let width = self.width(self.link(replica, source));
        let carrying = Span::from_secs_f64(entry.transaction.bytes as f64 / width);
        let takes = carrying + self.costs.handling;
        let it = &self.nodes[source];
        let is_last = entry.sequence >= it.binlog.last_sequence();
        let asks_receipt = dump.is_semi_sync
            && it.settings.semi_sync.source_enabled
            && (it.semi_sync.counters.is_on || is_last);
        if takes > NOTICEABLE {
            self.put_on_line(id, now, now, Content::Begins(entry.clone()), false);
        }
        self.put_on_line(id, now, now + takes, Content::Ends(entry), asks_receipt);
        if let Some(dump) = self.dumps.get_mut(&id) {
            dump.next += 1;
        }
    }

    fn put_on_line(
        &mut self,
        id: DumpId,
        leaves: Moment,
        left: Moment,
        content: Content,
        asks_receipt: bool,
    ) {
        let latency = self.latency(id);
        let Some(dump) = self.dumps.get_mut(&id) else {
            return;
        };
        let last = dump.on_the_way.back().map(|p| p.arrives);
        let arrives = (left + latency).max(last.unwrap_or(left));
        dump.line_free_at = left;
        dump.last_sent = left;
        dump.on_the_way.push_back(Parcel {
            leaves,
            arrives,
            content,
            asks_receipt,
        });
        self.schedule_arrival(id);
    }

    fn schedule_arrival(&mut self, id: DumpId) {
        let Some(dump) = self.dumps.get_mut(&id) else {
            return;
        };
        let Some(arrives) = dump.on_the_way.front().map(|p| p.arrives) else {
            return;
        };
        let is_scheduled = dump.arrival_due.is_some_and(|due| due <= arrives);
        if !is_scheduled && dump.cut_at.is_none() {
            dump.arrival_due = Some(arrives);
            self.queue.put(arrives, Event::Arrive { dump: id });
        }
    }

    /// A replica that comes back is served by one thread only: the earlier one, which may not know yet, is ended.
    fn end_earlier_dumps(&mut self, source: NodeId, channel: ChannelKey) {
        for id in self.nodes[source].dumps.clone() {
            if self.dumps.get(&id).is_some_and(|d| d.channel == channel) {
                self.end_dump(id);
            }
        }
    }

    pub(super) fn latency(&self, id: DumpId) -> Span {
        self.dumps.get(&id).map_or(Span::ZERO, |dump| {
            let quality = self.link(dump.channel.node, dump.source);
            quality.latency.or_zero()
        })
    }

    fn width(&self, quality: LinkQuality) -> f64 {
        let most = self.costs.link_bytes_per_second;
        quality
            .bytes_per_second
            .unwrap_or(most)
            .min(most)
            .max(f64::MIN_POSITIVE)
    }
}
