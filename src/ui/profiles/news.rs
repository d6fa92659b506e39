//! What the forms hear back from outside: answers of workers, in values a screen can show.

use std::path::PathBuf;

use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{SecretKey, ServerId, TopologyId};
use crate::model::server::Product;
use crate::model::trouble::Trouble;
use crate::ui::action::FilePurpose;
use crate::ui::widgets::Sign;
use crate::words::Catalogue;

/// Something that became known. Every form hears all of it and takes what concerns it.
#[derive(Clone, Debug)]
pub enum News {
    Saved {
        name: String,
        /// The other's file was kept aside, when ours was written over it.
        note: Option<Phrase>,
    },
    NotSaved {
        why: Phrase,
        cause: SaveTrouble,
    },
    /// Somebody else wrote the file, and it was read again.
    Reloaded,
    /// What must be told about our files: found when reading them.
    Remarks(Vec<Remark>),
    Imported {
        names: Vec<String>,
        remarks: Vec<Remark>,
    },
    NotImported(Phrase),
    Exported {
        to: PathBuf,
        count: u64,
    },
    NotExported(Phrase),
    /// None: cancelled, or this system has no dialog to show. They look the same from here.
    FileChosen {
        purpose: FilePurpose,
        path: Option<PathBuf>,
    },
    Tested {
        topology: TopologyId,
        server: ServerId,
        outcome: TestOutcome,
    },
    /// One entry for each flavour: its name and the SQL.
    AccountSql(Vec<(String, String)>),
    Keychain(Keychain),
    PasswordKept {
        key: SecretKey,
        kept: Kept,
    },
    PasswordNeeded(PasswordQuestion),
    Places(Places),
}

/// Whether the person can do something about it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveTrouble {
    /// Somebody else changed the file: load theirs, or save ours over it.
    Conflict,
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Something is missing from what was loaded; otherwise it is only good to know.
    pub is_warning: bool,
    pub text: Phrase,
}

/// Whether passwords can be kept beyond this session.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Keychain {
    /// The system has not answered yet.
    #[default]
    Asking,
    Available,
    Unavailable(Phrase),
}

/// Where a password is now.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    InKeychain,
    /// In memory until the program ends, and why not in the keychain if it was meant for it.
    ThisSession(Option<Phrase>),
    Forgotten,
}

/// A password nobody but the person has.
#[derive(Clone, Debug, PartialEq)]
pub struct PasswordQuestion {
    pub key: SecretKey,
    pub topology_name: String,
    pub user: String,
    /// The servers that wait for it.
    pub servers: Vec<String>,
    /// Offer to keep it in the keychain: the profile says it belongs there.
    pub for_keychain: bool,
    /// Why it is asked for although one was expected: refused by the server, keychain locked.
    pub why: Option<Phrase>,
}

/// Where our files are, as text to read and copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// None: the system names no home for this user, nothing can be saved.
    pub profiles_file: Option<String>,
    pub preferences_file: Option<String>,
}

/// What a test of one server found out.
#[derive(Clone, Debug, PartialEq)]
pub enum TestOutcome {
    Reached(TestReport),
    Failed(Trouble),
    /// Not tried: there is no password to try it with.
    NoPassword(Option<Phrase>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TestReport {
    pub product: Product,
    /// Protocol version and cipher; None for plain text.
    pub tls: Option<(String, String)>,
    pub questions: Vec<QuestionReport>,
}

/// One question and whether this account is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionReport {
    pub what: Phrase,
    /// The trouble's hint carries the GRANT where a privilege is missing.
    pub result: Result<(), Trouble>,
}

impl News {
    /// What is worth saying in passing, wherever the person is.
    pub fn toast(&self, words: &Catalogue) -> Option<(Sign, String)> {
        let (sign, text) = match self {
            News::Saved {
                note: Some(note), ..
            } => (Sign::Ok, note.clone()),
            News::Saved { name, .. } => {
                (Sign::Ok, phrase("news.saved").with("name", name.as_str()))
            }
            News::NotSaved { why, .. } | News::NotImported(why) | News::NotExported(why) => {
                (Sign::Critical, why.clone())
            }
            News::Reloaded => (Sign::Ok, phrase("news.reloaded")),
            News::Imported { names, .. } => (
                Sign::Ok,
                phrase("news.imported").with("n", names.len() as u64),
            ),
            News::Exported { count, .. } => (Sign::Ok, phrase("news.exported").with("n", *count)),
            _ => return None,
        };
        Some((sign, words.say(&text)))
    }
}
