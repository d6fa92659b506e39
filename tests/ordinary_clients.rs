//! Simulated servers as everybody meets them: the commands `mysql` and `mariadb`, and a Python driver from PyPI.

#[allow(dead_code)] // a part of it is enough here
#[path = "simulator/lab.rs"]
mod lab;
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use lab::{plan, start};
use replicascope::lab::bed::Bed;
use replicascope::lab::simulator::Simulator;
use replicascope::model::lab::{Generation, LabAccount, LabPlan};
use replicascope::model::secret::Secret;
use serde_json::json;
use support::servers::Flavour;

/// A simulation of one generation, with TLS or without.
struct Stand {
    simulator: Simulator,
    /// Holds the authority's certificate, where there is TLS.
    folder: tempfile::TempDir,
    has_tls: bool,
}

impl Stand {
    fn of(generation: Generation, has_tls: bool) -> Stand {
        let simulator = start(&LabPlan {
            replicas: 1,
            tls: has_tls,
            ..plan(generation)
        });
        let folder = tempfile::tempdir().expect("a folder");
        if let Some(pem) = simulator.ca_pem() {
            std::fs::write(folder.path().join("ca.pem"), pem).expect("the certificate is written");
        }
        Stand {
            simulator,
            folder,
            has_tls,
        }
    }

    fn ca(&self) -> String {
        let path = self.folder.path().join("ca.pem");
        path.to_str().expect("a path").to_owned()
    }

    fn admin(&self) -> LabAccount {
        self.simulator.accounts().admin
    }

    fn port(&self, server: usize) -> u16 {
        self.simulator.nodes()[server].port
    }
}

/// One of the two command-line clients.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Client {
    MySql,
    MariaDb,
}

const CLIENTS: [Client; 2] = [Client::MySql, Client::MariaDb];

/// What the client is told of encryption.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tls {
    Off,
    /// As the client comes.
    Unsaid,
    Required,
    /// The server proves to be one of the lab's.
    Verified,
}

impl Client {
    fn program(self) -> PathBuf {
        let (flavour, name) = match self {
            Client::MySql => (Flavour::MySql, "mysql"),
            Client::MariaDb => (Flavour::MariaDb, "mariadb"),
        };
        flavour.program(); // says what to do when nothing was fetched
        flavour.prefix().join("bin").join(name)
    }

    fn options(self, tls: Tls, ca: &str) -> Vec<String> {
        let options: &[&str] = match (self, tls) {
            (_, Tls::Unsaid) => &[],
            (Client::MySql, Tls::Off) => &["--ssl-mode=DISABLED"],
            (Client::MySql, Tls::Required) => &["--ssl-mode=REQUIRED"],
            (Client::MySql, Tls::Verified) => &["--ssl-mode=VERIFY_IDENTITY", "--ssl-ca"],
            (Client::MariaDb, Tls::Off) => &["--skip-ssl"],
            (Client::MariaDb, Tls::Required) => &["--ssl"],
            (Client::MariaDb, Tls::Verified) => &["--ssl-verify-server-cert", "--ssl-ca"],
        };
        let mut options: Vec<String> = options.iter().map(|o| (*o).to_owned()).collect();
        if let Some(last) = options.last_mut().filter(|last| *last == "--ssl-ca") {
            *last = format!("--ssl-ca={ca}");
        }
        options
    }
}

/// A call of a client; made to say what differs from the usual one.
struct Call<'a> {
    stand: &'a Stand,
    client: Client,
    server: usize,
    account: LabAccount,
    tls: Tls,
    more: Vec<&'a str>,
}

impl<'a> Call<'a> {
    fn of(stand: &'a Stand, client: Client) -> Call<'a> {
        Call {
            stand,
            client,
            server: 0,
            account: stand.admin(),
            tls: Tls::Unsaid,
            more: Vec::new(),
        }
    }

    fn on(self, server: usize) -> Self {
        Call { server, ..self }
    }

    fn tls(self, tls: Tls) -> Self {
        Call { tls, ..self }
    }

    fn account(self, account: LabAccount) -> Self {
        Call { account, ..self }
    }

    fn user(self, user: &'static str, password: &str) -> Self {
        let password = Secret::new(password.to_owned());
        self.account(LabAccount { user, password })
    }

    fn with(mut self, option: &'a str) -> Self {
        self.more.push(option);
        self
    }

    fn run(&self, sql: &str) -> Output {
        let port = self.stand.port(self.server).to_string();
        let password = self.account.password.expose();
        Command::new(self.client.program())
            .args(["--no-defaults", "-h", "127.0.0.1", "-P", &port])
            .args(["-u", self.account.user, "--batch", "--skip-column-names"])
            .args(["--connect-timeout=10", "--default-character-set=utf8mb4"])
            .args(self.client.options(self.tls, &self.stand.ca()))
            .args(&self.more)
            .args(["-e", sql])
            .env("MYSQL_PWD", password)
            .output()
            .expect("the client runs")
    }

    #[track_caller]
    fn says(&self, sql: &str) -> String {
        let output = self.run(sql);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{:?}: {sql}: {err}", self.client);
        out
    }

    /// The number of the error and its SQLSTATE.
    #[track_caller]
    fn is_refused(&self, sql: &str) -> String {
        let output = self.run(sql);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(!output.status.success(), "{:?}: {sql}: {out}", self.client);
        let told = err.lines().find_map(|line| line.strip_prefix("ERROR "));
        let told = told.unwrap_or_else(|| panic!("{:?}: {sql}: {err}", self.client));
        told.split_inclusive(')').next().unwrap_or(told).to_owned()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// With and without TLS, each generation on a thread of its own.
fn everywhere(act: impl Fn(&Stand, Generation) + Sync) {
    thread::scope(|scope| {
        for generation in Generation::ALL {
            let act = &act;
            scope.spawn(move || {
                for has_tls in [false, true] {
                    act(&Stand::of(generation, has_tls), generation);
                }
            });
        }
    });
}

#[test]
fn the_commands_connect_with_tls_or_without_as_they_are_told() {
    everywhere(|stand, generation| {
        for client in CLIENTS {
            for tls in [Tls::Off, Tls::Unsaid, Tls::Required, Tls::Verified] {
                let call = Call::of(stand, client).tls(tls).with("--database=shop");
                let case = format!("{generation:?} {client:?} {tls:?}, TLS {}", stand.has_tls);
                let is_strict =
                    tls == Tls::Verified || (client, tls) == (Client::MySql, Tls::Required);
                if is_strict && !stand.has_tls {
                    assert!(call.is_refused("SELECT 1").starts_with("2026 "), "{case}");
                    continue;
                }
                let sql = "SELECT @@version, DATABASE(); SHOW SESSION STATUS LIKE 'Ssl_version'";
                let encrypted = stand.has_tls && tls != Tls::Off;
                let version = if encrypted { "TLSv1.3" } else { "" };
                let wanted = format!("{}\tshop\nSsl_version\t{version}\n", generation.version());
                assert_eq!(call.says(sql), wanted, "{case}");
            }
        }
    });
}

#[test]
fn the_commands_query_and_hear_of_errors() {
    everywhere(|stand, generation| {
        for client in CLIENTS {
            let call = || Call::of(stand, client);
            let app = stand.simulator.accounts().app;
            assert_eq!(
                call().says("SELECT '北京', NULL, 1.50; SET @a = 3; SELECT @a + 1"),
                "北京\tNULL\t1.50\n4\n",
                "{generation:?}"
            );
            let thousand = call().says("SELECT id FROM shop.orders WHERE id <= 1000");
            assert_eq!(thousand.lines().count(), 1000, "{generation:?}");
            for (call, sql, wanted) in [
                (
                    call().account(app.clone()).with("--password=wrong"),
                    "SELECT 1",
                    "1045 (28000)",
                ),
                (
                    call().account(app.clone()).with("--password="),
                    "SELECT 1",
                    "1045 (28000)",
                ),
                (call().user("nobody", "x"), "SELECT 1", "1045 (28000)"),
                (
                    call().with("--database=nowhere"),
                    "SELECT 1",
                    "1049 (42000)",
                ),
                (call(), "USE nowhere", "1049 (42000)"),
                (call().account(app.clone()), "USE mysql", "1044 (42000)"),
                (
                    call().account(app.clone()),
                    "DROP TABLE shop.orders",
                    "1142 (42000)",
                ),
                (call(), "SELEC 1", "1064 (42000)"),
                (call(), "SELECT * FROM shop.nowhere", "1146 (42S02)"),
                (call(), "SELECT nothing FROM shop.orders", "1054 (42S22)"),
                (
                    call(),
                    "INSERT INTO replicascope.heartbeat VALUES (1, NOW(6))",
                    "1062 (23000)",
                ),
                (
                    call().account(app.clone()).on(1),
                    "DELETE FROM shop.orders",
                    "1290 (HY000)",
                ),
            ] {
                // A wrong password cannot be told without TLS from one that is not in the cache.
                let told = call.is_refused(sql);
                let is_asked =
                    told.starts_with("2061 ") && !stand.has_tls && wanted.starts_with("1045");
                assert!(
                    told == wanted || is_asked,
                    "{generation:?} {client:?} {sql}: {told}"
                );
            }
        }
    });
}

#[test]
fn a_password_that_is_not_in_the_cache_needs_tls_or_the_servers_key() {
    for has_tls in [false, true] {
        let stand = Stand::of(Generation::MySql97, has_tls);
        let admin = Call::of(&stand, Client::MySql).with("--get-server-public-key");
        admin.says("CREATE USER kim IDENTIFIED BY 'secret'");
        let kim = || Call::of(&stand, Client::MySql).user("kim", "secret");
        let in_the_clear = || kim().tls(Tls::Off);
        let cold = "2061 (HY000)";
        for make_cold in [
            "DO 1",
            "ALTER USER kim IDENTIFIED BY 'secret'",
            "FLUSH PRIVILEGES",
        ] {
            admin.says(make_cold);
            assert_eq!(in_the_clear().is_refused("SELECT 1"), cold, "{make_cold}");
            let warming = match has_tls {
                true => kim(),
                false => kim().with("--get-server-public-key"),
            };
            assert_eq!(warming.says("SELECT 1"), "1\n", "{make_cold}");
            assert_eq!(in_the_clear().says("SELECT 2"), "2\n", "{make_cold}");
        }
    }
}

#[test]
fn a_python_driver_does_all_that_a_program_does() {
    let folder = python_path();
    everywhere(|stand, generation| {
        let is_long = matches!(generation, Generation::MySql57 | Generation::MySql97);
        let told = json!({
            "port": stand.port(0),
            "user": stand.admin().user,
            "password": stand.admin().password.expose(),
            "ca": stand.has_tls.then(|| stand.ca()),
            "version": generation.version(),
            "long": is_long,
        });
        let output = Command::new("python3")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ordinary_clients/driver.py"))
            .arg(told.to_string())
            .env("PYTHONPATH", &folder)
            .output()
            .expect("Python runs");
        let trace = text(&output.stderr);
        let case = format!("{generation:?}, TLS {}", stand.has_tls);
        assert!(output.status.success(), "{case}:\n{trace}");
    });
}

/// Where PyMySQL is.
fn python_path() -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fetch-clients");
    let output = Command::new(script).output().expect("the script runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}
