//! `depth_camera`, and of `rgbd_camera` what needs no colours: distances along the optical axis of
//! a pinhole camera that looks along x, with y to the left and z up.
//!
//! Points nearer than the near plane read minus infinity, points beyond the far plane plus
//! infinity, as in Gazebo. Source: SDFormat, `camera.sdf`; gz-sensors, `DepthCameraSensor.cc`.

use messages::Header;
use messages::sensor::{CameraInfo, CameraIntrinsics, CameraProjection, Image, PointCloudPacked};
use physics::{Echo, Scan};
use sdf::{Content, Pose};

use super::lidar::RAYS_MAX;
use super::mount::Mount;
use super::noise::{Noise, NoiseBank};
use super::point_cloud::Cloud;
use super::sensor_system::{Made, SensorModel};
use super::vector::scale;
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

/// The angle across that SDFormat has by default \[rad\].
const FIELD_OF_VIEW: f64 = 1.047;

struct DepthCamera {
    image_topic: String,
    info_topic: String,
    points_topic: String,
    /// The frame of images, where it is not that of points.
    optical_frame: Option<String>,
    lens: Lens,
    /// Near and far plane \[m\].
    clip: [f64; 2],
    noise: NoiseBank,
}

/// Intrinsics of a pinhole camera.
#[derive(Clone, Copy)]
struct Lens {
    /// Columns and rows \[pixels\].
    size: [u32; 2],
    /// Focal lengths across and down \[pixels\].
    focal: [f64; 2],
    /// Principal point \[pixels\].
    center: [f64; 2],
}

/// Makes the gauge of a depth camera.
pub(super) fn make_depth_camera(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let image = plan.topic("/depth_image");
    let info = match image.rsplit_once('/') {
        Some((outer, _)) => format!("{outer}/camera_info"),
        None => "camera_info".to_owned(),
    };
    make(plan, [image.clone(), info, format!("{image}/points")])
}

/// Makes the gauge of a camera with colours and depth, for the latter.
pub(super) fn make_rgbd_camera(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let outer = plan.topic("");
    let parts = ["depth_image", "camera_info", "points"];
    make(plan, parts.map(|part| format!("{outer}/{part}")))
}

fn make(plan: &SensorPlan<'_>, [image, info, points]: [String; 3]) -> Result<Made, ConfigureError> {
    let camera = plan.sensor.content.child("camera");
    let camera = camera.ok_or_else(|| ConfigureError("it has no <camera>".to_owned()))?;
    let written = parameters::text(camera, "camera_info_topic").unwrap_or_default();
    let info_topic = if written.is_empty() {
        plan.full(&info)
    } else {
        plan.full(&written)
    };
    let (image_topic, points_topic) = (plan.full(&image), plan.full(&points));
    let lens = Lens::read(camera)?;
    let clip = clip(camera)?;
    Ok(Made {
        publications: vec![
            TopicSpec::of::<Image>(&image_topic),
            TopicSpec::of::<CameraInfo>(&info_topic),
            TopicSpec::of::<PointCloudPacked>(&points_topic),
        ],
        gauge: Box::new(DepthCamera {
            image_topic,
            info_topic,
            points_topic,
            optical_frame: parameters::text(camera, "optical_frame_id"),
            lens,
            clip,
            noise: NoiseBank::new(vec![Noise::read(camera, "")?]),
        }),
    })
}

/// Reads near and far plane; those of the depth have precedence.
fn clip(camera: &Content) -> Result<[f64; 2], ConfigureError> {
    let near = parameters::positive(camera, "clip/near", 0.1)?;
    let far = parameters::positive(camera, "clip/far", 100.0)?;
    let near = parameters::positive(camera, "depth_camera/clip/near", near)?;
    let far = parameters::positive(camera, "depth_camera/clip/far", far)?;
    if near < far && near.is_finite() {
        return Ok([near, far]);
    }
    Err(ConfigureError(format!(
        "<clip> goes from {near} m to {far} m"
    )))
}

impl Lens {
    fn read(camera: &Content) -> Result<Self, ConfigureError> {
        let size = [
            parameters::count(camera, "image/width", 320)?,
            parameters::count(camera, "image/height", 240)?,
        ];
        let pixels = u64::from(size[0]) * u64::from(size[1]);
        if pixels == 0 || pixels > RAYS_MAX {
            return Err(ConfigureError(format!(
                "it has {} x {} pixels; there must be 1 to {RAYS_MAX}",
                size[0], size[1]
            )));
        }
        let angle = parameters::positive(camera, "horizontal_fov", FIELD_OF_VIEW)?;
        if angle <= 0.0 || angle >= std::f64::consts::PI {
            return Err(ConfigureError(format!(
                "<horizontal_fov> is not between 0 and half a turn: {angle} rad"
            )));
        }
        let focal = f64::from(size[0]) / (2.0 * libm::tan(angle / 2.0));
        let given = |name: &str, default: f64| {
            parameters::finite(camera, &format!("lens/intrinsics/{name}"), default)
        };
        let lens = Self {
            size,
            focal: [given("fx", focal)?, given("fy", focal)?],
            center: [
                given("cx", f64::from(size[0]) / 2.0)?,
                given("cy", f64::from(size[1]) / 2.0)?,
            ],
        };
        if lens.focal.iter().all(|focal| *focal > 0.0) {
            return Ok(lens);
        }
        let reason = "<fx> and <fy> of <intrinsics> must be more than 0";
        Err(ConfigureError(reason.to_owned()))
    }

    /// Returns where each pixel looks at a distance of 1 m, by rows, in the frame of the camera.
    fn pixels(self) -> impl Iterator<Item = [f64; 3]> {
        let [width, height] = self.size;
        (0..height).flat_map(move |row| {
            let down = (f64::from(row) + 0.5 - self.center[1]) / self.focal[1];
            (0..width).map(move |column| {
                let right = (f64::from(column) + 0.5 - self.center[0]) / self.focal[0];
                [1.0, -right, -down]
            })
        })
    }

    fn info(&self, header: Header) -> CameraInfo {
        let ([fx, fy], [cx, cy]) = (self.focal, self.center);
        CameraInfo {
            header,
            width: self.size[0],
            height: self.size[1],
            intrinsics: CameraIntrinsics {
                k: vec![fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
            },
            projection: CameraProjection {
                p: vec![fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
            },
            rectification_matrix: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        }
    }
}

impl DepthCamera {
    /// Returns the depth of each pixel \[m\].
    fn depths(&mut self, mount: &Mount, frame: &Pose, context: &Context<'_>) -> Vec<f64> {
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
        let mut noise = self.noise.begin(context);
        if !noise.is_quiet(0) {
            for depth in depths.iter_mut().filter(|depth| depth.is_finite()) {
                *depth = noise.apply(0, *depth).clamp(near, far);
            }
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

    fn points(&self, header: Header, depths: &[f64]) -> PointCloudPacked {
        let [width, height] = self.lens.size;
        let mut cloud = Cloud::of_places(header, width, height);
        for (looks, depth) in self.lens.pixels().zip(depths) {
            cloud.push(scale(looks, *depth));
        }
        cloud.finish()
    }
}

impl SensorModel for DepthCamera {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let optical = match &self.optical_frame {
            Some(frame) => {
                let mut header = header.clone();
                header.data.retain(|data| data.key != "frame_id");
                header.with("frame_id", frame)
            }
            None => header.clone(),
        };
        if context.is_wanted(&self.info_topic) {
            context.publish(&self.info_topic, &self.lens.info(optical.clone()));
        }
        let is_seen = context.is_wanted(&self.image_topic);
        if !is_seen && !context.is_wanted(&self.points_topic) {
            return self.noise.skip(context);
        }
        let frame = mount.pose(context);
        let depths = self.depths(mount, &frame, context);
        if is_seen {
            context.publish(&self.image_topic, &self.image(optical, &depths));
        }
        if context.is_wanted(&self.points_topic) {
            context.publish(&self.points_topic, &self.points(header, &depths));
        }
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
