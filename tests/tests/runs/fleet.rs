//! Shows that a fleet is driven and senses alike wherever its robots are hosted: 100 robots with
//! lidars and odometry, told by a script where to go, cross 16 levels. Real processes; the digests
//! of all iterations and of every message are equal for 1, 2 and 4 secondaries and without any.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tests::processes::{Process, Scratch};

const ROBOTS: u32 = 100;
const ITERATIONS: u64 = 3000;
/// Time that a run may take on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(5);
/// Time when all robots are told to go another way.
const TURN: u64 = 1500;

/// Returns where robots are to go: each straight on or in a bend of its own, later the other way
/// round.
fn script() -> String {
    let mut script = String::new();
    for iteration in [0, TURN] {
        for robot in 1..=ROBOTS {
            let speed = 1.2 + 0.1 * f64::from(robot % 5);
            let bend = 0.2 * (f64::from(robot % 3) - 1.0);
            let turn = if iteration == 0 { bend } else { 0.5 - bend };
            writeln!(
                script,
                "{{\"iteration\": {iteration}, \"topic\": \"/model/robot_{robot:04}/cmd_vel\", \
                 \"type\": \"gz.msgs.Twist\", \
                 \"message\": {{\"linear\": {{\"x\": {speed}}}, \"angular\": {{\"z\": {turn}}}}}}}"
            )
            .expect("writing to a String cannot fail");
        }
    }
    script
}

/// A run with the files of its proofs.
struct Run {
    process: Process,
    digests: PathBuf,
    messages: PathBuf,
}

fn start(scratch: &Scratch, secondaries: &str) -> Run {
    let name = format!("fleet{secondaries}");
    let digests = scratch.path(&format!("{name}.digests"));
    let messages = scratch.path(&format!("{name}.messages"));
    let mut command = scratch.phalanx();
    command
        .args(["run", "--headless", "--format", "json", "--name", &name])
        .arg(scratch.path("fleet.sdf"))
        .args(["--secondaries", secondaries])
        .args(["--iterations", &ITERATIONS.to_string()])
        .args(["--real-time-factor", "0"])
        .arg("--commands")
        .arg(scratch.path("script.jsonl"))
        .arg("--digests")
        .arg(&digests)
        .arg("--messages")
        .arg(&messages);
    Run {
        process: scratch.start(&name, &mut command),
        digests,
        messages,
    }
}

fn text(path: &PathBuf) -> String {
    std::fs::read_to_string(path).expect("the run has written its proofs")
}

#[test]
fn a_driven_fleet_says_and_does_the_same_for_any_number_of_secondaries() {
    let scratch = Scratch::new();
    let world = sdf::generate_fleet(ROBOTS, [4, 4]);
    std::fs::write(scratch.path("fleet.sdf"), world).expect("the world is written");
    std::fs::write(scratch.path("script.jsonl"), script()).expect("the script is written");
    let mut expected: Option<[String; 2]> = None;
    for secondaries in ["0", "1", "2", "4"] {
        let mut run = start(&scratch, secondaries);
        let code = run.process.wait_for_long(TIMEOUT);
        assert_eq!(code, 0, "{}", run.process.stderr());
        let summary: Value = serde_json::from_str(&run.process.stdout()).expect("it is JSON");
        let hand_offs = summary["events"]["hand_offs"].as_u64().unwrap_or_default();
        assert!(hand_offs > 10, "{hand_offs} hand-offs");
        let proofs = [text(&run.digests), text(&run.messages)];
        check_messages(&proofs[1]);
        match &expected {
            None => expected = Some(proofs),
            Some(expected) => {
                for (kind, (one, other)) in ["digests", "messages"]
                    .iter()
                    .zip(expected.iter().zip(&proofs))
                {
                    let differing = one.lines().zip(other.lines()).find(|(a, b)| a != b);
                    assert_eq!(differing, None, "{kind} with {secondaries} secondaries");
                    assert_eq!(
                        one.len(),
                        other.len(),
                        "{kind} with {secondaries} secondaries"
                    );
                }
            }
        }
    }
}

/// Checks that every robot says what it should, as often as it should.
fn check_messages(messages: &str) {
    let count = |end: &str| {
        let lines = messages.lines();
        let topics = lines.filter_map(|line| line.split_whitespace().nth(1));
        topics.filter(|topic| topic.ends_with(end)).count() as u64
    };
    // Ten times in each simulated second.
    let expected = u64::from(ROBOTS) * ITERATIONS / 100;
    for topic in ["/scan", "/odometry"] {
        let said = count(topic);
        assert!(
            said.abs_diff(expected) <= u64::from(ROBOTS),
            "{said} messages on {topic}, not {expected}"
        );
    }
    assert_eq!(count("/cmd_vel"), 2 * u64::from(ROBOTS));
}
