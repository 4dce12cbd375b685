//! Sixels (DEC STD 070): bands of six rows, one pass for each colour in a band.

use std::collections::BTreeMap;
use std::fmt::Write;

use client::raster::Raster;

/// Levels of each of red, green and blue.
const LEVELS: usize = 6;
/// Rows of a band.
const BAND: usize = 6;
/// Thresholds of ordered dithering, in sixteenths.
const DITHER: [[usize; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
/// The character of no pixel; the bits of the six rows are added to it.
const EMPTY: u8 = b'?';
/// The fewest equal characters that are written as their number.
const RUN_MIN: usize = 4;

/// Returns an image; the cursor moves as the terminal has it.
pub(super) fn text(image: &Raster) -> String {
    let mut text = String::from("\u{1b}P0;1;0q");
    let _ = write!(text, "\"1;1;{};{}", image.width(), image.height());
    let percent = |level: usize| level * 100 / (LEVELS - 1);
    for color in 0..LEVELS.pow(3) {
        let [red, green, blue] = [36, 6, 1].map(|place| percent(color / place % LEVELS));
        let _ = write!(text, "#{color};2;{red};{green};{blue}");
    }
    for top in (0..image.height()).step_by(BAND) {
        if top > 0 {
            text.push('-');
        }
        let mut is_first = true;
        for (color, bits) in band(image, top) {
            if !std::mem::take(&mut is_first) {
                text.push('$');
            }
            let _ = write!(text, "#{color}");
            runs(&mut text, &bits);
        }
    }
    text + "\u{1b}\\"
}

/// Returns the bits of each colour in a band, column by column.
fn band(image: &Raster, top: usize) -> BTreeMap<usize, Vec<u8>> {
    let mut colors: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let rows = (image.height() - top).min(BAND);
    for offset in 0..rows {
        for (x, pixel) in image.row(top + offset).iter().enumerate() {
            let threshold = DITHER[(top + offset) % 4][x % 4];
            let color = pixel
                .iter()
                .fold(0, |sum, value| sum * LEVELS + level(*value, threshold));
            let bits = colors
                .entry(color)
                .or_insert_with(|| vec![0; image.width()]);
            bits[x] |= 1 << offset;
        }
    }
    colors
}

/// Returns the level of a value; between two of them the threshold decides.
fn level(value: u8, threshold: usize) -> usize {
    let scaled = usize::from(value) * (LEVELS - 1) * 16;
    (scaled + threshold * 255 + 127) / (255 * 16)
}

/// Writes bits as characters, repeated ones by their number; trailing empty ones are left out.
fn runs(text: &mut String, bits: &[u8]) {
    let mut rest = bits;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|bits| *bits == first).count();
        rest = &rest[count..];
        if *first == 0 && rest.is_empty() {
            return;
        }
        let character = char::from(EMPTY + first);
        if count >= RUN_MIN {
            let _ = write!(text, "!{count}{character}");
        } else {
            text.extend(std::iter::repeat_n(character, count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the bands of a text, and returns the level of each colour in each pixel.
    fn decoded(text: &str, width: usize, height: usize) -> Vec<Option<usize>> {
        let body = text
            .strip_prefix("\u{1b}P0;1;0q")
            .unwrap()
            .strip_suffix("\u{1b}\\")
            .unwrap();
        let start = body.find("#215;2;100;100;100").unwrap() + "#215;2;100;100;100".len();
        let mut pixels = vec![None; width * height];
        let (mut top, mut x, mut color) = (0, 0, 0);
        let mut rest = body[start..].chars().peekable();
        let number = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits.parse::<usize>().unwrap()
        };
        while let Some(c) = rest.next() {
            let (count, c) = match c {
                '#' => {
                    color = number(&mut rest);
                    continue;
                }
                '$' => {
                    x = 0;
                    continue;
                }
                '-' => {
                    (top, x) = (top + BAND, 0);
                    continue;
                }
                '!' => (number(&mut rest), rest.next().unwrap()),
                c => (1, c),
            };
            for _ in 0..count {
                let bits = c as u8 - EMPTY;
                for offset in (0..BAND).filter(|offset| bits >> offset & 1 == 1) {
                    pixels[(top + offset) * width + x] = Some(color);
                }
                x += 1;
            }
        }
        pixels
    }

    #[test]
    fn every_pixel_is_drawn_once_in_its_color() {
        let colors = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255; 3], [0; 3]];
        let (width, height) = (13, 15);
        let pixels: Vec<[u8; 3]> = (0..width * height).map(|n| colors[n * n % 5]).collect();
        let image = Raster::new(width, height, pixels.clone()).unwrap();
        let drawn = decoded(&text(&image), width, height);
        let palette = |color: [u8; 3]| {
            color
                .iter()
                .fold(0, |sum, value| sum * LEVELS + usize::from(*value) * 5 / 255)
        };
        for (pixel, drawn) in pixels.iter().zip(drawn) {
            assert_eq!(drawn, Some(palette(*pixel)), "{pixel:?}");
        }
    }

    #[test]
    fn colors_between_two_levels_are_mixed() {
        let image = Raster::filled(8, 8, [25, 25, 25]);
        let drawn = decoded(&text(&image), 8, 8);
        let bright = drawn.iter().filter(|color| **color == Some(43)).count();
        let dark = drawn.iter().filter(|color| **color == Some(0)).count();
        assert!(
            (24..=40).contains(&bright) && bright + dark == 64,
            "{bright} {dark}"
        );
    }
}
