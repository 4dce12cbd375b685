//! `<axis>` and `<axis2>` of a joint: direction, limits, dynamics, and what an axis mimics.

use super::JointContext;
use crate::frames::Frame;
use crate::parcel::start_of_follower;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Axis, Joint, Mimic};

/// The elements of the axes of a joint, in order.
const NAMES: [&str; 2] = ["axis", "axis2"];
/// Limits from here on are none, as in libsdformat.
const NO_LIMIT: f64 = 1e16;
/// Position at which an axis starts \[rad or m\]: no element of SDF, so that others read the file
/// without it.
pub(crate) const INITIAL_POSITION: &str = "phalanx:initial_position";
/// The code of a joint that starts beyond its limits.
pub(crate) const BEYOND_LIMITS: &str = "JOINT_BEYOND_LIMITS";
/// Distance beyond its limits at which a joint may start without a word \[rad or m\].
const BEYOND_MIN: f64 = 1e-6;
/// Shorter axes have no direction, as in libsdformat.
const LENGTH_MIN: f64 = 1e-6;

/// Checks the axes that a joint has, whether its type needs them or not.
pub(super) fn check(frame: &Frame<'_>, context: &JointContext<'_, '_>, report: &mut Report) {
    for name in NAMES {
        let Some(axis) = frame.element.child(name) else {
            continue;
        };
        direction(axis, report);
        let expressed_in = expressed_in(axis);
        if let Some(name) = expressed_in.filter(|name| !context.scope.knows(name)) {
            let message = format!(
                "the axis of the joint {:?} is expressed in {name:?}, and there is no such frame",
                frame.name
            );
            refuse(
                "JOINT_AXIS_EXPRESSED_IN_INVALID",
                axis,
                message,
                context,
                report,
            );
        }
        check_mimic(axis, name, frame, context, report);
    }
}

/// Reads the axis of a joint that has one.
pub(super) fn read_one(
    frame: &Frame<'_>,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) -> Axis {
    read(0, [0.0, 0.0, 1.0], frame, context, report)
}

/// Reads the axes of a joint that has two.
pub(super) fn read_two(
    frame: &Frame<'_>,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) -> [Axis; 2] {
    [
        read(0, [1.0, 0.0, 0.0], frame, context, report),
        read(1, [0.0, 1.0, 0.0], frame, context, report),
    ]
}

/// Warns of axes that start beyond their limits. Those that mimic another start where it says.
pub(super) fn warn_beyond_limits(frame: &Frame<'_>, axes: &[Axis], report: &mut Report) {
    for (axis, name) in axes.iter().zip(NAMES) {
        let Some(message) = beyond_limits(frame.name, axis) else {
            continue;
        };
        let element = frame.element.child(name).unwrap_or(frame.element);
        let once = format!("{name} {}", frame.element.place());
        report.warn_once(BEYOND_LIMITS, &once, element, || message);
    }
}

/// Says that an axis of a joint starts beyond its limits, if it does.
pub(crate) fn beyond_limits(joint: &str, axis: &Axis) -> Option<String> {
    let start = axis.initial_position;
    let range = axis.lower - BEYOND_MIN..=axis.upper + BEYOND_MIN;
    let is_beyond = axis.mimic.is_none() && !range.contains(&start);
    is_beyond.then(|| {
        format!(
            "{}{start}, beyond its limits {} to {}, and is pushed back into them: give it another \
             initial position (<{INITIAL_POSITION}> in its axis, initial_value in the \
             <ros2_control> of URDF, or spawn --joint)",
            starts_at(joint),
            axis.lower,
            axis.upper
        )
    })
}

/// Returns how what is said of the start of a joint begins.
pub(crate) fn starts_at(joint: &str) -> String {
    format!("the joint {joint:?} starts at ")
}

/// Starts axes that mimic others, and say nothing of their own, where those have them.
pub(in crate::read) fn follow_leaders(joints: &mut [Joint]) {
    // A follower may lead another; a ring of them ends with the joints.
    for _ in 0..joints.len() {
        let mut has_changed = false;
        for index in 0..joints.len() {
            for axis in 0..joints[index].kind.axes().len() {
                let Some(start) = own_start(joints, index, axis) else {
                    continue;
                };
                joints[index].kind.axes_mut()[axis].initial_position = start;
                has_changed = true;
            }
        }
        if !has_changed {
            return;
        }
    }
}

/// Returns where an axis starts that says nothing of its own and mimics one that does.
fn own_start(joints: &[Joint], index: usize, axis: usize) -> Option<f64> {
    let follower = &joints[index].kind.axes()[axis];
    let mimic = follower.mimic.as_ref()?;
    let leader = joints.iter().find(|joint| joint.name == mimic.joint)?;
    let lead = leader.kind.axes().get(mimic.axis)?.initial_position;
    if follower.initial_position != 0.0 || lead == 0.0 {
        return None;
    }
    start_of_follower(joints, index, axis).filter(|start| *start != 0.0)
}

impl Axis {
    /// Returns it with all positions open.
    pub(super) fn without_limits(self) -> Self {
        Self {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            ..self
        }
    }
}

/// Reads an axis; `default` is the direction in the joint's frame of one that the file leaves out,
/// as in Gazebo's physics.
fn read(
    index: usize,
    default: [f64; 3],
    frame: &Frame<'_>,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) -> Axis {
    let joint_pose = context.pose.then(&frame.pose);
    let name = NAMES[index];
    let Some(element) = frame.element.child(name) else {
        let once = format!("{name} {}", frame.element.place());
        report.warn_once("ELEMENT_MISSING", &once, frame.element, || {
            let joint = frame.name;
            format!("the joint {joint:?} has no <{name}>, and gets one along {default:?}")
        });
        return Axis {
            xyz: joint_pose.rotate(default),
            ..Axis::default()
        };
    };
    // Directions that cannot be were reported by `check`.
    let xyz = direction(element, &mut Report::default());
    let orientation = expressed_in(element)
        .and_then(|name| context.scope.pose_of(name))
        .map_or(joint_pose, |pose| context.pose.then(&pose));
    let axis = Axis {
        xyz: orientation.rotate(xyz),
        mimic: mimic(element, context, report),
        initial_position: value::number(element, INITIAL_POSITION, 0.0, report),
        ..Axis::default()
    };
    with_dynamics(with_limits(axis, element, report), element, report)
}

fn direction(axis: &Element, report: &mut Report) -> [f64; 3] {
    let default = [0.0, 0.0, 1.0];
    let vector = value::numbers(axis, "xyz", default, report);
    let length = vector.iter().map(|c| c * c).sum::<f64>().sqrt();
    if length > LENGTH_MIN && length.is_finite() {
        return vector.map(|coordinate| coordinate / length);
    }
    let element = axis.child("xyz").unwrap_or(axis);
    report.error(
        "ELEMENT_INVALID",
        element,
        "<xyz> is a direction and must have a length",
    );
    default
}

fn expressed_in(axis: &Element) -> Option<&str> {
    axis.child("xyz")?.filled_attribute("expressed_in")
}

fn with_limits(axis: Axis, element: &Element, report: &mut Report) -> Axis {
    let Some(limit) = element.child("limit") else {
        return axis;
    };
    let mut number = |name: &str, default: f64| {
        let [value] = value::numbers_or_infinite(limit, name, [default], report);
        value
    };
    let open = |value: f64| {
        if value.abs() < NO_LIMIT {
            value
        } else {
            f64::INFINITY.copysign(value)
        }
    };
    let from_zero = |value: f64| if value < 0.0 { f64::INFINITY } else { value };
    let mut lower = open(number("lower", f64::NEG_INFINITY));
    let mut upper = open(number("upper", f64::INFINITY));
    let read = Axis {
        effort: from_zero(number("effort", f64::INFINITY)),
        velocity: from_zero(number("velocity", f64::INFINITY)),
        limit_stiffness: number("stiffness", axis.limit_stiffness),
        limit_dissipation: number("dissipation", axis.limit_dissipation),
        ..axis
    };
    if lower > upper {
        let once = limit.place().to_string();
        report.warn_once("LIMITS_REVERSED", &once, limit, || {
            format!("the lower limit {lower} is above the upper {upper}; they change places")
        });
        (lower, upper) = (upper, lower);
    }
    Axis {
        lower,
        upper,
        ..read
    }
}

fn with_dynamics(axis: Axis, element: &Element, report: &mut Report) -> Axis {
    let Some(dynamics) = element.child("dynamics") else {
        return axis;
    };
    let mut loss = |name: &str| {
        let value = value::number(dynamics, name, 0.0, report);
        if value < 0.0 {
            let once = format!("{name} {}", dynamics.place());
            report.warn_once("NEGATIVE_LOSS", &once, dynamics, || {
                format!("<{name}> {value} would drive the joint; it is taken as 0")
            });
        }
        value.max(0.0)
    };
    Axis {
        damping: loss("damping"),
        friction: loss("friction"),
        spring_reference: value::number(dynamics, "spring_reference", 0.0, report),
        spring_stiffness: value::number(dynamics, "spring_stiffness", 0.0, report),
        ..axis
    }
}

fn leader(mimic: &Element) -> (&str, &str) {
    let joint = mimic.filled_attribute("joint").unwrap_or_default();
    (joint, mimic.filled_attribute("axis").unwrap_or(NAMES[0]))
}

fn check_mimic(
    axis: &Element,
    axis_name: &str,
    frame: &Frame<'_>,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) {
    let Some(mimic) = axis.child("mimic") else {
        return;
    };
    let (joint, leading) = leader(mimic);
    let own = frame.name;
    if joint == own && leading == axis_name {
        let message = format!("<{axis_name}> of the joint {own:?} mimics itself");
        report.error("JOINT_AXIS_MIMIC_INVALID", mimic, message);
    } else if !NAMES.contains(&leading) {
        let message = format!("the joint {own:?} mimics {leading:?}, which is axis or axis2");
        report.error("JOINT_AXIS_MIMIC_INVALID", mimic, message);
    } else if context
        .scope
        .joint(joint)
        .is_none_or(|joint| joint.child(leading).is_none())
    {
        let message = format!(
            "the joint {own:?} mimics <{leading}> of {joint:?}, and there is no such joint with it"
        );
        refuse("JOINT_AXIS_MIMIC_INVALID", mimic, message, context, report);
    }
}

fn mimic(axis: &Element, context: &JointContext<'_, '_>, report: &mut Report) -> Option<Mimic> {
    let element = axis.child("mimic")?;
    let (joint, leading) = leader(element);
    let index = NAMES.iter().position(|name| *name == leading)?;
    context.scope.joint(joint)?.child(leading)?;
    Some(Mimic {
        joint: format!("{}{joint}", context.prefix),
        axis: index,
        multiplier: value::number(element, "multiplier", 1.0, report),
        offset: value::number(element, "offset", 0.0, report),
        reference: value::number(element, "reference", 0.0, report),
    })
}

/// Makes an error, or a warning in a nested model, where libsdformat does not look.
fn refuse(
    code: &'static str,
    element: &Element,
    message: String,
    context: &JointContext<'_, '_>,
    report: &mut Report,
) {
    if context.scope.is_nested {
        let once = element.place().to_string();
        report.warn_once(code, &once, element, || format!("{message}; it is ignored"));
    } else {
        report.error(code, element, message);
    }
}
