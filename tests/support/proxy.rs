//! A TCP proxy between the program and a server, which misbehaves on request as networks and hosts do.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use replicascope::model::profile::Address;

use super::servers::free_port;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Carries everything both ways.
    Pass,
    /// Accepts and keeps connections and carries nothing: as a host that hangs, or packets dropped in mid-session. What
    /// was held is carried when it passes again.
    Hold,
    /// Accepts nothing: new connections are refused, standing ones are cut.
    Refuse,
}

/// Lives as long as the value; in between as many threads as connections, twice.
pub struct Proxy {
    shared: Arc<Shared>,
    port: u16,
}

struct Shared {
    server: SocketAddr,
    manner: Mutex<(Manner, End)>,
    changed: Condvar,
    connections: Mutex<Vec<TcpStream>>,
    accepted: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    Now,
}

impl Proxy {
    pub fn before(server_port: u16) -> Self {
        let port = free_port();
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port was free just now");
        let shared = Arc::new(Shared {
            server: SocketAddr::from(([127, 0, 0, 1], server_port)),
            manner: Mutex::new((Manner::Pass, End::NotYet)),
            changed: Condvar::new(),
            connections: Mutex::default(),
            accepted: AtomicU64::new(0),
        });
        let accepting = shared.clone();
        thread::spawn(move || accepting.accept(listener, port));
        Proxy { shared, port }
    }

    pub fn address(&self) -> Address {
        Address::tcp("127.0.0.1", self.port)
    }

    pub fn set(&self, manner: Manner) {
        self.shared.lock().0 = manner;
        self.shared.changed.notify_all();
        if manner == Manner::Refuse {
            self.drop_connections();
            // The accepting thread sees the change when somebody knocks.
            let _ = TcpStream::connect(("127.0.0.1", self.port));
        }
    }

    /// Cuts all connections in the middle of whatever they carry.
    pub fn drop_connections(&self) {
        for connection in self.shared.connections().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// Connections taken in since the start.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (Manner, End)> {
        self.manner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as long as it holds; `false` when it is over.
    fn wait_to_carry(&self) -> bool {
        let held = |state: &mut (Manner, End)| state.0 == Manner::Hold && state.1 == End::NotYet;
        let state = self
            .changed
            .wait_while(self.lock(), held)
            .unwrap_or_else(PoisonError::into_inner);
        state.1 == End::NotYet
    }

    fn accept(self: Arc<Self>, listener: TcpListener, port: u16) {
        let mut listener = Some(listener);
        loop {
            let (manner, end) = *self.lock();
            if end == End::Now {
                return;
            }
            if manner == Manner::Refuse {
                // Nobody listens: the kernel refuses.
                listener = None;
                let state = self.changed.wait_while(self.lock(), |state| {
                    state.0 == Manner::Refuse && state.1 == End::NotYet
                });
                drop(state);
                continue;
            }
            let open = listener.get_or_insert_with(|| {
                TcpListener::bind(("127.0.0.1", port)).expect("the port is still ours")
            });
            let Ok((client, _)) = open.accept() else {
                continue;
            };
            if self.lock().0 == Manner::Refuse {
                continue;
            }
            self.accepted.fetch_add(1, Ordering::Relaxed);
            self.clone().carry(client);
        }
    }

    fn carry(self: Arc<Self>, client: TcpStream) {
        thread::spawn(move || {
            if !self.wait_to_carry() {
                return;
            }
            let Ok(server) = TcpStream::connect(self.server) else {
                return;
            };
            let both = || Some((client.try_clone().ok()?, server.try_clone().ok()?));
            let (Some(kept), Some(one), Some(other)) = (both(), both(), both()) else {
                return;
            };
            self.connections().extend([kept.0, kept.1]);
            let back = self.clone();
            let returning = thread::spawn(move || back.copy(one.1, one.0));
            self.copy(other.0, other.1);
            let _ = returning.join();
            self.connections()
                .retain(|stream| stream.peer_addr().is_ok());
        });
    }

    /// Until either side ends; then both.
    fn copy(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16 * 1024];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(count) => count,
            };
            if !self.wait_to_carry() || to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.lock().1 = End::Now;
        self.shared.changed.notify_all();
        self.drop_connections();
        let _ = TcpStream::connect_timeout(
            &SocketAddr::from(([127, 0, 0, 1], self.port)),
            Duration::from_millis(100),
        );
    }
}
