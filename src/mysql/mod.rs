//! Layer 2: the only folder that names the mysql crate.
