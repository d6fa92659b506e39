//! TLS modes that do what they say (R39).
//!
//! The driver always trusts the built-in public certificate authorities and only *adds* the CA one gives it. With the
//! host name unchecked (`VerifyCa`) anybody's public certificate would then do, so a given CA must be trusted alone.
//! The driver takes rustls's process-wide cryptography, and certificate chains are checked by its list of signature
//! algorithms: we install one whose algorithms refuse, while [`only`] is in force on this thread, every signature made
//! by a public authority's key that is not in the given file.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, Once};

use mysql::{ClientIdentity, SslOpts};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, SignatureVerificationAlgorithm,
    SubjectPublicKeyInfoDer, pem::PemObject,
};

use super::endpoint::{Tls, TlsMode};

/// Why TLS cannot even be tried.
#[derive(Debug, PartialEq, Eq)]
pub enum TlsProblem {
    /// `VerifyCa` without a CA would accept any public certificate for any name.
    NoCa,
    /// A file that is not there, not readable, or holds no certificate.
    BadFile { path: String, detail: String },
    /// A client certificate without its key, or the other way round.
    HalfIdentity,
}

/// The driver's options for a mode; `None` for plain text. Through a Unix socket the driver never encrypts, whatever
/// the mode: nobody is in between.
pub fn options(tls: &Tls) -> Result<Option<SslOpts>, TlsProblem> {
    if let Some(key) = &tls.server_public_key {
        check_public_key(key)?;
    }
    let options = match tls.mode {
        TlsMode::Off => return Ok(None),
        TlsMode::Required => SslOpts::default()
            .with_danger_accept_invalid_certs(true)
            .with_danger_skip_domain_validation(true),
        TlsMode::VerifyCa if tls.ca.is_none() => return Err(TlsProblem::NoCa),
        TlsMode::VerifyCa => SslOpts::default().with_danger_skip_domain_validation(true),
        TlsMode::VerifyIdentity => SslOpts::default(),
    };
    let options = match (&tls.ca, tls.mode) {
        (Some(ca), TlsMode::VerifyCa | TlsMode::VerifyIdentity) => {
            options.with_root_cert_path(Some(ca.clone()))
        }
        _ => options,
    };
    match (&tls.client_cert, &tls.client_key) {
        (None, None) => Ok(Some(options)),
        (Some(cert), Some(key)) => {
            readable_file(cert)?;
            readable_file(key)?;
            let identity = ClientIdentity::new(cert.clone(), key.clone());
            Ok(Some(options.with_client_identity(Some(identity))))
        }
        _ => Err(TlsProblem::HalfIdentity),
    }
}

/// The certificates that alone are to be trusted under these settings; `None` where the mode trusts otherwise.
pub fn trusted(tls: &Tls) -> Result<Option<Trusted>, TlsProblem> {
    match (&tls.ca, tls.mode) {
        (Some(ca), TlsMode::VerifyCa | TlsMode::VerifyIdentity) => {
            Ok(Some(Trusted(certificates(ca)?.into())))
        }
        _ => Ok(None),
    }
}

/// The only certificates trusted, in DER.
#[derive(Clone, Debug)]
pub struct Trusted(Arc<[CertificateDer<'static>]>);

impl Trusted {
    fn holds_key(&self, public_key: &[u8]) -> bool {
        self.0.iter().any(|cert| {
            cert.windows(public_key.len())
                .any(|part| part == public_key)
        })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsProblem> {
    let bytes = readable_file(path)?;
    let found = CertificateDer::pem_slice_iter(&bytes)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| bad_file(path, &e.to_string()))?;
    match (found.is_empty(), bytes.first()) {
        (false, _) => Ok(found),
        // DER begins with a SEQUENCE.
        (true, Some(0x30)) => Ok(vec![CertificateDer::from(bytes)]),
        (true, _) => Err(bad_file(path, "no certificate in it")),
    }
}

/// The driver panics over a key it cannot read.
fn check_public_key(path: &Path) -> Result<(), TlsProblem> {
    let bytes = readable_file(path)?;
    SubjectPublicKeyInfoDer::from_pem_slice(&bytes)
        .map(drop)
        .map_err(|_| bad_file(path, "no PEM public key in it"))
}

fn readable_file(path: &Path) -> Result<Vec<u8>, TlsProblem> {
    std::fs::read(path).map_err(|e| bad_file(path, &e.to_string()))
}

fn bad_file(path: &Path, detail: &str) -> TlsProblem {
    TlsProblem::BadFile {
        path: path.display().to_string(),
        detail: detail.to_owned(),
    }
}

thread_local! {
    static ONLY: RefCell<Option<Trusted>> = const { RefCell::new(None) };
}

/// Runs `work` (a connect on this thread) trusting the given certificates alone.
pub fn only<T>(trusted: Option<Trusted>, work: impl FnOnce() -> T) -> T {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            ONLY.set(None);
        }
    }
    install();
    ONLY.set(trusted);
    let _reset = Reset;
    work()
}

/// Makes our algorithms the process's own, once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut provider = rustls::crypto::ring::default_provider();
        provider.signature_verification_algorithms =
            distrusting(provider.signature_verification_algorithms);
        // Refused only when somebody installed one before; then `VerifyCa` would trust too much.
        if provider.install_default().is_err() {
            tracing::error!("another TLS provider is installed: public authorities are trusted beside the given CA");
        }
    });
    debug_assert!(CryptoProvider::get_default().is_some());
}

/// The same algorithms, each behind [`Distrusting`]. Leaked once per process: rustls wants them for ever.
fn distrusting(algorithms: WebPkiSupportedAlgorithms) -> WebPkiSupportedAlgorithms {
    let wrapped: Vec<&'static dyn SignatureVerificationAlgorithm> = algorithms
        .all
        .iter()
        .map(|inner| -> &'static dyn SignatureVerificationAlgorithm {
            Box::leak(Box::new(Distrusting(*inner)))
        })
        .collect();
    WebPkiSupportedAlgorithms {
        all: Vec::leak(wrapped),
        mapping: algorithms.mapping,
    }
}

/// A signature algorithm that does not take a public authority's word while only a given CA counts.
#[derive(Debug)]
struct Distrusting(&'static dyn SignatureVerificationAlgorithm);

impl SignatureVerificationAlgorithm for Distrusting {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if is_distrusted(public_key) {
            return Err(InvalidSignature);
        }
        self.0.verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.0.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.0.signature_alg_id()
    }

    fn fips(&self) -> bool {
        self.0.fips()
    }
}

fn is_distrusted(public_key: &[u8]) -> bool {
    ONLY.with_borrow(|only| match only {
        None => false,
        Some(trusted) => is_public_authority(public_key) && !trusted.holds_key(public_key),
    })
}

fn is_public_authority(public_key: &[u8]) -> bool {
    webpki_roots::TLS_SERVER_ROOTS
        .iter()
        .any(|root| root.subject_public_key_info.ends_with(public_key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Agreeable;
    impl SignatureVerificationAlgorithm for Agreeable {
        fn verify_signature(&self, _: &[u8], _: &[u8], _: &[u8]) -> Result<(), InvalidSignature> {
            Ok(())
        }
        fn public_key_alg_id(&self) -> AlgorithmIdentifier {
            rustls::pki_types::alg_id::RSA_ENCRYPTION
        }
        fn signature_alg_id(&self) -> AlgorithmIdentifier {
            rustls::pki_types::alg_id::RSA_PKCS1_SHA256
        }
    }

    fn asked(trusted: Option<Trusted>, key: &[u8]) -> bool {
        only(trusted, || {
            Distrusting(&Agreeable)
                .verify_signature(key, b"", b"")
                .is_ok()
        })
    }

    /// The key itself, as it stands at the end of a SubjectPublicKeyInfo.
    fn key_of_a_public_authority() -> &'static [u8] {
        let info = webpki_roots::TLS_SERVER_ROOTS[0]
            .subject_public_key_info
            .as_ref();
        &info[info.len() - 65..]
    }

    #[test]
    fn r39_beside_a_given_ca_no_public_authority_counts() {
        let ours = Trusted(vec![CertificateDer::from(b"our own authority".to_vec())].into());
        let public = key_of_a_public_authority();
        assert!(asked(None, public));
        assert!(!asked(Some(ours.clone()), public));
        assert!(asked(Some(ours), b"some intermediate's key"));
        // Outside of `only` nothing is refused.
        assert!(!is_distrusted(public));
    }

    #[test]
    fn r39_a_public_authority_given_as_the_ca_counts() {
        let mut cert = b"0...".to_vec();
        cert.extend_from_slice(key_of_a_public_authority());
        let given = Trusted(vec![CertificateDer::from(cert)].into());
        assert!(asked(Some(given), key_of_a_public_authority()));
    }

    #[test]
    fn r39_verifying_a_ca_needs_a_ca() {
        let tls = |mode| Tls {
            mode,
            ..Tls::default()
        };
        assert_eq!(options(&tls(TlsMode::VerifyCa)), Err(TlsProblem::NoCa));
        assert_eq!(options(&tls(TlsMode::Off)), Ok(None));
        let required = options(&tls(TlsMode::Required))
            .expect("options")
            .expect("TLS");
        assert!(required.accept_invalid_certs());
        let identity = options(&tls(TlsMode::VerifyIdentity))
            .expect("options")
            .expect("TLS");
        assert!(!identity.accept_invalid_certs() && !identity.skip_domain_validation());
    }

    #[test]
    fn a_missing_file_is_named() {
        let tls = Tls {
            mode: TlsMode::VerifyCa,
            ca: Some("/nowhere/ca.pem".into()),
            ..Tls::default()
        };
        assert!(
            matches!(trusted(&tls), Err(TlsProblem::BadFile { path, .. }) if path == "/nowhere/ca.pem")
        );
    }
}
