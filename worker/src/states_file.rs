//! The file of states: who moved in each iteration, and in which cell; see
//! [`protocol::states_file`] for its format.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use lockstep::{Primary, Topology};
use protocol::primary_to_secondary::Step;
use protocol::states_file::{
    self, RecordedState, StatesFrame, StatesHeader, StatesReader, StatesRecord,
};
use protocol::{Action, CellId, Digest, Iteration, PerformerId, PerformerState};

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
    /// Fails if it cannot be created or written.
    pub fn create(path: &Path, plan: &Topology, step_size: Duration) -> io::Result<Self> {
        Self::begin(path, BufWriter::new(File::create(path)?), plan, step_size)
    }

    /// Resumes a file after an iteration; its frames of later iterations are cut off. `primary` is
    /// in its state after that iteration.
    ///
    /// # Errors
    /// Fails if it cannot be read or written, or is none of this run.
    pub fn resume(path: &Path, primary: &Primary, after: Iteration) -> io::Result<Self> {
        let plan = primary.plan();
        let performers = (0..plan.performers.len() as u32).map(PerformerId);
        let standing = Standing {
            iteration: after,
            digest: primary.digest(),
            performers: plan.performer_names(),
            cells: performers.map(|one| primary.performer(one).0).collect(),
        };
        Self::resume_at(path, standing)
    }

    fn resume_at(path: &Path, standing: Standing) -> io::Result<Self> {
        let after = standing.iteration;
        let Written {
            header,
            last,
            digest,
            length,
        } = Written::read(path, after)?;
        let mut behind = File::open(path)?;
        behind.seek(SeekFrom::Start(length))?;
        let headers = states_file::reader::leading_headers(BufReader::new(behind));
        let is_same = |header: &StatesHeader| header.performers == standing.performers;
        // Performers came, or all began anew, while time stood still after the last frame: then the
        // names stand behind it, and every performer is written after them.
        let renewed = headers.into_iter().rfind(|(header, _)| is_same(header));
        let is_reached = digest.is_some() || after == Iteration(0);
        let is_here = is_reached && digest.is_none_or(|at| at == standing.digest);
        let (header, last, length) = match renewed {
            _ if is_here && is_same(&header) => (header, last, length),
            Some((header, end)) if is_reached => {
                let last = vec![None; header.performers.len()];
                (header, last, length + end)
            }
            Some(_) | None => {
                return Err(io::Error::other(format!(
                    "it does not have iteration {after}, where the run is taken up"
                )));
            }
        };
        let mut file = File::options().write(true).open(path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::new(file),
            cells: standing.cells,
            header,
            written: last,
            digest,
            iterations: after,
            frame: StatesFrame::default(),
            bytes: Vec::new(),
        })
    }

    /// Returns the file.
    pub fn file(&self) -> &File {
        self.writer.get_ref()
    }
}

/// State of a run where it is taken up.
#[derive(Clone, Debug)]
struct Standing {
    iteration: Iteration,
    digest: Digest,
    /// Names, by their ids.
    performers: Vec<String>,
    /// The cell that owns each performer.
    cells: Vec<CellId>,
}

/// Contents of a file up to an iteration.
#[derive(Debug)]
struct Written {
    header: StatesHeader,
    /// Each performer as it was last written.
    last: Vec<Option<RecordedState>>,
    digest: Option<Digest>,
    /// Offset of the end of the last frame \[bytes\].
    length: u64,
}

impl Written {
    fn read(path: &Path, after: Iteration) -> io::Result<Self> {
        let counted = Counted::new(BufReader::new(File::open(path)?));
        let position = Rc::clone(&counted.position);
        let mut reader = StatesReader::open(counted).map_err(io::Error::other)?;
        let header = reader.header().clone();
        let mut written = Self {
            last: vec![None; header.performers.len()],
            header,
            digest: None,
            length: position.get(),
        };
        // What is cut or damaged ends what there is; whether that is enough is seen by who asks.
        while let Ok(StatesRecord::Frame(frame)) = reader.read()
            && frame.iteration <= after
        {
            if *reader.header() != written.header {
                written.header = reader.header().clone();
                written.last = vec![None; written.header.performers.len()];
            }
            for change in frame.changes {
                written.last[change.performer.0 as usize] = Some(change);
            }
            written.digest = Some(frame.digest);
            written.length = position.get();
        }
        Ok(written)
    }
}

impl StatesFile<Vec<u8>> {
    /// Begins a file that is passed on part by part.
    ///
    /// # Panics
    /// Never: memory takes everything.
    pub fn in_parts(plan: &Topology, step_size: Duration) -> Self {
        let begun = Self::begin(Path::new(""), Vec::new(), plan, step_size);
        begun.expect("memory takes everything")
    }

    /// Returns what was written since the last time.
    pub fn take_part(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.writer)
    }
}

impl<W: Write> StatesFile<W> {
    fn begin(path: &Path, mut writer: W, plan: &Topology, step_size: Duration) -> io::Result<Self> {
        let header = StatesHeader {
            step_size_ns: step_size.as_nanos() as u64,
            cells: plan.cells.iter().map(|cell| cell.name.clone()).collect(),
            performers: plan.performer_names(),
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

    /// Notes that performers have come or gone, or that all is as at the start: the names are
    /// written anew, and every performer after them.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn renew(&mut self, plan: &Topology, anew: bool) -> io::Result<()> {
        let homes: Vec<CellId> = plan.performers.iter().map(|one| one.home).collect();
        self.renew_names(plan.performer_names(), &homes, anew)
    }

    fn renew_names(&mut self, names: Vec<String>, homes: &[CellId], anew: bool) -> io::Result<()> {
        if anew {
            self.cells.clear();
        }
        let count = names.len();
        self.cells.truncate(count);
        let known = self.cells.len();
        self.cells.extend_from_slice(&homes[known..count]);
        self.written = vec![None; count];
        self.header.performers = names;
        self.writer
            .write_all(&states_file::encode_header(&self.header)[states_file::START_BYTES..])
    }

    /// Hands what is buffered to the system.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many numbers performers had at the last iteration.
    pub fn performer_count(&self) -> usize {
        self.header.performers.len()
    }

    /// Notes who changes cell or comes into one with the step that is published.
    pub fn note_step(&mut self, step: &Step) {
        for hand_off in &step.hand_offs {
            self.cells[hand_off.performer.0 as usize] = hand_off.to;
        }
        for stamped in &step.actions {
            if let Action::Spawn(spawn) = &stamped.action
                && let (Some(performer), Some(cell)) = (spawn.performer, spawn.cell)
            {
                let index = performer.0 as usize;
                self.cells.resize(self.cells.len().max(index + 1), cell);
                self.cells[index] = cell;
            }
        }
    }

    /// Writes what an iteration changed; `states` are those of all numbers of performers, of which
    /// some may be gone, or come only with the next step.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
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
            let is_there = !self.header.performers[index].is_empty();
            let now = if is_there {
                RecordedState::new(state, self.cells[index])
            } else {
                nobody(state.performer)
            };
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
    /// Fails if the file cannot be written.
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

/// Returns what stands for a performer that is gone, whoever it was.
fn nobody(performer: PerformerId) -> RecordedState {
    RecordedState::new(&PerformerState::at_rest(performer, [0.0; 3]), CellId(0))
}

#[cfg(test)]
mod tests {
    use protocol::primary_to_secondary::HandOff;

    use super::*;

    const WORLD: &str = "<sdf version='1.9'><world name='w'>
        <model name='a'><link name='l'/></model>
        <model name='b'><pose>5 0 0 0 0 0</pose><link name='l'/></model>
        <plugin name='gz::sim' filename='dummy'><level name='far'><pose>90 0 0 0 0 0</pose>
        <geometry><box><size>9 9 9</size></box></geometry></level></plugin></world></sdf>";

    fn plan() -> Topology {
        Topology::new(
            &sdf::read_worlds(WORLD, "w.sdf", &sdf::NoFiles)
                .unwrap()
                .worlds,
        )
    }

    fn hand_off(performer: u32, to: u32) -> Step {
        Step {
            hand_offs: vec![HandOff {
                performer: PerformerId(performer),
                from: CellId(0),
                to: CellId(to),
                state: Vec::new(),
            }],
            ..Step::default()
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
        file.note_step(&hand_off(0, 1));
        write(&mut file, 4, &states);
        write(&mut file, 5, &states);
        file.finish().unwrap();
        let expected = vec![(1, vec![0, 1]), (3, vec![1]), (4, vec![0])];
        assert_eq!(frames(&path), (expected, 5));
    }

    /// Events of a run, as its file of states sees them.
    #[derive(Clone, Copy, Debug)]
    enum Happening {
        /// An iteration in which the performers are at this place.
        Iteration(u64, f64),
        /// A model comes while time stands still.
        Spawn,
        /// All begins anew while time stands still.
        Reset,
    }

    /// A run that writes a file of states.
    #[derive(Clone, Debug)]
    struct Run {
        standing: Standing,
        homes: Vec<CellId>,
    }

    impl Run {
        fn new(plan: &Topology) -> Self {
            let homes: Vec<CellId> = plan.performers.iter().map(|one| one.home).collect();
            let standing = Standing {
                iteration: Iteration(0),
                digest: Digest(0),
                performers: plan.performer_names(),
                cells: homes.clone(),
            };
            Self { standing, homes }
        }

        fn happens(&mut self, happening: Happening, file: &mut StatesFile) {
            let Self { standing, homes } = self;
            match happening {
                Happening::Iteration(iteration, place) => {
                    standing.iteration = Iteration(iteration);
                    standing.digest = Digest::of_bytes(&place.to_le_bytes());
                    let ids = (0..homes.len() as u32).map(PerformerId);
                    let states = ids.map(|id| PerformerState::at_rest(id, [place, 0.0, 0.0]));
                    let states: Vec<PerformerState> = states.collect();
                    file.write(standing.iteration, standing.digest, &states)
                        .unwrap();
                }
                Happening::Spawn => {
                    standing.performers.push(format!("spawned {}", homes.len()));
                    standing.cells.push(CellId(0));
                    homes.push(CellId(0));
                    file.renew_names(standing.performers.clone(), homes, false)
                        .unwrap();
                }
                Happening::Reset => {
                    let begun = Self::new(&plan());
                    standing.digest = Digest(9);
                    standing.performers = begun.standing.performers;
                    standing.cells = begun.standing.cells;
                    *homes = begun.homes;
                    file.renew_names(standing.performers.clone(), homes, true)
                        .unwrap();
                }
            }
        }
    }

    /// Has a file go on at every moment of a run that was written up to every later one.
    fn check_resuming(happenings: &[Happening]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("states");
        let mut file = StatesFile::create(&path, &plan(), Duration::from_millis(1)).unwrap();
        let mut run = Run::new(&plan());
        let mut moments = Vec::new();
        for happening in happenings {
            file.flush().unwrap();
            moments.push((run.clone(), std::fs::read(&path).unwrap()));
            run.happens(*happening, &mut file);
        }
        file.flush().unwrap();
        let whole = std::fs::read(&path).unwrap();
        moments.push((run, whole.clone()));
        for (at, (run, _)) in moments.iter().enumerate() {
            for (until, (_, written)) in moments.iter().enumerate().skip(at) {
                std::fs::write(&path, written).unwrap();
                let mut run = run.clone();
                let context = format!("{happenings:?} at {at}, written up to {until}");
                let mut file = StatesFile::resume_at(&path, run.standing.clone()).expect(&context);
                for happening in &happenings[at..] {
                    run.happens(*happening, &mut file);
                }
                file.flush().unwrap();
                assert!(std::fs::read(&path).unwrap() == whole, "{context}");
            }
        }
    }

    #[test]
    fn a_file_goes_on_at_any_moment_as_if_nothing_had_happened() {
        use Happening::{Iteration as At, Reset, Spawn};
        check_resuming(&[At(1, 0.0), At(2, 1.0), At(3, 1.0), At(4, 2.0)]);
        check_resuming(&[
            At(1, 0.0),
            Spawn,
            At(2, 1.0),
            At(3, 1.0),
            Spawn,
            Spawn,
            At(4, 2.0),
        ]);
        check_resuming(&[Spawn, At(1, 1.0), At(2, 2.0)]);
        check_resuming(&[At(1, 1.0), At(2, 2.0), Reset, At(3, 1.0), At(4, 2.0)]);
        check_resuming(&[
            At(1, 1.0),
            Spawn,
            At(2, 2.0),
            Spawn,
            Reset,
            At(3, 1.0),
            At(4, 2.0),
        ]);
        check_resuming(&[
            At(1, 1.0),
            At(2, 2.0),
            Reset,
            Spawn,
            At(3, 1.0),
            Reset,
            At(4, 2.0),
        ]);
    }

    #[test]
    fn a_file_that_lacks_what_was_before_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("states");
        let mut file = StatesFile::create(&path, &plan(), Duration::from_millis(1)).unwrap();
        let mut run = Run::new(&plan());
        run.happens(Happening::Iteration(1, 0.5), &mut file);
        file.flush().unwrap();
        let one = std::fs::read(&path).unwrap();
        run.happens(Happening::Iteration(2, 1.5), &mut file);
        file.flush().unwrap();
        let two = std::fs::read(&path).unwrap();
        let resume = |bytes: &[u8], standing: &Standing| {
            std::fs::write(&path, bytes).unwrap();
            let resumed = StatesFile::resume_at(&path, standing.clone());
            resumed.err().map(|error| error.to_string())
        };
        assert_eq!(resume(&two, &run.standing), None);
        for cut in [one.len(), two.len() - 1, 40] {
            let error = resume(&two[..cut], &run.standing);
            assert!(error.is_some_and(|text| !text.is_empty()), "cut at {cut}");
        }
        let mut standing = run.standing.clone();
        standing.performers.push("who was never written".to_owned());
        let error = resume(&two, &standing).unwrap();
        assert!(error.contains("does not have iteration 2"), "{error}");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let path = Path::new("/dev/full");
        let mut file = StatesFile::create(path, &plan(), Duration::from_millis(1)).unwrap();
        assert!(file.finish().is_err());
    }
}
