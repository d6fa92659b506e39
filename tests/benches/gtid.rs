//! GTID sets of 20,000 intervals: reading and subtracting two of them, against the same done with a tree of intervals
//! per UUID. Aim: at most 5 ms for both parses and the subtraction.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use replicascope::model::gtid::GtidSet;

const INTERVALS: u64 = 20_000;
const RUNS: usize = 31;
const AIM: Duration = Duration::from_millis(5);

fn main() {
    let mut within_aim = true;
    for uuids in [1, 100, INTERVALS] {
        within_aim &= compare(uuids);
    }
    // `cargo test --all-targets` runs this unoptimised: then the figures mean nothing.
    if !within_aim && !cfg!(debug_assertions) {
        eprintln!("gtid: over the aim of {AIM:?}");
        std::process::exit(1);
    }
}

/// One line for sets spread over that many UUIDs.
fn compare(uuids: u64) -> bool {
    let left = text(uuids, 10, 6);
    let right = text(uuids, 10, 3);
    let subtract = |a: &str, b: &str| {
        let read = |text| GtidSet::parse(text).expect("a GTID set");
        read(a).subtract(&read(b))
    };
    let set = subtract(&left, &right);
    let tree = tree_subtract(&read_tree(&left), &read_tree(&right));
    assert_eq!(set.interval_count() as u64, INTERVALS);
    assert_eq!(set.to_string(), tree_text(&tree), "both ways agree");

    let ours = median(|| {
        black_box(subtract(black_box(&left), black_box(&right)));
    });
    let subtraction = {
        let (a, b) = (left.parse::<GtidSet>(), right.parse::<GtidSet>());
        let (a, b) = (a.expect("a GTID set"), b.expect("a GTID set"));
        median(|| {
            black_box(black_box(&a).subtract(black_box(&b)));
        })
    };
    let trees = median(|| {
        black_box(tree_subtract(
            &read_tree(black_box(&left)),
            &read_tree(black_box(&right)),
        ));
    });
    println!(
        "gtid: parse + subtract, 2 x {INTERVALS} intervals ({uuids} UUID): {:.3} ms (subtract alone {:.3} ms), \
         tree of intervals {:.3} ms, ratio {:.1}",
        milliseconds(ours),
        milliseconds(subtraction),
        milliseconds(trees),
        trees.as_secs_f64() / ours.as_secs_f64(),
    );
    ours <= AIM
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

/// Intervals of `length` every `step` numbers, as the server prints them.
fn text(uuids: u64, step: u64, length: u64) -> String {
    let mut parts = Vec::new();
    for uuid in 0..uuids {
        let mut part = format!("{uuid:08x}-517e-11eb-abdc-1273b9da759b");
        for index in 0..INTERVALS / uuids {
            let first = 1_000_000 + index * step;
            part += &format!(":{first}-{}", first + length - 1);
        }
        parts.push(part);
    }
    parts.join(",\n")
}

/// The straightforward way: split the text, keep a tree of first → last per UUID.
type Tree = BTreeMap<String, BTreeMap<u64, u64>>;

fn read_tree(text: &str) -> Tree {
    let mut tree = Tree::new();
    for part in text.split(',') {
        let mut pieces = part.trim().split(':');
        let uuid = pieces.next().expect("a UUID").to_lowercase();
        let intervals = tree.entry(uuid).or_default();
        for piece in pieces {
            let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
            let number = |digits: &str| digits.parse::<u64>().expect("a number");
            intervals.insert(number(first), number(last));
        }
    }
    tree
}

/// Cuts each interval of `b` out of the intervals of `a` it overlaps.
fn tree_subtract(a: &Tree, b: &Tree) -> Tree {
    let mut rest = a.clone();
    for (uuid, cuts) in b {
        let Some(intervals) = rest.get_mut(uuid) else {
            continue;
        };
        for (&cut_first, &cut_last) in cuts {
            while let Some((&first, &last)) = intervals.range(..=cut_last).next_back() {
                if last < cut_first {
                    break;
                }
                intervals.remove(&first);
                if last > cut_last {
                    intervals.insert(cut_last + 1, last);
                }
                if first < cut_first {
                    intervals.insert(first, cut_first - 1);
                }
            }
        }
    }
    rest.retain(|_, intervals| !intervals.is_empty());
    rest
}

fn tree_text(tree: &Tree) -> String {
    let part = |(uuid, intervals): (&String, &BTreeMap<u64, u64>)| {
        let mut part = uuid.clone();
        for (first, last) in intervals {
            part += &format!(":{first}-{last}");
        }
        part
    };
    tree.iter().map(part).collect::<Vec<_>>().join(",")
}
