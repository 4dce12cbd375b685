//! Flags about the journal of a run.

use std::path::PathBuf;

use clap::Args;
use journal::Losses;

/// Flags of a run's journal, from which it can be resumed.
#[derive(Clone, Debug, Args)]
pub(crate) struct JournalArguments {
    /// Write down what is needed to go on after a crash to this folder; it is removed when the run
    /// is complete
    #[arg(long, value_name = "DIR")]
    pub(crate) journal: Option<PathBuf>,
    /// Largest size of the journal [MiB]; the run pauses when that is not enough
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub(crate) journal_limit: u64,
    /// Go on with the run of a journal; worlds, commands and all that decides its bits are there
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Go on although something is lost of the journal, or of files that the run writes: from the
    /// last record before that, and without those files
    #[arg(long, requires = "resume")]
    pub(crate) accept_loss: bool,
}

impl JournalArguments {
    /// Returns what is done about what is lost of it.
    pub(crate) fn losses(&self) -> Losses {
        if self.accept_loss {
            Losses::Accept
        } else {
            Losses::Refuse
        }
    }

    /// Returns how large the journal may become \[bytes\].
    pub(crate) fn limit_bytes(&self) -> u64 {
        self.journal_limit << 20
    }

    /// Makes sure that a run has worlds or a journal, and not both.
    ///
    /// # Errors
    /// Fails if flags do not go together; the text says what to do.
    pub(crate) fn check(
        &self,
        who: &str,
        has_worlds: bool,
        has_commands: bool,
    ) -> Result<(), String> {
        match (&self.resume, has_worlds) {
            (None, false) => Err(format!("{who} needs a world: name an SDF file")),
            (Some(_), true) => {
                Err("--resume takes the worlds from the journal: name no SDF file".to_owned())
            }
            (Some(_), false) if has_commands => {
                Err("--resume takes the commands from the journal: leave --commands out".to_owned())
            }
            (Some(_), false) if self.journal.is_some() => Err(
                "a run that is resumed goes on with its own journal: leave --journal out"
                    .to_owned(),
            ),
            (None, true) | (Some(_), false) => Ok(()),
        }
    }
}
