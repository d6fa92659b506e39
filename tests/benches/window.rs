//! What the window costs, with three real servers polled once a second: time to the first frame and the first reading,
//! CPU time and memory of the whole process, and the part of it that is our own work.
//!
//! The window opens on a screen without a monitor (Xvfb) with OpenGL in software; beside it an eframe window with nothing
//! in it, whose memory is what any such program takes. The first frame is seen on that screen itself; the first reading is
//! told by the program's log. Our own work is measured in this process, without any graphics: the same threads, store and
//! drawing code, down to triangles.
//!
//! `cargo bench --bench window`, two minutes. Linux, with the package xvfb.

#[path = "window/desk.rs"]
mod desk;
mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui;

use desk::Desk;
use measure::{Aims, Limit, WATCHER, cpu_time, resident_mib};
use support::servers::Topology;
use support::xvfb::{Running, SIZE, Screen};

const WINDOW: Duration = Duration::from_secs(30);
/// Until the start is over and fonts, shaders and connections are there.
const SETTLE: Duration = Duration::from_secs(5);
const START_LIMIT: Duration = Duration::from_secs(20);
const FRAME_EVERY: Duration = Duration::from_secs(1);
const WRITE_EVERY: Duration = Duration::from_millis(50);

/// The argument that makes this program the empty window.
const EMPTY_WINDOW: &str = "empty-window";
/// What the program logs, at debug level and for the target "startup", when the first lag is on the screen.
const FIRST_READING: &str = "first reading";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == EMPTY_WINDOW) {
        return empty_window();
    }
    if measure::words().is_none() {
        return ExitCode::SUCCESS;
    }
    let topology = Topology::mysql().replicas(2).start();
    topology.source().sql(
        "CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(50))",
    );
    topology.replicating();
    println!(
        "window: 3 servers ({}), {}",
        measure::title(topology.source()),
        measure::build()
    );

    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = desk::save_profile(topology.nodes(), folder.path());
    let writer = topology.source().session();
    let (stop, stopped) = mpsc::channel::<()>();
    let writing = thread::spawn(move || write_lightly(writer, &stopped));

    let mut aims = Aims::default();
    whole_window(&profile, folder.path(), &mut aims);
    own_work(&profile, &mut aims);
    drop(stop);
    writing.join().expect("the source takes writes");
    aims.exit_if_optimised()
}

fn write_lightly(mut session: mysql::Conn, stopped: &Receiver<()>) {
    use mysql::prelude::Queryable;
    while stopped.recv_timeout(WRITE_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
        session
            .query_drop("INSERT INTO shop.orders (pad) VALUES ('x')")
            .expect("the source takes writes");
    }
}

// --- the whole process -----------------------------------------------------------------------------------------------

fn whole_window(profile: &Path, folder: &Path, aims: &mut Aims) {
    let mut ours = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    ours.arg("--topology").arg(profile);
    ours.env("REPLICASCOPE_PASSWORD", WATCHER)
        .env("RUST_LOG", "startup=debug");
    ours.env("REPLICASCOPE_CONFIG_DIR", folder.join("config"));
    let ours = Opened::measure(ours, Some(FIRST_READING), folder);

    let mut empty = Command::new(std::env::current_exe().expect("this program"));
    empty.arg(EMPTY_WINDOW);
    let empty = Opened::measure(empty, None, folder);

    println!("  the window:      {ours}\n  an empty window: {empty}");
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    aims.judge(
        "first frame after start, ms",
        milliseconds(ours.first_frame),
        Limit::AtMost(600.0),
    );
    match ours.first_reading {
        Some(at) => {
            let after = milliseconds(at.saturating_sub(ours.first_frame));
            aims.judge(
                "first reading after the first frame, ms",
                after,
                Limit::AtMost(1000.0),
            );
        }
        // Never a pass: not a number meets no aim.
        None => aims.judge(
            "first reading (the log told of none)",
            f64::NAN,
            Limit::AtMost(1000.0),
        ),
    }
    aims.judge(
        "CPU of the process, % of a core",
        ours.cpu_percent,
        Limit::AtMost(15.0),
    );
    aims.judge(
        "memory above the empty window, MiB",
        ours.resident_mib - empty.resident_mib,
        Limit::AtMost(40.0),
    );
}

/// A window that was open for a while.
struct Opened {
    first_frame: Duration,
    first_reading: Option<Duration>,
    cpu_percent: f64,
    resident_mib: f64,
}

impl Opened {
    fn measure(mut command: Command, awaited: Option<&'static str>, folder: &Path) -> Self {
        let screen = Screen::start(folder);
        screen.take(&mut command);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let started = Instant::now();
        let mut program = Running(command.spawn().expect("cargo built it"));
        let log = told(&mut program.0, awaited);
        let first_frame = screen.first_picture(&mut program.0, started);
        let first_reading = awaited
            .and_then(|_| log.recv_timeout(START_LIMIT).ok())
            .map(|at| at - started);
        thread::sleep(SETTLE);

        let process = program.0.id();
        let (began, before) = (Instant::now(), cpu_time(process));
        thread::sleep(WINDOW);
        let spent = cpu_time(process) - before;
        Opened {
            first_frame,
            first_reading,
            cpu_percent: spent.as_secs_f64() / began.elapsed().as_secs_f64() * 100.0,
            resident_mib: resident_mib(process),
        }
    }
}

impl std::fmt::Display for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "first frame {:4} ms", self.first_frame.as_millis())?;
        if let Some(at) = self.first_reading {
            write!(f, ", first reading {} ms", at.as_millis())?;
        }
        write!(
            f,
            ", CPU {:.2} % of a core, {:.0} MiB",
            self.cpu_percent, self.resident_mib
        )
    }
}

/// When the log first holds the awaited words. Everything else it says goes to our own standard error.
fn told(program: &mut Child, awaited: Option<&'static str>) -> Receiver<Instant> {
    let (tell, told) = mpsc::channel();
    let log = program.stderr.take().expect("a piped stderr");
    thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            if awaited.is_some_and(|words| line.contains(words)) {
                let _ = tell.send(Instant::now());
            } else if !line.contains("startup") {
                eprintln!("{line}");
            }
        }
    });
    told
}

// --- the empty window ------------------------------------------------------------------------------------------------

/// What every eframe program with this renderer takes: one word, one frame a second.
fn empty_window() -> ExitCode {
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size(SIZE),
        ..eframe::NativeOptions::default()
    };
    match eframe::run_native("empty", options, Box::new(|_| Ok(Box::new(Empty)))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("no empty window: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Empty;

impl eframe::App for Empty {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        ui.label("empty");
        ui.ctx().request_repaint_after(FRAME_EVERY);
    }
}

// --- our own work ----------------------------------------------------------------------------------------------------

/// Watches in this process and draws a frame a second into triangles that nobody paints. The light writer's CPU time is in
/// the figure too.
fn own_work(profile: &Path, aims: &mut Aims) {
    let mut desk = Desk::watching(profile, |_| WATCHER.to_owned());
    desk.go_on_for(SETTLE);
    desk.frames.clear();
    let (began, before) = (Instant::now(), cpu_time(std::process::id()));
    desk.go_on_for(WINDOW);
    desk.assert_all_read(3);
    let spent = cpu_time(std::process::id()) - before;
    let percent = spent.as_secs_f64() / began.elapsed().as_secs_f64() * 100.0;

    desk.frames.sort();
    let frames = &desk.frames;
    let milliseconds = |at: usize| {
        frames
            .get(at)
            .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    };
    println!(
        "  our own work: {percent:.2} % of a core with a frame a second; a frame takes {:.2} ms (median), {:.2} ms (longest), \
         {} triangles",
        milliseconds(frames.len() / 2),
        milliseconds(frames.len().saturating_sub(1)),
        desk.triangles,
    );
    desk.conductor.close();
    aims.judge(
        "CPU of our own work, % of a core",
        percent,
        Limit::AtMost(3.0),
    );
}
