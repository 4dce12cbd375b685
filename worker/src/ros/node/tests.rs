//! Tests of a node, to which another one in this process listens.

use cell_host::{ExportedStep, TopicUse};
use messages::sensor::Image;
use messages::{Double, Header, Message};
use protocol::{Iteration, Publisher, Sequence, SimTime, TopicMessage};
use ros2::types::sensor_msgs::CompressedImage;
use ros2::types::std_msgs::Float64;
use ros2_node::{Quality, Subscription, Topic};

use super::*;

/// Topic of images of which none may be lost, and of something small.
const IMAGES: &str = "/eye";
const NUMBERS: &str = "/number";
/// Number of steps with an image, whose compression takes several milliseconds each.
const STEPS: u64 = 12;
/// Number of times that they are done.
const ROUNDS: u64 = 5;
/// Time in which everything comes, with much to spare.
const TIMEOUT: Duration = Duration::from_mins(2);

struct Deaf;

impl OnArrival for Deaf {
    fn on_arrival(&self) {}
}

/// A node that listens.
struct Listener {
    numbers: Subscription,
    images: Subscription,
    _participant: Participant,
}

impl Listener {
    fn join(domain: u16) -> Self {
        let domain = Domain {
            id: domain,
            is_local: true,
        };
        let mut participant = Participant::join(&domain, "/listener", Arc::new(Deaf)).unwrap();
        let mut subscribe = |name: &str, type_name: &str| {
            let quality = Quality {
                is_reliable: true,
                is_kept: false,
                depth: 4096,
            };
            let topic = Topic {
                name,
                type_name,
                quality,
            };
            participant.subscribe_quietly(&topic).unwrap()
        };
        Self {
            numbers: subscribe(NUMBERS, "std_msgs/msg/Float64"),
            images: subscribe("/eye/compressed", "sensor_msgs/msg/CompressedImage"),
            _participant: participant,
        }
    }

    /// Notes the steps of numbers and of images that come, until that is enough.
    fn listen(&self, heard: &mut [Vec<u64>; 2], is_enough: impl Fn(&[Vec<u64>; 2]) -> bool) {
        let until = Instant::now() + TIMEOUT;
        while !is_enough(heard) {
            assert!(Instant::now() < until, "only {heard:?} came");
            while let Some(sample) = self.numbers.take() {
                let number: Float64 = ros2::from_cdr(&sample.cdr).unwrap();
                heard[0].push(number.data as u64);
            }
            while let Some(sample) = self.images.take() {
                let image: CompressedImage = ros2::from_cdr(&sample.cdr).unwrap();
                heard[1].push(image.header.stamp.sec as u64);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn start(domain: u16) -> RosNode {
    let settings = RosSettings {
        domain,
        localhost_only: true,
        rules: r#"{"topic":[{"topic":"/eye","qos":"reliable"}]}"#.to_owned(),
        jpeg_quality: 80,
        awaited: None,
    };
    let hearers = Hearers {
        messages: Box::new(|_| ()),
        readers: Box::new(|_| ()),
    };
    let node = RosNode::start(&settings, (SessionId(1), "s1"), hearers).unwrap();
    let told = |topic: &str, kind| TopicUse {
        topic: topic.to_owned(),
        kind,
        is_published: true,
        is_subscribed: false,
    };
    let uses = vec![told(IMAGES, Image::KIND), told(NUMBERS, Double::KIND)];
    node.tell(vec![RosNews::Topics(uses, Vec::new())]);
    node
}

/// Returns an image of 16 bits, which is compressed as PNG.
fn image(step: u64, size: [u32; 2]) -> Image {
    let [width, height] = size;
    // Without a pattern, so that it takes long.
    let numbers = (0..width * height).map(|number| number.wrapping_mul(2_654_435_761));
    Image {
        header: Header::at(step * 1_000_000_000),
        width,
        height,
        step: 2 * width,
        pixel_format_type: "L_INT16".to_owned(),
        data: numbers
            .flat_map(|number| ((number >> 16) as u16).to_le_bytes())
            .collect::<Vec<u8>>()
            .into(),
    }
}

fn step(number: u64, size: [u32; 2]) -> Vec<RosNews> {
    let message = |topic: &str, kind: &str, body| TopicMessage {
        topic: topic.to_owned(),
        kind: kind.to_owned(),
        publisher: Publisher::Client,
        iteration: Iteration(number),
        sim_time: SimTime(number * 1_000_000),
        body,
    };
    let number_of = Double {
        data: number as f64,
        ..Double::default()
    };
    vec![RosNews::Step(ExportedStep {
        sequence: Sequence(number),
        iteration: Iteration(number),
        messages: vec![
            message(IMAGES, Image::KIND, messages::encode(&image(number, size))),
            message(NUMBERS, Double::KIND, messages::encode(&number_of)),
        ],
        ..ExportedStep::default()
    })]
}

#[test]
fn small_topics_are_never_behind_images_which_all_come() {
    let domain = 1 + (std::process::id() % 100) as u16;
    let node = start(domain);
    let listener = Listener::join(domain);
    let mut heard = [Vec::new(), Vec::new()];
    let mut first = 0;
    let until = Instant::now() + TIMEOUT;
    // Until both know each other.
    while heard.iter().any(Vec::is_empty) {
        assert!(Instant::now() < until, "the listener is not found");
        first += 1;
        node.tell(step(first, [4, 4]));
        let wait = Instant::now() + Duration::from_millis(20);
        listener.listen(&mut heard, |_| Instant::now() > wait);
    }
    // A listener that stands still for a while hears an image before a number that came first.
    let (last, overtaken) = (1..=ROUNDS).fold((first, usize::MAX), |(before, least), _| {
        let images = images_before_the_last_number(&node, &listener, &mut heard, before);
        (before + STEPS, least.min(images))
    });
    assert!(
        overtaken < STEPS as usize / 2,
        "at best {overtaken} images came before the last number"
    );
    let steps: Vec<u64> = (first + 1..=last).collect();
    for mut heard in heard {
        heard.retain(|step| *step > first);
        assert_eq!(heard, steps);
    }
    drop(node);
}

/// Publishes a number and a large image in each of some steps, and listens until all have come;
/// returns the number of images that came before the last number.
fn images_before_the_last_number(
    node: &RosNode,
    listener: &Listener,
    heard: &mut [Vec<u64>; 2],
    before: u64,
) -> usize {
    let last = before + STEPS;
    let news: Vec<_> = (before + 1..=last)
        .map(|number| step(number, [1280, 720]))
        .collect();
    for one in news {
        node.tell(one);
    }
    listener.listen(heard, |[numbers, _]| numbers.last() == Some(&last));
    let images = heard[1].iter().filter(|step| **step > before).count();
    listener.listen(heard, |[_, images]| images.last() == Some(&last));
    images
}

#[test]
fn the_stepper_waits_while_too_many_bytes_of_news_do() {
    let room = Room::new();
    room.take(NEWS_BYTES_MAX + 1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| room.take(1));
        room.give_back(NEWS_BYTES_MAX + 1);
        waiting.join().unwrap();
    });
    assert_eq!(*room.taken(), Some(1));
}

#[test]
fn a_node_that_has_ended_holds_nobody_up() {
    let room = Arc::new(Room::new());
    room.take(NEWS_BYTES_MAX);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| room.take(1));
        drop(Closing(Arc::clone(&room)));
        waiting.join().unwrap();
    });
    room.take(NEWS_BYTES_MAX + 1);
}
