//! [`Drill`]: one run that `phalanx` starts, what is done to it, and how it came out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::journal_damage::{Damage, Damaged};
use super::leftovers;
use super::run_log::RunLog;
use super::scenario::{Act, Ask, Resume, Scenario, Stall};
use super::small_disk::SmallDisk;
use super::tokens::{BOX, Done, Tokens};
use super::{Failure, Outcome};
use crate::processes::{Scratch, is_running, let_pass, send_signal, try_signal};

/// Longest time a run may do nothing that can be seen.
const STILL_MAX: Duration = Duration::from_mins(1);

/// Longest time the end of a run may take once its cause has happened.
const END_MAX: Duration = Duration::from_secs(30);

/// Time a figure is waited for that some runs do not have.
const FIGURE_MAX: Duration = Duration::from_secs(4);

/// Time between two looks at a run.
const LOOK: Duration = Duration::from_millis(5);

/// The user's settings: a hung primary is not waited for as long as people are given.
const SETTINGS: &str = "[network]\nstep_timeout_s = 4\n";

/// Number of times in a minute that a secondary is started again.
const RESTARTS: &str = "1000";

/// Message of a run that was taken up.
const GOES_ON: &str = "the run goes on after iteration";

/// Number of iterations that may be in the file of digests and not yet in the journal.
const UNWRITTEN_MAX: usize = 200;

/// Simulated over real time: what is done to it meets a run that is under way.
const PACE: &str = "0.7";

/// A run under way.
struct Drill<'a> {
    scenario: &'a Scenario,
    scratch: Scratch,
    disk: Option<SmallDisk>,
    tokens: Tokens,
    done: Vec<Done>,
    outcome: Outcome,
    /// True if a torn tail was made of a log, which may have held commands.
    may_lack_commands: bool,
}

/// Continuation of a run after something was done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// It lives.
    Living,
    /// It is over, in order.
    Completed,
    /// It cannot be taken up, for a reason that was given.
    Refused,
}

/// Does what a scenario says.
pub(super) fn run(scenario: &Scenario) -> Outcome {
    let scratch = Scratch::new();
    let folder = scenario.has_small_disk.then(|| scratch.path("disk"));
    let mut drill = Drill {
        scenario,
        scratch,
        disk: folder.and_then(SmallDisk::mount),
        tokens: Tokens::default(),
        done: Vec::new(),
        outcome: Outcome::default(),
        may_lack_commands: false,
    };
    if scenario.has_small_disk && drill.disk.is_none() {
        eprintln!(
            "SKIPPED: seed {}: no file system can be mounted",
            scenario.seed
        );
        drill.outcome.skipped = 1;
        return drill.outcome;
    }
    drill.outcome.runs = 1;
    if let Err(failure) = drill.all() {
        drill.keep(failure);
    }
    drill.outcome
}

impl Drill<'_> {
    fn all(&mut self) -> Result<(), Failure> {
        self.start()?;
        let mut course = Course::Living;
        for (pause, act) in &self.scenario.acts {
            let_pass(*pause);
            if self.is_over() {
                break;
            }
            self.outcome.faults += usize::from(!matches!(act, Act::Command(_)));
            self.outcome.history.push(format!("{act:?}"));
            course = self.act(act)?;
            if course != Course::Living {
                break;
            }
        }
        if course == Course::Living {
            course = self.wait_for_the_end()?;
        }
        let answers = self
            .tokens
            .answers(&mut self.outcome.history)
            .map_err(Failure::Wrong)?;
        self.done.extend(answers);
        self.look_for_leftovers(course)?;
        match course {
            Course::Refused => {
                self.outcome.refusals += 1;
                Ok(())
            }
            Course::Living | Course::Completed => self.compare(),
        }
    }

    fn start(&mut self) -> Result<(), Failure> {
        let write = |name: &str, text: &str| {
            fs::write(self.scratch.path(name), text).expect("a file can be written");
        };
        write("fleet.sdf", &self.scenario.world());
        write("script.jsonl", &self.scenario.script());
        write("box.sdf", BOX);
        write("settings.toml", SETTINGS);
        fs::create_dir(self.scratch.path("tmp")).expect("a folder can be made");
        let journal = self.disk.as_ref().map(|disk| disk.path().join("journal"));
        let scenario = self.scenario;
        let mut command = self.phalanx();
        command.args(["run", "--detach", "--name", "r"]);
        command.args(["--secondaries", &scenario.secondaries.to_string()]);
        command.args(["--iterations", &scenario.iterations.to_string()]);
        command.args(["--checkpoint-every", &scenario.checkpoint_every.to_string()]);
        command.args([
            "--real-time-factor",
            PACE,
            "--restarts-per-minute",
            RESTARTS,
        ]);
        command.args(["--on-peer-loss", "recover"]);
        if let Some(journal) = journal {
            command.arg("--journal").arg(journal);
        }
        for (option, name) in [
            ("--commands", "script.jsonl"),
            ("--record-commands", "record.jsonl"),
            ("--digests", "digests"),
        ] {
            command.arg(option).arg(self.scratch.path(name));
        }
        command.arg(self.scratch.path("fleet.sdf"));
        match says(&mut command) {
            (0, _) => Ok(()),
            (code, text) => Err(Failure::Wrong(format!("run --detach: {code}: {text}"))),
        }
    }

    fn act(&mut self, act: &Act) -> Result<Course, Failure> {
        match act {
            Act::KillSecondaries(choices) => self.kill_secondaries(choices),
            Act::StopSecondary(choice, stall) => self.stop_secondary(*choice, *stall),
            Act::KillPrimary(resume) => return self.kill_primary(*resume),
            Act::KillOwner(resume) => {
                send_signal(self.owner(), "KILL");
                return self.take_up(*resume, None);
            }
            Act::KillAll(resume) => {
                self.kill_all();
                return self.take_up(*resume, None);
            }
            Act::StopPrimary(stall) => return self.stop_primary(*stall),
            Act::SlowPrimary(time) => self.slow_primary(*time),
            Act::StopOwner(time) => stop_for(self.owner(), *time),
            Act::DamageJournal(damage) => return self.damage(*damage),
            Act::FillDisk(time) => {
                if let Some(disk) = &self.disk {
                    disk.fill();
                    let_pass(*time);
                    disk.make_room();
                }
            }
            Act::Command(ask) => self.ask(*ask),
            // That is for runs on two hosts.
            Act::PullCable(_) => {}
        }
        Ok(Course::Living)
    }

    fn kill_secondaries(&mut self, choices: &[u64]) {
        let mut living = self.secondaries();
        let mut victims = Vec::new();
        for choice in choices {
            if !living.is_empty() {
                victims.push(living.remove((choice % living.len() as u64) as usize));
            }
        }
        let log = self.log("primary");
        let began = Instant::now();
        for (_, pid) in &victims {
            // It may have ended by itself.
            try_signal(*pid, "KILL");
        }
        let [(name, pid)] = victims.as_slice() else {
            return;
        };
        let told = [&format!("{name} (pid {pid} "), "was killed by SIGKILL"];
        if let Some(at) = log.wait_for(&told, FIGURE_MAX) {
            self.outcome.times.kill_detected.push(at - began);
        }
        let told = [&format!("{name} is replaced after")[..]];
        if let Some(at) = log.wait_for(&told, FIGURE_MAX) {
            self.outcome.times.kill_replaced.push(at - began);
        }
    }

    fn stop_secondary(&mut self, choice: u64, stall: Stall) {
        let living = self.secondaries();
        if living.is_empty() {
            return;
        }
        let (name, pid) = &living[(choice % living.len() as u64) as usize];
        let log = self.log("primary");
        let began = Instant::now();
        if let Stall::For(time) = stall {
            return stop_for(*pid, time);
        }
        try_signal(*pid, "STOP");
        if let Some(at) = log.wait_for(&[&format!("{name} (pid {pid} "), "restoring"], FIGURE_MAX) {
            self.outcome.times.stop_detected.push(at - began);
        }
        let told = [&format!("{name} is replaced after")[..]];
        if let Some(at) = log.wait_for(&told, FIGURE_MAX) {
            self.outcome.times.stop_replaced.push(at - began);
        }
    }

    fn kill_primary(&mut self, resume: Resume) -> Result<Course, Failure> {
        let Some(pid) = self.primary() else {
            return Ok(Course::Living);
        };
        let began = Instant::now();
        try_signal(pid, "KILL");
        if !resume.at_once {
            self.expect_end(&[0, 4])?;
            self.outcome.times.primary_ended.push(began.elapsed());
        }
        self.take_up(resume, None)
    }

    fn stop_primary(&mut self, stall: Stall) -> Result<Course, Failure> {
        let Some(pid) = self.primary() else {
            return Ok(Course::Living);
        };
        if let Stall::For(time) = stall {
            stop_for(pid, time);
            return Ok(Course::Living);
        }
        let began = Instant::now();
        try_signal(pid, "STOP");
        self.expect_end(&[0, 4])?;
        self.outcome.times.hung_ended.push(began.elapsed());
        let resume = Resume {
            at_once: false,
            secondaries: self.scenario.secondaries,
        };
        self.take_up(resume, None)
    }

    fn slow_primary(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(pid) = self.primary().filter(|_| Instant::now() < end) {
            stop_for(pid, Duration::from_millis(60));
            let_pass(Duration::from_millis(15));
        }
    }

    fn damage(&mut self, damage: Damage) -> Result<Course, Failure> {
        self.kill_all();
        self.wait_until_gone()?;
        if self.is_completed() {
            return Ok(Course::Completed);
        }
        let done = damage.strike(&self.journal());
        let done = done.map_err(|error| Failure::Wrong(format!("cannot damage: {error}")))?;
        let resume = Resume {
            at_once: false,
            secondaries: self.scenario.secondaries,
        };
        let Some(done) = done else {
            return self.take_up(resume, None);
        };
        self.outcome.history.push(done.text.clone());
        self.may_lack_commands |= done.is_torn_tail;
        self.take_up(resume, Some(&done))
    }

    fn kill_all(&self) {
        // Those that the end of the owner has ended are gone already.
        for pid in self.pids() {
            try_signal(pid, "KILL");
        }
    }

    /// Takes up a run whose processes die or have died; a damaged one may be refused.
    fn take_up(&mut self, resume: Resume, damaged: Option<&Damaged>) -> Result<Course, Failure> {
        if !resume.at_once {
            self.wait_until_gone()?;
        }
        let begin = Instant::now();
        loop {
            if self.is_completed() {
                return Ok(Course::Completed);
            }
            let log = self.log(if resume.secondaries == 0 {
                "standalone"
            } else {
                "primary"
            });
            let [digests, before] =
                ["digests", "digests.before"].map(|name| self.scratch.path(name));
            let _ = fs::copy(digests, before);
            let asked = Instant::now();
            let mut command = self.phalanx();
            command.args(["resume", "r", "--detach"]);
            command.args(["--secondaries", &resume.secondaries.to_string()]);
            let (code, text) = says(&mut command);
            self.outcome
                .history
                .push(format!("resume: {code}: {}", text.trim()));
            match code {
                0 => {
                    let told = log.line(&[GOES_ON], FIGURE_MAX);
                    if let Some((at, line)) = told {
                        self.outcome.times.resumed.push(at - asked);
                        self.check_nothing_is_lost(&line, damaged)?;
                    }
                    return Ok(Course::Living);
                }
                1 | 3 if damaged.is_some() && text.contains("error: ") => {
                    return Ok(Course::Refused);
                }
                1 if resume.at_once && text.contains("is living") => {}
                _ if self.is_completed() => return Ok(Course::Completed),
                code => {
                    let moment = if resume.at_once { "at once" } else { "later" };
                    return Err(Failure::Wrong(format!("resume {moment}: {code}: {text}")));
                }
            }
            if begin.elapsed() > END_MAX {
                return Err(Failure::Hang("the run stays living".to_owned()));
            }
            let_pass(Duration::from_millis(20));
        }
    }

    /// Looks whether a run goes on where it was, by what it had written of its digests.
    fn check_nothing_is_lost(&self, line: &str, damaged: Option<&Damaged>) -> Result<(), Failure> {
        let after = line.split_once(GOES_ON).map(|(_, rest)| rest.trim());
        let after = after.and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        let done = read(&self.scratch.path("digests.before")).lines().count();
        let is_torn = damaged.is_some_and(|damaged| damaged.is_torn_tail);
        match after {
            Some(after) if !is_torn && after + UNWRITTEN_MAX < done => {
                let what = damaged.map_or("nothing was damaged", |damaged| &damaged.text);
                let text = format!("it went on after {after} of {done} without a word: {what}");
                Err(Failure::Difference(text))
            }
            _ => Ok(()),
        }
    }

    fn ask(&mut self, ask: Ask) {
        let ask = match ask {
            Ask::SetPose | Ask::Remove if !self.tokens.has_box() => Ask::Spawn,
            ask => ask,
        };
        let (words, token) = match ask {
            Ask::Spawn => {
                let file = self.scratch.path("box.sdf");
                self.tokens.spawn(&file.to_string_lossy())
            }
            Ask::SetPose => self.tokens.set_pose(self.outcome.faults as u64),
            Ask::Remove => self.tokens.remove(self.outcome.faults as u64),
            Ask::Drain(choice) => (words(&["drain", &self.name_of(choice)]), None),
            Ask::MoveCell(level, peer) => {
                let level = format!("level_{}_{}", level % 3, level / 3 % 2);
                (words(&["move-cell", &level, &self.name_of(peer)]), None)
            }
            Ask::Checkpoint => (words(&["checkpoint"]), None),
        };
        let command = self.phalanx();
        self.tokens.send(&self.scratch, command, &words, token);
    }

    fn name_of(&self, choice: u64) -> String {
        let living = self.secondaries();
        let chosen = living.get((choice % living.len().max(1) as u64) as usize);
        chosen.map_or_else(|| "s1".to_owned(), |(name, _)| name.clone())
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Stops a process for a while.
fn stop_for(pid: u32, time: Duration) {
    try_signal(pid, "STOP");
    let_pass(time);
    try_signal(pid, "CONT");
}

/// Knowledge of the run from outside.
impl Drill<'_> {
    fn phalanx(&self) -> Command {
        let mut command = self.scratch.phalanx();
        command.env("TMPDIR", self.scratch.path("tmp"));
        command.env("PHALANX_CONFIG", self.scratch.path("settings.toml"));
        command
    }

    fn log(&self, process: &str) -> RunLog {
        RunLog::from_now(self.scratch.path(&format!("r/logs/{process}.log")))
    }

    fn journal(&self) -> PathBuf {
        match &self.disk {
            Some(disk) => disk.path().join("journal"),
            None => self.scratch.path("r/journal"),
        }
    }

    fn record(&self) -> Value {
        let text = fs::read_to_string(self.scratch.path("r/run.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn owner(&self) -> u32 {
        self.record()["pid"].as_u64().unwrap_or_default() as u32
    }

    /// Returns the workers that run, with their names and roles.
    fn workers(&self) -> Vec<(String, String, u32)> {
        let record = self.record();
        let workers = record["workers"].as_array().into_iter().flatten();
        let all = workers.filter_map(|worker| {
            let text = |key: &str| worker[key].as_str().map(str::to_owned);
            let pid = u32::try_from(worker["pid"].as_u64()?).ok()?;
            Some((text("name")?, text("role")?, pid))
        });
        all.filter(|(_, _, pid)| is_running(*pid)).collect()
    }

    fn secondaries(&self) -> Vec<(String, u32)> {
        let workers = self.workers().into_iter();
        let secondaries = workers.filter(|(_, role, _)| role == "secondary");
        secondaries.map(|(name, _, pid)| (name, pid)).collect()
    }

    /// Returns the process that keeps time.
    fn primary(&self) -> Option<u32> {
        let first = self
            .workers()
            .into_iter()
            .find(|(_, role, _)| role != "secondary");
        first.map(|(_, _, pid)| pid)
    }

    fn pids(&self) -> Vec<u32> {
        let workers = self.workers().into_iter().map(|(_, _, pid)| pid);
        [self.owner()].into_iter().chain(workers).collect()
    }

    fn exit_code(&self) -> Option<i64> {
        self.record()["ended"]["exit_code"].as_i64()
    }

    /// Tells whether the run ended in order, also if its owner was killed before it could say so:
    /// its journal is gone then.
    fn is_completed(&self) -> bool {
        self.exit_code() == Some(0) || !self.journal().exists()
    }

    fn is_over(&self) -> bool {
        self.exit_code().is_some() || !is_running(self.owner())
    }

    fn expect_end(&mut self, codes: &[i64]) -> Result<(), Failure> {
        let begin = Instant::now();
        while !self.is_over() {
            if begin.elapsed() > END_MAX {
                return Err(Failure::Hang(format!("not over after {END_MAX:?}")));
            }
            let_pass(LOOK);
        }
        let ended = self.record()["ended"].clone();
        match ended["exit_code"].as_i64() {
            Some(code) if codes.contains(&code) => Ok(()),
            _ => Err(Failure::Wrong(format!("the run ended: {ended}"))),
        }
    }

    fn wait_until_gone(&self) -> Result<(), Failure> {
        let begin = Instant::now();
        while !leftovers::processes_of_run(self.scratch.folder()).is_empty() {
            if begin.elapsed() > END_MAX {
                let pids = leftovers::processes_of_run(self.scratch.folder());
                return Err(Failure::Leftover(format!("processes stay: {pids:?}")));
            }
            let_pass(LOOK);
        }
        Ok(())
    }

    /// Waits until the run is over, as long as anything goes on in it.
    fn wait_for_the_end(&mut self) -> Result<Course, Failure> {
        let (mut seen, mut since) = (0, Instant::now());
        while !self.is_over() {
            let length = fs::metadata(self.scratch.path("digests"));
            let length = length.map_or(0, |metadata| metadata.len());
            if length != seen {
                (seen, since) = (length, Instant::now());
            }
            if since.elapsed() > STILL_MAX {
                let (_, text) = says(self.phalanx().arg("ps"));
                let text = format!("no iteration in {STILL_MAX:?}:\n{text}");
                return Err(Failure::Hang(text));
            }
            let_pass(LOOK);
        }
        self.expect_end(&[0])?;
        Ok(Course::Completed)
    }

    fn look_for_leftovers(&self, course: Course) -> Result<(), Failure> {
        let pids = leftovers::processes_in_the_end(self.scratch.folder());
        if !pids.is_empty() {
            return Err(Failure::Leftover(format!("processes stay: {pids:?}")));
        }
        let names = leftovers::names(&self.scratch.path("tmp"));
        if !names.is_empty() {
            return Err(Failure::Leftover(format!("files in TMPDIR: {names:?}")));
        }
        let sockets = leftovers::sockets(&self.scratch.path("r"));
        // An owner that was killed could not remove them.
        let has_ended = course == Course::Completed && self.exit_code().is_some();
        if has_ended && !sockets.is_empty() {
            return Err(Failure::Leftover(format!("sockets: {sockets:?}")));
        }
        Ok(())
    }

    /// Compares digests with those of one process that nothing disturbs and that does the same
    /// commands.
    fn compare(&mut self) -> Result<(), Failure> {
        let record = read(&self.scratch.path("record.jsonl"));
        for done in &self.done {
            self.outcome.commands += 1;
            if !done.is_in(&record) && !self.may_lack_commands {
                let text = format!("{:?} was done, and the record lacks it", done.token);
                return Err(Failure::Difference(text));
            }
        }
        let mut command = self.phalanx();
        command.args(["run", "--headless", "--name", "peace", "--secondaries", "0"]);
        command.args(["--journal", "off", "--real-time-factor", "0"]);
        command.args(["--iterations", &self.scenario.iterations.to_string()]);
        command
            .arg("--commands")
            .arg(self.scratch.path("record.jsonl"));
        command.arg("--digests").arg(self.scratch.path("expected"));
        let (code, text) = says(command.arg(self.scratch.path("fleet.sdf")));
        if code != 0 {
            return Err(Failure::Wrong(format!(
                "the undisturbed run: {code}: {text}"
            )));
        }
        let (found, expected) = ("digests", "expected");
        let [found, expected] = [found, expected].map(|name| read(&self.scratch.path(name)));
        self.outcome.iterations += expected.lines().count();
        if found == expected {
            return Ok(());
        }
        let pairs = found.lines().zip(expected.lines());
        let first = pairs
            .take_while(|(found, expected)| found == expected)
            .count();
        let text = format!(
            "digests differ from line {}; there are {} of {}",
            first + 1,
            found.lines().count(),
            expected.lines().count()
        );
        Err(Failure::Difference(text))
    }

    /// Ends everything, and keeps the folder with what is known.
    fn keep(&mut self, failure: Failure) {
        for pid in leftovers::processes(self.scratch.folder()) {
            try_signal(pid, "KILL");
        }
        let history = self.outcome.history.join("\n");
        let text = format!("{:#?}\n{history}\n{failure:?}\n", self.scenario);
        let _ = fs::write(self.scratch.path("chaos.txt"), text);
        let folder = self.scratch.keep();
        self.outcome
            .failures
            .push((self.scenario.seed, failure, folder));
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Runs a command to its end; returns its exit code and what it said.
fn says(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("phalanx starts");
    let said = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&said).into_owned();
    (output.status.code().unwrap_or(-1), text)
}
