//! Small scenes in DART and here, of what both do well: joints, springs, dry friction, slopes.

use std::f64::consts::FRAC_PI_2;

use sdf::World;

use super::super::robots::{PeerCase, Peers};
use super::super::scene::{
    self, Body, Joint, Shape, ground_of, model, single, slope, world, world_under,
};
use super::super::{FINE, GRAVITY, Quantity};
use super::{Difference, TIMES_S, ask, compare};

const SOURCE: &str = "DART with ODE's contacts, Gazebo's default engine, at 1 ms and extrapolated";

/// Scene, and the greatest difference that passes at each time \[m\] and \[rad\].
type Scene = (&'static str, fn() -> String, [f64; 2]);

const SCENES: [Scene; 8] = [
    ("dart-double-pendulum", double_pendulum, [1e-5, 1e-5]),
    ("dart-limit", limit, [1e-6, 1e-6]),
    ("dart-spring", spring, [1e-6, 1e-6]),
    ("dart-dry-friction", dry_friction, [1e-6, 1e-6]),
    ("dart-spin", spin, [1e-6, 1e-6]),
    ("dart-slide", slide, [1e-5, 1e-5]),
    ("dart-slope", steep, [1e-5, 1e-5]),
    ("dart-bounce", bounce, [2e-3, 1e-6]),
];

/// Returns the cases.
pub fn cases() -> Vec<PeerCase> {
    let of_scene = |(name, write, tolerance): Scene| PeerCase {
        name: name.to_owned(),
        source: SOURCE,
        run: Box::new(move |peers| measure(peers, &write(), tolerance)),
    };
    SCENES.into_iter().map(of_scene).collect()
}

fn measure(peers: &Peers, text: &str, tolerance: [f64; 2]) -> Result<Vec<Quantity>, String> {
    let read = sdf::read_worlds(text, "case.sdf", &sdf::NoFiles);
    let world: World = read.map_err(|error| error.to_string())?.worlds.remove(0);
    let scene = super::Scene::left_alone(&world);
    let answers = ask(peers, std::slice::from_ref(&scene))?;
    let comparison = compare(&scene, &answers[0]);
    if let Some((model, why)) = comparison.left_out.first() {
        return Err(format!("{model}: {why}"));
    }
    let mut found = Vec::new();
    for time_s in TIMES_S {
        let at_time = comparison.all.iter().filter(|it| it.time_s == time_s);
        let greatest = |of: fn(&Difference) -> f64| at_time.clone().map(of).fold(0.0, f64::max);
        let [way, turn] = [
            greatest(|it| it.nearest()[0]),
            greatest(|it| it.nearest()[1]),
        ];
        let dart = greatest(|it| it.dart[0]);
        let name = format!("at {time_s} s: way (DART's own error {dart:.1e})");
        found.push(Quantity::absolute(name, FINE, [0.0, way]).within(tolerance[0], "m"));
        let dart = greatest(|it| it.dart[1]);
        let name = format!("at {time_s} s: turn (DART's own error {dart:.1e})");
        found.push(Quantity::absolute(name, FINE, [0.0, turn]).within(tolerance[1], "rad"));
    }
    Ok(found)
}

/// Writes links of 1 m that hang on each other and begin level.
fn hanging(links: usize, limit: &str) -> String {
    let mut bodies = Vec::new();
    let mut joints = Vec::new();
    let mut parent = "world".to_owned();
    for index in 0..links {
        let name = format!("link_{index}");
        let position = [-(index as f64), 0.0, 0.0];
        let body = Body::ethereal(&name, position, 1.0, [0.01; 3]);
        bodies.push(
            body.centered([0.0, 0.0, -1.0])
                .turned([0.0, FRAC_PI_2, 0.0]),
        );
        let joint = Joint::new(&format!("joint_{index}"), "revolute", [&parent, &name]);
        joints.push(joint.about([0.0, 1.0, 0.0]).limited(limit));
        parent = name;
    }
    world(&[model("pendulum", &bodies, &joints)])
}

fn double_pendulum() -> String {
    hanging(2, "")
}

/// Writes a pendulum that falls on a limit, where it stays.
fn limit() -> String {
    hanging(1, "<lower>-1</lower><upper>1</upper>")
}

/// Writes a slider of 1 kg on a joint with other content.
fn slider(dynamics: &str) -> String {
    let body = Body::ethereal("body", [0.0; 3], 1.0, [0.01; 3]);
    let joint = Joint::new("joint", "prismatic", ["world", "body"]).about([0.0, 0.0, 1.0]);
    let text = world(&[model("slider", &[body], &[joint])]);
    let dynamics = format!("<dynamics>{dynamics}</dynamics></axis>");
    text.replacen("</axis>", &dynamics, 1)
}

fn spring() -> String {
    let spring = "<spring_stiffness>100</spring_stiffness>";
    slider(&format!(
        "{spring}<spring_reference>0.1</spring_reference><damping>1</damping>"
    ))
}

fn dry_friction() -> String {
    slider(&format!("<friction>{}</friction>", GRAVITY / 2.0))
}

/// Writes a pendulum of three unequal moments on a ball joint, which nothing keeps in a plane.
fn spin() -> String {
    let body = Body::ethereal("body", [0.0; 3], 1.0, [0.1, 0.2, 0.25]);
    let body = body.centered([0.3, 0.1, -0.5]).turned([0.3, 0.4, 0.5]);
    let joint = Joint::new("joint", "ball", ["world", "body"]);
    world(&[model("pendulum", &[body], &[joint])])
}

/// Writes a cube on a slope on which it slides, as gravity that leans.
fn sliding(angle: f64, friction: f64) -> String {
    let cube = Body::new("cube", [0.0, 0.0, 0.1], 1.0, Shape::Box([0.2; 3])).rubbing(friction);
    world_under(slope(angle), &[ground_of(friction, 0.0), single(cube)])
}

fn slide() -> String {
    sliding(0.3, 0.2)
}

fn steep() -> String {
    sliding(0.7, 0.5)
}

fn bounce() -> String {
    let ball = Body::new("ball", [0.0, 0.0, 0.35], 1.0, Shape::Sphere(0.1)).bouncing(0.8);
    scene::world(&[scene::ground(), single(ball)])
}
