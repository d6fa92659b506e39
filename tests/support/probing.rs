//! Probes as tests run them: real sessions, the real prober, and every run it reported.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use replicascope::model::probe::{
    ProbeId, ProbePlan, ProbeRun, ProbeSummary, ReadFrom, Verdict, WaitKind,
};
use replicascope::monitor::prober::{
    EndReason, ProbeEnd, ProbeEvent, ProbeTask, ProbedServer, Prober, Readiness,
};
use replicascope::mysql::{Address, Dialer, Endpoint};

/// Far longer than any probe of a test takes.
const LONGEST: Duration = Duration::from_secs(120);

/// A probe under way.
pub struct Probing {
    pub prober: Prober,
    events: Receiver<ProbeEvent>,
    pub readiness: Option<Readiness>,
    pub runs: Vec<Arc<ProbeRun>>,
    replicas: usize,
}

/// What became of it.
pub struct Probed {
    pub readiness: Option<Readiness>,
    pub runs: Vec<Arc<ProbeRun>>,
    pub summary: ProbeSummary,
    pub end: ProbeEnd,
}

pub fn server(port: u16, user: &str, password: &str) -> ProbedServer {
    let address = Address::Tcp {
        host: "127.0.0.1".into(),
        port,
    };
    ProbedServer {
        name: format!("{port}"),
        dial: Arc::new(Dialer::new(Endpoint::new(address, user, Some(password)))),
    }
}

impl Probing {
    pub fn start(plan: ProbePlan, source: ProbedServer, replicas: Vec<ProbedServer>) -> Probing {
        let (sender, events) = bounded(64);
        let count = replicas.len();
        let task = ProbeTask {
            plan,
            probe: ProbeId(fastrand::u32(1..)),
            source,
            replicas,
        };
        Probing {
            prober: Prober::start(task, sender).expect("threads can be started"),
            events,
            readiness: None,
            runs: Vec::new(),
            replicas: count,
        }
    }

    /// Takes events in until so many runs were seen. `None` when it ended before.
    pub fn until_runs(&mut self, count: usize) -> Option<()> {
        while self.runs.len() < count {
            if self.take_one().is_some() {
                return None;
            }
        }
        Some(())
    }

    pub fn until_end(mut self) -> Probed {
        loop {
            if let Some(end) = self.take_one() {
                let mut summary = ProbeSummary::of_replicas(self.replicas);
                self.runs.iter().for_each(|run| summary.add(run));
                return Probed {
                    readiness: self.readiness,
                    runs: self.runs,
                    summary,
                    end,
                };
            }
        }
    }

    /// Takes in what was reported so far. Of the runs that come later only the one now under way began before.
    pub fn take_in_all(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            let end = self.note(event);
            assert!(end.is_none(), "it has ended: {end:?}");
        }
    }

    fn take_one(&mut self) -> Option<ProbeEnd> {
        let deadline = Instant::now() + LONGEST;
        let event = self.events.recv_deadline(deadline).expect("a report");
        self.note(event)
    }

    fn note(&mut self, event: ProbeEvent) -> Option<ProbeEnd> {
        match event {
            ProbeEvent::Ready(readiness) => self.readiness = Some(readiness),
            ProbeEvent::Ran(run) => self.runs.push(run),
            ProbeEvent::Ended(end) => return Some(end),
        }
        None
    }
}

impl Probed {
    #[track_caller]
    pub fn all_ran(&self) -> &Self {
        assert_eq!(self.end.why, EndReason::AllRun);
        assert_eq!(
            self.end.clean_up.as_ref().map(Result::is_ok),
            Some(true),
            "{:?}",
            self.end.clean_up
        );
        self
    }

    /// Of the runs that wrote.
    pub fn plain(&self, replica: usize) -> Vec<Verdict> {
        let seen = self.runs.iter().filter_map(|run| {
            let replica = run.replicas.get(replica)?;
            Some(replica.plain.verdict(&run.value))
        });
        seen.collect()
    }

    /// What the whole product stands on: whatever happened, a waited read is fresh or has no answer, and it comes from
    /// the replica only after a wait that succeeded.
    #[track_caller]
    pub fn waited_reads_are_never_stale(&self) -> &Self {
        for run in &self.runs {
            for replica in &run.replicas {
                let waited = &replica.waited;
                let verdict = waited.read.verdict(&run.value);
                assert!(!verdict.is_stale(), "{run:#?}");
                let reached = waited.wait.kind == WaitKind::Reached;
                assert_eq!(reached, waited.read_from == ReadFrom::Replica, "{run:#?}");
                assert_eq!(reached, waited.reason.is_none(), "{run:#?}");
            }
        }
        self
    }
}
