//! Every lesson goes through by itself on a simulated lab, in both languages and on both kinds of servers: each step's
//! acts are done, and what it waits for is seen. The language changes nothing about the servers, so that two classes
//! see it all: an English one on MySQL, a Chinese one on MariaDB.

use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

use replicascope::lab::lessons;
use replicascope::model::lab::Generation;
use replicascope::words::Language;

/// A lesson waits most of its time. With all of them at once, two cores would be too slow for what is to be seen.
const AT_ONCE: usize = 10;

const CLASSES: [(Language, Generation); 2] = [
    (Language::English, Generation::MySql97),
    (Language::SimplifiedChinese, Generation::MariaDb1011),
];

#[test]
fn every_lesson_shows_in_both_languages_what_it_promises() {
    let lessons = lessons::all().iter().map(|lesson| lesson.number);
    let classes = lessons.flat_map(|number| CLASSES.map(|class| (number, class)));
    let waiting = Mutex::new(classes);
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().expect("no panic").next();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((number, class)) = next() {
                    let output = teach(number, class);
                    if !output.status.success() {
                        let told = String::from_utf8_lossy(&output.stdout).into_owned();
                        let trouble = String::from_utf8_lossy(&output.stderr).into_owned();
                        failed.lock().expect("no panic").push(told + &trouble);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn teach(number: u32, (language, generation): (Language, Generation)) -> Output {
    let config = tempfile::tempdir().expect("a folder");
    Command::new(env!("CARGO_BIN_EXE_replicascope"))
        .args(["lab", "--headless", "--language", language.tag()])
        .args(["--generation", generation.code()])
        .args(["--lesson", &number.to_string()])
        .env("XDG_CONFIG_HOME", config.path())
        .env("XDG_DATA_HOME", config.path())
        .env("HOME", config.path())
        .output()
        .expect("the program")
}
