//! What a poll learned, with everything taken out that may differ between two topologies of the same kind: numbers of
//! transactions, ports, identities, times.

use std::collections::BTreeMap;
use std::fmt;

use replicascope::model::gtid::Gtids;
use replicascope::model::replication::{
    ApplierPart, ApplierThread, Channel, Coordinates, Field, ReplicationError,
};
use replicascope::model::sample::{Answer, Named, Sample, TransactionOwner};

/// The shapes of all fields of one poll.
type Picture = BTreeMap<String, String>;

/// The pictures that a side's scenarios gave, by where they were taken.
#[derive(Default)]
pub struct Album {
    scenario: &'static str,
    pictures: BTreeMap<(&'static str, String), Picture>,
}

/// A field with another shape on the other side.
pub struct Difference {
    pub scenario: String,
    moment: String,
    pub field: String,
    real: Option<String>,
    simulated: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |side: &Option<String>| side.clone().unwrap_or_else(|| "(not there)".to_owned());
        write!(
            f,
            "{} / {} / {}:\n    real      {}\n    simulated {}",
            self.scenario,
            self.moment,
            self.field,
            told(&self.real),
            told(&self.simulated)
        )
    }
}

impl Album {
    pub fn begin(&mut self, scenario: &'static str) {
        self.scenario = scenario;
    }

    /// `moment` says when in the scenario and of which server.
    pub fn keep(&mut self, moment: &str, sample: &Sample) {
        let key = (self.scenario, moment.to_owned());
        self.pictures.insert(key, picture(sample));
    }

    /// Something seen over time rather than in one poll.
    pub fn note(&mut self, moment: &str, field: &str, shape: impl ToString) {
        let key = (self.scenario, moment.to_owned());
        let picture = self.pictures.entry(key).or_default();
        picture.insert(field.to_owned(), shape.to_string());
    }

    /// A row of an answer, each column as a field; `None` is NULL.
    pub fn row(&mut self, moment: &str, name: &str, row: &[(String, Option<String>)]) {
        for (column, value) in row {
            let shown = value.as_deref().map_or("NULL".to_owned(), shape);
            self.note(moment, &format!("{name}.{column}"), shown);
        }
    }

    /// What a server says to a statement that it should refuse.
    pub fn refusal(&mut self, moment: &str, sql: &str, told: &mysql::Result<()>) {
        let shown = match told {
            Ok(()) => "done".to_owned(),
            Err(mysql::Error::MySqlError(error)) => {
                format!("{} {}", error.code, shape(&error.message))
            }
            Err(other) => other.to_string(),
        };
        self.note(moment, sql, shown);
    }

    pub fn differences(&self, simulated: &Album) -> Vec<Difference> {
        let keys: std::collections::BTreeSet<_> = self
            .pictures
            .keys()
            .chain(simulated.pictures.keys())
            .cloned()
            .collect();
        let nothing = Picture::new();
        let mut all = Vec::new();
        for key in keys {
            let ours = self.pictures.get(&key).unwrap_or(&nothing);
            let theirs = simulated.pictures.get(&key).unwrap_or(&nothing);
            let fields: std::collections::BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
            for field in fields {
                if ours.get(field) != theirs.get(field) {
                    all.push(Difference {
                        scenario: key.0.to_owned(),
                        moment: key.1.clone(),
                        field: field.clone(),
                        real: ours.get(field).cloned(),
                        simulated: theirs.get(field).cloned(),
                    });
                }
            }
        }
        all
    }
}

fn picture(sample: &Sample) -> Picture {
    let mut p = Sketch::default();
    let id = &sample.identity;
    p.told("identity.server_uuid", id.server_uuid.is_some());
    p.told("identity.server_id", id.server_id.is_some());
    p.told("identity.hostname", id.hostname.is_some());
    p.told("identity.port", id.port.is_some());
    p.told("identity.uptime", id.uptime.is_some());
    p.exact("identity.read_only", id.read_only);
    p.exact("identity.super_read_only", id.super_read_only);
    p.exact("identity.innodb_read_only", id.innodb_read_only);
    p.told("clock", sample.clock.is_some());
    p.text("gtid.executed", gtids(sample.gtid.executed.as_ref()));
    p.text("gtid.applied", gtids(sample.gtid.applied.as_ref()));
    p.text("gtid.purged", gtids(sample.gtid.purged.as_ref()));
    p.text("binlog", of(&sample.binlog, |at| coordinates(Some(at))));
    for channel in sample.channels() {
        channel_fields(&mut p, channel);
    }
    p.text(
        "channels",
        of(&sample.channels, |all| all.len().to_string()),
    );
    p.text("appliers", of(&sample.appliers, |all| appliers(all)));
    if let Some(status) = sample.status.value() {
        names(&mut p, "status", status, &["rpl_semi_sync"]);
    }
    if let Some(settings) = sample.settings.value() {
        names(&mut p, "settings", settings, &[""]);
    }
    p.text(
        "transactions",
        of(&sample.transactions, |all| {
            listed(
                // The applier's own come and go with the heartbeat; where it waits, `lock_waits` has it.
                all.iter()
                    .filter(|t| t.owner != TransactionOwner::Applier)
                    .map(|t| format!("{:?} modified {}", t.owner, some(t.rows_modified))),
            )
        }),
    );
    p.text(
        "lock_waits",
        of(&sample.lock_waits, |all| {
            listed(all.iter().map(|wait| {
                format!(
                    "applier {} on {:?} blocked by {:?}: {:?}",
                    wait.waiter_is_applier,
                    wait.object,
                    wait.blocking_user,
                    wait.blocking_statement.as_deref().map(shape)
                )
            }))
        }),
    );
    p.text(
        "statements",
        of(&sample.statements, |all| {
            listed(all.iter().map(|s| {
                let statement = s.statement.as_deref().map(shape);
                format!("{} {} {:?} {statement:?}", s.user, s.command, s.state)
            }))
        }),
    );
    p.text(
        "found_replicas",
        of(&sample.found_replicas, |all| {
            listed(all.iter().map(|replica| {
                let (port, uuid) = (replica.port.is_some(), replica.uuid.is_some());
                format!("{} port {port} uuid {uuid}", replica.host)
            }))
        }),
    );
    p.text(
        "events",
        of(&sample.events, |all| {
            listed(
                all.iter()
                    .map(|e| format!("{}.{} {}", e.schema, e.name, e.status)),
            )
        }),
    );
    p.text(
        "binary_logs",
        of(&sample.binary_logs, |all| {
            all.first()
                .map_or("none".to_owned(), |log| shape(&log.file))
        }),
    );
    p.0
}

fn channel_fields(p: &mut Sketch, channel: &Channel) {
    let name = |field: &str| format!("channel{}.{field}", dotted(&channel.name));
    let mut exact = |field: &str, value: String| p.text(&name(field), value);
    exact("source.host", channel.source.host.clone());
    exact("receiver", format!("{:?}", channel.receiver));
    exact("applier", format!("{:?}", channel.applier));
    exact("receiver_doing", format!("{:?}", channel.receiver_doing));
    exact("applier_doing", format!("{:?}", channel.applier_doing));
    exact("receiver_error", error(channel.receiver_error.as_ref()));
    exact("applier_error", error(channel.applier_error.as_ref()));
    exact(
        "seconds_behind",
        match &channel.seconds_behind {
            Field::Value(0) => "0".to_owned(),
            Field::Value(_) => "a number".to_owned(),
            other => format!("{other:?}"),
        },
    );
    exact("planned_delay", channel.planned_delay.to_string());
    exact("remaining_delay", some(channel.remaining_delay));
    exact("read", coordinates(channel.read.as_ref()));
    exact("executed", coordinates(channel.executed.as_ref()));
    exact("retrieved_gtids", gtids(channel.retrieved_gtids.as_ref()));
    exact("auto_position", format!("{:?}", channel.auto_position));
    exact("filters", format!("{:?}", channel.filters.quoted()));
    if let Some(times) = &channel.receiver_times {
        exact("times.heartbeat", some(times.last_heartbeat));
        exact("times.queued_gtid", some(times.last_queued_gtid.as_ref()));
        exact(
            "times.queued_commit",
            some(times.last_queued_original_commit),
        );
        exact("times.queued_end", some(times.last_queued_end));
    }
    for (column, value) in channel.raw.iter() {
        let shown = value.as_deref().map_or("NULL".to_owned(), shape);
        p.text(&name(&format!("raw.{column}")), shown);
    }
}

fn dotted(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!(".{name}")
    }
}

#[derive(Default)]
struct Sketch(Picture);

impl Sketch {
    fn text(&mut self, field: &str, shape: String) {
        self.0.insert(field.to_owned(), shape);
    }

    fn told(&mut self, field: &str, told: bool) {
        self.text(field, if told { "told" } else { "not told" }.to_owned());
    }

    fn exact(&mut self, field: &str, value: impl fmt::Debug) {
        self.text(field, format!("{value:?}"));
    }
}

fn of<T>(answer: &Answer<T>, shape: impl FnOnce(&T) -> String) -> String {
    match answer {
        Answer::Known { value, .. } => shape(value),
        Answer::Refused(trouble) => format!("refused: {:?} {:?}", trouble.kind, trouble.code),
        Answer::NotAsked { why } => format!("not asked: {}", why.key),
    }
}

fn some<T>(value: Option<T>) -> String {
    if value.is_some() { "some" } else { "none" }.to_owned()
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<String> = items.collect();
    items.sort();
    items.join("; ")
}

fn error(error: Option<&ReplicationError>) -> String {
    error.map_or("none".to_owned(), |error| {
        format!("{} {}", error.number, shape(&error.text))
    })
}

fn coordinates(at: Option<&Coordinates>) -> String {
    at.map_or("none".to_owned(), |at| {
        format!(
            "{} {}",
            shape(&at.file),
            if at.position > 0 { "#" } else { "0" }
        )
    })
}

fn gtids(set: Option<&Gtids>) -> String {
    set.map_or("not told".to_owned(), |set| shape(&set.to_string()))
}

fn appliers(all: &[ApplierThread]) -> String {
    let workers = |f: fn(&ApplierThread) -> bool| {
        all.iter()
            .filter(|thread| matches!(thread.part, ApplierPart::Worker(_)) && f(thread))
            .count()
    };
    let coordinators = all.len() - workers(|_| true);
    let errors = listed(
        all.iter()
            .filter_map(|thread| thread.error.as_ref())
            .filter(|error| error.number != 0)
            .map(|told| error(Some(told))),
    );
    format!(
        "{coordinators} coordinators, {} workers, {} running, applying {}, has applied {}, errors: {errors}",
        workers(|_| true),
        workers(|thread| thread.running),
        workers(|thread| thread.applying.is_some()) > 0,
        workers(|thread| thread.last_applied.is_some()) > 0,
    )
}

/// Which names there are; of those that begin with one of `exactly` also the value.
fn names(p: &mut Sketch, what: &str, named: &Named, exactly: &[&str]) {
    for (name, value) in &named.0 {
        let counts = ["_tx", "_wait_time"].iter().any(|end| name.ends_with(end));
        let is_exact = !counts && exactly.iter().any(|beginning| name.starts_with(beginning));
        let shown = if is_exact {
            value.clone()
        } else {
            shape(value)
        };
        p.text(&format!("{what}.{name}"), shown);
    }
}

/// Identities become `UUID`, runs of digits `#`; `#-#` and lists of such become one.
fn shape(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(uuid) = rest.get(..36)
            && is_uuid(uuid)
        {
            words += "UUID";
            rest = &rest[36..];
        } else if c.is_ascii_digit() {
            words.push('#');
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            words.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    let mut before = String::new();
    while before != words {
        before.clone_from(&words);
        words = words
            .replace("#-#", "#")
            .replace("#:#", "#")
            .replace("#.#", "#");
    }
    words
}

fn is_uuid(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[test]
fn shapes_forget_numbers_and_identities() {
    for (text, wanted) in [
        (
            "00000001-aaaa-11f0-8000-000000000000:1-7,\n00000002-aaaa-11f0-8000-000000000000:3",
            "UUID:#,\nUUID:#",
        ),
        ("binlog.000002", "binlog.#"),
        ("2026-11-30 01:02:03.456", "# #"),
        (
            "Waiting for source to send event",
            "Waiting for source to send event",
        ),
    ] {
        assert_eq!(shape(text), wanted);
    }
}
