//! Shows that services of ROS 2 control a run, and that what they answer is what the run did: a
//! client on another engine, `cyclonedds` of `PyPI`, calls every service of a real run, asks again,
//! asks for what cannot be, and follows and cancels an action.
//!
//! Without `PyPI`, or with a `phalanx` that was built without ROS 2, the tests say so and show
//! nothing.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tests::processes::{Process, Scratch};
use tests::python::{Package, Python};
use tests::repository;

const CYCLONE: Package = Package {
    name: "cyclonedds",
    version: "11.0.1",
    module: "cyclonedds",
};
/// Has Cyclone DDS meet nodes of this machine alone.
const CONFIGURATION: &str = "<CycloneDDS><Domain id='any'><General><Interfaces>\
     <NetworkInterface address='127.0.0.1'/></Interfaces></General></Domain></CycloneDDS>";
/// Number of runs that this process has started.
static STARTED: AtomicU32 = AtomicU32::new(0);
/// Codes of results.
const UNSUPPORTED: u64 = 0;
const OK: u64 = 1;
const NOT_FOUND: u64 = 2;
const FAILED: u64 = 4;
/// A world with a box on the ground.
const WORLD: &str = "<sdf version='1.9'><world name='yard'>\
    <model name='ground'><static>true</static><link name='l'><collision name='c'><geometry>\
    <plane><normal>0 0 1</normal></plane></geometry></collision></link></model>\
    <model name='crate'><pose>0 0 0.5 0 0 0</pose><link name='l'><collision name='c'><geometry>\
    <box><size>1 1 1</size></box></geometry></collision></link></model></world></sdf>";
/// A model.
const BALL: &str = "<sdf version='1.9'><model name='ball'><link name='l'><collision name='c'>\
    <geometry><sphere><radius>0.5</radius></sphere></geometry></collision></link></model></sdf>";

/// A run, its services, and a client of them; all end with it.
struct Bench {
    peer: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _control: Process,
    run: Process,
    _scratch: Scratch,
}

impl Bench {
    /// Starts a paused run, or says why there is none.
    fn start() -> Option<Self> {
        let scratch = Scratch::new();
        let python = Python::prepare("ros2-python", &scratch)
            .and_then(|python| python.require(&CYCLONE, &scratch).map(|()| python));
        let python = match python {
            Ok(python) => python,
            Err(error) => {
                eprintln!("nothing is shown without cyclonedds: {error}");
                return None;
            }
        };
        let (_, _, said) = scratch.phalanx_says(&["ros2-control", "--domain=0", "no-such-run"]);
        if said.contains("built without ROS 2") {
            eprintln!("nothing is shown: {said}");
            return None;
        }
        let world = scratch.path("yard.sdf");
        std::fs::write(&world, WORLD).expect("a world is written");
        let mut command = scratch.phalanx();
        command.args(["run", "--headless", "--paused", "--secondaries=1"]);
        let run = scratch.start("run", command.arg(&world));
        tests::processes::wait_for("a run", || {
            let (code, said, _) = scratch.phalanx_says(&["show", "stats"]);
            code == 0 && said.contains("paused")
        });
        // A domain of this test's own.
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let domain = (101 + (std::process::id() * 4 + number) % 100).to_string();
        let mut command = scratch.phalanx();
        command.args(["ros2-control", "--localhost-only", "--domain", &domain]);
        command.args(["--ros-service-mapping", "cyclonedds"]);
        let control = scratch.start("control", &mut command);
        let program = repository::root().join("tests/tests/ros2_control/peer.py");
        let mut peer = Command::new(python.program())
            .arg(program)
            .arg(&domain)
            .env("CYCLONEDDS_URI", CONFIGURATION)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the client starts");
        Some(Self {
            input: peer.stdin.take().expect("it has an input"),
            output: BufReader::new(peer.stdout.take().expect("it has an output")),
            peer,
            _control: control,
            run,
            _scratch: scratch,
        })
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input, "{line}").expect("the client listens");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the client answers");
        serde_json::from_str(&line).expect("it answers in JSON")
    }

    /// Calls a service, and returns its response.
    fn call(&mut self, service: &str, request: &Value) -> Value {
        self.say(&json!({ "service": service, "request": request }));
        let response = self.hear()["response"].take();
        assert!(!response.is_null(), "{service} does not answer");
        response
    }

    /// Calls a service of `simulation_interfaces`, and returns the code of its result.
    fn code(&mut self, service: &str, request: &Value) -> u64 {
        let response = self.call(&format!("/phalanx/{service}"), request);
        eprintln!("{service} {request}: {response}");
        response["result"]["result"]
            .as_u64()
            .expect("a result has a code")
    }

    /// Returns the state of the simulation.
    fn state(&mut self) -> u64 {
        let response = self.call("/phalanx/get_simulation_state", &json!({}));
        response["state"]["state"]
            .as_u64()
            .expect("a state is a number")
    }

    /// Returns the names of all entities.
    fn entities(&mut self) -> Value {
        self.call("/phalanx/get_entities", &json!({}))["entities"].take()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.peer.kill();
        let _ = self.peer.wait();
    }
}

fn pose(x: f64) -> Value {
    json!({ "position": { "x": x, "y": 0.0, "z": 3.0 }, "orientation": { "w": 1.0 } })
}

fn ball(name: &str, x: f64) -> Value {
    json!({
        "name": name,
        "entity_resource": { "resource_string": BALL },
        "initial_pose": { "pose": pose(x) },
    })
}

#[test]
fn every_service_answers_what_the_run_did() {
    let Some(mut bench) = Bench::start() else {
        return;
    };
    let features = bench.call("/phalanx/get_simulator_features", &json!({}));
    let features = features["features"]["features"].as_array().unwrap();
    assert!(features.contains(&json!(33)) && !features.contains(&json!(40)));
    states_and_steps(&mut bench);
    entities(&mut bench);
    what_cannot_be(&mut bench);
    resets(&mut bench);
    let quit = json!({ "state": { "state": 3 } });
    assert_eq!(bench.code("set_simulation_state", &quit), OK);
    assert_eq!(bench.run.wait(), 0);
}

fn states_and_steps(bench: &mut Bench) {
    let set = |state: u8| json!({ "state": { "state": state } });
    assert_eq!(bench.state(), 0);
    assert_eq!(bench.code("set_simulation_state", &set(0)), 101);
    assert_eq!(bench.code("set_simulation_state", &set(2)), 103);
    assert_eq!(
        bench.code("step_simulation", &json!({ "steps": 0 })),
        FAILED
    );
    for _ in 0..2 {
        assert_eq!(bench.code("step_simulation", &json!({ "steps": 50 })), OK);
    }
    let crate_state = json!({ "entity": "crate" });
    let state = bench.call("/phalanx/get_entity_state", &crate_state);
    assert_eq!(state["state"]["header"]["stamp"]["nanosec"], 100_000_000);
    assert_eq!(bench.state(), 2);
    assert_eq!(bench.code("set_simulation_state", &set(1)), OK);
    assert_eq!(bench.code("set_simulation_state", &set(1)), 101);
    assert_eq!(
        bench.code("step_simulation", &json!({ "steps": 1 })),
        FAILED
    );
    assert_eq!(bench.code("set_simulation_state", &set(2)), OK);
    assert_eq!(bench.code("set_simulation_state", &set(0)), OK);
    assert_eq!(bench.state(), 0);
    assert_eq!(bench.code("set_simulation_state", &set(4)), 103);
}

fn entities(bench: &mut Bench) {
    assert_eq!(bench.code("spawn_entity", &ball("", 4.0)), OK);
    assert_eq!(bench.code("spawn_entity", &ball("", 4.0)), 101);
    let mut renamed = ball("", 6.0);
    renamed["allow_renaming"] = json!(true);
    let response = bench.call("/phalanx/spawn_entity", &renamed);
    assert_eq!(response["entity_name"], "ball_1");
    let both = json!({ "spawn_requests": [ball("b2", 8.0), ball("ball", 9.0)] });
    let response = bench.call("/phalanx/spawn_entities", &both);
    let codes = [0, 1].map(|index| response["results"][index]["result"]["result"].as_u64());
    assert_eq!(
        (response["result"]["result"].as_u64(), codes),
        (Some(150), [Some(OK), Some(101)])
    );
    assert_eq!(bench.entities(), json!(["b2", "ball", "ball_1", "crate"]));
    let filters = json!({ "filters": { "filter": "^ball(_[0-9])?$" } });
    let found = bench.call("/phalanx/get_entities_states", &filters);
    assert_eq!(found["entities"], json!(["ball", "ball_1"]));
    assert_eq!(found["states"][1]["pose"]["position"]["x"], 6.0);
    let moved = json!({
        "entity": "ball", "set_pose": true,
        "state": { "header": { "frame_id": "ball_1" }, "pose": pose(1.5) },
    });
    for _ in 0..2 {
        assert_eq!(bench.code("set_entity_state", &moved), OK);
    }
    let state = bench.call("/phalanx/get_entity_state", &json!({ "entity": "ball" }));
    assert_eq!(state["state"]["pose"]["position"]["x"], 7.5);
    let info =
        json!({ "entity": "ball", "info": { "category": { "category": 2 }, "tags": ["a"] } });
    assert_eq!(bench.code("set_entity_info", &info), OK);
    let told = bench.call("/phalanx/get_entity_info", &json!({ "entity": "ball" }));
    assert_eq!(told["info"]["tags"], json!(["a"]));
    let filters = json!({ "filters": { "tags": { "tags": ["a", "b"] } } });
    let found = bench.call("/phalanx/get_entities", &filters);
    assert_eq!(found["entities"], json!(["ball"]));
    assert_eq!(bench.code("delete_entity", &json!({ "entity": "b2" })), OK);
    assert_eq!(
        bench.code("delete_entity", &json!({ "entity": "b2" })),
        NOT_FOUND
    );
    let world = bench.call("/phalanx/get_current_world", &json!({}));
    assert_eq!(world["world"]["name"], "yard");
}

fn what_cannot_be(bench: &mut Bench) {
    for service in [
        "get_available_worlds",
        "get_entity_bounds",
        "get_named_pose_bounds",
        "get_named_poses",
        "get_spawnables",
        "load_world",
        "unload_world",
    ] {
        assert_eq!(bench.code(service, &json!({})), UNSUPPORTED, "{service}");
    }
    let mut wrong = ball("c", 1.0);
    wrong["initial_pose"]["pose"]["orientation"] = json!({ "w": 2.0 });
    assert_eq!(bench.code("spawn_entity", &wrong), 109);
    let mut wrong = ball("c", 1.0);
    wrong["entity_namespace"] = json!("1 2");
    assert_eq!(bench.code("spawn_entity", &wrong), 105);
    let mut wrong = ball("c", 1.0);
    wrong["entity_resource"] = json!({});
    assert_eq!(bench.code("spawn_entity", &wrong), 104);
    wrong["entity_resource"] = json!({ "resource_string": "<mujoco/>" });
    assert_eq!(bench.code("spawn_entity", &wrong), 103);
    wrong["entity_resource"] = json!({ "resource_string": "<sdf version='1.9'><model" });
    assert_eq!(bench.code("spawn_entity", &wrong), 106);
    let wrong = json!({ "filters": { "filter": "(" } });
    assert_eq!(bench.code("get_entities", &wrong), FAILED);
    let twist = json!({ "entity": "ball", "set_twist": true });
    assert_eq!(bench.code("set_entity_state", &twist), UNSUPPORTED);
    assert_eq!(
        bench.code("get_entity_state", &json!({ "entity": "no" })),
        NOT_FOUND
    );
}

fn resets(bench: &mut Bench) {
    assert_eq!(bench.code("step_simulation", &json!({ "steps": 5 })), OK);
    assert_eq!(bench.code("reset_simulation", &json!({ "scope": 4 })), OK);
    assert_eq!(bench.entities(), json!(["crate"]));
    assert_eq!(bench.state(), 2);
    assert_eq!(bench.code("reset_simulation", &json!({ "scope": 1 })), OK);
    assert_eq!(bench.state(), 0);
    assert_eq!(
        bench.code("reset_simulation", &json!({ "scope": 8 })),
        UNSUPPORTED
    );
    assert_eq!(bench.code("reset_simulation", &json!({})), OK);
}

#[test]
fn an_action_tells_each_step_and_can_be_cancelled() {
    let Some(mut bench) = Bench::start() else {
        return;
    };
    let action = "/phalanx/simulate_steps/_action";
    let goal = |number: u8| json!({ "uuid": vec![number; 16] });
    let send = |number, steps| json!({ "goal_id": goal(number), "steps": steps });
    let response = bench.call(&format!("{action}/send_goal"), &send(1, 20));
    assert_eq!(response["accepted"], true);
    let result = bench.call(
        &format!("{action}/get_result"),
        &json!({ "goal_id": goal(1) }),
    );
    assert_eq!(
        (&result["status"], &result["result"]["result"]),
        (&json!(4), &json!(OK))
    );
    bench.say(&json!({ "feedback": true }));
    let told: Vec<Value> = (1..=20).map(|step| json!([step, 20 - step])).collect();
    assert_eq!(bench.hear()["feedback"], json!(told));

    let response = bench.call(&format!("{action}/send_goal"), &send(2, 1_000_000_000));
    assert_eq!(response["accepted"], true);
    let second = bench.call(&format!("{action}/send_goal"), &send(3, 1));
    assert_eq!(second["accepted"], false);
    let cancel = json!({ "goal_info": { "goal_id": goal(2) } });
    let cancelled = bench.call(&format!("{action}/cancel_goal"), &cancel);
    assert_eq!(cancelled["return_code"], 0);
    assert_eq!(cancelled["goals_canceling"][0]["goal_id"], goal(2));
    let result = bench.call(
        &format!("{action}/get_result"),
        &json!({ "goal_id": goal(2) }),
    );
    assert_eq!(result["status"], 5);
    let again = bench.call(&format!("{action}/cancel_goal"), &cancel);
    assert_eq!(again["return_code"], 3);
    assert_eq!(bench.state(), 2);
}

#[test]
fn the_services_of_ue_msgs_wait_repeat_and_do_not_toggle() {
    let Some(mut bench) = Bench::start() else {
        return;
    };
    let state = |name: &str, x| json!({ "name": name, "pose": pose(x) });
    let spawn = json!({ "xml": BALL, "state": state("one", 4.0) });
    assert_eq!(bench.call("/SpawnEntity", &spawn)["success"], true);
    assert_eq!(bench.call("/SpawnEntity", &spawn)["success"], false);
    let both = json!({ "type": [BALL, BALL], "state": [state("two", 5.5), state("three", 7.0)] });
    assert_eq!(bench.call("/SpawnEntities", &both)["success"], true);
    let attach = json!({ "name1": "one", "name2": "two" });
    for _ in 0..3 {
        assert_eq!(bench.call("/Attach", &attach)["success"], true);
    }
    assert_eq!(bench.code("step_simulation", &json!({ "steps": 300 })), OK);
    let get = |name: &str, frame: &str| json!({ "name": name, "reference_frame": frame });
    let found = bench.call("/GetEntityState", &get("two", "one"));
    let x = found["state"]["pose"]["position"]["x"].as_f64().unwrap();
    assert!((x - 1.5).abs() < 1e-3, "{found}");
    let fallen = bench.call("/GetEntityState", &get("three", ""));
    let z = fallen["state"]["twist"]["linear"]["z"].as_f64().unwrap();
    assert!((z + 2.94).abs() < 0.1, "{fallen}");
    let set = json!({ "state": state("three", 9.0) });
    for _ in 0..2 {
        assert_eq!(bench.call("/SetEntityState", &set)["success"], true);
    }
    let found = bench.call("/GetEntityState", &get("three", "world"));
    assert_eq!(found["state"]["pose"]["position"]["x"], 9.0);
    assert_eq!(
        bench.call("/DeleteEntity", &json!({ "name": "three" }))["success"],
        true
    );
    assert_eq!(
        bench.call("/DeleteEntity", &json!({ "name": "three" }))["success"],
        false
    );
    assert_eq!(
        bench.call("/GetEntityState", &get("three", ""))["success"],
        false
    );
}
