//! Semi-synchronous replication on the source: commits that wait for a receipt, and the counters.

use std::collections::VecDeque;

use crate::model::time::Moment;

use super::commit::Job;
use super::settings::SemiSyncSettings;
use super::status::SemiSyncStatus;
use super::transaction::Gtid;

#[derive(Debug, Default)]
pub(super) struct SemiSync {
    /// `clients` and `replica_is_on` are filled in when asked.
    pub counters: SemiSyncStatus,
    /// In the order of the binary log.
    pub waiting: VecDeque<Unreceipted>,
}

/// A commit in the binary log whose session waits for a receipt.
#[derive(Debug)]
pub(super) struct Unreceipted {
    pub sequence: u64,
    pub since: Moment,
    pub gtid: Gtid,
    pub job: Job,
    /// AFTER_COMMIT: everybody else sees it already.
    pub is_visible: bool,
}

impl SemiSync {
    /// Switched on with `SET GLOBAL` or when the server starts.
    pub fn begin(&mut self, settings: &SemiSyncSettings, clients: u64) {
        let enough = clients >= u64::from(settings.wait_for_replicas);
        self.counters.is_on = settings.source_enabled && (settings.wait_no_replica || enough);
    }

    /// Whether a commit has to wait now. MariaDB does not go off when the last replica leaves, it merely no longer
    /// waits.
    pub fn must_wait(&self, settings: &SemiSyncSettings, clients: u64) -> bool {
        settings.source_enabled
            && self.counters.is_on
            && (settings.wait_no_replica || clients >= u64::from(settings.wait_for_replicas))
    }

    pub fn wait(&mut self, waiting: Unreceipted) {
        self.counters.tx_waits += 1;
        self.waiting.push_back(waiting);
    }

    /// The oldest, if it is covered by a receipt up to there.
    pub fn take_receipted(&mut self, sequence: u64, now: Moment) -> Option<Unreceipted> {
        if self.waiting.front()?.sequence > sequence {
            return None;
        }
        let unreceipted = self.waiting.pop_front()?;
        self.counters.yes_tx += 1;
        self.note_wait(now, &unreceipted);
        Some(unreceipted)
    }

    /// Degrades: nobody waits any more. Returns those who did.
    pub fn switch_off(&mut self, now: Moment) -> VecDeque<Unreceipted> {
        self.counters.is_on = false;
        self.counters.no_times += 1;
        self.counters.no_tx += self.waiting.len() as u64;
        let released = std::mem::take(&mut self.waiting);
        for unreceipted in &released {
            self.note_wait(now, unreceipted);
        }
        released
    }

    fn note_wait(&mut self, now: Moment, unreceipted: &Unreceipted) {
        let waited = now.since(unreceipted.since);
        self.counters.tx_wait_time = self.counters.tx_wait_time + waited;
    }
}

/// Up to which transaction so many replicas have confirmed, given how far each has.
pub(super) fn confirmed_by(replicas: u32, mut receipts: Vec<u64>) -> u64 {
    receipts.sort_unstable_by(|a, b| b.cmp(a));
    let nth = (replicas.max(1) - 1) as usize;
    receipts.get(nth).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_those_needed_decides() {
        for (replicas, receipts, confirmed) in [
            (1, vec![3, 9, 5], 9),
            (2, vec![3, 9, 5], 5),
            (3, vec![3, 9, 5], 3),
            (4, vec![3, 9, 5], 0),
            (1, vec![], 0),
        ] {
            assert_eq!(confirmed_by(replicas, receipts), confirmed);
        }
    }
}
