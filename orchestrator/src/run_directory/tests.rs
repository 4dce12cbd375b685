//! Tests of run directories.

use super::*;

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
fn names_that_are_no_folder_names_are_refused() {
    for name in ["", ".", "..", ".hidden", "a/b", "a b"] {
        assert!(check_run_name(name).is_err(), "{name:?}");
    }
    assert!(check_run_name("ramp-1.b_c").is_ok());
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
        Err(RunDirectoryError::NotPrivate { .. })
    ));
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
