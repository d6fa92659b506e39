//! Slow, narrow and cut links between a replica and those it copies from.
//!
//! The three combine on one link, and go with the replica when roles are swapped.

use super::InForce;
use super::site::Site;
use crate::lab::bed::LinkQuality;
use crate::model::lab::LabServer;
use crate::model::time::Span;
use crate::model::trouble::Trouble;

pub struct Link {
    replica: LabServer,
    mend: fn(&mut LinkQuality),
}

impl Link {
    pub fn slow(site: &Site, replica: LabServer, milliseconds: f64) -> Result<Link, Trouble> {
        let latency = Span::from_secs_f64(milliseconds / 1e3);
        site.change_link(replica, |link| link.latency = latency)?;
        Ok(Link {
            replica,
            mend: |link| link.latency = Span::ZERO,
        })
    }

    pub fn narrow(site: &Site, replica: LabServer, kilobytes: f64) -> Result<Link, Trouble> {
        let width = kilobytes * 1e3;
        site.change_link(replica, |link| link.bytes_per_second = Some(width))?;
        Ok(Link {
            replica,
            mend: |link| link.bytes_per_second = None,
        })
    }

    pub fn cut(site: &Site, replica: LabServer) -> Result<Link, Trouble> {
        site.change_link(replica, |link| link.is_cut = true)?;
        Ok(Link {
            replica,
            mend: |link| link.is_cut = false,
        })
    }
}

impl InForce for Link {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        site.change_link(self.replica, self.mend)
    }
}
