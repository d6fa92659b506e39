//! What the benches share: how they are called, the program under measurement, CPU time of processes, and aims with
//! their verdicts.
#![allow(dead_code)] // each bench takes what it needs

use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::support::servers::{Flavour, Node, Topology};

/// Account of the watching program; nobody else uses it, so its statements are the program's.
pub const WATCHER: &str = "monitor";

/// The words behind `--` of `cargo bench --bench NAME -- WORDS`, lower case.
///
/// `None` when cargo only tries whether the benches start, as `cargo test --all-targets` does: these ones take minutes
/// and measure, they test nothing.
pub fn words() -> Option<Vec<String>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("measures only under `cargo bench`");
        return None;
    }
    let is_word = |argument: &String| !argument.starts_with('-');
    Some(
        arguments
            .into_iter()
            .filter(is_word)
            .map(|word| word.to_lowercase())
            .collect(),
    )
}

/// The flavours named, or both.
pub fn flavours(words: &[String]) -> Vec<Flavour> {
    let both = [Flavour::MySql, Flavour::MariaDb];
    let named = |flavour: &Flavour| words.iter().any(|word| word == flavour.name());
    let any_named = both.iter().any(named);
    both.into_iter()
        .filter(|flavour| !any_named || named(flavour))
        .collect()
}

pub fn plan(flavour: Flavour) -> crate::support::servers::Plan {
    match flavour {
        Flavour::MySql => Topology::mysql(),
        Flavour::MariaDb => Topology::mariadb(),
    }
}

/// Figures of an unoptimised program say little about CPU time.
pub fn build() -> &'static str {
    if cfg!(debug_assertions) {
        "debug build"
    } else {
        "release build"
    }
}

/// The workstation's clock in Unix seconds, as the program stamps its lines.
pub fn wall_clock() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

pub fn address(node: &Node) -> String {
    format!("127.0.0.1:{}", node.port())
}

/// The name of a server for a heading, with its version.
pub fn title(node: &Node) -> String {
    let version: String = node.value("SELECT @@version");
    match node.flavour() {
        Flavour::MySql => format!("MySQL {version}"),
        Flavour::MariaDb => format!("MariaDB {version}"),
    }
}

/// `replicascope watch --json` as a child; it ends with this value.
pub struct Watching {
    child: Child,
}

impl Watching {
    pub fn start(nodes: &[Node], interval: &str, mark_interval: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
        command.arg("watch").args(["--user", WATCHER]).arg("--json");
        command.args(["--interval", interval, "--mark-interval", mark_interval]);
        for node in nodes {
            command.args(["--server", &address(node)]);
        }
        command
            .env("REPLICASCOPE_PASSWORD", WATCHER)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let child = command
            .spawn()
            .expect("cargo built the program next to this bench");
        Watching { child }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its lines as they come, until it ends. Can be had once.
    pub fn lines(&mut self) -> impl Iterator<Item = serde_json::Value> + Send + use<> {
        let output = self
            .child
            .stdout
            .take()
            .expect("the lines were not taken before");
        BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .map(|line| {
                serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("not JSON ({error}): {line}"))
            })
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Asks politely, as Ctrl+C does, and insists after a while.
pub fn end(child: &mut Child) {
    if let Ok(id) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a plain system call; the child was not waited for, so the id is still its own.
        unsafe { libc::kill(id, libc::SIGTERM) };
    }
    let give_up_at = Instant::now() + Duration::from_secs(3);
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < give_up_at {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// User and system time that all threads of a running process have used so far, to the nanosecond.
pub fn cpu_time(process: u32) -> Duration {
    let mut clock = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let id = libc::pid_t::try_from(process).expect("the kernel's own process ids fit");
    // SAFETY: both calls write to a local of the right type and have no other precondition.
    let failed = unsafe {
        libc::clock_getcpuclockid(id, &mut clock) != 0 || libc::clock_gettime(clock, &mut time) != 0
    };
    assert!(!failed, "process {process} has ended early");
    Duration::new(
        time.tv_sec.cast_unsigned(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Memory of a process that is in RAM now, in MiB.
pub fn resident_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: Option<f64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.unwrap_or_else(|| panic!("process {process} has ended early")) / 1024.0
}

/// The server's process.
pub fn process_of(node: &Node) -> u32 {
    let text =
        std::fs::read_to_string(node.dir().join("pid")).expect("a running server's pid file");
    text.trim().parse().expect("a process id")
}

/// What shall be reached, against what was.
#[derive(Default)]
pub struct Aims {
    missed: Vec<String>,
}

#[derive(Clone, Copy)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Aims {
    /// Prints the aim and whether it is met. A figure that is not a number meets none.
    pub fn judge(&mut self, what: &str, reached: f64, limit: Limit) {
        let met = match limit {
            Limit::AtMost(most) => reached <= most,
            Limit::AtLeast(least) => reached >= least,
        };
        let verdict = if met { "met" } else { "NOT MET" };
        println!("  aim {what:<46} {limit:>10}: {reached:9.4}  {verdict}");
        if !met {
            self.missed.push(what.to_owned());
        }
    }

    pub fn exit(self) -> ExitCode {
        if self.missed.is_empty() {
            return ExitCode::SUCCESS;
        }
        eprintln!("missed: {}", self.missed.join("; "));
        ExitCode::FAILURE
    }

    /// For aims about CPU time, which an unoptimised build cannot be held to.
    pub fn exit_if_optimised(self) -> ExitCode {
        if cfg!(debug_assertions) {
            println!("  (debug build: missed aims do not count)");
            return ExitCode::SUCCESS;
        }
        self.exit()
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Limit::AtMost(most) => format!("<= {most}"),
            Limit::AtLeast(least) => format!(">= {least}"),
        })
    }
}
