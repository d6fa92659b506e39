//! One real server: its process, its data, and sessions on it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mysql::prelude::{FromRow, Queryable};
use mysql::{Conn, Opts, OptsBuilder, Row, Value};

use super::config::{self, Options, SemiSync, Tls};
use super::flavour::Flavour;
use super::keeper;
use super::template;
use super::wait::{wait_for, wait_until};

const START_LIMIT: Duration = Duration::from_secs(60);
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(60);
/// So that a test meets a frozen server with a failure instead of waiting for ever.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
const PORT_TRIES: usize = 5;
/// Below the range from which the kernel takes ports of outgoing connections: those could sit on a server's port just
/// when it restarts.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

/// What stays the same for a server as long as its topology lives.
pub struct Setup {
    pub flavour: Flavour,
    pub index: usize,
    pub dir: PathBuf,
    pub semi_sync: bool,
    pub delay_s: u32,
    pub applier_workers: u32,
    pub tls: Option<Tls>,
    pub extra: String,
}

/// What a server does for the others; its option file follows, so that a restart keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub copies_from: Option<usize>,
    pub has_replicas: bool,
}

pub struct Node {
    setup: Setup,
    state: Mutex<State>,
}

struct State {
    port: u16,
    part: Part,
    process: Option<Child>,
}

struct PortTaken;

impl Node {
    /// A server with fresh data, not started yet.
    pub(super) fn create(setup: Setup, part: Part) -> Self {
        fs::create_dir_all(setup.dir.join("tmp")).expect("the topology's folder is writable");
        template::copy_to(setup.flavour, &config::data_dir(&setup.dir));
        let node = Node {
            state: Mutex::new(State {
                port: free_port(),
                part,
                process: None,
            }),
            setup,
        };
        if node.flavour() == Flavour::MySql {
            node.write_uuid();
        }
        node
    }

    pub fn flavour(&self) -> Flavour {
        self.setup.flavour
    }

    /// 0 for the first source.
    pub fn index(&self) -> usize {
        self.setup.index
    }

    /// On 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.state().port
    }

    pub fn socket(&self) -> PathBuf {
        config::socket(&self.setup.dir)
    }

    /// Holds `error.log`, `data` and `tmp`, where the server may write files.
    pub fn dir(&self) -> &Path {
        &self.setup.dir
    }

    /// The `@@server_id`: one more than the index.
    pub fn server_id(&self) -> usize {
        self.setup.index + 1
    }

    /// The `@@server_uuid`; MariaDB has none.
    pub fn uuid(&self) -> String {
        self.value("SELECT @@server_uuid")
    }

    /// Replicates from the node of this index at the moment.
    pub fn copies_from(&self) -> Option<usize> {
        self.state().part.copies_from
    }

    pub(super) fn part(&self) -> Part {
        self.state().part
    }

    pub(super) fn set_part(&self, part: Part) {
        self.state().part = part;
    }

    pub(super) fn delay_s(&self) -> u32 {
        self.setup.delay_s
    }

    pub(super) fn semi_sync(&self) -> SemiSync {
        let part = self.part();
        SemiSync {
            as_source: self.setup.semi_sync && part.has_replicas,
            as_replica: self.setup.semi_sync && part.copies_from.is_some(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sessions and statements, as root through the unix socket unless said otherwise.
impl Node {
    pub fn session(&self) -> Conn {
        self.try_session()
            .unwrap_or_else(|error| panic!("{self:?} takes no session: {error}"))
    }

    pub fn try_session(&self) -> mysql::Result<Conn> {
        let socket = self.socket().display().to_string();
        Conn::new(limited().socket(Some(socket)).user(Some("root")))
    }

    /// A session over TCP without TLS, as `admin`, `monitor` or an account of the test's own.
    pub fn session_as(&self, user: &str, password: &str) -> Conn {
        let options = limited()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(self.port())
            .user(Some(user));
        Conn::new(options.pass(Some(password)))
            .unwrap_or_else(|error| panic!("{self:?} takes no session of {user}: {error}"))
    }

    /// Runs one statement or several with `;` between them, in a session of their own.
    #[track_caller]
    pub fn sql(&self, statements: &str) {
        self.try_sql(statements)
            .unwrap_or_else(|error| panic!("{self:?}: {statements}: {error}"));
    }

    pub fn try_sql(&self, statements: &str) -> mysql::Result<()> {
        let mut session = self.try_session()?;
        let mut answers = session.query_iter(statements)?;
        // Dropping the answers unread would hide the error of any statement but the first.
        while let Some(answer) = answers.iter() {
            for row in answer {
                row?;
            }
        }
        Ok(())
    }

    /// All rows of an answer: as `mysql::Row`, tuples, or plain values of a single column.
    #[track_caller]
    pub fn rows<T: FromRow>(&self, query: &str) -> Vec<T> {
        self.session()
            .query(query)
            .unwrap_or_else(|error| panic!("{self:?}: {query}: {error}"))
    }

    /// The first row of an answer; ask for an `Option` where NULL may come.
    #[track_caller]
    pub fn value<T: FromRow>(&self, query: &str) -> T {
        self.rows(query)
            .into_iter()
            .next()
            .unwrap_or_else(|| panic!("{self:?}: {query}: no row"))
    }

    /// `SHOW REPLICA STATUS` of the default channel by the server's own column names; empty when it is not a replica.
    pub fn replica_status(&self) -> BTreeMap<String, Option<String>> {
        let row = self.rows::<Row>("SHOW REPLICA STATUS").into_iter().next();
        row.map(|row| {
            let names: Vec<String> = row
                .columns_ref()
                .iter()
                .map(|column| column.name_str().into_owned())
                .collect();
            names
                .into_iter()
                .zip(row.unwrap().into_iter().map(text))
                .collect()
        })
        .unwrap_or_default()
    }

    /// Both threads run; otherwise what they do instead.
    pub fn threads_running(&self) -> Result<(), String> {
        let status = self.replica_status();
        let field = |names: [&str; 2]| {
            names
                .iter()
                .find_map(|name| status.get(*name).cloned().flatten())
                .unwrap_or_else(|| "none".to_owned())
        };
        let receiver = field(["Replica_IO_Running", "Slave_IO_Running"]);
        let applier = field(["Replica_SQL_Running", "Slave_SQL_Running"]);
        if receiver == "Yes" && applier == "Yes" {
            return Ok(());
        }
        Err(format!(
            "{self:?}: receiver {receiver}, applier {applier}, {} {}",
            field(["Last_IO_Error", "Last_IO_Error"]),
            field(["Last_SQL_Error", "Last_SQL_Error"])
        ))
    }
}

/// The process.
impl Node {
    pub fn is_running(&self) -> bool {
        self.state()
            .process
            .as_mut()
            .is_some_and(|process| matches!(process.try_wait(), Ok(None)))
    }

    /// `kill -9`, as the out-of-memory killer does; returns when the process is gone.
    pub fn kill(&self) {
        self.signal(libc::SIGKILL);
        self.reap();
    }

    /// Freezes the process: connections stay, nobody answers.
    pub fn stop_process(&self) {
        self.signal(libc::SIGSTOP);
    }

    pub fn continue_process(&self) {
        self.signal(libc::SIGCONT);
    }

    /// A clean end. A frozen server is woken for it.
    pub fn shutdown(&self) {
        self.continue_process();
        self.send_replicas_away();
        self.signal(libc::SIGTERM);
        wait_until(&format!("{self:?} to shut down"), SHUTDOWN_LIMIT, || {
            !self.is_running()
        });
        self.reap();
    }

    /// A MySQL source that ends waits some ten seconds for its replicas' sessions (seen with 9.7.4); without them, none.
    fn send_replicas_away(&self) {
        if self.flavour() != Flavour::MySql || !self.is_running() {
            return;
        }
        let dumping =
            "SELECT id FROM performance_schema.processlist WHERE command LIKE 'Binlog Dump%'";
        for session in self.rows::<u64>(dumping) {
            let _ = self.try_sql(&format!("KILL {session}")); // it may be gone already
        }
    }

    /// Starts the server again with the same data, port and part, after a clean end if it still runs. Replication goes
    /// on by itself.
    pub fn restart(&self) {
        if self.is_running() {
            self.shutdown();
        }
        self.spawn();
        if self.come_up().is_err() {
            panic!("another process took port {} of {self:?}", self.port());
        }
    }

    /// As a server restored from a copy of its data folder comes back: the same data under another `server_uuid`.
    pub fn restart_with_new_uuid(&self) {
        assert_eq!(
            self.flavour(),
            Flavour::MySql,
            "MariaDB servers have no uuid"
        );
        if self.is_running() {
            self.shutdown();
        }
        self.write_uuid();
        self.restart();
    }

    /// The end of the error log, for messages.
    pub fn last_words(&self) -> String {
        let log = fs::read(config::error_log(&self.setup.dir)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    /// Its errors since the last start, for messages.
    pub fn errors_logged(&self) -> Vec<String> {
        let log = fs::read(config::error_log(&self.setup.dir)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        log.lines()
            .filter(|line| line.contains("[ERROR]"))
            .map(str::to_owned)
            .collect()
    }

    /// Starts a server for the first time, on another port if someone was quicker to take its own.
    pub(super) fn come_up_on_a_free_port(&self) {
        for _ in 1..PORT_TRIES {
            match self.come_up() {
                Ok(()) => return,
                Err(PortTaken) => {
                    self.state().port = free_port();
                    self.spawn();
                }
            }
        }
        assert!(
            self.come_up().is_ok(),
            "{self:?} found no free port in {PORT_TRIES} tries"
        );
    }

    pub(super) fn spawn(&self) {
        let dir = &self.setup.dir;
        let options = self.option_file();
        fs::write(dir.join("my.cnf"), options).expect("the topology's folder is writable");
        // A socket left by a killed server is not there to be connected to; an old log would tell of an old start.
        let _ = fs::remove_file(self.socket());
        let _ = fs::rename(config::error_log(dir), dir.join("error.log.before"));
        let output =
            fs::File::create(dir.join("output.log")).expect("the topology's folder is writable");
        let mut command = Command::new(self.flavour().program());
        command
            .arg(format!("--defaults-file={}", dir.join("my.cnf").display()))
            .stdin(Stdio::null())
            .stderr(output.try_clone().expect("an open file can be shared"))
            .stdout(output);
        let process =
            keeper::start(command).unwrap_or_else(|error| panic!("cannot start {self:?}: {error}"));
        self.state().process = Some(process);
    }

    fn option_file(&self) -> String {
        let part = self.part();
        config::option_file(&Options {
            flavour: self.setup.flavour,
            index: self.setup.index,
            dir: &self.setup.dir,
            port: self.port(),
            semi_sync: self.semi_sync(),
            read_only: part.copies_from.is_some(),
            applier_workers: self.setup.applier_workers,
            tls: self.setup.tls.as_ref(),
            extra: &self.setup.extra,
        })
    }

    /// Waits until the started server answers.
    fn come_up(&self) -> Result<(), PortTaken> {
        wait_for(&format!("{self:?} to answer"), START_LIMIT, || {
            if !self.is_running() {
                let words = self.last_words();
                assert!(
                    words.contains("Address already in use"),
                    "{self:?} died while starting:\n{words}"
                );
                return Ok(Err(PortTaken));
            }
            self.try_session()
                .map(|_| Ok(()))
                .map_err(|error| error.to_string())
        })
    }

    fn write_uuid(&self) {
        let uuid = format!(
            "{:08x}-aaaa-4000-8000-{:012}",
            fastrand::u32(..),
            self.server_id()
        );
        let file = config::data_dir(&self.setup.dir).join("auto.cnf");
        fs::write(file, format!("[auto]\nserver-uuid={uuid}\n"))
            .expect("the topology's folder is writable");
    }

    /// To the server's whole process group; to nobody once it has ended.
    pub(super) fn signal(&self, signal: libc::c_int) {
        if !self.is_running() {
            return;
        }
        let id = self.state().process.as_ref().map(Child::id);
        let Some(group) = id.and_then(|id| libc::pid_t::try_from(id).ok()) else {
            return;
        };
        // SAFETY: a plain system call. The process is ours and was not waited for, so its id belongs to nobody else.
        unsafe { libc::kill(-group, signal) };
    }

    fn reap(&self) {
        if let Some(mut process) = self.state().process.take() {
            let _ = process.wait();
        }
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} node {}", self.setup.flavour.name(), self.setup.index)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

fn limited() -> OptsBuilder {
    OptsBuilder::from_opts(Opts::default())
        .prefer_socket(false)
        .tcp_connect_timeout(Some(ANSWER_LIMIT))
        .read_timeout(Some(ANSWER_LIMIT))
        .write_timeout(Some(ANSWER_LIMIT))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    }
}

/// One that stays free while nobody listens on it for a while.
pub fn free_port() -> u16 {
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| fastrand::u16(PORTS))
        .take(1000)
        .find(is_free)
        .expect("some port is free")
}
