//! [`Witness`]: a client of the attacked run in a process of its own, which measures how long it
//! waits for answers.
//!
//! In the process of the attacks it would wait for them: one that subscribes to a million long
//! topics fills and frees gigabytes of its own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::victim::{Honest, RawKey, Reach};
use crate::processes::{binary, let_pass};

/// The word with which the program of the attacks becomes a witness.
pub const WITNESS: &str = "--witness";

/// Pause between two requests: twenty per second.
const PAUSE: Duration = Duration::from_millis(50);

/// A process that asks twenty times per second whether the primary is there.
pub(super) struct Witness {
    child: Child,
    /// The process ends with it.
    input: Option<ChildStdin>,
    answered: Arc<AtomicU64>,
    /// The slowest answer since it was asked last \[us\].
    slowest: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Witness {
    pub(super) fn start(reach: &Reach) -> Self {
        let mut command = Command::new(binary("hostile"));
        command.arg(WITNESS);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a program that is there can be started");
        let mut input = child.stdin.take().expect("it is a pipe");
        let mut words = vec![reach.endpoints.clients()];
        if let Some(key) = &reach.key {
            words.extend([key.server.clone(), key.public.clone(), key.secret.clone()]);
        }
        // Each word in a line: arguments would show the secret.
        let lines = words.join("\n") + "\n\n";
        let told = input.write_all(lines.as_bytes());
        told.expect("it reads what it is told");
        let output = child.stdout.take().expect("it is a pipe");
        let (answered, slowest) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let shared = (Arc::clone(&answered), Arc::clone(&slowest));
        let thread = thread::spawn(move || {
            let (answered, slowest) = shared;
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let mut words = line.split(' ');
                let took_us: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
                slowest.fetch_max(took_us, Ordering::Relaxed);
                let is_answered = words.next() == Some("answered");
                answered.fetch_add(u64::from(is_answered), Ordering::Relaxed);
            }
        });
        Self {
            child,
            input: Some(input),
            answered,
            slowest,
            thread: Some(thread),
        }
    }

    /// Returns how many pings were answered.
    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Returns the longest time to an answer since this was asked last \[ms\].
    pub(super) fn take_slowest_ms(&self) -> f64 {
        self.slowest.swap(0, Ordering::Relaxed) as f64 / 1e3
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Is the witness's process: reads where to connect, then writes a line for each request, with the
/// time to its answer \[us\], until its input ends.
///
/// # Panics
/// Panics if it is told no address.
pub fn testify() {
    let mut input = std::io::stdin().lines().map_while(Result::ok);
    let mut words: Vec<String> = input.by_ref().take_while(|word| !word.is_empty()).collect();
    assert!(!words.is_empty(), "a witness is told where to connect");
    let address = words.remove(0);
    let key = match <[String; 3]>::try_from(words) {
        Ok([server, public, secret]) => Some(RawKey {
            public,
            secret,
            server,
        }),
        Err(_) => None,
    };
    let mut client = Honest::connect_to(&address, key.as_ref());
    let asking = thread::spawn(move || {
        // The first one has the connection to make.
        client.ask(protocol::Command::Ping);
        let mut output = std::io::stdout();
        loop {
            let begin = Instant::now();
            let is_answered = client.ask(protocol::Command::Ping).is_some();
            let took_us = begin.elapsed().as_micros();
            let outcome = if is_answered { "answered" } else { "lost" };
            if writeln!(output, "{took_us} {outcome}").is_err() || output.flush().is_err() {
                return;
            }
            let_pass(PAUSE);
        }
    });
    input.for_each(drop);
    drop(asking);
}
