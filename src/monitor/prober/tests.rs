//! The rule of strong reads, held against servers that do anything a wait can come to.

use std::time::Duration;

use proptest::prelude::*;

use super::workers::wait_then_read;
use crate::link::clock;
use crate::link::probing::{ProbeLink, Written};
use crate::model::gtid::{GtidSet, Gtids};
use crate::model::phrase::phrase;
use crate::model::probe::{
    Outcome, ProbeId, ProbeRow, ReadFrom, Seen, ServerState, Token, TokenFrom, Verdict, WaitKind,
    WaitSeen,
};
use crate::model::replication::Channel;
use crate::model::sample::Identity;
use crate::model::server::Product;
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};

const NEW: &str = "new";

/// A replica some transactions behind: it tells the truth about what it has applied, unless the wait ends in another
/// way first.
struct LateReplica {
    product: Product,
    /// Applied transactions; the write is number `write`.
    applied: u64,
    write: u64,
    /// How many more it applies while it is waited for.
    applies_while_waiting: u64,
    /// How the wait ends before it is reached.
    ends_early: Option<WaitKind>,
    read_fails: bool,
    was_read: bool,
}

fn trouble() -> Trouble {
    Trouble {
        kind: TroubleKind::Lost,
        what: phrase("x"),
        hint: None,
        code: None,
        detail: String::new(),
    }
}

impl ProbeLink for LateReplica {
    fn product(&self) -> &Product {
        &self.product
    }

    fn session_id(&self) -> u64 {
        7
    }

    fn read(&mut self, _: ProbeRow) -> Result<Option<String>, Trouble> {
        self.was_read = true;
        if self.read_fails {
            return Err(trouble());
        }
        Ok((self.applied >= self.write).then(|| NEW.to_owned()))
    }

    fn wait(&mut self, target: &Gtids, _: Duration) -> WaitSeen {
        self.applied += self.applies_while_waiting;
        let has = format!("00000001-aaaa-11f0-8000-000000000000:1-{}", self.applied);
        let has = GtidSet::parse(&has).map(Gtids::MySql).expect("a set");
        let kind = match self.ends_early {
            Some(kind) => kind,
            None if has.contains(target) => WaitKind::Reached,
            None => WaitKind::TimedOut,
        };
        let now = clock::now();
        WaitSeen {
            span: Some((now, now)),
            session: Some(7),
            ..WaitSeen::not_sent(kind)
        }
    }

    fn state(&mut self) -> Result<ServerState, Trouble> {
        Err(trouble())
    }
    fn role(&mut self) -> Result<Identity, Trouble> {
        Err(trouble())
    }
    fn channels(&mut self) -> Result<Option<Vec<Channel>>, Trouble> {
        Ok(None)
    }
    fn create_table(&mut self) -> Result<(), Trouble> {
        Err(trouble())
    }
    fn insert(&mut self, _: ProbeRow, _: &str) -> Result<Written, Trouble> {
        Err(trouble())
    }
    fn update(&mut self, _: ProbeRow, _: &str) -> Result<Written, Trouble> {
        Err(trouble())
    }
    fn executed(&mut self) -> Result<Result<Token, WaitKind>, Trouble> {
        Ok(Err(WaitKind::NoGtid))
    }
    fn present(&mut self, _: ProbeRow, _: u32) -> Result<Vec<u32>, Trouble> {
        Err(trouble())
    }
    fn remove(&mut self, _: ProbeRow, _: u32) -> Result<(), Trouble> {
        Err(trouble())
    }
    fn remove_abandoned(&mut self) -> Result<(), Trouble> {
        Err(trouble())
    }
    fn is_spoiled(&self) -> bool {
        false
    }
}

fn on_source(answers: bool) -> Seen {
    let now = clock::now();
    let value = if answers {
        Ok(Some(NEW.to_owned()))
    } else {
        Err(trouble())
    };
    Seen {
        session: Some(1),
        asked_at: now,
        answered_at: now,
        value,
    }
}

fn failures() -> impl Strategy<Value = WaitKind> {
    let kinds: Vec<WaitKind> = WaitKind::ALL
        .into_iter()
        .filter(|kind| *kind != WaitKind::Reached)
        .collect();
    prop::sample::select(kinds)
}

proptest! {
    #[test]
    fn a_waited_read_is_never_older_than_the_write(
        applied in 1_u64..50,
        write in 1_u64..50,
        applies_while_waiting in 0_u64..30,
        ends_early in prop::option::of(failures()),
        no_token in prop::option::weighted(0.2, failures()),
        is_connected in prop::bool::weighted(0.9),
        read_fails in prop::bool::weighted(0.1),
        whole_set in any::<bool>(),
        source_answers in prop::bool::weighted(0.9),
    ) {
        let mut replica = LateReplica {
            product: Product::from_text("8.0.37", ""),
            applied, write, applies_while_waiting, ends_early, read_fails, was_read: false,
        };
        let from = if whole_set { 1 } else { write };
        let text = format!("00000001-aaaa-11f0-8000-000000000000:{from}-{write}");
        let token = match no_token {
            Some(kind) => Err(WaitSeen::not_sent(kind)),
            None => Ok(Token {
                gtids: Gtids::MySql(GtidSet::parse(&text).expect("a set")),
                from: TokenFrom::Session,
            }),
        };
        let row = ProbeRow { probe: ProbeId(1), number: 1 };
        let limit = Span::from_millis(10);
        let link: Result<&mut dyn ProbeLink, Trouble> =
            if is_connected { Ok(&mut replica) } else { Err(trouble()) };
        let waited = wait_then_read(link, row, token, limit, || on_source(source_answers));

        let verdict = waited.read.verdict(NEW);
        prop_assert!(matches!(verdict, Verdict::Fresh | Verdict::Failed), "{waited:?}");
        let reached = waited.wait.kind.outcome() == Outcome::Reached;
        prop_assert_eq!(reached, waited.read_from == ReadFrom::Replica);
        prop_assert_eq!(reached, waited.reason.is_none());
        if !reached {
            prop_assert_eq!(verdict == Verdict::Fresh, source_answers);
            // Its rows are looked at only after a wait that succeeded.
            prop_assert!(!replica.was_read || waited.wait.kind == WaitKind::ReadFailed);
        }
    }
}
