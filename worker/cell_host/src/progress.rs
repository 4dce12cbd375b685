//! Progress of the stepper, for the thread that sends heartbeats beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use protocol::Sequence;
use protocol::secondary_to_primary::WorkProgress;

/// Progress of a stepper, shared between the threads of its process.
///
/// The figures are read one by one: a reader may see those of two moments, each of which
/// was true.
#[derive(Clone, Debug, Default)]
pub struct SharedProgress(Arc<Figures>);

#[derive(Debug, Default)]
struct Figures {
    step: AtomicU64,
    answered: AtomicU64,
    job: AtomicU64,
    answered_job: AtomicU64,
    replayed: AtomicU64,
}

impl SharedProgress {
    /// Notes a step that is begun.
    pub fn begin_step(&self, step: Sequence) {
        self.0.step.store(step.0, Ordering::Relaxed);
    }

    /// Notes a step that is answered.
    pub fn end_step(&self, step: Sequence) {
        self.0.answered.store(step.0, Ordering::Relaxed);
    }

    /// Notes a job that is begun after a step.
    pub fn begin_job(&self, job: u64, from: Sequence) {
        self.0.replayed.store(from.0, Ordering::Relaxed);
        self.0.job.store(job, Ordering::Release);
    }

    /// Notes a job that is answered.
    pub fn end_job(&self, job: u64) {
        self.0.answered_job.store(job, Ordering::Relaxed);
    }

    /// Notes a step that is replayed for the job.
    pub fn replay(&self, step: Sequence) {
        self.0.replayed.store(step.0, Ordering::Relaxed);
    }

    /// Returns how far the stepper has come.
    pub fn get(&self) -> WorkProgress {
        let job = self.0.job.load(Ordering::Acquire);
        WorkProgress {
            step: Sequence(self.0.step.load(Ordering::Relaxed)),
            answered: Sequence(self.0.answered.load(Ordering::Relaxed)),
            job,
            answered_job: self.0.answered_job.load(Ordering::Relaxed),
            replayed: Sequence(self.0.replayed.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_what_the_stepper_has_noted_last() {
        let progress = SharedProgress::default();
        let seen = progress.clone();
        assert_eq!(seen.get(), WorkProgress::default());
        progress.end_step(Sequence(6));
        progress.begin_step(Sequence(7));
        progress.begin_job(2, Sequence(3));
        progress.replay(Sequence(5));
        let expected = WorkProgress {
            step: Sequence(7),
            answered: Sequence(6),
            job: 2,
            answered_job: 0,
            replayed: Sequence(5),
        };
        assert_eq!(seen.get(), expected);
    }
}
