//! A primary that is told what happens line by line and says what it wants done: the interpreter
//! of `tests/lockstep/primary/*.txt`.

mod program;
mod request;
mod wording;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use self::wording::secondary_message;
use lockstep::{PeerLossPolicy, Primary, PrimaryInput, PrimaryOutput, ProcessReport, Settings};
use protocol::action::ActionFailure;
use protocol::peer::Build;
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::{Announce, Event, PrimaryToObservers, Severity};
use protocol::primary_to_secondary::{CatchUpContent, CellSnapshot, SceneSnapshot, Step};
use protocol::report::divergence::{DivergenceReport, FoundBy};
use protocol::secondary_to_primary::{
    CaughtUp, CellAck, Heartbeat, Loaded, StepAck, SystemRequest, Transfer,
};
use protocol::{
    Access, CellId, ClientToPrimary, Command, Digest, DigestBuilder, Envelope, Iteration,
    LinkPoses, ModelId, PeerName, PerformerId, PerformerState, PrimaryToSecondary, ProtocolVersion,
    Publisher, RequestId, Role, RoutingId, SecondaryToPrimary, Sequence, SessionId, SessionTime,
    StopReason, TopicMessage,
};
use worker::identity;

use crate::cluster;
use crate::worlds;

/// A primary under test.
#[derive(Default)]
pub struct PrimaryNode {
    primary: Option<Primary>,
    worlds: Vec<u8>,
    now: SessionTime,
    step: Step,
    /// The last job, and the step with which it ends.
    job: (u64, Sequence),
    said: String,
    /// Positions at which `at` put performers, by name: their origin's x \[m\].
    moved: BTreeMap<String, f64>,
    /// Actions that failed, as the next ack says.
    failures: Vec<ActionFailure>,
    /// True if the digests in the next ack are not those of its states.
    is_damaged: bool,
    /// Requests of a system in the next ack.
    requests: Vec<SystemRequest>,
    /// Messages for programs in the next ack.
    published: Vec<TopicMessage>,
    /// Number of requests of programs.
    program_requests: u64,
    /// The role of the key of whoever speaks, where keys are needed.
    access: Option<Access>,
}

/// The system that asks for something.
const SYSTEM: Publisher = Publisher::Model {
    model: ModelId { world: 0, model: 1 },
    part: 0,
};

impl PrimaryNode {
    /// Executes one command and returns what the primary said.
    ///
    /// # Panics
    /// Panics if there is no such command.
    pub fn execute(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.said.clear();
        match words.as_slice() {
            ["primary", options @ ..] => self.create(options),
            ["as", role, ..] => {
                self.access = Some(role.parse().expect("the role of a key"));
                let (_, rest) = line.split_once(role).expect("it was just found");
                self.execute(rest);
                self.access = None;
            }
            ["join", name] => self.join(name, "1.0.0"),
            ["join", name, version] => self.join(name, version),
            ["subscribe", name] => self.tell(PrimaryInput::Subscribed(routing(name))),
            ["load", name] => self.load(name, Digest::of_bytes(&self.worlds)),
            ["load_other", name] => self.load(name, Digest(1)),
            ["sync", name] => self.hear(name, SecondaryToPrimary::Synced),
            ["ready", name] => self.ready(name),
            ["ack", name] => self.ack(name, self.step.sequence, self.step.iteration),
            ["fail", number, reason @ ..] => self.fail(number, reason),
            ["ask", command @ ..] => self.requests.push(SystemRequest {
                publisher: SYSTEM,
                command: request::command(command),
            }),
            ["ack", name, sequence] => {
                let sequence = Sequence(sequence.parse().expect("a sequence number"));
                self.ack(name, sequence, self.step.iteration);
            }
            ["damaged_ack", name] => {
                self.is_damaged = true;
                self.ack(name, self.step.sequence, self.step.iteration);
            }
            ["foreign_ack", name] => self.foreign_ack(name),
            ["at", performer, x] => {
                let x = x.parse().expect("a coordinate");
                self.moved.insert((*performer).to_owned(), x);
            }
            ["beat", name] => self.beat(name),
            ["caught_up", name] => self.catch_up(name),
            ["diverged", name] => self.diverge(name),
            ["checkpoint_part", name, cell, step @ ..] => self.save(name, cell, step.first()),
            ["leave", name] => self.hear(name, SecondaryToPrimary::Leave(interrupted(name))),
            ["gone", name] => self.tell(PrimaryInput::Unsubscribed(routing(name))),
            ["gone", name, "with", relay] => self.tell(PrimaryInput::GoneWithRelay {
                secondary: routing(name),
                relay: (*relay).to_owned(),
            }),
            ["after", time] => self.pass(time),
            ["stall", time] => self.stall(time),
            ["diagnosed", name, state @ ..] => self.diagnose(name, &state.join(" ")),
            ["ended", name, pid, how @ ..] => self.end_process(name, pid, &how.join(" ")),
            ["signal", name] => self.tell(PrimaryInput::Interrupted((*name).to_owned())),
            ["request", number, command @ ..] => {
                self.request(SessionId(0xf00d), number, command);
            }
            ["foreign_request", number, command @ ..] => {
                self.request(SessionId(0xbad), number, command);
            }
            ["forged_leave", name] => self.forged_leave(name),
            ["refused"] => {
                let refused = self.primary.as_ref().expect("a primary").refused();
                let _ = writeln!(self.said, "{refused:?}");
            }
            other => self.execute_of_program(other),
        }
        if self.said.is_empty() {
            self.said.push_str("(nothing)\n");
        }
        self.said.clone()
    }

    /// Has the next ack say that an action could not be done.
    fn fail(&mut self, number: &str, reason: &[&str]) {
        let reason = reason.join(" ");
        let number = number.parse().expect("the number of an action");
        self.failures.push(ActionFailure { number, reason });
    }

    fn create(&mut self, options: &[&str]) {
        let mut settings = cluster::settings(1, u64::MAX);
        settings.build = build("1.0.0");
        let (mut levels, mut is_watched) = (2, true);
        for option in options {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            match key {
                "secondaries" => settings.peers.secondaries = number(value) as u32,
                "iterations" => settings.pace.iterations = Some(number(value)),
                "levels" => levels = number(value) as u32,
                "blind" => is_watched = false,
                "paused" => settings.pace.start_paused = true,
                "real_time_factor" => settings.pace.real_time_factor = number(value) as f64,
                "ros2" => settings.outputs.ros2 = Some(program::ros_settings()),
                "recover" => settings.recovery.on_peer_loss = PeerLossPolicy::Recover,
                "stand_bys" => settings.recovery.stand_bys = number(value) as u32,
                "checkpoint_every" => settings.recovery.checkpoint_every = number(value),
                "awaits" => settings.participants.awaited.push(peer(value)),
                "participants_max" => settings.participants.max = number(value) as u32,
                "wait_for_debugger" => settings.peers.step_timeout_stages.wait_for_debugger = true,
                "heartbeat_timeout" => {
                    settings.peers.heartbeat_timeout = Some(Duration::from_millis(number(value)));
                }
                other => panic!("no such option: {other}"),
            }
        }
        let mut worlds = [worlds::row(levels, 1)];
        if is_watched {
            worlds::watch(&mut worlds[0]);
        }
        self.worlds = sdf::encode_worlds(&worlds);
        self.start(settings, &worlds);
    }

    fn start(&mut self, settings: Settings, worlds: &[sdf::World]) {
        self.primary = Some(Primary::new(settings, worlds));
        self.tell(PrimaryInput::DeadlinePassed {
            inbox_is_empty: true,
        });
    }

    fn join(&mut self, name: &str, version: &str) {
        let mut info = identity::peer_info(peer(name), Role::Secondary);
        info.pid = 7;
        "host".clone_into(&mut info.host);
        info.build = build(version);
        self.hear_in(SessionId::UNKNOWN, name, SecondaryToPrimary::Join(info));
    }

    fn load(&mut self, name: &str, world_digest: Digest) {
        self.hear(
            name,
            SecondaryToPrimary::Loaded(Loaded {
                world_digest,
                gpu: None,
            }),
        );
    }

    fn ready(&mut self, name: &str) {
        self.join(name, "1.0.0");
        self.tell(PrimaryInput::Subscribed(routing(name)));
        self.load(name, Digest::of_bytes(&self.worlds));
        self.hear(name, SecondaryToPrimary::Synced);
    }

    fn ack(&mut self, name: &str, sequence: Sequence, iteration: Iteration) {
        let primary = self.primary.as_ref().expect("a primary");
        let mut ack = StepAck {
            sequence,
            iteration,
            failures: std::mem::take(&mut self.failures),
            requests: std::mem::take(&mut self.requests),
            for_participants: std::mem::take(&mut self.published),
            ..StepAck::default()
        };
        let wanted = &self.step.wanted;
        for cell in (0..primary.topology().cells.len() as u32).map(CellId) {
            if primary.host(cell) != Some(&peer(name)) {
                continue;
            }
            let mut digest = DigestBuilder::default();
            for performer in primary.owned(cell).iter().copied() {
                let state = self.state(primary, performer);
                digest.digest(state.digest);
                ack.states.push(&state);
                if wanted.poses.contains(&performer) {
                    ack.poses.push(LinkPoses::pack(performer, [[0.0; 7]]));
                }
                if wanted.states.contains(&performer) {
                    let state = b"whole".to_vec();
                    ack.transfers.push(Transfer { performer, state });
                }
            }
            if wanted.snapshots.contains(&cell) {
                let bytes = b"snapshot".to_vec();
                ack.snapshots.push(CellSnapshot {
                    sequence,
                    cell,
                    bytes,
                });
            }
            ack.cells.push(CellAck {
                cell,
                digest: if self.is_damaged {
                    Digest(1)
                } else {
                    digest.finish()
                },
                systems_ns: 0,
                sensors_ns: 0,
                physics_ns: 0,
                state_count: primary.owned(cell).len() as u32,
            });
        }
        self.is_damaged = false;
        self.hear(name, SecondaryToPrimary::StepAck(Arc::new(ack)));
    }

    /// Returns what a performer's host says of it: a ball of 0.3 m that `at` may have moved.
    fn state(&self, primary: &Primary, performer: PerformerId) -> PerformerState {
        let (_, known) = primary.performer(performer);
        let mut state = *known;
        if let Some(x) = self
            .moved
            .get(&primary.topology().performer(performer).name)
        {
            state.position[0] = *x;
        }
        let [low, high] = [-0.3, 0.3].map(|edge| state.position.map(|center| center + edge));
        state.reach = [
            low.map(|number| number as f32),
            high.map(|number| number as f32),
        ];
        state
    }

    fn foreign_ack(&mut self, name: &str) {
        let ack = StepAck {
            sequence: self.step.sequence,
            iteration: self.step.iteration,
            ..StepAck::default()
        };
        self.hear_in(
            SessionId(0xbad),
            name,
            SecondaryToPrimary::StepAck(Arc::new(ack)),
        );
    }

    /// Claims that the last job is done, with no cell.
    fn catch_up(&mut self, name: &str) {
        let (job, until) = self.job;
        let ack = StepAck {
            sequence: until,
            ..StepAck::default()
        };
        let result = Ok((Vec::new(), ack));
        let answer = Box::new(CaughtUp { job, result });
        self.hear(name, SecondaryToPrimary::CaughtUp(answer));
    }

    /// Says that a step done twice gave two results.
    fn diverge(&mut self, name: &str) {
        let report = Box::new(DivergenceReport {
            iteration: self.step.iteration,
            sequence: self.step.sequence,
            peer: peer(name),
            cell: "L1".to_owned(),
            performer: None,
            field: None,
            difference: "something".to_owned(),
            found_by: FoundBy::Verification,
            results: Vec::new(),
        });
        self.hear(name, SecondaryToPrimary::Diverged(report));
    }

    /// Sends a part of the checkpoint that the step asked for: a cell or the scene.
    /// Sends a part of the checkpoint after a step, the last one if none is named.
    fn save(&mut self, name: &str, part: &str, step: Option<&&str>) {
        let named = step.map(|step| Sequence(number(step)));
        let sequence = named.unwrap_or(self.step.sequence);
        let bytes = b"saved".to_vec();
        let message = if part == "scene" {
            SecondaryToPrimary::SceneCheckpoint(SceneSnapshot { sequence, bytes })
        } else {
            SecondaryToPrimary::CellCheckpoint(CellSnapshot {
                sequence,
                cell: CellId(number(part) as u32),
                bytes,
            })
        };
        self.hear(name, message);
    }

    fn beat(&mut self, name: &str) {
        self.hear_from(
            routing(name).heartbeat(),
            SessionId(0xf00d),
            name,
            SecondaryToPrimary::Heartbeat(Heartbeat::default()),
        );
    }

    /// Leaves in the name of a secondary, from another connection.
    fn forged_leave(&mut self, name: &str) {
        self.hear_from(
            routing("forger"),
            SessionId(0xf00d),
            name,
            SecondaryToPrimary::Leave(interrupted(name)),
        );
    }

    fn request(&mut self, session: SessionId, request: &str, command: &[&str]) {
        let command = request::command(command);
        let message = ClientToPrimary {
            request: RequestId(number(request)),
            command,
        };
        self.tell(PrimaryInput::Client {
            from: "client".into(),
            session,
            message,
            texts: Vec::new(),
        });
    }

    /// Answers that a process is in such a state, has used 2.5 s of CPU time, and is stopped if the
    /// state says so.
    fn diagnose(&mut self, name: &str, state: &str) {
        let process = ProcessReport {
            state: state.to_owned(),
            is_stopped: state.contains("stopped"),
            cpu_time_us: Some(2_500_000),
        };
        let peer = peer(name);
        self.tell(PrimaryInput::Diagnosed { peer, process });
    }

    fn end_process(&mut self, name: &str, pid: &str, how: &str) {
        self.tell(PrimaryInput::Client {
            from: "client".into(),
            session: SessionId(0xf00d),
            message: ClientToPrimary {
                request: RequestId(0),
                command: Command::ProcessEnded {
                    peer: peer(name),
                    pid: number(pid) as u32,
                    how: how.to_owned(),
                },
            },
            texts: Vec::new(),
        });
    }

    /// Time passes while the primary does nothing.
    fn stall(&mut self, time: &str) {
        let ms = number(time.strip_suffix("ms").expect("a time in ms"));
        self.now = self.now + Duration::from_millis(ms);
    }

    fn pass(&mut self, time: &str) {
        let ms = number(time.strip_suffix("ms").expect("a time in ms"));
        let until = self.now + Duration::from_millis(ms);
        loop {
            let due = self.primary.as_ref().and_then(Primary::deadline);
            let Some(due) = due.filter(|due| *due <= until) else {
                break;
            };
            self.now = self.now.max(due);
            self.tell(PrimaryInput::DeadlinePassed {
                inbox_is_empty: true,
            });
        }
        self.now = until;
    }

    fn hear(&mut self, name: &str, body: SecondaryToPrimary) {
        self.hear_in(SessionId(0xf00d), name, body);
    }

    fn hear_in(&mut self, session: SessionId, name: &str, body: SecondaryToPrimary) {
        self.hear_from(routing(name), session, name, body);
    }

    fn hear_from(
        &mut self,
        from: RoutingId,
        session: SessionId,
        name: &str,
        body: SecondaryToPrimary,
    ) {
        let envelope = Envelope {
            version: ProtocolVersion::CURRENT,
            session,
            sender: peer(name),
            body,
        };
        self.tell(PrimaryInput::Secondary {
            from,
            envelope,
            wall_clock_us: 0,
        });
    }

    fn tell(&mut self, input: PrimaryInput) {
        let mut outputs = Vec::new();
        let input = lockstep::access::admit(input, self.access.unwrap_or(Access::Full));
        self.primary
            .as_mut()
            .expect("a primary")
            .handle(input, self.now, &mut outputs);
        for output in outputs {
            self.say(output);
        }
    }

    fn say(&mut self, output: PrimaryOutput) {
        let line = match output {
            PrimaryOutput::Publish(message) => {
                if let PrimaryToSecondary::Step(step) = &message {
                    self.step = (**step).clone();
                }
                format!("all <- {}", secondary_message(&message))
            }
            PrimaryOutput::Ahead(step) => format!("step {} was done ahead", step.sequence),
            PrimaryOutput::Send { to, message } => {
                if let PrimaryToSecondary::CatchUp(part) = &message
                    && let CatchUpContent::Begin { until, .. } = &part.content
                {
                    self.job = (part.job, *until);
                }
                format!("{} <- {}", address(&to), secondary_message(&message))
            }
            PrimaryOutput::Reply { to, message } if program::is_address(&to) => {
                program::reply(&to, message.reply)
            }
            PrimaryOutput::Reply { message, .. } => match message.reply {
                Reply::Done {
                    iteration,
                    warnings,
                    ..
                } => {
                    let warned: Vec<String> = warnings
                        .iter()
                        .map(|text| format!("\n  told: {text}"))
                        .collect();
                    let warned = warned.concat();
                    format!("client <- {} done at {iteration}{warned}", message.request)
                }
                Reply::Failed { reason, .. } => {
                    format!("client <- {} failed: {reason}", message.request)
                }
                Reply::Snapshot(_)
                | Reply::History(_)
                | Reply::Layout(_)
                | Reply::Scene(_)
                | Reply::Topics(_)
                | Reply::Barrier(_)
                | Reply::Participants(_)
                | Reply::Clients(_) => "client <- figures".to_owned(),
            },
            PrimaryOutput::Checkpointed(checkpoint) => {
                format!("checkpoint after step {}", checkpoint.sequence)
            }
            PrimaryOutput::Diagnose { peer, pid, host } => {
                format!("diagnose {peer} (pid {pid} on {host})")
            }
            PrimaryOutput::Diverged(report) => format!("diverged {}", report.sentence()),
            PrimaryOutput::Stamped(_) | PrimaryOutput::Replayed => return,
            PrimaryOutput::Report { request, .. } => format!("report for {request}"),
            PrimaryOutput::Disconnect { request, key, .. } => {
                format!("disconnect {key} for {request}")
            }
            PrimaryOutput::Observe(message) => match observed(&message) {
                Some(line) => line,
                None => return,
            },
            PrimaryOutput::StepDone(report) => {
                let paused = if report.paused { " paused" } else { "" };
                format!("done iteration {}{paused}", report.iteration)
            }
            PrimaryOutput::Finished(reason) => format!("finished {reason}"),
        };
        let world = Digest::of_bytes(&self.worlds).to_string();
        let _ = writeln!(self.said, "{}", line.replace(&world, "(its digest)"));
    }
}

fn build(version: &str) -> Build {
    Build {
        version: version.to_owned(),
        target: "target".to_owned(),
        sources: Digest(0),
    }
}

fn observed(message: &PrimaryToObservers) -> Option<String> {
    match message {
        PrimaryToObservers::Event(Event { severity, text, .. }) => {
            let mark = match severity {
                Severity::Info => "info",
                Severity::Warning => "warning",
                Severity::Error => "error",
            };
            Some(format!("  {mark}: {text}"))
        }
        PrimaryToObservers::Announce(Announce::Joined(info)) => {
            Some(format!("observers <- joined {}", info.name))
        }
        PrimaryToObservers::Announce(Announce::Left { name, .. }) => {
            Some(format!("observers <- left {name}"))
        }
        PrimaryToObservers::Announce(Announce::Stopping(reason)) => {
            Some(format!("observers <- stopping {reason}"))
        }
        PrimaryToObservers::Heartbeat(beat) => {
            Some(format!("observers <- heartbeat {}", beat.name))
        }
        _ => None,
    }
}

fn interrupted(name: &str) -> StopReason {
    StopReason::new(
        protocol::Outcome::Interrupted,
        format!("{name} received SIGTERM"),
    )
}

fn peer(name: &str) -> PeerName {
    name.parse().expect("a peer name")
}

fn routing(name: &str) -> RoutingId {
    RoutingId::from(format!("r-{name}").as_str())
}

fn address(routing: &RoutingId) -> String {
    routing.to_string().trim_start_matches("r-").to_owned()
}

fn number(text: &str) -> u64 {
    text.parse()
        .unwrap_or_else(|_| panic!("a number, not {text:?}"))
}
