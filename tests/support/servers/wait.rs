//! Waiting for a condition, never for a time.

use std::thread;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits until the condition holds; panics with `what` was awaited when it does not within the limit.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    wait_for(what, limit, || {
        condition().then_some(()).ok_or_else(String::new)
    })
}

/// Waits for an answer; the last reason why there was none goes into the panic message.
#[track_caller]
pub fn wait_for<T>(
    what: &str,
    limit: Duration,
    mut attempt: impl FnMut() -> Result<T, String>,
) -> T {
    let started = Instant::now();
    loop {
        match attempt() {
            Ok(answer) => return answer,
            Err(why) if started.elapsed() > limit => {
                panic!(
                    "waited {:.1} s in vain for: {what}. {why}",
                    started.elapsed().as_secs_f64()
                )
            }
            Err(_) => thread::sleep(LOOK_EVERY),
        }
    }
}
