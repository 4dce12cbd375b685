//! `air_speed`: the pressure of the air against a sensor that moves through it, as of a Pitot tube.
//!
//! The air is that of the standard atmosphere, and still, as in Gazebo: wind does not count.
//! Source: gz-sensors, `AirSpeedSensor.cc`.

use messages::Header;
use messages::sensor::{AirSpeedSensor, SensorNoise};

use super::SensorPlan;
use super::mount::Mount;
use super::noise::{Noise, NoiseBank};
use super::sensor_system::{Made, SensorModel};
use super::vector::{into_frame, turn};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

/// At sea level \[K\].
const TEMPERATURE: f64 = 288.15;

/// Fall of the temperature with height \[K/m\].
const LAPSE_RATE: f64 = 0.0065;

/// At sea level \[kg/m^3\].
const DENSITY: f64 = 1.225;

/// Power of the temperature with which the density falls.
const DENSITY_POWER: f64 = 4.256;

struct AirSpeed {
    topic: String,
    noise: NoiseBank,
    has_noise: bool,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let topic = plan.topic("/air_speed");
    let noise = Noise::read(&plan.sensor.content, "air_speed/pressure")?;
    Ok(Made {
        publications: vec![TopicSpec::of::<AirSpeedSensor>(&topic)],
        sensor_model: Box::new(AirSpeed {
            topic,
            has_noise: noise.is_some(),
            noise: NoiseBank::new(vec![noise]),
        }),
    })
}

impl SensorModel for AirSpeed {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let pose = mount.pose(context);
        let [velocity, _] = mount.velocity(context);
        let [ahead, ..] = into_frame(&turn(pose.orientation_xyzw), velocity);
        let (temperature, density) = air_at(pose.position[2]);
        // Gazebo's noise is in the unit that it measures in before it publishes: hPa.
        let pressure = pressure_of(ahead, density) / 100.0;
        let noise_type = if self.has_noise { "GAUSSIAN" } else { "NONE" };
        let message = AirSpeedSensor {
            header,
            diff_pressure: self.noise.begin(context).apply(0, pressure) * 100.0,
            temperature,
            pressure_noise: SensorNoise {
                r#type: noise_type.to_owned(),
                ..SensorNoise::default()
            },
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

/// Returns temperature \[K\] and density \[kg/m^3\] at a height \[m\]; where the atmosphere has
/// ended, both are those of its end: none.
fn air_at(height: f64) -> (f64, f64) {
    let temperature = (TEMPERATURE - LAPSE_RATE * height).max(0.0);
    let density = DENSITY * libm::pow(temperature / TEMPERATURE, DENSITY_POWER);
    (temperature, density)
}

/// Returns the pressure \[Pa\] of air that a tube meets at a speed \[m/s\].
fn pressure_of(speed: f64, density: f64) -> f64 {
    0.5 * density * speed * speed.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_that_of_bernoulli_with_the_sign_of_the_speed() {
        let (temperature, density) = air_at(0.0);
        assert_eq!((temperature, density), (288.15, 1.225));
        assert_eq!(pressure_of(10.0, density), 61.25);
        assert_eq!(pressure_of(-10.0, density), -61.25);
        // Table 1 of the U.S. Standard Atmosphere, 1976, at 5000 m: 255.68 K and 0.7364 kg/m^3.
        let (temperature, density) = air_at(5000.0);
        assert!((temperature - 255.68).abs() < 0.1, "{temperature}");
        assert!((density - 0.7364).abs() < 1e-3, "{density}");
        assert_eq!(air_at(1e6), (0.0, 0.0));
    }
}
