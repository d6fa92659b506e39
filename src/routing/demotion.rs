//! May connections to the source be lent? After a switch, a pooled connection still leads to yesterday's source
//! (R44); and a source can come back read-only (R45).
//!
//! Every connection carries the generation in which its role was read. A demoted or replaced source starts a new
//! generation, so that its old connections are never lent again, whatever it becomes later.

use crate::model::phrase::{Phrase, phrase};
use crate::model::time::{Moment, Span};

/// What a server says of its role. Its own replication lag has no say: a writable source whose channel to a dead
/// replica says NULL is still the write target (R45).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSeen {
    pub read_only: Option<bool>,
    /// MariaDB has none.
    pub super_read_only: Option<bool>,
    /// `server_uuid`, or the server id where there is none.
    pub identity: Option<String>,
}

impl RoleSeen {
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
    Unreachable,
}

impl WhyNot {
    pub fn phrase(self) -> Phrase {
        match self {
            WhyNot::RoleUnknown => phrase("routing.lending.role_unknown"),
            WhyNot::ReadOnly => phrase("routing.lending.read_only"),
            WhyNot::Unreachable => phrase("routing.lending.unreachable"),
        }
    }
}

/// The run of time in which a connection's role was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(u64);

/// Between write attempts at a source that does not take writes.
pub const ATTEMPT_EVERY: Span = Span::from_secs(5);

#[derive(Clone, Debug)]
pub struct SourceLending {
    lending: Lending,
    generation: Generation,
    identity: Option<String>,
    attempted_at: Option<Moment>,
}

impl Default for SourceLending {
    fn default() -> Self {
        SourceLending {
            lending: Lending::Stop(WhyNot::RoleUnknown),
            generation: Generation(0),
            identity: None,
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

    /// A connection may be lent when its role was read in this generation and the source takes writes.
    pub fn may_lend(&self, connection: Generation) -> bool {
        self.lending == Lending::Lend && connection == self.generation
    }

    pub fn role_read(&mut self, role: &RoleSeen) {
        let replaced = match (&self.identity, &role.identity) {
            (Some(before), Some(now)) => before != now,
            _ => false,
        };
        let next = match role.takes_writes() {
            Some(true) => Lending::Lend,
            Some(false) => Lending::Stop(WhyNot::ReadOnly),
            None => Lending::Stop(WhyNot::RoleUnknown),
        };
        self.enter(next, replaced);
        if role.identity.is_some() {
            self.identity.clone_from(&role.identity);
        }
    }

    pub fn unreachable(&mut self) {
        self.enter(Lending::Stop(WhyNot::Unreachable), false);
    }

    /// Whether a write may be tried now; remembers that it was. A source that takes writes is never held back.
    pub fn may_attempt_write(&mut self, now: Moment) -> bool {
        let rested = self
            .attempted_at
            .is_none_or(|at| now.since(at) >= ATTEMPT_EVERY);
        let may = self.lending == Lending::Lend || rested;
        if may {
            self.attempted_at = Some(now);
        }
        may
    }

    fn enter(&mut self, next: Lending, replaced: bool) {
        let stops = self.lending == Lending::Lend && next != Lending::Lend;
        if stops || replaced {
            self.generation.0 += 1;
        }
        self.lending = next;
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
        }
    }

    fn lent() -> SourceLending {
        let mut lending = SourceLending::default();
        lending.role_read(&role(Some(false), "a"));
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
            lending.role_read(&RoleSeen {
                read_only,
                super_read_only,
                identity: None,
            });
            assert_eq!(lending.lending(), expected);
        }
    }

    #[test]
    fn r44_connections_from_before_a_demotion_are_never_lent_again() {
        let mut lending = lent();
        let old = lending.generation();
        assert!(lending.may_lend(old));
        lending.role_read(&role(Some(true), "a"));
        assert!(!lending.may_lend(old));
        lending.role_read(&role(Some(false), "a"));
        assert!(!lending.may_lend(old));
        assert!(lending.may_lend(lending.generation()));
    }

    #[test]
    fn another_server_behind_the_address_starts_anew_and_so_does_one_that_was_away() {
        let mut lending = lent();
        let old = lending.generation();
        lending.role_read(&role(Some(false), "b"));
        assert!(!lending.may_lend(old) && lending.may_lend(lending.generation()));
        let second = lending.generation();
        lending.unreachable();
        lending.role_read(&role(Some(false), "b"));
        assert!(!lending.may_lend(second));
    }

    #[test]
    fn r45_a_read_only_source_is_tried_once_in_five_seconds() {
        let mut lending = SourceLending::default();
        lending.role_read(&role(Some(true), "a"));
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
}
