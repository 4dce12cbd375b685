//! [`Prepared`]: what never changes of a stage, on a device: meshes, looks and textures.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use render::{Look, Stage, Surface};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    AddressMode, BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer,
    BufferUsages, FilterMode, MipmapFilterMode, Sampler, SamplerDescriptor, TextureView,
};

use crate::device::Gpu;
use crate::numbers::Numbers;
use crate::painter::DrawError;
use crate::textures;

/// Stage on a device.
pub(crate) struct Prepared {
    gpu: Arc<Gpu>,
    pub(crate) vertices: Buffer,
    pub(crate) indices: Buffer,
    /// For each surface, where it is in both.
    pub(crate) surfaces: Vec<SurfaceRange>,
    pub(crate) looks: Buffer,
    /// For each look, the textures that it has, as an index into the groups.
    pub(crate) group_of_look: Vec<usize>,
    pub(crate) groups: Vec<BindGroup>,
}

/// Place of a surface in buffers.
pub(crate) struct SurfaceRange {
    /// Number of its first vertex.
    pub(crate) first_vertex: u32,
    pub(crate) indices: Range<u32>,
}

/// Result of preparing a stage.
pub(crate) type PreparedStage = Result<Prepared, DrawError>;

impl Prepared {
    /// Returns a stage on a device; whoever draws it there shares it.
    pub(crate) fn of(stage: &Stage, gpu: &Arc<Gpu>) -> Arc<PreparedStage> {
        let kept = stage.kept(|| Self::new(stage, gpu));
        let is_own = |kept: &Arc<PreparedStage>| match &**kept {
            Ok(own) => Arc::ptr_eq(&own.gpu, gpu),
            Err(_) => true,
        };
        // Another device has it already.
        kept.filter(is_own)
            .unwrap_or_else(|| Arc::new(Self::new(stage, gpu)))
    }

    fn new(stage: &Stage, gpu: &Arc<Gpu>) -> PreparedStage {
        gpu.guarded(|| Self::make(stage, gpu))
    }

    fn make(stage: &Stage, gpu: &Arc<Gpu>) -> PreparedStage {
        let (vertices, indices, surfaces) = meshes(stage.surfaces());
        let limits = gpu.device.limits();
        let bytes = vertices.bytes().len().max(indices.bytes().len()) as u64;
        if bytes > limits.max_buffer_size {
            let why = "the meshes of the world are larger than its buffers";
            return Err(DrawError::Refused(why.to_owned()));
        }
        let buffer = |label, numbers: &Numbers, usage| {
            gpu.device.create_buffer_init(&BufferInitDescriptor {
                label: Some(label),
                contents: numbers.bytes(),
                usage,
            })
        };
        let looks = looks(stage.looks());
        let (groups, group_of_look) = groups(stage, gpu);
        Ok(Self {
            vertices: buffer("vertices", &vertices, BufferUsages::VERTEX),
            indices: buffer("indices", &indices, BufferUsages::INDEX),
            looks: buffer("looks", &looks, BufferUsages::STORAGE),
            gpu: Arc::clone(gpu),
            surfaces,
            group_of_look,
            groups,
        })
    }
}

/// Returns vertices and indices of surfaces, and where each is.
fn meshes(surfaces: &[Surface]) -> (Numbers, Numbers, Vec<SurfaceRange>) {
    let (mut vertices, mut indices) = (Numbers::default(), Numbers::default());
    let mut ranges = Vec::with_capacity(surfaces.len());
    let (mut vertex_count, mut index_count) = (0, 0);
    for surface in surfaces {
        for (number, position) in surface.positions.iter().enumerate() {
            vertices.floats(*position);
            vertices.floats(surface.normals[number]);
            vertices.floats(surface.texcoords[number]);
        }
        for triangle in &surface.triangles {
            indices.words(*triangle);
        }
        let end = index_count + 3 * surface.triangles.len() as u32;
        ranges.push(SurfaceRange {
            first_vertex: vertex_count,
            indices: index_count..end,
        });
        vertex_count += surface.positions.len() as u32;
        index_count = end;
    }
    // No buffer is empty.
    vertices.floats([0.0; 8]);
    indices.words([0; 3]);
    (vertices, indices, ranges)
}

fn looks(looks: &[Look]) -> Numbers {
    let mut numbers = Numbers::default();
    for look in looks {
        numbers.floats(look.color);
        numbers.three_and(look.emissive, look.cutoff);
        numbers.floats([look.metalness, look.roughness]);
        numbers.words([look.blends, look.is_lit].map(u32::from));
    }
    if looks.is_empty() {
        numbers.words([0; 12]);
    }
    numbers
}

/// Returns groups of textures, and for each look the group that it has.
fn groups(stage: &Stage, gpu: &Gpu) -> (Vec<BindGroup>, Vec<usize>) {
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
    let own = stage.textures().iter();
    let own: Vec<TextureView> = own
        .map(|texture| textures::upload(device, queue, texture))
        .collect();
    let view = |number: Option<usize>| number.map_or(&white, |number| &own[number]);
    let (mut groups, mut known) = (Vec::new(), BTreeMap::new());
    let of_look = stage.looks().iter().map(|look| {
        let pair = (look.texture, look.emissive_texture);
        *known.entry(pair).or_insert_with(|| {
            groups.push(group(gpu, &sampler, [view(pair.0), view(pair.1)]));
            groups.len() - 1
        })
    });
    let of_look = of_look.collect();
    // The background has one, too, of which it makes no use.
    groups.push(group(gpu, &sampler, [&white; 2]));
    (groups, of_look)
}

fn group(gpu: &Gpu, sampler: &Sampler, textures: [&TextureView; 2]) -> BindGroup {
    let [color, emissive] = textures.map(BindingResource::TextureView);
    let resources = [BindingResource::Sampler(sampler), color, emissive];
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
