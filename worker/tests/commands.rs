//! Shows that a run does the commands of a file at their iterations, that what it records gives the
//! same digests when it is done again, and that a wrong file is refused before anything is done.
//! Runs the real program standalone.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WORLD: &str = "<sdf version='1.9'><world name='w'><gravity>0 0 -9.8</gravity>\
    <model name='box'><pose>0 0 50 0 0 0</pose><link name='l'><inertial><mass>1</mass></inertial>\
    <collision name='c'><geometry><sphere><radius>0.5</radius></sphere></geometry></collision>\
    </link></model></world></sdf>";

/// Moves the box at iteration 20 and pushes it at 30.
const SCRIPT: &str = concat!(
    "# a script\n",
    r#"{"iteration": 20, "command": {"set-poses": {"poses": ["#,
    r#"{"model": "box", "pose": [1, 0, 50, 0, 0, 0, 1]}]}}}"#,
    "\n",
    r#"{"iteration": 30, "command": {"apply-wrench": {"link": "box::l", "#,
    r#""force": [5, 0, 0], "torque": [0, 0, 0], "duration_s": 0.01}}}"#,
    "\n",
);

/// Brings a ball, removes it, brings it again and goes back to the start.
const COMERS: &str = concat!(
    r#"{"iteration": 10, "command": {"spawn": {"sdf": "<sdf version='1.9'><model name='ball'>"#,
    r#"<pose>9 0 9 0 0 0</pose><link name='l'/></model></sdf>", "allow_renaming": false}}}"#,
    "\n",
    r#"{"iteration": 20, "command": {"remove": {"model": "ball"}}}"#,
    "\n",
    r#"{"iteration": 25, "command": {"spawn": {"sdf": "<sdf version='1.9'><model name='ball'>"#,
    r#"<pose>9 0 9 0 0 0</pose><link name='l'/></model></sdf>", "allow_renaming": false}}}"#,
    "\n",
    r#"{"iteration": 30, "command": {"reset": {"what": "all"}}}"#,
    "\n",
);

/// Moves the box by a service when it hears a message.
const CALLER: &str = r#"<plugin name="gz::sim::systems::TriggeredPublisher" filename="t">
    <input type="gz.msgs.Empty" topic="/go"/>
    <service name="/world/w/set_pose" reqType="gz.msgs.Pose" repType="gz.msgs.Boolean"
     reqMsg='name: "box", position: {x: 1, z: 50}, orientation: {w: 1}'/></plugin></world>"#;

struct TestDir {
    folder: tempfile::TempDir,
}

impl TestDir {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let place = Self { folder };
        place.write("w.sdf", WORLD);
        place.write("script.jsonl", SCRIPT);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("the temporary folder can be written to");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the run wrote the file")
    }

    fn worker(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_worker"))
            .args(["--iterations", "50", "--real-time-factor", "0"])
            .args(arguments)
            .arg("w.sdf")
            .current_dir(Path::new(self.folder.path()))
            .output()
            .expect("the program runs")
    }

    /// Returns the digest of every iteration of a run.
    fn digests(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.worker(&[&["--digests", "digests.txt"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        self.read("digests.txt")
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

#[test]
fn recorded_commands_replay_bit_for_bit() {
    let place = TestDir::new();
    let plain = place.digests(&[]);
    let commands = ["--commands", "script.jsonl"];
    let record = ["--record-commands", "record.jsonl"];
    let first = place.digests(&[commands, record].concat());
    assert_eq!(first[..20], plain[..20], "nothing is done before its time");
    assert_ne!(
        first[20], plain[20],
        "the first command is done at iteration 20"
    );
    let record = place.read("record.jsonl");
    let iterations: Vec<&str> = record.lines().map(|line| &line[..15]).collect();
    assert_eq!(iterations, ["{\"iteration\":20", "{\"iteration\":30"]);
    let again = place.digests(&["--commands", "record.jsonl"]);
    assert_eq!(again, first);
}

#[test]
fn a_wrong_file_is_refused_with_its_line() {
    let place = TestDir::new();
    place.write(
        "bad.jsonl",
        "\n{\"iteration\": 1, \"command\": {\"remove\": {}}}\n",
    );
    let output = place.worker(&["--commands", "bad.jsonl"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    let wanted = "bad.jsonl:2: command remove: missing field `model`";
    assert!(stderr.contains(wanted), "{stderr}");
}

#[test]
fn states_are_written_whatever_comes_and_goes() {
    let place = TestDir::new();
    place.write("script.jsonl", COMERS);
    let digests = place.digests(&["--commands", "script.jsonl", "--states", "states"]);
    assert_eq!(digests.len(), 50);
}

/// An arm that comes with its joints set is the one whose joints are set before time goes on.
#[test]
fn an_arm_is_spawned_with_its_joints_set() {
    let arm = "<sdf version='1.9'><model name='arm'><link name='base'/>\
        <link name='upper'><pose>0 0 1 0 0 0</pose></link>\
        <link name='lower'><pose>0 0 2 0 0 0</pose></link>\
        <joint name='shoulder' type='revolute'><parent>base</parent><child>upper</child>\
        <axis><xyz>1 0 0</xyz></axis></joint>\
        <joint name='elbow' type='revolute'><parent>upper</parent><child>lower</child>\
        <axis><xyz>0 1 0</xyz></axis></joint></model></sdf>";
    let spawn = |joints: &str| {
        format!(
            "{{\"iteration\": 10, \"command\": {{\"spawn\": {{\"sdf\": \"{arm}\", \
             \"allow_renaming\": false{joints}}}}}}}\n"
        )
    };
    let positions =
        r#"[{"joint": "shoulder", "position": 0.5}, {"joint": "elbow", "position": -1}]"#;
    let started = spawn(&format!(", \"joints\": {positions}"));
    let set = format!(
        "{{\"iteration\": 10, \"command\": {{\"set-joints\": {{\"model\": \"arm\", \
         \"positions\": {positions}}}}}}}"
    );
    let place = TestDir::new();
    let digests = |script: &str| {
        place.write("script.jsonl", script);
        place.digests(&["--commands", "script.jsonl"])
    };
    let plain = digests(&spawn(""));
    let started = digests(&started);
    assert_ne!(started[10], plain[10]);
    assert_eq!(digests(&(spawn("") + &set)), started);
    let unknown = spawn("") + &set.replace("elbow", "ankle");
    assert_eq!(digests(&unknown), plain, "all joints are set, or none");
}

#[test]
fn a_system_calls_a_service_and_is_heeded_after_the_iteration() {
    let place = TestDir::new();
    place.write("w.sdf", &WORLD.replace("</world>", CALLER));
    let plain = place.digests(&[]);
    place.write(
        "script.jsonl",
        "{\"iteration\": 10, \"topic\": \"/go\", \"type\": \"gz.msgs.Empty\"}\n",
    );
    let called = place.digests(&["--commands", "script.jsonl"]);
    assert_eq!(called[..11], plain[..11], "the message is heard in step 11");
    assert_ne!(called[11], plain[11], "the box was moved before step 12");
}
