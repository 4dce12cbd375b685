//! A tree of boxes that finds those which may touch a box without asking all of them.
//!
//! Leaves are in the order of a curve that fills space (Morton's), so that neighbours are close
//! together however long boxes come and go; the tree is balanced as an AVL tree is, so that no
//! world and no peer makes it slow. Boxes are kept in single precision, rounded outwards: what it
//! finds is to be checked. Per leaf it keeps a label and a mark, and per node what these are below,
//! to pass over what is of no interest.
//!
//! An example: a, b, c and d are in this order on the curve, in the tree ((a b) (c d)). A query
//! that touches d alone finds the box of (a b) beside it and never looks at a or b. e comes between
//! b and c: the way down goes right where e is not before the first leaf there, so it ends at b,
//! and the tree is ((a (b e)) (c d)). f comes between e and c: (a (b (e f))) is too high on one
//! side, and is turned into ((a b) (e f)), which keeps the order.

use std::ops::ControlFlow;

use crate::bounds::Bounds;

/// No node.
const NONE: u32 = u32::MAX;
/// The label of a node whose leaves have several.
const MIXED: u32 = u32::MAX;
/// Coordinates are cut off here \[m\], so that sizes of infinite boxes can be compared.
const FARTHEST: f64 = 1e15;
/// More than the height of any tree with [`NONE`] nodes.
const HEIGHT_MAX: usize = 64;

/// A leaf of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf(u32);

/// Summary of the leaves below a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    label: u32,
    is_marked: bool,
    seen: u32,
}

impl Summary {
    /// Tells whether all leaves below have this label.
    pub(crate) fn all_have_label(&self, label: u32) -> bool {
        self.label == label
    }

    /// Tells whether all leaves below are marked.
    pub(crate) fn all_are_marked(&self) -> bool {
        self.is_marked
    }

    /// Tells whether all leaves below were seen in this round.
    pub(crate) fn all_are_seen(&self, round: u32) -> bool {
        self.seen == round
    }
}

/// A tree of boxes.
#[derive(Debug)]
pub(crate) struct BoxTree {
    nodes: Vec<Node>,
    root: u32,
    /// Nodes to use again.
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    min: [f32; 3],
    max: [f32; 3],
    parent: u32,
    /// [`NONE`] twice for a leaf.
    children: [u32; 2],
    height: u32,
    /// The least place on the curve of the leaves below.
    least: u64,
    /// Item that a leaf stands for.
    item: u32,
    summary: Summary,
}

impl Node {
    fn leaf(item: u32, bounds: &Bounds, label: u32) -> Self {
        Self {
            min: bounds.min.map(round_down),
            max: bounds.max.map(|high| -round_down(-high)),
            parent: NONE,
            children: [NONE; 2],
            height: 0,
            least: place_on_curve(bounds),
            item,
            summary: Summary {
                label,
                is_marked: false,
                seen: 0,
            },
        }
    }

    fn is_leaf(&self) -> bool {
        self.height == 0
    }

    fn touches(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.min[axis] <= other.max[axis] && other.min[axis] <= self.max[axis])
    }
}

impl BoxTree {
    /// Makes an empty tree.
    pub(crate) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            root: NONE,
            free: Vec::new(),
        }
    }

    /// Adds a box without NaN.
    pub(crate) fn insert(&mut self, item: u32, bounds: &Bounds, label: u32) -> Leaf {
        let node = Node::leaf(item, bounds, label);
        let leaf = self.allocate(node);
        if self.root == NONE {
            self.root = leaf;
            return Leaf(leaf);
        }
        let sibling = self.neighbour(node.least);
        let parent = self.nodes[sibling as usize].parent;
        let is_after = node.least >= self.nodes[sibling as usize].least;
        let joint = self.allocate(Node {
            parent,
            children: if is_after {
                [sibling, leaf]
            } else {
                [leaf, sibling]
            },
            ..node
        });
        self.nodes[sibling as usize].parent = joint;
        self.nodes[leaf as usize].parent = joint;
        self.replace_child(parent, sibling, joint);
        self.refresh_from(joint);
        Leaf(leaf)
    }

    /// Takes a box out.
    pub(crate) fn remove(&mut self, Leaf(leaf): Leaf) {
        self.free.push(leaf);
        let parent = self.nodes[leaf as usize].parent;
        if parent == NONE {
            self.root = NONE;
            return;
        }
        self.free.push(parent);
        let Node {
            children: [first, second],
            parent: grandparent,
            ..
        } = self.nodes[parent as usize];
        let sibling = if first == leaf { second } else { first };
        self.nodes[sibling as usize].parent = grandparent;
        self.replace_child(grandparent, parent, sibling);
        self.refresh_from(grandparent);
    }

    /// Gives a leaf another label.
    pub(crate) fn set_label(&mut self, Leaf(leaf): Leaf, label: u32) {
        self.nodes[leaf as usize].summary.label = label;
        self.summarize_above(leaf);
    }

    /// Marks a leaf or takes its mark away.
    pub(crate) fn set_mark(&mut self, Leaf(leaf): Leaf, is_marked: bool) {
        self.nodes[leaf as usize].summary.is_marked = is_marked;
        self.summarize_above(leaf);
    }

    /// Notes that a leaf was seen in a round, which is not 0.
    pub(crate) fn set_seen(&mut self, Leaf(leaf): Leaf, round: u32) {
        self.nodes[leaf as usize].summary.seen = round;
        self.summarize_above(leaf);
    }

    /// Calls `found` with leaves and items that may touch a box until it breaks, in no order of
    /// meaning, and passes over nodes that `enters` refuses.
    pub(crate) fn visit(
        &self,
        bounds: &Bounds,
        enters: impl Fn(&Summary) -> bool,
        mut found: impl FnMut(Leaf, u32) -> ControlFlow<()>,
    ) {
        if self.root == NONE {
            return;
        }
        let query = Node::leaf(0, bounds, 0);
        let mut waiting = [NONE; HEIGHT_MAX];
        let mut count = 1;
        waiting[0] = self.root;
        while count > 0 {
            count -= 1;
            let id = waiting[count];
            let node = &self.nodes[id as usize];
            if !node.touches(&query) || !enters(&node.summary) {
                continue;
            }
            if node.is_leaf() {
                if found(Leaf(id), node.item).is_break() {
                    return;
                }
            } else {
                waiting[count..count + 2].copy_from_slice(&node.children);
                count += 2;
            }
        }
    }

    fn allocate(&mut self, node: Node) -> u32 {
        if let Some(id) = self.free.pop() {
            self.nodes[id as usize] = node;
            return id;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Returns the leaf beside which a place on the curve is.
    fn neighbour(&self, place: u64) -> u32 {
        let mut id = self.root;
        while !self.nodes[id as usize].is_leaf() {
            let [first, second] = self.nodes[id as usize].children;
            let is_after = place >= self.nodes[second as usize].least;
            id = if is_after { second } else { first };
        }
        id
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        if parent == NONE {
            self.root = new;
            return;
        }
        let children = &mut self.nodes[parent as usize].children;
        children[usize::from(children[1] == old)] = new;
    }

    /// Balances and measures a node and all above it.
    fn refresh_from(&mut self, mut id: u32) {
        while id != NONE {
            id = self.balance(id);
            self.measure(id);
            id = self.nodes[id as usize].parent;
        }
    }

    /// Turns the subtree at a node so that heights of its children differ by one at most, and
    /// returns its new top. The order of leaves stays.
    fn balance(&mut self, top: u32) -> u32 {
        let height = |tree: &Self, id: u32| tree.nodes[id as usize].height;
        let [first, second] = self.nodes[top as usize].children;
        let [low, high] = [height(self, first), height(self, second)];
        if low.abs_diff(high) <= 1 {
            return top;
        }
        let side = usize::from(high > low);
        let child = self.nodes[top as usize].children[side];
        let inner = self.nodes[child as usize].children[1 - side];
        let outer = self.nodes[child as usize].children[side];
        if height(self, inner) > height(self, outer) {
            self.rotate(child, 1 - side);
        }
        self.rotate(top, side)
    }

    /// Lifts the child on a side above its parent, and returns it.
    fn rotate(&mut self, top: u32, side: usize) -> u32 {
        let lifted = self.nodes[top as usize].children[side];
        let passed = self.nodes[lifted as usize].children[1 - side];
        let parent = self.nodes[top as usize].parent;
        self.replace_child(parent, top, lifted);
        self.nodes[lifted as usize].parent = parent;
        self.nodes[lifted as usize].children[1 - side] = top;
        self.nodes[top as usize].parent = lifted;
        self.nodes[top as usize].children[side] = passed;
        self.nodes[passed as usize].parent = top;
        self.measure(top);
        self.measure(lifted);
        lifted
    }

    /// Takes a node's box, height and summary from its children.
    fn measure(&mut self, id: u32) {
        let [first, second] = self.nodes[id as usize].children;
        let [first, second] = [first, second].map(|child| self.nodes[child as usize]);
        let node = &mut self.nodes[id as usize];
        node.min = std::array::from_fn(|axis| first.min[axis].min(second.min[axis]));
        node.max = std::array::from_fn(|axis| first.max[axis].max(second.max[axis]));
        node.height = 1 + first.height.max(second.height);
        node.least = first.least;
        node.summary = both(first.summary, second.summary);
    }

    fn summarize_above(&mut self, leaf: u32) {
        let mut id = self.nodes[leaf as usize].parent;
        while id != NONE {
            let Node {
                children: [first, second],
                parent,
                ..
            } = self.nodes[id as usize];
            let [first, second] = [first, second].map(|child| self.nodes[child as usize].summary);
            self.nodes[id as usize].summary = both(first, second);
            id = parent;
        }
    }
}

fn both(first: Summary, second: Summary) -> Summary {
    Summary {
        label: if first.label == second.label {
            first.label
        } else {
            MIXED
        },
        is_marked: first.is_marked && second.is_marked,
        seen: if first.seen == second.seen {
            first.seen
        } else {
            0
        },
    }
}

/// Returns the place of a box's centre on a curve that fills space, in steps of an eighth of a
/// metre.
fn place_on_curve(bounds: &Bounds) -> u64 {
    const BITS: u32 = 21;
    let middle = f64::from(1_u32 << (BITS - 1));
    (0..3).fold(0, |place, axis| {
        let [low, high] = [bounds.min[axis], bounds.max[axis]];
        let center = low.clamp(-FARTHEST, FARTHEST) / 2.0 + high.clamp(-FARTHEST, FARTHEST) / 2.0;
        let steps = (center * 8.0 + middle).clamp(0.0, 2.0 * middle - 1.0) as u64;
        place | spread(steps) << axis
    })
}

/// Returns 21 bits with two zeros between each and the next.
fn spread(bits: u64) -> u64 {
    let steps = [
        (32, 0x001f_0000_0000_ffff),
        (16, 0x001f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ];
    steps
        .iter()
        .fold(bits, |bits, (shift, mask)| (bits | bits << shift) & mask)
}

/// Returns a single that is not above a coordinate.
fn round_down(coordinate: f64) -> f32 {
    let coordinate = coordinate.clamp(-FARTHEST, FARTHEST);
    let rounded = coordinate as f32;
    if f64::from(rounded) > coordinate {
        rounded.next_down()
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    impl BoxTree {
        /// Checks heights, boxes and links of all nodes and returns how many leaves there are.
        fn check(&self) -> usize {
            let mut leaves = 0;
            let mut waiting: Vec<u32> = (self.root != NONE)
                .then_some(self.root)
                .into_iter()
                .collect();
            while let Some(id) = waiting.pop() {
                let node = &self.nodes[id as usize];
                if node.is_leaf() {
                    leaves += 1;
                    continue;
                }
                let [first, second] = node.children.map(|child| self.nodes[child as usize]);
                assert!(first.height.abs_diff(second.height) <= 1, "a tree leans");
                assert_eq!(node.height, 1 + first.height.max(second.height));
                assert!(first.least <= second.least, "leaves are in order");
                for child in [first, second] {
                    assert_eq!(child.parent, id);
                    assert!((0..3).all(|axis| node.min[axis] <= child.min[axis]));
                    assert!((0..3).all(|axis| node.max[axis] >= child.max[axis]));
                }
                waiting.extend(node.children);
            }
            leaves
        }
    }

    /// Boxes come, go and move; the tree finds what asking every box finds.
    fn check(seed: u64, place: impl Fn(&mut Random) -> Bounds) {
        let mut random = Random::new(seed);
        let mut tree = BoxTree::new();
        let mut boxes: Vec<(Leaf, Bounds)> = Vec::new();
        for turn in 0..600_u32 {
            let bounds = place(&mut random);
            if turn < 200 || boxes.is_empty() {
                let leaf = tree.insert(boxes.len() as u32, &bounds, turn % 2);
                boxes.push((leaf, bounds));
            } else {
                let which = random.below(boxes.len());
                tree.remove(boxes[which].0);
                boxes[which] = (tree.insert(which as u32, &bounds, turn % 2), bounds);
            }
            let query = place(&mut random);
            let mut found = Vec::new();
            tree.visit(
                &query,
                |_| true,
                |_, item| {
                    if boxes[item as usize].1.touches(&query) {
                        found.push(item as usize);
                    }
                    ControlFlow::Continue(())
                },
            );
            found.sort_unstable();
            let all = 0..boxes.len();
            let expected: Vec<usize> = all.filter(|one| boxes[*one].1.touches(&query)).collect();
            assert_eq!(found, expected, "seed {seed}, turn {turn}");
            assert_eq!(tree.check(), boxes.len());
        }
    }

    #[test]
    fn the_tree_finds_what_asking_every_box_finds() {
        check(1, |random| {
            let center = std::array::from_fn(|_| random.within(-50.0, 50.0));
            Bounds::around(center, [random.within(0.0, 5.0); 3])
        });
    }

    #[test]
    fn equal_sorted_and_infinite_boxes_leave_the_tree_balanced() {
        check(2, |_| Bounds::around([1.0; 3], [0.5; 3]));
        check(3, |random| {
            let row = random.below(40) as f64;
            Bounds::around([row, 0.0, 0.0], [0.5; 3])
        });
        check(4, |random| {
            let half = [1.0, 1e300, f64::INFINITY][random.below(3)];
            Bounds::around([random.within(-9.0, 9.0); 3], [half; 3])
        });
    }

    #[test]
    fn bits_are_spread_over_every_third() {
        let expected = (0..21).fold(0, |place, bit| place | 1 << (3 * bit));
        assert_eq!(spread((1 << 21) - 1), expected);
        for bit in 0..21 {
            assert_eq!(spread(1 << bit), 1 << (3 * bit));
        }
    }

    #[test]
    fn summaries_pass_over_what_is_of_no_interest() {
        let mut tree = BoxTree::new();
        let bounds = Bounds::around([0.0; 3], [1.0; 3]);
        let leaves: Vec<Leaf> = (0..9).map(|item| tree.insert(item, &bounds, 5)).collect();
        let count = |tree: &BoxTree, enters: &dyn Fn(&Summary) -> bool| {
            let mut count = 0;
            tree.visit(&bounds, enters, |_, _| {
                count += 1;
                ControlFlow::Continue(())
            });
            count
        };
        assert_eq!(count(&tree, &|node| !node.all_have_label(5)), 0);
        tree.set_label(leaves[3], 6);
        assert_eq!(count(&tree, &|node| !node.all_have_label(5)), 1);
        leaves[1..]
            .iter()
            .for_each(|leaf| tree.set_mark(*leaf, true));
        assert_eq!(count(&tree, &|node| !node.all_are_marked()), 1);
        leaves[2..].iter().for_each(|leaf| tree.set_seen(*leaf, 7));
        assert_eq!(count(&tree, &|node| !node.all_are_seen(7)), 2);
        assert_eq!(count(&tree, &|node| !node.all_are_seen(8)), 9);
        for leaf in leaves {
            tree.remove(leaf);
        }
        assert_eq!((tree.check(), count(&tree, &|_| true)), (0, 0));
    }
}
