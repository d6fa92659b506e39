//! Somebody writes on a replica: a transaction that its source does not have, and data that differ.
//!
//! Undone as one does it: the row gets the source's value again without a trace. On MySQL the source then commits an
//! empty transaction under the errant GTID, so that every server has it and none misses it. MariaDB has no such thing:
//! there the replica's own binary log is started anew, which is possible as long as nobody copies from it; with
//! gtid_strict_mode its applier had stopped at the next event (1950), and goes on after that.

use super::admin::Admin;
use super::applier::until_going;
use super::site::Site;
use super::words::{Thread, literal};
use super::{InForce, trouble};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

/// More of them were not made by us.
const MOST_ADOPTED: u64 = 1000;

pub struct Errant {
    replica: LabServer,
    order: String,
}

impl Errant {
    pub fn make(site: &Site, replica: LabServer) -> Result<Errant, Trouble> {
        let mut admin = site.admin(replica)?;
        let copied = site
            .nodes()
            .iter()
            .any(|n| n.copies_from.contains(&replica));
        if admin.words.is_mariadb && copied {
            let what = phrase("lab.trouble.is_copied").with("server", admin.node.name.as_str());
            return Err(trouble(what));
        }
        let Some(order) = admin.value("SELECT MIN(id) FROM shop.orders")? else {
            return Err(trouble(phrase("lab.trouble.no_orders")));
        };
        let write = set_address(&order, "corrected on the replica");
        admin.although_read_only(|admin| admin.run(&write))?;
        Ok(Errant { replica, order })
    }
}

fn set_address(order: &str, address: &str) -> String {
    format!(
        "UPDATE shop.orders SET address = {} WHERE id = {order}",
        literal(address)
    )
}

impl InForce for Errant {
    fn undo(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut source = site.admin(site.root_of(self.replica)?)?;
        let mut admin = site.admin(self.replica)?;
        if admin.words.is_mariadb {
            return self.start_log_anew(site, &mut admin, &mut source);
        }
        self.mend_row(&mut admin, &mut source)?;
        adopt(&mut admin, &mut source)
    }
}

impl Errant {
    /// Only what was changed: traffic goes on changing the rest.
    fn mend_row(&self, admin: &mut Admin, source: &mut Admin) -> Result<(), Trouble> {
        let read = format!("SELECT address FROM shop.orders WHERE id = {}", self.order);
        let mend = match source.value(&read)? {
            Some(address) => set_address(&self.order, &address),
            None => format!("DELETE FROM shop.orders WHERE id = {}", self.order),
        };
        admin.unlogged(|admin| admin.run(&mend))
    }

    fn start_log_anew(
        &self,
        site: &Site,
        admin: &mut Admin,
        source: &mut Admin,
    ) -> Result<(), Trouble> {
        let words = admin.words;
        let channels: Vec<String> = admin.channels()?.into_iter().map(|c| c.name).collect();
        for channel in &channels {
            admin.stop(Thread::Both, channel)?;
        }
        self.mend_row(admin, source)?;
        admin.run("RESET MASTER")?;
        let applied = admin.value("SELECT @@GLOBAL.gtid_slave_pos")?;
        let applied = literal(&applied.unwrap_or_default());
        admin.run(&format!("SET GLOBAL gtid_binlog_state = {applied}"))?;
        for channel in &channels {
            admin.run(&words.start(Thread::Both, channel))?;
        }
        until_going(site, admin, Thread::Applier, &channels)
    }
}

/// Empty transactions on the source under each GTID that only the replica has and gave itself.
fn adopt(admin: &mut Admin, source: &mut Admin) -> Result<(), Trouble> {
    let uuid = admin.value("SELECT @@server_uuid")?.unwrap_or_default();
    let executed = admin.value(admin.words.executed())?.unwrap_or_default();
    let executed = literal(&executed.replace('\n', ""));
    let only_here = source
        .value(&format!(
            "SELECT GTID_SUBTRACT({executed}, @@GLOBAL.gtid_executed)"
        ))?
        .unwrap_or_default();
    for number in own_numbers(&only_here, &uuid) {
        source.run(&format!("SET gtid_next = '{uuid}:{number}'"))?;
        let empty = source.run("BEGIN").and_then(|()| source.run("COMMIT"));
        source.run("SET gtid_next = 'AUTOMATIC'")?;
        empty?;
    }
    Ok(())
}

/// The transaction numbers that a GTID set holds of one server.
fn own_numbers(set: &str, uuid: &str) -> Vec<u64> {
    let of_server = set
        .split(',')
        .filter_map(|part| part.trim().split_once(':'))
        .filter(|(server, _)| server.eq_ignore_ascii_case(uuid));
    let intervals = of_server.flat_map(|(_, intervals)| intervals.split(':'));
    intervals
        .filter_map(|interval| {
            let (from, to) = interval.split_once('-').unwrap_or((interval, interval));
            Some(from.parse().ok()?..=to.parse().ok()?)
        })
        .flatten()
        .take(MOST_ADOPTED as usize)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_replica_gave_itself_is_adopted() {
        let set = "aaa:7-9,\nBBB:1-2:5";
        assert_eq!(own_numbers(set, "bbb"), [1, 2, 5]);
        assert_eq!(own_numbers("", "bbb"), [0; 0]);
    }
}
