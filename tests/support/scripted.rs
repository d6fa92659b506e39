//! A server that follows a script: statements it expects get the answers a test gave it, and everything else gets an
//! error and is remembered. Speaks the real protocol on loopback.

mod builtin;
pub mod text;

use replicascope::lab::wire::{
    Account, Answer, AuthPlugin, Greeting, Hello, Rows, Server, Service, Session, SqlError, Welcome,
};
use replicascope::model::time::Span;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use text::Pattern;

pub struct ScriptedServer {
    wire: Server,
    script: Shared,
}

/// One statement that reached the server.
#[derive(Clone, Debug)]
pub struct Statement {
    pub connection_id: u32,
    pub sql: String,
    pub at: Instant,
}

impl ScriptedServer {
    pub fn builder() -> Builder {
        Builder {
            script: Script::new(),
        }
        .version("8.0.37")
        .variable("max_allowed_packet", "67108864")
        .variable("socket", "") // NULL makes the client library panic
    }

    pub fn port(&self) -> u16 {
        self.wire.port()
    }

    /// Clients that took their leave with COM_QUIT.
    pub fn goodbyes(&self) -> u64 {
        self.wire.goodbyes()
    }

    /// Gives another answer from now on, or a first one.
    pub fn set(&self, pattern: impl Into<Pattern>, reply: impl Into<Reply>) {
        self.script().set(pattern.into(), reply.into());
    }

    pub fn set_variable(&self, name: &str, value: &str) {
        self.script().variables.set(name, Some(value));
    }

    pub fn set_status(&self, name: &str, value: &str) {
        self.script().statuses.set(name, Some(value));
    }

    /// What NOW() is ahead of UTC.
    pub fn set_zone(&self, zone: Span) {
        self.script().zone = zone;
    }

    /// How far the server's clock is ahead of ours.
    pub fn set_clock_skew(&self, skew: Span) {
        self.script().skew = skew;
    }

    pub fn set_user(&self, user: &str, password: &str) {
        self.script().add_user(user, password, None);
    }

    /// How new clients are received from now on.
    pub fn set_door(&self, door: Door) {
        self.script().door = door;
    }

    /// Every new client gets this error in place of a greeting (1040, 1129 …). Open connections live on.
    pub fn refuse_with(&self, code: u16) {
        self.set_door(Door::Refuse(SqlError::new(code, refusal(code))));
    }

    pub fn stop_refusing(&self) {
        self.set_door(Door::Open);
    }

    /// Forgets the passwords it had cached, like FLUSH PRIVILEGES: with `caching_sha2_password` each user's next login
    /// must bring the whole password.
    pub fn flush_passwords(&self) {
        self.script().cached.clear();
    }

    /// Breaks every open connection, like a crash.
    pub fn cut_all(&self) {
        self.wire.cut_all();
    }

    /// Everything that was asked, in order; a command of several statements counts as several.
    pub fn statements(&self) -> Vec<Statement> {
        self.script().statements.clone()
    }

    /// What was asked and had no answer in the script.
    pub fn unknown_statements(&self) -> Vec<String> {
        self.script().unknown.clone()
    }

    /// Everybody who logged in, in order.
    pub fn logins(&self) -> Vec<Hello> {
        self.script().logins.clone()
    }

    /// Open connections. A connection the client has just closed may still be counted for a moment.
    pub fn connections(&self) -> usize {
        self.wire.connections()
    }

    pub fn max_connections_seen(&self) -> usize {
        self.wire.max_connections_seen()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock()
    }
}

/// How new clients are received.
#[derive(Clone, Debug)]
pub enum Door {
    Open,
    Refuse(SqlError),
    /// Accepts, and never speaks.
    Silence,
    /// Accepts, and closes.
    Cut,
}

fn refusal(code: u16) -> &'static str {
    match code {
        1040 => "Too many connections",
        1053 => "Server shutdown in progress",
        1129 => {
            "Host '127.0.0.1' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'"
        }
        1130 => "Host '127.0.0.1' is not allowed to connect to this MySQL server",
        _ => "Refused",
    }
}

pub struct Builder {
    script: Script,
}

impl Builder {
    pub fn version(mut self, version: &str) -> Self {
        self.script.version = version.into();
        self.variable("version", version)
    }

    /// Of the greeting, and of users that name none.
    pub fn plugin(mut self, plugin: AuthPlugin) -> Self {
        self.script.plugin = plugin;
        self
    }

    pub fn user(mut self, user: &str, password: &str) -> Self {
        self.script.add_user(user, password, None);
        self
    }

    /// A user whose plugin may differ from the greeting's: the client is then asked to switch.
    pub fn user_with(mut self, user: &str, password: &str, plugin: AuthPlugin) -> Self {
        self.script.add_user(user, password, Some(plugin));
        self
    }

    /// Starts like a server just restarted: no password is cached.
    pub fn cold(mut self) -> Self {
        self.script.cached.clear();
        self
    }

    /// A system variable, for `@@name`, `@@global.name` and SHOW VARIABLES.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.script.variables.set(name, Some(value));
        self
    }

    pub fn null_variable(mut self, name: &str) -> Self {
        self.script.variables.set(name, None);
        self
    }

    /// A row of SHOW STATUS.
    pub fn status(mut self, name: &str, value: &str) -> Self {
        self.script.statuses.set(name, Some(value));
        self
    }

    /// What an expression is worth in `SELECT expression, …` without FROM, such as `CURRENT_USER()`.
    pub fn expression(mut self, expression: &str, value: Option<&str>) -> Self {
        self.script
            .expressions
            .insert(text::normalised(expression), value.map(Into::into));
        self
    }

    pub fn clock_skew(mut self, skew: Span) -> Self {
        self.script.skew = skew;
        self
    }

    /// What to answer to statements of this kind. When several patterns fit, the one given last counts.
    pub fn on(mut self, pattern: impl Into<Pattern>, reply: impl Into<Reply>) -> Self {
        self.script.set(pattern.into(), reply.into());
        self
    }

    pub fn start(self) -> ScriptedServer {
        let script = Shared(Arc::new(Mutex::new(self.script)));
        let wire = Server::start(script.clone()).expect("loopback has a free port");
        ScriptedServer { wire, script }
    }
}

/// What a pattern is answered with.
#[derive(Clone)]
pub enum Reply {
    /// One answer, or one for each time it is asked; the last one is repeated.
    Sequence(VecDeque<Answer>),
    /// Made anew each time.
    Live(Arc<dyn Fn() -> Answer + Send + Sync>),
}

impl Reply {
    pub fn live<A: Into<Answer>>(make: impl Fn() -> A + Send + Sync + 'static) -> Self {
        Reply::Live(Arc::new(move || make().into()))
    }

    pub fn sequence<A: Into<Answer>>(answers: impl IntoIterator<Item = A>) -> Self {
        let answers: VecDeque<Answer> = answers.into_iter().map(Into::into).collect();
        assert!(!answers.is_empty(), "a sequence of no answers");
        Reply::Sequence(answers)
    }

    fn take(&mut self) -> Answer {
        match self {
            Reply::Sequence(answers) if answers.len() == 1 => answers[0].clone(),
            Reply::Sequence(answers) => answers.pop_front().expect("a reply is never empty"),
            Reply::Live(make) => make(),
        }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Reply::sequence([answer])
    }
}

impl From<Rows> for Reply {
    fn from(rows: Rows) -> Self {
        Reply::sequence([rows])
    }
}

impl From<SqlError> for Reply {
    fn from(error: SqlError) -> Self {
        Reply::sequence([error])
    }
}

/// Names in any case → value, in the order of the names.
#[derive(Default)]
struct Table(BTreeMap<String, (String, Option<String>)>);

impl Table {
    fn set(&mut self, name: &str, value: Option<&str>) {
        self.0.insert(
            name.to_ascii_lowercase(),
            (name.into(), value.map(Into::into)),
        );
    }

    fn get(&self, name: &str) -> Option<&Option<String>> {
        self.0
            .get(&name.to_ascii_lowercase())
            .map(|(_, value)| value)
    }

    fn iter(&self) -> impl Iterator<Item = &(String, Option<String>)> {
        self.0.values()
    }
}

struct User {
    password: String,
    plugin: Option<AuthPlugin>,
}

/// All that the server says, and all that it heard.
struct Script {
    version: String,
    plugin: AuthPlugin,
    users: HashMap<String, User>,
    cached: HashSet<String>,
    door: Door,
    rules: Vec<(Pattern, Reply)>,
    variables: Table,
    statuses: Table,
    expressions: HashMap<String, Option<String>>,
    skew: Span,
    zone: Span,
    statements: Vec<Statement>,
    unknown: Vec<String>,
    logins: Vec<Hello>,
}

impl Script {
    fn new() -> Self {
        Script {
            version: String::new(),
            plugin: AuthPlugin::CachingSha2Password,
            users: HashMap::new(),
            cached: HashSet::new(),
            door: Door::Open,
            rules: Vec::new(),
            variables: Table::default(),
            statuses: Table::default(),
            expressions: HashMap::new(),
            skew: Span::ZERO,
            zone: Span::ZERO,
            statements: Vec::new(),
            unknown: Vec::new(),
            logins: Vec::new(),
        }
    }

    fn add_user(&mut self, user: &str, password: &str, plugin: Option<AuthPlugin>) {
        self.users.insert(
            user.into(),
            User {
                password: password.into(),
                plugin,
            },
        );
        self.cached.insert(user.into());
    }

    fn set(&mut self, pattern: Pattern, reply: Reply) {
        self.rules.retain(|(other, _)| *other != pattern);
        self.rules.push((pattern, reply));
    }

    fn answer(&mut self, who: &Hello, sql: &str) -> Answer {
        let at = Instant::now();
        self.statements.push(Statement {
            connection_id: who.connection_id,
            sql: sql.into(),
            at,
        });
        let normalised = text::normalised(sql);
        let ruled = self
            .rules
            .iter_mut()
            .rev()
            .find(|(pattern, _)| pattern.fits(&normalised));
        if let Some((_, reply)) = ruled {
            return reply.take();
        }
        builtin::answer(self, who, text::without_comments_before(sql), &normalised).unwrap_or_else(
            |error| {
                self.unknown.push(sql.trim().into());
                error.into()
            },
        )
    }
}

/// The script as the wire's threads and the test share it.
#[derive(Clone)]
struct Shared(Arc<Mutex<Script>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service for Shared {
    fn welcome(&mut self, _connection_id: u32) -> Welcome {
        let script = self.lock();
        match &script.door {
            Door::Open => Welcome::Greet(Greeting {
                version: script.version.clone(),
                plugin: script.plugin,
            }),
            Door::Refuse(error) => Welcome::Refuse(error.clone()),
            Door::Silence => Welcome::Silence,
            Door::Cut => Welcome::Cut,
        }
    }

    fn account(&mut self, user: &str) -> Option<Account> {
        let script = self.lock();
        let found = script.users.get(user)?;
        Some(Account {
            plugin: found.plugin.unwrap_or(script.plugin),
            password: found.password.clone(),
            cached: script.cached.contains(user),
        })
    }

    fn connect(&mut self, hello: &Hello) -> Result<Box<dyn Session>, SqlError> {
        let mut script = self.lock();
        script.cached.insert(hello.user.clone());
        script.logins.push(hello.clone());
        Ok(Box::new(ScriptedSession {
            script: self.clone(),
            who: hello.clone(),
        }))
    }
}

struct ScriptedSession {
    script: Shared,
    who: Hello,
}

impl Session for ScriptedSession {
    fn query(&mut self, sql: &str) -> Answer {
        self.script.lock().answer(&self.who, sql)
    }
}
