//! Real servers as a lab: found on this machine, started on loopback in a folder of their own, thrown away with the value.
//!
//! - [`find`] finds a server's program; `release` knows what that release calls things.
//! - `place` is where they are kept: `template` once for each release, into the user's cache; `folder` keeps the folder of one lab, and
//!   sweeps what a killed program left.
//! - `shape`, `accounts`, `role` and `options` turn a plan into files and statements; `setup` makes it replicate.
//! - `server` is one server's process; `keeper` and `process` see to it that none outlives us.
//! - `forward` is the link that each replica copies by.

pub mod find;

pub(super) mod accounts;
mod folder;
mod forward;
mod keeper;
mod options;
mod place;
mod process;
pub(super) mod release;
pub(super) mod role;
mod server;
mod setup;
pub(super) mod shape;
mod template;
mod trouble;

use std::collections::HashMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use self::accounts::Accounts;
use self::find::Program;
use self::folder::RunFolder;
use self::forward::Forward;
use self::keeper::Keeper;
pub use self::place::{Place, Watch, sweep};
use self::server::{Common, Server};
use self::setup::Setup;
use self::template::Templates;
use self::trouble::{file_trouble, is_confined, no_such_server, too_many, trouble};
use super::bed::{Bed, LinkQuality};
use crate::model::lab::{
    FaultKind, LabAccount, LabAccounts, LabNode, LabPlan, LabServer, MOST_REAL_REPLICAS,
};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};

/// How long servers may take to shut down by themselves at the end: they send their clients away at once; what MySQL does
/// for a second more is for data that goes anyway.
const END_LIMIT: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Running servers.
pub struct Sandbox {
    // In the order of their end: links, servers, the thread that started them, their folder.
    links: HashMap<(LabServer, LabServer), Forward>,
    servers: Vec<Server>,
    keeper: Keeper,
    common: Common,
    _folder: RunFolder,
}

impl Sandbox {
    /// Starts what is planned; returns when all of it replicates. Clears away what killed programs left before.
    pub fn start(plan: &LabPlan, place: &Place, watch: &Watch<'_>) -> Result<Sandbox, Trouble> {
        if plan.replicas > MOST_REAL_REPLICAS {
            return Err(too_many(plan.replicas));
        }
        sweep(place)?;
        (watch.say)(phrase("lab.real.finding"));
        let program = find::find(plan.ground.flavour(), place.program.as_deref())?;
        watch.go_on()?;
        match Sandbox::start_in(&place.cache()?, &program, plan, watch) {
            Err(trouble) if is_confined(&trouble) => place
                .cache_for_confined()
                .and_then(|cache| Sandbox::start_in(&cache, &program, plan, watch).ok())
                .ok_or(trouble),
            ended => ended,
        }
    }

    fn start_in(
        cache: &Path,
        program: &Program,
        plan: &LabPlan,
        watch: &Watch<'_>,
    ) -> Result<Sandbox, Trouble> {
        let keeper = Keeper::start().map_err(|error| file_trouble(cache, &error))?;
        let making = || {
            let release = program.release.name();
            (watch.say)(phrase("lab.real.initialising").with("release", release));
        };
        let templates = Templates {
            folder: &cache.join("templates"),
            keeper: &keeper,
        };
        let template = templates.of(program, making)?;
        watch.go_on()?;
        let folder = RunFolder::create(&place::runs(cache))?;
        let common = Common {
            program: program.clone(),
            accounts: Accounts::random()?,
            template,
            sources: shape::sources(plan.shape),
            semi_sync: plan.semi_sync,
            applier_workers: plan.applier_workers,
        };
        let mut sandbox = Sandbox {
            links: HashMap::new(),
            servers: new_servers(plan, folder.path()),
            keeper,
            common,
            _folder: folder,
        };
        sandbox.start_servers(watch)?;
        sandbox.replicate(watch)?;
        Ok(sandbox)
    }

    /// The release the servers are of, such as `MySQL 9.7.4`.
    pub fn release(&self) -> String {
        self.common.program.release.name()
    }

    /// All at once: most of a start is waiting.
    fn start_servers(&mut self, watch: &Watch<'_>) -> Result<(), Trouble> {
        let count = self.servers.len() as u64;
        (watch.say)(phrase("lab.real.starting").with("n", count));
        let (common, keeper) = (&self.common, &self.keeper);
        thread::scope(|scope| {
            let starting: Vec<_> = self
                .servers
                .iter_mut()
                .map(|server| {
                    scope.spawn(move || server.start_first(common, keeper, watch.is_stopped))
                })
                .collect();
            let ended = starting.into_iter().map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn replicate(&mut self, watch: &Watch<'_>) -> Result<(), Trouble> {
        (watch.say)(phrase("lab.real.replicating"));
        let pairs: Vec<(LabServer, LabServer)> = self
            .servers
            .iter()
            .flat_map(|server| {
                server
                    .part
                    .copies_from
                    .iter()
                    .map(|source| (server.number, *source))
            })
            .collect();
        for (replica, source) in pairs {
            self.link(replica, source)?;
        }
        let setup = Setup {
            common: &self.common,
            servers: &self.servers,
            is_stopped: watch.is_stopped,
        };
        setup.replicate(|replica, source| self.links[&(replica, source)].port())
    }

    fn link(&mut self, replica: LabServer, source: LabServer) -> Result<&Forward, Trouble> {
        use std::collections::hash_map::Entry;
        let source_port = self.server(source)?.port;
        let source_is_up = self.server(source)?.is_up();
        let name = format!("{replica}-{source}");
        self.server(replica)?;
        match self.links.entry((replica, source)) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(free) => {
                let made = Forward::to(source_port, &name).map_err(|error| {
                    trouble(
                        TroubleKind::Unreachable,
                        phrase("lab.real.no_link"),
                        error.to_string(),
                    )
                })?;
                if !source_is_up {
                    made.refuse();
                }
                Ok(free.insert(made))
            }
        }
    }

    fn links_to(&self, source: LabServer) -> impl Iterator<Item = &Forward> {
        let leads_there = move |((_, to), _): &(&(LabServer, LabServer), &Forward)| *to == source;
        self.links.iter().filter(leads_there).map(|(_, link)| link)
    }

    fn server(&self, number: LabServer) -> Result<&Server, Trouble> {
        self.servers
            .get(number)
            .ok_or_else(|| no_such_server(number))
    }
}

fn new_servers(plan: &LabPlan, folder: &Path) -> Vec<Server> {
    shape::servers(plan)
        .into_iter()
        .enumerate()
        .map(|(number, planned)| Server::new(number, planned, folder.join(number.to_string())))
        .collect()
}

impl Bed for Sandbox {
    fn nodes(&self) -> Vec<LabNode> {
        self.servers
            .iter()
            .map(|server| LabNode {
                server: server.number,
                name: server.name.clone(),
                port: server.port,
                copies_from: server.part.copies_from.clone(),
                is_up: server.is_up(),
            })
            .collect()
    }

    fn accounts(&self) -> LabAccounts {
        self.common.accounts.people.clone()
    }

    fn replication(&self) -> LabAccount {
        self.common.accounts.replication.clone()
    }

    fn link_port(&mut self, replica: LabServer, source: LabServer) -> Result<u16, Trouble> {
        self.link(replica, source).map(Forward::port)
    }

    fn pointed(&mut self, server: LabServer, copies_from: &[LabServer]) {
        if let Some(server) = self.servers.get_mut(server) {
            server.part.copies_from = copies_from.to_vec();
        }
        let all: Vec<LabServer> = self
            .servers
            .iter()
            .flat_map(|server| server.part.copies_from.clone())
            .collect();
        for server in &mut self.servers {
            server.part.has_replicas = all.contains(&server.number);
        }
    }

    fn set_link(
        &mut self,
        replica: LabServer,
        source: LabServer,
        quality: LinkQuality,
    ) -> Result<(), Trouble> {
        self.link(replica, source)?.set(quality);
        Ok(())
    }

    fn set_disk(&mut self, _: LabServer, _: Span) -> Result<(), Trouble> {
        Err(cannot(why_no_slow_disk()))
    }

    fn set_clock(&mut self, _: LabServer, _: Span) -> Result<(), Trouble> {
        Err(cannot(why_no_clock_skew()))
    }

    fn kill(&mut self, server: LabServer) -> Result<(), Trouble> {
        self.server(server)?.kill();
        // Nobody listens there any more: who calls shall hear that, not a connection that says nothing.
        self.links_to(server).for_each(Forward::refuse);
        Ok(())
    }

    fn restart(&mut self, number: LabServer) -> Result<(), Trouble> {
        let server = self
            .servers
            .get_mut(number)
            .ok_or_else(|| no_such_server(number))?;
        server.kill();
        server.start_again(&self.common, &self.keeper, &|| false)?;
        self.links_to(number).for_each(Forward::accept_again);
        Ok(())
    }

    fn impossible(&self) -> Vec<(FaultKind, Phrase)> {
        vec![
            (FaultKind::ClockSkew, why_no_clock_skew()),
            (FaultKind::SlowDisk, why_no_slow_disk()),
        ]
    }
}

fn cannot(why: Phrase) -> Trouble {
    trouble(TroubleKind::Unsupported, why, "")
}

fn why_no_clock_skew() -> Phrase {
    phrase("lab.real.impossible.clock_skew")
}

fn why_no_slow_disk() -> Phrase {
    phrase("lab.real.impossible.slow_disk")
}

impl Drop for Sandbox {
    /// First the links: a MySQL source that ends waits some ten seconds for sessions of replicas that do not answer.
    fn drop(&mut self) {
        self.links.clear();
        let admin = &self.common.accounts.people.admin;
        self.servers
            .iter()
            .for_each(|server| server.ask_to_end(admin));
        let give_up_at = Instant::now() + END_LIMIT;
        while self.servers.iter().any(Server::is_up) && Instant::now() < give_up_at {
            thread::sleep(LOOK_EVERY);
        }
        self.servers.iter().for_each(Server::kill);
    }
}
