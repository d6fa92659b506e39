//! What a statement depends on besides the tables.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::time::ServerTime;

use super::statement::PlanFormat;
use super::value::Value;

/// The session that a statement is part of. The caller keeps it; statements change user variables, the last insert id and
/// the counts in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionContext {
    /// The default schema.
    pub schema: Option<String>,
    pub connection_id: u64,
    /// `app@localhost`, what USER() says.
    pub user: String,
    /// `app@%`, what CURRENT_USER() says.
    pub account: String,
    /// The server's clock when the statement began; NOW() and UTC_TIMESTAMP() stand still within one statement.
    pub now: ServerTime,
    /// The session's time zone, seconds east of UTC.
    pub zone_offset_secs: i32,
    /// The server's own: what `SYSTEM` means, and what TIMESTAMP columns are kept in. The same on all servers of a lab.
    pub system_zone_offset_secs: i32,
    /// `STRICT_TRANS_TABLES` in `sql_mode`: values that do not fit are refused instead of bent.
    pub is_strict: bool,
    /// `@name` by its name in small letters, without the `@`.
    pub user_variables: BTreeMap<String, Value>,
    /// LAST_INSERT_ID().
    pub last_insert_id: u64,
    /// ROW_COUNT(): −1 after an answer with rows.
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// `foreign_key_checks`.
    pub checks_foreign_keys: bool,
    /// What EXPLAIN gives that names no format: `explain_format`.
    pub plan_format: PlanFormat,
    /// So long a statement may keep the tables from others; `None`: as long as it takes.
    pub patience: Option<Duration>,
}

impl SessionContext {
    pub fn new(connection_id: u64, user: &str, account: &str) -> Self {
        SessionContext {
            schema: None,
            connection_id,
            user: user.to_owned(),
            account: account.to_owned(),
            now: ServerTime(0),
            zone_offset_secs: 0,
            system_zone_offset_secs: 0,
            is_strict: true,
            user_variables: BTreeMap::new(),
            last_insert_id: 0,
            row_count: 0,
            found_rows: 0,
            checks_foreign_keys: true,
            plan_format: PlanFormat::Traditional,
            patience: None,
        }
    }
}
