//! A command that was answered with "done" has its effect, and keeps it: what it asked for is so
//! when the answer is given, and no later hand-off, loss or migration undoes it.
//!
//! It knows what commands mean and shares no code with the rules. That an effect lasts is seen by
//! motion: between two steps a performer moves by what its velocity allows, unless a command moved
//! it, so that one that returns to where it was before is a jump.

use std::collections::{BTreeMap, BTreeSet};

use lockstep::{Primary, StepReport};
use protocol::primary_to_client::Reply;
use protocol::primary_to_secondary::Step;
use protocol::{Action, CellId, Command, PerformerId, PerformerState};

/// Distance beyond its velocity that a performer may get in one step \[m\]: contacts that
/// overlap are pushed apart.
const PUSHED: f64 = 0.05;
/// Distance from where it was put that a performer may have when the answer comes \[m\].
const NEAR: f64 = 0.05;

/// States of performers after the last step, and effects of commands on them.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    last: BTreeMap<String, PerformerState>,
    /// Performers that the step under way moves or brings by command.
    moved: Vec<PerformerId>,
    /// Performers that the last step has put somewhere, as often as it did.
    placed: Vec<String>,
    /// Performers that joints of the world or attachments hold, or held, to others: they follow.
    joined: BTreeSet<String>,
    /// Suspected fault, and about whom: a primary knows a model that it spawns, and has everything
    /// back at the start on a reset, before it publishes the step that says so.
    suspicion: Option<(String, String)>,
}

impl Effects {
    /// Takes a step as it is published.
    ///
    /// # Panics
    /// Panics if what was seen before was wrong, and this step is no reset.
    pub fn on_step(&mut self, primary: &Primary, step: &Step) {
        if step.reset {
            // Joints of the world are back at the start, too.
            *self = Self {
                joined: std::mem::take(&mut self.joined),
                ..Self::default()
            };
        }
        // What it removes is known here for the last time.
        self.note_joined(primary);
        self.placed.clear();
        for numbered in &step.actions {
            if let Action::SetState {
                model,
                pose: Some(_),
                ..
            } = &numbered.action
                && let Some(id) = primary.topology().performer_of(*model)
            {
                self.placed
                    .push(primary.topology().performer(id).name.clone());
            }
            if let Action::Spawn(spawn) = &numbered.action
                && let Some(id) = spawn.performer
            {
                let name = &primary.topology().performer(id).name;
                self.suspicion.take_if(|(about, _)| about == name);
            }
            if let Action::Attach { parent, child } = &numbered.action {
                let models = [parent.model, child.model].into_iter();
                let performers = models.filter_map(|model| primary.topology().performer_of(model));
                let names = performers.map(|id| primary.topology().performer(id).name.clone());
                self.joined.extend(names);
            }
            self.moved.extend(match &numbered.action {
                Action::SetState { model, .. } => primary.topology().performer_of(*model),
                Action::Spawn(spawn) => spawn.performer,
                _ => None,
            });
        }
        self.check();
    }

    fn note_joined(&mut self, primary: &Primary) {
        for id in primary.performers_by_name() {
            let performer = primary.topology().performer(*id);
            if !performer.joined_to.is_empty() && !self.joined.contains(&performer.name) {
                self.joined.insert(performer.name.clone());
            }
        }
    }

    /// Looks at what is left once the run is over.
    ///
    /// # Panics
    /// Panics if what was seen last was wrong.
    pub fn check(&self) {
        if let Some((_, suspicion)) = &self.suspicion {
            panic!("{suspicion}");
        }
    }

    /// Takes a step that all have done: a performer must be where its velocity or a command can
    /// have brought it.
    pub fn on_done(&mut self, primary: &Primary, report: &StepReport) {
        let moved = std::mem::take(&mut self.moved);
        let step_s = primary.settings().pace.step_size.as_secs_f64();
        let passed = if report.paused { 0.0 } else { step_s };
        let mut now = BTreeMap::new();
        self.note_joined(primary);
        for id in primary.performers_by_name() {
            let performer = primary.topology().performer(*id);
            let state = *primary.performer(*id).1;
            let is_free = !self.joined.contains(&performer.name) && !moved.contains(id);
            if let Some(before) = self.last.get(&performer.name).filter(|_| is_free) {
                let jump = jump(&performer.name, before, &state, passed, report);
                self.suspect(&performer.name, jump);
            }
            now.insert(performer.name.clone(), state);
        }
        self.last = now;
    }

    /// Takes an answer to a command: one that says "done" must be true.
    pub fn on_reply(&mut self, primary: &Primary, command: &Command, reply: &Reply) {
        if matches!(reply, Reply::Done { .. }) {
            let untrue = self.untrue(primary, command);
            self.suspect("", untrue);
        }
    }

    fn suspect(&mut self, about: &str, what: Option<String>) {
        if self.suspicion.is_none() {
            self.suspicion = what.map(|what| (about.to_owned(), what));
        }
    }

    /// Tells how a command that was done has not the effect that it must have.
    fn untrue(&self, primary: &Primary, command: &Command) -> Option<String> {
        match command {
            Command::SetPoses { poses } => poses.iter().find_map(|one| {
                let [x, y, z, ..] = one.pose;
                self.misplaced(&one.model, [x, y, z])
            }),
            Command::SetStates { states } => states.iter().find_map(|one| {
                let [x, y, z, ..] = one.pose?;
                self.misplaced(&one.model, [x, y, z])
            }),
            Command::Spawn(spawn) => {
                let [x, y, z, ..] = spawn.pose?;
                self.misplaced(spawn.name.as_deref()?, [x, y, z])
            }
            Command::Remove { model } => {
                let is_there = self.last.contains_key(model);
                is_there.then(|| format!("{model} was removed, and it is there"))
            }
            Command::Drain { peer } => {
                let hosts = primary.takes_part(peer) && !primary.hosted(peer).is_empty();
                hosts.then(|| format!("{peer} was drained, and it hosts cells"))
            }
            Command::MoveCell { level, peer } => {
                let mut cells = primary.topology().cells.iter();
                let number = cells.position(|cell| cell.name == *level)?;
                // One that is hosted nowhere was given up since.
                let host = primary.host(CellId(number as u32))?;
                let is_elsewhere = host != peer && !primary.is_recovering();
                is_elsewhere.then(|| format!("{level} was moved to {peer}, and {host} hosts it"))
            }
            _ => None,
        }
    }

    /// A run that was taken up again goes back to its checkpoint.
    pub fn on_resumed(&mut self) {
        *self = Self {
            joined: std::mem::take(&mut self.joined),
            ..Self::default()
        };
    }

    fn misplaced(&self, name: &str, expected: [f64; 3]) -> Option<String> {
        // One that is not here does not move at all, or has gone since.
        let state = self.last.get(name)?;
        // Of several commands in one step, the last one counts, also one to what it is joined to.
        let is_one_of_several = self.placed.iter().filter(|one| *one == name).count() > 1;
        let is_followed = is_one_of_several || self.joined.contains(name);
        let is_far = distance(state.position, expected) > NEAR && !is_followed;
        is_far.then(|| {
            let position = state.position;
            format!("{name} was put at {expected:?}, and it is at {position:?}")
        })
    }
}

/// Tells how a performer has moved further than its velocity allows.
fn jump(
    name: &str,
    before: &PerformerState,
    after: &PerformerState,
    passed: f64,
    report: &StepReport,
) -> Option<String> {
    let [old, new] = [before, after].map(|state| norm(state.linear_velocity));
    let moved = distance(before.position, after.position);
    let can = if passed > 0.0 {
        old.max(new) * passed * 2.0 + PUSHED
    } else {
        1e-12
    };
    let is_jump = moved > can && after.is_finite();
    is_jump.then(|| {
        format!(
            "{name} is {moved} m from where it was before step {} (iteration {}), its velocity \
             and no command allow {can} m: {:?} to {:?}",
            report.sequence, report.iteration, before.position, after.position
        )
    })
}

fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    norm([0, 1, 2].map(|axis| one[axis] - other[axis]))
}

fn norm(vector: [f64; 3]) -> f64 {
    vector.iter().map(|one| one * one).sum::<f64>().sqrt()
}
