//! CREATE, ALTER, DROP of schemas and tables: in effect at once here, a statement for replicas.

use std::sync::Arc;

use super::super::super::sql::{Change, Transaction};
use super::super::super::world::{Part, TableLock, Touch, Until, Want, Write};
use super::super::bench::Bench;
use super::super::engine::Deed;
use super::super::problems;
use super::super::words::Words;
use super::{After, Client, Next, Outcome};
use crate::lab::wire::SqlError;

impl Client {
    pub(super) fn ddl(&mut self, bench: &mut Bench, sql: &str) -> Outcome {
        self.check_writable(bench)?;
        let target = Target::of(sql, self.ctx.schema.as_deref());
        self.check_ddl(bench, &target)?;
        let mut wants = vec![Want::GlobalWrite];
        if let Some(table) = target.table() {
            wants.push(Want::Table(table.into(), TableLock::Exclusive));
        }
        if let Some(wait) = self.ask_for(bench, &wants, Until::TransactionEnds)? {
            return Ok(wait);
        }
        let mut alone = Transaction::begin();
        let (effect, _) = self.execute(bench, sql, &mut alone)?;
        let changes: Vec<Change> = effect.ddl.clone().into_iter().collect();
        let (answer, _) = self.answer(effect, 1.0);
        if changes.is_empty() {
            self.release(bench);
            return Ok(Next::Say(answer));
        }
        let bytes = changes.iter().map(Change::bytes).sum::<u64>() + 77;
        let touches: Vec<Touch> = changes
            .iter()
            .map(|change| Touch {
                table: Arc::clone(change.table()),
                part: Part::Definition,
            })
            .collect();
        let deed = Deed {
            changes,
            others: Vec::new(),
            in_effect_at: Some(self.me.node),
            origin: self.me.node,
            origin_server_id: bench.world.identity(self.me.node).server_id,
        };
        let mut write = Write::new(Some(Arc::new(deed)), self.me.began);
        write.bytes = bytes;
        write.touches = touches.into();
        self.commit(bench, write, After::Say(answer))?;
        Ok(Next::Go)
    }

    fn check_ddl(&self, bench: &Bench, target: &Target) -> Result<(), SqlError> {
        let Some(account) = self.me.account(bench) else {
            return Err(problems::needs("SUPER"));
        };
        let Some(schema) = &target.schema else {
            return Ok(());
        };
        match &target.name {
            None if !account.may_in_schema(target.verb, schema) => {
                Err(problems::denied_on_schema(&self.me.user, schema))
            }
            Some(name) if !account.may_on_table(target.verb, schema, name) => {
                Err(problems::denied_on_table(target.verb, &self.me.user, name))
            }
            _ => Ok(()),
        }
    }
}

/// What a DDL statement is about.
#[derive(Debug, PartialEq)]
struct Target {
    verb: &'static str,
    schema: Option<String>,
    name: Option<String>,
}

impl Target {
    fn of(sql: &str, default: Option<&str>) -> Target {
        let mut words = Words::of(sql);
        let verb = match words.keyword().as_str() {
            "CREATE" => "CREATE",
            "ALTER" | "RENAME" => "ALTER",
            _ => "DROP",
        };
        let is_schema = words.accept("DATABASE") || words.accept("SCHEMA");
        words.accept("TEMPORARY");
        words.accept_one_of(&["UNIQUE", "FULLTEXT"]);
        if words.accept("INDEX") {
            while !words.at_end() && !words.accept("ON") {
                words.skip();
            }
        }
        words.accept("TABLE");
        words.accept("VIEW");
        if !words.accept("IF NOT EXISTS") {
            words.accept("IF EXISTS");
        }
        if is_schema {
            let schema = words.name();
            return Target {
                verb,
                schema,
                name: None,
            };
        }
        let (schema, name) = words.qualified_name().unwrap_or_default();
        Target {
            verb,
            schema: schema.or_else(|| default.map(str::to_owned)),
            name: Some(name),
        }
    }

    fn table(&self) -> Option<String> {
        Some(format!("{}.{}", self.schema.as_ref()?, self.name.as_ref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ddl_is_known_by_what_it_is_about() {
        for (sql, table) in [
            ("CREATE TABLE IF NOT EXISTS shop.x (id INT)", "shop.x"),
            ("ALTER TABLE orders ADD note INT", "app.orders"),
            ("DROP TABLE IF EXISTS `shop`.`x`", "shop.x"),
            ("CREATE UNIQUE INDEX i ON shop.x (id)", "shop.x"),
            ("TRUNCATE TABLE x", "app.x"),
        ] {
            let target = Target::of(sql, Some("app"));
            assert_eq!(target.table().as_deref(), Some(table), "{sql}");
        }
        assert_eq!(
            Target::of("CREATE DATABASE x", None).schema.as_deref(),
            Some("x")
        );
    }
}
