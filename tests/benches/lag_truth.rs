//! How wrong is each way to measure lag? All of them in one run on real servers, against the truth.
//!
//! The truth: a writer commits numbered rows on the source, 100 a second, and notes each commit; a reader asks the replica
//! as fast as it can which of them it shows. The lag at an instant is the age of the oldest commit not shown yet. Beside
//! it run Seconds_Behind_Source, a heartbeat of one second read as its age, and `replicascope watch --json`, through quiet,
//! a locked replica, a big transaction, and stopped threads.
//!
//! `cargo bench --bench lag_truth [-- mysql|mariadb] [trace]`, a minute per flavour; `trace` prints every reading of the
//! program beside the truth.

mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, Row};

use measure::{Aims, Limit, Watching, wall_clock};
use support::servers::{Flavour, Node, Topology};

const COMMIT_EVERY: Duration = Duration::from_millis(10);
const BEAT_EVERY: Duration = Duration::from_secs(1);
const SAMPLE_EVERY: Duration = Duration::from_millis(200);
/// The reader's pause: without one it would take a core from the servers it watches.
const READER_PAUSE: Duration = Duration::from_millis(1);
/// 8 rows, doubled this often: 524,288.
const DOUBLINGS: u32 = 16;

const PRODUCT: &str = "replicascope";
const SECONDS_BEHIND: &str = "seconds_behind";
const HEARTBEAT: &str = "heartbeat 1 s";

fn main() -> ExitCode {
    let Some(words) = measure::words() else {
        return ExitCode::SUCCESS;
    };
    let mut aims = Aims::default();
    for flavour in measure::flavours(&words) {
        let trace = words.iter().any(|word| word == "trace");
        let scores = run(flavour, trace);
        judge(flavour, &scores, &mut aims);
    }
    aims.exit()
}

/// One topology, one pass through all phases.
fn run(flavour: Flavour, trace: bool) -> BTreeMap<String, Score> {
    let topology = measure::plan(flavour).replicas(1).start();
    prepare(&topology);
    println!(
        "lag_truth: {}, {}",
        measure::title(topology.source()),
        measure::build()
    );
    let (truth, estimates) = record(&topology);
    if trace {
        print_trace(&truth, &estimates[PRODUCT]);
    }
    let scores: BTreeMap<String, Score> = estimates
        .iter()
        .map(|(method, samples)| (method.clone(), Score::of(samples, &truth)))
        .collect();
    for (method, score) in &scores {
        println!("  {method:<30} {score}");
    }
    scores
}

fn prepare(topology: &Topology) {
    let source = topology.source();
    source.sql(
        "CREATE DATABASE truth; CREATE TABLE truth.commits (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(50)); \
         CREATE TABLE truth.beat (id TINYINT PRIMARY KEY, ts DATETIME(3)); \
         CREATE TABLE truth.big (id INT PRIMARY KEY AUTO_INCREMENT, v INT); \
         INSERT INTO truth.big (v) VALUES (1), (2), (3), (4), (5), (6), (7), (8)",
    );
    for _ in 0..DOUBLINGS {
        source.sql("INSERT INTO truth.big (v) SELECT v FROM truth.big");
    }
    topology.replicating();
}

/// Runs writer, reader and all methods while the phases go by.
fn record(topology: &Topology) -> (Truth, BTreeMap<String, Vec<Sample>>) {
    let (source, replica) = (topology.node(0), topology.node(1));
    let mut product = Watching::start(topology.nodes(), "200ms", "100ms");
    let lines = product.lines();
    let stop = &Stop(AtomicBool::new(false));
    thread::scope(|scope| {
        let commits = scope.spawn(|| commit(source.session(), stop));
        let seen = scope.spawn(|| read(replica.session(), stop));
        scope.spawn(|| beat(source.session(), stop));
        let seconds_behind = scope.spawn(|| ask_seconds_behind(replica.session(), stop));
        let heartbeat = scope.spawn(|| ask_heartbeat(replica.session(), stop));
        let address = measure::address(replica);
        let watched = scope.spawn(|| by_method(lines, address));

        go_through_phases(source, replica);
        stop.now();
        drop(product);
        let truth = Truth {
            commits: joined(commits),
            seen: joined(seen),
        };
        let mut estimates = joined(watched);
        assert!(
            estimates.contains_key(PRODUCT),
            "`watch --json` printed nothing about the replica"
        );
        estimates.insert(SECONDS_BEHIND.to_owned(), joined(seconds_behind));
        estimates.insert(HEARTBEAT.to_owned(), joined(heartbeat));
        (truth, estimates)
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What is done to the replica; START and STOP … REPLICA are understood by MySQL and MariaDB alike.
fn go_through_phases(source: &Node, replica: &Node) {
    let (mut source, mut replica) = (source.session(), replica.session());
    let mut on_replica = |statement: &str| replica.query_drop(statement).expect(statement);
    let pause = |seconds| thread::sleep(Duration::from_secs(seconds));

    pause(5); // quiet
    on_replica("FLUSH TABLES WITH READ LOCK");
    pause(4);
    on_replica("UNLOCK TABLES");
    pause(3);

    let begin = Instant::now();
    source
        .query_drop("UPDATE truth.big SET v = v + 1")
        .expect("the big transaction");
    println!(
        "  the big transaction took {:.1} s on the source",
        begin.elapsed().as_secs_f64()
    );
    pause(12);

    on_replica("STOP REPLICA SQL_THREAD");
    pause(3);
    on_replica("START REPLICA SQL_THREAD");
    pause(3);
    on_replica("STOP REPLICA IO_THREAD");
    pause(3);
    on_replica("START REPLICA IO_THREAD");
    pause(4); // catching up
}

struct Stop(AtomicBool);

impl Stop {
    fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does the work at a steady pace until stopped; what came too late is left out, not made up for.
    fn every(&self, interval: Duration, mut work: impl FnMut()) {
        let mut next = Instant::now();
        while !self.is_set() {
            work();
            next = (next + interval).max(Instant::now());
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
}

/// An instant, and the highest number committed or seen then.
struct Numbered {
    at: f64,
    id: u64,
}

fn commit(mut session: Conn, stop: &Stop) -> Vec<Numbered> {
    let mut commits = Vec::new();
    stop.every(COMMIT_EVERY, || {
        session
            .query_drop("INSERT INTO truth.commits (pad) VALUES ('x')")
            .expect("the writer commits");
        commits.push(Numbered {
            at: wall_clock(),
            id: session.last_insert_id(),
        });
    });
    commits
}

fn read(mut session: Conn, stop: &Stop) -> Vec<Numbered> {
    let mut seen = Vec::new();
    while !stop.is_set() {
        let id: Option<Option<u64>> = session
            .query_first("SELECT MAX(id) FROM truth.commits")
            .expect("the reader reads");
        seen.push(Numbered {
            at: wall_clock(),
            id: id.flatten().unwrap_or(0),
        });
        thread::sleep(READER_PAUSE);
    }
    seen
}

fn beat(mut session: Conn, stop: &Stop) {
    stop.every(BEAT_EVERY, || {
        session
            .query_drop("REPLACE INTO truth.beat VALUES (1, NOW(3))")
            .expect("the heart beats");
    });
}

/// What a method said at an instant; `None` when it said that it did not know.
struct Sample {
    at: f64,
    seconds: Option<f64>,
}

fn ask_seconds_behind(mut session: Conn, stop: &Stop) -> Vec<Sample> {
    let mut samples = Vec::new();
    stop.every(SAMPLE_EVERY, || {
        let at = wall_clock();
        let row: Option<Row> = session
            .query_first("SHOW REPLICA STATUS")
            .expect("a replica");
        samples.push(Sample {
            at,
            seconds: row.as_ref().and_then(seconds_behind_of),
        });
    });
    samples
}

fn seconds_behind_of(row: &Row) -> Option<f64> {
    ["Seconds_Behind_Source", "Seconds_Behind_Master"]
        .into_iter()
        .find_map(|column| row.get_opt::<Option<f64>, _>(column)?.ok()?)
}

/// The age of the row, as usually read; both servers run on this machine's clock.
fn ask_heartbeat(mut session: Conn, stop: &Stop) -> Vec<Sample> {
    let mut samples = Vec::new();
    stop.every(SAMPLE_EVERY, || {
        let at = wall_clock();
        let age =
            "SELECT CAST(TIMESTAMPDIFF(MICROSECOND, ts, NOW(3)) / 1e6 AS DOUBLE) FROM truth.beat";
        let seconds: Option<Option<f64>> =
            session.query_first(age).expect("the heartbeat is readable");
        samples.push(Sample {
            at,
            seconds: seconds.flatten(),
        });
    });
    samples
}

/// The program's headline, and each of its methods by itself.
fn by_method(
    lines: impl Iterator<Item = serde_json::Value>,
    replica: String,
) -> BTreeMap<String, Vec<Sample>> {
    let mut methods: BTreeMap<String, Vec<Sample>> = BTreeMap::new();
    for line in lines.filter(|line| line["server"] == replica.as_str()) {
        let Some(at) = line["at"].as_f64() else {
            panic!("a line without `at`: {line}")
        };
        let sample = |reading: &serde_json::Value| Sample {
            at,
            seconds: reading["seconds"]
                .as_f64()
                .filter(|_| reading["state"] == "measured"),
        };
        methods
            .entry(PRODUCT.to_owned())
            .or_default()
            .push(sample(&line["lag"]));
        for (method, reading) in line["methods"].as_object().into_iter().flatten() {
            methods
                .entry(format!("{PRODUCT}: {method}"))
                .or_default()
                .push(sample(reading));
        }
    }
    methods
}

struct Truth {
    commits: Vec<Numbered>,
    seen: Vec<Numbered>,
}

impl Truth {
    /// The age of the oldest commit not visible at that instant; `None` where the reader saw nothing before or after.
    fn lag_at(&self, at: f64) -> Option<f64> {
        let looks = self.seen.partition_point(|look| look.at <= at);
        let last_look = self.seen[..looks].last()?;
        if looks == self.seen.len() {
            return None;
        }
        let visible = self
            .commits
            .partition_point(|commit| commit.id <= last_look.id);
        let oldest_missing = self.commits.get(visible).filter(|commit| commit.at <= at);
        Some(oldest_missing.map_or(0.0, |commit| at - commit.at))
    }
}

fn print_trace(truth: &Truth, samples: &[Sample]) {
    let began = truth.seen.first().map_or(0.0, |look| look.at);
    for Sample { at, seconds } in samples {
        let after = at - began;
        println!(
            "  {after:7.3} s: truth {:?}, {PRODUCT} {seconds:?}",
            truth.lag_at(*at)
        );
    }
}

/// |method − truth| over all samples that gave a number.
#[derive(Default)]
struct Score {
    errors: Vec<f64>,
    unknown: usize,
    highest_truth: f64,
}

impl Score {
    fn of(samples: &[Sample], truth: &Truth) -> Self {
        let mut score = Score::default();
        for sample in samples {
            let Some(lag) = truth.lag_at(sample.at) else {
                continue;
            };
            score.highest_truth = score.highest_truth.max(lag);
            match sample.seconds {
                Some(seconds) => score.errors.push((seconds - lag).abs()),
                None => score.unknown += 1,
            }
        }
        score.errors.sort_by(f64::total_cmp);
        score
    }

    /// Not a number without any sample.
    fn mean(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.errors.len() as f64
    }

    fn percentile(&self, percent: usize) -> f64 {
        self.errors
            .get(self.errors.len() * percent / 100)
            .copied()
            .unwrap_or(f64::NAN)
    }

    fn answered(&self) -> f64 {
        self.errors.len() as f64 / (self.errors.len() + self.unknown) as f64
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Score {
            errors,
            unknown,
            highest_truth,
        } = self;
        write!(
            f,
            "n {:4}  unknown {unknown:4}  true max {highest_truth:6.2}",
            errors.len()
        )?;
        let Some(max) = errors.last() else {
            return write!(f, "  never a number");
        };
        let (mean, p50, p95) = (self.mean(), self.percentile(50), self.percentile(95));
        write!(
            f,
            "  |error| mean {mean:.4}  p50 {p50:.4}  p95 {p95:.4}  max {max:.3}"
        )
    }
}

fn judge(flavour: Flavour, scores: &BTreeMap<String, Score>, aims: &mut Aims) {
    let product = &scores[PRODUCT];
    let times_below = |peer: &str| scores[peer].mean() / product.mean();
    let name = flavour.name();
    let mut judge =
        |what: &str, reached, limit| aims.judge(&format!("{name}: {what}"), reached, limit);
    judge(
        "share of samples with a number",
        product.answered(),
        Limit::AtLeast(0.9),
    );
    match flavour {
        Flavour::MySql => {
            judge("mean error, s", product.mean(), Limit::AtMost(0.015));
            judge(
                "p95 of the error, s",
                product.percentile(95),
                Limit::AtMost(0.050),
            );
            judge(
                "times below the heartbeat",
                times_below(HEARTBEAT),
                Limit::AtLeast(40.0),
            );
            judge(
                "times below Seconds_Behind_Source",
                times_below(SECONDS_BEHIND),
                Limit::AtLeast(50.0),
            );
        }
        Flavour::MariaDb => {
            judge(
                "times below the heartbeat",
                times_below(HEARTBEAT),
                Limit::AtLeast(30.0),
            );
            println!(
                "  times below Seconds_Behind_Master: {:.1}",
                times_below(SECONDS_BEHIND)
            );
        }
    }
}
