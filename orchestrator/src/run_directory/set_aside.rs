//! Runs that can be resumed: they keep what they wrote when another run takes their name.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use run::check_run_name;
use serde_json::Value;

use super::{
    FoundRun, LAUNCH_FILE, RECORD_FILE, RunDirectory, RunDirectoryError, Runs, SPEC_FILE, at,
};
use crate::private_file::replace_private;

/// Time that the processes of a run have to end whose run daemon has gone.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time between looks at whether they have.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

impl Runs {
    /// Gives the run that has a name, and can be resumed, the first of the names `NAME-1`,
    /// `NAME-2`, ... that is free, with all that its files say of its folder. Returns that name;
    /// `None` when there is nothing to resume.
    ///
    /// # Errors
    /// Fails if the run is living, its processes do not end, or the system refuses.
    pub(super) fn set_aside(&self, name: &str) -> Result<Option<String>, RunDirectoryError> {
        let path = self.root.join(name);
        let Some(found) = FoundRun::read(path.clone()) else {
            return Ok(None);
        };
        if !found.is_resumable() {
            return Ok(None);
        }
        let held = RunDirectory::take(name, path.clone())?;
        if !found.workers_left(TIMEOUT).is_empty() {
            let name = name.to_owned();
            return Err(RunDirectoryError::Resumable { name });
        }
        let (new_name, new_path) = self.free_name(name)?;
        fs::rename(&path, &new_path).map_err(at(&path))?;
        name_after_folder(&new_path, name)?;
        drop(held);
        Ok(Some(new_name))
    }

    /// Returns the first name after this one that no folder has, with its folder.
    fn free_name(&self, name: &str) -> Result<(String, std::path::PathBuf), RunDirectoryError> {
        let mut number = 1_u64;
        loop {
            let next = format!("{name}-{number}");
            check_run_name(&next).map_err(|_| RunDirectoryError::Resumable {
                name: name.to_owned(),
            })?;
            let path = self.root.join(&next);
            if fs::symlink_metadata(&path).is_err() {
                return Ok((next, path));
            }
            number += 1;
        }
    }
}

impl FoundRun {
    /// Waits until no process of the run is left that could write into its folder, and returns
    /// those that are left after that time, with their ids.
    pub fn workers_left(&self, timeout: Duration) -> Vec<(String, u32)> {
        let end = Instant::now() + timeout;
        loop {
            let left = self.living_workers();
            if left.is_empty() || Instant::now() >= end {
                return left;
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

/// Puts the name of a run's folder, and its path, into the files of the run, which had this name
/// before. The record comes last: while it has the other name, this is to be done, as after a
/// crash.
///
/// # Errors
/// Fails if the system refuses.
pub(super) fn name_after_folder(path: &Path, before: &str) -> Result<(), RunDirectoryError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let old = path.with_file_name(before);
    for (file, names) in [
        (LAUNCH_FILE, "/plan/spec/run/name"),
        (SPEC_FILE, "/run/name"),
        (RECORD_FILE, "/name"),
    ] {
        let file = path.join(file);
        if file.is_file() {
            rename_in(&file, names, &name, [&old, path])?;
        }
    }
    Ok(())
}

/// Puts the new name of a run, and the new path of its folder, into one of its files.
fn rename_in(
    file: &Path,
    name_at: &str,
    name: &str,
    [old, new]: [&Path; 2],
) -> Result<(), RunDirectoryError> {
    let text = fs::read_to_string(file).map_err(at(file))?;
    // What cannot be read cannot be resumed either, and stays as it is.
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
        return Ok(());
    };
    move_paths(&mut value, &old.to_string_lossy(), &new.to_string_lossy());
    if let Some(known) = value.pointer_mut(name_at) {
        *known = name.into();
    }
    let text = format!("{value:#}\n");
    replace_private(file, &text).map_err(at(file))
}

/// Replaces a folder in all texts that are it, lie in it, or are the endpoint in it.
fn move_paths(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) => {
            let (scheme, path) = match text.strip_prefix("ipc://") {
                Some(path) => ("ipc://", path),
                None => ("", text.as_str()),
            };
            if let Some(rest) = path.strip_prefix(old)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                *text = format!("{scheme}{new}{rest}");
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| move_paths(value, old, new)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|value| move_paths(value, old, new)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_directory::RunRecord;
    use serde_json::json;

    #[test]
    fn a_run_whose_folder_was_renamed_before_a_crash_has_its_name_when_it_is_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("demo-1");
        fs::create_dir(&folder).unwrap();
        let old = root.path().join("demo");
        let record = RunRecord {
            name: "demo".to_owned(),
            pid: u32::MAX,
            endpoint: format!("ipc://{}", old.display()),
            world: "w.sdf".to_owned(),
            command: String::new(),
            started_unix_s: 0,
            workers: Vec::new(),
            ended: None,
        };
        let text = serde_json::to_string(&record).unwrap();
        fs::write(folder.join(RECORD_FILE), text).unwrap();
        let spec = json!({"run": {"name": "demo"}, "journal": old.join("journal")});
        fs::write(folder.join(SPEC_FILE), spec.to_string()).unwrap();
        let found = FoundRun::read(folder.clone()).unwrap();
        assert_eq!(found.record.name, "demo-1");
        assert_eq!(found.record.endpoint, format!("ipc://{}", folder.display()));
        let spec = fs::read_to_string(folder.join(SPEC_FILE)).unwrap();
        let spec: Value = serde_json::from_str(&spec).unwrap();
        let expected = json!({"run": {"name": "demo-1"}, "journal": folder.join("journal")});
        assert_eq!(spec, expected);
    }

    #[test]
    fn a_folder_is_moved_wherever_it_is_named() {
        let mut value = json!({
            "bind": "ipc:///r/demo",
            "other": "ipc:///r/demo-2",
            "files": ["/r/demo", "/r/demo/journal", "/r/demonstration/journal", "/x/r/demo"],
            "count": 3,
        });
        move_paths(&mut value, "/r/demo", "/r/demo-1");
        let expected = json!({
            "bind": "ipc:///r/demo-1",
            "other": "ipc:///r/demo-2",
            "files": ["/r/demo-1", "/r/demo-1/journal", "/r/demonstration/journal", "/x/r/demo"],
            "count": 3,
        });
        assert_eq!(value, expected);
    }
}
