//! Who a server is: product, version, platform, and the number under which this run watches it.

use std::fmt;

/// The number of one watched server in one run of the program. A server watched again gets a new number, so that a
/// late event of a dropped thread is recognised and ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub u32);

/// Whose server it is; decides statements, columns and GTID format. Always told by the server, never guessed from
/// the look of a value (R18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    MySql,
    Percona,
    MariaDb,
}

impl Flavour {
    pub fn is_mariadb(self) -> bool {
        self == Flavour::MariaDb
    }

    pub fn name(self) -> &'static str {
        match self {
            Flavour::MySql => "MySQL",
            Flavour::Percona => "Percona Server",
            Flavour::MariaDb => "MariaDB",
        }
    }
}

/// Where it runs, as far as it changes what can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    SelfManaged,
    /// Amazon RDS: ordinary replication, some statements reserved.
    Rds,
    /// Amazon Aurora: replicas have no status rows; lag is in `mysql.ro_replica_status`, in milliseconds (R33).
    Aurora,
}

/// A version number; suffixes are not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl Version {
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Version {
            major,
            minor,
            patch,
        }
    }

    /// Reads the leading `8.0.37` of texts like `8.0.37-29`, `5.5.5-10.11.19-MariaDB-deb12` (MariaDB's replication
    /// prefix is skipped). `None` when no number leads.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text
            .strip_prefix("5.5.5-")
            .filter(|_| text.contains("MariaDB"))
            .unwrap_or(text);
        let mut parts = text
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?
            .split('.');
        let major = parts.next()?.parse().ok()?;
        let mut next = || parts.next().and_then(|p| p.parse().ok()).unwrap_or(0);
        Some(Version::new(major, next(), next()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// What answered: learned once per connection, and again after a reconnect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    pub flavour: Flavour,
    pub version: Version,
    pub platform: Platform,
    /// `@@version` as the server says it.
    pub version_text: String,
}

impl Product {
    /// From `@@version` and `@@version_comment`; the platform is found out separately.
    pub fn from_text(version: &str, comment: &str) -> Self {
        let flavour = if version.contains("MariaDB") || comment.contains("MariaDB") {
            Flavour::MariaDb
        } else if comment.contains("Percona") {
            Flavour::Percona
        } else {
            Flavour::MySql
        };
        Product {
            flavour,
            version: Version::parse(version).unwrap_or_default(),
            platform: Platform::SelfManaged,
            version_text: version.to_owned(),
        }
    }

    pub fn is_mariadb(&self) -> bool {
        self.flavour.is_mariadb()
    }

    /// MySQL or Percona at least this version; never true for MariaDB, whose numbers mean something else.
    pub fn is_mysql_from(&self, major: u16, minor: u16, patch: u16) -> bool {
        !self.is_mariadb() && self.version >= Version::new(major, minor, patch)
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.flavour.name(), self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_servers_really_say() {
        for (text, comment, flavour, version) in [
            ("9.7.4", "(Debian)", Flavour::MySql, Version::new(9, 7, 4)),
            (
                "5.7.29-log",
                "MySQL Community Server (GPL)",
                Flavour::MySql,
                Version::new(5, 7, 29),
            ),
            (
                "8.0.36-28",
                "Percona Server (GPL), Release 28",
                Flavour::Percona,
                Version::new(8, 0, 36),
            ),
            (
                "10.11.19-MariaDB-deb12-log",
                "Debian 12",
                Flavour::MariaDb,
                Version::new(10, 11, 19),
            ),
            (
                "5.5.5-10.6.12-MariaDB",
                "",
                Flavour::MariaDb,
                Version::new(10, 6, 12),
            ),
            ("garbage", "", Flavour::MySql, Version::new(0, 0, 0)),
        ] {
            let product = Product::from_text(text, comment);
            assert_eq!(
                (product.flavour, product.version),
                (flavour, version),
                "{text}"
            );
        }
    }

    #[test]
    fn mariadb_is_never_a_recent_mysql() {
        assert!(!Product::from_text("11.8.9-MariaDB", "").is_mysql_from(8, 0, 22));
    }
}
