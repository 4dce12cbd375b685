//! Wording of clients' requests to a primary, in transcripts.

use protocol::action::ModelVelocity;
use protocol::client_to_primary::{NamedPose, NamedState, ResetKind, SpawnRequest};
use protocol::{Command, PeerName};

/// Returns the command in some words.
///
/// # Panics
/// Panics if there is no such command.
pub(super) fn command(words: &[&str]) -> Command {
    let owned = |word: &&str| (*word).to_owned();
    match words {
        ["ping"] => Command::Ping,
        ["play"] => Command::Play,
        ["pause"] => Command::Pause,
        ["checkpoint"] => Command::Checkpoint,
        ["step", count] => Command::Step {
            count: count.parse().expect("a number of iterations"),
        },
        ["run-to", time] => Command::RunTo {
            sim_time_s: number(time),
        },
        ["move-cell", level, peer] => Command::MoveCell {
            level: owned(level),
            peer: peer.parse::<PeerName>().expect("the name of a peer"),
        },
        ["drain", peer] => Command::Drain {
            peer: peer.parse::<PeerName>().expect("the name of a peer"),
        },
        ["set-performer", model] => Command::SetPerformer {
            model: owned(model),
            size: None,
        },
        ["set-pose", model, x] => Command::SetPoses {
            poses: vec![NamedPose {
                model: owned(model),
                pose: at(x),
            }],
        },
        ["set-velocity", model, x] => set_state(model, Some(number(x))),
        ["set-nothing", model] => set_state(model, None),
        ["spawn", name, x] => spawn(BALL.to_owned(), name, x),
        ["spawn-odd", name, x] => spawn(BALL.replace("<link ", "<odd/><link "), name, x),
        ["spawn-camera", name, x] => spawn(BALL.replace("</link>", CAMERA), name, x),
        ["remove", model] => Command::Remove {
            model: owned(model),
        },
        ["attach", parent, child] => Command::Attach {
            parent: owned(parent),
            child: owned(child),
        },
        ["detach", parent, child] => Command::Detach {
            parent: owned(parent),
            child: owned(child),
        },
        ["push", link] => Command::ApplyWrench {
            link: owned(link),
            force: [1.0, 0.0, 0.0],
            torque: [0.0; 3],
            duration_s: 1.0,
        },
        ["reset", "all"] => Command::Reset {
            what: ResetKind::All,
        },
        ["reset", "time"] => Command::Reset {
            what: ResetKind::Time,
        },
        ["set-step-size", size] => Command::SetStepSize {
            step_size_s: number(size),
        },
        ["say", topic] => Command::Publish {
            topic: owned(topic),
            kind: "gz.msgs.Empty".to_owned(),
            body: messages::encode(&messages::Empty::default()),
        },
        ["call", service, json] => call(service, json),
        ["stop"] => Command::Stop,
        other => panic!("no such request: {other:?}"),
    }
}

fn spawn(sdf: String, name: &str, x: &str) -> Command {
    Command::Spawn(Box::new(SpawnRequest {
        sdf,
        name: Some(name.to_owned()),
        pose: Some(at(x)),
        ..SpawnRequest::default()
    }))
}

fn set_state(model: &str, velocity: Option<f64>) -> Command {
    Command::SetStates {
        states: vec![NamedState {
            model: model.to_owned(),
            pose: None,
            velocity: velocity.map(|x| ModelVelocity {
                linear: [x, 0.0, 0.0],
                angular: [0.0; 3],
            }),
        }],
    }
}

fn at(x: &str) -> [f64; 7] {
    [number(x), 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
}

fn call(service: &str, json: &str) -> Command {
    let json = serde_json::from_str(json).expect("JSON without blanks");
    let kind = messages::find("gz.msgs.WorldControl").expect("a kind of message");
    Command::CallService {
        service: service.to_owned(),
        kind: String::new(),
        body: kind.from_json(json).expect("a request"),
    }
}

const BALL: &str = "<sdf version='1.10'><model name='ball'><link name='link'><collision \
    name='c'><geometry><sphere><radius>0.3</radius></sphere></geometry></collision></link>\
    </model></sdf>";

const CAMERA: &str = "<sensor name='camera' type='logical_camera'><logical_camera><near>0.1</near>\
    <far>5</far><horizontal_fov>1</horizontal_fov><aspect_ratio>1</aspect_ratio></logical_camera>\
    </sensor></link>";

fn number(word: &str) -> f64 {
    word.parse().expect("a number")
}
