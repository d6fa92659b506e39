//! Words for what lessons do and point at.

use crate::model::lab::Fault;
use crate::model::lesson::{Act, Bilingual, Spot, server_name};
use crate::model::phrase::{Phrase, phrase};
use crate::ui::lab::wording::{fault_key, fault_label};
use crate::words::{Catalogue, Language};

/// The text in the language of the catalogue.
pub fn in_language<'a>(words: &Catalogue, text: &'a Bilingual) -> &'a str {
    match words.language() {
        Language::English => &text.en,
        Language::SimplifiedChinese => &text.zh,
    }
}

/// Where something is: the screen, and what on it.
pub fn spot_phrase(spot: Spot) -> Phrase {
    let plain = phrase(match spot {
        Spot::Verdict => "lesson.spot.verdict",
        Spot::Tree => "lesson.spot.tree",
        Spot::OverviewPlot => "lesson.spot.overview_plot",
        Spot::OverviewSource => "lesson.spot.overview_source",
        Spot::OverviewCard(_) => "lesson.spot.overview_card",
        Spot::ServerChannels(_) => "lesson.spot.server_channels",
        Spot::ServerAppliers(_) => "lesson.spot.server_appliers",
        Spot::ServerGtids(_) => "lesson.spot.server_gtids",
        Spot::ServerSettings(_) => "lesson.spot.server_settings",
        Spot::ServerLoad(_) => "lesson.spot.server_load",
        Spot::LagPlot(_) => "lesson.spot.lag_plot",
        Spot::LagVerdict(_) => "lesson.spot.lag_verdict",
        Spot::LagStages(_) => "lesson.spot.lag_stages",
        Spot::LagClocks(_) => "lesson.spot.lag_clocks",
        Spot::TransactionsSource => "lesson.spot.transactions_source",
        Spot::TransactionsReplica(_) => "lesson.spot.transactions_replica",
        Spot::SemiSync => "lesson.spot.semi_sync",
        Spot::ProbeControls => "lesson.spot.probe_controls",
        Spot::ProbeTimeline => "lesson.spot.probe_timeline",
        Spot::ProbeFigures => "lesson.spot.probe_figures",
        Spot::ProbeCurve => "lesson.spot.probe_curve",
        Spot::Acceptance => "lesson.spot.acceptance",
        Spot::RoutingRules => "lesson.spot.routing_rules",
        Spot::RoutingGuard => "lesson.spot.routing_guard",
        Spot::Events => "lesson.spot.events",
        Spot::LabTopology => "lesson.spot.lab_topology",
        Spot::LabTraffic => "lesson.spot.lab_traffic",
        Spot::LabFaults => "lesson.spot.lab_faults",
    });
    match spot.server() {
        Some(server) => plain.with("server", server_name(server)),
        None => plain,
    }
}

/// Said when an act had to be done again to be seen.
pub fn made_again_phrase(act: &Act) -> Phrase {
    phrase("lesson.made_again").with("act", act_phrase(act))
}

/// What an act does.
pub fn act_phrase(act: &Act) -> Phrase {
    match act {
        Act::Make {
            kind,
            on,
            intensity,
            lasts,
        } => {
            let fault = Fault {
                kind: *kind,
                on: *on,
                intensity: *intensity,
                lasts: *lasts,
            };
            fault_label(&fault, &server_name(*on))
        }
        Act::Undo(kind) => phrase("lesson.act.undo").with("fault", phrase(fault_key(*kind))),
        Act::UndoAll => phrase("lesson.act.undo_all"),
        Act::Carry(traffic) => phrase("lesson.act.traffic")
            .with("writes", traffic.writes_per_second.round() as u64)
            .with("n", u64::from(traffic.rows_per_transaction)),
        Act::Probe { plan, replica } => {
            let runs = u64::from(plan.runs);
            match replica {
                Some(replica) => phrase("lesson.act.probe_one")
                    .with("n", runs)
                    .with("server", server_name(*replica)),
                None => phrase("lesson.act.probe_all").with("n", runs),
            }
        }
        Act::Compare { length, .. } => phrase("lesson.act.compare").with("length", *length),
        Act::Accept => phrase("lesson.act.accept"),
        Act::Show(spot) => phrase("lesson.act.show").with("spot", spot_phrase(*spot)),
        Act::Wait(span) => phrase("lesson.act.wait").with("span", *span),
    }
}
