//! What a topology shall look like, and its start.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use super::config::Tls;
use super::flavour::Flavour;
use super::node::{Node, Part, Setup};
use super::room::{Folder, take_place};
use super::topology::Topology;

/// One source with two replicas, asynchronous and undelayed, unless told otherwise.
#[derive(Clone, Debug)]
pub struct Plan {
    flavour: Flavour,
    replicas: usize,
    shape: Shape,
    semi_sync: bool,
    delays_s: BTreeMap<usize, u32>,
    applier_workers: u32,
    tls: Option<Tls>,
    extra: String,
    extra_of_node: BTreeMap<usize, String>,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Every replica copies from node 0.
    Star,
    /// Every node copies from the one before it.
    Chain,
}

impl Plan {
    pub(super) fn new(flavour: Flavour) -> Self {
        Plan {
            flavour,
            replicas: 2,
            shape: Shape::Star,
            semi_sync: false,
            delays_s: BTreeMap::new(),
            applier_workers: 4,
            tls: None,
            extra: String::new(),
            extra_of_node: BTreeMap::new(),
        }
    }

    pub fn replicas(mut self, count: usize) -> Self {
        self.replicas = count;
        self
    }

    /// Node 2 copies from node 1, node 3 from node 2, …
    pub fn chain(mut self) -> Self {
        self.shape = Shape::Chain;
        self
    }

    /// Switches semi-sync on, time-out 1 s. The plugins are there in any case.
    pub fn semi_sync(mut self, on: bool) -> Self {
        self.semi_sync = on;
        self
    }

    /// Lets one replica apply that many seconds late on purpose.
    pub fn delay(mut self, node: usize, seconds: u32) -> Self {
        self.delays_s.insert(node, seconds);
        self
    }

    pub fn applier_workers(mut self, count: u32) -> Self {
        self.applier_workers = count;
        self
    }

    /// Certificate files for all servers, in PEM. Without them MySQL uses one it made itself, MariaDB 10.11 has no TLS.
    pub fn tls(
        mut self,
        ca: impl Into<PathBuf>,
        cert: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.tls = Some(Tls {
            ca: ca.into(),
            cert: cert.into(),
            key: key.into(),
        });
        self
    }

    /// Lines for the option file of every server; they win over the harness's own.
    pub fn extra_config(mut self, lines: &str) -> Self {
        self.extra += lines;
        self.extra += "\n";
        self
    }

    /// Lines for one server only.
    pub fn extra_config_of(mut self, node: usize, lines: &str) -> Self {
        let extra = self.extra_of_node.entry(node).or_default();
        *extra += lines;
        *extra += "\n";
        self
    }

    /// Starts the servers and returns when all of them replicate, in two or three seconds once the machine has a place.
    ///
    /// # Panics
    /// When the servers were never fetched, or one does not come up: with the end of its log.
    pub fn start(self) -> Topology {
        let _ = self.flavour.program(); // before waiting for a place: without it there is nothing to wait for
        let place = take_place();
        let started = Instant::now();
        let folder = Folder::create();
        let nodes: Vec<Node> = (0..=self.replicas)
            .map(|index| self.node(index, &folder))
            .collect();
        nodes.iter().for_each(Node::spawn);
        nodes.iter().for_each(Node::come_up_on_a_free_port);
        let topology = Topology::new(nodes, folder, place);
        topology.begin_replication();
        eprintln!(
            "{} topology up in {:.1} s",
            self.flavour.name(),
            started.elapsed().as_secs_f64()
        );
        topology
    }

    fn node(&self, index: usize, folder: &Folder) -> Node {
        let copies_from = match self.shape {
            _ if index == 0 => None,
            Shape::Star => Some(0),
            Shape::Chain => Some(index - 1),
        };
        let has_replicas = match self.shape {
            Shape::Star => index == 0 && self.replicas > 0,
            Shape::Chain => index < self.replicas,
        };
        let own_extra = self.extra_of_node.get(&index).map_or("", String::as_str);
        let setup = Setup {
            flavour: self.flavour,
            index,
            dir: folder.path().join(index.to_string()),
            semi_sync: self.semi_sync,
            delay_s: self.delays_s.get(&index).copied().unwrap_or(0),
            applier_workers: self.applier_workers,
            tls: self.tls.clone(),
            extra: format!("{}{own_extra}", self.extra),
        };
        Node::create(
            setup,
            Part {
                copies_from,
                has_replicas,
            },
        )
    }
}
