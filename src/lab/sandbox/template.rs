//! A freshly initialised data folder, made once for each release and copied for every server: initialising takes
//! seconds, copying a fraction of one.
//!
//! Nobody can log in to it: root is locked, and each lab makes its own accounts.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::model::profile::slug;
use crate::model::trouble::Trouble;

use super::find::Program;
use super::keeper::Keeper;
use super::process;
use super::trouble::{file_trouble, not_initialised};

/// Goes up with every change of what a template holds, so that an old one is never met.
const RECIPE: u32 = 2;
/// On a slow disk it takes a minute.
const INITIALISE_LIMIT: Duration = Duration::from_secs(180);
const UNFINISHED: &str = ".unfinished-";
const LOCK_ROOT: &str = "ALTER USER 'root'@'localhost' ACCOUNT LOCK;\n";

/// What mariadb-install-db feeds to a server, in its order.
const MARIADB_SYSTEM_TABLES: [&str; 5] = [
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
];

/// The templates of a user.
pub(super) struct Templates<'a> {
    /// The folder they are in.
    pub folder: &'a Path,
    pub keeper: &'a Keeper,
}

impl Templates<'_> {
    /// The template of this server, made if there is none; `making` is called before that. Two programs that want the
    /// same at once: one makes it, the other waits.
    pub fn of(&self, program: &Program, making: impl FnOnce()) -> Result<PathBuf, Trouble> {
        let flavour = slug(program.release.flavour.name());
        let release: String = slug(&program.release.text).chars().take(80).collect();
        let template = self.folder.join(format!("{flavour}-{release}-{RECIPE}"));
        self.guarded(&template, program, making)?;
        Ok(template)
    }

    fn guarded(
        &self,
        template: &Path,
        program: &Program,
        making: impl FnOnce(),
    ) -> Result<(), Trouble> {
        process::private_folder(self.folder).map_err(|error| file_trouble(self.folder, &error))?;
        let lock_path = with_suffix(template, ".lock");
        let locked = File::create(&lock_path).and_then(|file| file.lock().map(|()| file));
        let _lock = locked.map_err(|error| file_trouble(&lock_path, &error))?;
        if template.is_dir() {
            return Ok(());
        }
        making();
        self.remove_unfinished(template);
        let unfinished = with_suffix(template, &format!("{UNFINISHED}{}", fastrand::u32(..)));
        let made = self.make(program, &unfinished);
        let put = made.and_then(|()| {
            fs::rename(&unfinished, template).map_err(|error| file_trouble(template, &error))
        });
        let _ = fs::remove_dir_all(&unfinished);
        put
    }

    /// Left by programs that ended in the middle of it.
    fn remove_unfinished(&self, template: &Path) {
        let start = with_suffix(template, UNFINISHED);
        for entry in fs::read_dir(self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path
                .to_string_lossy()
                .starts_with(&*start.to_string_lossy())
                && path.is_dir()
            {
                let _ = fs::remove_dir_all(path);
            }
        }
    }

    fn make(&self, program: &Program, folder: &Path) -> Result<(), Trouble> {
        process::private_folder(folder).map_err(|error| file_trouble(folder, &error))?;
        if program.release.is_mariadb() {
            self.make_mariadb(program, folder)?;
        } else {
            self.make_mysql(program, folder)?;
        }
        // A copy with the same uuid would not replicate; the rest only makes the first start slower.
        for name in ["auto.cnf", "ib_buffer_pool"] {
            let _ = fs::remove_file(folder.join(name));
        }
        remove_spare_redo_files(folder);
        Ok(())
    }

    fn make_mysql(&self, program: &Program, folder: &Path) -> Result<(), Trouble> {
        // Not in the folder: initialising wants it empty.
        let script = with_suffix(folder, ".sql");
        fs::write(&script, LOCK_ROOT).map_err(|error| file_trouble(&script, &error))?;
        let mut command = quiet(program, folder);
        command
            .arg("--initialize-insecure")
            .arg(argument("--init-file", &script))
            .args(["--skip-log-bin", "--loose-innodb-redo-log-capacity=8M"])
            .stdin(Stdio::null());
        let done = self.run(program, command);
        let _ = fs::remove_file(&script);
        done
    }

    fn make_mariadb(&self, program: &Program, folder: &Path) -> Result<(), Trouble> {
        let script = with_suffix(folder, ".sql");
        let text = mariadb_script(program)?;
        fs::write(&script, text).map_err(|error| file_trouble(&script, &error))?;
        let input = File::open(&script).map_err(|error| file_trouble(&script, &error))?;
        let mut command = quiet(program, folder);
        command
            .args([
                "--bootstrap",
                "--innodb-log-file-size=16M",
                "--max-allowed-packet=16M",
            ])
            .stdin(input);
        let done = self.run(program, command);
        let _ = fs::remove_file(&script);
        done
    }

    fn run(&self, program: &Program, command: Command) -> Result<(), Trouble> {
        let name = program.release.name();
        let done = process::run_by(command, INITIALISE_LIMIT, |command| {
            self.keeper.spawn(command)
        })
        .map_err(|error| not_initialised(&name, &error.to_string()))?;
        // A bootstrapping MariaDB goes on after a statement that failed.
        if done.status.success() && !done.output.contains("ERROR") {
            return Ok(());
        }
        Err(not_initialised(&name, &last_lines(&done.output)))
    }
}

fn quiet(program: &Program, folder: &Path) -> Command {
    let mut command = Command::new(&program.path);
    command
        .arg("--no-defaults")
        .arg(argument("--datadir", folder))
        .args(["--innodb-doublewrite=OFF", "--innodb-buffer-pool-size=16M"]);
    if process::are_we_root() {
        command.arg("--user=root");
    }
    command
}

fn argument(name: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(name);
    argument.push("=");
    argument.push(path);
    argument
}

fn mariadb_script(program: &Program) -> Result<String, Trouble> {
    let name = program.release.name();
    let folders = share_folders(program);
    // The settings give root an empty password, which is never of use: the account is locked at the end.
    let mut script = String::from(
        "create database mysql;\nuse mysql;\nset @auth_root_socket=NULL;\nset @skip_auth_anonymous=1;\n",
    );
    for wanted in MARIADB_SYSTEM_TABLES {
        // Later versions call some of these files mariadb_….
        let renamed = wanted.replacen("mysql_", "mariadb_", 1);
        let file = folders
            .iter()
            .flat_map(|folder| [folder.join(wanted), folder.join(&renamed)])
            .find(|path| path.is_file())
            .ok_or_else(|| not_initialised(&name, &missing(wanted, &folders)))?;
        let part = fs::read(&file).map_err(|error| file_trouble(&file, &error))?;
        script += &String::from_utf8_lossy(&part);
        script.push('\n');
    }
    script += "DELETE FROM mysql.global_priv WHERE User = 'root' AND Host <> 'localhost';\n";
    script += "FLUSH PRIVILEGES;\n";
    script += LOCK_ROOT;
    Ok(script)
}

fn missing(file: &str, folders: &[PathBuf]) -> String {
    let folders: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    format!("{file} is in none of: {}", folders.join(", "))
}

/// Where the server's scripts may be, as the server itself says: a wrapper may have moved it all elsewhere.
fn share_folders(program: &Program) -> Vec<PathBuf> {
    let mut command = Command::new(&program.path);
    command.args(["--no-defaults", "--verbose", "--help"]);
    let said = process::run(command, Duration::from_secs(30))
        .map(|done| done.output)
        .unwrap_or_default();
    let setting = |name: &str| {
        said.lines()
            .filter_map(|line| line.strip_prefix(name))
            .find_map(|rest| rest.starts_with(' ').then(|| PathBuf::from(rest.trim())))
    };
    let messages = setting("lc-messages-dir");
    let base = setting("basedir");
    let in_base = base.iter().flat_map(|base| {
        ["share/mysql", "share/mariadb", "share", "scripts"].map(|folder| base.join(folder))
    });
    messages.iter().cloned().chain(in_base).collect()
}

/// MySQL keeps empty files in stock, more than there is data.
fn remove_spare_redo_files(folder: &Path) {
    let files = fs::read_dir(folder.join("#innodb_redo"));
    for file in files.into_iter().flatten().flatten() {
        if file.file_name().to_string_lossy().ends_with("_tmp") {
            let _ = fs::remove_file(file.path());
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// The end of a log, for a person.
pub(super) fn last_lines(log: &str) -> String {
    const SHOWN: usize = 12;
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}

/// Copies a template to where a server will use it.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    process::private_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Most of a fresh tablespace is zeros: they are left out of the copy as holes, which is what takes the time.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    const SMALL: u64 = 256 * 1024;
    let mut source = File::open(from)?;
    let length = source.metadata()?.len();
    if length <= SMALL {
        return fs::copy(from, to).map(drop);
    }
    let mut target = process::private_file(to)?;
    let mut block = vec![0_u8; 64 * 1024];
    loop {
        let count = source.read(&mut block)?;
        if count == 0 {
            break;
        }
        if block[..count].iter().all(|byte| *byte == 0) {
            target.seek(SeekFrom::Current(count as i64))?;
        } else {
            target.write_all(&block[..count])?;
        }
    }
    target.set_len(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_with_holes_reads_like_the_original() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut bytes = vec![0_u8; 1_000_000];
        bytes[500_000] = 7;
        bytes[999_999] = 8;
        fs::create_dir_all(dir.path().join("from/inner")).expect("a writable folder");
        fs::write(dir.path().join("from/inner/big"), &bytes).expect("a writable folder");
        fs::write(dir.path().join("from/zeros"), vec![0_u8; 500_000]).expect("a writable folder");
        fs::write(dir.path().join("from/small"), "text").expect("a writable folder");
        copy(&dir.path().join("from"), &dir.path().join("to")).expect("a copy");
        let read = |name: &str| fs::read(dir.path().join("to").join(name)).expect("a copied file");
        assert!(read("inner/big") == bytes);
        assert!(read("zeros") == vec![0_u8; 500_000]);
        assert_eq!(read("small"), b"text");
    }
}
