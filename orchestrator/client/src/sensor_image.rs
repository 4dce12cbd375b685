//! [`pixels`]: images of sensors, whatever their format, as colours.

use images::{PIXELS_MAX, TooFewBytes};
use messages::sensor::Image;

use crate::raster::Raster;

/// Pixels of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Number of pixels in a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Red, green, blue, alpha of each pixel, row by row from the top.
    pub pixels: Vec<[u8; 4]>,
}

impl Pixels {
    /// Returns the image without alpha.
    pub fn raster(&self) -> Option<Raster> {
        let opaque = |[red, green, blue, _]: &[u8; 4]| [*red, *green, *blue];
        let pixels = self.pixels.iter().map(opaque).collect();
        Raster::new(self.width, self.height, pixels)
    }
}

/// Reason why an image has no pixels that can be shown.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ImageError {
    /// It has no pixels, or more than are shown.
    #[error("the image has {0} x {1} pixels")]
    Size(u32, u32),
    /// Its bytes are not as many as its size says.
    #[error(transparent)]
    Bytes(#[from] TooFewBytes),
    /// Its pixels are written in another way.
    #[error("images of the format {0:?} cannot be shown")]
    Format(String),
}

/// Returns the pixels of an image in colours. Distances and temperatures are from black, the least
/// of the image, to white; what is not finite is black.
///
/// # Errors
/// Fails if the image has no pixels, too many, fewer than it says, or in an unknown format.
pub fn pixels(image: &Image) -> Result<Pixels, ImageError> {
    let (width, height) = (image.width as usize, image.height as usize);
    let count = width.saturating_mul(height);
    if count == 0 || count > PIXELS_MAX {
        return Err(ImageError::Size(image.width, image.height));
    }
    let grey = |value: u8| [value, value, value, 255];
    let format = image.pixel_format_type.as_str();
    let pixels: Vec<[u8; 4]> = match format {
        "RGB_INT8" => samples(image, 3)?
            .map(|p| [p[0], p[1], p[2], 255])
            .collect(),
        "BGR_INT8" => samples(image, 3)?
            .map(|p| [p[2], p[1], p[0], 255])
            .collect(),
        "RGBA_INT8" => samples(image, 4)?
            .map(|p| [p[0], p[1], p[2], p[3]])
            .collect(),
        "BGRA_INT8" => samples(image, 4)?
            .map(|p| [p[2], p[1], p[0], p[3]])
            .collect(),
        "L_INT8" | "BAYER_RGGB8" | "BAYER_BGGR8" | "BAYER_GBRG8" | "BAYER_GRBG8" => {
            samples(image, 1)?.map(|p| grey(p[0])).collect()
        }
        "L_INT16" => {
            let value = |p: &[u8]| f32::from(u16::from_le_bytes([p[0], p[1]]));
            stretched(samples(image, 2)?.map(value))
        }
        "R_FLOAT32" => {
            let value = |p: &[u8]| f32::from_le_bytes([p[0], p[1], p[2], p[3]]);
            stretched(samples(image, 4)?.map(value))
        }
        other => return Err(ImageError::Format(other.to_owned())),
    };
    Ok(Pixels {
        width,
        height,
        pixels,
    })
}

/// Returns the bytes of each pixel, row by row.
fn samples(image: &Image, bytes: usize) -> Result<impl Iterator<Item = &[u8]>, TooFewBytes> {
    let rows = images::rows(image, bytes)?;
    Ok(rows.flat_map(move |row| row.chunks_exact(bytes)))
}

/// Returns pixels from black for the least finite value to white for the greatest.
fn stretched(values: impl Iterator<Item = f32>) -> Vec<[u8; 4]> {
    let values: Vec<f32> = values.collect();
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (
        finite().fold(f32::MAX, f32::min),
        finite().fold(f32::MIN, f32::max),
    );
    let scale = if most > least {
        255.0 / (most - least)
    } else {
        0.0
    };
    let pixel = |value: &f32| {
        let grey = if value.is_finite() {
            ((value - least) * scale + 0.5) as u8
        } else {
            0
        };
        [grey, grey, grey, 255]
    };
    values.iter().map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(format: &str, step: u32, data: &[u8]) -> Image {
        Image {
            width: 2,
            height: 1,
            step,
            pixel_format_type: format.to_owned(),
            data: data.to_vec().into(),
            ..Image::default()
        }
    }

    #[test]
    fn images_of_all_sensors_become_pixels() {
        let pixels = |image: &Image| pixels(image).map(|shown| shown.pixels);
        let colors = image("RGB_INT8", 6, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(pixels(&colors).unwrap(), [[1, 2, 3, 255], [4, 5, 6, 255]]);
        let turned = image("BGR_INT8", 0, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(pixels(&turned).unwrap()[0], [3, 2, 1, 255]);
        let grey = image("L_INT16", 4, &[0, 1, 0, 2]);
        assert_eq!(pixels(&grey).unwrap(), [[0, 0, 0, 255], [255; 4]]);
        let depths = [1.0_f32.to_le_bytes(), f32::INFINITY.to_le_bytes()].concat();
        let depth = image("R_FLOAT32", 8, &depths);
        assert_eq!(pixels(&depth).unwrap()[1], [0, 0, 0, 255]);
    }

    #[test]
    fn images_that_lie_about_their_size_are_refused() {
        let short = image("RGB_INT8", 6, &[1, 2, 3]);
        assert_eq!(pixels(&short), Err(ImageError::Bytes(TooFewBytes)));
        let wide = image("L_INT8", u32::MAX, &[1, 2]);
        assert!(pixels(&wide).is_ok(), "the last row may be short");
        let mut empty = image("L_INT8", 2, &[]);
        empty.height = 0;
        assert_eq!(pixels(&empty), Err(ImageError::Size(2, 0)));
        let mut huge = image("L_INT8", 2, &[]);
        (huge.width, huge.height) = (u32::MAX, u32::MAX);
        assert!(matches!(pixels(&huge), Err(ImageError::Size(..))));
        let other = image("RGB_FLOAT32", 2, &[]);
        assert!(matches!(pixels(&other), Err(ImageError::Format(_))));
    }
}
