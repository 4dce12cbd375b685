//! The file of states: who moved in each iteration, and in which cell; see
//! [`protocol::states_file`] for its format.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use lockstep::{Plan, Primary};
use protocol::primary_to_secondary::HandOff;
use protocol::states_file::{
    self, RecordedState, StatesFrame, StatesHeader, StatesReader, StatesRecord,
};
use protocol::{CellId, Digest, Iteration, PerformerId, PerformerState};

/// A file that states are written to.
#[derive(Debug)]
pub struct StatesFile<W = BufWriter<File>> {
    path: PathBuf,
    writer: W,
    /// The cell that owns each performer.
    cells: Vec<CellId>,
    header: StatesHeader,
    /// Each performer as it was last written.
    written: Vec<Option<RecordedState>>,
    digest: Option<Digest>,
    iterations: Iteration,
    frame: StatesFrame,
    bytes: Vec<u8>,
}

impl StatesFile {
    /// Creates the file, or empties it, and writes what its numbers mean.
    ///
    /// # Errors
    /// When it cannot be created or written.
    pub fn create(path: &Path, plan: &Plan, step_size: Duration) -> io::Result<Self> {
        Self::begin(path, BufWriter::new(File::create(path)?), plan, step_size)
    }

    /// Goes on with a file after an iteration; what it has of later ones is taken away. `primary`
    /// is as it was then.
    ///
    /// # Errors
    /// When it cannot be read or written, or is none of this run.
    pub fn resume(path: &Path, primary: &Primary, after: Iteration) -> io::Result<Self> {
        let counted = Counted::new(BufReader::new(File::open(path)?));
        let position = Rc::clone(&counted.position);
        let mut reader = StatesReader::open(counted).map_err(io::Error::other)?;
        let mut header = reader.header().clone();
        let mut written = vec![None; header.performers.len()];
        let (mut digest, mut length) = (None, position.get());
        let mut last = Iteration(0);
        // A record that is cut or damaged ends what there is; whether that is enough is seen below.
        while let Ok(StatesRecord::Frame(frame)) = reader.read()
            && frame.iteration <= after
        {
            if *reader.header() != header {
                header = reader.header().clone();
                written = vec![None; header.performers.len()];
            }
            for change in frame.changes {
                written[change.performer.0 as usize] = Some(change);
            }
            (digest, last) = (Some(frame.digest), frame.iteration);
            length = position.get();
        }
        let plan = primary.plan();
        let is_new = header.performers != names_of(plan);
        // Whoever came or went since the last frame did so while time stood still after it.
        let is_whole = digest.is_none_or(|at| at == digest_after(primary)) || last == after;
        if !is_whole || (is_new && last != after && after != Iteration(0)) {
            return Err(io::Error::other(format!(
                "it does not have iteration {after}, where the run is taken up"
            )));
        }
        let mut file = File::options().write(true).open(path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        let performers = (0..plan.performers.len() as u32).map(PerformerId);
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::new(file),
            cells: performers.map(|one| primary.performer(one).0).collect(),
            header,
            written,
            digest,
            iterations: after,
            frame: StatesFrame::default(),
            bytes: Vec::new(),
        })
    }
}

impl StatesFile<Vec<u8>> {
    /// Begins a file that is passed on part by part.
    ///
    /// # Panics
    /// Never: memory takes everything.
    pub fn in_parts(plan: &Plan, step_size: Duration) -> Self {
        let begun = Self::begin(Path::new(""), Vec::new(), plan, step_size);
        begun.expect("memory takes everything")
    }

    /// Returns what was written since the last time.
    pub fn take_part(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.writer)
    }
}

impl<W: Write> StatesFile<W> {
    fn begin(path: &Path, mut writer: W, plan: &Plan, step_size: Duration) -> io::Result<Self> {
        let header = StatesHeader {
            step_size_ns: step_size.as_nanos() as u64,
            cells: plan.cells.iter().map(|cell| cell.name.clone()).collect(),
            performers: names_of(plan),
        };
        writer.write_all(&states_file::encode_header(&header))?;
        Ok(Self {
            path: path.to_owned(),
            writer,
            header,
            cells: plan.performers.iter().map(|one| one.home).collect(),
            written: vec![None; plan.performers.len()],
            digest: None,
            iterations: Iteration(0),
            frame: StatesFrame::default(),
            bytes: Vec::new(),
        })
    }

    /// Notes that performers have come, or that all is as at the start: the names are written anew,
    /// and every performer after them.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn renew(&mut self, plan: &Plan, anew: bool) -> io::Result<()> {
        if anew {
            self.cells.clear();
        }
        let known = self.cells.len();
        self.cells
            .extend(plan.performers[known..].iter().map(|one| one.home));
        self.header.performers = names_of(plan);
        self.written = vec![None; plan.performers.len()];
        self.writer
            .write_all(&states_file::encode_header(&self.header)[states_file::START_BYTES..])
    }

    /// Hands what is buffered to the system.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many performers there have been by the last iteration.
    pub fn performer_count(&self) -> usize {
        self.cells.len()
    }

    /// Notes who changes cell with the step that is published.
    pub fn note_hand_offs(&mut self, hand_offs: &[HandOff]) {
        for hand_off in hand_offs {
            self.cells[hand_off.performer.0 as usize] = hand_off.to;
        }
    }

    /// Writes what an iteration changed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write<'a>(
        &mut self,
        iteration: Iteration,
        digest: Digest,
        states: impl IntoIterator<Item = &'a PerformerState>,
    ) -> io::Result<()> {
        self.iterations = iteration;
        self.frame.changes.clear();
        for state in states {
            let index = state.performer.0 as usize;
            let now = RecordedState::new(state, self.cells[index]);
            let written = &mut self.written[index];
            if !written.is_some_and(|last| last.is_same(&now)) {
                *written = Some(now);
                self.frame.changes.push(now);
            }
        }
        if self.frame.changes.is_empty() && self.digest == Some(digest) {
            return Ok(());
        }
        self.digest = Some(digest);
        self.frame.iteration = iteration;
        self.frame.digest = digest;
        self.bytes.clear();
        states_file::encode_frame(&self.frame, &mut self.bytes);
        self.writer.write_all(&self.bytes)
    }

    /// Marks the end, and makes sure that everything is in the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.bytes.clear();
        states_file::encode_end(self.iterations, &mut self.bytes);
        self.writer.write_all(&self.bytes)?;
        self.writer.flush()
    }
}

/// Counts the bytes that are read.
struct Counted<R> {
    source: R,
    position: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            position: Rc::default(),
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.position.set(self.position.get() + count as u64);
        Ok(count)
    }
}

fn names_of(plan: &Plan) -> Vec<String> {
    plan.performers.iter().map(|one| one.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: &str = "<sdf version='1.9'><world name='w'>
        <model name='a'><link name='l'/></model>
        <model name='b'><pose>5 0 0 0 0 0</pose><link name='l'/></model>
        <plugin name='gz::sim' filename='dummy'><level name='far'><pose>90 0 0 0 0 0</pose>
        <geometry><box><size>9 9 9</size></box></geometry></level></plugin></world></sdf>";

    fn plan() -> Plan {
        Plan::new(
            &sdf::read_worlds(WORLD, "w.sdf", &sdf::NoFiles)
                .unwrap()
                .worlds,
        )
    }

    fn hand_off(performer: u32, to: u32) -> HandOff {
        HandOff {
            performer: PerformerId(performer),
            from: CellId(0),
            to: CellId(to),
            state: Vec::new(),
        }
    }

    /// Returns for each frame its iteration and the performers that changed in it.
    fn frames(path: &Path) -> (Vec<(u64, Vec<u32>)>, u64) {
        let mut reader = StatesReader::open(File::open(path).unwrap()).unwrap();
        assert_eq!(reader.header().performers, ["a", "b"]);
        let mut frames = Vec::new();
        loop {
            match reader.read().unwrap() {
                StatesRecord::Frame(frame) => {
                    let changed = frame.changes.iter().map(|one| one.performer.0);
                    frames.push((frame.iteration.0, changed.collect()));
                }
                StatesRecord::End { iterations } => return (frames, iterations.0),
            }
        }
    }

    #[test]
    fn only_what_changes_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("states");
        let mut file = StatesFile::create(&path, &plan(), Duration::from_millis(1)).unwrap();
        let mut states = [0, 1].map(|id| PerformerState::at_rest(PerformerId(id), [0.0; 3]));
        let write = |file: &mut StatesFile, iteration, states: &[PerformerState]| {
            let digest = Digest::of_bytes(&states[1].position[0].to_le_bytes());
            file.write(Iteration(iteration), digest, states).unwrap();
        };
        write(&mut file, 1, &states);
        write(&mut file, 2, &states);
        states[1].position[0] = 1.0;
        write(&mut file, 3, &states);
        file.note_hand_offs(&[hand_off(0, 1)]);
        write(&mut file, 4, &states);
        write(&mut file, 5, &states);
        file.finish().unwrap();
        let expected = vec![(1, vec![0, 1]), (3, vec![1]), (4, vec![0])];
        assert_eq!(frames(&path), (expected, 5));
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let path = Path::new("/dev/full");
        let mut file = StatesFile::create(path, &plan(), Duration::from_millis(1)).unwrap();
        assert!(file.finish().is_err());
    }
}
