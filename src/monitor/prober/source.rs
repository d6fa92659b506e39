//! The session that writes on the source, lent for a write only while its server is the one that may be written to: the
//! role is read on every new session and before every write, a session from before a change of role is thrown away
//! (R44), and a source that takes no writes is left alone for a while (R45).

use std::time::{Duration, Instant};

use super::conductor::said;
use super::session::Keeper;
use crate::link::clock;
use crate::link::probing::ProbeLink;
use crate::model::phrase::phrase;
use crate::model::probe::ServerState;
use crate::model::sample::Identity;
use crate::model::trouble::Trouble;
use crate::routing::demotion::{Generation, Lending, RoleSeen, SourceLending, WhyNot};

/// The source's channels are looked at this often, besides its read-only switches before every write.
const CHANNELS_EVERY: Duration = Duration::from_secs(1);

/// What a server says that is read-only: `--read-only`, and MySQL in read-only mode.
const REFUSED_AS_READ_ONLY: [u32; 2] = [1290, 1836];

pub struct SourceSession {
    keeper: Keeper,
    lending: SourceLending,
    /// Of which session the role was read, and in which generation.
    read_in: Option<(u64, Generation)>,
    /// Who the source was when we began.
    begun_as: Option<Identity>,
    follows: Option<bool>,
    channels_seen: Option<Instant>,
}

impl SourceSession {
    pub fn new(keeper: Keeper) -> Self {
        SourceSession {
            keeper,
            lending: SourceLending::default(),
            read_in: None,
            begun_as: None,
            follows: None,
            channels_seen: None,
        }
    }

    pub fn mend(&mut self) {
        self.keeper.mend();
    }

    /// For whatever is not a write, or comes right after one.
    pub fn link(&mut self) -> Result<&mut dyn ProbeLink, Trouble> {
        self.keeper.link()
    }

    /// From now on no other server is written to.
    pub fn begin(&mut self, state: &ServerState) {
        self.begun_as = Some(state.identity.clone());
        self.follows = state.channels.as_ref().map(|_| state.is_replica());
        self.channels_seen = Some(Instant::now());
        self.read(&state.identity.clone());
    }

    /// The session for the next write; an error when there is none to be lent.
    pub fn lend(&mut self) -> Result<&mut dyn ProbeLink, Trouble> {
        let now = clock::now();
        if self.lending.next_attempt().is_some_and(|at| now < at) {
            return Err(refusal(self.lending.lending()));
        }
        self.lend_at_once()
    }

    /// The same, also shortly after a refusal: to remove our rows at the end.
    pub fn lend_at_once(&mut self) -> Result<&mut dyn ProbeLink, Trouble> {
        self.read_role()?;
        if self.lending.lending() == Lending::Lend && !self.may_lend() {
            // It was opened before a change of role, and may lead to yesterday's source.
            self.keeper.discard();
            self.keeper.mend();
            self.read_role()?;
        }
        if !self.may_lend() {
            self.lending.may_attempt_write(clock::now());
            return Err(refusal(self.lending.lending()));
        }
        self.keeper.link()
    }

    /// A write has failed.
    pub fn failed(&mut self, why: &Trouble) {
        let is_read_only = why
            .code
            .is_some_and(|code| REFUSED_AS_READ_ONLY.contains(&code));
        if is_read_only {
            self.lending.refused(clock::now());
        }
    }

    fn may_lend(&self) -> bool {
        let of_this = |(session, _): &(u64, Generation)| *session == self.keeper.sessions();
        self.read_in
            .filter(of_this)
            .is_some_and(|(_, generation)| self.lending.may_lend(generation))
    }

    fn read_role(&mut self) -> Result<(), Trouble> {
        let link = self.keeper.link()?;
        let role = link.role()?;
        let is_due = self
            .channels_seen
            .is_none_or(|seen| seen.elapsed() >= CHANNELS_EVERY);
        if is_due {
            self.follows = link.channels()?.map(|all| !all.is_empty());
            self.channels_seen = Some(Instant::now());
        }
        let who = |identity: &Identity| (identity.server_uuid.clone(), identity.server_id);
        let begun = self.begun_as.as_ref();
        if begun.is_some_and(|begun| who(begun) != who(&role)) {
            return Err(said(phrase("probe.write.another_server")));
        }
        self.read(&role);
        Ok(())
    }

    fn read(&mut self, role: &Identity) {
        let seen = RoleSeen::of(role, self.follows);
        self.lending.role_read(&seen, clock::now());
        let session = self.keeper.sessions();
        let is_new = self.read_in.is_none_or(|(of, _)| of != session);
        if is_new {
            self.read_in = Some((session, self.lending.generation()));
        }
    }
}

fn refusal(lending: Lending) -> Trouble {
    said(match lending {
        Lending::Stop(WhyNot::ReadOnly) => phrase("probe.write.read_only"),
        Lending::Stop(WhyNot::Demoted) => phrase("probe.write.demoted"),
        Lending::Stop(why) => why.phrase(),
        Lending::Lend => phrase("routing.lending.older"),
    })
}
