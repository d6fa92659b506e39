//! Reports on the replica: sessions that join and sort without an index, one query after the other, and eat its CPU.
//!
//! Each statement is ended by the server itself after a while, so that none survives us for long.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::site::{Control, Site, lock};
use super::{InForce, NotMade, trouble, whole};
use crate::model::lab::{LabNode, LabServer};
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;

/// Long enough to be seen as slow, short enough to be gone soon after we are.
const STATEMENT_SECONDS: u64 = 20;
const ANSWER_LIMIT: Duration = Duration::from_secs(STATEMENT_SECONDS + 10);

/// After a session was lost.
const PAUSE: Duration = Duration::from_millis(500);

/// A thousand million pairs of orders, none found by an index.
const REPORT: &str = "\
    SELECT a.status, COUNT(*), MAX(CONCAT(a.address, b.address, c.address)) FROM shop.orders a \
    JOIN shop.orders b ON a.amount <> b.amount + 1 JOIN shop.orders c ON b.amount <> c.amount + 2 \
    GROUP BY a.status ORDER BY 3";

pub struct Readers {
    server: LabServer,
    control: Control,
    sessions: Sessions,
}

/// The connection ids of those at work.
type Sessions = Arc<std::sync::Mutex<Vec<u64>>>;

impl Readers {
    pub fn start(site: &Site, server: LabServer, count: f64) -> Result<Readers, NotMade> {
        let node = site.node(server)?;
        let readers = Readers {
            server,
            control: Control::default(),
            sessions: Sessions::default(),
        };
        let made = (0..count.round().max(1.0) as u32).try_for_each(|_| {
            let first = open(site, &node)?;
            readers.spawn(site.clone(), node.clone(), first)
        });
        whole(readers, made, site)
    }

    fn spawn(&self, site: Site, node: LabNode, first: Hand) -> Result<(), Trouble> {
        let (control, sessions) = (self.control.clone(), self.sessions.clone());
        thread::Builder::new()
            .name("lab-reader".to_owned())
            .spawn(move || read_on(&site, &node, first, &control, &sessions))
            .map(drop)
            .map_err(|error| Trouble {
                detail: error.to_string(),
                ..trouble(phrase("lab.trouble.no_thread"))
            })
    }
}

/// As a program of the shop would.
fn open(site: &Site, node: &LabNode) -> Result<Hand, Trouble> {
    let mut hand = site.hand(node, &site.accounts().app, ANSWER_LIMIT)?;
    let version = hand.value("SELECT @@version")?.unwrap_or_default();
    hand.run(&super::words::Words::of(&version).limit_statements(STATEMENT_SECONDS))?;
    Ok(hand)
}

fn read_on(site: &Site, node: &LabNode, first: Hand, control: &Control, sessions: &Sessions) {
    let mut hand = Some(first);
    while !control.is_withdrawn() {
        let Some(session) = hand.as_mut() else {
            thread::sleep(PAUSE);
            hand = open(site, node).ok();
            continue;
        };
        let id = session.id();
        lock(sessions).push(id);
        // Ended by its time limit, it is simply asked again.
        let _ = session.rows(REPORT);
        lock(sessions).retain(|other| *other != id);
        if session.is_spoiled() {
            hand = None;
        }
    }
}

impl InForce for Readers {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        self.control.withdraw();
        if lock(&self.sessions).is_empty() {
            return Ok(());
        }
        let mut admin = site.admin(self.server)?;
        let unseen = phrase("lab.trouble.readers_stay").with("server", admin.node.name.as_str());
        site.until(Duration::from_secs(10), unseen, || {
            let at_work: Vec<u64> = lock(&self.sessions).clone();
            for id in &at_work {
                let _ = admin.run(&format!("KILL {id}")); // it may have ended meanwhile
            }
            Ok(at_work.is_empty())
        })
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.control.withdraw();
    }
}
