//! `phalanx resume`: goes on with a run that was killed or interrupted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use protocol::ExitCode;

use super::{CommandResult, Failed};
use crate::cli::{Format, ResumeArguments};
use crate::config::SECONDARIES_MAX;
use crate::launch::launched::Launched;
use crate::run_directory::{FoundRun, RunDirectory, RunDirectoryError, Runs};

/// Goes on with a run, here or in a keeper that is started with the same words.
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
    launch_of(&found, arguments)?;
    super::run::resume(arguments, words)
}

/// Takes the run's folder and returns how it is started again.
pub(super) fn take(arguments: &ResumeArguments) -> Result<(RunDirectory, Launched), Failed> {
    let found = find(arguments)?;
    let launched = launch_of(&found, arguments)?;
    let directory = Runs::open().and_then(|runs| runs.reopen(&found.record.name));
    let directory = directory.map_err(|error| match error {
        RunDirectoryError::Living { .. } => Failed::message(ExitCode::Failure, living(&found)),
        other => Failed::new(ExitCode::Failure, other),
    })?;
    Ok((directory, launched))
}

/// Finds the run that is meant.
fn find(arguments: &ResumeArguments) -> Result<FoundRun, Failed> {
    let runs = Runs::open()
        .and_then(|runs| runs.list())
        .map_err(anyhow::Error::new)?;
    let chosen = choose(&runs, arguments.run.as_deref());
    chosen
        .cloned()
        .map_err(|message| Failed::message(ExitCode::Failure, message))
}

fn choose<'a>(runs: &'a [FoundRun], named: Option<&str>) -> Result<&'a FoundRun, String> {
    let unfinished = || runs.iter().filter(|run| run.is_resumable());
    let Some(named) = named else {
        let all: Vec<&FoundRun> = unfinished().collect();
        return match all.as_slice() {
            [] => Err(
                "nothing to resume: no run was killed or interrupted that wrote down what \
                       it did"
                    .to_owned(),
            ),
            [one] => Ok(one),
            several => {
                let all = several.iter().map(|run| run.record.name.as_str());
                let all: Vec<&str> = all.collect();
                Err(format!("say which run to resume: {}", all.join(", ")))
            }
        };
    };
    let path = Path::new(named).canonicalize().ok();
    let is_it = |run: &&FoundRun| {
        let is_named = run.record.name == named;
        is_named || path.as_ref().is_some_and(|path| is_of(run, path))
    };
    let Some(run) = runs.iter().find(is_it) else {
        let all: Vec<&str> = unfinished().map(|run| run.record.name.as_str()).collect();
        let known = match all.as_slice() {
            [] => "there is none to resume".to_owned(),
            some => format!("to resume there are {}", some.join(", ")),
        };
        let hint = match path {
            Some(path) if journal::folder::is_journal(&path) => format!(
                "; {} is a journal by itself: `worker --resume` takes it up",
                path.display()
            ),
            Some(_) | None => String::new(),
        };
        return Err(format!(
            "no run of this machine is named {named}: {known}{hint}"
        ));
    };
    if run.is_living {
        return Err(living(run));
    }
    if run.is_resumable() {
        return Ok(run);
    }
    let name = &run.record.name;
    Err(match &run.record.ended {
        Some(end) => format!(
            "{name} cannot be resumed: it ended ({}), and nothing is left of what it wrote down",
            end.cause
        ),
        None => format!("{name} cannot be resumed: it did not write down what it did"),
    })
}

/// Tells whether a path is a run's folder, or that of its journal.
fn is_of(run: &FoundRun, path: &Path) -> bool {
    let same = |other: &Path| other.canonicalize().is_ok_and(|other| other == path);
    same(&run.path) || run.journal().is_some_and(|journal| same(&journal))
}

fn living(run: &FoundRun) -> String {
    let name = &run.record.name;
    format!("{name} is living: `phalanx attach {name}` opens its view")
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
        plan.secondaries = secondaries;
    }
    plan.iterations = arguments.iterations.or(plan.iterations);
    plan.journal_limit_mib = arguments.journal_limit.or(plan.journal_limit_mib);
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
    fn the_only_unfinished_run_need_not_be_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let a = run(root, "a", false, true);
        let b = run(root, "b", true, true);
        let c = run(root, "c", false, false);
        let d = run(root, "d", false, true);
        let name = |runs: &[FoundRun], named: Option<&str>| {
            choose(runs, named).map(|run| run.record.name.clone())
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
        assert!(
            name(&all, Some("c"))
                .unwrap_err()
                .contains("did not write down")
        );
        let error = name(&all, Some("none")).unwrap_err();
        assert!(error.contains("to resume there are a, d"), "{error}");
    }
}
