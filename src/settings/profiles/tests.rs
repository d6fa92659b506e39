//! What a profile file says, and what is told about it.

mod disk;
mod properties;

use super::*;
use crate::model::phrase::Arg;
use crate::model::profile::*;
use crate::model::time::Span;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A config folder with this `profiles.toml`.
fn folder_with(text: impl AsRef<[u8]>) -> TempDir {
    let dir = folder();
    fs::write(paths::profiles_file(dir.path()), text).expect("a file in it");
    dir
}

fn text_in(dir: &TempDir) -> String {
    fs::read_to_string(paths::profiles_file(dir.path())).expect("profiles.toml")
}

fn names_in(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir.path())
        .expect("the folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}

fn keys(notices: &[Notice]) -> Vec<&'static str> {
    notices.iter().map(|n| n.text.key).collect()
}

fn shop() -> TopologyProfile {
    let mut shop = TopologyProfile::new(TopologyId("shop".into()), "Shop");
    shop.servers.push(ServerProfile::new(
        ServerId("db1".into()),
        Address::tcp("db1", 3306),
    ));
    shop
}

const BY_HAND: &str = "
[[topology]]
name = 'Shop'
environment = 'production'
account = { user = 'monitor', password_from = 'env:SHOP_PASSWORD' }
thresholds = { lag_warning = '500ms' }
[[topology.server]]
host = '2abc::1'
port = 3307
role = 'source'
[[topology.server]]
name = 'reports'
socket = '/run/mysqld/mysqld.sock'
";

#[test]
fn no_file_is_no_profiles_and_nothing_to_tell() {
    let dir = folder();
    let (mut store, loaded) = load(&dir.path().join("not/yet/there"));
    assert_eq!(loaded, Loaded::default());
    store.save(&[shop()]).unwrap();
    assert_eq!(load(&dir.path().join("not/yet/there")).1.profiles, [shop()]);
}

#[test]
fn a_file_written_by_hand_needs_little() {
    let dir = folder_with(BY_HAND);
    let (_, loaded) = load(dir.path());
    assert_eq!(loaded.notices, []);
    let mut expected = TopologyProfile::new(TopologyId("shop".into()), "Shop");
    expected.environment = Environment::Production;
    expected.account = Some(Account {
        user: "monitor".into(),
        secret: SecretSource::Env("SHOP_PASSWORD".into()),
    });
    expected.thresholds.lag_warning = Span::from_millis(500);
    let mut first = ServerProfile::new(
        ServerId("2abc-1-3307".into()),
        Address::tcp("2abc::1", 3307),
    );
    first.role = ExpectedRole::Source;
    let path = PathBuf::from("/run/mysqld/mysqld.sock");
    let mut second = ServerProfile::new(ServerId("reports".into()), Address::Socket { path });
    second.name = "reports".into();
    expected.servers = vec![first, second];
    assert_eq!(loaded.profiles, [expected]);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_tolerated() {
    let plain = load(folder_with(BY_HAND).path()).1;
    let windows = format!("\u{feff}{}", BY_HAND.replace('\n', "\r\n"));
    assert_eq!(load(folder_with(windows).path()).1, plain);
}

#[test]
fn what_this_version_does_not_know_is_kept() {
    let dir = folder_with(
        "version = 1
        later = { a = 1, when = 1979-05-27T07:32:00Z }
        [[topology]]
        id = 'shop'
        name = 'Shop'
        colour = 'teal'
        tls = { mode = 'verify-ca', crl = '/crl.pem' }
        intervals = { poll = '2s', slow = '1m' }
        [topology.tunnel]
        via = 'bastion'
        [[topology.server]]
        id = 'db1'
        host = 'db1'
        rack = 7
        account = { user = 'm', mfa = true }",
    );
    let (mut store, mut loaded) = load(dir.path());
    assert_eq!(loaded.notices, []);
    loaded.profiles[0].name = "Shop EU".into();
    loaded.profiles[0].servers.insert(
        0,
        ServerProfile::new(ServerId("new".into()), Address::tcp("db0", 3306)),
    );
    store.save(&loaded.profiles).unwrap();

    let table: Table = text_in(&dir).parse().unwrap();
    let topology = &table["topology"][0];
    assert_eq!(table["later"]["a"].as_integer(), Some(1));
    assert_eq!(table["later"]["when"].to_string(), "1979-05-27T07:32:00Z");
    assert_eq!(topology["name"].as_str(), Some("Shop EU"));
    assert_eq!(topology["colour"].as_str(), Some("teal"));
    assert_eq!(topology["tls"]["crl"].as_str(), Some("/crl.pem"));
    assert_eq!(topology["intervals"]["slow"].as_str(), Some("1m"));
    assert_eq!(topology["tunnel"]["via"].as_str(), Some("bastion"));
    assert_eq!(topology["server"][0].get("rack"), None);
    assert_eq!(topology["server"][1]["rack"].as_integer(), Some(7));
    assert_eq!(
        topology["server"][1]["account"]["mfa"].as_bool(),
        Some(true)
    );
    assert_eq!(load(dir.path()).1.profiles, loaded.profiles);
}

#[test]
fn one_topology_that_cannot_be_read_does_not_take_the_others_along() {
    let dir = folder_with(
        "[[topology]]\nname = 'A'\n\n[[topology]]\nname = 'B'\nenvironment = 'moon'\n\n[[topology]]\nname = 'C'\n",
    );
    let (mut store, loaded) = load(dir.path());
    let names: Vec<&str> = loaded.profiles.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["A", "C"]);
    assert_eq!(keys(&loaded.notices), ["settings.topology.unreadable"]);
    assert!(
        format!("{:?}", loaded.notices).contains("Number(6)"),
        "{:?}",
        loaded.notices
    );

    store.save(&loaded.profiles).unwrap();
    let table: Table = text_in(&dir).parse().unwrap();
    assert_eq!(table["topology"][2]["name"].as_str(), Some("B"));
    assert_eq!(table["topology"][2]["environment"].as_str(), Some("moon"));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let cases = [
        (
            "[[topology]]\nname = 'A'\n[[topology.server]]\nname = 'x'\n",
            3,
            "settings.damage.no_address",
        ),
        (
            "[[topology]]\nname = 'A'\n\n[[topology.server]]\nhost = 'x'\nsocket = '/x'\n",
            4,
            "settings.damage.two_addresses",
        ),
        (
            "[[topology]]\nname = 'A'\n[[topology.server]]\nhost = 'x'\nport = 70000\n",
            5,
            "settings.damage.toml",
        ),
        (
            "[[topology]]\nname = 'A'\n[topology.intervals]\npoll = '1'\n",
            4,
            "settings.damage.toml",
        ),
        (
            "[[topology]]\nname = 'A'\nheartbeat = { schema = 'a', table = 'b', time_column = 'c', layout = 'per-writer', zone = 'utc' }",
            1,
            "settings.damage.no_writer_column",
        ),
    ];
    for (text, line, key) in cases {
        let loaded = load(folder_with(text).path()).1;
        assert_eq!(
            keys(&loaded.notices),
            ["settings.topology.unreadable"],
            "{text}"
        );
        let Some(Arg::Phrase(reason)) = loaded.notices[0].text.arg("reason") else {
            panic!("no reason: {loaded:?}");
        };
        assert_eq!(reason.arg("line"), Some(&Arg::Number(line)), "{text}");
        assert!(format!("{reason:?}").contains(key), "{reason:?}");
    }
}

#[test]
fn a_damaged_file_is_moved_aside_and_told_with_line_and_reason() {
    let dir = folder_with("version = 1\n[[topology]\nname = 'A'\n");
    let (mut store, loaded) = load(dir.path());
    assert_eq!(loaded.profiles, []);
    assert_eq!(keys(&loaded.notices), ["settings.file.damaged_aside"]);
    assert!(
        format!("{:?}", loaded.notices).contains("Number(2)"),
        "{:?}",
        loaded.notices
    );
    assert_eq!(names_in(&dir), ["profiles.toml.damaged-1"]);

    store.save(&[shop()]).unwrap();
    fs::write(paths::profiles_file(dir.path()), b"name = \"\xff\"").unwrap();
    let (_, loaded) = load(dir.path());
    assert!(format!("{:?}", loaded.notices).contains("settings.damage.not_utf8"));
    assert_eq!(
        names_in(&dir),
        ["profiles.toml.damaged-1", "profiles.toml.damaged-2"]
    );
    assert_eq!(
        fs::read(dir.path().join("profiles.toml.damaged-1")).unwrap(),
        b"version = 1\n[[topology]\nname = 'A'\n"
    );
}

#[test]
fn a_newer_file_is_refused_without_loss() {
    let text = "version = 2\n[[cluster]]\nname = 'A'\n";
    let dir = folder_with(text);
    let (mut store, loaded) = load(dir.path());
    assert_eq!(loaded.profiles, []);
    assert_eq!(keys(&loaded.notices), ["settings.file.newer"]);
    assert!(matches!(
        store.save(&[shop()]),
        Err(SaveError::Newer { version: 2, .. })
    ));
    assert!(matches!(
        store.save_over_changes(&[shop()]),
        Err(SaveError::Newer { version: 2, .. })
    ));
    assert!(matches!(
        export(store.path(), &[shop()]),
        Err(SaveError::Newer { version: 2, .. })
    ));
    assert_eq!(text_in(&dir), text);
    assert_eq!(names_in(&dir), ["profiles.toml"]);
}

#[test]
fn a_version_that_is_none_is_damage() {
    for version in ["0", "-1", "'1'", "1.0", "99999999999999999999"] {
        let dir = folder_with(format!("version = {version}\n"));
        assert_eq!(
            keys(&load(dir.path()).1.notices),
            ["settings.file.damaged_aside"],
            "{version}"
        );
    }
}

#[test]
fn r41_no_password_is_ever_written() {
    let dir = folder();
    let (mut store, _) = load(dir.path());
    let mut profile = shop();
    let mut session = crate::settings::secrets::SessionSecrets::default();
    let password = "hunter2 # @ : / ? % \" '";
    for (index, secret) in [
        SecretSource::Keychain,
        SecretSource::Ask,
        SecretSource::Env("DB_PASSWORD".into()),
        SecretSource::File("/run/secrets/db".into()),
        SecretSource::NotNeeded,
    ]
    .into_iter()
    .enumerate()
    {
        let mut server = ServerProfile::new(
            ServerId(format!("s{index}")),
            Address::tcp(format!("h{index}"), 3306),
        );
        let user = "u#@:/?%\"' x".into();
        server.account = Some(Account { user, secret });
        profile.servers.push(server);
    }
    for key in profile.secret_keys() {
        session.keep(key, crate::settings::secrets::Secret::new(password.into()));
    }
    store.save(std::slice::from_ref(&profile)).unwrap();
    export(
        &dir.path().join("exported.toml"),
        std::slice::from_ref(&profile),
    )
    .unwrap();
    assert_eq!(load(dir.path()).1.profiles, [profile]);
    for name in names_in(&dir) {
        let text = fs::read_to_string(dir.path().join(&name)).unwrap();
        assert!(!text.contains("hunter2"), "{name}");
    }
}

#[test]
fn r41_a_password_put_into_the_file_by_hand_is_told_unused_and_taken_out() {
    let dir = folder_with(
        "[[topology]]\nname = 'A'\naccount = { user = 'm', password = 'hunter2' }\n[[topology.server]]\nhost = 'x'\nPassword = 'hunter2'\n",
    );
    let (mut store, loaded) = load(dir.path());
    assert_eq!(keys(&loaded.notices), ["settings.topology.password"]);
    assert!(!format!("{loaded:?}{store:?}").contains("hunter2"));
    store.save(&loaded.profiles).unwrap();
    assert!(!text_in(&dir).contains("hunter2"));
}

#[test]
fn r41_a_password_in_place_of_its_source_is_not_repeated() {
    for value in ["'hunter2'", "4711", "['hunter2']"] {
        let text = format!(
            "[[topology]]\nname = 'A'\naccount = {{ user = 'm', password_from = {value} }}\n"
        );
        let loaded = load(folder_with(text).path()).1;
        assert_eq!(keys(&loaded.notices), ["settings.topology.unreadable"]);
        let told = format!("{:?}", loaded.notices);
        assert!(
            !told.contains("hunter2") && !told.contains("4711"),
            "{told}"
        );
    }
}

#[test]
fn two_topologies_of_one_id_are_told_apart() {
    let text = "[[topology]]\nid = 'a/b'\nname = 'A'\n".repeat(2);
    let loaded = load(folder_with(text).path()).1;
    let ids: Vec<&str> = loaded.profiles.iter().map(|p| p.id.0.as_str()).collect();
    assert_eq!(ids, ["a-b", "a-b-2"]);
}

#[test]
fn an_imported_topology_neither_replaces_nor_inherits() {
    let dir = folder();
    let path = dir.path().join("shop.toml");
    export(&path, &[shop()]).unwrap();
    let imported = read_file(&path).unwrap().profiles;
    assert_eq!(imported, [shop()]);
    let mut profiles = vec![shop()];
    add_imported(&mut profiles, imported);
    assert_eq!(profiles.len(), 2);
    assert_ne!(profiles[0].id, profiles[1].id);
    assert_eq!(profiles[1].servers, profiles[0].servers);
}

#[test]
fn a_file_given_by_the_person_is_never_moved() {
    let dir = folder_with("[[topology]");
    let path = paths::profiles_file(dir.path());
    assert_eq!(
        read_file(&path).unwrap_err().text.key,
        "settings.file.damaged"
    );
    assert_eq!(names_in(&dir), ["profiles.toml"]);
    assert_eq!(
        read_file(&dir.path().join("absent")).unwrap_err().text.key,
        "settings.file.unreadable"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_end_is_refused() {
    let notice = read_file(Path::new("/dev/zero")).unwrap_err();
    assert!(
        format!("{notice:?}").contains("settings.io.too_large"),
        "{notice:?}"
    );
}

#[test]
fn fresh_ids_differ_even_for_one_name() {
    let (a, b) = (
        fresh_topology_id("My Shop / EU"),
        fresh_topology_id("My Shop / EU"),
    );
    assert_ne!(a, b);
    assert!(
        a.0.starts_with("my-shop-eu-") && !a.0.contains('/'),
        "{a:?}"
    );
}

#[test]
fn an_imported_topology_may_not_write_until_the_person_says_so_here() {
    let mut imported = TopologyProfile::new(TopologyId("orders".into()), "orders");
    imported.writes = WritePermission::Allowed;
    let mut profiles = Vec::new();
    add_imported(&mut profiles, vec![imported]);
    assert_eq!(profiles[0].writes, WritePermission::Forbidden);
}
