//! CHANGE … TO: its options, where they lead, and what the source says to the account.

use super::super::super::world::{Login, SourceConfig, Target};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::problems::problem;
use super::super::words::Words;
use crate::lab::wire::SqlError;
use crate::model::lab::Generation;
use crate::model::time::Span;

/// What CHANGE … TO says.
#[derive(Debug, Default)]
pub(super) struct Options {
    host: Option<String>,
    port: Option<u16>,
    user: Option<String>,
    pub password: Option<String>,
    auto_position: Option<bool>,
    from_current_pos: Option<bool>,
    connect_retry: Option<Span>,
    retry_count: Option<u64>,
    heartbeat_period: Option<Span>,
    delay_secs: Option<i64>,
    /// Something besides the delay is named, whatever its value: the receiver must stand.
    pub is_about_receiver: bool,
    /// A place in a log is named.
    pub names_position: bool,
}

impl Options {
    pub fn apply(&self, config: &mut SourceConfig) {
        fn set<T: Clone>(place: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                place.clone_from(value);
            }
        }
        set(&mut config.host, &self.host);
        set(&mut config.port, &self.port);
        set(&mut config.user, &self.user);
        set(&mut config.auto_position, &self.auto_position);
        set(&mut config.from_current_pos, &self.from_current_pos);
        set(&mut config.connect_retry, &self.connect_retry);
        set(&mut config.retry_count, &self.retry_count);
        set(&mut config.heartbeat_period, &self.heartbeat_period);
        set(&mut config.delay_secs, &self.delay_secs);
    }
}

pub(super) fn options(words: &mut Words<'_>) -> Result<Options, SqlError> {
    let mut options = Options::default();
    loop {
        let option = words.clone();
        let name = words
            .name()
            .ok_or_else(|| words.error())?
            .to_ascii_uppercase();
        if !words.accept("=") {
            return Err(words.error());
        }
        if words.accept("(") {
            // IGNORE_SERVER_IDS = (…)
            while !words.at_end() && !words.accept(")") {
                words.skip();
            }
        } else {
            let near = words.clone();
            let value = words.value().ok_or_else(|| words.error())?;
            if !options.knows(&name) {
                return Err(option.error());
            }
            options.read(&name, &value).ok_or_else(|| near.error())?;
        }
        if !words.accept(",") {
            return Ok(options);
        }
    }
}

/// Without the prefix that says whose it is.
fn bare(name: &str) -> &str {
    name.strip_prefix("SOURCE_")
        .or_else(|| name.strip_prefix("MASTER_"))
        .unwrap_or(name)
}

impl Options {
    /// Whether some server has such an option.
    fn knows(&self, name: &str) -> bool {
        const ANY: [&str; 2] = ["1", "x"];
        ANY.iter()
            .any(|value| Options::default().read(name, value).is_some())
    }

    /// Whether auto-positioning is switched on or off.
    pub fn is_about_position(&self) -> bool {
        self.auto_position.is_some()
    }

    /// Values that no server takes.
    pub fn check(&self, generation: Generation) -> Result<(), SqlError> {
        const LONGEST_DELAY: i64 = i32::MAX as i64;
        const LONGEST_HEARTBEAT: Span = Span::from_secs(4_294_967);
        let (source, source_host) = match generation.says_slave() {
            true => ("master", "MASTER_HOST"),
            false => ("source", "SOURCE_HOST"),
        };
        if let Some(delay) = self.delay_secs.filter(|delay| *delay > LONGEST_DELAY) {
            let text = format!(
                "The requested value {delay} for the {source} delay exceeds the maximum {LONGEST_DELAY}"
            );
            return Err(problem(1729, text));
        }
        if self
            .heartbeat_period
            .is_some_and(|period| period > LONGEST_HEARTBEAT)
        {
            let text = "The requested value for the heartbeat period is either negative or exceeds the maximum allowed \
                        (4294967 seconds).";
            return Err(problem(1624, text));
        }
        if self.host.as_deref() == Some("") {
            return Err(problem(
                1210,
                format!("Incorrect arguments to {source_host}"),
            ));
        }
        Ok(())
    }

    /// `None`: no server has such an option, or not with such a value.
    fn read(&mut self, name: &str, value: &str) -> Option<()> {
        let seconds = || {
            let seconds: f64 = value.parse().ok()?;
            (seconds >= 0.0).then(|| Span::from_secs_f64(seconds))
        };
        let name = bare(name);
        self.is_about_receiver |= name != "DELAY";
        self.names_position |= matches!(
            name,
            "LOG_FILE" | "LOG_POS" | "RELAY_LOG_FILE" | "RELAY_LOG_POS"
        );
        match name {
            "HOST" => self.host = Some(value.to_owned()),
            "PORT" => self.port = Some(value.parse().ok()?),
            "USER" => self.user = Some(value.to_owned()),
            "PASSWORD" => self.password = Some(value.to_owned()),
            "AUTO_POSITION" => self.auto_position = Some(value != "0"),
            "USE_GTID" => {
                self.auto_position = Some(!value.eq_ignore_ascii_case("no"));
                self.from_current_pos = Some(value.eq_ignore_ascii_case("current_pos"));
            }
            "CONNECT_RETRY" => self.connect_retry = Some(seconds()?),
            "RETRY_COUNT" => self.retry_count = Some(value.parse().ok()?),
            "HEARTBEAT_PERIOD" => self.heartbeat_period = Some(seconds()?),
            "DELAY" => {
                let delay: u32 = value.parse::<u64>().ok()?.try_into().unwrap_or(u32::MAX);
                self.delay_secs = Some(delay.into());
            }
            "LOG_FILE"
            | "LOG_POS"
            | "BIND"
            | "SSL"
            | "SSL_CA"
            | "SSL_CAPATH"
            | "SSL_CERT"
            | "SSL_KEY"
            | "SSL_CIPHER"
            | "SSL_CRL"
            | "SSL_CRLPATH"
            | "SSL_VERIFY_SERVER_CERT"
            | "TLS_VERSION"
            | "TLS_CIPHERSUITES"
            | "PUBLIC_KEY_PATH"
            | "COMPRESSION_ALGORITHMS"
            | "ZSTD_COMPRESSION_LEVEL"
            | "CONNECTION_AUTO_FAILOVER"
            | "GET_SOURCE_PUBLIC_KEY"
            | "GET_MASTER_PUBLIC_KEY"
            | "RELAY_LOG_FILE"
            | "RELAY_LOG_POS"
            | "DEMOTE_TO_SLAVE"
            | "GTID_ONLY"
            | "REQUIRE_ROW_FORMAT"
            | "REQUIRE_TABLE_PRIMARY_KEY_CHECK"
            | "NETWORK_NAMESPACE"
            | "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS"
            | "PRIVILEGE_CHECKS_USER"
            | "DO_DOMAIN_IDS"
            | "IGNORE_DOMAIN_IDS"
            | "IGNORE_SERVER_IDS" => {}
            _ => return None,
        }
        Some(())
    }
}

/// A channel that was never pointed anywhere, with the server's own defaults.
pub(super) fn first_config(generation: Generation) -> SourceConfig {
    SourceConfig {
        host: String::new(),
        port: 3306,
        user: String::new(),
        target: Target::Nobody,
        login: Login::Accepted,
        auto_position: false,
        from_current_pos: false,
        connect_retry: Span::from_secs(60),
        retry_count: match generation {
            Generation::MySql84 | Generation::MySql97 => 10,
            _ if generation.is_mariadb() => 100_000,
            _ => 86_400,
        },
        heartbeat_period: Span::from_secs(30),
        delay_secs: 0,
    }
}

pub(super) fn target(bench: &Bench, config: &SourceConfig) -> Target {
    let is_here = matches!(config.host.as_str(), "127.0.0.1" | "localhost" | "::1");
    if !is_here {
        return Target::UnknownHost;
    }
    bench
        .by_port(config.port)
        .map_or(Target::Nobody, Target::Node)
}

/// What the source would say to the channel's account.
pub(super) fn login(bench: &Bench, config: &SourceConfig, password: &str) -> Login {
    let Target::Node(source) = config.target else {
        return Login::Accepted;
    };
    let accounts = &bench.world.engine(source).accounts;
    match accounts.get(&config.user) {
        Some(account) if account.password == password => {
            match account.may_globally(&["REPLICATION SLAVE", "REPLICATION REPLICA"]) {
                true => Login::Accepted,
                false => Login::Refused {
                    code: if bench.generation.forgot_slave() {
                        13120
                    } else {
                        1597
                    },
                    message: format!(
                        "Source command COM_REGISTER_REPLICA failed: Access denied for user '{}'@'%' (using password: \
                         YES) (Errno: 1045)",
                        config.user
                    ),
                },
            }
        }
        _ => Login::Refused {
            code: 1045,
            message: format!(
                "Access denied for user '{}'@'127.0.0.1' (using password: YES)",
                config.user
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_old_and_new_words() {
        for sql in [
            "SOURCE_HOST='h', SOURCE_PORT=5, SOURCE_DELAY = 3, GET_SOURCE_PUBLIC_KEY=1",
            "MASTER_HOST='h', MASTER_PORT=5, MASTER_DELAY = 3, IGNORE_SERVER_IDS=(1,2)",
        ] {
            let read = options(&mut Words::of(sql)).unwrap();
            assert_eq!((read.host.as_deref(), read.port), (Some("h"), Some(5)));
            assert_eq!(read.delay_secs, Some(3));
        }
        for (wrong, near) in [
            ("SOURCE_NONSENSE=1", "near 'SOURCE_NONSENSE=1'"),
            ("SOURCE_DELAY = -1", "near '-1'"),
            ("SOURCE_CONNECT_RETRY = 'a'", "near ''a''"),
        ] {
            let error = options(&mut Words::of(wrong)).err().unwrap();
            let message = String::from_utf8(error.message).unwrap();
            assert!(message.contains(near), "{message}");
        }
    }
}
