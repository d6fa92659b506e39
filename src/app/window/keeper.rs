//! Keeps the preferences on disk, on a thread of its own: a slow disk must not hold up drawing.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::model::preferences::Preferences;
use crate::settings::preferences::PreferenceStore;

/// How long quitting waits for the last save.
const LAST_SAVE: Duration = Duration::from_millis(100);
/// Changes waiting to be written; only the newest is.
const WAITING: usize = 64;

pub struct Keeper {
    inbox: Sender<Preferences>,
    ended: Receiver<()>,
}

impl Keeper {
    pub fn start(mut store: PreferenceStore) -> std::io::Result<Keeper> {
        let (inbox, changes) = bounded::<Preferences>(WAITING);
        let (alive, ended) = bounded::<()>(0);
        std::thread::Builder::new()
            .name("preferences".to_owned())
            .spawn(move || {
                let _alive = alive;
                while let Ok(mut newest) = changes.recv() {
                    newest = changes.try_iter().last().unwrap_or(newest);
                    if let Err(error) = store.save(&newest) {
                        tracing::warn!("preferences not saved: {error:?}");
                    }
                }
            })?;
        Ok(Keeper { inbox, ended })
    }

    /// A full inbox means a dead disk: this change is then lost, drawing goes on.
    pub fn keep(&self, preferences: Preferences) {
        let _ = self.inbox.try_send(preferences);
    }

    pub fn close(self, preferences: Preferences) {
        self.keep(preferences);
        drop(self.inbox);
        // only ever disconnected: an error here is the end of the thread, or of our patience
        let _ = self.ended.recv_timeout(LAST_SAVE);
    }
}
