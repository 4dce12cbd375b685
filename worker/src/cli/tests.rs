//! Parses command lines of `worker`, and checks what they ask for.

use super::*;

fn check(arguments: &str, expected: Result<&str, &str>) {
    let words = std::iter::once("worker").chain(arguments.split_whitespace());
    let got = match Cli::try_parse_from(words) {
        Ok(cli) => {
            let request = cli.request(&RunSpec::by_hand());
            let request = request.map(|request| format!("{request:?}"));
            request.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    match (got, expected) {
        (Ok(got), Ok(part)) | (Err(got), Err(part)) => {
            assert!(got.contains(part), "{arguments}: {got}");
        }
        (got, expected) => panic!("{arguments}: got {got:?}, expected {expected:?}"),
    }
}

#[test]
fn roles_in_any_capitalization() {
    check(
        "--network-role=Primary --network-secondaries=2 w.sdf",
        Ok("secondaries: 2"),
    );
    check("--network-role=SECONDARY --name s1", Ok("Secondary"));
    check("w.sdf", Ok("Standalone"));
}

#[test]
fn relays_and_who_is_behind_them() {
    check(
        "--network-role=Relay --name r1 --connect tcp://a:1 --bind ipc:///b",
        Ok("Relay"),
    );
    check(
        "--network-role=relay --name r1 --through p",
        Ok("through: PeerName(\"p\")"),
    );
    check(
        "--network-role=secondary --through r1",
        Ok("PeerName(\"r1\")"),
    );
    check(
        "--network-role=secondary --through r1 --connect tcp://a:1",
        Err("leave --connect and --partition out"),
    );
    check("--through r1 w.sdf", Err("standalone run has none"));
    check(
        "--network-role=relay --authorized keys",
        Err("--authorized needs --key"),
    );
    check("--network-role=relay --key k", Err("--server-key"));
    check(
        "--network-role=relay --through p --bind tcp://a:1",
        Err("leave one of them out"),
    );
    for place in ["", "--through p", "--bind ipc:///b"] {
        let keys = "--key k --server-key s --authorized keys";
        let arguments = format!("--network-role=relay {keys} {place}");
        check(&arguments, Err("mode of its folder"));
    }
    for role in ["relay", "secondary"] {
        let arguments = format!("--network-role={role} --name _x");
        check(&arguments, Err("begin with a letter or a digit"));
    }
}

#[test]
fn impossible_combinations_are_refused() {
    check("--network-role=tertiary", Err("no network role"));
    check(
        "--network-role=primary w.sdf",
        Err("--network-secondaries=N"),
    );
    check(
        "--network-role=primary --network-secondaries=0 w.sdf",
        Err("at least 1"),
    );
    check(
        "--network-role=primary --network-secondaries=1",
        Err("needs a world"),
    );
    check(
        "--network-secondaries=2 w.sdf",
        Err("--network-role=primary"),
    );
    check("--connect tcp://127.0.0.1:1 w.sdf", Err("takes --bind"));
    check("--real-time-factor=-1 w.sdf", Err("number from 0"));
    check("--real-time-factor=nan w.sdf", Err("number from 0"));
    check("--bind nonsense w.sdf", Err("nonsense"));
    check("--heartbeat-timeout-ms 100 w.sdf", Err("at least twice"));
}

#[test]
fn settings_of_levels_and_threads_are_checked() {
    check(
        "w.sdf",
        Ok("threads: 1, run_ahead_max: 2048, verify: false"),
    );
    check(
        "w.sdf",
        Ok("load: Buffer, sight: Buffer, minimum_stay: 50ms"),
    );
    check(
        "--threads 64 --verify w.sdf",
        Ok("threads: 64, run_ahead_max: 2048, verify: true"),
    );
    check("--balance off w.sdf", Ok("balance: false"));
    check("--levels-load volume w.sdf", Ok("load: Volume"));
    check("--sight range w.sdf", Ok("sight: Range"));
    check("--sight far w.sdf", Err("buffer, range"));
    check("--minimum-stay 0 w.sdf", Ok("minimum_stay: 0ns"));
    check("--auto-levels 8 w.sdf", Ok("auto_levels: Some(8)"));
    check("--auto-levels 0 w.sdf", Err("from 1 to 10000"));
    check("--split-above 100 w.sdf", Ok("split_above: Some(100)"));
    check("--split-above 1 w.sdf", Err("from 2 to 1000000"));
    check("--threads 0 w.sdf", Err("from 1 to 64"));
    check("--threads 65 w.sdf", Err("from 1 to 64"));
    check("--balance maybe w.sdf", Err("must be on or off"));
    check("--levels-load all w.sdf", Err("buffer, volume"));
    check("--minimum-stay=-1 w.sdf", Err("from 0 to 3600"));
    check("--minimum-stay nan w.sdf", Err("from 0 to 3600"));
    check("--interaction-margin=inf w.sdf", Err("from 0 to 100"));
}

#[test]
fn time_outs_have_defaults_and_are_more_than_nothing() {
    let stages = "warn_after: 1s, diagnose_after: 5s, wait_for_debugger: false";
    check("w.sdf", Ok(stages));
    check("--wait-for-debugger w.sdf", Ok("wait_for_debugger: true"));
    check("--warn-after 0 w.sdf", Err("number from 0.001"));
    check("--diagnose-after soon w.sdf", Err("number from 0.001"));
}

#[test]
fn several_worlds_may_be_named_and_files_of_proof_differ() {
    check("a.sdf b.sdf", Ok("[\"a.sdf\", \"b.sdf\"]"));
    check("--digests x --states x w.sdf", Err("a file each"));
    let same = "--commands x --record-commands x w.sdf";
    check(same, Err("need a file each"));
    check(
        "--states x --messages x w.sdf",
        Err("--states and --messages need a file each"),
    );
    check("--messages m w.sdf", Ok("messages: Some(\"m\")"));
}

#[test]
fn one_command_line_serves_every_role() {
    check(
        "--network-role=secondary --iterations 5 w.sdf",
        Ok("\"--iterations\", \"WORLD.sdf\""),
    );
}

#[test]
fn keys_are_named_by_their_files_and_belong_together() {
    let primary = "--network-role=primary --network-secondaries=1 w.sdf";
    let check = |role: &str, flags: &str, expected| check(&format!("{role} {flags}"), expected);
    check(
        primary,
        "--key p.key --authorized a --authorized b",
        Ok("authorized: [\"a\", \"b\"]"),
    );
    check(primary, "--key p.key", Err("--key needs --authorized"));
    check(primary, "--authorized a", Err("--authorized needs --key"));
    check(primary, "--server-key x", Err("is for secondaries"));
    let secondary = "--network-role=secondary";
    check(secondary, "--key s.key --server-key p.pub", Ok("p.pub"));
    check(secondary, "--key s.key", Err("--key needs --server-key"));
    check(secondary, "--server-key x", Err("--server-key needs --key"));
    check(secondary, "--authorized a", Err("is for a primary"));
}

#[test]
fn flags_win_over_the_settings_of_a_file() {
    let mut base = RunSpec::by_hand();
    base.run.worlds = vec!["a.sdf".into()];
    base.run.seed = 3;
    base.run.threads = 2;
    let cli = Cli::try_parse_from(["worker", "--seed", "7"]).unwrap();
    let Ok(Request::Standalone(run)) = cli.request(&base) else {
        panic!("no role is standalone")
    };
    assert_eq!((run.spec.run.seed, run.spec.run.threads), (7, 2));
    assert_eq!(run.spec.run.worlds, base.run.worlds);
}

#[test]
fn a_journal_is_a_folder_and_a_resumed_run_has_its_own() {
    check("--journal j w.sdf", Ok("Folder(\"j\")"));
    check("--journal on w.sdf", Err("name a folder"));
    check("--resume j", Ok("resume: Some(\"j\")"));
    check("--resume j w.sdf", Err("name no SDF file"));
    check("--resume j --journal k", Err("leave --journal out"));
    check("--resume j --commands c", Err("leave --commands out"));
}
