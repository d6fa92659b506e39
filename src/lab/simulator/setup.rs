//! From a plan to servers that stand: accounts, schemas, settings, who copies from whom.

use std::sync::Arc;

use super::clock::SimClock;
use super::serve::accounts::{Account, Accounts, Level, watcher};
use super::serve::bench::{Bench, Machine};
use super::serve::engine::{self, Tables};
use super::serve::{Values, values_of};
use super::sql::{Change, Database, SessionContext, Shared, SqlProblem, Transaction};
use super::world::{Costs, Identity, NodeId, SemiSyncSettings, Settings, SourceConfig, World};
use crate::lab::schema;
use crate::model::gtid::Uuid;
use crate::model::lab::{Generation, Ground, LabAccount, LabAccounts, LabPlan, LabServer, Shape};
use crate::model::secret::Secret;
use crate::model::time::{Moment, ServerTime, Span};

pub struct Built {
    pub bench: Bench,
    pub accounts: LabAccounts,
    pub replication: LabAccount,
}

/// Everything but the ports, and so without replication yet. Fails when there is no memory for the tables.
pub fn build(plan: &LabPlan, clock: SimClock) -> Result<Built, SqlProblem> {
    let generation = match plan.ground {
        Ground::Simulated(generation) => generation,
        Ground::Real(_) => Generation::default(),
    };
    // Passwords are of no consequence to what happens: chance may have them.
    let mut dice = fastrand::Rng::new();
    let mut password = || Secret::new((0..20).map(|_| dice.alphanumeric()).collect());
    let accounts = LabAccounts {
        admin: account("admin", password()),
        watcher: account("monitor", password()),
        app: account("app", password()),
    };
    let replication = account("repl", password());
    let known = known_accounts(&accounts, &replication, generation);
    let now = clock.now();
    let mut bench = Bench {
        generation,
        world: World::new(plan.seed, now, Costs::default()),
        clock,
        machines: Vec::new(),
    };
    let shared = Shared::new(generation)?;
    let sources = if plan.shape == Shape::MultiSource {
        2
    } else {
        1
    };
    let furniture = furniture(&shared, now, sources)?;
    for server in 0..sources + plan.replicas as usize {
        let mut database = Database::new(&shared)?;
        let furnished = database.apply(&furniture);
        debug_assert!(furnished.is_ok(), "{furnished:?}");
        add(&mut bench, plan, database, &known, server, sources);
    }
    Ok(Built {
        bench,
        accounts,
        replication,
    })
}

fn account(user: &'static str, password: Secret) -> LabAccount {
    LabAccount { user, password }
}

fn known_accounts(
    people: &LabAccounts,
    replication: &LabAccount,
    generation: Generation,
) -> Accounts {
    let mut accounts = Accounts::default();
    let everything = [(&["ALL PRIVILEGES"][..], Level::Everything)];
    accounts.insert(
        people.admin.user,
        Account::with(people.admin.password.expose(), &everything),
    );
    accounts.insert(
        people.watcher.user,
        watcher(people.watcher.password.expose(), generation),
    );
    let shop = [(
        &["SELECT", "INSERT", "UPDATE", "DELETE"][..],
        Level::Schema("shop".to_owned()),
    )];
    accounts.insert(
        people.app.user,
        Account::with(people.app.password.expose(), &shop),
    );
    let copying = [(&["REPLICATION SLAVE"][..], Level::Everything)];
    let password = replication.password.expose();
    accounts.insert(replication.user, Account::with(password, &copying));
    // As if the lab had just tried them: with a cold cache a first login needs TLS or the server's public key, which
    // clients do not fetch unasked.
    for account in [&people.admin, &people.watcher, &people.app, replication] {
        accounts.cache(account.user);
    }
    accounts
}

fn name(server: LabServer, sources: usize) -> String {
    match (server, sources) {
        (0, 1) => "source".to_owned(),
        (source, sources) if source < sources => format!("source-{}", source + 1),
        (replica, sources) => format!("replica-{}", replica - sources + 1),
    }
}

fn add(
    bench: &mut Bench,
    plan: &LabPlan,
    database: Database,
    accounts: &Accounts,
    server: LabServer,
    sources: usize,
) {
    let generation = bench.generation;
    let identity = Identity {
        generation,
        server_id: server as u32 + 1,
        uuid: uuid(server),
        binlog_name: "binlog".to_owned(),
        relay_log_name: "relay".to_owned(),
    };
    let is_replica = server >= sources;
    let settings = settings(plan, generation, server, is_replica);
    let tables = Tables::new(server, identity.server_id, database, accounts.clone());
    let mut values = Values::initial(generation);
    values_of(&settings, &mut values);
    if plan.tls {
        for (name, value) in [
            ("have_ssl", "YES"),
            ("have_openssl", "YES"),
            ("ssl_ca", "ca.pem"),
        ] {
            values.set(name, value);
        }
    }
    if sources > 1 {
        values.set("auto_increment_increment", sources.to_string());
        values.set("auto_increment_offset", (server % sources + 1).to_string());
    }
    bench.world.add_node(identity, settings.clone(), tables);
    let machine = Machine::new(&name(server, sources), values, settings);
    bench.machines.push(machine);
    bench.add_heartbeat_event(server, !is_replica);
}

/// Easy to tell apart by eye: the last digits are the server's number.
fn uuid(server: LabServer) -> Uuid {
    let mut bytes = [0; 16];
    (bytes[6], bytes[8]) = (0x40, 0x80);
    bytes[8..].copy_from_slice(&(0x8000_0000_0000_0001 + server as u64).to_be_bytes());
    Uuid::from_bytes(bytes)
}

fn settings(
    plan: &LabPlan,
    generation: Generation,
    server: LabServer,
    is_replica: bool,
) -> Settings {
    let mariadb = generation.flavour().is_mariadb();
    let usual = Settings::of(generation);
    Settings {
        read_only: is_replica,
        super_read_only: is_replica && !mariadb,
        event_scheduler: true,
        semi_sync: SemiSyncSettings {
            source_enabled: plan.semi_sync && !is_replica,
            replica_enabled: plan.semi_sync && is_replica,
            timeout: Span::from_secs(1),
            ..usual.semi_sync.clone()
        },
        applier_workers: plan.applier_workers,
        net_timeout: Span::from_secs(10),
        gtid_domain_id: match plan.shape {
            Shape::MultiSource if mariadb && !is_replica => server as u32,
            _ => 0,
        },
        ..usual
    }
}

/// What stands on every server before the first client comes, said once and carried out by all. Not logged: every
/// server has it from the start.
fn furniture(shared: &Arc<Shared>, now: Moment, sources: usize) -> Result<Vec<Change>, SqlProblem> {
    let mut database = Database::new(shared)?;
    let clock = ServerTime(now.unix_micros());
    let beats = (1..=sources).map(|source| {
        format!("INSERT INTO replicascope.heartbeat (server_id, ts) VALUES ({source}, NOW(6))")
    });
    let said = schema::tables().map(str::to_owned);
    let all = said.chain([schema::orders()]).chain(beats);
    Ok(all
        .flat_map(|sql| say(&mut database, clock, &sql))
        .collect())
}

/// What is said here is ours and right; a mistake in it shows in every test.
fn say(database: &mut Database, clock: ServerTime, sql: &str) -> Vec<Change> {
    let mut session = SessionContext::new(0, "", "");
    session.now = clock;
    let mut transaction = Transaction::begin();
    let around = engine::Alone::new(0);
    let told = database.execute(&mut transaction, &mut session, &around, sql, &[]);
    debug_assert!(told.is_ok(), "{sql}: {told:?}");
    let ddl = told.ok().and_then(|effect| effect.ddl);
    let rows = database.commit(transaction).unwrap_or_default();
    ddl.into_iter().chain(rows).collect()
}

/// Points the replicas and starts them; the ports are known by now.
pub fn replicate(
    bench: &mut Bench,
    plan: &LabPlan,
    copies_from: &[Vec<LabServer>],
    account: &LabAccount,
) {
    let last = copies_from.len().saturating_sub(1);
    for (replica, sources) in copies_from.iter().enumerate() {
        for source in sources {
            let channel = match plan.shape {
                Shape::MultiSource => bench.machines[*source].name.clone(),
                _ => String::new(),
            };
            let delay = match plan.shape {
                Shape::Delayed { delay } if replica == last => delay.micros() / 1_000_000,
                _ => 0,
            };
            point(bench, replica, *source, &channel, delay, account);
        }
    }
}

fn point(
    bench: &mut Bench,
    replica: NodeId,
    source: NodeId,
    channel: &str,
    delay_secs: i64,
    account: &LabAccount,
) {
    let port = bench.machines[source].port;
    let config = SourceConfig {
        delay_secs,
        user: account.user.to_owned(),
        ..SourceConfig::to(source, "127.0.0.1", port)
    };
    bench.machines[replica]
        .channel_passwords
        .insert(channel.to_owned(), account.password.expose().to_owned());
    let told = config.clone();
    let world = &mut bench.world;
    let pointed = world
        .change_source(replica, channel, config, move |now| *now = told)
        .and_then(|()| world.start_receiver(replica, channel))
        .and_then(|()| world.start_applier(replica, channel));
    debug_assert!(pointed.is_ok(), "{pointed:?}");
}
