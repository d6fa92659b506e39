use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::lab::bed::LinkQuality;
use crate::lab::faults::{self, site::lock};
use crate::model::lab::{Fault, FaultState, LabAccount, LabAccounts, LabServer};
use crate::model::secret::Secret;
use crate::model::time::Span;

const SOON: Duration = Duration::from_secs(20);

/// Servers that nobody needs to reach; says when it ends.
struct Still {
    links: Arc<Mutex<Vec<LinkQuality>>>,
    ended: Arc<AtomicUsize>,
}

impl Drop for Still {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Bed for Still {
    fn nodes(&self) -> Vec<LabNode> {
        let node = |server, copies_from: &[LabServer]| LabNode {
            server,
            name: format!("server-{server}"),
            port: 1,
            copies_from: copies_from.to_vec(),
            is_up: true,
        };
        vec![node(0, &[]), node(1, &[0])]
    }

    fn accounts(&self) -> LabAccounts {
        let account = |user| LabAccount {
            user,
            password: Secret::new("secret".to_owned()),
        };
        LabAccounts {
            admin: account("admin"),
            watcher: account("monitor"),
            app: account("app"),
        }
    }

    fn link_port(&mut self, _: LabServer, _: LabServer) -> Result<u16, Trouble> {
        Ok(1)
    }

    fn pointed(&mut self, _: LabServer, _: &[LabServer]) {}

    fn set_link(
        &mut self,
        _: LabServer,
        _: LabServer,
        quality: LinkQuality,
    ) -> Result<(), Trouble> {
        lock(&self.links).push(quality);
        Ok(())
    }

    fn set_disk(&mut self, _: LabServer, _: Span) -> Result<(), Trouble> {
        Ok(())
    }

    fn set_clock(&mut self, _: LabServer, _: Span) -> Result<(), Trouble> {
        Ok(())
    }

    fn kill(&mut self, _: LabServer) -> Result<(), Trouble> {
        Ok(())
    }

    fn restart(&mut self, _: LabServer) -> Result<(), Trouble> {
        Ok(())
    }

    fn impossible(&self) -> Vec<(FaultKind, Phrase)> {
        Vec::new()
    }
}

/// A lab on still ground, and what becomes of that.
struct Scene {
    handle: LabHandle,
    statuses: Receiver<LabStatus>,
    links: Arc<Mutex<Vec<LinkQuality>>>,
    ended: Arc<AtomicUsize>,
}

fn scene(before: impl Fn(&Starting) -> Result<(), Trouble> + Send + Sync + 'static) -> Scene {
    let links: Arc<Mutex<Vec<LinkQuality>>> = Arc::default();
    let ended: Arc<AtomicUsize> = Arc::default();
    let (made_links, made_ended) = (links.clone(), ended.clone());
    let build = move |_: &LabPlan, starting: &Starting| -> Result<Box<dyn Bed>, Trouble> {
        before(starting)?;
        Ok(Box::new(Still {
            links: made_links.clone(),
            ended: made_ended.clone(),
        }))
    };
    let (handle, statuses) = LabHandle::start_with(Arc::new(build), || {});
    Scene {
        handle,
        statuses,
        links,
        ended,
    }
}

fn quiet_plan() -> LabPlan {
    LabPlan {
        traffic: Traffic {
            writes_per_second: 0.0,
            reads_per_second: 0.0,
            ..Traffic::default()
        },
        ..LabPlan::default()
    }
}

impl Scene {
    #[track_caller]
    fn until(&self, holds: impl Fn(&LabStatus) -> bool) -> LabStatus {
        let deadline = Instant::now() + SOON;
        let mut last = None;
        while let Ok(status) = self.statuses.recv_deadline(deadline) {
            if holds(&status) {
                return status;
            }
            last = Some(status);
        }
        panic!("waited in vain; last {last:#?}");
    }

    fn until_running(&self) {
        self.handle.send(LabOrder::Start(quiet_plan()));
        self.until(|status| matches!(status.phase, LabPhase::Running { .. }));
    }

    fn make(&self, kind: FaultKind, intensity: f64) {
        self.handle.send(LabOrder::Make(Fault {
            kind,
            on: 1,
            intensity,
            lasts: None,
        }));
    }
}

#[test]
fn the_latest_status_is_the_one_that_waits_to_be_read() {
    let (out, unread) = bounded(1);
    let told = Latest {
        out,
        unread: unread.clone(),
        wake: Box::new(|| {}),
    };
    let build: Build = Arc::new(ground::build);
    let mut lab = Lab::new(build, told);
    for rows in 1..=3 {
        lab.traffic.rows_per_transaction = rows;
        lab.publish();
    }
    let read: Vec<u32> = unread
        .try_iter()
        .map(|status| status.traffic.rows_per_transaction)
        .collect();
    assert_eq!(read, [3]);
}

#[test]
fn faults_of_one_link_combine_and_are_undone_one_by_one() {
    let scene = scene(|_| Ok(()));
    scene.until_running();
    scene.make(FaultKind::LinkLatency, 500.0);
    scene.make(FaultKind::LinkBandwidth, 2.0);
    let active = |status: &LabStatus| {
        let faults = status.faults.iter();
        faults.filter(|f| f.state == FaultState::Active).count()
    };
    let status = scene.until(|status| active(status) == 2);
    scene.handle.send(LabOrder::Undo(status.faults[0].id));
    scene.until(|status| {
        let first = &status.faults[0];
        matches!(first.state, FaultState::Over { .. })
    });
    let links = lock(&scene.links).clone();
    let both = LinkQuality {
        latency: Span::from_millis(500),
        bytes_per_second: Some(2000.0),
        is_cut: false,
    };
    let narrow = LinkQuality {
        latency: Span::ZERO,
        ..both
    };
    assert_eq!(links[1..], [both, narrow]);
}

#[test]
fn a_lab_that_is_stopped_is_gone_and_another_can_be_started() {
    let scene = scene(|_| Ok(()));
    scene.until_running();
    scene.handle.send(LabOrder::Stop);
    scene.until(|status| status.phase == LabPhase::Stopped);
    assert_eq!(scene.ended.load(Ordering::SeqCst), 1);
    scene.until_running();
    drop(scene.handle);
    assert_eq!(scene.ended.load(Ordering::SeqCst), 2);
}

#[test]
fn a_lab_no_longer_wanted_while_it_starts_is_given_up() {
    let scene = scene(|starting| {
        while starting.step(phrase("lab.step.begins")).is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(()) // too late to be given up: the servers come up all the same
    });
    scene.handle.send(LabOrder::Start(quiet_plan()));
    scene.until(|status| matches!(status.phase, LabPhase::Starting(_)));
    scene.handle.send(LabOrder::Stop);
    scene.until(|status| status.phase == LabPhase::Stopped);
    assert_eq!(scene.ended.load(Ordering::SeqCst), 1);
}

#[test]
fn a_start_that_fails_says_why() {
    let why = faults::trouble(phrase("lab.trouble.no_thread"));
    let said = why.clone();
    let scene = scene(move |_| Err(said.clone()));
    scene.handle.send(LabOrder::Start(quiet_plan()));
    scene.until(|status| status.phase == LabPhase::Failed(why.clone()));
}

#[test]
fn an_order_that_cannot_reach_its_server_fails_in_words_and_hinders_nobody() {
    let scene = scene(|_| Ok(()));
    scene.until_running();
    scene.make(FaultKind::StopApplier, 0.0);
    scene.make(FaultKind::LinkCut, 0.0);
    scene.until(|status| {
        let [stop, cut] = &status.faults[..] else {
            return false;
        };
        matches!(stop.state, FaultState::Failed { .. }) && cut.state == FaultState::Active
    });
}
