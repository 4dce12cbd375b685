//! [`Kinematics`]: frames, axes and velocities of a tree at one moment, and from them its mass
//! matrix and the forces that its motion takes.

use glam::DVec3;

use crate::body::{Body, turned};
use crate::spatial::{Frame, Inertia, Motion, Wrench};
use crate::tree::{JointKind, Tree};

/// Frames, axes and velocities of a tree at one moment, about one point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinematics {
    /// The point that everything is about \[m\].
    pub(crate) origin: DVec3,
    pub(crate) frames: Vec<Frame>,
    /// The frames of the joints.
    pub(crate) joints: Vec<Frame>,
    /// The axis of each degree of freedom.
    pub(crate) axes: Vec<Motion>,
    /// The velocity of each link.
    pub(crate) velocities: Vec<Motion>,
    /// The acceleration of each link while no rate changes.
    gains: Vec<Motion>,
    inertias: Vec<Inertia>,
    composite: Vec<Inertia>,
    wrenches: Vec<Wrench>,
    /// The motion of the base.
    pub(crate) base: Motion,
}

impl Kinematics {
    /// Finds frames and axes at the positions of a tree.
    pub(crate) fn place(&mut self, tree: &Tree, bodies: &[Body]) {
        tree.find_frames(&mut self.joints, &mut self.frames);
        self.find_axes(tree, bodies);
    }

    /// Finds the axes and inertias at the frames of a tree.
    pub(crate) fn find_axes(&mut self, tree: &Tree, bodies: &[Body]) {
        self.axes.clear();
        self.inertias.clear();
        let arm = self.origin - tree.base.position;
        self.base = Motion::new(
            tree.base_angular,
            tree.base_linear + tree.base_angular.cross(arm),
        );
        for (number, link) in tree.links.iter().enumerate() {
            let joint = &self.joints[number];
            let arm = joint.position - self.origin;
            let turning = |axis: DVec3| Motion::new(axis, arm.cross(axis));
            match link.kind {
                JointKind::Fixed => {}
                JointKind::Revolute => self.axes.push(turning(joint.rotation * DVec3::X)),
                JointKind::Prismatic => {
                    let axis = joint.rotation * DVec3::X;
                    self.axes.push(Motion::new(DVec3::ZERO, axis));
                }
                JointKind::Ball => {
                    for axis in DVec3::AXES {
                        self.axes.push(turning(joint.rotation * axis));
                    }
                }
                JointKind::Free => {
                    let axes = DVec3::AXES;
                    let turning = axes.iter().map(|axis| Motion::new(*axis, DVec3::ZERO));
                    self.axes.extend(turning);
                    let sliding = axes.iter().map(|axis| Motion::new(DVec3::ZERO, *axis));
                    self.axes.extend(sliding);
                }
            }
            let frame = &self.frames[number];
            let inertia = link.body.map_or(Inertia::ZERO, |body| {
                let body = &bodies[body];
                let center = frame.position + frame.rotation * body.local_center;
                let moments = if body.is_isotropic {
                    body.inertia
                } else {
                    turned(body.inertia, frame.rotation)
                };
                Inertia::new(body.mass, center - self.origin, moments)
            });
            self.inertias.push(inertia);
        }
    }

    /// Finds the velocities of all links at some rates.
    pub(crate) fn move_at(&mut self, tree: &Tree, rates: &[f64]) {
        self.velocities.clear();
        self.gains.clear();
        for (number, link) in tree.links.iter().enumerate() {
            let (velocity, gain) = match link.parent {
                Some(parent) => (self.velocities[parent], self.gains[parent]),
                None => (self.base, Motion::default()),
            };
            let first = tree.first[number];
            let mut own = Motion::default();
            for axis in first..first + link.kind.freedom() {
                own = own.plus(self.axes[axis].scaled(rates[axis]));
            }
            let gain = match link.kind {
                // The axes of the root rest in the world.
                JointKind::Free | JointKind::Fixed => gain,
                _ => gain.plus(velocity.cross(own)),
            };
            self.velocities.push(velocity.plus(own));
            self.gains.push(gain);
        }
    }

    /// Writes the mass matrix, lower triangle by rows: the composite rigid body algorithm.
    pub(crate) fn masses(&mut self, tree: &Tree, out: &mut Vec<f64>) {
        let freedom = tree.freedom();
        out.clear();
        out.resize(freedom * freedom, 0.0);
        self.composite.clear();
        self.composite.extend_from_slice(&self.inertias);
        for number in (0..tree.links.len()).rev() {
            let inertia = self.composite[number];
            if let Some(parent) = tree.links[number].parent {
                self.composite[parent] = self.composite[parent].plus(inertia);
            }
            let first = tree.first[number];
            for row in first..first + tree.links[number].kind.freedom() {
                let momentum = inertia.momentum(self.axes[row]);
                let own = &mut out[row * freedom..][..freedom];
                for at in std::iter::once(row).chain(tree.branch_above(row)) {
                    own[at] = self.axes[at].dot(momentum);
                }
                let trunk = tree.joins[row];
                for (entry, axis) in own[..trunk].iter_mut().zip(&self.axes[..trunk]) {
                    *entry = axis.dot(momentum);
                }
            }
        }
    }

    /// Writes the forces along the axes that would keep all rates as they are: the recursive
    /// Newton-Euler algorithm, less what acts on the bodies.
    pub(crate) fn bias(&mut self, tree: &Tree, bodies: &[Body], out: &mut Vec<f64>) {
        self.wrenches.clear();
        for (number, link) in tree.links.iter().enumerate() {
            let inertia = &self.inertias[number];
            let (velocity, gain) = (self.velocities[number], self.gains[number]);
            let mut wrench = inertia
                .momentum(gain)
                .plus(velocity.cross_wrench(inertia.momentum(velocity)));
            if let Some(body) = link.body {
                let body = &bodies[body];
                let frame = &self.frames[number];
                let arm = frame.position + frame.rotation * body.local_center - self.origin;
                let load = Wrench::new(body.torque + arm.cross(body.force), body.force);
                wrench = wrench.minus(load);
            }
            self.wrenches.push(wrench);
        }
        self.project(tree, out);
    }

    /// Writes the momentum along the axes of links that move as their bodies do now.
    pub(crate) fn momenta(&mut self, tree: &Tree, bodies: &[Body], out: &mut Vec<f64>) {
        self.wrenches.clear();
        for (number, link) in tree.links.iter().enumerate() {
            let momentum = link.body.map_or(Wrench::default(), |body| {
                let body = &bodies[body];
                let arm = body.center() - self.origin;
                let linear = body.linear - body.angular.cross(arm) - self.base.linear;
                let motion = Motion::new(body.angular - self.base.angular, linear);
                self.inertias[number].momentum(motion)
            });
            self.wrenches.push(momentum);
        }
        self.project(tree, out);
    }

    /// Sums wrenches from the leaves to the root and takes their parts along the axes.
    fn project(&mut self, tree: &Tree, out: &mut Vec<f64>) {
        out.clear();
        out.resize(tree.freedom(), 0.0);
        for number in (0..tree.links.len()).rev() {
            let wrench = self.wrenches[number];
            let first = tree.first[number];
            for axis in first..first + tree.links[number].kind.freedom() {
                out[axis] = self.axes[axis].dot(wrench);
            }
            if let Some(parent) = tree.links[number].parent {
                self.wrenches[parent] = self.wrenches[parent].plus(wrench);
            }
        }
    }

    /// Returns the velocity of the centre of mass of a link and its angular velocity.
    pub(crate) fn motion_of(&self, link: usize, body: &Body) -> [DVec3; 2] {
        let frame = &self.frames[link];
        let center = frame.position + frame.rotation * body.local_center;
        let velocity = self.velocities[link];
        [velocity.at(center - self.origin), velocity.angular]
    }
}
