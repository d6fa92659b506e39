//! How the results of a probe are said: signs and words of verdicts, outcomes of waits, exact times.

use crate::model::phrase::phrase;
use crate::model::probe::{Met, Verdict, WaitKind};
use crate::model::time::Span;
use crate::ui::widgets::Sign;
use crate::words::Catalogue;

/// A line with its sign.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedLine {
    pub sign: Sign,
    pub text: String,
}

pub fn verdict_sign(verdict: Verdict) -> Sign {
    match verdict {
        Verdict::Fresh => Sign::Ok,
        Verdict::Old | Verdict::Missing => Sign::Critical,
        Verdict::Failed => Sign::Unknown,
    }
}

pub fn verdict_key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fresh => "probe_screen.verdict.fresh",
        Verdict::Old => "probe_screen.verdict.old",
        Verdict::Missing => "probe_screen.verdict.missing",
        Verdict::Failed => "probe_screen.verdict.failed",
    }
}

pub fn met_sign(met: Met) -> Sign {
    match met {
        Met::Yes => Sign::Ok,
        Met::Limits => Sign::Warning,
        Met::No => Sign::Critical,
        Met::CannotTell => Sign::Unknown,
    }
}

/// How a wait ended, in two or three words.
pub fn outcome_key(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Reached => "probe_screen.wait.reached",
        WaitKind::TimedOut => "probe_screen.wait.timed_out",
        WaitKind::CutShort => "probe_screen.wait.cut_short",
        WaitKind::Killed => "probe_screen.wait.killed",
        WaitKind::NoAnswer => "probe_screen.wait.no_answer",
        WaitKind::Lost => "probe_screen.wait.lost",
        WaitKind::Null => "probe_screen.wait.null",
        WaitKind::OddNumber => "probe_screen.wait.odd_number",
        WaitKind::BadArguments => "probe_screen.wait.bad_arguments",
        WaitKind::Refused => "probe_screen.wait.refused",
        WaitKind::GtidOff => "probe_screen.wait.gtid_off",
        WaitKind::NoGtid => "probe_screen.wait.no_gtid",
        WaitKind::NotRunning => "probe_screen.wait.not_running",
        WaitKind::NoReplica => "probe_screen.wait.no_replica",
        WaitKind::Unreachable => "probe_screen.wait.unreachable",
        WaitKind::ReadFailed => "probe_screen.wait.read_failed",
    }
}

/// To the microsecond.
pub fn exact(words: &Catalogue, span: Span) -> String {
    let millis = format!("{:.3}", span.millis_f64());
    words.say(&phrase("probe_screen.exact").with("n", millis))
}

pub fn session(words: &Catalogue, session: Option<u64>) -> String {
    match session {
        Some(id) => words.say(&phrase("probe_screen.session").with("id", id.to_string())),
        None => words.text("probe_screen.no_session").to_owned(),
    }
}
