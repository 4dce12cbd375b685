//! One file as it is written: every key and value with its place, and all that is wrong with it.
//!
//! A [`Document`] holds only what its tables and kinds allow; everything else is a [`Problem`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::id::PeerNameError;
use run::suggestion::advice;
use run::{Host, HostError, Kind, Program, ProgramNameError, RosRules, SLOTS_MAX};
use sdf::FuelAddress;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use view::app::keymap::KeyNameError;

use super::keys::{self, KEYS_MAX, KeyLine};
use super::process::{self, CPU_MAX, RawProcess};
use super::setting::{self, as_json, settings};
use super::{host, program, ros_rules};

/// Scope of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One run.
    Run,
    /// All runs of a user.
    User,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: SourceSpan,
    /// What, naming the key.
    pub message: String,
}

/// A value that a key does not take. The text follows the name of the key in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ValueError {
    /// A whole number that has no room.
    #[error("is too large a number")]
    TooLarge,
    /// A number that is none.
    #[error("is no number")]
    NoNumber,
    /// No text, or an empty one.
    #[error("must be a text in quotes")]
    NoText,
    /// No list of texts.
    #[error("must be a list of texts in quotes")]
    NoTexts,
    /// Neither true nor false.
    #[error("must be true or false")]
    NoFlag,
    /// No rule for starting a program again that there is.
    #[error("must be \"never\"")]
    NoRestart,
    /// No name under which a program can take part in lockstep.
    #[error("is no name of a participant: {0}")]
    Participant(PeerNameError),
    /// No variables of an environment.
    #[error("must be a table of texts: {{ NAME = \"text\" }}")]
    NoEnvironment,
    /// No list of CPUs that a process can be given.
    #[error("must be a list of CPUs from 0 to {CPU_MAX}, such as [0, 1]")]
    NoCpus,
    /// A CPU that is in a list already.
    #[error("names CPU {cpu} twice")]
    CpuTwice {
        /// Number of the CPU.
        cpu: u32,
    },
    /// Neither a name of a key nor a list of such.
    #[error("must be a key in quotes, or a list of such")]
    NoKeys,
    /// More keys than an action has.
    #[error("has more than {KEYS_MAX} keys")]
    TooManyKeys,
    /// A name of a key that is none.
    #[error(transparent)]
    KeyName(#[from] KeyNameError),
    /// A name of a program that is none.
    #[error(transparent)]
    ProgramName(#[from] ProgramNameError),
    /// A name of a host that is none.
    #[error(transparent)]
    Host(#[from] HostError),
    /// No number of secondaries that a host may have.
    #[error("must be a whole number from 1 to {SLOTS_MAX}")]
    NoSlots,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) value: toml::Value,
    pub(super) place: SourceSpan,
}

/// A file as it is written.
#[derive(Debug)]
pub(super) struct Document {
    /// Folder that paths in it are relative to.
    pub(super) folder: PathBuf,
    /// Its settings by section and key, checked; paths are those of its folder.
    pub(super) values: BTreeMap<(&'static str, &'static str), (serde_json::Value, SourceSpan)>,
    /// Its keys of the view.
    pub(super) keys: Vec<KeyLine>,
    /// Its processes by name.
    pub(super) processes: BTreeMap<String, RawProcess>,
    /// Rules of topics in ROS 2.
    pub(super) ros_rules: Option<(RosRules, SourceSpan)>,
    /// Its programs.
    pub(super) programs: Vec<(Program, SourceSpan)>,
    /// Its hosts.
    pub(super) hosts: Vec<(Host, SourceSpan)>,
}

/// The text of a file, and what is wrong with it so far.
pub(super) struct Reader<'a> {
    text: &'a str,
    file: Arc<str>,
    /// Problems found so far.
    pub(super) problems: Vec<Problem>,
}

/// The sections that have a reader of their own.
const OTHER_SECTIONS: [&str; 4] = ["keys", "process", "program", "host"];

impl Document {
    /// Reads the text of a file; `path` is its name in problems and the base of paths in it.
    pub(super) fn read(text: &str, path: &Path, kind: FileKind) -> (Self, Vec<Problem>) {
        let mut reader = Reader {
            text,
            file: path.display().to_string().into(),
            problems: Vec::new(),
        };
        let mut document = Self {
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            values: BTreeMap::new(),
            keys: Vec::new(),
            processes: BTreeMap::new(),
            ros_rules: None,
            programs: Vec::new(),
            hosts: Vec::new(),
        };
        let (root, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let offset = error.span().map_or(0, |span| span.start);
            reader.report(offset, one_line(error.message()));
        }
        // What is left of a broken text would only be blamed for what is missing.
        if errors.is_empty() {
            for (name, content) in root.get_ref() {
                document.read_section(&mut reader, name, content, kind);
            }
        }
        let mut problems = reader.problems;
        problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
        (document, problems)
    }

    fn read_section(
        &mut self,
        reader: &mut Reader<'_>,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        content: &Spanned<DeValue<'_>>,
        kind: FileKind,
    ) {
        let section: &str = name.get_ref();
        let at = name.span().start;
        match (section, kind) {
            ("program", FileKind::Run) => {
                self.programs = program::read(reader, content, &self.folder);
                return;
            }
            ("host", FileKind::Run) => {
                self.hosts = host::read(reader, content);
                return;
            }
            _ => {}
        }
        let known = sections(kind);
        if !known.contains(&section) {
            let message = if sections(FileKind::Run).contains(&section) {
                format!("[{section}] is for run files; a user's own file cannot have it")
            } else {
                format!(
                    "there is no section [{}]{}",
                    shown(section),
                    advice(section, known)
                )
            };
            reader.report(at, message);
            return;
        }
        let Some(table) = content.get_ref().as_table() else {
            reader.report(at, format!("`{section}` must be a section: [{section}]"));
            return;
        };
        match section {
            "keys" => self.keys = keys::read(reader, table),
            "process" => self.processes = process::read(reader, table),
            "ros2" => {
                self.ros_rules = ros_rules::read(reader, table);
                self.read_settings(reader, section, table, kind);
            }
            _ => self.read_settings(reader, section, table, kind),
        }
    }

    fn read_settings(
        &mut self,
        reader: &mut Reader<'_>,
        section: &str,
        table: &DeTable<'_>,
        kind: FileKind,
    ) {
        for (key, value) in table {
            let at = key.span().start;
            if section == "ros2" && ros_rules::KEYS.contains(&&**key.get_ref()) {
                continue;
            }
            let Some(setting) = setting::find(section, key.get_ref()) else {
                let of_section = settings().filter(|one| one.section == section);
                let known = of_section.map(|one| one.key);
                let name = shown(key.get_ref());
                let hint = advice(key.get_ref(), known);
                reader.report(at, format!("[{section}] has no key `{name}`{hint}"));
                continue;
            };
            if kind == FileKind::User && !setting.is_personal {
                let message = format!(
                    "`{}` is for run files: a user's own file must not change what is simulated",
                    setting.key
                );
                reader.report(at, message);
                continue;
            }
            let placed = match reader.value(value) {
                Ok(placed) => placed,
                Err(error) => {
                    reader.report(value.span().start, format!("`{}` {error}", setting.key));
                    continue;
                }
            };
            let given = as_json(&placed.value);
            match setting.kind.check(&given) {
                Ok(()) => {
                    let given = joined(setting.kind, given, &self.folder);
                    let at = (setting.section, setting.key);
                    self.values.insert(at, (given, placed.place));
                }
                Err(wanted) => {
                    let message = format!("`{}` {wanted}", setting.key);
                    reader.report(value.span().start, message);
                }
            }
        }
    }
}

impl Reader<'_> {
    /// Notes what is wrong at a byte of the text.
    pub(super) fn report(&mut self, offset: usize, message: impl Into<String>) {
        let place = self.place(offset);
        let message = message.into();
        self.problems.push(Problem { place, message });
    }

    /// Returns the place of a byte of the text.
    pub(super) fn place(&self, offset: usize) -> SourceSpan {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        SourceSpan {
            file: Arc::clone(&self.file),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// Returns a value with its place.
    pub(super) fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<Placed, ValueError> {
        Ok(Placed {
            value: plain(value.get_ref())?,
            place: self.place(value.span().start),
        })
    }
}

/// Returns a value whose paths are those of a folder.
fn joined(kind: Kind, value: serde_json::Value, folder: &Path) -> serde_json::Value {
    let join = |path: &str| match FuelAddress::parse(path) {
        Some(_) => serde_json::Value::from(path),
        None => serde_json::Value::from(folder.join(path).to_string_lossy()),
    };
    match (kind, &value) {
        (Kind::Place, serde_json::Value::String(word)) if word == "on" || word == "off" => value,
        (Kind::Path | Kind::Place | Kind::Paths, serde_json::Value::String(path)) => join(path),
        (Kind::Paths, serde_json::Value::Array(list)) => {
            let paths = list.iter().filter_map(serde_json::Value::as_str);
            paths.map(join).collect()
        }
        _ => value,
    }
}

/// Returns the sections that files of a kind have.
fn sections(kind: FileKind) -> Vec<&'static str> {
    let mut sections: Vec<&str> = Vec::new();
    for setting in settings() {
        let is_allowed = kind == FileKind::Run || setting.is_personal;
        if is_allowed && !sections.contains(&setting.section) {
            sections.push(setting.section);
        }
    }
    sections.extend(match kind {
        FileKind::Run => &OTHER_SECTIONS[..],
        FileKind::User => &OTHER_SECTIONS[..1],
    });
    sections
}

/// Returns a value without its places.
fn plain(value: &DeValue<'_>) -> Result<toml::Value, ValueError> {
    Ok(match value {
        DeValue::String(text) => toml::Value::String(text.clone().into_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(toml::Value::Integer)
            .map_err(|_| ValueError::TooLarge)?,
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map(toml::Value::Float)
            .map_err(|_| ValueError::NoNumber)?,
        DeValue::Boolean(is) => toml::Value::Boolean(*is),
        DeValue::Datetime(time) => toml::Value::Datetime(*time),
        DeValue::Array(list) => {
            let items = list.iter().map(|item| plain(item.get_ref()));
            toml::Value::Array(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, value)| {
                let key = key.get_ref().clone().into_owned();
                plain(value.get_ref()).map(|value| (key, value))
            });
            toml::Value::Table(entries.collect::<Result<_, _>>()?)
        }
    })
}

/// Returns a name from a file as it may be shown: without control characters, and not too long.
pub(super) fn shown(name: &str) -> String {
    let name = client::plain_text::plain(name);
    name.chars().take(60).collect()
}

fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    shown_message(&lines.join("; "))
}

fn shown_message(message: &str) -> String {
    message
        .chars()
        .filter(|c| !c.is_control())
        .take(300)
        .collect()
}

impl fmt::Display for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}
