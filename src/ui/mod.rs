//! Layer 4: draws what the store knows. Screens take data made for them and answer with actions; they know no files,
//! no network, no clock.
//!
//! `fonts` and `theme` are the look, `widgets` the small parts every screen is built of.

pub mod acceptance;
pub mod action;
pub mod events;
mod export;
pub mod first_run;
pub mod fonts;
pub mod lab;
pub mod lag;
pub mod lesson;
pub mod local_time;
pub mod overview;
pub mod panels;
pub mod password;
pub mod plot;
pub mod preferences;
pub mod probe;
pub mod profiles;
pub mod routing;
pub mod semi_sync;
pub mod server;
pub mod shell;
pub mod theme;
pub mod transactions;
pub mod widgets;

use crate::model::preferences::Preferences;
use crate::model::profile::{ServerId, TopologyId, TopologyProfile};
use crate::model::time::Moment;
use crate::store::Store;
use crate::words::Catalogue;

/// What every screen may look at while it draws one frame.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub store: &'a Store,
    pub now: Moment,
    pub words: &'a Catalogue,
    pub profiles: &'a [TopologyProfile],
    pub preferences: &'a Preferences,
    /// The topology on show.
    pub topology: Option<&'a TopologyId>,
    /// The server on show within it.
    pub server: Option<&'a ServerId>,
}
