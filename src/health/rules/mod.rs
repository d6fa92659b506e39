//! The rules, one per file: what the person sees, why it matters, what to do, how it is decided, when it can't tell.

pub mod applier_blocked_by_lock;
pub mod applier_broken;
pub mod applier_not_advancing;
pub mod applier_stopped;
pub mod big_transaction;
pub mod clock_skew;
pub mod connections_nearly_used;
pub mod delayed_replica;
pub mod errant_transactions;
pub mod gtid_holes;
pub mod gtid_off;
pub mod heartbeat_event_disabled;
pub mod heartbeat_filtered;
pub mod heartbeat_writer_down;
pub mod lag_over_threshold;
pub mod large_offset;
pub mod long_transaction;
pub mod missing_privilege;
pub mod no_parallel_apply;
pub mod not_replicating;
pub mod purge_horizon;
pub mod reading_stale;
pub mod receiver_connecting;
pub mod receiver_stopped;
pub mod replica_writable;
pub mod role_changed;
pub mod seconds_behind_contradicted;
pub mod semi_sync_degraded;
pub mod semi_sync_locked_source;
pub mod semi_sync_nobody_acknowledging;
pub mod server_replaced;
pub mod server_restarted;
pub mod server_unreachable;
pub mod slow_readers;
pub mod source_read_only;
pub mod time_zone;
pub mod two_sources;

use super::facts::Facts;
use super::judgement::Judgement;
use crate::model::phrase::{Phrase, phrase};

/// All rules; within one severity, findings are listed in this order.
pub const RULES: &[Rule] = &[
    server_unreachable::RULE,
    reading_stale::RULE,
    two_sources::RULE,
    source_read_only::RULE,
    not_replicating::RULE,
    applier_broken::RULE,
    applier_stopped::RULE,
    receiver_stopped::RULE,
    receiver_connecting::RULE,
    purge_horizon::RULE,
    semi_sync_locked_source::RULE,
    lag_over_threshold::RULE,
    applier_not_advancing::RULE,
    errant_transactions::RULE,
    gtid_holes::RULE,
    replica_writable::RULE,
    semi_sync_degraded::RULE,
    semi_sync_nobody_acknowledging::RULE,
    applier_blocked_by_lock::RULE,
    big_transaction::RULE,
    no_parallel_apply::RULE,
    slow_readers::RULE,
    long_transaction::RULE,
    clock_skew::RULE,
    time_zone::RULE,
    heartbeat_writer_down::RULE,
    heartbeat_event_disabled::RULE,
    server_replaced::RULE,
    missing_privilege::RULE,
    connections_nearly_used::RULE,
    gtid_off::RULE,
    heartbeat_filtered::RULE,
    seconds_behind_contradicted::RULE,
    large_offset::RULE,
    server_restarted::RULE,
    role_changed::RULE,
    delayed_replica::RULE,
];

/// A question put to the facts; its code is the name of its file and part of the JSON contract.
#[derive(Clone, Copy)]
pub struct Rule {
    pub code: &'static str,
    ask: fn(&'static str, &Facts<'_>) -> Vec<Judgement>,
}

impl Rule {
    pub fn judge(&self, facts: &Facts<'_>) -> Vec<Judgement> {
        (self.ask)(self.code, facts)
    }
}

/// Where a rule stands in [`RULES`]; unknown codes come last.
pub fn rank(code: &str) -> usize {
    RULES
        .iter()
        .position(|rule| rule.code == code)
        .unwrap_or(RULES.len())
}

/// The server's own words.
fn quoted(text: &str) -> Phrase {
    phrase("evidence.server_says").with("text", text)
}
