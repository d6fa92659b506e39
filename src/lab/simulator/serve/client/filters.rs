//! CHANGE REPLICATION FILTER, and MariaDB's variables of the same names.

use super::super::super::world::{FilterKind, Refusal};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::problems::{self, problem};
use super::super::words::Words;
use super::{Client, Next, Outcome};
use crate::lab::wire::{Answer, SqlError};
use crate::model::lab::Generation;

impl Client {
    /// After FILTER.
    pub(super) fn change_filter(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let mut rules = Vec::new();
        loop {
            rules.push(rule(words)?);
            if !words.accept(",") {
                break;
            }
        }
        let mut channel = None;
        if self.me.generation != Generation::MySql57 && words.accept("FOR CHANNEL") {
            channel = Some(words.text().ok_or_else(|| words.error())?);
        }
        if !words.at_end() {
            return Err(words.error());
        }
        self.may_replicate(bench)?;
        self.set_filters(bench, channel.as_deref(), &rules)?;
        Ok(Next::Say(Answer::ok()))
    }

    /// `SET GLOBAL replicate_do_db = 'a,b'`. False: the variable is another.
    pub(super) fn set_filter(
        &mut self,
        bench: &mut Bench,
        variable: &str,
        text: &str,
    ) -> Result<bool, SqlError> {
        let mut kinds = FilterKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.name() == variable);
        let Some(kind) = kind.filter(|_| self.me.generation.is_mariadb()) else {
            return Ok(false);
        };
        let values = text.split(',').map(str::trim).filter(|v| !v.is_empty());
        let rule = (kind, values.map(str::to_owned).collect());
        self.set_filters(bench, None, &[rule])?;
        Ok(true)
    }

    fn set_filters(
        &self,
        bench: &mut Bench,
        channel: Option<&str>,
        rules: &[(FilterKind, Vec<String>)],
    ) -> Result<(), SqlError> {
        let set = bench.world.set_filters(self.me.node, channel, rules);
        set.map_err(|refusal| match (refusal, self.me.generation) {
            (Refusal::ApplierRuns, Generation::MySql57) => problem(
                3017,
                "This operation cannot be performed with a running slave sql thread; run STOP SLAVE SQL_THREAD first",
            ),
            (refusal, _) => self.refusal(&refusal, channel.unwrap_or_default()),
        })
    }
}

/// `REPLICATE_DO_DB = (a, b)`. Said twice, the last one holds.
fn rule(words: &mut Words<'_>) -> Result<(FilterKind, Vec<String>), SqlError> {
    if words.is("REPLICATE_REWRITE_DB") {
        return Err(problems::not_simulated("REPLICATE_REWRITE_DB"));
    }
    let near = words.clone();
    let name = words.name().unwrap_or_default();
    let mut kinds = FilterKind::ALL.into_iter();
    let kind = kinds.find(|kind| kind.name().eq_ignore_ascii_case(&name));
    let Some(kind) = kind.filter(|_| words.accept("= (")) else {
        return Err(near.error());
    };
    let mut values = Vec::new();
    while !words.accept(")") {
        if !values.is_empty() && !words.accept(",") {
            return Err(words.error());
        }
        values.push(value(words, kind)?);
    }
    Ok((kind, values))
}

fn value(words: &mut Words<'_>, kind: FilterKind) -> Result<String, SqlError> {
    match kind {
        FilterKind::DoDb | FilterKind::IgnoreDb => words.name().ok_or_else(|| words.error()),
        FilterKind::DoTable | FilterKind::IgnoreTable => match words.qualified_name() {
            Some((Some(schema), table)) => Ok(format!("{schema}.{table}")),
            _ => Err(words.error()),
        },
        FilterKind::WildDoTable | FilterKind::WildIgnoreTable => {
            let pattern = words.text().ok_or_else(|| words.error())?;
            if pattern.contains('.') {
                return Ok(pattern);
            }
            Err(problem(
                3067,
                "Supplied filter list contains a value which is not in the required format \
                 'db_pattern.table_pattern'",
            ))
        }
    }
}
