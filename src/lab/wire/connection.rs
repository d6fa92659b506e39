//! One client, from greeting to goodbye: commands read, handed to the session, answered.

use super::answer::{
    Answer, Done, Manner, Rows, SqlError, early_error_packet, eof_packet, error_packet,
    field_packets, ok_packet, rows_packets,
};
use super::login::{Login, authenticate, greet};
use super::packet::{Fields, Packets, TooLong};
use super::password::Salt;
use super::prepared::{Statements, binary_rows_packets, prepared_packets, unknown_statement};
use super::server::{Place, SharedService, lock};
use super::statements::split;
use super::tls::{Stream, Tls};
use super::{Greeting, Session, Welcome};
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// `Err` ends it without a word.
pub struct Connection {
    packets: Packets<Stream>,
    place: Place,
    service: SharedService,
    tls: Option<Tls>,
}

impl Connection {
    pub fn new(stream: TcpStream, place: Place, service: SharedService, tls: Option<Tls>) -> Self {
        Connection {
            packets: Packets::new(Stream::Plain(stream)),
            place,
            service,
            tls,
        }
    }

    pub fn serve(mut self) -> io::Result<()> {
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
        let tls = self.tls.clone();
        let (login, salt) = match greet(&mut self.packets, &greeting, tls.as_ref(), id)? {
            Ok(login) => login,
            Err(error) => return self.part_with(&error),
        };
        let door = Door { greeting, salt };
        match self.let_in(&login, &door)? {
            Ok(session) => Conversation::new(self, session, login, door).hold(),
            Err(error) => self.part_with(&error),
        }
    }

    /// Checks who it is and opens the session.
    fn let_in(&mut self, login: &Login, door: &Door) -> io::Result<LetIn> {
        let account = lock(&self.service).account(&login.user);
        let packets = &mut self.packets;
        let known = authenticate(packets, login, door.salt, account.as_ref(), &door.greeting)?;
        if let Err(error) = known {
            return Ok(Err(error));
        }
        let tunnel = self.packets.stream().tunnel();
        let hello = login.hello(self.place.connection_id, tunnel);
        Ok(lock(&self.service).connect(&hello))
    }

    fn part_with(&mut self, error: &SqlError) -> io::Result<()> {
        self.packets.send(&error_packet(error));
        self.packets.flush()
    }
}

/// The session of a client that proved who it is, or why it has none.
type LetIn = Result<Box<dyn Session>, SqlError>;

/// What the client was greeted with.
struct Door {
    greeting: Greeting,
    salt: Salt,
}

/// A client that has logged in, and what it is told and remembers.
struct Conversation {
    wire: Connection,
    session: Box<dyn Session>,
    login: Login,
    door: Door,
    statements: Statements,
    /// Whether the client has switched it on or off since it logged in.
    multi_statements: bool,
}

impl Conversation {
    fn new(wire: Connection, session: Box<dyn Session>, login: Login, door: Door) -> Self {
        Conversation {
            multi_statements: login.multi_statements(),
            wire,
            session,
            login,
            door,
            statements: Statements::default(),
        }
    }

    fn hold(mut self) -> io::Result<()> {
        self.ok();
        loop {
            self.wire.packets.flush()?;
            self.wire.packets.start_exchange();
            let patience = self.session.idle_limit();
            self.wire.packets.stream().wait_at_most(patience)?;
            let longest = self.session.longest_command();
            self.wire.packets.read_at_most(longest);
            let command = match self.wire.packets.read() {
                Err(error) if TooLong::is(&error) => {
                    let words = "Got a packet bigger than 'max_allowed_packet' bytes";
                    return self.wire.part_with(&SqlError::new(1153, words));
                }
                read => read?,
            };
            self.wire.packets.stream().wait_at_most(None)?;
            let (kind, argument) = command
                .split_first()
                .map_or((0, &[][..]), |(kind, rest)| (*kind, rest));
            if Command::of(kind) == Command::Quit {
                self.wire.place.live.count_goodbye();
                return Ok(());
            }
            self.obey(Command::of(kind), argument)?;
        }
    }

    fn obey(&mut self, command: Command, argument: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(argument);
        match command {
            Command::InitDb => self.one(&format!("USE `{}`", text.replace('`', "``")))?,
            Command::Query => self.query(&text)?,
            Command::Ping => self.ok(),
            Command::ResetConnection => {
                self.session.reset();
                self.statements.clear();
                self.ok();
            }
            Command::ChangeUser => return self.change_user(argument),
            Command::FieldList => return self.field_list(&text),
            Command::ProcessInfo => self.one("SHOW PROCESSLIST")?,
            Command::ProcessKill => {
                let id = Fields::of(argument).u32().unwrap_or(0);
                self.one(&format!("KILL {id}"))?;
            }
            Command::Statistics => {
                let words = self.session.statistics();
                self.wire.packets.send(words.as_bytes());
            }
            Command::SetOption => self.set_option(argument),
            Command::StmtPrepare => self.prepare(&text),
            Command::StmtExecute => self.execute(argument)?,
            Command::StmtSendLongData => self.send_long_data(argument), // has no answer
            Command::StmtReset => self.reset_statement(argument),
            Command::StmtClose => {
                let id = Fields::of(argument).u32().unwrap_or(0);
                self.statements.close(id); // has no answer
            }
            Command::Quit | Command::Unknown => self.error(&SqlError::new(1047, "Unknown command")),
        }
        Ok(())
    }

    fn manner(&self, more: bool) -> Manner {
        Manner {
            session_track: self.login.session_track(),
            state: self.session.state(),
            more,
        }
    }

    fn ok(&mut self) {
        let packet = ok_packet(&Done::default(), self.manner(false));
        self.wire.packets.send(&packet);
    }

    fn error(&mut self, error: &SqlError) {
        self.wire.packets.send(&error_packet(error));
    }

    fn one(&mut self, sql: &str) -> io::Result<()> {
        self.answer(sql, false, Form::Text).map(drop)
    }

    fn query(&mut self, text: &str) -> io::Result<()> {
        let statements = if self.multi_statements {
            split(text)
        } else {
            vec![text]
        };
        for (nth, statement) in statements.iter().enumerate() {
            let more = nth + 1 < statements.len();
            if let Outcome::Failed = self.answer(statement, more, Form::Text)? {
                return Ok(()); // what follows a failed statement is not run
            }
        }
        if statements.is_empty() {
            self.error(&SqlError::new(1065, "Query was empty"));
        }
        Ok(())
    }

    /// `more`: other statements of the same command follow.
    fn answer(&mut self, sql: &str, more: bool, form: Form) -> io::Result<Outcome> {
        let settled = self.settled(sql)?;
        let manner = self.manner(more);
        match settled {
            Settled::Ok(done) => {
                let packet = ok_packet(&done, manner);
                self.wire.packets.send(&packet);
            }
            Settled::Rows(rows) => self.rows(&rows, manner, form),
            Settled::Err(error) => {
                self.error(&error);
                return Ok(Outcome::Failed);
            }
        }
        Ok(Outcome::Answered)
    }

    fn rows(&mut self, rows: &Rows, manner: Manner, form: Form) {
        let packets = &mut self.wire.packets;
        match form {
            Form::Text => rows_packets(rows, manner).for_each(|packet| packets.send(&packet)),
            Form::Binary => binary_rows_packets(rows, manner)
                .iter()
                .for_each(|packet| packets.send(packet)),
        }
    }

    /// The session's answer when all its waiting is over.
    fn settled(&mut self, sql: &str) -> io::Result<Settled> {
        let mut answer = self.session.query(sql);
        loop {
            answer = match answer {
                Answer::Ok(done) => return Ok(Settled::Ok(done)),
                Answer::Rows(rows) => return Ok(Settled::Rows(rows)),
                Answer::Err(error) => return Ok(Settled::Err(error)),
                Answer::Silence => {
                    self.wire.packets.flush()?;
                    self.wire.packets.ignore_until_closed();
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Answer::Cut => return Err(io::ErrorKind::ConnectionAborted.into()),
                Answer::After(wait, then) => {
                    self.wait(wait)?;
                    *then
                }
                Answer::AskAgain(wait) => {
                    self.wait(wait)?;
                    self.session.query(sql)
                }
            };
        }
    }

    /// What was said so far reaches the client before the wait, not after it. Nobody waits for one that has gone.
    fn wait(&mut self, duration: Duration) -> io::Result<()> {
        self.wire.packets.flush()?;
        if self.wire.packets.stream().is_left()? {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.wire.place.live.wait(duration)
    }

    fn change_user(&mut self, argument: &[u8]) -> io::Result<()> {
        let Some(login) = self.login.change(argument) else {
            self.error(&SqlError::new(1043, "Bad handshake"));
            return Err(io::ErrorKind::InvalidData.into());
        };
        match self.wire.let_in(&login, &self.door)? {
            Ok(session) => {
                self.session = session;
                self.login = login;
                self.statements.clear();
                self.ok();
                Ok(())
            }
            Err(error) => {
                self.wire.part_with(&error)?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
        }
    }

    /// The columns of a table, for clients that complete names.
    fn field_list(&mut self, argument: &str) -> io::Result<()> {
        let table = argument.split('\0').next().unwrap_or_default();
        let sql = format!("SELECT * FROM `{}` LIMIT 0", table.replace('`', "``"));
        match self.settled(&sql)? {
            Settled::Rows(rows) => field_packets(&rows.columns, self.manner(false))
                .iter()
                .for_each(|packet| self.wire.packets.send(packet)),
            Settled::Err(error) => self.error(&error),
            Settled::Ok(_) => self.error(&SqlError::new(1047, "Unknown command")),
        }
        Ok(())
    }

    fn set_option(&mut self, argument: &[u8]) {
        const MULTI_STATEMENTS_ON: u16 = 0;
        const MULTI_STATEMENTS_OFF: u16 = 1;
        self.multi_statements = match Fields::of(argument).u16() {
            Some(MULTI_STATEMENTS_ON) => true,
            Some(MULTI_STATEMENTS_OFF) => false,
            _ => return self.error(&SqlError::new(1047, "Unknown command")),
        };
        let packet = eof_packet(0, self.manner(false));
        self.wire.packets.send(&packet);
    }

    fn prepare(&mut self, text: &str) {
        let manner = self.manner(false);
        let (id, prepared) = self.statements.prepare(text);
        for packet in prepared_packets(id, prepared, manner) {
            self.wire.packets.send(&packet);
        }
    }

    fn execute(&mut self, argument: &[u8]) -> io::Result<()> {
        let mut fields = Fields::of(argument);
        let id = fields.u32().unwrap_or(0);
        let Some(prepared) = self.statements.get(id) else {
            self.error(&unknown_statement(id, "mysqld_stmt_execute"));
            return Ok(());
        };
        match prepared.text(fields.rest()) {
            Some(sql) => self.answer(&sql, false, Form::Binary).map(drop),
            None => {
                let words = "Incorrect arguments to mysqld_stmt_execute";
                self.error(&SqlError::new(1210, words));
                Ok(())
            }
        }
    }

    fn send_long_data(&mut self, argument: &[u8]) {
        let mut fields = Fields::of(argument);
        let (Some(id), Some(parameter)) = (fields.u32(), fields.u16()) else {
            return;
        };
        if let Some(prepared) = self.statements.get(id) {
            prepared.add_long(parameter, fields.rest());
        }
    }

    fn reset_statement(&mut self, argument: &[u8]) {
        let id = Fields::of(argument).u32().unwrap_or(0);
        match self.statements.get(id) {
            Some(prepared) => {
                prepared.forget_long();
                self.ok();
            }
            None => self.error(&unknown_statement(id, "mysqld_stmt_reset")),
        }
    }
}

/// How rows travel.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Binary,
}

/// An answer that waits for nothing any more.
enum Settled {
    Ok(Done),
    Rows(Rows),
    Err(SqlError),
}

enum Outcome {
    Answered,
    Failed,
}

/// The commands of the protocol that are understood.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Command {
    Quit,
    InitDb,
    Query,
    FieldList,
    Statistics,
    ProcessInfo,
    ProcessKill,
    Ping,
    ChangeUser,
    StmtPrepare,
    StmtExecute,
    StmtSendLongData,
    StmtClose,
    StmtReset,
    SetOption,
    ResetConnection,
    Unknown,
}

impl Command {
    fn of(kind: u8) -> Self {
        match kind {
            0x01 => Command::Quit,
            0x02 => Command::InitDb,
            0x03 => Command::Query,
            0x04 => Command::FieldList,
            0x09 => Command::Statistics,
            0x0a => Command::ProcessInfo,
            0x0c => Command::ProcessKill,
            0x0e => Command::Ping,
            0x11 => Command::ChangeUser,
            0x16 => Command::StmtPrepare,
            0x17 => Command::StmtExecute,
            0x18 => Command::StmtSendLongData,
            0x19 => Command::StmtClose,
            0x1a => Command::StmtReset,
            0x1b => Command::SetOption,
            0x1f => Command::ResetConnection,
            _ => Command::Unknown,
        }
    }
}
