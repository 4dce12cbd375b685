//! Finds the user's own file.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variable that names the user's own file.
pub const CONFIG_VARIABLE: &str = "PHALANX_CONFIG";

/// The user's own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFile {
    /// Its path.
    pub path: PathBuf,
    /// True if the variable names it; then it must be there.
    pub is_named: bool,
}

impl UserFile {
    /// Finds the file: the one that `PHALANX_CONFIG` names, else `config.toml` in the user's
    /// folder of settings; `None` for users without a home.
    pub fn find() -> Option<Self> {
        Self::of(std::env::var_os(CONFIG_VARIABLE), folder())
    }

    fn of(named: Option<OsString>, folder: Option<PathBuf>) -> Option<Self> {
        if let Some(path) = named.filter(|path| !path.is_empty()) {
            return Some(Self {
                path: path.into(),
                is_named: true,
            });
        }
        folder.map(|folder| Self {
            path: folder.join("config.toml"),
            is_named: false,
        })
    }
}

fn folder() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "phalanx")?;
    Some(folders.config_dir().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_over_the_users_folder() {
        let folder = || Some(PathBuf::from("/home/a/.config/phalanx"));
        let found = UserFile::of(None, folder()).unwrap();
        assert_eq!(
            found.path,
            PathBuf::from("/home/a/.config/phalanx/config.toml")
        );
        assert!(!found.is_named);
        let found = UserFile::of(Some("mine.toml".into()), folder()).unwrap();
        assert_eq!((found.path, found.is_named), ("mine.toml".into(), true));
        assert!(!UserFile::of(Some("".into()), folder()).unwrap().is_named);
        assert_eq!(UserFile::of(None, None), None);
    }
}
