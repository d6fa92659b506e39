//! The acceptance run as a person meets it: what it would send stands there first, the name is typed where others may be
//! reading, steps come with their evidence, and the report can be taken away. `REPLICASCOPE_PICTURES=some/folder` keeps
//! the pictures.

#[path = "support/fixtures_forms.rs"]
#[allow(dead_code)]
mod fixtures;
mod support;

use std::path::PathBuf;

use eframe::egui::accesskit::Role;
use eframe::egui::{Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use fixtures::{NOW, orders, store_watching};
use replicascope::model::acceptance::*;
use replicascope::model::phrase::phrase;
use replicascope::model::preferences::Preferences;
use replicascope::model::probe::{ListedStatement, On};
use replicascope::model::profile::*;
use replicascope::model::time::Span;
use replicascope::routing::pool::fields::Field;
use replicascope::store::Store;
use replicascope::ui::acceptance::board::*;
use replicascope::ui::acceptance::{AcceptanceData, AcceptanceState, acceptance_ui};
use replicascope::ui::action::Action;
use replicascope::ui::probe::board::ProbeBoard;
use replicascope::ui::{Frame, fonts, theme};
use replicascope::words::{Catalogue, Language};
use support::soft_renderer::SoftRenderer;

const SMALL: Vec2 = vec2(792.0, 560.0);
const TALL: Vec2 = vec2(1040.0, 1100.0);

struct Screen {
    language: Language,
    store: Store,
    profiles: Vec<TopologyProfile>,
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
        longest_hold: Span::from_secs(11),
    }
}

/// Writes are enabled, and what would be sent is known.
fn screen(environment: Environment) -> Screen {
    let mut profile = orders();
    profile.environment = environment;
    let mut board = AcceptBoard::default();
    board.sql.insert(topology(), sql());
    let mut probes = ProbeBoard::default();
    probes.enabled.insert(topology());
    Screen {
        language: Language::English,
        store: store_watching(&profile),
        profiles: vec![profile],
        probes,
        board,
        state: AcceptanceState::default(),
        actions: Vec::new(),
    }
}

fn draw(ui: &mut Ui, screen: &mut Screen) {
    let preferences = Preferences::default();
    let topology = topology();
    let frame = Frame {
        store: &screen.store,
        now: NOW,
        words: Catalogue::of(screen.language),
        profiles: &screen.profiles,
        preferences: &preferences,
        topology: Some(&topology),
        server: None,
    };
    let data = AcceptanceData::new(&frame, &screen.board, &screen.probes);
    acceptance_ui(ui, &data, &mut screen.state, &frame, &mut screen.actions);
}

type Window = Harness<'static, Screen>;

fn window(screen: Screen, theme: Theme, size: Vec2) -> Window {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_theme(theme)
        .with_context_setup(|ctx| {
            fonts::install(ctx);
            theme::install(ctx);
        })
        .renderer(SoftRenderer::default())
        .build_ui_state(draw, screen);
    harness.run_steps(4);
    harness
}

fn tall(screen: Screen) -> Window {
    window(screen, Theme::Dark, TALL)
}

fn press(window: &mut Window, button: &str) {
    window.get_by_role_and_label(Role::Button, button).click();
    window.run_steps(3);
}

fn is_disabled(window: &Window, button: &str) -> bool {
    let node = window.get_by_role_and_label(Role::Button, button);
    node.accesskit_node().is_disabled()
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
fn every_state_can_be_drawn_in_both_themes_both_languages_and_both_sizes() {
    for (theme, language, size) in [
        (Theme::Dark, Language::English, TALL),
        (Theme::Light, Language::English, SMALL),
        (Theme::Light, Language::SimplifiedChinese, TALL),
        (Theme::Dark, Language::SimplifiedChinese, SMALL),
    ] {
        for (name, mut screen) in [
            ("before", screen(Environment::Production)),
            ("running", with(running())),
            ("ended", with(ended(StepState::Failed))),
        ] {
            screen.language = language;
            let mut window = window(screen, theme, size);
            let dark = match theme {
                Theme::Dark => "dark",
                Theme::Light => "light",
            };
            let name = format!("{name}-{dark}-{}-{}x{}", language.tag(), size.x, size.y);
            keep(&mut window, &name);
        }
    }
}

fn keep(window: &mut Window, name: &str) {
    let picture = window.render().expect("a picture");
    let colors: std::collections::HashSet<_> = picture.pixels().map(|p| p.0).collect();
    assert!(colors.len() > 50, "{name} is nearly empty");
    let folder = std::env::var_os("REPLICASCOPE_PICTURES").map_or_else(
        || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    picture
        .save(folder.join(format!("acceptance-{name}.png")))
        .expect("a saved picture");
}
