//! Programs in lockstep: a node takes part by services, each of which answers when its next
//! iteration is complete. It is a participant of the run like one on our own sockets, under its own
//! name, so that the speed of a node changes no bit of the run.

use protocol::participant::{
    AbsencePolicy, AnswerBarrier, Barrier as Held, JoinBarrier, ModelState,
};
use protocol::primary_to_client::Reply;
use protocol::{Command, Iteration, PeerName, TopicMessage};
use ros2::types::builtin_interfaces::Time;
use ros2::types::geometry_msgs::Twist;
use ros2::types::phalanx_msgs::{
    AnswerBarrierRequest, AnswerBarrierResponse, Barrier, JoinBarrierRequest, JoinBarrierResponse,
    LeaveBarrierRequest, LeaveBarrierResponse, SerializedMessage,
};
use ros2::types::simulation_interfaces::EntityState;
use ros2::types::std_msgs::Header;

use crate::control::{Control, Outside};
use crate::entities::WORLD;
use crate::entity_state::time_of;
use crate::frames::{ros_pose, ros_vector};
use crate::outcome::{Failure, Refusal};

/// Time for which an answer is waited for, if a node does not say \[s\].
const TIMEOUT_S: f64 = 30.0;

/// Has the run wait for a node; answers after the first iteration that it is asked for.
pub(crate) async fn join<O: Outside>(
    control: &Control<O>,
    request: JoinBarrierRequest,
) -> JoinBarrierResponse {
    let joined = async {
        let join = JoinBarrier {
            name: name_of(&request.name)?,
            every: request.every,
            topics: request.topics,
            models: request.entities,
            timeout_s: match request.timeout_s {
                0.0 => TIMEOUT_S,
                timeout_s => timeout_s,
            },
            policy: policy_of(&request.policy)?,
        };
        held(control, Command::JoinBarrier(Box::new(join))).await
    };
    match joined.await {
        Ok(barrier) => JoinBarrierResponse {
            success: true,
            barrier,
            ..Default::default()
        },
        Err(refusal) => JoinBarrierResponse {
            status_message: refusal.reason,
            ..Default::default()
        },
    }
}

/// Lets the run go on; answers after the next iteration that the node is asked for. An answer with
/// a message that cannot be read is refused, and may be given again.
pub(crate) async fn answer<O: Outside>(
    control: &Control<O>,
    request: AnswerBarrierRequest,
) -> AnswerBarrierResponse {
    let answered = async {
        let commands: Result<Vec<Command>, Refusal> =
            request.messages.into_iter().map(published).collect();
        let answer = AnswerBarrier {
            name: name_of(&request.name)?,
            iteration: Iteration(request.iteration),
            commands: commands?,
        };
        held(control, Command::AnswerBarrier(Box::new(answer))).await
    };
    match answered.await {
        Ok(barrier) => AnswerBarrierResponse {
            success: true,
            barrier,
            ..Default::default()
        },
        Err(refusal) => AnswerBarrierResponse {
            status_message: refusal.reason,
            ..Default::default()
        },
    }
}

/// Has the run wait for a node no longer.
pub(crate) async fn leave<O: Outside>(
    control: &Control<O>,
    request: LeaveBarrierRequest,
) -> LeaveBarrierResponse {
    let left = async {
        let name = name_of(&request.name)?;
        control.command(Command::LeaveBarrier { name }).await?;
        Ok::<(), Refusal>(())
    };
    match left.await {
        Ok(()) => LeaveBarrierResponse {
            success: true,
            ..Default::default()
        },
        Err(refusal) => LeaveBarrierResponse {
            status_message: refusal.reason,
            ..Default::default()
        },
    }
}

async fn held<O: Outside>(control: &Control<O>, command: Command) -> Result<Barrier, Refusal> {
    match control.outside.ask(command).await.map_err(Failure::from)? {
        Reply::Barrier(barrier) => Ok(told(*barrier)),
        Reply::Failed { code, reason } => Err(Failure::Refused { code, reason }.into()),
        Reply::Done { .. }
        | Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Layout(_)
        | Reply::Topics(_)
        | Reply::Clients(_)
        | Reply::Participants(_)
        | Reply::Scene(_) => Err(Failure::other_answer().into()),
    }
}

/// Returns a barrier as ROS has it.
fn told(held: Held) -> Barrier {
    let sim_time = time_of(held.sim_time.0);
    let count = held.messages.len();
    let messages = held.messages.into_iter();
    let messages: Vec<SerializedMessage> = messages.filter_map(serialized).collect();
    Barrier {
        iteration: held.iteration.0,
        sim_time: sim_time.clone(),
        digest: held.digest.to_string(),
        left_out: held.left_out + (count - messages.len()) as u64,
        messages,
        states: held
            .models
            .iter()
            .map(|model| state_of(model, &sim_time))
            .collect(),
        entities: held.models.into_iter().map(|model| model.name).collect(),
        failures: held.failures,
    }
}

/// Returns a message of the run as ROS has it, if ROS has a type for it.
fn serialized(message: TopicMessage) -> Option<SerializedMessage> {
    let type_name = ros2::convert::pair(&message.kind, None)?.ros_type.name;
    let data = ros2::encode(&message.kind, &message.body, type_name).ok()?;
    Some(SerializedMessage {
        topic: message.topic,
        r#type: type_name.to_owned(),
        data,
    })
}

/// Returns the command that publishes a message of a node.
fn published(message: SerializedMessage) -> Result<Command, Refusal> {
    let SerializedMessage {
        topic,
        r#type,
        data,
    } = message;
    let decoded = ros2::decode(&r#type, &data);
    let (kind, body) = decoded.map_err(|error| Refusal::failed(format!("{topic}: {error}")))?;
    Ok(Command::Publish {
        topic,
        kind: kind.to_owned(),
        body,
    })
}

fn state_of(model: &ModelState, sim_time: &Time) -> EntityState {
    let ([x, y, z], [qx, qy, qz, qw]) = (model.position, model.orientation_xyzw);
    EntityState {
        header: Header {
            stamp: sim_time.clone(),
            frame_id: WORLD.to_owned(),
        },
        pose: ros_pose(&[x, y, z, qx, qy, qz, qw]),
        twist: Twist {
            linear: ros_vector(model.linear_velocity),
            angular: ros_vector(model.angular_velocity),
        },
        ..Default::default()
    }
}

fn name_of(name: &str) -> Result<PeerName, Refusal> {
    let parsed: Result<PeerName, _> = name.parse();
    parsed.map_err(|error| Refusal::failed(error.to_string()))
}

fn policy_of(policy: &str) -> Result<AbsencePolicy, Refusal> {
    match policy {
        "" | "wait" => Ok(AbsencePolicy::Wait),
        "continue" => Ok(AbsencePolicy::Continue),
        "stop" => Ok(AbsencePolicy::Stop),
        other => Err(Refusal::failed(format!(
            "policy {other:?} is none of wait, continue and stop"
        ))),
    }
}
