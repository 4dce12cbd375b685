//! Files of states: what is written, and files that are gone on with.

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
    /// A model comes while time is paused.
    Spawn,
    /// All begins anew while time is paused.
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
        file.writer.flush().unwrap();
        moments.push((run.clone(), std::fs::read(&path).unwrap()));
        run.happens(*happening, &mut file);
    }
    file.writer.flush().unwrap();
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
            file.writer.flush().unwrap();
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
    file.writer.flush().unwrap();
    let one = std::fs::read(&path).unwrap();
    run.happens(Happening::Iteration(2, 1.5), &mut file);
    file.writer.flush().unwrap();
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
