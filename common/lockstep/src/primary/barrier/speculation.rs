//! Run-ahead: quiet steps that secondaries do at once, and the primary goes through one by one.
//!
//! A step may grant some quiet ones after it: every secondary does them too and answers to all at
//! once. The primary then makes each step as ever, from what the last answers hold. While that is
//! the quiet one, its answers are here already; when it is another, it is published, and who has
//! gone further takes that back.
//!
//! **Invariant:** an answer counts only for the very step that was to be published, so that a run
//! is the same however far anyone goes ahead.

use crate::primary::barrier::Barrier;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepAck;
use protocol::{Iteration, PeerName, SessionTime};

use crate::primary::purpose::Purpose;
use crate::primary::{ClockMode, PeerTiming, Primary};

/// The longest that a grant should take: what is asked of the run waits for as long.
pub const WINDOW_MAX: Duration = Duration::from_millis(20);

/// How many steps in a row must be quiet before more of them are expected.
const QUIET_FIRST: u32 = 4;
/// Number of ghosts' poses, and how many commands to know more, may be compared from step to step;
/// with more, none is taken for quiet.
const COMPARED_MAX: usize = 64;
/// Number of steps that are granted at first: fewer would not pay for the state that is kept before
/// them.
const STEPS_FIRST: u32 = 8;
/// Number of grants that are made before it is judged whether they pay.
const GRANTS_JUDGED: u32 = 8;
/// What a grant must save at least.
const WORTH: f64 = 0.95;
/// By how much a grant may take longer, per step, before no other is tried.
const LOSS_MAX: f64 = 1.15;
/// After how many grants that paid it is measured again what a step takes by itself, for how many
/// steps, and how much each of those weighs: a world that has come to rest is not what it was.
const GRANTS_TRUSTED: u32 = 64;
const STEPS_MEASURED: u32 = 4;
const WEIGHT_MEASURED: f64 = 0.5;
/// How much any other step weighs.
const WEIGHT: f64 = 1.0 / 16.0;
/// For how many steps at least and at most nothing is granted after it was in vain; four times as
/// many each time.
const PAUSE: (u32, u32) = (16, 1 << 14);

/// What secondaries have done ahead, and how far they may go.
#[derive(Debug, Default)]
pub(crate) struct Speculation {
    /// The number of the last message that published a step.
    grant: u64,
    /// The last step, if a quiet one may follow it.
    last: Option<Step>,
    answers: BTreeMap<PeerName, VecDeque<StepAck>>,
    /// Time when each answered, and how long each step took, in the last grant.
    answered: BTreeMap<PeerName, Duration>,
    each: Duration,
    /// True if what came of a step is told before the next one is made: with the next input.
    pub(crate) rests: bool,
    reach: Window,
}

/// How far secondaries may go ahead: further while it holds, and not at all where it does not pay.
#[derive(Debug)]
struct Window {
    /// Quiet steps in a row.
    streak: u32,
    /// Number of steps that are granted besides the first.
    steps: u32,
    /// True if it grows by little since it was too far.
    is_careful: bool,
    /// For how many steps nothing is granted, and for how many it will be the next time.
    pause: u32,
    next_pause: u32,
    /// The last message: when it was published and its last step was complete, how many steps it
    /// granted, and how many held.
    published_at: SessionTime,
    done_at: SessionTime,
    applied: u32,
    held: u32,
    /// What a step takes by itself, and as one of several \[s\].
    alone: f64,
    together: f64,
    /// Grants since it was judged.
    unjudged: u32,
    /// Grants since it was measured what a step takes by itself, and for how many steps it still
    /// is.
    trusted: u32,
    measured: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            streak: 0,
            steps: STEPS_FIRST,
            is_careful: false,
            pause: 0,
            next_pause: PAUSE.0,
            published_at: SessionTime(0),
            done_at: SessionTime(0),
            applied: 0,
            held: 0,
            alone: 0.0,
            together: 0.0,
            unjudged: 0,
            trusted: 0,
            measured: 0,
        }
    }
}

impl Window {
    /// Notes whether the step that is published follows quietly, and whether the last one was not
    /// held up by the pace.
    fn note(&mut self, is_quiet: bool, is_late: bool, now: SessionTime) {
        self.streak = if is_quiet {
            self.streak.saturating_add(1)
        } else {
            0
        };
        // Without what time stood still, for whatever reason.
        let took = self.done_at.since(self.published_at).as_secs_f64();
        let (applied, held) = (self.applied, self.held);
        self.published_at = now;
        self.pause = self.pause.saturating_sub(1);
        if applied == 0 {
            if is_quiet && is_late {
                let is_measured = self.measured > 0;
                self.measured = self.measured.saturating_sub(1);
                let weight = if is_measured { WEIGHT_MEASURED } else { WEIGHT };
                smooth(&mut self.alone, took, weight);
            }
            return;
        }
        if held == 0 {
            return self.hold_off();
        }
        if held < applied {
            self.steps = held;
            self.is_careful = true;
        } else if self.is_careful {
            self.steps += 1 + self.steps / 8;
        } else {
            self.steps *= 2;
        }
        let each = took / f64::from(held + 1);
        smooth(&mut self.together, each, WEIGHT);
        self.trusted += 1;
        self.unjudged += 1;
        if self.unjudged == 1 && each > self.alone * LOSS_MAX {
            return self.hold_off();
        }
        if self.unjudged >= GRANTS_JUDGED {
            self.unjudged = 0;
            if self.together > self.alone * WORTH {
                self.hold_off();
            } else {
                self.next_pause = PAUSE.0;
                if self.trusted >= GRANTS_TRUSTED {
                    self.trusted = 0;
                    self.measured = STEPS_MEASURED;
                }
            }
        }
    }

    /// Grants nothing for a while: longer each time.
    fn hold_off(&mut self) {
        self.pause = self.next_pause;
        self.next_pause = (self.next_pause * 4).min(PAUSE.1);
        self.steps = STEPS_FIRST;
        self.is_careful = false;
        self.unjudged = 0;
        self.together = 0.0;
    }

    /// Returns how many steps are granted, of at most so many; `allowed` is what is ever allowed.
    fn grant(&mut self, most: u32, allowed: u32) -> u32 {
        let is_held_off = self.pause > 0 || self.measured > 0;
        let is_ready = self.streak >= QUIET_FIRST && !is_held_off && self.alone > 0.0;
        let in_time = (WINDOW_MAX.as_secs_f64() / self.alone.max(1e-9)) as u32;
        self.steps = self.steps.clamp(1, allowed.max(1));
        self.applied = if is_ready {
            self.steps.min(most).min(in_time.saturating_sub(1))
        } else {
            0
        };
        self.held = 0;
        self.applied
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

    /// Tells whether each of those who take part has answered to the next step already.
    fn has_answers(&self, secondaries: &[PeerName]) -> bool {
        let all = self.answers.len() == secondaries.len();
        all && !secondaries.is_empty()
            && secondaries.iter().all(|name| {
                let answers = self.answers.get(name);
                answers.is_some_and(|answers| !answers.is_empty())
            })
    }

    /// Returns how many steps all have answered to that are not made yet.
    fn depth(&self, secondaries: &[PeerName]) -> u32 {
        let depths = secondaries.iter().map(|name| {
            let answers = self.answers.get(name);
            answers.map_or(0, |answers| answers.len() as u32)
        });
        depths.min().unwrap_or(0)
    }

    /// Tells whether a step is the quiet one after the last.
    fn is_quiet(&self, step: &Step) -> bool {
        self.last.as_ref().is_some_and(|last| {
            let mut quiet = last.quiet_after(1);
            quiet.grant = step.grant;
            quiet == *step
        })
    }

    /// Notes what the next step is compared with.
    fn note_last(&mut self, step: &Step) {
        let wanted = &step.wanted;
        let compared = step.ghost_poses.len() + wanted.poses.len() + wanted.states.len();
        let is_small = compared <= COMPARED_MAX;
        let may_be_followed = is_small && !step.paused && wanted.snapshots.is_empty();
        self.last = may_be_followed.then(|| step.quiet_after(0));
    }
}

/// Takes the answers to steps that were done ahead out of the answer to a step.
pub(crate) fn take_answers(step: &Step, ack: &mut StepAck) -> Result<Vec<StepAck>, &'static str> {
    let ahead = std::mem::take(&mut ack.ahead);
    if ahead.len() > step.ahead as usize {
        return Err("it did more steps than it was granted");
    }
    for (count, one) in (1..).zip(&ahead) {
        let follows = one.sequence.0 == step.sequence.0 + count
            && one.iteration.0 == step.iteration.0 + count
            && one.ahead.is_empty();
        if !follows {
            return Err("what it did ahead does not follow the step");
        }
    }
    Ok(ahead)
}

impl Barrier {
    /// Keeps the answers to steps that somebody has done ahead.
    pub(crate) fn keep_ahead(&mut self, sender: &PeerName, ahead: Vec<StepAck>) {
        if !ahead.is_empty() {
            self.speculation
                .answers
                .insert(sender.clone(), ahead.into());
        }
    }

    /// Returns the answers to the step under way, which were here before it.
    pub(crate) fn answers_ahead(&mut self) -> Vec<(PeerName, StepAck)> {
        let answers = self.speculation.answers.iter_mut();
        let next = answers.filter_map(|(name, answers)| Some((name.clone(), answers.pop_front()?)));
        next.collect()
    }
}

impl Primary {
    /// Tells whether what came of the last step is to be told before the next one is made: each
    /// that is done ahead comes by itself.
    pub(crate) fn rests_before_next(&mut self, was_ahead: bool, now: SessionTime) -> bool {
        self.barrier.speculation.reach.done_at = now;
        self.barrier.speculation.rests = was_ahead
            || self
                .barrier
                .speculation
                .has_answers(&self.peers.secondaries);
        self.barrier.speculation.rests
    }

    /// Tells whether a step that is complete but for its answers has them already. If not, it
    /// belongs to a message of its own, which may grant more.
    pub(crate) fn has_done_ahead(
        &mut self,
        purpose: Purpose,
        step: &mut Step,
        is_plain: bool,
        now: SessionTime,
    ) -> bool {
        let allowed = self.settings.run_ahead_max.saturating_sub(1);
        if allowed == 0 || self.settings.trace.is_some() {
            self.barrier.speculation.grant += 1;
            step.grant = self.barrier.speculation.grant;
            return false;
        }
        step.grant = self.barrier.speculation.grant;
        let is_quiet =
            is_plain && purpose == Purpose::Advance && self.barrier.speculation.is_quiet(step);
        if is_quiet
            && self
                .barrier
                .speculation
                .has_answers(&self.peers.secondaries)
        {
            self.barrier.speculation.reach.held += 1;
            self.barrier.speculation.note_last(step);
            return true;
        }
        self.barrier.speculation.answers.clear();
        self.barrier.speculation.grant += 1;
        step.grant = self.barrier.speculation.grant;
        let is_late = self.clock.pace.is_late(now);
        self.barrier.speculation.reach.note(is_quiet, is_late, now);
        let most = if is_quiet && is_late && !self.has_to_replay() {
            allowed.min(self.steps_until_change(step))
        } else {
            0
        };
        step.ahead = self.barrier.speculation.reach.grant(most, allowed);
        self.barrier.speculation.note_last(step);
        false
    }

    /// Returns after how many quiet steps something is known to happen.
    fn steps_until_change(&self, step: &Step) -> u32 {
        let left = |last: Iteration| last.0.saturating_sub(step.iteration.0);
        let limits = [
            self.settings.iterations.map(|last| left(Iteration(last))),
            match self.clock.mode {
                ClockMode::Until(last) => Some(left(last)),
                ClockMode::Paused | ClockMode::Pausing | ClockMode::Running => None,
            },
            self.commands.queue.next_of_schedule().map(left),
            self.next_checkpoint()
                .map(|next| left(next).saturating_sub(1)),
        ];
        let least = limits.into_iter().flatten().min();
        least.map_or(u32::MAX, |least| u32::try_from(least).unwrap_or(u32::MAX))
    }

    /// Divides the time of a message among the steps that it brought.
    pub(crate) fn spread_time(
        &mut self,
        is_ahead: bool,
        timings: &mut [PeerTiming],
        took: Duration,
    ) -> Duration {
        if is_ahead {
            for timing in timings {
                let answered = self.barrier.speculation.answered.get(&timing.name);
                timing.answered_after = answered.copied().unwrap_or_default();
            }
            return self.barrier.speculation.each;
        }
        let steps = self.barrier.speculation.depth(&self.peers.secondaries) + 1;
        self.barrier.speculation.answered.clear();
        if steps > 1 {
            for timing in timings {
                timing.answered_after /= steps;
                let answered = (timing.name.clone(), timing.answered_after);
                self.barrier.speculation.answered.extend([answered]);
            }
        }
        self.barrier.speculation.each = took / steps;
        self.barrier.speculation.each
    }
}
