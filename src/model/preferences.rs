//! How a person likes the window; nothing here changes what is measured.

use super::profile::TopologyId;

#[derive(Clone, Debug, PartialEq)]
pub struct Preferences {
    pub language: LanguageChoice,
    pub theme: ThemeChoice,
    /// Always within [`ZOOM_MIN`]..=[`ZOOM_MAX`] when it comes from `settings`.
    pub zoom: f32,
    /// Opened at start-up, if it is still there.
    pub last_topology: Option<TopologyId>,
    pub window: Option<WindowSize>,
}

pub const ZOOM_MIN: f32 = 0.75;
pub const ZOOM_MAX: f32 = 2.5;

/// In points, before zoom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSize {
    pub width: f32,
    pub height: f32,
    pub maximized: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LanguageChoice {
    /// As the system says.
    #[default]
    Auto,
    English,
    Chinese,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ThemeChoice {
    /// As the system says.
    #[default]
    Auto,
    Light,
    Dark,
}

impl Default for Preferences {
    fn default() -> Self {
        Preferences {
            language: LanguageChoice::Auto,
            theme: ThemeChoice::Auto,
            zoom: 1.0,
            last_topology: None,
            window: None,
        }
    }
}
