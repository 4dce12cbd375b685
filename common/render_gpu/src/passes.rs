//! [`Plan`]: the draws of a frame, in order, and what they read.

use std::ops::Range;

use render::{Frame, FrameItem, FrameShadow, Lamp, Reach, Stage};
use scene::{Fog, FogKind};
use wgpu::{Buffer, BufferUsages, RenderPass};

use crate::device::Gpu;
use crate::numbers::Numbers;
use crate::pipelines::{Hidden, Kind, Way};
use crate::prepared::{Prepared, SurfaceRange, moved_vertices};
use crate::shadows::MapPlace;
use crate::targets::buffer;

/// Triangles of items that are drawn at once.
pub(crate) struct Draw<T> {
    /// The way in which they are drawn.
    pub(crate) how: T,
    pub(crate) indices: Range<u32>,
    pub(crate) first_vertex: i32,
    /// True if its vertices are those that bones move.
    pub(crate) is_moved: bool,
    pub(crate) items: Range<u32>,
}

/// The way in which items of a view are drawn, and the group of their textures.
pub(crate) type How = (Way, usize);

/// Content of a buffer that is given anew with each frame.
pub(crate) struct Upload {
    label: &'static str,
    usage: BufferUsages,
    buffer: Option<Buffer>,
}

/// Draws of a frame.
#[derive(Default)]
pub(crate) struct Plan {
    /// Solid items, from the buffers of the stage.
    pub(crate) solid: Vec<Draw<How>>,
    /// Items that blend, from indices of their own.
    pub(crate) clear: Vec<Draw<How>>,
    pub(crate) clear_indices: Numbers,
    pub(crate) items: Numbers,
    /// Vertices of surfaces that bones move.
    pub(crate) moved: Numbers,
    /// The number of the first vertex of each of these surfaces.
    pub(crate) moved_places: Vec<u32>,
}

impl<T: PartialEq> Draw<T> {
    /// Adds an item; it is drawn with the one before where both are alike. Where bones move it, its
    /// first vertex is among those.
    pub(crate) fn add(
        draws: &mut Vec<Self>,
        how: T,
        surface: &SurfaceRange,
        moved: Option<u32>,
        item: u32,
    ) {
        if let Some(last) = draws.last_mut()
            && last.how == how
            && last.indices == surface.indices
            && (last.is_moved, moved) == (false, None)
            && last.items.end == item
        {
            last.items.end += 1;
            return;
        }
        draws.push(Self {
            how,
            indices: surface.indices.clone(),
            first_vertex: moved.unwrap_or(surface.first_vertex).cast_signed(),
            is_moved: moved.is_some(),
            items: item..item + 1,
        });
    }
}

impl Upload {
    pub(crate) fn new(label: &'static str, usage: BufferUsages) -> Self {
        Self {
            label,
            usage: usage | BufferUsages::COPY_DST,
            buffer: None,
        }
    }

    /// Brings content to the device.
    pub(crate) fn put(&mut self, gpu: &Gpu, bytes: &[u8]) -> &Buffer {
        let needed = bytes.len() as u64;
        let known = self.buffer.take().filter(|known| known.size() >= needed);
        let buffer = self.buffer.insert(known.unwrap_or_else(|| {
            let size = needed.next_power_of_two().max(16);
            buffer(gpu, self.label, size, self.usage)
        }));
        gpu.queue.write_buffer(buffer, 0, bytes);
        buffer
    }
}

impl Plan {
    /// Plans a frame in colours.
    pub(crate) fn in_colors(frame: &Frame<'_>, stage: &Stage, prepared: &Prepared) -> Self {
        let kind = |item: &FrameItem<'_>| match item {
            item if item.look.blends => Kind::Clear,
            item if is_cut_out(item) => Kind::CutOut,
            _ => Kind::Solid,
        };
        Self::of(frame, stage, prepared, |item| way(item, kind(item)))
    }

    /// Plans a frame of visuals.
    pub(crate) fn of_visuals(frame: &Frame<'_>, stage: &Stage, prepared: &Prepared) -> Self {
        let kind = |item: &FrameItem<'_>| {
            if is_cut_out(item) {
                Kind::VisualCutOut
            } else {
                Kind::Visual
            }
        };
        Self::of(frame, stage, prepared, |item| way(item, kind(item)))
    }

    fn of(
        frame: &Frame<'_>,
        stage: &Stage,
        prepared: &Prepared,
        way: impl Fn(&FrameItem<'_>) -> Way,
    ) -> Self {
        let how = |item: &FrameItem<'_>| (way(item), prepared.group_of_look[item.look_number]);
        let items = frame.items.iter().map(|item| (how(item), item));
        let (mut clear, mut solid): (Vec<_>, Vec<_>) =
            items.partition(|((way, _), _)| way.kind == Kind::Clear);
        // Sorting keeps the order of those that are alike.
        solid.sort_by_key(|(how, item)| (*how, item.surface));
        let (moved, moved_places) = moved_vertices(&frame.moved);
        let mut plan = Self {
            moved,
            moved_places,
            ..Self::default()
        };
        for ((how, item), number) in solid.iter().zip(0..) {
            plan.add_item(item);
            let moved = item.moved.map(|moved| plan.moved_places[moved]);
            let surface = &prepared.surfaces[item.surface];
            Draw::add(&mut plan.solid, *how, surface, moved, number);
        }
        plan.add_clear(&mut clear, solid.len() as u32, (frame, stage), prepared);
        plan
    }

    /// Adds what blends, triangle by triangle from the farthest to the nearest.
    fn add_clear(
        &mut self,
        clear: &mut [(How, &FrameItem<'_>)],
        first_item: u32,
        (frame, stage): (&Frame<'_>, &Stage),
        prepared: &Prepared,
    ) {
        let mut triangles: Vec<(f32, usize, [u32; 3])> = Vec::new();
        for (number, (_, item)) in clear.iter().enumerate() {
            self.add_item(item);
            let (surface, first) = match item.moved {
                Some(moved) => (&frame.moved[moved], self.moved_places[moved]),
                None => (
                    &*stage.surfaces()[item.surface],
                    prepared.surfaces[item.surface].first_vertex,
                ),
            };
            let [x, y, z, rest] = item.placing[2];
            let depth = |index: &u32| {
                let at = surface.positions[*index as usize];
                x * at[0] + y * at[1] + z * at[2] + rest
            };
            triangles.extend(surface.triangles.iter().map(|triangle| {
                let depths: f32 = triangle.iter().map(depth).sum();
                (depths, number, triangle.map(|index| first + index))
            }));
        }
        triangles.sort_by(|a, b| b.0.total_cmp(&a.0));
        for ((_, number, triangle), end) in triangles.into_iter().zip(1..) {
            self.clear_indices.words(triangle);
            let item = first_item + number as u32;
            match self.clear.last_mut() {
                Some(last) if last.items.start == item => last.indices.end = 3 * end,
                _ => self.clear.push(Draw {
                    how: clear[number].0,
                    indices: 3 * (end - 1)..3 * end,
                    first_vertex: 0,
                    is_moved: clear[number].1.moved.is_some(),
                    items: item..item + 1,
                }),
            }
        }
    }

    fn add_item(&mut self, item: &FrameItem<'_>) {
        self.items.rows(&item.placing);
        let turning = item.turning.map(|[x, y, z]| [x, y, z, 0.0]);
        self.items.rows(&turning);
        self.items.words([item.look_number as u32, item.visual]);
        self.items.end_struct();
    }

    /// Fills what would be empty: no buffer is.
    pub(crate) fn end(&mut self) {
        if self.solid.is_empty() && self.clear.is_empty() {
            self.items.words([0; 28]);
        }
        if self.clear.is_empty() {
            self.clear_indices.words([0; 3]);
        }
    }

    /// Draws what is solid, or what blends, with what is bound to a pass; `moved` has the vertices
    /// that bones move.
    pub(crate) fn draw(
        gpu: &Gpu,
        prepared: &Prepared,
        draws: &[Draw<How>],
        moved: &Buffer,
        pass: &mut RenderPass<'_>,
    ) {
        let mut vertices = Vertices::default();
        let mut last: Option<How> = None;
        for draw in draws {
            let (way, group) = draw.how;
            if last.is_none_or(|last| last.0 != way) {
                pass.set_pipeline(&gpu.pipelines.of(&gpu.device, way));
            }
            if last.is_none_or(|last| last.1 != group) {
                pass.set_bind_group(1, &prepared.groups[group], &[]);
            }
            last = Some(draw.how);
            vertices.bind(draw.is_moved, [&prepared.vertices, moved], pass);
            pass.draw_indexed(draw.indices.clone(), draw.first_vertex, draw.items.clone());
        }
    }
}

/// Buffer of vertices that is bound to a pass.
#[derive(Default)]
pub(crate) struct Vertices {
    is_moved: Option<bool>,
}

impl Vertices {
    /// Binds the vertices of the stage, or those that bones move.
    pub(crate) fn bind(
        &mut self,
        is_moved: bool,
        buffers: [&Buffer; 2],
        pass: &mut RenderPass<'_>,
    ) {
        if self.is_moved.replace(is_moved) != Some(is_moved) {
            let buffer = buffers[usize::from(is_moved)];
            pass.set_vertex_buffer(0, buffer.slice(..));
        }
    }
}

fn is_cut_out(item: &FrameItem<'_>) -> bool {
    item.look.texture.is_some() && item.look.cutoff > 0.0
}

fn way(item: &FrameItem<'_>, kind: Kind) -> Way {
    let hidden = match (item.fronts_only, item.is_mirrored) {
        (false, _) => Hidden::Nothing,
        (true, false) => Hidden::Backs,
        (true, true) => Hidden::Fronts,
    };
    Way { kind, hidden }
}

/// Adds what shaders know of a whole frame; `samples` are those along an edge of a pixel.
pub(crate) fn add_view(
    numbers: &mut Numbers,
    frame: &Frame<'_>,
    [width, height]: [usize; 2],
    samples: usize,
) {
    let grid = [width, height].map(|edge| (edge * samples) as f32);
    let on_grid = |place: [f64; 2]| place.map(|part| (part * samples as f64) as f32);
    // The renderer on the processor lights pixels as a whole, unless anything blends.
    let blends = frame.items.iter().any(|item| item.look.blends);
    let footprint = if blends { 1.0 } else { samples as f32 };
    numbers.floats(on_grid(frame.lens.focal));
    numbers.floats(on_grid(frame.lens.center));
    numbers.floats(grid);
    numbers.floats([frame.clip[0] as f32, footprint]);
    numbers.three_and(frame.up, 0.0);
    numbers.three_and(frame.ambient, 0.0);
    numbers.three_and(frame.background, 0.0);
    let fog_kind = add_fog(numbers, frame.fog);
    numbers.words([frame.lamps.len() as u32, fog_kind, u32::from(frame.has_sky)]);
    numbers.end_struct();
}

/// Adds the numbers of fog, and returns its kind.
fn add_fog(numbers: &mut Numbers, fog: Option<&Fog>) -> u32 {
    let Some(fog) = fog else {
        numbers.floats([0.0; 8]);
        return 0;
    };
    let color = fog.color.map(|part| mesh::color::linear(part as f32));
    numbers.three_and(color, 0.0);
    numbers.floats([fog.start, fog.end, fog.density, 0.0].map(|part| part as f32));
    match fog.kind {
        FogKind::Linear => 1,
        FogKind::Exponential => 2,
        FogKind::Quadratic => 3,
    }
}

/// Adds the lamps of a frame, with which shades are theirs.
pub(crate) fn add_lamps(numbers: &mut Numbers, frame: &Frame<'_>) {
    for (number, lamp) in frame.lamps.iter().enumerate() {
        add_lamp(numbers, lamp);
        let shadows = &frame.shadows;
        let first = shadows.partition_point(|shadow| shadow.lamp < number);
        let end = shadows.partition_point(|shadow| shadow.lamp <= number);
        numbers.words([first, end - first].map(|count| count as u32));
        numbers.end_struct();
    }
    if frame.lamps.is_empty() {
        numbers.words([0; 24]);
    }
}

fn add_lamp(numbers: &mut Numbers, lamp: &Lamp) {
    numbers.floats(lamp.color);
    match &lamp.reach {
        Reach::Far(along) => {
            numbers.words([0]);
            numbers.floats(along.map(|part| part as f32));
            numbers.floats([0.0; 9]);
            numbers.three_and(lamp.specular, 0.0);
        }
        Reach::Near {
            at,
            range,
            attenuation,
            cone,
        } => {
            let (along, [inner, outer], falloff) = cone.unwrap_or_default();
            let parts = [
                attenuation.constant,
                attenuation.linear,
                attenuation.quadratic,
            ];
            numbers.words([1 + u32::from(cone.is_some())]);
            numbers.three_and(*at, *range);
            numbers.three_and(parts.map(|part| part as f32), falloff);
            numbers.three_and(along, inner);
            numbers.three_and(lamp.specular, outer);
        }
    }
}

/// Adds the shades of a frame, whose maps are at these places.
pub(crate) fn add_shades(numbers: &mut Numbers, shadows: &[FrameShadow], places: &[MapPlace]) {
    for (shadow, place) in shadows.iter().zip(places) {
        numbers.rows(&shadow.placing);
        numbers.floats(place.fixed);
        numbers.floats(place.moving);
        numbers.floats([shadow.texel]);
        numbers.words([place.layer, u32::from(shadow.region.is_of_lamp())]);
        numbers.end_struct();
    }
    if shadows.is_empty() {
        numbers.words([0; 20]);
    }
}
