//! Tests of what a run's processes are told.

use super::*;

pub(crate) fn plan(secondaries: u32) -> LaunchPlan {
    let mut spec = RunSpec::default();
    spec.run.worlds = vec!["-odd.sdf".into(), "b.sdf".into()];
    spec.run.secondaries = secondaries;
    spec.run.commands = Some("in.jsonl".into());
    spec.trace.file = Some("t.json".into());
    spec.network.bind = Some("ipc:///run/a".parse().unwrap());
    spec.journal.place = JournalLocation::Folder("/run/a/journal".into());
    LaunchPlan {
        spec,
        spec_file: "/run/a/spec.json".into(),
        keys: None,
        recording: None,
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
    let commands = plan(2).commands(&[]).unwrap();
    let names: Vec<_> = commands
        .iter()
        .map(|command| command.name.as_str())
        .collect();
    assert_eq!(names, ["primary", "s1", "s2"]);
    assert_eq!(
        line(&commands[0]),
        "--network-role=primary --network-secondaries=2 --run=/run/a/spec.json --lifeline"
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
    let mut plan = plan(1);
    plan.spec.network.bind = Some("tcp://0.0.0.0:5000".parse().unwrap());
    plan.spec.network.remote_secondaries = 3;
    plan.keys = Some(keys);
    let commands = plan.commands(&[]).unwrap();
    assert_eq!(commands.len(), 2);
    let primary = line(&commands[0]);
    assert!(primary.contains("--network-secondaries=4 "), "{primary}");
    assert_eq!(
        line(&commands[1]),
        "--network-role=secondary --connect=tcp://127.0.0.1:5000 \
         --key=/run/a/keys/secondary.key --server-key=/run/a/keys/primary.pub --name=s1 \
         --peer-timeout=30 --lifeline"
    );
}

#[test]
fn a_standalone_run_is_one_process_without_a_role() {
    let commands = plan(0).commands(&[]).unwrap();
    assert_eq!(commands.len(), 1);
    assert_eq!(
        (commands[0].name.as_str(), commands[0].role),
        ("standalone", Role::Standalone)
    );
    let line = line(&commands[0]);
    assert!(!line.contains("--network"), "{line}");
    assert_eq!(line, "--run=/run/a/spec.json --lifeline");
}

#[test]
fn the_first_process_reads_the_specification_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(1);
    plan.spec_file = folder.path().join("spec.json");
    plan.write_spec().unwrap();
    let read = RunSpec::read(&plan.spec_file).unwrap();
    assert!(read.run.worlds[0].is_absolute());
    assert_eq!(read.journal, plan.spec.journal);
}

/// Returns how a run was started that is written down there.
pub(crate) fn launched_with(journal: Option<PathBuf>) -> launched::Launched {
    let mut plan = plan(1);
    plan.spec.journal.place = journal.map_or(JournalLocation::Nowhere, JournalLocation::Folder);
    launched::Launched {
        stem: "a".to_owned(),
        command: "phalanx run a.sdf".to_owned(),
        plan,
    }
}
