//! The forms as a person meets them: by the names of their fields and buttons, and as pictures in both themes and both
//! languages. The harness fails on a character no font has and on a field without a name.

mod support;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use replicascope::model::phrase::phrase;
use replicascope::model::preferences::{LanguageChoice, Preferences, ThemeChoice};
use replicascope::model::profile::*;
use replicascope::store::Store;
use replicascope::ui::Frame;
use replicascope::ui::action::{Action, FilePurpose};
use replicascope::ui::first_run::{FirstRunState, first_run_ui};
use replicascope::ui::password::{PasswordState, password_ui};
use replicascope::ui::preferences::{PreferencesData, PreferencesState, preferences_ui};
use replicascope::ui::profiles::*;
use replicascope::words::{Catalogue, Language};
use support::fixtures_forms::{NOW, billing, half_allowed, orders, store_watching, wrong_password};
use support::screen::{WIDE, is_disabled, keep, look, open, press, side_by_side};

/// What the tree and the bars leave of a window of 1024 × 640.
const SMALL: Vec2 = vec2(792.0, 560.0);

#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Profiles,
    Settings,
    FirstRun,
}

/// The part of the window around the screens that these tests need.
struct Desk {
    shown: Shown,
    language: Language,
    store: Store,
    profiles: Vec<TopologyProfile>,
    preferences: Preferences,
    forms: ProfilesState,
    settings: PreferencesState,
    first: FirstRunState,
    password: PasswordState,
    actions: Vec<Action>,
}

impl Desk {
    fn new(shown: Shown, profiles: Vec<TopologyProfile>) -> Self {
        let store = profiles.first().map_or_else(Store::default, store_watching);
        Desk {
            shown,
            language: Language::English,
            store,
            profiles,
            preferences: Preferences::default(),
            forms: ProfilesState::default(),
            settings: PreferencesState::default(),
            first: FirstRunState::default(),
            password: PasswordState::default(),
            actions: Vec::new(),
        }
    }

    fn hear(&mut self, news: News) {
        self.forms.hear(&news);
        self.settings.hear(&news);
        self.first.hear(&news);
        self.password.hear(&news);
    }

    fn saved(&self) -> Option<&TopologyProfile> {
        self.actions.iter().find_map(|action| match action {
            Action::SaveProfile(profile) => Some(profile),
            _ => None,
        })
    }
}

fn desk_ui(ui: &mut Ui, desk: &mut Desk) {
    let frame = Frame {
        store: &desk.store,
        now: NOW,
        words: Catalogue::of(desk.language),
        profiles: &desk.profiles,
        preferences: &desk.preferences,
        topology: None,
        server: None,
    };
    let out = &mut desk.actions;
    match desk.shown {
        Shown::Profiles => {
            let data = ProfilesData::new(&frame);
            profiles_ui(ui, &data, &mut desk.forms, &frame, out);
        }
        Shown::Settings => {
            let data = PreferencesData::new(&frame);
            preferences_ui(ui, &data, &mut desk.settings, &frame, out);
        }
        Shown::FirstRun => first_run_ui(ui, &mut desk.first, &frame, out),
    }
    password_ui(ui, &mut desk.password, &frame, out);
}

type Window = Harness<'static, Desk>;

fn window(desk: Desk, theme: Theme, size: Vec2) -> Window {
    open(desk_ui, desk, size, theme)
}

fn dark(shown: Shown, profiles: Vec<TopologyProfile>) -> Window {
    window(Desk::new(shown, profiles), Theme::Dark, WIDE)
}

/// A window tall enough to show all of a form.
fn tall(profiles: Vec<TopologyProfile>) -> Window {
    window(
        Desk::new(Shown::Profiles, profiles),
        Theme::Dark,
        vec2(1280.0, 3000.0),
    )
}

fn type_into(window: &mut Window, role: Role, label: &str, text: &str) {
    window.get_by_role_and_label(role, label).focus();
    window.run_steps(2);
    window.get_by_role_and_label(role, label).type_text(text);
    window.run_steps(2);
}

// --- profiles --------------------------------------------------------------------------------------------------------

#[test]
fn without_a_topology_the_screen_offers_the_first_one() {
    let mut window = dark(Shown::Profiles, Vec::new());
    press(&mut window, "Add a topology");
    window.get_by_label("New topology");
    assert!(is_disabled(&window, "Save"));
}

#[test]
fn a_new_topology_waits_for_its_name() {
    let mut window = dark(Shown::Profiles, vec![orders()]);
    press(&mut window, "Add");
    window.run_steps(2);
    let focused = window.get_by(|node| node.is_focused());
    let name = window.get_by_role_and_label(Role::TextInput, "Name");
    assert_eq!(focused.rect(), name.rect());
}

#[test]
fn a_new_topology_is_typed_and_saved_with_its_password_apart() {
    let mut window = dark(Shown::Profiles, Vec::new());
    press(&mut window, "Add a topology");
    type_into(&mut window, Role::TextInput, "Name", "shop");
    type_into(&mut window, Role::TextInput, "Address", "2abc::1");
    type_into(&mut window, Role::TextInput, "User", "moni");
    type_into(&mut window, Role::PasswordInput, "Password", "geheim #1");
    press(&mut window, "Save");
    let desk = window.state();
    let profile = desk.saved().expect("a saved profile");
    assert_eq!(profile.servers[0].address, Address::tcp("2abc::1", 3306));
    assert!(matches!(
        &desk.actions[0],
        Action::KeepPassword { secret, in_keychain: true, key }
            if secret.expose() == "geheim #1" && key.topology == profile.id
    ));
    assert!(!format!("{:?}{:?}", desk.actions, desk.forms).contains("geheim"));
}

#[test]
fn an_address_that_cannot_be_read_is_told_at_once_and_cannot_be_saved() {
    let mut window = dark(Shown::Profiles, vec![billing()]);
    press(&mut window, "billing 账务");
    type_into(&mut window, Role::TextInput, "Address", "77");
    let told = window.get_all_by_label_contains("needs a port from 1 to 65535 after the");
    assert_eq!(
        told.count(),
        2,
        "beside the field, and why it cannot be saved"
    );
    assert!(is_disabled(&window, "Save"));
}

#[test]
fn choosing_another_topology_does_not_lose_what_was_typed() {
    let mut window = dark(Shown::Profiles, vec![orders(), billing()]);
    press(&mut window, "billing 账务");
    type_into(&mut window, Role::TextInput, "Name", " 2");
    press(&mut window, "orders");
    window.get_by_label_contains("Save the changes to");
    press(&mut window, "Keep editing");
    assert_eq!(window.state().forms.unsaved(), Some("billing 账务 2"));
    press(&mut window, "orders");
    press(&mut window, "Save and go on");
    assert_eq!(
        window.state().saved().map(|p| p.name.as_str()),
        Some("billing 账务 2")
    );
    assert_eq!(window.state().forms.unsaved(), None);
}

#[test]
fn the_filter_looks_at_hosts_too() {
    let mut window = dark(Shown::Profiles, vec![orders(), billing()]);
    type_into(
        &mut window,
        Role::TextInput,
        "Filter by name or host",
        "10.20 prod",
    );
    window.get_by_role_and_label(Role::Button, "orders");
    assert!(
        window
            .query_by_role_and_label(Role::Button, "billing 账务")
            .is_none()
    );
}

#[test]
fn removing_asks_first() {
    let mut window = tall(vec![billing()]);
    press(&mut window, "billing 账务");
    press(&mut window, "Remove this topology…");
    assert!(window.state().actions.is_empty());
    window.get_by_label_contains("Nothing changes on the servers");
    window.key_press(Key::Escape);
    window.run_steps(3);
    assert!(
        window
            .query_by_label_contains("Nothing changes on the servers")
            .is_none()
    );
    press(&mut window, "Remove this topology…");
    window
        .get_all_by_role_and_label(Role::Button, "Remove")
        .last()
        .expect("a button")
        .click();
    window.run_steps(3);
    assert!(
        matches!(&window.state().actions[..], [Action::RemoveProfile(id)] if id.0 == "billing")
    );
}

#[test]
fn a_duplicate_is_a_new_topology_of_its_own() {
    let mut window = dark(Shown::Profiles, vec![billing()]);
    press(&mut window, "billing 账务");
    press(&mut window, "Duplicate");
    press(&mut window, "Save");
    let saved = window.state().saved().expect("a saved profile");
    assert_eq!(saved.name, "billing 账务 (copy)");
    assert_ne!(saved.id, billing().id);
}

#[test]
fn a_test_shows_what_is_allowed_and_the_grant_that_is_missing() {
    let mut window = tall(vec![orders()]);
    press(&mut window, "orders");
    press(&mut window, "Test");
    assert!(matches!(
        window.state().actions[..],
        [Action::TestProfile(_)]
    ));
    assert_eq!(window.get_all_by_label("connecting and asking").count(), 3);
    hear_test(&mut window);
    window.get_by_label("GRANT PROCESS ON *.* TO 'replicascope'@'%';");
    window.get_by_label("not tried: no password");
    assert!(!is_disabled(&window, "Test"));
}

fn hear_test(window: &mut Window) {
    let outcomes = [
        ("a", TestOutcome::Reached(half_allowed())),
        ("b", TestOutcome::Failed(wrong_password())),
        ("c", TestOutcome::NoPassword(None)),
    ];
    for (server, outcome) in outcomes {
        window.state_mut().hear(News::Tested {
            topology: TopologyId("orders".into()),
            server: ServerId(server.into()),
            outcome,
        });
    }
    window.run_steps(3);
}

#[test]
fn a_conflict_on_disk_lets_the_person_choose() {
    let mut window = dark(Shown::Profiles, vec![billing()]);
    press(&mut window, "billing 账务");
    type_into(&mut window, Role::TextInput, "Name", " 2");
    press(&mut window, "Save");
    let why = phrase("settings.save.conflict").with("path", "profiles.toml");
    let cause = SaveTrouble::Conflict;
    window.state_mut().hear(News::NotSaved { why, cause });
    window.run_steps(3);
    press(&mut window, "Keep mine");
    let last = window.state().actions.last();
    assert!(matches!(last, Some(Action::SaveOverChanges(p)) if p.name == "billing 账务 2"));
}

#[test]
fn a_dialog_without_an_answer_leaves_the_field_and_says_so() {
    let mut window = dark(Shown::Profiles, vec![billing()]);
    press(&mut window, "Import");
    press(&mut window, "Choose…");
    assert!(matches!(
        window.state().actions[..],
        [Action::ChooseFile(FilePurpose::Import)]
    ));
    assert!(is_disabled(&window, "Choose…"), "one dialog at a time");
    let purpose = FilePurpose::Import;
    window.state_mut().hear(News::FileChosen {
        purpose,
        path: None,
    });
    window.run_steps(3);
    window.get_by_label_contains("type the path");
    type_into(&mut window, Role::TextInput, "File", "~/shop.toml");
    window
        .get_all_by_role_and_label(Role::Button, "Import")
        .last()
        .expect("a button")
        .click();
    window.run_steps(3);
    let last = window.state().actions.last();
    assert!(
        matches!(last, Some(Action::ImportProfiles(path)) if path == std::path::Path::new("~/shop.toml"))
    );
}

#[test]
fn found_replicas_are_offered_and_those_in_the_profile_are_not() {
    let mut window = dark(Shown::Profiles, vec![orders()]);
    press(&mut window, "orders");
    window.get_by_label("db-source has a replica that is not watched");
    press(&mut window, "Add 10.20.0.14:3306");
    let action = window.state().actions.last();
    assert!(matches!(action, Some(Action::AddFound { server, .. }) if server.host == "10.20.0.14"));
}

#[test]
fn without_a_keychain_the_form_says_where_a_password_stays() {
    let mut window = tall(vec![orders()]);
    let why = phrase("secret.keychain.none").with("message", "no session bus");
    window
        .state_mut()
        .hear(News::Keychain(Keychain::Unavailable(why)));
    press(&mut window, "orders");
    window.get_by_label_contains("passwords are kept for this session only (no session bus)");
}

// --- settings, first run, password -----------------------------------------------------------------------------------

#[test]
fn the_settings_answer_with_actions() {
    let mut window = dark(Shown::Settings, vec![orders()]);
    press(&mut window, "简体中文");
    press(&mut window, "dark");
    let actions = &window.state().actions;
    assert!(matches!(
        actions[..],
        [
            Action::Language(LanguageChoice::Chinese),
            Action::Theme(ThemeChoice::Dark)
        ]
    ));
    press(&mut window, "Show the licence of the fonts");
    window.get_by_label_contains("SIL OPEN FONT LICENSE");
}

#[test]
fn the_first_servers_are_added_in_one_card() {
    let mut window = dark(Shown::FirstRun, Vec::new());
    assert!(is_disabled(&window, "Watch"));
    type_into(
        &mut window,
        Role::TextInput,
        "Address of the source",
        "moni@db1.example:3310",
    );
    type_into(&mut window, Role::PasswordInput, "Password", "pw");
    press(&mut window, "Watch");
    let desk = window.state();
    let profile = desk.saved().expect("a saved profile");
    assert_eq!(check(profile), []);
    assert_eq!(
        profile.account.as_ref().map(|a| a.user.as_str()),
        Some("moni")
    );
    assert!(matches!(desk.actions.last(), Some(Action::Open(id)) if id == &profile.id));
}

fn question() -> PasswordQuestion {
    PasswordQuestion {
        key: SecretKey {
            topology: TopologyId("orders".into()),
            owner: SecretOwner::Topology,
        },
        topology_name: "orders".into(),
        user: "replicascope".into(),
        servers: vec!["db-source".into(), "db-r1".into()],
        for_keychain: true,
        why: Some(phrase("secret.keychain.locked")),
    }
}

#[test]
fn a_password_is_asked_for_answered_with_enter_and_declined_with_escape() {
    let mut window = dark(Shown::Profiles, vec![orders()]);
    window.state_mut().hear(News::Keychain(Keychain::Available));
    window.state_mut().hear(News::PasswordNeeded(question()));
    window.run_steps(4);
    let field = window.get_by_role_and_label(Role::PasswordInput, "Password of replicascope");
    assert!(field.is_focused(), "one can type at once");
    field.type_text("pw");
    window.run_steps(2);
    window.key_press(Key::Enter);
    window.run_steps(3);
    assert!(matches!(
        &window.state().actions[..],
        [Action::KeepPassword { secret, in_keychain: true, .. }] if secret.expose() == "pw"
    ));
    assert!(!window.state().password.is_asking());

    window.state_mut().hear(News::PasswordNeeded(question()));
    window.run_steps(4);
    window.key_press(Key::Escape);
    window.run_steps(3);
    assert!(matches!(
        window.state().actions.last(),
        Some(Action::DeclinePassword(_))
    ));
}

// --- pictures --------------------------------------------------------------------------------------------------------

/// A scene: what is shown, and what happened before.
type Scene = (&'static str, Shown, fn(&mut Window));

const SCENES: [Scene; 7] = [
    ("form", Shown::Profiles, |w| open_orders(w)),
    ("tested", Shown::Profiles, |w| {
        open_orders(w);
        let test = Catalogue::of(w.state().language).text("form.test");
        press(w, test);
        hear_test(w);
    }),
    ("new", Shown::Profiles, |w| {
        let add = Catalogue::of(w.state().language).text("profiles.add");
        press(w, add);
    }),
    ("export", Shown::Profiles, |w| {
        let export = Catalogue::of(w.state().language).text("profiles.export");
        press(w, export);
    }),
    ("settings", Shown::Settings, |w| {
        let places = Places {
            profiles_file: Some("/home/moni/.config/replicascope/profiles.toml".into()),
            preferences_file: Some("/home/moni/.config/replicascope/preferences.toml".into()),
        };
        w.state_mut().hear(News::Places(places));
        let why = phrase("secret.keychain.none").with("message", "no session bus");
        w.state_mut()
            .hear(News::Keychain(Keychain::Unavailable(why)));
    }),
    ("first-run", Shown::FirstRun, |_| {}),
    ("password", Shown::Settings, |w| {
        w.state_mut().hear(News::Keychain(Keychain::Available));
        w.state_mut().hear(News::PasswordNeeded(question()));
    }),
];

fn open_orders(window: &mut Window) {
    press(window, "orders");
}

#[test]
fn every_form_can_be_drawn_in_both_themes_both_languages_and_both_sizes() {
    side_by_side(looks(), |(theme, language, size)| {
        for (name, shown, prepare) in SCENES {
            let profiles = match shown {
                Shown::FirstRun => Vec::new(),
                _ => vec![orders(), billing()],
            };
            let mut desk = Desk::new(shown, profiles);
            desk.language = language;
            let mut window = window(desk, theme, size);
            prepare(&mut window);
            window.run_steps(4);
            keep(
                &mut window,
                &format!("forms-{name}-{}", look_name(theme, language, size)),
            );
        }
    });
}

#[test]
fn the_whole_form_can_be_drawn() {
    for (theme, language) in [
        (Theme::Light, Language::English),
        (Theme::Dark, Language::SimplifiedChinese),
    ] {
        let mut orders = orders();
        orders.tls = Some(TlsSettings::with_mode(TlsMode::VerifyCa));
        let mut desk = Desk::new(Shown::Profiles, vec![orders, billing()]);
        desk.language = language;
        let size = vec2(1024.0, 2300.0);
        let mut window = window(desk, theme, size);
        open_orders(&mut window);
        let words = Catalogue::of(language);
        let unfold = words.text("form.unfold");
        window
            .get_all_by_role_and_label(Role::Button, unfold)
            .last()
            .expect("a button")
            .click();
        window.run_steps(3);
        press(&mut window, words.text("account_sql.show"));
        let sql = "CREATE USER 'replicascope'@'%' IDENTIFIED BY '…';\nGRANT REPLICATION CLIENT ON *.* TO 'replicascope'@'%';\n";
        let sql = |name: &str| (name.to_owned(), sql.to_owned());
        let news = News::AccountSql(vec![
            sql("MySQL 8.0 – 9, Percona"),
            sql("MariaDB 10.5 – 11"),
        ]);
        window.state_mut().hear(news);
        window.run_steps(4);
        keep(
            &mut window,
            &format!("whole-form-{}", look_name(theme, language, size)),
        );
    }
}

fn looks() -> [(Theme, Language, Vec2); 4] {
    [
        (Theme::Dark, Language::English, WIDE),
        (Theme::Light, Language::English, SMALL),
        (Theme::Light, Language::SimplifiedChinese, WIDE),
        (Theme::Dark, Language::SimplifiedChinese, SMALL),
    ]
}

fn look_name(theme: Theme, language: Language, size: Vec2) -> String {
    format!("{}-{}", look(theme, language), size.x)
}
