//! Opening a session: name look-up, connect, login, TLS, all within limits; then the two statements that make it ours.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mysql::consts::CapabilityFlags;
use mysql::{Conn, DriverError, Error, OptsBuilder, SslOpts};

use crate::link::{Dial, Link, Purpose};
use crate::model::trouble::Trouble;

use super::dialect::Dialect;
use super::endpoint::{Address, Endpoint, TlsMode};
use super::link::MySqlLink;
use super::queries::{self, Manner, Question, Statements};
use super::resolve::{Bounded, Helper, addresses};
use super::rows::named;
use super::session::Session;
use super::tls::{self, Trusted};
use super::trouble::{Doing, name_slow, name_unknown, not_mysql, tls_problem, trouble};

/// Opens sessions to one endpoint.
#[derive(Clone, Debug)]
pub struct Dialer {
    endpoint: Arc<Endpoint>,
    helper: Helper,
}

impl Dialer {
    pub fn new(endpoint: Endpoint) -> Self {
        Dialer {
            endpoint: Arc::new(endpoint),
            helper: Helper::default(),
        }
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A session with its dialect; what [`Dial::dial`] wraps into a link.
    pub(super) fn open(&self, purpose: Purpose) -> Result<(Session, Dialect), Trouble> {
        let manner = match purpose {
            Purpose::Poll => Manner::Reads,
            Purpose::Wait => Manner::Waits,
        };
        self.open_in(manner, self.read_limit(purpose))
    }

    /// A session for this manner of use, whose answers take at most `limit`.
    pub(super) fn open_in(
        &self,
        manner: Manner,
        limit: Duration,
    ) -> Result<(Session, Dialect), Trouble> {
        let conn = self.connect(limit)?;
        let mut session = Session::new(conn, limit);
        let hello = session.ask(Question::Hello, &queries::hello())?;
        let dialect = Dialect::from_hello(&named(&hello));
        let settings = queries::session_settings(&dialect, &self.endpoint.limits, manner);
        session.ask(Question::Hello, &settings)?;
        Ok((session, dialect))
    }

    /// A session with the server's own defaults, for `hand`.
    pub(super) fn open_bare(&self, limit: Duration) -> Result<Session, Trouble> {
        Ok(Session::new(self.connect(limit)?, limit))
    }

    /// A waiting session gets its answer when the server's own limit ends the wait; ours is slightly above (R21).
    fn read_limit(&self, purpose: Purpose) -> Duration {
        match purpose {
            Purpose::Poll => self.endpoint.limits.read,
            Purpose::Wait => self.endpoint.limits.wait + WAIT_MARGIN,
        }
    }

    fn connect(&self, read_limit: Duration) -> Result<Conn, Trouble> {
        let endpoint = &self.endpoint;
        let options = tls::options(&endpoint.tls).map_err(|p| tls_problem(&p, endpoint))?;
        let trusted = tls::trusted(&endpoint.tls).map_err(|p| tls_problem(&p, endpoint))?;
        let plan = Plan {
            endpoint: endpoint.clone(),
            tls: options,
            trusted,
            read_limit,
        };
        match &endpoint.address {
            Address::Socket(path) => {
                let builder = plan.options().socket(Some(path.to_string_lossy()));
                plan.log_in(builder)
            }
            Address::Tcp { host, port } => self.connect_tcp(plan, host, *port),
        }
    }

    fn connect_tcp(&self, plan: Plan, host: &str, port: u16) -> Result<Conn, Trouble> {
        let limit = self.endpoint.limits.connect;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let found = match addresses(&self.helper, host, port, limit) {
            Bounded::TooSlow => return Err(name_slow(host, limit)),
            Bounded::Done(Err(error)) => return Err(name_unknown(host, &error)),
            Bounded::Done(Ok(found)) => found,
        };
        let is_name = host.parse::<IpAddr>().is_err();
        if is_name && self.endpoint.tls.mode == TlsMode::VerifyIdentity {
            return self.connect_by_name(plan, host, port);
        }
        plan.log_in_to_one_of(&found)
    }

    /// The driver checks a certificate against the name it connected to, and looks the name up again for that, without
    /// a limit: so the whole login goes to the helper.
    fn connect_by_name(&self, plan: Plan, host: &str, port: u16) -> Result<Conn, Trouble> {
        let limits = &self.endpoint.limits;
        let limit = limits.connect + limits.read + limits.read;
        let name = host.to_owned();
        let work = move || {
            let builder = plan.options().ip_or_hostname(Some(name)).tcp_port(port);
            plan.log_in(builder)
        };
        match self.helper.run(limit, work) {
            Bounded::Done(result) => result,
            Bounded::TooSlow => Err(name_slow(host, limit)),
        }
    }
}

/// How much later than the server's our limit on a wait is.
pub(super) const WAIT_MARGIN: Duration = Duration::from_millis(1000);

impl Dial for Dialer {
    fn dial(&self, purpose: Purpose) -> Result<Box<dyn Link>, Trouble> {
        let (session, dialect) = self.open(purpose)?;
        let heartbeat = self.endpoint.heartbeat.as_ref();
        let statements = Statements::new(&dialect, heartbeat, self.endpoint.long_transaction);
        let endpoint = self.endpoint.clone();
        Ok(Box::new(MySqlLink::new(
            session, dialect, statements, endpoint,
        )))
    }
}

/// All that a login needs but the address.
struct Plan {
    endpoint: Arc<Endpoint>,
    tls: Option<SslOpts>,
    trusted: Option<Trusted>,
    read_limit: Duration,
}

impl Plan {
    fn options(&self) -> OptsBuilder {
        let endpoint = &self.endpoint;
        let limits = &endpoint.limits;
        let attributes = HashMap::from([
            ("program_name", "replicascope".to_owned()),
            ("program_version", endpoint.program_version.clone()),
        ]);
        OptsBuilder::new()
            .user(Some(endpoint.user.as_str()))
            .pass(endpoint.password.as_ref().map(|text| text.as_str()))
            // Otherwise a connection to 127.0.0.1 silently moves to the server's socket: behind a tunnel, another server.
            .prefer_socket(false)
            .tcp_connect_timeout(Some(limits.connect))
            .read_timeout(Some(self.read_limit))
            .write_timeout(Some(limits.write))
            .tcp_keepalive_time_ms(Some(10_000))
            .stmt_cache_size(Some(0))
            // Given, so that the driver does not ask for it.
            .max_allowed_packet(Some(64 << 20))
            .server_key_path(endpoint.tls.server_public_key.clone())
            .connect_attrs(Some(attributes))
            // So that a server may tell a commit's GTID with its OK; it does only where a session asks for it.
            .additional_capabilities(CapabilityFlags::CLIENT_SESSION_TRACK)
            .ssl_opts(self.tls.clone())
    }

    /// The first address that lets itself be reached; a login that was answered is not tried elsewhere.
    fn log_in_to_one_of(&self, addresses: &[SocketAddr]) -> Result<Conn, Trouble> {
        let mut last = None;
        for address in addresses {
            let builder = self
                .options()
                .ip_or_hostname(Some(address.ip().to_string()))
                .tcp_port(address.port());
            match self.try_log_in(builder) {
                Ok(conn) => return Ok(conn),
                Err(Some(error)) if is_unreached(&error) => last = Some(error),
                Err(error) => return Err(self.trouble(error)),
            }
        }
        Err(self.trouble(last))
    }

    fn log_in(&self, builder: OptsBuilder) -> Result<Conn, Trouble> {
        self.try_log_in(builder)
            .map_err(|error| self.trouble(error))
    }

    /// `None` as the error: the driver panicked. It indexes into what the peer sent, so a peer that is no MySQL server
    /// can bring it to that.
    fn try_log_in(&self, builder: OptsBuilder) -> Result<Conn, Option<Error>> {
        let work = || tls::only(self.trusted.clone(), || Conn::new(builder));
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => result.map_err(Some),
            Err(_) => Err(None),
        }
    }

    fn trouble(&self, error: Option<Error>) -> Trouble {
        match error {
            Some(error) => trouble(&error, Doing::Connecting(&self.endpoint)),
            None => not_mysql(&self.endpoint),
        }
    }
}

/// Nobody was reached at this address; another one may do.
fn is_unreached(error: &Error) -> bool {
    matches!(
        error,
        Error::DriverError(DriverError::ConnectTimeout | DriverError::CouldNotConnect(_))
    )
}
