//! What happens when the memory for all simulated tables is used up: whoever needs more is told so, everybody else goes
//! on. In a program of its own, since the limit is the whole program's and can only be lowered.

#[path = "simulator/lab.rs"]
#[allow(dead_code)] // a part of it is enough here
mod lab;
mod support;

use lab::{admin, plan, start};
use replicascope::lab::simulator::{SimClock, Simulator};
use replicascope::model::lab::{Generation, LabPlan};
use rusqlite::Connection;

const OUT_OF_MEMORY: u32 = 1041;

/// Bytes that SQLite may take in this program from now on, beyond those that it has.
fn leave(bytes: u64) {
    let any = Connection::open_in_memory().expect("still memory");
    let used = || -> i64 {
        // SAFETY: it only reads a counter.
        unsafe { rusqlite::ffi::sqlite3_memory_used() }
    };
    let limit = used() as u64 + bytes;
    any.execute_batch(&format!("PRAGMA hard_heap_limit = {limit}"))
        .expect("a lower limit");
}

#[test]
fn a_statement_without_memory_is_refused_and_the_server_lives_on() {
    let lab = start(&LabPlan {
        replicas: 1,
        ..plan(Generation::MySql97)
    });
    let (mut careless, mut other) = (admin(&lab, 0), admin(&lab, 0));
    other.run("CREATE TABLE shop.big (id INT PRIMARY KEY AUTO_INCREMENT, t TEXT)");
    leave(6 << 20);
    // Fills what is left.
    let more = "INSERT INTO shop.big (t) SELECT REPEAT('x', 10000) FROM shop.orders LIMIT 50";
    let mut refused = None;
    for _ in 0..50 {
        if let Err(trouble) = careless.0.run(more) {
            refused = trouble.code;
            break;
        }
    }
    assert_eq!(refused, Some(OUT_OF_MEMORY));
    // Each of these needs a copy of all tables.
    let slow = "SELECT COUNT(*) FROM shop.orders a, shop.orders b, shop.orders c WHERE a.amount + b.amount + c.amount < 0";
    for _ in 0..3 {
        assert_eq!(careless.refused(slow), OUT_OF_MEMORY);
    }
    for session in [&mut careless, &mut other, &mut admin(&lab, 1)] {
        assert_eq!(session.value("SELECT 1 + 1"), "2");
    }
    leave(0);
    let another = Simulator::start(&plan(Generation::MySql97), SimClock::wall());
    assert_eq!(
        another.err().and_then(|trouble| trouble.code),
        Some(OUT_OF_MEMORY)
    );
}
