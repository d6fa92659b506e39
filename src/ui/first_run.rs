//! The first screen of all, when there is no topology yet: what this is for, and the shortest way to a first picture.

use eframe::egui::{
    CentralPanel, Frame as Area, Grid, Id, Label, Margin, ScrollArea, TextEdit, Ui,
};

use super::Frame;
use super::action::{Action, FilePurpose};
use super::lab::big_button_ui;
use super::profiles::{
    Keychain, News, Remark, Transfer, TypedPassword, choice_ui, fresh_id, import_ui, named,
    remarks_ui,
};
use super::theme::{self, UNIT, size};
use super::widgets::{Card, Edge, Sign, quiet_button_ui, sign_word_ui};
use crate::model::lab::LabPlan;
use crate::model::phrase::Phrase;
use crate::model::profile::{
    Account, Environment, SecretKey, SecretOwner, SecretSource, ServerId, ServerProfile, Target,
    TopologyId, TopologyProfile,
};

/// What the person has typed so far.
#[derive(Debug, Default)]
pub struct FirstRunState {
    address: String,
    user: String,
    password: TypedPassword,
    environment: Environment,
    keychain: Keychain,
    not_saved: Option<Phrase>,
    remarks: Vec<Remark>,
    /// Unfolded: profiles from a file.
    import: Option<Transfer>,
    choosing: Option<FilePurpose>,
    unchosen: Option<FilePurpose>,
}

impl FirstRunState {
    pub fn hear(&mut self, news: &News) {
        match news {
            News::Keychain(keychain) => self.keychain = keychain.clone(),
            News::NotSaved { why, .. } => self.not_saved = Some(why.clone()),
            News::Remarks(remarks) => self.remarks.extend(remarks.iter().cloned()),
            News::FileChosen { purpose, path } => {
                self.choosing = None;
                self.unchosen = path.is_none().then(|| purpose.clone());
                if let (Some(transfer), Some(path)) = (&mut self.import, path) {
                    transfer.path = path.display().to_string();
                }
            }
            _ => self.hear_import(news),
        }
    }

    fn hear_import(&mut self, news: &News) {
        match (&mut self.import, news) {
            (Some(transfer), News::NotImported(why)) => {
                transfer.end(Sign::Critical, why.clone(), Vec::new());
            }
            // the topologies themselves are seen now, but what was wrong in the file must be told
            (Some(_), News::Imported { remarks, .. }) => {
                self.remarks.extend(remarks.iter().cloned());
                self.import = None;
            }
            _ => {}
        }
    }

    /// The address as it can be used, and what is wrong with it. Nothing is wrong with an empty field yet.
    fn target(&self) -> Option<Result<Target, Phrase>> {
        (!self.address.trim().is_empty()).then(|| Target::parse(&self.address))
    }

    /// The user of the field, or the one written before the address.
    fn user(&self, target: &Target) -> String {
        match self.user.trim() {
            "" => target.user.clone().unwrap_or_default(),
            user => user.to_owned(),
        }
    }

    fn profile(&self, target: &Target, frame: &Frame<'_>) -> TopologyProfile {
        let name = target.address.to_string();
        let name = name.strip_suffix(":3306").unwrap_or(&name).to_owned();
        let id = TopologyId(fresh_id(&name, frame.now));
        let mut profile = TopologyProfile::new(id, name.clone());
        profile.environment = self.environment;
        profile.account = Some(Account {
            user: self.user(target),
            secret: SecretSource::Keychain,
        });
        let server = ServerId(fresh_id(&name, frame.now));
        profile
            .servers
            .push(ServerProfile::new(server, target.address.clone()));
        profile
    }
}

const ENVIRONMENTS: [(Environment, &str); 4] = [
    (Environment::Production, "environment.production"),
    (Environment::Staging, "environment.staging"),
    (Environment::Development, "environment.development"),
    (Environment::Lab, "environment.lab"),
];

pub fn first_run_ui(
    ui: &mut Ui,
    state: &mut FirstRunState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let words = frame.words;
    let centre =
        CentralPanel::no_frame().frame(Area::new().inner_margin(Margin::same((4.0 * UNIT) as i8)));
    centre.show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let width = ui.available_width().min(130.0 * UNIT);
            let side = ((ui.available_width() - width) / 2.0).max(0.0);
            let above = ((ui.available_height() - 150.0 * UNIT) / 3.0).max(0.0);
            ui.add_space(above);
            ui.horizontal_top(|ui| {
                ui.add_space(side);
                ui.vertical(|ui| {
                    ui.set_width(width);
                    ui.label(theme::title("Replicascope").size(size::FIGURE));
                    ui.add(Label::new(theme::title(words.text("first.goal"))).wrap());
                    ui.add(Label::new(theme::dim(ui, words.text("first.promise"))).wrap());
                    ui.add_space(3.0 * UNIT);
                    remarks_ui(ui, words, &state.remarks);
                    lab_card_ui(ui, frame, out);
                    ui.add_space(2.0 * UNIT);
                    Card::new().show(ui, |ui| card_ui(ui, state, frame, out));
                    ui.add_space(2.0 * UNIT);
                    import_part_ui(ui, state, frame, out);
                });
            });
        });
    });
}

/// The first and most visible offer: something to look at within a second, without a server.
fn lab_card_ui(ui: &mut Ui, frame: &Frame<'_>, out: &mut Vec<Action>) {
    let words = frame.words;
    let edge = Edge::Left(theme::palette(ui).accent);
    Card::new().edge(edge).show(ui, |ui| {
        ui.label(theme::strong(words.text("first.lab")));
        ui.add(Label::new(theme::dim(ui, words.text("first.lab.text"))).wrap());
        ui.add_space(2.0 * UNIT);
        ui.horizontal(|ui| {
            if big_button_ui(ui, words.text("lab_screen.start")) {
                out.push(Action::StartLab {
                    plan: LabPlan::default(),
                    program: None,
                });
            }
            if quiet_button_ui(ui, words.text("first.lab.choose")).clicked() {
                out.push(Action::ChooseLab);
            }
        });
    });
}

fn import_part_ui(
    ui: &mut Ui,
    state: &mut FirstRunState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    if quiet_button_ui(ui, frame.words.text("first.import")).clicked() {
        state.import = match state.import.take() {
            Some(_) => None,
            None => Some(Transfer::default()),
        };
    }
    let FirstRunState {
        import,
        choosing,
        unchosen,
        ..
    } = state;
    if let Some(transfer) = import {
        import_ui(ui, transfer, choosing, unchosen.as_ref(), frame, out);
    }
}

fn card_ui(ui: &mut Ui, state: &mut FirstRunState, frame: &Frame<'_>, out: &mut Vec<Action>) {
    let words = frame.words;
    ui.label(theme::strong(words.text("first.add")));
    ui.add(Label::new(theme::dim(ui, words.text("first.add.text"))).wrap());
    ui.add_space(2.0 * UNIT);
    let target = state.target();
    let width = (ui.available_width() - 45.0 * UNIT).clamp(40.0 * UNIT, 80.0 * UNIT);
    let mut entered = false;
    let fields = Grid::new("first run")
        .num_columns(2)
        .spacing([3.0 * UNIT, 2.0 * UNIT]);
    fields.show(ui, |ui| {
        let row = |ui: &mut Ui, key: &'static str| ui.label(theme::dim(ui, words.text(key))).id;
        let label = row(ui, "first.address");
        let field = TextEdit::singleline(&mut state.address)
            .hint_text(words.text("form.address.hint").to_owned())
            .desired_width(width);
        let field = ui.add(field).labelled_by(label);
        entered |= enter(ui, &field);
        ui.end_row();
        let label = row(ui, "form.user");
        let field = TextEdit::singleline(&mut state.user)
            .hint_text(words.text("form.user.hint").to_owned())
            .desired_width(width);
        let field = ui.add(field).labelled_by(label);
        entered |= enter(ui, &field);
        ui.end_row();
        let label = row(ui, "form.password");
        let field = state
            .password
            .field_ui(ui, Id::unique("first password"), width);
        entered |= enter(ui, &field.labelled_by(label));
        ui.end_row();
        row(ui, "form.environment");
        let environment = &mut state.environment;
        let (choice, _) = choice_ui(
            ui,
            words,
            "first environment",
            width,
            environment,
            &ENVIRONMENTS,
        );
        named(choice, words.text("form.environment"));
        ui.end_row();
    });
    let note = match &state.keychain {
        Keychain::Unavailable(why) => words.say(why),
        _ => words.text("form.password.to_keychain").to_owned(),
    };
    ui.add(Label::new(theme::note(ui, note)).wrap());
    if let Some(Err(problem)) = &target {
        sign_word_ui(ui, Sign::Critical, words.say(problem));
    }
    if let Some(why) = &state.not_saved {
        sign_word_ui(ui, Sign::Critical, words.say(why));
    }
    ui.add_space(2.0 * UNIT);
    let ready = target
        .and_then(Result::ok)
        .filter(|t| !state.user(t).is_empty());
    let pressed = ui.add_enabled_ui(ready.is_some(), |ui| {
        // the lab's button is the primary one here
        ui.button(words.text("first.watch")).clicked()
    });
    if let (Some(target), true) = (ready, pressed.inner || entered) {
        watch(state, &target, frame, out);
    }
}

fn enter(ui: &Ui, field: &eframe::egui::Response) -> bool {
    field.lost_focus() && ui.input(|input| input.key_pressed(eframe::egui::Key::Enter))
}

fn watch(state: &mut FirstRunState, target: &Target, frame: &Frame<'_>, out: &mut Vec<Action>) {
    state.not_saved = None;
    let profile = state.profile(target, frame);
    let topology = profile.id.clone();
    if let Some(secret) = state.password.take() {
        out.push(Action::KeepPassword {
            key: SecretKey {
                topology: topology.clone(),
                owner: SecretOwner::Topology,
            },
            secret,
            in_keychain: true,
        });
    }
    out.push(Action::SaveProfile(profile));
    out.push(Action::Open(topology));
}
