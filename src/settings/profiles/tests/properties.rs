//! Any profiles and any bytes.

use super::*;
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z #@:/?%\"'\\\\]{0,12}"]
}

fn path() -> impl Strategy<Value = PathBuf> {
    text().prop_map(PathBuf::from)
}

fn span() -> impl Strategy<Value = Span> {
    (0..=i64::MAX).prop_map(Span::from_micros)
}

fn account() -> impl Strategy<Value = Account> {
    let secret = prop_oneof![
        Just(SecretSource::Keychain),
        Just(SecretSource::Ask),
        Just(SecretSource::NotNeeded),
        text().prop_map(SecretSource::Env),
        path().prop_map(SecretSource::File),
    ];
    (text(), secret).prop_map(|(user, secret)| Account { user, secret })
}

fn tls() -> impl Strategy<Value = TlsSettings> {
    let mode = prop::sample::select(vec![
        TlsMode::Off,
        TlsMode::Required,
        TlsMode::VerifyCa,
        TlsMode::VerifyIdentity,
    ]);
    let file = || prop::option::of(path());
    (mode, file(), file(), file(), file()).prop_map(
        |(mode, ca, client_cert, client_key, server_public_key)| TlsSettings {
            mode,
            ca,
            client_cert,
            client_key,
            server_public_key,
        },
    )
}

fn thresholds() -> impl Strategy<Value = Thresholds> {
    (span(), span(), any::<u32>(), any::<u32>(), span(), span()).prop_map(|t| Thresholds {
        lag_warning: t.0,
        lag_critical: t.1,
        consecutive: t.2,
        clear_at_percent: t.3,
        long_transaction: t.4,
        clock_offset: t.5,
    })
}

fn heartbeat() -> impl Strategy<Value = HeartbeatTable> {
    let layout = prop_oneof![
        Just(HeartbeatLayout::Single),
        Just(HeartbeatLayout::Appended),
        (text(), prop::option::of(text())).prop_map(|(writer_column, pinned_writer)| {
            HeartbeatLayout::PerWriter {
                writer_column,
                pinned_writer,
            }
        }),
    ];
    let zone = prop::sample::select(vec![StampZone::Utc, StampZone::Local]);
    (
        text(),
        text(),
        text(),
        layout,
        zone,
        prop::option::of(span()),
    )
        .prop_map(|h| HeartbeatTable {
            schema: h.0,
            table: h.1,
            time_column: h.2,
            layout: h.3,
            zone: h.4,
            interval: h.5,
        })
}

fn server() -> impl Strategy<Value = ServerProfile> {
    let address = prop_oneof![
        (text(), any::<u16>()).prop_map(|(host, port)| Address::Tcp { host, port }),
        path().prop_map(|path| Address::Socket { path }),
    ];
    let role = prop::sample::select(vec![
        ExpectedRole::Auto,
        ExpectedRole::Source,
        ExpectedRole::Replica,
    ]);
    let optional = (
        prop::option::of(account()),
        prop::option::of(tls()),
        prop::option::of(thresholds()),
    );
    (
        text(),
        address,
        role,
        optional,
        prop::collection::vec(text(), 0..3),
    )
        .prop_map(
            |(name, address, role, (account, tls, thresholds), expected_channels)| ServerProfile {
                id: ServerId(String::new()),
                name,
                address,
                account,
                role,
                tls,
                thresholds,
                expected_channels,
            },
        )
}

/// Any profiles at all, sensible or not, with ids as the program makes them.
fn profiles() -> impl Strategy<Value = Vec<TopologyProfile>> {
    let optional = (
        prop::option::of(account()),
        prop::option::of(tls()),
        prop::option::of(heartbeat()),
    );
    let environment = prop::sample::select(Environment::ALL.to_vec());
    let servers = prop::collection::vec(server(), 0..3);
    let one = (
        text(),
        environment,
        servers,
        optional,
        thresholds(),
        (span(), span()),
        prop::sample::select(vec![WritePermission::Forbidden, WritePermission::Allowed]),
    )
        .prop_map(
            |(
                name,
                environment,
                mut servers,
                (account, tls, heartbeat),
                thresholds,
                (poll, mark),
                writes,
            )| {
                for server in &mut servers {
                    server.id = fresh_server_id(&server.name);
                }
                TopologyProfile {
                    id: fresh_topology_id(&name),
                    name,
                    environment,
                    servers,
                    account,
                    tls,
                    thresholds,
                    intervals: Intervals { poll, mark },
                    heartbeat,
                    writes,
                }
            },
        );
    prop::collection::vec(one, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_profiles_come_back_as_saved(profiles in profiles()) {
        let text = print(&profiles, &Kept::default()).expect("all of it is text");
        let (_, loaded) = parse(&text).expect("our own file is readable");
        prop_assert_eq!(loaded.profiles, profiles);
        prop_assert_eq!(loaded.notices, vec![]);
    }

    /// Cut anywhere, as by a crash of some other program, or with a byte changed.
    #[test]
    fn a_mangled_file_is_never_lost(
        profiles in profiles(),
        at: prop::sample::Index,
        byte: Option<u8>,
    ) {
        let mut bytes = print(&profiles, &Kept::default()).unwrap_or_default().into_bytes();
        let at = at.index(bytes.len());
        match byte {
            Some(byte) => bytes[at] = byte,
            None => bytes.truncate(at),
        }
        nothing_is_lost(&bytes)?;
    }

    #[test]
    fn any_bytes_at_all_are_never_lost(bytes: Vec<u8>, text in "(\\[\\[?topology\\]?\\]|[a-z]+ = |[\\[\\]{}'\"=,.0-9-]|\\n){0,60}") {
        nothing_is_lost(&bytes)?;
        nothing_is_lost(text.as_bytes())?;
        nothing_is_lost("[".repeat(10_000).as_bytes())?;
    }
}

#[test]
fn a_list_of_what_are_no_topologies_is_kept_too() {
    for list in [
        "[1, 'a', {name = 'A'}]",
        "[]",
        "[[1], {}]",
        "[{x = {}}, 1979-05-27]",
    ] {
        nothing_is_lost(format!("topology = {list}").as_bytes()).unwrap();
    }
}

/// Whatever the file holds: it is read without panic; if it is moved aside it is so unchanged; and saving what was read
/// gives a file that reads the same and still holds the topologies that could not be read.
fn nothing_is_lost(bytes: &[u8]) -> Result<(), TestCaseError> {
    let dir = folder_with(bytes);
    let (mut store, loaded) = load(dir.path());
    let aside = dir.path().join("profiles.toml.damaged-1");
    if aside.exists() {
        prop_assert_eq!(fs::read(&aside).unwrap(), bytes);
    } else {
        prop_assert_eq!(fs::read(store.path()).unwrap(), bytes);
    }
    let unreadable = store.kept.unreadable.clone();
    match store.save(&loaded.profiles) {
        Ok(()) => {
            let (again, reloaded) = load(dir.path());
            prop_assert_eq!(reloaded.profiles, loaded.profiles);
            prop_assert_eq!(again.kept.unreadable, unreadable);
        }
        Err(error) => prop_assert!(matches!(error, SaveError::Newer { .. }), "{error:?}"),
    }
    Ok(())
}
