//! Nodes of ROS 2 on Cyclone DDS, the engine of `rmw_cyclonedds`, from `PyPI`.
//!
//! [`ServiceRig`] is a run with its services of control and a client of them,
//! `cyclone_dds/peer.py`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::json_process::JsonProcess;
use crate::processes::{Process, Scratch, wait_for};
use crate::python::{Package, Python};
use crate::{repository, required, ros_domain};

/// The engine.
const CYCLONE: Package = Package {
    name: "cyclonedds",
    version: "11.0.1",
    module: "cyclonedds",
};
/// Configuration by which it meets nodes of this machine alone.
pub const CONFIGURATION: &str = "<CycloneDDS><Domain id='any'><General><Interfaces>\
     <NetworkInterface address='127.0.0.1'/></Interfaces></General></Domain></CycloneDDS>";

/// Returns a Python that has the engine, in an environment of this name; says so where there is
/// none.
pub fn python(environment: &str, scratch: &Scratch) -> Option<Python> {
    let python = Python::prepare(environment, scratch)
        .and_then(|python| python.require(&CYCLONE, scratch).map(|()| python));
    python
        .inspect_err(|error| required::skip(required::CYCLONE_DDS, error))
        .ok()
}

/// A run, its services, and a client of them; all end with it.
pub struct ServiceRig {
    peer: JsonProcess,
    _control: Process,
    /// The run.
    pub run: Process,
    /// Its files.
    pub scratch: Scratch,
}

impl ServiceRig {
    /// Starts a paused run of a world with further arguments, and services with theirs; says why
    /// there is none where that cannot be.
    ///
    /// # Panics
    /// Panics if it does not begin.
    pub fn start(
        scratch: Scratch,
        world: &Path,
        arguments: &[&str],
        of_services: &[&str],
    ) -> Option<Self> {
        let python = python("ros2-python", &scratch)?;
        let (_, _, said) = scratch.phalanx_says(&["ros2-control", "--domain=0", "no-such-run"]);
        if said.contains("built without ROS 2") {
            required::skip(required::ROS2, &said);
            return None;
        }
        let mut command = scratch.phalanx();
        command.args(["run", "--headless", "--paused"]);
        let run = scratch.start("run", command.args(arguments).arg(world));
        wait_for("a run", || {
            let (code, said, _) = scratch.phalanx_says(&["show", "stats"]);
            code == 0 && said.contains("paused")
        });
        let domain = ros_domain::take();
        let mut command = scratch.phalanx();
        command.args(["ros2-control", "--localhost-only", "--domain", &domain]);
        command.args(["--ros-service-mapping", "cyclonedds"]);
        let control = scratch.start("control", command.args(of_services));
        let program = repository::root().join("tests/src/cyclone_dds/peer.py");
        let mut command = Command::new(python.program());
        command.arg(program).arg(&domain);
        let peer = JsonProcess::start(command.env("CYCLONEDDS_URI", CONFIGURATION));
        Some(Self {
            peer,
            _control: control,
            run,
            scratch,
        })
    }

    /// Tells the client something that has no response yet.
    pub fn tell(&mut self, line: &Value) {
        self.peer.tell(line);
    }

    /// Returns what the client tells next under a name.
    ///
    /// # Panics
    /// Panics if that does not come in time.
    pub fn hear(&mut self, name: &str) -> Value {
        let mut line = self.peer.hear(name, |line| line.get(name).is_some());
        line[name].take()
    }

    /// Calls a service that was not called before by another definition of its request, and
    /// returns its response.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn call_otherwise(&mut self, service: &str) -> Value {
        let request = json!({ "octet": 200 });
        self.tell(&json!({ "service": service, "other": true, "request": request }));
        let response = self.hear("response");
        assert!(!response.is_null(), "{service} does not answer");
        response
    }

    /// Calls a service by its full name, and returns its response.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn call(&mut self, service: &str, request: &Value) -> Value {
        self.tell(&json!({ "service": service, "request": request }));
        let response = self.hear("response");
        assert!(!response.is_null(), "{service} does not answer");
        response
    }
}
