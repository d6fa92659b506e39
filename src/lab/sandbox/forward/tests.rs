use std::io::{Read, Write};

use super::*;
use crate::model::time::Span;

/// A source that sends back what it gets, and whoever has connected to it.
struct Echo {
    port: u16,
    link: Forward,
}

fn echo() -> Echo {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut from = stream.try_clone().expect("a stream");
                let _ = io::copy(&mut from, &mut &stream);
                let _ = stream.shutdown(Shutdown::Both);
            });
        }
    });
    let link = Forward::to(port, "test").expect("a link");
    Echo { port, link }
}

impl Echo {
    fn connect(&self) -> TcpStream {
        let stream =
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.link.port())).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a stream");
        stream
    }
}

/// For what follows by itself, on a machine that does other things too.
const SOON: Duration = Duration::from_secs(20);

/// How long the echo of so many bytes takes.
fn round_trip(mut stream: &TcpStream, bytes: usize) -> Duration {
    let sent: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
    let started = Instant::now();
    let reading = stream.try_clone().expect("a stream");
    let reader = thread::spawn(move || {
        let mut came = vec![0; bytes];
        (&reading).read_exact(&mut came).map(|()| came)
    });
    stream.write_all(&sent).expect("a writable stream");
    let came = reader.join().expect("no panic").expect("an echo");
    assert!(came == sent, "the bytes changed on the way");
    started.elapsed()
}

fn is_silent(mut stream: &TcpStream, during: Duration) -> bool {
    stream.set_read_timeout(Some(during)).expect("a stream");
    let read = stream.read(&mut [0; 1]);
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a stream");
    read.is_err_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        )
    })
}

const CUT: LinkQuality = LinkQuality {
    latency: Span::ZERO,
    bytes_per_second: None,
    is_cut: true,
};

#[test]
fn a_whole_link_carries_much_quickly_and_unchanged() {
    let echo = echo();
    let stream = echo.connect();
    assert!(round_trip(&stream, 20_000_000) < SOON);
}

#[test]
fn latency_delays_each_way_and_not_the_amount() {
    let echo = echo();
    let stream = echo.connect();
    echo.link.set(LinkQuality {
        latency: Span::from_millis(150),
        ..LinkQuality::default()
    });
    let one = round_trip(&stream, 1);
    assert!(
        one >= Duration::from_millis(300) && one < Duration::from_secs(3),
        "{one:?}"
    );
    // A megabyte is under way at once: chunk after chunk it would take nine seconds each way.
    let many = round_trip(&stream, 1_000_000);
    assert!(
        many >= Duration::from_millis(300) && many < Duration::from_secs(9),
        "{many:?}"
    );
}

#[test]
fn a_narrow_link_takes_its_time() {
    let echo = echo();
    let stream = echo.connect();
    echo.link.set(LinkQuality {
        bytes_per_second: Some(10_000.0),
        ..LinkQuality::default()
    });
    let took = round_trip(&stream, 10_000);
    assert!(took > Duration::from_millis(800) && took < SOON, "{took:?}");
    echo.link.set(LinkQuality::default());
    // A busy machine makes one slow, and not each of them.
    assert!((0..5).any(|_| round_trip(&stream, 10_000) < Duration::from_millis(500)));
}

#[test]
fn a_cut_link_says_nothing_and_what_it_held_arrives_when_it_is_mended() {
    let echo = echo();
    let before = echo.connect();
    round_trip(&before, 10);
    echo.link.set(CUT);
    (&before)
        .write_all(b"held")
        .expect("the cable is pulled, not the plug");
    let during = echo.connect();
    (&during)
        .write_all(b"held")
        .expect("a connection of its own machine");
    assert!(is_silent(&before, Duration::from_millis(300)));
    assert!(is_silent(&during, Duration::from_millis(300)));
    echo.link.set(LinkQuality::default());
    for mut stream in [&before, &during] {
        let mut came = [0; 4];
        stream.read_exact(&mut came).expect("what was held");
        assert_eq!(&came, b"held");
    }
}

#[test]
fn a_connection_given_up_behind_a_cut_is_not_kept() {
    let echo = echo();
    echo.link.set(CUT);
    for _ in 0..20 {
        drop(echo.connect());
    }
    let threads = || Arc::strong_count(&echo.link.shared);
    let give_up_at = Instant::now() + SOON;
    while threads() > 2 {
        assert!(Instant::now() < give_up_at, "{} are left", threads());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_link_to_a_source_that_is_down_refuses_and_its_port_comes_back() {
    let echo = echo();
    let stream = echo.connect();
    round_trip(&stream, 10);
    echo.link.refuse();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, echo.link.port()));
    let is_refused = || TcpStream::connect(address).is_err();
    let give_up_at = Instant::now() + SOON;
    while !is_refused() {
        assert!(Instant::now() < give_up_at, "still accepted");
    }
    echo.link.accept_again();
    while is_refused() {
        assert!(Instant::now() < give_up_at, "still refused");
    }
    round_trip(&echo.connect(), 10);
    assert_ne!(echo.port, echo.link.port());
}

#[test]
fn an_ending_link_closes_all_and_leaves_no_thread_in_whatever_state() {
    for quality in [
        LinkQuality::default(),
        CUT,
        LinkQuality {
            latency: Span::from_secs(60),
            ..LinkQuality::default()
        },
        LinkQuality {
            bytes_per_second: Some(1.0),
            ..LinkQuality::default()
        },
    ] {
        let echo = echo();
        let stream = echo.connect();
        round_trip(&stream, 10);
        echo.link.set(quality);
        (&stream).write_all(&[0; 1000]).expect("a writable stream");
        let shared = Arc::downgrade(&echo.link.shared);
        let ending = Instant::now();
        drop(echo);
        assert!(ending.elapsed() < SOON, "{quality:?}");
        // Each thread holds the link by a share of its own.
        assert!(shared.upgrade().is_none(), "a thread is left: {quality:?}");
        assert!(matches!((&stream).read(&mut [0; 2000]), Ok(_) | Err(_)));
    }
}
