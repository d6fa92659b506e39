//! Finding the passwords of a topology before it is watched. The keychain may wait for a person to unlock it, so this
//! happens on a thread.

use std::collections::BTreeMap;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::model::phrase::Phrase;
use crate::model::profile::{SecretKey, ServerId, TopologyId, TopologyProfile};
use crate::model::secret::Secret;
use crate::settings::secrets::{
    Asking, Circumstances, Found, PASSWORD_VARIABLE, SessionSecrets, Way, try_way, ways,
};

/// What came of looking for one server's password.
#[derive(Clone, Debug, PartialEq)]
pub enum Password {
    /// No account is named: the server takes us without one or says why not.
    NoAccount,
    Known {
        key: SecretKey,
        secret: Secret,
    },
    /// Only the person can tell.
    Ask {
        key: SecretKey,
        user: String,
    },
    Failed(Phrase),
}

/// A topology whose passwords were looked for.
pub struct Answer {
    pub topology: TopologyId,
    pub passwords: BTreeMap<ServerId, Password>,
}

/// Searches under way.
pub struct Lookups {
    answers: Receiver<Answer>,
    reports: Sender<Answer>,
    under_way: Vec<TopologyId>,
}

impl Default for Lookups {
    fn default() -> Self {
        let (reports, answers) = unbounded();
        Lookups {
            answers,
            reports,
            under_way: Vec::new(),
        }
    }
}

impl Lookups {
    /// A topology that is being looked up is not looked up twice.
    pub fn begin(
        &mut self,
        profile: &TopologyProfile,
        known: &SessionSecrets,
    ) -> std::io::Result<()> {
        if self.under_way.contains(&profile.id) {
            return Ok(());
        }
        let session = shared(profile, known);
        let (profile, reports) = (profile.clone(), self.reports.clone());
        self.under_way.push(profile.id.clone());
        let (done, quickly) = bounded::<()>(0);
        std::thread::Builder::new()
            .name("passwords".to_owned())
            .spawn(move || {
                let _done = done;
                let passwords = passwords(&profile, &session);
                // nobody listens once the window is closed
                let _ = reports.send(Answer {
                    topology: profile.id,
                    passwords,
                });
            })?;
        // Where nothing has to be unlocked the answer is there at once, and the first frame shows "connecting".
        let _ = quickly.recv_timeout(Duration::from_millis(20));
        Ok(())
    }

    pub fn next(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.under_way.retain(|id| *id != answer.topology);
        Some(answer)
    }
}

/// The session's passwords of this topology, for the thread to take along.
fn shared(profile: &TopologyProfile, known: &SessionSecrets) -> SessionSecrets {
    let mut session = SessionSecrets::default();
    for key in profile.secret_keys() {
        if let Some(secret) = known.get(&key) {
            session.keep(key, secret.clone());
        }
    }
    session
}

/// An account shared by several servers is looked up once.
fn passwords(profile: &TopologyProfile, session: &SessionSecrets) -> BTreeMap<ServerId, Password> {
    let mut found: BTreeMap<SecretKey, Password> = BTreeMap::new();
    let servers = profile.servers.iter().map(|server| {
        let password = match profile.account_for(server) {
            None => Password::NoAccount,
            Some((account, key)) => found
                .entry(key.clone())
                .or_insert_with(|| {
                    let circumstances = Circumstances {
                        password_file: None,
                        password_variable: std::env::var_os(PASSWORD_VARIABLE).is_some(),
                        source: Some(&account.secret),
                        asking: Asking::Possible,
                    };
                    search(&ways(&circumstances), key, &account.user, session)
                })
                .clone(),
        };
        (server.id.clone(), password)
    });
    servers.collect()
}

fn search(ways: &[Way], key: SecretKey, user: &str, session: &SessionSecrets) -> Password {
    let mut why = None;
    for way in ways {
        match try_way(way, &key, session) {
            Found::Secret { secret, .. } => return Password::Known { key, secret },
            Found::AskThePerson => {
                return Password::Ask {
                    key,
                    user: user.to_owned(),
                };
            }
            Found::Nothing => {}
            Found::Failed(reason) => why = Some(reason),
        }
    }
    match why {
        Some(why) => Password::Failed(why),
        None => Password::Ask {
            key,
            user: user.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::{Account, SecretSource, ServerProfile, Target};

    fn profile(secret: SecretSource) -> TopologyProfile {
        let mut profile = TopologyProfile::new(TopologyId("t".into()), "t");
        profile.account = Some(Account {
            user: "monitor".into(),
            secret,
        });
        let address = Target::parse("127.0.0.1:3306").expect("an address").address;
        profile.servers = vec![ServerProfile::new(ServerId("a".into()), address)];
        profile
    }

    fn of_a(profile: &TopologyProfile, session: &SessionSecrets) -> Password {
        passwords(profile, session)[&ServerId("a".into())].clone()
    }

    #[test]
    fn a_password_that_only_the_person_knows_is_asked_for_until_it_was_told() {
        let profile = profile(SecretSource::Ask);
        let mut session = SessionSecrets::default();
        let Password::Ask { key, user } = of_a(&profile, &session) else {
            panic!("not asked for");
        };
        assert_eq!(user, "monitor");
        session.keep(key.clone(), Secret::new("told".into()));
        let known = Password::Known {
            key,
            secret: Secret::new("told".into()),
        };
        assert_eq!(of_a(&profile, &session), known);
    }

    #[test]
    fn a_place_that_does_not_have_it_is_told() {
        let profile = profile(SecretSource::Env("REPLICASCOPE_NO_SUCH_VARIABLE".into()));
        let found = of_a(&profile, &SessionSecrets::default());
        assert!(matches!(found, Password::Failed(_)), "{found:?}");
    }

    #[test]
    fn a_server_without_an_account_needs_no_password() {
        let mut profile = profile(SecretSource::Ask);
        profile.account = None;
        assert_eq!(
            of_a(&profile, &SessionSecrets::default()),
            Password::NoAccount
        );
    }
}
