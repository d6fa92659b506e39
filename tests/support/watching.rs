//! Watches a topology of the tests as the program does: the same threads, the same store, the same rules, no display.
//!
//! ```ignore
//! let mut watching = Watching::of(&topology).start();
//! watching.until("the applier to be seen stopped", SOON, |view| view.health(1) == Health::Stopped);
//! ```
//!
//! Servers have the numbers of their nodes.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use replicascope::app::conductor::Conductor;
use replicascope::app::dialing;
use replicascope::link::clock;
use replicascope::model::event::LinkState;
use replicascope::model::finding::{Finding, Health, Role, Subject};
use replicascope::model::lag::{LagView, Method, Reading};
use replicascope::model::phrase::Phrase;
use replicascope::model::profile::{
    Account, Address, HeartbeatTable, Intervals, SecretSource, ServerId, ServerProfile,
    TlsSettings, TopologyId, TopologyProfile,
};
use replicascope::model::sample::Sample;
use replicascope::model::secret::Secret;
use replicascope::model::server::WatchId;
use replicascope::model::time::{Moment, Span};
use replicascope::store::journal::EntryKind;
use replicascope::store::judged::{ChannelJudged, ServerJudged};
use replicascope::store::watched::Watched;
use replicascope::words::{Catalogue, Language};

use super::servers::{Node, Topology};

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

/// What is seen at one instant.
pub struct View<'a> {
    watching: &'a Watching,
}

impl<'a> View<'a> {
    pub fn watched(&self, node: usize) -> &'a Watched {
        self.watching
            .conductor
            .store
            .watched(self.watching.watches[node])
            .expect("the node is watched")
    }

    pub fn judged(&self, node: usize) -> Option<&'a ServerJudged> {
        let store = &self.watching.conductor.store;
        let judged = store.judged(&self.watching.profile.id)?;
        judged.servers.get(&self.watching.watches[node])
    }

    /// The newest sample of this session.
    pub fn sample(&self, node: usize) -> Option<&'a Arc<Sample>> {
        self.watched(node).latest.as_ref()
    }

    pub fn role(&self, node: usize) -> Role {
        self.judged(node)
            .map_or(Role::Unknown, |judged| judged.role)
    }

    pub fn health(&self, node: usize) -> Health {
        self.judged(node)
            .map_or(Health::Unknown, |judged| judged.health)
    }

    pub fn routable(&self, node: usize) -> bool {
        self.judged(node).is_some_and(|judged| judged.routable)
    }

    pub fn channel(&self, node: usize, name: &str) -> Option<&'a ChannelJudged> {
        self.judged(node)?.channels.get(name)
    }

    pub fn lag(&self, node: usize) -> Option<&'a LagView> {
        self.judged(node).map(ServerJudged::lag)
    }

    /// The headline of the server's lag, in seconds, when it is measured.
    pub fn seconds(&self, node: usize) -> Option<f64> {
        Some(self.lag(node)?.headline.value()?.secs_f64())
    }

    /// What one method says, in seconds, when it says something.
    pub fn seconds_by(&self, node: usize, method: Method) -> Option<f64> {
        Some(self.lag(node)?.method(method)?.value()?.secs_f64())
    }

    /// The method of the headline.
    pub fn believed(&self, node: usize) -> Option<Method> {
        Some(self.lag(node)?.headline.measured()?.method)
    }

    pub fn cause(&self, node: usize) -> Option<&'a replicascope::model::lag::Cause> {
        self.lag(node)?.cause.as_ref()
    }

    pub fn is_up(&self, node: usize) -> bool {
        matches!(self.watched(node).link, LinkState::Up { .. })
    }

    pub fn is_well(&self) -> bool {
        (0..self.watching.watches.len()).all(|node| {
            let is_replica = self.role(node).is_replica();
            self.is_up(node)
                && self.sample(node).is_some()
                && self.health(node) == Health::Ok
                && (!is_replica
                    || self.believed(node) == Some(Method::GtidMarks)
                        && self.seconds(node).is_some_and(|lag| lag < 1.0))
        })
    }

    pub fn findings(&self) -> &'a [Finding] {
        let store = &self.watching.conductor.store;
        store
            .judged(&self.watching.profile.id)
            .map_or(&[], |judged| judged.findings.as_slice())
    }

    /// The finding of this code about a server, or one of its channels.
    pub fn finding(&self, node: usize, code: &str) -> Option<&'a Finding> {
        let watch = self.watching.watches[node];
        self.findings()
            .iter()
            .find(|finding| finding.code == code && finding.subject.watch() == Some(watch))
    }

    /// The nodes that replicate from this one, by the wires of the store.
    pub fn replicas_of(&self, source: usize) -> Vec<usize> {
        let watches = &self.watching.watches;
        let wires = self.watching.conductor.store.wires();
        let wired = |node: &usize| {
            wires
                .iter()
                .any(|wire| wire.source == watches[source] && wire.replica == watches[*node])
        };
        (0..watches.len()).filter(wired).collect()
    }

    /// The wires as (replica, channel, source).
    pub fn wires(&self) -> Vec<(usize, String, usize)> {
        let watches = &self.watching.watches;
        let node = |watch: WatchId| watches.iter().position(|w| *w == watch);
        let wires = self.watching.conductor.store.wires().iter();
        wires
            .filter_map(|w| Some((node(w.replica)?, w.channel.clone(), node(w.source)?)))
            .collect()
    }

    pub fn say(&self, phrase: &Phrase) -> String {
        Catalogue::of(Language::English).say(phrase)
    }

    pub fn describe(&self) -> String {
        let mut text = String::new();
        for node in 0..self.watching.watches.len() {
            self.describe_server(node, &mut text);
        }
        let _ = writeln!(text, "wires (replica, channel, source): {:?}", self.wires());
        for finding in self.findings() {
            let about = match &finding.subject {
                Subject::Topology => "topology".to_owned(),
                other => format!("{other:?}"),
            };
            let _ = writeln!(
                text,
                "finding {} {} about {about}: {} {:?}",
                finding.severity.code(),
                finding.code,
                self.say(&finding.text),
                finding
                    .evidence
                    .iter()
                    .map(|e| self.say(e))
                    .collect::<Vec<_>>(),
            );
        }
        let entries: Vec<_> = self.watching.conductor.store.journal().entries().collect();
        for entry in entries.iter().rev().take(12).rev() {
            let kind = match entry.kind {
                EntryKind::Raised(_) => "+",
                EntryKind::Cleared => "-",
                _ => " ",
            };
            let server = entry.server.as_deref().unwrap_or("");
            let ago = clock::now().since(entry.at).secs_f64();
            let _ = writeln!(
                text,
                "{kind} {ago:.1} s ago {server}: {}",
                self.say(&entry.text)
            );
        }
        text
    }

    fn describe_server(&self, node: usize, text: &mut String) {
        let watched = self.watched(node);
        let age = watched.answer_age(clock::now()).map(Span::secs_f64);
        let link = match &watched.link {
            LinkState::Connecting => "connecting".to_owned(),
            LinkState::Up { product } => format!("up, {product}"),
            LinkState::Down {
                trouble, attempt, ..
            } => {
                format!(
                    "down after {attempt}: {} ({})",
                    self.say(&trouble.what),
                    trouble.detail
                )
            }
        };
        let _ = writeln!(
            text,
            "{}: {} {} routable={} age={age:?} link {link}",
            watched.registration.name,
            self.role(node).code(),
            self.health(node).code(),
            self.routable(node),
        );
        if let Some(why) = &watched.wait_trouble {
            let _ = writeln!(text, "   waiting session: {}", self.say(why));
        }
        let Some(judged) = self.judged(node) else {
            return;
        };
        for (name, channel) in &judged.channels {
            let lag = &channel.lag;
            let _ = writeln!(
                text,
                "   channel '{name}': {} routable={} lag {} delay {:.1} backlog {:?}\n      verdict: {}",
                channel.health.code(),
                channel.routable,
                self.reading(&lag.headline),
                lag.planned_delay.secs_f64(),
                lag.backlog,
                self.say(&lag.verdict),
            );
            for (method, reading) in &lag.methods {
                let _ = writeln!(text, "      {}: {}", method.code(), self.reading(reading));
            }
            if let Some(cause) = &lag.cause {
                let evidence: Vec<_> = cause.evidence.iter().map(|e| self.say(e)).collect();
                let _ = writeln!(
                    text,
                    "      cause {:?}: {} {evidence:?}",
                    cause.kind,
                    self.say(&cause.text)
                );
            }
        }
    }

    fn reading(&self, reading: &Reading) -> String {
        match reading {
            Reading::Measured(m) => format!(
                "{:.3} s ± {:?} by {}",
                m.value.secs_f64(),
                m.bound.map(Span::secs_f64),
                m.method.code()
            ),
            Reading::Unknown { why } => format!("unknown: {}", self.say(why)),
            Reading::NotApplicable { why } => format!("not applicable: {}", self.say(why)),
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.conductor.close();
    }
}
