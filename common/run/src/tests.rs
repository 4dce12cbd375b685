//! Tests of the specification as a whole: its table, its values, and its JSON.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Command;
use serde_json::json;

use super::*;

fn given(values: &[(&str, &str, Value)]) -> Given {
    let mut given = Given::default();
    for (section, key, value) in values {
        let found = settings().find(|one| (one.section, one.key) == (section, key));
        let setting = found.unwrap_or_else(|| panic!("there is no {section}.{key}"));
        setting.kind.check(value).unwrap();
        given.put(setting, value.clone());
    }
    given
}

/// Returns a value that a setting takes and that is not its default.
fn another(kind: Kind, default: Option<&Value>) -> Value {
    let candidates: Vec<Value> = match kind {
        Kind::Whole(least, most) => vec![json!(least), json!(most)],
        Kind::Number(least, _) => vec![json!(least.max(0.25)), json!(0.5)],
        Kind::Flag | Kind::Switch => vec![json!(true), json!(false)],
        Kind::Word(words) => words.iter().map(|word| json!(word)).collect(),
        Kind::RunName | Kind::LogFilter => vec![json!("warn")],
        Kind::Paths => vec![json!(["a.sdf", "b.sdf"])],
        Kind::Path | Kind::Text => vec![json!("file")],
        Kind::Hosts => vec![json!("a,b:2")],
        Kind::Place => vec![json!("off")],
        Kind::RosNamespace => vec![json!("/sim")],
        Kind::Endpoint => vec![json!("tcp://127.0.0.1:5000")],
    };
    let mut candidates = candidates.into_iter();
    candidates
        .find(|value| Some(value) != default && kind.check(value).is_ok())
        .expect("each kind has two values")
}

#[test]
fn every_row_of_the_table_is_a_field_of_its_section() {
    for setting in settings() {
        let default = RunSpec::default();
        let value = another(setting.kind, value_of(&default, setting).as_ref());
        let mut given = Given::default();
        given.put(setting, value.clone());
        let changed = overlay(&default, &given).unwrap();
        assert_eq!(
            value_of(&changed, setting),
            Some(value),
            "{}",
            setting.path()
        );
        assert_ne!(changed, default, "{}", setting.path());
    }
}

#[test]
fn every_field_of_a_section_has_a_row_or_is_the_launchers_own() {
    // Found by the launcher from the keys of the user.
    let resolved = ["security.key", "security.authorized"];
    let sections = serde_json::to_value(RunSpec::default()).unwrap();
    let rows: BTreeSet<String> = settings().map(Setting::path).collect();
    for (section, fields) in sections.as_object().unwrap() {
        for key in fields.as_object().into_iter().flatten().map(|(key, _)| key) {
            let path = format!("{section}.{key}");
            let is_known = rows.contains(&path) || resolved.contains(&path.as_str());
            assert!(is_known, "{path} has no row");
        }
    }
}

#[test]
fn defaults_are_values_that_their_settings_take() {
    for spec in [RunSpec::default(), RunSpec::by_hand()] {
        for setting in settings() {
            if let Some(value) = value_of(&spec, setting) {
                let checked = setting.kind.check(&value);
                assert_eq!(checked, Ok(()), "{}", setting.path());
            }
        }
        assert_eq!(spec.check(), Ok(()));
    }
}

#[test]
fn given_settings_win_and_others_stay() {
    let given = given(&[
        ("run", "world", json!(["a.sdf", "b.sdf"])),
        ("run", "real_time_factor", json!(2)),
        ("run", "on_peer_loss", json!("stop")),
        ("levels", "minimum_stay_s", json!(0.2)),
        ("network", "bind", json!("tcp://127.0.0.1:5000")),
    ]);
    let spec = overlay(&RunSpec::default(), &given).unwrap();
    let mut expected = RunSpec::default();
    expected.run.worlds = ["a.sdf", "b.sdf"].map(PathBuf::from).to_vec();
    expected.run.real_time_factor = Some(2.0);
    expected.run.recovery.on_peer_loss = PeerLossPolicy::Stop;
    expected.levels.minimum_stay = std::time::Duration::from_millis(200);
    expected.network.bind = Some("tcp://127.0.0.1:5000".parse().unwrap());
    assert_eq!(spec, expected);
}

#[test]
fn a_specification_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let mut spec = RunSpec::default();
    spec.run.worlds = vec!["/w/a.sdf".into()];
    spec.run.seed = u64::MAX;
    spec.levels.interaction_margin_m = 0.1 + 0.2;
    spec.journal.place = JournalLocation::Folder("/j".into());
    spec.outputs.events = Some("-".into());
    std::fs::write(&path, spec.to_text().unwrap()).unwrap();
    assert_eq!(RunSpec::read(&path).unwrap(), spec);
    std::fs::write(&path, "{\"run\": {\"seed\": \"x\"}}").unwrap();
    assert!(RunSpec::read(&path).is_err());
}

#[test]
fn paths_hold_from_anywhere() {
    let mut spec = RunSpec::default();
    spec.run.worlds = vec!["a.sdf".into()];
    spec.outputs.digests = Some("d".into());
    let written: RunSpec = serde_json::from_str(&spec.to_text().unwrap()).unwrap();
    let digests = written.outputs.digests.unwrap();
    assert!(written.run.worlds[0].is_absolute() && digests.is_absolute());
}

#[test]
fn impossible_combinations_are_refused() {
    let check = |values: &[(&str, &str, Value)], part: &str| {
        let spec = overlay(&RunSpec::default(), &given(values)).unwrap();
        let error = spec.check().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    check(
        &[("network", "heartbeat_timeout_ms", json!(199))],
        "at least twice",
    );
    check(
        &[
            ("outputs", "states", json!("x")),
            ("outputs", "messages", json!("x")),
        ],
        "--states and --messages need a file each",
    );
    check(
        &[
            ("run", "commands", json!("x")),
            ("outputs", "record_commands", json!("x")),
        ],
        "need a file each",
    );
    check(
        &[("network", "remote_secondaries", json!(3))],
        "--bind tcp://HOST:PORT",
    );
    check(
        &[
            ("run", "secondaries", json!(999)),
            ("network", "remote_secondaries", json!(2)),
        ],
        "at most 1000",
    );
}

#[test]
fn flags_are_made_of_the_table_and_read_back() {
    let command = Command::new("run");
    let command = flags::add(command, settings(), &RunSpec::default(), false);
    command.clone().debug_assert();
    let line = "run --seed 7 --paused --verify=no --balance off --minimum-stay 0.2 \
                --levels-load volume --sight range --record-rate 0 --journal off";
    let matches = command.try_get_matches_from(line.split_whitespace());
    let got = flags::given(&matches.unwrap(), settings());
    let expected = given(&[
        ("run", "seed", json!(7)),
        ("run", "paused", json!(true)),
        ("run", "verify", json!(false)),
        ("run", "balance", json!(false)),
        ("levels", "minimum_stay_s", json!(0.2)),
        ("levels", "load", json!("volume")),
        ("levels", "sight", json!("range")),
        ("record", "rate_hz", json!(0.0)),
        ("journal", "place", json!("off")),
    ]);
    assert_eq!(got, expected);
}

#[test]
fn settings_of_the_machine_are_not_made_public() {
    let public = RunSpec::default().public_settings().unwrap();
    let all = serde_json::to_value(RunSpec::default()).unwrap();
    for (section, value) in all.as_object().unwrap() {
        let is_private =
            ["network", "security", "process", "program", "host"].contains(&section.as_str());
        assert_eq!(
            public.get(section),
            (!is_private).then_some(value),
            "{section}"
        );
    }
}
