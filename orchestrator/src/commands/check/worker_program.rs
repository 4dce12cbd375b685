//! Questions about a world that the worker program answers, which knows physics, systems and
//! sensors.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, anyhow};
use protocol::ExitCode;
use serde::de::DeserializeOwned;

use crate::commands::Failed;
use crate::launch::find_worker;

/// Asks the worker program about a world, whose text was read already: what is piped in can be read
/// only once.
///
/// # Errors
/// Fails if there is no worker program, or it refuses.
pub(super) fn ask<Answer: DeserializeOwned>(
    flags: &[&str],
    rules: Option<&Path>,
    (world, text): (&Path, &str),
) -> Result<Answer, Failed> {
    let worker = find_worker().map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    let mut command = Command::new(&worker);
    command.args(flags);
    if let Some(rules) = rules {
        command.arg("--ros-rules").arg(rules);
    }
    // What there is to say about the world is in the answer, or has been said.
    command.arg("--").arg(world).env("PHALANX_LOG", "error");
    let piped = (!world.is_file()).then_some(text);
    let output = answer(&mut command, piped)
        .with_context(|| format!("cannot start {}", worker.display()))
        .map_err(failed)?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let told = told.trim();
        let reason = told.strip_prefix("error: ").unwrap_or(told).to_owned();
        return Err(failed(anyhow!(reason)));
    }
    let context = || format!("{} is another version", worker.display());
    let answer = serde_json::from_slice(&output.stdout).with_context(context);
    answer.map_err(failed)
}

/// Runs a program to its end, with a text as its input if there is one.
fn answer(command: &mut Command, input: Option<&str>) -> std::io::Result<Output> {
    let Some(input) = input else {
        return command.stdin(Stdio::null()).output();
    };
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read all says why itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output()
}

fn failed(error: anyhow::Error) -> Failed {
    Failed {
        code: ExitCode::Configuration,
        error,
    }
}
