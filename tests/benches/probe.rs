//! What does a GTID-waited read cost over the least there can be? On an idle topology, in the same runs: from the commit
//! to the waited value, against the commit to the first sight of the row by a session that does nothing but look. Then
//! how many runs a second the prober keeps up with two replicas while the topology is watched and the window's work done
//! beside it, and what its own bookkeeping takes of a run.
//!
//! `cargo bench --bench probe [-- mysql|mariadb]`, half a minute per flavour.

#[path = "window/desk.rs"]
mod desk;
mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use desk::Desk;
use measure::{Aims, Limit, WATCHER};
use replicascope::app::headless::probe_json;
use replicascope::model::probe::{ProbeFlavour, ProbePlan, ProbeSummary, WaitKind};
use replicascope::model::time::Span;
use replicascope::words::{Catalogue, Language};
use support::probing::{Probed, Probing, server};
use support::servers::{Flavour, Node, Topology};

/// Slow enough that each run finds the topology idle.
const IDLE_RATE: f64 = 25.0;
const IDLE_RUNS: u32 = 250;
/// As many as it can: the rate's cap is above what the topology does.
const FULL_RATE: f64 = 1_000.0;
const FULL_RUNS: u32 = 3_000;

const SIZE: [f32; 2] = [1280.0, 800.0];
/// Oftener than the window draws while a probe runs.
const FRAME_EVERY: Duration = Duration::from_millis(33);

const COST_AIM: f64 = 1.3;
const RATE_AIM: f64 = 200.0;

fn main() -> ExitCode {
    let Some(words) = measure::words() else {
        return ExitCode::SUCCESS;
    };
    let mut aims = Aims::default();
    for flavour in measure::flavours(&words) {
        run(flavour, &mut aims);
    }
    aims.exit_if_optimised()
}

fn run(flavour: Flavour, aims: &mut Aims) {
    let topology = measure::plan(flavour).replicas(2).start();
    let title = measure::title(topology.source());
    println!("probe: {title}, {}", measure::build());
    against_the_floor(&topology, aims);
    sustained(&topology, aims);
}

/// One replica: a second one's looker would take the core that the first one's applier needs.
fn against_the_floor(topology: &Topology, aims: &mut Aims) {
    let plan = ProbePlan {
        runs: IDLE_RUNS,
        rate: IDLE_RATE,
        measures_floor: true,
        ..ProbePlan::default()
    };
    let probed = probe(topology, plan, 1);
    let mut ratios = Vec::new();
    let mut sent_after = Vec::new();
    for run in &probed.runs {
        let write = run.write.as_ref().expect("an idle source takes writes");
        let replica = &run.replicas[0];
        assert_eq!(replica.waited.wait.kind, WaitKind::Reached);
        let since = |at| millis(at, write.committed_at);
        let (asked, _) = replica.waited.wait.span.expect("a wait");
        sent_after.push(since(asked));
        if let Some(seen) = replica.first_visible {
            ratios.push(since(replica.waited.read.answered_at) / since(seen));
        }
    }
    let of = &probed.summary.replicas[0];
    let (waited, floor) = (of.commit_to_waited(), of.first_visible());
    let (Some(waited), Some(floor)) = (waited, floor) else {
        panic!("no run was seen");
    };
    println!(
        "  commit to waited value: median {}, p99 {}; first visible: median {}, p99 {} ({} runs)",
        show(waited.p50),
        show(waited.p99),
        show(floor.p50),
        show(floor.p99),
        ratios.len(),
    );
    println!(
        "  from the commit until the wait was sent: median {:.3} ms",
        median(&mut sent_after)
    );
    aims.judge(
        "waited value against first visible, medians",
        waited.p50.secs_f64() / floor.p50.secs_f64(),
        Limit::AtMost(COST_AIM),
    );
    println!("  run by run: median ratio {:.3}", median(&mut ratios));
}

fn sustained(topology: &Topology, aims: &mut Aims) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = desk::save_profile(topology.nodes(), folder.path());
    let mut desk = Desk::watching(&profile, |_| WATCHER.to_owned());
    desk.go_on_for(Duration::from_secs(3));
    for flavour in [ProbeFlavour::Insert, ProbeFlavour::Update] {
        let plan = ProbePlan {
            flavour,
            runs: FULL_RUNS,
            rate: FULL_RATE,
            ..ProbePlan::default()
        };
        let began = Instant::now();
        let probed = thread::scope(|scope| {
            let probing = scope.spawn(|| probe(topology, plan, 2));
            while !probing.is_finished() {
                desk.timed_frame();
                thread::sleep(FRAME_EVERY);
            }
            probing.join().expect("the probe ran to its end")
        });
        let per_second = f64::from(FULL_RUNS) / began.elapsed().as_secs_f64();
        let what = format!(
            "runs a second, two replicas, drawn beside it, {}",
            flavour.code()
        );
        aims.judge(&what, per_second, Limit::AtLeast(RATE_AIM));
        let bookkeeping = bookkeeping(&probed, flavour);
        println!(
            "  bookkeeping of a run (summary and JSON): {:.1} µs, {:.2} % of it",
            bookkeeping.as_secs_f64() * 1e6,
            bookkeeping.as_secs_f64() * per_second * 100.0
        );
    }
    println!("  frames drawn meanwhile: {}", desk.frames.len());
    desk.assert_all_read(3);
    desk.conductor.close();
}

/// What is done with each run besides waiting for servers, done again.
fn bookkeeping(probed: &Probed, flavour: ProbeFlavour) -> Duration {
    let words = Catalogue::of(Language::English);
    let names = ["replica 1".to_owned(), "replica 2".to_owned()];
    let mut summary = ProbeSummary::of_replicas(2);
    let mut bytes = 0;
    let began = Instant::now();
    for run in &probed.runs {
        summary.add(run);
        for line in probe_json::lines(run, flavour, &names, words) {
            bytes += serde_json::to_string(&line).expect("JSON").len();
        }
    }
    let took = began.elapsed();
    assert!(bytes > 0 && summary.runs > 0);
    took / probed.runs.len() as u32
}

fn probe(topology: &Topology, plan: ProbePlan, replicas: usize) -> Probed {
    let of = |node: &Node| server(node.port(), "admin", "admin");
    let replicas = topology.replicas().take(replicas).map(of).collect();
    let probed = Probing::start(plan, of(topology.source()), replicas).until_end();
    probed.all_ran().waited_reads_are_never_stale();
    probed
}

fn millis(at: replicascope::model::time::Moment, since: replicascope::model::time::Moment) -> f64 {
    at.since(since).millis_f64()
}

fn show(span: Span) -> String {
    format!("{:.3} ms", span.millis_f64())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
