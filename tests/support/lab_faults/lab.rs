//! A lab at work, as the program has it: orders, and what becomes of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use replicascope::lab::bed::Bed;
use replicascope::lab::faults::admin::{Admin, Channel};
use replicascope::lab::ground::{Starting, build_at};
use replicascope::lab::running::LabHandle;
use replicascope::lab::sandbox::Place;
use replicascope::lab::session;
use replicascope::model::lab::{
    Fault, FaultId, FaultKind, FaultNote, FaultState, Ground, LabNode, LabOrder, LabPhase, LabPlan,
    LabServer, LabStatus,
};
use replicascope::model::phrase::Phrase;
use replicascope::model::server::Flavour;
use replicascope::model::trouble::Trouble;
use replicascope::mysql::hand::Hand;
use replicascope::words::{Catalogue, Language};

use super::super::brittle::{Brittle, Gap};
use super::super::servers::Flavour as Installed;
use super::super::watching::Watching;
use super::SOON;

pub struct Lab {
    pub handle: LabHandle,
    statuses: Receiver<LabStatus>,
    pub status: LabStatus,
    pub gap: Gap,
}

impl Lab {
    /// Returns when it runs. Real servers are those of the tests.
    pub fn start(plan: LabPlan) -> Lab {
        let place = match plan.ground {
            Ground::Simulated(_) => Place::default(),
            Ground::Real(flavour) => place(flavour),
        };
        let gap = Gap::default();
        let beds_gap = gap.clone();
        let build = move |plan: &LabPlan, starting: &Starting| -> Result<Box<dyn Bed>, Trouble> {
            let (bed, gap) = (build_at(plan, starting, &place)?, beds_gap.clone());
            Ok(Box::new(Brittle { bed, gap }))
        };
        let (handle, statuses) = LabHandle::start_with(Arc::new(build), || {});
        let status = statuses.recv().expect("a first status");
        let mut lab = Lab {
            handle,
            statuses,
            status,
            gap,
        };
        lab.order(LabOrder::Start(plan));
        lab.until("it runs", |status| match &status.phase {
            LabPhase::Failed(why) => panic!("{}: {}", say(&why.what), why.detail),
            phase => matches!(phase, LabPhase::Running { .. }),
        });
        lab
    }

    pub fn order(&self, order: LabOrder) {
        assert!(self.handle.send(order), "the order is taken");
    }

    #[track_caller]
    pub fn until(&mut self, what: &str, holds: impl Fn(&LabStatus) -> bool) {
        let deadline = Instant::now() + SOON;
        loop {
            if let Ok(status) = self.statuses.recv_timeout(Duration::from_millis(50)) {
                self.status = status;
            }
            if holds(&self.status) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain until {what}. Last: {:#?}",
                self.status
            );
        }
    }

    /// Makes a fault and returns when it is in force, or over.
    #[track_caller]
    pub fn make(&mut self, kind: FaultKind, on: LabServer, intensity: f64) -> FaultId {
        let id = self.begin(kind, on, intensity);
        self.until_made(id);
        id
    }

    /// Returns when a fault is in force, or over; panics when it cannot be made.
    #[track_caller]
    pub fn until_made(&mut self, id: FaultId) {
        self.until_settled(id);
        let note = self.note(id).expect("it was noted");
        if let FaultState::Failed { why, .. } | FaultState::Stuck { why, .. } = &note.state {
            let kind = note.fault.kind;
            panic!("{kind:?} failed: {} {}", say(&why.what), why.detail);
        }
    }

    /// Orders a fault and returns when it is noted.
    #[track_caller]
    pub fn begin(&mut self, kind: FaultKind, on: LabServer, intensity: f64) -> FaultId {
        let last = |status: &LabStatus| status.faults.last().map_or(0, |note| note.id.0);
        let before = last(&self.status);
        self.order(LabOrder::Make(Fault {
            kind,
            on,
            intensity,
            lasts: None,
        }));
        self.until("the fault is noted", |status| last(status) > before);
        FaultId(last(&self.status))
    }

    #[track_caller]
    pub fn undo(&mut self, id: FaultId) {
        self.order(LabOrder::Undo(id));
        self.until("the fault is over", |status| match note_of(status, id) {
            Some(FaultNote {
                state: FaultState::Failed { why, .. } | FaultState::Stuck { why, .. },
                ..
            }) => panic!("not undone: {} {}", say(&why.what), why.detail),
            note => note.is_none_or(|note| matches!(note.state, FaultState::Over { .. })),
        });
    }

    #[track_caller]
    pub fn until_settled(&mut self, id: FaultId) {
        self.until("the fault is made", |status| {
            note_of(status, id).is_some_and(|note| {
                !matches!(note.state, FaultState::Starting | FaultState::Ending)
            })
        });
    }

    pub fn note(&self, id: FaultId) -> Option<&FaultNote> {
        note_of(&self.status, id)
    }

    /// From whom each server copies.
    pub fn copies(&self) -> Vec<Vec<LabServer>> {
        let nodes = self.status.nodes.iter();
        nodes.map(|node| node.copies_from.clone()).collect()
    }

    pub fn why_impossible(&self, kind: FaultKind) -> Option<&Phrase> {
        let found = self.status.impossible.iter().find(|(k, _)| *k == kind);
        found.map(|(_, why)| why)
    }

    /// An order that must not be carried out, and why.
    #[track_caller]
    pub fn refused(&mut self, kind: FaultKind, on: LabServer, why: &str) {
        let id = self.begin(kind, on, 1.0);
        self.until_settled(id);
        let state = self.note(id).map(|note| note.state.clone());
        let said = match &state {
            Some(FaultState::Failed { why, .. }) => Some(why.what.key),
            _ => None,
        };
        assert_eq!(said, Some(why), "{state:?}");
    }

    fn hand(&self, server: LabServer) -> (LabNode, Hand) {
        let node = &self.status.nodes[server];
        let admin = &self.status.accounts.as_ref().expect("it runs").admin;
        let hand = session::open(node.port, admin, SOON).expect("it takes a session");
        (node.clone(), hand)
    }

    pub fn channels(&self, server: LabServer) -> Vec<Channel> {
        let (node, hand) = self.hand(server);
        let mut admin = Admin::new(node, hand).expect("it answers");
        admin.channels().expect("it answers")
    }

    /// What a server answers with one value.
    pub fn seen(&self, server: LabServer, sql: &str) -> String {
        let (_, mut hand) = self.hand(server);
        let value = hand.value(sql).expect("it answers");
        value.expect("it is not NULL")
    }

    /// Queries of the slow readers that have run for so long.
    pub fn reports(&self, server: LabServer, seconds: u32) -> u64 {
        let count = self.seen(
            server,
            &format!(
                "SELECT COUNT(*) FROM information_schema.processlist \
                 WHERE info LIKE '%CONCAT(a.address%' AND user = 'app' AND time >= {seconds}"
            ),
        );
        count.parse().expect("a number")
    }

    /// As the product sees its servers.
    pub fn watch(&self) -> Watching {
        let accounts = self.status.accounts.as_ref().expect("it runs");
        Watching::of_lab(&self.status.nodes, accounts).start()
    }
}

/// A cache of the tests' own for the templates.
fn place(flavour: Flavour) -> Place {
    let installed = match flavour.is_mariadb() {
        true => Installed::MariaDb,
        false => Installed::MySql,
    };
    let servers = installed.prefix();
    let servers = servers.parent().expect("the cache of the servers");
    Place {
        program: Some(installed.program()),
        cache: Some(servers.join("lab-of-tests")),
    }
}

pub fn note_of(status: &LabStatus, id: FaultId) -> Option<&FaultNote> {
    status.faults.iter().find(|note| note.id == id)
}

pub fn say(phrase: &Phrase) -> String {
    Catalogue::of(Language::English).say(phrase)
}
