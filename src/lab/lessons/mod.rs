//! The lessons that come with the program: `assets/lessons/*.toml`, one file for each, both languages in it.
//!
//! [`file`] is the form of such a file, [`read`] turns it into a [`Lesson`] for one kind of servers and says
//! what is wrong with it, [`conditions`] its conditions. [`saying`] has the statements of a step said.

mod conditions;
mod file;
mod read;
pub mod saying;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::model::lesson::{Lesson, Servers};

macro_rules! files {
    ($($file:literal),* $(,)?) => {
        [$(($file, include_str!(concat!("../../../assets/lessons/", $file)))),*]
    };
}

/// In the order of teaching.
const FILES: [(&str, &str); 14] = files![
    "01-missing-order.toml",
    "02-where-time-goes.toml",
    "03-seconds-behind.toml",
    "04-heartbeat.toml",
    "05-big-transactions.toml",
    "06-gtid-wait.toml",
    "07-read-your-writes.toml",
    "08-old-value.toml",
    "09-semi-sync.toml",
    "10-errant-transactions.toml",
    "11-session-drift.toml",
    "12-slow-query.toml",
    "13-failover.toml",
    "14-acceptance.toml",
];

/// For each kind of servers.
static LESSONS: LazyLock<HashMap<Servers, Vec<Arc<Lesson>>>> = LazyLock::new(|| {
    let of = |servers| match read_all(&FILES, servers) {
        Ok(lessons) => (servers, lessons.into_iter().map(Arc::new).collect()),
        // Part of the program, and every test reads them: a mistake does not get out of the house.
        Err(mistakes) => {
            let list: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            panic!("assets/lessons:\n{}", list.join("\n"))
        }
    };
    Servers::all().map(of).collect()
});

/// All lessons, in the order of teaching.
pub fn all() -> &'static [Arc<Lesson>] {
    all_in(Servers::default())
}

/// All lessons, as they are taught on these servers.
pub fn all_in(servers: Servers) -> &'static [Arc<Lesson>] {
    &LESSONS[&servers]
}

/// A lesson by its id, or by its number.
pub fn find(wanted: &str, servers: Servers) -> Option<Arc<Lesson>> {
    let is_it = |lesson: &&Arc<Lesson>| lesson.id == wanted || wanted.parse() == Ok(lesson.number);
    all_in(servers).iter().find(is_it).cloned()
}

/// What is wrong with a lesson's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub file: String,
    /// Such as `step 3`; empty where it is about the whole.
    pub place: String,
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "{}: {}", self.file, self.what),
            place => write!(f, "{}: {place}: {}", self.file, self.what),
        }
    }
}

/// Reads lessons and holds them against each other; all mistakes at once.
pub fn read_all(files: &[(&str, &str)], servers: Servers) -> Result<Vec<Lesson>, Vec<Mistake>> {
    let mut lessons: Vec<Lesson> = Vec::new();
    let mut mistakes = Vec::new();
    for (file, text) in files {
        match read::lesson(file, text, servers) {
            Ok(lesson) => {
                let whole = |what: String| Mistake {
                    file: (*file).to_owned(),
                    place: String::new(),
                    what,
                };
                if lessons.iter().any(|other| other.id == lesson.id) {
                    mistakes.push(whole(format!("another lesson has the id `{}`", lesson.id)));
                }
                if lessons.iter().any(|other| other.number == lesson.number) {
                    mistakes.push(whole(format!(
                        "another lesson has number {}",
                        lesson.number
                    )));
                }
                lessons.push(lesson);
            }
            Err(of_this) => mistakes.extend(of_this),
        }
    }
    lessons.sort_by_key(|lesson| lesson.number);
    match mistakes.is_empty() {
        true => Ok(lessons),
        false => Err(mistakes),
    }
}

#[cfg(test)]
mod tests;
