//! Starts server processes so that none outlives the test process.
//!
//! The kernel sends a child's parent-death signal when the *thread* that started it ends, not the process, and every
//! test runs on a thread of its own. So one thread, which lasts as long as the process, starts all servers.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, OnceLock, mpsc};
use std::thread;

type Request = (Command, mpsc::Sender<io::Result<Child>>);

static KEEPER: OnceLock<Mutex<mpsc::Sender<Request>>> = OnceLock::new();

/// Starts the command in a process group of its own; it is killed when this process ends in whatever way.
pub fn start(command: Command) -> io::Result<Child> {
    let (answer, answered) = mpsc::channel();
    let inbox = KEEPER.get_or_init(|| Mutex::new(run_keeper()));
    inbox
        .lock()
        .expect("nobody panics while sending")
        .send((command, answer))
        .expect("the keeper thread lasts as long as the process");
    answered.recv().expect("the keeper answers every request")
}

fn run_keeper() -> mpsc::Sender<Request> {
    let (inbox, requests) = mpsc::channel::<Request>();
    thread::Builder::new()
        .name("server keeper".to_owned())
        .spawn(move || {
            for (mut command, answer) in requests {
                command.process_group(0);
                die_with_this_thread(&mut command);
                let _ = answer.send(command.spawn());
            }
        })
        .expect("a thread can be started");
    inbox
}

fn die_with_this_thread(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only prctl and getppid are called, both async-signal-safe; nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == -1 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have died before the request took effect.
            if libc::getppid().cast_unsigned() != parent {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
}
