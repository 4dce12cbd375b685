//! A recording as a source of data: a thread reads the file, the hub says what it is to show.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use client::feed::Feed;
use client::recorded::ReplayRequest;
use recording::{ReadError, Recording};
use tokio::sync::mpsc::Sender as NewsSender;
use web::shown_scene::ShownScene;
use web::source::{Body, CallId, Order, Outcome, Said, SourceEnd, SourceNews};

use crate::replay::{Player, RecordedScene};

/// Interval at which the position of a recording that is played is shown.
const FRAME_TIME: Duration = Duration::from_millis(33);

/// A recording that is served.
struct Recorded {
    player: Player<BufReader<File>>,
    /// The scene, if there is one better than boxes around models.
    scene: Option<RecordedScene>,
    news: NewsSender<SourceNews>,
}

/// Reason why no more is read.
enum End {
    /// The hub is gone.
    Closed,
    /// The file cannot be read.
    Failed(ReadError),
}

/// Plays a recording until the hub is gone.
///
/// # Errors
/// Fails if the thread cannot be started.
pub(super) async fn follow(
    mut recording: Recording<BufReader<File>>,
    file: &Path,
    end: SourceEnd,
) -> anyhow::Result<()> {
    let scene = drawn(&mut recording);
    let first = scene.as_ref().map(shown);
    let player = Player::new(recording);
    let player = player.with_context(|| format!("{} cannot be replayed", file.display()))?;
    let (sender, receiver) = mpsc::channel();
    let SourceEnd { news, mut orders } = end;
    let recorded = Recorded {
        player,
        scene,
        news: news.clone(),
    };
    // The thread brings newer scenes, which must come behind this one.
    let first = [Some(SourceNews::Feed(Box::new(Feed::Connected))), first];
    for one in first.into_iter().flatten() {
        if news.send(one).await.is_err() {
            return Ok(());
        }
    }
    drop(news);
    thread::Builder::new()
        .name("replay".to_owned())
        .spawn(move || recorded.run(&receiver))
        .context("cannot start to read")?;
    pass(&mut orders, &sender).await;
    Ok(())
}

/// Hands orders to the thread until one of both ends.
async fn pass(orders: &mut tokio::sync::mpsc::Receiver<Order>, thread: &Sender<Order>) {
    while let Some(order) = orders.recv().await {
        if thread.send(order).is_err() {
            return;
        }
    }
}

/// Returns what is drawn, if the recording has its worlds.
fn drawn(recording: &mut Recording<BufReader<File>>) -> Option<RecordedScene> {
    let worlds = sdf::decode_worlds(&recording.worlds().ok()?).ok()?;
    Some(RecordedScene::new(&worlds, recording))
}

fn shown(scene: &RecordedScene) -> SourceNews {
    let scene = scene.scene();
    let shown = web::scenes::shown(scene.scene().clone(), scene.assets());
    SourceNews::Scene(Box::new(shown))
}

impl Recorded {
    /// Plays until the hub is gone, or the recording cannot be read.
    fn run(mut self, orders: &Receiver<Order>) {
        if let Err(End::Failed(error)) = self.play(orders) {
            let text = format!("the recording cannot be read on: {error}");
            let _ = self.tell(Feed::Denied(text));
            // Whoever asks for more is told so.
            while let Ok(order) = orders.recv() {
                if let Order::Replay { call, .. } | Order::Send { call, .. } = order
                    && self
                        .done(call, Outcome::refused("the recording cannot be read on"))
                        .is_err()
                {
                    return;
                }
            }
        }
    }

    fn play(&mut self, orders: &Receiver<Order>) -> Result<(), End> {
        let mut is_new = true;
        let mut last = Instant::now();
        loop {
            if is_new {
                self.show()?;
            }
            let had_more = self.player.has_more();
            let order = if self.player.is_playing() {
                orders.recv_timeout(FRAME_TIME)
            } else if had_more {
                orders.recv_timeout(Duration::ZERO)
            } else {
                orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            let elapsed = last.elapsed();
            last += elapsed;
            is_new = self.player.is_playing();
            self.player.advance(elapsed)?;
            match order {
                Ok(order) => is_new |= self.obey(order)?,
                Err(RecvTimeoutError::Timeout) => self.player.look_further()?,
                Err(RecvTimeoutError::Disconnected) => return Err(End::Closed),
            }
            is_new |= had_more && !self.player.has_more();
        }
    }

    /// Carries out an order; tells whether there may be something else to be shown.
    fn obey(&mut self, order: Order) -> Result<bool, End> {
        match order {
            Order::Watch(_) => {}
            Order::Listen(topics) => self.player.listen_to(&topics)?,
            Order::Send { call, .. } => {
                self.done(call, Outcome::refused("this is a recording"))?;
            }
            Order::Replay { call, request } => {
                if !is_possible(request) {
                    self.done(call, Outcome::refused("use a finite number"))?;
                    return Ok(false);
                }
                self.player.act(request)?;
                self.show()?;
                let seconds = self.player.position().now.seconds();
                let message = format!("the recording is at {seconds:.3} s");
                self.done(call, Outcome::done(message, None))?;
            }
        }
        Ok(true)
    }

    /// Tells what there is at the current place.
    fn show(&mut self) -> Result<(), End> {
        if let Some(scene) = &mut self.scene
            && scene.go_to(&mut self.player)?
        {
            let shown = shown(scene);
            self.send(shown)?;
        }
        if let Some(offsets) = self.player.link_offsets()? {
            let offsets = offsets.clone();
            self.send(SourceNews::Offsets(offsets))?;
        }
        for feed in self.player.feed()? {
            if let Feed::Layout(layout) = &feed
                && self.scene.is_none()
            {
                let shown = ShownScene::of_layout(layout, "");
                self.send(SourceNews::Scene(Box::new(shown)))?;
            }
            self.tell(feed)?;
        }
        for message in self.player.take_said() {
            self.send(SourceNews::Said(Box::new(Said {
                topic: message.topic,
                kind: message.kind,
                time_ns: message.sim_time.0,
                body: Body::Json(message.json.into()),
            })))?;
        }
        Ok(())
    }

    fn tell(&self, feed: Feed) -> Result<(), End> {
        self.send(SourceNews::Feed(Box::new(feed)))
    }

    fn done(&self, call: CallId, outcome: Outcome) -> Result<(), End> {
        self.send(SourceNews::Done { call, outcome })
    }

    fn send(&self, news: SourceNews) -> Result<(), End> {
        self.news.blocking_send(news).map_err(|_| End::Closed)
    }
}

impl From<ReadError> for End {
    fn from(error: ReadError) -> Self {
        Self::Failed(error)
    }
}

/// Tells whether the numbers of a request are any.
fn is_possible(request: ReplayRequest) -> bool {
    match request {
        ReplayRequest::Seek(number)
        | ReplayRequest::RunTo(number)
        | ReplayRequest::SeekBy(number)
        | ReplayRequest::Speed(number) => number.is_finite(),
        ReplayRequest::Play
        | ReplayRequest::Pause
        | ReplayRequest::Step(_)
        | ReplayRequest::Start
        | ReplayRequest::End => true,
    }
}
