//! The applier at work: coordinator and workers, what each has in hand and for how long; and whether it may work in
//! parallel at all.

use super::scene::Scene;
use super::sql::{self, Asked};
use crate::model::phrase::{Arg, phrase};
use crate::model::replication::{AppliedTransaction, ApplierPart, ApplierThread};
use crate::model::sample::Named;
use crate::model::time::Span;
use crate::ui::panels::{Block, Cell, FactRow, Panel, RowColumn, Rows, Tone, answered, from_where};
use crate::ui::widgets::Sign;

pub fn panel(scene: &Scene<'_>) -> Panel {
    let mut panel = scene.panel("appliers", "server.appliers.title", Asked::Appliers);
    let Some((threads, at)) = answered(&mut panel, scene.frame, &scene.sample.appliers) else {
        return panel;
    };
    panel.note = scene.frame.words.ago(scene.frame.now.since(at));
    if threads.is_empty() {
        panel.say(scene.t("server.appliers.none"), Tone::Dim);
        return panel;
    }
    if threads.iter().any(|thread| thread.error.is_some()) {
        panel.sign = Some(Sign::Critical);
    }
    panel.push(table(scene, threads));
    for error in threads.iter().filter_map(|thread| thread.error.as_ref()) {
        let name = phrase("server.error").with("number", Arg::Number(error.number.into()));
        panel.push(Block::Code {
            name: scene.say(&name),
            text: error.text.clone(),
            whole: None,
            copy: scene.t("server.copy_error").to_owned(),
        });
    }
    panel
}

fn table(scene: &Scene<'_>, threads: &[ApplierThread]) -> Rows {
    let many_channels = scene.sample.channels().len() > 1;
    let t = |key| scene.t(key);
    Rows {
        columns: vec![
            RowColumn::words(t("server.appliers.part"), 2.0),
            RowColumn::words(t("server.appliers.transaction"), 4.0),
            RowColumn::numbers(t("server.appliers.in_hand"), 1.6),
            RowColumn::numbers(t("server.appliers.retries"), 1.2),
        ],
        rows: threads
            .iter()
            .map(|thread| row(scene, thread, many_channels))
            .collect(),
        more: None,
    }
}

fn row(scene: &Scene<'_>, thread: &ApplierThread, many_channels: bool) -> Vec<Cell> {
    let words = scene.frame.words;
    let busy = thread.applying.as_ref();
    let shown = busy.or(thread.last_applied.as_ref());
    let gtid = shown.map_or("", |transaction| transaction.gtid.as_str());
    let in_hand = busy.and_then(|transaction| time_in_hand(scene, transaction));
    let hand = match (busy, in_hand) {
        (Some(_), Some(span)) => Cell::new(words.span(span)),
        (Some(_), None) => Cell::new(scene.t("panel.not_told")).tone(Tone::Unknown),
        (None, _) => Cell::new(scene.t("server.appliers.idle")).tone(Tone::Dim),
    };
    let retries = shown.map_or(0, |transaction| transaction.retries);
    vec![
        part(scene, thread, many_channels),
        Cell::code(short_gtid(gtid))
            .hover(gtid)
            .tone(if busy.is_some() {
                Tone::Plain
            } else {
                Tone::Dim
            }),
        hand,
        Cell::new(words.count(retries)).tone(if retries > 0 {
            Tone::Warning
        } else {
            Tone::Dim
        }),
    ]
}

fn part(scene: &Scene<'_>, thread: &ApplierThread, many_channels: bool) -> Cell {
    let name = match thread.part {
        ApplierPart::Coordinator => scene.t("server.appliers.coordinator").to_owned(),
        ApplierPart::Worker(n) => {
            scene.say(&phrase("server.appliers.worker").with("n", Arg::Number(n.into())))
        }
    };
    let name = if many_channels && !thread.channel.is_empty() {
        format!("{} · {name}", thread.channel)
    } else {
        name
    };
    let hover = match thread.thread {
        Some(id) => scene.say(&phrase("server.appliers.thread").with("id", Arg::Number(id))),
        None => String::new(),
    };
    let tone = match (&thread.error, thread.running) {
        (Some(_), _) => Tone::Critical,
        (None, false) => Tone::Warning,
        (None, true) => Tone::Plain,
    };
    Cell::new(name).tone(tone).hover(hover)
}

/// Since applying began, by the replica's clock moved to ours; up to the sample, not to now.
pub fn time_in_hand(scene: &Scene<'_>, transaction: &AppliedTransaction) -> Option<Span> {
    let clock = scene.server.clock_now(scene.sample.answered_at)?;
    let started = transaction.started?.on_our_clock(clock.ahead_by);
    Some(scene.sample.answered_at.since(started).or_zero())
}

/// "3f1c…9562:18204": the end tells transactions apart, the beginning servers.
pub fn short_gtid(gtid: &str) -> String {
    match gtid.split_once(':') {
        Some((uuid, rest)) if uuid.len() == 36 && uuid.is_ascii() => {
            format!("{}…{}:{rest}", &uuid[..4], &uuid[32..])
        }
        _ => gtid.to_owned(),
    }
}

/// The settings of parallel apply, each with a verdict.
pub fn parallel_panel(scene: &Scene<'_>) -> Panel {
    let mut panel = scene.panel("parallel", "server.parallel.title", Asked::Settings);
    let Some((settings, at)) = answered(&mut panel, scene.frame, &scene.sample.settings) else {
        return panel;
    };
    let source = from_where(scene.frame, "SHOW GLOBAL VARIABLES", at);
    let facts = match scene.sample.product.is_mariadb() {
        true => mariadb(settings),
        false => mysql(settings),
    };
    for fact in facts {
        let (meaning, tone) = fact.verdict;
        panel.push(
            FactRow::new(fact.name, fact.value)
                .source(&source)
                .meaning(scene.t(meaning), tone),
        );
    }
    let workers = workers(settings);
    let replicates = !scene.sample.channels().is_empty();
    if replicates && workers.is_some_and(|n| n < 2) {
        panel.sign = Some(Sign::Warning);
        panel.push(Block::Code {
            name: scene.t("server.parallel.how").to_owned(),
            text: sql::parallel_apply(&scene.sample.product),
            whole: None,
            copy: scene.t("server.parallel.copy").to_owned(),
        });
        panel.say(scene.t("server.parallel.restart"), Tone::Dim);
    }
    panel
}

struct Judgement {
    name: &'static str,
    value: String,
    verdict: (&'static str, Tone),
}

fn workers(settings: &Named) -> Option<u64> {
    settings.number(&[
        "replica_parallel_workers",
        "slave_parallel_workers",
        "slave_parallel_threads",
    ])
}

/// The first spelling that is there, with its value.
fn find(settings: &Named, names: [&'static str; 2]) -> Option<(&'static str, String)> {
    names
        .into_iter()
        .find_map(|name| Some((name, settings.text(name)?.to_owned())))
}

fn judged(
    settings: &Named,
    names: [&'static str; 2],
    verdict: impl FnOnce(&str) -> (&'static str, Tone),
) -> Option<Judgement> {
    let (name, value) = find(settings, names)?;
    let verdict = verdict(&value);
    Some(Judgement {
        name,
        value,
        verdict,
    })
}

fn mysql(settings: &Named) -> Vec<Judgement> {
    let single = workers(settings).is_some_and(|n| n < 2);
    [
        judged(
            settings,
            ["replica_parallel_workers", "slave_parallel_workers"],
            |value| worker_verdict(value.parse().ok()),
        ),
        judged(
            settings,
            ["replica_parallel_type", "slave_parallel_type"],
            |value| match value {
                "LOGICAL_CLOCK" => ("server.parallel.logical_clock", Tone::Good),
                _ => ("server.parallel.by_database", Tone::Warning),
            },
        ),
        judged(
            settings,
            [
                "replica_preserve_commit_order",
                "slave_preserve_commit_order",
            ],
            |value| match value {
                "ON" | "1" => ("server.parallel.ordered", Tone::Good),
                _ if single => ("server.parallel.order_moot", Tone::Dim),
                _ => ("server.parallel.unordered", Tone::Warning),
            },
        ),
        judged(
            settings,
            [
                "binlog_transaction_dependency_tracking",
                "transaction_write_set_extraction",
            ],
            |value| match value {
                "COMMIT_ORDER" | "OFF" => ("server.parallel.commit_order", Tone::Dim),
                _ => ("server.parallel.writeset", Tone::Good),
            },
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn mariadb(settings: &Named) -> Vec<Judgement> {
    let threads = ["slave_parallel_threads", "slave_parallel_threads"];
    let mode = ["slave_parallel_mode", "slave_parallel_mode"];
    let single = workers(settings).is_some_and(|n| n < 2);
    [
        judged(settings, threads, |value| {
            worker_verdict(value.parse().ok())
        }),
        judged(settings, mode, |value| match value {
            _ if single => ("server.parallel.mode_moot", Tone::Dim),
            "optimistic" | "aggressive" => ("server.parallel.optimistic", Tone::Good),
            "conservative" => ("server.parallel.conservative", Tone::Dim),
            _ => ("server.parallel.minimal", Tone::Warning),
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// 0 and 1 both mean: one transaction at a time.
fn worker_verdict(workers: Option<u64>) -> (&'static str, Tone) {
    match workers {
        None => ("panel.not_told", Tone::Unknown),
        Some(0 | 1) => ("server.parallel.single", Tone::Warning),
        Some(_) => ("server.parallel.several", Tone::Good),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pairs: &[(&str, &str)]) -> Named {
        Named(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn a07_no_worker_and_one_worker_are_both_single_file() {
        for workers in ["0", "1"] {
            let judged = mysql(&named(&[("replica_parallel_workers", workers)]));
            assert_eq!(judged[0].verdict, ("server.parallel.single", Tone::Warning));
        }
        let judged = mysql(&named(&[("slave_parallel_workers", "8")]));
        assert_eq!(judged[0].name, "slave_parallel_workers");
        assert_eq!(judged[0].verdict, ("server.parallel.several", Tone::Good));
    }

    #[test]
    fn workers_by_database_are_not_called_parallel() {
        let settings = named(&[
            ("slave_parallel_workers", "8"),
            ("slave_parallel_type", "DATABASE"),
        ]);
        assert_eq!(
            mysql(&settings)[1].verdict,
            ("server.parallel.by_database", Tone::Warning)
        );
    }

    #[test]
    fn a_gtid_is_cut_in_the_middle_and_keeps_its_number() {
        assert_eq!(
            short_gtid("3f1c0000-aaaa-11f0-8000-000000009562:18204"),
            "3f1c…9562:18204"
        );
        assert_eq!(short_gtid("0-1-100"), "0-1-100");
        assert_eq!(short_gtid("ANONYMOUS"), "ANONYMOUS");
    }
}
