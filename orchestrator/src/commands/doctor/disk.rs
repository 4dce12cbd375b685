//! Examination of the folder of runs, which has sockets, logs and journals.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::here::HERE;
use super::{Finding, State};
use crate::run_directory::Runs;

/// Time for a synced write above which a journal slows a run down.
const SYNC_SLOW: Duration = Duration::from_millis(50);

/// Lifetime of the files of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    /// They stay.
    Stays,
    /// They are in memory, and gone with the next start of the machine.
    Memory,
    /// They are gone with the container.
    Container,
}

/// File systems that keep nothing, by the numbers of `statfs(2)`.
const VOLATILE: [(u64, &str, Keeping); 3] = [
    (0x0102_1994, "tmpfs", Keeping::Memory),
    (0x8584_58f6, "ramfs", Keeping::Memory),
    (0x794c_7630, "overlay", Keeping::Container),
];

/// Examines the folder.
pub(super) fn examine() -> Vec<Finding> {
    let runs = match Runs::open() {
        Ok(runs) => runs,
        Err(error) => {
            let remedy = format!("{:#}", anyhow::Error::new(error));
            let found = Finding::ok(HERE, "folder", "runs have no folder");
            return vec![found.worse(State::Problem, remedy)];
        }
    };
    let path = runs.root();
    let found = Finding::ok(HERE, "folder", path.display().to_string());
    vec![found, disk(timed_sync(path), file_system(path))]
}

/// Judges the time of a synced write, and what becomes of what was written.
fn disk(written: io::Result<Duration>, (name, keeping): (&str, Keeping)) -> Finding {
    let time = match written {
        Ok(time) => time,
        Err(error) => {
            let found = Finding::ok(HERE, "disk", format!("cannot write: {error}"));
            return found.worse(
                State::Problem,
                "make room in that folder or its owner's quota, or name another in \
                 PHALANX_RUNTIME_DIR",
            );
        }
    };
    let lost = match keeping {
        Keeping::Stays => {
            let text = format!("a synced write takes {:.1} ms", time.as_secs_f64() * 1e3);
            let found = Finding::ok(HERE, "disk", text);
            return if time > SYNC_SLOW {
                found.worse(
                    State::Warning,
                    "journals sync often: put PHALANX_RUNTIME_DIR on a faster disk, or run with \
                     --journal off",
                )
            } else {
                found
            };
        }
        Keeping::Memory => "when this machine starts again",
        Keeping::Container => "with this container",
    };
    Finding::ok(HERE, "disk", format!("{name}: journals are gone {lost}")).worse(
        State::Warning,
        "name a folder on a disk with --journal or PHALANX_RUNTIME_DIR for runs that are to be \
         resumed after that",
    )
}

/// Returns the name of a folder's file system if that keeps nothing, and what becomes of files.
fn file_system(folder: &Path) -> (&'static str, Keeping) {
    let number = kind_number(folder);
    let known = VOLATILE.iter().find(|(of, ..)| Some(*of) == number);
    known.map_or(("", Keeping::Stays), |(_, name, keeping)| (*name, *keeping))
}

#[cfg(target_os = "linux")]
fn kind_number(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statfs(folder).ok()?;
    // A number of 32 bits, whatever the type of its field.
    Some((found.f_type as u64) & 0xffff_ffff)
}

#[cfg(not(target_os = "linux"))]
fn kind_number(_: &Path) -> Option<u64> {
    None
}

/// Returns how long it takes to write and sync a block.
fn timed_sync(folder: &Path) -> io::Result<Duration> {
    let path = folder.join(format!(".doctor-{}", std::process::id()));
    let begin = Instant::now();
    let written = File::create_new(&path).and_then(|mut file| {
        file.write_all(&[0; 4096])?;
        file.sync_all()
    });
    let time = begin.elapsed();
    // What could not be made need not be removed.
    let _ = std::fs::remove_file(&path);
    written.map(|()| time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_in_memory_is_known_by_what_the_system_says() {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let is_tmpfs = |path: &str| {
            let mut fields = mounts.lines().map(|line| line.split(' '));
            fields.any(|mut field| field.nth(1) == Some(path) && field.next() == Some("tmpfs"))
        };
        let (name, keeping) = file_system(Path::new("/dev/shm"));
        if is_tmpfs("/dev/shm") {
            assert_eq!((name, keeping), ("tmpfs", Keeping::Memory));
        }
        let (_, keeping) = file_system(Path::new("/proc"));
        assert_eq!(
            keeping,
            Keeping::Stays,
            "it is none of those that are known"
        );
    }

    #[test]
    fn what_does_not_stay_and_what_is_slow_is_a_warning_with_its_reason() {
        let quick = || Ok(Duration::from_micros(10));
        let kept = disk(quick(), ("", Keeping::Stays));
        assert_eq!((kept.state, kept.remedy), (State::Ok, None));
        let slow = disk(Ok(Duration::from_millis(80)), ("", Keeping::Stays));
        assert_eq!(slow.state, State::Warning);
        assert_eq!(slow.text, "a synced write takes 80.0 ms");
        let memory = disk(quick(), ("tmpfs", Keeping::Memory));
        assert_eq!(memory.state, State::Warning);
        let text = "tmpfs: journals are gone when this machine starts again";
        assert_eq!(memory.text, text);
        let full = disk(Err(io::ErrorKind::StorageFull.into()), ("", Keeping::Stays));
        assert_eq!(full.state, State::Problem);
    }
}
