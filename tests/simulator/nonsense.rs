//! Whatever a client sends, the server lives on: none of its threads panics, and the next client is answered. The dice
//! are the same at every run.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use replicascope::lab::bed::Bed;
use replicascope::lab::simulator::Simulator;
use replicascope::lab::wire::AuthPlugin;
use replicascope::model::lab::{Generation, LabPlan};
use replicascope::mysql::hand::Hand;

use super::lab::{admin, dialer, plan, start};

/// What panicked on threads of the wire and of long statements, in any test of this program.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn watch_for_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            if name.starts_with("wire-") || name == "statement-aside" {
                let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
                panics.push(info.to_string());
            }
            usual(info);
        }));
    });
}

#[track_caller]
fn assert_nobody_panicked(lab: &Simulator) {
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(panics.is_empty(), "{panics:#?}");
    drop(panics);
    assert_eq!(admin(lab, 0).value("SELECT 1"), "1");
    assert_eq!(admin(lab, 1).value("SELECT 1"), "1");
}

fn lab(generation: Generation) -> Simulator {
    watch_for_panics();
    start(&LabPlan {
        replicas: 1,
        ..plan(generation)
    })
}

/// A session that is opened anew when it is lost, and does not wait for long.
struct Stubborn<'a> {
    lab: &'a Simulator,
    hand: Option<Hand>,
}

impl Stubborn<'_> {
    fn say(&mut self, sql: &str) {
        if self.hand.as_ref().is_none_or(Hand::is_spoiled) {
            let dialer = dialer(self.lab, 0, &self.lab.accounts().admin);
            let mut hand = Hand::open(&dialer, Duration::from_millis(700)).expect("let in");
            // A nonsense of before may have dropped it.
            let _ = hand.run("USE shop");
            self.hand = Some(hand);
        }
        let Some(hand) = &mut self.hand else { return };
        // Refused, answered or lost: all is well, as long as the server lives.
        let _ = hand.rows(sql);
    }
}

/// Statements to begin from.
const SENSE: &str = concat!(
    include_str!("../support/same_as_mysql.sql"),
    "
SHOW VARIABLES LIKE '%a%'
SHOW BINLOG EVENTS IN 'binlog.000001' FROM 4 LIMIT 2, 3
SHOW BINARY LOGS
SHOW REPLICA STATUS FOR CHANNEL 'x'
SHOW ENGINE INNODB STATUS
SHOW FULL PROCESSLIST
SHOW CREATE TABLE shop.orders
SHOW INDEX FROM orders WHERE Key_name = 'PRIMARY'
SET SESSION time_zone = '+08:00', @a = 5, timestamp = 1234567890.5
SET GLOBAL max_connections = 100
SET GLOBAL binlog_expire_logs_seconds = 3600
SET STATEMENT max_statement_time = 0.1 FOR SELECT 1
EXPLAIN SELECT * FROM orders o JOIN orders p ON o.id = p.customer WHERE o.amount > 3
START REPLICA UNTIL SQL_BEFORE_GTIDS = '80000000-0000-4000-8000-000000000001:5-9'
STOP REPLICA SQL_THREAD
CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 5, SOURCE_HOST = 'a', SOURCE_PORT = 1
CHANGE REPLICATION FILTER REPLICATE_IGNORE_TABLE = (shop.orders, shop.x)
RESET BINARY LOGS AND GTIDS TO 5
PURGE BINARY LOGS TO 'binlog.000002'
SET GTID_NEXT = '80000000-0000-4000-8000-000000000001:77'
SELECT WAIT_FOR_EXECUTED_GTID_SET('80000000-0000-4000-8000-000000000001:1-5', 0.01)
SELECT GTID_SUBSET('80000000-0000-4000-8000-000000000001:1-5', ''), GTID_SUBTRACT('80000000-0000-4000-8000-000000000001:1-9', '80000000-0000-4000-8000-000000000001:2')
SELECT MASTER_GTID_WAIT('0-1-5', 0.01)
SELECT GET_LOCK('a', 0), RELEASE_LOCK('a')
CREATE EVENT e ON SCHEDULE EVERY 5 SECOND DO UPDATE orders SET amount = 5
LOCK TABLES orders READ, orders AS o WRITE
PREPARE s FROM 'SELECT ? + ?'
EXECUTE s USING @a, @b
KILL QUERY 99999
FLUSH TABLES orders WITH READ LOCK
UNLOCK TABLES
SAVEPOINT a
ROLLBACK TO SAVEPOINT a
SELECT /*+ MAX_EXECUTION_TIME(500) */ BENCHMARK(1000000, 1), SLEEP(0.001)
CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b DECIMAL(10,2) DEFAULT 5, c ENUM('a','b'), UNIQUE KEY (b), FOREIGN KEY (a) REFERENCES orders (id))
ALTER TABLE t ADD COLUMN d VARCHAR(20) NOT NULL AFTER a, DROP COLUMN b, ALGORITHM=INPLACE
"
);

/// Words that do not fit.
const PIECES: &[&str] = &[
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
    "-1e308",
    "0x7fffffffffffffffff",
    "0",
    "-1",
    "NULL",
    "''",
    "'%_%_%'",
    "'日本'",
    "`日本`",
    "'-838:59:59.999999'",
    "'9999-12-31 23:59:59.999999'",
    "'99999999999999999:99999999999'",
    "'0000-00-00'",
    "(",
    ")",
    "((",
    ",",
    ".",
    ";",
    "'",
    "`",
    "\"",
    "\\",
    "/*",
    "*/",
    "/*!",
    "/*!99999",
    "-- ",
    "#",
    "@",
    "@@",
    "@@global.",
    ":=",
    "?",
    "*",
    "=",
    "é",
    "\0",
    "\u{feff}",
    "INTERVAL",
    "SECOND_MICROSECOND",
    "LIMIT",
    "OVER",
    "FROM",
    "SELECT",
    "WITH",
    "IN",
    "LIKE",
    "REGEXP",
    "BINARY",
    "UNSIGNED",
    "ON DUPLICATE KEY UPDATE",
];

/// Each of these is called with what fits it least.
const FUNCTIONS: &[&str] = &[
    "ABS",
    "ROUND",
    "TRUNCATE",
    "MOD",
    "POW",
    "LOG",
    "EXP",
    "FORMAT",
    "CONV",
    "BIN",
    "FLOOR",
    "CHAR",
    "LEFT",
    "RIGHT",
    "SUBSTRING",
    "SUBSTRING_INDEX",
    "MID",
    "LPAD",
    "RPAD",
    "REPEAT",
    "SPACE",
    "INSERT",
    "LOCATE",
    "INSTR",
    "FIELD",
    "ELT",
    "HEX",
    "UNHEX",
    "CONCAT_WS",
    "REPLACE",
    "TRIM",
    "QUOTE",
    "SHA2",
    "DATE_FORMAT",
    "TIME_FORMAT",
    "SEC_TO_TIME",
    "TIME_TO_SEC",
    "TIMEDIFF",
    "ADDTIME",
    "SUBTIME",
    "TIME",
    "HOUR",
    "MICROSECOND",
    "FROM_UNIXTIME",
    "UNIX_TIMESTAMP",
    "CONVERT_TZ",
    "TO_DAYS",
    "LAST_DAY",
    "DATEDIFF",
    "DAYNAME",
    "NOW",
    "SYSDATE",
    "CURTIME",
    "TIMESTAMP",
    "REGEXP_INSTR",
    "REGEXP_SUBSTR",
    "REGEXP_REPLACE",
    "JSON_EXTRACT",
    "JSON_SET",
    "JSON_REMOVE",
    "JSON_ARRAY",
    "JSON_OBJECT",
    "JSON_KEYS",
    "GREATEST",
    "LEAST",
    "CRC32",
    "UUID_TO_BIN",
    "BIN_TO_UUID",
    "GTID_SUBSET",
    "GTID_SUBTRACT",
    "GET_LOCK",
    "RELEASE_LOCK",
    "IS_FREE_LOCK",
    "MASTER_POS_WAIT",
    "WAIT_FOR_EXECUTED_GTID_SET",
    "LAST_INSERT_ID",
];

fn nonsense(dice: &mut Rng, sense: &[&str]) -> String {
    let Some(sql) = dice.choice(sense) else {
        return String::new();
    };
    let mut words: Vec<&str> = sql.split(' ').collect();
    for _ in 0..dice.usize(1..4) {
        let place = dice.usize(..words.len().max(1)).min(words.len());
        match dice.u8(..4) {
            0 if !words.is_empty() => drop(words.remove(place.min(words.len() - 1))),
            1 => words.insert(place, dice.choice(PIECES).copied().unwrap_or_default()),
            2 if !words.is_empty() => {
                let place = place.min(words.len() - 1);
                words[place] = dice.choice(PIECES).copied().unwrap_or_default();
            }
            _ => words.truncate(place.max(1)),
        }
    }
    words.join(" ")
}

fn misfit(dice: &mut Rng, function: &str) -> String {
    let arguments: Vec<&str> = (0..dice.usize(..5))
        .filter_map(|_| dice.choice(&PIECES[..17]).copied())
        .collect();
    format!("SELECT {function}({})", arguments.join(", "))
}

fn talks_nonsense(generation: Generation, seed: u64) {
    let lab = lab(generation);
    let mut dice = Rng::with_seed(seed);
    let sense: Vec<&str> = SENSE.lines().filter(|line| !line.is_empty()).collect();
    let mut session = Stubborn {
        lab: &lab,
        hand: None,
    };
    for _ in 0..900 {
        session.say(&nonsense(&mut dice, &sense));
    }
    for _ in 0..4 {
        for function in FUNCTIONS {
            session.say(&misfit(&mut dice, function));
        }
    }
    for unit in [
        "MICROSECOND",
        "SECOND",
        "MINUTE",
        "HOUR",
        "DAY",
        "WEEK",
        "MONTH",
        "QUARTER",
        "YEAR",
    ] {
        for amount in [
            "9223372036854775807",
            "-9223372036854775808",
            "1e300",
            "'x'",
        ] {
            session.say(&format!("SELECT NOW() + INTERVAL {amount} {unit}"));
        }
    }
    drop(session);
    assert_nobody_panicked(&lab);
}

#[test]
fn nonsense_is_refused_and_the_server_lives_on() {
    talks_nonsense(Generation::MySql97, 1);
}

#[test]
fn nonsense_is_refused_on_mariadb_too() {
    talks_nonsense(Generation::MariaDb1011, 2);
}

#[test]
fn endless_statements_are_refused_before_they_fill_stack_or_memory() {
    let lab = lab(Generation::MySql97);
    let mut session = admin(&lab, 0);
    let chain = |operators: usize| format!("SELECT 1{}", " OR 1".repeat(operators));
    assert_eq!(session.value(&chain(900)), "1");
    for sql in [
        chain(1001),
        chain(500_000),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(100_000)),
        format!("SELECT {}1", "-".repeat(100_000)),
        format!("SELECT {}1", "NOT ".repeat(100_000)),
        format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("SELECT {}1{}", "ABS(".repeat(5_000), ")".repeat(5_000)),
        format!("SELECT '{}'->'$'", "[".repeat(100_000)),
        format!(
            "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO {}",
            chain(100_000)
        ),
    ] {
        session.refused(&sql);
    }
    let big = "SET @a = REPEAT('x', 1000000)";
    session.run(big);
    for sql in [
        "SELECT REPEAT(REPEAT(@a, 60), 1000000)",
        "SELECT REPLACE(REPEAT(@a, 60), 'x', REPEAT(@a, 60))",
        "SELECT CONCAT(REPEAT(@a, 60), REPEAT(@a, 60))",
        "SELECT CONCAT_WS(REPEAT(@a, 60), 'a', 'b', 'c')",
    ] {
        assert_eq!(session.value(sql), "NULL", "{sql}");
    }
    let pattern = format!("SHOW VARIABLES LIKE '{}x'", "%a".repeat(200));
    assert_eq!(session.rows(&pattern).len(), 0);
    assert_nobody_panicked(&lab);
}

fn read_packet(stream: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).expect("a header");
    let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
    stream.read_exact(&mut payload).expect("a packet");
    payload
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    packet.push(sequence);
    packet.extend(payload);
    packet
}

fn called(lab: &Simulator) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", lab.nodes()[0].port)).expect("a port");
    let patience = Some(Duration::from_secs(5));
    stream.set_read_timeout(patience).expect("a time limit");
    stream
}

/// The client's answer to the greeting.
fn login(lab: &Simulator, greeting: &[u8]) -> Vec<u8> {
    let version_end = 1 + greeting[1..].iter().position(|b| *b == 0).expect("an end");
    let salt: Vec<u8> = [
        &greeting[version_end + 5..][..8],
        &greeting[version_end + 32..][..12],
    ]
    .concat();
    let password = lab.accounts().app.password.expose().to_owned();
    let salt = salt.try_into().expect("twenty bytes");
    let proof = AuthPlugin::CachingSha2Password.scramble(password.as_bytes(), &salt);
    let mut login = 0x0008_8200_u32.to_le_bytes().to_vec(); // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH
    login.extend([0; 28]);
    login.extend(b"app\0");
    login.push(proof.len() as u8);
    login.extend(proof);
    login.extend(b"caching_sha2_password\0");
    login
}

fn any_bytes(dice: &mut Rng, at_most: usize) -> Vec<u8> {
    let length = dice.usize(..at_most);
    (0..length).map(|_| dice.u8(..)).collect()
}

fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    // It may be cut: that is what it came for.
    let _ = stream.read_to_end(&mut said);
    said
}

#[test]
fn half_a_login_harms_nobody() {
    let lab = lab(Generation::MySql97);
    let mut dice = Rng::with_seed(3);
    for turn in 0..150 {
        let mut stream = called(&lab);
        let greeting = read_packet(&mut stream);
        let mut login = login(&lab, &greeting);
        match turn % 3 {
            0 => login.truncate(dice.usize(..login.len())),
            1 => {
                let place = dice.usize(..login.len());
                login[place] = dice.u8(..);
            }
            _ => login = any_bytes(&mut dice, 300),
        }
        let mut said = packet(1, &login);
        if turn % 5 == 0 {
            said.truncate(dice.usize(..said.len()));
        }
        let _ = stream.write_all(&said);
        let _ = stream.shutdown(Shutdown::Write);
        until_closed(&mut stream);
    }
    assert_nobody_panicked(&lab);
}

#[test]
fn commands_of_random_bytes_harm_nobody() {
    const COM_STMT_PREPARE: u8 = 0x16;
    const COM_STMT_EXECUTE: u8 = 0x17;
    let lab = lab(Generation::MySql97);
    let mut dice = Rng::with_seed(4);
    let mut answered = 0;
    for _ in 0..60 {
        let mut stream = called(&lab);
        let greeting = read_packet(&mut stream);
        let login = packet(1, &login(&lab, &greeting));
        stream.write_all(&login).expect("a login");
        let mut said = packet(0, &[&[COM_STMT_PREPARE][..], b"SELECT ?, ?"].concat());
        for _ in 0..20 {
            let kind = match dice.u8(..3) {
                0 => COM_STMT_EXECUTE,
                _ => dice.u8(2..0x22),
            };
            let mut command = vec![kind];
            if kind == COM_STMT_EXECUTE {
                command.extend([1, 0, 0, 0, 0, 1, 0, 0, 0]);
            }
            command.extend(any_bytes(&mut dice, 60));
            said.extend(packet(0, &command));
        }
        // The last one ends in the middle.
        said.extend(&packet(0, b"\x03SELECT 1")[..6]);
        let _ = stream.write_all(&said);
        let _ = stream.shutdown(Shutdown::Write);
        answered += until_closed(&mut stream).len();
    }
    assert!(answered > 5_000, "{answered} bytes: nobody was let in");
    assert_nobody_panicked(&lab);
}
