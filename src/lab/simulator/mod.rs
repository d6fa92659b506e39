//! Servers that are played in this process.
//!
//! - [`world`] is how they replicate, in a time of its own;
//! - [`sql`] is what they hold, and the SQL that reads and writes it;
//! - [`serve`] is what stands in front of both: sessions, and what a server says of itself;
//! - [`Simulator`] builds all of it from a plan and is the ground a lab stands on.
//!
#![doc = include_str!("DIFFERENCES.md")]

pub mod clock;
mod like;

pub mod world;

pub mod sql;

pub mod serve;

mod setup;

pub use clock::SimClock;

use std::sync::{Arc, Mutex};

use super::bed::{Bed, LinkQuality};
use super::wire::{Server, Tls};
use crate::model::lab::{FaultKind, LabAccount, LabAccounts, LabNode, LabPlan, LabServer, Shape};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};
use serve::Service;
use serve::bench::{Bench, SharedBench, lock};
use sql::SqlProblem;

/// A running simulation. Dropping it closes every connection.
pub struct Simulator {
    bench: SharedBench,
    /// `None`: it was killed.
    servers: Vec<Option<Server>>,
    copies_from: Vec<Vec<LabServer>>,
    accounts: LabAccounts,
    replication: LabAccount,
    tls: Option<Tls>,
}

impl Simulator {
    /// Builds the servers of a plan and lets them replicate. Ready at once: what takes time on real servers takes the
    /// simulation's time.
    pub fn start(plan: &LabPlan, clock: SimClock) -> Result<Simulator, Trouble> {
        let tls = match plan.tls {
            true => Some(Tls::new().map_err(|error| no_port(&error))?),
            false => None,
        };
        let built = setup::build(plan, clock).map_err(no_memory)?;
        let mut simulator = Simulator {
            bench: Arc::new(Mutex::new(built.bench)),
            servers: Vec::new(),
            copies_from: copies_from(plan),
            accounts: built.accounts,
            replication: built.replication,
            tls,
        };
        for node in 0..simulator.copies_from.len() {
            let server = simulator.serve(node, 0)?;
            simulator.servers.push(Some(server));
        }
        setup::replicate(
            &mut lock(&simulator.bench),
            plan,
            &simulator.copies_from,
            &simulator.replication,
        );
        Ok(simulator)
    }

    /// Listens; `port` 0 is one of the system's choice.
    fn serve(&self, node: LabServer, port: u16) -> Result<Server, Trouble> {
        let service = Service::new(&self.bench, node);
        let server = Server::start_at(port, self.tls.clone(), service).map_err(|e| no_port(&e))?;
        let mut bench = lock(&self.bench);
        bench.machines[node].port = server.port();
        bench.machines[node].closer = Some(server.closer());
        Ok(server)
    }

    /// The truth behind what the servers say, for tests and comparisons.
    pub fn look<T>(&self, look: impl FnOnce(&mut Bench) -> T) -> T {
        let mut bench = lock(&self.bench);
        bench.catch_up();
        look(&mut bench)
    }
}

fn no_port(error: &std::io::Error) -> Trouble {
    Trouble {
        kind: TroubleKind::Unreachable,
        what: phrase("lab.simulated.no_port"),
        hint: None,
        code: None,
        detail: error.to_string(),
    }
}

fn no_memory(problem: SqlProblem) -> Trouble {
    Trouble {
        kind: TroubleKind::QueryFailed,
        what: phrase("lab.simulated.no_memory"),
        hint: None,
        code: Some(problem.code.into()),
        detail: problem.message,
    }
}

/// Who copies from whom, by the number of the server.
fn copies_from(plan: &LabPlan) -> Vec<Vec<LabServer>> {
    let replicas = plan.replicas as usize;
    match plan.shape {
        Shape::Fan | Shape::Delayed { .. } => {
            let mut all = vec![Vec::new()];
            all.extend(std::iter::repeat_n(vec![0], replicas));
            all
        }
        Shape::Chain => {
            let mut all = vec![Vec::new()];
            all.extend((0..replicas).map(|before| vec![before]));
            all
        }
        Shape::MultiSource => {
            let mut all = vec![Vec::new(), Vec::new()];
            all.extend(std::iter::repeat_n(vec![0, 1], replicas));
            all
        }
    }
}

impl Bed for Simulator {
    fn nodes(&self) -> Vec<LabNode> {
        let bench = lock(&self.bench);
        let machines = bench.machines.iter().zip(&self.copies_from).enumerate();
        machines
            .map(|(server, (machine, copies_from))| LabNode {
                server,
                name: machine.name.clone(),
                port: machine.port,
                copies_from: copies_from.clone(),
                is_up: bench.world.is_up(server),
            })
            .collect()
    }

    fn accounts(&self) -> LabAccounts {
        self.accounts.clone()
    }

    fn replication(&self) -> LabAccount {
        self.replication.clone()
    }

    fn ca_pem(&self) -> Option<String> {
        self.tls.as_ref().map(|tls| tls.ca_pem().to_owned())
    }

    /// Links are the world's: the source's own port leads over the right one, whoever connects.
    fn link_port(&mut self, _replica: LabServer, source: LabServer) -> Result<u16, Trouble> {
        Ok(lock(&self.bench).machines[source].port)
    }

    fn pointed(&mut self, server: LabServer, copies_from: &[LabServer]) {
        self.copies_from[server] = copies_from.to_vec();
    }

    fn set_link(
        &mut self,
        replica: LabServer,
        source: LabServer,
        quality: LinkQuality,
    ) -> Result<(), Trouble> {
        self.look(|bench| bench.world.set_link(replica, source, quality));
        Ok(())
    }

    fn set_disk(&mut self, server: LabServer, slower_by: Span) -> Result<(), Trouble> {
        self.look(|bench| bench.world.set_disk(server, slower_by));
        Ok(())
    }

    fn set_clock(&mut self, server: LabServer, ahead_by: Span) -> Result<(), Trouble> {
        self.look(|bench| {
            bench.world.set_clock(server, ahead_by);
            bench.world.engine_mut(server).clock_ahead = ahead_by;
        });
        Ok(())
    }

    fn kill(&mut self, server: LabServer) -> Result<(), Trouble> {
        self.look(|bench| {
            bench.world.kill(server);
            bench.forget(server);
        });
        // Nobody listens any more, and every connection breaks.
        self.servers[server] = None;
        Ok(())
    }

    fn restart(&mut self, server: LabServer) -> Result<(), Trouble> {
        if self.servers[server].is_some() {
            return Ok(());
        }
        let port = lock(&self.bench).machines[server].port;
        let listening = self.serve(server, port)?;
        self.servers[server] = Some(listening);
        self.look(|bench| bench.world.restart(server));
        Ok(())
    }

    fn impossible(&self) -> Vec<(FaultKind, Phrase)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_say_who_copies_from_whom() {
        let of = |shape, replicas| {
            copies_from(&LabPlan {
                shape,
                replicas,
                ..LabPlan::default()
            })
        };
        assert_eq!(of(Shape::Fan, 2), [vec![], vec![0], vec![0]]);
        assert_eq!(of(Shape::Chain, 3), [vec![], vec![0], vec![1], vec![2]]);
        assert_eq!(of(Shape::MultiSource, 1), [vec![], vec![], vec![0, 1]]);
    }
}
