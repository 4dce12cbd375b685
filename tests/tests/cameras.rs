//! Shows that cameras see the same, bit for bit, wherever their robots are hosted and on however
//! many threads: a robot with cameras drives past coloured things from one level to another. Real
//! processes; the file of messages, with a digest of each image, is equal for 0 to 3 secondaries,
//! for cells that move, secondaries that are killed and hosts that ssh reaches.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use mesh::{
    Bone, Clip, Grip, Image, ImageFile, Key, Skeleton, Track, Transform, VisualMesh, VisualPart,
};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::Value;
use tests::processes::{Process, Scratch, binary, send_signal, wait_for};
use tests::screen::Screen;
use tests::ssh_host::{SshHost, ssh_command};

/// A green square of 2 m by 2 m in the y-z plane, seen from both sides.
const OBJ: &str = "mtllib square.mtl\nv 0 -1 -1\nv 0 1 -1\nv 0 1 1\nv 0 -1 1\nusemtl green\n\
                   f 1 2 3 4\nf 4 3 2 1\n";
const MTL: &str = "newmtl green\nKd 0 1 0\nKe 0 1 0\n";

const CAMERA: &str = "<camera><horizontal_fov>1.2</horizontal_fov>\
    <image><width>80</width><height>60</height></image><clip><near>0.1</near><far>90</far></clip>";

/// A lens that sees all around but for what is behind it.
const LENS: &str = "<lens><type>equidistant</type><cutoff_angle>2.6</cutoff_angle>\
    <env_texture_size>64</env_texture_size></lens>";

const SCAN: &str = "<sensor name='scan' type='gpu_lidar'><topic>scan</topic><update_rate>20\
    </update_rate><lidar><scan><horizontal><samples>180</samples><min_angle>-3.1</min_angle>\
    <max_angle>3.1</max_angle></horizontal></scan><range><min>0.1</min><max>40</max></range>\
    <noise><type>gaussian</type><stddev>0.01</stddev></noise></lidar></sensor>";

/// Has lidars and depth cameras of a world measure distances to visuals.
const TO_VISUALS: &str = "<plugin filename='s' name='gz::sim::systems::Sensors'>\
    <phalanx:distances>visuals</phalanx:distances></plugin>";

const THERMAL: &str = "<plugin filename='gz-sim-thermal-system' name='gz::sim::systems::Thermal'>\
    <temperature>340</temperature></plugin>";

/// A lamp that the robot passes, and one that it carries.
const LAMP: &str = "<light name='lamp' type='point'><pose>2 2 3 0 0 0</pose><attenuation>\
    <range>12</range><constant>0.6</constant></attenuation><cast_shadows>true</cast_shadows>\
    </light>";
const HEADLIGHT: &str = "<light name='head' type='spot'><pose>0.3 0 0.2 0 0 0</pose>\
    <direction>1 0 -0.1</direction><diffuse>1 1 0.8 1</diffuse><spot><inner_angle>0.5</inner_angle>\
    <outer_angle>0.9</outer_angle><falloff>1</falloff></spot><cast_shadows>true</cast_shadows>\
    </light>";

/// The skin of an actor: a plate that swings from side to side.
fn skin() -> Vec<u8> {
    let key = |time_s, y: f32| Key {
        time_s,
        position: [0.0, y, 0.0],
        orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
    };
    let bone = |name: &str, parent| Bone {
        name: name.to_owned(),
        parent,
        rest: Transform::IDENTITY,
        inverse_bind: Transform::IDENTITY,
    };
    let mesh = VisualMesh {
        parts: vec![VisualPart {
            positions: vec![[0.0, -0.5, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1.5]],
            normals: vec![[-1.0, 0.0, 0.0]; 3],
            triangles: vec![[0, 2, 1], [0, 1, 2]],
            grips: vec![Grip::of(1); 3],
            ..VisualPart::default()
        }],
        skeleton: Some(Skeleton {
            bones: vec![bone("hips", None), bone("arm", Some(0))],
            root: 0,
            clips: vec![Clip {
                name: String::new(),
                tracks: vec![Track {
                    bone: 1,
                    keys: vec![key(0.0, -1.0), key(0.3, 1.0), key(0.6, -1.0)],
                }],
            }],
        }),
        ..VisualMesh::default()
    };
    mesh.to_glb()
}

/// Cameras of all kinds, and a lidar.
fn sensors() -> String {
    let sensor = |name: &str, kind: &str, content: &str| {
        format!(
            "<sensor name='{name}' type='{kind}'><topic>{name}</topic>\
             <update_rate>20</update_rate>{CAMERA}{content}</camera></sensor>"
        )
    };
    let noise = "<noise><type>gaussian</type><stddev>0.02</stddev></noise>";
    sensor("eye", "camera", noise)
        + &sensor("labels", "segmentation_camera", "")
        + &sensor("both", "rgbd_camera", "")
        + &sensor("flat", "boundingbox_camera", "<box_type>2d</box_type>")
        + &sensor("solid", "boundingbox_camera", "<box_type>3d</box_type>")
        + &sensor("heat", "thermal_camera", noise)
        + &sensor("wide", "wide_angle_camera", LENS)
        + SCAN
}

/// A robot that drives along +x through two levels, among things of both and of a third one that
/// stays inactive, with balls that fall and an actor that walks beside it.
fn world() -> String {
    let sensors = sensors();
    let inertia = "<inertial><mass>1</mass></inertial>";
    let cube = "<geometry><box><size>0.5 0.5 0.5</size></box></geometry>";
    let performers = ["rover", "ball_west", "ball_east"].map(|name| {
        format!(
            "<performer name='{name}'><ref>{name}</ref><geometry><box><size>0.5 0.5 0.5</size>\
             </box></geometry></performer>"
        )
    });
    let ball = |name: &str, x: f64| {
        format!(
            "<model name='{name}'><pose>{x} 1 6 0 0 0</pose><link name='l'>{inertia}\
             <collision name='c'>{cube}</collision><visual name='v'>{cube}<material>\
             <diffuse>0.1 0.2 0.9</diffuse></material></visual></link></model>"
        )
    };
    let level = |name: &str, x: f64, model: &str| {
        format!(
            "<level name='{name}'><pose>{x} 0 0 0 0 0</pose><geometry><box><size>10 20 20</size>\
             </box></geometry><buffer>1</buffer><ref>{model}</ref></level>"
        )
    };
    let wall = |name: &str, x: f64, geometry: &str| {
        format!(
            "<model name='{name}'><static>true</static><pose>{x} 0 1 0 0 0</pose><link name='l'>\
             <visual name='v'><geometry>{geometry}</geometry>{THERMAL}</visual></link>\
             <plugin filename='gz-sim-label-system' name='gz::sim::systems::Label'>\
             <label>9</label></plugin></model>"
        )
    };
    let pillar = "<cylinder><radius>0.2</radius><length>2</length></cylinder>";
    let square = "<mesh><uri>square.obj</uri></mesh>";
    format!(
        "<sdf version='1.10'><world name='seen'>
        <scene><background>0 0 0</background><ambient>0.4 0.4 0.4</ambient></scene>
        <light name='sun' type='directional'><direction>0.2 0.3 -1</direction>
        <cast_shadows>true</cast_shadows></light>
        {LAMP}
        <model name='ground'><static>true</static><link name='l'><collision name='c'><geometry>
        <plane/></geometry></collision><visual name='v'><geometry><plane><size>100 100</size>
        </plane></geometry></visual></link></model>
        <model name='rover'><pose>-2 0 0.5 0 0 0</pose><link name='body'><gravity>false</gravity>
        {inertia}<collision name='c'>{cube}</collision>{sensors}{HEADLIGHT}</link>
        <plugin filename='f' name='gz::sim::systems::VelocityControl'>
        <initial_linear>2 0 0</initial_linear></plugin></model>
        <actor name='walker'><pose>6 -1.5 0 0 0 0</pose><skin><filename>walker.glb</filename></skin>
        <script><trajectory id='0' type='walk'><waypoint><time>0</time><pose>0 0 0 0 0 0</pose>
        </waypoint><waypoint><time>3</time><pose>2 1 0 0 0 1</pose></waypoint></trajectory></script>
        </actor>{}{}{}{}{}
        <plugin name='gz::sim' filename='dummy'>{}{}{}{}</plugin></world></sdf>",
        ball("ball_west", -1.0),
        ball("ball_east", 4.0),
        wall("pillar_west", -6.0, pillar),
        wall("pillar_east", 3.0, pillar).replace("3 0 1", "3 -1 1"),
        wall("far", 25.0, square),
        performers.concat(),
        level("west", -5.0, "pillar_west"),
        level("east", 5.0, "pillar_east"),
        level("beyond", 30.0, "far"),
    )
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("it can be written");
}

/// Writes a world with its files.
fn prepare(scratch: &Scratch, world: &str) {
    write(&scratch.path("square.obj"), OBJ);
    write(&scratch.path("square.mtl"), MTL);
    fs::write(scratch.path("walker.glb"), skin()).expect("it can be written");
    write(&scratch.path("w.sdf"), world);
}

/// Returns a run of the world.
fn started(scratch: &Scratch, arguments: &[&str]) -> Process {
    started_with(scratch, &world(), arguments)
}

/// Returns a run of a world.
fn started_with(scratch: &Scratch, world: &str, arguments: &[&str]) -> Process {
    prepare(scratch, world);
    let mut command = scratch.phalanx();
    command.args(["run", "--name", "r", "--headless"]);
    command.args(arguments).arg(scratch.path("w.sdf"));
    scratch.start("run", &mut command)
}

/// Runs the world and returns its file of messages and how many hand-offs there were.
fn messages(arguments: &[&str]) -> (String, u64) {
    counted(&told(arguments))
}

/// Returns a file of messages and how many hand-offs there were.
fn counted((written, events): &(String, Value)) -> (String, u64) {
    let hand_offs = events["hand_offs"].as_u64().unwrap_or_default();
    (written.clone(), hand_offs)
}

/// Runs the world and returns its file of messages and the counts of its events.
fn told(arguments: &[&str]) -> (String, Value) {
    told_of(&world(), arguments)
}

/// Does the same with another world.
fn told_of(world: &str, arguments: &[&str]) -> (String, Value) {
    let scratch = Scratch::new();
    let messages = scratch.path("messages");
    let file = messages.to_string_lossy();
    let mut all = vec!["--iterations", "2000", "--real-time-factor", "0"];
    all.extend(["--messages", &file, "--format", "json"]);
    all.extend(arguments);
    let mut run = started_with(&scratch, world, &all);
    assert_eq!(run.wait(), 0, "{}", run.stderr());
    let summary: Value = serde_json::from_str(&run.stdout()).expect("it is JSON");
    let written = fs::read_to_string(&messages).expect("the run has written it");
    (written, summary["events"].clone())
}

#[test]
fn images_are_equal_for_any_number_of_secondaries_and_threads_and_across_hand_offs() {
    let (expected, _) = messages(&["--secondaries", "0"]);
    check_changes(
        &expected,
        &[
            "/eye",
            "/labels/labels_map",
            "/both/image",
            "/both/points",
            "/flat",
            "/solid",
            "/heat",
            "/wide",
            "/scan",
        ],
    );
    check_equal(&expected, &[("1", "1"), ("2", "1"), ("3", "2")], messages);
}

#[test]
fn distances_to_visuals_are_equal_for_any_number_of_secondaries_and_across_hand_offs() {
    let to_visuals = |arguments: &[&str]| {
        let world = world().replacen("<scene>", &format!("{TO_VISUALS}<scene>"), 1);
        counted(&told_of(&world, arguments))
    };
    let (expected, _) = to_visuals(&["--secondaries", "0"]);
    check_changes(&expected, &["/scan", "/both/depth_image", "/both/points"]);
    let (to_collisions, _) = messages(&["--secondaries", "0"]);
    assert!(
        to_collisions != expected,
        "visuals are seen that nothing collides with"
    );
    check_equal(&expected, &[("2", "1"), ("3", "2")], to_visuals);
}

/// Checks that messages on topics change as the robot drives.
fn check_changes(messages: &str, topics: &[&str]) {
    for topic in topics {
        let is_on = |line: &&str| line.split_whitespace().nth(1) == Some(*topic);
        let lines: Vec<&str> = messages.lines().filter(is_on).collect();
        assert_eq!(lines.len(), 41, "{topic}");
        let mut digests: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split(' ').next_back())
            .collect();
        digests.dedup();
        assert!(
            digests.len() > 30,
            "{topic} changes as the robot drives: {}",
            digests.len()
        );
    }
}

/// Checks that messages are these with so many secondaries and threads, across hand-offs.
fn check_equal(expected: &str, processes: &[(&str, &str)], run: impl Fn(&[&str]) -> (String, u64)) {
    for (secondaries, threads) in processes {
        let (found, hand_offs) = run(&["--secondaries", secondaries, "--threads", threads]);
        assert!(hand_offs >= 1, "{hand_offs} hand-offs");
        for (one, other) in expected.lines().zip(found.lines()) {
            assert_eq!(one, other, "with {secondaries} secondaries");
        }
        assert!(found == expected, "with {secondaries} secondaries");
    }
}

/// Waits until a run that begins in a pause has all its secondaries.
fn waits_for_pause(scratch: &Scratch) {
    wait_for("the run is paused", || {
        let (_, text, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
        let stats: Value = serde_json::from_str(&text).unwrap_or_default();
        stats["state"] == "paused"
    });
}

#[test]
fn images_go_on_the_same_where_cells_move_in_the_middle_of_a_sequence() {
    let (expected, _) = messages(&["--secondaries", "0"]);
    let scratch = Scratch::new();
    let file = scratch.path("messages").display().to_string();
    let arguments = [
        "--secondaries",
        "2",
        "--iterations",
        "2000",
        "--paused",
        "--format",
        "json",
    ];
    let arguments = [
        &arguments[..],
        &["--real-time-factor", "0", "--messages", &file],
    ]
    .concat();
    let mut run = started(&scratch, &arguments);
    waits_for_pause(&scratch);
    let does = |words: &[&str]| {
        let (code, _, error) = scratch.phalanx_says(&[&["ctl", "r"], words].concat());
        assert_eq!(code, 0, "{words:?}: {error}");
    };
    // Between two images, first with the robot in one level, then in the other.
    for (count, level, peer) in [
        ("333", "west", "s2"),
        ("444", "west", "s1"),
        ("844", "east", "s1"),
    ] {
        does(&["step", count]);
        does(&["move-cell", level, peer]);
    }
    does(&["move-cell", "east", "s2"]);
    does(&["play"]);
    assert_eq!(run.wait(), 0, "{}", run.stderr());
    let summary: Value = serde_json::from_str(&run.stdout()).expect("it is JSON");
    assert!(
        summary["events"]["migrations"].as_u64() >= Some(2),
        "{}",
        summary["events"]
    );
    let found = fs::read_to_string(&file).expect("the run has written it");
    assert!(found == expected, "after {}", summary["events"]);
}

#[test]
fn images_go_on_the_same_where_a_secondary_was_killed() {
    let (expected, _) = messages(&["--secondaries", "0"]);
    let scratch = Scratch::new();
    let file = scratch.path("messages").display().to_string();
    let arguments = [
        "--secondaries",
        "2",
        "--iterations",
        "2000",
        "--paused",
        "--format",
        "json",
    ];
    let more = [
        "--real-time-factor",
        "0",
        "--checkpoint-every",
        "100",
        "--messages",
        &file,
    ];
    let mut run = started(&scratch, &[&arguments[..], &more].concat());
    let peers = || {
        let (_, text, _) = scratch.phalanx_says(&["show", "r", "peers", "--format", "json"]);
        let peers: Value = serde_json::from_str(&text).unwrap_or_default();
        peers.as_array().cloned().unwrap_or_default()
    };
    let find = |name: &str| peers().into_iter().find(|peer| peer["name"] == name);
    waits_for_pause(&scratch);
    let does = |words: &[&str]| {
        let (code, _, error) = scratch.phalanx_says(&[&["ctl", "r"], words].concat());
        assert_eq!(code, 0, "{words:?}: {error}");
    };
    does(&["step", "430"]);
    // Between two images, and not at a checkpoint; whoever has the robot is lost in any case.
    for name in ["s1", "s2"] {
        let lost = find(name).expect("it is there");
        let pid = lost["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        send_signal(pid.expect("a process id"), "KILL");
        wait_for("a new one is there", || {
            find(name).is_none_or(|peer| peer["pid"] != lost["pid"])
        });
        does(&["step", "333"]);
    }
    does(&["play"]);
    assert_eq!(run.wait(), 0, "{}", run.stderr());
    let summary: Value = serde_json::from_str(&run.stdout()).expect("it is JSON");
    let recoveries = summary["events"]["recoveries"].as_u64();
    assert!(recoveries >= Some(1), "{}", summary["events"]);
    let found = fs::read_to_string(&file).expect("the run has written it");
    assert!(found == expected, "after {}", summary["events"]);
}

#[test]
fn images_of_other_machines_are_the_same() {
    let (expected, _) = messages(&["--secondaries", "0"]);
    let scratch = Scratch::new();
    let hosts = ["alpha", "beta"].map(|name| SshHost::make(scratch.folder(), name, None));
    let [Some(alpha), Some(beta)] = &hosts else {
        return;
    };
    let ssh = ssh_command(scratch.folder(), &[alpha, beta]);
    let (found, events) = told(&["--hosts", "alpha:1,beta:1", "--ssh-command", &ssh]);
    assert!(events["hand_offs"].as_u64() >= Some(1), "{events}");
    assert!(found == expected, "with hosts");
}

/// Returns how many pixels have much of one colour alone.
fn count(image: &Image, color: usize) -> usize {
    let is_it = |pixel: &&[u8; 4]| {
        (0..3).all(|i| {
            if i == color {
                pixel[i] > 150
            } else {
                pixel[i] < 110
            }
        })
    };
    image.pixels.iter().filter(is_it).count()
}

#[test]
fn show_prints_the_image_of_a_camera_with_meshes_of_levels_that_are_inactive() {
    let scratch = Scratch::new();
    // So slowly that the robot is where it began when a busy machine has shown all.
    let _run = started(
        &scratch,
        &["--secondaries", "2", "--real-time-factor", "0.02"],
    );
    wait_for("the run has begun", || {
        let (_, text, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
        let stats: Option<Value> = serde_json::from_str(&text).ok();
        stats.is_some_and(|stats| stats["state"] == "running")
    });
    let show = |arguments: &[&str]| {
        let mut command = scratch.phalanx();
        command.args(["show", "r", "image"]).args(arguments);
        command.output().expect("phalanx starts")
    };
    let output = show(&["/eye"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let image = ImageFile::new(output.stdout).expect("it is a PNG file");
    let image = image.decode().expect("it is whole");
    assert_eq!((image.width, image.height), (80, 60));
    // The square is 27 m away: 2 m of it are 4 pixels.
    assert!(
        (6..40).contains(&count(&image, 1)),
        "{} are green",
        count(&image, 1)
    );
    let unclear = show(&[]);
    let said = String::from_utf8_lossy(&unclear.stderr).into_owned();
    assert_eq!(unclear.status.code(), Some(2), "{said}");
    assert!(
        said.contains("/both/image") && said.contains("/labels/labels_map"),
        "{said}"
    );
    let (code, _, said) = scratch.phalanx_says(&["show", "r", "overview", "--topic", "/eye"]);
    assert_eq!(code, 2, "{said}");
    check_drawn(&scratch);
}

/// Shows the images of that run on terminals.
fn check_drawn(scratch: &Scratch) {
    let green = |color: vt100::Color| match color {
        vt100::Color::Rgb(red, green, blue) => green > 150 && red < 110 && blue < 110,
        vt100::Color::Default | vt100::Color::Idx(_) => false,
    };
    let words = ["show", "r", "image", "--topic", "/eye", "--follow"];
    // It says nothing about itself, and is drawn on with blocks.
    let mut screen = Screen::start(on_terminal(scratch, &words), 24, 100);
    screen.wait_until("the square is green", |screen| {
        let cells = (0..24).flat_map(|row| (0..100).map(move |column| (row, column)));
        let cells = cells.filter_map(|(row, column)| screen.cell(row, column));
        let halves = cells.flat_map(|cell| [cell.fgcolor(), cell.bgcolor()]);
        (2..40).contains(&halves.filter(|color| green(*color)).count())
    });
    screen.hang_up();
    for (answer, begin) in [
        ("\u{1b}[?62;4;22c", "\u{1b}P0;1;0q"),
        ("\u{1b}_Gi=31;OK\u{1b}\\\u{1b}[?62;c", "\u{1b}_Ga=T,f=24"),
    ] {
        check_pixels(scratch, answer, begin);
    }
    let drawn = [&words[..5], &["--graphics", "blocks", "--width", "40"]].concat();
    let (code, drawn, said) = scratch.phalanx_says(&drawn);
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        drawn.lines().count(),
        15,
        "40 pixels of 80 x 60, two in a cell"
    );
    let (code, _, said) = scratch.phalanx_says(&words);
    assert!(code == 2 && said.contains("--graphics"), "{said}");
}

fn on_terminal(scratch: &Scratch, words: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(binary("phalanx"));
    command.args(words);
    command.env("PHALANX_RUNTIME_DIR", scratch.folder());
    command.env("PHALANX_CONFIG", "/dev/null");
    command.env("TERM", "xterm-256color");
    command.env("COLORTERM", "truecolor");
    command.env_remove("NO_COLOR");
    command
}

/// Answers as a terminal that has pixels does, and reads what is drawn on it.
fn check_pixels(scratch: &Scratch, answer: &str, begin: &str) {
    let pair = native_pty_system()
        .openpty(PtySize::default())
        .expect("a pseudo-terminal");
    let words = ["show", "r", "image", "--topic", "/eye"];
    let child = pair.slave.spawn_command(on_terminal(scratch, &words));
    let mut child = child.expect("phalanx starts");
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().expect("it can be read");
    let mut writer = pair.master.take_writer().expect("it can be written");
    let (mut said, mut piece, mut is_answered) = (String::new(), [0; 4096], false);
    while let Ok(count @ 1..) = reader.read(&mut piece) {
        said += &String::from_utf8_lossy(&piece[..count]);
        if said.contains("\u{1b}[c") && !std::mem::replace(&mut is_answered, true) {
            writer.write_all(answer.as_bytes()).expect("it hears");
        }
    }
    assert!(child.wait().expect("it ends").success(), "{said}");
    let (_, drawn) = said.split_once(begin).expect("it is drawn in pixels");
    assert!(
        drawn.contains("\u{1b}\\\u{1b}8"),
        "it is drawn to its end: {drawn:?}"
    );
}
