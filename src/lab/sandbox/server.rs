//! One real server of a lab: its folder, its port, its process.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::lab::session;
use crate::model::lab::{LabAccount, LabServer};
use crate::model::time::Span;
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;

use super::accounts::Accounts;
use super::find::Program;
use super::folder::ServerFolder;
use super::keeper::Keeper;
use super::options::{ERROR_LOG, Options};
use super::process::{self, Known};
use super::role::Role;
use super::shape::{Part, Planned};
use super::template;
use super::trouble::{did_not_start, does_not_answer, file_trouble, stopped};

const START_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// For any answer to a statement of ours.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(30);
const PORT_TRIES: usize = 5;
/// Below the range from which systems take ports of outgoing connections: one of those could sit on a server's port just
/// when it restarts.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

/// What all servers of a lab share.
pub(super) struct Common {
    pub program: Program,
    pub accounts: Accounts,
    pub template: PathBuf,
    pub sources: usize,
    pub semi_sync: bool,
    pub applier_workers: u32,
}

pub(super) struct Server {
    pub number: LabServer,
    pub name: String,
    pub part: Part,
    pub delay: Span,
    pub port: u16,
    folder: ServerFolder,
    process: Mutex<Option<Child>>,
}

/// Somebody else was quicker to take the port.
struct PortTaken;

impl Server {
    pub fn new(number: LabServer, planned: Planned, folder: PathBuf) -> Server {
        Server {
            number,
            name: planned.name,
            part: planned.part,
            delay: planned.delay,
            port: 0,
            folder: ServerFolder::at(folder),
            process: Mutex::new(None),
        }
    }

    /// Makes the data, starts the server on a free port and has it make the accounts; returns when it answers.
    pub fn start_first(
        &mut self,
        common: &Common,
        keeper: &Keeper,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), Trouble> {
        let init_file = self.folder.path().join("init.sql");
        self.prepare(common, &init_file)
            .map_err(|error| file_trouble(self.folder.path(), &error))?;
        let started = self.start_on_a_free_port(common, keeper, &init_file, is_stopped);
        // The passwords in it are no longer needed.
        let _ = fs::remove_file(&init_file);
        started?;
        self.write_options(common, None)
    }

    fn prepare(&self, common: &Common, init_file: &std::path::Path) -> io::Result<()> {
        process::private_folder(&self.folder.path().join("tmp"))?;
        template::copy(&common.template, &self.folder.data())?;
        if !common.program.release.is_mariadb() {
            fs::write(self.folder.data().join("auto.cnf"), uuid_file(self.number))?;
        }
        let text = common.accounts.init_file(&common.program.release);
        process::private_file(init_file)?.write_all(text.as_bytes())
    }

    fn start_on_a_free_port(
        &mut self,
        common: &Common,
        keeper: &Keeper,
        init_file: &std::path::Path,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), Trouble> {
        for _ in 0..PORT_TRIES {
            self.port = free_port();
            self.write_options(common, Some(init_file))?;
            self.spawn(common, keeper)?;
            match self.come_up(common, is_stopped)? {
                Ok(()) => return Ok(()),
                Err(PortTaken) => tracing::debug!(port = self.port, "taken; trying another"),
            }
        }
        Err(did_not_start(&self.name, &self.last_words()))
    }

    /// Starts the server again with the same data and port, in the part it has now.
    pub fn start_again(
        &mut self,
        common: &Common,
        keeper: &Keeper,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), Trouble> {
        self.write_options(common, None)?;
        self.spawn(common, keeper)?;
        match self.come_up(common, is_stopped)? {
            Ok(()) => Ok(()),
            Err(PortTaken) => Err(did_not_start(&self.name, &self.last_words())),
        }
    }

    fn write_options(
        &self,
        common: &Common,
        init_file: Option<&std::path::Path>,
    ) -> Result<(), Trouble> {
        let options = Options {
            role: Role {
                release: &common.program.release,
                number: self.number,
                sources: common.sources,
                part: &self.part,
                semi_sync: common.semi_sync,
                applier_workers: common.applier_workers,
            },
            folder: &self.folder,
            port: self.port,
            init_file,
        };
        let path = self.folder.options();
        fs::write(&path, options.text()).map_err(|error| file_trouble(&path, &error))
    }

    fn spawn(&self, common: &Common, keeper: &Keeper) -> Result<(), Trouble> {
        let log = self.folder.path().join(ERROR_LOG);
        // An old log would tell of an old start, an old number of an old process.
        let _ = fs::rename(&log, self.folder.path().join("error.log.before"));
        let _ = fs::remove_file(self.folder.pid_file());
        let child = self
            .command(common)
            .and_then(|command| keeper.spawn(command))
            .map_err(|error| did_not_start(&self.name, &error.to_string()))?;
        let id = child.id();
        *self.process() = Some(child);
        let noted = process::look_up(id).map_or(Ok(()), |known| self.folder.note_started(&known));
        noted.map_err(|error| file_trouble(self.folder.path(), &error))
    }

    fn command(&self, common: &Common) -> io::Result<Command> {
        let output = fs::File::create(self.folder.path().join("output.log"))?;
        let mut command = Command::new(&common.program.path);
        process::set_apart(&mut command);
        command
            .arg(self.folder.argument())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        Ok(command)
    }

    /// Waits until the server lets the lab in.
    fn come_up(
        &self,
        common: &Common,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Result<(), PortTaken>, Trouble> {
        let give_up_at = Instant::now() + START_LIMIT;
        loop {
            if is_stopped() {
                return Err(stopped());
            }
            if !self.is_up() {
                let words = self.last_words();
                if words.contains("Bind on TCP/IP port") || words.contains("Address already in use")
                {
                    return Ok(Err(PortTaken));
                }
                return Err(did_not_start(&self.name, &words));
            }
            if self
                .hand(&common.accounts.people.admin, Duration::from_secs(5))
                .is_ok()
            {
                return Ok(Ok(()));
            }
            if Instant::now() > give_up_at {
                return Err(does_not_answer(&self.name, &self.last_words()));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    pub fn hand(&self, account: &LabAccount, limit: Duration) -> Result<Hand, Trouble> {
        session::open(self.port, account, limit)
    }

    /// The end of what it logged since its last start.
    pub fn last_words(&self) -> String {
        let read = |name: &str| fs::read(self.folder.path().join(name)).unwrap_or_default();
        let mut log = String::from_utf8_lossy(&read(ERROR_LOG)).into_owned();
        if log.trim().is_empty() {
            // What goes wrong before the log is opened.
            log = String::from_utf8_lossy(&read("output.log")).into_owned();
        }
        template::last_lines(&log)
    }

    pub fn is_up(&self) -> bool {
        let mut process = self.process();
        let Some(child) = process.as_mut() else {
            return false;
        };
        matches!(child.try_wait(), Ok(None)) || self.left_by_its_wrapper().is_some()
    }

    /// The server that a wrapper started and did not wait for.
    fn left_by_its_wrapper(&self) -> Option<Known> {
        let server = process::look_up(self.folder.server_id()?)?;
        let all = process::started_with(&self.folder.argument())?;
        all.into_iter().find(|found| found.is(&server))
    }

    /// `kill -9`, also of what a wrapper started; returns when all are gone.
    pub fn kill(&self) {
        let Some(mut child) = self.process().take() else {
            return;
        };
        let server = self.folder.server_id();
        let behind_a_wrapper = server.is_none_or(|server| server != child.id());
        let _ = child.kill();
        let _ = child.wait();
        if behind_a_wrapper {
            self.kill_all_who_serve_from_here();
        }
    }

    /// The folder is ours alone as long as we live: whoever serves from it was started by us.
    fn kill_all_who_serve_from_here(&self) {
        let give_up_at = Instant::now() + Duration::from_secs(5);
        loop {
            let left = process::started_with(&self.folder.argument()).unwrap_or_default();
            if left.is_empty() || Instant::now() > give_up_at {
                return;
            }
            left.iter().for_each(|process| {
                process::kill(process);
            });
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Asks it to shut down, without waiting.
    pub fn ask_to_end(&self, admin: &LabAccount) {
        let id = self.process().as_ref().map(Child::id);
        let Some(id) = self.folder.server_id().or(id) else {
            return;
        };
        let asked = process::look_up(id).is_some_and(|server| process::ask_to_end(&server));
        if !asked && let Ok(mut hand) = self.hand(admin, Duration::from_secs(1)) {
            let _ = hand.run("SHUTDOWN");
        }
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn uuid_file(number: LabServer) -> String {
    let (a, b) = (fastrand::u32(..), fastrand::u16(..));
    format!(
        "[auto]\nserver-uuid={a:08x}-{b:04x}-4000-8000-{:012}\n",
        number + 1
    )
}

/// A port of loopback that nobody uses now.
pub(super) fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let tries = std::iter::repeat_with(|| fastrand::u16(PORTS)).take(200);
    let mut free = tries.filter(is_free);
    free.next().unwrap_or(PORTS.start)
}
