//! What the acceptance card shows in one frame.

use crate::model::acceptance::{AcceptVerdict, Beside, DriftTable, Step, StepName, StepState};
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ListedStatement, On};
use crate::model::profile::{Environment, TopologyId, TopologyProfile};
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::probe::SqlLine;
use crate::ui::probe::board::ProbeBoard;
use crate::ui::probe::wording::SignedLine;
use crate::ui::widgets::Sign;
use crate::words::Catalogue;

use super::board::{AcceptBoard, AcceptPhase, AcceptSql, AcceptView};
use super::records::{RecordLine, record_lines};

pub enum AcceptanceData {
    Empty {
        title: &'static str,
        text: &'static str,
        action: &'static str,
    },
    Here(Box<Scene>),
}

/// One topology's acceptance.
pub struct Scene {
    pub topology: TopologyId,
    pub name: String,
    pub environment: Environment,
    pub may_write: bool,
    /// How long a replica can be held back at most.
    pub longest_hold: String,
    pub sql: Option<SqlData>,
    pub busy: Option<Busy>,
    pub refused: Option<String>,
    pub result: Option<ResultData>,
    pub saved: Option<SignedLine>,
    /// How the last export of the requests ended.
    pub exported: Option<SignedLine>,
}

/// Statements under their headings.
pub struct SqlData {
    pub parts: Vec<(String, Vec<SqlLine>)>,
    pub grants: String,
    /// How long it says a read may wait.
    pub wait_limit: Span,
    /// All of it, to be copied.
    pub text: String,
}

/// This, or a probe, is under way.
pub struct Busy {
    pub is_here: bool,
    pub is_stopping: bool,
    pub text: String,
}

pub struct ResultData {
    pub verdict: Option<SignedLine>,
    pub steps: Vec<StepLine>,
    pub drift: Vec<DriftLine>,
    /// One for each request, as it came.
    pub records: Vec<RecordLine>,
    pub markdown: String,
}

pub struct StepLine {
    pub sign: Sign,
    pub name: String,
    pub word: String,
    pub evidence: Vec<String>,
}

/// One row of the table: with hygiene, and without.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftLine {
    pub name: String,
    pub strict: String,
    pub sloppy: String,
    /// Critical where something came through in spite of hygiene.
    pub sign: Sign,
    /// What the pools without hygiene show.
    pub is_shown: bool,
}

impl AcceptanceData {
    pub fn new(frame: &Frame<'_>, board: &AcceptBoard, probe: &ProbeBoard) -> Self {
        let profile = frame
            .topology
            .and_then(|id| frame.profiles.iter().find(|p| p.id == *id));
        let Some(profile) = profile else {
            return AcceptanceData::Empty {
                title: "probe_screen.no_topology.title",
                text: "probe_screen.no_topology.text",
                action: "probe_screen.no_topology.action",
            };
        };
        if frame.store.servers_of(&profile.id).next().is_none() {
            return AcceptanceData::Empty {
                title: "probe_screen.not_watched.title",
                text: "probe_screen.not_watched.text",
                action: "probe_screen.not_watched.action",
            };
        }
        AcceptanceData::Here(Box::new(Scene::new(frame, profile, board, probe)))
    }
}

impl Scene {
    fn new(
        frame: &Frame<'_>,
        profile: &TopologyProfile,
        board: &AcceptBoard,
        probe: &ProbeBoard,
    ) -> Self {
        let words = frame.words;
        let id = &profile.id;
        let sql = board.sql.get(id);
        Scene {
            topology: id.clone(),
            name: profile.name.trim().to_owned(),
            environment: profile.environment,
            may_write: probe.may_write(profile),
            longest_hold: sql.map_or("—".to_owned(), |sql| words.span(sql.longest_hold)),
            sql: sql.map(|sql| SqlData::new(words, sql)),
            busy: busy(frame, board, probe, id),
            refused: board.refused.get(id).map(|why| words.say(why)),
            result: board.runs.get(id).map(|view| ResultData::new(words, view)),
            saved: board.saved.as_ref().map(|how| ending(words, how)),
            exported: board.exported.as_ref().map(|how| ending(words, how)),
        }
    }
}

fn ending(words: &Catalogue, how: &Result<Phrase, Phrase>) -> SignedLine {
    match how {
        Ok(text) => line(Sign::Ok, words, text),
        Err(why) => line(Sign::Critical, words, why),
    }
}

fn line(sign: Sign, words: &Catalogue, text: &Phrase) -> SignedLine {
    let text = words.say(text);
    SignedLine { sign, text }
}

impl SqlData {
    fn new(words: &Catalogue, sql: &AcceptSql) -> Self {
        let mut parts: Vec<(String, Vec<SqlLine>)> = Vec::new();
        for (flavour, statements) in &sql.flavours {
            parts.push(((*flavour).to_owned(), lines(words, statements)));
        }
        let of = |key| words.text(key).to_owned();
        parts.push((of("accept.sql.pools"), lines(words, &sql.pools)));
        parts.push((of("accept.sql.hold"), lines(words, &sql.hold)));
        let mut text = String::new();
        for (heading, lines) in &parts {
            text += &format!("-- {heading}\n");
            for line in lines {
                text += &format!("/* {} */ {}\n", line.on, line.sql);
            }
        }
        let grants = format!("{}\n{}", sql.grant, sql.hold_grant);
        text += &format!("-- {}\n{grants}\n", words.text("probe.cli.grants"));
        SqlData {
            parts,
            grants,
            wait_limit: sql.wait_limit,
            text,
        }
    }
}

fn lines(words: &Catalogue, statements: &[ListedStatement]) -> Vec<SqlLine> {
    let line = |statement: &ListedStatement| SqlLine {
        on: words
            .text(match statement.on {
                On::Source => "probe.on.source",
                On::Replica => "probe.on.replica",
            })
            .to_owned(),
        sql: statement.sql.clone(),
        changes_something: statement.changes_something,
    };
    statements.iter().map(line).collect()
}

fn busy(
    frame: &Frame<'_>,
    board: &AcceptBoard,
    probe: &ProbeBoard,
    here: &TopologyId,
) -> Option<Busy> {
    let words = frame.words;
    let Some(running) = board.running() else {
        return probe.running().map(|_| Busy {
            is_here: false,
            is_stopping: false,
            text: words.text("acceptance.busy.probe").to_owned(),
        });
    };
    let view = board.runs.get(running)?;
    if running != here {
        let other = frame.profiles.iter().find(|p| p.id == *running);
        let name = other.map_or(running.0.as_str(), |p| p.name.as_str());
        return Some(Busy {
            is_here: false,
            is_stopping: view.phase == AcceptPhase::Stopping,
            text: words.say(&phrase("acceptance.busy.elsewhere").with("name", name)),
        });
    }
    let text = match view.phase {
        AcceptPhase::Preparing => words.text("probe_screen.busy.preparing").to_owned(),
        AcceptPhase::Stopping => words.text("acceptance.busy.stopping").to_owned(),
        AcceptPhase::Running | AcceptPhase::Ended => match (&view.does, view.begun) {
            (Some(what), _) => words.say(what),
            (None, Some(step)) => {
                words.say(&phrase("acceptance.busy.step").with("n", step.number()))
            }
            (None, None) => words.text("acceptance.busy.begins").to_owned(),
        },
    };
    Some(Busy {
        is_here: true,
        is_stopping: view.phase == AcceptPhase::Stopping,
        text,
    })
}

impl ResultData {
    fn new(words: &Catalogue, view: &AcceptView) -> Self {
        let verdict = view.report.as_ref().map(|report| report.verdict());
        let verdict = match (&view.not_run, verdict) {
            (Some(why), _) => {
                let text = phrase("acceptance.not_begun").with("why", why.clone());
                Some(line(Sign::Critical, words, &text))
            }
            (None, Some(verdict)) => Some(line(verdict_sign(verdict), words, &verdict.phrase())),
            (None, None) => None,
        };
        let has_drift = view.drift.as_ref();
        ResultData {
            verdict,
            steps: StepName::ALL
                .into_iter()
                .map(|name| step_line(words, view, name))
                .collect(),
            drift: has_drift.map_or_else(Vec::new, |table| drift_lines(words, table)),
            records: record_lines(words, &view.records),
            markdown: view.markdown.clone(),
        }
    }
}

fn verdict_sign(verdict: AcceptVerdict) -> Sign {
    match verdict {
        AcceptVerdict::Passed => Sign::Ok,
        AcceptVerdict::Failed => Sign::Critical,
        AcceptVerdict::Incomplete => Sign::Warning,
    }
}

fn step_sign(state: StepState) -> Sign {
    match state {
        StepState::Passed => Sign::Ok,
        StepState::Failed => Sign::Critical,
        StepState::NotRun => Sign::Unknown,
    }
}

fn step_line(words: &Catalogue, view: &AcceptView, name: StepName) -> StepLine {
    let title = format!("{}. {}", name.number(), words.say(&name.phrase()));
    let done: Option<&Step> = view.steps.iter().find(|step| step.name == name);
    let waits = match (view.phase, view.begun == Some(name)) {
        (AcceptPhase::Ended, _) => "accept.state.not_run",
        (_, true) => "acceptance.state.running",
        (_, false) => "acceptance.state.waiting",
    };
    match done {
        Some(step) => StepLine {
            sign: step_sign(step.state),
            name: title,
            word: words.say(&step.state.phrase()),
            evidence: step.evidence.iter().map(|said| words.say(said)).collect(),
        },
        None => StepLine {
            sign: Sign::NotApplicable,
            name: title,
            word: words.text(waits).to_owned(),
            evidence: Vec::new(),
        },
    }
}

fn drift_lines(words: &Catalogue, table: &DriftTable) -> Vec<DriftLine> {
    let row = |name: String, beside: Beside, counts_against: bool| DriftLine {
        name,
        strict: words.count(beside.strict),
        sloppy: words.count(beside.sloppy),
        sign: match (counts_against, beside.strict) {
            (false, _) => Sign::NotApplicable,
            (true, 0) => Sign::Ok,
            (true, _) => Sign::Critical,
        },
        is_shown: counts_against && beside.sloppy > 0,
    };
    let text = |key| words.text(key).to_owned();
    let mut rows = vec![row(text("acceptance.drift.lent"), table.lent, false)];
    for (field, beside) in &table.carried {
        rows.push(row(words.say(field), *beside, true));
    }
    let wrong = text("acceptance.drift.wrong_server");
    rows.push(row(wrong, table.wrong_server, true));
    rows.push(row(
        text("acceptance.drift.none_left"),
        table.none_left,
        true,
    ));
    rows
}
