//! Programs that take part in lockstep: messages between them and the primary, on `clients`.
//!
//! A participant joins with [`JoinBarrier`]. After each of its iterations the primary answers the
//! last request of the participant with a [`Barrier`], and begins no further iteration until the
//! [`AnswerBarrier`] to it is there.

use serde::{Deserialize, Serialize};

use crate::client_to_primary::{Command, Concerns};
use crate::digest::Digest;
use crate::id::{Iteration, PeerName};
use crate::time::SimTime;
use crate::topic_message::TopicMessage;

/// The most topics that a participant may listen to.
pub const TOPICS_MAX: usize = 64;
/// The most models of which a participant may ask for the state.
pub const MODELS_MAX: usize = 1_024;
/// The most commands of one answer.
pub const COMMANDS_MAX: usize = 256;
/// The largest commands of one answer, together \[bytes\].
pub const ANSWER_BYTES_MAX: usize = 16 << 20;
/// The longest time for which a participant may be waited for \[s\].
pub const TIMEOUT_S_MAX: f64 = 86_400.0;

/// Terms on which a program takes part in lockstep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinBarrier {
    /// Name of the program, unique in the run.
    pub name: PeerName,
    /// Number of iterations from one barrier to the next, at least 1: the program is asked after
    /// each iteration that this divides.
    pub every: u64,
    /// Topics that it hears; all that was published on them since its last barrier comes with the
    /// next.
    #[serde(default)]
    pub topics: Vec<String>,
    /// Names of performers of which it hears the state.
    #[serde(default)]
    pub models: Vec<String>,
    /// Time for which its answer is waited for \[s\], more than 0.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    /// Policy for an answer that does not come.
    #[serde(default)]
    pub policy: AbsencePolicy,
}

/// Policy for a participant whose answer does not come in time, or that is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AbsencePolicy {
    /// The run waits on, and for a program that is gone to join again under its name.
    #[default]
    Wait,
    /// The run goes on: what the program commanded last stays in force.
    Continue,
    /// The run ends.
    Stop,
}

/// Answer of a participant to a [`Barrier`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerBarrier {
    /// The participant.
    pub name: PeerName,
    /// The iteration of the barrier.
    pub iteration: Iteration,
    /// Commands that change the worlds, done before the next iteration in this order.
    #[serde(default)]
    pub commands: Vec<Command>,
}

/// Data that a participant asked for, after one of its iterations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Barrier {
    /// The iteration that is complete.
    pub iteration: Iteration,
    /// Simulated time at its end \[ns\].
    pub sim_time: SimTime,
    /// Digest of all performers after it.
    pub digest: Digest,
    /// Messages on its topics since its last barrier, those of each iteration in order of
    /// publishers.
    pub messages: Vec<TopicMessage>,
    /// Number of messages that were left out, the oldest first, since there were too many.
    pub left_out: u64,
    /// States of its models, in the order in which it asked; one that is gone is left out.
    pub models: Vec<ModelState>,
    /// Reasons why commands of its last answer could not be done.
    pub failures: Vec<String>,
}

/// State of a performer; vectors in the world frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelState {
    /// Its name.
    pub name: String,
    /// Position of its origin \[m\].
    pub position: [f64; 3],
    /// Orientation as a unit quaternion, x, y, z, w.
    pub orientation_xyzw: [f64; 4],
    /// Linear velocity of its canonical link \[m/s\].
    pub linear_velocity: [f64; 3],
    /// Angular velocity of its canonical link \[rad/s\].
    pub angular_velocity: [f64; 3],
}

impl AbsencePolicy {
    /// Returns its name in messages and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Continue => "continue",
            Self::Stop => "stop",
        }
    }
}

impl AnswerBarrier {
    /// Returns the subjects of its commands. One that may not be in an answer concerns the run.
    pub(crate) fn concerns(&self) -> Vec<Concerns<'_>> {
        let concerns = self.commands.iter().map(|command| match command {
            // Not looked into, since each may have another in it.
            Command::AnswerBarrier(_) => Concerns::Run,
            command => command.row().concerns,
        });
        concerns.collect()
    }
}

fn default_timeout_s() -> f64 {
    30.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_are_left_out_have_their_defaults() {
        let short = msgpack::to_vec_named(&Short {
            name: "pilot",
            every: 10,
        });
        let join: JoinBarrier = msgpack::from_slice(&short.unwrap()).unwrap();
        assert_eq!(join.timeout_s.to_bits(), 30.0_f64.to_bits());
        assert_eq!(join.policy, AbsencePolicy::Wait);
        assert!(join.topics.is_empty() && join.models.is_empty());
    }

    #[derive(Serialize)]
    struct Short {
        name: &'static str,
        every: u64,
    }

    #[test]
    fn an_answer_within_an_answer_concerns_the_run() {
        let answer = |commands| {
            let name: PeerName = "pilot".parse().unwrap();
            AnswerBarrier {
                name,
                iteration: Iteration(1),
                commands,
            }
        };
        let inner = Command::AnswerBarrier(Box::new(answer(Vec::new())));
        let topic = "/t".to_owned();
        let said = Command::Publish {
            topic,
            kind: String::new(),
            body: Vec::new(),
        };
        let outer = answer(vec![inner, said]);
        assert_eq!(outer.concerns(), [Concerns::Run, Concerns::Topic("/t")]);
    }
}
