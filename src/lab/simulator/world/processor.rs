//! The processors of a server, shared fairly: while there is more to do than there are cores, everything takes longer.
//!
//! Kept as a virtual time that passes as fast as each piece of work gets on. So starting or ending one costs the same
//! however many there are.

use std::collections::BTreeMap;

use crate::model::time::{Moment, Span};

use super::queue::ChannelKey;

/// Whose work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worker {
    Statement,
    /// A report: reads for long, and sorts on the disk.
    Reader,
    Applier {
        channel: ChannelKey,
        worker: usize,
    },
}

/// In thousandths of a microsecond of undisturbed work.
type Virtual = i64;

#[derive(Debug)]
pub(super) struct Processor {
    cores: u32,
    /// By when it ends, then by number.
    going: BTreeMap<(Virtual, u64), Piece>,
    ends: BTreeMap<u64, Virtual>,
    passed: Virtual,
    at: Moment,
    next_number: u64,
    readers: u32,
    /// Told with each [`super::queue::Event::WorkDone`]; another one means it is out of date.
    pub version: u64,
    pub announced: Option<Moment>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    worker: Worker,
    total: Virtual,
}

impl Processor {
    pub fn new(cores: u32, now: Moment) -> Processor {
        Processor {
            cores: cores.max(1),
            going: BTreeMap::new(),
            ends: BTreeMap::new(),
            passed: 0,
            at: now,
            next_number: 0,
            readers: 0,
            version: 0,
            announced: None,
        }
    }

    pub fn set_cores(&mut self, now: Moment, cores: u32) {
        self.pass(now);
        self.cores = cores.max(1);
    }

    pub fn begin(&mut self, now: Moment, worker: Worker, takes: Span) -> u64 {
        self.pass(now);
        self.next_number += 1;
        let number = self.next_number;
        let total = takes.micros().max(1).saturating_mul(1000);
        let end = self.passed.saturating_add(total);
        self.going.insert((end, number), Piece { worker, total });
        self.ends.insert(number, end);
        self.readers += u32::from(worker == Worker::Reader);
        number
    }

    pub fn abandon(&mut self, now: Moment, number: u64) {
        self.pass(now);
        if let Some(end) = self.ends.remove(&number) {
            self.remove(end, number);
        }
    }

    /// What has ended by now, one after the other.
    pub fn take_ended(&mut self, now: Moment) -> Option<(u64, Worker)> {
        self.pass(now);
        let (&(end, number), _) = self.going.first_key_value()?;
        if end > self.passed {
            return None;
        }
        self.ends.remove(&number);
        let worker = self.remove(end, number)?;
        Some((number, worker))
    }

    /// When the first will end if nothing else comes up.
    pub fn next_end(&self) -> Option<Moment> {
        let (&(end, _), _) = self.going.first_key_value()?;
        Some(self.real(end))
    }

    /// How much of it is done, and until when it takes.
    pub fn progress(&self, now: Moment, number: u64) -> Option<(f64, Moment)> {
        let end = *self.ends.get(&number)?;
        let piece = self.going.get(&(end, number))?;
        let left = (end - self.passed_at(now)).max(0);
        let done = 1.0 - left as f64 / piece.total as f64;
        Some((done, self.real(end)))
    }

    pub fn readers(&self) -> u32 {
        self.readers
    }

    pub fn clear(&mut self) {
        self.readers = 0;
        self.going.clear();
        self.ends.clear();
    }

    fn remove(&mut self, end: Virtual, number: u64) -> Option<Worker> {
        let worker = self.going.remove(&(end, number))?.worker;
        self.readers -= u32::from(worker == Worker::Reader);
        Some(worker)
    }

    fn pass(&mut self, now: Moment) {
        self.passed = self.passed_at(now);
        self.at = self.at.max(now);
    }

    fn passed_at(&self, now: Moment) -> Virtual {
        let elapsed = now.since(self.at).micros().max(0);
        let (cores, going) = (i64::from(self.cores), self.going.len() as i64);
        let passed = if going <= cores {
            elapsed.saturating_mul(1000)
        } else {
            elapsed.saturating_mul(1000 * cores) / going
        };
        self.passed.saturating_add(passed)
    }

    fn real(&self, end: Virtual) -> Moment {
        let left = (end - self.passed).max(0);
        let (cores, going) = (i64::from(self.cores), self.going.len() as i64);
        let left = if going <= cores {
            left
        } else {
            left.saturating_mul(going) / cores
        };
        self.at + Span::from_micros(left.div_euclid(1000) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Moment {
        Moment::from_unix_micros(ms * 1000)
    }

    fn ends_at(processor: &mut Processor) -> Vec<(u64, i64)> {
        let mut ends = Vec::new();
        while let Some(end) = processor.next_end() {
            while let Some((number, _)) = processor.take_ended(end) {
                ends.push((number, end.unix_micros() / 1000));
            }
        }
        ends
    }

    #[test]
    fn what_has_a_core_of_its_own_is_not_slowed() {
        let mut processor = Processor::new(2, at(0));
        processor.begin(at(0), Worker::Statement, Span::from_millis(10));
        processor.begin(at(0), Worker::Statement, Span::from_millis(20));
        assert_eq!(ends_at(&mut processor), [(1, 10), (2, 20)]);
    }

    #[test]
    fn more_work_than_cores_takes_longer_for_all() {
        let mut processor = Processor::new(1, at(0));
        processor.begin(at(0), Worker::Statement, Span::from_millis(10));
        processor.begin(at(5), Worker::Statement, Span::from_millis(10));
        // From 5 ms on each gets half: the first has 5 ms left, the second 10.
        assert_eq!(ends_at(&mut processor), [(1, 15), (2, 20)]);
        assert_eq!(processor.going.len(), 0);
    }

    #[test]
    fn progress_is_told_on_the_way() {
        let mut processor = Processor::new(1, at(0));
        let number = processor.begin(at(0), Worker::Statement, Span::from_millis(100));
        let (done, until) = processor.progress(at(25), number).expect("going");
        assert!((done - 0.25).abs() < 0.01);
        assert_eq!(until.unix_micros() / 1000, 100);
    }
}
