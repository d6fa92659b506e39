//! A probe's result as a file: what `replicascope probe --json` prints, or the same lines as CSV.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::app::files::{self, csv_field};
use crate::app::headless::probe_json::{self, Line};
use crate::model::phrase::{Phrase, phrase};
use crate::ui::action::ExportFormat;
use crate::ui::probe::board::{EndedBy, Phase, ProbeView};
use crate::words::Catalogue;

/// The answer is a sentence for the person, either way.
pub fn write(
    view: &ProbeView,
    format: ExportFormat,
    to: &Path,
    may_replace: bool,
    words: &Catalogue,
) -> Result<Phrase, Phrase> {
    let file = files::create(to, may_replace)?;
    let mut out = BufWriter::new(file);
    match format {
        ExportFormat::Csv => csv(&mut out, view, words),
        ExportFormat::Json => json(&mut out, view, words),
    }
    .and_then(|()| out.flush())
    .map_err(|error| files::not_written(&error))?;
    let done = phrase("probe_screen.export.done").with("n", view.runs.len() as u64);
    Ok(done.with("path", to.display().to_string()))
}

fn names(view: &ProbeView) -> Vec<String> {
    view.replicas.iter().map(|r| r.name.clone()).collect()
}

fn json(out: &mut impl Write, view: &ProbeView, words: &Catalogue) -> io::Result<()> {
    let names = names(view);
    for run in &view.runs {
        for line in probe_json::lines(run, view.plan.flavour, &names, words) {
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
    }
    let (ended, cleaned_up) = match &view.phase {
        Phase::Ended(end) => {
            let why = match &end.why {
                EndedBy::AllRun => None,
                EndedBy::Person => Some(words.text("probe.end.stopped").to_owned()),
                EndedBy::Trouble(trouble) => Some(words.say(&trouble.what)),
                EndedBy::NotBegun(why) => Some(words.say(why)),
            };
            (why, Some(end.rows_left.is_none()))
        }
        _ => (None, None),
    };
    let last = probe_json::last(&view.summary, &names, ended, cleaned_up);
    serde_json::to_writer(&mut *out, &last)?;
    out.write_all(b"\n")
}

const COLUMNS: &str = "run,server,flavour,gtid,gtid_from,written,plain_value,plain_verdict,plain_after_commit_ms,\
wait_outcome,wait_code,wait_ms,waited_value,waited_verdict,waited_read_from,waited_reason,source_value,\
source_verdict,error";

fn csv(out: &mut impl Write, view: &ProbeView, words: &Catalogue) -> io::Result<()> {
    let names = names(view);
    writeln!(out, "{COLUMNS}")?;
    for run in &view.runs {
        for line in probe_json::lines(run, view.plan.flavour, &names, words) {
            writeln!(out, "{}", csv_line(&line))?;
        }
    }
    Ok(())
}

fn csv_line(line: &Line<'_>) -> String {
    let text = |value: Option<&str>| csv_field(value.unwrap_or_default());
    let millis = |value: Option<f64>| value.map_or_else(String::new, |ms| format!("{ms:.3}"));
    let code = line.waited.code.map_or_else(String::new, |c| c.to_string());
    [
        line.run.to_string(),
        csv_field(line.server),
        line.flavour.to_owned(),
        text(line.gtid.as_deref()),
        text(line.gtid_from),
        text(line.written),
        text(line.plain.value),
        line.plain.verdict.to_owned(),
        millis(line.plain.after_commit_ms),
        line.waited.outcome.to_owned(),
        code,
        millis(line.waited.wait_ms),
        text(line.waited.value),
        line.waited.verdict.to_owned(),
        line.waited.read_from.to_owned(),
        text(line.waited.reason.as_deref()),
        text(line.source.value),
        line.source.verdict.to_owned(),
        text(line.error.as_deref()),
    ]
    .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_as_many_fields_as_the_heading() {
        let run = crate::model::probe::ProbeRun {
            number: 3,
            value: "order 1-3".into(),
            write: Err(crate::model::trouble::Trouble {
                kind: crate::model::trouble::TroubleKind::QueryFailed,
                what: phrase("probe.write.read_only"),
                hint: None,
                code: Some(1290),
                detail: String::new(),
            }),
            source: None,
            replicas: Vec::new(),
        };
        let names = ["db-r1".to_owned()];
        let words = Catalogue::of(crate::words::Language::English);
        let flavour = crate::model::probe::ProbeFlavour::Insert;
        let lines = probe_json::lines(&run, flavour, &names, words);
        assert_eq!(lines.len(), 1);
        let fields = csv_line(&lines[0]).split(',').count();
        assert_eq!(fields, COLUMNS.split(',').count());
    }
}
