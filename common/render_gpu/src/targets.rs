//! Targets: what images are drawn into, and how they come back.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use wgpu::{
    BindGroup, Buffer, BufferDescriptor, BufferUsages, CommandEncoder, Device, Extent3d, MapMode,
    PollType, Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages,
    TextureView, TextureViewDescriptor, TextureViewDimension,
};

use crate::device::Gpu;
use crate::numbers::Numbers;
use crate::painter::DrawError;
use crate::pipelines::{DEPTH, LIGHT, VISUALS};
use crate::prepared::bind;

/// Time after which a device that has not drawn an image counts as lost: a part of that after
/// which a secondary does.
const DRAW_TIME_MAX: Duration = Duration::from_secs(10);

/// Time between two looks at whether another painter has found it lost.
const LOOK_INTERVAL: Duration = Duration::from_micros(100);

/// Bytes to which rows of a texture are filled up in a buffer.
const ROW_BYTES: usize = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize;

/// Edge of the squares of pixels whose means are made at once.
const SQUARE: u32 = 8;

/// Targets of an image in colours.
pub(crate) struct ColorTargets {
    /// Columns and rows of pixels.
    size: [u32; 2],
    /// Samples along an edge of a pixel.
    samples: u32,
    pub(crate) light: TextureView,
    pub(crate) depth: TextureView,
    mean: BindGroup,
    pixels: Buffer,
    result: Buffer,
}

/// Targets of an image of visuals.
pub(crate) struct VisualTargets {
    size: [u32; 2],
    texture: Texture,
    pub(crate) visuals: TextureView,
    pub(crate) depth: TextureView,
    result: Buffer,
}

impl ColorTargets {
    /// Makes targets of so many pixels, with so many samples along an edge of each.
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2], samples: u32) -> Self {
        let grid = size.map(|edge| edge * samples);
        let light = texture(&gpu.device, grid, LIGHT, TextureUsages::TEXTURE_BINDING);
        let light = view(&light);
        let bytes = u64::from(size[0]) * u64::from(size[1]) * 4;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
        let pixels = buffer(gpu, "pixels", bytes, usage);
        let picture = buffer(
            gpu,
            "picture",
            16,
            BufferUsages::UNIFORM | BufferUsages::COPY_DST,
        );
        let mut numbers = Numbers::default();
        numbers.words([size[0], size[1], samples, 0]);
        gpu.queue.write_buffer(&picture, 0, numbers.bytes());
        let resources = [
            picture.as_entire_binding(),
            wgpu::BindingResource::TextureView(&light),
            pixels.as_entire_binding(),
        ];
        Self {
            size,
            samples,
            mean: bind(gpu, &gpu.pipelines.mean_layout, resources),
            depth: view(&texture(&gpu.device, grid, DEPTH, TextureUsages::empty())),
            light,
            pixels,
            result: result(gpu, bytes),
        }
    }

    /// Tells whether they have so many pixels, and samples along an edge.
    pub(crate) fn are_of(&self, size: [u32; 2], samples: u32) -> bool {
        self.size == size && self.samples == samples
    }

    /// Makes pixels of samples, and has them come back.
    pub(crate) fn finish(&self, gpu: &Gpu, encoder: &mut CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&gpu.pipelines.mean);
        pass.set_bind_group(0, &self.mean, &[]);
        let [across, down] = self.size.map(|edge| edge.div_ceil(SQUARE));
        pass.dispatch_workgroups(across, down, 1);
        drop(pass);
        encoder.copy_buffer_to_buffer(&self.pixels, 0, &self.result, 0, self.pixels.size());
    }

    /// Returns the pixels once they are there: red, green, blue and alpha.
    pub(crate) fn read(&self, gpu: &Gpu) -> Result<Vec<[u8; 4]>, DrawError> {
        read(gpu, &self.result, |bytes| bytes.as_chunks().0.to_vec())
    }
}

impl VisualTargets {
    /// Makes targets of a size.
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let own = texture(&gpu.device, size, VISUALS, TextureUsages::COPY_SRC);
        Self {
            size,
            visuals: view(&own),
            texture: own,
            depth: view(&texture(&gpu.device, size, DEPTH, TextureUsages::empty())),
            result: result(gpu, (row_bytes(size) * size[1] as usize) as u64),
        }
    }

    /// Tells whether they are of a size.
    pub(crate) fn are_of(&self, size: [u32; 2]) -> bool {
        self.size == size
    }

    /// Has what was drawn come back.
    pub(crate) fn finish(&self, encoder: &mut CommandEncoder) {
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row_bytes(self.size) as u32),
            rows_per_image: None,
        };
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.result,
                layout,
            },
            extent(self.size),
        );
    }

    /// Returns visuals and depths once they are there.
    pub(crate) fn read(&self, gpu: &Gpu) -> Result<(Vec<u32>, Vec<f32>), DrawError> {
        let count = self.size[0] as usize;
        read(gpu, &self.result, |bytes| {
            let rows = bytes.chunks(row_bytes(self.size));
            let pixels = rows.flat_map(|row| &row.as_chunks::<8>().0[..count]);
            let word = |bytes: &[u8; 8], first: usize| {
                u32::from_le_bytes(std::array::from_fn(|i| bytes[first + i]))
            };
            pixels
                .map(|pixel| (word(pixel, 0), f32::from_bits(word(pixel, 4))))
                .unzip()
        })
    }
}

fn row_bytes([width, _]: [u32; 2]) -> usize {
    (width as usize * 8).next_multiple_of(ROW_BYTES)
}

fn texture(
    device: &Device,
    size: [u32; 2],
    format: TextureFormat,
    usage: TextureUsages,
) -> Texture {
    device.create_texture(&TextureDescriptor {
        label: Some("target"),
        size: extent(size),
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format,
        usage: usage | TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    })
}

/// Returns maps of depths that shaders read, of so many samples along an edge: all as one, and each
/// for itself.
pub(crate) fn depth_maps(
    device: &Device,
    edge: u32,
    count: u32,
) -> (TextureView, Vec<TextureView>) {
    let maps = device.create_texture(&TextureDescriptor {
        label: Some("shadows"),
        size: Extent3d {
            width: edge,
            height: edge,
            depth_or_array_layers: count,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format: DEPTH,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    let own = |dimension, layer, layers| {
        maps.create_view(&TextureViewDescriptor {
            dimension: Some(dimension),
            base_array_layer: layer,
            array_layer_count: Some(layers),
            ..TextureViewDescriptor::default()
        })
    };
    let each = (0..count).map(|layer| own(TextureViewDimension::D2, layer, 1));
    let each = each.collect();
    (own(TextureViewDimension::D2Array, 0, count), each)
}

fn view(texture: &Texture) -> TextureView {
    texture.create_view(&TextureViewDescriptor::default())
}

fn extent([width, height]: [u32; 2]) -> Extent3d {
    Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    }
}

pub(crate) fn buffer(gpu: &Gpu, label: &str, size: u64, usage: BufferUsages) -> Buffer {
    gpu.device.create_buffer(&BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn result(gpu: &Gpu, bytes: u64) -> Buffer {
    buffer(
        gpu,
        "result",
        bytes,
        BufferUsages::MAP_READ | BufferUsages::COPY_DST,
    )
}

/// Waits until a device has done what it was given, and returns what is in a buffer then.
fn read<T>(gpu: &Gpu, buffer: &Buffer, take: impl FnOnce(&[u8]) -> T) -> Result<T, DrawError> {
    let (sender, receiver) = mpsc::channel();
    buffer.map_async(MapMode::Read, .., move |mapped| {
        // Nobody waits for it any more once the time is up.
        let _ = sender.send(mapped);
    });
    let failed = |why: String| DrawError::Failed(gpu.failure().unwrap_or(why));
    let end = Instant::now() + DRAW_TIME_MAX;
    loop {
        // It is not waited for a submission: where one thread's time for that is up as another one
        // finds all done, wgpu panics.
        let polled = gpu.device.poll(PollType::Poll);
        match receiver.recv_timeout(LOOK_INTERVAL) {
            Ok(Ok(())) => break,
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => {}
        }
        if let Err(error) = polled {
            return Err(failed(error.to_string()));
        }
        if gpu.failure().is_some() || Instant::now() > end {
            return Err(failed(format!("it draws nothing within {DRAW_TIME_MAX:?}")));
        }
    }
    let bytes = buffer.get_mapped_range(..);
    let bytes = bytes.map_err(|error| failed(error.to_string()))?;
    let taken = take(&bytes);
    drop(bytes);
    buffer.unmap();
    match gpu.failure() {
        Some(why) => Err(DrawError::Failed(why)),
        None => Ok(taken),
    }
}
