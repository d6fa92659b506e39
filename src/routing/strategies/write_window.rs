//! After a write, the session's reads stay on the source for a while; then any healthy replica.
//!
//! Only recent writers pay, and nothing is asked of a server. But the window is a guess: a replica further behind
//! than that returns the old value. `at − last write < window` is strict: the read at exactly the window's end is on
//! a replica.

use std::collections::HashMap;

use crate::model::phrase::Phrase;
use crate::model::time::{Moment, Span};

use super::super::decision::{Decision, Reason};
use super::super::pick::{Order, Picker};
use super::super::replica::{ReadClass, ReplicaView};
use super::super::request::{Request, SessionKey, Write};
use super::super::strategy::{Promise, Strategy};

#[derive(Clone, Debug)]
pub struct WriteWindow {
    window: Span,
    last_write_at: HashMap<SessionKey, Moment>,
    /// When entries past the window were last thrown out; without that the map only grows (T-12).
    swept_at: Option<Moment>,
    picker: Picker,
}

impl WriteWindow {
    pub const ONE_SECOND: Span = Span::from_millis(1_000);
    pub const TWO_SECONDS: Span = Span::from_secs(2);

    pub fn new(window: Span) -> Self {
        WriteWindow {
            window,
            last_write_at: HashMap::new(),
            swept_at: None,
            picker: Picker::new(Order::RoundRobin),
        }
    }

    /// Sessions remembered: at most those that wrote within two windows.
    pub fn remembered(&self) -> usize {
        self.last_write_at.len()
    }

    fn sweep(&mut self, now: Moment) {
        let swept_at = *self.swept_at.get_or_insert(now);
        if now.since(swept_at) >= self.window {
            self.last_write_at
                .retain(|_, at| now.since(*at) < self.window);
            self.swept_at = Some(now);
        }
    }
}

impl Strategy for WriteWindow {
    fn code(&self) -> String {
        format!("write_window_{}ms", self.window.micros() / 1_000)
    }

    fn name(&self) -> Phrase {
        Phrase::new("routing.rule.write_window").with("window", self.window)
    }

    fn promise(&self) -> Promise {
        Promise::WhileLagIsBelow(self.window)
    }

    fn write(&mut self, write: &Write) {
        let last = self.last_write_at.entry(write.session).or_insert(write.at);
        *last = write.at.max(*last);
        self.sweep(write.at);
    }

    fn choose(&mut self, request: &Request, replicas: &[ReplicaView]) -> Decision {
        let age = self
            .last_write_at
            .get(&request.session)
            .map(|at| request.at.since(*at));
        match age {
            Some(age) if age < self.window => Decision::source(Reason::WroteLately {
                age,
                window: self.window,
            }),
            _ => Decision::of_pick(
                self.picker
                    .pick(replicas, |view| view.serves(ReadClass::Ordinary)),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::build::{at_ms, list_at, replica};
    use super::super::super::decision::Go;
    use super::super::super::replica::{Answering, Unfit};
    use super::*;
    use crate::model::server::WatchId;

    fn wrote_at(session: u64, ms: i64) -> Write {
        Write {
            session: SessionKey(session),
            at: at_ms(ms),
            seq: None,
        }
    }

    #[test]
    fn the_window_ends_strictly() {
        for (window, read_at_ms, on_source) in [
            (WriteWindow::ONE_SECOND, 0, true),
            (WriteWindow::ONE_SECOND, 999, true),
            (WriteWindow::ONE_SECOND, 1_000, false),
            (WriteWindow::ONE_SECOND, 1_001, false),
            (WriteWindow::TWO_SECONDS, 1_999, true),
            (WriteWindow::TWO_SECONDS, 2_000, false),
            (WriteWindow::TWO_SECONDS, 2_001, false),
            // A read stamped before the write it follows: nothing of it can be old news.
            (WriteWindow::ONE_SECOND, -5, true),
        ] {
            let mut rule = WriteWindow::new(window);
            rule.write(&wrote_at(1, 0));
            let decision = rule.read(&list_at(read_at_ms), &[replica(1)]);
            let went = if on_source {
                Go::Source
            } else {
                Go::Replica(WatchId(1))
            };
            assert_eq!(decision.go, went, "{window} {read_at_ms} ms");
        }
    }

    #[test]
    fn only_the_writer_pays_and_each_write_begins_anew() {
        let mut rule = WriteWindow::new(WriteWindow::ONE_SECOND);
        rule.write(&wrote_at(2, 0));
        assert_eq!(
            rule.read(&list_at(1), &[replica(1)]).go,
            Go::Replica(WatchId(1))
        );
        rule.write(&wrote_at(1, 0));
        rule.write(&wrote_at(1, 900));
        assert_eq!(rule.read(&list_at(1_899), &[replica(1)]).go, Go::Source);
        assert_eq!(
            rule.read(&list_at(1_900), &[replica(1)]).go,
            Go::Replica(WatchId(1))
        );
    }

    #[test]
    fn t12_sessions_that_stopped_writing_are_forgotten() {
        let mut rule = WriteWindow::new(WriteWindow::ONE_SECOND);
        for session in 0..10_000 {
            rule.write(&wrote_at(
                session,
                i64::try_from(session).expect("small") * 10,
            ));
        }
        assert!(rule.remembered() <= 201, "{}", rule.remembered());
    }

    #[test]
    fn past_the_window_an_unhealthy_replica_is_not_read() {
        let gone = ReplicaView {
            answering: Answering::Unknown,
            ..replica(1)
        };
        assert_eq!(
            WriteWindow::new(WriteWindow::ONE_SECOND).read(&list_at(0), &[gone]),
            Decision::source(Reason::NoFitReplica(Unfit::NotChecked))
        );
    }
}
