//! `boundingbox_camera`: boxes around the labelled things that it sees, and an image with them.
//!
//! Boxes in the image are around what is seen of a thing (`2d`), or around all of it (`full_2d`);
//! boxes in space (`3d`) are along the axes of the thing, in the frame of the sensor. Source:
//! SDFormat, `camera.sdf`; gz-sensors, `BoundingBoxCameraSensor.cc`.

use std::collections::{BTreeMap, BTreeSet};

use messages::Header;
use messages::geometry::{Vector2d, Vector3d};
use messages::sensor::{
    AnnotatedAxisAligned2DBox, AnnotatedAxisAligned2DBoxV, AnnotatedOriented3DBox,
    AnnotatedOriented3DBoxV, AxisAligned2DBox, CameraInfo, Image, Oriented3DBox,
};
use sdf::Pose;

use super::camera::{ImageTopics, Trigger, find_camera};
use super::eye::Eye;
use super::lens::{Lens, read_clip};
use super::mount::Mount;
use super::pixel_format::PixelFormat;
use super::sensor_system::{Made, SensorModel};
use super::vector::pose_message;
use super::{SensorPlan, parameters};
use crate::drawn_world::{DrawnWorld, MovingLinks, Thing};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context, load, save};

/// Kind of the boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Visible,
    Full,
    Space,
}

/// A box along its own axes.
#[derive(Clone, Copy, Debug)]
struct Bounds<const N: usize> {
    low: [f64; N],
    high: [f64; N],
}

struct BoundingBoxCamera {
    boxes_topic: String,
    image_topic: String,
    info_topic: String,
    trigger: Option<Trigger>,
    eye: Eye,
    kind: Kind,
    /// Near plane \[m\].
    near: f64,
}

/// Boxes that were found, by their things.
enum Boxes {
    Flat(BTreeMap<Thing, Bounds<2>>),
    /// With the frame that each is along, sensor frame.
    Space(BTreeMap<Thing, (Pose, Bounds<3>)>),
}

/// The least distance of a near plane, as of what is drawn: on the plane of the sensor itself is
/// nothing that has a place in an image \[m\].
const NEAR_MIN: f64 = 1e-6;

/// The colour of boxes in images.
const GREEN: [u8; 4] = [0, 255, 0, 255];

/// Makes the model of a bounding box camera.
pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let camera = find_camera(plan)?;
    let kind = parameters::text(camera, "box_type");
    let kind = kind.or_else(|| parameters::text(camera, "bounding_box_type"));
    let kind = match kind.as_deref().unwrap_or("2d") {
        "2d" | "visible_2d" | "visible_box_2d" => Kind::Visible,
        "full_2d" | "full_box_2d" => Kind::Full,
        "3d" => Kind::Space,
        other => {
            return Err(ConfigureError(format!(
                "<box_type> is {other:?}; there are 2d, full_2d and 3d"
            )));
        }
    };
    let boxes = plan.topic("/boundingbox");
    let topics = ImageTopics::beside(plan, camera, &format!("{boxes}_image"), &boxes);
    let clip = read_clip(camera, &["clip"])?;
    let sensor_model = BoundingBoxCamera {
        boxes_topic: plan.full(&boxes),
        image_topic: topics.image,
        info_topic: topics.info,
        trigger: Trigger::read(plan, camera, &boxes),
        eye: Eye::read(camera, Lens::read(camera)?.straightened(), clip)?,
        kind,
        near: clip[0].max(NEAR_MIN),
    };
    let boxes = match kind {
        Kind::Space => TopicSpec::of::<AnnotatedOriented3DBoxV>(&sensor_model.boxes_topic),
        Kind::Visible | Kind::Full => {
            TopicSpec::of::<AnnotatedAxisAligned2DBoxV>(&sensor_model.boxes_topic)
        }
    };
    Ok(Made {
        publications: vec![
            boxes,
            TopicSpec::of::<Image>(&sensor_model.image_topic),
            TopicSpec::of::<CameraInfo>(&sensor_model.info_topic),
        ],
        sensor_model: Box::new(sensor_model),
    })
}

impl<const N: usize> Bounds<N> {
    fn around(place: [f64; N]) -> Self {
        Self {
            low: place,
            high: place,
        }
    }

    fn add(&mut self, place: [f64; N]) {
        for (axis, part) in place.into_iter().enumerate() {
            self.low[axis] = self.low[axis].min(part);
            self.high[axis] = self.high[axis].max(part);
        }
    }
}

/// Adds a place to the bounds of a thing.
fn note<const N: usize>(bounds: &mut BTreeMap<Thing, Bounds<N>>, thing: Thing, place: [f64; N]) {
    let known = bounds.entry(thing);
    known.or_insert_with(|| Bounds::around(place)).add(place);
}

impl BoundingBoxCamera {
    fn find(&mut self, frame: &Pose, context: &Context<'_>) -> Boxes {
        let seen = self.eye.visuals(frame, context);
        let world = Eye::world(context);
        let things = world.things();
        let width = self.eye.lens.size[0] as usize;
        let mut visible = BTreeMap::new();
        for (place, visual) in seen.visuals.iter().enumerate() {
            if let Some(thing) = things.get(*visual as usize).copied().flatten() {
                let place = [(place % width) as f64, (place / width) as f64];
                note(&mut visible, thing, place);
            }
        }
        let whole = match self.kind {
            Kind::Visible => return Boxes::Flat(visible),
            Kind::Full => return Boxes::Flat(self.whole(frame, &visible, &world, context)),
            Kind::Space => in_space(frame, &visible, &world, context),
        };
        Boxes::Space(whole)
    }

    /// Returns boxes around all of the things that are seen in part, within the image.
    fn whole(
        &self,
        frame: &Pose,
        visible: &BTreeMap<Thing, Bounds<2>>,
        world: &DrawnWorld,
        context: &Context<'_>,
    ) -> BTreeMap<Thing, Bounds<2>> {
        let (lens, near) = (self.eye.lens, self.near);
        let into_sensor = frame.inverse();
        let mut bounds: BTreeMap<Thing, Bounds<2>> = visible.clone();
        each_vertex(world, visible, context, |thing, place| {
            let [x, y, z] = place_in(&into_sensor, place);
            if x < near {
                return;
            }
            let seen = [
                lens.center[0] - lens.focal[0] * y / x,
                lens.center[1] - lens.focal[1] * z / x,
            ];
            let last = lens.size.map(|edge| f64::from(edge - 1));
            note(
                &mut bounds,
                thing,
                [0, 1].map(|axis| seen[axis].clamp(0.0, last[axis])),
            );
        });
        bounds
    }
}

/// Returns boxes in space around the things that are seen in part.
fn in_space(
    frame: &Pose,
    visible: &BTreeMap<Thing, Bounds<2>>,
    world: &DrawnWorld,
    context: &Context<'_>,
) -> BTreeMap<Thing, (Pose, Bounds<3>)> {
    let moving = MovingLinks::of(context.cell);
    let frames: BTreeMap<Thing, Pose> = visible
        .keys()
        .filter_map(|thing| Some((*thing, world.frame_of(*thing, &moving, context.world())?)))
        .collect();
    let inverse: BTreeMap<Thing, Pose> = frames
        .iter()
        .map(|(thing, frame)| (*thing, frame.inverse()))
        .collect();
    let mut bounds = BTreeMap::new();
    each_vertex(world, visible, context, |thing, place| {
        if let Some(into) = inverse.get(&thing) {
            note(&mut bounds, thing, place_in(into, place));
        }
    });
    let into_sensor = frame.inverse();
    let placed = bounds.into_iter();
    placed
        .map(|(thing, bounds)| (thing, (into_sensor.then(&frames[&thing]), bounds)))
        .collect()
}

/// Visits the corners of all triangles of things, world frame \[m\].
fn each_vertex(
    world: &DrawnWorld,
    wanted: &BTreeMap<Thing, Bounds<2>>,
    context: &Context<'_>,
    mut visit: impl FnMut(Thing, [f64; 3]),
) {
    let moving = MovingLinks::of(context.cell);
    let things = world.things();
    let wanted: BTreeSet<Thing> = wanted.keys().copied().collect();
    let thing_of = |visual: u32| {
        let thing = things.get(visual as usize).copied().flatten();
        thing.filter(|thing| wanted.contains(thing))
    };
    let place =
        |model: usize, link: u32, start: &scene::Pose| world.place(&moving, (model, link), start);
    world.stage.visit_vertices(
        &place,
        context.cell.actor_time().seconds(),
        |visual| thing_of(visual).is_some(),
        |visual, at| {
            if let Some(thing) = thing_of(visual) {
                visit(thing, at);
            }
        },
    );
}

fn place_in(frame: &Pose, place: [f64; 3]) -> [f64; 3] {
    let at = Pose {
        position: place,
        ..Pose::IDENTITY
    };
    frame.then(&at).position
}

impl Boxes {
    /// Draws the edges of the boxes into an image.
    fn draw(&self, lens: Lens, near: f64, pixels: &mut [[u8; 4]]) {
        match self {
            Self::Flat(boxes) => {
                for Bounds { low, high } in boxes.values() {
                    let corners = [*low, [high[0], low[1]], *high, [low[0], high[1]]];
                    for (i, corner) in corners.iter().enumerate() {
                        draw_line(*corner, corners[(i + 1) % 4], lens, pixels);
                    }
                }
            }
            Self::Space(boxes) => {
                for (frame, Bounds { low, high }) in boxes.values() {
                    let corner = |number: usize| {
                        let part = |axis: usize| [low, high][number >> axis & 1][axis];
                        place_in(frame, [part(0), part(1), part(2)])
                    };
                    let screen = |[x, y, z]: [f64; 3]| {
                        [
                            lens.center[0] - lens.focal[0] * y / x,
                            lens.center[1] - lens.focal[1] * z / x,
                        ]
                    };
                    for number in 0..8_usize {
                        let others = (0..3).map(|axis| number | 1 << axis);
                        for other in others.filter(|other| *other != number) {
                            let ends = [corner(number), corner(other)];
                            if ends.iter().all(|end| end[0] >= near) {
                                draw_line(screen(ends[0]), screen(ends[1]), lens, pixels);
                            }
                        }
                    }
                }
            }
        }
    }

    fn publish(&self, topic: &str, header: Header, context: &mut Context<'_>) {
        match self {
            Self::Flat(boxes) => {
                let corner = |[x, y]: [f64; 2]| Vector2d {
                    x,
                    y,
                    ..Vector2d::default()
                };
                let annotated = boxes
                    .iter()
                    .map(|(thing, bounds)| AnnotatedAxisAligned2DBox {
                        r#box: AxisAligned2DBox {
                            min_corner: corner(bounds.low),
                            max_corner: corner(bounds.high),
                            ..AxisAligned2DBox::default()
                        },
                        label: u32::from(thing.label),
                        ..AnnotatedAxisAligned2DBox::default()
                    });
                let annotated_box = annotated.collect();
                let message = AnnotatedAxisAligned2DBoxV {
                    header,
                    annotated_box,
                };
                context.publish(topic, &message);
            }
            Self::Space(boxes) => {
                let annotated = boxes.iter().map(|(thing, (frame, bounds))| {
                    let middle = |axis: usize| f64::midpoint(bounds.low[axis], bounds.high[axis]);
                    let center = place_in(frame, [middle(0), middle(1), middle(2)]);
                    let size = |axis: usize| bounds.high[axis] - bounds.low[axis];
                    let pose = pose_message(&Pose {
                        position: center,
                        ..*frame
                    });
                    AnnotatedOriented3DBox {
                        r#box: Oriented3DBox {
                            center: pose.position,
                            orientation: pose.orientation,
                            boxsize: Vector3d {
                                x: size(0),
                                y: size(1),
                                z: size(2),
                                ..Vector3d::default()
                            },
                            ..Oriented3DBox::default()
                        },
                        label: u32::from(thing.label),
                        ..AnnotatedOriented3DBox::default()
                    }
                });
                let annotated_box = annotated.collect();
                let message = AnnotatedOriented3DBoxV {
                    header,
                    annotated_box,
                };
                context.publish(topic, &message);
            }
        }
    }
}

/// Draws what is in the image of a line between two places.
fn draw_line(from: [f64; 2], to: [f64; 2], lens: Lens, pixels: &mut [[u8; 4]]) {
    let size = lens.size.map(f64::from);
    let way = [to[0] - from[0], to[1] - from[1]];
    let Some(([first, last], steps)) = part_in_image(from, way, size) else {
        return;
    };
    for step in 0..=steps {
        let part = first + (last - first) * f64::from(step) / f64::from(steps);
        let place = [0, 1].map(|axis| (from[axis] + way[axis] * part).round());
        if (0..2).all(|axis| place[axis] >= 0.0 && place[axis] < size[axis]) {
            pixels[place[1] as usize * lens.size[0] as usize + place[0] as usize] = GREEN;
        }
    }
}

/// Returns the part of a line that is in an image, with a pixel around it, from 0 to 1, and the
/// number of steps of a pixel at most; none if there is no such part, or the line has no end.
fn part_in_image(from: [f64; 2], way: [f64; 2], size: [f64; 2]) -> Option<([f64; 2], u32)> {
    if from.iter().chain(&way).any(|part| !part.is_finite()) {
        return None;
    }
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let ends = [-1.0 - from[axis], size[axis] - from[axis]];
        if way[axis] == 0.0 {
            if ends[0] > 0.0 || ends[1] < 0.0 {
                return None;
            }
            continue;
        }
        let ends = ends.map(|end| end / way[axis]);
        first = first.max(ends[0].min(ends[1]));
        last = last.min(ends[0].max(ends[1]));
    }
    if first > last {
        return None;
    }
    let steps = (way[0].abs().max(way[1].abs()) * (last - first)).ceil();
    // The part is no longer than that, but numbers are rounded.
    let steps_max = size[0].max(size[1]) + 2.0;
    Some(([first, last], steps.clamp(1.0, steps_max) as u32))
}

impl SensorModel for BoundingBoxCamera {
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
        let wants_image = context.is_wanted(&self.image_topic);
        if !wants_image && !context.is_wanted(&self.boxes_topic) {
            return;
        }
        let frame = mount.pose(context);
        let boxes = self.find(&frame, context);
        if wants_image {
            let mut pixels = self.eye.colors(&frame, context);
            boxes.draw(self.eye.lens, self.near, &mut pixels);
            let size = self.eye.lens.size;
            let image = PixelFormat::Rgb8.image(header.clone(), size, &pixels);
            context.publish(&self.image_topic, &image);
        }
        boxes.publish(&self.boxes_topic, header, context);
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [u32; 2] = [40, 30];

    #[test]
    fn lines_that_go_far_beyond_an_image_take_few_steps() {
        let size = SIZE.map(f64::from);
        let steps = |from: [f64; 2], to: [f64; 2]| {
            let part = part_in_image(from, [to[0] - from[0], to[1] - from[1]], size);
            part.map(|(_, steps)| steps)
        };
        assert_eq!(steps([2.0, 3.0], [12.0, 3.0]), Some(10));
        assert_eq!(steps([-1e9, 3.0], [1e9, 3.0]), Some(41));
        let far = steps([-1e300, -1e300], [1e300 / 3.0, 1e300]);
        assert!(far.is_none_or(|steps| steps <= 42), "{far:?}");
        let far = steps([20.0, 15.0], [1e308, 1e307]);
        assert!(far.is_none_or(|steps| steps <= 42), "{far:?}");
        for end in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(steps([end, 3.0], [12.0, 3.0]), None);
            assert_eq!(steps([2.0, 3.0], [12.0, end]), None);
        }
    }

    #[test]
    fn the_edges_of_a_box_at_the_sensor_end() {
        let lens = Lens::centered(SIZE, 20.0);
        let bounds = Bounds {
            low: [0.0, -1.0, -1.0],
            high: [2.0, 1.0, 1.0],
        };
        let thing = Thing {
            label: 1,
            number: 1,
        };
        let boxes = Boxes::Space(BTreeMap::from([(thing, (Pose::IDENTITY, bounds))]));
        for near in [0.0, NEAR_MIN] {
            let mut pixels = vec![[0; 4]; (SIZE[0] * SIZE[1]) as usize];
            boxes.draw(lens, near, &mut pixels);
            // The face that is farther away is 20 pixels wide and high, in the middle.
            let is_green = |[x, y]: [u32; 2]| pixels[(y * SIZE[0] + x) as usize] == GREEN;
            assert!(
                [[10, 5], [30, 5], [10, 25], [30, 25]]
                    .into_iter()
                    .all(is_green)
            );
            assert!(!is_green([20, 15]));
            let count = pixels.iter().filter(|pixel| **pixel == GREEN).count();
            assert_eq!(count, 80, "only the far face is drawn");
        }
    }
}
