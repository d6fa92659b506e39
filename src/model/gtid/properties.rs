//! The algebra held against plain sets of transactions.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::mariadb::{BinlogState, GtidPosition};
use super::mysql::GtidSet;
use super::{Interval, MAX_NUMBER, Sid, Tag, Uuid};

/// Few sequences and small numbers, so that everything meets everything.
type Model = BTreeSet<(usize, u64)>;

/// Sorted as sets are.
fn sids() -> [Sid; 5] {
    let (a, b) = (Uuid::from_bytes([3; 16]), Uuid::from_bytes([200; 16]));
    let tag = |name| Tag::named(name).expect("a tag");
    [
        Sid::untagged(a),
        Sid::tagged(a, tag("_x")),
        Sid::tagged(a, tag("blue")),
        Sid::untagged(b),
        Sid::tagged(b, tag("blue")),
    ]
}

/// Pieces of text as a server or a person might string them together: which sequence, first, length.
fn pieces() -> impl Strategy<Value = Vec<(usize, u64, u64)>> {
    prop::collection::vec((0..5usize, 1..40u64, 0..6u64), 0..14)
}

fn spaces() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", " ", "\n", "\r\n\t", "\\n", "\u{b}\u{c}"])
}

fn model(pieces: &[(usize, u64, u64)]) -> Model {
    let numbers = |&(sid, first, length): &(usize, u64, u64)| {
        (first..=first + length).map(move |number| (sid, number))
    };
    pieces.iter().flat_map(numbers).collect()
}

/// Every piece written on its own: unsorted, repeated, overlapping.
fn text(pieces: &[(usize, u64, u64)], space: &str) -> String {
    let mut text = String::new();
    for (sid, first, length) in pieces {
        let sid = sids()[*sid]
            .to_string()
            .replace(':', &format!("{space}:{space}"));
        let last = first + length;
        text += &format!("{sid}{space}:{space}{first}{space}-{space}{last}{space},{space}");
    }
    text
}

fn set(pieces: &[(usize, u64, u64)]) -> GtidSet {
    GtidSet::parse(&text(pieces, "")).unwrap_or_else(|error| panic!("{error}"))
}

/// Back from a set, checking on the way that it is kept as promised.
fn numbers(set: &GtidSet) -> Model {
    let mut model = Model::new();
    let mut previous = None;
    for (sid, intervals) in set.iter() {
        assert!(previous < Some(sid), "sequences are sorted, each once");
        previous = Some(sid);
        assert!(!intervals.is_empty(), "no sequence is empty");
        for pair in intervals.windows(2) {
            assert!(pair[0].last() + 1 < pair[1].first(), "neighbours are apart");
        }
        let index = sids()
            .iter()
            .position(|s| *s == sid)
            .expect("a known sequence");
        for x in intervals {
            model.extend((x.first()..=x.last()).map(|number| (index, number)));
        }
    }
    model
}

fn last(model: &Model, sid: usize) -> u64 {
    let of_sid = model.range((sid, 0)..=(sid, u64::MAX));
    of_sid.map(|(_, number)| *number).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn reading_keeps_every_transaction(a in pieces(), space in spaces()) {
        let read = GtidSet::parse(&text(&a, space)).unwrap_or_else(|error| panic!("{error}"));
        prop_assert_eq!(numbers(&read), model(&a));
    }

    #[test]
    fn what_is_written_reads_back_the_same(a in pieces()) {
        let a = set(&a);
        prop_assert_eq!(GtidSet::parse(&a.to_string()), Ok(a.clone()));
        prop_assert_eq!(GtidSet::parse(&a.pretty()), Ok(a.clone()));
        let uuids: BTreeSet<Uuid> = a.iter().map(|(sid, _)| sid.uuid).collect();
        prop_assert_eq!(a.pretty().lines().count(), uuids.len());
        prop_assert!(!a.to_string().contains(char::is_whitespace));
    }

    #[test]
    fn sets_combine_like_sets(a in pieces(), b in pieces()) {
        let (x, y, m, n) = (set(&a), set(&b), model(&a), model(&b));
        prop_assert_eq!(numbers(&x.union(&y)), &m | &n);
        prop_assert_eq!(numbers(&x.subtract(&y)), &m - &n);
        prop_assert_eq!(numbers(&x.intersect(&y)), &m & &n);
        prop_assert_eq!(x.contains(&y), n.is_subset(&m));
        prop_assert_eq!(x.count(), m.len() as u64);
        prop_assert_eq!(x.missing_from(&y), (&m - &n).len() as u64);
        prop_assert_eq!(x == y, m == n);
        let (mut joined, mut cut) = (x.clone(), x.clone());
        joined.union_with(&y);
        cut.subtract_with(&y);
        prop_assert_eq!(joined, x.union(&y));
        prop_assert_eq!(cut, x.subtract(&y));
    }

    #[test]
    fn a_union_contains_both_sides(a in pieces(), b in pieces()) {
        let (x, y) = (set(&a), set(&b));
        let both = x.union(&y);
        prop_assert!(both.contains(&x) && both.contains(&y));
        prop_assert!(x.contains(&x.intersect(&y)));
        prop_assert!(x.subtract(&y).intersect(&y).is_empty());
        prop_assert_eq!(x.subtract(&y).union(&x.intersect(&y)), x);
    }

    #[test]
    fn holes_and_what_lies_beyond(a in pieces(), b in pieces()) {
        let (x, y, m, n) = (set(&a), set(&b), model(&a), model(&b));
        let between = |sid: usize| {
            let first = m.range((sid, 0)..).next().map_or(1, |(_, number)| *number);
            (first..=last(&m, sid)).map(move |number| (sid, number))
        };
        let holes: Model = (0..5)
            .filter(|sid| last(&m, *sid) > 0)
            .flat_map(between)
            .filter(|one| !m.contains(one))
            .collect();
        prop_assert_eq!(numbers(&x.holes()), holes);
        let beyond: Model = m.iter().filter(|(sid, number)| *number > last(&n, *sid)).copied().collect();
        prop_assert_eq!(numbers(&x.beyond(&y)), beyond);
        prop_assert_eq!(x.interval_count(), x.iter().map(|(_, intervals)| intervals.len()).sum::<usize>());
    }

    #[test]
    fn a_set_is_split_by_uuid_without_loss(a in pieces()) {
        let x = set(&a);
        let uuid = sids()[0].uuid;
        let (only, without) = (x.only(&uuid), x.without(&uuid));
        prop_assert!(only.iter().all(|(sid, _)| sid.uuid == uuid));
        prop_assert!(without.iter().all(|(sid, _)| sid.uuid != uuid));
        prop_assert_eq!(only.union(&without), x);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow(
        a in prop::collection::vec((0..50u64, 0..10u64), 1..8),
        b in prop::collection::vec((0..50u64, 0..10u64), 1..8),
    ) {
        // Counted down from the largest number, the same sets mirrored.
        let sid = sids()[0];
        let high = |pieces: &[(u64, u64)]| pieces.iter().fold(GtidSet::new(), |mut set, (low, length)| {
            let x = Interval::new(MAX_NUMBER - low - length, MAX_NUMBER - low).expect("in range");
            set.union_with(&GtidSet::of(sid, x));
            set
        });
        let plain = |pieces: &[(u64, u64)]| -> BTreeSet<u64> {
            pieces.iter().flat_map(|(low, length)| *low..=low + length).collect()
        };
        let (x, y, m, n) = (high(&a), high(&b), plain(&a), plain(&b));
        prop_assert_eq!(x.subtract(&y).count(), (&m - &n).len() as u64);
        prop_assert_eq!(x.union(&y).count(), (&m | &n).len() as u64);
        prop_assert_eq!(x.intersect(&y).count(), (&m & &n).len() as u64);
        prop_assert_eq!(x.contains(&y), n.is_subset(&m));
        prop_assert_eq!(GtidSet::parse(&x.to_string()), Ok(x));
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_inside_it(text in "[0-9a-c:,\\- \\n{}\\\\né_]{0,80}") {
        let problems = [
            GtidSet::parse(&text).err(),
            GtidPosition::parse(&text).err(),
            BinlogState::parse(&text).err(),
            Uuid::parse(&text).err(),
        ];
        for error in problems.into_iter().flatten() {
            prop_assert!(error.at <= text.len());
            prop_assert_eq!(&error.text, &text);
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn a_damaged_set_is_read_or_refused_never_a_panic(
        a in pieces(), at in any::<prop::sample::Index>(), put in "[0-9a-z:,\\- é]{0,3}",
    ) {
        let mut damaged = text(&a, "");
        if !damaged.is_empty() {
            let at = at.index(damaged.len());
            damaged.replace_range(at..=at, &put);
        }
        if let Err(error) = GtidSet::parse(&damaged) {
            prop_assert!(error.to_string().contains("[HERE]"));
        }
    }

    #[test]
    fn positions_of_mariadb_agree_with_each_other(
        a in prop::collection::btree_map(0..5u32, (1..4u32, 1..20u64), 0..5),
        b in prop::collection::btree_map(0..5u32, (1..4u32, 1..20u64), 0..5),
    ) {
        let read = |map: &std::collections::BTreeMap<u32, (u32, u64)>| {
            let listed: Vec<String> = map.iter().map(|(d, (s, n))| format!("{d}-{s}-{n}")).collect();
            GtidPosition::parse(&listed.join(",")).expect("a position")
        };
        let (here, there) = (read(&a), read(&b));
        let missing: u64 = b.iter().map(|(d, (_, n))| n.saturating_sub(a.get(d).map_or(0, |x| x.1))).sum();
        prop_assert_eq!(here.behind(&there).total(), missing);
        prop_assert_eq!(here.reached(&there), missing == 0);
        prop_assert_eq!(GtidPosition::parse(&here.to_string()), Ok(here.clone()));
        prop_assert_eq!(here.reached(&there.delta(&here)), here.reached(&there));
    }
}
