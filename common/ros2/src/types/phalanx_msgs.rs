//! `phalanx_msgs`: services by which a node takes part in lockstep.

use super::builtin_interfaces::Time;
use super::simulation_interfaces::EntityState;

super::ros_types! {
    /// A message of any type.
    SerializedMessage("phalanx_msgs/msg/SerializedMessage") {
        /// The topic, by its name in the run.
        topic: String,
        /// Its type: `geometry_msgs/msg/Twist`.
        r#type: String,
        /// The message in CDR with its header, as nodes serialize it.
        data: Vec<u8>,
    }
    /// Progress of a secondary with what it publishes.
    Progress("phalanx_msgs/msg/Progress") {
        /// Number of the run's session: several runs may be in one domain.
        run: u64,
        /// Name of the secondary.
        secondary: String,
        /// Number of the last step of which everything has left.
        step: u64,
    }
    /// Time at which a run waits for a node, and what the node asked for.
    Barrier("phalanx_msgs/msg/Barrier") {
        /// The iteration that is complete.
        iteration: u64,
        /// Simulated time at its end.
        sim_time: Time,
        /// Digest of all performers after it, in hexadecimal.
        digest: String,
        /// Messages on its topics since its last barrier, in their order.
        messages: Vec<SerializedMessage>,
        /// Number of messages that were left out: the oldest of too many, and those of kinds that
        /// have no type in ROS.
        left_out: u64,
        /// Names of its models that are there.
        entities: Vec<String>,
        /// States of these, world frame.
        states: Vec<EntityState>,
        /// Reasons why messages of its last answer could not be published.
        failures: Vec<String>,
    }
    /// Asks for a run to wait for a node.
    JoinBarrierRequest("phalanx_msgs/srv/JoinBarrier_Request") {
        /// Name of the program, unique in the run.
        name: String,
        /// Number of iterations from one barrier to the next.
        every: u64,
        /// Topics that it hears, by their names in the run.
        topics: Vec<String>,
        /// Models whose states it is told.
        entities: Vec<String>,
        /// Time for which its answer is waited for \[s\]; 0 is 30.
        timeout_s: f64,
        /// Policy when it does not come: `wait`, `continue` or `stop`; empty is `wait`.
        policy: String,
    }
    /// Answer to it, after the first iteration that it is asked for.
    JoinBarrierResponse("phalanx_msgs/srv/JoinBarrier_Response") {
        /// True if the run waits for the node now.
        success: bool,
        /// Reason of a failure, for people.
        status_message: String,
        /// The barrier.
        barrier: Barrier,
    }
    /// Lets the run go on.
    AnswerBarrierRequest("phalanx_msgs/srv/AnswerBarrier_Request") {
        /// Name of the program.
        name: String,
        /// The iteration of its barrier.
        iteration: u64,
        /// Messages that are published before the next iteration.
        messages: Vec<SerializedMessage>,
    }
    /// Answer to it, after the next iteration that the node is asked for.
    AnswerBarrierResponse("phalanx_msgs/srv/AnswerBarrier_Response") {
        /// True if the run waits for the node again.
        success: bool,
        /// Reason of a failure, for people.
        status_message: String,
        /// The barrier.
        barrier: Barrier,
    }
    /// Asks for a run not to wait any longer.
    LeaveBarrierRequest("phalanx_msgs/srv/LeaveBarrier_Request") {
        /// Name of the program.
        name: String,
    }
    /// Answer to it.
    LeaveBarrierResponse("phalanx_msgs/srv/LeaveBarrier_Response") {
        /// True if the run does not wait for the node.
        success: bool,
        /// Reason of a failure, for people.
        status_message: String,
    }
}
