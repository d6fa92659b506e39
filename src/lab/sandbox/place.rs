//! Where servers are found and kept, and who is told while they start.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::folder;
use super::process;
use super::trouble::{file_trouble, no_home, stopped};
use crate::model::phrase::Phrase;
use crate::model::trouble::Trouble;

/// Where servers are found and kept.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// A server's program, or its folder, that the person chose.
    pub program: Option<PathBuf>,
    /// Instead of the user's cache.
    pub cache: Option<PathBuf>,
}

impl Place {
    pub(super) fn cache(&self) -> Result<PathBuf, Trouble> {
        let usual = || {
            let project = ProjectDirs::from("", "", "replicascope")?;
            Some(project.cache_dir().join("lab"))
        };
        let cache = self.cache.clone().or_else(usual).ok_or_else(no_home)?;
        // Servers run in folders of their own.
        std::path::absolute(&cache).map_err(|error| file_trouble(&cache, &error))
    }

    /// For a server that the system keeps out of the user's folders: what Ubuntu confines by AppArmor may use the folder
    /// for temporary files. `None` when a person chose the place, or nobody else is kept out of that folder.
    pub(super) fn cache_for_confined(&self) -> Option<PathBuf> {
        let folder = self.temporary_folder()?;
        process::private_folder(&folder).ok()?;
        process::is_private(&folder).then_some(folder)
    }

    fn temporary_folder(&self) -> Option<PathBuf> {
        let is_free_to_choose = self.cache.is_none();
        let folder = is_free_to_choose.then(|| process::temporary_folder("replicascope-lab"))??;
        std::path::absolute(folder).ok()
    }
}

pub(super) fn runs(cache: &Path) -> PathBuf {
    cache.join("runs")
}

/// Clears away what labs of killed programs left; every start does it.
pub fn sweep(place: &Place) -> Result<(), Trouble> {
    folder::sweep(&runs(&place.cache()?))?;
    match place.temporary_folder() {
        Some(cache) if process::is_private(&cache) => folder::sweep(&runs(&cache)),
        _ => Ok(()),
    }
}

/// What the starting tells, and asks, meanwhile.
pub struct Watch<'a> {
    /// What is being done now.
    pub say: &'a (dyn Fn(Phrase) + Sync),
    /// The person has changed their mind.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Watch<'_> {
    /// Tells nobody, and goes on.
    pub const NOBODY: Watch<'static> = Watch {
        say: &|_| {},
        is_stopped: &|| false,
    };

    pub(super) fn go_on(&self) -> Result<(), Trouble> {
        if (self.is_stopped)() {
            Err(stopped())
        } else {
            Ok(())
        }
    }
}
