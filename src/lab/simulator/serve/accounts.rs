//! Who may log in to a server and what for: accounts and grants, kept simply. Hosts are not looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::generation::Habits;
use super::words::Words;
use crate::lab::wire::SqlError;
use crate::model::lab::Generation;

/// The accounts of one server, by name.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    all: BTreeMap<String, Account>,
    /// Whose password is in the cache of `caching_sha2_password`.
    cached: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Account {
    pub password: String,
    pub grants: Vec<Grant>,
}

/// Privileges in capitals, on `*.*`, `shop.*` or `shop.orders`.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    pub privileges: Vec<String>,
    pub on: Level,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Level {
    Everything,
    Schema(String),
    Table(String, String),
}

/// A change of accounts, as it goes through the binary log.
#[derive(Clone, Debug, PartialEq)]
pub enum AccountOrder {
    Create {
        users: Vec<(String, String)>,
        if_not_exists: bool,
    },
    /// A new password.
    Alter(Vec<(String, Option<String>)>),
    Drop {
        users: Vec<String>,
        if_exists: bool,
    },
    Grant {
        users: Vec<String>,
        grant: Grant,
    },
    Revoke {
        users: Vec<String>,
        grant: Grant,
    },
}

impl Account {
    pub fn with(password: &str, grants: &[(&[&str], Level)]) -> Self {
        Account {
            password: password.to_owned(),
            grants: grants
                .iter()
                .map(|(privileges, on)| Grant {
                    privileges: privileges.iter().map(|p| (*p).to_owned()).collect(),
                    on: on.clone(),
                })
                .collect(),
        }
    }

    /// Whether one of these privileges was granted for everything.
    pub fn may_globally(&self, privileges: &[&str]) -> bool {
        self.grants
            .iter()
            .any(|grant| grant.on == Level::Everything && grant.has_one_of(privileges))
    }

    /// Whether this privilege was granted for the schema or something that holds it.
    pub fn may_in_schema(&self, privilege: &str, schema: &str) -> bool {
        self.grants.iter().any(|grant| {
            grant.has_one_of(&[privilege])
                && match &grant.on {
                    Level::Everything => true,
                    Level::Schema(name) => name.eq_ignore_ascii_case(schema),
                    Level::Table(..) => false,
                }
        })
    }

    pub fn may_on_table(&self, privilege: &str, schema: &str, table: &str) -> bool {
        self.may_in_schema(privilege, schema)
            || self.grants.iter().any(|grant| {
                grant.has_one_of(&[privilege])
                    && matches!(&grant.on, Level::Table(s, t)
                        if s.eq_ignore_ascii_case(schema) && t.eq_ignore_ascii_case(table))
            })
    }

    /// Whether anything at all was granted there, so that the schema shows in lists.
    pub fn sees_schema(&self, schema: &str) -> bool {
        self.grants.iter().any(|grant| match &grant.on {
            Level::Everything => grant.privileges.iter().any(|p| {
                p == ALL || ["SELECT", "INSERT", "UPDATE", "DELETE"].contains(&p.as_str())
            }),
            Level::Schema(name) | Level::Table(name, _) => name.eq_ignore_ascii_case(schema),
        })
    }
}

const ALL: &str = "ALL PRIVILEGES";

impl Grant {
    fn has_one_of(&self, privileges: &[&str]) -> bool {
        self.privileges
            .iter()
            .any(|held| held == ALL || privileges.iter().any(|p| held == p))
    }
}

impl Accounts {
    pub fn get(&self, user: &str) -> Option<&Account> {
        self.all.get(user)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &Account)> {
        self.all.iter()
    }

    pub fn insert(&mut self, user: &str, account: Account) {
        self.all.insert(user.to_owned(), account);
    }

    pub fn is_cached(&self, user: &str) -> bool {
        self.cached.contains(user)
    }

    /// It has logged in.
    pub fn cache(&mut self, user: &str) {
        self.cached.insert(user.to_owned());
    }

    /// A restart, FLUSH PRIVILEGES: whoever comes next has to tell the whole password.
    pub fn empty_cache(&mut self) {
        self.cached.clear();
    }

    /// Refused for the reasons of the server: 1396, 1410.
    pub fn check(&self, order: &AccountOrder) -> Result<(), SqlError> {
        let refused = |what: &str, user: &str| {
            let code = 1396;
            SqlError::new(code, format!("Operation {what} failed for '{user}'@'%'"))
        };
        match order {
            AccountOrder::Create {
                users,
                if_not_exists: false,
            } => match users.iter().find(|(user, _)| self.all.contains_key(user)) {
                Some((user, _)) => Err(refused("CREATE USER", user)),
                None => Ok(()),
            },
            AccountOrder::Alter(users) => {
                match users.iter().find(|(user, _)| !self.all.contains_key(user)) {
                    Some((user, _)) => Err(refused("ALTER USER", user)),
                    None => Ok(()),
                }
            }
            AccountOrder::Drop {
                users,
                if_exists: false,
            } => match users.iter().find(|user| !self.all.contains_key(*user)) {
                Some(user) => Err(refused("DROP USER", user)),
                None => Ok(()),
            },
            AccountOrder::Grant { users, .. } | AccountOrder::Revoke { users, .. } => {
                match users.iter().find(|user| !self.all.contains_key(*user)) {
                    Some(_) => Err(SqlError::new(
                        1410,
                        "You are not allowed to create a user with GRANT",
                    )),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Carries out what [`Accounts::check`] let pass; on a replica whatever comes.
    pub fn apply(&mut self, order: &AccountOrder) {
        match order {
            AccountOrder::Create { users, .. } => {
                for (user, password) in users {
                    self.all
                        .entry(user.clone())
                        .or_insert_with(|| Account::with(password, &[]));
                }
            }
            AccountOrder::Alter(users) => {
                for (user, password) in users {
                    self.cached.remove(user);
                    if let (Some(account), Some(password)) = (self.all.get_mut(user), password) {
                        account.password.clone_from(password);
                    }
                }
            }
            AccountOrder::Drop { users, .. } => {
                for user in users {
                    self.all.remove(user);
                    self.cached.remove(user);
                }
            }
            AccountOrder::Grant { users, grant } => {
                for user in users {
                    if let Some(account) = self.all.get_mut(user) {
                        account.add(grant);
                    }
                }
            }
            AccountOrder::Revoke { users, grant } => {
                for user in users {
                    if let Some(account) = self.all.get_mut(user) {
                        account.take(grant);
                    }
                }
            }
        }
    }
}

impl Account {
    fn add(&mut self, grant: &Grant) {
        match self.grants.iter_mut().find(|held| held.on == grant.on) {
            Some(held) => {
                for privilege in &grant.privileges {
                    if !held.privileges.contains(privilege) {
                        held.privileges.push(privilege.clone());
                    }
                }
            }
            None => self.grants.push(grant.clone()),
        }
    }

    fn take(&mut self, grant: &Grant) {
        let is_all = grant.privileges.iter().any(|p| p == ALL);
        for held in self.grants.iter_mut().filter(|held| held.on == grant.on) {
            held.privileges
                .retain(|p| !is_all && !grant.privileges.contains(p));
        }
        self.grants.retain(|held| !held.privileges.is_empty());
    }

    /// As SHOW GRANTS says it.
    pub fn shown(&self, user: &str, generation: Generation) -> Vec<String> {
        let quote = if generation == Generation::MySql57 {
            '\''
        } else {
            '`'
        };
        let who = format!("{quote}{user}{quote}@{quote}%{quote}");
        let has_global = self
            .grants
            .iter()
            .any(|grant| grant.on == Level::Everything);
        let usage = (!has_global).then(|| format!("GRANT USAGE ON *.* TO {who}"));
        let granted = self.grants.iter().map(|grant| {
            let on = match &grant.on {
                Level::Everything => "*.*".to_owned(),
                Level::Schema(schema) => format!("`{schema}`.*"),
                Level::Table(schema, table) => format!("`{schema}`.`{table}`"),
            };
            let privileges = grant.privileges.join(", ");
            let option =
                if grant.privileges.iter().any(|p| p == ALL) && grant.on == Level::Everything {
                    " WITH GRANT OPTION"
                } else {
                    ""
                };
            format!("GRANT {privileges} ON {on} TO {who}{option}")
        });
        usage.into_iter().chain(granted).collect()
    }
}

/// CREATE, ALTER, DROP USER, GRANT, REVOKE; `None`: something about accounts that is accepted and forgotten (roles).
pub fn order(words: &mut Words<'_>) -> Result<Option<AccountOrder>, SqlError> {
    match words.keyword().as_str() {
        "CREATE" if words.accept("USER") => {
            let if_not_exists = words.accept("IF NOT EXISTS");
            let users = users_with_passwords(words)?;
            Ok(Some(AccountOrder::Create {
                users: users
                    .into_iter()
                    .map(|(user, password)| (user, password.unwrap_or_default()))
                    .collect(),
                if_not_exists,
            }))
        }
        "ALTER" if words.accept("USER") => {
            words.accept("IF EXISTS");
            Ok(Some(AccountOrder::Alter(users_with_passwords(words)?)))
        }
        "DROP" if words.accept("USER") => {
            let if_exists = words.accept("IF EXISTS");
            let users = users(words)?;
            Ok(Some(AccountOrder::Drop { users, if_exists }))
        }
        "GRANT" => {
            grant(words, "TO").map(|o| o.map(|(users, grant)| AccountOrder::Grant { users, grant }))
        }
        "REVOKE" => grant(words, "FROM")
            .map(|o| o.map(|(users, grant)| AccountOrder::Revoke { users, grant })),
        _ => Ok(None),
    }
}

fn user(words: &mut Words<'_>) -> Option<String> {
    let name = words.value()?;
    if words.accept("@") {
        words.value()?;
    }
    Some(name)
}

fn users(words: &mut Words<'_>) -> Result<Vec<String>, SqlError> {
    let mut list = Vec::new();
    loop {
        list.push(user(words).ok_or_else(|| words.error())?);
        if !words.accept(",") {
            return Ok(list);
        }
    }
}

fn users_with_passwords(words: &mut Words<'_>) -> Result<Vec<(String, Option<String>)>, SqlError> {
    let mut list = Vec::new();
    loop {
        let name = user(words).ok_or_else(|| words.error())?;
        let mut password = None;
        if words.accept("IDENTIFIED") {
            if words.accept("WITH") || words.accept("VIA") {
                words.value();
            }
            if words.accept("BY") || words.accept("AS") || words.accept("USING") {
                password = words.value();
            }
        }
        list.push((name, password));
        // REQUIRE …, PASSWORD EXPIRE …, ACCOUNT LOCK …
        while !words.at_end() && !words.is(",") {
            words.skip();
        }
        if !words.accept(",") {
            return Ok(list);
        }
    }
}

fn grant(words: &mut Words<'_>, to: &str) -> Result<Option<(Vec<String>, Grant)>, SqlError> {
    let mut privileges = Vec::new();
    let mut current = Vec::new();
    while !words.is("ON") && !words.is(to) && !words.at_end() {
        if words.accept(",") {
            privileges.push(std::mem::take(&mut current).join(" "));
        } else if words.is("(") {
            // Columns are not looked at.
            while !words.at_end() && !words.accept(")") {
                words.skip();
            }
        } else {
            match words.value() {
                Some(word) => current.push(word.to_ascii_uppercase()),
                None => return Err(words.error()),
            }
        }
    }
    privileges.push(current.join(" "));
    if !words.accept("ON") {
        // A role.
        return Ok(None);
    }
    words.accept("TABLE");
    let on = level(words)?;
    if !words.accept(to) {
        return Err(words.error());
    }
    let users = users(words)?;
    for privilege in &mut privileges {
        if privilege == "ALL" {
            ALL.clone_into(privilege);
        }
    }
    Ok(Some((users, Grant { privileges, on })))
}

fn level(words: &mut Words<'_>) -> Result<Level, SqlError> {
    if words.accept("* . *") || words.accept("*") {
        return Ok(Level::Everything);
    }
    let schema = words.name().ok_or_else(|| words.error())?;
    let schema = schema.replace("\\_", "_").replace("\\%", "%");
    if !words.accept(".") {
        return Err(words.error());
    }
    if words.accept("*") {
        return Ok(Level::Schema(schema));
    }
    let table = words.name().ok_or_else(|| words.error())?;
    Ok(Level::Table(schema, table))
}

/// What an account for watching has, as `mysql::privileges` would grant it; and in the schema of the probe what probing and
/// holding an applier back take.
pub fn watcher(password: &str, generation: Generation) -> Account {
    let everything: &[&str] = if generation.is_mariadb() {
        &[
            "PROCESS",
            "BINLOG MONITOR",
            "SLAVE MONITOR",
            "REPLICATION MASTER ADMIN",
        ]
    } else {
        &["PROCESS", "REPLICATION SLAVE", "REPLICATION CLIENT"]
    };
    let ours: &[&str] = &[
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "CREATE",
        "EVENT",
        "LOCK TABLES",
    ];
    Account::with(
        password,
        &[
            (everything, Level::Everything),
            (&["SELECT"], Level::Schema("performance_schema".into())),
            (ours, Level::Schema("replicascope".into())),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(statements: &[&str]) -> Accounts {
        let mut accounts = Accounts::default();
        for sql in statements {
            let order = order(&mut Words::of(sql)).unwrap().unwrap();
            accounts.check(&order).unwrap();
            accounts.apply(&order);
        }
        accounts
    }

    #[test]
    fn a_grant_holds_where_it_was_given_and_nowhere_else() {
        let accounts = after(&[
            "CREATE USER 'kim'@'%' IDENTIFIED BY 'secret'",
            "GRANT SELECT, INSERT ON `my\\_shop`.* TO 'kim'@'%'",
            "GRANT REPLICATION CLIENT ON *.* TO kim@'%'",
        ]);
        let kim = accounts.get("kim").unwrap();
        assert_eq!(kim.password, "secret");
        assert!(kim.may_on_table("INSERT", "my_shop", "t"));
        assert!(!kim.may_on_table("INSERT", "shop", "t"));
        assert!(kim.may_globally(&["REPLICATION CLIENT"]));
        assert!(!kim.may_globally(&["SUPER"]));
        assert_eq!(
            kim.shown("kim", Generation::MySql97),
            [
                "GRANT SELECT, INSERT ON `my_shop`.* TO `kim`@`%`",
                "GRANT REPLICATION CLIENT ON *.* TO `kim`@`%`"
            ]
        );
    }

    #[test]
    fn what_was_revoked_is_gone() {
        let accounts = after(&[
            "CREATE USER kim",
            "GRANT ALL ON shop.* TO kim",
            "REVOKE ALL PRIVILEGES ON shop.* FROM kim",
        ]);
        let kim = accounts.get("kim").unwrap();
        assert!(!kim.may_on_table("SELECT", "shop", "orders"));
        assert_eq!(
            kim.shown("kim", Generation::MySql97),
            ["GRANT USAGE ON *.* TO `kim`@`%`"]
        );
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_servers_numbers() {
        let accounts = after(&["CREATE USER kim"]);
        let code = |sql: &str| {
            let order = order(&mut Words::of(sql)).unwrap().unwrap();
            accounts.check(&order).err().map(|e| e.code)
        };
        assert_eq!(code("CREATE USER kim"), Some(1396));
        assert_eq!(code("CREATE USER IF NOT EXISTS kim"), None);
        assert_eq!(code("DROP USER lee"), Some(1396));
        assert_eq!(code("GRANT SELECT ON *.* TO lee"), Some(1410));
    }
}
