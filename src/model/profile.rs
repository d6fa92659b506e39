//! What a person tells us about a topology: its servers, who we are there, and what counts as late.
//!
//! A profile never holds a password, only where one comes from ([`SecretSource`]). How it is written to disk is the
//! business of `settings`; what can be wrong with it is in [`check()`]; how an address is typed and shown in [`address`].

use serde::{Deserialize, Serialize};

pub mod address;
mod check;

pub use address::{Address, Target};
pub use check::{Field, FieldName, FieldProblem, check};

use super::phrase::{Phrase, phrase};
use super::time::Span;
use std::path::PathBuf;

/// Names a topology for as long as it exists; passwords in the keychain are filed under it, so it is never reused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TopologyId(pub String);

/// Names a server within its topology, whatever becomes of its name and address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServerId(pub String);

/// A source with its replicas, as the person sees them belonging together.
#[derive(Clone, Debug, PartialEq)]
pub struct TopologyProfile {
    pub id: TopologyId,
    pub name: String,
    pub environment: Environment,
    pub servers: Vec<ServerProfile>,
    /// Used on every server that has no account of its own.
    pub account: Option<Account>,
    /// Used for every server that has no settings of its own; see [`TopologyProfile::tls_for`].
    pub tls: Option<TlsSettings>,
    pub thresholds: Thresholds,
    pub intervals: Intervals,
    /// None: no heartbeat is read.
    pub heartbeat: Option<HeartbeatTable>,
    /// Whether a probe may write here.
    pub writes: WritePermission,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ServerProfile {
    pub id: ServerId,
    /// What the screens call it; empty means: call it by its address.
    pub name: String,
    pub address: Address,
    pub account: Option<Account>,
    pub role: ExpectedRole,
    pub tls: Option<TlsSettings>,
    /// Instead of the topology's, for a replica that may be later (or must not be).
    pub thresholds: Option<Thresholds>,
    /// Channels that must be there; the name of the default channel is empty. With none listed, nothing is missed.
    pub expected_channels: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Environment {
    Production,
    Staging,
    #[default]
    Development,
    Lab,
}

/// Watching only reads. What writes must be allowed for each topology; on production it is asked about all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WritePermission {
    #[default]
    Forbidden,
    Allowed,
}

/// What the person says a server is; what it really is, its answers tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExpectedRole {
    #[default]
    Auto,
    Source,
    Replica,
}

/// Who we are on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub user: String,
    pub secret: SecretSource,
}

/// Where a password comes from; never the password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SecretSource {
    #[default]
    Keychain,
    /// Asked for once per session, kept in memory.
    Ask,
    /// The environment variable of this name.
    Env(String),
    File(PathBuf),
    /// The account has none: the socket's owner or a client certificate says who we are.
    NotNeeded,
}

/// Which account's password: the name of an entry in the keychain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKey {
    pub topology: TopologyId,
    pub owner: SecretOwner,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretOwner {
    Topology,
    Server(ServerId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    pub mode: TlsMode,
    /// PEM. Without it, the public certificate authorities are trusted.
    pub ca: Option<PathBuf>,
    pub client_cert: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
    /// The server's RSA key, pinned for `caching_sha2_password` without TLS; fetched from the server it could be anyone's.
    pub server_public_key: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlsMode {
    Off,
    /// Encrypted, to whoever answers.
    Required,
    /// The certificate's chain is verified, its name is not: what the certificates MySQL makes for itself can pass.
    VerifyCa,
    /// Chain and name.
    VerifyIdentity,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    pub lag_warning: Span,
    pub lag_critical: Span,
    /// So many readings in a row must agree before a lag finding is raised or cleared.
    pub consecutive: u32,
    /// A raised lag finding is cleared only below this share of its threshold, so that it does not flutter around it.
    pub clear_at_percent: u32,
    /// A transaction open for longer is listed.
    pub long_transaction: Span,
    /// A server's clock further from ours is reported.
    pub clock_offset: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    pub poll: Span,
    pub mark: Span,
}

/// A table somebody writes the time into, on the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatTable {
    pub schema: String,
    pub table: String,
    /// DATETIME, TIMESTAMP or text.
    pub time_column: String,
    pub layout: HeartbeatLayout,
    /// What a DATETIME or a text in the time column means (R25); a TIMESTAMP says so itself.
    pub zone: StampZone,
    /// How often it is written; None: measured on the source's own row.
    pub interval: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatLayout {
    /// One row, updated with every beat.
    Single,
    /// One row for each server that ever wrote (R26). The source's is used, or the pinned one.
    PerWriter {
        writer_column: String,
        pinned_writer: Option<String>,
    },
    /// A new row with every beat; the newest counts.
    Appended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StampZone {
    Utc,
    /// The time zone of the writing server.
    Local,
}

impl TopologyProfile {
    /// A profile with everything at its default and no server yet.
    pub fn new(id: TopologyId, name: impl Into<String>) -> Self {
        TopologyProfile {
            id,
            name: name.into(),
            environment: Environment::default(),
            servers: Vec::new(),
            account: None,
            tls: None,
            thresholds: Thresholds::default(),
            intervals: Intervals::default(),
            heartbeat: None,
            writes: WritePermission::default(),
        }
    }

    pub fn server(&self, id: &ServerId) -> Option<&ServerProfile> {
        self.servers.iter().find(|s| &s.id == id)
    }

    /// The account to use on `server`, and under which key its password is kept.
    pub fn account_for<'a>(
        &'a self,
        server: &'a ServerProfile,
    ) -> Option<(&'a Account, SecretKey)> {
        let (account, owner) = match (&server.account, &self.account) {
            (Some(own), _) => (own, SecretOwner::Server(server.id.clone())),
            (None, Some(shared)) => (shared, SecretOwner::Topology),
            (None, None) => return None,
        };
        let topology = self.id.clone();
        Some((account, SecretKey { topology, owner }))
    }

    /// The server's own settings, else the topology's, else the default for its address. The topology's do not apply
    /// to a unix socket: nothing travels there, and servers refuse or ignore TLS on it.
    pub fn tls_for(&self, server: &ServerProfile) -> TlsSettings {
        match (&server.tls, &self.tls, &server.address) {
            (Some(own), _, _) => own.clone(),
            (None, Some(shared), Address::Tcp { .. }) => shared.clone(),
            (None, _, address) => TlsSettings::default_for(address),
        }
    }

    pub fn thresholds_for<'a>(&'a self, server: &'a ServerProfile) -> &'a Thresholds {
        server.thresholds.as_ref().unwrap_or(&self.thresholds)
    }

    /// Every key under which this profile may have a password in the keychain: what to delete with it.
    pub fn secret_keys(&self) -> Vec<SecretKey> {
        let owners = self
            .servers
            .iter()
            .map(|s| SecretOwner::Server(s.id.clone()));
        std::iter::once(SecretOwner::Topology)
            .chain(owners)
            .map(|owner| SecretKey {
                topology: self.id.clone(),
                owner,
            })
            .collect()
    }
}

impl ServerProfile {
    pub fn new(id: ServerId, address: Address) -> Self {
        ServerProfile {
            id,
            name: String::new(),
            address,
            account: None,
            role: ExpectedRole::default(),
            tls: None,
            thresholds: None,
            expected_channels: Vec::new(),
        }
    }

    /// Its name, or its address for want of one.
    pub fn label(&self) -> String {
        match self.name.trim() {
            "" => self.address.to_string(),
            name => name.to_owned(),
        }
    }
}

impl Environment {
    pub const ALL: [Environment; 4] = [
        Environment::Production,
        Environment::Staging,
        Environment::Development,
        Environment::Lab,
    ];

    /// Whether whatever writes must be confirmed by typing the topology's name.
    pub fn guards_writes(self) -> bool {
        self == Environment::Production
    }
}

impl SecretKey {
    /// `<topology>/` for the shared account, `<topology>/<server>` for a server's own. Ids have no slash, so no two
    /// keys share an entry.
    pub fn entry_name(&self) -> String {
        match &self.owner {
            SecretOwner::Topology => format!("{}/", self.topology.0),
            SecretOwner::Server(server) => format!("{}/{}", self.topology.0, server.0),
        }
    }
}

impl TlsSettings {
    pub fn with_mode(mode: TlsMode) -> Self {
        TlsSettings {
            mode,
            ca: None,
            client_cert: None,
            client_key: None,
            server_public_key: None,
        }
    }

    /// Verified, unless nothing leaves this machine: over loopback and unix sockets nobody can listen in who could not
    /// read our memory, and no certificate is made out to 127.0.0.1 unless somebody took the trouble.
    pub fn default_for(address: &Address) -> Self {
        TlsSettings::with_mode(match address.stays_on_this_machine() {
            true => TlsMode::Off,
            false => TlsMode::VerifyIdentity,
        })
    }

    /// Why [`TlsSettings::default_for`] decides as it does, for beside the choice.
    pub fn why_default_for(address: &Address) -> Phrase {
        match address.stays_on_this_machine() {
            true => phrase("profile.tls.default_off"),
            false => phrase("profile.tls.default_verified"),
        }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds {
            lag_warning: Span::from_secs(3),
            lag_critical: Span::from_secs(10),
            consecutive: 2,
            clear_at_percent: 80,
            long_transaction: Span::from_secs(5),
            clock_offset: Span::from_secs(1),
        }
    }
}

impl Default for Intervals {
    fn default() -> Self {
        Intervals {
            poll: Span::from_secs(1),
            mark: Span::from_millis(250),
        }
    }
}

impl HeartbeatTable {
    /// Our own: `replicascope.heartbeat (server_id INT UNSIGNED PRIMARY KEY, ts DATETIME(6))`, UTC.
    pub fn own() -> Self {
        Self::known("replicascope", "heartbeat", per_writer("server_id"), true)
    }

    /// The single row `repl_heartbeat (id, ts DATETIME(3))`, written by an event with `NOW(3)`.
    pub fn repl_heartbeat(schema: &str) -> Self {
        Self::known(schema, "repl_heartbeat", HeartbeatLayout::Single, false)
    }

    /// pt-heartbeat's `heartbeat (ts VARCHAR(26), server_id, …)`; local time unless it was started with `--utc`.
    pub fn pt_heartbeat(schema: &str, zone: StampZone) -> Self {
        let utc = zone == StampZone::Utc;
        Self::known(schema, "heartbeat", per_writer("server_id"), utc)
    }

    /// Blip's `blip.heartbeat (src_id VARCHAR(200), src_role, ts TIMESTAMP(3), freq)`.
    pub fn blip() -> Self {
        Self::known("blip", "heartbeat", per_writer("src_id"), true)
    }

    fn known(schema: &str, table: &str, layout: HeartbeatLayout, utc: bool) -> Self {
        HeartbeatTable {
            schema: schema.to_owned(),
            table: table.to_owned(),
            time_column: "ts".to_owned(),
            layout,
            zone: if utc {
                StampZone::Utc
            } else {
                StampZone::Local
            },
            interval: None,
        }
    }
}

fn per_writer(column: &str) -> HeartbeatLayout {
    HeartbeatLayout::PerWriter {
        writer_column: column.to_owned(),
        pinned_writer: None,
    }
}

/// What of a name can stand in an id: letters and digits, with dashes between the words.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        match c {
            c if c.is_alphanumeric() => slug.extend(c.to_lowercase()),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(id: &str, address: &str) -> ServerProfile {
        let address = Target::parse(address).unwrap().address;
        ServerProfile::new(ServerId(id.into()), address)
    }

    fn account(user: &str) -> Account {
        Account {
            user: user.into(),
            secret: SecretSource::Keychain,
        }
    }

    #[test]
    fn a_servers_own_account_comes_before_the_topologys() {
        let mut shop = TopologyProfile::new(TopologyId("shop".into()), "Shop");
        let plain = server("a", "db1");
        let mut own = server("b", "db2");
        own.account = Some(account("special"));
        assert_eq!(shop.account_for(&plain), None);
        shop.account = Some(account("monitor"));

        let used = |s| {
            shop.account_for(s)
                .map(|(a, k)| (a.user.as_str(), k.entry_name()))
        };
        assert_eq!(used(&plain), Some(("monitor", "shop/".into())));
        assert_eq!(used(&own), Some(("special", "shop/b".into())));
    }

    #[test]
    fn tls_is_verified_by_default_unless_nothing_leaves_the_machine() {
        let shop = TopologyProfile::new(TopologyId("shop".into()), "Shop");
        let cases = [
            ("db1", TlsMode::VerifyIdentity),
            ("10.0.0.7", TlsMode::VerifyIdentity),
            ("2abc::1", TlsMode::VerifyIdentity),
            ("127.0.0.1:3310", TlsMode::Off),
            ("::1", TlsMode::Off),
            ("localhost", TlsMode::Off),
            ("/run/mysqld/mysqld.sock", TlsMode::Off),
        ];
        for (address, mode) in cases {
            assert_eq!(shop.tls_for(&server("s", address)).mode, mode, "{address}");
        }
    }

    #[test]
    fn the_topologys_tls_reaches_every_address_but_sockets() {
        let mut shop = TopologyProfile::new(TopologyId("shop".into()), "Shop");
        shop.tls = Some(TlsSettings::with_mode(TlsMode::VerifyCa));
        let mode = |address| shop.tls_for(&server("s", address)).mode;
        assert_eq!(mode("db1"), TlsMode::VerifyCa);
        assert_eq!(mode("127.0.0.1"), TlsMode::VerifyCa);
        assert_eq!(mode("/tmp/mysql.sock"), TlsMode::Off);
    }

    #[test]
    fn ids_made_of_names_have_no_separators() {
        let cases = [
            ("Shop", "shop"),
            ("  Shop / EU (2)  ", "shop-eu-2"),
            ("订单 库", "订单-库"),
            ("///", ""),
        ];
        for (name, id) in cases {
            assert_eq!(slug(name), id);
        }
    }
}
