//! [`Drive`]: a robot that the keys steer, by twists on a topic that one of its systems hears.
//!
//! A twist is said only when it changes: robots keep the last one. What stops the robot goes along
//! with every twist, so that the link can say it when the view ends or comes back.

use client::observer_request::Twisting;
use messages::motion::Twist;
use protocol::Command;
use protocol::report::{PerformerReport, TopicReport};

use super::orientation;

/// The kind of message that steers.
pub const TWIST: &str = "gz.msgs.Twist";
/// Speed changes of one key press [cm/s]; the turn rate changes by twice as many 1/100 rad/s.
const STEPS: [i32; 6] = [1, 5, 10, 20, 50, 100];
/// The fastest that it is told to go [cm/s].
const FORWARD_MAX: i32 = 1_000;
/// The fastest that it is told to turn [1/100 rad/s].
const TURN_MAX: i32 = 500;

/// A robot that the keys steer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// The robot.
    pub model: String,
    /// The topics on which it hears twists, never empty.
    topics: Vec<String>,
    chosen: usize,
    step: usize,
    forward: i32,
    turn: i32,
}

/// Reason why a model cannot be driven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// The primary has not told yet which topics there are.
    #[error("the topics are not known yet; try again")]
    UnknownTopics,
    /// Nothing of it hears twists.
    #[error(
        "{model} cannot be driven: it listens to no {TWIST}; {}",
        examples(drivable)
    )]
    NoListener {
        /// The model.
        model: String,
        /// The models that can be driven, by name.
        drivable: Vec<String>,
    },
}

fn examples(drivable: &[String]) -> String {
    match drivable {
        [] => "no model here does".to_owned(),
        [one] => format!("{one} does"),
        [first, second, ..] => format!("{first}, {second} and others do"),
    }
}

impl Drive {
    /// Takes the wheel of a model.
    ///
    /// # Errors
    /// Fails if nothing of it hears twists.
    pub fn new(model: &str, topics: &[TopicReport]) -> Result<Self, DriveError> {
        if topics.is_empty() {
            return Err(DriveError::UnknownTopics);
        }
        let found = topics_of(model, topics);
        if found.is_empty() {
            return Err(DriveError::NoListener {
                model: model.to_owned(),
                drivable: drivable(topics).into_iter().map(str::to_owned).collect(),
            });
        }
        Ok(Self {
            model: model.to_owned(),
            topics: found.into_iter().map(str::to_owned).collect(),
            chosen: 0,
            step: 2,
            forward: 0,
            turn: 0,
        })
    }

    /// Returns the topic that is spoken on, its place among those of the robot, and their number.
    pub fn topic(&self) -> (&str, usize, usize) {
        (
            &self.topics[self.chosen],
            self.chosen + 1,
            self.topics.len(),
        )
    }

    /// Returns how fast it is told to go \[m/s\] and to turn \[rad/s\].
    pub fn speeds(&self) -> (f64, f64) {
        (
            f64::from(self.forward) / 100.0,
            f64::from(self.turn) / 100.0,
        )
    }

    /// Returns by how much one key press changes these.
    pub fn steps(&self) -> (f64, f64) {
        let step = f64::from(STEPS[self.step]) / 100.0;
        (step, 2.0 * step)
    }

    /// Makes it faster ahead by so many steps, and turn faster to the left by so many.
    pub fn accelerate(&mut self, ahead: i8, left: i8) -> Twisting {
        let step = STEPS[self.step];
        let forward = self.forward + i32::from(ahead) * step;
        let turn = self.turn + i32::from(left) * 2 * step;
        self.forward = forward.clamp(-FORWARD_MAX, FORWARD_MAX);
        self.turn = turn.clamp(-TURN_MAX, TURN_MAX);
        self.twisting()
    }

    /// Lets it stand.
    pub fn halt(&mut self) -> Twisting {
        (self.forward, self.turn) = (0, 0);
        self.twisting()
    }

    /// Makes steps larger or smaller.
    pub fn change_step(&mut self, by: i8) {
        let step = self.step.saturating_add_signed(isize::from(by));
        self.step = step.min(STEPS.len() - 1);
    }

    /// Stops it and speaks on its next topic from now on.
    pub fn next_topic(&mut self) -> Twisting {
        let halt = self.halt();
        self.chosen = (self.chosen + 1) % self.topics.len();
        halt
    }

    fn twisting(&self) -> Twisting {
        let (forward, turn) = self.speeds();
        let stands = (self.forward, self.turn) == (0, 0);
        Twisting {
            command: self.publish(forward, turn),
            halt: (!stands).then(|| self.publish(0.0, 0.0)),
        }
    }

    fn publish(&self, forward: f64, turn: f64) -> Command {
        let twist = Twist {
            linear: [forward, 0.0, 0.0].into(),
            angular: [0.0, 0.0, turn].into(),
            ..Twist::default()
        };
        Command::Publish {
            topic: self.topic().0.to_owned(),
            kind: TWIST.to_owned(),
            body: messages::encode(&twist),
        }
    }
}

/// Returns the models that hear twists, each once, by name.
pub fn drivable(topics: &[TopicReport]) -> Vec<&str> {
    let heard = topics.iter().filter(|topic| topic.kind == TWIST);
    let mut models: Vec<&str> = heard
        .flat_map(|topic| &topic.subscribers)
        .filter_map(|who| Some(who.split_once(": ")?.0))
        .collect();
    models.sort_unstable();
    models.dedup();
    models
}

/// Returns how fast a performer goes in the direction that it looks in \[m/s\].
pub fn speed_ahead(performer: &PerformerReport) -> f64 {
    let ahead = orientation::ahead(performer);
    let parts = ahead.iter().zip(&performer.linear_velocity);
    parts.map(|(ahead, velocity)| ahead * velocity).sum()
}

fn topics_of<'a>(model: &str, topics: &'a [TopicReport]) -> Vec<&'a str> {
    let is_its = |who: &String| {
        let rest = who.strip_prefix(model);
        rest.is_some_and(|rest| rest.starts_with(": "))
    };
    let heard = topics.iter().filter(|topic| topic.kind == TWIST);
    heard
        .filter(|topic| topic.subscribers.iter().any(is_its))
        .map(|topic| topic.topic.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    fn drive() -> Drive {
        Drive::new("rover_1", &fixture::topics()).unwrap()
    }

    fn said(command: &Command) -> (&str, f64, f64) {
        let Command::Publish { topic, kind, body } = command else {
            panic!("{command:?}")
        };
        assert_eq!(kind, TWIST);
        let twist: Twist = messages::decode(body).unwrap();
        (topic, twist.linear.x, twist.angular.z)
    }

    #[test]
    fn speeds_change_in_steps_that_can_be_changed() {
        let mut drive = drive();
        let twisting = drive.accelerate(1, 0);
        assert_eq!(
            said(&twisting.command),
            ("/model/rover_1/cmd_vel", 0.1, 0.0)
        );
        assert_eq!(
            said(&twisting.halt.unwrap()),
            ("/model/rover_1/cmd_vel", 0.0, 0.0)
        );
        drive.change_step(1);
        drive.accelerate(1, -1);
        assert_eq!((drive.speeds(), drive.steps()), ((0.3, -0.4), (0.2, 0.4)));
        for _ in 0..100 {
            drive.change_step(1);
            drive.accelerate(1, -1);
        }
        assert_eq!(drive.speeds(), (10.0, -5.0));
        assert_eq!(drive.halt().halt, None);
        assert_eq!(drive.speeds(), (0.0, 0.0));
        for _ in 0..100 {
            drive.change_step(-1);
        }
        assert_eq!(drive.steps(), (0.01, 0.02));
    }

    #[test]
    fn a_model_that_hears_no_twist_says_who_does() {
        let refusal = |model| {
            let error = Drive::new(model, &fixture::topics()).unwrap_err();
            error.to_string()
        };
        let none = refusal("rover");
        assert!(none.contains("rover cannot"), "{none}");
        let error = refusal("box");
        assert!(error.contains("box cannot be driven"), "{error}");
        assert!(error.contains("rover_1, rover_2"), "{error}");
        assert_eq!(Drive::new("box", &[]), Err(DriveError::UnknownTopics));
    }

    #[test]
    fn of_several_topics_one_is_spoken_on_and_left_with_a_stop() {
        let mut drive = Drive::new("rover_2", &fixture::topics()).unwrap();
        assert_eq!(drive.topic(), ("/model/rover_2/arm", 1, 2));
        drive.accelerate(1, 0);
        let stop = drive.next_topic();
        assert_eq!(said(&stop.command), ("/model/rover_2/arm", 0.0, 0.0));
        assert_eq!(drive.topic(), ("/model/rover_2/cmd_vel", 2, 2));
    }

    #[test]
    fn the_speed_ahead_is_measured_along_the_heading() {
        let mut robot = fixture::performers().remove(2);
        assert_eq!(speed_ahead(&robot), -1.5);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        robot.orientation_xyzw = [0.0, 0.0, half, half];
        assert!(speed_ahead(&robot).abs() < 1e-12);
    }
}
