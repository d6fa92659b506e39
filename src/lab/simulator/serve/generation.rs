//! What a generation of servers has and how it names it, in one place.

use crate::model::lab::Generation;

/// Questions about a [`Generation`].
#[allow(clippy::wrong_self_convention)] // it is a small `Copy` type
pub trait Habits {
    fn is_mariadb(self) -> bool;
    /// 5.7 and MariaDB answer under the old names (Slave_, Master_).
    fn says_slave(self) -> bool;
    /// From 8.4 on the old words are gone from statements (1064).
    fn forgot_slave(self) -> bool;
    /// START REPLICA, STOP REPLICA, RESET REPLICA.
    fn knows_replica(self) -> bool;
    /// CHANGE REPLICATION SOURCE TO.
    fn knows_replication_source(self) -> bool;
    /// Microsecond stamps in performance_schema, data_locks, processlist there.
    fn has_new_performance_schema(self) -> bool;
    /// Place in tables that have a column for each generation.
    fn place(self) -> usize;
}

impl Habits for Generation {
    fn is_mariadb(self) -> bool {
        matches!(self, Generation::MariaDb1011 | Generation::MariaDb118)
    }

    fn says_slave(self) -> bool {
        self == Generation::MySql57 || self.is_mariadb()
    }

    fn forgot_slave(self) -> bool {
        matches!(self, Generation::MySql84 | Generation::MySql97)
    }

    fn knows_replica(self) -> bool {
        self != Generation::MySql57
    }

    fn knows_replication_source(self) -> bool {
        self.knows_replica() && !self.is_mariadb()
    }

    fn has_new_performance_schema(self) -> bool {
        matches!(
            self,
            Generation::MySql80 | Generation::MySql84 | Generation::MySql97
        )
    }

    fn place(self) -> usize {
        Generation::ALL
            .iter()
            .position(|generation| *generation == self)
            .unwrap_or(0)
    }
}
