//! A planned switch-over, in order: no transaction is lost, and every part changes hands.
//!
//! The old source refuses writers; the replica has everything; it forgets its source, becomes writable, and its
//! heartbeat ticks; the old source and the other replicas copy from it. Undone by the same steps back. Each step may be
//! done twice: so a swap that failed half-way is undone, or one half undone undone again, from wherever it stands.

use std::time::{Duration, Instant};

use super::admin::Admin;
use super::applier::{set_delay, until_going};
use super::parts::{self, End};
use super::site::Site;
use super::words::{Pointing, Thread};
use super::{InForce, NotMade, trouble, whole};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

/// How long the source may refuse writers while the replica catches up.
const CATCHES_UP_WITHIN: Duration = Duration::from_secs(60);

pub struct Swapped {
    old: LabServer,
    new: LabServer,
    /// Those that copied from the old source and were pointed at the new one.
    others: Vec<LabServer>,
    /// The new source's delay as a replica: forgotten with its source.
    delay_s: u64,
    /// The source waits for acknowledgements.
    semi_sync: bool,
    /// The one of the two that leads now, if only by half.
    source: LabServer,
}

impl Swapped {
    pub fn make(site: &Site, new: LabServer) -> Result<Swapped, NotMade> {
        let node = site.node(new)?;
        let [old] = node.copies_from[..] else {
            let why = phrase("lab.trouble.swap_many_sources").with("server", node.name.as_str());
            return Err(trouble(why).into());
        };
        let channels = site.admin(new)?.channels()?;
        let delay_s = channels.iter().map(|channel| channel.delay_s).max();
        let nodes = site.nodes().into_iter();
        let mut swapped = Swapped {
            old,
            new,
            others: nodes
                .filter(|node| node.copies_from.contains(&old) && node.server != new)
                .map(|node| node.server)
                .collect(),
            delay_s: delay_s.unwrap_or(0),
            semi_sync: parts::semi_sync(&mut site.admin(old)?, End::Source)? == Some(true),
            source: old,
        };
        let made = swapped.hand_over(site, new);
        whole(swapped, made, site)
    }

    fn hand_over(&mut self, site: &Site, to: LabServer) -> Result<(), Trouble> {
        let mut source = site.admin(self.source)?;
        let mut replica = site.admin(to)?;
        parts::dress_as_replica(&mut source)?;
        if let Err(why) = until_all_is_there(site, &mut source, &mut replica) {
            // Nothing was changed yet: the old source goes on.
            let _ = parts::dress_as_source(&mut source);
            return Err(why);
        }
        // From here on it is only finished, never withdrawn.
        replica.stop(Thread::Both, "")?;
        replica.run(&replica.words.forget_source())?;
        self.source = to;
        site.bed(|bed| bed.pointed(to, &[]))?;
        self.take_parts(site)
    }

    /// Everybody takes the part that goes with the source of now, whatever part it had.
    fn take_parts(&self, site: &Site) -> Result<(), Trouble> {
        let partner = match self.source == self.old {
            true => self.new,
            false => self.old,
        };
        let mut source = site.admin(self.source)?;
        if self.semi_sync {
            let mut replica = site.admin(partner)?;
            parts::set_semi_sync(&mut source, End::Replica, false)?;
            parts::set_semi_sync(&mut source, End::Source, true)?;
            parts::set_semi_sync(&mut replica, End::Source, false)?;
            parts::set_semi_sync(&mut replica, End::Replica, true)?;
        }
        parts::dress_as_source(&mut source)?;
        follow(site, partner, self.source)?;
        self.others
            .iter()
            .try_for_each(|other| follow(site, *other, self.source))
    }
}

impl InForce for Swapped {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        if self.source == self.new {
            // What was written there meanwhile must reach the old source.
            follow(site, self.old, self.new)?;
            self.hand_over(site, self.old)?;
        } else {
            self.take_parts(site)?;
        }
        if self.delay_s == 0 {
            return Ok(());
        }
        let mut admin = site.admin(self.new)?;
        let channels = admin.channels()?;
        channels
            .iter()
            .try_for_each(|channel| set_delay(&mut admin, channel, self.delay_s))
    }
}

fn until_all_is_there(site: &Site, from: &mut Admin, to: &mut Admin) -> Result<(), Trouble> {
    let committed = from.value(from.words.executed())?.unwrap_or_default();
    let wait = to.words.wait_for(&committed);
    let started = Instant::now();
    while to.value(&wait)?.as_deref() != Some("0") {
        site.control().go_on()?;
        if started.elapsed() > CATCHES_UP_WITHIN {
            let late = phrase("lab.trouble.swap_late").with("server", to.node.name.as_str());
            return Err(trouble(late));
        }
    }
    Ok(())
}

/// Has a server copy from this source and nobody else, and returns when it does.
fn follow(site: &Site, server: LabServer, source: LabServer) -> Result<(), Trouble> {
    let mut replica = site.admin(server)?;
    let was_source = replica.channels()?.is_empty();
    if was_source || replica.node.copies_from != [source] {
        point(site, &mut replica, source, was_source)?;
    }
    replica.start(Thread::Both, "")?;
    let channels = [String::new()];
    until_going(site, &mut replica, Thread::Receiver, &channels)?;
    until_going(site, &mut replica, Thread::Applier, &channels)
}

fn point(
    site: &Site,
    replica: &mut Admin,
    source: LabServer,
    was_source: bool,
) -> Result<(), Trouble> {
    let server = replica.node.server;
    match replica.words.continue_from_own_binlog() {
        _ if !was_source => replica.stop(Thread::Both, "")?,
        Some(sql) => replica.run(sql)?,
        None => {}
    }
    let port = site.bed(|bed| bed.link_port(server, source))??;
    let account = site.replication();
    let at = Pointing {
        port,
        user: account.user,
        password: account.password.expose(),
    };
    replica.run(&replica.words.point(&at))?;
    site.bed(|bed| bed.pointed(server, &[source]))?;
    site.renew_links(server)
}
