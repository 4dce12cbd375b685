//! [`Words`]: the words that follow a command, taken one by one.

use std::path::Path;

use protocol::action::ModelVelocity;
use protocol::client_to_primary::{JointPosition, NamedPose, NamedState, ResetKind};
use protocol::{Command, LinkPose};

use super::{Asked, ParseControlError, reset_kinds};

/// The words after a command that are not read yet.
pub(super) struct Words<'a> {
    verb: &'a str,
    rest: &'a [&'a str],
}

impl<'a> Words<'a> {
    /// Makes the words after a command.
    pub(super) fn new(verb: &'a str, rest: &'a [&'a str]) -> Self {
        Self { verb, rest }
    }

    /// Takes a word; `wanted` says for people what it is.
    pub(super) fn next(&mut self, wanted: &'static str) -> Result<&'a str, ParseControlError> {
        let missing = || ParseControlError::Missing(self.verb.to_owned(), wanted);
        let (word, rest) = self.rest.split_first().ok_or_else(missing)?;
        self.rest = rest;
        Ok(word)
    }

    /// Returns the command that they follow.
    pub(super) fn verb(&self) -> &'a str {
        self.verb
    }

    /// Takes two links.
    pub(super) fn two_links(&mut self) -> Result<[String; 2], ParseControlError> {
        let wanted = "two links as MODEL::LINK";
        Ok([self.name(wanted)?, self.name(wanted)?])
    }

    /// Takes a name.
    pub(super) fn name(&mut self, wanted: &'static str) -> Result<String, ParseControlError> {
        self.next(wanted).map(str::to_owned)
    }

    /// Takes a finite number.
    pub(super) fn number(&mut self, wanted: &'static str) -> Result<f64, ParseControlError> {
        let word = self.next(wanted)?;
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| ParseControlError::Bad(word.to_owned(), "finite number"))
    }

    /// Takes a whole number from 0.
    pub(super) fn whole(&mut self, wanted: &'static str) -> Result<u64, ParseControlError> {
        let word = self.next(wanted)?;
        let bad = || ParseControlError::Bad(word.to_owned(), "whole number from 0");
        word.parse().map_err(|_| bad())
    }

    /// Takes a number of steps, 1 without a word.
    pub(super) fn count(&mut self) -> Result<u64, ParseControlError> {
        let Some(word) = self.rest.first() else {
            return Ok(1);
        };
        self.rest = &self.rest[1..];
        let count = word.replace([',', '_'], "").parse().ok();
        let wanted = "number of steps: use a whole number from 1";
        count
            .filter(|count| *count > 0)
            .ok_or_else(|| ParseControlError::Bad((*word).to_owned(), wanted))
    }

    /// Takes what is reset, everything without a word.
    pub(super) fn reset_kind(&mut self) -> Result<ResetKind, ParseControlError> {
        if self.rest.is_empty() {
            return Ok(ResetKind::All);
        }
        let word = self.next("all, time or models")?;
        let kind = reset_kinds().into_iter().find(|(name, _)| *name == word);
        let bad = || ParseControlError::Bad(word.to_owned(), "all, time or models");
        kind.map(|(_, kind)| kind).ok_or_else(bad)
    }

    /// Takes one model after the other with three or six numbers each; a word alone is the file
    /// that has them.
    pub(super) fn poses(&mut self) -> Result<Asked, ParseControlError> {
        let wanted = "a model and three or six numbers: MODEL X Y Z [ROLL PITCH YAW]; or a file";
        let mut poses = Vec::new();
        if let [file] = self.rest {
            self.rest = &[];
            return if *file == "-" || Path::new(file).extension().is_some() {
                Ok(Asked::with_file(Command::SetPoses { poses }, file))
            } else {
                Err(ParseControlError::Missing(self.verb.to_owned(), wanted))
            };
        }
        while poses.is_empty() || !self.rest.is_empty() {
            let model = self.name(wanted)?;
            let parsed = self.rest.iter().map(|word| word.parse::<f64>().ok());
            let mut numbers: Vec<f64> = parsed.take(6).map_while(|number| number).collect();
            if numbers.len() < 6 {
                numbers.truncate(3);
            }
            self.rest = &self.rest[numbers.len()..];
            let missing = || ParseControlError::Missing(self.verb.to_owned(), wanted);
            let pose = pose(&numbers).ok_or_else(missing)?;
            poses.push(NamedPose { model, pose });
        }
        Ok(Asked::from(Command::SetPoses { poses }))
    }

    /// Takes a model, its velocity \[m/s\] and perhaps an angular one \[rad/s\].
    pub(super) fn velocity(&mut self) -> Result<Asked, ParseControlError> {
        let wanted = "a model and three or six numbers: MODEL X Y Z [P Q R]";
        let model = self.name(wanted)?;
        let linear = self.three_numbers(wanted)?;
        let angular = match self.rest {
            [] => [0.0; 3],
            _ => self.three_numbers(wanted)?,
        };
        let state = NamedState {
            model,
            pose: None,
            velocity: Some(ModelVelocity { linear, angular }),
        };
        let states = vec![state];
        Ok(Asked::from(Command::SetStates { states }))
    }

    /// Takes three finite numbers.
    pub(super) fn three_numbers(
        &mut self,
        wanted: &'static str,
    ) -> Result<[f64; 3], ParseControlError> {
        Ok([
            self.number(wanted)?,
            self.number(wanted)?,
            self.number(wanted)?,
        ])
    }

    /// Takes all words that are left as `JOINT=POSITION`.
    pub(super) fn joint_positions(&mut self) -> Result<Vec<JointPosition>, ParseControlError> {
        let rest = std::mem::take(&mut self.rest);
        rest.iter().map(|word| joint_position(word)).collect()
    }

    /// Makes sure that no word is left.
    pub(super) fn end(&self) -> Result<(), ParseControlError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let (rest, verb) = (self.rest.join(" "), self.verb.to_owned());
        Err(ParseControlError::Superfluous(rest, verb))
    }
}

/// Reads a joint and its position in the form `JOINT=POSITION`.
pub(super) fn joint_position(word: &str) -> Result<JointPosition, ParseControlError> {
    let read = word.rsplit_once('=').and_then(|(joint, position)| {
        let position = position
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())?;
        let joint = joint.to_owned();
        (!joint.is_empty()).then_some(JointPosition { joint, position })
    });
    let wanted = "JOINT=POSITION with a finite number, in radians or metres";
    read.ok_or_else(|| ParseControlError::Bad(word.to_owned(), wanted))
}

/// Returns the pose of x, y, z \[m\] and perhaps roll, pitch, yaw \[rad\].
pub(super) fn pose(numbers: &[f64]) -> Option<LinkPose> {
    let position = *numbers.first_chunk::<3>()?;
    let angles = match numbers.len() {
        3 => [0.0; 3],
        6 => *numbers.last_chunk::<3>()?,
        _ => return None,
    };
    let orientation = sdf::Pose::from_xyz_rpy(position, angles).orientation_xyzw;
    let pose = std::array::from_fn(|index| match index {
        0..3 => position[index],
        _ => orientation[index - 3],
    });
    pose.iter()
        .all(|number: &f64| number.is_finite())
        .then_some(pose)
}
