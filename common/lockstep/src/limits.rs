//! Limits of the settings of a run, for all that reads them: flags, files and messages.

/// The most threads on which one process steps cells.
pub const THREADS_MAX: u32 = 64;

/// The most iterations that one message of the primary brings.
pub const RUN_AHEAD_MAX: u32 = 4_000;

/// Most iterations that it brings, unless said otherwise.
pub const RUN_AHEAD_DEFAULT: u32 = 2_048;

/// The most levels into which a world is cut.
pub const AUTO_LEVELS_MAX: u32 = 10_000;

/// The least and the greatest number of performers above which a level may be split.
pub const SPLIT_ABOVE: [u32; 2] = [2, 1_000_000];

/// The longest that a performer may be made to stay in a cell \[s\].
pub const MINIMUM_STAY_MAX_S: f64 = 3600.0;

/// The greatest interaction margin \[m\].
pub const INTERACTION_MARGIN_MAX: f64 = 100.0;

/// The most models, and the most performers, that may be there at once beyond those of the start.
pub const NUMBERS_MAX: u32 = 1 << 20;

/// The most links, and the most joints, of a model that comes into a running world.
pub const SPAWNED_PARTS_MAX: usize = 1000;

/// The most collisions of a model that comes into a running world.
pub const SPAWNED_COLLISIONS_MAX: usize = 2000;

/// The most pairs of its collisions whose boxes overlap: in one place they cost the square of their
/// number, in memory and in each step.
pub const SPAWNED_OVERLAPS_MAX: usize = 20_000;

/// The most secondaries that may join beyond those that a run needs.
pub const STAND_BYS_MAX: u32 = 1000;

/// The longest that a process looks for messages before it sleeps \[us\].
pub const SPIN_US_MAX: u64 = 1_000_000;
