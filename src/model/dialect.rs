//! Whose words are spoken of a server. Texts are written with the names of MySQL 8.4; where a server only calls
//! something else, this is the table. Where servers do not only say but do something else, a lesson's file has a text
//! of its own.

use super::lab::Ground;
use super::server::{Flavour, Product, Version};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    #[default]
    MySql,
    /// Before 8.0.22: the old names.
    OldMySql,
    MariaDb,
}

/// The release that brought `SHOW REPLICA STATUS` and its columns.
const NEW_NAMES: Version = Version::new(8, 0, 22);

/// Of 8.4, of 5.7, of MariaDB.
const NAMES: [[&str; 3]; 14] = [
    [
        "Seconds_Behind_Source",
        "Seconds_Behind_Master",
        "Seconds_Behind_Master",
    ],
    [
        "replica_net_timeout",
        "slave_net_timeout",
        "slave_net_timeout",
    ],
    [
        "replica_parallel_workers",
        "slave_parallel_workers",
        "slave_parallel_threads",
    ],
    [
        "Rpl_semi_sync_source_status",
        "Rpl_semi_sync_master_status",
        "Rpl_semi_sync_master_status",
    ],
    [
        "SOURCE_RETRY_COUNT",
        "MASTER_RETRY_COUNT",
        "master-retry-count",
    ],
    [
        "connect_retry",
        "MASTER_CONNECT_RETRY",
        "MASTER_CONNECT_RETRY",
    ],
    [
        "SHOW REPLICA STATUS",
        "SHOW SLAVE STATUS",
        "SHOW SLAVE STATUS",
    ],
    ["STOP REPLICA", "STOP SLAVE", "STOP SLAVE"],
    ["SOURCE_DELAY", "MASTER_DELAY", "MASTER_DELAY"],
    ["Source_Host", "Master_Host", "Master_Host"],
    ["Source_UUID", "Master_UUID", "Master_UUID"],
    [
        "Read_Source_Log_Pos",
        "Read_Master_Log_Pos",
        "Read_Master_Log_Pos",
    ],
    [
        "Exec_Source_Log_Pos",
        "Exec_Master_Log_Pos",
        "Exec_Master_Log_Pos",
    ],
    [
        "rpl_semi_sync_source",
        "rpl_semi_sync_master",
        "rpl_semi_sync_master",
    ],
];

/// The column whose name the methods of lag carry.
pub const SECONDS_BEHIND: &str = "Seconds_Behind_Source";

impl Dialect {
    pub const ALL: [Dialect; 3] = [Dialect::MySql, Dialect::OldMySql, Dialect::MariaDb];

    /// Of the servers of a lab; `told` is what a real one says of its version, once it does.
    pub fn of(ground: Ground, told: Option<Version>) -> Dialect {
        let (flavour, version) = match ground {
            Ground::Simulated(generation) => {
                (generation.flavour(), Version::parse(generation.version()))
            }
            Ground::Real(flavour) => (flavour, told),
        };
        Dialect::by_version(flavour, version)
    }

    /// Of a watched server.
    pub fn of_product(product: &Product) -> Dialect {
        Dialect::by_version(product.flavour, Some(product.version))
    }

    fn by_version(flavour: Flavour, version: Option<Version>) -> Dialect {
        match version {
            _ if flavour.is_mariadb() => Dialect::MariaDb,
            Some(version) if version < NEW_NAMES => Dialect::OldMySql,
            _ => Dialect::MySql,
        }
    }

    /// What these servers call it; a name that is not in the table is the same everywhere.
    pub fn name(self, modern: &'static str) -> &'static str {
        let named = NAMES.iter().find(|of| of[0] == modern);
        named.map_or(modern, |of| of[self as usize])
    }

    /// The text with every name as these servers have it.
    pub fn words(self, text: &str) -> String {
        let names = NAMES.iter().map(|of| (of[0], of[self as usize]));
        names.fold(text.to_owned(), |text, (modern, own)| {
            text.replace(modern, own)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lab::Generation;

    #[test]
    fn a_real_server_speaks_as_its_version_says() {
        let real = |flavour, told: Option<&str>| {
            Dialect::of(Ground::Real(flavour), told.and_then(Version::parse))
        };
        assert_eq!(real(Flavour::MySql, None), Dialect::MySql);
        assert_eq!(real(Flavour::Percona, Some("5.7.44")), Dialect::OldMySql);
        assert_eq!(real(Flavour::MySql, Some("8.0.22")), Dialect::MySql);
        assert_eq!(
            real(Flavour::MariaDb, Some("5.5.5-10.11.19")),
            Dialect::MariaDb
        );
    }

    #[test]
    fn a_simulated_server_speaks_as_its_generation() {
        let of = |generation| Dialect::of(Ground::Simulated(generation), None);
        let spoken = Generation::ALL.map(of);
        let (new, old, mariadb) = (Dialect::MySql, Dialect::OldMySql, Dialect::MariaDb);
        assert_eq!(spoken, [old, new, new, new, mariadb, mariadb]);
    }

    #[test]
    fn a_watched_server_is_quoted_in_its_own_words() {
        for (version, comment, own) in [
            ("9.7.4", "MySQL Community Server", "Seconds_Behind_Source"),
            ("8.0.22", "MySQL Community Server", "Seconds_Behind_Source"),
            ("8.0.21", "MySQL Community Server", "Seconds_Behind_Master"),
            ("5.7.44-48", "Percona Server", "Seconds_Behind_Master"),
            ("11.8.9-MariaDB-deb13", "Debian", "Seconds_Behind_Master"),
        ] {
            let product = Product::from_text(version, comment);
            assert_eq!(
                Dialect::of_product(&product).name(SECONDS_BEHIND),
                own,
                "{version}"
            );
        }
        assert_eq!(Dialect::MariaDb.name("Relay_Log_Space"), "Relay_Log_Space");
    }

    #[test]
    fn a_name_is_the_one_the_servers_have() {
        let text = "Seconds_Behind_Source with 4 replica_parallel_workers";
        assert_eq!(Dialect::MySql.words(text), text);
        assert_eq!(
            Dialect::OldMySql.words(text),
            "Seconds_Behind_Master with 4 slave_parallel_workers"
        );
        assert_eq!(
            Dialect::MariaDb.words(text),
            "Seconds_Behind_Master with 4 slave_parallel_threads"
        );
    }
}
