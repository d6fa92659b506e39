//! The Routing screen: what it says in each state, that nothing is written without permission, what the shadow guards
//! say, and how it looks.
//!
//! `REPLICASCOPE_PICTURES=some/folder cargo test --test screens_routing` keeps the pictures.

mod support;

use std::collections::BTreeMap;

use eframe::egui::{Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use replicascope::lag::HeartbeatReading;
use replicascope::model::gtid::{GtidSet, Gtids};
use replicascope::model::lag::{Measurement, Method, Reading};
use replicascope::model::phrase::phrase;
use replicascope::model::profile::{
    Environment, ExpectedRole, ServerId, ServerProfile, Target, TopologyId, TopologyProfile,
    WritePermission,
};
use replicascope::model::server::WatchId;
use replicascope::model::time::{Moment, Span};
use replicascope::routing::compare::{
    HealthSeen, Outcome, Percentiles, ReadSeen, Recording, ReplicaSeen, Visible, WriteSeen, compare,
};
use replicascope::routing::replica::Answering;
use replicascope::routing::strategies::{Headroom, RouteTable, standard};
use replicascope::routing::workload::{Plan, What, Workload};
use replicascope::routing::{Admission, GuardState, ReplicaView, Seq, Threads, Unfit, WaitUnit};
use replicascope::store::Store;
use replicascope::store::guards::GuardPreset;
use replicascope::store::watched::Registration;
use replicascope::ui::action::Action;
use replicascope::ui::overview::{OverviewData, OverviewState, overview_ui};
use replicascope::ui::routing::board::KeptComparison;
use replicascope::ui::routing::kinds::{KindTable, KindTarget};
use replicascope::ui::routing::{Report, RoutingData, RoutingState, SqlShown, routing_ui};
use replicascope::words::{Catalogue, Language};
use support::fixtures::{self, Doing, NOW, Play, Scene};
use support::screen::{EN, SMALL, WIDE, keep, look, open, side_by_side};

const TALL: Vec2 = vec2(1280.0, 1600.0);

// --- the guards in the store -----------------------------------------------------------------------------------------

fn guard(store: &Store, server: &str, preset: GuardPreset) -> GuardState {
    let server = store.servers().find(|s| s.registration.name == server);
    let guards = server.and_then(|server| server.guards.as_ref());
    guards.expect("a guard").of(preset).state()
}

#[test]
fn a_guard_starts_unknown_and_lets_nothing_in() {
    let mut store = Store::default();
    let address = Target::parse("127.0.0.1:3301").expect("an address").address;
    let server = ServerProfile::new(ServerId("r1".into()), address);
    let profile = TopologyProfile::new(TopologyId("t".into()), "t");
    store.register(
        Registration {
            watch: WatchId(1),
            topology: profile.id.clone(),
            server: server.id.clone(),
            name: server.label(),
            address: server.address.clone(),
            expected_role: ExpectedRole::Replica,
            expected_channels: Vec::new(),
            thresholds: profile.thresholds.clone(),
            intervals: profile.intervals,
            heartbeat: HeartbeatReading::default(),
        },
        NOW,
    );
    store.judge(NOW);
    let watched = store.servers().next().expect("a server");
    let guards = watched.guards.as_ref().expect("a guard");
    for preset in GuardPreset::ALL {
        assert_eq!(guards.of(preset).state(), GuardState::Unknown);
        assert_eq!(guards.of(preset).admission(), Admission::Nothing);
    }
}

#[test]
fn guards_degrade_on_stopped_threads_on_lag_and_on_silence_and_let_healthy_replicas_be() {
    let store = fixtures::in_trouble().store;
    for preset in GuardPreset::ALL {
        assert_eq!(guard(&store, "db-r1", preset), GuardState::Healthy);
        let why = Unfit::NotRunning;
        assert_eq!(
            guard(&store, "db-r3", preset),
            GuardState::Unhealthy { why }
        );
        let why = Unfit::CheckFailed;
        assert_eq!(
            guard(&store, "db-r3a", preset),
            GuardState::Unhealthy { why }
        );
    }
    let delayed = guard(&store, "bill-3", GuardPreset::ThreeSeconds);
    assert!(
        matches!(
            delayed,
            GuardState::Unhealthy {
                why: Unfit::LagOver { .. }
            }
        ),
        "{delayed:?}"
    );
    let source = store.servers().find(|s| s.registration.name == "db-source");
    assert!(source.is_some_and(|source| source.guards.is_none()));
}

#[test]
fn a_delay_on_purpose_is_lag_to_a_reader() {
    let mut play = Play::new("billing", Environment::Staging);
    play.source("bill-1");
    play.replica("bill-2", "bill-1", |_| Doing::Delayed(3600, 5));
    let (store, profile) = play.run(60);
    for preset in GuardPreset::ALL {
        let state = guard(&store, "bill-2", preset);
        let over = matches!(state, GuardState::Unhealthy { why: Unfit::LagOver { lag, .. } } if lag > Span::from_secs(3599));
        assert!(over, "{state:?}");
    }
    let views = store.replica_views(&profile.id);
    assert!(
        views[0].lag.value() > Some(Span::from_secs(3599)),
        "{views:?}"
    );
}

#[test]
fn what_the_rules_see_of_a_replica_is_what_its_guard_lets_in() {
    let scene = fixtures::in_trouble();
    let views = scene.store.replica_views(&scene.profiles[0].id);
    let admission = |name: &str| {
        let server = scene.store.servers().find(|s| s.registration.name == name);
        let watch = server.expect("a server").watch();
        let view = views.iter().find(|view| view.watch == watch);
        view.expect("a view").admission
    };
    assert_eq!(admission("db-r1"), Admission::Everything);
    assert_eq!(admission("db-r3"), Admission::Nothing);
    assert!(scene.store.guards_are_settled(&scene.profiles[0].id));
    // Two good checks, three seconds apart, before reads that must see a write.
    for (seconds, expected) in [(1, Admission::OrdinaryReads), (5, Admission::Everything)] {
        let mut play = Play::new("billing", Environment::Staging);
        play.source("bill-1");
        play.replica("bill-2", "bill-1", |_| Doing::Late(5));
        let (store, profile) = play.run(seconds);
        let views = store.replica_views(&profile.id);
        assert_eq!(views[0].admission, expected, "after {seconds} s");
    }
}

#[test]
fn a_source_that_takes_writes_has_its_connections_lent() {
    let window = Window::of(fixtures::in_trouble());
    let frame = window.scene.frame(Catalogue::of(EN));
    let RoutingData::Shown(shown) = RoutingData::new(&frame, &window.state) else {
        panic!("no topology");
    };
    let rows: Vec<_> = shown
        .lending
        .iter()
        .map(|row| row.source.as_str())
        .collect();
    assert_eq!(rows, ["db-source"]);
    assert_eq!(shown.lending[0].word, "Would be lent");
}

// --- the screen ------------------------------------------------------------------------------------------------------

struct Window {
    scene: Scene,
    language: Language,
    state: RoutingState,
    actions: Vec<Action>,
}

impl Window {
    fn of(mut scene: Scene) -> Self {
        for profile in &mut scene.profiles {
            profile.writes = WritePermission::Allowed;
            profile.environment = Environment::Staging;
        }
        Window {
            scene,
            language: EN,
            state: RoutingState::default(),
            actions: Vec::new(),
        }
    }

    fn compared(scene: Scene) -> Self {
        let mut window = Window::of(scene);
        let topology = window.scene.profiles[0].id.clone();
        window.state.report = Some(report(topology));
        window
    }
}

fn window_ui(ui: &mut Ui, window: &mut Window) {
    let frame = window.scene.frame(Catalogue::of(window.language));
    eframe::egui::CentralPanel::default_margins().show(ui, |ui| {
        let data = RoutingData::new(&frame, &window.state);
        routing_ui(ui, &data, &mut window.state, &frame, &mut window.actions);
    });
}

fn harness(window: Window, size: Vec2, theme: Theme) -> Harness<'static, Window> {
    open(window_ui, window, size, theme)
}

/// Two replicas 1.5 s behind; every rule judged over the same minute.
fn report(topology: TopologyId) -> Report {
    let start = NOW - Span::from_secs(60);
    let late = Span::from_millis(1_500);
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for planned in Workload::new(Plan::chat(1, start)).take(3_000) {
        match planned.what {
            What::Write { seq } => writes.push(WriteSeen {
                session: planned.session,
                seq,
                committed_at: planned.at,
                gtids: Some(one_gtid()),
                visible: BTreeMap::from(
                    [2, 3].map(|n| (WatchId(n), Visible::At(planned.at + late))),
                ),
            }),
            What::Read {
                kind,
                must_see,
                in_transaction,
            } => reads.push(ReadSeen {
                session: planned.session,
                at: planned.at,
                kind,
                in_transaction,
                must_see: must_see.filter(|seq| *seq != Seq(0)),
            }),
        }
    }
    let health = HealthSeen {
        at: start - Span::from_secs(1),
        replicas: [2, 3].map(|n| view(WatchId(n), late, start)).into(),
    };
    let (wrote, read) = (writes.len() as u64, reads.len() as u64);
    let recording = Recording::new(writes, reads, vec![health], Span::from_micros(400));
    let headroom = Headroom {
        capacity_per_second: 1.0,
        used_per_second: 0.0,
    };
    let seen = |watch, name: &str| ReplicaSeen {
        watch: WatchId(watch),
        name: name.to_owned(),
        seen: wrote,
        unseen: 0,
        delay: Percentiles::of(vec![late]),
        trouble: None,
    };
    Report {
        topology,
        is_running: false,
        done: 3_000,
        planned: 3_000,
        outcome: Some(Outcome {
            writes: wrote,
            reads: read,
            refused: 0,
            last_refusal: None,
            replicas: vec![seen(2, "db-r1"), seen(3, "db-r2")],
            wait_round_trip: Some(Span::from_micros(400)),
            comparison: compare(
                &recording,
                &mut standard(Some(headroom), &RouteTable::default()),
            ),
        }),
        at: NOW - Span::from_secs(3),
        troubles: Vec::new(),
    }
}

fn one_gtid() -> Gtids {
    GtidSet::parse("00021324-1111-1111-1111-111111111111:7")
        .expect("a set")
        .into()
}

fn view(watch: WatchId, lag: Span, at: Moment) -> ReplicaView {
    ReplicaView {
        watch,
        answering: Answering::Yes,
        threads: Threads::Running,
        lag: Reading::Measured(Measurement {
            value: lag,
            bound: None,
            method: Method::Heartbeat,
            taken_at: at,
        }),
        admission: Admission::Everything,
        wait_unit: Some(WaitUnit::Fractions),
    }
}

#[test]
fn without_a_topology_the_next_step_is_a_profile() {
    let harness = harness(Window::of(fixtures::nothing_yet()), WIDE, Theme::Dark);
    harness.get_by_label_contains("Open a topology first");
}

#[test]
fn where_writing_is_not_allowed_there_is_no_button_and_a_way_to_the_profile() {
    let mut window = Window::of(fixtures::healthy());
    window.scene.profiles[0].writes = WritePermission::default();
    let mut harness = harness(window, WIDE, Theme::Dark);
    assert!(harness.query_by_label("Compare the rules").is_none());
    harness.get_by_label("Allow it on the Probe screen").click();
    harness.run();
    assert!(matches!(
        harness.state().actions.last(),
        Some(Action::Show(_))
    ));
}

#[test]
fn one_press_asks_for_a_comparison_of_this_topology() {
    let mut harness = harness(Window::of(fixtures::healthy()), WIDE, Theme::Dark);
    harness.get_by_label("Compare the rules").click();
    harness.run();
    match harness.state().actions.as_slice() {
        [
            Action::Compare {
                topology,
                length,
                rate,
                spare_per_second,
                ..
            },
        ] => {
            assert_eq!(*topology, harness.state().scene.profiles[0].id);
            assert_eq!((*length, *rate), (Span::from_secs(20), 50));
            assert_eq!(*spare_per_second, Some(20));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn on_production_the_name_is_typed_first() {
    let mut window = Window::of(fixtures::healthy());
    window.scene.profiles[0].environment = Environment::Production;
    let mut harness = harness(window, WIDE, Theme::Dark);
    harness.get_by_label("Compare the rules").click();
    harness.run();
    assert!(harness.state().actions.is_empty());
    harness.state_mut().state.typed = "orders".into();
    harness.run();
    harness.get_by_label("Compare the rules").click();
    harness.run();
    assert_eq!(harness.state().actions.len(), 1);
}

#[test]
fn while_it_runs_it_can_be_stopped() {
    let mut window = Window::compared(fixtures::healthy());
    let report = window.state.report.as_mut().expect("a report");
    (report.is_running, report.done) = (true, 1_200);
    let mut harness = harness(window, WIDE, Theme::Dark);
    assert!(harness.query_by_label("Compare the rules").is_none());
    harness.get_by_label_contains("So far");
    harness.get_by_label("Stop").click();
    harness.run();
    assert!(matches!(
        harness.state().actions.as_slice(),
        [Action::StopComparing]
    ));
}

#[test]
fn every_rule_is_a_row_and_what_went_wrong_is_said() {
    let mut window = Window::compared(fixtures::healthy());
    let report = window.state.report.as_mut().expect("a report");
    report.troubles.push(phrase("rules.end.stopped"));
    let frame = window.scene.frame(Catalogue::of(EN));
    let RoutingData::Shown(shown) = RoutingData::new(&frame, &window.state) else {
        panic!("no topology");
    };
    let verdict = shown.verdict.expect("a verdict");
    assert_eq!(verdict.rows.len(), 12);
    let row = |name: &str| {
        verdict
            .rows
            .iter()
            .find(|row| row.name == name)
            .expect("a row")
    };
    assert_eq!(row("always the source").stale, "0 %");
    assert_ne!(row("plain replica").stale, "0 %");
    let (admitted, refused) = verdict.bucket.expect("a limiter");
    assert!(admitted > 0 && refused > 0, "{admitted} {refused}");
    assert_eq!(verdict.troubles.len(), 1);
    assert!(shown.kinds.is_taken);
    assert_eq!(shown.kinds.lines.len(), 4);
}

#[test]
fn c15_a_wrong_line_fails_says_why_and_is_not_taken() {
    let mut window = Window::of(fixtures::healthy());
    let topology = window.scene.profiles[0].id.clone();
    let mut table = KindTable::default();
    table.export.goes_to = KindTarget::HealthyReplica;
    window.state.edited = Some((topology.clone(), table));
    let mut harness = harness(window, TALL, Theme::Dark);
    harness.get_by_label_contains("This table is not taken");
    harness.get_by_label_contains("“export” is asserted to go to: source.");
    harness.get_by_label("As at first").click();
    harness.run();
    let state = &harness.state().state;
    assert_eq!(state.edited, None);
    assert_eq!(state.board.kept[&topology].kinds, KindTable::default());
    assert!(matches!(
        harness.state().actions.as_slice(),
        [Action::KeepKinds(of)] if *of == topology
    ));
}

#[test]
fn a_kind_is_sent_elsewhere_with_two_presses() {
    let mut harness = harness(Window::of(fixtures::healthy()), TALL, Theme::Dark);
    harness.get_by_label("export: source").click();
    harness.run();
    harness.get_by_label("db-r1 alone, else the source").click();
    harness.run();
    let (_, table) = harness.state().state.edited.as_ref().expect("edited");
    let r1 = KindTarget::Only(ServerId("db-r1".into()));
    assert_eq!(table.export.goes_to, r1);
    harness.get_by_label("export, asserted: source").click();
    harness.run();
    harness.get_by_label("db-r1 alone, else the source").click();
    harness.run();
    let topology = harness.state().scene.profiles[0].id.clone();
    let state = &harness.state().state;
    assert_eq!(state.edited, None);
    assert_eq!(state.board.kept[&topology].kinds.export.asserted, r1);
}

#[test]
fn a_result_is_kept_written_to_a_file_and_held_against_a_later_one() {
    let mut window = Window::compared(fixtures::healthy());
    let topology = window.scene.profiles[0].id.clone();
    let outcome = window
        .state
        .report
        .clone()
        .and_then(|report| report.outcome);
    let before = KeptComparison::of(&outcome.expect("a result"), "before", NOW);
    let mut other = before.clone();
    other.name = "other".into();
    other.rules[1].stale = other.rules[1].judged;
    let kept = window.state.board.kept.entry(topology).or_default();
    kept.keep(before);
    kept.keep(other);
    let frame = window.scene.frame(Catalogue::of(EN));
    let RoutingData::Shown(shown) = RoutingData::new(&frame, &window.state) else {
        panic!("no topology");
    };
    let row = &shown.kept[1].rows[1];
    assert_eq!(row.name, "GTID wait, source on timeout");
    assert_eq!(row.figures[..2], ["100 %".to_owned(), "0 %".to_owned()]);
    let mut harness = harness(window, TALL, Theme::Dark);
    harness.get_by_label("Keep").click();
    harness.run();
    assert!(matches!(
        harness.state().actions.as_slice(),
        [Action::SaveComparison { .. }]
    ));
    harness.get_by_label_contains("other (");
}

#[test]
fn the_grant_stands_beside_the_sql() {
    let mut window = Window::of(fixtures::healthy());
    window.state.shows_sql = true;
    window.state.sql = Some(SqlShown {
        topology: window.scene.profiles[0].id.clone(),
        statements: "INSERT INTO `replicascope`.`probe` …".into(),
        grant: "GRANT SELECT, INSERT ON `replicascope`.* TO 'monitor'@'%';".into(),
    });
    let harness = harness(window, WIDE, Theme::Dark);
    harness.get_by_label_contains("GRANT SELECT, INSERT");
    harness.get_by_label_contains("INSERT INTO");
}

#[test]
fn guards_say_why_they_would_degrade() {
    let window = Window::of(fixtures::in_trouble());
    let frame = window.scene.frame(Catalogue::of(EN));
    let RoutingData::Shown(shown) = RoutingData::new(&frame, &window.state) else {
        panic!("no topology");
    };
    let row = shown
        .guards
        .iter()
        .find(|row| row.replica == "db-r3")
        .expect("a row");
    assert_eq!(row.cells[0].word, "Would degrade");
    assert_eq!(row.cells[0].note, "replication is not running");
    assert!(row.cells[0].past.contains("Would have degraded"), "{row:?}");
}

#[test]
fn the_lanes_of_the_overview_show_when_a_guard_would_have_degraded() {
    let scene = fixtures::in_trouble();
    let frame = scene.frame(Catalogue::of(EN));
    let mut state = OverviewState::default();
    let OverviewData::Watched(topology) = OverviewData::new(&frame, &mut state) else {
        panic!("not watched");
    };
    let lane = |name: &str| {
        topology
            .plot
            .lanes
            .iter()
            .find(|lane| lane.name == name)
            .expect("a lane")
    };
    assert!(
        lane("db-r3")
            .guard
            .iter()
            .any(|span| span.text.contains("replication is not running"))
    );
    assert!(lane("db-r1").guard.is_empty() || lane("db-r1").guard[0].to < NOW);
}

// --- pictures --------------------------------------------------------------------------------------------------------

#[test]
fn the_screen_can_be_drawn_in_every_state_theme_and_language() {
    for language in [EN, Language::SimplifiedChinese] {
        side_by_side([Theme::Dark, Theme::Light], |theme| {
            for (name, size) in [("wide", WIDE), ("small", SMALL), ("tall", TALL)] {
                let mut window = Window::compared(fixtures::in_trouble());
                window.language = language;
                picture(window, size, theme, &format!("routing-{name}"));
            }
            let mut window = Window::compared(fixtures::healthy());
            window.language = language;
            (window.state.report, window.state.edited) = (None, Some(wrong_table(&window)));
            picture(window, vec2(1024.0, 900.0), theme, "routing-kinds");
            let mut window = Window::compared(fixtures::healthy());
            window.language = language;
            window.state.report.as_mut().expect("a report").outcome = kept_twice(&mut window);
            picture(window, vec2(1024.0, 1400.0), theme, "routing-kept");
            let mut window = Window::of(fixtures::in_trouble());
            window.language = language;
            picture(window, WIDE, theme, "routing-before");
        });
    }
}

/// Exports would go to the replicas of the others.
fn wrong_table(window: &Window) -> (TopologyId, KindTable) {
    let mut table = KindTable::default();
    table.export.goes_to = KindTarget::HealthyReplica;
    table.history.limit = Span::from_secs(3);
    (window.scene.profiles[0].id.clone(), table)
}

fn kept_twice(window: &mut Window) -> Option<Outcome> {
    let topology = window.scene.profiles[0].id.clone();
    let outcome = window.state.report.clone()?.outcome?;
    let kept = window.state.board.kept.entry(topology).or_default();
    kept.keep(KeptComparison::of(&outcome, "", NOW));
    kept.keep(KeptComparison::of(&outcome, "before parallel workers", NOW));
    Some(outcome)
}

fn picture(window: Window, size: Vec2, theme: Theme, name: &str) {
    let look = look(theme, window.language);
    let mut harness = harness(window, size, theme);
    keep(&mut harness, &format!("{name}-{look}"));
}

#[test]
fn the_overview_with_guards_can_be_drawn() {
    let scene = fixtures::in_trouble();
    let state = (scene, OverviewState::default());
    let draw = |ui: &mut Ui, (scene, state): &mut (Scene, OverviewState)| {
        let frame = scene.frame(Catalogue::of(EN));
        let data = OverviewData::new(&frame, state);
        eframe::egui::CentralPanel::default_margins().show(ui, |ui| {
            overview_ui(ui, &data, state, &frame, &mut Vec::new())
        });
    };
    let mut harness = open(draw, state, WIDE, Theme::Dark);
    keep(&mut harness, "overview-guards");
}
