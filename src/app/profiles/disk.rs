//! The thread that owns the files: what is asked of them, one after the other, and every two seconds a look whether
//! somebody else has changed them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::keychain::search;
use super::{Answer, Report};
use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::Preferences;
use crate::model::profile::address::DEFAULT_PORT;
use crate::model::profile::{Address, SecretKey, ServerProfile, TopologyId, TopologyProfile};
use crate::model::sample::FoundReplica;
use crate::settings::notice::{Notice, NoticeSeverity, SaveError};
use crate::settings::preferences::PreferenceStore;
use crate::settings::profiles::{self, ProfileStore, add_imported, fresh_server_id};
use crate::settings::secrets::Way;
use crate::settings::{paths, preferences};
use crate::ui::profiles::{News, Places, Remark, SaveTrouble};

/// Requests waiting while the disk is slow; nobody presses more buttons than that.
const JOBS_IN_FLIGHT: usize = 256;
const LOOK_EVERY: Duration = Duration::from_secs(2);

pub(super) enum DiskJob {
    Edit(Edit),
    Export {
        topologies: Vec<TopologyId>,
        to: PathBuf,
    },
    /// The person said in a dialog that this file may be replaced.
    MayReplace(PathBuf),
    Preferences(Preferences),
    /// Ways that lead to files and variables, not to the keychain.
    Search {
        key: SecretKey,
        ways: Vec<Way>,
    },
}

/// A change of the profiles.
pub(super) enum Edit {
    Put {
        profile: Box<TopologyProfile>,
        /// Even if somebody else changed the file.
        over: bool,
    },
    AddFound {
        topology: TopologyId,
        server: FoundReplica,
    },
    Remove(TopologyId),
    Import(PathBuf),
    Reload,
}

pub(super) struct Disk {
    profiles: Vec<TopologyProfile>,
    /// None: no home for files.
    stores: Option<(ProfileStore, PreferenceStore)>,
    may_replace: Option<PathBuf>,
    /// A change that cannot be read is told once.
    told_unreadable: bool,
}

/// What was read at the start.
pub(super) struct Opened {
    pub profiles: Vec<TopologyProfile>,
    pub preferences: Preferences,
    pub remarks: Vec<Remark>,
    pub places: Places,
}

impl Disk {
    pub fn open(config_dir: Option<&Path>) -> (Self, Opened) {
        let mut opened = Opened {
            profiles: Vec::new(),
            preferences: Preferences::default(),
            remarks: Vec::new(),
            places: Places::default(),
        };
        let stores = config_dir.map(|dir| {
            let (profile_store, loaded) = profiles::load(dir);
            let (preference_store, preferences, notices) = preferences::load(dir);
            opened.profiles = loaded.profiles;
            opened.preferences = preferences;
            opened.remarks = loaded.notices.iter().chain(&notices).map(remark).collect();
            opened.places = Places {
                profiles_file: Some(paths::profiles_file(dir).display().to_string()),
                preferences_file: Some(paths::preferences_file(dir).display().to_string()),
            };
            (profile_store, preference_store)
        });
        let disk = Disk {
            profiles: opened.profiles.clone(),
            stores,
            may_replace: None,
            told_unreadable: false,
        };
        (disk, opened)
    }

    /// The second channel ends when the thread has.
    pub fn start(self, report: Report) -> std::io::Result<(Sender<DiskJob>, Receiver<()>)> {
        let (jobs, inbox) = bounded(JOBS_IN_FLIGHT);
        let (ending, done) = bounded(0);
        std::thread::Builder::new()
            .name("settings on disk".into())
            .spawn(move || {
                self.run(&inbox, &report);
                drop(ending);
            })?;
        Ok((jobs, done))
    }

    fn run(mut self, inbox: &Receiver<DiskJob>, report: &Report) {
        loop {
            match inbox.recv_timeout(LOOK_EVERY) {
                Ok(job) => self.do_job(job, report),
                Err(RecvTimeoutError::Timeout) => self.look(report),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn do_job(&mut self, job: DiskJob, report: &Report) {
        match job {
            DiskJob::Edit(edit) => self.edit(edit, report),
            DiskJob::Export { topologies, to } => report.news(self.export(&topologies, &to)),
            DiskJob::MayReplace(path) => self.may_replace = Some(path),
            DiskJob::Preferences(preferences) => self.save_preferences(&preferences, report),
            DiskJob::Search { key, ways } => {
                let search = search(&ways, &key);
                report.tell(Answer::Searched { key, search });
            }
        }
    }

    fn edit(&mut self, edit: Edit, report: &Report) {
        let mut wanted = self.profiles.clone();
        match edit {
            Edit::Put { profile, over } => {
                let (id, name) = (profile.id.clone(), profile.name.clone());
                put(&mut wanted, *profile);
                self.commit(wanted, Some(&id), over, name, report);
                report.tell(Answer::EditDone(Some(id)));
            }
            Edit::AddFound { topology, server } => {
                if let Some(profile) = wanted.iter_mut().find(|p| p.id == topology)
                    && add_found(profile, &server)
                {
                    let name = profile.name.clone();
                    self.commit(wanted, Some(&topology), false, name, report);
                }
            }
            Edit::Remove(id) => {
                wanted.retain(|p| p.id != id);
                let gone = self.profiles.iter().find(|p| p.id == id);
                let name = gone.map_or(String::new(), |p| p.name.clone());
                self.commit(wanted, None, false, name, report);
            }
            Edit::Import(path) => self.import(wanted, &path, report),
            Edit::Reload => self.reload(report),
        }
    }

    /// Saves, and only then tells that it is so. True when saved.
    fn commit(
        &mut self,
        wanted: Vec<TopologyProfile>,
        touched: Option<&TopologyId>,
        over: bool,
        name: String,
        report: &Report,
    ) -> bool {
        match self.write(&wanted, over) {
            Ok(note) => {
                let orphans = orphans(&self.profiles, &wanted);
                self.adopt(wanted, touched, orphans, report);
                report.news(News::Saved { name, note });
                true
            }
            Err((why, cause)) => {
                report.news(News::NotSaved { why, cause });
                false
            }
        }
    }

    fn write(
        &mut self,
        wanted: &[TopologyProfile],
        over: bool,
    ) -> Result<Option<Phrase>, (Phrase, SaveTrouble)> {
        let Some((store, _)) = &mut self.stores else {
            return Err((phrase("desk.no_home"), SaveTrouble::Other));
        };
        let saved = match over {
            true => store.save_over_changes(wanted),
            false => store.save(wanted).map(|()| None),
        };
        saved.map(|notice| notice.map(|n| n.text)).map_err(|error| {
            let cause = match error {
                SaveError::Conflict { .. } => SaveTrouble::Conflict,
                _ => SaveTrouble::Other,
            };
            (error.phrase(), cause)
        })
    }

    fn adopt(
        &mut self,
        profiles: Vec<TopologyProfile>,
        touched: Option<&TopologyId>,
        orphans: Vec<SecretKey>,
        report: &Report,
    ) {
        let before = std::mem::replace(&mut self.profiles, profiles);
        let is_new = |p: &&TopologyProfile| !before.contains(p) || touched == Some(&p.id);
        let changed = self
            .profiles
            .iter()
            .filter(is_new)
            .map(|p| p.id.clone())
            .collect();
        let is_gone = |p: &&TopologyProfile| self.profiles.iter().all(|now| now.id != p.id);
        let removed = before
            .iter()
            .filter(is_gone)
            .map(|p| p.id.clone())
            .collect();
        report.tell(Answer::Profiles {
            profiles: self.profiles.clone(),
            changed,
            removed,
            orphans,
        });
    }

    fn import(&mut self, mut wanted: Vec<TopologyProfile>, path: &Path, report: &Report) {
        let loaded = match profiles::read_file(&from_home(path)) {
            Ok(loaded) => loaded,
            Err(notice) => return report.news(News::NotImported(notice.text)),
        };
        let remarks: Vec<Remark> = loaded.notices.iter().map(remark).collect();
        let names: Vec<String> = loaded.profiles.iter().map(|p| p.name.clone()).collect();
        if names.is_empty() {
            let why = match remarks.first() {
                Some(remark) => remark.text.clone(),
                None => phrase("desk.nothing_in_file"),
            };
            return report.news(News::NotImported(why));
        }
        add_imported(&mut wanted, loaded.profiles);
        match self.write(&wanted, false) {
            Ok(_) => {
                self.adopt(wanted, None, Vec::new(), report);
                report.news(News::Imported { names, remarks });
            }
            Err((why, _)) => report.news(News::NotImported(why)),
        }
    }

    fn export(&mut self, topologies: &[TopologyId], to: &Path) -> News {
        let chosen: Vec<TopologyProfile> = self
            .profiles
            .iter()
            .filter(|p| topologies.contains(&p.id))
            .cloned()
            .collect();
        let path = from_home(to);
        // a typed path was never asked about
        if path.exists() && self.may_replace.as_deref() != Some(&path) {
            let path = path.display().to_string();
            return News::NotExported(phrase("desk.export_exists").with("path", path));
        }
        match profiles::export(&path, &chosen) {
            Ok(()) => News::Exported {
                to: path,
                count: chosen.len() as u64,
            },
            Err(error) => News::NotExported(error.phrase()),
        }
    }

    fn save_preferences(&mut self, wanted: &Preferences, report: &Report) {
        let Some((_, store)) = &mut self.stores else {
            return;
        };
        if let Err(error) = store.save(wanted) {
            let text = error.phrase();
            let is_warning = true;
            report.news(News::Remarks(vec![Remark { is_warning, text }]));
        }
    }

    fn look(&mut self, report: &Report) {
        let changed = self
            .stores
            .as_ref()
            .is_some_and(|(store, _)| store.changed_on_disk());
        match changed {
            true if !self.told_unreadable => self.reload(report),
            true => {}
            false => self.told_unreadable = false,
        }
    }

    /// What cannot be used changes nothing here; the person is told.
    fn reload(&mut self, report: &Report) {
        let Some((store, _)) = &mut self.stores else {
            return;
        };
        match store.reload() {
            Ok(loaded) => {
                let remarks: Vec<Remark> = loaded.notices.iter().map(remark).collect();
                // passwords stay: whoever edits a file by hand may put a topology back
                self.adopt(loaded.profiles, None, Vec::new(), report);
                report.news(News::Reloaded);
                if !remarks.is_empty() {
                    report.news(News::Remarks(remarks));
                }
            }
            Err(notice) => {
                self.told_unreadable = true;
                report.news(News::Remarks(vec![remark(&notice)]));
            }
        }
    }
}

fn put(profiles: &mut Vec<TopologyProfile>, profile: TopologyProfile) {
    match profiles.iter_mut().find(|p| p.id == profile.id) {
        Some(place) => *place = profile,
        None => profiles.push(profile),
    }
}

/// False when it is there already, as after pressing twice.
fn add_found(profile: &mut TopologyProfile, found: &FoundReplica) -> bool {
    let address = Address::tcp(found.host.trim(), found.port.unwrap_or(DEFAULT_PORT));
    if profile.servers.iter().any(|s| s.address == address) {
        return false;
    }
    let id = fresh_server_id(&found.host);
    profile.servers.push(ServerProfile::new(id, address));
    true
}

/// Passwords that belonged to what we took out.
fn orphans(before: &[TopologyProfile], after: &[TopologyProfile]) -> Vec<SecretKey> {
    let keys = |profiles: &[TopologyProfile]| -> Vec<SecretKey> {
        profiles
            .iter()
            .flat_map(TopologyProfile::secret_keys)
            .collect()
    };
    let kept = keys(after);
    keys(before)
        .into_iter()
        .filter(|key| !kept.contains(key))
        .collect()
}

/// A path as people type it: `~/…` is in their home.
fn from_home(path: &Path) -> PathBuf {
    let home = || directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    match path.strip_prefix("~") {
        Ok(rest) => home().map_or(path.to_owned(), |home| home.join(rest)),
        Err(_) => path.to_owned(),
    }
}

fn remark(notice: &Notice) -> Remark {
    Remark {
        is_warning: notice.severity == NoticeSeverity::Warning,
        text: notice.text.clone(),
    }
}
