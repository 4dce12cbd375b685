//! [`ImageFile`] and [`Image`]: textures as they come, and as they are drawn.

mod bmp;
mod dds;
mod tga;
mod words;

use std::io::Cursor;

use png::{ColorType, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::height_image::ImageProblem;

/// The most bytes of an image file.
pub const IMAGE_BYTES_MAX: usize = 32 << 20;

/// The most pixels of an image.
const PIXELS_MAX: usize = 32 << 20;

/// An image file of a format that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFile {
    /// Its format.
    pub format: ImageFormat,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A format of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

/// Pixels of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Number of pixels in a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Red, green, blue, alpha of each pixel, row by row from the top.
    pub pixels: Vec<[u8; 4]>,
}

impl ImageFile {
    /// Takes a PNG or JPEG file whose header says what can be drawn, or an image in TGA, BMP or
    /// DDS, of which it makes a PNG file; the format is told by content.
    ///
    /// # Errors
    /// Fails if the format is another one, the header is broken, or the image is too large.
    pub fn new(bytes: Vec<u8>) -> Result<Self, ImageProblem> {
        if bytes.len() > IMAGE_BYTES_MAX {
            let message = format!("it has more than {IMAGE_BYTES_MAX} bytes");
            return Err(ImageProblem::Malformed { message });
        }
        let format = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            ImageFormat::Png
        } else if bytes.starts_with(b"\xff\xd8\xff") {
            ImageFormat::Jpeg
        } else {
            let read = if bytes.starts_with(b"DDS ") {
                dds::read
            } else if bytes.starts_with(b"BM") {
                bmp::read
            } else if tga::is_one(&bytes) {
                tga::read
            } else {
                return Err(ImageProblem::UnknownFormat);
            };
            return Ok(Self {
                format: ImageFormat::Png,
                bytes: read(&bytes)?.to_png(),
            });
        };
        let own = Self { format, bytes };
        own.size()?;
        Ok(own)
    }

    /// Returns width and height in pixels, as the header says.
    fn size(&self) -> Result<(usize, usize), ImageProblem> {
        match self.format {
            ImageFormat::Png => {
                let reader = self.png()?;
                let (width, height) = reader.info().size();
                checked(width as usize, height as usize)
            }
            ImageFormat::Jpeg => {
                let mut decoder = self.jpeg();
                let headers = decoder.decode_headers();
                headers.map_err(|error| ImageProblem::malformed(&error))?;
                let info = decoder.info().ok_or(ImageProblem::UnknownFormat)?;
                checked(info.width.into(), info.height.into())
            }
        }
    }

    /// Decodes the image, to the same bits on any machine.
    ///
    /// # Errors
    /// Fails if it is broken.
    pub fn decode(&self) -> Result<Image, ImageProblem> {
        let (width, height) = self.size()?;
        let pixels = match self.format {
            ImageFormat::Png => self.decode_png()?,
            ImageFormat::Jpeg => {
                let samples = self.jpeg().decode();
                let samples = samples.map_err(|error| ImageProblem::malformed(&error))?;
                let pixels = samples.as_chunks::<3>().0.iter();
                pixels.map(|[r, g, b]| [*r, *g, *b, 255]).collect()
            }
        };
        if pixels.len() != width * height {
            let message = "it has fewer pixels than its header says".to_owned();
            return Err(ImageProblem::Malformed { message });
        }
        Ok(Image {
            width,
            height,
            pixels,
        })
    }

    fn png(&self) -> Result<png::Reader<Cursor<&[u8]>>, ImageProblem> {
        let limits = png::Limits {
            bytes: 8 * PIXELS_MAX,
        };
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(&self.bytes[..]), limits);
        decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
        decoder
            .read_info()
            .map_err(|error| ImageProblem::malformed(&error))
    }

    fn jpeg(&self) -> JpegDecoder<ZCursor<&[u8]>> {
        // Vector instructions round otherwise than plain ones.
        let options = DecoderOptions::default()
            .jpeg_set_out_colorspace(ColorSpace::RGB)
            .set_use_unsafe(false);
        JpegDecoder::new_with_options(ZCursor::new(&self.bytes[..]), options)
    }

    fn decode_png(&self) -> Result<Vec<[u8; 4]>, ImageProblem> {
        let mut reader = self.png()?;
        let (color, _) = reader.output_color_type();
        let size = reader.output_buffer_size();
        let size = size.ok_or(ImageProblem::UnknownFormat)?;
        let mut samples = vec![0; size];
        reader
            .next_frame(&mut samples)
            .map_err(|error| ImageProblem::malformed(&error))?;
        let pixel = |part: &[u8]| match *part {
            [grey] => [grey, grey, grey, 255],
            [grey, alpha] => [grey, grey, grey, alpha],
            [red, green, blue] => [red, green, blue, 255],
            [red, green, blue, alpha, ..] => [red, green, blue, alpha],
            [] => [0; 4],
        };
        let channels = match color {
            ColorType::Grayscale | ColorType::Indexed => 1,
            ColorType::GrayscaleAlpha => 2,
            ColorType::Rgb => 3,
            ColorType::Rgba => 4,
        };
        Ok(samples.chunks_exact(channels).map(pixel).collect())
    }
}

impl Image {
    /// Returns the image as a PNG file.
    ///
    /// # Panics
    /// Panics if it has no pixels, or another number of them than its size says.
    pub fn to_png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(ColorType::Rgba);
        let writer = encoder.write_header();
        let samples = self.pixels.as_flattened();
        writer
            .and_then(|mut writer| {
                writer.write_image_data(samples)?;
                writer.finish()
            })
            .expect("an image has as many pixels as its size says, and memory takes all bytes");
        bytes
    }
}

fn checked(width: usize, height: usize) -> Result<(usize, usize), ImageProblem> {
    match width.checked_mul(height) {
        Some(1..=PIXELS_MAX) => Ok((width, height)),
        Some(0) => Err(ImageProblem::malformed(&"it has no pixels")),
        _ => {
            let message = format!("{width} x {height} pixels are more than {PIXELS_MAX}");
            Err(ImageProblem::Malformed { message })
        }
    }
}

#[cfg(test)]
mod formats;

#[cfg(test)]
mod tests {
    use super::*;

    fn png(color: ColorType, width: u32, samples: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, 1);
        encoder.set_color(color);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(samples).unwrap();
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn pixels_of_all_kinds_of_png_have_four_channels() {
        let check = |color, samples: &[u8], expect: [u8; 4]| {
            let image = ImageFile::new(png(color, 1, samples)).unwrap();
            assert_eq!(image.decode().unwrap().pixels, [expect]);
        };
        check(ColorType::Grayscale, &[7], [7, 7, 7, 255]);
        check(ColorType::GrayscaleAlpha, &[7, 8], [7, 7, 7, 8]);
        check(ColorType::Rgb, &[1, 2, 3], [1, 2, 3, 255]);
        check(ColorType::Rgba, &[1, 2, 3, 4], [1, 2, 3, 4]);
    }

    #[test]
    fn files_that_are_no_images_are_refused() {
        let refused = |bytes: &[u8], part: &str| {
            let error = ImageFile::new(bytes.to_vec()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        refused(b"root:x:0:0:", "no image of a format that is read");
        refused(b"\x89PNG\r\n\x1a\n", "");
        refused(b"\xff\xd8\xff\xe0", "");
        let whole = png(ColorType::Rgb, 1, &[1, 2, 3]);
        let cut = ImageFile::new(whole[..whole.len() - 20].to_vec()).unwrap();
        assert!(cut.decode().is_err());
    }
}
