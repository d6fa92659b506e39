//! The load a server carries: connections, threads running, slow queries (the trio of C-08), and its share of reads
//! and writes as measured (C-01).

use super::scene::Scene;
use super::sql::Asked;
use crate::model::phrase::phrase;
use crate::ui::panels::{FactRow, Panel, Tone, answered};

pub fn panel(scene: &Scene<'_>) -> Panel {
    let mut panel = scene.panel("load", "server.load.title", Asked::Status);
    let Some((status, at)) = answered(&mut panel, scene.frame, &scene.sample.status) else {
        return panel;
    };
    let words = scene.frame.words;
    panel.push(connections(scene));
    let running = status.number(&["threads_running"]);
    panel.push(scene.fact_at(
        scene.t("server.load.running"),
        running,
        |n| words.count(n),
        "Threads_running",
        at,
    ));
    panel.push(slow(scene));
    let statements = scene.rate(&["questions"]);
    panel.push(scene.fact_at(
        scene.t("server.load.statements"),
        statements,
        |r| words.rate(r),
        "Questions",
        at,
    ));
    panel.push(reads_and_writes(scene));
    let waits = status.number(&["innodb_row_lock_current_waits"]);
    panel.push(scene.fact_at(
        scene.t("server.load.lock_waits"),
        waits,
        |n| words.count(n),
        "Innodb_row_lock_current_waits",
        at,
    ));
    panel
}

/// Used of allowed; from 80 % on it warns.
const CONNECTIONS_WARN: f64 = 0.8;

fn connections(scene: &Scene<'_>) -> FactRow {
    let words = scene.frame.words;
    let status = scene.sample.status.value();
    let used = status.and_then(|status| status.number(&["threads_connected"]));
    let most = scene
        .sample
        .setting(&["max_connections"])
        .and_then(|text| text.parse::<u64>().ok());
    let share = used
        .zip(most)
        .map(|(used, most)| used as f64 / most.max(1) as f64);
    let text = used.map(|used| match (most, share) {
        (Some(most), Some(share)) => {
            let text = phrase("server.load.of")
                .with("used", used)
                .with("max", words.count(most))
                .with("share", words.percent(share));
            words.say(&text)
        }
        _ => words.count(used),
    });
    let fact = scene.fact(
        "server.load.connections",
        text,
        |text| text,
        "Threads_connected, max_connections",
    );
    match share {
        Some(share) if share >= CONNECTIONS_WARN => fact.tone(Tone::Warning),
        _ => fact,
    }
}

fn slow(scene: &Scene<'_>) -> FactRow {
    let words = scene.frame.words;
    let total = scene
        .sample
        .status
        .value()
        .and_then(|status| status.number(&["slow_queries"]));
    let rate = scene.rate(&["slow_queries"]);
    let text = total.map(|total| match rate {
        Some(rate) => format!("{} · {}", words.count(total), words.rate(rate)),
        None => words.count(total),
    });
    let limit = scene.sample.setting(&["long_query_time"]).unwrap_or("?");
    let source = format!("Slow_queries, long_query_time = {limit} s");
    let fact = scene.fact("server.load.slow", text, |text| text, &source);
    match rate {
        Some(rate) if rate > 0.0 => fact.tone(Tone::Warning),
        _ => fact,
    }
}

/// Reads and writes a second, and the share of reads.
fn reads_and_writes(scene: &Scene<'_>) -> FactRow {
    let words = scene.frame.words;
    let reads = scene.rate(&["com_select"]);
    let writes = ["com_insert", "com_update", "com_delete", "com_replace"]
        .iter()
        .map(|name| scene.rate(&[name]))
        .sum::<Option<f64>>();
    let text = reads.zip(writes).map(|(reads, writes)| {
        let share = read_share(reads, writes);
        let text = phrase("server.load.mix.text")
            .with("reads", words.rate(reads))
            .with("writes", words.rate(writes))
            .with(
                "share",
                share.map_or_else(|| "—".to_owned(), |share| words.percent(share)),
            );
        words.say(&text)
    });
    scene.fact(
        "server.load.mix.title",
        text,
        |text| text,
        "Com_select, Com_insert, Com_update, Com_delete, Com_replace",
    )
}

fn read_share(reads: f64, writes: f64) -> Option<f64> {
    let all = reads + writes;
    (all > 0.0).then(|| reads / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_server_has_no_share_of_reads() {
        assert_eq!(read_share(0.0, 0.0), None);
        assert_eq!(read_share(7.0, 3.0), Some(0.7));
    }
}
