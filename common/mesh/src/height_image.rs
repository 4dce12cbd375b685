//! [`read_height_grid`]: images of the ground from above to [`HeightGrid`]s.
//!
//! As in Gazebo, heights are brightness over that of the brightest sample, so that an image that
//! never reaches white still reaches the full height.

use std::io::Cursor;

use png::{ColorType, Transformations};
use thiserror::Error;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::height_grid::HeightGrid;

/// The most samples in one grid.
pub const HEIGHT_SAMPLES_MAX: usize = 32 << 20;

/// Weights of red, green and blue in brightness (ITU-R BT.601).
const BRIGHTNESS: [f32; 3] = [0.299, 0.587, 0.114];

/// Reads a PNG or JPEG image as heights; the format is told by content.
///
/// Colours count by their brightness, transparency does not count.
///
/// # Errors
/// Fails if the format is another one, the image is broken, empty or too large.
pub fn read_height_grid(bytes: &[u8], name: &str) -> Result<HeightGrid, ReadImageError> {
    let problem = |problem| ReadImageError {
        name: name.to_owned(),
        problem,
    };
    let grid = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        read_png(bytes)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        read_jpeg(bytes)
    } else if bytes.starts_with(b"II*\0") || bytes.starts_with(b"MM\0*") {
        Err(ImageProblem::ElevationModel)
    } else {
        Err(ImageProblem::UnknownFormat)
    };
    grid.map(stretched).map_err(problem)
}

/// Reason why an image cannot be read.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{name}: {problem}")]
pub struct ReadImageError {
    /// The file.
    pub name: String,
    /// Cause of the error.
    pub problem: ImageProblem,
}

/// Problem of an image.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ImageProblem {
    /// A TIFF image, such as a digital elevation model.
    #[error("TIFF and digital elevation models are not read; convert it to a 16-bit grey PNG")]
    ElevationModel,
    /// None of the formats that are read.
    #[error("no image of a format that is read; convert it to PNG")]
    UnknownFormat,
    /// The image is not what its format demands.
    #[error("{message}")]
    Malformed {
        /// Description of the problem.
        message: String,
    },
    /// A bound is exceeded.
    #[error("{columns} x {rows} samples are more than {HEIGHT_SAMPLES_MAX}; scale the image down")]
    TooLarge {
        /// Its width in samples.
        columns: usize,
        /// Its height in samples.
        rows: usize,
    },
}

impl ImageProblem {
    pub(crate) fn malformed(error: &dyn std::fmt::Display) -> Self {
        Self::Malformed {
            message: error.to_string(),
        }
    }
}

fn read_png(bytes: &[u8]) -> Result<HeightGrid, ImageProblem> {
    let limits = png::Limits {
        bytes: 16 * HEIGHT_SAMPLES_MAX,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder
        .read_info()
        .map_err(|e| ImageProblem::malformed(&e))?;
    let (width, height) = reader.info().size();
    let (columns, rows) = checked_size(width as usize, height as usize)?;
    let (color, depth) = reader.output_color_type();
    let size = reader.output_buffer_size();
    let size = size.ok_or(ImageProblem::TooLarge { columns, rows })?;
    let mut samples = vec![0; size];
    reader
        .next_frame(&mut samples)
        .map_err(|e| ImageProblem::malformed(&e))?;
    let wide = depth == png::BitDepth::Sixteen;
    let channel = |bytes: &[u8]| match bytes {
        [high, low, ..] if wide => f32::from(u16::from_be_bytes([*high, *low])) / 65_535.0,
        [byte, ..] => f32::from(*byte) / 255.0,
        [] => 0.0,
    };
    let width = if wide { 2 } else { 1 };
    let brightness = |pixel: &[u8]| match color {
        ColorType::Rgb | ColorType::Rgba => {
            let channels = pixel.chunks_exact(width).zip(BRIGHTNESS);
            channels.map(|(bytes, part)| part * channel(bytes)).sum()
        }
        ColorType::Grayscale | ColorType::GrayscaleAlpha | ColorType::Indexed => channel(pixel),
    };
    let pixels = samples.chunks_exact(width * color.samples());
    Ok(HeightGrid {
        columns,
        rows,
        heights: pixels.take(columns * rows).map(brightness).collect(),
    })
}

fn read_jpeg(bytes: &[u8]) -> Result<HeightGrid, ImageProblem> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::Luma);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder
        .decode_headers()
        .map_err(|e| ImageProblem::malformed(&e))?;
    let info = decoder.info().ok_or(ImageProblem::UnknownFormat)?;
    let (columns, rows) = checked_size(info.width.into(), info.height.into())?;
    let samples = decoder.decode().map_err(|e| ImageProblem::malformed(&e))?;
    if samples.len() != columns * rows {
        return Err(ImageProblem::malformed(
            &"its colours cannot be read as brightness",
        ));
    }
    let heights = samples.iter().map(|byte| f32::from(*byte) / 255.0);
    Ok(HeightGrid {
        columns,
        rows,
        heights: heights.collect(),
    })
}

fn checked_size(columns: usize, rows: usize) -> Result<(usize, usize), ImageProblem> {
    match columns.checked_mul(rows) {
        Some(1..=HEIGHT_SAMPLES_MAX) => Ok((columns, rows)),
        Some(0) => Err(ImageProblem::malformed(&"it has no samples")),
        _ => Err(ImageProblem::TooLarge { columns, rows }),
    }
}

/// Makes the brightest sample 1; an all-black image stays black.
fn stretched(mut grid: HeightGrid) -> HeightGrid {
    let brightest = grid.heights.iter().copied().fold(0.0, f32::max);
    if brightest > 0.0 {
        for height in &mut grid.heights {
            *height /= brightest;
        }
    }
    grid
}

#[cfg(test)]
mod tests;
