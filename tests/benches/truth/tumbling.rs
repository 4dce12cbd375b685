//! Things that tumble over each other, for which there is no closed form: the same scenes in
//! `MuJoCo`, with contacts as hard as it has them.

use sdf::Pose;
use serde_json::{Value, json};
use tests::peers::mjcf;
use tests::truth::scene::{self, Body, Shape, ground_of, single};
use tests::truth::simulation::Simulation;
use tests::truth::{FINE, Quantity};

use tests::truth::robots::{PeerCase, Peers};

/// Time between samples \[s\].
const SAMPLE_S: f64 = 0.005;
/// Step of `MuJoCo` \[s\].
const REFERENCE_S: f64 = 2.5e-4;

const SOURCE: &str = "MuJoCo, elliptic cone, time constant of contacts 1 ms, steps of 0.25 ms";

pub(crate) fn cases() -> Vec<PeerCase> {
    let case = |name: &str, bodies: Bodies, friction: f64, figures: Figures| PeerCase {
        name: name.to_owned(),
        source: SOURCE,
        run: Box::new(move |peers| compare(peers, &bodies(), friction, figures)),
    };
    vec![
        case("tumble-dominoes", dominoes, 0.5, fall_of_the_last),
        case(
            "tumble-edge",
            || vec![cube_on_edge()],
            0.5,
            rest_of_the_cube,
        ),
        case("tumble-balls", balls, 0.1, spread_of_the_balls),
    ]
}

/// Poses of all bodies at each sample.
type Motion = Vec<Vec<Pose>>;

/// A number told from a motion: its name, its unit, and the part that two engines may differ by.
type Figure = (&'static str, &'static str, f64, f64);
type Bodies = fn() -> Vec<Body>;
type Figures = fn(&Motion) -> Vec<Figure>;

fn compare(
    peers: &Peers,
    bodies: &[Body],
    friction: f64,
    figures: Figures,
) -> Result<Vec<Quantity>, String> {
    peers.require_mujoco()?;
    let models = bodies
        .iter()
        .map(|body| single(body.clone().rubbing(friction)));
    let models: Vec<String> = std::iter::once(ground_of(friction, 0.0))
        .chain(models)
        .collect();
    let mut simulation = Simulation::new(&scene::world(&models), FINE);
    let count = (3.0 / SAMPLE_S) as u64;
    let text = mjcf::write(simulation.world(), &[], REFERENCE_S);
    let plan = json!({
        "scene": text.map_err(|error| error.to_string())?,
        // The ground is the first model.
        "bodies": (1..=bodies.len()).map(|index| mjcf::body_name(index, 0)).collect::<Vec<_>>(),
        "samples": count,
        "steps_per_sample": (SAMPLE_S / REFERENCE_S).round() as u64,
    });
    let reference = read(&peers.run("run_mujoco.py", &plan)?);
    let reference = reference.ok_or("MuJoCo printed something else")?;
    let links = simulation.links();
    let motion: Motion = (0..count)
        .map(|_| {
            let poses = links.iter().map(|link| simulation.pose(*link)).collect();
            simulation.run(SAMPLE_S);
            poses
        })
        .collect();
    let pairs = figures(&reference).into_iter().zip(figures(&motion));
    let quantity = |((name, unit, expected, tolerance), own): (Figure, Figure)| {
        Quantity::relative(name, FINE, [expected, own.2]).within(tolerance, unit)
    };
    Ok(pairs.map(quantity).collect())
}

fn read(value: &Value) -> Option<Motion> {
    let numbers = |value: &Value| -> Option<Vec<f64>> {
        value.as_array()?.iter().map(Value::as_f64).collect()
    };
    let pose = |value: &Value| -> Option<Pose> {
        let [w, x, y, z] = numbers(&value["wxyz"])?.try_into().ok()?;
        Some(Pose {
            position: numbers(&value["position"])?.try_into().ok()?,
            orientation_xyzw: [x, y, z, w],
        })
    };
    let row = |row: &Value| row.as_array()?.iter().map(pose).collect();
    value["samples"].as_array()?.iter().map(row).collect()
}

/// Sizes of a domino \[m\], the distance of two, and the angle that the first leans by \[rad\].
const DOMINO: [f64; 3] = [0.04, 0.1, 0.2];
const DISTANCE: f64 = 0.12;
const LEAN: f64 = 0.35;

fn dominoes() -> Vec<Body> {
    let domino = |index: u32| {
        let name = format!("domino_{index}");
        let [half, _, height] = DOMINO;
        let (half, middle) = (half / 2.0, height / 2.0);
        if index > 0 {
            let position = [f64::from(index) * DISTANCE, 0.0, middle];
            return Body::new(&name, position, 0.5, Shape::Box(DOMINO));
        }
        // It stands on its front edge.
        let (sin, cos) = LEAN.sin_cos();
        let position = [
            half - half * cos + middle * sin,
            0.0,
            half * sin + middle * cos,
        ];
        Body::new(&name, position, 0.5, Shape::Box(DOMINO)).turned([0.0, LEAN, 0.0])
    };
    (0..8).map(domino).collect()
}

fn fall_of_the_last(motion: &Motion) -> Vec<Figure> {
    let has_fallen = |poses: &Vec<Pose>| {
        let up = poses.last().map(|pose| pose.rotate([0.0, 0.0, 1.0])[2]);
        up.is_some_and(|up| up < std::f64::consts::FRAC_1_SQRT_2)
    };
    let sample = motion.iter().position(has_fallen);
    let time = sample.map_or(f64::NAN, |sample| sample as f64 * SAMPLE_S);
    vec![("time until the last has fallen", "s", time, 0.05)]
}

fn cube_on_edge() -> Body {
    let turn = [0.0, 0.5, 0.0];
    Body::new("cube", [0.0, 0.0, 0.25], 1.0, Shape::Box([0.2; 3])).turned(turn)
}

fn rest_of_the_cube(motion: &Motion) -> Vec<Figure> {
    let end = motion.last().and_then(|poses| poses.first());
    let [x, _, z] = end.map_or([f64::NAN; 3], |pose| pose.position);
    // How far it goes depends on its only rebound; the height is that of a cube that lies flat.
    vec![("way along x", "m", x, 0.1), ("height", "m", z, 0.005)]
}

fn balls() -> Vec<Body> {
    let radius = 0.1;
    let around = 2.0 * radius / 3.0_f64.sqrt();
    let ball = |index: u32| {
        let angle = f64::from(index) * std::f64::consts::TAU / 3.0;
        let position = [around * angle.cos(), around * angle.sin(), radius];
        Body::new(
            &format!("ball_{index}"),
            position,
            1.0,
            Shape::Sphere(radius),
        )
    };
    let height = radius + 2.0 * radius * (2.0_f64 / 3.0).sqrt();
    let top = Body::new("ball_top", [0.0, 0.0, height], 1.0, Shape::Sphere(radius));
    (0..3).map(ball).chain([top]).collect()
}

fn spread_of_the_balls(motion: &Motion) -> Vec<Figure> {
    let sample = motion.get((1.0 / SAMPLE_S) as usize);
    let distance = |pose: &Pose| pose.position[0].hypot(pose.position[1]);
    let mean = sample.map_or(f64::NAN, |poses| {
        poses.iter().take(3).map(distance).sum::<f64>() / 3.0
    });
    vec![("distance from the axis after 1 s", "m", mean, 0.05)]
}
