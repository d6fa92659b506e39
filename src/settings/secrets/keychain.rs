//! The system's keychain: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows.
//!
//! Every call may block, even until a person types the keychain's own password: only from a worker thread. Where there
//! is none (ssh, a container) calls fail at once, and the reason says so.

use super::{Secret, wipe};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::SecretKey;
use crate::model::trouble::readable;
use keyring::{Entry, Error};

const SERVICE: &str = "replicascope";

/// The keychain did not do it, and why. Passwords can still be kept for the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Unavailable {
    pub why: Phrase,
}

/// Whether there is a keychain, asked of the system once per run.
pub fn status() -> Result<(), Unavailable> {
    match Entry::store_status() {
        Ok(()) => Ok(()),
        Err(error) => Err(Unavailable {
            why: phrase("secret.keychain.none").with("message", plain(error)),
        }),
    }
}

/// None: the keychain is there, and has no such entry.
pub fn read(key: &SecretKey) -> Result<Option<Secret>, Unavailable> {
    match entry(key)?.get_password() {
        Ok(text) => Ok(Some(Secret::new(text))),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(unavailable(error)),
    }
}

pub fn write(key: &SecretKey, secret: &Secret) -> Result<(), Unavailable> {
    entry(key)?
        .set_password(secret.expose())
        .map_err(unavailable)
}

/// What was not there is deleted too.
pub fn delete(key: &SecretKey) -> Result<(), Unavailable> {
    match entry(key)?.delete_credential() {
        Ok(()) | Err(Error::NoEntry) => Ok(()),
        Err(error) => Err(unavailable(error)),
    }
}

fn entry(key: &SecretKey) -> Result<Entry, Unavailable> {
    status()?;
    Entry::new(SERVICE, &key.entry_name()).map_err(unavailable)
}

fn unavailable(error: Error) -> Unavailable {
    let why = match error {
        Error::NoStorageAccess(_) => phrase("secret.keychain.locked"),
        // These carry what was stored: the words of the error only, never the bytes.
        Error::BadEncoding(bytes) | Error::BadDataFormat(bytes, _) => {
            wipe(bytes);
            phrase("secret.keychain.not_text")
        }
        other => phrase("secret.keychain.failed").with("message", plain(&other)),
    };
    Unavailable { why }
}

fn plain(error: &Error) -> String {
    readable(error.to_string().as_bytes())
}
