//! A screen without a monitor, and programs of ours with a window on it. Linux, with the package xvfb.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::eventually;

/// Of the screen.
pub const SIZE: [f32; 2] = [1280.0, 800.0];

const START_LIMIT: Duration = Duration::from_secs(20);
const END_LIMIT: Duration = Duration::from_secs(3);

/// Ends with this value.
pub struct Running(pub Child);

impl Running {
    /// False when it has ended already.
    pub fn signal(&self, signal: libc::c_int) -> bool {
        let id = libc::pid_t::try_from(self.0.id()).expect("the kernel's own process ids fit");
        // SAFETY: a plain system call; the child was not waited for, so the id is still its own.
        unsafe { libc::kill(id, signal) == 0 }
    }
}

impl Drop for Running {
    /// Asks politely, as Ctrl+C does, and insists after a while.
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.signal(libc::SIGTERM);
        }
        eventually(END_LIMIT, || !matches!(self.0.try_wait(), Ok(None)));
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An X server that keeps its picture in a file.
pub struct Screen {
    pub server: Running,
    pub display: String,
    picture: PathBuf,
}

impl Screen {
    pub fn start(folder: &Path) -> Self {
        let [width, height] = SIZE;
        let mut command = Command::new("Xvfb");
        command.args([
            "-displayfd",
            "1",
            "-nolisten",
            "tcp",
            "-noreset",
            "-screen",
            "0",
        ]);
        command
            .arg(format!("{width}x{height}x24"))
            .arg("-fbdir")
            .arg(folder);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let server = command.spawn().unwrap_or_else(|error| {
            panic!(
                "\n\n*** NO SCREEN: Xvfb does not start ({error}). Install the package xvfb. ***\n"
            )
        });
        let mut server = Running(server);
        let mut display = String::new();
        let output = server.0.stdout.take().expect("a piped stdout");
        BufReader::new(output)
            .read_line(&mut display)
            .expect("Xvfb names its display");
        Screen {
            server,
            display: format!(":{}", display.trim()),
            picture: folder.join("Xvfb_screen0"),
        }
    }

    /// Has the program open its window here, drawn in software.
    pub fn take(&self, program: &mut Command) {
        program
            .env("DISPLAY", &self.display)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET");
    }

    /// When there is more on the screen than a background: lettering alone has dozens of colours.
    pub fn first_picture(&self, program: &mut Child, started: Instant) -> Duration {
        const COLORS_OF_A_PICTURE: usize = 12;
        while started.elapsed() < START_LIMIT {
            let picture = fs::read(&self.picture).unwrap_or_default();
            let seen_after = started.elapsed();
            if colors(&picture) >= COLORS_OF_A_PICTURE {
                return seen_after;
            }
            if let Ok(Some(status)) = program.try_wait() {
                panic!("the window ended early: {status}");
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!(
            "nothing was drawn within {START_LIMIT:?} (Xvfb process {})",
            self.server.0.id()
        );
    }
}

/// Different colours in the window dump that Xvfb keeps, behind a header and a table that look like a few more.
fn colors(picture: &[u8]) -> usize {
    const HEADER_AND_TABLE: usize = 4096;
    let pixels = picture.get(HEADER_AND_TABLE..).unwrap_or_default();
    pixels
        .chunks_exact(4)
        .step_by(3)
        .collect::<HashSet<_>>()
        .len()
}
