//! `thermal_camera`: the temperature of what each pixel shows.
//!
//! Things have the temperature that a plugin `Thermal` gives to their visual, all else has that of
//! the world's atmosphere. Source: gz-sim, `Thermal.cc`, `ThermalSensor.cc`; gz-sensors,
//! `ThermalCameraSensor.cc`.

use messages::Header;
use messages::sensor::Image;
use sdf::Content;

use super::camera::{ImageTopics, Trigger, find_camera};
use super::eye::Eye;
use super::lens::{Lens, read_clip};
use super::mount::Mount;
use super::noise::{Noise, NoiseBank};
use super::sensor_system::{Made, SensorModel};
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context, load, save};

struct ThermalCamera {
    topics: ImageTopics,
    trigger: Option<Trigger>,
    eye: Eye,
    scale: Scale,
    noise: NoiseBank,
}

/// Rule from temperatures to pixels.
#[derive(Clone, Copy)]
struct Scale {
    /// True if a pixel has a byte, else it has two.
    is_short: bool,
    /// Temperature of a step of a pixel \[K\].
    resolution: f64,
    /// The lowest and the highest temperature that is told \[K\].
    range: [f64; 2],
}

/// Makes the model of a thermal camera.
pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let camera = find_camera(plan)?;
    let topics = ImageTopics::read(plan, camera, "/image");
    let lens = Lens::read(camera)?.straightened();
    Ok(Made {
        publications: topics.specs(),
        sensor_model: Box::new(ThermalCamera {
            trigger: Trigger::read(plan, camera, &topics.image),
            eye: Eye::read(camera, lens, read_clip(camera, &["clip"])?)?,
            scale: Scale::read(&plan.sensor.content, camera)?,
            noise: NoiseBank::new(vec![Noise::read(camera, "")?]),
            topics,
        }),
    })
}

impl Scale {
    fn read(sensor: &Content, camera: &Content) -> Result<Self, ConfigureError> {
        let format = parameters::text(camera, "image/format");
        let is_short = match format.as_deref().unwrap_or("L16") {
            "L8" | "L_INT8" => true,
            // What says a format of colours means nothing by it.
            "L16" | "L_INT16" | "L_UINT16" | "R8G8B8" | "RGB_INT8" => false,
            other => {
                return Err(ConfigureError(format!(
                    "<format> is {other:?}; temperatures are L8 or L16"
                )));
            }
        };
        let mut plugins = sensor.children().filter(|child| child.name == "plugin");
        let own = plugins.find(|plugin| {
            let name = plugin.attribute("name").unwrap_or_default();
            name.rsplit("::").next() == Some("ThermalSensor")
        });
        let resolution = if is_short { 3.0 } else { 0.01 };
        let most = if is_short { 255.0 } else { 65_535.0 };
        let given = |name: &str, default: f64| match own {
            Some(plugin) => parameters::positive(plugin, name, default),
            None => Ok(default),
        };
        let resolution = given("resolution", resolution)?;
        let range = [given("min_temp", 0.0)?, given("max_temp", f64::INFINITY)?];
        if resolution > 0.0 && resolution.is_finite() && range[0] < range[1] {
            return Ok(Self {
                is_short,
                resolution,
                range: range.map(|end| end.min(most * resolution)),
            });
        }
        Err(ConfigureError(format!(
            "it cannot tell temperatures from {} K to {} K in steps of {resolution} K",
            range[0], range[1]
        )))
    }

    /// Returns a temperature as a pixel tells it \[K\].
    fn steps(self, temperature: f64) -> u16 {
        let told = temperature.max(self.range[0]).min(self.range[1]);
        (told / self.resolution + 1e-9) as u16
    }

    fn image(self, header: Header, [width, height]: [u32; 2], temperatures: &[f64]) -> Image {
        let steps = temperatures.iter().map(|kelvin| self.steps(*kelvin));
        let (bytes, name): (Vec<u8>, _) = if self.is_short {
            (steps.map(|step| step.min(255) as u8).collect(), "L_INT8")
        } else {
            (steps.flat_map(u16::to_le_bytes).collect(), "L_INT16")
        };
        Image {
            header,
            width,
            height,
            step: if self.is_short { width } else { 2 * width },
            pixel_format_type: name.to_owned(),
            data: bytes.into(),
        }
    }
}

impl SensorModel for ThermalCamera {
    fn subscriptions(&self) -> Vec<TopicSpec> {
        self.trigger.iter().map(Trigger::spec).collect()
    }

    fn on_message(&mut self) {
        Trigger::hear(&mut self.trigger);
    }

    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let header = self.topics.header(&header);
        if context.is_wanted(&self.topics.info) {
            context.publish(&self.topics.info, &self.eye.lens.info(header.clone()));
        }
        if !Trigger::take(&mut self.trigger) {
            return self.noise.skip(context);
        }
        if !context.is_wanted(&self.topics.image) {
            return self.noise.skip(context);
        }
        let seen = self.eye.visuals(&mount.pose(context), context);
        let world = Eye::world(context);
        let ambient = context.world().atmosphere.temperature;
        let temperature = |visual: &u32| {
            let visual = world.visuals.get(*visual as usize);
            visual
                .and_then(|visual| visual.temperature)
                .unwrap_or(ambient)
        };
        let mut temperatures: Vec<f64> = seen.visuals.iter().map(temperature).collect();
        let mut noise = self.noise.begin(context);
        if !noise.is_quiet(0) {
            for temperature in &mut temperatures {
                *temperature = noise.apply(0, *temperature);
            }
        }
        let image = self.scale.image(header, self.eye.lens.size, &temperatures);
        context.publish(&self.topics.image, &image);
    }

    fn skip(&mut self, context: &Context<'_>) {
        Trigger::take(&mut self.trigger);
        self.noise.skip(context);
    }

    fn save(&self) -> Vec<u8> {
        save(&(Trigger::is_due(self.trigger.as_ref()), self.noise.save()))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let mut state = <(bool, Vec<u8>)>::default();
        load(&mut state, bytes)?;
        self.noise.load(&state.1)?;
        Trigger::restore(&mut self.trigger, state.0);
        Ok(())
    }
}
