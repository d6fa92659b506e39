//! The accounts of a lab, and the statements that make them: run by each server itself as it starts for the first time.

use crate::model::lab::{LabAccount, LabAccounts};
use crate::model::phrase::phrase;
use crate::model::secret::Secret;
use crate::model::trouble::{Trouble, TroubleKind};

use super::release::Release;
use super::trouble::trouble;

/// What all servers of one lab know.
pub(super) struct Accounts {
    pub people: LabAccounts,
    pub replication: LabAccount,
}

impl Accounts {
    pub fn random() -> Result<Accounts, Trouble> {
        let account = |user| {
            Ok(LabAccount {
                user,
                password: random_password()?,
            })
        };
        Ok(Accounts {
            people: LabAccounts {
                admin: account("admin")?,
                watcher: account("monitor")?,
                app: account("app")?,
            },
            replication: account("repl")?,
        })
    }

    /// The statements for a server's first start.
    pub fn init_file(&self, release: &Release) -> String {
        let people = &self.people;
        let all = [
            &people.admin,
            &people.watcher,
            &people.app,
            &self.replication,
        ];
        let all = all.map(|account| (account.user, account.password.expose()));
        statements(release, &all)
    }
}

/// Makes these accounts; one statement a line, as an init file must have it. Not in the binlog: every server makes its
/// own, and none of them has a transaction that its source lacks. Running it twice does no harm.
pub(in crate::lab) fn statements(release: &Release, accounts: &[(&str, &str)]) -> String {
    let mut lines = vec!["SET sql_log_bin = 0".to_owned()];
    lines.extend(accounts.iter().map(|(user, password)| {
        format!("CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY '{password}'")
    }));
    lines.push("GRANT ALL ON *.* TO 'admin'@'%' WITH GRANT OPTION".to_owned());
    lines.push("GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%'".to_owned());
    lines.push("GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO 'app'@'%'".to_owned());
    lines.extend(watching(release).map(|grant| format!("GRANT {grant} TO 'monitor'@'%'")));
    lines.iter().map(|line| format!("{line};\n")).collect()
}

/// What watching takes, and the probe's own schema, with the lock on its table by which an acceptance run holds a replica
/// back. EVENT on that schema alone: it is enough to see whether the
/// heartbeat's event runs, and everywhere it would let a watcher write through an event.
fn watching(release: &Release) -> impl Iterator<Item = &'static str> {
    let global: &[&str] = if release.is_mariadb() {
        &["REPLICA MONITOR, BINLOG MONITOR, REPLICATION MASTER ADMIN, PROCESS ON *.*"]
    } else {
        &["REPLICATION CLIENT, REPLICATION SLAVE, PROCESS ON *.*"]
    };
    let everywhere = [
        "SELECT ON performance_schema.*",
        "SELECT, INSERT, UPDATE, DELETE, CREATE, EVENT, LOCK TABLES ON replicascope.*",
    ];
    global.iter().copied().chain(everywhere)
}

/// A hundred random bits in letters and digits that nobody mistakes for each other, safe inside quotes.
fn random_password() -> Result<Secret, Trouble> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0_u8; 20];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| {
            trouble(
                TroubleKind::Unsupported,
                phrase("lab.real.no_randomness"),
                "",
            )
        })?;
    let text = bytes
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    Ok(Secret::new(text.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_passwords_are_the_same_and_none_needs_quoting() {
        let accounts = Accounts::random().expect("random bytes");
        let passwords = [
            accounts.people.admin.password.expose(),
            accounts.people.watcher.password.expose(),
            accounts.people.app.password.expose(),
            accounts.replication.password.expose(),
        ];
        for (i, one) in passwords.iter().enumerate() {
            assert!(
                one.len() == 20 && one.bytes().all(|b| b.is_ascii_alphanumeric()),
                "{one}"
            );
            assert!(passwords[..i].iter().all(|other| other != one));
        }
    }
}
