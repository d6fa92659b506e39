//! Where a fault happens: the bed, its servers' addresses, and what an order may be told while it works.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::admin::Admin;
use super::trouble;
use crate::lab::bed::{Bed, LinkQuality};
use crate::lab::session;
use crate::model::lab::{LabAccount, LabAccounts, LabNode, LabServer};
use crate::model::phrase::{Phrase, phrase};
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;

/// How often a condition is looked at while it is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a server may take to answer an ordinary statement of ours.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// A running lab as its workers share it.
#[derive(Clone)]
pub struct Site {
    shared: Arc<Shared>,
    control: Control,
}

struct Shared {
    /// Taken out when the lab ends.
    bed: Mutex<Option<Box<dyn Bed>>>,
    accounts: LabAccounts,
    replication: LabAccount,
    ca_pem: Option<String>,
    /// As last told by the bed: it cannot be asked while it starts a server.
    nodes: Mutex<Vec<LabNode>>,
    /// What was asked of each replica's links, however they run at the moment.
    links: Mutex<BTreeMap<LabServer, LinkQuality>>,
}

impl Site {
    pub fn new(bed: Box<dyn Bed>) -> Site {
        let shared = Shared {
            accounts: bed.accounts(),
            replication: bed.replication(),
            ca_pem: bed.ca_pem(),
            nodes: Mutex::new(bed.nodes()),
            links: Mutex::default(),
            bed: Mutex::new(Some(bed)),
        };
        Site {
            shared: Arc::new(shared),
            control: Control::default(),
        }
    }

    /// The same place, for another order.
    pub fn under(&self, control: Control) -> Site {
        Site {
            shared: self.shared.clone(),
            control,
        }
    }

    pub fn control(&self) -> &Control {
        &self.control
    }

    pub fn accounts(&self) -> &LabAccounts {
        &self.shared.accounts
    }

    pub fn replication(&self) -> &LabAccount {
        &self.shared.replication
    }

    pub fn ca_pem(&self) -> Option<&str> {
        self.shared.ca_pem.as_deref()
    }

    /// Asks the bed; waits while another order has it.
    pub fn bed<T>(&self, ask: impl FnOnce(&mut dyn Bed) -> T) -> Result<T, Trouble> {
        let mut bed = lock(&self.shared.bed);
        let bed = bed
            .as_mut()
            .ok_or_else(|| trouble(phrase("lab.trouble.no_lab")))?;
        let answer = ask(bed.as_mut());
        *lock(&self.shared.nodes) = bed.nodes();
        Ok(answer)
    }

    /// As they stand now, or stood before the bed was taken by an order.
    pub fn nodes(&self) -> Vec<LabNode> {
        if let Ok(bed) = self.shared.bed.try_lock()
            && let Some(bed) = bed.as_ref()
        {
            *lock(&self.shared.nodes) = bed.nodes();
        }
        lock(&self.shared.nodes).clone()
    }

    pub fn node(&self, server: LabServer) -> Result<LabNode, Trouble> {
        let known = self.nodes().into_iter().find(|node| node.server == server);
        known.ok_or_else(|| trouble(phrase("lab.trouble.no_server")))
    }

    /// The server from which everything comes that this one has: itself, where it copies from nobody.
    pub fn root_of(&self, server: LabServer) -> Result<LabServer, Trouble> {
        let mut at = self.node(server)?;
        // No further than all servers: two may copy from each other.
        for _ in 0..self.nodes().len() {
            match at.copies_from.first() {
                Some(source) => at = self.node(*source)?,
                None => break,
            }
        }
        Ok(at.server)
    }

    pub fn admin(&self, server: LabServer) -> Result<Admin, Trouble> {
        self.admin_for(server, ANSWER_LIMIT)
    }

    /// A session whose statements may take as long as `limit`.
    pub fn admin_for(&self, server: LabServer, limit: Duration) -> Result<Admin, Trouble> {
        let node = self.node(server)?;
        let hand = self.hand(&node, &self.accounts().admin, limit)?;
        Admin::new(node, hand)
    }

    pub fn hand(
        &self,
        node: &LabNode,
        account: &LabAccount,
        limit: Duration,
    ) -> Result<Hand, Trouble> {
        session::open(node.port, account, limit)
    }

    /// Waits until `holds`; after `limit`, or when the order is withdrawn, says what was not seen.
    pub fn until(
        &self,
        limit: Duration,
        unseen: Phrase,
        mut holds: impl FnMut() -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        let started = Instant::now();
        loop {
            let last = match holds() {
                Ok(true) => return Ok(()),
                Ok(false) => None,
                Err(why) => Some(why),
            };
            self.control.go_on()?;
            if started.elapsed() >= limit {
                return Err(last.unwrap_or_else(|| trouble(unseen)));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Changes what is asked of a replica's links, and has the bed do it on those it copies over now.
    pub fn change_link(
        &self,
        replica: LabServer,
        change: impl FnOnce(&mut LinkQuality),
    ) -> Result<(), Trouble> {
        change(lock(&self.shared.links).entry(replica).or_default());
        self.renew_links(replica)
    }

    /// After roles were swapped: the links are others, their faults the same.
    pub fn renew_links(&self, replica: LabServer) -> Result<(), Trouble> {
        let quality = lock(&self.shared.links).get(&replica).copied();
        let Some(quality) = quality else {
            return Ok(());
        };
        for source in self.node(replica)?.copies_from {
            self.bed(|bed| bed.set_link(replica, source, quality))??;
        }
        Ok(())
    }

    /// Ends the lab, as soon as no order has the bed, at the latest after `limit`: then the one that has it ends it.
    pub fn close(self, limit: Duration) {
        let until = Instant::now() + limit;
        while Instant::now() < until {
            if let Ok(mut bed) = self.shared.bed.try_lock() {
                drop(bed.take());
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A hold on an order at work: it can be withdrawn.
#[derive(Clone, Default)]
pub struct Control {
    state: Arc<ControlState>,
}

#[derive(Default)]
struct ControlState {
    is_withdrawn: AtomicBool,
    /// The session whose statement must be killed to end the order at once.
    statement: Mutex<Option<(LabServer, u64)>>,
}

impl Control {
    pub fn withdraw(&self) {
        self.state.is_withdrawn.store(true, Ordering::Relaxed);
    }

    pub fn is_withdrawn(&self) -> bool {
        self.state.is_withdrawn.load(Ordering::Relaxed)
    }

    /// An error once the order is withdrawn.
    pub fn go_on(&self) -> Result<(), Trouble> {
        match self.is_withdrawn() {
            true => Err(trouble(phrase("lab.trouble.withdrawn"))),
            false => Ok(()),
        }
    }

    /// The statement that now runs for long, or none any more.
    pub fn works_in(&self, session: Option<(LabServer, u64)>) {
        *lock(&self.state.statement) = session;
    }

    pub fn statement(&self) -> Option<(LabServer, u64)> {
        *lock(&self.state.statement)
    }
}

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
