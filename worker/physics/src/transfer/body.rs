//! [`LinkState`]: everything of a link's body that changes from step to step.

use protocol::LinkPose;
use rapier3d_f64::dynamics::{RigidBody, RigidBodyActivation, RigidBodyBuilder};
use rapier3d_f64::math::Vector;
use serde::{Deserialize, Serialize};

use super::super::{ghost, pose};

/// Everything of a link's body that changes from step to step, world frame.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct LinkState {
    pose: LinkPose,
    /// Of the centre of mass \[m/s\].
    linear_velocity: [f64; 3],
    /// \[rad/s\]
    angular_velocity: [f64; 3],
    /// The force and torque that mechanisms exert \[N, N m\], where there are any.
    load: Option<[[f64; 3]; 2]>,
    /// Whether it sleeps, for how long it could, and where it was before.
    activation: RigidBodyActivation,
    /// True if rapier has not stopped it for good.
    is_enabled: bool,
}

impl LinkState {
    /// Returns the state of a body.
    pub(super) fn of(body: &RigidBody) -> Self {
        let load = [body.user_force(), body.user_torque()];
        let has_load = load.iter().any(|part| *part != Vector::ZERO);
        Self {
            pose: ghost::packed(&pose::from_rapier(body.position())),
            linear_velocity: body.linvel().to_array(),
            angular_velocity: body.angvel().to_array(),
            load: has_load.then(|| load.map(|part| part.to_array())),
            activation: *body.activation(),
            is_enabled: body.is_enabled(),
        }
    }

    /// Puts the body elsewhere, awake; at rest if asked for.
    pub(super) fn put(&mut self, place: &sdf::Pose, at_rest: bool) {
        self.pose = ghost::packed(place);
        if at_rest {
            self.linear_velocity = [0.0; 3];
            self.angular_velocity = [0.0; 3];
        }
        self.activation.wake_up(true);
    }

    /// Tells whether a body can be in it.
    pub(super) fn is_sound(&self) -> bool {
        let velocities = [self.linear_velocity, self.angular_velocity];
        let load = self.load.unwrap_or_default();
        let is_finite = |numbers: &[[f64; 3]]| {
            let mut numbers = numbers.as_flattened().iter();
            numbers.all(|number| number.is_finite())
        };
        let still_for_s = self.activation.time_since_can_sleep;
        let has_time = still_for_s.is_finite() && still_for_s >= 0.0;
        ghost::is_pose(&self.pose) && is_finite(&velocities) && is_finite(&load) && has_time
    }

    /// Lets a body begin in this state.
    pub(in super::super) fn begin(&self, builder: RigidBodyBuilder) -> RigidBodyBuilder {
        builder
            .pose(ghost::unpacked(&self.pose))
            .linvel(Vector::from_array(self.linear_velocity))
            .angvel(Vector::from_array(self.angular_velocity))
            .enabled(self.is_enabled)
    }

    /// Gives a body that began in this state what no builder can.
    pub(in super::super) fn complete(&self, body: &mut RigidBody) {
        if let Some([force, torque]) = self.load {
            body.add_force(Vector::from_array(force), false);
            body.add_torque(Vector::from_array(torque), false);
        }
        let mut activation = self.activation;
        let built = body.activation();
        activation.normalized_linear_threshold = built.normalized_linear_threshold;
        activation.angular_threshold = built.angular_threshold;
        activation.time_until_sleep = built.time_until_sleep;
        *body.activation_mut() = activation;
    }
}
