//! Watches a topology of the tests as the program does: the same threads, the same store, the same rules, no display.
//!
//! ```ignore
//! let mut watching = Watching::of(&topology).start();
//! watching.until("the applier to be seen stopped", SOON, |view| view.health(1) == Health::Stopped);
//! ```
//!
//! Servers have the numbers of their nodes.

mod view;

use std::time::{Duration, Instant};

use replicascope::app::conductor::Conductor;
use replicascope::app::dialing;
use replicascope::lab::bed::Bed;
use replicascope::link::clock;
use replicascope::model::lab::{LabAccounts, LabNode};
use replicascope::model::profile::{
    Account, Address, HeartbeatTable, Intervals, SecretSource, ServerId, ServerProfile,
    TlsSettings, TopologyId, TopologyProfile,
};
use replicascope::model::secret::Secret;
use replicascope::model::server::WatchId;
use replicascope::model::time::{Moment, Span};

use super::servers::{Node, Topology};
pub use view::View;

/// At any moment: less than any answer is waited for (5 s), with room for a busy machine.
pub const QUITS_WITHIN: Duration = Duration::from_secs(3);

/// How often the view is judged anew while something is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What shall be watched, before it is.
pub struct Plan {
    profile: TopologyProfile,
    secret: Secret,
}

impl Plan {
    pub fn account(mut self, user: &str, password: &str) -> Self {
        self.profile.account = Some(Account {
            user: user.to_owned(),
            secret: SecretSource::Ask,
        });
        self.secret = Secret::new(password.to_owned());
        self
    }

    pub fn poll_every(mut self, interval: Duration) -> Self {
        self.profile.intervals.poll = interval.into();
        self
    }

    pub fn mark_every(mut self, interval: Duration) -> Self {
        self.profile.intervals.mark = interval.into();
        self
    }

    /// Reaches one server elsewhere: through a proxy, or its unix socket.
    pub fn at(mut self, node: usize, address: Address) -> Self {
        self.profile.servers[node].address = address;
        self
    }

    /// Watches a server of another topology too, under the next number.
    pub fn also(mut self, node: &Node) -> Self {
        let number = self.profile.servers.len();
        self.profile.servers.push(server(number, node));
        self
    }

    pub fn tls(mut self, tls: TlsSettings) -> Self {
        self.profile.tls = Some(tls);
        self
    }

    pub fn heartbeat(mut self, table: HeartbeatTable) -> Self {
        self.profile.heartbeat = Some(table);
        self
    }

    pub fn start(self) -> Watching {
        let mut conductor = Conductor::default();
        let watches = self
            .profile
            .servers
            .iter()
            .map(|server| {
                let dial = dialing::dialer(&self.profile, server, Some(&self.secret));
                conductor
                    .watch(&self.profile, server, dial)
                    .expect("threads can be started")
            })
            .collect::<Vec<_>>();
        Watching {
            polls: vec![Vec::new(); watches.len()],
            stalls: Vec::new(),
            looked_at: clock::now(),
            conductor,
            profile: self.profile,
            watches,
        }
    }
}

/// A topology being watched.
pub struct Watching {
    pub conductor: Conductor,
    pub profile: TopologyProfile,
    watches: Vec<WatchId>,
    /// When each server's polls were answered, as far as seen.
    polls: Vec<Vec<Moment>>,
    /// When we looked, each time we came to it late: then, and by how much.
    stalls: Vec<(Moment, Span)>,
    looked_at: Moment,
}

impl Watching {
    /// As the account `monitor`, every 100 ms, marks as often.
    pub fn of(topology: &Topology) -> Plan {
        let id = TopologyId("test".to_owned());
        let mut profile = TopologyProfile::new(id, "test");
        profile.intervals = Intervals {
            poll: Span::from_millis(100),
            mark: Span::from_millis(100),
        };
        profile.servers = topology
            .nodes()
            .iter()
            .map(|node| server(node.index(), node))
            .collect();
        let plan = Plan {
            profile,
            secret: Secret::new(String::new()),
        };
        plan.account("monitor", "monitor")
    }

    /// The same of servers whose ground is at hand, as often as those of the tests.
    pub fn of_bed(bed: &dyn Bed) -> Plan {
        let often = Duration::from_millis(100);
        Watching::of_lab(&bed.nodes(), &bed.accounts())
            .poll_every(often)
            .mark_every(often)
    }

    /// The servers of a lab, as its watcher's account and by its own heartbeat.
    pub fn of_lab(nodes: &[LabNode], accounts: &LabAccounts) -> Plan {
        let id = TopologyId("lab".to_owned());
        let mut profile = TopologyProfile::new(id, "lab");
        profile.intervals = Intervals {
            poll: Span::from_millis(200),
            mark: Span::from_millis(200),
        };
        profile.heartbeat = Some(HeartbeatTable::own());
        let address = |node: &LabNode| Address::tcp("127.0.0.1", node.port);
        let server = |node: &LabNode| {
            let id = ServerId(format!("node-{}", node.server));
            let mut server = ServerProfile::new(id, address(node));
            server.name = node.name.clone();
            server
        };
        profile.servers = nodes.iter().map(server).collect();
        let plan = Plan {
            profile,
            secret: Secret::new(String::new()),
        };
        plan.account(accounts.watcher.user, accounts.watcher.password.expose())
    }

    /// Waits until the view is as described; panics with the last view when it is not within the limit.
    #[track_caller]
    pub fn until(
        &mut self,
        what: &str,
        limit: Duration,
        mut holds: impl FnMut(&View<'_>) -> bool,
    ) -> Duration {
        let started = Instant::now();
        loop {
            self.look();
            if holds(&self.view()) {
                return started.elapsed();
            }
            assert!(
                started.elapsed() < limit,
                "waited {:.1} s in vain for: {what}.\nLast seen:\n{}",
                started.elapsed().as_secs_f64(),
                self.view().describe()
            );
        }
    }

    /// Looks all the time while the time passes, and sees to it that the view is always as described.
    #[track_caller]
    pub fn always(&mut self, what: &str, time: Duration, mut holds: impl FnMut(&View<'_>) -> bool) {
        let started = Instant::now();
        while started.elapsed() < time {
            self.look();
            assert!(
                holds(&self.view()),
                "after {:.1} s it was not so that {what}.\nSeen:\n{}",
                started.elapsed().as_secs_f64(),
                self.view().describe()
            );
        }
    }

    /// Everything is as it should be: all servers polled, every replica ok with a measured lag under a second.
    #[track_caller]
    pub fn until_well(&mut self, limit: Duration) -> Duration {
        self.until("all servers to be well", limit, |view| view.is_well())
    }

    /// Takes in what has come and judges it, once.
    pub fn look(&mut self) {
        self.conductor.take_in_until(Instant::now() + LOOK_EVERY);
        let now = clock::now();
        self.conductor.store.judge(now);
        let late = now.since(self.looked_at) - Span::from(LOOK_EVERY);
        if late > Span::from(LOOK_EVERY) {
            self.stalls.push((now, late));
        }
        self.looked_at = now;
        for (watch, polls) in self.watches.iter().zip(&mut self.polls) {
            let latest = self.conductor.store.watched(*watch);
            let latest = latest.and_then(|server| server.latest.as_ref());
            if let Some(sample) = latest
                && polls.last() != Some(&sample.answered_at)
            {
                polls.push(sample.answered_at);
            }
        }
    }

    pub fn view(&self) -> View<'_> {
        View { watching: self }
    }

    /// How many different polls of a server have been seen.
    pub fn polls_seen(&self, node: usize) -> usize {
        self.polls[node].len()
    }

    /// The longest pause between two answered polls of a server since `from`, and up to now.
    pub fn longest_pause(&self, node: usize, from: Moment) -> Duration {
        let now = clock::now();
        let before = self.polls[node].iter().rev().find(|at| **at < from);
        let after = self.polls[node].iter().filter(|at| **at >= from);
        let times: Vec<Moment> = before
            .into_iter()
            .chain(after)
            .copied()
            .chain([now])
            .collect();
        let pauses = times.windows(2).map(|pair| pair[1].since(pair[0]));
        pauses.max().unwrap_or(Span::MAX).to_duration()
    }

    /// The longest that this machine has let us wait for our turn since `from`.
    pub fn longest_stall(&self, from: Moment) -> Duration {
        let stalls = self.stalls.iter().filter(|(at, _)| *at >= from);
        let longest = stalls.map(|(_, late)| *late).max();
        longest.unwrap_or(Span::ZERO).to_duration()
    }

    pub fn poll_now(&self) {
        self.conductor.poll_now(&self.profile.id);
    }

    /// Ends the watch; says how long that took.
    pub fn close(mut self) -> Duration {
        let started = Instant::now();
        self.conductor.close();
        started.elapsed()
    }
}

fn server(number: usize, node: &Node) -> ServerProfile {
    let id = ServerId(format!("node-{number}"));
    let mut server = ServerProfile::new(id, Address::tcp("127.0.0.1", node.port()));
    server.name = format!("node {number}");
    server
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.conductor.close();
    }
}
