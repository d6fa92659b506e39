//! The Lag screen: one replica's channel, all methods on one plot, which to believe and why, where the time goes, and
//! how the clocks stand.

mod clock_plot;
mod data;
mod draw;
mod lies;
mod plots;

use crate::model::profile::ServerId;
use crate::ui::panels::PanelsState;
use crate::ui::plot::PlotState;

pub use data::{Choice, LagData, LagScreen, MethodLine, StagePart};
pub use draw::{lag_ui, stage_bar_ui};

/// What the person is doing here.
#[derive(Debug, Default)]
pub struct LagState {
    pub panels: PanelsState,
    /// The channel on show, by server: each server keeps its own choice.
    pub channel: Option<(ServerId, String)>,
    pub plot: PlotState,
}
