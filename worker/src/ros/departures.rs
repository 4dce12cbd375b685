//! [`Departures`]: which steps' messages have left each secondary, told among their nodes.
//!
//! A secondary that is killed had perhaps answered for a step whose messages its node had not sent
//! yet. Its node tells the others after each step that said something, on a hidden topic; whoever
//! does the steps again publishes what is beyond the last of that. Images leave later than all
//! else of their step, so that it is told apart how far they have got.

use std::collections::BTreeMap;

use protocol::{PeerName, Sequence};
use ros2::types::phalanx_msgs::Progress;
use ros2::{RosMessage, from_cdr, to_cdr};
use ros2_node::{EndpointError, Participant, Publication, Quality, Subscription, Topic};

/// The topic; names that begin with `_` are hidden.
const TOPIC: &str = "/phalanx/_progress";

/// Number of messages that may wait to be looked at.
const DEPTH: u32 = 4096;

/// Ending of a secondary's name where it is told of its images; no name has it.
const OF_IMAGES: &str = "/images";

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

    /// Notes that all of a step but images has left, and all images up to this step; tells the
    /// others if the step said something.
    pub(super) fn note(&mut self, step: Sequence, images: Option<Sequence>, has_said: bool) {
        if has_said || step.0 >= self.told + INTERVAL {
            self.told = step.0;
            // Whoever hears only the second would believe that images have got as far.
            if let Some(images) = images {
                self.tell(format!("{}{OF_IMAGES}", self.own), images);
            }
            self.tell(self.own.clone(), step);
        }
        if step.0 >= self.looked + INTERVAL {
            self.looked = step.0;
            self.look();
        }
    }

    fn tell(&self, secondary: String, step: Sequence) {
        let step = step.0;
        // The next one says the same.
        let _ = self
            .publication
            .publish(to_cdr(&Progress { secondary, step }));
    }

    /// Returns the last step of which all but images has left a secondary, and that of which all
    /// images have, as far as that is known.
    pub(super) fn of(&mut self, secondary: &PeerName) -> (Option<Sequence>, Option<Sequence>) {
        self.look();
        let of = |name: &str| self.others.get(name).copied().map(Sequence);
        let images = format!("{secondary}{OF_IMAGES}");
        (of(secondary.as_str()), of(&images))
    }

    fn look(&mut self) {
        while let Some(sample) = self.subscription.take() {
            let Ok(progress) = from_cdr::<Progress>(&sample.cdr) else {
                continue;
            };
            let name = progress.secondary.strip_suffix(OF_IMAGES);
            if name.unwrap_or(&progress.secondary) == self.own {
                continue;
            }
            let last = self.others.entry(progress.secondary).or_default();
            *last = progress.step.max(*last);
        }
    }
}
