//! Summary of a recording, for people and for programs.

use std::fmt::Write as _;
use std::io::{Read, Seek};

use client::plain_text::plain;
use protocol::{Digest, Iteration};
use recording::content::IterationDigest;
use recording::description::date;
use recording::{Channel, Message, ReadError, Recording};
use serde::Serialize;

use view::show::table::Table;

/// Summary of a recording.
#[derive(Debug, Serialize)]
pub(super) struct Info {
    /// True if it was brought to its end.
    complete: bool,
    /// Reason why it breaks off, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks_off: Option<BreakOff>,
    worlds: Vec<String>,
    session: String,
    version: String,
    target: String,
    started: String,
    secondaries: u32,
    seed: u64,
    step_size_s: f64,
    /// Simulated time of the first and of the last message \[s\].
    start_s: f64,
    end_s: f64,
    duration_s: f64,
    iterations: u64,
    digest: Option<Digest>,
    record_rate_hz: f64,
    /// Settings of the run, as its recording has them.
    spec: serde_json::Value,
    frames: u64,
    commands: u64,
    events: u64,
    messages: u64,
    channels: Vec<ChannelLine>,
}

#[derive(Debug, Serialize)]
struct BreakOff {
    byte: u64,
    reason: String,
}

#[derive(Debug, Serialize)]
struct ChannelLine {
    topic: String,
    schema: String,
    encoding: String,
    publisher: String,
    messages: u64,
}

impl Info {
    /// Reads it.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub(super) fn read<R: Read + Seek>(recording: &mut Recording<R>) -> Result<Self, ReadError> {
        let (iterations, digest) = last_digest(recording)?;
        let of = |recording: &Recording<R>, channel| {
            let id = recording.channel(channel);
            id.map_or(0, |id| recording.channels()[&id].count)
        };
        let chunks = recording.chunks().iter();
        let start = chunks
            .clone()
            .map(|chunk| chunk.start)
            .min()
            .unwrap_or_default();
        let end = chunks.map(|chunk| chunk.end).max().unwrap_or_default();
        let description = recording.description();
        let channels: Vec<ChannelLine> = recording
            .channels()
            .values()
            .filter(|channel| channel.count > 0)
            .map(|channel| ChannelLine {
                topic: plain(&channel.topic),
                schema: plain(&channel.schema),
                encoding: plain(&channel.encoding),
                publisher: plain(&channel.publisher),
                messages: channel.count,
            })
            .collect();
        Ok(Self {
            complete: recording.has_index(),
            breaks_off: recording.break_off().map(|(byte, reason)| BreakOff {
                byte,
                reason: plain(reason),
            }),
            worlds: description.worlds.iter().map(|name| plain(name)).collect(),
            session: format!("{:016x}", description.session.0),
            version: plain(&description.build.version),
            target: plain(&description.build.target),
            started: date(description.started_unix_ms),
            secondaries: description.secondaries,
            seed: description.seed,
            step_size_s: description.step_size_ns as f64 / 1e9,
            start_s: start.seconds(),
            end_s: end.seconds(),
            duration_s: end.seconds() - start.seconds(),
            iterations: iterations.0,
            digest,
            record_rate_hz: description.record_rate_hz,
            spec: description.spec.clone(),
            frames: of(recording, Channel::Poses),
            commands: of(recording, Channel::Commands),
            events: of(recording, Channel::Events),
            messages: channels.iter().map(|channel| channel.messages).sum(),
            channels,
        })
    }

    /// Returns it for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |label: &str, value: String| {
            let _ = writeln!(text, "{label:<12}{value}");
        };
        line("worlds", self.worlds.join(", "));
        line("started", self.started.clone());
        let processes = match self.secondaries {
            0 => "in one process".to_owned(),
            1 => "by 1 secondary".to_owned(),
            count => format!("by {count} secondaries"),
        };
        line("run", format!("session {}, {processes}", self.session));
        line("build", format!("{} for {}", self.version, self.target));
        line("seed", self.seed.to_string());
        let time = format!(
            "{} s, from {} s to {} s",
            self.duration_s, self.start_s, self.end_s
        );
        line("sim time", time);
        line(
            "iterations",
            format!("{} of {} s", self.iterations, self.step_size_s),
        );
        if let Some(digest) = self.digest {
            line("digest", digest.to_string());
        }
        line("frames", self.frames.to_string());
        line("events", self.events.to_string());
        line("commands", self.commands.to_string());
        match &self.breaks_off {
            Some(at) => line(
                "end",
                format!("breaks off at byte {}: {}", at.byte, at.reason),
            ),
            None => line("end", "complete".to_owned()),
        }
        let mut table = Table::new(&["TOPIC", "SCHEMA", "MESSAGES", "PUBLISHER"]);
        for channel in &self.channels {
            table.row([
                channel.topic.clone(),
                or_dash(&channel.schema),
                channel.messages.to_string(),
                or_dash(&channel.publisher),
            ]);
        }
        text + "\n" + &table.render()
    }
}

/// Returns the last iteration that has a digest, and that digest.
fn last_digest<R: Read + Seek>(
    recording: &mut Recording<R>,
) -> Result<(Iteration, Option<Digest>), ReadError> {
    let Some(id) = recording.channel(Channel::Digests) else {
        return Ok((Iteration(0), None));
    };
    let mut chunks = recording.chunks().iter();
    let Some(last) = chunks.rposition(|chunk| chunk.has(id)) else {
        return Ok((Iteration(0), None));
    };
    let messages = recording.messages(last)?;
    let of_digests = |message: &&Message| message.channel == id;
    let Some(message) = messages.iter().rfind(of_digests) else {
        return Ok((Iteration(0), None));
    };
    let read: IterationDigest = serde_json::from_slice(&message.data).map_err(|error| {
        ReadError::Content(recording::digests::wrong_message(
            Channel::Digests,
            message,
            &error,
        ))
    })?;
    Ok((read.iteration, Some(read.digest)))
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-" } else { text }.to_owned()
}
