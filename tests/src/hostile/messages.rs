//! Real messages of every kind, which attackers forge, cut and flip.

use std::sync::Arc;

use protocol::action::{ActionFailure, ModelVelocity};
use protocol::client_to_primary::{JointPosition, NamedPose, NamedState, SpawnRequest};
use protocol::participant::{self, AbsencePolicy, AnswerBarrier, JoinBarrier};
use protocol::primary_to_secondary::{CellSnapshot, SceneSnapshot};
use protocol::report::divergence::{DivergenceReport, FoundBy};
use protocol::secondary_to_primary::{
    CaughtUp, CellAck, Heartbeat, Loaded, MachineLoad, StepAck, Transfer,
};
use protocol::{
    CellId, ClientToPrimary, Command, DataBatch, Digest, Envelope, Iteration, LinkPoses, Outcome,
    PeerName, PerformerId, ProtocolVersion, Publisher, RequestId, Role, RosMessage,
    SecondaryToPrimary, Sequence, SessionId, SimTime, StopReason, TopicMessage, encode,
};
use serde::Serialize;
use worker::identity;

/// Returns a request of a client.
pub(super) fn request(session: SessionId, number: u64, command: Command) -> Vec<u8> {
    let request = RequestId(number);
    of("client", session, ClientToPrimary { request, command })
}

/// Returns a message in somebody's name.
pub(super) fn of<B: Serialize>(sender: &str, session: SessionId, body: B) -> Vec<u8> {
    encode(&Envelope {
        version: ProtocolVersion::CURRENT,
        session,
        sender: peer(sender),
        body,
    })
}

pub(super) fn peer(name: &str) -> PeerName {
    name.parse().expect("it is a name")
}

/// Commands that leave a run as it is, since they only ask or name what is not there.
pub(super) fn harmless() -> Vec<(&'static str, Command)> {
    let mut all = of_processes_and_topics();
    all.extend(of_models_that_are_not_there());
    all.extend(of_parts_that_are_not_there());
    all.extend(of_programs_that_may_not_take_part());
    all
}

/// The same of programs whose terms are none, or that have not joined.
fn of_programs_that_may_not_take_part() -> Vec<(&'static str, Command)> {
    let join = |terms| Command::JoinBarrier(Box::new(terms));
    let terms = program("pilot");
    let answer = |commands| {
        Command::AnswerBarrier(Box::new(AnswerBarrier {
            name: peer("nobody"),
            iteration: Iteration(u64::MAX),
            commands,
        }))
    };
    let topics = vec!["/t".repeat(600); 10_000];
    vec![
        ("join-as-peer", join(program("s1"))),
        (
            "join-never",
            join(JoinBarrier {
                every: 0,
                ..terms.clone()
            }),
        ),
        (
            "join-without-time",
            join(JoinBarrier {
                timeout_s: f64::NAN,
                ..terms.clone()
            }),
        ),
        ("join-with-topics", join(JoinBarrier { topics, ..terms })),
        ("answer-nobody", answer(vec![Command::Stop; 100])),
        (
            "answer-within",
            answer(vec![answer(vec![answer(Vec::new())])]),
        ),
        (
            "leave-nobody",
            Command::LeaveBarrier {
                name: peer("nobody"),
            },
        ),
        ("participants", Command::Participants),
    ]
}

/// Returns the terms of a program that holds a run after each iteration, without end.
fn program(name: &str) -> JoinBarrier {
    JoinBarrier {
        name: peer(name),
        every: 1,
        topics: Vec::new(),
        models: Vec::new(),
        timeout_s: participant::TIMEOUT_S_MAX,
        policy: AbsencePolicy::Wait,
    }
}

fn of_processes_and_topics() -> Vec<(&'static str, Command)> {
    let nobody = || "nobody".to_owned();
    vec![
        ("ping", Command::Ping),
        ("snapshot", Command::Snapshot),
        ("history", Command::History),
        ("layout", Command::Layout),
        (
            "scene",
            Command::Scene {
                asset: Some("../../etc/passwd".to_owned()),
                offset: u64::MAX,
            },
        ),
        ("topics", Command::Topics),
        (
            "move-cell",
            Command::MoveCell {
                level: nobody(),
                peer: peer("nobody"),
            },
        ),
        (
            "drain",
            Command::Drain {
                peer: peer("nobody"),
            },
        ),
        (
            "process-ended",
            Command::ProcessEnded {
                peer: peer("nobody"),
                pid: u32::MAX,
                how: "was killed by \u{1b}[31m".repeat(1000),
            },
        ),
    ]
}

/// The same about models that are not there, with numbers that no model may have.
fn of_models_that_are_not_there() -> Vec<(&'static str, Command)> {
    let nobody = || "nobody".to_owned();
    vec![
        (
            "set-performer",
            Command::SetPerformer {
                model: nobody(),
                size: Some([f64::NAN, -0.0, f64::INFINITY]),
            },
        ),
        ("remove", Command::Remove { model: nobody() }),
        (
            "set-pose",
            Command::SetPoses {
                poses: vec![NamedPose {
                    model: nobody(),
                    pose: [f64::NAN; 7],
                }],
            },
        ),
        (
            "set-velocity",
            Command::SetStates {
                states: vec![NamedState {
                    model: nobody(),
                    pose: None,
                    velocity: Some(ModelVelocity {
                        linear: [f64::INFINITY; 3],
                        angular: [f64::NAN; 3],
                    }),
                }],
            },
        ),
        (
            "apply-wrench",
            Command::ApplyWrench {
                link: nobody(),
                force: [f64::INFINITY; 3],
                torque: [f64::NAN; 3],
                duration_s: -1.0,
            },
        ),
    ]
}

/// The same about joints, links and texts.
fn of_parts_that_are_not_there() -> Vec<(&'static str, Command)> {
    let nobody = || "nobody".to_owned();
    vec![
        (
            "set-joint",
            Command::SetJoint {
                joint: nobody(),
                axis: u32::MAX,
                position: Some(f64::NAN),
                velocity: Some(f64::NEG_INFINITY),
            },
        ),
        (
            "set-joints",
            Command::SetJoints {
                model: nobody(),
                positions: vec![JointPosition {
                    joint: nobody(),
                    position: f64::NAN,
                }],
            },
        ),
        (
            "set-collisions",
            Command::SetCollisions {
                entity: nobody(),
                enabled: false,
            },
        ),
        (
            "attach",
            Command::Attach {
                parent: nobody(),
                child: nobody(),
            },
        ),
        (
            "detach",
            Command::Detach {
                parent: nobody(),
                child: nobody(),
            },
        ),
        ("spawn", spawn("<sdf><model name='\u{1b}'/>")),
        (
            "call-service",
            Command::CallService {
                service: "/world/nobody/control".to_owned(),
                kind: String::new(),
                body: vec![0x81, 0xa0],
            },
        ),
        (
            "publish",
            Command::Publish {
                topic: "no topic \u{1b}]0;owned\u{7}".to_owned(),
                kind: "\u{202e}".to_owned(),
                body: vec![0xc1],
            },
        ),
    ]
}

/// Commands that would change a run, for those who may not command.
pub(super) fn harmful() -> Vec<(&'static str, Command)> {
    let mut all = of_the_run();
    all.extend(of_models_that_are_there());
    all.extend(of_who_is_there());
    all
}

fn of_the_run() -> Vec<(&'static str, Command)> {
    use protocol::client_to_primary::ResetKind;
    vec![
        ("play", Command::Play),
        ("pause", Command::Pause),
        ("step", Command::Step { count: u64::MAX }),
        ("checkpoint", Command::Checkpoint),
        ("run-to", Command::RunTo { sim_time_s: 1e9 }),
        (
            "reset",
            Command::Reset {
                what: ResetKind::All,
            },
        ),
        ("set-seed", Command::SetSeed { seed: 9 }),
        ("set-factor", Command::SetRealTimeFactor { factor: 0.01 }),
        ("set-step-size", Command::SetStepSize { step_size_s: 0.1 }),
    ]
}

fn of_models_that_are_there() -> Vec<(&'static str, Command)> {
    let named = |model: &str| model.to_owned();
    vec![
        (
            "remove-ball",
            Command::Remove {
                model: named("ball"),
            },
        ),
        (
            "move-ball",
            Command::SetPoses {
                poses: vec![NamedPose {
                    model: named("ball"),
                    pose: [0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0],
                }],
            },
        ),
        (
            "push-ball",
            Command::ApplyWrench {
                link: named("ball"),
                force: [1e3; 3],
                torque: [0.0; 3],
                duration_s: 1.0,
            },
        ),
        (
            "pass-through",
            Command::SetCollisions {
                entity: named("ball"),
                enabled: false,
            },
        ),
        (
            "attach-ball",
            Command::Attach {
                parent: named("ball::link"),
                child: named("barrel::link"),
            },
        ),
        (
            "keep-ball",
            Command::SetPerformer {
                model: named("ball"),
                size: None,
            },
        ),
        (
            "drive",
            Command::Publish {
                topic: named("/model/rover/cmd_vel"),
                kind: named("gz.msgs.Twist"),
                body: vec![0x80],
            },
        ),
    ]
}

fn of_who_is_there() -> Vec<(&'static str, Command)> {
    let named = |model: &str| model.to_owned();
    vec![
        ("drain-s1", Command::Drain { peer: peer("s1") }),
        (
            "move-first",
            Command::MoveCell {
                level: named("default"),
                peer: peer("s2"),
            },
        ),
        (
            "end-s1",
            Command::ProcessEnded {
                peer: peer("s1"),
                pid: 1,
                how: named("is gone"),
            },
        ),
        (
            "join-barrier",
            Command::JoinBarrier(Box::new(program("pilot"))),
        ),
        ("stop", Command::Stop),
        ("interrupt", Command::Interrupt),
        (
            "spawn-ball",
            spawn("<sdf version='1.9'><model name='m'><link name='l'/></model></sdf>"),
        ),
    ]
}

/// Commands with numbers that no command may have, on what is there.
pub(super) fn extreme() -> Vec<(&'static str, Command)> {
    let ball = || "ball".to_owned();
    let pose = |pose| Command::SetPoses {
        poses: vec![NamedPose {
            model: ball(),
            pose,
        }],
    };
    let wrench = |force, duration_s| Command::ApplyWrench {
        link: ball(),
        force: [force; 3],
        torque: [0.0; 3],
        duration_s,
    };
    let size = |size| Command::SetPerformer {
        model: ball(),
        size: Some([size; 3]),
    };
    vec![
        (
            "step-size-nan",
            Command::SetStepSize {
                step_size_s: f64::NAN,
            },
        ),
        (
            "step-size-minus-0",
            Command::SetStepSize { step_size_s: -0.0 },
        ),
        (
            "step-size-huge",
            Command::SetStepSize { step_size_s: 1e308 },
        ),
        (
            "factor-nan",
            Command::SetRealTimeFactor { factor: f64::NAN },
        ),
        (
            "factor-negative",
            Command::SetRealTimeFactor { factor: -1.0 },
        ),
        (
            "factor-infinite",
            Command::SetRealTimeFactor {
                factor: f64::INFINITY,
            },
        ),
        (
            "run-to-nan",
            Command::RunTo {
                sim_time_s: f64::NAN,
            },
        ),
        ("pose-nan", pose([f64::NAN; 7])),
        ("pose-infinite", pose([f64::INFINITY; 7])),
        ("pose-of-no-turn", pose([0.0; 7])),
        ("force-nan", wrench(f64::NAN, 1.0)),
        ("duration-nan", wrench(0.0, f64::NAN)),
        ("size-nan", size(f64::NAN)),
        ("size-negative", size(-1.0)),
        ("size-minus-0", size(-0.0)),
    ]
}

pub(super) fn spawn(sdf: &str) -> Command {
    Command::Spawn(Box::new(SpawnRequest {
        sdf: sdf.to_owned(),
        ..SpawnRequest::default()
    }))
}

/// Messages of secondaries, with numbers at the ends of their ranges.
pub(super) fn of_secondaries() -> Vec<(&'static str, SecondaryToPrimary)> {
    let most = u64::MAX;
    let ack = StepAck {
        sequence: Sequence(most),
        iteration: Iteration(most),
        cells: vec![CellAck {
            cell: CellId(u32::MAX),
            digest: Digest(u128::MAX),
            physics_ns: most,
            systems_ns: most,
            sensors_ns: most,
            state_count: u32::MAX,
        }],
        at_rest: [CellId(u32::MAX - 1)].into_iter().collect(),
        poses: vec![LinkPoses::pack(PerformerId(u32::MAX), [[f64::NAN; 7]])],
        transfers: vec![Transfer {
            performer: PerformerId(u32::MAX),
            state: vec![0xff; 8],
        }],
        snapshots: vec![CellSnapshot {
            sequence: Sequence(most),
            cell: CellId(u32::MAX),
            bytes: vec![0xff; 8],
        }],
        failures: vec![ActionFailure {
            number: most,
            reason: "\u{1b}[2J".repeat(64),
        }],
        published: u32::MAX,
        busy_ns: most,
        ..StepAck::default()
    };
    let work = protocol::secondary_to_primary::WorkProgress {
        step: Sequence(most),
        answered: Sequence(0),
        job: most,
        answered_job: most,
        replayed: Sequence(most),
    };
    let mut all = vec![
        ("join", SecondaryToPrimary::Join(info("s1"))),
        (
            "loaded",
            SecondaryToPrimary::Loaded(Loaded {
                world_digest: Digest(1),
                gpu: Some("\u{1b}[2J".repeat(64)),
            }),
        ),
        ("synced", SecondaryToPrimary::Synced),
        (
            "heartbeat",
            SecondaryToPrimary::Heartbeat(Heartbeat {
                count: most,
                sent_at_us: most,
                round_trip_us: Some(most),
                clock_offset_us: Some(i64::MIN),
                cpu_time_us: most,
                memory_bytes: most,
                work,
                machine: Some(MachineLoad {
                    load_milli: u32::MAX,
                    cores: 0,
                    memory_bytes: 0,
                    available_bytes: most,
                }),
            }),
        ),
        ("ack", SecondaryToPrimary::StepAck(Arc::new(ack.clone()))),
    ];
    all.extend(of_jobs(ack));
    all
}

/// The same about checkpoints, jobs and ends.
fn of_jobs(ack: StepAck) -> Vec<(&'static str, SecondaryToPrimary)> {
    let most = u64::MAX;
    let report = DivergenceReport {
        iteration: Iteration(most),
        sequence: Sequence(most),
        peer: peer("s1"),
        cell: "\u{1b}[31mred".to_owned(),
        performer: None,
        field: None,
        difference: "x".repeat(10_000),
        found_by: FoundBy::Verification,
        results: Vec::new(),
    };
    vec![
        (
            "cell",
            SecondaryToPrimary::CellCheckpoint(CellSnapshot {
                sequence: Sequence(most),
                cell: CellId(0),
                bytes: vec![0xff; 1000],
            }),
        ),
        (
            "scene",
            SecondaryToPrimary::SceneCheckpoint(SceneSnapshot {
                sequence: Sequence(most),
                bytes: vec![0xff; 1000],
            }),
        ),
        (
            "caught-up",
            SecondaryToPrimary::CaughtUp(Box::new(CaughtUp {
                job: most,
                result: Ok((Vec::new(), ack)),
            })),
        ),
        ("diverged", SecondaryToPrimary::Diverged(Box::new(report))),
        (
            "ros-messages",
            SecondaryToPrimary::RosMessages(vec![RosMessage {
                writer: [0xff; 16],
                number: i64::MIN,
                topic: "\u{1b}]0;owned\u{7}".to_owned(),
                kind: "gz.msgs.Twist".to_owned(),
                body: vec![0xff; 1000],
            }]),
        ),
        (
            "leave",
            SecondaryToPrimary::Leave(StopReason::new(Outcome::Failed, "\u{1b}]0;owned\u{7}")),
        ),
    ]
}

/// Returns what a secondary that runs the right build says of itself.
pub(super) fn info(name: &str) -> protocol::PeerInfo {
    identity::peer_info(peer(name), Role::Secondary)
}

/// Returns what cells said in a step, as it travels.
pub(super) fn data(sequence: u64, body: usize) -> DataBatch {
    let messages = (0..u32::from(body > 0)).map(|part| TopicMessage {
        topic: "/forged".to_owned(),
        kind: "gz.msgs.Empty".to_owned(),
        publisher: Publisher::World { world: 0, part },
        iteration: Iteration(sequence),
        sim_time: SimTime(0),
        body: vec![0x80; body],
    });
    DataBatch {
        sequence: Sequence(sequence),
        batch_number: 1,
        iteration: Iteration(sequence),
        instead_of: None,
        messages: messages.collect(),
    }
}

/// Returns a message cut at a byte, or with a bit flipped; `None` once all are through.
pub(super) fn mutated(message: &[u8], number: usize) -> Option<Vec<u8>> {
    if number < message.len() {
        return Some(message[..number].to_vec());
    }
    let bit = number - message.len();
    let mut flipped = message.to_vec();
    *flipped.get_mut(bit / 8)? ^= 1 << (bit % 8);
    Some(flipped)
}

/// Returns `MessagePack` in which one value is in another, so many times.
pub(super) fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = vec![0x91; depth];
    bytes.push(0xc0);
    bytes
}

/// Heads of `MessagePack` values that announce more than follows.
pub(super) const LENGTHS: [(&str, &[u8]); 6] = [
    ("array", &[0xdd, 0xff, 0xff, 0xff, 0xff]),
    ("map", &[0xdf, 0xff, 0xff, 0xff, 0xff]),
    ("text", &[0xdb, 0xff, 0xff, 0xff, 0xff]),
    ("bytes", &[0xc6, 0xff, 0xff, 0xff, 0xff]),
    ("extension", &[0xc9, 0xff, 0xff, 0xff, 0xff, 0x01]),
    ("number", &[0xcf, 0xff]),
];
