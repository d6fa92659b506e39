//! What happens to a server's machine: a slow disk, a wrong clock, a killed process.

use std::time::Duration;

use super::applier::{going, until_going};
use super::site::Site;
use super::words::Thread;
use super::{InForce, parts};
use crate::model::lab::LabServer;
use crate::model::time::Span;
use crate::model::trouble::Trouble;

pub struct Disk {
    server: LabServer,
}

impl Disk {
    pub fn slow(site: &Site, server: LabServer, milliseconds: f64) -> Result<Disk, Trouble> {
        let slower_by = Span::from_secs_f64(milliseconds / 1e3);
        site.bed(|bed| bed.set_disk(server, slower_by))??;
        Ok(Disk { server })
    }
}

impl InForce for Disk {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        site.bed(|bed| bed.set_disk(self.server, Span::ZERO))?
    }
}

pub struct Clock {
    server: LabServer,
}

impl Clock {
    pub fn skew(site: &Site, server: LabServer, seconds: f64) -> Result<Clock, Trouble> {
        let ahead_by = Span::from_secs_f64(seconds);
        site.bed(|bed| bed.set_clock(server, ahead_by))??;
        Ok(Clock { server })
    }
}

impl InForce for Clock {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        site.bed(|bed| bed.set_clock(self.server, Span::ZERO))?
    }
}

/// `kill -9`.
pub struct Killed {
    server: LabServer,
}

impl Killed {
    pub fn make(site: &Site, server: LabServer) -> Result<Killed, Trouble> {
        site.bed(|bed| bed.kill(server))??;
        Ok(Killed { server })
    }
}

/// Its replicas try again by themselves; one that has given up meanwhile is told to.
const CONNECTS_WITHIN: Duration = Duration::from_secs(10);

impl InForce for Killed {
    /// Starts it again, in the part it plays now: settings made with SET GLOBAL died with it.
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        if !site.node(self.server)?.is_up {
            site.bed(|bed| bed.restart(self.server))??;
        }
        let nodes = site.nodes();
        let copiers = nodes
            .iter()
            .filter(|node| node.is_up && node.copies_from.contains(&self.server));
        // Before it writes anything: with semi-sync it would wait for them.
        for replica in copiers {
            wake_receiver(site, replica.server)?;
        }
        match site.node(self.server)?.copies_from.is_empty() {
            true => parts::dress_as_source(&mut site.admin(self.server)?),
            false => start_copying(site, self.server),
        }
    }
}

/// A server that was set up not to start copying by itself is told to.
fn start_copying(site: &Site, server: LabServer) -> Result<(), Trouble> {
    let mut admin = site.admin(server)?;
    let channels: Vec<String> = admin.channels()?.into_iter().map(|c| c.name).collect();
    let going = going(&mut admin, Thread::Receiver)?;
    for channel in channels.iter().filter(|channel| !going.contains(channel)) {
        admin.start(Thread::Both, channel)?;
    }
    until_going(site, &mut admin, Thread::Receiver, &channels)
}

/// A receiver that stands with an error has given up; one that somebody stopped has none.
fn wake_receiver(site: &Site, replica: LabServer) -> Result<(), Trouble> {
    let mut admin = site.admin_for(replica, CONNECTS_WITHIN)?;
    for channel in admin.channels()? {
        if channel.receiver.is_stopped() && channel.receiver.error != 0 {
            admin.start(Thread::Receiver, &channel.name)?;
        }
    }
    Ok(())
}
