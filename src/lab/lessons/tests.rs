use super::*;
use crate::model::lesson::{Act, Condition, Dialect, Made};

/// A lesson with nothing wrong in it; tests put one thing wrong.
const GOOD: &str = r#"
id = "good"
number = 1
minutes = 10
title = { en = "Good", zh = "好" }
goal = { en = "Nothing", zh = "无" }
lab = { replicas = 2, semi_sync = false }
question = { ask = { en = "What?", zh = "什么？" }, answer = { en = "That.", zh = "那个。" } }
production = [{ en = "Check", zh = "检查" }]

[[step]]
en = "one"
zh = "一"
do = [{ make = { fault = "link_latency", on = "replica-1", intensity = 800 } }]
look = "lag_plot replica-1"
until = { lag = { on = "replica-1", at_least_ms = 500 } }
hint = { en = "wait", zh = "等" }

[[step]]
en = "two"
zh = "二"
do = [{ probe = { runs = 10 } }]

[[step]]
en = "three"
zh = "三"

[[step]]
en = "four"
zh = "四"

[[step]]
en = "five"
zh = "五"
do = [{ undo = "link_latency" }]
"#;

fn read(files: &[(&str, &str)]) -> Result<Vec<Lesson>, Vec<Mistake>> {
    read_all(files, Servers::default())
}

/// What is said of the lesson with `from` replaced by `to`.
fn said_of(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    let mistakes = read(&[("a.toml", &text)]).expect_err(&format!("{to}: no mistake found"));
    let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_lesson_without_mistakes_is_read() {
    let lessons = read(&[("a.toml", GOOD)]).expect("no mistakes");
    assert_eq!(lessons.len(), 1);
    assert_eq!(lessons[0].steps[0].text.zh, "一");
    assert!(
        matches!(lessons[0].steps[0].acts[..], [Act::Make { intensity, .. }] if intensity == 800.0)
    );
}

#[test]
fn all_fourteen_lessons_can_be_read() {
    assert_eq!(
        all().iter().map(|l| l.number).collect::<Vec<_>>(),
        (1..=14).collect::<Vec<_>>()
    );
}

#[test]
fn a_lesson_is_found_by_its_id_and_by_its_number() {
    assert_eq!(
        find("semi-sync", Servers::default()).map(|l| l.number),
        Some(9)
    );
    assert_eq!(
        find("9", Servers::default())
            .map(|l| l.id.clone())
            .as_deref(),
        Some("semi-sync")
    );
    assert_eq!(find("15", Servers::default()).map(|l| l.number), None);
}

#[test]
fn every_lesson_leaves_the_lab_as_it_found_it() {
    for lesson in all() {
        let mut made = std::collections::BTreeSet::new();
        for act in lesson.steps.iter().flat_map(|step| &step.acts) {
            match act {
                Act::Make { kind, .. } if !kind.is_momentary() => drop(made.insert(kind.code())),
                Act::Undo(kind) => drop(made.remove(kind.code())),
                Act::UndoAll => made.clear(),
                _ => {}
            }
        }
        assert!(made.is_empty(), "{}: {made:?}", lesson.id);
    }
}

/// The probe's table has to have come through before a replica is held: a read of a table that is not there is no stale
/// read.
#[test]
fn the_first_probe_of_a_lesson_meets_replicas_that_apply() {
    let holds = [
        "stop_applier",
        "lock_table",
        "stop_receiver",
        "link_cut",
        "planned_delay",
    ];
    for lesson in all() {
        let acts = lesson.steps.iter().flat_map(|step| &step.acts);
        let is_probe =
            |act: &&Act| matches!(act, Act::Probe { .. } | Act::Compare { .. } | Act::Accept);
        if !acts.clone().any(|act| is_probe(&act)) {
            continue;
        }
        let before: Vec<&str> = acts
            .take_while(|act| !is_probe(act))
            .filter_map(|act| match act {
                Act::Make { kind, .. } => Some(kind.code()),
                _ => None,
            })
            .collect();
        for hold in holds {
            assert!(!before.contains(&hold), "{}: {hold}", lesson.id);
        }
    }
}

/// Whoever goes on before it was done would meet it undone later, with replicas that hold.
#[test]
fn the_step_of_the_first_probe_waits_for_it() {
    for lesson in all() {
        let is_probe = |act: &Act| matches!(act, Act::Probe { .. });
        let mut steps = lesson.steps.iter();
        let Some(step) = steps.find(|step| step.acts.iter().any(is_probe)) else {
            continue;
        };
        let mut waits = false;
        let until = step.until.as_ref().expect("it waits");
        until.visit(&mut |part| {
            waits |= matches!(
                part,
                Condition::ProbeOver | Condition::PlainStale { .. } | Condition::PlainFresh { .. }
            );
        });
        assert!(waits, "{}", lesson.id);
    }
}

/// A projector shows about so much in large letters.
#[test]
fn no_text_is_too_long_for_a_projector() {
    for lesson in Servers::all().flat_map(all_in) {
        for (n, step) in lesson.steps.iter().enumerate() {
            let (en, zh) = (step.text.en.chars().count(), step.text.zh.chars().count());
            assert!(en <= 260, "{} step {}: {en} letters", lesson.id, n + 1);
            assert!(zh <= 110, "{} step {}: {zh} characters", lesson.id, n + 1);
        }
        assert!(
            lesson.question.answer.en.chars().count() <= 340,
            "{}",
            lesson.id
        );
    }
}

// --- one mistake each ------------------------------------------------------------------------------------------------

#[test]
fn a_missing_language_is_a_mistake() {
    assert!(said_of("zh = \"三\"", "").contains("missing field `zh`"));
    let said = said_of("zh = \"三\"", "zh = \"three\"");
    assert_eq!(said, "a.toml: step 3: no Chinese text beside “three”");
    let said = said_of("en = \"three\"", "en = \" \"");
    assert_eq!(said, "a.toml: step 3: no English text beside “三”");
    assert!(said_of("en = \"three\"", "en = \"三\"").contains("no English text"));
}

#[test]
fn a_word_nobody_knows_is_a_mistake() {
    for (from, to, says) in [
        (
            "minutes = 10",
            "minutes = 10\ncolour = 1",
            "unknown field `colour`",
        ),
        (
            "fault = \"link_latency\"",
            "fault = \"rain\"",
            "step 1: there is no fault `rain`",
        ),
        (
            "lag_plot",
            "lag_picture",
            "step 1: there is nothing to look at called `lag_picture`",
        ),
        (
            "until = { lag",
            "until = { weather",
            "unknown variant `weather`",
        ),
        (
            "on = \"replica-1\", at",
            "method = \"guess\", on = \"replica-1\", at",
            "no method `guess`",
        ),
        (
            "at_least_ms = 500",
            "at_least = 500",
            "unknown field `at_least`",
        ),
    ] {
        let said = said_of(from, to);
        assert!(said.contains(says), "{to}: {said}");
    }
}

#[test]
fn a_server_the_lab_does_not_have_is_a_mistake() {
    let said = said_of("lag_plot replica-1", "lag_plot replica-3");
    assert_eq!(said, "a.toml: step 1: this lab has no server `replica-3`");
    let said = said_of("lag_plot replica-1", "lag_plot");
    assert_eq!(
        said,
        "a.toml: step 1: `lag_plot` needs a server: `lag_plot replica-1`"
    );
    let said = said_of("lag_plot replica-1", "events source");
    assert_eq!(said, "a.toml: step 1: `events` is about no server");
}

#[test]
fn an_intensity_out_of_range_is_a_mistake() {
    let said = said_of("intensity = 800", "intensity = 90000");
    assert_eq!(
        said,
        "a.toml: step 1: `link_latency` takes 1 to 30000, not 90000"
    );
    let fault = "fault = \"link_latency\", on = \"replica-1\"";
    let said = said_of(fault, "fault = \"stop_applier\", on = \"replica-1\"");
    assert!(said.contains("`stop_applier` has no intensity"), "{said}");
}

#[test]
fn a_fault_on_the_wrong_kind_of_server_is_a_mistake() {
    let fault = "fault = \"link_latency\", on = \"replica-1\"";
    let said = said_of(fault, "fault = \"link_latency\", on = \"source\"");
    assert!(
        said.contains("`link_latency` is made on a replica"),
        "{said}"
    );
    let said = said_of(
        "fault = \"link_latency\", on = \"replica-1\", intensity = 800",
        "fault = \"disable_event\", on = \"replica-1\"",
    );
    assert!(
        said.contains("`disable_event` is made on the source"),
        "{said}"
    );
}

#[test]
fn a_fault_this_lab_cannot_have_is_a_mistake() {
    let fault = "fault = \"link_latency\", on = \"replica-1\", intensity = 800";
    let said = said_of(fault, "fault = \"semi_sync_loss\", on = \"replica-1\"");
    assert!(said.contains("in a lab without semi-sync"), "{said}");
}

#[test]
fn what_real_servers_cannot_have_is_another_step_there() {
    let real = |text: &str| {
        let servers = Servers {
            are: Made::Real,
            ..Servers::default()
        };
        read_all(&[("a.toml", text)], servers)
    };
    let fault =
        "do = [{ make = { fault = \"link_latency\", on = \"replica-1\", intensity = 800 } }]";
    let skew = "do = [{ make = { fault = \"clock_skew\", on = \"replica-1\" } }]";
    let text = GOOD
        .replace(fault, skew)
        .replace("undo = \"link_latency\"", "undo = \"clock_skew\"");
    assert!(read(&[("a.toml", &text)]).is_ok());
    let said = real(&text).expect_err("no clock to set wrong")[0].to_string();
    assert!(
        said.contains("`clock_skew`, which real servers cannot have"),
        "{said}"
    );

    let own = "zh = \"一\"\nreal = { text = { en = \"by hand\", zh = \"手工\" }, do = [], by_hand = true }";
    let text = text.replacen("zh = \"一\"", own, 1);
    let text = text.replace("do = [{ undo = \"clock_skew\" }]", "do = [\"undo_all\"]");
    let lessons = real(&text).expect("no mistakes");
    let first = &lessons[0].steps[0];
    assert_eq!(first.text.en, "by hand");
    assert_eq!((first.acts.len(), first.until.is_some()), (0, false));
    let simulated = read(&[("a.toml", &text)]).expect("no mistakes");
    assert_eq!(simulated[0].steps[0].acts.len(), 1);
}

#[test]
fn undoing_or_awaiting_what_was_never_made_is_a_mistake() {
    let said = said_of("undo = \"link_latency\"", "undo = \"link_cut\"");
    assert_eq!(
        said,
        "a.toml: step 5: undoes `link_cut`, which no step before made"
    );
    let said = said_of(
        "lag = { on = \"replica-1\", at_least_ms = 500 }",
        "fault = { kind = \"link_cut\" }",
    );
    assert_eq!(
        said,
        "a.toml: step 1: waits for `link_cut`, which no step made"
    );
}

#[test]
fn waiting_without_a_hint_is_a_mistake() {
    let said = said_of("hint = { en = \"wait\", zh = \"等\" }", "");
    assert!(said.contains("has no hint"), "{said}");
}

#[test]
fn a_condition_nothing_can_meet_is_a_mistake() {
    let until = "lag = { on = \"replica-1\", at_least_ms = 500 }";
    for (to, says) in [
        (
            "lag = { on = \"replica-1\" }",
            "needs `at_least_ms` or `at_most_ms`",
        ),
        (
            "lag = { on = \"replica-1\", at_least_ms = 5, at_most_ms = 4 }",
            "no lag is",
        ),
        ("seconds_behind = { on = \"replica-1\" }", "one of `null`"),
        (
            "seconds_behind = { on = \"replica-1\", null = true, at_most = 3 }",
            "one of `null`",
        ),
        ("all = [\"compared\"]", "join at least two"),
        (
            "semi_sync = { on = \"source\", is = \"active\" }",
            "in a lab without it",
        ),
    ] {
        let said = said_of(until, to);
        assert!(said.contains(says), "{to}: {said}");
    }
}

#[test]
fn a_probe_that_cannot_run_is_a_mistake() {
    assert!(said_of("runs = 10", "runs = 0").contains("no such probe"));
    assert!(said_of("runs = 10", "wait_ms = 0").contains("no such probe"));
    assert!(said_of("runs = 10", "on = \"source\"").contains("not on the source"));
}

#[test]
fn too_few_steps_too_much_time_or_no_checklist_are_mistakes() {
    let step = "[[step]]\nen = \"four\"\nzh = \"四\"\n";
    assert!(said_of(step, "").contains("5 to 9 steps"));
    assert!(said_of("minutes = 10", "minutes = 90").contains("5 to 20 minutes"));
    assert!(said_of("[{ en = \"Check\", zh = \"检查\" }]", "[]").contains("production"));
    assert!(said_of("id = \"good\"", "id = \"Not Good\"").contains("lower-case"));
    assert!(said_of("replicas = 2", "replicas = 200").contains("1 to 20 replicas"));
}

#[test]
fn two_lessons_of_one_id_or_number_are_a_mistake() {
    let other = GOOD.replace("number = 1", "number = 2");
    let said = read(&[("a.toml", GOOD), ("b.toml", &other)]).expect_err("one id");
    assert_eq!(
        said[0].to_string(),
        "b.toml: another lesson has the id `good`"
    );
    let other = GOOD.replace("id = \"good\"", "id = \"better\"");
    let said = read(&[("a.toml", GOOD), ("b.toml", &other)]).expect_err("one number");
    assert_eq!(said[0].to_string(), "b.toml: another lesson has number 1");
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once() {
    let text = GOOD
        .replace("replica-1\"", "replica-9\"")
        .replace("zh = \"三\"", "zh = \"three\"");
    let mistakes = read(&[("a.toml", &text)]).expect_err("mistakes");
    assert!(mistakes.len() >= 3, "{mistakes:?}");
}

/// Names that only newer servers, or only MySQL, have.
const FOREIGN_TO_OLD: [&str; 5] = [
    "_Source",
    "replica_net",
    "replica_parallel",
    "Replica_",
    "semi_sync_source",
];
const FOREIGN_TO_MARIADB: [&str; 7] = [
    "super_read_only",
    "gtid_executed",
    "gtid_mode",
    "EXECUTED_GTID_SET",
    "session_track_gtids",
    "GTID set",
    "status_by_worker",
];

#[test]
fn a_lesson_names_nothing_that_its_servers_do_not_have() {
    for (dialect, foreign) in [
        (Dialect::OldMySql, &FOREIGN_TO_OLD[..]),
        (Dialect::MariaDb, &FOREIGN_TO_OLD[..]),
        (Dialect::MariaDb, &FOREIGN_TO_MARIADB[..]),
    ] {
        let such = Servers::all().filter(|servers| servers.dialect == dialect);
        for lesson in such.flat_map(all_in) {
            for text in texts(lesson) {
                for name in foreign {
                    assert!(!text.contains(name), "{dialect:?}, {}: {text}", lesson.id);
                }
            }
        }
    }
}

/// Everything a lesson says.
fn texts(lesson: &Lesson) -> Vec<&str> {
    let steps = lesson.steps.iter();
    let of_steps = steps.flat_map(|step| std::iter::once(&step.text).chain(&step.hint));
    let whole = [
        &lesson.title,
        &lesson.goal,
        &lesson.question.ask,
        &lesson.question.answer,
    ];
    let both = whole.into_iter().chain(of_steps).chain(&lesson.production);
    let statements = lesson.steps.iter().filter_map(|step| step.sql.as_ref());
    both.flat_map(|text| [text.en.as_str(), text.zh.as_str()])
        .chain(statements.map(|sql| sql.text.as_str()))
        .collect()
}

#[test]
fn other_servers_have_their_own_text_and_condition() {
    let own = r#"zh = "三"
mariadb = { text = { en = "third", zh = "第三" }, sql = { on = "source", text = "SHOW SLAVE STATUS" } }"#;
    let text = GOOD.replacen("zh = \"三\"", own, 1);
    let third = |dialect| {
        let lessons = read_all(&[("a.toml", &text)], Servers::from(dialect)).expect("no mistakes");
        let step = &lessons[0].steps[2];
        (step.text.en.clone(), step.sql.is_some())
    };
    assert_eq!(third(Dialect::MySql), ("three".to_owned(), false));
    assert_eq!(third(Dialect::OldMySql), ("three".to_owned(), false));
    assert_eq!(third(Dialect::MariaDb), ("third".to_owned(), true));
}

#[test]
fn another_text_must_say_something() {
    let said = said_of("zh = \"三\"", "zh = \"三\"\nmariadb = {}");
    assert!(said.contains("says nothing else"), "{said}");
}
