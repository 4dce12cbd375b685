//! Half blocks: two pixels in each cell, one above the other.

use std::fmt::Write;

use client::raster::Raster;

/// Characters from dark to bright, for terminals without colours.
const SHADES: &[u8] = b" .:-=+*#%@";
/// Brightness of the levels of the 6 x 6 x 6 colours in the table of 256.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
/// The first of those colours in the table, and the first of its 24 greys.
const CUBE: u8 = 16;
const GREYS: u8 = 232;

/// Colours of a terminal's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// All of 24 bits.
    Many,
    /// A table of 256.
    Table,
    /// None: pixels are characters by their brightness.
    None,
}

impl Colors {
    /// Returns those that the environment of a terminal tells of.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        if is_set("NO_COLOR") || matches!(term.as_str(), "" | "dumb") {
            return Self::None;
        }
        let many = variable("COLORTERM").unwrap_or_default();
        let is_many = matches!(many.as_str(), "truecolor" | "24bit") || term.ends_with("-direct");
        if is_many { Self::Many } else { Self::Table }
    }
}

/// Returns the rows of an image, separated by ends of lines that leave the cursor's column alone.
pub(super) fn text(image: &Raster, colors: Colors) -> String {
    let mut text = String::new();
    for row in (0..image.height()).step_by(2) {
        if row > 0 {
            text += "\r\n";
        }
        let above = image.row(row);
        let below = (row + 1 < image.height()).then(|| image.row(row + 1));
        match colors {
            Colors::None => text.extend(shades(above, below)),
            Colors::Many | Colors::Table => colored(&mut text, above, below, colors),
        }
    }
    text
}

fn colored(text: &mut String, above: &[[u8; 3]], below: Option<&[[u8; 3]]>, colors: Colors) {
    let mut last = None;
    for (index, upper) in above.iter().enumerate() {
        let pair = (*upper, below.map(|row| row[index]));
        if last != Some(pair) {
            set(text, 38, pair.0, colors);
            if let Some(lower) = pair.1 {
                set(text, 48, lower, colors);
            }
            last = Some(pair);
        }
        text.push('▀');
    }
    *text += "\u{1b}[0m";
}

/// Sets the colour of the text (38) or of what is behind it (48).
fn set(text: &mut String, which: u8, color: [u8; 3], colors: Colors) {
    let [red, green, blue] = color;
    let _ = match colors {
        Colors::Many => write!(text, "\u{1b}[{which};2;{red};{green};{blue}m"),
        Colors::Table | Colors::None => write!(text, "\u{1b}[{which};5;{}m", in_table(color)),
    };
}

/// Returns the colour of the table of 256 that is nearest.
pub(crate) fn in_table(color: [u8; 3]) -> u8 {
    let level = |value: u8| {
        let distance = |index: &usize| value.abs_diff(LEVELS[*index]);
        (0..LEVELS.len()).min_by_key(distance).unwrap_or(0)
    };
    let levels = color.map(level);
    let cube = levels.map(|level| LEVELS[level]);
    let mean = color.iter().map(|value| u16::from(*value)).sum::<u16>() / 3;
    // Greys go from 8 to 238 in steps of 10.
    let grey_index = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = [8 + 10 * grey_index; 3];
    let distance = |other: [u8; 3]| -> u32 {
        let differences = color
            .iter()
            .zip(other)
            .map(|(one, other)| one.abs_diff(other));
        differences.map(|one| u32::from(one) * u32::from(one)).sum()
    };
    if distance(grey) < distance(cube) {
        return GREYS + grey_index;
    }
    levels.iter().fold(0, |sum, level| sum * 6 + *level as u8) + CUBE
}

fn shades<'p>(above: &'p [[u8; 3]], below: Option<&'p [[u8; 3]]>) -> impl Iterator<Item = char> {
    above
        .iter()
        .enumerate()
        .map(move |(index, upper)| shade(*upper, below.map_or(*upper, |row| row[index])))
}

/// Returns the character that is as bright as two pixels.
pub(crate) fn shade(upper: [u8; 3], lower: [u8; 3]) -> char {
    // Of green the eye sees most, of blue least.
    let brightness = |[red, green, blue]: [u8; 3]| {
        (u32::from(red) * 54 + u32::from(green) * 183 + u32::from(blue) * 19) >> 8
    };
    let mean = brightness(upper).midpoint(brightness(lower));
    let shade = mean as usize * SHADES.len() / 256;
    char::from(SHADES[shade.min(SHADES.len() - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_those_of_the_environment() {
        let check = |variables: &[(&str, &str)], expected| {
            let find = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(Colors::from_environment(find), expected, "{variables:?}");
        };
        check(&[("TERM", "xterm-256color")], Colors::Table);
        check(
            &[("TERM", "xterm"), ("COLORTERM", "truecolor")],
            Colors::Many,
        );
        check(
            &[
                ("TERM", "xterm"),
                ("COLORTERM", "truecolor"),
                ("NO_COLOR", "1"),
            ],
            Colors::None,
        );
        check(&[("TERM", "dumb"), ("COLORTERM", "24bit")], Colors::None);
        check(&[], Colors::None);
    }

    #[test]
    fn colors_of_the_table_are_the_nearest() {
        for (color, expected) in [
            ([0, 0, 0], 16),
            ([255, 255, 255], 231),
            ([255, 0, 0], 196),
            ([0, 95, 135], 24),
            ([128, 128, 128], 244),
            ([9, 8, 8], 232),
        ] {
            assert_eq!(in_table(color), expected, "{color:?}");
        }
    }

    #[test]
    fn pixels_are_half_cells() {
        let pixels = vec![
            [255, 0, 0],
            [0; 3],
            [0, 255, 0],
            [0; 3],
            [0, 0, 255],
            [255; 3],
        ];
        let image = Raster::new(2, 3, pixels).unwrap();
        let text = text(&image, Colors::Many);
        let lines: Vec<&str> = text.split("\r\n").collect();
        let first =
            "\u{1b}[38;2;255;0;0m\u{1b}[48;2;0;255;0m▀\u{1b}[38;2;0;0;0m\u{1b}[48;2;0;0;0m▀";
        assert_eq!(lines[0], format!("{first}\u{1b}[0m"));
        let second = "\u{1b}[38;2;0;0;255m▀\u{1b}[38;2;255;255;255m▀\u{1b}[0m";
        assert_eq!(lines[1], second);
        assert_eq!(super::text(&image, Colors::None), "= \r\n @");
    }
}
