//! One direction of one connection: what comes in is noted with its time, and let go as the link allows.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::Scope;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::Shared;

const CHUNK_BYTES: usize = 16 * 1024;
/// With [`CHUNK_BYTES`] what may be under way in one direction: 16 MiB. A sender that is faster has to wait, as at the
/// end of a real network's window.
const QUEUED_CHUNKS: usize = 1024;
/// A narrow link passes pieces that take this long each.
const PIECE_S: f64 = 0.05;

#[derive(Clone, Copy)]
pub(super) enum Direction {
    ToSource,
    ToReplica,
}

/// What came, and when. Empty: the sender closed.
struct Chunk {
    came_at: Instant,
    bytes: Vec<u8>,
}

/// Carries on two threads until either end closes, or the link ends.
pub(super) fn carry<'scope>(
    link: &'scope Shared,
    direction: Direction,
    (from, to): (&'scope TcpStream, &'scope TcpStream),
    scope: &'scope Scope<'scope, '_>,
) {
    let (queue, queued) = bounded(QUEUED_CHUNKS);
    scope.spawn(move || read(from, &queue));
    scope.spawn(move || link.write(direction, &queued, to));
}

/// Until the sender closes, or nobody takes what it sends.
fn read(mut from: &TcpStream, queue: &Sender<Chunk>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let count = from.read(&mut buffer).unwrap_or(0);
        let chunk = Chunk {
            came_at: Instant::now(),
            bytes: buffer[..count].to_vec(),
        };
        if queue.send(chunk).is_err() || count == 0 {
            return;
        }
    }
}

impl Shared {
    /// Lets go what comes out of the queue, when it may; closes both ways when it cannot.
    fn write(&self, direction: Direction, queued: &Receiver<Chunk>, mut to: &TcpStream) {
        for chunk in queued {
            if !self.wait_to_deliver(chunk.came_at) || chunk.bytes.is_empty() {
                break;
            }
            let mut rest = chunk.bytes.as_slice();
            while !rest.is_empty() {
                let Some(count) = self.wait_for_room(direction, rest.len()) else {
                    break;
                };
                let (piece, later) = rest.split_at(count);
                if to.write_all(piece).is_err() {
                    break;
                }
                rest = later;
            }
            if !rest.is_empty() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }

    /// Until the latency is over and the link whole; false when all is over.
    fn wait_to_deliver(&self, came_at: Instant) -> bool {
        let mut state = self.lock();
        loop {
            if state.has_ended {
                return false;
            }
            let due = came_at + state.quality.latency.to_duration();
            state = match due.checked_duration_since(Instant::now()) {
                _ if state.quality.is_cut => self.wait(state),
                Some(left) if !left.is_zero() => self.wait_at_most(state, left),
                _ => return true,
            };
        }
    }

    /// How many of so many bytes may go now, once any may; `None` when all is over.
    fn wait_for_room(&self, direction: Direction, bytes: usize) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.has_ended {
                return None;
            }
            if state.quality.is_cut {
                state = self.wait(state);
                continue;
            }
            let Some(rate) = state.quality.bytes_per_second else {
                state.free_at[direction as usize] = None;
                return Some(bytes);
            };
            let rate = rate.max(1.0);
            let now = Instant::now();
            let free_at = state.free_at[direction as usize].unwrap_or(now).max(now);
            if free_at > now {
                state = self.wait_at_most(state, free_at - now);
                continue;
            }
            let count = bytes.min((rate * PIECE_S).max(1.0) as usize);
            let takes = Duration::from_secs_f64(count as f64 / rate);
            state.free_at[direction as usize] = Some(now + takes);
            return Some(count);
        }
    }
}
