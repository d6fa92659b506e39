//! Layer 4: draws what the store knows. Screens take data made for them and answer with actions; they know no files,
//! no network, no clock.
//!
//! `fonts` and `theme` are the look, `widgets` the small parts every screen is built of.

pub mod fonts;
pub mod theme;
pub mod widgets;
