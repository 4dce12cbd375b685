//! The rules of lockstep, without IO.
//!
//! [`Topology`] says which cells, levels and performers the worlds have. [`Primary`] holds the
//! barrier: iteration `n + 1` starts when every secondary has acknowledged `n`. [`Secondary`]
//! answers each step once. Neither role opens a socket, reads a clock or starts a thread: messages
//! and time come in as inputs, everything to be done goes out as outputs.

pub mod access;
pub mod auto_levels;
pub mod balance;
pub mod bounds;
mod box_tree;
pub mod checkpoint;
pub mod commands_file;
mod journal;
pub mod levels;
pub mod library;
pub mod limits;
pub mod numbers;
pub mod pace;
pub mod partition;
mod peer_numbers;
pub mod placement;
pub mod primary;
pub mod publication;
#[cfg(test)]
mod random;
pub mod registry;
pub mod roster;
pub mod saved_state_error;
pub mod secondary;
pub mod services;
pub mod topology;

pub use auto_levels::CutError;
pub use balance::{Balance, BalanceSettings, Move};
pub use bounds::Bounds;
pub use checkpoint::Checkpoint;
pub use library::{Library, VisualUse};
pub use numbers::Numbers;
pub use partition::{
    Changes, HandOffPlan, LoadRule, Moved, PartChange, Partition, Rules, SightRule,
};
pub use primary::{
    CHECKPOINT_EVERY, CellSettings, CellTiming, OutputSettings, PaceSettings, ParticipantSettings,
    PeerLossPolicy, PeerSettings, PeerTiming, Primary, PrimaryInput, PrimaryOutput, ProcessReport,
    REPLAY_MAX, ReadText, RecoverySettings, Replay, ResumeError, RunTarget, Settings, StepReport,
    StepTimeoutSettings, WINDOW_MAX,
};
pub use registry::EntityRegistry;
pub use saved_state_error::SavedStateError;
pub use secondary::{
    CatchUpWork, JobEnd, Secondary, SecondaryInput, SecondaryOutput, SecondarySettings, StepWork,
    WorldLoaded,
};
pub use topology::{CellSpec, LevelSpec, PerformerSpec, Split, Topology, works_by_contact};
