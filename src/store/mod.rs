//! Layer 2: remembers what the threads reported.
