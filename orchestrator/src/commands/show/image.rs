//! `phalanx show RUN image`: the next image of a sensor, as a PNG file.

use std::time::Duration;

use mesh::Image as Picture;
use messages::sensor::Image;
use protocol::primary_to_client::Reply;
use protocol::report::TopicReport;
use protocol::{Command, ExitCode, TopicMessage};

use super::refused;
use crate::cli::ShowArguments;
use crate::commands::ctl::from_ask;
use crate::commands::target::Target;
use crate::commands::topic::{listen, next_message};
use crate::commands::{CommandResult, Failed, output, runtime};

/// The kind of messages with images.
const KIND: &str = "gz.msgs.Image";

/// The most pixels of an image that is shown.
const PIXELS_MAX: usize = 64 << 20;

/// Reason why an image cannot be shown.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
enum ShowImageError {
    /// It has no pixels, or more than are shown.
    #[error("the image has {0} x {1} pixels")]
    Size(u32, u32),
    /// Its bytes are not as many as its size says.
    #[error("the image has fewer bytes than its size says")]
    Bytes,
    /// Its pixels are written in another way.
    #[error("images of the format {0:?} cannot be shown")]
    Format(String),
}

/// Waits for the next image of a topic, and prints it.
pub(super) fn show(target: &Target, arguments: &ShowArguments) -> CommandResult {
    let patience = arguments.timeout;
    let shown = async {
        let topic = match &arguments.image.topic {
            Some(topic) => topic.clone(),
            None => only_topic(target, patience).await?,
        };
        let mut connection = listen(target, &topic)?;
        let next = tokio::time::timeout(patience, next_message(&mut connection, target)).await;
        let next = next.map_err(|_| {
            let message = format!(
                "there was no image on {topic} in {} s; --timeout waits longer, and a run that \
                 is paused makes none",
                patience.as_secs_f64()
            );
            Failed::message(ExitCode::Failure, message)
        })?;
        let Some(message) = next? else {
            let message = "the run ended before an image came";
            return Err(Failed::message(ExitCode::Failure, message));
        };
        output::print_bytes(&png(&message)?)
    };
    runtime()?.block_on(shown)
}

/// Returns the topic of the only sensor with images.
async fn only_topic(target: &Target, patience: Duration) -> Result<String, Failed> {
    let reply = target.ask(Command::Topics, patience).await;
    let topics = match reply.map_err(from_ask)? {
        Reply::Topics(topics) => topics,
        other => return Err(refused(other)),
    };
    let is_image = |topic: &&TopicReport| topic.kind == KIND && !topic.publishers.is_empty();
    let images: Vec<&str> = topics
        .iter()
        .filter(is_image)
        .map(|topic| topic.topic.as_str())
        .collect();
    match images.as_slice() {
        [topic] => Ok((*topic).to_owned()),
        [] => Err(Failed::message(
            ExitCode::Failure,
            "no sensor of the run publishes images",
        )),
        _ => Err(Failed::message(
            ExitCode::Usage,
            format!("say one of these with --topic:\n  {}", images.join("\n  ")),
        )),
    }
}

/// Returns the image in a message as a PNG file.
fn png(message: &TopicMessage) -> Result<Vec<u8>, Failed> {
    if message.kind != KIND {
        let text = format!(
            "{} has messages of the type {}",
            message.topic, message.kind
        );
        return Err(Failed::message(ExitCode::Usage, text));
    }
    let image = messages::decode::<Image>(&message.body).map_err(anyhow::Error::new)?;
    let picture = picture(&image).map_err(anyhow::Error::new)?;
    Ok(picture.to_png())
}

/// Returns the pixels of an image in colours. Distances and temperatures are from black, the least
/// of the image, to white; what is not finite is black.
fn picture(image: &Image) -> Result<Picture, ShowImageError> {
    let (width, height) = (image.width as usize, image.height as usize);
    let count = width.saturating_mul(height);
    if count == 0 || count > PIXELS_MAX {
        return Err(ShowImageError::Size(image.width, image.height));
    }
    let grey = |value: u8| [value, value, value, 255];
    let format = image.pixel_format_type.as_str();
    let pixels: Vec<[u8; 4]> = match format {
        "RGB_INT8" => rows(image, 3)?.map(|p| [p[0], p[1], p[2], 255]).collect(),
        "BGR_INT8" => rows(image, 3)?.map(|p| [p[2], p[1], p[0], 255]).collect(),
        "RGBA_INT8" => rows(image, 4)?.map(|p| [p[0], p[1], p[2], p[3]]).collect(),
        "BGRA_INT8" => rows(image, 4)?.map(|p| [p[2], p[1], p[0], p[3]]).collect(),
        "L_INT8" | "BAYER_RGGB8" | "BAYER_BGGR8" | "BAYER_GBRG8" | "BAYER_GRBG8" => {
            rows(image, 1)?.map(|p| grey(p[0])).collect()
        }
        "L_INT16" => {
            let value = |p: &[u8]| f32::from(u16::from_le_bytes([p[0], p[1]]));
            stretched(rows(image, 2)?.map(value))
        }
        "R_FLOAT32" => {
            let value = |p: &[u8]| f32::from_le_bytes([p[0], p[1], p[2], p[3]]);
            stretched(rows(image, 4)?.map(value))
        }
        other => return Err(ShowImageError::Format(other.to_owned())),
    };
    Ok(Picture {
        width,
        height,
        pixels,
    })
}

/// Returns the bytes of each pixel, row by row.
fn rows(image: &Image, bytes: usize) -> Result<impl Iterator<Item = &[u8]>, ShowImageError> {
    let row = image.width as usize * bytes;
    let step = (image.step as usize).max(row);
    let height = image.height as usize;
    let needed = step.saturating_mul(height - 1).saturating_add(row);
    if image.data.len() < needed {
        return Err(ShowImageError::Bytes);
    }
    let rows = image.data.chunks(step).take(height);
    Ok(rows.flat_map(move |bytes_of_row| bytes_of_row[..row].chunks_exact(bytes)))
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
        let pixels = |image: &Image| picture(image).map(|picture| picture.pixels);
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
        assert_eq!(picture(&short), Err(ShowImageError::Bytes));
        let wide = image("L_INT8", u32::MAX, &[1, 2]);
        assert!(picture(&wide).is_ok(), "the last row may be short");
        let mut empty = image("L_INT8", 2, &[]);
        empty.height = 0;
        assert_eq!(picture(&empty), Err(ShowImageError::Size(2, 0)));
        let mut huge = image("L_INT8", 2, &[]);
        (huge.width, huge.height) = (u32::MAX, u32::MAX);
        assert!(matches!(picture(&huge), Err(ShowImageError::Size(..))));
        let other = image("RGB_FLOAT32", 2, &[]);
        assert!(matches!(picture(&other), Err(ShowImageError::Format(_))));
    }
}
