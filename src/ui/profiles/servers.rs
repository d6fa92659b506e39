//! The servers of a topology: a line each, and unfolded under it what a server has of its own.

use eframe::egui::{Label, TextEdit, Ui, vec2};

use super::access::{PasswordPlace, account_ui, tls_ui};
use super::draft::{Draft, empty_account};
use super::fields::{Form, WIDE, checkbox_ui, choice_ui, field_id, field_width, named, remark_ui};
use super::limits::thresholds_ui;
use super::news::{Kept, Keychain};
use crate::model::profile::{
    ExpectedRole, FieldName, SecretKey, SecretOwner, ServerId, TlsSettings,
};
use crate::model::time::Moment;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, quiet_button_ui};

const ROLES: [(ExpectedRole, &str); 3] = [
    (ExpectedRole::Auto, "form.role.auto"),
    (ExpectedRole::Source, "form.role.source"),
    (ExpectedRole::Replica, "form.role.replica"),
];

const ROLE: f32 = 30.0 * UNIT;
/// The two buttons at the end of a line.
const BUTTONS: f32 = 44.0 * UNIT;

/// What the password fields of servers must know.
pub struct Passwords<'a> {
    pub keychain: &'a Keychain,
    pub kept: &'a dyn Fn(&SecretKey) -> Option<&'a Kept>,
}

pub fn servers_ui(
    ui: &mut Ui,
    form: &mut Form<'_>,
    draft: &mut Draft,
    passwords: &Passwords<'_>,
    now: Moment,
) {
    let ids: Vec<ServerId> = draft.profile.servers.iter().map(|s| s.id.clone()).collect();
    let (address, name, fits) = widths(ui);
    ui.horizontal(|ui| {
        let role = if fits { "form.role" } else { "" };
        for (key, width) in [
            ("form.address", address),
            ("form.server_name", name),
            (role, ROLE),
        ] {
            if key.is_empty() {
                continue;
            }
            let size = vec2(width, ui.text_style_height(&eframe::egui::TextStyle::Small));
            let text = theme::note(ui, form.text(key));
            ui.allocate_ui(size, |ui| {
                ui.set_min_width(width);
                ui.add(Label::new(text).truncate());
            });
        }
    });
    for id in &ids {
        line_ui(ui, form, draft, id);
        if draft.unfolded.contains(id) {
            Card::new().show(ui, |ui| own_ui(ui, form, draft, id, passwords));
        }
    }
    if let Some(problem) = form.problem(FieldName::Servers) {
        remark_ui(ui, form.words, problem);
    }
    ui.add_space(UNIT);
    if ui.button(form.text("form.add_server")).clicked() {
        let id = draft.add_server(now);
        let field = field_id(Some(&id), FieldName::Host);
        ui.memory_mut(|memory| memory.request_focus(field));
    }
}

/// Of address and name, and whether role and buttons have room beside them.
fn widths(ui: &Ui) -> (f32, f32, bool) {
    let gaps = 4.0 * ui.spacing().item_spacing.x;
    let beside = ui.available_width() - ROLE - BUTTONS - gaps;
    let fits = beside >= 75.0 * UNIT;
    let rest = if fits {
        beside
    } else {
        ui.available_width() - gaps
    };
    let rest = rest.min(150.0 * UNIT);
    (rest * 0.6, rest * 0.4, fits)
}

fn line_ui(ui: &mut Ui, form: &mut Form<'_>, draft: &mut Draft, id: &ServerId) {
    let (address_width, name_width, fits) = widths(ui);
    let part = form.of_server(id);
    let mut remove = false;
    ui.horizontal(|ui| {
        address_ui(ui, &part, draft, id, address_width);
        name_ui(ui, &part, draft, id, name_width);
        if fits {
            remove = rest_ui(ui, &part, draft, id);
        }
    });
    if !fits {
        remove = ui.horizontal(|ui| rest_ui(ui, &part, draft, id)).inner;
    }
    for field in [
        FieldName::Host,
        FieldName::Port,
        FieldName::SocketPath,
        FieldName::Name,
    ] {
        // an address nobody typed yet needs no remark: the hint in the field says what goes there
        let is_blank = draft.addresses.get(id).is_some_and(String::is_empty);
        if let Some(problem) = part
            .problem(field)
            .filter(|_| !is_blank || field == FieldName::Name)
        {
            remark_ui(ui, part.words, problem);
        }
    }
    if remove {
        draft.remove_server(id);
    }
}

fn name_ui(ui: &mut Ui, form: &Form<'_>, draft: &mut Draft, id: &ServerId, width: f32) {
    let Some(server) = draft.profile.servers.iter_mut().find(|s| &s.id == id) else {
        return;
    };
    let field = TextEdit::singleline(&mut server.name)
        .id(form.id(FieldName::Name))
        .hint_text(form.text("form.server_name.hint").to_owned());
    let size = vec2(width, ui.spacing().interact_size.y);
    named(ui.add_sized(size, field), form.text("form.server_name"));
}

/// Role and buttons. True when the server is to be removed.
fn rest_ui(ui: &mut Ui, form: &Form<'_>, draft: &mut Draft, id: &ServerId) -> bool {
    if let Some(server) = draft.profile.servers.iter_mut().find(|s| &s.id == id) {
        let role = &mut server.role;
        let (choice, _) = choice_ui(ui, form.words, ("role", &id.0), ROLE, role, &ROLES);
        named(choice, form.text("form.role"));
    }
    let is_unfolded = draft.unfolded.contains(id);
    let own = form.text(if is_unfolded {
        "form.fold"
    } else {
        "form.unfold"
    });
    if quiet_button_ui(ui, own).clicked() && !draft.unfolded.remove(id) {
        draft.unfolded.insert(id.clone());
    }
    quiet_button_ui(ui, form.text("form.remove_server")).clicked()
}

fn address_ui(ui: &mut Ui, form: &Form<'_>, draft: &mut Draft, id: &ServerId, width: f32) {
    let text = draft.addresses.entry(id.clone()).or_default();
    let field = TextEdit::singleline(text)
        .id(form.id(FieldName::Host))
        .hint_text(form.text("form.address.hint").to_owned());
    let size = vec2(width, ui.spacing().interact_size.y);
    let response = named(ui.add_sized(size, field), form.text("form.address"));
    if response.changed() {
        draft.read_address(id);
    }
    if response.lost_focus() {
        draft.settle_address(id);
    }
}

/// What this server has instead of the topology's.
fn own_ui(
    ui: &mut Ui,
    form: &mut Form<'_>,
    draft: &mut Draft,
    id: &ServerId,
    passwords: &Passwords<'_>,
) {
    let key = draft.key(SecretOwner::Server(id.clone()));
    let is_saved = !draft.is_new();
    let shared = draft.profile.thresholds.clone();
    let typed = draft.passwords.entry(key.owner.clone()).or_default();
    let channels = draft.channels.entry(id.clone()).or_default();
    let Some(server) = draft.profile.servers.iter_mut().find(|s| &s.id == id) else {
        return;
    };
    let mut part = form.of_server(id);
    let form = &mut part;
    let mut own = server.account.is_some();
    if checkbox_ui(ui, &mut own, form.text("form.own_account")) {
        server.account = own.then(empty_account);
    }
    if let Some(account) = &mut server.account {
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
    tls_ui(ui, form, &mut server.tls, "form.tls.as_topology");
    if server.tls.is_none() {
        let why = TlsSettings::why_default_for(&server.address);
        if draft.profile.tls.is_none() && !draft.addresses.get(id).is_none_or(String::is_empty) {
            let why = form.words.say(&why);
            form.note_ui(ui, &why);
        }
    }
    let mut own = server.thresholds.is_some();
    if checkbox_ui(ui, &mut own, form.text("form.own_thresholds")) {
        server.thresholds = own.then_some(shared);
    }
    if let Some(thresholds) = &mut server.thresholds {
        thresholds_ui(ui, form, thresholds);
    }
    let changed = form.row_ui(ui, "form.channels", |form, ui, label| {
        let field = TextEdit::singleline(channels)
            .hint_text(form.text("form.channels.hint").to_owned())
            .desired_width(field_width(ui, WIDE));
        ui.add(field).labelled_by(label).changed()
    });
    form.note_ui(ui, form.text("form.channels.note"));
    if changed {
        draft.read_channels(id);
    }
}
