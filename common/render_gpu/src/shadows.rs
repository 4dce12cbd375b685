//! [`ShadowMaps`]: depths along a light, of what never moves and of what does.
//!
//! The first is kept as long as it shows the same place.

use render::{Caster, FrameShadow, Region, Rows, SHADOW_SIZE};
use wgpu::{
    Buffer, BufferUsages, CommandEncoder, LoadOp, Operations, RenderPassDepthStencilAttachment,
    RenderPassDescriptor, StoreOp, TextureView,
};

use crate::device::Gpu;
use crate::numbers::Numbers;
use crate::passes::{Draw, Upload, Vertices};
use crate::prepared::{Prepared, bind};
use crate::targets::depth_map;

/// Maps of shadows of a view.
pub(crate) struct ShadowMaps {
    pub(crate) fixed: TextureView,
    pub(crate) moving: TextureView,
    /// Region that the maps show, once there is anything in them.
    region: Option<Region>,
    /// Least depth of the first map, and its range \[m\].
    fixed_depths: [f32; 2],
    casters: Upload,
    numbers: Numbers,
}

/// Depths that maps hold: for each the least one and its range \[m\].
#[derive(Clone, Copy, Default)]
pub(crate) struct MapDepths {
    pub(crate) fixed: [f32; 2],
    pub(crate) moving: [f32; 2],
}

impl ShadowMaps {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let map = || depth_map(&gpu.device, SHADOW_SIZE as u32);
        Self {
            fixed: map(),
            moving: map(),
            region: None,
            fixed_depths: [0.0, 1.0],
            casters: Upload::new("casters", BufferUsages::STORAGE),
            numbers: Numbers::default(),
        }
    }

    /// Draws the maps of a frame, as far as they are not there.
    pub(crate) fn draw(
        &mut self,
        gpu: &Gpu,
        prepared: &Prepared,
        (shadow, moved_places, moved): (&FrameShadow, &[u32], &Buffer),
        encoder: &mut CommandEncoder,
    ) -> MapDepths {
        let is_new = self.region.replace(shadow.region) != Some(shadow.region);
        let (fixed, moving) = shadow.casters.iter().partition(|one| one.is_fixed);
        let fixed: Vec<&Caster> = if is_new { fixed } else { Vec::new() };
        if is_new {
            self.fixed_depths = depths_of(&fixed);
        }
        let depths = MapDepths {
            fixed: self.fixed_depths,
            moving: depths_of(&moving),
        };
        self.numbers.clear();
        let mut draws = [Vec::new(), Vec::new()];
        let mut count = 0;
        let maps = [(fixed, depths.fixed), (moving, depths.moving)];
        for ((mut casters, depths), draws) in maps.into_iter().zip(&mut draws) {
            casters.sort_by_key(|caster| caster.surface);
            for caster in casters {
                self.numbers.rows(&on_map(&caster.placing, depths));
                let moved = caster.moved.map(|moved| moved_places[moved]);
                let surface = &prepared.surfaces[caster.surface];
                Draw::add(draws, (), surface, moved, count);
                count += 1;
            }
        }
        if count == 0 {
            self.numbers.words([0; 12]);
        }
        let casters = self.casters.put(gpu, self.numbers.bytes());
        let layout = &gpu.pipelines.shadow_layout;
        let casters = bind(gpu, layout, [casters.as_entire_binding()]);
        let maps = [(&self.fixed, is_new), (&self.moving, true)];
        for ((map, is_due), draws) in maps.into_iter().zip(&draws) {
            if !is_due {
                continue;
            }
            let mut pass = encoder.begin_render_pass(&RenderPassDescriptor {
                label: Some("shadows"),
                depth_stencil_attachment: Some(depth_attachment(map, 1.0)),
                ..RenderPassDescriptor::default()
            });
            pass.set_pipeline(&gpu.pipelines.shadow);
            pass.set_bind_group(0, &casters, &[]);
            pass.set_index_buffer(prepared.indices.slice(..), wgpu::IndexFormat::Uint32);
            let mut vertices = Vertices::default();
            for draw in draws {
                vertices.bind(draw.is_moved, [&prepared.vertices, moved], &mut pass);
                pass.draw_indexed(draw.indices.clone(), draw.first_vertex, draw.items.clone());
            }
        }
        depths
    }
}

/// Returns an attachment of depths that is cleared to this one.
pub(crate) fn depth_attachment(
    view: &TextureView,
    depth: f32,
) -> RenderPassDepthStencilAttachment<'_> {
    RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(Operations {
            load: LoadOp::Clear(depth),
            store: StoreOp::Store,
        }),
        stencil_ops: None,
    }
}

/// Returns the least depth of casters and a range in which all of theirs are \[m\].
fn depths_of(casters: &[&Caster]) -> [f32; 2] {
    let ends = casters.iter().map(|caster| caster.depths);
    let [least, most] = ends.fold([f32::INFINITY, f32::NEG_INFINITY], |known, own| {
        [known[0].min(own[0]), known[1].max(own[1])]
    });
    // A little is left free, so that nothing is as deep as nothing at all.
    let margin = 1e-3 * (1.0 + (most - least).abs());
    if (most - least).is_finite() {
        [least - margin, most - least + 2.0 * margin]
    } else {
        [0.0, 1.0]
    }
}

/// Returns places on a map as the device counts them: from -1 to 1 to the right and up, and from 0
/// to 1 along the light.
fn on_map(placing: &Rows, [least, range]: [f32; 2]) -> Rows {
    let half = SHADOW_SIZE as f32 / 2.0;
    let [mut right, mut down, mut depth] = *placing;
    right[3] -= half;
    down[3] -= half;
    depth[3] -= least;
    [
        right.map(|part| part / half),
        down.map(|part| -part / half),
        depth.map(|part| part / range),
    ]
}
