//! [`Events`]: steps as events of Chrome's trace event format.
//!
//! Slices (`X`) of one thread lie within each other or apart. Arrows (`s` to `f`) go from the
//! publication of a step to its work, and from there to the answer's arrival.

use std::collections::{BTreeMap, BTreeSet};

use protocol::trace::{CELL_PARTS, CellTrace, TracedProcess};
use protocol::{PeerName, Role, StepTrace};
use serde_json::{Value, json};

use super::file::{Sink, TraceFile};
use super::peer_clock::{Exchange, Offset, PeerClock};
use super::round::{Round, Work};
use super::step_tracer::own_process;

/// The number of the primary among processes; those of others follow.
const PRIMARY: u32 = 1;
/// The number of a process's first thread.
const STEPPER: u32 = 1;
/// Number of processes that have tracks; what more say is left out.
const TRACKS_MAX: usize = 4096;
/// The most that is shown of what a process says of itself.
const TEXT_CHARS_MAX: usize = 64;

/// Makes events of steps.
pub(super) struct Events {
    role: Role,
    own: TracedProcess,
    /// Names of cells, by their ids.
    cells: Vec<String>,
    tracks: BTreeMap<(PeerName, TracedProcess), Track>,
    /// The begin of the first step, from which all times count \[ns\].
    base_ns: Option<u64>,
    /// Time when the stepper was done with the step before, if time goes on from there \[ns\].
    before_ns: Option<u64>,
}

/// State of a process with tracks.
struct Track {
    number: u32,
    clock: PeerClock,
    /// The threads that have been named.
    threads: BTreeSet<u32>,
}

/// A place for slices.
#[derive(Clone, Copy)]
struct Thread {
    process: u32,
    thread: u32,
}

/// Writes the events of one step.
struct Scribe<'a, W> {
    file: &'a mut TraceFile<W>,
    base_ns: u64,
}

impl Events {
    pub(super) fn new(role: Role, cells: Vec<String>) -> Self {
        Self {
            role,
            own: own_process(),
            cells,
            tracks: BTreeMap::new(),
            base_ns: None,
            before_ns: None,
        }
    }

    /// Writes a step, with what those say of it who did it.
    pub(super) fn write<W: Sink>(
        &mut self,
        round: &Round,
        traces: &[(PeerName, StepTrace)],
        file: &mut TraceFile<W>,
    ) {
        let Some(first) = round.spans.first().map(|span| span.begin_ns) else {
            return;
        };
        let is_new = self.base_ns.is_none();
        let base_ns = *self.base_ns.get_or_insert(first);
        let mut scribe = Scribe { file, base_ns };
        if is_new {
            let name = self.role.to_string();
            scribe.process(PRIMARY, &name, &self.own);
            scribe.name_thread(PRIMARY, STEPPER);
        }
        self.write_round(round, &mut scribe);
        for (peer, trace) in traces {
            self.write_trace(round, peer, trace, &mut scribe);
        }
        let is_paused = round.is_paused;
        self.before_ns = round.ended().filter(|_| !is_paused);
    }

    fn write_round<W: Sink>(&self, round: &Round, scribe: &mut Scribe<'_, W>) {
        let (Some((begin, published)), Some(end)) = (round.published(), round.ended()) else {
            return;
        };
        let thread = Thread {
            process: PRIMARY,
            thread: STEPPER,
        };
        let of_step = step_args(round);
        if let Some((before, first)) = self.before_ns.zip(round.spans.first())
            && first.work == Work::Prepare
            && before < first.begin_ns
        {
            scribe.slice(thread, "pace", [before, first.begin_ns], of_step.clone());
        }
        scribe.slice(thread, "step", [begin, end], of_step.clone());
        if let Some(completed) = round.completed() {
            let mut args = of_step.clone();
            args["for"] = json!(round.waited_for.as_ref().map(PeerName::as_str));
            scribe.slice(thread, "wait", [published, completed], args);
        }
        for span in &round.spans {
            let mut args = of_step.clone();
            if let Some(peer) = &span.peer {
                args["from"] = json!(peer.as_str());
            }
            scribe.slice(thread, span.work.name(), [span.begin_ns, span.end_ns], args);
            if let Some(peer) = &span.peer {
                let at = span.begin_ns;
                scribe.arrow("f", thread, ("answer", round, peer), at);
            }
            if span.work == Work::Publish {
                for peer in &round.peers {
                    scribe.arrow("s", thread, ("step", round, peer), span.begin_ns);
                }
            }
        }
    }

    fn write_trace<W: Sink>(
        &mut self,
        round: &Round,
        peer: &PeerName,
        said: &StepTrace,
        scribe: &mut Scribe<'_, W>,
    ) {
        let cells = &self.cells;
        let Some(track) = track(&mut self.tracks, &self.own, peer, &said.process, scribe) else {
            return;
        };
        let (Some((published, _)), Some(answered)) = (round.published(), round.answered(peer))
        else {
            return;
        };
        let done_ns = said.done_ns.max(said.begun_ns);
        let sent_ns = said.answered_ns.max(done_ns);
        let offset = track.clock.note(Exchange {
            published,
            received: said.received_ns,
            done: said.received_ns.saturating_add(done_ns),
            answered,
        });
        let Some(offset) = offset else { return };
        let received = offset.applied(said.received_ns);
        let at = |since: u64| received.saturating_add(since);
        let thread = Thread {
            process: track.number,
            thread: STEPPER,
        };
        let mut args = step_args(round);
        args["clock"] = json!(track.clock.word());
        args["clock_error_us"] = micros(offset.error_ns);
        scribe.name_threads(track, said);
        scribe.slice(thread, "work", [received, at(sent_ns)], args);
        let parts = [
            ("read", [received, at(said.begun_ns)]),
            ("cells", [at(said.begun_ns), at(done_ns)]),
            ("answer", [at(done_ns), at(sent_ns)]),
        ];
        for (name, times) in parts {
            scribe.slice(thread, name, times, step_args(round));
        }
        scribe.arrow("f", thread, ("step", round, peer), received);
        scribe.arrow("s", thread, ("answer", round, peer), at(done_ns));
        for cell in &said.cells {
            let Some(name) = cells.get(cell.cell.0 as usize) else {
                continue;
            };
            let thread = Thread {
                thread: STEPPER.saturating_add(cell.thread),
                ..thread
            };
            let mut args = step_args(round);
            args["cell"] = json!(cell.cell.0);
            let ends = [at(cell.begun_ns), at(done_ns)];
            scribe.cell(thread, name, cell, ends, &args);
        }
    }
}

/// Returns what is known of a process, which is named when it is new.
fn track<'a, W: Sink>(
    tracks: &'a mut BTreeMap<(PeerName, TracedProcess), Track>,
    own: &TracedProcess,
    peer: &PeerName,
    process: &TracedProcess,
    scribe: &mut Scribe<'_, W>,
) -> Option<&'a mut Track> {
    let place = (peer.clone(), process.clone());
    if !tracks.contains_key(&place) {
        if tracks.len() == TRACKS_MAX {
            return None;
        }
        let number = if process == own {
            PRIMARY
        } else {
            let number = PRIMARY + 1 + tracks.len() as u32;
            scribe.process(number, peer.as_str(), process);
            number
        };
        let is_shared = process.clock == own.clock;
        tracks.insert(
            place.clone(),
            Track {
                number,
                clock: if is_shared {
                    PeerClock::Shared
                } else {
                    PeerClock::Other(None)
                },
                threads: BTreeSet::new(),
            },
        );
    }
    tracks.get_mut(&place)
}

fn step_args(round: &Round) -> Value {
    json!({
        "iteration": round.iteration.0,
        "sequence": round.sequence.0,
        "paused": round.is_paused,
    })
}

/// Returns a time as the format has it \[us\].
fn micros(nanoseconds: u64) -> Value {
    json!(nanoseconds as f64 / 1e3)
}

fn shortened(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

impl PeerClock {
    /// Returns how the process's times were put on the primary's clock.
    fn word(&self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Other(_) => "estimated",
        }
    }
}

impl Offset {
    fn applied(self, theirs_ns: u64) -> u64 {
        theirs_ns.saturating_add_signed(self.offset_ns)
    }
}

impl<W: Sink> Scribe<'_, W> {
    fn time(&self, at_ns: u64) -> Value {
        let since = i128::from(at_ns) - i128::from(self.base_ns);
        json!(since as f64 / 1e3)
    }

    /// Writes a slice from one moment to another \[ns\].
    fn slice(&mut self, thread: Thread, name: &str, [begin, end]: [u64; 2], args: Value) {
        let mut event = json!({
            "ph": "X",
            "name": name,
            "pid": thread.process,
            "tid": thread.thread,
            "ts": self.time(begin),
            "dur": micros(end.saturating_sub(begin)),
        });
        event["args"] = args;
        self.file.push(&event);
    }

    /// Writes the slices of a cell, which end by `end`.
    fn cell(
        &mut self,
        thread: Thread,
        name: &str,
        cell: &CellTrace,
        [begin, end]: [u64; 2],
        args: &Value,
    ) {
        let end = begin.saturating_add(cell.whole_ns).min(end).max(begin);
        self.slice(thread, name, [begin, end], args.clone());
        let mut at = begin;
        for (part, took) in CELL_PARTS.iter().zip(cell.parts_ns) {
            let next = at.saturating_add(took).min(end);
            if next > at {
                self.slice(thread, part, [at, next], args.clone());
            }
            at = next;
        }
        if end > at {
            self.slice(thread, "states", [at, end], args.clone());
        }
    }

    /// Writes the begin (`s`) or the end (`f`) of an arrow.
    fn arrow(&mut self, end: &str, thread: Thread, what: (&str, &Round, &PeerName), at_ns: u64) {
        let (name, round, peer) = what;
        let event = json!({
            "ph": end,
            "bp": "e",
            "cat": "step",
            "name": name,
            "id": format!("{name} {} {peer}", round.sequence.0),
            "pid": thread.process,
            "tid": thread.thread,
            "ts": self.time(at_ns),
        });
        self.file.push(&event);
    }

    fn process(&mut self, number: u32, name: &str, process: &TracedProcess) {
        let host = shortened(&process.host);
        let name = format!("{name} (pid {} on {host})", process.pid);
        let args = json!({ "name": name });
        self.metadata("process_name", number, None, &args);
        let args = json!({ "sort_index": number });
        self.metadata("process_sort_index", number, None, &args);
    }

    fn name_threads(&mut self, track: &mut Track, said: &StepTrace) {
        let used = said.cells.iter().map(|cell| cell.thread);
        for thread in std::iter::once(0).chain(used) {
            let is_within = thread <= lockstep::limits::THREADS_MAX;
            if is_within && track.threads.insert(thread) {
                self.name_thread(track.number, STEPPER + thread);
            }
        }
    }

    fn name_thread(&mut self, process: u32, thread: u32) {
        let name = match thread.checked_sub(STEPPER + 1) {
            None => "stepper".to_owned(),
            Some(number) => format!("cells-{number}"),
        };
        let args = json!({ "name": name });
        self.metadata("thread_name", process, Some(thread), &args);
    }

    fn metadata(&mut self, name: &str, process: u32, thread: Option<u32>, args: &Value) {
        let event = json!({
            "ph": "M",
            "name": name,
            "pid": process,
            "tid": thread.unwrap_or(0),
            "args": args,
        });
        self.file.push(&event);
    }
}
