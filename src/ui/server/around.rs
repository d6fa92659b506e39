//! What surrounds a server: its binary logs, the replicas it knows of, the heartbeat as it holds it, and the events
//! that write one.

use super::scene::Scene;
use super::sql::Asked;
use crate::model::phrase::phrase;
use crate::model::profile::Address;
use crate::model::sample::{BinaryLog, FoundReplica, HeartbeatRow};
use crate::model::time::{ServerTime, Span};
use crate::ui::panels::{
    Block, Cell, FactRow, Offer, Panel, RowColumn, Rows, Tone, answered, from_where,
};
use crate::ui::widgets::Sign;

/// The newest are listed; a server may keep thousands.
const LOGS_LISTED: usize = 8;

pub fn binary_logs(scene: &Scene<'_>) -> Panel {
    let words = scene.frame.words;
    let mut panel = scene.panel("binary_logs", "server.binary_logs.title", Asked::BinaryLogs);
    if let Some((position, at)) = answered(&mut panel, scene.frame, &scene.sample.binlog) {
        let text = format!("{} : {}", position.file, words.count(position.position));
        panel.push(
            FactRow::new(scene.t("server.binary_logs.position"), text).source(from_where(
                scene.frame,
                "SHOW BINARY LOG STATUS",
                at,
            )),
        );
    }
    let Some((logs, at)) = answered(&mut panel, scene.frame, &scene.sample.binary_logs) else {
        return panel;
    };
    let total: u64 = logs.iter().map(|log| log.bytes).sum();
    let text = phrase("server.binary_logs.total")
        .with("n", logs.len() as u64)
        .with("bytes", words.bytes(total));
    panel.push(
        FactRow::new(scene.t("server.binary_logs.kept"), scene.say(&text)).source(from_where(
            scene.frame,
            "SHOW BINARY LOGS",
            at,
        )),
    );
    if !logs.is_empty() {
        panel.push(log_table(scene, logs));
    }
    panel
}

fn log_table(scene: &Scene<'_>, logs: &[BinaryLog]) -> Rows {
    let words = scene.frame.words;
    let older = logs.len().saturating_sub(LOGS_LISTED);
    Rows {
        columns: vec![
            RowColumn::words(scene.t("server.binary_logs.file"), 3.0),
            RowColumn::numbers(scene.t("server.binary_logs.size"), 1.0),
        ],
        rows: logs[older..]
            .iter()
            .rev()
            .map(|log| vec![Cell::code(&log.file), Cell::new(words.bytes(log.bytes))])
            .collect(),
        more: (older > 0)
            .then(|| scene.say(&phrase("server.binary_logs.older").with("n", older as u64))),
    }
}

pub fn found(scene: &Scene<'_>) -> Panel {
    let mut panel = scene.panel("found", "server.found.title", Asked::Replicas);
    let Some((found, at)) = answered(&mut panel, scene.frame, &scene.sample.found_replicas) else {
        return panel;
    };
    panel.note = scene.frame.words.ago(scene.frame.now.since(at));
    if found.is_empty() {
        panel.say(scene.t("server.found.none"), Tone::Dim);
    }
    for replica in found.iter() {
        panel.blocks.push(Block::Offer(offer(scene, replica)));
    }
    panel
}

fn offer(scene: &Scene<'_>, replica: &FoundReplica) -> Offer {
    let address = match (replica.host.as_str(), replica.port) {
        ("", _) => scene.t("server.found.no_host").to_owned(),
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let id = replica.server_id.map(|id| format!("server_id {id}"));
    let watched = watched_as(scene, replica);
    let note = match &watched {
        Some(name) => Some(scene.with("server.found.watched", "name", name.as_str())),
        None => id,
    };
    let add = match (watched, scene.frame.topology) {
        // Without a host there is nothing to connect to
        (None, Some(topology)) if !replica.host.is_empty() => {
            Some((topology.clone(), replica.clone()))
        }
        _ => None,
    };
    Offer {
        text: address,
        note: note.unwrap_or_default(),
        add,
    }
}

/// Its name, if it is in this topology already: by uuid, else by server id, else by address.
fn watched_as(scene: &Scene<'_>, replica: &FoundReplica) -> Option<String> {
    let topology = scene.frame.topology?;
    let servers: Vec<_> = scene.frame.store.servers_of(topology).collect();
    let identity = |server: &crate::store::watched::Watched| {
        server
            .last_known
            .as_ref()
            .map(|sample| sample.identity.clone())
    };
    let by_uuid = servers.iter().find(|server| {
        let uuid = identity(server).and_then(|id| id.server_uuid);
        uuid.zip(replica.uuid.clone())
            .is_some_and(|(a, b)| a.eq_ignore_ascii_case(&b))
    });
    let by_id = || {
        servers.iter().find(|server| {
            let id = identity(server).and_then(|id| id.server_id);
            replica.uuid.is_none() && id.is_some_and(|id| id != 0) && id == replica.server_id
        })
    };
    let by_address = || {
        servers
            .iter()
            .find(|server| match &server.registration.address {
                Address::Tcp { host, port } => *host == replica.host && Some(*port) == replica.port,
                Address::Socket { .. } => false,
            })
    };
    by_uuid
        .or_else(by_id)
        .or_else(by_address)
        .map(|server| server.registration.name.clone())
}

pub fn heartbeat(scene: &Scene<'_>) -> Panel {
    let mut panel = Panel::new("heartbeat", scene.t("server.heartbeat.title"));
    if let Some((rows, at)) = answered(&mut panel, scene.frame, &scene.sample.heartbeat) {
        panel.note = rows.table.clone();
        panel.sql = Some(format!("SELECT *, UTC_TIMESTAMP(6) FROM {};", rows.table));
        if rows.rows.is_empty() {
            panel.say(scene.t("server.heartbeat.empty"), Tone::Warning);
        } else {
            panel.push(heartbeat_table(scene, &rows.rows, rows.read_at));
            panel.say(
                from_where(scene.frame, scene.t("server.heartbeat.age_note"), at),
                Tone::Dim,
            );
        }
    }
    events(scene, &mut panel);
    panel
}

fn heartbeat_table(scene: &Scene<'_>, rows: &[HeartbeatRow], read_at: ServerTime) -> Rows {
    let words = scene.frame.words;
    let id = |row: &HeartbeatRow| {
        row.server_id
            .map_or_else(|| "—".to_owned(), |id| id.to_string())
    };
    let age = |row: &HeartbeatRow| match row.wall {
        Some(wall) => {
            let age = Span::from_micros(read_at.0.saturating_sub(wall));
            let tone = if age.is_negative() {
                Tone::Warning
            } else {
                Tone::Plain
            };
            Cell::new(words.span(age)).tone(tone)
        }
        None => Cell::new(scene.t("panel.not_told")).tone(Tone::Unknown),
    };
    Rows {
        columns: vec![
            RowColumn::words(scene.t("server.heartbeat.writer"), 1.2),
            RowColumn::words(scene.t("server.heartbeat.stamp"), 3.0),
            RowColumn::numbers(scene.t("server.heartbeat.age"), 1.2),
        ],
        rows: rows
            .iter()
            .take(20)
            .map(|row| vec![Cell::new(id(row)), Cell::code(&row.text), age(row)])
            .collect(),
        more: (rows.len() > 20)
            .then(|| scene.say(&phrase("panel.more").with("n", rows.len() as u64 - 20))),
    }
}

/// A disabled event is the usual end of a heartbeat after a failover (T-4).
fn events(scene: &Scene<'_>, panel: &mut Panel) {
    let mut own = Panel::default();
    let Some((events, _)) = answered(&mut own, scene.frame, &scene.sample.events) else {
        panel.blocks.append(&mut own.blocks);
        return;
    };
    if events.is_empty() {
        panel.push(
            FactRow::new(
                scene.t("server.events.title"),
                scene.t("server.events.none"),
            )
            .tone(Tone::Dim),
        );
        return;
    }
    for event in events.iter() {
        let enabled = event.status == "ENABLED";
        let (meaning, tone) = match event.status.as_str() {
            "ENABLED" => ("server.events.enabled", Tone::Dim),
            "DISABLED" => ("server.events.disabled", Tone::Warning),
            _ => ("server.events.replica_side", Tone::Dim),
        };
        let fact = FactRow::new(
            format!("{}.{}", event.schema, event.name),
            event.status.as_str(),
        )
        .source(&event.body)
        .meaning(scene.t(meaning), tone);
        let is_source = scene.sample.channels().is_empty();
        if !enabled && is_source {
            panel.sign = Some(Sign::Warning);
        }
        panel.push(fact);
    }
}
