//! Sizes of windows, and which steps count that were done ahead.

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
    /// Time that the next message takes besides, if it rolls back a window \[us\].
    rollback_us: Option<u64>,
    terms: Terms,
}

/// Steps in a part of a window, and time to restore what was kept \[us\].
const PART: u32 = 20;
const RESTORE_US: u64 = 300;

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
            rollback_us: None,
            terms: TERMS,
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

    /// Publishes a message, of whose window `held` steps hold at most; returns its size. The
    /// step that replaces others is none that was predicted, and waits for the part under way
    /// and the steps that are replayed.
    fn message(&mut self, held: u32) -> u32 {
        let rollback_us = self.rollback_us.take();
        let rolls_back = rollback_us.is_some();
        self.window.note(!rolls_back, rolls_back, true, self.now);
        let opened = self.window.size(&self.terms);
        self.window.last.opened = opened;
        let held = held.min(opened);
        self.window.last.held = held;
        self.window.note_work(Duration::from_micros(self.work_us));
        let took_us = if opened == 0 {
            self.alone_us + rollback_us.unwrap_or_default()
        } else {
            let answered = (held + 1).next_multiple_of(PART).min(opened + 1);
            let under_way = PART.min(opened + 1 - answered);
            if held < opened {
                let steps = u64::from(under_way + held);
                self.rollback_us = Some(RESTORE_US + steps * self.in_window_us);
            }
            u64::from(answered) * self.in_window_us
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
    let held = [ALL, ALL, ALL, ALL, ALL, ALL, 5];
    assert_eq!(rig.messages(&held), [8, 16, 32, 64, 128, 256, 319]);
    assert_eq!(rig.messages(&[ALL; 7]), [0, 0, 5, 6, 7, 8, 10]);
}

#[test]
fn windows_of_which_nothing_holds_are_halved_and_pay_while_most_hold() {
    let mut rig = Rig::new(400);
    rig.messages(&[0; 3]);
    rig.messages(&[ALL, ALL, ALL]);
    assert_eq!(rig.messages(&[0; 6]), [64, 0, 0, 32, 0, 0]);
    // One in five is in vain.
    let windows = |rig: &mut Rig, count: u32| {
        let mut closed = 0;
        for number in 0..count {
            let held = if number % 5 == 0 { 0 } else { ALL };
            while rig.message(held) == 0 {
                closed += 1;
            }
        }
        closed
    };
    // Two steps after each of these, and four of every 64 windows to measure single steps.
    let closed = windows(&mut rig, 500);
    assert!((200..240).contains(&closed), "{closed} steps alone");
}

#[test]
fn windows_that_are_mostly_in_vain_do_not_pay() {
    let mut rig = Rig::new(400);
    rig.messages(&[0; 3]);
    let opened = (0..4_000).filter(|_| rig.message(0) > 0).count();
    assert!(opened < 50, "{opened} of 4,000 messages opened a window");
}

#[test]
fn quiet_steps_hide_the_way_however_long_it_is() {
    for (work_us, way_us) in [(50, 2_000), (50, 20_000), (200, 200_000), (500, 20_000)] {
        let mut rig = Rig::far(work_us, way_us);
        rig.messages(&[ALL; 12]);
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
        let mut rig = Rig::far(70_000, way_us);
        assert_eq!(rig.messages(&[ALL; 50]), [0; 50], "{way_us} us away");
    }
}

#[test]
fn windows_are_short_while_others_wait_for_messages_or_the_pace_is_slow() {
    let mut rig = Rig::far(50, 2_000);
    rig.terms.time = WATCHED_WINDOW_MAX;
    rig.messages(&[ALL; 12]);
    assert_eq!(rig.message(ALL), 639, "32 ms of work");
    rig.terms.period = Duration::from_millis(1);
    assert_eq!(rig.message(ALL), 31, "32 ms of the pace");
    rig.terms.period = Duration::from_secs(1);
    assert_eq!(rig.message(ALL), 0, "a step in a second");
}

#[test]
fn windows_have_room_for_the_work_of_the_primary_itself() {
    // Many secondaries of little work: reading a message takes 15 ms, a step in it 1 ms more.
    for (own_us, expected) in [
        ([15_000, 1_000], 120),
        ([0, 1_000], 120),
        ([15_000, 10], ALLOWED),
    ] {
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

/// Step 3 of one secondary, which has placed a ghost at x = 1 and opened a window.
fn begun(answers: Vec<StepAck>) -> (Speculation, Seats, Step) {
    let mut known = crate::peer_numbers::PeerNumbers::default();
    let seats = Seats::of(&["s1".parse().unwrap()], &mut known);
    let mut speculation = Speculation::default();
    let mut step = Step {
        sequence: protocol::Sequence(3),
        step_size_ns: 1_000_000,
        ghost_poses: vec![ghost(1.0)],
        ..Step::default()
    };
    assert!(!speculation.has_done(&mut step, &TERMS, &seats, SessionTime(0)));
    step.ahead = 8;
    speculation.open_window(&mut step, 1);
    let sender = (seats.numbers()[0], &step);
    speculation.keep(sender, answers, false, SessionTime(1));
    (speculation, seats, step)
}

#[test]
fn a_part_is_a_sixteenth_of_the_work_on_its_window() {
    let mut speculation = Speculation::default();
    speculation.window.note_work(Duration::from_micros(4));
    let mut part_of = |ahead: u32| {
        let mut step = Step {
            ahead,
            ..Step::default()
        };
        speculation.open_window(&mut step, 2);
        step.part
    };
    assert_eq!(part_of(0), None);
    assert_eq!(part_of(2000), Some(Duration::from_micros(500)));
    assert_eq!(part_of(8), Some(Duration::from_micros(400)), "too short");
}

const TERMS: Terms = Terms {
    allowed: ALLOWED,
    time: WINDOW_MAX,
    period: Duration::ZERO,
    is_plain: true,
    is_late: true,
};

fn ghost(x: f64) -> LinkPoses {
    LinkPoses::pack(PerformerId(7), [[x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
}

fn answer(looked_at_ghosts: bool) -> StepAck {
    StepAck {
        looked_at_ghosts,
        ..StepAck::default()
    }
}

/// Makes the steps that follow, with ghosts at these x or nowhere; tells of each whether it was
/// done.
fn follow(
    (mut speculation, seats, first): (Speculation, Seats, Step),
    xs: &[Option<f64>],
) -> (Vec<bool>, Speculation) {
    let mut done = Vec::new();
    for (count, x) in (1..).zip(xs) {
        let mut step = first.quiet_after(count);
        step.ghost_poses = x.map(ghost).into_iter().collect();
        let is_done = speculation.has_done(&mut step, &TERMS, &seats, SessionTime(2));
        assert!(
            !is_done || step.ghost_poses.is_empty(),
            "they stay where they are"
        );
        done.push(is_done);
        speculation.take_next_answers(&seats);
    }
    (done, speculation)
}

#[test]
fn ghosts_stay_where_they_are_while_nobody_looks() {
    let begun = begun(vec![answer(false), answer(false), answer(true)]);
    let (done, mut speculation) = follow(begun, &[Some(2.0), Some(3.0), Some(4.0)]);
    assert_eq!(
        done,
        [true, true, false],
        "a ghost is looked at that has moved"
    );
    let moved = speculation.take_moved_ghosts();
    assert_eq!(moved.into_values().collect::<Vec<_>>(), [ghost(3.0)]);
}

#[test]
fn ghosts_that_have_not_moved_may_be_looked_at() {
    let begun = begun(vec![answer(true), answer(true)]);
    assert_eq!(follow(begun, &[Some(1.0), None]).0, [true, true]);
}

#[test]
fn a_ghost_that_was_somewhere_else_last_is_not_where_it_was_placed() {
    let begun = begun(vec![answer(false), answer(true)]);
    let (done, mut speculation) = follow(begun, &[Some(2.0), None]);
    assert_eq!(done, [true, false], "it moved to 2 before it was nowhere");
    let moved = speculation.take_moved_ghosts();
    assert_eq!(moved.into_values().collect::<Vec<_>>(), [ghost(2.0)]);
}
