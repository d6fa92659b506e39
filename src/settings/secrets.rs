//! Where passwords come from and where they are kept: the system's keychain, else this session's memory; never a file of
//! ours.
//!
//! Which way is tried first is decided in [`ways`], purely; [`try_way`] goes one of them. The prompt on a terminal and the
//! password field belong to `app`.

pub mod keychain;

pub use crate::model::secret::Secret;

use super::notice::{Notice, io_reason, shown};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{SecretKey, SecretSource};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zeroize::{Zeroize, Zeroizing};

/// Read when no `--password-file` is given.
pub const PASSWORD_VARIABLE: &str = "REPLICASCOPE_PASSWORD";

/// No password is longer; whatever is, is another file.
const MAX_PASSWORD_BYTES: u64 = 64 << 10;

/// Passwords for as long as the program runs.
#[derive(Debug, Default)]
pub struct SessionSecrets(BTreeMap<SecretKey, Secret>);

impl SessionSecrets {
    pub fn get(&self, key: &SecretKey) -> Option<&Secret> {
        self.0.get(key)
    }

    pub fn keep(&mut self, key: SecretKey, secret: Secret) {
        self.0.insert(key, secret);
    }

    /// After the server refused it, or when its account is gone.
    pub fn forget(&mut self, key: &SecretKey) {
        self.0.remove(key);
    }
}

/// One place to look for a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    File(PathBuf),
    Env(String),
    Session,
    Keychain,
    /// Ask the person: on the terminal, or in the window.
    Prompt,
    /// The account has no password.
    Empty,
}

/// What decides where a password is looked for.
#[derive(Clone, Debug)]
pub struct Circumstances<'a> {
    /// `--password-file`
    pub password_file: Option<&'a Path>,
    /// Whether [`PASSWORD_VARIABLE`] is set.
    pub password_variable: bool,
    /// What the profile says; None without a profile, as with `--server`.
    pub source: Option<&'a SecretSource>,
    pub asking: Asking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    Possible,
    /// Nobody is there to answer: no terminal, no window.
    Impossible,
}

/// The ways to a password, the first that has one wins: what was said for this run, then what the profile says, then the
/// person. A profile that names one place is taken at its word: the environment or a file, and no other.
pub fn ways(circumstances: &Circumstances) -> Vec<Way> {
    let mut ways = match circumstances {
        Circumstances {
            password_file: Some(path),
            ..
        } => return vec![Way::File(path.to_path_buf())],
        Circumstances {
            password_variable: true,
            ..
        } => return vec![Way::Env(PASSWORD_VARIABLE.to_owned())],
        Circumstances { source, .. } => match source {
            Some(SecretSource::File(path)) => return vec![Way::File(path.clone())],
            Some(SecretSource::Env(name)) => return vec![Way::Env(name.clone())],
            Some(SecretSource::NotNeeded) => return vec![Way::Empty],
            Some(SecretSource::Keychain) => vec![Way::Session, Way::Keychain],
            Some(SecretSource::Ask) | None => vec![Way::Session],
        },
    };
    match (circumstances.asking, circumstances.source) {
        (Asking::Possible, _) => ways.push(Way::Prompt),
        // An address alone, in a script: accounts without a password exist, and the server says if this is none.
        (Asking::Impossible, None) => ways.push(Way::Empty),
        (Asking::Impossible, Some(_)) => {}
    }
    ways
}

/// What one way led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Secret {
        secret: Secret,
        notice: Option<Notice>,
    },
    /// Nothing there; the next way may have it.
    Nothing,
    /// Nothing to be had this way, and why; the next way may have it.
    Failed(Phrase),
    /// [`Way::Prompt`]: the caller must ask.
    AskThePerson,
}

/// Goes one way. The keychain may block until a person unlocks it: call from a worker thread.
pub fn try_way(way: &Way, key: &SecretKey, session: &SessionSecrets) -> Found {
    let found = |secret| Found::Secret {
        secret,
        notice: None,
    };
    match way {
        Way::File(path) => match read_password_file(path) {
            Ok((secret, notice)) => Found::Secret { secret, notice },
            Err(why) => Found::Failed(why),
        },
        Way::Env(name) => match std::env::var(name) {
            Ok(text) => found(Secret::new(text)),
            Err(_) => Found::Failed(phrase("secret.env.not_set").with("name", name.as_str())),
        },
        Way::Session => session.get(key).cloned().map_or(Found::Nothing, found),
        Way::Keychain => match keychain::read(key) {
            Ok(secret) => secret.map_or(Found::Nothing, found),
            Err(unavailable) => Found::Failed(unavailable.why),
        },
        Way::Prompt => Found::AskThePerson,
        Way::Empty => found(Secret::new(String::new())),
    }
}

/// One line; its end is not part of the password. A file others can read is told, not refused: in a container it may be
/// the only way it comes.
pub fn read_password_file(path: &Path) -> Result<(Secret, Option<Notice>), Phrase> {
    let about = |problem: Phrase| problem.with("path", shown(path));
    let mut bytes = Zeroizing::new(Vec::new());
    let file = File::open(path).and_then(|file| {
        let open_to_others = readable_by_others(&file);
        file.take(MAX_PASSWORD_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(open_to_others)
    });
    let open_to_others = file.map_err(|error| {
        about(phrase("secret.file.unreadable").with("reason", io_reason(&error)))
    })?;
    let notice =
        open_to_others.then(|| Notice::warning(about(phrase("secret.file.open_to_others"))));
    let secret = one_line(&bytes).map_err(about)?;
    Ok((secret, notice))
}

fn one_line(bytes: &[u8]) -> Result<Secret, Phrase> {
    let text = std::str::from_utf8(bytes).map_err(|_| phrase("secret.file.not_utf8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line = text
        .strip_suffix('\n')
        .map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
    match line {
        "" => Err(phrase("secret.file.empty")),
        _ if line.len() as u64 > MAX_PASSWORD_BYTES || line.contains(['\n', '\r', '\0']) => {
            Err(phrase("secret.file.not_one_line"))
        }
        _ => Ok(Secret::new(line.to_owned())),
    }
}

#[cfg(unix)]
fn readable_by_others(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable_by_others(_file: &File) -> bool {
    false
}

/// For bytes that came from a keychain's error and may be the password.
fn wipe(mut bytes: Vec<u8>) {
    bytes.zeroize();
}

#[cfg(test)]
mod tests;
