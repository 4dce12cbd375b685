//! [`Listener`]: what is said on one topic, told to the view a few times per second, whatever the
//! rate at which it is said.

use std::time::Duration;

use messages::Message;
use messages::sensor::Image;
use protocol::TopicMessage;
use tokio::time::{Instant, sleep_until};
use transport::zeromq::ConnectError;

use super::{Connection, News, Reach};
use crate::feed::Heard;
use crate::message_text;
use crate::plain_text::plain;
use crate::raster::Raster;
use crate::sensor_image;

/// Shortest interval between two messages to the view.
const TELL_TIME: Duration = Duration::from_millis(200);
/// The largest message that is shown as text \[bytes\].
const BODY_MAX: usize = 64 << 10;
/// The largest message with an image that is shown \[bytes\], and the pixels that are shown of it.
const IMAGE_BYTES_MAX: usize = 8 << 20;
const IMAGE_PIXELS: (usize, usize) = (240, 120);
/// The most lines and bytes of it that are shown.
const LINES_MAX: usize = 2_000;
const TEXT_MAX: usize = 128 << 10;

/// A connection that hears one topic.
pub(super) struct Listener {
    connection: Connection,
    last: Option<Box<TopicMessage>>,
    count: u64,
    told: Option<Instant>,
}

impl Listener {
    /// Begins to listen.
    pub(super) fn open(reach: &Reach, topic: &str) -> Result<Self, ConnectError> {
        Ok(Self::over(Connection::listen(reach, &[topic])?))
    }

    fn over(connection: Connection) -> Self {
        Self {
            connection,
            last: None,
            count: 0,
            told: None,
        }
    }

    /// Waits for what the view is to be told next; forever without a listener. May be dropped and
    /// called again.
    pub(super) async fn heard(listener: &mut Option<Self>) -> Heard {
        match listener {
            Some(listener) => listener.next().await,
            None => std::future::pending().await,
        }
    }

    async fn next(&mut self) -> Heard {
        while self.last.is_none() {
            match self.connection.news().await {
                Some(news) => self.note(news),
                None => std::future::pending().await,
            }
        }
        if let Some(told) = self.told {
            sleep_until(told + TELL_TIME).await;
        }
        while let Ok(news) = self.connection.news.try_recv() {
            self.note(news);
        }
        self.told = Some(Instant::now());
        let count = std::mem::take(&mut self.count);
        let last = self.last.take().expect("a message was waited for");
        describe(&last, count)
    }

    fn note(&mut self, news: News) {
        if let News::Message(message) = news {
            self.count += 1;
            self.last = Some(message);
        }
    }
}

fn describe(message: &TopicMessage, count: u64) -> Heard {
    Heard {
        topic: message.topic.clone(),
        kind: plain(&message.kind),
        sim_time_s: message.sim_time.seconds(),
        iteration: message.iteration.0,
        bytes: message.body.len(),
        text: text(message),
        image: image(message),
        count,
    }
}

/// Returns the image of a message, as large as any screen of characters shows it.
fn image(message: &TopicMessage) -> Option<Raster> {
    if message.kind != Image::KIND || message.body.len() > IMAGE_BYTES_MAX {
        return None;
    }
    let image: Image = messages::decode(&message.body).ok()?;
    let pixels = sensor_image::pixels(&image).ok()?;
    Some(pixels.raster()?.fitted(IMAGE_PIXELS.0, IMAGE_PIXELS.1))
}

fn text(message: &TopicMessage) -> String {
    if message.body.len() > BODY_MAX {
        if message.kind == Image::KIND {
            return "the image is above".to_owned();
        }
        return "too large to be shown; `phalanx topic echo` prints it".to_owned();
    }
    let Some(kind) = messages::find(&message.kind) else {
        return format!("{} is not known here", plain(&message.kind));
    };
    let json = match kind.to_json(&message.body) {
        Ok(json) => json,
        Err(error) => return format!("not understood: {error}"),
    };
    let rendered = message_text::render(&json);
    if rendered.is_empty() {
        return "all fields are zero or empty".to_owned();
    }
    let cut = &rendered[..rendered.floor_char_boundary(TEXT_MAX)];
    let mut lines = cut.lines();
    let shown: Vec<&str> = lines.by_ref().take(LINES_MAX).collect();
    let mut text = shown.join("\n") + "\n";
    if lines.next().is_some() || cut.len() < rendered.len() {
        text.push_str("and more\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use messages::motion::Twist;
    use protocol::{
        Envelope, Iteration, PeerName, ProtocolVersion, Publisher as Origin, SessionId, SimTime,
        topic,
    };
    use transport::memory::Network;
    use transport::{Publisher, Subscription};

    use super::*;

    const TOPIC: &str = "/cmd_vel";

    fn message(speed: f64) -> TopicMessage {
        let mut twist = Twist::default();
        twist.linear.x = speed;
        TopicMessage {
            topic: TOPIC.to_owned(),
            kind: "gz.msgs.Twist".to_owned(),
            publisher: Origin::Client,
            iteration: Iteration(7),
            sim_time: SimTime(7_000_000),
            body: messages::encode(&twist),
        }
    }

    #[tokio::test]
    async fn many_messages_are_told_as_the_last_one_and_their_number() {
        let network = Network::new();
        let _primary = network.primary();
        let frame = topic::of_message(TOPIC);
        let link = network.peer(&"client".into(), Subscription::Status(&[&frame]));
        let mut listener = Some(Listener::over(Connection::over(link)));
        let mut publisher = network.publisher();
        let (mut count, mut last) = (0, 0.0);
        let timeout = Instant::now() + Duration::from_mins(2);
        while count < 20 && Instant::now() < timeout {
            for _ in 0..10 {
                last += 1.0;
                let envelope = Envelope {
                    version: ProtocolVersion::CURRENT,
                    session: SessionId(7),
                    sender: PeerName::primary(),
                    body: message(last),
                };
                publisher
                    .publish(&frame, &protocol::encode(&envelope))
                    .unwrap();
            }
            let heard = Listener::heard(&mut listener);
            let heard = tokio::time::timeout(Duration::from_mins(2), heard)
                .await
                .unwrap();
            count += heard.count;
            assert!(heard.text.starts_with("linear {\n  x: "), "{}", heard.text);
        }
        assert!(count >= 20);
    }

    #[test]
    fn a_huge_odd_or_empty_message_says_so() {
        let said = |change: fn(&mut TopicMessage)| {
            let mut message = message(1.0);
            change(&mut message);
            text(&message)
        };
        assert_eq!(said(|_| {}), "linear {\n  x: 1.0\n}\n");
        assert!(said(|message| message.body = vec![0; BODY_MAX + 1]).contains("too large"));
        assert!(said(|message| message.body = vec![0xc1]).contains("not understood"));
        assert!(said(|message| message.kind = "x\u{1b}[2J".to_owned()).contains("x is not known"));
        let empty = |message: &mut TopicMessage| message.body = messages::encode(&Twist::default());
        assert!(said(empty).contains("all fields"));
    }
}
