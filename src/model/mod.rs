//! Layer 0: facts and vocabulary. No I/O, no clock, no window.

pub mod gtid;
pub mod phrase;
pub mod time;
pub mod trouble;
