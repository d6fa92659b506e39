//! The screens of one server: Server, Lag, Transactions, Semi-sync; what they say in each state, and how they look.
//!
//! The pictures are for looking at: `REPLICASCOPE_PICTURES=some/folder cargo test --test screens_detail` keeps them.

mod support;

use eframe::egui::accesskit::Role;
use eframe::egui::{self, Theme, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use replicascope::model::time::Span;
use replicascope::ui::action::{Action, Screen};
use replicascope::ui::lag::{LagData, LagState, lag_ui};
use replicascope::ui::semi_sync::{SemiSyncData, SemiSyncState, semi_sync_ui};
use replicascope::ui::server::{ServerData, ServerState, ServerView, server_ui};
use replicascope::ui::transactions::{TransactionsData, TransactionsState, transactions_ui};
use replicascope::words::Language;
use support::fixtures_detail::{Scene, World, server_id};
use support::screen::{EN, keep, look, open, side_by_side};

// --- Server ----------------------------------------------------------------------------------------------------------

fn server_view(scene: Scene, server: &str) -> ServerView {
    let world = World::of(scene, Some(server));
    match ServerData::new(&world.frame(EN)) {
        ServerData::Server(view) => *view,
        ServerData::Nothing(absence) => panic!("{absence:?}"),
    }
}

fn text_of(view: &ServerView, panel: &str) -> String {
    view.panel(panel)
        .map(|panel| panel.text())
        .unwrap_or_default()
}

#[test]
fn a_server_without_an_answer_shows_that_it_is_connecting_and_no_number() {
    let world = World::of(Scene::NothingYet, None);
    let harness = harness(Window::of(world, Screen::Server));
    harness.get_by_label_contains("Connecting to db-source");
}

#[test]
fn a_server_that_never_answered_says_why_and_offers_a_poll() {
    let mut harness = harness(Window::of(World::unreachable(), Screen::Server));
    harness.get_by_label_contains("db-source has not answered yet");
    harness.get_by_label("Poll now").click();
    harness.run();
    assert!(matches!(
        harness.state().actions.last(),
        Some(Action::PollNow(_))
    ));
}

#[test]
fn without_a_topology_the_next_step_is_a_profile() {
    let mut window = Window::of(World::of(Scene::NothingYet, None), Screen::Server);
    window.no_topology = true;
    let mut harness = harness(window);
    harness.get_by_label("Go to the profiles").click();
    harness.run();
    assert!(matches!(
        harness.state().actions.last(),
        Some(Action::Show(Screen::Profiles))
    ));
}

#[test]
fn a_replica_with_half_closed_doors_and_one_worker_is_told_so() {
    let view = server_view(Scene::Healthy, "db-r2");
    assert!(text_of(&view, "identity").contains("privileged accounts can still write"));
    assert!(text_of(&view, "parallel").contains("one transaction at a time"));
    assert!(text_of(&view, "parallel").contains("SET GLOBAL replica_parallel_workers = 8"));
    assert!(text_of(&view, "channel ").contains("Replicate_Wild_Ignore_Table: shop.tmp_%"));
    let closed = server_view(Scene::Healthy, "db-r1");
    assert!(text_of(&closed, "identity").contains("nobody can write here"));
}

#[test]
fn a_healthy_replica_misses_nothing_of_its_source() {
    let gtids = text_of(&server_view(Scene::Healthy, "db-r1"), "gtids");
    assert!(
        gtids.contains("Missing here, of db-source: nothing"),
        "{gtids}"
    );
    let late = text_of(&server_view(Scene::Trouble, "db-r2"), "gtids");
    assert!(
        late.contains("Missing here, of db-source: 160 transactions"),
        "{late}"
    );
}

#[test]
fn an_error_shows_its_number_time_and_text() {
    let channel = text_of(&server_view(Scene::Broken, "db-r2"), "channel ");
    assert!(
        channel.contains("Error 1062 · 261129 19:05:10: Could not execute Write_rows"),
        "{channel}"
    );
    assert!(channel.contains("Seconds_Behind_Source: NULL"), "{channel}");
}

#[test]
fn a_refused_panel_fails_alone_and_carries_the_grant() {
    let view = server_view(Scene::Broken, "db-source");
    assert!(text_of(&view, "binary_logs").contains("GRANT PROCESS ON *.* TO 'monitor'@'%';"));
    assert!(text_of(&view, "load").contains("of 500"));
}

#[test]
fn rates_come_from_two_polls() {
    let load = text_of(&server_view(Scene::Healthy, "db-source"), "load");
    assert!(load.contains("280/s and 120/s: 70 % reads"), "{load}");
}

#[test]
fn only_a_replica_nobody_watches_is_offered() {
    let world = World::of(Scene::Healthy, Some("db-source"));
    let mut harness = harness_of_size(
        Window::of(world, Screen::Server),
        1280.0,
        4000.0,
        Theme::Dark,
    );
    harness
        .get_by_label("Add 10.0.0.4:3306 to the topology")
        .click();
    harness.run();
    let Some(Action::AddFound { server, .. }) = harness.state().actions.last() else {
        panic!("{:?}", harness.state().actions)
    };
    assert_eq!(server.host, "10.0.0.4");
    assert!(
        harness
            .query_by_label("Add 10.0.0.2:3306 to the topology")
            .is_none()
    );
}

#[test]
fn what_changed_since_the_last_poll_is_marked_in_the_raw_status() {
    let view = server_view(Scene::Healthy, "db-r1");
    let changed: Vec<&str> = view.raw[0]
        .shown("", true)
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(changed, ["Read_Source_Log_Pos", "Exec_Source_Log_Pos"]);
}

#[test]
fn the_filter_narrows_the_raw_status() {
    let world = World::of(Scene::Healthy, Some("db-r1"));
    let mut harness = harness_of_size(
        Window::of(world, Screen::Server),
        1280.0,
        6000.0,
        Theme::Dark,
    );
    assert!(harness.query_by_label("Source_Host").is_some());
    harness
        .get_by_role_and_label(Role::TextInput, "Filter")
        .focus();
    harness.run();
    harness
        .get_by_role_and_label(Role::TextInput, "Filter")
        .type_text("relay");
    harness.run();
    assert!(harness.query_by_label("Source_Host").is_none());
    assert!(harness.query_by_label("Relay_Log_File").is_some());
}

#[test]
fn a_panel_folds_by_its_title() {
    let world = World::of(Scene::Healthy, Some("db-r1"));
    let mut harness = harness_of_size(
        Window::of(world, Screen::Server),
        1280.0,
        6000.0,
        Theme::Dark,
    );
    assert!(harness.query_by_label("Server UUID").is_some());
    harness.get_by_label("Identity").click();
    harness.run();
    assert!(harness.query_by_label("Server UUID").is_none());
}

#[test]
fn a_server_that_fell_silent_says_how_old_its_facts_are() {
    let world = World::of(Scene::Stale, Some("db-r1"));
    let harness = harness(Window::of(world, Screen::Server));
    harness.get_by_label_contains("db-r1 last answered 42 s ago");
}

// --- Lag -------------------------------------------------------------------------------------------------------------

#[test]
fn the_lag_of_a_source_is_not_zero_but_does_not_exist() {
    let world = World::of(Scene::Healthy, Some("db-source"));
    let data = LagData::new(&world.frame(EN), &mut LagState::default());
    assert!(matches!(data, LagData::NoLag { .. }), "{data:?}");
}

#[test]
fn a_late_replica_shows_its_cause_and_the_method_that_is_contradicted() {
    let world = World::of(Scene::Trouble, Some("db-r2"));
    let LagData::Channel(screen) = LagData::new(&world.frame(EN), &mut LagState::default()) else {
        panic!("no channel")
    };
    let (cause, _) = screen.cause.clone().expect("a cause");
    assert!(
        cause.contains("waits for a lock held by session 57 (report)"),
        "{cause}"
    );
    let states: Vec<&str> = screen.methods.iter().map(|m| m.state.as_str()).collect();
    assert!(
        states.contains(&"contradicted") && states.contains(&"the one to believe"),
        "{states:?}"
    );
    assert!(
        screen.window.text().contains("Most: 8."),
        "{}",
        screen.window.text()
    );
    assert_eq!(screen.stages_missing, None);
}

#[test]
fn a_stale_lag_has_no_figure() {
    let world = World::of(Scene::Stale, Some("db-r1"));
    let LagData::Channel(screen) = LagData::new(&world.frame(EN), &mut LagState::default()) else {
        panic!("no channel")
    };
    assert_eq!(screen.figure, Err("unknown".to_owned()));
    assert!(screen.stale.is_some());
}

#[test]
fn another_replica_is_chosen_by_its_name() {
    let world = World::of(Scene::Healthy, Some("db-r1"));
    let mut harness = harness(Window::of(world, Screen::Lag));
    harness.get_by_role_and_label(Role::Button, "db-r2").click();
    harness.run();
    let chosen = harness.state().actions.iter().any(
        |action| matches!(action, Action::Select { server, .. } if *server == server_id("db-r2")),
    );
    assert!(chosen, "{:?}", harness.state().actions);
}

#[test]
fn the_cross_hair_says_whole_seconds_where_the_server_tells_no_finer() {
    let world = World::of(Scene::Healthy, Some("db-r1"));
    let mut harness = harness(Window::of(world, Screen::Lag));
    let zeros = |harness: &Harness<'_, Window>| harness.query_all_by_label("0 s").count();
    let before = zeros(&harness);
    let plot = harness.get_by_label_contains("Lag of GTID marks").rect();
    harness.hover_at(plot.center());
    harness.run();
    assert_eq!(zeros(&harness), before + 1, "that of Seconds_Behind_Source");
}

#[test]
fn the_window_can_be_made_longer() {
    let world = World::of(Scene::Healthy, Some("db-r1"));
    let mut harness = harness(Window::of(world, Screen::Lag));
    harness.get_by_label("1 min").click();
    harness.run();
    assert_eq!(harness.state().lag.plot.window, Span::from_secs(60));
}

// --- Transactions ----------------------------------------------------------------------------------------------------

fn transactions(scene: Scene, server: &str) -> String {
    let world = World::of(scene, Some(server));
    match TransactionsData::new(&world.frame(EN)) {
        TransactionsData::Servers(servers) => servers
            .iter()
            .flat_map(|server| server.panels.iter().map(|panel| panel.text()))
            .collect::<Vec<_>>()
            .join("\n\n"),
        TransactionsData::Nothing(absence) => panic!("{absence:?}"),
    }
}

#[test]
fn no_long_transaction_is_said_only_when_the_server_answered() {
    let quiet = "No transaction has been open for 5 s or longer";
    assert!(transactions(Scene::Healthy, "db-source").contains(quiet));
    let refused = transactions(Scene::Broken, "db-source");
    assert!(
        !refused.contains("Open transactions on db-source\nNo transaction"),
        "{refused}"
    );
    assert!(refused.contains("GRANT PROCESS"), "{refused}");
}

#[test]
fn r46_a_prepared_xa_transaction_offers_no_kill() {
    let world = World::of(Scene::Trouble, Some("db-source"));
    let TransactionsData::Servers(servers) = TransactionsData::new(&world.frame(EN)) else {
        panic!("nothing")
    };
    let kills: Vec<String> = format!("{servers:?}")
        .split("KILL ")
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
        .collect();
    assert!(
        kills.contains(&"41".to_owned()) && !kills.contains(&"0".to_owned()),
        "{kills:?}"
    );
    assert!(transactions(Scene::Trouble, "db-source").contains("prepared XA, no session"));
}

#[test]
fn c11_a_deep_offset_is_pointed_out() {
    let text = transactions(Scene::Trouble, "db-source");
    assert!(
        text.contains("Thread 51 skips 2,500,000 rows by OFFSET"),
        "{text}"
    );
}

#[test]
fn the_applier_shows_rows_so_far_and_who_blocks_it() {
    let text = transactions(Scene::Trouble, "db-r2");
    assert!(text.contains("318,402 | session 57 (report)"), "{text}");
}

// --- Semi-sync -------------------------------------------------------------------------------------------------------

#[test]
fn semi_sync_that_gave_way_is_told_from_one_that_is_not_there() {
    let sentence = |scene| {
        let world = World::of(scene, Some("db-source"));
        match SemiSyncData::new(&world.frame(EN)) {
            SemiSyncData::Sources(ends) => (ends[0].sentence.clone(), ends[0].left.clone()),
            SemiSyncData::Nothing(absence) => panic!("{absence:?}"),
        }
    };
    assert!(sentence(Scene::Healthy).0.starts_with("Every commit waits"));
    assert!(
        sentence(Scene::Trouble)
            .0
            .contains("too few replicas acknowledge")
    );
    let (text, panels) = sentence(Scene::WithoutSemiSync);
    assert!(text.contains("not installed"), "{text}");
    let setup: String = panels.iter().map(|panel| panel.text()).collect();
    assert!(setup.contains("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'"));
}

#[test]
fn unacknowledged_commits_show_their_growth() {
    let world = World::of(Scene::Trouble, Some("db-source"));
    let SemiSyncData::Sources(ends) = SemiSyncData::new(&world.frame(EN)) else {
        panic!("nothing")
    };
    let text = ends[0].left[0].text();
    assert!(
        text.contains("Commits not acknowledged: 6,000 (+20)"),
        "{text}"
    );
}

// --- pictures --------------------------------------------------------------------------------------------------------

#[test]
fn every_screen_can_be_drawn_in_both_themes_and_both_languages() {
    let looks = [
        (Theme::Dark, Language::English, 1280.0, 800.0),
        (Theme::Light, Language::SimplifiedChinese, 1280.0, 800.0),
        (Theme::Light, Language::English, 1024.0, 640.0),
        (Theme::Dark, Language::SimplifiedChinese, 1024.0, 640.0),
    ];
    let scenes = [
        (Screen::Server, Scene::Trouble, "db-r2"),
        (Screen::Server, Scene::Healthy, "db-source"),
        (Screen::Server, Scene::Broken, "db-r2"),
        (Screen::Lag, Scene::Trouble, "db-r2"),
        (Screen::Lag, Scene::Stale, "db-r1"),
        (Screen::Transactions, Scene::Trouble, "db-r2"),
        (Screen::Transactions, Scene::Broken, "db-source"),
        (Screen::SemiSync, Scene::Trouble, "db-source"),
        (Screen::SemiSync, Scene::WithoutSemiSync, "db-source"),
    ];
    // Each scene in two of the four looks, each look with every screen
    side_by_side(looks.into_iter().enumerate(), |(which, look_of_it)| {
        let (theme, language, width, height) = look_of_it;
        for (n, (screen, scene, server)) in scenes.into_iter().enumerate() {
            if which != n % 2 && which != 2 + (n + 1) % 2 {
                continue;
            }
            let mut window = Window::of(World::of(scene, Some(server)), screen);
            window.language = language;
            let mut harness = harness_of_size(window, width, height, theme);
            let look = look(theme, language);
            keep(
                &mut harness,
                &format!("{screen:?}-{scene:?}-{look}-{width}"),
            );
        }
    });
}

#[test]
fn the_whole_of_a_long_screen_for_looking_at() {
    for (screen, server) in [
        (Screen::Server, "db-r2"),
        (Screen::Server, "db-source"),
        (Screen::Lag, "db-r2"),
        (Screen::Transactions, "db-source"),
    ] {
        let window = Window::of(World::of(Scene::Trouble, Some(server)), screen);
        let mut harness = harness_of_size(window, 1048.0, 2600.0, Theme::Dark);
        keep(&mut harness, &format!("long-{screen:?}-{server}"));
    }
}

struct Window {
    world: World,
    screen: Screen,
    language: Language,
    no_topology: bool,
    server: ServerState,
    lag: LagState,
    transactions: TransactionsState,
    semi_sync: SemiSyncState,
    actions: Vec<Action>,
}

impl Window {
    fn of(world: World, screen: Screen) -> Self {
        Window {
            world,
            screen,
            language: EN,
            no_topology: false,
            server: ServerState::default(),
            lag: LagState::default(),
            transactions: TransactionsState::default(),
            semi_sync: SemiSyncState::default(),
            actions: Vec::new(),
        }
    }

    fn ui(&mut self, ui: &mut Ui) {
        let mut frame = self.world.frame(self.language);
        if self.no_topology {
            frame.topology = None;
        }
        let actions = &mut self.actions;
        match self.screen {
            Screen::Server => {
                let data = ServerData::new(&frame);
                server_ui(ui, &data, &mut self.server, &frame, actions);
            }
            Screen::Lag => {
                let data = LagData::new(&frame, &mut self.lag);
                lag_ui(ui, &data, &mut self.lag, &frame, actions);
            }
            Screen::Transactions => {
                let data = TransactionsData::new(&frame);
                transactions_ui(ui, &data, &mut self.transactions, &frame, actions);
            }
            _ => {
                let data = SemiSyncData::new(&frame);
                semi_sync_ui(ui, &data, &mut self.semi_sync, &frame, actions);
            }
        }
    }
}

fn harness(window: Window) -> Harness<'static, Window> {
    harness_of_size(window, 1048.0, 700.0, Theme::Dark)
}

/// The screen alone, with the room the tree and the bars leave it.
fn harness_of_size(
    window: Window,
    width: f32,
    height: f32,
    theme: Theme,
) -> Harness<'static, Window> {
    let draw = |ui: &mut Ui, window: &mut Window| {
        egui::CentralPanel::default_margins().show(ui, |ui| window.ui(ui));
    };
    open(draw, window, vec2(width, height), theme)
}
