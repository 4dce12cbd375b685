//! [`ReportedStates`]: what the answers to steps have said of the states of a cell.

use protocol::state::STATE_BYTES;
use protocol::{Digest, DigestBuilder, StateBlob};

use physics::PerformerStates;

/// The states of a cell as they were told, and which of them the last step changed.
#[derive(Default)]
pub(super) struct ReportedStates {
    /// All of them, packed, then those of before, then those that the last step changed.
    packed: StateBlob,
    packed_before: StateBlob,
    changed: StateBlob,
    changed_count: usize,
    builder: DigestBuilder,
    digest: Digest,
}

impl ReportedStates {
    /// Returns those that the last step changed.
    pub(super) fn changed(&self) -> &StateBlob {
        &self.changed
    }

    /// Returns how many they are.
    pub(super) fn changed_count(&self) -> usize {
        self.changed_count
    }

    /// Returns the digest of all of them.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// Takes note that nothing has changed.
    pub(super) fn rest(&mut self) {
        self.changed.clear();
        self.changed_count = 0;
    }

    /// Forgets what was told: all are told with the next answer.
    pub(super) fn forget(&mut self) {
        self.packed.clear();
    }

    /// Finds what has changed since the last reading that was told.
    pub(super) fn update(&mut self, performer_states: &PerformerStates) {
        let states = performer_states.states();
        let is_known = self.packed.byte_count() == states.len() * STATE_BYTES;
        match performer_states.renewed().filter(|_| is_known) {
            Some([]) => return self.rest(),
            Some(renewed) => {
                self.rest();
                for index in renewed {
                    let is_other = self
                        .packed
                        .replace(*index, &states[*index], &mut self.changed);
                    self.changed_count += usize::from(is_other);
                }
            }
            None => {
                std::mem::swap(&mut self.packed, &mut self.packed_before);
                self.packed.clear();
                for state in states {
                    self.packed.push(state);
                }
                self.changed_count = self.packed_before.changed(&self.packed, &mut self.changed);
            }
        }
        self.builder.clear();
        for state in states {
            self.builder.digest(state.digest);
        }
        self.digest = self.builder.finish();
    }
}
