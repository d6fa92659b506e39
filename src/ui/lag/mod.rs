//! The Lag screen: one replica's channel, all methods on one plot, which to believe and why, where the time goes, and
//! how the clocks stand.

mod data;
mod draw;
mod lies;
mod plot;

use crate::model::profile::ServerId;
use crate::model::time::Span;
use crate::ui::panels::PanelsState;

pub use data::{Choice, LagData, LagScreen, MethodLine, StagePart};
pub use draw::lag_ui;
pub use plot::{Plot, PlotLine, Scale, plot_ui};

/// What the person is doing here.
#[derive(Clone, Debug)]
pub struct LagState {
    pub panels: PanelsState,
    /// The channel on show, by server: each server keeps its own choice.
    pub channel: Option<(ServerId, String)>,
    pub window: Span,
}

impl Default for LagState {
    fn default() -> Self {
        LagState {
            panels: PanelsState::default(),
            channel: None,
            window: Span::from_secs(300),
        }
    }
}
