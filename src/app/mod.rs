//! The glue: window, headless commands, actions carried out.

pub mod conductor;
pub mod profiles;
