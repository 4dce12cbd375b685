//! Tests of what clients are told that come before there is anything to show.

use client::recorded::RecordingPlace;
use protocol::SimTime;
use protocol::report::{Layout, ModelOutline};
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

/// Waits for a message on a channel, and returns it as text; empty if none comes. The time is told
/// ten times a second meanwhile.
async fn next_message(outbox: &Outbox) -> String {
    for _ in 0..40 {
        if let Some(Outgoing::Binary(frame)) = outbox.next().await
            && frame[0] == 1
        {
            return String::from_utf8_lossy(&frame[13..]).into_owned();
        }
    }
    String::new()
}

/// Makes a scene of one model.
fn scene_of(model: &str) -> SourceNews {
    let outline = ModelOutline {
        name: model.to_owned(),
        min: [0.0; 3],
        max: [1.0; 3],
    };
    let layout = Layout {
        statics: vec![outline],
        ..Layout::default()
    };
    SourceNews::Scene(Box::new(ShownScene::of_layout(&layout, "w")))
}

/// Makes a subscription to the drawn scene.
fn subscription(hub: &Hub) -> ViewerNews {
    let mut channels = hub.channels.iter();
    let scene = channels.find(|(_, content)| **content == Content::SceneUpdate);
    let channel_id = scene.expect("it is offered").0;
    let subscriptions = vec![Subscription {
        id: SubscriptionId(1),
        channel_id,
    }];
    ViewerNews::Said(ClientMessage::Text(ClientText::Subscribe { subscriptions }))
}

#[tokio::test]
async fn viewers_are_told_the_scene_again_when_a_recording_goes_back() {
    let (end, source) = source::pair();
    let (hub, news) = Hub::new(SETTINGS, source, Assets::default(), Box::new(Nothing)).unwrap();
    let said = subscription(&hub);
    let (viewers, viewer_news) = mpsc::channel(4);
    let outbox = Outbox::default();
    let told = async {
        end.news.send(feed(place(9))).await.unwrap();
        end.news.send(scene_of("box")).await.unwrap();
        let came = ViewerNews::Came(outbox.clone(), Agreement::default());
        viewers.send((ViewerId(1), came)).await.unwrap();
        viewers.send((ViewerId(1), said)).await.unwrap();
        assert_ne!(next_message(&outbox).await, "", "the scene is told");
        end.news.send(feed(Feed::Rewound)).await.unwrap();
        end.news.send(feed(place(3))).await.unwrap();
        assert_ne!(next_message(&outbox).await, "", "it is told again");
    };
    tokio::select! {
        () = told => {}
        () = hub.run(news, viewer_news) => panic!("it goes on"),
    }
}

#[tokio::test]
async fn nothing_of_a_run_is_drawn_once_another_answers_in_its_place() {
    let (end, source) = source::pair();
    let settings = HubSettings {
        is_recording: false,
        ..SETTINGS
    };
    let (hub, news) = Hub::new(settings, source, Assets::default(), Box::new(Nothing)).unwrap();
    let said = subscription(&hub);
    let (viewers, viewer_news) = mpsc::channel(4);
    let outbox = Outbox::default();
    let told = async {
        end.news.send(scene_of("crane")).await.unwrap();
        let came = ViewerNews::Came(outbox.clone(), Agreement::default());
        viewers.send((ViewerId(1), came)).await.unwrap();
        viewers.send((ViewerId(1), said)).await.unwrap();
        assert!(next_message(&outbox).await.contains("crane::"));
        end.news.send(feed(Feed::StartedAnew)).await.unwrap();
        // The hub has time to make the mistake.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        end.news.send(scene_of("rover")).await.unwrap();
        let shown = next_message(&outbox).await;
        assert!(shown.contains("rover::"), "{shown}");
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
