//! The lab from anywhere, by the search.

use super::*;

/// Each command with why it cannot be done.
fn commands(window: &Window) -> Vec<(String, Option<String>)> {
    let data = window.data(&window.scene.frame(Catalogue::of(EN)));
    let commands = data.commands.into_iter();
    commands
        .map(|entry| (entry.text, entry.impossible))
        .collect()
}

#[track_caller]
fn assert_impossible(board: LabBoard, expected: [Option<&str>; 3]) {
    let commands = commands(&Window::of(fixtures::nothing_yet(), board));
    let why: Vec<Option<&str>> = commands.iter().map(|(_, why)| why.as_deref()).collect();
    assert_eq!(why[..3], expected, "{commands:?}");
}

#[test]
fn the_search_offers_what_can_be_done_about_the_lab_and_says_why_the_rest_cannot() {
    let names: Vec<String> = commands(&nothing())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names[..3],
        ["Start the lab", "Stop the lab", "Undo all faults"]
    );
    let none = Some("no lab is running");
    assert_impossible(LabBoard::default(), [None, none, none]);
    let wait = Some("wait: it is being made or removed");
    let starting = status(LabPhase::Starting(phrase("lab_screen.looking")));
    assert_impossible(board(starting), [wait, wait, none]);
    let runs = Some("a lab is running");
    assert_impossible(board(running()), [runs, None, Some("no fault is active")]);
    assert_impossible(board(with_faults()), [runs, None, None]);
}

#[test]
fn the_search_goes_on_with_the_lesson_that_is_taught_and_begins_no_other() {
    let mut window = lab(running());
    let taught = lessons::find("heartbeat", Default::default()).expect("a lesson");
    let begin = |window: &Window| {
        let data = window.data(&window.scene.frame(Catalogue::of(EN)));
        data.lessons
            .iter()
            .filter(|entry| entry.impossible.is_none())
            .count()
    };
    assert_eq!(begin(&window), lessons::all().len());
    window.lessons.run = Some(LessonRun::new(taught, NOW));
    assert_eq!(begin(&window), 1);
    let all = commands(&window);
    assert!(
        all.iter()
            .all(|(_, why)| why.as_deref() != Some("no lesson is being taught"))
    );
    let mut harness = english(window);
    search(&mut harness, "present");
    assert!(matches!(
        harness.state().actions[..],
        [Action::Lesson(LessonOrder::Present(true))]
    ));
}

/// Types into the search, and takes what comes first.
fn search(harness: &mut Harness<'static, Window>, typed: &str) {
    harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    harness.run_steps(3);
    let name = "Go to a server or screen, or do something";
    let field = harness.get_by_role_and_label(Role::SearchInput, name);
    field.type_text(typed);
    harness.run_steps(3);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
}

#[test]
fn what_the_search_offers_is_done_and_what_is_impossible_is_not() {
    let mut harness = english(lab(with_faults()));
    search(&mut harness, "undo all");
    search(&mut harness, "stop the");
    let actions = &harness.state().actions;
    assert!(
        matches!(
            actions[..],
            [Action::Lab(LabOrder::UndoAll), Action::AskToStopLab]
        ),
        "{actions:?}"
    );
    harness.state_mut().actions.clear();
    search(&mut harness, "start the");
    assert!(harness.state().actions.is_empty());
    assert!(harness.state().shell.palette.is_some(), "the reason stays");
    harness.get_by_label_contains("a lab is running");
}
