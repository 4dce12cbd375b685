//! [`Collector`]: puts together what all secondaries said in a step, in the order of publishers.
//!
//! Batches come when they come, steps are announced when all have acknowledged them; a step is
//! complete when every secondary's batches hold as many messages as its ack said. What a lost
//! secondary did not send any more comes from those who do its steps again. Nothing here opens a
//! socket or reads a clock.

mod observed;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use protocol::{DataBatch, PeerName, Publisher, Sequence, TopicMessage};

pub use observed::ObservedTopics;

/// Number of bytes that may wait to be put together; beyond, observers lose the oldest step
/// \[bytes\].
pub const BYTES_MAX: usize = 256 << 20;

/// Time-out of the batches of a step if observers alone want them.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Time without any batch after which those of a step are given up if none may be lost: a slow way
/// takes that long for one that is large.
const TIMEOUT_LOSSLESS: Duration = Duration::from_mins(1);

/// Size of a message besides its names and its body \[bytes\].
const MESSAGE_BYTES: usize = 96;
/// Size of a batch besides its messages \[bytes\].
const BATCH_BYTES: usize = 160;
/// The size from which a batch is sent in parts \[bytes\].
const PART_BYTES_MAX: usize = 32 << 20;

/// A step that all secondaries have acknowledged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepData {
    /// The step.
    pub sequence: Sequence,
    /// Number of the batch of steps in which the step was published: messages of other batches were
    /// rolled back.
    pub batch_number: u64,
    /// Number of messages in each secondary's batches.
    pub announced: Vec<(PeerName, u32)>,
    /// Messages that clients published, which went to systems with this step.
    pub said_by_clients: Vec<TopicMessage>,
}

/// State of the oldest step that was announced.
#[derive(Debug, PartialEq)]
pub enum Progress {
    /// All of it is here, in order.
    Complete(Vec<TopicMessage>),
    /// It can never be complete.
    Lost {
        /// The step.
        sequence: Sequence,
        /// Secondaries whose messages are missing, or are not as many as announced.
        from: Vec<PeerName>,
    },
    /// It is not complete yet, or there is none.
    Waiting,
}

/// Reason for refusing a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It belongs to no step that is under way.
    #[error("{0} is not under way")]
    NotUnderWay(Sequence),
    /// Its step is done, and nothing of its sender is awaited.
    #[error("nothing that it said in {0} is awaited")]
    NotAwaited(Sequence),
    /// More waits already than any step may have.
    #[error("too much was said before {0} is done")]
    TooMuch(Sequence),
}

/// Messages that were published in the place of a publisher, with the secondary that did so: they
/// may have been published more than once.
type SaidAgain = BTreeMap<Publisher, (PeerName, Vec<TopicMessage>)>;

/// Puts together what was said.
#[derive(Debug)]
pub struct Collector {
    lossless: bool,
    steps: VecDeque<(StepData, Instant)>,
    /// By step, sender and number of the batch.
    batches: BTreeMap<(Sequence, PeerName, u64), Vec<TopicMessage>>,
    /// The same by those who did a step again in the place of who is lost.
    again: BTreeMap<(Sequence, PeerName), SaidAgain>,
    /// True if steps are being done again.
    is_recovering: bool,
    bytes: usize,
    /// Steps up to this one are done: what is awaited of them is announced.
    done: Sequence,
    /// Most that waits of steps that are not done \[bytes\].
    bytes_of_coming: usize,
    /// Steps up to this one are over.
    over: Option<Sequence>,
    /// Number of batches that came.
    taken: u64,
    /// That number when it was last looked at, and when another one was found.
    stirred: (u64, Option<Instant>),
}

impl Collector {
    /// Makes a collector; a lossless one drops nothing, however much waits.
    pub fn new(lossless: bool) -> Self {
        Self {
            lossless,
            steps: VecDeque::new(),
            batches: BTreeMap::new(),
            again: BTreeMap::new(),
            is_recovering: false,
            bytes: 0,
            done: Sequence(0),
            bytes_of_coming: 0,
            over: None,
            taken: 0,
            stirred: (0, None),
        }
    }

    /// Takes a batch or a part of one; `published` is the last step that may have been done.
    ///
    /// # Errors
    /// Fails if nobody waits for it, or too much waits already; it is dropped then.
    pub fn take(
        &mut self,
        from: &PeerName,
        batch: DataBatch,
        published: Sequence,
    ) -> Result<(), Refused> {
        let sequence = batch.sequence;
        if sequence > published || self.over.is_some_and(|over| sequence <= over) {
            return Err(Refused::NotUnderWay(sequence));
        }
        let said_by = batch.instead_of.as_ref().unwrap_or(from);
        if sequence <= self.done && !self.awaits(sequence, said_by) {
            return Err(Refused::NotAwaited(sequence));
        }
        if batch.messages.is_empty() {
            return Ok(());
        }
        let bytes = batch.messages.iter().map(size).sum::<usize>();
        self.taken += 1;
        if sequence > self.done {
            if self.bytes_of_coming + bytes > BYTES_MAX {
                return Err(Refused::TooMuch(sequence));
            }
            self.bytes_of_coming += bytes + BATCH_BYTES;
        }
        match batch.instead_of {
            None => {
                let place = (sequence, from.clone(), batch.batch_number);
                let known = self.batches.entry(place).or_default();
                self.bytes += bytes + if known.is_empty() { BATCH_BYTES } else { 0 };
                known.extend(batch.messages);
            }
            Some(lost) => self.take_again(from, (sequence, lost), batch.messages),
        }
        while !self.lossless
            && self.bytes > BYTES_MAX
            && let Some(oldest) = self.oldest()
        {
            self.give_up(oldest);
        }
        Ok(())
    }

    /// Takes note that the steps up to this one are done: what was said in those of them that are
    /// not announced is awaited by nobody, and dropped.
    pub fn note_done(&mut self, done: Sequence) {
        if done <= self.done {
            return;
        }
        let before = std::mem::replace(&mut self.done, done);
        let is_in_vain = |sequence: Sequence, said_by: &PeerName| {
            sequence > before && sequence <= done && !self.awaits(sequence, said_by)
        };
        let newer = self.batches.keys().rev();
        let newer = newer.take_while(|(sequence, ..)| *sequence > before);
        let batches: Vec<_> = newer
            .filter(|(sequence, name, _)| is_in_vain(*sequence, name))
            .cloned()
            .collect();
        let newer = self.again.keys().rev();
        let newer = newer.take_while(|(sequence, _)| *sequence > before);
        let again: Vec<_> = newer
            .filter(|(sequence, name)| is_in_vain(*sequence, name))
            .cloned()
            .collect();
        for place in batches {
            self.bytes -= self.batches.remove(&place).map_or(0, |batch| room(&batch));
        }
        for place in again {
            self.bytes -= self
                .again
                .remove(&place)
                .map_or(0, |said| room_again(&said));
        }
        let batches = self.batches.iter().rev();
        let batches = batches.take_while(|((sequence, ..), _)| *sequence > done);
        let again = self.again.iter().rev();
        let again = again.take_while(|((sequence, _), _)| *sequence > done);
        self.bytes_of_coming = batches.map(|(_, batch)| room(batch)).sum::<usize>()
            + again.map(|(_, said)| room_again(said)).sum::<usize>();
    }

    /// Tells whether a step that is done waits for what somebody said in it.
    fn awaits(&self, sequence: Sequence, said_by: &PeerName) -> bool {
        let place = self
            .steps
            .partition_point(|(step, _)| step.sequence < sequence);
        let step = self.steps.get(place);
        step.filter(|(step, _)| step.sequence == sequence)
            .is_some_and(|(step, _)| step.announced.iter().any(|(name, _)| name == said_by))
    }

    /// Takes what was said in the place of another; of those who say the same, the first counts.
    fn take_again(
        &mut self,
        from: &PeerName,
        place: (Sequence, PeerName),
        messages: Vec<TopicMessage>,
    ) {
        let known = self.again.entry(place).or_default();
        for message in messages {
            let said = known.entry(message.publisher);
            let (by, said) = said.or_insert_with(|| (from.clone(), Vec::new()));
            if by == from {
                self.bytes += size(&message);
                said.push(message);
            }
        }
    }

    /// Returns the oldest step of which something is here.
    fn oldest(&self) -> Option<Sequence> {
        let first = self.batches.keys().next().map(|(sequence, ..)| *sequence);
        let again = self.again.keys().next().map(|(sequence, _)| *sequence);
        first.into_iter().chain(again).min()
    }

    /// Begins or ceases to wait for what is said again: meanwhile nothing is given up.
    pub fn set_recovering(&mut self, is_recovering: bool, now: Instant) {
        self.is_recovering = is_recovering;
        for (_, since) in &mut self.steps {
            *since = now;
        }
    }

    /// Takes note of a step whose batches are here or under way.
    pub fn announce(&mut self, step: StepData, now: Instant) {
        self.steps.push_back((step, now));
    }

    /// Looks at the oldest step that was announced; call again until it is waiting.
    pub fn next(&mut self, now: Instant) -> Progress {
        if self.taken != self.stirred.0 {
            self.stirred = (self.taken, Some(now));
        }
        let Some((step, since)) = self.steps.front() else {
            return Progress::Waiting;
        };
        let since = self.waits_since(*since);
        let sequence = step.sequence;
        let is_over = self.over.is_some_and(|over| sequence <= over);
        let mut missing = Vec::new();
        let mut is_impossible = is_over;
        for (name, count) in &step.announced {
            let (here, again) = self.counts(&(sequence, name.clone(), step.batch_number));
            if here != *count as usize && again != *count as usize {
                missing.push(name.clone());
                is_impossible |= here.max(again) > *count as usize;
            }
        }
        if missing.is_empty() && !is_over {
            return Progress::Complete(self.complete());
        }
        let is_late = now.saturating_duration_since(since) >= self.timeout();
        if is_impossible || is_late && !self.is_recovering {
            self.steps.pop_front();
            self.give_up(sequence);
            return Progress::Lost {
                sequence,
                from: missing,
            };
        }
        Progress::Waiting
    }

    /// Returns when the oldest step that was announced is given up.
    pub fn deadline(&self) -> Option<Instant> {
        let (_, since) = self.steps.front().filter(|_| !self.is_recovering)?;
        Some(self.waits_since(*since) + self.timeout())
    }

    /// Returns since when a step that was announced at a time waits in vain: where none may be
    /// lost, what comes of others before it is on the same way.
    fn waits_since(&self, announced: Instant) -> Instant {
        let stirred = self.stirred.1.filter(|_| self.lossless);
        stirred.map_or(announced, |stirred| stirred.max(announced))
    }

    /// Returns the last step that is over.
    pub fn over(&self) -> Option<Sequence> {
        self.over
    }

    /// Returns whether every step that was announced is over.
    pub fn is_idle(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns how much waits to be put together \[bytes\].
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Lets go of the promise to lose nothing.
    pub fn allow_loss(&mut self) {
        self.lossless = false;
    }

    fn timeout(&self) -> Duration {
        if self.lossless {
            TIMEOUT_LOSSLESS
        } else {
            TIMEOUT
        }
    }

    /// Returns the messages of the oldest step; what one publisher said keeps its order.
    fn complete(&mut self) -> Vec<TopicMessage> {
        let (step, _) = self.steps.pop_front().expect("the caller looked at it");
        let mut messages = step.said_by_clients;
        for (name, count) in step.announced {
            let place = (step.sequence, name, step.batch_number);
            let (here, _) = self.counts(&place);
            if here == count as usize {
                let said = self.batches.remove(&place).unwrap_or_default();
                if !said.is_empty() {
                    self.bytes -= room(&said);
                }
                messages.extend(said);
            } else {
                let (sequence, name, _) = place;
                let again = self.again.remove(&(sequence, name)).unwrap_or_default();
                self.bytes -= room_again(&again);
                messages.extend(again.into_values().flat_map(|(_, said)| said));
            }
        }
        self.give_up(step.sequence);
        messages.sort_by_key(|message| message.publisher);
        messages
    }

    /// Returns how many messages of somebody are here, and how many that others said again.
    fn counts(&self, place: &(Sequence, PeerName, u64)) -> (usize, usize) {
        let here = self.batches.get(place).map_or(0, Vec::len);
        let (sequence, name, _) = place;
        let again = self.again.get(&(*sequence, name.clone()));
        let again = again.into_iter().flat_map(SaidAgain::values);
        (here, again.map(|(_, said)| said.len()).sum())
    }

    /// Drops what is left of all steps up to this one.
    fn give_up(&mut self, sequence: Sequence) {
        self.over = self.over.max(Some(sequence));
        while let Some(entry) = self.batches.first_entry()
            && entry.key().0 <= sequence
        {
            self.bytes -= room(&entry.remove());
        }
        while let Some(entry) = self.again.first_entry()
            && entry.key().0 <= sequence
        {
            self.bytes -= room_again(&entry.remove());
        }
    }
}

/// Divides a batch into parts that each fit into a message, as far as its messages do.
pub fn parts(batch: DataBatch) -> Vec<DataBatch> {
    let part = |messages| DataBatch {
        sequence: batch.sequence,
        batch_number: batch.batch_number,
        iteration: batch.iteration,
        instead_of: batch.instead_of.clone(),
        messages,
    };
    let (mut parts, mut messages, mut bytes) = (Vec::new(), Vec::new(), 0);
    for message in batch.messages {
        bytes += size(&message);
        if bytes > PART_BYTES_MAX && !messages.is_empty() {
            parts.push(part(std::mem::take(&mut messages)));
            bytes = size(&message);
        }
        messages.push(message);
    }
    parts.push(part(messages));
    parts
}

/// Returns the room that a batch takes, which has at least one message \[bytes\].
fn room(batch: &[TopicMessage]) -> usize {
    BATCH_BYTES + batch.iter().map(size).sum::<usize>()
}

fn room_again(said: &SaidAgain) -> usize {
    let messages = said.values().flat_map(|(_, said)| said);
    messages.map(size).sum()
}

fn size(message: &TopicMessage) -> usize {
    MESSAGE_BYTES + message.topic.len() + message.kind.len() + message.body.len()
}

#[cfg(test)]
mod tests;
