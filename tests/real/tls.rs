//! Each TLS mode does what it says, against certificates for this and another name, of this and another authority; and
//! the first login after a restart works over whatever there is.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use replicascope::app::dialing;
use replicascope::model::profile::{
    Account, Address, SecretSource, ServerId, ServerProfile, TlsMode, TlsSettings, TopologyId,
    TopologyProfile,
};
use replicascope::model::secret::Secret;
use replicascope::model::trouble::{Trouble, TroubleKind};

use super::SOON;
use crate::support::servers::{Flavour, Node, Plan, Topology};
use crate::support::watching::Watching;

const MODES: [TlsMode; 4] = [
    TlsMode::Off,
    TlsMode::Required,
    TlsMode::VerifyCa,
    TlsMode::VerifyIdentity,
];

/// A certificate authority of a test's own.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

/// A certificate with its key, in files.
struct Certificate {
    cert: PathBuf,
    key: PathBuf,
}

impl Authority {
    fn new(name: &str, folder: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("no names are fine");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params.self_signed(&key).expect("it signs itself");
        let file = folder.join(format!("{name}.pem"));
        fs::write(&file, certificate.pem()).expect("the folder is writable");
        Authority {
            issuer: Issuer::new(params, key),
            file,
        }
    }

    fn certify(&self, who: &str, address: &str, folder: &Path) -> Certificate {
        let mut params = CertificateParams::new([address.to_owned()]).expect("a good name");
        params.distinguished_name.push(DnType::CommonName, who);
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params.signed_by(&key, &self.issuer).expect("it signs");
        let file = |end: &str| folder.join(format!("{who}-{end}.pem"));
        let made = Certificate {
            cert: file("cert"),
            key: file("key"),
        };
        fs::write(&made.cert, certificate.pem()).expect("the folder is writable");
        fs::write(&made.key, key.serialize_pem()).expect("the folder is writable");
        made
    }
}

/// The cipher's protocol; `None` for plain text.
fn log_in(
    address: Address,
    user: &str,
    password: &str,
    tls: TlsSettings,
) -> Result<Option<String>, Trouble> {
    let mut profile = TopologyProfile::new(TopologyId("tls".to_owned()), "tls");
    profile.account = Some(Account {
        user: user.to_owned(),
        secret: SecretSource::Ask,
    });
    let mut server = ServerProfile::new(ServerId("one".to_owned()), address);
    server.tls = Some(tls);
    let report = dialing::test(&profile, &server, Some(&Secret::new(password.to_owned())))?;
    Ok(report.tls.map(|(protocol, _)| protocol))
}

fn over_tcp(node: &Node, tls: TlsSettings) -> Result<Option<String>, Trouble> {
    log_in(
        Address::tcp("127.0.0.1", node.port()),
        "monitor",
        "monitor",
        tls,
    )
}

fn trusting(mode: TlsMode, ca: &Path) -> TlsSettings {
    TlsSettings {
        ca: Some(ca.to_owned()),
        ..TlsSettings::with_mode(mode)
    }
}

/// What became of a login, short enough for a table.
fn outcome(result: Result<Option<String>, Trouble>) -> String {
    match result {
        Ok(None) => "plain".to_owned(),
        Ok(Some(protocol)) if protocol.starts_with("TLSv1") => "encrypted".to_owned(),
        Ok(Some(other)) => other,
        Err(trouble) if trouble.kind == TroubleKind::Tls && !trouble.detail.is_empty() => {
            "refused".to_owned()
        }
        Err(trouble) => format!("{trouble:?}"),
    }
}

fn outcomes(node: &Node, ca: &Path) -> [String; 4] {
    MODES.map(|mode| outcome(over_tcp(node, trusting(mode, ca))))
}

fn wear(node: &Node, worn: &Certificate, certificate: &Certificate) {
    fs::copy(&certificate.cert, &worn.cert).expect("the folder is writable");
    fs::copy(&certificate.key, &worn.key).expect("the folder is writable");
    node.sql(match node.flavour() {
        Flavour::MySql => "ALTER INSTANCE RELOAD TLS",
        Flavour::MariaDb => "FLUSH SSL",
    });
}

fn each_tls_mode_does_what_it_says(plan: Plan) {
    let files = tempfile::tempdir().expect("a temporary folder");
    let folder = files.path();
    let ours = Authority::new("ours", folder);
    let foreign = Authority::new("foreign", folder);
    let right = ours.certify("right", "127.0.0.1", folder);
    let misnamed = ours.certify("misnamed", "10.99.99.99", folder);
    let of_another = foreign.certify("of-another", "127.0.0.1", folder);
    let worn = ours.certify("worn", "127.0.0.1", folder);
    // The server takes a certificate only of an authority that it trusts itself.
    let trusted = folder.join("trusted.pem");
    let both = [&ours, &foreign].map(|ca| fs::read_to_string(&ca.file).expect("just written"));
    fs::write(&trusted, both.concat()).expect("the folder is writable");
    let topology = plan
        .replicas(0)
        .tls(&trusted, &worn.cert, &worn.key)
        .start();
    let node = topology.source();

    wear(node, &worn, &right);
    assert_eq!(
        outcomes(node, &ours.file),
        ["plain", "encrypted", "encrypted", "encrypted"],
        "a certificate for this name"
    );
    wear(node, &worn, &misnamed);
    assert_eq!(
        outcomes(node, &ours.file),
        ["plain", "encrypted", "encrypted", "refused"],
        "a certificate for another name"
    );
    let trouble =
        over_tcp(node, trusting(TlsMode::VerifyIdentity, &ours.file)).expect_err("misnamed");
    assert!(
        trouble.detail.contains("127.0.0.1"),
        "it names the problem: {}",
        trouble.detail
    );
    wear(node, &worn, &of_another);
    assert_eq!(
        outcomes(node, &ours.file),
        ["plain", "encrypted", "refused", "refused"],
        "a certificate of another authority"
    );
    wear(node, &worn, &right);
    assert_eq!(
        outcomes(node, &foreign.file),
        ["plain", "encrypted", "refused", "refused"],
        "trusting another authority"
    );

    let mut watching = Watching::of(&topology)
        .tls(trusting(TlsMode::VerifyIdentity, &ours.file))
        .start();
    watching.until_well(SOON);
    watching.close();

    a_client_certificate_is_shown(node, &ours, folder);
}

fn a_client_certificate_is_shown(node: &Node, ours: &Authority, folder: &Path) {
    let unknown = Authority::new("unknown", folder);
    node.sql("CREATE USER certified IDENTIFIED BY 'certified' REQUIRE X509");
    let client = ours.certify("client", "client.test", folder);
    let stranger = unknown.certify("stranger", "client.test", folder);
    let with = |certificate: Option<&Certificate>| {
        let tls = TlsSettings {
            client_cert: certificate.map(|c| c.cert.clone()),
            client_key: certificate.map(|c| c.key.clone()),
            ..trusting(TlsMode::VerifyIdentity, &ours.file)
        };
        log_in(
            Address::tcp("127.0.0.1", node.port()),
            "certified",
            "certified",
            tls,
        )
    };
    assert_eq!(outcome(with(Some(&client))), "encrypted");
    let without = with(None).expect_err("REQUIRE X509");
    assert_eq!(without.kind, TroubleKind::AccessDenied, "{without:?}");
    assert!(
        with(Some(&stranger)).is_err(),
        "a certificate of another authority"
    );
}

fn nothing_falls_back_to_plain_text(plan: Plan) {
    let files = tempfile::tempdir().expect("a temporary folder");
    let ours = Authority::new("ours", files.path());
    let topology = plan.replicas(0).start();
    let outcomes = outcomes(topology.source(), &ours.file);
    assert_eq!(outcomes, ["plain", "refused", "refused", "refused"]);
}

/// caching_sha2_password keeps no cache over a restart: the first login is a full one.
#[test]
fn r40_the_first_login_after_a_restart_works_over_tcp_tls_and_socket() {
    let topology = Topology::mysql().replicas(0).start();
    let node = topology.source();
    let tcp = || Address::tcp("127.0.0.1", node.port());
    let socket = || Address::Socket {
        path: node.socket(),
    };
    let off = || TlsSettings::with_mode(TlsMode::Off);
    let pinned = |key: &str| TlsSettings {
        server_public_key: Some(node.dir().join("data").join(key)),
        ..off()
    };
    let first_login = |address: Address, tls: TlsSettings| {
        node.sql("FLUSH PRIVILEGES");
        outcome(log_in(address, "monitor", "monitor", tls))
    };
    node.restart();
    assert_eq!(outcome(log_in(tcp(), "monitor", "monitor", off())), "plain");
    node.restart();
    assert_eq!(
        outcome(log_in(
            tcp(),
            "monitor",
            "monitor",
            TlsSettings::with_mode(TlsMode::Required)
        )),
        "encrypted"
    );
    node.restart();
    assert_eq!(
        outcome(log_in(socket(), "monitor", "monitor", off())),
        "plain"
    );

    assert_eq!(first_login(tcp(), off()), "plain");
    assert_eq!(first_login(tcp(), pinned("public_key.pem")), "plain");
    assert_eq!(
        first_login(tcp(), TlsSettings::with_mode(TlsMode::Required)),
        "encrypted"
    );
    assert_eq!(first_login(socket(), off()), "plain");
    let trouble = log_in(tcp(), "monitor", "wrong", off()).expect_err("a wrong password");
    assert_eq!(trouble.kind, TroubleKind::AccessDenied, "{trouble:?}");

    // Watched over the socket, as a profile may say.
    let mut watching = Watching::of(&topology).at(0, socket()).start();
    watching.until_well(SOON);
}

#[test]
fn r39_mysql_tls_modes() {
    each_tls_mode_does_what_it_says(Topology::mysql());
}

#[test]
fn r39_mariadb_tls_modes() {
    each_tls_mode_does_what_it_says(Topology::mariadb());
}

#[test]
fn r39_mysql_without_tls() {
    nothing_falls_back_to_plain_text(Topology::mysql().extra_config("tls-version = ''"));
}

#[test]
fn r39_mariadb_without_tls() {
    nothing_falls_back_to_plain_text(Topology::mariadb());
}
