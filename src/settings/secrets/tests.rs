use super::*;
use crate::model::profile::{SecretOwner, ServerId, TopologyId};
use std::fs;

/// Of field report R41, and what else breaks quoting.
pub(crate) const HARD_PASSWORDS: [&str; 8] = [
    "pa#ss",
    "p@ss:w/o?rd",
    "100%25 \"quoted\" it's",
    "# @ : / ? % \" '",
    " leading and trailing ",
    "tab\there\\n",
    "口令🔑",
    "$(reboot)`{}[]=;&|<>!*",
];

fn key() -> SecretKey {
    SecretKey {
        topology: TopologyId("shop".into()),
        owner: SecretOwner::Server(ServerId("db1".into())),
    }
}

fn asked<'a>(source: Option<&'a SecretSource>, asking: Asking) -> Circumstances<'a> {
    Circumstances {
        password_file: None,
        password_variable: false,
        source,
        asking,
    }
}

#[test]
fn a_password_is_looked_for_in_this_order() {
    use Asking::*;
    let file = SecretSource::File("/p".into());
    let env = SecretSource::Env("DB".into());
    let cases = [
        (
            Some(&SecretSource::Keychain),
            Possible,
            vec![Way::Session, Way::Keychain, Way::Prompt],
        ),
        (
            Some(&SecretSource::Keychain),
            Impossible,
            vec![Way::Session, Way::Keychain],
        ),
        (
            Some(&SecretSource::Ask),
            Possible,
            vec![Way::Session, Way::Prompt],
        ),
        (Some(&SecretSource::Ask), Impossible, vec![Way::Session]),
        (Some(&SecretSource::NotNeeded), Possible, vec![Way::Empty]),
        (Some(&file), Possible, vec![Way::File("/p".into())]),
        (Some(&env), Possible, vec![Way::Env("DB".into())]),
        (None, Possible, vec![Way::Session, Way::Prompt]),
        (None, Impossible, vec![Way::Session, Way::Empty]),
    ];
    for (source, asking, expected) in cases {
        assert_eq!(
            ways(&asked(source, asking)),
            expected,
            "{source:?} {asking:?}"
        );
    }
}

#[test]
fn what_is_said_for_this_run_comes_before_the_profile() {
    let mut given = asked(Some(&SecretSource::Keychain), Asking::Possible);
    given.password_variable = true;
    assert_eq!(ways(&given), [Way::Env("REPLICASCOPE_PASSWORD".into())]);
    given.password_file = Some(Path::new("/run/secrets/db"));
    assert_eq!(ways(&given), [Way::File("/run/secrets/db".into())]);
}

#[test]
fn r41_hard_passwords_survive_a_password_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("password");
    for password in HARD_PASSWORDS {
        for end in ["", "\n", "\r\n"] {
            fs::write(&path, format!("{password}{end}")).unwrap();
            let (secret, _) = read_password_file(&path).unwrap();
            assert_eq!(secret.expose(), password);
        }
    }
}

#[test]
fn a_password_file_that_is_none_is_told_without_its_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("password");
    let big = vec![b'x'; MAX_PASSWORD_BYTES as usize + 1];
    let cases: [(&[u8], &str); 5] = [
        (b"", "secret.file.empty"),
        (b"\n", "secret.file.empty"),
        (b"hunter2\nhunter3\n", "secret.file.not_one_line"),
        (b"hunter2\xff", "secret.file.not_utf8"),
        (&big, "secret.file.not_one_line"),
    ];
    for (content, key) in cases {
        fs::write(&path, content).unwrap();
        let why = read_password_file(&path).unwrap_err();
        assert_eq!(why.key, key);
        assert!(!format!("{why:?}").contains("hunter2"));
    }
    let why = read_password_file(&dir.path().join("absent")).unwrap_err();
    assert_eq!(why.key, "secret.file.unreadable");
}

#[cfg(unix)]
#[test]
fn a_password_file_others_can_read_is_told_and_used() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("password");
    fs::write(&path, "hunter2").unwrap();
    for (mode, notice) in [
        (0o600, None),
        (0o400, None),
        (0o644, Some("secret.file.open_to_others")),
    ] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let (secret, told) = read_password_file(&path).unwrap();
        assert_eq!(secret.expose(), "hunter2");
        assert_eq!(told.map(|n| n.text.key), notice, "{mode:o}");
    }
}

#[test]
fn the_session_remembers_and_forgets() {
    let mut session = SessionSecrets::default();
    assert_eq!(try_way(&Way::Session, &key(), &session), Found::Nothing);
    for password in HARD_PASSWORDS {
        session.keep(key(), Secret::new(password.into()));
        let found = try_way(&Way::Session, &key(), &session);
        assert!(matches!(&found, Found::Secret { secret, .. } if secret.expose() == password));
        assert!(!format!("{session:?} {found:?}").contains(password));
    }
    session.forget(&key());
    assert_eq!(session.get(&key()), None);
}

/// Set by whoever has prepared a keychain of its own for the tests:
/// `dbus-run-session -- sh -c 'printf pw | gnome-keyring-daemon --unlock --components=secrets;
/// REPLICASCOPE_TEST_KEYCHAIN=1 cargo test keychain -- --nocapture'`. A person's own is not for tests: it may be locked,
/// and then asks for its password.
const KEYCHAIN_FOR_TESTS: &str = "REPLICASCOPE_TEST_KEYCHAIN";

#[test]
fn r41_hard_passwords_survive_the_keychain() {
    if std::env::var_os(KEYCHAIN_FOR_TESTS).is_none() {
        eprintln!("NOT TESTED: the keychain, since {KEYCHAIN_FOR_TESTS} is not set");
        return;
    }
    let key = SecretKey {
        topology: TopologyId(format!("test-{}", std::process::id())),
        owner: SecretOwner::Topology,
    };
    let _cleared = Cleared(key.clone());
    assert_eq!(keychain::read(&key), Ok(None));
    for password in HARD_PASSWORDS {
        keychain::write(&key, &Secret::new(password.into())).unwrap();
        let found = try_way(&Way::Keychain, &key, &SessionSecrets::default());
        assert!(matches!(&found, Found::Secret { secret, .. } if secret.expose() == password));
    }
    keychain::delete(&key).unwrap();
    assert_eq!(keychain::read(&key), Ok(None));
    assert_eq!(keychain::delete(&key), Ok(()));
}

/// As over ssh or in a container.
#[cfg(target_os = "linux")]
#[test]
fn without_a_keychain_the_reason_is_told_at_once() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "settings::secrets::tests::child_without_a_keychain",
            "--exact",
            "--ignored",
        ])
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}"
    );
}

#[test]
#[ignore = "started by the test before"]
fn child_without_a_keychain() {
    if std::env::var("DBUS_SESSION_BUS_ADDRESS").as_deref() != Ok("unix:path=/nonexistent/bus") {
        return;
    }
    let started = std::time::Instant::now();
    let unavailable = keychain::status().unwrap_err();
    assert_eq!(unavailable.why.key, "secret.keychain.none");
    let secret = Secret::new("hunter2".into());
    assert_eq!(keychain::write(&key(), &secret), Err(unavailable.clone()));
    let found = try_way(&Way::Keychain, &key(), &SessionSecrets::default());
    assert_eq!(found, Found::Failed(unavailable.why));
    assert!(started.elapsed().as_secs() < 5);
}

struct Cleared(SecretKey);

impl Drop for Cleared {
    fn drop(&mut self) {
        let _ = keychain::delete(&self.0);
    }
}
