//! One side of the comparison: a topology, and the hands to change it.

use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row, Value};
use replicascope::lab::bed::Bed;
use replicascope::lab::sandbox::{Place, Sandbox, Watch};
use replicascope::lab::simulator::{SimClock, Simulator};
use replicascope::link::{Depth, Dial, Link, Purpose};
use replicascope::model::lab::{Generation, Ground, LabPlan};
use replicascope::model::sample::Sample;
use replicascope::model::server::Flavour;
use replicascope::mysql::{Address, Dialer, Endpoint};

use super::servers;

const SOON: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// One source and two replicas.
pub struct Stand {
    pub name: &'static str,
    bed: Box<dyn Bed>,
    ports: Vec<u16>,
    links: Vec<Option<Box<dyn Link>>>,
}

impl Stand {
    pub fn real() -> Stand {
        let mut stand = Stand::real_of(Flavour::MySql, servers::Flavour::MySql);
        stand.settle();
        stand
    }

    pub fn real_mariadb() -> Stand {
        Stand::real_of(Flavour::MariaDb, servers::Flavour::MariaDb)
    }

    fn real_of(flavour: Flavour, program: servers::Flavour) -> Stand {
        let plan = LabPlan {
            ground: Ground::Real(flavour),
            ..LabPlan::default()
        };
        let place = Place {
            program: Some(program.program()),
            ..Place::default()
        };
        let watch = Watch {
            say: &|_| {},
            is_stopped: &|| false,
        };
        let sandbox = Sandbox::start(&plan, &place, &watch).expect("real servers start");
        Stand::over("real", Box::new(sandbox))
    }

    pub fn simulated() -> Stand {
        let mut stand = Stand::simulated_of(Generation::MySql97);
        stand.settle();
        stand
    }

    pub fn simulated_of(generation: Generation) -> Stand {
        let plan = LabPlan {
            ground: Ground::Simulated(generation),
            ..LabPlan::default()
        };
        let simulator = Simulator::start(&plan, SimClock::wall()).expect("loopback has free ports");
        Stand::over("simulated", Box::new(simulator))
    }

    fn over(name: &'static str, bed: Box<dyn Bed>) -> Stand {
        let ports: Vec<u16> = bed.nodes().iter().map(|node| node.port).collect();
        Stand {
            name,
            links: ports.iter().map(|_| None).collect(),
            bed,
            ports,
        }
    }

    pub fn servers(&self) -> usize {
        self.ports.len()
    }

    pub fn kill(&mut self, server: usize) {
        self.links[server] = None;
        self.bed
            .kill(server)
            .expect("a running server can be killed");
    }

    pub fn restart(&mut self, server: usize) {
        self.bed
            .restart(server)
            .expect("a killed server starts again");
    }

    /// A session of the account that may do anything.
    pub fn session(&self, server: usize) -> Conn {
        self.try_session(server).expect("the server is up")
    }

    fn try_session(&self, server: usize) -> mysql::Result<Conn> {
        let admin = self.bed.accounts().admin;
        let options = OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(self.ports[server])
            .user(Some(admin.user))
            .pass(Some(admin.password.expose()))
            .prefer_socket(false)
            .read_timeout(Some(SOON));
        Conn::new(options)
    }

    pub fn sql(&self, server: usize, statements: &[&str]) {
        let mut session = self.session(server);
        for statement in statements {
            session
                .query_drop(statement)
                .unwrap_or_else(|error| panic!("{} {statement}: {error}", self.name));
        }
    }

    pub fn value(&self, server: usize, query: &str) -> String {
        let row: Option<Row> = self.session(server).query_first(query).expect(query);
        match row.map(Row::unwrap).and_then(|mut values| values.pop()) {
            Some(Value::Bytes(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            other => format!("{other:?}"),
        }
    }

    /// The first row of an answer with the names of its columns; none where there is no row.
    pub fn row(&self, server: usize, query: &str) -> Vec<(String, Option<String>)> {
        let row: Option<Row> = self.session(server).query_first(query).expect(query);
        let Some(row) = row else { return Vec::new() };
        let names = row.columns();
        let names = names.iter().map(|column| column.name_str().into_owned());
        let text = |value: Value| match value {
            Value::NULL => None,
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            other => Some(format!("{other:?}")),
        };
        names.zip(row.unwrap().into_iter().map(text)).collect()
    }

    /// Points a replica at the source anew, as when the lab began.
    pub fn point(&mut self, replica: usize) {
        let account = self.bed.replication();
        let port = self
            .bed
            .link_port(replica, 0)
            .expect("a link to the source");
        let change = format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = '{}', \
             SOURCE_PASSWORD = '{}', SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1, GET_SOURCE_PUBLIC_KEY = 1",
            account.user,
            account.password.expose()
        );
        self.sql(replica, &[&change, "START REPLICA"]);
    }

    /// One poll of everything, as the watching account.
    pub fn poll(&mut self, server: usize) -> Option<Sample> {
        if self.links[server]
            .as_ref()
            .is_none_or(|link| link.is_spoiled())
        {
            self.links[server] = self.dialer(server).dial(Purpose::Poll).ok();
        }
        let link = self.links[server].as_mut()?;
        link.poll(Depth::Full).ok()?;
        link.poll(Depth::Suspicious).ok()
    }

    fn dialer(&self, server: usize) -> Dialer {
        let watcher = self.bed.accounts().watcher;
        let address = Address::Tcp {
            host: "127.0.0.1".to_owned(),
            port: self.ports[server],
        };
        let password = watcher.password.expose();
        Dialer::new(Endpoint::new(address, watcher.user, Some(password)))
    }

    /// Polls until the condition holds.
    #[track_caller]
    pub fn poll_until(
        &mut self,
        server: usize,
        what: &str,
        mut holds: impl FnMut(&Sample) -> bool,
    ) -> Sample {
        let give_up_at = Instant::now() + SOON;
        let mut last = None;
        while Instant::now() < give_up_at {
            if let Some(sample) = self.poll(server) {
                if holds(&sample) {
                    return sample;
                }
                last = Some(sample);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        panic!("{}: {what} was not seen; last {last:#?}", self.name);
    }

    /// Waits until both threads of each replica run and everything committed on the source is applied there.
    #[track_caller]
    pub fn settle(&mut self) {
        let executed = |stand: &Stand| stand.value(0, "SELECT @@GLOBAL.gtid_executed");
        let set = executed(self);
        for replica in 1..self.servers() {
            self.poll_until(replica, "replication", |sample| {
                sample
                    .channels()
                    .iter()
                    .any(|channel| channel.receiver.is_running() && channel.applier.is_running())
            });
            let reached = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{set}', 60)");
            assert_eq!(self.value(replica, &reached), "0", "{}", self.name);
        }
        self.poll_until(0, "semi-sync in force", |sample| {
            let source = sample.semi_sync.value().and_then(|s| s.source.as_ref());
            source.is_some_and(|source| source.active == Some(true) && source.clients == Some(2))
        });
    }
}
