//! Shows that the files of a run are whole when it has ended, and that a disk that takes nothing
//! ends it: real drivers in one process, whose outputs a thread of their own writes.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use lockstep::Primary;
use protocol::exit::Outcome;
use protocol::report::Summary;
use protocol::states_file::{StatesReader, StatesRecord};
use protocol::{Iteration, Role};
use tests::cluster;
use tests::worlds;
use transport::memory::Network;
use worker::digests_file::DigestsFile;
use worker::identity;
use worker::primary::PrimaryDriver;
use worker::report::Reporter;
use worker::run_outputs::RunOutputs;
use worker::standalone::STANDALONE_NAME;
use worker::states_file::StatesFile;
use worker::status::StatusThread;

fn run(iterations: u64, outputs: impl FnOnce(&Primary) -> RunOutputs) -> Summary {
    let network = Network::new();
    let worlds = vec![worlds::row(3, 4)];
    let mut settings = cluster::settings(1, iterations);
    settings.peers.heartbeat_timeout = None;
    let (session, interval) = (settings.session, settings.peers.heartbeat_interval);
    let primary = Primary::new(settings, &worlds);
    let outputs = outputs(&primary);
    let status = StatusThread::start(network.publisher(), session, interval).expect("a thread");
    let name = STANDALONE_NAME.parse().expect("a peer name");
    let reporter = Reporter::new(worlds, identity::peer_info(name, Role::Standalone));
    let driver = PrimaryDriver::new(network.primary(), primary, status, reporter, outputs);
    let mut driver = driver.expect("a thread");
    driver.compute_here();
    driver.run()
}

fn digests(path: &Path) -> DigestsFile {
    DigestsFile::create(path).expect("it can be created")
}

#[test]
fn all_that_a_run_computed_is_in_its_files_when_it_has_ended() {
    const ITERATIONS: u64 = 1_000;
    let folder = tempfile::tempdir().expect("a folder");
    let [lines, states] = ["digests", "states"].map(|name| folder.path().join(name));
    let summary = run(ITERATIONS, |primary| {
        let step_size = primary.settings().pace.step_size;
        let file = StatesFile::create(&states, primary.topology(), step_size);
        RunOutputs {
            digests: Some(digests(&lines)),
            states: Some(file.expect("it can be created")),
            ..RunOutputs::default()
        }
    });
    assert_eq!(summary.outcome, Outcome::Completed, "{}", summary.cause);
    let text = fs::read_to_string(lines).expect("it is there");
    assert_eq!(text.lines().count() as u64, ITERATIONS);
    let last = format!("{ITERATIONS} {}", summary.digest);
    assert_eq!(text.lines().last(), Some(last.as_str()));
    let file = BufReader::new(File::open(states).expect("it is there"));
    let mut reader = StatesReader::open(file).expect("it is a file of states");
    let end = std::iter::repeat_with(|| reader.read().expect("it is whole"));
    let end = end.filter(|record| matches!(record, StatesRecord::End { .. }));
    let iterations = Iteration(ITERATIONS);
    assert_eq!(
        end.take(1).next(),
        Some(StatesRecord::End { iterations }),
        "the file of states has an end"
    );
}

#[test]
fn a_full_disk_ends_a_run_with_the_file_and_the_cause() {
    // More and fewer lines than a part of a file takes.
    for iterations in [20_000, 10] {
        let summary = run(iterations, |_| RunOutputs {
            digests: Some(digests(Path::new("/dev/full"))),
            ..RunOutputs::default()
        });
        assert_eq!(summary.outcome, Outcome::Failed);
        let expected = "cannot write digests to /dev/full: No space left on device (os error 28)";
        assert_eq!(summary.cause, expected);
        assert!(summary.iterations <= iterations);
        if iterations > 1_000 {
            assert!(summary.iterations < iterations, "it goes on to its end");
        }
    }
}
