//! Makes the figures that people and scripts read from the state of a primary.

mod absent;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockstep::roster::{Member, Progress};
use lockstep::{Bounds, Primary, Topology};
use protocol::action::Spawn;
use protocol::groups::{self, Groups};
use protocol::report::{
    Layout, LevelOutline, LevelReport, ModelOutline, ParticipantReport, ParticipantState,
    PeerReport, PeerState, PerformerReport, RunState, SecondarySummary, Snapshot, Stats, Summary,
    TopicReport, holder,
};
use protocol::secondary_to_primary::MachineLoad;
use protocol::{
    CellId, LevelId, ModelId, PeerInfo, PeerName, PerformerId, Publisher, Role, SessionTime,
    StopReason, TopicMessage,
};
use sdf::{ModelParcel, World};
use systems::Survey;

use absent::Absent;

use crate::identity;
use crate::machine;
use crate::meter::Meter;
use crate::relay_watch::RelayContact;
use crate::standalone::STANDALONE_NAME;

/// Time for which a step waits until the one that it waits for counts as blocking.
const LONG_WAIT: Duration = Duration::from_millis(100);

/// Data that reports are made of.
pub struct Reporter {
    worlds: Vec<World>,
    /// Numbers of models, meshes and height grids of each world at the start.
    at_start: Vec<[usize; 4]>,
    /// Models of the start that were removed.
    gone: BTreeSet<ModelId>,
    own: PeerInfo,
    own_cpu: (u64, SessionTime),
    own_machine: Option<MachineLoad>,
    absent: Absent,
    /// Relays of the secondaries that are behind one.
    relays: BTreeMap<PeerName, RelayContact>,
    is_insecure: bool,
}

impl Reporter {
    /// Returns the primary's account of itself.
    pub fn own(&self) -> &PeerInfo {
        &self.own
    }

    /// Makes the reporter of the process that says `own` of itself.
    pub fn new(worlds: Vec<World>, own: PeerInfo) -> Self {
        Self {
            at_start: worlds.iter().map(counts).collect(),
            gone: BTreeSet::new(),
            worlds,
            own,
            absent: Absent::default(),
            relays: BTreeMap::new(),
            own_cpu: (identity::cpu_time_us(), SessionTime(0)),
            own_machine: machine::load(),
            is_insecure: false,
        }
    }

    /// Has it say that whoever reaches the primary may change the run.
    pub fn mark_insecure(&mut self) {
        self.is_insecure = true;
    }

    /// Takes in a model that is spawned, and returns what it attaches; `topics` are those known so
    /// far.
    pub fn add_model(&mut self, spawn: &Spawn, topics: Vec<TopicReport>) -> Survey {
        let mut survey = Survey {
            topics,
            problems: Vec::new(),
        };
        let has_siblings = self.worlds.len() > 1;
        if let Ok(parcel) = ModelParcel::decode(&spawn.parcel)
            && let Some(world) = self.worlds.get_mut(spawn.model.world as usize)
        {
            let index = spawn.model.model as usize;
            world.place(index, parcel);
            survey.add_model(world, has_siblings, index);
        }
        survey
    }

    /// Forgets a model that is gone: it is no part of a map any more. Returns the topics that are
    /// left of `topics`, those known so far.
    pub fn remove_model(&mut self, id: ModelId, topics: Vec<TopicReport>) -> Vec<TopicReport> {
        let mut survey = Survey {
            topics,
            problems: Vec::new(),
        };
        let has_siblings = self.worlds.len() > 1;
        let (number, index) = (id.world as usize, id.model as usize);
        if let Some(world) = self.worlds.get_mut(number)
            && index < world.models.len()
        {
            survey.remove_model(world, has_siblings, index);
            let at_start = self.at_start[number];
            if index < at_start[0] {
                self.gone.insert(id);
            } else {
                world.vacate(index, at_start);
            }
        }
        survey.topics
    }

    /// Notes through which relays secondaries take part now; others are behind none.
    pub fn note_relays(&mut self, relays: BTreeMap<PeerName, RelayContact>) {
        self.relays = relays;
    }

    /// Begins anew with the models of the start.
    pub fn reset(&mut self) {
        let counts = &self.at_start;
        for (world, [models, meshes, grids, files]) in self.worlds.iter_mut().zip(counts) {
            world.models.truncate(*models);
            world.meshes.truncate(*meshes);
            world.height_grids.truncate(*grids);
            world.visual_files.truncate(*files);
        }
        self.gone.clear();
    }

    /// Returns all figures of this moment.
    pub fn snapshot(&mut self, primary: &Primary, meter: &mut Meter, now: SessionTime) -> Snapshot {
        let stats = self.stats(primary, meter, now);
        Snapshot {
            peers: self.peers(primary, meter, &stats, now),
            stats,
            levels: self.levels(primary, meter),
            performers: with_groups(performers(primary), primary),
        }
    }

    /// Returns the figures of the run.
    pub fn stats(&self, primary: &Primary, meter: &mut Meter, now: SessionTime) -> Stats {
        let state = primary.run_state();
        let speed = if state == RunState::Running {
            meter.current_speed(primary.iteration(), now)
        } else {
            crate::meter::Speed::default()
        };
        let [step_us, physics_us, overhead_us] = meter.recent_percentiles(now);
        let (split, recent_step_us) = if state == RunState::Running {
            meter.recent(now)
        } else {
            Default::default()
        };
        let settings = primary.settings();
        let here = primary.roster().len() as u32;
        Stats {
            world: self.world_name(),
            state,
            iteration: primary.iteration().0,
            sim_time_s: primary.sim_time().seconds(),
            elapsed_s: Some(primary.elapsed().seconds()),
            paused: is_paused(primary),
            real_time_factor: speed.real_time_factor,
            real_time_factor_asked: settings.pace.real_time_factor,
            steps_per_s: speed.steps_per_s,
            step_us,
            recent_step_us,
            split,
            steps: meter.steps(),
            physics_us,
            overhead_us,
            digest: primary.digest(),
            refused: primary.refused(),
            secondaries_missing: settings.peers.secondaries.saturating_sub(here),
            events: primary.events(),
            insecure: self.is_insecure,
        }
    }

    /// Returns the processes of the run, the primary first; `stats` are those of this moment.
    pub fn peers(
        &mut self,
        primary: &Primary,
        meter: &Meter,
        stats: &Stats,
        now: SessionTime,
    ) -> Vec<PeerReport> {
        let mut peers = Vec::new();
        if self.own.role == Role::Primary {
            peers.push(self.own_report(now));
        }
        for (name, member) in primary.roster().members() {
            let contact = self.relays.get(name);
            let mut report = PeerReport {
                relay: contact.map(|relay| relay.name.clone()),
                relay_age_ms: contact.map(|relay| relay.silence.as_secs_f64() * 1e3),
                ..peer_report(primary, meter, name, member, now)
            };
            if self.own.role == Role::Standalone {
                let own = self.own_report(now);
                report = PeerReport {
                    cpu: own.cpu,
                    memory_bytes: own.memory_bytes,
                    host_load: own.host_load,
                    ..report
                };
            }
            peers.push(report);
        }
        self.absent.complete(primary, &mut peers);
        let participants = primary.participants(now).into_iter();
        peers.extend(participants.map(participant_report));
        let blocking = blocking_peer(primary, &peers, stats.split.work_us(), now);
        for peer in &mut peers {
            peer.blocking = blocking.as_ref() == Some(&peer.name);
        }
        peers
    }

    /// Returns the levels in world order, each world's default cell first when it has performers;
    /// then the further parts of levels that are split.
    pub fn levels(&self, primary: &Primary, meter: &Meter) -> Vec<LevelReport> {
        let plan = primary.topology();
        let cells = plan
            .cells
            .iter()
            .enumerate()
            .map(|(id, cell)| (CellId(id as u32), cell));
        cells
            .filter(|(id, cell)| {
                let is_first = cell.level.is_some() && cell.part == 0;
                let is_part = cell.part > 0 && primary.partition().is_open(*id);
                is_first || is_part || !primary.owned(*id).is_empty()
            })
            .map(|(id, cell)| LevelReport {
                name: cell.name.clone(),
                world: self.worlds[cell.world].name.clone(),
                active: match cell.level {
                    Some(level) => primary.partition().is_active(level),
                    None => true,
                },
                suspended: primary.partition().is_suspended(id),
                digest: primary.cell_digest(id),
                owner: primary.host(id).cloned(),
                performers: names(plan, primary.owned(id)),
                ghosts: names(plan, &primary.partition().ghosts(id).collect::<Vec<_>>()),
                hand_offs: primary.hand_offs_to(id),
                models_loaded: self.models_loaded(primary, id),
                physics_us: meter.cell(id).physics_us,
                systems_us: meter.cell(id).systems_us,
                sensors_us: meter.cell(id).sensors_us,
            })
            .collect()
    }

    /// Returns how the whole run went.
    pub fn summary(
        &self,
        primary: &Primary,
        meter: &Meter,
        secondaries: Vec<SecondarySummary>,
        reason: StopReason,
        now: SessionTime,
    ) -> Summary {
        let speed = meter.overall_speed(primary.iteration(), now);
        let [step_us, physics_us, overhead_us] = meter.percentiles();
        Summary {
            outcome: reason.outcome,
            cause: reason.cause,
            world: self.world_name(),
            iterations: primary.iteration().0,
            sim_time_s: primary.sim_time().seconds(),
            digest: primary.digest(),
            real_time_factor: speed.real_time_factor,
            steps_per_s: speed.steps_per_s,
            step_us,
            physics_us,
            overhead_us,
            work_us: meter.work_us(),
            secondaries,
            performers: performers(primary),
            events: primary.events(),
            refused: primary.refused(),
        }
    }

    /// Returns what stands still, for maps.
    pub fn layout(&self, plan: &Topology) -> Layout {
        let mut layout = Layout::default();
        for level in &plan.levels {
            layout.levels.push(LevelOutline {
                name: level.name.clone(),
                world: self.worlds[level.world].name.clone(),
                min: level.inner.min,
                max: level.inner.max,
                buffer: level.buffer,
            });
        }
        let models = self.worlds.iter().zip(0..).flat_map(|(world, number)| {
            let numbered = world.models.iter().zip(0..);
            numbered.map(move |(one, model)| {
                (
                    one,
                    ModelId {
                        world: number,
                        model,
                    },
                )
            })
        });
        for (model, _) in models.filter(|(_, id)| !self.gone.contains(id)) {
            if let (true, Some((min, max))) = (model.is_static, model.collision_bounds()) {
                layout.statics.push(ModelOutline {
                    name: model.name.clone(),
                    min,
                    max,
                });
            }
        }
        for performer in plan.performers.iter().filter(|one| !one.is_removed) {
            let Bounds { min, max } = performer.bounds_at(performer.start);
            layout.performers.push(ModelOutline {
                name: performer.name.clone(),
                min,
                max,
            });
        }
        layout
    }

    fn world_name(&self) -> String {
        let names: Vec<&str> = self
            .worlds
            .iter()
            .map(|world| world.name.as_str())
            .collect();
        names.join("+")
    }

    /// Returns the static models that levels have brought into a cell; none while it is suspended.
    fn models_loaded(&self, primary: &Primary, cell: CellId) -> Vec<String> {
        let (plan, membership) = (primary.topology(), primary.partition());
        if membership.is_suspended(cell) {
            return Vec::new();
        }
        let mut models: Vec<usize> = membership
            .loaded(cell)
            .flat_map(|level| plan.level(level).static_models.iter().copied())
            .collect();
        models.sort_unstable();
        models.dedup();
        let world = &self.worlds[plan.cell(cell).world];
        models
            .into_iter()
            .map(|model| world.models[model].name.clone())
            .collect()
    }

    fn own_report(&mut self, now: SessionTime) -> PeerReport {
        let (used, at) = self.own_cpu;
        let elapsed = now.since(at).as_micros() as u64;
        let cpu_time = identity::cpu_time_us();
        let cpu = cpu_time.saturating_sub(used) as f64 / elapsed.max(1) as f64;
        if elapsed > 1_000_000 {
            self.own_cpu = (cpu_time, now);
            self.own_machine = machine::load();
        }
        PeerReport {
            name: self.own.name.clone(),
            role: self.own.role,
            state: PeerState::Active,
            pid: self.own.pid,
            host: self.own.host.clone(),
            heartbeat_age_ms: 0.0,
            round_trip_us: Some(0),
            clock_offset_us: Some(0),
            levels: Vec::new(),
            performers: Vec::new(),
            physics_us: 0.0,
            systems_us: 0.0,
            sensors_us: 0.0,
            busy_us: 0.0,
            network_us: 0.0,
            blocked_us: 0.0,
            wait_us: 0.0,
            last_share: 0.0,
            blocking: false,
            cpu,
            memory_bytes: identity::memory_bytes(),
            host_load: self.own_machine.map(Into::into),
            relay: None,
            relay_age_ms: None,
            gpu: None,
            participant: None,
        }
    }
}

/// Returns how many models, meshes, height grids and files of visuals a world has.
fn counts(world: &World) -> [usize; 4] {
    [
        world.models.len(),
        world.meshes.len(),
        world.height_grids.len(),
        world.visual_files.len(),
    ]
}

/// Tells whether time is paused, also while what was lost is restored.
pub fn is_paused(primary: &Primary) -> bool {
    match primary.run_state() {
        RunState::Paused => true,
        RunState::Recovering => primary.is_to_stand_still(),
        RunState::Waiting | RunState::Running | RunState::Stopping => false,
    }
}

/// Returns the secondaries as they are now, by name; a standalone process has none.
pub fn secondaries(primary: &Primary) -> Vec<SecondarySummary> {
    let members = primary.roster().members();
    members
        .filter(|(name, _)| name.as_str() != STANDALONE_NAME)
        .map(|(name, member)| SecondarySummary {
            name: name.clone(),
            pid: member.info.pid,
            levels: hosted_levels(primary, name),
            performers: hosted_performers(primary, name),
            hand_offs_in: primary.hand_offs_in(name),
        })
        .collect()
}

/// Returns the performers, by name.
pub fn performers(primary: &Primary) -> Vec<PerformerReport> {
    let plan = primary.topology();
    let by_name = primary.performers_by_name().iter();
    by_name
        .map(|id| {
            let (cell, state) = primary.performer(*id);
            let levels = primary.partition().levels_of(*id);
            PerformerReport {
                name: plan.performer(*id).name.clone(),
                owner: primary.host(cell).cloned(),
                level: plan.cell(cell).name.clone(),
                levels: levels
                    .iter()
                    .map(|id: &LevelId| plan.level(*id).name.clone())
                    .collect(),
                position: state.position,
                orientation_xyzw: state.orientation_xyzw,
                linear_velocity: state.linear_velocity,
                angular_velocity: state.angular_velocity,
                hand_offs: primary.hand_offs(*id),
                group: None,
            }
        })
        .collect()
}

/// Fills in the groups of reports on all performers.
fn with_groups(mut reports: Vec<PerformerReport>, primary: &Primary) -> Vec<PerformerReport> {
    let groups = primary.groups().into_iter().zip(0..);
    let numbers: BTreeMap<PerformerId, u32> = groups
        .flat_map(|(members, number)| members.into_iter().map(move |one| (one, number)))
        .collect();
    for (report, id) in reports.iter_mut().zip(primary.performers_by_name()) {
        report.group = numbers.get(id).copied();
    }
    reports
}

/// Returns the groups as observers are told of them.
pub fn groups_message(primary: &Primary) -> TopicMessage {
    let plan = primary.topology();
    let groups = primary.groups().into_iter().map(|members| {
        let names = members.iter().map(|id| plan.performer(*id).name.clone());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    });
    let groups = Groups {
        groups: groups.collect(),
    };
    TopicMessage {
        topic: groups::TOPIC.to_owned(),
        kind: groups::KIND.to_owned(),
        publisher: Publisher::World { world: 0, part: 0 },
        iteration: primary.iteration(),
        sim_time: primary.sim_time(),
        body: groups.encode(),
    }
}

/// Returns the secondary that holds the run back: the one that a long step waits for, else the one
/// that steps were held by of late.
fn blocking_peer(
    primary: &Primary,
    peers: &[PeerReport],
    work_us: f64,
    now: SessionTime,
) -> Option<PeerName> {
    let mut programs = primary.holding_participants();
    if let Some((name, _)) = programs.find(|(_, since)| now.since(*since) >= LONG_WAIT) {
        return Some(name.clone());
    }
    let is_long = primary
        .waiting_since()
        .is_some_and(|since| now.since(since) >= LONG_WAIT);
    if is_long {
        let mut missing = primary.blocking();
        return missing.next().filter(|_| missing.next().is_none()).cloned();
    }
    holder(peers, work_us).map(|peer| peer.name.clone())
}

fn peer_report(
    primary: &Primary,
    meter: &Meter,
    name: &PeerName,
    member: &Member,
    now: SessionTime,
) -> PeerReport {
    let measured = meter.peer(name);
    let performers = hosted_performers(primary, name);
    let state = match member.progress {
        Progress::Welcomed => PeerState::Joining,
        Progress::Loaded => PeerState::Syncing,
        Progress::Synced if member.closed_at.is_some() => PeerState::Gone,
        Progress::Synced if primary.is_draining(name) => PeerState::Draining,
        Progress::Synced if primary.is_catching_up(name) => PeerState::CatchingUp,
        Progress::Synced if performers.is_empty() => PeerState::Standby,
        Progress::Synced => PeerState::Active,
    };
    PeerReport {
        name: name.clone(),
        role: member.info.role,
        state,
        pid: member.info.pid,
        host: member.info.host.clone(),
        heartbeat_age_ms: match primary.settings().peers.heartbeat_timeout {
            Some(_) => now.since(member.heard_at).as_secs_f64() * 1e3,
            None => 0.0,
        },
        round_trip_us: member.heartbeat.round_trip_us,
        clock_offset_us: member.heartbeat.clock_offset_us,
        levels: hosted_levels(primary, name),
        performers,
        physics_us: measured.physics_us,
        systems_us: measured.systems_us,
        sensors_us: measured.sensors_us,
        busy_us: measured.busy_us,
        network_us: measured.network_us,
        blocked_us: measured.blocked_us,
        wait_us: measured.wait_us,
        last_share: measured.last_share,
        blocking: false,
        cpu: measured.cpu,
        memory_bytes: member.heartbeat.memory_bytes,
        host_load: member.heartbeat.machine.map(Into::into),
        relay: None,
        relay_age_ms: None,
        gpu: member.gpu.clone(),
        participant: None,
    }
}

/// Returns how a program that takes part in lockstep is shown among the processes: its time is that
/// of its answers.
fn participant_report(participant: ParticipantReport) -> PeerReport {
    let is_holding = participant.holds_us.is_some();
    PeerReport {
        name: participant.name.clone(),
        role: Role::Participant,
        state: match participant.state {
            ParticipantState::Awaited => PeerState::Lost,
            ParticipantState::Holding | ParticipantState::Ready => PeerState::Active,
            ParticipantState::Late => PeerState::CatchingUp,
        },
        pid: 0,
        host: String::new(),
        heartbeat_age_ms: 0.0,
        round_trip_us: None,
        clock_offset_us: None,
        levels: Vec::new(),
        performers: Vec::new(),
        physics_us: 0.0,
        systems_us: 0.0,
        sensors_us: 0.0,
        busy_us: participant.wait_p50_us,
        network_us: 0.0,
        blocked_us: 0.0,
        wait_us: 0.0,
        last_share: 0.0,
        blocking: is_holding,
        cpu: 0.0,
        memory_bytes: 0,
        host_load: None,
        relay: None,
        relay_age_ms: None,
        gpu: None,
        participant: Some(participant),
    }
}

fn hosted_levels(primary: &Primary, name: &PeerName) -> Vec<String> {
    let plan = primary.topology();
    let cells = primary.hosted(name).iter();
    cells.map(|cell| plan.cell(*cell).name.clone()).collect()
}

fn hosted_performers(primary: &Primary, name: &PeerName) -> Vec<String> {
    let plan = primary.topology();
    let cells = primary.hosted(name).iter();
    cells
        .flat_map(|cell| names(plan, primary.owned(*cell)))
        .collect()
}

fn names(plan: &Topology, performers: &[PerformerId]) -> Vec<String> {
    performers
        .iter()
        .map(|id| plan.performer(*id).name.clone())
        .collect()
}
