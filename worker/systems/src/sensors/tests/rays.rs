//! Lidars and depth cameras before walls, and what they see of neighbours.

use messages::sensor::{CameraInfo, Image, LaserScan, LogicalCameraImage, PointCloudPacked};
use protocol::{LinkPoses, PerformerId};

use super::rig::{collision, cuboid, fixed, measure, model, rig_of, sensor};
use crate::test_rig::SystemTestRig;

/// Returns a lidar with columns, rows and a greatest range of 20 m.
fn lidar(columns: &str, rows: &str, range_min: f64) -> String {
    let content = format!(
        "<lidar><scan><horizontal>{columns}</horizontal><vertical>{rows}</vertical></scan>
        <range><min>{range_min}</min><max>20</max></range></lidar>"
    );
    sensor("gpu_lidar", &content)
}

fn angles(samples: u32, ends: [f64; 2]) -> String {
    let [first, last] = ends;
    format!(
        "<samples>{samples}</samples><min_angle>{first}</min_angle><max_angle>{last}</max_angle>"
    )
}

/// Returns a wall 5 m before the origin, 0.2 m thick and endless for a lidar.
fn wall() -> String {
    fixed("wall", "5.1 0 0 0 0 0", &cuboid("0.2 1000 1000"))
}

#[test]
fn ranges_are_those_to_a_wall_along_each_ray() {
    let (columns, rows) = (angles(61, [-1.2, 1.2]), angles(9, [-0.4, 0.4]));
    let lidar = lidar(&columns, &rows, 0.1);
    let mut rig = rig_of(&(wall() + &fixed("robot", "1 0 0 0 0 0", &lidar)));
    let scan: LaserScan = measure(&mut rig);
    assert_eq!((scan.count, scan.vertical_count), (61, 9));
    assert_eq!(scan.ranges.len(), 61 * 9);
    assert!((scan.angle_step - 0.04).abs() < 1e-12);
    assert_eq!(scan.frame, "robot::link::s");
    assert_eq!(scan.world_pose.position.x, 1.0);
    for row in 0..9 {
        for column in 0..61 {
            let azimuth = -1.2 + 0.04 * f64::from(column);
            let rise = -0.4 + 0.1 * f64::from(row);
            let expected = 4.0 / (azimuth.cos() * rise.cos());
            let range = scan.ranges[(row * 61 + column) as usize];
            assert!((range - expected).abs() < 1e-9, "{range} {expected}");
        }
    }
}

#[test]
fn points_lie_on_the_wall_with_ring_and_intensity() {
    let (columns, rows) = (angles(5, [-0.5, 0.5]), angles(2, [0.0, 0.2]));
    let retro = wall().replace("</geometry>", "</geometry><laser_retro>7</laser_retro>");
    let mut rig = rig_of(&(retro + &fixed("robot", "0 0 0 0 0 0", &lidar(&columns, &rows, 0.1))));
    rig.run_steps(1);
    let cloud: PointCloudPacked = rig.take("/t/points").remove(0);
    assert_eq!((cloud.width, cloud.height, cloud.is_dense), (5, 2, true));
    assert_eq!(cloud.data.len(), 10 * cloud.point_step as usize);
    for (index, point) in cloud.data.chunks(cloud.point_step as usize).enumerate() {
        let float = |at: usize| f32::from_le_bytes(point[at..at + 4].try_into().unwrap());
        assert!((float(0) - 5.0).abs() < 1e-6, "{}", float(0));
        assert_eq!(float(16), 7.0);
        assert_eq!(
            u16::from_le_bytes([point[24], point[25]]) as usize,
            index / 5
        );
    }
}

#[test]
fn nothing_is_infinite_and_what_is_too_near_negatively_so() {
    let ahead = angles(1, [0.0, 0.0]);
    let around = angles(2, [0.0, 3.0]);
    let near = fixed("near", "0.6 0 0 0 0 0", &cuboid("0.4 1 1"));
    let robot = |range_min| fixed("robot", "0 0 0 0 0 0", &lidar(&around, &ahead, range_min));
    let ranges = |range_min| {
        let mut rig = rig_of(&(wall() + &near + &robot(range_min)));
        measure::<LaserScan>(&mut rig).ranges
    };
    let infinite = f64::INFINITY;
    assert!((ranges(0.1)[0] - 0.4).abs() < 1e-12);
    assert_eq!(ranges(0.5), [-infinite, infinite], "it begins in the box");
    assert!(
        (ranges(0.9)[0] - 5.0).abs() < 1e-12,
        "it begins behind the box"
    );
}

#[test]
fn a_lidar_looks_through_its_own_link_alone() {
    let two = angles(2, [0.0, std::f64::consts::PI]);
    let own = cuboid("0.5 0.5 0.5") + &lidar(&two, &angles(1, [0.0, 0.0]), 0.1);
    let mast = format!(
        r#"<link name="mast"><pose>-2 0 0 0 0 0</pose>{}</link></model>"#,
        cuboid("0.5 0.5 0.5")
    );
    let robot = fixed("robot", "0 0 0 0 0 0", &own).replace("</model>", &mast);
    let scan: LaserScan = measure(&mut rig_of(&(wall() + &robot)));
    assert!((scan.ranges[0] - 5.0).abs() < 1e-9, "{:?}", scan.ranges);
    assert!((scan.ranges[1] - 1.75).abs() < 1e-9, "{:?}", scan.ranges);
}

#[test]
fn ghosts_are_seen_where_they_are() {
    let ball = collision("<sphere><radius>0.5</radius></sphere>");
    let ahead = angles(1, [0.0, 0.0]);
    let robot = fixed("robot", "0 0 0 0 0 0", &lidar(&ahead, &ahead, 0.1));
    let rig = rig_of(&(wall() + &robot + &model("ghost", "9 0 0 0 0 0", &ball)));
    let mut rig = {
        let mut cell = rig.cell;
        cell.remove_performer(PerformerId(2));
        cell.insert_ghost(PerformerId(2), 2);
        SystemTestRig::around(cell)
    };
    assert!((measure::<LaserScan>(&mut rig).ranges[0] - 5.0).abs() < 1e-9);
    let poses = LinkPoses::pack(PerformerId(2), [[3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]);
    assert!(rig.cell.place_ghost(&poses));
    assert!((measure::<LaserScan>(&mut rig).ranges[0] - 2.5).abs() < 1e-9);
}

#[test]
fn a_depth_camera_measures_along_its_axis() {
    let camera = "<camera><horizontal_fov>1.2</horizontal_fov><image><width>16</width>
        <height>12</height></image><clip><near>0.2</near><far>8</far></clip></camera>";
    let camera = sensor("depth_camera", camera);
    let mut rig = rig_of(&(wall() + &fixed("robot", "2 0 0 0 0 0", &camera)));
    rig.run_steps(1);
    let image: Image = rig.take("/t").remove(0);
    assert_eq!((image.width, image.height, image.step), (16, 12, 64));
    assert_eq!(image.pixel_format_type, "R_FLOAT32");
    for pixel in image.data.chunks(4) {
        let depth = f32::from_le_bytes(pixel.try_into().unwrap());
        assert!((depth - 3.0).abs() < 1e-6, "{depth}");
    }
    let info: CameraInfo = rig.take("/camera_info").remove(0);
    let focal = 8.0 / 0.6_f64.tan();
    assert!((info.intrinsics.k[0] - focal).abs() < 1e-9);
    let cloud: PointCloudPacked = rig.take("/t/points").remove(0);
    let first = |at: usize| f32::from_le_bytes(cloud.data[at..at + 4].try_into().unwrap());
    let (left, up) = (7.5 / focal * 3.0, 5.5 / focal * 3.0);
    assert!(
        (f64::from(first(4)) - left).abs() < 1e-5,
        "the first is left"
    );
    assert!((f64::from(first(8)) - up).abs() < 1e-5, "and above");
}

#[test]
fn points_beyond_the_clip_planes_are_infinite() {
    let camera = |near: f64, far: f64| {
        let content = format!(
            "<camera><image><width>1</width><height>1</height></image>
            <clip><near>{near}</near><far>{far}</far></clip></camera>"
        );
        let robot = fixed("robot", "0 0 0 0 0 0", &sensor("depth_camera", &content));
        let image: Image = measure(&mut rig_of(&(wall() + &robot)));
        f32::from_le_bytes(image.data[..4].try_into().unwrap())
    };
    assert_eq!(camera(0.1, 4.0), f32::INFINITY);
    assert_eq!(camera(5.1, 9.0), f32::NEG_INFINITY);
    assert_eq!(camera(0.1, 9.0), 5.0);
}

#[test]
fn a_logical_camera_names_the_models_in_sight() {
    let camera = "<logical_camera><near>0.5</near><far>10</far>
        <horizontal_fov>1</horizontal_fov><aspect_ratio>1</aspect_ratio></logical_camera>";
    let robot = fixed("robot", "1 0 0 0 0 0", &sensor("logical_camera", camera));
    let ball = collision("<sphere><radius>0.1</radius></sphere>");
    let behind = fixed("behind", "-3 0 0 0 0 0", &ball);
    let falls = model("b", "4 0 1 0 0 0", &ball);
    let mut rig = rig_of(&(robot + &behind + &falls + &fixed("a", "3 0.5 0 0 0 0", &ball)));
    let image: LogicalCameraImage = measure(&mut rig);
    let names: Vec<&str> = image
        .model
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(image.model[0].pose.position.x, 2.0);
    rig.run_steps(1000);
    let image: LogicalCameraImage = measure(&mut rig);
    assert_eq!(image.model.len(), 1, "the other one fell out of sight");
}

/// Returns the system of sensors that says what distances are measured to.
fn distances_to(what: &str) -> String {
    format!(
        "<plugin filename='gz-sim-sensors-system' name='gz::sim::systems::Sensors'>\
         <phalanx:distances>{what}</phalanx:distances></plugin>"
    )
}

/// Returns a box that is seen and that nothing collides with.
fn seen_box(name: &str, pose: &str, size: &str) -> String {
    let visual = format!(
        "<visual name='visual'><geometry><box><size>{size}</size></box></geometry></visual>"
    );
    fixed(name, pose, &visual)
}

#[test]
fn distances_are_to_visuals_where_the_world_says_so() {
    let seen = seen_box("seen", "3.1 0 0 0 0 0", "0.2 1000 1000");
    let turned = 0.3;
    let (columns, rows) = (angles(61, [-1.2, 1.2]), angles(9, [-0.4, 0.4]));
    let robot = fixed("robot", "0 0 0 0 0 0.3", &lidar(&columns, &rows, 0.1));
    let ranges = |what: &str| {
        let mut rig = rig_of(&(distances_to(what) + &wall() + &seen + &robot));
        measure::<LaserScan>(&mut rig).ranges
    };
    for (what, distance, tolerance) in [("collisions", 5.0, 1e-9), ("visuals", 3.0, 1e-5)] {
        let found = ranges(what);
        for (index, range) in found.iter().enumerate() {
            let azimuth = turned - 1.2 + 0.04 * (index % 61) as f64;
            let rise = -0.4 + 0.1 * (index / 61) as f64;
            let expected = distance / (azimuth.cos() * rise.cos());
            let is_met = azimuth.cos() > 0.2 && expected < 20.0;
            let error = (range - expected).abs() / expected;
            assert!(!is_met || error < tolerance, "{what}: {range} {expected}");
        }
    }
}

#[test]
fn rays_to_visuals_go_all_around_and_know_their_bounds() {
    // To all six sides of a room of 2 x 3 x 4 m, of visuals alone.
    let sides = [
        ("x", "1.05 0 0 0 0 0", "0.1 9 9"),
        ("-x", "-1.05 0 0 0 0 0", "0.1 9 9"),
        ("y", "0 1.55 0 0 0 0", "9 0.1 9"),
        ("-y", "0 -1.55 0 0 0 0", "9 0.1 9"),
        ("z", "0 0 2.05 0 0 0", "9 9 0.1"),
        ("-z", "0 0 -2.05 0 0 0", "9 9 0.1"),
    ];
    let room: String = sides
        .map(|(name, pose, size)| seen_box(name, pose, size))
        .concat();
    let half = std::f64::consts::FRAC_PI_2;
    let (columns, rows) = (
        angles(37, [-2.0 * half, 2.0 * half]),
        angles(19, [-half, half]),
    );
    let ranges = |range_min: f64| {
        let robot = fixed("robot", "0 0 0 0 0 0", &lidar(&columns, &rows, range_min));
        let mut rig = rig_of(&(distances_to("visuals") + &room + &robot));
        measure::<LaserScan>(&mut rig).ranges
    };
    for (index, range) in ranges(0.1).iter().enumerate() {
        let azimuth = -2.0 * half + half / 9.0 * (index % 37) as f64;
        let rise = -half + half / 9.0 * (index / 37) as f64;
        let direction = [
            azimuth.cos() * rise.cos(),
            azimuth.sin() * rise.cos(),
            rise.sin(),
        ];
        let to_side = direction.iter().zip([1.0, 1.5, 2.0]);
        let to_side = to_side.map(|(part, half_size)| half_size / part.abs());
        let expected = to_side.fold(f64::INFINITY, f64::min);
        // Where two sides meet, the ray may take the pixel of the other.
        assert!(
            (range - expected).abs() < 0.02 * expected,
            "{range} {expected}"
        );
    }
    let far = ranges(1.2);
    assert!(
        far.contains(&f64::NEG_INFINITY),
        "what is nearer than 1.2 m is too near"
    );
    assert!(
        far.iter()
            .all(|range| *range == f64::NEG_INFINITY || *range >= 1.2)
    );
}

#[test]
fn depths_are_of_visuals_where_the_world_says_so() {
    let seen = seen_box("seen", "3.1 0 0 0 0 0", "0.2 1000 1000");
    let camera = sensor(
        "depth_camera",
        "<camera><horizontal_fov>1</horizontal_fov><image><width>40</width><height>30</height>\
         </image><clip><near>0.1</near><far>10</far></clip></camera>",
    );
    let depths = |what: &str, pose: &str| {
        let robot = fixed("robot", pose, &camera);
        let mut rig = rig_of(&(distances_to(what) + &wall() + &seen + &robot));
        let image = measure::<Image>(&mut rig);
        let (pixels, _) = image.data.as_chunks::<4>();
        let depths: Vec<f32> = pixels
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        depths
    };
    let all = |depths: Vec<f32>, expected: f32| {
        let is_it = |depth: &f32| *depth == expected || (depth - expected).abs() < 1e-4;
        assert!(
            depths.len() == 1200 && depths.iter().all(is_it),
            "{expected}: {depths:?}"
        );
    };
    all(depths("collisions", "0 0 0 0 0 0"), 5.0);
    all(depths("visuals", "0 0 0 0 0 0"), 3.0);
    all(depths("visuals", "2.95 0 0 0 0 0"), f32::NEG_INFINITY);
    all(depths("visuals", "-8 0 0 0 0 0"), f32::INFINITY);
    let problem =
        SystemTestRig::problem(&(distances_to("both") + &fixed("r", "0 0 0 0 0 0", &camera)));
    assert!(
        problem.contains("must be visuals or collisions"),
        "{problem}"
    );
}
