//! Greatest distance at which a model sees others, and at which others see it.
//!
//! Never less than what its sensors make of the same parameters: where a parameter cannot be read
//! or a kind of sensor is not known, the distance has no end.

use serde::{Deserialize, Serialize};

use super::norm;
use super::reach::Entry;
use crate::vocabulary::find_sensor;
use crate::world::{Content, Geometry, Link, Model, Sensor};

/// Ending of the names of systems that look for other models.
const WATCHING_SYSTEM: &str = "PerformerDetector";
/// Distance from its origin at which a mesh counts as ending whose file nothing has read \[m\]: one
/// that a visual alone names, where no sensor draws, or that cannot be read.
const MESH_SIZE: f64 = 2.0;
/// Factor by which a distorted image may be wider and higher than one without distortion.
const WIDER: f64 = 3.0;
/// The angle across that SDFormat has by default \[rad\].
const FIELD_OF_VIEW: f64 = 1.047;

/// Distances at which a model sees and is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// Greatest distance from the model's origin of what its sensors and systems see of others
    /// \[m\], whatever its joints do; `None` if they see none.
    pub range: Option<f64>,
    /// Greatest distance of its visuals and collisions from its origin \[m\].
    pub size: f64,
    /// True if both are from where its links are, too, since no joint holds some of them.
    pub has_loose_links: bool,
}

impl Model {
    /// Returns how far it sees others, and how far others see it.
    pub fn sight(&self) -> Sight {
        let entries = self.entries();
        let mut sight = Sight {
            range: None,
            size: self.reach().radius,
            has_loose_links: false,
        };
        let mut see = |range: f64| {
            // What is no number is no bound.
            let range = if range.is_nan() { f64::INFINITY } else { range };
            sight.range = Some(sight.range.map_or(range, |known| known.max(range)));
        };
        for (link, entry) in self.links.iter().zip(&entries) {
            for sensor in &link.sensors {
                if let Some(range) = range_of(sensor) {
                    let at = link.pose.then(&sensor.pose).position;
                    see(range + distance(link, *entry, at));
                }
            }
        }
        for joint in &self.joints {
            let link = &self.links[joint.child];
            for sensor in &joint.sensors {
                if let Some(range) = range_of(sensor) {
                    let at = joint.pose.then(&sensor.pose).position;
                    see(range + distance(link, entries[joint.child], at));
                }
            }
        }
        let is_watching = |name: &str| name.ends_with(WATCHING_SYSTEM);
        for plugin in self.plugins.iter().filter(|one| is_watching(&one.name)) {
            see(region(&plugin.content));
        }
        let mut nested = self.nested.iter().flat_map(|nested| &nested.plugins);
        if nested.any(|plugin| is_watching(&plugin.name)) {
            see(f64::INFINITY);
        }
        for (link, entry) in self.links.iter().zip(&entries) {
            for visual in &link.visuals {
                let at = link.pose.then(&visual.pose).position;
                let far = distance(link, *entry, at) + drawn_radius(&visual.geometry);
                sight.size = sight.size.max(far);
            }
            let is_seen = !link.visuals.is_empty() || !link.collisions.is_empty();
            let matters = is_seen || !link.sensors.is_empty();
            sight.has_loose_links |= entry.is_none() && matters;
        }
        sight
    }
}

/// Returns the radius of a ball about the origin of a shape that holds what is drawn of it \[m\].
fn drawn_radius(geometry: &Geometry) -> f64 {
    match geometry {
        Geometry::Plane { size, .. } => norm([size[0], size[1], 0.0]) / 2.0,
        Geometry::Mesh(mesh) if mesh.bounds.is_none() => MESH_SIZE,
        Geometry::Heightmap(map) => norm(map.size) + norm(map.position),
        known => known.bounding_radius(),
    }
}

/// Returns how far a point of a link can be from the model's origin \[m\]; if no joint holds the
/// link, from where its collisions are.
fn distance(link: &Link, entry: Option<Entry>, point: [f64; 3]) -> f64 {
    if let Some(entry) = entry {
        return entry.distance_of(point);
    }
    let around = link.collisions.iter().map(|collision| {
        let at = link.pose.then(&collision.pose).position;
        let offset = std::array::from_fn(|axis| point[axis] - at[axis]);
        norm(offset) + collision.geometry.bounding_radius()
    });
    around.fold(f64::INFINITY, f64::min)
}

/// Returns the greatest distance of what a sensor sees of other models \[m\], if it sees any.
fn range_of(sensor: &Sensor) -> Option<f64> {
    let content = &sensor.content;
    let kind = match find_sensor(&sensor.kind) {
        Some(kind) if !kind.sees_others => return None,
        Some(kind) => kind.name,
        // A kind that is not known is given what it may want to see.
        None => return Some(f64::INFINITY),
    };
    let camera = content.child("camera");
    Some(match kind {
        "lidar" | "gpu_lidar" => {
            let found = ["lidar", "ray"].iter().find_map(|name| content.child(name));
            found.map_or(0.0, |lidar| number(lidar, "range/max", 0.0))
        }
        "logical_camera" => {
            let given =
                |name: &str, default| number(content, &format!("logical_camera/{name}"), default);
            let across = libm::tan(given("horizontal_fov", 1.0) / 2.0);
            let corner = [1.0, across, across / given("aspect_ratio", 1.0)];
            given("far", 1.0) * norm(corner)
        }
        "wide_angle_camera" => {
            // It draws the six faces of a cube, each up to its far plane.
            camera.map_or(0.0, |camera| far(camera, kind) * norm([1.0; 3]))
        }
        _ => camera.map_or(0.0, |camera| far(camera, kind) * corner(camera)),
    })
}

/// Returns the distance of the far plane of a kind of camera \[m\].
fn far(camera: &Content, kind: &str) -> f64 {
    let plain = number(camera, "clip/far", 100.0);
    let deep = number(camera, "depth_camera/clip/far", plain);
    match kind {
        "depth_camera" => deep,
        "rgbd_camera" => plain.max(deep),
        _ => plain,
    }
}

/// Returns how far the corner of an image is at a depth of 1.
fn corner(camera: &Content) -> f64 {
    let size = ["image/width", "image/height"];
    let size = [
        number(camera, size[0], 320.0),
        number(camera, size[1], 240.0),
    ];
    let angle = number(camera, "horizontal_fov", FIELD_OF_VIEW);
    let focal = size[0] / (2.0 * libm::tan(angle / 2.0));
    let intrinsic =
        |name: &str, default| number(camera, &format!("lens/intrinsics/{name}"), default);
    let focal = [intrinsic("fx", focal), intrinsic("fy", focal)];
    let center = [
        intrinsic("cx", size[0] / 2.0),
        intrinsic("cy", size[1] / 2.0),
    ];
    let is_bent = |name: &&str| number(camera, &format!("distortion/{name}"), 0.0) != 0.0;
    let is_distorted = ["k1", "k2", "k3", "p1", "p2"].iter().any(is_bent);
    let wider = if is_distorted { WIDER } else { 1.0 };
    let [across, down] = [0, 1].map(|axis| {
        let farther = center[axis].abs().max((size[axis] - center[axis]).abs());
        wider * farther / focal[axis].abs()
    });
    norm([1.0, across, down])
}

/// Returns the distance from its model's origin of the farthest corner of the region in which a
/// `PerformerDetector` looks \[m\].
fn region(content: &Content) -> f64 {
    let lengths = |path: &str| -> Option<[f64; 3]> {
        let text = find(content, path)?.text();
        let numbers = text.split_whitespace().map(str::parse::<f64>);
        let numbers: Result<Vec<f64>, _> = numbers.collect();
        let first = numbers.ok()?.get(..3)?.try_into().ok()?;
        Some(first)
    };
    let Some(size) = lengths("geometry/box/size") else {
        return 0.0; // Without a region it is refused.
    };
    let center = match find(content, "pose") {
        Some(pose) if !pose.text().trim().is_empty() => lengths("pose"),
        _ => Some([0.0; 3]),
    };
    center.map_or(f64::INFINITY, norm) + norm(size) / 2.0
}

/// Returns the element at a path, if it is there.
fn find<'a>(content: &'a Content, path: &str) -> Option<&'a Content> {
    let mut names = path.split('/');
    names.try_fold(content, |content, name| content.child(name))
}

/// Returns the number at a path, or the default without text there; infinity if it is none.
fn number(content: &Content, path: &str, default: f64) -> f64 {
    let text = find(content, path).map(Content::text).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() {
        return default;
    }
    let number = text.parse().unwrap_or(f64::INFINITY);
    if f64::is_nan(number) {
        f64::INFINITY
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoFiles;

    /// Returns the sight of a model that stands 7 m from the origin of its world.
    fn sight(inner: &str) -> Sight {
        let world = format!(
            "<sdf version='1.10'><world name='w'><model name='m'><pose>7 0 0 0 0 0</pose>{inner}\
             </model></world></sdf>"
        );
        let read = crate::read_worlds(&world, "w.sdf", &NoFiles);
        let read = read.unwrap_or_else(|error| panic!("{error}: {world}"));
        read.worlds[0].models[0].sight()
    }

    const BALL: &str = "<geometry><sphere><radius>0.5</radius></sphere></geometry>";

    /// A sensor 2 m from the origin of a model with a ball of 0.5 m.
    fn check(kind: &str, inner: &str, expected: Option<f64>) {
        let found = sight(&format!(
            "<link name='l'><collision name='c'>{BALL}</collision><sensor name='s' type='{kind}'>\
             <pose>2 0 0 0 0 0</pose>{inner}</sensor></link>"
        ));
        assert_eq!((found.size, found.has_loose_links), (0.5, false));
        let is_near = match (found.range, expected) {
            (Some(range), Some(expected)) => {
                range.to_bits() == expected.to_bits() || (range - expected).abs() < 1e-9
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let range = found.range;
        assert!(is_near, "{kind} {inner}: {range:?}, not {expected:?}");
    }

    #[test]
    fn a_sensor_sees_as_far_as_its_parameters_say_from_where_it_is() {
        check("imu", "", None);
        check("contact", "", None);
        let lidar = |max: &str| format!("<lidar><range><max>{max}</max></range></lidar>");
        check("gpu_lidar", &lidar("30"), Some(32.0));
        check("lidar", &lidar("inf"), Some(f64::INFINITY));
        check("lidar", &lidar("nan"), Some(f64::INFINITY));
        check("custom", "", Some(f64::INFINITY));
        let square = "<horizontal_fov>1.5707963267948966</horizontal_fov><image>\
                      <width>100</width><height>100</height></image>";
        let diagonal = 3.0_f64.sqrt();
        let camera = |inner: &str| format!("<camera>{square}{inner}</camera>");
        let clip = "<clip><near>0.1</near><far>10</far></clip>";
        for kind in ["camera", "depth_camera", "wide_angle_camera", "rgbd_camera"] {
            check(kind, &camera(clip), Some(2.0 + 10.0 * diagonal));
            check(kind, &camera(""), Some(2.0 + 100.0 * diagonal));
        }
        let bent = camera(&format!("{clip}<distortion><k1>-0.1</k1></distortion>"));
        check("camera", &bent, Some(2.0 + 10.0 * 19.0_f64.sqrt()));
        let deep = camera("<depth_camera><clip><near>1</near><far>5</far></clip></depth_camera>");
        check("depth_camera", &deep, Some(2.0 + 5.0 * diagonal));
        let logical = "<logical_camera><near>1</near><far>10</far><aspect_ratio>1</aspect_ratio>\
                       <horizontal_fov>1.5707963267948966</horizontal_fov></logical_camera>";
        check("logical_camera", logical, Some(2.0 + 10.0 * diagonal));
    }

    #[test]
    fn a_detector_sees_to_the_corner_of_its_region() {
        let detector = "<plugin filename='f' name='gz::sim::systems::PerformerDetector'>\
                        <pose>5 0 0 0 0 0</pose><geometry><box><size>4 4 2</size></box></geometry>\
                        </plugin>";
        let link = "<link name='l'/>";
        assert_eq!(sight(&format!("{link}{detector}")).range, Some(8.0));
        let nested = format!("{link}<model name='inner'>{link}{detector}</model>");
        assert_eq!(sight(&nested).range, Some(f64::INFINITY));
    }

    #[test]
    fn visuals_are_seen_beyond_collisions() {
        let link = |name: &str, geometry: &str| {
            format!(
                "<link name='{name}'><collision name='c'>{BALL}</collision><visual name='v'>\
                 <geometry>{geometry}</geometry></visual></link>"
            )
        };
        let large = link("large", "<sphere><radius>3</radius></sphere>");
        assert_eq!(sight(&large).size, 3.0);
        let mesh = link("mesh", "<mesh><uri>a.obj</uri></mesh>");
        assert_eq!(sight(&mesh).size, MESH_SIZE);
        // A link that nothing holds is as far away as its collisions are.
        let found = sight(&format!("<link name='first'/>{large}"));
        assert!(found.has_loose_links);
        assert_eq!(found.size, 3.5);
    }
}
