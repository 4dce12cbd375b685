//! `TrackedVehicle`: a robot on tracks goes where a twist says, by what it tells its tracks.
//!
//! Each track has a [`super::track_controller`]. Source: gz-sim,
//! `tracked_vehicle/TrackedVehicle.hh`.

use messages::basic::Double;
use messages::geometry::Vector3d;
use messages::motion::Twist;
use protocol::TopicMessage;
use sdf::Content;
use serde::{Deserialize, Serialize};

use super::configuration::text_of;
use super::drive_base::{Asked, DriveBase, Reckoning, length};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// Below this a speed counts as 0 \[m/s or rad/s\].
const SPEED_MIN: f64 = 1e-6;

struct TrackedVehicle {
    base: DriveBase,
    /// The link that the vehicle turns about.
    body: usize,
    /// The tracks on either side, left first.
    tracks: [Vec<Track>; 2],
    /// Distance between the tracks \[m\].
    separation: f64,
    state: State,
}

/// Topics by which a track is told what to do.
struct Track {
    speed: String,
    center: String,
}

#[derive(Serialize, Deserialize)]
struct State {
    asked: Asked,
    /// Part of the difference of the tracks' speeds that turns the vehicle.
    steering_efficiency: f64,
    /// True from a command until the tracks are told of it.
    is_new: bool,
    /// Speeds ahead \[m/s\] and turning \[rad/s\] in the last step.
    last: [f64; 2],
    /// Speeds of the tracks, left first \[m/s\].
    speeds: [f64; 2],
    reckoning: Reckoning,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let model = configuration.model()?;
    let given = configuration.text("body_link");
    let body = match &given {
        Some(name) => configuration.link(name)?,
        None => model.canonical_link,
    };
    let name = given.or_else(|| Some(model.links.get(body)?.name.clone()));
    let base = DriveBase::read_for_tracks(configuration, &name.unwrap_or_default())?;
    let path = configuration.model_path();
    let topic = |parameter: &str, last: &str| {
        let text = configuration.text(parameter);
        configuration.topic(&text.unwrap_or_else(|| format!("/model/{path}/{last}")))
    };
    let subscriptions = vec![
        TopicSpec::of::<Twist>(topic("topic", "cmd_vel")),
        TopicSpec::of::<Double>(topic("steering_efficiency_topic", "steering_efficiency")),
    ];
    let tracks = [
        tracks(configuration, "left_track")?,
        tracks(configuration, "right_track")?,
    ];
    let mut publications = base.publications();
    for track in tracks.iter().flatten() {
        publications.push(TopicSpec::of::<Double>(track.speed.as_str()));
        publications.push(TopicSpec::of::<Vector3d>(track.center.as_str()));
    }
    let system = TrackedVehicle {
        base,
        body,
        tracks,
        separation: length(configuration, "tracks_separation", 1.0)?,
        state: State {
            asked: Asked::default(),
            steering_efficiency: length(configuration, "steering_efficiency", 0.5)?,
            is_new: false,
            last: [0.0; 2],
            speeds: [0.0; 2],
            reckoning: Reckoning::default(),
        },
    };
    Ok(Configured {
        system: Box::new(system),
        subscriptions,
        publications,
    })
}

/// Reads the tracks of a side; at least one of them must be there.
fn tracks(
    configuration: &Configuration<'_>,
    side: &'static str,
) -> Result<Vec<Track>, ConfigureError> {
    let elements: Vec<&Content> = configuration.elements(side).collect();
    let link_of = |element: &&Content| text_of(element, "link");
    let names: Option<Vec<String>> = elements.iter().map(link_of).collect();
    let Some(names) = names.filter(|names| !names.is_empty()) else {
        return Err(ConfigureError(format!("it needs a <{side}> with a <link>")));
    };
    let path = configuration.model_path();
    configuration.found(&names, |name| {
        configuration.link(name)?;
        let element = elements
            .iter()
            .find(|one| link_of(one).as_deref() == Some(name));
        let topic = |parameter: &str, last: &str| {
            let text = element.and_then(|element| text_of(element, parameter));
            let text = text.unwrap_or_else(|| format!("/model/{path}/link/{name}/{last}"));
            configuration.topic(&text)
        };
        Ok(Track {
            speed: topic("velocity_topic", "track_cmd_vel"),
            center: topic("center_of_rotation_topic", "track_cmd_center_of_rotation"),
        })
    })
}

impl TrackedVehicle {
    /// Tells each track its speed, and the point that the vehicle turns about.
    fn tell_tracks(&self, [ahead, turning]: [f64; 2], context: &mut Context<'_>) {
        let pose = context.cell.link_pose(context.model, self.body);
        let left = pose.rotate([0.0, 1.0, 0.0]);
        let center = if turning.abs() < SPEED_MIN {
            [f64::INFINITY; 3]
        } else {
            let radius = if ahead.abs() < SPEED_MIN {
                0.0
            } else {
                ahead / turning
            };
            std::array::from_fn(|axis| pose.position[axis] + radius * left[axis])
        };
        for (tracks, data) in self.tracks.iter().zip(self.state.speeds) {
            for track in tracks {
                let speed = Double {
                    data,
                    ..Double::default()
                };
                context.publish(&track.speed, &speed);
                context.publish(&track.center, &Vector3d::from(center));
            }
        }
    }
}

impl System for TrackedVehicle {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if input == 0 {
            if let Ok(twist) = messages::decode::<Twist>(&message.body) {
                self.state.asked.take(&twist);
                self.state.is_new = true;
            }
        } else if let Ok(efficiency) = messages::decode::<Double>(&message.body)
            && efficiency.data.is_finite()
            && efficiency.data > 0.0
        {
            self.state.steering_efficiency = efficiency.data;
            self.state.is_new = true;
        }
    }

    fn after_step(&mut self, context: &mut Context<'_>) {
        let step_size_s = context.time.step_size_s;
        let [ahead, _, turning] = self.base.limit(&mut self.state.asked, step_size_s);
        let [last_ahead, last_turning] = self.state.last;
        self.state.last = [ahead, turning];
        let has_changed =
            (ahead - last_ahead).abs() > SPEED_MIN || (turning - last_turning).abs() > SPEED_MIN;
        if self.state.is_new || has_changed {
            let swing = turning * self.separation / (2.0 * self.state.steering_efficiency);
            self.state.speeds = [ahead - swing, ahead + swing];
            self.state.is_new = false;
            self.tell_tracks([ahead, turning], context);
        }
        let [left, right] = self.state.speeds.map(|speed| speed * step_size_s);
        let way = [0.5 * (left + right), 0.0, (right - left) / self.separation];
        let reckoning = &mut self.state.reckoning;
        reckoning.advance(way, step_size_s);
        self.base.publish(reckoning, context);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}
