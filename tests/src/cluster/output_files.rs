//! The files that a simulated run writes beside its journal: digests, states and commands, written
//! by the code that writes those of real runs. What the process had not handed to the system is
//! lost when it is killed; what was not synced, when the machine loses its power.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;

use lockstep::{Primary, StepReport};
use protocol::primary_to_secondary::Step;
use protocol::states_file::{NUMBERS, RecordedState, StatesReader, StatesRecord};
use protocol::{CellId, Digest, Iteration, ScheduledCommand};
use tempfile::TempDir;
use worker::commands_file::{self, CommandsRecord};
use worker::digests_file::DigestsFile;
use worker::run_outputs::RunOutputs;
use worker::states_file::StatesFile;

use super::journaling::folder_in_memory;

/// The names of the files.
const NAMES: [&str; 3] = ["digests", "states", "commands"];

/// Length of each file \[bytes\].
pub(super) type Lengths = [u64; NAMES.len()];

/// The files of a run.
pub(super) struct OutputFiles {
    folder: TempDir,
    /// Writers of them, while the primary lives.
    files: RunOutputs,
    synced: Lengths,
    /// The file that misses an iteration or its commands, to show that it is seen.
    left_out: Option<(&'static str, Iteration)>,
}

/// Contents of the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The digest of each iteration, from 1 on.
    pub digests: Vec<Digest>,
    /// The iterations in which something changed.
    pub states: Vec<RecordedIteration>,
    /// The commands that were done.
    pub commands: Vec<ScheduledCommand>,
}

/// An iteration with all performers as they were after it, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedIteration {
    /// The iteration.
    pub iteration: Iteration,
    /// Its digest.
    pub digest: Digest,
    /// Cell, bits of all numbers, and fingerprint of all links.
    pub performers: BTreeMap<String, (CellId, [u64; NUMBERS], Digest)>,
}

impl OutputFiles {
    /// Begins the files of a run.
    pub(super) fn new(primary: &Primary) -> Self {
        let mut files = Self {
            folder: folder_in_memory(),
            files: RunOutputs::default(),
            synced: [0; NAMES.len()],
            left_out: None,
        };
        files.begin(primary);
        files
    }

    fn begin(&mut self, primary: &Primary) {
        let [digests, states, commands] = self.paths();
        let step_size = primary.settings().pace.step_size;
        let states = StatesFile::create(&states, primary.topology(), step_size);
        self.files = RunOutputs {
            digests: Some(DigestsFile::create(&digests).expect("there is room")),
            states: Some(states.expect("there is room")),
            commands: Some(CommandsRecord::create(&commands).expect("there is room")),
            ..RunOutputs::default()
        };
    }

    fn paths(&self) -> [PathBuf; NAMES.len()] {
        NAMES.map(|name| self.folder.path().join(name))
    }

    fn lengths(&self) -> Lengths {
        let length = |path| fs::metadata(path).expect("it was created").len();
        self.paths().map(length)
    }

    pub(super) fn on_step(&mut self, step: &Step) {
        self.files.note_step(step);
    }

    pub(super) fn on_command(&mut self, command: &ScheduledCommand) {
        if self.left_out != Some(("commands", command.iteration)) {
            self.files.write_command(command).expect("there is room");
        }
    }

    pub(super) fn on_done(&mut self, report: &StepReport, primary: &Primary) {
        let is_left_out = |name| self.left_out == Some((name, report.iteration));
        let [has_digest, has_states] = ["digests", "states"].map(|name| !is_left_out(name));
        let digests = self.files.digests.take_if(|_| !has_digest);
        let states = self.files.states.take_if(|_| !has_states);
        let written = self.files.write_step(report, primary);
        written.expect("there is room");
        self.files.digests = self.files.digests.take().or(digests);
        self.files.states = self.files.states.take().or(states);
    }

    /// Has a file miss an iteration or its commands.
    pub(super) fn leave_out(&mut self, name: &'static str, iteration: Iteration) {
        self.left_out = Some((name, iteration));
    }

    /// Hands all to the system; what is as long as that is to be synced before a checkpoint counts.
    pub(super) fn flush(&mut self) -> Lengths {
        self.files.hand_over().expect("there is room");
        self.lengths()
    }

    /// Takes note that the files outlive a loss of power as far as that.
    pub(super) fn note_synced(&mut self, lengths: Lengths) {
        self.synced = lengths;
    }

    /// The process that writes is killed: what it had not handed to the system is lost.
    pub(super) fn crash(&mut self) {
        let lengths = self.lengths();
        self.files = RunOutputs::default();
        self.cut(lengths);
    }

    /// The machine loses its power.
    pub(super) fn lose_power(&mut self) {
        self.cut(self.synced);
    }

    fn cut(&self, lengths: Lengths) {
        for (path, length) in self.paths().into_iter().zip(lengths) {
            let file = fs::OpenOptions::new().write(true).open(path);
            let file = file.expect("it was created");
            file.set_len(length).expect("it can be cut");
        }
    }

    /// Returns the last iteration that the digests have.
    pub(super) fn reach(&self) -> Iteration {
        let [digests, ..] = self.paths();
        DigestsFile::reach(&digests).expect("it can be read")
    }

    /// Goes on after an iteration and so many commands, or begins anew.
    ///
    /// # Panics
    /// Panics if the files lack what was before.
    pub(super) fn resume(&mut self, primary: &Primary, after: Option<(Iteration, u64)>) {
        let Some((iteration, count)) = after else {
            return self.begin(primary);
        };
        let [digests, states, commands] = self.paths();
        let digests = DigestsFile::resume(&digests, iteration);
        let states = StatesFile::resume(&states, primary, iteration);
        let commands = CommandsRecord::resume(&commands, count);
        self.files = RunOutputs {
            digests: Some(digests.unwrap_or_else(|error| panic!("outputs: digests: {error}"))),
            states: Some(states.unwrap_or_else(|error| panic!("outputs: states: {error}"))),
            commands: Some(commands.unwrap_or_else(|error| panic!("outputs: commands: {error}"))),
            ..RunOutputs::default()
        };
        let lengths = self.lengths();
        let shorter = self.synced.into_iter().zip(lengths);
        let shorter: Vec<u64> = shorter.map(|(one, other)| one.min(other)).collect();
        self.synced.copy_from_slice(&shorter);
    }

    /// Marks the end of the files and reads them.
    ///
    /// # Panics
    /// Panics if the files are not what such files are.
    pub(super) fn finish(&mut self) -> Outputs {
        self.files.complete().expect("there is room");
        let [digests, states, commands] = self.paths();
        let text = fs::read_to_string(digests).expect("it can be read");
        let digests = text.lines().zip(1_u64..).map(|(line, number)| {
            let digest = line.strip_prefix(&format!("{number} "));
            let digest = digest.and_then(|digest| digest.parse().ok());
            digest.unwrap_or_else(|| panic!("outputs: line {number} of the digests is {line:?}"))
        });
        Outputs {
            digests: digests.collect(),
            states: read_states(File::open(states).expect("it can be read")),
            commands: commands_file::read(&commands)
                .unwrap_or_else(|error| panic!("outputs: {error}")),
        }
    }
}

fn read_states(file: File) -> Vec<RecordedIteration> {
    let panic_of = |error| -> ! { panic!("outputs: states: {error}") };
    let reader = StatesReader::open(BufReader::new(file));
    let mut reader = reader.unwrap_or_else(|error| panic_of(error));
    let mut names = reader.header().performers.clone();
    let mut known: BTreeMap<String, RecordedState> = BTreeMap::new();
    let mut states = Vec::new();
    while let StatesRecord::Frame(frame) = reader.read().unwrap_or_else(|error| panic_of(error)) {
        if reader.header().performers != names {
            names.clone_from(&reader.header().performers);
            known.clear();
        }
        for change in frame.changes {
            let name = &names[change.performer.0 as usize];
            if !name.is_empty() {
                known.insert(name.clone(), change);
            }
        }
        let performers = known.iter().map(|(name, state)| {
            let bits = state.numbers.map(f64::to_bits);
            (name.clone(), (state.cell, bits, state.links))
        });
        states.push(RecordedIteration {
            iteration: frame.iteration,
            digest: frame.digest,
            performers: performers.collect(),
        });
    }
    states
}
