//! Tests of what clients are told that come before there is anything to show.

use client::recorded::RecordingPlace;
use protocol::SimTime;
use protocol::report::Layout;
use serde_json::Value;
use tokio::sync::mpsc;

use super::*;
use crate::outbox::{Outbox, Outgoing};
use crate::protocol::client_to_server::{ClientMessage, ClientText, Subscription};
use crate::protocol::{Agreement, Dialect, SubscriptionId};
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

const SETTINGS: HubSettings<'_> = HubSettings {
    name: "r",
    server: "s",
    is_recording: true,
    jpeg_quality: 80,
};

fn place(now: u64) -> Feed {
    Feed::Recording(RecordingPlace {
        start: SimTime(0),
        end: SimTime(3_000_000_000),
        now: SimTime(now),
        share: 0.0,
        speed: 1.0,
        is_playing: false,
    })
}

fn feed(feed: Feed) -> SourceNews {
    SourceNews::Feed(Box::new(feed))
}

/// Waits for a message on a channel. The time is told ten times a second meanwhile.
async fn next_message(outbox: &Outbox) -> bool {
    for _ in 0..40 {
        if let Some(Outgoing::Binary(frame)) = outbox.next().await
            && frame[0] == 1
        {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn viewers_are_told_the_scene_again_when_a_recording_goes_back() {
    let (end, source) = source::pair();
    let (hub, news) = Hub::new(SETTINGS, source, Assets::default(), Box::new(Nothing)).unwrap();
    let mut channels = hub.channels.iter();
    let scene = channels.find(|(_, content)| **content == Content::SceneUpdate);
    let channel_id = scene.expect("it is offered").0;
    drop(channels);
    let (viewers, viewer_news) = mpsc::channel(4);
    let outbox = Outbox::default();
    let told = async {
        end.news.send(feed(place(9))).await.unwrap();
        let shown = ShownScene::of_layout(&Layout::default(), "w");
        let scene = SourceNews::Scene(Box::new(shown));
        end.news.send(scene).await.unwrap();
        let came = ViewerNews::Came(outbox.clone(), Agreement::default());
        viewers.send((ViewerId(1), came)).await.unwrap();
        let subscriptions = vec![Subscription {
            id: SubscriptionId(1),
            channel_id,
        }];
        let said = ClientMessage::Text(ClientText::Subscribe { subscriptions });
        let said = ViewerNews::Said(said);
        viewers.send((ViewerId(1), said)).await.unwrap();
        assert!(next_message(&outbox).await, "the scene is told");
        end.news.send(feed(Feed::Rewound)).await.unwrap();
        end.news.send(feed(place(3))).await.unwrap();
        assert!(next_message(&outbox).await, "it is told again");
    };
    tokio::select! {
        () = told => {}
        () = hub.run(news, viewer_news) => panic!("it goes on"),
    }
}

#[tokio::test]
async fn a_client_that_comes_before_the_recording_is_read_is_told_how_long_it_is() {
    let (end, source) = source::pair();
    let hub = Hub::new(SETTINGS, source, Assets::default(), Box::new(Nothing));
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
        end.news.send(feed(place(0))).await.unwrap();
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
