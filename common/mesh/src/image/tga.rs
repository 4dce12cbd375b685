//! Targa images, as Ogre's models have them: grey, colours and palettes, also packed by runs.

use super::words::{Words, color, number};
use super::{Image, ImageProblem, checked};

const HEADER_BYTES: usize = 18;

/// Masks of colours by their bits.
const OF_15_BITS: [u32; 4] = [0x7c00, 0x03e0, 0x001f, 0];
const OF_24_BITS: [u32; 4] = [0x00ff_0000, 0x0000_ff00, 0x0000_00ff, 0];
const ALPHA: u32 = 0xff00_0000;

/// Kinds of pixels.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Palette,
    Color,
    Grey,
}

/// Header of an image.
struct Header {
    kind: Kind,
    is_packed: bool,
    width: usize,
    height: usize,
    /// Bytes of a pixel.
    bytes: usize,
    has_alpha: bool,
    /// True if rows begin at the top, and columns at the right.
    begins_at: [bool; 2],
    /// Number of the first colour of the palette, how many it has, and bits of each.
    palette: [usize; 3],
    palette_at: usize,
    pixels_at: usize,
}

/// Tells whether a file may be one: the format has no mark of its own.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    Header::read(bytes).is_some()
}

/// Reads an image.
pub(super) fn read(bytes: &[u8]) -> Result<Image, ImageProblem> {
    let header = Header::read(bytes).ok_or(ImageProblem::UnknownFormat)?;
    let (width, height) = checked(header.width, header.height)?;
    let words = Words(bytes);
    let mut found = Vec::with_capacity(width * height);
    let mut at = header.pixels_at;
    while found.len() < width * height {
        let left = width * height - found.len();
        if !header.is_packed {
            let part = words.part(at, left * header.bytes)?;
            found.extend(part.chunks_exact(header.bytes).map(number));
            break;
        }
        let lead = words.byte(at)?;
        let count = usize::from(lead & 0x7f) + 1;
        let is_run = lead & 0x80 != 0;
        let own = if is_run { 1 } else { count };
        let part = words.part(at + 1, own * header.bytes)?;
        at += 1 + part.len();
        let pixels = part.chunks_exact(header.bytes).map(number);
        let times = if is_run { count } else { 1 };
        let pixels = pixels.flat_map(|pixel| std::iter::repeat_n(pixel, times));
        found.extend(pixels.take(left));
    }
    let [is_from_top, is_from_right] = header.begins_at;
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        let y = if is_from_top { y } else { height - 1 - y };
        for x in 0..width {
            let x = if is_from_right { width - 1 - x } else { x };
            pixels.push(header.color(words, found[y * width + x])?);
        }
    }
    Ok(Image {
        width,
        height,
        pixels,
    })
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let words = Words(bytes);
        let [id, has_palette, kind] = *words.part(0, 3).ok()? else {
            return None;
        };
        let palette = [3, 5].map(|at| words.word(at).map(usize::from));
        let palette_bits = usize::from(words.byte(7).ok()?);
        let [depth, traits] = *words.part(16, 2).ok()? else {
            return None;
        };
        let is_packed = kind & 8 != 0;
        let kind = match (kind & !8, has_palette, depth) {
            (1, 1, 8 | 16) if matches!(palette_bits, 15 | 16 | 24 | 32) => Kind::Palette,
            (2, 0 | 1, 15 | 16 | 24 | 32) => Kind::Color,
            (3, 0, 8 | 16) => Kind::Grey,
            _ => return None,
        };
        let [first, count] = palette;
        let palette = [first.ok()?, count.ok()?, palette_bits];
        let palette_at = HEADER_BYTES + usize::from(id);
        let [width, height] = [12, 14].map(|at| words.word(at).map(usize::from));
        let (width, height) = (width.ok()?, height.ok()?);
        if width == 0 || height == 0 || traits & 0xc0 != 0 {
            return None;
        }
        Some(Self {
            kind,
            is_packed,
            width,
            height,
            bytes: usize::from(depth).div_ceil(8),
            has_alpha: traits & 0x0f != 0,
            begins_at: [0x20, 0x10].map(|bit| traits & bit != 0),
            palette,
            palette_at,
            pixels_at: palette_at + palette[1] * palette_bits.div_ceil(8),
        })
    }

    fn color(&self, words: Words<'_>, pixel: u32) -> Result<[u8; 4], ImageProblem> {
        let of = |pixel: u32, bytes: usize| match bytes {
            2 => color(pixel, OF_15_BITS),
            4 if self.has_alpha => {
                let [red, green, blue, _] = OF_24_BITS;
                color(pixel, [red, green, blue, ALPHA])
            }
            _ => color(pixel, OF_24_BITS),
        };
        Ok(match self.kind {
            Kind::Color => of(pixel, self.bytes),
            Kind::Grey => {
                let [grey, alpha, ..] = pixel.to_le_bytes();
                let has_alpha = self.bytes == 2 && self.has_alpha;
                [grey, grey, grey, if has_alpha { alpha } else { 255 }]
            }
            Kind::Palette => {
                let [first, count, bits] = self.palette;
                let number_in = (pixel as usize)
                    .checked_sub(first)
                    .filter(|own| *own < count);
                let message = "it has a colour that is not in its palette";
                let own = number_in.ok_or_else(|| ImageProblem::malformed(&message))?;
                let size = bits.div_ceil(8);
                let entry = words.part(self.palette_at + own * size, size)?;
                of(number(entry), size)
            }
        })
    }
}
