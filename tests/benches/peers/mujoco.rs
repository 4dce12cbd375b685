//! The scene in `MuJoCo`: a Python environment of the bench's own in the target folder, and one
//! process for each measurement.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sdf::{Pose, World};
use serde_json::{Value, json};
use tests::peers::drive::Motor;
use tests::peers::mjcf;
use tests::processes::Scratch;

use crate::measured::{Measured, STEP_SIZE_S, model_position, moving};

/// What is installed: the release of `MuJoCo` that the figures are about.
const VERSION: &str = "4.0.0";
const PACKAGE: &str = "mujoco==4.0.0";

/// How long the packages may take to arrive, and one measurement.
const INSTALL_PATIENCE: Duration = Duration::from_mins(10);
const RUN_PATIENCE: Duration = Duration::from_hours(1);

/// An installed `MuJoCo`.
pub(crate) struct Mujoco {
    python: PathBuf,
}

impl Mujoco {
    /// Finds it in the target folder, or installs it there.
    ///
    /// # Errors
    /// In one line, why it is not there.
    pub(crate) fn install(scratch: &Scratch) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        // The bench is target/PROFILE/deps/peers-HASH.
        let target = own.ancestors().nth(3).ok_or("no target folder")?;
        let folder = target.join("peers-python");
        let python = folder.join("bin/python");
        let found = Self { python };
        if found.is_right(scratch) {
            return Ok(found);
        }
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--clear"]).arg(&folder);
        say(scratch, &mut make, INSTALL_PATIENCE)?;
        let mut install = Command::new(&found.python);
        install.args(["-m", "pip", "install", "--quiet", "--no-input"]);
        install.args(["--disable-pip-version-check", "--retries", "2", PACKAGE]);
        say(scratch, &mut install, INSTALL_PATIENCE)?;
        if found.is_right(scratch) {
            return Ok(found);
        }
        Err(format!("{PACKAGE} does not work where it was installed"))
    }

    fn is_right(&self, scratch: &Scratch) -> bool {
        let mut command = Command::new(&self.python);
        command.args(["-c", "import mujoco; print(mujoco.__version__)"]);
        say(scratch, &mut command, INSTALL_PATIENCE).is_ok_and(|text| text.trim() == VERSION)
    }

    /// Measures the steps of a scene.
    ///
    /// # Errors
    /// When the scene cannot be written, or `MuJoCo` fails or warns.
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
        let mut command = Command::new(&self.python);
        command.arg(program).arg(scene).arg(plan);
        // Numerical libraries of Python would otherwise bring threads of their own.
        command.env("OMP_NUM_THREADS", "1");
        let said = say(scratch, &mut command, RUN_PATIENCE)?;
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

/// Runs a program to its end and returns what it printed.
///
/// # Errors
/// In one line: it is not there, failed with this last line, or took too long.
fn say(scratch: &Scratch, command: &mut Command, patience: Duration) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let files = ["python.out", "python.err"].map(|file| scratch.path(file));
    let create = |path: &Path| File::create(path).map_err(|error| error.to_string());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(create(&files[0])?)
        .stderr(create(&files[1])?)
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if begin.elapsed() > patience {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("{name} took more than {patience:?}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let [stdout, stderr] = files.map(|file| fs::read_to_string(file).unwrap_or_default());
    if status.success() {
        return Ok(stdout);
    }
    let last = stderr.lines().last().unwrap_or("it says nothing");
    Err(format!("{name} failed ({status}): {last}"))
}
