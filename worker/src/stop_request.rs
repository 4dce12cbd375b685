//! Requests to end the process from outside its loop: signals, and the end of its lifeline.

use std::io::Read;
use std::process;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use protocol::ExitCode;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Time for which a process has to end in order once its lifeline is cut.
pub const LAST_TIME: Duration = Duration::from_secs(3);

/// Calls `ask_to_stop` with the name of the first signal that asks the process to end; a second
/// one ends it at once.
///
/// # Errors
/// Fails if the signals cannot be taken over.
pub fn watch_signals(ask_to_stop: impl Fn(String) + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut asked = false;
            for signal in signals.forever() {
                if asked {
                    process::exit(i32::from(ExitCode::Interrupted as u8));
                }
                asked = true;
                ask_to_stop(signal_name(signal).to_owned());
            }
        })?;
    Ok(())
}

/// Asks a process to end in order, and says why.
type AskToStop = Box<dyn Fn(String) + Send + Sync>;

/// Watches standard input: when it ends, whoever started this process is gone.
///
/// Until [`Lifeline::ask_to_stop`] is given, the process ends at once; after that it is asked to,
/// and ended if it has not within [`LAST_TIME`], whatever its stepper does.
#[derive(Clone, Default)]
pub struct Lifeline {
    ask: Arc<OnceLock<AskToStop>>,
}

impl Lifeline {
    /// Starts to watch.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn watch() -> std::io::Result<Self> {
        let lifeline = Self::default();
        let watched = lifeline.clone();
        thread::Builder::new()
            .name("lifeline".to_owned())
            .spawn(move || {
                read_to_end();
                if let Some(ask) = watched.ask.get() {
                    ask("the end of the program that started it".to_owned());
                    thread::sleep(LAST_TIME);
                }
                process::exit(i32::from(ExitCode::Interrupted as u8));
            })?;
        Ok(lifeline)
    }

    /// Says how the process is asked to end in order.
    pub fn ask_to_stop(&self, ask: impl Fn(String) + Send + Sync + 'static) {
        // Only the first one counts; a process has one run.
        let _ = self.ask.set(Box::new(ask));
    }
}

fn read_to_end() {
    let mut buffer = [0; 256];
    let mut stdin = std::io::stdin().lock();
    loop {
        match stdin.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "a signal",
    }
}
