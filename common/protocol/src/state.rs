//! States of performers, packed: as one blob they cost a fiftieth of per-field MessagePack.
//!
//! Layout of one state, little-endian, [`STATE_BYTES`] bytes: `u32` performer, `u32` zero, then
//! `f64` position xyz \[m\], orientation xyzw, linear velocity xyz \[m/s\], angular velocity xyz
//! \[rad/s\] (13 numbers, world frame), `f32` least xyz and greatest xyz of the box that it may
//! reach in the next step \[m\], then the 128-bit digest of every link's state.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::PerformerId;

/// The size of one packed state \[bytes\].
pub const STATE_BYTES: usize = 8 + 13 * 8 + 6 * 4 + 16;

/// State of a performer after an iteration, as the primary knows it; all vectors in the world
/// frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerformerState {
    /// The performer.
    pub performer: PerformerId,
    /// Position of the model's origin \[m\].
    pub position: [f64; 3],
    /// Orientation of the model as a unit quaternion, x, y, z, w.
    pub orientation_xyzw: [f64; 4],
    /// Linear velocity of the canonical link \[m/s\].
    pub linear_velocity: [f64; 3],
    /// Angular velocity of the canonical link \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// The box that all of its collisions keep to during the next step: least corner, then
    /// greatest, rounded outwards \[m\]. Without collisions the least is above the greatest.
    pub reach: [[f32; 3]; 2],
    /// Fingerprint of the state bits of all of the performer's links.
    pub digest: Digest,
}

/// The reach of a performer without collisions, which touches nothing.
pub const NO_REACH: [[f32; 3]; 2] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

impl PerformerState {
    /// Returns the state of a performer that rests where its model was put.
    pub fn at_rest(performer: PerformerId, position: [f64; 3]) -> Self {
        Self {
            performer,
            position,
            orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
            linear_velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            reach: NO_REACH,
            digest: Digest::default(),
        }
    }

    /// Tells whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.numbers().iter().all(|number| number.is_finite())
    }

    /// Returns position, orientation, linear and angular velocity in this order.
    pub(crate) fn numbers(&self) -> [f64; 13] {
        let mut numbers = [0.0; 13];
        numbers[..3].copy_from_slice(&self.position);
        numbers[3..7].copy_from_slice(&self.orientation_xyzw);
        numbers[7..10].copy_from_slice(&self.linear_velocity);
        numbers[10..].copy_from_slice(&self.angular_velocity);
        numbers
    }

    fn pack(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.performer.0.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        for number in self.numbers() {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for coordinate in self.reach.as_flattened() {
            bytes.extend_from_slice(&coordinate.to_le_bytes());
        }
        bytes.extend_from_slice(&self.digest.0.to_le_bytes());
    }

    fn unpack(bytes: &[u8; STATE_BYTES]) -> Self {
        let number = |index: usize| f64::from_le_bytes(array(bytes, 8 + index * 8));
        let reach = |index: usize| f32::from_le_bytes(array(bytes, 8 + 13 * 8 + index * 4));
        Self {
            performer: PerformerId(u32::from_le_bytes(array(bytes, 0))),
            position: std::array::from_fn(number),
            orientation_xyzw: std::array::from_fn(|index| number(3 + index)),
            linear_velocity: std::array::from_fn(|index| number(7 + index)),
            angular_velocity: std::array::from_fn(|index| number(10 + index)),
            reach: [[0, 1, 2], [3, 4, 5]].map(|corner| corner.map(reach)),
            digest: Digest(u128::from_le_bytes(array(bytes, STATE_BYTES - 16))),
        }
    }
}

fn array<const N: usize>(bytes: &[u8; STATE_BYTES], start: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[start + index])
}

/// Packed states, as they travel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateBlob(serde_bytes::ByteBuf);

/// A blob whose length is no whole number of states.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0} bytes are no whole number of performer states of {STATE_BYTES} bytes")]
pub struct StateBlobError(pub usize);

impl StateBlob {
    /// Packs states in the order given.
    pub fn pack<'a>(states: impl IntoIterator<Item = &'a PerformerState>) -> Self {
        let mut blob = Self::default();
        for state in states {
            blob.push(state);
        }
        blob
    }

    /// Makes an empty blob with memory for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(serde_bytes::ByteBuf::from(Vec::with_capacity(bytes)))
    }

    /// Adds one state at the end.
    pub fn push(&mut self, state: &PerformerState) {
        state.pack(&mut self.0);
    }

    /// Adds the states of another blob at the end.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Fills `changed` with the states that are not here with the same bits, and returns how many
    /// they are. Both, this and `now`, are in order of performers.
    pub fn changed(&self, now: &Self, changed: &mut Self) -> usize {
        changed.clear();
        let mut known = self.0.as_chunks::<STATE_BYTES>().0.iter().peekable();
        let (mut count, id) = (0, |state: &[u8; STATE_BYTES]| {
            u32::from_le_bytes(array(state, 0))
        });
        for state in now.0.as_chunks::<STATE_BYTES>().0 {
            while known.next_if(|one| id(one) < id(state)).is_some() {}
            if known.next_if(|one| *one == state).is_none() {
                changed.0.extend_from_slice(state);
                count += 1;
            }
        }
        count
    }

    /// Puts a state in the place of another, and adds it to `changed` unless the bits are the same;
    /// tells whether it did.
    ///
    /// # Panics
    /// Panics if there is no such place.
    pub fn replace(&mut self, index: usize, state: &PerformerState, changed: &mut Self) -> bool {
        let begin = changed.0.len();
        changed.push(state);
        let now = &changed.0[begin..];
        let known = &mut self.0.as_chunks_mut::<STATE_BYTES>().0[index];
        let is_other = known != now;
        if is_other {
            known.copy_from_slice(now);
        } else {
            changed.0.truncate(begin);
        }
        is_other
    }

    /// Empties the blob and keeps its memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Tells whether no state is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of bytes.
    pub fn byte_count(&self) -> usize {
        self.0.len()
    }

    /// Returns the states.
    ///
    /// # Errors
    /// Fails if the blob's length is no whole number of states.
    pub fn states(&self) -> Result<impl Iterator<Item = PerformerState> + '_, StateBlobError> {
        let (states, rest) = self.0.as_chunks::<STATE_BYTES>();
        if rest.is_empty() {
            Ok(states.iter().map(PerformerState::unpack))
        } else {
            Err(StateBlobError(self.0.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(id: u32) -> PerformerState {
        PerformerState {
            performer: PerformerId(id),
            position: [1.0, -2.5, f64::MIN_POSITIVE],
            orientation_xyzw: [0.0, 0.0, 0.5_f64.sqrt(), 0.5_f64.sqrt()],
            linear_velocity: [-0.0, 1e300, 3.0],
            angular_velocity: [4.0, 5.0, 6.0],
            reach: [[-1.5, 0.0, f32::MIN], [7.0, -0.0, f32::INFINITY]],
            digest: Digest(7 << 100),
        }
    }

    #[test]
    fn new_and_different_states_are_changes() {
        let check = |known: &[PerformerState], now: &[PerformerState], expected: &[u32]| {
            let mut changed = StateBlob::pack([&state(99)]);
            let count = StateBlob::pack(known).changed(&StateBlob::pack(now), &mut changed);
            let ids = changed.states().unwrap().map(|state| state.performer.0);
            assert_eq!(ids.collect::<Vec<_>>(), expected);
            assert_eq!(count, expected.len());
        };
        let mut known = StateBlob::pack(&[state(1), state(2)]);
        let mut changed = StateBlob::pack(&[state(99)]);
        let mut moved = state(2);
        moved.position[1] += 1.0;
        assert!(!known.replace(0, &state(1), &mut changed));
        assert!(known.replace(1, &moved, &mut changed));
        assert_eq!(known, StateBlob::pack(&[state(1), moved]));
        assert_eq!(changed, StateBlob::pack(&[state(99), moved]));
        let mut zero = state(2);
        zero.linear_velocity[0] = 0.0;
        let mut nan = state(3);
        nan.position[1] = f64::NAN;
        check(&[], &[state(1), state(2)], &[1, 2]);
        check(&[state(1), state(2), nan], &[state(1), state(2), nan], &[]);
        check(
            &[state(1), state(2), state(3)],
            &[state(1), zero, state(3)],
            &[2],
        );
        check(
            &[state(1), state(4)],
            &[state(2), state(4), state(5)],
            &[2, 5],
        );
        check(&[state(1), state(2)], &[], &[]);
    }

    #[test]
    fn states_come_back_bit_for_bit() {
        let states = [state(1), state(u32::MAX)];
        let blob = StateBlob::pack(&states);
        assert_eq!(blob.byte_count(), 2 * STATE_BYTES);
        let bytes = msgpack::to_vec(&blob).unwrap();
        let back: StateBlob = msgpack::from_slice(&bytes).unwrap();
        let back: Vec<_> = back.states().unwrap().collect();
        assert_eq!(back, states);
        assert!(back[0].linear_velocity[0].is_sign_negative());
    }

    #[test]
    fn a_cut_blob_is_refused() {
        let mut blob = StateBlob::pack(&[state(1)]);
        blob.0.pop();
        assert_eq!(blob.states().err(), Some(StateBlobError(STATE_BYTES - 1)));
    }
}
