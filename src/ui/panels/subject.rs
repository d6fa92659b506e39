//! Which server a screen is about, and what stands in its place while there is nothing to show.

use eframe::egui::Ui;

use crate::health::facts::Freshness;
use crate::model::event::LinkState;
use crate::model::phrase::phrase;
use crate::model::profile::ServerId;
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::widgets::{Sign, empty_ui, notice_ui};

/// Why there is nothing to show, and the next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Absence {
    /// No topology is open, or it has no server.
    NoServer,
    /// No answer yet since the program started.
    Connecting { title: String },
    /// It never answered, and this is why.
    Down { title: String, why: String },
}

/// What is shown is not of now.
#[derive(Clone, Debug, PartialEq)]
pub struct Staleness {
    pub text: String,
}

/// The chosen server, else the first of the topology on show.
pub fn server_on_show<'a>(frame: &Frame<'a>) -> Option<&'a Watched> {
    let topology = frame.topology?;
    let find = |id: &ServerId| {
        frame
            .store
            .servers_of(topology)
            .find(|server| server.registration.server == *id)
    };
    let chosen = frame.server.and_then(find);
    let in_order = || {
        let profile = frame.profiles.iter().find(|p| p.id == *topology)?;
        profile.servers.iter().find_map(|server| find(&server.id))
    };
    chosen
        .or_else(in_order)
        .or_else(|| frame.store.servers_of(topology).next())
}

impl Absence {
    /// Why nothing is known of this server.
    pub fn of(frame: &Frame<'_>, server: &Watched) -> Self {
        let name = server.registration.name.as_str();
        match &server.link {
            LinkState::Down { trouble, .. } => {
                let hint = trouble.hint.as_ref().map(|hint| frame.words.say(hint));
                let what = frame.words.say(&trouble.what);
                Absence::Down {
                    title: frame.words.say(&phrase("panel.down").with("name", name)),
                    why: [Some(what), hint]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join(". "),
                }
            }
            _ => Absence::Connecting {
                title: frame
                    .words
                    .say(&phrase("panel.connecting.title").with("name", name)),
            },
        }
    }
}

impl Staleness {
    /// `None` while what the server said last may speak for the present.
    pub fn of(frame: &Frame<'_>, server: &Watched) -> Option<Self> {
        let freshness = server.freshness(frame.now);
        if freshness.is_usable() {
            return None;
        }
        let why = match &freshness {
            Freshness::Stale { why, .. } => frame.words.say(why),
            _ => frame.words.text("panel.reconnecting").to_owned(),
        };
        let age = server.answer_age(frame.now)?;
        let words = phrase("panel.stale")
            .with("name", server.registration.name.as_str())
            .with("age", age)
            .with("why", why);
        Some(Staleness {
            text: frame.words.say(&words),
        })
    }
}

pub fn absence_ui(ui: &mut Ui, absence: &Absence, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let text = |key| frame.words.text(key);
    match absence {
        Absence::NoServer => {
            let step = text("panel.no_server.step");
            if empty_ui(
                ui,
                text("panel.no_server.title"),
                text("panel.no_server.text"),
                Some(step),
            ) {
                actions.push(Action::Show(Screen::Profiles));
            }
        }
        Absence::Connecting { title } => {
            empty_ui(ui, title, text("panel.connecting.text"), None);
        }
        Absence::Down { title, why } => {
            if empty_ui(ui, title, why, Some(text("panel.poll_now"))) {
                poll_now(frame, actions);
            }
        }
    }
}

/// The line on top of old facts.
pub fn stale_ui(ui: &mut Ui, stale: &Staleness, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let step = frame.words.text("panel.poll_now");
    if notice_ui(ui, Sign::Unknown, &stale.text, Some(step)) {
        poll_now(frame, actions);
    }
}

fn poll_now(frame: &Frame<'_>, actions: &mut Vec<Action>) {
    if let Some(topology) = frame.topology {
        actions.push(Action::PollNow(topology.clone()));
    }
}
