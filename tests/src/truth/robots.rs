//! Robots of `PyPI` packages: where their files are, and how they come into a world of Phalanx.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{GRAVITY, Quantity};
use crate::processes::Scratch;
use crate::python::{Package, Python};
use sdf::{Axis, Geometry, Joint, JointKind, JointParent, Model, Pose, SearchPaths, World};
use serde_json::Value;

/// The longest time of one program of another engine.
const TIMEOUT: Duration = Duration::from_mins(5);

const PINOCCHIO: Package = Package {
    name: "pin",
    version: "4.1.0",
    module: "pinocchio",
};
const EXAMPLE_ROBOTS: Package = Package {
    name: "example-robot-data",
    version: "6.0.0",
    module: "cmeel",
};
const BULLET: Package = Package {
    name: "pybullet",
    version: "3.2.7",
    module: "pybullet",
};
/// `PyBullet` is built with it and does not say so.
const NUMPY: Package = Package {
    name: "numpy",
    version: "2.4.6",
    module: "numpy",
};
const MUJOCO: Package = Package {
    name: "mujoco",
    version: "4.0.0",
    module: "mujoco",
};

const DART: Package = Package {
    name: "dartpy",
    version: "6.20.0",
    module: "dartpy",
};

/// Measurement that needs more than Phalanx.
pub type Measure = dyn Fn(&Peers) -> Result<Vec<Quantity>, String>;

/// A case that needs more than Phalanx.
pub struct PeerCase {
    /// Its name.
    pub name: String,
    /// Source of the expected values.
    pub source: &'static str,
    /// Measures it, or says why it cannot be measured.
    pub run: Box<Measure>,
}

/// Other engines, and the robots that come with them.
pub struct Peers {
    python: Python,
    scratch: Scratch,
    folder: PathBuf,
}

impl Peers {
    /// Makes an environment for them; packages come when a case asks for them.
    ///
    /// # Errors
    /// Fails if there is no Python.
    pub fn prepare() -> Result<Self, String> {
        let scratch = Scratch::new();
        let python = Python::prepare("truth-python", &scratch)?;
        Ok(Self {
            folder: python.packages()?,
            python,
            scratch,
        })
    }

    /// Finds Pinocchio, or installs it.
    ///
    /// # Errors
    /// Fails if it cannot be had.
    pub fn require_pinocchio(&self) -> Result<(), String> {
        self.python.require(&PINOCCHIO, &self.scratch)
    }

    /// Finds `MuJoCo`, or installs it.
    ///
    /// # Errors
    /// Fails if it cannot be had.
    pub fn require_mujoco(&self) -> Result<(), String> {
        self.python.require(&MUJOCO, &self.scratch)
    }

    /// Finds DART, or installs it.
    ///
    /// # Errors
    /// Fails if it cannot be had.
    pub fn require_dart(&self) -> Result<(), String> {
        self.python.require(&DART, &self.scratch)
    }

    /// Finds the collection of robots that Pinocchio is tested with, or installs it.
    ///
    /// # Errors
    /// Fails if it cannot be had.
    pub fn require_example_robots(&self) -> Result<(), String> {
        self.python.require(&EXAMPLE_ROBOTS, &self.scratch)
    }

    /// Finds both collections of robots, one of which comes with `PyBullet`, or installs them.
    ///
    /// # Errors
    /// Fails if they cannot be had.
    pub fn require_robots(&self) -> Result<(), String> {
        self.require_example_robots()?;
        self.python.require(&NUMPY, &self.scratch)?;
        self.python.require(&BULLET, &self.scratch)
    }

    /// Runs a program of the bench with a plan, and returns the JSON of its last line.
    ///
    /// # Errors
    /// Fails if it fails or says something else.
    pub fn run(&self, program: &str, plan: &Value) -> Result<Value, String> {
        let path = self.scratch.path("plan.json");
        fs::write(&path, plan.to_string()).map_err(|error| error.to_string())?;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/truth");
        let program = folder.join(program);
        let said = self
            .python
            .run(&self.scratch, &program, &[&path], TIMEOUT)?;
        let last = said.lines().last().unwrap_or_default();
        serde_json::from_str(last).map_err(|error| error.to_string())
    }

    /// Returns the folder that `package://example-robot-data` is in.
    pub fn example_folder(&self) -> PathBuf {
        self.folder.join("cmeel.prefix/share")
    }

    /// Finds the file of a robot: `erd:` for example-robot-data, `bullet:` for `pybullet_data`.
    ///
    /// # Errors
    /// Fails if there is no such file.
    pub fn file(&self, name: &str) -> Result<PathBuf, String> {
        let path = match name.split_once(':') {
            Some(("erd", rest)) => {
                let robots = self.example_folder().join("example-robot-data/robots");
                robots.join(rest)
            }
            Some((_, rest)) => self.folder.join("pybullet_data").join(rest),
            None => PathBuf::from(name),
        };
        if path.is_file() {
            Ok(path)
        } else {
            Err(format!("there is no {}", path.display()))
        }
    }

    /// Reads a robot as a world of its own.
    ///
    /// # Errors
    /// Fails if the file is refused.
    pub fn read(&self, name: &str) -> Result<World, String> {
        let path = self.file(name)?;
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let folders = [self.example_folder(), self.folder.join("pybullet_data")];
        let file = path.display().to_string();
        let read = sdf::read_worlds(&text, &file, &SearchPaths::new(folders));
        let read = read.map_err(|error| error.to_string())?;
        let mut world = read.worlds.into_iter().next().ok_or("an empty file")?;
        world.gravity = [0.0, 0.0, -GRAVITY];
        Ok(world)
    }
}

/// Holds the first link of a model to the world, unless something does already.
pub fn hold_base(model: &mut Model) {
    let is_held = |joint: &Joint| joint.parent == JointParent::World;
    if model.joints.iter().any(is_held) {
        return;
    }
    let is_root = |link: &usize| model.joints.iter().all(|joint| joint.child != *link);
    let root = (0..model.links.len()).find(is_root).unwrap_or(0);
    let pose = model.links[root].pose;
    let joint = Joint::new("held", JointKind::Fixed, JointParent::World, root, pose);
    model.joints.push(joint);
}

/// Takes limits, friction, damping and mimicry off all joints, and collisions off all links.
pub fn free_joints(model: &mut Model) {
    for joint in &mut model.joints {
        for axis in axes_mut(&mut joint.kind) {
            *axis = Axis {
                xyz: axis.xyz,
                ..Axis::default()
            };
        }
    }
    for link in &mut model.links {
        link.collisions.clear();
    }
}

/// Returns the only axis of a joint that has one.
pub fn axis_of(kind: &JointKind) -> Option<&Axis> {
    match kind {
        JointKind::Revolute(axis) | JointKind::Continuous(axis) | JointKind::Prismatic(axis) => {
            Some(axis)
        }
        _ => None,
    }
}

fn axes_mut(kind: &mut JointKind) -> Vec<&mut Axis> {
    match kind {
        JointKind::Revolute(axis) | JointKind::Continuous(axis) | JointKind::Prismatic(axis) => {
            vec![axis]
        }
        _ => Vec::new(),
    }
}

/// Lifts a model so that its lowest collision is at a height \[m\]; returns by how much.
pub fn lift(world: &mut World, height: f64) -> f64 {
    let model = &world.models[0];
    let mut lowest = f64::INFINITY;
    for link in &model.links {
        for collision in &link.collisions {
            let pose = link.pose.then(&collision.pose);
            lowest = lowest.min(lowest_of(world, &collision.geometry, &pose));
        }
    }
    let by = if lowest.is_finite() {
        height - lowest
    } else {
        0.0
    };
    let model = &mut world.models[0];
    model.pose.position[2] += by;
    for link in &mut model.links {
        link.pose.position[2] += by;
    }
    for joint in &mut model.joints {
        joint.pose.position[2] += by;
    }
    by
}

fn lowest_of(world: &World, geometry: &Geometry, pose: &Pose) -> f64 {
    let height = |point: [f64; 3]| pose.position[2] + pose.rotate(point)[2];
    let corners = |size: [f64; 3]| {
        let corner = |index: u8| {
            std::array::from_fn(|axis| {
                let sign = if index >> axis & 1 == 0 { -0.5 } else { 0.5 };
                sign * size[axis]
            })
        };
        let heights = (0..8).map(|index| height(corner(index)));
        heights.fold(f64::INFINITY, f64::min)
    };
    let upright = pose.rotate([0.0, 0.0, 1.0])[2].abs();
    match geometry {
        Geometry::Box { size } => corners(*size),
        Geometry::Sphere { radius } => pose.position[2] - radius,
        Geometry::Cylinder { radius, length } | Geometry::Cone { radius, length } => {
            let across = (1.0 - upright * upright).max(0.0).sqrt();
            pose.position[2] - upright * length / 2.0 - across * radius
        }
        Geometry::Capsule { radius, length } => pose.position[2] - upright * length / 2.0 - radius,
        Geometry::Ellipsoid { radii } => corners(radii.map(|radius| 2.0 * radius)),
        Geometry::Mesh(shape) => {
            let vertices = shape.mesh.map(|mesh| &world.meshes[mesh].vertices);
            let vertices = vertices
                .into_iter()
                .flatten()
                .map(|vertex| height(std::array::from_fn(|axis| vertex[axis] * shape.scale[axis])));
            vertices.fold(f64::INFINITY, f64::min)
        }
        _ => f64::INFINITY,
    }
}
