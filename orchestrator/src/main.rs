//! `phalanx`: starts, shows and controls runs. See [`orchestrator::cli`] for the command line and
//! [`orchestrator::commands`] for what each command does.

use std::io::Write;
use std::process::ExitCode;

use client::control;
use mimalloc::MiMalloc;
use orchestrator::{cli, commands};
use protocol::plain_text::escaped;

/// Allocates for the whole program: a large world is read in 200,000 small pieces.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let words = control::plain_numbers(std::env::args_os());
    let cli = cli::parse(words.collect()).unwrap_or_else(|error| error.exit());
    match commands::dispatch(cli) {
        Ok(code) => code.into(),
        Err(failed) => {
            let text = format!("{:#}", failed.error);
            let _ = writeln!(std::io::stderr(), "error: {}", escaped(&text));
            failed.code.into()
        }
    }
}
