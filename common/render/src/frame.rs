//! [`Frame`]: what changes from one image of a stage to the next, for renderers on other devices:
//! places of items and lights, in single precision and in the frame of the camera.

use mesh::color::linear;
use scene::Fog;

use crate::camera::Lens;
use crate::light::{Lamp, turned};
use crate::lit::Look;
use crate::raster::single;
use crate::region::{Placing, Region};
use crate::shape::Surface;
use crate::stage::{Item, Pose};
use crate::vector::{Vector, add, dot, place, rotate, subtract};
use crate::view::View;

/// Rule by which places of a frame come into another: the products with each row, of which the last
/// number is added.
pub type Rows = [[f32; 4]; 3];

/// The changing part of a view.
pub struct Frame<'a> {
    /// Items that the camera may see, in order of their numbers.
    pub items: Vec<FrameItem<'a>>,
    /// Lights, frame of the camera.
    pub lamps: Vec<Lamp>,
    /// Light from everywhere.
    pub ambient: [f32; 3],
    /// Light behind everything, unless there is a sky.
    pub background: [f32; 3],
    /// True if the sky is behind everything.
    pub has_sky: bool,
    /// Fog, if there is any.
    pub fog: Option<&'a Fog>,
    /// The direction that is up, frame of the camera.
    pub up: [f32; 3],
    /// Lens for the pixels of the picture.
    pub lens: Lens,
    /// Distances before and beyond which nothing is seen \[m\].
    pub clip: [f64; 2],
    /// Shadows, in the order of the lamps that cast them.
    pub shadows: Vec<FrameShadow>,
    /// Surfaces where bones move them, in place of those of the stage.
    pub moved: Vec<Surface>,
}

/// An item that a camera may see.
pub struct FrameItem<'a> {
    /// Its surface, as an index into those of the stage.
    pub surface: usize,
    /// The surface where bones move it, as an index into those of the frame.
    pub moved: Option<usize>,
    /// Its look, as an index into those of the stage.
    pub look_number: usize,
    /// Its look.
    pub look: &'a Look,
    /// The visual that it is of; see [`Seen`](crate::Seen).
    pub visual: u32,
    /// Places of the surface as seen from the camera: to the right, down, and along its view \[m\].
    pub placing: Rows,
    /// Normals of the surface in the same frame, of any length.
    pub turning: [[f32; 3]; 3],
    /// True if the item is a mirror image of its surface.
    pub is_mirrored: bool,
    /// True if it is not seen from behind.
    pub fronts_only: bool,
}

/// Shadows of a lamp on the maps of a region; one that shines to all sides has several of these.
pub struct FrameShadow {
    /// The lamp, as an index into those of the frame.
    pub lamp: usize,
    /// Place and direction of the maps.
    pub region: Region,
    /// Places that the camera sees, on the maps: columns and rows, and depth along the light \[m\].
    /// Columns and rows of a lamp's are to be divided by the depth, and counted from the middle.
    pub placing: Rows,
    /// Size of a sample of the maps \[m\]; of a lamp's at a depth of 1 m.
    pub texel: f32,
    /// Items that cast shadows.
    pub casters: Vec<Caster>,
}

/// An item that casts shadows.
pub struct Caster {
    /// Its surface, as an index into those of the stage.
    pub surface: usize,
    /// The surface where bones move it, as an index into those of the frame.
    pub moved: Option<usize>,
    /// Places of the surface on the maps, as those of [`FrameShadow::placing`].
    pub placing: Rows,
    /// Least and greatest depth that it may have \[m\].
    pub depths: [f32; 2],
    /// True if it never moves.
    pub is_fixed: bool,
}

impl<'a> Frame<'a> {
    /// Finds what changes with a view; lights and shadows only if it is drawn in colours.
    pub fn of(view: &View<'a>, has_colors: bool) -> Self {
        let (stage, camera) = (view.stage, view.camera);
        let poses: Vec<Option<Pose>> = view.poses().collect();
        let lamps = if has_colors {
            stage.lamps(view)
        } else {
            Vec::new()
        };
        let mut moved = Vec::new();
        let places: Vec<Placed<'_>> = stage
            .items
            .iter()
            .zip(&poses)
            .map(|(item, pose)| {
                let surface = pose
                    .as_ref()
                    .and_then(|_| stage.moved(item, view.elapsed_s));
                let number = moved.len();
                moved.extend(surface);
                Placed {
                    item,
                    pose: pose.as_ref(),
                    moved: (moved.len() > number).then_some(number),
                }
            })
            .collect();
        let seen = places.iter().filter_map(|placed| {
            let pose = placed.pose.filter(|pose| view.may_see(placed.item, pose))?;
            Some(FrameItem::of(view, placed, pose))
        });
        Self {
            items: seen.collect(),
            shadows: FrameShadow::all_of(view, &lamps, &poses, &places),
            moved,
            lamps,
            ambient: stage.world.ambient.map(|part| linear(part as f32)),
            background: stage.world.background.map(|part| linear(part as f32)),
            has_sky: stage.world.sky.is_some(),
            fog: stage.world.fog.as_ref(),
            up: single(turned(camera, [0.0, 0.0, 1.0])),
            lens: camera.lens(view.size),
            clip: camera.clip(),
        }
    }
}

/// An item where it is.
struct Placed<'a> {
    item: &'a Item,
    pose: Option<&'a Pose>,
    moved: Option<usize>,
}

impl<'a> FrameItem<'a> {
    fn of(view: &View<'a>, placed: &Placed<'_>, pose: &Pose) -> Self {
        let (camera, item) = (view.camera, placed.item);
        let look = &view.stage.looks[item.look];
        let axis = |i: usize, factor: f64| {
            let mut axis = [0.0; 3];
            axis[i] = factor;
            turned(camera, rotate(pose, axis))
        };
        // Normals of what is stretched stay upright.
        let inverse = item
            .scale
            .map(|factor| if factor == 0.0 { 0.0 } else { 1.0 / factor });
        let origin = camera.seen(place(pose, [0.0; 3]));
        Self {
            surface: item.surface,
            moved: placed.moved,
            look_number: item.look,
            look,
            visual: item.visual,
            placing: rows([0, 1, 2].map(|i| axis(i, item.scale[i])), origin),
            turning: columns([0, 1, 2].map(|i| axis(i, inverse[i]))).map(single),
            is_mirrored: item.scale.iter().product::<f64>() < 0.0,
            fronts_only: view.hides_back(look),
        }
    }
}

impl FrameShadow {
    fn all_of(
        view: &View<'_>,
        lamps: &[Lamp],
        poses: &[Option<Pose>],
        places: &[Placed<'_>],
    ) -> Vec<Self> {
        let regions = Region::of_view(view, lamps, poses);
        let regions = regions.into_iter();
        regions
            .map(|(lamp, region)| Self::of(view, lamp, region, places))
            .collect()
    }

    fn of(view: &View<'_>, lamp: usize, region: Region, places: &[Placed<'_>]) -> Self {
        let camera = view.camera;
        let in_world = region.placing([0.0; 3], |unit| unit);
        let casters = places.iter().filter_map(|placed| {
            let blends = view.stage.looks[placed.item.look].blends;
            let pose = placed.pose.filter(|_| !blends)?;
            let casts = placed.item.traits.casts_shadows;
            let casts = casts && region.may_show(placed.item.ball_at(pose));
            casts.then(|| Caster::of(placed, pose, &region, &in_world))
        });
        let casters = casters.collect();
        let seen = region.placing(camera.position(), |unit| camera.turned_out(unit));
        Self {
            lamp,
            region,
            placing: rows(columns(seen.rows), seen.origin),
            texel: seen.texel as f32,
            casters,
        }
    }
}

impl Caster {
    fn of(placed: &Placed<'_>, pose: &Pose, region: &Region, placing: &Placing) -> Self {
        let item = placed.item;
        let axis = |i: usize| {
            let mut axis = [0.0; 3];
            axis[i] = item.scale[i];
            let turned = rotate(pose, axis);
            placing.rows.map(|row| dot(row, turned))
        };
        let at = place(pose, [0.0; 3]);
        let origin = add(placing.rows.map(|row| dot(row, at)), placing.origin);
        let (center, radius) = item.ball_at(pose);
        let depth = dot(region.direction, subtract(center, region.center));
        Self {
            surface: item.surface,
            moved: placed.moved,
            placing: rows([0, 1, 2].map(axis), origin),
            depths: [depth - radius, depth + radius].map(|depth| depth as f32),
            is_fixed: item.traits.is_fixed,
        }
    }
}

/// Returns the rule of a frame by its axes and its origin in another.
fn rows(axes: [Vector; 3], origin: Vector) -> Rows {
    let turning = columns(axes);
    std::array::from_fn(|i| {
        let [x, y, z] = turning[i];
        [x, y, z, origin[i]].map(|part| part as f32)
    })
}

/// Returns the columns of rows, which are the rows of columns.
fn columns(rows: [Vector; 3]) -> [Vector; 3] {
    std::array::from_fn(|i| rows.map(|row| row[i]))
}
