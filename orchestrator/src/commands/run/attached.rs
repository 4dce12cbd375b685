//! A run with a view: a run daemon owns it, and this process shows it as long as the user looks.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use protocol::{Command, ExitCode};
use serde::Serialize;
use tokio::time::sleep;
use view::{ViewEnd, ViewOptions};

use super::super::target::Target;
use super::super::watch;
use super::super::{CommandResult, Failed, output, runtime};
use super::describe;
use super::exit_report::exit_code;
use super::run_daemon::RunDaemon;
use super::running::Signals;
use crate::cli::Format;
use crate::config::Config;

/// Time that a run may take to end when the user asked for its end in the view.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// A run that was started, as JSON.
#[derive(Debug, Serialize)]
struct Started<'a> {
    name: &'a str,
    pid: u32,
    endpoint: &'a str,
    logs: PathBuf,
}

/// Starts a run and returns when it has begun, so that commands to it are obeyed.
pub(super) fn start_detached(command: &str, words: &[OsString], format: Format) -> CommandResult {
    runtime()?.block_on(async {
        let mut signals = Signals::new(true)?;
        let mut daemon = RunDaemon::start(command, words, &mut signals).await?;
        daemon.begun(&mut signals).await?;
        let record = &daemon.run.record;
        match format {
            Format::Text => output::print(&format!("{}\n", record.name)),
            Format::Json => output::print_json(&Started {
                name: &record.name,
                pid: record.pid,
                endpoint: &record.endpoint,
                logs: daemon.run.logs(),
            }),
        }
    })
}

/// Starts a run and shows it until it ends or the user leaves.
pub(super) fn run(command: &str, words: &[OsString], config: &Config) -> CommandResult {
    runtime()?.block_on(async {
        let mut signals = Signals::new(false)?;
        let mut daemon = RunDaemon::start(command, words, &mut signals).await?;
        let target = Target::of(daemon.run.clone())?;
        let options = ViewOptions::new(target.name(), true, &config.view, &config.keymap);
        let left = watch::watch(&target, options).await.map_err(|error| {
            let context = format!("the view failed; {}", goes_on(&target.name()));
            Failed::from(error.context(context))
        })?;
        match left.end {
            ViewEnd::Detach | ViewEnd::HungUp => {
                output::note(&goes_on(&target.name()));
                return Ok(ExitCode::Success);
            }
            ViewEnd::Ended => {}
            ViewEnd::Quit => stop(&mut daemon, &target, &mut signals).await,
            ViewEnd::Interrupted => interrupt(&mut daemon, &mut signals).await,
        }
        let status = daemon.end().await.context("cannot wait for the run")?;
        // Another run may have its folder by now.
        let ended = left.first_ended.or_else(|| daemon.run.end());
        let ended = ended.context("the run goes on without its daemon")?;
        output::print(&describe(&target.name(), &ended))?;
        Ok(status.code().map_or(ExitCode::PeerLost, exit_code))
    })
}

/// Says that a run goes on, and how to come back to it.
fn goes_on(name: &str) -> String {
    format!(
        "{name} goes on; `phalanx attach {name}` opens its view, `phalanx ctl {name} stop` ends it"
    )
}

/// Asks the run to stop, and sees to it when it does not, or when a signal shows that nobody wants
/// to wait.
async fn stop(daemon: &mut RunDaemon, target: &Target, signals: &mut Signals) {
    let asked = async {
        // Whether it stops is seen by its end.
        let _ = target.ask(Command::Stop, STOP_GRACE).await;
        std::future::pending::<()>().await;
    };
    let has_ended = tokio::select! {
        // When it has ended, another run may answer where it did.
        biased;
        _ = daemon.end() => true,
        () = asked => false,
        () = sleep(STOP_GRACE) => false,
        () = signals.ends() => false,
    };
    if !has_ended {
        interrupt(daemon, signals).await;
    }
}

/// Has the run ended in order, or at once when a further signal comes.
async fn interrupt(daemon: &mut RunDaemon, signals: &mut Signals) {
    // The signal that ended the view may still wait here; only a further one counts.
    if let Ok(fresh) = Signals::new(false) {
        *signals = fresh;
    }
    daemon.interrupt();
    let is_impatient = tokio::select! {
        _ = daemon.end() => false,
        () = signals.ends() => true,
    };
    if is_impatient {
        daemon.kill();
    }
}
