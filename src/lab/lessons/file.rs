//! The form of a lesson's file. What serde can check is checked here: unknown keys, missing languages, unknown words.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LessonFile {
    pub id: String,
    pub number: u32,
    pub minutes: u32,
    pub title: Text,
    pub goal: Text,
    #[serde(default)]
    pub lab: LabFile,
    pub step: Vec<StepFile>,
    pub question: QuestionFile,
    pub production: Vec<Text>,
}

/// Both languages, always.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    pub en: String,
    pub zh: String,
    /// Said instead on MariaDB, where it does something else.
    pub mariadb: Option<OtherText>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherText {
    pub en: String,
    pub zh: String,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabFile {
    pub shape: ShapeFile,
    pub replicas: u32,
    pub semi_sync: bool,
    pub workers: u32,
    pub traffic: TrafficFile,
}

impl Default for LabFile {
    fn default() -> Self {
        LabFile {
            shape: ShapeFile::Fan,
            replicas: 2,
            semi_sync: true,
            workers: 4,
            traffic: TrafficFile::default(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ShapeFile {
    Fan,
    Chain,
    MultiSource,
    Delayed { seconds: u32 },
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrafficFile {
    pub writes_per_second: f64,
    pub reads_per_second: f64,
    pub rows_per_transaction: u32,
    pub hot_rows: u32,
}

impl Default for TrafficFile {
    fn default() -> Self {
        let usual = crate::model::lab::Traffic::default();
        TrafficFile {
            writes_per_second: usual.writes_per_second,
            reads_per_second: usual.reads_per_second,
            rows_per_transaction: usual.rows_per_transaction,
            hot_rows: usual.hot_rows,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    pub en: String,
    pub zh: String,
    #[serde(default, rename = "do")]
    pub acts: Vec<ActFile>,
    /// Such as `lag_plot replica-1`.
    pub look: Option<String>,
    pub sql: Option<SqlFile>,
    pub until: Option<ConditionFile>,
    #[serde(default)]
    pub hold_s: f64,
    pub patience_s: Option<f64>,
    pub hint: Option<Text>,
    pub mariadb: Option<OtherStepFile>,
    pub mysql_57: Option<OtherStepFile>,
    /// Real servers of any kind: they cannot have every fault.
    pub real: Option<OtherStepFile>,
}

/// What is another on such servers, in place of the step's own; the rest stays.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtherStepFile {
    pub text: Option<OtherText>,
    #[serde(rename = "do")]
    pub acts: Option<Vec<ActFile>>,
    pub sql: Option<SqlFile>,
    pub until: Option<ConditionFile>,
    /// Waits for nothing: what is to be seen is seen in the person's own client.
    pub by_hand: bool,
}

impl OtherStepFile {
    pub fn says_nothing(&self) -> bool {
        let Self {
            text,
            acts,
            sql,
            until,
            by_hand,
        } = self;
        text.is_none() && acts.is_none() && sql.is_none() && until.is_none() && !by_hand
    }
}

impl StepFile {
    /// All but the text.
    pub fn take_over(&mut self, other: OtherStepFile) {
        if let Some(acts) = other.acts {
            self.acts = acts;
        }
        self.sql = other.sql.or(self.sql.take());
        self.until = match other.by_hand {
            true => None,
            false => other.until.or(self.until.take()),
        };
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlFile {
    pub on: String,
    /// The account; `admin` unless said.
    #[serde(default, rename = "as")]
    pub account: AccountFile,
    pub text: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountFile {
    App,
    #[default]
    Admin,
    Monitor,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionFile {
    pub ask: Text,
    pub answer: Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActFile {
    Make(MakeFile),
    Undo(String),
    UndoAll,
    Traffic(TrafficFile),
    Probe(ProbeFile),
    Compare(CompareFile),
    Accept,
    Show(String),
    WaitS(f64),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakeFile {
    pub fault: String,
    pub on: String,
    pub intensity: Option<f64>,
    pub lasts_s: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProbeFile {
    pub on: Option<String>,
    pub kind: ProbeKind,
    pub runs: u32,
    pub per_second: f64,
    pub wait_ms: u32,
    /// All that the source had executed, not just the own commit.
    pub whole_set: bool,
    /// The reader is not the session that wrote.
    pub somebody_else: bool,
    pub read_after: ReadAfter,
    pub floor: bool,
}

impl Default for ProbeFile {
    fn default() -> Self {
        ProbeFile {
            on: None,
            kind: ProbeKind::Insert,
            runs: 1,
            per_second: 10.0,
            wait_ms: 1000,
            whole_set: false,
            somebody_else: false,
            read_after: ReadAfter::AtOnce,
            floor: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    Insert,
    Update,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReadAfter {
    AtOnce,
    Ms(u32),
    /// Spread over 0 to this.
    SweptMs(u32),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareFile {
    pub seconds: u32,
    pub per_second: u32,
}

/// Conditions as a lesson writes them: `{ lag = { on = "replica-1", at_least_ms = 1000 } }`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionFile {
    Finding(FindingFile),
    Lag(LagFile),
    LagUnknown(OnFile),
    Cause(CauseFile),
    Stage(StageFile),
    SecondsBehind(SecondsBehindFile),
    SemiSync(SemiSyncFile),
    Errant(OnFile),
    Role(RoleFile),
    EventDisabled(OnFile),
    Fault(FaultFile),
    LongReads(LongReadsFile),
    Traffic(TrafficAtLeastFile),
    ProbeOver,
    PlainStale(StaleFile),
    PlainFresh(CountFile),
    WaitedFresh(CountFile),
    TimedOutToSource(CountFile),
    ReadFromSource(CountFile),
    Accepted(AcceptedFile),
    Compared,
    Shown(String),
    All(Vec<ConditionFile>),
    Any(Vec<ConditionFile>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnFile {
    pub on: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingFile {
    pub code: String,
    pub on: Option<String>,
    #[serde(default)]
    pub gone: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LagFile {
    pub on: String,
    pub method: Option<String>,
    pub at_least_ms: Option<u32>,
    pub at_most_ms: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseFile {
    pub on: String,
    pub kind: CauseWord,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseWord {
    ReceiverStopped,
    ReceiverConnecting,
    ApplierStopped,
    ApplierBroken,
    BigTransaction,
    TooFewWorkers,
    BlockedByLock,
    SlowReaders,
    SlowNetwork,
    PlannedDelay,
    HeartbeatWriterDown,
    ClockOrZone,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    pub on: String,
    pub stage: StageWord,
    pub at_least_ms: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageWord {
    Transport,
    Queue,
    Apply,
}

/// Exactly one of the three.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondsBehindFile {
    pub on: String,
    #[serde(default)]
    pub null: bool,
    pub at_least: Option<i64>,
    pub at_most: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SemiSyncFile {
    pub on: String,
    pub is: SemiSyncWord,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SemiSyncWord {
    Active,
    Degraded,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleFile {
    pub on: String,
    pub is: RoleWord,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleWord {
    Source,
    Replica,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    pub kind: String,
    #[serde(default)]
    pub gone: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongReadsFile {
    pub on: String,
    pub at_least: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficAtLeastFile {
    pub on: String,
    pub per_second: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaleFile {
    #[serde(default)]
    pub kind: StaleWord,
    #[serde(default = "once")]
    pub times: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StaleWord {
    #[default]
    Any,
    Missing,
    Old,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountFile {
    #[serde(default = "once")]
    pub times: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedFile {
    pub verdict: Option<VerdictWord>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    Passed,
    Failed,
    Incomplete,
}

fn once() -> u64 {
    1
}
