//! From a profile to something that connects.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::accepting::AcceptDial;
use crate::link::Dial;
use crate::link::probing::ProbeDial;
use crate::model::profile::{
    Address, HeartbeatLayout, HeartbeatTable, ServerProfile, TlsMode, TopologyProfile,
};
use crate::model::secret::Secret;
use crate::model::server::Product;
use crate::model::trouble::Trouble;
use crate::mysql::{self, Dialer, Endpoint, TestReport};

/// A dialer for one server of a topology, with the password found for it.
pub fn dialer(
    topology: &TopologyProfile,
    server: &ServerProfile,
    secret: Option<&Secret>,
) -> Arc<dyn Dial> {
    Arc::new(Dialer::new(endpoint(topology, server, secret)))
}

/// The same for a probe's sessions.
pub fn probe_dialer(
    topology: &TopologyProfile,
    server: &ServerProfile,
    secret: Option<&Secret>,
) -> Arc<dyn ProbeDial> {
    Arc::new(Dialer::new(endpoint(topology, server, secret)))
}

/// The same for all that an acceptance run opens.
pub fn accept_dialer(
    topology: &TopologyProfile,
    server: &ServerProfile,
    secret: Option<&Secret>,
) -> Arc<dyn AcceptDial> {
    Arc::new(Dialer::new(endpoint(topology, server, secret)))
}

/// A server's account, to be used at its own address or, behind a proxy, at another.
#[derive(Clone)]
pub struct AcceptAccount {
    pub topology: TopologyProfile,
    pub server: ServerProfile,
    pub secret: Option<Secret>,
}

impl AcceptAccount {
    pub fn dialer(&self) -> Arc<dyn AcceptDial> {
        accept_dialer(&self.topology, &self.server, self.secret.as_ref())
    }

    pub fn behind(&self, proxy: &Address) -> Arc<dyn AcceptDial> {
        let server = ServerProfile {
            address: proxy.clone(),
            ..self.server.clone()
        };
        accept_dialer(&self.topology, &server, self.secret.as_ref())
    }
}

/// Connects once and tries each question of a poll, for the test button. Blocks; within time limits.
pub fn test(
    topology: &TopologyProfile,
    server: &ServerProfile,
    secret: Option<&Secret>,
) -> Result<TestReport, Trouble> {
    mysql::test_connection(endpoint(topology, server, secret))
}

/// The SQL of an account that sees everything here and changes nothing.
pub fn account_sql(product: &Product, user: &str, table: Option<&HeartbeatTable>) -> String {
    let table = table.map(heartbeat);
    mysql::monitor_account(product, user, table.as_ref())
}

fn endpoint(
    topology: &TopologyProfile,
    server: &ServerProfile,
    secret: Option<&Secret>,
) -> Endpoint {
    let address = match &server.address {
        Address::Tcp { host, port } => mysql::Address::Tcp {
            host: host.clone(),
            port: *port,
        },
        Address::Socket { path } => mysql::Address::Socket(path.clone()),
    };
    let user = topology
        .account_for(server)
        .map_or("", |(account, _)| account.user.as_str());
    let mut endpoint = Endpoint::new(address, user, None);
    endpoint.password = secret
        .filter(|secret| !secret.is_empty())
        .map(|secret| Zeroizing::new(secret.expose().to_owned()));
    endpoint.tls = tls(topology, server);
    endpoint.heartbeat = topology.heartbeat.as_ref().map(heartbeat);
    endpoint.long_transaction = topology.thresholds_for(server).long_transaction;
    endpoint
}

fn tls(topology: &TopologyProfile, server: &ServerProfile) -> mysql::Tls {
    let settings = topology.tls_for(server);
    mysql::Tls {
        mode: match settings.mode {
            TlsMode::Off => mysql::TlsMode::Off,
            TlsMode::Required => mysql::TlsMode::Required,
            TlsMode::VerifyCa => mysql::TlsMode::VerifyCa,
            TlsMode::VerifyIdentity => mysql::TlsMode::VerifyIdentity,
        },
        ca: settings.ca,
        client_cert: settings.client_cert,
        client_key: settings.client_key,
        server_public_key: settings.server_public_key,
    }
}

fn heartbeat(table: &HeartbeatTable) -> mysql::HeartbeatTable {
    mysql::HeartbeatTable {
        schema: table.schema.clone(),
        table: table.table.clone(),
        time_column: table.time_column.clone(),
        server_id_column: match &table.layout {
            HeartbeatLayout::PerWriter { writer_column, .. } => Some(writer_column.clone()),
            HeartbeatLayout::Single | HeartbeatLayout::Appended => None,
        },
        keeps_history: table.layout == HeartbeatLayout::Appended,
    }
}
