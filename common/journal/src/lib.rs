//! The journal of a run on disk: its manifest, checkpoints, and what was done since.
//!
//! [`writer::Writer`] writes it, on a thread of its own ([`journal_thread::JournalThread`]);
//! [`reader::read`] finds in it from where, and how, a run goes on. It knows files, and neither
//! sockets nor physics.
//!
//! A journal is a folder: `manifest`, `checkpoint-N` after commit `N`, and segments of the log,
//! `log-N`. A commit is the end of a step; commits are counted over the whole life of a run, also
//! when it was taken up again.
//! **Invariant:** what was written down is never left out in silence: a log whose writer was killed
//! ends within a record, and everything else that is missing is told.
//! **Invariant:** bytes that are damaged are never taken for what was written, and a journal that
//! ends anywhere can be read up to its last whole record.

pub mod checkpoint_file;
pub mod disk;
pub mod folder;
pub mod frame;
pub mod journal_thread;
mod log_reader;
pub mod loss;
pub mod manifest;
pub mod reader;
pub mod record;
pub mod segment;
#[cfg(test)]
mod testing;
pub mod writer;

pub use checkpoint_file::Saved;
pub use disk::Durable;
pub use journal_thread::{Beside, JournalNews, JournalThread};
pub use loss::{Loss, Losses};
pub use manifest::{Manifest, RunSettings};
pub use reader::{ReadJournalError, Recovered};
pub use record::{Commit, Mark, Record};
