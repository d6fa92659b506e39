//! What one product calls things: decided once per connection from what the server itself says (R08, R18), and again
//! after a reconnect.

use crate::model::sample::{Named, switch};
use crate::model::server::{Platform, Product, Version};

/// The variables asked for right after login. Which of them come back tells what exists, so that nothing is asked
/// later that the server does not have.
pub const HELLO_VARIABLES: &[&str] = &[
    "version",
    "version_comment",
    "aurora_version",
    "basedir",
    "performance_schema",
    "server_uuid",
    "super_read_only",
    "innodb_read_only",
    "gtid_mode",
    "gtid_domain_id",
    "log_bin",
    "transaction_read_only",
    "tx_read_only",
    "lock_wait_timeout",
    "max_execution_time",
    "max_statement_time",
    "wait_timeout",
];

/// How MySQL and MariaDB say that a table of `performance_schema` or `information_schema` can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialect {
    pub product: Product,
    pub performance_schema: bool,
    pub has_server_uuid: bool,
    pub has_super_read_only: bool,
    pub has_innodb_read_only: bool,
    pub has_gtid_mode: bool,
    /// `log_bin` at the time of the connect; it cannot change without a restart.
    pub log_bin: bool,
    /// `gtid_mode` lets every transaction have a GTID; read anew at every poll, for it can change.
    pub gtids: bool,
    pub session: SessionNames,
}

/// Session variables by the name they have here, where they have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionNames {
    pub read_only: Option<&'static str>,
    pub lock_wait_timeout: bool,
    /// Milliseconds, for SELECT only (MySQL).
    pub max_execution_time: bool,
    /// Seconds with decimals, for everything (MariaDB).
    pub max_statement_time: bool,
}

impl Dialect {
    /// From the answer about [`HELLO_VARIABLES`].
    pub fn from_hello(hello: &Named) -> Self {
        let has = |name: &str| hello.text(name).is_some();
        let on = |name: &str| hello.switch(&[name]) == Some(true);
        let mut product = Product::from_text(
            hello.text("version").unwrap_or_default(),
            hello.text("version_comment").unwrap_or_default(),
        );
        product.platform = platform(hello);
        let read_only = ["transaction_read_only", "tx_read_only"]
            .into_iter()
            .find(|name| has(name));
        Dialect {
            performance_schema: on("performance_schema"),
            has_server_uuid: has("server_uuid") && !product.is_mariadb(),
            has_super_read_only: has("super_read_only"),
            has_innodb_read_only: has("innodb_read_only"),
            has_gtid_mode: has("gtid_mode"),
            log_bin: on("log_bin"),
            gtids: product.is_mariadb() || hello.text("gtid_mode").is_some_and(has_gtids),
            session: SessionNames {
                read_only,
                lock_wait_timeout: has("lock_wait_timeout"),
                max_execution_time: has("max_execution_time") && !product.is_mariadb(),
                max_statement_time: has("max_statement_time") && product.is_mariadb(),
            },
            product,
        }
    }

    /// `SHOW REPLICA STATUS` and its new column names.
    pub fn says_replica(&self) -> bool {
        self.product.is_mysql_from(8, 0, 22)
    }

    /// MariaDB since 10.5 takes REPLICA for SLAVE in statements, never in names.
    pub fn is_mariadb_from(&self, major: u16, minor: u16, patch: u16) -> bool {
        self.product.is_mariadb() && self.product.version >= Version::new(major, minor, patch)
    }

    /// Applier workers, coordinators and receivers in `performance_schema`.
    pub fn has_applier_tables(&self) -> bool {
        self.performance_schema && self.product.is_mysql_from(5, 7, 0)
    }

    /// Microsecond stamps of transactions there.
    pub fn has_applier_times(&self) -> bool {
        self.performance_schema && self.product.is_mysql_from(8, 0, 1)
    }

    /// `performance_schema.processlist`, which takes no global lock.
    pub fn has_fast_processlist(&self) -> bool {
        self.performance_schema && self.product.is_mysql_from(8, 0, 22)
    }

    /// `performance_schema.data_lock_waits` and metadata locks that are instrumented from the start.
    pub fn has_lock_tables(&self) -> bool {
        self.performance_schema && self.product.is_mysql_from(8, 0, 1)
    }

    pub fn is_aurora(&self) -> bool {
        self.product.platform == Platform::Aurora
    }
}

/// `gtid_mode` under which new transactions get a GTID.
pub fn has_gtids(mode: &str) -> bool {
    switch(mode) == Some(true) || mode.eq_ignore_ascii_case("ON_PERMISSIVE")
}

fn platform(hello: &Named) -> Platform {
    if hello.text("aurora_version").is_some() {
        return Platform::Aurora;
    }
    match hello.text("basedir") {
        Some(dir) if dir.contains("rdsdbbin") => Platform::Rds,
        _ => Platform::SelfManaged,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn dialect(pairs: &[(&str, &str)]) -> Dialect {
        Dialect::from_hello(&Named(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        ))
    }

    #[test]
    fn a_modern_mysql() {
        let d = dialect(&[
            ("version", "9.7.4"),
            ("version_comment", "(Debian)"),
            ("performance_schema", "ON"),
            ("server_uuid", "x"),
            ("super_read_only", "ON"),
            ("innodb_read_only", "OFF"),
            ("gtid_mode", "ON"),
            ("log_bin", "ON"),
            ("transaction_read_only", "OFF"),
            ("lock_wait_timeout", "31536000"),
            ("max_execution_time", "0"),
        ]);
        assert!(d.says_replica() && d.has_applier_times() && d.has_fast_processlist() && d.gtids);
        assert_eq!(d.session.read_only, Some("transaction_read_only"));
        assert!(d.session.max_execution_time && !d.session.max_statement_time);
        assert_eq!(d.product.platform, Platform::SelfManaged);
    }

    #[test]
    fn r08_mariadb_is_never_asked_in_the_words_of_mysql_8() {
        let d = dialect(&[
            ("version", "11.8.9-MariaDB-deb13"),
            ("performance_schema", "OFF"),
            ("tx_read_only", "OFF"),
            ("gtid_domain_id", "0"),
            ("max_statement_time", "0.000000"),
        ]);
        assert!(!d.says_replica() && !d.has_applier_tables() && !d.has_super_read_only);
        assert!(d.gtids && d.is_mariadb_from(10, 5, 2));
        assert!(d.session.max_statement_time);
    }

    #[test]
    fn gtid_mode_has_four_values() {
        for (mode, gtids) in [
            ("ON", true),
            ("ON_PERMISSIVE", true),
            ("OFF_PERMISSIVE", false),
            ("OFF", false),
        ] {
            assert_eq!(has_gtids(mode), gtids, "{mode}");
        }
    }

    #[test]
    fn r33_aurora_and_rds_are_recognised() {
        let aurora = dialect(&[
            ("version", "8.0.28"),
            ("aurora_version", "3.04.0"),
            ("basedir", "/rdsdbbin/x"),
        ]);
        assert!(aurora.is_aurora());
        let rds = dialect(&[
            ("version", "8.0.35"),
            ("basedir", "/rdsdbbin/mysql-8.0.35.R4/"),
        ]);
        assert_eq!(rds.product.platform, Platform::Rds);
    }
}
