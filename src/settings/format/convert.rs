//! Between the shapes of the file and the profile.

use super::*;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::*;
use std::collections::BTreeSet;
use std::mem::take;

/// Why a table that is good TOML is no profile.
#[derive(Debug)]
pub(in crate::settings) struct Misfit {
    /// Which server of the topology, counted from 0; None: the topology itself.
    pub server: Option<usize>,
    pub reason: Phrase,
}

impl FileTopology {
    /// Ids that are missing or taken are made anew; `self` learns them too, so that what is unknown in it can be found
    /// again under the profile's ids.
    pub fn make_profile(
        &mut self,
        taken: &mut BTreeSet<String>,
    ) -> Result<TopologyProfile, Misfit> {
        if self.id.is_empty() {
            self.id = slug(&self.name);
        }
        self.id = free_id(&self.id, "topology", taken);
        let mut servers = Vec::with_capacity(self.server.len());
        let mut server_ids = BTreeSet::new();
        for (index, server) in self.server.iter_mut().enumerate() {
            let server = server
                .make_profile(&mut server_ids)
                .map_err(|reason| Misfit {
                    server: Some(index),
                    reason,
                })?;
            servers.push(server);
        }
        let of_topology = |reason| Misfit {
            server: None,
            reason,
        };
        let heartbeat = self
            .heartbeat
            .as_ref()
            .map(FileHeartbeat::to_model)
            .transpose();
        Ok(TopologyProfile {
            id: TopologyId(self.id.clone()),
            name: self.name.clone(),
            environment: self.environment.into(),
            servers,
            account: self.account.as_ref().map(FileAccount::to_model),
            tls: self.tls.as_ref().map(FileTls::to_model),
            thresholds: self.thresholds.to_model(),
            intervals: self.intervals.to_model(),
            heartbeat: heartbeat.map_err(of_topology)?,
            writes: self.writes.into(),
        })
    }

    pub fn of(profile: &TopologyProfile) -> Self {
        FileTopology {
            id: profile.id.0.clone(),
            name: profile.name.clone(),
            environment: profile.environment.into(),
            writes: profile.writes.into(),
            account: profile.account.as_ref().map(FileAccount::of),
            tls: profile.tls.as_ref().map(FileTls::of),
            thresholds: FileThresholds::of(&profile.thresholds),
            intervals: FileIntervals::of(&profile.intervals),
            heartbeat: profile.heartbeat.as_ref().map(FileHeartbeat::of),
            server: profile.servers.iter().map(FileServer::of).collect(),
            unknown: Table::new(),
        }
    }

    /// Takes over what this version did not understand, from the same topology as it was found in the file.
    pub fn keep_unknown_of(&mut self, found: &FileTopology) {
        self.unknown = found.unknown.clone();
        self.thresholds.unknown = found.thresholds.unknown.clone();
        self.intervals.unknown = found.intervals.unknown.clone();
        keep(&mut self.account, &found.account);
        keep(&mut self.tls, &found.tls);
        keep(&mut self.heartbeat, &found.heartbeat);
        for server in &mut self.server {
            let Some(found) = found.server.iter().find(|s| s.id == server.id) else {
                continue;
            };
            server.unknown = found.unknown.clone();
            keep(&mut server.account, &found.account);
            keep(&mut server.tls, &found.tls);
            keep(&mut server.thresholds, &found.thresholds);
        }
    }

    /// Takes out what looks like a password written by hand; true if there was one.
    pub fn drop_passwords(&mut self) -> bool {
        let mut tables = vec![&mut self.unknown];
        tables.extend(self.account.as_mut().map(|a| &mut a.unknown));
        for server in &mut self.server {
            tables.push(&mut server.unknown);
            tables.extend(server.account.as_mut().map(|a| &mut a.unknown));
        }
        let mut found = false;
        for table in tables {
            table.retain(|key, _| {
                let is_password = is_password_key(key);
                found |= is_password;
                !is_password
            });
        }
        found
    }
}

fn is_password_key(key: &str) -> bool {
    matches!(
        key.to_lowercase().as_str(),
        "password" | "passwd" | "pass" | "pwd" | "secret"
    )
}

/// `wanted`, or something like it that is not taken; never with a slash, which parts the names of keychain entries.
fn free_id(wanted: &str, otherwise: &str, taken: &mut BTreeSet<String>) -> String {
    let wanted = match wanted.contains('/') {
        true => slug(wanted),
        false => wanted.to_owned(),
    };
    let base = if wanted.is_empty() {
        otherwise
    } else {
        wanted.as_str()
    };
    let mut id = base.to_owned();
    let mut number = 2;
    while !taken.insert(id.clone()) {
        id = format!("{base}-{number}");
        number += 1;
    }
    id
}

trait Tabled {
    fn unknown(&self) -> &Table;
    fn unknown_mut(&mut self) -> &mut Table;
}

macro_rules! tabled {
    ($($shape:ty),*) => {$(
        impl Tabled for $shape {
            fn unknown(&self) -> &Table { &self.unknown }
            fn unknown_mut(&mut self) -> &mut Table { &mut self.unknown }
        }
    )*};
}
tabled!(FileAccount, FileTls, FileHeartbeat, FileThresholds);

fn keep<T: Tabled>(new: &mut Option<T>, found: &Option<T>) {
    if let (Some(new), Some(found)) = (new, found) {
        *new.unknown_mut() = found.unknown().clone();
    }
}

impl FileServer {
    fn make_profile(&mut self, taken: &mut BTreeSet<String>) -> Result<ServerProfile, Phrase> {
        let address = self.address()?;
        if self.id.is_empty() {
            let name = Some(self.name.as_str()).filter(|n| !n.trim().is_empty());
            self.id = slug(name.unwrap_or(&address.to_string()));
        }
        self.id = free_id(&take(&mut self.id), "server", taken);
        Ok(ServerProfile {
            id: ServerId(self.id.clone()),
            name: self.name.clone(),
            address,
            account: self.account.as_ref().map(FileAccount::to_model),
            role: self.role.into(),
            tls: self.tls.as_ref().map(FileTls::to_model),
            thresholds: self.thresholds.as_ref().map(FileThresholds::to_model),
            expected_channels: self.expected_channels.clone(),
        })
    }

    fn address(&self) -> Result<Address, Phrase> {
        match (&self.host, self.port, &self.socket) {
            (Some(host), port, None) => {
                Ok(Address::tcp(host, port.unwrap_or(address::DEFAULT_PORT)))
            }
            (None, None, Some(path)) => Ok(Address::Socket { path: path.clone() }),
            (None, _, None) => Err(phrase("settings.damage.no_address")),
            (_, _, Some(_)) => Err(phrase("settings.damage.two_addresses")),
        }
    }

    fn of(profile: &ServerProfile) -> Self {
        let (host, port, socket) = match &profile.address {
            Address::Tcp { host, port } => (Some(host.clone()), Some(*port), None),
            Address::Socket { path } => (None, None, Some(path.clone())),
        };
        FileServer {
            id: profile.id.0.clone(),
            name: profile.name.clone(),
            host,
            port,
            socket,
            role: profile.role.into(),
            expected_channels: profile.expected_channels.clone(),
            account: profile.account.as_ref().map(FileAccount::of),
            tls: profile.tls.as_ref().map(FileTls::of),
            thresholds: profile.thresholds.as_ref().map(FileThresholds::of),
            unknown: Table::new(),
        }
    }
}

impl FileAccount {
    fn to_model(&self) -> Account {
        let secret = match &self.password_from {
            FileSecretSource::Keychain => SecretSource::Keychain,
            FileSecretSource::Ask => SecretSource::Ask,
            FileSecretSource::Env(name) => SecretSource::Env(name.clone()),
            FileSecretSource::File(path) => SecretSource::File(path.clone()),
            FileSecretSource::None => SecretSource::NotNeeded,
        };
        let user = self.user.clone();
        Account { user, secret }
    }

    fn of(account: &Account) -> Self {
        let password_from = match &account.secret {
            SecretSource::Keychain => FileSecretSource::Keychain,
            SecretSource::Ask => FileSecretSource::Ask,
            SecretSource::Env(name) => FileSecretSource::Env(name.clone()),
            SecretSource::File(path) => FileSecretSource::File(path.clone()),
            SecretSource::NotNeeded => FileSecretSource::None,
        };
        FileAccount {
            user: account.user.clone(),
            password_from,
            unknown: Table::new(),
        }
    }
}

impl FileTls {
    fn to_model(&self) -> TlsSettings {
        TlsSettings {
            mode: self.mode.into(),
            ca: self.ca.clone(),
            client_cert: self.client_cert.clone(),
            client_key: self.client_key.clone(),
            server_public_key: self.server_public_key.clone(),
        }
    }

    fn of(tls: &TlsSettings) -> Self {
        FileTls {
            mode: tls.mode.into(),
            ca: tls.ca.clone(),
            client_cert: tls.client_cert.clone(),
            client_key: tls.client_key.clone(),
            server_public_key: tls.server_public_key.clone(),
            unknown: Table::new(),
        }
    }
}

impl FileThresholds {
    fn to_model(&self) -> Thresholds {
        let default = Thresholds::default();
        let or = |set: Option<FileSpan>, default| set.map_or(default, |s| s.0);
        Thresholds {
            lag_warning: or(self.lag_warning, default.lag_warning),
            lag_critical: or(self.lag_critical, default.lag_critical),
            consecutive: self.consecutive.unwrap_or(default.consecutive),
            clear_at_percent: self.clear_at_percent.unwrap_or(default.clear_at_percent),
            long_transaction: or(self.long_transaction, default.long_transaction),
            clock_offset: or(self.clock_offset, default.clock_offset),
        }
    }

    fn of(thresholds: &Thresholds) -> Self {
        FileThresholds {
            lag_warning: Some(FileSpan(thresholds.lag_warning)),
            lag_critical: Some(FileSpan(thresholds.lag_critical)),
            consecutive: Some(thresholds.consecutive),
            clear_at_percent: Some(thresholds.clear_at_percent),
            long_transaction: Some(FileSpan(thresholds.long_transaction)),
            clock_offset: Some(FileSpan(thresholds.clock_offset)),
            unknown: Table::new(),
        }
    }
}

impl FileIntervals {
    fn to_model(&self) -> Intervals {
        let default = Intervals::default();
        Intervals {
            poll: self.poll.map_or(default.poll, |s| s.0),
            mark: self.mark.map_or(default.mark, |s| s.0),
        }
    }

    fn of(intervals: &Intervals) -> Self {
        FileIntervals {
            poll: Some(FileSpan(intervals.poll)),
            mark: Some(FileSpan(intervals.mark)),
            unknown: Table::new(),
        }
    }
}

impl FileHeartbeat {
    fn to_model(&self) -> Result<HeartbeatTable, Phrase> {
        let layout = match (self.layout, &self.writer_column) {
            (FileLayout::Single, _) => HeartbeatLayout::Single,
            (FileLayout::Appended, _) => HeartbeatLayout::Appended,
            (FileLayout::PerWriter, Some(column)) => HeartbeatLayout::PerWriter {
                writer_column: column.clone(),
                pinned_writer: self.pinned_writer.clone(),
            },
            (FileLayout::PerWriter, None) => {
                return Err(phrase("settings.damage.no_writer_column"));
            }
        };
        Ok(HeartbeatTable {
            schema: self.schema.clone(),
            table: self.table.clone(),
            time_column: self.time_column.clone(),
            layout,
            zone: self.zone.into(),
            interval: self.interval.map(|s| s.0),
        })
    }

    fn of(heartbeat: &HeartbeatTable) -> Self {
        let (layout, writer_column, pinned_writer) = match &heartbeat.layout {
            HeartbeatLayout::Single => (FileLayout::Single, None, None),
            HeartbeatLayout::Appended => (FileLayout::Appended, None, None),
            HeartbeatLayout::PerWriter {
                writer_column,
                pinned_writer,
            } => (
                FileLayout::PerWriter,
                Some(writer_column.clone()),
                pinned_writer.clone(),
            ),
        };
        FileHeartbeat {
            schema: heartbeat.schema.clone(),
            table: heartbeat.table.clone(),
            time_column: heartbeat.time_column.clone(),
            layout,
            writer_column,
            pinned_writer,
            zone: heartbeat.zone.into(),
            interval: heartbeat.interval.map(FileSpan),
            unknown: Table::new(),
        }
    }
}

/// Words that are the same on both sides.
macro_rules! same_words {
    ($file:ident, $model:ident: $($word:ident),*) => {
        impl From<$file> for $model {
            fn from(word: $file) -> Self { match word { $($file::$word => $model::$word),* } }
        }
        impl From<$model> for $file {
            fn from(word: $model) -> Self { match word { $($model::$word => $file::$word),* } }
        }
    };
}
same_words!(FileEnvironment, Environment: Production, Staging, Development, Lab);
same_words!(FileWrites, WritePermission: Forbidden, Allowed);
same_words!(FileRole, ExpectedRole: Auto, Source, Replica);
same_words!(FileTlsMode, TlsMode: Off, Required, VerifyCa, VerifyIdentity);
same_words!(FileZone, StampZone: Utc, Local);
