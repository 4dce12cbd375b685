//! Textures on a device: images with smaller copies of themselves, in amounts of light.

use half::f16;
use render::Texture;
use wgpu::util::{DeviceExt, TextureDataOrder};
use wgpu::{
    Device, Extent3d, Queue, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages,
    TextureView, TextureViewDescriptor,
};

/// A copy of an image: columns, rows, and light with alpha.
struct Level {
    size: [usize; 2],
    pixels: Vec<[f32; 4]>,
}

/// Puts a texture on a device; one that is larger than the device allows loses its finest copies.
pub(crate) fn upload(device: &Device, queue: &Queue, texture: &Texture) -> TextureView {
    let edge_max = device.limits().max_texture_dimension_2d as usize;
    let mut level = Level {
        size: texture.size(),
        pixels: texture.pixels().to_vec(),
    };
    while level.size.iter().any(|edge| *edge > edge_max) {
        level = level.halved();
    }
    let size = level.size;
    let mut data: Vec<u16> = Vec::new();
    let mut count = 1;
    loop {
        let parts = level.pixels.as_flattened().iter();
        data.extend(parts.map(|part| f16::from_f32(*part).to_bits()));
        if level.size == [1; 2] {
            break;
        }
        level = level.halved();
        count += 1;
    }
    texture_of(device, queue, size, count, &data)
}

/// Returns a texture that changes nothing.
pub(crate) fn white(device: &Device, queue: &Queue) -> TextureView {
    texture_of(device, queue, [1; 2], 1, &[f16::ONE.to_bits(); 4])
}

fn texture_of(
    device: &Device,
    queue: &Queue,
    [width, height]: [usize; 2],
    level_count: u32,
    data: &[u16],
) -> TextureView {
    let descriptor = TextureDescriptor {
        label: Some("texture"),
        size: Extent3d {
            width: width as u32,
            height: height as u32,
            depth_or_array_layers: 1,
        },
        mip_level_count: level_count,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format: TextureFormat::Rgba16Float,
        usage: TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    };
    let bytes = bytemuck::cast_slice(data);
    let order = TextureDataOrder::MipMajor;
    let texture = device.create_texture_with_data(queue, &descriptor, order, bytes);
    texture.create_view(&TextureViewDescriptor::default())
}

impl Level {
    /// Returns a copy of half its size, as devices count: edges are rounded down.
    fn halved(&self) -> Self {
        let [width, height] = self.size;
        let size = self.size.map(|edge| (edge / 2).max(1));
        let columns: Vec<_> = (0..size[0]).map(|x| covered(x, size[0], width)).collect();
        let mut pixels = Vec::with_capacity(size[0] * size[1]);
        for y in 0..size[1] {
            let rows = covered(y, size[1], height);
            for columns in &columns {
                let mut sum = [0.0_f32; 4];
                for (row, of_row) in &rows {
                    for (column, of_column) in columns {
                        let pixel = self.pixels[row * width + column];
                        for (sum, part) in sum.iter_mut().zip(pixel) {
                            *sum += part * of_row * of_column;
                        }
                    }
                }
                pixels.push(sum);
            }
        }
        Self { size, pixels }
    }
}

/// Returns which of so many pixels one of fewer covers, with their parts in it.
fn covered(index: usize, fewer: usize, count: usize) -> Vec<(usize, f32)> {
    let edge = count as f32 / fewer as f32;
    let (begin, end) = (index as f32 * edge, (index + 1) as f32 * edge);
    let pixels = begin as usize..count.min(end.ceil() as usize);
    let part = |pixel: usize| (end.min(pixel as f32 + 1.0) - begin.max(pixel as f32)) / edge;
    pixels.map(|pixel| (pixel, part(pixel))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_copy_has_the_same_mean() {
        let level = Level {
            size: [5, 2],
            pixels: (0..10_u8).map(|i| [f32::from(i); 4]).collect(),
        };
        let half = level.halved();
        assert_eq!(half.size, [2, 1]);
        let mean = |level: &Level| {
            let sum: f32 = level.pixels.iter().map(|pixel| pixel[0]).sum();
            sum / level.pixels.len() as f32
        };
        assert!((mean(&half) - mean(&level)).abs() < 1e-5);
        assert_eq!(half.halved().size, [1, 1]);
    }
}
