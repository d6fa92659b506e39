//! Who may name whom: holds the sources against the table of `src/lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

const MODULES: [&str; 13] = [
    "model", "settings", "health", "lag", "routing", "link", "words", "store", "monitor", "mysql",
    "lab", "ui", "app",
];

/// What each module may name of ours.
fn allowed(module: &str) -> &'static [&'static str] {
    match module {
        "model" => &[],
        "settings" | "lag" | "routing" | "link" | "words" => &["model"],
        "health" => &["model", "lag"],
        "store" => &["model", "lag", "health", "routing"],
        // Its sessions on the source obey `routing::demotion`.
        "monitor" => &["model", "link", "routing"],
        "mysql" => &["model", "link"],
        "lab" => &["model", "link", "mysql"],
        "ui" => &["model", "health", "lag", "routing", "store", "words"],
        _ => &MODULES,
    }
}

/// What from outside a module must not name.
fn forbidden_outside(module: &str) -> &'static [&'static str] {
    const PURE: &[&str] = &[
        "egui",
        "eframe",
        "use mysql::",
        "std::thread",
        "TcpStream",
        "crossbeam_channel",
        "Instant::now",
        "SystemTime",
        "ZonedDateTime::now",
        "Timestamp::now",
    ];
    match module {
        "model" | "health" | "lag" | "routing" => PURE,
        "words" | "settings" => &[
            "egui",
            "eframe",
            "TcpStream",
            "Instant::now",
            "crossbeam_channel",
        ],
        "store" => PURE,
        "monitor" => &["egui", "eframe", "SystemTime"],
        "mysql" => &["egui", "eframe", "SystemTime"],
        "ui" => &[
            "std::fs",
            "TcpStream",
            "std::thread",
            "rfd",
            "Instant::now",
            "SystemTime",
            "ZonedDateTime::now",
            "Timestamp::now",
            "eframe::App",
            "eframe::Frame",
            "NativeOptions",
            "std::process",
        ],
        _ => &[],
    }
}

#[test]
fn every_module_names_only_what_its_layer_may() {
    let mut wrong = Vec::new();
    for module in MODULES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src")
            .join(module);
        for file in rust_files(&folder) {
            let source =
                without_tests_and_comments(&fs::read_to_string(&file).expect("a source file"));
            for (number, line) in source.lines().enumerate() {
                check_line(module, &file, number + 1, line, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn check_line(module: &str, file: &Path, number: usize, line: &str, wrong: &mut Vec<String>) {
    let place = || {
        format!(
            "{}:{number}",
            file.strip_prefix(env!("CARGO_MANIFEST_DIR"))
                .unwrap_or(file)
                .display()
        )
    };
    for other in MODULES {
        let named = line.contains(&format!("crate::{other}::"))
            || line.contains(&format!("crate::{other};"));
        if named && other != module && !allowed(module).contains(&other) {
            wrong.push(format!(
                "{}: {module} must not name {other}: {}",
                place(),
                line.trim()
            ));
        }
    }
    for name in forbidden_outside(module) {
        // `crate::mysql::` is ours, not the driver.
        let ours = name.ends_with("::") && line.contains(&format!("crate::{name}"));
        let inside_a_name = line
            .match_indices(name)
            .all(|(at, _)| line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        if line.contains(name) && !ours && !inside_a_name {
            wrong.push(format!(
                "{}: {module} must not use {name}: {}",
                place(),
                line.trim()
            ));
        }
    }
}

#[test]
fn only_the_mysql_folder_names_the_driver() {
    let mut wrong = Vec::new();
    for file in rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        if file.components().any(|part| part.as_os_str() == "mysql") {
            continue;
        }
        let source = without_tests_and_comments(&fs::read_to_string(&file).expect("a source file"));
        if source.contains("use mysql::")
            || source.contains("use ::mysql")
            || source.contains("mysql_common")
        {
            wrong.push(file.display().to_string());
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.expect("an entry").path();
        let is_test = ["tests", "tests.rs", "properties.rs"]
            .iter()
            .any(|name| path.ends_with(name));
        if is_test {
            // Behind `#[cfg(test)]` in the parent.
        } else if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Lines keep their numbers; what stands after `#[cfg(test)]` is not part of the layers.
fn without_tests_and_comments(source: &str) -> String {
    let mut kept = String::new();
    for line in source.lines() {
        if line.trim_start().starts_with("#[cfg(test)]") {
            break;
        }
        kept.push_str(line.split("//").next().unwrap_or_default());
        kept.push('\n');
    }
    kept
}
