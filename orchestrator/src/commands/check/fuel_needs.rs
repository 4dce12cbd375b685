//! Needs of a world from Fuel: what is on this machine, and what a run would fetch.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use fuel::{FetchError, Need};
use protocol::ExitCode;
use sdf::{FuelAddress, FuelCaches};
use serde::Serialize;

use crate::commands::Failed;
use crate::commands::fuel_files::{Bringer, from_fetch, size};

/// A model or world of Fuel that a world, or something that it includes, names.
#[derive(Debug, Serialize)]
pub(super) struct FuelNeed {
    address: String,
    /// The file and the line that names it.
    named_in: String,
    /// `present`, or `missing`, and then a run would fetch it.
    state: FuelState,
    /// The version that is here, or that would be fetched; null if it is not known.
    version: Option<u32>,
    /// The number of bytes that would be fetched, before they are packed; null if it is not known.
    bytes: Option<u64>,
    /// Reason why it could not be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum FuelState {
    Present,
    Missing,
}

/// Finds what a text names, and asks how large what is missing is, unless that is forbidden.
pub(super) fn find(text: &str, path: &Path, is_offline: bool) -> Result<Vec<FuelNeed>, Failed> {
    let mut bringer = Bringer::new(is_offline);
    bringer.wanted.read(text, &path.display().to_string());
    let mut needs = Vec::new();
    while let Some(wanted) = bringer.wanted.next_wanted() {
        let fetcher = bringer.fetcher()?;
        let mut need = FuelNeed {
            address: wanted.address.to_string(),
            named_in: wanted.named_in,
            state: FuelState::Missing,
            version: wanted.address.version,
            bytes: None,
            problem: None,
        };
        if let Some(cached) = fetcher.cached(&wanted.address).map_err(from_fetch)? {
            need.state = FuelState::Present;
            need.version = cached.address.version;
            bringer.wanted.read_cached(&cached.address, false);
            needs.push(need);
            continue;
        }
        if wanted.need == Need::Guess {
            continue;
        }
        let details = (!is_offline).then(|| fetcher.details(&wanted.address.resource));
        match details {
            Some(Ok(details)) => {
                need.bytes = Some(details.filesize).filter(|bytes| *bytes > 0);
                let newest = Some(details.version).filter(|version| *version > 0);
                need.version = need.version.or(newest);
            }
            Some(Err(FetchError::Http { source, .. })) => {
                need.problem = Some(format!("{:#}", anyhow::Error::new(source)));
            }
            Some(Err(error)) => need.problem = Some(format!("{:#}", anyhow::Error::new(error))),
            None => {}
        }
        needs.push(need);
    }
    Ok(needs)
}

/// Says what a run would fetch.
pub(super) fn describe(needs: &[FuelNeed]) -> String {
    let missing = needs.iter().filter(|need| need.state == FuelState::Missing);
    let missing: Vec<&FuelNeed> = missing.collect();
    let mut text = String::new();
    for need in &missing {
        let size = need.bytes.map(size);
        let how = match (&need.problem, size) {
            (Some(problem), _) => format!("of unknown size: {problem}"),
            (None, Some(size)) => size,
            (None, None) => "of unknown size".to_owned(),
        };
        let _ = writeln!(text, "fuel: a run fetches {}: {how}", need.address);
    }
    if !missing.is_empty() {
        let sum: u64 = missing.iter().filter_map(|need| need.bytes).sum();
        let _ = writeln!(
            text,
            "fuel: {} to fetch, {}, and what they include; `phalanx fuel fetch` does it now",
            missing.len(),
            size(sum)
        );
    }
    text
}

/// Returns the file of a world that was fetched.
pub(super) fn file_of(address: &FuelAddress) -> Result<PathBuf, Failed> {
    let caches = FuelCaches::from_environment();
    let found = caches.find(address);
    let file = found.and_then(|found| match &address.file {
        Some(file) => Some(found.folder.join(file)),
        None => sdf::world_file_in(&found.folder),
    });
    file.ok_or_else(|| {
        let message = format!(
            "{address} has no world on this machine; `phalanx fuel fetch {address}` fetches it"
        );
        Failed::message(ExitCode::Configuration, message)
    })
}
