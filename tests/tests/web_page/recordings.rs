//! Recordings, moved through by their time lines.

use recording::{Channel, Frame, Recording};
use tests::browser::Browser;
use tests::processes::Scratch;

use super::{
    EYES, PICTURE, assert_quiet, compare, iteration, open_at, serve_with, wait_for_iteration,
};

#[test]
fn a_recording_looks_as_its_run_did_and_is_moved_through_by_its_time_line() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let file = scratch.path("ramp.mcap");
    let mut command = scratch.phalanx();
    command.args(["run", "worlds/ramp.sdf", "--headless", "--secondaries=2"]);
    // At the pace of the clock it has several chunks.
    command.args(["--iterations=2000", "--real-time-factor=1", "--record"]);
    let ended = command.arg(&file).output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    let file = file.to_str().expect("a plain path");
    let (_web, address) = serve_with(&scratch, &[file, "--bind", "127.0.0.1:0"]);

    // The picture is that of the live run at the same time.
    let look = "colour=level&quality=low&bare=true&show=levels,buffers";
    open_at(&mut browser, &address, look, PICTURE);
    seek(&mut browser, 0.5);
    browser.wait_until_settled();
    let found = scratch.path("recorded.png");
    browser.picture("#stage", &found);
    assert_quiet(&mut browser);
    if std::env::var_os("UPDATE").is_none() {
        compare(&mut browser, "ramp", &found);
    }

    open_at(
        &mut browser,
        &address,
        "panel=performers&select=ball",
        (1100, 700),
    );
    browser.wait("!document.querySelector('#timeline').hidden");
    let text = |selector: &str| format!("document.querySelector('{selector}').textContent");
    browser.wait(&format!("{} === '2.00'", text("#timeline-end")));
    browser.wait("document.querySelector('#drive-button').disabled");
    for time in [1.0, 0.2, 1.5] {
        seek(&mut browser, time);
        browser.wait(&format!("{} === '{time:.2}'", text("#timeline-now")));
        let at = recorded_place(file, "ball", time);
        let parts = text("[data-fact=position]");
        browser.wait(&format!(
            "{parts}.split(/ +/).slice(0, 3).every((part, axis) => \
             Math.abs(Number(part) - {at:?}[axis]) < 0.0011)"
        ));
    }

    // Frames are stepped, played to the end, and there it stands still.
    let frame = iteration(&mut browser);
    browser.click("#step");
    browser.wait(&format!(
        "Number(document.querySelector('#iteration').dataset.value) > {frame}"
    ));
    browser.press("Space");
    browser.wait("document.querySelector('#sim-time').dataset.value === '2'");
    browser.wait("document.querySelector('#state').dataset.state === 'paused'");
    wait_for_iteration(&mut browser, 2000);
    assert_quiet(&mut browser);
}

/// Drags the time line of a recording to a time \[s\] and waits until it is there.
fn seek(browser: &mut Browser, time: f64) {
    // What is told of the recording comes behind what it can be asked for.
    browser.wait("document.querySelector('#sim-time').dataset.value !== undefined");
    browser.value(&format!(
        "void (() => {{ const range = document.querySelector('#timeline-range'); \
         range.value = '{time}'; range.dispatchEvent(new Event('input')); \
         range.dispatchEvent(new Event('change')); }})()"
    ));
    browser.wait(&format!(
        "Math.abs(Number(document.querySelector('#sim-time').dataset.value) - {time}) < 0.0005"
    ));
}

/// Returns where a performer is in the frame of a time \[s\] of a recording \[m\].
fn recorded_place(file: &str, name: &str, time: f64) -> [f64; 3] {
    let file = std::fs::File::open(file).expect("it is there");
    let mut recording = Recording::open(std::io::BufReader::new(file)).expect("it is one");
    let mut place = None;
    let mut take = |message: recording::Message| {
        if (message.sim_time.seconds() - time).abs() < 1e-6 {
            let frame: Frame = serde_json::from_slice(&message.data).expect("poses");
            let mut all = frame.transforms.into_iter();
            let one = all.find(|one| one.child_frame_id == name);
            place = one.map(|one| one.translation.into());
        }
        place.is_none()
    };
    recording
        .each(Channel::Poses, &mut take)
        .expect("it is read");
    place.expect("there is a frame of that time")
}

/// Hits of a scan that somebody tells, of a run of two seconds.
const LATE_SCAN: &str = r#"{"iteration": 1000, "topic": "/late", "type": "gz.msgs.LaserScan",
  "message": {"frame": "world", "angle_min": 0, "angle_max": 1, "angle_step": 0.5, "count": 3,
  "vertical_count": 1, "range_max": 9, "ranges": [1, 2, 3], "intensities": [0, 0, 0]}}"#;

#[test]
fn what_sensors_saw_is_shown_of_the_time_of_a_recording() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let (world, commands) = (scratch.path("eyes.sdf"), scratch.path("commands.jsonl"));
    std::fs::write(&world, EYES).expect("a world");
    let told = LATE_SCAN.replace('\n', "") + "\n";
    std::fs::write(&commands, told).expect("a file of commands");
    let file = scratch.path("eyes.mcap");
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--secondaries=1", "--iterations=2000"]);
    command.args(["--real-time-factor=0", "--record-images=png", "--commands"]);
    let all = command
        .arg(&commands)
        .arg("--record")
        .arg(&file)
        .arg(&world);
    let ended = all.output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    let file = file.to_str().expect("a plain path");
    let (_web, address) = serve_with(&scratch, &[file, "--bind", "127.0.0.1:0"]);
    open_at(&mut browser, &address, "panel=sensors", (1100, 700));
    let row = |topic: &str| {
        format!(
            "[...document.querySelectorAll('.sensor')]\
             .find((row) => row.querySelector('[title=\"{topic}\"]'))"
        )
    };
    let note = |topic: &str| format!("{}.querySelector('.number').textContent", row(topic));
    let [eye, far, late] = ["/eye/compressed", "/far/compressedDepth", "/foxglove/late"];
    for topic in [eye, far, late] {
        browser.wait(&format!("{} !== undefined", row(topic)));
        let hidden = format!("!{}.querySelector('input').checked", row(topic));
        browser.value(&format!(
            "{hidden} && {}.querySelector('input').click()",
            row(topic)
        ));
    }
    let images = "[...document.querySelectorAll('.sensor .kind')]\
        .filter((kind) => kind.textContent === 'image').length";
    browser.wait(&format!("{images} === 2"));
    // It stands still: what was seen last is shown, whichever way it is sought.
    for (time, told) in [(0.5, ""), (1.5, "3 points"), (0.2, ""), (1.2, "3 points")] {
        seek(&mut browser, time);
        browser.wait(&format!("{} === '160 × 120'", note(eye)));
        let far = note(far);
        browser.wait(&format!("/^80 × 60, 2\\.\\d\\d to /.test({far})"));
        browser.wait(&format!("{} === '{told}'", note(late)));
    }
    let canvas = format!("{}.querySelector('canvas')", row(eye));
    let middle = format!("[...{canvas}.getContext('2d').getImageData(80, 60, 1, 1).data]");
    let seen = browser.value(&middle);
    let part = |at: usize| seen[at].as_i64().expect("a colour");
    assert!(part(0) > part(1) + 60 && part(0) > part(2) + 60, "{seen}");
    // Who comes while it stands still sees it, too.
    open_at(&mut browser, &address, "panel=sensors", (1100, 700));
    browser.wait(&format!("{} !== undefined", row(late)));
    browser.wait(&format!("{} === '3 points'", note(late)));
    assert_quiet(&mut browser);
}
