//! [`Python`]: an environment of a bench's own in the target folder, for engines that are measured
//! beside Phalanx, and programs that take part in a run; packages come from `PyPI`.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::processes::Scratch;
use crate::required;

/// The longest time in which packages arrive.
const INSTALL_PATIENCE: Duration = Duration::from_mins(10);

/// Returns the Python of this machine, or says what is not shown without it.
///
/// # Panics
/// Panics if there is none and [`required::PYTHON`] is set.
pub fn of_machine() -> Option<Command> {
    let found = Command::new("python3").arg("--version").output();
    match found {
        Ok(output) if output.status.success() => Some(Command::new("python3")),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            required::skip(required::PYTHON, &format!("python3: {}", said.trim()));
            None
        }
        Err(error) => {
            required::skip(required::PYTHON, &format!("python3: {error}"));
            None
        }
    }
}

/// A release of a package.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    /// Name on `PyPI`.
    pub name: &'static str,
    /// The release that figures are about.
    pub version: &'static str,
    /// Module that must be there for it to work; empty for one that is a program alone.
    pub module: &'static str,
}

/// A Python environment.
pub struct Python {
    folder: PathBuf,
    program: PathBuf,
}

impl Python {
    /// Finds the environment of a name in the target folder, or makes it.
    ///
    /// # Errors
    /// In one line, why it is not there.
    pub fn prepare(name: &str, scratch: &Scratch) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        // A bench is target/PROFILE/deps/NAME-HASH.
        let target = own.ancestors().nth(3).ok_or("no target folder")?;
        let folder = target.join(name);
        let program = folder.join("bin/python");
        let found = Self { folder, program };
        // Other tests wait here while one makes it.
        let _guard = found.lock()?;
        let mut ask = Command::new(&found.program);
        ask.args(["-c", "import pip"]);
        if say(scratch, &mut ask, INSTALL_PATIENCE).is_ok() {
            return Ok(found);
        }
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--clear"]).arg(&found.folder);
        say(scratch, &mut make, INSTALL_PATIENCE)?;
        Ok(found)
    }

    /// Finds a package, or installs it.
    ///
    /// # Errors
    /// In one line, why it is not there.
    pub fn require(&self, package: &Package, scratch: &Scratch) -> Result<(), String> {
        let _guard = self.lock()?;
        if self.has(package, scratch) {
            return Ok(());
        }
        let requirement = format!("{}=={}", package.name, package.version);
        let mut install = Command::new(&self.program);
        install.args(["-m", "pip", "install", "--quiet", "--no-input"]);
        // Nothing is built from source: a package without a wheel for this machine is left out.
        install.args(["--only-binary", ":all:", "--disable-pip-version-check"]);
        install.args(["--retries", "5", &requirement]);
        say(scratch, &mut install, INSTALL_PATIENCE)?;
        if self.has(package, scratch) {
            return Ok(());
        }
        Err(format!(
            "{requirement} does not work where it was installed"
        ))
    }

    /// Returns the interpreter.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the folder that packages are installed in.
    ///
    /// # Errors
    /// Fails if the environment has none.
    pub fn packages(&self) -> Result<PathBuf, String> {
        let lib = self.folder.join("lib");
        let folders = fs::read_dir(&lib).map_err(|error| error.to_string())?;
        let mut folders = folders
            .flatten()
            .map(|entry| entry.path().join("site-packages"));
        let found = folders.find(|folder| folder.is_dir());
        found.ok_or_else(|| format!("no packages in {}", lib.display()))
    }

    /// Runs a program to its end and returns what it printed.
    ///
    /// # Errors
    /// In one line: it failed with this last line, or took too long.
    pub fn run(
        &self,
        scratch: &Scratch,
        program: &Path,
        arguments: &[&Path],
        timeout: Duration,
    ) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(program).args(arguments);
        // Numerical libraries would otherwise bring threads of their own.
        command.env("OMP_NUM_THREADS", "1");
        say(scratch, &mut command, timeout)
    }

    /// Waits until nobody else changes the environment; it is free again when dropped.
    ///
    /// The file lies beside the folder, which `venv --clear` empties.
    fn lock(&self) -> Result<File, String> {
        let path = self.folder.with_extension("lock");
        let file = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        file.lock().map_err(|error| error.to_string())?;
        Ok(file)
    }

    fn has(&self, package: &Package, scratch: &Scratch) -> bool {
        let Package { name, module, .. } = package;
        let script = format!(
            "import importlib.metadata as found, importlib.util as util\n\
             assert not '{module}' or util.find_spec('{module}')\n\
             print(found.version('{name}'))"
        );
        let mut command = Command::new(&self.program);
        command.args(["-c", &script]);
        say(scratch, &mut command, INSTALL_PATIENCE)
            .is_ok_and(|text| text.trim() == package.version)
    }
}

/// Runs a program to its end and returns what it printed.
fn say(scratch: &Scratch, command: &mut Command, timeout: Duration) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let path = scratch.path("python.err");
    let errors = File::create(&path).map_err(|error| error.to_string())?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let mut output = child.stdout.take().ok_or("no output to read")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.read_to_string(&mut text);
        let _ = sender.send(read.map(|_| text));
    });
    // Output ends with the program that writes it.
    let Ok(printed) = receiver.recv_timeout(timeout) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("{name} took more than {timeout:?}"));
    };
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return printed.map_err(|error| error.to_string());
    }
    let errors = fs::read_to_string(path).unwrap_or_default();
    let last = errors.lines().last().unwrap_or("it says nothing");
    Err(format!("{name} failed ({status}): {last}"))
}
