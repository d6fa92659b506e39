//! The comparisons of the window besides the one under way: what is kept of each topology, on disk too, and results as
//! files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crossbeam_channel::{Receiver, bounded};

use super::export;
use crate::app::kept::{Kept, KeptFiles};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::TopologyId;
use crate::model::time::Moment;
use crate::monitor::workload::WorkloadEnd;
use crate::routing::compare::Outcome;
use crate::ui::action::ExportFormat;
use crate::ui::routing::board::{KeptComparison, KeptRouting, RoutingBoard};

impl Kept for KeptRouting {
    const FOLDER: &'static str = "routing";
    const VERSION: u32 = 1;
}

#[derive(Default)]
pub struct CompareDesk {
    /// Absent where the system names no folder for data, and in tests.
    files: Option<KeptFiles<KeptRouting>>,
    asked_for: BTreeSet<TopologyId>,
    exporting: Option<Receiver<Result<Phrase, Phrase>>>,
}

/// A file to be written.
pub struct Export {
    pub format: ExportFormat,
    pub to: PathBuf,
    /// The dialog has asked.
    pub may_replace: bool,
}

impl CompareDesk {
    /// Results are kept in this folder beyond the session; without one only in memory.
    pub fn keeping_in(folder: Option<PathBuf>) -> Self {
        CompareDesk {
            files: folder.and_then(|folder| KeptFiles::open(folder).ok()),
            ..CompareDesk::default()
        }
    }

    /// What was kept in earlier sessions is brought once for each topology.
    pub fn bring(&mut self, topology: &TopologyId) {
        if let Some(files) = &self.files
            && self.asked_for.insert(topology.clone())
        {
            files.ask_for(topology);
        }
    }

    /// Takes in what has come since the last frame.
    pub fn take_in(&mut self, board: &mut RoutingBoard) {
        while let Some((topology, earlier)) = self.files.as_ref().and_then(KeptFiles::next_loaded) {
            board.kept.entry(topology).or_default().put_before(earlier);
        }
        let exported = self.exporting.as_ref().and_then(|e| e.try_recv().ok());
        if let Some(how) = exported {
            self.exporting = None;
            board.exported = Some(how);
        }
    }

    /// Frames should come quickly.
    pub fn is_busy(&self) -> bool {
        self.exporting.is_some()
    }

    /// Keeps a result under a name, to hold later ones against.
    pub fn keep(
        &self,
        board: &mut RoutingBoard,
        topology: &TopologyId,
        (outcome, at): (&Outcome, Moment),
        name: &str,
    ) {
        let kept = board.kept.entry(topology.clone()).or_default();
        kept.keep(KeptComparison::of(outcome, name, at));
        self.save(board, topology);
    }

    /// A result is not lost when the next comparison begins.
    pub fn keep_unnamed(
        &self,
        board: &mut RoutingBoard,
        topology: &TopologyId,
        (outcome, at): (&Outcome, Moment),
    ) {
        let kept = board.kept.get(topology);
        let is_kept = kept.is_some_and(|kept| kept.comparisons.iter().any(|c| c.is_of(outcome)));
        if outcome.reads > 0 && !is_kept {
            self.keep(board, topology, (outcome, at), "");
        }
    }

    /// Writes what is kept of a topology to its file.
    pub fn save(&self, board: &RoutingBoard, topology: &TopologyId) {
        if let (Some(files), Some(kept)) = (&self.files, board.kept.get(topology)) {
            files.keep(topology, kept.clone());
        }
    }

    /// Writes a result to a file, on a thread.
    pub fn export(
        &mut self,
        board: &mut RoutingBoard,
        outcome: Outcome,
        end: Option<WorkloadEnd>,
        file: Export,
    ) {
        let (sender, answer) = bounded(1);
        let work = move || {
            let _ = sender.send(export::write(&outcome, end.as_ref(), &file));
        };
        let thread = std::thread::Builder::new().name("comparison export".into());
        match thread.spawn(work) {
            Ok(_) => self.exporting = Some(answer),
            Err(error) => {
                let why = phrase("window.no_thread").with("reason", error.to_string());
                board.exported = Some(Err(why));
            }
        }
    }
}
