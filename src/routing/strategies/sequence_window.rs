//! The numbers of the rows a session wrote in the last two seconds; a read that reaches one of them is on the source.
//!
//! Finer than the window after a write: scrolling back through old messages stays on a replica even right after
//! sending one.

use std::collections::{HashMap, VecDeque};

use crate::model::phrase::Phrase;
use crate::model::time::{Moment, Span};

use super::super::decision::{Decision, Reason};
use super::super::pick::{Order, Picker};
use super::super::replica::{ReadClass, ReplicaView};
use super::super::request::{Request, Seq, SessionKey, Write};
use super::super::strategy::{Promise, Strategy};

/// So many rows of a session are remembered one by one; beyond that the oldest two are kept as one, for longer.
const ROWS_PER_SESSION: usize = 256;

#[derive(Clone, Debug)]
pub struct SequenceWindow {
    window: Span,
    late_rows: HashMap<SessionKey, VecDeque<(Seq, Moment)>>,
    swept_at: Option<Moment>,
    picker: Picker,
}

impl SequenceWindow {
    pub const TWO_SECONDS: Span = Span::from_secs(2);

    pub fn new(window: Span) -> Self {
        SequenceWindow {
            window,
            late_rows: HashMap::new(),
            swept_at: None,
            picker: Picker::new(Order::RoundRobin),
        }
    }

    /// The lowest number the session wrote within the window. A read beyond the highest is no safer: it asks for
    /// rows that this session has not even seen.
    fn lowest_late(&self, session: SessionKey, now: Moment) -> Option<Seq> {
        let rows = self.late_rows.get(&session)?;
        rows.iter()
            .filter(|(_, at)| now.since(*at) < self.window)
            .map(|(seq, _)| *seq)
            .min()
    }

    fn sweep(&mut self, now: Moment) {
        let swept_at = *self.swept_at.get_or_insert(now);
        if now.since(swept_at) < self.window {
            return;
        }
        let window = self.window;
        self.late_rows.retain(|_, rows| {
            rows.retain(|(_, at)| now.since(*at) < window);
            !rows.is_empty()
        });
        self.swept_at = Some(now);
    }
}

fn remember(rows: &mut VecDeque<(Seq, Moment)>, seq: Seq, at: Moment) {
    if rows.len() >= ROWS_PER_SESSION
        && let Some((oldest, _)) = rows.pop_front()
        && let Some((second, _)) = rows.front_mut()
    {
        *second = oldest.min(*second);
    }
    rows.push_back((seq, at));
}

impl Strategy for SequenceWindow {
    fn code(&self) -> String {
        format!("sequence_window_{}ms", self.window.micros() / 1_000)
    }

    fn name(&self) -> Phrase {
        Phrase::new("routing.rule.sequence_window").with("window", self.window)
    }

    fn promise(&self) -> Promise {
        Promise::WhileLagIsBelow(self.window)
    }

    /// A write without a number may be any row, so every read of the window reaches it.
    fn write(&mut self, write: &Write) {
        let rows = self.late_rows.entry(write.session).or_default();
        remember(rows, write.seq.unwrap_or(Seq(0)), write.at);
        self.sweep(write.at);
    }

    fn choose(&mut self, request: &Request, replicas: &[ReplicaView]) -> Decision {
        let reaches = |lowest: Seq| request.reads_to.is_none_or(|reads_to| reads_to >= lowest);
        match self.lowest_late(request.session, request.at) {
            Some(lowest) if reaches(lowest) => Decision::source(Reason::ReadsLateRows),
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
    use super::*;

    fn sent(seq: u64, ms: i64) -> Write {
        Write {
            session: SessionKey(1),
            at: at_ms(ms),
            seq: Some(Seq(seq)),
        }
    }

    #[test]
    fn only_reads_that_reach_late_rows_are_on_the_source() {
        let mut rule = SequenceWindow::new(SequenceWindow::TWO_SECONDS);
        rule.write(&sent(100, 0));
        rule.write(&sent(105, 500));
        for (reads_to, at_ms, on_source) in [
            (Some(99), 600, false),
            (Some(100), 600, true),
            (Some(103), 600, true),
            (Some(105), 600, true),
            (Some(106), 600, true),
            (None, 600, true),
            // 100 leaves the window at 2000, 105 at 2500.
            (Some(100), 1_999, true),
            (Some(100), 2_000, false),
            (Some(105), 2_499, true),
            (Some(105), 2_500, false),
            (None, 2_500, false),
        ] {
            let request = Request {
                reads_to: reads_to.map(Seq),
                ..list_at(at_ms)
            };
            let went = rule.read(&request, &[replica(1)]).go;
            assert_eq!(went == Go::Source, on_source, "{reads_to:?} at {at_ms}");
        }
    }

    #[test]
    fn a_write_without_a_number_is_reached_by_every_read() {
        let mut rule = SequenceWindow::new(SequenceWindow::TWO_SECONDS);
        rule.write(&Write {
            seq: None,
            ..sent(0, 0)
        });
        let request = Request {
            reads_to: Some(Seq(1)),
            ..list_at(10)
        };
        assert_eq!(rule.read(&request, &[replica(1)]).go, Go::Source);
    }

    #[test]
    fn a_flood_of_rows_keeps_memory_bounded_and_the_oldest_row_covered() {
        let mut rule = SequenceWindow::new(SequenceWindow::TWO_SECONDS);
        for seq in 1..=10_000 {
            rule.write(&sent(seq, 0));
        }
        let rows = &rule.late_rows[&SessionKey(1)];
        assert_eq!(rows.len(), ROWS_PER_SESSION);
        assert_eq!(rule.lowest_late(SessionKey(1), at_ms(1)), Some(Seq(1)));
    }
}
