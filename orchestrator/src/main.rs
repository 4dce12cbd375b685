//! `phalanx`: starts, shows and controls runs. See [`orchestrator::cli`] for the command line and
//! [`orchestrator::commands`] for what each command does.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use orchestrator::cli::Cli;
use orchestrator::{commands, control};

fn main() -> ExitCode {
    match commands::dispatch(Cli::parse_from(control::plain_numbers(std::env::args_os()))) {
        Ok(code) => code.into(),
        Err(failed) => {
            let _ = writeln!(std::io::stderr(), "error: {:#}", failed.error);
            failed.code.into()
        }
    }
}
