//! What the applier admits to have done, which is not always what it has done.
//!
//! With workers, the coordinator looks only every `replica_checkpoint_period` at how far they are, and only while it
//! reads events or has nothing to read. In between `Exec_Source_Log_Pos` and the time stamp behind
//! `Seconds_Behind_Source` stay as they were: that is where a second of lag comes from that nobody has.

use crate::model::time::{Moment, Span};

use super::binlog::Place;

#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    pub place: Place,
    /// `last_master_timestamp`; none is the server's 0.
    pub stamp_secs: Option<i64>,
    /// Zero: no workers, or MariaDB; then everything is admitted at once.
    pub period: Span,
    /// One thread reads and applies: what it reads is what it is at.
    is_single: bool,
    last_at: Moment,
    /// The coordinator has read everything and looks once in a period.
    is_at_end: bool,
}

/// How things really are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Really {
    pub place: Place,
    /// Time stamp of the oldest transaction handed out and not committed.
    pub oldest_secs: Option<i64>,
}

impl Checkpoint {
    pub fn new(now: Moment, period: Span, is_single: bool) -> Checkpoint {
        Checkpoint {
            place: Place::default(),
            stamp_secs: None,
            period,
            is_single,
            last_at: now,
            is_at_end: true,
        }
    }

    /// To be called before anything changes, and on a copy when asked: takes the looks that were due since.
    pub fn catch_up(&mut self, now: Moment, really: Really) {
        let since = now.since(self.last_at).micros();
        let period = self.period.micros();
        if period <= 0 {
            self.look(now, really);
        } else if self.is_at_end && since >= period {
            let last_look = self.last_at + Span::from_micros(since - since % period);
            self.look(last_look, really);
        }
    }

    /// The coordinator reads the next transaction.
    pub fn reads(&mut self, now: Moment, really: Really, stamp_secs: i64) {
        self.catch_up(now, really);
        if now.since(self.last_at) >= self.period {
            self.look(now, really);
        }
        if self.is_single {
            self.stamp_secs = Some(stamp_secs);
        }
        self.stamp_secs.get_or_insert(stamp_secs);
        self.is_at_end = false;
    }

    /// There is nothing more to read.
    pub fn reaches_end(&mut self) {
        self.is_at_end = true;
    }

    fn look(&mut self, at: Moment, really: Really) {
        self.place = really.place;
        self.stamp_secs = match really.oldest_secs {
            // Admitted at once, what was applied last counts until the next is handed out: so MariaDB, delayed by 5 s,
            // says 5 all the time.
            None if self.period.micros() <= 0 && !self.is_at_end => self.stamp_secs,
            oldest => oldest,
        };
        self.last_at = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Moment {
        Moment::from_unix_micros(ms * 1000)
    }

    fn place(at: u64) -> Place {
        Place { file: 1, at }
    }

    fn really(at: u64, oldest_secs: Option<i64>) -> Really {
        Really {
            place: place(at),
            oldest_secs,
        }
    }

    #[test]
    fn what_is_done_is_admitted_at_the_next_look() {
        let mut shown = Checkpoint::new(at(0), Span::from_millis(300), false);
        shown.reads(at(400), really(4, None), 7);
        shown.reaches_end();
        shown.catch_up(at(599), really(318, None));
        assert_eq!((shown.place, shown.stamp_secs), (place(4), Some(7)));
        shown.catch_up(at(600), really(318, None));
        assert_eq!((shown.place, shown.stamp_secs), (place(318), None));
    }

    #[test]
    fn while_a_transaction_is_delayed_nobody_looks() {
        let mut shown = Checkpoint::new(at(0), Span::from_millis(300), false);
        shown.reads(at(100), really(4, None), 7);
        shown.catch_up(at(5000), really(318, None));
        assert_eq!((shown.place, shown.stamp_secs), (Place::default(), Some(7)));
        // Reading the next one looks first.
        shown.reads(at(5000), really(318, None), 9);
        assert_eq!((shown.place, shown.stamp_secs), (place(318), Some(9)));
    }

    #[test]
    fn while_the_next_is_delayed_mariadb_still_counts_from_the_last() {
        for (is_single, stamp) in [(false, 7), (true, 8)] {
            let mut shown = Checkpoint::new(at(0), Span::ZERO, is_single);
            shown.reads(at(100), really(4, None), 7);
            shown.catch_up(at(101), really(4, Some(7)));
            shown.reads(at(200), really(318, None), 8);
            shown.catch_up(at(5000), really(318, None));
            assert_eq!((shown.place, shown.stamp_secs), (place(318), Some(stamp)));
        }
    }

    #[test]
    fn without_workers_everything_is_admitted_at_once() {
        let mut shown = Checkpoint::new(at(0), Span::ZERO, true);
        shown.reads(at(100), really(4, None), 7);
        shown.catch_up(at(101), really(4, Some(7)));
        assert_eq!((shown.place, shown.stamp_secs), (place(4), Some(7)));
        shown.reaches_end();
        shown.catch_up(at(102), really(318, None));
        assert_eq!((shown.place, shown.stamp_secs), (place(318), None));
    }
}
