//! Which servers a command is about, and who we are there.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{given, interval};
use crate::model::profile::{Target, TlsMode};
use crate::model::time::Span;

/// Which servers, and who we are there.
#[derive(Clone, Debug, Args)]
pub struct Selection {
    /// A saved topology by its name, or a topology file.
    #[arg(
        long,
        value_name = "NAME|FILE",
        conflicts_with = "server",
        required_unless_present = "server"
    )]
    pub topology: Option<String>,

    /// A server, as [user@]host[:port], [user@][IPv6]:port or the path of a socket; may be given several times.
    #[arg(long, value_name = "ADDRESS", value_parser = given)]
    pub server: Vec<Given>,

    /// The account, where the address or the topology does not name one.
    #[arg(long)]
    pub user: Option<String>,

    /// A file whose only line is the password. Otherwise REPLICASCOPE_PASSWORD, the keychain, or a prompt.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,

    /// What the connection must prove about the server. By default the certificate and its name are verified, except
    /// to this machine, where TLS is off.
    #[arg(long, value_enum, value_name = "MODE")]
    pub tls: Option<TlsArg>,

    /// PEM file of the certificate authority to trust.
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,

    /// PEM file of our own certificate.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file of our own private key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// A heartbeat table to read, as schema.table (pt-heartbeat, Blip, repl_heartbeat and our own are recognised).
    #[arg(long, value_name = "SCHEMA.TABLE")]
    pub heartbeat: Option<String>,

    /// How often each server is polled.
    #[arg(long, value_parser = interval, value_name = "TIME")]
    pub interval: Option<Span>,

    /// How often a source's position is marked.
    #[arg(long, value_parser = interval, value_name = "TIME")]
    pub mark_interval: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TlsArg {
    Off,
    Required,
    VerifyCa,
    VerifyIdentity,
}

impl From<TlsArg> for TlsMode {
    fn from(mode: TlsArg) -> Self {
        match mode {
            TlsArg::Off => TlsMode::Off,
            TlsArg::Required => TlsMode::Required,
            TlsArg::VerifyCa => TlsMode::VerifyCa,
            TlsArg::VerifyIdentity => TlsMode::VerifyIdentity,
        }
    }
}

/// A server as it was given; the output names it so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub text: String,
    pub target: Target,
}
