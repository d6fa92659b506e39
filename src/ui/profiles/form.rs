//! One topology being edited: what can be done with it on top, its fields below.

use eframe::egui::{Button, Label, RichText, ScrollArea, Ui};

use super::access::{PasswordPlace, account_ui, tls_ui};
use super::draft::{Draft, Elsewhere, empty_account};
use super::fields::{Form, checkbox_ui};
use super::found::{FoundData, found_ui};
use super::limits::{heartbeat_ui, intervals_ui, thresholds_ui};
use super::report::{account_sql_ui, tests_ui};
use super::servers::{Passwords, servers_ui};
use super::{Editing, Heard};
use crate::model::phrase::phrase;
use crate::model::profile::{Environment, FieldName, FieldProblem, SecretOwner};
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::fonts;
use crate::ui::theme::{self, UNIT, size};
use crate::ui::widgets::{
    Card, Sign, environment_badge_ui, notice_ui, quiet_button_ui, sign_word_ui,
};

/// What the person wants done with the whole of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormInput {
    Save,
    SaveOver,
    Reload,
    Revert,
    Test,
    Duplicate,
    Remove,
}

const ENVIRONMENTS: [(Environment, &str); 4] = [
    (Environment::Production, "environment.production"),
    (Environment::Staging, "environment.staging"),
    (Environment::Development, "environment.development"),
    (Environment::Lab, "environment.lab"),
];

pub fn form_ui(
    ui: &mut Ui,
    editing: &mut Editing,
    heard: &mut Heard,
    found: &FoundData,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) -> Option<FormInput> {
    let problems = editing.draft.problems();
    let mut input = head_ui(ui, editing, heard, &problems, frame);
    ui.separator();
    ScrollArea::vertical()
        .id_salt(&editing.draft.profile.id.0)
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.5 * UNIT;
            found_ui(ui, found, &mut editing.dismissed, frame, out);
            if !editing.tests.is_empty() {
                section_ui(ui, frame.words.text("test.title"), |ui| {
                    tests_ui(ui, frame.words, &editing.tests);
                });
            }
            sections_ui(ui, editing, heard, &problems, frame, out);
            if !editing.draft.is_new() && danger_ui(ui, frame) {
                input = Some(FormInput::Remove);
            }
            ui.add_space(4.0 * UNIT);
        });
    input
}

/// Name, environment, the buttons, and why Save cannot be pressed.
fn head_ui(
    ui: &mut Ui,
    editing: &Editing,
    heard: &Heard,
    problems: &[FieldProblem],
    frame: &Frame<'_>,
) -> Option<FormInput> {
    let words = frame.words;
    let draft = &editing.draft;
    let mut input = None;
    ui.horizontal_wrapped(|ui| {
        let name = match draft.profile.name.trim() {
            "" => words.text("form.new"),
            name => name,
        };
        ui.label(theme::title(name));
        environment_badge_ui(ui, words, draft.profile.environment);
        if draft.is_dirty() && !draft.is_untouched() {
            ui.label(theme::note(ui, words.text("form.unsaved")));
        }
    });
    ui.horizontal_wrapped(|ui| {
        let can_save = problems.is_empty() && draft.is_dirty() && !heard.is_saving;
        if save_button_ui(ui, words.text("form.save"), can_save) {
            input = Some(FormInput::Save);
        }
        let button = |ui: &mut Ui, key, enabled| {
            ui.add_enabled(enabled, Button::new(words.text(key)))
                .clicked()
        };
        if button(
            ui,
            "form.test",
            problems.is_empty() && !editing.is_testing(),
        ) {
            input = Some(FormInput::Test);
        }
        if button(ui, "form.revert", draft.is_dirty() && !draft.is_new()) {
            input = Some(FormInput::Revert);
        }
        if button(ui, "form.duplicate", !draft.is_new()) {
            input = Some(FormInput::Duplicate);
        }
    });
    if let Some(first) = problems.first() {
        why_not_ui(ui, draft, first, problems.len(), frame);
    }
    elsewhere_ui(ui, editing.elsewhere, heard, frame).or(input)
}

/// The reason in a line: how many things are to fix, and the first of them with where it is.
fn why_not_ui(ui: &mut Ui, draft: &Draft, first: &FieldProblem, count: usize, frame: &Frame<'_>) {
    let words = frame.words;
    let server = first
        .field
        .server
        .as_ref()
        .and_then(|id| draft.profile.server(id));
    let text = phrase("form.cannot_save")
        .with("n", count as u64)
        .with("first", words.say(&first.problem));
    let mut text = words.say(&text);
    if let Some(typed) = server
        .and_then(|s| draft.addresses.get(&s.id))
        .filter(|t| !t.is_empty())
    {
        text = format!("{typed}: {text}");
    }
    let label = RichText::new(text)
        .size(size::SMALL)
        .color(theme::palette(ui).dim);
    ui.add(Label::new(label).wrap());
}

fn save_button_ui(ui: &mut Ui, text: &str, enabled: bool) -> bool {
    let palette = theme::palette(ui);
    if !enabled {
        ui.add_enabled(false, Button::new(text));
        return false;
    }
    let text = RichText::new(text)
        .font(fonts::semibold(size::BODY))
        .color(palette.on_accent);
    ui.add(Button::new(text).fill(palette.accent)).clicked()
}

/// What somebody else did meanwhile, and what can be done about it.
fn elsewhere_ui(
    ui: &mut Ui,
    elsewhere: Elsewhere,
    heard: &Heard,
    frame: &Frame<'_>,
) -> Option<FormInput> {
    let words = frame.words;
    let mut input = None;
    let mut choose = |ui: &mut Ui, text: &str| {
        notice_ui(ui, Sign::Warning, text, None);
        ui.horizontal(|ui| {
            if quiet_button_ui(ui, words.text("form.conflict.theirs")).clicked() {
                input = Some(FormInput::Reload);
            }
            if quiet_button_ui(ui, words.text("form.conflict.ours")).clicked() {
                input = Some(FormInput::SaveOver);
            }
        });
    };
    match (&heard.conflict, elsewhere) {
        (Some(why), _) => choose(ui, &words.say(why)),
        (None, Elsewhere::Changed) => choose(ui, words.text("form.changed_elsewhere")),
        (None, Elsewhere::Removed) => {
            notice_ui(
                ui,
                Sign::Warning,
                words.text("form.removed_elsewhere"),
                None,
            );
        }
        (None, Elsewhere::Same) => {}
    }
    if let Some(why) = &heard.not_saved {
        sign_word_ui(ui, Sign::Critical, words.say(why));
    }
    input
}

pub fn section_ui(ui: &mut Ui, title: &str, content: impl FnOnce(&mut Ui)) {
    ui.add_space(UNIT);
    ui.label(theme::strong(title));
    Card::new().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = UNIT;
        content(ui);
    });
}

fn sections_ui(
    ui: &mut Ui,
    editing: &mut Editing,
    heard: &mut Heard,
    problems: &[FieldProblem],
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let words = frame.words;
    let Heard {
        choosing,
        unchosen,
        keychain,
        kept,
        ..
    } = heard;
    let mut form = Form {
        words,
        problems,
        server: None,
        out,
        choosing,
        unchosen: unchosen.as_ref(),
    };
    let Editing {
        draft,
        account_sql,
        awaits_name,
        ..
    } = editing;
    let passwords = Passwords {
        keychain,
        kept: &|key| kept.get(key),
    };
    section_ui(ui, words.text("form.section.topology"), |ui| {
        let name = &mut draft.profile.name;
        let field = form.text_row_ui(ui, "form.name", FieldName::Name, name, "form.name.hint");
        if std::mem::take(awaits_name) {
            field.request_focus();
        }
        let environment = &mut draft.profile.environment;
        form.choice_row_ui(ui, "form.environment", environment, &ENVIRONMENTS);
        if draft.profile.environment.guards_writes() {
            form.note_ui(ui, words.text("form.environment.production.note"));
        }
    });
    section_ui(ui, words.text("form.section.servers"), |ui| {
        servers_ui(ui, &mut form, draft, &passwords, frame.now);
    });
    section_ui(ui, words.text("form.section.account"), |ui| {
        shared_account_ui(ui, &mut form, draft, &passwords);
        let user = draft
            .profile
            .account
            .as_ref()
            .map_or("", |a| a.user.as_str());
        let heartbeat = draft.profile.heartbeat.as_ref();
        ui.separator();
        account_sql_ui(ui, words, account_sql, user, heartbeat, form.out);
    });
    section_ui(ui, words.text("form.section.tls"), |ui| {
        tls_ui(ui, &mut form, &mut draft.profile.tls, "form.tls.by_address");
        if draft.profile.tls.is_none() {
            form.note_ui(ui, words.text("form.tls.by_address.note"));
        }
    });
    section_ui(ui, words.text("form.section.thresholds"), |ui| {
        thresholds_ui(ui, &mut form, &mut draft.profile.thresholds);
    });
    section_ui(ui, words.text("form.section.intervals"), |ui| {
        intervals_ui(ui, &mut form, &mut draft.profile.intervals);
    });
    section_ui(ui, words.text("form.section.heartbeat"), |ui| {
        heartbeat_ui(
            ui,
            &mut form,
            &mut draft.preset,
            &mut draft.profile.heartbeat,
        );
    });
}

fn shared_account_ui(
    ui: &mut Ui,
    form: &mut Form<'_>,
    draft: &mut Draft,
    passwords: &Passwords<'_>,
) {
    let key = draft.key(SecretOwner::Topology);
    let is_saved = !draft.is_new();
    let mut shared = draft.profile.account.is_some();
    if checkbox_ui(ui, &mut shared, form.text("form.shared_account")) {
        draft.profile.account = shared.then(empty_account);
    }
    let typed = draft.passwords.entry(SecretOwner::Topology).or_default();
    if let Some(account) = &mut draft.profile.account {
        let kept = (passwords.kept)(&key);
        let keychain = passwords.keychain;
        let place = PasswordPlace {
            key,
            keychain,
            kept,
            is_saved,
        };
        account_ui(ui, form, account, typed, &place);
    }
}

/// True when it is to be removed; that is asked again.
fn danger_ui(ui: &mut Ui, frame: &Frame<'_>) -> bool {
    ui.add_space(2.0 * UNIT);
    let text = RichText::new(frame.words.text("form.remove")).color(theme::palette(ui).critical);
    ui.button(text).clicked()
}
