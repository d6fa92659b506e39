//! Every read on the source: simple, always right, and the replicas relieve nothing. Good for the few reads that
//! matter most.

use crate::model::phrase::{Phrase, phrase};

use super::super::decision::{Decision, Reason};
use super::super::replica::ReplicaView;
use super::super::request::Request;
use super::super::strategy::{Promise, Strategy};

#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysSource;

impl Strategy for AlwaysSource {
    fn code(&self) -> String {
        "always_source".to_owned()
    }

    fn name(&self) -> Phrase {
        phrase("routing.rule.always_source")
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }

    fn choose(&mut self, _: &Request, _: &[ReplicaView]) -> Decision {
        Decision::source(Reason::AlwaysSource)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::build::{list_at, replica};
    use super::*;

    #[test]
    fn the_best_replica_is_not_read() {
        assert_eq!(
            AlwaysSource.read(&list_at(0), &[replica(1)]),
            Decision::source(Reason::AlwaysSource)
        );
    }
}
