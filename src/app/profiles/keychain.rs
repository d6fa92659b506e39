//! The thread that talks to the system's keychain, which may wait until a person unlocks it. It is never waited for.

use crossbeam_channel::{Receiver, Sender, bounded};

use super::{Answer, Report};
use crate::model::phrase::Phrase;
use crate::model::profile::SecretKey;
use crate::model::secret::Secret;
use crate::settings::secrets::{Found, SessionSecrets, Way, keychain, try_way};
use crate::ui::profiles::{Kept, Keychain, News};

const JOBS_IN_FLIGHT: usize = 1_024;

pub(super) enum KeychainJob {
    Search { key: SecretKey, ways: Vec<Way> },
    Keep { key: SecretKey, secret: Secret },
    Forget(Vec<SecretKey>),
}

/// How a search for a password ended.
pub(super) enum Search {
    Found {
        secret: Secret,
        notice: Option<Phrase>,
    },
    /// And why it was not found where it was expected.
    AskThePerson(Option<Phrase>),
    Failed(Phrase),
}

pub(super) fn start(report: Report) -> std::io::Result<Sender<KeychainJob>> {
    let (jobs, inbox) = bounded(JOBS_IN_FLIGHT);
    std::thread::Builder::new()
        .name("keychain".into())
        .spawn(move || run(&inbox, &report))?;
    Ok(jobs)
}

fn run(inbox: &Receiver<KeychainJob>, report: &Report) {
    report.news(News::Keychain(match keychain::status() {
        Ok(()) => Keychain::Available,
        Err(unavailable) => Keychain::Unavailable(unavailable.why),
    }));
    for job in inbox {
        match job {
            KeychainJob::Search { key, ways } => {
                let search = search(&ways, &key);
                report.tell(Answer::Searched { key, search });
            }
            KeychainJob::Keep { key, secret } => {
                let kept = match keychain::write(&key, &secret) {
                    Ok(()) => Kept::InKeychain,
                    Err(unavailable) => Kept::ThisSession(Some(unavailable.why)),
                };
                report.news(News::PasswordKept { key, kept });
            }
            // where there is no keychain there is nothing to forget
            KeychainJob::Forget(keys) => keys.iter().for_each(|key| drop(keychain::delete(key))),
        }
    }
}

/// Goes the ways one after the other. What the session has was looked at before.
pub(super) fn search(ways: &[Way], key: &SecretKey) -> Search {
    let nothing_kept = SessionSecrets::default();
    let mut why_not = None;
    for way in ways {
        match try_way(way, key, &nothing_kept) {
            Found::Secret { secret, notice } => {
                return Search::Found {
                    secret,
                    notice: notice.map(|n| n.text),
                };
            }
            Found::Nothing => {}
            Found::Failed(why) => why_not = Some(why),
            Found::AskThePerson => return Search::AskThePerson(why_not),
        }
    }
    match why_not {
        Some(why) => Search::Failed(why),
        None => Search::AskThePerson(None),
    }
}
