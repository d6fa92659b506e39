//! Percentiles of a lag series over a window. Gaps are not values: they shrink the count, never the percentile.

use crate::model::time::Span;

/// p50, p95, p99 and the maximum of what was measured in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    pub p50: Span,
    pub p95: Span,
    pub p99: Span,
    pub max: Span,
    pub count: usize,
}

/// By nearest rank (the smallest value with at least that share at or below it); `None` without a value.
pub fn summarise(values: impl IntoIterator<Item = Span>) -> Option<Summary> {
    let mut sorted: Vec<Span> = values.into_iter().collect();
    sorted.sort_unstable();
    let max = *sorted.last()?;
    let rank = |share: f64| {
        sorted[((share * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1]
    };
    Some(Summary {
        p50: rank(0.50),
        p95: rank(0.95),
        p99: rank(0.99),
        max,
        count: sorted.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let summary = summarise((1..=100).rev().map(Span::from_millis)).unwrap();
        assert_eq!(
            summary,
            Summary {
                p50: Span::from_millis(50),
                p95: Span::from_millis(95),
                p99: Span::from_millis(99),
                max: Span::from_millis(100),
                count: 100
            }
        );
    }

    #[test]
    fn no_value_has_no_percentile() {
        assert_eq!(summarise([]), None);
    }
}
