//! A simulation for a test, and sessions on it.

use std::time::Duration;

use replicascope::lab::bed::Bed;
use replicascope::lab::simulator::{SimClock, Simulator};
use replicascope::model::lab::{Generation, Ground, LabAccount, LabPlan};
use replicascope::model::trouble::Trouble;
use replicascope::mysql::hand::{Cells, Hand};
use replicascope::mysql::{Address, Dialer, Endpoint};

use super::support::watching::Watching;

pub const SOON: Duration = Duration::from_secs(20);

pub fn plan(generation: Generation) -> LabPlan {
    LabPlan {
        ground: Ground::Simulated(generation),
        ..LabPlan::default()
    }
}

pub fn start(plan: &LabPlan) -> Simulator {
    Simulator::start(plan, SimClock::wall()).expect("a simulation starts")
}

pub fn dialer(lab: &Simulator, server: usize, account: &LabAccount) -> Dialer {
    dialer_to(lab.nodes()[server].port, account)
}

pub fn dialer_to(port: u16, account: &LabAccount) -> Dialer {
    let address = Address::Tcp {
        host: "127.0.0.1".into(),
        port,
    };
    let password = Some(account.password.expose());
    Dialer::new(Endpoint::new(address, account.user, password))
}

/// As the program watches, often.
pub fn watch(lab: &Simulator) -> Watching {
    Watching::of_bed(lab).start()
}

/// A session that may do anything.
pub fn admin(lab: &Simulator, server: usize) -> Said {
    said(lab, server, &lab.accounts().admin)
}

pub fn said(lab: &Simulator, server: usize, account: &LabAccount) -> Said {
    said_by(&dialer(lab, server, account))
}

pub fn said_by(dialer: &Dialer) -> Said {
    let hand = Hand::open(dialer, Duration::from_secs(30));
    Said(hand.expect("the server lets us in"))
}

/// Says statements and panics with them.
pub struct Said(pub Hand);

impl Said {
    #[track_caller]
    pub fn run(&mut self, sql: &str) {
        for statement in sql.split(';').map(str::trim).filter(|s| !s.is_empty()) {
            if let Err(trouble) = self.0.run(statement) {
                panic!("{statement}: {:?} {}", trouble.code, trouble.detail);
            }
        }
    }

    #[track_caller]
    pub fn rows(&mut self, sql: &str) -> Vec<Cells> {
        match self.0.rows(sql) {
            Ok(rows) => rows,
            Err(trouble) => panic!("{sql}: {:?} {}", trouble.code, trouble.detail),
        }
    }

    /// The first value as text; NULL is `NULL`.
    #[track_caller]
    pub fn value(&mut self, sql: &str) -> String {
        let rows = self.rows(sql);
        let first = rows.first().and_then(|row| row.first());
        match first {
            Some(Some(text)) => text.clone(),
            Some(None) => "NULL".to_owned(),
            None => panic!("{sql}: no row"),
        }
    }

    /// One column of the only row of a SHOW.
    #[track_caller]
    pub fn field(&mut self, sql: &str, name: &str) -> Option<String> {
        let rows = self.0.named_rows(sql).expect(sql);
        let row = rows.into_iter().next().expect("a row");
        let found = row.into_iter().find(|(column, _)| column == name);
        found.unwrap_or_else(|| panic!("{sql}: no {name}")).1
    }

    /// The number of the error that it is refused with.
    #[track_caller]
    pub fn refused(&mut self, sql: &str) -> u32 {
        match self.0.rows(sql) {
            Ok(rows) => panic!("{sql}: {rows:?}"),
            Err(Trouble {
                code: Some(code), ..
            }) => code,
            Err(trouble) => panic!("{sql}: {trouble:?}"),
        }
    }
}
