//! `lidar` and `gpu_lidar`: ranges along rays, row by row from the lowest angle up.
//!
//! A ray begins at the least range; what is nearer is not met, but for solids that it begins in,
//! which read minus infinity. Nothing met reads plus infinity (REP 117, as Gazebo). Source:
//! SDFormat, `lidar.sdf`; gz-sensors, `Lidar.cc`.

use messages::Header;
use messages::sensor::{LaserScan, PointCloudPacked};
use physics::{Echo, Scan};
use sdf::{Content, Pose};

use super::mount::Mount;
use super::noise::{Noise, NoiseBank};
use super::point_cloud::Cloud;
use super::sensor_system::{Made, SensorModel};
use super::vector::{pose_message, scale};
use super::visual_rays::{self, VisualRays, bounded};
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

/// The most rays of one sensor.
pub(super) const RAYS_MAX: u64 = 1 << 22;

struct Lidar {
    topic: String,
    points_topic: String,
    columns: Fan,
    rows: Fan,
    /// Least and greatest range \[m\].
    range: [f64; 2],
    /// Rays that meet visuals, if the world has them meet these and not collisions.
    to_visuals: Option<VisualRays>,
    noise: NoiseBank,
}

/// Angles of rays in one direction.
struct Fan {
    /// First and last \[rad\].
    ends: [f64; 2],
    /// Sine and cosine of each.
    turns: Vec<(f64, f64)>,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let topic = plan.topic("/scan");
    let points_topic = plan.full(&format!("{topic}/points"));
    let content = &plan.sensor.content;
    let found = ["lidar", "ray"].iter().find_map(|name| content.child(name));
    let lidar = found.ok_or_else(|| ConfigureError("it has no <lidar>".to_owned()))?;
    let range = [
        parameters::positive(lidar, "range/min", 0.0)?,
        parameters::positive(lidar, "range/max", 0.0)?,
    ];
    if range[1] < range[0] || !range[0].is_finite() {
        return Err(ConfigureError(format!(
            "<range> goes from {} m to {} m",
            range[0], range[1]
        )));
    }
    let [columns, rows] = fans(lidar)?;
    let to_visuals = if visual_rays::are_asked_for(plan.world)? {
        let directions = directions(&columns, &rows, &Pose::IDENTITY);
        let steps = [&columns, &rows].map(Fan::step);
        let steps = steps.into_iter().filter(|step| *step > 0.0);
        let angle = steps.fold(f64::INFINITY, f64::min);
        Some(VisualRays::new(lidar, directions, (angle, range[1]))?)
    } else {
        None
    };
    Ok(Made {
        publications: vec![
            TopicSpec::of::<LaserScan>(&topic),
            TopicSpec::of::<PointCloudPacked>(&points_topic),
        ],
        sensor_model: Box::new(Lidar {
            topic,
            points_topic,
            columns,
            rows,
            range,
            to_visuals,
            noise: NoiseBank::new(vec![Noise::read(lidar, "")?]),
        }),
    })
}

/// Reads the angles across and up.
fn fans(lidar: &Content) -> Result<[Fan; 2], ConfigureError> {
    let read = |axis: &str, samples: u32| -> Result<(u64, [f64; 2]), ConfigureError> {
        let path = |name: &str| format!("scan/{axis}/{name}");
        let samples = parameters::count(lidar, &path("samples"), samples)?;
        let resolution = parameters::positive(lidar, &path("resolution"), 1.0)?;
        let ends = [
            parameters::finite(lidar, &path("min_angle"), 0.0)?,
            parameters::finite(lidar, &path("max_angle"), 0.0)?,
        ];
        if ends[1] < ends[0] {
            return Err(ConfigureError(format!(
                "<{axis}> goes from {} rad to {} rad",
                ends[0], ends[1]
            )));
        }
        Ok(((f64::from(samples) * resolution) as u64, ends))
    };
    let (columns, across) = read("horizontal", 640)?;
    let (rows, up) = read("vertical", 1)?;
    let rows = rows.max(1);
    let rays = columns.saturating_mul(rows);
    if rays == 0 || rays > RAYS_MAX {
        return Err(ConfigureError(format!(
            "it has {columns} x {rows} rays; there must be 1 to {RAYS_MAX}"
        )));
    }
    Ok([Fan::new(columns, across), Fan::new(rows, up)])
}

impl Fan {
    fn new(count: u64, ends: [f64; 2]) -> Self {
        let mut fan = Self {
            ends,
            turns: Vec::new(),
        };
        let step = fan.step_of(count);
        let turns = (0..count).map(|index| libm::sincos(ends[0] + step * index as f64));
        fan.turns = turns.collect();
        fan
    }

    /// Returns the angle between two neighbours \[rad\].
    fn step(&self) -> f64 {
        self.step_of(self.turns.len() as u64)
    }

    fn step_of(&self, count: u64) -> f64 {
        let [first, last] = self.ends;
        if count > 1 {
            (last - first) / (count - 1) as f64
        } else {
            0.0
        }
    }

    fn count(&self) -> u32 {
        self.turns.len() as u32
    }
}

/// Returns the directions of all rays by rows in the frame of a pose.
fn directions(columns: &Fan, rows: &Fan, frame: &Pose) -> impl Iterator<Item = [f64; 3]> {
    let forward = frame.rotate([1.0, 0.0, 0.0]);
    let left = frame.rotate([0.0, 1.0, 0.0]);
    let up = frame.rotate([0.0, 0.0, 1.0]);
    rows.turns.iter().flat_map(move |(rise, level)| {
        let (forward, left) = (scale(forward, *level), scale(left, *level));
        let up = scale(up, *rise);
        columns.turns.iter().map(move |(sine, cosine)| {
            std::array::from_fn(|axis| forward[axis] * cosine + left[axis] * sine + up[axis])
        })
    })
}

impl Lidar {
    /// Returns range \[m\] and intensity along each ray.
    fn cast(&mut self, mount: &Mount, frame: &Pose, context: &Context<'_>) -> Vec<(f64, f64)> {
        let mut found = match &mut self.to_visuals {
            Some(rays) => {
                let [least, greatest] = self.range;
                let distances = rays.cast(frame, context).into_iter();
                let bounded = distances.map(|distance| (bounded(distance, least, greatest), 0.0));
                bounded.collect()
            }
            None => self.meet_collisions(mount, frame, context),
        };
        let mut noise = self.noise.begin(context);
        if !noise.is_quiet(0) {
            let [least, greatest] = self.range;
            for (range, _) in &mut found {
                if range.is_finite() {
                    *range = noise.apply(0, *range).clamp(least, greatest);
                }
            }
        }
        found
    }

    /// Returns distance \[m\] and intensity of the collisions along each ray.
    fn meet_collisions(
        &self,
        mount: &Mount,
        frame: &Pose,
        context: &Context<'_>,
    ) -> Vec<(f64, f64)> {
        let scan = Scan {
            origin: frame.position,
            begin: self.range[0],
            end: self.range[1],
            own_link: Some((context.model.index, mount.link)),
        };
        let mut found = Vec::with_capacity(self.rows.turns.len() * self.columns.turns.len());
        let directions = directions(&self.columns, &self.rows, frame);
        context.cell.cast_rays(&scan, directions, |echo| {
            found.push(match echo {
                Echo::Nothing => (f64::INFINITY, 0.0),
                Echo::TooNear => (f64::NEG_INFINITY, 0.0),
                Echo::At { distance, retro } => (distance, retro),
            });
        });
        found
    }

    fn scan(&self, mount: &Mount, frame: &Pose, found: &[(f64, f64)]) -> LaserScan {
        let [rows, columns] = [&self.rows, &self.columns];
        LaserScan {
            frame: mount.frame_id.clone(),
            world_pose: pose_message(frame),
            angle_min: columns.ends[0],
            angle_max: columns.ends[1],
            angle_step: columns.step(),
            range_min: self.range[0],
            range_max: self.range[1],
            count: columns.count(),
            vertical_angle_min: rows.ends[0],
            vertical_angle_max: rows.ends[1],
            vertical_angle_step: rows.step(),
            vertical_count: rows.count(),
            ranges: found.iter().map(|(range, _)| *range).collect(),
            intensities: found.iter().map(|(_, intensity)| *intensity).collect(),
            ..LaserScan::default()
        }
    }

    fn points(&self, header: Header, found: &[(f64, f64)]) -> PointCloudPacked {
        let mut cloud = Cloud::of_lidar(header, self.columns.count(), self.rows.count());
        let directions = directions(&self.columns, &self.rows, &Pose::IDENTITY);
        let columns = self.columns.turns.len();
        for (index, (direction, (range, intensity))) in directions.zip(found).enumerate() {
            let place = scale(direction, *range);
            cloud.push_return(place, *intensity, (index / columns) as u32);
        }
        cloud.finish()
    }
}

impl SensorModel for Lidar {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let frame = mount.pose(context);
        let found = self.cast(mount, &frame, context);
        if context.is_wanted(&self.topic) {
            let mut message = self.scan(mount, &frame, &found);
            message.header = header.clone();
            context.publish(&self.topic, &message);
        }
        if context.is_wanted(&self.points_topic) {
            context.publish(&self.points_topic, &self.points(header, &found));
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
