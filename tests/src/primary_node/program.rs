//! Programs that take part in lockstep, in transcripts.

use std::fmt::Write;

use lockstep::PrimaryInput;
use protocol::participant::{AbsencePolicy, AnswerBarrier, JoinBarrier};
use protocol::primary_to_client::Reply;
use protocol::{
    ClientToPrimary, Command, Iteration, ModelId, Publisher, RequestId, RosMessage, RosSettings,
    RoutingId, SecondaryToPrimary, SessionId, SimTime, TopicMessage,
};

use super::{PrimaryNode, number, peer, request};

const PREFIX: &str = "program ";

/// Returns the address of a program.
fn address(name: &str) -> RoutingId {
    RoutingId::from(format!("{PREFIX}{name}").as_str())
}

/// Tells whether an address is that of a program.
pub(super) fn is_address(routing: &RoutingId) -> bool {
    routing.0.starts_with(PREFIX.as_bytes())
}

/// Returns settings of ROS 2, of which the rules of lockstep read nothing.
pub(super) fn ros_settings() -> RosSettings {
    RosSettings {
        domain: 0,
        localhost_only: true,
        rules: String::new(),
        jpeg_quality: 80,
        awaited: None,
    }
}

/// Returns a message that a system published.
fn message(topic: &str, iteration: Iteration) -> TopicMessage {
    TopicMessage {
        topic: topic.to_owned(),
        kind: "gz.msgs.Double".to_owned(),
        publisher: Publisher::Model {
            model: ModelId { world: 0, model: 1 },
            part: 0,
        },
        iteration,
        sim_time: SimTime(0),
        body: Vec::new(),
    }
}

/// Returns what a program is told, in words.
pub(super) fn reply(to: &RoutingId, reply: Reply) -> String {
    let name = String::from_utf8_lossy(&to.0[PREFIX.len()..]).into_owned();
    match reply {
        Reply::Barrier(barrier) => {
            let mut text = format!("{name} <- asked after {}", barrier.iteration);
            for message in &barrier.messages {
                let _ = write!(text, " {} of {}", message.topic, message.iteration);
            }
            for model in &barrier.models {
                let _ = write!(text, " {} at x {}", model.name, model.position[0]);
            }
            for failure in &barrier.failures {
                let _ = write!(text, " failed: {failure}");
            }
            text
        }
        Reply::Failed { reason, .. } => format!("{name} <- failed: {reason}"),
        Reply::Done { iteration, .. } => format!("{name} <- done at {iteration}"),
        Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Layout(_)
        | Reply::Scene(_)
        | Reply::Topics(_)
        | Reply::Participants(_)
        | Reply::Clients(_) => format!("{name} <- figures"),
    }
}

impl PrimaryNode {
    /// Executes a command about programs.
    ///
    /// # Panics
    /// Panics if there is no such command.
    pub(super) fn execute_of_program(&mut self, words: &[&str]) {
        match words {
            ["take_part", name, terms @ ..] => self.take_part(name, terms),
            ["answer", name, iteration, command @ ..] => self.answer(name, iteration, command),
            ["leave_barrier", name] => self.leave_barrier(name),
            ["program_gone", name] => self.tell(PrimaryInput::ClientGone(address(name))),
            ["say_on", topic] => self.published.push(message(topic, self.step.iteration)),
            ["node", name, number, topic] => self.node_says(name, number, topic),
            ["participants"] => self.list_participants(),
            other => panic!("no such command: {other:?}"),
        }
    }

    fn take_part(&mut self, name: &str, terms: &[&str]) {
        let mut join = JoinBarrier {
            name: peer(name),
            every: 1,
            topics: Vec::new(),
            models: Vec::new(),
            timeout_s: 30.0,
            policy: AbsencePolicy::Wait,
        };
        for term in terms {
            let (key, value) = term.split_once('=').expect("a term is KEY=VALUE");
            match key {
                "every" => join.every = number(value),
                "topic" => join.topics.push(value.to_owned()),
                "model" => join.models.push(value.to_owned()),
                "timeout" => join.timeout_s = value.parse().expect("a number of seconds"),
                "policy" => {
                    join.policy = match value {
                        "wait" => AbsencePolicy::Wait,
                        "continue" => AbsencePolicy::Continue,
                        "stop" => AbsencePolicy::Stop,
                        other => panic!("no such policy: {other}"),
                    };
                }
                other => panic!("no such term: {other}"),
            }
        }
        self.program_asks(name, Command::JoinBarrier(Box::new(join)));
    }

    fn answer(&mut self, name: &str, iteration: &str, command: &[&str]) {
        let commands = match command {
            [] => Vec::new(),
            command => vec![request::command(command)],
        };
        let answer = AnswerBarrier {
            name: peer(name),
            iteration: Iteration(number(iteration)),
            commands,
        };
        self.program_asks(name, Command::AnswerBarrier(Box::new(answer)));
    }

    fn leave_barrier(&mut self, name: &str) {
        self.program_asks(name, Command::LeaveBarrier { name: peer(name) });
    }

    /// Has a secondary pass on a message of a node of ROS 2.
    fn node_says(&mut self, secondary: &str, number: &str, topic: &str) {
        let message = RosMessage {
            writer: [1; 16],
            number: number.parse().expect("the number of a message"),
            topic: topic.to_owned(),
            kind: "gz.msgs.Empty".to_owned(),
            body: messages::encode(&messages::Empty::default()),
        };
        self.hear(secondary, SecondaryToPrimary::RosMessages(vec![message]));
    }

    fn list_participants(&mut self) {
        let primary = self.primary.as_ref().expect("a primary");
        for one in primary.participants(self.now) {
            let (state, next) = (one.state.name(), one.next.unwrap_or_default());
            let (answers, missed) = (one.answers, one.missed);
            let _ = writeln!(
                self.said,
                "{} {state}, next {next}, answers {answers}, missed {missed}",
                one.name
            );
        }
    }

    fn program_asks(&mut self, name: &str, command: Command) {
        self.program_requests += 1;
        self.tell(PrimaryInput::Client {
            from: address(name),
            session: SessionId(0xf00d),
            message: ClientToPrimary {
                request: RequestId(self.program_requests),
                command,
            },
            texts: Vec::new(),
        });
    }
}
