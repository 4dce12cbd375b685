//! Contacts of pairs, found on several threads.
//!
//! The contacts of a pair depend on its two colliders alone, and what changes beyond the pair is
//! done after all pairs in an order of its own, so the bits are the same for any number of threads.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use rayon::{current_num_threads, current_thread_index};

use crate::alloc_prelude::*;

/// Pairs that a thread takes at a time.
const BLOCK: usize = 32;

/// Pairs from which on several threads are worth it.
const PAIRS_MIN: usize = 4 * BLOCK;

/// Edges of the contact graph, of which each thread changes others.
struct Edges<E>(*mut E);

// SAFETY: threads change edges with different numbers only, see `update`.
unsafe impl<E: Send> Sync for Edges<E> {}

impl<E> Edges<E> {
    fn at(&self, number: usize) -> *mut E {
        self.0.wrapping_add(number)
    }
}

/// Updates the edges of some numbers on the threads of the pool that calls, if one does and it is
/// worth it. Returns the outcome of each in their order, and adds the transitions.
///
/// # Panics
/// Panics if a number is out of range.
pub(crate) fn update<E: Send, T: Send>(
    edges: &mut [E],
    numbers: &[u32],
    work: &(impl Fn(&mut E, u32, &mut Vec<T>) -> u8 + Sync),
    transitions: &mut Vec<T>,
) -> Option<Vec<u8>> {
    let has_help = current_thread_index().is_some() && current_num_threads() > 1;
    let are_distinct = || numbers.windows(2).all(|two| two[0] < two[1]);
    if !has_help || numbers.len() < PAIRS_MIN || !are_distinct() {
        return None;
    }
    let count = edges.len();
    assert!(numbers.iter().all(|number| (*number as usize) < count));
    let edges = &Edges(edges.as_mut_ptr());
    let update_block = |block: &[u32]| {
        let mut found = Vec::new();
        let outcomes = block.iter().map(|number| {
            // SAFETY: the number is in range, and no other is the same: this reference to the edge
            // is the only one. The exclusive borrow of all edges lasts until all blocks are done.
            let edge = unsafe { &mut *edges.at(*number as usize) };
            work(edge, *number, &mut found)
        });
        let outcomes: Vec<u8> = outcomes.collect();
        (outcomes, found)
    };
    let blocks: Vec<(Vec<u8>, Vec<T>)> = numbers.par_chunks(BLOCK).map(update_block).collect();
    let mut all = Vec::with_capacity(numbers.len());
    for (outcomes, found) in blocks {
        all.extend(outcomes);
        transitions.extend(found);
    }
    Some(all)
}
