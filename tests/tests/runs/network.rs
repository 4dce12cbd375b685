//! Shows that a run on two hosts survives a cable that is pulled for two seconds, and ends or
//! recovers when it stays away. The hosts are network namespaces of this machine; where those
//! cannot be made, each test says so on stderr and has nothing to show.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use protocol::Access;
use recording::Recording;
use tests::key_ring::KeyRing;
use tests::namespaces::{ADDRESSES, TwoHosts};
use tests::processes::{Process, Scratch, binary, let_pass};
use tests::repository;
use tests::slow_cable::Impairment;

/// Silence after which a peer counts as lost; a cable that is back after two seconds is heard
/// again after three, since TCP doubles the time between its attempts, and a busy machine pulls it
/// for longer.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(15);

/// A primary and perhaps a secondary on the first host, and a secondary on the second.
struct Distributed {
    hosts: TwoHosts,
    scratch: Scratch,
    keys: KeyRing,
    primary: Process,
    secondaries: Vec<Process>,
}

impl Distributed {
    /// Starts a run; `near` is how many secondaries are on the primary's host.
    fn start(hosts: TwoHosts, near: usize, iterations: u32, flags: &[&str]) -> Self {
        Self::of_world(&ramp(), hosts, near, iterations, flags)
    }

    /// Does so with a world.
    fn of_world(
        world: &Path,
        hosts: TwoHosts,
        near: usize,
        iterations: u32,
        flags: &[&str],
    ) -> Self {
        let scratch = Scratch::new();
        let keys = KeyRing::new(scratch.path("keys"));
        keys.add("secondaries", Access::Secondary);
        keys.add("viewer", Access::Observer);
        keys.add("driver", Access::Controller);
        let address = format!("tcp://{}:5000", ADDRESSES[0]);
        let worker = binary("worker");
        let mut command = hosts.command(0, &worker);
        command.arg("--network-role=primary");
        command.arg(format!("--network-secondaries={}", near + 1));
        command.args(["--bind", &address, "--iterations", &iterations.to_string()]);
        let timeout = HEARTBEAT_TIMEOUT.as_millis().to_string();
        command.args(["--peer-timeout=300", "--heartbeat-timeout-ms", &timeout]);
        command.arg("--digests");
        command.arg(scratch.path("digests")).args(flags);
        let primary = scratch.start("primary", command.args(keys.of_primary()).arg(world));
        let mut secondaries = Vec::new();
        for number in 0..=near {
            let host = usize::from(number == near);
            let name = format!("s{number}");
            let mut command = hosts.command(host, &worker);
            command.args([
                "--network-role=secondary",
                "--name",
                &name,
                "--connect",
                &address,
            ]);
            secondaries.push(scratch.start(&name, command.args(keys.of_secondary("secondaries"))));
        }
        primary.wait_for_stderr("all secondaries are ready");
        Self {
            hosts,
            scratch,
            keys,
            primary,
            secondaries,
        }
    }

    /// Starts a client on the primary's host that prints messages of a topic until there were so
    /// many.
    fn view(&self, topic: &str, count: u32) -> Process {
        let mut command = self.hosts.command(0, &binary("phalanx"));
        let address = format!("tcp://{}:5000", ADDRESSES[0]);
        command.args(["topic", "echo", &address, topic]);
        command.args(["-n", &count.to_string()]);
        command.args(self.keys.of_secondary("viewer"));
        self.scratch.start("viewer", &mut command)
    }

    /// Has the run do something by a command.
    fn does(&self, command_words: &[&str]) {
        let mut command = self.hosts.command(0, &binary("phalanx"));
        let address = format!("tcp://{}:5000", ADDRESSES[0]);
        command.args(["ctl", &address]).args(command_words);
        command.args(self.keys.of_secondary("driver"));
        let mut process = self.scratch.start("ctl", &mut command);
        assert_eq!(process.wait(), 0, "{}", process.stderr());
    }

    fn digests(&self) -> String {
        std::fs::read_to_string(self.scratch.path("digests")).expect("digests are text")
    }
}

fn ramp() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

/// Returns the digests of the same run in one process.
fn alone(iterations: u32) -> String {
    alone_in(&ramp(), iterations, &[])
}

/// Returns the digests of a run of a world in one process.
fn alone_in(world: &Path, iterations: u32, flags: &[&str]) -> String {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let mut command = Command::new(binary("worker"));
    command.args(["--iterations", &iterations.to_string()]);
    command
        .args(["--real-time-factor=0", "--digests"])
        .arg(&digests);
    let mut process = scratch.start("alone", command.args(flags).arg(world));
    assert_eq!(process.wait(), 0, "{}", process.stderr());
    std::fs::read_to_string(digests).expect("digests are text")
}

#[test]
fn a_cable_that_is_pulled_for_two_seconds_costs_time_and_nothing_else() {
    let Some(hosts) = TwoHosts::make() else {
        return;
    };
    let iterations = 4000;
    let mut run = Distributed::start(hosts, 0, iterations, &["--real-time-factor=0.4"]);
    let_pass(Duration::from_millis(500));
    run.hosts.set_connected(false);
    let_pass(Duration::from_secs(2));
    run.hosts.set_connected(true);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert_eq!(
        run.secondaries[0].wait(),
        0,
        "{}",
        run.secondaries[0].stderr()
    );
    assert!(run.digests() == alone(iterations), "the digests differ");
}

#[test]
fn a_cable_that_stays_pulled_ends_the_run_on_both_hosts() {
    let Some(hosts) = TwoHosts::make() else {
        return;
    };
    let mut run = Distributed::start(hosts, 0, 1_000_000, &["--on-peer-loss=stop"]);
    run.hosts.set_connected(false);
    let start = Instant::now();
    assert_eq!(run.primary.wait(), 4, "{}", run.primary.stderr());
    assert!(
        start.elapsed() < HEARTBEAT_TIMEOUT * 3,
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        run.secondaries[0].wait(),
        4,
        "{}",
        run.secondaries[0].stderr()
    );
}

#[test]
fn a_secondary_behind_a_pulled_cable_is_replaced_by_one_that_is_near() {
    let Some(hosts) = TwoHosts::make() else {
        return;
    };
    let iterations = 4000;
    let flags = [
        "--on-peer-loss=recover",
        "--checkpoint-every=200",
        "--real-time-factor=0.4",
    ];
    let mut run = Distributed::start(hosts, 1, iterations, &flags);
    let_pass(Duration::from_millis(500));
    run.hosts.set_connected(false);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert_eq!(
        run.secondaries[0].wait(),
        0,
        "{}",
        run.secondaries[0].stderr()
    );
    assert_eq!(
        run.secondaries[1].wait(),
        4,
        "{}",
        run.secondaries[1].stderr()
    );
    assert!(run.digests() == alone(iterations), "the digests differ");
}

#[test]
fn a_network_that_is_slow_and_loses_packets_changes_no_bit() {
    let seed = 1;
    let how = Impairment {
        delay: Duration::from_millis(50),
        bytes_per_s: None,
        loss_permille: 10,
        seed,
    };
    let Some((hosts, packets)) = TwoHosts::make_far_apart(how) else {
        return;
    };
    let iterations = 200;
    let mut run = Distributed::start(hosts, 0, iterations, &["--real-time-factor=0"]);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert!(run.digests() == alone(iterations), "the digests differ");
    let (taken, lost) = (packets.taken(), packets.lost());
    println!("seed {seed}: {lost} of {taken} packets lost");
    assert!(
        lost > 0,
        "none of {taken} packets was lost: seed {seed} shows nothing"
    );
}

#[test]
fn quiet_steps_hide_a_way_of_a_tenth_of_a_second() {
    let Some(hosts) = far_hosts() else {
        return;
    };
    let out = Scratch::new();
    let summary = out.path("summary");
    let flag = format!("--summary={}", summary.display());
    let iterations = 1000;
    let mut run = Distributed::start(hosts, 0, iterations, &["--real-time-factor=0", &flag]);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert!(run.digests() == alone(iterations), "the digests differ");
    takes_less_than_the_way(&summary);
}

#[test]
fn a_far_secondary_without_cells_holds_no_step() {
    let Some(hosts) = far_hosts() else {
        return;
    };
    let out = Scratch::new();
    // One cell, which the first secondary has: the second is far and stands by.
    let world = out.path("eye.sdf");
    std::fs::write(&world, CAMERA).expect("a file can be written");
    let summary = out.path("summary");
    let flag = format!("--summary={}", summary.display());
    let iterations = 1000;
    let flags = ["--real-time-factor=0", "--run-ahead-max=1", &flag];
    let mut run = Distributed::of_world(&world, hosts, 1, iterations, &flags);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    assert!(
        run.digests() == alone_in(&world, iterations, &[]),
        "the digests differ"
    );
    for secondary in &mut run.secondaries {
        assert_eq!(secondary.wait(), 0, "{}", secondary.stderr());
    }
    takes_less_than_the_way(&summary);
}

/// Time of a message to the far host: far longer than a busy machine takes for an iteration.
const FAR: Duration = Duration::from_millis(100);

/// Returns two hosts that are so far apart; `None` where there are no namespaces.
fn far_hosts() -> Option<TwoHosts> {
    let how = Impairment {
        delay: FAR,
        bytes_per_s: None,
        loss_permille: 0,
        seed: 1,
    };
    Some(TwoHosts::make_far_apart(how)?.0)
}

/// Expects of the summary of a run that its iterations took half as long as the way to the far host
/// and back, at most: each that waits for that host takes at least as long.
fn takes_less_than_the_way(summary: &Path) {
    let summary = std::fs::read_to_string(summary).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    let each_s = 1.0 / summary["steps_per_s"].as_f64().expect("a number");
    eprintln!("{:.0} us per iteration", each_s * 1e6);
    assert!(each_s < FAR.as_secs_f64(), "{each_s} s per iteration");
}

/// A box with a camera on a plane: 115 KB for each of 20 images in a simulated second.
const CAMERA: &str = "<sdf version='1.9'><world name='w'><light name='sun' type='directional'>\
    <direction>0.4 0.3 -0.9</direction></light><model name='ground'><static>true</static>\
    <link name='l'><collision name='c'><geometry><plane/></geometry></collision><visual name='v'>\
    <geometry><plane><size>50 50</size></plane></geometry></visual></link></model>\
    <model name='eye'><pose>0 0 2 0 0 0</pose><link name='l'><collision name='c'><geometry><box>\
    <size>0.4 0.4 0.4</size></box></geometry></collision><sensor name='camera' type='camera'>\
    <topic>eye</topic><update_rate>20</update_rate><always_on>1</always_on><camera>\
    <image><width>240</width><height>160</height></image></camera></sensor></link></model>\
    </world></sdf>";
/// Iterations of a run with the camera, of 1 ms each.
const CAMERA_ITERATIONS: u32 = 3000;

/// Returns two hosts with a way between them of 10 ms that takes so many bytes per second: the
/// images of three simulated seconds have 7 MB.
fn narrow_way(bytes_per_s: u32) -> Option<TwoHosts> {
    let how = Impairment {
        delay: Duration::from_millis(10),
        bytes_per_s: Some(bytes_per_s),
        loss_permille: 0,
        seed: 1,
    };
    Some(TwoHosts::make_far_apart(how)?.0)
}

/// Returns the simulated time \[ns\] and the content of all images in a recording.
fn images(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let file = File::open(path).expect("there is a recording");
    let mut recording = Recording::open(BufReader::new(file)).expect("a recording is whole");
    let channels = recording.channels().iter();
    let eye = channels.filter(|(_, info)| info.topic.ends_with("eye"));
    let eye: Vec<u16> = eye.map(|(id, _)| *id).collect();
    assert_eq!(eye.len(), 1, "one channel has the images");
    let mut images = Vec::new();
    for chunk in 0..recording.chunks().len() {
        let messages = recording.messages(chunk).expect("a chunk can be read");
        let own = messages.into_iter().filter(|one| one.channel == eye[0]);
        images.extend(own.map(|one| (one.sim_time.0, one.data)));
    }
    images
}

#[test]
fn all_images_of_a_far_host_are_recorded_in_order_over_a_narrow_way() {
    // Most of them are still on their way when the run ends.
    let Some(hosts) = narrow_way(500_000) else {
        return;
    };
    let out = Scratch::new();
    let world = out.path("world.sdf");
    std::fs::write(&world, CAMERA).expect("a world can be written");
    let [far, near] = ["far.mcap", "near.mcap"].map(|name| out.path(name));
    let record = |path: &Path| format!("--record={}", path.display());
    let flag = record(&far);
    let flags = ["--real-time-factor=0", &flag];
    let mut run = Distributed::of_world(&world, hosts, 0, CAMERA_ITERATIONS, &flags);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    let alone = alone_in(&world, CAMERA_ITERATIONS, &[&record(&near)]);
    assert!(run.digests() == alone, "the digests differ");
    let (far, near) = (images(&far), images(&near));
    let times = |images: &[(u64, Vec<u8>)]| images.iter().map(|one| one.0).collect::<Vec<_>>();
    assert!(near.len() >= 60, "{} images were recorded", near.len());
    assert_eq!(times(&far), times(&near));
    assert!(far == near, "the images differ");
}

#[test]
fn steps_go_on_while_the_images_that_a_viewer_sees_take_a_narrow_way() {
    let Some(hosts) = narrow_way(1_000_000) else {
        return;
    };
    let out = Scratch::new();
    let world = out.path("world.sdf");
    std::fs::write(&world, CAMERA).expect("a world can be written");
    let mut run = Distributed::of_world(&world, hosts, 0, 1_000_000, &["--real-time-factor=1"]);
    let mut viewer = run.view("/eye", 5);
    assert_eq!(viewer.wait(), 0, "{}", viewer.stderr());
    run.does(&["stop"]);
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    let said = viewer.stdout();
    let seen = said.lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        line["iteration"].as_u64()
    });
    let seen: Vec<u64> = seen.collect();
    assert!(
        seen.len() == 5 && seen.is_sorted_by(|a, b| a < b),
        "{seen:?}"
    );
    let done = run.digests().lines().count() as u64;
    assert!(done >= seen[4], "{done} steps, and images of {seen:?}");
    let alone = alone_in(&world, CAMERA_ITERATIONS, &[]);
    let digests = run.digests();
    let mut same = alone.lines().zip(digests.lines()).take(100);
    assert!(same.all(|(one, other)| one == other), "the digests differ");
}
