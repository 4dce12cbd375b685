//! Fuel for commands: worlds by their addresses, and all that worlds name, are brought to this
//! machine before anything reads them.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fuel::{FetchError, Fetched, Fetcher, FetcherError, Need, Progress, Wanted, WantedResource};
use protocol::ExitCode;
use sdf::{FuelAddress, FuelKind, SearchPaths};

use super::{Failed, output, world_file};

/// Time between two looks of the line of progress.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The most models and worlds that a command asks for because files name them, and the most bytes
/// of their zips.
const NAMED_MAX: usize = 1_000;
const NAMED_BYTES_MAX: u64 = 20 << 30;
/// Columns of the bar of progress.
const BAR_COLUMNS: u64 = 24;

/// Progress of what is fetched: one line that is written anew on a terminal, else a line for each
/// thing that came.
pub(super) struct FetchProgress {
    is_terminal: bool,
    is_shown: bool,
    last: Option<Instant>,
}

impl FetchProgress {
    /// Takes stderr as it is.
    pub(super) fn of_stderr() -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            is_terminal: std::io::stderr().is_terminal() && !is_dumb,
            is_shown: false,
            last: None,
        }
    }

    /// Shows how far it is.
    pub(super) fn on_progress(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Waiting(address) => {
                self.clear();
                output::note(&format!(
                    "waiting for another process that fetches {address}"
                ));
            }
            Progress::Receiving { address, bytes, of } => {
                let is_due = self.last.is_none_or(|last| last.elapsed() >= LOOK_INTERVAL);
                if self.is_terminal && is_due {
                    self.last = Some(Instant::now());
                    self.is_shown = true;
                    output::rewrite(&bar(&address.resource.name, bytes, of));
                }
            }
            Progress::Fetched { address, bytes } => {
                self.clear();
                output::note(&format!("fetched {address} ({})", size(bytes)));
            }
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            output::rewrite("");
        }
        self.last = None;
    }
}

impl Drop for FetchProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Returns the line of progress.
fn bar(name: &str, bytes: u64, of: Option<u64>) -> String {
    let Some(all) = of.filter(|all| *all > 0) else {
        return format!("fetching {name}: {}", size(bytes));
    };
    let bytes = bytes.min(all);
    let full = usize::try_from(bytes * BAR_COLUMNS / all).unwrap_or(0);
    let bar = "#".repeat(full) + &".".repeat(BAR_COLUMNS as usize - full);
    let share = bytes * 100 / all;
    let (bytes, all) = (size(bytes), size(all));
    format!("[{bar}] {share:3} %  {bytes} of {all}  {name}")
}

/// Returns a number of bytes for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Makes sure that worlds and all that they name are on this machine, and puts the files of those
/// that are addresses in their place.
pub(super) fn bring(worlds: &mut [PathBuf], is_offline: bool) -> Result<(), Failed> {
    let mut bringer = Bringer::new(is_offline);
    for world in worlds {
        if let Some(address) = address_of(world) {
            *world = bringer.world(&address)?;
        }
        let text = world_file::read_text(world)?;
        bringer.wanted.read(&text, &world.display().to_string());
    }
    bringer.bring_wanted().map(drop)
}

/// Returns the address that a path of a world is, if it is one.
pub(super) fn address_of(path: &Path) -> Option<FuelAddress> {
    FuelAddress::parse(path.to_str()?)
}

/// Brings things to this machine, with all that they name.
pub(super) struct Bringer {
    is_offline: bool,
    /// Looks through files.
    pub(super) wanted: Wanted,
    /// Made when something is needed: most worlds have nothing of Fuel.
    fetcher: Option<Fetcher<'static>>,
    /// True if owners of what is there already are asked for what it names by `model://`, too.
    pub(super) asks_again: bool,
    /// True if something did not come that the world can do without.
    pub(super) is_incomplete: bool,
}

impl Bringer {
    /// Makes one that asks servers or not.
    pub(super) fn new(is_offline: bool) -> Self {
        Self {
            is_offline,
            wanted: Wanted::new(SearchPaths::from_environment()),
            fetcher: None,
            asks_again: false,
            is_incomplete: false,
        }
    }

    /// Returns what fetches.
    pub(super) fn fetcher(&mut self) -> Result<&mut Fetcher<'static>, Failed> {
        if self.fetcher.is_none() {
            let mut progress = FetchProgress::of_stderr();
            let show = move |told: Progress<'_>| progress.on_progress(told);
            let fetcher = Fetcher::from_environment(self.is_offline, show);
            self.fetcher = Some(fetcher.map_err(from_fetcher)?);
        }
        Ok(self.fetcher.as_mut().expect("it was made above"))
    }

    /// Brings what the files name that were looked through, and what that names in turn; returns
    /// all of it.
    pub(super) fn bring_wanted(&mut self) -> Result<Vec<Fetched>, Failed> {
        let (mut all, mut asked) = (Vec::new(), 0);
        while let Some(wanted) = self.wanted.next_wanted() {
            let source = self.fetcher()?;
            if asked >= NAMED_MAX || source.received_bytes() >= NAMED_BYTES_MAX {
                let message = format!(
                    "{}: more than {NAMED_MAX} models or {} GiB to be fetched at once; \
                     `phalanx fuel fetch {}` fetches that one",
                    wanted.named_in,
                    NAMED_BYTES_MAX >> 30,
                    wanted.address
                );
                return Err(Failed::message(ExitCode::Configuration, message));
            }
            match source.ensure(&wanted.address) {
                Ok(fetched) => {
                    asked += usize::from(fetched.is_new);
                    self.look_through(&fetched);
                    all.push(fetched);
                }
                Err(error) => {
                    asked += 1;
                    self.is_incomplete |= !check_needed(&wanted, error)?;
                }
            }
        }
        Ok(all)
    }

    /// Looks through a model or world for what it names.
    pub(super) fn look_through(&mut self, fetched: &Fetched) {
        let guesses = fetched.is_new || self.asks_again;
        self.wanted.read_cached(&fetched.address, guesses);
    }

    /// Brings a world, and returns its file.
    fn world(&mut self, address: &FuelAddress) -> Result<PathBuf, Failed> {
        if address.resource.kind != FuelKind::World {
            let message = format!(
                "{address} is a model; a world is run, such as one that includes it: \
                 <include><uri>{address}</uri></include>"
            );
            return Err(Failed::message(ExitCode::Configuration, message));
        }
        let fetched = self.fetcher()?.ensure(address).map_err(from_fetch)?;
        let file = match &address.file {
            Some(file) => Some(fetched.found.folder.join(file)),
            None => sdf::world_file_in(&fetched.found.folder),
        };
        file.ok_or_else(|| {
            let folder = fetched.found.folder.display();
            let message = format!("there is no .sdf or .world file in {folder}");
            Failed::message(ExitCode::Configuration, message)
        })
    }
}

/// Fails if a world cannot do without what did not come, or would find what has changed; else tells
/// what lacks, and returns false if something does.
fn check_needed(wanted: &WantedResource, error: FetchError) -> Result<bool, Failed> {
    let named_in = &wanted.named_in;
    match (wanted.need, &error) {
        (Need::Guess, FetchError::NotFound { .. }) => Ok(true),
        (Need::Part | Need::Guess, FetchError::Changed { .. } | FetchError::Store { .. }) => {
            let error = anyhow::Error::new(error).context(format!("{named_in} names it"));
            Err(Failed::new(ExitCode::Configuration, error))
        }
        (Need::Include, _) => {
            let error = anyhow::Error::new(error).context(format!("{named_in} includes it"));
            Err(Failed::new(ExitCode::Configuration, error))
        }
        (Need::Part | Need::Guess, _) => {
            let error = anyhow::Error::new(error);
            output::note(&format!("warning: {named_in}: {error:#}"));
            Ok(false)
        }
    }
}

/// Returns the failure of a command that needs something which did not come.
pub(super) fn from_fetch(error: FetchError) -> Failed {
    Failed::new(ExitCode::Configuration, error)
}

/// Returns the failure of a command that cannot fetch at all.
pub(super) fn from_fetcher(error: FetcherError) -> Failed {
    Failed::new(ExitCode::Configuration, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_bar_where_the_end_is_known() {
        let line = bar("Sun", 500_000, Some(2_000_000));
        assert_eq!(
            line,
            "[######..................]  25 %  500.0 kB of 2.0 MB  Sun"
        );
        assert_eq!(bar("Sun", 500, None), "fetching Sun: 500 B");
        assert!(bar("Sun", 5, Some(4)).contains("100 %"));
    }
}
