//! Images of sensors as JPEG and PNG: [`compressed`] makes a message of such an image, on a topic
//! beside that of the sensor, as `image_transport` of ROS has it.
//!
//! It knows no thread and no socket: whoever hands images on compresses them for those who want it,
//! outside of the step. The same image gives the same bytes on any machine: both encoders count in
//! integers, and what they choose by the processor has the same results.

use std::fmt;
use std::str::FromStr;

use jpeg_encoder::{ColorType as JpegColor, Encoder as JpegEncoder, SamplingFactor};
use messages::foxglove::{COMPRESSED_ENDINGS, CompressedImage};
use messages::sensor::Image;
use messages::{Header, Message, MessageError};
use png::{BitDepth, ColorType as PngColor};
use protocol::TopicMessage;

/// Quality of JPEG where nothing else is asked for.
pub const QUALITY_DEFAULT: u8 = 80;
/// Encoding of compressed distances, in ROS's words: millimetres in 16 bits.
pub const MILLIMETRES: &str = "16UC1";

/// Gazebo's name of pixels that are distances.
const DISTANCES: &str = "R_FLOAT32";
/// The most pixels of an image that is compressed or shown.
pub const PIXELS_MAX: usize = 64 << 20;
/// The greatest distance that 16 bits hold \[mm\].
const DISTANCE_MAX_MM: f64 = 65_535.0;

/// Form in which images are compressed. Values of 16 bits and distances are PNG in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// JPEG of a quality from 1 to 100, whose colours have half the resolution below 90.
    Jpeg(u8),
    /// PNG, which keeps every bit.
    Png,
}

/// Reason why an image is not compressed.
#[derive(Debug, thiserror::Error)]
pub enum CompressError {
    /// The message is none.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// It is a message of another kind.
    #[error("{0} is no kind of images")]
    Kind(String),
    /// It has no pixels, or more than are compressed.
    #[error("the image has {0} x {1} pixels")]
    Size(u32, u32),
    /// Its bytes are not as many as its size says.
    #[error(transparent)]
    Bytes(#[from] TooFewBytes),
    /// Its pixels are written in another way.
    #[error("images of the format {0:?} are not compressed")]
    Format(String),
    /// The encoder of JPEG refuses it.
    #[error("it cannot be written as JPEG")]
    Jpeg(#[from] jpeg_encoder::EncodingError),
    /// The encoder of PNG refuses it.
    #[error("it cannot be written as PNG")]
    Png(#[from] png::EncodingError),
}

/// An image has fewer bytes than its size says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the image has fewer bytes than its size says")]
pub struct TooFewBytes;

/// Reason why a text is no quality of JPEG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no quality from 1 to 100")]
pub struct QualityError(String);

/// Quality of JPEG, from 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality(pub u8);

impl Default for Quality {
    fn default() -> Self {
        Self(QUALITY_DEFAULT)
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Quality {
    type Err = QualityError;

    fn from_str(text: &str) -> Result<Self, QualityError> {
        let number = text.parse().ok();
        let quality = number.filter(|number| (1..=100).contains(number));
        quality
            .map(Self)
            .ok_or_else(|| QualityError(text.chars().take(40).collect()))
    }
}

/// Returns the topic of the images that a topic has compressed, if it is named as one.
pub fn source(topic: &str) -> Option<&str> {
    let mut endings = COMPRESSED_ENDINGS.iter();
    let source = endings.find_map(|ending| topic.strip_suffix(ending));
    source.filter(|source| source.len() > 1)
}

/// Returns the topics beside one with images that have these compressed: colours, and distances.
pub fn topics(source: &str) -> [String; 2] {
    COMPRESSED_ENDINGS.map(|ending| format!("{source}{ending}"))
}

/// Tells whether a message has an image that may be compressed.
pub fn is_image(message: &TopicMessage) -> bool {
    message.kind == Image::KIND
}

/// Returns a message with a compressed image, on its topic, of one with an image.
///
/// # Errors
/// Fails if the message has no image, or one that cannot be compressed.
pub fn compressed(
    message: &TopicMessage,
    compression: Compression,
) -> Result<TopicMessage, CompressError> {
    if !is_image(message) {
        return Err(CompressError::Kind(message.kind.clone()));
    }
    let image: Image = messages::decode(&message.body)?;
    Ok(TopicMessage {
        topic: topic_beside(&message.topic, &image),
        kind: CompressedImage::KIND.to_owned(),
        body: messages::encode(&compress(&image, compression)?),
        ..message.clone()
    })
}

/// Returns the topic on which the image of a message is compressed.
///
/// # Errors
/// Fails if the message has no image.
pub fn topic_of(message: &TopicMessage) -> Result<String, CompressError> {
    if !is_image(message) {
        return Err(CompressError::Kind(message.kind.clone()));
    }
    let image = messages::decode(&message.body)?;
    Ok(topic_beside(&message.topic, &image))
}

fn topic_beside(topic: &str, image: &Image) -> String {
    let [colours, distances] = topics(topic);
    if image.pixel_format_type == DISTANCES {
        distances
    } else {
        colours
    }
}

/// Samples of an image in the order of its rows.
struct Samples {
    bytes: Vec<u8>,
    /// Encoding in ROS's words.
    encoding: &'static str,
    is_color: bool,
    depth: BitDepth,
}

/// Compresses an image. Distances become PNG of millimetres in 16 bits, in which 0 stands for what
/// has no distance or one beyond 65.535 m.
///
/// # Errors
/// Fails if the image has no pixels, too many, fewer than it says, or in an unknown format.
pub fn compress(image: &Image, compression: Compression) -> Result<CompressedImage, CompressError> {
    let (width, height) = (image.width as usize, image.height as usize);
    let count = width.saturating_mul(height);
    if count == 0 || count > PIXELS_MAX {
        return Err(CompressError::Size(image.width, image.height));
    }
    let samples = samples(image)?;
    let (format, data) = match compression {
        Compression::Jpeg(quality) if samples.depth == BitDepth::Eight => (
            "jpeg",
            jpeg(&samples, [image.width, image.height], quality)?,
        ),
        Compression::Jpeg(_) | Compression::Png => {
            ("png", png(&samples, [image.width, image.height])?)
        }
    };
    Ok(CompressedImage {
        timestamp: image.header.stamp.clone(),
        frame_id: frame_id(&image.header).to_owned(),
        data: data.into(),
        format: format.to_owned(),
        encoding: samples.encoding.to_owned(),
    })
}

/// Returns the frame that a header names; empty without one.
pub fn frame_id(header: &Header) -> &str {
    let mut data = header.data.iter();
    let entry = data.find(|entry| entry.key == "frame_id");
    entry
        .and_then(|entry| entry.value.first())
        .map_or("", String::as_str)
}

fn samples(image: &Image) -> Result<Samples, CompressError> {
    let grey = |encoding| -> Result<Samples, CompressError> {
        Ok(Samples {
            bytes: rows(image, 1)?.flatten().copied().collect(),
            encoding,
            is_color: false,
            depth: BitDepth::Eight,
        })
    };
    let colors = |encoding, bytes: usize, order: [usize; 3]| -> Result<Samples, CompressError> {
        let pixels = rows(image, bytes)?.flat_map(|row| row.chunks_exact(bytes));
        Ok(Samples {
            bytes: pixels
                .flat_map(|pixel| order.map(|place| pixel[place]))
                .collect(),
            encoding,
            is_color: true,
            depth: BitDepth::Eight,
        })
    };
    let wide = |encoding, values: Vec<u16>| Samples {
        // PNG has the greater byte first.
        bytes: values.into_iter().flat_map(u16::to_be_bytes).collect(),
        encoding,
        is_color: false,
        depth: BitDepth::Sixteen,
    };
    match image.pixel_format_type.as_str() {
        "RGB_INT8" => colors("rgb8", 3, [0, 1, 2]),
        "BGR_INT8" => colors("bgr8", 3, [2, 1, 0]),
        "RGBA_INT8" => colors("rgba8", 4, [0, 1, 2]),
        "BGRA_INT8" => colors("bgra8", 4, [2, 1, 0]),
        "L_INT8" => grey("mono8"),
        "BAYER_RGGB8" => grey("bayer_rggb8"),
        "BAYER_BGGR8" => grey("bayer_bggr8"),
        "BAYER_GBRG8" => grey("bayer_gbrg8"),
        "BAYER_GRBG8" => grey("bayer_grbg8"),
        "L_INT16" => {
            let rows = rows(image, 2)?.map(|row| row.as_chunks::<2>().0);
            let values = rows.flatten().map(|bytes| u16::from_le_bytes(*bytes));
            Ok(wide("mono16", values.collect()))
        }
        DISTANCES => {
            let rows = rows(image, 4)?.map(|row| row.as_chunks::<4>().0);
            let values = rows.flatten().map(|bytes| f32::from_le_bytes(*bytes));
            Ok(wide(MILLIMETRES, values.map(millimetres).collect()))
        }
        other => Err(CompressError::Format(other.to_owned())),
    }
}

/// Returns a distance \[m\] in whole millimetres; 0 for none.
fn millimetres(distance: f32) -> u16 {
    let distance = f64::from(distance) * 1000.0 + 0.5;
    if (0.0..DISTANCE_MAX_MM + 1.0).contains(&distance) {
        distance as u16
    } else {
        0
    }
}

/// Returns the rows of an image whose pixels have so many bytes.
///
/// # Errors
/// Fails if the image has fewer bytes than its size says.
pub fn rows(image: &Image, bytes: usize) -> Result<impl Iterator<Item = &[u8]>, TooFewBytes> {
    let row = (image.width as usize).saturating_mul(bytes);
    let step = (image.step as usize).max(row);
    let height = image.height as usize;
    let needed = step.saturating_mul(height.saturating_sub(1));
    if image.data.len() < needed.saturating_add(row) {
        return Err(TooFewBytes);
    }
    // An image without columns has no rows, either.
    let rows = image.data.chunks(step.max(1)).take(height);
    Ok(rows.filter_map(move |bytes_of_row| bytes_of_row.get(..row)))
}

fn jpeg(samples: &Samples, size: [u32; 2], quality: u8) -> Result<Vec<u8>, CompressError> {
    let [Ok(width), Ok(height)] = size.map(u16::try_from) else {
        return Err(CompressError::Size(size[0], size[1]));
    };
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new(&mut bytes, quality.clamp(1, 100));
    encoder.set_sampling_factor(if quality < 90 {
        SamplingFactor::F_2_2
    } else {
        SamplingFactor::F_1_1
    });
    let color = if samples.is_color {
        JpegColor::Rgb
    } else {
        JpegColor::Luma
    };
    encoder.encode(&samples.bytes, width, height, color)?;
    Ok(bytes)
}

fn png(samples: &Samples, [width, height]: [u32; 2]) -> Result<Vec<u8>, CompressError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(if samples.is_color {
        PngColor::Rgb
    } else {
        PngColor::Grayscale
    });
    encoder.set_depth(samples.depth);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::Filter::Paeth);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&samples.bytes)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
