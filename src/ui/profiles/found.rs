//! Replicas that a watched server knows of and the topology does not: offered, never added by themselves.

use eframe::egui::Ui;

use crate::model::phrase::phrase;
use crate::model::profile::address::DEFAULT_PORT;
use crate::model::profile::{Address, TopologyId};
use crate::model::sample::FoundReplica;
use crate::store::offers::Offer;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme;
use crate::ui::widgets::{Card, Edge, primary_button_ui, quiet_button_ui};

/// Replicas found behind one topology.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundData {
    pub topology: Option<TopologyId>,
    pub replicas: Vec<FoundLine>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FoundLine {
    pub replica: FoundReplica,
    /// "db4:3306".
    pub address: String,
    /// The server that told of it.
    pub told_by: String,
}

impl FoundData {
    /// What the watched servers tell of and the profile does not have. A server without a host cannot be connected to.
    pub fn new(frame: &Frame<'_>, topology: &TopologyId) -> Self {
        let Some(profile) = frame.profiles.iter().find(|p| &p.id == topology) else {
            return FoundData::default();
        };
        let line = |offer: Offer| {
            let host = offer.server.host.trim();
            let address = Address::tcp(host, offer.server.port.unwrap_or(DEFAULT_PORT));
            let is_new = !host.is_empty() && profile.servers.iter().all(|s| s.address != address);
            let told_by = frame.store.watched(offer.told_by)?;
            is_new.then(|| FoundLine {
                address: address.to_string(),
                told_by: told_by.registration.name.clone(),
                replica: offer.server,
            })
        };
        FoundData {
            topology: Some(topology.clone()),
            replicas: frame
                .store
                .offers(topology)
                .into_iter()
                .filter_map(line)
                .collect(),
        }
    }
}

/// A card with what was found and a button for each. `dismissed` holds the addresses the person does not want.
pub fn found_ui(
    ui: &mut Ui,
    data: &FoundData,
    dismissed: &mut Vec<String>,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let Some(topology) = &data.topology else {
        return;
    };
    let offered: Vec<&FoundLine> = data
        .replicas
        .iter()
        .filter(|r| !dismissed.contains(&r.address))
        .collect();
    let Some(first) = offered.first() else { return };
    let words = frame.words;
    let add = |line: &FoundLine| Action::AddFound {
        topology: topology.clone(),
        server: line.replica.clone(),
    };
    Card::new()
        .edge(Edge::Left(theme::palette(ui).accent))
        .show(ui, |ui| {
            let title = phrase("found.title")
                .with("n", offered.len() as u64)
                .with("server", first.told_by.as_str());
            ui.label(theme::strong(words.say(&title)));
            let add_one = |line: &FoundLine| {
                words.say(&phrase("found.add").with("server", line.address.as_str()))
            };
            if offered.len() > 1 {
                for line in &offered {
                    if quiet_button_ui(ui, &add_one(line)).clicked() {
                        out.push(add(line));
                    }
                }
            }
            ui.horizontal(|ui| {
                let all = match offered.len() {
                    1 => add_one(first),
                    _ => words.text("found.add_all").to_owned(),
                };
                if primary_button_ui(ui, &all).clicked() {
                    out.extend(offered.iter().map(|line| add(line)));
                }
                if quiet_button_ui(ui, words.text("found.dismiss")).clicked() {
                    dismissed.extend(offered.iter().map(|line| line.address.clone()));
                }
            });
        });
}
