//! The Transactions screen: what is open on the source, because every replica will have to apply it in one piece; and
//! on the replica what the applier works on, for how long, and who blocks it.

mod offset;
mod replica;
mod source;

use eframe::egui::{ScrollArea, Ui};

use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::lesson::pointer;
use crate::ui::panels::{
    Absence, Panel, PanelsState, Staleness, absence_ui, panel_ui, server_on_show, stale_ui,
};
use crate::ui::server::scene::Scene;
use crate::ui::theme::UNIT;

pub use offset::deep_offset;

#[derive(Clone, Debug, PartialEq)]
pub enum TransactionsData {
    Nothing(Absence),
    Servers(Vec<ServerTransactions>),
}

/// One server of the pair on show.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTransactions {
    pub name: String,
    pub is_source: bool,
    pub stale: Option<Staleness>,
    pub panels: Vec<Panel>,
}

/// What the person is doing here.
#[derive(Clone, Debug, Default)]
pub struct TransactionsState {
    pub panels: PanelsState,
}

impl TransactionsData {
    pub fn new(frame: &Frame<'_>) -> Self {
        let Some(chosen) = server_on_show(frame) else {
            return TransactionsData::Nothing(Absence::NoServer);
        };
        if chosen.last_known.is_none() {
            return TransactionsData::Nothing(Absence::of(frame, chosen));
        }
        let (sources, replicas) = family(frame, chosen);
        let of = |server: &Watched, is_source: bool| ServerTransactions {
            name: server.registration.name.clone(),
            is_source,
            stale: Staleness::of(frame, server),
            panels: Scene::of(frame, server)
                .map(|scene| match is_source {
                    true => source::panels(&scene),
                    false => replica::panels(&scene),
                })
                .unwrap_or_default(),
        };
        let sources = sources.into_iter().map(|server| of(server, true));
        let replicas = replicas.into_iter().map(|server| of(server, false));
        TransactionsData::Servers(sources.chain(replicas).collect())
    }
}

/// The sources and the replicas to show: of a replica its sources and itself, of a source itself and its replicas.
pub(super) fn family<'a>(
    frame: &Frame<'a>,
    chosen: &'a Watched,
) -> (Vec<&'a Watched>, Vec<&'a Watched>) {
    let store = frame.store;
    let watch = chosen.watch();
    let replicates = chosen
        .last_known
        .as_ref()
        .is_some_and(|sample| !sample.channels().is_empty());
    let mut watches: Vec<_> = store
        .wires()
        .iter()
        .filter_map(|wire| match replicates {
            true => (wire.replica == watch).then_some(wire.source),
            false => (wire.source == watch).then_some(wire.replica),
        })
        .collect();
    watches.sort();
    watches.dedup();
    let others = watches
        .into_iter()
        .filter_map(|watch| store.watched(watch))
        .collect();
    match replicates {
        true => (others, vec![chosen]),
        false => (vec![chosen], others),
    }
}

pub fn transactions_ui(
    ui: &mut Ui,
    data: &TransactionsData,
    state: &mut TransactionsState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let servers = match data {
        TransactionsData::Nothing(absence) => return absence_ui(ui, absence, frame, actions),
        TransactionsData::Servers(servers) => servers,
    };
    ScrollArea::vertical()
        .id_salt("transactions")
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            for server in servers {
                if let Some(stale) = &server.stale {
                    stale_ui(ui, stale, frame, actions);
                }
                let what = match server.is_source {
                    true => "transactions_source",
                    false => "transactions_replica",
                };
                pointer::around(ui, what, |ui| {
                    for panel in &server.panels {
                        panel_ui(ui, panel, &mut state.panels, frame, actions);
                    }
                });
            }
        });
}
