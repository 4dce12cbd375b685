//! A secondary that is told what happens line by line and says what it wants done: the interpreter
//! of `tests/lockstep/secondary/*.txt`.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use lockstep::{
    Secondary, SecondaryInput, SecondaryOutput, SecondarySettings, StepWork, WorldLoaded,
};
use protocol::primary_to_secondary::{
    AffinityChange, CellSnapshot, CellSource, Refusal, Step, Welcome,
};
use protocol::report::divergence::{DivergenceReport, FoundBy};
use protocol::secondary_to_primary::{CellAck, StepAck, StepsAhead};
use protocol::{
    CellId, Digest, Envelope, Iteration, Outcome, PeerName, PrimaryToSecondary, ProtocolVersion,
    Role, SecondaryToPrimary, Sequence, SessionId, SessionTime, StopReason,
};
use worker::identity;

const SESSION: SessionId = SessionId(0xf00d);
/// Number of cells that the world has.
const CELL_COUNT: u32 = 8;

/// A secondary under test.
pub struct SecondaryNode {
    secondary: Secondary,
    now: SessionTime,
    said: String,
}

impl Default for SecondaryNode {
    fn default() -> Self {
        let name: PeerName = "s1".parse().expect("a peer name");
        let settings = SecondarySettings {
            info: identity::peer_info(name, Role::Secondary),
            peer_timeout: Duration::from_secs(1),
        };
        Self {
            secondary: Secondary::new(settings),
            now: SessionTime::default(),
            said: String::new(),
        }
    }
}

impl SecondaryNode {
    /// Executes one command and returns what the secondary said.
    ///
    /// # Panics
    /// Panics if there is no such command.
    pub fn execute(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.said.clear();
        match words.as_slice() {
            ["start"] => self.tell(SecondaryInput::Started),
            ["welcome"] => self.hear(SESSION, PrimaryToSecondary::Welcome(Box::new(welcome()))),
            ["refuse", reason @ ..] => {
                let refusal = Refusal {
                    reason: reason.join(" "),
                };
                self.hear(SESSION, PrimaryToSecondary::Refused(refusal));
            }
            ["loaded"] => self.tell(SecondaryInput::WorldLoaded(WorldLoaded {
                digest: Digest(1),
                cell_count: CELL_COUNT,
                gpu: None,
            })),
            ["failed", error @ ..] => self.tell(SecondaryInput::WorldFailed(error.join(" "))),
            ["sync"] => self.hear(SESSION, PrimaryToSecondary::Sync),
            ["step", sequence, rest @ ..] => self.hear(SESSION, step(sequence, rest)),
            ["foreign_step", sequence] => self.hear(SessionId(0xbad), step(sequence, &[])),
            ["snapshot", cell, step] => self.hear(SESSION, snapshot(cell, step, "")),
            ["snapshot", cell, step, content] => {
                self.hear(SESSION, snapshot(cell, step, content));
            }
            ["refuse_step", why @ ..] => self.tell(SecondaryInput::StepRefused(why.join(" "))),
            ["diverged", difference @ ..] => {
                let report = divergence(&difference.join(" "));
                self.tell(SecondaryInput::StepDiverged(Box::new(report)));
            }
            ["computed" | "computed_ahead", done @ ..] => self.compute(words[0], done),
            ["idle"] => {
                if self.secondary.deadline().is_some_and(|due| due <= self.now) {
                    self.tell(SecondaryInput::DeadlinePassed);
                }
            }
            ["stop"] => {
                let reason = StopReason::new(Outcome::PeerLost, "s2 is gone");
                self.hear(SESSION, PrimaryToSecondary::Stop(reason));
            }
            ["lost", how @ ..] => self.tell(SecondaryInput::PrimaryLost(how.join(" "))),
            ["signal", name] => self.tell(SecondaryInput::Interrupted((*name).to_owned())),
            ["garbage"] => self.tell(SecondaryInput::Malformed),
            ["after", time] => self.pass(time),
            ["refused"] => {
                let _ = writeln!(self.said, "{:?}", self.secondary.refused());
            }
            other => panic!("no such command: {other:?}"),
        }
        if self.said.is_empty() {
            self.said.push_str("(nothing)\n");
        }
        self.said.clone()
    }

    /// Has a step done, with others ahead of it or with a cell, or has others done ahead.
    fn compute(&mut self, what: &str, done: &[&str]) {
        self.tell(match (what, done) {
            ("computed_ahead", [sequence, count, more @ ..]) => {
                SecondaryInput::StepsAheadComputed(StepsAhead {
                    batch_number: 0,
                    acks: acks(number(sequence), number(count)),
                    goes_on: more == ["more"],
                })
            }
            ("computed", [sequence, "ahead", count, more @ ..]) => {
                let mut answer = ack(sequence);
                answer.ahead = acks(answer.sequence.0 + 1, number(count));
                answer.goes_on = more == ["more"];
                SecondaryInput::StepComputed(answer)
            }
            ("computed", [sequence, "with", cell]) => {
                let mut answer = ack(sequence);
                answer.cells.push(CellAck {
                    cell: CellId(number(cell) as u32),
                    digest: Digest(1),
                    physics_ns: 0,
                    systems_ns: 0,
                    sensors_ns: 0,
                    state_count: 0,
                });
                SecondaryInput::StepComputed(answer)
            }
            ("computed", [sequence]) => SecondaryInput::StepComputed(ack(sequence)),
            other => panic!("nothing is done in this way: {other:?}"),
        });
    }

    fn pass(&mut self, time: &str) {
        let ms = number(time.strip_suffix("ms").expect("a time in ms"));
        let until = self.now + Duration::from_millis(ms);
        while let Some(due) = self.secondary.deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.tell(SecondaryInput::DeadlinePassed);
        }
        self.now = until;
    }

    fn hear(&mut self, session: SessionId, body: PrimaryToSecondary) {
        self.tell(SecondaryInput::Primary(Envelope {
            version: ProtocolVersion::CURRENT,
            session,
            sender: PeerName::primary(),
            body,
        }));
    }

    fn tell(&mut self, input: SecondaryInput) {
        let mut outputs = Vec::new();
        self.secondary.handle(input, self.now, &mut outputs);
        for output in outputs {
            let line = match output {
                SecondaryOutput::Send(message) => {
                    format!("primary <- {}", primary_message(&message))
                }
                SecondaryOutput::LoadWorld(_) => "load the world".to_owned(),
                SecondaryOutput::RunStep(work) => run(&work),
                SecondaryOutput::RunAhead => "go on ahead".to_owned(),
                SecondaryOutput::CatchUp(work) => {
                    let steps = work.steps.len();
                    format!("do {steps} steps again up to {}", work.until)
                }
                SecondaryOutput::Checkpoint { sequence, .. } => {
                    format!("checkpoint after step {sequence}")
                }
                SecondaryOutput::Finished(reason) => format!("finished {reason}"),
            };
            let _ = writeln!(self.said, "{line}");
        }
    }
}

fn primary_message(message: &SecondaryToPrimary) -> String {
    match message {
        SecondaryToPrimary::Join(info) => format!("join {}", info.name),
        SecondaryToPrimary::Loaded(_) => "loaded".to_owned(),
        SecondaryToPrimary::Synced => "synced".to_owned(),
        SecondaryToPrimary::Heartbeat(beat) => format!("heartbeat {}", beat.count),
        SecondaryToPrimary::StepAck(ack) if ack.ahead.is_empty() => format!("ack {}", ack.sequence),
        SecondaryToPrimary::StepAck(ack) => {
            format!("ack {} and {} ahead", ack.sequence, ack.ahead.len())
        }
        SecondaryToPrimary::StepsAhead(part) => {
            let (first, more) = (part.acks[0].sequence, part.acks.len() - 1);
            format!("ack {first} and {more} after it, ahead")
        }
        SecondaryToPrimary::CellCheckpoint(cell) => format!("checkpoint of cell {}", cell.cell),
        SecondaryToPrimary::SceneCheckpoint(_) => "checkpoint of the scene".to_owned(),
        SecondaryToPrimary::CaughtUp(done) => match &done.result {
            Ok(_) => format!("caught up with job {}", done.job),
            Err(why) => format!("job {} failed: {why}", done.job),
        },
        SecondaryToPrimary::Diverged(report) => format!("diverged {}", report.difference),
        SecondaryToPrimary::RosMessages(messages) => {
            format!("{} messages of nodes", messages.len())
        }
        SecondaryToPrimary::Leave(reason) => format!("leave {reason}"),
    }
}

fn divergence(difference: &str) -> DivergenceReport {
    DivergenceReport {
        iteration: Iteration(1),
        sequence: Sequence(1),
        peer: "s1".parse().expect("a peer name"),
        cell: "L1".to_owned(),
        performer: Some("ball".to_owned()),
        field: Some("the position".to_owned()),
        difference: difference.to_owned(),
        found_by: FoundBy::Verification,
        results: Vec::new(),
    }
}

fn welcome() -> Welcome {
    Welcome {
        publish_all: false,
        link_record_hz: None,
        ros2: None,
        renderer: protocol::RendererKind::Cpu,
        trace: None,
        worlds: Vec::new(),
        world_digest: Digest(1),
        step_size_ns: 1_000_000,
        seed: 0,
        heartbeat_interval: Duration::from_millis(100),
        heartbeat_timeout: Duration::from_secs(2),
        threads: 1,
        verify: false,
        has_begun: false,
    }
}

/// Returns a step of the iteration of its number, which a message of its own brings or, with
/// `STEP@GRANT`, the one of that number; `paused N` makes it a paused one of iteration N,
/// and each `PEER:SOURCE:CELL` gives a cell to a peer.
fn step(sequence: &str, rest: &[&str]) -> PrimaryToSecondary {
    let (paused, affinities) = match rest {
        ["paused", iteration, affinities @ ..] => (Some(number(iteration)), affinities),
        affinities => (None, affinities),
    };
    let (sequence, grant) = sequence.split_once('@').unwrap_or((sequence, sequence));
    let (sequence, grant) = (number(sequence), number(grant));
    PrimaryToSecondary::Step(Arc::new(Step {
        sequence: Sequence(sequence),
        batch_number: grant,
        iteration: Iteration(paused.unwrap_or(sequence)),
        paused: paused.is_some(),
        affinities: affinities.iter().map(|text| affinity(text)).collect(),
        ..Step::default()
    }))
}

fn affinity(text: &str) -> AffinityChange {
    let parts: Vec<&str> = text.split(':').collect();
    let [peer, source, cell] = parts.as_slice() else {
        panic!("PEER:SOURCE:CELL, not {text:?}");
    };
    AffinityChange {
        cell: CellId(number(cell) as u32),
        secondary: Some(peer.parse().expect("a peer name")),
        source: match *source {
            "start" => CellSource::Start,
            "empty" => CellSource::Empty,
            "snapshot" => CellSource::Snapshot,
            other => panic!("no such source: {other:?}"),
        },
    }
}

fn snapshot(cell: &str, sequence: &str, content: &str) -> PrimaryToSecondary {
    PrimaryToSecondary::CellSnapshot(CellSnapshot {
        sequence: Sequence(number(sequence)),
        cell: CellId(number(cell) as u32),
        bytes: content.as_bytes().to_vec(),
    })
}

fn run(work: &StepWork) -> String {
    let mut text = format!("run step {}", work.step.sequence);
    if let Some(before) = work.back_to {
        let _ = write!(text, ", back at step {before}");
    }
    for snapshot in &work.snapshots {
        let content = String::from_utf8_lossy(&snapshot.bytes);
        let _ = write!(text, ", cell {} {content}", snapshot.cell);
    }
    text.trim_end().to_owned()
}

fn ack(sequence: &str) -> StepAck {
    let number = number(sequence);
    StepAck {
        sequence: Sequence(number),
        iteration: Iteration(number),
        ..StepAck::default()
    }
}

fn acks(first: u64, count: u64) -> Vec<StepAck> {
    let sequences = first..first + count;
    sequences.map(|one| ack(&one.to_string())).collect()
}

fn number(text: &str) -> u64 {
    text.parse()
        .unwrap_or_else(|_| panic!("a number, not {text:?}"))
}
