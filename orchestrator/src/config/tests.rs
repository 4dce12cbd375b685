//! Tests of run files: what they change, and what is said about wrong ones.

use super::document::Document;
use std::path::PathBuf;
use std::time::Duration;

use lockstep::{LoadRule, SightRule};
use run::{Levels, Simulation};
use sdf::Solver;
use view::app::keymap::key_name;
use view::options::{ThemeName, UnicodeChoice};

use super::setting::{settings, value_of};
use super::*;

/// Reads a run file.
pub(super) fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("folder/run.toml"))
}

/// Checks place and words of the first error of a run file.
pub(super) fn check_error(text: &str, place: &str, part: &str) {
    let error = parse(text).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("folder/run.toml:{place}: ")),
        "{error}"
    );
    assert!(error.contains(part), "{error}");
}

/// The line of the default file that shows the keys of an action.
fn key_line(name: &str) -> String {
    let keys = Keymap::default().keys_of(name);
    let names: Vec<String> = keys.into_iter().map(key_name).collect();
    format!("#{name} = {names:?}")
}

/// The default file with every setting in force that it shows.
fn uncommented() -> String {
    let uncomment = |line: &'static str| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') => setting,
        _ => line,
    };
    let lines: Vec<&str> = DEFAULT_TOML.lines().map(uncomment).collect();
    lines.join("\n")
}

#[test]
fn the_default_file_says_what_the_defaults_are() {
    assert_eq!(parse(DEFAULT_TOML).unwrap(), Config::default());
    assert_eq!(parse("").unwrap(), Config::default());
}

#[test]
fn the_default_file_shows_every_setting_with_its_default() {
    let (given, problems) = Document::read(DEFAULT_TOML, Path::new("d.toml"), FileKind::Run);
    assert_eq!(problems, []);
    let (all, problems) = Document::read(&uncommented(), Path::new("d.toml"), FileKind::Run);
    assert_eq!(problems, [], "it shows nothing that is not known");
    for setting in settings() {
        let path = (setting.section, setting.key);
        assert!(
            all.values.contains_key(&path),
            "{} is missing",
            setting.path()
        );
        let default = value_of(&Config::default(), setting);
        let is_given = given.values.contains_key(&path);
        assert_eq!(
            is_given,
            default.is_some(),
            "{} has a default",
            setting.path()
        );
    }
    let keys = Keymap::names().into_iter().map(|name| key_line(&name));
    let start = DEFAULT_TOML.find("#toggle-play").unwrap();
    let shown = DEFAULT_TOML[start..].split("\n\n").next().unwrap();
    let keys: Vec<String> = keys.collect();
    assert_eq!(shown, keys.join("\n"), "the lines of [keys]");
    let process = &all.processes["default"].config;
    assert!(process.cpus.is_some() && !process.environment.is_empty());
    let table: toml::Table = uncommented().parse().unwrap();
    let program = table["program"][0].as_table().unwrap();
    assert!(program::KEYS.iter().all(|key| program.contains_key(*key)));
    let host = table["host"][0].as_table().unwrap();
    assert!(host::KEYS.iter().all(|key| host.contains_key(*key)));
}

#[test]
fn a_file_changes_what_it_names_and_nothing_else() {
    let config = parse("[run]\nworld = 'a.sdf'\nreal_time_factor = 2\n").unwrap();
    let mut expected = Config::default();
    expected.spec.run = Simulation {
        worlds: vec![PathBuf::from("folder/a.sdf")],
        real_time_factor: Some(2.0),
        ..Simulation::default()
    };
    assert_eq!(config, expected);
}

#[test]
fn one_run_may_have_several_worlds() {
    let config = parse("[run]\nworld = ['a.sdf', '/b.sdf']\n").unwrap();
    let paths = ["folder/a.sdf", "/b.sdf"].map(PathBuf::from);
    assert_eq!(config.spec.run.worlds, paths);
    check_error("[run]\nworld = []\n", "2:9", "world");
    check_error("[run]\nworld = ['a.sdf', 5]\n", "2:9", "world");
    check_error("[run]\nworld = ['a.sdf', '']\n", "2:9", "world");
}

#[test]
fn the_solver_is_read() {
    let config = parse("[physics]\nsolver = 'fast'\n").unwrap();
    assert_eq!(config.spec.physics.solver, Solver::Fast);
    check_error(
        "[physics]\nsolver = 'dantzig'\n",
        "2:10",
        "\"exact\" or \"fast\"",
    );
}

#[test]
fn settings_of_levels_are_read_and_bounded() {
    let text = "[levels]\nauto_levels = 8\nsplit_above = 100\nload = 'volume'\nsight = 'range'\n\
                minimum_stay_s = 0\n\
                interaction_margin_m = 0.5\n";
    let levels = Levels {
        auto_levels: Some(8),
        split_above: Some(100),
        load: LoadRule::Volume,
        sight: SightRule::Range,
        minimum_stay: Duration::ZERO,
        interaction_margin_m: 0.5,
    };
    assert_eq!(parse(text).unwrap().spec.levels, levels);
    check_error("[levels]\nauto_levels = 0\n", "2:15", "auto_levels");
    check_error("[levels]\nsplit_above = 1\n", "2:15", "split_above");
    check_error(
        "[levels]\nload = 'all'\n",
        "2:8",
        "\"buffer\" or \"volume\"",
    );
    check_error(
        "[levels]\nminimum_stay_s = -0.1\n",
        "2:18",
        "from 0 to 3600",
    );
    check_error(
        "[levels]\ninteraction_margin_m = nan\n",
        "2:24",
        "from 0 to 100",
    );
}

#[test]
fn settings_of_the_view_and_of_logs_are_read() {
    let text = "[view]\ntheme = '256'\nrefresh_hz = 60\nmouse = false\nunicode = 'off'\n\
                read_only = true\n[logs]\nlevel = 'warn'\n";
    let view = ViewConfig {
        theme: ThemeName::Many,
        refresh_hz: 60,
        has_mouse: false,
        unicode: UnicodeChoice::Off,
        is_read_only: true,
    };
    let config = parse(text).unwrap();
    assert_eq!(
        (config.view, config.spec.logs.level.as_str()),
        (view, "warn")
    );
    check_error(
        "[view]\ntheme = 256\n",
        "2:9",
        "`theme` must be \"auto\", \"16\"",
    );
    check_error("[view]\nrefresh_hz = 0\n", "2:14", "refresh_hz");
    check_error("[logs]\nlevel = 'wran'\n", "2:9", "did you mean `warn`?");
}

#[test]
fn a_wrong_key_is_named_with_its_place() {
    let text = "[run]\nseed = 1\nitterations = 5\n";
    check_error(
        text,
        "3:1",
        "[run] has no key `itterations`; did you mean `iterations`?",
    );
    check_error("[runn]\n", "1:2", "no section [runn]; did you mean `run`?");
    check_error("run = 5\n", "1:1", "`run` must be a section");
    check_error("seed = 5\n", "1:1", "no section [seed]");
    check_error("[run]\n'e\\u001b[31mvil' = 1\n", "2:1", "has no key");
}

#[test]
fn a_wrong_value_is_named_with_its_place_and_key() {
    check_error("[run]\nseed = 'x'\n", "2:8", "seed");
    check_error(
        "[run]\nreal_time_factor = -1.0\n",
        "2:20",
        "real_time_factor",
    );
    check_error("[run]\n iterations = 0\n", "2:15", "iterations");
    check_error("[run]\nsecondaries = 2000\n", "2:15", "secondaries");
    check_error("[run]\nthreads = 65\n", "2:11", "threads");
    check_error("[run]\nbalance = 'on'\n", "2:11", "true or false");
    check_error("[run]\nname = 'a/b'\n", "2:8", "name");
    check_error("[run]\non_peer_loss = 'panic'\n", "2:16", "on_peer_loss");
    let slow = "[network]\nheartbeat_timeout_ms = 199\n";
    check_error(slow, "2:24", "heartbeat_timeout_ms");
    check_error("[network]\nstep_timeout_s = 0\n", "2:18", "step_timeout_s");
    check_error("[run]\nseed = 99999999999999999999\n", "2:8", "too large");
    check_error("[run]\nseed = 2026-01-01\n", "2:8", "seed");
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_place() {
    check_error("[run]\nseed = = 1\n", "2:8", "");
    check_error("[run]\nseed = 1\nseed = 2\n", "3:1", "duplicate");
}

#[test]
fn the_example_file_loads_and_its_world_is_found_beside_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs");
    let file = folder.join("ramp.toml");
    let text = layers::read_text(&file).unwrap();
    let config = Config::parse(&text, &file).unwrap();
    assert_eq!(config.spec.run.worlds, [folder.join("../worlds/ramp.sdf")]);
    assert_eq!(config.spec.run.name.as_deref(), Some("ramp"));
}

/// The section of keys as the default file has it.
fn keys_section() -> String {
    use std::fmt::Write as _;
    let mut text = "[keys]\n\
        # Keys that replace those of an action of the view: a character, Ctrl- and a letter, or a\n\
        # name such as Space, Enter, Esc, Tab, Shift-Tab, Up, PgUp, Home. [] takes them all away.\n"
        .to_owned();
    let keymap = Keymap::default();
    for name in Keymap::names() {
        let keys = keymap.keys_of(&name).into_iter();
        let keys: Vec<String> = keys
            .map(|key| toml::Value::String(view::app::keymap::key_name(key)).to_string())
            .collect();
        let _ = writeln!(text, "#{name} = [{}]", keys.join(", "));
    }
    text + "\n"
}

#[test]
fn the_default_file_lists_all_keys() {
    let start = DEFAULT_TOML.find("[keys]").unwrap();
    let end = start + DEFAULT_TOML[start..].find("# Single processes").unwrap();
    let (before, after) = (&DEFAULT_TOML[..start], &DEFAULT_TOML[end..]);
    let expected = format!("{before}{}{after}", keys_section());
    expect_test::expect_file!["../../../configs/default.toml"].assert_eq(&expected);
}
