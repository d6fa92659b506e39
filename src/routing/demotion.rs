//! May connections to the source be lent? After a switch, a pooled connection still leads to yesterday's source
//! (R44); and a source can come back read-only (R45).
//!
//! Every connection carries the generation in which its role was read. A demoted or replaced source starts a new
//! generation, so that its old connections are never lent again, whatever it becomes later.

use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::is_read_only;
use crate::model::sample::Identity;
use crate::model::time::{Moment, Span};

/// What a server says of its role. Its own replication lag has no say: a writable source whose channel to a dead
/// replica says NULL is still the write target (R45).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleSeen {
    pub read_only: Option<bool>,
    /// MariaDB has none.
    pub super_read_only: Option<bool>,
    /// `server_uuid`, or the server id where there is none.
    pub identity: Option<String>,
    /// Whether it applies another server's changes; `None`: not looked at, or not told.
    pub follows: Option<bool>,
}

impl RoleSeen {
    /// Aurora's `innodb_read_only` counts like `read_only`.
    pub fn of(who: &Identity, follows: Option<bool>) -> Self {
        let id = || who.server_id.map(|id| id.to_string());
        RoleSeen {
            read_only: match is_read_only(who) {
                true => Some(true),
                false => who.read_only,
            },
            super_read_only: who.super_read_only,
            identity: who.server_uuid.clone().or_else(id),
            follows,
        }
    }

    fn takes_writes(&self) -> Option<bool> {
        match (self.read_only, self.super_read_only) {
            (_, Some(true)) | (Some(true), _) => Some(false),
            (Some(false), _) => Some(true),
            (None, _) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lending {
    Lend,
    Stop(WhyNot),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// Nobody has read its role yet, or it did not say.
    RoleUnknown,
    /// It is read-only.
    ReadOnly,
    /// It has begun to follow another server.
    Demoted,
    Unreachable,
}

impl WhyNot {
    pub fn phrase(self) -> Phrase {
        match self {
            WhyNot::RoleUnknown => phrase("routing.lending.role_unknown"),
            WhyNot::ReadOnly => phrase("routing.lending.read_only"),
            WhyNot::Demoted => phrase("routing.lending.demoted"),
            WhyNot::Unreachable => phrase("routing.lending.unreachable"),
        }
    }
}

/// The run of time in which a connection's role was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(u64);

impl Generation {
    /// From 1, as a person counts.
    pub fn number(self) -> u64 {
        self.0 + 1
    }
}

/// Between write attempts at a source that does not take writes.
pub const ATTEMPT_EVERY: Span = Span::from_secs(5);

/// What became of the lending, for the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    pub at: Moment,
    pub to: Lending,
    /// Connections from before are never lent again.
    pub new_generation: bool,
}

impl Changed {
    pub fn phrase(self) -> Phrase {
        match (self.to, self.new_generation) {
            (Lending::Stop(why), _) => phrase("routing.lending.stopped").with("why", why.phrase()),
            (Lending::Lend, true) => phrase("routing.lending.another_server"),
            (Lending::Lend, false) => phrase("routing.lending.again"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct SourceLending {
    lending: Lending,
    generation: Generation,
    /// When the generation before it ended.
    renewed_at: Option<Moment>,
    identity: Option<String>,
    /// Whether it followed somebody when we first saw it: a source in a ring does, and is none the less the source.
    followed_at_first: Option<bool>,
    was_read: bool,
    attempted_at: Option<Moment>,
}

impl Default for SourceLending {
    fn default() -> Self {
        SourceLending {
            lending: Lending::Stop(WhyNot::RoleUnknown),
            generation: Generation(0),
            renewed_at: None,
            identity: None,
            followed_at_first: None,
            was_read: false,
            attempted_at: None,
        }
    }
}

impl SourceLending {
    pub fn lending(&self) -> Lending {
        self.lending
    }

    /// To be kept with every connection whose role is read now.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// When connections were last made old; `None`: never so far.
    pub fn renewed_at(&self) -> Option<Moment> {
        self.renewed_at
    }

    /// A connection may be lent when its role was read in this generation and the source takes writes.
    pub fn may_lend(&self, connection: Generation) -> bool {
        self.lending == Lending::Lend && connection == self.generation
    }

    /// The answer is for the journal; the first reading is no change.
    pub fn role_read(&mut self, role: &RoleSeen, now: Moment) -> Option<Changed> {
        let replaced = match (&self.identity, &role.identity) {
            (Some(before), Some(now)) => before != now,
            _ => false,
        };
        if replaced {
            self.followed_at_first = None;
        }
        let at_first = *self
            .followed_at_first
            .get_or_insert(role.follows.unwrap_or(false));
        let next = match role.takes_writes() {
            Some(false) => Lending::Stop(WhyNot::ReadOnly),
            _ if role.follows == Some(true) && !at_first => Lending::Stop(WhyNot::Demoted),
            Some(true) => Lending::Lend,
            None => Lending::Stop(WhyNot::RoleUnknown),
        };
        if role.identity.is_some() {
            self.identity.clone_from(&role.identity);
        }
        let is_first = !std::mem::replace(&mut self.was_read, true);
        self.enter(next, replaced, now).filter(|_| !is_first)
    }

    /// Before anybody has read its role there was nothing to lend.
    pub fn unreachable(&mut self, now: Moment) -> Option<Changed> {
        let was_read = self.was_read;
        self.enter(Lending::Stop(WhyNot::Unreachable), false, now)
            .filter(|_| was_read)
    }

    /// It refused a write as a read-only server does, whatever it had said of its role.
    pub fn refused(&mut self, now: Moment) -> Option<Changed> {
        self.attempted_at = Some(now);
        self.enter(Lending::Stop(WhyNot::ReadOnly), false, now)
    }

    /// Whether a write may be tried now; remembers that it was. A source that takes writes is never held back.
    pub fn may_attempt_write(&mut self, now: Moment) -> bool {
        let may = self.next_attempt().is_none_or(|at| now >= at);
        if may {
            self.attempted_at = Some(now);
        }
        may
    }

    /// Until then no write is tried; `None` while nothing holds it back.
    pub fn next_attempt(&self) -> Option<Moment> {
        match self.lending {
            Lending::Lend => None,
            Lending::Stop(_) => self.attempted_at.map(|at| at + ATTEMPT_EVERY),
        }
    }

    fn enter(&mut self, next: Lending, replaced: bool, now: Moment) -> Option<Changed> {
        let stops = self.lending == Lending::Lend && next != Lending::Lend;
        let new_generation = stops || replaced;
        if new_generation {
            self.generation.0 += 1;
            self.renewed_at = Some(now);
        }
        let before = std::mem::replace(&mut self.lending, next);
        (before != next || replaced).then_some(Changed {
            at: now,
            to: next,
            new_generation,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::at_ms;
    use super::*;

    fn role(read_only: Option<bool>, identity: &str) -> RoleSeen {
        RoleSeen {
            read_only,
            super_read_only: None,
            identity: Some(identity.to_owned()),
            follows: Some(false),
        }
    }

    fn lent() -> SourceLending {
        let mut lending = SourceLending::default();
        lending.role_read(&role(Some(false), "a"), at_ms(0));
        lending
    }

    #[test]
    fn nothing_is_lent_before_the_role_was_read() {
        let lending = SourceLending::default();
        assert!(!lending.may_lend(lending.generation()));
    }

    #[test]
    fn what_the_server_says_decides() {
        let stop = Lending::Stop;
        for (read_only, super_read_only, expected) in [
            (Some(false), Some(false), Lending::Lend),
            (Some(false), None, Lending::Lend),
            (Some(true), None, stop(WhyNot::ReadOnly)),
            (Some(true), Some(true), stop(WhyNot::ReadOnly)),
            (None, Some(true), stop(WhyNot::ReadOnly)),
            (None, Some(false), stop(WhyNot::RoleUnknown)),
            (None, None, stop(WhyNot::RoleUnknown)),
        ] {
            let mut lending = SourceLending::default();
            lending.role_read(
                &RoleSeen {
                    read_only,
                    super_read_only,
                    ..RoleSeen::default()
                },
                at_ms(0),
            );
            assert_eq!(lending.lending(), expected);
        }
    }

    #[test]
    fn r44_connections_from_before_a_demotion_are_never_lent_again() {
        let mut lending = lent();
        let old = lending.generation();
        assert!(lending.may_lend(old));
        lending.role_read(&role(Some(true), "a"), at_ms(0));
        assert!(!lending.may_lend(old));
        lending.role_read(&role(Some(false), "a"), at_ms(0));
        assert!(!lending.may_lend(old));
        assert!(lending.may_lend(lending.generation()));
    }

    #[test]
    fn another_server_behind_the_address_starts_anew_and_so_does_one_that_was_away() {
        let mut lending = lent();
        let old = lending.generation();
        lending.role_read(&role(Some(false), "b"), at_ms(0));
        assert!(!lending.may_lend(old) && lending.may_lend(lending.generation()));
        let second = lending.generation();
        lending.unreachable(at_ms(0));
        lending.role_read(&role(Some(false), "b"), at_ms(0));
        assert!(!lending.may_lend(second));
    }

    #[test]
    fn r45_a_read_only_source_is_tried_once_in_five_seconds() {
        let mut lending = SourceLending::default();
        lending.role_read(&role(Some(true), "a"), at_ms(0));
        let tried =
            [0, 1, 4_999, 5_000, 9_999, 10_000].map(|ms| lending.may_attempt_write(at_ms(ms)));
        assert_eq!(tried, [true, false, false, true, false, true]);
        let mut writable = lent();
        assert!(
            [0, 1, 2]
                .iter()
                .all(|ms| writable.may_attempt_write(at_ms(*ms)))
        );
    }

    #[test]
    fn a_source_that_refuses_what_it_should_take_is_left_alone_for_five_seconds() {
        let mut lending = lent();
        let old = lending.generation();
        lending.refused(at_ms(100));
        assert_eq!(lending.next_attempt(), Some(at_ms(5_100)));
        assert!(!lending.may_lend(old));
        lending.role_read(&role(Some(false), "a"), at_ms(5_100));
        assert_eq!(lending.next_attempt(), None);
    }

    #[test]
    fn a_source_that_begins_to_follow_another_is_demoted_but_one_in_a_ring_is_not() {
        let follows = |follows| RoleSeen {
            follows: Some(follows),
            ..role(Some(false), "a")
        };
        let mut lending = lent();
        let old = lending.generation();
        let changed = lending.role_read(&follows(true), at_ms(7));
        assert_eq!(
            changed,
            Some(Changed {
                at: at_ms(7),
                to: Lending::Stop(WhyNot::Demoted),
                new_generation: true,
            })
        );
        assert_eq!(lending.renewed_at(), Some(at_ms(7)));
        lending.role_read(&follows(false), at_ms(8));
        assert!(!lending.may_lend(old) && lending.may_lend(lending.generation()));
        let mut ring = SourceLending::default();
        ring.role_read(&follows(true), at_ms(0));
        assert_eq!(ring.lending(), Lending::Lend);
    }

    #[test]
    fn only_changes_are_told_and_the_first_reading_is_none() {
        let mut lending = SourceLending::default();
        assert_eq!(lending.unreachable(at_ms(0)), None);
        let told = [
            (Some(false), "a"),
            (Some(false), "a"),
            (Some(true), "a"),
            (Some(true), "a"),
            (Some(false), "a"),
            (Some(false), "b"),
        ]
        .map(|(read_only, who)| lending.role_read(&role(read_only, who), at_ms(1)));
        let told = told.map(|told| told.map(|changed| (changed.to, changed.new_generation)));
        let read_only = Lending::Stop(WhyNot::ReadOnly);
        let (lends, anew) = (Some((Lending::Lend, false)), Some((Lending::Lend, true)));
        assert_eq!(
            told,
            [None, None, Some((read_only, true)), None, lends, anew]
        );
    }
}
