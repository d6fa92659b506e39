//! Small pieces the tests of this layer are built from.

use crate::model::gtid::{GtidSet, Gtids};
use crate::model::lag::{Measurement, Method, Reading};
use crate::model::phrase::phrase;
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};

use super::replica::{Admission, Answering, ReplicaView, Threads};
use super::request::{Awaited, Need, QueryKind, Request, SessionKey};
use super::wait::WaitUnit;

pub const SERVER: &str = "00021324-1111-1111-1111-111111111111";

pub fn at_ms(ms: i64) -> Moment {
    Moment::from_unix_micros(1_700_000_000_000_000) + Span::from_millis(ms)
}

/// `1-5` of one server; empty stays empty.
pub fn gtids(numbers: &str) -> Gtids {
    let text = match numbers {
        "" => String::new(),
        numbers => format!("{SERVER}:{numbers}"),
    };
    GtidSet::parse(&text).expect("a GTID set").into()
}

pub fn lag_ms(ms: i64) -> Reading {
    Reading::Measured(Measurement {
        value: Span::from_millis(ms),
        bound: None,
        method: Method::Heartbeat,
        taken_at: at_ms(0),
    })
}

pub fn unknown_lag() -> Reading {
    Reading::unknown(phrase("lag.why.no_facts"))
}

/// Healthy, 10 ms behind.
pub fn replica(watch: u32) -> ReplicaView {
    ReplicaView {
        watch: WatchId(watch),
        answering: Answering::Yes,
        threads: Threads::Running,
        lag: lag_ms(10),
        admission: Admission::Everything,
        wait_unit: Some(WaitUnit::Fractions),
    }
}

/// An ordinary list by session 1.
pub fn list_at(ms: i64) -> Request {
    Request {
        session: SessionKey(1),
        kind: QueryKind::List,
        at: at_ms(ms),
        in_transaction: false,
        need: Need::Nothing,
        reads_to: None,
    }
}

/// A list that must see a write.
pub fn list_after(ms: i64, awaited: Option<&str>) -> Request {
    Request {
        need: Need::Write(Awaited {
            gtids: awaited.map(gtids),
        }),
        ..list_at(ms)
    }
}
