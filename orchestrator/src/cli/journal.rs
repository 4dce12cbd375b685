//! The command line about journals: of runs that begin, and `phalanx resume`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, ViewArguments};

/// Options of a run's journal, from which it can be resumed; absent ones have their defaults.
#[derive(Clone, Debug, Default, Args)]
pub struct JournalArguments {
    /// Write a journal, so that the run can be resumed after a crash; a folder is its place
    /// [default: on, in the run's folder]
    #[arg(long, value_name = "on|off|DIR", env = "PHALANX_JOURNAL", value_parser = parse_place)]
    pub journal: Option<JournalPlace>,
    /// Largest size of the journal, in MiB; the run pauses when that is not enough [default: 4096]
    #[arg(long, value_name = "MIB", env = "PHALANX_JOURNAL_LIMIT")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub journal_limit: Option<u64>,
}

/// The place of a run's journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JournalPlace {
    /// In the run's folder.
    #[default]
    RunFolder,
    /// Nowhere: the run cannot be resumed.
    Nowhere,
    /// In this folder.
    Folder(PathBuf),
}

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
    /// Format of the summary, or of what --detach prints; json needs one of the two
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Options of the view.
    #[command(flatten)]
    pub view: ViewArguments,
}

fn parse_place(text: &str) -> Result<JournalPlace, String> {
    match text {
        "on" => Ok(JournalPlace::RunFolder),
        "off" => Ok(JournalPlace::Nowhere),
        "" => Err("use on, off or a folder".to_owned()),
        folder => Ok(JournalPlace::Folder(folder.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_on_off_or_in_a_folder() {
        assert_eq!(parse_place("on"), Ok(JournalPlace::RunFolder));
        assert_eq!(parse_place("off"), Ok(JournalPlace::Nowhere));
        assert_eq!(parse_place("./on"), Ok(JournalPlace::Folder("./on".into())));
        assert!(parse_place("").is_err());
    }
}
