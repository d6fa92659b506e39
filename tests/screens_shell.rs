//! The window around the screens, the overview and the journal: what they say in each state, that they obey, and a
//! picture of each in both themes and both languages.
//!
//! `REPLICASCOPE_PICTURES=some/folder cargo test --test screens_shell` keeps the pictures.

mod support;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use replicascope::model::preferences::{LanguageChoice, ThemeChoice};
use replicascope::model::profile::TopologyId;
use replicascope::model::time::Span;
use replicascope::ui::action::{Action, Screen};
use replicascope::ui::events::{EventsData, EventsState, events_ui};
use replicascope::ui::overview::{OverviewData, OverviewState, overview_ui};
use replicascope::ui::plot::View;
use replicascope::ui::shell::{ShellData, ShellState, shell_ui};
use replicascope::words::{Catalogue, Language};
use support::fixtures::{self, Scene};
use support::screen::{SMALL, WIDE, keep, look, open, press, side_by_side};

/// The window as the program draws it, without the program.
struct Window {
    scene: Scene,
    language: Language,
    shell: ShellState,
    overview: OverviewState,
    events: EventsState,
    actions: Vec<Action>,
}

fn window(scene: Scene, size: Vec2, theme: Theme, language: Language) -> Harness<'static, Window> {
    let window = Window {
        scene,
        language,
        shell: ShellState::default(),
        overview: OverviewState::default(),
        events: EventsState::default(),
        actions: Vec::new(),
    };
    open(window_ui, window, size, theme)
}

fn english(scene: Scene) -> Harness<'static, Window> {
    window(scene, WIDE, Theme::Dark, Language::English)
}

fn window_ui(ui: &mut Ui, window: &mut Window) {
    let words = Catalogue::of(window.language);
    let frame = window.scene.frame(words);
    let data = ShellData::new(&frame);
    let screen = window.shell.screen;
    let (overview, events) = (&mut window.overview, &mut window.events);
    let mut actions = Vec::new();
    shell_ui(
        ui,
        &data,
        &mut window.shell,
        &frame,
        &mut actions,
        |ui, actions| match screen {
            Screen::Events => {
                let data = EventsData::new(&frame, events);
                events_ui(ui, &data, events, &frame);
            }
            _ => {
                let data = OverviewData::new(&frame, overview);
                overview_ui(ui, &data, overview, &frame, actions);
            }
        },
    );
    // what the program does with the simplest of them
    for action in &actions {
        match action {
            Action::Show(screen) => window.shell.screen = *screen,
            Action::Select { topology, server } => {
                window.scene.topology = Some(topology.clone());
                window.scene.server = Some(server.clone());
            }
            Action::Pause(pause) => {
                window.shell.paused_since = pause.then_some(window.scene.now);
            }
            _ => {}
        }
    }
    window.actions.extend(actions);
}

/// A row of the tree, by how what is said of it begins.
fn tree_item<'a>(harness: &'a Harness<'static, Window>, begin: &str) -> egui_kittest::Node<'a> {
    harness
        .query_all_by_role(Role::TreeItem)
        .find(|node| {
            node.accesskit_node()
                .label()
                .is_some_and(|label| label.starts_with(begin))
        })
        .unwrap_or_else(|| panic!("no row {begin}"))
}

// --- what is said in each state --------------------------------------------------------------------------------------

#[test]
fn without_a_topology_the_next_step_is_to_add_one() {
    let mut harness = english(fixtures::nothing_yet());
    harness.get_by_label("No topology yet");
    harness.get_by_label_contains("nothing is written");
    harness
        .get_all_by_label("Add a topology")
        .last()
        .expect("a button")
        .click();
    harness.run();
    assert!(matches!(harness.state().actions[..], [Action::AddTopology]));
}

#[test]
fn all_screens_are_in_the_strip_of_a_narrow_window() {
    let scene = fixtures::healthy();
    let harness = window(scene, SMALL, Theme::Dark, Language::English);
    let last = harness.get_by_role_and_label(Role::Tab, "Settings").rect();
    assert!(last.max.x <= SMALL.x, "{last:?}");
}

#[test]
fn the_plus_begins_a_new_topology() {
    let mut harness = english(fixtures::healthy());
    press(&mut harness, "Add a topology");
    assert!(matches!(harness.state().actions[..], [Action::AddTopology]));
}

#[test]
fn a_topology_that_is_not_watched_can_be_watched() {
    let mut harness = english(fixtures::not_opened());
    harness.get_by_label("Not watched");
    harness.get_by_label_contains("two sessions");
    harness
        .get_all_by_label("Watch")
        .last()
        .expect("a button")
        .click();
    harness.run();
    let archive = TopologyId("archive".into());
    assert!(matches!(&harness.state().actions[..], [Action::Open(id)] if *id == archive));
}

#[test]
fn before_the_first_answer_servers_are_connecting_and_not_well() {
    let harness = english(fixtures::connecting());
    assert!(harness.query_all_by_label("Connecting").count() >= 2);
    assert!(harness.query_by_label_contains("healthy").is_none());
}

#[test]
fn a_healthy_topology_shows_each_replica_with_lag_bound_method_and_age() {
    let harness = english(fixtures::healthy());
    harness.get_by_label_contains("Lag of db-r1, db-r2 over the last 5 min");
    assert!(harness.query_all_by_label_contains("GTID marks ·").count() >= 2);
    assert_eq!(harness.query_all_by_label("nothing waiting").count(), 2);
    harness.get_by_label("Writable");
    harness
        .get_by_label_contains("3 servers · statements 27/s · 4.1 kB/s · poll 1 s · marks 250 ms");
}

#[test]
fn a_broken_replica_is_critical_and_says_why() {
    let harness = english(fixtures::in_trouble());
    tree_item(&harness, "db-r3, critical");
    assert!(
        harness
            .query_all_by_label_contains("stopped by error 1062")
            .count()
            >= 2
    );
}

#[test]
fn a_method_that_the_best_one_contradicts_is_marked() {
    let harness = english(fixtures::in_trouble());
    harness.get_by_label("contradicted");
}

#[test]
fn planned_delay_stands_apart_from_lateness() {
    let mut scene = fixtures::in_trouble();
    scene.topology = Some(TopologyId("billing".into()));
    let harness = english(scene);
    harness.get_by_label_contains("1 h planned + 13 s late");
}

#[test]
fn a_server_that_does_not_answer_is_told_with_the_next_try_and_no_old_value_is_live() {
    let mut harness = english(fixtures::stale());
    assert!(
        harness
            .query_all_by_label_contains("next try in 4 s")
            .count()
            >= 3
    );
    assert!(harness.query_by_label_contains("GTID marks · ").is_none());
    harness.state_mut().shell.screen = Screen::Events;
    harness.run();
    assert!(harness.query_all_by_label_contains("db-r1").count() >= 2);
}

// --- what obeys ------------------------------------------------------------------------------------------------------

#[test]
fn digits_and_keys_work_from_anywhere() {
    let mut harness = english(fixtures::healthy());
    harness.key_press(Key::Num9);
    harness.run();
    assert_eq!(harness.state().shell.screen, Screen::Events);
    harness.key_press(Key::F5);
    harness.key_press(Key::Space);
    harness.run();
    let orders = TopologyId("orders".into());
    let actions = &harness.state().actions;
    assert!(
        actions
            .iter()
            .any(|a| matches!(a, Action::PollNow(id) if *id == orders))
    );
    assert!(actions.iter().any(|a| matches!(a, Action::Pause(true))));
    harness.get_by_label_contains("Paused since");
    harness.key_press(Key::Space);
    harness.run();
    assert!(harness.query_by_label_contains("Paused since").is_none());
}

#[test]
fn control_plus_and_minus_zoom() {
    let mut harness = english(fixtures::healthy());
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Plus);
    harness.run();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Minus);
    harness.run();
    let zooms: Vec<f32> = harness
        .state()
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Zoom(zoom) => Some(*zoom),
            _ => None,
        })
        .collect();
    assert_eq!(zooms, [1.25, 0.75]);
}

#[test]
fn typing_a_part_of_a_name_goes_to_the_server() {
    let mut harness = english(fixtures::healthy());
    harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    harness.run();
    harness
        .get_by_role_and_label(
            Role::SearchInput,
            "Go to a server or screen, or do something",
        )
        .type_text("r2");
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.state().shell.palette.is_none());
    assert_eq!(harness.state().shell.screen, Screen::Server);
    let server = harness
        .state()
        .scene
        .server
        .as_ref()
        .map(|id| id.0.as_str());
    assert_eq!(server, Some("db-r2"));
}

#[test]
fn escape_closes_the_search() {
    let mut harness = english(fixtures::healthy());
    harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    harness.run();
    assert!(harness.state().shell.palette.is_some());
    harness.key_press(Key::Escape);
    harness.run();
    assert!(harness.state().shell.palette.is_none());
}

#[test]
fn arrow_keys_walk_the_tree_and_choose() {
    let mut harness = english(fixtures::healthy());
    tree_item(&harness, "db-r1, ").focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    harness.run();
    let server = harness
        .state()
        .scene
        .server
        .as_ref()
        .map(|id| id.0.as_str());
    assert_eq!(server, Some("db-r2"));
}

#[test]
fn theme_language_interval_and_windows_are_chosen_by_name() {
    let mut harness = english(fixtures::healthy());
    harness.get_by_label("Light or dark").click();
    harness.get_by_label("文/A").click();
    harness.get_by_label("15 min").click();
    harness.run();
    assert_eq!(harness.state().overview.plot.window, Span::from_secs(900));
    harness.get_by_label("1 s ▾").click();
    harness.run();
    harness.get_by_label("200 ms").click();
    harness.run();
    let actions = &harness.state().actions;
    let has = |wanted: fn(&Action) -> bool| actions.iter().any(wanted);
    assert!(has(|a| matches!(a, Action::Theme(ThemeChoice::Light))));
    assert!(has(|a| matches!(
        a,
        Action::Language(LanguageChoice::Chinese)
    )));
    assert!(has(
        |a| matches!(a, Action::PollEvery { interval, .. } if *interval == Span::from_millis(200))
    ));
}

#[test]
fn the_plot_can_be_held_and_moved_with_the_keyboard_and_goes_live_again() {
    let mut harness = english(fixtures::healthy());
    harness.get_by_label_contains("Lag of db-r1").focus();
    harness.run();
    harness.key_press(Key::ArrowLeft);
    harness.run();
    assert_ne!(harness.state().overview.plot.view, View::Live);
    harness.get_by_label_contains("Go live").click();
    harness.run();
    assert_eq!(harness.state().overview.plot.view, View::Live);
}

#[test]
fn the_journal_is_searched_by_text() {
    let mut harness = english(fixtures::in_trouble());
    harness.state_mut().shell.screen = Screen::Events;
    harness.run();
    harness
        .get_by_role_and_label(Role::SearchInput, "Search events")
        .focus();
    harness.run();
    harness
        .get_by_role_and_label(Role::SearchInput, "Search events")
        .type_text("no such words");
    harness.run();
    harness.get_by_label("No event matches");
    harness.get_by_label("Show all").click();
    harness.run();
    assert!(harness.state().events.search.is_empty());
}

// --- pictures --------------------------------------------------------------------------------------------------------

#[test]
fn every_state_can_be_drawn_in_both_themes_and_both_languages() {
    type Make = fn() -> Scene;
    let states: [(&str, Make); 6] = [
        ("nothing", fixtures::nothing_yet),
        ("not-opened", fixtures::not_opened),
        ("connecting", fixtures::connecting),
        ("healthy", fixtures::healthy),
        ("trouble", fixtures::in_trouble),
        ("stale", fixtures::stale),
    ];
    let looks = [
        (Theme::Dark, Language::English),
        (Theme::Light, Language::SimplifiedChinese),
    ];
    side_by_side(looks, |(theme, language)| {
        for (name, make) in states {
            // a picture takes a second or two; the crowded states are looked at small too
            let crowded = matches!(name, "healthy" | "trouble");
            for size in [WIDE, SMALL].into_iter().take(1 + usize::from(crowded)) {
                let mut harness = window(make(), size, theme, language);
                keep(
                    &mut harness,
                    &format!("overview-{name}-{}-{}", size.x, look(theme, language)),
                );
            }
        }
    });
}

#[test]
fn the_other_looks_of_the_overview_can_be_drawn_too() {
    for (theme, language) in [
        (Theme::Light, Language::English),
        (Theme::Dark, Language::SimplifiedChinese),
    ] {
        let mut harness = window(fixtures::in_trouble(), WIDE, theme, language);
        keep(
            &mut harness,
            &format!("overview-trouble-1280-{}", look(theme, language)),
        );
    }
    let mut harness = window(
        fixtures::in_trouble(),
        vec2(640.0, 400.0),
        Theme::Dark,
        Language::English,
    );
    keep(&mut harness, "overview-trouble-640-zoomed-twice");
}

#[test]
fn the_journal_and_the_search_can_be_drawn() {
    for (theme, language) in [
        (Theme::Dark, Language::English),
        (Theme::Light, Language::SimplifiedChinese),
    ] {
        for size in [WIDE, SMALL] {
            let mut harness = window(fixtures::in_trouble(), size, theme, language);
            harness.state_mut().shell.screen = Screen::Events;
            harness.run();
            keep(
                &mut harness,
                &format!("events-{}-{}", size.x, look(theme, language)),
            );
        }
        let mut harness = window(fixtures::in_trouble(), WIDE, theme, language);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
        harness.run();
        keep(
            &mut harness,
            &format!("search-1280-{}", look(theme, language)),
        );
    }
}

#[test]
fn the_cross_hair_reads_every_line() {
    let mut harness = english(fixtures::in_trouble());
    let plot = harness.get_by_label_contains("Lag of db-r1").rect();
    harness.hover_at(plot.center());
    harness.run();
    keep(&mut harness, "cross-hair");
    assert!(harness.query_all_by_label("db-r2").count() >= 2);
}
