//! `navsat`: latitude, longitude, altitude and velocity of a receiver, from the place on earth that
//! `<spherical_coordinates>` gives to the origin of the world. Source: SDFormat, `navsat.sdf`.

use messages::Header;
use messages::sensor::NavSat as Message;

use super::SensorPlan;
use super::earth::Earth;
use super::mount::Mount;
use super::noise::NoiseBank;
use super::parameters;
use super::sensor_system::{Made, SensorModel};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

struct NavSat {
    topic: String,
    earth: Earth,
    noise: NoiseBank,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let Some(coordinates) = &plan.world.spherical_coordinates else {
        let reason = "the world has no <spherical_coordinates> to say where it is";
        return Err(ConfigureError(reason.to_owned()));
    };
    let topic = plan.topic("/navsat");
    let content = &plan.sensor.content;
    let outer = match parameters::find(content, "navsat") {
        Some(_) => "navsat",
        None => "gps",
    };
    let channels = [
        "position_sensing/horizontal",
        "position_sensing/vertical",
        "velocity_sensing/horizontal",
        "velocity_sensing/vertical",
    ];
    let paths = channels.map(|channel| format!("{outer}/{channel}"));
    Ok(Made {
        publications: vec![TopicSpec::of::<Message>(&topic)],
        sensor_model: Box::new(NavSat {
            topic,
            earth: Earth::new(coordinates),
            noise: NoiseBank::read(content, &paths.each_ref().map(String::as_str))?,
        }),
    })
}

impl SensorModel for NavSat {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let place = self.earth.place(mount.pose(context).position);
        let [velocity, _] = mount.velocity(context);
        let [east, north, up] = self.earth.east_north_up(velocity);
        let mut noise = self.noise.begin(context);
        let latitude = noise.apply(0, place.latitude.to_degrees());
        let longitude = noise.apply(0, place.longitude.to_degrees());
        let message = Message {
            header,
            latitude_deg: latitude,
            longitude_deg: wrapped(longitude),
            altitude: noise.apply(1, place.altitude),
            velocity_east: noise.apply(2, east),
            velocity_north: noise.apply(2, north),
            velocity_up: noise.apply(3, up),
            frame_id: mount.frame_id.clone(),
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

/// Returns an angle of less than one turn too many between -180 and 180 degrees.
fn wrapped(degrees: f64) -> f64 {
    if degrees > 180.0 {
        degrees - 360.0
    } else if degrees < -180.0 {
        degrees + 360.0
    } else {
        degrees
    }
}
