//! [`Pipelines`]: shaders and the ways of drawing with them, each made when it is needed first.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use render::{
    AMBIENT_PART, HORIZON, LAMP_PART, LAMP_SHADOW_LIFT, LAMP_SHADOW_NEAR, LAMP_SHADOW_SIZE,
    LEAN_MIN, SHADOW_SIZE, ZENITH,
};
use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BlendComponent,
    BlendFactor, BlendOperation, BlendState, BufferBindingType, ColorTargetState, ColorWrites,
    CompareFunction, ComputePipeline, ComputePipelineDescriptor, DepthStencilState, Device, Face,
    FragmentState, MultisampleState, PipelineCompilationOptions, PipelineLayout,
    PipelineLayoutDescriptor, PrimitiveState, RenderPipeline, RenderPipelineDescriptor,
    SamplerBindingType, ShaderModule, ShaderModuleDescriptor, ShaderSource, ShaderStages,
    TextureFormat, TextureSampleType, TextureViewDimension, VertexAttribute, VertexBufferLayout,
    VertexFormat, VertexState, VertexStepMode,
};

/// Formats of what is drawn into: light, depths, and visuals with bits of depths.
pub(crate) const LIGHT: TextureFormat = TextureFormat::Rgba16Float;
pub(crate) const DEPTH: TextureFormat = TextureFormat::Depth32Float;
pub(crate) const VISUALS: TextureFormat = TextureFormat::Rg32Uint;

/// Bytes of a vertex: place, normal, place on a texture.
pub(crate) const VERTEX_BYTES: u64 = 32;

/// Part of a surface's light that a transparent one must hide to be drawn.
const ALPHA_MIN: f32 = 1.0 / 255.0;

/// Kind of what is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Hides what is behind it.
    Solid,
    /// The same, but for where its texture is invisible.
    CutOut,
    /// Blends with what is behind it.
    Clear,
    /// The colour behind everything.
    Behind,
    /// Visuals instead of colours.
    Visual,
    /// The same, but for where the texture is invisible.
    VisualCutOut,
}

/// Sides from which surfaces are not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hidden {
    Nothing,
    Backs,
    /// Of mirror images, whose triangles run the other way.
    Fronts,
}

/// A way of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    pub(crate) kind: Kind,
    pub(crate) hidden: Hidden,
}

/// Ways of drawing on a device.
pub(crate) struct Pipelines {
    /// Of views: what changes with each, and textures.
    pub(crate) view_layout: BindGroupLayout,
    pub(crate) texture_layout: BindGroupLayout,
    pub(crate) shadow_layout: BindGroupLayout,
    pub(crate) shadow: RenderPipeline,
    pub(crate) lamp_shadow: RenderPipeline,
    /// From samples to pixels.
    pub(crate) mean_layout: BindGroupLayout,
    pub(crate) mean: ComputePipeline,
    layout: PipelineLayout,
    shaders: ShaderModule,
    made: Mutex<BTreeMap<Way, RenderPipeline>>,
}

impl Pipelines {
    pub(crate) fn new(device: &Device) -> Self {
        let view_layout = layout(
            device,
            "view",
            &[
                uniform(0, ShaderStages::VERTEX_FRAGMENT),
                storage(1, ShaderStages::VERTEX_FRAGMENT),
                storage(2, ShaderStages::FRAGMENT),
                storage(3, ShaderStages::FRAGMENT),
                storage(4, ShaderStages::FRAGMENT),
                depth_maps(5),
                depth_maps(6),
                depth_maps(7),
                depth_maps(8),
            ],
        );
        let filtered = TextureSampleType::Float { filterable: true };
        let sampler = BindingType::Sampler(SamplerBindingType::Filtering);
        let texture_layout = layout(
            device,
            "textures",
            &[
                entry(0, ShaderStages::FRAGMENT, sampler),
                texture(1, ShaderStages::FRAGMENT, filtered),
                texture(2, ShaderStages::FRAGMENT, filtered),
                texture(3, ShaderStages::FRAGMENT, filtered),
                texture(4, ShaderStages::FRAGMENT, filtered),
                texture(5, ShaderStages::FRAGMENT, filtered),
                texture(6, ShaderStages::FRAGMENT, filtered),
                texture(7, ShaderStages::FRAGMENT, filtered),
            ],
        );
        let shadow_layout = layout(device, "shadow", &[storage(0, ShaderStages::VERTEX)]);
        let (mean_layout, mean) = mean_pipeline(device);
        let casters = module(device, "shadow", prelude() + include_str!("shadow.wgsl"));
        let shadow = |entry_point, nearer| {
            shadow_pipeline(device, &shadow_layout, &casters, (entry_point, nearer))
        };
        Self {
            shadow: shadow("caster", CompareFunction::Less),
            lamp_shadow: shadow("lamp_caster", CompareFunction::Greater),
            mean_layout,
            mean,
            layout: pipeline_layout(device, &[&view_layout, &texture_layout]),
            shaders: module(device, "view", prelude() + include_str!("view.wgsl")),
            made: Mutex::default(),
            view_layout,
            texture_layout,
            shadow_layout,
        }
    }

    /// Returns the pipeline of a way of drawing.
    pub(crate) fn of(&self, device: &Device, way: Way) -> RenderPipeline {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let made = made
            .entry(way)
            .or_insert_with(|| self.pipeline(device, way));
        made.clone()
    }

    fn pipeline(&self, device: &Device, way: Way) -> RenderPipeline {
        let (entry_point, format) = match way.kind {
            Kind::Solid => ("solid", LIGHT),
            Kind::CutOut => ("cut_out", LIGHT),
            Kind::Clear => ("clear", LIGHT),
            Kind::Behind => ("behind", LIGHT),
            Kind::Visual => ("visual", VISUALS),
            Kind::VisualCutOut => ("visual_cut_out", VISUALS),
        };
        let is_behind = way.kind == Kind::Behind;
        let module = &self.shaders;
        let target = ColorTargetState {
            format,
            blend: (way.kind == Kind::Clear).then_some(OVER),
            write_mask: ColorWrites::ALL,
        };
        device.create_render_pipeline(&RenderPipelineDescriptor {
            label: Some(entry_point),
            layout: Some(&self.layout),
            vertex: VertexState {
                module,
                entry_point: Some(if is_behind { "everywhere" } else { "corner" }),
                compilation_options: PipelineCompilationOptions::default(),
                buffers: if is_behind { &[] } else { &[Some(VERTICES)] },
            },
            primitive: PrimitiveState {
                cull_mode: match way.hidden {
                    Hidden::Nothing => None,
                    Hidden::Backs => Some(Face::Back),
                    Hidden::Fronts => Some(Face::Front),
                },
                ..PrimitiveState::default()
            },
            depth_stencil: Some(DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(!matches!(way.kind, Kind::Behind | Kind::Clear)),
                depth_compare: Some(if is_behind {
                    CompareFunction::Always
                } else {
                    CompareFunction::Greater
                }),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: MultisampleState::default(),
            fragment: Some(FragmentState {
                module,
                entry_point: Some(entry_point),
                compilation_options: PipelineCompilationOptions::default(),
                targets: &[Some(target)],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// Light over other light, by its alpha.
const OVER: BlendState = BlendState {
    color: BlendComponent {
        src_factor: BlendFactor::SrcAlpha,
        dst_factor: BlendFactor::OneMinusSrcAlpha,
        operation: BlendOperation::Add,
    },
    alpha: BlendComponent::REPLACE,
};

const VERTICES: VertexBufferLayout<'static> = VertexBufferLayout {
    array_stride: VERTEX_BYTES,
    step_mode: VertexStepMode::Vertex,
    attributes: &[
        attribute(0, VertexFormat::Float32x3, 0),
        attribute(1, VertexFormat::Float32x3, 12),
        attribute(2, VertexFormat::Float32x2, 24),
    ],
};

const fn attribute(shader_location: u32, format: VertexFormat, offset: u64) -> VertexAttribute {
    VertexAttribute {
        format,
        offset,
        shader_location,
    }
}

/// Returns the constants of shaders: those of the renderer on the processor.
fn prelude() -> String {
    let color = |[red, green, blue]: [f32; 3]| format!("vec3f({red:?}, {green:?}, {blue:?})");
    format!(
        "const AMBIENT_PART = {AMBIENT_PART:?};\nconst LAMP_PART = {LAMP_PART:?};\n\
         const SHADOW_SIZE = {SHADOW_SIZE};\n\
         const LAMP_SHADOW_SIZE = {LAMP_SHADOW_SIZE};\n\
         const LAMP_SHADOW_LIFT = {LAMP_SHADOW_LIFT:?};\n\
         const LAMP_SHADOW_NEAR = {LAMP_SHADOW_NEAR:?};\n\
         const LEAN_MIN = {LEAN_MIN:?};\n\
         const ALPHA_MIN = {ALPHA_MIN:?};\nconst HORIZON = {};\nconst ZENITH = {};\n",
        color(HORIZON),
        color(ZENITH),
    )
}

fn module(device: &Device, label: &str, text: String) -> ShaderModule {
    device.create_shader_module(ShaderModuleDescriptor {
        label: Some(label),
        source: ShaderSource::Wgsl(text.into()),
    })
}

fn shadow_pipeline(
    device: &Device,
    bind_group: &BindGroupLayout,
    module: &ShaderModule,
    (entry_point, nearer): (&str, CompareFunction),
) -> RenderPipeline {
    device.create_render_pipeline(&RenderPipelineDescriptor {
        label: Some(entry_point),
        layout: Some(&pipeline_layout(device, &[bind_group])),
        vertex: VertexState {
            module,
            entry_point: Some(entry_point),
            compilation_options: PipelineCompilationOptions::default(),
            buffers: &[Some(VERTICES)],
        },
        primitive: PrimitiveState::default(),
        depth_stencil: Some(DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(nearer),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: MultisampleState::default(),
        fragment: None,
        multiview_mask: None,
        cache: None,
    })
}

fn mean_pipeline(device: &Device) -> (BindGroupLayout, ComputePipeline) {
    let plain = TextureSampleType::Float { filterable: false };
    let pixels = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only: false },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let bind_group = layout(
        device,
        "mean",
        &[
            uniform(0, ShaderStages::COMPUTE),
            texture(1, ShaderStages::COMPUTE, plain),
            entry(2, ShaderStages::COMPUTE, pixels),
        ],
    );
    let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
        label: Some("mean"),
        layout: Some(&pipeline_layout(device, &[&bind_group])),
        module: &module(device, "mean", include_str!("mean.wgsl").to_owned()),
        entry_point: Some("mean"),
        compilation_options: PipelineCompilationOptions::default(),
        cache: None,
    });
    (bind_group, pipeline)
}

fn pipeline_layout(device: &Device, groups: &[&BindGroupLayout]) -> PipelineLayout {
    let groups: Vec<Option<&BindGroupLayout>> = groups.iter().copied().map(Some).collect();
    device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}

fn layout(device: &Device, label: &str, entries: &[BindGroupLayoutEntry]) -> BindGroupLayout {
    device.create_bind_group_layout(&BindGroupLayoutDescriptor {
        label: Some(label),
        entries,
    })
}

fn uniform(binding: u32, visibility: ShaderStages) -> BindGroupLayoutEntry {
    buffer(binding, visibility, BufferBindingType::Uniform)
}

fn storage(binding: u32, visibility: ShaderStages) -> BindGroupLayoutEntry {
    buffer(
        binding,
        visibility,
        BufferBindingType::Storage { read_only: true },
    )
}

fn buffer(binding: u32, visibility: ShaderStages, ty: BufferBindingType) -> BindGroupLayoutEntry {
    let ty = BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    entry(binding, visibility, ty)
}

fn texture(
    binding: u32,
    visibility: ShaderStages,
    sample_type: TextureSampleType,
) -> BindGroupLayoutEntry {
    let ty = BindingType::Texture {
        sample_type,
        view_dimension: TextureViewDimension::D2,
        multisampled: false,
    };
    entry(binding, visibility, ty)
}

/// Maps of depths in layers.
fn depth_maps(binding: u32) -> BindGroupLayoutEntry {
    let ty = BindingType::Texture {
        sample_type: TextureSampleType::Depth,
        view_dimension: TextureViewDimension::D2Array,
        multisampled: false,
    };
    entry(binding, ShaderStages::FRAGMENT, ty)
}

fn entry(binding: u32, visibility: ShaderStages, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }
}
