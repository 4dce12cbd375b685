//! Shows that `worker` answers wrong input with what is wrong and the documented exit code, by
//! running the program.

use std::process::{Command, Output};

fn worker(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_worker"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn check(arguments: &[&str], code: i32, part: &str) {
    let output = worker(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(said.contains(part), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote to stdout");
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    check(&["--network-role=third", "w.sdf"], 2, "third");
    check(
        &["--network-role=primary", "--network-secondaries=0", "w.sdf"],
        2,
        "at least 1",
    );
    check(
        &["--network-role=primary", "w.sdf"],
        2,
        "--network-secondaries=N",
    );
    check(&["--no-such-flag"], 2, "--no-such-flag");
    check(&[], 2, "name an SDF file");
}

#[test]
fn a_world_that_cannot_be_read_is_said_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.to_str().expect("the path is text").to_owned()
    };
    check(&["no_such_world.sdf"], 3, "no_such_world.sdf");
    let broken = write(
        "broken.sdf",
        "<sdf version='1.10'>\n  <world name='w'>\n</sdf>",
    );
    check(&[&broken], 3, "broken.sdf:3");
    let empty = write("empty.sdf", "<sdf version='1.10'></sdf>");
    check(&[&empty], 3, "world");
    let uneven = write(
        "uneven.sdf",
        "<sdf version='1.10'>\
         <world name='a'><physics type='d'><max_step_size>0.001</max_step_size></physics></world>\
         <world name='b'><physics type='d'><max_step_size>0.002</max_step_size></physics></world>\
         </sdf>",
    );
    check(&[&uneven], 3, "lockstep");
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let world = folder.path().join("w.sdf");
    std::fs::write(&world, "<sdf version='1.10'><world name='w'/></sdf>").expect("written");
    let world = world.to_str().expect("the path is text");
    check(
        &["--digests", "/no/such/folder/d", world],
        3,
        "/no/such/folder/d",
    );
    check(
        &["--summary", "/no/such/folder/s", world],
        3,
        "/no/such/folder/s",
    );
}

#[test]
fn an_address_that_others_reach_needs_encryption_or_consent() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let world = folder.path().join("w.sdf");
    std::fs::write(&world, "<sdf version='1.10'><world name='w'/></sdf>").expect("written");
    let world = world.to_str().expect("the path is text");
    check(&["--bind", "tcp://0.0.0.0:0", world], 3, "other machines");
    check(&["--bind", "tcp://127.0.0.1:0", world], 3, "--insecure");
    let secondary = ["--network-role=secondary", "--connect", "tcp://192.0.2.1:5"];
    check(&secondary, 3, "--insecure");
}

#[test]
fn a_world_without_performers_completes() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let world = folder.path().join("w.sdf");
    std::fs::write(&world, "<sdf version='1.10'><world name='w'/></sdf>").expect("written");
    let world = world.to_str().expect("the path is text");
    let output = worker(&["--iterations", "10", "--real-time-factor", "0", world]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
