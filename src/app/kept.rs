//! What is kept of a topology besides its profile, on disk: one file for each topology in a folder of its kind, written
//! in one step. A file that cannot be read is put aside, never overwritten.

use std::io::Write;
use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, Sender, unbounded};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::lab::is_lab_topology;
use crate::model::profile::TopologyId;

/// What such a file holds; its field `version` is this number.
pub trait Kept: Serialize + DeserializeOwned + Default + Send + 'static {
    /// The folder's name.
    const FOLDER: &'static str;
    /// The format of the file; a newer one is left alone.
    const VERSION: u32;
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    kept: T,
}

enum Job<T> {
    Load(TopologyId),
    Save(TopologyId, T),
}

/// The files, behind a thread of their own: a slow disk must not hold up drawing.
pub struct KeptFiles<T> {
    jobs: Sender<Job<T>>,
    loaded: Receiver<(TopologyId, T)>,
}

impl<T: Kept> KeptFiles<T> {
    pub fn open(folder: PathBuf) -> std::io::Result<KeptFiles<T>> {
        let (jobs, inbox) = unbounded();
        let (answers, loaded) = unbounded();
        std::thread::Builder::new()
            .name(format!("kept {}", T::FOLDER))
            .spawn(move || {
                for job in inbox {
                    match job {
                        Job::Load(topology) => {
                            let kept = load(&file_of::<T>(&folder, &topology));
                            // Nobody listens once the window is closed.
                            let _ = answers.send((topology, kept));
                        }
                        Job::Save(topology, kept) => {
                            let path = file_of::<T>(&folder, &topology);
                            if let Err(error) = save(&path, kept) {
                                tracing::warn!("{}: {error}", path.display());
                            }
                        }
                    }
                }
            })?;
        Ok(KeptFiles { jobs, loaded })
    }

    /// What was kept comes as [`KeptFiles::next_loaded`].
    pub fn ask_for(&self, topology: &TopologyId) {
        if is_lab_topology(topology) {
            return;
        }
        let _ = self.jobs.send(Job::Load(topology.clone()));
    }

    /// Of a lab nothing is kept: no later one is the same.
    pub fn keep(&self, topology: &TopologyId, kept: T) {
        if is_lab_topology(topology) {
            return;
        }
        let _ = self.jobs.send(Job::Save(topology.clone(), kept));
    }

    pub fn next_loaded(&self) -> Option<(TopologyId, T)> {
        self.loaded.try_recv().ok()
    }
}

/// What is kept of a topology, for a command; nothing where the system names no folder for data.
pub fn read<T: Kept>(folder: Option<PathBuf>, topology: &TopologyId) -> T {
    let path = folder.map(|folder| file_of::<T>(&folder, topology));
    path.map_or_else(T::default, |path| load(&path))
}

/// A name of its own for each topology; what a file name cannot hold is left out of it.
fn file_of<T: Kept>(folder: &Path, topology: &TopologyId) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = topology.0.chars().map(plain).collect();
    folder.join(T::FOLDER).join(format!("{name}.json"))
}

fn load<T: Kept>(path: &Path) -> T {
    let Ok(text) = std::fs::read_to_string(path) else {
        return T::default();
    };
    match serde_json::from_str::<Versioned<T>>(&text) {
        Ok(file) if file.version == T::VERSION => file.kept,
        other => {
            let why = other
                .err()
                .map_or("of a newer version".to_owned(), |error| error.to_string());
            let aside = path.with_extension("json.damaged");
            tracing::warn!("{} put aside: {why}", path.display());
            let _ = std::fs::rename(path, aside);
            T::default()
        }
    }
}

fn save<T: Kept>(path: &Path, kept: T) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let whole = Versioned {
        version: T::VERSION,
        kept,
    };
    serde_json::to_writer(&mut file, &whole)?;
    file.flush()?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::probing::KeptProbes;
    use crate::model::probe::ProbePlan;
    use crate::model::probe::summary::{Share, VerdictCounts};
    use crate::model::probe::{ProbeSummary, WaitKind};
    use crate::model::profile::ServerId;
    use crate::model::time::Moment;
    use crate::ui::probe::board::{Figures, KeptProbe, Probed};

    fn kept(name: &str) -> KeptProbe {
        let mut figures = Figures::of(&ProbeSummary::of_replicas(1));
        figures.runs = 3;
        figures.replicas[0].plain = VerdictCounts {
            fresh: 2,
            old: 1,
            ..VerdictCounts::default()
        };
        figures.replicas[0].stale = Share::of(1, 3);
        figures.replicas[0].outcomes.insert(WaitKind::Reached, 3);
        KeptProbe {
            at: Moment::from_unix_micros(1_700_000_000_000_000),
            name: name.to_owned(),
            plan: ProbePlan::default(),
            replicas: vec![Probed {
                id: ServerId("r1".into()),
                name: "db-r1".into(),
            }],
            figures,
        }
    }

    #[test]
    fn what_was_kept_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let topology = TopologyId("orders/1".into());
        let path = file_of::<KeptProbes>(folder.path(), &topology);
        let both = KeptProbes {
            probes: vec![kept("before"), kept("after")],
        };
        save(&path, both.clone()).unwrap();
        assert_eq!(load::<KeptProbes>(&path), both);
    }

    #[test]
    fn a_damaged_file_is_put_aside_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_of::<KeptProbes>(folder.path(), &TopologyId("orders".into()));
        let one = KeptProbes {
            probes: vec![kept("before")],
        };
        save(&path, one).unwrap();
        std::fs::write(&path, "{ half").unwrap();
        assert_eq!(load::<KeptProbes>(&path), KeptProbes::default());
        let aside = path.with_extension("json.damaged");
        assert_eq!(std::fs::read_to_string(aside).unwrap(), "{ half");
    }
}
