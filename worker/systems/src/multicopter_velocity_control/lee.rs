//! [`Lee`]: from a velocity that is asked for to the turnings of rotors.
//!
//! Source: T. Lee and others, Control of Complex Maneuvers for a Quadrotor UAV using Geometric
//! Methods on SE(3), 2010, without the terms of the inertia, as gz-sim has it
//! (`multicopter_control/LeeVelocityController.cc`).

use physics::math::{Matrix, Vector};
use physics::na::{Matrix4, Vector4};

/// The vehicle.
pub(super) struct Vehicle {
    /// \[kg\]
    pub(super) mass: f64,
    /// About the centre of mass, in the axes of the base \[kg m²\].
    pub(super) inertia: Matrix,
    /// World frame \[m/s²\].
    pub(super) gravity: Vector,
}

/// One of its rotors.
pub(super) struct Rotor {
    /// x and y in the frame of the base \[m\].
    pub(super) place: [f64; 2],
    /// \[N s²/rad²\]
    pub(super) thrust_factor: f64,
    /// \[m\]
    pub(super) moment_factor: f64,
    /// 1 for counter-clockwise, -1 for clockwise.
    pub(super) direction: f64,
}

/// Gains of the controller.
#[derive(Clone, Copy)]
pub(super) struct Gains {
    pub(super) velocity: Vector,
    pub(super) attitude: Vector,
    pub(super) turning: Vector,
    /// \[m/s²\]
    pub(super) acceleration_max: Vector,
}

/// Motion of the vehicle.
pub(super) struct Motion {
    /// From the base to the world.
    pub(super) attitude: Matrix,
    /// World frame \[m/s\].
    pub(super) velocity: Vector,
    /// In the axes of the base \[rad/s\].
    pub(super) turning: Vector,
}

/// The controller.
pub(super) struct Lee {
    mass: f64,
    gravity: Vector,
    gains: Gains,
    /// Squared turnings of each rotor by angular acceleration and thrust.
    shares: Vec<Vector4<f64>>,
}

impl Lee {
    /// Makes a controller; none where the rotors cannot turn the vehicle about all axes.
    pub(super) fn new(vehicle: &Vehicle, gains: Gains, rotors: &[Rotor]) -> Option<Self> {
        let columns: Vec<Vector4<f64>> = rotors.iter().map(column).collect();
        let mut square = Matrix4::zeros();
        for column in &columns {
            square += column * column.transpose();
        }
        // Rows of thrust and of moments differ by orders of magnitude.
        let scales = square.diagonal().map(|sum| 1.0 / libm::sqrt(sum));
        let even = Matrix4::from_diagonal(&scales) * square * Matrix4::from_diagonal(&scales);
        if !scales.iter().all(|scale| scale.is_finite()) || even.determinant().abs() < 1e-9 {
            return None;
        }
        let inverse = even.try_inverse()?;
        let inverse = Matrix4::from_diagonal(&scales) * inverse * Matrix4::from_diagonal(&scales);
        let mut moments = Matrix4::identity();
        for row in 0..3 {
            for column in 0..3 {
                moments[(row, column)] = vehicle.inertia.col(column)[row];
            }
        }
        let whole = inverse * moments;
        let shares = columns
            .iter()
            .map(|column| (column.transpose() * whole).transpose());
        let turn_back = vehicle.inertia.inverse().transpose();
        if !turn_back.is_finite() || vehicle.mass <= 0.0 {
            return None;
        }
        Some(Self {
            mass: vehicle.mass,
            gravity: vehicle.gravity,
            gains: Gains {
                attitude: turn_back * gains.attitude,
                turning: turn_back * gains.turning,
                ..gains
            },
            shares: shares.collect(),
        })
    }

    /// Returns the number of rotors.
    pub(super) fn rotors(&self) -> usize {
        self.shares.len()
    }

    /// Returns the turnings of the rotors \[rad/s\] for linear and angular velocities that are
    /// asked for, in the axes of the base.
    pub(super) fn turnings(&self, motion: &Motion, asked: [[f64; 3]; 2]) -> Vec<f64> {
        let [linear, angular] = asked.map(Vector::from);
        let error = motion.velocity - motion.attitude * linear;
        let most = self.gains.acceleration_max.abs();
        let wanted = (error * self.gains.velocity / self.mass)
            .max(-most)
            .min(most);
        let acceleration = wanted + self.gravity;
        let turning = self.angular_acceleration(motion, acceleration, angular.z);
        let thrust = -self.mass * acceleration.dot(motion.attitude.col(2));
        let wanted = Vector4::new(turning.x, turning.y, turning.z, thrust);
        let squares = self.shares.iter().map(|share| share.dot(&wanted));
        squares.map(|square| libm::sqrt(square.max(0.0))).collect()
    }

    fn angular_acceleration(&self, motion: &Motion, acceleration: Vector, yaw: f64) -> Vector {
        let attitude = motion.attitude;
        let up = (-acceleration).try_normalize().unwrap_or(attitude.col(2));
        let is_beside = |axis: &Vector| axis.cross(up).length_squared() >= 1e-3;
        let axes = [attitude.col(0), attitude.col(1), attitude.col(2)];
        let ahead = axes.into_iter().find(is_beside).unwrap_or(axes[2]);
        let left = up.cross(ahead).normalize();
        let aim = Matrix::from_cols(left.cross(up), left, up);
        let skew = (aim.transpose() * attitude - attitude.transpose() * aim) * 0.5;
        let error = Vector::new(skew.col(1).z, skew.col(2).x, skew.col(0).y);
        let rate = motion.turning - attitude.transpose() * aim * Vector::new(0.0, 0.0, yaw);
        -error * self.gains.attitude - rate * self.gains.turning
    }
}

/// Moments about x, y, z and thrust of a rotor for its squared turning.
fn column(rotor: &Rotor) -> Vector4<f64> {
    let [x, y] = rotor.place;
    Vector4::new(y, -x, -rotor.direction * rotor.moment_factor, 1.0) * rotor.thrust_factor
}
