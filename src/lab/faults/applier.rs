//! The threads of a replica: stopped by somebody, or applying late on purpose.

use std::time::Duration;

use super::admin::{Admin, Channel};
use super::site::Site;
use super::words::Thread;
use super::{InForce, NotMade, trouble, whole};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

/// A thread that starts says so within a moment, unless it has much to recover.
const THREAD_LIMIT: Duration = Duration::from_secs(15);

/// Somebody stopped a thread.
pub struct Stopped {
    replica: LabServer,
    thread: Thread,
    channels: Vec<String>,
}

impl Stopped {
    pub fn applier(site: &Site, replica: LabServer) -> Result<Stopped, NotMade> {
        stop(site, replica, Thread::Applier)
    }

    pub fn receiver(site: &Site, replica: LabServer) -> Result<Stopped, NotMade> {
        stop(site, replica, Thread::Receiver)
    }
}

fn stop(site: &Site, replica: LabServer, thread: Thread) -> Result<Stopped, NotMade> {
    let mut admin = site.admin(replica)?;
    let channels = going(&mut admin, thread)?;
    if channels.is_empty() {
        let what = phrase("lab.trouble.stands_already").with("server", admin.node.name.as_str());
        return Err(trouble(what).into());
    }
    let stopped = Stopped {
        replica,
        thread,
        channels,
    };
    let made = stopped.stop(site, &mut admin);
    whole(stopped, made, site)
}

impl Stopped {
    fn stop(&self, site: &Site, admin: &mut Admin) -> Result<(), Trouble> {
        for channel in &self.channels {
            admin.stop(self.thread, channel)?;
        }
        let unseen = phrase("lab.trouble.does_not_stop").with("server", admin.node.name.as_str());
        site.until(THREAD_LIMIT, unseen, || {
            Ok(going(admin, self.thread)?.is_empty())
        })
    }
}

impl InForce for Stopped {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut admin = site.admin(self.replica)?;
        for channel in &self.channels {
            admin.start(self.thread, channel)?;
        }
        until_going(site, &mut admin, self.thread, &self.channels)
    }
}

/// The channels on which a thread was not stopped.
pub fn going(admin: &mut Admin, thread: Thread) -> Result<Vec<String>, Trouble> {
    let goes = |channel: &Channel| match thread {
        Thread::Receiver => !channel.receiver.is_stopped(),
        Thread::Applier => !channel.applier.is_stopped(),
        Thread::Both => !channel.receiver.is_stopped() || !channel.applier.is_stopped(),
    };
    let channels = admin.channels()?;
    Ok(channels
        .into_iter()
        .filter(goes)
        .map(|channel| channel.name)
        .collect())
}

/// Waits until a thread goes again on all of these channels. A receiver may still be connecting: its source may be down
/// or cut off by another fault.
pub fn until_going(
    site: &Site,
    admin: &mut Admin,
    thread: Thread,
    channels: &[String],
) -> Result<(), Trouble> {
    let mut said = String::new();
    let all_going = || {
        let now = admin.channels()?;
        let errors = now.iter().map(|c| match thread {
            Thread::Receiver => c.receiver.words.as_str(),
            _ => c.applier.words.as_str(),
        });
        said = errors.collect::<Vec<_>>().join("\n");
        let going = going(admin, thread)?;
        Ok(channels.iter().all(|channel| going.contains(channel)))
    };
    let unseen = phrase("lab.trouble.does_not_start");
    let waited = site.until(THREAD_LIMIT, unseen, all_going);
    waited.map_err(|why| match why.code {
        None => Trouble {
            what: why.what.with("server", admin.node.name.as_str()),
            detail: said.trim().to_owned(),
            ..why
        },
        Some(_) => why,
    })
}

/// The replica applies everything later by a set time.
pub struct Delayed {
    replica: LabServer,
    /// Before: a replica may be delayed by plan.
    before: Vec<(String, u64)>,
}

impl Delayed {
    pub fn make(site: &Site, replica: LabServer, seconds: f64) -> Result<Delayed, NotMade> {
        let mut admin = site.admin(replica)?;
        let channels = admin.channels()?;
        let before = channels
            .iter()
            .map(|channel| (channel.name.clone(), channel.delay_s))
            .collect();
        let seconds = seconds.round().max(1.0) as u64;
        let made = channels
            .iter()
            .try_for_each(|channel| set_delay(&mut admin, channel, seconds));
        whole(Delayed { replica, before }, made, site)
    }
}

impl InForce for Delayed {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut admin = site.admin(self.replica)?;
        let channels = admin.channels()?;
        for channel in &channels {
            let before = self.before.iter().find(|(name, _)| *name == channel.name);
            if let Some((_, seconds)) = before {
                set_delay(&mut admin, channel, *seconds)?;
            }
        }
        Ok(())
    }
}

/// What went before goes after.
pub fn set_delay(admin: &mut Admin, channel: &Channel, seconds: u64) -> Result<(), Trouble> {
    let words = admin.words;
    let name = &channel.name;
    admin.stop(words.must_stand_for_a_delay(), name)?;
    admin.run(&words.set_delay(seconds, name))?;
    if !channel.applier.is_stopped() {
        admin.start(Thread::Applier, name)?;
    }
    if words.must_stand_for_a_delay() == Thread::Both && !channel.receiver.is_stopped() {
        admin.start(Thread::Receiver, name)?;
    }
    let now = admin.channels()?;
    match now.iter().any(|c| c.name == *name && c.delay_s == seconds) {
        true => Ok(()),
        false => Err(trouble(
            phrase("lab.trouble.no_delay").with("server", admin.node.name.as_str()),
        )),
    }
}
