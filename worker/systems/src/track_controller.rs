//! `TrackController`: a link is a track whose surface moves at the velocity that it is told.
//!
//! Source: gz-sim, `track_controller/TrackController.hh`.

use messages::basic::Double;
use messages::geometry::Vector3d;
use protocol::TopicMessage;
use sdf::Pose;
use serde::{Deserialize, Serialize};

use super::speed_limiter::{LimitedSpeed, SpeedLimiter};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct TrackController {
    link: usize,
    /// Orientation of the track in the link: it drives along x.
    orientation: Pose,
    /// Time for which a command holds \[ns\]; for ever without.
    command_age_max_ns: Option<u64>,
    limiter: SpeedLimiter,
    state: State,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    speed: LimitedSpeed,
    /// Time when the last command came \[ns\].
    told_ns: u64,
    /// Center of rotation of the track, world frame \[m\]; `None` if it goes straight.
    center: Option<[f64; 3]>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let name = configuration.text("link");
    let name = name.ok_or_else(|| ConfigureError("<link> is missing".to_owned()))?;
    let path = configuration.model_path();
    let topic = |parameter: &str, last: &str| {
        let text = configuration.text(parameter);
        let text = text.unwrap_or_else(|| format!("/model/{path}/link/{name}/{last}"));
        configuration.topic(&text)
    };
    let subscriptions = vec![
        TopicSpec::of::<Double>(topic("velocity_topic", "track_cmd_vel")),
        TopicSpec::of::<Vector3d>(topic(
            "center_of_rotation_topic",
            "track_cmd_center_of_rotation",
        )),
    ];
    let age = configuration.optional_number("max_command_age")?;
    let system = TrackController {
        link: configuration.link(&name)?,
        orientation: orientation(configuration)?,
        command_age_max_ns: age.map(|age| (age * 1e9) as u64),
        limiter: SpeedLimiter::read(configuration, "")?,
        state: State::default(),
    };
    Ok(Configured {
        system: Box::new(system),
        subscriptions,
        publications: Vec::new(),
    })
}

/// Reads an orientation as roll, pitch and yaw \[rad\].
fn orientation(configuration: &Configuration<'_>) -> Result<Pose, ConfigureError> {
    let rpy = configuration.vector("track_orientation", [0.0; 3])?;
    Ok(Pose::from_xyz_rpy([0.0; 3], rpy))
}

impl System for TrackController {
    fn on_message(&mut self, input: usize, message: &TopicMessage, context: &mut Context<'_>) {
        if input == 0 {
            if let Ok(speed) = messages::decode::<Double>(&message.body)
                && speed.data.is_finite()
            {
                self.state.speed.target = speed.data;
                self.state.told_ns = context.time.elapsed.0;
            }
        } else if let Ok(center) = messages::decode::<Vector3d>(&message.body) {
            let center: [f64; 3] = (&center).into();
            let is_finite = center.iter().all(|number| number.is_finite());
            self.state.center = is_finite.then_some(center);
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let age = context.time.elapsed.0.saturating_sub(self.state.told_ns);
        if self.command_age_max_ns.is_some_and(|most| age > most) {
            self.state.speed.target = 0.0;
        }
        let step_size_s = context.time.step_size_s;
        let speed = self.limiter.limit(&mut self.state.speed, step_size_s);
        let pose = context.cell.link_pose(context.model, self.link);
        let axis = pose.then(&self.orientation).rotate([0.0, 1.0, 0.0]);
        let (link, center) = (self.link, self.state.center);
        context
            .cell
            .move_surface(context.model, link, axis, speed, center);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}
