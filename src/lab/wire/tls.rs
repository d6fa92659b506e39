//! TLS for the wire: a certificate authority made for the occasion, and a stream that may turn secure half-way.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What a server needs to offer TLS. Cheap to clone; all servers of a lab share one.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    ca_pem: Arc<str>,
}

/// Without the key.
impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// A new authority, and a certificate for this machine's loopback that it has signed. Neither key is ever written.
    pub fn new() -> io::Result<Tls> {
        let ca = authority().map_err(io::Error::other)?;
        let (certificate, key) = certificate(&ca).map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate], key)
            })
            .map_err(io::Error::other)?;
        Ok(Tls {
            config: Arc::new(config),
            ca_pem: ca.pem().into(),
        })
    }

    /// The authority's certificate, for clients that verify.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(DnType::CommonName, "Replicascope lab CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn certificate(
    ca: &CertifiedIssuer<'static, KeyPair>,
) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), rcgen::Error> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let mut params = CertificateParams::new(names)?;
    params
        .distinguished_name
        .push(DnType::CommonName, "Replicascope lab server");
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, ca)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    Ok((certificate.der().clone(), key.into()))
}

/// How a connection is encrypted, in OpenSSL's words, which servers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// `TLSv1.3`
    pub version: &'static str,
    /// `TLS_AES_256_GCM_SHA384`
    pub cipher: &'static str,
}

impl Tunnel {
    /// `None`: the handshake is not done yet.
    fn of(connection: &ServerConnection) -> Option<Tunnel> {
        use rustls::{CipherSuite, ProtocolVersion};
        Some(Tunnel {
            version: match connection.protocol_version()? {
                ProtocolVersion::TLSv1_2 => "TLSv1.2",
                _ => "TLSv1.3",
            },
            // What the provider has for a certificate of our kind.
            cipher: match connection.negotiated_cipher_suite()?.suite() {
                CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
                CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
                CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
                CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => {
                    "ECDHE-ECDSA-AES128-GCM-SHA256"
                }
                CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => {
                    "ECDHE-ECDSA-AES256-GCM-SHA384"
                }
                _ => "ECDHE-ECDSA-CHACHA20-POLY1305",
            },
        })
    }
}

/// A connection's bytes, in plain text until [`Stream::secure`].
pub enum Stream {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    pub fn is_secure(&self) -> bool {
        matches!(self, Stream::Secure(_))
    }

    pub fn tunnel(&self) -> Option<Tunnel> {
        match self {
            Stream::Plain(_) => None,
            Stream::Secure(stream) => Tunnel::of(&stream.conn),
        }
    }

    /// The longest a read may take from here on; `None`: for ever.
    pub fn wait_at_most(&self, limit: Option<Duration>) -> io::Result<()> {
        let socket = self.socket();
        // A limit of zero would be an error.
        socket.set_read_timeout(limit.map(|limit| limit.max(Duration::from_millis(1))))
    }

    /// Whether the other side has gone, or says that it goes. What it has said stays to be read.
    pub fn is_left(&self) -> io::Result<bool> {
        const GOODBYE: [u8; 5] = [1, 0, 0, 0, 1];
        const ALERT: u8 = 21;
        let mut said = [0; GOODBYE.len()];
        let socket = self.socket();
        socket.set_nonblocking(true)?;
        let peeked = socket.peek(&mut said);
        socket.set_nonblocking(false)?;
        Ok(match peeked {
            Ok(0) => true,
            Ok(_) if self.is_secure() => said[0] == ALERT,
            Ok(_) => said == GOODBYE,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        })
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Secure(stream) => stream.get_ref(),
        }
    }

    /// From here on everything is encrypted; the handshake is done with the first read or write.
    pub fn secure(&mut self, tls: &Tls) -> io::Result<()> {
        let Stream::Plain(socket) = self else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let connection = ServerConnection::new(tls.config.clone()).map_err(io::Error::other)?;
        let secure = StreamOwned::new(connection, socket.try_clone()?);
        *self = Stream::Secure(Box::new(secure));
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(buffer),
            Stream::Secure(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Secure(stream) => stream.flush(),
        }
    }
}
