//! Pools without hygiene, to show beside the good ones what drifts.
//!
//! They do what a short piece of pool code easily does: borrow from the source's pool first, overwrite that connection
//! with the replica's and so lose it; check and clean nothing; and release everything into the source's pool (T-9).
//! The next one who wants the source is then handed a replica.

use std::collections::{BTreeMap, VecDeque};

use super::fields::{self, Clean, Field, Observed};
use super::{ConnectionId, Origin};

/// What borrowers were handed that they should not have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    pub lends: u64,
    /// Led to another server than asked for.
    pub wrong_server: u64,
    /// Carried something of the last user.
    pub unclean: BTreeMap<Field, u64>,
    /// Taken out and never given back.
    pub lost: u64,
    /// Asked for when all were lost or in use.
    pub exhausted: u64,
}

/// A connection handed out, right or wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loan {
    pub connection: ConnectionId,
    /// Where it really leads.
    pub leads_to: Origin,
    /// To be opened first.
    pub is_new: bool,
}

#[derive(Clone, Debug)]
pub struct SloppyPools {
    clean: BTreeMap<Origin, Clean>,
    most: usize,
    idle: BTreeMap<Origin, VecDeque<ConnectionId>>,
    /// Where each one leads, and how it was left.
    known: BTreeMap<ConnectionId, (Origin, Option<Observed>)>,
    drift: Drift,
}

impl SloppyPools {
    /// `clean` says per server what its connections should be like; `most` is the limit over all of them.
    pub fn new(clean: BTreeMap<Origin, Clean>, most: usize) -> Self {
        SloppyPools {
            clean,
            most,
            idle: BTreeMap::new(),
            known: BTreeMap::new(),
            drift: Drift::default(),
        }
    }

    pub fn drift(&self) -> &Drift {
        &self.drift
    }

    /// `None` when there is none left.
    pub fn borrow(&mut self, want: Origin) -> Option<Loan> {
        let mut loan = self.take(Origin::Source);
        if loan.is_some() && want != Origin::Source {
            self.drift.lost += 1;
            loan = self.take(want);
        }
        match &loan {
            Some(loan) => self.judge(loan, want),
            None => self.drift.exhausted += 1,
        }
        loan
    }

    /// Into the source's pool, as it is.
    pub fn give_back(&mut self, connection: ConnectionId, left: Observed) {
        if let Some((_, state)) = self.known.get_mut(&connection) {
            *state = Some(left);
            let pool = self.idle.entry(Origin::Source).or_default();
            pool.push_back(connection);
        }
    }

    fn take(&mut self, from: Origin) -> Option<Loan> {
        let idle = self.idle.entry(from).or_default().pop_front();
        if let Some(connection) = idle {
            let (leads_to, _) = self.known.get(&connection)?;
            return Some(Loan {
                connection,
                leads_to: *leads_to,
                is_new: false,
            });
        }
        if self.known.len() >= self.most {
            return None;
        }
        let connection = ConnectionId(self.known.len() as u64 + 1);
        self.known.insert(connection, (from, None));
        Some(Loan {
            connection,
            leads_to: from,
            is_new: true,
        })
    }

    fn judge(&mut self, loan: &Loan, want: Origin) {
        self.drift.lends += 1;
        self.drift.wrong_server += u64::from(loan.leads_to != want);
        let left = self
            .known
            .get(&loan.connection)
            .and_then(|(_, left)| left.as_ref());
        if let (Some(left), Some(clean)) = (left, self.clean.get(&want)) {
            for difference in fields::differences(left, clean) {
                *self.drift.unclean.entry(difference.field).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::build::{clean_source, observed};
    use super::*;
    use crate::model::server::WatchId;

    const REPLICA: Origin = Origin::Replica(WatchId(2));

    fn pools(most: usize) -> SloppyPools {
        let replica = Clean {
            read_only: true,
            ..clean_source()
        };
        let clean = [(Origin::Source, clean_source()), (REPLICA, replica)];
        SloppyPools::new(BTreeMap::from(clean), most)
    }

    #[test]
    fn t9_who_wants_the_source_is_handed_a_replica() {
        let mut pools = pools(8);
        let loan = pools.borrow(REPLICA).expect("one");
        assert_eq!(loan.leads_to, REPLICA);
        let mut left = observed(&clean_source());
        left.read_only = Some(true);
        pools.give_back(loan.connection, left);
        let next = pools.borrow(Origin::Source).expect("one");
        assert_eq!(next.leads_to, REPLICA);
        let drift = pools.drift();
        assert_eq!((drift.lends, drift.wrong_server, drift.lost), (2, 1, 1));
        assert_eq!(drift.unclean, BTreeMap::from([(Field::ReadOnly, 1)]));
    }

    #[test]
    fn b10_the_last_users_transaction_is_carried_on() {
        let mut pools = pools(8);
        let loan = pools.borrow(Origin::Source).expect("one");
        let left = Observed {
            in_transaction: Some(true),
            route_label: Some("read_write".to_owned()),
            ..observed(&clean_source())
        };
        pools.give_back(loan.connection, left);
        pools.borrow(Origin::Source).expect("one");
        let unclean = BTreeMap::from([(Field::Transaction, 1), (Field::RouteLabel, 1)]);
        assert_eq!(pools.drift().unclean, unclean);
    }

    #[test]
    fn lost_connections_end_in_an_empty_pool() {
        let mut pools = pools(4);
        let mut served = 0;
        while let Some(loan) = pools.borrow(REPLICA) {
            served += 1;
            pools.give_back(loan.connection, observed(&clean_source()));
            assert!(served < 100, "never exhausted");
        }
        assert_eq!(pools.drift().exhausted, 1);
        assert!(pools.drift().lost >= 2, "{:?}", pools.drift());
    }
}
