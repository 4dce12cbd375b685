//! Nothing is said twice: what a system or sensor publishes in a step comes from one host, and all
//! that an answer announces was sent.

use std::collections::{BTreeMap, BTreeSet};

use lockstep::StepReport;
use protocol::primary_to_secondary::Step;
use protocol::topic_message::{DataBatch, Publisher};
use protocol::{Digest, DigestBuilder, PeerName, Sequence};

/// Publishers of each message in the step under way.
#[derive(Debug, Default)]
pub struct Publishers {
    sequence: Sequence,
    batch_number: u64,
    /// By step, number of the batch and name.
    batches: BTreeMap<(Sequence, u64, PeerName), Vec<Said>>,
    /// Those in whose place something was said.
    lost: BTreeSet<PeerName>,
    /// Fingerprint of all that was said in steps that are done, whoever said it.
    pub said: Digest,
}

/// A message: its publisher, its topic, and the fingerprint of what is in it.
type Said = (Publisher, String, Digest);

impl Publishers {
    /// A step begins.
    pub fn on_step(&mut self, step: &Step) {
        (self.sequence, self.batch_number) = (step.sequence, step.batch_number);
        let is_over = |sequence: Sequence, batch_number| {
            sequence < step.sequence || batch_number < step.batch_number
        };
        self.batches
            .retain(|(sequence, batch_number, _), _| !is_over(*sequence, *batch_number));
        self.lost.clear();
    }

    /// A member of the run sends what its cells have said.
    pub fn on_data(&mut self, name: &PeerName, batch: &DataBatch) {
        if let Some(lost) = &batch.instead_of {
            self.lost.insert(lost.clone());
        } else if batch.sequence >= self.sequence {
            let said = batch.messages.iter();
            let said = said.map(|one| {
                let content = Digest::of_bytes(&one.body);
                (one.publisher, one.topic.clone(), content)
            });
            let place = (batch.sequence, batch.batch_number, name.clone());
            self.batches.insert(place, said.collect());
        }
    }

    /// The step under way is done.
    ///
    /// # Panics
    /// Panics if two hosts published the same, or a batch is not as announced.
    pub fn on_done(&mut self, report: &StepReport) {
        let mut hosts = BTreeMap::new();
        let mut all = Vec::new();
        for peer in &report.peers {
            let place = (self.sequence, self.batch_number, peer.name.clone());
            let batch = self.batches.get(&place).map_or(&[][..], Vec::as_slice);
            assert!(
                batch.len() == peer.published as usize || self.lost.contains(&peer.name),
                "{} announced what it said in iteration {}",
                peer.name,
                report.iteration
            );
            all.extend(batch);
            for (publisher, topic, _) in batch {
                let host = hosts.entry((publisher, topic)).or_insert(&peer.name);
                assert_eq!(
                    *host, &peer.name,
                    "{publisher} speaks on {topic} at one host in iteration {}",
                    report.iteration
                );
            }
        }
        if all.is_empty() {
            return;
        }
        all.sort();
        let mut digest = DigestBuilder::default();
        digest.digest(self.said);
        for (publisher, topic, content) in all {
            digest.text(&format!("{publisher} {topic} {}", report.iteration));
            digest.digest(*content);
        }
        self.said = digest.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lockstep::PeerTiming;
    use protocol::{Digest, Iteration, SimTime, TopicMessage};

    use super::*;

    fn message(part: u32) -> TopicMessage {
        TopicMessage {
            topic: "/odometry".to_owned(),
            kind: "gz.msgs.Odometry".to_owned(),
            publisher: Publisher::World { world: 0, part },
            iteration: Iteration(1),
            sim_time: SimTime(0),
            body: Vec::new(),
        }
    }

    /// Two hosts say something in a step, each by a system of this number.
    fn check(parts: [u32; 2], announced: u32) {
        let mut publishers = Publishers::default();
        publishers.on_step(&Step {
            sequence: Sequence(1),
            ..Step::default()
        });
        let mut peers = Vec::new();
        for (name, part) in ["s1", "s2"].into_iter().zip(parts) {
            let name: PeerName = name.parse().unwrap();
            let batch = DataBatch {
                sequence: Sequence(1),
                batch_number: 0,
                iteration: Iteration(1),
                instead_of: None,
                messages: vec![message(part)],
            };
            publishers.on_data(&name, &batch);
            peers.push(PeerTiming {
                name,
                physics: Duration::ZERO,
                systems: Duration::ZERO,
                sensors: Duration::ZERO,
                busy: Duration::ZERO,
                published: announced,
                answered_after: Duration::ZERO,
            });
        }
        publishers.on_done(&StepReport {
            sequence: Sequence(1),
            schedule_left: 0,
            iteration: Iteration(1),
            paused: false,
            digest: Digest::default(),
            duration: Duration::ZERO,
            rearranged: false,
            peers,
            cells: Vec::new(),
        });
    }

    #[test]
    fn messages_of_each_host_about_its_own_cells_pass() {
        check([0, 1], 1);
    }

    #[test]
    #[should_panic(expected = "speaks on /odometry at one host")]
    fn messages_of_two_hosts_about_one_cell_are_found() {
        check([0, 0], 1);
    }

    #[test]
    #[should_panic(expected = "announced what it said")]
    fn announced_messages_that_were_not_sent_are_found() {
        check([0, 1], 2);
    }
}
