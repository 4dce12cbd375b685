//! `air_pressure`: the pressure of the world's atmosphere at the sensor's height.
//!
//! The temperature changes in proportion to the geopotential height (U.S. Standard Atmosphere,
//! 1976, whose constants these are). Source: gz-sensors, `AirPressureSensor.cc`.

use messages::Header;
use messages::sensor::FluidPressure;
use sdf::Atmosphere;

use super::SensorPlan;
use super::mount::Mount;
use super::noise::{Noise, NoiseBank};
use super::parameters;
use super::sensor_system::{Made, SensorModel};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

/// \[J/(kmol K)\]
const GAS_CONSTANT: f64 = 8314.32;

/// \[kg/kmol\]
const AIR_WEIGHT: f64 = 28.9644;

/// \[m/s^2\]
const GRAVITY: f64 = 9.80665;

/// The radius of the earth that geopotential heights go by \[m\].
const EARTH_RADIUS: f64 = 6_356_766.0;

struct AirPressure {
    topic: String,
    /// The height of the world's origin \[m\].
    reference: f64,
    /// The variance of the noise \[Pa^2\].
    variance: f64,
    noise: NoiseBank,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let topic = plan.topic("/air_pressure");
    let content = &plan.sensor.content;
    let noise = Noise::read(content, "air_pressure/pressure")?;
    Ok(Made {
        publications: vec![TopicSpec::of::<FluidPressure>(&topic)],
        sensor_model: Box::new(AirPressure {
            topic,
            reference: parameters::finite(content, "air_pressure/reference_altitude", 0.0)?,
            variance: noise.map_or(0.0, |noise| noise.stddev * noise.stddev),
            noise: NoiseBank::new(vec![noise]),
        }),
    })
}

impl SensorModel for AirPressure {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let height = self.reference + mount.pose(context).position[2];
        let pressure = pressure_at(&context.world().atmosphere, height);
        let message = FluidPressure {
            header,
            pressure: self.noise.begin(context).apply(0, pressure),
            variance: self.variance,
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

/// Returns the pressure at a height \[m\] in \[Pa\]; 0 above the end of the atmosphere.
fn pressure_at(air: &Atmosphere, height: f64) -> f64 {
    let height = EARTH_RADIUS * height / (EARTH_RADIUS + height);
    let weight = GRAVITY * AIR_WEIGHT / GAS_CONSTANT;
    let gradient = air.temperature_gradient;
    if gradient == 0.0 {
        return air.pressure * libm::exp(-weight * height / air.temperature);
    }
    let temperature = air.temperature + gradient * height;
    if temperature > 0.0 {
        air.pressure * libm::pow(air.temperature / temperature, weight / gradient)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressures_are_those_of_the_standard_atmosphere() {
        // Table 1 of the U.S. Standard Atmosphere, 1976: geometric height [m] and pressure [Pa].
        let table = [
            (0.0, 101_325.0),
            (1000.0, 89_876.0),
            (5000.0, 54_048.0),
            (10_000.0, 26_499.0),
        ];
        for (height, expected) in table {
            let pressure = pressure_at(&Atmosphere::default(), height);
            assert!(
                (pressure - expected).abs() < 1.0,
                "{height} m: {pressure} Pa"
            );
        }
    }

    #[test]
    fn air_of_one_temperature_thins_exponentially() {
        let air = Atmosphere {
            temperature_gradient: 0.0,
            ..Atmosphere::default()
        };
        let slightly = Atmosphere {
            temperature_gradient: -1e-9,
            ..Atmosphere::default()
        };
        let (level, nearly) = (pressure_at(&air, 3000.0), pressure_at(&slightly, 3000.0));
        assert!((level - nearly).abs() < 0.01, "{level} {nearly}");
        assert_eq!(pressure_at(&Atmosphere::default(), 60_000.0), 0.0);
    }
}
