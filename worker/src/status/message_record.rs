//! [`MessageRecord`]: the messages on topics, for the file of messages and for the recording.

use lockstep::PrimaryInput;
use protocol::Chain;
use protocol::{PeerName, Sequence, TopicMessage};
use transport::LinkError;

use crate::messages_file::MessagesFile;
use crate::output_file::{Output, WriteOutputError};
use crate::recorder::SaidFeed;
use crate::secondary::InputSender;

/// Messages of a step that did not all arrive.
#[derive(Debug, thiserror::Error)]
#[error("what {} said in step {sequence} did not arrive as announced", joined(.from))]
pub struct LostMessages {
    /// The step.
    pub sequence: Sequence,
    /// Publishers of the messages.
    pub from: Vec<PeerName>,
}

/// Reason why the file of messages lacks something.
#[derive(Debug, thiserror::Error)]
pub enum KeepMessagesError {
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteOutputError),
    /// Some messages did not arrive.
    #[error("the file of messages lacks some")]
    Lost(#[source] LostMessages),
    /// None can arrive any more.
    #[error("the data socket broke")]
    Socket(#[source] LinkError),
    /// The thread has broken down.
    #[error("the status thread panicked")]
    Panicked,
}

/// Keeps all messages in a file and in a recording, where these are asked for.
#[derive(Default)]
pub(super) struct MessageRecord {
    file: Option<MessagesFile>,
    recorder: Option<SaidFeed>,
    /// Reason why the file does not hold every message.
    failure: Option<KeepMessagesError>,
}

impl MessageRecord {
    /// Begins to write to a file.
    pub(super) fn write_to(&mut self, file: Option<MessagesFile>) {
        self.file = file;
    }

    /// Begins to record.
    pub(super) fn record(&mut self, feed: SaidFeed) {
        self.recorder = Some(feed);
    }

    /// Tells whether there is a file that takes messages.
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Records the messages of a step.
    pub(super) fn on_step(&self, sequence: Sequence, messages: &[TopicMessage]) {
        if let Some(recorder) = &self.recorder {
            recorder.messages(sequence, messages);
        }
    }

    /// Writes a message.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn write(&mut self, message: &TopicMessage) -> Result<(), KeepMessagesError> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let written = file.write(message);
        written.map_err(|error| file.file().error(error).into())
    }

    /// Says in the recording that some messages are lost.
    pub(super) fn on_lost(&self, lost: &LostMessages) {
        if let Some(recorder) = &self.recorder {
            recorder.lacks(lost.sequence, &lost.to_string());
        }
    }

    /// Gives the file up, which ends the run: half a proof is none. Tells whether there was one.
    pub(super) fn fail(
        &mut self,
        error: KeepMessagesError,
        stepper: Option<&InputSender<PrimaryInput>>,
    ) -> bool {
        let cause = Chain(&error).to_string();
        if self.file.take().is_none() {
            tracing::error!("{cause}");
            return false;
        }
        if let Some(stepper) = stepper {
            stepper.send(PrimaryInput::Failed(cause));
        }
        self.failure = Some(error);
        true
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Fails if it does not hold every message.
    pub(super) fn finish(self) -> Result<(), KeepMessagesError> {
        if let Some(mut file) = self.file {
            let completed = file.complete();
            completed.map_err(|error| file.file().error(error))?;
        }
        self.failure.map_or(Ok(()), Err)
    }
}

fn joined(names: &[PeerName]) -> String {
    let names: Vec<&str> = names.iter().map(PeerName::as_str).collect();
    names.join(", ")
}
