//! Shows what users get from `phalanx config`, and that flags, variables and files win over each
//! other in the documented order. Runs the real program with files of its own.

use std::path::Path;
use std::process::{Command, Output};

const USER: &str = "[run]\nsecondaries = 3\nthreads = 2\n[view]\ntheme = '16'\n";
const RUN: &str = "[run]\nthreads = 4\nseed = 9\n";

struct TestDir {
    folder: tempfile::TempDir,
}

impl TestDir {
    /// Makes a folder with a user's own file and a run file.
    fn new(user: &str, run: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (name, text) in [("config.toml", user), ("run.toml", run)] {
            std::fs::write(folder.path().join(name), text).expect("it can be written to");
        }
        Self { folder }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phalanx"));
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env("PHALANX_RUNTIME_DIR", self.folder.path().join("runs"))
            .env("PHALANX_CONFIG", "config.toml");
        command
    }

    fn output(&self, line: &str) -> Output {
        self.command(line).output().expect("the program runs")
    }

    /// Checks the exit code, and returns stdout and stderr.
    fn says(&self, line: &str, code: i32) -> (String, String) {
        text(&self.output(line), code)
    }
}

fn text(output: &Output, code: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    (stdout, stderr)
}

/// Returns the line of a setting with single spaces.
fn line(printed: &str, key: &str) -> String {
    let is_it = |line: &&str| {
        line.trim_start_matches('#')
            .starts_with(&format!("{key} ="))
    };
    let found = printed.lines().find(is_it);
    let words = found.unwrap_or_default().split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn variables_win_over_run_files_and_those_over_the_users_own() {
    let place = TestDir::new(USER, RUN);
    let mut command = place.command("config print run.toml");
    command
        .env("PHALANX_SEED", "5")
        .env("PHALANX_REFRESH", "20");
    let (printed, _) = text(&command.output().expect("the program runs"), 0);
    let checks = [
        ("secondaries", "secondaries = 3 # config.toml:2:15"),
        ("threads", "threads = 4 # run.toml:2:11"),
        ("seed", "seed = 5 # PHALANX_SEED"),
        ("refresh_hz", "refresh_hz = 20 # PHALANX_REFRESH"),
        ("theme", "theme = \"16\" # config.toml:5:9"),
        ("paused", "paused = false # default"),
        ("name", "#name = # default"),
        ("step", "step = [\"n\"] # default"),
    ];
    for (key, expected) in checks {
        assert_eq!(line(&printed, key), expected);
    }
    let (printed, _) = place.says("config print --format json", 0);
    assert!(printed.contains("\"from\": \"file\""), "{printed}");
}

#[test]
fn the_printed_settings_can_be_run() {
    let place = TestDir::new("", RUN);
    let (printed, _) = place.says("config print run.toml", 0);
    std::fs::write(place.folder.path().join("again.toml"), printed).expect("it can be written");
    assert_eq!(
        place.says("config check again.toml", 0).0,
        "again.toml: valid\n"
    );
    let (again, _) = place.says("config print again.toml", 0);
    assert!(line(&again, "threads").starts_with("threads = 4 # again.toml:"));
}

#[test]
fn a_check_tells_all_that_is_wrong_in_all_files() {
    let run = "[run]\nsed = 1\nthreads = 0\n[keys]\nstep = 's'\n";
    let place = TestDir::new("[view]\ntheme = 'blue'\n", run);
    let (_, errors) = place.says("config check config.toml run.toml missing.toml", 3);
    for part in [
        "config.toml:2:9: `theme` must be \"auto\", \"16\", \"256\" or \"mono\"\n",
        "run.toml:2:1: [run] has no key `sed`; did you mean `seed`?\n",
        "run.toml:3:11: `threads` must be a whole number from 1 to 64\n",
        "run.toml:5:8: s is both `step` and `sort-next` in tables\n",
        "cannot read the run file missing.toml",
        "error: 5 problem(s) in settings\n",
    ] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    let (_, errors) = place.says("config check", 3);
    assert!(errors.contains("config.toml:2:9"), "{errors}");
}

#[test]
fn wrong_settings_of_the_user_are_told_by_every_command_that_needs_them() {
    let place = TestDir::new("[view]\nrefresh_hz = 0\n", "");
    for line in ["config print", "run --headless", "run run.toml --headless"] {
        let (_, errors) = place.says(line, 3);
        assert!(
            errors.starts_with("error: config.toml:2:14: `refresh_hz`"),
            "{errors}"
        );
    }
}

#[test]
fn the_place_of_the_users_own_file_is_told_and_a_named_one_must_be_there() {
    let place = TestDir::new("", "");
    assert_eq!(place.says("config path", 0).0, "config.toml\n");
    let mut command = place.command("config path");
    command
        .env_remove("PHALANX_CONFIG")
        .env("XDG_CONFIG_HOME", place.folder.path());
    let (printed, _) = text(&command.output().expect("the program runs"), 0);
    let expected = place.folder.path().join("phalanx/config.toml");
    assert_eq!(Path::new(printed.trim_end()), expected);
    let mut command = place.command("config print");
    command.env("PHALANX_CONFIG", "elsewhere.toml");
    let (_, errors) = text(&command.output().expect("the program runs"), 3);
    assert!(
        errors.contains("PHALANX_CONFIG names, elsewhere.toml"),
        "{errors}"
    );
}

#[test]
fn variables_of_one_command_do_not_disturb_others() {
    let place = TestDir::new("", "");
    let mut command = place.command("ps");
    command
        .env("PHALANX_HEADLESS", "1")
        .env("PHALANX_FORMAT", "json")
        .env("PHALANX_THREADS", "many");
    let (printed, _) = text(&command.output().expect("the program runs"), 0);
    assert!(!printed.starts_with('['), "{printed}");
    command.env("PHALANX_PS_FORMAT", "json");
    let (printed, _) = text(&command.output().expect("the program runs"), 0);
    assert!(printed.starts_with('['), "{printed}");
}

#[test]
fn worlds_are_no_files_of_settings() {
    let place = TestDir::new("", "");
    for line in ["config print a.sdf", "config check a.sdf"] {
        let (_, errors) = place.says(line, 2);
        assert!(errors.contains("`phalanx check` reads worlds"), "{errors}");
    }
}

#[test]
fn wrong_variables_are_told_by_name() {
    let place = TestDir::new("", "");
    let mut command = place.command("run --headless");
    command.env("PHALANX_THEME", "blue");
    let (_, errors) = text(&command.output().expect("the program runs"), 2);
    assert!(
        errors.contains("--theme") && errors.contains("mono"),
        "{errors}"
    );
    let mut command = place.command("config print");
    command.env("PHALANX_THREADS", "many");
    let (_, errors) = text(&command.output().expect("the program runs"), 2);
    assert!(errors.contains("--threads"), "{errors}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let place = TestDir::new("", "");
    assert!(place.says("man", 0).0.contains(".TH PHALANX 1"));
    place.says("man pages", 0);
    let page = |name: &str| {
        let path = place.folder.path().join("pages").join(name);
        std::fs::read_to_string(path).unwrap_or_default()
    };
    assert!(page("phalanx-config-check.1").contains("PHALANX"));
    assert!(page("phalanx-run.1").contains("PHALANX_SECONDARIES"));
}
