//! Requests to end the process from outside its loop: signals, and the end of its lifeline.

use std::io::Read;
use std::process;
use std::sync::Arc;
use std::thread;

use protocol::ExitCode;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `ask_to_stop` with the name of the first signal that asks the process to end; a second
/// one ends it at once.
///
/// # Errors
/// When the signals cannot be taken over.
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

/// Calls `ask_to_stop` when standard input ends: whoever started this process is gone.
///
/// # Errors
/// When the thread cannot be started.
pub fn watch_lifeline(ask_to_stop: Arc<dyn Fn(String) + Send + Sync>) -> std::io::Result<()> {
    thread::Builder::new()
        .name("lifeline".to_owned())
        .spawn(move || {
            let mut buffer = [0; 256];
            let mut stdin = std::io::stdin().lock();
            loop {
                match stdin.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            ask_to_stop("the end of the program that started it".to_owned());
        })?;
    Ok(())
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "a signal",
    }
}
