//! PREPARE, EXECUTE and DEALLOCATE PREPARE, said as statements.
//!
//! What is prepared is looked at when it is executed: a table that is not there is missed only then.

use super::super::super::sql::Kind;
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::problems::{self, problem};
use super::super::words::Words;
use super::{Client, Next, Outcome};
use crate::lab::wire::{Answer, Prepared, SqlError, is_one_statement, text_literal};

impl Client {
    pub(super) fn prepared_statement(
        &mut self,
        bench: &mut Bench,
        words: &mut Words<'_>,
    ) -> Outcome {
        match words.keyword().as_str() {
            "PREPARE" => self.prepare(bench, words),
            "EXECUTE" if self.me.generation.is_mariadb() && words.accept("IMMEDIATE") => {
                let sql = self.text_of_statement(bench, words)?;
                let prepared = prepared(&sql)?;
                let literals = self.parameters(bench, words)?;
                self.execute_prepared(bench, &prepared, &literals)
            }
            "EXECUTE" => {
                let name = name(words)?;
                let literals = self.parameters(bench, words)?;
                let Some(prepared) = self.prepared.remove(&name) else {
                    return Err(unknown(&name, "EXECUTE"));
                };
                let outcome = self.execute_prepared(bench, &prepared, &literals);
                self.prepared.insert(name, prepared);
                outcome
            }
            "DEALLOCATE" | "DROP" if words.accept("PREPARE") => {
                let name = name(words)?;
                match self.prepared.remove(&name) {
                    Some(_) => Ok(Next::Say(Answer::ok())),
                    None => Err(unknown(&name, "DEALLOCATE PREPARE")),
                }
            }
            _ => Err(words.error()),
        }
    }

    /// A name that was taken is free before the new statement is looked at, as on servers.
    fn prepare(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let name = name(words)?;
        if !words.accept("FROM") {
            return Err(words.error());
        }
        self.prepared.remove(&name);
        let sql = self.text_of_statement(bench, words)?;
        if !words.at_end() {
            return Err(words.error());
        }
        self.prepared.insert(name, prepared(&sql)?);
        Ok(Next::Say(Answer::ok()))
    }

    /// A text in quotes or a user variable.
    fn text_of_statement(
        &mut self,
        bench: &mut Bench,
        words: &mut Words<'_>,
    ) -> Result<String, SqlError> {
        if let Some(text) = words.text() {
            return Ok(text);
        }
        if !words.accept("@") {
            return Err(words.error());
        }
        let variable = words.name().ok_or_else(|| words.error())?;
        let value = self.evaluate(bench, &format!("@{variable}"))?;
        let text = value.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned());
        Ok(text.unwrap_or_else(|| "NULL".to_owned()))
    }

    /// `USING @a, @b` as literals; MariaDB takes any expression.
    fn parameters(
        &mut self,
        bench: &mut Bench,
        words: &mut Words<'_>,
    ) -> Result<Vec<String>, SqlError> {
        let mut literals = Vec::new();
        if words.accept("USING") {
            while !words.at_end() {
                if !words.is("@") && !self.me.generation.is_mariadb() {
                    return Err(words.error());
                }
                let expression = words.up_to_comma();
                literals.push(match self.evaluate(bench, expression)? {
                    None => "NULL".to_owned(),
                    Some((bytes, true)) => String::from_utf8_lossy(&bytes).into_owned(),
                    Some((bytes, false)) => text_literal(&bytes),
                });
            }
        }
        if words.at_end() {
            Ok(literals)
        } else {
            Err(words.error())
        }
    }

    /// From here on it is as if the statement had been said with its values.
    fn execute_prepared(
        &mut self,
        bench: &mut Bench,
        prepared: &Prepared,
        literals: &[String],
    ) -> Outcome {
        let wrong = || problem(1210, "Incorrect arguments to EXECUTE");
        let sql = prepared.filled(literals).ok_or_else(wrong)?;
        if let Some(current) = &mut self.current {
            current.kind = Kind::of(&sql);
            current.sql = sql;
        }
        self.start(bench)
    }
}

fn name(words: &mut Words<'_>) -> Result<String, SqlError> {
    let name = words.name().ok_or_else(|| words.error())?;
    Ok(name.to_ascii_lowercase())
}

fn prepared(sql: &str) -> Result<Prepared, SqlError> {
    match Kind::of(sql) {
        Kind::Empty => Err(problem(1065, "Query was empty")),
        Kind::Other => Err(problems::not_understood(sql)),
        Kind::Prepared | Kind::Use | Kind::Begin | Kind::LockTables | Kind::UnlockTables => {
            let words = "This command is not supported in the prepared statement protocol yet";
            Err(problem(1295, words))
        }
        _ if !is_one_statement(sql) => Err(problems::not_understood(sql)),
        _ => Ok(Prepared::new(sql)),
    }
}

fn unknown(name: &str, asked: &str) -> SqlError {
    let text = format!("Unknown prepared statement handler ({name}) given to {asked}");
    problem(1243, text)
}
