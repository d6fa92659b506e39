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

/// With a keychain this is the whole round; without one (CI, ssh) it holds that the reason is said. To have one:
/// `dbus-run-session -- sh -c 'printf pw | gnome-keyring-daemon --unlock --components=secrets; cargo test keychain'`
#[test]
fn r41_hard_passwords_survive_the_keychain_or_its_absence_is_told() {
    // An entry of its own: the tests must never touch a person's.
    let key = SecretKey {
        topology: TopologyId(format!("test-{}", std::process::id())),
        owner: SecretOwner::Topology,
    };
    if let Err(unavailable) = keychain::status() {
        eprintln!("NOT TESTED, there is no keychain here: {unavailable:?}");
        assert_eq!(unavailable.why.key, "secret.keychain.none");
        let found = try_way(&Way::Keychain, &key, &SessionSecrets::default());
        assert_eq!(found, Found::Failed(unavailable.why));
        return;
    }
    let _cleared = Cleared(key.clone());
    if let Err(unavailable) = keychain::read(&key) {
        eprintln!("NOT TESTED, the keychain here does not answer: {unavailable:?}");
        return;
    }
    for password in HARD_PASSWORDS {
        keychain::write(&key, &Secret::new(password.into())).unwrap();
        let read = keychain::read(&key).unwrap();
        assert_eq!(read.as_ref().map(Secret::expose), Some(password));
    }
    keychain::delete(&key).unwrap();
    assert_eq!(keychain::read(&key), Ok(None));
    assert_eq!(keychain::delete(&key), Ok(()));
    eprintln!("tested against a real keychain");
}

struct Cleared(SecretKey);

impl Drop for Cleared {
    fn drop(&mut self) {
        let _ = keychain::delete(&self.0);
    }
}
