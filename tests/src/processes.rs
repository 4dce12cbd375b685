//! Real processes of this build: started, watched, and gone when the test ends.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use transport::Endpoints;
use transport::zeromq::with_free_ports;

use crate::repository;

/// Time that anything may take before a test gives up; generous, since machines are shared.
pub const TIMEOUT: Duration = Duration::from_mins(5);

/// Returns a binary of this workspace, built by the same command as this program.
///
/// # Panics
/// Panics if it is not there.
pub fn binary(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    let folder = own.parent().expect("a program is in a folder");
    // Tests and benches are in target/PROFILE/deps, programs in target/PROFILE.
    let profile = if folder.ends_with("deps") {
        folder.parent().expect("that folder is in another")
    } else {
        folder
    };
    let binary = profile.join(name);
    assert!(
        binary.is_file(),
        "{} is not there; build it with `cargo build --workspace` or test all with \
         `cargo test --workspace`",
        binary.display()
    );
    binary
}

/// Returns the first of six ports in a row that nobody has, and that the system gives to nobody.
///
/// # Panics
/// Panics if there are none.
pub fn free_ports() -> u16 {
    let any: Endpoints = "tcp://127.0.0.1:0".parse().expect("an address");
    let found = with_free_ports(&any).expect("ports are free");
    found.tcp_port().expect("it has a port")
}

/// Writes a program. Another process does it: a child that this one starts at the same moment has
/// the files for a moment that this one writes, and a program that is written cannot be started.
///
/// # Panics
/// Panics if it cannot be written.
pub fn write_program(path: &Path, text: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]);
    let writer = command.arg(path).stdin(Stdio::piped()).spawn();
    let mut writer = writer.expect("there is a shell");
    let mut input = writer.stdin.take().expect("its input is a pipe");
    input.write_all(text.as_bytes()).expect("it reads all");
    drop(input);
    let status = writer.wait().expect("a child can be waited for");
    assert!(status.success(), "{} is not written", path.display());
}

/// Returns the file that `PHALANX_CONFIG` names in tests.
pub fn own_settings() -> PathBuf {
    repository::root().join("tests/patient.toml")
}

/// A folder of a test's own, with a short path since sockets lie in it.
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Makes the folder.
    ///
    /// # Panics
    /// Panics if it cannot be made.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("plx").tempdir_in("/tmp");
        Self {
            folder: folder.expect("a folder can be made in /tmp"),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Has the folder stay when this is dropped, and returns it.
    pub fn keep(&mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.folder.path().to_owned()
    }

    /// Returns a path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the endpoint of sockets in the folder.
    pub fn endpoint(&self) -> String {
        format!("ipc://{}", self.path("sockets").display())
    }

    /// Returns `phalanx` with its run directories in this folder.
    pub fn phalanx(&self) -> Command {
        let mut command = Command::new(binary("phalanx"));
        command
            .env("PHALANX_RUNTIME_DIR", self.folder.path())
            .env("PHALANX_CONFIG", own_settings())
            .current_dir(repository::root());
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color");
        command
    }

    /// Returns the process ids of living run daemons of runs in this folder.
    pub fn run_daemons(&self) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(self.folder.path()) else {
            return Vec::new();
        };
        let record = |entry: std::fs::DirEntry| {
            let text = std::fs::read_to_string(entry.path().join("run.json")).ok()?;
            let record: serde_json::Value = serde_json::from_str(&text).ok()?;
            u32::try_from(record["pid"].as_u64()?).ok()
        };
        let is_daemon = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0);
            words.any(|word| [&b"keep"[..], b"keep-resumed"].contains(&word))
        };
        let pids = entries.filter_map(Result::ok).filter_map(record);
        pids.filter(is_daemon).collect()
    }

    /// Runs `phalanx` to its end; returns exit code, stdout and stderr.
    ///
    /// # Panics
    /// Panics if it cannot be started, or was killed.
    pub fn phalanx_says(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self
            .phalanx()
            .args(arguments)
            .output()
            .expect("phalanx starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().expect("it was not killed");
        (code, text(&output.stdout), text(&output.stderr))
    }

    /// Starts a program with its output in files of this folder.
    ///
    /// # Panics
    /// Panics if it cannot be started.
    pub fn start(&self, name: &str, command: &mut Command) -> Process {
        let (stdout, stderr) = (
            self.path(&format!("{name}.out")),
            self.path(&format!("{name}.err")),
        );
        let create = |path: &Path| File::create(path).expect("a file can be made");
        let child = command
            .stdin(Stdio::null())
            .stdout(create(&stdout))
            .stderr(create(&stderr))
            .spawn()
            .expect("the program starts");
        Process {
            name: name.to_owned(),
            child,
            stdout,
            stderr,
        }
    }
}

/// A run outlives who started it, but not a test.
impl Drop for Scratch {
    fn drop(&mut self) {
        for pid in self.run_daemons() {
            try_signal(pid, "KILL");
        }
    }
}

/// A running program; killed when dropped.
pub struct Process {
    name: String,
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Process {
    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns what it has written to standard output.
    ///
    /// # Panics
    /// Panics if that is not text.
    pub fn stdout(&self) -> String {
        text_of(&self.stdout)
    }

    /// Returns what it has written to standard error.
    ///
    /// # Panics
    /// Panics if that is not text.
    pub fn stderr(&self) -> String {
        text_of(&self.stderr)
    }

    /// Returns its exit code if it has ended, -1 for a signal.
    ///
    /// # Panics
    /// Panics if the system cannot say.
    pub fn ended(&mut self) -> Option<i32> {
        let status = self.child.try_wait().expect("a child can be asked");
        status.map(|status| status.code().unwrap_or(-1))
    }

    /// Waits for its end and returns its exit code.
    ///
    /// # Panics
    /// Panics if it does not end in time, or by a signal.
    pub fn wait(&mut self) -> i32 {
        self.wait_for_long(TIMEOUT)
    }

    /// Waits for the end of what may take longer than most, and returns its exit code.
    ///
    /// # Panics
    /// Panics if it does not end in that time, or by a signal.
    pub fn wait_for_long(&mut self, timeout: Duration) -> i32 {
        let status = self.status_within(timeout);
        status
            .code()
            .unwrap_or_else(|| panic!("{} ended by {status}:\n{}", self.name, self.stderr()))
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// Panics if it does not end in time.
    pub fn wait_status(&mut self) -> ExitStatus {
        self.status_within(TIMEOUT)
    }

    fn status_within(&mut self, timeout: Duration) -> ExitStatus {
        let mut status = None;
        wait_within(timeout, &format!("{} ends", self.name), || {
            status = self.child.try_wait().expect("a child can be asked");
            status.is_some()
        });
        status.expect("it has ended")
    }

    /// Waits until standard error holds `text` in a line that has ended, and returns the line.
    ///
    /// # Panics
    /// Panics if that does not happen in time.
    pub fn wait_for_stderr(&self, text: &str) -> String {
        let mut found = None;
        wait_for(&format!("{} says {text:?}", self.name), || {
            let stderr = self.stderr();
            found = whole_lines(&stderr)
                .lines()
                .find(|line| line.contains(text))
                .map(str::to_owned);
            found.is_some()
        });
        found.expect("it was found")
    }

    /// Waits until standard error holds `text` beyond its first `from` bytes, looking every
    /// millisecond; returns the line, where it ends, and when it was seen.
    ///
    /// # Panics
    /// Panics if that does not happen in time.
    pub fn watch_stderr(&self, from: usize, text: &str) -> (String, usize, Instant) {
        let begin = Instant::now();
        loop {
            let stderr = self.stderr();
            let rest = whole_lines(stderr.get(from..).unwrap_or_default());
            if let Some(at) = rest.find(text) {
                let first = rest[..at].rfind('\n').map_or(0, |end| end + 1);
                let last = at + rest[at..].find('\n').unwrap_or_default();
                return (rest[first..last].to_owned(), from + last, Instant::now());
            }
            assert!(
                begin.elapsed() < TIMEOUT,
                "{} does not say {text:?}:\n{stderr}",
                self.name
            );
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Sends a signal by name, such as `KILL`.
    pub fn signal(&self, signal: &str) {
        send_signal(self.pid(), signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns what is in a file of output; of a character that is being written, nothing.
fn text_of(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("output can be read");
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let end = error.utf8_error();
        assert!(end.error_len().is_none(), "output is no text: {error}");
        let mut bytes = error.into_bytes();
        bytes.truncate(end.valid_up_to());
        String::from_utf8(bytes).expect("it is text up to there")
    })
}

/// Returns the part of an output that ends with its last whole line: what is being written may
/// lack the end of an address or of a number.
fn whole_lines(output: &str) -> &str {
    &output[..output.rfind('\n').map_or(0, |end| end + 1)]
}

/// Sends a signal to a process, by a name such as `KILL`.
///
/// # Panics
/// Panics if there is no such signal, or no such process.
pub fn send_signal(pid: u32, signal: &str) {
    assert!(try_signal(pid, signal), "{pid} gets no {signal}");
}

/// Sends a signal to a process that may have ended; returns whether it is there. Not every machine
/// has a program for it.
///
/// # Panics
/// Panics if there is no such signal.
pub fn try_signal(pid: u32, signal: &str) -> bool {
    let signal = match signal {
        "CONT" => Signal::CONT,
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "KILL" => Signal::KILL,
        "QUIT" => Signal::QUIT,
        "STOP" => Signal::STOP,
        "TERM" => Signal::TERM,
        "TSTP" => Signal::TSTP,
        _ => panic!("tests send no signal {signal}"),
    };
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    number.is_some_and(|number| kill_process(number, signal).is_ok())
}

/// Returns the processes that a process has started and that are not waited for yet.
pub fn children_of(pid: u32) -> Vec<u32> {
    let is_child = |status: &str| {
        let mut lines = status.lines();
        let parent = lines.find_map(|line| line.strip_prefix("PPid:"));
        parent.is_some_and(|parent| parent.trim() == pid.to_string())
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let found = processes.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        is_child(&status).then_some(pid)
    });
    found.collect()
}

/// Tells whether a process is running; one that has ended and was not waited for is not, once its
/// last thread has ended: until then it holds its locks.
pub fn is_running(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else {
        return false;
    };
    let mut lines = status.lines();
    if !lines.any(|line| line.starts_with("State:") && line.contains('Z')) {
        return true;
    }
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    threads.is_ok_and(|threads| threads.count() > 1)
}

/// Kills all processes of run `r` of a folder at once, and waits until it can be resumed.
///
/// # Panics
/// Panics if nothing is known of such a run, one of them does not end, or it is not listed so.
pub fn kill_all_to_resume(scratch: &Scratch) {
    kill_all(scratch);
    // What a killed process held is given back with the last of its threads.
    wait_for("the run is listed as killed", || {
        let (_, listed, _) = scratch.phalanx_says(&["ps"]);
        listed.contains("killed, resumable")
    });
}

/// Kills all processes of run `r` of a folder at once.
///
/// # Panics
/// Panics if nothing is known of such a run, or one of them does not end.
pub fn kill_all(scratch: &Scratch) {
    let text = std::fs::read_to_string(scratch.path("r/run.json")).expect("the run is known");
    let record: serde_json::Value = serde_json::from_str(&text).expect("the record is JSON");
    let workers = record["workers"].as_array().expect("a list").iter();
    let pids = [&record["pid"]]
        .into_iter()
        .chain(workers.map(|worker| &worker["pid"]));
    let pids: Vec<u32> = pids
        .map(|pid| u32::try_from(pid.as_u64().expect("a pid")).expect("pids are small"))
        .collect();
    // Those that the end of the run daemon has ended are gone already.
    for pid in &pids {
        try_signal(*pid, "KILL");
    }
    for pid in pids {
        wait_for(&format!("{pid} is gone"), || !is_running(pid));
    }
}

/// Tells whether a process is stopped, as by Ctrl-Z in a shell.
pub fn is_stopped(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && line.contains('T'))
}

/// Waits until a condition holds.
///
/// # Panics
/// Panics if it does not hold in time.
pub fn wait_for(what: &str, holds: impl FnMut() -> bool) {
    wait_within(TIMEOUT, what, holds);
}

/// Lets time pass that is itself a part of what is tested: how long a cable is pulled, how old a
/// list may be. What only takes its time is waited for with [`wait_for`].
pub fn let_pass(time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now())
        && !left.is_zero()
    {
        std::thread::park_timeout(left);
    }
}

fn wait_within(timeout: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(
            begin.elapsed() < timeout,
            "waited {timeout:?} in vain until {what}"
        );
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
