//! [`Layers`]: the user's own file over the defaults, a run file over both, and where each setting
//! comes from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use run::Given;

use super::document::{Document, FileKind, Problem, SourceSpan};
use super::keys::{self, KeyLine};
use super::{Config, ConfigError, UserFile};

/// The longest file that is read \[bytes\].
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Settings in force, with where they come from.
#[derive(Debug)]
pub struct Layers {
    /// The settings.
    pub config: Config,
    /// The files that were read, the weakest first.
    pub files: Vec<PathBuf>,
    /// Sources of settings that are not defaults, by section and key.
    origins: BTreeMap<(String, String), SourceSpan>,
}

impl Layers {
    /// Reads the user's own file, if there is one, and a run file.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or something in one is wrong.
    pub fn read(run_file: Option<&Path>) -> Result<Self, ConfigError> {
        let mut texts = Vec::new();
        if let Some(user) = UserFile::find()
            && let Some(text) = read_user_file(&user)?
        {
            texts.push((text, user.path, FileKind::User));
        }
        if let Some(path) = run_file {
            let text = read_text(path).map_err(|source| unreadable("run file", path, source))?;
            texts.push((text, path.to_owned(), FileKind::Run));
        }
        let texts: Vec<(&str, &Path, FileKind)> = texts
            .iter()
            .map(|(text, path, kind)| (text.as_str(), path.as_path(), *kind))
            .collect();
        Self::parse(&texts)
    }

    /// Reads one file alone, without the user's own.
    ///
    /// # Errors
    /// Fails if it cannot be read, or something in it is wrong.
    pub fn read_alone(path: &Path, kind: FileKind) -> Result<Self, ConfigError> {
        let text = read_text(path).map_err(|source| unreadable("run file", path, source))?;
        Self::parse(&[(&text, path, kind)])
    }

    /// Reads the texts of files, the weakest first; their paths are their names in problems and
    /// the bases of paths in them.
    ///
    /// # Errors
    /// Fails if something in one is wrong.
    ///
    /// # Panics
    /// Panics if the table of settings takes a value that is none of its section, which a test
    /// rules out.
    pub fn parse(texts: &[(&str, &Path, FileKind)]) -> Result<Self, ConfigError> {
        let (mut documents, mut problems) = (Vec::new(), Vec::new());
        for (text, path, kind) in texts {
            let (document, found) = Document::read(text, path, *kind);
            documents.push(document);
            problems.extend(found);
        }
        let mut layers = Self {
            config: Config::default(),
            files: texts
                .iter()
                .map(|(_, path, _)| path.to_path_buf())
                .collect(),
            origins: BTreeMap::new(),
        };
        let (mut lines, mut given) = (Vec::new(), Given::default());
        for document in documents {
            layers.put(document, &mut lines, &mut given);
        }
        let config = layers.config.with(&given);
        layers.config = config.expect("what the table takes are values of its sections");
        layers.config.keymap = keys::keymap(&lines, &mut problems);
        layers.check_heartbeats(&mut problems);
        if problems.is_empty() {
            Ok(layers)
        } else {
            Err(ConfigError::Invalid(problems))
        }
    }

    /// Returns where a setting comes from; `None` is a default.
    pub fn origin(&self, section: &str, key: &str) -> Option<&SourceSpan> {
        self.origins.get(&(section.to_owned(), key.to_owned()))
    }

    fn put(&mut self, document: Document, lines: &mut Vec<KeyLine>, given: &mut Given) {
        for ((section, key), (value, place)) in document.values {
            given.0.insert((section, key), value);
            self.note(section, key, &place);
        }
        for line in &document.keys {
            self.note("keys", &line.name, &line.place);
        }
        lines.extend(document.keys);
        let spec = &mut self.config.spec;
        let (processes, programs) = (&mut spec.processes.0, &mut spec.programs);
        let hosts = &mut spec.hosts;
        let mut noted = Vec::new();
        for (name, process) in document.processes {
            noted.push(("process", name.clone(), process.place));
            processes.insert(name, process.config);
        }
        if let Some((rules, place)) = document.ros_rules {
            noted.push(("ros2", "topic".to_owned(), place));
            spec.ros2.own_rules = Some(rules);
        }
        for (program, place) in document.programs {
            noted.push(("program", program.name.clone(), place));
            programs.push(program);
        }
        for (host, place) in document.hosts {
            noted.push(("host", host.name.clone(), place));
            hosts.push(host);
        }
        for (section, name, place) in noted {
            self.note(section, &name, &place);
        }
    }

    fn note(&mut self, section: &str, key: &str, place: &SourceSpan) {
        let path = (section.to_owned(), key.to_owned());
        self.origins.insert(path, place.clone());
    }

    /// Settings of one file may not go with those of another, or with the defaults.
    fn check_heartbeats(&self, problems: &mut Vec<Problem>) {
        let network = &self.config.spec.network;
        if network.has_time_for_heartbeats() {
            return;
        }
        let place = self
            .origin("network", "heartbeat_timeout_ms")
            .or_else(|| self.origin("network", "heartbeat_interval_ms"));
        let place = place.expect("the defaults go with each other").clone();
        let message = format!(
            "`heartbeat_timeout_ms` of {} must be at least twice heartbeat_interval_ms of {}",
            network.heartbeat_timeout.as_millis(),
            network.heartbeat_interval.as_millis()
        );
        problems.push(Problem { place, message });
    }
}

/// Reads the user's own file; it may be missing where no variable names it.
fn read_user_file(user: &UserFile) -> Result<Option<String>, ConfigError> {
    match read_text(&user.path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !user.is_named => Ok(None),
        Err(source) if user.is_named => {
            let what = "file that PHALANX_CONFIG names,";
            Err(unreadable(what, &user.path, source))
        }
        Err(source) => Err(unreadable("user's own file", &user.path, source)),
    }
}

fn unreadable(what: &'static str, path: &Path, source: io::Error) -> ConfigError {
    let file = path.display().to_string();
    ConfigError::Unreadable { what, file, source }
}

/// Reads a file of settings, which nobody needs to be long.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?.take(FILE_BYTES_MAX + 1);
    io::BufReader::new(file).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let message = format!("it is longer than {FILE_BYTES_MAX} bytes");
        return Err(io::Error::other(message));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(user: &str, run: &str) -> Result<Layers, ConfigError> {
        Layers::parse(&[
            (user, Path::new("config.toml"), FileKind::User),
            (run, Path::new("folder/run.toml"), FileKind::Run),
        ])
    }

    #[test]
    fn a_run_file_wins_over_the_users_own() {
        let user = "[run]\nsecondaries = 4\nthreads = 2\n[keys]\nstep = 'x'\nzoom = 'v'\n";
        let run = "[run]\nsecondaries = 1\nseed = 7\n[keys]\nstep = '.'\n";
        let layers = parse(user, run).unwrap();
        let (run, keymap) = (&layers.config.spec.run, &layers.config.keymap);
        assert_eq!((run.secondaries, run.threads, run.seed), (1, 2, 7));
        let names = |name: &str| keymap.keys_of(name);
        assert_eq!(names("step"), [view::app::event::Key::Char('.')]);
        assert_eq!(names("zoom"), [view::app::event::Key::Char('v')]);
        let origin =
            |section: &str, key: &str| layers.origin(section, key).map(ToString::to_string);
        assert_eq!(
            origin("run", "secondaries").as_deref(),
            Some("folder/run.toml:2:15")
        );
        assert_eq!(
            origin("run", "threads").as_deref(),
            Some("config.toml:3:11")
        );
        assert_eq!(origin("keys", "zoom").as_deref(), Some("config.toml:6:8"));
        assert_eq!(origin("run", "paused"), None);
    }

    #[test]
    fn a_users_own_file_does_not_change_what_is_simulated() {
        for (text, part) in [
            ("[run]\nseed = 1\n", "`seed` is for run files"),
            ("[run]\nworld = 'a.sdf'\n", "`world` is for run files"),
            ("[levels]\nauto_levels = 2\n", "[levels] is for run files"),
            ("[physics]\nsolver = 'fast'\n", "[physics] is for run files"),
            ("[[program]]\nname = 'x'\n", "[program] is for run files"),
            ("[process.s1]\ncpus = [0]\n", "[process] is for run files"),
        ] {
            let error = parse(text, "").unwrap_err().to_string();
            assert!(
                error.starts_with("config.toml:") && error.contains(part),
                "{error}"
            );
        }
    }

    #[test]
    fn conflicting_settings_are_named_where_they_were_written() {
        let error = parse("[network]\nheartbeat_interval_ms = 5000\n", "").unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("config.toml:2:25: `heartbeat_timeout_ms`"),
            "{error}"
        );
        let fast = "[network]\nheartbeat_timeout_ms = 150\n";
        let error = parse("", fast).unwrap_err().to_string();
        assert!(error.starts_with("folder/run.toml:2:24: "), "{error}");
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let Err(ConfigError::Invalid(problems)) = parse(
            "[view]\ntheme = 'dark'\nrefresh = 5\n",
            "[run]\nseed = 'x'\n[lgos]\n[keys]\nstep = ''\n",
        ) else {
            panic!("both are wrong")
        };
        let places: Vec<String> = problems.iter().map(|one| one.place.to_string()).collect();
        let expected = [
            "config.toml:2:9",
            "config.toml:3:1",
            "folder/run.toml:2:8",
            "folder/run.toml:3:2",
            "folder/run.toml:5:8",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_file_that_never_ends_is_refused() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("longer than"), "{error}");
        assert_eq!(read_text(Path::new("/dev/null")).unwrap(), "");
    }
}
