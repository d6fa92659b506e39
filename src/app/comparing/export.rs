//! A comparison as a file: what `replicascope route --json` prints, or a line for each rule as CSV.

use std::io::{self, BufWriter, Write};

use super::desk::Export;
use crate::app::files;
use crate::app::headless::route_json;
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;
use crate::monitor::workload::WorkloadEnd;
use crate::routing::compare::{Outcome, Row};
use crate::ui::action::ExportFormat;
use crate::words::{Catalogue, Language};

/// The answer is a sentence for the person, either way.
pub fn write(
    outcome: &Outcome,
    end: Option<&WorkloadEnd>,
    file: &Export,
) -> Result<Phrase, Phrase> {
    let opened = files::create(&file.to, file.may_replace)?;
    let mut out = BufWriter::new(opened);
    match file.format {
        ExportFormat::Csv => csv(&mut out, outcome),
        ExportFormat::Json => json(&mut out, outcome, end),
    }
    .and_then(|()| out.flush())
    .map_err(|error| files::not_written(&error))?;
    let rules = outcome.comparison.rows.len() as u64;
    let done = phrase("rules.export.done").with("n", rules);
    Ok(done.with("path", file.to.display().to_string()))
}

/// Scripts read it: in English, like the command's.
fn json(out: &mut impl Write, outcome: &Outcome, end: Option<&WorkloadEnd>) -> io::Result<()> {
    let english = Catalogue::of(Language::English);
    for row in &outcome.comparison.rows {
        serde_json::to_writer(&mut *out, &route_json::rule(row, english))?;
        out.write_all(b"\n")?;
    }
    serde_json::to_writer(&mut *out, &route_json::last(outcome, end, english))?;
    out.write_all(b"\n")
}

const COLUMNS: &str = "rule,name,promise,reads,must_see,judged,stale,stale_share,undecided,refused,on_source,\
source_share,added_p50_ms,added_p95_ms,added_p99_ms,fallbacks";

fn csv(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    writeln!(out, "{COLUMNS}")?;
    let rows = outcome.comparison.rows.iter();
    rows.map(csv_line)
        .try_for_each(|line| writeln!(out, "{line}"))
}

/// Unknown is empty, never 0.
fn csv_line(row: &Row) -> String {
    let english = Catalogue::of(Language::English);
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{share:.6}"));
    let millis = |span: Option<Span>| {
        span.map_or_else(String::new, |span| format!("{:.3}", span.millis_f64()))
    };
    let each = row.fallbacks.iter();
    let fallbacks: Vec<String> = each
        .map(|(code, times)| format!("{code} {times}"))
        .collect();
    [
        files::csv_field(&row.code),
        files::csv_field(&english.say(&row.name)),
        route_json::promise_code(row.promise).to_owned(),
        row.reads.to_string(),
        row.must_see.to_string(),
        row.judged.to_string(),
        row.stale.to_string(),
        share(row.stale_share()),
        row.undecided.to_string(),
        row.refused.to_string(),
        row.on_source.to_string(),
        share(row.source_share()),
        millis(row.added.map(|added| added.p50)),
        millis(row.added.map(|added| added.p95)),
        millis(row.added.map(|added| added.p99)),
        files::csv_field(&fallbacks.join("; ")),
    ]
    .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::compare::{Comparison, Percentiles, Recording, compare};
    use crate::routing::strategies::{RouteTable, standard};

    fn nothing_seen() -> Outcome {
        let comparison = compare(
            &Recording::default(),
            &mut standard(None, &RouteTable::default()),
        );
        Outcome {
            writes: 0,
            reads: 0,
            refused: 0,
            last_refusal: None,
            replicas: Vec::new(),
            wait_round_trip: None,
            comparison,
        }
    }

    #[test]
    fn every_line_has_as_many_fields_as_the_heading_and_unknown_is_empty() {
        let Comparison { rows, .. } = nothing_seen().comparison;
        for row in &rows {
            let line = csv_line(row);
            let fields: Vec<&str> = line.split(',').collect();
            // Names with a comma are quoted.
            if !line.contains('"') {
                assert_eq!(fields.len(), COLUMNS.split(',').count(), "{line}");
                assert_eq!((fields[7], fields[13]), ("", ""), "{line}");
            }
        }
        let mut row = rows[0].clone();
        row.added = Percentiles::of(vec![Span::from_micros(1_500)]);
        assert!(csv_line(&row).contains("1.500,1.500,1.500"));
    }

    #[test]
    fn a_file_is_written_once_and_not_over_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = Export {
            format: ExportFormat::Json,
            to: folder.path().join("rules.json"),
            may_replace: false,
        };
        write(&nothing_seen(), None, &file).expect("written");
        let text = std::fs::read_to_string(&file.to).expect("a file");
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let (summary, rules) = lines.split_last().expect("lines");
        assert_eq!(rules[0]["rule"], "always_source");
        assert_eq!(
            summary["summary"]["wait_round_trip_ms"],
            serde_json::Value::Null
        );
        let again = write(&nothing_seen(), None, &file).expect_err("it is there");
        assert_eq!(again.key, "probe_screen.export.exists");
        (file.format, file.may_replace) = (ExportFormat::Csv, true);
        write(&nothing_seen(), None, &file).expect("replaced");
        let text = std::fs::read_to_string(&file.to).expect("a file");
        assert!(text.starts_with("rule,name,"), "{text}");
    }
}
