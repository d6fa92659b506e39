//! What was done to a topology on purpose, and for how long: the faults of the lab. Plots shade their time, the journal
//! has both their ends.

use std::collections::VecDeque;

use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::ServerId;
use crate::model::time::Moment;

/// So many are remembered of one topology.
const KEPT: usize = 500;

/// One fault from its beginning to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The same in every telling.
    pub id: u64,
    pub server: ServerId,
    /// "link latency 800 ms on replica-1"
    pub label: Phrase,
    pub from: Moment,
    /// None: it still lasts.
    pub until: Option<Moment>,
    /// It has run its course; nobody undid it.
    pub has_passed: bool,
    /// When and why it could not be made, or, while it lasts, not be undone.
    pub failed: Option<(Moment, Phrase)>,
}

impl Episode {
    /// False for one that could not be made.
    pub fn took_place(&self) -> bool {
        self.failed.is_none() || self.until.is_none()
    }
}

/// The episodes of one topology, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct Episodes {
    known: VecDeque<Episode>,
}

/// An end of an episode, for the journal.
pub(super) struct Turn {
    pub at: Moment,
    pub server: ServerId,
    pub text: Phrase,
}

impl Episodes {
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Episode> {
        self.known.iter()
    }

    /// Those that touch a stretch of time.
    pub fn between(&self, from: Moment, to: Moment) -> impl Iterator<Item = &Episode> {
        let touches = move |e: &&Episode| e.from <= to && e.until.is_none_or(|until| until >= from);
        self.known.iter().filter(touches)
    }

    /// Takes in how all of them stand now; answers what has begun or ended since.
    pub(super) fn tell(&mut self, episodes: &[Episode]) -> Vec<Turn> {
        let mut turns = Vec::new();
        for told in episodes {
            let known = self.known.iter_mut().find(|known| known.id == told.id);
            let before = known.as_ref().map(|known| (*known).clone());
            let mut told = told.clone();
            if told.until.is_none() && told.failed.is_none() {
                // It is being undone again: another failure is no news.
                told.failed = before.as_ref().and_then(|before| before.failed.clone());
            }
            turns.extend(turns_of(before.as_ref(), &told));
            match known {
                Some(known) => *known = told,
                None => self.known.push_back(told),
            }
        }
        while self.known.len() > KEPT {
            self.known.pop_front();
        }
        turns.sort_by_key(|turn| turn.at);
        turns
    }
}

fn turns_of(before: Option<&Episode>, told: &Episode) -> Vec<Turn> {
    let turn = |at: Moment, text: Phrase| Turn {
        at,
        server: told.server.clone(),
        text,
    };
    let mut turns = Vec::new();
    if before.is_none() && told.took_place() {
        let text = phrase("lab_screen.journal.begun").with("fault", told.label.clone());
        turns.push(turn(told.from, text));
    }
    let was_over = before.is_some_and(|before| before.until.is_some());
    match (&told.failed, told.until) {
        (Some((at, why)), _) if before.is_none_or(|before| before.failed.is_none()) => {
            let text = phrase("lab_screen.journal.failed")
                .with("fault", told.label.clone())
                .with("why", why.clone());
            turns.push(turn(*at, text));
        }
        (None, Some(until)) if !was_over => {
            let text = phrase(match told.has_passed {
                true => "lab_screen.journal.passed",
                false => "lab_screen.journal.over",
            });
            let text = text.with("fault", told.label.clone());
            turns.push(turn(until, text));
        }
        _ => {}
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Moment {
        Moment::from_unix_micros(secs * 1_000_000)
    }

    fn episode(id: u64, until: Option<i64>) -> Episode {
        Episode {
            id,
            server: ServerId("replica-1".into()),
            label: Phrase::new("a fault"),
            from: at(10),
            until: until.map(at),
            has_passed: false,
            failed: None,
        }
    }

    fn keys(turns: &[Turn]) -> Vec<&str> {
        turns.iter().map(|turn| turn.text.key).collect()
    }

    #[test]
    fn each_end_of_a_fault_is_told_once_however_often_it_is_heard() {
        let mut episodes = Episodes::default();
        let begun = episodes.tell(&[episode(1, None)]);
        assert_eq!(keys(&begun), ["lab_screen.journal.begun"]);
        assert!(episodes.tell(&[episode(1, None)]).is_empty());
        let over = episodes.tell(&[episode(1, Some(20))]);
        assert_eq!(keys(&over), ["lab_screen.journal.over"]);
        assert!(episodes.tell(&[episode(1, Some(20))]).is_empty());
        let passed = Episode {
            has_passed: true,
            ..episode(2, Some(30))
        };
        let passed = episodes.tell(&[passed]);
        assert_eq!(
            keys(&passed),
            ["lab_screen.journal.begun", "lab_screen.journal.passed"]
        );
    }

    #[test]
    fn a_fault_that_was_over_before_it_was_heard_of_has_both_ends() {
        let mut episodes = Episodes::default();
        let turns = episodes.tell(&[episode(1, Some(11))]);
        assert_eq!(
            keys(&turns),
            ["lab_screen.journal.begun", "lab_screen.journal.over"]
        );
    }

    #[test]
    fn a_fault_that_could_not_be_made_never_began() {
        let failed = Episode {
            failed: Some((at(10), Phrase::new("why"))),
            ..episode(1, Some(10))
        };
        let turns = Episodes::default().tell(&[failed]);
        assert_eq!(keys(&turns), ["lab_screen.journal.failed"]);
    }

    #[test]
    fn a_fault_that_cannot_be_undone_is_told_once_and_lasts_until_it_is() {
        let stuck = |failed_at| Episode {
            failed: Some((at(failed_at), Phrase::new("why"))),
            ..episode(1, None)
        };
        let mut episodes = Episodes::default();
        episodes.tell(&[episode(1, None)]);
        let turns = episodes.tell(&[stuck(20)]);
        assert_eq!(keys(&turns), ["lab_screen.journal.failed"]);
        assert_eq!(turns[0].at, at(20));
        let in_hand = episode(1, None);
        assert!(episodes.tell(&[in_hand]).is_empty());
        assert!(episodes.tell(&[stuck(24)]).is_empty());
        assert!(episodes.all().all(Episode::took_place));
        let over = episodes.tell(&[episode(1, Some(30))]);
        assert_eq!(keys(&over), ["lab_screen.journal.over"]);
    }

    #[test]
    fn a_fault_that_lasts_touches_everything_after_its_beginning() {
        let mut episodes = Episodes::default();
        episodes.tell(&[episode(1, None), episode(2, Some(20))]);
        let ids =
            |from, to| -> Vec<u64> { episodes.between(at(from), at(to)).map(|e| e.id).collect() };
        assert_eq!(ids(0, 9), Vec::<u64>::new());
        assert_eq!(ids(15, 30), [1, 2]);
        assert_eq!(ids(21, 30), [1]);
    }
}
