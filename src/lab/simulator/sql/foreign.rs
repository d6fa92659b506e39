//! Foreign keys: what they are, and the triggers by which SQLite keeps them. Only statements are checked: what a replica
//! carries out has been checked where it was said, and brings the rows that a cascade changed along.

use super::catalog::{Catalog, Table, quoted};
use super::compile::literal;
use super::engine::Engine;
use super::problem::SqlProblem;

/// A table's rows name rows of another table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub name: String,
    pub columns: Vec<String>,
    /// Schema and name.
    pub parent: (String, String),
    pub parent_columns: Vec<String>,
    pub on_delete: Rule,
    pub on_update: Rule,
}

/// What becomes of the rows when the one that they name goes or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It may not.
    Restrict,
    /// The same, written out.
    NoAction,
    Cascade,
    SetNull,
}

impl Rule {
    fn words(self) -> &'static str {
        match self {
            Rule::Restrict => "RESTRICT",
            Rule::NoAction => "NO ACTION",
            Rule::Cascade => "CASCADE",
            Rule::SetNull => "SET NULL",
        }
    }
}

/// Their triggers are called so.
const PREFIX: &str = "foreign key ";

impl ForeignKey {
    /// As SHOW CREATE TABLE and errors have it.
    pub fn shown(&self, table: &Table) -> String {
        let names = |columns: &[String]| {
            columns
                .iter()
                .map(|name| quoted(name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (schema, parent) = &self.parent;
        let parent = match *schema == table.schema {
            true => quoted(parent),
            false => format!("{}.{}", quoted(schema), quoted(parent)),
        };
        let rule = |event: &str, rule: Rule| match rule {
            Rule::Restrict => String::new(),
            rule => format!(" ON {event} {}", rule.words()),
        };
        format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {parent} ({}){}{}",
            quoted(&self.name),
            names(&self.columns),
            names(&self.parent_columns),
            rule("DELETE", self.on_delete),
            rule("UPDATE", self.on_update)
        )
    }

    /// `(`shop`.`orders`, CONSTRAINT …)`.
    fn failed(&self, table: &Table) -> String {
        format!(
            "({}.{}, {})",
            quoted(&table.schema),
            quoted(&table.name),
            self.shown(table)
        )
    }

    /// SQLite's statement that finds a row which names none.
    pub fn orphan(&self, table: &Table) -> String {
        let set = self
            .columns
            .iter()
            .map(|name| format!("c.{} IS NOT NULL", quoted(name)));
        let pairs = self.columns.iter().zip(&self.parent_columns);
        let same = pairs.map(|(a, b)| format!("c.{} = p.{}", quoted(a), quoted(b)));
        format!(
            "SELECT 1 FROM {} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS p WHERE {}) LIMIT 1",
            quoted(&table.full_name),
            set.collect::<Vec<_>>().join(" AND "),
            quoted(&self.parent_full_name()),
            same.collect::<Vec<_>>().join(" AND ")
        )
    }

    pub fn refused_child(&self, table: &Table) -> SqlProblem {
        let text = format!(
            "Cannot add or update a child row: a foreign key constraint fails {}",
            self.failed(table)
        );
        SqlProblem::new(1452, text)
    }

    fn parent_full_name(&self) -> String {
        format!("{}.{}", self.parent.0, self.parent.1)
    }

    /// `a = OLD.id AND …` for the rows that name one of the parent's.
    fn naming(&self, row: &str) -> String {
        let pairs = self.columns.iter().zip(&self.parent_columns);
        let equal =
            pairs.map(|(column, parent)| format!("{} = {row}.{}", quoted(column), quoted(parent)));
        equal.collect::<Vec<_>>().join(" AND ")
    }

    fn triggers(&self, table: &Table) -> Vec<String> {
        let child = quoted(&table.full_name);
        let parent = quoted(&self.parent_full_name());
        let list = |columns: &[String]| {
            columns
                .iter()
                .map(|name| quoted(name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let trigger = |what: &str, when: &str, on: &str, changed: &str, body: &str| {
            let name = quoted(&format!("{PREFIX}{}/{}/{what}", table.full_name, self.name));
            format!(
                "CREATE TRIGGER {name} {when} ON {on} WHEN rs_checks(){changed} BEGIN {body}; END"
            )
        };
        let refused = |code: u16, condition: &str| {
            let text = literal(&self.failed(table));
            format!(
                "SELECT CASE WHEN rs_refuses({code}, {text}) THEN RAISE(IGNORE) END WHERE {condition}"
            )
        };
        let is_changed = |columns: &[String]| {
            let pairs = columns
                .iter()
                .map(|name| format!("NEW.{0} IS NOT OLD.{0}", quoted(name)));
            format!(" AND ({})", pairs.collect::<Vec<_>>().join(" OR "))
        };
        let given = self
            .columns
            .iter()
            .map(|name| format!("NEW.{} IS NOT NULL", quoted(name)));
        let pairs = || self.columns.iter().zip(&self.parent_columns);
        let found =
            pairs().map(|(column, parent)| format!("{} = NEW.{}", quoted(parent), quoted(column)));
        let mut missing: Vec<String> = given.collect();
        let found = found.collect::<Vec<_>>().join(" AND ");
        missing.push(format!("NOT EXISTS (SELECT 1 FROM {parent} WHERE {found})"));
        if parent == child {
            let same = pairs().map(|(column, parent)| {
                format!("NEW.{} IS NEW.{}", quoted(column), quoted(parent))
            });
            missing.push(format!("NOT ({})", same.collect::<Vec<_>>().join(" AND ")));
        }
        let no_parent = refused(1452, &missing.join(" AND "));
        let has_children = refused(
            1451,
            &format!(
                "EXISTS (SELECT 1 FROM {child} WHERE {})",
                self.naming("OLD")
            ),
        );
        let set = |value: &dyn Fn(&str) -> String| {
            let sets =
                pairs().map(|(column, parent)| format!("{} = {}", quoted(column), value(parent)));
            let sets = sets.collect::<Vec<_>>().join(", ");
            format!("UPDATE {child} SET {sets} WHERE {}", self.naming("OLD"))
        };
        let to_null = set(&|_| "NULL".to_owned());
        let along = set(&|parent| format!("NEW.{}", quoted(parent)));
        let gone = format!("DELETE FROM {child} WHERE {}", self.naming("OLD"));
        let (before_delete, after_delete) = ("BEFORE DELETE", "AFTER DELETE");
        let update_of =
            |when: &str, columns: &[String]| format!("{when} UPDATE OF {}", list(columns));
        let (when, body) = match self.on_delete {
            Rule::Restrict | Rule::NoAction => (before_delete, &has_children),
            Rule::Cascade => (after_delete, &gone),
            Rule::SetNull => (after_delete, &to_null),
        };
        let of_parent = is_changed(&self.parent_columns);
        let (update_when, update_body) = match self.on_update {
            Rule::Restrict | Rule::NoAction => ("BEFORE", &has_children),
            Rule::Cascade => ("AFTER", &along),
            Rule::SetNull => ("AFTER", &to_null),
        };
        vec![
            trigger("insert", "BEFORE INSERT", &child, "", &no_parent),
            trigger(
                "update",
                &update_of("BEFORE", &self.columns),
                &child,
                &is_changed(&self.columns),
                &no_parent,
            ),
            trigger("gone", when, &parent, "", body),
            trigger(
                "moved",
                &update_of(update_when, &self.parent_columns),
                &parent,
                &of_parent,
                update_body,
            ),
        ]
    }
}

impl Catalog {
    /// Tables with foreign keys that name this one, and those keys.
    pub fn children(
        &self,
        schema: &str,
        name: &str,
    ) -> impl Iterator<Item = (&Table, &ForeignKey)> {
        let tables = self.schemas.values().flat_map(|tables| tables.values());
        let keys = tables.flat_map(|table| table.foreign.iter().map(move |key| (&**table, key)));
        keys.filter(move |(_, key)| key.parent.0 == schema && key.parent.1 == name)
    }

    /// Names of the tables whose rows may change with those of this one.
    pub fn changed_along(&self, full_name: &str) -> Vec<std::sync::Arc<str>> {
        let mut along: Vec<std::sync::Arc<str>> = Vec::new();
        let mut look = vec![full_name.to_owned()];
        while let Some(name) = look.pop() {
            let Some(table) = self.named(&name) else {
                continue;
            };
            for (child, key) in self.children(&table.schema, &table.name) {
                let changes = [key.on_delete, key.on_update]
                    .iter()
                    .any(|rule| matches!(rule, Rule::Cascade | Rule::SetNull));
                if changes && !along.contains(&child.full_name) {
                    along.push(child.full_name.clone());
                    look.push(child.full_name.to_string());
                }
            }
        }
        along
    }
}

/// Makes all triggers anew after tables have changed.
pub fn tie(engine: &Engine, catalog: &Catalog) -> Result<(), SqlProblem> {
    let mut sql: Vec<String> = engine
        .triggers_named(PREFIX)?
        .iter()
        .map(|name| format!("DROP TRIGGER {}", quoted(name)))
        .collect();
    for table in catalog.schemas.values().flat_map(|tables| tables.values()) {
        for key in &table.foreign {
            if catalog.table(&key.parent.0, &key.parent.1).is_some() {
                sql.extend(key.triggers(table));
            }
        }
    }
    engine.execute_batch(&sql)
}
