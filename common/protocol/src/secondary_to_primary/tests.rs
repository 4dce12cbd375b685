//! Tests of messages of secondaries, and an ack for those of others.

use super::*;
use crate::SimTime;
use crate::state::PerformerState;

/// Returns an ack of which no list is empty.
pub(crate) fn full_ack() -> StepAck {
    let performer = PerformerId(7);
    let message = TopicMessage {
        topic: "/clock".to_owned(),
        kind: "gz.msgs.Clock".to_owned(),
        publisher: Publisher::Client,
        iteration: Iteration(2),
        sim_time: SimTime::default(),
        body: vec![1, 2],
    };
    StepAck {
        sequence: Sequence(3),
        iteration: Iteration(2),
        cells: vec![CellAck {
            cell: CellId(1),
            digest: Digest(5),
            physics_ns: 6,
            systems_ns: 0,
            sensors_ns: 0,
            state_count: 1,
        }],
        at_rest: [CellId(2)].into_iter().collect(),
        states: StateBlob::pack(&[PerformerState::at_rest(performer, [0.0; 3])]),
        poses: vec![LinkPoses::pack(performer, [[0.5; 7]])],
        transfers: vec![Transfer {
            performer,
            state: vec![3],
        }],
        snapshots: vec![CellSnapshot {
            sequence: Sequence(3),
            cell: CellId(1),
            bytes: vec![4],
        }],
        failures: vec![ActionFailure {
            number: 1,
            reason: "no such link".to_owned(),
        }],
        messages: vec![message.clone()],
        for_participants: vec![message],
        requests: vec![SystemRequest {
            publisher: Publisher::Client,
            command: Command::Pause,
        }],
        published: 2,
        busy_ns: 9,
        ahead: vec![StepAck::default()],
        looked_at_ghosts: true,
        goes_on: true,
    }
}

#[test]
fn acks_come_back_and_leave_out_what_is_empty() {
    for ack in [full_ack(), StepAck::default()] {
        let bytes = msgpack::to_vec_named(&ack).unwrap();
        let back: StepAck = msgpack::from_slice(&bytes).unwrap();
        assert_eq!(back, ack);
    }
    let lengths = [full_ack(), StepAck::default()].map(|ack| {
        let bytes = msgpack::to_vec_named(&ack).unwrap();
        // A map of up to 15 entries, or of more.
        match bytes[0] {
            0xde => u16::from_be_bytes([bytes[1], bytes[2]]),
            marker => u16::from(marker & 0x0f),
        }
    });
    assert_eq!(lengths, [17, 4], "numbers are always there");
}

#[test]
fn the_failure_of_a_job_travels_as_a_text() {
    let result: Result<(), CatchUpError> = Err("too hard".to_owned().into());
    let bytes = msgpack::to_vec_named(&result).unwrap();
    let text: Result<(), String> = msgpack::from_slice(&bytes).unwrap();
    assert_eq!(text, Err("too hard".to_owned()));
    assert_eq!(msgpack::to_vec_named(&text).unwrap(), bytes);
}
