//! The two sides: sessions under pools with hygiene, and under pools without.

use std::collections::BTreeMap;

use super::{DriftTask, Expected, Habit, Handed, observe, record, trouble, work};
use crate::link::clock;
use crate::link::pooling::{PoolDial, PoolUse, PooledLink};
use crate::model::time::Span;
use crate::model::trouble::Trouble;
use crate::routing::pool::fields;
use crate::routing::pool::sloppy::Drift;
use crate::routing::pool::{
    Checked, ConnectionId, Lease, Next, Observed, Origin, Pool, PoolRules, SloppyPools, Step,
    Verdict,
};
use crate::routing::record::Recorded;

/// Few, so that sessions are borrowed again and again.
const SIZE: usize = 2;
const QUEUE: Span = Span::from_secs(1);
/// A pool that destroys so many sessions for one borrower has none to give.
const TRIES: u32 = 4;
/// Over all of the pools without hygiene.
const MOST_SLOPPY: usize = 24;

const REPLICA: Origin = Origin::Replica(super::REPLICA);

type Links = BTreeMap<ConnectionId, Box<dyn PooledLink>>;

/// Pools with hygiene.
pub struct StrictSide<'a> {
    source: StrictPool<'a>,
    replica: StrictPool<'a>,
    pub handed: Handed,
    pub records: Vec<Recorded>,
}

impl<'a> StrictSide<'a> {
    pub fn new(task: &DriftTask<'a>, source: &Expected, replica: &Expected) -> Self {
        StrictSide {
            source: StrictPool::new(Origin::Source, task.writes, task.schema, source),
            replica: StrictPool::new(REPLICA, task.replica, task.schema, replica),
            handed: Handed::default(),
            records: Vec::new(),
        }
    }

    pub fn serve(
        &mut self,
        pool_use: PoolUse,
        habit: Habit,
        task: &DriftTask<'_>,
    ) -> Result<(), Trouble> {
        let pool = match pool_use {
            PoolUse::Writes => &mut self.source,
            PoolUse::Reads => &mut self.replica,
        };
        let Some(lease) = pool.borrow()? else {
            self.handed.none_left += 1;
            return Ok(());
        };
        let expected = pool.expected.clone();
        let link = pool.link(&lease)?;
        let carried = self.handed.look(link, &expected)?;
        let read = work(link, habit, pool_use, task, &expected.clean.isolation)?;
        let left = fields::differences(&observe(link)?, &expected.clean);
        pool.give_back(lease);
        self.records
            .push(record(task, (pool_use, habit), &read, carried, left));
        Ok(())
    }

    /// Cleaned, destroyed.
    pub fn counts(&self) -> (u64, u64) {
        let of = |pool: &StrictPool<'_>| (pool.pool.counts().cleaned, pool.pool.counts().destroyed);
        let (source, replica) = (of(&self.source), of(&self.replica));
        (source.0 + replica.0, source.1 + replica.1)
    }
}

/// One pool that leads to one server, with its sessions.
pub struct StrictPool<'a> {
    pool: Pool,
    links: Links,
    dial: &'a dyn PoolDial,
    pool_use: PoolUse,
    schema: &'a str,
    expected: Expected,
}

impl<'a> StrictPool<'a> {
    pub fn new(
        origin: Origin,
        dial: &'a dyn PoolDial,
        schema: &'a str,
        expected: &Expected,
    ) -> Self {
        let rules = PoolRules {
            size: SIZE,
            longest_queue: QUEUE,
            clean: expected.clean.clone(),
        };
        StrictPool {
            pool: Pool::new(origin, rules),
            links: Links::new(),
            dial,
            pool_use: use_of(origin),
            schema,
            expected: expected.clone(),
        }
    }

    pub fn of_replica(dial: &'a dyn PoolDial, schema: &'a str, expected: &Expected) -> Self {
        Self::new(REPLICA, dial, schema, expected)
    }

    /// `None`: all are in use for too long, or none could be made clean.
    pub fn borrow(&mut self) -> Result<Option<Lease>, Trouble> {
        let asked_at = clock::now();
        for _ in 0..TRIES {
            let id = match self.pool.borrow(asked_at, clock::now()) {
                Next::Inspect(id) => id,
                Next::Open(id) => {
                    self.open(id)?;
                    id
                }
                // One thread borrows here: nobody will give one back meanwhile.
                Next::Queue | Next::Refuse => return Ok(None),
            };
            let observed = self.observed(id);
            let checked = self.pool.inspected(id, &observed);
            if let Some(lease) = self.settle(id, checked) {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    pub fn give_back(&mut self, lease: Lease) {
        let id = lease.connection();
        let observed = self.observed(id);
        // It is this pool's own lease: `borrow` made it.
        if let Ok(checked) = self.pool.give_back(lease, &observed) {
            self.settle(id, checked);
        }
    }

    pub fn link(&mut self, lease: &Lease) -> Result<&mut (dyn PooledLink + 'static), Trouble> {
        let link = self.links.get_mut(&lease.connection());
        link.map(AsMut::as_mut)
            .ok_or_else(|| trouble("probe.not_connected"))
    }

    fn open(&mut self, id: ConnectionId) -> Result<(), Trouble> {
        match self.dial.dial_pooled(self.pool_use, self.schema) {
            Ok(link) => {
                self.links.insert(id, link);
                Ok(())
            }
            Err(why) => {
                self.pool.lost(id);
                Err(why)
            }
        }
    }

    /// A session that does not answer says nothing of itself, and is destroyed for that.
    fn observed(&mut self, id: ConnectionId) -> Observed {
        let link = self.links.get_mut(&id);
        link.and_then(|link| observe(link.as_mut()).ok())
            .unwrap_or_default()
    }

    /// Cleans where the pool says so, closes where it says so; a lease when it lends.
    fn settle(&mut self, id: ConnectionId, mut checked: Checked) -> Option<Lease> {
        loop {
            match checked.verdict {
                Verdict::Lend(lease) => return Some(lease),
                Verdict::Keep => return None,
                Verdict::Destroy(_) => {
                    self.links.remove(&id);
                    return None;
                }
                Verdict::Clean(steps) => {
                    let cleaned = self.clean(id, &steps);
                    let observed = match cleaned {
                        Ok(()) => self.observed(id),
                        Err(_) => Observed::default(),
                    };
                    checked = self.pool.cleaned(id, &observed);
                }
            }
        }
    }

    fn clean(&mut self, id: ConnectionId, steps: &[Step]) -> Result<(), Trouble> {
        let link = self
            .links
            .get_mut(&id)
            .ok_or_else(|| trouble("probe.not_connected"))?;
        for step in steps {
            match step {
                Step::Rollback => link.rollback()?,
                Step::ResetSession => link.reset()?,
                Step::UseSchema(schema) => link.use_schema(schema)?,
                Step::SetIsolation(isolation) => link.set_isolation(isolation)?,
                Step::ClearRouteLabel => link.set_route_label("")?,
            }
        }
        Ok(())
    }
}

fn use_of(origin: Origin) -> PoolUse {
    match origin {
        Origin::Source => PoolUse::Writes,
        Origin::Replica(_) => PoolUse::Reads,
    }
}

/// Pools without hygiene.
pub struct SloppySide<'a> {
    pools: SloppyPools,
    links: Links,
    writes: &'a dyn PoolDial,
    replica: &'a dyn PoolDial,
    schema: &'a str,
    expected: BTreeMap<Origin, Expected>,
    pub handed: Handed,
    pub records: Vec<Recorded>,
}

impl<'a> SloppySide<'a> {
    pub fn new(task: &DriftTask<'a>, source: &Expected, replica: &Expected) -> Self {
        let expected =
            BTreeMap::from([(Origin::Source, source.clone()), (REPLICA, replica.clone())]);
        let clean = expected
            .iter()
            .map(|(origin, expected)| (*origin, expected.clean.clone()));
        SloppySide {
            pools: SloppyPools::new(clean.collect(), MOST_SLOPPY),
            links: Links::new(),
            writes: task.writes,
            replica: task.replica,
            schema: task.schema,
            expected,
            handed: Handed::default(),
            records: Vec::new(),
        }
    }

    pub fn drift(&self) -> Drift {
        self.pools.drift().clone()
    }

    pub fn serve(
        &mut self,
        pool_use: PoolUse,
        habit: Habit,
        task: &DriftTask<'_>,
    ) -> Result<(), Trouble> {
        let want = match pool_use {
            PoolUse::Writes => Origin::Source,
            PoolUse::Reads => REPLICA,
        };
        let Some(loan) = self.pools.borrow(want) else {
            self.handed.none_left += 1;
            return Ok(());
        };
        let expected = self
            .expected
            .get(&want)
            .cloned()
            .ok_or_else(|| trouble("probe.not_connected"))?;
        let link = match self.links.entry(loan.connection) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                let dial = match loan.leads_to {
                    Origin::Source => self.writes,
                    Origin::Replica(_) => self.replica,
                };
                new.insert(dial.dial_pooled(use_of(loan.leads_to), self.schema)?)
            }
        };
        let carried = self.handed.look(link.as_mut(), &expected)?;
        let read = work(
            link.as_mut(),
            habit,
            pool_use,
            task,
            &expected.clean.isolation,
        )?;
        let left = observe(link.as_mut())?;
        let differs = fields::differences(&left, &expected.clean);
        self.pools.give_back(loan.connection, left);
        let mut recorded = record(task, (pool_use, habit), &read, carried, differs);
        recorded.is_careless = true;
        self.records.push(recorded);
        Ok(())
    }
}
