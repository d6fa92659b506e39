//! A running lab: where to connect, traffic, faults made and undone, its text for elsewhere, its end.

use super::*;

#[test]
fn a_running_lab_shows_where_to_connect_and_as_whom() {
    let harness = english(lab(running()));
    harness.get_by_label("127.0.0.1:43300");
    harness.get_by_label("mysql -h 127.0.0.1 -P 43300 -u app -pe5GjVu6fQa1x shop");
    harness.get_by_label("admin");
    assert_eq!(harness.query_all_by_label("replica of source").count(), 2);
    harness.get_by_label("running for 3 min 5 s");
}

#[test]
fn a_fault_is_made_where_and_as_strong_as_chosen() {
    let mut harness = english(lab(running()));
    harness.get_by_label("Make: Link latency").click();
    harness.run();
    let actions = &harness.state().actions;
    let [Action::Lab(LabOrder::Make(fault))] = &actions[..] else {
        panic!("{actions:?}");
    };
    assert_eq!(
        *fault,
        Fault {
            kind: FaultKind::LinkLatency,
            on: 1,
            intensity: 800.0,
            lasts: Some(Span::from_secs(60)),
        }
    );
}

#[test]
fn a_killed_source_may_be_chosen_and_roles_swap_only_to_a_replica() {
    let window = lab(running());
    let frame = window.scene.frame(Catalogue::of(EN));
    let LabData::Running(data) = LabData::new(&frame, &window.board) else {
        panic!("not running");
    };
    let targets = |kind: FaultKind| -> Vec<&str> {
        let rows = data.groups.iter().flat_map(|group| &group.rows);
        let mut rows = rows.filter(|row| row.kind == kind);
        let row = rows.next().expect("a row");
        row.targets.iter().map(|(_, name)| name.as_str()).collect()
    };
    assert_eq!(
        targets(FaultKind::KillServer),
        ["source", "replica-1", "replica-2"]
    );
    assert_eq!(targets(FaultKind::SwapRoles), ["replica-1", "replica-2"]);
    assert_eq!(targets(FaultKind::SourceReadOnly), ["source"]);
}

#[test]
fn active_faults_say_how_long_they_last_and_can_be_undone() {
    let mut harness = english(lab(with_faults()));
    harness.get_by_label("3 active");
    harness.get_by_label("18 s left");
    harness.get_by_label("52 s left");
    harness.get_by_label("for 1 min 15 s");
    harness.get_by_label("Undo: ACKs lost").click();
    harness.run();
    harness.get_by_label("Undo all").click();
    harness.run();
    assert!(matches!(
        harness.state().actions[..],
        [
            Action::Lab(LabOrder::Undo(FaultId(3))),
            Action::Lab(LabOrder::UndoAll)
        ]
    ));
}

#[test]
fn a_fault_that_could_not_be_made_says_why_and_there_is_nothing_to_undo() {
    let harness = english(lab(with_faults()));
    harness.get_by_label_contains("no thread can be started (no memory)");
    let undo = |harness: &Harness<'_, Window>, fault: &str| {
        let name = format!("Undo: {fault}");
        harness.query_all_by_label(&name).count()
    };
    assert_eq!(undo(&harness, "Roles swapped"), 0);
    assert_eq!(undo(&harness, "Link latency"), 2);
}

#[test]
fn a_fault_that_could_not_be_undone_says_when_it_is_tried_again_and_can_be_undone_at_once() {
    let mut harness = english(lab(with_a_stuck_fault(Some(6_200))));
    harness.get_by_label("3 active");
    harness.get_by_label("undone again in 7 s");
    harness.get_by_label("Undo: ACKs lost").click();
    harness.run();
    assert!(matches!(
        harness.state().actions[..],
        [Action::Lab(LabOrder::Undo(FaultId(3)))]
    ));
    // the reason stands under both: the one not made, the one not undone
    let why = "no thread can be started (no memory)";
    assert_eq!(harness.query_all_by_label(why).count(), 2);
    english(lab(with_a_stuck_fault(None))).get_by_label("still there");
}

#[test]
fn what_this_ground_cannot_do_is_greyed_with_the_reason() {
    let mut harness = english(lab(real()));
    harness.get_by_label("Only simulated servers have a certificate of their own here");
    harness.get_by_label("Make: Clock skew").click();
    harness.run();
    assert!(harness.state().actions.is_empty());
}

#[test]
fn stopping_asks_and_says_what_is_lost() {
    let mut harness = english(lab(with_faults()));
    harness.get_by_label("Stop the lab").click();
    harness.run();
    harness.get_by_label_contains("thrown away");
    harness.get_by_label("3 faults are active");
    let stop = harness.get_all_by_label("Stop the lab").last();
    stop.expect("a button").click();
    harness.run();
    assert!(matches!(
        harness.state().actions[..],
        [Action::Lab(LabOrder::Stop)]
    ));
}

#[test]
fn enter_and_escape_do_not_stop_the_lab_by_mistake() {
    for key in [Key::Enter, Key::Escape] {
        let mut harness = english(lab(running()));
        harness.get_by_label("Stop the lab").click();
        harness.run();
        harness.get_by_label_contains("thrown away");
        harness.key_press(key);
        harness.run();
        assert!(
            harness.query_by_label_contains("thrown away").is_none(),
            "{key:?}"
        );
        assert!(harness.state().actions.is_empty(), "{key:?}");
    }
}

#[test]
fn the_servers_can_be_had_elsewhere_as_either_text() {
    let mut harness = english(lab(running()));
    harness.get_by_label("Make it elsewhere").click();
    harness.run();
    let actions = &harness.state().actions;
    let [Action::WriteLabDown(plan)] = &actions[..] else {
        panic!("{actions:?}");
    };
    assert_eq!(*plan, running().plan);

    harness.state_mut().board.recipes = Some(Recipes {
        compose: "services:".into(),
        dbdeployer: "dbdeployer deploy multiple".into(),
    });
    harness.run_steps(3);
    let shown = |harness: &Harness<'static, Window>, file: &str| {
        let field = harness.get_by_role_and_label(Role::MultilineTextInput, file);
        field.value().unwrap_or_default()
    };
    assert_eq!(shown(&harness, "compose.yaml"), "services:");
    harness.get_by_label("dbdeployer").click();
    harness.run_steps(3);
    assert_eq!(
        shown(&harness, "replicascope-lab.sh"),
        "dbdeployer deploy multiple"
    );
}

#[test]
fn the_text_that_is_shown_is_copied_and_saved_and_escape_closes_it() {
    let mut window = lab(running());
    window.board.recipes = Some(Recipes {
        compose: "services:".into(),
        dbdeployer: "dbdeployer".into(),
    });
    let mut harness = english(window);
    harness.get_by_label("Make it elsewhere").click();
    harness.run();
    assert!(is_disabled(&harness, "Write file"), "no file is named");
    let copy = harness.get_all_by_label_contains("Copy").last();
    copy.expect("a button").click();
    let mut commands = Vec::new();
    for _ in 0..3 {
        harness.step();
        commands.extend(harness.output().platform_output.commands.clone());
    }
    let copied = OutputCommand::CopyText("services:".into());
    assert!(commands.contains(&copied), "{commands:?}");

    harness.state_mut().lab.hear(&News::FileChosen {
        purpose: FilePurpose::Recipe(Recipe::Compose),
        path: Some("/tmp/compose.yaml".into()),
    });
    harness.run_steps(3);
    press(&mut harness, "Write file");
    let actions = &harness.state().actions;
    assert!(
        matches!(&actions[..], [Action::WriteLabDown(_), Action::SaveRecipe {
            recipe: Recipe::Compose, to, may_replace: true
        }] if to.ends_with("compose.yaml")),
        "{actions:?}"
    );
    harness.state_mut().board.saved = Some(Err(phrase("probe_screen.export.exists")));
    harness.run_steps(3);
    harness.get_by_label_contains("There is such a file already");
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(
        harness
            .query_by_label("The same servers elsewhere")
            .is_none()
    );
}

#[test]
fn traffic_is_set_at_a_press() {
    let mut harness = english(lab(running()));
    harness.get_by_label("Busy").click();
    harness.run();
    let actions = &harness.state().actions;
    assert!(
        matches!(&actions[..], [Action::Lab(LabOrder::Carry(t))] if t.writes_per_second == 100.0),
        "{actions:?}"
    );
}

#[test]
fn the_eighth_screen_is_the_lab_and_the_tenth_has_the_zero() {
    let mut window = nothing();
    window.shell.screen = Screen::Overview;
    let mut harness = english(window);
    harness.key_press(Key::Num8);
    harness.run();
    assert_eq!(harness.state().shell.screen, Screen::Lab);
    harness.key_press(Key::Num0);
    harness.run();
    assert_eq!(harness.state().shell.screen, Screen::Profiles);
}

#[test]
fn enter_after_a_path_writes_the_file_like_the_button() {
    let mut window = lab(running());
    window.board.recipes = Some(Recipes {
        compose: "services:".into(),
        dbdeployer: "dbdeployer".into(),
    });
    let mut harness = english(window);
    press(&mut harness, "Make it elsewhere");
    harness
        .get_by_role_and_label(Role::TextInput, "File")
        .focus();
    harness.run_steps(2);
    let field = harness.get_by_role_and_label(Role::TextInput, "File");
    field.type_text("/tmp/lab.yaml");
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    let written =
        harness.state().actions.iter().any(
            |action| matches!(action, Action::SaveRecipe { to, .. } if to.ends_with("lab.yaml")),
        );
    assert!(written, "{:?}", harness.state().actions);
}
