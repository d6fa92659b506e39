//! Somebody who writes a row every few milliseconds, so that there is something to replicate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use mysql::prelude::Queryable;

use super::servers::{Node, Topology};

const EVERY: Duration = Duration::from_millis(20);

/// Writes until dropped.
pub struct Writer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Into the table that [`Writer::prepare`] made, in a session of its own.
    pub fn start(node: &Node) -> Self {
        let mut session = node.session();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // A server that a test kills ends its writer.
                if session
                    .query_drop("INSERT INTO written.lines () VALUES ()")
                    .is_err()
                {
                    return;
                }
                std::thread::sleep(EVERY);
            }
        });
        Writer {
            stop,
            thread: Some(thread),
        }
    }

    pub fn prepare(topology: &Topology) {
        topology.source().sql(
            "CREATE DATABASE written; CREATE TABLE written.lines (id INT AUTO_INCREMENT PRIMARY KEY)",
        );
        topology.replicating();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
