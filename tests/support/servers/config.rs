//! The option file of one server.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::flavour::Flavour;

/// What of a server's options depends on the topology and on the server's part in it at the moment.
pub struct Options<'a> {
    pub flavour: Flavour,
    pub index: usize,
    pub dir: &'a Path,
    pub port: u16,
    pub semi_sync: SemiSync,
    pub read_only: bool,
    pub applier_workers: u32,
    pub tls: Option<&'a Tls>,
    pub extra: &'a str,
}

/// The part a server takes in semi-synchronous replication; in the middle of a chain it takes both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SemiSync {
    pub as_source: bool,
    pub as_replica: bool,
}

#[derive(Clone, Debug)]
pub struct Tls {
    pub ca: PathBuf,
    pub cert: PathBuf,
    pub key: PathBuf,
}

pub fn running_as_root() -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

pub fn data_dir(dir: &Path) -> PathBuf {
    dir.join("data")
}

pub fn socket(dir: &Path) -> PathBuf {
    dir.join("sock")
}

pub fn error_log(dir: &Path) -> PathBuf {
    dir.join("error.log")
}

/// The whole file, most general first: a later line wins, so `extra` can change anything.
pub fn option_file(options: &Options) -> String {
    let mut file = String::from("[mysqld]\n");
    file += &of_this_server(options);
    file += COMMON;
    file += match options.flavour {
        Flavour::MySql => MYSQL,
        Flavour::MariaDb => MARIADB,
    };
    file += &of_its_part(options);
    file += options.extra;
    file.push('\n');
    file
}

fn of_this_server(options: &Options) -> String {
    let dir = options.dir.display();
    let mut lines = format!(
        "datadir = {data}\nsocket = {socket}\nlog-error = {log}\npid-file = {dir}/pid\ntmpdir = {dir}/tmp\n\
         secure-file-priv = {dir}/tmp\nport = {port}\nreport-port = {port}\nserver-id = {id}\n",
        data = data_dir(options.dir).display(),
        socket = socket(options.dir).display(),
        log = error_log(options.dir).display(),
        port = options.port,
        id = options.index + 1,
    );
    if running_as_root() {
        lines += "user = root\n";
    }
    if let Some(Tls { ca, cert, key }) = options.tls {
        let _ = writeln!(
            lines,
            "ssl-ca = {}\nssl-cert = {}\nssl-key = {}",
            ca.display(),
            cert.display(),
            key.display()
        );
    }
    lines
}

fn of_its_part(options: &Options) -> String {
    let on = |yes| if yes { "ON" } else { "OFF" };
    let (source, replica) = options.flavour.semi_sync_switches();
    let mut lines = format!(
        "{source} = {}\n{replica} = {}\n",
        on(options.semi_sync.as_source),
        on(options.semi_sync.as_replica)
    );
    let (read_only, workers) = match options.flavour {
        Flavour::MySql => ("super-read-only", "replica-parallel-workers"),
        Flavour::MariaDb => ("read-only", "slave-parallel-threads"),
    };
    let _ = writeln!(
        lines,
        "{read_only} = {}\n{workers} = {}",
        on(options.read_only),
        options.applier_workers
    );
    lines
}

/// Small and quick. Not flushing at each commit is safe against a killed process, which is all that tests do; flushing
/// less (0) would lose rows whose GTIDs survive in the binlog.
const COMMON: &str = "\
bind-address = 127.0.0.1
report-host = 127.0.0.1
skip-name-resolve = ON
log-bin = binlog
relay-log = relay
sync-binlog = 0
max-binlog-size = 256M
event-scheduler = ON
innodb-buffer-pool-size = 16M
innodb-flush-log-at-trx-commit = 2
innodb-doublewrite = OFF
innodb-buffer-pool-dump-at-shutdown = OFF
innodb-buffer-pool-load-at-startup = OFF
innodb-read-io-threads = 1
innodb-write-io-threads = 1
innodb-purge-threads = 1
max-connections = 100
table-open-cache = 200
thread-cache-size = 8
performance-schema = ON
performance-schema-digests-size = 200
performance-schema-events-statements-history-long-size = 100
";

/// The plugins are always loaded, so that a test can switch semi-sync on later: a super_read_only server refuses
/// INSTALL PLUGIN.
const MYSQL: &str = "\
mysqlx = OFF
gtid-mode = ON
enforce-gtid-consistency = ON
log-replica-updates = ON
replica-preserve-commit-order = ON
replica-net-timeout = 10
binlog-expire-logs-seconds = 86400
plugin-load-add = semisync_source.so
plugin-load-add = semisync_replica.so
rpl_semi_sync_source_timeout = 1000
innodb-redo-log-capacity = 8M
innodb-log-buffer-size = 1M
innodb-flush-method = nosync
innodb-page-cleaners = 1
temptable-max-ram = 2M
key-buffer-size = 8
table-definition-cache = 400
performance-schema-max-sql-text-length = 1024
performance-schema-events-waits-history-long-size = 10
performance-schema-events-stages-history-long-size = 10
performance-schema-events-transactions-history-long-size = 10
performance-schema-error-size = 100
performance-schema-users-size = 20
performance-schema-hosts-size = 20
performance-schema-accounts-size = 20
performance-schema-max-thread-instances = 200
performance-schema-max-table-handles = 500
performance-schema-max-table-instances = 500
performance-schema-max-index-stat = 500
";

const MARIADB: &str = "\
binlog-format = ROW
gtid-domain-id = 0
gtid-strict-mode = ON
log-slave-updates = ON
slave-parallel-mode = optimistic
slave-net-timeout = 10
expire-logs-days = 1
rpl_semi_sync_master_timeout = 1000
innodb-log-file-size = 8M
key-buffer-size = 16K
aria-pagecache-buffer-size = 1M
";
