//! Who we are on a server and how the connection is protected: the same fields for a topology and for a server of its
//! own mind.

use std::path::PathBuf;

use eframe::egui::Ui;

use super::fields::{Form, WIDE, field_width};
use super::news::{Kept, Keychain};
use super::typed::TypedPassword;
use crate::model::phrase::phrase;
use crate::model::profile::{Account, FieldName, SecretKey, SecretSource, TlsMode, TlsSettings};
use crate::ui::action::Action;
use crate::ui::widgets::quiet_button_ui;

/// What the password field must know beyond the profile.
pub struct PasswordPlace<'a> {
    pub key: SecretKey,
    pub keychain: &'a Keychain,
    pub kept: Option<&'a Kept>,
    /// There may be one in the keychain to forget.
    pub is_saved: bool,
}

/// Where a password comes from, without the name that goes with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    Keychain,
    Ask,
    Env,
    File,
    NotNeeded,
}

const SOURCES: [(SourceKind, &str); 5] = [
    (SourceKind::Keychain, "form.secret.keychain"),
    (SourceKind::Ask, "form.secret.ask"),
    (SourceKind::Env, "form.secret.env"),
    (SourceKind::File, "form.secret.file"),
    (SourceKind::NotNeeded, "form.secret.not_needed"),
];

pub fn account_ui(
    ui: &mut Ui,
    form: &mut Form<'_>,
    account: &mut Account,
    typed: &mut TypedPassword,
    place: &PasswordPlace<'_>,
) {
    form.text_row_ui(
        ui,
        "form.user",
        FieldName::User,
        &mut account.user,
        "form.user.hint",
    );
    let mut kind = kind_of(&account.secret);
    if form.choice_row_ui(ui, "form.password_from", &mut kind, &SOURCES) {
        account.secret = source_of(kind);
    }
    match &mut account.secret {
        SecretSource::Env(name) => {
            form.text_row_ui(ui, "form.variable", FieldName::SecretEnv, name, "");
            form.note_ui(ui, form.text("form.secret.env.note"));
        }
        SecretSource::File(path) => {
            let mut chosen = Some(std::mem::take(path)).filter(|p| !p.as_os_str().is_empty());
            form.path_row_ui(ui, "form.password_file", FieldName::SecretFile, &mut chosen);
            *path = chosen.unwrap_or_default();
            form.note_ui(ui, form.text("form.secret.file.note"));
        }
        SecretSource::NotNeeded => form.note_ui(ui, form.text("form.secret.not_needed.note")),
        SecretSource::Keychain => password_ui(ui, form, typed, place, true),
        SecretSource::Ask => password_ui(ui, form, typed, place, false),
    }
}

fn kind_of(source: &SecretSource) -> SourceKind {
    match source {
        SecretSource::Keychain => SourceKind::Keychain,
        SecretSource::Ask => SourceKind::Ask,
        SecretSource::Env(_) => SourceKind::Env,
        SecretSource::File(_) => SourceKind::File,
        SecretSource::NotNeeded => SourceKind::NotNeeded,
    }
}

fn source_of(kind: SourceKind) -> SecretSource {
    match kind {
        SourceKind::Keychain => SecretSource::Keychain,
        SourceKind::Ask => SecretSource::Ask,
        SourceKind::Env => SecretSource::Env(String::new()),
        SourceKind::File => SecretSource::File(PathBuf::new()),
        SourceKind::NotNeeded => SecretSource::NotNeeded,
    }
}

/// The field, and where what is typed there goes.
fn password_ui(
    ui: &mut Ui,
    form: &mut Form<'_>,
    typed: &mut TypedPassword,
    place: &PasswordPlace<'_>,
    for_keychain: bool,
) {
    let id = eframe::egui::Id::unique(("password", place.key.entry_name()));
    form.row_ui(ui, "form.password", |form, ui, label| {
        let forget = place.is_saved && for_keychain && place.kept != Some(&Kept::Forgotten);
        let room = if forget {
            42.0 * crate::ui::theme::UNIT
        } else {
            0.0
        };
        let width = (field_width(ui, WIDE) - room).max(super::fields::NARROW);
        typed.field_ui(ui, id, width).labelled_by(label);
        if forget && quiet_button_ui(ui, form.text("form.password.forget")).clicked() {
            form.out.push(Action::ForgetPassword(place.key.clone()));
        }
    });
    let note = where_it_goes(form, place, for_keychain);
    form.note_ui(ui, &note);
}

fn where_it_goes(form: &Form<'_>, place: &PasswordPlace<'_>, for_keychain: bool) -> String {
    let text = |key| form.text(key).to_owned();
    match (place.kept, for_keychain, place.keychain) {
        (Some(Kept::InKeychain), ..) => text("form.password.in_keychain"),
        (Some(Kept::ThisSession(Some(why))), ..) => form
            .words
            .say(&phrase("form.password.session_only").with("why", why.clone())),
        (Some(Kept::Forgotten), ..) => text("form.password.forgotten"),
        (_, false, _) => text("form.password.asked"),
        (_, true, Keychain::Unavailable(why)) => form.words.say(why),
        (Some(Kept::ThisSession(None)), true, _) => text("form.password.session_until_saved"),
        (None, true, _) => text("form.password.to_keychain"),
    }
}

const TLS_MODES: [(Option<TlsMode>, &str); 4] = [
    (Some(TlsMode::Off), "form.tls.off"),
    (Some(TlsMode::Required), "form.tls.required"),
    (Some(TlsMode::VerifyCa), "form.tls.verify_ca"),
    (Some(TlsMode::VerifyIdentity), "form.tls.verify_identity"),
];

/// `unset` is what no choice means: "decided by the address", "as the topology".
pub fn tls_ui(
    ui: &mut Ui,
    form: &mut Form<'_>,
    tls: &mut Option<TlsSettings>,
    unset: &'static str,
) {
    let mut mode = tls.as_ref().map(|tls| tls.mode);
    let choices: Vec<_> = std::iter::once((None, unset)).chain(TLS_MODES).collect();
    if form.choice_row_ui(ui, "form.tls.mode", &mut mode, &choices) {
        *tls = mode.map(|mode| TlsSettings {
            mode,
            ..tls.clone().unwrap_or(TlsSettings::with_mode(mode))
        });
    }
    let Some(tls) = tls else { return };
    form.note_ui(ui, form.text(what_it_means(tls.mode)));
    if tls.mode == TlsMode::Off {
        form.path_row_ui(
            ui,
            "form.tls.server_key",
            FieldName::ServerPublicKey,
            &mut tls.server_public_key,
        );
        form.note_ui(ui, form.text("form.tls.server_key.note"));
        return;
    }
    if tls.mode != TlsMode::Required {
        form.path_row_ui(ui, "form.tls.ca", FieldName::Ca, &mut tls.ca);
        form.note_ui(ui, form.text("form.tls.ca.note"));
    }
    form.path_row_ui(
        ui,
        "form.tls.client_cert",
        FieldName::ClientCert,
        &mut tls.client_cert,
    );
    form.path_row_ui(
        ui,
        "form.tls.client_key",
        FieldName::ClientKey,
        &mut tls.client_key,
    );
}

fn what_it_means(mode: TlsMode) -> &'static str {
    match mode {
        TlsMode::Off => "form.tls.off.note",
        TlsMode::Required => "form.tls.required.note",
        TlsMode::VerifyCa => "form.tls.verify_ca.note",
        TlsMode::VerifyIdentity => "form.tls.verify_identity.note",
    }
}
