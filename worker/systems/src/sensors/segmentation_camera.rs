//! `segmentation_camera`: which label, and which of the things with it, each pixel shows.
//!
//! Labels are those that plugins `Label` give. Source: SDFormat, `camera.sdf`; gz-sensors,
//! `SegmentationCameraSensor.cc`, for topics and for the bytes of its maps.

use messages::Header;
use messages::sensor::{CameraInfo, Image};

use super::camera::{Trigger, find_camera};
use super::eye::Eye;
use super::lens::{Lens, read_clip};
use super::mount::Mount;
use super::pixel_format::PixelFormat;
use super::sensor_system::{Made, SensorModel};
use super::{SensorPlan, parameters};
use crate::drawn_world::Thing;
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context, load, save};

struct SegmentationCamera {
    colors_topic: String,
    labels_topic: String,
    info_topic: String,
    trigger: Option<Trigger>,
    eye: Eye,
    /// True if things with the same label are told apart.
    tells_apart: bool,
}

/// Makes the model of a segmentation camera.
pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let camera = find_camera(plan)?;
    let outer = plan.topic("/segmentation");
    let kind = parameters::text(camera, "segmentation_type");
    let kind = kind.map(|kind| kind.to_ascii_lowercase());
    let tells_apart = match kind.as_deref().unwrap_or("semantic") {
        "semantic" => false,
        "instance" | "panoptic" => true,
        other => {
            return Err(ConfigureError(format!(
                "<segmentation_type> is {other:?}; there are semantic, instance and panoptic"
            )));
        }
    };
    let eye = Eye::read(
        camera,
        Lens::read(camera)?.straightened(),
        read_clip(camera, &["clip"])?,
    )?;
    let sensor_model = SegmentationCamera {
        colors_topic: plan.full(&format!("{outer}/colored_map")),
        labels_topic: plan.full(&format!("{outer}/labels_map")),
        info_topic: plan.full(&format!("{outer}/camera_info")),
        trigger: Trigger::read(plan, camera, &outer),
        eye,
        tells_apart,
    };
    Ok(Made {
        publications: vec![
            TopicSpec::of::<Image>(&sensor_model.colors_topic),
            TopicSpec::of::<Image>(&sensor_model.labels_topic),
            TopicSpec::of::<CameraInfo>(&sensor_model.info_topic),
        ],
        sensor_model: Box::new(sensor_model),
    })
}

impl SegmentationCamera {
    /// Returns the bytes of a thing in the map of labels.
    fn label(&self, thing: Option<Thing>) -> [u8; 4] {
        match thing {
            None => [0, 0, 0, 255],
            Some(Thing { label, number }) if self.tells_apart => {
                let [low, high] = number.to_le_bytes();
                [low, high, label, 255]
            }
            Some(Thing { label, .. }) => [label, label, label, 255],
        }
    }

    /// Returns the colour of a thing: always the same, and hardly that of another.
    fn color(&self, thing: Option<Thing>) -> [u8; 4] {
        let Some(Thing { label, number }) = thing else {
            return [0, 0, 0, 255];
        };
        let number = if self.tells_apart { number } else { 0 };
        let place = u32::from(label) << 16 | u32::from(number);
        // An odd factor of 24 bits visits all colours before one comes back.
        let mixed = place.wrapping_add(1).wrapping_mul(0x009e_3779) & 0x00ff_ffff;
        let [blue, green, red, _] = mixed.to_le_bytes();
        [red.max(16), green.max(16), blue.max(16), 255]
    }
}

impl SensorModel for SegmentationCamera {
    fn subscriptions(&self) -> Vec<TopicSpec> {
        self.trigger.iter().map(Trigger::spec).collect()
    }

    fn on_message(&mut self) {
        Trigger::hear(&mut self.trigger);
    }

    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        if context.is_wanted(&self.info_topic) {
            context.publish(&self.info_topic, &self.eye.lens.info(header.clone()));
        }
        if !Trigger::take(&mut self.trigger) {
            return;
        }
        let wants = [&self.colors_topic, &self.labels_topic].map(|topic| context.is_wanted(topic));
        if wants == [false; 2] {
            return;
        }
        let seen = self.eye.visuals(&mount.pose(context), context);
        let world = Eye::world(context);
        let things = world.things();
        let thing = |visual: &u32| things.get(*visual as usize).copied().flatten();
        let size = self.eye.lens.size;
        if wants[0] {
            let pixels = seen.visuals.iter().map(|visual| self.color(thing(visual)));
            let pixels: Vec<[u8; 4]> = pixels.collect();
            let image = PixelFormat::Rgb8.image(header.clone(), size, &pixels);
            context.publish(&self.colors_topic, &image);
        }
        if wants[1] {
            let pixels = seen.visuals.iter().map(|visual| self.label(thing(visual)));
            let pixels: Vec<[u8; 4]> = pixels.collect();
            let image = PixelFormat::Rgb8.image(header, size, &pixels);
            context.publish(&self.labels_topic, &image);
        }
    }

    fn skip(&mut self, _context: &Context<'_>) {
        Trigger::take(&mut self.trigger);
    }

    fn save(&self) -> Vec<u8> {
        save(&Trigger::is_due(self.trigger.as_ref()))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let mut is_due = false;
        load(&mut is_due, bytes)?;
        Trigger::restore(&mut self.trigger, is_due);
        Ok(())
    }
}
