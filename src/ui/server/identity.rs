//! Who this server is, whether somebody can write here, how its clock stands, and what the last poll cost.

use super::scene::Scene;
use super::sql::Asked;
use crate::model::finding::Role;
use crate::model::phrase::phrase;
use crate::model::sample::Sample;
use crate::model::server::Platform;
use crate::model::time::Span;
use crate::store::watched::Watched;
use crate::ui::panels::{FactRow, Panel, Tone, from_where, switch_word};
use crate::words::Catalogue;

pub fn panel(scene: &Scene<'_>) -> Panel {
    let mut panel = scene.panel("identity", "server.identity", Asked::Identity);
    let id = &scene.sample.identity;
    let words = scene.frame.words;
    panel.push(product(scene));
    panel.push(scene.fact(
        "server.role",
        Some(role(scene)),
        |r| words.role(r).to_owned(),
        scene.own_name("SHOW REPLICA STATUS"),
    ));
    panel.push(FactRow::new(
        scene.t("server.address"),
        scene.server.registration.address.to_string(),
    ));
    panel.push(scene.fact("server.hostname", id.hostname.clone(), |h| h, "@@hostname"));
    panel.push(scene.fact(
        "server.server_id",
        id.server_id,
        |n| n.to_string(),
        "@@server_id",
    ));
    if !scene.sample.product.is_mariadb() {
        panel.push(scene.fact(
            "server.uuid",
            id.server_uuid.clone(),
            |u| u,
            "@@server_uuid",
        ));
    }
    writable(scene, &mut panel);
    uptime(scene, &mut panel);
    clock(scene, &mut panel);
    cost(scene, &mut panel);
    panel
}

fn role(scene: &Scene<'_>) -> Role {
    scene.judged.map_or_else(
        || scene.frame.store.role(scene.server),
        |judged| judged.role,
    )
}

fn product(scene: &Scene<'_>) -> FactRow {
    let product = &scene.sample.product;
    let platform = match product.platform {
        Platform::SelfManaged => "",
        Platform::Rds => " · Amazon RDS",
        Platform::Aurora => " · Amazon Aurora",
    };
    let source = format!("@@version: {}", product.version_text);
    FactRow::new(scene.t("server.product"), format!("{product}{platform}")).source(from_where(
        scene.frame,
        &source,
        scene.sample.answered_at,
    ))
}

/// The three switches and what they mean together.
fn writable(scene: &Scene<'_>, panel: &mut Panel) {
    let id = &scene.sample.identity;
    let mariadb = scene.sample.product.is_mariadb();
    let mut switches = vec![("read_only", id.read_only)];
    if !mariadb {
        switches.push(("super_read_only", id.super_read_only));
    }
    if id.innodb_read_only == Some(true) {
        switches.push(("innodb_read_only", id.innodb_read_only));
    }
    let text: Vec<String> = switches
        .iter()
        .map(|(name, on)| format!("{name} {}", switch_word(scene.frame, *on)))
        .collect();
    let (meaning, tone) = write_verdict(scene.sample, role(scene));
    let name = scene.t("server.writes.title");
    let fact = FactRow::new(name, text.join(" · "))
        .source(from_where(
            scene.frame,
            "@@read_only",
            scene.sample.answered_at,
        ))
        .meaning(scene.t(meaning), tone);
    panel.push(fact);
}

/// read_only alone lets privileged accounts write (R11, A-21).
pub fn write_verdict(sample: &Sample, role: Role) -> (&'static str, Tone) {
    let id = &sample.identity;
    let half_closed = id.read_only == Some(true) && id.super_read_only != Some(true);
    match (sample.is_writable(), role) {
        (None, _) => ("server.writes.not_told", Tone::Unknown),
        (Some(true), Role::Replica | Role::Intermediate) => {
            ("server.writes.replica_open", Tone::Critical)
        }
        (Some(true), _) => ("server.writes.open", Tone::Dim),
        (Some(false), Role::Source) => ("server.writes.source_closed", Tone::Warning),
        (Some(false), _) if id.innodb_read_only == Some(true) => {
            ("server.writes.closed", Tone::Good)
        }
        (Some(false), _) if sample.product.is_mariadb() => ("server.writes.mariadb", Tone::Dim),
        (Some(false), _) if half_closed => ("server.writes.half_closed", Tone::Warning),
        (Some(false), _) => ("server.writes.closed", Tone::Good),
    }
}

fn uptime(scene: &Scene<'_>, panel: &mut Panel) {
    let words = scene.frame.words;
    let mut fact = scene.fact(
        "server.uptime",
        scene.sample.identity.uptime,
        |span| words.span(span),
        "Uptime",
    );
    let memory = &scene.server.memory;
    if let Some(replaced) = &memory.replaced {
        let text = phrase("server.replaced")
            .with("ago", words.ago(scene.frame.now.since(replaced.at)))
            .with("was", replaced.was.as_str());
        fact = fact.meaning(scene.say(&text), Tone::Warning);
    } else if let Some(at) = memory.restarted_at {
        let text = phrase("server.restarted").with("ago", words.ago(scene.frame.now.since(at)));
        fact = fact.meaning(scene.say(&text), Tone::Warning);
    }
    panel.push(fact);
}

fn clock(scene: &Scene<'_>, panel: &mut Panel) {
    panel.push(clock_fact(
        scene.frame.words,
        scene,
        scene.server,
        "server.clock.title",
    ));
    let zone = scene.fact(
        "server.zone",
        scene.sample.identity.utc_offset,
        zone_text,
        "NOW(6) − UTC_TIMESTAMP(6)",
    );
    panel.push(zone);
}

/// "12 ms ahead of this computer, ± 0.4 ms".
pub fn clock_fact(
    words: &Catalogue,
    scene: &Scene<'_>,
    server: &Watched,
    name: &'static str,
) -> FactRow {
    let estimate = server.clock_now(scene.frame.now);
    let threshold = server.registration.thresholds.clock_offset;
    let text = estimate.map(|clock| {
        let key = if clock.ahead_by.is_negative() {
            "server.clock.behind"
        } else {
            "server.clock.ahead"
        };
        let text = phrase(key)
            .with("by", words.span(clock.ahead_by.abs()))
            .with("bound", words.span(clock.bound));
        words.say(&text)
    });
    let at = estimate.map_or(scene.sample.answered_at, |clock| clock.taken_at);
    let mut fact = scene.fact_at(words.text(name), text, |text| text, "UTC_TIMESTAMP(6)", at);
    if estimate.is_some_and(|clock| clock.ahead_by.abs() > threshold) {
        fact.tone = Tone::Warning;
    }
    fact
}

fn zone_text(offset: Span) -> String {
    let minutes = offset.micros() / 60_000_000;
    let sign = if minutes < 0 { '−' } else { '+' };
    format!("UTC{sign}{}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

fn cost(scene: &Scene<'_>, panel: &mut Panel) {
    let words = scene.frame.words;
    let sample = scene.sample;
    let text = phrase("server.cost.text")
        .with("n", u64::from(sample.cost.statements))
        .with("bytes", words.bytes(sample.cost.bytes))
        .with("took", sample.answered_at.since(sample.asked_at));
    let age = words.ago(scene.frame.now.since(sample.answered_at));
    panel.push(FactRow::new(scene.t("server.cost.title"), scene.say(&text)).source(age));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_written_as_people_write_them() {
        assert_eq!(zone_text(Span::from_secs(8 * 3600)), "UTC+8:00");
        assert_eq!(zone_text(Span::from_secs(-(3 * 3600 + 1800))), "UTC−3:30");
        assert_eq!(zone_text(Span::ZERO), "UTC+0:00");
    }
}
