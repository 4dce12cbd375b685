//! Pairs of colliders that may touch: bitmasks by rapier's groups, links of one model by a hook.

use std::collections::BTreeMap;

use rapier3d_f64::geometry::{Group, InteractionGroups, InteractionTestMode, SolverFlags};
use rapier3d_f64::pipeline::{PairFilterContext, PhysicsHooks};
use sdf::{JointParent, Link, Model, Surface};

/// Keeps apart colliders of links that pass through each other.
pub(super) struct CollisionFilter;

impl PhysicsHooks for CollisionFilter {
    fn filter_contact_pair(&self, context: &PairFilterContext) -> Option<SolverFlags> {
        let [first, second] = [context.collider1, context.collider2].map(|handle| {
            let collider = context.colliders.get(handle);
            collider.map_or(Family::NONE, |c| Family::from_user_data(c.user_data))
        });
        first
            .collides_with(second)
            .then_some(SolverFlags::COMPUTE_RIGID_IMPULSES)
    }
}

/// To which links of its own model a collider is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// The number of its model, from 1; 0 where the hook has nothing to say.
    model: u32,
    /// The number of its assembly within the model, from 1; 0 where the model is a single one.
    assembly: u16,
    /// The number of the outermost nested model around it that collides with itself, from 1; 0 for
    /// none.
    nested: u16,
    /// True if its link collides with every other link of the model.
    is_open: bool,
}

impl Family {
    /// That of colliders that touch all others.
    pub(super) const NONE: Self = Self {
        model: 0,
        assembly: 0,
        nested: 0,
        is_open: false,
    };

    /// Returns the families of the links of a model, by its index in the world.
    ///
    /// Links of one assembly touch when either collides with itself or a model around both does
    /// (SDFormat, `self_collide` in `model.sdf` and `link.sdf`). Links of two assemblies touch as
    /// those of two models do.
    pub(super) fn of_links(model: &Model, index: usize) -> Vec<Self> {
        if model.self_collide || model.links.len() < 2 {
            return vec![Self::NONE; model.links.len()];
        }
        let assemblies = assemblies(model);
        let families = model.links.iter().zip(assemblies);
        families
            .map(|(link, assembly)| {
                let mut nested = model.nested.iter();
                let outermost =
                    nested.position(|nested| nested.self_collide && is_in(link, &nested.name));
                Self {
                    model: index as u32 + 1,
                    assembly,
                    nested: outermost.map_or(0, number),
                    is_open: link.self_collide,
                }
            })
            .collect()
    }

    /// Returns the `user_data` of a collider that says the same; what is above its 65 bits is the
    /// label of [`super::contacts`].
    pub(super) fn user_data(self) -> u128 {
        u128::from(self.model)
            | u128::from(self.assembly) << 32
            | u128::from(self.nested) << 48
            | u128::from(self.is_open) << 64
    }

    fn from_user_data(data: u128) -> Self {
        Self {
            model: data as u32,
            assembly: (data >> 32) as u16,
            nested: (data >> 48) as u16,
            is_open: data >> 64 & 1 != 0,
        }
    }

    fn collides_with(self, other: Self) -> bool {
        let is_related =
            self.model != 0 && self.model == other.model && self.assembly == other.assembly;
        let shares_nested = self.nested != 0 && self.nested == other.nested;
        !is_related || shares_nested || self.is_open || other.is_open
    }
}

/// Returns the numbers of the assemblies that links of a model belong to: the nested models, each
/// with all that joints hold to it.
///
/// Gazebo's default engine makes a skeleton of every model, nested or not, and moves the child of a
/// joint between two of them into that of the parent, with all that hangs on it (gz-physics,
/// `dartsim/src/SDFFeatures.cc`); a skeleton does not collide with itself.
fn assemblies(model: &Model) -> Vec<u16> {
    if model.nested.is_empty() {
        return vec![0; model.links.len()];
    }
    let mut leaders: Vec<usize> = (0..model.links.len()).collect();
    let mut first_links = BTreeMap::new();
    for (index, link) in model.links.iter().enumerate() {
        let mut around = model.nested.iter();
        // Inner models come after outer ones.
        let innermost = around.rposition(|nested| is_in(link, &nested.name));
        let first = *first_links.entry(innermost).or_insert(index);
        join(&mut leaders, first, index);
    }
    for joint in &model.joints {
        if let JointParent::Link(parent) = joint.parent {
            join(&mut leaders, parent, joint.child);
        }
    }
    (0..model.links.len())
        .map(|link| number(leader(&leaders, link)))
        .collect()
}

/// Makes two sets of links one, which its first link leads.
fn join(leaders: &mut [usize], first: usize, second: usize) {
    let [first, second] = [first, second].map(|link| leader(leaders, link));
    leaders[first.max(second)] = first.min(second);
}

fn leader(leaders: &[usize], mut link: usize) -> usize {
    while leaders[link] != link {
        link = leaders[link];
    }
    link
}

/// Returns an index counted from 1; all above 65,534 count as one.
fn number(index: usize) -> u16 {
    u16::try_from(index + 1).unwrap_or(u16::MAX)
}

/// Tells whether a link belongs to a nested model, by their names.
fn is_in(link: &Link, nested: &str) -> bool {
    let inner = link.name.strip_prefix(nested);
    inner.is_some_and(|inner| inner.starts_with("::"))
}

/// Returns the groups in which two colliders meet when the category of one is among those that the
/// other collides with (SDFormat, `category_bitmask` in `surface.sdf`). A category that is left at
/// its default is the same as `collide_bitmask`, so that two meet when their masks share a bit, as
/// in Gazebo.
pub(super) fn groups(surface: &Surface) -> InteractionGroups {
    let filter = surface.collide_bitmask;
    let category = if surface.category_bitmask == Surface::default().category_bitmask {
        filter
    } else {
        surface.category_bitmask
    };
    let [category, filter] =
        [category, filter].map(|mask| Group::from_bits_retain(u32::from(mask)));
    InteractionGroups::new(category, filter, InteractionTestMode::Or)
}

#[cfg(test)]
mod tests {
    use sdf::{Joint, JointKind, NestedModel, Pose};

    use super::*;

    fn nested(name: &str) -> NestedModel {
        NestedModel {
            name: name.to_owned(),
            is_static: false,
            self_collide: false,
            pose: Pose::IDENTITY,
            canonical_link: None,
            plugins: Vec::new(),
        }
    }

    /// `nested` are nested models with whether they collide with themselves.
    fn check(links: [(&str, bool); 2], nested: &[(&str, bool)], expected: bool) {
        let links = links.map(|(name, self_collide)| Link {
            self_collide,
            ..Link::new(name, Pose::IDENTITY)
        });
        let nested = nested.iter().map(|&(name, self_collide)| NestedModel {
            self_collide,
            ..self::nested(name)
        });
        let mut model = Model::new("model", links.to_vec(), Vec::new());
        model.nested = nested.collect();
        check_links(&model, expected);
    }

    /// Checks whether the first two links of a model touch.
    fn check_links(model: &Model, expected: bool) {
        let families = Family::of_links(model, 7);
        let [first, second] = [0, 1].map(|link| Family::from_user_data(families[link].user_data()));
        assert_eq!(first.collides_with(second), expected, "{model:?}");
        assert_eq!(second.collides_with(first), expected);
        assert!(first.collides_with(Family::NONE));
    }

    #[test]
    fn one_link_that_collides_with_its_model_is_enough() {
        check([("a", false), ("b", false)], &[], false);
        check([("a", true), ("b", false)], &[], true);
    }

    #[test]
    fn links_of_a_nested_model_collide_when_it_or_one_around_it_does() {
        check([("n::a", false), ("n::b", false)], &[("n", true)], true);
        check([("n::a", false), ("n::b", false)], &[("n", false)], false);
        let deep = [("n", true), ("n::m", false)];
        check([("n::a", false), ("n::m::b", false)], &deep, true);
    }

    #[test]
    fn nested_models_collide_with_each_other_and_with_the_model_around_them() {
        let plain = [("n", false), ("nn", false), ("n::m", false)];
        check([("n::a", false), ("b", false)], &plain, true);
        check([("n::a", false), ("nn::b", false)], &plain, true);
        check([("n::a", false), ("n::m::b", false)], &plain, true);
        check([("n::m::a", false), ("n::m::b", false)], &plain, false);
    }

    #[test]
    fn joints_make_one_model_of_nested_ones() {
        let link = |name| Link::new(name, Pose::IDENTITY);
        let links = ["n::a", "m::b", "m::c", "n::d"].map(link);
        let joint = |parent, child| {
            let parent = JointParent::Link(parent);
            Joint::new("joint", JointKind::Fixed, parent, child, Pose::IDENTITY)
        };
        for (joints, expected) in [
            (vec![], true),
            // Neither holds `n::a` and `m::b` themselves.
            (vec![joint(3, 2)], false),
            (vec![joint(2, 3)], false),
            (vec![joint(0, 3)], true),
        ] {
            let mut model = Model::new("model", links.to_vec(), joints);
            model.nested = ["n", "m"].map(nested).to_vec();
            check_links(&model, expected);
        }
    }
}
