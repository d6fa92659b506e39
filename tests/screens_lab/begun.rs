//! From the first run to a lab that is there, or is not.

use super::*;

#[test]
fn the_first_run_offers_the_lab_first() {
    let mut window = nothing();
    window.shell.screen = Screen::Overview;
    let mut harness = english(window);
    let lab = harness.get_by_label("Start the lab").rect();
    let add = harness.get_by_label("Add servers").rect();
    assert!(lab.max.y < add.min.y);
    harness.get_by_label("Start the lab").click();
    harness.run();
    let actions = &harness.state().actions;
    assert!(
        matches!(&actions[..], [Action::StartLab { plan, program: None }] if *plan == LabPlan::default())
    );
}

#[test]
fn one_press_starts_the_usual_lab_and_details_are_folded() {
    let mut harness = english(nothing());
    assert!(harness.query_by_label("Chain").is_none());
    harness.get_by_label("Simulated MySQL 9.7: a source and 2 replicas, semi-sync");
    harness.get_by_label("Start the lab").click();
    harness.run();
    assert!(
        matches!(&harness.state().actions[..], [Action::StartLab { plan, .. }] if *plan == LabPlan::default())
    );
}

#[test]
fn what_is_chosen_is_what_starts() {
    let mut harness = english(nothing());
    harness.get_by_label("Choose what it is made of").click();
    harness.run();
    harness.get_by_label("Chain").click();
    let semi_sync = harness.get_by_role_and_label(Role::CheckBox, "Semi-sync");
    semi_sync.click();
    harness.run();
    harness.get_by_label("Simulated MySQL 9.7: a source and a chain of 2 replicas, asynchronous");
    harness.get_by_label("Start the lab").click();
    harness.run();
    let actions = &harness.state().actions;
    let Some(Action::StartLab { plan, .. }) = actions.last() else {
        panic!("{actions:?}");
    };
    assert_eq!((plan.shape, plan.semi_sync), (Shape::Chain, false));
}

#[test]
fn real_servers_are_named_or_their_absence_is() {
    let mut window = nothing();
    window.board.found = Some(vec![FoundProgram {
        flavour: Flavour::MySql,
        version: "9.7.4".into(),
        path: "/opt/mysql/bin/mysqld".into(),
    }]);
    window.lab.details_open = true;
    let mut harness = english(window);
    harness.get_by_label("Real MySQL").click();
    harness.run();
    harness.get_by_label("MySQL 9.7.4 · /opt/mysql/bin/mysqld");
    harness.get_by_label("Real MariaDB").click();
    harness.run();
    harness.get_by_label("None is installed here");
    harness.get_by_label("Choose mysqld…").click();
    harness.run();
    assert!(matches!(
        harness.state().actions.last(),
        Some(Action::ChooseFile(_))
    ));
}

#[test]
fn where_no_file_dialog_is_the_server_program_is_typed() {
    let mut window = nothing();
    window.board.found = Some(Vec::new());
    window.lab.details_open = true;
    let mut harness = english(window);
    press(&mut harness, "Real MySQL");
    harness.get_by_label("or its path").focus();
    harness.run_steps(2);
    let field = harness.get_by_role_and_label(Role::TextInput, "or its path");
    field.type_text("/opt/mysql/bin/mysqld");
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    let asked = harness
        .state()
        .actions
        .iter()
        .rev()
        .find_map(|action| match action {
            Action::LookForServers(path) => path.clone(),
            _ => None,
        });
    assert_eq!(asked, Some("/opt/mysql/bin/mysqld".into()));
    let (_, program) = harness.state().lab.chosen();
    assert_eq!(program, Some("/opt/mysql/bin/mysqld".into()));
}

#[test]
fn a_program_that_is_no_server_is_named_and_not_silently_replaced() {
    let mut window = nothing();
    window.board.found = Some(vec![FoundProgram {
        flavour: Flavour::MySql,
        version: "9.7.4".into(),
        path: "/opt/mysql/bin/mysqld".into(),
    }]);
    let why = phrase("lab.real.not_a_server").with("path", "/opt/nothing");
    window.board.useless = Some(why);
    window.lab.details_open = true;
    let mut harness = english(window);
    press(&mut harness, "Real MySQL");
    harness.get_by_label("/opt/nothing is no MySQL or MariaDB server that can be started here");
    assert!(is_disabled(&harness, "Start the lab"));
    press(&mut harness, "Simulated");
    assert!(!is_disabled(&harness, "Start the lab"));
}

#[test]
fn a_lab_of_servers_that_are_not_there_cannot_be_started() {
    let mut window = nothing();
    window.board.found = Some(Vec::new());
    window.lab.details_open = true;
    let mut harness = english(window);
    assert!(!is_disabled(&harness, "Start the lab"));
    press(&mut harness, "Real MariaDB");
    assert!(is_disabled(&harness, "Start the lab"));
    press(&mut harness, "Simulated");
    assert!(!is_disabled(&harness, "Start the lab"));
}

#[test]
fn what_traffic_came_to_pass_is_told_apart_from_what_was_asked_for() {
    let mut window = lab(running());
    window.board.rates = Some(TrafficRates {
        writes_per_second: 3.2,
        reads_per_second: 19.0,
    });
    let harness = english(window);
    harness.get_by_label("actual 3.2/s");
    harness.get_by_label("actual 19/s");
}

#[test]
fn the_tabulator_goes_through_a_fault_from_left_to_right() {
    let mut harness = english(lab(running()));
    let make = harness.get_by_label("Make: Link latency").rect();
    harness.get_by_label("Link latency on").focus();
    harness.run_steps(2);
    for _ in 0..3 {
        harness.key_press(Key::Tab);
        harness.run_steps(2);
    }
    let focused = harness.get_by(|node| node.is_focused());
    assert_eq!(focused.rect(), make);
}

#[test]
fn the_tabulator_reaches_what_ends_the_lab_last() {
    let mut harness = english(lab(running()));
    let focused =
        |harness: &Harness<'static, Window>| harness.get_by(|node| node.is_focused()).rect();
    let at = |harness: &Harness<'static, Window>, name| harness.get_by_label(name).rect();
    harness.get_by_label("Make it elsewhere").focus();
    harness.run_steps(2);
    for name in ["Show on the overview", "Stop the lab"] {
        harness.key_press(Key::Tab);
        harness.run_steps(2);
        assert_eq!(focused(&harness), at(&harness, name), "{name}");
    }
    let (elsewhere, stop) = (
        at(&harness, "Make it elsewhere"),
        at(&harness, "Stop the lab"),
    );
    assert!(elsewhere.max.x < stop.min.x, "and it stands at the right");
    assert!(stop.max.x <= TALL.x);
}

#[test]
fn a_lab_that_did_not_start_says_why_and_can_be_started_again() {
    let harness = english(Window::of(
        fixtures::nothing_yet(),
        LabBoard {
            status: Some(status(LabPhase::Failed(trouble()))),
            ..LabBoard::default()
        },
    ));
    harness.get_by_label("The lab did not start");
    harness.get_by_label_contains("no memory");
    harness.get_by_label("os error 12");
    harness.get_by_label("Start the lab");
}

#[test]
fn while_it_starts_it_says_what_is_being_done() {
    let starting = status(LabPhase::Starting(phrase("lab_screen.looking")));
    let mut harness = english(Window::of(
        fixtures::nothing_yet(),
        LabBoard {
            status: Some(starting),
            ..LabBoard::default()
        },
    ));
    harness.get_by_label("Looking for installed servers");
    // a spinner turns: no steady state to run to
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);
    assert!(matches!(
        harness.state().actions[..],
        [Action::Lab(LabOrder::Stop)]
    ));
}
