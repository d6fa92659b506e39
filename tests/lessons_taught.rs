//! Every lesson goes through by itself on a simulated lab, in both languages and on both kinds of servers: each step's
//! acts are done, and what it waits for is seen. The language changes nothing about the servers, so that two classes
//! see it all: an English one on MySQL, a Chinese one on MariaDB. On real servers the same is shown of those lessons
//! whose success depends on how quick a machine is.

mod support;

use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

use replicascope::lab::lessons;
use replicascope::model::lab::Generation;
use replicascope::words::Language;
use support::servers::Flavour;

/// A lesson waits most of its time. With all of them at once, two cores would be too slow for what is to be seen.
const AT_ONCE: usize = 10;

const CLASSES: [(Language, Generation); 2] = [
    (Language::English, Generation::MySql97),
    (Language::SimplifiedChinese, Generation::MariaDb1011),
];

#[test]
fn every_lesson_shows_in_both_languages_what_it_promises() {
    let classes = every_lesson().flat_map(|n| CLASSES.map(|class| (n, class)));
    taught(AT_ONCE, classes, |(number, (language, generation))| {
        let mut lab = lesson(number);
        lab.args(["--language", language.tag()])
            .args(["--generation", generation.code()]);
        lab
    });
}

/// On a quick machine a transaction of 300,000 rows is over before it is seen. The coach then makes it bigger.
#[test]
fn big_transactions_are_seen_on_real_servers_of_both_kinds_however_quick_the_machine() {
    on_real_servers([2, 3, 5].into_iter());
}

#[test]
#[ignore = "takes some ten minutes; what is most likely to fail is in the test above"]
fn every_lesson_shows_on_real_servers_what_it_promises() {
    on_real_servers(every_lesson());
}

fn every_lesson() -> impl Iterator<Item = u32> + Send + Clone {
    lessons::all().iter().map(|lesson| lesson.number)
}

/// One class on MySQL and one on MariaDB.
fn on_real_servers(numbers: impl Iterator<Item = u32> + Send + Clone) {
    let of = |flavour| {
        let numbers = numbers.clone();
        move || {
            taught(1, numbers, |number| {
                let mut lab = lesson(number);
                lab.arg("--real").arg(Flavour::program(flavour));
                // Data is initialised once, not for every lesson.
                lab.env("XDG_CACHE_HOME", flavour.prefix().with_file_name("lessons"));
                lab
            });
        }
    };
    thread::scope(|scope| {
        scope.spawn(of(Flavour::MySql));
        scope.spawn(of(Flavour::MariaDb));
    });
}

/// All classes, so many at once; those that have not seen everything are told in the end.
fn taught<Class: Send>(
    at_once: usize,
    classes: impl Iterator<Item = Class> + Send,
    lab: impl Fn(Class) -> Command + Sync,
) {
    let waiting = Mutex::new(classes);
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().expect("no panic").next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(class) = next() {
                    let output = teach(lab(class));
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

fn lesson(number: u32) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    command
        .args(["lab", "--headless"])
        .args(["--lesson", &number.to_string()]);
    command
}

fn teach(mut lab: Command) -> Output {
    let config = tempfile::tempdir().expect("a folder");
    lab.env("XDG_CONFIG_HOME", config.path())
        .env("XDG_DATA_HOME", config.path())
        .env("HOME", config.path())
        .output()
        .expect("the program")
}
