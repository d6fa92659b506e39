//! A session's transaction stays where it began: locks, temporary tables, isolation and what is not yet committed
//! belong to that one connection. Routing by the kind of SQL alone sends the SELECT inside it to a replica (B-01).

use crate::model::phrase::{Phrase, phrase};
use crate::model::server::WatchId;

/// What a session does, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    Begin,
    Read,
    Write,
    Commit,
    Rollback,
    /// DDL and its kind: commits what is open.
    ImplicitCommit,
    AutocommitOff,
    AutocommitOn,
}

/// Where a statement may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The connection that holds the transaction.
    Bound,
    /// The source, any connection.
    Source,
    /// Whatever the routing rule says.
    Free,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    open: bool,
    autocommit_off: bool,
}

impl Binding {
    pub fn is_bound(self) -> bool {
        self.open
    }

    /// Where the statement goes, and what follows from it. Only the end of the transaction sets the session free.
    pub fn statement(&mut self, statement: Statement) -> Place {
        let place = self.place(statement);
        match statement {
            Statement::Begin => self.open = true,
            Statement::Commit | Statement::Rollback | Statement::ImplicitCommit => {
                self.open = false;
            }
            Statement::AutocommitOff => self.autocommit_off = true,
            Statement::AutocommitOn => (self.open, self.autocommit_off) = (false, false),
            Statement::Read | Statement::Write => self.open |= self.autocommit_off,
        }
        place
    }

    /// The connection is gone, and with it the transaction.
    pub fn connection_lost(&mut self) {
        *self = Binding::default();
    }

    fn place(self, statement: Statement) -> Place {
        match statement {
            _ if self.open => Place::Bound,
            Statement::Read if !self.autocommit_off => Place::Free,
            _ => Place::Source,
        }
    }
}

/// Where a statement of the binding test really ran, as the server and its connection id told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    pub statement: Statement,
    pub server: WatchId,
    pub connection: u64,
}

/// A statement of a transaction that ran elsewhere than the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strayed {
    /// Which statement of the trace.
    pub step: usize,
    pub how: Stray,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stray {
    OtherServer,
    /// The right server, but a connection that does not hold the transaction.
    OtherConnection,
    /// A transaction that began on a server that is not the source.
    BeganElsewhere,
}

impl Stray {
    pub fn phrase(self) -> Phrase {
        match self {
            Stray::OtherServer => phrase("routing.stray.other_server"),
            Stray::OtherConnection => phrase("routing.stray.other_connection"),
            Stray::BeganElsewhere => phrase("routing.stray.began_elsewhere"),
        }
    }
}

/// Judges one session's trace: every statement from the beginning of a transaction to its end must have run on the
/// connection that began it, on the source.
pub fn strayed(source: WatchId, trace: &[Ran]) -> Vec<Strayed> {
    let mut binding = Binding::default();
    let mut home: Option<Ran> = None;
    let mut found = Vec::new();
    for (step, ran) in trace.iter().enumerate() {
        let place = binding.statement(ran.statement);
        let how = match (place, home) {
            (Place::Bound, Some(home)) if ran.server != home.server => Some(Stray::OtherServer),
            (Place::Bound, Some(home)) if ran.connection != home.connection => {
                Some(Stray::OtherConnection)
            }
            (Place::Source, _) if ran.server != source => Some(Stray::BeganElsewhere),
            _ => None,
        };
        found.extend(how.map(|how| Strayed { step, how }));
        home = binding.is_bound().then(|| home.unwrap_or(*ran));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use Statement::{
        AutocommitOff, AutocommitOn, Begin, Commit, ImplicitCommit, Read, Rollback, Write,
    };

    #[test]
    fn b07_a_read_is_bound_until_the_transaction_ends() {
        use Place::{Bound, Free, Source};
        for (statements, places) in [
            (&[Read, Write, Read][..], &[Free, Source, Free][..]),
            (
                &[Begin, Read, Write, Read, Commit, Read],
                &[Source, Bound, Bound, Bound, Bound, Free],
            ),
            (
                &[Begin, Read, Rollback, Read],
                &[Source, Bound, Bound, Free],
            ),
            (&[Begin, ImplicitCommit, Read], &[Source, Bound, Free]),
            // Without autocommit a read begins a transaction.
            (
                &[AutocommitOff, Read, Read, Commit, Read, AutocommitOn, Read],
                &[Source, Source, Bound, Bound, Source, Bound, Free],
            ),
        ] {
            let mut binding = Binding::default();
            let went: Vec<_> = statements.iter().map(|s| binding.statement(*s)).collect();
            assert_eq!(went, places, "{statements:?}");
        }
    }

    #[test]
    fn a_lost_connection_takes_its_transaction_along() {
        let mut binding = Binding::default();
        binding.statement(Begin);
        binding.connection_lost();
        assert_eq!(binding.statement(Read), Place::Free);
    }

    fn ran(statement: Statement, server: u32, connection: u64) -> Ran {
        Ran {
            statement,
            server: WatchId(server),
            connection,
        }
    }

    #[test]
    fn statements_that_left_their_transaction_are_found() {
        let source = WatchId(1);
        let good = [
            ran(Begin, 1, 5),
            ran(Read, 1, 5),
            ran(Commit, 1, 5),
            ran(Read, 2, 9),
        ];
        assert_eq!(strayed(source, &good), []);
        let c12 = [
            ran(Begin, 1, 5),
            ran(Write, 1, 5),
            ran(Read, 2, 9),
            ran(Commit, 1, 5),
        ];
        let other_server = Strayed {
            step: 2,
            how: Stray::OtherServer,
        };
        assert_eq!(strayed(source, &c12), [other_server]);
        let pooled = [ran(Begin, 1, 5), ran(Read, 1, 6), ran(Commit, 1, 5)];
        let other_connection = Strayed {
            step: 1,
            how: Stray::OtherConnection,
        };
        assert_eq!(strayed(source, &pooled), [other_connection]);
        let on_replica = [ran(Begin, 2, 9), ran(Read, 2, 9)];
        let began = Strayed {
            step: 0,
            how: Stray::BeganElsewhere,
        };
        assert_eq!(strayed(source, &on_replica), [began]);
    }
}
