//! What a person asks for on a screen; `app` carries it out.

use std::path::PathBuf;

use crate::model::lab::{LabOrder, LabPlan, Recipe};
use crate::model::lesson::LessonOrder;
use crate::model::preferences::{LanguageChoice, Preferences, ThemeChoice};
use crate::model::probe::ProbePlan;
use crate::model::profile::{
    Address, Field, HeartbeatTable, SecretKey, ServerId, TopologyId, TopologyProfile,
};
use crate::model::sample::FoundReplica;
use crate::model::secret::Secret;
use crate::model::time::Span;

/// The screens, in the order of their digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Screen {
    #[default]
    Overview,
    Server,
    Lag,
    Transactions,
    SemiSync,
    Probe,
    Routing,
    Lab,
    Events,
    Profiles,
    Settings,
}

impl Screen {
    pub const ALL: [Screen; 11] = [
        Screen::Overview,
        Screen::Server,
        Screen::Lag,
        Screen::Transactions,
        Screen::SemiSync,
        Screen::Probe,
        Screen::Routing,
        Screen::Lab,
        Screen::Events,
        Screen::Profiles,
        Screen::Settings,
    ];
}

/// Something to be done outside the screens.
#[derive(Debug)]
pub enum Action {
    /// Watch this topology, and show it.
    Open(TopologyId),
    /// Stop watching it.
    Close(TopologyId),
    Show(Screen),
    Select {
        topology: TopologyId,
        server: ServerId,
    },
    /// Poll every server of this topology at once.
    PollNow(TopologyId),
    /// Hold the picture still; polls go on.
    Pause(bool),
    PollEvery {
        topology: TopologyId,
        interval: Span,
    },
    Copy(String),

    /// Begin a new topology in the form.
    AddTopology,
    SaveProfile(TopologyProfile),
    /// After a conflict: keep the other's file aside and write ours.
    SaveOverChanges(TopologyProfile),
    /// Read again what somebody else wrote.
    ReloadProfiles,
    RemoveProfile(TopologyId),
    /// Try to connect and report what this account may see.
    TestProfile(TopologyProfile),
    /// Keep a password for this session, and in the keychain if wanted.
    KeepPassword {
        key: SecretKey,
        secret: Secret,
        in_keychain: bool,
    },
    ForgetPassword(SecretKey),
    /// The person was asked and does not want to say it now.
    DeclinePassword(SecretKey),
    /// The SQL for an account that sees everything and changes nothing, for each flavour.
    DescribeAccount {
        user: String,
        heartbeat: Option<HeartbeatTable>,
    },
    ImportProfiles(PathBuf),
    ExportProfiles {
        topologies: Vec<TopologyId>,
        to: PathBuf,
    },
    /// Ask with the system's dialog; the answer comes as `Chosen`.
    ChooseFile(FilePurpose),
    /// A server that its source or replica knows of, offered by us, accepted by the person.
    AddFound {
        topology: TopologyId,
        server: FoundReplica,
    },

    /// Hold the routing rules against a workload: writes into our own table on the source.
    Compare {
        topology: TopologyId,
        length: Span,
        /// Statements a second.
        rate: u32,
        /// Reads a second the source could take over; `None` leaves the rule out that keeps to it.
        spare_per_second: Option<u32>,
        /// What the person typed where the topology's name is asked for.
        typed_name: String,
    },
    StopComparing,
    /// The table of query kinds on show broke no assertion and is taken: keep it with the topology.
    KeepKinds(TopologyId),
    /// Keep the result of the latest comparison to hold later ones against.
    SaveComparison {
        topology: TopologyId,
        name: String,
    },
    ExportComparison {
        topology: TopologyId,
        format: ExportFormat,
        to: PathBuf,
        /// The dialog has asked.
        may_replace: bool,
    },

    /// What a probe by this plan would send there, to be read before the first run.
    DescribeProbe {
        topology: TopologyId,
        plan: ProbePlan,
    },
    /// Probes may write here, for this session or, if `remember`, from now on. Refused on production unless the
    /// topology's name was typed.
    EnableWrites {
        topology: TopologyId,
        typed: String,
        remember: bool,
    },
    StartProbe {
        topology: TopologyId,
        plan: ProbePlan,
        /// None: all replicas.
        replica: Option<ServerId>,
    },
    /// No further run; our rows are removed.
    StopProbe,
    /// Keep the result of the latest probe to compare later ones with.
    SaveProbe {
        topology: TopologyId,
        name: String,
    },
    ExportProbe {
        topology: TopologyId,
        format: ExportFormat,
        to: PathBuf,
        /// The dialog has asked.
        may_replace: bool,
    },

    /// What an acceptance run would send there, to be read before.
    DescribeAcceptance {
        topology: TopologyId,
        wait_limit: Span,
    },
    StartAcceptance {
        topology: TopologyId,
        /// A replica may be held back for a moment.
        may_hold: bool,
        /// How long a read may wait for a write.
        wait_limit: Span,
        /// Where the pools' sessions that write connect to in place of the source.
        proxy: Option<Address>,
        /// What was typed where the topology's name is asked for.
        typed: String,
    },
    /// No further step; whatever is held back is let go, our rows are removed.
    StopAcceptance,
    /// Write the report of the latest run to a file that is not there yet.
    SaveAcceptance {
        topology: TopologyId,
        to: PathBuf,
    },

    Lesson(LessonOrder),
    /// All of them, or the one being taught.
    ShowLessons,
    /// Make a topology of our own and watch it; `program` is a server the person showed us.
    StartLab {
        plan: LabPlan,
        program: Option<PathBuf>,
    },
    Lab(LabOrder),
    /// Choose what a lab is made of before it is started.
    ChooseLab,
    /// The lab as the Lab screen has it chosen.
    StartChosenLab,
    /// Asks first: everything written there is thrown away.
    AskToStopLab,
    /// The servers of this plan as texts by which they can be made elsewhere.
    WriteLabDown(LabPlan),
    SaveRecipe {
        recipe: Recipe,
        to: PathBuf,
        /// The dialog has asked.
        may_replace: bool,
    },
    /// Which servers are installed here, the given one besides.
    LookForServers(Option<PathBuf>),
    /// The requests of the latest run, as a file.
    ExportRecords {
        topology: TopologyId,
        format: ExportFormat,
        to: PathBuf,
        /// The dialog has asked.
        may_replace: bool,
    },

    Language(LanguageChoice),
    Theme(ThemeChoice),
    Zoom(f32),
    SavePreferences(Preferences),
    Quit,
}

/// What a chosen file is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePurpose {
    Import,
    Export(Vec<TopologyId>),
    ProbeResult(ExportFormat),
    /// A server program for the lab.
    LabServer,
    /// The lab's servers, to be made elsewhere.
    Recipe(Recipe),
    Comparison(ExportFormat),
    Records(ExportFormat),
    /// A path in the profile form.
    Field(Field),
}

/// How a result is written to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportFormat {
    /// One line for each run and replica, or for each rule.
    #[default]
    Csv,
    /// The same as objects, a summary last: what the command prints.
    Json,
}
