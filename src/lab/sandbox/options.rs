//! The option file of one server.

use std::fmt::Write;
use std::path::Path;

use super::folder::ServerFolder;
use super::process;
use super::role::{Role, on};

/// What a server's options depend on.
pub(super) struct Options<'a> {
    pub role: Role<'a>,
    pub folder: &'a ServerFolder,
    pub port: u16,
    /// Statements to run at the first start.
    pub init_file: Option<&'a Path>,
}

pub(super) const ERROR_LOG: &str = "error.log";

impl Options<'_> {
    /// The whole file. What only makes the server small is `loose`: a release that does not know it starts all the same.
    pub fn text(&self) -> String {
        let mut lines = Lines("[mysqld]\n".to_owned());
        self.add_own(&mut lines);
        for (name, value) in self.role.settings() {
            lines.add(&name, value);
        }
        lines.add(self.role.read_only_switch(), on(self.role.copies()));
        if cfg!(unix) {
            lines.add("loose-innodb-flush-method", "nosync");
        }
        lines.0
            + SMALL
            + if self.role.release.is_mariadb() {
                SMALL_MARIADB
            } else {
                SMALL_MYSQL
            }
    }

    fn add_own(&self, lines: &mut Lines) {
        let folder = self.folder.path();
        lines.path("datadir", &self.folder.data());
        // Relative to the data, so that it is never too long for a socket.
        lines.add("socket", "s.sock");
        lines.path("log-error", &folder.join(ERROR_LOG));
        lines.path("pid-file", &self.folder.pid_file());
        lines.path("tmpdir", &folder.join("tmp"));
        lines.path("secure-file-priv", &folder.join("tmp"));
        lines.add("bind-address", "127.0.0.1");
        lines.add("port", self.port);
        lines.add("report-host", "127.0.0.1");
        lines.add("report-port", self.port);
        if process::are_we_root() {
            lines.add("user", "root");
        }
        if let Some(file) = self.init_file {
            lines.path("init-file", file);
        }
    }
}

/// Not flushing at each commit is safe against a killed process, which is all that happens here; flushing less (0) would
/// lose rows whose GTIDs survive in the binlog.
const SMALL: &str = "\
sync-binlog = 0
max-binlog-size = 256M
innodb-flush-log-at-trx-commit = 2
max-connections = 300
loose-innodb-doublewrite = OFF
loose-innodb-buffer-pool-size = 32M
loose-innodb-buffer-pool-dump-at-shutdown = OFF
loose-innodb-buffer-pool-load-at-startup = OFF
loose-innodb-read-io-threads = 1
loose-innodb-write-io-threads = 1
loose-innodb-purge-threads = 1
loose-table-open-cache = 200
loose-thread-cache-size = 16
loose-performance-schema = ON
loose-performance-schema-digests-size = 200
loose-performance-schema-events-statements-history-long-size = 100
";

const SMALL_MYSQL: &str = "\
loose-binlog-expire-logs-seconds = 86400
loose-innodb-redo-log-capacity = 16M
loose-innodb-log-buffer-size = 1M
loose-innodb-page-cleaners = 1
loose-temptable-max-ram = 2M
loose-key-buffer-size = 8
loose-table-definition-cache = 400
loose-performance-schema-max-sql-text-length = 1024
loose-performance-schema-events-waits-history-long-size = 10
loose-performance-schema-events-stages-history-long-size = 10
loose-performance-schema-events-transactions-history-long-size = 10
loose-performance-schema-error-size = 100
loose-performance-schema-users-size = 20
loose-performance-schema-hosts-size = 20
loose-performance-schema-accounts-size = 20
loose-performance-schema-max-thread-instances = 400
loose-performance-schema-max-table-handles = 500
loose-performance-schema-max-table-instances = 500
loose-performance-schema-max-index-stat = 500
";

const SMALL_MARIADB: &str = "\
loose-expire-logs-days = 1
loose-innodb-log-file-size = 16M
loose-key-buffer-size = 16K
loose-aria-pagecache-buffer-size = 1M
";

struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name} = {value}");
    }

    /// In quotes, where a backslash begins an escape and `#` does not begin a comment.
    fn path(&mut self, name: &str, path: &Path) {
        let text = path.display().to_string();
        let text = if cfg!(windows) {
            text.replace('\\', "/")
        } else {
            text.replace('\\', "\\\\")
        };
        self.add(name, format_args!("\"{text}\""));
    }
}

#[cfg(test)]
mod tests {
    use super::super::release::Release;
    use super::super::shape::Part;
    use super::*;

    fn options(version: &str, number: usize, copies_from: &[usize], has_replicas: bool) -> String {
        let release =
            Release::parse(&format!("mysqld  Ver {version} for Linux")).expect("a release");
        let part = Part {
            copies_from: copies_from.to_vec(),
            has_replicas,
        };
        Options {
            role: Role {
                release: &release,
                number,
                sources: 1,
                part: &part,
                semi_sync: true,
                applier_workers: 4,
            },
            folder: &ServerFolder::at("/home/a b#c/0".into()),
            port: 23_456,
            init_file: None,
        }
        .text()
    }

    fn has(text: &str, line: &str) -> bool {
        text.lines().any(|found| found == line)
    }

    #[test]
    fn a_source_waits_for_acknowledgement_and_a_replica_gives_it_and_refuses_writes() {
        let source = options("9.7.4", 0, &[], true);
        let replica = options("9.7.4", 1, &[0], false);
        let middle = options("9.7.4", 1, &[0], true);
        for (text, as_source, as_replica, read_only) in [
            (&source, "ON", "OFF", "OFF"),
            (&replica, "OFF", "ON", "ON"),
            (&middle, "ON", "ON", "ON"),
        ] {
            assert!(
                has(
                    text,
                    &format!("loose-rpl_semi_sync_source_enabled = {as_source}")
                ),
                "{text}"
            );
            assert!(
                has(
                    text,
                    &format!("loose-rpl_semi_sync_replica_enabled = {as_replica}")
                ),
                "{text}"
            );
            assert!(
                has(text, &format!("super-read-only = {read_only}")),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_listens_beyond_loopback_and_paths_may_hold_anything() {
        for version in ["5.7.44", "8.0.37", "9.7.4", "10.11.18-MariaDB"] {
            let text = options(version, 0, &[], true);
            assert!(has(&text, "bind-address = 127.0.0.1"), "{text}");
            assert!(has(&text, "datadir = \"/home/a b#c/0/data\""), "{text}");
        }
        assert!(has(&options("9.7.4", 0, &[], true), "loose-mysqlx = OFF"));
    }

    #[test]
    fn older_releases_are_told_in_older_words() {
        let text = options("5.7.44", 1, &[0], false);
        assert!(
            has(&text, "slave-parallel-type = LOGICAL_CLOCK")
                && has(&text, "log-slave-updates = ON")
        );
        assert!(has(&text, "plugin-load-add = semisync_master.so") || !cfg!(target_os = "linux"));
        assert!(!text.contains("replica-parallel"), "{text}");
        let text = options("10.11.18-MariaDB", 1, &[0], false);
        assert!(
            has(&text, "read-only = ON") && has(&text, "loose-rpl_semi_sync_slave_enabled = ON"),
            "{text}"
        );
        assert!(
            !text.contains("super-read-only") && !text.contains("plugin-load"),
            "{text}"
        );
    }
}
