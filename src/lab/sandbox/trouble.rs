//! What can go wrong with real servers on this machine, for a person.

use std::io;
use std::path::Path;

use crate::model::lab::MOST_REAL_REPLICAS;
use crate::model::phrase::{Phrase, phrase};
use crate::model::trouble::{Trouble, TroubleKind, readable};

pub(super) fn trouble(kind: TroubleKind, what: Phrase, detail: impl AsRef<str>) -> Trouble {
    Trouble {
        kind,
        what,
        hint: None,
        code: None,
        detail: readable(detail.as_ref().as_bytes()),
    }
}

pub(super) fn with_hint(mut trouble: Trouble, hint: Phrase) -> Trouble {
    trouble.hint = Some(hint);
    trouble
}

/// A file or folder of the lab could not be read or written.
pub(super) fn file_trouble(path: &Path, error: &io::Error) -> Trouble {
    let what = phrase("lab.real.file").with("path", path.display().to_string());
    trouble(TroubleKind::QueryFailed, what, error.to_string())
}

pub(super) fn no_home() -> Trouble {
    let what = phrase("lab.real.no_cache");
    trouble(TroubleKind::Unsupported, what, "")
}

pub(super) fn too_many(replicas: u32) -> Trouble {
    let what = phrase("lab.real.too_many")
        .with("n", u64::from(replicas))
        .with("most", u64::from(MOST_REAL_REPLICAS));
    trouble(TroubleKind::Unsupported, what, "")
}

pub(super) fn stopped() -> Trouble {
    trouble(TroubleKind::Lost, phrase("lab.real.stopped"), "")
}

pub(super) fn no_such_server(number: usize) -> Trouble {
    let what = phrase("lab.real.no_such_server").with("number", number.to_string());
    trouble(TroubleKind::Unsupported, what, "")
}

/// The server's program ended, or never answered; `log` is the end of its error log.
pub(super) fn did_not_start(name: &str, log: &str) -> Trouble {
    let what = phrase("lab.real.did_not_start").with("server", name);
    explained(trouble(TroubleKind::Unreachable, what, log), log)
}

pub(super) fn does_not_answer(name: &str, log: &str) -> Trouble {
    let what = phrase("lab.real.does_not_answer").with("server", name);
    explained(trouble(TroubleKind::TimedOut, what, log), log)
}

pub(super) fn not_initialised(release: &str, log: &str) -> Trouble {
    let what = phrase("lab.real.not_initialised").with("release", release);
    explained(trouble(TroubleKind::QueryFailed, what, log), log)
}

pub(super) fn does_not_replicate(name: &str, detail: &str) -> Trouble {
    let what = phrase("lab.real.does_not_replicate").with("server", name);
    trouble(TroubleKind::TimedOut, what, detail)
}

const CONFINED: &str = "lab.real.hint.confined";

/// Distributions confine their packaged server to its own folders; the server then only says "permission denied".
fn explained(trouble: Trouble, log: &str) -> Trouble {
    let signs = [
        "Permission denied",
        "errno: 13",
        "OS errno 13",
        "error number 13",
    ];
    if signs.iter().any(|sign| log.contains(sign)) {
        return with_hint(trouble, phrase(CONFINED));
    }
    trouble
}

/// The server was kept out of a folder that is this user's own.
pub(super) fn is_confined(trouble: &Trouble) -> bool {
    trouble
        .hint
        .as_ref()
        .is_some_and(|hint| hint.key == CONFINED)
}
