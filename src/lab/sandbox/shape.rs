//! Who copies from whom in a plan, and what each server is called.

use crate::model::lab::{LabPlan, LabServer, Shape};
use crate::model::time::Span;

/// A server's place in the topology. Changes when roles do; a restart follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lab) struct Part {
    pub copies_from: Vec<LabServer>,
    /// Somebody copies from it.
    pub has_replicas: bool,
}

/// A server as planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lab) struct Planned {
    pub name: String,
    pub part: Part,
    pub delay: Span,
}

/// All servers of a plan in the order of their numbers; sources come first.
pub(in crate::lab) fn servers(plan: &LabPlan) -> Vec<Planned> {
    let sources = sources(plan.shape);
    let replicas = plan.replicas as usize;
    let all = sources + replicas;
    (0..all)
        .map(|number| Planned {
            name: name(number, sources),
            part: Part {
                copies_from: copies_from(plan.shape, number),
                has_replicas: has_replicas(plan.shape, number, all),
            },
            delay: match plan.shape {
                Shape::Delayed { delay } if number > 0 && number == all - 1 => delay,
                _ => Span::ZERO,
            },
        })
        .collect()
}

pub(in crate::lab) fn sources(shape: Shape) -> usize {
    match shape {
        Shape::MultiSource => 2,
        Shape::Fan | Shape::Chain | Shape::Delayed { .. } => 1,
    }
}

fn name(number: usize, sources: usize) -> String {
    match number {
        0 if sources == 1 => "source".to_owned(),
        _ if number < sources => format!("source-{}", number + 1),
        _ => format!("replica-{}", number + 1 - sources),
    }
}

fn copies_from(shape: Shape, number: usize) -> Vec<LabServer> {
    match shape {
        _ if number < sources(shape) => Vec::new(),
        Shape::Fan | Shape::Delayed { .. } => vec![0],
        Shape::Chain => vec![number - 1],
        Shape::MultiSource => vec![0, 1],
    }
}

fn has_replicas(shape: Shape, number: usize, all: usize) -> bool {
    match shape {
        Shape::Chain => number + 1 < all,
        _ => number < sources(shape) && all > sources(shape),
    }
}

/// The channel by which one of several sources is copied; the default channel where there is one source.
pub(in crate::lab) fn channel(copies_from: &[LabServer], source: LabServer) -> Option<String> {
    (copies_from.len() > 1).then(|| format!("source-{}", source + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(shape: Shape, replicas: u32) -> Vec<(String, Vec<usize>, bool)> {
        servers(&LabPlan {
            shape,
            replicas,
            ..LabPlan::default()
        })
        .into_iter()
        .map(|s| (s.name, s.part.copies_from, s.part.has_replicas))
        .collect()
    }

    fn row(name: &str, copies_from: &[usize], has_replicas: bool) -> (String, Vec<usize>, bool) {
        (name.to_owned(), copies_from.to_vec(), has_replicas)
    }

    #[test]
    fn every_shape_is_drawn() {
        assert_eq!(
            drawn(Shape::Fan, 2),
            [
                row("source", &[], true),
                row("replica-1", &[0], false),
                row("replica-2", &[0], false)
            ]
        );
        assert_eq!(
            drawn(Shape::Chain, 2),
            [
                row("source", &[], true),
                row("replica-1", &[0], true),
                row("replica-2", &[1], false)
            ]
        );
        assert_eq!(
            drawn(Shape::MultiSource, 1),
            [
                row("source-1", &[], true),
                row("source-2", &[], true),
                row("replica-1", &[0, 1], false)
            ]
        );
        assert_eq!(drawn(Shape::Chain, 0), [row("source", &[], false)]);
    }

    #[test]
    fn only_the_last_replica_is_late_on_purpose() {
        let delay = Span::from_secs(30);
        let delays = |replicas| -> Vec<Span> {
            servers(&LabPlan {
                shape: Shape::Delayed { delay },
                replicas,
                ..LabPlan::default()
            })
            .into_iter()
            .map(|s| s.delay)
            .collect()
        };
        assert_eq!(delays(2), [Span::ZERO, Span::ZERO, delay]);
        assert_eq!(delays(0), [Span::ZERO]);
    }
}
