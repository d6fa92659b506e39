//! One server: all it has, and what can happen to it from outside.

use crate::lab::bed::LinkQuality;
use crate::model::time::{Moment, ServerTime, Span};

use super::binlog::Binlog;
use super::channel::Channel;
use super::commit::Pipeline;
use super::dump::DumpId;
use super::filters::Filters;
use super::gtids::Book;
use super::locks::Locks;
use super::processor::{self, Processor};
use super::queue::{ChannelKey, Event};
use super::scheduler::ScheduledEvent;
use super::semi_sync::SemiSync;
use super::settings::{Identity, Settings};
use super::transaction::Engine;
use super::{NodeId, Target, World};

#[derive(Debug)]
pub(super) struct Node {
    pub identity: Identity,
    pub settings: Settings,
    pub ahead_by: Span,
    pub slower_by: Span,
    pub is_up: bool,
    pub up_since: Moment,
    pub epoch: u64,
    last_thread_id: u64,
    pub book: Book,
    pub binlog: Binlog,
    pub pipeline: Pipeline,
    pub semi_sync: SemiSync,
    pub locks: Locks,
    pub processor: Processor,
    pub channels: Vec<Channel>,
    /// For channels to come. Like those of the channels, gone with the server.
    pub filters: Filters,
    /// Of those who copy from here.
    pub dumps: Vec<DumpId>,
    pub events: Vec<ScheduledEvent>,
}

impl Node {
    pub fn new(identity: Identity, settings: Settings, now: Moment) -> Node {
        let book = Book::new(&identity);
        let mut semi_sync = SemiSync::default();
        semi_sync.begin(&settings.semi_sync, 0);
        Node {
            ahead_by: Span::ZERO,
            slower_by: Span::ZERO,
            is_up: true,
            up_since: now,
            epoch: 0,
            last_thread_id: 7,
            binlog: Binlog::new(book.binlog_pos(), ServerTime(now.unix_micros())),
            book,
            pipeline: Pipeline::default(),
            semi_sync,
            locks: Locks::default(),
            processor: Processor::new(settings.cores, now),
            channels: Vec::new(),
            filters: Filters::default(),
            dumps: Vec::new(),
            events: Vec::new(),
            identity,
            settings,
        }
    }

    pub fn clock(&self, at: Moment) -> ServerTime {
        ServerTime(at.unix_micros().saturating_add(self.ahead_by.micros()))
    }

    pub fn next_thread_id(&mut self) -> u64 {
        self.last_thread_id += 1;
        self.last_thread_id
    }

    pub fn keys(&self, node: NodeId) -> Vec<ChannelKey> {
        let key = |channel: &Channel| ChannelKey {
            node,
            number: channel.number,
        };
        self.channels.iter().map(key).collect()
    }

    /// Consistent as MySQL keeps it: `super_read_only` brings `read_only` along, and goes with it.
    pub fn agree_on_read_only(&mut self, before: &Settings) {
        let mariadb = self.identity.generation.flavour().is_mariadb();
        let is_lifted = before.read_only && !self.settings.read_only;
        if mariadb || is_lifted {
            self.settings.super_read_only = false;
        } else if self.settings.super_read_only {
            self.settings.read_only = true;
        }
    }
}

impl<E: Engine> World<E> {
    /// `SET GLOBAL`. Keeps `read_only` and `super_read_only` consistent on MySQL, switches semi-sync on and
    /// off, starts the event scheduler.
    pub fn change_settings(&mut self, node: NodeId, change: impl FnOnce(&mut Settings)) {
        let now = self.now;
        let clients = self.semi_sync_clients(node);
        let it = &mut self.nodes[node];
        let before = it.settings.clone();
        change(&mut it.settings);
        it.agree_on_read_only(&before);
        it.processor.set_cores(now, it.settings.cores);
        let (was, is) = (&before.semi_sync, &it.settings.semi_sync);
        if was.source_enabled && !is.source_enabled {
            self.switch_semi_sync_off(node);
        } else if was.source_enabled != is.source_enabled {
            it.semi_sync.begin(&it.settings.semi_sync, clients);
        }
        if self.nodes[node].settings.event_scheduler != before.event_scheduler {
            self.restart_events(node);
        }
        self.announce_work(node);
    }

    /// `kill -9`. Sessions, locks, unflushed commits are gone; [`World::epoch`] tells sessions that they are.
    pub fn kill(&mut self, node: NodeId) {
        if !self.nodes[node].is_up {
            return;
        }
        self.lose_commits(node);
        for key in self.nodes[node].keys(node) {
            self.end_applying(key);
            self.end_receiving(key, None);
            self.lose_relay_log(key);
        }
        let it = &mut self.nodes[node];
        it.is_up = false;
        it.epoch += 1;
        it.locks.clear();
        it.processor.clear();
        it.semi_sync = SemiSync::default();
        it.filters = Filters::default();
        for channel in &mut it.channels {
            channel.filters = Filters::default();
        }
        for id in std::mem::take(&mut it.dumps) {
            let Some((channel, is_open)) = self.dumps.get(&id).map(|d| (d.channel, d.is_open))
            else {
                continue;
            };
            // Over a cut line nobody hears that it died: the replica listens until its patience ends.
            if !self.link(channel.node, node).is_cut {
                self.dumps.remove(&id);
                if is_open {
                    self.reconnect(channel, true);
                }
            }
        }
    }

    /// Starts it again: crash recovery, then replication on every channel that is configured.
    pub fn restart(&mut self, node: NodeId) {
        let now = self.now;
        if self.nodes[node].is_up {
            return;
        }
        self.rotate(node);
        let it = &mut self.nodes[node];
        it.is_up = true;
        it.up_since = now;
        it.last_thread_id = 7;
        it.semi_sync.begin(&it.settings.semi_sync, 0);
        for key in self.nodes[node].keys(node) {
            self.begin_receiving(key);
            self.begin_applying(key, None);
        }
        self.restart_events(node);
    }

    pub fn set_clock(&mut self, node: NodeId, ahead_by: Span) {
        self.nodes[node].ahead_by = ahead_by;
    }

    pub fn set_disk(&mut self, node: NodeId, slower_by: Span) {
        self.nodes[node].slower_by = slower_by.or_zero();
    }

    pub fn set_link(&mut self, replica: NodeId, source: NodeId, quality: LinkQuality) {
        let old = self.link(replica, source);
        self.links.insert((replica, source), quality);
        self.change_lines(replica, source, old);
    }

    pub fn link(&self, replica: NodeId, source: NodeId) -> LinkQuality {
        self.links
            .get(&(replica, source))
            .copied()
            .unwrap_or_default()
    }

    /// Says when the next piece of work will end, if that has changed.
    pub(super) fn announce_work(&mut self, node: NodeId) {
        let processor = &mut self.nodes[node].processor;
        let next = processor.next_end();
        if next == processor.announced {
            return;
        }
        processor.announced = next;
        processor.version += 1;
        if let Some(at) = next {
            let version = processor.version;
            self.queue.put(at, Event::WorkDone { node, version });
        }
    }

    pub(super) fn on_work_done(&mut self, node: NodeId, version: u64) {
        let now = self.now;
        let processor = &mut self.nodes[node].processor;
        if processor.version != version {
            return;
        }
        processor.announced = None;
        while let Some((number, whose)) = self.nodes[node].processor.take_ended(now) {
            if let processor::Worker::Applier { channel, worker } = whose {
                self.worker_done(channel, worker, number);
            }
        }
        self.announce_work(node);
    }

    /// Whether any server is pointed at this one, or copies from it.
    pub(super) fn is_copied(&self, source: NodeId) -> bool {
        !self.nodes[source].dumps.is_empty() || self.is_awaited(source)
    }

    /// Whether one that is pointed at this server lacks something and is not being served.
    pub(super) fn is_awaited(&self, source: NodeId) -> bool {
        let channels = self.nodes.iter().flat_map(|node| &node.channels);
        let binlog = &self.nodes[source].binlog;
        channels
            .filter(|channel| channel.config.target == Target::Node(source))
            .any(|channel| {
                let dump = channel.receiver.connection;
                let dump = dump.and_then(|id| self.dumps.get(&id));
                dump.is_none_or(|dump| dump.next + 1000 < binlog.last_sequence())
            })
    }
}
