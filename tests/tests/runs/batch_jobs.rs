//! Shows that a run within a job of Slurm has a secondary in each task and computes the same bits,
//! also when a task is lost, and that its exit code arrives. Real daemons of Slurm; where there are
//! none, each test says so and has nothing to do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portable_pty::CommandBuilder;
use tests::processes::{Process, Scratch, binary, wait_for};
use tests::screen::Screen;
use tests::slurm_cluster::SlurmCluster;

const ITERATIONS: &str = "2000";

/// Time that a job may take with all that Slurm does before and after it.
const TIMEOUT: Duration = Duration::from_mins(10);

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

/// Returns the process id of a secondary of the run `r`.
fn pid(scratch: &Scratch, name: &str) -> u32 {
    let (code, out, err) = scratch.phalanx_says(&["show", "r", "peers", "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let peers: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let mut peers = peers.as_array().expect("a list").iter();
    let peer = peers.find(|peer| peer["name"] == name);
    let pid = peer.and_then(|peer| peer["pid"].as_u64());
    u32::try_from(pid.expect("a secondary of that name")).expect("a process id")
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

/// A job whose run is slow until it is told to hurry.
struct SlowJob<'a> {
    scratch: &'a Scratch,
    process: Process,
    digests: PathBuf,
}

impl<'a> SlowJob<'a> {
    /// Submits it and waits for its first iterations.
    fn start(scratch: &'a Scratch, cluster: &SlurmCluster) -> Self {
        let digests = scratch.path("digests");
        let arguments = [
            "--real-time-factor=0.02",
            "--digests",
            digests.to_str().expect("text"),
        ];
        let process = scratch.start("job", &mut submit(scratch, cluster, &arguments));
        wait_for("40 iterations of the job", || lines(&digests) >= 40);
        Self {
            scratch,
            process,
            digests,
        }
    }

    /// Returns what it has said so far.
    fn told(&self) -> String {
        std::fs::read_to_string(self.scratch.path("job.out")).unwrap_or_default()
    }

    /// Waits for its end, and checks that its run has the digests of one that nothing disturbs.
    fn ends_undisturbed(mut self) {
        let code = self.process.wait_for_long(TIMEOUT);
        assert_eq!(code, 0, "{}{}", self.told(), self.process.stderr());
        let digests = std::fs::read_to_string(&self.digests).expect("the digests");
        assert_eq!(digests, digests_of_one_process(self.scratch));
    }
}

#[test]
fn every_task_of_a_job_is_a_secondary_and_a_lost_one_costs_nothing() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let job = SlowJob::start(&scratch, &cluster);
    let told = job.told();
    assert!(told.contains("3 secondaries on n1, n2, n3"), "{told}");
    tests::processes::send_signal(pid(&scratch, "s2"), "KILL");
    wait_for("s2 is started again", || {
        job.told().contains("started s2 again")
    });
    does(&scratch, &["set-real-time-factor", "0"]);
    job.ends_undisturbed();
}

/// Returns how many iterations the digests of a run have.
fn lines(digests: &Path) -> usize {
    let text = std::fs::read_to_string(digests).unwrap_or_default();
    text.lines().count()
}

/// Returns a command of `phalanx` for a cluster, which is carried out in the folder of its files.
fn phalanx(scratch: &Scratch, cluster: &SlurmCluster, words: &[&str]) -> Command {
    let mut command = scratch.phalanx();
    cluster.with_settings(&mut command);
    command.current_dir(scratch.folder()).args(words);
    command
}

fn ramp() -> String {
    let world = tests::repository::root().join("worlds/ramp.sdf");
    world.to_str().expect("a path of text").to_owned()
}

#[test]
fn a_run_is_submitted_followed_and_its_summary_arrives() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let (digests, world) = (scratch.path("digests"), ramp());
    let mut command = phalanx(&scratch, &cluster, &["run", &world, "--headless"]);
    command.args(["--slurm", "-N 2 -n 3", "--format=json"]);
    command.args(["--iterations", ITERATIONS, "--real-time-factor=0"]);
    command.arg("--digests").arg(&digests);
    let mut run = scratch.start("run", &mut command);
    assert_eq!(run.wait_for_long(TIMEOUT), 0, "{}", run.stderr());
    let told = run.stderr();
    assert!(told.contains("submitted job "), "{told}");
    assert!(told.contains("3 secondaries on n1, n2"), "{told}");
    let summary: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
    assert_eq!(summary["iterations"].to_string(), ITERATIONS);
    let digests = std::fs::read_to_string(&digests).expect("the digests");
    assert_eq!(digests, digests_of_one_process(&scratch));
    // What is wrong is said before anything is submitted, and by the job what only it finds.
    let says = |words: &[&str]| {
        let mut command = phalanx(&scratch, &cluster, &["run", "--headless", "--slurm=-n 2"]);
        let output = command.args(words).output().expect("phalanx starts");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), told)
    };
    let (code, told) = says(&["/nonexistent/world.sdf"]);
    assert_eq!(code, Some(3), "{told}");
    assert!(!told.contains("submitted"), "{told}");
    let (code, told) = says(&[&world, "--digests=/nonexistent/digests"]);
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("/nonexistent/digests"), "{told}");
}

/// Returns a program for a cluster, for a screen.
fn on_screen(scratch: &Scratch, cluster: &SlurmCluster, program: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.env("PHALANX_RUNTIME_DIR", scratch.path(""));
    command.env("PHALANX_CONFIG", "/dev/null");
    command.env("SLURM_CONF", cluster.settings());
    command.env("TERM", "xterm-256color");
    command.env_remove("NO_COLOR");
    command.cwd(scratch.folder());
    command
}

/// Starts a run of the ramp in a job of two nodes, with its view on a screen.
fn screen_of_run(scratch: &Scratch, cluster: &SlurmCluster, words: &[&str]) -> Screen {
    let mut command = on_screen(scratch, cluster, &binary("phalanx"));
    command.args(["run", &ramp(), "--name=r", "--slurm", "-N 2 -n 2"]);
    command.args(["--iterations", ITERATIONS]);
    command.args(words);
    Screen::start(command, 40, 120)
}

/// Has a command carried out for the run `r`.
fn does(scratch: &Scratch, words: &[&str]) {
    let (code, _, err) = scratch.phalanx_says(&[&["ctl", "r"], words].concat());
    assert_eq!(code, 0, "{words:?}: {err}");
}

#[test]
fn the_view_of_a_job_is_shown_resized_left_and_opened_again_and_ends_with_the_run() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let mut screen = screen_of_run(&scratch, &cluster, &["--real-time-factor=0.02"]);
    let shown = screen.wait_for("RUNNING");
    for part in ["Peers", "Levels", "Map", "s1", "s2"] {
        assert!(shown.contains(part), "no {part} in\n{shown}");
    }
    screen.press(" ");
    screen.wait_for("PAUSED");
    screen.press("N");
    screen.wait_for("step 10: done");
    screen.resize(24, 80);
    screen.wait_until("the view fits the smaller terminal", |terminal| {
        let text = terminal.contents();
        text.contains("Peers") && !text.contains("Latency")
    });
    screen.press("d");
    let (code, restored) = screen.wait();
    let told = screen.contents();
    assert_eq!(code, 0, "{told}");
    assert!(restored, "the terminal is given back: {told}");
    let (code, out, err) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let stats: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(stats["paused"], true, "{out}");
    // What opens it again is told, and does.
    let one_line = told.replace('\n', "");
    assert!(one_line.contains("r goes on in job "), "{told}");
    let again = one_line.split('`').find(|part| part.starts_with("srun "));
    let again: Vec<&str> = again.expect("how to attach").split(' ').collect();
    let mut command = on_screen(&scratch, &cluster, Path::new(again[0]));
    command.args(&again[1..]);
    let mut screen = Screen::start(command, 40, 120);
    screen.wait_for("PAUSED");
    does(&scratch, &["set-real-time-factor", "0"]);
    screen.press(" ");
    // Slurm ends the step with the job, perhaps before the view says how the run ended.
    let (_, restored) = screen.wait();
    let told = screen.contents();
    assert!(restored, "the terminal is given back: {told}");
}

#[test]
fn a_view_whose_run_ends_brings_its_exit_code_and_its_end() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let mut screen = screen_of_run(&scratch, &cluster, &["--real-time-factor=0.1"]);
    screen.wait_for("RUNNING");
    let (code, restored) = screen.wait();
    let told = screen.contents();
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("completed: "), "{told}");
    assert!(restored, "the terminal is given back: {told}");
    // One that is interrupted says that, too.
    let again = Scratch::new();
    let mut screen = screen_of_run(&again, &cluster, &["--real-time-factor=0.02"]);
    screen.wait_for("RUNNING");
    let mut jobs = Command::new("squeue");
    let jobs = cluster.with_settings(jobs.args(["--noheader", "--format=%i"]));
    let job = jobs.output().expect("squeue runs").stdout;
    let job = String::from_utf8_lossy(&job).trim().to_owned();
    let mut cancel = Command::new("scancel");
    cancel.args(["--batch", "--signal=TERM", &job]);
    let cancelled = cluster.with_settings(&mut cancel).status();
    assert!(cancelled.is_ok_and(|status| status.success()), "{job}");
    let (code, restored) = screen.wait();
    let told = screen.contents();
    assert_eq!(code, 130, "{told}");
    assert!(told.contains("interrupted"), "{told}");
    assert!(restored, "the terminal is given back: {told}");
}

#[test]
fn a_job_goes_on_when_the_terminal_of_its_view_is_gone() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let digests = scratch.path("digests");
    let flag = format!("--digests={}", digests.display());
    let words = ["--real-time-factor=0.02", &flag];
    let mut screen = screen_of_run(&scratch, &cluster, &words);
    screen.wait_for("RUNNING");
    screen.hang_up();
    let then = lines(&digests);
    wait_for("the run goes on", || lines(&digests) > then + 20);
    does(&scratch, &["set-real-time-factor", "0"]);
    wait_for("all iterations", || {
        lines(&digests).to_string() == ITERATIONS
    });
    let digests = std::fs::read_to_string(&digests).expect("the digests");
    assert_eq!(digests, digests_of_one_process(&scratch));
}

#[test]
fn a_job_whose_time_ends_is_resumed_by_another_with_the_same_digests() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let (digests, world) = (scratch.path("digests"), ramp());
    let mut command = phalanx(
        &scratch,
        &cluster,
        &["run", &world, "--headless", "--name=r"],
    );
    command.args(["--slurm", "-N 2 -n 2 --time=2 --signal=B:TERM@30"]);
    // It takes longer than a job of two minutes is given; Slurm may signal half a minute earlier.
    command.args(["--iterations", ITERATIONS, "--real-time-factor=0.01"]);
    command.arg("--digests").arg(&digests);
    let mut run = scratch.start("run", &mut command);
    assert_eq!(run.wait_for_long(TIMEOUT), 130, "{}", run.stderr());
    let done = lines(&digests);
    assert!(
        done > 0 && done < 2000,
        "{done} iterations: {}",
        run.stderr()
    );
    let words = ["resume", "r", "--headless", "--slurm=-N 3 -n 3"];
    let mut resumed = scratch.start("resumed", &mut phalanx(&scratch, &cluster, &words));
    wait_for("the run goes on", || lines(&digests) > done);
    let (code, _, err) = scratch.phalanx_says(&["ctl", "r", "set-real-time-factor", "0"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(resumed.wait_for_long(TIMEOUT), 0, "{}", resumed.stderr());
    assert!(resumed.stderr().contains("s3"), "{}", resumed.stderr());
    let digests = std::fs::read_to_string(&digests).expect("the digests");
    assert_eq!(digests, digests_of_one_process(&scratch));
}

/// Runs a program of Slurm and returns what it printed, without what is around it.
fn slurm(cluster: &SlurmCluster, program: &str, words: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = cluster.with_settings(&mut command).args(words).output();
    let output = output.expect("a program of Slurm starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn a_job_that_slurm_queues_again_goes_on_with_its_run() {
    let scratch = Scratch::new();
    let Some(cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let job = SlowJob::start(&scratch, &cluster);
    let id = slurm(&cluster, "squeue", &["-h", "-o", "%A"]);
    slurm(&cluster, "scontrol", &["requeue", &id]);
    // Slurm would wait for two minutes before it starts a job again.
    let job_id = format!("JobId={id}");
    wait_for("the job runs again", || {
        slurm(&cluster, "scontrol", &["update", &job_id, "StartTime=now"]);
        let shown = slurm(&cluster, "scontrol", &["show", "job", &id]);
        shown.contains("Restarts=1") && shown.contains("JobState=RUNNING")
    });
    wait_for("the run goes on", || {
        job.told().contains("the run r goes on")
    });
    let done = lines(&job.digests);
    assert!((40..2000).contains(&done), "{done} iterations");
    wait_for("the run answers", || {
        let (code, ..) = scratch.phalanx_says(&["ctl", "r", "set-real-time-factor", "0"]);
        code == 0
    });
    job.ends_undisturbed();
}

#[test]
fn a_node_that_fails_costs_nothing() {
    let scratch = Scratch::new();
    let Some(mut cluster) = SlurmCluster::make(scratch.folder()) else {
        return;
    };
    let (digests, world) = (scratch.path("digests"), ramp());
    let mut command = phalanx(
        &scratch,
        &cluster,
        &["run", &world, "--headless", "--name=r"],
    );
    command.args(["--slurm", "-N 3 -n 3"]);
    command.args(["--iterations", ITERATIONS, "--real-time-factor=0.02"]);
    command.arg("--digests").arg(&digests);
    let mut run = scratch.start("run", &mut command);
    wait_for("40 iterations of the job", || lines(&digests) >= 40);
    cluster.fail(3, pid(&scratch, "s3"));
    wait_for("its secondary is lost", || {
        run.stderr().contains("restoring ")
    });
    let (code, _, err) = scratch.phalanx_says(&["ctl", "r", "set-real-time-factor", "0"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(run.wait_for_long(TIMEOUT), 0, "{}", run.stderr());
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
        script
            .contains("run --headless 'world.sdf' '--seed' '3' --name \"phalanx-$SLURM_JOB_ID\"\n"),
        "{script}"
    );
}
