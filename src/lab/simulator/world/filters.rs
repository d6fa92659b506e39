//! Replication filters: what a channel's applier leaves out of what it has received.
//!
//! Looked at row by row, as for row-based replication; DDL goes by the table it is about. A transaction of which nothing
//! is left is committed all the same, empty: its GTID must not be missed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::time::ServerTime;

use super::World;
use super::queue::ChannelKey;
use super::transaction::{Engine, Transaction, Write};
use crate::lab::simulator::like::is_exactly_like;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilterKind {
    DoDb,
    IgnoreDb,
    DoTable,
    IgnoreTable,
    WildDoTable,
    WildIgnoreTable,
}

impl FilterKind {
    pub const ALL: [FilterKind; 6] = [
        FilterKind::DoDb,
        FilterKind::IgnoreDb,
        FilterKind::DoTable,
        FilterKind::IgnoreTable,
        FilterKind::WildDoTable,
        FilterKind::WildIgnoreTable,
    ];

    /// As statements and variables have it.
    pub fn name(self) -> &'static str {
        match self {
            FilterKind::DoDb => "replicate_do_db",
            FilterKind::IgnoreDb => "replicate_ignore_db",
            FilterKind::DoTable => "replicate_do_table",
            FilterKind::IgnoreTable => "replicate_ignore_table",
            FilterKind::WildDoTable => "replicate_wild_do_table",
            FilterKind::WildIgnoreTable => "replicate_wild_ignore_table",
        }
    }
}

/// The rules of one channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filters(BTreeMap<FilterKind, Filter>);

#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Schemas, `schema.table`, or patterns of the latter.
    pub values: Vec<String>,
    pub since: ServerTime,
    /// How often it has decided something.
    pub used: u64,
}

impl Filters {
    /// Those that were ever set, in the servers' order.
    pub fn all(&self) -> impl Iterator<Item = (FilterKind, &Filter)> {
        self.0.iter().map(|(kind, filter)| (*kind, filter))
    }

    /// The values of one, as servers show them.
    pub fn text(&self, kind: FilterKind) -> String {
        self.0
            .get(&kind)
            .map(|filter| filter.values.join(","))
            .unwrap_or_default()
    }

    pub(super) fn set(&mut self, rules: &[(FilterKind, Vec<String>)], since: ServerTime) {
        for (kind, values) in rules {
            let filter = Filter {
                values: values.clone(),
                since,
                used: 0,
            };
            self.0.insert(*kind, filter);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.values().all(|filter| filter.values.is_empty())
    }

    /// Whether changes of this table are applied; `table` may be a schema alone. Schemas are looked at first; of the rules
    /// about tables the first that fits decides.
    fn let_pass(&mut self, table: &str) -> bool {
        let schema = table.split('.').next().unwrap_or(table);
        if self.has(FilterKind::DoDb) {
            if !self.fits(FilterKind::DoDb, |value| value == schema) {
                return false;
            }
        } else if self.fits(FilterKind::IgnoreDb, |value| value == schema) {
            return false;
        }
        if !table.contains('.') {
            return true;
        }
        for (kind, passes) in [
            (FilterKind::DoTable, true),
            (FilterKind::IgnoreTable, false),
        ] {
            if self.fits(kind, |value| value == table) {
                return passes;
            }
        }
        for (kind, passes) in [
            (FilterKind::WildDoTable, true),
            (FilterKind::WildIgnoreTable, false),
        ] {
            if self.fits(kind, |pattern| is_exactly_like(table, pattern)) {
                return passes;
            }
        }
        !self.has(FilterKind::DoTable) && !self.has(FilterKind::WildDoTable)
    }

    fn has(&self, kind: FilterKind) -> bool {
        self.0
            .get(&kind)
            .is_some_and(|filter| !filter.values.is_empty())
    }

    fn fits(&mut self, kind: FilterKind, is_it: impl Fn(&str) -> bool) -> bool {
        let Some(filter) = self.0.get_mut(&kind) else {
            return false;
        };
        let fits = filter.values.iter().any(|value| is_it(value));
        filter.used += u64::from(fits);
        fits
    }
}

impl<E: Engine> World<E> {
    /// What a channel applies of a transaction.
    pub(super) fn filtered(
        &mut self,
        key: ChannelKey,
        transaction: Arc<Transaction>,
    ) -> Arc<Transaction> {
        let Some(payload) = transaction.payload.clone() else {
            return transaction;
        };
        let mut filters = match self.channel_mut(key) {
            Some(channel) if !channel.filters.is_empty() => std::mem::take(&mut channel.filters),
            _ => return transaction,
        };
        let wanted = self.engines[key.node].part(&payload, &mut |table| filters.let_pass(table));
        if let Some(channel) = self.channel_mut(key) {
            channel.filters = filters;
        }
        let Some(part) = wanted else {
            return transaction;
        };
        let rows = (transaction.rows as f64 * part.share).round() as u64;
        let bytes = (transaction.bytes as f64 * part.share) as u64;
        Arc::new(Transaction {
            payload: part.payload,
            touches: part.touches,
            rows,
            bytes: bytes.max(Write::usual_bytes(0, 0)),
            ..(*transaction).clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::FilterKind::*;
    use super::*;

    fn passes(rules: &[(FilterKind, &str)], table: &str) -> bool {
        let mut filters = Filters::default();
        for (kind, values) in rules {
            let values = values.split(',').map(str::to_owned).collect();
            filters.set(&[(*kind, values)], ServerTime(0));
        }
        filters.let_pass(table)
    }

    #[test]
    fn the_rules_are_asked_in_the_servers_order() {
        for (rules, table, wanted) in [
            (&[][..], "shop.orders", true),
            (&[(DoDb, "shop,a")], "shop.orders", true),
            (&[(DoDb, "a")], "shop.orders", false),
            (&[(DoDb, "shop"), (IgnoreDb, "shop")], "shop.orders", true),
            (&[(IgnoreDb, "shop")], "shop.orders", false),
            (&[(IgnoreDb, "shop")], "shop", false),
            (&[(DoTable, "shop.orders")], "shop.orders", true),
            (&[(DoTable, "shop.orders")], "shop.other", false),
            (&[(DoTable, "shop.orders")], "shop", true),
            (&[(IgnoreTable, "shop.orders")], "shop.orders", false),
            (&[(IgnoreTable, "shop.orders")], "shop.other", true),
            (
                &[(DoTable, "shop.orders"), (IgnoreTable, "shop.orders")],
                "shop.orders",
                true,
            ),
            (&[(WildDoTable, "sh%.ord_rs")], "shop.orders", true),
            (&[(WildDoTable, "sh%.ord_rs")], "shop.other", false),
            (&[(WildIgnoreTable, "shop.%")], "shop.orders", false),
            (&[(WildIgnoreTable, "s\\_.%")], "sh.orders", true),
            (
                &[(IgnoreTable, "a.b"), (WildDoTable, "shop.%")],
                "a.b",
                false,
            ),
            (
                &[(DoDb, "shop"), (IgnoreTable, "shop.orders")],
                "shop.orders",
                false,
            ),
        ] {
            assert_eq!(passes(rules, table), wanted, "{rules:?} {table}");
        }
    }
}
