//! GTID marks: the delay of the source's executed set on the workstation's own clock.
//!
//! Every mark interval the source's executed set is read at a known instant. A session on the replica waits for each
//! mark's new part. While mark *i* is reached and mark *i+1* is not, the oldest missing transaction was committed
//! between the two, so the lag now is `now − (a point between them)`: it grows live, whatever the replica's threads
//! do. The point is the applying transaction's original commit time where that falls between the marks; else it is
//! interpolated: of n transactions between the marks the replica's set already has k, so the first missing one is
//! expected at (k + 1)/(n + 1) of the way (the mean of that order statistic), which with nothing known is the middle.
//! A mark equal to the one before costs nothing: nothing was written, nothing can be late ("true zero").

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Scene, applier, cause};
use crate::model::event::{Mark, Position, WaitOutcome, Waited};
use crate::model::gtid::Gtids;
use crate::model::lag::{Measurement, Method, Reading};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::{Moment, Span};

/// An unreached mark counts as overdue only so long after it was sent, and the round trips, so that a healthy replica reads as its
/// true small delay and not as half a bracket.
const GRACE: Span = Span::from_millis(8);

/// A commit stamp may lie this far outside its bracket: the offset of the source's clock has an error too.
const STAMP_SLACK: Span = Span::from_millis(20);

/// Rows whose events take noticeably long to write to the binary log.
const ROWS_OF_A_BIG_ONE: u64 = 20_000;

/// Marks without an answer for this long at least before the method falls silent, however short the interval.
/// MySQL 5.7 waits in whole seconds, so its answers are a second apart.
const SILENCE_AT_LEAST: Span = Span::from_millis(1_500);

/// Unreached marks kept; beyond it every second one is merged away, so the bracket widens with the age it measures.
const MARKS_KEPT: usize = 8192;

#[derive(Clone, Debug)]
struct Pending {
    number: u64,
    at: Moment,
    sent_at: Moment,
    bound: Span,
    position: Option<Arc<Position>>,
}

/// Sets of many intervals are not kept with their marks: thousands of those would fill the memory.
fn worth_keeping(position: &Position) -> bool {
    match position {
        Position::Gtids(Gtids::MySql(set)) => set.interval_count() <= 64,
        _ => true,
    }
}

/// The newest mark that was reached.
#[derive(Clone, Debug)]
struct Reached {
    number: u64,
    position: Option<Arc<Position>>,
    marked_at: Moment,
    bound: Span,
    /// When the wait for it returned, less half its round trip.
    seen_at: Moment,
    /// The session really had to wait: `seen_at` is then the instant it became visible, not only an upper limit.
    blocked: bool,
}

/// The marks of one source, as one replica reaches them.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pending: VecDeque<Pending>,
    reached: Option<Reached>,
    last_mark_at: Option<Moment>,
    last_wait_at: Option<Moment>,
    quickest_wait: Option<Span>,
    mark_interval: Span,
    failed: Option<Phrase>,
}

/// Between which two marks the oldest missing transaction was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// Absent while no mark was ever reached: we began to watch a replica that was already late.
    pub from: Option<Moment>,
    pub to: Moment,
    /// Error of the two instants themselves.
    pub bound: Span,
}

impl Ledger {
    pub fn new(mark_interval: Span) -> Self {
        Ledger {
            mark_interval,
            ..Ledger::default()
        }
    }

    /// The source's position was read.
    pub fn marked(&mut self, mark: &Mark) {
        self.last_mark_at = Some(mark.answered_at);
        self.pending.push_back(Pending {
            number: mark.number,
            at: mark.taken_at(),
            sent_at: mark.sent_at,
            bound: mark.bound(),
            position: worth_keeping(&mark.position).then(|| mark.position.clone()),
        });
        if self.pending.len() > MARKS_KEPT {
            let mut keep = false;
            self.pending.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }

    /// The replica's waiting session answered.
    pub fn waited(&mut self, waited: &Waited) {
        match &waited.outcome {
            WaitOutcome::Reached | WaitOutcome::Found | WaitOutcome::Equal => self.reach(waited),
            WaitOutcome::TimedOut => {}
            WaitOutcome::Failed(trouble) => {
                self.failed = Some(trouble.what.clone());
                return;
            }
        }
        self.failed = None;
        self.last_wait_at = Some(waited.answered_at);
    }

    fn reach(&mut self, waited: &Waited) {
        let mut newest = None;
        while self
            .pending
            .front()
            .is_some_and(|mark| mark.number <= waited.mark)
        {
            newest = self.pending.pop_front();
        }
        let Some(mark) = newest else { return };
        let took = waited.answered_at.since(waited.asked_at);
        let asked_server = waited.outcome == WaitOutcome::Reached;
        if asked_server {
            self.quickest_wait = Some(
                self.quickest_wait
                    .map_or(took, |quickest| quickest.min(took)),
            );
        }
        let round_trip = self.quickest_wait.unwrap_or(Span::ZERO);
        self.reached = Some(Reached {
            number: mark.number,
            position: mark.position,
            marked_at: mark.at,
            bound: mark.bound + round_trip.half(),
            seen_at: waited.answered_at - round_trip.half(),
            blocked: asked_server && took > round_trip.times(2) + Span::from_millis(1),
        });
    }

    /// The waiting session broke; until it answers again the marks say nothing.
    pub fn wait_failed(&mut self, why: Phrase) {
        self.failed = Some(why);
    }

    /// Marks not reached yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The number of the newest mark reached.
    pub fn reached_number(&self) -> Option<u64> {
        self.reached.as_ref().map(|reached| reached.number)
    }

    /// The bracket of the oldest missing transaction, when a mark is overdue.
    pub fn bracket(&self, now: Moment) -> Option<Bracket> {
        let next = self.pending.front()?;
        let round_trip = self.quickest_wait.unwrap_or(Span::ZERO);
        let overdue = now.since(next.sent_at) > next.bound + round_trip + GRACE;
        overdue.then(|| Bracket {
            from: self.reached.as_ref().map(|reached| reached.marked_at),
            to: next.at,
            bound: next.bound + round_trip.half(),
        })
    }

    /// How far into the bracket the first missing transaction is expected, 0…1, when the replica's set tells.
    fn progress(&self, applied: &Gtids) -> Option<f64> {
        let Position::Gtids(from) = self.reached.as_ref()?.position.as_deref()? else {
            return None;
        };
        let Position::Gtids(to) = self.pending.front()?.position.as_deref()? else {
            return None;
        };
        // A sample older than the newest reached mark says nothing about what comes after it.
        if !applied.contains(from) {
            return None;
        }
        let all = to.missing_from(from)?;
        let missing = to.missing_from(applied)?;
        let there = all.checked_sub(missing)?;
        Some((there as f64 + 1.0) / (all as f64 + 1.0))
    }

    fn silence_limit(&self) -> Span {
        self.mark_interval.times(3).max(SILENCE_AT_LEAST)
    }

    /// Why nothing can be read off the marks now.
    fn silent(&self, now: Moment) -> Option<Phrase> {
        let Some(last_mark) = self.last_mark_at else {
            return Some(phrase("lag.why.no_mark_yet"));
        };
        if let Some(why) = &self.failed {
            return Some(phrase("lag.why.wait_failed").with("why", why.clone()));
        }
        if now.since(last_mark) > self.silence_limit() {
            return Some(phrase("lag.why.source_silent").with("for", now.since(last_mark)));
        }
        match self.last_wait_at {
            None => Some(phrase("lag.why.no_wait_yet")),
            // A wait for an overdue mark answers several times a second; silence means that the replica hangs.
            Some(last) if now.since(last) > self.silence_limit() => {
                Some(phrase("lag.why.wait_silent").with("for", now.since(last)))
            }
            Some(_) => None,
        }
    }
}

/// The reading of this method.
pub fn read(scene: &Scene<'_>) -> Reading {
    let Some(ledger) = scene.ledger else {
        let why = scene
            .source_missing
            .clone()
            .unwrap_or_else(|| phrase("lag.why.no_mark_yet"));
        return Reading::unknown(why);
    };
    if let Some(why) = ledger.silent(scene.now) {
        return Reading::unknown(why);
    }
    let raw = match ledger.bracket(scene.now) {
        Some(bracket) => overdue(scene, bracket),
        None => on_time(scene.now, ledger),
    };
    match raw {
        Ok((lag, bound)) => Reading::Measured(Measurement {
            value: (lag - scene.channel.planned_delay).or_zero(),
            bound: Some(bound),
            method: Method::GtidMarks,
            taken_at: scene.now,
        }),
        Err(why) => Reading::unknown(why),
    }
}

fn overdue(scene: &Scene<'_>, bracket: Bracket) -> Result<(Span, Span), Phrase> {
    let Some(from) = bracket.from else {
        let at_least = scene.now.since(bracket.to);
        return Err(phrase("lag.why.late_before_watched").with("at_least", at_least));
    };
    let width = bracket.to.since(from);
    let stamp = applier::oldest_commit_on_our_clock(scene)
        .filter(|stamp| *stamp >= from - STAMP_SLACK && *stamp <= bracket.to + STAMP_SLACK);
    if let Some(commit) = stamp {
        return Ok(since_stamp(scene, bracket, commit.max(from)));
    }
    let gtid = &scene.replica.sample.gtid;
    let applied = gtid.applied.as_ref().or(gtid.executed.as_ref());
    let progress = applied
        .zip(scene.ledger)
        .and_then(|(applied, ledger)| ledger.progress(applied))
        .unwrap_or(0.5);
    let point = from + Span::from_secs_f64(width.secs_f64() * progress);
    let bound = Span::from_secs_f64(width.secs_f64() * progress.max(1.0 - progress));
    Ok((scene.now.since(point), bound + bracket.bound))
}

/// The stamp is taken before the transaction is written to the binary log, and nobody sees it before that is done.
/// For a small one that is the same instant; a big one became visible somewhere between its stamp and the next mark.
fn since_stamp(scene: &Scene<'_>, bracket: Bracket, commit: Moment) -> (Span, Span) {
    let bound = clock_bound(scene) + bracket.bound;
    let rows = cause::biggest_applied(scene).and_then(|transaction| transaction.rows_modified);
    if rows.is_none_or(|rows| rows < ROWS_OF_A_BIG_ONE) {
        return (scene.now.since(commit), bound);
    }
    let half = bracket.to.since(commit).or_zero().half();
    (scene.now.since(commit + half), half + bound)
}

fn clock_bound(scene: &Scene<'_>) -> Span {
    scene
        .source
        .and_then(|source| source.clock)
        .map_or(STAMP_SLACK, |clock| clock.bound)
}

/// Nothing is overdue: the lag is what the newest mark took, 0 when it had arrived before we asked.
fn on_time(now: Moment, ledger: &Ledger) -> Result<(Span, Span), Phrase> {
    let Some(reached) = &ledger.reached else {
        return Err(phrase("lag.why.no_wait_yet"));
    };
    let newest_needed = now.since(reached.marked_at).min(ledger.mark_interval);
    let took = reached.seen_at.since(reached.marked_at).or_zero();
    let lag = if reached.blocked { took } else { Span::ZERO };
    // A reader may miss what was committed since the last mark, but no more than the delay just seen.
    let bound = if reached.blocked {
        reached.bound
    } else {
        took.min(newest_needed)
    } + reached.bound;
    Ok((lag, bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::replication::Coordinates;
    use crate::model::server::WatchId;

    fn at(millis: i64) -> Moment {
        Moment::from_unix_micros(millis * 1_000)
    }

    fn mark(number: u64, millis: i64) -> Mark {
        let position = Position::Coordinates(Coordinates {
            file: "binlog.000001".into(),
            position: number,
        });
        Mark {
            number,
            asked_at: at(millis),
            answered_at: at(millis),
            sent_at: at(millis),
            position: Arc::new(position),
            clock: None,
        }
    }

    fn waited(mark: u64, asked: i64, answered: i64, outcome: WaitOutcome) -> Waited {
        Waited {
            source: WatchId(1),
            mark,
            asked_at: at(asked),
            answered_at: at(answered),
            outcome,
        }
    }

    fn watched() -> Ledger {
        let mut ledger = Ledger::new(Span::from_millis(100));
        ledger.marked(&mark(1, 0));
        ledger.waited(&waited(1, 1, 1, WaitOutcome::Reached));
        ledger
    }

    #[test]
    fn an_overdue_mark_brackets_the_oldest_missing_transaction() {
        let mut ledger = watched();
        ledger.marked(&mark(2, 100));
        ledger.waited(&waited(2, 101, 301, WaitOutcome::TimedOut));
        let bracket = ledger.bracket(at(1_100)).unwrap();
        assert_eq!((bracket.from, bracket.to), (Some(at(0)), at(100)));
    }

    #[test]
    fn what_the_replica_has_of_a_bracket_moves_the_point_in_it() {
        let set = |last: u64| {
            let text = format!("00000001-aaaa-11f0-8000-000000000000:1-{last}");
            Gtids::parse(&text, crate::model::server::Flavour::MySql).unwrap()
        };
        let gtid_mark = |number, millis, last| Mark {
            position: Arc::new(Position::Gtids(set(last))),
            ..mark(number, millis)
        };
        let mut ledger = Ledger::new(Span::from_millis(100));
        ledger.marked(&gtid_mark(1, 0, 100));
        ledger.waited(&waited(1, 1, 1, WaitOutcome::Reached));
        ledger.marked(&gtid_mark(2, 100, 109));
        assert_eq!(ledger.progress(&set(100)), Some(0.1), "nothing of nine");
        assert_eq!(ledger.progress(&set(108)), Some(0.9), "all but one");
        assert_eq!(
            ledger.progress(&set(99)),
            None,
            "a sample from before the mark"
        );
    }

    #[test]
    fn a_mark_on_its_way_is_not_overdue() {
        let mut ledger = watched();
        ledger.marked(&mark(2, 100));
        assert_eq!(ledger.bracket(at(105)), None);
    }

    #[test]
    fn a_mark_sent_late_by_a_slow_poll_is_not_overdue_either() {
        let mut ledger = watched();
        ledger.marked(&Mark {
            sent_at: at(140),
            ..mark(2, 100)
        });
        assert_eq!(ledger.bracket(at(145)), None);
        assert!(ledger.bracket(at(160)).is_some());
    }

    #[test]
    fn equal_marks_are_reached_without_asking() {
        let mut ledger = watched();
        ledger.marked(&mark(2, 100));
        ledger.waited(&waited(2, 101, 101, WaitOutcome::Equal));
        assert_eq!((ledger.pending(), ledger.reached_number()), (0, Some(2)));
        assert_eq!(on_time(at(150), &ledger).unwrap().0, Span::ZERO);
    }

    #[test]
    fn a_wait_that_blocked_shows_the_true_small_delay() {
        let mut ledger = watched();
        ledger.marked(&mark(2, 100));
        ledger.waited(&waited(2, 100, 130, WaitOutcome::Reached));
        assert_eq!(on_time(at(140), &ledger).unwrap().0, Span::from_millis(30));
    }

    #[test]
    fn a_mark_found_applied_late_is_not_a_delay() {
        let mut ledger = Ledger::new(Span::from_millis(100));
        ledger.marked(&mark(1, 0));
        ledger.waited(&waited(1, 200, 201, WaitOutcome::Reached));
        ledger.marked(&mark(2, 210));
        ledger.waited(&waited(2, 430, 440, WaitOutcome::Found));
        assert_eq!(on_time(at(441), &ledger).unwrap().0, Span::ZERO);
    }

    #[test]
    fn a_failed_wait_is_not_a_reached_mark() {
        let mut ledger = watched();
        ledger.marked(&mark(2, 100));
        ledger.wait_failed(phrase("trouble.lost"));
        assert!(ledger.silent(at(120)).is_some());
        assert_eq!(ledger.reached_number(), Some(1));
    }

    #[test]
    fn a_silent_source_makes_the_marks_silent_and_not_zero() {
        let ledger = watched();
        assert_eq!(ledger.silent(at(500)), None);
        let why = ledger.silent(at(3_000)).unwrap();
        assert_eq!(why.key, "lag.why.source_silent");
    }

    #[test]
    fn a_long_wait_keeps_memory_bounded() {
        let mut ledger = watched();
        for n in 2..40_000 {
            ledger.marked(&mark(n, n as i64 * 100));
        }
        assert!(ledger.pending() <= MARKS_KEPT);
        assert_eq!(
            ledger.bracket(at(4_000_000)).unwrap().to,
            at(200),
            "the oldest stays"
        );
    }
}
