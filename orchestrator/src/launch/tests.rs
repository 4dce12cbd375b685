//! Tests of what a run's processes are told.

use super::*;

pub(super) fn plan(secondaries: u32) -> LaunchPlan {
    LaunchPlan {
        endpoint: "ipc:///run/a".parse().unwrap(),
        keys: None,
        is_insecure: false,
        worlds: vec!["-odd.sdf".into(), "b.sdf".into()],
        summary: "/run/a/summary.json".into(),
        last_events: "/run/a/events.jsonl".into(),
        secondaries,
        iterations: Some(5),
        real_time_factor: Some(0.0),
        paused: true,
        seed: 7,
        digests: Some("d.txt".into()),
        states: Some("s.bin".into()),
        commands: Some("in.jsonl".into()),
        record_commands: Some("out.jsonl".into()),
        messages: Some("m.txt".into()),
        record: RecordConfig {
            file: Some("r.mcap".into()),
            rate_hz: 10.0,
            has_states: true,
        },
        trace: TraceConfig {
            file: Some("t.json".into()),
            from: 3,
            iterations: 9,
        },
        recording: None,
        threads: 2,
        run_ahead_max: 32,
        verify: true,
        balance: false,
        recovery: RecoveryConfig::default(),
        physics: PhysicsConfig::default(),
        levels: LevelsConfig {
            auto_levels: Some(8),
            ..LevelsConfig::default()
        },
        network: NetworkConfig::default(),
        logs: LogsConfig::default(),
        processes: ProcessesConfig::default(),
        journal: Some("/run/a/journal".into()),
        journal_limit_mib: Some(64),
        is_resumed: false,
        accepts_loss: false,
    }
}

pub(super) fn line(command: &WorkerCommand) -> String {
    let words: Vec<_> = command
        .arguments
        .iter()
        .map(|word| word.to_str().unwrap())
        .collect();
    words.join(" ")
}

#[test]
fn a_distributed_run_has_a_primary_and_named_secondaries() {
    let commands = plan(2).commands();
    let names: Vec<_> = commands
        .iter()
        .map(|command| command.name.as_str())
        .collect();
    assert_eq!(names, ["primary", "s1", "s2"]);
    assert_eq!(
        line(&commands[0]),
        "--network-role=primary --network-secondaries=2 --heartbeat-interval-ms=100 \
         --heartbeat-timeout-ms=2000 --peer-timeout=30 --step-timeout=30 --warn-after=1 \
         --diagnose-after=5 --on-peer-loss=recover --checkpoint-every=1000 --stand-bys=16 \
         --bind=ipc:///run/a --summary=/run/a/summary.json --last-events=/run/a/events.jsonl \
         --divergence-reports=/run/a --audit=/run/a/audit.log --seed=7 --iterations=5 \
         --real-time-factor=0 \
         --digests=d.txt --states=s.bin --commands=in.jsonl --record-commands=out.jsonl \
         --messages=m.txt --paused --record=r.mcap --record-rate=10 --record-states \
         --trace=t.json --trace-from=3 --trace-iterations=9 \
         --threads=2 --run-ahead-max=32 --balance=off --verify --solver=exact \
         --auto-levels=8 --levels-load=buffer --minimum-stay=0.05 --interaction-margin=0.02 \
         --journal=/run/a/journal --journal-limit=64 --lifeline \
         -- -odd.sdf b.sdf"
    );
    assert_eq!(
        line(&commands[2]),
        "--network-role=secondary --connect=ipc:///run/a --name=s2 --peer-timeout=30 --lifeline"
    );
}

#[test]
fn processes_are_told_the_files_of_their_keys_and_nothing_that_is_secret() {
    let keys = RunKeys {
        primary: "/run/a/keys/primary.key".into(),
        primary_public: "/run/a/keys/primary.pub".into(),
        authorized: vec!["/run/a/keys/authorized".into(), "/home/authorized".into()],
        secondary: "/run/a/keys/secondary.key".into(),
        view: "/run/a/keys/view.key".into(),
    };
    let plan = LaunchPlan {
        endpoint: "tcp://0.0.0.0:5000".parse().unwrap(),
        keys: Some(keys),
        network: NetworkConfig {
            remote_secondaries: 3,
            ..NetworkConfig::default()
        },
        ..plan(1)
    };
    let commands = plan.commands();
    assert_eq!(commands.len(), 2);
    let primary = line(&commands[0]);
    for part in [
        "--network-secondaries=4 ",
        "--bind=tcp://0.0.0.0:5000 --key=/run/a/keys/primary.key \
         --authorized=/run/a/keys/authorized --authorized=/home/authorized ",
    ] {
        assert!(primary.contains(part), "{primary}");
    }
    assert_eq!(
        line(&commands[1]),
        "--network-role=secondary --connect=tcp://127.0.0.1:5000 --name=s1 \
         --key=/run/a/keys/secondary.key --server-key=/run/a/keys/primary.pub \
         --peer-timeout=30 --lifeline"
    );
}

#[test]
fn a_standalone_run_is_one_process_without_a_role() {
    let commands = plan(0).commands();
    assert_eq!(commands.len(), 1);
    assert_eq!(
        (commands[0].name.as_str(), commands[0].role),
        ("standalone", Role::Standalone)
    );
    let line = line(&commands[0]);
    assert!(!line.contains("--network"), "{line}");
    assert!(line.starts_with("--bind=ipc:///run/a "), "{line}");
}

#[test]
fn what_is_not_asked_for_is_left_to_the_worker() {
    let plan = LaunchPlan {
        iterations: None,
        real_time_factor: None,
        digests: None,
        states: None,
        commands: None,
        record_commands: None,
        messages: None,
        record: RecordConfig::default(),
        trace: TraceConfig::default(),
        recording: None,
        verify: false,
        journal: None,
        levels: LevelsConfig::default(),
        ..plan(0)
    };
    let line = line(&plan.commands()[0]);
    for absent in [
        "--iterations",
        "--real-time-factor",
        "--digests",
        "--states",
        "--commands",
        "--record-commands",
        "--messages",
        "--record",
        "--trace",
        "--verify",
        "--auto-levels",
        "--journal",
    ] {
        assert!(!line.contains(absent), "{line}");
    }
}

/// Returns how a run was started that is written down there.
pub(crate) fn launched_with(journal: Option<PathBuf>) -> launched::Launched {
    launched::Launched {
        stem: "a".to_owned(),
        command: "phalanx run a.sdf".to_owned(),
        plan: LaunchPlan { journal, ..plan(1) },
        programs: Vec::new(),
        events: None,
    }
}
