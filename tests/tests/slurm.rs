//! Shows that a run within a job of Slurm has a secondary in each task and computes the same bits,
//! also when a task is lost, and that its exit code arrives. Real daemons of Slurm; where there are
//! none, each test says so and has nothing to do.

use std::process::Command;

use tests::processes::{Scratch, binary, wait_for};
use tests::slurm_cluster::SlurmCluster;

const ITERATIONS: &str = "2000";

fn submit(scratch: &Scratch, cluster: &SlurmCluster, arguments: &[&str]) -> Command {
    let mut command = scratch.phalanx();
    cluster.with_settings(&mut command);
    let output = format!(
        "--ntasks=3 --nodes=3 --output={}",
        scratch.path("job.out").display()
    );
    command.args(["submit", "--wait", "--sbatch", &output, "worlds/ramp.sdf"]);
    command
        .args(["--name=r", "--iterations", ITERATIONS])
        .args(arguments);
    command
}

fn digests_of_one_process(scratch: &Scratch) -> String {
    let path = scratch.path("expected");
    let mut command = scratch.phalanx();
    command.args(["run", "worlds/ramp.sdf", "--headless", "--secondaries=0"]);
    command
        .args([
            "--iterations",
            ITERATIONS,
            "--real-time-factor=0",
            "--digests",
        ])
        .arg(&path);
    assert!(command.output().expect("phalanx starts").status.success());
    std::fs::read_to_string(path).expect("the digests")
}

#[test]
fn every_task_of_a_job_is_a_secondary_and_a_lost_one_costs_nothing() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let digests = scratch.path("digests");
    let arguments = [
        "--real-time-factor=1",
        "--digests",
        digests.to_str().expect("text"),
    ];
    let mut job = scratch.start("job", &mut submit(&scratch, &cluster, &arguments));
    let told = || std::fs::read_to_string(scratch.path("job.out")).unwrap_or_default();
    let lines = || {
        std::fs::read_to_string(&digests)
            .unwrap_or_default()
            .lines()
            .count()
    };
    wait_for("400 iterations of the job", || lines() >= 400);
    assert!(told().contains("3 secondaries on n1, n2, n3"), "{}", told());
    let (code, out, err) = scratch.phalanx_says(&["show", "r", "peers", "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let peers: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let mut peers = peers.as_array().expect("a list").iter();
    let second = peers
        .find(|peer| peer["name"] == "s2")
        .expect("there is s2");
    tests::processes::send_signal(second["pid"].as_u64().expect("a process id") as u32, "KILL");
    wait_for("s2 is started again", || {
        told().contains("started s2 again")
    });
    assert_eq!(job.wait(), 0, "{}{}", told(), job.stderr());
    let digests = std::fs::read_to_string(&digests).expect("the digests");
    assert_eq!(digests, digests_of_one_process(&scratch));
}

#[test]
fn the_exit_code_of_a_run_arrives() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let mut command = submit(&scratch, &cluster, &["--commands=/nonexistent/commands"]);
    let output = command.output().expect("phalanx starts");
    let told = std::fs::read_to_string(scratch.path("job.out")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("/nonexistent/commands"), "{told}");
}

#[test]
fn a_script_is_printed_where_there_is_no_cluster() {
    let output = Command::new(binary("phalanx"))
        .args(["submit", "--print", "world.sdf", "--seed", "3"])
        .output()
        .expect("phalanx starts");
    let script = String::from_utf8(output.stdout).expect("text");
    assert!(
        output.status.success() && script.starts_with("#!/bin/sh\n"),
        "{script}"
    );
    assert!(
        script.contains("run --headless 'world.sdf' '--seed' '3'\n"),
        "{script}"
    );
}
