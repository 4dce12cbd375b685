//! What a joint transmits: Newton's and Euler's laws for all that hangs on its child side.
//!
//! The change of momentum over the last step, less gravity, contacts and what systems exert, is
//! what the joint exerted on average. It holds for whatever rapier does within: motors, springs and
//! friction of the joint are a part of what it transmits.

use rapier3d_f64::dynamics::RigidBody;
use rapier3d_f64::math::Vector;
use sdf::{JointParent, Model};

use super::access::ModelRef;
use super::cell::Cell;

/// The links on the child side of a joint.
pub struct Branch {
    links: Vec<usize>,
}

/// How the links of a branch move, and what systems exert on them in a step.
pub struct Momenta {
    /// Momentum \[N s\] and angular momentum about the origin of the world \[N m s\].
    momentum: [Vector; 2],
    /// Force \[N\] and torque about the origin of the world \[N m\].
    load: [Vector; 2],
}

impl Branch {
    /// Finds what hangs on a joint of a model by its index; `None` when the parent does too, or
    /// something else holds it to the world.
    pub fn new(model: &Model, joint: usize) -> Option<Self> {
        let mut links = vec![model.joints[joint].child];
        let mut next = 0;
        while next < links.len() {
            let link = links[next];
            next += 1;
            for (index, other) in model.joints.iter().enumerate() {
                let parent = match other.parent {
                    JointParent::World => None,
                    JointParent::Link(parent) => Some(parent),
                };
                let neighbour = match (parent, other.child) {
                    _ if index == joint => continue,
                    (parent, child) if child == link => parent?,
                    (Some(parent), child) if parent == link => child,
                    _ => continue,
                };
                if !links.contains(&neighbour) {
                    links.push(neighbour);
                }
            }
        }
        let is_looped = match model.joints[joint].parent {
            JointParent::World => false,
            JointParent::Link(parent) => links.contains(&parent),
        };
        links.sort_unstable();
        (!is_looped).then_some(Self { links })
    }
}

impl Cell {
    /// Returns how a branch moves now, and what systems are about to exert on it; both are nothing
    /// for a model that never moves.
    pub fn momenta(&self, model: ModelRef, branch: &Branch) -> Momenta {
        let mut load = [Vector::ZERO; 2];
        for link in &branch.links {
            if let (Some(handle), Some(body)) =
                (self.body_handle(model, *link), self.body(model, *link))
            {
                for [force, torque] in self.loads_on(handle) {
                    load[0] += force;
                    load[1] += torque + body.center_of_mass().cross(force);
                }
            }
        }
        Momenta {
            momentum: self.momentum(model, branch),
            load,
        }
    }

    /// Returns the force \[N\] that the joint of a branch exerted on it in the last step, on
    /// average, and the torque about a point \[N m\], world frame.
    ///
    /// # Panics
    /// When the cell does not have the model.
    pub fn joint_load(
        &self,
        model: ModelRef,
        branch: &Branch,
        before: &Momenta,
        point: [f64; 3],
        step_size_s: f64,
    ) -> [[f64; 3]; 2] {
        let [momentum, angular] = self.momentum(model, branch);
        let mut force = (momentum - before.momentum[0]) / step_size_s - before.load[0];
        let mut torque = (angular - before.momentum[1]) / step_size_s - before.load[1];
        for link in &branch.links {
            let weight = self.weight(model, *link);
            force -= weight[0];
            torque -= weight[1];
            for contact in self.contacts(model, Some((*link, None))) {
                let is_within = contact.other.model == model.index
                    && branch.links.contains(&contact.other.link);
                for point in contact.points.iter().filter(|_| !is_within) {
                    let pressed = Vector::from_array(point.force);
                    force -= pressed;
                    torque -= Vector::from_array(point.position).cross(pressed);
                }
            }
        }
        let about = torque - Vector::from_array(point).cross(force);
        [force.to_array(), about.to_array()]
    }

    fn momentum(&self, model: ModelRef, branch: &Branch) -> [Vector; 2] {
        let bodies = branch
            .links
            .iter()
            .filter_map(|link| self.body(model, *link));
        bodies.fold([Vector::ZERO; 2], |[momentum, angular], body| {
            let linear = body.linvel() * body.mass();
            let spin = spin(body) + body.center_of_mass().cross(linear);
            [momentum + linear, angular + spin]
        })
    }

    /// Returns the weight of a link \[N\] and its moment about the origin of the world \[N m\].
    fn weight(&self, model: ModelRef, link: usize) -> [Vector; 2] {
        let Some(description) = self.world.models[model.index].links.get(link) else {
            return [Vector::ZERO; 2];
        };
        let (mass, center) = if let Some(body) = self.body(model, link) {
            (body.mass() * body.gravity_scale(), body.center_of_mass())
        } else {
            let center = description.pose.then(&description.inertial.pose).position;
            (description.inertial.mass, Vector::from_array(center))
        };
        let weight = self.physics.gravity * mass;
        [weight, center.cross(weight)]
    }
}

/// Returns the angular momentum of a body about its centre of mass \[N m s\], world frame.
fn spin(body: &RigidBody) -> Vector {
    let properties = &body.mass_properties().local_mprops;
    let axes = body.position().rotation * properties.principal_inertia_local_frame;
    let inertia = properties.principal_inertia();
    let turning = axes.inverse() * body.angvel();
    axes * (inertia * turning)
}
