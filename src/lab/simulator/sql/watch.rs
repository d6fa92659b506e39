//! How long SQLite may work on a statement, and how somebody else ends it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// All clones are the same watch.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    ends_at: Option<Instant>,
    is_stopped: bool,
    has_ended: bool,
}

/// Steps of SQLite's between two looks: about a tenth of a millisecond.
const STEPS: i32 = 1000;

impl Watch {
    pub fn over(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let watch = self.clone();
        connection.progress_handler(STEPS, Some(move || watch.ends()))
    }

    /// A statement begins.
    pub fn begin(&self, patience: Option<Duration>) {
        let mut state = self.lock();
        state.ends_at = patience.map(|patience| Instant::now() + patience);
        state.has_ended = false;
    }

    /// The statement is over.
    pub fn rest(&self) {
        self.lock().ends_at = None;
    }

    /// Whether the statement was ended before it was done.
    pub fn has_ended(&self) -> bool {
        self.lock().has_ended
    }

    /// Ends whatever runs, and whatever begins.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
    }

    fn ends(&self) -> bool {
        let mut state = self.lock();
        let is_late = state.ends_at.is_some_and(|at| Instant::now() >= at);
        let is_over = is_late || state.is_stopped;
        state.has_ended |= is_over;
        is_over
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
