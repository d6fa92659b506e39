//! Being told to end from outside: Ctrl+C, SIGTERM and SIGHUP; on Windows Ctrl+C, Ctrl+Break and the console's end.
//!
//! The first time we are asked to end tidily; who asks again does not want to wait for that.

use std::time::{Duration, Instant};

/// Signals so close belong together: of a terminal that is closed, the kernel and the shell both tell.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// As shells report a program that Ctrl+C ended.
const ENDED_AT_ONCE: i32 = 130;

/// `ask` is called once, on a thread of its own. It must only pass on that the program is to end.
pub fn when_told_to_end(ask: impl Fn() + Send + 'static) {
    let mut first = None;
    let told = move || match answer(&mut first, Instant::now()) {
        Answer::Ask => ask(),
        Answer::GoOn => {}
        Answer::EndAtOnce => std::process::exit(ENDED_AT_ONCE),
    };
    // A second handler cannot be set; then the first one does.
    let _ = ctrlc::set_handler(told);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Ask,
    GoOn,
    EndAtOnce,
}

fn answer(first: &mut Option<Instant>, now: Instant) -> Answer {
    match *first {
        None => {
            *first = Some(now);
            Answer::Ask
        }
        Some(at) if now.duration_since(at) < ONE_REQUEST => Answer::GoOn,
        Some(_) => Answer::EndAtOnce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_come_together_are_one_request_and_a_later_one_is_impatience() {
        let start = Instant::now();
        let mut first = None;
        let told = [
            (0, Answer::Ask),
            (3, Answer::GoOn),
            (499, Answer::GoOn),
            (500, Answer::EndAtOnce),
        ];
        for (ms, expected) in told {
            let now = start + Duration::from_millis(ms);
            assert_eq!(answer(&mut first, now), expected, "after {ms} ms");
        }
    }
}
