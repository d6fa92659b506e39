//! The servers installed on this machine, for a lab of real ones.

use std::path::Path;

use crate::lab::sandbox::find;
use crate::model::phrase::Phrase;
use crate::model::server::Flavour;
use crate::ui::lab::board::FoundProgram;

/// The first usable one of each flavour, the program that the person showed us before all others. Asks each what it is:
/// that takes a moment.
pub fn installed(chosen: Option<&Path>) -> Vec<FoundProgram> {
    let programs = find::installed(chosen).into_iter();
    let found = programs.map(|program| FoundProgram {
        flavour: program.release.flavour,
        version: program.release.version.to_string(),
        path: program.path,
    });
    found.collect()
}

/// What is installed, and why the program that the person showed us is not among it.
pub struct Looked {
    pub found: Vec<FoundProgram>,
    pub useless: Option<Phrase>,
}

pub fn look(chosen: Option<&Path>) -> Looked {
    Looked {
        found: installed(chosen),
        useless: chosen.and_then(find::why_useless).map(|why| why.what),
    }
}

/// MySQL, unless only MariaDB is there.
pub fn installed_flavour() -> Flavour {
    let found = installed(None);
    found.first().map_or(Flavour::MySql, |first| first.flavour)
}

/// Of a program that a person named: what it says, else by its name.
pub fn flavour_of(path: &Path) -> Flavour {
    if let Some(found) = installed(Some(path)).first() {
        return found.flavour;
    }
    let name = path.file_name().map(|name| name.to_string_lossy());
    match name {
        Some(name) if name.contains("maria") => Flavour::MariaDb,
        _ => Flavour::MySql,
    }
}
