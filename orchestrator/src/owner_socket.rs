//! The socket by which the owner of a run is asked for what it alone can do: to start programs on
//! other machines, and to let such go.
//!
//! It is in the run's folder, which only its user enters, and not among those of the primary: ssh
//! runs under the account of the owner, and no key of a client is to start programs with it. One
//! connection carries one question and one answer, each a line of JSON.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Name of the socket in the run's folder.
const SOCKET_FILE: &str = "owner";

/// The longest line \[bytes\].
const LINE_BYTES_MAX: u64 = 64 << 10;

/// The most questions that wait to be taken.
const QUESTIONS_MAX: usize = 16;

/// Time that a line may take to arrive once its connection is there.
const LINE_TIME: Duration = Duration::from_secs(5);

/// Time after which the next connection is waited for when one could not be taken, such as for want
/// of open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Time beyond that of the question for which its answer is waited for.
const ANSWER_GRACE: Duration = Duration::from_secs(2);

/// A change of the hosts of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostChange {
    /// Starts secondaries on hosts, written as `--hosts` takes them.
    Add(String),
    /// Lets all secondaries of a host hand over their cells and leave.
    Drain(String),
}

/// A question to the owner of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerQuestion {
    /// The change that is asked for.
    pub change: HostChange,
    /// Time that it may take \[ms\].
    pub limit_ms: u64,
}

/// Answer of the owner of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerAnswer {
    /// It is done: these secondaries have come, or are gone.
    Done {
        /// Their names.
        secondaries: Vec<String>,
    },
    /// It could not be done.
    Failed {
        /// Reason, for people.
        reason: String,
        /// True if only its time was over.
        is_late: bool,
    },
}

/// A question with the place for its answer.
#[derive(Debug)]
pub struct Question {
    /// The question.
    pub asked: OwnerQuestion,
    /// Place for its answer; who asked may have gone.
    pub answer: oneshot::Sender<OwnerAnswer>,
}

/// Reason why the owner of a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskOwnerError {
    /// There is nobody at the socket.
    #[error("cannot reach the process that owns the run at {}", path.display())]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// It did not answer in time.
    #[error("the process that owns the run did not answer within {seconds} s")]
    Silent {
        /// Time that it had \[s\].
        seconds: u64,
    },
    /// It went away, or said something else than was expected.
    #[error("the process that owns the run did not answer: the run may have ended")]
    NoAnswer(#[source] io::Error),
}

/// Reason why questions to the owner of a run cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the socket {}", path.display())]
pub struct ListenError {
    path: PathBuf,
    source: io::Error,
}

/// Begins to take questions in the folder of a run.
///
/// # Errors
/// Fails if the socket cannot be made, as in a folder whose path is longer than about 100 bytes.
///
/// # Panics
/// Outside a tokio runtime.
pub fn listen(folder: &Path) -> Result<mpsc::Receiver<Question>, ListenError> {
    let path = folder.join(SOCKET_FILE);
    let bound = bind(&path);
    let listener = bound.map_err(|source| ListenError { path, source })?;
    let (sender, questions) = mpsc::channel(QUESTIONS_MAX);
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(serve(stream, sender.clone()))),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    });
    Ok(questions)
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        // One that was killed left it behind; the lock of the folder says that it is gone.
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    UnixListener::bind(path)
}

/// Asks the owner of the run of a folder, and waits for its answer.
///
/// # Errors
/// Fails if there is no answer.
pub async fn ask(
    folder: &Path,
    change: HostChange,
    limit: Duration,
) -> Result<OwnerAnswer, AskOwnerError> {
    let path = folder.join(SOCKET_FILE);
    let stream = UnixStream::connect(&path).await;
    let mut stream = stream.map_err(|source| AskOwnerError::Unreachable { path, source })?;
    let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let question = OwnerQuestion { change, limit_ms };
    let exchange = async {
        // An owner that does not read all of it says why.
        let written = write_line(&mut stream, &question).await;
        let answer = read_line(&mut stream).await;
        answer.map_err(|error| written.err().unwrap_or(error))
    };
    match timeout(limit.saturating_add(ANSWER_GRACE), exchange).await {
        Ok(answer) => answer.map_err(AskOwnerError::NoAnswer),
        Err(_) => Err(AskOwnerError::Silent {
            seconds: limit.as_secs(),
        }),
    }
}

/// Takes one question and answers it, also where it cannot be read.
async fn serve(mut stream: UnixStream, questions: mpsc::Sender<Question>) {
    let answer = match timeout(LINE_TIME, read_line(&mut stream)).await {
        Ok(Ok(asked)) => {
            let (answer, answered) = oneshot::channel();
            if questions.send(Question { asked, answer }).await.is_err() {
                return;
            }
            let Ok(answer) = answered.await else {
                return;
            };
            answer
        }
        Ok(Err(error)) => unread(&error.to_string()),
        Err(_) => unread(&format!("no line came within {} s", LINE_TIME.as_secs())),
    };
    // Who asked may have gone, and finds out by itself what became of it.
    let _ = write_line(&mut stream, &answer).await;
}

fn unread(reason: &str) -> OwnerAnswer {
    OwnerAnswer::Failed {
        reason: format!("the process that owns the run cannot read the question: {reason}"),
        is_late: false,
    }
}

async fn write_line(stream: &mut UnixStream, value: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(value)? + "\n";
    stream.write_all(line.as_bytes()).await
}

async fn read_line<T: DeserializeOwned>(stream: &mut UnixStream) -> io::Result<T> {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.take(LINE_BYTES_MAX));
    reader.read_line(&mut line).await?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with('\n') {
        let text = format!("it has more than {LINE_BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_mins(2);

    #[tokio::test]
    async fn a_question_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let mut questions = listen(folder.path()).unwrap();
        let change = HostChange::Add("a:2".to_owned());
        let owner = async {
            let question = questions.recv().await.unwrap();
            assert_eq!(question.asked.change, HostChange::Add("a:2".to_owned()));
            assert_eq!(question.asked.limit_ms, 120_000);
            let secondaries = vec!["s3".to_owned()];
            question
                .answer
                .send(OwnerAnswer::Done { secondaries })
                .unwrap();
        };
        let (answer, ()) = tokio::join!(ask(folder.path(), change, LIMIT), owner);
        let secondaries = vec!["s3".to_owned()];
        assert_eq!(answer.unwrap(), OwnerAnswer::Done { secondaries });
    }

    #[tokio::test]
    async fn an_owner_that_is_gone_is_no_owner() {
        let folder = tempfile::tempdir().unwrap();
        let change = HostChange::Drain("a".to_owned());
        let error = ask(folder.path(), change.clone(), LIMIT).await.unwrap_err();
        assert!(
            matches!(error, AskOwnerError::Unreachable { .. }),
            "{error}"
        );
        let mut questions = listen(folder.path()).unwrap();
        let owner = async { drop(questions.recv().await) };
        let (answer, ()) = tokio::join!(ask(folder.path(), change, LIMIT), owner);
        assert!(matches!(answer, Err(AskOwnerError::NoAnswer(_))));
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_answered_and_stops_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let mut questions = listen(folder.path()).unwrap();
        let mut stream = UnixStream::connect(folder.path().join(SOCKET_FILE))
            .await
            .unwrap();
        stream.write_all(b"{\"change\":\"fly\"}\n").await.unwrap();
        let nonsense = read_line(&mut stream).await.unwrap();
        assert!(reason(nonsense).contains("unknown variant `fly`"));
        let hosts = HostChange::Add("h".repeat(1 << 20));
        let long = ask(folder.path(), hosts, LIMIT).await.unwrap();
        assert!(reason(long).ends_with("it has more than 65536 bytes"));
        assert!(questions.try_recv().is_err());
    }

    fn reason(answer: OwnerAnswer) -> String {
        match answer {
            OwnerAnswer::Failed { reason, .. } => reason,
            OwnerAnswer::Done { .. } => panic!("it was done"),
        }
    }
}
