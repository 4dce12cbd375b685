//! Tests of what clients are told that come before there is anything to show.

use client::recorded::RecordingPlace;
use protocol::SimTime;
use serde_json::Value;
use tokio::sync::mpsc;

use super::*;
use crate::outbox::{Outbox, Outgoing};
use crate::protocol::{Agreement, Dialect};
use crate::source;

/// Knows nothing.
struct Nothing;

impl Details for Nothing {
    fn note(&mut self, _feed: &Feed) {}

    fn describe(&self, _subject: &str, name: &str) -> Result<Described, DescribeError> {
        Err(DescribeError::Unknown {
            subject: String::new(),
            name: name.to_owned(),
        })
    }

    fn warn(&mut self, _text: &str) {}
}

#[tokio::test]
async fn a_client_that_comes_before_the_recording_is_read_is_told_how_long_it_is() {
    let settings = HubSettings {
        name: "r",
        server: "s",
        is_recording: true,
        jpeg_quality: 80,
    };
    let (end, source) = source::pair();
    let hub = Hub::new(settings, source, Assets::default(), Box::new(Nothing));
    let (hub, news) = hub.unwrap();
    let (viewers, viewer_news) = mpsc::channel(4);
    let (outbox, agreement) = (
        Outbox::default(),
        Agreement {
            dialect: Dialect::Sdk,
            ..Agreement::default()
        },
    );
    let came = ViewerNews::Came(outbox.clone(), agreement);
    viewers.send((ViewerId(1), came)).await.unwrap();
    let told = async {
        // The hub has time to make the mistake.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let place = RecordingPlace {
            start: SimTime(0),
            end: SimTime(3_000_000_000),
            now: SimTime(0),
            share: 0.0,
            speed: 1.0,
            is_playing: false,
        };
        let news = SourceNews::Feed(Box::new(Feed::Recording(place)));
        end.news.send(news).await.unwrap();
        outbox.next().await
    };
    let told = tokio::select! {
        told = told => told,
        () = hub.run(news, viewer_news) => panic!("it goes on"),
    };
    let Some(Outgoing::Text(text)) = told else {
        panic!("{told:?}")
    };
    let info: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(info["dataEndTime"]["sec"], 3, "{info}");
}
