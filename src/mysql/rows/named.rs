//! Variables and status counters, and semi-sync out of both.

use std::collections::BTreeMap;

use crate::model::replication::{SemiSync, SemiSyncReplica, SemiSyncSource};
use crate::model::sample::Named;
use crate::model::time::Span;
use crate::model::trouble::readable;

use super::Rows;

/// Two columns, whatever they are called: name and value.
pub fn named(rows: &Rows) -> Named {
    let mut map = BTreeMap::new();
    for cells in &rows.cells {
        if let [Some(name), value, ..] = cells.as_slice() {
            map.insert(
                String::from_utf8_lossy(name).to_ascii_lowercase(),
                value.as_deref().map(readable).unwrap_or_default(),
            );
        }
    }
    Named(map)
}

/// Both name families (R23). An end whose plugin is not installed has no status row and is absent.
pub fn semi_sync(status: &Named, settings: Option<&Named>) -> SemiSync {
    SemiSync {
        source: source(status, settings),
        replica: replica(status, settings),
    }
}

fn source(status: &Named, settings: Option<&Named>) -> Option<SemiSyncSource> {
    let active = status.either(&["rpl_semi_sync_source_status", "rpl_semi_sync_master_status"])?;
    let count = |source: &str, master: &str| status.number(&[source, master]);
    let setting = |names: &[&str; 2]| settings.and_then(|s| s.either(names));
    Some(SemiSyncSource {
        enabled: settings.and_then(|s| {
            s.switch(&[
                "rpl_semi_sync_source_enabled",
                "rpl_semi_sync_master_enabled",
            ])
        }),
        active: crate::model::sample::switch(active),
        clients: count(
            "rpl_semi_sync_source_clients",
            "rpl_semi_sync_master_clients",
        ),
        required: required(settings),
        timeout: setting(&[
            "rpl_semi_sync_source_timeout",
            "rpl_semi_sync_master_timeout",
        ])
        .and_then(|text| text.parse().ok())
        .map(Span::from_millis),
        wait_no_replica: settings.and_then(|s| {
            s.switch(&[
                "rpl_semi_sync_source_wait_no_replica",
                "rpl_semi_sync_master_wait_no_slave",
            ])
        }),
        wait_point: setting(&[
            "rpl_semi_sync_source_wait_point",
            "rpl_semi_sync_master_wait_point",
        ])
        .map(str::to_owned),
        yes_tx: count("rpl_semi_sync_source_yes_tx", "rpl_semi_sync_master_yes_tx"),
        no_tx: count("rpl_semi_sync_source_no_tx", "rpl_semi_sync_master_no_tx"),
        no_times: count(
            "rpl_semi_sync_source_no_times",
            "rpl_semi_sync_master_no_times",
        ),
        wait_sessions: count(
            "rpl_semi_sync_source_wait_sessions",
            "rpl_semi_sync_master_wait_sessions",
        ),
        average_wait: count(
            "rpl_semi_sync_source_tx_avg_wait_time",
            "rpl_semi_sync_master_tx_avg_wait_time",
        )
        .and_then(|micros| i64::try_from(micros).ok())
        .map(Span::from_micros),
    })
}

/// MariaDB has no such setting and always needs one acknowledgement; that is known once its settings are.
fn required(settings: Option<&Named>) -> Option<u64> {
    let settings = settings?;
    settings
        .number(&[
            "rpl_semi_sync_source_wait_for_replica_count",
            "rpl_semi_sync_master_wait_for_slave_count",
        ])
        .or_else(|| settings.text("gtid_domain_id").map(|_| 1))
}

fn replica(status: &Named, settings: Option<&Named>) -> Option<SemiSyncReplica> {
    let active = status.either(&["rpl_semi_sync_replica_status", "rpl_semi_sync_slave_status"])?;
    Some(SemiSyncReplica {
        enabled: settings.and_then(|s| {
            s.switch(&[
                "rpl_semi_sync_replica_enabled",
                "rpl_semi_sync_slave_enabled",
            ])
        }),
        active: crate::model::sample::switch(active),
    })
}

#[cfg(test)]
mod tests {
    use super::super::captured::table;
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Named {
        Named(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn names_are_lower_case_and_values_readable() {
        let rows = table(
            &["Variable_name", "Value"],
            &[
                &[Some("Rpl_semi_sync_source_status"), Some("ON")],
                &[Some("x"), None],
            ],
        );
        let told = named(&rows);
        assert_eq!(told.text("rpl_semi_sync_source_status"), Some("ON"));
        assert_eq!(told.text("x"), Some(""));
    }

    #[test]
    fn r23_the_names_follow_the_plugin_and_none_means_not_installed() {
        assert_eq!(
            semi_sync(&of(&[("threads_running", "2")]), None),
            SemiSync::default()
        );
        let new = semi_sync(
            &of(&[
                ("rpl_semi_sync_source_status", "ON"),
                ("rpl_semi_sync_source_clients", "0"),
                ("rpl_semi_sync_replica_status", "OFF"),
            ]),
            Some(&of(&[
                ("rpl_semi_sync_source_timeout", "1000"),
                ("rpl_semi_sync_source_wait_for_replica_count", "2"),
            ])),
        );
        let source = new.source.expect("installed");
        assert_eq!(
            (source.active, source.clients, source.required),
            (Some(true), Some(0), Some(2))
        );
        assert_eq!(source.timeout, Some(Span::from_secs(1)));
        // Wanted or not is not told: not the same as off.
        assert_eq!(source.enabled, None);
        assert_eq!(new.replica.and_then(|r| r.active), Some(false));

        let old = semi_sync(
            &of(&[
                ("rpl_semi_sync_master_status", "OFF"),
                ("rpl_semi_sync_master_no_tx", "7"),
            ]),
            Some(&of(&[
                ("rpl_semi_sync_master_enabled", "ON"),
                ("gtid_domain_id", "0"),
            ])),
        );
        let source = old.source.expect("built in");
        assert_eq!(
            (source.enabled, source.active, source.no_tx),
            (Some(true), Some(false), Some(7))
        );
        assert_eq!(source.required, Some(1));
        assert_eq!(old.replica, None);
    }
}
