//! Work that knows no time limit of its own, bounded from outside: the look-up of a host name, which no limit of the
//! driver covers and which can take half a minute when the name server is away.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How a bounded piece of work ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Bounded<T> {
    Done(T),
    /// Not done within the limit; it goes on by itself and its result is thrown away.
    TooSlow,
}

/// Runs work on a helper thread, one at a time: while one that was given up still hangs, no further one is started, so
/// that threads do not pile up behind a dead name server.
#[derive(Clone, Debug, Default)]
pub struct Helper {
    busy: Arc<AtomicBool>,
}

impl Helper {
    pub fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Bounded<T> {
        if self.busy.swap(true, Ordering::AcqRel) {
            return Bounded::TooSlow;
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let busy = Busy(self.busy.clone());
        let started = thread::Builder::new()
            .name("replicascope-dial".into())
            .spawn(move || {
                let result = work();
                drop(busy);
                // Nobody listens any more when the limit ran out.
                let _ = sender.send(result);
            });
        match started {
            Ok(_) => receiver
                .recv_timeout(limit)
                .map_or(Bounded::TooSlow, Bounded::Done),
            Err(_) => Bounded::TooSlow,
        }
    }
}

/// Frees the helper again, also when the work panics.
struct Busy(Arc<AtomicBool>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The addresses of a host; at once for an address literal.
pub fn addresses(
    helper: &Helper,
    host: &str,
    port: u16,
    limit: Duration,
) -> Bounded<std::io::Result<Vec<SocketAddr>>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Bounded::Done(Ok(vec![SocketAddr::new(ip, port)]));
    }
    let name = host.to_owned();
    helper.run(limit, move || {
        (name.as_str(), port)
            .to_socket_addrs()
            .map(|found| found.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r37_a_look_up_that_hangs_is_given_up_and_not_piled_up() {
        let helper = Helper::default();
        let (release, hold) = mpsc::channel::<()>();
        let hung = helper.run(Duration::from_millis(20), move || {
            let _ = hold.recv();
        });
        assert_eq!(hung, Bounded::TooSlow);
        // While it hangs nothing else starts, and nobody waits for it.
        assert_eq!(helper.run(Duration::from_secs(60), || ()), Bounded::TooSlow);
        drop(release);
        while helper.busy.load(Ordering::Acquire) {
            thread::yield_now();
        }
        assert_eq!(helper.run(Duration::from_secs(60), || 7), Bounded::Done(7));
    }

    #[test]
    fn literals_need_no_look_up() {
        let helper = Helper {
            busy: Arc::new(AtomicBool::new(true)),
        };
        for (host, shown) in [
            ("127.0.0.1", "127.0.0.1:3306"),
            ("2abc::1", "[2abc::1]:3306"),
        ] {
            let Bounded::Done(Ok(found)) = addresses(&helper, host, 3306, Duration::ZERO) else {
                panic!("{host} is a literal");
            };
            assert_eq!(found[0].to_string(), shown);
        }
    }
}
