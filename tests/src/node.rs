//! [`Node`]: packages of npm in the target folder, for programs in JavaScript that judge Phalanx.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::processes::Scratch;

/// The oldest release of Node.js that programs here run on.
const OLDEST: u32 = 20;
/// Copy of the lock file beside the packages that were installed by it.
const INSTALLED: &str = "installed-lock.json";

/// An installation of packages.
pub struct Node {
    folder: PathBuf,
}

impl Node {
    /// Finds the packages of a folder's `package-lock.json` in the target folder, or installs them
    /// there; no script of any package is run.
    ///
    /// # Errors
    /// In one line, why they are not there.
    pub fn prepare(name: &str, listed: &Path, scratch: &Scratch) -> Result<Self, String> {
        check_release()?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        // A test is target/PROFILE/deps/NAME-HASH.
        let target = own.ancestors().nth(3).ok_or("no target folder")?;
        let folder = target.join(name);
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        // Tests of other processes wait here while one installs.
        let guard = File::create(folder.join("lock")).map_err(|error| error.to_string())?;
        guard.lock().map_err(|error| error.to_string())?;
        let lock = listed.join("package-lock.json");
        let wanted = fs::read(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
        if fs::read(folder.join(INSTALLED)).is_ok_and(|installed| installed == wanted) {
            return Ok(Self { folder });
        }
        for file in ["package.json", "package-lock.json"] {
            let copied = fs::copy(listed.join(file), folder.join(file));
            copied.map_err(|error| format!("{file}: {error}"))?;
        }
        let errors = scratch.path("npm.err");
        let stderr = File::create(&errors).map_err(|error| error.to_string())?;
        let mut install = Command::new("npm");
        install.args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--silent",
            "--fetch-retries=5",
            "--fetch-retry-mintimeout=1000",
            "--fetch-retry-maxtimeout=10000",
        ]);
        install
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr);
        let status = install.current_dir(&folder).status();
        let status = status.map_err(|error| format!("npm: {error}"))?;
        if !status.success() {
            let text = fs::read_to_string(errors).unwrap_or_default();
            let last = text.lines().last().unwrap_or("it says nothing").to_owned();
            return Err(format!("npm failed ({status}): {last}"));
        }
        fs::write(folder.join(INSTALLED), wanted).map_err(|error| error.to_string())?;
        Ok(Self { folder })
    }

    /// Returns `node` for a program that finds the packages by the variable `PHALANX_MODULES`.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("node");
        command.arg(program).env("PHALANX_MODULES", &self.folder);
        command
    }
}

/// Checks that Node.js is there, and new enough.
fn check_release() -> Result<(), String> {
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|error| format!("node: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = text.trim_start_matches('v').split('.').next();
    let major: u32 = major.and_then(|part| part.parse().ok()).unwrap_or(0);
    if major < OLDEST {
        return Err(format!("node {text} is too old, {OLDEST} is needed"));
    }
    Ok(())
}
