//! What is open while a lab runs, and what is left when it ends or its program is killed.

use std::collections::BTreeSet;

use super::*;

/// The addresses on which the processes of a folder listen, and our own, as the kernel writes them: in hexadecimal.
#[cfg(target_os = "linux")]
fn listening(folder: &Path) -> BTreeSet<String> {
    let ids = serving_from(folder).into_iter().chain([std::process::id()]);
    let open_files = ids.flat_map(|id| {
        fs::read_dir(format!("/proc/{id}/fd"))
            .expect("an own process")
            .flatten()
    });
    let sockets: BTreeSet<String> = open_files
        .filter_map(|file| fs::read_link(file.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|target| {
            Some(
                target
                    .strip_prefix("socket:[")?
                    .strip_suffix(']')?
                    .to_owned(),
            )
        })
        .collect();
    let table = |name| fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
    let rows = table("tcp") + &table("tcp6");
    const LISTENS: &str = "0A";
    rows.lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row.len() > 9 && row[3] == LISTENS && sockets.contains(row[9]))
        .map(|row| row[1].to_owned())
        .collect()
}

/// Processes whose command line names the folder.
#[cfg(target_os = "linux")]
fn serving_from(folder: &Path) -> Vec<u32> {
    let wanted = format!("--defaults-file={}", folder.display());
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|id| {
            let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line)
                .split('\0')
                .any(|part| part.starts_with(&wanted))
        })
        .collect()
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_listens_beyond_loopback_and_no_password_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    for flavour in [MYSQL, MARIADB] {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let place = Place {
            cache: Some(cache.path().to_owned()),
            ..place(flavour)
        };
        let lab =
            Sandbox::start(&plan(flavour, Shape::Fan, 1), &place, &Watch::NOBODY).expect("a lab");
        let folder = runs(cache.path()).remove(0);
        let open = listening(&folder);
        assert!(open.len() >= 3, "two servers and a link: {open:?}");
        assert!(
            open.iter().all(|address| address.starts_with("0100007F:")),
            "{open:?}"
        );

        let mode = fs::metadata(&folder)
            .expect("a folder")
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        let accounts = lab.accounts();
        for account in [&accounts.admin, &accounts.watcher, &accounts.app] {
            for id in serving_from(&folder) {
                let line = fs::read(format!("/proc/{id}/cmdline")).expect("a command line");
                assert!(!String::from_utf8_lossy(&line).contains(account.password.expose()));
            }
            for server in ["0", "1"] {
                for file in fs::read_dir(folder.join(server))
                    .expect("a folder")
                    .flatten()
                {
                    let text = fs::read(file.path()).unwrap_or_default();
                    let shown = String::from_utf8_lossy(&text).contains(account.password.expose());
                    assert!(!shown, "{}", file.path().display());
                }
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_left_when_a_lab_ends() {
    for flavour in [MYSQL, MARIADB] {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let place = Place {
            cache: Some(cache.path().to_owned()),
            ..place(flavour)
        };
        let mut lab =
            Sandbox::start(&plan(flavour, Shape::Fan, 2), &place, &Watch::NOBODY).expect("a lab");
        let folder = runs(cache.path()).remove(0);
        assert_eq!(serving_from(&folder).len(), 3);
        let ports: Vec<u16> = lab
            .nodes()
            .iter()
            .map(|node| node.port)
            .chain([lab.link_port(1, 0).expect("a link")])
            .collect();
        let ending = Instant::now();
        drop(lab);
        let took = ending.elapsed();
        eprintln!("{flavour:?} ended in {:.2} s", took.as_secs_f64());
        assert!(took < Duration::from_secs(15), "{took:?}");
        assert_eq!(serving_from(&folder), Vec::<u32>::new());
        assert_eq!(runs(cache.path()), Vec::<PathBuf>::new());
        for port in ports {
            assert!(
                std::net::TcpStream::connect(("127.0.0.1", port)).is_err(),
                "{port} is open"
            );
        }
    }
}

/// Not a test of its own: the process that the next one kills.
#[test]
#[ignore = "started by another test, to be killed"]
fn a_process_with_a_lab() {
    let set = |name| std::env::var_os(name).map(PathBuf::from);
    let place = Place {
        program: set("LAB_PROGRAM"),
        cache: set("LAB_CACHE"),
    };
    let _lab = Sandbox::start(&plan(MARIADB, Shape::Fan, 1), &place, &Watch::NOBODY)
        .unwrap_or_else(|trouble| panic!("{trouble:#?}"));
    fs::write(set("LAB_READY").expect("set by the test"), "").expect("a writable folder");
    loop {
        std::thread::park();
    }
}

/// The process above, with these variables; returns when its lab runs.
#[cfg(target_os = "linux")]
fn process_with_a_lab(ready: &Path, variables: &[(&str, &Path)]) -> std::process::Child {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this test"));
    command.args([
        "--ignored",
        "--exact",
        "leftovers::a_process_with_a_lab",
        "--nocapture",
    ]);
    command
        .env("LAB_READY", ready)
        .envs(variables.iter().copied());
    let mut child = command.spawn().expect("this test can be started again");
    wait_for(
        "the lab of the other process",
        Duration::from_secs(60),
        || {
            assert!(matches!(child.try_wait(), Ok(None)), "it ended");
            fs::metadata(ready)
                .map(drop)
                .map_err(|error| error.to_string())
        },
    );
    child
}

#[cfg(target_os = "linux")]
fn start_and_kill_a_process_with_a_lab(cache: &Path, program: &Path) -> PathBuf {
    let variables = [("LAB_CACHE", cache), ("LAB_PROGRAM", program)];
    let mut child = process_with_a_lab(&cache.join("ready"), &variables);
    let folder = runs(cache).remove(0);
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    folder
}

#[test]
#[cfg(target_os = "linux")]
fn servers_do_not_outlive_a_killed_program_and_the_sweep_takes_the_rest() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let neighbour = start(MARIADB, Shape::Fan, 0);
    let folder = start_and_kill_a_process_with_a_lab(cache.path(), &installed(MARIADB));
    wait_for("the kernel to end its servers", SOON, || {
        let left = serving_from(&folder);
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:?}"))
        }
    });
    assert!(folder.exists());
    let place = Place {
        program: None,
        cache: Some(cache.path().to_owned()),
    };
    sandbox::sweep(&place).expect("a sweep");
    assert_eq!(runs(cache.path()), Vec::<PathBuf>::new());
    assert!(neighbour.nodes()[0].is_up);
    assert_eq!(value(&neighbour, 0, "SELECT 1"), "1");
}

/// Behind a wrapper that does not `exec`, the kernel's request reaches the wrapper alone.
#[test]
#[cfg(target_os = "linux")]
fn a_server_behind_a_wrapper_is_swept_and_one_started_by_hand_is_not() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let wrapper = wrapper(
        &cache.path().join("mariadbd"),
        &format!(
            "#!/bin/sh\n'{}' \"$@\"\nexit $?\n",
            installed(MARIADB).display()
        ),
    );

    let folder = start_and_kill_a_process_with_a_lab(cache.path(), &wrapper);
    wait_for("the servers alone to be left over", SOON, || {
        let left = serving_from(&folder).len();
        if left == 2 {
            Ok(())
        } else {
            Err(left.to_string())
        }
    });
    let place = Place {
        program: None,
        cache: Some(cache.path().to_owned()),
    };

    // Somebody's own server in the same cache, on data that nobody writes meanwhile.
    let foreign = cache.path().join("runs/lab-of-somebody/0");
    fs::create_dir_all(&foreign).expect("a writable folder");
    copy_folder(&template(cache.path()), &foreign.join("data"));
    let options = format!(
        "[mysqld]\ndatadir={0}/data\nsocket=x.sock\npid-file={0}/pid\nskip-networking\nuser=root\nlog-error={0}/error.log\n",
        foreign.display()
    );
    fs::write(foreign.join("my.cnf"), options).expect("a writable folder");
    let mut by_hand = std::process::Command::new(installed(MARIADB))
        .arg(format!("--defaults-file={}/my.cnf", foreign.display()))
        .spawn()
        .expect("a server");
    wait_for("the server by hand", SOON, || {
        fs::metadata(foreign.join("pid"))
            .map(drop)
            .map_err(|e| e.to_string())
    });

    sandbox::sweep(&place).expect("a sweep");
    assert_eq!(serving_from(&folder), Vec::<u32>::new());
    assert!(!folder.exists());
    assert!(
        matches!(by_hand.try_wait(), Ok(None)),
        "it was started by hand"
    );
    assert!(foreign.join("data").exists());
    by_hand.kill().expect("a child of ours");
    by_hand.wait().expect("a child of ours");
    sandbox::sweep(&place).expect("a sweep");
    assert_eq!(runs(cache.path()), Vec::<PathBuf>::new());
}

/// The only one of a cache.
#[cfg(target_os = "linux")]
fn template(cache: &Path) -> PathBuf {
    let entries = fs::read_dir(cache.join("templates")).expect("a lab ran from here");
    let mut folders = entries.flatten().map(|entry| entry.path());
    folders.find(|path| path.is_dir()).expect("a template")
}

#[cfg(target_os = "linux")]
fn copy_folder(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([from, to])
        .status();
    assert!(copied.expect("cp is there").success());
}

/// A wrapper that does not `exec` is no reason for a server to be left, or to be taken for dead.
#[test]
#[cfg(target_os = "linux")]
fn a_lab_behind_such_a_wrapper_can_kill_restart_and_end() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let wrapper = wrapper(
        &cache.path().join("mysqld"),
        &format!(
            "#!/bin/sh\n'{}' \"$@\"\nexit $?\n",
            installed(MARIADB).display()
        ),
    );
    let place = Place {
        program: Some(wrapper),
        cache: Some(cache.path().to_owned()),
    };
    let mut lab =
        Sandbox::start(&plan(MARIADB, Shape::Fan, 1), &place, &Watch::NOBODY).expect("a lab");
    let folder = runs(cache.path()).remove(0);
    lab.kill(1).expect("a server of the lab");
    assert!(!lab.nodes()[1].is_up);
    lab.restart(1).expect("it comes back");
    assert_orders_travel(&lab, 0, &[1]);
    drop(lab);
    assert_eq!(serving_from(&folder), Vec::<u32>::new());
    assert_eq!(runs(cache.path()), Vec::<PathBuf>::new());
}

/// As AppArmor does on Ubuntu: the server may use the folder for temporary files, and none of the user's.
#[test]
#[cfg(target_os = "linux")]
fn a_server_that_is_kept_out_of_the_cache_is_kept_in_the_temporary_folder() {
    use std::os::unix::fs::PermissionsExt;
    let (cache, temporary) = (folder_for_test(), folder_for_test());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'{}'*) echo 'OS errno 13 - Permission denied'; exit 1 ;; esac\nexec '{}' \"$@\"\n",
        cache.path().display(),
        installed(MARIADB).display()
    );
    let program = wrapper(&temporary.path().join("mariadbd"), &script);
    let variables = [
        ("XDG_CACHE_HOME", cache.path()),
        ("TMPDIR", temporary.path()),
        ("LAB_PROGRAM", &program),
    ];
    let mut child = process_with_a_lab(&temporary.path().join("ready"), &variables);
    let kept = fs::read_dir(temporary.path()).expect("a folder").flatten();
    let kept: Vec<PathBuf> = kept
        .map(|entry| entry.path())
        .filter(|path| path.join("runs").is_dir())
        .collect();
    let folder = runs(&kept[0]).remove(0);
    assert_eq!(serving_from(&folder).len(), 2);
    let mode = fs::metadata(&kept[0])
        .expect("a folder")
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    assert_eq!(
        runs(&cache.path().join("replicascope/lab")),
        Vec::<PathBuf>::new()
    );
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    wait_for("the kernel to end its servers", SOON, || {
        let left = serving_from(&folder);
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:?}"))
        }
    });
}

fn folder_for_test() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}
