//! Finds the peer or the part of the work that takes most of a run's working time.

use protocol::counted;
use protocol::report::{LevelReport, ParticipantReport, PeerReport, Split, holder};

use super::{Culprit, PART_SHARE, Verdict, advice, percent, ranked, time, workers};
use crate::app::model::Model;
use crate::app::rows::cell_us;

/// Number of parts that are named when none stands out.
const NAMED: usize = 3;

/// Judges a run that works for so long per iteration \[us\].
pub(super) fn of_work(model: &Model, split: &Split, work: f64) -> Verdict {
    if let Some(peer) = holder(&model.heard.peers, work) {
        return of_peer(model, peer, work);
    }
    let mut parts = ranked(split);
    parts.retain(|(part, _)| *part != Split::PACE);
    match parts.first() {
        Some((part, largest)) if *largest >= work * PART_SHARE => {
            of_part(model, *part, *largest, work)
        }
        _ => spread(&parts, work),
    }
}

fn of_peer(model: &Model, peer: &PeerReport, work: f64) -> Verdict {
    let others = workers(model).filter(|other| other.name != peer.name);
    let next = others.min_by(|a, b| a.wait_us.total_cmp(&b.wait_us));
    let after = next.map_or("the others", |next| next.name.as_str());
    let headline = format!(
        "{} holds the step: last in {} of steps, {} after {after}, {} of the work",
        peer.name,
        percent(peer.last_share),
        time(peer.blocked_us),
        percent((peer.blocked_us / work).min(1.0))
    );
    let mut verdict = Verdict::plain(Culprit::Peer(peer.name.clone()), headline);
    let details = &mut verdict.details;
    if peer.network_us > peer.busy_us {
        details.push(format!(
            "{} of its answer is on the way, {} is work",
            time(peer.network_us),
            time(peer.busy_us)
        ));
    } else {
        let (name, largest) = largest_of_peer(peer);
        details.push(format!(
            "its {name} is {} of {}",
            time(largest),
            time(peer.busy_us)
        ));
        details.extend(of_level(model, peer));
    }
    details.extend(machine(model, peer));
    verdict.advice = if peer.network_us > peer.busy_us {
        advice::against_distance(model, peer)
    } else {
        advice::for_holder(model, peer)
    };
    verdict
}

/// Says which machine a peer is on and how busy that is, in a run on several.
fn machine(model: &Model, peer: &PeerReport) -> Option<String> {
    let host = &peer.host;
    let mut others = model
        .heard
        .peers
        .iter()
        .filter(|other| !other.host.is_empty());
    others.find(|other| other.host != *host)?;
    Some(match &peer.host_load {
        Some(load) if load.is_crowded() => format!(
            "{host}, which it is on, has {} cores for a load of {:.1}",
            load.cores, load.load_average
        ),
        Some(load) => format!(
            "it is on {host}, with a load of {:.1} on {} cores",
            load.load_average, load.cores
        ),
        None => format!("it is on {host}"),
    })
}

/// Says how many processes are on a peer's machine: time in which one waits for a core is time in
/// which nobody hears from it.
fn crowd(model: &Model, peer: &PeerReport) -> Option<String> {
    let there = model.heard.peers.iter().filter(|one| one.host == peer.host);
    let count = there.filter(|one| one.state.is_here()).count();
    (count > 1).then(|| {
        let host = &peer.host;
        format!("{count} processes of the run share {host}: each needs a free core")
    })
}

/// Returns the name and time of the largest part of a peer's work.
fn largest_of_peer(peer: &PeerReport) -> (&'static str, f64) {
    let inner = peer.physics_us + peer.systems_us + peer.sensors_us;
    let parts = [
        ("physics", peer.physics_us),
        ("systems", peer.systems_us),
        ("sensors", peer.sensors_us),
        ("handling of cells", peer.busy_us - inner),
    ];
    let largest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    largest.unwrap_or(parts[0])
}

/// Says which of a peer's levels costs most, when it has several.
fn of_level(model: &Model, peer: &PeerReport) -> Option<String> {
    let levels = levels_of(model, peer);
    let largest = levels
        .iter()
        .max_by(|a, b| cell_us(a).total_cmp(&cell_us(b)))?;
    let share = cell_us(largest) / peer.busy_us;
    (cell_us(largest) > 0.0).then(|| {
        format!(
            "its level {} takes {} ({} of its work) for {}",
            largest.name,
            time(cell_us(largest)),
            percent(share.min(1.0)),
            counted(largest.performers.len(), "performer")
        )
    })
}

/// Returns the levels of a peer that are stepped.
pub(super) fn levels_of<'a>(model: &'a Model, peer: &PeerReport) -> Vec<&'a LevelReport> {
    let is_its = |level: &&LevelReport| level.owner.as_ref() == Some(&peer.name);
    let all = model.heard.levels.iter().filter(is_its);
    all.filter(|level| level.active && !level.suspended)
        .collect()
}

fn of_part(model: &Model, part: usize, largest: f64, work: f64) -> Verdict {
    let name = Split::NAMES[part];
    let (took, all, share) = (time(largest), time(work), percent(largest / work));
    let headline = match part {
        Split::NETWORK => format!("the network: {took} of {all} ({share}) on the way or in queues"),
        Split::PRIMARY => format!("the primary: {took} of {all} ({share}) are its own work"),
        Split::PARTICIPANTS => {
            let slowest = slowest_participant(model).map_or("programs", |one| one.name.as_str());
            format!("{slowest}: {took} of {all} ({share}) are spent waiting for its answers")
        }
        _ => format!("{name}: {took} of {all} ({share}) of an iteration's work"),
    };
    let mut verdict = Verdict::plain(Culprit::Part(part), headline);
    match part {
        Split::NETWORK => {
            let slowest = workers(model).max_by(|a, b| a.network_us.total_cmp(&b.network_us));
            if let Some(peer) = slowest {
                let way = time(peer.network_us);
                let text = format!(
                    "the slowest way is to {} on {}: {way}",
                    peer.name, peer.host
                );
                verdict.details.push(text);
                verdict.details.extend(crowd(model, peer));
                verdict.advice = advice::against_distance(model, peer);
            }
        }
        Split::PARTICIPANTS => {
            if let Some(one) = slowest_participant(model) {
                let times = [one.wait_p50_us, one.wait_max_us].map(time);
                let every = one.every.unwrap_or_default();
                verdict.details.push(format!(
                    "it is asked every {every} iterations and answers after {}, at most {}",
                    times[0], times[1]
                ));
            }
        }
        Split::PRIMARY => {
            let counts = format!(
                "it keeps {} in {} on {}",
                counted(model.heard.performers.len(), "performer"),
                counted(model.heard.levels.len(), "level"),
                counted(workers(model).count(), "secondary")
            );
            verdict.details.push(counts);
            verdict.advice = advice::for_primary(model);
        }
        _ => {
            let levels = model.heard.levels.iter();
            let slowest = levels.max_by(|a, b| cell_us(a).total_cmp(&cell_us(b)));
            if let Some(level) = slowest.filter(|level| cell_us(level) > 0.0) {
                let took = time(cell_us(level));
                let performers = counted(level.performers.len(), "performer");
                let text = format!("level {} takes most: {took} for {performers}", level.name);
                verdict.details.push(text);
            }
            verdict.advice = advice::for_work(model);
        }
    }
    verdict
}

/// Returns the program whose answers take longest for an iteration.
fn slowest_participant(model: &Model) -> Option<&ParticipantReport> {
    let all = model.heard.peers.iter();
    let all = all.filter_map(|peer| peer.participant.as_ref());
    let per_iteration = |one: &ParticipantReport| one.wait_p50_us / one.every.unwrap_or(1) as f64;
    all.max_by(|a, b| per_iteration(a).total_cmp(&per_iteration(b)))
}

fn spread(parts: &[(usize, f64)], work: f64) -> Verdict {
    let named = parts.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|(part, took)| format!("{} {}", Split::NAMES[*part], percent(took / work)))
        .collect();
    let headline = format!("nothing stands out: {}", named.join(", "));
    let mut verdict = Verdict::plain(Culprit::Spread, headline);
    verdict
        .details
        .push(format!("an iteration works for {}", time(work)));
    verdict
}
