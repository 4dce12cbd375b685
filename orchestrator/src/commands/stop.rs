//! `phalanx ctl stop`: ends a run, and is back when it is over.
//!
//! A primary that answers nothing cannot end its run: who owns the run is asked, then.

use std::time::Duration;

use client::AskError;
use protocol::primary_to_client::Reply;
use protocol::{Command, ExitCode};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep, timeout_at};

use super::Failed;
use super::ctl::from_ask;
use super::target::Target;
use crate::run_directory::FoundRun;

/// Time a primary may take to answer before it is asked whether it lives.
const ANSWER_GRACE: Duration = Duration::from_secs(5);

/// Time it may take to answer that.
const PING_GRACE: Duration = Duration::from_secs(2);

/// Time the owner of a run may take to end it, whatever else was given.
const OWNER_GRACE: Duration = Duration::from_secs(10);

/// Cause of the end of a run.
enum Stopped {
    /// Its primary ends it.
    InOrder(Reply),
    /// Its owner ends it, since its primary does not answer.
    ByOwner,
}

/// Ends a run within the time given, and returns what to say of that.
pub(super) async fn stop(target: &Target, limit: Duration) -> Result<String, Failed> {
    let deadline = Instant::now() + limit;
    let stopped = end(target, limit).await?;
    let name = target.name();
    let (told, deadline) = match stopped {
        Stopped::InOrder(Reply::Done { iteration, .. }) => {
            (format!("{name} ends at iteration {iteration}\n"), deadline)
        }
        Stopped::InOrder(Reply::Failed { reason, .. }) => {
            return Err(Failed::message(ExitCode::Failure, reason));
        }
        Stopped::InOrder(_) => {
            let message = "the primary answered something else";
            return Err(Failed::message(ExitCode::Failure, message));
        }
        Stopped::ByOwner => {
            let told = format!("{name} is ended by its owner: its primary does not answer\n");
            (told, deadline.max(Instant::now() + OWNER_GRACE))
        }
    };
    if let Some(found) = &target.found
        && timeout_at(deadline, target.end()).await.is_err()
    {
        let (pid, seconds) = (found.record.pid, limit.as_secs_f64());
        let message = format!(
            "{name} was told to end and has not within {seconds} s; its owner is process {pid}"
        );
        return Err(Failed::message(ExitCode::TimedOut, message));
    }
    Ok(told)
}

async fn end(target: &Target, limit: Duration) -> Result<Stopped, Failed> {
    let asked = target.ask(Command::Stop, limit);
    tokio::pin!(asked);
    let answer = tokio::select! {
        answer = &mut asked => answer,
        () = sleep(ANSWER_GRACE) => match &target.found {
            Some(found) if !answers(target).await => {
                ask_owner(found);
                return Ok(Stopped::ByOwner);
            }
            _ => asked.await,
        }
    };
    answer.map(Stopped::InOrder).map_err(from_ask)
}

/// Tells whether the primary answers at all.
async fn answers(target: &Target) -> bool {
    let answer = target.ask(Command::Ping, PING_GRACE).await;
    !matches!(answer, Err(AskError::TimedOut { .. }))
}

/// Asks the owner of a run to end it; one that lives holds the run's folder, so that its process
/// id is its own.
fn ask_owner(found: &FoundRun) {
    let pid = i32::try_from(found.record.pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| found.is_still_living()) {
        // It may end by itself just now, which is what the signal is for.
        let _ = kill_process(pid, Signal::TERM);
    }
}
