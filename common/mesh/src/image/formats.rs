//! Images in TGA, BMP and DDS, by files that are made here.

use super::*;

fn words(numbers: &[u16]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn longs(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// A TGA file: kind, whether it has a palette and how many colours, bits of a pixel, traits.
fn tga(kind: u8, colors: u16, depth: u8, traits: u8, size: [u16; 2], rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, u8::from(colors > 0), kind];
    bytes.extend(words(&[0, colors]));
    bytes.push(if colors > 0 { 24 } else { 0 });
    bytes.extend(words(&[0, 0, size[0], size[1]]));
    bytes.extend([depth, traits, b'i', b'd']);
    bytes.extend(rest);
    bytes
}

fn bmp(bits: u16, compression: u32, size: [i32; 2], masks: &[u32], rest: &[u8]) -> Vec<u8> {
    let header = if masks.is_empty() { 40 } else { 56 };
    let mut bytes = b"BM".to_vec();
    let palette = if bits <= 8 { 4 << bits } else { 0 };
    bytes.extend(longs(&[0, 0, 14 + header + palette, header]));
    bytes.extend(longs(&size.map(i32::cast_unsigned)));
    bytes.extend(words(&[1, bits]));
    bytes.extend(longs(&[compression, 0, 0, 0, 0, 0]));
    bytes.extend(longs(masks));
    bytes.extend(rest);
    bytes
}

fn dds(size: [u32; 2], traits: u32, name: [u8; 4], colors: [u32; 5], rest: &[u8]) -> Vec<u8> {
    let mut bytes = b"DDS ".to_vec();
    bytes.extend(longs(&[124, 0, size[1], size[0]]));
    bytes.resize(76, 0);
    bytes.extend(longs(&[32, traits]));
    bytes.extend(name);
    bytes.extend(longs(&colors));
    bytes.resize(128, 0);
    bytes.extend(rest);
    bytes
}

fn check(bytes: &[u8], size: [usize; 2], expect: &[[u8; 4]]) {
    let file = ImageFile::new(bytes.to_vec()).unwrap();
    assert_eq!(file.format, ImageFormat::Png);
    let image = file.decode().unwrap();
    assert_eq!(
        ([image.width, image.height], &*image.pixels),
        (size, expect)
    );
    // A file that is cut anywhere is refused, or is no image any more.
    for end in 0..bytes.len() {
        assert!(
            ImageFile::new(bytes[..end].to_vec()).is_err(),
            "cut at {end}"
        );
    }
}

const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

#[test]
fn targa_images_are_read_from_the_bottom_or_the_top() {
    let two = [0, 0, 255, 255, 0, 0];
    check(&tga(2, 0, 24, 0, [1, 2], &two), [1, 2], &[BLUE, RED]);
    check(&tga(2, 0, 24, 0x20, [1, 2], &two), [1, 2], &[RED, BLUE]);
    check(&tga(2, 0, 24, 0x30, [2, 1], &two), [2, 1], &[BLUE, RED]);
    let clear = [0, 0, 255, 7];
    check(
        &tga(2, 0, 32, 0x28, [1, 1], &clear),
        [1, 1],
        &[[255, 0, 0, 7]],
    );
    check(&tga(2, 0, 32, 0x20, [1, 1], &clear), [1, 1], &[RED]);
    check(&tga(2, 0, 16, 0, [1, 1], &words(&[0x7c00])), [1, 1], &[RED]);
    check(&tga(3, 0, 8, 0, [1, 1], &[9]), [1, 1], &[[9, 9, 9, 255]]);
    let palette = [0, 0, 255, 255, 0, 0, 1, 0];
    check(&tga(1, 2, 8, 0x20, [2, 1], &palette), [2, 1], &[BLUE, RED]);
}

#[test]
fn targa_images_are_read_in_runs() {
    let runs = [0x82, 0, 0, 255, 0x01, 255, 0, 0, 0, 0, 255];
    let expect = [RED, RED, RED, BLUE, RED];
    check(&tga(10, 0, 24, 0x20, [5, 1], &runs), [5, 1], &expect);
}

#[test]
fn bitmaps_are_read_with_palettes_and_masks() {
    let rows = [0, 0, 255, 0, 255, 0, 0, 0];
    check(&bmp(24, 0, [1, 2], &[], &rows), [1, 2], &[BLUE, RED]);
    check(&bmp(24, 0, [1, -2], &[], &rows), [1, 2], &[RED, BLUE]);
    let masks = [0xff, 0xff00, 0x00ff_0000, 0xff00_0000];
    check(
        &bmp(32, 3, [1, 1], &masks, &[255, 0, 0, 7]),
        [1, 1],
        &[[255, 0, 0, 7]],
    );
    check(&bmp(32, 0, [1, 1], &[], &[0, 0, 255, 7]), [1, 1], &[RED]);
    check(&bmp(16, 0, [1, 1], &[], &[0, 0x7c, 0, 0]), [1, 1], &[RED]);
    let palette = [0, 0, 255, 0, 255, 0, 0, 0, 0b0100_0000, 0, 0, 0];
    check(&bmp(1, 0, [2, 1], &[], &palette), [2, 1], &[RED, BLUE]);
}

#[test]
fn surfaces_are_read_uncompressed_and_in_blocks() {
    let masks = [32, 0x00ff_0000, 0xff00, 0xff, 0xff00_0000];
    let plain = dds([1, 1], 0x41, [0; 4], masks, &[0, 0, 255, 9]);
    check(&plain, [1, 1], &[[255, 0, 0, 9]]);
    // Red and blue, then both between them; three pixels of a block of sixteen.
    let block = |ends: [u16; 2]| [words(&ends), vec![0b0011_0100, 0, 0, 0]].concat();
    let one_bit = dds([3, 1], 4, *b"DXT1", [0; 5], &block([0xf800, 0x001f]));
    check(&one_bit, [3, 1], &[RED, BLUE, [85, 0, 170, 255]]);
    let holes = dds([3, 1], 4, *b"DXT1", [0; 5], &block([0x001f, 0xf800]));
    check(&holes, [3, 1], &[BLUE, RED, [0; 4]]);
    let colors = block([0xf800, 0x001f]);
    let plain = [vec![0x0f, 0x08, 0, 0, 0, 0, 0, 0], colors.clone()].concat();
    let [red, blue, mixed] = [[255, 0, 0, 255], [0, 0, 255, 0], [85, 0, 170, 136]];
    check(
        &dds([3, 1], 4, *b"DXT3", [0; 5], &plain),
        [3, 1],
        &[red, blue, mixed],
    );
    let between = [vec![70, 0, 0b1000_1000, 0, 0, 0, 0, 0], colors].concat();
    let [red, blue, mixed] = [[255, 0, 0, 70], [0, 0, 255, 0], [85, 0, 170, 60]];
    check(
        &dds([3, 1], 4, *b"DXT5", [0; 5], &between),
        [3, 1],
        &[red, blue, mixed],
    );
}

#[test]
fn what_is_not_read_of_a_format_is_named() {
    let refused = |bytes: Vec<u8>, part: &str| {
        let error = ImageFile::new(bytes).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(
        dds([4, 4], 4, *b"DX10", [0; 5], &[0; 16]),
        "format DX10 is not read",
    );
    refused(
        bmp(8, 1, [4, 4], &[], &[0; 1100]),
        "8 bits and compression 1",
    );
    refused(bmp(24, 0, [0, 4], &[], &[0; 64]), "no pixels");
    refused(bmp(24, 0, [-4, 4], &[], &[0; 64]), "no pixels");
    refused(
        bmp(24, 0, [70_000, 70_000], &[], &[]),
        "70000 x 70000 pixels are more",
    );
    refused(
        dds([u32::MAX, 9], 4, *b"DXT1", [0; 5], &[]),
        "pixels are more",
    );
    refused(tga(2, 0, 24, 0, [0, 4], &[0; 64]), "no image of a format");
    refused(tga(1, 1, 8, 0, [1, 1], &[1, 2, 3, 9]), "not in its palette");
}
