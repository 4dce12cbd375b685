//! [`Mobility`]: how linked bodies answer to impulses, with the joints between them held.

use std::collections::BTreeSet;

use rapier3d_f64::dynamics::{
    ImpulseJoint, ImpulseJointSet, JointAxesMask, RigidBodyHandle, RigidBodySet,
};
use rapier3d_f64::math::Vector;

use super::coordinate::{BodyRow, Twist};

/// The most rows of joints that count. Joints farther away are left out, as if what they hold were
/// not there, which makes the answer too mobile and so the impulses too small, never too great.
const ROWS_MAX: usize = 96;

/// A pivot that is smaller than this part of what it was is rounding: its row says nothing new.
const PIVOT_RATIO_MIN: f64 = 1e-9;

/// How linked bodies answer to impulses along some rows: a symmetric matrix of the rows of the
/// joints around, and then those rows.
pub(super) struct Mobility {
    matrix: Vec<Vec<f64>>,
    /// How many rows are those of joints.
    held: usize,
}

impl Mobility {
    /// Gathers the joints around the bodies of the rows, the nearest first.
    pub(super) fn new(bodies: &RigidBodySet, joints: &ImpulseJointSet, rows: &[BodyRow]) -> Self {
        Self::with(bodies, joint_rows(bodies, joints, rows), rows)
    }

    /// Gathers only the joints between the two bodies of a row.
    pub(super) fn of_pair(bodies: &RigidBodySet, joints: &ImpulseJointSet, row: &BodyRow) -> Self {
        let mut held = Vec::new();
        if let [(first, _), (second, _)] = row[..] {
            for (_, joint) in joints.joints_between(first, second) {
                if held.len() < ROWS_MAX {
                    lock_rows(bodies, joint, &mut held);
                }
            }
        }
        Self::with(bodies, held, std::slice::from_ref(row))
    }

    fn with(bodies: &RigidBodySet, mut all: Vec<BodyRow>, rows: &[BodyRow]) -> Self {
        let held = all.len();
        all.extend(rows.iter().cloned());
        let response =
            |(handle, twist): &(RigidBodyHandle, Twist)| (*handle, twist.response(bodies, *handle));
        let responses: Vec<BodyRow> = all
            .iter()
            .map(|row| row.iter().map(response).collect())
            .collect();
        let matrix = all
            .iter()
            .map(|row| responses.iter().map(|other| product(row, other)).collect())
            .collect();
        Self { matrix, held }
    }

    /// Returns the impulses along the rows after which their rates have changed as given; none
    /// along a row that cannot move.
    pub(super) fn impulses(mut self, changes: &[f64]) -> Vec<f64> {
        let size = self.matrix.len();
        let mut values = vec![0.0; self.held];
        values.extend(changes);
        let mut is_used = vec![true; size];
        let diagonal: Vec<f64> = (0..size).map(|row| self.matrix[row][row]).collect();
        for pivot in 0..size {
            is_used[pivot] = self.matrix[pivot][pivot] > PIVOT_RATIO_MIN * diagonal[pivot];
            if is_used[pivot] {
                self.eliminate(pivot, &mut values);
            }
        }
        let mut impulses = vec![0.0; size];
        for row in (self.held..size).rev().filter(|row| is_used[*row]) {
            let known: f64 = (row + 1..size)
                .map(|column| self.matrix[row][column] * impulses[column])
                .sum();
            impulses[row] = (values[row] - known) / self.matrix[row][row];
        }
        impulses.split_off(self.held)
    }

    fn eliminate(&mut self, pivot: usize, values: &mut [f64]) {
        let (above, below) = self.matrix.split_at_mut(pivot + 1);
        let pivot_row = &above[pivot];
        for (row, value) in below.iter_mut().zip(pivot + 1..) {
            let factor = row[pivot] / pivot_row[pivot];
            if factor != 0.0 {
                for (entry, pivot_entry) in row.iter_mut().zip(pivot_row).skip(pivot) {
                    *entry -= factor * pivot_entry;
                }
                values[value] -= factor * values[pivot];
            }
        }
    }
}

fn product(row: &BodyRow, response: &BodyRow) -> f64 {
    let mut sum = 0.0;
    for (handle, twist) in row {
        for (other, velocity) in response {
            if handle == other {
                sum += twist.along(velocity);
            }
        }
    }
    sum
}

/// Returns what the joints around the bodies of some rows hold, walking outwards.
fn joint_rows(bodies: &RigidBodySet, joints: &ImpulseJointSet, rows: &[BodyRow]) -> Vec<BodyRow> {
    let mut found = Vec::new();
    let mut queue: Vec<RigidBodyHandle> = Vec::new();
    let mut seen_bodies: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut seen_joints: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut visit = |queue: &mut Vec<RigidBodyHandle>, handle: RigidBodyHandle| {
        let is_new = seen_bodies.insert(handle.into_raw_parts());
        if is_new && bodies[handle].is_dynamic() {
            queue.push(handle);
        }
    };
    for (handle, _) in rows.iter().flatten() {
        visit(&mut queue, *handle);
    }
    let mut next = 0;
    while let Some(body) = queue.get(next).copied() {
        next += 1;
        for (first, second, handle, joint) in joints.attached_joints(body) {
            if !seen_joints.insert(handle.0.into_raw_parts()) {
                continue;
            }
            if found.len() + joint.data.locked_axes.bits().count_ones() as usize > ROWS_MAX {
                return found;
            }
            lock_rows(bodies, joint, &mut found);
            visit(&mut queue, first);
            visit(&mut queue, second);
        }
    }
    found
}

fn lock_rows(bodies: &RigidBodySet, joint: &ImpulseJoint, out: &mut Vec<BodyRow>) {
    let (first, second) = (&bodies[joint.body1()], &bodies[joint.body2()]);
    let frame = first.position() * joint.data.local_frame1;
    let point = (second.position() * joint.data.local_frame2).translation;
    let locked = joint.data.locked_axes.bits();
    for (number, axis) in [Vector::X, Vector::Y, Vector::Z].into_iter().enumerate() {
        let direction = frame.rotation * axis;
        if locked & (JointAxesMask::LIN_X.bits() << number) != 0 {
            let twist = |arm: Vector, sign: f64| Twist {
                linear: direction * sign,
                angular: arm.cross(direction) * sign,
            };
            out.push(vec![
                (joint.body1(), twist(point - first.center_of_mass(), -1.0)),
                (joint.body2(), twist(point - second.center_of_mass(), 1.0)),
            ]);
        }
        if locked & (JointAxesMask::ANG_X.bits() << number) != 0 {
            let twist = |sign: f64| Twist {
                linear: Vector::ZERO,
                angular: direction * sign,
            };
            out.push(vec![
                (joint.body1(), twist(-1.0)),
                (joint.body2(), twist(1.0)),
            ]);
        }
    }
}
