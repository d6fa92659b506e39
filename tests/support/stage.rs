//! A small topology of scripted servers, watched by the program's own threads, store and rules.
//!
//! Each player answers everything that is asked in steady polling, in the words of its generation, from a capture of a
//! real server; a test changes what matters to it and waits for what a person would see.

mod beats;
mod generation;
mod view;

use std::time::{Duration, Instant};

use replicascope::app::conductor::Conductor;
use replicascope::app::dialing;
use replicascope::lab::wire::Rows;
use replicascope::link::clock;
use replicascope::model::profile::{
    Account, Address, ExpectedRole, SecretSource, ServerId, ServerProfile, TopologyId,
    TopologyProfile,
};
use replicascope::model::secret::Secret;
use replicascope::model::time::Span;
use replicascope::store::Store;

use super::captures::{capture, capture_without_rows};
use super::client::server;
use super::scripted::text::{Pattern, contains};
use super::scripted::{Builder, Reply, ScriptedServer};

#[allow(unused_imports)] // each test file takes what it needs
pub use beats::{beats, dead_beats, heartbeat, stamp};
pub use generation::Generation;
pub use view::View;

use Generation::MySql97;

/// The server_uuid of the source in the captures.
pub const A: &str = "00000001-aaaa-11f0-8000-000000000000";
/// That of the replica.
pub const B: &str = "00000002-aaaa-11f0-8000-000000000000";

/// How often servers are polled here, unless a test says otherwise.
pub const POLL: Span = Span::from_millis(100);

/// Far longer than anything takes that goes well.
const SOON: Duration = Duration::from_secs(20);

/// What a wait for GTIDs answers.
pub fn waited(number: Option<&str>) -> Rows {
    Rows::text(&["w"]).row([number])
}

fn no_rows() -> Rows {
    Rows::text(&["x"])
}

/// One server before the curtain rises.
pub struct Player {
    name: String,
    generation: Generation,
    role: ExpectedRole,
    channels: Rows,
    builder: Builder,
    password: String,
}

/// A replica of the newest MySQL, all well, called "replica".
pub fn replica() -> Player {
    replica_of(MySql97)
}

/// Its source, called "source".
pub fn source() -> Player {
    source_of(MySql97)
}

pub fn replica_of(generation: Generation) -> Player {
    let player = Player::new("replica", generation, 2)
        .variable("read_only", "ON")
        .role(ExpectedRole::Replica);
    match generation.is_mariadb() {
        true => player,
        false => player.variable("super_read_only", "ON"),
    }
}

pub fn source_of(generation: Generation) -> Player {
    let mut player = Player::new("source", generation, 1)
        .variable("read_only", "OFF")
        .role(ExpectedRole::Source);
    player.channels = capture_without_rows(generation.quiet());
    match generation.is_mariadb() {
        true => player,
        false => player.variable("super_read_only", "OFF"),
    }
}

impl Player {
    fn new(name: &str, generation: Generation, id: u32) -> Self {
        let common = server()
            .version(generation.version())
            .variable("version_comment", "scripted")
            .variable("log_bin", "ON")
            .variable("server_id", &id.to_string())
            .variable("hostname", name)
            .variable("port", "3306")
            .variable("tx_read_only", "OFF")
            .variable("lock_wait_timeout", "86400")
            .variable("max_connections", "151")
            .variable("event_scheduler", "ON")
            .status("Uptime", "900")
            .status("Threads_running", "2")
            .status("Threads_connected", "3")
            .expression("CURRENT_USER()", Some("watch@%"))
            .on(
                generation.replicas(),
                Rows::text(&["Server_id", "Host", "Port"]),
            )
            .on(
                generation.position(),
                Rows::text(&["File", "Position"]).row([Some("binlog.000001"), Some("910")]),
            )
            .on(
                "SHOW BINARY LOGS",
                Rows::text(&["Log_name", "File_size"]).row([Some("binlog.000001"), Some("910")]),
            )
            .on(
                contains("information_schema.innodb_trx x left join"),
                no_rows(),
            )
            .on(contains("information_schema.events"), no_rows())
            .on(generation.lock_waits(), no_rows())
            .on(generation.wait(), waited(Some("0")));
        let rows = capture(generation.quiet());
        let told = |names: [&str; 2]| {
            let at = rows
                .columns
                .iter()
                .position(|c| names.contains(&c.name.as_str()));
            let value = at.and_then(|at| rows.rows[0][at].clone());
            String::from_utf8(value.expect("told")).expect("text")
        };
        let builder = match generation.is_mariadb() {
            true => common
                .variable("performance_schema", "OFF")
                .variable("gtid_domain_id", "0")
                .variable("gtid_slave_pos", &told(["Gtid_IO_Pos"; 2]))
                .variable("gtid_binlog_pos", &told(["Gtid_IO_Pos"; 2]))
                .variable("gtid_binlog_state", &told(["Gtid_IO_Pos"; 2]))
                .variable("max_statement_time", "0.000000")
                .variable("slave_parallel_threads", "4")
                .on(contains("from information_schema.processlist"), no_rows()),
            false => common
                .variable("performance_schema", "ON")
                .variable(
                    "server_uuid",
                    &match id {
                        1 => told(["Source_UUID", "Master_UUID"]),
                        _ => B.to_owned(),
                    },
                )
                .variable("innodb_read_only", "OFF")
                .variable("gtid_mode", "ON")
                .variable("enforce_gtid_consistency", "ON")
                .variable("gtid_executed", &told(["Executed_Gtid_Set"; 2]))
                .variable("gtid_purged", "")
                .variable("slave_parallel_workers", "4")
                .on(
                    contains("replication_applier_status_by_worker"),
                    Rows::text(&["part", "channel_name"]),
                )
                .on(
                    contains("from performance_schema.threads t left join"),
                    no_rows(),
                )
                .on(contains("processlist where (command"), no_rows()),
        };
        Player {
            name: name.into(),
            generation,
            role: ExpectedRole::Auto,
            channels: rows,
            builder,
            password: "s3cret".into(),
        }
    }

    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Another server than the captures' own: a second replica, say.
    pub fn identity(self, id: u32, uuid: &str) -> Self {
        self.variable("server_id", &id.to_string())
            .variable("server_uuid", uuid)
    }

    pub fn role(mut self, role: ExpectedRole) -> Self {
        self.role = role;
        self
    }

    /// Changes a field of every status row.
    pub fn field(mut self, name: &str, value: &str) -> Self {
        set_field(&mut self.channels, name, Some(value));
        self
    }

    pub fn null(mut self, name: &str) -> Self {
        set_field(&mut self.channels, name, None);
        self
    }

    /// Takes a column out of the status rows.
    pub fn without(mut self, name: &str) -> Self {
        let at = column(&self.channels, name);
        self.channels.columns.remove(at);
        for row in &mut self.channels.rows {
            row.remove(at);
        }
        self
    }

    pub fn channels(mut self, rows: Rows) -> Self {
        self.channels = rows;
        self
    }

    pub fn alter(mut self, change: impl FnOnce(&mut Rows)) -> Self {
        change(&mut self.channels);
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.variable(name, value);
        self
    }

    pub fn status(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.status(name, value);
        self
    }

    pub fn on(mut self, pattern: impl Into<Pattern>, reply: impl Into<Reply>) -> Self {
        self.builder = self.builder.on(pattern, reply);
        self
    }

    /// The password of the account that watches.
    pub fn password(mut self, password: &str) -> Self {
        self.builder = self.builder.user("monitor", password);
        self.password = password.into();
        self
    }

    pub fn script(mut self, change: impl FnOnce(Builder) -> Builder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Alone, and the profile has another password.
    pub fn watch_with_password(self, password: &str) -> Stage {
        let (mut actors, profile) = stage([self]).start();
        actors[0].password = password.into();
        Setting::of(actors, profile)
    }

    /// Alone on the stage.
    pub fn watch(self) -> Stage {
        stage([self]).watch()
    }
}

fn column(rows: &Rows, name: &str) -> usize {
    let found = rows.columns.iter().position(|column| column.name == name);
    found.unwrap_or_else(|| panic!("the status rows have no column {name}"))
}

/// Changes a field of every row.
pub fn set_field(rows: &mut Rows, name: &str, value: Option<&str>) {
    let at = column(rows, name);
    for row in &mut rows.rows {
        row[at] = value.map(|value| value.as_bytes().to_vec());
    }
}

/// One row, its fields, and a second row made of it.
pub fn second_row(rows: &mut Rows) {
    let row = rows.rows[0].clone();
    rows.rows.push(row);
}

pub fn set_field_of_row(rows: &mut Rows, row: usize, name: &str, value: Option<&str>) {
    let at = column(rows, name);
    rows.rows[row][at] = value.map(|value| value.as_bytes().to_vec());
}

pub fn stage(players: impl IntoIterator<Item = Player>) -> Setting {
    let mut profile = TopologyProfile::new(TopologyId("stage".into()), "Stage");
    profile.account = Some(Account {
        user: "monitor".into(),
        secret: SecretSource::Ask,
    });
    profile.intervals.poll = POLL;
    profile.intervals.mark = Span::from_millis(50);
    Setting {
        players: players.into_iter().collect(),
        profile,
    }
}

/// The players, and how they are watched.
pub struct Setting {
    players: Vec<Player>,
    profile: TopologyProfile,
}

impl Setting {
    pub fn profile(mut self, change: impl FnOnce(&mut TopologyProfile)) -> Self {
        change(&mut self.profile);
        self
    }

    /// Starts the servers. Status rows of replicas lead to the one source, when there is one.
    pub fn start(self) -> (Vec<Actor>, TopologyProfile) {
        let (sources, replicas): (Vec<Player>, Vec<Player>) = self
            .players
            .into_iter()
            .partition(|player| player.channels.rows.is_empty());
        let only_source = sources.len() == 1;
        let mut actors: Vec<Actor> = sources.into_iter().map(Actor::start).collect();
        let port = actors
            .first()
            .map(|source| source.server.port().to_string());
        for mut player in replicas {
            if let (true, Some(port)) = (only_source, &port) {
                for name in ["Source_Port", "Master_Port"] {
                    if player.channels.columns.iter().any(|c| c.name == name) {
                        set_field(&mut player.channels, name, Some(port));
                    }
                }
            }
            actors.push(Actor::start(player));
        }
        let mut profile = self.profile;
        for actor in &actors {
            let address = Address::tcp("127.0.0.1", actor.server.port());
            let mut server = ServerProfile::new(ServerId(actor.name.clone()), address);
            server.name = actor.name.clone();
            server.role = actor.role;
            profile.servers.push(server);
        }
        (actors, profile)
    }

    pub fn watch(self) -> Stage {
        self.watch_when(|_| {})
    }

    /// Watches from the moment something has been done to the servers.
    pub fn watch_when(self, prepare: impl FnOnce(&mut [Actor])) -> Stage {
        let (mut actors, profile) = self.start();
        prepare(&mut actors);
        Setting::of(actors, profile)
    }

    /// Watches servers that have been started, by a profile of the test's own.
    pub fn of(actors: Vec<Actor>, profile: TopologyProfile) -> Stage {
        let mut conductor = Conductor::default();
        for (actor, server) in actors.iter().zip(&profile.servers) {
            let secret = Secret::new(actor.password.clone());
            let dial = dialing::dialer(&profile, server, Some(&secret));
            conductor.watch(&profile, server, dial).expect("threads");
        }
        Stage {
            actors,
            profile,
            conductor,
        }
    }
}

/// One server, playing.
pub struct Actor {
    pub server: ScriptedServer,
    pub name: String,
    generation: Generation,
    role: ExpectedRole,
    channels: Rows,
    password: String,
}

impl Actor {
    fn start(player: Player) -> Self {
        let server = player
            .builder
            .on(player.generation.channels(), player.channels.clone())
            .start();
        server.set_variable("port", &server.port().to_string());
        Actor {
            server,
            name: player.name,
            generation: player.generation,
            role: player.role,
            channels: player.channels,
            password: player.password,
        }
    }

    /// Changes a field of the status rows from now on.
    pub fn field(&mut self, name: &str, value: Option<&str>) {
        set_field(&mut self.channels, name, value);
        self.server
            .set(self.generation.channels(), self.channels.clone());
    }

    pub fn show(&mut self, change: impl FnOnce(&mut Rows)) {
        change(&mut self.channels);
        self.server
            .set(self.generation.channels(), self.channels.clone());
    }

    /// How often a statement with this in it was asked.
    pub fn asked(&self, part: &str) -> usize {
        let statements = self.server.statements();
        statements.iter().filter(|s| s.sql.contains(part)).count()
    }
}

/// Servers that play, watched.
pub struct Stage {
    actors: Vec<Actor>,
    pub profile: TopologyProfile,
    conductor: Conductor,
}

impl Stage {
    pub fn actor(&mut self, name: &str) -> &mut Actor {
        let found = self.actors.iter_mut().find(|actor| actor.name == name);
        found.unwrap_or_else(|| panic!("nobody is called {name}"))
    }

    pub fn server(&mut self, name: &str) -> &ScriptedServer {
        &self.actor(name).server
    }

    pub fn store(&self) -> &Store {
        &self.conductor.store
    }

    /// What the person sees now.
    pub fn look(&mut self) -> View<'_> {
        self.conductor
            .take_in_until(Instant::now() + Duration::from_millis(10));
        self.conductor.store.judge(clock::now());
        self.view()
    }

    /// What the person saw when it was last looked at.
    pub fn view(&self) -> View<'_> {
        View {
            store: &self.conductor.store,
            judged: self
                .conductor
                .store
                .judged(&self.profile.id)
                .expect("judged"),
        }
    }

    /// Looks until the person sees this.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut seen: impl FnMut(&View<'_>) -> bool) -> View<'_> {
        let give_up_at = Instant::now() + SOON;
        while !seen(&self.look()) {
            if Instant::now() > give_up_at {
                panic!("never seen: {what}\n{}", self.view().tell());
            }
        }
        self.view()
    }

    /// Until every server has answered so many polls from now on; `check` looks at everything seen meanwhile.
    #[track_caller]
    pub fn for_polls(&mut self, polls: usize, check: impl FnMut(&View<'_>)) {
        let everybody: Vec<String> = self.actors.iter().map(|a| a.name.clone()).collect();
        let names: Vec<&str> = everybody.iter().map(String::as_str).collect();
        self.for_polls_of(&names, polls, check);
    }

    /// The same, with servers left out that do not answer.
    #[track_caller]
    pub fn for_polls_of(&mut self, names: &[&str], polls: usize, mut check: impl FnMut(&View<'_>)) {
        let longest_each = Duration::from_millis(200);
        let give_up_at = Instant::now() + SOON + longest_each * polls as u32;
        let mut left: Vec<_> = names.iter().map(|name| (*name, None, polls)).collect();
        while left.iter().any(|(_, _, polls)| *polls > 0) {
            let view = self.look();
            check(&view);
            for (name, last, polls) in &mut left {
                let at = view.sample(name).map(|sample| sample.answered_at);
                if at.is_some() && at != *last {
                    *last = at;
                    *polls = polls.saturating_sub(1);
                }
            }
            if Instant::now() > give_up_at {
                panic!("the polls do not go on: {left:?}\n{}", self.view().tell());
            }
        }
    }

    /// Every server has answered several polls and marks came back.
    #[track_caller]
    pub fn settle(&mut self) {
        self.for_polls(4, |_| {});
    }

    /// Ends the watching and says how long that took.
    pub fn close(&mut self) -> Duration {
        let start = Instant::now();
        self.conductor.close();
        start.elapsed()
    }
}
