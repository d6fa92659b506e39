//! The folder of one lab, and the sweep that clears what a killed program left.
//!
//! A folder is in use as long as the file in it is locked; the system gives the lock back however a program ends. What
//! is not in use any more is swept by the next lab: the servers that still serve from it are killed, then it is removed.
//! A server counts as ours only when it was started with the option file of that folder *and* its number is in a file of
//! that folder: whoever starts a server by hand on leftover data keeps it, and the folder.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::model::trouble::Trouble;

use super::process::{self, Known};
use super::trouble::file_trouble;

const PREFIX: &str = "lab-";
const IN_USE: &str = "in-use";
const OPTIONS: &str = "my.cnf";
const STARTED: &str = "started";
const SERVERS_OWN: &str = "pid";

/// How long servers may take to be gone once killed, and a wrapper's server to write down its number.
const SWEEP_LIMIT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long after a wrapper its server may be started.
const WRAPPER_TAKES_S: u64 = 60;

/// A folder of ours; removed when dropped.
pub(super) struct RunFolder {
    path: PathBuf,
    _in_use: File,
}

impl RunFolder {
    pub fn create(runs: &Path) -> Result<RunFolder, Trouble> {
        RunFolder::try_create(runs).map_err(|error| file_trouble(runs, &error))
    }

    fn try_create(runs: &Path) -> io::Result<RunFolder> {
        process::private_folder(runs)?;
        let _changing = changing(runs)?;
        let name: String = std::iter::repeat_with(fastrand::alphanumeric)
            .take(8)
            .collect();
        let path = runs.join(format!("{PREFIX}{name}"));
        process::private_folder(&path)?;
        let in_use = File::create(path.join(IN_USE))?;
        in_use.lock()?;
        Ok(RunFolder {
            path,
            _in_use: in_use,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Clears away what labs of killed programs left in this folder.
pub(super) fn sweep(runs: &Path) -> Result<(), Trouble> {
    if !runs.is_dir() {
        return Ok(());
    }
    let _changing = changing(runs).map_err(|error| file_trouble(runs, &error))?;
    sweep_all(runs);
    Ok(())
}

/// Held while folders come and go: a folder just made is not locked yet.
fn changing(runs: &Path) -> io::Result<File> {
    let lock = File::create(runs.join("lock"))?;
    lock.lock()?;
    Ok(lock)
}

fn sweep_all(runs: &Path) {
    for entry in fs::read_dir(runs).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX) && path.is_dir();
        if is_ours && is_abandoned(&path) {
            sweep_one(&path);
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    match File::open(folder.join(IN_USE)) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn sweep_one(folder: &Path) {
    let give_up_at = Instant::now() + SWEEP_LIMIT;
    let servers: Vec<ServerFolder> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| ServerFolder::at(entry.path()))
        .collect();
    loop {
        let left: Vec<bool> = servers.iter().map(ServerFolder::end_ours).collect();
        if left.iter().all(|any_left| !any_left) {
            return remove(folder);
        }
        if Instant::now() > give_up_at {
            tracing::warn!(folder = %folder.display(), "a server that is not ours uses a folder of an earlier lab");
            return;
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// A server killed just now may still be putting a file down.
fn remove(folder: &Path) {
    let give_up_at = Instant::now() + Duration::from_secs(1);
    while let Err(error) = fs::remove_dir_all(folder)
        && error.kind() != io::ErrorKind::NotFound
    {
        if Instant::now() > give_up_at {
            tracing::warn!(folder = %folder.display(), %error, "a lab's folder could not be removed");
            return;
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// The folder of one server of a lab, and which processes serve from it.
#[derive(Clone, Debug)]
pub(super) struct ServerFolder {
    path: PathBuf,
}

impl ServerFolder {
    pub fn at(path: PathBuf) -> ServerFolder {
        ServerFolder { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn options(&self) -> PathBuf {
        self.path.join(OPTIONS)
    }

    pub fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Where the server itself writes its number.
    pub fn pid_file(&self) -> PathBuf {
        self.path.join(SERVERS_OWN)
    }

    /// By this argument its processes are known.
    pub fn argument(&self) -> OsString {
        let mut argument = OsString::from("--defaults-file=");
        argument.push(self.options());
        argument
    }

    /// Writes down whom we started.
    pub fn note_started(&self, process: &Known) -> io::Result<()> {
        let line = format!("{} {}\n", process.id, process.started_at);
        fs::write(self.path.join(STARTED), line)
    }

    fn started(&self) -> Option<Known> {
        let text = fs::read_to_string(self.path.join(STARTED)).ok()?;
        let (id, started_at) = text.trim().split_once(' ')?;
        Some(Known {
            id: id.parse().ok()?,
            started_at: started_at.parse().ok()?,
            parent: None,
        })
    }

    /// The number that the server wrote down: another one than ours behind a wrapper that does not `exec`.
    pub fn server_id(&self) -> Option<u32> {
        fs::read_to_string(self.pid_file())
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// Kills what we started here; true when any process uses the folder still, or may for all we know.
    fn end_ours(&self) -> bool {
        let Some(all) = process::started_with(&self.argument()) else {
            return true;
        };
        for found in &all {
            if self.is_ours(found, &all) {
                process::kill(found);
            }
        }
        !all.is_empty()
    }

    /// The process we started, or the server that it started soon after.
    fn is_ours(&self, found: &Known, all: &[Known]) -> bool {
        let Some(started) = self.started() else {
            return false;
        };
        let parent = || all.iter().find(|other| Some(other.id) == found.parent);
        let came_soon = found.started_at.saturating_sub(started.started_at) <= WRAPPER_TAKES_S;
        started.is(found)
            || parent().is_some_and(|parent| started.is(parent))
            || (came_soon && self.server_id() == Some(found.id))
    }
}
