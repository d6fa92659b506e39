//! Results kept for comparison, on disk: one file for each topology in the folder of data, written in one step. A file
//! that cannot be read is put aside, never overwritten.

use std::io::Write;
use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, Sender, unbounded};
use serde::{Deserialize, Serialize};

use crate::model::profile::TopologyId;
use crate::ui::probe::board::KeptProbe;

/// The format of the file; a newer one is left alone.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    probes: Vec<KeptProbe>,
}

enum Job {
    Load(TopologyId),
    Save(TopologyId, Vec<KeptProbe>),
}

/// The files, behind a thread of their own: a slow disk must not hold up drawing.
pub struct KeptFiles {
    jobs: Sender<Job>,
    loaded: Receiver<(TopologyId, Vec<KeptProbe>)>,
}

impl KeptFiles {
    pub fn open(folder: PathBuf) -> std::io::Result<KeptFiles> {
        let (jobs, inbox) = unbounded();
        let (answers, loaded) = unbounded();
        std::thread::Builder::new()
            .name("kept probes".to_owned())
            .spawn(move || {
                for job in inbox {
                    match job {
                        Job::Load(topology) => {
                            let probes = load(&file_of(&folder, &topology));
                            // Nobody listens once the window is closed.
                            let _ = answers.send((topology, probes));
                        }
                        Job::Save(topology, probes) => {
                            let path = file_of(&folder, &topology);
                            if let Err(error) = save(&path, probes) {
                                tracing::warn!("{}: {error}", path.display());
                            }
                        }
                    }
                }
            })?;
        Ok(KeptFiles { jobs, loaded })
    }

    pub fn ask_for(&self, topology: &TopologyId) {
        let _ = self.jobs.send(Job::Load(topology.clone()));
    }

    pub fn keep(&self, topology: &TopologyId, probes: &[KeptProbe]) {
        let _ = self.jobs.send(Job::Save(topology.clone(), probes.to_vec()));
    }

    pub fn next_loaded(&self) -> Option<(TopologyId, Vec<KeptProbe>)> {
        self.loaded.try_recv().ok()
    }
}

/// A name of its own for each topology; what a file name cannot hold is left out of it.
fn file_of(folder: &Path, topology: &TopologyId) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = topology.0.chars().map(plain).collect();
    folder.join("probes").join(format!("{name}.json"))
}

fn load(path: &Path) -> Vec<KeptProbe> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Vec::new();
    };
    match serde_json::from_str::<File>(&text) {
        Ok(file) if file.version == VERSION => file.probes,
        other => {
            let why = other
                .err()
                .map_or("of a newer version".to_owned(), |error| error.to_string());
            let aside = path.with_extension("json.damaged");
            tracing::warn!("{} put aside: {why}", path.display());
            let _ = std::fs::rename(path, aside);
            Vec::new()
        }
    }
}

fn save(path: &Path, probes: Vec<KeptProbe>) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let whole = File {
        version: VERSION,
        probes,
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
    use crate::model::probe::ProbePlan;
    use crate::model::probe::summary::{Share, VerdictCounts};
    use crate::model::probe::{ProbeSummary, WaitKind};
    use crate::model::profile::ServerId;
    use crate::model::time::Moment;
    use crate::ui::probe::board::{Figures, Probed};

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
        let path = file_of(folder.path(), &topology);
        save(&path, vec![kept("before"), kept("after")]).unwrap();
        assert_eq!(load(&path), vec![kept("before"), kept("after")]);
    }

    #[test]
    fn a_damaged_file_is_put_aside_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_of(folder.path(), &TopologyId("orders".into()));
        save(&path, vec![kept("before")]).unwrap();
        std::fs::write(&path, "{ half").unwrap();
        assert_eq!(load(&path), Vec::new());
        let aside = path.with_extension("json.damaged");
        assert_eq!(std::fs::read_to_string(aside).unwrap(), "{ half");
    }
}
