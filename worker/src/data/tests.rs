//! Tests batches that come early, late, twice, damaged or never.

use protocol::{Iteration, Publisher, SimTime};

use super::*;

fn message(part: u32, body: &[u8]) -> TopicMessage {
    TopicMessage {
        topic: "/t".to_owned(),
        kind: "k".to_owned(),
        publisher: Publisher::World { world: 0, part },
        iteration: Iteration(1),
        sim_time: SimTime(0),
        body: body.to_vec(),
    }
}

fn peer(name: &str) -> PeerName {
    name.parse().unwrap()
}

fn batch(sequence: u64, messages: Vec<TopicMessage>) -> DataBatch {
    DataBatch {
        sequence: Sequence(sequence),
        batch_number: 1,
        iteration: Iteration(1),
        instead_of: None,
        messages,
    }
}

fn step(sequence: u64, announced: &[(&str, u32)]) -> StepData {
    let announced = announced.iter().map(|(name, count)| (peer(name), *count));
    StepData {
        sequence: Sequence(sequence),
        batch_number: 1,
        announced: announced.collect(),
        said_by_clients: Vec::new(),
    }
}

/// Takes a batch of a step that is published.
fn take(collector: &mut Collector, from: &str, batch: DataBatch) -> Result<(), Refused> {
    collector.take(&peer(from), batch, Sequence(9))
}

fn lost(sequence: u64, from: &[&str]) -> Progress {
    Progress::Lost {
        sequence: Sequence(sequence),
        from: from.iter().map(|name| peer(name)).collect(),
    }
}

#[test]
fn a_step_waits_for_all_and_is_in_order_of_publishers() {
    let (mut collector, now) = (Collector::new(false), Instant::now());
    let from_second = vec![message(1, b"b"), message(3, b"d")];
    take(&mut collector, "s2", batch(1, from_second.clone())).unwrap();
    let mut announced = step(1, &[("s1", 3), ("s2", 2)]);
    announced.said_by_clients.push(TopicMessage {
        publisher: Publisher::Client,
        ..message(0, b"client")
    });
    collector.announce(announced, now);
    assert_eq!(collector.next(now), Progress::Waiting);
    let from_first = vec![message(0, b"a"), message(2, b"c1")];
    take(&mut collector, "s1", batch(1, from_first)).unwrap();
    assert_eq!(collector.next(now), Progress::Waiting);
    take(&mut collector, "s1", batch(1, vec![message(2, b"c2")])).unwrap();
    let Progress::Complete(messages) = collector.next(now) else {
        panic!("all of it is there");
    };
    let bodies: Vec<&[u8]> = messages.iter().map(|it| it.body.as_slice()).collect();
    assert_eq!(bodies, [&b"client"[..], b"a", b"b", b"c1", b"c2", b"d"]);
    assert_eq!((collector.bytes(), collector.is_idle()), (0, true));
}

#[test]
fn a_batch_of_a_step_that_is_over_or_yet_to_come_is_refused() {
    let (mut collector, now) = (Collector::new(false), Instant::now());
    collector.announce(step(2, &[]), now);
    assert_eq!(collector.next(now), Progress::Complete(Vec::new()));
    for sequence in [1, 2, 10] {
        let refused = Err(Refused::NotUnderWay(Sequence(sequence)));
        let late = batch(sequence, vec![message(0, b"x")]);
        assert_eq!(take(&mut collector, "s1", late), refused);
    }
    assert_eq!(collector.bytes(), 0);
}

#[test]
fn a_step_whose_messages_never_come_is_lost_after_a_while() {
    let begin = Instant::now();
    for (lossless, timeout) in [(false, TIMEOUT), (true, TIMEOUT_LOSSLESS)] {
        let mut collector = Collector::new(lossless);
        collector.announce(step(1, &[("s1", 1), ("s2", 1)]), begin);
        collector.announce(step(2, &[("s1", 1)]), begin);
        take(&mut collector, "s1", batch(1, vec![message(0, b"x")])).unwrap();
        take(&mut collector, "s1", batch(2, vec![message(0, b"y")])).unwrap();
        assert_eq!(collector.next(begin), Progress::Waiting);
        assert_eq!(collector.deadline(), Some(begin + timeout));
        let early = begin + timeout / 2;
        assert_eq!(collector.next(early), Progress::Waiting);
        assert_eq!(collector.next(begin + timeout), lost(1, &["s2"]));
        let complete = Progress::Complete(vec![message(0, b"y")]);
        assert_eq!(collector.next(begin + timeout), complete);
    }
}

#[test]
fn nothing_is_given_up_that_must_not_be_lost_while_the_way_takes_what_comes_before() {
    let begin = Instant::now();
    let steps = 5;
    for lossless in [false, true] {
        let mut collector = Collector::new(lossless);
        for sequence in 1..=steps {
            collector.announce(step(sequence, &[("s1", 1)]), begin);
        }
        let mut found = Vec::new();
        for sequence in 1..=steps {
            let now = begin + TIMEOUT_LOSSLESS / 2 * sequence as u32;
            let came = take(
                &mut collector,
                "s1",
                batch(sequence, vec![message(0, b"x")]),
            );
            assert_eq!(came.is_ok(), lossless || sequence == 1);
            loop {
                match collector.next(now) {
                    Progress::Waiting => break,
                    progress => found.push(matches!(progress, Progress::Complete(_))),
                }
            }
        }
        let all = usize::try_from(steps).unwrap();
        assert_eq!(found.iter().filter(|done| **done).count() == all, lossless);
    }
}

#[test]
fn more_messages_than_announced_are_no_step() {
    let (mut collector, now) = (Collector::new(true), Instant::now());
    let twice = vec![message(0, b"x"), message(0, b"x")];
    take(&mut collector, "s1", batch(1, twice)).unwrap();
    collector.announce(step(1, &[("s1", 1)]), now);
    assert_eq!(collector.next(now), lost(1, &["s1"]));
}

#[test]
fn unannounced_batches_are_dropped_with_the_next_step() {
    let (mut collector, now) = (Collector::new(true), Instant::now());
    take(&mut collector, "s1", batch(1, vec![message(0, b"x")])).unwrap();
    take(&mut collector, "stranger", batch(2, vec![message(0, b"x")])).unwrap();
    collector.announce(step(2, &[]), now);
    assert_eq!(collector.next(now), Progress::Complete(Vec::new()));
    assert_eq!(collector.bytes(), 0);
}

#[test]
fn the_oldest_step_is_lost_when_too_much_waits_unless_nothing_may_be() {
    let now = Instant::now();
    let large = vec![0; BYTES_MAX / 2];
    for lossless in [false, true] {
        let mut collector = Collector::new(lossless);
        for sequence in 1..=2 {
            let messages = vec![message(0, &large)];
            take(&mut collector, "s1", batch(sequence, messages)).unwrap();
            collector.announce(step(sequence, &[("s1", 1)]), now);
            collector.note_done(Sequence(sequence));
        }
        let first = collector.next(now);
        assert_eq!(matches!(first, Progress::Lost { .. }), !lossless);
        assert!(matches!(collector.next(now), Progress::Complete(_)));
        assert_eq!(collector.bytes(), 0);
    }
}

#[test]
fn unexpected_batches_of_a_finished_step_are_dropped_and_then_refused() {
    let (mut collector, now) = (Collector::new(true), Instant::now());
    let large = || vec![message(0, &[0; 1000])];
    for name in ["s1", "stand-by"] {
        take(&mut collector, name, batch(1, large())).unwrap();
        take_again(&mut collector, name, "s3", large());
    }
    collector.announce(step(1, &[("s1", 2)]), now);
    collector.note_done(Sequence(3));
    let own = room(&large());
    assert_eq!(collector.bytes(), own);
    // The run stands still: no step is announced any more.
    for (sequence, name) in [(1, "stand-by"), (2, "s1"), (3, "stand-by")] {
        let refused = Err(Refused::NotAwaited(Sequence(sequence)));
        assert_eq!(
            take(&mut collector, name, batch(sequence, large())),
            refused
        );
    }
    assert_eq!(collector.bytes(), own);
    take(&mut collector, "s1", batch(1, large())).unwrap();
    assert!(matches!(collector.next(now), Progress::Complete(all) if all.len() == 2));
    assert_eq!(collector.bytes(), 0);
}

#[test]
fn a_step_under_way_takes_bounded_room_also_when_nothing_may_be_lost() {
    let mut collector = Collector::new(true);
    let large = vec![0; BYTES_MAX / 3];
    for kept in [true, true, false, false] {
        let taken = take(&mut collector, "s1", batch(1, vec![message(0, &large)]));
        assert_eq!(taken.is_ok(), kept);
    }
    assert!(collector.bytes() < BYTES_MAX);
    collector.note_done(Sequence(1));
    assert_eq!(collector.bytes(), 0);
}

#[test]
fn a_batch_counts_with_its_own_overhead_and_without_messages_takes_no_room() {
    let mut collector = Collector::new(true);
    for batch_number in 0..1000 {
        let empty = DataBatch {
            batch_number,
            ..batch(1, Vec::new())
        };
        take(&mut collector, "s1", empty).unwrap();
    }
    assert_eq!((collector.bytes(), collector.batches.len()), (0, 0));
    let one = message(0, b"");
    take(&mut collector, "s1", batch(1, vec![one.clone()])).unwrap();
    assert_eq!(collector.bytes(), BATCH_BYTES + size(&one));
}

#[test]
fn a_large_batch_travels_in_parts_that_hold_all_of_it() {
    let body = vec![1; PART_BYTES_MAX / 2];
    let messages: Vec<_> = (0..5).map(|part| message(part, &body)).collect();
    let parts = parts(batch(3, messages.clone()));
    assert_eq!(parts.len(), 5);
    let again: Vec<_> = parts.into_iter().flat_map(|it| it.messages).collect();
    assert_eq!(again, messages);
}

/// Takes what somebody says in the place of a lost secondary.
fn take_again(collector: &mut Collector, from: &str, lost: &str, messages: Vec<TopicMessage>) {
    let batch = DataBatch {
        instead_of: Some(peer(lost)),
        ..batch(1, messages)
    };
    take(collector, from, batch).unwrap();
}

#[test]
fn the_batches_of_a_lost_secondary_come_from_its_replacements() {
    let (mut collector, now) = (Collector::new(false), Instant::now());
    let said = |part| message(part, b"said");
    take(&mut collector, "s1", batch(1, vec![said(1)])).unwrap();
    collector.announce(step(1, &[("s1", 3), ("s2", 1)]), now);
    take(&mut collector, "s2", batch(1, vec![said(2)])).unwrap();
    assert_eq!(collector.next(now), Progress::Waiting);
    take_again(&mut collector, "s2", "s1", vec![said(1), said(4)]);
    // Who did it again is lost, too, and somebody else says the same and the rest.
    take_again(&mut collector, "s3", "s1", vec![said(1), said(3)]);
    let all = vec![said(1), said(2), said(3), said(4)];
    assert_eq!(collector.next(now), Progress::Complete(all));
    assert_eq!(collector.bytes(), 0);
}

#[test]
fn a_republished_batch_is_delivered_once() {
    let (mut collector, now) = (Collector::new(false), Instant::now());
    let said = vec![message(1, b"a"), message(1, b"b")];
    take_again(&mut collector, "s2", "s1", said.clone());
    take(&mut collector, "s1", batch(1, said.clone())).unwrap();
    collector.announce(step(1, &[("s1", 2)]), now);
    assert_eq!(collector.next(now), Progress::Complete(said));
    assert_eq!(
        (collector.bytes(), collector.over()),
        (0, Some(Sequence(1)))
    );
}

#[test]
fn nothing_is_given_up_while_steps_are_done_again() {
    let (mut collector, now) = (Collector::new(true), Instant::now());
    collector.announce(step(1, &[("s1", 1)]), now);
    let late = now + 2 * TIMEOUT_LOSSLESS;
    collector.set_recovering(true, late);
    assert_eq!(collector.next(late), Progress::Waiting);
    assert_eq!(collector.deadline(), None);
    collector.set_recovering(false, late);
    assert_eq!(collector.next(late), Progress::Waiting);
    let end = late + TIMEOUT_LOSSLESS;
    assert_eq!(collector.deadline(), Some(end));
    assert_eq!(collector.next(end), lost(1, &["s1"]));
}
