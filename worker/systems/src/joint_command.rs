//! [`JointCommand`]: where the number comes from that a controller of joints is told.
//!
//! It is that of a `Double`, or one of those of an `Actuators` message. Source: gz-sim,
//! `joint_controller/JointController.hh`.

use messages::basic::Double;
use messages::motion::Actuators;
use protocol::TopicMessage;

use super::drive_base::{axis, count};
use super::{Configuration, ConfigureError, TopicSpec};

/// Kind of the numbers of an `Actuators` message that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// \[rad or m\]
    Position,
    /// \[rad/s or m/s\]
    Velocity,
}

/// Source of the commands of a controller of joints.
pub(super) struct JointCommand {
    /// The topic.
    pub(super) spec: TopicSpec,
    /// The place of its number in `Actuators` messages.
    actuator: Option<usize>,
    quantity: Quantity,
}

impl JointCommand {
    /// Reads `topic`, `sub_topic`, `use_actuator_msg` and `actuator_number`; without any of them
    /// the topic is the last part given, after that of the model.
    pub(super) fn read(
        configuration: &Configuration<'_>,
        last_part: &str,
        quantity: Quantity,
    ) -> Result<Self, ConfigureError> {
        let actuator = if configuration.flag("use_actuator_msg", false)? {
            let place = count(configuration, "actuator_number")?;
            let is_missing = || "<use_actuator_msg> needs an <actuator_number>".to_owned();
            Some(place.ok_or_else(|| ConfigureError(is_missing()))?)
        } else {
            None
        };
        let path = configuration.model_path();
        let of_model = |part: &str| format!("/model/{path}/{part}");
        let sub_topic = configuration.text("sub_topic").map(|part| of_model(&part));
        let topic = configuration.text("topic").or(sub_topic);
        let topic = topic.unwrap_or_else(|| match actuator {
            Some(_) => "/actuators".to_owned(),
            None => of_model(last_part),
        });
        let topic = configuration.topic(&topic);
        let spec = match actuator {
            Some(_) => TopicSpec::of::<Actuators>(topic),
            None => TopicSpec::of::<Double>(topic),
        };
        Ok(Self {
            spec,
            actuator,
            quantity,
        })
    }

    /// Returns what a message on the topic says, if it is a number.
    pub(super) fn number(&self, message: &TopicMessage) -> Option<f64> {
        let number = match self.actuator {
            None => messages::decode::<Double>(&message.body).ok()?.data,
            Some(place) => {
                let actuators = messages::decode::<Actuators>(&message.body).ok()?;
                let numbers = match self.quantity {
                    Quantity::Position => actuators.position,
                    Quantity::Velocity => actuators.velocity,
                };
                *numbers.get(place)?
            }
        };
        number.is_finite().then_some(number)
    }
}

/// Reads the joints of a controller, each with the axis that it is about, and the first one's name.
pub(super) fn controlled_joints(
    configuration: &Configuration<'_>,
) -> Result<(Vec<(usize, usize)>, String), ConfigureError> {
    let names = configuration.texts("joint_name");
    let Some(first) = names.first().cloned() else {
        return Err(ConfigureError("<joint_name> is missing".to_owned()));
    };
    let index = count(configuration, "joint_index")?.unwrap_or_default();
    let joints = configuration.found(&names, |name| axis(configuration, name, index))?;
    Ok((joints, first))
}
