//! Shows that what comes into a run reads what it may, that a recording holds what was used, and
//! that names act on no terminal. Real runs are given texts, files and names of all kinds.

use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::symlink;
use std::path::Path;

use recording::Recording;
use serde_json::json;
use tests::processes::Scratch;

/// Words in every file that must not be reached.
const PRIVATE: &str = "the-private-words";

const PART: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 2 3 4\nf 1 3 4\n";

fn put(scratch: &Scratch, name: &str, text: &str) {
    let file = scratch.path(name);
    let folder = file.parent().expect("files are in folders");
    std::fs::create_dir_all(folder).expect("a folder can be made");
    std::fs::write(file, text).expect("a file can be written");
}

fn model(name: &str, content: &str) -> String {
    format!("<sdf version='1.9'><model name='{name}'>{content}</model></sdf>")
}

fn include(uri: &str) -> String {
    format!("<link name='own'/><include><uri>{uri}</uri></include>")
}

fn collision(shape: &str) -> String {
    format!("<link name='own'><collision name='c'><geometry>{shape}</geometry></collision></link>")
}

fn mesh(uri: &str) -> String {
    collision(&format!("<mesh><uri>{uri}</uri></mesh>"))
}

/// A document of glTF with one triangle, whose numbers are in a file of this name.
fn gltf(buffer: &str) -> String {
    let accessor = |kind: &str, number: u32, count: u32| {
        json!({ "bufferView": 0, "componentType": number, "count": count, "type": kind,
            "min": [0, 0, 0], "max": [1, 1, 1] })
    };
    let document = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "buffers": [{ "uri": buffer, "byteLength": 36 }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "accessors": [accessor("VEC3", 5126, 3)],
    });
    document.to_string()
}

/// The three corners of a triangle.
fn corners() -> Vec<u8> {
    let corners = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    corners
        .as_flattened()
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Makes a world, models beside it and in a folder for models, and private files elsewhere.
fn furnish(scratch: &Scratch) {
    let ramp = tests::repository::root().join("worlds/ramp.sdf");
    let ramp = std::fs::read_to_string(ramp).expect("the world is there");
    put(scratch, "worlds/ramp.sdf", &ramp);
    put(scratch, "worlds/meshes/beside.obj", PART);
    put(scratch, "models/part.obj", PART);
    put(
        scratch,
        "models/part.sdf",
        &model("part", &mesh("part.obj")),
    );
    put(scratch, "models/letter.txt", PRIVATE);
    put(scratch, "models/good.gltf", &gltf("good.bin"));
    std::fs::write(scratch.path("models/good.bin"), corners()).expect("a file can be written");
    put(scratch, "models/bad/bad.gltf", &gltf("../good.bin"));
    put(scratch, "models/bad/worse.gltf", &gltf("link.bin"));
    put(scratch, "private/key", PRIVATE);
    put(
        scratch,
        "private/private.sdf",
        &model(PRIVATE, "<link name='l'/>"),
    );
    put(scratch, "private/private.obj", PART);
    symlink("../private/private.sdf", scratch.path("models/link.sdf")).expect("a link");
    let private = scratch.path("private/private.obj");
    symlink(private, scratch.path("models/bad/link.bin")).expect("a link");
    let fifo = std::process::Command::new("mkfifo")
        .arg(scratch.path("models/pipe"))
        .status();
    assert!(fifo.expect("mkfifo is there").success());
}

/// Returns a line of a file of commands that spawns a model, from a file of that name.
fn spawn(iteration: u64, sdf: &str, file: Option<&Path>) -> String {
    let line = json!({ "iteration": iteration, "command": { "spawn": {
        "sdf": sdf, "file": file, "name": null, "allow_renaming": false,
        "pose": [0, 0, 9, 0, 0, 0, 1],
        "relative_to": null, "world": null,
    } } });
    format!("{line}\n")
}

/// Does such a run to its end, and returns what it said.
fn run(scratch: &Scratch, commands: &str, flags: &[&str]) -> String {
    put(scratch, "commands.jsonl", commands);
    let path = |name: &str| scratch.path(name).to_string_lossy().into_owned();
    let output = scratch
        .phalanx()
        .args([
            "run",
            &path("worlds/ramp.sdf"),
            "--headless",
            "--iterations",
            "40",
        ])
        .args([
            "--real-time-factor",
            "0",
            "--commands",
            &path("commands.jsonl"),
        ])
        .args(["--events", &path("events.jsonl")])
        .args(flags)
        .env("PHALANX_RESOURCE_PATH", scratch.path("models"))
        .output()
        .expect("phalanx starts");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{said}");
    std::fs::read_to_string(scratch.path("events.jsonl")).expect("events are written") + &said
}

#[test]
fn a_recording_holds_the_files_that_were_used_and_no_other() {
    let scratch = Scratch::new();
    furnish(&scratch);
    let own = scratch.path("worlds/own.sdf");
    let commands = [
        spawn(1, &model("included", &include("model://part.sdf")), None),
        spawn(2, &model("beside", &mesh("meshes/beside.obj")), Some(&own)),
        spawn(3, &model("buffered", &mesh("model://good.gltf")), None),
        // None of these has what it names, and the models of meshes come without a shape.
        spawn(4, &model("letter", &include("model://letter.txt")), None),
        spawn(5, &model("shapeless", &mesh("model://letter.txt")), None),
        spawn(
            6,
            &model(
                "picture",
                &collision("<heightmap><uri>letter.txt</uri></heightmap>"),
            ),
            None,
        ),
        spawn(7, &model("bad", &mesh("model://bad/bad.gltf")), None),
        spawn(8, &model("worse", &mesh("model://bad/worse.gltf")), None),
    ];
    let path = scratch.path("run.mcap");
    let record = path.to_string_lossy().into_owned();
    let said = run(&scratch, &commands.concat(), &["--record", &record]);
    let file = BufReader::new(File::open(&path).expect("there is a recording"));
    let mut recording = Recording::open(file).expect("it is a recording");
    let files = recording.library().expect("it has files");
    let mut files: Vec<(&str, bool)> = files
        .iter()
        .map(|file| (file.key.uri.as_str(), file.key.is_data))
        .collect();
    files.sort_unstable();
    let expected = [
        ("good.bin", true),
        ("meshes/beside.obj", true),
        ("model://good.gltf", true),
        ("model://part.sdf", false),
        ("part.obj", true),
    ];
    assert_eq!(files, expected, "{said}");
    let bytes = std::fs::read(&path).expect("there is a recording");
    let holds = bytes
        .windows(PRIVATE.len())
        .any(|part| part == PRIVATE.as_bytes());
    assert!(!holds, "it holds what was refused");
    let (code, _, told) = scratch.phalanx_says(&["replay", &record, "--verify"]);
    assert_eq!(code, 0, "{told}");
}

#[test]
fn spawned_models_read_no_files_outside_their_folders() {
    let scratch = Scratch::new();
    furnish(&scratch);
    let private = scratch.path("private");
    let at = |name: &str| private.join(name).display().to_string();
    let from = private.join("text.sdf");
    let gone = |uri: &str| {
        uri.replace("private.", "gone.")
            .replace("link.", "nothing.")
    };
    let uris = [
        at("private.sdf"),
        format!("file://{}", at("private.sdf")),
        "../private/private.sdf".to_owned(),
        "model://../private/private.sdf".to_owned(),
        "private.sdf".to_owned(),
        "model://link.sdf".to_owned(),
        "/dev/zero".to_owned(),
        "pipe".to_owned(),
        "file:///proc/self/environ".to_owned(),
    ];
    let names = |uri: &str| [uri.to_owned(), gone(uri)];
    let lines = uris
        .iter()
        .flat_map(|uri| names(uri))
        .zip(1..)
        .map(|(uri, iteration)| spawn(iteration, &model("m", &include(&uri)), Some(&from)));
    let said = run(&scratch, &lines.collect::<String>(), &[]);
    assert!(!said.contains(PRIVATE), "{said}");
    let refusals: Vec<String> = said
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|event| event["kind"] == "command")
        .map(|event| event["text"].as_str().unwrap_or_default().to_owned())
        .collect();
    for uri in &uris {
        let why = |uri: &str| {
            let one = refusals
                .iter()
                .find(|text| text.contains(&format!("{uri:?}")));
            let one = one.unwrap_or_else(|| panic!("nothing is said of {uri}: {said}"));
            one.split_once(&format!("{uri:?}"))
                .map(|(_, why)| why.to_owned())
        };
        let other = why(&gone(uri)).map(|why| why.replace("nothing.sdf", "link.sdf"));
        assert_eq!(why(uri), other, "{uri}");
    }
}

#[test]
fn a_file_of_commands_without_an_end_is_refused() {
    let scratch = Scratch::new();
    let arguments = [
        "run",
        "worlds/ramp.sdf",
        "--headless",
        "--commands",
        "/dev/zero",
    ];
    let (code, _, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 3, "{stderr}");
    assert!(
        stderr.contains("cannot read commands from /dev/zero"),
        "{stderr}"
    );
}

/// Characters that act on a terminal.
const ACTING: [&str; 6] = [
    "\u{1b}]0;x\u{7}",
    "\u{9b}31m",
    "\u{7f}",
    "\u{202e}",
    "\u{2066}",
    "\r",
];

fn check_shown(what: &[&str], shown: &str) {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let acts = |c: char| acts(c) || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{2066}';
    let text = shown.replace("\r\n", "\n");
    assert!(!text.chars().any(acts), "{what:?}: {shown:?}");
}

#[test]
fn names_of_a_run_act_on_no_terminal() {
    let scratch = Scratch::new();
    let name = ACTING.concat();
    let ball = "<link name='l'><collision name='c'><geometry><sphere><radius>0.2</radius></sphere>\
        </geometry></collision></link>";
    let level = "<plugin name='gz::sim' filename='x'><level name='LNAME'><geometry><box><size>9 9 9\
        </size></box></geometry></level><performer name='p'><ref>mNAME</ref><geometry><box><size>\
        1 1 1</size></box></geometry></performer></plugin>";
    let world = format!(
        "<sdf version='1.9'><world name='wNAME'>{level}<model name='mNAME'>{ball}<plugin \
         filename='x' name='gz::sim::systems::PosePublisher'/></model></world></sdf>"
    );
    // An attribute cannot hold an end of a line but so.
    put(
        &scratch,
        "w.sdf",
        &world.replace("NAME", &name.replace('\r', "&#13;")),
    );
    let path = scratch.path("w.sdf").display().to_string();
    let (code, shown, _) = scratch.phalanx_says(&["run", &path, "--paused", "--detach"]);
    assert_eq!(code, 0, "{shown}");
    let mut asked: Vec<Vec<&str>> = Vec::new();
    for panel in [
        "stats",
        "levels",
        "performers",
        "topics",
        "map",
        "peers",
        "overview",
    ] {
        for format in ["text", "csv", "json"] {
            asked.push(vec!["show", panel, "--format", format]);
        }
    }
    for words in [
        "ps",
        "ps --format json",
        "topic list",
        "service list",
        "show events",
    ] {
        asked.push(words.split(' ').collect());
    }
    let removed = format!("gone{name}");
    asked.extend([
        vec!["ctl", "remove", &removed],
        vec!["topic", "info", &removed],
    ]);
    asked.extend([
        vec!["check", &path],
        vec!["complete", "model"],
        vec!["ctl", "stop"],
    ]);
    let mut escaped = 0;
    for words in &asked {
        let (_, stdout, stderr) = scratch.phalanx_says(words);
        check_shown(words, &stdout);
        check_shown(words, &stderr);
        escaped += usize::from(stdout.contains("\\u001b") || stderr.contains("\\u001b"));
    }
    assert!(escaped > 10, "only {escaped} show the names");
    let gone = format!("{name}.sdf");
    let (_, _, stderr) = scratch.phalanx_says(&["run", &gone]);
    check_shown(&["run"], &stderr);
    let (_, stdout, stderr) =
        scratch.phalanx_says(&["run", &path, "--headless", "--iterations", "50"]);
    check_shown(&["headless"], &stdout);
    check_shown(&["headless"], &stderr);
}
