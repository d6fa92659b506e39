//! One file of ours on disk: read as a whole, replaced as a whole, never by somebody who has not seen what is in it.

use super::notice::{Damage, Notice, SaveError, io_reason, line_at, shown};
use crate::model::phrase::{Arg, phrase};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The version this program writes, and the newest it reads.
pub const VERSION: i64 = 1;

/// A thousand times what anybody's profiles take: beyond it, it is not our file (or not a file: `/dev/zero`).
const MAX_BYTES: u64 = 16 << 20;

/// A file as it was when we last looked.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    seen: Seen,
    /// What a person was already told about, so that a bad edit is not reported over and over.
    reported: Option<Seen>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Absent,
    Present(Print),
    /// There, but not to be overwritten: of a newer version.
    Newer {
        version: i64,
    },
    /// There, but its content is not known.
    Unreadable,
}

/// What tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Print {
    modified: Option<SystemTime>,
    len: u64,
    hash: u64,
}

/// What a file turned out to be.
#[derive(Debug)]
pub(super) enum Content {
    Absent,
    Text(String),
    Damaged(Damage),
    Newer { version: i64 },
    Unreadable(io::Error),
}

impl SettingsFile {
    /// Looks at the file; the content is handed over once.
    pub(super) fn open(path: PathBuf) -> (Self, Content) {
        let (seen, content) = look(&path);
        let file = SettingsFile {
            path,
            seen,
            reported: None,
        };
        (file, content)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks again and keeps to the new state, if `understood` makes something of it.
    pub(super) fn reopen<T>(
        &mut self,
        understood: impl FnOnce(Content) -> Result<T, Notice>,
    ) -> Result<T, Notice> {
        let (seen, content) = look(&self.path);
        match understood(content) {
            Ok(made) => {
                self.seen = seen;
                self.reported = None;
                Ok(made)
            }
            Err(notice) => {
                self.reported = Some(seen);
                Err(notice)
            }
        }
    }

    /// Whether somebody else changed the file since we last looked. Cheap enough for every second: the content is read
    /// only when time or length differ.
    pub fn changed_on_disk(&self) -> bool {
        let last = self.reported.as_ref().unwrap_or(&self.seen);
        match (last, fs::metadata(&self.path)) {
            (Seen::Present(print), Ok(now))
                if now.len() == print.len && now.modified().ok() == print.modified =>
            {
                false
            }
            (Seen::Absent, Err(error)) if error.kind() == io::ErrorKind::NotFound => false,
            _ => !same_content(last, &look(&self.path).0),
        }
    }

    /// Replaces the file in one step: afterwards there is either all of the old or all of the new.
    pub(super) fn write(&mut self, text: &str) -> Result<(), SaveError> {
        match self.seen {
            Seen::Newer { version } => {
                let path = self.path.clone();
                return Err(SaveError::Newer { path, version });
            }
            Seen::Unreadable => {
                let path = self.path.clone();
                return Err(SaveError::NeverRead { path });
            }
            Seen::Absent | Seen::Present(_) => {}
        }
        self.replace(text).map_err(|error| match error {
            Replace::Conflict => SaveError::Conflict {
                path: self.path.clone(),
            },
            Replace::Io(error) => SaveError::io(&self.path, error),
        })
    }

    fn replace(&mut self, text: &str) -> Result<(), Replace> {
        // Somebody's link to where the file really lives stays a link.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let lock = lock(&target)?;
        // A file that has gone meanwhile holds nothing that could be lost.
        let now = look(&self.path).0;
        if now != Seen::Absent && !same_content(&self.seen, &now) {
            return Err(Replace::Conflict);
        }
        if lock.is_some() {
            remove_leftovers(&target);
        }
        write_atomically(&target, text)?;
        self.seen = Seen::Present(print_of(&target, text.as_bytes()));
        self.reported = None;
        Ok(())
    }

    /// Moves the file aside under a name of its own, `profiles.toml.damaged-1`, and remembers that there is none now.
    fn move_aside(&mut self, what: &str) -> io::Result<PathBuf> {
        let aside = move_aside(&self.path, what);
        self.seen = match &aside {
            Ok(_) => Seen::Absent,
            Err(_) => Seen::Unreadable,
        };
        aside
    }

    /// So that a damaged file is neither overwritten nor lost; the notice says where it is now.
    pub(super) fn put_damaged_aside(&mut self, damage: &Damage) -> Notice {
        let text = match self.move_aside("damaged") {
            Ok(aside) => phrase("settings.file.damaged_aside").with("aside", shown(&aside)),
            Err(error) => phrase("settings.file.damaged_stays").with("error", io_reason(&error)),
        };
        let text = text.with("path", shown(&self.path));
        Notice::warning(text.with("reason", damage.phrase()))
    }

    /// Moves aside what others wrote since we last looked, so that it can be replaced without being lost.
    pub(super) fn move_changes_aside(&mut self) -> Result<Option<PathBuf>, SaveError> {
        match look(&self.path).0 {
            Seen::Newer { version } => Err(SaveError::Newer {
                path: self.path.clone(),
                version,
            }),
            Seen::Absent => {
                self.seen = Seen::Absent;
                Ok(None)
            }
            Seen::Present(_) | Seen::Unreadable => self
                .move_aside("replaced")
                .map(Some)
                .map_err(|error| SaveError::io(&self.path, error)),
        }
    }
}

enum Replace {
    Conflict,
    Io(io::Error),
}

impl From<io::Error> for Replace {
    fn from(error: io::Error) -> Self {
        Replace::Io(error)
    }
}

/// Reads a file of the person's choice, which is never moved or changed.
pub(super) fn read(path: &Path) -> Content {
    look(path).1
}

/// The notice for content that is not a text of ours; None for text and for no file at all.
pub(super) fn notice(path: &Path, content: &Content) -> Option<Notice> {
    let text = match content {
        Content::Absent | Content::Text(_) => return None,
        Content::Damaged(damage) => phrase("settings.file.damaged").with("reason", damage.phrase()),
        Content::Newer { version } => {
            phrase("settings.file.newer").with("version", Arg::Number(version.unsigned_abs()))
        }
        Content::Unreadable(error) => {
            phrase("settings.file.unreadable").with("reason", io_reason(error))
        }
    };
    Some(Notice::warning(text.with("path", shown(path))))
}

fn look(path: &Path) -> (Seen, Content) {
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return (Seen::Absent, Content::Absent);
        }
        Err(error) => return (Seen::Unreadable, Content::Unreadable(error)),
    };
    let print = print_of(path, &bytes);
    match text_of(bytes).and_then(|text| Ok((version_of(&text)?, text))) {
        Ok((version, _)) if version > VERSION => {
            (Seen::Newer { version }, Content::Newer { version })
        }
        Ok((_, text)) => (Seen::Present(print), Content::Text(text)),
        Err(damage) => (Seen::Present(print), Content::Damaged(damage)),
    }
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// The mark some editors put in front and Windows line ends are the TOML parser's business; it takes both.
fn text_of(bytes: Vec<u8>) -> Result<String, Damage> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..good]);
            let line = line_at(&before, good);
            Err(Damage::new(Some(line), phrase("settings.damage.not_utf8")))
        }
    }
}

/// A file without a version was written by hand: the first version is meant.
fn version_of(text: &str) -> Result<i64, Damage> {
    let root = toml::de::DeTable::parse(text).map_err(|error| Damage::toml(text, &error))?;
    let Some(version) = root.get_ref().get("version") else {
        return Ok(1);
    };
    let number = version.get_ref().as_integer();
    match number.and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok()) {
        Some(number) if number >= 1 => Ok(number),
        _ => {
            let line = line_at(text, version.span().start);
            Err(Damage::new(Some(line), phrase("settings.damage.version")))
        }
    }
}

fn print_of(path: &Path, bytes: &[u8]) -> Print {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Print {
        modified: fs::metadata(path).and_then(|m| m.modified()).ok(),
        len: bytes.len() as u64,
        hash: hasher.finish(),
    }
}

/// A file touched but not changed is the same.
fn same_content(a: &Seen, b: &Seen) -> bool {
    match (a, b) {
        (Seen::Present(a), Seen::Present(b)) => (a.len, a.hash) == (b.len, b.hash),
        _ => a == b,
    }
}

/// Held while a file is compared and replaced, so that two instances do not both find it unchanged.
struct Lock(File);

impl Drop for Lock {
    /// Not left to the closing of the file: a process started by another thread at this moment has a copy of it, and
    /// would hold the lock for us until it is up.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// None where locks do not exist (some network shares): there the comparison alone must do.
fn lock(target: &Path) -> Result<Option<Lock>, Replace> {
    let mut name = target.as_os_str().to_owned();
    name.push(".lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(name)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(file))),
        Err(fs::TryLockError::WouldBlock) => Err(Replace::Conflict),
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
}

/// Temporary file beside it, flushed to the disk, renamed over it, folder flushed: a crash or a full disk at any moment
/// leaves the old or the new file, never half of one.
fn write_atomically(target: &Path, text: &str) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new()
        .prefix(&leftover_prefix(target))
        .tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(target) {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(target).map_err(|error| error.error)?;
    flush_folder(folder);
    Ok(())
}

fn leftover_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.new-")
}

/// Temporary files of instances that were killed while they wrote. Only whoever holds the lock makes such files, so with
/// the lock in hand they are nobody's.
fn remove_leftovers(target: &Path) {
    let prefix = leftover_prefix(target);
    let folder = target.parent().unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// So that the renaming itself survives a power cut. The new file is in place already: a file system that cannot flush
/// folders is no reason to report a failure.
fn flush_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|f| f.sync_all());
    }
}

fn move_aside(path: &Path, what: &str) -> io::Result<PathBuf> {
    for number in 1..10_000 {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{what}-{number}"));
        let aside = PathBuf::from(name);
        if fs::symlink_metadata(&aside).is_err() {
            fs::rename(path, &aside)?;
            return Ok(aside);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
