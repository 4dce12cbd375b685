//! Cameras before coloured things: what their pixels, labels, temperatures and boxes say.

use messages::basic::Boolean;
use messages::sensor::{
    AnnotatedAxisAligned2DBoxV, AnnotatedOriented3DBoxV, CameraInfo, Image, PointCloudPacked,
};
use protocol::{LinkPoses, PerformerId};

use super::rig::{cuboid, fixed, model, rig_of};
use crate::test_rig::SystemTestRig;

const RED: &str = "<diffuse>0 0 0</diffuse><emissive>1 0 0</emissive>";
const GREEN: &str = "<diffuse>0 0 0</diffuse><emissive>0 1 0</emissive>";

/// Light from nowhere and a blue background, so that colours are what they are.
const SCENE: &str = "<scene><ambient>0 0 0</ambient><background>0 0 1</background></scene>";

fn visual(name: &str, shape: &str, material: &str, content: &str) -> String {
    format!(
        "<visual name='{name}'><geometry>{shape}</geometry><material>{material}</material>\
         {content}</visual>"
    )
}

/// Returns a red ball of 0.5 m radius.
fn ball(content: &str) -> String {
    let sphere = "<sphere><radius>0.5</radius></sphere>";
    visual("ball", sphere, RED, content)
}

fn label(number: u32) -> String {
    format!(
        "<plugin filename='gz-sim-label-system' name='gz::sim::systems::Label'>\
         <label>{number}</label></plugin>"
    )
}

/// Returns a camera of 64 x 48 pixels with an angle of view of a quarter turn, at the topic `t`.
fn camera(kind: &str, content: &str) -> String {
    format!(
        "<sensor name='s' type='{kind}'><topic>t</topic><camera>\
         <horizontal_fov>1.5707963267948966</horizontal_fov>\
         <image><width>64</width><height>48</height></image>\
         <clip><near>0.1</near><far>50</far></clip>{content}</camera></sensor>"
    )
}

/// Returns the messages of a step on a topic.
fn said<M: messages::Message>(rig: &mut SystemTestRig, topic: &str) -> Vec<M> {
    rig.take_all();
    rig.run_steps(1);
    rig.take(topic)
}

fn image(rig: &mut SystemTestRig, topic: &str) -> Image {
    said(rig, topic).remove(0)
}

/// Returns the bytes of a pixel.
fn pixel(image: &Image, column: usize, row: usize) -> Vec<u8> {
    let bytes = (image.step / image.width) as usize;
    let first = row * image.step as usize + column * bytes;
    image.data[first..first + bytes].to_vec()
}

#[test]
fn a_camera_sees_colours_where_they_are() {
    let robot = fixed("robot", "0 0 0 0 0 0", &camera("camera", ""));
    let ball = fixed("ball", "5 1 0 0 0 0", &ball(""));
    let mut rig = rig_of(&(SCENE.to_owned() + &robot + &ball));
    let seen = image(&mut rig, "/t");
    assert_eq!((seen.width, seen.height, seen.step), (64, 48, 192));
    assert_eq!(seen.pixel_format_type, "RGB_INT8");
    assert_eq!(seen.header.data[0].value, ["robot::link::s"]);
    // A metre to the left at 5 m, with a focal length of 32 pixels.
    assert_eq!(pixel(&seen, 32 - 6, 24), [255, 0, 0]);
    assert_eq!(pixel(&seen, 32 + 6, 24), [0, 0, 255]);
    let red = (0..64 * 48).filter(|place| pixel(&seen, place % 64, place / 64)[0] > 128);
    let area = std::f64::consts::PI * (0.5_f64 / 5.0 * 32.0).powi(2);
    let count = red.count() as f64;
    assert!((count - area).abs() < 0.2 * area, "{count} {area}");
    let info: CameraInfo = said(&mut rig, "/camera_info").remove(0);
    assert_eq!((info.width, info.height), (64, 48));
    assert!(
        (info.intrinsics.k[0] - 32.0).abs() < 1e-9,
        "{:?}",
        info.intrinsics
    );
    assert_eq!(info.distortion.model, "PLUMB_BOB");
}

#[test]
fn the_system_of_sensors_sets_their_light_and_background() {
    let seen = |parameters: &str, scene: &str| {
        let plugin = format!(
            "<plugin filename='gz-sim-sensors-system' name='gz::sim::systems::Sensors'>\
             {parameters}</plugin>"
        );
        let shape = "<box><size>1 1 1</size></box>";
        let thing = visual("thing", shape, "<diffuse>1 1 1</diffuse>", "");
        let robot = fixed("robot", "0 0 0 0 0 0", &camera("camera", ""));
        let thing = fixed("thing", "5 0 0 0 0 0", &thing);
        let mut rig = rig_of(&(plugin + scene + &robot + &thing));
        let seen = image(&mut rig, "/t");
        (pixel(&seen, 32, 24), pixel(&seen, 2, 2))
    };
    let both = "<ambient_light>1 1 1</ambient_light><background_color>1 0 0 1</background_color>";
    let lit = "<scene><ambient>1 1 1</ambient><background>1 0 0</background></scene>";
    assert_eq!(seen(both, SCENE), seen("", lit));
    assert_eq!(seen(both, SCENE).1, [255, 0, 0]);
    let dark = (vec![0; 3], vec![0, 0, 255]);
    assert_eq!(seen("", SCENE), dark);
    let wrong = "<ambient_light>1 nothing</ambient_light><background_color>1</background_color>";
    assert_eq!(seen(wrong, SCENE), dark);
}

#[test]
fn formats_masks_planes_and_backs_are_as_the_file_says() {
    let scene = |camera: &str, ball: &str| {
        let ball = fixed("ball", "5 0 0 0 0 0", ball);
        rig_of(&(SCENE.to_owned() + &fixed("robot", "0 0 0 0 0 0", camera) + &ball))
    };
    let middle = |rig: &mut SystemTestRig| {
        let seen = image(rig, "/t");
        (seen.pixel_format_type.clone(), pixel(&seen, 32, 24))
    };
    let of_format = |format: &str| {
        let image = format!("<image><width>64</width><height>48</height><format>{format}</format>");
        let plain = camera("camera", "");
        let replaced = plain.replace("<image><width>64</width><height>48</height>", &image);
        middle(&mut scene(&replaced, &ball("")))
    };
    assert_eq!(of_format("L8"), ("L_INT8".to_owned(), vec![76]));
    assert_eq!(of_format("B8G8R8").1, [0, 0, 255]);
    let problem = SystemTestRig::problem(&fixed(
        "r",
        "0 0 0 0 0 0",
        &camera("camera", "").replace(
            "<height>48</height>",
            "<height>48</height><format>R_FLOAT16</format>",
        ),
    ));
    assert!(problem.contains("R_FLOAT16"), "{problem}");
    let hidden = ball("<visibility_flags>2</visibility_flags>");
    let masked = camera("camera", "<visibility_mask>1</visibility_mask>");
    assert_eq!(middle(&mut scene(&masked, &hidden)).1, [0, 0, 255]);
    let other = camera("camera", "<visibility_mask>3</visibility_mask>");
    assert_eq!(middle(&mut scene(&other, &hidden)).1, [255, 0, 0]);
    let near = camera("camera", "").replace("<far>50</far>", "<far>3</far>");
    assert_eq!(
        middle(&mut scene(&near, &ball(""))).1,
        [0, 0, 255],
        "beyond the far plane"
    );
    // The camera is within a box, whose back it does not see.
    let housing = visual("housing", "<box><size>1 1 1</size></box>", GREEN, "");
    let within = housing.clone() + &camera("camera", "");
    assert_eq!(middle(&mut scene(&within, &ball(""))).1, [255, 0, 0]);
    let both = housing.replace("<diffuse>", "<double_sided>1</double_sided><diffuse>");
    let within = both + &camera("camera", "");
    assert_eq!(middle(&mut scene(&within, &ball(""))).1, [0, 255, 0]);
}

#[test]
fn a_camera_sees_ghosts_and_what_is_gone_no_more() {
    let camera = fixed("robot", "0 0 0 0 0 0", &camera("camera", ""));
    let mut rig = rig_of(&(SCENE.to_owned() + &camera + &model("ball", "5 0 3 0 0 0", &ball(""))));
    let middle = |rig: &mut SystemTestRig| pixel(&image(rig, "/t"), 32, 24);
    assert_eq!(middle(&mut rig), [0, 0, 255]);
    let performer = PerformerId(1);
    rig.cell.remove_performer(performer);
    assert_eq!(middle(&mut rig), [0, 0, 255]);
    rig.cell.insert_ghost(performer, 1);
    let pose = [5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    assert!(
        rig.cell
            .place_ghost(&LinkPoses::pack(performer, [pose].into_iter()))
    );
    assert_eq!(middle(&mut rig), [255, 0, 0]);
    rig.cell.remove_ghost(performer);
    assert_eq!(middle(&mut rig), [0, 0, 255]);
}

#[test]
fn a_triggered_camera_waits_for_its_message() {
    let content = "<triggered>true</triggered><trigger_topic>shoot</trigger_topic>";
    for (kind, images) in [("camera", "/t"), ("rgbd_camera", "/t/image")] {
        let mut rig = rig_of(&fixed("robot", "0 0 0 0 0 0", &camera(kind, content)));
        assert_eq!(said::<Image>(&mut rig, images).len(), 0, "{kind}");
        let infos: Vec<CameraInfo> = said(&mut rig, camera_info(images));
        assert_eq!(infos.len(), 1, "{kind}: what the camera is does not wait");
        shoot(&mut rig);
        assert_eq!(said::<Image>(&mut rig, images).len(), 1, "{kind}");
        let again = said::<Image>(&mut rig, images).len();
        assert_eq!(again, 0, "{kind}: a message, an image");
    }
    // A message that came before a hand-off counts after it.
    let mut rig = rig_of(&fixed(
        "robot",
        "0 0 0 0 0 0",
        &camera("rgbd_camera", content),
    ));
    shoot(&mut rig);
    rig.hand_off();
    assert_eq!(said::<Image>(&mut rig, "/t/image").len(), 1);
}

fn shoot(rig: &mut SystemTestRig) {
    let message = Boolean {
        data: true,
        ..Boolean::default()
    };
    rig.publish("/shoot", &message);
}

/// Returns the topic of what a camera is, beside its images.
fn camera_info(images: &str) -> &'static str {
    if images == "/t" {
        "/camera_info"
    } else {
        "/t/camera_info"
    }
}

#[test]
fn colours_and_depths_of_an_rgbd_camera_are_of_the_same_pixels() {
    let bent = "<distortion><k1>-0.2</k1></distortion>";
    let camera = fixed("robot", "0 0 0 0 0 0", &camera("rgbd_camera", bent));
    let red = visual("v", "<box><size>1 1 9</size></box>", RED, "");
    let pillar = fixed("pillar", "5 3 0 0 0 0", &(cuboid("1 1 9") + &red));
    let mut rig = rig_of(&(SCENE.to_owned() + &camera + &pillar));
    let colors = image(&mut rig, "/t/image");
    let depths = image(&mut rig, "/t/depth_image");
    for column in 0..64 {
        let is_red = pixel(&colors, column, 24)[0] > 250;
        let depth = f32::from_le_bytes(pixel(&depths, column, 24).try_into().unwrap());
        let is_blue = pixel(&colors, column, 24)[0] < 5;
        assert!(
            is_red == depth.is_finite() || !(is_red || is_blue),
            "{column}"
        );
    }
    let info: CameraInfo = said(&mut rig, "/t/camera_info").remove(0);
    assert_eq!(info.distortion.k, [0.0; 5]);
}

#[test]
fn noise_is_in_all_colours() {
    let noise = "<noise><type>gaussian</type><mean>0</mean><stddev>0.1</stddev></noise>";
    let mut rig =
        rig_of(&(SCENE.to_owned() + &fixed("r", "0 0 0 0 0 0", &camera("camera", noise))));
    let seen = image(&mut rig, "/t");
    let reds: Vec<f64> = (0..64 * 48)
        .map(|place| f64::from(pixel(&seen, place % 64, place / 64)[0]) / 255.0)
        .collect();
    let mean = reds.iter().sum::<f64>() / reds.len() as f64;
    // The mean of the positive half of a normal distribution, and nothing of the other.
    assert!((mean - 0.0399).abs() < 0.005, "{mean}");
}

#[test]
fn a_distorted_image_has_its_middle_where_it_was() {
    let ball = fixed("ball", "5 3 0 0 0 0", &ball(""));
    let middle_of_red = |content: &str| {
        let camera = fixed("robot", "0 0 0 0 0 0", &camera("camera", content));
        let seen = image(&mut rig_of(&(SCENE.to_owned() + &camera + &ball)), "/t");
        let red = (0..64 * 48).filter(|place| pixel(&seen, place % 64, place / 64)[0] > 128);
        let columns: Vec<usize> = red.map(|place| place % 64).collect();
        columns.iter().sum::<usize>() as f64 / columns.len() as f64
    };
    // 3 m to the left at 5 m, so 0.6 from the axis.
    let straight = middle_of_red("");
    assert!((straight - (31.5 - 0.6 * 32.0)).abs() < 1.0, "{straight}");
    let bent = middle_of_red("<distortion><k1>-0.2</k1></distortion>");
    let expect = 31.5 - 0.6 * (1.0 - 0.2 * 0.36) * 32.0;
    assert!(
        (bent - expect).abs() < 1.0 && bent > straight + 0.7,
        "{bent} {expect}"
    );
}

#[test]
fn points_of_an_rgbd_camera_have_colours() {
    let camera = fixed("robot", "0 0 0 0 0 0", &camera("rgbd_camera", ""));
    let red = visual("v", "<box><size>1 9 9</size></box>", RED, "");
    let wall = fixed("wall", "5.5 0 0 0 0 0", &(cuboid("1 9 9") + &red));
    let mut rig = rig_of(&(SCENE.to_owned() + &camera + &wall));
    assert_eq!(pixel(&image(&mut rig, "/t/image"), 32, 24), [255, 0, 0]);
    let depth = pixel(&image(&mut rig, "/t/depth_image"), 32, 24);
    assert_eq!(f32::from_le_bytes(depth.try_into().unwrap()), 5.0);
    let cloud: PointCloudPacked = said(&mut rig, "/t/points").remove(0);
    let rgb = cloud.field.last().unwrap();
    assert_eq!((rgb.name.as_str(), rgb.offset), ("rgb", 16));
    let first = (24 * 64 + 32) * cloud.point_step as usize;
    assert_eq!(cloud.data[first + 16..first + 20], [0, 0, 255, 0]);
}

/// Returns two labelled balls, one of them as a whole model, and one without label.
fn labelled() -> String {
    let of_visual = fixed("near", "5 1 0 0 0 0", &ball(&label(7)));
    let of_model = fixed("far", "5 -1 0 0 0 0", &ball(""));
    let of_model = of_model.replace("</link></model>", &format!("</link>{}</model>", label(7)));
    of_visual + &of_model + &fixed("other", "5 0 2 0 0 0", &ball(""))
}

#[test]
fn labels_are_those_of_visuals_and_models() {
    let maps = |kind: &str| {
        let content = format!("<segmentation_type>{kind}</segmentation_type>");
        let camera = fixed(
            "robot",
            "0 0 0 0 0 0",
            &camera("segmentation_camera", &content),
        );
        let mut rig = rig_of(&(camera + &labelled()));
        rig.run_steps(1);
        let mut take = |topic: &str| rig.take::<Image>(topic).remove(0);
        [take("/t/labels_map"), take("/t/colored_map")]
    };
    let (left, right, up) = ((26, 24), (38, 24), (32, 24 - 13));
    let at = |image: &Image, place: (usize, usize)| pixel(image, place.0, place.1);
    let [labels, colors] = maps("semantic");
    assert_eq!(
        (at(&labels, left), at(&labels, right)),
        (vec![7; 3], vec![7; 3])
    );
    assert_eq!(at(&labels, up), [0; 3], "without label");
    assert_eq!(at(&colors, left), at(&colors, right));
    assert_ne!(at(&colors, left), at(&colors, up));
    let [labels, colors] = maps("instance");
    assert_eq!(
        (at(&labels, left), at(&labels, right)),
        (vec![1, 0, 7], vec![2, 0, 7])
    );
    assert_ne!(at(&colors, left), at(&colors, right));
}

#[test]
fn boxes_are_around_what_is_seen_all_of_it_or_in_space() {
    let rig = |kind: &str| {
        let content = format!("<box_type>{kind}</box_type>");
        let camera = fixed(
            "robot",
            "0 0 0 0 0 0",
            &camera("boundingbox_camera", &content),
        );
        // Hides the left half of the left ball.
        let hides = fixed(
            "hides",
            "3 1.6 0 0 0 0",
            &visual("v", "<box><size>0.1 2 2</size></box>", GREEN, ""),
        );
        rig_of(&(camera + &labelled() + &hides))
    };
    let flat = |kind: &str| said::<AnnotatedAxisAligned2DBoxV>(&mut rig(kind), "/t").remove(0);
    let width = |boxes: &AnnotatedAxisAligned2DBoxV, number: usize| {
        let found = &boxes.annotated_box[number].r#box;
        found.max_corner.x - found.min_corner.x
    };
    let (seen, whole) = (flat("2d"), flat("full_2d"));
    assert_eq!(
        (seen.annotated_box.len(), whole.annotated_box.len()),
        (2, 2)
    );
    assert_eq!(seen.annotated_box[0].label, 7);
    assert!(width(&seen, 0) < width(&seen, 1), "one is hidden in part");
    assert!((width(&whole, 0) - width(&whole, 1)).abs() < 1.0);
    let mut rig = rig("3d");
    let space: AnnotatedOriented3DBoxV = said(&mut rig, "/t").remove(0);
    let found = &space.annotated_box[0].r#box;
    assert!((found.center.x - 5.0).abs() < 0.02 && (found.center.y - 1.0).abs() < 0.02);
    assert!((found.boxsize.z - 1.0).abs() < 0.02, "{:?}", found.boxsize);
    let drawn = image(&mut rig, "/t_image");
    let green = (0..64 * 48).filter(|place| pixel(&drawn, place % 64, place / 64) == [0, 255, 0]);
    assert!(green.count() > 40, "boxes are drawn");
}

#[test]
fn actors_are_seen_where_their_script_says() {
    // A metre to the left of the middle at the start, and as far to the right after 4 ms.
    let actor = format!(
        "<actor name='walker'><pose>5 0 0 0 0 0</pose><link name='l'>{}</link>{}<script>\
         <trajectory id='0' type='walk' tension='1'>\
         <waypoint><time>0</time><pose>0 1 0 0 0 0</pose></waypoint>\
         <waypoint><time>0.004</time><pose>0 -1 0 0 0 0</pose></waypoint>\
         </trajectory></script></actor>",
        ball(""),
        label(5)
    );
    let seen = |kind: &str| {
        let robot = fixed("robot", "0 0 0 0 0 0", &camera(kind, ""));
        rig_of(&(SCENE.to_owned() + &robot + &actor))
    };
    let mut rig = seen("camera");
    let middles: Vec<Vec<u8>> = (0..4)
        .map(|_| pixel(&image(&mut rig, "/t"), 32, 24))
        .collect();
    let (red, blue) = (vec![255, 0, 0], vec![0, 0, 255]);
    assert_eq!(
        middles,
        [blue.clone(), red, blue.clone(), blue],
        "at 1, 2, 3 and 4 ms"
    );
    let mut rig = seen("segmentation_camera");
    rig.run_steps(1);
    let labels = image(&mut rig, "/t/labels_map");
    assert_eq!(pixel(&labels, 32, 24), [5; 3]);
    for kind in ["full_2d", "3d"] {
        let robot = camera(
            "boundingbox_camera",
            &format!("<box_type>{kind}</box_type>"),
        );
        let robot = fixed("robot", "0 0 0 0 0 0", &robot);
        let mut rig = rig_of(&(SCENE.to_owned() + &robot + &actor));
        rig.run_steps(1);
        if kind == "3d" {
            let boxes: AnnotatedOriented3DBoxV = said(&mut rig, "/t").remove(0);
            let found = &boxes.annotated_box[0].r#box;
            assert!((found.center.x - 5.0).abs() < 0.02 && found.center.y.abs() < 0.02);
        } else {
            let boxes: AnnotatedAxisAligned2DBoxV = said(&mut rig, "/t").remove(0);
            let found = &boxes.annotated_box[0].r#box;
            let middle = f64::midpoint(found.min_corner.x, found.max_corner.x);
            assert!((middle - 32.0).abs() < 1.0, "{middle}");
        }
    }
}

#[test]
fn a_thermal_camera_tells_temperatures() {
    let heat = "<plugin filename='gz-sim-thermal-system' name='gz::sim::systems::Thermal'>\
                <temperature>310.5</temperature></plugin>";
    let ball = fixed("ball", "5 0 0 0 0 0", &ball(heat));
    let plain = camera("thermal_camera", "");
    let mut rig = rig_of(&(fixed("robot", "0 0 0 0 0 0", &plain) + &ball));
    let seen = image(&mut rig, "/t");
    let kelvin = |place: (usize, usize)| {
        let bytes = pixel(&seen, place.0, place.1);
        f64::from(u16::from_le_bytes(bytes.try_into().unwrap())) * 0.01
    };
    assert_eq!(seen.pixel_format_type, "L_INT16");
    assert!((kelvin((32, 24)) - 310.5).abs() < 0.006);
    assert!((kelvin((2, 2)) - 288.15).abs() < 0.006, "the air");
    let short = plain
        .replace(
            "<height>48</height>",
            "<height>48</height><format>L8</format>",
        )
        .replace(
            "</camera>",
            "</camera><plugin filename='f' \
             name='gz::sim::systems::ThermalSensor'><resolution>2</resolution>\
             <max_temp>300</max_temp></plugin>",
        );
    let mut rig = rig_of(&(fixed("robot", "0 0 0 0 0 0", &short) + &ball));
    assert_eq!(pixel(&image(&mut rig, "/t"), 32, 24), [150]);
}

#[test]
fn a_wide_angle_camera_sees_beside_itself() {
    let lens = "<horizontal_fov>3.2</horizontal_fov><lens><type>equidistant</type>\
                <scale_to_hfov>true</scale_to_hfov><cutoff_angle>1.6</cutoff_angle></lens>";
    let wide = camera("wideanglecamera", lens)
        .replace("<horizontal_fov>1.5707963267948966</horizontal_fov>", "");
    let ball = fixed("ball", "0 5 0 0 0 0", &ball(""));
    let mut rig = rig_of(&(SCENE.to_owned() + &fixed("robot", "0 0 0 0 0 0", &wide) + &ball));
    let seen = image(&mut rig, "/t");
    // A quarter turn to the left, of 1.6 rad at the edge.
    let column = 32.0 - 32.0 * std::f64::consts::FRAC_PI_2 / 1.6;
    assert_eq!(pixel(&seen, column as usize, 24), [255, 0, 0]);
    assert_eq!(pixel(&seen, 32, 24), [0, 0, 255]);
    assert_eq!(pixel(&seen, 0, 0), [0, 0, 0], "beyond the cutoff");
}

#[test]
fn all_cameras_of_the_world_that_shows_them_see_something() {
    // worlds/cameras.sdf
    let text = include_str!("../../../../../worlds/cameras.sdf");
    let read = sdf::read_worlds(text, "cameras.sdf", &sdf::NoFiles).unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let world = read.worlds.into_iter().next().unwrap();
    let mut rig = SystemTestRig::of_world(&std::sync::Arc::new(world));
    assert_eq!(rig.problems, Vec::<String>::new());
    rig.run_steps(1);
    let topics = [
        "image",
        "rgbd/image",
        "segmentation/labels_map",
        "boxes_image",
        "heat",
        "wide",
    ];
    for topic in topics {
        let image: Image = rig.take(&format!("/rover/{topic}")).remove(0);
        let first = image.data[0];
        assert!(image.data.iter().any(|byte| *byte != first), "{topic}");
    }
}

/// A camera and a sensor of a nested model on a battery of 18 A s that drains at 300 A.
fn on_battery() -> SystemTestRig {
    let battery = "<plugin name='gz::sim::systems::LinearBatteryPlugin' filename='b'>\
        <battery_name>b</battery_name><voltage>12</voltage><capacity>0.005</capacity>\
        <open_circuit_voltage_constant_coef>12</open_circuit_voltage_constant_coef>\
        <smooth_current_tau>0.001</smooth_current_tau><power_load>3600</power_load>\
        <start_draining>true</start_draining></plugin>";
    let topic =
        |sensor: &str, topic: &str| sensor.replace("<topic>t<", &format!("<topic>{topic}<"));
    let eye = camera("camera", "");
    let lidar = "<sensor name='l' type='gpu_lidar'><topic>l</topic><lidar><scan><horizontal>\
        <samples>3</samples><min_angle>-1</min_angle><max_angle>1</max_angle></horizontal></scan>\
        <range><min>0.1</min><max>9</max></range></lidar></sensor>";
    let imu = "<sensor name='i' type='imu'><topic>i</topic></sensor>";
    let nested = format!("<model name='inner'><link name='link'>{lidar}{imu}</link></model>");
    let fed = model("fed", "0 0 0 0 0 0", &eye);
    let fed = fed.replace("</model>", &format!("{nested}{battery}</model>"));
    let other = fixed("other", "9 0 0 0 0 0", &topic(&eye, "other"));
    rig_of(&format!("{SCENE}{fed}{other}"))
}

#[test]
fn an_empty_battery_turns_off_what_a_renderer_would_draw_for() {
    let mut rig = on_battery();
    let told = |rig: &mut SystemTestRig, steps: u32| {
        rig.take_all();
        rig.run_steps(steps);
        let all = rig.take_all();
        ["/t", "/l", "/i", "/other"]
            .map(|topic| all.iter().filter(|one| one.topic == topic).count())
    };
    let before = told(&mut rig, 40);
    assert_eq!(before, [40; 4]);
    rig.run_steps(40);
    assert_eq!(told(&mut rig, 10), [0, 0, 10, 10]);
    rig.hand_off();
    assert_eq!(told(&mut rig, 10), [0, 0, 10, 10]);
}

#[test]
fn the_right_one_of_a_pair_of_cameras_tells_how_far_it_is_from_the_left_one() {
    let pair = |topics: [&str; 2]| {
        let eyes = topics.iter().zip([0.05, -0.07]).map(|(topic, y)| {
            let pose = format!("</topic><pose>0 {y} 0 0 0 0</pose>");
            let eye = camera("camera", "").replace("</topic>", &pose);
            let eye = eye.replace("<topic>t<", &format!("<topic>{topic}/image<"));
            eye.replace("name='s'", &format!("name='{topic}'"))
        });
        let eyes: String = eyes.collect();
        let mut rig = rig_of(&(SCENE.to_owned() + &fixed("head", "0 0 0 0 0 0", &eyes)));
        rig.run_steps(1);
        topics.map(|topic| {
            let infos: Vec<CameraInfo> = rig.published(&format!("/{topic}/camera_info"));
            infos[0].projection.p[3]
        })
    };
    // The focal length is half of 64 pixels.
    let near = |found: [f64; 2], expected: [f64; 2]| {
        let is_near = (0..2).all(|eye| (found[eye] - expected[eye]).abs() < 1e-9);
        assert!(is_near, "{found:?} but {expected:?}");
    };
    near(pair(["left", "right"]), [0.0, -32.0 * 0.12]);
    near(pair(["right", "left"]), [-32.0 * 0.12, 0.0]);
    near(pair(["one", "other"]), [0.0, -32.0 * 0.12]);
}
