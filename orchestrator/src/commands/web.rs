//! `phalanx web`: the page and Foxglove's protocol of a run or a recording, on one port.

mod details;
mod recorded;

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use client::feed::Feed;
use client::plain_text::plain;
use protocol::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use web::admission::Admission;
use web::assets::Assets;
use web::hub::{Hub, HubSettings};
use web::server::Server;
use web::source::{Source, SourceNews};
use web::token::Token;

use super::{CommandResult, Failed, output, replay, runtime, target};
use crate::cli::WebArguments;
use crate::run_directory::LogFiles;
use details::ViewDetails;

/// Capacity of the queue of news of all clients.
const VIEWER_NEWS_MAX: usize = 64;

/// Interval at which logs of the run's processes are read.
const LOG_TIME: Duration = Duration::from_millis(500);

/// Serves a run or a recording until it is interrupted.
pub(super) fn web(arguments: &WebArguments) -> CommandResult {
    let token = token(arguments)?;
    match arguments
        .run
        .as_deref()
        .filter(|named| replay::is_recording(named))
    {
        Some(file) => serve_recording(arguments, token, Path::new(file)),
        None => serve_run(arguments, token),
    }
}

fn serve_run(arguments: &WebArguments, token: Option<Token>) -> CommandResult {
    let target = target::find(arguments.run.as_deref(), &arguments.keys)?;
    let name = target.name();
    runtime()?.block_on(async {
        let (end, source) = web::source::pair();
        let logs = target.found.as_ref();
        let logs = logs.map(|found| LogFiles::new(found.logs(), None));
        let logged = follow_logs(logs, end.news.clone());
        let followed = web::live::follow(target.reach, end);
        let served = serve(arguments, token, &name, false, source);
        tokio::select! {
            followed = followed => {
                followed.context("cannot connect to the run")?;
                Ok(ExitCode::Success)
            }
            never = logged => match never {},
            served = served => served,
        }
    })
}

/// Tells what processes of a run of this machine print; never returns.
async fn follow_logs(files: Option<LogFiles>, news: mpsc::Sender<SourceNews>) -> Infallible {
    let Some(mut files) = files else {
        return pending().await;
    };
    let mut looks = interval(LOG_TIME);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let lines = files.read();
        if lines.is_empty() {
            continue;
        }
        let told = SourceNews::Feed(Box::new(Feed::Logs(lines)));
        if news.send(told).await.is_err() {
            return pending().await;
        }
    }
}

fn serve_recording(arguments: &WebArguments, token: Option<Token>, file: &Path) -> CommandResult {
    let recording = replay::open(file)?;
    if let Some((offset, reason)) = recording.break_off() {
        output::note(&format!(
            "the recording breaks off at byte {offset}: {reason}"
        ));
    }
    let name = plain(&file.file_stem().unwrap_or_default().to_string_lossy());
    let configuration = |error| Failed::new(ExitCode::Configuration, error);
    runtime()?.block_on(async {
        let (end, source) = web::source::pair();
        let followed = recorded::follow(recording, file, end);
        let served = serve(arguments, token, &name, true, source);
        tokio::select! {
            followed = followed => {
                followed.map_err(configuration)?;
                Ok(ExitCode::Success)
            }
            served = served => served,
        }
    })
}

/// Returns the token that whoever connects must know.
fn token(arguments: &WebArguments) -> Result<Option<Token>, Failed> {
    let usage = |error| Failed::new(ExitCode::Usage, error);
    match &arguments.token {
        Some(text) => Ok(Some(Token::chosen(text).map_err(usage)?)),
        None if arguments.bind.ip().is_loopback() => Ok(None),
        None => Ok(Some(Token::random().map_err(anyhow::Error::new)?)),
    }
}

/// Serves a source until it is gone, or a signal comes.
async fn serve(
    arguments: &WebArguments,
    token: Option<Token>,
    name: &str,
    is_recording: bool,
    source: Source,
) -> CommandResult {
    let assets = Assets::default();
    let (viewers, viewer_news) = mpsc::channel(VIEWER_NEWS_MAX);
    let admission = Admission {
        token: token.clone(),
        origins: arguments.allow_origin.clone(),
    };
    let server = Server::bind(arguments.bind, admission, assets.clone(), viewers).await;
    let server = server.map_err(|error| Failed::new(ExitCode::Failure, error))?;
    let address = server.address().context("the port is not known")?;
    let link = link(address, token.as_ref());
    output::print(&format!("{link}\n"))?;
    if let Some(line) = forwarding(address, std::env::var("SSH_CONNECTION").ok().as_deref()) {
        output::note(&line);
    }
    if arguments.open {
        open(&link);
    }
    let details = Box::new(ViewDetails::new(name));
    let settings = HubSettings {
        name,
        server: &server_name(name),
        is_recording,
        jpeg_quality: arguments.jpeg_quality.0,
    };
    let hub = Hub::new(settings, source, assets, details);
    let (hub, news) = hub.context("cannot start the thread of images")?;
    let mut interrupted = signal(SignalKind::interrupt()).context("cannot wait for signals")?;
    let mut terminated = signal(SignalKind::terminate()).context("cannot wait for signals")?;
    tokio::select! {
        () = hub.run(news, viewer_news) => Ok(ExitCode::Success),
        never = server.serve() => match never {},
        _ = interrupted.recv() => Ok(ExitCode::Interrupted),
        _ = terminated.recv() => Ok(ExitCode::Interrupted),
    }
}

/// Returns a name that no other server ever has.
fn server_name(name: &str) -> String {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{name}-{:x}-{:x}", since.as_nanos(), std::process::id())
}

/// Returns the address of the page.
fn link(address: SocketAddr, token: Option<&Token>) -> String {
    let host = if address.ip().is_unspecified() {
        let name = rustix::system::uname();
        let name = name.nodename().to_string_lossy().into_owned();
        format!("{name}:{}", address.port())
    } else {
        address.to_string()
    };
    // Browsers never send what is behind `#`.
    let secret = token.map(|token| format!("#token={}", token.text()));
    format!("http://{host}/{}", secret.unwrap_or_default())
}

/// Returns how to reach a port of this machine alone from where an SSH session came from.
fn forwarding(address: SocketAddr, connection: Option<&str>) -> Option<String> {
    let host = connection?.split_whitespace().nth(2)?;
    if !address.ip().is_loopback() {
        return None;
    }
    let port = address.port();
    Some(format!(
        "from your machine: ssh -N -L {port}:{address} {host}, then open http://localhost:{port}/"
    ))
}

/// Opens an address in a browser; the browser goes its own way.
fn open(link: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(opener);
    let command = command.arg(link).stdin(Stdio::null()).stdout(Stdio::null());
    if let Err(error) = command.stderr(Stdio::null()).spawn() {
        output::note(&format!(
            "no browser can be opened ({opener}: {error}): open {link}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_ssh_is_told_how_to_reach_the_port() {
        let address = "127.0.0.1:8765".parse().unwrap();
        let line = forwarding(address, Some("10.0.0.7 50000 10.0.0.9 22")).unwrap();
        assert!(
            line.contains("ssh -N -L 8765:127.0.0.1:8765 10.0.0.9,"),
            "{line}"
        );
        assert_eq!(forwarding(address, None), None);
        assert_eq!(
            forwarding("0.0.0.0:1".parse().unwrap(), Some("a b c d")),
            None
        );
    }

    #[test]
    fn the_token_is_behind_the_address_where_no_server_sees_it() {
        let token = Token::chosen("0123456789abcdef").unwrap();
        let address = "192.0.2.1:80".parse().unwrap();
        let expected = "http://192.0.2.1:80/#token=0123456789abcdef";
        assert_eq!(link(address, Some(&token)), expected);
        assert_eq!(link("[::1]:80".parse().unwrap(), None), "http://[::1]:80/");
    }
}
