//! Reference solutions of rigid bodies that slide on a plane under Coulomb friction at points.
//!
//! Loads of the points are linear over the base: `N_i = N / n + b p_i`, with `b` from the balance
//! of moments. For three points that is all that statics allows; for more it is what a rigid body
//! on a uniformly soft floor does, and a rigid floor leaves loads open. Points are those of regular
//! polygons and rectangles, whose second moments do not couple.

use super::GRAVITY;

/// Speed below which friction grows linearly, so that equations stay smooth \[m/s\].
const SMOOTHING: f64 = 1e-7;

/// Returns the corners of a rectangle with these half sizes.
pub fn corners([x, y]: [f64; 2]) -> Vec<[f64; 2]> {
    vec![[x, y], [-x, y], [-x, -y], [x, -y]]
}

/// Returns points on a circle.
pub fn rim(radius: f64, count: u32) -> Vec<[f64; 2]> {
    let angle = |index: u32| f64::from(index) * std::f64::consts::TAU / f64::from(count);
    let point = |index| [radius * angle(index).cos(), radius * angle(index).sin()];
    (0..count).map(point).collect()
}

/// A body that slides freely.
#[derive(Clone, Debug)]
pub struct Sledge {
    /// \[kg\]
    pub mass: f64,
    /// Moment of inertia about the vertical \[kg m^2\].
    pub moment: f64,
    /// Height of the centre of mass above the points \[m\].
    pub height: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Points that it stands on, in its own axes, about its centre \[m\].
    pub points: Vec<[f64; 2]>,
}

/// Place where a body came to rest.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Distance from the begin \[m\].
    pub way: f64,
    /// Angle that it turned by \[rad\].
    pub turn: f64,
}

impl Sledge {
    /// Integrates `m v' = F`, `I w' = M` by the midpoint rule until it stands.
    pub fn slide(&self, mut velocity: [f64; 2], mut rate: f64) -> Stop {
        let step = 1e-4;
        let (mut position, mut turn) = ([0.0; 2], 0.0);
        let mut force = [0.0; 2];
        while velocity[0].hypot(velocity[1]) > 1e-4 || rate.abs() > 1e-3 {
            let (begin, torque) = self.friction(velocity, rate, turn, force);
            let half = step / 2.0;
            let middle = [0, 1].map(|axis| velocity[axis] + half * begin[axis] / self.mass);
            let middle_rate = rate + half * torque / self.moment;
            let middle_turn = turn + half * rate;
            let (found, torque) = self.friction(middle, middle_rate, middle_turn, begin);
            force = found;
            for axis in 0..2 {
                position[axis] += step * middle[axis];
                velocity[axis] += step * force[axis] / self.mass;
            }
            turn += step * middle_rate;
            rate += step * torque / self.moment;
        }
        Stop {
            way: position[0].hypot(position[1]),
            turn,
        }
    }

    /// Returns force \[N\] and torque \[N m\] of friction; loads depend on the force before.
    fn friction(
        &self,
        velocity: [f64; 2],
        rate: f64,
        turn: f64,
        last: [f64; 2],
    ) -> ([f64; 2], f64) {
        let (sin, cos) = turn.sin_cos();
        let world = |[x, y]: [f64; 2]| [cos * x - sin * y, sin * x + cos * y];
        let points: Vec<[f64; 2]> = self.points.iter().map(|point| world(*point)).collect();
        let count = points.len() as f64;
        let squares: f64 = points.iter().map(|[x, _]| x * x).sum();
        let weight = self.mass * GRAVITY;
        let slope = last.map(|force| -self.height * force / squares);
        let (mut force, mut torque) = ([0.0; 2], 0.0);
        for [x, y] in points {
            let load = weight / count + slope[0] * x + slope[1] * y;
            let slip = [velocity[0] - rate * y, velocity[1] + rate * x];
            let speed = slip[0].hypot(slip[1]).hypot(SMOOTHING);
            let own = slip.map(|slip| -self.friction * load * slip / speed);
            force = [force[0] + own[0], force[1] + own[1]];
            torque += x * own[1] - y * own[0];
        }
        (force, torque)
    }
}

/// A box that a frictionless ball pushes slowly along x, at its rear face.
///
/// Of all motions that the pusher allows, the one that dissipates least happens: inertia plays no
/// part, and neither does mass (M. Mason, "Mechanics of Robotic
/// Manipulation", 2001, chapter 7).
#[derive(Clone, Debug)]
pub struct Push {
    /// Points that it stands on, in its own axes, about its centre \[m\].
    pub points: Vec<[f64; 2]>,
    /// Distance of the pushed face from the centre \[m\].
    pub face: f64,
    /// Distance of the pusher from the middle of the face \[m\].
    pub offset: f64,
    /// Radius of the pusher \[m\].
    pub radius: f64,
    /// Height at which it touches \[m\].
    pub height: f64,
    /// Distance that the pusher goes \[m\].
    pub way: f64,
    /// Coefficient of friction of the floor; it matters for how the push shifts the load.
    pub friction: f64,
}

impl Push {
    /// Returns how far the box has turned in the end \[rad\].
    pub fn turn(&self) -> f64 {
        let steps = 4_000;
        let step = self.way / f64::from(steps);
        let (mut center, mut turn) = ([0.0; 2], 0.0_f64);
        let mut pusher = [-self.face - self.radius, self.offset];
        let mut motion = Motion::default();
        for _ in 0..steps {
            let (sin, cos) = turn.sin_cos();
            let arm = [pusher[0] - center[0], pusher[1] - center[1]];
            let contact = -sin * arm[0] + cos * arm[1];
            motion = motion.solve(&self.points, cos, contact, self.height * self.friction);
            let along = cos + motion.rate * contact;
            center[0] += step * (cos * along - sin * motion.across);
            center[1] += step * (sin * along + cos * motion.across);
            turn += step * motion.rate;
            pusher[0] += step;
        }
        turn
    }
}

/// Motion of the box in its own axes per way of the pusher.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    across: f64,
    rate: f64,
}

impl Motion {
    /// Minimizes the dissipated power by Newton's method, and has loads follow the push.
    fn solve(self, points: &[[f64; 2]], along: f64, contact: f64, lever: f64) -> Self {
        let count = points.len() as f64;
        let squares: f64 = points.iter().map(|[x, _]| x * x).sum();
        let mut loads = vec![1.0 / count; points.len()];
        let mut motion = self;
        for _ in 0..4 {
            motion = motion.least(points, &loads, along, contact);
            let slips = points
                .iter()
                .map(|point| motion.slip(*point, along, contact));
            let pushes = slips
                .zip(&loads)
                .map(|(slip, load)| load * slip[0] / slip[0].hypot(slip[1]).hypot(1e-4));
            let push: f64 = pushes.sum();
            loads = points
                .iter()
                .map(|[x, _]| 1.0 / count + lever * push * x / squares)
                .collect();
        }
        motion
    }

    fn least(self, points: &[[f64; 2]], loads: &[f64], along: f64, contact: f64) -> Self {
        let power = |motion: Self| -> f64 {
            let slips = points
                .iter()
                .map(|point| motion.slip(*point, along, contact));
            slips
                .zip(loads)
                .map(|(slip, load)| load * speed(slip))
                .sum()
        };
        let mut motion = self;
        for _ in 0..60 {
            let (mut slope, mut bend) = ([0.0; 2], [0.0; 3]);
            for ([x, y], load) in points.iter().zip(loads) {
                let slip = motion.slip([*x, *y], along, contact);
                let size = speed(slip);
                // Derivatives of the slip by `across` and `rate`.
                let by_rate = [contact - y, *x];
                let projected = by_rate[0] * slip[0] + by_rate[1] * slip[1];
                slope[0] += load * slip[1] / size;
                slope[1] += load * projected / size;
                let cubed = size.powi(3);
                let length = by_rate[0].powi(2) + by_rate[1].powi(2);
                bend[0] += load * (1.0 / size - slip[1] * slip[1] / cubed);
                bend[1] += load * (by_rate[1] / size - slip[1] * projected / cubed);
                bend[2] += load * (length / size - projected * projected / cubed);
            }
            let determinant = bend[0] * bend[2] - bend[1] * bend[1];
            let change = [
                (bend[2] * slope[0] - bend[1] * slope[1]) / determinant,
                (bend[0] * slope[1] - bend[1] * slope[0]) / determinant,
            ];
            let before = power(motion);
            let mut size = 1.0;
            let next = loop {
                let next = Self {
                    across: motion.across - size * change[0],
                    rate: motion.rate - size * change[1],
                };
                if power(next) <= before || size < 1e-9 {
                    break next;
                }
                size /= 2.0;
            };
            let is_done = change[0].abs() + change[1].abs() < 1e-12;
            motion = next;
            if is_done {
                break;
            }
        }
        motion
    }

    /// Returns the velocity of a point whose body's contact goes at `along`.
    fn slip(self, [x, y]: [f64; 2], along: f64, contact: f64) -> [f64; 2] {
        [
            along + self.rate * (contact - y),
            self.across + self.rate * x,
        ]
    }
}

fn speed(slip: [f64; 2]) -> f64 {
    slip[0].hypot(slip[1]).hypot(1e-4)
}
