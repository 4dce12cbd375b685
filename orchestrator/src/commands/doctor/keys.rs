//! Examination of the keys by which processes and views of other machines prove who they are.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use run::RunSpec;
use transport::{Authorized, KeyPair, ServerKeys};

use super::{Finding, State};
use crate::key_files::{keys_folder, user_folder};

/// Folder of the public keys that may connect, in the folder of keys.
const AUTHORIZED: &str = "authorized";

/// Examines the user's keys, and those that a run file names.
pub(super) fn keys(machine: &str, spec: &RunSpec) -> Finding {
    let folder = user_folder(keys_folder(&spec.security).as_deref());
    let place = folder.as_ref().map_or_else(
        || "no folder".to_owned(),
        |folder| folder.display().to_string(),
    );
    match count(spec, folder.as_deref()) {
        Ok(0) => {
            let text = format!("none in {place}: runs of this machine make their own");
            Finding::ok(machine, "keys", text)
        }
        Ok(count) => Finding::ok(machine, "keys", format!("{count} can be used, of {place}")),
        Err(error) => Finding::ok(machine, "keys", "one cannot be used")
            .worse(State::Problem, format!("{error:#}")),
    }
}

/// Reads all keys and returns their number.
fn count(spec: &RunSpec, folder: Option<&Path>) -> anyhow::Result<usize> {
    let mut files: Vec<PathBuf> = spec.security.key.iter().cloned().collect();
    let mut authorized = spec.security.authorized.clone();
    if let Some(folder) = folder.filter(|folder| folder.exists()) {
        files.extend(files_in(folder)?);
        authorized.push(folder.join(AUTHORIZED));
    }
    authorized.retain(|path| path.exists());
    let mut count = 0;
    for file in files {
        count += usize::from(is_key(&file)?);
    }
    if !authorized.is_empty() {
        count += Authorized::read(&authorized)?.len();
    }
    Ok(count)
}

/// Returns the files of a folder, in order.
fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

/// Reads a file of a key by its ending; returns whether it is one.
fn is_key(path: &Path) -> anyhow::Result<bool> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("key") => KeyPair::read(path).map(|_| true),
        Some("pub") => ServerKeys::read(path).map(|_| true),
        Some(_) | None => Ok(false),
    }
    .map_err(anyhow::Error::new)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Expects a state and a part of what is told of a folder.
    fn check(folder: &Path, state: State, part: &str) {
        let mut spec = RunSpec::default();
        spec.security.keys = Some(folder.to_owned());
        let finding = keys("here", &spec);
        let told = format!("{}{}", finding.text, finding.remedy.unwrap_or_default());
        assert_eq!(finding.state, state, "{told}");
        assert!(told.contains(part), "{told}");
    }

    #[test]
    fn keys_are_counted_and_the_first_that_cannot_be_used_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        check(path, State::Ok, "none in ");
        let key = KeyPair::generate().unwrap();
        key.write(path, "a", "primary", false).unwrap();
        fs::write(path.join("notes.txt"), "none").unwrap();
        check(path, State::Ok, "2 can be used");
        fs::write(path.join("b.pub"), "none").unwrap();
        check(path, State::Problem, "b.pub");
        fs::remove_file(path.join("b.pub")).unwrap();
        let open = fs::Permissions::from_mode(0o644);
        fs::set_permissions(path.join("a.key"), open).unwrap();
        check(path, State::Problem, "chmod 600");
    }
}
