//! The replica already has the row that comes next: error 1062, and the applier stands.
//!
//! Somebody "repaired" the replica by hand. The row is put there without a trace in its binary log; then the source
//! inserts the same one. Undone as one does it: remove the row that is too many, start the applier, and see it run. The
//! order that the source inserted stays, like any other.

use std::time::Duration;

use super::admin::Admin;
use super::applier::until_going;
use super::site::Site;
use super::words::Thread;
use super::{InForce, NotMade, trouble, whole};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

/// Beside the delay and the backlog of the replica, which come first.
const BREAKS_WITHIN: Duration = Duration::from_secs(30);

/// So far ahead of the newest order that traffic does not get there first; and if it does, it breaks as well.
const AHEAD: u64 = 100;

/// The server's number for a key that is there already.
const DUPLICATE_KEY: u32 = 1062;

pub struct Broken {
    replica: LabServer,
    id: u64,
}

impl Broken {
    pub fn make(site: &Site, replica: LabServer) -> Result<Broken, NotMade> {
        let mut source = site.admin(site.root_of(replica)?)?;
        let mut admin = site.admin(replica)?;
        let standing = admin.channels()?.iter().any(|c| !c.applier.runs());
        if standing {
            let what =
                phrase("lab.trouble.stands_already").with("server", admin.node.name.as_str());
            return Err(trouble(what).into());
        }
        let newest = source.value("SELECT MAX(id) FROM shop.orders")?;
        let newest: u64 = newest.and_then(|id| id.parse().ok()).unwrap_or(0);
        let broken = Broken {
            replica,
            id: newest + AHEAD,
        };
        let made = broken.break_it(site, &mut admin, &mut source);
        whole(broken, made, site)
    }

    fn break_it(&self, site: &Site, admin: &mut Admin, source: &mut Admin) -> Result<(), Trouble> {
        let insert = |who: &str| {
            format!(
                "INSERT INTO shop.orders (id, customer, address, status, amount) \
                 VALUES ({}, 1, '{who}', 'new', 10.00)",
                self.id
            )
        };
        admin.unlogged(|admin| admin.run(&insert("put here by hand")))?;
        match source.run(&insert("1 Main Street")) {
            // Traffic was quicker: the same row all the same.
            Err(why) if why.code == Some(DUPLICATE_KEY) => {}
            done => done?,
        }
        let delay = admin.channels()?.iter().map(|c| c.delay_s).max();
        let limit = BREAKS_WITHIN + Duration::from_secs(delay.unwrap_or(0));
        let unseen = phrase("lab.trouble.does_not_break").with("server", admin.node.name.as_str());
        site.until(limit, unseen, || {
            let channels = admin.channels()?;
            Ok(channels
                .iter()
                .any(|c| c.applier.is_stopped() && c.applier.error == DUPLICATE_KEY))
        })
    }
}

impl InForce for Broken {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut admin = site.admin(self.replica)?;
        let remove = format!("DELETE FROM shop.orders WHERE id = {}", self.id);
        admin.unlogged(|admin| admin.run(&remove))?;
        let channels = admin.channels()?;
        let stands = channels.into_iter().filter(|c| c.applier.is_stopped());
        let stands: Vec<String> = stands.map(|c| c.name).collect();
        for channel in &stands {
            admin.start(Thread::Applier, channel)?;
        }
        until_going(site, &mut admin, Thread::Applier, &stands)
    }
}
