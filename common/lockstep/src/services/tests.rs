//! Meanings of calls of services.

use serde_json::{Value, json};

use super::*;

const WORLDS: &[&str] = &["w"];

fn call(worlds: &[&str], service: &str, request: Value) -> Result<Vec<Command>, String> {
    let plain = service.strip_suffix("/blocking").unwrap_or(service);
    let known = list(worlds).into_iter().find(|known| known.name == plain);
    let kind = known.map_or("gz.msgs.Empty", |known| known.kind);
    let body = messages::find(kind).unwrap().from_json(request).unwrap();
    translate(service, "", &body, worlds).map_err(|error| error.reason())
}

fn check(service: &str, request: Value, expected: &[Command]) {
    assert_eq!(
        call(WORLDS, service, request).unwrap(),
        expected,
        "{service}"
    );
}

fn check_error(service: &str, request: Value, part: &str) {
    let error = call(WORLDS, service, request).unwrap_err();
    assert!(error.contains(part), "{service}: {error}");
}

#[test]
fn control_plays_pauses_and_steps_as_gazebo_does() {
    let control = "/world/w/control";
    check(control, json!({}), &[Command::Play]);
    check(control, json!({"pause": true}), &[Command::Pause]);
    let steps = |count| [Command::Pause, Command::Step { count }];
    check(control, json!({"pause": true, "step": true}), &steps(1));
    check(control, json!({"pause": true, "multi_step": 5}), &steps(5));
    check(control, json!({"multi_step": 5}), &[Command::Play]);
    let run_to = Command::RunTo { sim_time_s: 1.5 };
    let request = json!({"run_to_sim_time": {"sec": 1, "nsec": 500_000_000}});
    check(control, request, &[Command::Pause, run_to]);
}

#[test]
fn control_resets_and_seeds_before_time_goes_on() {
    let reset = |what| Command::Reset { what };
    let request = json!({"reset": {"all": true}, "seed": 7, "pause": true});
    let expected = [
        reset(ResetKind::All),
        Command::SetSeed { seed: 7 },
        Command::Pause,
    ];
    check("/world/w/control", request, &expected);
    for (flag, what) in [
        ("time_only", ResetKind::Time),
        ("model_only", ResetKind::Models),
    ] {
        let expected = [reset(what), Command::Play];
        check(
            "/world/w/control",
            json!({"reset": {flag: true}}),
            &expected,
        );
    }
}

#[test]
fn models_are_created_where_the_request_says() {
    let request = json!({
        "sdf": "<sdf/>", "name": "box", "allow_renaming": true, "relative_to": "world",
        "pose": {"position": {"z": 2.0}},
    });
    let spawn = SpawnRequest {
        sdf: "<sdf/>".to_owned(),
        name: Some("box".to_owned()),
        allow_renaming: true,
        pose: Some([0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]),
        ..SpawnRequest::default()
    };
    let expected = [Command::Spawn(Box::new(spawn.clone()))];
    check("/world/w/create", request.clone(), &expected);
    check("/world/w/create/blocking", request.clone(), &expected);
    let several = [expected[0].clone(), expected[0].clone()];
    let data = json!({"data": [request.clone(), request]});
    check("/world/w/create_multiple", data, &several);
    check_error("/world/w/create", json!({}), "no sdf");
    check_error("/world/w/create_multiple", json!({}), "names nothing");
    let file = json!({"sdf_filename": "box.sdf"});
    check_error("/world/w/create", file, "send the text");
}

#[test]
fn entities_are_found_by_name_and_kind() {
    let remove = Command::Remove {
        model: "box".to_owned(),
    };
    let model = json!({"name": "box", "type": "MODEL"});
    check("/world/w/remove", model, std::slice::from_ref(&remove));
    let by_number = json!({"name": "box", "type": "2"});
    check("/world/w/remove", by_number, &[remove]);
    let light = json!({"name": "sun", "type": "LIGHT"});
    check_error("/world/w/remove", light, "only a MODEL");
    check_error("/world/w/remove", json!({"id": 8}), "no name");
    let off = Command::SetCollisions {
        entity: "box::link".to_owned(),
        enabled: false,
    };
    let link = json!({"name": "box::link", "type": "LINK"});
    check("/world/w/disable_collision", link, &[off]);
}

#[test]
fn poses_physics_and_performers_are_set() {
    let poses = |x| {
        let model = "box".to_owned();
        let pose = [x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        [Command::SetPoses {
            poses: vec![NamedPose { model, pose }],
        }]
    };
    let pose = json!({"name": "box", "position": {"x": 3.0}});
    check("/world/w/set_pose", pose.clone(), &poses(3.0));
    check(
        "/world/w/set_pose_vector",
        json!({"pose": [pose]}),
        &poses(3.0),
    );
    let physics = [
        Command::SetStepSize { step_size_s: 0.002 },
        Command::SetRealTimeFactor { factor: 0.5 },
    ];
    let request = json!({"max_step_size": 0.002, "real_time_factor": 0.5});
    check("/world/w/set_physics", request, &physics);
    let performer = Command::SetPerformer {
        model: "sphere".to_owned(),
        size: None,
    };
    let request = json!({"data": "sphere"});
    check("/world/w/level/set_performer", request, &[performer]);
    check("/server_control", json!({"stop": true}), &[Command::Stop]);
}

#[test]
fn with_several_worlds_names_have_their_world_before_them() {
    let request = json!({"name": "box", "type": "MODEL"});
    let remove = Command::Remove {
        model: "b::box".to_owned(),
    };
    let commands = call(&["a", "b"], "/world/b/remove", request).unwrap();
    assert_eq!(commands, [remove]);
}

#[test]
fn unknown_services_are_refused_with_the_reason() {
    check_error("/world/v/control", json!({}), "there are /server_control");
    check_error("/world/w/fly", json!({}), "there is no service");
    let sphere = "/world/w/set_spherical_coordinates";
    check_error(sphere, json!({}), "<spherical_coordinates>");
    let control = "/world/w/control";
    let error = translate(control, "gz.msgs.Twist", &[], WORLDS).unwrap_err();
    assert!(error.reason().contains("takes a gz.msgs.WorldControl"));
    let older = "ignition.msgs.WorldControl";
    let error = translate(control, older, &[0xc1], WORLDS).unwrap_err();
    assert!(error.reason().contains("not a gz.msgs.WorldControl"));
}

#[test]
fn services_of_gazebo_without_effect_have_a_reason() {
    assert_eq!(
        refusal_of("/world/w/light_config"),
        Some("lights stay as the world has them")
    );
    assert_eq!(refusal_of("/world/w/control"), None);
    assert_eq!(refusal_of("/world//light_config"), None);
}
