//! Layer 1: what a worker needs of a server.
