//! Shows that pictures of a run show what is in it: what the world's files name, what is spawned,
//! and where joints are. Real runs, whose scenes come from their primaries, in one process and in
//! three; the pictures are judged by the colours in them.

use std::fs;
use std::path::Path;

use mesh::{Image, ImageFile};
use serde_json::Value;
use tests::processes::{Process, Scratch, wait_for};

/// A green square of 2 m by 2 m in the y-z plane.
const OBJ: &str = "mtllib square.mtl\nv 0 -1 -1\nv 0 1 -1\nv 0 1 1\nv 0 -1 1\nusemtl green\n\
                   f 1 2 3 4\n";
const MTL: &str = "newmtl green\nKd 0 1 0\nKe 0 1 0\n";

/// A model whose mesh stands in files of its own folder, and an arm that a joint holds.
const WORLD: &str = r"<sdf version='1.11'><world name='w'>
  <gravity>0 0 0</gravity>
  <scene><background>0 0 0</background><ambient>1 1 1</ambient></scene>
  <include><uri>model://square</uri><pose>0 0 0 0 0 0</pose></include>
  <model name='arm'><pose>0 0 4 0 0 0</pose>
    <link name='base'><inertial><mass>1000</mass></inertial></link>
    <link name='tip'><pose>0 2 0 0 0 0</pose><visual name='v'>
      <geometry><box><size>0.5 0.5 0.5</size></box></geometry>
      <material><diffuse>0 0 1</diffuse><emissive>0 0 1</emissive></material></visual></link>
    <joint name='hinge' type='revolute'><parent>base</parent><child>tip</child>
      <pose>0 -2 0 0 0 0</pose><axis><xyz>1 0 0</xyz></axis></joint></model>
</world></sdf>";

const SPAWNED: &str = r"<sdf version='1.11'><model name='ball'><static>true</static><link name='l'>
  <visual name='v'><geometry><sphere><radius>1</radius></sphere></geometry>
  <material><diffuse>1 0 0</diffuse><emissive>1 0 0</emissive></material></visual></link>
</model></sdf>";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it can be made");
    fs::write(path, text).expect("it can be written");
}

/// Starts a paused run of the world, with so many secondaries.
fn started(scratch: &Scratch, secondaries: &str) -> Process {
    let models = scratch.path("models");
    write(&models.join("square/meshes/square.obj"), OBJ);
    write(&models.join("square/meshes/square.mtl"), MTL);
    write(
        &models.join("square/model.config"),
        "<model><name>square</name><sdf version='1.11'>model.sdf</sdf></model>",
    );
    write(
        &models.join("square/model.sdf"),
        "<sdf version='1.11'><model name='square'><static>true</static><link name='l'>\
         <visual name='v'><geometry><mesh><uri>meshes/square.obj</uri></mesh></geometry>\
         </visual></link></model></sdf>",
    );
    let world = scratch.path("w.sdf");
    write(&world, WORLD);
    write(&scratch.path("ball.sdf"), SPAWNED);
    let mut command = scratch.phalanx();
    command.env("PHALANX_RESOURCE_PATH", &models);
    command.args(["run", "--name", "r", "--headless", "--paused"]);
    command.args(["--secondaries", secondaries]).arg(&world);
    let run = scratch.start("run", &mut command);
    wait_for("the run is paused", || {
        let (_, text, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
        let stats: Option<Value> = serde_json::from_str(&text).ok();
        stats.is_some_and(|stats| stats["state"] == "paused")
    });
    run
}

/// Takes a picture, and returns it with what was said of it.
fn picture(scratch: &Scratch, options: &[&str]) -> (Vec<u8>, Image, String) {
    let mut command = scratch.phalanx();
    command.args(["show", "r", "picture", "--width", "160", "--height", "120"]);
    let output = command.args(options).output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let image = ImageFile::new(output.stdout.clone()).expect("it is a PNG file");
    (output.stdout, image.decode().expect("it is whole"), said)
}

/// Returns the middle of the pixels in which one colour is alone: column, row and their number.
fn middle(image: &Image, color: usize) -> Option<(f64, f64, usize)> {
    let is_it = |pixel: &[u8; 4]| {
        (0..3).all(|i| {
            if i == color {
                pixel[i] > 180
            } else {
                pixel[i] < 120
            }
        })
    };
    let places = image
        .pixels
        .iter()
        .enumerate()
        .filter(|(_, pixel)| is_it(pixel));
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    let count = places.len();
    let mean = |part: &dyn Fn(usize) -> usize| {
        places.iter().map(|place| part(*place) as f64).sum::<f64>() / count as f64
    };
    let (column, row) = (
        mean(&|place| place % image.width),
        mean(&|place| place / image.width),
    );
    (count > 0).then_some((column, row, count))
}

const RED: usize = 0;
const GREEN: usize = 1;
const BLUE: usize = 2;

/// A view along +x, in which +y is on the left.
const VIEW: [&str; 4] = ["--from", "-20,0,0", "--look-at", "0,0,0"];

fn check(secondaries: &str) {
    let scratch = Scratch::new();
    let _run = started(&scratch, secondaries);
    let (bytes, image, said) = picture(&scratch, &VIEW);
    assert_eq!(said, "", "nothing is missing");
    let (column, row, count) = middle(&image, GREEN).expect("the square is seen");
    assert!(
        (column - 79.5).abs() < 1.0 && (row - 59.5).abs() < 1.0,
        "{column} {row}"
    );
    // 2 m in 20 m with 60 degrees in 160 pixels are 13.9 pixels.
    assert!((150..240).contains(&count), "{count}");
    assert_eq!(picture(&scratch, &VIEW).0, bytes, "the same bits again");
    let (before, ..) = middle(&image, BLUE).expect("the tip is seen");
    assert!(before < 70.0, "the tip is on the left: {before}");

    let (code, _, error) = scratch.phalanx_says(&[
        "ctl",
        "r",
        "set-joint",
        "arm::hinge",
        "--position",
        "3.14159",
    ]);
    assert_eq!(code, 0, "{error}");
    let spawned = scratch.path("ball.sdf");
    let spawned = spawned.to_str().expect("a plain path");
    let (code, _, error) =
        scratch.phalanx_says(&["ctl", "r", "spawn", spawned, "--pose", "0 0 -4"]);
    assert_eq!(code, 0, "{error}");
    let (_, image, _) = picture(&scratch, &VIEW);
    let (after, ..) = middle(&image, BLUE).expect("the tip is seen");
    assert!(
        after > 90.0,
        "the joint has turned it to the right: {after}"
    );
    let (_, row, _) = middle(&image, RED).expect("the ball is seen");
    assert!(row > 80.0, "it is below: {row}");
    let (code, ..) = scratch.phalanx_says(&["ctl", "r", "remove", "ball"]);
    assert_eq!(code, 0);
    assert_eq!(middle(&picture(&scratch, &VIEW).1, RED), None);
}

#[test]
fn a_picture_of_one_process_shows_what_is_there() {
    check("0");
}

#[test]
fn a_picture_of_three_processes_shows_the_same() {
    check("2");
}

#[test]
fn a_camera_follows_a_model_and_asks_for_one_that_is_there() {
    let scratch = Scratch::new();
    let _run = started(&scratch, "0");
    let (_, image, _) = picture(&scratch, &["--model", "square"]);
    let (column, row, count) = middle(&image, GREEN).expect("the square is seen");
    assert!(
        (column - 79.5).abs() < 8.0 && (row - 59.5).abs() < 8.0,
        "{column} {row}"
    );
    assert!(count > 500, "it is near: {count}");
    let (code, _, error) = scratch.phalanx_says(&["show", "r", "picture", "--model", "nobody"]);
    assert!(
        code == 2 && error.contains("there are square, arm"),
        "{code}: {error}"
    );
    let (code, _, error) = scratch.phalanx_says(&["show", "r", "peers", "--angle", "30"]);
    assert!(
        code == 2 && error.contains("phalanx show picture"),
        "{code}: {error}"
    );
}

#[test]
fn a_time_lapse_has_a_picture_for_each_period() {
    let scratch = Scratch::new();
    let _run = started(&scratch, "0");
    let folder = scratch.path("frames");
    let mut command = scratch.phalanx();
    command.args(["show", "r", "picture", "--width", "64", "--height", "48"]);
    command
        .args(["--every", "0.1", "--count", "3", "--output"])
        .arg(&folder);
    let mut lapse = scratch.start("lapse", &mut command);
    let first = folder.join("000001.png");
    wait_for("the first picture is there", || first.exists());
    let (code, ..) = scratch.phalanx_says(&["ctl", "r", "play"]);
    assert_eq!(code, 0);
    assert_eq!(lapse.wait(), 0, "{}", lapse.stderr());
    let text = lapse.stdout();
    assert_eq!(text.lines().count(), 3, "{text}");
    for name in ["000001.png", "000002.png", "000003.png"] {
        let bytes = fs::read(folder.join(name)).expect("it is written");
        assert!(ImageFile::new(bytes).is_ok(), "{name}");
    }
}

/// Records a run of the world `w.sdf` with commands, and returns the file. Models are found below
/// `models`.
fn recorded(scratch: &Scratch, commands: &[Value], iterations: u32) -> String {
    let file = scratch.path("run.mcap");
    let lines: Vec<String> = commands.iter().map(Value::to_string).collect();
    let commands = scratch.path("commands.jsonl");
    write(&commands, &lines.join("\n"));
    let mut command = scratch.phalanx();
    command.env("PHALANX_RESOURCE_PATH", scratch.path("models"));
    command.args([
        "run",
        "--headless",
        "--secondaries=1",
        "--real-time-factor=0",
    ]);
    command.arg(format!("--iterations={iterations}"));
    command.arg("--record").arg(&file);
    command
        .arg("--commands")
        .arg(&commands)
        .arg(scratch.path("w.sdf"));
    let ended = command.output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    file.to_str().expect("a plain path").to_owned()
}

/// Takes a picture of a recording, of which nothing is missing, at a simulated time \[s\].
fn taken(scratch: &Scratch, file: &str, time: &str) -> Image {
    let mut command = scratch.phalanx();
    command.args(["show", file, "picture", "--width=160", "--height=120"]);
    let output = command.args(VIEW).args(["--at", time]).output();
    let output = output.expect("phalanx starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
    let image = ImageFile::new(output.stdout).expect("it is a PNG file");
    image.decode().expect("it is whole")
}

#[test]
fn pictures_of_a_recording_show_where_joints_were_at_any_time() {
    let scratch = Scratch::new();
    let world = scratch.path("w.sdf");
    let without_file = WORLD.replace(
        "<include><uri>model://square</uri><pose>0 0 0 0 0 0</pose></include>",
        "",
    );
    write(&world, &without_file);
    let turned = serde_json::json!({ "iteration": 500, "command": { "set-joint": {
        "joint": "arm::hinge", "axis": 0, "position": 3.1, "velocity": null,
    } } });
    let comes = serde_json::json!({ "iteration": 300, "command": { "spawn": {
        "sdf": SPAWNED, "name": null, "allow_renaming": false, "pose": [0, 4, 0, 0, 0, 0, 1],
        "relative_to": null, "world": null,
    } } });
    let leaves = serde_json::json!({ "iteration": 700, "command": {
        "remove": { "model": "ball" },
    } });
    let file = &recorded(&scratch, &[comes, turned, leaves], 1000);
    let tip = |image: &Image| middle(image, BLUE).expect("the tip is seen").0;
    let pictures = ["0.2", "0.4", "0.9"].map(|time| taken(&scratch, file, time));
    let (before, after) = (tip(&pictures[1]), tip(&pictures[2]));
    assert!(before < 70.0 && after > 90.0, "{before} {after}");
    // A ball comes at 0.3 s and leaves at 0.7 s.
    let balls = pictures.map(|image| middle(&image, RED).is_some());
    assert_eq!(balls, [false, true, false]);

    let folder = scratch.path("frames");
    let folder = folder.to_str().expect("a plain path");
    let lapse = ["--every", "0.25", "--output", folder];
    let arguments = [
        &["show", file, "picture", "--width=64", "--height=48"],
        &lapse[..],
    ]
    .concat();
    let (code, said, error) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{error}");
    // At 0, 0.25, 0.5, 0.75 and 1 s: of a recording none is left out.
    assert_eq!(said.lines().count(), 5, "{said}");
    for (arguments, expected) in [
        (&["show", file, "peers"][..], "phalanx replay"),
        (&["show", "none.mcap", "picture"], "none.mcap"),
        (
            &["show", file, "picture", "--world", "other"],
            "there is no world",
        ),
    ] {
        let (code, _, error) = scratch.phalanx_says(arguments);
        assert!(code != 0 && error.contains(expected), "{code}: {error}");
    }
}

#[test]
fn pictures_show_actors_where_their_script_says() {
    let scratch = Scratch::new();
    let world = scratch.path("w.sdf");
    let ball = "<geometry><sphere><radius>1</radius></sphere></geometry><material>\
                <diffuse>0 0 0</diffuse><emissive>0 0 1</emissive></material>";
    let text = format!(
        "<sdf version='1.11'><world name='w'><gravity>0 0 0</gravity><scene>\
         <background>0 0 0</background></scene><actor name='walker'><link name='l'>\
         <visual name='v'>{ball}</visual></link><script><trajectory id='0' type='walk' tension='1'>\
         <waypoint><time>0</time><pose>0 4 0 0 0 0</pose></waypoint><waypoint><time>1</time>\
         <pose>0 -4 0 0 0 0</pose></waypoint></trajectory></script></actor></world></sdf>"
    );
    write(&world, &text);
    let file = &recorded(&scratch, &[], 900);
    let place = |image: &Image| middle(image, BLUE).expect("it is seen").0;
    let places = ["0", "0.5", "0.9"].map(|time| place(&taken(&scratch, file, time)));
    assert!((places[1] - 79.5).abs() < 1.0, "{places:?}");
    assert!(places[0] < 60.0 && places[2] > 95.0, "{places:?}");
    // Of a run, too; a reset of models has actors begin again, one of time alone does not.
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "--name",
        "r",
        "--headless",
        "--secondaries=0",
        "--paused",
    ]);
    let _run = scratch.start("run", command.arg(&world));
    let seen = |count: &str| {
        let (code, _, error) = scratch.phalanx_says(&["ctl", "r", "step", count]);
        assert_eq!(code, 0, "{error}");
        let mut command = scratch.phalanx();
        command.args(["show", "r", "picture", "--width=160", "--height=120"]);
        let output = command.args(VIEW).output().expect("phalanx starts");
        let image = ImageFile::new(output.stdout).expect("it is a PNG file");
        place(&image.decode().expect("it is whole"))
    };
    wait_for("the run", || {
        scratch.phalanx_says(&["show", "r", "stats"]).0 == 0
    });
    assert!(seen("100") < 65.0);
    assert!((seen("400") - 79.5).abs() < 1.0);
    let reset = |scope: &str| {
        let (code, _, error) = scratch.phalanx_says(&["ctl", "r", "reset", scope]);
        assert_eq!(code, 0, "{error}");
    };
    reset("time");
    assert!(seen("400") > 95.0, "it goes on");
    reset("models");
    assert!(seen("100") < 65.0, "it begins again");
}

/// Returns the points of a tile of 2 m by 2 m in the y-z plane, with a texture of one colour.
fn write_tile(folder: &Path, color: [u8; 4]) {
    let obj = "mtllib tile.mtl\nv 0 -1 -1\nv 0 1 -1\nv 0 1 1\nv 0 -1 1\nvt 0 0\nvt 1 0\nvt 1 1\n\
               vt 0 1\nusemtl painted\nf 1/1 2/2 3/3 4/4\n";
    write(&folder.join("meshes/tile.obj"), obj);
    write(
        &folder.join("meshes/tile.mtl"),
        "newmtl painted\nKd 1 1 1\nmap_Kd paint.png\n",
    );
    let image = Image {
        width: 2,
        height: 2,
        pixels: vec![color; 4],
    };
    fs::write(folder.join("meshes/paint.png"), image.to_png()).expect("it can be written");
}

#[test]
fn a_recording_of_a_run_without_cameras_has_the_meshes_of_what_was_spawned() {
    let scratch = Scratch::new();
    let world = scratch.path("w.sdf");
    write(
        &world,
        "<sdf version='1.11'><world name='w'><gravity>0 0 0</gravity><scene>\
         <background>0 0 0</background><ambient>1 1 1</ambient></scene></world></sdf>",
    );
    let models = scratch.path("models");
    write_tile(&models.join("tile"), [0, 0, 255, 255]);
    let spawned = "<sdf version='1.11'><model name='tile'><static>true</static><link name='l'>\
                   <visual name='v'><geometry><mesh><uri>model://tile/meshes/tile.obj</uri></mesh>\
                   </geometry></visual></link></model></sdf>";
    let comes = serde_json::json!({ "iteration": 100, "command": { "spawn": {
        "sdf": spawned, "name": null, "allow_renaming": false, "pose": null,
        "relative_to": null, "world": null,
    } } });
    let file = recorded(&scratch, &[comes], 300);
    fs::remove_dir_all(&models).expect("it was there");
    let count =
        |time: &str| middle(&taken(&scratch, &file, time), BLUE).map_or(0, |(_, _, count)| count);
    assert_eq!(count("0.05"), 0);
    let seen = count("0.2");
    // 2 m in 20 m with 60 degrees in 160 pixels are 13.9 pixels.
    assert!((150..240).contains(&seen), "{seen}");
}

/// Records some iterations of a world with a mesh and an image, takes its files away, and returns
/// what a picture of the recording shows, and what is said of it.
fn recorded_elsewhere(scratch: &Scratch, options: &[&str]) -> (Vec<u8>, Image, String) {
    let here = scratch.path("here");
    write(&here.join("square.obj"), OBJ);
    write(&here.join("square.mtl"), MTL);
    let red = Image {
        width: 1,
        height: 1,
        pixels: vec![[255, 0, 0, 255]],
    };
    fs::write(here.join("red.png"), red.to_png()).expect("it can be written");
    write(
        &here.join("w.sdf"),
        "<sdf version='1.11'><world name='w'>\
         <scene><background>0 0 0</background><ambient>1 1 1</ambient></scene>\
         <model name='square'><static>true</static><link name='l'><visual name='v'><geometry>\
         <mesh><uri>square.obj</uri></mesh></geometry></visual></link></model>\
         <model name='box'><static>true</static><pose>0 4 0 0 0 0</pose><link name='l'>\
         <visual name='v'><geometry><box><size>1 1 1</size></box></geometry><material>\
         <ambient>1 1 1</ambient><diffuse>1 1 1</diffuse>\
         <pbr><metal><albedo_map>red.png</albedo_map></metal></pbr></material></visual></link>\
         </model></world></sdf>",
    );
    let file = scratch.path("r.mcap");
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--iterations=20", "--secondaries=1"]);
    command.args(options).arg("--record").arg(&file);
    let ended = command.arg(here.join("w.sdf")).output();
    let ended = ended.expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    fs::rename(&here, scratch.path("elsewhere")).expect("a folder can be moved");
    let mut command = scratch.phalanx();
    command.arg("show").arg(&file).arg("picture").args(VIEW);
    command.args(["--width=160", "--height=120"]);
    let output = command.output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let image = ImageFile::new(output.stdout.clone()).expect("it is a PNG file");
    (output.stdout, image.decode().expect("it is whole"), said)
}

#[test]
fn a_recording_is_drawn_where_the_files_of_its_world_are_not() {
    let scratch = Scratch::new();
    let (_, image, said) = recorded_elsewhere(&scratch, &[]);
    assert_eq!(said, "");
    let (column, row, count) = middle(&image, GREEN).expect("the mesh is seen");
    assert!(count > 20, "{column} {row} {count}");
    let (column, row, count) = middle(&image, RED).expect("the image is seen");
    assert!(count > 5, "{column} {row} {count}");
}

#[test]
fn files_that_are_not_recorded_are_told_where_they_are_not() {
    let scratch = Scratch::new();
    let (_, image, said) = recorded_elsewhere(&scratch, &["--record-visuals=0"]);
    assert!(
        said.contains("square.obj") && said.contains("red.png"),
        "{said}"
    );
    assert_eq!(middle(&image, GREEN), None);
}
