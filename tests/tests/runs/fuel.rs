//! Shows that models and worlds of Fuel come to this machine once, whole and checked, and that all
//! that can go wrong on the way is told. Runs real programs against a server on loopback, each test
//! with a cache of its own.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portable_pty::CommandBuilder;
use serde_json::Value;
use tests::authority::Authority;
use tests::connect_proxy::ConnectProxy;
use tests::fuel_server::{Fault, FuelServer, zip_of};
use tests::processes::{Scratch, binary, wait_for};
use tests::screen::Screen;
use tests::tls_front::TlsFront;

/// A box that falls.
const BOX: &str = "<link name='l'><collision name='c'><geometry><box><size>1 1 1</size></box>\
    </geometry></collision></link>";
/// A tetrahedron.
const MESH: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A server, and a user with empty caches.
struct Setup {
    scratch: Scratch,
    server: FuelServer,
}

/// End of a command.
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Setup {
    fn new() -> Self {
        Self {
            scratch: Scratch::new(),
            server: FuelServer::new(),
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.scratch.phalanx();
        command.args(words).stdin(Stdio::null());
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(name);
        }
        command
    }

    fn environment(&self) -> [(&'static str, String); 4] {
        let path = |name: &str| self.scratch.path(name).display().to_string();
        [
            ("PHALANX_FUEL_CACHE", path("cache")),
            ("GZ_FUEL_CACHE_PATH", path("gazebo")),
            ("PHALANX_FUEL_SERVERS", self.server.url()),
            ("PHALANX_FUEL_TIMEOUT_S", "60".to_owned()),
        ]
    }

    fn says(&self, words: &[&str]) -> Said {
        said(&mut self.command(words))
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.scratch.path(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("a folder can be made");
        std::fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    }

    /// Writes a world that includes these addresses.
    fn world(&self, addresses: &[&str]) -> String {
        self.write("world.sdf", &world(addresses))
    }

    /// Runs a world for a moment without a view.
    fn run(&self, world: &str, flags: &[&str]) -> Said {
        let words = ["run", world, "--headless", "--format", "json"];
        let words = [
            &words[..],
            &["--iterations", "40", "--real-time-factor", "0"],
            flags,
        ];
        self.says(&words.concat())
    }

    /// Returns the folder of a resource in the cache.
    fn cached(&self, resource: &str) -> PathBuf {
        let host = self.server.url().replace("http://", "").replace(':', "_");
        self.scratch.path("cache").join(host).join(resource)
    }
}

fn said(command: &mut Command) -> Said {
    let output = command.output().expect("phalanx starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

impl Said {
    fn done(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.stdout, self.stderr);
        self
    }

    fn summary(self) -> Value {
        let done = self.done();
        serde_json::from_str(&done.stdout).expect("the summary has it")
    }

    /// Checks that the command failed, and what it said.
    fn refused(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {}", self.stderr);
        }
    }
}

/// Returns a text of some megabytes that Deflate leaves large.
fn noise() -> String {
    (0..400_000_u32).fold(String::new(), |mut text, n| {
        let _ = write!(text, "{:x}", n.wrapping_mul(n));
        text
    })
}

fn include(address: &str, name: &str) -> String {
    format!("<include><uri>{address}</uri><name>{name}</name></include>")
}

fn world(addresses: &[&str]) -> String {
    let name = |index: usize| format!("m{index}");
    let includes = addresses.iter().enumerate();
    let includes: String = includes
        .map(|(index, one)| include(one, &name(index)))
        .collect();
    format!("<sdf version='1.9'><world name='w'>{includes}</world></sdf>")
}

fn names(summary: &Value) -> Vec<&str> {
    let performers = summary["performers"]
        .as_array()
        .expect("the summary has it")
        .iter();
    performers
        .map(|one| one["name"].as_str().expect("the summary has it"))
        .collect()
}

#[test]
fn models_come_once_with_all_that_they_name_and_are_there_when_the_server_is_gone() {
    let setup = Setup::new();
    let mesh = setup
        .server
        .at("o/models/Shapes/tip/files/meshes/shape.obj");
    let shape = |uri: &str| {
        format!(
            "<link name='l'><collision name='c'><geometry><mesh><uri>{uri}</uri></mesh></geometry>\
             </collision></link>"
        )
    };
    setup
        .server
        .put_model("o/models/shapes", BOX, &[("meshes/shape.obj", MESH)]);
    // A name of a model that the server does not know, and one of the same owner.
    let own = shape("model://my_own_name/part.obj")
        + &include("model://outer part", "n")
        + "<plugin name='p' filename='f'><uri>model://of nobody/x</uri></plugin>";
    setup
        .server
        .put_model("o/models/inner part", &own, &[("part.obj", MESH)]);
    setup.server.put_model("o/models/outer part", BOX, &[]);
    let inner = setup.server.at("o/models/Inner%20Part");
    let nested = include(&inner, "inner") + &shape(&mesh);
    setup
        .server
        .put_model("o/models/robot", "<static>true</static>", &[]);
    setup.server.put_model("o/models/robot", &nested, &[]);
    setup
        .server
        .put_model("o/models/robot", "<static>true</static>", &[]);
    let path = setup.world(&[
        &setup.server.at("O/models/Robot/2"),
        &inner.replace("%20", " "),
    ]);
    let first = setup.run(&path, &["--secondaries", "2"]).done();
    assert!(first.stderr.contains("fetched"), "{}", first.stderr);
    assert!(!first.stderr.contains("MESH_NOT_FOUND"), "{}", first.stderr);
    let first = first.summary();
    assert_eq!(names(&first), ["m0", "m1"]);
    // One of them is not there.
    assert_eq!(setup.server.take_zip_count(), 5);
    for version in ["robot/2", "inner part/1", "outer part/1", "shapes/1"] {
        assert!(
            setup.cached(&format!("o/models/{version}")).is_dir(),
            "{version}"
        );
    }
    // What its owner does not have is asked for once.
    setup.run(&path, &[]).done();
    assert_eq!(setup.server.take_requests().len(), 0);
    let Setup { scratch, server } = setup;
    let url = server.url();
    drop(server);
    let mut command = scratch.phalanx();
    command.args([
        "run",
        &path,
        "--headless",
        "--format",
        "json",
        "--iterations",
        "40",
    ]);
    command.args(["--real-time-factor", "0", "--secondaries", "1"]);
    command.env("PHALANX_FUEL_CACHE", scratch.path("cache"));
    command.env("PHALANX_FUEL_SERVERS", url);
    let again = said(&mut command).summary();
    assert_eq!(again["digest"], first["digest"]);
}

#[test]
fn a_world_runs_by_its_address_and_its_newest_version_is_kept_until_it_is_asked_for() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    let address = setup.server.at("o/models/box");
    setup
        .server
        .put("o/worlds/w", &[("w.sdf", &world(&[&address]))]);
    let by_address = setup.server.at("o/worlds/W");
    assert_eq!(names(&setup.run(&by_address, &[]).summary()), ["m0"]);
    setup
        .server
        .put("o/worlds/w", &[("w.world", &world(&[&address, &address]))]);
    let file = setup.write("run.toml", &format!("[run]\nworld = \"{by_address}\"\n"));
    assert_eq!(names(&setup.run(&file, &[]).summary()), ["m0"]);
    setup.says(&["check", &by_address]).done();
    let updated = setup.says(&["fuel", "update", &by_address]).done();
    assert!(
        updated.stdout.contains("2 in place of 1"),
        "{}",
        updated.stdout
    );
    assert_eq!(
        names(&setup.run(&file, &["--offline"]).summary()),
        ["m0", "m1"]
    );
    let first = setup.server.at("o/worlds/w/1");
    assert_eq!(names(&setup.run(&first, &["--offline"]).summary()), ["m0"]);
    let updated = setup.says(&["fuel", "update"]).done();
    assert!(
        updated.stdout.contains("2 is the newest"),
        "{}",
        updated.stdout
    );
    let model = setup.run(&address, &[]);
    model.refused(3, &["is a model"]);
}

#[test]
fn a_newest_version_is_asked_for_though_another_is_there() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    setup.server.put_model("o/models/box", BOX, &[]);
    let tip = setup.server.at("o/models/box/tip");
    setup
        .says(&["fuel", "fetch", &setup.server.at("o/models/box/1")])
        .done();
    let path = setup.world(&[&tip]);
    setup.run(&path, &["--offline"]).done();
    assert!(!setup.cached("o/models/box/2").exists());
    setup.run(&path, &[]).done();
    assert!(setup.cached("o/models/box/2").is_dir());
    let listed = setup.says(&["fuel", "list", "--format", "json"]).done();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let facts = |one: &Value| (one["version"].as_u64(), one["tip"].as_bool());
    let facts: Vec<_> = listed.as_array().unwrap().iter().map(facts).collect();
    assert_eq!(facts, [(Some(1), Some(false)), (Some(2), Some(true))]);
    let removed = setup.says(&["fuel", "remove", &tip]).done();
    assert_eq!(removed.stdout.lines().count(), 2);
    setup
        .says(&["fuel", "remove", &tip])
        .refused(1, &["was not fetched"]);
    setup
        .run(&path, &["--offline"])
        .refused(3, &["nothing is fetched offline", "world.sdf:1"]);
}

#[test]
fn what_gazebo_has_fetched_is_used() {
    let setup = Setup::new();
    let place = "gazebo/fuel.ignitionrobotics.org/o/models/box/3";
    let config = "<model><sdf version='1.9'>model.sdf</sdf></model>";
    setup.write(&format!("{place}/model.config"), config);
    let model = format!("<sdf version='1.9'><model name='m'>{BOX}</model></sdf>");
    setup.write(&format!("{place}/model.sdf"), &model);
    let path = setup.world(&["https://fuel.gazebosim.org/1.0/O/models/Box", "model://box"]);
    assert_eq!(names(&setup.run(&path, &[]).summary()), ["m0", "m1"]);
    // It is what the address means from then on, whatever Gazebo fetches later.
    let newer = place.replace("/3", "/4");
    setup.write(&format!("{newer}/model.config"), config);
    setup.write(&format!("{newer}/model.sdf"), "<sdf version='1.9'/>");
    let path = setup.world(&["https://fuel.gazebosim.org/1.0/o/models/box"]);
    assert_eq!(names(&setup.run(&path, &[]).summary()), ["m0"]);
}

#[test]
fn an_update_finds_the_newest_version_in_gazebos_cache() {
    let setup = Setup::new();
    for _ in 0..2 {
        setup.server.put_model("o/models/box", BOX, &[]);
    }
    let host = setup.server.url().replace("http://", "").replace(':', "_");
    let place = format!("gazebo/{host}/o/models/box/2");
    let config = "<model><sdf version='1.9'>model.sdf</sdf></model>";
    setup.write(&format!("{place}/model.config"), config);
    let model = format!("<sdf version='1.9'><model name='m'>{BOX}</model></sdf>");
    setup.write(&format!("{place}/model.sdf"), &model);
    let tip = setup.server.at("o/models/box");
    setup
        .says(&["fuel", "fetch", &setup.server.at("o/models/box/1")])
        .done();
    let gone = setup.server.at("o/models/gone");
    let updated = setup.says(&["fuel", "update", &gone, &tip]);
    updated.refused(1, &["has no model"]);
    assert!(updated.stdout.contains("box: 2"), "{}", updated.stdout);
    let fetched = setup.says(&["fuel", "fetch", &tip]).done();
    assert!(fetched.stdout.contains(&place), "{}", fetched.stdout);
}

#[test]
fn no_process_of_a_run_is_given_a_token() {
    let setup = Setup::new();
    let world = setup.world(&[]);
    let seen = setup.scratch.path("seen").display().to_string();
    let script = format!("env > {seen}.new; mv {seen}.new {seen}; sleep 60");
    let program = format!("name = \"look\"\ncommand = \"sh\"\nargs = [\"-c\", \"{script}\"]");
    let text = format!("[run]\nworld = \"{world}\"\n[[program]]\n{program}\n");
    let file = setup.write("run.toml", &text);
    let mut command = setup.command(&["run", &file, "--headless"]);
    command.env("PHALANX_FUEL_TOKEN", "a-secret");
    let _run = setup.scratch.start("run", &mut command);
    wait_for("the program has looked", || Path::new(&seen).is_file());
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("PHALANX_FUEL_CACHE="), "{seen}");
    assert!(!seen.contains("a-secret"), "{seen}");
}

/// Checks that a run is refused with a reason, and that nothing of the model is kept.
fn check_broken(setup: &Setup, parts: &[&str]) {
    check_broken_within(setup, "60", parts);
}

/// The same with a time in which the server says something \[s\].
fn check_broken_within(setup: &Setup, seconds: &str, parts: &[&str]) {
    let path = setup.world(&[&setup.server.at("o/models/box")]);
    let words = ["run", &path, "--headless"];
    let mut command = setup.command(&words);
    command.env("PHALANX_FUEL_TIMEOUT_S", seconds);
    said(&mut command).refused(3, &[&["world.sdf:1", "/1.0/o/models/box"], parts].concat());
    assert!(!setup.cached("o/models/box/1").exists());
    assert!(!setup.cached("o/models/box/tip").exists());
    let partial = std::fs::read_dir(setup.scratch.path("cache/.partial"));
    assert_eq!(
        partial.map_or(0, Iterator::count),
        0,
        "nothing is left half done"
    );
}

#[test]
fn a_server_that_fails_is_told() {
    let setup = Setup::new();
    check_broken(&setup, &["has no model"]);
    setup.server.put_model("o/models/box", BOX, &[]);
    for (fault, tries, part) in [
        (Fault::Status(403), 1, "private (status 403)"),
        (Fault::Status(418), 1, "status 418"),
        (Fault::Status(500), 3, "status 500"),
        (Fault::Truncated, 3, "bytes"),
        (Fault::Silent, 3, "was silent for 0.5 s"),
        (Fault::Endless, 1, "sends more than 4096 bytes"),
        (
            Fault::Redirect("ftp://a".to_owned()),
            1,
            "no address of the web",
        ),
        (
            Fault::Redirect(setup.server.url()),
            6,
            "one redirect too many",
        ),
        (
            Fault::Link("nowhere".to_owned()),
            1,
            "no address of the web",
        ),
    ] {
        setup.server.take_requests();
        setup.server.set_fault(fault.clone());
        let seconds = if fault == Fault::Silent { "0.5" } else { "60" };
        check_broken_within(&setup, seconds, &[part]);
        // One that was given up may still be read.
        wait_for("all requests are read", || {
            setup.server.zip_count() >= tries
        });
        assert_eq!(setup.server.take_zip_count(), tries, "{fault:?}");
    }
    setup.server.set_fault(Fault::Busy(2));
    let path = setup.world(&[&setup.server.at("o/models/box")]);
    setup.run(&path, &[]).done();
}

#[test]
fn a_server_that_is_gone_or_unknown_is_told() {
    let mut setup = Setup::new();
    let path = setup.world(&["http://127.0.0.1:1/1.0/o/models/box"]);
    setup.run(&path, &[]).refused(
        3,
        &["is not asked", "PHALANX_FUEL_SERVERS=http://127.0.0.1:1"],
    );
    let address = setup.server.at("o/models/box");
    let gone = std::mem::take(&mut setup.server);
    let path = setup.world(&[&address]);
    let url = gone.url();
    drop(gone);
    let mut command = setup.command(&["run", &path, "--headless"]);
    command.env("PHALANX_FUEL_SERVERS", &url);
    said(&mut command).refused(3, &["cannot fetch", "cannot reach 127.0.0.1", "try again"]);
    // What is only drawn, or a shape, is no reason not to run.
    let uri = format!("{address}/1/files/shape.obj");
    let mesh = BOX.replace(
        "<box><size>1 1 1</size></box>",
        &format!("<mesh><uri>{uri}</uri></mesh>"),
    );
    let text = world(&[]).replace(
        "</world>",
        &format!("<model name='m'>{mesh}</model></world>"),
    );
    let path = setup.write("mesh.sdf", &text);
    let mut command = setup.command(&["run", &path, "--headless", "--iterations", "5"]);
    command.env("PHALANX_FUEL_SERVERS", &url);
    let ran = said(&mut command).done();
    assert!(
        ran.stderr.contains("warning: ") && ran.stderr.contains("mesh.sdf:1"),
        "{}",
        ran.stderr
    );
    // Whoever makes a machine ready for runs offline learns of it.
    let mut command = setup.command(&["fuel", "fetch", &path]);
    command.env("PHALANX_FUEL_SERVERS", &url);
    said(&mut command).refused(1, &["warning: ", "mesh.sdf:1"]);
}

#[test]
fn a_mesh_that_has_changed_is_refused() {
    let setup = Setup::new();
    setup
        .server
        .put_model("o/models/shapes", BOX, &[("shape.obj", MESH)]);
    let uri = setup.server.at("o/models/shapes/1/files/shape.obj");
    let shape = format!("<mesh><uri>{uri}</uri></mesh>");
    let model = BOX.replace("<box><size>1 1 1</size></box>", &shape);
    let model = format!("<model name='m'>{model}</model></world>");
    let path = setup.write("mesh.sdf", &world(&[]).replace("</world>", &model));
    setup.run(&path, &[]).done();
    let file = setup.cached("o/models/shapes/1/shape.obj");
    std::fs::write(&file, MESH.replace("v 0 0 1", "v 0 0 2")).unwrap();
    for flags in [&["--offline"][..], &[]] {
        let parts = ["mesh.sdf:1 names it", "shape.obj has changed"];
        setup.run(&path, flags).refused(3, &parts);
    }
}

#[test]
fn zips_that_are_broken_or_made_to_harm_are_refused() {
    let config = (
        "model.config",
        "<model><sdf version='1.9'>model.sdf</sdf></model>",
    );
    let whole = zip_of(&[config, ("model.sdf", BOX), ("xx/evil", "x")]);
    let renamed = |name: &[u8; 7]| {
        let mut zip = whole.clone();
        for at in 0..zip.len() - 7 {
            if &zip[at..at + 7] == b"xx/evil" {
                zip[at..at + 7].copy_from_slice(name);
            }
        }
        zip
    };
    let mut damaged = whole.clone();
    damaged[60] ^= 0x55;
    // It says that its two files have 3 GiB each, or that one has.
    let lying = |names: &[&str]| {
        let zeros = "0".repeat(5 << 20);
        let files: Vec<_> = names.iter().map(|name| (*name, zeros.as_str())).collect();
        let mut zip = zip_of(&[&[config], &files[..]].concat());
        let (real, said) = ((5_u32 << 20).to_le_bytes(), (3_u32 << 30).to_le_bytes());
        for at in 0..zip.len() - 4 {
            if zip[at..at + 4] == real {
                zip[at..at + 4].copy_from_slice(&said);
            }
        }
        zip
    };
    for (zip, part) in [
        (whole[..whole.len() / 2].to_vec(), "damaged"),
        (b"<html>hello</html>".to_vec(), "damaged"),
        (damaged, "damaged"),
        (renamed(b"../evil"), "no path below its folder"),
        (renamed(b"/a/evil"), "no path below its folder"),
        (zip_of(&[("model.sdf", BOX)]), "it has no model.config"),
        (lying(&["a", "b"]), "its files have more than 4096 MiB"),
        (lying(&["a"]), "\"a\" is shorter than it says"),
    ] {
        let setup = Setup::new();
        setup.server.put_zip("o/models/box", zip);
        check_broken(&setup, &["nothing of it was kept", part]);
        assert!(!setup.scratch.path("cache/evil").exists());
    }
}

#[test]
fn a_file_that_has_changed_is_noticed_and_replaced_on_demand() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    let address = setup.server.at("o/models/box");
    let path = setup.world(&[&address]);
    setup.run(&path, &[]).done();
    let verified = setup.says(&["fuel", "verify"]).done();
    assert_eq!(verified.stdout, "1 of 1 are as they were fetched\n");
    let file = setup.cached("o/models/box/1/model.sdf");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("1 1 1", "1 1 2")).unwrap();
    setup
        .run(&path, &[])
        .refused(3, &["model.sdf has changed", "fuel fetch --again"]);
    let verified = setup.says(&["fuel", "verify"]);
    assert_eq!(verified.code, 1);
    assert!(verified.stdout.contains("0 of 1"), "{}", verified.stdout);
    setup.server.put_model("o/models/box", BOX, &[]);
    let fetched = setup
        .says(&["fuel", "fetch", "--again", &address])
        .done()
        .stdout;
    assert!(fetched.contains("box/1 "), "{fetched}");
    setup.run(&path, &[]).done();
    let added = file.with_file_name("a.sdf");
    std::fs::write(&added, text).unwrap();
    setup.run(&path, &[]).refused(3, &["a.sdf was added"]);
    std::fs::remove_file(&added).unwrap();
    // A folder without its record was left half-way.
    let record = setup.cached("o/models/box/1.json");
    std::fs::remove_file(&record).unwrap();
    setup
        .run(&path, &["--offline"])
        .refused(3, &["in no cache"]);
    setup.run(&path, &[]).done();
    assert!(record.is_file());
    let listed = setup.says(&["fuel", "list", "--format", "json"]).done();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let sha256 = listed[0]["sha256"].as_str().unwrap();
    setup
        .says(&["fuel", "fetch", "--sha256", sha256, &address])
        .done();
    setup.says(&["fuel", "remove", "--all"]).done();
    setup
        .says(&["fuel", "fetch", "--sha256", sha256, &address])
        .done();
    let other = "0".repeat(64);
    for again in [&["--again"][..], &[]] {
        let words = [&["fuel", "fetch", "--sha256", &other, &address][..], again].concat();
        setup.says(&words).refused(3, &["has the SHA-256", &other]);
    }
    setup.run(&path, &["--offline"]).done();
}

#[test]
fn processes_that_fetch_at_once_wait_for_each_other() {
    let setup = Setup::new();
    let noise = noise();
    setup
        .server
        .put_model("o/models/box", BOX, &[("noise", &noise)]);
    let address = setup.server.at("o/models/box");
    let mut all = Vec::new();
    for _ in 0..3 {
        let mut command = setup.command(&["fuel", "fetch", &address]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        all.push(command.spawn().unwrap());
    }
    for one in all {
        let output = one.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
    assert_eq!(setup.server.take_zip_count(), 1);
    setup.says(&["fuel", "verify"]).done();
}

#[test]
fn a_disk_that_is_full_is_told_and_leaves_nothing() {
    let setup = Setup::new();
    let large = "x".repeat(200_000);
    setup
        .server
        .put_model("o/models/box", BOX, &[("large", &large)]);
    let address = setup.server.at("o/models/box");
    let mut shell = Command::new("bash");
    // No file may have more than 64 blocks of 1 KiB; without the trap a signal would end it.
    let line = "trap '' XFSZ; ulimit -f 64; exec \"$0\" fuel fetch \"$1\"";
    shell
        .args(["-c", line])
        .arg(binary("phalanx"))
        .arg(&address);
    for (name, value) in setup.environment() {
        shell.env(name, value);
    }
    said(&mut shell).refused(3, &["cannot write", "large", "File too large"]);
    assert!(!setup.cached("o/models/box/1").exists());
    let mut command = setup.command(&["fuel", "fetch", &address]);
    command.env("PHALANX_FUEL_CACHE", "/proc/nowhere");
    said(&mut command).refused(3, &["cannot use /proc/nowhere", "PHALANX_FUEL_CACHE"]);
}

#[test]
fn a_token_goes_to_its_server_alone_and_is_never_shown() {
    let setup = Setup::new();
    let other = FuelServer::new();
    for server in [&setup.server, &other] {
        server.put_model("o/models/box", BOX, &[]);
    }
    let host = setup.server.url().replace("http://", "");
    for fault in [Fault::Link(other.url()), Fault::Redirect(other.url())] {
        setup.server.set_fault(fault);
        let words = ["fuel", "fetch", "--again", &setup.server.at("o/models/box")];
        let mut command = setup.command(&words);
        command.env("PHALANX_FUEL_TOKEN", format!("{host}=s3cret"));
        let said = said(&mut command).done();
        assert!(!(said.stdout + &said.stderr).contains("s3cret"));
        let tokens = |server: &FuelServer| -> Vec<Option<String>> {
            server
                .take_requests()
                .into_iter()
                .map(|one| one.token)
                .collect()
        };
        assert_eq!(tokens(&setup.server), [Some("s3cret".to_owned())]);
        assert_eq!(tokens(&other), [None]);
    }
    let mut command = setup.command(&["fuel", "fetch", &setup.server.at("o/models/box")]);
    command.env("PHALANX_FUEL_TOKEN", "a.org=s3cret");
    let refused = said(&mut command);
    refused.refused(3, &["entry 1 of PHALANX_FUEL_TOKEN"]);
    assert!(!refused.stderr.contains("s3cret"));
}

#[test]
fn a_check_tells_what_a_run_would_fetch() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    let path = setup.world(&[
        &setup.server.at("o/models/box"),
        &setup.server.at("o/models/none"),
    ]);
    let checked = setup.says(&["check", &path]);
    assert_eq!(checked.code, 3);
    for part in [
        "a run fetches",
        "models/box: ",
        "has no model",
        "2 to fetch",
    ] {
        assert!(
            checked.stdout.contains(part),
            "no {part:?} in {}",
            checked.stdout
        );
    }
    assert_eq!(setup.server.take_zip_count(), 0);
    setup
        .says(&["fuel", "fetch", &setup.server.at("o/models/box")])
        .done();
    setup.server.take_requests();
    let checked = setup.says(&["check", &path, "--format", "json", "--offline"]);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    let states = |one: &Value| (one["state"].clone(), one["version"].clone());
    let states: Vec<_> = checked["fuel"]
        .as_array()
        .unwrap()
        .iter()
        .map(states)
        .collect();
    let expected = [
        ("present".into(), 1.into()),
        ("missing".into(), Value::Null),
    ];
    assert_eq!(states, expected);
    assert_eq!(setup.server.take_requests(), []);
}

#[test]
fn what_is_spawned_names_cached_models_only_if_the_run_allows_it() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    setup.server.put_model("o/models/other", BOX, &[]);
    let address = setup.server.at("o/models/box");
    setup.says(&["fuel", "fetch", &address]).done();
    setup.server.take_requests();
    let spawn = |iteration: u64, address: &str| {
        let sdf = format!("<sdf version='1.9'>{}</sdf>", include(address, "spawned"));
        let line = serde_json::json!({ "iteration": iteration, "command": { "spawn": {
            "sdf": sdf, "file": null, "name": null, "allow_renaming": true,
            "pose": [0, 0, 9, 0, 0, 0, 1], "relative_to": null, "world": null,
        } } });
        format!("{line}\n")
    };
    let text = spawn(1, &address) + &spawn(2, &setup.server.at("o/models/other"));
    let commands = setup.write("commands.jsonl", &text);
    let path = setup.world(&[]);
    let events = setup.scratch.path("events.jsonl").display().to_string();
    let flags = [
        "--commands",
        &commands,
        "--events",
        &events,
        "--spawn-from-fuel",
    ];
    let told = || std::fs::read_to_string(&events).unwrap();
    let plain = setup.run(&path, &flags[..4]).summary();
    assert!(told().contains("--spawn-from-fuel"), "{}", told());
    assert_eq!(names(&plain), [""; 0]);
    let allowed = setup.run(&path, &flags).summary();
    assert!(told().contains("phalanx fuel fetch"), "{}", told());
    assert_eq!(names(&allowed), ["spawned"]);
    assert_eq!(setup.server.take_requests(), []);
}

#[test]
fn a_terminal_shows_how_far_it_is() {
    let setup = Setup::new();
    let noise = noise();
    setup
        .server
        .put_model("o/models/box", BOX, &[("noise", &noise)]);
    let mut command = CommandBuilder::new(binary("phalanx"));
    command.args(["fuel", "fetch", &setup.server.at("o/models/box")]);
    command.env("TERM", "xterm-256color");
    for (name, value) in setup.environment() {
        command.env(name, value);
    }
    let mut screen = Screen::start(command, 24, 200);
    screen.wait_for("fetched http");
    assert_eq!(screen.wait().0, 0);
    let shown = screen.contents();
    assert!(
        !shown.contains('%'),
        "the line of progress is gone: {shown}"
    );
}

/// Years between which certificates are valid.
const NOW: [i32; 2] = [2000, 4000];

/// Fetches the model of a server and returns what was said; nothing but the variables that are
/// given says how servers are reached.
fn fetch(setup: &Setup, url: &str, variables: &[(&str, &str)]) -> Said {
    let model = format!("{url}/1.0/o/models/box");
    let mut command = setup.command(&["fuel", "fetch", &model]);
    for name in [
        "SSL_CERT_FILE",
        "https_proxy",
        "HTTPS_PROXY",
        "no_proxy",
        "NO_PROXY",
    ] {
        command.env_remove(name);
    }
    command.env("PHALANX_FUEL_SERVERS", url);
    command.envs(variables.iter().copied());
    said(&mut command)
}

/// Checks that a model was refused in one try, with reason and remedy, and that nothing is kept.
fn check_untrusted(setup: &Setup, refused: &Said, parts: &[&str]) {
    refused.refused(
        3,
        &[&["cannot fetch http", "/1.0/o/models/box"], parts].concat(),
    );
    assert!(!refused.stderr.contains("try again"), "{}", refused.stderr);
    assert_eq!(setup.server.take_requests(), [], "nothing was asked for");
    let cache = setup.scratch.path("cache");
    let mut kept = walk(&cache);
    kept.retain(|file| file.file_name().is_some_and(|name| name != ".lock"));
    assert!(kept.is_empty(), "{kept:?}");
}

/// Returns all files in a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn a_server_is_trusted_by_the_certificates_that_the_user_names() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    let authority = Authority::new("Authority of the test");
    let trusted = setup.write("trusted.pem", authority.pem());
    let front = TlsFront::new(setup.server.address(), authority.sign("127.0.0.1", NOW));
    let fetch = |file: Option<&str>| {
        let named = file.map(|file| ("SSL_CERT_FILE", file));
        fetch(&setup, &front.url(), named.as_slice())
    };
    let parts = [
        "the certificate of 127.0.0.1",
        "is not trusted",
        "SSL_CERT_FILE takes a file",
    ];
    check_untrusted(&setup, &fetch(None), &parts);
    let stranger = Authority::new("Another authority");
    let other = setup.write("other.pem", stranger.pem());
    let parts = [
        "is not trusted",
        "add that one's certificate to",
        &other,
        "UnknownIssuer",
    ];
    check_untrusted(&setup, &fetch(Some(&other)), &parts);
    // A file without certificates, and one that is not there.
    let empty = setup.write("empty.pem", "nothing");
    for (file, part) in [
        (&*empty, "no certificate in it"),
        ("/nowhere.pem", "No such file"),
    ] {
        let refused = fetch(Some(file));
        assert_ne!(refused.code, 0);
        refused.refused(refused.code, &["SSL_CERT_FILE", file, part]);
    }
    // Several authorities in one file, as companies and systems have them.
    let both = setup.write("both.pem", &[stranger.pem(), authority.pem()].concat());
    for file in [&trusted, &both] {
        fetch(Some(file)).done();
        assert_eq!(setup.server.take_zip_count(), 1);
        let world = setup.world(&[&format!("{}/1.0/o/models/box", front.url())]);
        // What is in the cache needs no trust.
        let mut command = setup.command(&["check", &world]);
        command.env("PHALANX_FUEL_SERVERS", front.url());
        said(&mut command).done();
        setup.says(&["fuel", "remove", "--all"]).done();
        setup.server.take_requests();
    }
}

#[test]
fn a_certificate_that_is_no_good_is_told_with_a_remedy() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    let authority = Authority::new("Authority of the test");
    let trusted = setup.write("trusted.pem", authority.pem());
    let variables = [("SSL_CERT_FILE", &*trusted)];
    for (name, years, parts) in [
        (
            "127.0.0.1",
            [2000, 2020],
            ["the clock of this machine", "expired"],
        ),
        (
            "127.0.0.1",
            [3000, 4000],
            ["the clock of this machine", "not valid yet"],
        ),
        (
            "fuel.example.org",
            NOW,
            ["by a name that its certificate has", "fuel.example.org"],
        ),
    ] {
        let front = TlsFront::new(setup.server.address(), authority.sign(name, years));
        let refused = fetch(&setup, &front.url(), &variables);
        let parts = [
            &["the certificate of 127.0.0.1", "is not trusted"][..],
            &parts,
        ]
        .concat();
        check_untrusted(&setup, &refused, &parts);
    }
}

#[test]
fn servers_with_tls_and_without_are_told_apart() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    let authority = Authority::new("Authority of the test");
    let trusted = setup.write("trusted.pem", authority.pem());
    let variables = [("SSL_CERT_FILE", &*trusted)];
    let front = TlsFront::new(setup.server.address(), authority.sign("127.0.0.1", NOW));
    let plain = front.url().replace("https://", "http://");
    let refused = fetch(&setup, &plain, &variables);
    check_untrusted(
        &setup,
        &refused,
        &["does not speak HTTP", "begin with https://"],
    );
    let encrypted = setup.server.url().replace("http://", "https://");
    let refused = fetch(&setup, &encrypted, &variables);
    check_untrusted(
        &setup,
        &refused,
        &["does not speak TLS", "begin with http://"],
    );
    // Many servers of TLS know enough of HTTP to say that it is wrong.
    setup.server.set_fault(Fault::Status(400));
    let refused = fetch(&setup, &setup.server.url(), &variables);
    refused.refused(3, &["status 400", "begin with https://"]);
}

#[test]
fn models_come_through_a_proxy_that_looks_into_what_is_encrypted() {
    let setup = Setup::new();
    setup.server.put_model("o/models/box", BOX, &[]);
    let company = Authority::new("Proxy of the company");
    let trusted = setup.write("trusted.pem", company.pem());
    // It shows a certificate of its own in the place of that of Gazebo's server.
    let identity = company.sign("fuel.gazebosim.org", NOW);
    let front = TlsFront::new(setup.server.address(), identity);
    let proxy = ConnectProxy::new(front.address());
    let by_proxy = format!("http://user:word@{}", proxy.address());
    let url = "https://fuel.gazebosim.org";
    let variables = [("HTTPS_PROXY", &*by_proxy), ("SSL_CERT_FILE", &*trusted)];
    let refused = fetch(&setup, url, &variables[..1]);
    let parts = [
        "certificate of fuel.gazebosim.org is not trusted",
        "such as that of a proxy",
    ];
    check_untrusted(&setup, &refused, &parts);
    fetch(&setup, url, &variables).done();
    assert_eq!(setup.server.take_zip_count(), 1);
    let asked = "CONNECT fuel.gazebosim.org:443 HTTP/1.1 Proxy-Authorization: Basic dXNlcjp3b3Jk";
    assert!(
        proxy.asked().iter().all(|one| one == asked),
        "{:?}",
        proxy.asked()
    );
}
