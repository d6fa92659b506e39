//! Every fault of the lab on real servers: made, seen by the product, undone, and gone.

mod support;

use replicascope::model::lab::{Ground, LabPlan, Shape};
use replicascope::model::server::Flavour;
use replicascope::model::time::Span;
use support::lab_faults::{self, Lab};

fn lab(flavour: Flavour, shape: Shape) -> Lab {
    Lab::start(LabPlan {
        ground: Ground::Real(flavour),
        shape,
        ..LabPlan::default()
    })
}

fn every_fault_is_seen_and_can_be_undone(flavour: Flavour) {
    let mut lab = lab(flavour, Shape::Fan);
    lab_faults::every_fault_is_seen_and_can_be_undone(&mut lab);
}

#[test]
fn on_mysql_every_fault_is_seen_and_can_be_undone() {
    every_fault_is_seen_and_can_be_undone(Flavour::MySql);
}

#[test]
fn on_mariadb_every_fault_is_seen_and_can_be_undone() {
    every_fault_is_seen_and_can_be_undone(Flavour::MariaDb);
}

fn orders_take_their_course(flavour: Flavour) {
    let mut lab = lab(flavour, Shape::Fan);
    lab_faults::a_fault_ends_when_its_time_is_over(&mut lab);
    lab_faults::a_big_transaction_can_be_called_off(&mut lab);
    lab_faults::traffic_writes_as_often_as_asked(&mut lab);
    lab_faults::traffic_goes_on_after_a_refusal_and_a_crash(&mut lab);
}

#[test]
fn on_mysql_orders_take_their_course() {
    orders_take_their_course(Flavour::MySql);
}

#[test]
fn on_mariadb_orders_take_their_course() {
    orders_take_their_course(Flavour::MariaDb);
}

#[test]
fn a_swap_that_fails_half_way_leaves_roles_as_they_were() {
    for flavour in [Flavour::MySql, Flavour::MariaDb] {
        let mut lab = lab(flavour, Shape::Fan);
        lab_faults::a_swap_that_fails_half_way_leaves_roles_as_they_were(&mut lab);
    }
}

#[test]
fn a_delayed_replica_gets_its_own_delay_back() {
    for flavour in [Flavour::MySql, Flavour::MariaDb] {
        let delay = Span::from_secs(2);
        let mut lab = lab(flavour, Shape::Delayed { delay });
        lab_faults::a_delayed_replica_gets_its_own_delay_back(&mut lab);
    }
}

#[test]
fn a_replica_of_two_sources_is_stopped_and_started_on_both_channels() {
    for flavour in [Flavour::MySql, Flavour::MariaDb] {
        let mut lab = lab(flavour, Shape::MultiSource);
        lab_faults::a_replica_of_two_sources_is_stopped_and_started_on_both_channels(&mut lab);
    }
}

#[test]
fn in_a_chain_the_end_breaks_and_the_top_two_swap() {
    for flavour in [Flavour::MySql, Flavour::MariaDb] {
        let mut lab = lab(flavour, Shape::Chain);
        lab_faults::in_a_chain_what_comes_from_the_top_breaks_the_end_and_the_top_two_swap(
            &mut lab,
        );
    }
}
