//! What a lesson can see: the lab as the store judges it and as the boards of the screens have it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::finding::Role;
use crate::model::lab::{LabNode, LabStatus};
use crate::model::lag::Reading;
use crate::model::lesson::{
    Acceptance, LagNow, LessonFacts, Place, ProbeFacts, SemiSyncNow, ServerFacts, StaleReads,
};
use crate::model::probe::WaitKind;
use crate::model::profile::{ServerId, TopologyId};
use crate::model::replication::Field;
use crate::model::sample::Sample;
use crate::model::time::Moment;
use crate::store::Store;
use crate::store::judged::ServerJudged;
use crate::store::watched::Watched;
use crate::ui::acceptance::board::AcceptBoard;
use crate::ui::action::Screen;
use crate::ui::lab::board::LabBoard;
use crate::ui::lab::server_id;
use crate::ui::probe::board::{ProbeBoard, ProbeView};

/// Where to look.
pub struct Seen<'a> {
    pub store: &'a Store,
    pub lab: &'a LabBoard,
    pub probes: &'a ProbeBoard,
    pub acceptances: &'a AcceptBoard,
    pub accept_started: Option<Moment>,
    /// When the comparison that has a result was started.
    pub compared: Option<Moment>,
    pub screen: Screen,
    pub server: Option<&'a ServerId>,
    pub now: Moment,
}

/// Nothing, while no lab runs.
pub fn facts(seen: &Seen<'_>) -> LessonFacts {
    let (Some(status), Some(topology)) = (&seen.lab.status, &seen.lab.topology) else {
        return LessonFacts::default();
    };
    let judged = seen.store.judged(topology);
    let of_topology = judged.into_iter().flat_map(|judged| &judged.findings);
    let of_topology = of_topology.filter(|finding| finding.subject.watch().is_none());
    LessonFacts {
        servers: servers(seen, status, topology),
        findings: of_topology.map(|finding| finding.code).collect(),
        faults: status.faults.clone(),
        traffic: Some(status.traffic),
        probe: seen.probes.probes.get(topology).map(probe),
        acceptance: acceptance(seen, topology),
        compared: seen.compared,
        shown: shown(seen, status),
    }
}

fn servers(
    seen: &Seen<'_>,
    status: &LabStatus,
    topology: &TopologyId,
) -> BTreeMap<usize, ServerFacts> {
    let of_node = |node: &LabNode| {
        let server = seen.store.of_server(topology, &server_id(node))?;
        let judged = seen.store.judged(topology)?;
        let of_server = judged.servers.get(&server.watch())?;
        let about_it = judged.findings.iter();
        let about_it = about_it.filter(|f| f.subject.watch() == Some(server.watch()));
        let findings: BTreeSet<&'static str> = about_it.map(|finding| finding.code).collect();
        Some((node.server, of_one(server, of_server, findings, seen.now)))
    };
    status.nodes.iter().filter_map(of_node).collect()
}

fn of_one(
    server: &Watched,
    judged: &ServerJudged,
    findings: BTreeSet<&'static str>,
    now: Moment,
) -> ServerFacts {
    let lag = judged.lag();
    let sample = server.current(now).map(AsRef::as_ref);
    let methods = lag.methods.iter();
    let methods = methods.filter_map(|(method, reading)| Some((*method, reading.value()?)));
    ServerFacts {
        role: judged.role,
        is_fresh: judged.freshness.is_usable(),
        findings,
        lag: match &lag.headline {
            Reading::Measured(measured) => LagNow::Measured(measured.value),
            Reading::Unknown { .. } => LagNow::Unknown,
            Reading::NotApplicable { .. } => LagNow::NotApplicable,
        },
        methods: methods.collect(),
        cause: lag.cause.as_ref().map(|cause| cause.kind),
        stages: lag.stages.clone(),
        seconds_behind: seconds_behind(judged, sample),
        semi_sync: semi_sync(judged, sample),
        errant: errant(server),
        event_enabled: sample.and_then(event_enabled),
        long_reads: sample.map_or(0, long_reads),
        writes_per_second: writes_per_second(server),
    }
}

fn seconds_behind(judged: &ServerJudged, sample: Option<&Sample>) -> Field<i64> {
    let worst = judged.worst_channel();
    let channel = worst.zip(sample).and_then(|((name, _), sample)| {
        let mut channels = sample.channels().iter();
        channels.find(|channel| channel.name == *name)
    });
    channel.map_or(Field::Absent, |channel| channel.seconds_behind.clone())
}

fn semi_sync(judged: &ServerJudged, sample: Option<&Sample>) -> SemiSyncNow {
    let Some(sample) = sample else {
        return SemiSyncNow::Unknown;
    };
    let Some(ends) = sample.semi_sync.value() else {
        return SemiSyncNow::Unknown;
    };
    if judged.role != Role::Source {
        return SemiSyncNow::Off;
    }
    let end = ends.source.as_ref();
    match end.map(|end| (end.enabled, end.active)) {
        None | Some((Some(false), _)) => SemiSyncNow::Off,
        Some((Some(true), Some(true))) => SemiSyncNow::Active,
        Some((Some(true), Some(false))) => SemiSyncNow::Degraded,
        Some(_) => SemiSyncNow::Unknown,
    }
}

/// On MariaDB a set says how far, not how many.
fn errant(server: &Watched) -> Option<u64> {
    use crate::model::gtid::Gtids;
    let found = server.memory.errant.as_ref()?;
    Some(match found {
        none if none.is_empty() => 0,
        Gtids::MySql(set) => set.count(),
        Gtids::MariaDb(_) => 1,
    })
}

fn event_enabled(sample: &Sample) -> Option<bool> {
    let event = sample.events.value()?.first()?;
    Some(event.status.eq_ignore_ascii_case("ENABLED"))
}

/// Statements are asked for rarely while nothing is late; open transactions always.
fn long_reads(sample: &Sample) -> u64 {
    let statements = sample.statements.value().into_iter().flatten();
    let of_statements = statements.filter(|statement| statement.is_long_read());
    let transactions = sample.transactions.value().into_iter().flatten();
    let of_transactions = transactions.filter(|trx| trx.is_long_read());
    of_statements.count().max(of_transactions.count()) as u64
}

/// By what its executed set has grown from one poll to the next.
fn writes_per_second(server: &Watched) -> Option<f64> {
    let (latest, previous) = (server.latest.as_ref()?, server.previous.as_ref()?);
    let secs = latest.answered_at.since(previous.answered_at).secs_f64();
    let (now, before) = (
        latest.gtid.executed.as_ref()?,
        previous.gtid.executed.as_ref()?,
    );
    let grown = now.missing_from(before)?;
    (secs > 0.0).then(|| grown as f64 / secs)
}

fn probe(view: &ProbeView) -> ProbeFacts {
    let mut facts = ProbeFacts {
        started_at: view.began_at,
        is_over: !view.phase.is_active(),
        runs: view.summary.runs,
        plain: StaleReads::default(),
        waited_fresh: 0,
        waited_stale: 0,
        timed_out: 0,
        read_from_source: 0,
    };
    for replica in &view.summary.replicas {
        facts.plain.fresh += replica.plain.fresh;
        facts.plain.old += replica.plain.old;
        facts.plain.missing += replica.plain.missing;
        facts.waited_fresh += replica.waited.fresh;
        facts.waited_stale += replica.waited.old + replica.waited.missing;
        let timed_out = replica.outcomes.get(&WaitKind::TimedOut);
        facts.timed_out += timed_out.copied().unwrap_or(0);
        facts.read_from_source += replica.read_from_source;
    }
    facts
}

fn acceptance(seen: &Seen<'_>, topology: &TopologyId) -> Option<Acceptance> {
    let report = seen.acceptances.runs.get(topology)?.report.as_ref()?;
    Some(Acceptance {
        started_at: seen.accept_started?,
        verdict: report.verdict(),
    })
}

fn shown(seen: &Seen<'_>, status: &LabStatus) -> Option<(Place, Option<usize>)> {
    let place = match seen.screen {
        Screen::Overview => Place::Overview,
        Screen::Server => Place::Server,
        Screen::Lag => Place::Lag,
        Screen::Transactions => Place::Transactions,
        Screen::SemiSync => Place::SemiSync,
        Screen::Probe => Place::Probe,
        Screen::Routing => Place::Routing,
        Screen::Lab => Place::Lab,
        Screen::Events => Place::Events,
        Screen::Profiles | Screen::Settings => return None,
    };
    let server = seen.server.and_then(|id| {
        let mut nodes = status.nodes.iter();
        nodes.find(|node| server_id(node) == *id)
    });
    Some((place, server.map(|node| node.server)))
}

/// The screen a place is.
pub fn screen_of(place: Place) -> Screen {
    match place {
        Place::Overview => Screen::Overview,
        Place::Server => Screen::Server,
        Place::Lag => Screen::Lag,
        Place::Transactions => Screen::Transactions,
        Place::SemiSync => Screen::SemiSync,
        Place::Probe => Screen::Probe,
        Place::Routing => Screen::Routing,
        Place::Events => Screen::Events,
        Place::Lab => Screen::Lab,
    }
}
