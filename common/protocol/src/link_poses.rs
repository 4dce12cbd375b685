//! Poses of a performer's links, packed: source for drawing and sensing its ghosts.
//!
//! Layout of one pose, little-endian, [`POSE_BYTES`] bytes: `f64` position xyz \[m\] and
//! orientation xyzw of the link, world frame.

use serde::{Deserialize, Serialize};

use crate::id::PerformerId;

/// The size of one packed pose \[bytes\].
pub const POSE_BYTES: usize = 7 * 8;

/// Poses of the links of a performer, in the order of its model's links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkPoses {
    /// The performer.
    pub performer: PerformerId,
    poses: serde_bytes::ByteBuf,
}

/// Position xyz \[m\] and orientation xyzw of a link, world frame.
pub type LinkPose = [f64; 7];

impl LinkPoses {
    /// Packs the poses of a performer's links.
    pub fn pack(performer: PerformerId, poses: impl IntoIterator<Item = LinkPose>) -> Self {
        let mut bytes = Vec::new();
        for number in poses.into_iter().flatten() {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        Self {
            performer,
            poses: bytes.into(),
        }
    }

    /// Returns the poses; bytes after the last whole one are left out.
    pub fn poses(&self) -> impl ExactSizeIterator<Item = LinkPose> + '_ {
        let (poses, _) = self.poses.as_chunks::<POSE_BYTES>();
        poses.iter().map(|bytes| {
            let (numbers, _) = bytes.as_chunks::<8>();
            std::array::from_fn(|index| f64::from_le_bytes(numbers[index]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_come_back_bit_for_bit() {
        let poses = [
            [1.0, -0.0, 3.5, 0.0, 0.0, 0.0, 1.0],
            [0.1, 0.2, f64::MIN_POSITIVE, 0.5, 0.5, -0.5, 0.5],
        ];
        let packed = LinkPoses::pack(PerformerId(7), poses);
        let bytes = msgpack::to_vec(&packed).unwrap();
        let back: LinkPoses = msgpack::from_slice(&bytes).unwrap();
        assert_eq!(back.performer, PerformerId(7));
        let bits = |poses: Vec<LinkPose>| {
            poses
                .concat()
                .iter()
                .map(|n| n.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(back.poses().collect()), bits(poses.to_vec()));
    }
}
