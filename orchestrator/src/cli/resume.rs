//! The command line of `phalanx resume`.

use clap::Args;

use super::{Format, ViewArguments};

/// The arguments of `phalanx resume`.
#[derive(Clone, Debug, Args)]
pub struct ResumeArguments {
    /// A run of this machine that was killed or interrupted, by name or folder; may be left out
    /// when there is one
    #[arg(value_name = "RUN | DIRECTORY")]
    pub run: Option<String>,
    /// Secondaries to start; 0 is standalone [default: as many as before]
    #[arg(long, value_name = "N")]
    pub secondaries: Option<u32>,
    /// Stop after so many iterations, counted from the start of the run [default: as before]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// Largest size of the journal, in MiB [default: as before]
    #[arg(long, value_name = "MIB")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub journal_limit: Option<u64>,
    /// Go on although something is lost of what the run wrote down: from the last record before
    /// that, and without files of the run that do not reach it
    #[arg(long)]
    pub accept_loss: bool,
    /// No view: progress on stderr, summary on stdout; the run ends with this process
    #[arg(long)]
    pub headless: bool,
    /// No view: print the run's name as soon as it is started, and leave it running
    #[arg(long)]
    pub detach: bool,
    /// Go on as a job of Slurm, submitted with these options of sbatch, such as "-N 4 -n 8"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub slurm: Option<String>,
    /// Format of the summary, or of what --detach prints; json needs one of the two
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Options of the view.
    #[command(flatten)]
    pub view: ViewArguments,
}

impl ResumeArguments {
    /// Returns those that go on with a run in this process, as it was.
    pub fn headless(run: String) -> Self {
        Self {
            run: Some(run),
            secondaries: None,
            iterations: None,
            journal_limit: None,
            accept_loss: false,
            headless: true,
            detach: false,
            slurm: None,
            format: Format::default(),
            view: ViewArguments::default(),
        }
    }
}
