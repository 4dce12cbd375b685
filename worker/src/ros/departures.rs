//! [`Departures`]: which steps' messages have left each secondary, told among their nodes.
//!
//! A secondary that is killed had perhaps answered for a step whose messages its node had not sent
//! yet. Its node tells the others after each step that said something, on a hidden topic; whoever
//! does the steps again publishes what is beyond the last of that.

use std::collections::BTreeMap;

use protocol::{PeerName, Sequence};
use ros2::types::phalanx_msgs::Progress;
use ros2::{RosMessage, from_cdr, to_cdr};
use ros2_node::{EndpointError, Participant, Publication, Quality, Subscription, Topic};

/// The topic; names that begin with `_` are hidden.
const TOPIC: &str = "/phalanx/_progress";

/// Number of messages that may wait to be looked at.
const DEPTH: u32 = 4096;

/// Number of steps without messages after which progress is told all the same, and between two
/// looks at that of others.
const INTERVAL: u64 = 32;

/// Progress of all secondaries with what they publish.
pub(super) struct Departures {
    own: String,
    told: u64,
    looked: u64,
    others: BTreeMap<String, u64>,
    publication: Publication,
    subscription: Subscription,
}

impl Departures {
    /// Joins the topic as a secondary.
    ///
    /// # Errors
    /// Fails if the middleware has stopped.
    pub(super) fn new(participant: &mut Participant, own: &str) -> Result<Self, EndpointError> {
        let topic = Topic {
            name: TOPIC,
            type_name: Progress::TYPE.name,
            quality: Quality {
                is_reliable: false,
                is_kept: false,
                depth: DEPTH,
            },
        };
        Ok(Self {
            own: own.to_owned(),
            told: 0,
            looked: 0,
            others: BTreeMap::new(),
            publication: participant.advertise(&topic)?,
            subscription: participant.subscribe_quietly(&topic)?,
        })
    }

    /// Notes that all of a step has left; tells the others if the step said something.
    pub(super) fn note(&mut self, step: Sequence, has_said: bool) {
        if has_said || step.0 >= self.told + INTERVAL {
            self.told = step.0;
            let progress = Progress {
                secondary: self.own.clone(),
                step: step.0,
            };
            // The next one says the same.
            let _ = self.publication.publish(to_cdr(&progress));
        }
        if step.0 >= self.looked + INTERVAL {
            self.looked = step.0;
            self.look();
        }
    }

    /// Returns the last step of which all has left a secondary, if that is known.
    pub(super) fn of(&mut self, secondary: &PeerName) -> Option<Sequence> {
        self.look();
        self.others.get(secondary.as_str()).copied().map(Sequence)
    }

    fn look(&mut self) {
        while let Some(sample) = self.subscription.take() {
            let Ok(progress) = from_cdr::<Progress>(&sample.cdr) else {
                continue;
            };
            if progress.secondary == self.own {
                continue;
            }
            let last = self.others.entry(progress.secondary).or_default();
            *last = progress.step.max(*last);
        }
    }
}
