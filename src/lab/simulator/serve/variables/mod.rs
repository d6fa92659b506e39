//! System variables: which there are on each generation, what they start with, what they may be set to.
//!
//! The table is `assets/lab/variables.tsv`. Values that the model of replication knows (`read_only`, `gtid_executed` …)
//! are not kept here: `server` asks the model for them.

mod assign;

pub use assign::{Assignment, Scope, assignments};

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::generation::Habits;
use crate::lab::wire::SqlError;
use crate::model::lab::Generation;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lives {
    Globally,
    InSessionsToo,
    InSessionsOnly,
}

/// What a variable can be set to.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    ReadOnly,
    Switch,
    Integer { least: i128, most: i128 },
    Decimal { least: f64, most: f64 },
    OneOf(Vec<&'static str>),
    SqlMode,
    Text,
}

#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    pub lives: Lives,
    pub kind: Kind,
    initial: [Option<&'static str>; 6],
}

impl Variable {
    pub fn initial(&self, generation: Generation) -> Option<&'static str> {
        self.initial[generation.place()]
    }

    /// How `SELECT @@x` shows a value that SHOW VARIABLES shows as a word.
    pub fn selected(&self, value: &str) -> String {
        let is_switch = self.kind == Kind::Switch || self.kind == Kind::ReadOnly;
        match value {
            "ON" if is_switch && self.is_number() => "1".to_owned(),
            "OFF" if is_switch && self.is_number() => "0".to_owned(),
            other => other.to_owned(),
        }
    }

    /// Whether `SELECT @@x` gives a number.
    pub fn is_number(&self) -> bool {
        match self.kind {
            Kind::Switch | Kind::Integer { .. } | Kind::Decimal { .. } => true,
            Kind::ReadOnly => self
                .initial
                .iter()
                .flatten()
                .all(|value| matches!(*value, "ON" | "OFF") || value.parse::<f64>().is_ok()),
            _ => false,
        }
    }
}

/// All variables, in the order of their names.
pub fn all() -> &'static BTreeMap<&'static str, Variable> {
    static ALL: OnceLock<BTreeMap<&'static str, Variable>> = OnceLock::new();
    ALL.get_or_init(|| {
        include_str!("../../../../../assets/lab/variables.tsv")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .filter_map(variable)
            .map(|variable| (variable.name, variable))
            .collect()
    })
}

fn variable(line: &'static str) -> Option<Variable> {
    let mut cells = line.split('\t');
    let name = cells.next()?;
    let lives = match cells.next()? {
        "g" => Lives::Globally,
        "b" => Lives::InSessionsToo,
        _ => Lives::InSessionsOnly,
    };
    let kind = kind(cells.next()?)?;
    let mut initial = [None; 6];
    let mut left = None;
    for place in &mut initial {
        match cells.next()? {
            "\"" => {}
            "-" => left = None,
            value => left = Some(value),
        }
        *place = left;
    }
    Some(Variable {
        name,
        lives,
        kind,
        initial,
    })
}

fn kind(text: &'static str) -> Option<Kind> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let range = || rest.split_once(':');
    Some(match word {
        "ro" => Kind::ReadOnly,
        "B" => Kind::Switch,
        "I" => Kind::Integer {
            least: range()?.0.parse().ok()?,
            most: range()?.1.parse().ok()?,
        },
        "D" => Kind::Decimal {
            least: range()?.0.parse().ok()?,
            most: range()?.1.parse().ok()?,
        },
        "E" => Kind::OneOf(rest.split(',').collect()),
        "M" => Kind::SqlMode,
        _ => Kind::Text,
    })
}

/// The variable of this name, if this generation has it.
pub fn find(generation: Generation, name: &str) -> Result<&'static Variable, SqlError> {
    all()
        .get(name.to_ascii_lowercase().as_str())
        .filter(|variable| variable.initial(generation).is_some())
        .ok_or_else(|| unknown(name))
}

pub fn unknown(name: &str) -> SqlError {
    SqlError::new(1193, format!("Unknown system variable '{name}'"))
}

/// Values by name. Cheap to copy: a session starts with the global ones.
#[derive(Clone, Debug)]
pub struct Values(Arc<BTreeMap<&'static str, String>>);

impl Values {
    /// As a server starts.
    pub fn initial(generation: Generation) -> Self {
        let values = all()
            .values()
            .filter_map(|v| Some((v.name, v.initial(generation)?.to_owned())))
            .collect();
        Values(Arc::new(values))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.get(name), Some("ON" | "1"))
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.parse().ok()
    }

    /// Variables that this generation does not have stay away.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        if let Some(place) = Arc::make_mut(&mut self.0).get_mut(name) {
            *place = value.into();
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

/// A value accepted, as the server will show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    pub value: String,
    /// It was out of range and has been cut to what is allowed (warning 1292).
    pub was_cut: bool,
}

impl Variable {
    /// What setting it to this would make of it. `None`: NULL.
    pub fn accept(&self, given: Option<&str>) -> Result<Accepted, SqlError> {
        let Some(given) = given else {
            return self.accept_null();
        };
        match &self.kind {
            Kind::ReadOnly => Err(self.read_only()),
            Kind::Switch => switch(given)
                .map(exactly)
                .ok_or_else(|| self.refused(given)),
            Kind::Integer { least, most } => self.integer(given, *least, *most),
            Kind::Decimal { least, most } => self.decimal(given, *least, *most),
            Kind::OneOf(words) => one_of(words, given)
                .map(exactly)
                .ok_or_else(|| self.refused(given)),
            Kind::SqlMode => sql_mode(given)
                .map(|value| Accepted {
                    value,
                    was_cut: false,
                })
                .map_err(|word| self.refused(&word)),
            Kind::Text => Ok(exactly(given)),
        }
    }

    fn accept_null(&self) -> Result<Accepted, SqlError> {
        match self.kind {
            Kind::ReadOnly => Err(self.read_only()),
            // A client says so when it wants results as they are stored.
            Kind::Text if self.name == "character_set_results" => Ok(exactly("")),
            _ => Err(self.refused("NULL")),
        }
    }

    fn integer(&self, given: &str, least: i128, most: i128) -> Result<Accepted, SqlError> {
        let number: i128 = match given {
            "ON" | "TRUE" | "true" => 1,
            "OFF" | "FALSE" | "false" => 0,
            text => text.parse().map_err(|_| self.wrong_type())?,
        };
        let allowed = number.clamp(least, most);
        Ok(Accepted {
            value: allowed.to_string(),
            was_cut: allowed != number,
        })
    }

    fn decimal(&self, given: &str, least: f64, most: f64) -> Result<Accepted, SqlError> {
        let number: f64 = given.parse().map_err(|_| self.wrong_type())?;
        let allowed = number.clamp(least, most);
        Ok(Accepted {
            value: format!("{allowed:.6}"),
            was_cut: allowed != number,
        })
    }

    pub fn read_only(&self) -> SqlError {
        SqlError::new(
            1238,
            format!("Variable '{}' is a read only variable", self.name),
        )
    }

    pub fn refused(&self, value: &str) -> SqlError {
        SqlError::new(
            1231,
            format!(
                "Variable '{}' can't be set to the value of '{value}'",
                self.name
            ),
        )
    }

    fn wrong_type(&self) -> SqlError {
        SqlError::new(
            1232,
            format!("Incorrect argument type to variable '{}'", self.name),
        )
    }

    /// Refuses a scope that the variable does not have.
    pub fn check_scope(&self, scope: Scope) -> Result<(), SqlError> {
        match (self.lives, scope) {
            (Lives::Globally, Scope::Session) => Err(SqlError::new(
                1229,
                format!(
                    "Variable '{}' is a GLOBAL variable and should be set with SET GLOBAL",
                    self.name
                ),
            )),
            (Lives::InSessionsOnly, Scope::Global | Scope::Persist | Scope::PersistOnly) => {
                Err(SqlError::new(
                    1228,
                    format!(
                        "Variable '{}' is a SESSION variable and can't be used with SET GLOBAL",
                        self.name
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}

fn exactly(value: &str) -> Accepted {
    Accepted {
        value: value.to_owned(),
        was_cut: false,
    }
}

/// `ON` or `OFF`.
fn switch(given: &str) -> Option<&'static str> {
    match given.to_ascii_uppercase().as_str() {
        "ON" | "1" | "TRUE" => Some("ON"),
        "OFF" | "0" | "FALSE" => Some("OFF"),
        _ => None,
    }
}

/// By its word or by its number.
fn one_of(words: &[&'static str], given: &str) -> Option<&'static str> {
    let by_word = words
        .iter()
        .copied()
        .find(|word| word.eq_ignore_ascii_case(given));
    by_word.or_else(|| {
        let place: usize = given.parse().ok()?;
        words.get(place).copied()
    })
}

/// The words known to some generation; `Err` is the first one known to none.
fn sql_mode(given: &str) -> Result<String, String> {
    const KNOWN: [&str; 24] = [
        "REAL_AS_FLOAT",
        "PIPES_AS_CONCAT",
        "ANSI_QUOTES",
        "IGNORE_SPACE",
        "ONLY_FULL_GROUP_BY",
        "NO_UNSIGNED_SUBTRACTION",
        "NO_DIR_IN_CREATE",
        "ANSI",
        "NO_AUTO_VALUE_ON_ZERO",
        "NO_BACKSLASH_ESCAPES",
        "STRICT_TRANS_TABLES",
        "STRICT_ALL_TABLES",
        "NO_ZERO_IN_DATE",
        "NO_ZERO_DATE",
        "ALLOW_INVALID_DATES",
        "ERROR_FOR_DIVISION_BY_ZERO",
        "TRADITIONAL",
        "NO_AUTO_CREATE_USER",
        "HIGH_NOT_PRECEDENCE",
        "NO_ENGINE_SUBSTITUTION",
        "PAD_CHAR_TO_FULL_LENGTH",
        "TIME_TRUNCATE_FRACTIONAL",
        "IGNORE_BAD_TABLE_OPTIONS",
        "ORACLE",
    ];
    let mut words = Vec::new();
    for word in given
        .split(',')
        .map(str::trim)
        .filter(|w| !w.is_empty() && *w != "0")
    {
        let known = KNOWN.iter().find(|known| known.eq_ignore_ascii_case(word));
        words.push(*known.ok_or_else(|| word.to_owned())?);
    }
    Ok(words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let lines = include_str!("../../../../../assets/lab/variables.tsv")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .count();
        assert_eq!(
            all().len(),
            lines,
            "a line that cannot be read, or a name twice"
        );
    }

    #[test]
    fn each_generation_has_its_own_names() {
        use Generation::{MariaDb118, MariaDb1011, MySql57, MySql80, MySql84, MySql97};
        for (name, has) in [
            ("tx_isolation", vec![MySql57, MariaDb1011, MariaDb118]),
            (
                "transaction_isolation",
                vec![MySql57, MySql80, MySql84, MySql97, MariaDb118],
            ),
            ("replica_parallel_type", vec![MySql80, MySql84]),
            ("super_read_only", vec![MySql57, MySql80, MySql84, MySql97]),
            ("gtid_domain_id", vec![MariaDb1011, MariaDb118]),
            (
                "rpl_semi_sync_source_enabled",
                vec![MySql80, MySql84, MySql97],
            ),
            (
                "rpl_semi_sync_master_enabled",
                vec![MySql57, MariaDb1011, MariaDb118],
            ),
        ] {
            let found: Vec<Generation> = Generation::ALL
                .into_iter()
                .filter(|g| find(*g, name).is_ok())
                .collect();
            assert_eq!(found, has, "{name}");
        }
        assert_eq!(find(MySql97, "nonsense").unwrap_err().code, 1193);
    }

    #[test]
    fn values_are_checked_as_servers_check_them() {
        let of = |name: &str, value: Option<&str>| {
            find(Generation::MySql97, name)
                .unwrap()
                .accept(value)
                .map(|a| (a.value, a.was_cut))
                .map_err(|e| e.code)
        };
        assert_eq!(of("autocommit", Some("true")), Ok(("ON".into(), false)));
        assert_eq!(of("autocommit", Some("maybe")), Err(1231));
        assert_eq!(of("wait_timeout", Some("0")), Ok(("1".into(), true)));
        assert_eq!(of("wait_timeout", Some("soon")), Err(1232));
        assert_eq!(of("wait_timeout", None), Err(1231));
        assert_eq!(
            of("session_track_gtids", Some("own_gtid")),
            Ok(("OWN_GTID".into(), false))
        );
        assert_eq!(
            of("session_track_gtids", Some("1")),
            Ok(("OWN_GTID".into(), false))
        );
        assert_eq!(of("server_uuid", Some("x")), Err(1238));
        assert_eq!(
            of("sql_mode", Some("strict_trans_tables, ansi")),
            Ok(("STRICT_TRANS_TABLES,ANSI".into(), false))
        );
        assert_eq!(of("sql_mode", Some("LOOSE")), Err(1231));
        assert_eq!(
            of("replica_parallel_workers", Some("9999")),
            Ok(("1024".into(), true))
        );
    }
}
