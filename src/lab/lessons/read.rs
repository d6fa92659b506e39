//! From a file to a lesson, with everything checked that a lesson could get wrong.

use std::collections::BTreeSet;

use super::Mistake;
use super::file::{
    AccountFile, ActFile, LabFile, LessonFile, MakeFile, ProbeFile, ProbeKind, ReadAfter,
    ShapeFile, SqlFile, StepFile, Text, TrafficFile,
};
use crate::model::lab::{Aim, FaultKind, LabPlan, LabServer, MOST_REPLICAS, Shape, Traffic};
use crate::model::lesson::{
    Act, Bilingual, Dialect, LabNeed, Lesson, Made, Question, Servers, Spot, Step, StepSql,
    USUAL_PATIENCE,
};
use crate::model::probe::{Awaited, ProbeFlavour, ProbePlan, ReadDelay, Reader};
use crate::model::time::Span;

/// A class loses the thread beyond this.
const MOST_STEPS: usize = 9;
const LEAST_STEPS: usize = 5;

pub fn lesson(file: &str, text: &str, servers: Servers) -> Result<Lesson, Vec<Mistake>> {
    let mut reader = FileReader::new(file, servers);
    let lesson = match toml::from_str::<LessonFile>(text) {
        Ok(form) => Some(reader.lesson(form)),
        // says line and column itself
        Err(error) => {
            reader.wrong(error.to_string());
            None
        }
    };
    match lesson {
        Some(lesson) if reader.mistakes.is_empty() => Ok(lesson),
        _ => Err(reader.mistakes),
    }
}

/// Goes through one file, keeping what is wrong.
pub(super) struct FileReader {
    file: String,
    servers: Servers,
    place: String,
    mistakes: Vec<Mistake>,
    /// The lab has so many replicas, and these switches.
    replicas: u32,
    pub(super) has_semi_sync: bool,
    /// Faults made so far.
    pub(super) made: BTreeSet<&'static str>,
}

impl FileReader {
    fn new(file: &str, servers: Servers) -> Self {
        FileReader {
            file: file.to_owned(),
            servers,
            place: String::new(),
            mistakes: Vec::new(),
            replicas: 0,
            has_semi_sync: false,
            made: BTreeSet::new(),
        }
    }

    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.mistakes.push(Mistake {
            file: self.file.clone(),
            place: self.place.clone(),
            what: what.into(),
        });
    }

    fn lesson(&mut self, form: LessonFile) -> Lesson {
        if form.id.is_empty() || !form.id.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
            self.wrong("the id is lower-case words with hyphens, such as `seconds-behind`");
        }
        if !(5..=20).contains(&form.minutes) {
            self.wrong("a lesson takes 5 to 20 minutes");
        }
        if !(LEAST_STEPS..=MOST_STEPS).contains(&form.step.len()) {
            self.wrong(format!("a lesson has {LEAST_STEPS} to {MOST_STEPS} steps"));
        }
        self.place = "title and goal".to_owned();
        let title = self.text(form.title);
        let goal = self.text(form.goal);
        self.place = "lab".to_owned();
        let lab = self.lab(form.lab);
        let mut steps = Vec::new();
        for (index, step) in form.step.into_iter().enumerate() {
            self.place = format!("step {}", index + 1);
            steps.push(self.step(step));
        }
        self.place = "question".to_owned();
        let question = Question {
            ask: self.text(form.question.ask),
            answer: self.text(form.question.answer),
        };
        self.place = "production".to_owned();
        if form.production.is_empty() {
            self.wrong("says nothing of what to check in production");
        }
        let production = form.production.into_iter().map(|t| self.text(t)).collect();
        Lesson {
            id: form.id,
            number: form.number,
            title,
            goal,
            minutes: form.minutes,
            lab,
            steps,
            question,
            production,
        }
    }

    fn text(&mut self, text: Text) -> Bilingual {
        let own = self.bilingual(&text.en, &text.zh);
        match text.mariadb {
            Some(other) if self.servers.dialect == Dialect::MariaDb => {
                self.bilingual(&other.en, &other.zh)
            }
            _ => own,
        }
    }

    /// There, and each in its own language.
    fn bilingual(&mut self, en: &str, zh: &str) -> Bilingual {
        let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        if en.trim().is_empty() || en.chars().any(is_chinese) {
            self.wrong(format!("no English text beside “{zh}”"));
        }
        if !zh.chars().any(is_chinese) {
            self.wrong(format!("no Chinese text beside “{en}”"));
        }
        Bilingual {
            en: self.servers.dialect.words(en.trim()),
            zh: self.servers.dialect.words(zh.trim()),
        }
    }

    fn lab(&mut self, form: LabFile) -> LabNeed {
        if form.replicas == 0 || form.replicas > MOST_REPLICAS {
            self.wrong(format!("a lab has 1 to {MOST_REPLICAS} replicas"));
        }
        self.replicas = form.replicas;
        self.has_semi_sync = form.semi_sync;
        let traffic = self.traffic(&form.traffic);
        LabNeed {
            plan: LabPlan {
                shape: match form.shape {
                    ShapeFile::Fan => Shape::Fan,
                    ShapeFile::Chain => Shape::Chain,
                    ShapeFile::MultiSource => Shape::MultiSource,
                    ShapeFile::Delayed { seconds } => Shape::Delayed {
                        delay: Span::from_secs(seconds.into()),
                    },
                },
                replicas: form.replicas,
                semi_sync: form.semi_sync,
                applier_workers: form.workers,
                traffic,
                ..LabPlan::default()
            },
        }
    }

    fn traffic(&mut self, form: &TrafficFile) -> Traffic {
        let is_rate = |rate: f64| (0.0..=10_000.0).contains(&rate);
        if !is_rate(form.writes_per_second) || !is_rate(form.reads_per_second) {
            self.wrong("traffic is 0 to 10000 a second");
        }
        if form.rows_per_transaction == 0 {
            self.wrong("a transaction changes at least one row");
        }
        Traffic {
            writes_per_second: form.writes_per_second,
            reads_per_second: form.reads_per_second,
            rows_per_transaction: form.rows_per_transaction,
            hot_rows: form.hot_rows,
        }
    }

    fn step(&mut self, mut form: StepFile) -> Step {
        if form.until.is_some() && form.hint.is_none() {
            self.wrong("waits for something, and has no hint for when it does not come");
        }
        let mut text = self.bilingual(&form.en, &form.zh);
        let Servers { dialect, are } = self.servers;
        let others = [
            (dialect == Dialect::MariaDb, form.mariadb.take()),
            (dialect == Dialect::OldMySql, form.mysql_57.take()),
            (are == Made::Real, form.real.take()),
        ];
        for (is_meant, other) in others {
            let Some(other) = other else { continue };
            if other.says_nothing() {
                self.wrong("says nothing else for other servers");
            }
            if is_meant {
                if let Some(other) = &other.text {
                    text = self.bilingual(&other.en, &other.zh);
                }
                form.take_over(other);
            }
        }
        Step {
            text,
            acts: form.acts.into_iter().filter_map(|a| self.act(a)).collect(),
            look: form.look.and_then(|look| self.spot(&look)),
            sql: form.sql.and_then(|sql| self.sql(sql)),
            until: form.until.and_then(|until| self.condition(until)),
            hold: Span::from_secs_f64(form.hold_s),
            patience: form.patience_s.map_or(USUAL_PATIENCE, Span::from_secs_f64),
            hint: form.hint.map(|hint| self.text(hint)),
        }
    }

    fn sql(&mut self, form: SqlFile) -> Option<StepSql> {
        Some(StepSql {
            on: self.server(&form.on)?,
            account: match form.account {
                AccountFile::App => "app",
                AccountFile::Admin => "admin",
                AccountFile::Monitor => "monitor",
            },
            text: self.servers.dialect.words(form.text.trim()),
        })
    }

    // --- acts --------------------------------------------------------------------------------------------------------

    fn act(&mut self, form: ActFile) -> Option<Act> {
        Some(match form {
            ActFile::Make(form) => self.make(form)?,
            ActFile::Undo(code) => {
                let kind = self.fault(&code)?;
                if !self.made.contains(kind.code()) {
                    self.wrong(format!("undoes `{code}`, which no step before made"));
                }
                Act::Undo(kind)
            }
            ActFile::UndoAll => Act::UndoAll,
            ActFile::Traffic(form) => Act::Carry(self.traffic(&form)),
            ActFile::Probe(form) => self.probe(form)?,
            ActFile::Compare(form) => {
                if !(5..=300).contains(&form.seconds) || !(1..=1000).contains(&form.per_second) {
                    self.wrong("a comparison takes 5 to 300 seconds, 1 to 1000 statements each");
                }
                Act::Compare {
                    length: Span::from_secs(form.seconds.into()),
                    rate: form.per_second,
                }
            }
            ActFile::Accept => Act::Accept,
            ActFile::WaitS(seconds) => {
                if !(0.1..=30.0).contains(&seconds) {
                    self.wrong("a pause between acts is 0.1 to 30 seconds");
                }
                Act::Wait(Span::from_secs_f64(seconds))
            }
            ActFile::Show(spot) => Act::Show(self.spot(&spot)?),
        })
    }

    fn make(&mut self, form: MakeFile) -> Option<Act> {
        let kind = self.fault(&form.fault)?;
        let on = self.server(&form.on)?;
        let code = kind.code();
        // who the source is, is not known any more once roles were swapped
        let swapped = self.made.contains(FaultKind::SwapRoles.code());
        match (kind.aim(), on) {
            (Aim::Source, on) if on != 0 && !swapped => {
                self.wrong(format!(
                    "`{code}` is made on the source, not on {}",
                    form.on
                ));
            }
            (Aim::Replica, 0) => self.wrong(format!("`{code}` is made on a replica")),
            _ => {}
        }
        if kind == FaultKind::SemiSyncLoss && !self.has_semi_sync {
            self.wrong(format!("makes `{code}` in a lab without semi-sync"));
        }
        let is_of_simulation = matches!(kind, FaultKind::ClockSkew | FaultKind::SlowDisk);
        if is_of_simulation && self.servers.are == Made::Real {
            self.wrong(format!(
                "makes `{code}`, which real servers cannot have: needs a `real` step"
            ));
        }
        let intensity = self.intensity(kind, form.intensity);
        if form.lasts_s.is_some_and(|s| !(1.0..=3600.0).contains(&s)) {
            self.wrong("a fault lasts 1 to 3600 seconds");
        }
        self.made.insert(code);
        Some(Act::Make {
            kind,
            on,
            intensity,
            lasts: form.lasts_s.map(Span::from_secs_f64),
        })
    }

    fn intensity(&mut self, kind: FaultKind, wanted: Option<f64>) -> f64 {
        let code = kind.code();
        match (kind.intensity(), wanted) {
            (None, None) => 0.0,
            (None, Some(_)) => {
                self.wrong(format!("`{code}` has no intensity: it is there or not"));
                0.0
            }
            (Some(range), wanted) => {
                let value = wanted.unwrap_or(range.usual);
                if !(range.least..=range.most).contains(&value) {
                    self.wrong(format!(
                        "`{code}` takes {} to {}, not {value}",
                        range.least, range.most
                    ));
                }
                value
            }
        }
    }

    fn probe(&mut self, form: ProbeFile) -> Option<Act> {
        let replica = match &form.on {
            None => None,
            Some(name) => match self.server(name)? {
                0 => {
                    self.wrong("a probe reads on a replica, not on the source");
                    return None;
                }
                replica => Some(replica),
            },
        };
        let plan = ProbePlan {
            flavour: match form.kind {
                ProbeKind::Insert => ProbeFlavour::Insert,
                ProbeKind::Update => ProbeFlavour::Update,
            },
            awaited: match form.whole_set {
                true => Awaited::WholeSet,
                false => Awaited::OwnGtid,
            },
            reader: match form.somebody_else {
                true => Reader::SomebodyElse,
                false => Reader::Writer,
            },
            wait_limit: Span::from_millis(form.wait_ms.into()),
            read_delay: match form.read_after {
                ReadAfter::AtOnce => ReadDelay::None,
                ReadAfter::Ms(ms) => ReadDelay::Fixed(Span::from_millis(ms.into())),
                ReadAfter::SweptMs(ms) => ReadDelay::Swept {
                    up_to: Some(Span::from_millis(ms.into())),
                },
            },
            runs: form.runs,
            rate: form.per_second,
            measures_floor: form.floor,
            ..ProbePlan::default()
        };
        if let Some(problem) = plan.problem() {
            self.wrong(format!("no such probe: {}", problem.key));
        }
        Some(Act::Probe { plan, replica })
    }

    // --- names -------------------------------------------------------------------------------------------------------

    pub(super) fn fault(&mut self, code: &str) -> Option<FaultKind> {
        let kind = FaultKind::from_code(code);
        if kind.is_none() {
            self.wrong(format!("there is no fault `{code}`"));
        }
        kind
    }

    /// `source`, or `replica-N` as far as the lab has one.
    pub(super) fn server(&mut self, name: &str) -> Option<LabServer> {
        if name == "source" {
            return Some(0);
        }
        let number: Option<u32> = name.strip_prefix("replica-").and_then(|n| n.parse().ok());
        match number {
            Some(number) if number >= 1 && number <= self.replicas => Some(number as LabServer),
            _ => {
                self.wrong(format!("this lab has no server `{name}`"));
                None
            }
        }
    }

    /// `lag_plot replica-1`, or `lag_plot` alone where there is but one.
    pub(super) fn spot(&mut self, text: &str) -> Option<Spot> {
        let (code, server) = match text.split_once(' ') {
            Some((code, name)) => (code, Some(self.server(name)?)),
            None => (text, None),
        };
        let all = Spot::all(server.unwrap_or(0));
        let Some(spot) = all.into_iter().find(|spot| spot.code() == code) else {
            self.wrong(format!("there is nothing to look at called `{code}`"));
            return None;
        };
        match (spot.server(), server) {
            (Some(_), None) => {
                self.wrong(format!("`{code}` needs a server: `{code} replica-1`"));
                None
            }
            (None, Some(_)) => {
                self.wrong(format!("`{code}` is about no server"));
                None
            }
            _ => Some(spot),
        }
    }
}
