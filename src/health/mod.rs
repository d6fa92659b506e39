//! Layer 1: facts become findings. Pure; one rule per file.
//!
//! A rule looks at [`facts::Facts`] and says for each subject it concerns itself with: fine, a finding, or "cannot
//! tell". [`book`] makes that steady (several polls in a row, hysteresis); [`lamps`] condenses it into the three lamps
//! (threads, real lag, semi-sync), a health word per server and channel, and one verdict sentence per topology.

pub mod facts;
