//! [`SmallDisk`]: a file system of a few MiB that can be filled.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Size of it.
const SIZE: &str = "size=24m";

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub(super) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts one in a folder that is made; `None` where that is not permitted.
    pub(super) fn mount(folder: PathBuf) -> Option<Self> {
        fs::create_dir(&folder).ok()?;
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", SIZE, "phalanx-chaos"]);
        let output = command.arg(&folder).output().ok()?;
        output.status.success().then_some(Self { folder })
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// Fills it to the last byte.
    pub(super) fn fill(&self) {
        let Ok(mut file) = File::create(self.filler()) else {
            return;
        };
        for size in [1 << 16, 1 << 12, 1] {
            let block = vec![0; size];
            while file.write_all(&block).is_ok() {}
        }
    }

    /// Makes room again.
    pub(super) fn make_room(&self) {
        // One that is full may have taken no filler.
        let _ = fs::remove_file(self.filler());
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}
