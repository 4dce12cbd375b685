//! `force_torque`: what a joint transmits, at the sensor's origin. Source: SDFormat,
//! `forcetorque.sdf`; gz-sim, `force_torque/ForceTorque.cc`.

use messages::Header;
use messages::motion::Wrench;
use physics::{Branch, Momenta};
use sdf::JointParent;

use super::mount::Mount;
use super::noise::NoiseBank;
use super::sensor_system::{Made, SensorModel};
use super::vector::into_frame;
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

struct ForceTorque {
    topic: String,
    /// The links on the joint's child side.
    branch: Branch,
    frame: Frame,
    /// True for the load of the parent on the child, false for the reverse.
    is_parent_to_child: bool,
    noise: NoiseBank,
    /// Momenta of the branch before physics.
    before: Option<Momenta>,
}

/// Frame of the axes of measurements.
enum Frame {
    Sensor,
    /// The link's by its index, or the world's.
    Link(Option<usize>),
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let Some(joint) = plan.mount.joint else {
        return Err(ConfigureError("it belongs on a <joint>".to_owned()));
    };
    let content = &plan.sensor.content;
    let text = |name: &str, default: &str| {
        let text = parameters::text(content, &format!("force_torque/{name}"));
        text.unwrap_or_else(|| default.to_owned())
    };
    let joint_described = &plan.model.joints[joint];
    let frame = match text("frame", "child").as_str() {
        "child" => Frame::Link(Some(joint_described.child)),
        "parent" => Frame::Link(match joint_described.parent {
            JointParent::World => None,
            JointParent::Link(link) => Some(link),
        }),
        "sensor" => Frame::Sensor,
        other => {
            let reason = format!("<frame> is neither child, parent nor sensor: {other:?}");
            return Err(ConfigureError(reason));
        }
    };
    let is_parent_to_child = match text("measure_direction", "child_to_parent").as_str() {
        "parent_to_child" => true,
        "child_to_parent" => false,
        other => {
            let names = "child_to_parent nor parent_to_child";
            let reason = format!("<measure_direction> is neither {names}: {other:?}");
            return Err(ConfigureError(reason));
        }
    };
    let branch = Branch::new(plan.model, joint);
    let looped = || ConfigureError("its joint is part of a loop, which shares loads".to_owned());
    let paths = [
        "force/x", "force/y", "force/z", "torque/x", "torque/y", "torque/z",
    ];
    let paths = paths.map(|path| format!("force_torque/{path}"));
    let topic = plan.topic("/forcetorque");
    Ok(Made {
        publications: vec![TopicSpec::of::<Wrench>(&topic)],
        sensor_model: Box::new(ForceTorque {
            topic,
            branch: branch.ok_or_else(looped)?,
            frame,
            is_parent_to_child,
            noise: NoiseBank::read(content, &paths.each_ref().map(String::as_str))?,
            before: None,
        }),
    })
}

impl SensorModel for ForceTorque {
    fn before_step(&mut self, _: &Mount, context: &Context<'_>) {
        self.before = Some(context.cell.momenta(context.model, &self.branch));
    }

    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let Some(before) = self.before.take() else {
            return;
        };
        let step_size_s = context.time.step_size_s;
        let pose = mount.pose(context);
        let (cell, model) = (&context.cell, context.model);
        let wrench = cell.joint_load(model, &self.branch, &before, pose.position, step_size_s);
        let frame = match self.frame {
            Frame::Sensor => pose,
            Frame::Link(Some(link)) => cell.link_pose(model, link),
            Frame::Link(None) => sdf::Pose::IDENTITY,
        };
        let sign = if self.is_parent_to_child { 1.0 } else { -1.0 };
        let [force, torque] =
            wrench.map(|vector| into_frame(&frame, vector).map(|part| part * sign));
        let mut noise = self.noise.begin(context);
        let message = Wrench {
            header,
            force: noise.apply_vector(0, force).into(),
            torque: noise.apply_vector(3, torque).into(),
            ..Wrench::default()
        };
        context.publish(&self.topic, &message);
    }

    fn skip(&mut self, context: &Context<'_>) {
        self.noise.skip(context);
    }

    fn save(&self) -> Vec<u8> {
        self.noise.save()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        self.noise.load(bytes)
    }
}
