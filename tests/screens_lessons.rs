//! Lessons as a class meets them: the list, the lesson being taught, the step under every other screen, the presenter
//! view. `REPLICASCOPE_PICTURES=some/folder` keeps the pictures.

mod support;

use eframe::egui::{Key, Rect, Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use replicascope::lab::lessons;
use replicascope::model::lab::FaultKind;
use replicascope::model::lesson::{
    Act, Answer, LagNow, LessonFacts, LessonOrder, LessonRun, Page, Said, ServerFacts, Spot,
    Statement, Table,
};
use replicascope::model::phrase::phrase;
use replicascope::model::profile::Environment;
use replicascope::model::time::{Moment, Span};
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::ui::action::{Action, Screen};
use replicascope::ui::lesson::board::{Answers, LabFit, LessonBoard};
use replicascope::ui::lesson::{
    Exhibit, LessonData, LessonState, Looking, lesson_panel_ui, pointer, presenter_ui, strip_ui,
};
use replicascope::ui::overview::{OverviewData, OverviewState, overview_ui};
use replicascope::ui::probe::board::ProbeBoard;
use replicascope::ui::shell::{ShellData, ShellState, shell_ui};
use replicascope::words::{Catalogue, Language};
use support::fixtures::{Doing, NOW, Play, Scene};
use support::screen::{EN, SMALL, WIDE, ZH, is_disabled, keep, look, open_zoomed, side_by_side};

/// Projectors of 1024×768 and 1920×1080, zoomed as the program does.
const PROJECTORS: [(Vec2, f32); 2] = [(vec2(960.0, 720.0), 1.067), (vec2(960.0, 540.0), 2.0)];

/// The window as the program draws it, without the program.
struct Window {
    scene: Scene,
    language: Language,
    shell: ShellState,
    board: LessonBoard,
    lesson: LessonState,
    overview: OverviewState,
    looking: Looking,
    probes: ProbeBoard,
    actions: Vec<Action>,
}

fn scene() -> Scene {
    let mut play = Play::new("lab", Environment::Lab);
    play.source("source");
    play.replica("replica-1", "source", |second| match second {
        0..=200 => Doing::Late(6),
        late => Doing::Late(800 + late % 7 * 30),
    });
    play.replica("replica-2", "source", |second| Doing::Late(4 + second % 3));
    let (store, profile) = play.run(240);
    Scene {
        store,
        topology: Some(profile.id.clone()),
        profiles: vec![profile],
        preferences: Default::default(),
        server: None,
        now: NOW,
    }
}

fn window(screen: Screen) -> Window {
    Window {
        scene: scene(),
        language: EN,
        shell: ShellState {
            screen,
            ..ShellState::default()
        },
        board: LessonBoard {
            lessons: lessons::all().to_vec(),
            lab: LabFit::Fits,
            ..LessonBoard::default()
        },
        lesson: LessonState::default(),
        overview: OverviewState::default(),
        looking: Looking::default(),
        probes: ProbeBoard::default(),
        actions: Vec::new(),
    }
}

/// A lesson that has stood on this page for so long.
fn teaching(screen: Screen, id: &str, page: Page, for_secs: i64) -> Window {
    let mut window = window(screen);
    let began = NOW - Span::from_secs(for_secs);
    let mut run = LessonRun::new(
        lessons::find(id, Default::default()).expect("a lesson"),
        began,
    );
    if let Page::Step(index) = page {
        for _ in 0..index {
            run.tick();
            run.forward(began);
        }
    } else {
        run.go_to(page, began);
    }
    window.board.run = Some(run);
    window
}

fn window_ui(ui: &mut Ui, window: &mut Window) {
    let words = Catalogue::of(window.language);
    let frame = window.scene.frame(words);
    let lessons = LessonData::new(&frame, &window.board);
    let mut actions = Vec::new();
    if window.board.is_presenting {
        let step = window.board.run.as_ref().and_then(|run| run.step());
        let look = step.and_then(|step| step.look);
        let exhibit = Exhibit::new(&frame, look, &window.probes, &mut window.looking);
        let looking = &mut window.looking;
        presenter_ui(ui, &lessons, &exhibit, looking, &frame, &mut actions);
    } else {
        let data = ShellData::new(&frame);
        let screen = window.shell.screen;
        let (overview, lesson) = (&mut window.overview, &mut window.lesson);
        shell_ui(
            ui,
            &data,
            &mut window.shell,
            &frame,
            &mut actions,
            |ui, actions| match screen {
                Screen::Lab => lesson_panel_ui(ui, &lessons, &frame, actions),
                _ => {
                    if let Some(run) = &lessons.run {
                        strip_ui(ui, run, lesson, &frame, actions);
                    }
                    let data = OverviewData::new(&frame, overview);
                    overview_ui(ui, &data, overview, &frame, actions);
                }
            },
        );
    }
    let now = window.scene.now;
    for action in &actions {
        if let Action::Lesson(order) = action {
            obey(&mut window.board, order, now);
        }
    }
    window.actions.extend(actions);
}

/// What the program does with the simplest orders.
fn obey(board: &mut LessonBoard, order: &LessonOrder, now: Moment) {
    if let LessonOrder::Present(large) = order {
        board.is_presenting = *large;
    }
    let Some(run) = &mut board.run else { return };
    match order {
        LessonOrder::Forward => run.forward(now),
        LessonOrder::Back => run.back(now),
        LessonOrder::Open(page) => run.go_to(*page, now),
        LessonOrder::Tick => run.tick(),
        LessonOrder::RevealAnswer => run.reveal_answer(),
        LessonOrder::Act => run.acted(now),
        _ => {}
    }
}

fn harness(window: Window, size: Vec2, theme: Theme, zoom: f32) -> Harness<'static, Window> {
    open_zoomed(window_ui, window, size, theme, zoom)
}

fn english(window: Window) -> Harness<'static, Window> {
    harness(window, WIDE, Theme::Dark, 1.0)
}

fn orders(harness: &Harness<'_, Window>) -> Vec<LessonOrder> {
    let of = |action: &Action| match action {
        Action::Lesson(order) => Some(order.clone()),
        _ => None,
    };
    harness.state().actions.iter().filter_map(of).collect()
}

fn press(harness: &mut Harness<'_, Window>, name: &str) {
    harness.get_by_label(name).click();
    harness.run_steps(3);
}

// --- the list --------------------------------------------------------------------------------------------------------

#[test]
fn the_list_names_all_lessons_with_goal_and_time_and_begins_one() {
    let mut harness = harness(window(Screen::Lab), vec2(1280.0, 1400.0), Theme::Dark, 1.0);
    for lesson in lessons::all() {
        harness.get_by_label(&lesson.title.en);
        harness.get_by_label(&lesson.goal.en);
    }
    let of_14 = lessons::all().iter().filter(|l| l.minutes == 14).count();
    assert_eq!(harness.query_all_by_label("14 min").count(), of_14);
    press(
        &mut harness,
        "Begin the lesson “Why Seconds_Behind_Source lies”",
    );
    assert_eq!(
        orders(&harness),
        [LessonOrder::Begin("seconds-behind".into())]
    );
}

// --- statements ------------------------------------------------------------------------------------------------------

fn said(statement: &str, answer: Result<Answer, Trouble>) -> Said {
    Said {
        statement: Statement {
            text: statement.to_owned(),
            is_upright: statement.starts_with("SHOW REPLICA"),
        },
        took: Span::from_micros(1_300),
        answer,
    }
}

fn table(columns: &[&str], row: &[Option<&str>]) -> Result<Answer, Trouble> {
    let cells = row.iter().map(|cell| cell.map(str::to_owned));
    Ok(Answer::Rows(Table {
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        rows: vec![cells.collect()],
        all_rows: 1,
    }))
}

/// Error 1290, as a replica says it.
fn read_only() -> Trouble {
    Trouble {
        kind: TroubleKind::Refusing,
        what: phrase("trouble.refusing"),
        hint: None,
        code: Some(1290),
        detail: "The MySQL server is running with the --super-read-only option".to_owned(),
    }
}

fn with_answers(mut window: Window, answers: Vec<Said>) -> Window {
    window.board.answers = Answers::Here(answers);
    window
}

fn age_of_heartbeat() -> Window {
    let window = teaching(Screen::Lab, "heartbeat", Page::Step(0), 5);
    let age = table(&["age_ms"], &[Some("412.3310")]);
    with_answers(window, vec![said("SELECT …", age)])
}

fn status_of_replica() -> Window {
    let window = teaching(Screen::Lab, "seconds-behind", Page::Step(0), 5);
    let columns: Vec<String> = (0..50).map(|n| format!("Replica_column_{n}")).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut values = vec![Some("Waiting for source to send event"); 50];
    values[2] = None;
    let status = table(&columns, &values);
    with_answers(window, vec![said("SHOW REPLICA STATUS", status)])
}

fn refused_write() -> Window {
    let window = teaching(Screen::Lab, "failover", Page::Step(6), 5);
    let flags = table(
        &["@@read_only", "@@super_read_only"],
        &[Some("1"), Some("1")],
    );
    let answers = vec![
        said("SELECT @@read_only, @@super_read_only", flags),
        said("UPDATE shop.orders SET status = 'new'", Err(read_only())),
    ];
    with_answers(window, answers)
}

#[test]
fn whoever_has_no_client_has_the_statement_said() {
    let mut harness = english(teaching(Screen::Lab, "heartbeat", Page::Step(0), 5));
    press(&mut harness, "Run it here");
    assert!(orders(&harness).contains(&LessonOrder::Say));
    harness.state_mut().board.answers = Answers::Awaited;
    harness.run_steps(2);
    assert!(is_disabled(&harness, "Run it here"));
}

#[test]
fn an_answer_stands_under_its_statement_with_its_rows_and_its_time() {
    let harness = english(age_of_heartbeat());
    for wanted in ["age_ms", "412.3310", "1 row · 1.3 ms", "Run it again"] {
        harness.get_by_label(wanted);
    }
}

#[test]
fn an_answer_by_the_line_has_its_nulls() {
    let harness = english(status_of_replica());
    for wanted in ["Replica_column_2", "NULL", "1 row · 1.3 ms"] {
        harness.get_by_label(wanted);
    }
}

#[test]
fn of_several_statements_each_is_named_and_the_refusal_is_the_servers() {
    let harness = english(refused_write());
    for wanted in [
        "SELECT @@read_only, @@super_read_only",
        "UPDATE shop.orders SET status = 'new'",
        "ERROR 1290: The MySQL server is running with the --super-read-only option",
    ] {
        harness.get_by_label(wanted);
    }
}

#[test]
fn a_class_sees_the_answer_in_the_presenter_view() {
    let mut window = age_of_heartbeat();
    window.board.is_presenting = true;
    let (size, zoom) = PROJECTORS[1];
    let mut harness = harness(window, size, Theme::Dark, zoom);
    harness.get_by_label("412.3310");
    press(&mut harness, "Run it again");
    assert!(orders(&harness).contains(&LessonOrder::Say));
}

// --- the lesson being taught -----------------------------------------------------------------------------------------

#[test]
fn a_step_says_what_to_do_where_to_look_and_what_it_waits_for() {
    let mut harness = english(teaching(Screen::Lab, "missing-order", Page::Step(2), 12));
    harness.get_by_label("Step 3 of 7");
    // in the list of steps, and large
    let text = "Now make the network to replica 1 slow";
    assert_eq!(harness.query_all_by_label_contains(text).count(), 2);
    harness.get_by_label_contains("waiting to be seen, 12 s");
    assert!(harness.query_by_label("Hint").is_none());
    press(&mut harness, "Do it for me");
    press(&mut harness, "→ Overview: the plot");
    assert_eq!(
        orders(&harness),
        [LessonOrder::Act, LessonOrder::Look(Spot::OverviewPlot)]
    );
    harness.get_by_label("Do it again");
}

#[test]
fn a_step_that_waits_too_long_shows_its_hint_and_can_be_ticked_off_by_hand() {
    let mut harness = english(teaching(Screen::Lab, "missing-order", Page::Step(2), 50));
    harness.get_by_label("Hint");
    harness.get_by_label_contains("Without writes nothing can be late");
    harness.get_by_label_contains("press “Do it for me”");
    press(&mut harness, "I have seen it");
    harness.get_by_label("✓ seen");
    assert!(harness.query_by_label("Hint").is_none());
}

#[test]
fn what_had_to_be_made_again_is_told_also_once_it_was_seen() {
    const TOLD: &str = "Made again: Big transaction 1,200,000 rows on source";
    let mut window = teaching(Screen::Lab, "big-transactions", Page::Step(1), 5);
    window.board.made_again = Some(Act::Make {
        kind: FaultKind::BigTransaction,
        on: 0,
        intensity: 1_200_000.0,
        lasts: None,
    });
    let mut harness = english(window);
    harness.get_by_label_contains(TOLD);
    press(&mut harness, "I have seen it");
    harness.get_by_label("✓ seen");
    harness.get_by_label_contains(TOLD);
}

#[test]
fn a_step_ticks_itself_off_on_what_is_seen() {
    let mut window = teaching(Screen::Lab, "missing-order", Page::Step(2), 5);
    let late = ServerFacts {
        lag: LagNow::Measured(Span::from_millis(800)),
        ..ServerFacts::default()
    };
    let facts = LessonFacts {
        servers: [(1, late)].into(),
        ..LessonFacts::default()
    };
    let run = window.board.run.as_mut().expect("a lesson");
    assert!(run.observe(&facts, NOW));
    english(window).get_by_label("✓ seen");
}

#[test]
fn the_answer_is_shown_when_it_is_asked_for() {
    let mut harness = english(teaching(Screen::Lab, "gtid-wait", Page::Question, 5));
    harness.get_by_label_contains("Is it fresh?");
    assert!(harness.query_by_label_contains("vouches for").is_none());
    press(&mut harness, "Show the answer");
    harness.get_by_label_contains("vouches for the server it ran on");
    press(&mut harness, "Next");
    harness.get_by_label_contains("session_track_gtids");
}

#[test]
fn without_a_lab_that_fits_a_lesson_says_what_it_needs() {
    let mut window = teaching(Screen::Lab, "heartbeat", Page::Step(0), 5);
    window.board.lab = LabFit::Other;
    let mut harness = english(window);
    harness.get_by_label_contains(
        "needs another lab: a source and 2 replicas with 4 applier workers each, without semi-sync",
    );
    press(&mut harness, "Replace the lab");
    assert_eq!(orders(&harness), [LessonOrder::BuildLab]);
}

#[test]
fn any_step_can_be_gone_to_from_the_list_of_steps() {
    let mut harness = english(teaching(Screen::Lab, "semi-sync", Page::Step(1), 5));
    harness.get_by_label("Question").click();
    harness.run_steps(2);
    assert_eq!(orders(&harness), [LessonOrder::Open(Page::Question)]);
}

#[test]
fn the_step_stands_under_the_screen_it_speaks_of() {
    let mut harness = english(teaching(
        Screen::Overview,
        "missing-order",
        Page::Step(2),
        5,
    ));
    harness.get_by_label_contains("Now make the network to replica 1 slow");
    harness.get_by_label_contains("Lag of replica-1, replica-2");
    press(&mut harness, "Fold");
    assert!(
        harness
            .query_by_label_contains("Now make the network")
            .is_none()
    );
    press(&mut harness, "Unfold");
    press(&mut harness, "Whole lesson");
    assert!(
        harness
            .state()
            .actions
            .iter()
            .any(|a| matches!(a, Action::Show(Screen::Lab)))
    );
}

#[test]
fn what_a_step_points_at_is_ringed_for_a_while() {
    let mut harness = english(window(Screen::Overview));
    let before = harness.render().expect("a picture");
    pointer::point(&harness.ctx, Spot::OverviewPlot, None);
    harness.run_steps(2);
    let ringed = harness.render().expect("a picture");
    assert!(before != ringed, "there is no ring");
    harness.input_mut().time = Some(1_000.0);
    harness.run_steps(3);
    assert!(
        harness.render().expect("a picture") == before,
        "the ring stays"
    );
}

// --- the presenter view ----------------------------------------------------------------------------------------------

fn presenting(id: &str, page: Page) -> Window {
    let mut window = teaching(Screen::Lab, id, page, 5);
    window.board.is_presenting = true;
    window
}

#[test]
fn a_clicker_turns_the_pages_and_escape_leaves() {
    let mut harness = english(presenting("missing-order", Page::Step(5)));
    harness.get_by_label("Step 6 of 7");
    for (key, seen) in [
        (Key::PageDown, "Step 7 of 7"),
        (Key::PageUp, "Step 6 of 7"),
        (Key::PageDown, "Step 7 of 7"),
        (Key::PageDown, "Question"),
        (Key::PageDown, "Question"),
        (Key::PageDown, "To check in production"),
    ] {
        harness.key_press(key);
        harness.run_steps(2);
        harness.get_by_label(seen);
    }
    assert!(orders(&harness).contains(&LessonOrder::RevealAnswer));
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert!(!harness.state().board.is_presenting);
}

#[test]
fn enter_does_what_the_step_says() {
    let mut harness = english(presenting("missing-order", Page::Step(2)));
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    assert_eq!(orders(&harness), [LessonOrder::Act]);
}

#[test]
fn every_page_of_every_lesson_can_be_presented_in_both_languages() {
    for (language, (size, _)) in [EN, ZH]
        .into_iter()
        .flat_map(|l| PROJECTORS.map(|p| (l, p)))
    {
        let mut window = presenting("missing-order", Page::Step(0));
        window.language = language;
        let mut harness = harness(window, size, Theme::Dark, 1.0);
        for lesson in lessons::all() {
            let steps = (0..lesson.steps.len()).map(Page::Step);
            for page in steps.chain([Page::Question, Page::Production]) {
                // so long ago that the hint is there too
                let long_ago = NOW - Span::from_secs(600);
                let mut run = LessonRun::new(lesson.clone(), long_ago);
                run.go_to(page, long_ago);
                run.reveal_answer();
                harness.state_mut().board.run = Some(run);
                harness.run_steps(2);
                let at = format!("{language:?}, {size}, {}, {page:?}", lesson.id);
                the_way_out_is_in_sight(&harness, language, size, &at);
                // a long statement may take the picture's place
                if matches!(page, Page::Step(n) if lesson.steps[n].sql.is_none()) {
                    the_picture_is_in_sight(&harness, language, &at);
                }
            }
        }
    }
}

fn leave(harness: &Harness<'_, Window>, language: Language) -> Rect {
    let name = match language {
        EN => "Leave (Esc)",
        ZH => "退出 (Esc)",
    };
    harness.get_by_label(name).rect()
}

/// Whatever the text's length.
fn the_way_out_is_in_sight(
    harness: &Harness<'_, Window>,
    language: Language,
    size: Vec2,
    at: &str,
) {
    let foot = leave(harness, language).max;
    assert!(foot.y <= size.y && foot.x <= size.x, "{at}");
}

fn the_picture_is_in_sight(harness: &Harness<'_, Window>, language: Language, at: &str) {
    let lag_of = match language {
        EN => "Lag of",
        ZH => "最近 1 分钟",
    };
    let picture = harness.query_by_label_contains(lag_of);
    let picture = picture.unwrap_or_else(|| panic!("{at}: no picture")).rect();
    let foot = leave(harness, language);
    assert!(picture.max.y <= foot.min.y, "{at}: {picture:?} {foot:?}");
}

// --- pictures --------------------------------------------------------------------------------------------------------

#[test]
fn pictures_in_both_themes_and_languages() {
    // all of them where somebody looks, else one of each theme
    let looked_at = std::env::var("REPLICASCOPE_PICTURES").is_ok();
    let themes = [Theme::Dark, Theme::Light];
    let looks = themes
        .into_iter()
        .flat_map(|theme| [(theme, EN), (theme, ZH)])
        .filter(|(theme, language)| looked_at || (*theme == Theme::Dark) == (*language == ZH));
    side_by_side(looks, |(theme, language)| {
        let look = look(theme, language);
        for (size, size_name) in [(WIDE, "wide"), (SMALL, "small")] {
            for (name, window) in scenes() {
                let window = Window { language, ..window };
                let mut harness = harness(window, size, theme, 1.0);
                keep(&mut harness, &format!("lesson-{name}-{size_name}-{look}"));
            }
        }
        for (size, zoom) in PROJECTORS {
            for (name, window) in presented() {
                let window = Window { language, ..window };
                let mut harness = harness(window, size, theme, zoom);
                keep(&mut harness, &format!("present-{name}-{}-{look}", size.y));
            }
        }
    });
}

fn scenes() -> Vec<(&'static str, Window)> {
    let mut revealed = teaching(Screen::Lab, "semi-sync", Page::Question, 5);
    revealed.board.run.as_mut().expect("a run").reveal_answer();
    let mut elsewhere = teaching(Screen::Lab, "heartbeat", Page::Step(4), 90);
    elsewhere.board.lab = LabFit::Missing;
    vec![
        ("list", window(Screen::Lab)),
        (
            "step",
            teaching(Screen::Lab, "seconds-behind", Page::Step(3), 70),
        ),
        ("answer", revealed),
        ("rows", age_of_heartbeat()),
        ("upright", status_of_replica()),
        ("refused", refused_write()),
        (
            "checklist",
            teaching(Screen::Lab, "failover", Page::Production, 5),
        ),
        ("no-lab", elsewhere),
        (
            "strip",
            teaching(Screen::Overview, "missing-order", Page::Step(2), 50),
        ),
    ]
}

fn presented_large(mut window: Window) -> Window {
    window.board.is_presenting = true;
    window
}

fn presented() -> Vec<(&'static str, Window)> {
    let mut answer = presenting("semi-sync", Page::Question);
    answer.board.run.as_mut().expect("a run").reveal_answer();
    vec![
        ("plot", presenting("missing-order", Page::Step(2))),
        ("long", presenting("failover", Page::Step(5))),
        ("lag", presenting("seconds-behind", Page::Step(5))),
        ("rows", presented_large(status_of_replica())),
        ("refused", presented_large(refused_write())),
        ("answer", answer),
        ("checklist", presenting("failover", Page::Production)),
    ]
}
