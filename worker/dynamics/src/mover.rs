//! [`Lever`]: how an impulse along a row acts on what moves, and how the motion shows along it.

use glam::DVec3;

use crate::body::Body;
use crate::flight::Workspace;
use crate::spatial::{Motion, Wrench};
use crate::tree::Tree;

/// A force of size one on a body, as it acts on its centre of mass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) body: usize,
    pub(crate) linear: DVec3,
    pub(crate) angular: DVec3,
}

/// One thing that a row acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lever {
    /// A body of its own: row, and what a unit impulse changes.
    Body {
        body: usize,
        linear: DVec3,
        angular: DVec3,
        gain_linear: DVec3,
        gain_angular: DVec3,
    },
    /// A tree: a row over a path of degrees of freedom, in the coordinates of the factor.
    Tree {
        /// Offset of the coordinates of the tree.
        offset: usize,
        /// Offset of path and row in the store.
        start: usize,
        length: usize,
    },
}

/// Paths and rows of levers on trees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) path: Vec<u32>,
    pub(crate) row: Vec<f64>,
}

/// The velocities of everything that moves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Velocities {
    /// Of bodies, linear and angular.
    pub(crate) bodies: Vec<[DVec3; 2]>,
    /// Of trees, in the coordinates of their factors.
    pub(crate) white: Vec<f64>,
}

impl Lever {
    /// Returns the rate of the row.
    #[inline]
    pub(crate) fn rate(&self, velocities: &Velocities, store: &Store) -> f64 {
        match *self {
            Self::Body {
                body,
                linear,
                angular,
                ..
            } => {
                let [velocity, spin] = velocities.bodies[body];
                linear.dot(velocity) + angular.dot(spin)
            }
            Self::Tree {
                offset,
                start,
                length,
            } => {
                let white = &velocities.white[offset..];
                let range = start..start + length;
                let pairs = store.path[range.clone()].iter().zip(&store.row[range]);
                pairs.map(|(at, value)| value * white[*at as usize]).sum()
            }
        }
    }

    /// Applies an impulse along the row.
    #[inline]
    pub(crate) fn push(&self, impulse: f64, velocities: &mut Velocities, store: &Store) {
        match *self {
            Self::Body {
                body,
                gain_linear,
                gain_angular,
                ..
            } => {
                let [velocity, spin] = &mut velocities.bodies[body];
                *velocity += gain_linear * impulse;
                *spin += gain_angular * impulse;
            }
            Self::Tree {
                offset,
                start,
                length,
            } => {
                let white = &mut velocities.white[offset..];
                let range = start..start + length;
                let pairs = store.path[range.clone()].iter().zip(&store.row[range]);
                for (at, value) in pairs {
                    white[*at as usize] += value * impulse;
                }
            }
        }
    }

    /// Returns how much an impulse along this row shows along another one of the same thing.
    pub(crate) fn shows_along(&self, other: &Self, store: &Store) -> f64 {
        match (*self, *other) {
            (
                Self::Body {
                    linear, angular, ..
                },
                Self::Body {
                    gain_linear,
                    gain_angular,
                    ..
                },
            ) => linear.dot(gain_linear) + angular.dot(gain_angular),
            (
                Self::Tree { start, length, .. },
                Self::Tree {
                    start: other_start, ..
                },
            ) => {
                let first = &store.row[start..start + length];
                let second = &store.row[other_start..other_start + length];
                first.iter().zip(second).map(|(a, b)| a * b).sum()
            }
            _ => 0.0,
        }
    }
}

/// Returns the lever of a push on a body of its own; `None` when no force moves it. Its rate counts
/// all the same.
pub(crate) fn body_lever(push: &Push, bodies: &[Body]) -> Lever {
    let body = &bodies[push.body];
    Lever::Body {
        body: push.body,
        linear: push.linear,
        angular: push.angular,
        gain_linear: push.linear * body.inverse_mass(),
        gain_angular: body.world_inverse_inertia() * push.angular,
    }
}

/// Returns the lever of pushes on links of one tree, and the rate that the motion of its base
/// gives the row.
pub(crate) fn tree_lever(
    pushes: &[(usize, Push)],
    tree: &Tree,
    workspace: &mut Workspace,
    bodies: &[Body],
    offset: usize,
    store: &mut Store,
) -> (Lever, f64) {
    let kinematics = &workspace.kinematics;
    let start = store.path.len();
    let mut base_rate = 0.0;
    for (link, push) in pushes {
        let frame = &kinematics.frames[*link];
        let arm =
            frame.position + frame.rotation * bodies[push.body].local_center - kinematics.origin;
        let wrench = Wrench::new(push.angular + arm.cross(push.linear), push.linear);
        base_rate += kinematics.base.dot(wrench);
        gather(tree, *link, wrench, &kinematics.axes, start, store);
    }
    sort(start, store);
    let length = store.path.len() - start;
    let (path, row) = (&store.path[start..], &mut store.row[start..]);
    workspace.factor.row(tree, path, row, &mut workspace.dense);
    let lever = Lever::Tree {
        offset,
        start,
        length,
    };
    (lever, base_rate)
}

/// Returns the lever of a unit force along one degree of freedom.
pub(crate) fn axis_lever(
    axis: usize,
    sense: f64,
    tree: &Tree,
    workspace: &mut Workspace,
    offset: usize,
    store: &mut Store,
) -> Lever {
    let start = store.path.len();
    let mut at = Some(axis);
    while let Some(number) = at {
        store.path.push(number as u32);
        store.row.push(if number == axis { sense } else { 0.0 });
        at = tree.above[number];
    }
    store.path[start..].reverse();
    store.row[start..].reverse();
    let length = store.path.len() - start;
    let (path, row) = (&store.path[start..], &mut store.row[start..]);
    workspace.factor.row(tree, path, row, &mut workspace.dense);
    Lever::Tree {
        offset,
        start,
        length,
    }
}

/// Adds the parts of a wrench on a link along all that the link hangs on.
fn gather(
    tree: &Tree,
    link: usize,
    wrench: Wrench,
    axes: &[Motion],
    start: usize,
    store: &mut Store,
) {
    let mut at = Some(link);
    while let Some(number) = at {
        let first = tree.first[number];
        for axis in first..first + tree.links[number].kind.freedom() {
            let part = axes[axis].dot(wrench);
            let known = store.path[start..]
                .iter()
                .position(|seen| *seen as usize == axis);
            match known {
                Some(place) => store.row[start + place] += part,
                None => {
                    store.path.push(axis as u32);
                    store.row.push(part);
                }
            }
        }
        at = tree.links[number].parent;
    }
}

/// Puts a path in ascending order, by insertion: it nearly is.
fn sort(start: usize, store: &mut Store) {
    for at in start + 1..store.path.len() {
        let mut place = at;
        while place > start && store.path[place - 1] > store.path[place] {
            store.path.swap(place - 1, place);
            store.row.swap(place - 1, place);
            place -= 1;
        }
    }
}
