//! Shows that cameras see what Gazebo's tests of its cameras expect: in worlds with the same
//! arrangement, a box in the middle or nothing at all, and in Gazebo's own where the corpus stands
//! beside the repository. Real runs are recorded, and their messages judged; a step is that of the
//! sensor's own numbers.
//!
//! | test of Gazebo | here | tolerance |
//! |---|---|---|
//! | gz-sim `camera_sensor_background`, gz-sensors `camera` | `backgrounds_fill...` | none |
//! | gz-sensors `camera`: formats, sizes, intrinsics | `images_have...` | a step, 1e-6 |
//! | gz-sim and gz-sensors `depth_camera`, `rgbd_camera` | `depths_...` | 1e-4 m |
//! | gz-sensors `segmentation_camera` | `maps_have...` | none |
//! | gz-sensors `boundingbox_camera` | `boxes_...` | 1 pixel, 1e-3 m |
//! | gz-sim `thermal_sensor_system`, gz-sensors `thermal_camera` | `temperatures_...` | a step |
//! | gz-sim and gz-sensors `wide_angle_camera` | `a_wide_lens...` | 3 pixels |
//! | gz-sim and gz-sensors `distortion_camera` | `distortion_...` | 1 pixel |
//! | gz-sim and gz-sensors `triggered_camera` | `a_triggered_camera...` | none |
//! | gz-sim `sensors_system` | `sensors_of_gazebos_world...` | none |
//! | gz-sim `sensors_system_battery` | `cameras_stop...` | none |

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tests::processes::Scratch;
use tests::repository;

/// Messages of a recording: JSON by topic.
type Messages = BTreeMap<String, Vec<Value>>;

/// Height of the cameras, and how far each is from the middle of its model along every axis \[m\].
const HEIGHT: f64 = 0.5;
const OFFSET: f64 = 0.05;

/// Distance to the face of the box, and half its edge \[m\].
const FACE: f64 = 3.0 - 0.5 - OFFSET;
const HALF: f64 = 0.5;

/// Angle of view of the cameras before the box \[rad\].
const ANGLE: f64 = 1.05;

const SUN: &str = "<light type='directional' name='sun'><cast_shadows>true</cast_shadows>\
    <pose>0 0 10 0 0 0</pose><diffuse>0.8 0.8 0.8 1</diffuse><direction>-0.5 0.1 -0.9</direction>\
    </light>";

const GROUND: &str = "<model name='ground'><static>true</static><link name='l'>\
    <collision name='c'><geometry><box><size>20 20 0.1</size></box></geometry></collision>\
    <visual name='v'><geometry><box><size>20 20 0.1</size></box></geometry></visual></link>\
    </model>";

const RED: &str = "<material><ambient>1 0 0 1</ambient><diffuse>1 0 0 1</diffuse></material>";
const GLOW: &str = "<material><diffuse>0 0 0</diffuse><emissive>0 1 0</emissive></material>";

/// An image of a recording.
struct Picture {
    size: [usize; 2],
    /// Bytes of a pixel.
    depth: usize,
    format: String,
    data: Vec<u8>,
}

impl Picture {
    fn of(message: &Value) -> Self {
        let number = |name: &str| {
            let number = message[name]
                .as_u64()
                .and_then(|it| usize::try_from(it).ok());
            number.unwrap_or_else(|| panic!("{name} of {message:.200}"))
        };
        let size = [number("width"), number("height")];
        let data = bytes(message);
        let depth = data.len() / (size[0] * size[1]);
        assert_eq!(data.len(), depth * size[0] * size[1], "it is whole");
        assert_eq!(number("step"), depth * size[0]);
        let format = message["pixel_format_type"].as_str();
        Self {
            size,
            depth,
            format: format.expect("a format").to_owned(),
            data,
        }
    }

    fn pixel(&self, column: usize, row: usize) -> &[u8] {
        let first = (row * self.size[0] + column) * self.depth;
        &self.data[first..first + self.depth]
    }

    fn middle(&self) -> &[u8] {
        self.pixel(self.size[0] / 2, self.size[1] / 2)
    }

    /// Returns the pixel of a row in the middle, as a number of 4 bytes.
    fn distance(&self, column: usize) -> f32 {
        let bytes = self.pixel(column, self.size[1] / 2);
        f32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }

    fn pixels(&self) -> impl Iterator<Item = ([usize; 2], &[u8])> {
        let width = self.size[0];
        let all = self.data.chunks(self.depth).enumerate();
        all.map(move |(place, pixel)| ([place % width, place / width], pixel))
    }

    /// Returns the middle of all that is green, from the top left, and how many pixels that is.
    fn green(&self) -> ([f64; 2], usize) {
        let is_green = |pixel: &[u8]| pixel[1] > 200 && pixel[0] < 100 && pixel[2] < 100;
        let green = self.pixels().filter(|(_, pixel)| is_green(pixel));
        let (mut sum, mut count) = ([0.0; 2], 0);
        for (place, _) in green {
            sum = [0, 1].map(|axis| sum[axis] + place[axis] as f64 + 0.5);
            count += 1;
        }
        (sum.map(|sum| sum / count as f64), count)
    }
}

fn bytes(message: &Value) -> Vec<u8> {
    let data = message["data"].as_str().expect("bytes");
    STANDARD.decode(data).expect("base64")
}

/// Runs a world of Gazebo's or of our own, and returns what was recorded of it.
fn record(scratch: &Scratch, world: &Path, iterations: u32, commands: &[Value]) -> Messages {
    let name = world.file_stem().expect("a name").to_string_lossy();
    let file = scratch.path(&format!("{name}.mcap"));
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "--headless",
        "--secondaries=0",
        "--real-time-factor=0",
    ]);
    command.arg(format!("--iterations={iterations}"));
    if !commands.is_empty() {
        let script = scratch.path(&format!("{name}.jsonl"));
        let lines = commands.iter().map(|line| format!("{line}\n"));
        fs::write(&script, lines.collect::<String>()).expect("it can be written");
        command.arg("--commands").arg(script);
    }
    let ended = command.arg("--record").arg(&file).arg(world).output();
    let ended = ended.expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{name}: {said}");
    let bytes = fs::read(&file).expect("a recording");
    let mut messages = Messages::new();
    for message in mcap::MessageStream::new(&bytes).expect("it is a recording") {
        let message = message.expect("it is whole");
        if let Ok(content) = serde_json::from_slice(&message.data) {
            let of_topic = messages.entry(message.channel.topic.clone()).or_default();
            of_topic.push(content);
        }
    }
    messages
}

/// Runs a world of our own for 0.15 s: sensors of 10 Hz say something at its start, at least.
fn seen(content: &str) -> Messages {
    let scratch = Scratch::new();
    let world = written(&scratch, content);
    record(&scratch, &world, 150, &[])
}

fn written(scratch: &Scratch, content: &str) -> PathBuf {
    let path = scratch.path("own.sdf");
    let text = format!("<sdf version='1.10'><world name='own'>{content}</world></sdf>");
    fs::write(&path, text).expect("it can be written");
    path
}

fn first<'m>(messages: &'m Messages, topic: &str) -> &'m Value {
    let found = messages.get(topic).and_then(|all| all.first());
    found.unwrap_or_else(|| panic!("nothing on {topic}: {:?}", messages.keys()))
}

/// A box of 1 m in front of the cameras, or beside that.
fn cube(name: &str, pose: &str, material: &str, more: &str) -> String {
    let cube = "<geometry><box><size>1 1 1</size></box></geometry>";
    format!(
        "<model name='{name}'><static>true</static><pose>{pose}</pose><link name='l'>\
         <collision name='c'>{cube}</collision><visual name='v'>{cube}{material}{more}</visual>\
         </link></model>"
    )
}

fn red_box() -> String {
    cube("box", "3 0 0.5 0 0 0", RED, "")
}

/// Something that has sensors, as far from the box as in Gazebo's worlds.
fn eyes(sensors: &str) -> String {
    format!(
        "<model name='eyes'><static>true</static><pose>0 0 {HEIGHT} 0 0 0</pose><link name='l'>\
         <pose>{OFFSET} {OFFSET} {OFFSET} 0 0 0</pose>{sensors}</link></model>"
    )
}

/// A sensor at a topic of its own, whose images have a size.
fn sensor(kind: &str, topic: &str, [width, height]: [usize; 2], image: &str, more: &str) -> String {
    let angle = if more.contains("horizontal_fov") {
        String::new()
    } else {
        format!("<horizontal_fov>{ANGLE}</horizontal_fov>")
    };
    let (camera, beside) = more
        .split_once("<plugin")
        .map_or((more, String::new()), |parts| {
            (parts.0, format!("<plugin{}", parts.1))
        });
    format!(
        "<sensor name='{topic}' type='{kind}'><topic>{topic}</topic><update_rate>10</update_rate>\
         <camera>{angle}<image><width>{width}</width><height>{height}</height>{image}</image>\
         <clip><near>0.1</near><far>10</far></clip>{camera}</camera>{beside}</sensor>"
    )
}

/// Focal length of so many pixels across \[pixels\].
fn focal(width: usize) -> f64 {
    width as f64 / 2.0 / (ANGLE / 2.0).tan()
}

/// Returns where a place is seen, by its distance, and how far it is to the left and up \[m\].
fn projected([width, height]: [usize; 2], [along, left, up]: [f64; 3]) -> [f64; 2] {
    [
        width as f64 / 2.0 - focal(width) * left / along,
        height as f64 / 2.0 - focal(width) * up / along,
    ]
}

/// Asserts that all of an image is of one colour.
fn check_filled(message: &Value, size: [usize; 2], color: [u8; 3]) {
    let picture = Picture::of(message);
    assert_eq!((picture.size, &*picture.format), (size, "RGB_INT8"));
    assert!(picture.pixels().all(|(_, pixel)| pixel == color));
}

/// Asserts what a camera sees of the box in the middle: distances, and nothing beside it.
fn check_depths(message: &Value, size: [usize; 2]) {
    let picture = Picture::of(message);
    assert_eq!((picture.size, &*picture.format), (size, "R_FLOAT32"));
    let found = f64::from(picture.distance(size[0] / 2 - 1));
    assert!((found - FACE).abs() < 1e-4, "{found} m");
    for column in [0, size[0] - 1] {
        assert_eq!(picture.distance(column), f32::INFINITY, "column {column}");
    }
}

#[test]
fn backgrounds_fill_images_in_which_nothing_else_is() {
    let camera = eyes(&sensor("camera", "eye", [320, 240], "", ""));
    let of_system = "<plugin filename='gz-sim-sensors-system' name='gz::sim::systems::Sensors'>\
                     <background_color>1 0 0 1</background_color></plugin>";
    let of_scene = "<scene><background>1 0 0</background></scene>";
    for background in [of_system, of_scene] {
        let messages = seen(&format!("{background}{camera}"));
        check_filled(first(&messages, "/eye"), [320, 240], [255, 0, 0]);
    }
}

#[test]
fn images_have_the_format_and_the_size_that_are_asked_for() {
    let size = [256, 257];
    let formats = [
        ("R8G8B8", "RGB_INT8", 3),
        ("B8G8R8", "BGR_INT8", 3),
        ("L8", "L_INT8", 1),
        ("L16", "L_INT16", 2),
        ("BAYER_RGGB8", "BAYER_RGGB8", 1),
        ("BAYER_BGGR8", "BAYER_BGGR8", 1),
        ("BAYER_GBRG8", "BAYER_GBRG8", 1),
        ("BAYER_GRBG8", "BAYER_GRBG8", 1),
    ];
    let sensors = formats.map(|(format, ..)| {
        let image = format!("<format>{format}</format>");
        sensor("camera", &format.to_lowercase(), size, &image, "")
    });
    let own =
        "<lens><intrinsics><fx>280</fx><fy>281</fy><cx>162</cx><cy>124</cy></intrinsics></lens>";
    let lens = sensor("camera", "lens/image", size, "", own);
    let plain = sensor("camera", "plain/image", size, "", "");
    let all = sensors.concat() + &lens + &plain;
    let glowing = "<material><diffuse>0 0 0</diffuse><emissive>1 0 0</emissive></material>";
    let cube = cube("box", "3 0 0.5 0 0 0", glowing, "");
    let messages = seen(&format!("{SUN}{GROUND}{cube}{}", eyes(&all)));
    for (format, expected, depth) in formats {
        let picture = Picture::of(first(&messages, &format!("/{}", format.to_lowercase())));
        assert_eq!(
            (&*picture.format, picture.size),
            (expected, size),
            "{format}"
        );
        assert_eq!(picture.depth, depth, "{format}");
        // A red pixel: 0.299 of white is its brightness.
        let middle = picture.middle();
        match format {
            "R8G8B8" => assert_eq!(middle, [255, 0, 0]),
            "B8G8R8" => assert_eq!(middle, [0, 0, 255]),
            "L8" => assert!(middle[0].abs_diff(76) <= 1, "{middle:?}"),
            "L16" => assert!(middle[1].abs_diff(76) <= 1, "{middle:?}"),
            _ => {
                // Of four pixels of a Bayer square one is red.
                let square = [[128, 128], [129, 128], [128, 129], [129, 129]];
                let mut seen = square.map(|[x, y]| picture.pixel(x, y)[0]);
                let red = seen.iter().position(|value| *value == 255);
                let letters = format.strip_prefix("BAYER_").expect("the rest are such");
                assert_eq!(red, letters.find('R'), "{format} {seen:?}");
                seen.sort_unstable();
                assert_eq!(seen, [0, 0, 0, 255], "{format}");
            }
        }
    }
    let check = |topic: &str, expected: [f64; 4]| {
        let info = first(&messages, topic);
        let k = info["intrinsics"]["k"].as_array().expect("numbers");
        let p = info["projection"]["p"].as_array().expect("numbers");
        assert_eq!((k.len(), p.len()), (9, 12));
        for (matrix, columns) in [(k, 3), (p, 4)] {
            for (place, expected) in [0, columns + 1, 2, columns + 2].into_iter().zip(expected) {
                let found = matrix[place].as_f64().expect("a number");
                assert!((found - expected).abs() < 1e-6, "{topic}: {info}");
            }
        }
        assert_eq!(
            (&info["width"], &info["height"]),
            (&json!(256), &json!(257))
        );
    };
    check("/lens/camera_info", [280.0, 281.0, 162.0, 124.0]);
    check("/plain/camera_info", [focal(256), focal(256), 128.0, 128.5]);
}

#[test]
fn depths_are_those_of_the_box_in_the_middle() {
    let size = [256, 256];
    let sensors = sensor(
        "depth_camera",
        "depth",
        size,
        "<format>R_FLOAT32</format>",
        "",
    ) + &sensor("rgbd_camera", "rgbd", size, "", "");
    let messages = seen(&format!("{SUN}{GROUND}{}{}", red_box(), eyes(&sensors)));
    check_depths(first(&messages, "/depth"), size);
    check_depths(first(&messages, "/rgbd/depth_image"), size);
    let picture = Picture::of(first(&messages, "/rgbd/image"));
    let middle = picture.middle();
    assert!(middle[0] > 0 && middle[1..] == [0, 0], "{middle:?}");
    for topic in ["/depth/points", "/rgbd/points"] {
        check_point(first(&messages, topic), size, topic == "/rgbd/points");
    }
    // What is nearer than the near plane is, in Gazebo's words, at minus infinity.
    let near = cube("near", "0.6 0 0.5 0 0 0", RED, "");
    let messages = seen(&format!("{GROUND}{near}{}", eyes(&sensors)));
    let picture = Picture::of(first(&messages, "/depth"));
    assert_eq!(picture.distance(128), f32::NEG_INFINITY);
}

/// Asserts where the point in the middle of a cloud is, and its colour.
fn check_point(cloud: &Value, size: [usize; 2], has_color: bool) {
    let fields = cloud["field"].as_array().expect("fields");
    let offset = |name: &str| {
        let field = fields.iter().find(|field| field["name"] == name);
        let offset = field.map(|field| field["offset"].as_u64().unwrap_or_default());
        offset.and_then(|offset| usize::try_from(offset).ok())
    };
    let step = cloud["point_step"].as_u64().expect("a step");
    let step = usize::try_from(step).expect("a size");
    let data = bytes(cloud);
    assert_eq!(data.len(), step * size[0] * size[1]);
    let place = step * (size[1] / 2 * size[0] + size[0] / 2 - 1);
    let word = |name: &str| -> [u8; 4] {
        let first = place + offset(name).unwrap_or_else(|| panic!("{name} in {fields:?}"));
        data[first..first + 4].try_into().expect("four bytes")
    };
    let [x, y, z] = ["x", "y", "z"].map(|name| f64::from(f32::from_le_bytes(word(name))));
    // The middle of the image is between this pixel and the next ones.
    let half = FACE * 0.5 / focal(size[0]);
    let expected = [FACE, half, -half];
    for (found, expected) in [x, y, z].into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4, "{x} {y} {z}");
    }
    if has_color {
        let [blue, green, red, _] = word("rgb");
        assert!(red > 0 && green == 0 && blue == 0, "{red} {green} {blue}");
    }
}

fn label(number: u8) -> String {
    format!(
        "<plugin filename='gz-sim-label-system' name='gz::sim::systems::Label'>\
         <label>{number}</label></plugin>"
    )
}

#[test]
fn maps_have_labels_and_the_numbers_of_things_with_the_same() {
    let size = [320, 240];
    let kind = |kind: &str| format!("<segmentation_type>{kind}</segmentation_type>");
    let sensors = sensor("segmentation", "semantic", size, "", &kind("semantic"))
        + &sensor("segmentation", "panoptic", size, "", &kind("panoptic"));
    let boxes = cube("left", "3 1.5 0.5 0 0 0", RED, &label(2))
        + &cube("middle", "3 0 0.5 0 0 0", RED, &label(1))
        + &cube("right", "3 -1.5 0.5 0 0 0", RED, &label(2));
    let messages = seen(&format!("{SUN}{GROUND}{boxes}{}", eyes(&sensors)));
    let places = [1.5 - OFFSET, -OFFSET, -1.5 - OFFSET].map(|left| {
        let [column, row] = projected(size, [FACE, left, 0.0]);
        [column.clamp(2.0, 317.0) as usize, row as usize]
    });
    let semantic = Picture::of(first(&messages, "/semantic/labels_map"));
    let panoptic = Picture::of(first(&messages, "/panoptic/labels_map"));
    for picture in [&semantic, &panoptic] {
        assert_eq!((picture.size, &*picture.format), (size, "RGB_INT8"));
        assert_eq!(picture.pixel(160, 2), [0; 3], "nothing above the boxes");
    }
    let at = |picture: &Picture| places.map(|[column, row]| picture.pixel(column, row).to_vec());
    assert_eq!(at(&semantic), [[2; 3], [1; 3], [2; 3]]);
    // The number in two bytes, then the label.
    assert_eq!(at(&panoptic), [[1, 0, 2], [1, 0, 1], [2, 0, 2]]);
    let colors = |topic: &str| at(&Picture::of(first(&messages, topic)));
    let [left, middle, right] = colors("/semantic/colored_map");
    assert!(left == right && left != middle, "{left:?} {middle:?}");
    let [left, middle, right] = colors("/panoptic/colored_map");
    assert!(left != right && left != middle && right != middle);
}

/// Returns the boxes of a message by their labels: least and greatest column and row.
fn flat_boxes(message: &Value) -> BTreeMap<u64, [[f64; 2]; 2]> {
    let boxes = message["annotated_box"].as_array().expect("boxes");
    let corner = |corner: &Value| ["x", "y"].map(|axis| corner[axis].as_f64().expect("a number"));
    let boxes = boxes.iter().map(|one| {
        let own = &one["box"];
        let corners = [corner(&own["min_corner"]), corner(&own["max_corner"])];
        (one["label"].as_u64().expect("a label"), corners)
    });
    boxes.collect()
}

#[test]
fn boxes_are_around_what_is_seen_and_around_all_of_it() {
    let size = [320, 240];
    let kind = |kind: &str| format!("<box_type>{kind}</box_type>");
    let sensors = ["2d", "full_2d", "3d"].map(|name| {
        sensor(
            "boundingbox_camera",
            &format!("b{name}"),
            size,
            "",
            &kind(name),
        )
    });
    // The second one is behind the first, which hides its right half.
    let (front, back) = ([FACE, 0.0], [FACE + 2.0, 0.5]);
    let boxes = cube("front", "3 0.05 0.55 0 0 0", RED, &label(1))
        + &cube("back", "5 0.55 0.55 0 0 0", RED, &label(2));
    let messages = seen(&format!("{boxes}{}", eyes(&sensors.concat())));
    let whole = |[along, left]: [f64; 2]| {
        let low = projected(size, [along, left + HALF, HALF]);
        [low, projected(size, [along, left - HALF, -HALF])]
    };
    let [front_box, mut back_box] = [front, back].map(whole);
    let check = |topic: &str, middle: f64, expected: [[[f64; 2]; 2]; 2]| {
        let found = flat_boxes(first(&messages, topic));
        assert_eq!(found.len(), 2, "{topic}: {found:?}");
        for (number, expected) in [1, 2].into_iter().zip(expected) {
            for (found, expected) in found[&number].iter().zip(expected) {
                for axis in [0, 1] {
                    let gap = (found[axis] + middle - expected[axis]).abs();
                    assert!(gap <= 1.0, "{topic}, {number}: {found:?} but {expected:?}");
                }
            }
        }
    };
    check("/bfull_2d", 0.0, [front_box, back_box]);
    // It is seen as far as the edge of the first; such boxes have the numbers of pixels.
    back_box[1][0] = front_box[0][0];
    check("/b2d", 0.5, [front_box, back_box]);
    let spatial = first(&messages, "/b3d")["annotated_box"].as_array();
    let spatial = spatial.expect("boxes");
    assert_eq!(spatial.len(), 2);
    for (one, [along, left]) in spatial.iter().zip([front, back]) {
        let vector = |name: &str| {
            ["x", "y", "z"].map(|axis| one["box"][name][axis].as_f64().expect("a number"))
        };
        let expected = [("center", [along + HALF, left, 0.0]), ("boxsize", [1.0; 3])];
        for (name, expected) in expected {
            let found = vector(name);
            let near = (0..3).all(|axis| (found[axis] - expected[axis]).abs() < 1e-3);
            assert!(near, "{name}: {found:?} but {expected:?}");
        }
    }
    let drawn = Picture::of(first(&messages, "/b2d_image"));
    assert_eq!((drawn.size, &*drawn.format), (size, "RGB_INT8"));
}

#[test]
fn temperatures_are_those_of_things_and_of_the_air() {
    let size = [320, 240];
    let warm = |kelvin: f64| {
        format!(
            "<plugin filename='gz-sim-thermal-system' name='gz::sim::systems::Thermal'>\
             <temperature>{kelvin}</temperature></plugin>"
        )
    };
    let system = "<plugin filename='gz-sim-thermal-sensor-system' \
        name='gz::sim::systems::ThermalSensor'><min_temp>253.15</min_temp>\
        <max_temp>673.15</max_temp><resolution>3</resolution></plugin>";
    let sensors = sensor("thermal_camera", "words", size, "<format>L16</format>", "")
        + &sensor(
            "thermal_camera",
            "bytes",
            size,
            "<format>L8</format>",
            system,
        );
    let boxes = cube("warm", "3 0 0.5 0 0 0", RED, &warm(310.0))
        + &cube("hot", "3 1.5 0.5 0 0 0", RED, &warm(800.0))
        + &cube("cold", "3 -1.5 0.5 0 0 0", RED, &warm(200.0));
    let air = "<atmosphere type='adiabatic'><temperature>296</temperature></atmosphere>";
    let messages = seen(&format!("{air}{SUN}{GROUND}{boxes}{}", eyes(&sensors)));
    let column = |left: f64| {
        let [column, _] = projected(size, [FACE, left, 0.0]);
        column.clamp(2.0, 317.0) as usize
    };
    let columns = [0.0, 1.5, -1.5].map(column);
    let check = |topic: &str, format: &str, resolution: f64, expected: [f64; 4]| {
        let picture = Picture::of(first(&messages, topic));
        assert_eq!((picture.size, &*picture.format), (size, format));
        let things = columns.map(|column| picture.pixel(column, 120));
        let pixels = [things[0], things[1], things[2], picture.pixel(160, 2)];
        for (pixel, expected) in pixels.into_iter().zip(expected) {
            let value = pixel
                .iter()
                .rev()
                .fold(0.0, |sum, part| 256.0 * sum + f64::from(*part));
            let gap = (value * resolution - expected).abs();
            assert!(gap < resolution + 1e-6, "{topic}: {value} but {expected}");
        }
    };
    // Two bytes of hundredths end at 655.35 K.
    check("/words", "L_INT16", 0.01, [310.0, 655.35, 200.0, 296.0]);
    check("/bytes", "L_INT8", 3.0, [310.0, 673.15, 253.15, 296.0]);
}

#[test]
fn a_wide_lens_shows_what_is_beside_the_camera() {
    let size = [256, 256];
    let lens = "<horizontal_fov>3.14159</horizontal_fov><lens><type>equidistant</type>\
        <scale_to_hfov>true</scale_to_hfov><cutoff_angle>3.14159</cutoff_angle>\
        <env_texture_size>512</env_texture_size></lens>";
    let sensors = sensor("wideanglecamera", "wide", size, "", lens)
        + &sensor("camera", "narrow", size, "", "");
    // 80 degrees to the left.
    let (aside, ahead) = 80.0_f64.to_radians().sin_cos();
    let beside = format!(
        "{} {} {}",
        OFFSET + 4.0 * ahead,
        OFFSET + 4.0 * aside,
        HEIGHT + OFFSET
    );
    let ball = format!(
        "<model name='ball'><static>true</static><pose>{beside} 0 0 0</pose><link name='l'>\
         <visual name='v'><geometry><sphere><radius>0.2</radius></sphere></geometry>{GLOW}\
         </visual></link></model>"
    );
    let messages = seen(&format!(
        "{SUN}{GROUND}{}{ball}{}",
        red_box(),
        eyes(&sensors)
    ));
    let picture = Picture::of(first(&messages, "/wide"));
    assert_eq!((picture.size, &*picture.format), (size, "RGB_INT8"));
    let middle = picture.middle();
    assert!(middle[0] > 0 && middle[1..] == [0, 0], "{middle:?}");
    let ([column, row], count) = picture.green();
    // Angles are as wide everywhere.
    let expected = 128.0 - 128.0 * 80.0 / 90.0;
    assert!(count > 10, "{count} pixels");
    assert!(
        (column - expected).abs() < 3.0 && (row - 128.0).abs() < 3.0,
        "{column} {row}"
    );
    let (_, count) = Picture::of(first(&messages, "/narrow")).green();
    assert_eq!(count, 0);
}

#[test]
fn distortion_moves_what_is_seen_as_its_coefficients_say() {
    let size = [320, 240];
    let coefficients = [-0.1349, -0.51868, -0.001];
    let cases = [("flat", 0.0), ("barrel", 1.0), ("pincushion", -1.0)];
    let sensors = cases.map(|(name, sign)| {
        let [k1, k2, k3] = coefficients.map(|k| k * sign);
        let distortion = format!(
            "<horizontal_fov>0.927295218</horizontal_fov><distortion><k1>{k1}</k1><k2>{k2}</k2>\
             <k3>{k3}</k3><p1>0</p1><p2>0</p2><center>0.5 0.5</center></distortion>"
        );
        sensor("camera", name, size, "<format>R8G8B8</format>", &distortion)
    });
    // To the left and up, as parts of the distance.
    let [left, up] = [0.4_f64, 0.25];
    let ball = format!(
        "<model name='ball'><static>true</static><pose>{} {} {} 0 0 0</pose><link name='l'>\
         <visual name='v'><geometry><sphere><radius>0.06</radius></sphere></geometry>{GLOW}\
         </visual></link></model>",
        OFFSET + 2.0,
        OFFSET + 2.0 * left,
        HEIGHT + OFFSET + 2.0 * up
    );
    let messages = seen(&format!("{SUN}{ball}{}", eyes(&sensors.concat())));
    let square = left * left + up * up;
    for (name, sign) in cases {
        let [k1, k2, k3] = coefficients.map(|k| k * sign);
        let factor = 1.0 + square * (k1 + square * (k2 + square * k3));
        let expected = [160.0 - 320.0 * left * factor, 120.0 - 320.0 * up * factor];
        let (found, count) = Picture::of(first(&messages, &format!("/{name}"))).green();
        assert!(count > 20, "{name}: {count} pixels");
        let near = [0, 1].map(|axis| (found[axis] - expected[axis]).abs() < 1.0);
        assert_eq!(near, [true; 2], "{name}: {found:?} but {expected:?}");
    }
}

/// A message on a topic after an iteration.
fn publish(iteration: u32, topic: &str) -> Value {
    let (kind, message) = ("gz.msgs.Boolean", json!({"data": true}));
    json!({"iteration": iteration, "topic": topic, "type": kind, "message": message})
}

/// Returns the times of messages \[s\].
fn times(messages: &[Value]) -> Vec<f64> {
    let times = messages.iter().map(|message| {
        let stamp = &message["header"]["stamp"];
        let part = |name: &str| stamp[name].as_f64().unwrap_or_default();
        part("sec") + part("nsec") / 1e9
    });
    times.collect()
}

#[test]
fn a_triggered_camera_makes_an_image_for_each_message_and_no_other() {
    let scratch = Scratch::new();
    let triggered = "<triggered>true</triggered><trigger_topic>eye/shoot</trigger_topic>";
    let sensors = sensor("camera", "eye", [64, 48], "", triggered)
        + &sensor(
            "camera",
            "other",
            [64, 48],
            "",
            "<triggered>true</triggered>",
        );
    let world = written(&scratch, &format!("{}{}", red_box(), eyes(&sensors)));
    let commands = [
        publish(230, "/eye/shoot"),
        publish(250, "/other/trigger"),
        publish(450, "/eye/shoot"),
    ];
    let messages = record(&scratch, &world, 700, &commands);
    let due = |found: &[f64], expected: &[f64]| {
        // At the next time of the sensor's rate.
        let on_time = found.iter().zip(expected);
        let on_time = on_time.filter(|(found, expected)| (*found - *expected).abs() < 0.002);
        assert!(
            found.len() == expected.len() && on_time.count() == expected.len(),
            "{found:?}"
        );
    };
    due(&times(&messages["/eye"]), &[0.3, 0.5]);
    due(&times(&messages["/other"]), &[0.3]);
}

/// Returns Gazebo's worlds for its tests, if they are there.
fn gazebo(folder: &str) -> Option<PathBuf> {
    let Some(corpus) = repository::corpus() else {
        eprintln!("nothing more is shown: the corpus is not beside the repository");
        return None;
    };
    Some(corpus.join("gz-sim").join(folder))
}

#[test]
fn worlds_of_gazebos_own_tests_show_what_those_expect() {
    let Some(worlds) = gazebo("test/worlds") else {
        return;
    };
    let scratch = Scratch::new();
    let run = |name: &str| record(&scratch, &worlds.join(name), 150, &[]);
    for name in [
        "camera_sensor_empty_scene.sdf",
        "camera_sensor_scene_background.sdf",
    ] {
        check_filled(first(&run(name), "/camera"), [320, 240], [255, 0, 0]);
    }
    check_depths(
        first(&run("depth_camera_sensor.sdf"), "/depth_camera"),
        [256; 2],
    );
    let messages = run("rgbd_camera_sensor.sdf");
    check_depths(first(&messages, "/rgbd_camera/depth_image"), [256; 2]);
    let middle = Picture::of(first(&messages, "/rgbd_camera/image"));
    let middle = middle.middle();
    assert!(middle[0] > 0 && middle[1..] == [0, 0], "{middle:?}");
    let messages = run("wide_angle_camera_sensor.sdf");
    let picture = Picture::of(first(&messages, "/wide_angle_camera"));
    assert_eq!((picture.size, &*picture.format), ([256; 2], "RGB_INT8"));
    let sky = picture.pixel(128, 40).to_vec();
    assert_ne!(picture.pixel(128, 215), sky, "the ground is below");
    let commands = [publish(250, "/camera/trigger")];
    let triggered = worlds.join("triggered_camera_sensor.sdf");
    let messages = record(&scratch, &triggered, 500, &commands);
    assert_eq!(messages["/camera"].len(), 1);
    check_filled(first(&messages, "/camera"), [320, 240], [255, 0, 0]);
}

#[test]
fn cameras_that_distort_in_gazebos_world_see_more_or_less_of_the_ground() {
    let Some(worlds) = gazebo("test/worlds") else {
        return;
    };
    let scratch = Scratch::new();
    let messages = record(&scratch, &worlds.join("camera_distortion.sdf"), 50, &[]);
    let ground = |kind: &str| {
        let topic = format!("/camera_sensor_{kind}");
        let picture = Picture::of(first(&messages, &topic));
        assert_eq!(
            (picture.size, &*picture.format),
            ([320, 240], "RGB_INT8"),
            "{kind}"
        );
        // Its far edge, 5.5 m away and 0.5 m below, and the greatest extent of that.
        let lit = picture.pixels().filter(|(_, pixel)| pixel[0] > 20);
        let places: Vec<[usize; 2]> = lit.map(|(place, _)| place).collect();
        let top = places.iter().map(|place| place[1]).min().expect("a ground");
        (places.len(), top)
    };
    let [flat, barrel, pincushion] = ["undistorted", "barrel", "pincushion"].map(ground);
    // The middle of the far edge is hardly moved: 0.09 focal lengths below the centre.
    let expected = 120.0 + 320.0 * 0.5 / 5.5;
    for (_, top) in [flat, barrel, pincushion] {
        assert!((top as f64 - expected).abs() < 6.0, "{top} but {expected}");
    }
    assert!(flat.0 != barrel.0 && flat.0 != pincushion.0 && barrel.0 != pincushion.0);
}

#[test]
fn sensors_of_gazebos_world_speak_on_the_topics_that_its_test_names() {
    let Some(worlds) = gazebo("test/worlds") else {
        return;
    };
    let scratch = Scratch::new();
    let text = fs::read_to_string(worlds.join("sensor.sdf")).expect("a world");
    let start = text.find("<model name=\"box\">").expect("its first model");
    let end = start + text[start..].find("</model>").expect("its end") + "</model>".len();
    let model = format!("<sdf version='1.6'>{}</sdf>", &text[start..end]);
    // What a camera looks at goes and comes again.
    let commands = (1..=10).flat_map(|turn| {
        let spawn = json!({ "spawn": {
            "sdf": model, "file": null, "name": null, "allow_renaming": false, "pose": null,
            "relative_to": null, "world": null,
        } });
        [
            json!({ "iteration": 4 * turn, "command": { "remove": { "model": "box" } } }),
            json!({ "iteration": 4 * turn + 2, "command": spawn }),
        ]
    });
    let commands: Vec<Value> = commands.collect();
    let messages = record(&scratch, &worlds.join("sensor.sdf"), 100, &commands);
    for topic in [
        "camera_link/sensor/camera/image",
        "camera_link/sensor/camera/camera_info",
        "gpu_lidar_link/sensor/gpu_lidar/scan",
        "depth_camera_link/sensor/depth_camera/depth_image",
        "depth_camera_link/sensor/depth_camera/camera_info",
        "rgbd_camera_link/sensor/rgbd_camera/image",
        "rgbd_camera_link/sensor/rgbd_camera/depth_image",
        "thermal_camera_link/sensor/thermal_camera/image",
        "segmentation_camera_link/sensor/segmentation_camera/segmentation/colored_map",
        "segmentation_camera_link/sensor/segmentation_camera/segmentation/labels_map",
        "segmentation_camera_link/sensor/segmentation_camera/segmentation/camera_info",
    ] {
        let topic = format!("/world/camera_sensor/model/default_topics/link/{topic}");
        first(&messages, &topic);
    }
    // The one that looks at the box sees it as before: its noise is that of the time.
    let greens = messages["/camera"].iter().map(|message| {
        let picture = Picture::of(message);
        let is_green = |pixel: &[u8]| pixel[1] > pixel[0].max(pixel[2]).saturating_add(5);
        picture
            .pixels()
            .filter(|(_, pixel)| is_green(pixel))
            .count()
    });
    let greens: Vec<usize> = greens.collect();
    assert!(greens.len() >= 3 && greens[0] > 1000, "{greens:?}");
    let alike = |count: &usize| count.abs_diff(greens[0]) < greens[0] / 50;
    assert!(alike(greens.last().expect("several")), "{greens:?}");
}

#[test]
fn cameras_stop_where_the_battery_of_gazebos_model_is_empty() {
    let Some(worlds) = gazebo("test/worlds") else {
        return;
    };
    let scratch = Scratch::new();
    let discharge = json!({
        "iteration": 100, "topic": "/battery/discharge", "type": "gz.msgs.StringMsg",
        "message": { "data": "" },
    });
    let world = worlds.join("sensors_system_battery.sdf");
    let messages = record(&scratch, &world, 3000, &[discharge]);
    let topic = "/model/sensor_with_battery/battery/linear_battery/empty";
    let empty = times(&messages[topic]);
    assert_eq!(empty.len(), 1, "it is empty once: {empty:?}");
    for topic in ["/camera", "/depth_camera"] {
        let seen = times(&messages[topic]);
        let expected = (empty[0] * 30.0).floor() as usize + 1;
        assert!(
            seen.len().abs_diff(expected) <= 1,
            "{} images until {empty:?}",
            seen.len()
        );
        assert!(
            seen.iter().all(|time| *time <= empty[0] + 0.001),
            "{topic}: {seen:?}"
        );
    }
}
