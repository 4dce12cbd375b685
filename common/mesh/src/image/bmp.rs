//! Windows bitmaps, as texture files of older models are: uncompressed, also with a palette.

use super::words::{Words, color, number, unread};
use super::{Image, ImageProblem, checked};

/// Header of the file, before that of the bitmap.
const FILE_HEADER_BYTES: usize = 14;

/// Masks of red, green and blue where the header has none.
const OF_16_BITS: [u32; 4] = [0x7c00, 0x03e0, 0x001f, 0];
const OF_32_BITS: [u32; 4] = [0x00ff_0000, 0x0000_ff00, 0x0000_00ff, 0];

/// Reads a bitmap.
pub(super) fn read(bytes: &[u8]) -> Result<Image, ImageProblem> {
    let words = Words(bytes);
    let first = words.long(10)? as usize;
    let header = words.long(FILE_HEADER_BYTES)? as usize;
    if header < 40 {
        return Err(unread("a bitmap with an OS/2 header"));
    }
    let [width, height] = [words.long(18)?, words.long(22)?].map(u32::cast_signed);
    let is_from_top = height < 0;
    let width = usize::try_from(width).unwrap_or(0);
    let (width, height) = checked(width, height.unsigned_abs() as usize)?;
    let bits = usize::from(words.word(28)?);
    let compression = words.long(30)?;
    let masks = match (compression, bits) {
        (0, 16) => OF_16_BITS,
        (0, 1 | 2 | 4 | 8 | 24 | 32) => OF_32_BITS,
        // Three masks stand behind the header of 40 bytes, and within all larger ones.
        (3 | 6, 16 | 32) => {
            let alpha = if header >= 56 { words.long(66)? } else { 0 };
            [words.long(54)?, words.long(58)?, words.long(62)?, alpha]
        }
        _ => {
            return Err(unread(&format!(
                "a bitmap with {bits} bits and compression {compression}"
            )));
        }
    };
    let palette = FILE_HEADER_BYTES + header;
    let stride = (width * bits).div_ceil(32) * 4;
    let mut pixels = Vec::with_capacity(width * height);
    for row in 0..height {
        let row = if is_from_top { row } else { height - 1 - row };
        let start = row
            .checked_mul(stride)
            .and_then(|row| row.checked_add(first));
        let line = words.part(start.unwrap_or(usize::MAX), stride)?;
        for x in 0..width {
            let own = if bits < 8 {
                let shift = 8 - bits - x * bits % 8;
                u32::from(line[x * bits / 8] >> shift) & ((1 << bits) - 1)
            } else {
                let size = bits / 8;
                number(&line[x * size..(x + 1) * size])
            };
            let own = if bits <= 8 {
                number(words.part(palette + 4 * own as usize, 4)?)
            } else {
                own
            };
            pixels.push(color(own, masks));
        }
    }
    Ok(Image {
        width,
        height,
        pixels,
    })
}
