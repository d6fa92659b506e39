//! Layer 3: servers of our own, simulated or real.

pub mod wire;
