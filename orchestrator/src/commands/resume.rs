//! `phalanx resume`: goes on with a run that was killed or interrupted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use journal::Losses;
use protocol::ExitCode;
use run::SECONDARIES_MAX;

use super::{CommandResult, Failed};
use crate::cli::{Format, ResumeArguments};
use crate::launch::launched::Launched;
use crate::run_directory::{FoundRun, RunDirectory, RunDirectoryError, Runs};

/// Time that the processes of a run have to end when their run daemon has gone: more than they give
/// themselves.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time between looks at whether they have.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Reason why no run is resumed, or not the one that is named.
#[derive(Debug, thiserror::Error)]
enum ChooseError {
    /// No run can be.
    #[error("nothing to resume: no killed or interrupted run left a journal")]
    Nothing,
    /// Several can be, and none is named.
    #[error("say which run to resume: {}", names.join(", "))]
    Several {
        /// Their names.
        names: Vec<String>,
    },
    /// No run is named so.
    #[error(
        "no run of this machine is named {named}: {}{}",
        list(resumable),
        hint(journal.as_deref())
    )]
    Unknown {
        /// The name.
        named: String,
        /// Names of those that can be resumed.
        resumable: Vec<String>,
        /// The journal that is named in place of a run, if it is one.
        journal: Option<PathBuf>,
    },
    /// It goes on.
    #[error("{name} is living: `phalanx attach {name}` opens its view")]
    Living {
        /// Its name.
        name: String,
    },
    /// It has ended for good.
    #[error("{name} cannot be resumed: it ended ({cause}), and {reason}")]
    Ended {
        /// Its name.
        name: String,
        /// Cause of its end.
        cause: String,
        /// Reason why it cannot be resumed.
        reason: String,
    },
    /// It was killed, and something that it needs is missing.
    #[error("{name} cannot be resumed: {reason}")]
    Lost {
        /// Its name.
        name: String,
        /// Reason why it cannot be resumed.
        reason: String,
    },
}

fn list(resumable: &[String]) -> String {
    match resumable {
        [] => "there is none to resume".to_owned(),
        names => format!("to resume there are {}", names.join(", ")),
    }
}

fn hint(journal: Option<&Path>) -> String {
    journal.map_or_else(String::new, |path| {
        let path = path.display();
        format!("; {path} is a journal by itself: `worker --resume` takes it up")
    })
}

/// Goes on with a run, here or in a run daemon that is started with the same words.
pub(super) fn resume(arguments: &ResumeArguments, words: &[OsString]) -> CommandResult {
    let usage = |text: &str| Err(Failed::message(ExitCode::Usage, text));
    if arguments.headless && arguments.detach {
        return usage("--detach leaves the run alone, --headless stays with it: use one");
    }
    let has_view = !(arguments.headless || arguments.detach);
    if arguments.format == Format::Json && has_view {
        return usage("--format json is for runs without a view: use --headless or --detach, too");
    }
    // What is wrong is said here, where someone reads it.
    let found = find(arguments)?;
    wait_for_the_last_life(&found, TIMEOUT)?;
    let launched = launch_of(&found, arguments)?;
    check_journal(&launched)?;
    super::run::resume(arguments, words)
}

/// Takes the run's folder and returns how it is started again.
pub(super) fn take(arguments: &ResumeArguments) -> Result<(RunDirectory, Launched), Failed> {
    let found = find(arguments)?;
    let launched = launch_of(&found, arguments)?;
    let directory = Runs::open().and_then(|runs| runs.reopen(&found.record.name));
    let directory = directory.map_err(|error| match error {
        RunDirectoryError::Living { .. } => Failed::new(ExitCode::Failure, living(&found)),
        other => Failed::new(ExitCode::Failure, other),
    })?;
    // Nobody can take it up beside this now, and what is left of before must not be heard.
    wait_for_the_last_life(&found, TIMEOUT)?;
    Ok((directory, launched))
}

/// Waits until the processes that the run had have ended: they outlive who kept them by moments, in
/// which they hold the journal and the sockets and write how they ended.
fn wait_for_the_last_life(run: &FoundRun, timeout: Duration) -> Result<(), Failed> {
    let end = Instant::now() + timeout;
    let failure = |text: String| Err(Failed::message(ExitCode::Failure, text));
    let name = &run.record.name;
    let left = run.workers_left(timeout);
    if !left.is_empty() {
        let each = left
            .iter()
            .map(|(worker, pid)| format!("{worker} (pid {pid})"));
        let each = each.collect::<Vec<_>>().join(", ");
        let pids = left.iter().map(|(_, pid)| pid.to_string());
        let pids = pids.collect::<Vec<_>>().join(" ");
        return failure(format!(
            "{name} cannot be resumed yet: {each} of it did not end in {} s; end them with \
             `kill -9 {pids}`",
            timeout.as_secs()
        ));
    }
    let journal = run.journal().unwrap_or_default();
    let left = end.saturating_duration_since(Instant::now());
    if journal::folder::wait_until_free(&journal, left) {
        return Ok(());
    }
    let journal = journal.display();
    failure(format!(
        "{name} cannot be resumed yet: a process holds its journal in {journal}"
    ))
}

/// Makes sure that the journal is whole, or that what it has lost is accepted.
fn check_journal(launched: &Launched) -> Result<(), Failed> {
    let Some(journal) = launched.plan.spec.journal.folder() else {
        return Ok(());
    };
    let losses = if launched.plan.accepts_loss {
        Losses::Accept
    } else {
        Losses::Refuse
    };
    let read = journal::reader::read(journal, None, losses);
    read.map(drop)
        .map_err(|error| Failed::new(ExitCode::Configuration, error))
}

/// Finds the run that is meant.
fn find(arguments: &ResumeArguments) -> Result<FoundRun, Failed> {
    let runs = Runs::open()
        .and_then(|runs| runs.list())
        .map_err(anyhow::Error::new)?;
    let end = Instant::now() + TIMEOUT;
    let runs: Vec<FoundRun> = runs.into_iter().map(|run| settle(run, end)).collect();
    let chosen = choose(&runs, arguments.run.as_deref());
    chosen
        .cloned()
        .map_err(|error| Failed::new(ExitCode::Failure, error))
}

/// Waits until the lock of a run is free whose run daemon has ended: what a killed process held is
/// given back only with the last of its threads.
fn settle(mut run: FoundRun, end: Instant) -> FoundRun {
    while run.is_living && !FoundRun::is_running(run.record.pid) && Instant::now() < end {
        thread::sleep(LOOK_AGAIN);
        // Another run daemon may have taken it up.
        run = run.again().unwrap_or(run);
    }
    run
}

fn choose<'a>(runs: &'a [FoundRun], named: Option<&str>) -> Result<&'a FoundRun, ChooseError> {
    let unfinished = || runs.iter().filter(|run| run.is_resumable());
    let resumable = || -> Vec<String> { unfinished().map(|run| run.record.name.clone()).collect() };
    let Some(named) = named else {
        let all: Vec<&FoundRun> = unfinished().collect();
        return match all.as_slice() {
            [] => Err(ChooseError::Nothing),
            [one] => Ok(one),
            _ => Err(ChooseError::Several { names: resumable() }),
        };
    };
    let path = Path::new(named).canonicalize().ok();
    let is_it = |run: &&FoundRun| {
        let is_named = run.record.name == named;
        is_named || path.as_ref().is_some_and(|path| is_of(run, path))
    };
    let Some(run) = runs.iter().find(is_it) else {
        return Err(ChooseError::Unknown {
            named: named.to_owned(),
            resumable: resumable(),
            journal: path.filter(|path| journal::folder::is_journal(path)),
        });
    };
    if run.is_living {
        return Err(living(run));
    }
    if run.is_resumable() {
        return Ok(run);
    }
    let (name, reason) = (run.record.name.clone(), run.why_not_resumable());
    Err(match &run.record.ended {
        Some(end) => ChooseError::Ended {
            name,
            cause: end.cause.clone(),
            reason,
        },
        None => ChooseError::Lost { name, reason },
    })
}

/// Tells whether a path is a run's folder, or that of its journal.
fn is_of(run: &FoundRun, path: &Path) -> bool {
    let same = |other: &Path| other.canonicalize().is_ok_and(|other| other == path);
    same(&run.path) || run.journal().is_some_and(|journal| same(&journal))
}

fn living(run: &FoundRun) -> ChooseError {
    let name = run.record.name.clone();
    ChooseError::Living { name }
}

/// Returns how a run is started again.
fn launch_of(run: &FoundRun, arguments: &ResumeArguments) -> Result<Launched, Failed> {
    let file: PathBuf = run.launch_file();
    let launched = Launched::read(&file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        Failed::message(ExitCode::Configuration, message)
    })?;
    let name = &run.record.name;
    let Some(mut plan) = launched.plan.resumed() else {
        let message = format!("{name} cannot be resumed: it has no journal");
        return Err(Failed::message(ExitCode::Failure, message));
    };
    if let Some(secondaries) = arguments.secondaries {
        if secondaries > SECONDARIES_MAX {
            let message = format!("--secondaries is at most {SECONDARIES_MAX}");
            return Err(Failed::message(ExitCode::Usage, message));
        }
        plan.spec.run.secondaries = secondaries;
    }
    let spec = &mut plan.spec;
    spec.run.iterations = arguments.iterations.or(spec.run.iterations);
    let limit = arguments.journal_limit;
    spec.journal.limit_mib = limit.unwrap_or(spec.journal.limit_mib);
    plan.accepts_loss = arguments.accept_loss;
    Ok(Launched { plan, ..launched })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_directory::RunRecord;

    fn run(root: &Path, name: &str, is_living: bool, has_journal: bool) -> FoundRun {
        let path = root.join(name);
        std::fs::create_dir_all(path.join("journal")).unwrap();
        if has_journal {
            std::fs::write(path.join("journal/manifest"), "").unwrap();
            std::fs::write(path.join("launch.json"), "{}").unwrap();
        }
        let record = RunRecord {
            name: name.to_owned(),
            pid: 1,
            endpoint: "ipc:///r".to_owned(),
            world: "w.sdf".to_owned(),
            command: String::new(),
            started_unix_s: 40,
            workers: Vec::new(),
            ended: None,
        };
        FoundRun {
            record,
            path,
            is_living,
        }
    }

    #[test]
    fn a_run_whose_processes_still_end_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = run(folder.path(), "a", false, true);
        let started = |script: &str| {
            let mut command = std::process::Command::new("sh");
            // It is about the run as workers are: by its folder.
            command
                .args(["-c", script])
                .arg(run.path.join("summary.json"));
            command.stdin(std::process::Stdio::piped()).spawn().unwrap()
        };
        let mut child = started("read line; exit 0");
        run.record.workers = vec![crate::launch::WorkerRecord {
            name: "primary".to_owned(),
            role: protocol::Role::Primary,
            pid: child.id(),
        }];
        // A program that has just begun has no arguments yet for who looks.
        while run.living_workers().is_empty() {
            thread::sleep(LOOK_AGAIN);
        }
        let timeout = Duration::from_millis(50);
        let failed = wait_for_the_last_life(&run, timeout).unwrap_err();
        let text = format!("{:#}", failed.error);
        let expected = format!("primary (pid {})", child.id());
        assert!(
            text.contains(&expected) && text.contains("kill -9"),
            "{text}"
        );
        // It ends with its lifeline, as workers do.
        drop(child.stdin.take());
        wait_for_the_last_life(&run, Duration::from_mins(1)).unwrap();
        child.wait().unwrap();
        // Another program that has its id is none of the run.
        run.record.workers[0].pid = std::process::id();
        wait_for_the_last_life(&run, timeout).unwrap();
        let lock = std::fs::File::create(run.path.join("journal/lock")).unwrap();
        lock.lock().unwrap();
        let failed = wait_for_the_last_life(&run, timeout).unwrap_err();
        assert!(format!("{:#}", failed.error).contains("holds its journal"));
    }

    #[test]
    fn a_lock_that_a_dead_run_daemon_leaves_for_a_moment_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let mut dead = run(folder.path(), "a", true, true);
        dead.record.pid = child.id();
        let record = serde_json::to_string(&dead.record).unwrap();
        std::fs::write(dead.path.join("run.json"), record).unwrap();
        let lock = std::fs::File::create(dead.path.join("run.lock")).unwrap();
        lock.lock().unwrap();
        let now = Instant::now();
        assert!(settle(dead.clone(), now + Duration::from_millis(50)).is_living);
        let found = dead.clone();
        let waiting = thread::spawn(move || settle(found, now + Duration::from_mins(1)));
        drop(lock);
        assert!(!waiting.join().unwrap().is_living);
        // One whose run daemon runs is living, and nobody waits for it.
        dead.record.pid = std::process::id();
        assert!(settle(dead, Instant::now() + Duration::from_hours(1)).is_living);
    }

    #[test]
    fn the_only_unfinished_run_need_not_be_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let a = run(root, "a", false, true);
        let b = run(root, "b", true, true);
        let c = run(root, "c", false, false);
        let d = run(root, "d", false, true);
        let name = |runs: &[FoundRun], named: Option<&str>| {
            let chosen = choose(runs, named).map(|run| run.record.name.clone());
            chosen.map_err(|error| error.to_string())
        };
        let all = [a.clone(), b.clone(), c.clone(), d];
        assert_eq!(name(&all[..3], None), Ok("a".to_owned()));
        assert!(name(&all, None).unwrap_err().ends_with(": a, d"));
        assert!(
            name(&[b, c], None)
                .unwrap_err()
                .starts_with("nothing to resume")
        );
        assert_eq!(name(&all, Some("d")), Ok("d".to_owned()));
        let path = root.join("d");
        assert_eq!(name(&all, path.to_str()), Ok("d".to_owned()));
        let journal = path.join("journal");
        assert_eq!(name(&all, journal.to_str()), Ok("d".to_owned()));
        assert!(name(&all, Some("b")).unwrap_err().contains("is living"));
        let why = |named: &str| name(&all, Some(named)).unwrap_err();
        assert!(why("c").contains("did not write down"));
        // It did, and that is gone or cannot be reached.
        let launch = crate::launch::tests::launched_with(Some(root.join("c/journal")));
        launch.write(&root.join("c/launch.json")).unwrap();
        assert!(why("c").contains("manifest of its journal"));
        std::fs::remove_dir(root.join("c/journal")).unwrap();
        assert!(why("c").contains("the run was complete"));
        // A file in place of a folder cannot be looked into, whoever looks.
        std::fs::write(root.join("c/journal"), "").unwrap();
        assert!(why("c").contains("cannot be read"));
        let launch = crate::launch::tests::launched_with(None);
        launch.write(&root.join("c/launch.json")).unwrap();
        assert!(why("c").contains("--journal off"));
        let error = name(&all, Some("none")).unwrap_err();
        assert!(error.contains("to resume there are a, d"), "{error}");
    }
}
