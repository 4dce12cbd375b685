//! [`Departures`]: which steps' messages have left each secondary, told among their nodes.
//!
//! A secondary that is killed had perhaps answered for a step whose messages its node had not sent
//! yet. Its node tells the others after each step that said something, on a hidden topic; whoever
//! does the steps again publishes what is beyond the last of that. Images leave later than all
//! else of their step, so that it is told apart how far they have got. Several runs may be in one
//! domain, with secondaries of the same names: a node heeds those of its own run alone.

use std::collections::BTreeMap;

use protocol::{PeerName, Sequence, SessionId};
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

/// Progress of the other secondaries of a run.
struct Others {
    run: SessionId,
    own: String,
    steps: BTreeMap<String, u64>,
}

/// Progress of all secondaries with what they publish.
pub(super) struct Departures {
    told: u64,
    looked: u64,
    others: Others,
    publication: Publication,
    subscription: Subscription,
}

impl Departures {
    /// Joins the topic as a secondary of a run.
    ///
    /// # Errors
    /// Fails if the middleware has stopped.
    pub(super) fn new(
        participant: &mut Participant,
        run: SessionId,
        own: &str,
    ) -> Result<Self, EndpointError> {
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
            told: 0,
            looked: 0,
            others: Others {
                run,
                own: own.to_owned(),
                steps: BTreeMap::new(),
            },
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
                self.tell(format!("{}{OF_IMAGES}", self.others.own), images);
            }
            self.tell(self.others.own.clone(), step);
        }
        if step.0 >= self.looked + INTERVAL {
            self.looked = step.0;
            self.look();
        }
    }

    fn tell(&self, secondary: String, step: Sequence) {
        let progress = Progress {
            run: self.others.run.0,
            secondary,
            step: step.0,
        };
        // The next one says the same.
        let _ = self.publication.publish(to_cdr(&progress));
    }

    /// Returns the last step of which all but images has left a secondary, and that of which all
    /// images have, as far as that is known.
    pub(super) fn of(&mut self, secondary: &PeerName) -> (Option<Sequence>, Option<Sequence>) {
        self.look();
        let of = |name: &str| self.others.steps.get(name).copied().map(Sequence);
        let images = format!("{secondary}{OF_IMAGES}");
        (of(secondary.as_str()), of(&images))
    }

    fn look(&mut self) {
        while let Some(sample) = self.subscription.take() {
            if let Ok(progress) = from_cdr::<Progress>(&sample.cdr) {
                self.others.hear(progress);
            }
        }
    }
}

impl Others {
    fn hear(&mut self, progress: Progress) {
        let name = progress.secondary.strip_suffix(OF_IMAGES);
        let is_own = name.unwrap_or(&progress.secondary) == self.own;
        if is_own || progress.run != self.run.0 {
            return;
        }
        let last = self.steps.entry(progress.secondary).or_default();
        *last = progress.step.max(*last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_run_with_secondaries_of_the_same_names_says_nothing_of_this_one() {
        let mut others = Others {
            run: SessionId(7),
            own: "s2".to_owned(),
            steps: BTreeMap::new(),
        };
        let mut hear = |run, secondary: &str, step| {
            others.hear(Progress {
                run,
                secondary: secondary.to_owned(),
                step,
            });
        };
        hear(7, "s1", 10);
        hear(8, "s1", 1000);
        hear(8, "s3/images", 1000);
        hear(7, "s1/images", 8);
        hear(7, "s1", 9);
        hear(7, "s2", 12);
        let expected = [("s1", 10), ("s1/images", 8)].map(|(name, step)| (name.to_owned(), step));
        assert_eq!(others.steps, BTreeMap::from(expected));
    }
}
