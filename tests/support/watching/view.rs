//! What a person sees of a watched topology, in questions a test asks.

use std::fmt::Write;
use std::sync::Arc;

use replicascope::link::clock;
use replicascope::model::event::LinkState;
use replicascope::model::finding::{Finding, Health, Role, Subject};
use replicascope::model::lag::{Cause, LagView, Method, Reading};
use replicascope::model::phrase::Phrase;
use replicascope::model::sample::Sample;
use replicascope::model::server::WatchId;
use replicascope::model::time::{Moment, Span};
use replicascope::store::journal::EntryKind;
use replicascope::store::judged::{ChannelJudged, ServerJudged};
use replicascope::store::watched::Watched;
use replicascope::words::{Catalogue, Language};

use super::Watching;

/// What is seen at one instant.
pub struct View<'a> {
    pub(super) watching: &'a Watching,
}

impl<'a> View<'a> {
    /// When it was judged.
    pub fn at(&self) -> Moment {
        self.watching.looked_at
    }

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

    pub fn cause(&self, node: usize) -> Option<&'a Cause> {
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
