//! The acceptance run as a person meets it: what it would send stands there first, the name is typed where others may be
//! reading, steps come with their evidence, and the report can be taken away. `REPLICASCOPE_PICTURES=some/folder` keeps
//! the pictures.

mod support;

use eframe::egui::accesskit::Role;
use eframe::egui::{Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use replicascope::model::acceptance::*;
use replicascope::model::phrase::phrase;
use replicascope::model::probe::{ListedStatement, On};
use replicascope::model::profile::*;
use replicascope::model::server::WatchId;
use replicascope::model::time::Span;
use replicascope::routing::decision::{Decision, Reason};
use replicascope::routing::pool::fields::{Difference, Field};
use replicascope::routing::record::{Freshness, Record, Recorded};
use replicascope::routing::request::{Awaited, Need, QueryKind, Request, SessionKey};
use replicascope::routing::wait::{Attempt, WaitResult};
use replicascope::ui::acceptance::board::*;
use replicascope::ui::acceptance::{AcceptanceData, AcceptanceState, acceptance_ui};
use replicascope::ui::action::Action;
use replicascope::ui::probe::board::ProbeBoard;
use replicascope::words::{Catalogue, Language};
use support::fixtures::Scene;
use support::fixtures_forms::{NOW, watched_orders};
use support::screen::{is_disabled, keep, look, open, press, side_by_side};

const SMALL: Vec2 = vec2(792.0, 560.0);
const TALL: Vec2 = vec2(1040.0, 1100.0);

struct Screen {
    language: Language,
    scene: Scene,
    probes: ProbeBoard,
    board: AcceptBoard,
    state: AcceptanceState,
    actions: Vec<Action>,
}

fn topology() -> TopologyId {
    TopologyId("orders".into())
}

fn sql() -> AcceptSql {
    let one = |on, sql: &str, changes_something| ListedStatement {
        on,
        sql: sql.into(),
        changes_something,
    };
    AcceptSql {
        flavours: vec![(
            "MySQL",
            vec![one(
                On::Source,
                "UPDATE `replicascope`.`probe` SET v = ? WHERE id = ?;",
                true,
            )],
        )],
        pools: vec![one(On::Source, "START TRANSACTION;", false)],
        hold: vec![one(
            On::Replica,
            "LOCK TABLES `replicascope`.`probe` READ;",
            true,
        )],
        grant: "GRANT SELECT, UPDATE ON `replicascope`.* TO 'replicascope'@'%';".into(),
        hold_grant: "GRANT SELECT, LOCK TABLES ON `replicascope`.* TO 'replicascope'@'%';".into(),
        wait_limit: Span::from_secs(1),
        longest_hold: Span::from_secs(11),
    }
}

/// A plain read that was old, one that waited, and a careless pool's.
fn records() -> Vec<(StepName, Recorded)> {
    let request = |session, in_transaction, need| Request {
        session: SessionKey(session),
        kind: QueryKind::List,
        at: NOW,
        in_transaction,
        need,
        reads_to: None,
    };
    let after_write = || Need::Write(Awaited::default());
    let plain = Decision::replica(WatchId(1), Reason::AnyReplica);
    let plain = Record::new(&request(12, false, after_write()), Vec::new(), plain);
    let timed_out = Attempt {
        on: WatchId(1),
        result: WaitResult::TimedOut,
        took: Span::from_secs(1),
    };
    let waited = Decision::source(Reason::WaitEnded(WaitResult::TimedOut));
    let waited = Record::new(&request(13, false, after_write()), vec![timed_out], waited);
    let pooled = Decision::replica(WatchId(1), Reason::FitReplica);
    let mut pooled = Record::new(&request(14, false, Need::Nothing), Vec::new(), pooled);
    pooled.carried = vec![Difference {
        field: Field::Isolation,
        expected: "REPEATABLE-READ".into(),
        found: Some("READ-COMMITTED".into()),
    }];
    let recorded = |record, freshness, server: &str, is_careless| Recorded {
        record,
        freshness,
        server: server.into(),
        is_careless,
    };
    vec![
        (
            StepName::PlainCanBeOld,
            recorded(plain, Freshness::Stale, "db-r1", false),
        ),
        (
            StepName::TimeoutToSource,
            recorded(waited, Freshness::Fresh, "db-source", false),
        ),
        (
            StepName::NothingLeaks,
            recorded(pooled, Freshness::Fresh, "db-r1", true),
        ),
    ]
}

/// Writes are enabled, and what would be sent is known.
fn screen(environment: Environment) -> Screen {
    let mut board = AcceptBoard::default();
    board.sql.insert(topology(), sql());
    let mut probes = ProbeBoard::default();
    probes.enabled.insert(topology());
    Screen {
        language: Language::English,
        scene: watched_orders(environment),
        probes,
        board,
        state: AcceptanceState::default(),
        actions: Vec::new(),
    }
}

fn draw(ui: &mut Ui, screen: &mut Screen) {
    let frame = screen.scene.frame(Catalogue::of(screen.language));
    let data = AcceptanceData::new(&frame, &screen.board, &screen.probes);
    acceptance_ui(ui, &data, &mut screen.state, &frame, &mut screen.actions);
}

type Window = Harness<'static, Screen>;

fn window(screen: Screen, theme: Theme, size: Vec2) -> Window {
    open(draw, screen, size, theme)
}

fn tall(screen: Screen) -> Window {
    window(screen, Theme::Dark, TALL)
}

fn tick_holding(window: &mut Window) {
    let hold = Catalogue::of(Language::English).span(Span::from_secs(11));
    let hold = format!("May hold a replica back (a lock on our own table for at most {hold})");
    window.get_by_role_and_label(Role::CheckBox, &hold).click();
    window.run_steps(3);
}

fn step(name: StepName, state: StepState) -> Step {
    let evidence = phrase("accept.saw.caught_up")
        .with("server", "db-r1")
        .with("took", Span::from_millis(12));
    Step {
        name,
        state,
        evidence: vec![evidence],
    }
}

fn drift() -> DriftTable {
    let beside = |strict, sloppy| Beside { strict, sloppy };
    DriftTable {
        lent: beside(28, 27),
        wrong_server: beside(0, 9),
        carried: Field::ALL
            .map(|field| (field.phrase(), beside(0, 3)))
            .into(),
        none_left: beside(0, 1),
    }
}

fn running() -> AcceptView {
    AcceptView {
        phase: AcceptPhase::Running,
        begun: Some(StepName::WaitedIsNew),
        steps: vec![
            step(StepName::Write, StepState::Passed),
            step(StepName::PlainCanBeOld, StepState::Passed),
        ],
        ..AcceptView::default()
    }
}

fn ended(timeout: StepState) -> AcceptView {
    let steps = StepName::ALL.map(|name| match name {
        StepName::TimeoutToSource => step(name, timeout),
        _ => step(name, StepState::Passed),
    });
    let report = AcceptReport {
        steps: steps.to_vec(),
        clean_up: Some(Ok(())),
    };
    AcceptView {
        phase: AcceptPhase::Ended,
        steps: steps.into(),
        drift: Some(drift()),
        records: records(),
        report: Some(report),
        markdown: "# Acceptance\n".into(),
        ..AcceptView::default()
    }
}

fn with(view: AcceptView) -> Screen {
    let mut screen = screen(Environment::Lab);
    screen.board.runs.insert(topology(), view);
    screen
}

const RUN: &str = "Run the acceptance test";

#[test]
fn before_the_first_run_every_statement_and_both_grants_stand_there() {
    let mut window = tall(screen(Environment::Lab));
    window.get_by_label_contains("UPDATE `replicascope`.`probe`");
    window.get_by_label("LOCK TABLES `replicascope`.`probe` READ;");
    window.get_by_label_contains("GRANT SELECT, LOCK TABLES");
    press(&mut window, RUN);
    let last = window.state().actions.last();
    assert!(
        matches!(
            last,
            Some(Action::StartAcceptance {
                may_hold: false,
                ..
            })
        ),
        "{last:?}"
    );
}

#[test]
fn without_writes_enabled_there_is_no_run_to_be_started() {
    let mut screen = screen(Environment::Lab);
    screen.probes.enabled.clear();
    let mut window = tall(screen);
    assert!(window.query_by_role_and_label(Role::Button, RUN).is_none());
    press(&mut window, "Enable writes here");
    let last = window.state().actions.last();
    assert!(
        matches!(last, Some(Action::EnableWrites { .. })),
        "{last:?}"
    );
}

#[test]
fn holding_back_outside_a_lab_asks_for_the_name() {
    let mut window = tall(screen(Environment::Lab));
    tick_holding(&mut window);
    assert!(!is_disabled(&window, RUN));
    let mut window = tall(screen(Environment::Staging));
    assert!(!is_disabled(&window, RUN));
    tick_holding(&mut window);
    assert!(is_disabled(&window, RUN));
    let name = window.get_by_role_and_label(Role::TextInput, "Type orders to go on:");
    name.focus();
    name.type_text("orders");
    window.run_steps(3);
    press(&mut window, RUN);
    let last = window.state().actions.last();
    let Some(Action::StartAcceptance {
        may_hold, typed, ..
    }) = last
    else {
        panic!("{last:?}");
    };
    assert!(*may_hold && typed == "orders", "{typed}");
}

#[test]
fn production_asks_for_the_name_at_every_run() {
    assert!(is_disabled(&tall(screen(Environment::Production)), RUN));
}

#[test]
fn a_run_under_way_shows_its_steps_and_can_be_stopped() {
    let mut window = tall(with(running()));
    assert_eq!(window.get_all_by_label("passed").count(), 2);
    assert_eq!(window.get_all_by_label("not yet").count(), 2);
    window.get_by_label("under way");
    press(&mut window, "Stop");
    let last = window.state().actions.last();
    assert!(matches!(last, Some(Action::StopAcceptance)), "{last:?}");
}

#[test]
fn a_step_not_run_is_not_an_accepted_topology() {
    let window = tall(with(ended(StepState::NotRun)));
    window.get_by_label("Not accepted: nothing failed, but not every step was run");
    assert_eq!(window.get_all_by_label("passed").count(), 4);
    window.get_by_label("What connections carried over");
    window.get_by_label(&Catalogue::of(Language::English).say(&Field::RouteLabel.phrase()));
}

#[test]
fn what_hygiene_let_through_is_critical() {
    let mut view = ended(StepState::Passed);
    let before = tall(with(view.clone()));
    assert_eq!(before.query_all_by_label("critical").count(), 0);
    if let Some(table) = &mut view.drift {
        table.carried[2].1.strict = 1;
    }
    let after = tall(with(view));
    assert_eq!(after.query_all_by_label("critical").count(), 1);
}

#[test]
fn every_request_says_where_it_went_and_who_is_to_blame() {
    let mut window = tall(with(ended(StepState::Passed)));
    window.get_by_label("the read was sent to the wrong place");
    window.get_by_label("the wait timed out");
    window.get_by_label("the pooled connection was not what it should be");
    let only = "Only where somebody is to blame";
    window.get_by_role_and_label(Role::CheckBox, only).click();
    window.run_steps(3);
    assert!(window.query_by_label("the wait timed out").is_none());
}

#[test]
fn another_wait_limit_is_described_anew_before_the_run_and_asked_for() {
    let mut window = tall(screen(Environment::Lab));
    assert!(window.state().actions.is_empty());
    window.get_by_label_contains("Wait up to").click();
    window.run_steps(3);
    window.get_by_label("5 s").click();
    window.run_steps(3);
    let last = window.state().actions.last();
    let five = Span::from_secs(5);
    assert!(
        matches!(last, Some(Action::DescribeAcceptance { wait_limit, .. }) if *wait_limit == five),
        "{last:?}"
    );
    press(&mut window, RUN);
    let asked = window.state().actions.iter().any(|action| {
        matches!(action, Action::StartAcceptance { wait_limit, .. } if *wait_limit == five)
    });
    assert!(asked, "{:?}", window.state().actions.last());
}

#[test]
fn a_proxy_goes_with_the_run_and_an_address_that_is_none_holds_it_up() {
    let mut window = tall(screen(Environment::Lab));
    let field = window.get_by_role_and_label(Role::TextInput, "Pools write through");
    field.focus();
    field.type_text("db-proxy:6033");
    window.run_steps(3);
    press(&mut window, RUN);
    let last = window.state().actions.last();
    let address = Address::tcp("db-proxy", 6033);
    assert!(
        matches!(last, Some(Action::StartAcceptance { proxy: Some(proxy), .. }) if *proxy == address),
        "{last:?}"
    );
    let field = window.get_by_role_and_label(Role::TextInput, "Pools write through");
    field.focus();
    field.type_text("://");
    window.run_steps(3);
    assert!(is_disabled(&window, RUN));
}

#[test]
fn every_state_can_be_drawn_in_both_themes_both_languages_and_both_sizes() {
    let looks = [
        (Theme::Dark, Language::English, TALL),
        (Theme::Light, Language::English, SMALL),
        (Theme::Light, Language::SimplifiedChinese, TALL),
        (Theme::Dark, Language::SimplifiedChinese, SMALL),
    ];
    side_by_side(looks, |(theme, language, size)| {
        for (name, mut screen) in [
            ("before", screen(Environment::Production)),
            ("running", with(running())),
            ("ended", with(ended(StepState::Failed))),
            ("requests", only_requests()),
        ] {
            screen.language = language;
            let mut window = window(screen, theme, size);
            let name = format!("{name}-{}-{}x{}", look(theme, language), size.x, size.y);
            keep(&mut window, &format!("acceptance-{name}"));
        }
    });
}

/// Without what stands above them on a small screen.
fn only_requests() -> Screen {
    with(AcceptView {
        phase: AcceptPhase::Ended,
        records: records(),
        ..AcceptView::default()
    })
}
