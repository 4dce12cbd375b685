//! `worker`: primary, secondary, relay or standalone, by its command line.

mod cli;

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode as ProcessExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use journal::Losses;
use lockstep::{
    CellSettings, OutputSettings, PaceSettings, ParticipantSettings, PeerSettings, Primary,
    PrimaryInput, RecoverySettings, Rules, SecondaryInput, SecondarySettings, Settings, Topology,
};
use mimalloc::MiMalloc;
use protocol::exit::Outcome;
use protocol::plain_text::escaped;
use protocol::primary_to_observers::Severity;
use protocol::report::{StartReport, Summary, TopicReport};
use protocol::{ExitCode, Iteration, PeerName, Role, RosSettings, RoutingId, StopReason};
use run::RunSpec;
use rustix::process::Resource;
use transport::zeromq::{
    Beats, BindError, PeerLink, PrimaryLink, Relay, SocketOptions, StatusPublisher,
};
use transport::{Endpoints, Link, Subscription};
use worker::audit::AuditLog;
use worker::commands_file;
use worker::cpus::Cpus;
use worker::digests_file::DigestsFile;
use worker::divergence_file::DivergenceFile;
use worker::heartbeat::{self, HeartbeatSettings, HeartbeatThread};
use worker::primary::PrimaryDriver;
use worker::recording_file::{self, RecordedRun};
use worker::recordings::{Recordings, RunToRecord};
use worker::relay::RelayDriver;
use worker::report::Reporter;
use worker::run_outputs::RunOutputs;
use worker::secondary::SecondaryDriver;
use worker::startup::{JournalPlan, Startup};
use worker::status::StatusThread;
use worker::stop_request::Lifeline;
use worker::trace::Tracer;
use worker::world_file::{self, LoadedWorlds};
use worker::{announcement, identity, renderers, ros, stop_request};

use cli::{Cli, RelayRequest, Request, Run};

/// Allocates for the whole program: 300 robots do 8 % more steps than with glibc's.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ProcessExitCode {
    start_logging();
    let mut cli = Cli::parse();
    keep_hulls();
    // Threads have the CPUs of the thread that starts them, so this comes before any other.
    if let Some(Err(error)) = cli.cpus.as_ref().map(Cpus::pin) {
        eprintln!("error: {error}");
        return ExitCode::Configuration.into();
    }
    if cli.asks_for_gpu() {
        return tell_gpu().into();
    }
    raise_descriptors();
    if let Err(error) = cli.security.read_input() {
        eprintln!("error: {error}");
        return ExitCode::Configuration.into();
    }
    let lifeline = match cli.has_lifeline().then(Lifeline::watch).transpose() {
        Ok(lifeline) => lifeline,
        Err(error) => {
            eprintln!("error: cannot watch standard input: {error}");
            return ExitCode::Failure.into();
        }
    };
    let request = match request_of(cli) {
        Ok(request) => request,
        Err(code) => return code.into(),
    };
    let result = transport::zeromq::check_curve()
        .map_err(anyhow::Error::from)
        .and_then(|()| match request {
            Request::Primary { run, secondaries } => run_primary(&run, Some(secondaries), lifeline),
            Request::Standalone(run) => run_primary(&run, None, lifeline),
            Request::StartReport(run) => report_start(&run),
            Request::RosTopics(run) => list_ros_topics(&run),
            Request::Relay(relay) => run_relay(&relay, lifeline),
            Request::Secondary {
                connect,
                partition,
                through,
                name,
                peer_timeout,
                spin,
                security,
                insecure,
                ignored,
            } => {
                warn_of_ignored("a secondary", &ignored);
                let info = identity::peer_info(name, Role::Secondary);
                let place = (connect, partition);
                let connect = match &through {
                    Some(relay) => cli::place_of(relay)?,
                    None => find_primary(place, &security, peer_timeout)?,
                };
                let options = SocketOptions {
                    insecure,
                    spin,
                    curve: security.of_secondary(&connect)?,
                };
                let settings = SecondarySettings { info, peer_timeout };
                run_secondary(&connect, &options, settings, lifeline)
                    .inspect(|outcome| hint_at_relay(*outcome, through.as_ref()))
            }
        });
    match result {
        Ok(outcome) => outcome.exit_code().into(),
        Err(error) => {
            let text = format!("{error:#}");
            eprintln!("error: {}", escaped(&text));
            ExitCode::Configuration.into()
        }
    }
}

/// Keeps hulls of meshes in the user's cache folder, if there is one.
fn keep_hulls() {
    if let Some(folder) = cache_folder() {
        physics::keep_hulls_in(folder.join("hulls"));
    }
}

/// Says what may be wrong where a secondary waited for a primary behind a relay in vain.
fn hint_at_relay(outcome: Outcome, relay: Option<&PeerName>) {
    if let Some(relay) = relay.filter(|_| outcome == Outcome::TimedOut) {
        tracing::error!(
            "does the relay {relay} run on this machine, as this user? Its --through or --name is \
             what secondaries give to --through"
        );
    }
}

fn warn_of_ignored(who: &str, ignored: &[String]) {
    if !ignored.is_empty() {
        let ignored = ignored.join(", ");
        tracing::warn!("{who} is told everything by its primary; ignored: {ignored}");
    }
}

/// Returns where a secondary finds its primary: at an address, in a partition of the local network,
/// or where processes that are started by hand meet.
fn find_primary(
    (connect, partition): (Option<Endpoints>, Option<String>),
    security: &cli::SecurityFlags,
    time: Duration,
) -> anyhow::Result<Endpoints> {
    if let Some(connect) = connect {
        return Ok(connect);
    }
    let Some(partition) = partition else {
        return cli::endpoint_by_hand();
    };
    let keys = security.server_keys()?;
    Ok(announcement::find(&partition, keys.as_ref(), time)?)
}

/// Checks the command line, and says what is wrong with it.
fn request_of(cli: Cli) -> Result<Request, ExitCode> {
    let base = cli.base().map_err(|error| {
        let text = format!("{error:#}");
        eprintln!("error: {}", escaped(&text));
        ExitCode::Configuration
    })?;
    cli.request(&base).map_err(|error| {
        eprintln!("error: {}", escaped(&error.to_string()));
        ExitCode::Usage
    })
}

/// Lets the process have as many descriptors as the system lets it: each connection takes one.
fn raise_descriptors() {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = rustix::process::setrlimit(Resource::Nofile, limit) {
        tracing::debug!("the limit of descriptors stays as it is: {error}");
    }
}

/// Returns the folder for what is made anew where it is lost.
fn cache_folder() -> Option<PathBuf> {
    let named = std::env::var_os("PHALANX_CACHE_DIR").filter(|name| !name.is_empty());
    let own = || {
        let folders = directories::ProjectDirs::from("", "", "phalanx")?;
        Some(folders.cache_dir().to_owned())
    };
    named.map(PathBuf::from).or_else(own)
}

fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("PHALANX_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .init();
}

/// Prints the GPU on which cameras would be drawn.
fn tell_gpu() -> ExitCode {
    let text = serde_json::to_string(&renderers::report()).expect("a report is words and truths");
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::Success,
        Err(_) => ExitCode::Failure,
    }
}

/// Prints what a start of the worlds would warn of, or why they cannot be run.
fn report_start(run: &Run) -> anyhow::Result<Outcome> {
    let report = match begin(run) {
        Ok((beginning, _)) => {
            let loaded = beginning.loaded;
            let survey = systems::survey(&loaded.worlds);
            StartReport {
                warnings: [loaded.warnings, survey.problems].concat(),
                refusal: None,
            }
        }
        Err(error) => StartReport {
            warnings: Vec::new(),
            refusal: Some(format!("{error:#}")),
        },
    };
    let text = serde_json::to_string(&report)?;
    writeln!(std::io::stdout(), "{text}")?;
    Ok(Outcome::Completed)
}

/// Prints which topics a run has in ROS 2.
fn list_ros_topics(run: &Run) -> anyhow::Result<Outcome> {
    let (beginning, _) = begin(run)?;
    let rules = ros::rules_of(&run.spec.ros2)?;
    let report = ros::mapping_report(&beginning.loaded.worlds, &rules)?;
    let text = serde_json::to_string(&report)?;
    writeln!(std::io::stdout(), "{text}")?;
    Ok(Outcome::Completed)
}

/// Runs a primary, or with no secondaries a standalone simulation.
fn run_primary(
    run: &Run,
    secondaries: Option<u32>,
    lifeline: Option<Lifeline>,
) -> anyhow::Result<Outcome> {
    let (beginning, recorded) = begin(run)?;
    let loaded = &beginning.loaded;
    let survey = systems::survey(&loaded.worlds);
    for problem in loaded.warnings.iter().chain(&survey.problems) {
        tracing::warn!("{problem}");
    }
    renderers::check(run.spec.run.renderer)?;
    run.empty_reports()?;
    let options = socket_options(run)?;
    let (ros2, ros_rules) = ros_settings(run, &beginning)?;
    if let Some(settings) = &ros2 {
        ros::check_awaited(settings, &survey.topics)?;
    }
    let settings = settings_of(run, loaded, survey.topics.clone(), (secondaries, ros2));
    let (role, name) = match secondaries {
        Some(_) => (Role::Primary, PeerName::primary()),
        None => (Role::Standalone, standalone_name()),
    };
    let settings = beginning.settings(settings);
    let settings = match &recorded {
        Some(recorded) => recorded.settings(settings),
        None => settings,
    };
    let mut primary = beginning.primary(settings)?;
    let to_record = RunToRecord {
        worlds: &loaded.worlds,
        world_files: &beginning.world_files,
        spec: &run.spec,
        is_standalone: role == Role::Standalone,
        is_resumed: run.resume.is_some(),
    };
    let own = run.recorder(ros_rules);
    let recordings = Recordings::begin(own, recorded, to_record, &mut primary)?;
    let mut told = Vec::new();
    let outputs = match beginning.goes_on_after() {
        Some(checkpoint) => run.resume_outputs(&primary, checkpoint, &mut told)?,
        None => run.create_outputs(&Topology::new(&loaded.worlds), loaded.step_size)?,
    };
    let divergences = run.divergence_file(loaded.step_size, secondaries);
    let worlds = beginning.world_files.join(", ");
    let own = identity::peer_info(name, role);
    let reporter = Reporter::new(loaded.worlds.clone(), own);
    let journal = &run.spec.journal;
    let (limit, journal) = (journal.limit_bytes(), journal.folder());
    let parts = Parts {
        reporter,
        journal: beginning.journal(journal, limit, &primary, told)?,
        topics: survey.topics,
        trace: run.tracer(role, primary.topology())?,
        audit: run.audit_log()?,
        last_events: run.spec.outputs.last_events.clone(),
        divergences,
        warning: None,
        recordings,
        primary,
        outputs,
        lifeline,
    };
    let (endpoints, _folder) = endpoints_of(run, role)?;
    let (link, publisher, beats) = bind(&endpoints, &options, parts.primary.settings())?;
    tracing::info!("{role} of {worlds} at {}", link.endpoints());
    let _announcer = announcement::announce(&run.spec, link.endpoints(), options.curve.as_ref())?;
    let warning = insecurity(link.endpoints(), options.curve.is_some());
    let mut parts = Parts { warning, ..parts };
    if parts.warning.is_some() {
        parts.reporter.mark_insecure();
    }
    let summary = drive(link, role, (publisher, beats), parts)?;
    finish(&summary, run.spec.outputs.summary.as_deref())
}

/// Returns the settings of a run's nodes in ROS 2, if it has any, and the rules of its topics.
/// Those of a run that is resumed are of its beginning, whatever file and environment say now.
fn ros_settings(
    run: &Run,
    beginning: &Startup,
) -> anyhow::Result<(Option<RosSettings>, ros2::Rules)> {
    if let Some(begun) = beginning.ros_settings() {
        return Ok((Some(begun.clone()), ros::rules_in(begun)?));
    }
    let quality = run.spec.run.jpeg_quality;
    let given = ros::settings_of(&run.spec.ros2, quality, |name| std::env::var(name).ok())?;
    Ok((given, ros::rules_of(&run.spec.ros2)?))
}

fn socket_options(run: &Run) -> anyhow::Result<SocketOptions> {
    Ok(SocketOptions {
        insecure: run.spec.security.insecure,
        spin: run.spec.network.spin,
        curve: run.security.of_primary(run.spec.network.bind.as_ref())?,
    })
}

/// Parts of a primary's driver, besides its link.
struct Parts {
    primary: Primary,
    reporter: Reporter,
    outputs: RunOutputs,
    divergences: DivergenceFile,
    last_events: Option<PathBuf>,
    journal: Option<JournalPlan>,
    topics: Vec<TopicReport>,
    recordings: Recordings,
    trace: Option<Tracer>,
    audit: Option<AuditLog>,
    /// Warning that observers receive at the start.
    warning: Option<String>,
    lifeline: Option<Lifeline>,
}

/// Returns what a run begins with: its worlds, or the journal of one that is taken up again.
fn begin(run: &Run) -> anyhow::Result<(Startup, Option<RecordedRun>)> {
    if let Some(path) = &run.recording {
        let recorded = recording_file::read(path)?;
        let (worlds, schedule) = (recorded.worlds.clone(), recorded.schedule.clone());
        let files = std::slice::from_ref(path);
        return Ok((Startup::fresh(worlds, schedule, files), Some(recorded)));
    }
    if let Some(journal) = &run.resume {
        let losses = run.losses();
        return Ok((
            Startup::resumed(journal, reach(run, losses)?, losses)?,
            None,
        ));
    }
    let spec = &run.spec;
    let commands = spec.run.commands.as_deref().map(commands_file::read);
    let schedule = commands.transpose()?.unwrap_or_default();
    let worlds = &spec.run.worlds;
    let loaded = world_file::load(worlds, spec.physics.solver, &spec.levels)?;
    Ok((Startup::fresh(loaded, schedule, worlds), None))
}

/// Returns the last iteration that the files of a resumed run have. Where losses are accepted, they
/// decide nothing.
fn reach(run: &Run, losses: Losses) -> anyhow::Result<Option<Iteration>> {
    let digests = run.spec.outputs.digests.as_deref();
    let Some(path) = digests.filter(|_| losses == Losses::Refuse) else {
        return Ok(None);
    };
    let reach = DigestsFile::reach(path).with_context(|| {
        let path = path.display();
        format!("cannot go on with digests in {path} (--accept-loss goes on without that file)")
    });
    reach.map(Some)
}

fn drive<L: Link>(
    link: L,
    role: Role,
    (publisher, beats): (StatusPublisher, Beats),
    parts: Parts,
) -> anyhow::Result<Summary> {
    let settings = parts.primary.settings();
    let (session, interval) = (settings.session, settings.peers.heartbeat_interval);
    let mut status = StatusThread::start(publisher, session, interval)
        .context("cannot start the status thread")?;
    status
        .beat_by(beats)
        .context("cannot start the thread that beats")?;
    let Parts {
        primary,
        reporter,
        outputs,
        ..
    } = parts;
    let driver = PrimaryDriver::new(link, primary, status, reporter, outputs);
    let mut driver = driver.context("cannot start to write the outputs")?;
    if role == Role::Standalone {
        driver.compute_here();
    }
    let mut recordings = parts.recordings;
    if let Some(journal) = parts.journal {
        recordings.resume(&journal.driver);
        let kept = driver.keep_journal(journal, parts.topics);
        kept.context("cannot start to write the journal")?;
    }
    driver.keep_recordings(recordings);
    driver.keep_reports(parts.divergences, parts.last_events);
    if let Some(tracer) = parts.trace {
        driver.keep_trace(tracer);
    }
    if let Some(log) = parts.audit {
        driver.keep_audit(log);
    }
    if let Some(warning) = parts.warning {
        driver.tell(Severity::Warning, "security", &warning);
    }
    let inputs = driver.inputs();
    watch_for_stop(parts.lifeline, move |why| {
        inputs.send(PrimaryInput::Interrupted(why));
    })?;
    Ok(driver.run())
}

fn run_secondary(
    connect: &Endpoints,
    options: &SocketOptions,
    settings: SecondarySettings,
    lifeline: Option<Lifeline>,
) -> anyhow::Result<Outcome> {
    let routing = RoutingId::from(
        // Nobody can guess it, and so take the place of this process.
        format!("{}-{}", settings.info.name, identity::new_address()).as_str(),
    );
    let link = PeerLink::connect(connect, Some(&routing), Subscription::Steps, options)
        .with_context(|| format!("cannot connect to {connect}"))?;
    tracing::info!("{} looks for its primary at {connect}", settings.info.name);
    let driver = SecondaryDriver::new(link, settings);
    let (inputs, progress) = (driver.inputs(), driver.progress());
    watch_for_stop(lifeline, move |why| {
        inputs.send(SecondaryInput::Interrupted(why));
    })?;
    let reason = driver.run(|secondary, welcome, stepper| {
        let settings = HeartbeatSettings {
            name: secondary.name().clone(),
            session: secondary.session(),
            interval: welcome.heartbeat_interval,
            timeout: welcome.heartbeat_timeout,
            progress: progress.clone(),
        };
        let topics = Subscription::Beats(&heartbeat::TOPICS);
        let options = SocketOptions {
            spin: Duration::ZERO,
            ..options.clone()
        };
        let started = PeerLink::connect(connect, Some(&routing.heartbeat()), topics, &options)
            .map_err(anyhow::Error::from)
            .and_then(|link| Ok(HeartbeatThread::start(link, settings, stepper.clone())?));
        if let Err(error) = &started {
            stepper.send(SecondaryInput::WorldFailed(format!(
                "no heartbeat: {error:#}"
            )));
        }
        started.ok()
    });
    log_end(&reason);
    Ok(reason.outcome)
}

fn run_relay(request: &RelayRequest, lifeline: Option<Lifeline>) -> anyhow::Result<Outcome> {
    warn_of_ignored("a relay", &request.ignored);
    let place = (request.connect.clone(), request.partition.clone());
    let primary = find_primary(place, &request.security, request.peer_timeout)?;
    let settings = request.settings(primary)?;
    tracing::info!(
        "{} looks for its primary at {}",
        settings.name,
        settings.primary
    );
    let connect = settings.primary.clone();
    let relay = Relay::connect(settings);
    let relay = relay.with_context(|| format!("cannot connect to {connect}"))?;
    let driver = RelayDriver::new(relay, request.peer_timeout);
    watch_for_stop(lifeline, driver.stopper())?;
    let reason = driver.run();
    log_end(&reason);
    Ok(reason.outcome)
}

fn settings_of(
    run: &Run,
    loaded: &LoadedWorlds,
    topics: Vec<TopicReport>,
    (secondaries, ros2): (Option<u32>, Option<RosSettings>),
) -> Settings {
    let RunSpec {
        run: simulation,
        levels,
        network,
        outputs,
        record,
        ..
    } = &run.spec;
    Settings {
        session: identity::new_session(),
        build: identity::build(),
        seed: simulation.seed,
        schedule: Vec::new(),
        pace: PaceSettings {
            iterations: simulation.iterations,
            real_time_factor: simulation
                .real_time_factor
                .unwrap_or(loaded.real_time_factor),
            start_paused: simulation.paused,
            step_size: loaded.step_size,
            // Within a process no message is waited for, and what is kept for a rollback costs.
            run_ahead_max: secondaries.map_or(1, |_| simulation.run_ahead_max),
        },
        peers: PeerSettings {
            secondaries: secondaries.unwrap_or(1),
            heartbeat_interval: network.heartbeat_interval,
            heartbeat_timeout: secondaries.map(|_| network.heartbeat_timeout),
            peer_timeout: network.peer_timeout,
            step_timeout: network.step_timeout,
            step_timeout_stages: run.step_timeout(),
        },
        recovery: recovery_of(run, secondaries.is_some()),
        cells: CellSettings {
            rules: Rules {
                load: levels.load,
                sight: levels.sight,
                interaction_margin: levels.interaction_margin_m,
                minimum_stay: iterations_of(levels.minimum_stay, loaded.step_size),
                step_size_s: loaded.step_size.as_secs_f64(),
            },
            balance: simulation.balance,
            threads: simulation.threads,
            verify: simulation.verify,
            renderer: simulation.renderer,
        },
        outputs: OutputSettings {
            topics,
            publish_all: outputs.messages.is_some() || record.file.is_some(),
            link_record_hz: record.link_rate_hz(),
            trace: run.trace_window(),
            ros2,
        },
        participants: participants_of(&run.spec),
    }
}

fn recovery_of(run: &Run, has_peers: bool) -> RecoverySettings {
    let asked_for = &run.spec.run.recovery;
    // A run of one process has nobody to lose, and lets nobody join.
    let alone = RunSpec::by_hand().run.recovery;
    let of_peers = if has_peers { asked_for } else { &alone };
    RecoverySettings {
        on_peer_loss: of_peers.on_peer_loss,
        stand_bys: of_peers.stand_bys,
        checkpoint_every: asked_for.checkpoint_every,
        is_journaled: run.is_journaled(),
    }
}

fn participants_of(spec: &RunSpec) -> ParticipantSettings {
    let programs = spec.programs.iter();
    let awaited: Vec<PeerName> = programs.filter_map(|one| one.joins.clone()).collect();
    ParticipantSettings {
        max: spec.participants.max.max(awaited.len() as u32),
        awaited,
    }
}

/// Returns how many iterations last at least so long.
fn iterations_of(time: Duration, step_size: Duration) -> u64 {
    time.as_nanos().div_ceil(step_size.as_nanos()) as u64
}

fn bind(
    endpoints: &Endpoints,
    options: &SocketOptions,
    settings: &Settings,
) -> anyhow::Result<(PrimaryLink, StatusPublisher, Beats)> {
    let bound = PrimaryLink::bind(endpoints, options).map_err(|error| match error {
        BindError::InUse { .. } => anyhow::Error::from(error)
            .context("another primary or program is there; choose another address with --bind"),
        _ => anyhow::Error::from(error),
    });
    let (link, publisher, beats) = bound?;
    let timeout = settings.peers.heartbeat_timeout.unwrap_or_default();
    Ok((link.with_timeout(timeout), publisher, beats))
}

/// Returns what to say where nothing is encrypted and nobody is asked who he is.
fn insecurity(endpoints: &Endpoints, is_encrypted: bool) -> Option<String> {
    (endpoints.directory().is_none() && !is_encrypted).then(|| {
        format!(
            "anybody who reaches {endpoints} may stop and change this run (--insecure): keys \
             prevent that"
        )
    })
}

/// Returns where a run is reached, with the folder of sockets that goes with the run.
fn endpoints_of(run: &Run, role: Role) -> anyhow::Result<(Endpoints, Option<tempfile::TempDir>)> {
    match &run.spec.network.bind {
        Some(endpoints) => Ok((endpoints.clone(), None)),
        None if role == Role::Primary => Ok((cli::endpoint_by_hand()?, None)),
        None => private_endpoints().map(|(folder, endpoints)| (endpoints, Some(folder))),
    }
}

/// Makes a place for the sockets of a standalone run that nobody was told about.
fn private_endpoints() -> anyhow::Result<(tempfile::TempDir, Endpoints)> {
    let directory = tempfile::Builder::new()
        .prefix("phalanx-")
        .tempdir()
        .context("cannot make a directory for sockets")?;
    let endpoints = format!("ipc://{}", directory.path().display()).parse()?;
    Ok((directory, endpoints))
}

fn standalone_name() -> PeerName {
    worker::standalone::STANDALONE_NAME
        .parse()
        .expect("the name is a valid one")
}

fn watch_for_stop(
    lifeline: Option<Lifeline>,
    ask: impl Fn(String) + Clone + Send + Sync + 'static,
) -> anyhow::Result<()> {
    if let Some(lifeline) = lifeline {
        lifeline.ask_to_stop(ask.clone());
    }
    stop_request::watch_signals(ask).context("cannot watch signals")
}

fn finish(summary: &Summary, path: Option<&Path>) -> anyhow::Result<Outcome> {
    log_end(&StopReason::new(summary.outcome, summary.cause.clone()));
    tracing::info!(
        "iterations {}, sim time {} s, digest {}, real-time factor {:.3}",
        summary.iterations,
        summary.sim_time_s,
        summary.digest,
        summary.real_time_factor
    );
    if let Some(path) = path {
        let text = serde_json::to_string(summary).context("cannot express the summary as JSON")?;
        fs::write(path, text + "\n")
            .with_context(|| format!("cannot write summary to {}", path.display()))?;
    }
    Ok(summary.outcome)
}

fn log_end(reason: &StopReason) {
    match reason.outcome {
        Outcome::Completed | Outcome::Interrupted => tracing::info!("{reason}"),
        Outcome::ConfigurationError
        | Outcome::PeerLost
        | Outcome::DigestMismatch
        | Outcome::TimedOut
        | Outcome::Failed => tracing::error!("{reason}"),
    }
}
