//! [`BackgroundIo`]: files of this machine that the view looks at beside the run: the history of
//! commands, folders whose files it offers, and files that commands name. None of them keeps a key
//! waiting.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use client::control::Asked;
use tokio::sync::mpsc;

use crate::app::event::{Event, FileList};
use crate::app::model::Model;
use crate::app::palette::history::{History, LINES_MAX};

/// The most of the history that is read, and its size above which it is written anew \[bytes\].
const HISTORY_BYTES_MAX: u64 = 64 << 10;
/// The most entries of a folder that are looked at, and that are offered.
const ENTRIES_MAX: usize = 10_000;
const OFFERED_MAX: usize = 500;
/// File extensions of models and worlds.
const ENDINGS: [&str; 4] = ["sdf", "urdf", "world", "xml"];

/// Files beside the run.
pub(super) struct BackgroundIo {
    history: Option<PathBuf>,
    sender: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
}

impl BackgroundIo {
    /// Finds the user's history, and reads it into a model.
    pub(super) fn open(model: &mut Model) -> Self {
        let history = history_path();
        if let Some(path) = &history {
            model.prompt.history = read_history(path);
        }
        let (sender, events) = mpsc::channel(4);
        Self {
            history,
            sender,
            events,
        }
    }

    /// Looks which files there are in a folder, in a thread that may hang as the folder may.
    pub(super) fn list(&self, folder: String) {
        // Without a thread nothing is offered.
        let _ = self.look(move || {
            let names = files(&folder);
            Event::Files(FileList { folder, names })
        });
    }

    /// Reads the file that a command names, in a thread that may hang as the file may.
    ///
    /// # Errors
    /// Fails if no thread can be started.
    pub(super) fn load(&self, asked: Asked) -> io::Result<()> {
        self.look(move || load(asked))
    }

    fn look(&self, look: impl FnOnce() -> Event + Send + 'static) -> io::Result<()> {
        let sender = self.sender.clone();
        let thread = std::thread::Builder::new().name("files".to_owned());
        thread.spawn(move || {
            // A view that has ended needs no files.
            let _ = sender.blocking_send(look());
        })?;
        Ok(())
    }

    /// Waits for what was looked for. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Event {
        match self.events.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// Keeps what was typed for later views.
    pub(super) fn remember(&self, model: &mut Model) {
        let Some(line) = model.prompt.history.take_unsaved() else {
            return;
        };
        if let Some(path) = &self.history {
            // A history that cannot be written is that of this view alone.
            let _ = write_history(path, &line, &model.prompt.history);
        }
    }
}

/// Returns a command with what is in its file, or says why it cannot.
fn load(asked: Asked) -> Event {
    match asked.load(false) {
        Ok(command) => Event::Loaded(command),
        Err(error) => Event::LoadFailed {
            reason: match error.source() {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            },
        },
    }
}

fn history_path() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "phalanx")?;
    let state = folders.state_dir().unwrap_or(folders.data_local_dir());
    Some(state.join("view_history"))
}

fn read_history(path: &Path) -> History {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|mut file| {
        if !file.metadata()?.is_file() {
            return Ok(0);
        }
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(HISTORY_BYTES_MAX)))?;
        file.take(HISTORY_BYTES_MAX).read_to_end(&mut bytes)
    });
    if read.is_err() {
        return History::default();
    }
    History::new(String::from_utf8_lossy(&bytes).lines().map(str::to_owned))
}

/// Adds a line; a file that has become long is written anew with the newest lines alone.
fn write_history(path: &Path, line: &str, history: &History) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let is_long = fs::metadata(path).is_ok_and(|file| file.len() > HISTORY_BYTES_MAX);
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    if is_long {
        let newest = history.lines().iter().rev().take(LINES_MAX / 2).rev();
        let newest: Vec<&str> = newest.map(String::as_str).collect();
        let text = newest.join("\n") + "\n";
        return options
            .write(true)
            .truncate(true)
            .open(path)?
            .write_all(text.as_bytes());
    }
    options
        .append(true)
        .open(path)?
        .write_all(format!("{line}\n").as_bytes())
}

/// Returns folders and files of models in a folder as they may be typed, by name.
fn files(folder: &str) -> Vec<String> {
    let place = if folder.is_empty() { "." } else { folder };
    let Ok(entries) = fs::read_dir(place) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .take(ENTRIES_MAX)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
            if name.starts_with('.') || !name.chars().all(is_plain) {
                return None;
            }
            let path = entry.path();
            let is_model = || {
                path.extension()
                    .is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
            };
            if path.is_dir() {
                Some(format!("{folder}{name}/"))
            } else {
                is_model().then(|| format!("{folder}{name}"))
            }
        })
        .collect();
    names.sort_unstable();
    names.truncate(OFFERED_MAX);
    names
}

#[cfg(test)]
mod tests {
    use protocol::Command;

    use super::*;
    use crate::app::fixture;
    use crate::app::palette::{Request, parse};

    #[test]
    fn folders_and_models_are_offered_by_name() {
        let scratch = tempfile::tempdir().unwrap();
        for name in [
            "b.sdf",
            "a.urdf",
            "notes.txt",
            ".hidden.sdf",
            "two words.sdf",
        ] {
            fs::write(scratch.path().join(name), "").unwrap();
        }
        fs::create_dir(scratch.path().join("meshes")).unwrap();
        let folder = format!("{}/", scratch.path().display());
        let names = files(&folder);
        let short: Vec<&str> = names
            .iter()
            .filter_map(|name| name.strip_prefix(&folder))
            .collect();
        assert_eq!(short, ["a.urdf", "b.sdf", "meshes/"]);
        assert_eq!(files("/no/such/folder/"), Vec::<String>::new());
    }

    #[test]
    fn a_command_gets_its_file_or_says_why_it_cannot() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("box.sdf");
        fs::write(&path, "<sdf/>").unwrap();
        let loaded = |file: &str| {
            let request = parse(&fixture::model(), &format!("spawn {file}"));
            let Ok(Request::Load(asked)) = request else {
                panic!("{request:?}");
            };
            load(asked)
        };
        let Event::Loaded(Command::Spawn(request)) = loaded(path.to_str().unwrap()) else {
            panic!("a file that is there is read");
        };
        assert_eq!(request.sdf, "<sdf/>");
        for (file, part) in [
            ("/no/such.sdf", "cannot read /no/such.sdf: "),
            ("-", "there is none here"),
            ("/dev/zero", "/dev/zero is no file"),
        ] {
            let Event::LoadFailed { reason } = loaded(file) else {
                panic!("{file} is of no use")
            };
            assert!(reason.contains(part), "{file}: {reason}");
        }
    }

    #[test]
    fn a_history_is_kept_and_stays_small() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("state/phalanx/view_history");
        assert_eq!(read_history(&path), History::default());
        let mut history = History::default();
        for number in 0..3_000 {
            history.push(&format!("step {number} {}", "x".repeat(50)));
            let line = history.take_unsaved().unwrap();
            write_history(&path, &line, &history).unwrap();
        }
        let read = read_history(&path);
        assert!(read.lines().last().unwrap().starts_with("step 2999"));
        assert!(fs::metadata(&path).unwrap().len() < 2 * HISTORY_BYTES_MAX);
    }
}
