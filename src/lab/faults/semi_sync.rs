//! The replica no longer acknowledges. With the last one gone, the source's next commit waits for its time-out and then
//! goes on alone; nobody is told.

use std::time::Duration;

use super::admin::{Admin, is_on};
use super::applier::{going, until_going};
use super::parts::{End, semi_sync, set_semi_sync};
use super::site::Site;
use super::words::Thread;
use super::{InForce, NotMade, trouble, whole};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

const SEEN_WITHIN: Duration = Duration::from_secs(15);

pub struct Silent {
    replica: LabServer,
}

impl Silent {
    pub fn make(site: &Site, replica: LabServer) -> Result<Silent, NotMade> {
        let mut admin = site.admin(replica)?;
        if semi_sync(&mut admin, End::Replica)? != Some(true) {
            let what = phrase("lab.trouble.no_semi_sync").with("server", admin.node.name.as_str());
            return Err(trouble(what).into());
        }
        let made = switch(site, &mut admin, false);
        whole(Silent { replica }, made, site)
    }
}

impl InForce for Silent {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut admin = site.admin(self.replica)?;
        switch(site, &mut admin, true)
    }
}

/// It takes effect with a new start of the receiver, if that runs.
fn switch(site: &Site, admin: &mut Admin, on: bool) -> Result<(), Trouble> {
    set_semi_sync(admin, End::Replica, on)?;
    let channels = going(admin, Thread::Receiver)?;
    for channel in &channels {
        admin.stop(Thread::Receiver, channel)?;
        admin.start(Thread::Receiver, channel)?;
    }
    until_going(site, admin, Thread::Receiver, &channels)?;
    let unseen = phrase("lab.trouble.semi_sync_unchanged").with("server", admin.node.name.as_str());
    site.until(SEEN_WITHIN, unseen, || {
        let connected = admin.channels()?.iter().any(|c| c.receiver.runs());
        let status =
            admin.status(&["Rpl_semi_sync_replica_status", "Rpl_semi_sync_slave_status"])?;
        let acknowledges = status.is_some_and(|status| is_on(&status));
        // What cannot connect cannot acknowledge either; that is another fault's doing.
        Ok(acknowledges == on || !connected && channels.is_empty())
    })
}
