//! The lab as a person meets it: one press starts it, then servers, accounts, traffic and faults stand there; what cannot
//! be made says why; faults are seen on the plots and in the journal. `REPLICASCOPE_PICTURES=some/folder` keeps the
//! pictures.

#[path = "../support/mod.rs"]
mod support;

mod begun;
mod elsewhere;
mod pictures;
mod running;
mod searched;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, OutputCommand, Theme, Ui, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use replicascope::lab::lessons;
use replicascope::model::lab::*;
use replicascope::model::lesson::{LessonOrder, LessonRun};
use replicascope::model::phrase::phrase;
use replicascope::model::profile::Environment;
use replicascope::model::secret::Secret;
use replicascope::model::server::Flavour;
use replicascope::model::time::Span;
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::store::Store;
use replicascope::ui::Frame;
use replicascope::ui::action::{Action, FilePurpose, Screen};
use replicascope::ui::events::{EventsData, EventsState, events_ui};
use replicascope::ui::first_run::{FirstRunState, first_run_ui};
use replicascope::ui::lab::board::{FoundProgram, LabBoard, Recipes, TrafficRates};
use replicascope::ui::lab::{LabData, LabState, lab_ui};
use replicascope::ui::lesson::board::LessonBoard;
use replicascope::ui::overview::{OverviewData, OverviewState, overview_ui};
use replicascope::ui::profiles::News;
use replicascope::ui::shell::{ShellData, ShellState, shell_ui};
use replicascope::words::{Catalogue, Language};
use support::fixtures::{self, Doing, NOW, Play, Scene};
use support::screen::{EN, SMALL, WIDE, ZH, is_disabled, keep, look, open, press, side_by_side};

/// All of the screen, for a look at it.
const TALL: Vec2 = vec2(1280.0, 1300.0);

/// The window as the program draws it, without the program.
struct Window {
    scene: Scene,
    language: Language,
    shell: ShellState,
    board: LabBoard,
    lab: LabState,
    lessons: LessonBoard,
    overview: OverviewState,
    events: EventsState,
    first_run: FirstRunState,
    actions: Vec<Action>,
}

impl Window {
    fn of(scene: Scene, board: LabBoard) -> Self {
        let shell = ShellState {
            screen: Screen::Lab,
            ..ShellState::default()
        };
        Window {
            scene,
            language: EN,
            shell,
            board,
            lab: LabState::default(),
            lessons: LessonBoard {
                lessons: lessons::all().to_vec(),
                ..LessonBoard::default()
            },
            overview: OverviewState::default(),
            events: EventsState::default(),
            first_run: FirstRunState::default(),
            actions: Vec::new(),
        }
    }

    fn data(&self, frame: &Frame<'_>) -> ShellData {
        ShellData::new(frame).with_lab(frame.words, &self.board, &self.lessons)
    }
}

fn window_ui(ui: &mut Ui, window: &mut Window) {
    let words = Catalogue::of(window.language);
    let frame = window.scene.frame(words);
    let data = window.data(&frame);
    let screen = window.shell.screen;
    let Window {
        board,
        lab,
        overview,
        events,
        first_run,
        ..
    } = window;
    let mut actions = Vec::new();
    shell_ui(
        ui,
        &data,
        &mut window.shell,
        &frame,
        &mut actions,
        |ui, actions| match screen {
            Screen::Lab => {
                let data = LabData::new(&frame, board);
                lab_ui(ui, &data, board, lab, &frame, actions);
            }
            Screen::Events => {
                let data = EventsData::new(&frame, events);
                events_ui(ui, &data, events, &frame);
            }
            _ if frame.profiles.is_empty() => first_run_ui(ui, first_run, &frame, actions),
            _ => {
                let data = OverviewData::new(&frame, overview);
                overview_ui(ui, &data, overview, &frame, actions);
            }
        },
    );
    for action in &actions {
        if let Action::Show(screen) = action {
            window.shell.screen = *screen;
        }
    }
    window.actions.extend(actions);
}

fn harness(window: Window, size: Vec2, theme: Theme) -> Harness<'static, Window> {
    open(window_ui, window, size, theme)
}

fn english(window: Window) -> Harness<'static, Window> {
    harness(window, TALL, Theme::Dark)
}

// --- labs ------------------------------------------------------------------------------------------------------------

fn status(phase: LabPhase) -> LabStatus {
    LabStatus {
        plan: LabPlan::default(),
        phase,
        nodes: Vec::new(),
        accounts: None,
        ca_pem: None,
        traffic: Traffic::default(),
        carried: TrafficCounts::default(),
        faults: Vec::new(),
        impossible: Vec::new(),
    }
}

fn node(server: LabServer, name: &str, copies_from: &[LabServer]) -> LabNode {
    LabNode {
        server,
        name: name.into(),
        port: 43_300 + server as u16,
        copies_from: copies_from.to_vec(),
        is_up: true,
    }
}

fn account(user: &'static str, password: &str) -> LabAccount {
    LabAccount {
        user,
        password: Secret::new(password.into()),
    }
}

fn running() -> LabStatus {
    LabStatus {
        nodes: vec![
            node(0, "source", &[]),
            node(1, "replica-1", &[0]),
            node(2, "replica-2", &[0]),
        ],
        accounts: Some(LabAccounts {
            admin: account("admin", "kX4mPq9sTz2v"),
            watcher: account("monitor", "h7RwNc3bLd8y"),
            app: account("app", "e5GjVu6fQa1x"),
        }),
        ..status(LabPhase::Running {
            since: NOW - Span::from_secs(185),
        })
    }
}

fn note(id: u64, kind: FaultKind, on: LabServer, ago: i64, lasts: Option<i64>) -> FaultNote {
    FaultNote {
        id: FaultId(id),
        fault: Fault {
            kind,
            on,
            intensity: kind.intensity().map_or(0.0, |i| i.usual),
            lasts: lasts.map(Span::from_secs),
        },
        since: NOW - Span::from_secs(ago),
        state: FaultState::Active,
    }
}

/// Three at work, one over, one that could not be made.
fn with_faults() -> LabStatus {
    let mut over = note(2, FaultKind::StopApplier, 2, 150, None);
    over.state = FaultState::Over {
        at: NOW - Span::from_secs(120),
    };
    let mut failed = note(5, FaultKind::SwapRoles, 1, 20, None);
    failed.state = FaultState::Failed {
        at: NOW - Span::from_secs(19),
        why: trouble(),
    };
    LabStatus {
        faults: vec![
            note(1, FaultKind::LinkLatency, 1, 42, Some(60)),
            over,
            note(3, FaultKind::SemiSyncLoss, 2, 75, None),
            note(4, FaultKind::LinkLatency, 2, 8, Some(60)),
            failed,
        ],
        ..running()
    }
}

/// One of the three could not be undone, and is undone again in so many milliseconds.
fn with_a_stuck_fault(again_in_ms: Option<i64>) -> LabStatus {
    let mut status = with_faults();
    status.faults[2].state = FaultState::Stuck {
        at: NOW - Span::from_secs(1),
        why: trouble(),
        again_at: again_in_ms.map(|ms| NOW + Span::from_millis(ms)),
    };
    status
}

fn trouble() -> Trouble {
    Trouble {
        kind: TroubleKind::Unreachable,
        what: phrase("window.no_thread").with("reason", "no memory"),
        hint: Some(phrase("lab_screen.not_found.hint")),
        code: None,
        detail: "os error 12".into(),
    }
}

fn real() -> LabStatus {
    let mut status = running();
    status.plan.ground = Ground::Real(Flavour::MySql);
    status.impossible = vec![(
        FaultKind::ClockSkew,
        phrase("lab_screen.tls.simulated_only"),
    )];
    status
}

fn board(status: LabStatus) -> LabBoard {
    LabBoard {
        status: Some(status),
        topology: Some(lab_topology(1)),
        ..LabBoard::default()
    }
}

/// The lab's topology as it is watched.
fn watched(status: &LabStatus) -> Scene {
    let mut play = Play::new(&lab_topology(1).0, Environment::Lab);
    play.source("source");
    play.replica("replica-1", "source", |t| match t {
        258.. => Doing::Late(1_600 + 20 * (t % 4)),
        _ => Doing::Late(4 + t % 3),
    });
    play.replica("replica-2", "source", |t| Doing::Late(5 + t % 5));
    let (mut store, mut profile) = play.run(300);
    profile.name = "MySQL 9.7".into();
    let episodes = replicascope::app::lab::episodes_of(status);
    store.tell_episodes(&profile.id, &episodes);
    Scene {
        store,
        topology: Some(profile.id.clone()),
        profiles: vec![profile],
        ..fixtures::nothing_yet()
    }
}

fn lab(status: LabStatus) -> Window {
    Window::of(watched(&status), board(status))
}

fn nothing() -> Window {
    Window::of(fixtures::nothing_yet(), LabBoard::default())
}
