//! Shows that services of ROS 2 control a run, and that what they answer is what the run did: a
//! client on another engine, `cyclonedds` of `PyPI`, calls every service of a real run, asks again,
//! asks for what cannot be, and follows and cancels an action.
//!
//! Without `PyPI`, or with a `phalanx` that was built without ROS 2, the tests say so and show
//! nothing.

use std::ops::{Deref, DerefMut};

use serde_json::{Value, json};
use tests::cyclone_dds::ServiceRig;
use tests::processes::{Scratch, send_signal, wait_for};
use tests::{required, ros_domain};

/// Codes of results.
const UNSUPPORTED: u64 = 0;
const OK: u64 = 1;
const NOT_FOUND: u64 = 2;
const FAILED: u64 = 4;
/// A world with a box and a lift on the ground, a frame of its own, and one of the lift.
const WORLD: &str = "<sdf version='1.9'><world name='yard'>\
    <frame name='gate'><pose>1 2 0 0 0 0</pose></frame>\
    <frame name='load' attached_to='lift::table'/>\
    <model name='ground'><static>true</static><link name='l'><collision name='c'><geometry>\
    <plane><normal>0 0 1</normal></plane></geometry></collision></link></model>\
    <model name='crate'><pose>0 0 0.5 0 0 0</pose><link name='l'><collision name='c'><geometry>\
    <box><size>1 1 1</size></box></geometry></collision></link></model>\
    <model name='lift'><pose>-9 0 0 0 0 0</pose><link name='base'><pose>0 0 0.5 0 0 0</pose>\
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision></link>\
    <link name='table'><pose>0 0 1.5 0 0 0</pose><collision name='c'><geometry><box>\
    <size>2 2 0.5</size></box></geometry></collision></link>\
    <joint name='hold' type='fixed'><parent>world</parent><child>base</child></joint>\
    <joint name='slide' type='prismatic'><parent>base</parent><child>table</child><axis>\
    <xyz>0 0 1</xyz><limit><lower>0</lower><upper>3</upper></limit></axis></joint></model>\
    </world></sdf>";
/// A model.
const BALL: &str = "<sdf version='1.9'><model name='ball'><link name='l'><collision name='c'>\
    <geometry><sphere><radius>0.5</radius></sphere></geometry></collision></link></model></sdf>";

/// A model that never moves.
const WALL: &str = "<sdf version='1.9'><model name='wall'><static>true</static><link name='l'>\
    <collision name='c'><geometry><box><size>1 4 2</size></box></geometry></collision></link>\
    </model></sdf>";

/// A run with the services of control.
struct Bench(ServiceRig);

impl Bench {
    /// Starts a paused run, or says why there is none.
    fn start() -> Option<Self> {
        let scratch = Scratch::new();
        let world = scratch.path("yard.sdf");
        std::fs::write(&world, WORLD).expect("a world is written");
        let models = scratch.path("models");
        std::fs::create_dir(&models).expect("a folder is made");
        std::fs::write(models.join("ball.sdf"), BALL).expect("a model is written");
        let models = format!("--spawnables={}", models.display());
        ServiceRig::start(scratch, &world, &["--secondaries=1"], &[&models]).map(Self)
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

impl Deref for Bench {
    type Target = ServiceRig;

    fn deref(&self) -> &ServiceRig {
        &self.0
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut ServiceRig {
        &mut self.0
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
    bounds(&mut bench);
    places(&mut bench);
    spawnables(&mut bench);
    states_and_steps(&mut bench);
    entities(&mut bench);
    what_cannot_be(&mut bench);
    walls(&mut bench);
    resets(&mut bench);
    let quit = json!({ "state": { "state": 3 } });
    assert_eq!(bench.code("set_simulation_state", &quit), OK);
    assert_eq!(bench.run.wait(), 0);
}

/// Shows that bounds are those of the entity as it stands, and that areas find what is in them.
fn bounds(bench: &mut Bench) {
    let lift = json!({ "entity": "lift" });
    let corners = |bench: &mut Bench| {
        let response = bench.call("/phalanx/get_entity_bounds", &lift);
        assert_eq!(response["result"]["result"], OK, "{response}");
        assert_eq!(response["bounds"]["type"], 1);
        let points = response["bounds"]["points"].as_array().expect("a list");
        let near = |point: &Value, axis: &str| {
            (point[axis].as_f64().expect("a number") * 1e6).round() / 1e6
        };
        let points = points.iter();
        let points: Vec<[f64; 3]> = points
            .map(|point| ["x", "y", "z"].map(|axis| near(point, axis)))
            .collect();
        points
    };
    assert_eq!(corners(bench), [[1.0, 1.0, 1.75], [-1.0, -1.0, 0.0]]);
    let raise = ["ctl", "set-joint", "lift", "slide=2"];
    let (code, _, stderr) = bench.scratch.phalanx_says(&raise);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(corners(bench), [[1.0, 1.0, 3.75], [-1.0, -1.0, 0.0]]);
    assert_eq!(
        bench.code("get_entity_bounds", &json!({ "entity": "no" })),
        NOT_FOUND
    );
    let point = |x: f64, z: f64| json!({ "x": x, "y": 0.0, "z": z });
    let mut inside = |r#type: u8, points: Value| {
        let bounds = json!({ "type": r#type, "points": points });
        let filters = json!({ "filters": { "bounds": bounds } });
        bench.call("/phalanx/get_entities", &filters)["entities"].take()
    };
    let (sphere, hull) = (3, 2);
    let around = |x, z, radius| json!([point(x, z), point(radius, 0.0)]);
    assert_eq!(inside(sphere, around(-9.0, 3.5, 0.1)), json!(["lift"]));
    // Under the raised table.
    assert_eq!(inside(sphere, around(-8.2, 1.5, 0.2)), json!([]));
    assert_eq!(
        inside(sphere, around(0.0, 0.0, 20.0)),
        json!(["crate", "ground", "lift"])
    );
    let row = json!([point(-1.0, 0.5), point(1.0, 0.5), point(0.0, 0.6)]);
    assert_eq!(inside(hull, row), json!(["crate"]));
}

/// Shows that frames have names, and where they are.
fn places(bench: &mut Bench) {
    let poses = bench.call("/phalanx/get_named_poses", &json!({}))["poses"].take();
    let told = |index: usize| {
        let pose = &poses[index];
        (pose["name"].as_str(), pose["pose"]["position"].clone())
    };
    let gate = json!({ "x": 1.0, "y": 2.0, "z": 0.0 });
    assert_eq!(told(0), (Some("gate"), gate), "{poses}");
    let (name, load) = told(1);
    let z = load["z"].as_f64().expect("a number");
    assert!(name == Some("load") && (z - 3.5).abs() < 1e-6, "{poses}");
    assert_eq!(poses[1]["tags"], json!(["frame", "moving"]));
    for (name, code) in [("gate", OK), ("no", NOT_FOUND)] {
        let request = json!({ "name": name });
        assert_eq!(bench.code("get_named_pose_bounds", &request), code);
    }
    let worlds = bench.call("/phalanx/get_available_worlds", &json!({}));
    assert_eq!(worlds["worlds"][0]["name"], "yard");
}

/// Shows that a model of the folder is listed, and comes by the address that it is listed with.
fn spawnables(bench: &mut Bench) {
    let listed = bench.call("/phalanx/get_spawnables", &json!({}))["spawnables"].take();
    let mut own = listed.as_array().expect("a list").iter().filter(|model| {
        let uri = model["entity_resource"]["uri"].as_str();
        uri.is_some_and(|uri| uri.ends_with("models/ball.sdf"))
    });
    let model = own.next().expect("the model is listed");
    assert_eq!(model["spawn_bounds"]["points"][0]["x"], 0.5);
    let mut spawn = ball("listed", 15.0);
    spawn["entity_resource"] = model["entity_resource"].clone();
    assert_eq!(bench.code("spawn_entity", &spawn), OK);
    let bounds = bench.call("/phalanx/get_entity_bounds", &json!({ "entity": "listed" }));
    assert_eq!(bounds["bounds"]["points"][1]["z"], -0.5);
    let delete = json!({ "entity": "listed" });
    assert_eq!(bench.code("delete_entity", &delete), OK);
    assert_eq!(bench.code("get_entity_bounds", &delete), NOT_FOUND);
    let wrong = json!({ "sources": ["https://fuel.gazebosim.org"] });
    assert_eq!(bench.code("get_spawnables", &wrong), FAILED);
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
    assert_eq!(
        bench.entities(),
        json!(["b2", "ball", "ball_1", "crate", "ground", "lift"])
    );
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
    let thrown = json!({
        "entity": "ball", "set_pose": true, "set_twist": true,
        "state": {
            "header": { "frame_id": "ball_1" }, "pose": pose(1.5),
            "twist": { "linear": { "x": 1.0 }, "angular": { "z": -2.0 } },
        },
    });
    assert_eq!(bench.code("set_entity_state", &thrown), OK);
    let turned = json!({
        "entity": "ball", "set_twist": true, "state": { "twist": { "linear": { "y": 3.0 } } },
    });
    let state = bench.call("/phalanx/get_entity_state", &json!({ "entity": "ball" }));
    assert_eq!(state["state"]["pose"]["position"]["x"], 7.5);
    assert_eq!(state["state"]["twist"]["linear"]["x"], 1.0);
    assert_eq!(state["state"]["twist"]["angular"]["z"], -2.0);
    assert_eq!(bench.code("set_entity_state", &turned), OK);
    let state = bench.call("/phalanx/get_entity_state", &json!({ "entity": "ball" }));
    assert_eq!(state["state"]["pose"]["position"]["x"], 7.5);
    let linear = json!({ "x": 0.0, "y": 3.0, "z": 0.0 });
    assert_eq!(state["state"]["twist"]["linear"], linear);
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
    for service in ["load_world", "unload_world"] {
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
    let wrong = json!({ "entity": "ball", "set_acceleration": true, "set_pose": true });
    assert_eq!(bench.code("set_entity_state", &wrong), UNSUPPORTED);
    let wrong = json!({ "entity": "ball" });
    assert_eq!(bench.code("set_entity_state", &wrong), FAILED);
    assert_eq!(
        bench.code("get_entity_state", &json!({ "entity": "no" })),
        NOT_FOUND
    );
}

/// Shows that a static model that came is an entity like others, and where others can be put.
fn walls(bench: &mut Bench) {
    let mut wall = ball("wall", 20.0);
    wall["entity_resource"] = json!({ "resource_string": WALL });
    assert_eq!(bench.code("spawn_entity", &wall), OK);
    let filters = json!({ "filters": { "filter": "^wall$" } });
    let found = bench.call("/phalanx/get_entities_states", &filters);
    assert_eq!(found["entities"], json!(["wall"]));
    let named = json!({ "entity": "wall" });
    let told = bench.call("/phalanx/get_entity_state", &named);
    assert_eq!(told["state"], found["states"][0]);
    assert_eq!(told["state"]["pose"]["position"]["x"], 20.0);
    let bounds = bench.call("/phalanx/get_entity_bounds", &named);
    assert_eq!(bounds["bounds"]["points"][0]["y"], 2.0, "{bounds}");
    // What never moves is a frame, too.
    let mut beside = ball("beside", 1.0);
    beside["initial_pose"]["header"] = json!({ "frame_id": "wall" });
    assert_eq!(bench.code("spawn_entity", &beside), OK);
    let state = bench.call("/phalanx/get_entity_state", &json!({ "entity": "beside" }));
    assert_eq!(state["state"]["pose"]["position"]["x"], 21.0);
    for entity in ["wall", "beside"] {
        let named = json!({ "entity": entity });
        assert_eq!(bench.code("delete_entity", &named), OK);
        assert_eq!(bench.code("get_entity_state", &named), NOT_FOUND);
    }
}

fn resets(bench: &mut Bench) {
    assert_eq!(bench.code("step_simulation", &json!({ "steps": 5 })), OK);
    // It came by no service, and is gone with the others all the same.
    let file = bench.scratch.path("models/ball.sdf");
    let file = file.to_str().expect("paths of tests are text");
    let (code, _, stderr) = bench
        .scratch
        .phalanx_says(&["ctl", "spawn", file, "--name=other"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(bench.code("reset_simulation", &json!({ "scope": 4 })), OK);
    assert_eq!(bench.entities(), json!(["crate", "ground", "lift"]));
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
fn requests_of_another_definition_are_answered_with_the_reason() {
    let Some(mut bench) = Bench::start() else {
        return;
    };
    let response = bench.call_otherwise("/phalanx/delete_entity");
    assert_eq!(response["result"]["result"], FAILED, "{response}");
    let reason = response["result"]["error_message"].as_str().unwrap();
    assert!(reason.contains("cannot be read"), "{reason}");
    let response = bench.call_otherwise("/SpawnEntity");
    assert_eq!(response["success"], false, "{response}");
    let goal = bench.call_otherwise("/phalanx/simulate_steps/_action/send_goal");
    assert_eq!(goal["accepted"], false, "{goal}");
    assert_eq!(bench.state(), 0);
}

#[test]
fn an_action_tells_each_step_and_can_be_cancelled() {
    let Some(mut bench) = Bench::start() else {
        return;
    };
    // An answer shows that the node knows who listens to the progress of actions.
    bench.state();
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
    bench.tell(&json!({ "feedback": true }));
    let told: Vec<Value> = (1..=20).map(|step| json!([step, 20 - step])).collect();
    assert_eq!(bench.hear("feedback"), json!(told));

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
    for _ in 0..2 {
        assert_eq!(bench.call("/Detach", &attach)["success"], true);
    }
    let nobody = json!({ "name1": "one", "name2": "nobody" });
    assert_eq!(bench.call("/Detach", &nobody)["success"], false);
    assert_eq!(bench.call("/Attach", &attach)["success"], true);
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
    let mut thrown = state("three", 9.5);
    thrown["twist"] = json!({ "linear": { "y": 2.0 }, "angular": { "z": 0.5 } });
    let set = json!({ "state": thrown });
    assert_eq!(bench.call("/SetEntityState", &set)["success"], true);
    let found = bench.call("/GetEntityState", &get("three", ""));
    assert_eq!(found["state"]["pose"]["position"]["x"], 9.5);
    assert_eq!(found["state"]["twist"]["linear"]["y"], 2.0);
    assert_eq!(found["state"]["twist"]["angular"]["z"], 0.5);
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

#[test]
fn the_process_of_the_services_is_started_again_when_it_is_killed() {
    let scratch = Scratch::new();
    let (_, _, said) = scratch.phalanx_says(&["ros2-control", "--domain=0", "no-such-run"]);
    if said.contains("built without ROS 2") {
        return required::skip(required::ROS2, &said);
    }
    let world = scratch.path("yard.sdf");
    std::fs::write(&world, WORLD).expect("a world is written");
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "--headless",
        "--paused",
        "--secondaries=1",
        "--name=r",
        "--ros2",
    ]);
    command.args([
        "--ros-localhost-only=on",
        "--ros-domain",
        &ros_domain::take(),
    ]);
    let mut run = scratch.start("run", command.arg(&world));
    let process = || services_of(run.pid());
    wait_for("the services", || process().is_some());
    let first = process().expect("it was just there");
    send_signal(first, "KILL");
    let told = run.wait_for_stderr("program ros2-control failed");
    assert!(told.contains("it is started again"), "{told}");
    wait_for("others", || process().is_some_and(|pid| pid != first));
    let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "stop"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.wait(), 0, "{}", run.stderr());
}

/// Returns the process of the services that a run has started, if it is there.
fn services_of(run: u32) -> Option<u32> {
    let mut all = std::fs::read_dir("/proc").expect("there are processes");
    all.find_map(|one| {
        let pid = one.ok()?.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let is_its = status.lines().any(|line| line == format!("PPid:\t{run}"));
        let mut words = line.split(|byte| *byte == 0);
        (is_its && words.nth(1) == Some(b"ros2-control")).then_some(pid)
    })
}
