//! Settings that decide what survives a crash and what replication can do, each with what it means in plain words.

use super::scene::Scene;
use super::sql::Asked;
use crate::model::sample::Named;
use crate::model::time::Span;
use crate::ui::panels::{FactRow, Panel, Tone, answered, from_where};
use crate::words::Catalogue;

pub fn panel(scene: &Scene<'_>) -> Panel {
    let mut panel = scene.panel("settings", "server.settings", Asked::Settings);
    let Some((settings, at)) = answered(&mut panel, scene.frame, &scene.sample.settings) else {
        return panel;
    };
    let source = from_where(scene.frame, "SHOW GLOBAL VARIABLES", at);
    panel.note = scene.frame.words.ago(scene.frame.now.since(at));
    if let Some((verdict, tone)) = durability(settings) {
        panel.say(scene.t(verdict), tone);
    }
    for setting in SETTINGS {
        let Some((name, value)) = setting
            .names
            .iter()
            .find_map(|name| Some((*name, settings.text(name)?)))
        else {
            continue;
        };
        let (meaning, tone) = (setting.meaning)(value);
        let shown = (setting.shown)(scene.frame.words, value);
        let meaning = if meaning.is_empty() {
            ""
        } else {
            scene.t(meaning)
        };
        panel.push(
            FactRow::new(name, shown)
                .source(&source)
                .meaning(meaning, tone),
        );
    }
    zone(scene, settings, &source, &mut panel);
    panel
}

/// "Double 1": both logs on disk before a commit is acknowledged.
pub fn durability(settings: &Named) -> Option<(&'static str, Tone)> {
    let binlog = settings.number(&["sync_binlog"])?;
    let redo = settings.number(&["innodb_flush_log_at_trx_commit"])?;
    Some(match (binlog, redo) {
        (1, 1) => ("server.durable.both", Tone::Good),
        (1, _) => ("server.durable.binlog", Tone::Warning),
        (_, 1) => ("server.durable.redo", Tone::Warning),
        _ => ("server.durable.none", Tone::Warning),
    })
}

/// The key of what a value means, and whether that is good. Empty: nothing to add.
type Meaning = (&'static str, Tone);

struct Setting {
    names: &'static [&'static str],
    shown: fn(&Catalogue, &str) -> String,
    meaning: fn(&str) -> Meaning,
}

const fn plain(names: &'static [&'static str], meaning: fn(&str) -> Meaning) -> Setting {
    Setting {
        names,
        shown: |_, value| value.to_owned(),
        meaning,
    }
}

fn nothing(_: &str) -> Meaning {
    ("", Tone::Dim)
}

fn is_on(value: &str) -> bool {
    crate::model::sample::switch(value) == Some(true)
}

const SETTINGS: &[Setting] = &[
    plain(&["sync_binlog"], |value| match value {
        "1" => ("server.sync_binlog.1", Tone::Dim),
        "0" => ("server.sync_binlog.0", Tone::Warning),
        _ => ("server.sync_binlog.n", Tone::Warning),
    }),
    plain(&["innodb_flush_log_at_trx_commit"], |value| match value {
        "1" => ("server.flush_log.1", Tone::Dim),
        "2" => ("server.flush_log.2", Tone::Warning),
        _ => ("server.flush_log.0", Tone::Warning),
    }),
    plain(&["log_bin"], |value| {
        if is_on(value) {
            ("server.log_bin.on", Tone::Dim)
        } else {
            ("server.log_bin.off", Tone::Warning)
        }
    }),
    plain(&["log_replica_updates", "log_slave_updates"], |value| {
        if is_on(value) {
            ("server.log_updates.on", Tone::Dim)
        } else {
            ("server.log_updates.off", Tone::Warning)
        }
    }),
    plain(&["binlog_format"], |value| match value {
        "ROW" => ("server.format.row", Tone::Dim),
        "MIXED" => ("server.format.mixed", Tone::Dim),
        _ => ("server.format.statement", Tone::Warning),
    }),
    plain(&["binlog_row_image"], nothing),
    plain(&["gtid_mode"], |value| {
        if value == "ON" {
            ("server.gtid_mode.on", Tone::Dim)
        } else {
            ("server.gtid_mode.off", Tone::Warning)
        }
    }),
    plain(&["enforce_gtid_consistency"], nothing),
    plain(&["gtid_strict_mode"], nothing),
    Setting {
        names: &["binlog_expire_logs_seconds"],
        shown: |words, value| seconds(words, value, 1),
        meaning: expiry,
    },
    Setting {
        names: &["expire_logs_days"],
        shown: |words, value| seconds(words, value, 24 * 3600),
        meaning: expiry,
    },
    plain(&["event_scheduler"], |value| {
        if is_on(value) {
            ("server.event_scheduler.on", Tone::Dim)
        } else {
            ("server.event_scheduler.off", Tone::Dim)
        }
    }),
    plain(&["relay_log_recovery"], |value| {
        if is_on(value) {
            ("server.relay_recovery.on", Tone::Dim)
        } else {
            ("server.relay_recovery.off", Tone::Dim)
        }
    }),
    Setting {
        names: &["replica_net_timeout", "slave_net_timeout"],
        shown: |words, value| seconds(words, value, 1),
        meaning: |_| ("server.net_timeout", Tone::Dim),
    },
    plain(&["replica_skip_errors", "slave_skip_errors"], |value| {
        if value.is_empty() || value.eq_ignore_ascii_case("off") {
            ("server.skip_errors.off", Tone::Dim)
        } else {
            ("server.skip_errors.on", Tone::Critical)
        }
    }),
    plain(&["performance_schema"], |value| {
        if is_on(value) {
            ("", Tone::Dim)
        } else {
            ("server.performance_schema.off", Tone::Warning)
        }
    }),
];

fn expiry(value: &str) -> Meaning {
    if value.parse::<f64>() == Ok(0.0) {
        ("server.expire.never", Tone::Warning)
    } else {
        ("server.expire.after", Tone::Dim)
    }
}

/// A number of seconds or days as people say it; what is no number stays as it came.
fn seconds(words: &Catalogue, value: &str, unit: i64) -> String {
    match value.parse::<f64>() {
        Ok(n) => words.span(Span::from_secs_f64(n * unit as f64)),
        Err(_) => value.to_owned(),
    }
}

/// SYSTEM alone says nothing: the system's zone stands beside it.
fn zone(scene: &Scene<'_>, settings: &Named, source: &str, panel: &mut Panel) {
    let Some(zone) = settings.text("time_zone") else {
        return;
    };
    let zone = match settings.text("system_time_zone") {
        Some(system) if zone == "SYSTEM" => format!("SYSTEM ({system})"),
        _ => zone.to_owned(),
    };
    let fact = FactRow::new("time_zone", zone).source(source);
    panel.push(fact.meaning(scene.t("server.time_zone"), Tone::Dim));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_both_ones_are_double_one() {
        let verdict = |binlog: &str, redo: &str| {
            let pairs = [
                ("sync_binlog", binlog),
                ("innodb_flush_log_at_trx_commit", redo),
            ];
            let named = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
            durability(&Named(named.into_iter().collect())).map(|(key, _)| key)
        };
        assert_eq!(verdict("1", "1"), Some("server.durable.both"));
        assert_eq!(verdict("1", "2"), Some("server.durable.binlog"));
        assert_eq!(verdict("1000", "1"), Some("server.durable.redo"));
        assert_eq!(verdict("0", "0"), Some("server.durable.none"));
        assert_eq!(durability(&Named::default()), None);
    }
}
