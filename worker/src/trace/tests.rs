//! Tests of a trace as a whole: what is handed over comes out as events.

use std::time::Duration;

use protocol::trace::{CellTrace, TracedProcess};
use protocol::{CellId, Iteration, Sequence};
use serde_json::Value;

use super::*;
use crate::trace::step_tracer::own_process;

/// Returns what a process with the clock `clock` says of a step.
fn trace_by(clock: &str, sequence: u64, received_ns: u64) -> StepTrace {
    StepTrace {
        sequence: Sequence(sequence),
        iteration: Iteration(sequence),
        process: TracedProcess {
            pid: 7,
            host: "there".to_owned(),
            clock: clock.to_owned(),
        },
        received_ns,
        begun_ns: 1_000,
        done_ns: 9_000,
        answered_ns: 10_000,
        cells: vec![CellTrace {
            cell: CellId(1),
            thread: 1,
            begun_ns: 2_000,
            whole_ns: 6_000,
            parts_ns: [0, 1_000, 3_000, 0, 0],
        }],
    }
}

pub(super) fn trace(sequence: u64) -> StepTrace {
    trace_by("other", sequence, 5_000)
}

/// Returns a step that was published at 1 ms and answered 30 us later.
fn round(sequence: u64) -> Round {
    let span = |work, begin_ns, end_ns, peer: Option<&str>| Span {
        work,
        begin_ns,
        end_ns,
        peer: peer.map(|name| name.parse().unwrap()),
    };
    Round {
        sequence: Sequence(sequence),
        iteration: Iteration(sequence),
        is_paused: false,
        spans: vec![
            span(Work::Prepare, 990_000, 1_000_000, None),
            span(Work::Publish, 1_000_000, 1_005_000, None),
            span(Work::Update, 1_030_000, 1_040_000, Some("s1")),
            span(Work::Record, 1_040_000, 1_045_000, None),
        ],
        peers: vec!["s1".parse().unwrap()],
        waited_for: Some("s1".parse().unwrap()),
    }
}

/// Writes one step and returns its slices: their name, process, thread, begin and length \[us\].
fn slices(from: &StepTrace) -> Vec<(String, u64, u64, f64, f64)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let window = TraceWindow {
        first: Iteration(1),
        count: 1,
    };
    let mut tracer = Tracer::start(TraceSettings {
        path: path.clone(),
        window,
        role: Role::Primary,
        cells: vec!["outside".to_owned(), "L1".to_owned()],
    })
    .unwrap();
    tracer.feed.give("s1".parse().unwrap(), from.clone());
    tracer.feed.give_round(round(from.sequence.0));
    tracer.finish();
    let text = std::fs::read_to_string(&path).unwrap();
    let events: Vec<Value> = serde_json::from_str(&text).unwrap();
    let slices = events.iter().filter(|event| event["ph"] == "X");
    let number = |event: &Value, key: &str| event[key].as_f64().unwrap();
    slices
        .map(|event| {
            let name = event["name"].as_str().unwrap().to_owned();
            let place = (number(event, "pid") as u64, number(event, "tid") as u64);
            let times = (number(event, "ts"), number(event, "dur"));
            (name, place.0, place.1, times.0, times.1)
        })
        .collect()
}

#[track_caller]
fn check(slices: &[(String, u64, u64, f64, f64)], expected: (&str, u64, u64, f64, f64)) {
    let (name, process, thread, begin, took) = expected;
    let expected = (name.to_owned(), process, thread, begin, took);
    assert!(slices.contains(&expected), "{expected:?} in {slices:?}");
}

#[test]
fn a_step_has_slices_in_the_primary_and_in_its_secondary() {
    let slices = slices(&trace_by(&own_process().clock, 1, 1_008_000));
    check(&slices, ("prepare", 1, 1, 0.0, 10.0));
    check(&slices, ("step", 1, 1, 10.0, 45.0));
    check(&slices, ("wait", 1, 1, 15.0, 25.0));
    check(&slices, ("update", 1, 1, 40.0, 10.0));
    check(&slices, ("work", 2, 1, 18.0, 10.0));
    check(&slices, ("L1", 2, 2, 20.0, 6.0));
    check(&slices, ("systems before", 2, 2, 20.0, 1.0));
    check(&slices, ("physics", 2, 2, 21.0, 3.0));
    check(&slices, ("states", 2, 2, 24.0, 2.0));
}

#[test]
fn another_clock_is_put_on_the_primarys() {
    // The step takes 30 us, of which 9 us are work: there and back take 21 us.
    let slices = slices(&trace(1));
    check(&slices, ("work", 2, 1, 20.5, 10.0));
}

#[test]
fn an_unwritable_file_is_an_error_at_the_start() {
    let settings = TraceSettings {
        path: "/nowhere/trace.json".into(),
        window: TraceWindow {
            first: Iteration(1),
            count: 1,
        },
        role: Role::Standalone,
        cells: Vec::new(),
    };
    assert!(Tracer::start(settings).is_err());
}

#[test]
fn unwritten_traces_are_bounded() {
    let (sender, _receiver) = mpsc::channel();
    let feed = TraceFeed {
        sender,
        waiting: Arc::new(AtomicUsize::new(WAITING_BYTES_MAX + 1)),
        left_out: Arc::default(),
    };
    feed.give_round(round(1));
    assert_eq!(feed.left_out.load(Ordering::Relaxed), 1);
    assert_eq!(feed.waiting.load(Ordering::Relaxed), WAITING_BYTES_MAX + 1);
}

#[test]
fn time_for_last_words_is_not_spent_when_all_is_here() {
    // On a busy machine one may take as long for other reasons, but not all.
    let is_short = (0..10).any(|_| {
        let begin = Instant::now();
        slices(&trace(1));
        begin.elapsed() < Duration::from_secs(2)
    });
    assert!(is_short, "each of ten takes 2 s");
}
