//! Which colliders may touch: bitmasks by rapier's groups, links of one model by a hook.

use rapier3d_f64::geometry::{Group, InteractionGroups, InteractionTestMode, SolverFlags};
use rapier3d_f64::pipeline::{PairFilterContext, PhysicsHooks};

/// The `user_data` of colliders that the hook has nothing to say about.
pub(super) const NO_FAMILY: u128 = 0;

/// Keeps apart colliders of one family: the links of a model without `self_collide`.
pub(super) struct CollisionFilter;

impl PhysicsHooks for CollisionFilter {
    fn filter_contact_pair(&self, context: &PairFilterContext) -> Option<SolverFlags> {
        let [first, second] = [context.collider1, context.collider2].map(|handle| {
            context
                .colliders
                .get(handle)
                .map_or(NO_FAMILY, |c| c.user_data)
        });
        let related = first != NO_FAMILY && first == second;
        (!related).then_some(SolverFlags::COMPUTE_RIGID_IMPULSES)
    }
}

/// Returns the `user_data` of the colliders of a model whose links pass through each other.
pub(super) fn family(model: usize) -> u128 {
    model as u128 + 1
}

/// Returns the groups in which two colliders meet when their masks have a bit in common, which is
/// Gazebo's rule for `collide_bitmask`.
pub(super) fn groups(collide_bitmask: u16) -> InteractionGroups {
    let mask = Group::from_bits_retain(u32::from(collide_bitmask));
    InteractionGroups::new(mask, mask, InteractionTestMode::Or)
}
