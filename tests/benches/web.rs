//! Measures what five clients of `phalanx web` that watch a run cost its steps: each listens to
//! poses, to the run and to a topic.
//!
//! Prints one JSON line: the median step without and with them, in turns within the same run, their
//! ratio, messages per second of a client, and the processor time of the server, 1.0 being a core.
//! The cost of a thousand performers to the page is that of `npm run cost` in
//! `orchestrator/web/page/test`; `null` where there is no Chromium or Node.
//! Run it with `cargo bench -p tests --bench web`, after `cargo build --release --workspace`.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::node::Node;
use tests::processes::{Process, Scratch, wait_for};
use tests::repository;

/// Number of clients.
const CLIENTS: usize = 5;
/// Number of times that the run is measured without and with them.
const TURNS: usize = 5;
/// Time that one measurement takes; the figures of a run are those of its last second.
const MEASURED: Duration = Duration::from_secs(4);
/// Number of times that the run is asked within it.
const SAMPLES: u32 = 4;
/// Ticks of the kernel's clock per second, as in `/proc/PID/stat`.
const TICKS_PER_S: f64 = 100.0;
/// The topics that each client listens to.
const TOPICS: [&str; 3] = ["/phalanx/poses", "/phalanx/run", "/model/rover/odometry"];

fn main() {
    let scratch = Scratch::new();
    let _run = start_run(&scratch);
    let server = start_server(&scratch);
    let told = server.stdout();
    let address = told
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/');
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    let (mut rates, mut cpu) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        alone.extend(samples(&scratch));
        let clients: Vec<Client> = (0..CLIENTS).map(|_| Client::start(address)).collect();
        let before = (cpu_time_s(server.pid()), Instant::now(), clients[0].heard());
        watched.extend(samples(&scratch));
        let elapsed = before.1.elapsed().as_secs_f64();
        cpu.push((cpu_time_s(server.pid()) - before.0) / elapsed);
        rates.push((clients[0].heard() - before.2) as f64 / elapsed);
    }
    let (alone, watched) = (median(alone), median(watched));
    let line = json!({
        "bench": "web",
        "clients": CLIENTS,
        "step_us_alone": alone,
        "step_us_watched": watched,
        "step_watched_over_alone": watched / alone,
        "messages_per_s": median(rates),
        "server_cpu": median(cpu),
        "page": page(&scratch),
    });
    let _ = writeln!(io::stdout(), "{line}");
}

/// Returns the figures of the page; nothing where they cannot be measured, which is said.
fn page(scratch: &Scratch) -> Option<Vec<Value>> {
    let folder = repository::root().join("orchestrator/web/page/test");
    let measured = Node::prepare("web-page-node", &folder, scratch).and_then(|node| {
        let output = node.command(&folder.join("cost.mjs")).output();
        let output = output.map_err(|error| format!("node: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().map(serde_json::from_str);
        lines
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())
    });
    measured
        .inspect_err(|reason| eprintln!("the page is not measured: {reason}"))
        .ok()
}

fn start_run(scratch: &Scratch) -> Process {
    let mut command = scratch.phalanx();
    command.args(["run", "--name", "r", "--headless", "--secondaries=2"]);
    let run = scratch.start("run", command.args(["--real-time-factor", "1"]));
    wait_for("the run goes on", || {
        stats(scratch).is_some_and(|stats| stats["iteration"].as_u64() > Some(1000))
    });
    run
}

fn start_server(scratch: &Scratch) -> Process {
    let mut command = scratch.phalanx();
    let server = scratch.start("web", command.args(["web", "r", "--bind", "127.0.0.1:0"]));
    wait_for("an address", || server.stdout().ends_with('\n'));
    server
}

/// A client that reads all that it is told; gone when dropped.
struct Client {
    stream: TcpStream,
    messages: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Client {
    fn start(address: &str) -> Self {
        let mut stream = TcpStream::connect(address).expect("it listens");
        let request = format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
             Sec-WebSocket-Protocol: foxglove.sdk.v1, phalanx.all-channels\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        read_head(&mut reader);
        let ids = channels(&mut reader);
        let each = ids.iter().zip(1..);
        let subscriptions: Vec<Value> = each
            .map(|(channel, id)| json!({ "id": id, "channelId": channel }))
            .collect();
        let text = json!({ "op": "subscribe", "subscriptions": subscriptions }).to_string();
        stream
            .write_all(&masked(text.as_bytes()))
            .expect("it reads");
        let messages = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&messages);
        let thread = std::thread::spawn(move || {
            while let Some((kind, content)) = read_frame(&mut reader) {
                if kind == BINARY && content.first() == Some(&1) {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Self {
            stream,
            messages,
            thread: Some(thread),
        }
    }

    fn heard(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// First byte of a frame with a whole text, and of one with a whole binary message.
const TEXT: u8 = 0x81;
/// See [`TEXT`].
const BINARY: u8 = 0x82;

fn read_head(reader: &mut impl Read) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        reader.read_exact(&mut byte).expect("a whole head");
        head.push(byte[0]);
    }
    assert!(
        head.starts_with(b"HTTP/1.1 101"),
        "{}",
        String::from_utf8_lossy(&head)
    );
}

/// Waits until all topics are offered, and returns their channels.
fn channels(reader: &mut impl Read) -> Vec<u64> {
    let mut found = vec![None; TOPICS.len()];
    while found.contains(&None) {
        let (kind, content) = read_frame(reader).expect("it goes on");
        if kind != TEXT {
            continue;
        }
        let text: Value = serde_json::from_slice(&content).expect("texts are JSON");
        for channel in text["channels"].as_array().into_iter().flatten() {
            let place = TOPICS.iter().position(|topic| channel["topic"] == **topic);
            if let Some(place) = place {
                found[place] = channel["id"].as_u64();
            }
        }
    }
    found.into_iter().flatten().collect()
}

/// Reads a frame of a server; `None` at the end.
fn read_frame(reader: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    reader.read_exact(&mut head).ok()?;
    let length = match head[1] {
        126 => {
            let mut bytes = [0; 2];
            reader.read_exact(&mut bytes).ok()?;
            u64::from(u16::from_be_bytes(bytes))
        }
        127 => {
            let mut bytes = [0; 8];
            reader.read_exact(&mut bytes).ok()?;
            u64::from_be_bytes(bytes)
        }
        short => u64::from(short),
    };
    let mut content = vec![0; usize::try_from(length).ok()?];
    reader.read_exact(&mut content).ok()?;
    Some((head[0], content))
}

/// Returns a text as clients send it, with a mask that changes nothing.
fn masked(text: &[u8]) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("a short text");
    let mut frame = vec![TEXT, 0x80 | 0x7e];
    frame.extend(length.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(text);
    frame
}

/// Asks the run several times for its median step \[us\]; the first second, in which clients come,
/// does not count.
fn samples(scratch: &Scratch) -> Vec<f64> {
    std::thread::sleep(Duration::from_secs(1));
    let sample = |_| {
        std::thread::sleep(MEASURED / SAMPLES);
        let stats = stats(scratch).expect("the run answers");
        stats["recent_step_us"]["p50"].as_f64().expect("a number")
    };
    (0..SAMPLES).map(sample).collect()
}

fn stats(scratch: &Scratch) -> Option<Value> {
    let mut command = scratch.phalanx();
    let output = command
        .args(["show", "r", "stats", "--format", "json"])
        .output();
    serde_json::from_slice(&output.expect("phalanx starts").stdout).ok()
}

/// Returns the processor time that a process has used \[s\].
fn cpu_time_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // By proc(5), user and system time are fields 14 and 15; the first here is 3.
    let ticks = |field: usize| fields[field - 3].parse::<f64>().expect("a number");
    (ticks(14) + ticks(15)) / TICKS_PER_S
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
