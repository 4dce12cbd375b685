//! [`Prepared`]: what never changes of a stage, on a device: meshes, looks and textures.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use render::{Layers, Look, Stage, Surface, Texture};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    AddressMode, BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer,
    BufferUsages, CommandEncoder, FilterMode, MipmapFilterMode, Sampler, SamplerDescriptor,
    TextureView,
};

use crate::device::Gpu;
use crate::numbers::Numbers;
use crate::painter::DrawError;
use crate::targets::buffer;
use crate::textures;

/// Stage on a device.
pub(crate) struct Prepared {
    gpu: Arc<Gpu>,
    pub(crate) vertices: Buffer,
    pub(crate) indices: Buffer,
    /// For each surface, where it is in both.
    pub(crate) surfaces: Vec<SurfaceRange>,
    /// The surfaces, and the textures with what the device has of them.
    own_surfaces: Vec<Arc<Surface>>,
    own_textures: Vec<(Arc<Texture>, TextureView)>,
    pub(crate) looks: Buffer,
    /// For each look, the textures that it has, as an index into the groups.
    pub(crate) group_of_look: Vec<usize>,
    pub(crate) groups: Vec<BindGroup>,
}

/// Place of a surface in buffers.
#[derive(Clone)]
pub(crate) struct SurfaceRange {
    /// Number of its first vertex.
    pub(crate) first_vertex: u32,
    pub(crate) indices: Range<u32>,
}

/// Result of preparing a stage.
pub(crate) type PreparedStage = Result<Prepared, DrawError>;

/// Buffer of vertices or of indices that is being filled.
struct Filling {
    words: Numbers,
    /// Parts of a buffer of the stage before, with their places in the new one \[bytes\].
    copies: Vec<(Range<u64>, u64)>,
    /// Parts of the words, with their places in the new buffer \[bytes\].
    writes: Vec<(Range<usize>, u64)>,
    end: u64,
}

/// Size of a vertex, and of the indices of a triangle \[bytes\].
const VERTEX_BYTES: u64 = 32;
const TRIANGLE_BYTES: u64 = 12;

impl Prepared {
    /// Returns a stage on a device; whoever draws it there shares it. What the stage before has
    /// there already is not brought again.
    pub(crate) fn of(stage: &Stage, gpu: &Arc<Gpu>) -> Arc<PreparedStage> {
        let kept = stage.kept(|before| Self::new(stage, gpu, before.as_deref()));
        let is_own = |kept: &Arc<PreparedStage>| match &**kept {
            Ok(own) => Arc::ptr_eq(&own.gpu, gpu),
            Err(_) => true,
        };
        // Another device has it already.
        kept.filter(is_own)
            .unwrap_or_else(|| Arc::new(Self::new(stage, gpu, None)))
    }

    fn new(stage: &Stage, gpu: &Arc<Gpu>, before: Option<&PreparedStage>) -> PreparedStage {
        let before = before.and_then(|before| before.as_ref().ok());
        let before = before.filter(|before| Arc::ptr_eq(&before.gpu, gpu));
        gpu.guarded(|| Self::make(stage, gpu, before))
    }

    fn make(stage: &Stage, gpu: &Arc<Gpu>, before: Option<&Self>) -> PreparedStage {
        let known = before.map(|before| (&*before.own_surfaces, &*before.surfaces));
        let (vertices, indices, surfaces) = meshes(stage.surfaces(), known.unwrap_or_default());
        let limits = gpu.device.limits();
        if vertices.end.max(indices.end) > limits.max_buffer_size {
            let why = "the meshes of the world are larger than its buffers";
            return Err(DrawError::Refused(why.to_owned()));
        }
        let mut encoder = gpu.device.create_command_encoder(&<_>::default());
        let mut buffer = |label, filling: &Filling, usage, old: Option<&Buffer>| {
            filling.make(gpu, label, usage, old, &mut encoder)
        };
        let old = before.map(|before| &before.vertices);
        let vertices = buffer("vertices", &vertices, BufferUsages::VERTEX, old);
        let old = before.map(|before| &before.indices);
        let indices = buffer("indices", &indices, BufferUsages::INDEX, old);
        gpu.queue.submit([encoder.finish()]);
        let own_textures = textures_of(stage, gpu, before);
        let (groups, group_of_look) = groups(stage, gpu, &own_textures);
        Ok(Self {
            vertices,
            indices,
            looks: gpu.device.create_buffer_init(&BufferInitDescriptor {
                label: Some("looks"),
                contents: looks(stage.looks()).bytes(),
                usage: BufferUsages::STORAGE,
            }),
            gpu: Arc::clone(gpu),
            surfaces,
            own_surfaces: stage.surfaces().to_vec(),
            own_textures,
            group_of_look,
            groups,
        })
    }
}

impl Filling {
    fn new() -> Self {
        Self {
            words: Numbers::default(),
            copies: Vec::new(),
            writes: Vec::new(),
            end: 0,
        }
    }

    /// Adds a part of the buffer of the stage before.
    fn copy(&mut self, from: Range<u64>) {
        let length = from.end - from.start;
        if length == 0 {
            return;
        }
        match self.copies.last_mut() {
            Some((last, at))
                if last.end == from.start && *at + last.end - last.start == self.end =>
            {
                last.end = from.end;
            }
            _ => self.copies.push((from, self.end)),
        }
        self.end += length;
    }

    /// Adds new words.
    fn write(&mut self, add: impl FnOnce(&mut Numbers)) {
        let start = self.words.bytes().len();
        add(&mut self.words);
        let words = start..self.words.bytes().len();
        let length = words.len() as u64;
        if length == 0 {
            return;
        }
        match self.writes.last_mut() {
            Some((last, at)) if *at + last.len() as u64 == self.end => last.end = words.end,
            _ => self.writes.push((words, self.end)),
        }
        self.end += length;
    }

    /// Makes the buffer, whose old parts do not leave the device.
    fn make(
        &self,
        gpu: &Gpu,
        label: &'static str,
        usage: BufferUsages,
        old: Option<&Buffer>,
        encoder: &mut CommandEncoder,
    ) -> Buffer {
        let usage = usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let new = buffer(gpu, label, self.end, usage);
        for (words, at) in &self.writes {
            gpu.queue
                .write_buffer(&new, *at, &self.words.bytes()[words.clone()]);
        }
        for (from, at) in &self.copies {
            if let Some(old) = old {
                encoder.copy_buffer_to_buffer(old, from.start, &new, *at, from.end - from.start);
            }
        }
        new
    }
}

/// Returns vertices and indices of surfaces, and where each is; those that are known are where the
/// buffers of the stage before have them.
fn meshes(
    surfaces: &[Arc<Surface>],
    (known_surfaces, known_ranges): (&[Arc<Surface>], &[SurfaceRange]),
) -> (Filling, Filling, Vec<SurfaceRange>) {
    let known = known_surfaces.iter().map(Arc::as_ptr);
    let known: BTreeMap<*const Surface, &SurfaceRange> = known.zip(known_ranges).collect();
    let (mut vertices, mut indices) = (Filling::new(), Filling::new());
    let mut ranges = Vec::with_capacity(surfaces.len());
    for surface in surfaces {
        let first_vertex = vertices.end / VERTEX_BYTES;
        let first_index = indices.end / TRIANGLE_BYTES * 3;
        if let Some(known) = known.get(&Arc::as_ptr(surface)) {
            let start = u64::from(known.first_vertex) * VERTEX_BYTES;
            vertices.copy(start..start + surface.positions.len() as u64 * VERTEX_BYTES);
            let start = u64::from(known.indices.start) / 3 * TRIANGLE_BYTES;
            indices.copy(start..start + surface.triangles.len() as u64 * TRIANGLE_BYTES);
        } else {
            vertices.write(|numbers| add_vertices(numbers, surface));
            indices.write(|numbers| {
                for triangle in &surface.triangles {
                    numbers.words(*triangle);
                }
            });
        }
        let end = indices.end / TRIANGLE_BYTES * 3;
        ranges.push(SurfaceRange {
            first_vertex: first_vertex as u32,
            indices: first_index as u32..end as u32,
        });
    }
    // No buffer is empty.
    vertices.write(|numbers| numbers.floats([0.0; 8]));
    indices.write(|numbers| numbers.words([0; 3]));
    (vertices, indices, ranges)
}

/// Returns the vertices of surfaces that bones move, and the number of the first one of each.
pub(crate) fn moved_vertices(surfaces: &[Surface]) -> (Numbers, Vec<u32>) {
    let mut numbers = Numbers::default();
    let mut first = 0;
    let places = surfaces.iter().map(|surface| {
        add_vertices(&mut numbers, surface);
        let own = first;
        first += surface.positions.len() as u32;
        own
    });
    let places = places.collect();
    if surfaces.is_empty() {
        // No buffer is empty.
        numbers.floats([0.0; 8]);
    }
    (numbers, places)
}

fn add_vertices(numbers: &mut Numbers, surface: &Surface) {
    for (number, position) in surface.positions.iter().enumerate() {
        numbers.floats(*position);
        numbers.floats(surface.normals[number]);
        numbers.floats(surface.texcoords[number]);
    }
}

/// Returns the textures of a stage on a device.
fn textures_of(
    stage: &Stage,
    gpu: &Gpu,
    before: Option<&Prepared>,
) -> Vec<(Arc<Texture>, TextureView)> {
    let known: BTreeMap<*const Texture, &TextureView> = before.map_or_else(BTreeMap::new, |own| {
        let own = own.own_textures.iter();
        own.map(|(texture, view)| (Arc::as_ptr(texture), view))
            .collect()
    });
    let textures = stage.textures().iter().map(|texture| {
        let view = known.get(&Arc::as_ptr(texture)).map(|view| (*view).clone());
        let view = view.unwrap_or_else(|| textures::upload(&gpu.device, &gpu.queue, texture));
        (Arc::clone(texture), view)
    });
    textures.collect()
}

fn looks(looks: &[Look]) -> Numbers {
    let mut numbers = Numbers::default();
    for look in looks {
        numbers.floats(look.color);
        numbers.three_and(look.emissive, look.cutoff);
        numbers.three_and(look.highlight.plain, look.highlight.exponent);
        numbers.three_and(look.highlight.of_color, look.metalness);
        numbers.words([look.blends, look.is_lit].map(u32::from));
        numbers.words([u32::from(look.normal_texture.is_some())]);
        numbers.floats([look.normal_scale]);
        add_layers(&mut numbers, look.layers.as_ref());
        numbers.end_struct();
    }
    if looks.is_empty() {
        numbers.words([0; 32]);
    }
    numbers
}

fn add_layers(numbers: &mut Numbers, layers: Option<&Layers>) {
    let Some(layers) = layers else {
        numbers.words([0; 12]);
        return;
    };
    numbers.floats(layers.shares_at);
    // A layer that is not there leaves what is below it.
    let masks = layers
        .textures
        .map(|own| f32::from(u8::from(own.is_some())));
    numbers.three_and(masks, 1.0);
    numbers.floats(
        layers
            .textures
            .map(|own| own.map_or(1.0, |(_, repeat)| repeat)),
    );
}

/// Returns groups of textures, and for each look the group that it has.
fn groups(
    stage: &Stage,
    gpu: &Gpu,
    own: &[(Arc<Texture>, TextureView)],
) -> (Vec<BindGroup>, Vec<usize>) {
    let (device, queue) = (&gpu.device, &gpu.queue);
    let sampler = device.create_sampler(&SamplerDescriptor {
        label: Some("textures"),
        address_mode_u: AddressMode::Repeat,
        address_mode_v: AddressMode::Repeat,
        mag_filter: FilterMode::Linear,
        min_filter: FilterMode::Linear,
        mipmap_filter: MipmapFilterMode::Linear,
        ..SamplerDescriptor::default()
    });
    let white = textures::white(device, queue);
    let view = |number: Option<usize>| number.map_or(&white, |number| &own[number].1);
    let (mut groups, mut known) = (Vec::new(), BTreeMap::new());
    let of_look = stage.looks().iter().map(|look| {
        let layers = look.layers.as_ref();
        let layer = |number: usize| Some(layers?.textures[number]?.0);
        let own = [
            look.texture,
            look.emissive_texture,
            look.normal_texture,
            layers.map(|layers| layers.shares),
            layer(0),
            layer(1),
            layer(2),
        ];
        *known.entry(own).or_insert_with(|| {
            groups.push(group(gpu, &sampler, own.map(view)));
            groups.len() - 1
        })
    });
    let of_look = of_look.collect();
    // The background has one, too, of which it makes no use.
    groups.push(group(gpu, &sampler, [&white; TEXTURES]));
    (groups, of_look)
}

/// Number of textures of a look: of colours, own light, normals, shares of layers, and the layers.
const TEXTURES: usize = 7;

fn group(gpu: &Gpu, sampler: &Sampler, textures: [&TextureView; TEXTURES]) -> BindGroup {
    let [color, emissive, normals, shares, first, second, third] =
        textures.map(BindingResource::TextureView);
    let sampler = BindingResource::Sampler(sampler);
    let resources = [
        sampler, color, emissive, normals, shares, first, second, third,
    ];
    bind(gpu, &gpu.pipelines.texture_layout, resources)
}

/// Binds resources in order.
pub(crate) fn bind<const N: usize>(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    resources: [BindingResource<'_>; N],
) -> BindGroup {
    let entries: Vec<BindGroupEntry<'_>> = resources
        .into_iter()
        .zip(0..)
        .map(|(resource, binding)| BindGroupEntry { binding, resource })
        .collect();
    gpu.device.create_bind_group(&BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(triangles: usize) -> Arc<Surface> {
        let corners = 3 * triangles as u32;
        Arc::new(Surface {
            positions: vec![[1.0; 3]; corners as usize],
            normals: vec![[0.0; 3]; corners as usize],
            texcoords: vec![[0.0; 2]; corners as usize],
            triangles: (0..corners).step_by(3).map(|i| [i, i + 1, i + 2]).collect(),
        })
    }

    #[test]
    fn what_the_stage_before_has_is_copied_and_the_rest_is_brought() {
        let [kept, gone, next, new] = [1, 2, 3, 4].map(surface);
        let before = [Arc::clone(&kept), gone, surface(0), Arc::clone(&next)];
        let (_, _, ranges) = meshes(&before, (&[], &[]));
        let after = [kept, next, new];
        let (vertices, indices, places) = meshes(&after, (&before, &ranges));
        // One triangle, two that are gone, none, then three; a last one is in each buffer.
        assert_eq!(vertices.copies, [(0..96, 0), (288..576, 96)]);
        assert_eq!(vertices.writes, [(0..384 + 32, 384)]);
        assert_eq!(indices.copies, [(0..12, 0), (36..72, 12)]);
        assert_eq!(indices.writes, [(0..48 + 12, 48)]);
        let places: Vec<_> = places
            .into_iter()
            .map(|one| (one.first_vertex, one.indices))
            .collect();
        assert_eq!(places, [(0, 0..3), (3, 3..12), (12, 12..24)]);
    }

    #[test]
    fn parts_that_follow_each_other_are_copied_at_once() {
        let before = [1, 2, 3].map(surface);
        let (first, _, ranges) = meshes(&before, (&[], &[]));
        assert!(first.copies.is_empty());
        let (vertices, _, _) = meshes(&before, (&before, &ranges));
        assert_eq!(vertices.copies, [(0..6 * 96, 0)]);
        assert_eq!(vertices.writes, [(0..32, 6 * 96)]);
    }
}
