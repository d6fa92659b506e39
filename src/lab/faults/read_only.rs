//! The source refuses writers, as after a restart with a replica's option file.

use super::site::Site;
use super::{InForce, parts, trouble};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

pub struct ReadOnly {
    source: LabServer,
}

impl ReadOnly {
    pub fn make(site: &Site, source: LabServer) -> Result<ReadOnly, Trouble> {
        let mut admin = site.admin(source)?;
        if admin.is_read_only()? {
            let what = phrase("lab.trouble.read_only").with("server", admin.node.name.as_str());
            return Err(trouble(what));
        }
        parts::dress_as_replica(&mut admin)?;
        Ok(ReadOnly { source })
    }
}

impl InForce for ReadOnly {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut admin = site.admin(self.source)?;
        admin.run(admin.words.accept_writes())
    }
}
