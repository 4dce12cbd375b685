//! Flight: how a tree moves while nothing touches it, by the classic method of Runge and Kutta.
//!
//! Rotations go as rotation vectors since the begin of the step, with the correction that keeps the
//! fourth order (Munthe-Kaas, 1998).

use glam::DVec3;

use crate::body::Body;
use crate::factor::Factor;
use crate::kinematics::Kinematics;
use crate::manifold::ROWS_MAX;
use crate::spatial::{rate_of_vector, rotation_by};
use crate::tree::{JointKind, Position, Tree};

/// Springs and dampers along single degrees of freedom, and forces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joined {
    /// The degree of freedom.
    pub(crate) axis: usize,
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    /// The position of rest of the spring, as the tree counts \[rad or m\].
    pub(crate) reference: f64,
}

/// A servo of a degree of freedom, as strong as it must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Servo {
    /// The degree of freedom.
    pub(crate) axis: usize,
    /// The number of its axis in the scene.
    pub(crate) number: usize,
    /// The rate to go at, in the sense of the tree.
    pub(crate) rate: f64,
    /// The mass that holds the rate.
    mass: f64,
}

/// The mass of a servo, as a multiple of that of its degree of freedom.
const SERVO_MASS: f64 = 1e7;

impl Servo {
    pub(crate) fn new(axis: usize, number: usize, rate: f64) -> Self {
        Self {
            axis,
            number,
            rate,
            mass: 0.0,
        }
    }

    /// Returns the impulse that it took to keep the rate.
    pub(crate) fn impulse(&self, rates: &[f64]) -> f64 {
        self.mass * (self.rate - rates[self.axis])
    }
}

/// Buffers to move a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) kinematics: Kinematics,
    pub(crate) factor: Factor,
    pub(crate) masses: Vec<f64>,
    pub(crate) forces: Vec<f64>,
    pub(crate) joined: Vec<Joined>,
    pub(crate) servos: Vec<Servo>,
    /// Zeros, as many as there are degrees of freedom.
    pub(crate) dense: Vec<f64>,
    /// The same for each row of a manifold; whoever writes there leaves zeros.
    pub(crate) lanes: Vec<f64>,
    /// True if frames are those of the positions.
    is_placed: bool,
    /// True if velocities, masses and their factor are those of positions and rates, and of nothing
    /// else.
    is_known: bool,
    /// The centre of mass of the root in its own frame \[m\].
    root_center: DVec3,
    flight: Flight,
}

/// Buffers of a motion, and of a step of the method of fourth order.
#[derive(Clone, Debug, Default)]
struct Flight {
    /// Positions and rates at the begin of a flight, and of a step of its method.
    kept: (Vec<Position>, Vec<f64>),
    start: (Vec<Position>, Vec<f64>),
    /// The changes of coordinates and of rates in the stages of a step of the method.
    slopes: [Slope; 4],
    /// Sums of changes of coordinates, and rates.
    way: Vec<f64>,
    now: Vec<f64>,
}

/// The most that a link turns in one step of the method \[rad\].
const TURN_MAX: f64 = 0.05;

/// The most steps of the method within a step.
const STEPS_MAX: f64 = 64.0;

/// Rates of all coordinates, and of all rates.
type Slope = (Vec<f64>, Vec<f64>);

impl Workspace {
    /// Finds positions and rates of the joints from the bodies. Bodies whose velocities no motion
    /// of the joints has are brought together as by a blow between them.
    pub(crate) fn take(&mut self, tree: &mut Tree, bodies: &[Body]) {
        let Kinematics { joints, frames, .. } = &mut self.kinematics;
        tree.measure(|body| bodies[body].frame, joints, frames);
        let root = tree.links.iter().find_map(|link| link.body);
        self.kinematics.origin = root.map_or(tree.base.position, |body| bodies[body].center());
        self.root_center = root.map_or(DVec3::ZERO, |body| bodies[body].local_center);
        self.kinematics.find_axes(tree, bodies);
        self.is_placed = true;
        self.kinematics.masses(tree, &mut self.masses);
        self.factor.of(tree, &self.masses);
        let mut rates = std::mem::take(&mut self.forces);
        self.kinematics.momenta(tree, bodies, &mut rates);
        self.factor.solve(tree, &mut rates);
        tree.rates.copy_from_slice(&rates);
        self.forces = rates;
        self.kinematics.move_at(tree, &tree.rates);
        self.dense.clear();
        self.dense.resize(tree.freedom(), 0.0);
        self.lanes.resize(tree.freedom() * ROWS_MAX, 0.0);
        self.is_known = true;
    }

    /// Writes frames and velocities of the links into their bodies.
    pub(crate) fn give(&mut self, tree: &Tree, bodies: &mut [Body]) {
        if !self.is_placed {
            self.kinematics.place(tree, bodies);
        }
        self.kinematics.move_at(tree, &tree.rates);
        for (number, link) in tree.links.iter().enumerate() {
            if let Some(body) = link.body {
                let body = &mut bodies[body];
                [body.linear, body.angular] = self.kinematics.motion_of(number, body);
                body.frame = self.kinematics.frames[number];
            }
        }
    }

    /// Tells whether a spring or damper is too strong for an explicit method.
    pub(crate) fn is_stiff(&self, time_s: f64) -> bool {
        self.joined.iter().any(|joined| {
            let mass = self.factor.diagonal[joined.axis];
            let phase = joined.damping * time_s + joined.stiffness * time_s * time_s;
            phase > 0.1 * mass
        })
    }

    /// Returns how many steps of the method a step of a length takes \[s\].
    fn steps(&self, time_s: f64) -> usize {
        let speeds = self.kinematics.velocities.iter();
        let fastest = speeds.fold(0.0, |most: f64, link| most.max(link.angular.length()));
        let steps = (fastest * time_s / TURN_MAX).ceil().clamp(1.0, STEPS_MAX);
        if steps.is_finite() { steps as usize } else { 1 }
    }

    /// Speeds up a tree over a time \[s\] by all that acts but rows. Springs and dampers count by
    /// where they will be at its end, so that none is too strong (the implicit method of Euler).
    pub(crate) fn accelerate(&mut self, tree: &mut Tree, bodies: &[Body], time_s: f64) {
        let was_known = std::mem::take(&mut self.is_known);
        if !was_known {
            self.kinematics.move_at(tree, &tree.rates);
            self.kinematics.masses(tree, &mut self.masses);
        }
        let mut forces = std::mem::take(&mut self.forces);
        self.kinematics.bias(tree, bodies, &mut forces);
        for force in &mut forces {
            *force = -*force;
        }
        let freedom = tree.freedom();
        for joined in &self.joined {
            let rate = tree.rates[joined.axis];
            let position = tree.positions[tree.owner[joined.axis]].value;
            let way = joined.reference - position - time_s * rate;
            forces[joined.axis] += joined.stiffness * way - joined.damping * rate;
            let added = time_s * (joined.damping + time_s * joined.stiffness);
            self.masses[joined.axis * (freedom + 1)] += added;
        }
        // What contacts then do to a wheel they do to the whole robot, as if its motor were rigid:
        // found in turns, motor and friction would need a hundred of them.
        for servo in &mut self.servos {
            let entry = &mut self.masses[servo.axis * (freedom + 1)];
            servo.mass = SERVO_MASS * *entry;
            *entry += servo.mass;
            forces[servo.axis] += servo.mass * (servo.rate - tree.rates[servo.axis]) / time_s;
        }
        if !was_known || !self.joined.is_empty() || !self.servos.is_empty() {
            self.factor.of(tree, &self.masses);
        }
        self.factor.solve(tree, &mut forces);
        for (rate, change) in tree.rates.iter_mut().zip(&forces) {
            *rate += change * time_s;
        }
        self.forces = forces;
    }

    /// Moves a tree at its rates over a time \[s\].
    pub(crate) fn advance(&mut self, tree: &mut Tree, time_s: f64) {
        let mut way = std::mem::take(&mut self.flight.way);
        way.clear();
        way.extend(tree.rates.iter().map(|rate| rate * time_s));
        for (number, link) in tree.links.iter().enumerate() {
            if link.kind == JointKind::Free {
                let first = tree.first[number];
                let arm = tree.positions[number].place - self.kinematics.origin;
                let angular = vector(&tree.rates, first);
                let linear = vector(&tree.rates, first + 3);
                // The centre of mass goes straight, and the origin of the link turns about it.
                let center = self.center_arm(tree, number);
                let at_center = linear + angular.cross(arm + center);
                let turned = rotation_by(angular * time_s) * center;
                let step = at_center * time_s + center - turned;
                way[first + 3..first + 6].copy_from_slice(&step.to_array());
            }
        }
        for (number, position) in tree.positions.iter_mut().enumerate() {
            position.go(tree.links[number].kind, &way[tree.first[number]..]);
        }
        self.flight.way = way;
    }

    /// Finds the frames of the positions.
    pub(crate) fn place(&mut self, tree: &Tree, bodies: &[Body]) {
        self.kinematics.place(tree, bodies);
        self.is_placed = true;
    }

    /// Takes over the rates that scaled velocities are.
    pub(crate) fn take_rates(&self, tree: &mut Tree, white: &[f64]) {
        let mut rates = std::mem::take(&mut tree.rates);
        self.factor.colour(tree, white, &mut rates);
        tree.rates = rates;
    }

    /// Writes the frames of the links into their bodies.
    pub(crate) fn show(&self, tree: &Tree, bodies: &mut [Body]) {
        for (link, described) in tree.links.iter().enumerate() {
            if let Some(body) = described.body {
                bodies[body].frame = self.kinematics.frames[link];
            }
        }
    }

    /// Returns where the centre of mass of the root is from its origin, world axes.
    fn center_arm(&self, tree: &Tree, number: usize) -> DVec3 {
        tree.positions[number].rotation * self.root_center
    }

    /// Keeps positions and rates, to go back to them.
    pub(crate) fn keep(&mut self, tree: &Tree) {
        self.flight.kept.0.clone_from(&tree.positions);
        self.flight.kept.1.clone_from(&tree.rates);
    }

    /// Returns the kept position of a joint with one degree of freedom \[m or rad\].
    pub(crate) fn kept_value(&self, link: usize) -> f64 {
        self.flight.kept.0[link].value
    }

    /// Goes back to the kept positions and rates.
    pub(crate) fn restore(&mut self, tree: &mut Tree, bodies: &[Body]) {
        tree.positions.clone_from(&self.flight.kept.0);
        tree.rates.clone_from(&self.flight.kept.1);
        self.place(tree, bodies);
    }

    /// Moves a tree over a time \[s\].
    pub(crate) fn fly(&mut self, tree: &mut Tree, bodies: &[Body], time_s: f64) {
        (self.is_placed, self.is_known) = (false, false);
        let steps = self.steps(time_s);
        let part = time_s / steps as f64;
        for _ in 0..steps {
            self.fly_once(tree, bodies, part);
        }
    }

    fn fly_once(&mut self, tree: &mut Tree, bodies: &[Body], time_s: f64) {
        let (mut positions, mut rates) = std::mem::take(&mut self.flight.start);
        positions.clone_from(&tree.positions);
        rates.clone_from(&tree.rates);
        self.flight.start = (positions, rates);
        let freedom = tree.rates.len();
        for stage in 0..4 {
            let (before, factor) = match stage {
                0 => (0, 0.0),
                3 => (2, time_s),
                _ => (stage - 1, 0.5 * time_s),
            };
            let [way, now] = [&mut self.flight.way, &mut self.flight.now];
            way.clear();
            now.clear();
            if stage == 0 {
                way.resize(freedom, 0.0);
                now.extend_from_slice(&self.flight.start.1);
            } else {
                let (ways, gains) = &self.flight.slopes[before];
                way.extend(ways.iter().map(|way| way * factor));
                let gained = self.flight.start.1.iter().zip(gains);
                now.extend(gained.map(|(rate, gain)| rate + gain * factor));
            }
            self.slope(tree, bodies, stage);
        }
        let slopes = &self.flight.slopes;
        let mean = |at: fn(&Slope) -> &Vec<f64>, number: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|stage: usize| at(&slopes[stage])[number]);
            (a + 2.0 * (b + c) + d) * (time_s / 6.0)
        };
        self.flight.way.clear();
        let ways = (0..freedom).map(|number| mean(|slope| &slope.0, number));
        self.flight.way.extend(ways);
        for (number, rate) in self.flight.start.1.iter().enumerate() {
            tree.rates[number] = rate + mean(|slope| &slope.1, number);
        }
        move_by(tree, &self.flight.start.0, &self.flight.way);
    }

    /// Finds the rates of coordinates and rates at a stage of the method, which is `way` from the
    /// start and has the rates `now`.
    fn slope(&mut self, tree: &mut Tree, bodies: &[Body], stage: usize) {
        move_by(tree, &self.flight.start.0, &self.flight.way);
        self.kinematics.place(tree, bodies);
        self.kinematics.move_at(tree, &self.flight.now);
        self.kinematics.masses(tree, &mut self.masses);
        self.factor.of(tree, &self.masses);
        let (mut ways, mut forces) = std::mem::take(&mut self.flight.slopes[stage]);
        self.kinematics.bias(tree, bodies, &mut forces);
        for force in &mut forces {
            *force = -*force;
        }
        for joined in &self.joined {
            let position = tree.positions[tree.owner[joined.axis]].value;
            forces[joined.axis] += joined.stiffness * (joined.reference - position)
                - joined.damping * self.flight.now[joined.axis];
        }
        self.factor.solve(tree, &mut forces);
        self.find_coordinate_rates(tree, &mut ways);
        self.flight.slopes[stage] = (ways, forces);
    }

    /// Finds the rates of the coordinates at the rates of the axes.
    fn find_coordinate_rates(&self, tree: &Tree, out: &mut Vec<f64>) {
        let (way, rates) = (&self.flight.way, &self.flight.now);
        out.clone_from(rates);
        for (number, link) in tree.links.iter().enumerate() {
            let first = tree.first[number];
            match link.kind {
                JointKind::Fixed | JointKind::Revolute | JointKind::Prismatic => {}
                JointKind::Ball => correct(out, way, first),
                JointKind::Free => {
                    // The coordinates are those of the origin of the link, the rates those of the
                    // point that everything is about.
                    let angular = vector(rates, first);
                    let arm = tree.positions[number].place - self.kinematics.origin;
                    let linear = vector(rates, first + 3) + angular.cross(arm);
                    out[first + 3..first + 6].copy_from_slice(&linear.to_array());
                    correct(out, way, first);
                }
            }
        }
    }
}

/// Replaces the angular velocity of a rotation by the rate of its rotation vector.
fn correct(out: &mut [f64], way: &[f64], first: usize) {
    let rate = rate_of_vector(vector(way, first), vector(out, first));
    out[first..first + 3].copy_from_slice(&rate.to_array());
}

fn vector(values: &[f64], first: usize) -> DVec3 {
    DVec3::from_slice(&values[first..first + 3])
}

/// Moves the joints of a tree by a way of their coordinates from a start.
fn move_by(tree: &mut Tree, start: &[Position], way: &[f64]) {
    for (number, position) in start.iter().enumerate() {
        let mut position = *position;
        position.go(tree.links[number].kind, &way[tree.first[number]..]);
        tree.positions[number] = position;
    }
}

impl Position {
    /// Goes a way of the coordinates of a joint.
    fn go(&mut self, kind: JointKind, way: &[f64]) {
        match kind {
            JointKind::Fixed => {}
            JointKind::Revolute | JointKind::Prismatic => self.value += way[0],
            JointKind::Ball => {
                let turn = rotation_by(vector(way, 0));
                self.rotation = (turn * self.rotation).normalize();
            }
            JointKind::Free => {
                let turn = rotation_by(vector(way, 0));
                self.rotation = (turn * self.rotation).normalize();
                self.place += vector(way, 3);
            }
        }
    }
}
