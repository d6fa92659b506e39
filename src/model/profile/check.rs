//! What is wrong with a profile, field by field, so that an editor can say it beside the field.

use super::address::host_problem;
use super::*;
use std::collections::BTreeMap;

/// One thing wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldProblem {
    pub field: Field,
    pub problem: Phrase,
}

/// A field of the topology, or of one of its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub server: Option<ServerId>,
    pub name: FieldName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldName {
    Name,
    Id,
    Servers,
    Host,
    Port,
    SocketPath,
    User,
    SecretEnv,
    SecretFile,
    Ca,
    ClientCert,
    ClientKey,
    ServerPublicKey,
    LagWarning,
    LagCritical,
    Consecutive,
    ClearAt,
    LongTransaction,
    ClockOffset,
    PollInterval,
    MarkInterval,
    HeartbeatSchema,
    HeartbeatTable,
    HeartbeatTimeColumn,
    HeartbeatWriterColumn,
    HeartbeatInterval,
}

/// Everything wrong with a profile, in the order of its fields; empty if it can be used.
pub fn check(profile: &TopologyProfile) -> Vec<FieldProblem> {
    let mut found = Found {
        server: None,
        problems: Vec::new(),
    };
    if profile.name.trim().is_empty() {
        found.add(FieldName::Name, phrase("profile.name.empty"));
    }
    if profile.id.0.is_empty() || profile.id.0.contains('/') {
        found.add(FieldName::Id, phrase("profile.id.bad"));
    }
    if profile.servers.is_empty() {
        found.add(FieldName::Servers, phrase("profile.servers.none"));
    }
    check_account(&mut found, profile.account.as_ref());
    check_tls(&mut found, profile.tls.as_ref());
    check_thresholds(&mut found, &profile.thresholds);
    check_intervals(&mut found, &profile.intervals);
    if let Some(heartbeat) = &profile.heartbeat {
        check_heartbeat(&mut found, heartbeat);
    }
    for server in &profile.servers {
        found.server = Some(server.id.clone());
        check_server(&mut found, server);
    }
    check_twins(&mut found, &profile.servers);
    found.problems
}

struct Found {
    /// Whose fields are being looked at; None for the topology's own.
    server: Option<ServerId>,
    problems: Vec<FieldProblem>,
}

impl Found {
    fn add(&mut self, name: FieldName, problem: Phrase) {
        let server = self.server.clone();
        self.problems.push(FieldProblem {
            field: Field { server, name },
            problem,
        });
    }
}

fn check_server(found: &mut Found, server: &ServerProfile) {
    if server.id.0.is_empty() || server.id.0.contains('/') {
        found.add(FieldName::Id, phrase("profile.id.bad"));
    }
    match &server.address {
        Address::Tcp { host, port } => {
            if let Some(problem) = host_problem(host) {
                found.add(FieldName::Host, problem);
            }
            if *port == 0 {
                found.add(FieldName::Port, phrase("profile.port.zero"));
            }
        }
        Address::Socket { path } if !path.has_root() => {
            found.add(FieldName::SocketPath, phrase("profile.socket.relative"));
        }
        Address::Socket { .. } => {}
    }
    check_account(found, server.account.as_ref());
    check_tls(found, server.tls.as_ref());
    if let Some(thresholds) = &server.thresholds {
        check_thresholds(found, thresholds);
    }
}

fn check_account(found: &mut Found, account: Option<&Account>) {
    let Some(account) = account else { return };
    if account.user.is_empty() {
        found.add(FieldName::User, phrase("profile.user.empty"));
    }
    match &account.secret {
        SecretSource::Env(name) if name.is_empty() || name.contains(['=', '\0']) => {
            found.add(FieldName::SecretEnv, phrase("profile.secret.env_name"));
        }
        SecretSource::File(path) if path.as_os_str().is_empty() => {
            found.add(FieldName::SecretFile, phrase("profile.secret.file_name"));
        }
        _ => {}
    }
}

fn check_tls(found: &mut Found, tls: Option<&TlsSettings>) {
    match tls.map(|t| (&t.client_cert, &t.client_key)) {
        Some((Some(_), None)) => found.add(FieldName::ClientKey, phrase("profile.tls.key_missing")),
        Some((None, Some(_))) => {
            found.add(FieldName::ClientCert, phrase("profile.tls.cert_missing"))
        }
        _ => {}
    }
}

fn check_thresholds(found: &mut Found, thresholds: &Thresholds) {
    for (field, span) in [
        (FieldName::LagWarning, thresholds.lag_warning),
        (FieldName::LongTransaction, thresholds.long_transaction),
        (FieldName::ClockOffset, thresholds.clock_offset),
    ] {
        if span <= Span::ZERO {
            found.add(field, phrase("profile.span.not_positive"));
        }
    }
    if thresholds.lag_critical < thresholds.lag_warning {
        let problem = phrase("profile.threshold.critical_below_warning");
        found.add(
            FieldName::LagCritical,
            problem.with("warning", thresholds.lag_warning),
        );
    }
    if !(1..=100).contains(&thresholds.consecutive) {
        found.add(
            FieldName::Consecutive,
            phrase("profile.threshold.consecutive"),
        );
    }
    if !(1..=100).contains(&thresholds.clear_at_percent) {
        found.add(FieldName::ClearAt, phrase("profile.threshold.clear_at"));
    }
}

/// The lower limits keep us a guest: below them the questions would cost the server more than the answers tell.
fn check_intervals(found: &mut Found, intervals: &Intervals) {
    let limits = [
        (
            FieldName::PollInterval,
            intervals.poll,
            Span::from_millis(200),
            Span::from_secs(3600),
        ),
        (
            FieldName::MarkInterval,
            intervals.mark,
            Span::from_millis(50),
            Span::from_secs(60),
        ),
    ];
    for (field, interval, least, most) in limits {
        if interval < least || interval > most {
            let problem = phrase("profile.interval.out_of_range");
            found.add(field, problem.with("least", least).with("most", most));
        }
    }
}

fn check_heartbeat(found: &mut Found, heartbeat: &HeartbeatTable) {
    let mut names = vec![
        (FieldName::HeartbeatSchema, &heartbeat.schema),
        (FieldName::HeartbeatTable, &heartbeat.table),
        (FieldName::HeartbeatTimeColumn, &heartbeat.time_column),
    ];
    if let HeartbeatLayout::PerWriter { writer_column, .. } = &heartbeat.layout {
        names.push((FieldName::HeartbeatWriterColumn, writer_column));
    }
    for (field, name) in names {
        // 64 characters and no NUL: the server's limits for identifiers.
        if name.is_empty() || name.chars().count() > 64 || name.contains('\0') {
            found.add(field, phrase("profile.heartbeat.identifier"));
        }
    }
    if heartbeat.interval.is_some_and(|i| i <= Span::ZERO) {
        found.add(
            FieldName::HeartbeatInterval,
            phrase("profile.span.not_positive"),
        );
    }
}

/// Two servers with one address, name or id would be one server twice, or two that cannot be told apart.
fn check_twins(found: &mut Found, servers: &[ServerProfile]) {
    let mut addresses = BTreeMap::new();
    let mut labels = BTreeMap::new();
    let mut ids = BTreeMap::new();
    for server in servers {
        found.server = Some(server.id.clone());
        if ids.insert(&server.id, ()).is_some() {
            found.add(FieldName::Id, phrase("profile.id.twice"));
        }
        let label = server.label();
        if let Some(other) = addresses.insert(server.address.to_string(), label.clone()) {
            let field = match server.address {
                Address::Tcp { .. } => FieldName::Host,
                Address::Socket { .. } => FieldName::SocketPath,
            };
            found.add(field, phrase("profile.address.twice").with("server", other));
        } else if labels.insert(label, ()).is_some() {
            found.add(FieldName::Name, phrase("profile.name.twice"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> TopologyProfile {
        let mut shop = TopologyProfile::new(TopologyId("shop".into()), "Shop");
        for (id, host) in [("a", "db1"), ("b", "db2")] {
            let address = Address::tcp(host, 3306);
            shop.servers
                .push(ServerProfile::new(ServerId(id.into()), address));
        }
        shop
    }

    /// What `check` finds after `change`, as (server, field, key).
    fn found(
        change: impl FnOnce(&mut TopologyProfile),
    ) -> Vec<(Option<String>, FieldName, &'static str)> {
        let mut profile = good();
        change(&mut profile);
        check(&profile)
            .into_iter()
            .map(|p| (p.field.server.map(|s| s.0), p.field.name, p.problem.key))
            .collect()
    }

    #[test]
    fn a_good_profile_has_no_problems() {
        assert_eq!(found(|_| {}), []);
    }

    #[test]
    fn every_wrong_field_is_named() {
        type Change = fn(&mut TopologyProfile);
        let on_topology: Vec<(Change, FieldName, &str)> = vec![
            (
                |p| p.name = " ".into(),
                FieldName::Name,
                "profile.name.empty",
            ),
            (|p| p.id.0 = "a/b".into(), FieldName::Id, "profile.id.bad"),
            (
                |p| p.servers.clear(),
                FieldName::Servers,
                "profile.servers.none",
            ),
            (
                |p| p.thresholds.lag_warning = Span::ZERO,
                FieldName::LagWarning,
                "profile.span.not_positive",
            ),
            (
                |p| p.thresholds.lag_critical = Span::from_secs(2),
                FieldName::LagCritical,
                "profile.threshold.critical_below_warning",
            ),
            (
                |p| p.thresholds.consecutive = 0,
                FieldName::Consecutive,
                "profile.threshold.consecutive",
            ),
            (
                |p| p.thresholds.clear_at_percent = 101,
                FieldName::ClearAt,
                "profile.threshold.clear_at",
            ),
            (
                |p| p.intervals.poll = Span::from_millis(10),
                FieldName::PollInterval,
                "profile.interval.out_of_range",
            ),
            (
                |p| p.intervals.mark = Span::from_millis(10),
                FieldName::MarkInterval,
                "profile.interval.out_of_range",
            ),
            (
                |p| p.heartbeat = Some(HeartbeatTable::repl_heartbeat("")),
                FieldName::HeartbeatSchema,
                "profile.heartbeat.identifier",
            ),
        ];
        for (change, field, key) in on_topology {
            assert_eq!(found(change), [(None, field, key)]);
        }
    }

    #[test]
    fn a_wrong_field_of_a_server_is_named_with_the_server() {
        type Change = fn(&mut ServerProfile);
        let on_server: Vec<(Change, FieldName, &str)> = vec![
            (
                |s| s.address = Address::tcp("[::1]", 3306),
                FieldName::Host,
                "profile.address.not_ipv6",
            ),
            (
                |s| s.address = Address::tcp("db2", 0),
                FieldName::Port,
                "profile.port.zero",
            ),
            (
                |s| s.address = Address::tcp("db1", 3306),
                FieldName::Host,
                "profile.address.twice",
            ),
            (
                |s| {
                    s.address = Address::Socket {
                        path: "mysql.sock".into(),
                    }
                },
                FieldName::SocketPath,
                "profile.socket.relative",
            ),
            (
                |s| s.name = "db1:3306".into(),
                FieldName::Name,
                "profile.name.twice",
            ),
            (
                |s| {
                    s.account = Some(Account {
                        user: String::new(),
                        secret: SecretSource::Ask,
                    })
                },
                FieldName::User,
                "profile.user.empty",
            ),
            (
                |s| {
                    s.account = Some(Account {
                        user: "m".into(),
                        secret: SecretSource::Env("A=B".into()),
                    })
                },
                FieldName::SecretEnv,
                "profile.secret.env_name",
            ),
            (
                |s| {
                    s.tls = Some(TlsSettings {
                        client_cert: Some("c.pem".into()),
                        ..TlsSettings::with_mode(TlsMode::VerifyCa)
                    })
                },
                FieldName::ClientKey,
                "profile.tls.key_missing",
            ),
        ];
        for (change, field, key) in on_server {
            let problems = found(|p| change(&mut p.servers[1]));
            assert_eq!(problems, [(Some("b".into()), field, key)]);
        }
    }
}
