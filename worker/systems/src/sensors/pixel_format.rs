//! [`PixelFormat`]: how the pixels of an image are written.

use messages::Header;
use messages::sensor::Image;

use crate::ConfigureError;

/// Layout of the pixels of an image in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PixelFormat {
    /// Red, green, blue, a byte each.
    Rgb8,
    /// Blue, green, red, a byte each.
    Bgr8,
    /// Brightness as a byte.
    Grey8,
    /// Brightness as two bytes, the lesser one first.
    Grey16,
    /// One of three colours in each pixel: those of a square of four, by rows.
    Bayer([usize; 4]),
}

/// Names in SDF and in messages.
const NAMES: [(&[&str], &str, PixelFormat); 8] = [
    (&["R8G8B8", "RGB_INT8"], "RGB_INT8", PixelFormat::Rgb8),
    (&["B8G8R8", "BGR_INT8"], "BGR_INT8", PixelFormat::Bgr8),
    (&["L8", "L_INT8"], "L_INT8", PixelFormat::Grey8),
    (
        &["L16", "L_INT16", "L_UINT16"],
        "L_INT16",
        PixelFormat::Grey16,
    ),
    (
        &["BAYER_RGGB8"],
        "BAYER_RGGB8",
        PixelFormat::Bayer([0, 1, 1, 2]),
    ),
    (
        &["BAYER_BGGR8", "BAYER_BGGR"],
        "BAYER_BGGR8",
        PixelFormat::Bayer([2, 1, 1, 0]),
    ),
    (
        &["BAYER_GBRG8"],
        "BAYER_GBRG8",
        PixelFormat::Bayer([1, 2, 0, 1]),
    ),
    (
        &["BAYER_GRBG8"],
        "BAYER_GRBG8",
        PixelFormat::Bayer([1, 0, 2, 1]),
    ),
];

impl PixelFormat {
    /// Returns the format that SDF names so.
    ///
    /// # Errors
    /// Fails if it is none that is written.
    pub(super) fn read(name: &str) -> Result<Self, ConfigureError> {
        let found = NAMES.iter().find(|(names, ..)| names.contains(&name));
        found.map(|(.., format)| *format).ok_or_else(|| {
            let known: Vec<&str> = NAMES.iter().map(|(names, ..)| names[0]).collect();
            let known = known.join(", ");
            ConfigureError(format!("<format> is {name:?}; there are {known}"))
        })
    }

    /// Returns an image of pixels, red, green, blue and alpha, by rows from the top left.
    pub(super) fn image(self, header: Header, size: [u32; 2], pixels: &[[u8; 4]]) -> Image {
        let [width, height] = size;
        let bytes: Vec<u8> = match self {
            Self::Rgb8 => pixels
                .iter()
                .flat_map(|[r, g, b, _]| [*r, *g, *b])
                .collect(),
            Self::Bgr8 => pixels
                .iter()
                .flat_map(|[r, g, b, _]| [*b, *g, *r])
                .collect(),
            Self::Grey8 => pixels.iter().copied().map(brightness).collect(),
            Self::Grey16 => {
                let values = pixels
                    .iter()
                    .map(|pixel| u16::from(brightness(*pixel)) * 257);
                values.flat_map(u16::to_le_bytes).collect()
            }
            Self::Bayer(square) => {
                let numbered = pixels.iter().enumerate();
                let channel = |place: usize| {
                    let (row, column) = (place / width as usize, place % width as usize);
                    square[row % 2 * 2 + column % 2]
                };
                numbered
                    .map(|(place, pixel)| pixel[channel(place)])
                    .collect()
            }
        };
        let named = NAMES.iter().find(|(.., format)| *format == self);
        Image {
            header,
            width,
            height,
            step: bytes.len() as u32 / height.max(1),
            pixel_format_type: named.map_or("", |(_, name, _)| name).to_owned(),
            data: bytes.into(),
        }
    }
}

/// Returns how bright a pixel is, with the weights of ITU-R BT.601.
fn brightness([red, green, blue, _]: [u8; 4]) -> u8 {
    let sum = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    ((sum + 500) / 1000) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_write_their_bytes() {
        let pixels = [
            [10, 20, 30, 255],
            [40, 50, 60, 255],
            [70, 80, 90, 255],
            [1, 2, 3, 255],
        ];
        let bytes = |name: &str| {
            let format = PixelFormat::read(name).unwrap();
            let image = format.image(Header::at(0), [2, 2], &pixels);
            (image.pixel_format_type, image.step, image.data.into_vec())
        };
        assert_eq!(bytes("R8G8B8").2[..4], [10, 20, 30, 40]);
        assert_eq!(bytes("B8G8R8").2[..4], [30, 20, 10, 60]);
        assert_eq!(bytes("L8"), ("L_INT8".to_owned(), 2, vec![18, 48, 78, 2]));
        assert_eq!(bytes("L16").2[..4], [18, 18, 48, 48]);
        assert_eq!(bytes("L16").1, 4);
        assert_eq!(bytes("BAYER_RGGB8").2, [10, 50, 80, 3]);
        assert!(PixelFormat::read("R_FLOAT16").is_err());
    }
}
