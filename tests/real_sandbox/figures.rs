//! How long it takes; for reports.

use super::*;

/// `cargo test --test real_sandbox -- --ignored --nocapture how_long` prints how long a start takes.
#[test]
#[ignore = "prints figures"]
fn how_long_a_start_takes() {
    for flavour in [MYSQL, MARIADB] {
        for _ in 0..3 {
            let cache = tempfile::tempdir().expect("a temporary folder");
            let place = Place {
                cache: Some(cache.path().to_owned()),
                ..place(flavour)
            };
            for kind in ["cold", "warm"] {
                let started = Instant::now();
                let lab = Sandbox::start(&plan(flavour, Shape::Fan, 2), &place, &Watch::NOBODY)
                    .expect("a lab");
                let up = started.elapsed();
                let ending = Instant::now();
                let release = lab.release();
                drop(lab);
                eprintln!(
                    "{release} {kind}: up in {:.2} s, ended in {:.2} s",
                    up.as_secs_f64(),
                    ending.elapsed().as_secs_f64()
                );
            }
        }
    }
}
