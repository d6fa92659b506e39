//! The two kinds of server, and how each is told the same things.

use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    MySql,
    MariaDb,
}

/// Where a replica shall copy from.
pub struct Pointing {
    pub source_port: u16,
    pub delay_s: u32,
}

impl Flavour {
    pub fn name(self) -> &'static str {
        match self {
            Flavour::MySql => "mysql",
            Flavour::MariaDb => "mariadb",
        }
    }

    /// The folder that `tests/fetch-servers` fills for this flavour.
    pub fn prefix(self) -> PathBuf {
        servers_cache().join(self.name())
    }

    /// The server's program.
    ///
    /// # Panics
    /// When the servers were never fetched: a test that needs them must not pass without them.
    pub fn program(self) -> PathBuf {
        let prefix = self.prefix();
        let program = prefix.join("bin").join(match self {
            Flavour::MySql => "mysqld",
            Flavour::MariaDb => "mariadbd",
        });
        assert!(
            program.is_file() && prefix.join("complete").is_file(),
            "\n\n*** NO REAL {} SERVER: nothing at {} ***\n*** Run tests/fetch-servers once (or the tests by tests/run). ***\n",
            self.name().to_uppercase(),
            prefix.display(),
        );
        program
    }

    pub fn point_at_source(self, pointing: &Pointing) -> String {
        let Pointing {
            source_port,
            delay_s,
        } = pointing;
        match self {
            // GET_SOURCE_PUBLIC_KEY: the password of caching_sha2_password does not travel in the clear. RETRY_COUNT:
            // since 9.x the default is 10, after which the receiver gives up for good.
            Flavour::MySql => format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source_port}, SOURCE_USER='repl', \
                 SOURCE_PASSWORD='repl', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, \
                 SOURCE_RETRY_COUNT=86400, SOURCE_HEARTBEAT_PERIOD=1, SOURCE_DELAY={delay_s}"
            ),
            Flavour::MariaDb => format!(
                "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source_port}, MASTER_USER='repl', \
                 MASTER_PASSWORD='repl', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=1, \
                 MASTER_DELAY={delay_s}"
            ),
        }
    }

    /// MariaDB accepts the new words too; 9.x no longer accepts the old ones.
    pub fn start_replica(self) -> &'static str {
        "START REPLICA"
    }

    pub fn stop_replica(self) -> &'static str {
        "STOP REPLICA"
    }

    pub fn forget_source(self) -> &'static str {
        "RESET REPLICA ALL"
    }

    /// Everything that was committed here, in the form that `has_applied` takes.
    pub fn committed(self) -> &'static str {
        match self {
            Flavour::MySql => "SELECT REPLACE(@@GLOBAL.gtid_executed, '\\n', '')",
            Flavour::MariaDb => "SELECT @@GLOBAL.gtid_binlog_pos",
        }
    }

    /// Answers 1 when the replica has applied all of it.
    pub fn has_applied(self, committed: &str) -> String {
        match self {
            Flavour::MySql => format!("SELECT GTID_SUBSET('{committed}', @@GLOBAL.gtid_executed)"),
            Flavour::MariaDb => format!("SELECT MASTER_GTID_WAIT('{committed}', 0) = 0"),
        }
    }

    pub fn refuse_writes(self) -> &'static str {
        match self {
            Flavour::MySql => "SET GLOBAL super_read_only = ON",
            Flavour::MariaDb => "SET GLOBAL read_only = ON",
        }
    }

    /// Clearing read_only clears super_read_only with it.
    pub fn accept_writes(self) -> &'static str {
        "SET GLOBAL read_only = OFF"
    }

    /// Lets a former source start copying where its own binlog ends.
    pub fn continue_from_own_binlog(self) -> Option<&'static str> {
        match self {
            Flavour::MySql => None,
            Flavour::MariaDb => Some("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos"),
        }
    }

    pub fn set_semi_sync(self, as_source: bool, as_replica: bool) -> String {
        let (source, replica) = self.semi_sync_switches();
        format!("SET GLOBAL {source} = {as_source}; SET GLOBAL {replica} = {as_replica}")
    }

    /// The variables that switch semi-sync on a server in its part as source and as replica.
    pub fn semi_sync_switches(self) -> (&'static str, &'static str) {
        match self {
            Flavour::MySql => (
                "rpl_semi_sync_source_enabled",
                "rpl_semi_sync_replica_enabled",
            ),
            Flavour::MariaDb => (
                "rpl_semi_sync_master_enabled",
                "rpl_semi_sync_slave_enabled",
            ),
        }
    }
}

/// The cache of the test servers, as `tests/fetch-servers` has it.
pub fn servers_cache() -> PathBuf {
    let set = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("REPLICASCOPE_TEST_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("replicascope")))
        .unwrap_or_else(|| {
            set("HOME")
                .unwrap_or_else(|| Path::new("/").to_owned())
                .join(".cache/replicascope")
        })
        .join("servers")
}
