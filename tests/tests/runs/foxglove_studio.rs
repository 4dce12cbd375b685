//! Shows that Foxglove Studio itself, in the last release that its makers published to be built
//! upon, draws what `phalanx web` tells: it is run in a real Chromium that reaches no network, with
//! the layout that the server offers. Without Chromium or npm, this says so and shows nothing.

use std::path::Path;
use std::time::Instant;

use tests::browser::Browser;
use tests::node::Node;
use tests::processes::{Scratch, TIMEOUT, wait_for};
use tests::repository;

/// Size of the window \[px\].
const WINDOW: (u32, u32) = (1200, 800);
/// The part of the window that the wall takes at least.
const RED_MIN: f64 = 0.005;
/// The part of a panel with an image that the wall takes, and what is beside it.
const WALL_MIN: f64 = 0.1;
const SKY_MIN: f64 = 0.02;

/// The panel with the image of the camera.
const IMAGE: &str = "[data-testid~='ImageViewPanel!phalanx']";

/// A red wall before a camera and a lidar.
const WALL: &str = "<sdf version='1.11'><world name='w'>
  <scene><ambient>1 1 1</ambient><background>0.2 0.4 0.9</background></scene>
  <model name='wall'><static>true</static><pose>3 0 0 0 0 0</pose><link name='l'>
    <collision name='c'><geometry><box><size>1 2 2</size></box></geometry></collision>
    <visual name='v'><geometry><box><size>1 2 2</size></box></geometry><material>
      <ambient>1 0 0</ambient><diffuse>1 0 0</diffuse></material></visual></link></model>
  <model name='mast'><static>true</static><link name='l'>
    <sensor name='eye' type='camera'><topic>mast/image</topic><update_rate>10</update_rate>
      <camera><image><width>64</width><height>48</height></image></camera></sensor>
    <sensor name='around' type='gpu_lidar'><topic>scan</topic><update_rate>10</update_rate>
      <lidar><scan><horizontal><samples>90</samples><min_angle>-0.3</min_angle>
      <max_angle>0.3</max_angle></horizontal></scan><range><min>0.1</min><max>20</max></range>
      </lidar></sensor></link></model>
</world></sdf>";

#[test]
fn foxglove_studio_draws_a_run_and_knows_its_services() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let folder = repository::root().join("tests/tests/runs/foxglove_studio");
    let node = match Node::prepare("foxglove-studio-node", &folder, &scratch) {
        Ok(node) => node,
        Err(reason) => {
            eprintln!("nothing is shown without Foxglove Studio: {reason}");
            return;
        }
    };
    let mut command = node.command(&folder.join("host.mjs"));
    let host = scratch.start("host", &mut command);
    wait_for("the page", || host.stdout().ends_with('\n'));
    let page = host.stdout().trim().to_owned();

    let world = scratch.path("wall.sdf");
    std::fs::write(&world, WALL).expect("a world");
    let world = world.to_str().expect("a plain path");
    let started = scratch.phalanx_says(&["run", world, "--detach", "--name", "r"]);
    assert_eq!(started.0, 0, "{}", started.2);
    let mut command = scratch.phalanx();
    command.args(["web", "r", "--bind", "127.0.0.1:0", "--allow-origin", &page]);
    let web = scratch.start("web", &mut command);
    wait_for("an address", || web.stdout().ends_with('\n'));
    let address = web.stdout().trim().trim_end_matches('/').to_owned();
    let server = address.strip_prefix("http://").expect("an address");

    browser.open(&format!("{page}/?server={server}"), WINDOW);
    browser.wait("document.title.includes('r')");
    // The panel Run tells figures of the run as they change.
    browser.wait("document.body.innerText.includes('iteration')");
    wait_until_seen(&mut browser, &scratch, "body", [RED_MIN, 0.0]);
    browser.click("[data-testid=toolbar-tab][title=Camera]");
    wait_until_seen(&mut browser, &scratch, IMAGE, [WALL_MIN, SKY_MIN]);
    browser.click("[data-testid=toolbar-tab][title=Log]");
    browser.wait("/peer/.test(document.body.innerText)");
    // Nothing failed: a service that cannot be read ends the list of all.
    let problems = browser.problems();
    let errors: Vec<&String> = problems.iter().filter(|one| is_error(one)).collect();
    assert!(errors.is_empty(), "{errors:#?}");

    // The same as it is, without compression.
    let address = format!("{page}/?server={server}&image=/foxglove/mast/image");
    browser.open(&address, WINDOW);
    browser.wait("document.body.innerText.includes('iteration')");
    browser.click("[data-testid=toolbar-tab][title=Camera]");
    wait_until_seen(&mut browser, &scratch, IMAGE, [WALL_MIN, SKY_MIN]);
    let problems = browser.problems();
    let errors: Vec<&String> = problems.iter().filter(|one| is_error(one)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Waits until an element shows so much of the wall, and of the sky.
fn wait_until_seen(browser: &mut Browser, scratch: &Scratch, selector: &str, least: [f64; 2]) {
    browser.wait(&format!("document.querySelector(\"{selector}\") !== null"));
    let seen = scratch.path("seen.png");
    let end = Instant::now() + TIMEOUT;
    loop {
        browser.picture(selector, &seen);
        let shares = shares(&seen);
        if shares[0] > least[0] && shares[1] >= least[1] {
            return;
        }
        if Instant::now() > end {
            let stays = std::env::temp_dir().join("phalanx-studio.png");
            std::fs::copy(&seen, &stays).expect("the picture stays");
            panic!(
                "{shares:?} of {selector} are red and blue; see {}",
                stays.display()
            );
        }
    }
}

/// Tells whether a page has failed, or asked for something of another machine; Studio warns of much
/// more.
fn is_error(problem: &str) -> bool {
    problem.starts_with("asked for") || problem.contains("Error: ")
}

/// Returns the parts of the pixels that are red as the wall, and blue as the sky.
fn shares(picture: &Path) -> [f64; 2] {
    let file = std::fs::File::open(picture).expect("a picture");
    let decoder = png::Decoder::new(std::io::BufReader::new(file));
    let mut reader = decoder.read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it fits into memory")];
    let info = reader.next_frame(&mut pixels).expect("it is whole");
    let pixels = pixels.chunks_exact(info.color_type.samples());
    let (mut red, mut blue, mut all) = (0_u32, 0_u32, 0_u32);
    for pixel in pixels {
        all += 1;
        red += u32::from(pixel[0] > 120 && pixel[1].max(pixel[2]) < pixel[0] / 3);
        blue += u32::from(pixel[2] > 180 && pixel[0] < pixel[2] / 2 && pixel[1] < 160);
    }
    [red, blue].map(|count| f64::from(count) / f64::from(all.max(1)))
}
