//! What a release of MySQL or MariaDB calls things: its options and the statements that set replication up.

use crate::model::server::{Flavour, Version};

/// A server's program as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    pub flavour: Flavour,
    pub version: Version,
    /// What `--version` says behind `Ver`: version, distribution, machine.
    pub text: String,
}

/// Where a replica copies from, and as whom.
pub(in crate::lab) struct Upstream<'a> {
    pub host: &'a str,
    pub port: u16,
    pub user: &'a str,
    pub password: &'a str,
}

impl Release {
    /// Reads the answer to `--version`; `None` when it is no server's.
    pub fn parse(answer: &str) -> Option<Release> {
        let text = answer
            .lines()
            .find_map(|line| line.split_once("Ver "))?
            .1
            .trim();
        let flavour = if text.contains("MariaDB") {
            Flavour::MariaDb
        } else if text.contains("Percona") {
            Flavour::Percona
        } else {
            Flavour::MySql
        };
        Some(Release {
            flavour,
            version: Version::parse(text)?,
            text: text.to_owned(),
        })
    }

    /// `MySQL 9.7.4`.
    pub fn name(&self) -> String {
        format!("{} {}", self.flavour.name(), self.version)
    }

    pub fn is_mariadb(&self) -> bool {
        self.flavour.is_mariadb()
    }

    /// Percona Server is taken wherever MySQL is asked for.
    pub fn is_of(&self, flavour: Flavour) -> bool {
        self.is_mariadb() == flavour.is_mariadb()
    }

    /// The lab's statements are tried from here on; 5.7 has older words and none of the tables of 8.0.
    pub fn is_supported(&self) -> bool {
        let v = self.version;
        if self.is_mariadb() {
            v >= Version::new(10, 5, 0)
        } else {
            (v.major, v.minor) == (5, 7) || v >= Version::new(8, 0, 22)
        }
    }

    fn mysql_from(&self, major: u16, minor: u16, patch: u16) -> bool {
        !self.is_mariadb() && self.version >= Version::new(major, minor, patch)
    }

    /// `replica-…` and `source` in the names of options and plugins; the old ones are gone since 8.4.
    pub(in crate::lab) fn has_new_option_names(&self) -> bool {
        self.mysql_from(8, 0, 26)
    }

    /// The applier's workers share work by source transactions without being told to since 8.0.27.
    pub(in crate::lab) fn needs_parallel_type(&self) -> bool {
        !self.is_mariadb() && !self.mysql_from(8, 0, 27)
    }
}

/// Statements.
impl Release {
    /// Points the default channel, or a named one.
    pub(in crate::lab) fn point(&self, channel: Option<&str>, upstream: &Upstream<'_>) -> String {
        let Upstream {
            host,
            port,
            user,
            password,
        } = upstream;
        if self.is_mariadb() {
            let name = channel.map_or_else(String::new, |name| format!("'{name}' "));
            return format!(
                "CHANGE MASTER {name}TO MASTER_HOST='{host}', MASTER_PORT={port}, MASTER_USER='{user}', \
                 MASTER_PASSWORD='{password}', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, \
                 MASTER_HEARTBEAT_PERIOD=1"
            );
        }
        let (change, word) = self.change_words();
        let key = if self.mysql_from(8, 0, 0) {
            // So that the password of caching_sha2_password does not travel in the clear.
            if word == "SOURCE" {
                ", GET_SOURCE_PUBLIC_KEY=1"
            } else {
                ", GET_MASTER_PUBLIC_KEY=1"
            }
        } else {
            ""
        };
        // Since 9.x the receiver gives up for good after 10 tries.
        format!(
            "{change} {word}_HOST='{host}', {word}_PORT={port}, {word}_USER='{user}', \
             {word}_PASSWORD='{password}', {word}_AUTO_POSITION=1, {word}_CONNECT_RETRY=1, \
             {word}_RETRY_COUNT=86400, {word}_HEARTBEAT_PERIOD=1{key}{}",
            self.for_channel(channel)
        )
    }

    fn change_words(&self) -> (&'static str, &'static str) {
        if self.mysql_from(8, 0, 23) {
            ("CHANGE REPLICATION SOURCE TO", "SOURCE")
        } else {
            ("CHANGE MASTER TO", "MASTER")
        }
    }

    /// How late it shall apply; the replica must be stopped.
    pub(in crate::lab) fn set_delay(&self, seconds: i64) -> String {
        let (change, word) = self.change_words();
        format!("{change} {word}_DELAY={seconds}")
    }

    pub(in crate::lab) fn start_replica(&self, channel: Option<&str>) -> String {
        self.replica_verb("START", channel)
    }

    pub(in crate::lab) fn stop_replica(&self, channel: Option<&str>) -> String {
        self.replica_verb("STOP", channel)
    }

    fn replica_verb(&self, verb: &str, channel: Option<&str>) -> String {
        if self.is_mariadb() {
            let name = channel.map_or_else(String::new, |name| format!(" '{name}'"));
            return format!("{verb} REPLICA{name}");
        }
        let word = if self.mysql_from(8, 0, 22) {
            "REPLICA"
        } else {
            "SLAVE"
        };
        format!("{verb} {word}{}", self.for_channel(channel))
    }

    fn for_channel(&self, channel: Option<&str>) -> String {
        channel.map_or_else(String::new, |name| format!(" FOR CHANNEL '{name}'"))
    }

    /// One row for each channel.
    pub(in crate::lab) fn channels(&self) -> &'static str {
        if self.is_mariadb() {
            "SHOW ALL REPLICAS STATUS"
        } else if self.mysql_from(8, 0, 22) {
            "SHOW REPLICA STATUS"
        } else {
            "SHOW SLAVE STATUS"
        }
    }

    /// Everything that was committed here.
    pub(in crate::lab) fn committed(&self) -> &'static str {
        if self.is_mariadb() {
            "SELECT @@GLOBAL.gtid_binlog_pos"
        } else {
            "SELECT REPLACE(@@GLOBAL.gtid_executed, '\\n', '')"
        }
    }

    /// Waits up to a second; answers 0 when all of it is applied.
    pub(in crate::lab) fn wait_for(&self, committed: &str) -> String {
        if self.is_mariadb() {
            format!("SELECT MASTER_GTID_WAIT('{committed}', 1)")
        } else {
            format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{committed}', 1)")
        }
    }

    /// How many replicas a source counts that acknowledge.
    pub(in crate::lab) fn semi_sync_clients(&self) -> &'static str {
        if self.has_new_option_names() {
            "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_clients'"
        } else {
            "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(answer: &str) -> Release {
        Release::parse(answer).expect("a server's answer")
    }

    #[test]
    fn a_program_is_known_by_what_it_says_not_by_its_name() {
        let debian = release("/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))");
        assert_eq!(debian.name(), "MySQL 9.7.4");
        // Debian's mysqld may be MariaDB's.
        let maria = release(
            "/usr/sbin/mysqld  Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
        );
        assert_eq!(maria.name(), "MariaDB 10.11.18");
        let percona = release("mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL))");
        assert_eq!(percona.name(), "Percona Server 8.0.36");
        assert!(percona.is_of(Flavour::MySql) && !percona.is_of(Flavour::MariaDb));
        assert_eq!(Release::parse("bash: mysqld: command not found"), None);
    }

    #[test]
    fn too_old_is_said_before_anything_is_started() {
        for (version, supported) in [
            ("5.6.51", false),
            ("5.7.44", true),
            ("8.0.21", false),
            ("8.0.22", true),
            ("8.4.3", true),
            ("10.4.30-MariaDB", false),
            ("10.5.23-MariaDB", true),
            ("11.8.3-MariaDB", true),
        ] {
            let release = release(&format!("mysqld  Ver {version} for Linux"));
            assert_eq!(release.is_supported(), supported, "{version}");
        }
    }

    #[test]
    fn each_release_hears_its_own_words() {
        let upstream = Upstream {
            host: "127.0.0.1",
            port: 3307,
            user: "repl",
            password: "p",
        };
        let said = |version: &str, channel| {
            let release = release(&format!("mysqld  Ver {version} for Linux"));
            (
                release.point(channel, &upstream),
                release.start_replica(channel),
            )
        };
        let (point, start) = said("9.7.4", Some("source-2"));
        assert!(
            point.starts_with(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=3307"
            ),
            "{point}"
        );
        assert!(
            point.ends_with("GET_SOURCE_PUBLIC_KEY=1 FOR CHANNEL 'source-2'"),
            "{point}"
        );
        assert_eq!(start, "START REPLICA FOR CHANNEL 'source-2'");
        let (point, start) = said("8.0.22", None);
        assert!(
            point.starts_with("CHANGE MASTER TO") && point.ends_with("GET_MASTER_PUBLIC_KEY=1"),
            "{point}"
        );
        assert_eq!(start, "START REPLICA");
        let (point, start) = said("5.7.44", None);
        assert!(!point.contains("PUBLIC_KEY"), "{point}");
        assert_eq!(start, "START SLAVE");
        let (point, start) = said("10.11.6-MariaDB", Some("source-2"));
        assert!(point.starts_with("CHANGE MASTER 'source-2' TO"), "{point}");
        assert_eq!(start, "START REPLICA 'source-2'");
    }
}
