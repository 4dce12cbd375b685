//! The scene in `MuJoCo`: a Python environment of the bench's own in the target folder, and one
//! process for each measurement.

use std::fs;
use std::path::Path;
use std::time::Duration;

use sdf::{Pose, World};
use serde_json::{Value, json};
use tests::peers::drive::Motor;
use tests::peers::mjcf;
use tests::processes::Scratch;
use tests::python::{Package, Python};

use crate::measured::{Measured, STEP_SIZE_S, model_position, moving};

/// The release that the figures are about.
const PACKAGE: Package = Package {
    name: "mujoco",
    version: "4.0.0",
    module: "mujoco",
};

/// The longest time of one measurement.
const RUN_PATIENCE: Duration = Duration::from_hours(1);

/// An installed `MuJoCo`.
pub(crate) struct Mujoco {
    python: Python,
}

impl Mujoco {
    /// Finds it in the target folder, or installs it there.
    ///
    /// # Errors
    /// In one line, why it is not there.
    pub(crate) fn install(scratch: &Scratch) -> Result<Self, String> {
        let python = Python::prepare("peers-python", scratch)?;
        python.require(&PACKAGE, scratch)?;
        Ok(Self { python })
    }

    /// Measures the steps of a scene.
    ///
    /// # Errors
    /// Fails if the scene cannot be written, or `MuJoCo` fails or warns.
    pub(crate) fn run(
        &self,
        scratch: &Scratch,
        world: &World,
        motors: &[Motor],
        iterations: u64,
    ) -> Result<Measured, String> {
        let scene = scratch.path("scene.xml");
        let text = mjcf::write(world, motors, STEP_SIZE_S).map_err(|error| error.to_string())?;
        fs::write(&scene, text).map_err(|error| error.to_string())?;
        let plan = scratch.path("plan.json");
        let text = plan_of(world, motors, iterations).to_string();
        fs::write(&plan, text).map_err(|error| error.to_string())?;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/run_mujoco.py");
        let arguments = [scene.as_path(), plan.as_path()];
        let said = self
            .python
            .run(scratch, &program, &arguments, RUN_PATIENCE)?;
        let said: Value = serde_json::from_str(&said).map_err(|error| error.to_string())?;
        read(world, &said).ok_or_else(|| format!("MuJoCo said something else: {said}"))?
    }
}

fn plan_of(world: &World, motors: &[Motor], iterations: u64) -> Value {
    let ramp_s = motors.iter().map(Motor::ramp_s).fold(0.0, f64::max);
    let motor = |motor: &Motor| {
        json!({
            "ahead": motor.twist.ahead,
            "turning": motor.twist.turning,
            "lever": motor.lever,
            "radius": motor.radius,
            // JSON has no infinity.
            "acceleration": motor.acceleration.min(f64::MAX),
        })
    };
    let models = world.models.iter().enumerate();
    let moving = models.filter(|(_, model)| !model.is_static);
    let bodies: Vec<String> = moving
        .map(|(index, model)| mjcf::body_name(index, model.canonical_link))
        .collect();
    json!({
        "steps": iterations,
        "ramp_steps": (ramp_s / STEP_SIZE_S).ceil() as u64,
        "bodies": bodies,
        "motors": motors.iter().map(motor).collect::<Vec<Value>>(),
    })
}

/// Returns what the program printed; `None` when it is not what it prints.
fn read(world: &World, said: &Value) -> Option<Result<Measured, String>> {
    let warnings = said["warnings"].as_object()?;
    if !warnings.is_empty() {
        return Some(Err(format!("MuJoCo warns: {}", said["warnings"])));
    }
    let numbers = |value: &Value| -> Option<Vec<f64>> {
        value.as_array()?.iter().map(Value::as_f64).collect()
    };
    let positions = said["positions"].as_array()?.iter();
    let orientations = said["orientations_wxyz"].as_array()?.iter();
    let mut found = Vec::new();
    for ((model, position), orientation) in moving(world).zip(positions).zip(orientations) {
        let [w, x, y, z] = numbers(orientation)?.try_into().ok()?;
        let link = Pose {
            position: numbers(position)?.try_into().ok()?,
            orientation_xyzw: [x, y, z, w],
        };
        found.push(model_position(model, &link));
    }
    Some(Ok(Measured {
        seconds: said["seconds"].as_f64()?,
        positions: found,
        details: json!({
            "version": said["version"],
            "settings": said["settings"],
            "motor_gain": mjcf::MOTOR_GAIN,
            "contacts_at_the_end": said["contacts"],
        }),
        digest: None,
    }))
}
