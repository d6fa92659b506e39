//! How profiles are spelled in TOML: the shapes of the file, apart from the shapes the program works with, so that either
//! can change without the other. Going from one to the other is in `convert`.
//!
//! Every table ends in `unknown`: keys of a later version or of the person's own, read, kept and written back. The keys
//! stand in the order a person would fill them in.

mod convert;

use super::durations;
use crate::model::time::Span;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::path::PathBuf;
use toml::Table;

pub(super) const HEADER: &str = "\
# Replicascope: topologies and their servers. Rewritten when saved in the window; comments are not kept.
# No password belongs here. password_from says where one comes from:
# \"keychain\", \"ask\", \"env:NAME\", \"file:/path\" or \"none\".
";

/// The file as it is written.
#[derive(Serialize)]
pub(super) struct FileRoot {
    pub version: i64,
    /// Readable topologies and, as they were found, those this version could not read.
    pub topology: Vec<FileEntry>,
    #[serde(flatten)]
    pub unknown: Table,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum FileEntry {
    Readable(Box<FileTopology>),
    AsFound(toml::Value),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileTopology {
    /// Absent in a file written by hand: made of the name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub environment: FileEnvironment,
    #[serde(default, skip_serializing_if = "FileWrites::are_forbidden")]
    pub writes: FileWrites,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<FileAccount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<FileTls>,
    #[serde(default)]
    pub thresholds: FileThresholds,
    #[serde(default)]
    pub intervals: FileIntervals,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<FileHeartbeat>,
    #[serde(default)]
    pub server: Vec<FileServer>,
    #[serde(flatten)]
    pub unknown: Table,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileServer {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    #[serde(default)]
    pub role: FileRole,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_channels: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<FileAccount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<FileTls>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<FileThresholds>,
    #[serde(flatten)]
    pub unknown: Table,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileEnvironment {
    Production,
    Staging,
    #[default]
    Development,
    Lab,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileWrites {
    #[default]
    Forbidden,
    Allowed,
}

impl FileWrites {
    fn are_forbidden(&self) -> bool {
        *self == FileWrites::Forbidden
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileRole {
    #[default]
    Auto,
    Source,
    Replica,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileAccount {
    pub user: String,
    #[serde(default)]
    pub password_from: FileSecretSource,
    #[serde(flatten)]
    pub unknown: Table,
}

/// `keychain`, `ask`, `env:NAME`, `file:/path`, `none`.
#[derive(Clone, Debug, Default)]
pub(super) enum FileSecretSource {
    #[default]
    Keychain,
    Ask,
    Env(String),
    File(PathBuf),
    None,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileTls {
    pub mode: FileTlsMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cert: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_public_key: Option<PathBuf>,
    #[serde(flatten)]
    pub unknown: Table,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileTlsMode {
    Off,
    Required,
    VerifyCa,
    VerifyIdentity,
}

/// A threshold left out is the default's; so a file of a version that had fewer of them reads well.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FileThresholds {
    pub lag_warning: Option<FileSpan>,
    pub lag_critical: Option<FileSpan>,
    pub consecutive: Option<u32>,
    pub clear_at_percent: Option<u32>,
    pub long_transaction: Option<FileSpan>,
    pub clock_offset: Option<FileSpan>,
    #[serde(flatten)]
    pub unknown: Table,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FileIntervals {
    pub poll: Option<FileSpan>,
    pub mark: Option<FileSpan>,
    #[serde(flatten)]
    pub unknown: Table,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileHeartbeat {
    pub schema: String,
    pub table: String,
    pub time_column: String,
    pub layout: FileLayout,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_writer: Option<String>,
    pub zone: FileZone,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<FileSpan>,
    #[serde(flatten)]
    pub unknown: Table,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileLayout {
    Single,
    PerWriter,
    Appended,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileZone {
    Utc,
    Local,
}

/// A length of time, spelled `"250ms"`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileSpan(pub Span);

impl Serialize for FileSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&durations::print(self.0))
    }
}

impl<'de> Deserialize<'de> for FileSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        durations::parse(&text).map(FileSpan).map_err(|_| {
            de::Error::custom(format!(
                "`{text}` is no duration, expected one like \"3s\" or \"250ms\""
            ))
        })
    }
}

impl Serialize for FileSecretSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FileSecretSource::Keychain => serializer.serialize_str("keychain"),
            FileSecretSource::Ask => serializer.serialize_str("ask"),
            FileSecretSource::None => serializer.serialize_str("none"),
            FileSecretSource::Env(name) => serializer.serialize_str(&format!("env:{name}")),
            FileSecretSource::File(path) => match path.to_str() {
                Some(path) => serializer.serialize_str(&format!("file:{path}")),
                None => Err(serde::ser::Error::custom("the path is not UTF-8")),
            },
        }
    }
}

impl<'de> Deserialize<'de> for FileSecretSource {
    /// The error does not repeat the text: it may be a password, put where only its source belongs.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "expected \"keychain\", \"ask\", \"env:NAME\", \"file:/path\" or \"none\"; a password does not belong here";
        let text = toml::Value::deserialize(deserializer)?;
        let source = match text.as_str() {
            Some("keychain") => Some(FileSecretSource::Keychain),
            Some("ask") => Some(FileSecretSource::Ask),
            Some("none") => Some(FileSecretSource::None),
            Some(other) => {
                let env = other
                    .strip_prefix("env:")
                    .map(|n| FileSecretSource::Env(n.to_owned()));
                env.or_else(|| {
                    other
                        .strip_prefix("file:")
                        .map(|p| FileSecretSource::File(p.into()))
                })
            }
            None => None,
        };
        source.ok_or_else(|| de::Error::custom(EXPECTED))
    }
}
