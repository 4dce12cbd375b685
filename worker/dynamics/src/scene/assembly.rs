//! Assembly: contacts and axes become manifolds and lines, island by island.

use glam::DVec3;
use smallvec::SmallVec;

use super::{Scene, Work};
use crate::axis::{Axis, Role};
use crate::body::Body;
use crate::contact::Contact;
use crate::coordinates::Path;
use crate::manifold::{Block, Law, Manifold, POINTS_MAX, Point, across};
use crate::row::{Line, Row};

/// Rows of a manifold that need no memory of their own while they are gathered.
const ROWS_USUAL: usize = 16;

/// The most points that come together of several manifolds.
const UNITED_MAX: usize = 4;

/// The least length of a line of contact \[m\].
const LINE_LENGTH_MIN: f64 = 1e-5;

impl Scene {
    /// Makes manifolds and lines of all that acts in this step, sorted by islands.
    pub(super) fn assemble(&mut self) {
        let Self {
            bodies,
            trees,
            work,
            ..
        } = self;
        let held = &work.groups.held_bodies;
        work.coordinates
            .begin(bodies, trees, &work.groups.link_of, held);
        self.join();
        self.gather_manifolds();
        self.gather_lines();
        let work = &mut self.work;
        work.groups.cut(&work.manifolds, &work.lines);
    }

    /// Finds which contacts are solved together.
    pub(super) fn find_unions(&mut self) {
        self.work.groups.unions.clear();
        let mut rest = self.contacts.as_slice();
        while !rest.is_empty() {
            let count = united(rest);
            self.work.groups.unions.push(count);
            rest = &rest[count..];
        }
    }

    /// Finds which bodies and trees act on each other.
    fn join(&mut self) {
        let work = &mut self.work;
        let count = self.bodies.len() + self.trees.len();
        work.groups.separate(count);
        for contact in &self.contacts {
            if let [Some(first), Some(second)] = contact.bodies
                && self.bodies[first].is_dynamic()
                && self.bodies[second].is_dynamic()
            {
                let (first, second) = (work.groups.node_of(first), work.groups.node_of(second));
                work.groups.unite(first, second);
            }
        }
        for axis in &self.axes {
            let mut bodies = axis.terms.iter().map(|term| term.body);
            let Some(first) = bodies.next() else {
                continue;
            };
            let first = work.groups.node_of(first);
            for other in bodies {
                let other = work.groups.node_of(other);
                work.groups.unite(first, other);
            }
        }
    }

    /// Makes manifolds of contacts that have the same number.
    fn gather_manifolds(&mut self) {
        let Self {
            bodies,
            trees,
            contacts,
            work,
            ..
        } = self;
        work.manifolds.clear();
        let mut first = 0;
        for union in 0..work.groups.unions.len() {
            let numbers = first..first + work.groups.unions[union];
            first = numbers.end;
            let contacts = &contacts[numbers.clone()];
            let of = contacts[0].bodies;
            let mut moved = of.into_iter().flatten();
            let Some(body) = moved.clone().find(|body| bodies[*body].is_dynamic()) else {
                continue;
            };
            let node = work.groups.node_of(body);
            let island = work.groups.find(node);
            let path = work.coordinates.path(moved.clone(), trees);
            let is_steady = work.coordinates.are_steady(&mut moved);
            for (part, contacts) in contacts.chunks(POINTS_MAX).enumerate() {
                let number = numbers.start + part * POINTS_MAX;
                work.begin_manifold(contacts, number, path, (island, is_steady));
            }
        }
        // Manifolds of one island stand together, in the order of the contacts.
        work.manifolds
            .all
            .sort_unstable_by_key(|manifold| (manifold.island, manifold.first_row));
    }

    /// Makes lines of axes along which something acts.
    fn gather_lines(&mut self) {
        let Self {
            trees, axes, work, ..
        } = self;
        work.lines.clear();
        for (number, axis) in axes.iter().enumerate() {
            let Some(node) = work.groups.node_of_axis(axis) else {
                continue;
            };
            let is_held = match axis.joint {
                Some((tree, ..)) => work.groups.held_trees[tree],
                None => true,
            };
            let first = work.lines.rows.len();
            if is_held {
                work.lines.rows.extend(rows_of(axis));
            }
            if work.lines.rows.len() == first {
                continue;
            }
            let at = axis.joint.and_then(|(tree, link, _)| {
                let at = trees[tree].axis_of(link);
                at.map(|at| (tree, at))
            });
            let path = match at {
                Some((tree, at)) => work.coordinates.path_of_axis(tree, at, trees),
                None => {
                    let bodies = axis.terms.iter().map(|term| term.body);
                    work.coordinates.path(bodies, trees)
                }
            };
            let factors = work.lines.factors.len();
            work.lines.factors.resize(factors + path.len(), 0.0);
            work.lines.all.push(Line {
                axis: number,
                island: work.groups.find(node),
                rows: [first, work.lines.rows.len()],
                path,
                factors,
                base_rate: 0.0,
                gain: 0.0,
                length: 0.0,
                moved: 0.0,
            });
        }
        work.lines
            .all
            .sort_unstable_by_key(|line| (line.island, line.axis));
    }
}

impl Work {
    /// Begins a manifold of contacts, the first of which has a number.
    fn begin_manifold(
        &mut self,
        contacts: &[Contact],
        number: usize,
        path: Path,
        (island, is_steady): (u32, bool),
    ) {
        let known = &mut self.manifolds;
        let (first_point, first_block) = (known.points.len(), known.blocks.len());
        let mut impulses: SmallVec<[f64; ROWS_USUAL]> = SmallVec::new();
        for (at, contact) in contacts.iter().enumerate() {
            known.points.push(Point::begin(number + at, contact));
            impulses.push(contact.pressure);
        }
        let directions = known.points[first_point].directions;
        match line_radius(contacts) {
            Some(radius) => {
                let mut block = Block::new(Law::Line, contacts.len(), [0, contacts.len()]);
                block.coefficients = contacts[0].friction.coefficients;
                block.radius = radius;
                known.blocks.push(block);
                let drag: DVec3 = contacts.iter().map(|contact| contact.drag).sum();
                let twist: f64 = contacts.iter().map(|contact| contact.twist).sum();
                let [_, along, across] = directions;
                impulses.extend([drag.dot(along), drag.dot(across), twist / radius]);
            }
            None => {
                for (at, contact) in contacts.iter().enumerate() {
                    begin_friction(contact, at, impulses.len(), &mut known.blocks);
                    let [_, along, across] = known.points[first_point + at].directions;
                    let drag = contact.drag;
                    impulses.extend([drag.dot(along), drag.dot(across)]);
                    if contact.friction.torsion > 0.0 {
                        impulses.push(contact.twist);
                    }
                }
            }
        }
        let manifold = Manifold {
            island,
            points: [first_point, known.points.len()],
            blocks: [first_block, known.blocks.len()],
            first_row: 0,
            size: 0,
            path,
            factors: 0,
            gains: 0,
            is_steady,
            may_bounce: contacts.iter().any(|contact| contact.restitution > 0.0),
        };
        known.push(manifold, &impulses);
    }
}

/// Returns how many of some contacts are solved together: those of the first of their manifolds,
/// and of the next ones between the same bodies while few points come together, such as those of a
/// foot of four balls. In turns they would need many sweeps.
fn united(contacts: &[Contact]) -> usize {
    let mut groups = contacts.chunk_by(|one, next| one.manifold == next.manifold);
    let first = groups.next().unwrap_or_default();
    let mut count = first.len();
    if line_radius(first).is_some() {
        return count;
    }
    for group in groups {
        let is_other = group[0].bodies != first[0].bodies || line_radius(group).is_some();
        if is_other || count + group.len() > UNITED_MAX {
            break;
        }
        count += group.len();
    }
    count
}

/// Begins the friction at a point, whose rows stand behind others of its manifold.
fn begin_friction(contact: &Contact, at: usize, first: usize, blocks: &mut Vec<Block>) {
    let friction = &contact.friction;
    let law = if friction.direction.is_some() {
        Law::Boxed
    } else {
        Law::Round
    };
    let mut block = Block::new(law, first, [at, at + 1]);
    block.coefficients = friction.coefficients;
    blocks.push(block);
    if friction.torsion > 0.0 {
        let mut twist = Block::new(Law::Twist, first + law.rows(), [at, at + 1]);
        twist.coefficients = [friction.torsion; 2];
        blocks.push(twist);
    }
}

/// Returns the radius of friction along a line, where contacts are the ends of one.
fn line_radius(contacts: &[Contact]) -> Option<f64> {
    let [first, second] = contacts else {
        return None;
    };
    let is_plain = |contact: &Contact| {
        let friction = &contact.friction;
        friction.direction.is_none() && friction.slip == [0.0; 2] && friction.torsion == 0.0
    };
    let length = first.points[0].distance(second.points[0]);
    let is_one = first.manifold == second.manifold;
    let is_line = is_one && length >= LINE_LENGTH_MIN && contacts.iter().all(is_plain);
    is_line.then_some(0.25 * length)
}

impl Point {
    fn begin(number: usize, contact: &Contact) -> Self {
        let along = contact.friction.direction.and_then(|direction| {
            let flat = direction - contact.normal * contact.normal.dot(direction);
            flat.try_normalize()
        });
        let tangents = match along {
            Some(first) => [first, contact.normal.cross(first)],
            None => across(contact.normal),
        };
        Self {
            contact: number,
            directions: [contact.normal, tangents[0], tangents[1]],
            arms: [DVec3::ZERO; 2],
            gap: (contact.points[0] - contact.points[1]).dot(contact.normal),
            bias: 0.0,
            softness: 0.0,
            inverse_gain: 0.0,
            approach: 0.0,
            restitution: if contact.is_new || contact.restitution >= 1.0 {
                contact.restitution
            } else {
                0.0
            },
        }
    }
}

/// Returns the rows along an axis.
fn rows_of(axis: &Axis) -> impl Iterator<Item = Row> + '_ {
    let has_spring = axis.spring.stiffness > 0.0 || axis.spring.damping > 0.0;
    let roles = [
        (Role::Hold, axis.is_held),
        (Role::Servo, axis.servo.is_some()),
        (Role::Friction, axis.friction > 0.0),
        (
            Role::Spring,
            axis.stop.is_some() || has_spring && axis.joint.is_none(),
        ),
        (Role::Bounds, !axis.bounds.is_none()),
    ];
    let wanted = roles.into_iter().filter(|(_, is_wanted)| *is_wanted);
    wanted.map(|(role, _)| Row::begin(role, axis))
}

/// Returns where a contact is from the centres of mass of both bodies. It goes with them in a step:
/// the contact of a wheel rolls along, and a point left behind would lift it.
pub(super) fn arms(contact: &Contact, bodies: &[Body], middle: DVec3) -> [DVec3; 2] {
    contact
        .bodies
        .map(|body| body.map_or(DVec3::ZERO, |body| middle - bodies[body].center()))
}
