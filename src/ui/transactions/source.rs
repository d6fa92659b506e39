//! Open transactions over the threshold, and long statements.

use crate::model::phrase::{Arg, phrase};
use crate::model::sample::{OpenTransaction, RunningStatement, TransactionOwner};
use crate::model::server::Platform;
use crate::ui::panels::{Cell, Panel, RowColumn, Rows, Tone, answered};
use crate::ui::server::scene::Scene;
use crate::ui::server::sql::Asked;
use crate::ui::widgets::Sign;

use super::deep_offset;

pub fn panels(scene: &Scene<'_>) -> Vec<Panel> {
    vec![open(scene), statements(scene)]
}

/// "No long transactions" only when the server answered; a refusal says what is missing.
pub fn open(scene: &Scene<'_>) -> Panel {
    let name = scene.server.registration.name.as_str();
    let threshold = scene.server.registration.thresholds.long_transaction;
    let title = scene.with("transactions.open", "name", name);
    let mut panel = Panel::new(format!("open {name}"), title).sql(scene.sql(Asked::Transactions));
    let Some((open, at)) = answered(&mut panel, scene.frame, &scene.sample.transactions) else {
        return panel;
    };
    panel.note = scene.frame.words.ago(scene.frame.now.since(at));
    if open.is_empty() {
        panel.say(
            scene.with("transactions.none", "threshold", threshold),
            Tone::Good,
        );
        return panel;
    }
    if open
        .iter()
        .any(|trx| trx.owner != TransactionOwner::Applier)
    {
        panel.sign = Some(Sign::Warning);
    }
    panel.push(table(scene, open));
    panel.say(
        scene.with("transactions.why", "threshold", threshold),
        Tone::Dim,
    );
    if open
        .iter()
        .any(|trx| trx.owner == TransactionOwner::PreparedXa)
    {
        panel.say(scene.t("transactions.xa_note"), Tone::Warning);
    }
    panel
}

fn table(scene: &Scene<'_>, open: &[OpenTransaction]) -> Rows {
    let t = |key| scene.t(key);
    Rows {
        columns: vec![
            RowColumn::numbers(t("transactions.age"), 1.1),
            RowColumn::numbers(t("transactions.rows"), 1.3),
            RowColumn::numbers(t("transactions.locked"), 1.3),
            RowColumn::words(t("transactions.owner"), 2.4),
            RowColumn::numbers(t("transactions.thread"), 1.0),
            RowColumn::words(t("transactions.statement"), 4.5),
            RowColumn::words(t("transactions.id"), 1.2),
        ],
        rows: open.iter().map(|trx| row(scene, trx)).collect(),
        more: None,
    }
}

fn row(scene: &Scene<'_>, trx: &OpenTransaction) -> Vec<Cell> {
    let words = scene.frame.words;
    let number = |n: Option<u64>| match n {
        Some(n) => Cell::new(words.count(n)),
        None => Cell::new("—").tone(Tone::Dim),
    };
    let age = match trx.age {
        Some(age) => Cell::new(words.span(age)).hover(trx.started.clone().unwrap_or_default()),
        None => Cell::new(scene.t("panel.not_told")).tone(Tone::Unknown),
    };
    vec![
        age,
        number(trx.rows_modified),
        number(trx.rows_locked),
        owner(scene, trx),
        thread(scene, trx),
        statement(scene, trx.statement.as_deref()),
        Cell::code(&trx.id),
    ]
}

fn owner(scene: &Scene<'_>, trx: &OpenTransaction) -> Cell {
    match trx.owner {
        TransactionOwner::Applier => Cell::new(scene.t("transactions.replication")).tone(Tone::Dim),
        TransactionOwner::PreparedXa => Cell::new(scene.t("transactions.xa")).tone(Tone::Warning),
        TransactionOwner::User => {
            let who = account(trx.user.as_deref(), trx.host.as_deref());
            Cell::new(who).hover(trx.state.clone().unwrap_or_default())
        }
    }
}

pub fn account(user: Option<&str>, host: Option<&str>) -> String {
    match (user, host) {
        (Some(user), Some(host)) if !host.is_empty() => format!("{user}@{host}"),
        (Some(user), _) => user.to_owned(),
        _ => "—".to_owned(),
    }
}

/// A user's thread offers its KILL to copy. Replication and prepared XA offer none: the one must not be killed, the
/// other cannot (R46).
fn thread(scene: &Scene<'_>, trx: &OpenTransaction) -> Cell {
    match trx.owner {
        TransactionOwner::PreparedXa => Cell::new("—")
            .tone(Tone::Dim)
            .hover(scene.t("transactions.xa_note")),
        TransactionOwner::Applier => Cell::new(trx.thread.to_string()),
        TransactionOwner::User => {
            let kill = match scene.sample.product.platform {
                Platform::SelfManaged => format!("KILL {};", trx.thread),
                Platform::Rds | Platform::Aurora => format!("CALL mysql.rds_kill({});", trx.thread),
            };
            Cell {
                hover: scene.with("transactions.copies", "text", kill.as_str()),
                copies: Some(kill),
                ..Cell::new(trx.thread.to_string())
            }
        }
    }
}

/// Cut to its column; the whole on hover, and copied by a click.
pub fn statement(scene: &Scene<'_>, text: Option<&str>) -> Cell {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Cell::new(scene.t("transactions.idle")).tone(Tone::Dim);
    };
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = one_line.chars().take(200).collect();
    let shown: String = text.chars().take(2_000).collect();
    Cell {
        hover: format!("{shown}\n\n{}", scene.t("transactions.click_copies")),
        copies: Some(text.to_owned()),
        ..Cell::code(short)
    }
}

/// Statements running for a second or more; deep pages are pointed out.
pub fn statements(scene: &Scene<'_>) -> Panel {
    let name = scene.server.registration.name.as_str();
    let title = scene.with("transactions.running", "name", name);
    let mut panel = Panel::new(format!("running {name}"), title).sql(scene.sql(Asked::Statements));
    let Some((running, at)) = answered(&mut panel, scene.frame, &scene.sample.statements) else {
        return panel;
    };
    panel.note = scene.frame.words.ago(scene.frame.now.since(at));
    let running: Vec<&RunningStatement> =
        running.iter().filter(|s| s.user != "system user").collect();
    if running.is_empty() {
        panel.say(scene.t("transactions.running_none"), Tone::Good);
        return panel;
    }
    panel.push(running_table(scene, &running));
    let deep = running
        .iter()
        .filter_map(|s| Some((s.thread, deep_offset(s.statement.as_deref()?)?)));
    for (thread, skipped) in deep {
        panel.sign = Some(Sign::Warning);
        let text = phrase("transactions.deep")
            .with("thread", Arg::Number(thread))
            .with("rows", skipped);
        panel.say(scene.say(&text), Tone::Warning);
    }
    panel
}

fn running_table(scene: &Scene<'_>, running: &[&RunningStatement]) -> Rows {
    let words = scene.frame.words;
    let t = |key| scene.t(key);
    let age = |s: &RunningStatement| s.age.map_or_else(|| "—".to_owned(), |age| words.span(age));
    Rows {
        columns: vec![
            RowColumn::numbers(t("transactions.age"), 1.1),
            RowColumn::words(t("transactions.owner"), 2.4),
            RowColumn::numbers(t("transactions.thread"), 1.0),
            RowColumn::words(t("transactions.state"), 2.0),
            RowColumn::words(t("transactions.statement"), 5.2),
        ],
        rows: running
            .iter()
            .map(|s| {
                vec![
                    Cell::new(age(s)),
                    Cell::new(account(Some(&s.user), Some(&s.host))),
                    Cell::new(s.thread.to_string()),
                    Cell::new(s.state.clone().unwrap_or_else(|| s.command.clone())).tone(Tone::Dim),
                    statement(scene, s.statement.as_deref()),
                ]
            })
            .collect(),
        more: None,
    }
}
