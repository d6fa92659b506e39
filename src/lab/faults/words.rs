//! What a server calls the things of replication: MySQL's words changed with 8.0, MariaDB kept the old ones.
//!
//! Only statements; which of them are run, and when, is decided by the faults.

use crate::model::server::Version;

/// One server's way of speaking, told by its `@@version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    pub is_mariadb: bool,
    version: Version,
}

/// A thread of replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    Receiver,
    Applier,
    Both,
}

impl Thread {
    fn name(self) -> &'static str {
        match self {
            Thread::Receiver => " IO_THREAD",
            Thread::Applier => " SQL_THREAD",
            Thread::Both => "",
        }
    }
}

/// Where a replica is to copy from.
pub struct Pointing<'a> {
    pub port: u16,
    pub user: &'a str,
    pub password: &'a str,
}

/// The variables of a switch that has an old and a new name.
pub const SEMI_SYNC_SOURCE: [&str; 2] = [
    "rpl_semi_sync_source_enabled",
    "rpl_semi_sync_master_enabled",
];
pub const SEMI_SYNC_REPLICA: [&str; 2] = [
    "rpl_semi_sync_replica_enabled",
    "rpl_semi_sync_slave_enabled",
];

impl Words {
    pub fn of(version: &str) -> Words {
        Words {
            is_mariadb: version.contains("MariaDB"),
            version: Version::parse(version).unwrap_or_default(),
        }
    }

    /// From here on MySQL knows all of `SHOW REPLICA STATUS`, `START REPLICA`, `CHANGE REPLICATION SOURCE`; 8.4 and
    /// later know nothing else.
    fn is_new(self) -> bool {
        !self.is_mariadb && self.version >= Version::new(8, 0, 23)
    }

    fn replica(self) -> &'static str {
        if self.is_new() { "REPLICA" } else { "SLAVE" }
    }

    pub fn show_status(self) -> &'static str {
        match (self.is_mariadb, self.is_new()) {
            (true, _) => "SHOW ALL SLAVES STATUS",
            (_, true) => "SHOW REPLICA STATUS",
            (_, false) => "SHOW SLAVE STATUS",
        }
    }

    pub fn start(self, thread: Thread, channel: &str) -> String {
        self.tell("START", thread, channel)
    }

    pub fn stop(self, thread: Thread, channel: &str) -> String {
        self.tell("STOP", thread, channel)
    }

    fn tell(self, verb: &str, thread: Thread, channel: &str) -> String {
        let (before, after) = self.channel(channel);
        format!("{verb} {}{before}{}{after}", self.replica(), thread.name())
    }

    /// How a channel is named, before or after what is said of it. The default one needs no name.
    fn channel(self, channel: &str) -> (String, String) {
        match (channel, self.is_mariadb) {
            ("", _) => (String::new(), String::new()),
            (name, true) => (format!(" {}", literal(name)), String::new()),
            (name, false) => (String::new(), format!(" FOR CHANNEL {}", literal(name))),
        }
    }

    /// A delay changes only while the applier stands; MariaDB wants the receiver to stand too (1198).
    pub fn must_stand_for_a_delay(self) -> Thread {
        if self.is_mariadb {
            Thread::Both
        } else {
            Thread::Applier
        }
    }

    pub fn set_delay(self, seconds: u64, channel: &str) -> String {
        let prefix = self.source_prefix();
        self.change(&format!("{prefix}_DELAY = {seconds}"), channel)
    }

    fn source_prefix(self) -> &'static str {
        if self.is_new() { "SOURCE" } else { "MASTER" }
    }

    fn change(self, what: &str, channel: &str) -> String {
        let (before, after) = self.channel(channel);
        let head = if self.is_new() {
            "CHANGE REPLICATION SOURCE"
        } else {
            "CHANGE MASTER"
        };
        format!("{head}{before} TO {what}{after}")
    }

    /// The default channel, by GTID. The receiver tries again every second and never gives up: since 9.x the default is
    /// ten tries.
    pub fn point(self, at: &Pointing<'_>) -> String {
        let p = self.source_prefix();
        let (user, password) = (literal(at.user), literal(at.password));
        let mut what = format!(
            "{p}_HOST = '127.0.0.1', {p}_PORT = {}, {p}_USER = {user}, {p}_PASSWORD = {password}, \
             {p}_CONNECT_RETRY = 1, {p}_HEARTBEAT_PERIOD = 1, ",
            at.port
        );
        what += match (self.is_mariadb, self.is_new()) {
            (true, _) => "MASTER_USE_GTID = slave_pos",
            (_, true) => {
                "SOURCE_AUTO_POSITION = 1, SOURCE_RETRY_COUNT = 86400, GET_SOURCE_PUBLIC_KEY = 1"
            }
            (_, false) if self.version >= Version::new(8, 0, 4) => {
                "MASTER_AUTO_POSITION = 1, MASTER_RETRY_COUNT = 86400, GET_MASTER_PUBLIC_KEY = 1"
            }
            (_, false) => "MASTER_AUTO_POSITION = 1, MASTER_RETRY_COUNT = 86400",
        };
        self.change(&what, "")
    }

    pub fn forget_source(self) -> String {
        format!("RESET {} ALL", self.replica())
    }

    /// Keeps everybody from writing: on MariaDB all but those who may do anything.
    pub fn refuse_writes(self) -> &'static str {
        if self.is_mariadb {
            "SET GLOBAL read_only = ON"
        } else {
            "SET GLOBAL super_read_only = ON"
        }
    }

    /// Clears super_read_only with it.
    pub fn accept_writes(self) -> &'static str {
        "SET GLOBAL read_only = OFF"
    }

    /// The variable that keeps writers out.
    pub fn read_only(self) -> &'static str {
        if self.is_mariadb {
            "read_only"
        } else {
            "super_read_only"
        }
    }

    /// Everything committed here.
    pub fn executed(self) -> &'static str {
        if self.is_mariadb {
            "SELECT @@GLOBAL.gtid_binlog_pos"
        } else {
            "SELECT @@GLOBAL.gtid_executed"
        }
    }

    /// Waits a moment for `set`; answers '0' when it is there.
    pub fn wait_for(self, set: &str) -> String {
        let set = literal(&set.replace('\n', ""));
        if self.is_mariadb {
            format!("SELECT MASTER_GTID_WAIT({set}, 0.5)")
        } else {
            // Whole seconds: 5.7 takes no others.
            format!("SELECT WAIT_FOR_EXECUTED_GTID_SET({set}, 1)")
        }
    }

    /// Lets a former source start copying where its own binlog ends.
    pub fn continue_from_own_binlog(self) -> Option<&'static str> {
        self.is_mariadb
            .then_some("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos")
    }

    /// Ends each statement of a session after so long.
    pub fn limit_statements(self, seconds: u64) -> String {
        if self.is_mariadb {
            format!("SET SESSION max_statement_time = {seconds}")
        } else {
            format!("SET SESSION max_execution_time = {}", seconds * 1000)
        }
    }
}

/// A string of SQL in single quotes, which no `sql_mode` takes for something else. Backslashes are doubled too: what
/// comes here is ours and holds none.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_spoken_to_in_its_own_words() {
        let cases = [
            (
                "5.7.44-log",
                "STOP SLAVE SQL_THREAD FOR CHANNEL 'a'",
                "CHANGE MASTER TO MASTER_DELAY = 3 FOR CHANNEL 'a'",
            ),
            (
                "9.7.4",
                "STOP REPLICA SQL_THREAD FOR CHANNEL 'a'",
                "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 3 FOR CHANNEL 'a'",
            ),
            (
                "5.5.5-10.11.18-MariaDB-log",
                "STOP SLAVE 'a' SQL_THREAD",
                "CHANGE MASTER 'a' TO MASTER_DELAY = 3",
            ),
        ];
        for (version, stop, delay) in cases {
            let words = Words::of(version);
            assert_eq!(words.stop(Thread::Applier, "a"), stop, "{version}");
            assert_eq!(words.set_delay(3, "a"), delay, "{version}");
        }
    }

    #[test]
    fn the_default_channel_is_not_named() {
        assert_eq!(Words::of("8.4.3").start(Thread::Both, ""), "START REPLICA");
        assert_eq!(
            Words::of("10.11.18-MariaDB").start(Thread::Receiver, ""),
            "START SLAVE IO_THREAD"
        );
    }

    #[test]
    fn only_servers_that_know_it_are_asked_for_the_public_key() {
        let at = Pointing {
            port: 1,
            user: "repl",
            password: "p'q",
        };
        let of = |version| Words::of(version).point(&at);
        assert!(of("8.0.20").contains("GET_MASTER_PUBLIC_KEY = 1"));
        assert!(!of("5.7.44").contains("PUBLIC_KEY"));
        assert!(of("9.7.4").contains("SOURCE_PASSWORD = 'p''q'"));
    }
}
