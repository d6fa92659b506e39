//! A session on the replica keeps a table locked, as a backup or a forgotten console does.
//!
//! A reader's lock: others read on, and the applier, which must write, waits. It ends with the session, whatever becomes
//! of us.

use super::InForce;
use super::site::Site;
use crate::model::lab::LabServer;
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;

pub struct Locked {
    /// Kept open: the lock is the session's.
    session: Option<Hand>,
}

impl Locked {
    pub fn make(site: &Site, replica: LabServer) -> Result<Locked, Trouble> {
        let mut admin = site.admin(replica)?;
        admin.run("LOCK TABLES shop.orders READ")?;
        Ok(Locked {
            session: Some(admin.into_hand()),
        })
    }
}

impl InForce for Locked {
    fn undo(&mut self, _site: &Site) -> Result<(), Trouble> {
        if let Some(mut session) = self.session.take() {
            // A session that is gone has let go already.
            let _ = session.run("UNLOCK TABLES");
        }
        Ok(())
    }
}
