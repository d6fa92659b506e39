//! The Probe screen as a person meets it: nothing written before the SQL was seen, one run side by side, many runs added
//! up, trouble in words. Pictures in both themes, languages and sizes; `REPLICASCOPE_PICTURES=some/folder` keeps them.

mod support;

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::accesskit::Role;
use eframe::egui::{Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use replicascope::model::gtid::Gtids;
use replicascope::model::phrase::phrase;
use replicascope::model::probe::*;
use replicascope::model::profile::*;
use replicascope::model::server::Flavour;
use replicascope::model::time::{Moment, Span};
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::store::Store;
use replicascope::ui::action::{Action, FilePurpose};
use replicascope::ui::probe::board::*;
use replicascope::ui::probe::{ProbeData, ProbeState, probe_ui};
use replicascope::ui::profiles::News;
use replicascope::words::{Catalogue, Language};
use support::fixtures::Scene;
use support::fixtures_forms::{NOW, watched_orders};
use support::screen::{is_disabled, keep, look, open, press, side_by_side};

/// What the tree and the bars leave of a window of 1280 × 800, and of one of 1024 × 640.
const WIDE: Vec2 = vec2(1040.0, 720.0);
const SMALL: Vec2 = vec2(792.0, 560.0);
/// Nothing has to be scrolled to.
const TALL: Vec2 = vec2(1040.0, 1500.0);

struct Screen {
    language: Language,
    scene: Scene,
    board: ProbeBoard,
    probe: ProbeState,
    actions: Vec<Action>,
}

fn screen(environment: Environment) -> Screen {
    Screen {
        language: Language::English,
        scene: watched_orders(environment),
        board: ProbeBoard::default(),
        probe: ProbeState::default(),
        actions: Vec::new(),
    }
}

fn topology() -> TopologyId {
    TopologyId("orders".into())
}

fn draw(ui: &mut Ui, screen: &mut Screen) {
    let frame = screen.scene.frame(Catalogue::of(screen.language));
    let data = ProbeData::new(&frame, &screen.board, &screen.probe);
    probe_ui(ui, &data, &mut screen.probe, &frame, &mut screen.actions);
}

type Window = Harness<'static, Screen>;

fn window(screen: Screen, theme: Theme, size: Vec2) -> Window {
    open(draw, screen, size, theme)
}

fn tall(screen: Screen) -> Window {
    window(screen, Theme::Dark, TALL)
}

/// On the screen, and to those who cannot see the curve.
fn says(window: &Window, text: &str) {
    assert_eq!(window.get_all_by_label_contains(text).count(), 2, "{text}");
}

/// What the person did last; the screen itself asks for the SQL until it has it.
fn last(window: &Window) -> Option<&Action> {
    let mut actions = window.state().actions.iter().rev();
    actions.find(|action| !matches!(action, Action::DescribeProbe { .. }))
}

// --- what was probed -------------------------------------------------------------------------------------------------

fn probed(id: &str, name: &str) -> Probed {
    Probed {
        id: ServerId(id.into()),
        name: name.into(),
    }
}

fn plan(runs: u32) -> ProbePlan {
    ProbePlan {
        flavour: ProbeFlavour::Update,
        runs,
        measures_floor: runs == 1,
        ..ProbePlan::default()
    }
}

fn at(micros: i64) -> Moment {
    NOW - Span::from_secs(2) + Span::from_micros(micros)
}

fn seen(session: u64, at_us: i64, value: &str) -> Seen {
    Seen {
        session: Some(session),
        asked_at: at(at_us),
        answered_at: at(at_us + 700),
        value: Ok(Some(value.into())),
    }
}

const BEFORE: &str = "address 1a2b3c4d-0";
const WRITTEN: &str = "address 1a2b3c4d-1";

/// The plain read is sent `after_us` after the commit; the replica shows the write `lag_us` after it, or never.
fn replica_run(after_us: i64, lag_us: Option<i64>) -> ReplicaRun {
    let committed = 3_100;
    let is_fresh = lag_us.is_some_and(|lag| after_us >= lag);
    let plain = seen(
        57,
        committed + after_us,
        if is_fresh { WRITTEN } else { BEFORE },
    );
    let Some(lag_us) = lag_us else {
        return ReplicaRun {
            plain,
            waited: WaitedRead {
                wait: WaitSeen::not_sent(WaitKind::NotRunning),
                read: seen(60, committed + 400, WRITTEN),
                read_from: ReadFrom::Source,
                reason: WaitKind::NotRunning.reason(),
            },
            first_visible: None,
        };
    };
    let span = Some((at(committed + 80), at(committed + 80 + lag_us)));
    ReplicaRun {
        plain,
        waited: WaitedRead {
            wait: WaitSeen {
                session: Some(58),
                span,
                code: Some(0),
                ..WaitSeen::not_sent(WaitKind::Reached)
            },
            read: seen(58, committed + 120 + lag_us, WRITTEN),
            read_from: ReadFrom::Replica,
            reason: None,
        },
        first_visible: Some(at(committed + lag_us)),
    }
}

fn run(number: u32, replicas: Vec<ReplicaRun>) -> Arc<ProbeRun> {
    let gtid = format!("00000001-aaaa-11f0-8000-000000009562:{}", 18_000 + number);
    let gtids = Gtids::parse(&gtid, Flavour::MySql).expect("a set");
    Arc::new(ProbeRun {
        number,
        value: WRITTEN.into(),
        write: Ok(Write {
            session: 41,
            asked_at: at(0),
            committed_at: at(3_100),
            token: Ok(Token {
                gtids,
                from: TokenFrom::Session,
            }),
        }),
        source: Some(seen(42, 3_150, WRITTEN)),
        replicas,
    })
}

fn begun(plan: ProbePlan) -> ProbeView {
    let mut view = ProbeView::new(plan, at(0));
    view.begin(
        probed("a", "db-source"),
        vec![probed("b", "db-r1"), probed("c", "db-r2")],
    );
    view.needs = Some(Needs::default());
    view
}

/// db-r1 is some 9 ms late; db-r2's applier is stopped.
fn one_run() -> ProbeView {
    let mut view = begun(plan(1));
    let replicas = vec![replica_run(1_312, Some(34_712)), replica_run(1_290, None)];
    view.take_in(run(1, replicas), NOW);
    view.needs = Some(Needs {
        source: Vec::new(),
        replicas: vec![
            Ok(Vec::new()),
            Ok(vec![Precondition {
                met: Met::Limits,
                what: phrase("probe.need.threads_stopped"),
            }]),
        ],
    });
    view.end(EndedBy::AllRun, None, NOW);
    view
}

/// Delays of db-r1 between 5 and 40 ms, of db-r2 between 2 and 120 ms, reads swept over 0 … 150 ms.
fn many_runs(runs: u32) -> ProbeView {
    let mut view = begun(plan(runs));
    for number in 1..=runs {
        let along = |step: f64| (f64::from(number) * step).fract();
        let after = (along(0.618_034) * 150_000.0) as i64;
        let first = 5_000 + (along(0.414_214) * 35_000.0) as i64;
        let second = 2_000 + (along(0.732_051) * 118_000.0) as i64;
        let replicas = vec![
            replica_run(after, Some(first)),
            replica_run(after, Some(second)),
        ];
        view.take_in(run(number, replicas), at(i64::from(number) * 20_000));
    }
    view.refresh();
    view
}

fn with(view: ProbeView, environment: Environment) -> Screen {
    let mut screen = screen(environment);
    screen.board.enabled.insert(topology());
    screen.board.probes.insert(topology(), view);
    screen
}

fn sql() -> ProbeSql {
    let statement = |on, sql: &str, changes_something| ListedStatement {
        on,
        sql: sql.into(),
        changes_something,
    };
    ProbeSql {
        plan: ProbeState::default().plan(false),
        flavours: vec![(
            "MySQL",
            vec![
                statement(On::Source, "CREATE DATABASE IF NOT EXISTS `replicascope`;", true),
                statement(
                    On::Source,
                    "UPDATE `replicascope`.`probe` SET value = 'address 1234abcd-1' WHERE probe = 305441741 AND number = 0;",
                    true,
                ),
                statement(
                    On::Replica,
                    "SELECT WAIT_FOR_EXECUTED_GTID_SET('00000000-0000-0000-0000-000000000001:1', 1.000) AS outcome;",
                    false,
                ),
                statement(On::Replica, "SELECT value FROM `replicascope`.`probe`;", false),
            ],
        )],
        grant: "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `replicascope`.* TO 'replicascope'@'%';".into(),
    }
}

// --- permission ------------------------------------------------------------------------------------------------------

#[test]
fn nothing_is_started_before_the_person_saw_the_sql_and_enabled_it() {
    let mut screen = screen(Environment::Staging);
    screen.board.sql.insert(topology(), sql());
    let mut window = tall(screen);
    assert!(is_disabled(&window, "Write, then read"));
    assert!(is_disabled(&window, "Repeat 200×"));
    window.get_by_label("CREATE DATABASE IF NOT EXISTS `replicascope`;");
    window.get_by_label_contains("GRANT SELECT, INSERT");
    press(&mut window, "Enable writes here");
    assert!(matches!(
        last(&window),
        Some(Action::EnableWrites {
            remember: false,
            ..
        })
    ));
}

#[test]
fn without_the_sql_on_show_writes_cannot_be_enabled() {
    let window = tall(screen(Environment::Staging));
    assert!(is_disabled(&window, "Enable writes here"));
    assert!(matches!(
        window.state().actions.first(),
        Some(Action::DescribeProbe { .. })
    ));
}

#[test]
fn on_production_the_name_is_typed_even_where_the_profile_allows_writes() {
    let mut screen = screen(Environment::Production);
    screen.scene.profiles[0].writes = WritePermission::Allowed;
    screen.board.sql.insert(topology(), sql());
    let mut window = tall(screen);
    assert!(is_disabled(&window, "Write, then read"));
    assert!(is_disabled(&window, "Enable writes here"));
    let field = window.get_by_role_and_label(Role::TextInput, "Type orders to enable:");
    field.focus();
    window.run_steps(2);
    window
        .get_by_role_and_label(Role::TextInput, "Type orders to enable:")
        .type_text("orders");
    window.run_steps(3);
    press(&mut window, "Enable writes here");
    assert!(matches!(
        last(&window),
        Some(Action::EnableWrites { typed, .. }) if typed == "orders"
    ));
}

#[test]
fn where_the_profile_allows_writes_the_sql_stands_there_before_the_first_run() {
    let mut screen = screen(Environment::Staging);
    screen.scene.profiles[0].writes = WritePermission::Allowed;
    screen.board.sql.insert(topology(), sql());
    let mut window = tall(screen);
    window.get_by_label("CREATE DATABASE IF NOT EXISTS `replicascope`;");
    press(&mut window, "Write, then read");
    match last(&window) {
        Some(Action::StartProbe { plan, replica, .. }) => {
            assert_eq!((plan.runs, plan.measures_floor), (1, true));
            assert_eq!((plan.read_delay, replica), (ReadDelay::None, &None));
        }
        other => panic!("{other:?}"),
    }
    press(&mut window, "Repeat 200×");
    assert!(matches!(
        last(&window),
        Some(Action::StartProbe { plan, .. })
            if plan.runs == 200 && plan.read_delay == ReadDelay::Swept { up_to: None }
    ));
}

// --- results ---------------------------------------------------------------------------------------------------------

#[test]
fn one_write_shows_three_reads_to_the_microsecond() {
    let window = tall(with(one_run(), Environment::Staging));
    window.get_by_label(BEFORE);
    window.get_by_label("Stale: the old value");
    window.get_by_label("written: address 1a2b3c4d-1");
    window.get_by_label("sent 1.312 ms after the commit, took 0.700 ms");
    window.get_by_label("Fresh after 35.532 ms");
    window.get_by_label("wait: reached, 34.712 ms");
    window.get_by_label("db-r1 · session 58, the connection that waited");
    window.get_by_label_contains("first visible on db-r1: the floor: 34.712 ms after the commit");
    window.get_by_label_contains("db-r2: A replication thread does not run");
}

#[test]
fn a_stopped_applier_sends_the_waited_read_to_the_source_and_says_why() {
    let mut window = tall(with(one_run(), Environment::Staging));
    press(&mut window, "db-r2");
    window.get_by_label("wait: not sent, applier stopped");
    window.get_by_label("read on the source: db-source · session 60");
    window.get_by_label_contains("the applier does not run, so no wait was sent");
    window.get_by_label_contains("not seen while we looked");
}

#[test]
fn many_runs_become_a_curve_a_table_and_sentences() {
    let window = tall(with(many_runs(400), Environment::Staging));
    window.get_by_label("Chance that a plain read is stale");
    window.get_by_label("400 of 400 runs, 50/s");
    let sentences: Vec<String> = window
        .get_all_by_label_contains("of plain reads were stale")
        .filter_map(|node| node.accesskit_node().label())
        .collect();
    assert!(
        sentences.iter().any(|s| s.starts_with("db-r1: ")),
        "{sentences:?}"
    );
    window.get_by_label(
        "All 800 reads that waited were fresh; 0 of them were read on the source instead.",
    );
    window.get_by_role_and_label(Role::Button, "Stop");
}

#[test]
fn stopping_answers_with_an_action_and_the_rest_waits() {
    let mut window = tall(with(many_runs(50), Environment::Staging));
    press(&mut window, "Stop");
    assert!(matches!(last(&window), Some(Action::StopProbe)));
    let view = window.state_mut().board.probes.get_mut(&topology());
    view.expect("a probe").phase = Phase::Stopping;
    window.run_steps(3);
    assert!(is_disabled(&window, "Stop"));
}

#[test]
fn a_result_is_kept_and_held_against_a_later_one() {
    let mut view = many_runs(400);
    view.end(EndedBy::AllRun, None, NOW);
    let mut screen = with(view.clone(), Environment::Staging);
    let kept = KeptProbe {
        at: NOW - Span::from_secs(60),
        name: "one worker".into(),
        plan: view.plan.clone(),
        replicas: view.replicas.clone(),
        figures: many_runs(40).figures,
    };
    screen.board.kept.insert(topology(), vec![kept]);
    let mut window = tall(screen);
    window.get_by_label("Compare with one worker (40 runs, 1 min ago)");
    window.get_by_label("before");
    window.get_by_label("after");
    press(&mut window, "Keep this result");
    assert!(matches!(last(&window), Some(Action::SaveProbe { .. })));
}

#[test]
fn a_typed_file_is_never_written_over_a_chosen_one_may_be() {
    let mut view = many_runs(20);
    view.end(EndedBy::AllRun, None, NOW);
    let mut window = tall(with(view, Environment::Staging));
    press(&mut window, "JSON");
    press(&mut window, "Choose…");
    let purpose = match last(&window) {
        Some(Action::ChooseFile(purpose @ FilePurpose::ProbeResult(_))) => purpose.clone(),
        other => panic!("{other:?}"),
    };
    let path = Some(PathBuf::from("/tmp/probe.json"));
    window
        .state_mut()
        .probe
        .hear(&News::FileChosen { purpose, path });
    window.run_steps(3);
    press(&mut window, "Write file");
    assert!(matches!(
        last(&window),
        Some(Action::ExportProbe {
            may_replace: true,
            ..
        })
    ));
}

#[test]
fn a_source_that_refuses_says_so_and_what_is_left() {
    let mut view = begun(plan(20));
    let trouble = Trouble {
        kind: TroubleKind::QueryFailed,
        what: phrase("probe.write.read_only"),
        hint: None,
        code: Some(1290),
        detail: String::new(),
    };
    view.end(EndedBy::Trouble(trouble.clone()), Some(trouble), NOW);
    let window = tall(with(view, Environment::Staging));
    window.get_by_label("The source has become read-only; nothing was written");
    window.get_by_label_contains("the probe's rows could not be removed");
    assert!(!is_disabled(&window, "Write, then read"));
}

#[test]
fn a_stale_stretch_that_never_ends_is_not_called_fresh() {
    let mut view = begun(plan(60));
    for number in 1..=60 {
        let after = i64::from(number) * 30;
        view.take_in(
            run(
                number,
                vec![replica_run(after, None), replica_run(after, Some(10))],
            ),
            NOW,
        );
    }
    view.refresh();
    assert_eq!(view.figures.replicas[0].fresh_from(0.05), None);
    assert_eq!(view.figures.replicas[1].fresh_from(0.05), Some(Span::ZERO));
    let window = tall(with(view, Environment::Staging));
    says(
        &window,
        "db-r1: every one of 60 plain reads was stale, up to",
    );
    says(&window, "db-r2: none of 60 plain reads was stale");
}

#[test]
fn without_a_watched_topology_the_next_step_is_offered() {
    let mut screen = screen(Environment::Staging);
    screen.scene.store = Store::default();
    let mut window = tall(screen);
    press(&mut window, "Watch it");
    assert!(matches!(last(&window), Some(Action::Open(_))));
}

// --- pictures --------------------------------------------------------------------------------------------------------

fn scenes() -> Vec<(&'static str, Screen)> {
    let mut permission = screen(Environment::Production);
    permission.board.sql.insert(topology(), sql());
    let mut first = screen(Environment::Staging);
    first.board.enabled.insert(topology());
    first.board.sql.insert(topology(), sql());
    let mut repeated = many_runs(400);
    let figures = many_runs(60).figures;
    repeated.end(EndedBy::AllRun, None, NOW);
    let kept = KeptProbe {
        at: NOW - Span::from_secs(600),
        name: "one worker".into(),
        plan: repeated.plan.clone(),
        replicas: repeated.replicas.clone(),
        figures,
    };
    let mut repeated = with(repeated, Environment::Staging);
    repeated.board.kept.insert(topology(), vec![kept]);
    vec![
        ("permission", permission),
        ("first", first),
        ("one", with(one_run(), Environment::Staging)),
        ("running", with(many_runs(90), Environment::Staging)),
        ("repeated", repeated),
    ]
}

#[test]
fn every_state_can_be_drawn_in_both_themes_both_languages_and_both_sizes() {
    let looks = [
        (Theme::Dark, Language::English, WIDE),
        (Theme::Light, Language::English, SMALL),
        (Theme::Light, Language::SimplifiedChinese, TALL),
        (Theme::Dark, Language::SimplifiedChinese, SMALL),
        (Theme::Dark, Language::English, TALL),
    ];
    side_by_side(looks, |(theme, language, size)| {
        for (name, mut screen) in scenes() {
            screen.language = language;
            let mut window = window(screen, theme, size);
            let name = format!("{name}-{}-{}x{}", look(theme, language), size.x, size.y);
            keep(&mut window, &format!("probe-{name}"));
        }
    });
}
