//! Packets and what they are made of: frames with sequence numbers, and the protocol's integers and strings.
//!
//! Generic over the stream, so that a TLS stream can take the place of the socket.

use std::io::{self, Read, Write};

/// A payload of this size or more travels in several frames; one of exactly this size is followed by an empty frame.
const FRAME_MAX: usize = 0xff_ffff;

/// What a real server allows by default, from MySQL 8.0 on.
pub const MAX_ALLOWED_PACKET: usize = 64 << 20;

/// A stream cut into packets. Sent packets wait in memory until [`Packets::flush`] or the next [`Packets::read`].
pub struct Packets<S> {
    stream: S,
    sequence: u8,
    outgoing: Vec<u8>,
    longest: usize,
}

/// A packet was longer than [`Packets::read_at_most`] says, and is gone.
#[derive(Debug)]
pub struct TooLong;

impl TooLong {
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<TooLong>())
    }
}

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("packet bigger than max_allowed_packet")
    }
}

impl std::error::Error for TooLong {}

impl<S: Read + Write> Packets<S> {
    pub fn new(stream: S) -> Self {
        Packets {
            stream,
            sequence: 0,
            outgoing: Vec::new(),
            longest: MAX_ALLOWED_PACKET,
        }
    }

    /// From here on, packets of more bytes are not read.
    pub fn read_at_most(&mut self, longest: usize) {
        self.longest = longest;
    }

    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// What was sent so far goes out first.
    pub fn stream_mut(&mut self) -> io::Result<&mut S> {
        self.flush()?;
        Ok(&mut self.stream)
    }

    /// A new command begins: both sides count from zero again.
    pub fn start_exchange(&mut self) {
        self.sequence = 0;
    }

    pub fn read(&mut self) -> io::Result<Vec<u8>> {
        self.flush()?;
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header)?;
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            if header[3] != self.sequence {
                return Err(invalid("packets out of order"));
            }
            self.sequence = self.sequence.wrapping_add(1);
            if payload.len() + length > self.longest {
                self.skip(length)?;
                return Err(io::Error::new(io::ErrorKind::InvalidData, TooLong));
            }
            let start = payload.len();
            payload.resize(start + length, 0);
            self.stream.read_exact(&mut payload[start..])?;
            if length < FRAME_MAX {
                return Ok(payload);
            }
        }
    }

    /// Reads the rest of a packet away, from inside a frame with so many bytes left: a client that is still sending does
    /// not listen.
    fn skip(&mut self, mut left: usize) -> io::Result<()> {
        loop {
            io::copy(&mut (&mut self.stream).take(left as u64), &mut io::sink())?;
            if left < FRAME_MAX {
                return Ok(());
            }
            let mut header = [0; 4];
            self.stream.read_exact(&mut header)?;
            left = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            self.sequence = header[3].wrapping_add(1);
        }
    }

    pub fn send(&mut self, payload: &[u8]) {
        let mut rest = payload;
        loop {
            let (frame, after) = rest.split_at(rest.len().min(FRAME_MAX));
            self.outgoing
                .extend(&(frame.len() as u32).to_le_bytes()[..3]);
            self.outgoing.push(self.sequence);
            self.outgoing.extend(frame);
            self.sequence = self.sequence.wrapping_add(1);
            if frame.len() < FRAME_MAX {
                return;
            }
            rest = after;
        }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.outgoing)?;
        self.outgoing.clear();
        self.stream.flush()
    }

    /// Reads and forgets until the other side goes away.
    pub fn ignore_until_closed(&mut self) {
        let mut forgotten = [0; 4096];
        while matches!(self.stream.read(&mut forgotten), Ok(n) if n > 0) {}
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// A length-encoded integer.
pub fn put_int(out: &mut Vec<u8>, n: u64) {
    match n {
        0..=0xfa => out.push(n as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend(&n.to_le_bytes()[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend(&n.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend(n.to_le_bytes());
        }
    }
}

/// A string preceded by its length.
pub fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    put_int(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Reads a payload from front to back. Every step answers `None` when the payload is too short for it.
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub fn of(payload: &'a [u8]) -> Self {
        Fields(payload)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.bytes(1).map(|b| b[0])
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.bytes(2).map(|b| u16::from_le_bytes([b[0], b[1]]))
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.bytes(4)
            .and_then(|b| b.try_into().ok())
            .map(u32::from_le_bytes)
    }

    pub fn zero_terminated(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|b| *b == 0)?;
        let text = self.bytes(end)?;
        self.bytes(1)?;
        Some(text)
    }

    /// A length-encoded integer.
    pub fn int(&mut self) -> Option<u64> {
        let width = match self.u8()? {
            small @ 0..=0xfa => return Some(small.into()),
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            _ => return None,
        };
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(self.bytes(width)?);
        Some(u64::from_le_bytes(wide))
    }

    /// Bytes preceded by their number in one byte.
    pub fn sized(&mut self) -> Option<&'a [u8]> {
        let length = self.u8()?;
        self.bytes(length.into())
    }

    /// Whatever is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// A string preceded by its length.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.int()?;
        self.bytes(usize::try_from(length).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn integers_survive_at_every_width() {
        for n in [
            0,
            0xfa,
            0xfb,
            0xff,
            0xffff,
            0x1_0000,
            0xff_ffff,
            0x100_0000,
            u64::MAX,
        ] {
            let mut bytes = Vec::new();
            put_int(&mut bytes, n);
            let mut fields = Fields::of(&bytes);
            assert_eq!((fields.int(), fields.is_empty()), (Some(n), true), "{n}");
        }
    }

    #[test]
    fn a_payload_that_ends_too_early_is_noticed() {
        assert_eq!(Fields::of(&[5, b'a', b'b']).string(), None);
        assert_eq!(Fields::of(b"no zero").zero_terminated(), None);
        assert_eq!(Fields::of(&[0xfd, 1, 2]).int(), None);
        assert_eq!(Fields::of(&[0xfb]).int(), None);
    }

    #[test]
    fn payloads_around_sixteen_mebibytes_are_split_and_joined() {
        for length in [0, 1, FRAME_MAX - 1, FRAME_MAX, FRAME_MAX + 1, 2 * FRAME_MAX] {
            let payload = vec![7; length];
            let mut sender = Packets::new(Cursor::new(Vec::new()));
            sender.send(&payload);
            sender.flush().unwrap();
            let frames = sender.stream.into_inner();
            assert_eq!(frames.len(), length + 4 * (length / FRAME_MAX + 1));
            let mut receiver = Packets::new(Cursor::new(frames));
            assert!(receiver.read().unwrap() == payload, "{length}");
        }
    }

    #[test]
    fn a_packet_that_is_too_long_is_read_away_whole() {
        let mut sender = Packets::new(Cursor::new(Vec::new()));
        sender.send(&vec![7; FRAME_MAX + 5]);
        sender.send(b"next");
        sender.flush().unwrap();
        let mut receiver = Packets::new(Cursor::new(sender.stream.into_inner()));
        receiver.read_at_most(1000);
        let error = receiver.read().unwrap_err();
        assert!(TooLong::is(&error), "{error}");
        assert_eq!(receiver.read().unwrap(), b"next");
    }

    #[test]
    fn a_packet_out_of_order_is_refused() {
        let mut packets = Packets::new(Cursor::new(vec![1, 0, 0, 3, 0x0e]));
        assert_eq!(
            packets.read().unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
