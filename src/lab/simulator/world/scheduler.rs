//! The event scheduler: what a server does by itself at set times.

use crate::model::time::{Moment, Span};

use super::commit::{Change, Origin};
use super::node::Node;
use super::queue::Event;
use super::transaction::Engine;
use super::wants::{SessionId, Until, Who, wants_of};
use super::{NodeId, World};

#[derive(Debug)]
pub(super) struct ScheduledEvent {
    number: u64,
    name: String,
    every: Span,
    is_enabled: bool,
    /// Ticks of another version are out of date.
    version: u64,
}

impl<E: Engine> World<E> {
    /// `CREATE EVENT … ON SCHEDULE EVERY`: the engine's [`Engine::run_event`] is called at each due time while the
    /// scheduler is on, the event enabled and the server not read-only (MySQL: `super_read_only`). Replaces one of the
    /// same name.
    pub fn schedule_event(&mut self, node: NodeId, name: &str, every: Span, is_enabled: bool) {
        self.drop_event(node, name);
        let number = self.next_number();
        self.nodes[node].events.push(ScheduledEvent {
            number,
            name: name.to_owned(),
            every: every.max(Span::from_millis(1)),
            is_enabled,
            version: 0,
        });
        self.restart_event(node, number);
    }

    pub fn enable_event(&mut self, node: NodeId, name: &str, is_enabled: bool) {
        let mut events = self.nodes[node].events.iter_mut();
        if let Some(event) = events.find(|e| e.name == name) {
            let number = event.number;
            event.is_enabled = is_enabled;
            self.restart_event(node, number);
        }
    }

    pub fn drop_event(&mut self, node: NodeId, name: &str) {
        self.nodes[node].events.retain(|e| e.name != name);
    }

    pub(super) fn restart_events(&mut self, node: NodeId) {
        let events = self.nodes[node].events.iter();
        let numbers: Vec<u64> = events.map(|e| e.number).collect();
        for number in numbers {
            self.restart_event(node, number);
        }
    }

    pub(super) fn on_tick(&mut self, node: NodeId, number: u64, version: u64) {
        let it = &self.nodes[node];
        let event = it.events.iter().find(|e| e.number == number);
        let Some(event) = event.filter(|e| e.version == version && it.is_up) else {
            return;
        };
        let (name, every) = (event.name.clone(), event.every);
        let tick = Event::Tick {
            node,
            event: number,
            version,
        };
        self.queue.put(self.now + every, tick);
        if may_write(it) {
            let session = Who::Session(session_of(number));
            // The last one is not committed yet.
            if self.nodes[node].locks.held_by(session).is_empty() {
                self.run_event(node, number, &name);
            }
        }
    }

    /// What cannot have its locks now is left out this time.
    fn run_event(&mut self, node: NodeId, number: u64, name: &str) {
        let now = self.now;
        let clock = self.nodes[node].clock(now);
        let Some(write) = self.engines[node].run_event(name, clock) else {
            return;
        };
        let session = session_of(number);
        let who = Who::Session(session);
        let wants = wants_of(&write.touches);
        let locks = &mut self.nodes[node].locks;
        if locks.ask(now, who, &wants, Until::TransactionEnds).is_err() {
            locks.stop_waiting(who);
            return;
        }
        self.submit(node, Origin::Event { session }, Change::Write(write));
    }

    /// Ticks at whole multiples of its interval, by the server's clock, as long as it is enabled.
    fn restart_event(&mut self, node: NodeId, number: u64) {
        let now = self.now;
        let it = &mut self.nodes[node];
        let scheduler_runs = it.settings.event_scheduler;
        let events = &mut it.events;
        let Some(event) = events.iter_mut().find(|e| e.number == number) else {
            return;
        };
        event.version += 1;
        if event.is_enabled && scheduler_runs {
            let tick = Event::Tick {
                node,
                event: number,
                version: event.version,
            };
            self.queue.put(next_multiple(now, event.every), tick);
        }
    }
}

/// Out of the way of the numbers that connections have.
fn session_of(event: u64) -> SessionId {
    (1 << 62) + event
}

fn may_write(node: &Node) -> bool {
    let mariadb = node.identity.generation.flavour().is_mariadb();
    let refuses = if mariadb {
        node.settings.read_only
    } else {
        node.settings.super_read_only
    };
    !refuses
}

fn next_multiple(now: Moment, every: Span) -> Moment {
    let passed = now.unix_micros().rem_euclid(every.micros());
    now + (every - Span::from_micros(passed))
}
