//! The Routing screen: what each rule would return and cost on this very topology, and what the shadow guards would have
//! done. No traffic is moved.

pub mod board;
mod chart;
mod controls;
mod data;
mod draw;
mod guards;
mod keep;
pub mod kinds;
mod kinds_ui;
mod lending;
mod report;

pub use data::{KindLine, KindsData, RoutingData, RuleRow, Verdict};
pub use draw::routing_ui;
pub use guards::{GuardCell, GuardRow};
pub use lending::LendingRow;
pub use report::Report;

use std::collections::BTreeSet;

use crate::model::profile::TopologyId;
use crate::model::time::Span;
use crate::ui::action::FilePurpose;
use crate::ui::export::ExportState;
use crate::ui::profiles::News;
use crate::ui::widgets::Sorting;
use board::RoutingBoard;
use kinds::KindTable;

/// What the person is doing here, and what the program told of the comparison it runs.
#[derive(Clone, Debug)]
pub struct RoutingState {
    pub length: Span,
    /// Statements a second.
    pub rate: u32,
    /// Reads a second the source could take over; 0 leaves that rule out.
    pub spare: u32,
    pub shows_sql: bool,
    /// The topology's name, where it must be typed.
    pub typed: String,
    pub sorting: Sorting,
    /// The last comparison of each topology is kept by the program; this is the one on show.
    pub report: Option<Report>,
    /// Where writing is allowed for this session, besides what the profiles say.
    pub enabled: BTreeSet<TopologyId>,
    pub sql: Option<SqlShown>,
    /// What is kept with the topologies.
    pub board: RoutingBoard,
    /// A table of query kinds that is not taken, because it breaks an assertion.
    pub edited: Option<(TopologyId, KindTable)>,
    kept_name: String,
    compared: usize,
    kept_sorting: Sorting,
    export: ExportState,
}

/// What would be sent, for which topology, and what its account needs for it.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlShown {
    pub topology: TopologyId,
    pub statements: String,
    pub grant: String,
}

impl Default for RoutingState {
    fn default() -> Self {
        RoutingState {
            length: Span::from_secs(20),
            rate: 50,
            spare: 20,
            shows_sql: false,
            typed: String::new(),
            sorting: Sorting::by(0),
            report: None,
            enabled: BTreeSet::new(),
            sql: None,
            board: RoutingBoard::default(),
            edited: None,
            kept_name: String::new(),
            compared: keep::NEWEST,
            kept_sorting: Sorting::by(0),
            export: ExportState::default(),
        }
    }
}

impl RoutingState {
    pub fn hear(&mut self, news: &News) {
        if let News::FileChosen {
            purpose: FilePurpose::Comparison(_),
            path,
        } = news
        {
            self.export.chose(path.as_ref());
        }
    }
}
