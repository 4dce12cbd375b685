//! `action_msgs`: goals of actions, their states, and the service that cancels them.

use super::builtin_interfaces::Time;
use super::unique_identifier_msgs::UUID;

super::ros_types! {
    /// A goal, and the time when it was accepted.
    GoalInfo("action_msgs/msg/GoalInfo") {
        /// Its identifier.
        goal_id: UUID,
        /// The time.
        stamp: Time,
    }
    /// The state of a goal.
    GoalStatus("action_msgs/msg/GoalStatus") [
        STATUS_UNKNOWN: i8 = 0;
        STATUS_ACCEPTED: i8 = 1;
        STATUS_EXECUTING: i8 = 2;
        STATUS_CANCELING: i8 = 3;
        STATUS_SUCCEEDED: i8 = 4;
        STATUS_CANCELED: i8 = 5;
        STATUS_ABORTED: i8 = 6;
    ] {
        /// The goal.
        goal_info: GoalInfo,
        /// One of the constants.
        status: i8,
    }
    /// The states of all goals of an action.
    GoalStatusArray("action_msgs/msg/GoalStatusArray") {
        /// The states.
        status_list: Vec<GoalStatus>,
    }
    /// Asks for goals to be cancelled: all with zeros, those until a time, or one.
    CancelGoalRequest("action_msgs/srv/CancelGoal_Request") {
        /// The goal, the time, or neither.
        goal_info: GoalInfo,
    }
    /// Tells which goals are being cancelled.
    CancelGoalResponse("action_msgs/srv/CancelGoal_Response") [
        ERROR_NONE: i8 = 0;
        ERROR_REJECTED: i8 = 1;
        ERROR_UNKNOWN_GOAL_ID: i8 = 2;
        ERROR_GOAL_TERMINATED: i8 = 3;
    ] {
        /// One of the constants.
        return_code: i8,
        /// The goals.
        goals_canceling: Vec<GoalInfo>,
    }
}
