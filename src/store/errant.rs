//! Feeds the errant-transaction watches of both flavours with the guards of R19: the replica is read before its
//! source, and a set counts only when found twice in a row.

use crate::model::gtid::errant::{ErrantPoll, ErrantWatch, MariaDbErrantPoll, MariaDbErrantWatch};
use crate::model::gtid::mariadb::BinlogState;
use crate::model::gtid::{GtidPosition, GtidSet, Gtids, Uuid};
use crate::model::sample::Sample;

/// The watch of one replica.
#[derive(Clone, Debug, Default)]
pub struct Errant {
    mysql: ErrantWatch,
    mariadb: MariaDbErrantWatch,
}

impl Errant {
    /// `Some(None)`: looked and found nothing. `None`: cannot be told now.
    /// `sources` are all that the replica replicates from.
    pub fn look(&mut self, replica: &Sample, sources: &[&Sample]) -> Option<Option<Gtids>> {
        if sources.is_empty()
            || sources
                .iter()
                .any(|source| replica.answered_at > source.asked_at)
        {
            return None;
        }
        match (&replica.gtid.executed, sources) {
            (Some(Gtids::MySql(ours)), _) => self.look_mysql(ours, sources),
            (Some(Gtids::MariaDb(_)), [source]) => self.look_mariadb(replica, source),
            _ => None,
        }
    }

    fn look_mysql(&mut self, ours: &GtidSet, sources: &[&Sample]) -> Option<Option<Gtids>> {
        let mut theirs = GtidSet::default();
        let mut writers = Vec::new();
        for source in sources {
            let Some(Gtids::MySql(set)) = &source.gtid.executed else {
                return None;
            };
            theirs.union_with(set);
            writers.push(Uuid::parse(source.identity.server_uuid.as_deref()?).ok()?);
        }
        let found = self.mysql.poll(ErrantPoll {
            replica: ours,
            source: &theirs,
            writers: &writers,
        })?;
        Some((!found.is_empty()).then_some(Gtids::MySql(found)))
    }

    fn look_mariadb(&mut self, replica: &Sample, source: &Sample) -> Option<Option<Gtids>> {
        let state = |sample: &Sample| BinlogState::parse(sample.gtid.binlog_state.as_deref()?).ok();
        let took_over = match &source.gtid.applied {
            Some(Gtids::MariaDb(position)) => position.clone(),
            _ => GtidPosition::default(),
        };
        let writer = u32::try_from(source.identity.server_id?).ok()?;
        let found = self.mariadb.poll(MariaDbErrantPoll {
            replica: &state(replica)?,
            source: &state(source)?,
            source_took_over: &took_over,
            writers: &[writer],
        })?;
        let text: Vec<String> = found.iter().map(ToString::to_string).collect();
        match text.is_empty() {
            true => Some(None),
            false => Some(
                GtidPosition::parse(&text.join(","))
                    .ok()
                    .map(Gtids::MariaDb),
            ),
        }
    }
}
