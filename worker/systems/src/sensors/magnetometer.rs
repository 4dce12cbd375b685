//! `magnetometer`: the world's magnetic field in the frame of the sensor. Source: SDFormat,
//! `magnetometer.sdf`.

use messages::Header;
use messages::sensor::Magnetometer as Message;

use super::SensorPlan;
use super::mount::Mount;
use super::noise::NoiseBank;
use super::sensor_system::{Made, SensorModel};
use super::vector::into_frame;
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

struct Magnetometer {
    topic: String,
    noise: NoiseBank,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let topic = plan.topic("/magnetometer");
    let paths = ["magnetometer/x", "magnetometer/y", "magnetometer/z"];
    Ok(Made {
        publications: vec![TopicSpec::of::<Message>(&topic)],
        sensor_model: Box::new(Magnetometer {
            noise: NoiseBank::read(&plan.sensor.content, &paths)?,
            topic,
        }),
    })
}

impl SensorModel for Magnetometer {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let field = into_frame(&mount.pose(context), context.world().magnetic_field);
        let message = Message {
            header,
            field_tesla: self.noise.begin(context).apply_vector(0, field).into(),
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
