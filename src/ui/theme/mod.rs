//! The look: colours, one type scale, one spacing unit. Nowhere else is a colour or a distance written as a number.
//!
//! Calm on purpose: neutral greys, one accent, and colour only where it means something. [`install`] gives egui both
//! themes at once; which one shows is the person's (or the system's) choice, and [`palette`] follows it.

mod palette;
mod style;

use eframe::egui::{Color32, Context, FontId, RichText, TextStyle, Ui};

pub use palette::{DARK, LIGHT, Palette, SERIES};

use super::fonts;

/// The unit of all distances: gaps and margins are multiples of it.
pub const UNIT: f32 = 4.0;
/// Corners of cards and popups.
pub const CORNER: u8 = 8;
/// Corners of buttons and fields.
pub const SMALL_CORNER: u8 = 5;

/// The type scale, in points.
pub mod size {
    /// Ticks of axes, digits of tabs.
    pub const TINY: f32 = 11.0;
    /// What stands behind something more important: ages, notes.
    pub const SMALL: f32 = 12.0;
    pub const BODY: f32 = 13.0;
    pub const TITLE: f32 = 15.0;
    /// A value one reads before all others.
    pub const FIGURE: f32 = 28.0;
    /// SQL and GTID sets: monospaced letters look larger than they are.
    pub const MONO: f32 = 12.0;
}

/// Gives egui the colours, sizes and distances of both themes. Once, before the first frame, after `fonts::install`.
pub fn install(ctx: &Context) {
    ctx.set_style_of(eframe::egui::Theme::Dark, style::style(&DARK));
    ctx.set_style_of(eframe::egui::Theme::Light, style::style(&LIGHT));
}

/// The colours of the theme that is showing.
pub fn palette(ui: &Ui) -> &'static Palette {
    Palette::of(ui.visuals().dark_mode)
}

/// Semibold body text: names, headings of cards.
pub fn strong(text: impl Into<String>) -> RichText {
    RichText::new(text).font(fonts::semibold(size::BODY))
}

/// A heading of a screen or panel.
pub fn title(text: impl Into<String>) -> RichText {
    RichText::new(text).font(fonts::semibold(size::TITLE))
}

/// Secondary text: labels of values.
pub fn dim(ui: &Ui, text: impl Into<String>) -> RichText {
    RichText::new(text).color(palette(ui).dim)
}

/// Smaller secondary text: how measured, how old.
pub fn note(ui: &Ui, text: impl Into<String>) -> RichText {
    dim(ui, text).size(size::SMALL)
}

/// The smallest text, for axes.
pub fn tiny() -> FontId {
    FontId::proportional(size::TINY)
}

/// A paragraph that carries a meaning by its colour too.
pub fn colored(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).color(color)
}

/// The style of SQL, GTID sets and error texts.
pub fn mono(text: impl Into<String>) -> RichText {
    RichText::new(text).text_style(TextStyle::Monospace)
}
