//! Reporting to the program without ever hanging on it: a plain blocking send was seen to keep a thread alive for
//! ever when the program had stopped reading.

use crossbeam_channel::{Receiver, Sender, select};

use crate::link::clock;
use crate::model::event::{Event, What};
use crate::model::server::WatchId;

/// The program is gone, or has dropped this watch.
pub struct Closed;

/// The way of one thread to the program.
pub struct Reporter {
    pub watch: WatchId,
    pub events: Sender<Event>,
}

impl Reporter {
    /// Waits for room, but not longer than the thread is wanted. Orders that arrive meanwhile are kept in `held`.
    pub fn send<Order>(
        &self,
        what: What,
        orders: &Receiver<Order>,
        held: &mut Vec<Order>,
    ) -> Result<(), Closed> {
        let mut event = Event {
            watch: self.watch,
            at: clock::now(),
            what,
        };
        loop {
            match self.events.try_send(event) {
                Ok(()) => return Ok(()),
                Err(crossbeam_channel::TrySendError::Disconnected(_)) => return Err(Closed),
                Err(crossbeam_channel::TrySendError::Full(back)) => event = back,
            }
            select! {
                send(self.events, event.clone()) -> sent => return sent.map_err(|_| Closed),
                recv(orders) -> order => match order {
                    Ok(order) => held.push(order),
                    Err(_) => return Err(Closed),
                },
            }
        }
    }
}
