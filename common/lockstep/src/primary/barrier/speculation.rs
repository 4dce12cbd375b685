//! [`Speculation`]: predictable steps that secondaries do ahead, with rollback, and the primary
//! then goes through one by one.
//!
//! A message with a step may open a window: every secondary does so many predictable steps after it
//! too, and answers to them in parts. Meanwhile the primary makes each step as ever, from what the
//! last answers hold. While that is the predicted one, its answers are here already or come soon;
//! when it is another, it is published in a message of its own, and secondaries that went further
//! roll back.
//!
//! **Invariant:** an answer counts only for the very step that was to be published, so that a run
//! is the same however far anyone goes ahead.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{StepAck, StepsAhead};
use protocol::{LinkPoses, PerformerId, SessionTime};

use crate::peer_numbers::{ByPeer, PeerNumber};
use crate::primary::barrier::round::Round;
use crate::primary::barrier::state_reader::AckError;
use crate::primary::barrier::window_parts::{self, WindowParts};
use crate::primary::peers::seats::Seats;

/// Longest time that the work on a message's steps should take. The way of the message is not part
/// of it: that is what a window hides.
pub const WINDOW_MAX: Duration = Duration::from_millis(128);

/// Longest time that the work on the steps of a window should take between two rollback points:
/// when something is asked of the run, as much may have to be replayed.
pub const REPLAY_MAX: Duration = Duration::from_millis(64);

/// Longest time that the work on a message's steps should take while others wait for the next
/// message: observers see links once per message, which is 30 times per second, and what leaves the
/// run for ROS 2 goes once the next message says that it counts.
pub(crate) const WATCHED_WINDOW_MAX: Duration = Duration::from_millis(32);

/// Number of steps in a row that must be predictable before more of them are expected.
const PREDICTABLE_FIRST: u32 = 2;
/// Size of the first window \[steps\]: fewer would not pay for the state that is kept before them.
const STEPS_FIRST: u32 = 8;
/// Number of windows after which it is judged whether they pay.
const WINDOWS_JUDGED: u32 = 8;
/// Greatest share of the time of single steps that windows may take and still pay.
const WORTH: f64 = 0.95;
/// Factor by which the first window may take longer, per step, before no other is tried; a busy
/// machine makes one of them slower than it is.
const LOSS_MAX: f64 = 1.5;
/// Number of windows that paid after which the time of a single step is measured again, for how
/// many steps, and the weight of each of those: a world that has come to rest is not what it was.
const WINDOWS_TRUSTED: u32 = 64;
const STEPS_MEASURED: u32 = 4;
const WEIGHT_MEASURED: f64 = 0.5;
/// Weight of any other step.
const WEIGHT: f64 = 1.0 / 16.0;
/// Number of steps, at least and at most, for which no window is opened after it was in vain; four
/// times as many each time.
const PAUSE: (u32, u32) = (16, 1 << 14);

/// Steps done ahead, and how many more may be.
#[derive(Debug, Default)]
pub(crate) struct Speculation {
    /// The number of the last message that published a step.
    batch: u64,
    /// The last step, if a predictable one may follow it.
    last: Option<Step>,
    /// Answers to steps done ahead.
    answers: ByPeer<Answers>,
    /// Memory of answers that were taken.
    spare: Vec<(PeerNumber, StepAck)>,
    /// Answers that are still to come.
    parts: WindowParts,
    ghosts: Ghosts,
    times: MessageTimes,
    /// True if the last step is told of before the next one is made: with the next input.
    rests: bool,
    window: Window,
}

/// Answers of somebody to steps done ahead, in order. They stay in the lists in which they came:
/// an answer is large.
#[derive(Debug, Default)]
struct Answers {
    /// Those of parts that have any left.
    parts: VecDeque<std::vec::IntoIter<StepAck>>,
    count: usize,
}

impl Answers {
    fn clear(&mut self) {
        self.parts.clear();
        self.count = 0;
    }

    fn len(&self) -> usize {
        self.count
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn push_part(&mut self, acks: Vec<StepAck>) {
        if !acks.is_empty() {
            self.count += acks.len();
            self.parts.push_back(acks.into_iter());
        }
    }

    fn front(&self) -> Option<&StepAck> {
        self.parts.front()?.as_slice().first()
    }

    fn pop_front(&mut self) -> Option<StepAck> {
        let part = self.parts.front_mut()?;
        let ack = part.next();
        if part.len() == 0 {
            self.parts.pop_front();
        }
        self.count -= 1;
        ack
    }
}

/// Poses of ghosts, which secondaries leave where they are in a window.
#[derive(Debug, Default)]
struct Ghosts {
    /// Poses in the last message.
    placed: Vec<LinkPoses>,
    /// The last poses of those that have moved since.
    moved: BTreeMap<PerformerId, LinkPoses>,
}

impl Ghosts {
    /// Takes the poses that a step would have placed.
    fn leave(&mut self, poses: Vec<LinkPoses>) {
        for one in poses {
            let placed = place_of(&self.placed, one.performer);
            if placed.is_ok_and(|place| self.placed[place] == one) {
                self.moved.remove(&one.performer);
            } else {
                self.moved.insert(one.performer, one);
            }
        }
    }
}

/// Durations of the steps of the last message, from what its parts took.
#[derive(Debug, Default)]
struct MessageTimes {
    /// Time after which each answered, and duration, of each step that is gone through.
    answered: ByPeer<Duration>,
    each: Duration,
    /// Time when answers were here that the primary had waited for, the number of steps that they
    /// were for, and the time that steps of later parts were said to take since.
    since: SessionTime,
    covered: u32,
    given: Duration,
    /// True for the steps of the first part, whose time holds the way of the message.
    is_first: bool,
}

/// Circumstances of a step that is about to be published.
#[derive(Debug)]
pub(crate) struct Terms {
    /// Most steps that a window may ever have; 0 switches speculation off.
    pub(crate) allowed: u32,
    /// Longest time that the work on its steps should take.
    pub(crate) time: Duration,
    /// Time from one step to the next that the pace asks for; 0 for as fast as possible.
    pub(crate) period: Duration,
    /// True if the step advances time and brings neither commands nor snapshots.
    pub(crate) is_plain: bool,
    /// True if the pace does not hold it up.
    pub(crate) is_late: bool,
}

/// Controller of the window: it grows while predictions hold, and closes where it does not pay.
///
/// An example, with steps of 1 ms by themselves, of which 0.4 ms are work. After 4 steps,
/// which are measured, a message opens a window of 8. All 8 hold, so the next has 16, then 32, 64,
/// 128, 256, and the one after it 319 and not 512, since 1 + 319 steps of 0.4 ms are all that fits
/// into [`WINDOW_MAX`]. In that one a performer changes cell after 5 steps: the other 314 are
/// rolled back, the next window has 5, and from then on they grow by 1 and an eighth, to 6, 7, 8
/// and 10. If nothing of that one holds, the next has 5 again.
///
/// The time of eight windows, with what it took to roll back, is compared with that of their steps
/// by themselves. If steps took 1 ms in windows too, the eighth window would be the last for 16
/// steps, then for 64, 256 and so on: there is less to wait for than the kept state costs.
#[derive(Debug)]
struct Window {
    /// Predictable steps in a row.
    streak: u32,
    /// Size of the next window \[steps\].
    steps: u32,
    /// True if it grows by little since it was too large.
    is_careful: bool,
    /// Number of steps for which no window is opened, and that of the next time.
    pause: u32,
    next_pause: u32,
    last: LastWindow,
    /// Duration of a step by itself \[s\].
    alone: f64,
    /// Work on a step of whoever works longest on it, by its own clock \[s\].
    work: f64,
    own: OwnWork,
    unjudged: Unjudged,
    remeasured: Remeasured,
}

/// Windows since it was judged whether they pay.
#[derive(Clone, Copy, Debug, Default)]
struct Unjudged {
    windows: u32,
    /// Steps that they brought, and the time of these and of what was rolled back \[s\].
    steps: u32,
    took: f64,
    /// True if the last message rolls back a window.
    rolls_back: bool,
}

/// The last message.
#[derive(Clone, Copy, Debug)]
struct LastWindow {
    published_at: SessionTime,
    /// Time when its last step was complete.
    done_at: SessionTime,
    /// Size of its window, and how many steps of it were as predicted.
    opened: u32,
    held: u32,
    /// Time since its publication in which the primary waited for something to come, if the driver
    /// tells that.
    idle: Option<Duration>,
    /// Time that was left for the primary's own work when its last step was complete.
    own: Duration,
}

/// Work of the primary itself: it reads the answers of all, and goes through the steps one by one.
#[derive(Clone, Copy, Debug, Default)]
struct OwnWork {
    /// Work on a message with a single step \[s\].
    message: f64,
    /// Work that each further step of a message adds \[s\].
    step: f64,
}

/// Progress of measuring the duration of a single step, for the first time or again.
#[derive(Clone, Copy, Debug)]
struct Remeasured {
    /// Windows since the last measurement.
    windows: u32,
    /// Number of steps that are still measured.
    steps_left: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            streak: 0,
            steps: STEPS_FIRST,
            is_careful: false,
            pause: 0,
            next_pause: PAUSE.0,
            last: LastWindow {
                published_at: SessionTime(0),
                done_at: SessionTime(0),
                opened: 0,
                held: 0,
                idle: None,
                own: Duration::ZERO,
            },
            alone: 0.0,
            work: 0.0,
            own: OwnWork::default(),
            unjudged: Unjudged::default(),
            remeasured: Remeasured {
                windows: 0,
                steps_left: STEPS_MEASURED,
            },
        }
    }
}

impl Window {
    /// Notes whether the step that is published is the predicted one, whether it rolls back what
    /// was done ahead, and whether the last one was not held up by the pace.
    fn note(&mut self, is_predicted: bool, rolls_back: bool, is_late: bool, now: SessionTime) {
        self.streak = if is_predicted {
            self.streak.saturating_add(1)
        } else {
            0
        };
        let LastWindow {
            published_at,
            done_at,
            opened,
            held,
            own,
            ..
        } = self.last;
        // Without what time stood still, for whatever reason.
        let took = done_at.since(published_at).as_secs_f64();
        self.last.published_at = now;
        self.last.idle = self.last.idle.map(|_| Duration::ZERO);
        self.note_own_work(own, opened, held);
        self.pause = self.pause.saturating_sub(1);
        let rolled_back = std::mem::replace(&mut self.unjudged.rolls_back, rolls_back);
        if opened == 0 {
            if rolled_back {
                self.unjudged.took += (took - self.alone).max(0.0);
            } else if is_predicted && is_late {
                self.note_alone(took);
            }
            return;
        }
        if rolls_back {
            // That nothing held says little of how long the next will: what comes, comes by chance.
            self.steps = if held > 0 { held } else { opened / 2 };
            self.is_careful = true;
        } else if self.is_careful {
            self.steps += 1 + self.steps / 8;
        } else {
            self.steps *= 2;
        }
        self.judge(took, held + 1);
    }

    /// Takes the duration of a step by itself \[s\].
    fn note_alone(&mut self, took: f64) {
        let is_measured = self.remeasured.steps_left > 0;
        self.remeasured.steps_left = self.remeasured.steps_left.saturating_sub(1);
        let weight = if is_measured { WEIGHT_MEASURED } else { WEIGHT };
        smooth(&mut self.alone, took, weight);
    }

    /// Takes the time that the one who worked longest on a step worked on it.
    fn note_work(&mut self, longest: Duration) {
        smooth(&mut self.work, longest.as_secs_f64(), WEIGHT);
    }

    /// Takes the work of the primary on a message, and on so many steps of its window that held.
    fn note_own_work(&mut self, own: Duration, opened: u32, held: u32) {
        let took = own.as_secs_f64();
        if opened == 0 {
            smooth(&mut self.own.message, took, WEIGHT);
        } else if self.own.message > 0.0 && held > 0 {
            let more = (took - self.own.message).max(0.0);
            smooth(&mut self.own.step, more / f64::from(held), WEIGHT);
        }
    }

    /// Notes that the last step of a message is complete by now.
    fn note_done(&mut self, now: SessionTime) {
        let last = &mut self.last;
        last.done_at = now;
        let took = now.since(last.published_at);
        let own = last.idle.map(|idle| took.saturating_sub(idle));
        last.own = own.unwrap_or_default();
    }

    /// Takes the duration of a window \[s\] and the number of steps that it brought, and judges
    /// whether windows pay.
    fn judge(&mut self, took: f64, steps: u32) {
        let unjudged = &mut self.unjudged;
        unjudged.windows += 1;
        unjudged.steps += steps;
        unjudged.took += took;
        self.remeasured.windows += 1;
        let alone = self.alone * f64::from(unjudged.steps);
        let is_broken = unjudged.rolls_back;
        if unjudged.windows == 1 && !is_broken && unjudged.took > alone * LOSS_MAX {
            return self.hold_off();
        }
        if unjudged.windows < WINDOWS_JUDGED {
            return;
        }
        if unjudged.took > alone * WORTH {
            return self.hold_off();
        }
        self.unjudged = Unjudged {
            rolls_back: is_broken,
            ..Unjudged::default()
        };
        self.next_pause = PAUSE.0;
        if self.remeasured.windows >= WINDOWS_TRUSTED {
            self.remeasured = Remeasured {
                windows: 0,
                steps_left: STEPS_MEASURED,
            };
        }
    }

    /// Opens no window for a while: longer each time.
    fn hold_off(&mut self) {
        self.pause = self.next_pause;
        self.next_pause = (self.next_pause * 4).min(PAUSE.1);
        self.steps = STEPS_FIRST;
        self.is_careful = false;
        self.unjudged = Unjudged {
            rolls_back: self.unjudged.rolls_back,
            ..Unjudged::default()
        };
    }

    /// Returns the size of the window that the message may open: no step of it comes later than
    /// after the time that its work may take, also once the run keeps to its pace again.
    fn size(&mut self, terms: &Terms) -> u32 {
        self.last.opened = 0;
        self.last.held = 0;
        let is_held_off = self.pause > 0 || self.remeasured.steps_left > 0;
        let is_ready = self.streak >= PREDICTABLE_FIRST && !is_held_off && self.alone > 0.0;
        let each = (self.work + self.own.step).max(terms.period.as_secs_f64());
        let in_time = (terms.time.as_secs_f64() / each.max(1e-9)) as u32;
        self.steps = self.steps.clamp(1, terms.allowed.max(1));
        if is_ready {
            self.steps.min(in_time.saturating_sub(1))
        } else {
            0
        }
    }
}

fn smooth(mean: &mut f64, value: f64, weight: f64) {
    *mean = if *mean == 0.0 {
        value
    } else {
        *mean + (value - *mean) * weight
    };
}

impl Speculation {
    /// Drops what was done ahead: the next step is published.
    pub(crate) fn forget(&mut self) {
        self.last = None;
        self.answers.clear();
        self.parts.clear();
    }

    /// Keeps the answers of somebody to steps that it has done ahead; `goes_on` says whether more
    /// of them follow.
    pub(super) fn keep(
        &mut self,
        (sender, step): (PeerNumber, &Step),
        answers: Vec<StepAck>,
        goes_on: bool,
        now: SessionTime,
    ) {
        self.parts
            .begin((sender, step), (answers.len(), goes_on), now);
        let known = self.answers.entry(sender);
        known.clear();
        known.push_part(answers);
    }

    /// Keeps further answers of somebody to steps of the window, or drops them if it is over;
    /// returns whether they were asked for.
    ///
    /// # Errors
    /// Fails when they are not those of the steps after the last.
    pub(super) fn keep_part(
        &mut self,
        sender: PeerNumber,
        part: &mut StepsAhead,
        awaited: &Seats,
        now: SessionTime,
    ) -> Result<bool, AckError> {
        let is_of_window = part.batch_number == self.batch && self.last.is_some();
        if !is_of_window {
            return Ok(part.batch_number <= self.batch);
        }
        if !self.parts.take(sender, part, now)? {
            // It came twice, or one before it was lost.
            return Ok(true);
        }
        let was_awaited = self.is_awaited(awaited);
        let steps = part.acks.len() as u32;
        let acks = std::mem::take(&mut part.acks);
        self.answers.entry(sender).push_part(acks);
        self.times.note_answered(sender, steps, now);
        if was_awaited && self.has_answers(awaited) {
            let depth = self.depth(awaited);
            self.times.begin_part(depth, now);
        }
        Ok(true)
    }

    /// Tells whether the answers to the next step are being computed.
    fn is_awaited(&self, awaited: &Seats) -> bool {
        let mut is_any_missing = false;
        for number in awaited.numbers() {
            let has_answers = self.answers.get(*number).is_some_and(|of| !of.is_empty());
            if !has_answers && !self.parts.owes(*number) {
                return false;
            }
            is_any_missing |= !has_answers;
        }
        is_any_missing
    }

    /// Tells whether somebody has done steps ahead that do not count yet, or is doing such.
    fn is_further(&self, number: PeerNumber) -> bool {
        let has_answers = self.answers.get(number).is_some_and(|of| !of.is_empty());
        has_answers || self.parts.owes(number)
    }

    /// Returns until when the answers to the next step are waited for, which are being computed.
    pub(super) fn awaited_until(&self, awaited: &Seats) -> Option<SessionTime> {
        self.is_awaited(awaited).then(|| self.parts.until())
    }

    /// Tells whether the time of the last step holds the way of its message.
    pub(crate) fn has_way(&self) -> bool {
        self.times.is_first
    }

    /// Waits longer by a time in which the primary itself did nothing.
    pub(super) fn postpone(&mut self, by: Duration) {
        self.parts.postpone(by);
    }

    /// Takes the next answer of each who has gone ahead, in order of their names.
    pub(super) fn take_next_answers(&mut self, seats: &Seats) -> Vec<(PeerNumber, StepAck)> {
        let mut next = std::mem::take(&mut self.spare);
        next.extend(seats.numbers().iter().filter_map(|number| {
            let answer = self.answers.entry(*number).pop_front()?;
            Some((*number, answer))
        }));
        next
    }

    /// Takes back the memory of answers.
    pub(super) fn recycle(&mut self, mut answers: Vec<(PeerNumber, StepAck)>) {
        answers.clear();
        self.spare = answers;
    }

    /// Tells whether each of those who are waited for has answered to the next step already.
    fn has_answers(&self, awaited: &Seats) -> bool {
        self.depth(awaited) > 0
    }

    /// Returns how many steps all have answered to that are not made yet.
    fn depth(&self, awaited: &Seats) -> u32 {
        let mut least = None;
        for number in awaited.numbers() {
            let answers = self.answers.get(*number).map_or(0, Answers::len);
            if answers == 0 {
                return 0;
            }
            least = Some(least.map_or(answers, |least: usize| least.min(answers)));
        }
        least.unwrap_or(0) as u32
    }

    /// Tells whether a step is the predictable one after the last, but for where ghosts are, and
    /// for the poses and whole states that it asks for. These are a guess: who was missed is asked
    /// in a step of its own.
    fn is_predicted(&self, step: &Step) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|last| step.is_quiet_after(last))
    }

    /// Tells whether ghosts are where the last message has placed them, or nobody has looked at
    /// them in the next step.
    fn are_ghosts_in_order(&self, step: &Step, awaited: &Seats) -> bool {
        let looked = |number: &PeerNumber| {
            let answers = self.answers.get(*number);
            answers.is_some_and(|of| of.front().is_some_and(|ack| ack.looked_at_ghosts))
        };
        // A ghost whose performer is nowhere any more stays where that was last.
        let mut moved = self.ghosts.moved.keys();
        let are_there = step.ghost_poses == self.ghosts.placed || step.ghost_poses.is_empty();
        let has_place = |performer: &PerformerId| place_of(&step.ghost_poses, *performer).is_ok();
        are_there && moved.all(has_place) || !awaited.numbers().iter().any(looked)
    }

    /// Notes the step that the next one is compared with.
    fn note_last(&mut self, step: &Step) {
        let may_be_followed = !step.paused && step.wanted.snapshots.is_empty();
        self.last = may_be_followed.then(|| step.quiet_after(0));
    }

    /// Notes a time in which the primary waited for something to come.
    pub(crate) fn note_idle(&mut self, idle: Duration) {
        *self.window.last.idle.get_or_insert_default() += idle;
    }

    /// Tells whether steps were done ahead that secondaries do not know yet to hold.
    pub(crate) fn has_untold(&self) -> bool {
        self.window.last.held > 0
    }

    /// Returns the size of the last window \[steps\].
    pub(crate) fn last_window(&self) -> u32 {
        self.window.last.opened
    }

    /// Tells whether the last step is to be told of before the next one is made.
    pub(crate) fn rests(&self) -> bool {
        self.rests
    }

    /// Ends the rest, if there is one.
    pub(crate) fn end_rest(&mut self) -> bool {
        std::mem::take(&mut self.rests)
    }

    /// Notes that a step is complete, and tells whether it is to be told of before the next one is
    /// made: each that is done ahead comes by itself, and so does one that is recorded before
    /// commands, since the next step brings and removes models that were not there in this one.
    pub(crate) fn rest_after(
        &mut self,
        was_ahead: bool,
        commands_are_due: bool,
        awaited: &Seats,
        now: SessionTime,
    ) -> bool {
        self.window.note_done(now);
        self.rests = was_ahead || commands_are_due || self.has_answers(awaited);
        self.rests
    }

    /// Tells whether all have done a step already that is about to be published, and takes the
    /// poses of ghosts out of it. If not, it belongs to a message of its own, and gets the size of
    /// the window that this may open.
    pub(crate) fn has_done(
        &mut self,
        step: &mut Step,
        terms: &Terms,
        awaited: &Seats,
        now: SessionTime,
    ) -> bool {
        if terms.allowed == 0 {
            self.batch += 1;
            step.batch_number = self.batch;
            return false;
        }
        step.batch_number = self.batch;
        let is_predicted = terms.is_plain && self.is_predicted(step);
        let has_answers = is_predicted && self.has_answers(awaited);
        if has_answers && self.are_ghosts_in_order(step, awaited) {
            if let Some(last) = &mut self.last {
                step.wanted.clone_from(&last.wanted);
                last.sequence = step.sequence;
                last.iteration = step.iteration;
                last.sim_time = step.sim_time;
                last.elapsed = step.elapsed;
            }
            self.window.last.held += 1;
            self.ghosts.leave(std::mem::take(&mut step.ghost_poses));
            return true;
        }
        let rolls_back = awaited
            .numbers()
            .iter()
            .any(|number| self.is_further(*number));
        self.answers.clear();
        self.parts.clear();
        self.batch += 1;
        step.batch_number = self.batch;
        self.window
            .note(is_predicted, rolls_back, terms.is_late, now);
        let may_open = is_predicted && terms.is_late;
        let size = self.window.size(terms);
        step.ahead = if may_open { size } else { 0 };
        step.window_time = Some(terms.time);
        self.note_last(step);
        false
    }

    /// Returns the poses of ghosts that have moved since a message has placed them, once.
    pub(crate) fn take_moved_ghosts(&mut self) -> BTreeMap<PerformerId, LinkPoses> {
        std::mem::take(&mut self.ghosts.moved)
    }

    /// Has a step that is about to be published open the window of its size, which so many
    /// secondaries answer.
    pub(super) fn open_window(&mut self, step: &mut Step, secondaries: usize) {
        self.ghosts.placed.clone_from(&step.ghost_poses);
        self.window.last.opened = step.ahead;
        step.window_time = step.window_time.filter(|_| step.ahead > 0);
        let time = Duration::try_from_secs_f64(self.window.work * f64::from(step.ahead));
        let time = time.unwrap_or_default();
        step.part = (step.ahead > 0).then(|| window_parts::part_time(secondaries, time));
    }

    /// Divides the time of a message among the steps that it brought.
    pub(super) fn share_time(
        &mut self,
        round: &mut Round,
        awaited: &Seats,
        now: SessionTime,
    ) -> Duration {
        let steps = self.depth(awaited) + 1;
        let is_ahead = round.is_ahead();
        // The first step of several has what was kept before them, too.
        if is_ahead || steps == 1 {
            let longest = round.timings_mut().map(|(_, timing)| timing.busy).max();
            self.window.note_work(longest.unwrap_or_default());
        }
        if is_ahead {
            for (number, timing) in round.timings_mut() {
                let answered = self.times.answered.get(number);
                timing.answered_after = answered.copied().unwrap_or_default();
            }
            return self.times.next_step();
        }
        self.times.answered.clear();
        if steps > 1 {
            for (number, timing) in round.timings_mut() {
                timing.answered_after /= steps;
                *self.times.answered.entry(number) = timing.answered_after;
            }
        }
        self.times.begin_message(round.waited(now), steps, now)
    }
}

impl MessageTimes {
    /// Divides the time of the first part among its steps; returns the duration of each.
    fn begin_message(&mut self, took: Duration, steps: u32, now: SessionTime) -> Duration {
        self.each = took / steps;
        self.since = now;
        self.covered = steps - 1;
        self.given = Duration::ZERO;
        self.is_first = true;
        self.each
    }

    /// Returns the duration of the next step ahead. The answers of a part that was there before it
    /// was waited for took no time that is known: as long as those before.
    fn next_step(&mut self) -> Duration {
        if self.covered > 0 {
            self.covered -= 1;
        } else {
            self.given += self.each;
            self.is_first = false;
        }
        self.each
    }

    /// Notes when somebody has answered so many further steps.
    fn note_answered(&mut self, sender: PeerNumber, steps: u32, now: SessionTime) {
        let took = now.since(self.since).saturating_sub(self.given);
        *self.answered.entry(sender) = took / steps;
    }

    /// Divides the time in which a part was waited for among its steps.
    fn begin_part(&mut self, steps: u32, now: SessionTime) {
        self.each = now.since(self.since).saturating_sub(self.given) / steps;
        self.since = now;
        self.covered = steps;
        self.given = Duration::ZERO;
        self.is_first = false;
    }
}

/// Returns the place of a performer's poses in a list, or where they belong.
pub(crate) fn place_of(poses: &[LinkPoses], performer: PerformerId) -> Result<usize, usize> {
    poses.binary_search_by_key(&performer, |one| one.performer)
}

/// Takes the answers to steps that were done ahead out of the answer to a step.
///
/// # Errors
/// Fails when they are not those of the steps after it.
pub(super) fn take_answers(step: &Step, ack: &mut StepAck) -> Result<Vec<StepAck>, AckError> {
    let ahead = std::mem::take(&mut ack.ahead);
    if ahead.len() > step.ahead as usize {
        return Err(AckError::TooManySteps);
    }
    for (count, one) in (1..).zip(&ahead) {
        let follows = one.sequence.0 == step.sequence.0 + count
            && one.iteration.0 == step.iteration.0 + count
            && one.ahead.is_empty();
        if !follows {
            return Err(AckError::StepsAhead);
        }
    }
    Ok(ahead)
}
