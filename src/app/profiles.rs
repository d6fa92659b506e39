//! The desk behind the forms: carries out what is asked of profiles, passwords and their files, on threads of its own,
//! and hands back what became of it.
//!
//! Nothing here waits: the disk may hang, the keychain may wait for a person, a server may never answer. A thread for
//! the disk owns the files, so that saves follow each other; one for the keychain, so that a person is asked once; tests
//! and the file dialog have threads that end by themselves.

mod dialog;
mod disk;
mod keychain;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::Preferences;
use crate::model::profile::{
    Account, SecretKey, SecretSource, ServerId, ServerProfile, TopologyId, TopologyProfile,
};
use crate::model::secret::Secret;
use crate::model::server::Product;
use crate::settings::secrets::{Asking, Circumstances, SessionSecrets, Way, ways};
use crate::ui::action::Action;
use crate::ui::profiles::{Kept, News, PasswordQuestion, Remark};
use disk::{Disk, DiskJob, Edit};
use keychain::{KeychainJob, Search};
pub use trial::ServerSide;

/// Answers waiting for the window. Beyond it workers wait with their next one.
const ANSWERS_IN_FLIGHT: usize = 1_024;

/// How long quitting waits for a save that is under way.
const GOODBYE: Duration = Duration::from_millis(500);

/// What the window must hear.
#[derive(Debug)]
pub enum DeskEvent {
    /// For the forms: `hear` of every form, and perhaps a toast.
    News(News),
    /// These are new or different, or have another password: watch them anew if they are watched. Those are gone.
    ProfilesChanged {
        changed: Vec<TopologyId>,
        removed: Vec<TopologyId>,
    },
    /// Saved at last what the person wanted to watch at once.
    Open(TopologyId),
    /// Everything needed to connect is there. None: the profile names no account.
    Ready {
        topology: TopologyId,
        server: ServerId,
        secret: Option<Secret>,
    },
    /// No password for this server, and why; it cannot be watched until the person does something.
    NoPassword {
        topology: TopologyId,
        server: ServerId,
        why: Phrase,
    },
}

/// What a worker tells the desk.
enum Answer {
    News(News),
    Profiles {
        profiles: Vec<TopologyProfile>,
        changed: Vec<TopologyId>,
        removed: Vec<TopologyId>,
        /// Passwords nothing refers to any more.
        orphans: Vec<SecretKey>,
    },
    /// An edit has ended, well or not.
    EditDone(Option<TopologyId>),
    Searched {
        key: SecretKey,
        search: Search,
    },
    DialogClosed,
}

/// Where workers put their answers; wakes the window after each.
#[derive(Clone)]
struct Report {
    answers: Sender<Answer>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Report {
    /// Without a window to hear it, an answer is dropped.
    fn tell(&self, answer: Answer) {
        if self.answers.send(answer).is_ok() {
            (self.wake)();
        }
    }

    fn news(&self, news: News) {
        self.tell(Answer::News(news));
    }
}

/// Servers that wait for one account's password.
#[derive(Debug)]
struct Waiting {
    servers: BTreeSet<ServerId>,
    user: String,
    for_keychain: bool,
}

pub struct ProfileDesk {
    profiles: Vec<TopologyProfile>,
    /// Watched in this run only, and not saved.
    guests: Vec<TopologyProfile>,
    session: SessionSecrets,
    waiting: BTreeMap<SecretKey, Waiting>,
    /// Being saved, and to be watched once that is done.
    saving: BTreeMap<TopologyId, u32>,
    to_open: Option<TopologyId>,
    disk: Sender<DiskJob>,
    disk_done: Receiver<()>,
    keychain: Sender<KeychainJob>,
    dialog_is_open: bool,
    servers: ServerSide,
    report: Report,
    answers: Receiver<Answer>,
    events: Vec<DeskEvent>,
}

impl ProfileDesk {
    /// Reads the files of the config folder (None: there is no home, nothing can be saved) and starts the workers.
    /// `wake` is called from them after each answer, so that the window comes and polls.
    pub fn open(
        config_dir: Option<PathBuf>,
        servers: ServerSide,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> std::io::Result<(Self, Preferences)> {
        let (sender, answers) = bounded(ANSWERS_IN_FLIGHT);
        let report = Report {
            answers: sender,
            wake,
        };
        let (disk, opened) = Disk::open(config_dir.as_deref());
        let (disk, disk_done) = disk.start(report.clone())?;
        let keychain = keychain::start(report.clone())?;
        let mut events = vec![DeskEvent::News(News::Places(opened.places))];
        if !opened.remarks.is_empty() {
            events.push(DeskEvent::News(News::Remarks(opened.remarks)));
        }
        let desk = ProfileDesk {
            profiles: opened.profiles,
            guests: Vec::new(),
            session: SessionSecrets::default(),
            waiting: BTreeMap::new(),
            saving: BTreeMap::new(),
            to_open: None,
            disk,
            disk_done,
            keychain,
            dialog_is_open: false,
            servers,
            report,
            answers,
            events,
        };
        Ok((desk, opened.preferences))
    }

    pub fn profiles(&self) -> &[TopologyProfile] {
        &self.profiles
    }

    /// Takes a topology in for this run without saving it: the one in a file named on the command line, or a lab's.
    pub fn adopt(&mut self, profile: TopologyProfile) {
        self.profiles.push(profile.clone());
        self.guests.push(profile);
    }

    /// The end of a topology that was never saved.
    pub fn dismiss(&mut self, id: &TopologyId) {
        if let Some(gone) = self.guests.iter().position(|guest| guest.id == *id) {
            for key in self.guests.remove(gone).secret_keys() {
                self.session.forget(&key);
                self.waiting.remove(&key);
            }
            self.profiles.retain(|profile| profile.id != *id);
        }
    }

    /// A password that nobody has to be asked for, until the program ends.
    pub fn lend(&mut self, key: SecretKey, secret: Secret) {
        self.session.keep(key, secret);
    }

    pub fn profile(&self, id: &TopologyId) -> Option<&TopologyProfile> {
        self.profiles.iter().find(|p| &p.id == id)
    }

    /// Carries the action out, or gives it back when it is not for this desk.
    pub fn perform(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::SaveProfile(profile) => self.save(profile, false),
            Action::SaveOverChanges(profile) => self.save(profile, true),
            Action::ReloadProfiles => self.send_to_disk(DiskJob::Edit(Edit::Reload)),
            Action::RemoveProfile(id) => self.send_to_disk(DiskJob::Edit(Edit::Remove(id))),
            Action::ImportProfiles(path) => self.send_to_disk(DiskJob::Edit(Edit::Import(path))),
            Action::ExportProfiles { topologies, to } => {
                self.send_to_disk(DiskJob::Export { topologies, to });
            }
            Action::SavePreferences(preferences) => {
                self.send_to_disk(DiskJob::Preferences(preferences))
            }
            Action::AddFound { topology, server } => {
                self.send_to_disk(DiskJob::Edit(Edit::AddFound { topology, server }));
            }
            Action::TestProfile(profile) => self.test(profile),
            Action::DescribeAccount { user, heartbeat } => {
                let sql = self.servers.accounts(&user, heartbeat.as_ref());
                self.events.push(DeskEvent::News(News::AccountSql(sql)));
            }
            Action::KeepPassword {
                key,
                secret,
                in_keychain,
            } => {
                self.keep_password(key, secret, in_keychain);
            }
            Action::ForgetPassword(key) => {
                self.session.forget(&key);
                self.send_to_keychain(KeychainJob::Forget(vec![key.clone()]));
                let kept = Kept::Forgotten;
                self.events
                    .push(DeskEvent::News(News::PasswordKept { key, kept }));
            }
            Action::DeclinePassword(key) => self.no_password(&key, &phrase("desk.declined")),
            Action::ChooseFile(purpose) => self.choose_file(purpose),
            Action::Open(id) if self.saving.contains_key(&id) => self.to_open = Some(id),
            other => return Some(other),
        }
        None
    }

    /// What has happened since the last call.
    pub fn poll(&mut self) -> Vec<DeskEvent> {
        while let Ok(answer) = self.answers.try_recv() {
            self.take_in(answer);
        }
        std::mem::take(&mut self.events)
    }

    /// Finds what is needed to connect to the servers of a topology; [`DeskEvent::Ready`] comes for each, now or later.
    pub fn resolve(&mut self, topology: &TopologyId) {
        let Some(profile) = self.profile(topology).cloned() else {
            return;
        };
        let mut searched = Vec::new();
        for server in &profile.servers {
            let Some((account, key)) = profile.account_for(server) else {
                self.ready(topology, &server.id, None);
                continue;
            };
            if self.wait(&key, account, &server.id) {
                searched.push((key, account.secret.clone()));
            }
        }
        for (key, source) in searched {
            self.search(key, &source);
        }
    }

    /// The server refused the password: it is forgotten and asked for again, where it came from a person.
    pub fn refused(&mut self, topology: &TopologyId, server: &ServerId, why: Phrase) {
        let Some(profile) = self.profile(topology).cloned() else {
            return;
        };
        let Some(server) = profile.server(server) else {
            return;
        };
        let Some((account, key)) = profile.account_for(server) else {
            return;
        };
        if !matches!(account.secret, SecretSource::Keychain | SecretSource::Ask) {
            return;
        }
        self.session.forget(&key);
        self.wait(&key, account, &server.id);
        self.ask(&key, Some(why));
    }

    /// Ends the workers; a save under way is waited for, but not for ever.
    pub fn close(&mut self) {
        self.answers = crossbeam_channel::never();
        self.disk = bounded(0).0;
        // ends with "disconnected" when the thread has
        let _ = self.disk_done.recv_timeout(GOODBYE);
    }

    fn save(&mut self, profile: TopologyProfile, over: bool) {
        *self.saving.entry(profile.id.clone()).or_default() += 1;
        self.send_to_disk(DiskJob::Edit(Edit::Put {
            profile: Box::new(profile),
            over,
        }));
    }

    fn send_to_disk(&mut self, job: DiskJob) {
        if let Err(error) = self.disk.try_send(job) {
            if let DiskJob::Edit(Edit::Put { profile, .. }) = error.into_inner() {
                self.saved(&profile.id);
            }
            let why = phrase("desk.disk_busy");
            let cause = crate::ui::profiles::SaveTrouble::Other;
            self.events
                .push(DeskEvent::News(News::NotSaved { why, cause }));
        }
    }

    fn send_to_keychain(&mut self, job: KeychainJob) {
        if let Err(error) = self.keychain.try_send(job)
            && let KeychainJob::Search { key, .. } = error.into_inner()
        {
            self.no_password(&key, &phrase("desk.keychain_busy"));
        }
    }

    fn take_in(&mut self, answer: Answer) {
        match answer {
            Answer::News(news) => self.events.push(DeskEvent::News(news)),
            Answer::Profiles {
                profiles,
                changed,
                removed,
                orphans,
            } => {
                self.profiles = profiles;
                // one that was saved meanwhile is no guest any more
                let mut guests = std::mem::take(&mut self.guests);
                guests.retain(|guest| self.profile(&guest.id).is_none());
                self.profiles.extend(guests.iter().cloned());
                self.guests = guests;
                for key in &orphans {
                    self.session.forget(key);
                    self.waiting.remove(key);
                }
                if !orphans.is_empty() {
                    self.send_to_keychain(KeychainJob::Forget(orphans));
                }
                self.events
                    .push(DeskEvent::ProfilesChanged { changed, removed });
            }
            Answer::EditDone(saved) => {
                if let Some(id) = saved {
                    self.saved(&id);
                }
            }
            Answer::Searched { key, search } => self.searched(key, search),
            Answer::DialogClosed => self.dialog_is_open = false,
        }
    }

    fn saved(&mut self, id: &TopologyId) {
        if let Some(saves) = self.saving.get_mut(id) {
            *saves -= 1;
            if *saves == 0 {
                self.saving.remove(id);
            }
        }
        let is_awaited = self.to_open.as_ref() == Some(id) && !self.saving.contains_key(id);
        if is_awaited && self.profile(id).is_some() {
            self.events.extend(self.to_open.take().map(DeskEvent::Open));
        }
    }

    /// True when nobody is looking for this password yet.
    fn wait(&mut self, key: &SecretKey, account: &Account, server: &ServerId) -> bool {
        let is_first = !self.waiting.contains_key(key);
        let waiting = self.waiting.entry(key.clone()).or_insert_with(|| Waiting {
            servers: BTreeSet::new(),
            user: account.user.clone(),
            for_keychain: account.secret == SecretSource::Keychain,
        });
        waiting.servers.insert(server.clone());
        is_first
    }

    fn search(&mut self, key: SecretKey, source: &SecretSource) {
        let ways = ways_of_the_window(source);
        if let (Some(Way::Session), Some(secret)) = (ways.first(), self.session.get(&key)) {
            let secret = secret.clone();
            return self.found(&key, &secret);
        }
        match ways.contains(&Way::Keychain) {
            true => self.send_to_keychain(KeychainJob::Search { key, ways }),
            false => self.send_to_disk(DiskJob::Search { key, ways }),
        }
    }

    fn searched(&mut self, key: SecretKey, search: Search) {
        match search {
            Search::Found { secret, notice } => {
                if let Some(text) = notice {
                    let is_warning = true;
                    let remarks = vec![Remark { is_warning, text }];
                    self.events.push(DeskEvent::News(News::Remarks(remarks)));
                }
                self.found(&key, &secret);
            }
            Search::AskThePerson(why) => self.ask(&key, why),
            Search::Failed(why) => self.no_password(&key, &why),
        }
    }

    fn found(&mut self, key: &SecretKey, secret: &Secret) {
        let Some(waiting) = self.waiting.remove(key) else {
            return;
        };
        for server in waiting.servers {
            self.ready(&key.topology, &server, Some(secret.clone()));
        }
    }

    fn ready(&mut self, topology: &TopologyId, server: &ServerId, secret: Option<Secret>) {
        self.events.push(DeskEvent::Ready {
            topology: topology.clone(),
            server: server.clone(),
            secret,
        });
    }

    fn no_password(&mut self, key: &SecretKey, why: &Phrase) {
        let Some(waiting) = self.waiting.remove(key) else {
            return;
        };
        for server in waiting.servers {
            self.events.push(DeskEvent::NoPassword {
                topology: key.topology.clone(),
                server,
                why: why.clone(),
            });
        }
    }

    fn ask(&mut self, key: &SecretKey, why: Option<Phrase>) {
        let Some(profile) = self.profile(&key.topology) else {
            return;
        };
        let Some(waiting) = self.waiting.get(key) else {
            return;
        };
        let labels = waiting.servers.iter().filter_map(|id| profile.server(id));
        let question = PasswordQuestion {
            key: key.clone(),
            topology_name: profile.name.clone(),
            user: waiting.user.clone(),
            servers: labels.map(ServerProfile::label).collect(),
            for_keychain: waiting.for_keychain,
            why,
        };
        self.events
            .push(DeskEvent::News(News::PasswordNeeded(question)));
    }

    fn keep_password(&mut self, key: SecretKey, secret: Secret, in_keychain: bool) {
        self.session.keep(key.clone(), secret.clone());
        self.found(&key, &secret);
        if in_keychain {
            self.send_to_keychain(KeychainJob::Keep { key, secret });
            return;
        }
        let kept = Kept::ThisSession(None);
        self.events
            .push(DeskEvent::News(News::PasswordKept { key, kept }));
    }

    fn test(&mut self, profile: TopologyProfile) {
        let known = profile.secret_keys().into_iter();
        let known = known.filter_map(|key| Some((key.clone(), self.session.get(&key)?.clone())));
        let known = known.collect();
        trial::start(profile, known, self.servers, self.report.clone());
    }

    fn choose_file(&mut self, purpose: crate::ui::action::FilePurpose) {
        if !self.dialog_is_open {
            self.dialog_is_open = true;
            dialog::start(purpose, self.report.clone(), self.disk.clone());
        }
    }
}

impl Drop for ProfileDesk {
    fn drop(&mut self) {
        self.close();
    }
}

/// In the window the profile is taken at its word and the person can always be asked. The variable and the file named
/// on a command line are for the commands: here they would be tried on every topology alike.
fn ways_of_the_window(source: &SecretSource) -> Vec<Way> {
    ways(&Circumstances {
        password_file: None,
        password_variable: false,
        source: Some(source),
        asking: Asking::Possible,
    })
}

/// The flavours an account is described for: a name, and a version of each.
fn flavours() -> [(&'static str, Product); 4] {
    [
        ("MySQL 8.0 – 9, Percona", Product::from_text("8.4.0", "")),
        ("MySQL 5.7", Product::from_text("5.7.44", "")),
        (
            "MariaDB 10.5 – 11",
            Product::from_text("10.11.8-MariaDB", ""),
        ),
        (
            "MariaDB 10.3, 10.4",
            Product::from_text("10.4.30-MariaDB", ""),
        ),
    ]
}

#[cfg(test)]
mod tests;
