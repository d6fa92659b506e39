//! `Seconds_Behind_Source`, computed as the servers compute it.
//!
//! MySQL: NULL while the applier is stopped. With everything read applied: 0 if the receiver is connected, otherwise
//! NULL. Else the server's clock minus the time stamp of the oldest transaction being applied, minus the difference of
//! the clocks when the receiver connected; never negative, and 0 if there is no such time stamp: so a replica that was
//! never connected says 0. MariaDB: NULL unless both threads run.

use crate::model::server::Flavour;

use super::status::Running;

#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub applier_runs: bool,
    pub receiver: Running,
    /// Positions read and executed are equal.
    pub is_all_executed: bool,
    /// The replica's clock.
    pub now_secs: i64,
    /// By how much it was ahead of the source's when connecting.
    pub clock_difference_secs: i64,
    /// Of the event being applied, as the source's clock was when its statement began.
    pub stamp_secs: Option<i64>,
}

pub(super) fn seconds_behind(flavour: Flavour, it: Standing) -> Option<i64> {
    let connected = it.receiver == Running::Yes;
    if !it.applier_runs || (flavour.is_mariadb() && !connected) {
        return None;
    }
    if it.is_all_executed {
        return connected.then_some(0);
    }
    let behind = |stamp: i64| (it.now_secs - stamp - it.clock_difference_secs).max(0);
    Some(it.stamp_secs.map_or(0, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKING: Standing = Standing {
        applier_runs: true,
        receiver: Running::Yes,
        is_all_executed: false,
        now_secs: 1000,
        clock_difference_secs: 0,
        stamp_secs: Some(993),
    };

    #[test]
    fn the_rules_one_by_one() {
        let stopped = Standing {
            applier_runs: false,
            ..WORKING
        };
        let receiver = |receiver| Standing {
            receiver,
            ..WORKING
        };
        let caught_up = |receiver| Standing {
            receiver,
            is_all_executed: true,
            ..WORKING
        };
        let never_connected = Standing {
            receiver: Running::Connecting,
            stamp_secs: None,
            ..WORKING
        };
        let clocks = |clock_difference_secs| Standing {
            clock_difference_secs,
            ..WORKING
        };
        let cases = [
            (WORKING, Some(7), Some(7), "applies"),
            (stopped, None, None, "the applier is stopped"),
            (receiver(Running::No), Some(7), None, "no receiver, backlog"),
            (receiver(Running::Connecting), Some(7), None, "connecting"),
            (caught_up(Running::Yes), Some(0), Some(0), "nothing to do"),
            (
                caught_up(Running::No),
                None,
                None,
                "no receiver, no backlog",
            ),
            (
                caught_up(Running::Connecting),
                None,
                None,
                "connecting, idle",
            ),
            (never_connected, Some(0), None, "never connected"),
            (clocks(5), Some(2), Some(2), "the clock was ahead"),
            (clocks(90), Some(0), Some(0), "never negative"),
        ];
        for (standing, mysql, mariadb, what) in cases {
            assert_eq!(seconds_behind(Flavour::MySql, standing), mysql, "{what}");
            assert_eq!(
                seconds_behind(Flavour::MariaDb, standing),
                mariadb,
                "{what}"
            );
        }
    }
}
