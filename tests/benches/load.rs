//! Measures how long worlds take from text to what a run holds: reading, and the bytes in which
//! worlds travel, for 1,000 and 10,000 robots, beside quick-xml walking the same text.
//!
//! Prints one JSON line. All are measured in turns in the same run, so that their ratios hold on a
//! machine that is shared. Run it with `cargo bench -p tests --bench load`.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use quick_xml::Reader;
use quick_xml::events::Event;
use sdf::World;
use serde_json::{Value, json};

const TURNS: usize = 5;
const FLEETS: [(u32, [u32; 2]); 2] = [(1_000, [10, 10]), (10_000, [32, 32])];

fn main() {
    let figures: Vec<Figures> = FLEETS
        .map(|(robots, levels)| measure(robots, levels))
        .into();
    let [small, large] = &figures[..] else {
        unreachable!("two fleets are measured")
    };
    let growth = large.per_model_us(large.read_s) / small.per_model_us(small.read_s);
    let fleets: Vec<Value> = figures.iter().map(Figures::report).collect();
    let line = json!({
        "bench": "load",
        "turns": TURNS,
        "read_per_model_10000_over_1000": growth,
        "fleets": fleets,
    });
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The least time of each way over all turns: the one that the machine disturbed least.
struct Figures {
    models: usize,
    text_bytes: usize,
    encoded_bytes: usize,
    walk_s: f64,
    read_s: f64,
    encode_s: f64,
    decode_s: f64,
}

impl Figures {
    fn per_model_us(&self, seconds: f64) -> f64 {
        seconds * 1e6 / self.models as f64
    }

    fn report(&self) -> Value {
        json!({
            "models": self.models,
            "text_bytes": self.text_bytes,
            "encoded_bytes": self.encoded_bytes,
            "walk_per_model_us": self.per_model_us(self.walk_s),
            "read_per_model_us": self.per_model_us(self.read_s),
            "encode_per_model_us": self.per_model_us(self.encode_s),
            "decode_per_model_us": self.per_model_us(self.decode_s),
            "read_megabytes_per_s": self.text_bytes as f64 / self.read_s / 1e6,
            "read_over_walk": self.read_s / self.walk_s,
        })
    }
}

fn measure(robots: u32, levels: [u32; 2]) -> Figures {
    let text = sdf::generate_fleet(robots, levels);
    let mut least = [f64::INFINITY; 4];
    let (mut models, mut encoded_bytes) = (0, 0);
    for _ in 0..TURNS {
        let begin = Instant::now();
        black_box(walk(&text));
        let walk_s = begin.elapsed().as_secs_f64();

        let begin = Instant::now();
        let worlds = read(&text);
        let read_s = begin.elapsed().as_secs_f64();

        let begin = Instant::now();
        let bytes = sdf::encode_worlds(&worlds);
        let encode_s = begin.elapsed().as_secs_f64();

        let begin = Instant::now();
        let decoded = sdf::decode_worlds(&bytes).expect("worlds come back");
        let decode_s = begin.elapsed().as_secs_f64();

        assert!(decoded == worlds, "worlds come back as they were");
        models = worlds[0].models.len();
        encoded_bytes = bytes.len();
        for (least, time) in least.iter_mut().zip([walk_s, read_s, encode_s, decode_s]) {
            *least = least.min(time);
        }
    }
    let [walk_s, read_s, encode_s, decode_s] = least;
    Figures {
        models,
        text_bytes: text.len(),
        encoded_bytes,
        walk_s,
        read_s,
        encode_s,
        decode_s,
    }
}

fn read(text: &str) -> Vec<World> {
    let read = sdf::read_worlds(text, "fleet.sdf", &sdf::NoFiles);
    read.expect("generated worlds are valid").worlds
}

/// Looks at every event and attribute, and keeps nothing: the least that any reader does.
fn walk(text: &str) -> usize {
    let mut reader = Reader::from_str(text);
    let mut seen = 0;
    loop {
        match reader
            .read_event()
            .expect("generated worlds are well-formed")
        {
            Event::Eof => return seen,
            Event::Start(tag) | Event::Empty(tag) => seen += 1 + tag.attributes().count(),
            _ => seen += 1,
        }
    }
}
