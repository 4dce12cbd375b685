//! [`Checkpoints`]: requests for checkpoints, and their parts as they come.
//!
//! Hosts send their cells once they have answered the step that asks for them, so that no step
//! waits; the past before a checkpoint is forgotten when all of it is here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{CellSnapshot, SceneSnapshot};
use protocol::{CellId, Digest, FailureCode, Iteration, PeerName, RequestId, RoutingId, Sequence};

use crate::checkpoint::Checkpoint;
use crate::primary::context::{CodedError, Context, Failure};
use crate::primary::io::PrimaryOutput;
use crate::primary::purpose::Purpose;
use crate::primary::recovery::Recovery;
use crate::primary::recovery::step_log::{self, StepLog};
use crate::primary::settings::RecoverySettings;

/// A checkpoint that hosts were asked for.
#[derive(Debug)]
pub(crate) struct Coming {
    sequence: Sequence,
    /// Saved state of the primary after that step, once it is done.
    own: Option<OwnPart>,
    scene: Option<SceneSnapshot>,
    /// Secondary that tells the scene.
    world_publisher: Option<PeerName>,
    /// The cells that are missing, with their hosts.
    missing: BTreeMap<CellId, PeerName>,
    cells: BTreeMap<CellId, CellSnapshot>,
}

/// The most checkpoints that are remembered as let go.
const LET_GO_MAX: usize = 8;

/// Part of a checkpoint that the primary makes.
#[derive(Debug)]
pub(crate) struct OwnPart {
    pub(crate) iteration: Iteration,
    pub(crate) digest: Digest,
    /// Saved state of the rules.
    pub(crate) saved: Vec<u8>,
}

/// Outcome of a part of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartVerdict {
    /// It is of a checkpoint that nobody waits for.
    Stale,
    /// It is of a checkpoint that was asked for and let go.
    LetGo,
    /// It is of another than was asked.
    Foreign,
    /// Its cell is too large: no checkpoint can be made.
    TooLarge,
    /// It is kept.
    Taken,
}

/// A checkpoint that nobody can ask for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckpointError {
    #[error("the secondaries are not ready yet")]
    NotReady,
    #[error("{0}")]
    Impossible(String),
    #[error("the run keeps no checkpoints: start it with --on-peer-loss recover")]
    NotKept,
}

impl CodedError for CheckpointError {
    fn code(&self) -> FailureCode {
        match self {
            Self::NotReady => FailureCode::NotReady,
            Self::Impossible(_) | Self::NotKept => FailureCode::WrongState,
        }
    }
}

/// Checkpoints, made and coming.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    /// The iteration of the last one that was asked for.
    asked_at: Iteration,
    coming: Option<Coming>,
    /// Steps of the last that were asked for and let go: their parts may still come.
    let_go: BTreeSet<Sequence>,
    /// Clients that wait for one: those not served yet have no step.
    waiting: Vec<(RoutingId, RequestId, Option<Sequence>)>,
    /// Reason why none can be made, once that is known.
    impossible: Option<String>,
}

impl Checkpoints {
    fn note_let_go(&mut self, sequence: Sequence) {
        self.let_go.insert(sequence);
        if self.let_go.len() > LET_GO_MAX {
            self.let_go.pop_first();
        }
    }
}

impl Recovery {
    /// Returns the reason why lost cells cannot be restored, if they cannot.
    pub(crate) fn reason_against(&self) -> Option<&str> {
        self.checkpoints.impossible.as_deref()
    }

    /// Tells whether a client waits for a checkpoint that no step has asked for.
    pub(crate) fn is_checkpoint_wanted(&self) -> bool {
        let mut waiting = self.checkpoints.waiting.iter();
        waiting.any(|(_, _, sequence)| sequence.is_none())
    }

    /// Lets go of a checkpoint whose parts may never come, since a host is gone; it is asked for
    /// again.
    pub(crate) fn drop_coming_checkpoint(&mut self) {
        let Some(coming) = self.checkpoints.coming.take() else {
            return;
        };
        self.checkpoints.note_let_go(coming.sequence);
        self.checkpoints.asked_at = Iteration(0);
        for (_, _, sequence) in &mut self.checkpoints.waiting {
            if *sequence == Some(coming.sequence) {
                *sequence = None;
            }
        }
    }

    /// Tells clients that wait for a checkpoint that none comes, with the reason.
    pub(crate) fn fail_checkpoints(&mut self, failure: &Failure, cx: &mut Context<'_>) {
        for (to, request, _) in std::mem::take(&mut self.checkpoints.waiting) {
            cx.fail(to, request, failure);
        }
    }

    /// Makes no checkpoint any more: from now on a loss ends the run.
    pub(crate) fn give_up_checkpoints(&mut self, reason: String, cx: &mut Context<'_>) {
        if let Some(coming) = self.checkpoints.coming.take() {
            self.checkpoints.note_let_go(coming.sequence);
        }
        let failure = Failure::new(FailureCode::WrongState, reason.clone());
        self.fail_checkpoints(&failure, cx);
        let text = format!("{reason}: a secondary that is lost now ends the run");
        cx.event(Severity::Warning, "recovery", text);
        self.checkpoints.impossible = Some(reason);
        self.step_log = StepLog::default();
    }

    /// Has a client wait for a checkpoint.
    ///
    /// # Errors
    /// Fails when none can be made.
    pub(crate) fn on_checkpoint(
        &mut self,
        (from, request): (RoutingId, RequestId),
        settings: &RecoverySettings,
    ) -> Result<(), CheckpointError> {
        if let Some(reason) = &self.checkpoints.impossible {
            return Err(CheckpointError::Impossible(reason.clone()));
        }
        if !self.keeps_past(settings) {
            return Err(CheckpointError::NotKept);
        }
        self.checkpoints.waiting.push((from, request, None));
        Ok(())
    }

    /// Returns the iteration of the next regular checkpoint.
    pub(crate) fn next_checkpoint(&self, settings: &RecoverySettings) -> Option<Iteration> {
        let every = settings.checkpoint_every;
        let is_due = every > 0 && self.keeps_past(settings);
        is_due.then(|| Iteration(self.checkpoints.asked_at.0 + every))
    }

    /// Decides whether a step that is about to be published asks for a checkpoint.
    pub(crate) fn asks_for_checkpoint(
        &mut self,
        purpose: Purpose,
        (sequence, iteration): (Sequence, Iteration),
        settings: &RecoverySettings,
    ) -> bool {
        let can_be = match purpose {
            Purpose::Advance | Purpose::Rearrange => self.keeps_past(settings),
            Purpose::Build | Purpose::Pause | Purpose::Fetch => false,
        };
        let every = settings.checkpoint_every;
        let age = iteration.0.saturating_sub(self.checkpoints.asked_at.0);
        let is_due = every > 0 && age >= every;
        let is_heavy = self.step_log.bytes() > step_log::BYTES_MAX && age >= 16;
        if !can_be || !(is_due || is_heavy || self.is_checkpoint_wanted()) {
            return false;
        }
        self.checkpoints.asked_at = iteration;
        for (_, _, asked) in &mut self.checkpoints.waiting {
            // Whoever waits for one that never came waits for this one.
            *asked = Some(sequence);
        }
        let earlier = self.checkpoints.coming.replace(Coming {
            sequence,
            own: None,
            scene: None,
            world_publisher: None,
            missing: BTreeMap::new(),
            cells: BTreeMap::new(),
        });
        if let Some(earlier) = earlier {
            self.checkpoints.note_let_go(earlier.sequence);
        }
        true
    }

    /// Notes the cells that belong to the checkpoint that a step asks for, with their hosts.
    pub(crate) fn note_cells_of_checkpoint(
        &mut self,
        sequence: Sequence,
        hosts: &BTreeMap<CellId, PeerName>,
        world_publisher: Option<&PeerName>,
    ) {
        if let Some(coming) = &mut self.checkpoints.coming
            && coming.sequence == sequence
        {
            coming.missing = hosts.clone();
            coming.world_publisher = world_publisher.cloned();
        }
    }

    /// Tells whether the primary's part of the checkpoint after a step is wanting.
    pub(crate) fn lacks_own_part(&self, sequence: Sequence) -> bool {
        let coming = self.checkpoints.coming.as_ref();
        coming.is_some_and(|coming| coming.sequence == sequence && coming.own.is_none())
    }

    /// Takes the primary's part of the checkpoint that is coming.
    pub(crate) fn take_own_part(&mut self, own: OwnPart) {
        if let Some(coming) = &mut self.checkpoints.coming {
            coming.own = Some(own);
        }
    }

    /// Takes a cell of the checkpoint that is coming.
    pub(crate) fn on_cell_checkpoint(
        &mut self,
        sender: &PeerName,
        snapshot: CellSnapshot,
    ) -> PartVerdict {
        if self.checkpoints.let_go.contains(&snapshot.sequence) {
            return PartVerdict::LetGo;
        }
        let Some(coming) = &mut self.checkpoints.coming else {
            return PartVerdict::Stale;
        };
        let host = coming.missing.get(&snapshot.cell);
        if coming.sequence != snapshot.sequence || host.is_none() {
            return PartVerdict::Stale;
        }
        if host != Some(sender) {
            return PartVerdict::Foreign;
        }
        coming.missing.remove(&snapshot.cell);
        if snapshot.bytes.is_empty() {
            return PartVerdict::TooLarge;
        }
        coming.cells.insert(snapshot.cell, snapshot);
        PartVerdict::Taken
    }

    /// Takes the scene of the checkpoint that is coming.
    pub(crate) fn on_scene_checkpoint(
        &mut self,
        sender: &PeerName,
        scene: SceneSnapshot,
    ) -> PartVerdict {
        if self.checkpoints.let_go.contains(&scene.sequence) {
            return PartVerdict::LetGo;
        }
        match &mut self.checkpoints.coming {
            Some(coming) if coming.world_publisher.as_ref() != Some(sender) => PartVerdict::Foreign,
            Some(coming) if coming.sequence == scene.sequence && coming.scene.is_none() => {
                coming.scene = Some(scene);
                PartVerdict::Taken
            }
            _ => PartVerdict::Stale,
        }
    }

    /// Completes the checkpoint that is coming if all of it is here: the past before it is
    /// forgotten.
    pub(crate) fn complete_checkpoint(&mut self, is_journaled: bool, cx: &mut Context<'_>) {
        let is_complete = |coming: &mut Coming| {
            coming.missing.is_empty() && coming.own.is_some() && coming.scene.is_some()
        };
        let Some(coming) = self.checkpoints.coming.take_if(is_complete) else {
            return;
        };
        let (Some(own), Some(scene)) = (coming.own, coming.scene) else {
            return;
        };
        let checkpoint = Arc::new(Checkpoint {
            sequence: coming.sequence,
            iteration: own.iteration,
            digest: own.digest,
            primary: own.saved,
            scene,
            cells: coming.cells.into_values().collect(),
        });
        self.step_log
            .rest_on(Arc::clone(&checkpoint), self.delivered);
        cx.push(PrimaryOutput::Checkpointed(checkpoint));
        if !is_journaled {
            self.on_checkpoint_stored(coming.sequence, cx);
        }
    }

    /// Answers those who wait for a checkpoint that is safe now.
    pub(crate) fn on_checkpoint_stored(&mut self, stored: Sequence, cx: &mut Context<'_>) {
        let is_served = |waiting: &mut (RoutingId, RequestId, Option<Sequence>)| {
            waiting.2.is_some_and(|sequence| sequence <= stored)
        };
        let served = self.checkpoints.waiting.extract_if(.., is_served);
        for (to, request, _) in served {
            cx.done(to, request);
        }
    }
}
