//! Nothing that was said is lost to observers, whoever is: what each step's answers announce is put
//! together once, from those who said it or from those who did the step again.

use std::time::{Duration, Instant};

use lockstep::StepReport;
use protocol::primary_to_secondary::Step;
use protocol::topic_message::DataBatch;
use protocol::{PeerName, Sequence, SessionTime, TopicMessage};
use worker::data::{Collector, Progress, StepData};

/// After how long whatever is on its way has arrived.
const LONG: Duration = Duration::from_hours(1);

/// Messages that observers have.
#[derive(Debug)]
pub struct Delivery {
    collector: Collector,
    begin: Instant,
    published: Sequence,
    batch_number: u64,
    done: Sequence,
    is_recovering: bool,
    /// Number of messages that were put together.
    pub messages: u64,
    /// The messages themselves, if they are to be kept.
    pub kept: Option<Vec<TopicMessage>>,
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            collector: Collector::new(true),
            begin: Instant::now(),
            published: Sequence(0),
            batch_number: 0,
            done: Sequence(0),
            is_recovering: false,
            messages: 0,
            kept: None,
        }
    }
}

impl Delivery {
    /// A step begins, published just now or done ahead.
    pub fn on_step(&mut self, step: &Step) {
        if step.batch_number > self.batch_number {
            self.published = Sequence(step.sequence.0 + u64::from(step.ahead));
        }
        self.batch_number = step.batch_number;
    }

    /// Data of a peer arrives.
    pub fn on_data(&mut self, from: &PeerName, batch: DataBatch, now: SessionTime) {
        // What comes too late was there by another way.
        let _ = self.collector.take(from, batch, self.published);
        self.turn(now);
    }

    /// The step under way is done.
    pub fn on_done(&mut self, report: &StepReport, now: SessionTime) {
        let peers = report.peers.iter().filter(|peer| peer.published > 0);
        let announced = peers.map(|peer| (peer.name.clone(), peer.published));
        self.announce(report.sequence, announced.collect(), now);
    }

    fn announce(&mut self, sequence: Sequence, announced: Vec<(PeerName, u32)>, now: SessionTime) {
        self.done = sequence;
        let step = StepData {
            sequence,
            batch_number: self.batch_number,
            announced,
            said_by_clients: Vec::new(),
        };
        if !step.announced.is_empty() {
            self.collector.announce(step, self.at(now));
        }
        self.turn(now);
    }

    /// Lost cells are being restored, or a step waits, or neither.
    pub fn set_recovering(&mut self, is_recovering: bool, now: SessionTime) {
        if self.is_recovering != is_recovering {
            self.is_recovering = is_recovering;
            self.collector.set_recovering(is_recovering, self.at(now));
        }
    }

    /// Returns the last step of which all is here.
    pub fn delivered(&self) -> Sequence {
        if self.collector.is_idle() {
            self.done
        } else {
            self.collector.over().unwrap_or_default()
        }
    }

    /// The run is over, and nothing arrives any more.
    ///
    /// # Panics
    /// Panics if data is missing, unless it is of peers that are lost for good.
    pub fn on_end(&mut self, now: SessionTime, is_lost: impl Fn(&PeerName, Sequence) -> bool) {
        self.collector.set_recovering(false, self.at(now));
        loop {
            match self.collector.next(self.at(now) + LONG) {
                Progress::Complete(messages) => self.note(messages),
                Progress::Lost { sequence, from } => {
                    assert!(
                        from.iter().any(|name| is_lost(name, sequence)),
                        "what {from:?} said in step {sequence} never arrived"
                    );
                }
                Progress::Waiting => return,
            }
        }
    }

    fn note(&mut self, messages: Vec<TopicMessage>) {
        self.messages += messages.len() as u64;
        if let Some(kept) = &mut self.kept {
            kept.extend(messages);
        }
    }

    fn turn(&mut self, now: SessionTime) {
        loop {
            match self.collector.next(self.at(now)) {
                Progress::Complete(messages) => self.note(messages),
                Progress::Lost { sequence, from } => {
                    panic!("what {from:?} said in step {sequence} is lost")
                }
                Progress::Waiting => return,
            }
        }
    }

    fn at(&self, now: SessionTime) -> Instant {
        self.begin + now.since(SessionTime(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step ends of which something never arrives.
    fn lacking() -> Delivery {
        let mut delivery = Delivery::default();
        delivery.on_step(&Step {
            sequence: Sequence(1),
            batch_number: 1,
            ..Step::default()
        });
        let announced = vec![("s1".parse().expect("it is a name"), 1)];
        delivery.announce(Sequence(1), announced, SessionTime(0));
        delivery
    }

    #[test]
    #[should_panic(expected = "never arrived")]
    fn undelivered_messages_are_found() {
        lacking().on_end(SessionTime(1), |_, _| false);
    }

    #[test]
    fn messages_of_a_lost_secondary_are_excused() {
        let mut delivery = lacking();
        delivery.on_end(SessionTime(1), |name, _| name.as_str() == "s1");
        assert_eq!(delivery.messages, 0);
    }
}
