//! Layer 1: profiles and preferences on disk.
