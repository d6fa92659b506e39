//! What holds over time: findings raised, changed and cleared, without flutter.
//!
//! A judgement that needs patience counts polls, not calls: judging the same poll twice, because a frame was drawn in
//! between, proves nothing new. A finding is raised when so many polls in a row say so and cleared when as many say
//! that not even its lowered limit is reached. When a rule can no longer tell, its finding is withdrawn, not cleared:
//! nobody knows whether it got better; when it can tell again, a finding that still holds comes back at once.

use std::collections::BTreeMap;

use super::judgement::{Judgement, Patience};
use super::rules::rank;
use crate::model::finding::{Finding, Severity, Subject, Verdict};
use crate::model::phrase::Phrase;
use crate::model::time::Moment;

/// The state of all findings of one topology.
#[derive(Clone, Debug, Default)]
pub struct Book {
    entries: BTreeMap<(&'static str, Subject), Entry>,
    /// Counts the updates, to tell what was judged in the last one.
    update: u64,
}

/// Something to write into the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Raised(Finding),
    /// It holds on, better or worse.
    Graver(Finding),
    Milder(Finding),
    Cleared {
        code: &'static str,
        subject: Subject,
    },
    /// It held when it could last be judged.
    Obscured {
        code: &'static str,
        subject: Subject,
        why: Phrase,
    },
}

/// What a rule could not tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unknown<'a> {
    pub code: &'static str,
    pub subject: &'a Subject,
    pub why: &'a Phrase,
}

/// One rule on one subject.
#[derive(Clone, Debug, Default)]
struct Entry {
    held: Option<Held>,
    obscured_by: Option<Phrase>,
    /// Polls in a row that want another state than the present one.
    streak: Option<Streak>,
    last_poll: Option<Moment>,
    judged_in: u64,
}

#[derive(Clone, Debug)]
struct Held {
    finding: Finding,
    since: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Streak {
    wants: Option<Severity>,
    polls: u32,
}

impl Book {
    /// Takes in what all rules say now. Subjects that are judged no more are cleared.
    pub fn update(&mut self, judgements: &[Judgement], now: Moment) -> Vec<Change> {
        self.update += 1;
        let this_update = self.update;
        let mut changes = Vec::new();
        for judgement in judgements {
            let key = (judgement.code, judgement.subject.clone());
            let entry = self.entries.entry(key).or_default();
            entry.judged_in = this_update;
            changes.extend(entry.take(judgement, now));
        }
        self.entries.retain(|(code, subject), entry| {
            let stays = entry.judged_in == this_update;
            if !stays && entry.held.is_some() {
                changes.push(cleared(code, subject));
            }
            stays
        });
        changes
    }

    /// What holds now, the gravest first, then in the order of the rules. What is obscured is not among it.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self
            .entries
            .values()
            .filter(|entry| entry.obscured_by.is_none())
            .filter_map(|entry| Some(entry.held.as_ref()?.finding.clone()))
            .collect();
        sort(&mut findings);
        findings
    }

    /// Since when a finding holds.
    pub fn since(&self, code: &'static str, subject: &Subject) -> Option<Moment> {
        let entry = self.entries.get(&(code, subject.clone()))?;
        entry.held.as_ref().map(|held| held.since)
    }

    /// What could not be told at the last judgement: drawn grey, never green.
    pub fn unknowns(&self) -> impl Iterator<Item = Unknown<'_>> {
        self.entries.iter().filter_map(|((code, subject), entry)| {
            let why = entry.obscured_by.as_ref()?;
            Some(Unknown { code, subject, why })
        })
    }
}

/// The gravest first; within a severity by rule, then by subject.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| (std::cmp::Reverse(finding.severity), rank(finding.code));
        key(a).cmp(&key(b)).then_with(|| a.subject.cmp(&b.subject))
    });
}

fn cleared(code: &'static str, subject: &Subject) -> Change {
    Change::Cleared {
        code,
        subject: subject.clone(),
    }
}

impl Entry {
    fn take(&mut self, judgement: &Judgement, now: Moment) -> Option<Change> {
        let raise = match &judgement.verdict {
            Verdict::CannotTell { why } => return self.obscure(judgement, why),
            Verdict::Raise(finding) => Some(finding),
            Verdict::Fine => None,
        };
        let (still, figures, needed) = match &judgement.patience {
            Patience::AtOnce => (raise, None, 1),
            Patience::Polls {
                needed,
                still,
                figures,
            } => (still.as_deref().or(raise), figures.as_deref(), *needed),
        };
        let returns = self.obscured_by.take().is_some() && self.held.is_some();
        let target = self.target(raise, still);
        let wants = target.as_ref().map(|finding| finding.severity);
        if wants == self.held.as_ref().map(|held| held.finding.severity) {
            self.streak = None;
            self.last_poll = judgement.polled_at;
            return self.refresh(target, returns);
        }
        let patient = matches!(judgement.patience, Patience::Polls { .. });
        // What was in the dark and is fine now is not brought back for patience's sake.
        let gone = returns && wants.is_none();
        if patient && !gone && !self.count(wants, judgement.polled_at, needed) {
            return self.refresh(
                self.as_grave_as_before(raise.or(still).or(figures)),
                returns,
            );
        }
        self.streak = None;
        self.change_to(target, judgement, now)
    }

    /// What the entry should hold: what is raised; or, by hysteresis, what it holds, as long as the lowered limit is
    /// reached.
    fn target(&self, raise: Option<&Finding>, still: Option<&Finding>) -> Option<Finding> {
        let Some(held) = &self.held else {
            return raise.cloned();
        };
        let severity = held.finding.severity;
        match (raise, still) {
            (Some(raise), _) if raise.severity >= severity => Some(raise.clone()),
            (_, Some(still)) if still.severity >= severity => Some(Finding {
                severity,
                ..still.clone()
            }),
            (raise, still) => raise.or(still).cloned(),
        }
    }

    /// Newer figures for a finding whose change of severity is not decided yet.
    fn as_grave_as_before(&self, newer: Option<&Finding>) -> Option<Finding> {
        let held = self.held.as_ref()?;
        let newer = newer.unwrap_or(&held.finding);
        Some(Finding {
            severity: held.finding.severity,
            ..newer.clone()
        })
    }

    /// Counts this poll towards another state; true when there are enough of them.
    fn count(&mut self, wants: Option<Severity>, polled_at: Option<Moment>, needed: u32) -> bool {
        let same_poll = polled_at.is_some() && self.last_poll == polled_at;
        self.last_poll = polled_at;
        let before = match self.streak {
            Some(streak) if streak.wants == wants || same_poll => streak.polls,
            _ => 0,
        };
        let polls = before + u32::from(!same_poll || before == 0);
        self.streak = Some(Streak { wants, polls });
        polls >= needed
    }

    fn obscure(&mut self, judgement: &Judgement, why: &Phrase) -> Option<Change> {
        let was_seen = self.obscured_by.replace(why.clone()).is_none();
        self.streak = None;
        (was_seen && self.held.is_some()).then(|| Change::Obscured {
            code: judgement.code,
            subject: judgement.subject.clone(),
            why: why.clone(),
        })
    }

    /// The same finding with newer figures; said again only when it comes back out of the dark.
    fn refresh(&mut self, finding: Option<Finding>, returns: bool) -> Option<Change> {
        let (held, finding) = (self.held.as_mut()?, finding?);
        held.finding = finding.clone();
        returns.then_some(Change::Raised(finding))
    }

    fn change_to(
        &mut self,
        finding: Option<Finding>,
        judgement: &Judgement,
        now: Moment,
    ) -> Option<Change> {
        let before = self.held.take();
        let Some(finding) = finding else {
            return before.map(|_| cleared(judgement.code, &judgement.subject));
        };
        let since = before.as_ref().map_or(now, |held| held.since);
        self.held = Some(Held {
            finding: finding.clone(),
            since,
        });
        Some(match before {
            None => Change::Raised(finding),
            Some(held) if finding.severity > held.finding.severity => Change::Graver(finding),
            Some(_) => Change::Milder(finding),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::health::rules::{applier_stopped, lag_over_threshold};
    use crate::model::phrase::phrase;
    use crate::model::replication::ThreadState;
    use crate::model::time::Span;

    /// Feeds lags of one poll a second and tells what changed at each.
    fn told(lags_ms: &[i64]) -> Vec<&'static str> {
        let mut book = Book::default();
        let told = |(second, lag): (usize, &i64)| {
            let at = NOW + Span::from_secs(second as i64);
            words(&book.update(&lag_judgements(*lag, at), at))
        };
        lags_ms.iter().enumerate().map(told).collect()
    }

    fn lag_judgements(lag_ms: i64, at: Moment) -> Vec<Judgement> {
        let mut town = source_and_replica();
        town.replica().sample().answered_at = at;
        match lag_ms {
            -1 => town.about_channel().lag = unknown_lag(phrase("test.unknown")),
            lag => town.late_by(Span::from_millis(lag)),
        }
        lag_over_threshold::RULE.judge(&town.facts())
    }

    fn words(changes: &[Change]) -> &'static str {
        match changes {
            [] => "",
            [Change::Raised(finding)] if finding.severity == Severity::Critical => "critical",
            [Change::Raised(_)] => "raised",
            [Change::Graver(_)] => "graver",
            [Change::Milder(_)] => "milder",
            [Change::Cleared { .. }] => "cleared",
            [Change::Obscured { .. }] => "obscured",
            many => panic!("{many:?}"),
        }
    }

    #[test]
    fn one_late_poll_is_no_finding_two_in_a_row_are() {
        assert_eq!(told(&[4_000, 10, 4_000, 10]), ["", "", "", ""]);
        assert_eq!(told(&[4_000, 4_000, 4_000]), ["", "raised", ""]);
        assert_eq!(told(&[40_000, 40_000]), ["", "critical"]);
    }

    #[test]
    fn a_raised_lag_is_cleared_only_below_its_share_and_after_as_many_polls() {
        // 80 % of 3 s is 2.4 s.
        assert_eq!(
            told(&[4_000, 4_000, 2_500, 2_500, 2_500, 2_300, 2_300]),
            ["", "raised", "", "", "", "", "cleared"]
        );
        assert_eq!(
            told(&[4_000, 4_000, 2_300, 2_500, 2_300, 2_300]),
            ["", "raised", "", "", "", "cleared"]
        );
    }

    #[test]
    fn a_finding_on_its_way_out_shows_todays_figure() {
        let mut book = Book::default();
        for (second, lag) in [4_000, 4_000, 10].into_iter().enumerate() {
            let at = NOW + Span::from_secs(second as i64);
            book.update(&lag_judgements(lag, at), at);
        }
        let lag = book.findings()[0].text.arg("lag").cloned();
        assert_eq!(lag, Some(Span::from_millis(10).into()));
    }

    #[test]
    fn a_lag_gets_graver_and_milder_with_the_same_patience() {
        // 80 % of 10 s is 8 s.
        assert_eq!(
            told(&[
                4_000, 4_000, 11_000, 11_000, 9_000, 9_000, 7_000, 7_000, 10, 10
            ]),
            [
                "", "raised", "", "graver", "", "", "", "milder", "", "cleared"
            ]
        );
    }

    #[test]
    fn a_lag_that_can_no_longer_be_told_is_withdrawn_and_not_called_cleared() {
        assert_eq!(
            told(&[4_000, 4_000, -1, -1, 4_000]),
            ["", "raised", "obscured", "", "raised"]
        );
        assert_eq!(
            told(&[4_000, 4_000, -1, 10, 10]),
            ["", "raised", "obscured", "cleared", ""],
            "what was last seen long ago is not brought back"
        );
    }

    #[test]
    fn drawing_twice_does_not_count_twice() {
        let mut book = Book::default();
        let again = NOW + Span::from_millis(16);
        assert_eq!(book.update(&lag_judgements(4_000, NOW), NOW), []);
        assert_eq!(book.update(&lag_judgements(4_000, NOW), again), []);
        assert_eq!(book.update(&lag_judgements(4_000, NOW), again), []);
        assert_eq!(
            words(&book.update(&lag_judgements(4_000, again), again)),
            "raised"
        );
    }

    #[test]
    fn a_stopped_thread_is_raised_and_cleared_at_once() {
        let mut book = Book::default();
        let mut town = source_and_replica();
        town.channel().applier = ThreadState::Stopped;
        let judged = |town: &Town| applier_stopped::RULE.judge(&town.facts());
        assert_eq!(words(&book.update(&judged(&town), NOW)), "critical");
        assert_eq!(book.findings().len(), 1);
        town.channel().applier = ThreadState::Running;
        assert_eq!(words(&book.update(&judged(&town), NOW)), "cleared");
        assert_eq!(book.findings(), []);
    }

    #[test]
    fn what_is_judged_no_more_is_cleared() {
        let mut book = Book::default();
        let mut town = source_and_replica();
        town.channel().applier = ThreadState::Stopped;
        book.update(&applier_stopped::RULE.judge(&town.facts()), NOW);
        assert_eq!(words(&book.update(&[], NOW)), "cleared");
    }

    #[test]
    fn what_cannot_be_told_is_listed_with_its_reason() {
        let mut book = Book::default();
        book.update(&lag_judgements(-1, NOW), NOW);
        let keys: Vec<_> = book.unknowns().map(|unknown| unknown.why.key).collect();
        assert_eq!(keys, ["test.unknown"]);
    }
}
