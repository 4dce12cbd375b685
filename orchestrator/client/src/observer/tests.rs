//! Tests of what the view is fed.

use std::sync::Arc;

use protocol::primary_to_observers::Severity;
use protocol::{FailureCode, Iteration, PrimaryToObservers};
use transport::memory::Network;
use transport::{Arrival, Destination, Endpoints, Link, LinkError, Subscription, Waker};

use super::*;

fn pending(commands: &[Command]) -> Pending {
    let sent = commands.iter().zip(1..);
    Pending {
        sent: sent
            .map(|(command, id)| (RequestId(id), command.clone()))
            .collect(),
        ..Pending::default()
    }
}

#[test]
fn replies_are_matched_with_their_commands() {
    let mut pending = pending(&[Command::Play, Command::Pause]);
    let done = Reply::Done {
        name: None,
        warnings: Vec::new(),
        iteration: Iteration(7),
    };
    assert_eq!(
        pending.on_reply(RequestId(2), done.clone()),
        Some(Feed::Reply {
            command: Command::Pause,
            result: Ok(Iteration(7))
        })
    );
    assert_eq!(pending.on_reply(RequestId(2), done), None);
    let failed = Reply::Failed {
        code: FailureCode::Other,
        reason: "no".to_owned(),
    };
    assert_eq!(
        pending.on_reply(RequestId(1), failed),
        Some(Feed::Reply {
            command: Command::Play,
            result: Err(CommandError::Refused {
                code: FailureCode::Other,
                reason: "no".to_owned()
            })
        })
    );
}

#[test]
fn commands_without_an_answer_fail_when_the_connection_is_lost() {
    let mut pending = pending(&[Command::Snapshot, Command::Play]);
    let expected = vec![Feed::Reply {
        command: Command::Play,
        result: Err(CommandError::Lost {
            reason: "lost".to_owned(),
        }),
    }];
    assert_eq!(pending.give_up("lost"), expected);
    assert_eq!(pending.give_up("lost"), Vec::new());
}

/// A link that fails as soon as it is used.
struct Broken;

impl Link for Broken {
    fn send(&mut self, _: Destination<'_>, _: &str, _: &[u8]) -> Result<(), LinkError> {
        Err(LinkError::NoSuchDestination)
    }

    fn receive(&mut self, _: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        Err(LinkError::NoSuchDestination)
    }

    fn waker(&self) -> Arc<dyn Waker> {
        Arc::new(Self)
    }
}

impl Waker for Broken {
    fn wake(&self) {}
}

/// An observer over a link that is there, and of endpoints where nobody is.
fn observer(link: impl Link + Send + 'static) -> Observer {
    let nowhere = std::env::temp_dir().join("nobody-is-here");
    let endpoints = format!("ipc://{}", nowhere.display());
    let endpoints: Endpoints = endpoints.parse().unwrap();
    let mut observer = Observer::open(&endpoints.into()).unwrap();
    observer.connection = Connection::over(link);
    observer
}

fn observer_in(network: &Network) -> Observer {
    observer(network.peer(&"client".into(), Subscription::None))
}

/// Waits for news as a view does that has other things to do, too.
async fn glance(observer: &mut Observer) -> Option<Vec<Feed>> {
    tokio::select! {
        biased;
        feeds = observer.feed() => Some(feeds),
        () = tokio::task::yield_now() => None,
    }
}

/// Glances until something is so.
async fn glance_until(observer: &mut Observer, is_so: impl Fn(&Observer) -> bool) {
    let glances = async {
        while !is_so(observer) {
            glance(observer).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(2), glances).await;
    in_time.expect("it came in time");
}

fn waits_for(observer: &Observer, wanted: &Command) -> usize {
    let commands = observer.pending.sent.values();
    commands.filter(|command| *command == wanted).count()
}

fn event(text: &str) -> News {
    News::Status(Box::new(PrimaryToObservers::Event(Event {
        iteration: Iteration(1),
        severity: Severity::Info,
        kind: "command".to_owned(),
        text: text.to_owned(),
    })))
}

#[tokio::test]
async fn a_failed_link_is_opened_again_however_often_waiting_is_interrupted() {
    let mut observer = observer(Broken);
    let feeds = tokio::time::timeout(Duration::from_mins(2), observer.feed()).await;
    assert!(feeds.unwrap().contains(&Feed::Disconnected));
    let due = observer.reopen_at.expect("another link is tried");
    for _ in 0..3 {
        assert_eq!(glance(&mut observer).await, None);
        assert_eq!(observer.reopen_at, Some(due));
    }
    observer.reopen_at = Some(Instant::now());
    glance_until(&mut observer, |observer| observer.reopen_at.is_none()).await;
    observer.send(Command::Play);
    assert_eq!(waits_for(&observer, &Command::Play), 1);
}

#[tokio::test]
async fn a_command_is_answered_at_once_while_there_is_no_link() {
    let mut observer = observer(Broken);
    glance_until(&mut observer, |observer| observer.reopen_at.is_some()).await;
    observer.send(Command::Snapshot);
    observer.send(Command::Play);
    let expected = Feed::Reply {
        command: Command::Play,
        result: Err(CommandError::NoLink),
    };
    assert_eq!(glance(&mut observer).await, Some(vec![expected]));
    assert_eq!(waits_for(&observer, &Command::Play), 0);
}

#[test]
fn a_link_is_lost_once_it_was_there_whatever_comes_after() {
    let mut observer = observer_in(&Network::new());
    assert!(!observer.is_lost(), "it may still come");
    observer.on_news(News::Connected);
    assert!(!observer.is_lost());
    observer.on_news(News::Disconnected);
    observer.on_news(event("play"));
    assert!(observer.is_lost());
    observer.on_news(News::Connected);
    assert!(!observer.is_lost());
}

#[test]
fn the_past_is_asked_for_when_the_present_is_heard() {
    let mut observer = observer_in(&Network::new());
    observer.on_news(News::Connected);
    assert_eq!(waits_for(&observer, &Command::History), 0);
    observer.on_news(event("play"));
    observer.on_news(event("pause"));
    assert_eq!(waits_for(&observer, &Command::History), 1);
}

#[test]
fn another_run_is_asked_for_all_that_the_first_one_was() {
    let mut observer = observer_in(&Network::new());
    observer.on_news(News::Connected);
    observer.pending = Pending::default();
    observer.on_news(News::StartedAnew);
    observer.on_news(event("play"));
    for command in [
        Command::Snapshot,
        Command::Layout,
        Command::Topics,
        Command::History,
    ] {
        assert_eq!(waits_for(&observer, &command), 1, "{command:?}");
    }
}

#[test]
fn a_robot_is_halted_when_its_run_is_reached_again() {
    let mut observer = observer_in(&Network::new());
    observer.halt.command = Some(Command::Pause);
    observer.on_news(News::Disconnected);
    observer.on_news(News::Connected);
    assert_eq!(waits_for(&observer, &Command::Pause), 0, "which run it is");
    observer.on_news(event("play"));
    assert_eq!(waits_for(&observer, &Command::Pause), 1);
}

#[test]
fn the_halt_of_a_robot_is_not_sent_to_another_run() {
    let mut observer = observer_in(&Network::new());
    observer.halt.command = Some(Command::Pause);
    observer.on_news(News::Disconnected);
    observer.on_news(News::Connected);
    observer.on_news(News::StartedAnew);
    observer.on_news(event("play"));
    assert_eq!(waits_for(&observer, &Command::Pause), 0);
    assert_eq!(observer.halt.command, None);
}

#[tokio::test]
async fn what_stands_where_is_asked_again_when_models_come_or_go() {
    let mut observer = observer_in(&Network::new());
    observer.on_news(News::Connected);
    observer.on_news(event("play"));
    assert_eq!(observer.models.due, None);
    for change in ["spawn box", "remove box", "reset all"] {
        observer.models.due = None;
        observer.on_news(event(change));
        let due = observer.models.due.expect(change);
        assert!(due >= observer.models.asked.unwrap() + MODELS_TIME);
        observer.on_news(event(change));
        assert_eq!(observer.models.due, Some(due), "none postpones it");
    }
    assert_eq!(waits_for(&observer, &Command::Layout), 1);
    observer.models.due = Some(Instant::now());
    glance_until(&mut observer, |observer| {
        waits_for(observer, &Command::Layout) == 2 && waits_for(observer, &Command::Topics) == 2
    })
    .await;
    assert_eq!(observer.models.due, None);
}

#[tokio::test]
async fn a_follower_of_events_requests_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let endpoints = format!("ipc://{}", folder.path().display());
    let endpoints: Endpoints = endpoints.parse().unwrap();
    let asked = |observer: Result<Observer, ConnectError>| {
        let mut observer = observer.unwrap();
        assert_eq!(observer.on_news(News::Connected), [Feed::Connected]);
        observer.pending.sent.len()
    };
    let reach = Reach::from(endpoints);
    assert_eq!(asked(Observer::open(&reach)), 3);
    assert_eq!(asked(Observer::follow(&reach)), 0);
}
