//! What the integration tests share. Each test binary uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod brittle;
pub mod captures;
pub mod client;
pub mod fixtures;
pub mod fixtures_detail;
pub mod fixtures_forms;
pub mod lab_faults;
pub mod probing;
pub mod proxy;
pub mod screen;
pub mod scripted;
pub mod servers;
pub mod soft_renderer;
pub mod stage;
pub mod watching;
pub mod writer;
#[cfg(target_os = "linux")]
pub mod xvfb;

use std::time::{Duration, Instant};

/// Waits until the condition holds; `false` when it does not within the limit.
pub fn eventually(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let give_up_at = Instant::now() + limit;
    while !condition() {
        if Instant::now() > give_up_at {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}
