//! Nobody writes the heartbeat any more: the scheduler is off, as after a restart without it in the option file, or the
//! event is disabled, as after a promotion.

use super::admin::Admin;
use super::site::Site;
use super::{InForce, parts, trouble};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

pub struct SchedulerOff {
    source: LabServer,
}

impl SchedulerOff {
    pub fn make(site: &Site, source: LabServer) -> Result<SchedulerOff, Trouble> {
        let mut admin = site.admin(source)?;
        if !scheduler_runs(&mut admin)? {
            return Err(off_already(&admin));
        }
        admin.run("SET GLOBAL event_scheduler = OFF")?;
        Ok(SchedulerOff { source })
    }
}

impl InForce for SchedulerOff {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        site.admin(self.source)?
            .run("SET GLOBAL event_scheduler = ON")
    }
}

fn scheduler_runs(admin: &mut Admin) -> Result<bool, Trouble> {
    let switch = admin.switch(&["event_scheduler"])?;
    Ok(switch.is_some_and(|(_, is_on)| is_on))
}

fn off_already(admin: &Admin) -> Trouble {
    trouble(phrase("lab.trouble.heartbeat_off").with("server", admin.node.name.as_str()))
}

pub struct EventDisabled {
    source: LabServer,
}

impl EventDisabled {
    pub fn make(site: &Site, source: LabServer) -> Result<EventDisabled, Trouble> {
        let mut admin = site.admin(source)?;
        if parts::heartbeat(&mut admin, "STATUS")?.as_deref() != Some("ENABLED") {
            return Err(off_already(&admin));
        }
        parts::set_heartbeat(&mut admin, "DISABLE")?;
        Ok(EventDisabled { source })
    }
}

impl InForce for EventDisabled {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        parts::set_heartbeat(&mut site.admin(self.source)?, "ENABLE")
    }
}
