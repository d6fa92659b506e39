//! A freshly initialised data folder, made once for each version of a server and copied for every node.
//!
//! Initialising takes seconds, copying a fifth of one. The name carries a hash of the recipe, so that a change of the
//! accounts below or a newer server never meets an old template.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::flavour::{Flavour, servers_cache};

const MYSQL_ACCOUNTS: &str = "\
CREATE USER 'repl'@'%' IDENTIFIED BY 'repl';
GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%';
CREATE USER 'admin'@'%' IDENTIFIED BY 'admin';
GRANT ALL ON *.* TO 'admin'@'%' WITH GRANT OPTION;
CREATE USER 'monitor'@'%' IDENTIFIED BY 'monitor';
GRANT REPLICATION CLIENT, REPLICATION SLAVE, PROCESS ON *.* TO 'monitor'@'%';
GRANT SELECT ON performance_schema.* TO 'monitor'@'%';
";

const MARIADB_ACCOUNTS: &str = "\
DELETE FROM mysql.global_priv WHERE User = 'root' AND Host <> 'localhost';
FLUSH PRIVILEGES;
CREATE USER 'repl'@'%' IDENTIFIED BY 'repl';
GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%';
CREATE USER 'admin'@'%' IDENTIFIED BY 'admin';
GRANT ALL ON *.* TO 'admin'@'%' WITH GRANT OPTION;
CREATE USER 'monitor'@'%' IDENTIFIED BY 'monitor';
GRANT REPLICA MONITOR, BINLOG MONITOR, REPLICATION MASTER ADMIN, PROCESS ON *.* TO 'monitor'@'%';
";

/// What mariadb-install-db feeds to a server, in its order. The first two settings give root an empty password.
const MARIADB_SYSTEM_TABLES: [&str; 5] = [
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
];

/// Puts a data folder, ready to be served, at `data`.
pub fn copy_to(flavour: Flavour, data: &Path) {
    let template = template_of(flavour);
    let copied = Command::new("cp")
        .args(["-a", "--sparse=always"])
        .args([&template, data])
        .status()
        .expect("cp is there");
    assert!(
        copied.success(),
        "cannot copy {} to {}",
        template.display(),
        data.display()
    );
}

fn template_of(flavour: Flavour) -> PathBuf {
    let program = flavour.program();
    let version = fs::read_to_string(flavour.prefix().join("version")).unwrap_or_default();
    let accounts = match flavour {
        Flavour::MySql => MYSQL_ACCOUNTS,
        Flavour::MariaDb => MARIADB_ACCOUNTS,
    };
    let mut recipe = DefaultHasher::new();
    (version, accounts, MARIADB_SYSTEM_TABLES).hash(&mut recipe);
    let template = servers_cache().join(format!(
        "{}-template-{:016x}",
        flavour.name(),
        recipe.finish()
    ));

    let lock = File::create(template.with_extension("lock"))
        .expect("the cache of the servers is writable");
    lock.lock().expect("a file in the cache can be locked");
    if !template.is_dir() {
        let unfinished = template.with_extension("unfinished");
        let _ = fs::remove_dir_all(&unfinished);
        match flavour {
            Flavour::MySql => initialise_mysql(&program, &unfinished),
            Flavour::MariaDb => initialise_mariadb(&program, &unfinished),
        }
        fs::rename(&unfinished, &template).expect("a finished template can be renamed");
    }
    template
}

fn initialise_mysql(program: &Path, data: &Path) {
    let accounts = data.with_extension("sql");
    fs::write(&accounts, MYSQL_ACCOUNTS).expect("the cache is writable");
    let mut command = quiet(program, data);
    command
        .arg("--initialize-insecure")
        .arg(format!("--init-file={}", accounts.display()))
        .args(["--skip-log-bin", "--innodb-redo-log-capacity=8M"]);
    run(command, data);
    // A copy with the same uuid would not replicate.
    let _ = fs::remove_file(data.join("auto.cnf"));
}

fn initialise_mariadb(program: &Path, data: &Path) {
    fs::create_dir_all(data).expect("the cache is writable");
    let share = Flavour::MariaDb.prefix().join("root/usr/share");
    let share = ["mysql", "mariadb"].map(|name| share.join(name));
    let mut script = String::from(
        "create database mysql;\nuse mysql;\nset @auth_root_socket=NULL;\nset @skip_auth_anonymous=1;\n",
    );
    for name in MARIADB_SYSTEM_TABLES {
        // Later versions call some of these files mariadb_….
        let renamed = name.replace("mysql_", "mariadb_");
        let file = share
            .iter()
            .flat_map(|share| [share.join(name), share.join(&renamed)])
            .find(|path| path.is_file())
            .unwrap_or_else(|| panic!("the MariaDB packages lack {name}"));
        script += &fs::read_to_string(file).expect("a system script is text");
    }
    script += MARIADB_ACCOUNTS;
    let script_path = data.with_extension("sql");
    fs::write(&script_path, script).expect("the cache is writable");
    let mut command = quiet(program, data);
    command
        .arg("--bootstrap")
        .args(["--innodb-log-file-size=8M", "--max-allowed-packet=16M"])
        .stdin(File::open(&script_path).expect("it was just written"));
    run(command, data);
}

fn quiet(program: &Path, data: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", data.display()));
    command.args(["--innodb-doublewrite=OFF", "--innodb-buffer-pool-size=16M"]);
    if super::config::running_as_root() {
        command.arg("--user=root");
    }
    command.stdin(Stdio::null());
    command
}

fn run(mut command: Command, data: &Path) {
    let done = command
        .output()
        .expect("the server's program can be started");
    let log =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success() && !log.contains("ERROR"),
        "cannot initialise {}: {}\n{log}",
        data.display(),
        done.status
    );
}
