//! Starts server processes so that none outlives this one.
//!
//! Linux kills a child when the *thread* that started it ends, and servers are started by several threads at once that
//! end soon. So one thread, which lasts as long as the lab, starts them all.

use std::io;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::process;

type Request = (Command, Sender<io::Result<Child>>);

/// Dropping it ends what it started, where the system can do that: drop the servers first.
pub(super) struct Keeper {
    inbox: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub fn start() -> io::Result<Keeper> {
        let (inbox, requests) = bounded(8);
        let thread = thread::Builder::new()
            .name("sandbox keeper".to_owned())
            .spawn(move || keep(&requests))?;
        Ok(Keeper {
            inbox: Some(inbox),
            thread: Some(thread),
        })
    }

    pub fn spawn(&self, command: Command) -> io::Result<Child> {
        let (answer, answered) = bounded(1);
        let gone = || io::Error::other("the thread that starts servers is gone");
        let inbox = self.inbox.as_ref().ok_or_else(gone)?;
        inbox.send((command, answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

fn keep(requests: &Receiver<Request>) {
    for (mut command, answer) in requests {
        process::die_with_this_thread(&mut command);
        let _ = answer.send(command.spawn());
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.inbox = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
