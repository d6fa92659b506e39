//! Where a query goes by what it is for: a table from kind to route, and an assertion for every kind.
//!
//! Cheap and clear, but the table is a single point of failure: one wrong line, and a report hits the source from
//! every machine. So each kind's route is asserted, and a table that breaks an assertion is not taken.

use std::collections::BTreeMap;

use crate::model::phrase::{Phrase, phrase};
use crate::model::server::WatchId;

use super::super::decision::{Decision, Reason};
use super::super::pick::{Order, Picker};
use super::super::replica::{LagLimit, ReplicaView, Unfit};
use super::super::request::{QueryKind, Request};
use super::super::strategy::{Promise, Strategy};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KindRoute {
    Source,
    /// A healthy replica, else the source.
    HealthyReplica,
    /// This replica alone: exports have one of their own. When it is not healthy, the source.
    Only(WatchId),
}

/// Kinds not in the table go to the source.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteTable {
    routes: BTreeMap<QueryKind, KindRoute>,
    /// Of kinds that bear more, or less, than the others.
    limits: BTreeMap<QueryKind, LagLimit>,
    pub order: Order,
    pub limit: LagLimit,
}

/// Writes on the source, histories and lists on a healthy replica, anything else on the source.
impl Default for RouteTable {
    fn default() -> Self {
        RouteTable {
            routes: BTreeMap::from([
                (QueryKind::Write, KindRoute::Source),
                (QueryKind::History, KindRoute::HealthyReplica),
                (QueryKind::List, KindRoute::HealthyReplica),
            ]),
            limits: BTreeMap::new(),
            order: Order::FirstHealthy,
            limit: LagLimit::ONE_SECOND,
        }
    }
}

impl RouteTable {
    pub fn route(&self, kind: &QueryKind) -> KindRoute {
        self.routes.get(kind).copied().unwrap_or(KindRoute::Source)
    }

    pub fn limit_of(&self, kind: &QueryKind) -> LagLimit {
        self.limits.get(kind).copied().unwrap_or(self.limit)
    }

    pub fn with_limit(mut self, kind: QueryKind, limit: LagLimit) -> Self {
        self.limits.insert(kind, limit);
        self
    }

    pub fn set(&mut self, kind: QueryKind, route: KindRoute) {
        self.routes.insert(kind, route);
    }

    pub fn with(mut self, kind: QueryKind, route: KindRoute) -> Self {
        self.set(kind, route);
        self
    }

    pub fn with_order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// What the table must say, whatever else is changed in it; one line per kind.
    pub fn broken(&self, assertions: &[Assertion]) -> Vec<Broken> {
        assertions
            .iter()
            .filter(|assertion| self.route(&assertion.kind) != assertion.route)
            .map(|assertion| Broken {
                assertion: assertion.clone(),
                found: self.route(&assertion.kind),
            })
            .collect()
    }

    /// The assertions that describe this table as it is.
    pub fn assertions(&self) -> Vec<Assertion> {
        let known = [
            QueryKind::Write,
            QueryKind::History,
            QueryKind::List,
            QueryKind::Export,
        ];
        let mut kinds: Vec<QueryKind> = self.routes.keys().cloned().chain(known).collect();
        kinds.sort();
        kinds.dedup();
        kinds
            .into_iter()
            .map(|kind| Assertion {
                route: self.route(&kind),
                kind,
            })
            .collect()
    }
}

/// "This kind goes there."
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    pub kind: QueryKind,
    pub route: KindRoute,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    pub assertion: Assertion,
    pub found: KindRoute,
}

#[derive(Clone, Debug)]
pub struct QueryKindRouter {
    table: RouteTable,
    picker: Picker,
}

impl QueryKindRouter {
    pub fn new(table: RouteTable) -> Self {
        QueryKindRouter {
            picker: Picker::new(table.order),
            table,
        }
    }

    /// Takes another table while running, unless it breaks an assertion.
    pub fn reload(
        &mut self,
        table: RouteTable,
        assertions: &[Assertion],
    ) -> Result<(), Vec<Broken>> {
        let broken = table.broken(assertions);
        if !broken.is_empty() {
            return Err(broken);
        }
        *self = QueryKindRouter::new(table);
        Ok(())
    }

    pub fn table(&self) -> &RouteTable {
        &self.table
    }
}

impl Strategy for QueryKindRouter {
    fn code(&self) -> String {
        match self.table.order {
            Order::FirstHealthy => "query_kind".to_owned(),
            Order::RoundRobin => "query_kind_round_robin".to_owned(),
        }
    }

    fn name(&self) -> Phrase {
        match self.table.order {
            Order::FirstHealthy => phrase("routing.rule.query_kind"),
            Order::RoundRobin => phrase("routing.rule.query_kind_round_robin"),
        }
    }

    fn promise(&self) -> Promise {
        Promise::Nothing
    }

    fn choose(&mut self, request: &Request, replicas: &[ReplicaView]) -> Decision {
        let limit = self.table.limit_of(&request.kind);
        match self.table.route(&request.kind) {
            KindRoute::Source => Decision::source(Reason::KindOnSource),
            KindRoute::HealthyReplica => {
                Decision::of_pick(self.picker.pick(replicas, |view| view.is_fresh(limit)))
            }
            KindRoute::Only(watch) => {
                let own = replicas.iter().find(|view| view.watch == watch);
                let fit = own
                    .ok_or(Unfit::NoReplica)
                    .and_then(|view| view.is_fresh(limit));
                Decision::of_pick(fit.map(|()| watch))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::build::{lag_ms, list_at, replica};
    use super::super::super::decision::Go;
    use super::*;

    fn other() -> QueryKind {
        QueryKind::Other("search".to_owned())
    }

    fn reads(router: &mut QueryKindRouter, kind: QueryKind, replicas: &[ReplicaView]) -> Go {
        let request = Request { kind, ..list_at(0) };
        router.read(&request, replicas).go
    }

    #[test]
    fn c03_every_kind_has_its_route() {
        let healthy = [replica(1), replica(2)];
        let late = ReplicaView {
            lag: lag_ms(1_000),
            ..replica(1)
        };
        for (kind, while_healthy, while_late) in [
            (QueryKind::Write, Go::Source, Go::Source),
            (QueryKind::History, Go::Replica(WatchId(1)), Go::Source),
            (QueryKind::List, Go::Replica(WatchId(1)), Go::Source),
            (QueryKind::Export, Go::Source, Go::Source),
            (other(), Go::Source, Go::Source),
        ] {
            let mut router = QueryKindRouter::new(RouteTable::default());
            assert_eq!(reads(&mut router, kind.clone(), &healthy), while_healthy);
            assert_eq!(
                reads(&mut router, kind, std::slice::from_ref(&late)),
                while_late
            );
        }
    }

    #[test]
    fn c04_first_healthy_keeps_to_one_and_round_robin_does_not() {
        let replicas = [replica(1), replica(2)];
        for (order, picked) in [
            (Order::FirstHealthy, [1, 1, 1]),
            (Order::RoundRobin, [1, 2, 1]),
        ] {
            let mut router = QueryKindRouter::new(RouteTable::default().with_order(order));
            let went = [(); 3].map(|()| reads(&mut router, QueryKind::List, &replicas));
            assert_eq!(went, picked.map(|n| Go::Replica(WatchId(n))), "{order:?}");
        }
    }

    #[test]
    fn a_kind_that_bears_more_lag_has_a_limit_of_its_own() {
        let late = [ReplicaView {
            lag: lag_ms(2_000),
            ..replica(1)
        }];
        let table = RouteTable::default().with_limit(QueryKind::History, LagLimit::THREE_SECONDS);
        let mut router = QueryKindRouter::new(table);
        let replica = Go::Replica(WatchId(1));
        assert_eq!(reads(&mut router, QueryKind::History, &late), replica);
        assert_eq!(reads(&mut router, QueryKind::List, &late), Go::Source);
    }

    #[test]
    fn exports_keep_to_their_own_replica_and_never_load_another() {
        let table = RouteTable::default().with(QueryKind::Export, KindRoute::Only(WatchId(2)));
        let mut router = QueryKindRouter::new(table);
        let both = [replica(1), replica(2)];
        assert_eq!(
            reads(&mut router, QueryKind::Export, &both),
            Go::Replica(WatchId(2))
        );
        assert_eq!(
            reads(&mut router, QueryKind::Export, &both[..1]),
            Go::Source
        );
    }

    #[test]
    fn c15_a_table_with_one_wrong_line_is_not_taken() {
        let good = RouteTable::default().with(QueryKind::Export, KindRoute::Only(WatchId(2)));
        let assertions = good.assertions();
        assert_eq!(assertions.len(), 4);
        let mut router = QueryKindRouter::new(good.clone());
        let wrong = good.clone().with(QueryKind::Export, KindRoute::Source);
        let broken = router.reload(wrong, &assertions).expect_err("broken");
        assert_eq!(
            broken,
            [Broken {
                assertion: Assertion {
                    kind: QueryKind::Export,
                    route: KindRoute::Only(WatchId(2)),
                },
                found: KindRoute::Source,
            }]
        );
        assert_eq!(router.table(), &good);
        let spread = good.with_order(Order::RoundRobin);
        assert_eq!(router.reload(spread.clone(), &assertions), Ok(()));
        assert_eq!(router.table(), &spread);
    }
}
