//! A replica takes writes.
//!
//! Sees: "Replica is writable", or "privileged accounts can write here: super_read_only is off".
//! Why: a write on a replica forks the data silently: one of the most dangerous accidents.
//! What to do: `SET PERSIST super_read_only = ON`; on MariaDB `read_only`, which has no super form.
//! Decided: a server with a source, that is not where the topology's writes go (a ring's writable half is, R45), with
//! read_only off, or on MySQL with super_read_only off.
//! Can't tell: read_only is not told.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::sample::Sample;

pub const RULE: Rule = Rule {
    code: "replica_writable",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>, sample: &Sample) -> Say {
    if !server.is_replica() || server.takes_writes() {
        return Say::Nothing;
    }
    let super_is_off = sample.identity.super_read_only == Some(false);
    let text = match sample.is_writable() {
        Some(true) => phrase("finding.replica_writable.text"),
        Some(false) if super_is_off && sample.identity.innodb_read_only != Some(true) => {
            phrase("finding.replica_writable.privileged")
        }
        Some(false) => return Say::Fine,
        None => return Say::CannotTell(phrase("lamp.read_only_untold")),
    };
    Draft::new(Severity::Warning, text)
        .advice("finding.replica_writable.advice")
        .sql(sql(sample))
        .say()
}

fn sql(sample: &Sample) -> &'static str {
    if sample.product.is_mysql_from(8, 0, 0) {
        "SET PERSIST super_read_only = ON;"
    } else if sample.identity.super_read_only.is_some() {
        "SET GLOBAL super_read_only = ON;"
    } else {
        "SET GLOBAL read_only = ON;"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::server::WatchId;

    fn asked(read_only: bool, super_read_only: Option<bool>) -> &'static str {
        let mut town = source_and_replica();
        town.replica().sample().identity.read_only = Some(read_only);
        town.replica().sample().identity.super_read_only = super_read_only;
        raised_key(&town, &RULE)
    }

    #[test]
    fn read_only_without_super_read_only_counts_on_mysql() {
        assert_eq!(asked(true, Some(true)), "");
        assert_eq!(
            asked(true, Some(false)),
            "finding.replica_writable.privileged"
        );
        assert_eq!(asked(false, Some(false)), "finding.replica_writable.text");
    }

    #[test]
    fn mariadb_has_no_super_read_only_to_miss() {
        assert_eq!(asked(true, None), "");
        assert_eq!(asked(false, None), "finding.replica_writable.text");
    }

    #[test]
    fn r45_the_writable_half_of_a_ring_is_where_writes_go() {
        let mut town = source_and_replica();
        town.replica().sample().identity.read_only = Some(false);
        town.replica().sample().identity.super_read_only = Some(false);
        town.replica().replicas = vec![WatchId(1)];
        assert_eq!(raised(&town, &RULE), []);
    }

    #[test]
    fn not_told_is_not_fine() {
        let mut town = source_and_replica();
        town.replica().sample().identity.read_only = None;
        town.replica().sample().identity.super_read_only = None;
        assert_eq!(cannot_tell(&town, &RULE), ["lamp.read_only_untold"]);
    }
}
