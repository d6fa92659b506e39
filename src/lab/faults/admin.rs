//! The administrator's session on one server of the lab: statements in the server's own words, and what it says of its
//! replication.

use super::words::{Thread, Words};
use crate::model::lab::LabNode;
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;

/// Of a statement, in a message.
const MOST_SHOWN: usize = 120;

/// May do anything.
pub struct Admin {
    pub node: LabNode,
    pub words: Words,
    hand: Hand,
}

/// One channel by which a server copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub receiver: ThreadSaid,
    pub applier: ThreadSaid,
    pub delay_s: u64,
}

/// What the server says of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadSaid {
    /// `Yes`, `No`, `Connecting`.
    pub state: String,
    /// 0: none.
    pub error: u32,
    pub words: String,
}

impl ThreadSaid {
    pub fn runs(&self) -> bool {
        self.state == "Yes"
    }

    /// Also while it tries to connect.
    pub fn is_stopped(&self) -> bool {
        self.state == "No"
    }
}

impl Admin {
    pub fn new(node: LabNode, mut hand: Hand) -> Result<Admin, Trouble> {
        let version = hand.value("SELECT @@version")?.unwrap_or_default();
        Ok(Admin {
            words: Words::of(&version),
            node,
            hand,
        })
    }

    /// The server's connection id.
    pub fn id(&self) -> u64 {
        self.hand.id()
    }

    /// A trouble names the server and the statement.
    pub fn run(&mut self, sql: &str) -> Result<(), Trouble> {
        let done = self.hand.run(sql);
        done.map_err(|why| self.naming(sql, why))
    }

    /// The first value of the first row.
    pub fn value(&mut self, sql: &str) -> Result<Option<String>, Trouble> {
        let told = self.hand.value(sql);
        told.map_err(|why| self.naming(sql, why))
    }

    fn naming(&self, sql: &str, why: Trouble) -> Trouble {
        // No password is told, and no cross product of digits.
        let shown = sql.split("_PASSWORD").next().unwrap_or_default();
        let shown: String = shown.chars().take(MOST_SHOWN).collect();
        let detail = format!("{}: {shown}: {}", self.node.name, why.detail);
        Trouble { detail, ..why }
    }

    /// Gives the bare session away, to be kept.
    pub fn into_hand(self) -> Hand {
        self.hand
    }

    pub fn channels(&mut self) -> Result<Vec<Channel>, Trouble> {
        let rows = self.hand.named_rows(self.words.show_status())?;
        Ok(rows.iter().map(|row| channel(row)).collect())
    }

    /// Every channel is told to start or stop; the default one is told as if it were the only one.
    pub fn stop(&mut self, thread: Thread, channel: &str) -> Result<(), Trouble> {
        self.run(&self.words.stop(thread, channel))
    }

    pub fn start(&mut self, thread: Thread, channel: &str) -> Result<(), Trouble> {
        self.run(&self.words.start(thread, channel))
    }

    /// The first of these variables that the server has, and whether it is on.
    pub fn switch(&mut self, names: &[&'static str]) -> Result<Option<(String, bool)>, Trouble> {
        Ok(self.first_of("VARIABLES", names)?.map(|(name, value)| {
            let is_on = is_on(&value);
            (name, is_on)
        }))
    }

    /// The first of these counters that the server has.
    pub fn status(&mut self, names: &[&'static str]) -> Result<Option<String>, Trouble> {
        Ok(self.first_of("STATUS", names)?.map(|(_, value)| value))
    }

    fn first_of(
        &mut self,
        what: &str,
        names: &[&'static str],
    ) -> Result<Option<(String, String)>, Trouble> {
        let list = names.join("', '");
        let sql = format!("SHOW GLOBAL {what} WHERE Variable_name IN ('{list}')");
        let row = self.hand.rows(&sql)?.into_iter().next();
        Ok(row.and_then(|mut row| {
            let value = row.pop().flatten()?;
            Some((row.pop().flatten()?, value))
        }))
    }

    pub fn is_read_only(&mut self) -> Result<bool, Trouble> {
        let switch = self.switch(&[self.words.read_only()])?;
        Ok(switch.is_some_and(|(_, is_on)| is_on))
    }

    /// Does something that writes on a server that refuses writers. MySQL's super_read_only is lifted for its time;
    /// MariaDB's read_only does not keep the administrator out.
    pub fn although_read_only<T>(
        &mut self,
        act: impl FnOnce(&mut Admin) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        if self.words.is_mariadb || !self.is_read_only()? {
            return act(self);
        }
        self.run("SET GLOBAL super_read_only = OFF")?;
        let done = act(self);
        self.run(self.words.refuse_writes())?;
        done
    }

    /// Does something that is not to be replicated, nor to count as a transaction of this server.
    pub fn unlogged<T>(
        &mut self,
        act: impl FnOnce(&mut Admin) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        self.although_read_only(|admin| {
            admin.run("SET SESSION sql_log_bin = 0")?;
            let done = act(admin);
            admin.run("SET SESSION sql_log_bin = 1")?;
            done
        })
    }
}

pub fn is_on(value: &str) -> bool {
    matches!(value.to_ascii_uppercase().as_str(), "ON" | "1" | "YES")
}

/// The columns by either of their names.
fn channel(row: &[(String, Option<String>)]) -> Channel {
    let said = |names: &[&str]| {
        row.iter()
            .find(|(name, _)| names.iter().any(|n| n.eq_ignore_ascii_case(name)))
            .and_then(|(_, value)| value.clone())
            .unwrap_or_default()
    };
    let thread = |states: &[&str], error: &str, words: &str| ThreadSaid {
        state: said(states),
        error: said(&[error]).parse().unwrap_or(0),
        words: said(&[words]),
    };
    Channel {
        name: said(&["Channel_Name", "Connection_name"]),
        receiver: thread(
            &["Replica_IO_Running", "Slave_IO_Running"],
            "Last_IO_Errno",
            "Last_IO_Error",
        ),
        applier: thread(
            &["Replica_SQL_Running", "Slave_SQL_Running"],
            "Last_SQL_Errno",
            "Last_SQL_Error",
        ),
        delay_s: said(&["SQL_Delay"]).parse().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_read_by_old_and_new_names() {
        let row = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())))
                .collect::<Vec<_>>()
        };
        let new = channel(&row(&[
            ("Replica_IO_Running", "Connecting"),
            ("Replica_SQL_Running", "No"),
            ("Last_SQL_Errno", "1062"),
            ("SQL_Delay", "7"),
            ("Channel_Name", "east"),
        ]));
        let old = channel(&row(&[
            ("Connection_name", "east"),
            ("Slave_IO_Running", "Connecting"),
            ("Slave_SQL_Running", "No"),
            ("Last_SQL_Errno", "1062"),
            ("SQL_Delay", "7"),
        ]));
        assert_eq!(new, old);
        assert!(new.applier.is_stopped() && !new.receiver.is_stopped() && !new.receiver.runs());
        assert_eq!((new.applier.error, new.delay_s), (1062, 7));
    }
}
