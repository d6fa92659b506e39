//! Finds the servers installed on this machine: a program named by the person, the variable [`VARIABLE`], the search
//! path, and the folders where packages and archives put them. Asks each what it is before it is taken.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::model::phrase::phrase;
use crate::model::server::Flavour;
use crate::model::trouble::{Trouble, TroubleKind};

use super::process;
use super::release::Release;
use super::trouble::{trouble, with_hint};

/// A server's program, a script that starts one, or the folder it is in; several as in the search path.
pub const VARIABLE: &str = "REPLICASCOPE_MYSQLD";

/// How long `--version` may take: a wrapper may have to unpack something.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// A server that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    pub release: Release,
}

/// The server to make a lab of this flavour from. `chosen` by the person wins over all else, and is not silently
/// replaced when it will not do.
pub fn find(flavour: Flavour, chosen: Option<&Path>) -> Result<Program, Trouble> {
    Search::of_this_machine(chosen).find(flavour)
}

/// A usable server of each flavour, for a choice: MySQL, then MariaDB. The one chosen by the person stands for its own
/// flavour.
pub fn installed(chosen: Option<&Path>) -> Vec<Program> {
    let of_flavour = |flavour| {
        let by_choice = chosen.map(|path| find(flavour, Some(path)));
        match by_choice {
            Some(Ok(program)) => Some(program),
            _ => find(flavour, None).ok(),
        }
    };
    [Flavour::MySql, Flavour::MariaDb]
        .into_iter()
        .filter_map(of_flavour)
        .collect()
}

/// Why the program that a person chose will do for no lab; `None` where it will.
pub fn why_useless(chosen: &Path) -> Option<Trouble> {
    let of_mysql = named(chosen, Flavour::MySql).err()?;
    let of_mariadb = named(chosen, Flavour::MariaDb).err()?;
    let is_mariadb = of_mysql.kind == OTHER_FLAVOUR;
    Some(if is_mariadb { of_mariadb } else { of_mysql })
}

/// Where to look, in this order.
struct Search {
    chosen: Option<PathBuf>,
    variable: Option<OsString>,
    path: Option<OsString>,
    /// A `*` stands for anything in that part of a path; the newest name is tried first.
    usual: Vec<PathBuf>,
}

impl Search {
    fn of_this_machine(chosen: Option<&Path>) -> Search {
        Search {
            chosen: chosen.map(Path::to_owned),
            variable: env::var_os(VARIABLE).filter(|value| !value.is_empty()),
            path: env::var_os("PATH"),
            usual: usual_folders(),
        }
    }

    fn find(&self, flavour: Flavour) -> Result<Program, Trouble> {
        if let Some(chosen) = &self.chosen {
            return named(chosen, flavour);
        }
        let mut unusable = None;
        for path in self.variable.iter().flat_map(env::split_paths) {
            match named(&path, flavour) {
                Err(trouble) if trouble.kind == OTHER_FLAVOUR => unusable = Some(trouble),
                found_or_wrong => return found_or_wrong,
            }
        }
        for folder in self.folders() {
            for program in programs_in(&folder, flavour) {
                match usable(&program, flavour) {
                    Ok(program) => return Ok(program),
                    Err(trouble) => unusable = Some(trouble),
                }
            }
        }
        Err(self.not_found(flavour, unusable))
    }

    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let path = self.path.iter().flat_map(env::split_paths);
        path.chain(self.usual.iter().flat_map(|pattern| expanded(pattern)))
    }

    /// Names what was looked for, and why what was there would not do.
    fn not_found(&self, flavour: Flavour, unusable: Option<Trouble>) -> Trouble {
        let usual: Vec<String> = self.usual.iter().map(|f| f.display().to_string()).collect();
        let what = phrase("lab.real.not_found")
            .with("flavour", flavour.name())
            .with("names", names(flavour).join(", "))
            .with("places", usual.join(", "));
        let detail = unusable.map_or_else(String::new, |trouble| trouble.detail);
        let hint = phrase("lab.real.not_found.hint").with("variable", VARIABLE);
        with_hint(trouble(TroubleKind::Unreachable, what, detail), hint)
    }
}

/// How [`usable`] says that a server is of the other flavour: the search then goes on.
const OTHER_FLAVOUR: TroubleKind = TroubleKind::Refusing;

/// A program, or a folder with one in it, that a person named.
fn named(path: &Path, flavour: Flavour) -> Result<Program, Trouble> {
    if !path.is_dir() {
        return usable(path, flavour);
    }
    let inside = ["", "bin", "sbin", "libexec"].map(|folder| path.join(folder));
    let programs = [Flavour::MySql, Flavour::MariaDb]
        .iter()
        .flat_map(|names| inside.iter().flat_map(|folder| programs_in(folder, *names)));
    let mut unusable = not_a_server(path, "");
    for program in programs {
        match usable(&program, flavour) {
            Ok(program) => return Ok(program),
            Err(trouble) => unusable = trouble,
        }
    }
    Err(unusable)
}

fn not_a_server(path: &Path, answer: &str) -> Trouble {
    let what = phrase("lab.real.not_a_server").with("path", path.display().to_string());
    let hint = phrase("lab.real.not_found.hint").with("variable", VARIABLE);
    with_hint(trouble(TroubleKind::Unreachable, what, answer), hint)
}

fn usable(path: &Path, flavour: Flavour) -> Result<Program, Trouble> {
    let shown = path.display().to_string();
    let release = ask(path).map_err(|answer| not_a_server(path, &answer))?;
    if !release.is_of(flavour) {
        let what = phrase("lab.real.other_flavour")
            .with("path", shown.as_str())
            .with("release", release.name())
            .with("flavour", flavour.name());
        return Err(trouble(
            OTHER_FLAVOUR,
            what,
            format!("{shown}: {}", release.name()),
        ));
    }
    if !release.is_supported() {
        let what = phrase("lab.real.too_old")
            .with("path", shown.as_str())
            .with("release", release.name());
        return Err(trouble(
            TroubleKind::Unsupported,
            what,
            format!("{shown}: {}", release.name()),
        ));
    }
    Ok(Program {
        path: path.to_owned(),
        release,
    })
}

/// What a program says of itself; an error is what it said instead.
fn ask(path: &Path) -> Result<Release, String> {
    let mut command = Command::new(path);
    command.arg("--version");
    let done = process::run(command, ANSWER_LIMIT).map_err(|error| error.to_string())?;
    Release::parse(&done.output).ok_or(done.output)
}

fn names(flavour: Flavour) -> &'static [&'static str] {
    if flavour.is_mariadb() {
        // Older packages have only the old name.
        &["mariadbd", "mysqld"]
    } else {
        &["mysqld"]
    }
}

fn programs_in(folder: &Path, flavour: Flavour) -> Vec<PathBuf> {
    names(flavour)
        .iter()
        .map(|name| folder.join(name).with_extension(env::consts::EXE_EXTENSION))
        .filter(|path| path.is_file())
        .collect()
}

/// Where packages and archives put servers.
fn usual_folders() -> Vec<PathBuf> {
    let home = env::home_dir().unwrap_or_default();
    let in_home = [
        "opt/mysql/*/bin",
        "opt/mariadb/*/bin",
        "sandboxes/binaries/*/bin",
    ];
    let in_home = in_home.iter().map(|pattern| home.join(pattern));
    USUAL.iter().map(PathBuf::from).chain(in_home).collect()
}

#[cfg(not(windows))]
const USUAL: &[&str] = &[
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/sbin",
    "/usr/local/libexec",
    "/usr/local/bin",
    "/usr/local/mysql*/bin",
    "/usr/local/mariadb*/bin",
    "/opt/mysql*/bin",
    "/opt/mysql*/*/bin",
    "/opt/mariadb*/bin",
    // Homebrew, on both kinds of Mac and on Linux
    "/opt/homebrew/bin",
    "/opt/homebrew/opt/mysql*/bin",
    "/opt/homebrew/opt/mariadb*/bin",
    "/usr/local/opt/mysql*/bin",
    "/usr/local/opt/mariadb*/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    // MacPorts
    "/opt/local/lib/mysql*/bin",
    "/opt/local/lib/mariadb*/bin",
];

#[cfg(windows)]
const USUAL: &[&str] = &[
    r"C:\Program Files\MySQL\MySQL Server *\bin",
    r"C:\Program Files\MariaDB *\bin",
    r"C:\Program Files (x86)\MySQL\MySQL Server *\bin",
];

fn expanded(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern {
        found = match part.to_str().and_then(|part| part.split_once('*')) {
            None => found.into_iter().map(|folder| folder.join(part)).collect(),
            Some((before, after)) => found
                .iter()
                .flat_map(|folder| matching(folder, before, after))
                .collect(),
        };
    }
    found
}

fn matching(folder: &Path, before: &str, after: &str) -> Vec<PathBuf> {
    let fits = |name: &OsStr| {
        name.to_str()
            .and_then(|name| name.strip_prefix(before))
            .is_some_and(|rest| rest.ends_with(after))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| fits(&entry.file_name()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.reverse();
    found
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A script that answers `--version` as a server of that release: other releases are not to be had everywhere.
    fn put(folder: &Path, name: &str, version: &str) -> PathBuf {
        fs::create_dir_all(folder).expect("a writable folder");
        let path = folder.join(name);
        let script = format!("#!/bin/sh\necho '/x/{name}  Ver {version} for Linux on x86_64'\n");
        fs::write(&path, script).expect("a writable folder");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
        // A process that another test starts just now may still have the file open for writing.
        while Command::new(&path)
            .output()
            .is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        path
    }

    fn search(path: &[&Path], usual: &[PathBuf]) -> Search {
        Search {
            chosen: None,
            variable: None,
            path: Some(env::join_paths(path).expect("paths without colons")),
            usual: usual.to_vec(),
        }
    }

    #[test]
    fn the_flavour_is_what_the_program_says_even_under_the_others_name() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (first, second) = (dir.path().join("a"), dir.path().join("b"));
        let maria = put(&first, "mysqld", "10.11.18-MariaDB");
        let mysql = put(&second, "mysqld", "8.4.3");
        let search = search(&[&first], &[second]);
        assert_eq!(search.find(Flavour::MySql).map(|p| p.path), Ok(mysql));
        assert_eq!(search.find(Flavour::MariaDb).map(|p| p.path), Ok(maria));
    }

    #[test]
    fn what_a_person_named_comes_first_and_is_not_silently_replaced() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let good = put(&dir.path().join("path"), "mysqld", "8.4.3");
        let named = put(&dir.path().join("named/bin"), "mysqld", "9.7.4");
        let mut search = search(&[good.parent().expect("a folder")], &[]);
        assert_eq!(
            search.find(Flavour::MySql).map(|p| p.path),
            Ok(good.clone())
        );
        search.variable = Some(dir.path().join("named").into());
        assert_eq!(search.find(Flavour::MySql).map(|p| p.path), Ok(named));
        search.variable = Some(dir.path().join("nothing").into());
        let trouble = search.find(Flavour::MySql).expect_err("nothing is there");
        assert_eq!(trouble.what.key, "lab.real.not_a_server");
        search.chosen = Some(good.clone());
        assert_eq!(search.find(Flavour::MySql).map(|p| p.path), Ok(good));
        let trouble = search.find(Flavour::MariaDb).expect_err("it is MySQL");
        assert_eq!(trouble.what.key, "lab.real.other_flavour");
    }

    #[test]
    fn a_program_is_useless_when_no_lab_can_be_made_of_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mysql = put(dir.path(), "mysqld", "8.4.3");
        let maria = put(dir.path(), "mariadbd", "11.8.3-MariaDB");
        let old = put(&dir.path().join("old"), "mariadbd", "10.3.1-MariaDB");
        let why = |path: &Path| why_useless(path).map(|trouble| trouble.what.key);
        assert_eq!(why(&mysql), None);
        assert_eq!(why(&maria), None);
        assert_eq!(why(&old), Some("lab.real.too_old"));
        let nothing = dir.path().join("nothing");
        assert_eq!(why(&nothing), Some("lab.real.not_a_server"));
    }

    #[test]
    fn a_variable_that_names_the_other_flavour_leaves_the_search_to_go_on() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mysql = put(&dir.path().join("a"), "mysqld", "8.4.3");
        let maria = put(&dir.path().join("b"), "mariadbd", "11.8.3-MariaDB");
        let mut search = search(&[maria.parent().expect("a folder")], &[]);
        search.variable = Some(mysql.into());
        assert_eq!(
            search.find(Flavour::MariaDb).map(|p| p.path),
            Ok(maria.clone())
        );
        search.variable = Some(dir.path().join("a").into());
        assert_eq!(search.find(Flavour::MariaDb).map(|p| p.path), Ok(maria));
    }

    #[test]
    fn where_nothing_is_it_says_what_was_looked_for_and_how_to_name_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        put(&dir.path().join("old"), "mysqld", "5.6.51");
        let trouble = search(&[&dir.path().join("old")], &[PathBuf::from("/nowhere")])
            .find(Flavour::MySql)
            .expect_err("5.6 is too old");
        assert_eq!(trouble.what.key, "lab.real.not_found");
        assert!(
            trouble.detail.contains("MySQL 5.6.51"),
            "{}",
            trouble.detail
        );
        let said = format!("{:?}", (&trouble.what, &trouble.hint));
        assert!(
            said.contains("/nowhere") && said.contains(VARIABLE),
            "{said}"
        );
    }

    #[test]
    fn the_newest_of_several_folders_is_tried_first() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for version in ["8.0", "9.7"] {
            fs::create_dir_all(dir.path().join(format!("mysql-{version}/bin"))).expect("a folder");
        }
        fs::create_dir_all(dir.path().join("maria/bin")).expect("a folder");
        let found = expanded(&dir.path().join("mysql*/bin"));
        assert_eq!(
            found,
            ["9.7", "8.0"].map(|v| dir.path().join(format!("mysql-{v}/bin")))
        );
    }
}
