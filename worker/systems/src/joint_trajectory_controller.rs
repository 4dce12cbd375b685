//! `JointTrajectoryController`: joints follow the points of a trajectory, by forces.
//!
//! Each joint has a controller of its position and one of its velocity; the effort of a point is
//! added to both. Points are goals until their time, not joined by curves. Source: gz-sim,
//! `joint_traj_control/JointTrajectoryController.hh`.

use messages::basic::Float;
use messages::motion::{JointTrajectory, JointTrajectoryPoint};
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::drive_base::joint;
use super::pid::{Pid, PidState};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// The most points of a trajectory, and the most joints that it may be for.
const POINTS_MAX: usize = 10_000;
const JOINTS_MAX: usize = 1_000;

/// Gains and limits that are not given: none.
const PID: Pid = Pid {
    gains: [0.0; 3],
    integral: [0.0, -1.0],
    command: [0.0, -1.0],
    offset: 0.0,
};

struct JointTrajectoryController {
    joints: Vec<Follower>,
    progress: String,
    uses_header_time: bool,
    state: State,
}

struct Follower {
    joint: usize,
    name: String,
    /// Of position and velocity.
    pids: [Pid; 2],
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    goals: Vec<Goal>,
    trajectory: Option<Trajectory>,
}

/// Goal of a joint, and the state of its controllers.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Goal {
    position: f64,
    velocity: f64,
    effort: f64,
    pids: [PidState; 2],
}

#[derive(Serialize, Deserialize)]
struct Trajectory {
    /// The joint of each column of the points, by its place in the list of joints.
    columns: Vec<Option<u32>>,
    points: Vec<Point>,
    /// The time that counts as its start \[ns\]; `None` before the first step.
    start_ns: Option<u64>,
    /// The point that is followed.
    current: u32,
}

#[derive(Serialize, Deserialize)]
struct Point {
    /// Since the start \[ns\].
    at_ns: u64,
    /// Position, velocity and effort by column; what is missing is 0.
    numbers: [Vec<f64>; 3],
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let model = configuration.model()?;
    let mut names = configuration.texts("joint_name");
    if names.is_empty() {
        let own = model.joints.iter().filter(|joint| {
            let has_one_axis = joint.kind.axes().len() == 1;
            has_one_axis && joint.name.starts_with(configuration.scope)
        });
        names = own.map(|joint| joint.name.clone()).collect();
    }
    if names.is_empty() {
        return Err(ConfigureError(
            "the model has no joint of one axis".to_owned(),
        ));
    }
    let mut indices = 0..names.len();
    let numbered = |name: &str| {
        let index = indices.next().expect("each name is looked for once");
        Ok((index, joint(configuration, name)?))
    };
    let found = configuration.found(&names, numbered)?;
    let mut joints = Vec::with_capacity(found.len());
    let mut goals = Vec::with_capacity(found.len());
    for (index, joint) in found {
        joints.push(Follower {
            joint,
            pids: [
                nth_pid(configuration, "position_", index)?,
                nth_pid(configuration, "velocity_", index)?,
            ],
            name: names[index].clone(),
        });
        goals.push(Goal {
            position: nth(configuration, "initial_position", index, 0.0)?,
            ..Goal::default()
        });
    }
    let path = configuration.model_path();
    let topic = configuration.text("topic");
    let topic = topic.unwrap_or_else(|| format!("/model/{path}/joint_trajectory"));
    let topic = configuration.topic(&topic);
    let progress = format!("{topic}_progress");
    let attribute = configuration
        .plugin
        .content
        .attribute("use_header_start_time");
    let system = JointTrajectoryController {
        joints,
        progress: progress.clone(),
        uses_header_time: attribute.is_some_and(|text| matches!(text, "1" | "true"))
            || configuration.flag("use_header_start_time", false)?,
        state: State {
            goals,
            trajectory: None,
        },
    };
    Ok(Configured {
        system: Box::new(system),
        subscriptions: vec![TopicSpec::of::<JointTrajectory>(topic)],
        publications: vec![TopicSpec::of::<Float>(progress)],
    })
}

/// Returns the n-th number of a parameter that is given once per joint.
fn nth(
    configuration: &Configuration<'_>,
    name: &str,
    index: usize,
    default: f64,
) -> Result<f64, ConfigureError> {
    let Some(text) = configuration.texts(name).into_iter().nth(index) else {
        return Ok(default);
    };
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(ConfigureError(format!("<{name}> is no number: {text:?}"))),
    }
}

fn nth_pid(
    configuration: &Configuration<'_>,
    prefix: &str,
    index: usize,
) -> Result<Pid, ConfigureError> {
    let number =
        |name: &str, default| nth(configuration, &format!("{prefix}{name}"), index, default);
    let [p, i, d] = PID.gains;
    Ok(Pid {
        gains: [
            number("p_gain", p)?,
            number("i_gain", i)?,
            number("d_gain", d)?,
        ],
        integral: [
            number("i_min", PID.integral[0])?,
            number("i_max", PID.integral[1])?,
        ],
        command: [
            number("cmd_min", PID.command[0])?,
            number("cmd_max", PID.command[1])?,
        ],
        offset: number("cmd_offset", PID.offset)?,
    })
}

impl JointTrajectoryController {
    fn trajectory(&self, message: &JointTrajectory) -> Option<Trajectory> {
        let sizes_fit = message.points.len() <= POINTS_MAX
            && message.joint_names.len() <= JOINTS_MAX
            && !message.points.is_empty();
        if !sizes_fit {
            return None;
        }
        let column = |name: &String| {
            let found = self.joints.iter().position(|joint| joint.name == *name);
            found.map(|index| index as u32)
        };
        let points: Option<Vec<Point>> = message.points.iter().map(point).collect();
        let start_ns = message.header.stamp.as_ns();
        Some(Trajectory {
            columns: message.joint_names.iter().map(column).collect(),
            points: points?,
            start_ns: self.uses_header_time.then_some(start_ns),
            current: 0,
        })
    }
}

fn point(message: &JointTrajectoryPoint) -> Option<Point> {
    let numbers = [&message.positions, &message.velocities, &message.effort];
    let is_finite =
        |list: &&Vec<f64>| list.len() <= JOINTS_MAX && list.iter().all(|number| number.is_finite());
    numbers.iter().all(is_finite).then(|| Point {
        at_ns: message.time_from_start.as_ns(),
        numbers: numbers.map(Clone::clone),
    })
}

impl Trajectory {
    /// Goes on to the point that is to be followed at a time \[ns\]; tells whether it is another
    /// than before.
    fn go_on(&mut self, now_ns: u64) -> bool {
        let is_new = self.start_ns.is_none() && self.current == 0;
        let start_ns = *self.start_ns.get_or_insert(now_ns);
        let before = self.current;
        let is_over = |point: &Point| point.at_ns.saturating_add(start_ns) < now_ns;
        while self.current as usize + 1 < self.points.len()
            && is_over(&self.points[self.current as usize])
        {
            self.current += 1;
        }
        is_new || self.current != before
    }

    /// Gives joints the goals of the current point.
    fn set_goals(&self, goals: &mut [Goal]) {
        let point = &self.points[self.current as usize];
        for (index, column) in self.columns.iter().enumerate() {
            let goal = column.and_then(|joint| goals.get_mut(joint as usize));
            if let Some(goal) = goal {
                let [position, velocity, effort] = point
                    .numbers
                    .each_ref()
                    .map(|list| list.get(index).copied().unwrap_or_default());
                *goal = Goal {
                    position,
                    velocity,
                    effort,
                    ..*goal
                };
            }
        }
    }
}

impl System for JointTrajectoryController {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        let Ok(message) = messages::decode::<JointTrajectory>(&message.body) else {
            return;
        };
        if let Some(trajectory) = self.trajectory(&message) {
            for goal in &mut self.state.goals {
                goal.pids = [PidState::default(); 2];
            }
            self.state.trajectory = Some(trajectory);
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let State { goals, trajectory } = &mut self.state;
        if let Some(following) = trajectory {
            // A start by the header is in simulated time, which is what the header has.
            let now_ns = if self.uses_header_time {
                context.time.sim_time.0
            } else {
                context.time.elapsed.0
            };
            let is_first = following.current == 0;
            if following.go_on(now_ns) || (self.uses_header_time && is_first) {
                following.set_goals(goals);
                let done = f64::from(following.current) + 1.0;
                let data = (done / following.points.len() as f64) as f32;
                let header = context.header();
                context.publish(&self.progress, &Float { header, data });
            }
            if following.current as usize + 1 == following.points.len() {
                *trajectory = None;
            }
        }
        let step_size_s = context.time.step_size_s;
        let (cell, model) = (&mut *context.cell, context.model);
        for (follower, goal) in self.joints.iter().zip(goals) {
            let joint = follower.joint;
            let errors = [
                cell.joint_position(model, joint, 0) - goal.position,
                cell.joint_velocity(model, joint, 0) - goal.velocity,
            ];
            let mut force = goal.effort;
            for (index, error) in errors.into_iter().enumerate() {
                force += follower.pids[index].update(&mut goal.pids[index], error, step_size_s);
            }
            cell.push_joint(model, joint, 0, force);
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)?;
        let is_whole =
            |trajectory: &Trajectory| (trajectory.current as usize) < trajectory.points.len();
        let fits = self.state.trajectory.as_ref().is_none_or(is_whole);
        if fits && self.state.goals.len() == self.joints.len() {
            Ok(())
        } else {
            Err(postcard::Error::DeserializeBadEncoding)
        }
    }
}
