//! A fleet of 200 simulated servers watched by one product: whether every poll comes on time, what a server costs compared
//! with polling a small topology of the same kind, how long a frame takes and how much memory it takes.
//!
//! The servers are the lab's, in another process: twenty sources with nine replicas each, five transactions a second on
//! every source. The product is here: the same threads, store and drawing code as behind the window, down to triangles
//! that nobody paints.
//!
//! `cargo bench --bench fleet`, about two minutes.

#[path = "window/desk.rs"]
mod desk;
mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use replicascope::lab::running::LabHandle;
use replicascope::link::clock;
use replicascope::model::lab::{LabOrder, LabPhase, LabPlan, LabStatus, Traffic};
use replicascope::model::server::WatchId;
use replicascope::model::time::Moment;

use desk::{Desk, Stages};
use measure::{Aims, Limit, cpu_time, resident_mib};

const SIZE: [f32; 2] = [1280.0, 800.0];
const FRAME_EVERY: Duration = Duration::from_millis(250);
/// Events are taken in as they come; this often is often enough not to blur when a poll came.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const REPLICAS: u32 = 9;
const TOPOLOGIES: usize = 20;
const SETTLE: Duration = Duration::from_secs(15);
const WINDOW: Duration = Duration::from_secs(40);
const POLL_EVERY_MS: f64 = 1000.0;

/// The argument that makes this program the servers.
const SERVERS: &str = "simulated-servers";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == SERVERS) {
        return simulate(arguments[at + 1].parse().expect("a number of topologies"));
    }
    if measure::words().is_none() {
        return ExitCode::SUCCESS;
    }
    println!("fleet: {}", measure::build());
    let mut aims = Aims::default();
    let bare = watch(1, Drawn::Never);
    let small = watch(1, Drawn::Often);
    let fleet = watch(TOPOLOGIES, Drawn::Often);
    for figures in [&bare, &small, &fleet] {
        figures.print();
    }
    aims.judge(
        "p99 of a poll's lateness, ms",
        fleet.late_p99_ms,
        Limit::AtMost(100.0),
    );
    aims.judge(
        "CPU per server, drawing included, against polling alone (what poll_cost measures)",
        fleet.cpu_ms / bare.cpu_ms,
        Limit::AtMost(1.5),
    );
    aims.judge(
        "p99 of a frame, ms",
        fleet.frame_p99_ms,
        Limit::AtMost(16.0),
    );
    aims.judge("memory, MiB", fleet.resident_mib, Limit::AtMost(400.0));
    aims.exit_if_optimised()
}

// --- the servers -----------------------------------------------------------------------------------------------------

/// Runs until the other side closes our input.
fn simulate(topologies: usize) -> ExitCode {
    let plan = LabPlan {
        replicas: REPLICAS,
        traffic: Traffic {
            writes_per_second: 5.0,
            reads_per_second: 0.0,
            ..Traffic::default()
        },
        ..LabPlan::default()
    };
    let labs: Vec<(LabHandle, LabStatus)> = (0..topologies)
        .map(|seed| {
            start(LabPlan {
                seed: seed as u64,
                ..plan.clone()
            })
        })
        .collect();
    let mut out = std::io::stdout();
    for (number, (_, status)) in labs.iter().enumerate() {
        let watcher = &status.accounts.as_ref().expect("a running lab").watcher;
        let (user, password) = (watcher.user, watcher.password.expose());
        for node in &status.nodes {
            writeln!(out, "{number} {} {user} {password}", node.port).expect("somebody listens");
        }
    }
    writeln!(out, "ready").expect("somebody listens");
    let _ = std::io::stdin().read_line(&mut String::new());
    ExitCode::SUCCESS
}

fn start(plan: LabPlan) -> (LabHandle, LabStatus) {
    let (handle, statuses) = LabHandle::start(|| {});
    handle.send(LabOrder::Start(plan));
    let running = statuses
        .iter()
        .find(|status| matches!(status.phase, LabPhase::Running { .. }));
    (handle, running.expect("loopback has free ports"))
}

/// The other process; ends with this value.
struct Servers(Child);

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        measure::end(&mut self.0);
    }
}

impl Servers {
    /// With the profile of their topologies, and the password of the watching account of each.
    fn start(topologies: usize, folder: &Path) -> (Servers, PathBuf) {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args([SERVERS, &topologies.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program can be started");
        let output = BufReader::new(child.stdout.take().expect("a piped stdout"));
        let servers = Servers(child);
        let mut text = String::from("version = 1\n");
        let mut last = None;
        for line in output.lines().map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            let [topology, port, user, password] = words[..] else {
                break; // ready
            };
            if last.as_deref() != Some(topology) {
                let secret = folder.join(format!("password-{topology}"));
                fs::write(&secret, password).expect("the folder is writable");
                text += &format!(
                    "[[topology]]\nid = \"fleet-{topology}\"\nname = \"fleet {topology}\"\naccount = {{ user = \"{user}\", \
                     password_from = \"env:FLEET_{topology}\" }}\n"
                );
                last = Some(topology.to_owned());
            }
            text += &format!("[[topology.server]]\nhost = \"127.0.0.1\"\nport = {port}\n");
        }
        let file = folder.join("fleet.toml");
        fs::write(&file, text).expect("the folder is writable");
        (servers, file)
    }
}

// --- the product -----------------------------------------------------------------------------------------------------

/// Whether there is a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drawn {
    Often,
    Never,
}

/// What watching so many servers came to.
struct Figures {
    servers: usize,
    drawn: Drawn,
    /// Per server and second.
    cpu_ms: f64,
    late_p99_ms: f64,
    frame_median_ms: f64,
    frame_p99_ms: f64,
    /// Name, median and p99 of each stage of a frame.
    stages_ms: Vec<(&'static str, f64, f64)>,
    resident_mib: f64,
}

impl Figures {
    fn print(&self) {
        println!(
            "  {:3} servers: {:.2} ms CPU per server and second, p99 of a poll's lateness {:.1} ms, {:.0} MiB",
            self.servers, self.cpu_ms, self.late_p99_ms, self.resident_mib
        );
        match self.drawn {
            Drawn::Often => {
                println!(
                    "    a frame takes {:.2} ms (median) and {:.2} ms (p99)",
                    self.frame_median_ms, self.frame_p99_ms
                );
                for (stage, median, p99) in &self.stages_ms {
                    println!("      {stage}: {median:.2} ms (median) and {p99:.2} ms (p99)");
                }
            }
            Drawn::Never => println!("    nothing drawn"),
        }
    }
}

fn watch(topologies: usize, drawn: Drawn) -> Figures {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_servers, profile) = Servers::start(topologies, folder.path());
    let password = |topology: &str| {
        let number = topology.trim_start_matches("fleet-");
        fs::read_to_string(folder.path().join(format!("password-{number}")))
            .expect("written a moment ago")
    };
    let mut desk = Desk::watching(&profile, password);
    let mut polls = Polls::default();
    go_on_for(SETTLE, &mut desk, &mut Polls::default(), drawn);
    desk.frames.clear();
    desk.stages.clear();
    let (began, before) = (Instant::now(), cpu_time(std::process::id()));
    go_on_for(WINDOW, &mut desk, &mut polls, drawn);
    let spent = cpu_time(std::process::id()) - before;
    let servers = topologies * (REPLICAS as usize + 1);
    let seconds = began.elapsed().as_secs_f64();
    polls.assert_all(servers);
    desk.assert_all_read(servers);
    let figures = Figures {
        servers,
        drawn,
        cpu_ms: spent.as_secs_f64() * 1e3 / seconds / servers as f64,
        late_p99_ms: percentile(polls.lateness_ms(), 0.99),
        frame_median_ms: percentile(milliseconds(&desk.frames), 0.5),
        frame_p99_ms: percentile(milliseconds(&desk.frames), 0.99),
        stages_ms: stages_ms(&desk.stages),
        resident_mib: resident_mib(std::process::id()),
    };
    desk.conductor.close();
    figures
}

fn go_on_for(length: Duration, desk: &mut Desk, polls: &mut Polls, drawn: Drawn) {
    let end = Instant::now() + length;
    let mut next_frame = Instant::now();
    while Instant::now() < end {
        desk.conductor.take_in_until(Instant::now() + LOOK_EVERY);
        polls.look(desk);
        if Instant::now() >= next_frame {
            next_frame = Instant::now()
                + match drawn {
                    Drawn::Often => {
                        desk.timed_frame();
                        desk.next_frame_in()
                    }
                    // as `watch` does it
                    Drawn::Never => {
                        desk.conductor.store.judge(clock::now());
                        Duration::from_secs(1)
                    }
                };
        }
    }
}

/// When each server's polls were answered.
#[derive(Default)]
struct Polls {
    answered: HashMap<WatchId, Vec<Moment>>,
}

impl Polls {
    fn look(&mut self, desk: &Desk) {
        for server in desk.conductor.store.servers() {
            let Some(sample) = &server.latest else {
                continue;
            };
            let seen = self.answered.entry(server.watch()).or_default();
            if seen.last() != Some(&sample.answered_at) {
                seen.push(sample.answered_at);
            }
        }
    }

    /// A server that is not polled is never late.
    fn assert_all(&self, servers: usize) {
        assert_eq!(self.answered.len(), servers);
        let least = WINDOW.as_secs() as usize - 2;
        let polled: usize = self
            .answered
            .values()
            .filter(|seen| seen.len() >= least)
            .count();
        assert_eq!(polled, servers, "all servers were polled every second");
    }

    fn lateness_ms(&self) -> Vec<f64> {
        self.answered
            .values()
            .flat_map(|seen| seen.windows(2))
            .map(|pair| (pair[1].since(pair[0]).millis_f64() - POLL_EVERY_MS).abs())
            .collect()
    }
}

type Stage = (&'static str, fn(&Stages) -> Duration);

fn stages_ms(frames: &[Stages]) -> Vec<(&'static str, f64, f64)> {
    let stages: [Stage; 4] = [
        ("taking events in", |stages| stages.taking_in),
        ("judging", |stages| stages.judging),
        ("drawing", |stages| stages.drawing),
        ("tessellating", |stages| stages.tessellating),
    ];
    let of = |(name, stage): Stage| {
        let times: Vec<Duration> = frames.iter().map(stage).collect();
        let times = milliseconds(&times);
        (
            name,
            percentile(times.clone(), 0.5),
            percentile(times, 0.99),
        )
    };
    stages.into_iter().map(of).collect()
}

fn milliseconds(times: &[Duration]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs_f64() * 1e3).collect()
}

fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() as f64 * share) as usize;
    values
        .get(at.min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}
