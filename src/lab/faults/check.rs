//! What cannot be made now, and why: decided before anything is touched.

use super::{name, trouble};
use crate::model::lab::{Aim, Fault, FaultKind, LabNode, LabServer};
use crate::model::phrase::{Phrase, phrase};
use crate::model::trouble::Trouble;

/// The lab as the check sees it.
pub struct Scene<'a> {
    pub nodes: &'a [LabNode],
    /// In force, or just being made.
    pub active: &'a [Fault],
    pub impossible: &'a [(FaultKind, Phrase)],
}

pub fn why_not(fault: &Fault, scene: &Scene<'_>) -> Option<Trouble> {
    let Some(node) = scene.nodes.iter().find(|node| node.server == fault.on) else {
        return Some(trouble(phrase("lab.trouble.no_server")));
    };
    impossible(fault.kind, scene)
        .or_else(|| wrong_part(fault.kind, node))
        .or_else(|| in_the_way(fault, scene))
        .or_else(|| down(fault.kind, node, scene))
        .or_else(|| no_swap(fault, node, scene))
}

/// What stands against undoing it now.
pub fn why_not_undone(fault: &Fault, scene: &Scene<'_>) -> Option<Trouble> {
    if fault.kind != FaultKind::SwapRoles {
        return None;
    }
    let others = scene.active.iter().filter(|other| *other != fault);
    blocker_of_a_swap(others, scene.nodes)
}

fn impossible(kind: FaultKind, scene: &Scene<'_>) -> Option<Trouble> {
    let (_, why) = scene.impossible.iter().find(|(k, _)| *k == kind)?;
    Some(trouble(why.clone()))
}

fn wrong_part(kind: FaultKind, node: &LabNode) -> Option<Trouble> {
    let copies = !node.copies_from.is_empty();
    let what = match kind.aim() {
        Aim::Replica if !copies => "lab.trouble.no_replica",
        Aim::Source if copies => "lab.trouble.no_source",
        _ => return None,
    };
    Some(trouble(phrase(what).with("server", node.name.as_str())))
}

fn down(kind: FaultKind, node: &LabNode, scene: &Scene<'_>) -> Option<Trouble> {
    // A link is ours, whoever stands at its ends.
    let is_link = matches!(
        kind,
        FaultKind::LinkLatency | FaultKind::LinkBandwidth | FaultKind::LinkCut
    );
    let mut needed = vec![node.server];
    if matches!(kind, FaultKind::SwapRoles | FaultKind::BreakApplier) {
        needed.extend(scene.nodes.iter().map(|node| node.server));
    }
    let is_down = |node: &&LabNode| !node.is_up && needed.contains(&node.server);
    let node = scene.nodes.iter().find(is_down).filter(|_| !is_link)?;
    Some(trouble(
        phrase("lab.trouble.down").with("server", node.name.as_str()),
    ))
}

fn in_the_way(fault: &Fault, scene: &Scene<'_>) -> Option<Trouble> {
    if fault.kind == FaultKind::SwapRoles {
        return blocker_of_a_swap(scene.active.iter(), scene.nodes);
    }
    let blocker = scene
        .active
        .iter()
        .find(|other| excludes(other, fault, scene.nodes))?;
    Some(undo_first(blocker, scene.nodes))
}

/// The fault that is there makes the new one fail, hang, or mean nothing.
fn excludes(there: &Fault, new: &Fault, nodes: &[LabNode]) -> bool {
    use FaultKind::{
        BigTransaction, BreakApplier, KillServer, LinkCut, LockTable, PlannedDelay, SourceReadOnly,
        StopApplier, StopReceiver, WriteOnReplica,
    };
    if there.kind == new.kind && there.on == new.on {
        return true;
    }
    let same = there.on == new.on;
    match (there.kind, new.kind) {
        // A blocked applier does not stop, and super_read_only does not change over it.
        (LockTable, StopApplier | PlannedDelay | BreakApplier | WriteOnReplica) => same,
        // Nothing arrives that could break it, or nobody applies it.
        (LinkCut | StopReceiver | StopApplier, BreakApplier) => same,
        (SourceReadOnly, BreakApplier) => is_above(there.on, new.on, nodes),
        (BreakApplier, StopApplier) => same,
        (SourceReadOnly, BigTransaction) => same,
        (KillServer, kind) => same && kind != KillServer,
        _ => false,
    }
}

/// `source` is one of those from which everything on `server` comes.
fn is_above(source: LabServer, server: LabServer, nodes: &[LabNode]) -> bool {
    let mut reached = vec![server];
    let mut next = 0;
    while let Some(at) = reached.get(next).copied() {
        next += 1;
        for node in nodes.iter().filter(|node| node.server == at) {
            for from in &node.copies_from {
                if !reached.contains(from) {
                    reached.push(*from);
                }
            }
        }
    }
    reached[1..].contains(&source)
}

/// A swap touches every server, and waits for all to have everything.
fn blocker_of_a_swap<'a>(
    mut active: impl Iterator<Item = &'a Fault>,
    nodes: &[LabNode],
) -> Option<Trouble> {
    let gets_along = |kind| {
        matches!(
            kind,
            FaultKind::LinkLatency
                | FaultKind::LinkBandwidth
                | FaultKind::SlowReaders
                | FaultKind::SlowDisk
                | FaultKind::ClockSkew
        )
    };
    let blocker = active.find(|fault| !gets_along(fault.kind))?;
    Some(undo_first(blocker, nodes))
}

fn undo_first(blocker: &Fault, nodes: &[LabNode]) -> Trouble {
    let server = nodes
        .iter()
        .find(|node| node.server == blocker.on)
        .map_or("", |node| node.name.as_str());
    trouble(
        phrase("lab.trouble.undo_first")
            .with("fault", name(blocker.kind))
            .with("server", server),
    )
}

/// Only one source can be swapped in order, and only with a replica of its own.
fn no_swap(fault: &Fault, node: &LabNode, scene: &Scene<'_>) -> Option<Trouble> {
    if fault.kind != FaultKind::SwapRoles {
        return None;
    }
    let copies_nobody = |server: &LabServer| {
        scene
            .nodes
            .iter()
            .any(|node| node.server == *server && node.copies_from.is_empty())
    };
    let why = match node.copies_from.as_slice() {
        [source] if copies_nobody(source) => return None,
        [_] => "lab.trouble.swap_in_the_middle",
        _ => "lab.trouble.swap_many_sources",
    };
    Some(trouble(phrase(why).with("server", node.name.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Vec<LabNode> {
        let node = |server, copies_from: &[LabServer]| LabNode {
            server,
            name: format!("server-{server}"),
            port: 1,
            copies_from: copies_from.to_vec(),
            is_up: true,
        };
        vec![node(0, &[]), node(1, &[0]), node(2, &[1])]
    }

    fn fault(kind: FaultKind, on: LabServer) -> Fault {
        Fault {
            kind,
            on,
            intensity: 1.0,
            lasts: None,
        }
    }

    fn why(new: Fault, active: &[Fault]) -> Option<&'static str> {
        let nodes = nodes();
        let scene = Scene {
            nodes: &nodes,
            active,
            impossible: &[],
        };
        why_not(&new, &scene).map(|trouble| trouble.what.key)
    }

    #[test]
    fn a_fault_is_made_only_on_the_kind_of_server_it_is_for() {
        use FaultKind::{SourceReadOnly, StopApplier};
        assert_eq!(why(fault(StopApplier, 1), &[]), None);
        assert_eq!(
            why(fault(StopApplier, 0), &[]),
            Some("lab.trouble.no_replica")
        );
        assert_eq!(
            why(fault(SourceReadOnly, 1), &[]),
            Some("lab.trouble.no_source")
        );
        assert_eq!(
            why(fault(StopApplier, 7), &[]),
            Some("lab.trouble.no_server")
        );
    }

    #[test]
    fn the_same_fault_is_not_made_twice_on_one_server() {
        use FaultKind::{LinkBandwidth, LinkLatency};
        let active = [fault(LinkLatency, 1)];
        assert_eq!(
            why(fault(LinkLatency, 1), &active),
            Some("lab.trouble.undo_first")
        );
        assert_eq!(why(fault(LinkLatency, 2), &active), None);
        assert_eq!(why(fault(LinkBandwidth, 1), &active), None);
    }

    #[test]
    fn what_would_hang_on_a_lock_is_refused() {
        use FaultKind::{LockTable, StopApplier, StopReceiver};
        let active = [fault(LockTable, 1)];
        assert_eq!(
            why(fault(StopApplier, 1), &active),
            Some("lab.trouble.undo_first")
        );
        assert_eq!(why(fault(StopReceiver, 1), &active), None);
        assert_eq!(why(fault(StopApplier, 2), &active), None);
    }

    #[test]
    fn a_row_that_cannot_arrive_breaks_nothing() {
        use FaultKind::{BreakApplier, SourceReadOnly, StopReceiver};
        for (there, refused) in [
            (fault(StopReceiver, 2), true),
            (fault(StopReceiver, 1), false),
            (fault(SourceReadOnly, 0), true),
        ] {
            let said = why(fault(BreakApplier, 2), &[there]);
            assert_eq!(said.is_some(), refused, "{there:?}");
        }
    }

    #[test]
    fn roles_are_swapped_only_in_an_orderly_lab() {
        use FaultKind::{LinkLatency, SlowDisk, StopApplier, SwapRoles};
        assert_eq!(why(fault(SwapRoles, 1), &[]), None);
        assert_eq!(
            why(fault(SwapRoles, 2), &[]),
            Some("lab.trouble.swap_in_the_middle")
        );
        assert_eq!(
            why(fault(SwapRoles, 1), &[fault(StopApplier, 2)]),
            Some("lab.trouble.undo_first")
        );
        let harmless = [fault(LinkLatency, 2), fault(SlowDisk, 0)];
        assert_eq!(why(fault(SwapRoles, 1), &harmless), None);
    }

    #[test]
    fn a_swap_is_not_undone_over_a_younger_fault() {
        let nodes = nodes();
        let swap = fault(FaultKind::SwapRoles, 1);
        let scene = |active| Scene {
            nodes: &nodes,
            active,
            impossible: &[],
        };
        let alone = [swap];
        let busy = [swap, fault(FaultKind::StopReceiver, 2)];
        assert!(why_not_undone(&swap, &scene(&alone)).is_none());
        assert!(why_not_undone(&swap, &scene(&busy)).is_some());
    }

    #[test]
    fn nothing_is_asked_of_a_server_that_is_down() {
        let mut nodes = nodes();
        nodes[2].is_up = false;
        let scene = Scene {
            nodes: &nodes,
            active: &[],
            impossible: &[],
        };
        let why = |kind, on| why_not(&fault(kind, on), &scene).map(|t| t.what.key);
        assert_eq!(why(FaultKind::LockTable, 2), Some("lab.trouble.down"));
        assert_eq!(why(FaultKind::SwapRoles, 1), Some("lab.trouble.down"));
        assert_eq!(why(FaultKind::LinkCut, 2), None);
    }
}
