//! `Leash`: pulls a link back to where it began. The example of `docs/systems.md`.

use messages::Double;
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use crate::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct Leash {
    link: usize,
    state: State,
}

/// State that lasts from step to step.
#[derive(Serialize, Deserialize)]
struct State {
    /// Start of the link, world frame [m].
    begin: Option<[f64; 3]>,
    /// Stiffness of the pull [N/m].
    stiffness: f64,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let missing = || ConfigureError("<link_name> is missing".to_owned());
    let link = configuration.text("link_name").ok_or_else(missing)?;
    let topic = format!("/model/{}/leash", configuration.model_path());
    Ok(Configured {
        system: Box::new(Leash {
            link: configuration.link(&link)?,
            state: State {
                begin: None,
                stiffness: configuration.number("stiffness", 10.0)?,
            },
        }),
        subscriptions: vec![TopicSpec::of::<Double>(configuration.topic(&topic))],
        publications: Vec::new(),
    })
}

impl System for Leash {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Ok(stiffness) = messages::decode::<Double>(&message.body) {
            self.state.stiffness = stiffness.data;
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let at = context.cell.link_pose(context.model, self.link).position;
        let begin = *self.state.begin.get_or_insert(at);
        let force = std::array::from_fn(|axis| self.state.stiffness * (begin[axis] - at[axis]));
        context
            .cell
            .add_load(context.model, self.link, force, [0.0; 3]);
    }

    fn save(&self) -> Vec<u8> {
        crate::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        crate::load(&mut self.state, bytes)
    }
}
