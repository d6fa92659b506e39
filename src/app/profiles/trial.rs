//! Tests of a profile: every server is connected to as a poll would, a few at a time, on threads that end by themselves.

use std::collections::BTreeMap;

use crossbeam_channel::unbounded;

use super::keychain::{Search, search};
use super::{Report, flavours, ways_of_the_window};
use crate::model::phrase::Phrase;
use crate::model::profile::{HeartbeatTable, SecretKey, ServerProfile, TopologyProfile};
use crate::model::secret::Secret;
use crate::model::server::Product;
use crate::model::trouble::Trouble;
use crate::ui::profiles::{News, TestOutcome, TestReport};

/// What the desk asks of those who speak with servers.
#[derive(Clone, Copy)]
pub struct ServerSide {
    /// Connects and tries each question once; may block as long as its time limits allow.
    pub test: fn(&TopologyProfile, &ServerProfile, Option<&Secret>) -> Result<TestReport, Trouble>,
    /// The SQL of an account that sees everything and changes nothing.
    pub account_sql: fn(&Product, &str, Option<&HeartbeatTable>) -> String,
}

impl ServerSide {
    pub(super) fn accounts(
        &self,
        user: &str,
        heartbeat: Option<&HeartbeatTable>,
    ) -> Vec<(String, String)> {
        let account = |(name, product): &(&str, Product)| {
            (
                (*name).to_owned(),
                (self.account_sql)(product, user, heartbeat),
            )
        };
        flavours().iter().map(account).collect()
    }
}

/// So many servers at once.
const AT_ONCE: usize = 8;

type Passwords = BTreeMap<SecretKey, Result<Secret, Option<Phrase>>>;

/// `known` are the passwords of this session.
pub(super) fn start(
    profile: TopologyProfile,
    known: BTreeMap<SecretKey, Secret>,
    servers: ServerSide,
    report: Report,
) {
    let told = report.clone();
    let failed = profile.clone();
    let run = move || run(profile, known, servers, &report);
    if std::thread::Builder::new()
        .name("test a profile".into())
        .spawn(run)
        .is_err()
    {
        for server in &failed.servers {
            tell(&told, &failed, server, TestOutcome::NoPassword(None));
        }
    }
}

fn run(
    profile: TopologyProfile,
    known: BTreeMap<SecretKey, Secret>,
    servers: ServerSide,
    report: &Report,
) {
    let passwords = passwords(&profile, &known);
    let (queue, next) = unbounded();
    for server in &profile.servers {
        let _ = queue.send(server);
    }
    drop(queue);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(profile.servers.len()) {
            scope.spawn(|| {
                for server in &next {
                    let outcome = try_server(&profile, server, &passwords, servers);
                    tell(report, &profile, server, outcome);
                }
            });
        }
    });
}

fn tell(report: &Report, profile: &TopologyProfile, server: &ServerProfile, outcome: TestOutcome) {
    report.news(News::Tested {
        topology: profile.id.clone(),
        server: server.id.clone(),
        outcome,
    });
}

fn try_server(
    profile: &TopologyProfile,
    server: &ServerProfile,
    passwords: &Passwords,
    servers: ServerSide,
) -> TestOutcome {
    let key = profile.account_for(server).map(|(_, key)| key);
    let secret = match key.and_then(|key| passwords.get(&key)) {
        Some(Err(why)) => return TestOutcome::NoPassword(why.clone()),
        Some(Ok(secret)) => Some(secret),
        None => None,
    };
    match (servers.test)(profile, server, secret) {
        Ok(report) => TestOutcome::Reached(report),
        Err(trouble) => TestOutcome::Failed(trouble),
    }
}

/// Each account's password, looked for once. Nobody is asked: the form has a field for it.
fn passwords(profile: &TopologyProfile, known: &BTreeMap<SecretKey, Secret>) -> Passwords {
    let mut passwords = Passwords::new();
    for server in &profile.servers {
        let Some((account, key)) = profile.account_for(server) else {
            continue;
        };
        if passwords.contains_key(&key) {
            continue;
        }
        let ways = ways_of_the_window(&account.secret);
        let from_session = ways.contains(&crate::settings::secrets::Way::Session);
        let found = match known.get(&key).filter(|_| from_session) {
            Some(secret) => Ok(secret.clone()),
            None => match search(&ways, &key) {
                Search::Found { secret, .. } => Ok(secret),
                Search::AskThePerson(why) => Err(why),
                Search::Failed(why) => Err(Some(why)),
            },
        };
        passwords.insert(key, found);
    }
    passwords
}
