//! Listens on loopback: one thread accepts, one thread serves each connection, and dropping the server ends them all.

use super::answer::{
    Answer, Manner, SqlError, early_error_packet, error_packet, ok_packet, rows_packets,
};
use super::login::{Login, authenticate, greet};
use super::packet::Packets;
use super::statements::split;
use super::{Done, Service, Session, Welcome};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The stream of a connection. A server that offers TLS puts its own type here.
type Stream = TcpStream;

/// A running server. Dropping it closes every connection and waits for the threads.
pub struct Server {
    port: u16,
    live: Arc<Live>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(service: impl Service + 'static) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let live = Arc::new(Live::default());
        let service: SharedService = Arc::new(Mutex::new(service));
        let acceptor = thread::Builder::new().name(format!("wire-{port}")).spawn({
            let live = live.clone();
            move || accept(&listener, &live, &service)
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

type SharedService = Arc<Mutex<dyn Service>>;

/// A service that panicked once goes on answering, as far as it can: a test then fails where it went wrong.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, live: &Arc<Live>, service: &SharedService) {
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
        connection_id += 1;
        let Ok(place) = Live::admit(live, connection_id, &stream) else {
            continue;
        };
        let service = service.clone();
        let thread = thread::Builder::new().name(format!("wire-connection-{connection_id}"));
        serving.extend(thread.spawn(move || {
            let _closed_by_client = Connection::new(stream, place, service).serve();
        }));
    }
    for thread in serving {
        let _ = thread.join();
    }
}

/// The open connections, and whether the server is stopping.
#[derive(Default)]
struct Live {
    state: Mutex<LiveState>,
    stop: Condvar,
}

#[derive(Default)]
struct LiveState {
    stopped: bool,
    streams: HashMap<u32, Stream>,
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

    fn admit(live: &Arc<Live>, connection_id: u32, stream: &Stream) -> io::Result<Place> {
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

    /// Waits, but not longer than the server lives.
    fn wait(&self, duration: Duration) -> io::Result<()> {
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
struct Place {
    live: Arc<Live>,
    connection_id: u32,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(stream) = self.live.lock().streams.remove(&self.connection_id) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// One client, from greeting to goodbye. `Err` ends it without a word.
struct Connection {
    packets: Packets<Stream>,
    place: Place,
    service: SharedService,
}

impl Connection {
    fn new(stream: Stream, place: Place, service: SharedService) -> Self {
        Connection {
            packets: Packets::new(stream),
            place,
            service,
        }
    }

    fn serve(mut self) -> io::Result<()> {
        let id = self.place.connection_id;
        let welcome = lock(&self.service).welcome(id);
        let greeting = match welcome {
            Welcome::Greet(greeting) => greeting,
            Welcome::Refuse(error) => {
                self.packets.send(&early_error_packet(&error));
                return self.packets.flush();
            }
            Welcome::Silence => {
                self.packets.ignore_until_closed();
                return Ok(());
            }
            Welcome::Cut => return Ok(()),
        };
        let (login, salt) = match greet(&mut self.packets, &greeting, id)? {
            Ok(login) => login,
            Err(error) => return self.part_with(&error),
        };
        let account = lock(&self.service).account(&login.user);
        if let Err(error) =
            authenticate(&mut self.packets, &login, salt, account.as_ref(), &greeting)?
        {
            return self.part_with(&error);
        }
        let session = lock(&self.service).connect(&login.hello(id));
        match session {
            Ok(session) => self.converse(session, &login),
            Err(error) => self.part_with(&error),
        }
    }

    fn part_with(&mut self, error: &SqlError) -> io::Result<()> {
        self.packets.send(&error_packet(error));
        self.packets.flush()
    }

    fn converse(mut self, mut session: Box<dyn Session>, login: &Login) -> io::Result<()> {
        let last = Manner {
            session_track: login.session_track(),
            more: false,
        };
        self.packets.send(&ok_packet(&Done::default(), last));
        loop {
            self.packets.flush()?;
            self.packets.start_exchange();
            let command = self.packets.read()?;
            let (kind, argument) = command
                .split_first()
                .map_or((0, &[][..]), |(kind, rest)| (*kind, rest));
            let argument = String::from_utf8_lossy(argument);
            match Command::of(kind) {
                Command::Quit => {
                    self.place.live.lock().goodbyes += 1;
                    return Ok(());
                }
                Command::InitDb => {
                    let sql = format!("USE `{}`", argument.replace('`', "``"));
                    self.answer(&mut *session, &sql, last)?;
                }
                Command::Query => self.query(&mut *session, &argument, login)?,
                Command::Ping => self.packets.send(&ok_packet(&Done::default(), last)),
                Command::ResetConnection => {
                    session.reset();
                    self.packets.send(&ok_packet(&Done::default(), last));
                }
                Command::StmtPrepare => self.packets.send(&error_packet(&not_preparable())),
                Command::StmtClose => {} // has no answer
                Command::Unknown => self
                    .packets
                    .send(&error_packet(&SqlError::new(1047, "Unknown command"))),
            }
        }
    }

    fn query(&mut self, session: &mut dyn Session, text: &str, login: &Login) -> io::Result<()> {
        let statements = if login.multi_statements() {
            split(text)
        } else {
            vec![text]
        };
        for (nth, statement) in statements.iter().enumerate() {
            let more = nth + 1 < statements.len();
            let manner = Manner {
                session_track: login.session_track(),
                more,
            };
            if let Outcome::Failed = self.answer(session, statement, manner)? {
                return Ok(()); // what follows a failed statement is not run
            }
        }
        if statements.is_empty() {
            self.packets
                .send(&error_packet(&SqlError::new(1065, "Query was empty")));
        }
        Ok(())
    }

    fn answer(
        &mut self,
        session: &mut dyn Session,
        sql: &str,
        manner: Manner,
    ) -> io::Result<Outcome> {
        let mut answer = session.query(sql);
        loop {
            match answer {
                Answer::Ok(done) => self.packets.send(&ok_packet(&done, manner)),
                Answer::Rows(rows) => {
                    rows_packets(&rows, manner).for_each(|packet| self.packets.send(&packet))
                }
                Answer::Err(error) => {
                    self.packets.send(&error_packet(&error));
                    return Ok(Outcome::Failed);
                }
                Answer::Silence => {
                    self.packets.flush()?;
                    self.packets.ignore_until_closed();
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Answer::Cut => return Err(io::ErrorKind::ConnectionAborted.into()),
                Answer::After(wait, then) => {
                    self.wait(wait)?;
                    answer = *then;
                    continue;
                }
                Answer::AskAgain(wait) => {
                    self.wait(wait)?;
                    answer = session.query(sql);
                    continue;
                }
            }
            return Ok(Outcome::Answered);
        }
    }

    /// What was said so far reaches the client before the wait, not after it.
    fn wait(&mut self, duration: Duration) -> io::Result<()> {
        self.packets.flush()?;
        self.place.live.wait(duration)
    }
}

enum Outcome {
    Answered,
    Failed,
}

/// Statements reach the session as text only; clients of this program never prepare them.
fn not_preparable() -> SqlError {
    SqlError::new(
        1295,
        "This command is not supported in the prepared statement protocol yet",
    )
}

/// The commands of the protocol that are understood.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Command {
    Quit,
    InitDb,
    Query,
    Ping,
    StmtPrepare,
    StmtClose,
    ResetConnection,
    Unknown,
}

impl Command {
    fn of(kind: u8) -> Self {
        match kind {
            0x01 => Command::Quit,
            0x02 => Command::InitDb,
            0x03 => Command::Query,
            0x0e => Command::Ping,
            0x16 => Command::StmtPrepare,
            0x19 => Command::StmtClose,
            0x1f => Command::ResetConnection,
            _ => Command::Unknown,
        }
    }
}
