//! [`HostChanges`]: hosts that are added to a run as it goes on, and hosts that are drained.
//!
//! The owner of the run has the connections to its hosts, and is asked by its socket. A host that
//! is added is examined in a thread of its own, as those of the start are; its secondaries count
//! once they take part. A host is drained when all its secondaries have handed their cells over and
//! left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use client::Observer;
use client::feed::{CommandError, Feed};
use protocol::error_chain::chain;
use protocol::primary_to_observers::Severity;
use protocol::{Command, FailureCode, PeerName, Role};
use run::{Host, HostList, Ros2};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::console::Console;
use super::process_events::tell;
use super::progress::RunProgress;
use super::running::LiveRun;
use crate::launch::death::Death;
use crate::launch::hosts::{self, HostProblem, PreparedHost};
use crate::launch::launched::Launched;
use crate::launch::supervisor::Supervisor;
use crate::owner_socket::{HostChange, OwnerAnswer, Question};

/// The most changes that are under way at a time.
const CHANGES_MAX: usize = 8;

/// Changes of the hosts of a run.
#[derive(Debug)]
pub(super) struct HostChanges {
    launched: Launched,
    worker: PathBuf,
    /// The most secondaries that the primary lets in; 0 if it is alone.
    room: u32,
    /// Sections of hosts that the run began with; a host may go and come again.
    sections: Vec<Host>,
    /// Number of the next secondary: none is ever used again.
    next_number: u32,
    next_id: u64,
    under_way: BTreeMap<u64, UnderWay>,
    /// Ends of processes that a change waits for, in words.
    deaths: BTreeMap<String, String>,
    questions: mpsc::Receiver<Question>,
    examined: (mpsc::Sender<Examined>, mpsc::Receiver<Examined>),
}

/// Something that concerns the hosts.
#[derive(Debug)]
pub(super) enum HostEvent {
    /// A change is asked for.
    Asked(Question),
    /// Hosts that are to be added were examined.
    Examined(Examined),
}

/// Hosts that were examined for a change.
#[derive(Debug)]
pub(super) struct Examined {
    id: u64,
    result: Result<Vec<PreparedHost>, Vec<HostProblem>>,
}

/// A change that is under way.
#[derive(Debug)]
struct UnderWay {
    /// Place for the answer, until it was given.
    answer: Option<oneshot::Sender<OwnerAnswer>>,
    deadline: Instant,
    limit: Duration,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Hosts are examined.
    Examining { hosts: String, slots: u32 },
    /// Secondaries are to join.
    Joining {
        hosts: String,
        all: Vec<String>,
        missing: BTreeSet<String>,
    },
    /// Secondaries are to leave.
    Draining {
        host: String,
        all: Vec<String>,
        left: BTreeSet<String>,
    },
}

/// Reason why hosts cannot be changed. It is told to who asked.
#[derive(Debug, thiserror::Error)]
enum ChangeError {
    #[error("{0} {1}")]
    List(String, run::HostError),
    #[error("the run is one process: start it with secondaries or --hosts")]
    Standalone,
    #[error(
        "the primary listens on this machine alone: start the run with --hosts, or with \
         --bind tcp://0.0.0.0:0"
    )]
    OnlyHere,
    #[error("the run waits for its first secondaries yet")]
    NotBegun,
    #[error(
        "the run has room for {room} secondaries, and would have {wanted}: run.stand_bys says how \
         many may join beyond those that it began with"
    )]
    NoRoom { room: u32, wanted: u32 },
    #[error("{CHANGES_MAX} changes of hosts are under way")]
    TooMany,
    #[error("no secondary of this run was started on {host}; {there}")]
    Unknown { host: String, there: String },
    #[error("{host} has all secondaries of the run: nobody could take its cells")]
    Last { host: String },
    #[error("{host} is drained already")]
    Draining { host: String },
    #[error(transparent)]
    Key(#[from] transport::KeyError),
    #[error(transparent)]
    Spawn(#[from] crate::launch::process::SpawnError),
    #[error("cannot start a thread to examine hosts")]
    Thread(#[source] std::io::Error),
}

/// Parts of a run that changes of its hosts act on.
struct Parts<'a> {
    supervisor: &'a mut Supervisor,
    observer: &'a mut Observer,
    known: &'a RunProgress,
}

impl HostChanges {
    /// Begins without any change.
    pub(super) fn new(
        mut launched: Launched,
        worker: PathBuf,
        questions: mpsc::Receiver<Question>,
    ) -> Self {
        // It is written down as what it was when it was started first.
        (launched.plan.is_resumed, launched.plan.accepts_loss) = (false, false);
        let plan = &launched.plan;
        let started = plan.spec.run.secondaries + plan.spec.secondaries_of_hosts();
        let is_alone = plan.needed_secondaries() == 0;
        Self {
            room: if is_alone { 0 } else { plan.room() },
            sections: plan.spec.hosts.clone(),
            next_number: started + 1,
            launched,
            worker,
            next_id: 0,
            under_way: BTreeMap::new(),
            deaths: BTreeMap::new(),
            questions,
            examined: mpsc::channel(CHANGES_MAX),
        }
    }

    /// Returns the iterations after which the run ends, if it does.
    pub(super) fn iterations(&self) -> Option<u64> {
        self.launched.plan.spec.run.iterations
    }

    /// Returns the settings of the run's part in ROS 2.
    pub(super) fn ros2(&self) -> &Ros2 {
        &self.launched.plan.spec.ros2
    }

    /// Tells whether secondaries are to come that are not started here.
    pub(super) fn awaits_others(&self) -> bool {
        self.launched.plan.spec.network.remote_secondaries > 0
    }

    /// Waits for the next event. May be dropped and called again.
    pub(super) async fn event(&mut self) -> HostEvent {
        tokio::select! {
            Some(question) = self.questions.recv() => HostEvent::Asked(question),
            Some(examined) = self.examined.1.recv() => HostEvent::Examined(examined),
            else => std::future::pending().await,
        }
    }

    /// Notes how a process ended.
    pub(super) fn on_death(&mut self, death: &Death) {
        if !self.under_way.is_empty() {
            self.deaths.insert(death.name.clone(), death.describe());
        }
    }

    fn on_asked(&mut self, question: Question, parts: &mut Parts<'_>) {
        let limit = Duration::from_millis(question.asked.limit_ms);
        let begun = match &question.asked.change {
            HostChange::Add(list) => self.begin_to_add(list, parts),
            HostChange::Drain(host) => self.begin_to_drain(host, parts),
        };
        match begun {
            Ok(stage) => {
                let change = UnderWay {
                    answer: Some(question.answer),
                    deadline: Instant::now() + limit,
                    limit,
                    stage,
                };
                self.under_way.insert(self.next_id, change);
                self.next_id += 1;
            }
            Err(error) => answer(question.answer, failed(chain(&error))),
        }
    }

    /// Has hosts examined, whose secondaries are started then.
    fn begin_to_add(&self, list: &str, parts: &Parts<'_>) -> Result<Stage, ChangeError> {
        let hosts: HostList = list
            .parse()
            .map_err(|error| ChangeError::List("the list".to_owned(), error))?;
        let plan = &self.launched.plan;
        let hosts = hosts.with_sections(&self.sections);
        if self.room == 0 {
            return Err(ChangeError::Standalone);
        }
        if !plan.spec.network.is_on_tcp() {
            return Err(ChangeError::OnlyHere);
        }
        if !parts.known.has_begun() {
            return Err(ChangeError::NotBegun);
        }
        if self.under_way.len() >= CHANGES_MAX {
            return Err(ChangeError::TooMany);
        }
        let there = parts.supervisor.secondaries().count() as u32 + self.examined_slots();
        let more = slots(&hosts);
        let wanted = there + plan.spec.network.remote_secondaries + more;
        let room = self.room;
        if wanted > room {
            return Err(ChangeError::NoRoom { room, wanted });
        }
        let named: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        let stage = Stage::Examining {
            hosts: named.join(", "),
            slots: more,
        };
        self.examine(hosts)?;
        Ok(stage)
    }

    /// Returns how many secondaries will be started on hosts that are examined now.
    fn examined_slots(&self) -> u32 {
        let stages = self.under_way.values().map(|change| &change.stage);
        let slots = stages.map(|stage| match stage {
            Stage::Examining { slots, .. } => *slots,
            Stage::Joining { .. } | Stage::Draining { .. } => 0,
        });
        slots.sum()
    }

    /// Examines hosts in a thread, which ends by itself within the time that a host is given.
    fn examine(&self, hosts: Vec<Host>) -> Result<(), ChangeError> {
        let (id, sender) = (self.next_id, self.examined.0.clone());
        let (spec, worker) = (self.launched.plan.spec.clone(), self.worker.clone());
        let examine = move || {
            let result = hosts::prepare_these(&spec, hosts, &worker);
            // The run may have ended meanwhile.
            let _ = sender.blocking_send(Examined { id, result });
        };
        let thread = std::thread::Builder::new().name("hosts".to_owned());
        thread.spawn(examine).map_err(ChangeError::Thread)?;
        Ok(())
    }

    /// Starts the secondaries of hosts that were examined.
    fn on_examined(&mut self, examined: Examined, parts: &mut Parts<'_>) {
        let Some(change) = self.under_way.remove(&examined.id) else {
            return; // Its time was over.
        };
        let Stage::Examining { hosts, .. } = change.stage else {
            return;
        };
        let started = match examined.result {
            Ok(prepared) => self.start(&prepared, parts).map_err(|error| chain(&error)),
            Err(problems) => {
                let texts: Vec<String> = problems.iter().map(|problem| chain(problem)).collect();
                Err(texts.join("\n"))
            }
        };
        match started {
            Ok(names) => {
                let missing = names.iter().cloned().collect();
                let stage = Stage::Joining {
                    hosts,
                    all: names,
                    missing,
                };
                self.under_way
                    .insert(examined.id, UnderWay { stage, ..change });
            }
            Err(reason) => {
                if let Some(place) = change.answer {
                    answer(place, failed(reason));
                }
            }
        }
    }

    fn start(
        &mut self,
        prepared: &[PreparedHost],
        parts: &mut Parts<'_>,
    ) -> Result<Vec<String>, ChangeError> {
        let commands = self.launched.plan.commands_on(prepared, self.next_number)?;
        parts.supervisor.add(&commands)?;
        let secondaries = commands
            .into_iter()
            .filter(|command| command.role == Role::Secondary);
        let names: Vec<String> = secondaries.map(|command| command.name).collect();
        self.next_number += names.len() as u32;
        Ok(names)
    }

    /// Has the primary drain all secondaries of a host that take part, and ends the others.
    fn begin_to_drain(&self, host: &str, parts: &mut Parts<'_>) -> Result<Stage, ChangeError> {
        let others = || parts.supervisor.secondaries();
        let on_host = |place: Option<&str>| place == Some(host);
        let all: Vec<String> = others()
            .filter(|(_, place)| on_host(*place))
            .map(|(name, _)| name.to_owned())
            .collect();
        if all.is_empty() {
            let there: BTreeSet<&str> = others().filter_map(|(_, place)| place).collect();
            let there = if there.is_empty() {
                "it has no hosts".to_owned()
            } else {
                let there: Vec<&str> = there.into_iter().collect();
                format!("its hosts are {}", there.join(", "))
            };
            let host = host.to_owned();
            return Err(ChangeError::Unknown { host, there });
        }
        let is_drained = |name: &str| {
            let mut stages = self.under_way.values().map(|change| &change.stage);
            stages.any(|stage| match stage {
                Stage::Draining { all, .. } => all.iter().any(|one| one == name),
                Stage::Examining { .. } | Stage::Joining { .. } => false,
            })
        };
        if all.iter().any(|name| is_drained(name)) {
            let host = host.to_owned();
            return Err(ChangeError::Draining { host });
        }
        let stays = |name: &str| !all.iter().any(|leaving| leaving == name) && !is_drained(name);
        if !parts.known.working().any(|name| stays(name.as_str())) {
            let host = host.to_owned();
            return Err(ChangeError::Last { host });
        }
        for name in &all {
            parts.supervisor.let_go(name);
            match name.parse::<PeerName>() {
                Ok(peer) if parts.known.is_here(&peer) => {
                    parts.observer.send(Command::Drain { peer });
                }
                // The run has never counted on it, or not since it was lost.
                Ok(_) | Err(_) => parts.supervisor.end_one(name),
            }
        }
        Ok(Stage::Draining {
            host: host.to_owned(),
            left: all.iter().cloned().collect(),
            all,
        })
    }

    /// Takes the primary's answer to a drain that it refuses: a secondary that it does not know, or
    /// has lost meanwhile, is ended, and its cells are restored elsewhere; any other stays.
    fn on_refused(&mut self, peer: &PeerName, error: &CommandError, parts: &mut Parts<'_>) {
        let is_gone = matches!(
            error,
            CommandError::Refused {
                code: FailureCode::NotFound | FailureCode::Lost,
                ..
            }
        );
        for change in self.under_way.values_mut() {
            let Stage::Draining { all, left, .. } = &mut change.stage else {
                continue;
            };
            if !left.contains(peer.as_str()) {
                continue;
            }
            if is_gone {
                parts.supervisor.end_one(peer.as_str());
                continue;
            }
            parts.supervisor.count_on(peer.as_str());
            left.remove(peer.as_str());
            all.retain(|name| name != peer.as_str());
            if let Some(place) = change.answer.take() {
                answer(place, failed(error.to_string()));
            }
        }
        // All of them stay.
        self.under_way.retain(|_, change| match &change.stage {
            Stage::Draining { all, .. } => !all.is_empty(),
            Stage::Examining { .. } | Stage::Joining { .. } => true,
        });
    }

    /// Takes in what has become of the secondaries that are to come or to leave; returns what to
    /// say of it.
    fn advance(&mut self, parts: &mut Parts<'_>, now: Instant) -> Vec<String> {
        let mut told = Vec::new();
        let deaths = &mut self.deaths;
        self.under_way.retain(|_, change| {
            let (is_over, said) = match change.advance(parts, deaths, now) {
                Progress::Goes => (false, None),
                Progress::Late(reason) => {
                    let is_over = matches!(change.stage, Stage::Examining { .. });
                    let is_late = true;
                    (is_over, Some(OwnerAnswer::Failed { reason, is_late }))
                }
                Progress::Failed { reason, is_late } => {
                    (true, Some(OwnerAnswer::Failed { reason, is_late }))
                }
                Progress::Done { text, secondaries } => {
                    told.push(text);
                    (true, Some(OwnerAnswer::Done { secondaries }))
                }
            };
            if let Some(said) = said
                && let Some(place) = change.answer.take()
            {
                answer(place, said);
            }
            !is_over
        });
        if self.under_way.is_empty() {
            self.deaths.clear();
        }
        told
    }

    /// Notes the hosts that the run has now, so that it goes on with them when it is resumed.
    fn note_hosts(&mut self, supervisor: &Supervisor) {
        let mut slots: BTreeMap<String, u32> = BTreeMap::new();
        for (_, host) in supervisor.secondaries() {
            if let Some(host) = host {
                *slots.entry(host.to_owned()).or_default() += 1;
            }
        }
        let spec = &mut self.launched.plan.spec;
        if slots.is_empty() {
            spec.hosts.clear();
            spec.network.hosts = None;
        } else {
            spec.network.hosts = Some(HostList::of(slots));
        }
    }
}

/// Returns how many secondaries are started on hosts.
fn slots(hosts: &[Host]) -> u32 {
    hosts.iter().map(|host| host.slots).sum()
}

/// Outcome of a change so far.
enum Progress {
    /// It is under way.
    Goes,
    /// Its time is over; it may go on.
    Late(String),
    /// It failed, or its time was over before it was done.
    Failed { reason: String, is_late: bool },
    /// It is done.
    Done {
        text: String,
        secondaries: Vec<String>,
    },
}

impl UnderWay {
    fn advance(
        &mut self,
        parts: &mut Parts<'_>,
        deaths: &BTreeMap<String, String>,
        now: Instant,
    ) -> Progress {
        let is_late = now >= self.deadline && self.answer.is_some();
        let seconds = self.limit.as_secs_f64();
        match &mut self.stage {
            Stage::Examining { hosts, .. } if is_late => {
                Progress::Late(format!("{hosts} did not answer within {seconds} s"))
            }
            Stage::Examining { .. } => Progress::Goes,
            Stage::Joining {
                hosts,
                all,
                missing,
            } => {
                for peer in parts.known.working() {
                    if missing.remove(peer.as_str()) {
                        parts.supervisor.count_on(peer.as_str());
                    }
                }
                if missing.is_empty() {
                    let secondaries = std::mem::take(all);
                    let text = format!("{hosts} added: {} joined", secondaries.join(", "));
                    return Progress::Done { text, secondaries };
                }
                let ended = missing
                    .iter()
                    .find(|name| !parts.supervisor.is_running(name));
                let reason = match ended {
                    Some(name) => deaths
                        .get(name)
                        .cloned()
                        .unwrap_or_else(|| format!("{name} ended before it joined")),
                    None if is_late => {
                        let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
                        let names = missing.join(", ");
                        format!(
                            "{names} on {hosts} did not join within {seconds} s: does the host \
                             reach this machine? `phalanx doctor` examines it"
                        )
                    }
                    None => return Progress::Goes,
                };
                // What has joined stays; what has not is no part of the run.
                for name in &*missing {
                    parts.supervisor.end_one(name);
                    parts.supervisor.forget(name);
                }
                let is_late = ended.is_none();
                Progress::Failed { reason, is_late }
            }
            Stage::Draining { host, all, left } => {
                left.retain(|name| parts.supervisor.is_running(name));
                if left.is_empty() {
                    for name in &*all {
                        parts.supervisor.forget(name);
                    }
                    let secondaries = std::mem::take(all);
                    let names = secondaries.join(", ");
                    let text = format!("{host} drained: {names} handed over their cells and left");
                    return Progress::Done { text, secondaries };
                }
                if !is_late {
                    return Progress::Goes;
                }
                let left: Vec<&str> = left.iter().map(String::as_str).collect();
                let names = left.join(", ");
                Progress::Late(format!(
                    "{names} on {host} did not leave within {seconds} s, and will when their cells \
                     are handed over"
                ))
            }
        }
    }
}

/// Takes in an event, and starts or ends what it asks for.
pub(super) fn on_event(run: &mut LiveRun, event: HostEvent, console: &mut Console) {
    let (hosts, mut parts) = parts(run);
    match event {
        HostEvent::Asked(question) => hosts.on_asked(question, &mut parts),
        HostEvent::Examined(examined) => hosts.on_examined(examined, &mut parts),
    }
    note(run, console);
    advance(run, console);
}

/// Takes in answers of the primary to what was asked of it here.
pub(super) fn on_feeds(run: &mut LiveRun, feeds: &[Feed]) {
    let (hosts, mut parts) = parts(run);
    for feed in feeds {
        if let Feed::Reply {
            command: Command::Drain { peer },
            result: Err(error),
        } = feed
        {
            hosts.on_refused(peer, error, &mut parts);
        }
    }
}

/// Goes on with the changes that are under way.
pub(super) fn advance(run: &mut LiveRun, console: &mut Console) {
    if run.hosts.under_way.is_empty() {
        return;
    }
    let (hosts, mut parts) = parts(run);
    let told = hosts.advance(&mut parts, Instant::now());
    for text in told {
        console.note(&text);
        tell(run, Severity::Info, text, console);
    }
    note(run, console);
}

/// Writes down who the processes of the run are now, if others are than before.
fn note(run: &mut LiveRun, console: &mut Console) {
    let workers = run.supervisor.workers();
    if workers == run.record.workers {
        return;
    }
    run.record.workers = workers;
    if let Err(error) = run.directory.write_record(&run.record) {
        console.warn(&format!("{:#}", anyhow::Error::new(error)));
    }
    run.hosts.note_hosts(&run.supervisor);
    let launched = &run.hosts.launched;
    if launched.plan.spec.journal.folder().is_some() {
        let path = run.directory.launch_file();
        if let Err(error) = launched.write(&path) {
            console.warn(&format!("cannot write {}: {error}", path.display()));
        }
    }
}

fn parts(run: &mut LiveRun) -> (&mut HostChanges, Parts<'_>) {
    let parts = Parts {
        supervisor: &mut run.supervisor,
        observer: &mut run.observer,
        known: &run.known,
    };
    (&mut run.hosts, parts)
}

fn failed(reason: String) -> OwnerAnswer {
    OwnerAnswer::Failed {
        reason,
        is_late: false,
    }
}

/// Answers who asked, who may have gone.
fn answer(place: oneshot::Sender<OwnerAnswer>, answer: OwnerAnswer) {
    let _ = place.send(answer);
}
