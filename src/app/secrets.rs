//! Finding the passwords for a headless command: file, environment, keychain, then the terminal.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{SecretKey, ServerId, TopologyProfile};
use crate::model::secret::Secret;
use crate::settings::secrets::{
    Asking, Circumstances, Found, PASSWORD_VARIABLE, SessionSecrets, try_way, ways,
};
use crate::words::Catalogue;

/// The password of every server; an account shared by several is asked for once.
pub fn resolve(
    profile: &TopologyProfile,
    password_file: Option<&Path>,
    words: &Catalogue,
) -> Result<BTreeMap<ServerId, Secret>, Phrase> {
    let mut session = SessionSecrets::default();
    let mut found = BTreeMap::new();
    for server in &profile.servers {
        let Some((account, key)) = profile.account_for(server) else {
            continue;
        };
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let circumstances = Circumstances {
            password_file,
            password_variable: std::env::var_os(PASSWORD_VARIABLE).is_some(),
            source: Some(&account.secret),
            asking: if terminal {
                Asking::Possible
            } else {
                Asking::Impossible
            },
        };
        let secret = one(&circumstances, &key, &session, &account.user, words)?;
        session.keep(key, secret.clone());
        found.insert(server.id.clone(), secret);
    }
    Ok(found)
}

fn one(
    circumstances: &Circumstances<'_>,
    key: &SecretKey,
    session: &SessionSecrets,
    user: &str,
    words: &Catalogue,
) -> Result<Secret, Phrase> {
    let mut why_not = None;
    for way in ways(circumstances) {
        match try_way(&way, key, session) {
            Found::Secret { secret, notice } => {
                if let Some(notice) = notice {
                    eprintln!("{}", words.say(&notice.text));
                }
                return Ok(secret);
            }
            Found::Nothing => {}
            Found::Failed(why) => why_not = Some(why),
            Found::AskThePerson => return ask(user, words),
        }
    }
    // A script without any password given: accounts without one exist, and the server says if this is none.
    match why_not {
        Some(why) => Err(why),
        None => Ok(Secret::new(String::new())),
    }
}

fn ask(user: &str, words: &Catalogue) -> Result<Secret, Phrase> {
    let prompt = words.say(&phrase("cli.password_prompt").with("user", user));
    rpassword::prompt_password(format!("{prompt} "))
        .map(Secret::new)
        .map_err(|error| phrase("cli.no_password_read").with("reason", error.to_string()))
}
