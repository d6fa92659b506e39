//! A source and its replicas, and what is done to all of them at once.

use std::sync::Arc;
use std::time::Duration;

use super::flavour::{Flavour, Pointing};
use super::node::{Node, Part};
use super::plan::Plan;
use super::room::{Folder, Place};
use super::wait::wait_for;

const CATCH_UP_LIMIT: Duration = Duration::from_secs(60);

pub struct Topology {
    // In the order of their end: servers, their folder, the place on the machine.
    nodes: Vec<Node>,
    _folder: Folder,
    _place: Arc<Place>,
}

impl Topology {
    pub fn mysql() -> Plan {
        Plan::new(Flavour::MySql)
    }

    pub fn mariadb() -> Plan {
        Plan::new(Flavour::MariaDb)
    }

    pub(super) fn new(nodes: Vec<Node>, folder: Folder, place: Arc<Place>) -> Self {
        Topology {
            nodes,
            _folder: folder,
            _place: place,
        }
    }

    /// Numbered for good; a swap of roles leaves the numbers.
    pub fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that copies from nobody.
    pub fn source(&self) -> &Node {
        self.nodes
            .iter()
            .find(|node| node.copies_from().is_none())
            .expect("a topology always has a source")
    }

    /// All nodes but the source.
    pub fn replicas(&self) -> impl Iterator<Item = &Node> {
        self.nodes
            .iter()
            .filter(|node| node.copies_from().is_some())
    }

    /// Waits until both threads of every running replica run, everything its own source had committed is applied, and,
    /// with semi-sync on, every source counts its running replicas. A delayed replica is waited for as well.
    #[track_caller]
    pub fn replicating(&self) {
        for replica in self.replicas().filter(|replica| replica.is_running()) {
            let Some(source) = replica
                .copies_from()
                .map(|index| self.node(index))
                .filter(|node| node.is_running())
            else {
                continue;
            };
            let committed: String = source.value(source.flavour().committed());
            let limit = CATCH_UP_LIMIT + Duration::from_secs(replica.delay_s().into());
            wait_for(&format!("{replica:?} to replicate"), limit, || {
                replica.threads_running()?;
                has_applied(replica, &committed)
            });
        }
        for source in self
            .nodes
            .iter()
            .filter(|node| node.is_running() && node.semi_sync().as_source)
        {
            wait_for(
                &format!("{source:?} to count its semi-sync replicas"),
                CATCH_UP_LIMIT,
                || self.counts_all(source),
            );
        }
    }

    fn counts_all(&self, source: &Node) -> Result<(), String> {
        let mine = |node: &&Node| node.copies_from() == Some(source.index()) && node.is_running();
        let expected = self.nodes.iter().filter(mine).count();
        let rows: Vec<(String, usize)> =
            source.rows("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_%_clients'");
        let counted = rows.first().map_or(0, |(_, clients)| *clients);
        if counted == expected {
            Ok(())
        } else {
            Err(format!("it counts {counted} of {expected}"))
        }
    }

    pub(super) fn begin_replication(&self) {
        for replica in self.replicas() {
            self.point(replica);
            replica.sql(replica.flavour().start_replica());
        }
        self.replicating();
    }

    fn point(&self, replica: &Node) {
        let Some(source) = replica.copies_from() else {
            return;
        };
        let pointing = Pointing {
            source_port: self.node(source).port(),
            delay_s: replica.delay_s(),
        };
        replica.sql(&replica.flavour().point_at_source(&pointing));
    }

    /// A planned switch-over without losing a transaction: the given replica of the source becomes the source, the old
    /// source and its other replicas copy from it. Restarts keep the new roles.
    pub fn swap_roles(&self, new_source: usize) {
        let old = self.source();
        let new = self.node(new_source);
        let flavour = old.flavour();
        assert_eq!(
            new.copies_from(),
            Some(old.index()),
            "{new:?} is not a replica of the source {old:?}"
        );

        old.sql(flavour.refuse_writes());
        let committed: String = old.value(flavour.committed());
        wait_for(
            &format!("{new:?} to have everything"),
            CATCH_UP_LIMIT,
            || has_applied(new, &committed),
        );
        new.sql(flavour.stop_replica());
        new.sql(flavour.forget_source());

        self.hand_over_parts(old, new);
        for node in &self.nodes {
            let semi_sync = node.semi_sync();
            node.sql(&flavour.set_semi_sync(semi_sync.as_source, semi_sync.as_replica));
        }
        new.sql(flavour.accept_writes());
        if let Some(statement) = flavour.continue_from_own_binlog() {
            old.sql(statement);
        }
        for replica in self
            .replicas()
            .filter(|replica| replica.copies_from() == Some(new.index()))
        {
            replica.sql(flavour.stop_replica());
            self.point(replica);
            replica.sql(flavour.start_replica());
        }
        self.replicating();
    }

    fn hand_over_parts(&self, old: &Node, new: &Node) {
        for node in self
            .replicas()
            .filter(|node| node.copies_from() == Some(old.index()))
        {
            node.set_part(Part {
                copies_from: Some(new.index()),
                ..node.part()
            });
        }
        new.set_part(Part {
            copies_from: None,
            has_replicas: true,
        });
        old.set_part(Part {
            copies_from: Some(new.index()),
            has_replicas: false,
        });
    }
}

fn has_applied(replica: &Node, committed: &str) -> Result<(), String> {
    let flavour = replica.flavour();
    if committed.is_empty() || replica.value::<i64>(&flavour.has_applied(committed)) == 1 {
        return Ok(());
    }
    Err(format!(
        "it has {} of {committed}",
        replica.value::<String>(flavour.committed())
    ))
}

impl Drop for Topology {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for node in &self.nodes {
                node.errors_logged()
                    .iter()
                    .for_each(|line| eprintln!("{node:?} logged: {line}"));
            }
        }
        // All at once, so that each node's own end finds nothing left to wait for.
        self.nodes
            .iter()
            .for_each(|node| node.signal(libc::SIGKILL));
    }
}
