//! EXPLAIN FORMAT=TREE and FORMAT=JSON: the same plan as a tree of operations. What a WHERE or ORDER BY says is told as it
//! was written; costs go by MySQL's usual constants, a tenth for a row and a quarter for a page.

use serde_json::{Map, Value as Json, json};
use sqlparser::ast::{
    Expr, FunctionArguments, GroupByExpr, LimitClause, OrderByKind, OrderBySort, Query,
    Select as Ast, SelectItem, SetExpr, Statement,
};

use super::super::compile::{Act, is_aggregate};
use super::{Explained, Line, Select};

/// One operation and what feeds it.
struct Node {
    operation: String,
    access: &'static str,
    /// Estimated rows and cost, where servers tell them.
    estimate: Option<(f64, f64)>,
    more: Vec<(&'static str, Json)>,
    inputs: Vec<Node>,
}

/// Rows of a table's page.
const ROWS_OF_A_PAGE: f64 = 150.0;

fn scan_cost(rows: f64) -> f64 {
    rows * 0.1 + (rows / ROWS_OF_A_PAGE).ceil() * 0.25
}

/// What each row of one table costs in the next one.
const LOOKUP_COST: f64 = 0.35;

/// The clauses of the statement that the plan's steps do not tell.
#[derive(Default)]
struct Clauses {
    condition: Option<String>,
    group: Option<String>,
    aggregates: Option<String>,
    having: Option<String>,
    order: Option<String>,
    is_distinct: bool,
    /// Rows, and how many are passed over.
    limit: Option<(u64, u64)>,
}

impl Explained<'_> {
    /// The text of FORMAT=TREE.
    pub fn tree(&self, statement: &Statement) -> String {
        if matches!(self.plan.act, Act::Update(_) | Act::Delete(_)) {
            return "-> <not executable by iterator executor>\n".to_owned();
        }
        let mut text = String::new();
        self.root(statement).write(&mut text, 0);
        text
    }

    /// FORMAT=JSON in its second version, as 9.7 has it.
    pub fn json_of_tree(&self, statement: &Statement, sql: &str) -> String {
        let kind = match self.plan.act {
            Act::Insert(_) => "insert",
            Act::Update(_) => "update",
            Act::Delete(_) => "delete",
            Act::Select | Act::Do => "select",
        };
        let root = self.root(statement).json();
        let plan = json!({
            "query": format!("/* select#1 */ {}", sql.trim()),
            "query_plan": root,
            "query_type": kind,
            "json_schema_version": "2.0",
        });
        pretty(&plan)
    }

    /// FORMAT=JSON as MySQL before 9 and MariaDB have it: query blocks with their tables.
    pub fn json_of_blocks(&self, statement: &Statement) -> String {
        let clauses = Clauses::of(statement);
        let mut blocks: Vec<Json> = self
            .selects()
            .iter()
            .map(|select| self.block(select, &clauses))
            .collect();
        let mut first = match blocks.is_empty() {
            true => json!({ "select_id": 1 }),
            false => blocks.remove(0),
        };
        if !blocks.is_empty() {
            let inner: Vec<Json> = blocks
                .into_iter()
                .map(|block| json!({ "query_block": block }))
                .collect();
            first["subqueries"] = inner.into();
        }
        pretty(&json!({ "query_block": first }))
    }

    fn block(&self, select: &Select, clauses: &Clauses) -> Json {
        let mut block = Map::new();
        block.insert("select_id".to_owned(), select.number.into());
        if select.lines.is_empty() {
            block.insert("message".to_owned(), "No tables used".into());
            return block.into();
        }
        if !self.is_mariadb {
            let cost: f64 = select.lines.iter().map(|line| scan_cost(rows(line))).sum();
            let told = json!({ "query_cost": format!("{cost:.2}") });
            block.insert("cost_info".to_owned(), told);
        }
        if select.extra.contains(&"Using filesort") {
            block.insert("using_filesort".to_owned(), true.into());
        }
        if select.extra.contains(&"Using temporary") {
            block.insert("using_temporary_table".to_owned(), true.into());
        }
        let condition = clauses.condition.as_ref().filter(|_| select.number == 1);
        let mut tables = select
            .lines
            .iter()
            .map(|line| json!({ "table": self.table_json(line, condition) }));
        if select.lines.len() == 1 && !self.is_mariadb {
            if let Some(Json::Object(one)) = tables.next() {
                block.extend(one);
            }
        } else {
            block.insert("nested_loop".to_owned(), tables.collect());
        }
        block.into()
    }

    fn table_json(&self, line: &Line, condition: Option<&String>) -> Json {
        let mut told = Map::new();
        let mut tell = |name: &str, value: Json| drop(told.insert(name.to_owned(), value));
        tell("table_name", line.table.clone().into());
        tell("access_type", line.access.into());
        if let Some((key, length)) = &line.key {
            tell("possible_keys", json!([key]));
            tell("key", key.clone().into());
            tell("key_length", length.clone().into());
        }
        if let Some(reference) = &line.reference {
            tell("ref", reference.split(',').collect());
        }
        let (rows_name, filtered) = match self.is_mariadb {
            true => ("rows", 100.into()),
            false => ("rows_examined_per_scan", "100.00".into()),
        };
        tell(rows_name, (rows(line) as i64).into());
        tell("filtered", filtered);
        if let Some(condition) = condition.filter(|_| line.filters()) {
            tell("attached_condition", condition.clone().into());
        }
        Json::Object(told)
    }

    fn root(&self, statement: &Statement) -> Node {
        let clauses = Clauses::of(statement);
        let selects = self.selects();
        let mut all = selects.iter();
        let first = all.next();
        let mut root = match first {
            Some(select) => self.with_clauses(self.joined(select, &clauses), select, &clauses),
            None => nothing(),
        };
        for select in all {
            let mut inner = Node::plain(headline(select));
            inner.inputs = vec![self.joined(select, &Clauses::default())];
            root.inputs.push(inner);
        }
        if let Act::Insert(writing) = &self.plan.act {
            let mut insert = Node::plain(format!("Insert into {}", writing.table.name));
            if selects.iter().all(|select| select.lines.is_empty()) {
                root.estimate = None;
            }
            insert.inputs = vec![root];
            return insert;
        }
        root
    }

    /// The tables of a SELECT, one looked up for each row of those before.
    fn joined(&self, select: &Select, clauses: &Clauses) -> Node {
        let last = select.lines.iter().rposition(Line::filters);
        let nodes = select.lines.iter().enumerate().map(|(place, line)| {
            let leaf = self.leaf(line, select.lines.len() == 1);
            match &clauses.condition {
                Some(condition) if Some(place) == last => filter(condition, leaf),
                _ => leaf,
            }
        });
        let joined = nodes.reduce(|left, right| {
            let is_hash = right.more.iter().any(|(name, _)| *name == "hash_join");
            let (rows, cost) = left.estimate.unwrap_or_default();
            let inner = right.estimate.map_or(1.0, |(rows, _)| rows);
            let word = match is_hash {
                true => "Inner hash join",
                false => "Nested loop inner join",
            };
            Node {
                access: "join",
                estimate: Some((rows * inner, cost + rows * LOOKUP_COST)),
                inputs: vec![left, right],
                ..Node::plain(word)
            }
        });
        joined.unwrap_or_else(nothing)
    }

    fn leaf(&self, line: &Line, is_alone: bool) -> Node {
        let key = line.key.as_ref().map_or("", |(key, _)| key.as_str());
        let table = line.table.as_str();
        let covering = line.extra.contains(&"Using index");
        let word = |covered: &'static str, plain: &'static str| match covering {
            true => covered,
            false => plain,
        };
        let rows = rows(line);
        let (operation, access, cost) = match line.access {
            "const" if is_alone => return nothing(),
            "index" => {
                let word = word("Covering index scan", "Index scan");
                (
                    format!("{word} on {table} using {key}"),
                    "index",
                    scan_cost(rows),
                )
            }
            "range" => {
                let word = word("Covering index range scan", "Index range scan");
                (
                    format!("{word} on {table} using {key}"),
                    "index",
                    scan_cost(rows),
                )
            }
            "ref" => {
                let word = word("Covering index lookup", "Index lookup");
                (
                    format!("{word} on {table} using {key}"),
                    "index",
                    rows * LOOKUP_COST,
                )
            }
            "const" | "eq_ref" => {
                let word = word(
                    "Single-row covering index lookup",
                    "Single-row index lookup",
                );
                (format!("{word} on {table} using {key}"), "index", 0.25)
            }
            _ => (format!("Table scan on {table}"), "table", scan_cost(rows)),
        };
        let mut more = vec![("table_name", Json::from(table))];
        if let Some(known) = self.table(table) {
            more[0].1 = known.name.as_str().into();
            more.push(("alias", table.into()));
            more.push(("schema_name", known.schema.as_str().into()));
        }
        if !key.is_empty() {
            more.push(("index_name", key.into()));
            more.push(("covering", covering.into()));
        }
        if line.extra.iter().any(|extra| extra.contains("hash join")) {
            more.push(("hash_join", true.into()));
        }
        Node {
            access,
            estimate: Some((rows, cost)),
            more,
            ..Node::plain(operation)
        }
    }

    fn with_clauses(&self, mut node: Node, select: &Select, clauses: &Clauses) -> Node {
        let read = node.estimate;
        let is_stored = select.extra.contains(&"Using temporary");
        if clauses.group.is_some() || clauses.aggregates.is_some() {
            node = aggregated(node, clauses, is_stored);
        }
        if let Some(having) = &clauses.having {
            node = filter(having, node);
        }
        if clauses.is_distinct && is_stored {
            let operation = "Temporary table with deduplication";
            let below = over(operation, "temp_table", read, node);
            node = over("Table scan on <temporary>", "table", read, below);
        }
        let is_sorted = select.extra.contains(&"Using filesort");
        if let Some(order) = clauses.order.as_ref().filter(|_| is_sorted) {
            let chunk = clauses.limit.map_or_else(String::new, |(rows, passed)| {
                let most = rows.saturating_add(passed);
                format!(", limit input to {most} row(s) per chunk")
            });
            let estimate = node.estimate;
            node = over(format!("Sort: {order}{chunk}"), "sort", estimate, node);
        }
        if let Some((rows, passed)) = clauses.limit {
            let operation = match passed {
                0 => format!("Limit: {rows} row(s)"),
                passed => format!("Limit/Offset: {rows}/{passed} row(s)"),
            };
            let estimate = node.estimate;
            let estimate = estimate.map(|(all, cost)| (all.min(rows as f64), cost));
            node = over(operation, "limit", estimate, node);
        }
        node
    }
}

/// One operation above another.
fn over(
    operation: impl Into<String>,
    access: &'static str,
    estimate: Option<(f64, f64)>,
    below: Node,
) -> Node {
    Node {
        access,
        estimate,
        inputs: vec![below],
        ..Node::plain(operation)
    }
}

/// Groups, by way of a temporary table or in the order they come; or one row of all.
fn aggregated(node: Node, clauses: &Clauses, is_stored: bool) -> Node {
    let what = clauses.aggregates.as_deref().unwrap_or("group");
    let estimate = node.estimate;
    match (&clauses.group, is_stored) {
        (Some(_), true) => {
            let below = over("Aggregate using temporary table", "aggregate", None, node);
            over("Table scan on <temporary>", "table", None, below)
        }
        (Some(_), false) => {
            let operation = format!("Group aggregate: {what}");
            over(operation, "aggregate", estimate, node)
        }
        (None, _) => {
            let estimate = Some((1.0, cost(estimate)));
            over(format!("Aggregate: {what}"), "aggregate", estimate, node)
        }
    }
}

fn cost(estimate: Option<(f64, f64)>) -> f64 {
    estimate.map_or(0.0, |(_, cost)| cost)
}

fn rows(line: &Line) -> f64 {
    line.rows.unwrap_or(1) as f64
}

fn filter(condition: &str, below: Node) -> Node {
    Node {
        access: "filter",
        estimate: below.estimate,
        more: vec![("condition", condition.into())],
        inputs: vec![below],
        ..Node::plain(format!("Filter: {condition}"))
    }
}

fn nothing() -> Node {
    Node {
        access: "rows_fetched_before_execution",
        estimate: Some((1.0, 0.0)),
        ..Node::plain("Rows fetched before execution")
    }
}

fn headline(select: &Select) -> String {
    let how = match select.kind {
        "DEPENDENT SUBQUERY" => "subquery in condition; dependent",
        "SUBQUERY" => "subquery in condition; run only once",
        "DERIVED" => "materialized",
        _ => "appended",
    };
    format!("Select #{} ({how})", select.number)
}

impl Line {
    fn filters(&self) -> bool {
        self.extra
            .iter()
            .any(|extra| extra.starts_with("Using where") || *extra == "Using index condition")
    }
}

impl Node {
    fn plain(operation: impl Into<String>) -> Node {
        Node {
            operation: operation.into(),
            access: "",
            estimate: None,
            more: Vec::new(),
            inputs: Vec::new(),
        }
    }

    fn write(&self, text: &mut String, depth: usize) {
        let estimate = match self.estimate {
            Some((rows, 0.0)) => format!("  (cost=0..0 rows={rows})"),
            Some((rows, cost)) => format!("  (cost={} rows={})", short(cost), short(rows)),
            None => String::new(),
        };
        let indent = "    ".repeat(depth);
        text.push_str(&format!("{indent}-> {}{estimate}\n", self.operation));
        for input in &self.inputs {
            input.write(text, depth + 1);
        }
    }

    fn json(&self) -> Json {
        let mut told = Map::new();
        told.insert("operation".to_owned(), self.operation.as_str().into());
        if !self.access.is_empty() {
            told.insert("access_type".to_owned(), self.access.into());
        }
        if let Some((rows, cost)) = self.estimate {
            told.insert("estimated_rows".to_owned(), rows.into());
            told.insert("estimated_total_cost".to_owned(), cost.into());
        }
        let more = self.more.iter().cloned();
        told.extend(more.map(|(name, value)| (name.to_owned(), value)));
        if !self.inputs.is_empty() {
            let inputs = self.inputs.iter().map(Node::json);
            told.insert("inputs".to_owned(), inputs.collect());
        }
        told.into()
    }
}

/// Three digits that count, as servers write costs.
fn short(number: f64) -> String {
    let whole = number.abs().log10().floor() as i32;
    let digits = usize::try_from(2 - whole).unwrap_or(0).min(6);
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn pretty(json: &Json) -> String {
    serde_json::to_string_pretty(json).unwrap_or_default()
}

impl Clauses {
    fn of(statement: &Statement) -> Clauses {
        let query = match statement {
            Statement::Query(query) => Some(query.as_ref()),
            Statement::Insert(insert) => insert.source.as_deref(),
            _ => None,
        };
        let mut clauses = query.map(Clauses::of_query).unwrap_or_default();
        let condition = match statement {
            Statement::Update(update) => update.selection.as_ref(),
            Statement::Delete(delete) => delete.selection.as_ref(),
            _ => None,
        };
        if let Some(condition) = condition {
            clauses.condition = Some(bracketed(condition));
        }
        clauses
    }

    fn of_query(query: &Query) -> Clauses {
        let mut clauses = match query.body.as_ref() {
            SetExpr::Select(select) => Clauses::of_select(select),
            _ => Clauses::default(),
        };
        let order = query.order_by.as_ref().map(|order| &order.kind);
        if let Some(OrderByKind::Expressions(all)) = order {
            let shown = all.iter().map(|one| match one.options.sort {
                Some(OrderBySort::Desc) => format!("{} DESC", one.expr),
                _ => one.expr.to_string(),
            });
            clauses.order = Some(shown.collect::<Vec<_>>().join(", "));
        }
        let number = |expr: &Expr| expr.to_string().parse::<u64>().ok();
        clauses.limit = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                let passed = offset.as_ref().and_then(|offset| number(&offset.value));
                let rows = limit.as_ref().and_then(number);
                rows.map(|rows| (rows, passed.unwrap_or(0)))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                number(limit).zip(number(offset))
            }
            None => None,
        };
        clauses
    }

    fn of_select(select: &Ast) -> Clauses {
        let group = match &select.group_by {
            GroupByExpr::Expressions(all, _) if !all.is_empty() => Some(
                all.iter()
                    .map(Expr::to_string)
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            _ => None,
        };
        let aggregates: Vec<String> = select.projection.iter().filter_map(aggregate).collect();
        Clauses {
            condition: select.selection.as_ref().map(bracketed),
            group,
            aggregates: (!aggregates.is_empty()).then(|| aggregates.join(", ")),
            having: select.having.as_ref().map(bracketed),
            is_distinct: select.distinct.is_some(),
            ..Clauses::default()
        }
    }
}

fn bracketed(condition: &Expr) -> String {
    match condition {
        Expr::Nested(_) => condition.to_string(),
        _ => format!("({condition})"),
    }
}

/// `count(0)`, as the server names it.
fn aggregate(item: &SelectItem) -> Option<String> {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else {
        return None;
    };
    let Expr::Function(function) = expr else {
        return None;
    };
    let name = function.name.to_string().to_ascii_uppercase();
    if function.over.is_some() || !is_aggregate(&name) {
        return None;
    }
    let arguments = match &function.args {
        FunctionArguments::List(list) => {
            let all = list.args.iter().map(ToString::to_string);
            all.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    let arguments = if arguments == "*" { "0" } else { &arguments };
    Some(format!("{}({arguments})", name.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_three_digits() {
        for (number, wanted) in [
            (101.75, "102"),
            (0.25, "0.25"),
            (1.4628, "1.46"),
            (10_000.0, "10000"),
            (35.0, "35"),
        ] {
            assert_eq!(short(number), wanted);
        }
    }
}
