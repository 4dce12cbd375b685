//! Shows that programs which take part in lockstep change no bit by their speed or by the number of
//! secondaries, and what becomes of a run without them. Real processes: the Python program of
//! `docs/examples` drives a robot from the level of one secondary to that of another.
//!
//! Without `PyPI` the tests say so and show nothing.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tests::processes::{Process, Scratch, kill_all, send_signal, wait_for};
use tests::python::{Package, Python};
use tests::repository;
use tests::required;

const ITERATIONS: u64 = 3_000;

const PACKAGES: [Package; 2] = [
    Package {
        name: "pyzmq",
        version: "27.1.0",
        module: "zmq",
    },
    Package {
        name: "msgpack",
        version: "1.1.2",
        module: "msgpack",
    },
];

/// Two levels, with a robot that a Twist moves and that says where it is fifty times a second, and
/// a pile that it runs into.
const WORLD: &str = "<sdf version='1.10'><world name='yard'>
  <gravity>0 0 -9.81</gravity>
  <model name='ground'><static>true</static><link name='l'><collision name='c'>
    <geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
  <model name='rover'>
    <pose>-2 0 0.25 0 0 0</pose>
    <link name='body'>
      <inertial><mass>5</mass></inertial>
      <collision name='c'><geometry><box><size>0.5 0.5 0.5</size></box></geometry>
        <surface><friction><ode><mu>0.1</mu><mu2>0.1</mu2></ode></friction></surface></collision>
    </link>
    <plugin filename='gz-sim-velocity-control-system' name='gz::sim::systems::VelocityControl'/>
    <plugin filename='gz-sim-odometry-publisher-system'
      name='gz::sim::systems::OdometryPublisher'/>
  </model>
  <model name='crate'>
    <pose>1.5 0.1 0.25 0 0 0</pose>
    <link name='body'>
      <inertial><mass>0.5</mass></inertial>
      <collision name='c'><geometry><box><size>0.5 0.5 0.5</size></box></geometry></collision>
    </link>
  </model>
  <plugin name='gz::sim' filename='dummy'>
    <performer name='rover'>
      <ref>rover</ref><geometry><box><size>0.5 0.5 0.5</size></box></geometry>
    </performer>
    <performer name='crate'>
      <ref>crate</ref><geometry><box><size>0.5 0.5 0.5</size></box></geometry>
    </performer>
    <level name='west'>
      <pose>-5 0 0 0 0 0</pose><geometry><box><size>10 20 10</size></box></geometry>
      <buffer>1</buffer>
    </level>
    <level name='east'>
      <pose>5 0 0 0 0 0</pose><geometry><box><size>10 20 10</size></box></geometry>
      <buffer>1</buffer>
    </level>
  </plugin>
</world></sdf>";

/// The program of the documents, at a speed and with a policy of the test's.
const PILOT: &str = "
import json, os, random, sys, time
sys.path.insert(0, os.environ['EXAMPLES'])
import msgpack
from barrier import Participant, steer
slow = random.Random(int(os.environ['SEED'])) if 'SEED' in os.environ else None
hangs_at = int(os.environ.get('HANGS_AT', -1))
run = Participant(os.environ['PHALANX_ENDPOINT'], 'pilot', every=20, models=['rover'],
    topics=['/model/rover/odometry'], **json.loads(os.environ.get('TERMS', '{}')))
print('joined', os.getpid(), flush=True)
while True:
    at = run.barrier['iteration']
    heard = [msgpack.unpackb(one['body']) for one in run.barrier['messages']]
    print(at, len(heard), run.barrier['models'][0]['position'][0], flush=True)
    ahead, turn = steer(heard[-1]['pose'], 4.0, 0.3) if heard else (0.0, 0.0)
    if slow:
        time.sleep(slow.uniform(0.0, 0.004))
    while at == hangs_at and not os.path.exists(os.environ.get('UNTIL', '/nowhere')):
        time.sleep(0.01)
    twist = msgpack.packb({'linear': {'x': 2.0 * ahead}, 'angular': {'z': turn}})
    run.answer({'Publish': {'topic': '/model/rover/cmd_vel', 'kind': 'gz.msgs.Twist',
                            'body': twist}})
";

/// A run with the pilot, or without.
struct Run {
    phalanx: Process,
    scratch: Scratch,
}

/// Returns the Python that pilots run on.
fn python() -> Result<PathBuf, String> {
    let scratch = Scratch::new();
    let python = Python::prepare("python-participants", &scratch)?;
    for package in &PACKAGES {
        python.require(package, &scratch)?;
    }
    Ok(python.program().to_owned())
}

/// Tells whether there are pilots; says so where there are none.
fn has_pilots() -> bool {
    let found = python();
    if let Err(reason) = &found {
        let reason = format!("no pyzmq and msgpack of PyPI: {reason}");
        required::skip(required::PARTICIPANTS, &reason);
    }
    found.is_ok()
}

impl Run {
    /// Starts a run that waits for the pilot, with variables for that.
    fn start(secondaries: u32, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        let program = python().expect("it was there before");
        let variables = variables.iter();
        let variables: Vec<String> = variables
            .map(|(name, value)| format!("{name} = '{value}'"))
            .collect();
        let examples = repository::root().join("docs/examples");
        let section = format!(
            "[[program]]\nname = 'pilot'\njoins = 'pilot'\ncommand = '{}'\nargs = ['pilot.py']\n\
             working_directory = '.'\nenv = {{ EXAMPLES = '{}', {} }}\n",
            program.display(),
            examples.display(),
            variables.join(", ")
        );
        Self::start_with(secondaries, &section, arguments)
    }

    fn start_with(secondaries: u32, section: &str, arguments: &[&str]) -> Self {
        let scratch = Scratch::new();
        let write = |name: &str, text: &str| {
            std::fs::write(scratch.path(name), text).expect("a file can be written");
        };
        write("world.sdf", WORLD);
        write("pilot.py", PILOT);
        write(
            "run.toml",
            &format!(
                "[run]\nworld = 'world.sdf'\nname = 'r'\nsecondaries = {secondaries}\n\
                 iterations = {ITERATIONS}\nreal_time_factor = 0\n{section}"
            ),
        );
        let mut command = scratch.phalanx();
        command.arg("run").arg(scratch.path("run.toml"));
        command.args(["--headless", "--format", "json"]);
        for (flag, name) in [("--digests", "digests"), ("--record-commands", "commands")] {
            command.arg(flag).arg(scratch.path(name));
        }
        command.args(arguments);
        let phalanx = scratch.start("phalanx", &mut command);
        Self { phalanx, scratch }
    }

    fn wait(&mut self) -> i32 {
        self.phalanx.wait()
    }

    /// Waits for the end, and returns the digests and what the pilot was told.
    fn end(mut self) -> (String, String) {
        assert_eq!(self.wait(), 0, "{}", self.phalanx.stderr());
        (self.read("digests"), self.told())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.scratch.path(name)).expect("a file of the run")
    }

    /// Returns what the pilot has printed so far.
    fn told(&self) -> String {
        std::fs::read_to_string(self.scratch.path("r/logs/pilot.log")).unwrap_or_default()
    }

    fn waits_until_told(&self, text: &str) {
        wait_for(&format!("the pilot prints {text:?}"), || {
            self.told().contains(text)
        });
    }

    fn ctl(&self, words: &[&str]) -> Value {
        let words = [&["ctl", "r"], words, &["--format", "json"]].concat();
        let (code, out, err) = self.scratch.phalanx_says(&words);
        assert_eq!(code, 0, "{words:?}: {err}");
        serde_json::from_str(&out).expect("JSON")
    }

    /// Returns the process id of the pilot.
    fn pid(&self) -> u32 {
        let told = self.told();
        let line = told.lines().find(|line| line.starts_with("joined "));
        let pid = line.and_then(|line| line.split(' ').nth(1)?.parse().ok());
        pid.expect("it has joined")
    }

    /// Returns the process id of a secondary.
    fn worker(&self, name: &str) -> u32 {
        let text = self.read("r/run.json");
        let record: Value = serde_json::from_str(&text).expect("the record is JSON");
        let mut workers = record["workers"].as_array().expect("a list").iter();
        let worker = workers.find(|worker| worker["name"] == name);
        let pid = worker.and_then(|worker| worker["pid"].as_u64());
        u32::try_from(pid.expect("it runs")).expect("pids are small")
    }
}

/// The digests with one secondary and a fast pilot, with the commands that it gave.
fn expected() -> (String, String) {
    let mut run = Run::start(1, &[], &[]);
    assert_eq!(run.wait(), 0, "{}", run.phalanx.stderr());
    let commands = run.read("commands");
    let said = commands.matches("/model/rover/cmd_vel").count() as u64;
    assert_eq!(
        said,
        ITERATIONS / 20,
        "one command in every twentieth iteration"
    );
    let told = run.told();
    let last = told.lines().last().unwrap_or_default();
    let x = last.split(' ').nth(2).and_then(|x| x.parse::<f64>().ok());
    assert!(
        x.is_some_and(|x| x > 0.5),
        "the rover has changed levels: {told}"
    );
    (run.read("digests"), commands)
}

#[test]
fn digests_do_not_depend_on_secondaries_or_on_the_speed_of_a_program() {
    if !has_pilots() {
        return;
    }
    let (expected, commands) = expected();
    for secondaries in [0, 2, 3] {
        let (digests, told) = Run::start(secondaries, &[], &[]).end();
        assert!(digests == expected, "{secondaries} secondaries:\n{told}");
    }
    let seed = std::process::id().to_string();
    println!("SEED={seed}");
    let (digests, told) = Run::start(2, &[("SEED", &seed)], &[]).end();
    assert!(
        digests == expected,
        "a slow program of seed {seed}:\n{told}"
    );

    let mut without = Run::start_with(2, "", &[]);
    assert_eq!(without.wait(), 0, "{}", without.phalanx.stderr());
    assert!(
        without.read("digests") != expected,
        "the program steers nothing"
    );

    let scratch = Scratch::new();
    let file = scratch.path("commands");
    std::fs::write(&file, commands).expect("a file can be written");
    let file = file.to_str().expect("its path is text");
    let mut replayed = Run::start_with(2, "", &["--commands", file]);
    assert_eq!(replayed.wait(), 0, "{}", replayed.phalanx.stderr());
    assert!(
        replayed.read("digests") == expected,
        "the commands without the program"
    );
}

#[test]
fn a_run_waits_goes_on_or_ends_when_a_program_does_not_answer() {
    if !has_pilots() {
        return;
    }
    // Longer than a busy machine keeps a program that answers.
    let terms = |policy: &str| format!("{{\"timeout_s\": 5, \"policy\": \"{policy}\"}}");
    let (proceed, stop, wait) = (terms("continue"), terms("stop"), terms("wait"));

    let mut run = Run::start(1, &[("TERMS", &proceed), ("HANGS_AT", "1000")], &[]);
    assert_eq!(run.wait(), 0, "{}", run.phalanx.stderr());
    let said = run.read("commands").matches("cmd_vel").count() as u64;
    assert_eq!(said, 1_000 / 20, "its last command stays in force");

    let mut run = Run::start(1, &[("TERMS", &stop), ("HANGS_AT", "1000")], &[]);
    assert_eq!(run.wait(), 6, "{}", run.phalanx.stderr());
    assert!(
        run.phalanx
            .stderr()
            .contains("pilot has not answered to iteration 1000")
    );

    let mut run = Run::start(1, &[("TERMS", &wait), ("HANGS_AT", "1000")], &[]);
    run.phalanx.wait_for_stderr("the run waits for it");
    let list = run.ctl(&["participants"]);
    let pilot = &list[0];
    assert_eq!(pilot["name"], "pilot", "{list}");
    assert_eq!(pilot["state"], "holding", "{list}");
    assert_eq!(pilot["next"], 1_000, "{list}");
    assert!(pilot["holds_us"].as_f64() > Some(5_000_000.0), "{list}");
    let paused = run.ctl(&["pause"]);
    assert_eq!(paused["iteration"], 1_000, "a pause needs no answer");
    run.ctl(&["stop"]);
    assert_eq!(run.wait(), 0, "{}", run.phalanx.stderr());
}

#[test]
fn a_run_waits_goes_on_or_ends_when_a_program_is_killed() {
    if !has_pilots() {
        return;
    }
    for (policy, code) in [("continue", 0), ("stop", 4)] {
        let terms = format!("{{\"policy\": \"{policy}\"}}");
        let mut run = Run::start(2, &[("TERMS", &terms), ("HANGS_AT", "1000")], &[]);
        run.waits_until_told("\n1000 ");
        send_signal(run.pid(), "KILL");
        assert_eq!(run.wait(), code, "{policy}: {}", run.phalanx.stderr());
        assert!(
            run.phalanx.stderr().contains("pilot"),
            "{}",
            run.phalanx.stderr()
        );
    }

    let (expected, _) = expected();
    let mut run = Run::start(2, &[("HANGS_AT", "1000")], &[]);
    run.waits_until_told("\n1000 ");
    send_signal(run.pid(), "KILL");
    run.phalanx
        .wait_for_stderr("waits after iteration 1000 for it to join again");
    let record: Value = serde_json::from_str(&run.read("r/run.json")).expect("JSON");
    let endpoint = record["endpoint"].as_str().expect("an endpoint");
    let mut again = Command::new(python().expect("it was there before"));
    again.arg(run.scratch.path("pilot.py"));
    again.env("EXAMPLES", repository::root().join("docs/examples"));
    again.env("PHALANX_ENDPOINT", endpoint);
    let _again = run.scratch.start("again", &mut again);
    assert_eq!(run.wait(), 0, "{}", run.phalanx.stderr());
    assert!(
        run.read("digests") == expected,
        "a program without a past goes on where it died"
    );
}

#[test]
fn a_secondary_that_dies_while_a_program_holds_the_run_changes_no_digest() {
    if !has_pilots() {
        return;
    }
    let (expected, _) = expected();
    let gate = Scratch::new();
    let file = gate.path("go").to_string_lossy().into_owned();
    let mut run = Run::start(2, &[("HANGS_AT", "1000"), ("UNTIL", &file)], &[]);
    run.waits_until_told("\n1000 ");
    send_signal(run.worker("s1"), "KILL");
    run.phalanx.wait_for_stderr("restoring ");
    run.phalanx.wait_for_stderr("started s1 again");
    assert_eq!(run.ctl(&["participants"])[0]["state"], "holding");
    std::fs::write(&file, "").expect("a file can be written");
    assert_eq!(run.wait(), 0, "{}", run.phalanx.stderr());
    assert!(run.read("digests") == expected, "{}", run.told());
}

#[test]
fn a_run_that_was_killed_replays_the_commands_and_then_waits_for_its_program_again() {
    if !has_pilots() {
        return;
    }
    let (expected, _) = expected();
    let mut run = Run::start(2, &[("HANGS_AT", "1000")], &[]);
    run.waits_until_told("\n1000 ");
    kill_all(&run.scratch);
    run.phalanx.wait_status();
    let pilot = std::fs::read_to_string(run.scratch.path("pilot.py")).expect("the program");
    let goes_on = pilot.replace("HANGS_AT', -1", "NOTHING', -1");
    std::fs::write(run.scratch.path("pilot.py"), goes_on).expect("a file can be written");
    let (code, _, err) = run.scratch.phalanx_says(&["resume", "r", "--headless"]);
    assert_eq!(code, 0, "{err}");
    // What was published before the program came again is not told to it: from here on it may steer
    // otherwise than it would have.
    let digests = run.read("digests");
    let replayed = |text: &str| {
        text.lines()
            .take(1_000)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(replayed(&digests), replayed(&expected));
    assert_eq!(digests.lines().count() as u64, ITERATIONS);
    let joined = run.told().matches("joined ").count();
    assert_eq!(joined, 2, "{}", run.told());
}
