//! Tests of the client against a primary on an in-memory network.

use protocol::Iteration;
use transport::Publisher;
use transport::memory::{MemoryPrimaryLink, Network};

use super::*;

/// Returns the next message at a primary: who sent it, and what it asks.
fn next_request(primary: &mut MemoryPrimaryLink) -> (protocol::RoutingId, ClientToPrimary) {
    loop {
        match primary
            .receive(Some(Duration::from_mins(2)))
            .unwrap()
            .expect("a request came")
        {
            Arrival::Message {
                from,
                topic,
                payload,
                ..
            } => {
                assert_eq!(topic, topic::REQUEST.as_bytes());
                let asked = protocol::decode::<ClientToPrimary>(&payload).unwrap();
                let from = from.unwrap();
                if asked.body.command == Command::Ping {
                    answer_ping(primary, &from, asked.body.request);
                    continue;
                }
                let is_known = asked.session == envelope(()).session;
                assert!(is_known || asked.body.command.only_asks(), "{asked:?}");
                return (from, asked.body);
            }
            Arrival::Subscribed(_) | Arrival::Unsubscribed(_) | Arrival::Woken => {}
            Arrival::Connected | Arrival::Disconnected | Arrival::Denied(_) => {
                panic!("not at a primary")
            }
        }
    }
}

fn answer_ping(
    primary: &mut MemoryPrimaryLink,
    from: &protocol::RoutingId,
    request: protocol::RequestId,
) {
    let reply = Reply::Done {
        name: None,
        warnings: Vec::new(),
        iteration: Iteration(0),
    };
    let bytes = protocol::encode(&envelope(PrimaryToClient { request, reply }));
    primary
        .send(Destination::Peer(from), topic::REQUEST, &bytes)
        .unwrap();
}

fn envelope<B>(body: B) -> Envelope<B> {
    Envelope {
        version: ProtocolVersion::CURRENT,
        session: SessionId(7),
        sender: PeerName::primary(),
        body,
    }
}

fn connect(network: &Network) -> Connection {
    Connection::over(network.peer(&"client".into(), Subscription::Status(ALL_STATUS)))
}

async fn news(connection: &mut Connection) -> News {
    let news = tokio::time::timeout(Duration::from_mins(2), connection.news()).await;
    news.expect("news came in time")
        .expect("the connection is open")
}

#[tokio::test]
async fn a_request_is_answered_under_its_number() {
    let network = Network::new();
    let mut primary = network.primary();
    let mut connection = connect(&network);
    connection.request(Command::Snapshot);
    let request = connection.request(Command::Pause);
    next_request(&mut primary);
    let (from, asked) = next_request(&mut primary);
    assert_eq!(
        asked,
        ClientToPrimary {
            request,
            command: Command::Pause
        }
    );
    let reply = Reply::Done {
        name: None,
        warnings: Vec::new(),
        iteration: Iteration(3),
    };
    let bytes = protocol::encode(&envelope(PrimaryToClient {
        request,
        reply: reply.clone(),
    }));
    primary
        .send(Destination::Peer(&from), topic::REQUEST, &bytes)
        .unwrap();
    loop {
        match news(&mut connection).await {
            News::Connected => {}
            told => {
                assert_eq!(told, News::Reply { request, reply });
                return;
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_not_understood_is_told_and_not_hidden() {
    let network = Network::new();
    let mut primary = network.primary();
    let mut connection = connect(&network);
    let request = connection.request(Command::Play);
    let (from, _) = next_request(&mut primary);
    primary
        .send(Destination::Peer(&from), topic::REQUEST, b"\xc1")
        .unwrap();
    let answer = tokio::time::timeout(Duration::from_mins(2), answer(&mut connection, request));
    let error = answer.await.expect("an end came in time").unwrap_err();
    assert!(matches!(error, AskError::Failed(_)), "{error}");
}

#[tokio::test]
async fn what_is_said_on_a_topic_is_told_and_nothing_else() {
    let network = Network::new();
    let _primary = network.primary();
    let heard = topic::of_message("/a");
    let subscription = Subscription::Status(&[&heard]);
    let mut connection = Connection::over(network.peer(&"client".into(), subscription));
    assert_eq!(news(&mut connection).await, News::Connected);
    let mut publisher = network.publisher();
    let message = |name: &str| TopicMessage {
        topic: name.to_owned(),
        kind: "gz.msgs.Empty".to_owned(),
        publisher: protocol::Publisher::Client,
        iteration: Iteration(3),
        sim_time: protocol::SimTime(3_000_000),
        body: Vec::new(),
    };
    for name in ["/ab", "/a"] {
        let bytes = protocol::encode(&envelope(message(name)));
        let frame = topic::of_message(name);
        publisher.publish(&frame, &bytes).unwrap();
    }
    let told = news(&mut connection).await;
    assert_eq!(told, News::Message(Box::new(message("/a"))));
}

#[tokio::test]
async fn a_follower_of_events_gets_no_clock() {
    let network = Network::new();
    let _primary = network.primary();
    let subscription = Subscription::Status(COURSE);
    let mut connection = Connection::over(network.peer(&"owner".into(), subscription));
    assert_eq!(news(&mut connection).await, News::Connected);
    let clock = PrimaryToObservers::Clock(protocol::primary_to_observers::Clock {
        iteration: Iteration(1),
        sim_time: protocol::SimTime(0),
        paused: false,
    });
    let event = PrimaryToObservers::Event(protocol::primary_to_observers::Event {
        iteration: Iteration(1),
        severity: protocol::primary_to_observers::Severity::Info,
        kind: "run".to_owned(),
        text: "it began".to_owned(),
    });
    let mut publisher = network.publisher();
    for message in [&clock, &event] {
        let bytes = protocol::encode(&envelope(message.clone()));
        publisher.publish(message.topic(), &bytes).unwrap();
    }
    let told = news(&mut connection).await;
    assert_eq!(told, News::Status(Box::new(event)));
}

#[tokio::test]
async fn a_waiting_request_fails_when_the_run_ends() {
    let network = Network::new();
    let mut primary = network.primary();
    let mut connection = connect(&network);
    let request = connection.request(Command::Play);
    next_request(&mut primary);
    drop(primary);
    let answer = tokio::time::timeout(Duration::from_mins(2), answer(&mut connection, request));
    let error = answer.await.expect("an end came in time").unwrap_err();
    assert!(matches!(error, AskError::Ended), "{error}");
}

#[tokio::test]
async fn a_question_that_nobody_hears_times_out() {
    let folder = tempfile::tempdir().unwrap();
    let endpoints = format!("ipc://{}", folder.path().display());
    let reach = Reach::from(endpoints.parse::<transport::Endpoints>().unwrap());
    let error = ask(&reach, Command::Play, Duration::from_millis(10))
        .await
        .unwrap_err();
    assert!(matches!(error, AskError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_primary_that_comes_back_as_another_run_is_told() {
    let network = Network::new();
    let _primary = network.primary();
    let mut connection = connect(&network);
    assert_eq!(news(&mut connection).await, News::Connected);
    let mut publisher = network.publisher();
    let clock = |iteration| {
        PrimaryToObservers::Clock(protocol::primary_to_observers::Clock {
            iteration: Iteration(iteration),
            sim_time: protocol::SimTime(0),
            paused: false,
        })
    };
    for (session, iteration) in [(7, 1), (7, 2), (8, 0)] {
        let message = Envelope {
            session: SessionId(session),
            ..envelope(clock(iteration))
        };
        let bytes = protocol::encode(&message);
        publisher.publish(topic::CLOCK, &bytes).unwrap();
    }
    let status = |iteration| News::Status(Box::new(clock(iteration)));
    for expected in [status(1), status(2), News::StartedAnew, status(0)] {
        assert_eq!(news(&mut connection).await, expected);
    }
}

#[test]
fn a_connection_that_nobody_reads_can_still_be_closed() {
    let network = Network::new();
    let mut primary = network.primary();
    let mut connection = connect(&network);
    let request = connection.request(Command::Play);
    let (from, _) = next_request(&mut primary);
    let reply = PrimaryToClient {
        request,
        reply: Reply::Done {
            name: None,
            warnings: Vec::new(),
            iteration: Iteration(0),
        },
    };
    let bytes = protocol::encode(&envelope(reply));
    for _ in 0..NEWS_MAX + 10 {
        primary
            .send(Destination::Peer(&from), topic::REQUEST, &bytes)
            .unwrap();
    }
    drop(connection);
}
