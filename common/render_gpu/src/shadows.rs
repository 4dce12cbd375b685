//! [`ShadowMaps`]: depths along lights, of what never moves and of what does.
//!
//! The first are kept as long as they show the same place. Maps are layers: those of lights that
//! are far away, and those of lamps, whose rays spread.

use render::{Caster, FrameShadow, LAMP_SHADOW_SIZE, Region, Rows, SHADOW_SIZE};
use wgpu::{
    BindGroup, Buffer, BufferUsages, CommandEncoder, LoadOp, Operations,
    RenderPassDepthStencilAttachment, RenderPassDescriptor, RenderPipeline, StoreOp, TextureView,
};

use crate::device::Gpu;
use crate::numbers::Numbers;
use crate::painter::DrawError;
use crate::passes::{Draw, Upload, Vertices};
use crate::prepared::{Prepared, bind};
use crate::targets::depth_maps;

/// Maps of shadows of a view.
pub(crate) struct ShadowMaps {
    /// Of lights that are far away, and of lamps.
    kinds: [Layers; 2],
    casters: Upload,
    numbers: Numbers,
}

/// Maps of one kind, with what never moves and what does.
pub(crate) struct Layers {
    pub(crate) fixed: TextureView,
    pub(crate) moving: TextureView,
    all: Vec<Layer>,
}

/// A layer of both maps.
struct Layer {
    fixed: TextureView,
    moving: TextureView,
    /// Region that the maps show, once there is anything in them.
    region: Option<Region>,
    /// Least depth of the first map, and its range \[m\].
    fixed_depths: [f32; 2],
    /// True if nothing that moves was drawn last.
    is_empty: bool,
}

/// Depths that maps hold, for each the least one and its range \[m\], and the layer that they are.
#[derive(Clone, Copy, Default)]
pub(crate) struct MapPlace {
    pub(crate) fixed: [f32; 2],
    pub(crate) moving: [f32; 2],
    pub(crate) layer: u32,
}

/// Draws on a map.
struct MapDraws<'d> {
    map: &'d TextureView,
    is_of_lamp: bool,
    draws: Vec<Draw<()>>,
}

impl ShadowMaps {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        Self {
            kinds: [0; 2].map(|_| Layers {
                fixed: gpu.no_map.clone(),
                moving: gpu.no_map.clone(),
                all: Vec::new(),
            }),
            casters: Upload::new("casters", BufferUsages::STORAGE),
            numbers: Numbers::default(),
        }
    }

    /// Returns the maps of lights that are far away, and those of lamps.
    pub(crate) fn views(&self) -> [&TextureView; 4] {
        let [far, lamps] = &self.kinds;
        [&far.fixed, &far.moving, &lamps.fixed, &lamps.moving]
    }

    /// Draws the maps of a frame, as far as they are not there; returns where each is.
    pub(crate) fn draw(
        &mut self,
        gpu: &Gpu,
        prepared: &Prepared,
        (shadows, moved_places, moved): (&[FrameShadow], &[u32], &Buffer),
        encoder: &mut CommandEncoder,
    ) -> Result<Vec<MapPlace>, DrawError> {
        let of_lamps = shadows.iter().filter(|own| own.region.is_of_lamp());
        let of_lamps = of_lamps.count();
        let [far, lamps] = &mut self.kinds;
        far.resize(gpu, SHADOW_SIZE, shadows.len() - of_lamps)?;
        lamps.resize(gpu, LAMP_SHADOW_SIZE, of_lamps)?;
        self.numbers.clear();
        let mut counts = [0; 2];
        let mut count = 0;
        let (mut places, mut all) = (Vec::new(), Vec::new());
        let mut layers = self.kinds.each_mut().map(|kind| kind.all.iter_mut());
        for shadow in shadows {
            let kind = usize::from(shadow.region.is_of_lamp());
            let layer = layers[kind].next().expect("there is one for each");
            let mut add = |caster: &Caster, depths, draws: &mut Vec<Draw<()>>| {
                self.numbers
                    .rows(&on_map(&caster.placing, depths, &shadow.region));
                let moved = caster.moved.map(|moved| moved_places[moved]);
                let surface = &prepared.surfaces[caster.surface];
                Draw::add(draws, (), surface, moved, count);
                count += 1;
            };
            let mut place = layer.plan(shadow, &mut add, &mut all);
            place.layer = counts[kind];
            counts[kind] += 1;
            places.push(place);
        }
        if count == 0 {
            self.numbers.words([0; 12]);
        }
        let casters = self.casters.put(gpu, self.numbers.bytes());
        let layout = &gpu.pipelines.shadow_layout;
        let casters = bind(gpu, layout, [casters.as_entire_binding()]);
        for map in &all {
            map.draw(gpu, prepared, (&casters, moved), encoder);
        }
        Ok(places)
    }
}

impl Layers {
    /// Has so many layers, which are empty if they were not as many.
    fn resize(&mut self, gpu: &Gpu, edge: usize, count: usize) -> Result<(), DrawError> {
        if self.all.len() == count {
            return Ok(());
        }
        let most = gpu.device.limits().max_texture_array_layers as usize;
        if count > most {
            let why = format!("{count} maps of shadows are more than {most}");
            return Err(DrawError::Refused(why));
        }
        self.all.clear();
        if count == 0 {
            (self.fixed, self.moving) = (gpu.no_map.clone(), gpu.no_map.clone());
            return Ok(());
        }
        let (fixed, of_fixed) = depth_maps(&gpu.device, edge as u32, count as u32);
        let (moving, of_moving) = depth_maps(&gpu.device, edge as u32, count as u32);
        (self.fixed, self.moving) = (fixed, moving);
        let layers = of_fixed.into_iter().zip(of_moving);
        self.all.extend(layers.map(|(fixed, moving)| Layer {
            fixed,
            moving,
            region: None,
            fixed_depths: [0.0, 1.0],
            is_empty: false,
        }));
        Ok(())
    }
}

impl Layer {
    /// Adds the maps of shadows that are to be drawn, and their casters.
    fn plan<'l>(
        &'l mut self,
        shadow: &FrameShadow,
        add: &mut impl FnMut(&Caster, [f32; 2], &mut Vec<Draw<()>>),
        all: &mut Vec<MapDraws<'l>>,
    ) -> MapPlace {
        let is_of_lamp = shadow.region.is_of_lamp();
        let is_new = self.region.replace(shadow.region) != Some(shadow.region);
        let casters = shadow.casters.iter();
        let (mut fixed, mut moving): (Vec<&Caster>, Vec<&Caster>) =
            casters.partition(|one| one.is_fixed);
        if is_new {
            self.fixed_depths = depths_of(&fixed);
        }
        let place = MapPlace {
            fixed: self.fixed_depths,
            moving: depths_of(&moving),
            layer: 0,
        };
        let was_empty = std::mem::replace(&mut self.is_empty, moving.is_empty());
        let maps = [
            (&self.fixed, &mut fixed, place.fixed, is_new),
            (
                &self.moving,
                &mut moving,
                place.moving,
                !(was_empty && self.is_empty),
            ),
        ];
        for (map, casters, depths, is_due) in maps {
            if !is_due {
                continue;
            }
            casters.sort_by_key(|caster| caster.surface);
            let mut draws = Vec::new();
            for caster in casters {
                add(caster, depths, &mut draws);
            }
            all.push(MapDraws {
                map,
                is_of_lamp,
                draws,
            });
        }
        place
    }
}

impl MapDraws<'_> {
    fn draw(
        &self,
        gpu: &Gpu,
        prepared: &Prepared,
        (casters, moved): (&BindGroup, &Buffer),
        encoder: &mut CommandEncoder,
    ) {
        let (pipeline, nothing): (&RenderPipeline, f32) = if self.is_of_lamp {
            (&gpu.pipelines.lamp_shadow, 0.0)
        } else {
            (&gpu.pipelines.shadow, 1.0)
        };
        let mut pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("shadows"),
            depth_stencil_attachment: Some(depth_attachment(self.map, nothing)),
            ..RenderPassDescriptor::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, casters, &[]);
        pass.set_index_buffer(prepared.indices.slice(..), wgpu::IndexFormat::Uint32);
        let mut vertices = Vertices::default();
        for draw in &self.draws {
            vertices.bind(draw.is_moved, [&prepared.vertices, moved], &mut pass);
            pass.draw_indexed(draw.indices.clone(), draw.first_vertex, draw.items.clone());
        }
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
/// to 1 along the light; on a map of a lamp, the first two times the depth, and that \[m\].
fn on_map(placing: &Rows, [least, range]: [f32; 2], region: &Region) -> Rows {
    let [mut right, mut down, mut depth] = *placing;
    if region.is_of_lamp() {
        let half = LAMP_SHADOW_SIZE as f32 / 2.0;
        return [
            right.map(|part| part / half),
            down.map(|part| -part / half),
            depth,
        ];
    }
    let half = SHADOW_SIZE as f32 / 2.0;
    right[3] -= half;
    down[3] -= half;
    depth[3] -= least;
    [
        right.map(|part| part / half),
        down.map(|part| -part / half),
        depth.map(|part| part / range),
    ]
}
