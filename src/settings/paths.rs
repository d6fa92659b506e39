//! Where our files live.

use directories::ProjectDirs;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Set, it is the one folder for everything: for a portable installation, and for tests.
pub const CONFIG_DIR_VARIABLE: &str = "REPLICASCOPE_CONFIG_DIR";

/// The folder of profiles and preferences; None when the system names no home for this user.
pub fn config_dir() -> Option<PathBuf> {
    overridden(std::env::var_os(CONFIG_DIR_VARIABLE))
        .or_else(|| project().map(|p| p.config_dir().to_owned()))
}

/// The folder of history and recordings.
pub fn data_dir() -> Option<PathBuf> {
    overridden(std::env::var_os(CONFIG_DIR_VARIABLE))
        .or_else(|| project().map(|p| p.data_dir().to_owned()))
}

pub fn profiles_file(config_dir: &Path) -> PathBuf {
    config_dir.join("profiles.toml")
}

pub fn preferences_file(config_dir: &Path) -> PathBuf {
    config_dir.join("preferences.toml")
}

fn project() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "replicascope")
}

fn overridden(variable: Option<OsString>) -> Option<PathBuf> {
    variable.filter(|v| !v.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_does_not_put_files_into_the_current_folder() {
        assert_eq!(overridden(Some("".into())), None);
        assert_eq!(overridden(Some("/x".into())), Some("/x".into()));
        assert_eq!(overridden(None), None);
    }
}
