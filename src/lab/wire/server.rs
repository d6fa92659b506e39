//! Listens on loopback: one thread accepts, one thread serves each connection, and dropping the server ends them all.

use super::Service;
use super::connection::Connection;
use super::tls::Tls;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A session runs deep statements on its connection's thread. Only what is used is ever taken from the system.
const STACK_BYTES: usize = 16 << 20;

/// A running server. Dropping it closes every connection and waits for the threads.
pub struct Server {
    port: u16,
    live: Arc<Live>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// On a port of the system's choice, without TLS.
    pub fn start(service: impl Service + 'static) -> io::Result<Server> {
        Server::start_at(0, None, service)
    }

    /// On this port of loopback (0: one of the system's choice); clients may ask for TLS if there is any.
    pub fn start_at(
        port: u16,
        tls: Option<Tls>,
        service: impl Service + 'static,
    ) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let live = Arc::new(Live::default());
        let service: SharedService = Arc::new(Mutex::new(service));
        let acceptor = thread::Builder::new().name(format!("wire-{port}")).spawn({
            let live = live.clone();
            move || accept(&listener, &live, &service, tls.as_ref())
        })?;
        Ok(Server {
            port,
            live,
            acceptor: Some(acceptor),
        })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Open connections, those still logging in included.
    pub fn connections(&self) -> usize {
        self.live.lock().streams.len()
    }

    /// The most connections that were ever open at the same time.
    pub fn max_connections_seen(&self) -> usize {
        self.live.lock().most_streams
    }

    /// Connections that their clients closed with a word. Servers count the others as aborted.
    pub fn goodbyes(&self) -> u64 {
        self.live.lock().goodbyes
    }

    /// For whoever must be able to close a connection without owning the server: KILL.
    pub fn closer(&self) -> Closer {
        Closer {
            live: self.live.clone(),
        }
    }

    /// Closes every connection as a crash would; new ones are still accepted.
    pub fn cut_all(&self) {
        self.live.lock().shut_streams();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.live.stop();
        // The acceptor waits for a connection: give it one.
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let woken = TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok();
        if let Some(acceptor) = self.acceptor.take()
            && woken
        {
            let _ = acceptor.join();
        }
    }
}

/// Closes single connections of a server.
#[derive(Clone)]
pub struct Closer {
    live: Arc<Live>,
}

impl Closer {
    /// False: there is none of that number.
    pub fn close(&self, connection_id: u32) -> bool {
        match self.live.lock().streams.get(&connection_id) {
            Some(stream) => stream.shutdown(Shutdown::Both).is_ok(),
            None => false,
        }
    }
}

pub(super) type SharedService = Arc<Mutex<dyn Service>>;

/// A service that panicked once goes on answering, as far as it can: a test then fails where it went wrong.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, live: &Arc<Live>, service: &SharedService, tls: Option<&Tls>) {
    let mut serving: Vec<JoinHandle<()>> = Vec::new();
    let mut connection_id = 0;
    for stream in listener.incoming() {
        if live.lock().stopped {
            break;
        }
        let Ok(stream) = stream else {
            thread::sleep(Duration::from_millis(10)); // out of file descriptors: others may close
            continue;
        };
        serving.retain(|thread| !thread.is_finished());
        connection_id = lock(service)
            .next_connection_id()
            .unwrap_or(connection_id + 1);
        let Ok(place) = Live::admit(live, connection_id, &stream) else {
            continue;
        };
        let (service, tls) = (service.clone(), tls.cloned());
        let thread = thread::Builder::new()
            .name(format!("wire-connection-{connection_id}"))
            .stack_size(STACK_BYTES);
        serving.extend(thread.spawn(move || {
            let _closed_by_client = Connection::new(stream, place, service, tls).serve();
        }));
    }
    for thread in serving {
        let _ = thread.join();
    }
}

/// The open connections, and whether the server is stopping.
#[derive(Default)]
pub(super) struct Live {
    state: Mutex<LiveState>,
    stop: Condvar,
}

#[derive(Default)]
struct LiveState {
    stopped: bool,
    streams: HashMap<u32, TcpStream>,
    most_streams: usize,
    goodbyes: u64,
}

impl LiveState {
    fn shut_streams(&self) {
        for stream in self.streams.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Live {
    fn lock(&self) -> MutexGuard<'_, LiveState> {
        lock(&self.state)
    }

    fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.shut_streams();
        self.stop.notify_all();
    }

    fn admit(live: &Arc<Live>, connection_id: u32, stream: &TcpStream) -> io::Result<Place> {
        stream.set_nodelay(true)?;
        let mut state = live.lock();
        state.streams.insert(connection_id, stream.try_clone()?);
        state.most_streams = state.most_streams.max(state.streams.len());
        if state.stopped {
            state.shut_streams();
        }
        drop(state);
        Ok(Place {
            live: live.clone(),
            connection_id,
        })
    }

    pub(super) fn count_goodbye(&self) {
        self.lock().goodbyes += 1;
    }

    /// Waits, but not longer than the server lives.
    pub(super) fn wait(&self, duration: Duration) -> io::Result<()> {
        let waited = self
            .stop
            .wait_timeout_while(self.lock(), duration, |state| !state.stopped);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            Err(io::ErrorKind::ConnectionAborted.into())
        } else {
            Ok(())
        }
    }
}

/// A connection's entry among the open ones; dropping it takes the entry out.
pub(super) struct Place {
    pub live: Arc<Live>,
    pub connection_id: u32,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(stream) = self.live.lock().streams.remove(&self.connection_id) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
