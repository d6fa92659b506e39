//! Layer 4: draws.
