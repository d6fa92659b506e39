//! Scheduled events: what they are, and CREATE, ALTER and DROP EVENT.

use std::collections::BTreeMap;

use super::words::Words;
use crate::lab::wire::SqlError;
use crate::model::time::{ServerTime, Span};

/// The events of one server, by `schema.name`.
#[derive(Clone, Debug, Default)]
pub struct Events(BTreeMap<String, Event>);

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub schema: String,
    pub name: String,
    /// What it does, as it was written.
    pub body: String,
    pub definer: String,
    pub every: Span,
    /// As it was written: `1`, `SECOND`.
    pub interval: (String, String),
    pub state: EventState,
    /// Where it was last created or changed.
    pub originator: u32,
    pub preserve: bool,
    pub comment: String,
    pub created: ServerTime,
    pub altered: ServerTime,
    pub last_executed: Option<ServerTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventState {
    Enabled,
    Disabled,
    /// It came by replication, or was told to be (DISABLE ON REPLICA).
    ReplicaSideDisabled,
}

/// A change of events, as it goes through the binary log.
#[derive(Clone, Debug, PartialEq)]
pub enum EventOrder {
    Create {
        event: Box<Event>,
        if_not_exists: bool,
    },
    Alter {
        key: String,
        state: Option<EventState>,
        every: Option<(Span, (String, String))>,
        body: Option<String>,
    },
    Drop {
        key: String,
        if_exists: bool,
    },
}

impl EventOrder {
    pub fn key(&self) -> String {
        match self {
            EventOrder::Create { event, .. } => event.key(),
            EventOrder::Alter { key, .. } | EventOrder::Drop { key, .. } => key.clone(),
        }
    }
}

impl Event {
    pub fn key(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }
}

/// Where a change of events is carried out.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The statement was said on this server, not copied to it.
    pub is_origin: bool,
    pub origin_server_id: u32,
    pub now: ServerTime,
}

impl Events {
    pub fn get(&self, key: &str) -> Option<&Event> {
        self.0.get(key)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.0.values()
    }

    pub fn executed(&mut self, key: &str, at: ServerTime) {
        if let Some(event) = self.0.get_mut(key) {
            event.last_executed = Some(at);
        }
    }

    /// 1537, 1539.
    pub fn check(&self, order: &EventOrder) -> Result<(), SqlError> {
        let name = |key: &str| key.split_once('.').map_or(key, |(_, name)| name).to_owned();
        match order {
            EventOrder::Create {
                event,
                if_not_exists: false,
            } if self.0.contains_key(&event.key()) => Err(SqlError::new(
                1537,
                format!("Event '{}' already exists", event.name),
            )),
            EventOrder::Alter { key, .. }
            | EventOrder::Drop {
                key,
                if_exists: false,
            } if !self.0.contains_key(key) => Err(SqlError::new(
                1539,
                format!("Unknown event '{}'", name(key)),
            )),
            _ => Ok(()),
        }
    }

    /// An event that comes by replication arrives disabled: the source runs it, its effect is copied.
    pub fn apply(&mut self, order: &EventOrder, place: Place) {
        let here = |state: EventState| match state {
            EventState::Enabled if !place.is_origin => EventState::ReplicaSideDisabled,
            state => state,
        };
        match order {
            EventOrder::Create { event, .. } => {
                let mut event = (**event).clone();
                event.state = here(event.state);
                event.originator = place.origin_server_id;
                event.created = place.now;
                event.altered = place.now;
                self.0.entry(event.key()).or_insert(event);
            }
            EventOrder::Alter {
                key,
                state,
                every,
                body,
            } => {
                if let Some(event) = self.0.get_mut(key) {
                    if let Some(state) = state {
                        event.state = here(*state);
                    } else if !place.is_origin {
                        event.state = EventState::ReplicaSideDisabled;
                    }
                    if let Some((every, interval)) = every {
                        event.every = *every;
                        event.interval = interval.clone();
                    }
                    if let Some(body) = body {
                        event.body.clone_from(body);
                    }
                    event.originator = place.origin_server_id;
                    event.altered = place.now;
                }
            }
            EventOrder::Drop { key, .. } => {
                self.0.remove(key);
            }
        }
    }
}

/// `schema`: the default one of the session (1046 when there is none and none is named).
pub fn order(
    words: &mut Words<'_>,
    schema: Option<&str>,
    definer: &str,
) -> Result<EventOrder, SqlError> {
    let verb = words.keyword();
    words.accept("OR REPLACE");
    let said = said_definer(words);
    let definer = said.as_deref().unwrap_or(definer);
    if !words.accept("EVENT") {
        return Err(words.error());
    }
    match verb.as_str() {
        "CREATE" => create(words, schema, definer),
        "ALTER" => alter(words, schema),
        _ => {
            let if_exists = words.accept("IF EXISTS");
            let (schema, name) = key(words, schema)?;
            Ok(EventOrder::Drop {
                key: format!("{schema}.{name}"),
                if_exists,
            })
        }
    }
}

/// `user@host`; `None` also for CURRENT_USER.
fn said_definer(words: &mut Words<'_>) -> Option<String> {
    if !words.accept("DEFINER =") {
        return None;
    }
    let user = words.value()?;
    if words.accept("@") {
        return Some(format!("{user}@{}", words.value()?));
    }
    words.accept("( )");
    (!user.eq_ignore_ascii_case("CURRENT_USER")).then(|| format!("{user}@%"))
}

fn key(words: &mut Words<'_>, default: Option<&str>) -> Result<(String, String), SqlError> {
    let (schema, name) = words.qualified_name().ok_or_else(|| words.error())?;
    let schema = schema
        .or_else(|| default.map(str::to_owned))
        .ok_or_else(|| SqlError::new(1046, "No database selected"))?;
    Ok((schema, name))
}

fn create(
    words: &mut Words<'_>,
    schema: Option<&str>,
    definer: &str,
) -> Result<EventOrder, SqlError> {
    let if_not_exists = words.accept("IF NOT EXISTS");
    let (schema, name) = key(words, schema)?;
    let mut event = Event {
        schema,
        name,
        body: String::new(),
        definer: definer.to_owned(),
        every: Span::ZERO,
        interval: (String::new(), String::new()),
        state: EventState::Enabled,
        originator: 0,
        preserve: false,
        comment: String::new(),
        created: ServerTime(0),
        altered: ServerTime(0),
        last_executed: None,
    };
    let clauses = clauses(words)?;
    let (every, interval) = clauses.every.ok_or_else(|| words.error())?;
    (event.every, event.interval) = (every, interval);
    event.body = clauses.body.ok_or_else(|| words.error())?;
    event.state = clauses.state.unwrap_or(EventState::Enabled);
    event.preserve = clauses.preserve;
    event.comment = clauses.comment;
    Ok(EventOrder::Create {
        event: Box::new(event),
        if_not_exists,
    })
}

fn alter(words: &mut Words<'_>, schema: Option<&str>) -> Result<EventOrder, SqlError> {
    let (schema, name) = key(words, schema)?;
    let clauses = clauses(words)?;
    Ok(EventOrder::Alter {
        key: format!("{schema}.{name}"),
        state: clauses.state,
        every: clauses.every,
        body: clauses.body,
    })
}

#[derive(Default)]
struct Clauses {
    every: Option<(Span, (String, String))>,
    state: Option<EventState>,
    preserve: bool,
    comment: String,
    body: Option<String>,
}

fn clauses(words: &mut Words<'_>) -> Result<Clauses, SqlError> {
    let mut found = Clauses::default();
    while !words.at_end() {
        if words.accept("ON SCHEDULE") {
            found.every = Some(every(words)?);
        } else if words.accept("ON COMPLETION") {
            found.preserve = !words.accept("NOT");
            words.accept("PRESERVE");
        } else if words.accept("ENABLE") {
            found.state = Some(EventState::Enabled);
        } else if words.accept("DISABLE") {
            let on_replica = words.accept("ON SLAVE") || words.accept("ON REPLICA");
            found.state = Some(match on_replica {
                true => EventState::ReplicaSideDisabled,
                false => EventState::Disabled,
            });
        } else if words.accept("COMMENT") {
            found.comment = words.text().ok_or_else(|| words.error())?;
        } else if words.accept("DO") {
            found.body = Some(words.rest().to_owned());
            break;
        } else {
            return Err(words.error());
        }
    }
    Ok(found)
}

fn every(words: &mut Words<'_>) -> Result<(Span, (String, String)), SqlError> {
    if words.is("AT") {
        return Err(SqlError::new(
            1235,
            "This simulated server only knows events that run EVERY so often",
        ));
    }
    if !words.accept("EVERY") {
        return Err(words.error());
    }
    let value = words.value().ok_or_else(|| words.error())?;
    let number: f64 = value.parse().map_err(|_| words.error())?;
    let unit = words.accept_one_of(&["SECOND", "MINUTE", "HOUR", "DAY"]);
    let unit = unit.ok_or_else(|| words.error())?;
    let seconds = match unit {
        "SECOND" => 1.0,
        "MINUTE" => 60.0,
        "HOUR" => 3600.0,
        _ => 86_400.0,
    };
    if number <= 0.0 {
        return Err(SqlError::new(
            1542,
            "INTERVAL is either not positive or too big",
        ));
    }
    for bound in ["STARTS", "ENDS"] {
        if words.accept(bound) {
            while !words.at_end()
                && !["ENDS", "ON", "ENABLE", "DISABLE", "COMMENT", "DO"]
                    .iter()
                    .any(|word| words.is(word))
            {
                words.skip();
            }
        }
    }
    let every = Span::from_secs_f64(number * seconds);
    Ok((every, (value, unit.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: &str = "CREATE EVENT IF NOT EXISTS replicascope.heartbeat ON SCHEDULE EVERY 1 SECOND \
                          STARTS CURRENT_TIMESTAMP ON COMPLETION PRESERVE COMMENT 'beats' \
                          DO UPDATE replicascope.heartbeat SET ts = UTC_TIMESTAMP(6)";

    fn said(sql: &str) -> EventOrder {
        order(&mut Words::of(sql), None, "admin@%").unwrap()
    }

    fn place(is_origin: bool) -> Place {
        Place {
            is_origin,
            origin_server_id: 1,
            now: ServerTime(5),
        }
    }

    #[test]
    fn an_event_that_came_by_replication_does_not_run() {
        let (mut source, mut replica) = (Events::default(), Events::default());
        source.apply(&said(CREATE), place(true));
        replica.apply(&said(CREATE), place(false));
        let event = source.get("replicascope.heartbeat").unwrap();
        assert_eq!(event.state, EventState::Enabled);
        assert_eq!(event.every, Span::from_secs(1));
        assert!(event.preserve && event.body.starts_with("UPDATE replicascope.heartbeat"));
        let copy = replica.get("replicascope.heartbeat").unwrap();
        assert_eq!(copy.state, EventState::ReplicaSideDisabled);
        // After a change of roles somebody must say so on the new source.
        replica.apply(
            &said("ALTER EVENT replicascope.heartbeat ENABLE"),
            place(true),
        );
        let copy = replica.get("replicascope.heartbeat").unwrap();
        assert_eq!(copy.state, EventState::Enabled);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_servers_numbers() {
        let mut events = Events::default();
        assert_eq!(
            events
                .check(&said("ALTER EVENT a.b ENABLE"))
                .unwrap_err()
                .code,
            1539
        );
        assert_eq!(
            events.check(&said("DROP EVENT a.b")).unwrap_err().code,
            1539
        );
        assert!(events.check(&said("DROP EVENT IF EXISTS a.b")).is_ok());
        let again = CREATE.replace("IF NOT EXISTS ", "");
        events.apply(&said(&again), place(true));
        assert_eq!(events.check(&said(&again)).unwrap_err().code, 1537);
        let nowhere = order(&mut Words::of("DROP EVENT b"), None, "").unwrap_err();
        assert_eq!(nowhere.code, 1046);
    }
}
