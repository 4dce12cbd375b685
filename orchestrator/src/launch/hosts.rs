//! Secondaries of other machines, over ssh or by Slurm: which worker program a host has, and the
//! command line that starts it there.
//!
//! A host needs nothing but an account that ssh reaches without a password. The key of the run goes
//! to it through standard input, and is in no file or command line there; the same pipe is the
//! worker's lifeline: when this program, the network or the ssh connection dies, the worker reads
//! its end and ends. All that is done on a host is done by `sh`, whatever the login shell is.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use protocol::report::GpuReport;
use run::{Host, HostAccess, RunSpec};
use transport::Endpoints;

use super::WorkerCommand;

/// Time that a host has to say what it is.
const PROBE_TIME: Duration = Duration::from_secs(30);

/// Flag by which a worker program tells on which GPU it would draw.
const GPU_FLAG: &str = "--gpu-report";

/// Time that the worker program may take to be copied to a host.
const COPY_TIME: Duration = Duration::from_mins(10);

/// Interval at which a process is checked for its end.
const POLL: Duration = Duration::from_millis(10);

/// The most bytes that are taken of what a host says.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Options of every connection: nobody is there to type a password, and a network that is gone is
/// noticed. Options of the user come before them and win.
const SSH_OPTIONS: [&str; 9] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
];

/// Words of a command that has Slurm run something on one node of the job, beside what runs there.
const SRUN_WORDS: [&str; 5] = ["srun", "--nodes=1", "--ntasks=1", "--overlap", "--quiet"];

/// Said on a host whose ssh server does not name the other end of a connection.
const NO_ADDRESS: &str = "is not set: set primary_address of this [[host]]";

/// Begins each line of an answer that counts; a host's login files may print anything.
const MARK: &str = "phalanx-host:";

/// A host on which a worker of this build was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedHost {
    /// The host as the run has it.
    pub host: Host,
    /// The way to it.
    carrier: Carrier,
    /// The worker program there.
    worker: String,
}

/// A way to hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Carrier {
    /// The program ssh, with its options.
    Ssh(Vec<String>),
    /// Slurm, within its job.
    Srun,
}

/// A place from which a worker is started on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteStart {
    /// The host.
    prepared: PreparedHost,
    /// Text of the key that goes to standard input; `None` for a run without keys.
    key: Option<String>,
    /// Address that it connects to.
    target: Target,
    /// Place of the relay that it is, or that it is behind.
    relay: Option<String>,
}

/// Address that a worker on another machine connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// The primary: its port, and its address where it is known here.
    Primary { address: Option<String>, port: u16 },
    /// The relay of its machine.
    Relay,
}

/// Reason why a host cannot have a secondary.
#[derive(Debug, thiserror::Error)]
pub enum HostProblem {
    /// The worker program of this machine does not run.
    #[error("{} does not say what it is", .0.display())]
    OwnWorker(PathBuf, #[source] io::Error),
    /// ssh does not run.
    #[error("cannot start {program} to reach {host}: install it, or name it with --ssh-command")]
    Ssh {
        /// The host.
        host: String,
        /// The program.
        program: String,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The host cannot be reached.
    #[error("cannot reach {host}: {why}; `{command} {host} true` must work without a password")]
    Unreachable {
        /// The host.
        host: String,
        /// The last words of ssh.
        why: String,
        /// The program that reaches it.
        command: String,
    },
    /// It does not answer in time.
    #[error("{host} did not answer within {} s", .time.as_secs())]
    Slow {
        /// The host.
        host: String,
        /// Time that it had.
        time: Duration,
    },
    /// It has no worker of this build.
    #[error(
        "{host} ({system}) has no worker of this build ({own}){found}: --copy-worker copies it \
         there, or `worker` of a [[host]] names one"
    )]
    NoWorker {
        /// The host.
        host: String,
        /// Its system and processor.
        system: String,
        /// The build of this machine.
        own: String,
        /// Workers that were found, if any.
        found: String,
    },
    /// The worker was copied and does not run there.
    #[error("the worker program was copied to {host} ({system}) and does not run there: {why}")]
    CopiedInVain {
        /// The host.
        host: String,
        /// Its system and processor.
        system: String,
        /// Answer of the host.
        why: String,
    },
}

/// Finds on every host of a run a worker of the same build as that of this machine, and copies it
/// where there is none and that is asked for. Hosts are asked at the same time.
///
/// # Errors
/// Fails with all problems of all hosts.
pub fn prepare(spec: &RunSpec, worker: &Path) -> Result<Vec<PreparedHost>, Vec<HostProblem>> {
    prepare_these(spec, spec.used_hosts(), worker)
}

/// Does the same for some hosts alone.
///
/// # Errors
/// Fails with all problems of all of them.
pub fn prepare_these(
    spec: &RunSpec,
    hosts: Vec<Host>,
    worker: &Path,
) -> Result<Vec<PreparedHost>, Vec<HostProblem>> {
    if hosts.is_empty() {
        return Ok(Vec::new());
    }
    let prepare = |host: Host| {
        let worker = prepare_one(spec, &host, worker, spec.network.copy_worker)?;
        let carrier = Carrier::of(spec);
        Ok(PreparedHost {
            host,
            carrier,
            worker,
        })
    };
    let results: Vec<Result<PreparedHost, HostProblem>> = thread::scope(|scope| {
        let threads: Vec<_> = hosts
            .into_iter()
            .map(|host| scope.spawn(|| prepare(host)))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let mut prepared = Vec::new();
    let mut problems = Vec::new();
    for result in results {
        match result {
            Ok(host) => prepared.push(host),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(prepared)
    } else {
        Err(problems)
    }
}

/// Finds a worker of the same build as `worker` on a host, or copies it there if that may be.
///
/// # Errors
/// Fails if the host cannot be reached or has none.
pub fn prepare_one(
    spec: &RunSpec,
    host: &Host,
    worker: &Path,
    may_copy: bool,
) -> Result<String, HostProblem> {
    let preparation = Preparation {
        host,
        connection: HostConnection::new(spec, &host.name),
        own: &build_of(worker)?,
        worker,
    };
    preparation.find(may_copy)
}

/// Returns the build of a worker program: its long version on one line.
///
/// # Errors
/// Fails if it does not run.
pub fn build_of(worker: &Path) -> Result<String, HostProblem> {
    let output = Command::new(worker)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| HostProblem::OwnWorker(worker.to_owned(), error))?;
    Ok(one_line(&String::from_utf8_lossy(&output.stdout)))
}

/// Returns on which GPU a worker program of this machine would draw.
///
/// # Errors
/// Fails if it does not run, takes too long or says something else.
pub fn gpu_of(worker: &Path) -> Result<GpuReport, HostProblem> {
    let child = Command::new(worker)
        .arg(GPU_FLAG)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| HostProblem::OwnWorker(worker.to_owned(), error))?;
    let (answer, errors, status) = answer_within(&mut child, PROBE_TIME);
    let said = |why: Option<String>| {
        let why = why.unwrap_or_else(|| "it does not say".to_owned());
        HostProblem::OwnWorker(worker.to_owned(), io::Error::other(why))
    };
    match status {
        Some(status) if status.success() => {
            serde_json::from_str(&answer).map_err(|error| said(Some(error.to_string())))
        }
        Some(_) => Err(said(last_line(&errors))),
        None => Err(said(Some(format!(
            "its GPU does not answer within {PROBE_TIME:?}"
        )))),
    }
}

/// Reads what a process says until it ends, or is killed when its time is up; then it has no
/// status.
fn answer_within(child: &mut Child, time: Duration) -> (String, String, Option<ExitStatus>) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let answer = scope.spawn(|| read_all(stdout));
        let errors = scope.spawn(|| read_all(stderr));
        let end = Instant::now() + time;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(POLL),
                Ok(None) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let text = |thread: thread::ScopedJoinHandle<'_, String>| thread.join().unwrap_or_default();
        (text(answer), text(errors), status)
    })
}

/// Way to a host.
#[derive(Clone, Debug)]
pub struct HostConnection {
    /// Its name.
    host: String,
    /// The way to it.
    carrier: Carrier,
}

struct Preparation<'a> {
    host: &'a Host,
    connection: HostConnection,
    own: &'a str,
    worker: &'a Path,
}

impl Preparation<'_> {
    fn find(&self, may_copy: bool) -> Result<String, HostProblem> {
        let answer = self.connection.ask(&self.probe_script())?;
        let lines = || answer.lines().filter_map(|line| line.strip_prefix(MARK));
        let system = lines().find_map(|line| line.strip_prefix("system "));
        let system = system.unwrap_or("of an unknown system").to_owned();
        let workers: Vec<(&str, String)> = lines()
            .filter_map(|line| line.strip_prefix("worker "))
            .filter_map(|line| line.split_once('|'))
            .map(|(path, build)| (path, one_line(build)))
            .collect();
        if let Some((path, _)) = workers.iter().find(|(_, build)| build == self.own) {
            return Ok((*path).to_owned());
        }
        if may_copy && self.host.worker.is_none() {
            return self.copy(&system);
        }
        let found: Vec<String> = workers
            .iter()
            .map(|(path, build)| format!("{path} is {build}"))
            .collect();
        Err(HostProblem::NoWorker {
            host: self.host.name.clone(),
            system,
            own: self.own.to_owned(),
            found: if found.is_empty() {
                String::new()
            } else {
                format!("; {}", found.join(", "))
            },
        })
    }

    /// Copies the worker program into the cache of the host's user.
    fn copy(&self, system: &str) -> Result<String, HostProblem> {
        let own_failed = |error| HostProblem::OwnWorker(self.worker.to_owned(), error);
        let file = File::open(self.worker).map_err(own_failed)?;
        let bytes = file.metadata().map_err(own_failed)?.len();
        // Of a connection that breaks, a part arrives: only the whole is given its name.
        let script = format!(
            "d={}; f=\"$d/worker.$$\"; trap 'rm -f \"$f\"' EXIT; mkdir -p \"$d\" && \
             cat > \"$f\" && n=$(wc -c < \"$f\") && if [ \"$n\" -ne {bytes} ]; then \
             echo \"$n of {bytes} bytes arrived\" >&2; exit 1; fi && chmod 755 \"$f\" && \
             \"$f\" --version >/dev/null && mv \"$f\" \"$d/worker\" && \
             echo \"{MARK}worker $d/worker\"",
            cache_folder(self.own)
        );
        let in_vain = |why: String| HostProblem::CopiedInVain {
            host: self.host.name.clone(),
            system: system.to_owned(),
            why,
        };
        let answer = match self.connection.ask_with(&script, Some(file), COPY_TIME) {
            Err(HostProblem::Unreachable { why, .. }) => return Err(in_vain(why)),
            other => other?,
        };
        let mut lines = answer.lines().filter_map(|line| line.strip_prefix(MARK));
        let path = lines.find_map(|line| line.strip_prefix("worker "));
        path.map(str::to_owned)
            .ok_or_else(|| in_vain(one_line(&answer)))
    }

    /// Lists workers that may be of this build: the one that is named, else those of the user's
    /// cache, of the same path as here, which a shared file system has, and of `PATH`.
    fn probe_script(&self) -> String {
        let candidates = match &self.host.worker {
            Some(named) => match named.strip_prefix("~/") {
                Some(rest) => format!("\"$HOME\"/{}", quoted(rest)),
                None => quoted(named),
            },
            None => format!(
                "{}/worker {} worker",
                cache_folder(self.own),
                quoted(&self.worker.to_string_lossy())
            ),
        };
        format!(
            "echo \"{MARK}system $(uname -sm)\"; for w in {candidates}; do \
             p=$(command -v \"$w\") || continue; \
             echo \"{MARK}worker $p|$(\"$p\" --version 2>&1 </dev/null | tr '\\n' ' ')\"; done"
        )
    }
}

impl HostConnection {
    /// Returns the connection of a run to a host.
    pub fn new(spec: &RunSpec, host: &str) -> Self {
        Self {
            host: host.to_owned(),
            carrier: Carrier::of(spec),
        }
    }

    /// Returns the lines of a script that put the primary's address into the variable `a`: one that
    /// is known, or that of this end of the connection.
    pub fn address_script(&self, known: Option<&str>) -> String {
        self.carrier.address_script(known)
    }

    /// Has the host run a script; returns what that printed.
    ///
    /// # Errors
    /// Fails if it cannot be reached, is too slow, or the script fails.
    pub fn ask(&self, script: &str) -> Result<String, HostProblem> {
        self.ask_with(script, None, PROBE_TIME)
    }

    /// Asks a worker program of the host on which GPU it would draw.
    ///
    /// # Errors
    /// Fails if the host cannot be reached, or the program says something else.
    pub fn gpu_of(&self, worker: &str) -> Result<GpuReport, HostProblem> {
        let answer = self.ask(&format!("{} {GPU_FLAG}", quoted(worker)))?;
        // Whatever else a shell says as it begins is no report.
        let report = answer.lines().find(|line| line.starts_with('{'));
        serde_json::from_str(report.unwrap_or(&answer)).map_err(|error| HostProblem::Unreachable {
            host: self.host.clone(),
            why: error.to_string(),
            command: self.carrier.command(),
        })
    }

    /// Has the host run a script that reads a file from standard input.
    fn ask_with(
        &self,
        script: &str,
        input: Option<File>,
        time: Duration,
    ) -> Result<String, HostProblem> {
        let words = self.carrier.words(&self.host, script);
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| HostProblem::Ssh {
                host: self.host.clone(),
                program: words[0].clone(),
                source,
            })?;
        let (answer, errors, status) = answer_within(&mut child, time);
        match status {
            Some(status) if status.success() => Ok(answer),
            Some(_) => Err(HostProblem::Unreachable {
                host: self.host.clone(),
                why: last_line(&errors).unwrap_or_else(|| "it refused the command".to_owned()),
                command: self.carrier.command(),
            }),
            None => Err(HostProblem::Slow {
                host: self.host.clone(),
                time,
            }),
        }
    }
}

impl PreparedHost {
    /// Returns how secondaries are started on it that reach a primary which binds `bind`.
    pub(super) fn start(&self, bind: &Endpoints, key: Option<String>) -> RemoteStart {
        let own = bind.tcp_host().filter(|host| !is_any_address(host));
        let address = self.host.primary_address.as_deref().or(own);
        RemoteStart {
            prepared: self.clone(),
            key,
            target: Target::Primary {
                address: address.map(str::to_owned),
                port: bind.tcp_port().unwrap_or_default(),
            },
            relay: None,
        }
    }

    /// Returns how secondaries are started on it that reach the primary through a relay: they need
    /// no key, since nobody else can enter the relay's place.
    pub(super) fn start_behind(&self, place: &str) -> RemoteStart {
        RemoteStart {
            prepared: self.clone(),
            key: None,
            target: Target::Relay,
            relay: Some(place.to_owned()),
        }
    }
}

impl RemoteStart {
    /// Returns the name of the host.
    pub fn host(&self) -> &str {
        &self.prepared.host.name
    }

    /// Returns the same start of a relay that has a place.
    pub(super) fn with_relay(mut self, place: &str) -> Self {
        self.relay = Some(place.to_owned());
        self
    }

    /// Returns the place of the relay that it is, or that it is behind.
    pub(super) fn relay(&self) -> Option<&str> {
        self.relay.as_deref()
    }

    /// Returns the argument that names the relay, as a word of a shell.
    fn through(&self) -> String {
        let place = self.relay().unwrap_or_default();
        quoted(&format!("--through={place}"))
    }

    /// Returns the host as the run has it.
    pub(super) fn settings(&self) -> &Host {
        &self.prepared.host
    }

    /// Returns the text for the worker's standard input before it is the lifeline.
    pub(super) fn input(&self) -> &str {
        self.key.as_deref().unwrap_or_default()
    }

    /// Returns the program and the arguments that start a worker on the host.
    pub(super) fn words(&self, command: &WorkerCommand) -> Vec<String> {
        let carrier = &self.prepared.carrier;
        let (address, connection) = match &self.target {
            Target::Primary { address, port } => {
                let through = self.relay().map(|_| format!(" {}", self.through()));
                let through = through.unwrap_or_default();
                (
                    format!("{}; ", carrier.address_script(address.as_deref())),
                    format!("--connect=\"tcp://$a:{port}\"{through}"),
                )
            }
            Target::Relay => (String::new(), self.through()),
        };
        let environment: Vec<String> = command
            .environment
            .iter()
            .map(|(name, text)| quoted(&format!("{name}={text}")))
            .collect();
        let arguments = command
            .arguments
            .iter()
            .map(|one| quoted(&one.to_string_lossy()));
        let script = format!(
            "{address}exec env {} {} {connection} {}",
            environment.join(" "),
            quoted(&self.prepared.worker),
            arguments.collect::<Vec<_>>().join(" ")
        );
        carrier.words(&self.prepared.host.name, &script)
    }
}

impl Carrier {
    fn of(spec: &RunSpec) -> Self {
        if spec.network.host_access == HostAccess::Srun {
            return Self::Srun;
        }
        Self::Ssh(ssh_words(&spec.network.ssh_command).unwrap_or_default())
    }

    /// Returns the words of a command that has a host run a script.
    fn words(&self, host: &str, script: &str) -> Vec<String> {
        let mut words = match self {
            Self::Ssh(ssh) => {
                let options = SSH_OPTIONS.map(str::to_owned);
                ssh.iter().cloned().chain(options).collect()
            }
            Self::Srun => SRUN_WORDS.map(str::to_owned).to_vec(),
        };
        match self {
            Self::Ssh(_) => {
                words.extend(["--".to_owned(), host.to_owned()]);
                words.push(format!("exec sh -c {}", quoted(script)));
            }
            Self::Srun => {
                words.push(format!("--nodelist={host}"));
                words.extend(["sh", "-c", script].map(str::to_owned));
            }
        }
        words
    }

    /// Returns the command as people type it before the name of a host.
    fn command(&self) -> String {
        match self {
            Self::Ssh(ssh) => ssh.join(" "),
            Self::Srun => "srun --nodelist".to_owned(),
        }
    }

    fn address_script(&self, known: Option<&str>) -> String {
        let variable = match self {
            Self::Ssh(_) => "SSH_CONNECTION",
            Self::Srun => "SLURM_LAUNCH_NODE_IPADDR",
        };
        match known {
            Some(address) => format!("a={}", quoted(&bracketed(address))),
            None => format!(
                "a=${{{variable}:?{NO_ADDRESS}}}; a=${{a%% *}}; \
                 case $a in *:*) a=\"[$a]\";; esac"
            ),
        }
    }
}

/// Returns the folder of a host's cache for workers of a build, as a word of a shell.
fn cache_folder(build: &str) -> String {
    let name: String = build
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '.' {
                c
            } else {
                '-'
            }
        })
        .collect();
    format!("\"${{XDG_CACHE_HOME:-$HOME/.cache}}\"/phalanx/workers/{name}")
}

/// Returns the words of the setting `ssh_command`, as a shell splits them; `None` where a quotation
/// mark is missing, or there is no word.
pub fn ssh_words(text: &str) -> Option<Vec<String>> {
    shlex::split(text).filter(|words| !words.is_empty())
}

/// Returns a word as any shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn is_any_address(host: &str) -> bool {
    host == "0.0.0.0" || host == "[::]"
}

/// Returns an address as one of tcp has it.
fn bracketed(address: &str) -> String {
    if address.contains(':') && !address.starts_with('[') {
        format!("[{address}]")
    } else {
        address.to_owned()
    }
}

fn read_all(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // What cannot be read is missing in the answer, which is found out there.
        let _ = stream
            .by_ref()
            .take(ANSWER_BYTES_MAX)
            .read_to_end(&mut bytes);
        let _ = io::copy(&mut stream, &mut io::sink());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn last_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next_back().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use protocol::Role;

    use super::*;

    /// Returns the words that start a worker on a host, with the script of the last one.
    fn words(host: Host, bind: &str) -> (Vec<String>, String) {
        let prepared = PreparedHost {
            host,
            carrier: Carrier::Ssh(["ssh", "-F", "conf"].map(str::to_owned).to_vec()),
            worker: "/opt/it's/worker".to_owned(),
        };
        let start = prepared.start(&bind.parse().unwrap(), Some("public A\n".to_owned()));
        let command = WorkerCommand {
            name: "s3".to_owned(),
            role: Role::Secondary,
            arguments: vec!["--name=s3".into(), "--server-key=a'b$c".into()],
            environment: BTreeMap::from([("LEVEL".to_owned(), "x y".to_owned())]),
            remote: None,
        };
        assert_eq!(start.input(), "public A\n");
        let mut words = start.words(&command);
        let script = words.pop().unwrap();
        (words, script)
    }

    /// Returns what a script prints that runs in place of ssh's, with a worker that prints its
    /// arguments and a variable.
    fn run(script: &str, connection: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worker").display().to_string();
        let worker = "#!/bin/sh\necho \"$LEVEL\"; printf '%s\\n' \"$@\"\n";
        // By another process: a child that another test starts at the same moment has the files
        // for a moment that this one writes, and what is written cannot be started.
        let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let mut shell = Command::new("sh");
        let made = shell.args(["-c", write, &path, worker]).status();
        assert!(made.unwrap().success());
        // The path in the script is quoted twice: once for `env`, once for `sh -c`.
        let inner = quoted("/opt/it's/worker");
        let script = script.replace(&inner.replace('\'', "'\\''"), &path);
        let output = Command::new("sh")
            .args(["-c", &script])
            .env("SSH_CONNECTION", connection)
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_worker_is_started_with_every_character_of_its_arguments() {
        let (words, script) = words(Host::named("me@node"), "tcp://0.0.0.0:5000");
        assert_eq!(words[..3], ["ssh", "-F", "conf"]);
        assert_eq!(words[words.len() - 2..], ["--", "me@node"]);
        let told = run(&script, "10.0.0.7 4000 10.0.0.8 22");
        let expected = "x y\n--connect=tcp://10.0.0.7:5000\n--name=s3\n--server-key=a'b$c\n";
        assert_eq!(told, expected);
        let told = run(&script, "fe80::7 4000 fe80::8 22");
        assert!(told.contains("--connect=tcp://[fe80::7]:5000\n"), "{told}");
    }

    #[test]
    fn an_address_that_is_said_wins_over_that_of_the_connection() {
        let connection = "10.0.0.7 4000 10.0.0.8 22";
        let (_, script) = words(Host::named("node"), "tcp://192.0.2.1:5000");
        let told = run(&script, connection);
        assert!(told.contains("--connect=tcp://192.0.2.1:5000\n"), "{told}");
        let host = Host {
            primary_address: Some("2001:db8::1".to_owned()),
            ..Host::named("node")
        };
        let (_, script) = words(host, "tcp://192.0.2.1:5000");
        let told = run(&script, connection);
        assert!(
            told.contains("--connect=tcp://[2001:db8::1]:5000\n"),
            "{told}"
        );
    }

    #[test]
    fn a_host_with_many_secondaries_has_a_relay_that_alone_has_a_key_and_the_address() {
        let mut plan = crate::launch::tests::plan(1);
        plan.spec.network.bind = Some("tcp://192.0.2.1:5000".parse().unwrap());
        plan.spec.network.relay_above = 2;
        let prepared = |name: &str, slots| PreparedHost {
            host: Host {
                slots,
                ..Host::named(name)
            },
            carrier: Carrier::Ssh(vec!["ssh".to_owned()]),
            worker: "/opt/it's/worker".to_owned(),
        };
        let hosts = [prepared("a", 2), prepared("b", 3)];
        let commands = plan.commands_on(&hosts, 2).unwrap();
        let names: Vec<&str> = commands.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["s2", "s3", "relay4", "s4", "s5", "s6"]);
        let told = |index: usize| {
            let command: &WorkerCommand = &commands[index];
            let words = command.remote.as_ref().unwrap().words(command);
            run(words.last().unwrap(), "")
        };
        assert!(
            told(1).contains("--connect=tcp://192.0.2.1:5000\n"),
            "{}",
            told(1)
        );
        let relay = told(2);
        assert!(
            relay.contains("--connect=tcp://192.0.2.1:5000\n--through=relay4-"),
            "{relay}"
        );
        assert!(relay.contains("--network-role=relay\n"), "{relay}");
        let through = relay.lines().find(|line| line.starts_with("--through="));
        for index in 3..6 {
            let told = told(index);
            assert!(told.lines().any(|line| Some(line) == through), "{told}");
            assert!(
                !told.contains("--connect") && !told.contains("--key"),
                "{told}"
            );
        }
    }

    #[test]
    fn the_cache_has_a_folder_for_each_build() {
        let folder = cache_folder("worker 0.1.0 sources ab target x-y");
        assert!(folder.ends_with("/phalanx/workers/worker-0.1.0-sources-ab-target-x-y"));
    }
}
