//! [`TextQueue`]: commands that bring models as texts, which a thread of its own reads, and what
//! the same connections command after them.
//!
//! No step waits for a text: a command is handled once it was read, in a later round. While time
//! runs, each key has a share of the time that models cost those who step, by the length of their
//! texts; what exceeds it is not refused but waits. Connections take turns, and each has its
//! commands done in their order.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use lockstep::PrimaryInput;
use protocol::{Command, RequestId, RoutingId};

/// Share of the time of those who step that the models of one key may take.
const SHARE: f64 = 0.04;
/// Time that they may take at once, after some time without \[s\].
const AT_ONCE_S: f64 = 0.03;
/// Time that a tag, or a pair of MessagePack, takes at most, and a byte of any text \[s\].
const TAG_S: f64 = 3e-6;
const BYTE_S: f64 = 1e-8;
/// The most commands that wait, and the most bytes of their texts.
const WAITING_MAX: usize = 1024;
const BYTES_MAX: usize = 64 << 20;
/// The most keys whose time is counted.
const KEYS_MAX: usize = 4096;

/// Number of a text that is being read.
pub(super) type Ticket = u64;

/// Commands that wait, and the time that each key has left.
#[derive(Default)]
pub(super) struct TextQueue {
    left: BTreeMap<String, Left>,
    /// Commands by connection, oldest first, and whose turn is next.
    waiting: BTreeMap<RoutingId, VecDeque<Waiting>>,
    turns: VecDeque<RoutingId>,
    count: usize,
    bytes: usize,
    /// The text that is being read; one at a time, as reading takes hundreds of times its bytes.
    being_read: Option<Ticket>,
    next_ticket: Ticket,
}

/// Time that a key has left; what was read last may have taken more than there was.
#[derive(Clone, Copy)]
struct Left {
    seconds: f64,
    at: Instant,
}

struct Waiting {
    key: String,
    request: RequestId,
    cost: Cost,
    state: State,
}

enum State {
    /// Its text is to be read.
    Unread(PrimaryInput),
    /// It is with the thread that reads.
    BeingRead(Ticket),
    /// It can be handled.
    Ready(PrimaryInput),
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
    pub(super) fn admit(&mut self, key: &str, input: PrimaryInput) -> Admission {
        let PrimaryInput::Client { from, message, .. } = &input else {
            return Admission::Now(input);
        };
        let (command, request) = (&message.command, message.request);
        let is_urgent = matches!(
            command,
            Command::Disconnect { .. } | Command::Stop | Command::Interrupt | Command::Pause
        );
        let keeps_order = !command.only_asks() && !is_urgent;
        let waits = keeps_order && self.waiting.contains_key(from);
        let brings_texts = input.brings_texts();
        if !waits && !brings_texts {
            return Admission::Now(input);
        }
        let cost = Cost::of(command);
        if self.count >= WAITING_MAX || self.bytes + cost.bytes > BYTES_MAX {
            return Admission::Full(input);
        }
        (self.count, self.bytes) = (self.count + 1, self.bytes + cost.bytes);
        let from = from.clone();
        if !self.waiting.contains_key(&from) {
            self.turns.push_back(from.clone());
        }
        self.waiting.entry(from).or_default().push_back(Waiting {
            key: key.to_owned(),
            request,
            cost,
            state: if brings_texts {
                State::Unread(input)
            } else {
                State::Ready(input)
            },
        });
        Admission::Later
    }

    /// Returns the next command whose text is to be read, unless one is being read or, while time
    /// runs, its key has nothing left; `all` are in turn else.
    pub(super) fn next_unread(
        &mut self,
        now: Instant,
        all: bool,
    ) -> Option<(Ticket, PrimaryInput)> {
        if self.being_read.is_some() {
            return None;
        }
        for _ in 0..self.turns.len() {
            let from = self.turns.pop_front()?;
            self.turns.push_back(from.clone());
            let first = self.waiting.get(&from).and_then(VecDeque::front);
            let Some((key, cost)) = first.and_then(Waiting::unread) else {
                continue;
            };
            if !self.spend(&key, cost, now) && !all {
                continue;
            }
            let first = self.waiting.get_mut(&from).and_then(VecDeque::front_mut)?;
            let ticket = self.next_ticket;
            self.next_ticket += 1;
            self.being_read = Some(ticket);
            let state = std::mem::replace(&mut first.state, State::BeingRead(ticket));
            if let State::Unread(input) = state {
                return Some((ticket, input));
            }
        }
        None
    }

    /// Takes back a command whose text was read; nothing is done if it was dropped meanwhile.
    pub(super) fn on_read(&mut self, ticket: Ticket, input: PrimaryInput) {
        if self.being_read == Some(ticket) {
            self.being_read = None;
        }
        let mut firsts = self.waiting.values_mut().filter_map(VecDeque::front_mut);
        let is_it =
            |first: &&mut Waiting| matches!(first.state, State::BeingRead(one) if one == ticket);
        if let Some(first) = firsts.find(is_it) {
            first.state = State::Ready(input);
        }
    }

    /// Returns the next command that need not wait any more, with its key.
    pub(super) fn next(&mut self) -> Option<(String, PrimaryInput)> {
        for _ in 0..self.turns.len() {
            let from = self.turns.pop_front()?;
            let queue = self.waiting.get_mut(&from)?;
            let taken = queue.pop_front_if(|first| matches!(first.state, State::Ready(_)));
            if queue.is_empty() {
                self.waiting.remove(&from);
            } else {
                self.turns.push_back(from);
            }
            if let Some(Waiting {
                key,
                cost,
                state: State::Ready(input),
                ..
            }) = taken
            {
                (self.count, self.bytes) = (self.count - 1, self.bytes - cost.bytes);
                return Some((key, input));
            }
        }
        None
    }

    /// Drops all that waits, and returns whose commands these are.
    pub(super) fn drop_all(&mut self) -> Vec<(RoutingId, RequestId)> {
        self.turns.clear();
        (self.count, self.bytes) = (0, 0);
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let requests = waiting.flat_map(|(from, queue)| {
            let requests = queue.into_iter().map(|waiting| waiting.request);
            requests.map(move |request| (from.clone(), request))
        });
        requests.collect()
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

    /// Returns how long it takes until another text may be read; `None` if none waits for time to
    /// pass.
    pub(super) fn due_in(&self, now: Instant) -> Option<Duration> {
        if self.being_read.is_some() {
            return None;
        }
        let firsts = self.waiting.values().filter_map(VecDeque::front);
        let times = firsts.filter_map(Waiting::unread).map(|(key, _)| {
            let missing = self.left.get(&key).map_or(0.0, |left| -left.now(now));
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
        let is_left = left.seconds > 0.0;
        if is_left {
            left.seconds -= cost.seconds;
        }
        is_left
    }
}

impl Waiting {
    /// Returns its key and what it costs if its text is to be read.
    fn unread(&self) -> Option<(String, Cost)> {
        let is_unread = matches!(self.state, State::Unread(_));
        is_unread.then(|| (self.key.clone(), self.cost))
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

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::client_to_primary::SpawnRequest;
    use protocol::{ClientToPrimary, SessionId};

    fn input(from: &str, request: u64, command: Command) -> PrimaryInput {
        PrimaryInput::Client {
            from: RoutingId::from(from),
            session: SessionId::UNKNOWN,
            message: ClientToPrimary {
                request: RequestId(request),
                command,
            },
            texts: Vec::new(),
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

    /// Reads what may be read, and returns what can be handled then.
    fn read(queue: &mut TextQueue, now: Instant, all: bool) -> Vec<u64> {
        let mut came = Vec::new();
        loop {
            while let Some((_, input)) = queue.next() {
                came.push(request(&input));
            }
            let Some((ticket, input)) = queue.next_unread(now, all) else {
                return came;
            };
            queue.on_read(ticket, input);
        }
    }

    #[test]
    fn texts_of_a_key_take_their_share_and_the_others_wait() {
        let (mut queue, start) = (TextQueue::default(), Instant::now());
        for number in 0..5 {
            queue.admit("eve", spawn("e1", number, 5_000));
        }
        assert_eq!(read(&mut queue, start, false), [0, 1]);
        queue.admit("ann", spawn("a1", 10, 5_000));
        assert_eq!(
            read(&mut queue, start, false),
            [10],
            "another key has its own share"
        );
        queue.admit("eve", spawn("e2", 20, 5_000));
        assert!(
            read(&mut queue, start, false).is_empty(),
            "another connection has not"
        );
        // Each connection has its turn, and its commands stay in order.
        let mut came = Vec::new();
        let mut now = start;
        while came.len() < 4 {
            now += queue.due_in(now).unwrap();
            came.extend(read(&mut queue, now, false));
        }
        let of_first: Vec<u64> = came.iter().copied().filter(|one| *one < 10).collect();
        assert_eq!(of_first, [2, 3, 4]);
        assert!(came[..2].contains(&20), "{came:?}");
        let took = now.duration_since(start).as_secs_f64();
        assert!((1.1..1.6).contains(&took), "{took}");
        assert!(queue.is_empty() && queue.due_in(now).is_none());
    }

    #[test]
    fn a_command_waits_for_the_texts_before_it_and_nobody_else_does() {
        let (mut queue, now) = (TextQueue::default(), Instant::now());
        let is_now =
            |queue: &mut TextQueue, input| matches!(queue.admit("", input), Admission::Now(_));
        assert!(!is_now(&mut queue, spawn("a", 1, 1)), "it is to be read");
        let (ticket, first) = queue.next_unread(now, false).unwrap();
        let model = || "m".to_owned();
        assert!(!is_now(
            &mut queue,
            input("a", 3, Command::Remove { model: model() })
        ));
        assert!(is_now(&mut queue, input("a", 4, Command::Snapshot)));
        assert!(is_now(
            &mut queue,
            input("b", 5, Command::Step { count: 1 })
        ));
        for command in [Command::Pause, Command::Stop, Command::Interrupt] {
            assert!(
                is_now(&mut queue, input("a", 6, command)),
                "it waits for nothing"
            );
        }
        assert!(queue.next().is_none(), "the text is being read");
        assert!(!is_now(&mut queue, spawn("b", 7, 1)));
        assert!(
            queue.next_unread(now, true).is_none(),
            "one is read at a time"
        );
        queue.on_read(ticket, first);
        let (other, second) = queue.next_unread(now, false).unwrap();
        let came: Vec<u64> = std::iter::from_fn(|| queue.next())
            .map(|(_, input)| request(&input))
            .collect();
        assert_eq!(came, [1, 3]);
        queue.on_read(other, second);
        assert_eq!(read(&mut queue, now, false), [7]);
    }

    #[test]
    fn the_pending_texts_of_a_disconnected_key_alone_are_dropped() {
        let (mut queue, now) = (TextQueue::default(), Instant::now());
        for (key, from) in [("eve", "e1"), ("eve", "e2"), ("ann", "a1")] {
            for number in 0..4 {
                queue.admit(key, spawn(from, number, 20_000));
            }
        }
        let (ticket, input) = queue.next_unread(now, true).unwrap();
        assert_eq!(queue.drop_of("eve"), 8);
        assert_eq!((queue.count, queue.bytes), (4, 80_000));
        queue.on_read(ticket, input);
        assert_eq!(read(&mut queue, now, true), [0, 1, 2, 3]);
        assert!(queue.is_empty() && queue.bytes == 0);
    }

    #[test]
    fn waiting_clients_are_known_at_the_end_while_a_text_is_read() {
        let (mut queue, now) = (TextQueue::default(), Instant::now());
        for number in 0..3 {
            queue.admit("", spawn("a", number, 1));
        }
        let (ticket, input) = queue.next_unread(now, true).unwrap();
        let left: Vec<u64> = queue.drop_all().iter().map(|(_, one)| one.0).collect();
        assert_eq!(left, [0, 1, 2]);
        queue.on_read(ticket, input);
        assert!(queue.is_empty() && queue.next().is_none());
    }

    #[test]
    fn so_many_wait_and_no_more() {
        let mut queue = TextQueue::default();
        let full = (0..2_000).filter(|number| {
            let admission = queue.admit("", spawn("a", *number, 1));
            matches!(admission, Admission::Full(_))
        });
        assert_eq!(full.count(), 2_000 - WAITING_MAX);
    }
}
