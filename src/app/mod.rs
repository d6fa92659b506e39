//! The glue: window, headless commands, actions carried out.
