//! Joining of programs: who may, and on which terms.

use protocol::participant::{JoinBarrier, MODELS_MAX, TIMEOUT_S_MAX, TOPICS_MAX};
use protocol::primary_to_observers::Severity;
use protocol::{FailureCode, Iteration, PeerName, RequestId, RoutingId, topic};

use super::Participants;
use super::participant::{Participant, Stage, first_from};
use crate::primary::context::{CodedError, Context};
use crate::primary::world::WorldState;

/// Circumstances of a program that joins.
#[derive(Debug)]
pub(crate) struct JoinTerms<'a> {
    /// Most programs that may take part.
    pub(crate) max: u32,
    /// The first iteration after which it can be asked.
    pub(crate) from: Iteration,
    /// True if a process of the run has its name.
    pub(crate) is_of_peer: bool,
    pub(crate) world: &'a WorldState,
}

/// A program that may not take part.
#[derive(Debug, thiserror::Error)]
enum JoinError {
    #[error(
        "this run lets {max} programs take part in lockstep: `participants.max` of its run file \
         says how many"
    )]
    TooMany { max: u32 },
    #[error("{name} takes part already")]
    Taken { name: PeerName },
    #[error("{name} is the name of a process of the run")]
    OfPeer { name: PeerName },
    #[error("`every` must be at least 1")]
    NoInterval,
    #[error("`timeout_s` must be more than 0 and at most {TIMEOUT_S_MAX}")]
    Timeout,
    #[error("`topics` has {count}, and may have {TOPICS_MAX}")]
    TooManyTopics { count: usize },
    #[error("{topic:?} is no name of a topic")]
    Topic { topic: String },
    #[error("`models` has {count}, and may have {MODELS_MAX}")]
    TooManyModels { count: usize },
    #[error("no performer is named {model:?}")]
    Model { model: String },
}

impl CodedError for JoinError {
    fn code(&self) -> FailureCode {
        match self {
            Self::TooMany { .. } | Self::TooManyTopics { .. } | Self::TooManyModels { .. } => {
                FailureCode::TooMuch
            }
            Self::Taken { .. } | Self::OfPeer { .. } => FailureCode::NameTaken,
            Self::NoInterval | Self::Timeout | Self::Topic { .. } => FailureCode::Invalid,
            Self::Model { .. } => FailureCode::NotFound,
        }
    }
}

impl Participants {
    /// Lets a program take part, or refuses it; tells whether it does.
    pub(crate) fn on_join(
        &mut self,
        (from, request): (RoutingId, RequestId),
        join: JoinBarrier,
        terms: &JoinTerms<'_>,
        cx: &mut Context<'_>,
    ) -> bool {
        if let Err(error) = self.check_join(&join, terms) {
            cx.fail(from, request, error);
            return false;
        }
        self.has_new_topics |= !join.topics.is_empty();
        self.awaited.remove(&join.name);
        if self.awaited.is_empty() {
            self.awaited_since = None;
        }
        let client = (from, request);
        let name = join.name.clone();
        let first = if let Some(known) = self.all.get_mut(&name) {
            known.take_back(join, client);
            known.next
        } else {
            let first = first_from(terms.from, join.every);
            let participant = Participant::new(join, client, first);
            self.all.insert(name.clone(), participant);
            first
        };
        let every = self.all[&name].terms.every;
        let text = format!(
            "{name} takes part in lockstep: the run waits for it after iteration {first}, then \
             every {every}"
        );
        cx.event(Severity::Info, "participant", text);
        true
    }

    fn check_join(&self, join: &JoinBarrier, terms: &JoinTerms<'_>) -> Result<(), JoinError> {
        let name = || join.name.clone();
        let known = self.all.get(&join.name);
        if terms.is_of_peer {
            return Err(JoinError::OfPeer { name: name() });
        }
        if known.is_some_and(|known| known.stage != Stage::Gone) {
            return Err(JoinError::Taken { name: name() });
        }
        // Those that are awaited have a place that nobody else may take.
        let mut others = self.awaited.iter().filter(|one| **one != join.name);
        let taken = self.all.len() + others.by_ref().count();
        if known.is_none() && taken >= terms.max as usize {
            return Err(JoinError::TooMany { max: terms.max });
        }
        if join.every == 0 {
            return Err(JoinError::NoInterval);
        }
        if !(join.timeout_s > 0.0 && join.timeout_s <= TIMEOUT_S_MAX) {
            return Err(JoinError::Timeout);
        }
        if join.topics.len() > TOPICS_MAX {
            let count = join.topics.len();
            return Err(JoinError::TooManyTopics { count });
        }
        let mut topics = join.topics.iter();
        if let Some(other) = topics.find(|name| !topic::is_message_name(name)) {
            let topic = other.chars().take(80).collect();
            return Err(JoinError::Topic { topic });
        }
        if join.models.len() > MODELS_MAX {
            let count = join.models.len();
            return Err(JoinError::TooManyModels { count });
        }
        let mut models = join.models.iter();
        if let Some(other) = models.find(|name| terms.world.model_state(name).is_none()) {
            let model = other.chars().take(80).collect();
            return Err(JoinError::Model { model });
        }
        Ok(())
    }
}
