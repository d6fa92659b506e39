//! Intervals of transaction numbers and the algebra of sorted lists of them.
//!
//! A list is sorted, and between two neighbours at least one number is missing. Each operation walks both lists once
//! and appends to `out`, which may already hold the intervals of other sequences.

/// The last number MySQL hands out: its parser refuses 2⁶³ − 1, which it keeps as the end mark.
pub const MAX_NUMBER: u64 = i64::MAX as u64 - 1;

/// Transactions `first` to `last`, both included; 1 ≤ first ≤ last ≤ [`MAX_NUMBER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    first: u64,
    last: u64,
}

impl Interval {
    /// `None` where the bounds are out of range or the wrong way round.
    pub const fn new(first: u64, last: u64) -> Option<Self> {
        if first >= 1 && first <= last && last <= MAX_NUMBER {
            Some(Interval { first, last })
        } else {
            None
        }
    }

    pub const fn first(self) -> u64 {
        self.first
    }

    pub const fn last(self) -> u64 {
        self.last
    }

    /// How many transactions; never 0.
    pub const fn count(self) -> u64 {
        self.last - self.first + 1
    }

    pub const fn contains(self, number: u64) -> bool {
        self.first <= number && number <= self.last
    }
}

/// Appends to the list that begins at `start`, joining with its last interval where the two touch or overlap. The
/// intervals have to come sorted by their first number.
pub(super) fn push_joined(out: &mut Vec<Interval>, start: usize, next: Interval) {
    match out[start..].last_mut() {
        Some(last) if next.first <= last.last + 1 => last.last = last.last.max(next.last),
        _ => out.push(next),
    }
}

pub(super) fn union(a: &[Interval], b: &[Interval], out: &mut Vec<Interval>) {
    let start = out.len();
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.first <= y.first {
            push_joined(out, start, *x);
            i += 1;
        } else {
            push_joined(out, start, *y);
            j += 1;
        }
    }
    for rest in a[i..].iter().chain(&b[j..]) {
        push_joined(out, start, *rest);
    }
}

pub(super) fn subtract(a: &[Interval], b: &[Interval], out: &mut Vec<Interval>) {
    let mut j = 0;
    for &Interval { mut first, last } in a {
        while b.get(j).is_some_and(|cut| cut.last < first) {
            j += 1;
        }
        // A cut that reaches past this interval may reach into the next: it is not used up.
        while let Some(cut) = b.get(j).filter(|cut| cut.first <= last) {
            if cut.first > first {
                out.push(Interval {
                    first,
                    last: cut.first - 1,
                });
            }
            first = cut.last + 1;
            if first > last {
                break;
            }
            j += 1;
        }
        if first <= last {
            out.push(Interval { first, last });
        }
    }
}

pub(super) fn intersect(a: &[Interval], b: &[Interval], out: &mut Vec<Interval>) {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let first = x.first.max(y.first);
        let last = x.last.min(y.last);
        if first <= last {
            out.push(Interval { first, last });
        }
        if x.last < y.last {
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// Whether every number of `b` is in `a`.
pub(super) fn contains(a: &[Interval], b: &[Interval]) -> bool {
    let mut i = 0;
    b.iter().all(|part| {
        while a.get(i).is_some_and(|whole| whole.last < part.first) {
            i += 1;
        }
        a.get(i)
            .is_some_and(|whole| whole.first <= part.first && part.last <= whole.last)
    })
}

/// How many numbers of `a` are not in `b`; saturating.
pub(super) fn count_missing(a: &[Interval], b: &[Interval]) -> u64 {
    let total = a.iter().fold(0u64, |sum, x| sum.saturating_add(x.count()));
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let first = x.first.max(y.first);
        let last = x.last.min(y.last);
        if first <= last {
            shared += last - first + 1;
        }
        if x.last < y.last {
            i += 1;
        } else {
            j += 1;
        }
    }
    total - shared
}

/// What is missing between the intervals of `a`.
pub(super) fn gaps(a: &[Interval], out: &mut Vec<Interval>) {
    out.extend(a.windows(2).map(|pair| Interval {
        first: pair[0].last + 1,
        last: pair[1].first - 1,
    }));
}

/// The part of `a` above `number`.
pub(super) fn above(a: &[Interval], number: u64, out: &mut Vec<Interval>) {
    let from = a.partition_point(|x| x.last <= number);
    out.extend(a[from..].iter().map(|x| Interval {
        first: x.first.max(number + 1),
        last: x.last,
    }));
}
