//! The view of a recording: a thread reads the file, the view says what it is to show.

use std::fs::File;
use std::io::BufReader;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use client::feed::CommandError;
use client::observer_request::Twisting;
use client::recorded::ReplayRequest;
use protocol::primary_to_observers::{Event, Severity};
use protocol::{Command, Iteration, PrimaryToObservers};
use recording::ReadError;
use tokio::sync::mpsc::{Sender, channel};
use view::{self, Feed, ObserverRequest, ViewEnd, ViewOptions};

use super::super::feeder::Feeder;
use super::Follower;
use crate::replay::Player;

/// Interval at which the position of a recording that is played is shown.
const FRAME_TIME: Duration = Duration::from_millis(50);
/// Interval at which what is due is told to others.
const FOLLOW_TIME: Duration = Duration::from_millis(2);
/// Number of commands of the view that may wait.
const REQUESTS_MAX: usize = 64;
/// Number of batches of feeds that may be read ahead of the view.
const BATCHES_MAX: usize = 2;

/// Order to the thread that reads.
enum Order {
    Replay(ReplayRequest),
    Listen(Option<String>),
}

/// Shows a recording until the user leaves or a signal comes; `warning` is said at the start.
///
/// # Errors
/// Fails if the terminal cannot be used, or the thread cannot be started.
pub(super) async fn show(
    player: Player<BufReader<File>>,
    follower: Option<Follower>,
    warning: Option<String>,
    options: ViewOptions,
) -> anyhow::Result<ViewEnd> {
    let (mut feeder, feeds) = Feeder::new();
    let (request_sender, mut requests) = channel::<ObserverRequest>(REQUESTS_MAX);
    let (batch_sender, mut batches) = channel::<Vec<Feed>>(BATCHES_MAX);
    let (orders, order_receiver) = mpsc::channel();
    thread::Builder::new()
        .name("replay".to_owned())
        .spawn(move || play(player, follower, &order_receiver, &batch_sender))
        .context("cannot start to read")?;
    feeder.push(Feed::Connected);
    feeder.extend(warning.map(|text| told(Severity::Warning, text)));
    let view = view::run(options, feeds, request_sender);
    tokio::pin!(view);
    loop {
        tokio::select! {
            end = &mut view => return end.context("the terminal cannot be used"),
            Some(batch) = batches.recv(), if !feeder.is_behind() => feeder.extend(batch),
            Some(request) = requests.recv() => {
                // Nothing is to be done when it has ended: it has said why.
                let _ = match request {
                    ObserverRequest::Replay(request) => orders.send(Order::Replay(request)),
                    ObserverRequest::Listen(topic) => orders.send(Order::Listen(topic)),
                    ObserverRequest::Send(command)
                    | ObserverRequest::Drive(Twisting { command, .. }) => {
                        feeder.push(refused(command));
                        Ok(())
                    }
                };
            }
            never = feeder.deliver() => match never {},
        }
    }
}

fn refused(command: Command) -> Feed {
    let result = Err(CommandError::Recording);
    Feed::Reply { command, result }
}

fn told(severity: Severity, text: String) -> Feed {
    Feed::Status(PrimaryToObservers::Event(Event {
        iteration: Iteration(0),
        severity,
        kind: "recording".to_owned(),
        text,
    }))
}

/// Plays until nobody listens, or the recording cannot be read.
fn play(
    mut player: Player<BufReader<File>>,
    follower: Option<Follower>,
    orders: &Receiver<Order>,
    out: &Sender<Vec<Feed>>,
) {
    if let Err(error) = play_on(&mut player, follower, orders, out) {
        let text = format!("the recording cannot be read on: {error}");
        let _ = out.blocking_send(vec![told(Severity::Error, text)]);
    }
}

fn play_on(
    player: &mut Player<BufReader<File>>,
    mut follower: Option<Follower>,
    orders: &Receiver<Order>,
    out: &Sender<Vec<Feed>>,
) -> Result<(), ReadError> {
    let mut is_new = true;
    let mut last = Instant::now();
    let mut shown = None;
    loop {
        let is_due = shown.is_none_or(|at: Instant| at.elapsed() >= FRAME_TIME);
        if is_new && (is_due || !player.is_playing()) {
            shown = Some(Instant::now());
            if out.blocking_send(player.feed()?).is_err() {
                return Ok(());
            }
        }
        for problem in follower.iter_mut().flat_map(|one| one.follow(player)) {
            if out
                .blocking_send(vec![told(Severity::Warning, problem)])
                .is_err()
            {
                return Ok(());
            }
        }
        let had_more = player.has_more();
        let order = if player.is_playing() {
            let frames = follower.is_none();
            orders.recv_timeout(if frames { FRAME_TIME } else { FOLLOW_TIME })
        } else if had_more {
            orders.recv_timeout(Duration::ZERO)
        } else {
            orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        let elapsed = last.elapsed();
        last += elapsed;
        is_new = player.is_playing();
        player.advance(elapsed)?;
        match order {
            Ok(Order::Replay(request)) => {
                player.act(request)?;
                is_new = true;
            }
            Ok(Order::Listen(topic)) => {
                player.listen(topic.as_deref())?;
                is_new = true;
            }
            Err(RecvTimeoutError::Timeout) => player.look_further()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        is_new |= had_more && !player.has_more();
    }
}
