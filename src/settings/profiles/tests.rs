use super::*;
use crate::model::phrase::Arg;
use crate::model::profile::*;
use crate::model::time::Span;
use proptest::prelude::*;
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
fn a_file_changed_by_somebody_else_is_not_overwritten() {
    let dir = folder();
    let (mut mine, _) = load(dir.path());
    let (mut theirs, _) = load(dir.path());
    let mut other = shop();
    other.name = "Theirs".into();
    theirs.save(&[other.clone()]).unwrap();

    assert!(mine.changed_on_disk());
    assert!(matches!(
        mine.save(&[shop()]),
        Err(SaveError::Conflict { .. })
    ));
    assert_eq!(load(dir.path()).1.profiles, [other.clone()]);

    assert_eq!(mine.reload().unwrap().profiles, [other]);
    assert!(!mine.changed_on_disk());
    mine.save(&[shop()]).unwrap();
    assert!(
        !mine.changed_on_disk(),
        "our own saving is no change by somebody else"
    );
    assert!(theirs.changed_on_disk());
}

#[test]
fn saving_over_a_change_keeps_the_other_file() {
    let dir = folder_with(BY_HAND);
    let (mut store, _) = load(dir.path());
    fs::write(paths::profiles_file(dir.path()), "# theirs\n").unwrap();
    let notice = store.save_over_changes(&[shop()]).unwrap();
    assert_eq!(notice.map(|n| n.text.key), Some("settings.file.replaced"));
    assert_eq!(
        names_in(&dir),
        ["profiles.toml", "profiles.toml.replaced-1"]
    );
    let theirs = dir.path().join("profiles.toml.replaced-1");
    assert_eq!(fs::read_to_string(theirs).unwrap(), "# theirs\n");
    assert_eq!(load(dir.path()).1.profiles, [shop()]);
}

#[test]
fn a_file_only_touched_is_not_changed() {
    let dir = folder_with(BY_HAND);
    let (mut store, loaded) = load(dir.path());
    let file = fs::File::options().append(true).open(store.path()).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert!(!store.changed_on_disk());
    store.save(&loaded.profiles).unwrap();
}

#[test]
fn a_slip_while_editing_by_hand_is_told_once_and_nothing_is_touched() {
    let dir = folder_with(BY_HAND);
    let (mut store, loaded) = load(dir.path());
    let path = paths::profiles_file(dir.path());
    fs::write(&path, "[[topology]").unwrap();
    assert!(store.changed_on_disk());
    assert_eq!(
        store.reload().unwrap_err().text.key,
        "settings.file.damaged"
    );
    assert!(!store.changed_on_disk(), "told once");
    assert_eq!(names_in(&dir), ["profiles.toml"]);
    assert!(matches!(
        store.save(&loaded.profiles),
        Err(SaveError::Conflict { .. })
    ));

    fs::write(&path, BY_HAND.replace("Shop", "Mended")).unwrap();
    assert!(store.changed_on_disk());
    assert_eq!(store.reload().unwrap().profiles[0].name, "Mended");
}

#[test]
fn a_file_that_has_gone_is_written_again() {
    let dir = folder_with(BY_HAND);
    let (mut store, loaded) = load(dir.path());
    fs::remove_file(store.path()).unwrap();
    assert!(store.changed_on_disk());
    assert_eq!(store.reload().unwrap_err().text.key, "settings.file.gone");
    assert!(!store.changed_on_disk());
    store.save(&loaded.profiles).unwrap();
    assert_eq!(load(dir.path()).1.profiles, loaded.profiles);
}

#[test]
fn what_could_not_be_read_is_not_overwritten() {
    let dir = folder();
    fs::create_dir(paths::profiles_file(dir.path())).unwrap();
    let (mut store, loaded) = load(dir.path());
    assert_eq!(keys(&loaded.notices), ["settings.file.unreadable"]);
    assert!(matches!(
        store.save(&[shop()]),
        Err(SaveError::NeverRead { .. })
    ));
}

#[test]
fn a_config_folder_that_cannot_be_made_is_told() {
    let dir = folder();
    fs::write(dir.path().join("config"), "a file").unwrap();
    let (mut store, _) = load(&dir.path().join("config"));
    assert!(store.save(&[shop()]).is_err());
    assert_eq!(
        fs::read_to_string(dir.path().join("config")).unwrap(),
        "a file"
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_where_the_file_lives_stays_a_link() {
    let dir = folder();
    let real = folder_with(BY_HAND);
    let link = paths::profiles_file(dir.path());
    std::os::unix::fs::symlink(paths::profiles_file(real.path()), &link).unwrap();
    let (mut store, _) = load(dir.path());
    store.save(&[shop()]).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(load(real.path()).1.profiles, [shop()]);
}

const CHILD_FOLDER: &str = "REPLICASCOPE_TEST_FULL_DISK";

/// The shell forbids the child to write a single byte, which fails where a full disk fails: in the middle of the new file.
#[cfg(unix)]
#[test]
fn when_the_disk_takes_no_more_the_old_file_stays_and_it_is_told() {
    let dir = folder_with(BY_HAND);
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "settings::profiles::tests::child_that_may_not_write",
            "--exact",
            "--ignored",
        ])
        .env(CHILD_FOLDER, dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}"
    );
    assert_eq!(text_in(&dir), BY_HAND);
    assert_eq!(
        names_in(&dir),
        ["profiles.toml"],
        "no half of a file is left"
    );
}

#[test]
#[ignore = "started by the test before"]
fn child_that_may_not_write() {
    let Some(dir) = std::env::var_os(CHILD_FOLDER) else {
        return;
    };
    let (mut store, loaded) = load(Path::new(&dir));
    let error = store
        .save(&loaded.profiles)
        .expect_err("no byte can be written");
    assert_eq!(error.phrase().key, "settings.save.io");
    assert!(
        format!("{:?}", error.phrase()).contains("settings.io.too_large"),
        "{error:?}"
    );
    assert!(!store.changed_on_disk());
}

/// A program killed at any moment leaves a whole file, the old or the new, and the next one cleans up after it.
#[cfg(unix)]
#[test]
fn a_crash_while_saving_leaves_a_whole_file() {
    let dir = folder_with(BY_HAND);
    for round in 0..8 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "settings::profiles::tests::child_that_saves_for_ever",
                "--exact",
                "--ignored",
            ])
            .env(CHILD_FOLDER, dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let (store, _) = load(dir.path());
        let started = std::time::Instant::now();
        while !store.changed_on_disk() && started.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let loaded = load(dir.path()).1;
        assert_eq!(loaded.notices, []);
        assert!(loaded.profiles[0].name.starts_with("Shop "), "{loaded:?}");
    }
    let (mut store, _) = load(dir.path());
    store.save(&[shop()]).unwrap();
    assert_eq!(names_in(&dir), ["profiles.toml"]);
}

#[test]
#[ignore = "started by the test before"]
fn child_that_saves_for_ever() {
    let Some(dir) = std::env::var_os(CHILD_FOLDER) else {
        return;
    };
    let (mut store, mut loaded) = load(Path::new(&dir));
    let started = std::time::Instant::now();
    for number in std::process::id().. {
        loaded.profiles[0].name = format!("Shop {number} {}", "x".repeat(number as usize % 5000));
        store.save(&loaded.profiles).unwrap();
        if started.elapsed().as_secs() > 30 {
            return;
        }
    }
}

/// Two instances saving at the same moment: each save is whole and whoever lost is told, so no save is silently undone.
#[test]
fn of_two_instances_saving_at_once_one_is_told() {
    let dir = folder();
    for _ in 0..50 {
        let stores = [load(dir.path()).0, load(dir.path()).0];
        let both = std::sync::Barrier::new(2);
        let saved: Vec<bool> = std::thread::scope(|scope| {
            let threads: Vec<_> = stores
                .into_iter()
                .map(|mut store| {
                    let both = &both;
                    scope.spawn(move || {
                        let mut mine = shop();
                        mine.name = fresh_topology_id("").0;
                        both.wait();
                        store.save(&[mine]).is_ok()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(saved.iter().filter(|s| **s).count(), 1, "{saved:?}");
    }
}

#[test]
fn a_list_of_what_are_no_topologies_is_kept_too() {
    for list in [
        "[1, 'a', {name = 'A'}]",
        "[]",
        "[[1], {}]",
        "[{x = {}}, 1979-05-27]",
    ] {
        nothing_is_lost(format!("topology = {list}").as_bytes()).unwrap();
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

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z #@:/?%\"'\\\\]{0,12}"]
}

fn path() -> impl Strategy<Value = PathBuf> {
    text().prop_map(PathBuf::from)
}

fn span() -> impl Strategy<Value = Span> {
    (0..=i64::MAX).prop_map(Span::from_micros)
}

fn account() -> impl Strategy<Value = Account> {
    let secret = prop_oneof![
        Just(SecretSource::Keychain),
        Just(SecretSource::Ask),
        Just(SecretSource::NotNeeded),
        text().prop_map(SecretSource::Env),
        path().prop_map(SecretSource::File),
    ];
    (text(), secret).prop_map(|(user, secret)| Account { user, secret })
}

fn tls() -> impl Strategy<Value = TlsSettings> {
    let mode = prop::sample::select(vec![
        TlsMode::Off,
        TlsMode::Required,
        TlsMode::VerifyCa,
        TlsMode::VerifyIdentity,
    ]);
    let file = || prop::option::of(path());
    (mode, file(), file(), file(), file()).prop_map(
        |(mode, ca, client_cert, client_key, server_public_key)| TlsSettings {
            mode,
            ca,
            client_cert,
            client_key,
            server_public_key,
        },
    )
}

fn thresholds() -> impl Strategy<Value = Thresholds> {
    (span(), span(), any::<u32>(), any::<u32>(), span(), span()).prop_map(|t| Thresholds {
        lag_warning: t.0,
        lag_critical: t.1,
        consecutive: t.2,
        clear_at_percent: t.3,
        long_transaction: t.4,
        clock_offset: t.5,
    })
}

fn heartbeat() -> impl Strategy<Value = HeartbeatTable> {
    let layout = prop_oneof![
        Just(HeartbeatLayout::Single),
        Just(HeartbeatLayout::Appended),
        (text(), prop::option::of(text())).prop_map(|(writer_column, pinned_writer)| {
            HeartbeatLayout::PerWriter {
                writer_column,
                pinned_writer,
            }
        }),
    ];
    let zone = prop::sample::select(vec![StampZone::Utc, StampZone::Local]);
    (
        text(),
        text(),
        text(),
        layout,
        zone,
        prop::option::of(span()),
    )
        .prop_map(|h| HeartbeatTable {
            schema: h.0,
            table: h.1,
            time_column: h.2,
            layout: h.3,
            zone: h.4,
            interval: h.5,
        })
}

fn server() -> impl Strategy<Value = ServerProfile> {
    let address = prop_oneof![
        (text(), any::<u16>()).prop_map(|(host, port)| Address::Tcp { host, port }),
        path().prop_map(|path| Address::Socket { path }),
    ];
    let role = prop::sample::select(vec![
        ExpectedRole::Auto,
        ExpectedRole::Source,
        ExpectedRole::Replica,
    ]);
    let optional = (
        prop::option::of(account()),
        prop::option::of(tls()),
        prop::option::of(thresholds()),
    );
    (
        text(),
        address,
        role,
        optional,
        prop::collection::vec(text(), 0..3),
    )
        .prop_map(
            |(name, address, role, (account, tls, thresholds), expected_channels)| ServerProfile {
                id: ServerId(String::new()),
                name,
                address,
                account,
                role,
                tls,
                thresholds,
                expected_channels,
            },
        )
}

/// Any profiles at all, sensible or not, with ids as the program makes them.
fn profiles() -> impl Strategy<Value = Vec<TopologyProfile>> {
    let optional = (
        prop::option::of(account()),
        prop::option::of(tls()),
        prop::option::of(heartbeat()),
    );
    let environment = prop::sample::select(Environment::ALL.to_vec());
    let servers = prop::collection::vec(server(), 0..3);
    let one = (
        text(),
        environment,
        servers,
        optional,
        thresholds(),
        (span(), span()),
    )
        .prop_map(
            |(
                name,
                environment,
                mut servers,
                (account, tls, heartbeat),
                thresholds,
                (poll, mark),
            )| {
                for server in &mut servers {
                    server.id = fresh_server_id(&server.name);
                }
                TopologyProfile {
                    id: fresh_topology_id(&name),
                    name,
                    environment,
                    servers,
                    account,
                    tls,
                    thresholds,
                    intervals: Intervals { poll, mark },
                    heartbeat,
                }
            },
        );
    prop::collection::vec(one, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_profiles_come_back_as_saved(profiles in profiles()) {
        let text = print(&profiles, &Kept::default()).expect("all of it is text");
        let (_, loaded) = parse(&text).expect("our own file is readable");
        prop_assert_eq!(loaded.profiles, profiles);
        prop_assert_eq!(loaded.notices, vec![]);
    }

    /// Cut anywhere, as by a crash of some other program, or with a byte changed.
    #[test]
    fn a_mangled_file_is_never_lost(
        profiles in profiles(),
        at: prop::sample::Index,
        byte: Option<u8>,
    ) {
        let mut bytes = print(&profiles, &Kept::default()).unwrap_or_default().into_bytes();
        let at = at.index(bytes.len());
        match byte {
            Some(byte) => bytes[at] = byte,
            None => bytes.truncate(at),
        }
        nothing_is_lost(&bytes)?;
    }

    #[test]
    fn any_bytes_at_all_are_never_lost(bytes: Vec<u8>, text in "(\\[\\[?topology\\]?\\]|[a-z]+ = |[\\[\\]{}'\"=,.0-9-]|\\n){0,60}") {
        nothing_is_lost(&bytes)?;
        nothing_is_lost(text.as_bytes())?;
        nothing_is_lost("[".repeat(10_000).as_bytes())?;
    }
}

/// Whatever the file holds: it is read without panic; if it is moved aside it is so unchanged; and saving what was read
/// gives a file that reads the same and still holds the topologies that could not be read.
fn nothing_is_lost(bytes: &[u8]) -> Result<(), TestCaseError> {
    let dir = folder_with(bytes);
    let (mut store, loaded) = load(dir.path());
    let aside = dir.path().join("profiles.toml.damaged-1");
    if aside.exists() {
        prop_assert_eq!(fs::read(&aside).unwrap(), bytes);
    } else {
        prop_assert_eq!(fs::read(store.path()).unwrap(), bytes);
    }
    let unreadable = store.kept.unreadable.clone();
    match store.save(&loaded.profiles) {
        Ok(()) => {
            let (again, reloaded) = load(dir.path());
            prop_assert_eq!(reloaded.profiles, loaded.profiles);
            prop_assert_eq!(again.kept.unreadable, unreadable);
        }
        Err(error) => prop_assert!(matches!(error, SaveError::Newer { .. }), "{error:?}"),
    }
    Ok(())
}
