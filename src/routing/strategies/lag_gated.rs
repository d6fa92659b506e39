//! A replica as long as its lag is known to be within a limit, otherwise the source.
//!
//! Bounds how old a read may be, but does not see its own write: 900 ms behind is "healthy" and still returns the
//! old value 100 ms after the commit.

use crate::model::phrase::Phrase;

use super::super::decision::Decision;
use super::super::pick::{Order, Picker};
use super::super::replica::{LagLimit, ReplicaView};
use super::super::request::Request;
use super::super::strategy::{Promise, Strategy};

#[derive(Clone, Debug)]
pub struct LagGated {
    limit: LagLimit,
    picker: Picker,
}

impl LagGated {
    pub fn new(limit: LagLimit) -> Self {
        LagGated {
            limit,
            picker: Picker::new(Order::RoundRobin),
        }
    }
}

impl Strategy for LagGated {
    fn code(&self) -> String {
        format!("lag_gated_{}ms", self.limit.span().micros() / 1_000)
    }

    fn name(&self) -> Phrase {
        Phrase::new("routing.rule.lag_gated").with("limit", self.limit.span())
    }

    fn promise(&self) -> Promise {
        Promise::Nothing
    }

    fn choose(&mut self, _: &Request, replicas: &[ReplicaView]) -> Decision {
        Decision::of_pick(self.picker.pick(replicas, |view| view.is_fresh(self.limit)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::build::{lag_ms, list_at, replica, unknown_lag};
    use super::super::super::decision::Go;
    use super::super::super::replica::Threads;
    use super::*;
    use crate::model::server::WatchId;

    #[test]
    fn the_gate_opens_and_closes_at_the_limit() {
        let replica_go = Go::Replica(WatchId(1));
        for (limit, lag, threads, went) in [
            (
                LagLimit::THREE_SECONDS,
                lag_ms(2_999),
                Threads::Running,
                &replica_go,
            ),
            (
                LagLimit::THREE_SECONDS,
                lag_ms(3_000),
                Threads::Running,
                &replica_go,
            ),
            (
                LagLimit::THREE_SECONDS,
                lag_ms(3_001),
                Threads::Running,
                &Go::Source,
            ),
            (
                LagLimit::ONE_SECOND,
                lag_ms(999),
                Threads::Running,
                &replica_go,
            ),
            (
                LagLimit::ONE_SECOND,
                lag_ms(1_000),
                Threads::Running,
                &Go::Source,
            ),
            (
                LagLimit::ONE_SECOND,
                lag_ms(1_001),
                Threads::Running,
                &Go::Source,
            ),
            // R04: zero seconds behind, because nothing is applied any more.
            (
                LagLimit::ONE_SECOND,
                lag_ms(0),
                Threads::NotRunning,
                &Go::Source,
            ),
            (
                LagLimit::ONE_SECOND,
                lag_ms(0),
                Threads::Unknown,
                &Go::Source,
            ),
            (
                LagLimit::THREE_SECONDS,
                unknown_lag(),
                Threads::Running,
                &Go::Source,
            ),
        ] {
            let view = ReplicaView {
                lag: lag.clone(),
                threads,
                ..replica(1)
            };
            let decision = LagGated::new(limit).read(&list_at(0), &[view]);
            assert_eq!(decision.go, *went, "{limit:?} {lag:?} {threads:?}");
        }
    }
}
