//! Shows that a node of ROS 2 takes part in lockstep: a client on another engine, `cyclonedds` of
//! `PyPI`, drives a robot by its odometry through services, at once or slowly, with one secondary
//! or two, and each run has the same digests.
//!
//! Without `PyPI`, or with a `phalanx` that was built without ROS 2, the test says so and shows
//! nothing.

use std::time::Duration;

use ros2::types::geometry_msgs::{Twist, Vector3};
use ros2::types::nav_msgs::Odometry;
use ros2::{from_cdr, to_cdr};
use serde_json::{Value, json};
use tests::cyclone_dds::ServiceRig;
use tests::processes::{Scratch, let_pass};
use tests::repository;

const ITERATIONS: u64 = 2000;
/// Iterations from one barrier to the next, and between two messages of odometry.
const EVERY: u64 = 50;
const ODOMETRY_EVERY: u64 = 10;
/// Place where the robot is to stand \[m\], in its odometry.
const GOAL_X: f64 = 1.0;

/// A run that a node may hold.
struct Bench(ServiceRig);

impl Bench {
    /// Starts a paused run, or says why there is none.
    fn start(secondaries: u32) -> Option<Self> {
        let scratch = Scratch::new();
        let world = repository::root().join("tests/tests/ros2_run/two_levels.sdf");
        let digests = scratch.path("digests").display().to_string();
        let arguments = [
            "--name=held",
            "--real-time-factor=0",
            &format!("--iterations={ITERATIONS}"),
            &format!("--secondaries={secondaries}"),
            &format!("--digests={digests}"),
        ];
        ServiceRig::start(scratch, &world, &arguments, &[]).map(Self)
    }

    fn call(&mut self, service: &str, request: &Value) -> Value {
        self.0.call(&format!("/phalanx/{service}"), request)
    }

    /// Drives the robot to its goal, with some time before each answer; returns the digests.
    fn drive(mut self, pause: Duration) -> String {
        self.refusals();
        let join = json!({
            "name": "pilot", "every": EVERY,
            "topics": ["/model/r0/odometry"], "entities": ["r0"],
        });
        let mut response = self.call("join_barrier", &join);
        for expected in (0..ITERATIONS / EVERY).map(|turn| turn * EVERY) {
            assert_eq!(response["success"], true, "{response}");
            let barrier = &response["barrier"];
            assert_eq!(barrier["iteration"], expected, "{response}");
            let x = check(barrier, expected);
            let_pass(pause);
            let answer = json!({
                "name": "pilot", "iteration": expected,
                "messages": [{
                    "topic": "/model/r0/cmd_vel",
                    "type": "geometry_msgs/msg/Twist",
                    "data": to_cdr(&twist((GOAL_X - x).clamp(-1.0, 1.0))),
                }],
            });
            let service = "/phalanx/answer_barrier";
            let answer = json!({ "service": service, "request": answer, "later": 1 });
            self.0.tell(&answer);
            if expected == 0 {
                // It stands in the way of nothing while the run is paused.
                let play = json!({ "state": { "state": 1 } });
                let played = self.call("set_simulation_state", &play);
                assert_eq!(played["result"]["result"], 1);
            }
            self.0.tell(&json!({ "wait": 1 }));
            response = self.0.hear("response");
        }
        // Nothing follows the last iteration.
        let told = response["status_message"].as_str().unwrap_or_default();
        assert!(told.contains("the run ended"), "{response}");
        assert_eq!(self.0.run.wait(), 0, "{}", self.0.run.stderr());
        let digests = std::fs::read_to_string(self.0.scratch.path("digests"));
        digests.expect("digests are written")
    }

    /// Shows that wrong requests are refused with a reason.
    fn refusals(&mut self) {
        for (request, reason) in [
            (json!({ "name": "a b", "every": 1 }), "peer name"),
            (json!({ "name": "a" }), "`every` must be at least 1"),
            (json!({ "name": "a", "every": 1, "policy": "x" }), "policy"),
            (json!({ "name": "a", "every": 1, "entities": ["no"] }), "no"),
        ] {
            let response = self.call("join_barrier", &request);
            let told = response["status_message"].as_str().expect("a reason");
            assert!(told.contains(reason), "{request}: {response}");
            assert_eq!(response["success"], false);
        }
        let early = json!({ "name": "pilot", "iteration": 1 });
        let response = self.call("answer_barrier", &early);
        assert_eq!(response["success"], false, "{response}");
        let response = self.call("leave_barrier", &json!({ "name": "pilot" }));
        assert_eq!(response["success"], false, "{response}");
    }
}

/// Shows what a barrier told, and returns the robot's x \[m\].
fn check(barrier: &Value, iteration: u64) -> f64 {
    assert_eq!(barrier["failures"], json!([]));
    assert_eq!(barrier["entities"], json!(["r0"]));
    let nanosec = iteration % 1000 * 1_000_000;
    assert_eq!(barrier["sim_time"]["nanosec"], nanosec);
    let messages = barrier["messages"].as_array().expect("messages are a list");
    if iteration == 0 {
        return 0.0;
    }
    assert_eq!(messages.len() as u64, EVERY / ODOMETRY_EVERY, "{barrier}");
    let last = messages.last().expect("it is not empty");
    assert_eq!(last["type"], "nav_msgs/msg/Odometry");
    let data: Vec<u8> = serde_json::from_value(last["data"].clone()).expect("bytes");
    let odometry: Odometry = from_cdr(&data).expect("it is CDR");
    assert_eq!(u64::from(odometry.header.stamp.nanosec), nanosec);
    odometry.pose.pose.position.x
}

fn twist(ahead: f64) -> Twist {
    Twist {
        linear: Vector3 {
            x: ahead,
            ..Vector3::default()
        },
        ..Twist::default()
    }
}

#[test]
fn a_node_holds_the_run_and_its_speed_changes_no_bit() {
    let Some(bench) = Bench::start(1) else {
        return;
    };
    let fast = bench.drive(Duration::ZERO);
    assert_eq!(fast.lines().count() as u64, ITERATIONS);
    let bench = Bench::start(2).expect("it was there before");
    let slow = bench.drive(Duration::from_millis(30));
    assert!(fast == slow, "the slow run differs");
}
