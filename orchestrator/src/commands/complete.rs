//! Completion for shells: the static scripts of clap, and names of a living run, which the scripts
//! ask the hidden `phalanx complete` for.

use std::path::Path;
use std::time::Duration;

use clap_complete::Shell;
use client::control::Named;
use lockstep::services;
use protocol::primary_to_client::Reply;
use protocol::report::Snapshot;
use protocol::{Command, ExitCode, Role};

use super::target::{self, Target};
use super::{CommandResult, output, runtime, world_file};
use crate::cli;
use crate::cli::{KeyArguments, is_verb, verbs};
use crate::launch::launched::Launched;
use crate::run_directory::Runs;

/// Time that the primary may take: someone waits for it with a finger on the key.
const TIMEOUT: Duration = Duration::from_millis(1500);

/// A kind of words that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Runs,
    Words(&'static [&'static str]),
    Verbs,
    Topics,
    Services,
    /// The type of the topic or service before.
    Type,
    Performers,
    Levels,
    Secondaries,
    Keys,
    Joints,
    Links,
    Hosts,
}

/// Kinds of words that may come next, and the run that is asked for names.
#[derive(Debug, Default, PartialEq, Eq)]
struct Next<'a> {
    run: Option<&'a str>,
    sources: Vec<Source>,
    /// The word before, if the next depends on it.
    after: &'a str,
}

/// Writes the script of a shell to stdout.
pub(super) fn completions(shell: Shell) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "phalanx", &mut script);
    let names = match shell {
        Shell::Bash => include_str!("complete/names.bash"),
        Shell::Fish => include_str!("complete/names.fish"),
        Shell::Zsh => include_str!("complete/names.zsh"),
        _ => "",
    };
    output::print(&(String::from_utf8_lossy(&script).into_owned() + names))
}

/// Prints what the last word may become. Never fails: a shell that asks wants no message.
pub(super) fn complete(words: &[String]) -> CommandResult {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((typed, before)) = words.split_last() else {
        return Ok(ExitCode::Success);
    };
    let next = next(before);
    let mut names: Vec<String> = next
        .sources
        .iter()
        .flat_map(|source| gather(*source, &next))
        .filter(|name| name.starts_with(typed))
        .collect();
    names.sort();
    names.dedup();
    names.iter().try_for_each(|name| {
        output::print(&format!("{name}\n"))?;
        Ok::<(), super::Failed>(())
    })?;
    Ok(ExitCode::Success)
}

fn next<'a>(before: &[&'a str]) -> Next<'a> {
    match before {
        ["attach"] | ["topic" | "service", "list"] => only(&[Source::Runs]),
        ["ctl", rest @ ..] => next_of_control(rest),
        ["topic"] => only(&[Source::Words(&["list", "info", "echo", "pub", "hz"])]),
        ["service"] => only(&[Source::Words(&["list", "call"])]),
        ["topic", "pub", rest @ ..] => next_of_name(rest, Source::Topics, true),
        ["topic", _, rest @ ..] => next_of_name(rest, Source::Topics, false),
        ["service", "call", rest @ ..] => next_of_name(rest, Source::Services, true),
        _ => Next::default(),
    }
}

fn only<'a>(sources: &[Source]) -> Next<'a> {
    Next {
        sources: sources.to_vec(),
        ..Next::default()
    }
}

/// A run, if it is named, then a topic or service, then perhaps its type.
fn next_of_name<'a>(rest: &[&'a str], source: Source, has_type: bool) -> Next<'a> {
    let (run, name) = match rest {
        [] => return only(&[Source::Runs, source]),
        [name] if name.starts_with('/') => (None, *name),
        [run] => {
            return Next {
                run: Some(run),
                ..only(&[source])
            };
        }
        [run, name] if name.starts_with('/') && !run.starts_with('/') => (Some(*run), *name),
        _ => return Next::default(),
    };
    Next {
        run,
        after: name,
        sources: if has_type { vec![Source::Type] } else { vec![] },
    }
}

fn next_of_control<'a>(rest: &[&'a str]) -> Next<'a> {
    let (run, verb, words) = match rest {
        [] => return only(&[Source::Runs, Source::Verbs]),
        [run, verb, words @ ..] if is_verb(verb) => (Some(*run), *verb, words),
        [verb, words @ ..] if is_verb(verb) => (None, *verb, words),
        [run] => {
            return Next {
                run: Some(run),
                ..only(&[Source::Verbs])
            };
        }
        _ => return Next::default(),
    };
    let takes = verbs().find(|known| known.name == verb);
    let named = takes.and_then(|known| known.takes.get(words.len()));
    let source = match (verb, words.len()) {
        ("add-host" | "drain-host", 0) => Some(Source::Hosts),
        ("set-joint", 0) => Some(Source::Joints),
        ("attach" | "detach", 0 | 1) | ("apply-wrench", 0) => Some(Source::Links),
        _ => named.map(|named| match named {
            Named::Level => Source::Levels,
            Named::Secondary => Source::Secondaries,
            Named::Performer => Source::Performers,
            Named::Key => Source::Keys,
            Named::ResetKind => Source::Words(&["all", "time", "models"]),
        }),
    };
    Next {
        run,
        sources: source.into_iter().collect(),
        ..Next::default()
    }
}

fn gather(source: Source, next: &Next<'_>) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match source {
        Source::Words(words) => owned(words),
        Source::Verbs => verbs().map(|verb| verb.name.to_owned()).collect(),
        Source::Runs => {
            let runs = Runs::open()
                .and_then(|runs| runs.list())
                .unwrap_or_default();
            let living = runs.into_iter().filter(|run| run.is_living);
            living.map(|run| run.record.name).collect()
        }
        Source::Type => services::kind_of(next.after)
            .map(str::to_owned)
            .into_iter()
            .chain(
                topics(next.run)
                    .into_iter()
                    .filter_map(|(topic, kind)| (topic == next.after).then_some(kind)),
            )
            .collect(),
        Source::Topics => topics(next.run)
            .into_iter()
            .map(|(topic, _)| topic)
            .collect(),
        Source::Services => snapshot(next.run).map_or_else(Vec::new, |snapshot| {
            let worlds: Vec<&str> = snapshot.stats.world.split('+').collect();
            let services = services::list(&worlds).into_iter();
            services.map(|service| service.name).collect()
        }),
        Source::Performers => from_snapshot(next.run, |snapshot| {
            let performers = snapshot.performers.into_iter();
            performers.map(|performer| performer.name).collect()
        }),
        Source::Levels => from_snapshot(next.run, |snapshot| {
            let levels = snapshot.levels.into_iter();
            levels.map(|level| level.name).collect()
        }),
        Source::Secondaries => from_snapshot(next.run, |snapshot| {
            let peers = snapshot.peers.into_iter();
            peers
                .filter(|peer| peer.role == Role::Secondary)
                .map(|peer| peer.name.to_string())
                .collect()
        }),
        Source::Keys => match ask(next.run, Command::Clients) {
            Some(Reply::Clients(clients)) => {
                let connections = clients.connections.into_iter();
                connections.filter_map(|one| one.key).collect()
            }
            _ => Vec::new(),
        },
        Source::Hosts => hosts(next.run),
        Source::Joints => parts(next.run, |model| {
            model
                .joints
                .iter()
                .map(|joint| joint.name.as_str())
                .collect()
        }),
        Source::Links => parts(next.run, |model| {
            model.links.iter().map(|link| link.name.as_str()).collect()
        }),
    }
}

fn ask(run: Option<&str>, command: Command) -> Option<Reply> {
    let target: Target = target::find(run, &KeyArguments::default()).ok()?;
    runtime().ok()?.block_on(target.ask(command, TIMEOUT)).ok()
}

fn topics(run: Option<&str>) -> Vec<(String, String)> {
    match ask(run, Command::Topics) {
        Some(Reply::Topics(topics)) => {
            let topics = topics.into_iter();
            topics.map(|topic| (topic.topic, topic.kind)).collect()
        }
        _ => Vec::new(),
    }
}

fn snapshot(run: Option<&str>) -> Option<Box<Snapshot>> {
    match ask(run, Command::Snapshot)? {
        Reply::Snapshot(snapshot) => Some(snapshot),
        _ => None,
    }
}

fn from_snapshot(run: Option<&str>, names: impl FnOnce(Snapshot) -> Vec<String>) -> Vec<String> {
    snapshot(run).map_or_else(Vec::new, |snapshot| names(*snapshot))
}

/// Returns the hosts of a run of this machine, and those of which its run file says more.
fn hosts(run: Option<&str>) -> Vec<String> {
    let found = target::find(run, &KeyArguments::default())
        .ok()
        .and_then(|target| target.found);
    let launched = found.and_then(|found| Launched::read(&found.launch_file()).ok());
    let Some(launched) = launched else {
        return Vec::new();
    };
    let spec = launched.plan.spec;
    let hosts = spec.used_hosts().into_iter().chain(spec.hosts);
    hosts.map(|host| host.name).collect()
}

/// Returns parts of the models in the files of a run of this machine as `MODEL::PART`.
fn parts(run: Option<&str>, of: fn(&sdf::Model) -> Vec<&str>) -> Vec<String> {
    let found = target::find(run, &KeyArguments::default())
        .ok()
        .and_then(|target| target.found);
    let Some(found) = found else {
        return Vec::new();
    };
    let mut worlds = Vec::new();
    for file in found.record.world.split(", ").map(Path::new) {
        if let Ok(text) = world_file::read_text(file)
            && let Ok(read) = world_file::read_worlds(&text, file)
        {
            worlds.extend(read.worlds);
        }
    }
    let has_siblings = worlds.len() > 1;
    let mut names = Vec::new();
    for world in &worlds {
        for model in &world.models {
            let scope = if has_siblings {
                format!("{}::{}", world.name, model.name)
            } else {
                model.name.clone()
            };
            names.extend(of(model).iter().map(|part| format!("{scope}::{part}")));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::control::reset_kinds;

    fn check(line: &str, run: Option<&str>, sources: &[Source]) {
        let before: Vec<&str> = line.split_whitespace().collect();
        let next = next(&before);
        assert_eq!(
            (next.run, next.sources.as_slice()),
            (run, sources),
            "{line}"
        );
    }

    #[test]
    fn completions_follow_from_the_words_before() {
        check("ctl", None, &[Source::Runs, Source::Verbs]);
        check("ctl a", Some("a"), &[Source::Verbs]);
        check("ctl a remove", Some("a"), &[Source::Performers]);
        check("ctl move-cell west", None, &[Source::Secondaries]);
        check("ctl r drain-host", Some("r"), &[Source::Hosts]);
        check("ctl set-joint", None, &[Source::Joints]);
        check("ctl a attach x::l", Some("a"), &[Source::Links]);
        check("ctl play", None, &[]);
        check("topic echo", None, &[Source::Runs, Source::Topics]);
        check("topic echo a", Some("a"), &[Source::Topics]);
        check("topic echo /t", None, &[]);
        check("topic pub a /t", Some("a"), &[Source::Type]);
        check("service call", None, &[Source::Runs, Source::Services]);
        check("service call /world/w/control", None, &[Source::Type]);
        check("run", None, &[]);
    }

    #[test]
    fn completion_offers_all_parts_that_can_be_reset() {
        let Source::Words(words) = next(&["ctl", "reset"]).sources[0] else {
            panic!("reset offers words")
        };
        assert_eq!(words, reset_kinds().map(|(name, _)| name));
    }
}
