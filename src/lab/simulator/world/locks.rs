//! Locks on a server: of sessions, and of the applier's workers that wait for them. What can be locked and how is in
//! `wants`.
//!
//! A session takes what it needs before a statement has any effect, and keeps it until its transaction ends or it
//! unlocks. Workers are served the moment a lock is free; sessions ask again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::model::time::Moment;

use super::transaction::{RowKey, TableName};
use super::wants::{Blocked, TableLock, Until, Want, Who, collide, go_together};

/// All locks of one server.
#[derive(Debug, Default)]
pub(super) struct Locks {
    global: Vec<Held<GlobalLock>>,
    tables: BTreeMap<TableName, Table>,
    /// First come, first served.
    waiting: Vec<Waiting>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GlobalLock {
    Read,
    Write,
}

#[derive(Debug)]
struct Held<L> {
    who: Who,
    lock: L,
    until: Until,
    since: Moment,
}

#[derive(Debug, Default)]
struct Table {
    held: Vec<Held<TableLock>>,
    rows: HashMap<RowKey, (Who, Moment)>,
    all_rows: Option<(Who, Moment)>,
}

#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub who: Who,
    wants: Arc<[Want]>,
    pub since: Moment,
    pub on: (Who, Moment, Blocked),
}

impl Locks {
    /// Takes all of it, or none and waits. Whoever waits already keeps its place.
    pub fn ask(
        &mut self,
        now: Moment,
        who: Who,
        wants: &[Want],
        until: Until,
    ) -> Result<(), Waiting> {
        let place = self.waiting.iter().position(|w| w.who == who);
        let ahead = place.unwrap_or(self.waiting.len());
        match self.in_the_way(who, wants, ahead) {
            None => {
                if let Some(place) = place {
                    self.waiting.remove(place);
                }
                self.take(now, who, wants, until);
                Ok(())
            }
            Some(on) => {
                let waiting = Waiting {
                    who,
                    wants: Arc::from(wants),
                    since: place.map_or(now, |place| self.waiting[place].since),
                    on,
                };
                match place {
                    Some(place) => self.waiting[place] = waiting.clone(),
                    None => self.waiting.push(waiting.clone()),
                }
                Err(waiting)
            }
        }
    }

    /// Whether waiting here would never end: whom it waits for waits, in the end, for itself.
    pub fn is_deadlock(&self, who: Who) -> bool {
        let mut at = who;
        for _ in 0..=self.waiting.len() {
            match self.waiting.iter().find(|w| w.who == at) {
                Some(waiting) if waiting.on.0 == who => return true,
                Some(waiting) => at = waiting.on.0,
                None => return false,
            }
        }
        false
    }

    pub fn stop_waiting(&mut self, who: Who) {
        self.waiting.retain(|w| w.who != who);
    }

    pub fn release(&mut self, who: Who, until: Until) {
        self.global.retain(|h| h.who != who || h.until != until);
        for table in self.tables.values_mut() {
            table.held.retain(|h| h.who != who || h.until != until);
            if until == Until::TransactionEnds {
                table.rows.retain(|_, (holder, _)| *holder != who);
                table.all_rows.take_if(|(holder, _)| *holder == who);
            }
        }
        self.tables.retain(|_, table| !table.is_empty());
    }

    /// Workers that wait, in their order; ask again for each after a release.
    pub fn waiting_workers(&self) -> Vec<Who> {
        let workers = self.waiting.iter().map(|w| w.who);
        workers
            .filter(|who| matches!(who, Who::Worker { .. }))
            .collect()
    }

    pub fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    pub fn waiting_of(&self, who: Who) -> Option<&Waiting> {
        self.waiting.iter().find(|w| w.who == who)
    }

    pub fn held_by(&self, who: Who) -> Vec<(Want, Moment)> {
        let mut held = Vec::new();
        for lock in self.global.iter().filter(|h| h.who == who) {
            let want = match lock.lock {
                GlobalLock::Read => Want::GlobalRead,
                GlobalLock::Write => Want::GlobalWrite,
            };
            held.push((want, lock.since));
        }
        for (name, table) in &self.tables {
            let mine = table.held.iter().filter(|h| h.who == who);
            held.extend(mine.map(|h| (Want::Table(name.clone(), h.lock), h.since)));
            if let Some((_, since)) = table.all_rows.filter(|(holder, _)| *holder == who) {
                held.push((Want::AllRows(name.clone()), since));
            }
            let mine = table.rows.iter().filter(|(_, (holder, _))| *holder == who);
            let mut rows: Vec<_> = mine.map(|(key, (_, since))| (*key, *since)).collect();
            rows.sort_unstable();
            if let Some(since) = rows.iter().map(|row| row.1).min() {
                let keys = rows.iter().map(|row| row.0).collect();
                held.push((Want::Rows(name.clone(), keys), since));
            }
        }
        held
    }

    pub fn clear(&mut self) {
        *self = Locks::default();
    }

    /// The first that keeps `who` from this: somebody who holds it, or who came earlier and wants it.
    fn in_the_way(&self, who: Who, wants: &[Want], ahead: usize) -> Option<(Who, Moment, Blocked)> {
        let held = wants.iter().find_map(|want| self.holder(who, want));
        if held.is_some() || self.holds_anything(who) {
            return held;
        }
        // Whoever holds something already may pass, or it would wait for those who wait for it.
        let earlier = self.waiting[..ahead].iter().filter(|w| w.who != who);
        for waiting in earlier {
            for (theirs, ours) in pairs(&waiting.wants, wants) {
                if let Some(blocked) = collide(theirs, ours) {
                    return Some((waiting.who, waiting.since, blocked));
                }
            }
        }
        None
    }

    fn holder(&self, who: Who, want: &Want) -> Option<(Who, Moment, Blocked)> {
        let global = |lock: GlobalLock| {
            let other = self.global.iter().find(|h| h.who != who && h.lock == lock);
            other.map(|h| (h.who, h.since, Blocked::Global))
        };
        match want {
            Want::GlobalRead => global(GlobalLock::Write),
            Want::GlobalWrite => global(GlobalLock::Read),
            Want::Table(name, lock) => {
                let held = &self.tables.get(name)?.held;
                let other = held
                    .iter()
                    .find(|h| h.who != who && !go_together(h.lock, *lock));
                other.map(|h| (h.who, h.since, Blocked::Table(name.clone())))
            }
            Want::Rows(name, keys) => {
                let table = self.tables.get(name)?;
                let all = table.all_rows.filter(|(holder, _)| *holder != who);
                let other = |key| table.rows.get(key).filter(|(holder, _)| *holder != who);
                let row = all.or_else(|| keys.iter().find_map(other).copied());
                row.map(|(holder, since)| (holder, since, Blocked::Row(name.clone())))
            }
            Want::AllRows(name) => {
                let table = self.tables.get(name)?;
                let all = table.all_rows.filter(|(holder, _)| *holder != who);
                let others = table.rows.values().filter(|(holder, _)| *holder != who);
                // By time and owner, not by the map's order, which is another each time.
                let row = all.or_else(|| others.min_by_key(|(who, at)| (*at, *who)).copied());
                row.map(|(holder, since)| (holder, since, Blocked::Row(name.clone())))
            }
        }
    }

    fn holds_anything(&self, who: Who) -> bool {
        self.global.iter().any(|h| h.who == who)
            || self.tables.values().any(|table| {
                table.held.iter().any(|h| h.who == who)
                    || table.all_rows.is_some_and(|(holder, _)| holder == who)
            })
    }

    fn take(&mut self, now: Moment, who: Who, wants: &[Want], until: Until) {
        for want in wants {
            match want {
                Want::GlobalRead => self.take_global(now, who, GlobalLock::Read, until),
                Want::GlobalWrite => self.take_global(now, who, GlobalLock::Write, until),
                Want::Table(name, lock) => {
                    let held = &mut self.tables.entry(name.clone()).or_default().held;
                    let same =
                        |h: &Held<TableLock>| h.who == who && h.lock == *lock && h.until == until;
                    if !held.iter().any(same) {
                        held.push(Held {
                            who,
                            lock: *lock,
                            until,
                            since: now,
                        });
                    }
                }
                Want::Rows(name, keys) => {
                    let rows = &mut self.tables.entry(name.clone()).or_default().rows;
                    for key in keys.iter() {
                        rows.entry(*key).or_insert((who, now));
                    }
                }
                Want::AllRows(name) => {
                    let table = self.tables.entry(name.clone()).or_default();
                    table.all_rows.get_or_insert((who, now));
                }
            }
        }
    }

    fn take_global(&mut self, now: Moment, who: Who, lock: GlobalLock, until: Until) {
        let mut held = self.global.iter();
        if !held.any(|h| h.who == who && h.lock == lock && h.until == until) {
            self.global.push(Held {
                who,
                lock,
                until,
                since: now,
            });
        }
    }
}

impl Table {
    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.rows.is_empty() && self.all_rows.is_none()
    }
}

fn pairs<'a>(a: &'a [Want], b: &'a [Want]) -> impl Iterator<Item = (&'a Want, &'a Want)> {
    a.iter().flat_map(move |x| b.iter().map(move |y| (x, y)))
}

#[cfg(test)]
mod tests {
    use super::super::transaction::{Part, Touch};
    use super::super::wants::wants_of;
    use super::*;

    fn at(ms: i64) -> Moment {
        Moment::from_unix_micros(ms * 1000)
    }

    fn table(name: &str, lock: TableLock) -> Want {
        Want::Table(Arc::from(name), lock)
    }

    fn rows(keys: &[RowKey]) -> Want {
        Want::Rows(Arc::from("shop.orders"), Arc::from(keys))
    }

    const ONE: Who = Who::Session(1);
    const TWO: Who = Who::Session(2);
    const WORKER: Who = Who::Worker {
        channel: 1,
        worker: 0,
    };

    #[test]
    fn which_table_locks_go_together() {
        use TableLock::{Exclusive, Read, ReadOnly, Write};
        let cases = [
            (Read, Read, true),
            (Read, Write, true),
            (Write, Write, true),
            (Read, ReadOnly, true),
            (ReadOnly, ReadOnly, true),
            (Write, ReadOnly, false),
            (Read, Exclusive, false),
            (Write, Exclusive, false),
            (Exclusive, Exclusive, false),
        ];
        for (held, wanted, together) in cases {
            let mut locks = Locks::default();
            let t = "shop.orders";
            let first = locks.ask(at(0), ONE, &[table(t, held)], Until::TransactionEnds);
            let second = locks.ask(at(0), TWO, &[table(t, wanted)], Until::TransactionEnds);
            assert!(first.is_ok());
            assert_eq!(second.is_ok(), together, "{held:?} and {wanted:?}");
        }
    }

    #[test]
    fn who_waits_knows_for_whom_and_since_when() {
        let mut locks = Locks::default();
        let lock = [table("shop.orders", TableLock::Exclusive)];
        locks.ask(at(5), ONE, &lock, Until::Unlocked).expect("free");
        let wants = [table("shop.orders", TableLock::Write), rows(&[7])];
        let waiting = locks.ask(at(9), WORKER, &wants, Until::TransactionEnds);
        let waiting = waiting.expect_err("locked");
        let blocked = Blocked::Table(Arc::from("shop.orders"));
        assert_eq!((waiting.since, waiting.on), (at(9), (ONE, at(5), blocked)));
        // COMMIT does not unlock tables, UNLOCK TABLES does.
        locks.release(ONE, Until::TransactionEnds);
        assert!(
            locks
                .ask(at(10), WORKER, &wants, Until::TransactionEnds)
                .is_err()
        );
        locks.release(ONE, Until::Unlocked);
        assert!(
            locks
                .ask(at(11), WORKER, &wants, Until::TransactionEnds)
                .is_ok()
        );
        assert!(locks.waiting().is_empty());
    }

    #[test]
    fn rows_are_locked_one_by_one_or_all() {
        let mut locks = Locks::default();
        let t = Until::TransactionEnds;
        assert!(locks.ask(at(0), ONE, &[rows(&[1, 2])], t).is_ok());
        assert!(locks.ask(at(0), TWO, &[rows(&[3])], t).is_ok());
        assert!(locks.ask(at(0), WORKER, &[rows(&[2])], t).is_err());
        let all = [Want::AllRows(Arc::from("shop.orders"))];
        assert!(locks.ask(at(0), TWO, &all, t).is_err());
        locks.release(ONE, t);
        assert!(locks.ask(at(1), TWO, &all, t).is_ok());
        assert!(locks.ask(at(1), WORKER, &[rows(&[2])], t).is_err());
    }

    #[test]
    fn two_that_wait_for_each_other_are_a_deadlock() {
        let mut locks = Locks::default();
        let t = Until::TransactionEnds;
        locks.ask(at(0), ONE, &[rows(&[1])], t).expect("free");
        locks.ask(at(0), TWO, &[rows(&[2])], t).expect("free");
        locks.ask(at(1), ONE, &[rows(&[2])], t).expect_err("taken");
        assert!(!locks.is_deadlock(ONE));
        locks.ask(at(2), TWO, &[rows(&[1])], t).expect_err("taken");
        assert!(locks.is_deadlock(TWO));
    }

    #[test]
    fn a_waiting_exclusive_lock_is_not_overtaken() {
        let mut locks = Locks::default();
        let t = Until::TransactionEnds;
        let read = [table("t", TableLock::Read)];
        locks.ask(at(0), ONE, &read, t).expect("free");
        let alter = [table("t", TableLock::Exclusive)];
        locks.ask(at(1), TWO, &alter, t).expect_err("being read");
        assert!(locks.ask(at(2), WORKER, &read, t).is_err());
    }

    #[test]
    fn flush_tables_with_read_lock_keeps_writers_out() {
        let mut locks = Locks::default();
        let ftwrl = [Want::GlobalRead];
        locks
            .ask(at(0), ONE, &ftwrl, Until::Unlocked)
            .expect("free");
        let wants = wants_of(&[Touch {
            table: Arc::from("t"),
            part: Part::AllRows,
        }]);
        let waiting = locks.ask(at(1), WORKER, &wants, Until::TransactionEnds);
        assert_eq!(waiting.expect_err("locked").on.2, Blocked::Global);
    }
}
