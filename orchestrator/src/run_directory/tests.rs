//! Tests of run directories.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn runs() -> (tempfile::TempDir, Runs) {
    let folder = tempfile::tempdir().unwrap();
    let runs = Runs::at(&folder.path().join("runs")).unwrap();
    (folder, runs)
}

fn record(directory: &RunDirectory, started_unix_s: u64) -> RunRecord {
    RunRecord {
        name: directory.name().to_owned(),
        pid: 1,
        endpoint: directory.endpoint().unwrap().to_string(),
        world: "ramp.sdf".to_owned(),
        command: String::new(),
        started_unix_s,
        workers: Vec::new(),
        ended: None,
    }
}

#[test]
fn a_run_has_a_folder_of_its_own_that_no_one_else_reads() {
    let (_folder, runs) = runs();
    let directory = runs.create(Some("a"), "x").unwrap();
    let mode = fs::metadata(directory.file(""))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(directory.logs().is_dir());
    assert!(directory.endpoint().unwrap().to_string().ends_with("/a"));
}

#[test]
fn the_name_of_a_living_run_is_refused() {
    let (_folder, runs) = runs();
    let first = runs.create(Some("a"), "x").unwrap();
    let error = runs.create(Some("a"), "x").unwrap_err();
    assert!(matches!(error, RunDirectoryError::Living { .. }), "{error}");
    drop(first);
    runs.create(Some("a"), "x").unwrap();
}

#[test]
fn a_name_used_again_starts_with_an_empty_folder() {
    let (_folder, runs) = runs();
    let first = runs.create(Some("a"), "x").unwrap();
    fs::write(first.summary(), "{}").unwrap();
    fs::write(first.logs().join("s1.log"), "old").unwrap();
    drop(first);
    let second = runs.create(Some("a"), "x").unwrap();
    assert!(!second.summary().exists());
    assert!(!second.logs().join("s1.log").exists());
}

#[test]
fn runs_without_a_name_are_numbered() {
    let (_folder, runs) = runs();
    let first = runs.create(None, "my world").unwrap();
    let second = runs.create(None, "my world").unwrap();
    assert_eq!((first.name(), second.name()), ("my_world-1", "my_world-2"));
}

#[test]
fn runs_are_listed_with_the_newest_first_and_whether_they_live() {
    let (_folder, runs) = runs();
    let old = runs.create(Some("old"), "x").unwrap();
    old.write_record(&record(&old, 1)).unwrap();
    drop(old);
    let new = runs.create(Some("new"), "x").unwrap();
    new.write_record(&record(&new, 2)).unwrap();
    let found: Vec<_> = runs.list().unwrap();
    let seen: Vec<_> = found
        .iter()
        .map(|run| (run.record.name.as_str(), run.is_living))
        .collect();
    assert_eq!(seen, [("new", true), ("old", false)]);
    assert_eq!(found[0].record, record(&new, 2));
}

#[test]
fn a_run_whose_folder_another_has_is_not_said_to_be_killed() {
    let (_folder, runs) = runs();
    let first = runs.create(Some("a"), "x").unwrap();
    first.write_record(&record(&first, 1)).unwrap();
    let found = runs.list().unwrap().remove(0);
    assert_eq!((found.end(), found.successor()), (None, None));
    drop(first);
    let cause = |found: &FoundRun| found.end().map(|ended| ended.reason.cause);
    assert!(cause(&found).unwrap().contains("was killed"));
    let second = runs.create(Some("a"), "x").unwrap();
    second.write_record(&record(&second, 2)).unwrap();
    assert!(cause(&found).unwrap().contains("another run"));
    let successor = found.successor().expect("another run has its folder");
    assert_eq!(successor.record.started_unix_s, 2);
    assert_eq!(cause(&successor), None);
}

fn set_age(runs: &Runs, name: &str, time: SystemTime) {
    let path = runs.root.join(name).join(LOCK_FILE);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn only_the_last_ended_runs_are_kept_and_living_ones_always() {
    let (_folder, runs) = runs();
    let living = runs.create(Some("living"), "x").unwrap();
    let dawn = SystemTime::UNIX_EPOCH;
    set_age(&runs, "living", dawn);
    for number in 0..ENDED_RUNS_MAX + 3 {
        let name = format!("ended{number}");
        runs.create(Some(&name), "x").unwrap();
        set_age(&runs, &name, dawn + Duration::from_secs(number as u64));
    }
    runs.create(Some("last"), "x").unwrap();
    assert!(living.file("").is_dir());
    let kept: Vec<usize> = (0..ENDED_RUNS_MAX + 3)
        .filter(|number| runs.root.join(format!("ended{number}")).is_dir())
        .collect();
    assert_eq!(kept, (3..ENDED_RUNS_MAX + 3).collect::<Vec<_>>());
}

#[test]
fn a_folder_that_others_may_write_to_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(
        Runs::at(&open),
        Err(RunDirectoryError::NotPrivate(_))
    ));
}

/// Makes files in a folder; returns what is in it, by name.
fn fill(path: &Path, names: &[&str]) -> Vec<String> {
    fs::create_dir_all(path).unwrap();
    for name in names {
        fs::write(path.join(name), "precious").unwrap();
    }
    names_in(path)
}

fn names_in(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_that_no_run_made_is_refused_and_stays_as_it_was() {
    let (_folder, runs) = runs();
    let check = |names: &[&str]| {
        let path = runs.root.join("thesis");
        let before = fill(&path, names);
        let error = runs.create(Some("thesis"), "x").unwrap_err();
        assert!(
            matches!(error, RunDirectoryError::NotARun { .. }),
            "{error}"
        );
        assert_eq!(names_in(&path), before);
        fs::remove_dir_all(path).unwrap();
    };
    check(&["chapter1"]);
    // What other programs may call a file is no proof.
    check(&["chapter1", LOCK_FILE]);
    check(&[LOCK_FILE, RECORD_FILE, "chapter1"]);
    check(&[RECORD_FILE]);
    fs::create_dir(runs.root.join("thesis")).unwrap();
    runs.create(Some("thesis"), "x").unwrap();
}

#[test]
fn the_name_of_a_run_is_no_link_and_no_file() {
    let (folder, runs) = runs();
    let target = folder.path().join("home");
    fill(&target, &[LOCK_FILE, "chapter1"]);
    std::os::unix::fs::symlink(&target, runs.root.join("link")).unwrap();
    fs::write(runs.root.join("file"), "precious").unwrap();
    for name in ["link", "file"] {
        let error = runs.create(Some(name), "x").unwrap_err();
        assert!(
            matches!(error, RunDirectoryError::NotARun { .. }),
            "{error}"
        );
    }
    assert_eq!(names_in(&target), ["chapter1", LOCK_FILE]);
}

#[test]
fn a_run_that_was_killed_at_its_very_start_leaves_its_name_free() {
    let (_folder, runs) = runs();
    drop(runs.create(Some("a"), "x").unwrap());
    assert_eq!(names_in(&runs.root.join("a")), [LOGS_FOLDER, LOCK_FILE]);
    runs.create(Some("a"), "x").unwrap();
}

#[test]
fn links_in_a_runs_folder_are_removed_and_not_what_they_lead_to() {
    let (folder, runs) = runs();
    let target = folder.path().join("home");
    fill(&target, &["chapter1"]);
    let first = runs.create(Some("a"), "x").unwrap();
    first.write_record(&record(&first, 1)).unwrap();
    std::os::unix::fs::symlink(&target, first.file("results")).unwrap();
    drop(first);
    runs.create(Some("a"), "x").unwrap();
    assert_eq!(names_in(&target), ["chapter1"]);
}

#[test]
fn folders_of_others_are_not_forgotten_with_those_of_ended_runs() {
    let (_folder, runs) = runs();
    let other = runs.root.join("project");
    fill(&other, &[LOCK_FILE, "main.c"]);
    set_age(&runs, "project", SystemTime::UNIX_EPOCH);
    for number in 0..=ENDED_RUNS_MAX {
        runs.create(Some(&format!("ended{number}")), "x").unwrap();
    }
    assert_eq!(names_in(&other), ["main.c", LOCK_FILE]);
}

#[test]
fn a_folder_whose_socket_paths_would_be_too_long_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Runs::at(&folder.path().join("x".repeat(100))).unwrap();
    let error = runs.create(Some("a"), "x").unwrap_err();
    assert!(matches!(error, RunDirectoryError::Endpoint(_)), "{error}");
    assert!(error.to_string().contains(RUNTIME_DIR_VARIABLE));
}

#[test]
fn sockets_of_an_ended_run_do_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Runs::at(&folder.path().join("runs")).unwrap();
    let directory = runs.create(Some("r"), "r").unwrap();
    for name in ["control", "data", "status", "step"] {
        std::os::unix::net::UnixListener::bind(directory.file(name)).unwrap();
    }
    fs::write(directory.file("lock"), "").unwrap();
    fs::write(directory.file("summary.json"), "{}").unwrap();
    directory.remove_sockets().unwrap();
    let mut left: Vec<String> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["logs", "run.lock", "summary.json"]);
}
