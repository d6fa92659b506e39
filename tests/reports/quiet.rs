//! What the other modules stand on: with nothing wrong, nothing is said.

use super::support::stage::{Generation, replica_of, source_of, stage};
use replicascope::model::finding::Health;
use replicascope::model::lag::LagView;
use replicascope::model::time::Span;

#[test]
fn a_quiet_topology_of_any_generation_is_ok_and_routable() {
    for generation in Generation::ALL {
        let mut stage = stage([source_of(generation), replica_of(generation)]).watch();
        let view = stage.until(&format!("{generation:?} measured"), |view| {
            let zero = |lag: &LagView| lag.headline.value() == Some(Span::ZERO);
            view.lag().is_some_and(zero) && view.server("replica").routable
        });
        let replica = view.replica().expect("a channel");
        assert_eq!(
            replica.health,
            Health::Ok,
            "{generation:?}\n{}",
            view.tell()
        );
        assert!(
            replica.routable && replica.source.is_some(),
            "{generation:?}"
        );
        assert_eq!(view.codes(), Vec::<&str>::new(), "{generation:?}");
    }
}
