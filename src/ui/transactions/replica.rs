//! What a replica's applier works on now, how many rows so far, for how long, and who blocks it.

use crate::model::phrase::{Arg, phrase};
use crate::model::replication::{ApplierPart, ApplierThread};
use crate::model::sample::{LockWait, OpenTransaction, TransactionOwner};
use crate::ui::panels::{Block, Cell, Panel, RowColumn, Rows, Tone, answered};
use crate::ui::server::scene::Scene;
use crate::ui::server::sql::Asked;
use crate::ui::server::{short_gtid, time_in_hand};
use crate::ui::widgets::Sign;

use super::source::{open, statement, statements};

pub fn panels(scene: &Scene<'_>) -> Vec<Panel> {
    let mut panels = vec![applying(scene), locks(scene)];
    let own = scene.sample.transactions.value().is_some_and(|open| {
        open.iter()
            .any(|trx| trx.owner != TransactionOwner::Applier)
    });
    // A session's open transaction holds locks the applier may want
    if own {
        panels.push(open(scene));
    }
    panels.push(statements(scene));
    panels
}

fn applying(scene: &Scene<'_>) -> Panel {
    let name = scene.server.registration.name.as_str();
    let title = scene.with("transactions.applying", "name", name);
    let mut panel = Panel::new(format!("applying {name}"), title).sql(scene.sql(Asked::Appliers));
    let threads = answered(&mut panel, scene.frame, &scene.sample.appliers);
    let busy: Vec<&ApplierThread> = threads
        .map_or(&[][..], |(threads, _)| threads.as_slice())
        .iter()
        .filter(|thread| thread.applying.is_some())
        .collect();
    if let Some((_, at)) = threads {
        panel.note = scene.frame.words.ago(scene.frame.now.since(at));
    }
    if !busy.is_empty() {
        panel.push(table(scene, &busy));
    }
    // Where no table tells transactions (MariaDB), InnoDB still tells that an applier has one open
    let untold: Vec<&OpenTransaction> = applier_transactions(scene)
        .filter(|trx| !busy.iter().any(|thread| thread.thread == Some(trx.thread)))
        .collect();
    for trx in &untold {
        panel.say(open_by_applier(scene, trx), Tone::Plain);
    }
    if busy.is_empty() && untold.is_empty() && threads.is_some() {
        panel.say(scene.t("transactions.applying_none"), Tone::Dim);
    }
    panel
}

fn applier_transactions<'a>(scene: &Scene<'a>) -> impl Iterator<Item = &'a OpenTransaction> {
    let open = scene.sample.transactions.value().into_iter().flatten();
    open.filter(|trx| trx.owner == TransactionOwner::Applier)
}

fn open_by_applier(scene: &Scene<'_>, trx: &OpenTransaction) -> String {
    let words = scene.frame.words;
    let age = trx
        .age
        .map_or_else(|| "—".to_owned(), |age| words.span(age));
    let of_thread = |key| {
        phrase(key)
            .with("thread", Arg::Number(trx.thread))
            .with("age", age)
    };
    let text = match trx.rows_modified {
        Some(rows) => of_thread("transactions.open_by_applier").with("rows", rows),
        None => of_thread("transactions.open_by_applier_rows_untold"),
    };
    scene.say(&text)
}

fn table(scene: &Scene<'_>, busy: &[&ApplierThread]) -> Rows {
    let t = |key| scene.t(key);
    Rows {
        columns: vec![
            RowColumn::words(t("server.appliers.part"), 1.6),
            RowColumn::words(t("server.appliers.transaction"), 2.6),
            RowColumn::numbers(t("transactions.for"), 1.1),
            RowColumn::numbers(t("transactions.rows_so_far"), 1.3),
            RowColumn::words(t("transactions.blocked_by"), 3.4),
            RowColumn::words(t("transactions.statement"), 3.0),
        ],
        rows: busy.iter().map(|thread| row(scene, thread)).collect(),
        more: None,
    }
}

fn row(scene: &Scene<'_>, thread: &ApplierThread) -> Vec<Cell> {
    let words = scene.frame.words;
    let transaction = thread.applying.as_ref();
    let gtid = transaction.map_or("", |transaction| transaction.gtid.as_str());
    let span = transaction.and_then(|transaction| time_in_hand(scene, transaction));
    let open = applier_transactions(scene).find(|trx| thread.thread == Some(trx.thread));
    let rows = open.and_then(|trx| trx.rows_modified);
    let part = match thread.part {
        ApplierPart::Coordinator => scene.t("server.appliers.coordinator").to_owned(),
        ApplierPart::Worker(n) => {
            scene.say(&phrase("server.appliers.worker").with("n", Arg::Number(n.into())))
        }
    };
    vec![
        Cell::new(part),
        Cell::code(short_gtid(gtid)).hover(gtid),
        match span {
            Some(span) => Cell::new(words.span(span)),
            None => Cell::new(scene.t("panel.not_told")).tone(Tone::Unknown),
        },
        // Under the threshold InnoDB was not asked about it
        rows.map_or_else(
            || Cell::new("—").tone(Tone::Dim),
            |rows| Cell::new(words.count(rows)),
        ),
        blocked_by(scene, thread),
        doing(scene, open),
    ]
}

/// The statement, or with rows travelling what the thread says it does.
fn doing(scene: &Scene<'_>, open: Option<&OpenTransaction>) -> Cell {
    let state = open.and_then(|trx| trx.state.clone());
    match (open.and_then(|trx| trx.statement.as_deref()), state) {
        (None, Some(state)) => Cell::new(state).tone(Tone::Dim),
        (text, _) => statement(scene, text),
    }
}

fn blocked_by(scene: &Scene<'_>, thread: &ApplierThread) -> Cell {
    let waits = scene.sample.lock_waits.value().into_iter().flatten();
    let wait = waits
        .filter(|wait| Some(wait.waiting_thread) == thread.thread)
        .max_by_key(|wait| wait.waited);
    match wait {
        None => Cell::new("—").tone(Tone::Dim),
        Some(wait) => Cell::new(blocker(scene, wait))
            .tone(Tone::Warning)
            .hover(wait.blocking_statement.clone().unwrap_or_default()),
    }
}

fn blocker(scene: &Scene<'_>, wait: &LockWait) -> String {
    match wait.blocking_thread {
        Some(thread) => {
            let user = wait.blocking_user.as_deref().unwrap_or("—");
            let text = phrase("transactions.session")
                .with("thread", Arg::Number(thread))
                .with("user", user);
            scene.say(&text)
        }
        None => scene.t("transactions.nobody_told").to_owned(),
    }
}

fn locks(scene: &Scene<'_>) -> Panel {
    let name = scene.server.registration.name.as_str();
    let title = scene.with("transactions.locks", "name", name);
    let mut panel = Panel::new(format!("locks {name}"), title).sql(scene.sql(Asked::LockWaits));
    let Some((waits, at)) = answered(&mut panel, scene.frame, &scene.sample.lock_waits) else {
        return panel;
    };
    panel.note = scene.frame.words.ago(scene.frame.now.since(at));
    if waits.is_empty() {
        panel.say(scene.t("transactions.locks_none"), Tone::Good);
        return panel;
    }
    if waits.iter().any(|wait| wait.waiter_is_applier) {
        panel.sign = Some(Sign::Warning);
    }
    panel.blocks.push(Block::Rows(lock_table(scene, waits)));
    panel
}

fn lock_table(scene: &Scene<'_>, waits: &[LockWait]) -> Rows {
    let t = |key| scene.t(key);
    let words = scene.frame.words;
    let waiter = |wait: &LockWait| {
        let thread = wait.waiting_thread.to_string();
        match wait.waiter_is_applier {
            true => Cell::new(format!(
                "{} · {thread}",
                scene.t("transactions.replication")
            ))
            .tone(Tone::Warning),
            false => Cell::new(thread),
        }
    };
    Rows {
        columns: vec![
            RowColumn::words(t("transactions.waiter"), 1.8),
            RowColumn::numbers(t("transactions.waited"), 1.0),
            RowColumn::words(t("transactions.object"), 1.8),
            RowColumn::words(t("transactions.blocked_by"), 2.2),
            RowColumn::words(t("transactions.statement"), 4.2),
        ],
        rows: waits
            .iter()
            .map(|wait| {
                vec![
                    waiter(wait),
                    Cell::new(
                        wait.waited
                            .map_or_else(|| "—".to_owned(), |span| words.span(span)),
                    ),
                    Cell::code(wait.object.clone().unwrap_or_else(|| "—".to_owned())),
                    Cell::new(blocker(scene, wait)),
                    statement(scene, wait.blocking_statement.as_deref()),
                ]
            })
            .collect(),
        more: None,
    }
}
