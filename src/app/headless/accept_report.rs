//! What an acceptance run came to: the JSON contract of `accept --json`, and the report for a change ticket.

use std::fmt::Write as _;

use serde::Serialize;

use super::accept_records;
use crate::model::acceptance::{AcceptReport, Step, StepName};
use crate::model::time::{Moment, Span};
use crate::routing::record::Recorded;
use crate::words::{Catalogue, Language};

#[derive(Debug, Serialize)]
pub struct Json {
    pub steps: Vec<JsonStep>,
    pub verdict: &'static str,
}

#[derive(Debug, Serialize)]
pub struct JsonStep {
    pub n: u64,
    pub name: String,
    pub state: &'static str,
    pub evidence: String,
}

/// Always in English, as everything for programs.
pub fn json(report: &AcceptReport) -> Json {
    let words = Catalogue::of(Language::English);
    let step = |step: &Step| JsonStep {
        n: step.name.number(),
        name: words.say(&step.name.phrase()),
        state: step.state.code(),
        evidence: sentences(step, words).join("; "),
    };
    Json {
        steps: report.steps.iter().map(step).collect(),
        verdict: report.verdict().code(),
    }
}

pub fn sentences(step: &Step, words: &Catalogue) -> Vec<String> {
    step.evidence.iter().map(|said| words.say(said)).collect()
}

/// Where and when a run was.
pub struct Circumstances {
    pub topology: String,
    pub environment: &'static str,
    pub source: String,
    pub replicas: Vec<String>,
    pub began_at: Moment,
    pub took: Span,
}

pub fn markdown(
    report: &AcceptReport,
    records: &[(StepName, Recorded)],
    at: &Circumstances,
    words: &Catalogue,
) -> String {
    let mut text = format!("# {}\n\n", words.text("accept.report.title"));
    let mut fact = |key, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- {}: {}", words.text(key), escaped(value));
    };
    fact(
        "accept.report.verdict",
        &words.say(&report.verdict().phrase()),
    );
    if !at.topology.is_empty() {
        fact("accept.report.topology", &at.topology);
    }
    fact("accept.report.environment", at.environment);
    fact("accept.report.source", &at.source);
    fact("accept.report.replicas", &at.replicas.join(", "));
    fact("accept.report.began", &utc(at.began_at));
    fact("accept.report.took", &words.span(at.took));
    fact("accept.report.program", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(
        text,
        "\n| | {} | {} |\n|---|---|---|",
        words.text("accept.report.step"),
        words.text("accept.report.state")
    );
    for step in &report.steps {
        let (name, state) = (step.name.phrase(), step.state.phrase());
        let (name, state) = (escaped(&words.say(&name)), words.say(&state));
        let _ = writeln!(text, "| {} | {name} | **{state}** |", step.name.number());
    }
    for step in &report.steps {
        let name = escaped(&words.say(&step.name.phrase()));
        let _ = writeln!(text, "\n## {}. {name}\n", step.name.number());
        for sentence in sentences(step, words) {
            let _ = writeln!(text, "- {}", escaped(&sentence));
        }
    }
    requests(&mut text, records, words);
    if let Some(sentence) = clean_up(report, words) {
        let _ = writeln!(text, "\n{}", escaped(&sentence));
    }
    text
}

/// Who was to blame, and how often; the records themselves are a file of their own.
fn requests(text: &mut String, records: &[(StepName, Recorded)], words: &Catalogue) {
    if records.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n## {}\n\n| | {} | {} |\n|---|--:|--:|",
        words.text("acceptance.records.title"),
        words.text("acceptance.records.routed"),
        words.text("acceptance.records.careless"),
    );
    for (blame, careful, careless) in accept_records::blames(records) {
        let blame = escaped(&words.say(&blame.phrase()));
        let (careful, careless) = (words.count(careful), words.count(careless));
        let _ = writeln!(text, "| {blame} | {careful} | {careless} |");
    }
}

/// What became of our rows.
pub fn clean_up(report: &AcceptReport, words: &Catalogue) -> Option<String> {
    Some(match report.clean_up.as_ref()? {
        Ok(()) => words.text("accept.report.cleaned").to_owned(),
        Err(why) => {
            let left = crate::model::phrase::phrase("probe.end.rows_left");
            words.say(&left.with("why", why.what.clone()))
        }
    })
}

/// Names and values are shown as they are, whatever they mean in Markdown.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => safe.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

/// For a paper that is read elsewhere: universal time, to the second.
fn utc(moment: Moment) -> String {
    jiff::Timestamp::from_microsecond(moment.unix_micros())
        .map(|stamp| stamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::acceptance::StepState;
    use crate::model::phrase::phrase;

    fn report() -> AcceptReport {
        let steps = StepName::ALL.map(|name| Step {
            name,
            state: StepState::Passed,
            evidence: vec![
                phrase("accept.stopped"),
                phrase("accept.saw.words").with("text", "a|b *c*"),
            ],
        });
        AcceptReport {
            steps: steps.into(),
            clean_up: Some(Ok(())),
        }
    }

    #[test]
    fn the_json_is_steps_and_verdict() {
        let json = serde_json::to_value(json(&report())).expect("JSON");
        assert_eq!(json["verdict"], "passed");
        let step = json["steps"][3].as_object().expect("a step");
        let keys: Vec<&str> = step.keys().map(String::as_str).collect();
        assert_eq!(keys, ["evidence", "n", "name", "state"]);
        assert_eq!((&step["n"], &step["state"]), (&4.into(), &"passed".into()));
    }

    #[test]
    fn the_report_shows_words_of_servers_as_they_are() {
        let at = Circumstances {
            topology: "Shop_EU".into(),
            environment: "lab",
            source: "db1".into(),
            replicas: vec!["db2".into()],
            began_at: Moment::from_unix_micros(1_000_000_000_000_000),
            took: Span::from_secs(3),
        };
        for language in Language::ALL {
            let text = markdown(&report(), &[], &at, Catalogue::of(language));
            assert!(text.contains("a\\|b \\*c\\*"), "{text}");
            assert!(text.contains("Shop\\_EU"), "{text}");
            assert!(text.contains("2001-09-09 01:46:40 UTC"), "{text}");
            assert_eq!(text.matches("\n## ").count(), 5, "{text}");
        }
    }
}
