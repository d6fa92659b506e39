//! The profiles: a list of topologies left, and right the one being edited, an import or an export.
//!
//! Only what is right in every field can be saved; what is wrong is said beside its field. What was typed and is not
//! saved is never lost without asking: not by choosing another topology, not by a change of the file from outside.

mod access;
mod draft;
mod fields;
mod form;
mod found;
mod limits;
mod list;
mod news;
mod questions;
mod report;
mod servers;
mod transfer;
mod typed;

use std::collections::BTreeMap;

use eframe::egui::{CentralPanel, Frame as Area, Margin, Panel, ScrollArea, Ui};

pub use draft::{Draft, Elsewhere, HeartbeatPreset, empty_account, fresh_id};
pub use fields::{checkbox_ui, choice_ui, label_ui, named};
pub use found::{FoundData, FoundLine, found_ui};
pub use news::{
    Kept, Keychain, News, PasswordQuestion, Places, QuestionReport, Remark, SaveTrouble,
    TestOutcome, TestReport,
};
pub use questions::question_modal;
pub use report::{ServerTest, TestState};
pub use transfer::{Transfer, import_ui, remarks_ui};
pub use typed::TypedPassword;

use crate::model::lab::is_lab_topology;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{Environment, SecretKey, TopologyId, TopologyProfile};
use crate::ui::Frame;
use crate::ui::action::{Action, FilePurpose};
use crate::ui::theme::UNIT;
use crate::ui::widgets::{Sign, empty_ui, notice_ui};
use form::{FormInput, form_ui};
use list::{ListInput, list_ui};
use questions::{Answer, Asked, asked_ui};
use report::AccountSqlState;
use transfer::export_ui;

/// What the list shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfilesData {
    pub lines: Vec<ProfileLine>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProfileLine {
    pub id: TopologyId,
    pub name: String,
    pub environment: Environment,
    /// "3 servers · watched".
    pub summary: String,
    /// What the filter looks at: names, hosts and environment, in lower case.
    searched: String,
}

impl ProfilesData {
    pub fn new(frame: &Frame<'_>) -> Self {
        let lines = frame
            .profiles
            .iter()
            // a lab's is not the person's to edit, and gone with the lab
            .filter(|profile| !is_lab_topology(&profile.id))
            .map(|profile| ProfileLine::new(profile, frame));
        ProfilesData {
            lines: lines.collect(),
        }
    }
}

impl ProfileLine {
    fn new(profile: &TopologyProfile, frame: &Frame<'_>) -> Self {
        let words = frame.words;
        let servers = phrase("profiles.servers").with("n", profile.servers.len() as u64);
        let mut summary = words.say(&servers);
        if frame.store.servers_of(&profile.id).next().is_some() {
            summary = format!("{summary} · {}", words.text("profiles.watched"));
        }
        let mut searched = format!(
            "{} {}",
            profile.name,
            words.environment(profile.environment)
        );
        for server in &profile.servers {
            searched.push_str(&format!(" {} {}", server.name, server.address));
        }
        ProfileLine {
            id: profile.id.clone(),
            name: profile.name.clone(),
            environment: profile.environment,
            summary,
            searched: searched.to_lowercase(),
        }
    }

    /// Every word of the filter is somewhere in it.
    fn matches(&self, filter: &str) -> bool {
        let filter = filter.to_lowercase();
        filter
            .split_whitespace()
            .all(|word| self.searched.contains(word))
    }
}

/// What the person is doing here, and what the forms have heard.
#[derive(Debug, Default)]
pub struct ProfilesState {
    filter: String,
    pane: Pane,
    /// A question that must be answered before anything else.
    asked: Option<Asked>,
    heard: Heard,
    /// Told when the files were read; stays until put away.
    remarks: Vec<Remark>,
}

#[derive(Debug, Default)]
enum Pane {
    #[default]
    Nothing,
    Form(Box<Editing>),
    Import(Transfer),
    Export(Transfer),
}

/// A topology being edited.
#[derive(Debug)]
pub struct Editing {
    draft: Draft,
    elsewhere: Elsewhere,
    tests: Vec<ServerTest>,
    account_sql: AccountSqlState,
    /// Found replicas the person does not want.
    dismissed: Vec<String>,
    /// A new form: its name is typed first.
    awaits_name: bool,
}

/// What came back from outside.
#[derive(Debug, Default)]
pub struct Heard {
    keychain: Keychain,
    kept: BTreeMap<SecretKey, Kept>,
    choosing: Option<FilePurpose>,
    unchosen: Option<FilePurpose>,
    is_saving: bool,
    conflict: Option<Phrase>,
    not_saved: Option<Phrase>,
}

impl Editing {
    fn new(draft: Draft) -> Box<Self> {
        Box::new(Editing {
            draft,
            elsewhere: Elsewhere::Same,
            tests: Vec::new(),
            account_sql: AccountSqlState::default(),
            dismissed: Vec::new(),
            awaits_name: false,
        })
    }

    fn of_new(draft: Draft) -> Box<Self> {
        let mut editing = Self::new(draft);
        editing.awaits_name = true;
        editing
    }

    fn is_testing(&self) -> bool {
        self.tests
            .iter()
            .any(|test| test.state == TestState::Running)
    }
}

impl ProfilesState {
    /// Opens the form of this topology, as from a menu elsewhere; asks first if another would lose what was typed.
    pub fn edit(&mut self, id: TopologyId, frame: &Frame<'_>) {
        self.go(ListInput::Edit(id), frame);
    }

    pub fn add(&mut self, frame: &Frame<'_>) {
        self.go(ListInput::Add, frame);
    }

    /// The name of what would be lost by quitting now.
    pub fn unsaved(&self) -> Option<&str> {
        match &self.pane {
            Pane::Form(editing) if editing.draft.is_dirty() && !editing.draft.is_untouched() => {
                Some(&editing.draft.profile.name)
            }
            _ => None,
        }
    }

    pub fn hear(&mut self, news: &News) {
        let heard = &mut self.heard;
        match news {
            News::Saved { .. } => {
                heard.is_saving = false;
                (heard.conflict, heard.not_saved) = (None, None);
            }
            News::NotSaved { why, cause } => {
                heard.is_saving = false;
                match cause {
                    SaveTrouble::Conflict => heard.conflict = Some(why.clone()),
                    SaveTrouble::Other => heard.not_saved = Some(why.clone()),
                }
            }
            News::Reloaded => heard.conflict = None,
            News::Keychain(keychain) => heard.keychain = keychain.clone(),
            News::PasswordKept { key, kept } => {
                heard.kept.insert(key.clone(), kept.clone());
            }
            News::Remarks(remarks) => self.remarks.extend(remarks.iter().cloned()),
            News::FileChosen { purpose, path } => {
                heard.choosing = None;
                heard.unchosen = path.is_none().then(|| purpose.clone());
                if let Some(path) = path {
                    self.take_file(purpose, path);
                }
            }
            _ => self.hear_in_pane(news),
        }
    }

    fn hear_in_pane(&mut self, news: &News) {
        match (&mut self.pane, news) {
            (
                Pane::Form(editing),
                News::Tested {
                    topology,
                    server,
                    outcome,
                },
            ) => {
                let is_it = |t: &&mut ServerTest| &t.server == server;
                let ours = editing.draft.profile.id == *topology;
                if let Some(test) = editing.tests.iter_mut().filter(|_| ours).find(is_it) {
                    test.state = TestState::Done(outcome.clone());
                }
            }
            (Pane::Form(editing), News::AccountSql(sql)) => editing.account_sql.sql = sql.clone(),
            (Pane::Import(transfer), News::Imported { names, remarks }) => {
                let text = phrase("import.done").with("n", names.len() as u64);
                transfer.end(
                    Sign::Ok,
                    text.with("names", names.join(", ")),
                    remarks.clone(),
                );
            }
            (Pane::Import(transfer), News::NotImported(why))
            | (Pane::Export(transfer), News::NotExported(why)) => {
                transfer.end(Sign::Critical, why.clone(), Vec::new());
            }
            (Pane::Export(transfer), News::Exported { to, count }) => {
                let text = phrase("export.done").with("n", *count);
                transfer.end(
                    Sign::Ok,
                    text.with("path", to.display().to_string()),
                    Vec::new(),
                );
            }
            _ => {}
        }
    }

    fn take_file(&mut self, purpose: &FilePurpose, path: &std::path::Path) {
        let shown = path.display().to_string();
        match (&mut self.pane, purpose) {
            (Pane::Import(transfer), FilePurpose::Import)
            | (Pane::Export(transfer), FilePurpose::Export(_)) => transfer.path = shown,
            (Pane::Form(editing), FilePurpose::Field(field)) => {
                editing.draft.take_path(field, path.to_owned());
            }
            _ => {}
        }
    }

    fn selected(&self) -> Option<&TopologyId> {
        match &self.pane {
            Pane::Form(editing) if !editing.draft.is_new() => Some(&editing.draft.profile.id),
            _ => None,
        }
    }

    /// Goes there, or asks first if that would lose what was typed.
    fn go(&mut self, to: ListInput, frame: &Frame<'_>) {
        if matches!(&to, ListInput::Edit(id) if self.selected() == Some(id)) {
            return;
        }
        match self.unsaved() {
            Some(name) => {
                let name = name.to_owned();
                self.asked = Some(Asked::Unsaved { name, to });
            }
            None => self.open(to, frame),
        }
    }

    fn open(&mut self, to: ListInput, frame: &Frame<'_>) {
        let heard = &mut self.heard;
        (heard.conflict, heard.not_saved, heard.unchosen) = (None, None, None);
        self.pane = match to {
            ListInput::Add => Pane::Form(Editing::of_new(Draft::fresh(frame.now))),
            ListInput::Import => Pane::Import(Transfer::default()),
            ListInput::Export => Pane::Export(Transfer {
                chosen: frame.profiles.iter().map(|p| p.id.clone()).collect(),
                ..Transfer::default()
            }),
            ListInput::Edit(id) => match frame.profiles.iter().find(|p| p.id == id) {
                Some(profile) => Pane::Form(Editing::new(Draft::of(profile.clone()))),
                None => Pane::Nothing,
            },
        };
    }
}

const LIST: f32 = 54.0 * UNIT;

/// Draws the screen; what the person wants done outside goes to `out`.
pub fn profiles_ui(
    ui: &mut Ui,
    data: &ProfilesData,
    state: &mut ProfilesState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let margin = Margin::same((3.0 * UNIT) as i8);
    let mut went = None;
    if !data.lines.is_empty() || !matches!(state.pane, Pane::Nothing) {
        let list = Panel::left("profiles list")
            .exact_size(LIST)
            .resizable(false);
        let selected = state.selected().cloned();
        list.frame(Area::new().inner_margin(margin)).show(ui, |ui| {
            went = list_ui(ui, data, &mut state.filter, selected.as_ref(), frame);
        });
    }
    let centre = CentralPanel::no_frame().frame(Area::new().inner_margin(margin));
    centre.show(ui, |ui| {
        remarks_part_ui(ui, state, frame);
        if let Some(to) = pane_ui(ui, data, state, frame, out) {
            went = Some(to);
        }
    });
    if let Some(to) = went {
        state.go(to, frame);
    }
    questions_ui(ui, state, frame, out);
}

fn remarks_part_ui(ui: &mut Ui, state: &mut ProfilesState, frame: &Frame<'_>) {
    let words = frame.words;
    let mut put_away = None;
    for (n, remark) in state.remarks.iter().enumerate() {
        let sign = if remark.is_warning {
            Sign::Warning
        } else {
            Sign::Ok
        };
        let text = words.say(&remark.text);
        if notice_ui(ui, sign, &text, Some(words.text("form.put_away"))) {
            put_away = Some(n);
        }
    }
    if let Some(n) = put_away {
        state.remarks.remove(n);
    }
}

fn pane_ui(
    ui: &mut Ui,
    data: &ProfilesData,
    state: &mut ProfilesState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) -> Option<ListInput> {
    let words = frame.words;
    let Heard {
        choosing, unchosen, ..
    } = &mut state.heard;
    match &mut state.pane {
        Pane::Nothing if data.lines.is_empty() => {
            let (title, text) = ("profiles.empty.title", "profiles.empty.text");
            let add = words.text("profiles.empty.add");
            let pressed = empty_ui(ui, words.text(title), words.text(text), Some(add));
            return pressed.then_some(ListInput::Add);
        }
        Pane::Nothing => {
            empty_ui(
                ui,
                words.text("profiles.choose.title"),
                words.text("profiles.choose.text"),
                None,
            );
        }
        Pane::Import(transfer) => {
            ScrollArea::vertical().show(ui, |ui| {
                import_ui(ui, transfer, choosing, unchosen.as_ref(), frame, out);
            });
        }
        Pane::Export(transfer) => {
            ScrollArea::vertical().show(ui, |ui| {
                export_ui(ui, data, transfer, choosing, unchosen.as_ref(), frame, out);
            });
        }
        Pane::Form(editing) => {
            let saved = frame
                .profiles
                .iter()
                .find(|p| p.id == editing.draft.profile.id);
            editing.elsewhere = editing.draft.meet(saved);
            let found = FoundData::new(frame, &editing.draft.profile.id);
            let input = form_ui(ui, editing, &mut state.heard, &found, frame, out);
            if let Some(input) = input {
                state.act(input, frame, out);
            }
        }
    }
    None
}

impl ProfilesState {
    fn act(&mut self, input: FormInput, frame: &Frame<'_>, out: &mut Vec<Action>) {
        let Pane::Form(editing) = &mut self.pane else {
            return;
        };
        let draft = &mut editing.draft;
        let saved = frame.profiles.iter().find(|p| p.id == draft.profile.id);
        match input {
            FormInput::Save => {
                self.heard.is_saving = true;
                draft.save(out);
            }
            FormInput::SaveOver => {
                // a conflict on disk must be told to whoever writes; one in the form only is settled here
                if self.heard.conflict.take().is_some() {
                    self.heard.is_saving = true;
                    out.push(Action::SaveOverChanges(draft.profile.clone()));
                }
                draft.keep_ours(saved);
            }
            FormInput::Reload => {
                if self.heard.conflict.take().is_some() {
                    out.push(Action::ReloadProfiles);
                }
                if let Some(saved) = saved {
                    *draft = Draft::of(saved.clone());
                }
            }
            FormInput::Revert => {
                if let Some(saved) = saved {
                    *draft = Draft::of(saved.clone());
                }
            }
            FormInput::Test => {
                editing.tests = running_tests(&draft.profile);
                draft.test(out);
            }
            FormInput::Duplicate => {
                let copy = phrase("form.copy_of").with("name", draft.profile.name.as_str());
                let name = frame.words.say(&copy);
                let copy = Draft::duplicate(&draft.profile, name, frame.now);
                self.pane = Pane::Form(Editing::of_new(copy));
            }
            FormInput::Remove => {
                self.asked = Some(Asked::Remove {
                    id: draft.profile.id.clone(),
                    name: draft.profile.name.clone(),
                });
            }
        }
    }
}

fn running_tests(profile: &TopologyProfile) -> Vec<ServerTest> {
    let test = |server: &crate::model::profile::ServerProfile| ServerTest {
        server: server.id.clone(),
        label: server.label(),
        state: TestState::Running,
    };
    profile.servers.iter().map(test).collect()
}

fn questions_ui(ui: &mut Ui, state: &mut ProfilesState, frame: &Frame<'_>, out: &mut Vec<Action>) {
    let Some(asked) = &state.asked else { return };
    let can_save = match &state.pane {
        Pane::Form(editing) => editing.draft.problems().is_empty(),
        _ => false,
    };
    let Some(answer) = asked_ui(ui, asked, can_save, frame.words) else {
        return;
    };
    let Some(asked) = state.asked.take() else {
        return;
    };
    match (asked, answer) {
        (_, Answer::Back) => {}
        (Asked::Remove { id, .. }, _) => {
            state.pane = Pane::Nothing;
            out.push(Action::RemoveProfile(id));
        }
        (Asked::Unsaved { to, .. }, answer) => {
            if let (Pane::Form(editing), Answer::Save) = (&mut state.pane, answer) {
                editing.draft.save(out);
            }
            state.open(to, frame);
        }
    }
}
