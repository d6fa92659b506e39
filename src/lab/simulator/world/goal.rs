//! START REPLICA UNTIL: where an applier stops by itself.

use crate::model::gtid::Gtids;

use super::World;
use super::applier::Applier;
use super::binlog::{Entry, Place};
use super::channel::Channel;
use super::gtids::{Book, Having};
use super::queue::ChannelKey;
use super::status::LogPosition;
use super::transaction::Engine;

/// What was said after UNTIL.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// Before the first transaction of the set.
    Before(Gtids),
    /// When all of the set is applied. MariaDB's `master_gtid_pos` too.
    After(Gtids),
    /// In the source's binary log; a transaction that has begun before it is carried out whole.
    Position(LogPosition),
}

impl<E: Engine> World<E> {
    /// Whether the applier may begin nothing more.
    pub(super) fn has_reached_goal(&self, key: ChannelKey, channel: &Channel) -> bool {
        let Some(goal) = &channel.applier.goal else {
            return false;
        };
        let book = &self.nodes[key.node].book;
        let next = channel.applier.queue.front().map(|relayed| &relayed.entry);
        match goal {
            Goal::Before(gtids) => {
                let before = Having::from(gtids);
                let comes_next = |entry: &Entry| before.has(&entry.transaction.gtid);
                next.is_some_and(comes_next) || book.executed.meets(&before)
            }
            Goal::After(gtids) => {
                with_those_in_hand(book, &channel.applier).contains(&gtids.into())
            }
            Goal::Position(position) => {
                let read = channel
                    .receiver
                    .has_connected()
                    .then_some(channel.receiver.read);
                let Some(begins) = next.map(|entry| entry.start).or(read) else {
                    return false;
                };
                let base = &channel.receiver.source_binlog_name;
                is_at_or_after(&self.place_text(base, begins), position, begins)
            }
        }
    }
}

/// File names are compared as servers do: by their number, which has as many digits in all.
fn is_at_or_after(begins: &LogPosition, goal: &LogPosition, place: Place) -> bool {
    place.file > 0 && (&begins.file, begins.position) >= (&goal.file, goal.position)
}

/// What is executed once the workers are done with what they have.
fn with_those_in_hand(book: &Book, applier: &Applier) -> Having {
    let mut all = book.executed.clone();
    for group in &applier.active {
        all.add(&group.relayed.entry.transaction.gtid);
    }
    all
}
