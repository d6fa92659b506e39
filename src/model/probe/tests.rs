use super::*;
use crate::model::replication::{Field, SourceAddress, ThreadState};

fn channel(of: Option<(&str, u64)>, applier: ThreadState) -> Channel {
    Channel {
        name: String::new(),
        source: of.map_or_else(SourceAddress::default, |(uuid, id)| SourceAddress {
            host: "h".into(),
            port: Some(1),
            uuid: (!uuid.is_empty()).then(|| uuid.into()),
            server_id: Some(id),
        }),
        receiver: ThreadState::Running,
        applier,
        receiver_doing: None,
        applier_doing: None,
        receiver_error: None,
        applier_error: None,
        seconds_behind: Field::Null,
        planned_delay: Span::ZERO,
        remaining_delay: None,
        read: None,
        executed: None,
        relay_log_space: None,
        retrieved_gtids: None,
        auto_position: None,
        receiver_times: None,
        filters: Default::default(),
        raw: Default::default(),
    }
}

fn state(
    uuid: &str,
    id: u64,
    read_only: bool,
    channels: Option<Vec<Channel>>,
) -> Option<ServerState> {
    Some(ServerState {
        product: Product::from_text("9.7.4", ""),
        identity: Identity {
            server_uuid: Some(uuid.into()),
            server_id: Some(id),
            read_only: Some(read_only),
            ..Identity::default()
        },
        gtid_mode: Some("ON".into()),
        has_gtids: true,
        enforce_gtid_consistency: Some("ON".into()),
        log_bin: true,
        channels,
        has_table: true,
    })
}

fn following(uuid: &str, id: u64) -> Option<Vec<Channel>> {
    Some(vec![channel(Some((uuid, id)), ThreadState::Running)])
}

#[test]
fn the_source_is_the_one_that_others_follow_and_that_follows_nobody() {
    let source = state("A", 1, false, Some(vec![]));
    let replica = state("B", 2, true, following("a", 1));
    let stranger = state("C", 3, false, Some(vec![]));
    let below = state("D", 4, true, following("B", 2));
    assert_eq!(choose_source(&[replica.clone(), source.clone()]), Some(1));
    assert_eq!(
        choose_source(&[stranger.clone(), replica.clone(), source.clone(), below]),
        Some(2)
    );
    // Nobody follows either: the one that may be written to, or nobody.
    let read_only = state("E", 5, true, Some(vec![]));
    assert_eq!(choose_source(&[read_only, stranger.clone()]), Some(1));
    assert_eq!(choose_source(&[stranger.clone(), source.clone()]), None);
    assert_eq!(choose_source(&[None, replica]), None);
    assert_eq!(choose_source(&[]), None);
}

#[test]
fn r45_of_two_that_follow_each_other_the_writable_one_takes_the_writes() {
    let a = state("A", 1, false, following("B", 2));
    let b = state("B", 2, true, following("A", 1));
    assert_eq!(choose_source(&[b, a]), Some(1));
}

#[test]
fn waiting_on_a_stopped_applier_is_not_tried_and_unseen_threads_are() {
    let stopped = [channel(None, ThreadState::Stopped)];
    assert_eq!(why_not_wait(Some(&stopped)), Some(WaitKind::NotRunning));
    let one_runs = [
        channel(None, ThreadState::Stopped),
        channel(None, ThreadState::Running),
    ];
    assert_eq!(why_not_wait(Some(&one_runs)), None);
    assert_eq!(why_not_wait(Some(&[])), Some(WaitKind::NoReplica));
    assert_eq!(why_not_wait(None), None);
}

#[test]
fn any_of_the_three_switches_makes_a_source_read_only() {
    let told = |a, b, c| Identity {
        read_only: a,
        super_read_only: b,
        innodb_read_only: c,
        ..Identity::default()
    };
    assert!(!is_read_only(&told(Some(false), None, Some(false))));
    assert!(is_read_only(&told(Some(true), None, None)));
    assert!(is_read_only(&told(Some(false), Some(true), None)));
    assert!(is_read_only(&told(Some(false), Some(false), Some(true))));
}

#[test]
fn a_sweep_covers_its_range_evenly_from_the_start() {
    let plan = ProbePlan {
        runs: 1000,
        read_delay: ReadDelay::Swept {
            up_to: Some(Span::from_millis(100)),
        },
        ..ProbePlan::default()
    };
    let mut tenths = [0; 10];
    for number in 1..=100 {
        let delay = plan.read_delay_of(number, None);
        tenths[(delay.millis_f64() / 10.0) as usize] += 1;
    }
    assert!(tenths.iter().all(|n| (8..=12).contains(n)), "{tenths:?}");
}

#[test]
fn a_sweep_without_an_end_first_learns_the_delay() {
    let plan = ProbePlan {
        read_delay: ReadDelay::Swept { up_to: None },
        ..ProbePlan::default()
    };
    let p99 = Some(Span::from_millis(40));
    assert_eq!(plan.read_delay_of(RUNS_TO_LEARN, p99), Span::ZERO);
    let later = (RUNS_TO_LEARN + 1..RUNS_TO_LEARN + 50).map(|n| plan.read_delay_of(n, p99));
    let longest = later.max().unwrap_or_default();
    assert!(longest > Span::from_millis(35) && longest <= Span::from_millis(40));
}

#[test]
fn a_plan_out_of_bounds_is_refused_in_words() {
    let key = |change: fn(&mut ProbePlan)| {
        let mut plan = ProbePlan::default();
        change(&mut plan);
        plan.problem().map(|problem| problem.key)
    };
    assert_eq!(key(|_| {}), None);
    assert_eq!(
        key(|p| p.wait_limit = Span::ZERO),
        Some("probe.plan.wait_limit")
    );
    assert_eq!(key(|p| p.runs = 0), Some("probe.plan.runs"));
    assert_eq!(key(|p| p.rate = 0.0), Some("probe.plan.rate"));
    assert_eq!(key(|p| p.rate = f64::NAN), Some("probe.plan.rate"));
    assert_eq!(key(|p| p.rate = 1e9), Some("probe.plan.rate"));
    assert_eq!(key(|p| p.schema = " ".into()), Some("probe.plan.schema"));
}

#[test]
fn values_are_recognisable_per_run_and_flavour() {
    let mut plan = ProbePlan::default();
    let probe = ProbeId(0xa1b2);
    assert_eq!(plan.value(probe, 7), "order 0000a1b2-7");
    assert_eq!(plan.row(probe, 7).number, 7);
    plan.flavour = ProbeFlavour::Update;
    assert_eq!(plan.value(probe, 7), "address 0000a1b2-7");
    assert_eq!(plan.row(probe, 7).number, 0);
}

#[test]
fn the_preconditions_say_what_each_thing_costs() {
    let mut source = state("A", 1, true, Some(vec![])).expect("a state");
    source.has_gtids = false;
    source.gtid_mode = Some("OFF".into());
    let met: Vec<(Met, &str)> = source_preconditions(&source)
        .iter()
        .map(|need| (need.met, need.what.key))
        .collect();
    assert_eq!(
        met,
        [
            (Met::Limits, "probe.need.gtid_mode"),
            (Met::Yes, "probe.need.gtid_consistency"),
            (Met::Yes, "probe.need.log_bin"),
            (Met::No, "probe.need.read_only"),
        ]
    );
    let stopped = Some(vec![channel(None, ThreadState::Stopped)]);
    let replica = state("B", 2, false, stopped).expect("a state");
    let keys: Vec<&str> = replica_preconditions(&replica)
        .iter()
        .filter(|need| need.met != Met::Yes)
        .map(|need| need.what.key)
        .collect();
    assert_eq!(
        keys,
        ["probe.need.threads_stopped", "probe.need.replica_writable"]
    );
}
