//! [`FastPeer`]: a node of ROS 2 on Fast DDS, the engine of `rmw_fastrtps`, by which ROS 2 comes.
//!
//! The engine is Debian's. Where it is not installed its packages are unpacked in the target
//! folder, for which no root is needed; the node, `fast_dds/peer.cpp`, is compiled there, too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::json_process::JsonProcess;
use crate::{repository, required};

/// The package with all that a program on Fast DDS is compiled with.
const PACKAGE: &str = "libfastrtps-dev";
/// Number of the last bytes of a compiler's or installer's complaint that are shown.
const COMPLAINT: usize = 400;

/// A node of ROS 2 on Fast DDS; gone when dropped.
pub struct FastPeer(JsonProcess);

/// Compiles the node, unless that is done, and returns its program; says so where it cannot be had.
///
/// # Panics
/// Panics if it cannot, and must be here.
pub fn program() -> Option<PathBuf> {
    let built = build();
    built
        .inspect_err(|error| required::skip(required::FAST_DDS, error))
        .ok()
}

/// Does so, and leaves it to the caller to say it.
///
/// # Errors
/// In a few words, why it cannot be had here.
pub fn build() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    // A test is target/PROFILE/deps/NAME-HASH.
    let target = own.ancestors().nth(3).ok_or("no target folder")?;
    let folder = target.join("fast-dds");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let lock = fs::File::create(folder.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let source = repository::root().join("tests/src/fast_dds/peer.cpp");
    let program = folder.join("peer");
    let age = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    if age(&program).is_some_and(|built| Some(built) > age(&source)) {
        return Ok(program);
    }
    // One that was ended while it was written is no program.
    let new = folder.join("peer.new");
    if compile(&source, &new, None).is_err() {
        let root = unpack(&folder)?;
        compile(&source, &new, Some(&root))?;
    }
    fs::rename(new, &program).map_err(|error| error.to_string())?;
    Ok(program)
}

/// Unpacks the packages that are not installed, and returns the folder.
fn unpack(folder: &Path) -> Result<PathBuf, String> {
    let archives = folder.join("archives");
    fs::create_dir_all(archives.join("partial")).map_err(|error| error.to_string())?;
    let mut download = Command::new("apt-get");
    download.args(["--yes", "--download-only", "--no-install-recommends"]);
    download.args(["-o", "Acquire::Retries=5"]);
    download.args(["-o", "Debug::NoLocking=1", "-o"]);
    download.arg(format!("Dir::Cache::archives={}", archives.display()));
    run(download.args(["install", "--reinstall", PACKAGE]))?;
    let root = folder.join("root");
    for entry in fs::read_dir(&archives)
        .map_err(|error| error.to_string())?
        .flatten()
    {
        if entry.path().extension().is_some_and(|end| end == "deb") {
            run(Command::new("dpkg").arg("-x").arg(entry.path()).arg(&root))?;
        }
    }
    Ok(root)
}

fn compile(source: &Path, program: &Path, root: Option<&Path>) -> Result<(), String> {
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O1", "-o"]);
    compiler.arg(program).arg(source);
    if let Some(root) = root {
        // What the libraries themselves need is looked for there, too.
        compiler.arg("-Wl,--disable-new-dtags");
        compiler.arg("-I").arg(root.join("usr/include"));
        for entry in fs::read_dir(root.join("usr/lib"))
            .map_err(|error| error.to_string())?
            .flatten()
        {
            // Debian keeps what differs between processors beside both.
            let headers = root.join("usr/include").join(entry.file_name());
            compiler.arg("-I").arg(headers);
            compiler.arg("-L").arg(entry.path());
            let mut place = std::ffi::OsString::from("-Wl,-rpath,");
            place.push(entry.path());
            compiler.arg(place);
            let mut place = std::ffi::OsString::from("-Wl,-rpath-link,");
            place.push(entry.path());
            compiler.arg(place);
        }
    }
    run(compiler.args(["-lfastrtps", "-lfastcdr", "-lpthread"]))
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let from = said.floor_char_boundary(said.len().saturating_sub(COMPLAINT));
    Err(format!("{name} fails: {}", said[from..].trim()))
}

impl FastPeer {
    /// Starts the node by a command to which its arguments are added: a domain, then as
    /// `peer.cpp` says.
    ///
    /// # Panics
    /// Panics if it cannot be started.
    pub fn start(command: &mut Command, arguments: &[&str]) -> Self {
        Self(JsonProcess::start(command.args(arguments)))
    }

    /// Returns the process id of the node.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Tells the node a command.
    ///
    /// # Panics
    /// Panics if the node has ended.
    pub fn tell(&mut self, command: &str) {
        self.0.tell(&command);
    }

    /// Returns the next line of the node that fits; lines before it are dropped.
    ///
    /// # Panics
    /// Panics if none comes in time.
    pub fn hear(&mut self, what: &str, fits: impl FnMut(&Value) -> bool) -> Value {
        self.0.hear(what, fits)
    }

    /// Returns the next line, if one comes in this time.
    pub fn next(&mut self, timeout: Duration) -> Option<Value> {
        self.0.next(timeout)
    }

    /// Calls a service and returns the values of its response; null if none came.
    pub fn call(&mut self, service: &str, type_name: &str, format: &str, values: &str) -> Value {
        self.tell(&format!("call {service} {type_name} {format} {values}"));
        let mut line = self.hear("response", |line| line.get("response").is_some());
        line["response"].take()
    }
}
