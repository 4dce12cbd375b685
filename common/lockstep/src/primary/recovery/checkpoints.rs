//! Checkpoints: when one is asked for, and what comes of the answers.
//!
//! Hosts send their cells once they have answered the step that asks for them, so that no step
//! waits; the past before a checkpoint is forgotten when all of it is here.

use crate::primary::recovery::Recovery;
use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{CellSnapshot, SceneSnapshot};
use protocol::{CellId, Digest, Iteration, PeerName, RequestId, RoutingId, Sequence};

use crate::checkpoint::Checkpoint;
use crate::primary::context::Context;
use crate::primary::purpose::Purpose;
use crate::primary::recovery::step_log;
use crate::primary::{PeerLossPolicy, Phase, Primary, PrimaryOutput};

/// A checkpoint that hosts were asked for.
#[derive(Debug)]
pub(crate) struct Coming {
    sequence: Sequence,
    /// What the primary saves after that step, once it is done.
    own: Option<(Iteration, Digest, Vec<u8>)>,
    scene: Option<SceneSnapshot>,
    /// Secondary that says what the scene is.
    speaker: Option<PeerName>,
    /// The cells that are missing, with their hosts.
    missing: BTreeMap<CellId, PeerName>,
    cells: BTreeMap<CellId, CellSnapshot>,
}

/// Checkpoints, made and coming.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    /// The iteration of the last one that was asked for.
    asked_at: Iteration,
    coming: Option<Coming>,
    /// Clients that wait for one: those not served yet have no step.
    waiting: Vec<(RoutingId, RequestId, Option<Sequence>)>,
    /// Reason why none can be made, once that is known.
    impossible: Option<String>,
}

impl Recovery {
    /// Tells why lost cells cannot be restored, if they cannot.
    pub(crate) fn no_recovery(&self) -> Option<&str> {
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
        self.checkpoints.asked_at = Iteration(0);
        for (_, _, sequence) in &mut self.checkpoints.waiting {
            if *sequence == Some(coming.sequence) {
                *sequence = None;
            }
        }
    }

    /// Tells clients that wait for a checkpoint why none comes.
    pub(crate) fn fail_checkpoints(&mut self, reason: &str, cx: &mut Context<'_>) {
        for (to, request, _) in std::mem::take(&mut self.checkpoints.waiting) {
            cx.fail(to, request, reason);
        }
    }

    pub(crate) fn give_up_checkpoints(&mut self, reason: String, cx: &mut Context<'_>) {
        self.checkpoints.coming = None;
        self.fail_checkpoints(&reason, cx);
        let text = format!("{reason}: a secondary that is lost now ends the run");
        cx.event(Severity::Warning, "recovery", text);
        self.checkpoints.impossible = Some(reason);
        self.step_log = step_log::StepLog::default();
    }
}

impl Primary {
    /// Tells whether the past is kept, from which lost cells are restored.
    pub(crate) fn keeps_past(&self) -> bool {
        let has_use = self.settings.on_peer_loss == PeerLossPolicy::Recover
            || self.settings.stand_bys > 0
            || self.settings.is_journaled;
        has_use && self.recovery.checkpoints.impossible.is_none()
    }

    pub(crate) fn on_checkpoint(
        &mut self,
        from: RoutingId,
        request: RequestId,
        cx: &mut Context<'_>,
    ) {
        if self.phase == Phase::Gathering {
            return cx.fail(from, request, "the secondaries are not ready yet");
        }
        if let Some(reason) = &self.recovery.checkpoints.impossible {
            return cx.fail(from, request, reason);
        }
        if !self.keeps_past() {
            let reason = "the run keeps no checkpoints: start it with --on-peer-loss recover";
            return cx.fail(from, request, reason);
        }
        self.recovery
            .checkpoints
            .waiting
            .push((from, request, None));
        self.step_if_idle(cx);
    }

    /// Returns the iteration of the next regular checkpoint.
    pub(crate) fn next_checkpoint(&self) -> Option<Iteration> {
        let every = self.settings.checkpoint_every;
        let is_due = every > 0 && self.keeps_past();
        is_due.then(|| Iteration(self.recovery.checkpoints.asked_at.0 + every))
    }

    /// Decides whether the step that is about to be published asks for a checkpoint.
    pub(crate) fn asks_for_checkpoint(&mut self, purpose: Purpose, iteration: Iteration) -> bool {
        let can_be = match purpose {
            Purpose::Advance | Purpose::Rearrange => self.keeps_past(),
            Purpose::Build | Purpose::Pause | Purpose::Fetch => false,
        };
        let every = self.settings.checkpoint_every;
        let age = iteration
            .0
            .saturating_sub(self.recovery.checkpoints.asked_at.0);
        let is_due = every > 0 && age >= every;
        let is_heavy = self.recovery.step_log.bytes() > step_log::BYTES_MAX && age >= 16;
        if !can_be || !(is_due || is_heavy || self.recovery.is_checkpoint_wanted()) {
            return false;
        }
        self.recovery.checkpoints.asked_at = iteration;
        for (_, _, sequence) in &mut self.recovery.checkpoints.waiting {
            // Whoever waits for one that never came waits for this one.
            *sequence = Some(self.clock.sequence);
        }
        self.recovery.checkpoints.coming = Some(Coming {
            sequence: self.clock.sequence,
            own: None,
            scene: None,
            speaker: None,
            missing: BTreeMap::new(),
            cells: BTreeMap::new(),
        });
        true
    }

    /// Notes which cells belong to the checkpoint that the step asks for.
    pub(crate) fn note_cells_of_checkpoint(&mut self, speaker: Option<&PeerName>) {
        if let Some(coming) = &mut self.recovery.checkpoints.coming
            && coming.sequence == self.clock.sequence
        {
            coming.missing = self.placement.host_map.affinity().clone();
            coming.speaker = speaker.cloned();
        }
    }

    /// Notes what the primary saves when the step that asked for a checkpoint is done, with all
    /// that follows from it before the next.
    pub(crate) fn save_for_checkpoint(&mut self, cx: &mut Context<'_>) {
        let is_asked =
            |coming: &Coming| coming.sequence == self.clock.sequence && coming.own.is_none();
        if self
            .recovery
            .checkpoints
            .coming
            .as_ref()
            .is_none_or(|one| !is_asked(one))
        {
            return;
        }
        let saved = if self.settings.is_journaled {
            self.save()
        } else {
            Vec::new()
        };
        let own = Some((self.clock.iteration, self.world.digest, saved));
        if let Some(coming) = &mut self.recovery.checkpoints.coming {
            coming.own = own;
        }
        self.complete_checkpoint(cx);
    }

    pub(crate) fn on_cell_checkpoint(
        &mut self,
        sender: &PeerName,
        snapshot: CellSnapshot,
        cx: &mut Context<'_>,
    ) {
        let Some(coming) = &mut self.recovery.checkpoints.coming else {
            self.peers.refused.stale += 1;
            return;
        };
        let host = coming.missing.get(&snapshot.cell);
        if coming.sequence != snapshot.sequence || host.is_none() {
            self.peers.refused.stale += 1;
            return;
        }
        if host != Some(sender) {
            self.peers.refused.foreign += 1;
            return;
        }
        coming.missing.remove(&snapshot.cell);
        if snapshot.bytes.is_empty() {
            let cell = &self.world.topology.cell(snapshot.cell).name;
            let reason = format!("cell {cell} of {sender} is too large to be saved");
            return self.recovery.give_up_checkpoints(reason, cx);
        }
        coming.cells.insert(snapshot.cell, snapshot);
        self.complete_checkpoint(cx);
    }

    pub(crate) fn on_scene_checkpoint(
        &mut self,
        sender: &PeerName,
        scene: SceneSnapshot,
        cx: &mut Context<'_>,
    ) {
        match &mut self.recovery.checkpoints.coming {
            Some(coming) if coming.speaker.as_ref() != Some(sender) => {
                self.peers.refused.foreign += 1;
            }
            Some(coming) if coming.sequence == scene.sequence && coming.scene.is_none() => {
                coming.scene = Some(scene);
                self.complete_checkpoint(cx);
            }
            _ => self.peers.refused.stale += 1,
        }
    }

    fn complete_checkpoint(&mut self, cx: &mut Context<'_>) {
        let is_complete = |coming: &mut Coming| {
            coming.missing.is_empty() && coming.own.is_some() && coming.scene.is_some()
        };
        let Some(coming) = self.recovery.checkpoints.coming.take_if(is_complete) else {
            return;
        };
        let (Some((iteration, digest, primary)), Some(scene)) = (coming.own, coming.scene) else {
            return;
        };
        let checkpoint = Arc::new(Checkpoint {
            sequence: coming.sequence,
            iteration,
            digest,
            primary,
            scene,
            cells: coming.cells.into_values().collect(),
        });
        self.recovery
            .step_log
            .rest_on(Arc::clone(&checkpoint), self.recovery.delivered);
        cx.push(PrimaryOutput::Checkpointed(checkpoint));
        if !self.settings.is_journaled {
            self.on_checkpoint_stored(coming.sequence, cx);
        }
    }

    /// Answers those who wait for a checkpoint that is safe now.
    pub(crate) fn on_checkpoint_stored(&mut self, stored: Sequence, cx: &mut Context<'_>) {
        let iteration = self.clock.iteration;
        let is_served = |waiting: &mut (RoutingId, RequestId, Option<Sequence>)| {
            waiting.2.is_some_and(|sequence| sequence <= stored)
        };
        let served: Vec<_> = self
            .recovery
            .checkpoints
            .waiting
            .extract_if(.., is_served)
            .collect();
        for (to, request, _) in served {
            let done = Reply::Done {
                iteration,
                name: None,
                warnings: Vec::new(),
            };
            cx.reply(to, request, done);
        }
    }
}
