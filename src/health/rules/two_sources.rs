//! Two servers take writes.
//!
//! Sees: "2 servers take writes: db-1, db-2".
//! Why: both go their own way; the data forks with every write (split brain), typically when an old source comes back
//! after a failover, or when both halves of a ring are writable.
//! What to do: make all but one read-only at once, then compare them.
//! Decided: two or more writable servers that are a source: they have replicas, the profile says so, or they were a source
//! before. Two sources of one multi-source replica belong together and are not meant; nor is a ring with one writable
//! half (R45).
//! Can't tell: fewer than two are seen writable and one of the candidates is not known.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_topology};
use crate::model::finding::{Role, Severity};
use crate::model::phrase::phrase;
use crate::model::profile::ExpectedRole;
use crate::model::sample::Sample;
use crate::model::server::WatchId;

pub const RULE: Rule = Rule {
    code: "two_sources",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_topology(code, facts, judge(facts))
}

fn judge(facts: &Facts<'_>) -> Say {
    let candidates: Vec<_> = facts.servers.iter().filter(|s| is_candidate(s)).collect();
    if candidates.len() < 2 {
        return Say::Fine;
    }
    let writable: Vec<_> = candidates
        .iter()
        .filter(|s| s.current().and_then(Sample::is_writable) == Some(true))
        .collect();
    let rivals: Vec<&str> = writable
        .iter()
        .filter(|one| {
            writable
                .iter()
                .any(|other| one.watch != other.watch && !feed_one_replica(facts, one, other))
        })
        .map(|server| server.name)
        .collect();
    if rivals.len() >= 2 {
        return Draft::new(
            Severity::Critical,
            phrase("finding.two_sources.text")
                .with("count", rivals.len() as u64)
                .with("servers", rivals.join(", ")),
        )
        .advice("finding.two_sources.advice")
        .say();
    }
    let unknown = candidates
        .iter()
        .find(|s| s.current().and_then(Sample::is_writable).is_none());
    match unknown {
        Some(server) => Say::CannotTell(phrase("lamp.writable_untold").with("server", server.name)),
        None => Say::Fine,
    }
}

fn is_candidate(server: &ServerFacts<'_>) -> bool {
    if server.is_replica() {
        return server.is_in_a_ring() || server.expected_role == ExpectedRole::Source;
    }
    let was_source = matches!(server.memory.role_changed, Some((Role::Source, _)));
    !server.replicas.is_empty() || was_source || server.expected_role == ExpectedRole::Source
}

/// Some replica has channels from both.
fn feed_one_replica(facts: &Facts<'_>, one: &ServerFacts<'_>, other: &ServerFacts<'_>) -> bool {
    let feeds = |replica: &ServerFacts<'_>, source: WatchId| {
        replica
            .channels
            .iter()
            .any(|channel| channel.source == Some(source))
    };
    facts
        .servers
        .iter()
        .any(|replica| feeds(replica, one.watch) && feeds(replica, other.watch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    fn ring() -> Town {
        let mut town = source_and_replica();
        town.servers[0] = replica_of(2, 1, "db-1");
        town.source().replicas = vec![WatchId(2)];
        town.replica().replicas = vec![WatchId(1)];
        town
    }

    fn writable(server: &mut Built) {
        server.sample().identity.read_only = Some(false);
        server.sample().identity.super_read_only = Some(false);
    }

    #[test]
    fn r45_a_ring_with_one_writable_half_is_fine_with_two_it_is_not() {
        let mut town = ring();
        writable(town.source());
        assert_eq!(raised(&town, &RULE), []);
        writable(town.replica());
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("servers"), Some(&"db-1, db-r1".into()));
    }

    #[test]
    fn an_old_source_that_comes_back_writable_is_a_second_one() {
        let mut town = source_and_replica();
        let mut old = server(3, "db-old", Role::Standalone);
        town.servers.push(server(4, "db-other", Role::Standalone));
        assert_eq!(raised(&town, &RULE), []);
        old.memory.role_changed = Some((Role::Source, secs_ago(60)));
        town.servers.push(old);
        assert_eq!(raised_key(&town, &RULE), "finding.two_sources.text");
    }

    #[test]
    fn r13_two_sources_of_one_multi_source_replica_belong_together() {
        let mut town = source_and_replica();
        let mut second = server(3, "db-2", Role::Source);
        second.replicas = vec![WatchId(2)];
        town.servers.push(second);
        town.replica().sample().channels = known(vec![channel("a"), channel("b")]);
        town.replica().channels.push(built_channel(3));
        assert_eq!(raised(&town, &RULE), []);
    }

    #[test]
    fn a_rival_that_does_not_answer_is_not_ruled_out() {
        let mut town = ring();
        writable(town.source());
        town.replica().stale();
        assert_eq!(cannot_tell(&town, &RULE), ["lamp.writable_untold"]);
    }
}
