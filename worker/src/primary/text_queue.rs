//! [`TextQueue`]: texts of models that wait to be read, because their keys had many read lately.
//!
//! A text is read by the thread that steps, whatever becomes of it. While time runs, each key has a
//! share of that thread's time; what exceeds it is not refused but waits, with all that the same
//! connection commands after it. Connections of a key take turns.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use lockstep::PrimaryInput;
use protocol::{Command, RoutingId};

/// Share of the time of the thread that steps that the texts of one key may take.
const SHARE: f64 = 0.04;
/// Time that they may take at once, after some time without \[s\].
const AT_ONCE_S: f64 = 0.03;
/// Time that reading a tag, or a pair of MessagePack, takes at most, and a byte of any text \[s\].
const TAG_S: f64 = 3e-6;
const BYTE_S: f64 = 1e-8;
/// The most commands that wait, and the most bytes of their texts.
const WAITING_MAX: usize = 1024;
const BYTES_MAX: usize = 64 << 20;
/// The most keys whose time is counted.
const KEYS_MAX: usize = 4096;

/// Texts that wait, and the time that each key has left.
#[derive(Default)]
pub(super) struct TextQueue {
    left: BTreeMap<String, Left>,
    /// Commands by connection, oldest first, and whose turn is next.
    waiting: BTreeMap<RoutingId, VecDeque<Waiting>>,
    turns: VecDeque<RoutingId>,
    count: usize,
    bytes: usize,
}

/// Time that a key has left; what was read last may have taken more than there was.
#[derive(Clone, Copy)]
struct Left {
    seconds: f64,
    at: Instant,
}

struct Waiting {
    key: String,
    cost: Cost,
    input: PrimaryInput,
}

/// Time that a command takes, and the bytes of its text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cost {
    seconds: f64,
    bytes: usize,
}

/// Outcome for a command that comes.
pub(super) enum Admission {
    /// It is handled now.
    Now(PrimaryInput),
    /// It waits.
    Later,
    /// Too many wait.
    Full(PrimaryInput),
}

impl TextQueue {
    /// Takes in a command of a key, or hands it back to be handled now.
    pub(super) fn admit(&mut self, key: &str, input: PrimaryInput, now: Instant) -> Admission {
        let Some((from, command)) = of_client(&input) else {
            return Admission::Now(input);
        };
        let cost = Cost::of(command);
        let is_urgent = matches!(command, Command::Disconnect { .. } | Command::Stop);
        let keeps_order = !command.only_asks() && !is_urgent;
        let waits = keeps_order && self.waiting.contains_key(from);
        if !waits && (cost == Cost::default() || self.spend(key, cost, now)) {
            return Admission::Now(input);
        }
        if self.count >= WAITING_MAX || self.bytes + cost.bytes > BYTES_MAX {
            return Admission::Full(input);
        }
        (self.count, self.bytes) = (self.count + 1, self.bytes + cost.bytes);
        let from = from.clone();
        if !waits {
            self.turns.push_back(from.clone());
        }
        let key = key.to_owned();
        let waiting = Waiting { key, cost, input };
        self.waiting.entry(from).or_default().push_back(waiting);
        Admission::Later
    }

    /// Returns the next command that need not wait any more, with its key; `all` of them in the
    /// end.
    pub(super) fn next(&mut self, now: Instant, all: bool) -> Option<(String, PrimaryInput)> {
        for _ in 0..self.turns.len() {
            let from = self.turns.pop_front()?;
            let first = self.waiting.get(&from).and_then(VecDeque::front);
            let first = first.map(|waiting| (waiting.key.clone(), waiting.cost));
            let is_due = first.is_some_and(|(key, cost)| all || self.spend(&key, cost, now));
            let queue = self.waiting.get_mut(&from)?;
            let taken = if is_due { queue.pop_front() } else { None };
            if queue.is_empty() {
                self.waiting.remove(&from);
            } else {
                self.turns.push_back(from);
            }
            if let Some(Waiting { key, cost, input }) = taken {
                (self.count, self.bytes) = (self.count - 1, self.bytes - cost.bytes);
                return Some((key, input));
            }
        }
        None
    }

    /// Drops all that waits of a key; returns how many commands these are.
    pub(super) fn drop_of(&mut self, key: &str) -> usize {
        let before = self.count;
        self.waiting.retain(|_, queue| {
            queue.retain(|waiting| {
                let stays = waiting.key != key;
                if !stays {
                    (self.count, self.bytes) = (self.count - 1, self.bytes - waiting.cost.bytes);
                }
                stays
            });
            !queue.is_empty()
        });
        self.turns.retain(|from| self.waiting.contains_key(from));
        before - self.count
    }

    /// Tells whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns how long it takes until another command need not wait any more; `None` if none does.
    pub(super) fn due_in(&self, now: Instant) -> Option<Duration> {
        let firsts = self.waiting.values().filter_map(VecDeque::front);
        let times = firsts.map(|waiting| {
            let missing = self
                .left
                .get(&waiting.key)
                .map_or(0.0, |left| -left.now(now));
            Duration::from_secs_f64(missing.max(0.0) / SHARE) + Duration::from_millis(1)
        });
        times.min()
    }

    /// Takes a cost from what a key has left; tells whether there was something left.
    fn spend(&mut self, key: &str, cost: Cost, now: Instant) -> bool {
        if self.left.len() >= KEYS_MAX {
            self.left.retain(|_, left| left.now(now) < AT_ONCE_S);
        }
        let left = self.left.entry(key.to_owned()).or_insert(Left {
            seconds: AT_ONCE_S,
            at: now,
        });
        *left = Left {
            seconds: left.now(now),
            at: now,
        };
        let is_left = left.seconds > 0.0 || cost == Cost::default();
        if is_left {
            left.seconds -= cost.seconds;
        }
        is_left
    }
}

impl Left {
    fn now(self, now: Instant) -> f64 {
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * SHARE;
        (self.seconds + gained).min(AT_ONCE_S)
    }
}

impl Cost {
    fn of(command: &Command) -> Self {
        let text = match command {
            Command::Spawn(request) => request.sdf.as_bytes(),
            Command::CallService { body, .. } => body,
            _ => return Self::default(),
        };
        // As many parts as there are tags, and one before them.
        let tags = text.split(|byte| *byte == b'<').count() - 1;
        Self {
            seconds: tags as f64 * TAG_S + text.len() as f64 * BYTE_S,
            bytes: text.len(),
        }
    }
}

fn of_client(input: &PrimaryInput) -> Option<(&RoutingId, &Command)> {
    match input {
        PrimaryInput::Client { from, message, .. } => Some((from, &message.command)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::client_to_primary::SpawnRequest;
    use protocol::{ClientToPrimary, RequestId, SessionId};

    fn input(from: &str, request: u64, command: Command) -> PrimaryInput {
        PrimaryInput::Client {
            from: RoutingId::from(from),
            session: SessionId::UNKNOWN,
            message: ClientToPrimary {
                request: RequestId(request),
                command,
            },
        }
    }

    fn spawn(from: &str, request: u64, tags: usize) -> PrimaryInput {
        let sdf = "<".repeat(tags);
        let request_text = SpawnRequest {
            sdf,
            ..SpawnRequest::default()
        };
        input(from, request, Command::Spawn(Box::new(request_text)))
    }

    fn request(input: &PrimaryInput) -> u64 {
        match input {
            PrimaryInput::Client { message, .. } => message.request.0,
            _ => panic!("it is of a client"),
        }
    }

    #[test]
    fn texts_of_a_key_take_their_share_and_the_others_wait() {
        let (mut queue, start) = (TextQueue::default(), Instant::now());
        let mut is_now = |key: &str, from: &str, number| {
            let admission = queue.admit(key, spawn(from, number, 5_000), start);
            matches!(admission, Admission::Now(_))
        };
        let firsts: Vec<bool> = (0..5).map(|number| is_now("eve", "e1", number)).collect();
        assert_eq!(firsts, [true, true, false, false, false]);
        assert!(is_now("ann", "a1", 10), "another key has its own share");
        assert!(!is_now("eve", "e2", 20), "another connection has not");
        // Each connection has its turn, and its commands stay in order.
        let mut came = Vec::new();
        let mut now = start;
        while came.len() < 4 {
            now += queue.due_in(now).unwrap();
            came.extend(
                queue
                    .next(now, false)
                    .iter()
                    .map(|(_, input)| request(input)),
            );
        }
        assert_eq!(came, [2, 20, 3, 4]);
        let took = now.duration_since(start).as_secs_f64();
        assert!((1.1..1.6).contains(&took), "{took}");
        assert!(queue.next(now, true).is_none() && queue.due_in(now).is_none());
    }

    #[test]
    fn commands_after_a_text_wait_for_it_and_questions_do_not() {
        let (mut queue, now) = (TextQueue::default(), Instant::now());
        let mut is_now = |input| matches!(queue.admit("", input, now), Admission::Now(_));
        assert!(is_now(spawn("a", 1, 20_000)));
        assert!(!is_now(spawn("a", 2, 1)));
        let model = "m".to_owned();
        assert!(!is_now(input("a", 3, Command::Remove { model })));
        assert!(is_now(input("a", 4, Command::Snapshot)));
        assert!(is_now(input("b", 5, Command::Pause)));
        assert!(
            is_now(input("a", 6, Command::Stop)),
            "who stops does not wait"
        );
        let mut next = || queue.next(now, true).map(|(_, input)| request(&input));
        assert_eq!([next(), next(), next()], [Some(2), Some(3), None]);
    }

    #[test]
    fn what_waits_of_a_key_is_dropped_and_that_of_others_stays() {
        let (mut queue, now) = (TextQueue::default(), Instant::now());
        for (key, from) in [("eve", "e1"), ("eve", "e2"), ("ann", "a1")] {
            for number in 0..4 {
                queue.admit(key, spawn(from, number, 20_000), now);
            }
        }
        // One of each key was read at once.
        assert_eq!(queue.drop_of("eve"), 7);
        assert_eq!((queue.count, queue.bytes), (3, 60_000));
        let left: Vec<_> = std::iter::from_fn(|| queue.next(now, true)).collect();
        assert!(left.len() == 3 && left.iter().all(|(key, _)| key == "ann"));
        assert!(queue.is_empty() && queue.bytes == 0);
    }

    #[test]
    fn so_many_wait_and_no_more() {
        let (mut queue, now) = (TextQueue::default(), Instant::now());
        queue.admit("", spawn("a", 0, 20_000), now);
        let full = (0..2_000).filter(|number| {
            let admission = queue.admit("", spawn("a", *number, 1), now);
            matches!(admission, Admission::Full(_))
        });
        assert_eq!(full.count(), 2_000 - WAITING_MAX);
    }
}
