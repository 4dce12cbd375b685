//! [`GpuPainter`]: draws views on a device, and on the processor once that fails.

use std::sync::Arc;

use mesh::Image;
use render::{Frame, NO_VISUAL, Painter, Renderer, Seen, View};
use wgpu::{
    BindGroup, BindingResource, BufferUsages, Color, CommandEncoder, LoadOp, Operations,
    RenderPass, RenderPassColorAttachment, RenderPassDescriptor, StoreOp, TextureView,
};

use crate::device::Gpu;
use crate::numbers::Numbers;
use crate::passes::{Plan, Upload, add_lamps, add_shades, add_view};
use crate::pipelines::{Hidden, Kind, Way};
use crate::prepared::{Prepared, bind};
use crate::shadows::{MapPlace, ShadowMaps, depth_attachment};
use crate::targets::{ColorTargets, VisualTargets};

/// A painter of one stage, on a device.
pub struct GpuPainter {
    gpu: Arc<Gpu>,
    /// Maps of shadows, once there were any.
    shadows: Option<ShadowMaps>,
    colors: Option<ColorTargets>,
    visuals: Option<VisualTargets>,
    uploads: Uploads,
    /// Draws where the device does not.
    processor: Painter,
    problem: Option<String>,
    /// True if the device does not take what it is to draw.
    is_refused: bool,
}

/// Content that travels with each frame.
struct Uploads {
    view: Upload,
    items: Upload,
    lamps: Upload,
    shades: Upload,
    clear_indices: Upload,
    moved: Upload,
}

/// Reason why a device does not draw a view.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum DrawError {
    /// The device draws no more.
    #[error("{0}")]
    Failed(String),
    /// The device does not take what it is to draw.
    #[error("{0}")]
    Refused(String),
}

impl GpuPainter {
    /// Makes a painter on a device.
    pub fn new(gpu: Arc<Gpu>) -> Self {
        Self {
            gpu,
            shadows: None,
            colors: None,
            visuals: None,
            uploads: Uploads {
                view: Upload::new("view", BufferUsages::UNIFORM),
                items: Upload::new("items", BufferUsages::STORAGE),
                lamps: Upload::new("lamps", BufferUsages::STORAGE),
                shades: Upload::new("shades", BufferUsages::STORAGE),
                clear_indices: Upload::new("indices", BufferUsages::INDEX),
                moved: Upload::new("moved", BufferUsages::VERTEX),
            },
            processor: Painter::default(),
            problem: None,
            is_refused: false,
        }
    }

    /// Draws on the device; returns nothing where the processor is to draw.
    fn draw<T>(&mut self, draw: impl FnOnce(&mut Self) -> Result<T, DrawError>) -> Option<T> {
        if self.is_refused {
            return None;
        }
        let gpu = Arc::clone(&self.gpu);
        let drawn = gpu.guarded(|| draw(self));
        drawn.map_err(|error| self.note(&error)).ok()
    }

    /// Notes why the processor draws, for people, once.
    fn note(&mut self, error: &DrawError) {
        (self.colors, self.visuals, self.shadows) = (None, None, None);
        let name = self.gpu.name();
        match error {
            DrawError::Failed(why) => {
                let why = self.gpu.fail(why.clone());
                if self.gpu.is_first_to_tell() {
                    self.problem = Some(format!(
                        "the GPU {name} failed: {why}; images are drawn by the processor from now"
                    ));
                }
            }
            DrawError::Refused(why) => {
                self.is_refused = true;
                self.problem = Some(format!(
                    "the processor draws the images of a sensor, since the GPU {name} does not \
                     take them: {why}"
                ));
            }
        }
    }

    fn try_paint(&mut self, view: &View<'_>) -> Result<Image, DrawError> {
        let size = self.size_of(view)?;
        let samples = view.samples as u32;
        let prepared = Prepared::of(view.stage, &self.gpu);
        let prepared = prepared.as_ref().as_ref().map_err(DrawError::clone)?;
        let frame = Frame::of(view, true);
        let mut plan = Plan::in_colors(&frame, view.stage, prepared);
        plan.end();
        let gpu = &*self.gpu;
        let known = self.colors.take();
        let known = known.filter(|known| known.are_of(size, samples));
        let targets = known.unwrap_or_else(|| ColorTargets::new(gpu, size, samples));
        let targets = self.colors.insert(targets);
        let moved = self.uploads.moved.put(gpu, plan.moved.bytes()).clone();
        let mut encoder = gpu.device.create_command_encoder(&<_>::default());
        let known = self.shadows.take();
        let shadows = known.unwrap_or_else(|| ShadowMaps::new(gpu));
        let shadows = self.shadows.insert(shadows);
        let drawn = (&*frame.shadows, &*plan.moved_places, &moved);
        let places = shadows.draw(gpu, prepared, drawn, &mut encoder)?;
        let maps = shadows.views();
        let in_view = (&frame, view, &*places);
        let bound = self.uploads.bind(gpu, prepared, &plan, maps, in_view);
        let indices = plan.clear_indices.bytes();
        let clear_indices = self.uploads.clear_indices.put(gpu, indices);
        let cleared = Color::BLACK;
        let views = [&targets.light, &targets.depth];
        let mut pass = begin(&mut encoder, views, cleared, &frame);
        let behind = Way {
            kind: Kind::Behind,
            hidden: Hidden::Nothing,
        };
        pass.set_bind_group(0, &bound, &[]);
        pass.set_bind_group(1, prepared.groups.last(), &[]);
        pass.set_pipeline(&gpu.pipelines.of(&gpu.device, behind));
        pass.draw(0..3, 0..1);
        pass.set_index_buffer(prepared.indices.slice(..), wgpu::IndexFormat::Uint32);
        Plan::draw(gpu, prepared, &plan.solid, &moved, &mut pass);
        pass.set_index_buffer(clear_indices.slice(..), wgpu::IndexFormat::Uint32);
        Plan::draw(gpu, prepared, &plan.clear, &moved, &mut pass);
        drop(pass);
        targets.finish(gpu, &mut encoder);
        gpu.queue.submit([encoder.finish()]);
        let pixels = targets.read(gpu)?;
        let [width, height] = view.size;
        Ok(Image {
            width,
            height,
            pixels,
        })
    }

    fn try_look(&mut self, view: &View<'_>) -> Result<Seen, DrawError> {
        let view = &View {
            samples: 1,
            ..*view
        };
        let size = self.size_of(view)?;
        let prepared = Prepared::of(view.stage, &self.gpu);
        let prepared = prepared.as_ref().as_ref().map_err(DrawError::clone)?;
        let frame = Frame::of(view, false);
        let mut plan = Plan::of_visuals(&frame, view.stage, prepared);
        plan.end();
        let gpu = &*self.gpu;
        let known = self.visuals.take().filter(|known| known.are_of(size));
        let targets = known.unwrap_or_else(|| VisualTargets::new(gpu, size));
        let targets = self.visuals.insert(targets);
        let mut encoder = gpu.device.create_command_encoder(&<_>::default());
        let moved = self.uploads.moved.put(gpu, plan.moved.bytes()).clone();
        let maps = [&gpu.no_map; 4];
        let in_view = (&frame, view, &[][..]);
        let bound = self.uploads.bind(gpu, prepared, &plan, maps, in_view);
        let nothing = Color {
            r: f64::from(NO_VISUAL),
            g: f64::from(f32::INFINITY.to_bits()),
            b: 0.0,
            a: 0.0,
        };
        let views = [&targets.visuals, &targets.depth];
        let mut pass = begin(&mut encoder, views, nothing, &frame);
        pass.set_bind_group(0, &bound, &[]);
        pass.set_index_buffer(prepared.indices.slice(..), wgpu::IndexFormat::Uint32);
        Plan::draw(gpu, prepared, &plan.solid, &moved, &mut pass);
        drop(pass);
        targets.finish(&mut encoder);
        gpu.queue.submit([encoder.finish()]);
        let (visuals, depths) = targets.read(gpu)?;
        Ok(Seen { visuals, depths })
    }

    /// Returns the columns and rows of a view that the device can draw.
    fn size_of(&self, view: &View<'_>) -> Result<[u32; 2], DrawError> {
        if let Some(why) = self.gpu.failure() {
            return Err(DrawError::Failed(why));
        }
        let limits = self.gpu.device.limits();
        let edge_max = limits.max_texture_dimension_2d as usize / view.samples;
        if view.size.iter().any(|edge| *edge == 0 || *edge > edge_max) {
            let [width, height] = view.size;
            let why = format!("{width} x {height} pixels are more than {edge_max} along an edge");
            return Err(DrawError::Refused(why));
        }
        Ok(view.size.map(|edge| edge as u32))
    }
}

impl Renderer for GpuPainter {
    fn paint(&mut self, view: &View<'_>) -> Image {
        let drawn = self.draw(|own| own.try_paint(view));
        drawn.unwrap_or_else(|| self.processor.paint(view))
    }

    fn look(&mut self, view: &View<'_>) -> Seen {
        let drawn = self.draw(|own| own.try_look(view));
        drawn.unwrap_or_else(|| self.processor.look(view))
    }

    fn take_problem(&mut self) -> Option<String> {
        self.problem.take()
    }
}

impl Uploads {
    /// Brings what changes to the device, and binds it with what does not.
    fn bind(
        &mut self,
        gpu: &Gpu,
        prepared: &Prepared,
        plan: &Plan,
        maps: [&TextureView; 4],
        (frame, view, places): (&Frame<'_>, &View<'_>, &[MapPlace]),
    ) -> BindGroup {
        let mut numbers = Numbers::default();
        add_view(&mut numbers, frame, view.size, view.samples);
        let mut lamps = Numbers::default();
        add_lamps(&mut lamps, frame);
        let mut shades = Numbers::default();
        add_shades(&mut shades, &frame.shadows, places);
        let [far_fixed, far_moving, lamp_fixed, lamp_moving] =
            maps.map(BindingResource::TextureView);
        let resources = [
            self.view.put(gpu, numbers.bytes()).as_entire_binding(),
            self.items.put(gpu, plan.items.bytes()).as_entire_binding(),
            prepared.looks.as_entire_binding(),
            self.lamps.put(gpu, lamps.bytes()).as_entire_binding(),
            self.shades.put(gpu, shades.bytes()).as_entire_binding(),
            far_fixed,
            far_moving,
            lamp_fixed,
            lamp_moving,
        ];
        bind(gpu, &gpu.pipelines.view_layout, resources)
    }
}

/// Begins to draw into targets that are cleared; depths are one over themselves.
fn begin<'e>(
    encoder: &'e mut CommandEncoder,
    [target, depth]: [&TextureView; 2],
    cleared: Color,
    frame: &Frame<'_>,
) -> RenderPass<'e> {
    let [near, far] = frame.clip;
    let attachment = RenderPassColorAttachment {
        view: target,
        depth_slice: None,
        resolve_target: None,
        ops: Operations {
            load: LoadOp::Clear(cleared),
            store: StoreOp::Store,
        },
    };
    encoder.begin_render_pass(&RenderPassDescriptor {
        label: Some("view"),
        color_attachments: &[Some(attachment)],
        depth_stencil_attachment: Some(depth_attachment(depth, (near / far).min(1.0) as f32)),
        ..RenderPassDescriptor::default()
    })
}
