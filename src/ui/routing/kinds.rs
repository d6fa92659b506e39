//! The table of the rule by query kind, as a person edits it, and what was asserted of each kind: one wrong line hits the
//! source from every machine, so a table that breaks an assertion is not taken (C-15).

use serde::{Deserialize, Serialize};

use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::ServerId;
use crate::model::server::WatchId;
use crate::model::time::Span;
use crate::routing::strategies::query_kind::{Assertion, Broken};
use crate::routing::strategies::{KindRoute, RouteTable};
use crate::routing::{LagLimit, QueryKind};

/// Where a kind goes, by names that outlast a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KindTarget {
    Source,
    HealthyReplica,
    /// This replica alone.
    Only(ServerId),
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindSetting {
    pub goes_to: KindTarget,
    /// A replica's lag must be below it.
    pub limit: Span,
    pub asserted: KindTarget,
}

/// Anything that is not in it goes to the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindTable {
    pub write: KindSetting,
    pub history: KindSetting,
    pub list: KindSetting,
    pub export: KindSetting,
}

/// Writes and exports on the source, histories and lists on a healthy replica; asserted just so.
impl Default for KindTable {
    fn default() -> Self {
        let line = |target: KindTarget| KindSetting {
            goes_to: target.clone(),
            limit: LagLimit::ONE_SECOND.span(),
            asserted: target,
        };
        KindTable {
            write: line(KindTarget::Source),
            history: line(KindTarget::HealthyReplica),
            list: line(KindTarget::HealthyReplica),
            export: line(KindTarget::Source),
        }
    }
}

/// How one line stands.
#[derive(Clone, Debug, PartialEq)]
pub enum KindState {
    Holds,
    /// It was asserted otherwise.
    Broken(Broken),
    /// Its own replica is not among the watched ones.
    NoSuchReplica,
}

impl KindTable {
    pub fn lines(&self) -> [(QueryKind, &KindSetting); 4] {
        [
            (QueryKind::Write, &self.write),
            (QueryKind::History, &self.history),
            (QueryKind::List, &self.list),
            (QueryKind::Export, &self.export),
        ]
    }

    pub fn lines_mut(&mut self) -> [(QueryKind, &mut KindSetting); 4] {
        [
            (QueryKind::Write, &mut self.write),
            (QueryKind::History, &mut self.history),
            (QueryKind::List, &mut self.list),
            (QueryKind::Export, &mut self.export),
        ]
    }

    /// As the rule takes it. A replica that is not watched gets no read: its line fails, see [`KindTable::states`].
    pub fn routes(&self, watch_of: &dyn Fn(&ServerId) -> Option<WatchId>) -> RouteTable {
        let lines = self.lines().into_iter();
        lines.fold(RouteTable::default(), |table, (kind, line)| {
            let route = route(&line.goes_to, watch_of).unwrap_or(KindRoute::Source);
            let limit = LagLimit::Below(line.limit);
            table.with(kind.clone(), route).with_limit(kind, limit)
        })
    }

    /// Of every line, in the order of [`KindTable::lines`].
    pub fn states(&self, watch_of: &dyn Fn(&ServerId) -> Option<WatchId>) -> [KindState; 4] {
        let table = self.routes(watch_of);
        self.lines().map(|(kind, line)| {
            let found = route(&line.goes_to, watch_of);
            let asserted = route(&line.asserted, watch_of);
            match (found, asserted) {
                (Some(_), Some(route)) => table
                    .broken(&[Assertion { kind, route }])
                    .pop()
                    .map_or(KindState::Holds, KindState::Broken),
                _ => KindState::NoSuchReplica,
            }
        })
    }

    /// Whether the rules take it.
    pub fn holds(&self, watch_of: &dyn Fn(&ServerId) -> Option<WatchId>) -> bool {
        let states = self.states(watch_of);
        states.iter().all(|state| *state == KindState::Holds)
    }
}

fn route(
    target: &KindTarget,
    watch_of: &dyn Fn(&ServerId) -> Option<WatchId>,
) -> Option<KindRoute> {
    Some(match target {
        KindTarget::Source => KindRoute::Source,
        KindTarget::HealthyReplica => KindRoute::HealthyReplica,
        KindTarget::Only(server) => KindRoute::Only(watch_of(server)?),
    })
}

/// The name a person sees; a replica by its own.
pub fn target_name(target: &KindTarget, replicas: &[(ServerId, String)]) -> Phrase {
    match target {
        KindTarget::Source => phrase("rules.route.source"),
        KindTarget::HealthyReplica => phrase("rules.route.healthy_replica"),
        KindTarget::Only(server) => {
            let name = replicas.iter().find(|(id, _)| id == server);
            let name = name.map_or(server.0.as_str(), |(_, name)| name.as_str());
            phrase("rules.route.only").with("replica", name)
        }
    }
}

pub fn kind_key(kind: &QueryKind) -> &'static str {
    match kind {
        QueryKind::Write => "rules.kind.write",
        QueryKind::History => "rules.kind.history",
        QueryKind::List => "rules.kind.list",
        QueryKind::Export => "rules.kind.export",
        QueryKind::Other(_) => "rules.kind.other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r1() -> ServerId {
        ServerId("r1".into())
    }

    fn watch_of(server: &ServerId) -> Option<WatchId> {
        (*server == r1()).then_some(WatchId(7))
    }

    #[test]
    fn the_table_at_first_is_the_one_the_rule_has_and_holds() {
        let (table, ours) = (
            RouteTable::default(),
            KindTable::default().routes(&watch_of),
        );
        for (kind, _) in KindTable::default().lines() {
            assert_eq!(ours.route(&kind), table.route(&kind));
            assert_eq!(ours.limit_of(&kind), table.limit_of(&kind));
        }
        assert!(KindTable::default().holds(&watch_of));
    }

    #[test]
    fn c15_a_line_that_says_other_than_asserted_fails_and_tells_both() {
        let mut table = KindTable::default();
        table.list.goes_to = KindTarget::Source;
        let [write, history, list, export] = table.states(&watch_of);
        assert_eq!([write, history, export], [const { KindState::Holds }; 3]);
        let broken = Broken {
            assertion: Assertion {
                kind: QueryKind::List,
                route: KindRoute::HealthyReplica,
            },
            found: KindRoute::Source,
        };
        assert_eq!(list, KindState::Broken(broken));
        assert!(!table.holds(&watch_of));
        table.list.asserted = KindTarget::Source;
        assert!(table.holds(&watch_of));
    }

    #[test]
    fn a_replica_that_is_not_watched_fails_its_line_and_gets_no_read() {
        let mut table = KindTable::default();
        for (server, holds) in [("r1", true), ("r9", false)] {
            let only = KindTarget::Only(ServerId(server.into()));
            (table.export.goes_to, table.export.asserted) = (only.clone(), only);
            assert_eq!(table.holds(&watch_of), holds, "{server}");
        }
        let found = table.routes(&watch_of).route(&QueryKind::Export);
        assert_eq!(found, KindRoute::Source);
    }

    #[test]
    fn what_is_kept_comes_back() {
        let mut table = KindTable::default();
        table.export.goes_to = KindTarget::Only(r1());
        table.history.limit = Span::from_millis(2_500);
        let text = serde_json::to_string(&table).expect("JSON");
        let back: KindTable = serde_json::from_str(&text).expect("a table");
        assert_eq!(back, table);
    }
}
