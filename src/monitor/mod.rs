//! Layer 2: the threads that watch servers.
