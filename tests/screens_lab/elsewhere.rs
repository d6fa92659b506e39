//! Faults on other screens, and the topology that is made of a lab.

use super::*;

#[test]
fn a_fault_is_a_span_on_the_overviews_plot() {
    let scene = watched(&with_faults());
    let frame = scene.frame(Catalogue::of(EN));
    let OverviewData::Watched(topology) = OverviewData::new(&frame, &mut OverviewState::default())
    else {
        panic!("not watched");
    };
    let spans: Vec<(&str, bool)> = topology
        .plot
        .faults
        .iter()
        .map(|span| (span.label.as_str(), span.lasts))
        .collect();
    assert_eq!(
        spans,
        [
            ("Link latency 800 ms on replica-1", true),
            ("Applier stopped on replica-2", false),
            ("ACKs lost on replica-2", true),
            ("Link latency 800 ms on replica-2", true),
        ]
    );
}

#[test]
fn the_journal_has_both_ends_of_a_fault() {
    let mut window = lab(with_faults());
    window.shell.screen = Screen::Events;
    window.events.search = "lab fault".into();
    let harness = english(window);
    harness.get_by_label("Fault: Applier stopped on replica-2");
    harness.get_by_label("Undone: Applier stopped on replica-2");
    harness.get_by_label_contains("Roles swapped on replica-1: no thread");
    assert!(
        harness
            .query_by_label_contains("Undone: Link latency")
            .is_none()
    );
}

#[test]
fn a_forgotten_topology_takes_its_faults_with_it() {
    let mut store = Store::default();
    store.tell_episodes(
        &lab_topology(1),
        &replicascope::app::lab::episodes_of(&with_faults()),
    );
    assert!(store.journal().last().is_none());
    assert!(store.episodes(&lab_topology(1)).is_none());
}

#[test]
fn a_labs_topology_may_be_written_to_and_names_no_password() {
    let profile = replicascope::app::lab::profile_of(&running(), lab_topology(7));
    assert_eq!(profile.environment, Environment::Lab);
    let board = replicascope::ui::probe::board::ProbeBoard::default();
    assert!(board.may_write(&profile));
    assert!(!replicascope::ui::acceptance::board::must_type(
        profile.environment,
        true
    ));
    let names: Vec<String> = profile.servers.iter().map(|s| s.label()).collect();
    assert_eq!(names, ["source", "replica-1", "replica-2"]);
    assert!(replicascope::model::profile::check(&profile).is_empty());
    assert!(!format!("{profile:?}").contains("h7RwNc3bLd8y"));
}
