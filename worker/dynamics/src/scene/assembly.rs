//! Assembly: contacts and axes become points and rows, island by island.

use glam::DVec3;

use super::{Island, Scene, Work};
use crate::axis::{Axis, Role};
use crate::body::Body;
use crate::contact::Contact;
use crate::mover::{Lever, Push, axis_lever, body_lever, tree_lever};
use crate::sweep::{Grip, Patch, Point, Row, across};
use crate::tree::Tree;

/// An approach that is slower than this is no blow \[m/s\].
const BOUNCE_SPEED_MIN: f64 = 1e-3;

/// How much contacts yield, as a part of what an impulse changes: the least with which a body that
/// stands on more points than it needs presses on all of them evenly. A cube of 1 kg sinks by some
/// nanometres.
const SOFTNESS: f64 = 2e-3;

impl Scene {
    /// Makes points and rows of all that acts in this step, sorted by islands.
    pub(super) fn assemble(&mut self) {
        self.join();
        let work = &mut self.work;
        work.points.clear();
        for (number, contact) in self.contacts.iter().enumerate() {
            let node = contact.bodies.iter().flatten().find_map(|body| {
                let node = work.node_of(*body);
                self.bodies[*body].is_dynamic().then_some(node)
            });
            if let Some(node) = node {
                let island = find(&mut work.nodes, node);
                work.points.push(Point::begin(number, contact, island));
            }
        }
        work.points
            .sort_by_key(|point| (point.island, point.contact));
        for pair in work
            .points
            .chunk_by_mut(|one, next| one.manifold == next.manifold)
        {
            if let [first, second] = pair {
                let contacts = [first.contact, second.contact].map(|at| &self.contacts[at]);
                begin_patch(first, second, contacts);
            }
        }
        work.rows.clear();
        for (number, axis) in self.axes.iter().enumerate() {
            let Some(node) = work.node_of_axis(axis) else {
                continue;
            };
            let is_held = match axis.joint {
                Some((tree, ..)) => work.held_trees[tree],
                None => true,
            };
            if is_held {
                let island = find(&mut work.nodes, node);
                work.rows.extend(rows_of(number, axis, island));
            }
        }
        work.rows.sort_by_key(|row| (row.island, row.axis));
        work.moved.clear();
        work.moved.resize(self.axes.len(), 0.0);
        work.leads.clear();
        work.leads.resize(self.axes.len(), None);
        for (number, row) in work.rows.iter().enumerate().rev() {
            work.leads[row.axis] = Some(number);
        }
        work.cut();
    }

    /// Finds which bodies and trees act on each other.
    fn join(&mut self) {
        let work = &mut self.work;
        let count = self.bodies.len() + self.trees.len();
        work.nodes.clear();
        work.nodes.extend(0..count as u32);
        for contact in &self.contacts {
            if let [Some(first), Some(second)] = contact.bodies
                && self.bodies[first].is_dynamic()
                && self.bodies[second].is_dynamic()
            {
                let (first, second) = (work.node_of(first), work.node_of(second));
                unite(&mut work.nodes, first, second);
            }
        }
        for axis in &self.axes {
            let dynamic = axis
                .terms
                .iter()
                .filter(|term| self.bodies[term.body].is_dynamic());
            let nodes: Vec<u32> = dynamic.map(|term| work.node_of(term.body)).collect();
            for pair in nodes.windows(2) {
                unite(&mut work.nodes, pair[0], pair[1]);
            }
        }
    }

    /// Makes points and rows ready for the sweeps of a substep, and begins with the impulses of the
    /// one before.
    pub(super) fn prepare(&mut self, time_s: f64, number: usize) {
        self.work.store.path.clear();
        self.work.store.row.clear();
        let ratio = -libm::expm1(-time_s / self.parameters.correction_s);
        let mut points = std::mem::take(&mut self.work.points);
        for point in &mut points {
            let contact = self.contacts[point.contact];
            self.set_grip(point, &contact, time_s, number == 0);
            if point.patch.is_some() {
                self.set_patch(point, number == 0);
            }
            let parting = ratio * point.gap / time_s;
            point.softness = if point.gap > 0.0 {
                0.0
            } else {
                SOFTNESS * point.gain
            };
            point.bias = if point.gap > 0.0 {
                point.gap / time_s
            } else {
                parting.max(-self.parameters.correction_speed)
            };
            let rate = point.approach_rate(&self.work.velocities, &self.work.store);
            if point.restitution > 0.0 && point.totals[0] == 0.0 {
                point.approach = rate.min(0.0);
            }
        }
        for (axis, moved) in self.axes.iter_mut().zip(&mut self.work.moved) {
            if let Some(lock) = axis.lock {
                (axis.terms, axis.position) = lock.look(&self.bodies);
                *moved = 0.0;
            }
        }
        let mut rows = std::mem::take(&mut self.work.rows);
        let mut known: Option<(usize, [Option<Lever>; 2], f64)> = None;
        for row in &mut rows {
            let axis = &self.axes[row.axis];
            if known.is_none_or(|(of, ..)| of != row.axis) {
                let (levers, base_rate) = self.work.levers(axis, &self.bodies, &self.trees);
                known = Some((row.axis, levers, base_rate));
            }
            let (_, levers, base_rate) = known.expect("it was just set");
            (row.levers, row.base_rate) = (levers, base_rate);
            let own = levers.iter().flatten();
            let gain: f64 = own
                .map(|lever| lever.shows_along(lever, &self.work.store))
                .sum();
            row.gain = above_rounding(gain, free_gain(axis, &self.bodies));
            if row.gain == 0.0 {
                row.impulse = 0.0;
            }
            let position = axis.position + self.work.moved[row.axis];
            row.set(axis, position, time_s, ratio);
            if row.role == Role::Servo && self.work.is_kept(row.axis, axis) {
                (row.impulse, row.impulses) = (0.0, [0.0; 2]);
            }
        }
        let (velocities, store) = (&mut self.work.velocities, &self.work.store);
        for row in &rows {
            row.push(row.impulse, velocities, store);
        }
        for point in &mut points {
            point.warm(velocities, store);
        }
        self.work.points = points;
        self.work.rows = rows;
    }

    /// Takes the bias away, but for gaps that are open still.
    pub(super) fn relax(&mut self, time_s: f64) {
        let mut points = std::mem::take(&mut self.work.points);
        for point in &mut points {
            point.bias = point.gap.max(0.0) / time_s;
            point.softness = 0.0;
        }
        self.work.points = points;
        let mut rows = std::mem::take(&mut self.work.rows);
        for row in &mut rows {
            let axis = &self.axes[row.axis];
            let position = axis.position + self.work.moved[row.axis];
            row.set(axis, position, time_s, 0.0);
            if row.role == Role::Servo && self.work.is_kept(row.axis, axis) {
                row.impulses = [0.0; 2];
            }
        }
        self.work.rows = rows;
    }

    /// Has what met in this step part again, at the speed that restitution leaves of that at which
    /// they met (Newton's law of impact).
    pub(super) fn bounce(&mut self) {
        let mut bounces = false;
        for point in &mut self.work.points {
            let has_met = point.totals[0] > 0.0 && point.approach < -BOUNCE_SPEED_MIN;
            if has_met && point.restitution > 0.0 {
                point.bias = point.restitution * point.approach;
                bounces = true;
            }
        }
        if !bounces {
            return;
        }
        let impulses = |work: &Work| -> (Vec<[f64; 3]>, Vec<Option<DVec3>>, Vec<f64>) {
            let rubbed = |point: &Point| point.patch.as_ref().map(|patch| patch.impulses);
            (
                work.points.iter().map(|point| point.impulses).collect(),
                work.points.iter().map(rubbed).collect(),
                work.rows.iter().map(|row| row.impulse).collect(),
            )
        };
        let (points, patches, rows) = impulses(&self.work);
        self.sweep(false);
        // Only what the blow adds counts once more.
        for (number, point) in self.work.points.iter_mut().enumerate() {
            for (impulse, before) in point.impulses.iter_mut().zip(points[number]) {
                *impulse -= before;
            }
            if let (Some(patch), Some(before)) = (&mut point.patch, patches[number]) {
                patch.impulses -= before;
            }
        }
        for (row, before) in self.work.rows.iter_mut().zip(&rows) {
            row.impulse -= before;
        }
        self.take_rates();
        self.keep_blow();
        // The next step begins with what pressed before the blow, which itself is no pressure.
        for (number, point) in self.work.points.iter_mut().enumerate() {
            let has_bounced = point.restitution > 0.0 && point.approach < -BOUNCE_SPEED_MIN;
            point.impulses = if has_bounced {
                [0.0; 3]
            } else {
                points[number]
            };
            if let (Some(patch), Some(before)) = (&mut point.patch, patches[number]) {
                patch.impulses = if has_bounced { DVec3::ZERO } else { before };
            }
        }
        for (row, before) in self.work.rows.iter_mut().zip(&rows) {
            row.impulse = *before;
        }
    }

    /// Notes the impulses in contacts and axes.
    pub(super) fn write_back(&mut self) {
        for axis in &mut self.axes {
            axis.impulses = [0.0; 5];
            axis.totals = [0.0; 5];
        }
        for row in &self.work.rows {
            let axis = &mut self.axes[row.axis];
            axis.impulses[row.role as usize] = row.impulse;
            axis.totals[row.role as usize] = row.total;
        }
        for contact in &mut self.contacts {
            (contact.pressure, contact.total_pressure) = (0.0, 0.0);
            (contact.drag, contact.total_drag) = (DVec3::ZERO, DVec3::ZERO);
        }
        for point in &self.work.points {
            let contact = &mut self.contacts[point.contact];
            let [_, first, second] = point.directions;
            contact.pressure = point.impulses[0];
            contact.drag = first * point.impulses[1] + second * point.impulses[2];
            contact.twist = point.twist.as_ref().map_or(0.0, |twist| twist.impulse);
            contact.total_pressure = point.totals[0];
            contact.total_drag = first * point.totals[1] + second * point.totals[2];
        }
        for pair in self.work.points.windows(2) {
            if let [one, other] = pair
                && let Some(patch) = &one.patch
            {
                share_patch(patch, [one, other], &mut self.contacts);
            }
        }
    }

    /// Finds the levers of friction along a line that two points are the ends of.
    fn set_patch(&mut self, point: &mut Point, is_first: bool) {
        let Some(patch) = &mut point.patch else {
            return;
        };
        let ends = [point.contact, point.contact + 1].map(|at| &self.contacts[at]);
        let middles = ends.map(|end| 0.5 * (end.points[0] + end.points[1]));
        if is_first {
            // Where even pressure has its centre: that of rigid bodies on four wheels' edges is not
            // determined.
            let middle = 0.5 * (middles[0] + middles[1]);
            patch.arms = arms(ends[0], &self.bodies, middle);
        }
        let surface = ends[0].surface_velocity;
        let [normal, first, second] = point.directions;
        let directions = [(first, DVec3::ZERO), (second, DVec3::ZERO)];
        let about = (DVec3::ZERO, normal * patch.radius);
        for (number, (along, about)) in directions.into_iter().chain([about]).enumerate() {
            let push = |(side, sign): (usize, f64)| {
                ends[0].bodies[side].map(|body| Push {
                    body,
                    linear: along * sign,
                    angular: (patch.arms[side].cross(along) + about) * sign,
                })
            };
            let both = [(0, 1.0), (1, -1.0)];
            let pushes: Vec<Push> = both.into_iter().filter_map(push).collect();
            let (levers, base_rate) = self.work.levers_of(&pushes, &self.bodies, &self.trees);
            patch.levers[number] = levers;
            patch.base_rates[number] = base_rate + along.dot(surface);
        }
        let store = &self.work.store;
        for row in 0..3 {
            for column in 0..3 {
                let shown =
                    |side: usize| match (patch.levers[row][side], patch.levers[column][side]) {
                        (Some(one), Some(other)) => one.shows_along(&other, store),
                        _ => 0.0,
                    };
                patch.gains.col_mut(column)[row] = shown(0) + shown(1);
            }
        }
    }

    /// Finds the levers of a point and what impulses along it change.
    fn set_grip(&mut self, point: &mut Point, contact: &Contact, time_s: f64, is_first: bool) {
        let movers = contact
            .bodies
            .map(|body| body.and_then(|body| self.work.link_of[body]));
        let is_plain = movers == [None, None];
        if is_plain && !is_first {
            return;
        }
        let middle = 0.5 * (contact.points[0] + contact.points[1]);
        let surface = contact.surface_velocity;
        point.base_rates = point.directions.map(|direction| direction.dot(surface));
        point.base_rates[0] = 0.0;
        if is_plain {
            point.grip = plain_grip(point, contact, &self.bodies, middle);
        } else {
            if is_first {
                point.arms = arms(contact, &self.bodies, middle);
            }
            self.work
                .mixed_grip(point, contact, &self.bodies, &self.trees);
        }
        let gain =
            |first: usize, second: usize| point.grip.gain(first, second, point, &self.work.store);
        let mut gains = [gain(0, 0), gain(1, 1), gain(2, 2), gain(1, 2)];
        if !is_plain {
            let free: f64 = contact
                .bodies
                .iter()
                .flatten()
                .map(|body| self.bodies[*body].inverse_mass())
                .sum();
            for entry in &mut gains[..3] {
                *entry = above_rounding(*entry, free);
            }
        }
        point.gain = gains[0];
        point.tangent_gains = [gains[1], gains[2], gains[3]];
        point.slips = contact.friction.slip.map(|slip| slip / time_s);
        if let Some(twist) = &mut point.twist {
            let (levers, base_rate) =
                self.work
                    .levers_of(&twist_pushes(contact), &self.bodies, &self.trees);
            (twist.levers, twist.base_rate) = (levers, base_rate);
            let own = levers.iter().flatten();
            twist.gain = own
                .map(|lever| lever.shows_along(lever, &self.work.store))
                .sum();
        }
    }
}

impl Work {
    /// Tells whether the mass of a tree keeps the rate that the servo of an axis asks for.
    fn is_kept(&self, number: usize, axis: &Axis) -> bool {
        axis.joint.is_some() && !self.is_weak[number]
    }

    fn node_of(&self, body: usize) -> u32 {
        match self.link_of[body] {
            Some((tree, _)) => (self.link_of.len() + tree) as u32,
            None => body as u32,
        }
    }

    fn node_of_axis(&self, axis: &Axis) -> Option<u32> {
        match axis.joint {
            Some((tree, ..)) => Some((self.link_of.len() + tree) as u32),
            None => axis.terms.first().map(|term| self.node_of(term.body)),
        }
    }

    /// Cuts sorted rows and points into islands.
    fn cut(&mut self) {
        self.islands.clear();
        let (mut row, mut point) = (0, 0);
        while row < self.rows.len() || point < self.points.len() {
            let of_row = self.rows.get(row).map_or(u32::MAX, |row| row.island);
            let of_point = self
                .points
                .get(point)
                .map_or(u32::MAX, |point| point.island);
            let island = of_row.min(of_point);
            let (first_row, first_point) = (row, point);
            while self.rows.get(row).is_some_and(|row| row.island == island) {
                row += 1;
            }
            while self
                .points
                .get(point)
                .is_some_and(|point| point.island == island)
            {
                point += 1;
            }
            self.islands.push(Island {
                rows: [first_row, row],
                points: [first_point, point],
            });
        }
    }

    /// Returns the levers of an axis.
    fn levers(
        &mut self,
        axis: &Axis,
        bodies: &[Body],
        trees: &[Tree],
    ) -> ([Option<Lever>; 2], f64) {
        if let Some((tree, link, sense)) = axis.joint
            && let Some(at) = trees[tree].axis_of(link)
        {
            let (space, offset) = (&mut self.spaces[tree], self.offsets[tree]);
            let lever = axis_lever(at, sense, &trees[tree], space, offset, &mut self.store);
            return ([Some(lever), None], 0.0);
        }
        let pushes: Vec<Push> = axis
            .terms
            .iter()
            .map(|term| Push {
                body: term.body,
                linear: term.linear,
                angular: term.angular,
            })
            .collect();
        self.levers_of(&pushes, bodies, trees)
    }

    /// Returns the levers of pushes on at most two things that move on their own.
    fn levers_of(
        &mut self,
        pushes: &[Push],
        bodies: &[Body],
        trees: &[Tree],
    ) -> ([Option<Lever>; 2], f64) {
        let mut levers = [None, None];
        let mut base_rate = 0.0;
        let mut count = 0;
        let mut done: Vec<u32> = Vec::new();
        for push in pushes {
            let node = self.node_of(push.body);
            if done.contains(&node) || count == 2 {
                continue;
            }
            done.push(node);
            let same: Vec<Push> = pushes
                .iter()
                .copied()
                .filter(|other| self.node_of(other.body) == node)
                .collect();
            levers[count] = Some(match self.link_of[push.body] {
                Some((tree, _)) => {
                    let of_link = |push: Push| {
                        let link = self.link_of[push.body].map_or(0, |(_, link)| link);
                        (link, push)
                    };
                    let same: Vec<_> = same.into_iter().map(of_link).collect();
                    let (space, offset) = (&mut self.spaces[tree], self.offsets[tree]);
                    let store = &mut self.store;
                    let (lever, rate) =
                        tree_lever(&same, &trees[tree], space, bodies, offset, store);
                    base_rate += rate;
                    lever
                }
                None => {
                    let mut whole = *push;
                    whole.linear = same.iter().map(|push| push.linear).sum();
                    whole.angular = same.iter().map(|push| push.angular).sum();
                    body_lever(&whole, bodies)
                }
            });
            count += 1;
        }
        (levers, base_rate)
    }

    /// Sets the levers of a point that touches a tree.
    fn mixed_grip(
        &mut self,
        point: &mut Point,
        contact: &Contact,
        bodies: &[Body],
        trees: &[Tree],
    ) {
        let mut grip: Box<[[Option<Lever>; 3]; 2]> = Box::default();
        for (number, direction) in point.directions.iter().enumerate() {
            let mut pushes = Vec::with_capacity(2);
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                if let Some(body) = contact.bodies[side] {
                    let linear = *direction * sign;
                    let arm = point.arms[side];
                    pushes.push(Push {
                        body,
                        linear,
                        angular: arm.cross(linear),
                    });
                }
            }
            let (levers, base_rate) = self.levers_of(&pushes, bodies, trees);
            grip[0][number] = levers[0];
            grip[1][number] = levers[1];
            point.base_rates[number] += base_rate;
        }
        point.grip = Grip::Levers(grip);
    }
}

impl Grip {
    /// Returns how much an impulse along one direction shows along another.
    fn gain(&self, first: usize, second: usize, point: &Point, store: &crate::mover::Store) -> f64 {
        match self {
            Self::Bodies {
                inverse_masses,
                arms,
                turns,
                ..
            } => {
                let straight = point.directions[first].dot(point.directions[second]);
                let side = |side: usize| arms[side][first].dot(turns[side][second]);
                straight * (inverse_masses[0] + inverse_masses[1]) + side(0) + side(1)
            }
            Self::Levers(levers) => {
                let one = |side: usize| match (&levers[side][first], &levers[side][second]) {
                    (Some(first), Some(second)) => first.shows_along(second, store),
                    _ => 0.0,
                };
                one(0) + one(1)
            }
        }
    }
}

impl Point {
    fn begin(number: usize, contact: &Contact, island: u32) -> Self {
        let tangents = match contact.friction.direction {
            Some(direction) => {
                let flat = direction - contact.normal * contact.normal.dot(direction);
                match flat.try_normalize() {
                    Some(first) => [first, contact.normal.cross(first)],
                    None => across(contact.normal),
                }
            }
            None => across(contact.normal),
        };
        let torsion = contact.friction.torsion;
        Self {
            contact: number,
            manifold: contact.manifold,
            island,
            directions: [contact.normal, tangents[0], tangents[1]],
            grip: Grip::Levers(Box::default()),
            base_rates: [0.0; 3],
            gain: 0.0,
            tangent_gains: [0.0; 3],
            impulses: [
                contact.pressure,
                contact.drag.dot(tangents[0]),
                contact.drag.dot(tangents[1]),
            ],
            totals: [0.0; 3],
            coefficients: contact.friction.coefficients,
            is_boxed: contact.friction.direction.is_some(),
            slips: [0.0; 2],
            arms: [DVec3::ZERO; 2],
            bias: 0.0,
            softness: 0.0,
            approach: 0.0,
            restitution: if contact.is_new || contact.restitution >= 1.0 {
                contact.restitution
            } else {
                0.0
            },
            gap: (contact.points[0] - contact.points[1]).dot(contact.normal),
            twist: (torsion > 0.0).then(|| Row {
                impulse: contact.twist,
                ..Row::new(0, Role::Friction, island)
            }),
            torsion,
            patch: None,
        }
    }
}

impl Row {
    fn new(axis: usize, role: Role, island: u32) -> Self {
        Self {
            axis,
            role,
            island,
            levers: [None, None],
            base_rate: 0.0,
            gain: 0.0,
            impulse: 0.0,
            total: 0.0,
            rates: [0.0; 2],
            impulses: [f64::NEG_INFINITY, f64::INFINITY],
            softness: 0.0,
        }
    }

    /// Sets what the row asks for at a position, in a substep of a length \[s\]; `ratio` is the
    /// part of an error of position that it takes back.
    fn set(&mut self, axis: &Axis, position: f64, time_s: f64, ratio: f64) {
        match self.role {
            Role::Bounds => self.rates = bounded(axis, position, time_s, ratio),
            Role::Friction => {
                self.impulses = [-axis.friction * time_s, axis.friction * time_s];
            }
            Role::Servo => {
                let [velocity, force] = axis.servo.unwrap_or_default();
                self.rates = [velocity; 2];
                self.impulses = [-force * time_s, force * time_s];
            }
            Role::Hold => self.rates = [-ratio * position / time_s; 2],
            Role::Spring => self.set_spring(axis, position, time_s),
        }
    }

    /// A spring counts by where it will be at the end of the substep.
    fn set_spring(&mut self, axis: &Axis, position: f64, time_s: f64) {
        let (spring, beyond) = match axis.stop {
            None => (axis.spring, position - axis.spring.reference),
            Some(stop) => {
                let bounds = &axis.bounds;
                let beyond = if position < bounds.lower {
                    self.impulses = [0.0, f64::INFINITY];
                    position - bounds.lower
                } else if position > bounds.upper {
                    self.impulses = [f64::NEG_INFINITY, 0.0];
                    position - bounds.upper
                } else {
                    self.impulses = [0.0, 0.0];
                    0.0
                };
                (stop, beyond)
            }
        };
        let yielding = time_s * (spring.damping + time_s * spring.stiffness);
        if yielding <= 0.0 {
            self.impulses = [0.0, 0.0];
            return;
        }
        self.softness = 1.0 / yielding;
        self.rates = [-time_s * spring.stiffness * beyond / yielding; 2];
    }
}

/// Returns the rates between which an axis stays within its bounds; one that is beyond goes back.
fn bounded(axis: &Axis, position: f64, time_s: f64, ratio: f64) -> [f64; 2] {
    let bounds = &axis.bounds;
    let [lower, upper] = if axis.stop.is_some() {
        [f64::NEG_INFINITY, f64::INFINITY]
    } else {
        [bounds.lower, bounds.upper]
    };
    let share = |way: f64| if way < 0.0 { way } else { way * ratio };
    let speed = bounds.speed;
    let least = share((lower - position) / time_s).max(-speed).min(speed);
    let most = (-share((position - upper) / time_s)).max(-speed).min(speed);
    [least.min(most), most]
}

/// Returns the rows along an axis.
fn rows_of(number: usize, axis: &Axis, island: u32) -> Vec<Row> {
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
    wanted
        .map(|(role, _)| Row {
            impulse: axis.impulses[role as usize],
            ..Row::new(number, role, island)
        })
        .collect()
}

/// Lets two points share friction, where they are the ends of a line.
fn begin_patch(first: &mut Point, second: &mut Point, contacts: [&Contact; 2]) {
    let length = contacts[0].points[0].distance(contacts[1].points[0]);
    let is_plain = |contact: &Contact| {
        let friction = &contact.friction;
        friction.direction.is_none() && friction.slip == [0.0; 2] && friction.torsion == 0.0
    };
    let follow = first.contact + 1 == second.contact;
    if length < LINE_LENGTH_MIN || !follow || !contacts.iter().all(|contact| is_plain(contact)) {
        return;
    }
    let drag = contacts[0].drag + contacts[1].drag;
    let radius = 0.25 * length;
    let twist = (contacts[0].twist + contacts[1].twist) / radius;
    let [_, along, across] = first.directions;
    first.patch = Some(Box::new(Patch {
        impulses: DVec3::new(drag.dot(along), drag.dot(across), twist),
        coefficient: first.coefficients[0],
        radius,
        ..Patch::default()
    }));
    for point in [first, second] {
        point.impulses[1] = 0.0;
        point.impulses[2] = 0.0;
        point.coefficients = [0.0; 2];
    }
}

/// Notes the friction along a line at its ends, in proportion to the pressure.
fn share_patch(patch: &Patch, ends: [&Point; 2], contacts: &mut [Contact]) {
    let [_, along, across] = ends[0].directions;
    let force = |impulses: DVec3| along * impulses.x + across * impulses.y;
    let shares = |pressures: [f64; 2]| {
        let sum = pressures[0] + pressures[1];
        if sum > 0.0 {
            pressures.map(|pressure| pressure / sum)
        } else {
            [0.5; 2]
        }
    };
    let of_last = shares(ends.map(|end| end.impulses[0]));
    let of_all = shares(ends.map(|end| end.totals[0]));
    for (number, end) in ends.iter().enumerate() {
        let contact = &mut contacts[end.contact];
        contact.drag = force(patch.impulses) * of_last[number];
        contact.total_drag = force(patch.totals) * of_all[number];
        contact.twist = patch.impulses.z * patch.radius * of_last[number];
    }
}

/// The least length of a line of contact \[m\].
const LINE_LENGTH_MIN: f64 = 1e-5;

/// The part of what an impulse changes of free bodies below which what it changes of bodies that
/// joints hold is rounding.
const GAIN_RATIO_MIN: f64 = 1e-9;

/// Returns a gain, or none where it is rounding beside that of free bodies.
fn above_rounding(gain: f64, free: f64) -> f64 {
    if gain > GAIN_RATIO_MIN * free {
        gain
    } else {
        0.0
    }
}

/// Returns what a unit impulse along an axis would change of bodies that nothing holds.
fn free_gain(axis: &Axis, bodies: &[Body]) -> f64 {
    let of = |term: &crate::axis::Term| {
        let body = &bodies[term.body];
        let turning = body.world_inverse_inertia() * term.angular;
        term.linear.length_squared() * body.inverse_mass() + term.angular.dot(turning)
    };
    axis.terms.iter().map(of).sum()
}

/// Returns where a point is from the centres of mass of both bodies. It goes with them in a step:
/// the contact of a wheel rolls along, and a point left behind would lift it.
fn arms(contact: &Contact, bodies: &[Body], middle: DVec3) -> [DVec3; 2] {
    contact
        .bodies
        .map(|body| body.map_or(DVec3::ZERO, |body| middle - bodies[body].center()))
}

fn plain_grip(point: &Point, contact: &Contact, bodies: &[Body], middle: DVec3) -> Grip {
    let mut arms = [[DVec3::ZERO; 3]; 2];
    let mut turns = [[DVec3::ZERO; 3]; 2];
    let mut inverse_masses = [0.0; 2];
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        let Some(number) = contact.bodies[side] else {
            continue;
        };
        let body = &bodies[number];
        let inverse = body.world_inverse_inertia();
        let arm = middle - body.center();
        inverse_masses[side] = body.inverse_mass();
        for (direction, out) in point.directions.iter().zip(&mut arms[side]) {
            *out = arm.cross(*direction) * sign;
        }
        turns[side] = arms[side].map(|arm| inverse * arm);
    }
    Grip::Bodies {
        // What never moves stands behind all bodies.
        bodies: contact.bodies.map(|body| body.unwrap_or(bodies.len())),
        inverse_masses,
        arms,
        turns,
    }
}

fn twist_pushes(contact: &Contact) -> Vec<Push> {
    let both = contact.bodies.iter().zip([1.0, -1.0]);
    both.filter_map(|(body, sign)| {
        body.map(|body| Push {
            body,
            linear: DVec3::ZERO,
            angular: contact.normal * sign,
        })
    })
    .collect()
}

fn find(nodes: &mut [u32], node: u32) -> u32 {
    let mut root = node;
    while nodes[root as usize] != root {
        root = nodes[root as usize];
    }
    let mut at = node;
    while nodes[at as usize] != root {
        at = std::mem::replace(&mut nodes[at as usize], root);
    }
    root
}

fn unite(nodes: &mut [u32], first: u32, second: u32) {
    let (first, second) = (find(nodes, first), find(nodes, second));
    let (least, other) = (first.min(second), first.max(second));
    nodes[other as usize] = least;
}
