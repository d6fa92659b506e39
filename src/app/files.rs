//! Files that a person asked for: never over another one unless the dialog has asked, and what went wrong in words.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::model::phrase::{Phrase, phrase};

pub fn create(path: &Path, may_replace: bool) -> Result<File, Phrase> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(may_replace)
        .create_new(!may_replace)
        .open(path)
        .map_err(|error| not_written(&error))
}

pub fn not_written(error: &io::Error) -> Phrase {
    match error.kind() {
        io::ErrorKind::AlreadyExists => phrase("probe_screen.export.exists"),
        _ => phrase("probe_screen.export.failed").with("reason", error.to_string()),
    }
}

/// RFC 4180; and a field that a spreadsheet would take for a formula is made text.
pub fn csv_field(field: &str) -> String {
    let field = match field.chars().next() {
        Some('=' | '+' | '-' | '@') => format!("'{field}"),
        _ => field.to_owned(),
    };
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_with_commas_or_quotes_stays_one_field() {
        assert_eq!(csv_field("db-r1"), "db-r1");
        assert_eq!(csv_field("a,b"), "\"a,b\"");
        assert_eq!(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(csv_field("=1+1"), "'=1+1");
    }
}
