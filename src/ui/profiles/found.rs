//! Replicas that a watched server knows of and the topology does not: offered, never added by themselves.

use eframe::egui::Ui;

use crate::model::phrase::phrase;
use crate::model::profile::address::DEFAULT_PORT;
use crate::model::profile::{Address, TopologyId};
use crate::model::sample::FoundReplica;
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
    /// What is not in the profile yet, neither by its address nor by the UUID of a server we watch under another one.
    pub fn new(frame: &Frame<'_>, topology: &TopologyId) -> Self {
        let Some(profile) = frame.profiles.iter().find(|p| &p.id == topology) else {
            return FoundData::default();
        };
        let watched: Vec<_> = frame.store.servers_of(topology).collect();
        let samples = || {
            watched
                .iter()
                .filter_map(|w| Some((*w, w.latest.as_ref()?)))
        };
        let known_uuid = |uuid: &str| {
            samples().any(|(_, s)| {
                let own = s.identity.server_uuid.as_deref();
                own.is_some_and(|own| own.eq_ignore_ascii_case(uuid))
            })
        };
        let mut replicas: Vec<FoundLine> = Vec::new();
        for (server, sample) in samples() {
            let told = sample
                .found_replicas
                .value()
                .map_or(&[][..], |found| found.as_slice());
            for replica in told {
                let host = replica.host.trim();
                let address = Address::tcp(host, replica.port.unwrap_or(DEFAULT_PORT));
                let is_known = profile.servers.iter().any(|s| s.address == address)
                    || replica.uuid.as_deref().is_some_and(known_uuid);
                let address = address.to_string();
                if host.is_empty() || is_known || replicas.iter().any(|r| r.address == address) {
                    continue;
                }
                replicas.push(FoundLine {
                    replica: replica.clone(),
                    address,
                    told_by: server.registration.name.clone(),
                });
            }
        }
        FoundData {
            topology: Some(topology.clone()),
            replicas,
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
