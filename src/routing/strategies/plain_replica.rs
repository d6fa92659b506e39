//! Any replica that answers, one after the other; neither lag nor threads are looked at. The baseline against which
//! the other rules are measured, not one to use.

use crate::model::phrase::{Phrase, phrase};

use super::super::decision::{Decision, Reason};
use super::super::pick::{Order, Picker};
use super::super::replica::ReplicaView;
use super::super::request::Request;
use super::super::strategy::{Promise, Strategy};

#[derive(Clone, Debug)]
pub struct PlainReplica {
    picker: Picker,
}

impl Default for PlainReplica {
    fn default() -> Self {
        PlainReplica {
            picker: Picker::new(Order::RoundRobin),
        }
    }
}

impl Strategy for PlainReplica {
    fn code(&self) -> String {
        "plain_replica".to_owned()
    }

    fn name(&self) -> Phrase {
        phrase("routing.rule.plain_replica")
    }

    fn promise(&self) -> Promise {
        Promise::Nothing
    }

    fn choose(&mut self, _: &Request, replicas: &[ReplicaView]) -> Decision {
        match self.picker.pick(replicas, ReplicaView::answers) {
            Ok(watch) => Decision::replica(watch, Reason::AnyReplica),
            Err(unfit) => Decision::source(Reason::NoFitReplica(unfit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::build::{list_at, replica, unknown_lag};
    use super::super::super::replica::{Answering, Threads, Unfit};
    use super::*;
    use crate::model::server::WatchId;

    #[test]
    fn a_stopped_replica_of_unknown_lag_is_read_all_the_same() {
        let stopped = ReplicaView {
            threads: Threads::NotRunning,
            lag: unknown_lag(),
            ..replica(1)
        };
        assert_eq!(
            PlainReplica::default().read(&list_at(0), &[stopped]),
            Decision::replica(WatchId(1), Reason::AnyReplica)
        );
    }

    #[test]
    fn one_that_does_not_answer_cannot_be_read() {
        let gone = ReplicaView {
            answering: Answering::No,
            ..replica(1)
        };
        assert_eq!(
            PlainReplica::default().read(&list_at(0), &[gone]),
            Decision::source(Reason::NoFitReplica(Unfit::CheckFailed))
        );
    }
}
