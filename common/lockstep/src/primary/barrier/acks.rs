//! Acks: checked against the cells that their sender hosts, and the performers that these own.

use std::time::Duration;

use protocol::primary_to_secondary::{Step, Wanted};
use protocol::report::divergence::DivergenceReport;
use protocol::secondary_to_primary::{CellAck, StepAck};
use protocol::{CellId, Iteration, PeerName, PerformerId, PerformerState, Sequence, SessionTime};

use crate::peer_numbers::PeerNumber;
use crate::primary::barrier::speculation::take_answers;
use crate::primary::barrier::state_reader::AckError;
use crate::primary::barrier::{Barrier, divergence};
use crate::primary::io::PeerTiming;
use crate::primary::placement::host_map::HostMap;
use crate::primary::purpose::Purpose;
use crate::primary::world::WorldState;

/// Outcome of an ack.
#[derive(Debug)]
pub(crate) enum AckVerdict {
    /// It is about an earlier step, or nobody asked its sender.
    Stale,
    /// It came before.
    Duplicate,
    /// Nobody waits for it, and it is in order: its step was sent again, or dropped.
    Due,
    /// Nobody waits for it, and it is in order: its sender has no cell.
    OfStandby(StandbyAnswer),
    /// It is sound, and others are missing.
    Waiting(Answer),
    /// It is sound, and the last one.
    Complete(Answer),
    /// It breaks the protocol.
    Violation {
        error: AckError,
        /// Difference between a digest in it and its states, if that is what is wrong.
        divergence: Option<Box<DivergenceReport>>,
    },
}

/// An answer of one that has no cell.
#[derive(Debug)]
pub(crate) struct StandbyAnswer {
    pub(crate) sequence: Sequence,
    /// The iteration that its step did, if it advanced time.
    pub(crate) iteration: Option<Iteration>,
    pub(crate) timing: PeerTiming,
}

/// A sound answer, to be taken over with what its ack still holds.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The states in it, in the order of cells and performers.
    pub(crate) states: Vec<PerformerState>,
    /// Purpose of the step that it answers.
    pub(crate) purpose: Purpose,
}

impl Barrier {
    /// Checks an ack and notes it; what is left in it is for the caller to take over. With
    /// `is_lost` another of the sender's name is lost and owes the answer.
    pub(crate) fn on_ack(
        &mut self,
        (sender, number): (&PeerName, PeerNumber),
        ack: &mut StepAck,
        is_lost: bool,
        (world, host_map): (&WorldState, &HostMap),
        now: SessionTime,
    ) -> AckVerdict {
        let sequence = ack.sequence;
        let verdict = self.judge((sender, number), ack, is_lost, (world, host_map), now);
        match verdict {
            AckVerdict::Stale if !is_lost => {
                if let Some((step, took)) = self.standbys.take(number, sequence, now) {
                    return match self.check_empty(ack, &step, (world, host_map)) {
                        Ok(()) => AckVerdict::OfStandby(of_standby(sender, ack, &step, took)),
                        Err(error) => AckVerdict::Violation {
                            error,
                            divergence: None,
                        },
                    };
                }
            }
            AckVerdict::Waiting(_) | AckVerdict::Complete(_) => {
                self.standbys.note_answered(number, sequence, now);
            }
            _ => {}
        }
        let is_late = matches!(verdict, AckVerdict::Stale | AckVerdict::Duplicate);
        if is_late && self.due_answers.take(number, sequence) {
            return AckVerdict::Due;
        }
        verdict
    }

    /// Checks that the answer to a step is about no cell.
    ///
    /// # Errors
    /// Fails when it is about any, or about other steps.
    fn check_empty(
        &mut self,
        ack: &StepAck,
        step: &Step,
        (world, host_map): (&WorldState, &HostMap),
    ) -> Result<(), AckError> {
        if ack.iteration != step.iteration {
            return Err(AckError::Iteration(ack.iteration));
        }
        if ack.ahead.len() > step.ahead as usize {
            return Err(AckError::TooManySteps);
        }
        let mut all = std::iter::once(ack).chain(&ack.ahead);
        all.try_for_each(|one| self.reader.read(&[], one, world, host_map))
    }

    fn judge(
        &mut self,
        (sender, number): (&PeerName, PeerNumber),
        ack: &mut StepAck,
        is_lost: bool,
        (world, host_map): (&WorldState, &HostMap),
        now: SessionTime,
    ) -> AckVerdict {
        let Some(round) = &mut self.round else {
            return AckVerdict::Stale;
        };
        let (sequence, iteration) = (round.step().sequence, round.step().iteration);
        let Some((seat, has_answered)) = round.has_answered(number).filter(|_| !is_lost) else {
            return AckVerdict::Stale;
        };
        if ack.sequence < sequence {
            return AckVerdict::Stale;
        }
        if has_answered && ack.sequence == sequence {
            return AckVerdict::Duplicate;
        }
        let reader = &mut self.reader;
        let ahead = if ack.sequence == sequence && ack.iteration == iteration {
            reader
                .read(host_map.hosted(number), ack, world, host_map)
                .and_then(|()| find_shortfall(&round.step().wanted, ack, host_map))
                .and_then(|()| take_answers(round.step(), ack))
        } else {
            Err(AckError::Iteration(ack.iteration))
        };
        let ahead = match ahead {
            Ok(ahead) => ahead,
            Err(error) => {
                let divergence = divergence::in_ack(sender, ack, world, host_map).map(Box::new);
                return AckVerdict::Violation { error, divergence };
            }
        };
        let timing = timing_of(sender, ack, round.waited(now));
        let is_complete = round.note_answer(seat, timing);
        round.gather(ack);
        let answer = Answer {
            purpose: round.purpose(),
            states: std::mem::take(&mut reader.states),
        };
        if !ahead.is_empty() {
            let step = round.step();
            self.speculation
                .keep((number, step), ahead, ack.goes_on, now);
        }
        if is_complete {
            AckVerdict::Complete(answer)
        } else {
            AckVerdict::Waiting(answer)
        }
    }

    /// Checks an answer about some cells that was given in the place of a lost secondary; the
    /// answer is for the caller to take over.
    ///
    /// # Errors
    /// Fails when it is not what the lost one was asked for.
    pub(crate) fn on_ack_for(
        &mut self,
        lost: &PeerName,
        cells: &[CellId],
        ack: &mut StepAck,
        (world, host_map): (&WorldState, &HostMap),
    ) -> Result<Answer, AckError> {
        let round = self.round.as_mut().ok_or(AckError::NotAsked)?;
        let step = round.step();
        if ack.sequence != step.sequence || ack.iteration != step.iteration {
            return Err(AckError::OtherStep);
        }
        self.reader.read(cells, ack, world, host_map)?;
        find_shortfall(&step.wanted, ack, host_map)?;
        round.note_published(lost, ack.published);
        round.gather(ack);
        Ok(Answer {
            purpose: round.purpose(),
            states: std::mem::take(&mut self.reader.states),
        })
    }

    /// Takes back the memory of states that were taken over.
    pub(crate) fn recycle(&mut self, states: Vec<PerformerState>) {
        self.reader.states = states;
    }
}

/// Returns what the answer of one without a cell holds: the time that it took. Of several steps in
/// one message each has its share.
fn of_standby(sender: &PeerName, ack: &StepAck, step: &Step, took: Duration) -> StandbyAnswer {
    let steps = ack.ahead.len() as u32 + 1;
    StandbyAnswer {
        sequence: step.sequence,
        iteration: (!step.paused).then_some(step.iteration),
        timing: timing_of(sender, ack, took / steps),
    }
}

/// Returns the time that an answer says it took.
fn timing_of(sender: &PeerName, ack: &StepAck, answered_after: Duration) -> PeerTiming {
    let sum = |of: fn(&CellAck) -> u64| ack.cells.iter().map(of).fold(0, u64::saturating_add);
    let parts = [
        sum(|cell| cell.physics_ns),
        sum(|cell| cell.systems_ns),
        sum(|cell| cell.sensors_ns),
    ];
    // On several threads the cells' times add up to more than passed.
    let all = parts
        .iter()
        .fold(0, |all: u64, part| all.saturating_add(*part));
    let scale = if all > ack.busy_ns {
        ack.busy_ns as f64 / all as f64
    } else {
        1.0
    };
    let [physics, systems, sensors] =
        parts.map(|part| Duration::from_nanos((part as f64 * scale) as u64));
    PeerTiming {
        name: sender.clone(),
        physics,
        systems,
        sensors,
        busy: Duration::from_nanos(ack.busy_ns),
        published: ack.published,
        answered_after,
    }
}

/// Finds that an ack lacks something that was asked of its sender, besides the states.
fn find_shortfall(wanted: &Wanted, ack: &StepAck, host_map: &HostMap) -> Result<(), AckError> {
    let is_nothing_wanted =
        wanted.poses.is_empty() && wanted.states.is_empty() && wanted.snapshots.is_empty();
    let is_nothing_here =
        ack.poses.is_empty() && ack.transfers.is_empty() && ack.snapshots.is_empty();
    if is_nothing_wanted && is_nothing_here {
        return Ok(());
    }
    let of_cells = |performers: &[PerformerId]| {
        let mut own: Vec<(CellId, PerformerId)> = performers
            .iter()
            .map(|performer| (host_map.cell(*performer), *performer))
            .filter(|(cell, _)| ack.is_about(*cell))
            .collect();
        own.sort_unstable();
        own.into_iter().map(|(_, performer)| performer)
    };
    let poses = ack.poses.iter().map(|poses| poses.performer);
    let transfers = ack.transfers.iter().map(|transfer| transfer.performer);
    let mut snapshots = ack.snapshots.iter();
    let cells = wanted.snapshots.iter().copied();
    let hosted = cells.filter(|cell| ack.is_about(*cell));
    if !of_cells(&wanted.poses).eq(poses) {
        Err(AckError::Poses)
    } else if !of_cells(&wanted.states).eq(transfers) {
        Err(AckError::WholeStates)
    } else if snapshots.any(|snapshot| snapshot.sequence != ack.sequence)
        || !hosted.eq(ack.snapshots.iter().map(|snapshot| snapshot.cell))
    {
        Err(AckError::Snapshots)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::{Digest, DigestBuilder, StateBlob};

    use super::*;
    use crate::levels::tests::{performer, world};
    use crate::peer_numbers::PeerNumbers;
    use crate::primary::barrier::round::NewRound;
    use crate::primary::peers::seats::Seats;
    use crate::primary::placement::Placement;
    use crate::primary::resume::saved_state::tests::settings;
    use crate::registry::EntityRegistry;
    use crate::topology::Topology;

    /// Two secondaries with a cell each, and step 3 under way, which is iteration 2.
    struct Rig {
        known: PeerNumbers,
        world: WorldState,
        placement: Placement,
        barrier: Barrier,
    }

    impl Rig {
        fn new() -> Self {
            let mut first = world("w", &["L1", "L2"]);
            first.models.push(performer("a", [0.0; 3]));
            first.models.push(performer("b", [10.0, 0.0, 0.0]));
            let worlds = [first];
            let topology = Topology::new(&worlds);
            let secondaries = ["s1", "s2"].map(|name| name.parse().unwrap());
            let mut placement = Placement::new(&topology);
            let mut known = PeerNumbers::default();
            let seats = Arc::new(Seats::of(&secondaries, &mut known));
            known.number(&"s3".parse().unwrap());
            placement.place_first(&topology, &secondaries, &known);
            let step = Step {
                sequence: Sequence(3),
                iteration: Iteration(2),
                ..Step::default()
            };
            let round = NewRound {
                step: Arc::new(step),
                purpose: Purpose::Advance,
                is_ahead: false,
                snapshots: Vec::new(),
                applied: Vec::new(),
                cell_count: 2,
            };
            let mut barrier = Barrier::default();
            barrier.choose_awaited(&seats, true, |_| true, &known);
            barrier.begin(round, &settings().peers, SessionTime(0));
            let registry = EntityRegistry::new(&worlds);
            Self {
                known,
                world: WorldState::new(topology, registry, settings().cells.rules),
                placement,
                barrier,
            }
        }

        fn number(&self, name: &str) -> PeerNumber {
            self.known.find(&name.parse().unwrap()).unwrap()
        }

        /// Makes a sound answer to the step under way.
        fn ack(&self, name: &str) -> StepAck {
            let host_map = self.placement.host_map();
            let mut states = Vec::new();
            let mut cells = Vec::new();
            for cell in host_map.hosted(self.number(name)) {
                let mut digest = DigestBuilder::default();
                for id in host_map.owned(*cell) {
                    let state = *self.world.state(*id);
                    digest.digest(state.digest);
                    states.push(state);
                }
                cells.push(CellAck {
                    cell: *cell,
                    digest: digest.finish(),
                    physics_ns: 0,
                    systems_ns: 0,
                    sensors_ns: 0,
                    state_count: host_map.owned(*cell).len() as u32,
                });
            }
            StepAck {
                sequence: Sequence(3),
                iteration: Iteration(2),
                states: StateBlob::pack(&states),
                cells,
                ..StepAck::default()
            }
        }

        fn on_ack(&mut self, name: &str, mut ack: StepAck, is_lost: bool) -> String {
            let known = (&self.world, self.placement.host_map());
            let sender = (&name.parse().unwrap(), self.number(name));
            let now = SessionTime(1);
            match self.barrier.on_ack(sender, &mut ack, is_lost, known, now) {
                AckVerdict::Stale => "stale".to_owned(),
                AckVerdict::Due => "due".to_owned(),
                AckVerdict::OfStandby(_) => "of a stand-by".to_owned(),
                AckVerdict::Duplicate => "duplicate".to_owned(),
                AckVerdict::Waiting(_) => "waiting".to_owned(),
                AckVerdict::Complete(_) => "complete".to_owned(),
                AckVerdict::Violation { error, divergence } => {
                    let diverges = if divergence.is_some() {
                        ", diverges"
                    } else {
                        ""
                    };
                    format!("{error}{diverges}")
                }
            }
        }
    }

    #[test]
    fn a_step_is_complete_with_the_last_of_its_acks() {
        let mut rig = Rig::new();
        let [first, second] = ["s1", "s2"].map(|name| rig.ack(name));
        assert_eq!(rig.on_ack("s1", first.clone(), false), "waiting");
        assert_eq!(rig.on_ack("s1", first, false), "duplicate");
        assert!(!rig.barrier.is_answered());
        assert_eq!(rig.on_ack("s2", second, false), "complete");
        assert!(rig.barrier.is_answered());
    }

    #[test]
    fn an_ack_that_nobody_waits_for_is_stale() {
        let mut rig = Rig::new();
        let ack = rig.ack("s1");
        let earlier = StepAck {
            sequence: Sequence(2),
            ..ack.clone()
        };
        assert_eq!(rig.on_ack("s1", earlier, false), "stale");
        assert_eq!(rig.on_ack("s3", ack.clone(), false), "stale", "a stranger");
        assert_eq!(
            rig.on_ack("s1", ack.clone(), true),
            "stale",
            "its job answers"
        );
        rig.barrier.drop_round();
        assert_eq!(rig.on_ack("s1", ack.clone(), false), "due", "it was asked");
        assert_eq!(rig.on_ack("s1", ack, false), "stale");
    }

    #[test]
    fn an_answer_of_one_without_cells_is_in_order_while_it_is_empty() {
        let mut rig = Rig::new();
        let [first, other] = ["s1", "s3"].map(|name| rig.number(name));
        let all = Arc::new(Seats::new(vec![first, other], &rig.known));
        for sequence in 3..6 {
            let has_part = |number| number == first;
            rig.barrier
                .choose_awaited(&all, false, has_part, &rig.known);
            let round = NewRound {
                step: Arc::new(Step {
                    sequence: Sequence(sequence),
                    iteration: Iteration(sequence - 1),
                    ..Step::default()
                }),
                purpose: Purpose::Advance,
                is_ahead: false,
                snapshots: Vec::new(),
                applied: Vec::new(),
                cell_count: 1,
            };
            rig.barrier.begin(round, &settings().peers, SessionTime(0));
        }
        let missing: Vec<&str> = rig.barrier.missing().map(PeerName::as_str).collect();
        assert_eq!(missing, ["s1"]);
        let empty = |sequence: u64| StepAck {
            sequence: Sequence(sequence),
            iteration: Iteration(sequence - 1),
            ..StepAck::default()
        };
        assert_eq!(rig.on_ack("s3", empty(4), false), "of a stand-by");
        assert_eq!(rig.on_ack("s3", empty(4), false), "stale");
        let full = StepAck {
            cells: rig.ack("s1").cells,
            ..empty(5)
        };
        assert_eq!(
            rig.on_ack("s3", full, false),
            "its ack is not about the cells that it hosts"
        );
    }

    #[test]
    fn an_ack_that_breaks_the_protocol_says_how_and_is_not_noted() {
        let mut rig = Rig::new();
        let good = rig.ack("s1");
        let mut other = good.clone();
        other.iteration = Iteration(7);
        let mut wrong = good.clone();
        wrong.cells[0].digest = Digest(1);
        let mut fewer = good.clone();
        fewer.states = StateBlob::pack(&[]);
        for (ack, expected) in [
            (other, "it acknowledged iteration 7 that nobody asked for"),
            (
                rig.ack("s2"),
                "its ack is not about the cells that it hosts",
            ),
            (
                wrong,
                "the digest of cell 1 does not fit its states, diverges",
            ),
            (fewer, "its ack holds fewer states than it says"),
        ] {
            assert_eq!(rig.on_ack("s1", ack, false), expected);
        }
        assert_eq!(rig.on_ack("s1", good, false), "waiting");
    }
}
