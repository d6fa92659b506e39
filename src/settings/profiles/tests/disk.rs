//! Crashes, full disks, other instances and editors.

use super::*;

#[test]
fn a_file_changed_by_somebody_else_is_not_overwritten() {
    let dir = folder();
    let (mut mine, _) = load(dir.path());
    let (mut theirs, _) = load(dir.path());
    let mut other = shop();
    other.name = "Theirs".into();
    theirs.save(&[other.clone()]).unwrap();

    assert!(mine.changed_on_disk());
    assert!(matches!(
        mine.save(&[shop()]),
        Err(SaveError::Conflict { .. })
    ));
    assert_eq!(load(dir.path()).1.profiles, [other.clone()]);

    assert_eq!(mine.reload().unwrap().profiles, [other]);
    assert!(!mine.changed_on_disk());
    mine.save(&[shop()]).unwrap();
    assert!(
        !mine.changed_on_disk(),
        "our own saving is no change by somebody else"
    );
    assert!(theirs.changed_on_disk());
}

#[test]
fn saving_over_a_change_keeps_the_other_file() {
    let dir = folder_with(BY_HAND);
    let (mut store, _) = load(dir.path());
    fs::write(paths::profiles_file(dir.path()), "# theirs\n").unwrap();
    let notice = store.save_over_changes(&[shop()]).unwrap();
    assert_eq!(notice.map(|n| n.text.key), Some("settings.file.replaced"));
    assert_eq!(
        names_in(&dir),
        ["profiles.toml", "profiles.toml.replaced-1"]
    );
    let theirs = dir.path().join("profiles.toml.replaced-1");
    assert_eq!(fs::read_to_string(theirs).unwrap(), "# theirs\n");
    assert_eq!(load(dir.path()).1.profiles, [shop()]);
}

#[test]
fn a_file_only_touched_is_not_changed() {
    let dir = folder_with(BY_HAND);
    let (mut store, loaded) = load(dir.path());
    let file = fs::File::options().append(true).open(store.path()).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert!(!store.changed_on_disk());
    store.save(&loaded.profiles).unwrap();
}

#[test]
fn a_slip_while_editing_by_hand_is_told_once_and_nothing_is_touched() {
    let dir = folder_with(BY_HAND);
    let (mut store, loaded) = load(dir.path());
    let path = paths::profiles_file(dir.path());
    fs::write(&path, "[[topology]").unwrap();
    assert!(store.changed_on_disk());
    assert_eq!(
        store.reload().unwrap_err().text.key,
        "settings.file.damaged"
    );
    assert!(!store.changed_on_disk(), "told once");
    assert_eq!(names_in(&dir), ["profiles.toml"]);
    assert!(matches!(
        store.save(&loaded.profiles),
        Err(SaveError::Conflict { .. })
    ));

    fs::write(&path, BY_HAND.replace("Shop", "Mended")).unwrap();
    assert!(store.changed_on_disk());
    assert_eq!(store.reload().unwrap().profiles[0].name, "Mended");
}

#[test]
fn a_file_that_has_gone_is_written_again() {
    let dir = folder_with(BY_HAND);
    let (mut store, loaded) = load(dir.path());
    fs::remove_file(store.path()).unwrap();
    assert!(store.changed_on_disk());
    assert_eq!(store.reload().unwrap_err().text.key, "settings.file.gone");
    assert!(!store.changed_on_disk());
    store.save(&loaded.profiles).unwrap();
    assert_eq!(load(dir.path()).1.profiles, loaded.profiles);
}

#[test]
fn what_could_not_be_read_is_not_overwritten() {
    let dir = folder();
    fs::create_dir(paths::profiles_file(dir.path())).unwrap();
    let (mut store, loaded) = load(dir.path());
    assert_eq!(keys(&loaded.notices), ["settings.file.unreadable"]);
    assert!(matches!(
        store.save(&[shop()]),
        Err(SaveError::NeverRead { .. })
    ));
}

#[test]
fn a_config_folder_that_cannot_be_made_is_told() {
    let dir = folder();
    fs::write(dir.path().join("config"), "a file").unwrap();
    let (mut store, _) = load(&dir.path().join("config"));
    assert!(store.save(&[shop()]).is_err());
    assert_eq!(
        fs::read_to_string(dir.path().join("config")).unwrap(),
        "a file"
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_where_the_file_lives_stays_a_link() {
    let dir = folder();
    let real = folder_with(BY_HAND);
    let link = paths::profiles_file(dir.path());
    std::os::unix::fs::symlink(paths::profiles_file(real.path()), &link).unwrap();
    let (mut store, _) = load(dir.path());
    store.save(&[shop()]).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(load(real.path()).1.profiles, [shop()]);
}

const CHILD_FOLDER: &str = "REPLICASCOPE_TEST_FULL_DISK";

/// The shell forbids the child to write a single byte, which fails where a full disk fails: in the middle of the new file.
#[cfg(unix)]
#[test]
fn when_the_disk_takes_no_more_the_old_file_stays_and_it_is_told() {
    let dir = folder_with(BY_HAND);
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "settings::profiles::tests::disk::child_that_may_not_write",
            "--exact",
            "--ignored",
        ])
        .env(CHILD_FOLDER, dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}"
    );
    assert_eq!(text_in(&dir), BY_HAND);
    assert_eq!(
        names_in(&dir),
        ["profiles.toml"],
        "no half of a file is left"
    );
}

#[test]
#[ignore = "started by the test before"]
fn child_that_may_not_write() {
    let Some(dir) = std::env::var_os(CHILD_FOLDER) else {
        return;
    };
    let (mut store, loaded) = load(Path::new(&dir));
    let error = store
        .save(&loaded.profiles)
        .expect_err("no byte can be written");
    assert_eq!(error.phrase().key, "settings.save.io");
    assert!(
        format!("{:?}", error.phrase()).contains("settings.io.too_large"),
        "{error:?}"
    );
    assert!(!store.changed_on_disk());
}

/// A program killed at any moment leaves a whole file, the old or the new, and the next one cleans up after it.
#[cfg(unix)]
#[test]
fn a_crash_while_saving_leaves_a_whole_file() {
    let dir = folder_with(BY_HAND);
    for round in 0..8 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "settings::profiles::tests::disk::child_that_saves_for_ever",
                "--exact",
                "--ignored",
            ])
            .env(CHILD_FOLDER, dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let (store, _) = load(dir.path());
        let started = std::time::Instant::now();
        while !store.changed_on_disk() && started.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let loaded = load(dir.path()).1;
        assert_eq!(loaded.notices, []);
        assert!(loaded.profiles[0].name.starts_with("Shop "), "{loaded:?}");
    }
    let (mut store, _) = load(dir.path());
    store.save(&[shop()]).unwrap();
    assert_eq!(names_in(&dir), ["profiles.toml"]);
}

#[test]
#[ignore = "started by the test before"]
fn child_that_saves_for_ever() {
    let Some(dir) = std::env::var_os(CHILD_FOLDER) else {
        return;
    };
    let (mut store, mut loaded) = load(Path::new(&dir));
    let started = std::time::Instant::now();
    for number in std::process::id().. {
        loaded.profiles[0].name = format!("Shop {number} {}", "x".repeat(number as usize % 5000));
        store.save(&loaded.profiles).unwrap();
        if started.elapsed().as_secs() > 30 {
            return;
        }
    }
}

/// Two instances saving at the same moment: each save is whole and whoever lost is told, so no save is silently undone.
#[test]
fn of_two_instances_saving_at_once_one_is_told() {
    let dir = folder();
    for _ in 0..50 {
        let stores = [load(dir.path()).0, load(dir.path()).0];
        let both = std::sync::Barrier::new(2);
        let saved: Vec<bool> = std::thread::scope(|scope| {
            let threads: Vec<_> = stores
                .into_iter()
                .map(|mut store| {
                    let both = &both;
                    scope.spawn(move || {
                        let mut mine = shop();
                        mine.name = fresh_topology_id("").0;
                        both.wait();
                        store.save(&[mine]).is_ok()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(saved.iter().filter(|s| **s).count(), 1, "{saved:?}");
    }
}
