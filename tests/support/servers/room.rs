//! Room for a topology on this machine: one of two places, and a temporary folder that is cleared even after a crash.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::wait::wait_for;

/// A MySQL topology takes 600 MB and all of two cores while it starts, hence two at a time.
const PLACES: usize = 2;
const LONGEST_WAIT_FOR_A_PLACE: Duration = Duration::from_secs(20 * 60);
const FOLDER_PREFIX: &str = "replicascope-servers-";
/// Unix socket paths end at 107 bytes.
const LONGEST_BASE: usize = 60;

/// One of the machine's places for topologies, held as a file lock, which the kernel gives back in any case.
pub struct Place {
    _lock: File,
}

thread_local! {
    static PLACE_OF_THIS_TEST: RefCell<Weak<Place>> = const { RefCell::new(Weak::new()) };
}

/// Waits for a free place. A test that starts a second topology keeps to its one place: two tests that each held one
/// and waited for another would wait for ever.
pub fn take_place() -> Arc<Place> {
    PLACE_OF_THIS_TEST.with_borrow_mut(|of_this_test| {
        if let Some(place) = of_this_test.upgrade() {
            return place;
        }
        let waiting_since = Instant::now();
        let lock = wait_for(
            "a place for a topology on this machine",
            LONGEST_WAIT_FOR_A_PLACE,
            free_place,
        );
        if waiting_since.elapsed() > Duration::from_secs(1) {
            eprintln!(
                "waited {:.1} s for a place",
                waiting_since.elapsed().as_secs_f64()
            );
        }
        let place = Arc::new(Place { _lock: lock });
        *of_this_test = Arc::downgrade(&place);
        place
    })
}

fn free_place() -> Result<File, String> {
    (0..PLACES)
        .map(|place| shared_file(&base().join(format!("{FOLDER_PREFIX}place-{place}"))))
        .find(|file| file.try_lock().is_ok())
        .ok_or_else(|| format!("{PLACES} topologies are running all the time"))
}

/// The folder of one topology: removed when dropped, or by the next topology when the process could not.
pub struct Folder {
    dir: TempDir,
    _in_use: File,
}

impl Folder {
    pub fn create() -> Self {
        let making_folders = shared_file(&base().join(format!("{FOLDER_PREFIX}folders")));
        making_folders
            .lock()
            .expect("a file in the temporary folder can be locked");
        remove_abandoned();
        let dir = tempfile::Builder::new()
            .prefix(FOLDER_PREFIX)
            .tempdir_in(base())
            .expect("a temporary folder can be made");
        let in_use = File::create(dir.path().join("in-use")).expect("a file can be made in it");
        in_use.lock().expect("a file of one's own can be locked");
        Folder {
            dir,
            _in_use: in_use,
        }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn remove_abandoned() {
    let Ok(entries) = fs::read_dir(base()) else {
        return;
    };
    for entry in entries.flatten() {
        if !entry
            .file_name()
            .to_string_lossy()
            .starts_with(FOLDER_PREFIX)
        {
            continue;
        }
        let in_use = File::open(entry.path().join("in-use"));
        if in_use.is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A lock file for all users of the machine. Opened without "create" first: the kernel refuses that flag for another
/// user's file in a sticky folder, even to root.
fn shared_file(path: &Path) -> File {
    File::open(path)
        .or_else(|_| {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o666));
            Ok::<_, std::io::Error>(file)
        })
        .unwrap_or_else(|error| panic!("cannot open {}: {error}", path.display()))
}

fn base() -> PathBuf {
    let base = std::env::temp_dir();
    if base.as_os_str().len() > LONGEST_BASE {
        PathBuf::from("/tmp")
    } else {
        base
    }
}
