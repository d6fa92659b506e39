//! A window that is told to end by a signal ends like one that is closed: the servers of its lab are gone, their folder
//! with them, and the preferences are kept. Linux, with the package xvfb.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use support::eventually;
use support::servers::Flavour;
use support::xvfb::{Running, Screen};
use tempfile::TempDir;

/// A template of the server is made first, on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(120);
const END_LIMIT: Duration = Duration::from_secs(20);

/// What the program logs when the first frame, and the first lag, was drawn.
const FRAME: &str = "first frame";
const READING: &str = "first reading";

/// What shells report of a program that Ctrl+C ended.
const ENDED_AT_ONCE: i32 = 130;

/// The program with a window on a screen of its own, and folders of its own.
struct Window {
    program: Running,
    screen: Screen,
    told: Receiver<String>,
    home: TempDir,
}

impl Window {
    fn open(arguments: &[&str]) -> Window {
        let home = tempfile::tempdir().expect("a temporary folder");
        let screen = Screen::start(home.path());
        let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
        screen.take(&mut command);
        command
            .args(arguments)
            .env("XDG_CACHE_HOME", home.path())
            .env("REPLICASCOPE_CONFIG_DIR", home.path())
            .env("RUST_LOG", "startup=debug")
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        let mut program = Running(command.spawn().expect("cargo built it"));
        let log = program.0.stderr.take().expect("a piped stderr");
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                let _ = tell.send(line); // it is read on, so that the program can go on writing
            }
        });
        Window {
            program,
            screen,
            told,
            home,
        }
    }

    #[track_caller]
    fn until_it_logs(&self, words: &str) {
        let deadline = Instant::now() + START_LIMIT;
        let mut said = Vec::new();
        while let Ok(line) = self
            .told
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            if line.contains(words) {
                return;
            }
            said.push(line);
        }
        panic!("waited in vain for {words:?}: {said:#?}");
    }

    /// Its exit code, when it ends by itself.
    #[track_caller]
    fn until_it_ended(&mut self) -> Option<i32> {
        let mut status = None;
        let ended = eventually(END_LIMIT, || {
            status = self.program.0.try_wait().expect("a child of ours");
            status.is_some()
        });
        assert!(ended, "it goes on");
        status.and_then(|status| status.code())
    }

    fn has_kept_preferences(&self) -> bool {
        self.home.path().join("preferences.toml").exists()
    }

    /// The folders of its labs.
    fn runs(&self) -> Vec<PathBuf> {
        let runs = self.home.path().join("replicascope/lab/runs");
        let entries = fs::read_dir(runs).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.is_dir()).collect()
    }
}

/// Servers that were started from a folder and still run.
fn serving_from(folder: &Path) -> usize {
    let wanted = format!("--defaults-file={}", folder.display());
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(&wanted))
        .count()
}

#[test]
fn a_window_with_real_servers_that_is_told_to_end_leaves_nothing_behind() {
    let program = Flavour::MariaDb.program();
    let program = program.to_str().expect("a path in plain letters");
    let mut window = Window::open(&["lab", "--real", program, "--replicas", "1"]);
    window.until_it_logs(READING);
    let [folder] = &window.runs()[..] else {
        panic!("one lab: {:?}", window.runs());
    };
    assert_eq!(serving_from(folder), 2);

    window.program.signal(libc::SIGTERM);
    assert_eq!(window.until_it_ended(), Some(0));
    assert_eq!(window.runs(), Vec::<PathBuf>::new());
    assert_eq!(serving_from(folder), 0);
    assert!(window.has_kept_preferences());
}

#[test]
fn ctrl_c_and_a_closed_terminal_end_it_as_tidily() {
    for signal in [libc::SIGINT, libc::SIGHUP] {
        let mut window = Window::open(&[]);
        window.until_it_logs(FRAME);
        window.program.signal(signal);
        assert_eq!(window.until_it_ended(), Some(0), "signal {signal}");
        assert!(window.has_kept_preferences(), "signal {signal}");
    }
}

/// Its screen no longer answers: it would wait for that forever.
#[test]
fn a_window_that_cannot_end_tidily_ends_at_the_next_signal() {
    let mut window = Window::open(&[]);
    window.until_it_logs(FRAME);
    window.screen.server.signal(libc::SIGSTOP);
    let ended = eventually(END_LIMIT, || {
        window.program.signal(libc::SIGTERM);
        thread::sleep(Duration::from_millis(50));
        matches!(window.program.0.try_wait(), Ok(Some(_)))
    });
    window.screen.server.signal(libc::SIGCONT);
    assert!(ended, "it goes on");
    assert_eq!(window.until_it_ended(), Some(ENDED_AT_ONCE));
}
