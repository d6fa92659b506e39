//! What a person must hear about our files: what was found when reading one, and why one could not be saved.

use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::trouble::readable;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Something found while reading; reading went on.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub severity: NoticeSeverity,
    pub text: Phrase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSeverity {
    /// Good to know.
    Hint,
    /// Something is missing from what was loaded; nothing is lost on disk.
    Warning,
}

impl Notice {
    pub(super) fn hint(text: Phrase) -> Self {
        let severity = NoticeSeverity::Hint;
        Notice { severity, text }
    }

    pub(super) fn warning(text: Phrase) -> Self {
        let severity = NoticeSeverity::Warning;
        Notice { severity, text }
    }
}

/// Why a text is not one of our files: the line, counted from 1, where it is known, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Damage {
    pub line: Option<usize>,
    pub reason: Phrase,
}

impl Damage {
    pub(super) fn new(line: Option<usize>, reason: Phrase) -> Self {
        Damage { line, reason }
    }

    /// What the TOML parser found. Only its message: its full text quotes the line, and with it what may be a secret.
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| line_at(text, span.start));
        let reason =
            phrase("settings.damage.toml").with("message", readable(error.message().as_bytes()));
        Damage { line, reason }
    }

    /// "line 12: …", or only the reason.
    pub fn phrase(&self) -> Phrase {
        match self.line {
            Some(line) => phrase("settings.damage.at_line")
                .with("line", Arg::Number(line as u64))
                .with("reason", self.reason.clone()),
            None => self.reason.clone(),
        }
    }
}

pub(super) fn line_at(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|b| **b == b'\n').count()
}

/// Why a file was not saved. What was on disk before is still there, unchanged.
#[derive(Debug)]
pub enum SaveError {
    /// Somebody else changed the file since it was read, or is saving it at this moment.
    Conflict {
        path: PathBuf,
    },
    /// The file was written by a newer version of the program.
    Newer {
        path: PathBuf,
        version: i64,
    },
    /// The file could not be read or moved aside when it was opened, so what is in it is not known.
    NeverRead {
        path: PathBuf,
    },
    /// What was to be written would not have read back as the same.
    NotFaithful {
        path: PathBuf,
    },
    Io {
        path: PathBuf,
        error: io::Error,
    },
}

impl SaveError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        SaveError::Io { path, error }
    }

    pub fn phrase(&self) -> Phrase {
        match self {
            SaveError::Conflict { path } => {
                phrase("settings.save.conflict").with("path", shown(path))
            }
            SaveError::Newer { path, version } => phrase("settings.save.newer")
                .with("path", shown(path))
                .with("version", Arg::Number(version.unsigned_abs())),
            SaveError::NeverRead { path } => {
                phrase("settings.save.never_read").with("path", shown(path))
            }
            SaveError::NotFaithful { path } => {
                phrase("settings.save.not_faithful").with("path", shown(path))
            }
            SaveError::Io { path, error } => phrase("settings.save.io")
                .with("path", shown(path))
                .with("reason", io_reason(error)),
        }
    }
}

impl fmt::Display for SaveError {
    /// For logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Conflict { path } => {
                write!(f, "{} was changed by somebody else", path.display())
            }
            SaveError::Newer { path, version } => {
                write!(f, "{} is of the newer version {version}", path.display())
            }
            SaveError::NeverRead { path } => {
                write!(f, "{} could not be read before", path.display())
            }
            SaveError::NotFaithful { path } => {
                write!(f, "{} would not read back as the same", path.display())
            }
            SaveError::Io { path, error } => write!(f, "{} not saved: {error}", path.display()),
        }
    }
}

impl std::error::Error for SaveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SaveError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A failure of the disk by what the person can do about it.
pub(super) fn io_reason(error: &io::Error) -> Phrase {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            phrase("settings.io.disk_full")
        }
        io::ErrorKind::FileTooLarge => phrase("settings.io.too_large"),
        io::ErrorKind::PermissionDenied => phrase("settings.io.permission"),
        io::ErrorKind::ReadOnlyFilesystem => phrase("settings.io.read_only"),
        io::ErrorKind::NotFound => phrase("settings.io.not_found"),
        io::ErrorKind::IsADirectory => phrase("settings.io.is_a_folder"),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            phrase("settings.io.not_a_folder")
        }
        _ => phrase("settings.io.other").with("message", readable(error.to_string().as_bytes())),
    }
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
