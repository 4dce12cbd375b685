//! [`Compressor`]: a thread that compresses images for those who listen to them, beside the hub.
//!
//! A thread that is behind leaves images out, so that what is shown is never old.

use std::sync::mpsc::{self, SyncSender};
use std::{io, thread};

use images::Compression;
use messages::Message;
use messages::foxglove::CompressedImage;
use messages::sensor::Image;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::source::{Body, Said};

/// Number of images that wait to be compressed.
const WAITING_MAX: usize = 4;

/// Thread that compresses images, as the hub has it; it ends with this.
pub(crate) struct Compressor {
    jobs: SyncSender<Said>,
    done: Receiver<Compressed>,
}

/// An image that was said on a topic, in a compressed form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compressed {
    /// Topic of the image.
    pub(crate) topic: String,
    /// Simulated time \[ns\].
    pub(crate) time_ns: u64,
    pub(crate) image: CompressedImage,
}

impl Compressor {
    /// Starts the thread; colours become JPEG of this quality, from 1 to 100.
    ///
    /// # Errors
    /// Fails if the system has no thread left.
    pub(crate) fn start(jpeg_quality: u8) -> io::Result<Self> {
        let (jobs, taken) = mpsc::sync_channel::<Said>(WAITING_MAX);
        let (teller, done) = channel(WAITING_MAX);
        let run = move || {
            while let Ok(said) = taken.recv() {
                if !tell(&teller, said, Compression::Jpeg(jpeg_quality)) {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("images".to_owned())
            .spawn(run)?;
        Ok(Self { jobs, done })
    }

    /// Has an image compressed, unless too many wait.
    pub(crate) fn take(&self, said: &Said) {
        let _ = self.jobs.try_send(said.clone());
    }

    /// Waits for the next image that is compressed. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<Compressed> {
        self.done.recv().await
    }
}

/// Compresses an image, and hands it over; false if nobody takes it any more. One that is none is
/// passed over, as in its other forms.
fn tell(to: &Sender<Compressed>, said: Said, compression: Compression) -> bool {
    let image = image(&said).and_then(|image| images::compress(&image, compression).ok());
    let Some(image) = image else { return true };
    let compressed = Compressed {
        topic: said.topic,
        time_ns: said.time_ns,
        image,
    };
    to.blocking_send(compressed).is_ok()
}

/// Returns the image in a message.
fn image(said: &Said) -> Option<Image> {
    match &said.body {
        Body::Packed(bytes) => messages::decode(bytes).ok(),
        Body::Json(text) => {
            let json = serde_json::from_slice(text).ok()?;
            let bytes = messages::find(Image::KIND)?.from_recorded_json(json).ok()?;
            messages::decode(&bytes).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn images_of_runs_and_of_recordings_are_compressed_and_others_passed_over() {
        let image = Image {
            width: 8,
            height: 8,
            pixel_format_type: "L_INT8".to_owned(),
            data: vec![7; 64].into(),
            ..Image::default()
        };
        let packed = messages::encode(&image);
        let kind = messages::find(Image::KIND).unwrap();
        let json = kind.to_recorded_json(&packed).unwrap().to_string();
        let mut compressor = Compressor::start(80).unwrap();
        let bodies = [
            Body::Packed(packed),
            Body::Packed(vec![1]),
            Body::Json(json.into()),
        ];
        for (body, time_ns) in bodies.into_iter().zip(0..) {
            compressor.take(&Said {
                topic: "/image".to_owned(),
                kind: Image::KIND.to_owned(),
                time_ns,
                body,
            });
        }
        let [first, second] = [
            compressor.next().await.unwrap(),
            compressor.next().await.unwrap(),
        ];
        assert_eq!((first.time_ns, second.time_ns), (0, 2));
        assert_eq!(first.image, second.image);
        assert_eq!(first.image.format, "jpeg");
    }
}
