//! Shapes of meshes and heightmaps that all cells of a process share.
//!
//! A static mesh is part of every cell that it reaches into: without this, a world of 64 levels
//! with 300 rocks builds 19,200 trees of triangles. Shapes are named by all that they are made of,
//! so that sharing changes when one is built, and never which; those that no cell has any more are
//! let go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use protocol::Digest;
use rapier3d_f64::geometry::{Shape, SharedShape};

/// Number of names from which on those of shapes that are gone are looked for.
const NAMES_MIN: usize = 256;

/// The shapes of this process.
static BUILT: Mutex<Built> = Mutex::new(Built {
    slots: BTreeMap::new(),
    full_at: NAMES_MIN,
});

/// A shape that one cell builds while others wait for it.
type Slot = Arc<Mutex<Option<Weak<dyn Shape>>>>;

struct Built {
    slots: BTreeMap<Digest, Slot>,
    /// Number of names at which those of shapes that are gone are removed.
    full_at: usize,
}

/// Returns the shape that is made of some lists of numbers, as bytes, and builds it if no cell has
/// it; `None` where it cannot be built.
///
/// Each cell asks for each of its meshes, so that the lists are digested where they are.
pub(super) fn shared(
    made_of: &[&[u8]],
    build: impl FnOnce() -> Option<SharedShape>,
) -> Option<SharedShape> {
    let digests = made_of.iter().map(|list| Digest::of_bytes(list).0);
    let digests: Vec<u128> = digests.collect();
    let name = Digest::of_bytes(bytemuck::cast_slice(&digests));
    let slot = held(&BUILT).slot(name);
    let mut known = held(&slot);
    if let Some(shape) = known.as_ref().and_then(Weak::upgrade) {
        return Some(SharedShape(shape));
    }
    let shape = build()?;
    *known = Some(Arc::downgrade(&shape.0));
    Some(shape)
}

impl Built {
    fn slot(&mut self, name: Digest) -> Slot {
        if self.slots.len() >= self.full_at {
            // One that is held is being built, or asked for.
            self.slots.retain(|_, slot| {
                let is_asked_for = Arc::strong_count(slot) > 1;
                is_asked_for
                    || held(slot)
                        .as_ref()
                        .is_some_and(|one| one.strong_count() > 0)
            });
            self.full_at = (2 * self.slots.len()).max(NAMES_MIN);
        }
        Arc::clone(self.slots.entry(name).or_default())
    }
}

/// Takes a lock, also after a panic of who had it: nothing is left half done.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn ball(made: &Cell<u32>, radius: f64) -> Option<SharedShape> {
        let radius_bits = radius.to_bits().to_ne_bytes();
        shared(&[b"a test of shared shapes", &radius_bits], || {
            made.set(made.get() + 1);
            Some(SharedShape::ball(radius))
        })
    }

    #[test]
    fn a_shape_is_built_once_as_long_as_somebody_has_it() {
        let made = Cell::new(0);
        let (first, second) = (ball(&made, 1.0).unwrap(), ball(&made, 1.0).unwrap());
        assert!(Arc::ptr_eq(&first.0, &second.0));
        let other = ball(&made, 2.0).unwrap();
        assert!(!Arc::ptr_eq(&first.0, &other.0));
        assert_eq!(made.get(), 2);
        drop((first, second));
        ball(&made, 1.0).unwrap();
        assert_eq!(made.get(), 3, "it was let go");
    }

    #[test]
    fn names_of_shapes_that_are_gone_are_removed() {
        let made = Cell::new(0);
        let kept = ball(&made, 0.5).unwrap();
        for number in 0..4 * NAMES_MIN {
            drop(ball(&made, 10.0 + number as f64));
        }
        // Other tests of this process have shapes of their own, but not thousands.
        assert!(held(&BUILT).slots.len() <= 2 * NAMES_MIN);
        assert!(Arc::ptr_eq(&kept.0, &ball(&made, 0.5).unwrap().0));
    }

    #[test]
    fn what_cannot_be_built_is_tried_again() {
        let made_of: [&[u8]; 1] = [b"a test of shapes that cannot be built"];
        assert!(shared(&made_of, || None).is_none());
        assert!(shared(&made_of, || Some(SharedShape::ball(1.0))).is_some());
    }
}
