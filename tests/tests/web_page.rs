//! Shows that the page of `phalanx web` draws worlds as they are, tells the figures that `show`
//! tells, controls a run, and outlives runs and servers. Real runs are shown by a real Chromium
//! that reaches no network; where there is none, these tests say so and pass.

#[path = "web_page/looks.rs"]
mod looks;
#[path = "web_page/recordings.rs"]
mod recordings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use tests::browser::Browser;
use tests::node::Node;
use tests::processes::{Process, Scratch, TIMEOUT, free_ports, wait_for};
use tests::repository;

/// Size of the window whose picture is kept \[px\].
const PICTURE: (u32, u32) = (480, 320);
/// The part of a picture's areas that may differ from the kept one.
const SHARE_MAX: f64 = 0.015;
/// The mean difference of a colour, 0 to 255.
const MEAN_MAX: f64 = 1.5;

/// A run that is paused, and what serves it.
struct Served {
    web: Process,
    address: String,
    scratch: Scratch,
}

impl Served {
    /// Starts run `r` of a world, paused, and a server for it.
    fn start(world: &str, secondaries: &str) -> Self {
        let scratch = Scratch::new();
        run(&scratch, world, secondaries);
        // A server that is started again wants its port again.
        let (web, address) = serve(&scratch, &format!("127.0.0.1:{}", free_ports()));
        Self {
            web,
            address,
            scratch,
        }
    }

    fn ctl(&self, command: &[&str]) {
        let all = [&["ctl", "r"], command].concat();
        let (code, _, stderr) = self.scratch.phalanx_says(&all);
        assert_eq!(code, 0, "{stderr}");
    }

    fn show(&self, panel: &str) -> Value {
        let (code, stdout, stderr) = self
            .scratch
            .phalanx_says(&["show", "r", panel, "--format", "json"]);
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).expect("figures are JSON")
    }
}

/// Starts run `r`, paused, and waits until its secondaries are there.
fn run(scratch: &Scratch, world: &str, secondaries: &str) {
    let arguments = ["run", world, "--detach", "--name", "r", "--paused"];
    let all = [&arguments[..], &["--secondaries", secondaries]].concat();
    let (code, _, stderr) = scratch.phalanx_says(&all);
    assert_eq!(code, 0, "{stderr}");
    wait_for("the run is paused", || {
        let (_, stdout, _) = scratch.phalanx_says(&["ps", "--format", "json"]);
        let runs: Value = serde_json::from_str(&stdout).expect("the list is JSON");
        runs[0]["state"] == "paused"
    });
}

/// Serves run `r`; returns the server and its address.
fn serve(scratch: &Scratch, bind: &str) -> (Process, String) {
    serve_with(scratch, &["r", "--bind", bind])
}

/// Starts a server with arguments; returns it and its address.
fn serve_with(scratch: &Scratch, arguments: &[&str]) -> (Process, String) {
    let mut command = scratch.phalanx();
    command.arg("web").args(arguments);
    command.env_remove("SSH_CONNECTION");
    let web = scratch.start("web", &mut command);
    wait_for("the address is printed", || {
        web.stdout().starts_with("http://") && web.stdout().ends_with('\n')
    });
    let address = web.stdout().trim().to_owned();
    (web, address)
}

/// Returns the path of a kept picture.
fn kept(name: &str) -> PathBuf {
    repository::root().join(format!("tests/tests/web_page/{name}.png"))
}

/// Opens the page with options in its fragment, and waits until it shows the run at a time.
fn open(browser: &mut Browser, served: &Served, options: &str, size: (u32, u32)) {
    open_at(browser, &served.address, options, size);
}

fn open_at(browser: &mut Browser, address: &str, options: &str, size: (u32, u32)) {
    browser.open(&format!("{address}#{options}"), size);
    browser.wait("document.querySelector('#veil').hidden");
}

/// Waits until the page shows that the run is where it is.
fn wait_for_iteration(browser: &mut Browser, iteration: u64) {
    browser.wait(&format!(
        "document.querySelector('#iteration').dataset.value === '{iteration}'"
    ));
}

fn iteration(browser: &mut Browser) -> u64 {
    let value = browser.value("Number(document.querySelector('#iteration').dataset.value)");
    value.as_u64().expect("an iteration")
}

/// Checks that the page has said nothing bad, and asked nothing of other machines.
fn assert_quiet(browser: &mut Browser) {
    let problems = browser.problems();
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Compares a picture with the kept one, or keeps it if `UPDATE` is set.
fn compare(browser: &mut Browser, name: &str, found: &Path) {
    let kept = kept(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(kept.parent().expect("a folder")).expect("it can be made");
        std::fs::copy(found, &kept).expect("the picture is kept");
        return;
    }
    let difference = browser.compare(found, &kept);
    if difference.share <= SHARE_MAX && difference.mean <= MEAN_MAX {
        return;
    }
    let stays = std::env::temp_dir().join(format!("phalanx-{name}.png"));
    std::fs::copy(found, &stays).expect("the picture stays");
    panic!(
        "{name} looks different: {difference:?}; see {} beside {}, UPDATE=1 keeps the new one",
        stays.display(),
        kept.display()
    );
}

#[test]
fn figures_are_those_of_show() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let served = Served::start("worlds/warehouse.sdf", "2");
    served.ctl(&["run-to", "2"]);
    open(&mut browser, &served, "panel=performers", (1100, 900));
    wait_for_iteration(&mut browser, 1000);
    let performers = served.show("performers");
    let rows = "[...document.querySelectorAll('tr[data-performer]')].map((row) => \
        [row.dataset.performer, ...[...row.cells].slice(1, 3).map((cell) => cell.textContent)])\
        .sort((one, other) => (one[0] < other[0] ? -1 : 1))";
    let wanted: Vec<Value> = list(&performers)
        .iter()
        .map(|one| json!([one["name"], one["level"], one["owner"]]))
        .collect();
    assert_ne!(wanted.len(), 0, "{performers}");
    let wanted = Value::from(wanted);
    browser.wait(&format!(
        "JSON.stringify({rows}) === JSON.stringify({wanted})"
    ));

    for performer in list(&performers) {
        let name = performer["name"].as_str().expect("a name");
        browser.click(&format!("tr[data-performer='{name}'] button"));
        let at = &performer["position"];
        let at: Vec<f64> = serde_json::from_value(at.clone()).expect("three numbers");
        let text = "document.querySelector('[data-fact=position]').textContent";
        browser.wait(&format!(
            "{text}.split(/ +/).slice(0, 3).every((part, axis) => \
             Math.abs(Number(part) - {at:?}[axis]) < 0.0011)"
        ));
        let hand_offs = &performer["hand_offs"];
        browser.wait(&format!(
            "document.querySelector('[data-fact=hand-offs]').textContent === '{hand_offs}'"
        ));
    }

    browser.click("#tab-run");
    let rows = "[...document.querySelectorAll('tr[data-level]')].map((row) => \
        [row.dataset.level, Number(row.cells[2].textContent), Number(row.cells[3].textContent)])";
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    let levels = served.show("levels");
    let wanted: Vec<Value> = list(&levels)
        .iter()
        .map(|one| {
            json!([
                one["name"],
                count(&one["performers"]),
                count(&one["ghosts"])
            ])
        })
        .collect();
    let wanted = Value::from(wanted);
    browser.wait(&format!(
        "JSON.stringify({rows}) === JSON.stringify({wanted})"
    ));
    hosts_are_those_of_show(&mut browser, &served);
    assert_quiet(&mut browser);
}

/// Checks that the panel of the run has the hosts of secondaries, each with its load.
fn hosts_are_those_of_show(browser: &mut Browser, served: &Served) {
    let peers = served.show("peers");
    let secondaries = list(&peers).iter().filter(|one| one["role"] == "secondary");
    let hosts: BTreeSet<&str> = secondaries.filter_map(|one| one["host"].as_str()).collect();
    assert_ne!(hosts.len(), 0, "{peers}");
    let cards = "[...document.querySelectorAll('[data-host]')]\
        .filter((card) => / of \\d+ core/.test(card.querySelector('header').textContent))\
        .map((card) => card.dataset.host)";
    let wanted = json!(hosts);
    browser.wait(&format!(
        "JSON.stringify({cards}) === JSON.stringify({wanted})"
    ));
}

/// Returns the rows of a panel, which are the value itself or its only list.
fn list(value: &Value) -> &Vec<Value> {
    let inner = || value.as_object()?.values().find_map(Value::as_array);
    value.as_array().or_else(inner).expect("a list")
}

#[test]
fn controls_reach_the_run() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let served = Served::start("worlds/ramp.sdf", "1");
    open(&mut browser, &served, "panel=run", (1100, 700));
    wait_for_iteration(&mut browser, 0);

    browser.click("#step");
    wait_for_iteration(&mut browser, 1);
    browser.value("document.querySelector('#step-count').value = '100'");
    browser.press(".");
    wait_for_iteration(&mut browser, 101);

    browser.wait("document.querySelector('#state').dataset.state === 'paused'");
    browser.press("Space");
    browser.wait("document.querySelector('#state').dataset.state === 'running'");
    browser.wait("Number(document.querySelector('#iteration').dataset.value) > 150");
    browser.click("#play");
    browser.wait("document.querySelector('#state').dataset.state === 'paused'");
    let stopped = iteration(&mut browser);
    wait_for("the run is listed as paused", || {
        let (_, stdout, _) = served.scratch.phalanx_says(&["ps", "--format", "json"]);
        let runs: Value = serde_json::from_str(&stdout).expect("the list is JSON");
        runs[0]["state"] == "paused"
    });
    browser.click("#step");
    let reached = stopped + 100;
    wait_for_iteration(&mut browser, reached);

    let time = reached / 1000 + 1;
    browser.wait("!document.querySelector('#run-to button').disabled");
    let order = json!({ "op": "type", "selector": "#run-to-time", "text": time.to_string() });
    browser.order(&order);
    browser.click("#run-to button");
    wait_for_iteration(&mut browser, time * 1000);
    assert_quiet(&mut browser);
}

#[test]
fn a_robot_is_driven_and_stops_when_keys_are_released() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let served = Served::start("worlds/ramp.sdf", "1");
    open(
        &mut browser,
        &served,
        "panel=performers&select=rover",
        (1100, 700),
    );
    served.ctl(&["play"]);
    browser.wait("!document.querySelector('#drive-button').disabled");
    browser.click("#drive-button");
    let speed = "Number.parseFloat(document.querySelector('[data-fact=speed]').textContent)";
    browser.order(&json!({ "op": "hold", "key": "w" }));
    browser.wait(&format!("{speed} > 0.4"));
    browser.order(&json!({ "op": "release", "key": "w" }));
    browser.wait(&format!("{speed} < 0.05"));

    // A page that loses the focus stops the robot, too.
    browser.order(&json!({ "op": "hold", "key": "w" }));
    browser.wait(&format!("{speed} > 0.4"));
    browser.value("void window.dispatchEvent(new Event('blur'))");
    browser.wait(&format!("{speed} < 0.05"));
    assert_quiet(&mut browser);
}

#[test]
fn what_sensors_see_is_drawn_while_it_is_wanted() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let served = Served::start("worlds/warehouse.sdf", "1");
    open(&mut browser, &served, "panel=sensors", (1100, 700));
    // Three lidars, each with its scan and its points.
    browser.wait("document.querySelectorAll('.sensor').length === 6");
    served.ctl(&["step", "200"]);
    let notes = "[...document.querySelectorAll('.sensor > .number')]\
        .filter((note) => note.textContent.endsWith(' points')).length";
    browser.wait(&format!("{notes} === 3"));
    browser.value("document.querySelectorAll('.sensor input').forEach((box) => box.click())");
    served.ctl(&["step", "200"]);
    // Those of scans are hidden now, those of points are shown.
    let kinds = "[...document.querySelectorAll('.sensor')]\
        .filter((sensor) => sensor.querySelector('.number').textContent !== '')\
        .map((sensor) => sensor.querySelector('.kind').textContent)";
    browser.wait(&format!(
        "JSON.stringify({kinds}) === '[\"points\",\"points\",\"points\"]'"
    ));
    assert_quiet(&mut browser);
}

#[test]
fn a_model_is_selected_by_a_click() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let served = Served::start("worlds/ramp.sdf", "1");
    served.ctl(&["run-to", "0.1"]);
    let performers = served.show("performers");
    let mut all = list(&performers).iter();
    let ball = all.find(|one| one["name"] == "ball").expect("there is one");
    let at = &ball["position"];
    let [x, y, z]: [f64; 3] = serde_json::from_value(at.clone()).expect("three numbers");
    let look = format!(
        "quality=low&panel=none&show=none&camera={x},{},{},{x},{y},{z}",
        y - 3.0,
        z + 2.0
    );
    open(&mut browser, &served, &look, (1100, 700));
    wait_for_iteration(&mut browser, 100);
    browser.wait_until_settled();
    let point = |browser: &mut Browser, across: f64, down: f64| {
        let order = json!({ "op": "point", "selector": "#canvas", "across": across, "down": down });
        browser.order(&order);
    };
    let card = "document.querySelector('#inspector')";
    browser.wait(&format!("{card}.hidden"));
    point(&mut browser, 0.5, 0.5);
    browser.wait(&format!(
        "!{card}.hidden && {card}.textContent.includes('ball')"
    ));
    let place = format!("{card}.querySelector('[data-fact=position]').textContent");
    let wanted = [x, y, z];
    browser.wait(&format!(
        "{place}.split(/ +/).slice(0, 3).every((part, axis) => \
         Math.abs(Number(part) - {wanted:?}[axis]) < 0.0011)"
    ));
    // What the terminal tells of it comes from the server.
    browser.wait(&format!(
        "{card}.querySelector('.answer dl').childElementCount > 0"
    ));
    point(&mut browser, 0.5, 0.02);
    browser.wait(&format!(
        "{card}.hidden || !{card}.textContent.includes('ball')"
    ));
    assert_quiet(&mut browser);
}

/// Two robots in levels of their own, of which one looks around with very many rays in each step.
const UNEQUAL: &str = "<sdf version='1.11'><world name='w'><gravity>0 0 0</gravity>
  <model name='idle'><pose>6 0 0.5 0 0 0</pose><link name='l'><collision name='c'><geometry><box>
    <size>0.5 0.5 0.5</size></box></geometry></collision></link></model>
  <model name='seer'><pose>-6 0 0.5 0 0 0</pose><link name='l'><collision name='c'><geometry><box>
    <size>0.5 0.5 0.5</size></box></geometry></collision>
    <sensor name='around' type='gpu_lidar'><topic>scan</topic><update_rate>1000</update_rate>
      <pose>0 0 0.4 0 0 0</pose><lidar><scan><horizontal><samples>1000</samples>
      <min_angle>-3</min_angle><max_angle>3</max_angle></horizontal><vertical><samples>16</samples>
      <min_angle>-0.3</min_angle><max_angle>0.3</max_angle></vertical></scan>
      <range><min>0.1</min><max>9</max></range></lidar></sensor></link></model>
  <plugin name='gz::sim' filename='none'>
    <level name='west'><pose>-6 0 1 0 0 0</pose><geometry><box><size>8 8 4</size></box></geometry>
      <buffer>1</buffer></level>
    <level name='east'><pose>6 0 1 0 0 0</pose><geometry><box><size>8 8 4</size></box></geometry>
      <buffer>1</buffer></level></plugin>
</world></sdf>";

#[test]
fn the_secondary_that_holds_the_step_is_named() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let world = scratch.path("unequal.sdf");
    std::fs::write(&world, UNEQUAL).expect("a world");
    let served = Served::start(world.to_str().expect("a plain path"), "2");
    let performers = served.show("performers");
    let mut all = list(&performers).iter();
    let seer = all.find(|one| one["name"] == "seer").expect("it is there");
    let owner = seer["owner"].as_str().expect("it has one").to_owned();
    open(&mut browser, &served, "panel=run&quality=low", (1100, 700));
    // Its rays are many, and the page is to have time, too.
    served.ctl(&["set-real-time-factor", "0.03"]);
    served.ctl(&["play"]);
    let told = "document.querySelector('[data-figure=holder]').textContent";
    browser.wait(&format!("{told}.startsWith('{owner} holds the step: ')"));
    assert_quiet(&mut browser);
}

/// Two boxes that touch each other across the border of two levels, one with a sensor of contacts
/// and a lidar.
const BORDER: &str = "<sdf version='1.11'><world name='w'>
  <light name='sun' type='directional'><direction>-0.5 0.3 -1</direction></light>
  <model name='ground'><static>true</static><link name='l'><collision name='c'><geometry><plane/>
    </geometry></collision></link></model>
  <model name='left'><pose>-0.25 0 0.25 0 0 0</pose><link name='l'>
    <inertial><mass>1</mass></inertial>
    <collision name='c'><geometry><box><size>0.5 0.5 0.5</size></box></geometry></collision>
    <sensor name='touch' type='contact'><update_rate>50</update_rate><topic>touch</topic>
      <contact><collision>c</collision></contact></sensor>
    <sensor name='around' type='gpu_lidar'><topic>scan</topic><update_rate>50</update_rate>
      <pose>0 0 0.4 0 0 0</pose><lidar><scan><horizontal><samples>60</samples>
      <min_angle>-3</min_angle><max_angle>3</max_angle></horizontal></scan>
      <range><min>0.1</min><max>9</max></range></lidar></sensor></link></model>
  <model name='right'><pose>0.25 0 0.25 0 0 0</pose><link name='l'>
    <inertial><mass>1</mass></inertial>
    <collision name='c'><geometry><box><size>0.5 0.5 0.5</size></box></geometry></collision>
  </link></model>
  <model name='post'><static>true</static><pose>-2 0 0.5 0 0 0</pose><link name='l'>
    <collision name='c'><geometry><box><size>0.3 3 1</size></box></geometry></collision>
    <visual name='v'><geometry><box><size>0.3 3 1</size></box></geometry></visual></link></model>
  <plugin name='gz::sim' filename='none'>
    <level name='west'><pose>-2 0 1 0 0 0</pose><geometry><box><size>4 4 2</size></box></geometry>
      <buffer>1</buffer><ref>post</ref></level>
    <level name='east'><pose>2 0 1 0 0 0</pose><geometry><box><size>4 4 2</size></box></geometry>
      <buffer>1</buffer></level></plugin>
</world></sdf>";

#[test]
fn each_display_of_a_run_is_drawn() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let world = scratch.path("border.sdf");
    std::fs::write(&world, BORDER).expect("a world");
    let served = Served::start(world.to_str().expect("a plain path"), "2");
    served.ctl(&["run-to", "0.5"]);
    let look = "quality=low&bare=true&show=none&camera=0,-5,5,0,0,0";
    open(&mut browser, &served, look, PICTURE);
    browser.wait("document.querySelector('#sim-time').dataset.value === '0.5'");
    // Scans are shown until somebody decides.
    browser.wait("document.querySelectorAll('.sensor').length === 2");
    press_and_draw(&mut browser, "s");
    let picture = |name: &str, browser: &mut Browser| {
        browser.wait_until_settled();
        let path = scratch.path(&format!("{name}.png"));
        browser.picture("#stage", &path);
        path
    };
    let plain = picture("plain", &mut browser);
    // What is pressed first is drawn, and goes when it is pressed again.
    for (name, key, told) in [
        ("levels", "l", "true"),
        ("buffers", "b", "true"),
        ("ghosts", "g", "true"),
        (
            "groups",
            "u",
            "document.documentElement.dataset.groups === '1'",
        ),
        ("frames", "x", "true"),
        ("owners", "2", "true"),
        ("collisions", "i", "true"),
    ] {
        press_and_draw(&mut browser, key);
        browser.wait(told);
        let with = picture(name, &mut browser);
        let difference = browser.compare(&with, &plain);
        assert!(difference.mean > 0.02, "{name}: {difference:?}");
        press_and_draw(&mut browser, if key == "2" { "1" } else { key });
        let without = picture("without", &mut browser);
        let difference = browser.compare(&without, &plain);
        assert!(difference.mean < 0.005, "{name}: {difference:?}");
    }
    // Contacts and scans are told with the next steps, in which nothing moves.
    for (name, key) in [("contacts", "c"), ("scans", "s")] {
        let without = picture("without", &mut browser);
        press_and_draw(&mut browser, key);
        let end = Instant::now() + TIMEOUT;
        loop {
            served.ctl(&["step", "50"]);
            let with = picture(name, &mut browser);
            let difference = browser.compare(&with, &without);
            if difference.mean > 0.005 {
                break;
            }
            assert!(Instant::now() < end, "{name}: {difference:?}");
        }
        press_and_draw(&mut browser, key);
    }
    assert_quiet(&mut browser);
}

/// Presses a key and waits until a frame is drawn after that.
fn press_and_draw(browser: &mut Browser, key: &str) {
    let frame = "Number(document.documentElement.dataset.frame)";
    let before = browser.value(frame);
    browser.press(key);
    browser.wait(&format!("{frame} > {before} + 1"));
}

/// A camera and one for distances before a red box.
const EYES: &str = "<sdf version='1.11'><world name='w'>
  <scene><background>0.2 0.4 0.8</background><ambient>0.8 0.8 0.8</ambient></scene>
  <model name='box'><static>true</static><pose>3 0 0.5 0 0 0.4</pose><link name='l'>
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>
    <visual name='v'><geometry><box><size>1 1 1</size></box></geometry><material>
      <ambient>0.9 0.1 0.1</ambient><diffuse>0.9 0.1 0.1</diffuse></material></visual>
  </link></model>
  <model name='eyes'><static>true</static><pose>0 0 0.6 0 0 0</pose><link name='l'>
    <sensor name='eye' type='camera'><topic>eye</topic><update_rate>10</update_rate>
      <camera><image><width>160</width><height>120</height></image></camera></sensor>
    <sensor name='far' type='depth_camera'><topic>far</topic><update_rate>10</update_rate>
      <camera><image><width>80</width><height>60</height></image></camera></sensor>
  </link></model></world></sdf>";

#[test]
fn images_come_compressed_and_distances_are_read_from_them() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let world = scratch.path("eyes.sdf");
    std::fs::write(&world, EYES).expect("a world");
    let served = Served::start(world.to_str().expect("a plain path"), "1");
    open(&mut browser, &served, "panel=sensors", (1100, 700));
    let row = |topic: &str| {
        format!(
            "[...document.querySelectorAll('.sensor')]\
             .find((row) => row.querySelector('[title=\"{topic}\"]'))"
        )
    };
    let topics = ["/eye/compressed", "/far/compressed"];
    for topic in topics {
        browser.wait(&format!("{} !== undefined", row(topic)));
        browser.value(&format!("{}.querySelector('input').click()", row(topic)));
    }
    // Those that are not compressed are not offered beside them.
    let images = "[...document.querySelectorAll('.sensor .kind')]\
        .filter((kind) => kind.textContent === 'image').length";
    browser.wait(&format!("{images} === 2"));
    let note = |topic: &str| format!("{}.querySelector('.number').textContent", row(topic));
    // One reading for all: a browser complains of several.
    let pixels = |topic: &str, [width, height]: [u32; 2], places: &[[u32; 2]]| {
        let canvas = format!("{}.querySelector('canvas')", row(topic));
        let data = format!("{canvas}.getContext('2d').getImageData(0, 0, {width}, {height}).data");
        let places = places.iter().map(|[x, y]| 4 * (y * width + x));
        let places: Vec<u32> = places.collect();
        format!("((data) => {places:?}.map((at) => [...data.slice(at, at + 3)]))({data})")
    };
    served.ctl(&["step", "300"]);
    browser.wait(&format!("{} === '160 × 120'", note(topics[0])));
    let far = note(topics[1]);
    browser.wait(&format!(
        "/^80 × 60, 2\\.\\d\\d to \\d+\\.\\d\\d m$/.test({far})"
    ));
    let numbers = |pixel: &Value| -> Vec<i64> {
        let parts = list(pixel).iter();
        parts.filter_map(Value::as_i64).collect()
    };
    let seen = browser.value(&pixels(topics[0], [160, 120], &[[80, 60]]));
    let color = numbers(&seen[0]);
    assert!(
        color[0] > color[1] + 60 && color[0] > color[2] + 60,
        "{color:?}"
    );
    // What is near is light, and the sky is dark.
    let seen = browser.value(&pixels(topics[1], [80, 60], &[[40, 30], [2, 2]]));
    let [near, sky] = [0, 1].map(|place| numbers(&seen[place])[0]);
    assert!(near > 100 && sky < 30, "{near} {sky}");
    assert_quiet(&mut browser);
}

/// Two worlds of the same names, in which a box falls.
const TWO_WORLDS: &str = r"<sdf version='1.11'>
  <world name='east'><model name='box'><pose>0 0 5 0 0 0</pose><link name='l'>
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision></link>
  </model></world>
  <world name='west'><gravity>0 0 -2</gravity><model name='box'><pose>0 0 9 0 0 0</pose>
    <link name='l'><collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>
    </collision></link></model></world>
</sdf>";

#[test]
fn each_of_several_worlds_is_shown_when_it_is_chosen() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let world = scratch.path("two.sdf");
    std::fs::write(&world, TWO_WORLDS).expect("a world is written");
    let served = Served::start(world.to_str().expect("a plain path"), "2");
    served.ctl(&["run-to", "1"]);
    open(&mut browser, &served, "panel=performers", (1100, 700));
    browser.wait("document.querySelector('#sim-time').dataset.value === '1'");
    let worlds = browser
        .value("[...document.querySelector('#world').options].map((option) => option.value)");
    assert_eq!(worlds, json!(["east", "west"]));
    assert_eq!(
        browser.value("document.querySelector('#world').hidden"),
        false
    );
    let performers = served.show("performers");
    for name in ["east", "west"] {
        browser.value(&format!(
            "void (() => {{ const world = document.querySelector('#world'); \
             world.value = '{name}'; world.dispatchEvent(new Event('change')); }})()"
        ));
        browser.wait(&format!(
            "document.documentElement.dataset.world === '{name}'"
        ));
        let performer = format!("{name}::box");
        browser.wait(&format!(
            "document.querySelector(\"tr[data-performer='{performer}']\") !== null"
        ));
        browser.click(&format!("tr[data-performer='{performer}'] button"));
        let mut all = list(&performers).iter();
        let found = all.find(|one| one["name"] == *performer);
        let z = found.expect("it is told")["position"][2].as_f64();
        let z = z.expect("a number");
        // What is shown comes from the poses, and stands still where the run says that it is.
        browser.wait(&format!(
            "Math.abs(Number(document.querySelector('[data-fact=position]').textContent\
             .split(/ +/)[2]) - {z}) < 0.0011"
        ));
    }
    assert_quiet(&mut browser);
}

#[test]
fn a_key_that_may_only_watch_controls_nothing_and_the_page_says_so() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let keys = scratch.path("keys");
    let folder = keys.to_str().expect("a plain path");
    let (code, _, said) =
        scratch.phalanx_says(&["keygen", "--out", folder, "eye", "--role", "observer"]);
    assert_eq!(code, 0, "{said}");
    std::fs::create_dir(keys.join("authorized")).expect("a folder");
    std::fs::copy(keys.join("eye.pub"), keys.join("authorized/eye.pub")).expect("a copy");
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "worlds/ramp.sdf",
        "--headless",
        "--name=r",
        "--paused",
    ]);
    command.args([
        "--secondaries=1",
        "--bind",
        "tcp://127.0.0.1:0",
        "--keys",
        folder,
    ]);
    let _run = scratch.start("run", &mut command);
    wait_for("the run is paused", || {
        let (_, text, _) = scratch.phalanx_says(&["show", "r", "stats"]);
        text.contains("paused")
    });
    let record = std::fs::read_to_string(scratch.path("r/run.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let endpoint = record["endpoint"].as_str().expect("an endpoint");
    let (key, server) = (keys.join("eye.key"), scratch.path("r/keys/primary.pub"));
    let arguments = [
        endpoint,
        "--bind",
        "127.0.0.1:0",
        "--key",
        key.to_str().expect("a plain path"),
        "--server-key",
        server.to_str().expect("a plain path"),
    ];
    let (_web, address) = serve_with(&scratch, &arguments);
    open_at(&mut browser, &address, "panel=run", (1100, 700));
    wait_for_iteration(&mut browser, 0);
    let is_hidden = "document.querySelector('#watch-only').hidden";
    assert_eq!(browser.value(is_hidden), true);
    browser.wait("!document.querySelector('#step').disabled");
    browser.click("#step");
    browser.wait(
        "document.querySelector('#toasts').textContent.includes('the role observer may not')",
    );
    browser.wait(&format!("!{is_hidden}"));
    browser.wait(
        "['play', 'step', 'pace', 'drive-button'].every((id) => \
         document.getElementById(id).disabled)",
    );
    assert_eq!(iteration(&mut browser), 0, "nothing was done");
    assert_quiet(&mut browser);
}

#[test]
fn a_phone_s_page_fits_in_light_and_dark_and_everything_has_a_name() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let served = Served::start("worlds/warehouse.sdf", "2");
    served.ctl(&["run-to", "0.5"]);
    let mut backgrounds = Vec::new();
    for theme in ["light", "dark"] {
        open(&mut browser, &served, "panel=none&colour=level", (360, 640));
        let features = json!({ "prefers-color-scheme": theme });
        browser.order(&json!({ "op": "prefer", "features": features }));
        browser.wait(&format!(
            "document.documentElement.dataset.theme === '{theme}'"
        ));
        browser.wait("!document.querySelector('#legend').hidden");
        let outside = browser.value(
            "[...document.querySelectorAll('body *')].filter((element) => \
             !element.closest('#labels, #panel, .sprite, .unseen, .skip, dialog') && \
             element.getClientRects().length > 0).filter((element) => { \
             const { left, right } = element.getBoundingClientRect(); \
             return left < -0.5 || right > innerWidth + 0.5; }).map((element) => \
             element.id || element.outerHTML.slice(0, 80))",
        );
        assert_eq!(outside, json!([]), "{theme}");
        backgrounds.push(
            browser.value("getComputedStyle(document.querySelector('#bar')).backgroundColor"),
        );
        assert_quiet(&mut browser);
    }
    assert_ne!(backgrounds[0], backgrounds[1]);

    open(&mut browser, &served, "panel=performers", (1100, 700));
    browser.wait("document.querySelector('tr[data-performer]') !== null");
    let names = browser.order(&json!({ "op": "names" }));
    let names: Vec<String> = serde_json::from_value(names).expect("a list of names");
    for expected in [
        "main World",
        "toolbar Camera",
        "button Play (Space)",
        "button Step (.)",
        "combobox Iterations per step",
        "spinbutton Simulated time to run to, in seconds",
        "combobox Pace: simulated over real time",
        "tab Performers",
        "tabpanel Performers",
        "button Light or dark (k)",
        "button robot_1",
        "rowheader robot_1",
    ] {
        let is_there = names.iter().any(|name| name.starts_with(expected));
        assert!(is_there, "{expected} is not among {names:#?}");
    }
}

#[test]
fn the_page_outlives_its_server_and_its_run() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let mut served = Served::start("worlds/ramp.sdf", "1");
    open(&mut browser, &served, "panel=run", (1100, 700));
    wait_for_iteration(&mut browser, 0);
    assert_quiet(&mut browser);

    let bind = served.address["http://".len()..]
        .trim_end_matches('/')
        .to_owned();
    served.web.signal("KILL");
    served.web.wait_status();
    browser.wait("document.documentElement.dataset.connection === 'waiting'");
    browser.wait("!document.querySelector('#veil').hidden");
    (served.web, _) = serve(&served.scratch, &bind);
    browser.wait("document.documentElement.dataset.connection === 'open'");
    browser.wait("document.querySelector('#veil').hidden");
    served.ctl(&["step", "5"]);
    wait_for_iteration(&mut browser, 5);

    tests::processes::kill_all(&served.scratch);
    // A primary that sees its launcher die before it is killed itself ends in order.
    browser.wait("['lost', 'ended'].includes(document.querySelector('#state').dataset.state)");
    browser.wait("!document.querySelector('#veil').hidden");
    run(&served.scratch, "worlds/ramp.sdf", "1");
    browser.wait("document.querySelector('#state').dataset.state === 'paused'");
    browser.wait("document.querySelector('#veil').hidden");
    wait_for_iteration(&mut browser, 0);
}

#[test]
fn modules_pass_their_own_tests_and_files_of_others_are_theirs() {
    let scratch = Scratch::new();
    let Some(browser) = Browser::start(&scratch) else {
        return;
    };
    drop(browser);
    let folder = repository::root().join("orchestrator/web/page/test");
    let node = Node::prepare("web-page-node", &folder, &scratch).expect("packages");
    let mut renew = node.command(&folder.join("renew_vendor.mjs"));
    says_yes(renew.arg("--check"));
    let mut types = node.command(&folder.join("check_types.mjs"));
    says_yes(&mut types);
    for kind in ["unit", "browser"] {
        let files = std::fs::read_dir(folder.join(kind)).expect("a folder of tests");
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        files.sort();
        let mut all = node.command(Path::new("--test"));
        says_yes(all.args(files));
    }
}

/// Runs a program to its end, which must be a good one.
fn says_yes(command: &mut Command) {
    let output = command.output().expect("node starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}:\n{stdout}\n{stderr}");
}
