//! Starts that go wrong.

use super::*;

#[test]
#[cfg(unix)]
fn a_server_that_does_not_come_up_tells_its_last_words() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    // Initialises, but is told something that no server knows when it is to serve.
    let wrapper = wrapper(
        &cache.path().join("mariadbd"),
        &format!(
            "#!/bin/sh\ncase \"$1\" in --defaults-file=*) set -- \"$@\" --no-such-option ;; esac\nexec '{}' \"$@\"\n",
            installed(MARIADB).display()
        ),
    );
    let place = Place {
        program: Some(wrapper),
        cache: Some(cache.path().to_owned()),
    };
    let trouble = Sandbox::start(&plan(MARIADB, Shape::Fan, 1), &place, &Watch::NOBODY)
        .err()
        .expect("it cannot start");
    assert_eq!(trouble.what.key, "lab.real.did_not_start");
    assert!(
        trouble.detail.contains("no-such-option"),
        "{}",
        trouble.detail
    );
    assert_eq!(runs(cache.path()), Vec::<PathBuf>::new());
}

/// The other process is quicker once: the lab tries another port.
#[test]
#[cfg(unix)]
fn a_port_that_somebody_took_is_no_reason_not_to_start() {
    for flavour in [MYSQL, MARIADB] {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = taken.local_addr().expect("it is bound").port();
        let wrapper = wrapper(
            &cache.path().join("server"),
            &format!(
                "#!/bin/sh\ncase \"$1\" in --defaults-file=*) mkdir '{}/once' 2>/dev/null && set -- \"$@\" --port={port} ;; esac\nexec '{}' \"$@\"\n",
                cache.path().display(),
                installed(flavour).display()
            ),
        );
        let place = Place {
            program: Some(wrapper),
            cache: Some(shared_cache()),
        };
        let lab = Sandbox::start(&plan(flavour, Shape::Fan, 1), &place, &Watch::NOBODY)
            .unwrap_or_else(|trouble| panic!("{trouble:#?}"));
        assert!(
            cache.path().join("once").exists(),
            "the taken port was tried"
        );
        assert_orders_travel(&lab, 0, &[1]);
    }
}

#[test]
fn a_start_that_is_stopped_or_fails_leaves_nothing() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let place = Place {
        cache: Some(cache.path().to_owned()),
        ..place(MARIADB)
    };
    let said = std::sync::Mutex::new(Vec::new());
    let watch = Watch {
        say: &|phrase| said.lock().expect("nobody panics here").push(phrase.key),
        is_stopped: &|| {
            said.lock()
                .expect("nobody panics here")
                .contains(&"lab.real.starting")
        },
    };
    let result = Sandbox::start(&plan(MARIADB, Shape::Fan, 1), &place, &watch);
    assert_eq!(
        result.err().map(|trouble| trouble.what.key),
        Some("lab.real.stopped")
    );
    assert_eq!(runs(cache.path()), Vec::<PathBuf>::new());
    let said = said.into_inner().expect("nobody panics here");
    assert_eq!(
        said,
        [
            "lab.real.finding",
            "lab.real.initialising",
            "lab.real.starting"
        ]
    );
}
