//! Windows: which steps may be done ahead, and the answers to them.

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepsAhead;
use protocol::{Iteration, PeerName, PerformerId, SessionTime};

use crate::peer_numbers::PeerNumber;
use crate::primary::Primary;
use crate::primary::barrier::speculation::{Terms, WATCHED_WINDOW_MAX, WINDOW_MAX, place_of};
use crate::primary::context::Context;

impl Primary {
    /// Tells whether all have done a step ahead that is complete but for its answers. If not, the
    /// step gets a window.
    pub(super) fn has_done(&mut self, step: &mut Step, is_plain: bool, now: SessionTime) -> bool {
        let is_traced = self.settings.outputs.trace.is_some();
        let allowed = self.settings.pace.run_ahead_max.saturating_sub(1);
        let is_watched =
            self.commands.observed().has_links() || self.settings.outputs.ros2.is_some();
        let terms = Terms {
            allowed: if is_traced { 0 } else { allowed },
            time: if is_watched {
                WATCHED_WINDOW_MAX
            } else {
                WINDOW_MAX
            },
            period: self.clock.period(),
            is_plain,
            is_late: self.clock.is_late(now),
        };
        let moved: Vec<PerformerId> = step.ghost_poses.iter().map(|one| one.performer).collect();
        let seats = self.peers.seats();
        if self.barrier.has_done(step, &terms, seats, now) {
            self.world.note_ghosts_unplaced(moved);
            return true;
        }
        if step.ahead > 0 {
            let known = self.steps_until_change(step.iteration);
            step.ahead = self.foreseen_steps(step.ahead.min(known));
        }
        self.place_moved_ghosts(step);
        let seats = self.peers.seats();
        self.barrier.open_window(step, seats);
        false
    }

    /// Has a step that is about to be published place the ghosts that steps done ahead did not,
    /// where it says nothing else of them.
    fn place_moved_ghosts(&mut self, step: &mut Step) {
        for (performer, poses) in self.barrier.speculation_mut().take_moved_ghosts() {
            let is_ghost = self.world.partition().has_ghost(performer) && !step.reset;
            if let (true, Err(place)) = (is_ghost, place_of(&step.ghost_poses, performer)) {
                step.ghost_poses.insert(place, poses);
            }
        }
    }

    /// Returns how many steps, of so many, are likely to be predictable after one that is about to
    /// be published.
    fn foreseen_steps(&self, count: u32) -> u32 {
        let foreseen = self.world.iterations_until_change(count + 1);
        if foreseen > count {
            return count;
        }
        // Who turns is there a little earlier.
        (foreseen - 1).saturating_sub(foreseen / 16)
    }

    /// Returns the number of predictable steps after which something is known to happen.
    fn steps_until_change(&self, iteration: Iteration) -> u32 {
        if self.has_to_replay() {
            return 0;
        }
        let left = |last: Iteration| last.0.saturating_sub(iteration.0);
        let end = self.settings.pace.iterations.map(Iteration);
        let checkpoint = self.recovery.next_checkpoint(&self.settings.recovery);
        let limits = [
            end.map(left),
            self.clock.last().map(left),
            self.commands.queue().next_of_schedule().map(left),
            self.commands.participants().next_barrier().map(left),
            checkpoint.map(|next| left(next).saturating_sub(1)),
        ];
        let least = limits.into_iter().flatten().min();
        least.map_or(u32::MAX, |least| u32::try_from(least).unwrap_or(u32::MAX))
    }

    /// Returns when a step is due whose answers may be on their way: not before they are here.
    pub(super) fn due_with_answers(&self, due: Option<SessionTime>) -> Option<SessionTime> {
        let awaited = self.barrier.steps_ahead_awaited_until(self.peers.seats());
        Some(due?.max(awaited.unwrap_or_default()))
    }

    /// Takes further answers of a secondary to steps of the window.
    pub(super) fn on_steps_ahead(
        &mut self,
        (sender, number): (&PeerName, PeerNumber),
        part: &mut StepsAhead,
        cx: &mut Context<'_>,
    ) {
        match self.barrier.on_steps_ahead(number, part, cx.now) {
            Ok(true) => self.advance(cx),
            Ok(false) => self.peers.count_stale(),
            Err(error) => self.on_violation(sender, &error, None, cx),
        }
    }
}
