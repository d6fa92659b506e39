//! What a person orders about replication: pointing, starting, stopping, forgetting.

use crate::model::gtid::mariadb::BinlogState;
use crate::model::gtid::{GtidPosition, GtidSet};
use crate::model::time::ServerTime;

use super::channel::{Channel, RelayLog};
use super::filters::{FilterKind, Filters};
use super::goal::Goal;
use super::gtids::Having;
use super::queue::{ChannelKey, Event};
use super::receiver::Receiver;
use super::status::Running;
use super::transaction::Engine;
use super::{NodeId, Refusal, SourceConfig, World};

impl<E: Engine> World<E> {
    /// Names of the channels, in the order they were made.
    pub fn channels(&self, node: NodeId) -> Vec<String> {
        let channels = self.nodes[node].channels.iter();
        channels.map(|channel| channel.name.clone()).collect()
    }

    pub fn config(&self, node: NodeId, channel: &str) -> Option<&SourceConfig> {
        let mut channels = self.nodes[node].channels.iter();
        let channel = channels.find(|c| c.name == channel)?;
        Some(&channel.config)
    }

    /// `CHANGE REPLICATION SOURCE TO`: `change` gets the present values, or `first` for a channel that is new. Refuses
    /// what needs a stopped thread. With both threads stopped the relay log is begun anew.
    pub fn change_source(
        &mut self,
        node: NodeId,
        channel: &str,
        first: SourceConfig,
        change: impl FnOnce(&mut SourceConfig),
    ) -> Result<(), Refusal> {
        let Ok(key) = self.key(node, channel) else {
            let mut config = first;
            change(&mut config);
            self.make_channel(node, channel, config);
            return Ok(());
        };
        let Some(it) = self.channel(key) else {
            return Err(Refusal::NoSuchChannel);
        };
        let (old, mut new) = (it.config.clone(), it.config.clone());
        change(&mut new);
        let receives = it.receiver.running != Running::No;
        let applies = it.applier.is_running;
        let only_delay = SourceConfig {
            delay_secs: old.delay_secs,
            ..new.clone()
        } == old;
        if receives && !only_delay {
            return Err(Refusal::ReceiverRuns);
        }
        if applies && new.delay_secs != old.delay_secs {
            return Err(Refusal::ApplierRuns);
        }
        if !receives && !applies {
            self.lose_relay_log(key);
        }
        let is_other_source =
            (&old.host, old.port, old.target) != (&new.host, new.port, new.target);
        if is_other_source {
            self.forget_source(key);
        }
        if let Some(it) = self.channel_mut(key) {
            it.config = new;
        }
        Ok(())
    }

    /// Starting what runs is no error.
    pub fn start_receiver(&mut self, node: NodeId, channel: &str) -> Result<(), Refusal> {
        let key = self.key(node, channel)?;
        let mariadb = self.nodes[node].identity.generation.flavour().is_mariadb();
        let it = self.channel(key);
        let is_whole_start =
            it.is_some_and(|it| it.receiver.running == Running::No && !it.applier.is_running);
        if mariadb && is_whole_start {
            // With GTIDs MariaDB fetches anew what was not applied.
            self.lose_relay_log(key);
        }
        self.begin_receiving(key);
        Ok(())
    }

    pub fn start_applier(&mut self, node: NodeId, channel: &str) -> Result<(), Refusal> {
        self.start_applier_until(node, channel, None)
    }

    /// Where the goal is, if there is one, it stops by itself. One that runs goes on as it does.
    pub fn start_applier_until(
        &mut self,
        node: NodeId,
        channel: &str,
        goal: Option<Goal>,
    ) -> Result<(), Refusal> {
        let key = self.key(node, channel)?;
        self.begin_applying(key, goal);
        Ok(())
    }

    pub fn stop_receiver(&mut self, node: NodeId, channel: &str) -> Result<(), Refusal> {
        let key = self.key(node, channel)?;
        self.end_receiving(key, None);
        Ok(())
    }

    /// What workers were at is rolled back, and done anew at the next start.
    pub fn stop_applier(&mut self, node: NodeId, channel: &str) -> Result<(), Refusal> {
        let key = self.key(node, channel)?;
        if self.channel(key).is_some_and(|c| c.applier.is_running) {
            self.end_applying(key);
        }
        Ok(())
    }

    /// `RESET REPLICA` forgets the relay log; with `ALL` the channel as well.
    pub fn reset_replica(&mut self, node: NodeId, channel: &str, all: bool) -> Result<(), Refusal> {
        let key = self.key(node, channel)?;
        let Some(it) = self.channel(key) else {
            return Err(Refusal::NoSuchChannel);
        };
        if it.receiver.running != Running::No {
            return Err(Refusal::ReceiverRuns);
        }
        if it.applier.is_running {
            return Err(Refusal::ApplierRuns);
        }
        self.lose_relay_log(key);
        self.forget_source(key);
        if all {
            let channels = &mut self.nodes[node].channels;
            channels.retain(|c| c.number != key.number);
        }
        Ok(())
    }

    /// `CHANGE REPLICATION FILTER`; without a channel it holds for all there are and all to come.
    pub fn set_filters(
        &mut self,
        node: NodeId,
        channel: Option<&str>,
        rules: &[(FilterKind, Vec<String>)],
    ) -> Result<(), Refusal> {
        let meant = channel.map(|name| self.key(node, name)).transpose()?;
        let it = &mut self.nodes[node];
        let since = it.clock(self.now);
        let channels = it.channels.iter_mut();
        let mut channels: Vec<&mut Channel> = channels
            .filter(|c| meant.is_none_or(|key| key.number == c.number))
            .collect();
        if channels.iter().any(|channel| channel.applier.is_running) {
            return Err(Refusal::ApplierRuns);
        }
        for channel in &mut channels {
            channel.filters.set(rules, since);
        }
        if meant.is_none() {
            it.filters.set(rules, since);
        }
        Ok(())
    }

    /// Of all channels to come.
    pub fn filters(&self, node: NodeId) -> &Filters {
        &self.nodes[node].filters
    }

    /// `SET GLOBAL gtid_purged`: adds to what is there; refused for what is executed already.
    pub fn set_purged(&mut self, node: NodeId, set: &GtidSet) -> Result<(), Refusal> {
        let book = &mut self.nodes[node].book;
        let (Having::MySql(executed), Having::MySql(purged)) =
            (&mut book.executed, &mut book.purged)
        else {
            return Err(Refusal::NotConfigured);
        };
        let new = set.subtract(purged);
        let present = executed.intersect(&new);
        if !present.is_empty() {
            return Err(Refusal::GtidsPresent(present.to_string()));
        }
        executed.union_with(set);
        purged.union_with(set);
        self.rotate(node);
        Ok(())
    }

    /// `SET GLOBAL gtid_slave_pos`.
    pub fn set_slave_pos(&mut self, node: NodeId, position: &GtidPosition) -> Result<(), Refusal> {
        let it = &mut self.nodes[node];
        let runs = |c: &Channel| c.receiver.running != Running::No || c.applier.is_running;
        if it.channels.iter().any(runs) {
            return Err(Refusal::ReceiverRuns);
        }
        let Having::MariaDb(last) = &mut it.book.executed else {
            return Err(Refusal::NotConfigured);
        };
        *last = position.iter().map(|gtid| (gtid.domain, gtid)).collect();
        for channel in &mut it.channels {
            channel.receiver.retrieved = it.book.executed.empty_like();
        }
        Ok(())
    }

    /// `SET GLOBAL gtid_binlog_state`: as if these were what the binary log last held.
    pub fn set_binlog_state(&mut self, node: NodeId, state: &BinlogState) {
        self.nodes[node].book.set_binlog_state(state);
    }

    /// `FLUSH BINARY LOGS`.
    pub fn rotate_binlog(&mut self, node: NodeId) {
        self.rotate(node);
    }

    /// `PURGE BINARY LOGS TO`.
    pub fn purge_binlogs(&mut self, node: NodeId, first_kept: &str) -> Result<(), Refusal> {
        let it = &self.nodes[node];
        let name = it.identity.binlog_name.clone();
        let mut files = it.binlog.files.iter();
        let kept = files.find(|f| file_name(&name, f.number) == first_kept);
        let number = kept.map(|f| f.number).ok_or(Refusal::NoSuchLog)?;
        self.purge_to(node, number);
        Ok(())
    }

    /// `PURGE BINARY LOGS BEFORE`: files last written to before that time of the server.
    pub fn purge_binlogs_before(&mut self, node: NodeId, time: ServerTime) {
        let files = &self.nodes[node].binlog.files;
        let mut kept = files.iter().filter(|file| file.written >= time);
        if let Some(number) = kept.next().or(files.back()).map(|file| file.number) {
            self.purge_to(node, number);
        }
    }

    /// `RESET BINARY LOGS AND GTIDS`, `RESET MASTER`. Those who copy from here lose their connection.
    pub fn reset_binlogs_and_gtids(&mut self, node: NodeId) -> Result<(), Refusal> {
        let now = self.clock(node);
        let it = &mut self.nodes[node];
        it.book.reset();
        it.binlog.reset(it.book.binlog_pos(), now);
        it.pipeline.committed = it.binlog.last_sequence();
        for id in it.dumps.clone() {
            if let Some(dump) = self.end_dump(id).filter(|dump| dump.is_open) {
                self.reconnect(dump.channel, false);
            }
        }
        Ok(())
    }

    pub(super) fn key(&self, node: NodeId, channel: &str) -> Result<ChannelKey, Refusal> {
        let it = &self.nodes[node];
        if !it.is_up {
            return Err(Refusal::Down);
        }
        let channel = it.channels.iter().find(|c| c.name == channel);
        let number = channel.map(|c| c.number).ok_or(Refusal::NoSuchChannel)?;
        Ok(ChannelKey { node, number })
    }

    pub(super) fn channel(&self, key: ChannelKey) -> Option<&Channel> {
        let channels = &self.nodes[key.node].channels;
        channels.iter().find(|c| c.number == key.number)
    }

    pub(super) fn channel_mut(&mut self, key: ChannelKey) -> Option<&mut Channel> {
        let channels = &mut self.nodes[key.node].channels;
        channels.iter_mut().find(|c| c.number == key.number)
    }

    /// The relay log is thrown away: what was not applied comes again.
    pub(super) fn lose_relay_log(&mut self, key: ChannelKey) {
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let connected = channel.receiver.has_connected();
        let read = connected.then_some(channel.receiver.read);
        let really = channel.applier.really(read);
        if connected {
            channel.receiver.read = really.place;
            channel.applier.checkpoint.place = really.place;
        }
        channel.applier.queue.clear();
        channel.receiver.retrieved = channel.receiver.retrieved.empty_like();
        channel.relay = RelayLog::default();
    }

    fn forget_source(&mut self, key: ChannelKey) {
        if let Some(channel) = self.channel_mut(key) {
            let (version, empty) = (
                channel.receiver.version + 1,
                channel.receiver.retrieved.empty_like(),
            );
            channel.receiver = Receiver::new(empty);
            channel.receiver.version = version;
            channel.applier.checkpoint.place = super::binlog::Place::default();
            channel.applier.error = None;
        }
    }

    fn make_channel(&mut self, node: NodeId, name: &str, config: SourceConfig) {
        let number = self.next_number();
        let now = self.now;
        let it = &mut self.nodes[node];
        let empty = it.book.executed.empty_like();
        let mut channel = Channel::new(number, name, config, empty, now);
        channel.filters.clone_from(&it.filters);
        it.channels.push(channel);
    }

    pub(super) fn play(&mut self, event: Event) {
        match event {
            Event::WorkDone { node, version } => self.on_work_done(node, version),
            Event::Flushed { node, epoch } => self.on_flushed(node, epoch),
            Event::ReceiptOverdue { node, epoch } => self.on_receipt_overdue(node, epoch),
            Event::Send { dump } => self.on_send(dump),
            Event::Arrive { dump } => self.on_arrive(dump),
            Event::Receipt { dump, sequence } => self.on_receipt(dump, sequence),
            Event::Heartbeat { dump } => self.on_heartbeat(dump),
            Event::Silence { dump } => self.on_silence(dump),
            Event::Connect { channel, version } => self.on_connect(channel, version),
            Event::ConnectEnds { channel, version } => self.on_connect_ends(channel, version),
            Event::DelayOver { channel, version } => self.on_delay_over(channel, version),
            Event::LockOverdue {
                channel,
                worker,
                run,
            } => self.on_lock_overdue(channel, worker, run),
            Event::Tick {
                node,
                event,
                version,
            } => self.on_tick(node, event, version),
        }
    }
}

pub(super) fn file_name(base: &str, number: u32) -> String {
    format!("{base}.{number:06}")
}
