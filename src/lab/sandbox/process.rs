//! Processes: started so that none outlives us, known again after a restart of ours, ended. The only place here that
//! differs between systems.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessesToUpdate, Signal, System, UpdateKind};

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A program that ran to its end.
pub(super) struct Done {
    pub status: ExitStatus,
    /// Both its outputs, as they came.
    pub output: String,
}

/// Runs a program that ends by itself; kills it when that takes too long.
pub(super) fn run(mut command: Command, limit: Duration) -> io::Result<Done> {
    command.stdin(Stdio::null());
    run_by(command, limit, |mut command| command.spawn())
}

/// The same with another way to start it, and the command's own input.
pub(super) fn run_by(
    mut command: Command,
    limit: Duration,
    start: impl FnOnce(Command) -> io::Result<Child>,
) -> io::Result<Done> {
    let mut output = tempfile::tempfile()?;
    set_apart(&mut command);
    command
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?);
    let mut child = start(command)?;
    let Some(status) = wait_for_end(&mut child, limit)? else {
        let _ = child.kill();
        let _ = child.wait();
        let said = text_of(&mut output)?;
        return Err(io::Error::new(io::ErrorKind::TimedOut, said));
    };
    let output = text_of(&mut output)?;
    Ok(Done { status, output })
}

fn text_of(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn wait_for_end(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let give_up_at = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > give_up_at {
            return Ok(None);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Messages in English whatever the person's language: some are looked for. Ctrl+C at the terminal is for us, not for
/// what we started.
pub(super) fn set_apart(command: &mut Command) {
    command.env("LC_ALL", "C");
    door::own_group(command);
}

/// Servers refuse to run as root unless told to.
pub(super) fn are_we_root() -> bool {
    door::are_we_root()
}

/// The child is killed when the thread that starts it ends, where the system can do that.
pub(super) fn die_with_this_thread(command: &mut Command) {
    door::die_with_this_thread(command);
}

/// A process on this machine, recognisable later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub id: u32,
    /// Seconds since 1970, as well as the system knows.
    pub started_at: u64,
    pub parent: Option<u32>,
}

impl Known {
    /// Numbers of processes are used again; the moment of their start tells them apart. The system works it out anew
    /// each time from its own start, which is good to a second.
    pub fn is(&self, other: &Known) -> bool {
        self.id == other.id && self.started_at.abs_diff(other.started_at) <= 2
    }
}

/// All processes that were started with exactly this argument; `None` where the system does not tell.
pub(super) fn started_with(argument: &OsString) -> Option<Vec<Known>> {
    let mut system = System::new().ok()?;
    let how = ProcessRefreshKind::nothing()
        .with_cmd(UpdateKind::Always)
        .without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, how);
    let has_it = |process: &&Process| process.cmd().contains(argument);
    Some(
        system
            .processes()
            .values()
            .filter(has_it)
            .map(known)
            .collect(),
    )
}

/// The process of this number, if it is there.
pub(super) fn look_up(id: u32) -> Option<Known> {
    with_process(id, known)
}

/// `kill -9`. False when there is no such process any more, or it is not ours to kill.
pub(super) fn kill(process: &Known) -> bool {
    signal(process, Signal::Kill)
}

/// Asks a process to end. False where the system cannot ask.
pub(super) fn ask_to_end(process: &Known) -> bool {
    signal(process, Signal::Term)
}

fn signal(process: &Known, signal: Signal) -> bool {
    let same =
        |found: &Process| known(found).is(process) && found.kill_with(signal).unwrap_or(false);
    with_process(process.id, same).unwrap_or(false)
}

fn with_process<T>(id: u32, look: impl FnOnce(&Process) -> T) -> Option<T> {
    let id = Pid::from_u32(id);
    let mut system = System::new().ok()?;
    let how = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), true, how);
    system.process(id).map(look)
}

fn known(process: &Process) -> Known {
    Known {
        id: process.pid().as_u32(),
        started_at: process.start_time(),
        parent: process.parent().map(Pid::as_u32),
    }
}

/// Readable for nobody but this user.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    door::private_folder(&mut builder);
    builder.create(path)
}

/// A folder of this user's in the system's one for temporary files; `None` where nothing confines servers.
pub(super) fn temporary_folder(name: &str) -> Option<PathBuf> {
    door::temporary_folder(name)
}

/// Whether nobody but this user can read it or have made it. The system's folder for temporary files is everybody's:
/// what is there under our name may be somebody else's trap.
pub(super) fn is_private(path: &Path) -> bool {
    door::is_private(path)
}

pub(super) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    door::private_file(&mut options);
    options.open(path)
}

#[cfg(unix)]
mod door {
    use std::fs::{DirBuilder, OpenOptions};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
    use std::os::unix::process::CommandExt;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    pub fn own_group(command: &mut Command) {
        command.process_group(0);
    }

    pub fn are_we_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    pub fn private_folder(builder: &mut DirBuilder) {
        builder.mode(0o700);
    }

    pub fn private_file(options: &mut OpenOptions) {
        options.mode(0o600);
    }

    pub fn temporary_folder(name: &str) -> Option<PathBuf> {
        let us = rustix::process::geteuid().as_raw();
        Some(std::env::temp_dir().join(format!("{name}-{us}")))
    }

    pub fn is_private(path: &Path) -> bool {
        let us = rustix::process::geteuid().as_raw();
        path.symlink_metadata()
            .is_ok_and(|found| found.is_dir() && found.uid() == us && found.mode() & 0o077 == 0)
    }

    /// The kernel's request survives `exec`, so a wrapper script that ends in one passes it on to the server; behind
    /// any other the server is left over until the next sweep.
    #[cfg(target_os = "linux")]
    pub fn die_with_this_thread(command: &mut Command) {
        use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
        let us = getpid();
        // SAFETY: between fork and exec only two system calls are made; nothing is allocated or locked.
        unsafe {
            command.pre_exec(move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // We may have died before the request took effect.
                if getppid() != Some(us) {
                    return Err(std::io::Error::from(std::io::ErrorKind::NotFound));
                }
                Ok(())
            });
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn die_with_this_thread(_: &mut Command) {}
}

#[cfg(not(unix))]
mod door {
    use std::fs::{DirBuilder, OpenOptions};
    use std::path::{Path, PathBuf};
    use std::process::Command;

    #[cfg(windows)]
    pub fn own_group(command: &mut Command) {
        use std::os::windows::process::CommandExt;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
    }

    #[cfg(not(windows))]
    pub fn own_group(_: &mut Command) {}

    pub fn are_we_root() -> bool {
        false
    }

    /// A user's own folders are private there by themselves.
    pub fn private_folder(_: &mut DirBuilder) {}

    pub fn private_file(_: &mut OpenOptions) {}

    pub fn temporary_folder(_: &str) -> Option<PathBuf> {
        None
    }

    pub fn is_private(_: &Path) -> bool {
        false
    }

    pub fn die_with_this_thread(_: &mut Command) {}
}
