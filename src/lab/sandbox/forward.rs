//! The link by which one replica reaches one source: a forwarder on loopback that can be slow, narrow or cut.
//!
//! Each direction of each connection is a reader and a writer with a bounded queue between them. The reader notes when
//! bytes came; the writer lets them go when their latency is over, as fast as the link is wide, and not while it is cut.
//! A close travels the same way, so behind a cut link neither side hears of the other's end.

mod lane;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::server::free_port;
use crate::lab::bed::LinkQuality;
use lane::Direction;

const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// How often a connection that waits behind a cut link looks whether its client has given up.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Dropping it closes all its connections and waits for its threads.
pub(super) struct Forward {
    shared: Arc<Shared>,
    port: u16,
    acceptor: Option<JoinHandle<()>>,
}

impl Forward {
    /// `name` is that of the link, for the names of its threads.
    pub fn to(source_port: u16, name: &str) -> io::Result<Forward> {
        // Like a server's port one that stays free while nobody listens on it.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, free_port()))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            source: SocketAddr::from((Ipv4Addr::LOCALHOST, source_port)),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let accepting = shared.clone();
        let acceptor = thread::Builder::new()
            .name(format!("link {name}"))
            .spawn(move || accepting.accept(port, listener))?;
        Ok(Forward {
            shared,
            port,
            acceptor: Some(acceptor),
        })
    }

    /// What the replica is to be pointed at.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on, also for what is under way.
    pub fn set(&self, quality: LinkQuality) {
        self.shared.lock().quality = quality;
        self.shared.changed.notify_all();
    }

    /// The source is down: new connections are refused, as by any port where nobody listens.
    pub fn refuse(&self) {
        self.shared.lock().refuses = true;
        self.wake_acceptor();
    }

    pub fn accept_again(&self) {
        self.shared.lock().refuses = false;
        self.shared.changed.notify_all();
    }

    /// It waits for a connection: give it one. True when that was taken.
    fn wake_acceptor(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok()
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        let is_listening = {
            let mut state = self.shared.lock();
            state.has_ended = true;
            for (one, other) in state.connections.values() {
                let _ = one.shutdown(Shutdown::Both);
                let _ = other.shutdown(Shutdown::Both);
            }
            state.is_listening
        };
        self.shared.changed.notify_all();
        if let Some(acceptor) = self.acceptor.take()
            && (self.wake_acceptor() || !is_listening)
        {
            let _ = acceptor.join();
        }
    }
}

struct Shared {
    name: String,
    source: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    quality: LinkQuality,
    refuses: bool,
    is_listening: bool,
    has_ended: bool,
    connections: HashMap<u64, (TcpStream, TcpStream)>,
    /// When each direction can take the next piece; `None`: at once.
    free_at: [Option<Instant>; 2],
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, port: u16, listener: TcpListener) {
        let mut carrying: Vec<JoinHandle<()>> = Vec::new();
        let mut listener = Some(listener);
        let mut number = 0;
        while self.is_to_listen(port, &mut listener) {
            let Some(Ok((replica, _))) = listener.as_ref().map(TcpListener::accept) else {
                thread::sleep(Duration::from_millis(10)); // out of file descriptors: others may close
                continue;
            };
            let is_wake_up = {
                let state = self.lock();
                state.has_ended || state.refuses
            };
            if is_wake_up {
                continue;
            }
            number += 1;
            carrying.retain(|thread| !thread.is_finished());
            let link = self.clone();
            let thread = thread::Builder::new().name(format!("link {} #{number}", self.name));
            carrying.extend(thread.spawn(move || link.carry(number, replica)));
        }
        for thread in carrying {
            let _ = thread.join();
        }
    }

    /// Waits while connections are to be refused, without a listener; false when all is over.
    fn is_to_listen(&self, port: u16, listener: &mut Option<TcpListener>) -> bool {
        let mut state = self.lock();
        while !state.has_ended {
            if state.refuses {
                *listener = None;
            } else if listener.is_none() {
                *listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok();
            }
            state.is_listening = listener.is_some();
            if state.is_listening {
                return true;
            }
            state = self.wait_at_most(state, LOOK_EVERY);
        }
        false
    }

    fn carry(&self, number: u64, replica: TcpStream) {
        if !self.is_whole_before_hanging_up(&replica) {
            return;
        }
        let Ok(source) = TcpStream::connect_timeout(&self.source, CONNECT_LIMIT) else {
            return;
        };
        let _ = (replica.set_nodelay(true), source.set_nodelay(true));
        if self.enter(number, &replica, &source).is_some() {
            thread::scope(|scope| {
                let lanes = [
                    (Direction::ToSource, &replica, &source),
                    (Direction::ToReplica, &source, &replica),
                ];
                for (direction, from, to) in lanes {
                    lane::carry(self, direction, (from, to), scope);
                }
            });
        }
        self.lock().connections.remove(&number);
    }

    /// Behind a cut link a connection gets no further until the link is whole again; false when it is over before.
    fn is_whole_before_hanging_up(&self, replica: &TcpStream) -> bool {
        let mut state = self.lock();
        while state.quality.is_cut && !state.has_ended {
            let waited = self.changed.wait_timeout(state, LOOK_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if has_hung_up(replica) {
                return false;
            }
        }
        !state.has_ended
    }

    /// Has the end of the link close the connection; `None` when that came already.
    fn enter(&self, number: u64, replica: &TcpStream, source: &TcpStream) -> Option<()> {
        let streams = (replica.try_clone().ok()?, source.try_clone().ok()?);
        let mut state = self.lock();
        if state.has_ended {
            return None;
        }
        state.connections.insert(number, streams);
        Some(())
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_at_most<'a>(
        &self,
        state: MutexGuard<'a, State>,
        limit: Duration,
    ) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, limit);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn has_hung_up(stream: &TcpStream) -> bool {
    let looked = stream
        .set_nonblocking(true)
        .and_then(|()| stream.peek(&mut [0; 1]));
    let _ = stream.set_nonblocking(false);
    match looked {
        Ok(count) => count == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

#[cfg(test)]
mod tests;
