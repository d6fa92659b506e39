//! Links that are slow or cut, seen from the servers.

use super::*;

/// How long an order takes to the replica at the least: a busy machine may add to one, and adds to no five in a row.
fn quickest_travel(lab: &Sandbox, replica: LabServer) -> Duration {
    let times = (0..5).map(|_| travel_time(lab, replica));
    times.min().expect("five orders")
}

fn travel_time(lab: &Sandbox, replica: LabServer) -> Duration {
    let mark = format!("mark {}", fastrand::u64(..));
    let mut source = hand(lab, 0);
    let mut reader = hand(lab, replica);
    let count = format!("SELECT COUNT(*) FROM shop.orders WHERE address = '{mark}'");
    let insert = format!(
        "INSERT INTO shop.orders (customer, address, status, amount) VALUES (1, '{mark}', 'new', 1)"
    );
    let written = Instant::now();
    source.run(&insert).expect("a write");
    wait_for("the order to arrive", SOON, || {
        let found = reader.value(&count).expect("a read");
        if found.as_deref() == Some("1") {
            Ok(())
        } else {
            Err(String::new())
        }
    });
    written.elapsed()
}

fn latency_of_a_link_is_lag(flavour: Flavour) {
    let mut plan = plan(flavour, Shape::Fan, 2);
    // Otherwise the commit itself waits for the acknowledgement over the slow link.
    plan.semi_sync = false;
    let mut lab = Sandbox::start(&plan, &place(flavour), &Watch::NOBODY).expect("a lab");
    let quick = quickest_travel(&lab, 1);
    assert!(quick < Duration::from_millis(400), "{quick:?}");

    let slow = LinkQuality {
        latency: Span::from_millis(800),
        ..LinkQuality::default()
    };
    lab.set_link(1, 0, slow).expect("a link");
    let late = quickest_travel(&lab, 1);
    assert!(
        late > Duration::from_millis(790) && late < Duration::from_millis(1500),
        "{late:?}"
    );
    let other = quickest_travel(&lab, 2);
    assert!(
        other < Duration::from_millis(400),
        "the other link is its own: {other:?}"
    );

    lab.set_link(1, 0, LinkQuality::default()).expect("a link");
    let quick = quickest_travel(&lab, 1);
    assert!(quick < Duration::from_millis(400), "{quick:?}");
}

#[test]
fn mysql_latency() {
    latency_of_a_link_is_lag(MYSQL);
}

#[test]
fn mariadb_latency() {
    latency_of_a_link_is_lag(MARIADB);
}

fn a_cut_link_goes_unnoticed_until_the_net_timeout(flavour: Flavour) {
    let mut lab = start(flavour, Shape::Fan, 1);
    assert_orders_travel(&lab, 0, &[1]);
    let cut = LinkQuality {
        is_cut: true,
        ..LinkQuality::default()
    };
    lab.set_link(1, 0, cut).expect("a link");
    let cut_at = Instant::now();
    let before = value(&lab, 1, "SELECT COUNT(*) FROM shop.orders");
    run(
        &lab,
        0,
        "INSERT INTO shop.orders (customer, address, status, amount) VALUES (1, 'x', 'new', 1)",
    );
    let noticed_after = wait_for("the replica to notice", Duration::from_secs(30), || {
        let threads = threads(&lab, 1);
        if threads == [yes_yes()] {
            Err(format!("{threads:?}"))
        } else {
            Ok(cut_at.elapsed())
        }
    });
    assert!(
        noticed_after > Duration::from_secs(7),
        "noticed after {noticed_after:?}"
    );
    assert_eq!(value(&lab, 1, "SELECT COUNT(*) FROM shop.orders"), before);

    lab.set_link(1, 0, LinkQuality::default()).expect("a link");
    wait_for("the replica to be back", SOON, || {
        let threads = threads(&lab, 1);
        if threads == [yes_yes()] {
            Ok(())
        } else {
            Err(format!("{threads:?}"))
        }
    });
    assert_orders_travel(&lab, 0, &[1]);
    assert_ne!(value(&lab, 1, "SELECT COUNT(*) FROM shop.orders"), before);
}

#[test]
fn mysql_cut_link() {
    a_cut_link_goes_unnoticed_until_the_net_timeout(MYSQL);
}

#[test]
fn mariadb_cut_link() {
    a_cut_link_goes_unnoticed_until_the_net_timeout(MARIADB);
}
