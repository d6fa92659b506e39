//! What would take minutes of the real processor or gigabytes of real memory is played: its time passes, its size counts.

use super::super::super::world::Work;
use super::super::bench::Bench;
use super::super::engine;
use super::super::problems::problem;
use super::super::words::Words;
use super::{After, Client, Next, Outcome, Stage};
use crate::lab::wire::{Answer, Column, Rows};
use crate::model::time::Span;

impl Client {
    /// Takes the time of the simulated processor, and then gives what can be given.
    pub(super) fn read_for_long(&mut self, bench: &mut Bench, heavy: Heavy) -> Outcome {
        self.set_state(bench, "executing");
        let work = bench
            .world
            .begin_work(self.me.node, Work::Processor(heavy.takes));
        let then = After::Say(heavy.then);
        self.stage = Stage::Working { work, then };
        Ok(Next::Go)
    }
}

/// A query that is only played.
pub(super) struct Heavy {
    takes: Span,
    then: Answer,
}

/// An INSERT … SELECT of very many rows: so many are really written, the others are counted. A simulation lives in the
/// memory of one program, and what a big transaction teaches is how long it takes.
pub(super) struct Bulk {
    pub sql: String,
    pub factor: f64,
}

const MOST_REAL_ROWS: u64 = 10_000;

impl Bulk {
    pub fn of(sql: &str) -> Option<Bulk> {
        let mut words = Words::of(sql);
        if !words.is("INSERT") {
            return None;
        }
        let upper = sql.to_ascii_uppercase();
        let at = upper.rfind(" LIMIT ")?;
        if !upper.contains("SELECT") {
            return None;
        }
        words = Words::of(&sql[at..]);
        words.accept("LIMIT");
        let rows = words.number().filter(|rows| *rows > MOST_REAL_ROWS)?;
        if !words.at_end() {
            return None;
        }
        Some(Bulk {
            sql: format!("{} LIMIT {MOST_REAL_ROWS}", &sql[..at]),
            factor: rows as f64 / MOST_REAL_ROWS as f64,
        })
    }
}

/// Row combinations a query may look at before it is only played.
const MOST_REAL_COMBINATIONS: f64 = 2e7;

/// About what one costs.
const COMBINATION: f64 = 50e-9;

/// A query that joins tables without any index to help, or that is there to waste time. Nobody waits for the first one's
/// answer: a limit of the server ends it, or a KILL; after all its time it is refused.
pub(super) fn heavy(bench: &Bench, client: &Client, sql: &str) -> Option<Heavy> {
    if let Some(call) = Words::of(sql).calls(&["BENCHMARK"]).first() {
        let times: f64 = call.arguments.first()?.parse().ok()?;
        let text = &sql.trim_end_matches(';')[call.place.clone()];
        let zero = Rows::new(vec![Column::number(text)]).row([Some("0")]);
        return Some(Heavy {
            takes: Span::from_secs_f64(times * 100e-9),
            then: Answer::Rows(zero),
        });
    }
    let combinations = combinations(bench, client, sql)?;
    let refusal = problem(
        1104,
        "The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use SET SQL_BIG_SELECTS=1 or SET \
         MAX_JOIN_SIZE=# if the SELECT is okay",
    );
    (combinations > MOST_REAL_COMBINATIONS).then(|| Heavy {
        takes: Span::from_secs_f64((combinations * COMBINATION).min(86_400.0)),
        then: Answer::Err(refusal),
    })
}

/// The product of the tables' sizes, where nothing in the statement compares for equality.
fn combinations(bench: &Bench, client: &Client, sql: &str) -> Option<f64> {
    let upper = sql.to_ascii_uppercase();
    if !upper.contains(" JOIN ") || has_equality(&upper) {
        return None;
    }
    let mut words = Words::of(sql);
    let database = bench.world.engine(client.me.node).database();
    let mut product = 1.0;
    while !words.at_end() {
        if words.accept("FROM") || words.accept("JOIN") {
            let Some((schema, name)) = words.qualified_name() else {
                continue;
            };
            let schema = schema.or_else(|| client.ctx.schema.clone())?;
            let rows = engine::row_count(&mut engine::lock(&database), &schema, &name)?;
            product *= rows as f64;
        } else {
            words.skip();
        }
    }
    Some(product)
}

fn has_equality(sql: &str) -> bool {
    sql.contains(" USING")
        || sql
            .match_indices('=')
            .any(|(at, _)| !sql[..at].ends_with(['<', '>', '!', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_insert_is_written_in_part_and_counted_whole() {
        let bulk =
            Bulk::of("INSERT INTO shop.bulk (id) SELECT d0.d FROM x d0 LIMIT 100000").unwrap();
        assert!(bulk.sql.ends_with("LIMIT 10000"));
        assert_eq!(bulk.factor, 10.0);
        assert!(Bulk::of("INSERT INTO t SELECT 1 LIMIT 100").is_none());
        assert!(Bulk::of("INSERT INTO t VALUES (' LIMIT 100000')").is_none());
    }
}
