//! Which colliders may touch: bitmasks by rapier's groups, links of one model by a hook.

use rapier3d_f64::geometry::{Group, InteractionGroups, InteractionTestMode, SolverFlags};
use rapier3d_f64::pipeline::{PairFilterContext, PhysicsHooks};
use sdf::{Link, Model, Surface};

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
    /// The number of the outermost nested model around it that collides with itself, from 1; 0 for
    /// none.
    nested: u32,
    /// Whether its link collides with every other link of the model.
    is_open: bool,
}

impl Family {
    /// That of colliders that touch all others.
    pub(super) const NONE: Self = Self {
        model: 0,
        nested: 0,
        is_open: false,
    };

    /// Returns the family of the colliders of a link, by the index of its model in the world.
    ///
    /// Links of one model touch when either collides with itself or a model around both does
    /// (SDFormat, `self_collide` in `model.sdf` and `link.sdf`).
    pub(super) fn of(model: &Model, index: usize, link: &Link) -> Self {
        if model.self_collide || model.links.len() < 2 {
            return Self::NONE;
        }
        let holds = |nested: &str| {
            let inner = link.name.strip_prefix(nested);
            inner.is_some_and(|inner| inner.starts_with("::"))
        };
        let outermost = model
            .nested
            .iter()
            .position(|nested| nested.self_collide && holds(&nested.name));
        Self {
            model: index as u32 + 1,
            nested: outermost.map_or(0, |position| position as u32 + 1),
            is_open: link.self_collide,
        }
    }

    /// Returns the `user_data` of a collider that says the same; what is above its 65 bits is the
    /// label of [`super::contacts`].
    pub(super) fn user_data(self) -> u128 {
        u128::from(self.model) | u128::from(self.nested) << 32 | u128::from(self.is_open) << 64
    }

    fn from_user_data(data: u128) -> Self {
        Self {
            model: data as u32,
            nested: (data >> 32) as u32,
            is_open: data >> 64 & 1 != 0,
        }
    }

    fn collides_with(self, other: Self) -> bool {
        let is_related = self.model != 0 && self.model == other.model;
        let shares_nested = self.nested != 0 && self.nested == other.nested;
        !is_related || shares_nested || self.is_open || other.is_open
    }
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
    use sdf::{NestedModel, Pose};

    use super::*;

    /// `nested` are nested models with whether they collide with themselves.
    fn check(links: [(&str, bool); 2], nested: &[(&str, bool)], expected: bool) {
        let links = links.map(|(name, self_collide)| Link {
            self_collide,
            ..Link::new(name, Pose::IDENTITY)
        });
        let nested = nested.iter().map(|&(name, self_collide)| NestedModel {
            name: name.to_owned(),
            is_static: false,
            self_collide,
            pose: Pose::IDENTITY,
            canonical_link: None,
            plugins: Vec::new(),
        });
        let mut model = Model::new("model", links.to_vec(), Vec::new());
        model.nested = nested.collect();
        let [first, second] = [0, 1].map(|link| {
            let family = Family::of(&model, 7, &model.links[link]);
            Family::from_user_data(family.user_data())
        });
        assert_eq!(
            first.collides_with(second),
            expected,
            "{links:?} {nested:?}",
            nested = model.nested
        );
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
        check([("n::a", false), ("b", false)], &[("n", true)], false);
        check(
            [("n::a", false), ("nn::b", false)],
            &[("n", true), ("nn", true)],
            false,
        );
        let deep = [("n", true), ("n::m", false)];
        check([("n::a", false), ("n::m::b", false)], &deep, true);
    }
}
