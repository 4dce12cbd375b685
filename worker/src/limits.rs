//! Limits of a key that may command only some topics and models.

use protocol::{Command, Concerns};
use transport::authorized::fits;

/// Reason why a key may not give a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The command is about no topic or model.
    #[error("{}: {verb} concerns the whole run", limits(.allow))]
    WholeRun {
        /// Patterns of the key.
        allow: Vec<String>,
        /// First word of the command.
        verb: String,
    },
    /// The command is about something else than the key.
    #[error("{}, and {name} does not", limits(.allow))]
    Name {
        /// Patterns of the key.
        allow: Vec<String>,
        /// Topic or model that fits none of them.
        name: String,
    },
}

/// Checks a command of a key that is limited to patterns such as `/model/r1/**`; a model is
/// `/model/NAME`. Such a key commands nothing that is not about topics or models.
///
/// # Errors
/// Fails if the key may not give it.
pub fn check(command: &Command, allow: &[String]) -> Result<(), LimitError> {
    if allow.is_empty() || command.is_for_all() {
        return Ok(());
    }
    let Some(names) = names(command) else {
        let text = command.text().unwrap_or_default();
        let verb = text.split(' ').next().unwrap_or_default().to_owned();
        let allow = allow.to_vec();
        return Err(LimitError::WholeRun { allow, verb });
    };
    let is_allowed = |name: &String| allow.iter().any(|pattern| fits(name, pattern));
    match names.into_iter().find(|name| !is_allowed(name)) {
        Some(name) => Err(LimitError::Name {
            allow: allow.to_vec(),
            name,
        }),
        None => Ok(()),
    }
}

fn limits(allow: &[String]) -> String {
    format!("this key may only command what fits {}", allow.join(", "))
}

/// Returns the topics, services and models that a command is about; `None` if it is about the run.
fn names(command: &Command) -> Option<Vec<String>> {
    names_of(command.row().concerns)
}

fn names_of(concerns: Concerns<'_>) -> Option<Vec<String>> {
    match concerns {
        Concerns::Run => None,
        Concerns::Topic(topic) => Some(vec![absolute(topic)]),
        Concerns::Models(models) => Some(models.into_iter().map(model_of).collect()),
        Concerns::Participant(of_commands) => {
            let names: Option<Vec<_>> = of_commands.into_iter().map(names_of).collect();
            Some(names?.concat())
        }
    }
}

/// Returns a topic as it is written in full.
fn absolute(topic: &str) -> String {
    format!("/{}", topic.trim_start_matches('/'))
}

/// Returns the model of `MODEL`, `MODEL::LINK` and what else begins with it.
fn model_of(entity: &str) -> String {
    let model = entity.split("::").next().unwrap_or_default();
    // A slash in a name would be another part of the pattern.
    format!("/model/{}", model.replace('/', "\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Iteration;
    use protocol::client_to_primary::NamedPose;
    use protocol::link_poses::LinkPose;
    use protocol::participant::AnswerBarrier;

    fn check_all(expected: bool, commands: Vec<Command>) {
        let allow = ["/model/r1/**".to_owned(), "/shared".to_owned()];
        for command in commands {
            let checked = check(&command, &allow);
            assert_eq!(checked.is_ok(), expected, "{command:?}: {checked:?}");
            assert_eq!(check(&command, &[]), Ok(()));
        }
    }

    fn publish(topic: &str) -> Command {
        Command::Publish {
            topic: topic.to_owned(),
            kind: "gz.msgs.Twist".to_owned(),
            body: Vec::new(),
        }
    }

    fn remove(model: &str) -> Command {
        let model = model.to_owned();
        Command::Remove { model }
    }

    fn attach(parent: &str, child: &str) -> Command {
        let [parent, child] = [parent, child].map(str::to_owned);
        Command::Attach { parent, child }
    }

    fn answer(commands: Vec<Command>) -> Command {
        Command::AnswerBarrier(Box::new(AnswerBarrier {
            name: "pilot".parse().unwrap(),
            iteration: Iteration(1),
            commands,
        }))
    }

    fn move_models(models: &[&str]) -> Command {
        let pose = |model: &&str| NamedPose {
            model: (*model).to_owned(),
            pose: LinkPose::default(),
        };
        let poses = models.iter().map(pose).collect();
        Command::SetPoses { poses }
    }

    #[test]
    fn a_limited_key_commands_its_topics_and_models_alone() {
        check_all(
            true,
            vec![
                Command::Ping,
                publish("/model/r1/cmd_vel"),
                publish("shared"),
                remove("r1"),
                remove("r1::arm"),
                attach("r1::gripper", "r1::box"),
                move_models(&["r1"]),
                answer(vec![publish("/model/r1/cmd_vel"), remove("r1")]),
                answer(Vec::new()),
            ],
        );
        check_all(
            false,
            vec![
                Command::Stop,
                Command::Play,
                Command::Clients,
                publish("/model/r2/cmd_vel"),
                publish("/shared/more"),
                remove("r2"),
                remove("r1/x"),
                attach("r1::gripper", "r2::box"),
                move_models(&["r1", "r2"]),
                answer(vec![publish("/model/r1/cmd_vel"), remove("r2")]),
                answer(vec![Command::Stop]),
                answer(vec![answer(Vec::new())]),
            ],
        );
    }
}
