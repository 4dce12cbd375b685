//! Poses and velocities of entities: told, and set.

use protocol::Command;
use protocol::action::ModelVelocity;
use protocol::client_to_primary::NamedState;
use protocol::link_poses::LinkPose;
use protocol::report::PerformerReport;
use ros2::types::builtin_interfaces::Time;
use ros2::types::geometry_msgs::{Pose, Twist};
use ros2::types::simulation_interfaces::{
    EntityState, GetEntityStateRequest, GetEntityStateResponse, SetEntityStateRequest,
    SetEntityStateResponse,
};
use ros2::types::std_msgs::Header;

use crate::control::{Control, Outside};
use crate::entities::{WORLD, find, frame, pose_of};
use crate::frames::{out_of, pose_numbers, ros_pose, ros_vector, told_by};
use crate::outcome::{Refusal, ok, result_of};

/// Nanoseconds of a second.
const NANOSECONDS: f64 = 1e9;

/// Tells pose and velocities of an entity, world frame.
pub(crate) async fn get_entity_state<O: Outside>(
    control: &Control<O>,
    request: GetEntityStateRequest,
) -> GetEntityStateResponse {
    let found = async {
        let snapshot = control.snapshot().await?;
        let found = find(control, &snapshot, &request.entity).await?;
        Ok::<_, Refusal>(state_of(&found, snapshot.stats.sim_time_s))
    };
    match found.await {
        Ok(state) => GetEntityStateResponse {
            result: ok(),
            state,
        },
        Err(refusal) => GetEntityStateResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

/// Moves an entity, gives it a velocity, or both at once.
pub(crate) async fn set_entity_state<O: Outside>(
    control: &Control<O>,
    request: SetEntityStateRequest,
) -> SetEntityStateResponse {
    SetEntityStateResponse {
        result: result_of(set(control, request).await),
    }
}

async fn set<O: Outside>(
    control: &Control<O>,
    request: SetEntityStateRequest,
) -> Result<(), Refusal> {
    if request.set_acceleration {
        let reason = "accelerations of entities follow from forces and cannot be set: only poses \
                      and velocities";
        return Err(Refusal::unsupported(reason));
    }
    if !request.set_pose && !request.set_twist {
        let reason = "nothing is to be set: set_pose and set_twist are false";
        return Err(Refusal::failed(reason));
    }
    let EntityState {
        header,
        pose,
        twist,
        ..
    } = &request.state;
    let wanted = WantedState {
        pose: request.set_pose.then_some(pose),
        twist: request.set_twist.then_some(twist),
        frame: &header.frame_id,
    };
    set_state(control, request.entity, wanted).await
}

/// State that an entity is to have.
pub(crate) struct WantedState<'a> {
    /// Its pose; it is at rest there.
    pub(crate) pose: Option<&'a Pose>,
    /// Velocity that it then has, with all that joints hold to it.
    pub(crate) twist: Option<&'a Twist>,
    /// Name of the frame in which both are given: its own motion is not added.
    pub(crate) frame: &'a str,
}

/// Moves an entity, or gives it a velocity.
pub(crate) async fn set_state<O: Outside>(
    control: &Control<O>,
    model: String,
    wanted: WantedState<'_>,
) -> Result<(), Refusal> {
    let check = |pose| valid_pose(pose, SetEntityStateResponse::INVALID_POSE);
    let pose = wanted.pose.map(check).transpose()?;
    let snapshot = control.snapshot().await?;
    find(control, &snapshot, &model).await?;
    let frame = frame(control, &snapshot, wanted.frame).await?;
    let pose = pose.map(|pose| frame.map_or(pose, |frame| out_of(&frame, &pose)));
    let velocity = wanted.twist.map(|Twist { linear, angular }| {
        let [linear, angular] = [linear, angular].map(|vector| {
            let vector = [vector.x, vector.y, vector.z];
            frame.map_or(vector, |frame| told_by(&frame, vector))
        });
        ModelVelocity { linear, angular }
    });
    let states = vec![NamedState {
        model,
        pose,
        velocity,
    }];
    control.command(Command::SetStates { states }).await?;
    Ok(())
}

/// Returns a pose as the protocol has it, or refuses with a code.
pub(crate) fn valid_pose(pose: &Pose, code: u8) -> Result<LinkPose, Refusal> {
    pose_numbers(pose).ok_or_else(|| {
        let reason = "the pose is none: its numbers must be finite, its quaternion of length 1";
        Refusal::new(code, reason)
    })
}

/// Returns the state of an entity, world frame.
pub(crate) fn state_of(entity: &PerformerReport, sim_time_s: f64) -> EntityState {
    EntityState {
        header: Header {
            stamp: stamp(sim_time_s),
            frame_id: WORLD.to_owned(),
        },
        pose: ros_pose(&pose_of(entity)),
        twist: Twist {
            linear: ros_vector(entity.linear_velocity),
            angular: ros_vector(entity.angular_velocity),
        },
        ..Default::default()
    }
}

/// Returns a time that began with the simulation \[s\].
fn stamp(sim_time_s: f64) -> Time {
    time_of((sim_time_s.max(0.0) * NANOSECONDS).round() as u64)
}

/// Returns a time that began with the simulation \[ns\].
pub(crate) fn time_of(nanoseconds: u64) -> Time {
    let second = NANOSECONDS as u64;
    Time {
        sec: i32::try_from(nanoseconds / second).unwrap_or(i32::MAX),
        nanosec: (nanoseconds % second) as u32,
    }
}
