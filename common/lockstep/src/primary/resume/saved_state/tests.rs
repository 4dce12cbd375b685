//! A primary that was saved and restored does what the first one does, output for output:
//! performers walk through levels while a schedule spawns, removes, moves, joins and resets.

use std::sync::Arc;

use protocol::client_to_primary::{NamedPose, ResetKind, SpawnRequest};
use protocol::exit::Outcome;
use protocol::peer::Build;
use protocol::primary_to_client::Reply;
use protocol::primary_to_secondary::{SceneSnapshot, Step};
use protocol::report::RunState;
use protocol::secondary_to_primary::{CellAck, Loaded, StepAck, SystemRequest, Transfer};
use protocol::{
    CellId, ClientToPrimary, Command, DigestBuilder, Envelope, FailureCode, LinkPoses, ModelId,
    PeerInfo, PeerName, PerformerId, PerformerState, PrimaryToSecondary, ProtocolVersion,
    Publisher, RequestId, Role, RoutingId, ScheduledCommand, SecondaryToPrimary, SessionId,
    SessionTime, StateBlob,
};

use sdf::World;

use super::*;
use crate::Rules;
use crate::checkpoint::Checkpoint;
use crate::levels::tests::{performer, world};
use crate::primary::settings::{CellSettings, RecoverySettings};
use crate::primary::{Phase, Primary, PrimaryInput, PrimaryOutput, Replay, RunTarget};

/// The last iteration that is looked at.
const LAST: u64 = 45;

const SPAWNED: &str = "<sdf version='1.9'><model name='new'><pose>-3 0 0 0 0 0</pose>\
    <link name='link'><collision name='c'><geometry><sphere><radius>0.5</radius></sphere>\
    </geometry></collision></link></model></sdf>";

pub(in crate::primary) fn worlds() -> Vec<World> {
    let mut first = world("w", &["L1", "L2", "L3"]);
    for (index, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let x = index as f64 * 7.0 - 4.0;
        first.models.push(performer(name, [x, 0.0, 0.0]));
    }
    vec![first]
}

pub(in crate::primary) fn settings() -> Settings {
    let build = Build {
        version: "1".to_owned(),
        target: "t".to_owned(),
        sources: Digest(0),
    };
    Settings {
        schedule: schedule(),
        recovery: RecoverySettings {
            is_journaled: true,
            ..RecoverySettings::default()
        },
        cells: CellSettings {
            rules: Rules {
                interaction_margin: 0.1,
                minimum_stay: 3,
                ..Rules::default()
            },
            balance: false,
            ..CellSettings::default()
        },
        ..Settings::new(SessionId(7), build)
    }
}

fn schedule() -> Vec<ScheduledCommand> {
    let spawn = |name: &str| {
        Command::Spawn(Box::new(SpawnRequest {
            sdf: SPAWNED.to_owned(),
            name: Some(name.to_owned()),
            allow_renaming: true,
            ..SpawnRequest::default()
        }))
    };
    let pose = |model: &str, x: f64| Command::SetPoses {
        poses: vec![NamedPose {
            model: model.to_owned(),
            pose: [x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        }],
    };
    let attach = Command::Attach {
        parent: "a".to_owned(),
        child: "new".to_owned(),
    };
    let remove = |model: &str| Command::Remove {
        model: model.to_owned(),
    };
    let performer = Command::SetPerformer {
        model: "new".to_owned(),
        size: Some([4.0; 3]),
    };
    let models = Command::Reset {
        what: ResetKind::Models,
    };
    let commands = [
        (3, spawn("new")),
        (5, attach),
        (8, spawn("new")),
        (9, remove("b")),
        (9, spawn("b")),
        (12, performer),
        (14, pose("c", 0.5)),
        (17, Command::SetStepSize { step_size_s: 0.002 }),
        (19, Command::SetSeed { seed: 9 }),
        (24, remove("new_0")),
        (31, models),
        (35, spawn("new")),
    ];
    commands
        .into_iter()
        .map(|(iteration, command)| ScheduledCommand {
            iteration: Iteration(iteration),
            paused_round: None,
            command,
        })
        .collect()
}

/// A primary with one secondary.
struct Rig {
    primary: Primary,
    now: SessionTime,
    /// Number of times that it went on.
    turns: u64,
}

impl Rig {
    fn new() -> Self {
        Self::of(settings())
    }

    fn of(settings: Settings) -> Self {
        let mut rig = Self {
            primary: Primary::new(settings, &worlds()),
            now: SessionTime(1),
            turns: 0,
        };
        let info = PeerInfo {
            name: name(),
            role: Role::Secondary,
            pid: 1,
            host: "h".to_owned(),
            machine: 0,
            build: self::settings().build,
        };
        let world_digest = Digest::of_bytes(&sdf::encode_worlds(&worlds()));
        let subscribed = PrimaryInput::Subscribed(routing());
        let inputs = [
            SecondaryToPrimary::Join(info),
            SecondaryToPrimary::Loaded(Loaded {
                world_digest,
                gpu: None,
            }),
            SecondaryToPrimary::Synced,
        ];
        for input in [subscribed].into_iter().chain(inputs.map(from_secondary)) {
            rig.primary.handle(input, rig.now, &mut Vec::new());
        }
        rig
    }

    /// Answers the step under way, or lets the next one begin; returns what comes out.
    fn go_on(&mut self) -> Vec<PrimaryOutput> {
        self.turns += 1;
        let mut out = Vec::new();
        let input = if let Some(step) = self.primary.barrier.step() {
            self.now = self.now + Duration::from_micros(10);
            let ack = Arc::new(ack(&self.primary, step));
            from_secondary(SecondaryToPrimary::StepAck(ack))
        } else {
            let due = self.primary.deadline().expect("a run has something to do");
            self.now = self.now.max(due);
            PrimaryInput::DeadlinePassed {
                inbox_is_empty: true,
            }
        };
        self.primary.handle(input, self.now, &mut out);
        out
    }

    fn is_between_steps(&self) -> bool {
        self.primary.is_idle()
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            sequence: self.primary.sequence(),
            iteration: self.primary.iteration(),
            digest: self.primary.digest(),
            primary: self.primary.save(),
            scene: SceneSnapshot {
                sequence: self.primary.sequence(),
                bytes: Vec::new(),
            },
            cells: Vec::new(),
        }
    }

    /// Makes a primary from what this one saves, whose cells have the same hosts.
    fn twin(&self, replay: Replay) -> Self {
        let resumed = Primary::resume(settings(), &worlds(), self.checkpoint(), replay);
        let mut twin = resumed.expect("it was just saved");
        assert_eq!(twin.refused(), self.primary.refused());
        twin.peers = self.primary.peers.clone();
        for (cell, host) in self.primary.placement.host_map().affinity() {
            let known = twin.peers.numbers();
            twin.placement.place(*cell, host, known);
        }
        if let Some(due) = self.primary.clock.next_due(false) {
            twin.clock.restart_pace(due);
        }
        twin.phase = Phase::Running;
        Self {
            primary: twin,
            now: self.now,
            turns: self.turns,
        }
    }
}

fn from_secondary(body: SecondaryToPrimary) -> PrimaryInput {
    PrimaryInput::Secondary {
        from: routing(),
        envelope: Envelope {
            version: ProtocolVersion::CURRENT,
            session: settings().session,
            sender: name(),
            body,
        },
        wall_clock_us: 0,
    }
}

fn name() -> PeerName {
    "s1".parse().expect("it is a name")
}

/// Makes a primary from a checkpoint, with one secondary that hosts all open cells.
fn resumed(checkpoint: Checkpoint, replay: Replay) -> Rig {
    let resumed = Primary::resume(settings(), &worlds(), checkpoint, replay);
    let mut primary = resumed.expect("it was just saved");
    primary.peers = Rig::new().primary.peers;
    for cell in (0..primary.topology().cells.len() as u32).map(CellId) {
        if primary.partition().is_open(cell) {
            let known = primary.peers.numbers();
            primary.placement.place(cell, &name(), known);
        }
    }
    primary.phase = Phase::Running;
    Rig {
        primary,
        now: SessionTime(1),
        turns: 0,
    }
}

fn routing() -> RoutingId {
    RoutingId::from("r1")
}

/// Makes the secondary's answer: everybody walks along x, some to the right, some to the left.
fn ack(primary: &Primary, step: &Step) -> StepAck {
    let mut ack = StepAck {
        sequence: step.sequence,
        iteration: step.iteration,
        ..StepAck::default()
    };
    let mut states = Vec::new();
    for cell in primary.hosted(&name()) {
        let mut digest = DigestBuilder::default();
        for id in primary.owned(*cell) {
            let state = walk(primary, step, *id);
            digest.digest(state.digest);
            states.push(state);
            if step.wanted.poses.contains(id) {
                ack.poses
                    .push(LinkPoses::pack(*id, [[state.position[0]; 7]]));
            }
            if step.wanted.states.contains(id) {
                let state = vec![id.0 as u8, step.iteration.0 as u8];
                ack.transfers.push(Transfer {
                    performer: *id,
                    state,
                });
            }
        }
        ack.cells.push(CellAck {
            cell: *cell,
            digest: digest.finish(),
            systems_ns: 0,
            sensors_ns: 0,
            physics_ns: 1000,
            state_count: primary.owned(*cell).len() as u32,
        });
    }
    ack.states = StateBlob::pack(&states);
    if step.iteration.0 % 7 == 2 && !step.paused {
        let publisher = Publisher::Model {
            model: ModelId { world: 0, model: 3 },
            part: 0,
        };
        let model = "nobody".to_owned();
        let command = Command::Remove { model };
        ack.requests.push(SystemRequest { publisher, command });
    }
    ack
}

fn walk(primary: &Primary, step: &Step, id: PerformerId) -> PerformerState {
    let mut state = *primary.performer(id).1;
    let speed = if id.0.is_multiple_of(2) { 0.8 } else { -0.6 };
    if !step.paused {
        state.position[0] += speed;
        state.linear_velocity = [speed * 1000.0, 0.0, 0.0];
    }
    state.digest = Digest(u128::from(state.position[0].to_bits()));
    state.reach = [-0.5, 0.5].map(|edge| state.position.map(|at| (at + edge) as f32));
    state
}

#[test]
fn a_restored_primary_does_what_the_first_one_does() {
    let mut first = Rig::new();
    let mut seen = 0;
    while first.primary.iteration() < Iteration(LAST) {
        first.go_on();
        if first.is_between_steps() {
            seen += 1;
            check(&first);
        }
    }
    assert!(seen > LAST / 2, "{seen} ends of steps were looked at");
    assert!(first.primary.events().hand_offs > 10);
}

/// Has a twin go on beside a primary that is built up again to the same moment.
fn check(first: &Rig) {
    let at = first.primary.iteration();
    let mut original = Rig::new();
    // A step may be told of before the next one is made: its number alone does not say how far it
    // has come.
    while original.turns < first.turns {
        original.go_on();
    }
    assert!(original.is_between_steps());
    let mut twin = first.twin(Replay::default());
    twin.now = original.now;
    for turn in 0..40 {
        let (mut expected, mut actual) = (original.go_on(), twin.go_on());
        for output in expected.iter_mut().chain(&mut actual) {
            if let PrimaryOutput::Publish(PrimaryToSecondary::Step(step)) = output {
                let step = Arc::make_mut(step);
                // Messages are counted anew.
                step.batch_number = 0;
                // Secondaries are told that no program takes part any more.
                step.participant_topics.take_if(|topics| topics.is_empty());
            }
        }
        assert_eq!(actual, expected, "turn {turn} after iteration {at}");
    }
    assert_eq!(twin.primary.digest(), original.primary.digest());
    if twin.is_between_steps() {
        assert_eq!(twin.primary.save(), original.primary.save());
    }
}

#[test]
fn models_that_come_and_go_leave_no_memory_behind() {
    const CYCLES: u64 = 10_000;
    let cycle = |number: u64| {
        let at = |iteration, command| ScheduledCommand {
            iteration: Iteration(iteration),
            paused_round: None,
            command,
        };
        let request = |name: &str| SpawnRequest {
            sdf: SPAWNED.to_owned(),
            name: Some(name.to_owned()),
            ..SpawnRequest::default()
        };
        let spawn = |name| Command::Spawn(Box::new(request(name)));
        let remove = |name: &str| Command::Remove {
            model: name.to_owned(),
        };
        // Two that are there in turn, so that numbers are free in the middle as well.
        let names = [["one", "two"], ["two", "one"]][number as usize % 2];
        [at(number, spawn(names[0])), at(number, remove(names[1]))]
    };
    let mut settings = settings();
    settings.schedule = vec![ScheduledCommand {
        iteration: Iteration(1),
        paused_round: None,
        command: cycle(1)[0].command.clone(),
    }];
    settings.schedule.extend((2..CYCLES).flat_map(cycle));
    let mut rig = Rig::of(settings);
    let mut sizes = Vec::new();
    for cycles in [20, CYCLES] {
        while rig.primary.iteration() < Iteration(cycles) || !rig.is_between_steps() {
            rig.go_on();
        }
        let primary = &rig.primary;
        let (topology, world) = (primary.topology(), &primary.world);
        let (partition, host_map) = (primary.partition(), primary.placement.host_map());
        let saved = world.save();
        let encoded = msgpack::to_vec(&(
            saved.topology,
            saved.registry,
            saved.partition,
            saved.latest,
            host_map.save(topology),
        ));
        // All that they hold, whatever it is called.
        sizes.push([
            format!("{topology:?}").len(),
            format!("{world:?}").len(),
            format!("{partition:?}").len(),
            format!("{host_map:?}").len(),
            encoded.expect("it can be encoded").len(),
        ]);
    }
    let count = worlds()[0].models.len() - 3 + 1;
    assert_eq!(rig.primary.topology().performers_by_name().len(), count);
    for (few, many) in sizes[0].iter().zip(&sizes[1]) {
        assert!(many.abs_diff(*few) < few / 4, "{sizes:?}");
    }
}

/// Has a new run come to the end of iteration `last`; returns it with its checkpoint of iteration 6
/// and what is replayed after that, to stand still then.
fn journaled(last: u64) -> (Rig, Checkpoint, Replay) {
    let mut rig = Rig::new();
    let mut checkpoint = None;
    let mut replay = Replay::default();
    while rig.primary.iteration() < Iteration(last) || !rig.is_between_steps() {
        for output in rig.go_on() {
            match output {
                PrimaryOutput::Stamped(command) => replay.commands.push(command),
                PrimaryOutput::StepDone(done) if !done.paused => replay.digests.push(done.digest),
                PrimaryOutput::StepDone(done) => replay.schedule_left = Some(done.schedule_left),
                _ => {}
            }
        }
        if rig.primary.iteration() == Iteration(6) && rig.is_between_steps() {
            checkpoint = Some(rig.checkpoint());
            replay = Replay::default();
        }
    }
    replay.target = Some(RunTarget {
        is_running: false,
        until: None,
        real_time_factor: 0.5,
    });
    (
        rig,
        checkpoint.expect("iteration 6 ends between steps"),
        replay,
    )
}

#[test]
fn steps_since_a_checkpoint_are_replayed() {
    let (first, checkpoint, mut replay) = journaled(LAST);
    let count = replay.digests.len();
    let mut again = resumed(checkpoint.clone(), replay.clone());
    while again.primary.is_replaying() {
        again.go_on();
    }
    assert_eq!(again.primary.iteration(), first.primary.iteration());
    assert_eq!(again.primary.digest(), first.primary.digest());
    assert_eq!(again.primary.run_state(), RunState::Paused);
    assert_eq!(again.primary.settings().pace.real_time_factor, 0.5);

    replay.digests[count / 2] = Digest(1);
    let mut wrong = resumed(checkpoint, replay);
    let reason = loop {
        let out = wrong.go_on();
        let mut reasons = out.into_iter().filter_map(|output| match output {
            PrimaryOutput::Publish(PrimaryToSecondary::Stop(reason)) => Some(reason),
            _ => None,
        });
        if let Some(reason) = reasons.next() {
            break reason;
        }
    };
    let iteration = 6 + count / 2 + 1;
    assert_eq!(reason.outcome, Outcome::DigestMismatch);
    assert!(reason.cause.contains(&format!("iteration {iteration} ")));
}

/// Asks for two commands, as requests 1 and 2, and makes sure that neither is answered at once.
fn ask_for_a_pace_and_steps(rig: &mut Rig) {
    let commands = [
        Command::SetRealTimeFactor { factor: 0.25 },
        Command::Step { count: 2 },
    ];
    for (request, command) in (1..).map(RequestId).zip(commands) {
        let input = PrimaryInput::Client {
            from: RoutingId::from("c"),
            session: settings().session,
            message: ClientToPrimary { request, command },
            texts: Vec::new(),
        };
        let mut out = Vec::new();
        rig.primary.handle(input, rig.now, &mut out);
        assert_eq!(replies(out), []);
    }
}

fn replies(out: Vec<PrimaryOutput>) -> Vec<(RequestId, Reply)> {
    let replies = out.into_iter().filter_map(|output| match output {
        PrimaryOutput::Reply { message, .. } => Some((message.request, message.reply)),
        _ => None,
    });
    replies.collect()
}

#[test]
fn commands_that_come_during_a_replay_wait_for_its_end() {
    let (_, checkpoint, replay) = journaled(10);
    let mut rig = resumed(checkpoint, replay);
    ask_for_a_pace_and_steps(&mut rig);
    let mut answers = Vec::new();
    while answers.len() < 2 {
        answers.extend(replies(rig.go_on()));
        assert!(answers.is_empty() || !rig.primary.is_replaying());
    }
    let done = |iteration| Reply::Done {
        iteration: Iteration(iteration),
        name: None,
        warnings: Vec::new(),
    };
    let expected = [(RequestId(1), done(10)), (RequestId(2), done(12))];
    assert_eq!(answers, expected);
    assert_eq!(rig.primary.settings().pace.real_time_factor, 0.25);
}

#[test]
fn commands_that_wait_for_a_replay_that_fails_are_refused() {
    let (_, checkpoint, mut replay) = journaled(10);
    replay.digests[1] = Digest(1);
    let mut rig = resumed(checkpoint, replay);
    ask_for_a_pace_and_steps(&mut rig);
    let mut answers = Vec::new();
    while answers.is_empty() {
        answers = replies(rig.go_on());
    }
    let requests: Vec<_> = answers.iter().map(|(request, _)| request.0).collect();
    assert_eq!(requests, [1, 2]);
    for (_, answer) in answers {
        let is_failed = matches!(&answer, Reply::Failed { code: FailureCode::Ending, reason }
            if reason.contains("iteration 8 "));
        assert!(is_failed, "{answer:?}");
    }
}

#[test]
fn the_iteration_of_a_checkpoint_is_not_said_again() {
    let mut first = Rig::new();
    while first.primary.iteration() < Iteration(6) || !first.is_between_steps() {
        first.go_on();
    }
    let again = resumed(first.checkpoint(), Replay::default()).primary;
    let says_nothing_new =
        |iteration, step: Step| again.resume.repeats(Iteration(iteration), &step);
    let reset = || Step {
        reset: true,
        ..Step::default()
    };
    assert!(says_nothing_new(6, Step::default()));
    assert!(!says_nothing_new(6, reset()));
    assert!(!says_nothing_new(7, Step::default()));
    assert!(!first.primary.resume.repeats(Iteration(6), &Step::default()));
    let iterations = Replay {
        digests: vec![Digest(1)],
        ..Replay::default()
    };
    let replaying = resumed(first.checkpoint(), iterations).primary;
    assert!(replaying.resume.repeats(Iteration(7), &reset()));
}

#[test]
fn bytes_that_are_no_saved_state_are_refused() {
    let mut rig = Rig::new();
    while rig.primary.iteration() < Iteration(10) || !rig.is_between_steps() {
        rig.go_on();
    }
    let good = rig.checkpoint();
    let with = |primary: Vec<u8>| {
        let checkpoint = Checkpoint {
            primary,
            ..good.clone()
        };
        Primary::resume(settings(), &worlds(), checkpoint, Replay::default())
    };
    let is_empty = with(Vec::new()).expect_err("nothing is no saved state");
    assert!(matches!(is_empty, ResumeError::Empty));
    let is_newer = with(vec![VERSION + 1]).expect_err("another format is no saved state");
    assert!(matches!(is_newer, ResumeError::Version(_)));
    for length in 1..good.primary.len() {
        assert!(
            with(good.primary[..length].to_vec()).is_err(),
            "cut at {length}"
        );
    }
    for index in 0..good.primary.len() {
        let mut bytes = good.primary.clone();
        bytes[index] ^= 1 << (index % 8);
        // Most are other numbers, which the checksums of files find.
        let _ = with(bytes);
    }
    let other = [world("other", &["L1"])];
    let result = Primary::resume(settings(), &other, good.clone(), Replay::default());
    assert!(matches!(result, Err(ResumeError::Unfit(_))));
}

#[test]
fn a_run_that_waits_for_room_still_aims_at_running() {
    let mut rig = Rig::new();
    while rig.primary.iteration() < Iteration(4) || !rig.is_between_steps() {
        rig.go_on();
    }
    let failed = PrimaryInput::StorageFailed("the journal cannot be written".to_owned());
    rig.primary.handle(failed, rig.now, &mut Vec::new());
    while rig.primary.run_state() != RunState::Paused {
        rig.go_on();
    }
    assert!(rig.primary.run_target().is_running);
    let resumed = Primary::resume(settings(), &worlds(), rig.checkpoint(), Replay::default());
    assert!(resumed.expect("it was just saved").run_target().is_running);

    let mut ask = |command: Command| {
        let input = PrimaryInput::Client {
            from: RoutingId::from("c"),
            session: settings().session,
            message: ClientToPrimary {
                request: RequestId(1),
                command,
            },
            texts: Vec::new(),
        };
        let mut out = Vec::new();
        rig.primary.handle(input, rig.now, &mut out);
        out.into_iter().find_map(|output| match output {
            PrimaryOutput::Reply { message, .. } => Some(message.reply),
            _ => None,
        })
    };
    // What nobody could take up again is not done.
    let Some(Reply::Failed { reason, .. }) = ask(Command::SetSeed { seed: 3 }) else {
        panic!("it is refused");
    };
    assert!(reason.contains("nothing is changed until"), "{reason}");
    assert!(matches!(ask(Command::Pause), Some(Reply::Done { .. })));
    assert!(
        !rig.primary.run_target().is_running,
        "a pause that was asked for is one"
    );
}
