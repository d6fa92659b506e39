//! Heartbeat lateness: how much older than its write interval the row on the replica is.
//!
//! A beat every second makes a saw-tooth of 0…1 s on a healthy replica, so the age alone is no lag: the interval is
//! taken off (T-1). Stamps come from the source's clock and are moved to ours by its offset (T-2). The source's own
//! row is always read too: when that is old, the writer is down and nobody is late because of it (R29).

use super::{Scene, Side, filters};
use crate::model::lag::{Measurement, Method, Reading};
use crate::model::phrase::phrase;
use crate::model::sample::{Answer, HeartbeatRow, HeartbeatRows, Sample, StampKind};
use crate::model::time::{ServerTime, Span};

/// A stamp this far in the future is a clock problem; less is the noise of the offset measurement.
const FUTURE_TOLERANCE: Span = Span::from_millis(50);

/// A writer that has missed this many beats is down.
const BEATS_MISSED: i64 = 5;

/// Written at least this often, where nothing better is known (T-1: the source documents write every second).
const USUAL_INTERVAL: Span = Span::from_secs(1);

pub fn read(scene: &Scene<'_>) -> Reading {
    let sample = scene.replica.sample;
    let rows = match rows_of(sample) {
        Ok(rows) => rows,
        Err(reading) => return explained_by_filter(scene, "").unwrap_or(reading),
    };
    if let Some(reading) = explained_by_filter(scene, &rows.table) {
        return reading;
    }
    if let Some(down) = scene.source.and_then(|source| writer_down(source, scene)) {
        return Reading::not_applicable(phrase("lag.why.heartbeat_writer_down").with("for", down));
    }
    let row = match row_of_source(scene, rows) {
        Ok(row) => row,
        Err(reading) => return reading,
    };
    lateness(scene, rows, row)
}

fn rows_of(sample: &Sample) -> Result<&HeartbeatRows, Reading> {
    match &sample.heartbeat {
        Answer::Known { value, .. } => Ok(value),
        Answer::Refused(trouble) => Err(Reading::unknown(trouble.what.clone())),
        Answer::NotAsked { why } => Err(Reading::not_applicable(why.clone())),
    }
}

fn explained_by_filter(scene: &Scene<'_>, table: &str) -> Option<Reading> {
    let table = if table.is_empty() {
        refused_table(scene)?
    } else {
        table.to_owned()
    };
    let (schema, name) = table.split_once('.')?;
    let (filter, text) = filters::excluded_by(&scene.channel.filters, schema, name)?;
    let why = phrase("lag.why.heartbeat_filtered")
        .with("filter", filter)
        .with("text", text);
    Some(Reading::not_applicable(why))
}

/// The table's name when the replica does not have it (1146).
fn refused_table(scene: &Scene<'_>) -> Option<String> {
    scene.replica.sample.heartbeat.refused()?;
    scene.heartbeat.table.clone()
}

/// The row written by the current source or the pinned writer, never just any row (R26), and never the replica's own (R30).
fn row_of_source<'a>(
    scene: &Scene<'_>,
    rows: &'a HeartbeatRows,
) -> Result<&'a HeartbeatRow, Reading> {
    let own = scene.replica.sample.identity.server_id;
    let wanted = scene
        .heartbeat
        .pinned_writer
        .or(scene.channel.source.server_id)
        .or_else(|| scene.source?.sample.identity.server_id);
    let row = match rows.rows.as_slice() {
        [] => return Err(Reading::unknown(phrase("lag.why.heartbeat_no_row"))),
        [only] if only.server_id.is_none() || wanted.is_none() => only,
        many => match many
            .iter()
            .find(|row| row.server_id.is_some() && row.server_id == wanted)
        {
            Some(row) => row,
            None if many.iter().all(|row| row.server_id == own) => {
                return Err(Reading::not_applicable(phrase("lag.why.own_heartbeat")));
            }
            None => {
                return Err(Reading::unknown(phrase(
                    "lag.why.heartbeat_no_row_of_source",
                )));
            }
        },
    };
    match row.server_id {
        Some(id) if Some(id) == own => {
            Err(Reading::not_applicable(phrase("lag.why.own_heartbeat")))
        }
        _ => Ok(row),
    }
}

fn lateness(scene: &Scene<'_>, rows: &HeartbeatRows, row: &HeartbeatRow) -> Reading {
    let Some(age) = age_on_our_clock(scene, rows, row) else {
        return Reading::unknown(
            phrase("lag.why.heartbeat_unreadable").with("text", row.text.as_str()),
        );
    };
    if age < -(FUTURE_TOLERANCE + row.resolution) {
        return Reading::unknown(phrase("lag.why.stamp_in_future").with("by", -age));
    }
    let interval = interval(scene);
    let value = (age - interval - scene.channel.planned_delay).or_zero();
    let rounded = if row.resolution >= Span::from_secs(1) {
        whole_seconds(value)
    } else {
        value
    };
    Reading::Measured(Measurement {
        value: rounded,
        bound: Some(interval.max(row.resolution) + clock_bound(scene)),
        method: Method::Heartbeat,
        taken_at: scene.replica.sample.answered_at,
    })
}

/// A whole-second stamp gives no milliseconds (R27).
fn whole_seconds(value: Span) -> Span {
    Span::from_secs((value.micros() + 500_000) / 1_000_000)
}

/// Age of the stamp when it was read: both ends moved to the workstation's clock where the offsets are known.
fn age_on_our_clock(scene: &Scene<'_>, rows: &HeartbeatRows, row: &HeartbeatRow) -> Option<Span> {
    let zone_of_writer = scene
        .source
        .map_or(scene.replica.sample, |source| source.sample);
    let zone = if row.kind == StampKind::Timestamp {
        scene.replica.sample
    } else {
        zone_of_writer
    };
    let stamp = utc_stamp(scene, row, zone)?;
    match scene.source {
        Some(source) => {
            let read = rows.read_at.on_our_clock(scene.replica.ahead_by());
            Some(read.since(stamp.on_our_clock(source.ahead_by())))
        }
        // Without the source's clock the two are taken to agree; the bound cannot say how well.
        None => Some(rows.read_at.since(stamp)),
    }
}

fn utc_stamp(scene: &Scene<'_>, row: &HeartbeatRow, zone: &Sample) -> Option<ServerTime> {
    let wall = row.wall?;
    let local = match row.kind {
        StampKind::Absolute => false,
        StampKind::Timestamp => true,
        StampKind::Wall => !scene.heartbeat.stamps_are_utc,
    };
    let offset = if local {
        zone.identity.utc_offset?
    } else {
        Span::ZERO
    };
    Some(ServerTime(wall.saturating_sub(offset.micros())))
}

fn interval(scene: &Scene<'_>) -> Span {
    scene.heartbeat.interval.unwrap_or(USUAL_INTERVAL)
}

fn clock_bound(scene: &Scene<'_>) -> Span {
    let bound = |side: Side<'_>| side.clock.map_or(Span::ZERO, |clock| clock.bound);
    bound(scene.replica) + scene.source.map_or(Span::ZERO, bound)
}

/// How long the writer has been silent, judged on the source by its own row and its own clock.
fn writer_down(source: Side<'_>, scene: &Scene<'_>) -> Option<Span> {
    let rows = source.sample.heartbeat.value()?;
    let own = source.sample.identity.server_id;
    let row = rows
        .rows
        .iter()
        .find(|row| row.server_id == own)
        .or(match rows.rows.as_slice() {
            [only] => Some(only),
            _ => None,
        })?;
    let age = rows.read_at.since(utc_stamp(scene, row, source.sample)?);
    let limit = interval(scene).times(BEATS_MISSED).max(Span::from_secs(3)) + row.resolution;
    (age > limit).then_some(age)
}

/// The same question for the health rules: is the writer of this source down, and since how long?
pub fn writer_silent_for(scene: &Scene<'_>) -> Option<Span> {
    scene.source.and_then(|source| writer_down(source, scene))
}

/// Whether an age smells of a time zone: within 2 s of a whole multiple of 15 minutes, and not near zero (R25).
pub fn smells_of_time_zone(age: Span) -> bool {
    const QUARTER: i64 = 900_000_000;
    let nearest = (age.micros() + QUARTER / 2).div_euclid(QUARTER) * QUARTER;
    nearest != 0 && (age.micros() - nearest).abs() <= 2_000_000
}
