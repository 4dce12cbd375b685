//! A world of levels in a row with boxes that pile up and carts that roll, and hosts for its cells.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use protocol::action::ActionFailure;
use protocol::primary_to_secondary::{
    AffinityChange, CellSnapshot, CellSource, HandOff, LevelChange, Step,
};
use protocol::{
    CellId, Digest, Iteration, LevelId, LinkPoses, PeerName, PerformerId, PerformerState, SimTime,
    TopicMessage,
};
use sdf::World;

use crate::{CellHost, HostSettings, HostedCell, StepError};

const STEP_NS: u64 = 1_000_000;
/// Boxes in each level.
const BOXES: u32 = 6;
/// Performers in each level: the boxes, then a cart.
pub(super) const RESIDENTS: u32 = BOXES + 1;

/// One thread, every step once.
pub(super) const PLAIN: HostSettings = HostSettings {
    step_size_ns: STEP_NS,
    threads: 1,
    verify: false,
    seed: 0,
    publish_all: false,
    link_record_hz: None,
    trace: None,
};

/// Returns a world of levels of 10 m along x. Each has a floor, a pile of boxes and a cart; a curb
/// along all of them is in every level, and a wall is in none.
pub(super) fn row(name: &str, levels: u32) -> World {
    read(&row_text(name, levels))
}

/// Reads the only world of a text.
pub(super) fn read(text: &str) -> World {
    let read = sdf::read_worlds(text, "row.sdf", &sdf::NoFiles).expect("the text is valid");
    read.worlds.into_iter().next().expect("it holds a world")
}

/// Returns the text of [`row`].
pub(super) fn row_text(name: &str, levels: u32) -> String {
    let mut text = format!(
        "<sdf version='1.11'><world name='{name}'>{}{}",
        solid("curb", true, [0.0, 4.5, 0.1], [200.0, 0.2, 0.2]),
        solid("wall", true, [0.0, 8.0, 1.0], [200.0, 0.2, 2.0])
    );
    let mut plugin = String::from("<plugin name='gz::sim' filename='none'>");
    for level in 0..levels {
        let x = f64::from(level) * 10.0;
        let floor = format!("floor_{level}");
        text += &solid(&floor, true, [x, 0.0, -0.5], [10.0, 10.0, 1.0]);
        for number in 0..BOXES {
            let shift = f64::from(number);
            let at = [x + 0.06 * shift, 0.04 * shift, 0.3 + 0.35 * shift];
            text += &solid(&format!("box_{level}_{number}"), false, at, [0.3; 3]);
        }
        text += &cart(&format!("cart_{level}"), [x - 2.0, 1.0, 0.4]);
        let _ = write!(
            plugin,
            "<level name='L{level}'><pose>{x} 0 2 0 0 0</pose><geometry><box><size>10 10 6</size>\
             </box></geometry><buffer>2</buffer><ref>{floor}</ref><ref>curb</ref></level>"
        );
    }
    let _ = write!(text, "{plugin}</plugin></world></sdf>");
    text
}

fn solid(name: &str, is_static: bool, [x, y, z]: [f64; 3], size: [f64; 3]) -> String {
    let size = size.map(|edge| edge.to_string()).join(" ");
    format!(
        "<model name='{name}'><static>{is_static}</static><pose>{x} {y} {z} 0 0 0.1</pose>{}\
         </model>",
        link("link", [0.0; 3], &format!("<box><size>{size}</size></box>"))
    )
}

/// Returns a chassis on two wheels that an unevenly hung weight keeps in motion.
fn cart(name: &str, [x, y, z]: [f64; 3]) -> String {
    let mut text = format!(
        "<model name='{name}'><pose>{x} {y} {z} 0 0.2 0</pose>{}",
        link("chassis", [0.0; 3], "<box><size>0.4 0.2 0.1</size></box>")
    );
    for (wheel, side) in [("left", 0.2), ("right", -0.2)] {
        let ball = "<sphere><radius>0.12</radius></sphere>";
        text += &link(wheel, [0.1, side, -0.05], ball);
        let _ = write!(
            text,
            "<joint name='{wheel}_joint' type='revolute'><parent>chassis</parent>\
             <child>{wheel}</child><axis><xyz>0 1 0</xyz><dynamics><damping>0.01</damping>\
             <friction>0.02</friction></dynamics></axis></joint>"
        );
    }
    text + "</model>"
}

fn link(name: &str, [x, y, z]: [f64; 3], geometry: &str) -> String {
    format!(
        "<link name='{name}'><pose>{x} {y} {z} 0 0 0</pose><inertial><mass>1</mass><inertia>\
         <ixx>0.02</ixx><iyy>0.02</iyy><izz>0.02</izz></inertia></inertial>\
         <collision name='collision'><geometry>{geometry}</geometry></collision>\
         <visual name='visual'><geometry>{geometry}</geometry></visual></link>"
    )
}

/// Hosts that share the cells of a run.
pub(super) struct Hosts {
    pub(super) by_name: BTreeMap<PeerName, CellHost>,
    /// The last step.
    pub(super) step: Step,
    /// Of the last iteration.
    pub(super) states: BTreeMap<PerformerId, PerformerState>,
    /// Those that the last step wanted.
    pub(super) transfers: BTreeMap<PerformerId, Vec<u8>>,
    /// Those that the last step wanted.
    pub(super) snapshots: Vec<CellSnapshot>,
    /// Of the last step.
    pub(super) failures: Vec<ActionFailure>,
    /// Messages of all steps.
    pub(super) said: Vec<TopicMessage>,
}

/// The digest of every cell after a step.
pub(super) type Digests = BTreeMap<CellId, Digest>;

impl Hosts {
    /// Makes hosts of the cells of two rows of levels; nothing is hosted yet.
    pub(super) fn new(names: &[&str], settings: HostSettings) -> Self {
        Self::of_worlds(names, settings, &[row("main", 3), row("other", 1)])
    }

    /// Makes hosts of the cells of worlds; nothing is hosted yet.
    pub(super) fn of_worlds(names: &[&str], settings: HostSettings, worlds: &[World]) -> Self {
        let host = |name: &&str| {
            let name: PeerName = name.parse().unwrap();
            let worlds = worlds.to_vec();
            let host = CellHost::new(name.clone(), worlds, settings).unwrap();
            (name, host)
        };
        Self {
            by_name: names.iter().map(host).collect(),
            step: Step::default(),
            states: BTreeMap::new(),
            transfers: BTreeMap::new(),
            snapshots: Vec::new(),
            failures: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Makes hosts, and gives the cells of the three levels of the first world to them by name.
    pub(super) fn started(homes: [&str; 3], settings: HostSettings) -> Self {
        let mut hosts = Self::new(&homes, settings);
        hosts.start(homes);
        hosts
    }

    /// Gives the cells of the three levels of the first world to hosts by name.
    pub(super) fn start(&mut self, homes: [&str; 3]) {
        self.pause(|step| {
            for (number, name) in homes.into_iter().enumerate() {
                let cell = number as u32 + 1;
                step.affinities
                    .push(affinity(cell, name, CellSource::Start));
                step.level_changes.push(load(cell, number as u32));
            }
        });
    }

    /// Does a step in which time passes, with changes, and returns the digest of every cell.
    pub(super) fn advance(&mut self, change: impl FnOnce(&mut Step)) -> Digests {
        let mut step = self.following();
        change(&mut step);
        self.run(step).unwrap()
    }

    /// Does some steps without changes and returns the digests after each.
    pub(super) fn advance_by(&mut self, steps: u32) -> Vec<Digests> {
        (0..steps).map(|_| self.advance(|_| {})).collect()
    }

    /// Does a step in which time is paused.
    pub(super) fn pause(&mut self, change: impl FnOnce(&mut Step)) -> Digests {
        let mut step = Step {
            iteration: self.step.iteration,
            elapsed: self.step.elapsed,
            paused: true,
            step_size_ns: 0,
            ..self.following()
        };
        change(&mut step);
        self.run(step).unwrap()
    }

    /// Returns the next step in which time passes, without changes.
    pub(super) fn following(&self) -> Step {
        Step {
            sequence: self.step.sequence.next(),
            iteration: Iteration(self.step.iteration.0 + 1),
            step_size_ns: STEP_NS,
            elapsed: SimTime((self.step.iteration.0 + 1) * STEP_NS),
            ..Step::default()
        }
    }

    /// Does a step at every host.
    pub(super) fn run(&mut self, step: Step) -> Result<Digests, StepError> {
        let snapshots = std::mem::take(&mut self.snapshots);
        let mut digests = Digests::new();
        self.transfers.clear();
        self.failures.clear();
        for host in self.by_name.values_mut() {
            let ack = host.run(&step, &snapshots)?;
            for state in ack.states.states().unwrap() {
                assert!(state.is_finite(), "{state:?}");
                self.states.insert(state.performer, state);
            }
            digests.extend(host.digests());
            let transfers = ack.transfers.into_iter();
            self.transfers
                .extend(transfers.map(|transfer| (transfer.performer, transfer.state)));
            self.snapshots.extend(ack.snapshots);
            self.failures.extend(ack.failures);
            let data = host.take_data().into_iter();
            self.said.extend(data.flat_map(|batch| batch.messages));
        }
        let cells = self.by_name.values().flat_map(CellHost::cells);
        let owned: BTreeSet<_> = cells.flat_map(HostedCell::performers).collect();
        self.states.retain(|performer, _| owned.contains(performer));
        self.step = step;
        Ok(digests)
    }

    /// Hands a performer over, in two steps.
    pub(super) fn hand_off(&mut self, performer: u32, from: u32, to: u32) -> Digests {
        let performer = PerformerId(performer);
        self.pause(|step| step.wanted.states = vec![performer]);
        let state = self.transfers[&performer].clone();
        self.advance(|step| step.hand_offs = vec![hand_off(performer.0, from, to, state)])
    }

    /// Gives a cell to another host, in two steps.
    pub(super) fn migrate(&mut self, cell: u32, to: &str) -> Digests {
        self.pause(|step| step.wanted.snapshots = vec![CellId(cell)]);
        self.advance(|step| step.affinities = vec![affinity(cell, to, CellSource::Snapshot)])
    }

    /// Returns where the links of a performer are.
    pub(super) fn poses(&self, performer: PerformerId) -> LinkPoses {
        let mut cells = self.by_name.values().flat_map(CellHost::cells);
        let owner = cells.find(|cell| cell.performers().any(|one| one == performer));
        owner.unwrap().physics().link_poses(performer)
    }

    /// Returns what a host's cell has in it.
    pub(super) fn performers(&self, host: &str, cell: u32) -> Option<Vec<u32>> {
        let host = &self.by_name[&host.parse::<PeerName>().unwrap()];
        let cell = host.cells().find(|one| one.id() == CellId(cell))?;
        Some(cell.performers().map(|performer| performer.0).collect())
    }
}

pub(super) fn affinity(cell: u32, to: &str, source: CellSource) -> AffinityChange {
    AffinityChange {
        cell: CellId(cell),
        secondary: Some(to.parse().unwrap()),
        source,
    }
}

pub(super) fn give_up(cell: u32) -> AffinityChange {
    AffinityChange {
        cell: CellId(cell),
        secondary: None,
        source: CellSource::Empty,
    }
}

pub(super) fn load(cell: u32, level: u32) -> LevelChange {
    LevelChange {
        cell: CellId(cell),
        level: LevelId(level),
        loaded: true,
    }
}

pub(super) fn hand_off(performer: u32, from: u32, to: u32, state: Vec<u8>) -> HandOff {
    HandOff {
        performer: PerformerId(performer),
        from: CellId(from),
        to: CellId(to),
        state,
    }
}
