//! What a server must be told of replication for the part it takes: the same in an option file and on a command line.

use super::release::Release;
use super::shape::Part;

/// A server's part, and what of a plan holds for all.
pub(in crate::lab) struct Role<'a> {
    pub release: &'a Release,
    pub number: usize,
    /// How many sources the lab has.
    pub sources: usize,
    pub part: &'a Part,
    pub semi_sync: bool,
    pub applier_workers: u32,
}

/// A class cannot wait for the default of a minute.
const NET_TIMEOUT_S: u32 = 10;
const SEMI_SYNC_TIMEOUT_MS: u32 = 1000;

impl Role<'_> {
    /// Names and values, most general first.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut settings = Settings::default();
        settings.add("server-id", self.number + 1);
        settings.add("skip-name-resolve", "ON");
        settings.add("character-set-server", "utf8mb4");
        settings.add("log-bin", "binlog");
        settings.add("loose-binlog-format", "ROW");
        settings.add("relay-log", "relay");
        settings.add("event-scheduler", "ON");
        if self.release.is_mariadb() {
            self.add_mariadb(&mut settings);
        } else {
            self.add_mysql(&mut settings);
        }
        self.add_semi_sync(&mut settings);
        if self.sources > 1 {
            // New rows of two sources never have the same number.
            settings.add("auto-increment-increment", self.sources);
            let offset = self.number.min(self.sources - 1) + 1;
            settings.add("auto-increment-offset", offset);
        }
        settings.0
    }

    /// The switch that has a replica refuse writes.
    pub fn read_only_switch(&self) -> &'static str {
        if self.release.is_mariadb() {
            "read-only"
        } else {
            "super-read-only"
        }
    }

    pub fn copies(&self) -> bool {
        !self.part.copies_from.is_empty()
    }

    fn add_mariadb(&self, settings: &mut Settings) {
        settings.add("gtid-strict-mode", "ON");
        // Two sources number their transactions apart.
        let is_source = self.number < self.sources;
        settings.add("gtid-domain-id", if is_source { self.number } else { 0 });
        settings.add("log-slave-updates", "ON");
        settings.add("slave-parallel-mode", "optimistic");
        settings.add("slave-parallel-threads", self.applier_workers);
        settings.add("slave-net-timeout", NET_TIMEOUT_S);
    }

    fn add_mysql(&self, settings: &mut Settings) {
        settings.add("gtid-mode", "ON");
        settings.add("enforce-gtid-consistency", "ON");
        settings.add("loose-mysqlx", "OFF");
        let (libraries, word) = if self.release.has_new_option_names() {
            (["semisync_source", "semisync_replica"], "replica")
        } else {
            (["semisync_master", "semisync_slave"], "slave")
        };
        // Loaded always: a super_read_only server refuses INSTALL PLUGIN later.
        for library in libraries {
            settings.add("plugin-load-add", format!("{library}.{PLUGIN_ENDING}"));
        }
        settings.add(&format!("log-{word}-updates"), "ON");
        settings.add(&format!("{word}-preserve-commit-order"), "ON");
        settings.add(&format!("{word}-parallel-workers"), self.applier_workers);
        settings.add(&format!("{word}-net-timeout"), NET_TIMEOUT_S);
        if self.release.needs_parallel_type() {
            settings.add("slave-parallel-type", "LOGICAL_CLOCK");
        }
    }

    /// Loose, since a server that initialises its data may not have loaded the plugins.
    fn add_semi_sync(&self, settings: &mut Settings) {
        let (source, replica) = if self.release.has_new_option_names() {
            ("source", "replica")
        } else {
            ("master", "slave")
        };
        let waits = on(self.semi_sync && self.part.has_replicas);
        let acknowledges = on(self.semi_sync && self.copies());
        settings.add(&format!("loose-rpl_semi_sync_{source}_enabled"), waits);
        settings.add(
            &format!("loose-rpl_semi_sync_{source}_timeout"),
            SEMI_SYNC_TIMEOUT_MS,
        );
        settings.add(
            &format!("loose-rpl_semi_sync_{replica}_enabled"),
            acknowledges,
        );
    }
}

/// Macs too have plugins as .so.
const PLUGIN_ENDING: &str = if cfg!(windows) { "dll" } else { "so" };

pub(in crate::lab) fn on(yes: bool) -> &'static str {
    if yes { "ON" } else { "OFF" }
}

#[derive(Default)]
struct Settings(Vec<(String, String)>);

impl Settings {
    fn add(&mut self, name: &str, value: impl ToString) {
        self.0.push((name.to_owned(), value.to_string()));
    }
}
