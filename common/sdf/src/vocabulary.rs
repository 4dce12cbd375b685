//! Content that a run ignores: one survey of the whole tree names, once each, the elements and
//! plugins that say something which nothing acts on. Names that SDF does not have are reported by
//! [`crate::schema`].

mod not_here;

pub(crate) use not_here::CONTROLLERS;

use crate::read::{LEVEL_PLUGIN_NAMES, sensor_kind};
use crate::report::Report;
use crate::tree::Element;
use crate::value;

/// Elements without effect, by the element that they stand in, and what to know of it.
const WITHOUT_EFFECT: [(&str, &str, &str); 11] = [
    ("world", "audio", "nothing sounds"),
    ("world", "population", "its models are left out"),
    ("world", "road", "it is not drawn"),
    (
        "world",
        "state",
        "a run starts from the poses of the models",
    ),
    ("link", "audio_sink", "nothing sounds"),
    ("link", "audio_source", "nothing sounds"),
    ("geometry", "image", "it has no shape"),
    ("surface", "soft_contact", "contacts are rigid"),
    (
        "camera",
        "save",
        "images are recorded, or written by `phalanx show RUN image`",
    ),
    ("lens", "projection", "it follows from the intrinsics"),
    ("intrinsics", "s", "pixels have no skew"),
];

/// The systems that a run has, by their names without namespace, in order.
pub const SYSTEMS: &[&str] = &[
    "AckermannSteering",
    "AirPressure",
    "AirSpeed",
    "Altimeter",
    "ApplyJointForce",
    "ApplyLinkWrench",
    "Breadcrumbs",
    "Buoyancy",
    "Contact",
    "DetachableJoint",
    "DiffDrive",
    "DriveToPoseController",
    "ForceTorque",
    "Hydrodynamics",
    "Imu",
    "JointController",
    "JointPositionController",
    "JointStatePublisher",
    "JointTrajectoryController",
    "KineticEnergyMonitor",
    "Label",
    "LiftDrag",
    "LinearBatteryPlugin",
    "LogicalCamera",
    "Magnetometer",
    "MecanumDrive",
    "MulticopterMotorModel",
    "MulticopterVelocityControl",
    "NavSat",
    "OdometryPublisher",
    "PerformerDetector",
    "Physics",
    "PosePublisher",
    "SceneBroadcaster",
    "Sensors",
    "Thermal",
    "ThermalSensor",
    "Thruster",
    "TouchPlugin",
    "TrackController",
    "TrackedVehicle",
    "TrajectoryFollower",
    "TriggeredPublisher",
    "UserCommands",
    "VelocityControl",
    "WheelSlip",
    "WindEffects",
];

/// A kind of sensor that measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorKind {
    /// Its name in `<sensor type="...">`.
    pub name: &'static str,
    /// True if it sees other models, also those that other cells own.
    pub sees_others: bool,
    /// True if it sees visuals, with the files that these name, and not collisions.
    pub draws: bool,
}

/// The kinds of sensors that measure, in order.
pub const SENSORS: &[SensorKind] = &[
    blind("air_pressure"),
    blind("air_speed"),
    blind("altimeter"),
    drawing("boundingbox_camera"),
    drawing("camera"),
    blind("contact"),
    seeing("depth_camera"),
    blind("force_torque"),
    seeing("gpu_lidar"),
    blind("imu"),
    seeing("lidar"),
    seeing("logical_camera"),
    blind("magnetometer"),
    blind("navsat"),
    drawing("rgbd_camera"),
    drawing("segmentation_camera"),
    drawing("thermal_camera"),
    drawing("wide_angle_camera"),
];

/// Makes a kind that measures its own model alone.
const fn blind(name: &'static str) -> SensorKind {
    SensorKind {
        name,
        sees_others: false,
        draws: false,
    }
}

/// Makes a kind that sees the collisions of other models.
const fn seeing(name: &'static str) -> SensorKind {
    SensorKind {
        name,
        sees_others: true,
        draws: false,
    }
}

/// Makes a kind that sees the visuals of other models.
const fn drawing(name: &'static str) -> SensorKind {
    SensorKind {
        name,
        sees_others: true,
        draws: true,
    }
}

/// Finds a kind of sensor by its name.
pub fn find_sensor(name: &str) -> Option<SensorKind> {
    SENSORS.iter().find(|kind| kind.name == name).copied()
}

/// The namespaces that names of systems are in.
const NAMESPACES: [&str; 2] = ["gz::sim::systems::", "ignition::gazebo::systems::"];

/// Systems that every run has, as old worlds name their libraries.
const OWN_LIBRARIES: [&str; 3] = ["physics", "scene-broadcaster", "user-commands"];

/// Warns of everything in an expanded tree that nothing acts on.
pub(crate) fn survey(element: &Element, report: &mut Report) {
    for child in element.children() {
        match child.name.as_str() {
            "plugin" if element.name != "gui" => plugin(child, report),
            "sensor" => sensor(child, report),
            name => without_effect(&element.name, name, child, report),
        }
        if !child.is_foreign() {
            survey(child, report);
        }
    }
}

fn without_effect(parent: &str, name: &str, child: &Element, report: &mut Report) {
    let known = WITHOUT_EFFECT
        .iter()
        .find(|(known_parent, known_name, _)| *known_parent == parent && *known_name == name);
    if let Some((_, _, what)) = known
        && says_something(name, child)
    {
        report.warn_once("UNSUPPORTED_ELEMENT", name, child, || {
            format!("<{name}> in <{parent}> has no effect: {what}")
        });
    }
}

/// Tells whether an element without effect asks for something.
fn says_something(name: &str, element: &Element) -> bool {
    match name {
        "save" => {
            let enabled = element.filled_attribute("enabled");
            enabled.and_then(value::parse_truth).unwrap_or(false)
        }
        "s" => element.text().trim().parse::<f64>() != Ok(0.0),
        _ => true,
    }
}

fn plugin(element: &Element, report: &mut Report) {
    let name = element
        .filled_attribute("name")
        .or(element.filled_attribute("filename"))
        .unwrap_or_default();
    let mut shorts = NAMESPACES
        .iter()
        .filter_map(|space| name.strip_prefix(space));
    let short = shorts.next().unwrap_or(name);
    let is_own_library = ["gz-sim-", "ignition-gazebo-"]
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix)?.strip_suffix("-system"))
        .any(|system| OWN_LIBRARIES.contains(&system));
    if SYSTEMS.contains(&short) || is_own_library || LEVEL_PLUGIN_NAMES.contains(&name) {
        return;
    }
    report.warn_once("UNSUPPORTED_PLUGIN", name, element, || {
        let file = element.filled_attribute("filename").unwrap_or_default();
        let known = not_here::reason(short).or_else(|| not_here::reason_of_ros([name, file]));
        let reason = known.unwrap_or("it is not known");
        format!("the plugin {name:?} does nothing: {reason}")
    });
}

fn sensor(element: &Element, report: &mut Report) {
    let written = element.attribute("type").unwrap_or("without a type");
    let kind = sensor_kind(written);
    if find_sensor(kind).is_some() {
        return parts_of_sensor(kind, element, report);
    }
    let name = format!("sensor/{kind}");
    report.warn_once("UNSUPPORTED_ELEMENT", &name, element, || {
        format!("sensors ({written}) measure nothing: the type is not known")
    });
}

/// Parts of `<camera>` that some kinds of sensors alone have.
fn parts_of_sensor(kind: &str, element: &Element, report: &mut Report) {
    let Some(camera) = element.child("camera") else {
        return;
    };
    let mut warn = |name: &str, what: &str| {
        if let Some(child) = camera.child(name) {
            let key = format!("{kind}/{name}");
            report.warn_once("UNSUPPORTED_ELEMENT", &key, child, || {
                format!("<{name}> of a {kind} has no effect: {what}")
            });
        }
    };
    if !matches!(kind, "camera" | "wide_angle_camera") {
        let is_bent = |child: &Element| child.text().trim().parse::<f64>() != Ok(0.0);
        let mut coefficients = camera
            .child("distortion")
            .into_iter()
            .flat_map(|distortion| {
                ["k1", "k2", "k3", "p1", "p2"].map(|name| distortion.child(name))
            });
        if coefficients.any(|child| child.is_some_and(is_bent)) {
            warn("distortion", "what it sees is that of a pinhole");
        }
    }
    let is_triggered = camera.child("triggered");
    let is_triggered = is_triggered.and_then(|child| value::parse_truth(child.text().trim()));
    if kind == "depth_camera" && is_triggered == Some(true) {
        warn("triggered", "it measures at its rate");
    }
}

#[cfg(test)]
mod tests {
    fn check(content: &str, expected: Option<&str>) {
        let text = format!(
            "<sdf version='1.11'><world name='w'>{content}<model name='m'><link name='l'/>\
             </model></world></sdf>"
        );
        let read = crate::read_worlds(&text, "w.sdf", &crate::NoFiles).unwrap();
        let told: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
        match expected {
            Some(reason) => assert!(told[0].contains(reason), "{told:?}"),
            None => assert_eq!(told, Vec::<String>::new()),
        }
    }

    #[test]
    fn a_system_that_does_nothing_is_told_with_the_reason() {
        let plugin = |name: &str| format!("<plugin name='{name}' filename='f'/>");
        check(
            &plugin("gz::sim::systems::ModelPhotoShoot"),
            Some("by <sensor>s alone"),
        );
        check(&plugin("my::Own"), Some("not known"));
        for (name, file) in [
            (
                "gz_ros2_control::GazeboSimROS2ControlPlugin",
                "gz_ros2_control-system",
            ),
            ("any", "libgazebo_ros_control.so"),
            ("gazebo_ros2_control", "libgazebo_ros2_control.so"),
        ] {
            let element = format!("<plugin name='{name}' filename='{file}'/>");
            check(&element, Some("JointPositionController"));
        }
        let drive = "<plugin name='d' filename='libgazebo_ros_diff_drive.so'/>";
        check(drive, Some("systems::DiffDrive instead"));
        check(&plugin("gz::sim"), None);
        check(&plugin("ignition::gazebo::systems::WindEffects"), None);
    }

    #[test]
    fn what_a_camera_does_not_do_is_told_where_it_is_asked_for() {
        let camera = |content: &str| {
            format!(
                "<model name='n'><link name='l'><sensor name='s' type='camera'><camera>\
                 <horizontal_fov>1</horizontal_fov><image><width>4</width><height>4</height>\
                 </image><clip><near>0.1</near><far>9</far></clip>{content}</camera></sensor>\
                 </link></model>"
            )
        };
        let of_kind = |kind: &str, content: &str| {
            camera(content).replace("type='camera'", &format!("type='{kind}'"))
        };
        let bent = "<distortion><k1>0.1</k1></distortion>";
        check(&camera(bent), None);
        let expected = "<distortion> of a rgbd_camera has no effect";
        check(&of_kind("rgbd_camera", bent), Some(expected));
        check(
            &of_kind("rgbd_camera", "<distortion><k1>0</k1></distortion>"),
            None,
        );
        let triggered = "<triggered>true</triggered>";
        check(&of_kind("rgbd_camera", triggered), None);
        let expected = "<triggered> of a depth_camera has no effect";
        check(&of_kind("depth_camera", triggered), Some(expected));
        let save = |enabled: &str| {
            camera(&format!(
                "<save enabled='{enabled}'><path>/tmp/x</path></save>"
            ))
        };
        check(&save("true"), Some("<save> in <camera> has no effect"));
        check(&save("false"), None);
        let lens = |content: &str| camera(&format!("<lens>{content}</lens>"));
        let skew = |s: &str| {
            lens(&format!(
                "<intrinsics><fx>9</fx><fy>9</fy><cx>2</cx><cy>2</cy><s>{s}</s></intrinsics>"
            ))
        };
        check(&skew("0.1"), Some("<s> in <intrinsics> has no effect"));
        check(&skew("0"), None);
        let projection = "<projection><p_fx>9</p_fx><p_fy>9</p_fy><p_cx>2</p_cx><p_cy>2</p_cy>\
                          <tx>0</tx><ty>0</ty></projection>";
        check(
            &lens(projection),
            Some("<projection> in <lens> has no effect"),
        );
    }

    #[test]
    fn a_sensor_that_measures_nothing_is_told_with_the_reason() {
        let sensor = |kind: &str| {
            format!(
                "<model name='n'><link name='l'><sensor name='s' type='{kind}'/></link></model>"
            )
        };
        check(&sensor("sonar"), Some("not known"));
        check(&sensor("thermal"), None);
        check(&sensor("ray"), None);
    }
}
