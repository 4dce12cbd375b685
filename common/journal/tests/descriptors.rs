//! Shows that a journal's files are opened when others have taken all descriptors of the process.
//! It takes them itself, and so has a program of its own.

use std::fs::{self, File};
use std::io::Write;

use journal::disk::{Disk, LocalDisk, ReservedDisk};
use rustix::process::{Resource, getrlimit, setrlimit};

#[test]
fn files_are_made_when_no_descriptor_is_left() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(128);
    setrlimit(Resource::Nofile, limit).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let disk = ReservedDisk::new().unwrap();
    let mut taken: Vec<File> = Vec::new();
    let mut take_all = || {
        while let Ok(one) = File::open("/dev/null") {
            taken.push(one);
        }
    };
    take_all();
    let lacks = LocalDisk.create(&path("log-0")).unwrap_err();
    assert_eq!(
        lacks.raw_os_error(),
        Some(rustix::io::Errno::MFILE.raw_os_error())
    );
    // As a writer does: a log stays open, checkpoints come and go.
    let mut log = disk.create(&path("log-1")).unwrap();
    for number in 0..100 {
        let (new, whole) = (path("new"), path(&format!("checkpoint-{number}")));
        let mut checkpoint = disk.create(&new).unwrap();
        checkpoint.write_all(b"whole").unwrap();
        checkpoint.sync().unwrap();
        drop(checkpoint);
        disk.rename(&new, &whole).unwrap();
    }
    log.write_all(b"written").unwrap();
    // Who takes what is given back for a moment gets no further than the next attempt.
    take_all();
    drop(disk.open(&path("log-1")).unwrap());
    drop((taken, log));
    assert_eq!(fs::read(path("log-1")).unwrap(), b"written");
    assert_eq!(fs::read(path("checkpoint-99")).unwrap(), b"whole");
}
