//! The action `SimulateSteps`: iterations one by one, each told as feedback, until all are done or
//! the goal is cancelled.

use std::rc::Rc;

use ros2::cdr::to_cdr;
use ros2::types::action_msgs::{
    CancelGoalRequest, CancelGoalResponse, GoalInfo, GoalStatus, GoalStatusArray,
};
use ros2::types::builtin_interfaces::Time;
use ros2::types::simulation_interfaces::{
    CallResult, SimulateStepsFeedbackMessage, SimulateStepsGetResultRequest,
    SimulateStepsGetResultResponse, SimulateStepsSendGoalRequest, SimulateStepsSendGoalResponse,
};
use ros2::types::unique_identifier_msgs::UUID;
use tokio::sync::Notify;

use crate::control::{Control, Outside};
use crate::outcome::{Refusal, ok};
use crate::simulation::step;

/// Name of the action in the namespace of the services.
pub const ACTION: &str = "simulate_steps";
/// Type of the action.
pub const ACTION_TYPE: &str = "simulation_interfaces/action/SimulateSteps";

/// Number of goals whose results are kept; the oldest is forgotten first.
const GOALS_MAX: usize = 128;

/// Identifier of a goal, which its client drew.
pub type GoalId = [u8; 16];

/// A message on a topic of the action, in CDR with its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publication {
    /// Progress of a goal.
    Feedback(Vec<u8>),
    /// States of all goals.
    Status(Vec<u8>),
}

/// The goals, in the order of their coming.
#[derive(Debug, Default)]
pub(crate) struct Goals {
    all: Vec<Goal>,
}

#[derive(Debug)]
struct Goal {
    id: GoalId,
    accepted: Time,
    steps: u64,
    status: i8,
    /// True once it is being done; it may have been cancelled before.
    is_begun: bool,
    result: Option<CallResult>,
    /// Told when there is a result.
    ended: Rc<Notify>,
}

impl Goal {
    fn info(&self) -> GoalInfo {
        GoalInfo {
            goal_id: UUID { uuid: self.id },
            stamp: self.accepted.clone(),
        }
    }

    fn is_active(&self) -> bool {
        self.result.is_none()
    }
}

impl Goals {
    fn find(&mut self, id: GoalId) -> Option<&mut Goal> {
        self.all.iter_mut().find(|goal| goal.id == id)
    }

    fn status(&self) -> Publication {
        let states = self.all.iter().map(|goal| GoalStatus {
            goal_info: goal.info(),
            status: goal.status,
        });
        Publication::Status(to_cdr(&GoalStatusArray {
            status_list: states.collect(),
        }))
    }

    /// Forgets the oldest goals that have ended, beyond those that are kept.
    fn trim(&mut self) {
        while self.all.len() > GOALS_MAX
            && let Some(index) = self.all.iter().position(|goal| !goal.is_active())
        {
            self.all.remove(index);
        }
    }
}

/// Accepts a goal, unless another one is under way; [`execute()`] does it.
pub(crate) async fn send_goal<O: Outside>(
    control: &Control<O>,
    request: SimulateStepsSendGoalRequest,
) -> SimulateStepsSendGoalResponse {
    let id = request.goal_id.uuid;
    let stamp = control.outside.now();
    let mut goals = control.goals.borrow_mut();
    if goals
        .all
        .iter()
        .any(|goal| goal.is_active() || goal.id == id)
    {
        return SimulateStepsSendGoalResponse {
            accepted: false,
            stamp,
        };
    }
    goals.all.push(Goal {
        id,
        accepted: stamp.clone(),
        steps: request.steps,
        status: GoalStatus::STATUS_ACCEPTED,
        is_begun: false,
        result: None,
        ended: Rc::default(),
    });
    goals.trim();
    control.outside.publish(goals.status());
    SimulateStepsSendGoalResponse {
        accepted: true,
        stamp,
    }
}

/// Answers with the result of a goal, once there is one.
pub(crate) async fn get_result<O: Outside>(
    control: &Control<O>,
    request: SimulateStepsGetResultRequest,
) -> SimulateStepsGetResultResponse {
    loop {
        let ended = {
            let mut goals = control.goals.borrow_mut();
            let Some(goal) = goals.find(request.goal_id.uuid) else {
                let reason = "no such goal was accepted, or it ended long ago";
                return SimulateStepsGetResultResponse {
                    status: GoalStatus::STATUS_UNKNOWN,
                    result: Refusal::not_found(reason).result(),
                };
            };
            if let Some(result) = &goal.result {
                return SimulateStepsGetResultResponse {
                    status: goal.status,
                    result: result.clone(),
                };
            }
            Rc::clone(&goal.ended)
        };
        // Nothing runs between the look and this on the one thread of services.
        ended.notified().await;
        ended.notify_one();
    }
}

/// Has goals cancelled: all, those until a time, or one.
pub(crate) async fn cancel_goal<O: Outside>(
    control: &Control<O>,
    request: CancelGoalRequest,
) -> CancelGoalResponse {
    let GoalInfo { goal_id, stamp } = request.goal_info;
    let (id, time) = (goal_id.uuid, (stamp.sec, stamp.nanosec));
    let (has_id, has_time) = (id != [0; 16], time != (0, 0));
    let is_meant = |goal: &Goal| {
        let accepted = (goal.accepted.sec, goal.accepted.nanosec);
        (has_id && goal.id == id) || (has_time && accepted <= time) || !(has_id || has_time)
    };
    let mut goals = control.goals.borrow_mut();
    if has_id && goals.find(id).is_none() {
        return CancelGoalResponse {
            return_code: CancelGoalResponse::ERROR_UNKNOWN_GOAL_ID,
            ..Default::default()
        };
    }
    let is_over = has_id && goals.find(id).is_some_and(|goal| !goal.is_active());
    let mut cancelled = Vec::new();
    for goal in goals.all.iter_mut().filter(|goal| goal.is_active()) {
        if is_meant(goal) {
            goal.status = GoalStatus::STATUS_CANCELING;
            cancelled.push(goal.info());
        }
    }
    let return_code = if is_over && cancelled.is_empty() {
        CancelGoalResponse::ERROR_GOAL_TERMINATED
    } else {
        CancelGoalResponse::ERROR_NONE
    };
    if !cancelled.is_empty() {
        control.outside.publish(goals.status());
    }
    CancelGoalResponse {
        return_code,
        goals_canceling: cancelled,
    }
}

/// Does the goal that was accepted last, if any is to be done.
pub async fn execute<O: Outside>(control: &Control<O>) {
    let accepted = {
        let mut goals = control.goals.borrow_mut();
        let mut waiting = goals.all.iter_mut();
        let found = waiting.find(|goal| goal.is_active() && !goal.is_begun);
        found.map(|goal| {
            goal.is_begun = true;
            if goal.status == GoalStatus::STATUS_ACCEPTED {
                goal.status = GoalStatus::STATUS_EXECUTING;
            }
            (goal.id, goal.steps)
        })
    };
    let Some((id, steps)) = accepted else {
        return;
    };
    control.outside.publish(control.goals.borrow().status());
    let (status, result) = advance(control, id, steps).await;
    let mut goals = control.goals.borrow_mut();
    if let Some(goal) = goals.find(id) {
        goal.status = status;
        goal.result = Some(result);
        goal.ended.notify_one();
    }
    control.outside.publish(goals.status());
}

/// Advances a paused simulation one by one; returns how the goal ended.
async fn advance<O: Outside>(control: &Control<O>, id: GoalId, steps: u64) -> (i8, CallResult) {
    for completed in 0..steps {
        if is_cancelled(control, id) {
            let reason = format!("cancelled after {completed} of {steps} steps");
            let result = Refusal::failed(reason).result();
            return (GoalStatus::STATUS_CANCELED, result);
        }
        if let Err(refusal) = step(control, 1).await {
            return (GoalStatus::STATUS_ABORTED, refusal.result());
        }
        let message = SimulateStepsFeedbackMessage {
            goal_id: UUID { uuid: id },
            completed_steps: completed + 1,
            remaining_steps: steps - completed - 1,
        };
        control
            .outside
            .publish(Publication::Feedback(to_cdr(&message)));
    }
    if steps == 0 {
        let reason = "steps must be 1 or more";
        return (GoalStatus::STATUS_ABORTED, Refusal::failed(reason).result());
    }
    (GoalStatus::STATUS_SUCCEEDED, ok())
}

fn is_cancelled<O>(control: &Control<O>, id: GoalId) -> bool {
    let mut goals = control.goals.borrow_mut();
    let goal = goals.find(id);
    goal.is_none_or(|goal| goal.status == GoalStatus::STATUS_CANCELING)
}
