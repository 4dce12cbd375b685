//! [`Speculation`]: predictable steps that secondaries do ahead, with rollback, and the primary
//! then goes through one by one.
//!
//! A message with a step may open a window: every secondary does so many predictable steps after it
//! too, and answers to all at once. The primary then makes each step as ever, from what the last
//! answers hold. While that is the predicted one, its answers are here already; when it is another,
//! it is published in a message of its own, and secondaries that went further roll back.
//!
//! **Invariant:** an answer counts only for the very step that was to be published, so that a run
//! is the same however far anyone goes ahead.

use std::collections::VecDeque;
use std::time::Duration;

use protocol::SessionTime;
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepAck;

use crate::peer_numbers::{ByPeer, PeerNumber};
use crate::primary::barrier::round::Round;
use crate::primary::barrier::state_reader::AckError;
use crate::primary::peers::seats::Seats;

/// Longest time that the work on a message's steps should take: what is asked of the run waits for
/// as long. The way of the message is not part of it: that is what a window hides.
pub const WINDOW_MAX: Duration = Duration::from_millis(20);

/// Number of steps in a row that must be predictable before more of them are expected.
const PREDICTABLE_FIRST: u32 = 4;
/// Number of ghosts' poses, and of wanted poses and states, that are compared from step to step;
/// with more, none counts as predictable.
const COMPARED_MAX: usize = 64;
/// Size of the first window \[steps\]: fewer would not pay for the state that is kept before them.
const STEPS_FIRST: u32 = 8;
/// Number of windows after which it is judged whether they pay.
const WINDOWS_JUDGED: u32 = 8;
/// Greatest share of the time of single steps that windows may take and still pay.
const WORTH: f64 = 0.95;
/// Factor by which the first window may take longer, per step, before no other is tried.
const LOSS_MAX: f64 = 1.15;
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
    answers: ByPeer<VecDeque<StepAck>>,
    /// Memory of answers that were taken.
    spare: Vec<(PeerNumber, StepAck)>,
    /// Time after which each answered the last message, by its steps.
    answered: ByPeer<Duration>,
    /// Duration of each step of the last message.
    each: Duration,
    /// True if the last step is told of before the next one is made: with the next input.
    rests: bool,
    window: Window,
}

/// Circumstances of a step that is about to be published.
#[derive(Debug)]
pub(crate) struct Terms {
    /// Most steps that a window may ever have; 0 switches speculation off.
    pub(crate) allowed: u32,
    /// True if the step advances time and brings neither commands nor snapshots.
    pub(crate) is_plain: bool,
    /// True if the pace does not hold it up.
    pub(crate) is_late: bool,
    /// Number of predictable steps after which something is known to happen.
    pub(crate) until_change: u32,
}

/// Controller of the window: it grows while predictions hold, and closes where it does not pay.
///
/// An example, with steps of 1 ms by themselves, of which 0.4 ms are work. After 4 predictable
/// steps in a row a message opens a window of 8. All 8 hold, so the next has 16, then 32, and the
/// one after it 49 and not 64, since 1 + 49 steps of 0.4 ms are all that [`WINDOW_MAX`] has room
/// for. In that one a performer changes cell after 5 steps: the other 44 are rolled back, the next
/// window has 5, and from then on they grow by 1 and an eighth, to 6, 7, 8 and 10. If steps took
/// 1 ms in windows too, the eighth window would be the last for 16 steps, then for 64, 256 and so
/// on: there is less to wait for than the kept state costs.
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
    /// Duration of a step by itself, and as one of several \[s\].
    alone: f64,
    together: f64,
    /// Work on a step of whoever works longest on it, by its own clock \[s\].
    work: f64,
    own: OwnWork,
    /// Windows since it was judged.
    unjudged: u32,
    remeasured: Remeasured,
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

/// Progress of measuring the duration of a single step again.
#[derive(Clone, Copy, Debug, Default)]
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
            together: 0.0,
            work: 0.0,
            own: OwnWork::default(),
            unjudged: 0,
            remeasured: Remeasured::default(),
        }
    }
}

impl Window {
    /// Notes whether the step that is published is the predicted one, and whether the last one was
    /// not held up by the pace.
    fn note(&mut self, is_predicted: bool, is_late: bool, now: SessionTime) {
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
        self.note_own_work(own, opened);
        self.pause = self.pause.saturating_sub(1);
        if opened == 0 {
            if is_predicted && is_late {
                self.note_alone(took);
            }
            return;
        }
        if held == 0 {
            return self.hold_off();
        }
        if held < opened {
            self.steps = held;
            self.is_careful = true;
        } else if self.is_careful {
            self.steps += 1 + self.steps / 8;
        } else {
            self.steps *= 2;
        }
        self.judge(took / f64::from(held + 1));
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

    /// Takes the work of the primary on a message whose window had so many steps.
    fn note_own_work(&mut self, own: Duration, opened: u32) {
        let took = own.as_secs_f64();
        if opened == 0 {
            smooth(&mut self.own.message, took, WEIGHT);
        } else if self.own.message > 0.0 {
            let more = (took - self.own.message).max(0.0);
            smooth(&mut self.own.step, more / f64::from(opened), WEIGHT);
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

    /// Takes the duration of each step in a window \[s\], and judges whether windows pay.
    fn judge(&mut self, each: f64) {
        smooth(&mut self.together, each, WEIGHT);
        self.remeasured.windows += 1;
        self.unjudged += 1;
        if self.unjudged == 1 && each > self.alone * LOSS_MAX {
            return self.hold_off();
        }
        if self.unjudged < WINDOWS_JUDGED {
            return;
        }
        self.unjudged = 0;
        if self.together > self.alone * WORTH {
            return self.hold_off();
        }
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
        self.unjudged = 0;
        self.together = 0.0;
    }

    /// Opens a window of at most so many steps, and returns its size; `allowed` is what is ever
    /// allowed.
    fn open(&mut self, most: u32, allowed: u32) -> u32 {
        let is_held_off = self.pause > 0 || self.remeasured.steps_left > 0;
        let is_ready = self.streak >= PREDICTABLE_FIRST && !is_held_off && self.alone > 0.0;
        let work = self.work + self.own.step;
        let in_time = (WINDOW_MAX.as_secs_f64() / work.max(1e-9)) as u32;
        self.steps = self.steps.clamp(1, allowed.max(1));
        self.last.opened = if is_ready {
            self.steps.min(most).min(in_time.saturating_sub(1))
        } else {
            0
        };
        self.last.held = 0;
        self.last.opened
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
    }

    /// Keeps the answers of somebody to steps that it has done ahead.
    pub(super) fn keep(&mut self, sender: PeerNumber, answers: VecDeque<StepAck>) {
        *self.answers.entry(sender) = answers;
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
            let answers = self.answers.get(*number).map_or(0, VecDeque::len);
            if answers == 0 {
                return 0;
            }
            least = Some(least.map_or(answers, |least: usize| least.min(answers)));
        }
        least.unwrap_or(0) as u32
    }

    /// Tells whether a step is the predictable one after the last.
    fn is_predicted(&self, step: &Step) -> bool {
        self.last.as_ref().is_some_and(|last| {
            let mut predicted = last.quiet_after(1);
            predicted.batch_number = step.batch_number;
            predicted == *step
        })
    }

    /// Notes the step that the next one is compared with.
    fn note_last(&mut self, step: &Step) {
        let wanted = &step.wanted;
        let compared = step.ghost_poses.len() + wanted.poses.len() + wanted.states.len();
        let is_small = compared <= COMPARED_MAX;
        let may_be_followed = is_small && !step.paused && wanted.snapshots.is_empty();
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

    /// Tells whether all have done a step already that is about to be published. If not, it belongs
    /// to a message of its own, which may open a window.
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
        if is_predicted && self.has_answers(awaited) {
            self.window.last.held += 1;
            self.note_last(step);
            return true;
        }
        self.answers.clear();
        self.batch += 1;
        step.batch_number = self.batch;
        self.window.note(is_predicted, terms.is_late, now);
        let most = if is_predicted && terms.is_late {
            terms.allowed.min(terms.until_change)
        } else {
            0
        };
        step.ahead = self.window.open(most, terms.allowed);
        self.note_last(step);
        false
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
                let answered = self.answered.get(number);
                timing.answered_after = answered.copied().unwrap_or_default();
            }
            return self.each;
        }
        self.answered.clear();
        if steps > 1 {
            for (number, timing) in round.timings_mut() {
                timing.answered_after /= steps;
                *self.answered.entry(number) = timing.answered_after;
            }
        }
        self.each = round.waited(now) / steps;
        self.each
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Steps of a window: each takes so long by itself, so long as one of several, and so much
    /// work, all in us.
    struct Rig {
        window: Window,
        now: SessionTime,
        alone_us: u64,
        in_window_us: u64,
        work_us: u64,
        /// Time that a message is on its way, to be waited for once with each \[us\].
        way_us: u64,
        /// Work of the primary itself on a message, and on each step in it \[us\].
        own_us: [u64; 2],
    }

    impl Rig {
        /// Takes 1 ms for a step by itself, and so long for one of several, all of it work.
        fn new(in_window_us: u64) -> Self {
            Self {
                window: Window::default(),
                now: SessionTime(MS),
                alone_us: 1_000,
                in_window_us,
                work_us: in_window_us,
                way_us: 0,
                own_us: [0; 2],
            }
        }

        /// Works so long on a step, with so long a way to the secondaries and back.
        fn far(work_us: u64, way_us: u64) -> Self {
            Self {
                alone_us: work_us,
                way_us,
                ..Self::new(work_us)
            }
        }

        /// Publishes a message, of whose window `held` steps hold at most; returns its size.
        fn message(&mut self, held: u32) -> u32 {
            self.window.note(true, true, self.now);
            let opened = self.window.open(ALLOWED, ALLOWED);
            let held = held.min(opened);
            self.window.last.held = held;
            self.window.note_work(Duration::from_micros(self.work_us));
            let took_us = if opened == 0 {
                self.alone_us
            } else {
                u64::from(held + 1) * self.in_window_us
            };
            let steps = u64::from(held + 1);
            let own_us = self.own_us[0] + self.own_us[1] * steps;
            let idle_us = self.way_us + took_us;
            self.now = SessionTime(self.now.0 + (idle_us + own_us) * 1_000);
            self.window.last.idle = Some(Duration::from_micros(idle_us));
            self.window.note_done(self.now);
            opened
        }

        fn messages(&mut self, held: &[u32]) -> Vec<u32> {
            held.iter().map(|held| self.message(*held)).collect()
        }
    }

    const ALL: u32 = u32::MAX;
    /// The most steps that a window has unless settings say otherwise.
    const ALLOWED: u32 = crate::limits::RUN_AHEAD_DEFAULT - 1;

    #[test]
    fn windows_grow_while_predictions_hold_and_shrink_to_what_held() {
        let mut rig = Rig::new(400);
        assert_eq!(rig.messages(&[0; 3]), [0; 3], "too few were predictable");
        assert_eq!(rig.messages(&[ALL, ALL, ALL, 5]), [8, 16, 32, 49]);
        assert_eq!(rig.messages(&[ALL; 5]), [5, 6, 7, 8, 10]);
    }

    #[test]
    fn quiet_steps_hide_the_way_however_long_it_is() {
        for (work_us, way_us) in [(50, 2_000), (50, 20_000), (200, 200_000), (500, 20_000)] {
            let mut rig = Rig::far(work_us, way_us);
            rig.messages(&[ALL; 10]);
            let room = (WINDOW_MAX.as_micros() as u64 / work_us - 1) as u32;
            let expected = ALLOWED.min(room);
            assert_eq!(rig.message(ALL), expected, "{work_us} us, {way_us} us away");
            let (begun, mut steps) = (rig.now, 0);
            while steps < 10_000 {
                steps += rig.message(ALL) + 1;
            }
            let each_us = rig.now.since(begun).as_secs_f64() * 1e6 / f64::from(steps);
            let hidden = way_us as f64 / f64::from(expected + 1);
            assert!(
                each_us < 1.1 * (work_us as f64 + hidden),
                "{work_us} us, {way_us} us away: {each_us} us each"
            );
        }
    }

    #[test]
    fn steps_of_long_work_have_no_window_however_long_the_way_is() {
        for way_us in [0, 20_000, 200_000] {
            let mut rig = Rig::far(15_000, way_us);
            assert_eq!(rig.messages(&[ALL; 50]), [0; 50], "{way_us} us away");
        }
    }

    #[test]
    fn windows_have_room_for_the_work_of_the_primary_itself() {
        // Many secondaries of little work: reading a message takes 15 ms, a step in it 1 ms more.
        for (own_us, expected) in [([15_000, 1_000], 18), ([0, 1_000], 18), ([15_000, 10], 63)] {
            let mut rig = Rig {
                own_us,
                ..Rig::far(50, 2_000)
            };
            rig.messages(&[ALL; 40]);
            assert_eq!(rig.message(ALL), expected, "{own_us:?}");
        }
    }

    #[test]
    fn windows_that_do_not_pay_are_closed_for_longer_each_time() {
        let mut rig = Rig::new(1_000);
        let mut closed = Vec::new();
        let mut run = 0;
        for _ in 0..400 {
            if rig.message(ALL) == 0 {
                run += 1;
            } else if run > 0 {
                closed.push(std::mem::take(&mut run));
            }
        }
        assert_eq!(closed[..3], [3, 16, 64]);
    }
}
