//! Makes running servers replicate, and waits until they do.

use std::thread;
use std::time::{Duration, Instant};

use crate::lab::schema;
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;

use super::release::Upstream;
use super::server::{ANSWER_LIMIT, Common, Server};
use super::shape;
use super::trouble::{does_not_replicate, stopped};

const CATCH_UP_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The servers of a lab while they are set up.
pub(super) struct Setup<'a> {
    pub common: &'a Common,
    pub servers: &'a [Server],
    pub is_stopped: &'a dyn Fn() -> bool,
}

impl Setup<'_> {
    /// `port` says where a replica reaches a source.
    pub fn replicate(&self, port: impl Fn(usize, usize) -> u16) -> Result<(), Trouble> {
        let mut hands = self.hands()?;
        for replica in self.servers {
            for source in &replica.part.copies_from {
                self.point(
                    &mut hands[replica.number],
                    replica,
                    *source,
                    port(replica.number, *source),
                )?;
            }
        }
        // Before the first write: a source that waits for nobody's acknowledgement waits its whole time-out.
        for source in self.servers {
            self.wait_until_acknowledged(source, &mut hands)?;
        }
        for source in self.sources() {
            for statement in schema::statements(source) {
                hands[source].run(&statement)?;
            }
            self.wait_until_applied(source, &mut hands)?;
        }
        for replica in self.servers {
            self.delay(&mut hands[replica.number], replica)?;
        }
        Ok(())
    }

    fn hands(&self) -> Result<Vec<Hand>, Trouble> {
        let admin = &self.common.accounts.people.admin;
        self.servers
            .iter()
            .map(|server| server.hand(admin, ANSWER_LIMIT))
            .collect()
    }

    fn sources(&self) -> impl Iterator<Item = usize> {
        self.servers
            .iter()
            .filter(|server| server.part.copies_from.is_empty())
            .map(|server| server.number)
    }

    fn point(
        &self,
        hand: &mut Hand,
        replica: &Server,
        source: usize,
        port: u16,
    ) -> Result<(), Trouble> {
        let release = &self.common.program.release;
        let channel = shape::channel(&replica.part.copies_from, source);
        let account = &self.common.accounts.replication;
        let upstream = Upstream {
            host: "127.0.0.1",
            port,
            user: account.user,
            password: account.password.expose(),
        };
        hand.run(&release.point(channel.as_deref(), &upstream))?;
        hand.run(&release.start_replica(channel.as_deref()))
    }

    fn wait_until_acknowledged(&self, source: &Server, hands: &mut [Hand]) -> Result<(), Trouble> {
        let copies = |server: &&Server| server.part.copies_from.contains(&source.number);
        let expected = self.servers.iter().filter(copies).count();
        if !self.common.semi_sync || expected == 0 {
            return Ok(());
        }
        let question = self.common.program.release.semi_sync_clients();
        self.wait(source, hands, |hands| {
            let rows = hands[source.number].rows(question)?;
            let counted = rows
                .first()
                .and_then(|row| row.get(1)?.as_deref()?.parse::<usize>().ok());
            Ok(counted == Some(expected))
        })
    }

    /// Everything a source has committed is on all who copy from it, directly or not.
    fn wait_until_applied(&self, source: usize, hands: &mut [Hand]) -> Result<(), Trouble> {
        let release = &self.common.program.release;
        let committed = hands[source]
            .value(release.committed())?
            .unwrap_or_default();
        let question = release.wait_for(&committed);
        for replica in self
            .servers
            .iter()
            .filter(|server| !server.part.copies_from.is_empty())
        {
            self.wait(replica, hands, |hands| {
                Ok(hands[replica.number].value(&question)?.as_deref() == Some("0"))
            })?;
        }
        Ok(())
    }

    /// Only now: being ready must not take as long as the delay.
    fn delay(&self, hand: &mut Hand, replica: &Server) -> Result<(), Trouble> {
        let seconds = replica.delay.micros() / 1_000_000;
        if seconds <= 0 {
            return Ok(());
        }
        let release = &self.common.program.release;
        hand.run(&release.stop_replica(None))?;
        hand.run(&release.set_delay(seconds))?;
        hand.run(&release.start_replica(None))
    }

    fn wait(
        &self,
        server: &Server,
        hands: &mut [Hand],
        mut is_so: impl FnMut(&mut [Hand]) -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        let give_up_at = Instant::now() + CATCH_UP_LIMIT;
        while !is_so(hands)? {
            if (self.is_stopped)() {
                return Err(stopped());
            }
            if Instant::now() > give_up_at {
                return Err(does_not_replicate(&server.name, &self.errors(hands)));
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// What the replicas say is wrong.
    fn errors(&self, hands: &mut [Hand]) -> String {
        let question = self.common.program.release.channels();
        let mut said = String::new();
        for server in self
            .servers
            .iter()
            .filter(|server| !server.part.copies_from.is_empty())
        {
            for row in hands[server.number]
                .named_rows(question)
                .unwrap_or_default()
            {
                let errors = row.into_iter().filter(|(name, _)| {
                    name.ends_with("_IO_Error") || name.ends_with("_SQL_Error")
                });
                for text in errors
                    .filter_map(|(_, text)| text)
                    .filter(|text| !text.is_empty())
                {
                    said += &format!("{}: {text}\n", server.name);
                }
            }
        }
        said
    }
}
