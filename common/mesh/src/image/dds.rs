//! `DirectDraw` surfaces: their first and largest image, uncompressed or in blocks (`DXT1`, `DXT3`,
//! `DXT5`, also named BC1 to BC3).

use super::words::{Words, color, number, unread};
use super::{Image, ImageProblem, checked};

const PIXELS_AT: usize = 128;

/// Bits of the kind of pixels.
const HAS_ALPHA: u32 = 0x1;
const IS_BLOCKS: u32 = 0x4;
const IS_COLOR: u32 = 0x40;

/// Masks of the colours of blocks.
const OF_BLOCKS: [u32; 4] = [0xf800, 0x07e0, 0x001f, 0];

/// Alpha of the blocks of a format.
#[derive(Clone, Copy, PartialEq)]
enum Alpha {
    /// One colour of a block may be invisible.
    OneBit,
    /// Sixteen steps of each pixel.
    Plain,
    /// Places between two values.
    Between,
}

/// Reads a surface.
pub(super) fn read(bytes: &[u8]) -> Result<Image, ImageProblem> {
    let words = Words(bytes);
    let (width, height) = checked(words.long(16)? as usize, words.long(12)? as usize)?;
    let traits = words.long(80)?;
    if traits & IS_BLOCKS != 0 {
        let name = words.part(84, 4)?;
        let alpha = match name {
            b"DXT1" => Alpha::OneBit,
            b"DXT2" | b"DXT3" => Alpha::Plain,
            b"DXT4" | b"DXT5" => Alpha::Between,
            _ => {
                let name = name.escape_ascii();
                return Err(unread(&format!("a DDS image of the format {name}")));
            }
        };
        return blocks(words, [width, height], alpha);
    }
    let bits = words.long(88)? as usize;
    if traits & IS_COLOR == 0 || !matches!(bits, 16 | 24 | 32) {
        return Err(unread("a DDS image that is neither blocks nor colours"));
    }
    let alpha = if traits & HAS_ALPHA == 0 {
        0
    } else {
        words.long(104)?
    };
    let masks = [words.long(92)?, words.long(96)?, words.long(100)?, alpha];
    let part = words.part(PIXELS_AT, width * height * (bits / 8))?;
    let pixels = part
        .chunks_exact(bits / 8)
        .map(|pixel| color(number(pixel), masks));
    Ok(Image {
        width,
        height,
        pixels: pixels.collect(),
    })
}

/// Reads blocks of four by four pixels.
fn blocks(
    words: Words<'_>,
    [width, height]: [usize; 2],
    alpha: Alpha,
) -> Result<Image, ImageProblem> {
    let size = if alpha == Alpha::OneBit { 8 } else { 16 };
    let across = width.div_ceil(4);
    let part = words.part(PIXELS_AT, across * height.div_ceil(4) * size)?;
    let mut pixels = vec![[0; 4]; width * height];
    for (place, block) in part.chunks_exact(size).enumerate() {
        let (left, top) = (place % across * 4, place / across * 4);
        for (own, pixel) in decoded(block, alpha).into_iter().enumerate() {
            let (x, y) = (left + own % 4, top + own / 4);
            if x < width && y < height {
                pixels[y * width + x] = pixel;
            }
        }
    }
    Ok(Image {
        width,
        height,
        pixels,
    })
}

/// Returns the pixels of a block.
fn decoded(block: &[u8], alpha: Alpha) -> [[u8; 4]; 16] {
    let (alphas, colors) = block.split_at(block.len() - 8);
    let ends = [number(&colors[..2]), number(&colors[2..4])];
    let [first, second] = ends.map(|end| color(end, OF_BLOCKS));
    let has_four = alpha != Alpha::OneBit || ends[0] > ends[1];
    let between = |part: u16, of: u16| {
        std::array::from_fn(|i| {
            let sum = u16::from(first[i]) * (of - part) + u16::from(second[i]) * part;
            (sum / of) as u8
        })
    };
    let colors_of = if has_four {
        [first, second, between(1, 3), between(2, 3)]
    } else {
        [first, second, between(1, 2), [0; 4]]
    };
    let choices = number(&colors[4..8]);
    std::array::from_fn(|i| {
        let [red, green, blue, own] = colors_of[(choices >> (2 * i) & 3) as usize];
        let alpha = match alpha {
            Alpha::OneBit => own,
            Alpha::Plain => (alphas[i / 2] >> (4 * (i % 2)) & 15) * 17,
            Alpha::Between => alpha_between(alphas, i),
        };
        [red, green, blue, alpha]
    })
}

/// Returns the alpha of a pixel by two values and the place between them.
fn alpha_between(alphas: &[u8], pixel: usize) -> u8 {
    let [first, second] = [alphas[0], alphas[1]];
    let [low, high] = [number(&alphas[2..5]), number(&alphas[5..8])];
    let half = if pixel < 8 { low } else { high };
    let choice = (half >> (3 * (pixel % 8)) & 7) as u16;
    let between = |part: u16, of: u16| {
        let sum = u16::from(first) * (of - part) + u16::from(second) * part;
        (sum / of) as u8
    };
    match choice {
        0 => first,
        1 => second,
        _ if first > second => between(choice - 1, 7),
        6 => 0,
        7 => 255,
        _ => between(choice - 1, 5),
    }
}
