//! `phalanx ctl clients`: who is connected to a run, one connection in each row.

use client::units::age;
use protocol::report::{ClientConnection, Clients};
use protocol::topic;

use crate::cli::TableFormat;
use crate::commands::{CommandResult, output};
use view::show::table::{Table, names};

/// Number of topics of a connection that are named for people.
const TOPICS_SHOWN_MAX: usize = 4;

/// Prints the connections of a run.
pub(super) fn print(clients: &Clients, format: TableFormat, now_unix_s: u64) -> CommandResult {
    match format {
        TableFormat::Json => return output::print_json(clients),
        TableFormat::Csv => output::print(&table(clients, now_unix_s, usize::MAX).csv())?,
        TableFormat::Text => output::print(&table(clients, now_unix_s, TOPICS_SHOWN_MAX).render())?,
    };
    if clients.left_out > 0 {
        output::note(&format!(
            "{} more connections are left out",
            clients.left_out
        ));
    }
    let barred = clients.barred.join(", ");
    if !barred.is_empty() {
        output::note(&format!("kept out of this run: {barred}"));
    }
    Ok(protocol::ExitCode::Success)
}

fn table(clients: &Clients, now_unix_s: u64, topics_max: usize) -> Table {
    let mut table = Table::new(&[
        "KEY", "ROLE", "ADDRESS", "SOCKET", "AGE", "REQUESTS", "REFUSED", "TOPICS",
    ]);
    for connection in &clients.connections {
        let seconds = now_unix_s.saturating_sub(connection.since_unix_s);
        table.row([
            connection.key.clone().unwrap_or_else(|| "none".to_owned()),
            connection.role.to_string(),
            address(connection),
            connection.socket.clone(),
            age(seconds),
            connection.requests.to_string(),
            connection.refused.to_string(),
            topics(connection, topics_max),
        ]);
    }
    table
}

fn address(connection: &ClientConnection) -> String {
    if let Some(address) = &connection.address {
        return address.clone();
    }
    let pid = connection.pid.map(|pid| format!("pid {pid}"));
    let user = connection.uid.map(|uid| format!("user {uid}"));
    names(&[pid, user].into_iter().flatten().collect::<Vec<_>>()).replace(',', " ")
}

/// Names the first topics that a connection listens to, those of the world without their marks.
fn topics(connection: &ClientConnection, topics_max: usize) -> String {
    let named: Vec<&str> = connection.topics.iter().map(|frame| plain(frame)).collect();
    let shown = named.len().min(topics_max);
    let more = connection.subscriptions.saturating_sub(shown as u64);
    let listed = names(&named[..shown]);
    if more == 0 {
        listed
    } else {
        format!("{listed} and {more} more")
    }
}

fn plain(frame: &str) -> &str {
    match frame {
        topic::EVERY_MESSAGE => "all topics of the world",
        frame => topic::message_name(frame.as_bytes()).unwrap_or(frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Access;

    fn connection() -> ClientConnection {
        ClientConnection {
            key: Some("ann".to_owned()),
            role: Access::Controller,
            socket: "clients".to_owned(),
            address: Some("192.0.2.7:4711".to_owned()),
            uid: None,
            pid: None,
            since_unix_s: 940,
            requests: 12,
            refused: 1,
            subscriptions: 0,
            topics: Vec::new(),
        }
    }

    #[test]
    fn each_connection_has_a_row() {
        let listens = |socket: &str, subscriptions, topics: &[&str]| ClientConnection {
            socket: socket.to_owned(),
            requests: 0,
            refused: 0,
            subscriptions,
            topics: topics.iter().map(ToString::to_string).collect(),
            ..connection()
        };
        let camera = topic::of_message("/camera");
        let connections = vec![
            connection(),
            listens("status", 6, &["/a", &camera, "@", "/b", "/c"]),
            ClientConnection {
                key: None,
                role: Access::Full,
                address: None,
                uid: Some(1000),
                pid: Some(4711),
                ..listens("status", 1, &["/stats"])
            },
        ];
        let clients = Clients {
            connections,
            ..Clients::default()
        };
        expect_test::expect![[r"
            KEY   ROLE        ADDRESS             SOCKET   AGE   REQUESTS  REFUSED  TOPICS
            ann   controller  192.0.2.7:4711      clients  60 s  12        1        -
            ann   controller  192.0.2.7:4711      status   60 s  0         0        /a and 5 more
            none  owner       pid 4711 user 1000  status   60 s  0         0        /stats
        "]]
        .assert_eq(&table(&clients, 1000, 1).render());
        let named = topics(&clients.connections[1], TOPICS_SHOWN_MAX);
        assert_eq!(named, "/a,/camera,all topics of the world,/b and 2 more");
    }
}
