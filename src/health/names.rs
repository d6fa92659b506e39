//! What each finding is called: for a list, or when it is over and its figures are gone.

use crate::model::phrase::{Phrase, phrase};

/// The name of a finding by its code; a code of a newer version names itself.
pub fn name_of(code: &'static str) -> Phrase {
    match code {
        "applier_blocked_by_lock" => phrase("finding.name.applier_blocked_by_lock"),
        "applier_broken" => phrase("finding.name.applier_broken"),
        "applier_not_advancing" => phrase("finding.name.applier_not_advancing"),
        "applier_stopped" => phrase("finding.name.applier_stopped"),
        "big_transaction" => phrase("finding.name.big_transaction"),
        "clock_skew" => phrase("finding.name.clock_skew"),
        "connections_nearly_used" => phrase("finding.name.connections_nearly_used"),
        "delayed_replica" => phrase("finding.name.delayed_replica"),
        "errant_transactions" => phrase("finding.name.errant_transactions"),
        "gtid_holes" => phrase("finding.name.gtid_holes"),
        "gtid_off" => phrase("finding.name.gtid_off"),
        "heartbeat_event_disabled" => phrase("finding.name.heartbeat_event_disabled"),
        "heartbeat_filtered" => phrase("finding.name.heartbeat_filtered"),
        "heartbeat_writer_down" => phrase("finding.name.heartbeat_writer_down"),
        "lag_over_threshold" => phrase("finding.name.lag_over_threshold"),
        "large_offset" => phrase("finding.name.large_offset"),
        "long_transaction" => phrase("finding.name.long_transaction"),
        "missing_privilege" => phrase("finding.name.missing_privilege"),
        "no_parallel_apply" => phrase("finding.name.no_parallel_apply"),
        "not_replicating" => phrase("finding.name.not_replicating"),
        "purge_horizon" => phrase("finding.name.purge_horizon"),
        "reading_stale" => phrase("finding.name.reading_stale"),
        "receiver_connecting" => phrase("finding.name.receiver_connecting"),
        "receiver_stopped" => phrase("finding.name.receiver_stopped"),
        "replica_writable" => phrase("finding.name.replica_writable"),
        "role_changed" => phrase("finding.name.role_changed"),
        "seconds_behind_contradicted" => phrase("finding.name.seconds_behind_contradicted"),
        "semi_sync_degraded" => phrase("finding.name.semi_sync_degraded"),
        "semi_sync_locked_source" => phrase("finding.name.semi_sync_locked_source"),
        "semi_sync_nobody_acknowledging" => phrase("finding.name.semi_sync_nobody_acknowledging"),
        "server_replaced" => phrase("finding.name.server_replaced"),
        "server_restarted" => phrase("finding.name.server_restarted"),
        "server_unreachable" => phrase("finding.name.server_unreachable"),
        "slow_readers" => phrase("finding.name.slow_readers"),
        "source_read_only" => phrase("finding.name.source_read_only"),
        "time_zone" => phrase("finding.name.time_zone"),
        "two_sources" => phrase("finding.name.two_sources"),
        other => Phrase::new(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::RULES;

    #[test]
    fn every_rule_has_a_name() {
        for rule in RULES {
            assert_ne!(name_of(rule.code).key, rule.code);
        }
    }
}
