//! `TrajectoryFollower`: pushes and turns a link so that it visits waypoints in the plane.
//!
//! The link turns until it looks at the next waypoint, then it is pushed along its x axis. Source:
//! gz-sim, `trajectory_follower/TrajectoryFollower.hh`.

use std::f64::consts::PI;

use messages::Boolean;
use protocol::TopicMessage;
use sdf::{Content, Pose};
use serde::{Deserialize, Serialize};

use super::configuration::text_of;
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// The waypoints on a circle.
const CIRCLE_SAMPLES: usize = 8;

/// Largest bearing at which the link is kept from turning \[degrees\].
const STILL_BEARING_DEG: f64 = 0.1;

/// The most waypoints that a world may give.
const WAYPOINTS_MAX: usize = 100_000;

struct TrajectoryFollower {
    link: usize,
    route: Route,
    loops: bool,
    /// Along the link's x axis \[N\].
    force: f64,
    /// About the link's z axis \[N m\].
    torque: f64,
    /// Within which a waypoint counts as reached \[m\].
    range_tolerance: f64,
    /// Within which the link looks at the waypoint \[degrees\].
    bearing_tolerance_deg: f64,
    stops_turning: bool,
    state: State,
}

/// The route; relative to the link's pose at the start, unless it is a list of waypoints.
enum Route {
    Waypoints(Vec<[f64; 2]>),
    /// By its radius \[m\].
    Circle(f64),
    /// By its direction \[rad\] in the link's frame and its length \[m\].
    Line(f64, f64),
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    is_paused: bool,
    /// Pose of the link when it set out.
    start: Option<Pose>,
    /// The next waypoint.
    next: u32,
    /// True if it is kept from turning.
    is_still: bool,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let link = configuration.text("link_name");
    let link = link.ok_or_else(|| ConfigureError("<link_name> is missing".to_owned()))?;
    let topic = configuration.text("topic").unwrap_or_else(|| {
        let path = configuration.model_path();
        format!("/model/{path}/trajectory_follower/pause")
    });
    Ok(Configured {
        system: Box::new(TrajectoryFollower {
            link: configuration.link(&link)?,
            route: route(configuration)?,
            loops: configuration.flag("loop", false)?,
            force: configuration.number("force", 60.0)?,
            torque: configuration.number("torque", 50.0)?,
            range_tolerance: configuration.number("range_tolerance", 0.5)?,
            bearing_tolerance_deg: configuration.number("bearing_tolerance", 2.0)?,
            stops_turning: configuration.flag("zero_vel_on_bearing_reached", false)?,
            state: State::default(),
        }),
        subscriptions: vec![TopicSpec::of::<Boolean>(configuration.topic(&topic))],
        publications: Vec::new(),
    })
}

fn route(configuration: &Configuration<'_>) -> Result<Route, ConfigureError> {
    let number = |element: &Content, name: &str| {
        let number = text_of(element, name).and_then(|text| text.parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite());
        number.ok_or_else(|| ConfigureError(format!("<{}> has no <{name}>", element.name)))
    };
    if let Some(list) = configuration.elements("waypoints").next() {
        let named = list.children().filter(|child| child.name == "waypoint");
        let points: Option<Vec<[f64; 2]>> = named.take(WAYPOINTS_MAX).map(waypoint).collect();
        return match points {
            Some(points) if !points.is_empty() => Ok(Route::Waypoints(points)),
            _ => {
                let what = "<waypoints> holds no <waypoint>, or one that is not two numbers";
                Err(ConfigureError(what.to_owned()))
            }
        };
    }
    if let Some(circle) = configuration.elements("circle").next() {
        return Ok(Route::Circle(number(circle, "radius")?));
    }
    match configuration.elements("line").next() {
        Some(line) => Ok(Route::Line(
            number(line, "direction")?,
            number(line, "length")?,
        )),
        None => Err(ConfigureError(
            "it needs <waypoints>, a <circle> or a <line>".to_owned(),
        )),
    }
}

fn waypoint(element: &Content) -> Option<[f64; 2]> {
    let text = element.text();
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let point: [f64; 2] = numbers.ok()?.try_into().ok()?;
    point.iter().all(|part| part.is_finite()).then_some(point)
}

impl Route {
    fn len(&self) -> usize {
        match self {
            Self::Waypoints(points) => points.len(),
            Self::Circle(_) => CIRCLE_SAMPLES,
            Self::Line(..) => 2,
        }
    }

    /// Returns a waypoint, world frame \[m\], of a link that set out from a pose.
    fn point(&self, index: usize, start: &Pose) -> [f64; 2] {
        let from = [start.position[0], start.position[1]];
        match self {
            Self::Waypoints(points) => points[index],
            Self::Circle(radius) => {
                let angle = index as f64 * 2.0 * PI / CIRCLE_SAMPLES as f64;
                let (sine, cosine) = libm::sincos(angle);
                [from[0] + radius * cosine, from[1] + radius * sine]
            }
            Self::Line(..) if index == 0 => from,
            Self::Line(direction, length) => {
                let (sine, cosine) = libm::sincos(*direction);
                let along = start.rotate([length * cosine, length * sine, 0.0]);
                [from[0] + along[0], from[1] + along[1]]
            }
        }
    }
}

impl System for TrajectoryFollower {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Ok(pause) = messages::decode::<Boolean>(&message.body) {
            self.state.is_paused = pause.data;
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        if self.state.is_paused {
            return;
        }
        let pose = context.cell.link_pose(context.model, self.link);
        let start = *self.state.start.get_or_insert(pose);
        let goal = self.route.point(self.state.next as usize, &start);
        let way = [goal[0] - pose.position[0], goal[1] - pose.position[1], 0.0];
        let turn = Pose {
            position: [0.0; 3],
            ..pose
        };
        let [x, y, z] = turn.inverse().rotate(way);
        if (x * x + y * y + z * z).sqrt() <= self.range_tolerance {
            self.reach();
            return;
        }
        let bearing_deg = libm::atan2(y, x) * 180.0 / PI;
        let mut force = [0.0; 3];
        let mut torque = [0.0; 3];
        let axes = context.description().links[self.link].inertial.pose;
        if bearing_deg.abs() <= self.bearing_tolerance_deg {
            force = pose.then(&axes).rotate([self.force, 0.0, 0.0]);
            self.state.is_still |= self.stops_turning && bearing_deg.abs() <= STILL_BEARING_DEG;
        } else {
            self.state.is_still = false;
            let about_z = self.torque.copysign(self.torque * bearing_deg);
            torque = pose.then(&axes).rotate([0.0, 0.0, about_z]);
        }
        if self.state.is_still {
            stop_turning(context, self.link, &pose);
        }
        context
            .cell
            .add_load(context.model, self.link, force, torque);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)?;
        if self.state.next as usize >= self.route.len() {
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        Ok(())
    }
}

impl TrajectoryFollower {
    /// Goes on to the next waypoint; the last one stays, unless the route is a loop.
    fn reach(&mut self) {
        let next = self.state.next as usize + 1;
        if next < self.route.len() {
            self.state.next += 1;
        } else if self.loops {
            self.state.next = 0;
        }
    }
}

/// Takes a link's angular velocity away, and keeps the velocity of its centre of mass.
fn stop_turning(context: &mut Context<'_>, link: usize, pose: &Pose) {
    let [linear, [wx, wy, wz]] = context.cell.link_velocity(context.model, link);
    let center = context.cell.center_of_mass(context.model, link);
    let [x, y, z]: [f64; 3] = std::array::from_fn(|axis| center[axis] - pose.position[axis]);
    let swing = [wy * z - wz * y, wz * x - wx * z, wx * y - wy * x];
    let linear = std::array::from_fn(|axis| linear[axis] + swing[axis]);
    context
        .cell
        .set_link_velocity(context.model, link, [linear, [0.0; 3]]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    fn boat(yaw: f64, parameters: &str) -> SystemTestRig {
        SystemTestRig::new(&format!(
            "<model name='boat'><pose>0 0 0 0 0 {yaw}</pose><link name='hull'>\
             <gravity>false</gravity>\
             <velocity_decay><linear>1</linear><angular>6</angular></velocity_decay></link>\
             <plugin name='gz::sim::systems::TrajectoryFollower' filename='none'>\
             <link_name>hull</link_name><force>2</force><torque>1</torque>{parameters}\
             </plugin></model>"
        ))
    }

    fn place(rig: &SystemTestRig) -> [f64; 3] {
        rig.pose("boat").position
    }

    /// Runs until the boat is at a place, and fails when it does not get there.
    fn reaches(rig: &mut SystemTestRig, [x, y]: [f64; 2]) {
        for _ in 0..600 {
            rig.run(0.05);
            let at = place(rig);
            if (at[0] - x).hypot(at[1] - y) < 0.6 {
                return;
            }
        }
        panic!("the boat is at {:?} and not at {x}, {y}", place(rig));
    }

    #[test]
    fn it_visits_its_waypoints_in_order_and_stays_at_the_last() {
        let waypoints = "<waypoints><waypoint>3 0</waypoint><waypoint>3 3</waypoint></waypoints>";
        let mut rig = boat(0.0, waypoints);
        reaches(&mut rig, [3.0, 0.0]);
        rig.renew_systems();
        reaches(&mut rig, [3.0, 3.0]);
        rig.run(20.0);
        let at = place(&rig);
        assert!((at[0] - 3.0).hypot(at[1] - 3.0) < 2.0, "{at:?}");
    }

    #[test]
    fn a_line_is_as_long_as_it_says_and_loops_lead_back() {
        let line = "<line><direction>0</direction><length>4</length></line><loop>true</loop>";
        let mut rig = boat(PI / 2.0, line);
        reaches(&mut rig, [0.0, 4.0]);
        rig.run(1.0);
        reaches(&mut rig, [0.0, 0.0]);
    }

    #[test]
    fn it_is_pushed_with_its_force_once_it_looks_at_the_waypoint() {
        let far = "<waypoints><waypoint>100 0</waypoint></waypoints>";
        let mut rig = boat(0.0, far);
        rig.run(0.01);
        // 2 N on 1 kg for 0.01 s: half a million of a step's square are lost to the decay.
        let speed = rig.velocity("boat")[0][0];
        assert!((speed - 0.02).abs() < 2e-4, "{speed}");
        let mut rig = boat(1.0, far);
        rig.run(0.01);
        let [linear, angular] = rig.velocity("boat");
        assert_eq!(linear[0], 0.0);
        assert!(angular[2] < 0.0, "{angular:?}");
    }

    #[test]
    fn while_it_is_paused_nothing_pushes() {
        let mut rig = boat(0.0, "<circle><radius>2</radius></circle>");
        let pause = Boolean {
            data: true,
            ..Boolean::default()
        };
        rig.publish("/model/boat/trajectory_follower/pause", &pause);
        rig.run(0.5);
        assert_eq!(place(&rig), [0.0; 3]);
        rig.publish("/model/boat/trajectory_follower/pause", &Boolean::default());
        reaches(&mut rig, [2.0, 0.0]);
        reaches(&mut rig, [0.0, 2.0]);
    }
}
