//! `phalanx fuel`: models and worlds of Gazebo's Fuel on this machine.

use std::fmt::Write;
use std::path::Path;

use fuel::{FetchError, Fetched, Store, Stored};
use protocol::ExitCode;
use sdf::FuelAddress;
use serde::Serialize;
use view::show::table::Table;

use super::fuel_files::{Bringer, from_fetch, size};
use super::{CommandResult, Failed, output, world_file};
use crate::cli::{Format, FuelAction, FuelArguments};

/// A version as it is listed.
#[derive(Debug, Serialize)]
struct ListedVersion<'a> {
    address: String,
    kind: &'static str,
    owner: &'a str,
    name: &'a str,
    version: u32,
    /// True if addresses without a version mean it.
    tip: bool,
    bytes: u64,
    sha256: &'a str,
    fetched_unix_s: u64,
    folder: String,
}

/// Fetches, lists, compares and removes.
pub(super) fn fuel(arguments: &FuelArguments) -> CommandResult {
    match &arguments.action {
        FuelAction::Fetch {
            what,
            again,
            sha256,
        } => fetch(what, *again, sha256.as_deref()),
        FuelAction::List { format } => list(*format),
        FuelAction::Update { what } => update(what),
        FuelAction::Verify => verify(),
        FuelAction::Remove { what, .. } => remove(what),
    }
}

/// Fetches; exit code 1 says that something did not come that a world can do without.
fn fetch(what: &[String], is_again: bool, sha256: Option<&str>) -> CommandResult {
    let mut bringer = Bringer::new(false);
    bringer.asks_again = true;
    let addresses: Vec<FuelAddress> = what
        .iter()
        .filter_map(|text| FuelAddress::parse(text))
        .collect();
    if sha256.is_some() && (addresses.len() != 1 || what.len() != 1) {
        let message = "--sha256 is the checksum of one address: name one and nothing else";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    if is_again && addresses.is_empty() {
        let message = "--again is for addresses: name those to be fetched again";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let mut present = Vec::new();
    for text in what {
        if let Some(address) = FuelAddress::parse(text) {
            let fetched = fetch_one(&mut bringer, &address, is_again, sha256)?;
            bringer.look_through(&fetched);
            present.push(fetched);
            continue;
        }
        if text.contains("://") {
            let message = format!(
                "{text:?} is no address of Fuel, such as \
                 https://fuel.gazebosim.org/1.0/OpenRobotics/models/Sun"
            );
            return Err(Failed::message(ExitCode::Usage, message));
        }
        let file = world_file::read_text(Path::new(text))?;
        bringer.wanted.read(&file, text);
    }
    present.extend(bringer.bring_wanted()?);
    let mut lines: Vec<String> = present
        .iter()
        .map(|fetched| format!("{} {}\n", fetched.address, fetched.found.folder.display()))
        .collect();
    lines.sort();
    lines.dedup();
    output::print(&lines.concat())?;
    Ok(if bringer.is_incomplete {
        ExitCode::Failure
    } else {
        ExitCode::Success
    })
}

/// Brings the version of an address; one with a checksum is fetched or has that checksum already.
fn fetch_one(
    bringer: &mut Bringer,
    address: &FuelAddress,
    is_again: bool,
    sha256: Option<&str>,
) -> Result<Fetched, Failed> {
    let fetcher = bringer.fetcher()?;
    if is_again {
        return fetcher.fetch_again(address, sha256).map_err(from_fetch);
    }
    let Some(sha256) = sha256 else {
        return fetcher.ensure(address).map_err(from_fetch);
    };
    let cached = fetcher.cached(&address.whole()).map_err(from_fetch)?;
    let store = Store::of_user().map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    let record = cached.and_then(|cached| Some((store.record(&cached.found)?, cached)));
    match record {
        Some((record, cached)) if record.sha256 == sha256 => Ok(cached),
        Some((record, cached)) => Err(from_fetch(FetchError::Checksum {
            address: cached.address.into(),
            found: record.sha256,
            expected: sha256.to_owned(),
        })),
        None => fetcher
            .fetch_again(address, Some(sha256))
            .map_err(from_fetch),
    }
}

/// Returns the store of this user, and all that is in it.
fn stored() -> Result<(Store, Vec<Stored>), Failed> {
    let store = Store::of_user().map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    let all = store.list();
    Ok((store, all))
}

fn list(format: Format) -> CommandResult {
    let (_, all) = stored()?;
    if format == Format::Json {
        return output::print_json(&all.iter().map(listed).collect::<Vec<_>>());
    }
    let mut table = Table::new(&["OWNER", "KIND", "NAME", "VERSION", "SIZE", "FOLDER"]);
    for stored in &all {
        let one = listed(stored);
        let tip = if one.tip { " (tip)" } else { "" };
        table.row([
            one.owner.to_owned(),
            one.kind.to_owned(),
            one.name.to_owned(),
            format!("{}{tip}", one.version),
            size(one.bytes),
            one.folder,
        ]);
    }
    output::print(&table.render())
}

fn listed(stored: &Stored) -> ListedVersion<'_> {
    let resource = &stored.address.resource;
    ListedVersion {
        address: stored.address.to_string(),
        kind: resource.kind.word(),
        owner: &resource.owner,
        name: &resource.name,
        version: stored.address.version.unwrap_or_default(),
        tip: stored.is_tip,
        bytes: stored.record.files.iter().map(|file| file.bytes).sum(),
        sha256: &stored.record.sha256,
        fetched_unix_s: stored.record.fetched_unix_s,
        folder: stored.folder.display().to_string(),
    }
}

fn update(what: &[String]) -> CommandResult {
    let mut addresses = addresses(what)?;
    let (_, all) = stored()?;
    if what.is_empty() {
        let tips = all.iter().filter(|stored| stored.is_tip);
        addresses.extend(tips.map(|stored| stored.address.clone()));
    }
    let mut bringer = Bringer::new(false);
    let mut code = ExitCode::Success;
    for address in addresses {
        let resource = &address.resource;
        let is_old = |stored: &&Stored| stored.is_tip && stored.address.resource == *resource;
        let old = all
            .iter()
            .find(is_old)
            .and_then(|stored| stored.address.version);
        let fetched = match bringer.fetcher()?.update(resource) {
            Ok(fetched) => fetched,
            Err(error) => {
                // One that its owner removed keeps the others from nothing.
                output::note(&format!("{:#}", anyhow::Error::new(error)));
                code = ExitCode::Failure;
                continue;
            }
        };
        let new = fetched.found.version;
        output::print(&match old {
            Some(old) if old == new => format!("{resource}: {new} is the newest version\n"),
            Some(old) => format!("{resource}: {new} in place of {old}\n"),
            None => format!("{resource}: {new}\n"),
        })?;
        bringer.look_through(&fetched);
    }
    bringer.bring_wanted()?;
    Ok(code)
}

/// Compares all files with their checksums; exit code 1 says that one differs.
fn verify() -> CommandResult {
    let (_, all) = stored()?;
    let mut changed = 0;
    let mut text = String::new();
    for stored in &all {
        if let Err(change) = Store::verify(&stored.folder, &stored.record) {
            changed += 1;
            let _ = writeln!(text, "{}: {change}", stored.address);
        }
    }
    let count = all.len();
    let _ = writeln!(
        text,
        "{} of {count} are as they were fetched",
        count - changed
    );
    if changed > 0 {
        text += "`phalanx fuel fetch --again ADDRESS` replaces one\n";
    }
    output::print(&text)?;
    Ok(if changed > 0 {
        ExitCode::Failure
    } else {
        ExitCode::Success
    })
}

fn remove(what: &[String]) -> CommandResult {
    let (store, all) = stored()?;
    let mut meant = addresses(what)?;
    let is_all = what.is_empty();
    if is_all {
        meant.extend(all.into_iter().map(|stored| stored.address));
    }
    for address in &meant {
        let removed = store.remove(address);
        let removed = removed.map_err(|error| Failed::new(ExitCode::Failure, error))?;
        if removed.is_empty() && !is_all {
            let message = format!("{address} was not fetched; `phalanx fuel list` has what was");
            return Err(Failed::message(ExitCode::Failure, message));
        }
        for stored in removed {
            output::print(&format!("removed {}\n", stored.address))?;
        }
    }
    Ok(ExitCode::Success)
}

/// Reads addresses of models and worlds.
fn addresses(what: &[String]) -> Result<Vec<FuelAddress>, Failed> {
    let read = |text: &String| {
        let address = FuelAddress::parse(text).filter(|address| address.file.is_none());
        address.ok_or_else(|| {
            let message = format!(
                "{text:?} is no address of a model or world of Fuel, such as \
                 https://fuel.gazebosim.org/1.0/OpenRobotics/models/Sun"
            );
            Failed::message(ExitCode::Usage, message)
        })
    };
    what.iter().map(read).collect()
}
