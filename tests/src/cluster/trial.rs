//! One scenario, from its start to its end, and whether all was as it must be.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockstep::PeerLossPolicy;
use protocol::exit::Outcome;
use protocol::{Digest, Iteration, ScheduledCommand, Sequence, SessionTime};
use sdf::World;

use super::fault::{Fault, TimedFault};
use super::scenario::{ITERATIONS_MAX, Scenario, Stage};
use super::trace::Trace;
use super::{Cluster, Life, NetworkFaults, Outputs, RecordedIteration, settings};
use crate::checkers::agreement;

/// Time that a run may take once nothing more goes wrong, besides what its steps take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time for which everyone has to end once a loss is seen, when the policy is to stop.
const END_WITHIN: Duration = Duration::from_secs(2);
/// Number of events that a run may have: far more than any needs.
const EVENTS_MAX: u64 = 5_000_000;

/// Result of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Number of iterations that are complete.
    pub iterations: u64,
    /// Number of times that a cell came to another host.
    pub migrations: u64,
    /// Number of times that a cell was restored since its host was lost.
    pub restored: u64,
    /// Number of times that its primary was killed and the run resumed.
    pub resumed: u32,
    /// Number of steps that were done ahead of the one that was asked for, and counted.
    pub done_ahead: u64,
    /// Number of steps that were done ahead and rolled back.
    pub taken_back: u64,
    /// Time that it took \[virtual\].
    pub took: Duration,
}

/// Runs a scenario.
///
/// # Errors
/// Returns what a checker found, or the text of a panic.
pub fn run(scenario: &Scenario, trace: Trace) -> Result<Verdict, String> {
    run_with(scenario, trace, |_| {}).0
}

/// Runs a scenario on a cluster that something was done to first; returns what happened besides.
pub fn run_with(
    scenario: &Scenario,
    trace: Trace,
    prepare: impl FnOnce(&mut Cluster),
) -> (Result<Verdict, String>, Vec<String>) {
    let mut cluster = cluster_of(scenario, trace);
    prepare(&mut cluster);
    let result = catch_unwind(AssertUnwindSafe(|| {
        drive(&mut cluster, scenario)?;
        cluster.end_delivery();
        let outputs = cluster.finish_outputs();
        judge(&cluster, outputs.as_ref(), scenario)
    }));
    let result = result.unwrap_or_else(|panic| Err(text_of(panic.as_ref())));
    (result, cluster.setup.trace.lines().to_vec())
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| Some((*panic.downcast_ref::<&str>()?).to_owned()));
    text.unwrap_or_else(|| "a panic without a text".to_owned())
}

fn cluster_of(scenario: &Scenario, trace: Trace) -> Cluster {
    let world = scenario.world();
    let mut cluster = Cluster::with(
        &[world],
        scenario.settings(),
        scenario.network,
        scenario.seed,
    );
    cluster.setup.trace = trace;
    cluster.setup.restart_after = scenario.restart_after;
    cluster.checks.witness.only_checks = true;
    cluster.write_outputs();
    if let Some(delay) = scenario.journal {
        cluster.keep_journal(delay);
    }
    for (index, (step_us, skew_permille)) in scenario.paces.iter().enumerate() {
        cluster.set_pace(index, *step_us, *skew_permille);
    }
    for fault in &scenario.faults {
        cluster.plan(fault.clone());
    }
    for (request, number) in scenario.requests.iter().zip(1..) {
        cluster.plan_request(request.at, number, request.command.clone());
    }
    cluster
}

/// Lets everything happen until all have ended, within bounds.
fn drive(cluster: &mut Cluster, scenario: &Scenario) -> Result<(), String> {
    let bound = end_bound(scenario);
    let mut progress = Progress::new(scenario);
    let mut events = 0;
    let mut finished_at = None;
    loop {
        if cluster.outcome.finished.is_some() {
            finished_at.get_or_insert(cluster.now());
            if cluster.living().next().is_none() || is_left_alone(cluster, scenario, finished_at) {
                return Ok(());
            }
        } else if cluster.now() > bound {
            let (iteration, state) = (cluster.primary.iteration(), cluster.primary.run_state());
            return Err(format!(
                "liveness: the run is {state:?} at iteration {iteration} after {:?}",
                cluster.now().since(SessionTime(0))
            ));
        }
        cluster.advance();
        progress.check(cluster)?;
        events += 1;
        if events > EVENTS_MAX {
            return Err(format!("liveness: {EVENTS_MAX} events and no end"));
        }
    }
}

/// A run with a secondary that can work goes on within a bound, also between faults.
#[derive(Debug)]
struct Progress {
    bound: Duration,
    sequence: Sequence,
    living: usize,
    since: SessionTime,
}

impl Progress {
    fn new(scenario: &Scenario) -> Self {
        let restart = scenario.restart_after.unwrap_or_default();
        let slowest = scenario.paces.iter().map(|(step_us, _)| *step_us).max();
        // Everything may have to be replayed, by one who is slowed down.
        let replay = Duration::from_micros(slowest.unwrap_or_default() * 20 * ITERATIONS_MAX * 2);
        Self {
            bound: detection(scenario) * 2 + restart * 2 + replay + Duration::from_secs(12),
            sequence: Sequence(0),
            living: 0,
            since: SessionTime(0),
        }
    }

    fn check(&mut self, cluster: &Cluster) -> Result<(), String> {
        let sequence = cluster.primary.sequence();
        let living = cluster
            .living()
            .filter(|(_, _, life)| *life == Life::Running);
        let living = living.count();
        let is_to_go_on = cluster.is_primary_awake()
            && cluster.outcome.finished.is_none()
            && living > 0
            && !cluster.primary.is_to_stand_still();
        if sequence != self.sequence || living != self.living || !is_to_go_on {
            (self.sequence, self.living, self.since) = (sequence, living, cluster.now());
        }
        let waited = cluster.now().since(self.since);
        if waited <= self.bound {
            return Ok(());
        }
        Err(format!(
            "progress: {living} secondaries live, and step {sequence} has waited {waited:?}"
        ))
    }
}

/// Tells whether those who are still there had time enough to end, or never hear of it.
fn is_left_alone(cluster: &Cluster, scenario: &Scenario, finished_at: Option<SessionTime>) -> bool {
    let quiet_at = last_mend(scenario).max(finished_at.unwrap_or_default());
    cluster.now() > quiet_at + scenario.heartbeat_timeout * 4 + END_WITHIN + Duration::from_secs(10)
}

/// Returns when the last fault is over.
fn last_mend(scenario: &Scenario) -> SessionTime {
    let ends = scenario.faults.iter();
    let ends = ends.map(|fault| fault.at + fault.duration().unwrap_or_default());
    ends.max().unwrap_or_default()
}

/// Returns by when a run must have ended, whatever goes wrong in it.
fn end_bound(scenario: &Scenario) -> SessionTime {
    let requests = scenario.requests.iter().map(|request| request.at).max();
    let quiet_at = last_mend(scenario).max(requests.unwrap_or_default());
    let faults = scenario.faults.len() as u32 + 1;
    let detection = scenario.heartbeat_timeout * 3 + scenario.step_timeout;
    let restart = scenario.restart_after.unwrap_or_default();
    // Each step that somebody misses waits for the next attempt, 200 ms and seldom more.
    let missed = scenario.iterations * scenario.network.lost_permille / 1000 + 1;
    let missed = missed * u64::from(scenario.secondaries + scenario.stand_bys) * 2;
    quiet_at
        + scenario.span() * 20
        + (detection + restart) * faults
        + Duration::from_millis(200 * missed)
        + TIMEOUT
}

fn judge(
    cluster: &Cluster,
    outputs: Option<&Outputs>,
    scenario: &Scenario,
) -> Result<Verdict, String> {
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("drive waits for the end");
    cluster.checks.answers.check_complete();
    cluster.checks.witness.effects.check();
    cluster
        .checks
        .commits
        .check_end(cluster.primary.iteration());
    let digests = cluster.checks.commits.digests();
    let undisturbed = undisturbed(scenario, &cluster.clients.stamped, digests.len());
    agreement::check(digests, &undisturbed.digests);
    check_schedule(
        scenario,
        &cluster.clients.stamped,
        cluster.primary.iteration(),
    )?;
    if let Some(outputs) = outputs {
        check_outputs(outputs, cluster, &undisturbed)?;
    }
    match scenario.policy {
        PeerLossPolicy::Stop => judge_stop(cluster, scenario)?,
        PeerLossPolicy::Recover => {
            // Who falls before the start and does not come back is waited for in vain, and so is
            // one that lives behind a link that is cut for good.
            let mut faults = scenario.faults.iter();
            let is_cut_off =
                faults.any(|one| matches!(one.fault, Fault::Cut { duration: None, .. }));
            let is_excused = reason.outcome == Outcome::TimedOut
                && (scenario.restart_after.is_none() || is_cut_off)
                && digests.is_empty();
            if reason.outcome != Outcome::Completed && !is_excused {
                return Err(format!(
                    "liveness: the run recovers, and it ended: {reason}"
                ));
            }
        }
    }
    let complete = digests.len().saturating_sub(1) as u64;
    if reason.outcome == Outcome::Completed && complete != scenario.iterations {
        return Err(format!("the run is complete with {complete} iterations"));
    }
    if let Some((index, name, life)) = cluster.living().next() {
        return Err(format!(
            "liveness: {name} (process {index}, {life:?}) is there after the end: {reason}"
        ));
    }
    Ok(Verdict {
        outcome: reason.outcome,
        iterations: complete,
        migrations: cluster.checks.witness.ownership.migrations,
        restored: cluster.checks.witness.ownership.restored,
        resumed: cluster.saved.primaries,
        done_ahead: cluster.checks.barrier.done_ahead,
        taken_back: cluster.checks.barrier.taken_back,
        took: cluster.now().since(SessionTime(0)),
    })
}

/// The files of the run say what it did, each iteration and command once, however often the run was
/// taken up again.
fn check_outputs(
    outputs: &Outputs,
    cluster: &Cluster,
    undisturbed: &Undisturbed,
) -> Result<(), String> {
    let done = cluster.checks.commits.digests();
    if done.get(1..).unwrap_or_default() != outputs.digests {
        let (written, done) = (outputs.digests.len(), done.len().saturating_sub(1));
        return Err(format!(
            "outputs: the file of digests has {written} lines, which are not those of the {done} \
             iterations"
        ));
    }
    if outputs.commands != cluster.clients.stamped {
        let (written, done) = (outputs.commands.len(), cluster.clients.stamped.len());
        return Err(format!(
            "outputs: the file of commands has {written}, which are not the {done} that were done"
        ));
    }
    let last = cluster.primary.iteration();
    let expected = undisturbed.states.iter();
    let mut expected = expected.take_while(|one| one.iteration <= last);
    let mut written = outputs.states.iter();
    loop {
        match (written.next(), expected.next()) {
            (None, None) => return Ok(()),
            (one, other) if one == other => {}
            (one, other) => {
                return Err(format!(
                    "outputs: the file of states has, where an undisturbed run differs: {}",
                    difference(one, other)
                ));
            }
        }
    }
}

/// Returns where two iterations differ, for people.
fn difference(one: Option<&RecordedIteration>, other: Option<&RecordedIteration>) -> String {
    let (Some(one), Some(other)) = (one, other) else {
        let number = |found: Option<&RecordedIteration>| found.map(|found| found.iteration.0);
        return format!("iteration {:?}, not {:?}", number(one), number(other));
    };
    if (one.iteration, one.digest) != (other.iteration, other.digest) {
        let [one, other] =
            [one, other].map(|found| format!("{} {}", found.iteration, found.digest));
        return format!("iteration {one}, not {other}");
    }
    let names = one.performers.keys().chain(other.performers.keys());
    let differs = |name: &&String| one.performers.get(*name) != other.performers.get(*name);
    let name = names.into_iter().find(differs).map_or("", String::as_str);
    let [found, expected] = [one, other].map(|found| found.performers.get(name));
    let iteration = one.iteration;
    format!("at iteration {iteration}, {name} as {found:?}, not {expected:?}")
}

/// Every command of the file was done once, however often the run was taken up again.
fn check_schedule(
    scenario: &Scenario,
    stamped: &[ScheduledCommand],
    last: Iteration,
) -> Result<(), String> {
    for scheduled in scenario.schedule.iter().filter(|one| one.iteration < last) {
        let expected = scenario.schedule.iter().filter(|one| *one == scheduled);
        let done = stamped
            .iter()
            .filter(|one| one.iteration == scheduled.iteration && one.command == scheduled.command);
        let (expected, done) = (expected.count(), done.count());
        if done != expected {
            return Err(format!(
                "a command of the file was done {done} times, not {expected}: {scheduled:?}"
            ));
        }
    }
    Ok(())
}

/// With the policy to stop, a run ends as it must: in order without a loss, soon after one.
fn judge_stop(cluster: &Cluster, scenario: &Scenario) -> Result<(), String> {
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("drive waits for the end");
    let fatal = scenario.faults.iter().filter_map(|one| {
        let is_certain = Effect::of(scenario, one) == Effect::Fatal;
        is_certain.then_some(one.at)
    });
    let first = fatal.min();
    let can_fail = scenario
        .faults
        .iter()
        .any(|one| Effect::of(scenario, one) != Effect::Harmless);
    let ended_at = cluster.outcome.ended_at.unwrap_or(cluster.now());
    match reason.outcome {
        Outcome::Completed => {
            let seen_by = first.map(|at| at + detection(scenario) + END_WITHIN);
            if seen_by.is_some_and(|at| ended_at > at) {
                return Err(format!(
                    "a loss at {first:?} went unseen until {ended_at:?}"
                ));
            }
        }
        Outcome::PeerLost if can_fail => {
            let seen_by = first.map(|at| at + detection(scenario) + END_WITHIN);
            if seen_by.is_some_and(|at| ended_at > at) {
                return Err(format!(
                    "a loss at {first:?} ended the run only at {ended_at:?}"
                ));
            }
        }
        // Who falls before it has joined is waited for in vain.
        Outcome::TimedOut if first.is_some() && cluster.checks.commits.digests().is_empty() => {}
        _ => {
            return Err(format!(
                "the run ended for no cause that was given: {reason}"
            ));
        }
    }
    for (index, one) in &cluster.outcome.secondaries_finished {
        // Who was still about to join finds nobody, or is refused.
        let is_expected = match one.outcome {
            Outcome::PeerLost | Outcome::TimedOut | Outcome::ConfigurationError => true,
            Outcome::Completed
            | Outcome::DigestMismatch
            | Outcome::Interrupted
            | Outcome::Failed => one.outcome == reason.outcome,
        };
        if !is_expected {
            return Err(format!("process {index} ended otherwise: {one}"));
        }
    }
    Ok(())
}

/// Effect of a fault on a run that stops when a peer is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Nobody counts as lost.
    Harmless,
    /// Somebody may, by what else happens.
    Either,
    /// Somebody does.
    Fatal,
}

impl Effect {
    fn of(scenario: &Scenario, one: &TimedFault) -> Self {
        let is_long = |duration: Duration| duration > scenario.heartbeat_timeout / 4;
        match &one.fault {
            Fault::Crash { .. } | Fault::Cut { duration: None, .. } => Self::Fatal,
            Fault::Cut {
                duration: Some(duration),
                ..
            }
            | Fault::Stall(duration)
                if is_long(*duration) && is_hidden(scenario, one.at, *duration) =>
            {
                Self::Either
            }
            Fault::Cut {
                duration: Some(duration),
                ..
            }
            | Fault::Stall(duration)
            | Fault::StallOfPrimary(duration)
                if is_long(*duration) =>
            {
                Self::Fatal
            }
            // Several at once multiply.
            Fault::Slow { .. } if scenario.span() * slowness(scenario) > scenario.step_timeout => {
                Self::Either
            }
            // A process that asks to join does not mind a reset.
            Fault::Reset(_)
            | Fault::CrashOfPrimary { .. }
            | Fault::PowerLoss { .. }
            | Fault::FullDisk(_)
            | Fault::HungDisk(_) => Self::Either,
            Fault::Cut { .. }
            | Fault::Stall(_)
            | Fault::StallOfPrimary(_)
            | Fault::StallOfStepper(_)
            | Fault::Slow { .. }
            | Fault::Join => Self::Harmless,
        }
    }
}

/// Tells whether a silence falls into a time in which the primary's stepper stalls, which then does
/// not know how long it was.
fn is_hidden(scenario: &Scenario, at: SessionTime, duration: Duration) -> bool {
    scenario.faults.iter().any(|one| match one.fault {
        Fault::StallOfStepper(stall) => one.at < at + duration && at < one.at + stall,
        _ => false,
    })
}

/// Returns how many times slower somebody may be, with all that slows.
fn slowness(scenario: &Scenario) -> u32 {
    let factors = scenario.faults.iter().map(|one| match one.fault {
        Fault::Slow { factor, .. } => factor as u32,
        _ => 1,
    });
    factors.fold(1, u32::saturating_mul).max(20)
}

/// Returns within what time a fatal fault is seen: silence counts double while messages come.
/// A stepper that stalls sees nothing meanwhile.
fn detection(scenario: &Scenario) -> Duration {
    let of_step = scenario.step_timeout;
    let faults = scenario.faults.iter();
    let stalls = faults.filter_map(|one| match one.fault {
        Fault::StallOfStepper(duration) => Some(duration),
        _ => None,
    });
    let stalls: Duration = stalls.sum();
    (scenario.heartbeat_timeout * 5 / 2 + Duration::from_millis(200)).max(of_step) + stalls
}

/// Results of a run that nothing disturbs.
#[derive(Clone, Debug)]
struct Undisturbed {
    /// Digests after each iteration, from 0 on.
    digests: Vec<Digest>,
    states: Vec<RecordedIteration>,
}

/// Returns what a run of the same world and commands on one secondary leaves, which nothing
/// disturbs.
fn undisturbed(
    scenario: &Scenario,
    stamped: &[ScheduledCommand],
    count: usize,
) -> Arc<Undisturbed> {
    type Worlds = (Stage, Option<u32>);
    static KNOWN: Mutex<BTreeMap<Worlds, Arc<Undisturbed>>> = Mutex::new(BTreeMap::new());
    let worlds = (scenario.stage, scenario.split_above);
    if !stamped.is_empty() {
        let iterations = count.saturating_sub(1) as u64;
        return Arc::new(run_undisturbed(worlds, stamped, iterations));
    }
    let known = KNOWN.lock().expect("nobody panics with it");
    let found = known.get(&worlds).cloned();
    drop(known);
    found.unwrap_or_else(|| {
        let found = Arc::new(run_undisturbed(worlds, &[], ITERATIONS_MAX));
        let mut all = KNOWN.lock().expect("nobody panics with it");
        all.insert(worlds, Arc::clone(&found));
        found
    })
}

fn run_undisturbed(
    (stage, split_above): (Stage, Option<u32>),
    stamped: &[ScheduledCommand],
    iterations: u64,
) -> Undisturbed {
    let mut settings = settings(1, iterations.max(1));
    settings.pace.run_ahead_max = 1;
    settings.schedule = stamped.to_vec();
    let calm = NetworkFaults {
        delay_us_max: 1,
        ..NetworkFaults::SHUFFLED
    };
    let world = World {
        split_above,
        ..stage.world()
    };
    let mut cluster = Cluster::with(&[world], settings, calm, 1);
    cluster.write_outputs();
    cluster.run_until(|_| false);
    let outputs = cluster.finish_outputs().expect("it writes them");
    Undisturbed {
        digests: cluster.checks.commits.digests().to_vec(),
        states: outputs.states,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_stands_still_though_a_secondary_lives_is_seen() {
        let scenario = Scenario::draw(1, PeerLossPolicy::Stop);
        let mut progress = Progress::new(&scenario);
        let mut settings = settings(1, 10);
        settings.peers.step_timeout = Duration::from_secs(1000);
        let world = scenario.stage.world();
        let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, 1);
        cluster.set_pace(0, 500_000_000, 0);
        let found = loop {
            cluster.advance();
            if let Err(found) = progress.check(&cluster) {
                break found;
            }
            assert!(cluster.now() < SessionTime(400_000_000_000), "it is seen");
        };
        assert!(found.contains("1 secondaries live"), "{found}");
    }
}
