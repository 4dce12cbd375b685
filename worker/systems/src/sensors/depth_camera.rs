//! `depth_camera`, and `rgbd_camera`, which has colours too: distances along the optical axis of a
//! pinhole camera that looks along x, with y to the left and z up.
//!
//! Points nearer than the near plane read minus infinity, points beyond the far plane plus
//! infinity, as in Gazebo. Distances are those of collisions unless the world wants those of
//! visuals ([`visual_rays`]), colours those of visuals. Source: SDFormat, `camera.sdf`;
//! gz-sensors, `DepthCameraSensor.cc`, `RgbdCameraSensor.cc`.

use messages::Header;
use messages::sensor::{Image, PointCloudPacked};
use physics::{Echo, Scan};
use sdf::Pose;
use serde::{Deserialize, Serialize};

use super::camera::{ImageTopics, Trigger, find_camera};
use super::eye::Eye;
use super::lens::{Lens, read_clip};
use super::mount::Mount;
use super::noise::{Noise, NoiseBank};
use super::pixel_format::PixelFormat;
use super::point_cloud::Cloud;
use super::sensor_system::{Made, SensorModel};
use super::vector::scale;
use super::visual_rays::{self, DEPTH_MAX, DEPTH_MIN, bounded};
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context, load, save};

struct DepthCamera {
    topics: ImageTopics,
    /// Of cameras with colours alone, as in Gazebo.
    trigger: Option<Trigger>,
    points_topic: String,
    lens: Lens,
    /// Near and far plane \[m\].
    clip: [f64; 2],
    /// Eye that sees depths, if the world has them be those of visuals and not of collisions.
    depth_eye: Option<Eye>,
    noise: NoiseBank,
    /// Eye that sees the colours, and the topic of their images.
    colors: Option<(Eye, String)>,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    is_triggered: bool,
    noise: Vec<u8>,
}

/// Makes the model of a depth camera.
pub(super) fn make_depth_camera(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let image = plan.topic("/depth_image");
    make(plan, [&image, &format!("{image}/points")], None)
}

/// Makes the model of a camera with colours and depth.
pub(super) fn make_rgbd_camera(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let outer = plan.topic("");
    let [image, points, colors] =
        ["depth_image", "points", "image"].map(|part| format!("{outer}/{part}"));
    make(plan, [&image, &points], Some(&colors))
}

fn make(
    plan: &SensorPlan<'_>,
    [image, points]: [&str; 2],
    colors: Option<&str>,
) -> Result<Made, ConfigureError> {
    let camera = find_camera(plan)?;
    let topics = ImageTopics::beside(plan, camera, image, image);
    let points_topic = plan.full(points);
    // Each point has the colour of its own pixel, and depths are those of a pinhole.
    let lens = Lens::read(camera)?.straightened();
    let mut publications = topics.specs();
    publications.push(TopicSpec::of::<PointCloudPacked>(&points_topic));
    let mut trigger = None;
    let colors = match colors {
        Some(topic) => {
            trigger = Trigger::read(plan, camera, &plan.topic(""));
            let topic = plan.full(topic);
            publications.push(TopicSpec::of::<Image>(&topic));
            Some((
                Eye::read(camera, lens, read_clip(camera, &["clip"])?)?,
                topic,
            ))
        }
        None => None,
    };
    let clip = read_clip(camera, &["clip", "depth_camera/clip"])?;
    let depth_eye = if visual_rays::are_asked_for(plan.world)? {
        let seen = [clip[0].min(DEPTH_MIN), clip[1].min(DEPTH_MAX)];
        let mask = parameters::count(camera, "visibility_mask", u32::MAX)?;
        Some(Eye::bare(lens, seen, mask))
    } else {
        None
    };
    Ok(Made {
        publications,
        sensor_model: Box::new(DepthCamera {
            topics,
            trigger,
            points_topic,
            lens,
            clip,
            depth_eye,
            noise: NoiseBank::new(vec![Noise::read(camera, "")?]),
            colors,
        }),
    })
}

impl DepthCamera {
    /// Returns the depth of each pixel \[m\].
    fn depths(&mut self, mount: &Mount, frame: &Pose, context: &Context<'_>) -> Vec<f64> {
        let [near, far] = self.clip;
        let mut depths = match &mut self.depth_eye {
            Some(eye) => {
                let seen = eye.visuals(frame, context).depths.into_iter();
                seen.map(|depth| bounded(f64::from(depth), near, far))
                    .collect()
            }
            None => self.meet_collisions(mount, frame, context),
        };
        let mut noise = self.noise.begin(context);
        if !noise.is_quiet(0) {
            for depth in depths.iter_mut().filter(|depth| depth.is_finite()) {
                *depth = noise.apply(0, *depth).clamp(near, far);
            }
        }
        depths
    }

    /// Returns the depth of the collisions in each pixel \[m\].
    fn meet_collisions(&self, mount: &Mount, frame: &Pose, context: &Context<'_>) -> Vec<f64> {
        let [near, far] = self.clip;
        let (lens, pixels) = (self.lens, self.lens.size[0] * self.lens.size[1]);
        let mut depths = Vec::with_capacity(pixels as usize);
        for looks in lens.pixels() {
            let length = looks.iter().map(|part| part * part).sum::<f64>().sqrt();
            let scan = Scan {
                origin: frame.position,
                begin: near * length,
                end: far * length,
                own_link: Some((context.model.index, mount.link)),
            };
            let direction = frame.rotate(scale(looks, 1.0 / length));
            let direction = std::iter::once(direction);
            context.cell.cast_rays(&scan, direction, |echo| {
                depths.push(match echo {
                    Echo::Nothing => f64::INFINITY,
                    Echo::TooNear => f64::NEG_INFINITY,
                    Echo::At { distance, .. } => distance / length,
                });
            });
        }
        depths
    }

    fn image(&self, header: Header, depths: &[f64]) -> Image {
        let [width, height] = self.lens.size;
        let bytes = depths
            .iter()
            .flat_map(|depth| (*depth as f32).to_le_bytes());
        Image {
            header,
            width,
            height,
            step: width * 4,
            pixel_format_type: "R_FLOAT32".to_owned(),
            data: bytes.collect::<Vec<u8>>().into(),
        }
    }

    /// Returns the points, each with its colour where that is seen.
    fn points(
        &self,
        header: Header,
        depths: &[f64],
        colors: Option<&[[u8; 4]]>,
    ) -> PointCloudPacked {
        let [width, height] = self.lens.size;
        let places = self.lens.pixels().zip(depths);
        let places = places.map(|(looks, depth)| scale(looks, *depth));
        let Some(colors) = colors else {
            let mut cloud = Cloud::of_places(header, width, height);
            places.for_each(|place| cloud.push(place));
            return cloud.finish();
        };
        let mut cloud = Cloud::of_colors(header, width, height);
        for (place, color) in places.zip(colors) {
            cloud.push_color(place, *color);
        }
        cloud.finish()
    }
}

impl SensorModel for DepthCamera {
    fn subscriptions(&self) -> Vec<TopicSpec> {
        self.trigger.iter().map(Trigger::spec).collect()
    }

    fn on_message(&mut self) {
        Trigger::hear(&mut self.trigger);
    }

    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let optical = self.topics.header(&header);
        if context.is_wanted(&self.topics.info) {
            context.publish(&self.topics.info, &self.lens.info(optical.clone()));
        }
        if !Trigger::take(&mut self.trigger) {
            return self.noise.skip(context);
        }
        let frame = mount.pose(context);
        let are_points_wanted = context.is_wanted(&self.points_topic);
        let mut pixels = None;
        if let Some((eye, topic)) = &mut self.colors {
            let is_wanted = context.is_wanted(topic);
            if is_wanted || are_points_wanted {
                let seen = eye.colors(&frame, context);
                if is_wanted {
                    let image = PixelFormat::Rgb8.image(optical.clone(), self.lens.size, &seen);
                    context.publish(topic, &image);
                }
                pixels = Some(seen);
            }
        }
        let is_seen = context.is_wanted(&self.topics.image);
        if !is_seen && !are_points_wanted {
            return self.noise.skip(context);
        }
        let depths = self.depths(mount, &frame, context);
        if is_seen {
            context.publish(&self.topics.image, &self.image(optical, &depths));
        }
        if are_points_wanted {
            let points = self.points(header, &depths, pixels.as_deref());
            context.publish(&self.points_topic, &points);
        }
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
