//! Under a clock moved by hand a simulation's history is its plan's and nothing else's.

use std::time::Instant;

use replicascope::lab::bed::{Bed, LinkQuality};
use replicascope::lab::simulator::{SimClock, Simulator};
use replicascope::model::lab::{Generation, LabPlan};
use replicascope::model::time::{Moment, Span};

use super::lab::plan;

/// Two minutes of heartbeats over a link that changes; what each server has at the end, and when it applied the last.
fn history(seed: u64) -> Vec<String> {
    let clock = SimClock::by_hand(Moment::from_unix_micros(1_800_000_000_000_000));
    let plan = LabPlan {
        seed,
        ..plan(Generation::MySql97)
    };
    let mut lab = Simulator::start(&plan, clock.clone()).expect("a simulation starts");
    let mut told = Vec::new();
    for second in 0..120 {
        clock.advance(Span::from_secs(1));
        if second == 40 {
            let slow = LinkQuality {
                latency: Span::from_millis(700),
                ..LinkQuality::default()
            };
            lab.set_link(1, 0, slow).expect("the link is there");
        }
        told.push(lab.look(|bench| {
            let status = bench.world.channel_status(1, "").expect("a channel");
            let worker = &status.applier.workers[0];
            format!(
                "{} {:?} {:?} {:?}",
                bench.world.executed(1),
                status.executed,
                status.seconds_behind,
                worker.last_applied.as_ref().map(|t| (t.started, t.ended))
            )
        }));
    }
    told
}

#[test]
fn the_same_seed_gives_the_same_history_and_time_costs_nothing() {
    let began = Instant::now();
    let one = history(7);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!(one, history(7));
    assert_ne!(one, history(8));
    let last = one.last().expect("a line");
    assert!(
        last.starts_with("00000000-0000-4000-8000-000000000001:1-1"),
        "{last}"
    );
}

#[test]
fn two_hundred_servers_start_in_a_moment() {
    let clock = SimClock::by_hand(Moment::from_unix_micros(1_800_000_000_000_000));
    let plan = LabPlan {
        replicas: 199,
        ..plan(Generation::MySql97)
    };
    let began = Instant::now();
    let lab = Simulator::start(&plan, clock.clone()).expect("a simulation starts");
    eprintln!("200 servers after {:?}", began.elapsed());
    let began = Instant::now();
    clock.advance(Span::from_secs(10));
    let executed = lab.look(|bench| bench.world.executed(199).to_string());
    eprintln!("10 s of 200 servers in {:?}", began.elapsed());
    assert!(
        executed.ends_with(":1-9") || executed.ends_with(":1-10"),
        "{executed}"
    );
    assert_eq!(lab.nodes().len(), 200);
}
