//! Images made by an encoder and by hand; then the same images broken at random places.

use super::*;
use crate::broken::{Random, broken};

fn encoded(color: ColorType, depth: png::BitDepth, size: (u32, u32), data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == ColorType::Indexed {
        encoder.set_palette(vec![0, 0, 0, 255, 255, 255]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    bytes
}

#[track_caller]
fn check(color: ColorType, bits: u8, data: &[u8], expect: [f32; 4]) {
    let depth = png::BitDepth::from_u8(bits).unwrap();
    let grid = read_height_grid(&encoded(color, depth, (2, 2), data), "a.png").unwrap();
    assert_eq!((grid.columns, grid.rows), (2, 2));
    let is_close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
    assert!(grid.heights.iter().zip(&expect).all(is_close), "{grid:?}");
}

#[track_caller]
fn check_error(bytes: &[u8], reason: &str) {
    let error = read_height_grid(bytes, "ground.png").unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}

#[test]
fn brightness_is_height_from_the_top_row_down() {
    check(
        ColorType::Grayscale,
        8,
        &[0, 51, 102, 255],
        [0.0, 0.2, 0.4, 1.0],
    );
    let wide = [0, 0, 0x33, 0x33, 0x66, 0x66, 0xff, 0xff];
    check(ColorType::Grayscale, 16, &wide, [0.0, 0.2, 0.4, 1.0]);
    check(
        ColorType::GrayscaleAlpha,
        8,
        &[0, 9, 255, 0, 51, 1, 0, 0],
        [0.0, 1.0, 0.2, 0.0],
    );
    check(
        ColorType::Grayscale,
        1,
        &[0b0100_0000, 0b1000_0000],
        [0.0, 1.0, 1.0, 0.0],
    );
    check(
        ColorType::Indexed,
        1,
        &[0b0100_0000, 0b1000_0000],
        [0.0, 1.0, 1.0, 0.0],
    );
}

#[test]
fn colours_count_by_their_brightness() {
    let data = [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255];
    check(ColorType::Rgb, 8, &data, [1.0, 0.299, 0.587, 0.114]);
}

#[test]
fn the_brightest_sample_has_the_full_height() {
    check(
        ColorType::Grayscale,
        8,
        &[0, 50, 25, 100],
        [0.0, 0.5, 0.25, 1.0],
    );
    check(ColorType::Grayscale, 8, &[0; 4], [0.0; 4]);
}

#[test]
fn unreadable_images_are_refused_with_the_reason() {
    check_error(
        b"II*\0....",
        "ground.png: TIFF and digital elevation models are not read",
    );
    check_error(b"", "no image of a format that is read");
    let mut bytes = encoded(ColorType::Grayscale, png::BitDepth::Eight, (1, 1), &[0]);
    check_error(&bytes[..40], "ground.png: ");
    bytes[16..24].copy_from_slice(&[0x10, 0, 0, 0, 0x10, 0, 0, 0]);
    check_error(&bytes, "ground.png: ");
}

/// A grey image of a black block of 8 x 8 samples and a white one on its right.
fn jpeg() -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xdb, 0, 67, 0];
    bytes.extend([8; 64]);
    bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 8, 0, 16, 1, 1, 0x11, 0]);
    for [class, symbol] in [[0x00, 8], [0x10, 0]] {
        bytes.extend([0xff, 0xc4, 0, 20, class, 1]);
        bytes.extend([0; 15]);
        bytes.push(symbol);
    }
    bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]);
    bytes.extend([0x3f, 0x9f, 0xef, 0xff, 0xd9]);
    bytes
}

#[test]
fn jpeg_images_are_read() {
    let grid = read_height_grid(&jpeg(), "a.jpg").unwrap();
    assert_eq!((grid.columns, grid.rows), (16, 8));
    for row in grid.heights.chunks(16) {
        assert_eq!(row[..8], [0.0; 8]);
        assert_eq!(row[8..], [1.0; 8]);
    }
    check_error(&jpeg()[..20], "ground.png: ");
}

#[test]
fn broken_images_are_survived() {
    let (color, depth) = (ColorType::Grayscale, png::BitDepth::Eight);
    let colors: Vec<u8> = (0..48).map(|i| i * 5).collect();
    let wholes = [
        encoded(color, depth, (2, 2), &[0, 51, 102, 255]),
        encoded(ColorType::Rgb, depth, (4, 4), &colors),
        jpeg(),
    ];
    for whole in wholes {
        for seed in 0..3000 {
            let bytes = broken(&whole, &mut Random(seed));
            if let Ok(grid) = read_height_grid(&bytes, "a") {
                assert_eq!(grid.heights.len(), grid.columns * grid.rows);
            }
        }
    }
}
