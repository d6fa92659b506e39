//! The generations of servers, and what each is asked.

use super::super::scripted::text::{Pattern, contains, prefix};

/// Servers that are asked in the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    MySql57,
    MySql8037,
    MySql84,
    MySql97,
    MariaDb103,
    MariaDb1011,
    MariaDb118,
}

use Generation::*;

impl Generation {
    pub const ALL: [Generation; 7] = [
        MySql57,
        MySql8037,
        MySql84,
        MySql97,
        MariaDb103,
        MariaDb1011,
        MariaDb118,
    ];

    pub fn version(self) -> &'static str {
        match self {
            MySql57 => "5.7.29-log",
            MySql8037 => "8.0.37",
            MySql84 => "8.4.3",
            MySql97 => "9.7.0",
            MariaDb103 => "10.3.39-MariaDB",
            MariaDb1011 => "10.11.19-MariaDB",
            MariaDb118 => "11.8.3-MariaDB",
        }
    }

    pub fn is_mariadb(self) -> bool {
        matches!(self, MariaDb103 | MariaDb1011 | MariaDb118)
    }

    /// The statement that shows the channels.
    pub fn channels(self) -> &'static str {
        match self {
            MySql57 => "SHOW SLAVE STATUS",
            MySql8037 | MySql84 | MySql97 => "SHOW REPLICA STATUS",
            MariaDb103 => "SHOW ALL SLAVES STATUS",
            MariaDb1011 | MariaDb118 => "SHOW ALL REPLICAS STATUS",
        }
    }

    pub(super) fn replicas(self) -> &'static str {
        match self {
            MySql57 | MariaDb103 => "SHOW SLAVE HOSTS",
            MySql8037 | MySql84 | MySql97 => "SHOW REPLICAS",
            MariaDb1011 | MariaDb118 => "SHOW REPLICA HOSTS",
        }
    }

    pub(super) fn position(self) -> &'static str {
        match self {
            MySql84 | MySql97 => "SHOW BINARY LOG STATUS",
            _ => "SHOW MASTER STATUS",
        }
    }

    pub(super) fn quiet(self) -> &'static str {
        match self {
            MySql57 => "mysql57/quiet",
            MySql8037 | MySql84 | MySql97 => "mysql97/quiet",
            MariaDb103 | MariaDb1011 => "mariadb1011/quiet_all",
            MariaDb118 => "mariadb118/quiet_all",
        }
    }

    pub(super) fn lock_waits(self) -> Pattern {
        contains(match self {
            MySql8037 | MySql84 | MySql97 => "performance_schema.data_lock_waits",
            _ => "information_schema.innodb_lock_waits",
        })
    }

    /// The beginning of the statement that waits for GTIDs.
    pub fn wait(self) -> Pattern {
        prefix(match self.is_mariadb() {
            true => "select master_gtid_wait",
            false => "select wait_for_executed_gtid_set",
        })
    }
}
