//! Layer 1: profiles and preferences on disk, passwords in the system's keychain.
//!
//! A file of ours is read once and remembered as it was seen ([`file`]). It is replaced in one step, only by somebody who
//! has seen what is in it: not after another program changed it, not when it is of a newer version, not when it could
//! not be read. A damaged file is moved aside. What this version does not understand in a file it keeps.
//!
//! Everything here may block on a disk, the keychain even on a person: not for the thread that draws.

pub mod durations;
pub mod file;
pub mod notice;
pub mod paths;

mod format;
pub mod preferences;
pub mod profiles;

pub mod secrets;
