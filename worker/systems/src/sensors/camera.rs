//! `camera`: images in colour or brightness of what is around it.
//!
//! Source: SDFormat, `camera.sdf`; gz-sensors, `CameraSensor.cc`.

use messages::Header;
use messages::basic::Boolean;
use messages::sensor::{CameraInfo, Image};
use sdf::{Content, Pose, Sensor};
use serde::{Deserialize, Serialize};

use super::eye::Eye;
use super::lens::{Lens, read_clip};
use super::mount::Mount;
use super::noise::{Noise, NoiseBank};
use super::pixel_format::PixelFormat;
use super::sensor_system::{Made, SensorModel};
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context, load, save};

/// The format of images that say none.
const FORMAT: &str = "R8G8B8";

/// Topics of images and of what is beside them.
pub(super) struct ImageTopics {
    pub(super) image: String,
    pub(super) info: String,
    /// The frame of images, where it is not that of the sensor.
    optical_frame: Option<String>,
}

/// A topic each of whose messages has an image made, whatever it says.
pub(super) struct Trigger {
    topic: String,
    is_due: bool,
}

/// Optics of a camera.
pub(super) trait Sight: Send + Sync {
    /// Returns its lens, of which the size of images is right in any case.
    fn lens(&self) -> Lens;

    /// Returns what a message says of it.
    fn info(&self, header: Header) -> CameraInfo;

    /// Returns what is seen from a pose, world frame: pixels by rows from the top left, red, green,
    /// blue and alpha.
    fn colors(&mut self, frame: &Pose, context: &Context<'_>) -> Vec<[u8; 4]>;
}

impl Sight for Eye {
    fn lens(&self) -> Lens {
        self.lens
    }

    fn info(&self, header: Header) -> CameraInfo {
        self.lens.info(header)
    }

    fn colors(&mut self, frame: &Pose, context: &Context<'_>) -> Vec<[u8; 4]> {
        Self::colors(self, frame, context)
    }
}

struct ColorCamera {
    topics: ImageTopics,
    trigger: Option<Trigger>,
    sight: Box<dyn Sight>,
    format: PixelFormat,
    noise: NoiseBank,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    is_triggered: bool,
    noise: Vec<u8>,
}

/// Makes the model of a camera.
pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let camera = find_camera(plan)?;
    let lens = Lens::read(camera)?.with_baseline(baseline(plan));
    let eye = Eye::read(camera, lens, read_clip(camera, &["clip"])?)?;
    make_with(plan, camera, Box::new(eye))
}

/// Returns how far to the side a camera is of the first one on its link, if that is one of a pair
/// with it and this is the right one \[m\]: as in Gazebo, what comes later in the file, unless the
/// topics of both say otherwise.
fn baseline(plan: &SensorPlan<'_>) -> f64 {
    let sensors = &plan.model.links[plan.mount.link].sensors;
    let mut cameras = sensors
        .iter()
        .filter(|sensor| sensor.kind == plan.sensor.kind);
    let Some(first) = cameras.next() else {
        return 0.0;
    };
    let is_first_right =
        |other: &Sensor| first.topic.contains("right") && other.topic.contains("left");
    let mut others = cameras.filter(|other| other.name != first.name);
    let pair = if plan.sensor.name == first.name {
        others.find(|other| is_first_right(other))
    } else {
        Some(plan.sensor).filter(|own| !is_first_right(own))
    };
    let across = |sensor: &Sensor| sensor.pose.position[1];
    pair.map_or(0.0, |other| (across(other) - across(first)).abs())
}

/// Makes the model of a camera that looks through something.
pub(super) fn make_with(
    plan: &SensorPlan<'_>,
    camera: &Content,
    sight: Box<dyn Sight>,
) -> Result<Made, ConfigureError> {
    let topics = ImageTopics::read(plan, camera, "/image");
    let format = parameters::text(camera, "image/format");
    Ok(Made {
        publications: topics.specs(),
        sensor_model: Box::new(ColorCamera {
            trigger: Trigger::read(plan, camera, &topics.image),
            sight,
            format: PixelFormat::read(format.as_deref().unwrap_or(FORMAT))?,
            noise: NoiseBank::new(vec![Noise::read(camera, "")?]),
            topics,
        }),
    })
}

/// Returns the `<camera>` of a sensor.
pub(super) fn find_camera<'a>(plan: &SensorPlan<'a>) -> Result<&'a Content, ConfigureError> {
    let camera = plan.sensor.content.child("camera");
    camera.ok_or_else(|| ConfigureError("it has no <camera>".to_owned()))
}

impl ImageTopics {
    /// Finds the topics of a sensor whose own ends so unless the file says it; what is said of the
    /// camera is beside the images.
    pub(super) fn read(plan: &SensorPlan<'_>, camera: &Content, suffix: &str) -> Self {
        let image = plan.topic(suffix);
        Self::beside(plan, camera, &image, &image)
    }

    /// Makes the topics of images; what is said of the camera is beside another topic.
    pub(super) fn beside(plan: &SensorPlan<'_>, camera: &Content, image: &str, main: &str) -> Self {
        let written = parameters::text(camera, "camera_info_topic");
        let info = written.unwrap_or_else(|| match main.rsplit_once('/') {
            Some((outer, _)) => format!("{outer}/camera_info"),
            None => "camera_info".to_owned(),
        });
        Self {
            image: plan.full(image),
            info: plan.full(&info),
            optical_frame: parameters::text(camera, "optical_frame_id"),
        }
    }

    /// Returns them as those that a sensor publishes on.
    pub(super) fn specs(&self) -> Vec<TopicSpec> {
        vec![
            TopicSpec::of::<Image>(&self.image),
            TopicSpec::of::<CameraInfo>(&self.info),
        ]
    }

    /// Returns the header of images.
    pub(super) fn header(&self, header: &Header) -> Header {
        match &self.optical_frame {
            Some(frame) => {
                let mut header = header.clone();
                header.data.retain(|data| data.key != "frame_id");
                header.with("frame_id", frame)
            }
            None => header.clone(),
        }
    }
}

impl Trigger {
    /// Reads whether a camera waits for messages; `topic` is that of its images.
    pub(super) fn read(plan: &SensorPlan<'_>, camera: &Content, topic: &str) -> Option<Self> {
        if !parameters::flag(camera, "triggered", false) {
            return None;
        }
        let written = parameters::text(camera, "trigger_topic");
        let topic = written.unwrap_or_else(|| format!("{topic}/trigger"));
        Some(Self {
            topic: plan.full(&topic),
            is_due: false,
        })
    }

    /// Returns the topic as one that a sensor listens to.
    pub(super) fn spec(&self) -> TopicSpec {
        TopicSpec::of::<Boolean>(&self.topic)
    }

    /// Takes note of a message.
    pub(super) fn hear(trigger: &mut Option<Self>) {
        if let Some(trigger) = trigger {
            trigger.is_due = true;
        }
    }

    /// Tells whether an image is to be made now; it takes another message for the next.
    pub(super) fn take(trigger: &mut Option<Self>) -> bool {
        match trigger {
            Some(trigger) => std::mem::take(&mut trigger.is_due),
            None => true,
        }
    }

    /// Tells whether a message has come and no image was made since.
    pub(super) fn is_due(trigger: Option<&Self>) -> bool {
        trigger.is_some_and(|trigger| trigger.is_due)
    }

    /// Goes on from what [`Self::is_due`] told of one like it.
    pub(super) fn restore(trigger: &mut Option<Self>, is_due: bool) {
        if let Some(trigger) = trigger {
            trigger.is_due = is_due;
        }
    }
}

impl SensorModel for ColorCamera {
    fn subscriptions(&self) -> Vec<TopicSpec> {
        self.trigger.iter().map(Trigger::spec).collect()
    }

    fn on_message(&mut self) {
        Trigger::hear(&mut self.trigger);
    }

    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let header = self.topics.header(&header);
        if context.is_wanted(&self.topics.info) {
            let info = self.sight.info(header.clone());
            context.publish(&self.topics.info, &info);
        }
        if !Trigger::take(&mut self.trigger) {
            return self.noise.skip(context);
        }
        if !context.is_wanted(&self.topics.image) {
            return self.noise.skip(context);
        }
        let frame = mount.pose(context);
        let mut pixels = self.sight.colors(&frame, context);
        blur(&mut pixels, &mut self.noise, context);
        let image = self.format.image(header, self.sight.lens().size, &pixels);
        context.publish(&self.topics.image, &image);
    }

    fn skip(&mut self, context: &Context<'_>) {
        Trigger::take(&mut self.trigger);
        self.noise.skip(context);
    }

    fn save(&self) -> Vec<u8> {
        save(&State {
            is_triggered: Trigger::is_due(self.trigger.as_ref()),
            noise: self.noise.save(),
        })
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let mut state = State::default();
        load(&mut state, bytes)?;
        self.noise.load(&state.noise)?;
        Trigger::restore(&mut self.trigger, state.is_triggered);
        Ok(())
    }
}

/// Adds noise to each colour of each pixel, in parts of the brightest.
pub(super) fn blur(pixels: &mut [[u8; 4]], noise: &mut NoiseBank, context: &Context<'_>) {
    let mut noise = noise.begin(context);
    if noise.is_quiet(0) {
        return;
    }
    for color in pixels.iter_mut().flat_map(|pixel| &mut pixel[..3]) {
        let value = noise.apply(0, f64::from(*color) / 255.0);
        *color = (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    }
}
