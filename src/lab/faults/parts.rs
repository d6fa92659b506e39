//! What makes a server a source or a replica, besides where it copies from: who may write, who acknowledges, whose clock
//! ticks.

use super::admin::Admin;
use super::words::{SEMI_SYNC_REPLICA, SEMI_SYNC_SOURCE, literal};
use crate::model::trouble::Trouble;

/// Writable, with a running heartbeat. The event arrives disabled on replicas and stays so after a promotion; enabled
/// here, it is replicated, and by that disabled there.
pub fn dress_as_source(admin: &mut Admin) -> Result<(), Trouble> {
    admin.run(admin.words.accept_writes())?;
    admin.run("SET GLOBAL event_scheduler = ON")?;
    set_heartbeat(admin, "ENABLE")
}

/// Its definer stays who it was. Said without one, it would become ours, and MariaDB's read_only does not stop what an
/// administrator's event writes: seen as a heartbeat that went on on a former source.
pub fn set_heartbeat(admin: &mut Admin, state: &str) -> Result<(), Trouble> {
    let definer = heartbeat(admin, "DEFINER")?.unwrap_or_default();
    let (user, host) = definer.rsplit_once('@').unwrap_or((&definer, "%"));
    let (user, host) = (literal(user), literal(host));
    admin.run(&format!(
        "ALTER DEFINER = {user}@{host} EVENT replicascope.heartbeat {state}"
    ))
}

/// What the server says of the heartbeat's event.
pub fn heartbeat(admin: &mut Admin, column: &str) -> Result<Option<String>, Trouble> {
    admin.value(&format!(
        "SELECT {column} FROM information_schema.EVENTS \
         WHERE EVENT_SCHEMA = 'replicascope' AND EVENT_NAME = 'heartbeat'"
    ))
}

pub fn dress_as_replica(admin: &mut Admin) -> Result<(), Trouble> {
    admin.run(admin.words.refuse_writes())
}

/// One end of semi-sync, in the server's own name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Source,
    Replica,
}

impl End {
    fn names(self) -> [&'static str; 2] {
        match self {
            End::Source => SEMI_SYNC_SOURCE,
            End::Replica => SEMI_SYNC_REPLICA,
        }
    }
}

/// `None`: this server has no such switch.
pub fn semi_sync(admin: &mut Admin, end: End) -> Result<Option<bool>, Trouble> {
    let switch = admin.switch(&end.names())?;
    Ok(switch.map(|(_, is_on)| is_on))
}

/// On a replica it takes effect when the receiver starts next.
pub fn set_semi_sync(admin: &mut Admin, end: End, on: bool) -> Result<(), Trouble> {
    let Some((name, _)) = admin.switch(&end.names())? else {
        return Ok(());
    };
    let value = if on { "ON" } else { "OFF" };
    admin.run(&format!("SET GLOBAL {name} = {value}"))
}
