//! The graphics protocol of kitty: raw pixels in base64, in pieces of at most 4096 characters.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use client::raster::Raster;

/// The most characters of a piece; all but the last have a multiple of 4.
const PIECE: usize = 4096;
/// Number of the image, so that another one replaces it.
const IMAGE: u32 = 7261;

/// Returns an image over so many cells; the cursor stays, and the terminal answers nothing.
pub(super) fn text(image: &Raster, columns: usize, rows: usize) -> String {
    let data = STANDARD.encode(image.pixels().as_flattened());
    let (width, height) = (image.width(), image.height());
    let mut text = String::new();
    let mut pieces = data.as_bytes().chunks(PIECE).peekable();
    let mut is_first = true;
    while let Some(piece) = pieces.next() {
        let more = u8::from(pieces.peek().is_some());
        text += "\u{1b}_G";
        if is_first {
            let _ = write!(
                text,
                "a=T,f=24,i={IMAGE},p=1,q=2,C=1,s={width},v={height},c={columns},r={rows},"
            );
        }
        is_first = false;
        let _ = write!(text, "m={more};");
        text.extend(piece.iter().map(|byte| char::from(*byte)));
        text += "\u{1b}\\";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_come_back_from_the_pieces() {
        let pixels: Vec<[u8; 3]> = (0..60 * 50_u32)
            .map(|n| [n as u8, (n >> 8) as u8, 7])
            .collect();
        let image = Raster::new(60, 50, pixels.clone()).unwrap();
        let text = text(&image, 8, 4);
        let pieces: Vec<&str> = text.split_terminator("\u{1b}\\").collect();
        assert!(pieces.len() > 2);
        let mut data = String::new();
        for (index, piece) in pieces.iter().enumerate() {
            let (keys, part) = piece
                .strip_prefix("\u{1b}_G")
                .unwrap()
                .split_once(';')
                .unwrap();
            let is_last = index + 1 == pieces.len();
            assert!(
                keys.ends_with(if is_last { "m=0" } else { "m=1" }),
                "{keys}"
            );
            assert!(part.len() <= PIECE && (is_last || part.len() % 4 == 0));
            data += part;
        }
        assert!(pieces[0].contains("s=60,v=50,c=8,r=4,"));
        assert_eq!(STANDARD.decode(data).unwrap(), pixels.as_flattened());
    }
}
