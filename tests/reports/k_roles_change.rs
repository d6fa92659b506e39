//! K. Roles change while we watch.

use super::support::captures::capture;
use super::support::stage::View;
use super::support::stage::{B, replica, set_field, source, stage};
use replicascope::model::finding::{Health, Lamp, Role};
use replicascope::model::lag::Method;
use replicascope::model::profile::ExpectedRole;
use replicascope::model::time::Span;
use replicascope::routing::demotion::{Lending, WhyNot};
use std::collections::BTreeSet;

#[test]
fn r44_role_facts_are_read_anew_at_every_poll() {
    let mut stage = stage([source(), replica()]).watch();
    stage.until("all well", |view| view.server("replica").routable);
    let server = stage.server("replica");
    server.set_variable("super_read_only", "OFF");
    stage.until("privileged writes", |view| {
        view.finding("replica_writable").is_some()
    });
    let server = stage.server("replica");
    server.set_variable("super_read_only", "ON");
    stage.until("closed again", |view| {
        view.finding("replica_writable").is_none()
    });
    let statements = stage.server("replica").statements();
    let asking: BTreeSet<u32> = statements
        .iter()
        .filter(|statement| statement.sql.contains("@@GLOBAL.super_read_only"))
        .map(|statement| statement.connection_id)
        .collect();
    assert_eq!(asking.len(), 1, "by the same session");
}

#[test]
fn r44_another_server_under_the_address_breaks_the_history() {
    let new = "00000009-aaaa-11f0-8000-000000000000";
    let mut stage = stage([source(), replica()]).watch();
    stage.until("all well", |view| view.server("replica").routable);
    stage.settle();
    stage.server("replica").set_variable("server_uuid", new);
    let view = stage.until("replaced", |view| view.finding("server_replaced").is_some());
    let finding = view.finding("server_replaced").expect("found");
    let evidence = format!("{:?}", finding.evidence);
    assert!(evidence.contains(B) && evidence.contains(new), "{evidence}");
    let server = view.watched("replica");
    let at = server.memory.replaced.as_ref().expect("remembered").at;
    let shown = server.channels[""]
        .headline
        .columns(at - Span::from_millis(300), at, 3000);
    assert!(
        shown.iter().any(|column| column.extremes.is_none()),
        "a visible break: {shown:?}"
    );
    assert!(server.memory.errant.is_none());
}

#[test]
fn r45_a_source_that_came_back_read_only_is_an_alarm() {
    let mut stage = stage([
        source()
            .variable("super_read_only", "ON")
            .variable("read_only", "ON"),
        replica(),
    ])
    .watch();
    let view = stage.until("read-only", |view| {
        view.finding("source_read_only").is_some()
    });
    assert_eq!(
        view.server("source").health,
        Health::Broken,
        "{}",
        view.tell()
    );
    assert_eq!(
        view.judged.verdict.as_ref().map(|v| v.lamp),
        Some(Lamp::Critical)
    );
}

#[test]
fn r44_connections_to_a_source_that_turned_read_only_and_back_are_those_of_a_new_generation() {
    let mut stage = stage([source(), replica()]).watch();
    let lending = |view: &View<'_>| view.watched("source").lending.clone().expect("a source");
    let view = stage.until("lent", |view| {
        let source = view.watched("source").lending.as_ref();
        source.is_some_and(|source| source.lending() == Lending::Lend)
    });
    let old = lending(&view).generation();
    let journal = stage.store().journal().entries().count();
    stage.server("source").set_variable("super_read_only", "ON");
    stage.until("not lent", |view| {
        lending(view).lending() == Lending::Stop(WhyNot::ReadOnly)
    });
    stage
        .server("source")
        .set_variable("super_read_only", "OFF");
    let view = stage.until("lent again", |view| {
        lending(view).lending() == Lending::Lend
    });
    let now = lending(&view);
    assert!(!now.may_lend(old) && now.may_lend(now.generation()));
    assert!(now.renewed_at().is_some());
    let told = stage.store().journal().entries().skip(journal);
    let told: Vec<&str> = told
        .map(|entry| entry.text.key)
        .filter(|key| key.starts_with("routing.lending"))
        .collect();
    assert_eq!(told, ["routing.lending.stopped", "routing.lending.again"]);
}

#[test]
fn r45_the_writable_half_of_a_ring_stays_the_place_to_write() {
    // "source" replicates from "replica", which is away for it.
    let half = source()
        .role(ExpectedRole::Auto)
        .channels(capture("mysql97/quiet"))
        .field("Source_UUID", B)
        .field("Source_Server_Id", "2")
        .field("Replica_IO_Running", "Connecting")
        .null("Seconds_Behind_Source");
    let (mut actors, profile) = stage([half, replica().role(ExpectedRole::Auto)]).start();
    let ports: Vec<String> = actors.iter().map(|a| a.server.port().to_string()).collect();
    actors[0].show(|rows| set_field(rows, "Source_Port", Some(&ports[1])));
    actors[1].show(|rows| set_field(rows, "Source_Port", Some(&ports[0])));
    let mut stage = super::support::stage::Setting::of(actors, profile);
    stage.until("the ring", |view| {
        let sourced = |name| view.channel(name, "").is_some_and(|c| c.source.is_some());
        sourced("source") && sourced("replica")
    });
    stage.until("beyond the grace", |view| {
        view.finding("receiver_connecting").is_some()
    });
    stage.for_polls(3, |view| {
        let server = view.server("source");
        assert_eq!(
            (server.health, server.routable),
            (Health::Ok, true),
            "{}",
            view.tell()
        );
        let channel = view.channel("source", "").expect("its channel");
        let seconds = channel.lag.method(Method::SecondsBehind);
        assert!(seconds.is_some_and(|reading| reading.value().is_none()));
        assert_eq!((channel.health, channel.routable), (Health::Broken, false));
        assert!(!view.codes().contains(&"two_sources"), "{}", view.tell());
    });
    assert_eq!(stage.view().server("source").role, Role::Intermediate);
}
