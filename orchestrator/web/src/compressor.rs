//! [`Compressor`]: a thread that compresses images for those who listen to them, beside the hub.
//!
//! Of each topic the newest image waits, and no other: a thread that is behind leaves older ones
//! out, so that what is shown is never old.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use images::Compression;
use messages::Message;
use messages::foxglove::CompressedImage;
use messages::sensor::Image;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::source::{Body, Said};

/// Number of compressed images that wait to be taken.
const DONE_MAX: usize = 1;

/// Thread that compresses images, as the hub has it; it ends with this.
pub(crate) struct Compressor {
    waiting: Arc<Waiting>,
    done: Receiver<Compressed>,
}

/// The images that wait.
#[derive(Default)]
struct Waiting {
    state: Mutex<WaitingState>,
    has_more: Condvar,
}

#[derive(Default)]
struct WaitingState {
    /// The newest of each topic.
    newest: BTreeMap<String, Said>,
    /// The topic whose image was taken last; the next one is that after it.
    last: String,
    /// Number of times that all was forgotten.
    generation: u64,
    is_over: bool,
}

/// An image that was said on a topic, in a compressed form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compressed {
    /// Topic of the image.
    pub(crate) topic: String,
    /// Simulated time \[ns\].
    pub(crate) time_ns: u64,
    pub(crate) image: CompressedImage,
    /// Number of times that all was forgotten before it was taken.
    generation: u64,
}

impl Compressor {
    /// Starts the thread; colours become JPEG of this quality, from 1 to 100.
    ///
    /// # Errors
    /// Fails if the system has no thread left.
    pub(crate) fn start(jpeg_quality: u8) -> io::Result<Self> {
        let waiting = Arc::new(Waiting::default());
        let (teller, done) = channel(DONE_MAX);
        let taken = Arc::clone(&waiting);
        let run = move || {
            while let Some((said, generation)) = taken.next() {
                if !tell(&teller, said, generation, Compression::Jpeg(jpeg_quality)) {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("images".to_owned())
            .spawn(run)?;
        Ok(Self { waiting, done })
    }

    /// Has an image compressed, in place of one of its topic that still waits.
    pub(crate) fn take(&self, said: &Said) {
        let mut state = self.waiting.state();
        state.newest.insert(said.topic.clone(), said.clone());
        self.waiting.has_more.notify_one();
    }

    /// Forgets what waits, and what is being compressed: it is of a time that is not shown any
    /// more.
    pub(crate) fn forget(&self) {
        let mut state = self.waiting.state();
        state.newest.clear();
        state.generation += 1;
    }

    /// Waits for the next image that is compressed. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<Compressed> {
        loop {
            let compressed = self.done.recv().await?;
            if compressed.generation == self.waiting.state().generation {
                return Some(compressed);
            }
        }
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        self.waiting.state().is_over = true;
        self.waiting.has_more.notify_one();
    }
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, WaitingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for an image, by turns of their topics; nothing once nobody takes them any more.
    fn next(&self) -> Option<(Said, u64)> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            let after = (Bound::Excluded(&state.last), Bound::Unbounded);
            let topic = state.newest.range::<String, _>(after).next();
            let topic = topic.or_else(|| state.newest.iter().next());
            if let Some(topic) = topic.map(|(topic, _)| topic.clone()) {
                let said = state.newest.remove(&topic)?;
                state.last = topic;
                return Some((said, state.generation));
            }
            let woken = self.has_more.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Compresses an image, and hands it over; false if nobody takes it any more. One that is none is
/// passed over, as in its other forms.
fn tell(to: &Sender<Compressed>, said: Said, generation: u64, compression: Compression) -> bool {
    let image = image(&said).and_then(|image| images::compress(&image, compression).ok());
    let Some(image) = image else { return true };
    let compressed = Compressed {
        topic: said.topic,
        time_ns: said.time_ns,
        image,
        generation,
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
        let image = grey();
        let packed = messages::encode(&image);
        let kind = messages::find(Image::KIND).unwrap();
        let json = kind.to_recorded_json(&packed).unwrap().to_string();
        let mut compressor = Compressor::start(80).unwrap();
        let bodies = [
            Body::Packed(packed),
            Body::Packed(vec![1]),
            Body::Json(json.into()),
        ];
        for ((body, time_ns), topic) in bodies.into_iter().zip(0..).zip(["/a", "/b", "/c"]) {
            compressor.take(&said(topic, time_ns, body));
        }
        let [first, second] = [
            compressor.next().await.unwrap(),
            compressor.next().await.unwrap(),
        ];
        assert_eq!((first.time_ns, second.time_ns), (0, 2));
        assert_eq!(first.image, second.image);
        assert_eq!(first.image.format, "jpeg");
    }

    #[test]
    fn the_newest_image_of_each_topic_waits_and_each_has_its_turn() {
        let waiting = Waiting::default();
        let put = |topic: &str, time_ns| {
            let image = said(topic, time_ns, Body::Packed(Vec::new()));
            waiting.state().newest.insert(image.topic.clone(), image);
        };
        for time_ns in 0..3 {
            for topic in ["/a", "/b", "/c"] {
                put(topic, time_ns);
            }
        }
        let mut taken = Vec::new();
        for _ in 0..4 {
            let (image, _) = waiting.next().expect("one waits");
            taken.push((image.topic.clone(), image.time_ns));
            // The first topic goes on speaking, and does not keep others from their turns.
            put("/a", 3);
        }
        let expected = [("/a", 2), ("/b", 2), ("/c", 2), ("/a", 3)];
        assert_eq!(taken, expected.map(|(topic, at)| (topic.to_owned(), at)));
        waiting.state().is_over = true;
        assert!(waiting.next().is_none());
    }

    #[tokio::test]
    async fn images_of_before_are_forgotten() {
        let image = grey();
        let packed = || Body::Packed(messages::encode(&image));
        let mut compressor = Compressor::start(80).unwrap();
        // Whether it waits, is being compressed or is done.
        compressor.take(&said("/a", 1, packed()));
        compressor.forget();
        compressor.take(&said("/a", 2, packed()));
        assert_eq!(compressor.next().await.unwrap().time_ns, 2);
    }

    fn grey() -> Image {
        Image {
            width: 8,
            height: 8,
            pixel_format_type: "L_INT8".to_owned(),
            data: vec![7; 64].into(),
            ..Image::default()
        }
    }

    fn said(topic: &str, time_ns: u64, body: Body) -> Said {
        Said {
            topic: topic.to_owned(),
            kind: Image::KIND.to_owned(),
            time_ns,
            body,
        }
    }
}
