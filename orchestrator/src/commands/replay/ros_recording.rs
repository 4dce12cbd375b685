//! A recording for programs of ROS 2, published again: its topics have their names already, and
//! its messages are in the encoding of nodes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

use ::ros2_control::ros_playback::RosPlayback;
use protocol::ExitCode;
use recording::{Message, RosRecording};

use super::super::{CommandResult, Failed, output, ros2_control};
use super::ros2::{DISCOVERY, LAST_WORDS, PERIOD, TOLD_MAX, await_readers};
use crate::cli::ReplayArguments;

/// Messages of a recording, one after the other.
struct Messages {
    recording: RosRecording<BufReader<File>>,
    next_chunk: usize,
    read: VecDeque<Message>,
}

impl Messages {
    /// Returns the next message, and leaves it there.
    fn next(&mut self) -> Result<Option<&Message>, recording::ReadError> {
        while self.read.is_empty() && self.next_chunk < self.recording.chunk_count() {
            self.read = self.recording.messages(self.next_chunk)?.into();
            self.next_chunk += 1;
        }
        Ok(self.read.front())
    }

    /// Takes the next message, if it is of this time or before.
    fn take_until(&mut self, now_ns: u64) -> Result<Option<Message>, recording::ReadError> {
        let is_due = self.next()?.is_some_and(|next| next.sim_time.0 <= now_ns);
        Ok(if is_due { self.read.pop_front() } else { None })
    }
}

/// Publishes a recording from its start to its end, without a view.
pub(super) fn play(arguments: &ReplayArguments) -> CommandResult {
    if !arguments.ros.headless {
        let message = "a recording for programs of ROS 2 has nothing for a view: use --headless";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    if arguments.ros.ros_rules.is_some() {
        let message = "rules are those by which it was recorded: leave out --ros-rules";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let failed = |error: recording::ReadError| super::refused(&arguments.file, error);
    let file = File::open(&arguments.file).map_err(|error| failed(error.into()))?;
    let recording = RosRecording::open(BufReader::new(file)).map_err(failed)?;
    if let Some((offset, reason)) = recording.break_off() {
        output::note(&format!(
            "warning: the recording breaks off at byte {offset}: {reason}"
        ));
    }
    let playback = join(arguments, &recording)?;
    await_readers(arguments, |topic| playback.is_read(topic));
    if !arguments.ros.await_reader.is_empty() {
        std::thread::sleep(DISCOVERY);
    }
    let mut messages = Messages {
        recording,
        next_chunk: 0,
        read: VecDeque::new(),
    };
    let (begin, mut problems) = (Instant::now(), 0);
    let first = messages.next().map_err(failed)?;
    let first_ns = first.map_or(0, |message| message.sim_time.0);
    while messages.next().map_err(failed)?.is_some() {
        let elapsed = begin.elapsed().as_secs_f64() * arguments.ros.speed;
        let now_ns = first_ns.saturating_add((elapsed * 1e9) as u64);
        while let Some(message) = messages.take_until(now_ns).map_err(failed)? {
            if let Err(error) = playback.say(message.channel, message.data) {
                problems += 1;
                if problems <= TOLD_MAX {
                    let channel = &messages.recording.channels()[&message.channel];
                    output::note(&format!("not in ROS 2: {}: {error}", channel.topic));
                }
            }
        }
        std::thread::sleep(PERIOD);
    }
    playback.finish(LAST_WORDS);
    Ok(ExitCode::Success)
}

/// Joins the domain with the topics of a recording.
fn join(
    arguments: &ReplayArguments,
    recording: &RosRecording<BufReader<File>>,
) -> Result<RosPlayback, Failed> {
    let domain = ros2_control::domain(arguments.ros.ros_domain, arguments.ros.ros_localhost_only)?;
    let joined = RosPlayback::join(&domain);
    let mut playback = joined.map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    for (number, channel) in recording.channels() {
        let name = (channel.topic.as_str(), channel.type_name.as_str());
        if let Err(error) = playback.add(*number, name, channel.qos) {
            output::note(&format!("warning: {} is left out: {error}", channel.topic));
        }
    }
    playback.announce();
    let domain = domain.id;
    output::note(&format!("the recording is in domain {domain} of ROS 2"));
    Ok(playback)
}
