//! `phalanx submit`: a run as a batch job of Slurm.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use protocol::ExitCode;

use super::slurm_job::name_of_run;
use super::{CommandResult, Failed, output};
use crate::cli::SubmitArguments;

/// Writes the batch script, or submits it; with `--wait` the exit code is that of the run.
pub(super) fn submit(arguments: &SubmitArguments) -> CommandResult {
    let script = script(arguments)?;
    if arguments.print {
        return output::print(&script);
    }
    let options = arguments.sbatch.as_deref().unwrap_or_default();
    let mut command = Command::new("sbatch");
    command.args(sbatch_words(options)?);
    if arguments.wait {
        command.arg("--wait");
    }
    let child = command.stdin(Stdio::piped()).spawn();
    let mut child = child
        .context("cannot start sbatch: `phalanx submit --print` writes the script for it")
        .map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    if let Some(mut input) = child.stdin.take() {
        // Who does not read it says why.
        let _ = input.write_all(script.as_bytes());
    }
    let status = child.wait().context("sbatch is lost")?;
    match status.code() {
        Some(0) => Ok(ExitCode::Success),
        Some(code) if arguments.wait => Ok(exit_code(code)),
        _ => Err(Failed::message(
            ExitCode::Configuration,
            "sbatch refused the job",
        )),
    }
}

/// Returns the words of options for sbatch, as a shell splits them.
///
/// # Errors
/// Fails if a quotation mark is missing.
pub(super) fn sbatch_words(options: &str) -> Result<Vec<String>, Failed> {
    shlex::split(options).ok_or_else(|| {
        let message = format!("options of sbatch: a quotation mark is missing in `{options}`");
        Failed::message(ExitCode::Usage, message)
    })
}

/// Returns the exit code of a run that has a number; others are failures.
pub(super) fn exit_code(code: i32) -> ExitCode {
    let all = [
        ExitCode::Usage,
        ExitCode::Configuration,
        ExitCode::PeerLost,
        ExitCode::DigestMismatch,
        ExitCode::TimedOut,
        ExitCode::Interrupted,
    ];
    let found = all.into_iter().find(|one| i32::from(*one as u8) == code);
    found.unwrap_or(ExitCode::Failure)
}

/// Returns the batch script of a run.
fn script(arguments: &SubmitArguments) -> Result<String, Failed> {
    let program = std::env::current_exe().context("this program has no path")?;
    let folder = std::env::current_dir().context("the working directory is gone")?;
    let words: Vec<String> = arguments.words.iter().map(quoted).collect();
    let mut words = format!("run --headless {}", words.join(" "));
    let has_name = |word: &OsString| {
        let word = word.to_string_lossy();
        word == "--name" || word.starts_with("--name=")
    };
    if !arguments.words.iter().any(has_name) {
        // By its name it is found if Slurm starts the job once more.
        let _ = write!(words, " --name \"{}\"", name_of_run("phalanx"));
    }
    Ok(text(&program, &folder, &words))
}

/// Returns the batch script that has a program do something in a folder, in words as a shell takes
/// them.
pub(super) fn text(program: &Path, folder: &Path, words: &str) -> String {
    format!(
        "#!/bin/sh\n\
         #SBATCH --job-name=phalanx\n\
         # The primary runs beside this script on the first node, a secondary in each task.\n\
         # A minute before the job's time ends, the run is interrupted: its journal has all of\n\
         # it, and `phalanx resume` goes on in another job.\n\
         #SBATCH --signal=B:TERM@60\n\
         # A node that fails is a lost secondary, and no reason to end the job.\n\
         #SBATCH --no-kill\n\
         cd {}\n\
         # What had this submitted must not have the job submit another.\n\
         unset PHALANX_SLURM PHALANX_RESUME_SLURM\n\
         exec {} {words}\n",
        quoted(folder.as_os_str()),
        quoted(program.as_os_str()),
    )
}

/// Returns a word as a shell takes it.
pub(super) fn quoted(word: &(impl AsRef<std::ffi::OsStr> + ?Sized)) -> String {
    format!(
        "'{}'",
        word.as_ref().to_string_lossy().replace('\'', "'\\''")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_starts_the_run_in_the_folder_of_its_user() {
        let script = text(
            Path::new("/opt/phalanx"),
            Path::new("/home/it's me"),
            "run --headless 'a b.sdf'",
        );
        assert!(script.starts_with("#!/bin/sh\n#SBATCH "), "{script}");
        assert!(script.contains("\ncd '/home/it'\\''s me'\n"), "{script}");
        assert!(script.ends_with("\nexec '/opt/phalanx' run --headless 'a b.sdf'\n"));
    }

    #[test]
    fn the_exit_code_of_a_job_is_that_of_its_run() {
        assert_eq!(exit_code(3), ExitCode::Configuration);
        assert_eq!(exit_code(130), ExitCode::Interrupted);
        assert_eq!(exit_code(77), ExitCode::Failure);
    }
}
