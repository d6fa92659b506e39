//! The routing rules, one per file, from the one that gives up all relief to the one that gives up all freshness.
//!
//! | rule | promise | price |
//! |---|---|---|
//! | [`always_source`] | strong | the replicas relieve nothing |
//! | [`gtid_wait`] | strong | the read waits as long as the lag |
//! | [`write_window`] | while lag stays below the window | every read of a recent writer is on the source |
//! | [`sequence_window`] | the same, for rows written lately | a list per session |
//! | [`lag_gated`] | none: bounds how old | all reads return to the source when lag grows |
//! | [`query_kind`] | none: by what a query is for | one wrong tag hits the source from everywhere |
//! | [`rate_limited`] | that of the rule inside | some reads are refused |
//! | [`plain_replica`] | none | the baseline: what happens if nobody thinks of it |

pub mod always_source;
pub mod gtid_wait;
pub mod lag_gated;
pub mod plain_replica;
pub mod query_kind;
pub mod rate_limited;
pub mod sequence_window;
pub mod write_window;

pub use always_source::AlwaysSource;
pub use gtid_wait::{AfterTimeout, GtidWait, GtidWaitRules};
pub use lag_gated::LagGated;
pub use plain_replica::PlainReplica;
pub use query_kind::{KindRoute, QueryKindRouter, RouteTable};
pub use rate_limited::{Headroom, RateLimited, TokenBucket};
pub use sequence_window::SequenceWindow;
pub use write_window::WriteWindow;

use super::pick::Order;
use super::replica::LagLimit;
use super::strategy::Strategy;

/// Every rule with its presets, in the order they are shown; those by query kind go by `kinds`. The last is limited to
/// the source's headroom, and left out while that is not known.
pub fn standard(headroom: Option<Headroom>, kinds: &RouteTable) -> Vec<Box<dyn Strategy>> {
    let by_kind = |order| QueryKindRouter::new(kinds.clone().with_order(order));
    let mut rules: Vec<Box<dyn Strategy>> = vec![
        Box::new(AlwaysSource),
        Box::new(GtidWait::new(GtidWaitRules::SOURCE_ON_TIMEOUT)),
        Box::new(GtidWait::new(GtidWaitRules::RESELECT_ON_TIMEOUT)),
        Box::new(WriteWindow::new(WriteWindow::TWO_SECONDS)),
        Box::new(WriteWindow::new(WriteWindow::ONE_SECOND)),
        Box::new(SequenceWindow::new(SequenceWindow::TWO_SECONDS)),
        Box::new(LagGated::new(LagLimit::THREE_SECONDS)),
        Box::new(LagGated::new(LagLimit::ONE_SECOND)),
        Box::new(by_kind(Order::FirstHealthy)),
        Box::new(by_kind(Order::RoundRobin)),
        Box::new(PlainReplica::default()),
    ];
    if let Some(headroom) = headroom {
        let inner = Box::new(by_kind(Order::FirstHealthy));
        rules.push(Box::new(RateLimited::new(inner, headroom)));
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::super::build::{at_ms, list_at, replica};
    use super::super::decision::{Decision, Reason};
    use super::super::request::{QueryKind, Request};
    use super::*;
    use std::collections::BTreeSet;

    fn headroom() -> Headroom {
        Headroom {
            capacity_per_second: 1_000.0,
            used_per_second: 400.0,
        }
    }

    #[test]
    fn b07_no_rule_lets_a_write_or_an_open_transaction_leave_the_source() {
        for mut rule in standard(Some(headroom()), &RouteTable::default()) {
            let write = Request {
                kind: QueryKind::Write,
                ..list_at(60_000)
            };
            let bound = Request {
                in_transaction: true,
                ..list_at(60_000)
            };
            let code = rule.code();
            for (request, reason) in [(write, Reason::IsWrite), (bound, Reason::InTransaction)] {
                let decision = rule.read(&request, &[replica(1)]);
                assert_eq!(decision, Decision::source(reason), "{code}");
            }
        }
    }

    #[test]
    fn a_rule_that_never_waits_goes_to_the_source_when_told_of_a_wait() {
        for mut rule in standard(None, &RouteTable::default()) {
            let decision = rule.waited(&list_at(0), &[], at_ms(0), &[replica(1)]);
            assert_eq!(
                decision,
                Decision::source(Reason::NoGtid),
                "{}",
                rule.code()
            );
        }
    }

    #[test]
    fn no_two_rules_have_one_name() {
        let rules = standard(Some(headroom()), &RouteTable::default());
        let codes: BTreeSet<_> = rules.iter().map(|rule| rule.code()).collect();
        let names: BTreeSet<_> = rules
            .iter()
            .map(|rule| format!("{:?}", rule.name()))
            .collect();
        assert_eq!((codes.len(), names.len()), (rules.len(), rules.len()));
    }
}
