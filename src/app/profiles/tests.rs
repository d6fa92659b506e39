use super::*;
use crate::model::profile::{Address, SecretOwner};
use crate::model::sample::FoundReplica;
use crate::model::trouble::{Trouble, TroubleKind};
use crate::ui::profiles::{SaveTrouble, TestOutcome, TestReport};
use std::fs;
use std::time::Instant;
use tempfile::TempDir;

/// Answers as a server would that knows one password.
fn knows_one_password(
    _: &TopologyProfile,
    server: &ServerProfile,
    secret: Option<&Secret>,
) -> Result<TestReport, Trouble> {
    match secret.map(Secret::expose) {
        Some("right #1") => Ok(TestReport {
            product: Product::from_text("9.7.4", ""),
            tls: None,
            questions: Vec::new(),
        }),
        _ => Err(Trouble {
            kind: TroubleKind::AccessDenied,
            what: phrase("desk.declined").with("server", server.label()),
            hint: None,
            code: Some(1045),
            detail: String::new(),
        }),
    }
}

fn desk_in(dir: &TempDir) -> ProfileDesk {
    let servers = ServerSide {
        test: knows_one_password,
        account_sql: |product, user, _| format!("{} {user}", product.version_text),
    };
    let (desk, _) =
        ProfileDesk::open(Some(dir.path().to_owned()), servers, Arc::new(|| {})).unwrap();
    desk
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn shop(source: SecretSource) -> TopologyProfile {
    let mut shop = TopologyProfile::new(TopologyId("shop".into()), "Shop");
    shop.account = Some(Account {
        user: "moni".into(),
        secret: source,
    });
    for (id, host) in [("a", "db1"), ("b", "db2")] {
        shop.servers.push(ServerProfile::new(
            ServerId(id.into()),
            Address::tcp(host, 3306),
        ));
    }
    shop
}

fn key() -> SecretKey {
    SecretKey {
        topology: TopologyId("shop".into()),
        owner: SecretOwner::Topology,
    }
}

/// Polls until an event answers the question.
fn until<R>(desk: &mut ProfileDesk, mut wanted: impl FnMut(&DeskEvent) -> Option<R>) -> R {
    let give_up_at = Instant::now() + Duration::from_secs(30);
    let mut seen = Vec::new();
    loop {
        for event in desk.poll() {
            if let Some(found) = wanted(&event) {
                return found;
            }
            seen.push(event);
        }
        assert!(
            Instant::now() < give_up_at,
            "never came; instead: {seen:#?}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn saved(event: &DeskEvent) -> Option<()> {
    matches!(event, DeskEvent::News(News::Saved { .. })).then_some(())
}

fn put(desk: &mut ProfileDesk, profile: TopologyProfile) {
    assert!(desk.perform(Action::SaveProfile(profile)).is_none());
    until(desk, saved);
}

#[test]
fn a_saved_profile_is_there_after_a_restart_and_no_password_is_in_any_file() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    let secret = Secret::new("geheim # @ : / ? % \" '".into());
    desk.perform(Action::KeepPassword {
        key: key(),
        secret,
        in_keychain: false,
    });
    put(&mut desk, shop(SecretSource::Ask));
    assert_eq!(desk.profiles(), [shop(SecretSource::Ask)]);
    drop(desk);
    assert_eq!(desk_in(&dir).profiles(), [shop(SecretSource::Ask)]);
    for file in fs::read_dir(dir.path()).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("geheim"), "{text}");
    }
}

#[test]
fn quitting_waits_for_the_save() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    desk.perform(Action::SaveProfile(shop(SecretSource::Ask)));
    drop(desk);
    assert_eq!(desk_in(&dir).profiles().len(), 1);
}

#[test]
fn what_is_to_be_watched_at_once_is_opened_when_it_is_saved() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    let id = TopologyId("shop".into());
    desk.perform(Action::SaveProfile(shop(SecretSource::Ask)));
    assert!(desk.perform(Action::Open(id.clone())).is_none());
    let opened = until(&mut desk, |e| match e {
        DeskEvent::Open(id) => Some(id.clone()),
        _ => None,
    });
    assert_eq!(opened, id);
    assert!(
        desk.perform(Action::Open(id)).is_some(),
        "nothing to wait for any more"
    );
}

#[test]
fn one_password_is_asked_for_once_and_goes_to_all_servers_of_its_account() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    put(&mut desk, shop(SecretSource::Ask));
    desk.resolve(&TopologyId("shop".into()));
    let question = until(&mut desk, |e| match e {
        DeskEvent::News(News::PasswordNeeded(question)) => Some(question.clone()),
        _ => None,
    });
    assert_eq!(
        (question.user.as_str(), question.servers.len()),
        ("moni", 2)
    );

    let secret = Secret::new("right #1".into());
    desk.perform(Action::KeepPassword {
        key: question.key,
        secret,
        in_keychain: false,
    });
    let ready: Vec<_> = desk
        .poll()
        .into_iter()
        .filter_map(|e| match e {
            DeskEvent::Ready { server, secret, .. } => {
                Some((server.0, secret?.expose().to_owned()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        ready,
        [
            ("a".into(), "right #1".into()),
            ("b".into(), "right #1".to_owned())
        ]
    );

    // and the next time nobody is asked
    desk.resolve(&TopologyId("shop".into()));
    assert_eq!(
        desk.poll()
            .iter()
            .filter(|e| matches!(e, DeskEvent::Ready { .. }))
            .count(),
        2
    );
}

#[test]
fn a_refused_password_is_asked_for_again_with_the_reason() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    put(&mut desk, shop(SecretSource::Ask));
    let secret = Secret::new("old".into());
    desk.perform(Action::KeepPassword {
        key: key(),
        secret,
        in_keychain: false,
    });
    let (topology, server) = (TopologyId("shop".into()), ServerId("a".into()));
    desk.refused(&topology, &server, phrase("desk.declined"));
    let why = until(&mut desk, |e| match e {
        DeskEvent::News(News::PasswordNeeded(question)) => Some(question.why.clone()),
        _ => None,
    });
    assert_eq!(why, Some(phrase("desk.declined")));
    desk.perform(Action::DeclinePassword(key()));
    let without = until(&mut desk, |e| match e {
        DeskEvent::NoPassword { server, .. } => Some(server.clone()),
        _ => None,
    });
    assert_eq!(without, server);
}

#[test]
fn a_password_file_is_read_without_asking_and_a_missing_one_is_told() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    let file = dir.path().join("pw");
    fs::write(&file, "from a file\n").unwrap();
    put(&mut desk, shop(SecretSource::File(file.clone())));
    desk.resolve(&TopologyId("shop".into()));
    let secret = until(&mut desk, |e| match e {
        DeskEvent::Ready { secret, .. } => secret.clone(),
        _ => None,
    });
    assert_eq!(secret.expose(), "from a file");

    fs::remove_file(file).unwrap();
    desk.poll();
    desk.resolve(&TopologyId("shop".into()));
    let why = until(&mut desk, |e| match e {
        DeskEvent::NoPassword { why, .. } => Some(why.key),
        _ => None,
    });
    assert_eq!(why, "secret.file.unreadable");
}

#[test]
fn a_test_tries_every_server_with_what_was_typed() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    let secret = Secret::new("right #1".into());
    desk.perform(Action::KeepPassword {
        key: key(),
        secret,
        in_keychain: false,
    });
    desk.perform(Action::TestProfile(shop(SecretSource::Ask)));
    let mut reached = BTreeSet::new();
    until(&mut desk, |e| {
        if let DeskEvent::News(News::Tested {
            server,
            outcome: TestOutcome::Reached(_),
            ..
        }) = e
        {
            reached.insert(server.0.clone());
        }
        (reached.len() == 2).then_some(())
    });
}

#[test]
fn a_test_without_a_password_does_not_try_an_empty_one() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    desk.perform(Action::TestProfile(shop(SecretSource::Ask)));
    let outcome = until(&mut desk, |e| match e {
        DeskEvent::News(News::Tested { outcome, .. }) => Some(outcome.clone()),
        _ => None,
    });
    assert_eq!(outcome, TestOutcome::NoPassword(None));
}

#[test]
fn a_change_by_somebody_else_is_a_conflict_then_seen_and_ours_can_still_win() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    put(&mut desk, shop(SecretSource::Ask));
    let mut other = desk_in(&dir);
    let mut theirs = shop(SecretSource::Ask);
    theirs.name = "Theirs".into();
    put(&mut other, theirs);

    let mut ours = shop(SecretSource::Ask);
    ours.name = "Ours".into();
    desk.perform(Action::SaveProfile(ours.clone()));
    let cause = until(&mut desk, |e| match e {
        DeskEvent::News(News::NotSaved { cause, .. }) => Some(*cause),
        _ => None,
    });
    assert_eq!(cause, SaveTrouble::Conflict);
    desk.perform(Action::SaveOverChanges(ours));
    let note = until(&mut desk, |e| match e {
        DeskEvent::News(News::Saved { note, .. }) => Some(note.clone()),
        _ => None,
    });
    assert_eq!(note.map(|n| n.key), Some("settings.file.replaced"));

    // the other program sees it by itself
    until(&mut other, |e| {
        matches!(e, DeskEvent::News(News::Reloaded)).then_some(())
    });
    assert_eq!(other.profiles()[0].name, "Ours");
}

#[test]
fn profiles_travel_by_file_and_a_file_is_not_replaced_unasked() {
    let (dir, elsewhere) = (folder(), folder());
    let mut desk = desk_in(&dir);
    put(&mut desk, shop(SecretSource::Keychain));
    let to = elsewhere.path().join("out.toml");
    let export = |desk: &mut ProfileDesk| {
        let topologies = vec![TopologyId("shop".into())];
        desk.perform(Action::ExportProfiles {
            topologies,
            to: to.clone(),
        });
        until(desk, |e| match e {
            DeskEvent::News(News::Exported { .. }) => Some(Ok(())),
            DeskEvent::News(News::NotExported(why)) => Some(Err(why.key)),
            _ => None,
        })
    };
    assert_eq!(export(&mut desk), Ok(()));
    assert_eq!(export(&mut desk), Err("desk.export_exists"));

    desk.perform(Action::ImportProfiles(to.clone()));
    let names = until(&mut desk, |e| match e {
        DeskEvent::News(News::Imported { names, .. }) => Some(names.clone()),
        _ => None,
    });
    assert_eq!(names, ["Shop"]);
    let ids: BTreeSet<_> = desk.profiles().iter().map(|p| p.id.clone()).collect();
    assert_eq!(
        ids.len(),
        2,
        "the imported one is filed under an id of its own"
    );
}

#[test]
fn a_found_replica_is_added_once_and_its_topology_is_watched_anew() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    put(&mut desk, shop(SecretSource::Ask));
    let found = || Action::AddFound {
        topology: TopologyId("shop".into()),
        server: FoundReplica {
            host: "db3".into(),
            port: Some(3307),
            server_id: None,
            uuid: None,
        },
    };
    desk.perform(found());
    desk.perform(found());
    let changed = until(&mut desk, |e| match e {
        DeskEvent::ProfilesChanged { changed, .. } if !changed.is_empty() => Some(changed.clone()),
        _ => None,
    });
    assert_eq!(changed, [TopologyId("shop".into())]);
    put(
        &mut desk,
        TopologyProfile::new(TopologyId("x".into()), "after both"),
    );
    assert_eq!(desk.profiles()[0].servers.len(), 3);
    assert_eq!(
        desk.profiles()[0].servers[2].address,
        Address::tcp("db3", 3307)
    );
}

#[test]
fn a_removed_topology_takes_its_passwords_with_it() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    let secret = Secret::new("x".into());
    desk.perform(Action::KeepPassword {
        key: key(),
        secret,
        in_keychain: false,
    });
    put(&mut desk, shop(SecretSource::Ask));
    desk.perform(Action::RemoveProfile(TopologyId("shop".into())));
    until(&mut desk, |e| match e {
        DeskEvent::ProfilesChanged { removed, .. } if !removed.is_empty() => Some(()),
        _ => None,
    });
    assert!(desk.session.get(&key()).is_none() && desk.profiles().is_empty());
}

#[test]
fn without_a_home_nothing_is_claimed_to_be_saved() {
    let servers = ServerSide {
        test: knows_one_password,
        account_sql: |_, _, _| String::new(),
    };
    let (mut desk, _) = ProfileDesk::open(None, servers, Arc::new(|| {})).unwrap();
    desk.perform(Action::SaveProfile(shop(SecretSource::Ask)));
    let why = until(&mut desk, |e| match e {
        DeskEvent::News(News::NotSaved { why, .. }) => Some(why.key),
        _ => None,
    });
    assert_eq!(why, "desk.no_home");
}

#[test]
fn the_account_is_described_for_each_flavour() {
    let dir = folder();
    let mut desk = desk_in(&dir);
    desk.perform(Action::DescribeAccount {
        user: "moni".into(),
        heartbeat: None,
    });
    let sql = until(&mut desk, |e| match e {
        DeskEvent::News(News::AccountSql(sql)) => Some(sql.clone()),
        _ => None,
    });
    assert_eq!(sql.len(), 4);
    assert_eq!(sql[0].1, "8.4.0 moni");
}
