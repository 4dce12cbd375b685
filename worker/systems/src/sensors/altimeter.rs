//! `altimeter`: height above where it was at the start. Source: SDFormat, `altimeter.sdf`.

use messages::Header;
use messages::sensor::Altimeter as Message;

use super::SensorPlan;
use super::mount::Mount;
use super::noise::NoiseBank;
use super::sensor_system::{Made, SensorModel};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

struct Altimeter {
    topic: String,
    noise: NoiseBank,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let topic = plan.topic("/altimeter");
    let paths = ["altimeter/vertical_position", "altimeter/vertical_velocity"];
    Ok(Made {
        publications: vec![TopicSpec::of::<Message>(&topic)],
        sensor_model: Box::new(Altimeter {
            noise: NoiseBank::read(&plan.sensor.content, &paths)?,
            topic,
        }),
    })
}

impl SensorModel for Altimeter {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let reference = mount.start.position[2];
        let height = mount.pose(context).position[2];
        let [velocity, _] = mount.velocity(context);
        let mut noise = self.noise.begin(context);
        let message = Message {
            header,
            vertical_position: noise.apply(0, height - reference),
            vertical_velocity: noise.apply(1, velocity[2]),
            vertical_reference: reference,
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
