//! The actions of a step in one cell: each cell does what is about the models that it has.
//!
//! **Invariant:** an action that fails has changed nothing, and is told by one cell alone.

use physics::{CommandError, ModelRef};
use protocol::action::{Action, ActionFailure, LinkId, Spawn};
use protocol::primary_to_secondary::Step;
use protocol::{ModelId, PerformerId};
use sdf::{LinkReference, Pose};
use systems::GoneModel;

use super::hosted_cell::HostedCell;
use super::scene::Scene;

impl HostedCell {
    /// Does the actions of a step that are about the models of this cell.
    pub(super) fn act(&mut self, step: &Step, scene: &Scene) -> Vec<ActionFailure> {
        let mut failures = Vec::new();
        for stamped in &step.actions {
            if let Err(error) = self.act_once(&stamped.action, scene) {
                failures.push(ActionFailure {
                    number: stamped.number,
                    reason: error.to_string(),
                });
            }
        }
        if !step.actions.is_empty() {
            self.physics.settle();
        }
        failures
    }

    fn act_once(&mut self, action: &Action, scene: &Scene) -> Result<(), CommandError> {
        match action {
            Action::Spawn(spawn) => self.spawn(spawn, scene),
            Action::Remove { model } => self.remove(*model, scene),
            Action::SetState {
                model,
                pose,
                velocity,
            } => {
                if let Some(performer) = self.performer(*model, scene) {
                    let pose = pose.as_ref().map(|pose| Pose {
                        position: std::array::from_fn(|axis| pose[axis]),
                        orientation_xyzw: std::array::from_fn(|part| pose[3 + part]),
                    });
                    let velocity = velocity.map(|it| [it.linear, it.angular]);
                    self.physics.set_state(performer, pose.as_ref(), velocity)?;
                }
            }
            Action::Wrench {
                link: LinkId { model, link },
                force,
                torque,
                until,
            } => {
                if let Some(performer) = self.performer(*model, scene) {
                    let wrench = [*force, *torque];
                    let link = *link as usize;
                    self.physics.add_wrench(performer, link, wrench, *until)?;
                }
            }
            Action::SetJoint {
                model,
                joint,
                axis,
                position,
                velocity,
            } => {
                if let Some(performer) = self.performer(*model, scene) {
                    let [joint, axis] = [*joint, *axis].map(|index| index as usize);
                    let physics = &mut self.physics;
                    physics.set_joint(performer, joint, axis, *position, *velocity)?;
                }
            }
            Action::SetCollisions {
                model,
                link,
                enabled,
            } => self.set_collisions(*model, *link, *enabled, scene),
            Action::Attach { parent, child } => {
                if self.is_about(*parent, *child, scene) {
                    self.physics.attach(reference(*parent), reference(*child))?;
                }
            }
            Action::Detach { parent, child } => {
                if self.is_about(*parent, *child, scene) {
                    self.physics.detach(reference(*parent), reference(*child))?;
                }
            }
            // The scene's own.
            Action::SetSeed(_) | Action::SetStepSize(_) => {}
        }
        Ok(())
    }

    fn spawn(&mut self, spawn: &Spawn, scene: &Scene) {
        if spawn.model.world as usize != self.world {
            return;
        }
        let model = spawn.model.model as usize;
        match spawn.performer {
            Some(performer) if spawn.cell == Some(self.id) => {
                self.physics.insert_performer(performer, model);
                self.performers.insert(performer);
                let joins = ModelRef::moving(performer, model);
                self.systems.join(scene, self.world, joins);
            }
            Some(_) => {}
            None => {
                self.physics.insert_static(model);
                if self.is_default(scene) {
                    self.systems.join(scene, self.world, ModelRef::fixed(model));
                }
            }
        }
    }

    fn remove(&mut self, id: ModelId, scene: &Scene) {
        if id.world as usize != self.world {
            return;
        }
        let model = id.model as usize;
        if let Some(performer) = scene.performer_of(id) {
            if self.performers.remove(&performer) {
                self.physics.remove_performer(performer);
                self.systems.leave(model);
            } else if self.ghosts.remove(&performer) {
                self.physics.remove_ghost(performer);
            }
        } else if self.physics.has_static(model) {
            self.physics.remove_static(model);
            self.references.remove(&model);
            self.systems.leave(model);
        }
        self.systems.forget(&GoneModel {
            model,
            performer: scene.performer_of(id),
            name: &scene.worlds[self.world].models[model].name,
        });
    }

    fn set_collisions(&mut self, id: ModelId, link: Option<u32>, enabled: bool, scene: &Scene) {
        if let Some(performer) = self.performer(id, scene) {
            let link = link.map(|link| link as usize);
            self.physics.set_collisions(performer, link, enabled);
        } else if scene.performer_of(id).is_none() && id.world as usize == self.world {
            let model = id.model as usize;
            if self.physics.has_static(model) {
                for link in scene.links_meant(id, link) {
                    self.physics.switch_static(model, link as usize, enabled);
                }
            }
        }
    }

    /// Returns a model as a performer that the cell owns.
    fn performer(&self, id: ModelId, scene: &Scene) -> Option<PerformerId> {
        let performer = scene.performer_of(id)?;
        self.performers.contains(&performer).then_some(performer)
    }

    /// Tells whether it is the cell that attaches two links and lets them go: the one that owns the
    /// child; the parent when the child never moves; the default one when neither does.
    fn is_about(&self, parent: LinkId, child: LinkId, scene: &Scene) -> bool {
        let owner = [child, parent]
            .iter()
            .find_map(|link| scene.performer_of(link.model));
        match owner {
            Some(performer) => self.performers.contains(&performer),
            None => child.model.world as usize == self.world && self.is_default(scene),
        }
    }

    fn is_default(&self, scene: &Scene) -> bool {
        scene.plan.cell(self.id).is_default()
    }
}

fn reference(link: LinkId) -> LinkReference {
    LinkReference {
        model: link.model.model as usize,
        link: link.link as usize,
    }
}
