//! Every fault of the lab on simulated servers: made, seen by the product, undone, and gone.

mod support;

use replicascope::model::lab::{Generation, Ground, LabPlan, Shape};
use replicascope::model::time::Span;
use support::lab_faults::{self, Lab};

fn lab(generation: Generation, shape: Shape) -> Lab {
    Lab::start(LabPlan {
        ground: Ground::Simulated(generation),
        shape,
        ..LabPlan::default()
    })
}

/// Most of it is waiting, so all generations wait at the same time.
#[test]
fn every_fault_is_seen_and_can_be_undone_in_every_generation() {
    let generations = Generation::ALL;
    std::thread::scope(|scope| {
        for generation in generations {
            let name = generation.code().to_owned();
            let work = move || {
                let mut lab = lab(generation, Shape::Fan);
                lab_faults::every_fault_is_seen_and_can_be_undone(&mut lab);
            };
            std::thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, work)
                .expect("a thread can be started");
        }
    });
}

#[test]
fn orders_take_their_course() {
    for generation in [Generation::MySql97, Generation::MariaDb1011] {
        let mut lab = lab(generation, Shape::Fan);
        lab_faults::a_fault_ends_when_its_time_is_over(&mut lab);
        lab_faults::a_big_transaction_can_be_called_off(&mut lab);
        lab_faults::traffic_writes_as_often_as_asked(&mut lab);
        lab_faults::traffic_goes_on_after_a_refusal_and_a_crash(&mut lab);
    }
}

#[test]
fn a_swap_that_fails_half_way_leaves_roles_as_they_were() {
    for generation in [Generation::MySql97, Generation::MariaDb1011] {
        let mut lab = lab(generation, Shape::Fan);
        lab_faults::a_swap_that_fails_half_way_leaves_roles_as_they_were(&mut lab);
    }
}

#[test]
fn a_delayed_replica_gets_its_own_delay_back() {
    for generation in [Generation::MySql97, Generation::MariaDb1011] {
        let delay = Span::from_secs(2);
        let mut lab = lab(generation, Shape::Delayed { delay });
        lab_faults::a_delayed_replica_gets_its_own_delay_back(&mut lab);
    }
}

#[test]
fn a_replica_of_two_sources_is_stopped_and_started_on_both_channels() {
    for generation in [Generation::MySql97, Generation::MariaDb1011] {
        let mut lab = lab(generation, Shape::MultiSource);
        lab_faults::a_replica_of_two_sources_is_stopped_and_started_on_both_channels(&mut lab);
    }
}

#[test]
fn in_a_chain_the_end_breaks_and_the_top_two_swap() {
    for generation in [Generation::MySql97, Generation::MariaDb1011] {
        let mut lab = lab(generation, Shape::Chain);
        lab_faults::in_a_chain_what_comes_from_the_top_breaks_the_end_and_the_top_two_swap(
            &mut lab,
        );
    }
}
