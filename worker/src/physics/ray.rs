//! Rays: what a straight line from a point meets first, ghosts included.
//!
//! Nothing is kept for rays while none is cast. The first one after a change builds a tree of the
//! boxes around everything that never moves, and one around everything that does, each from the
//! same list in the same order on every host; of several hits at the same distance the same one is
//! returned everywhere.

use std::sync::OnceLock;

use rapier3d_f64::dynamics::{RigidBodyHandle, RigidBodySet};
use rapier3d_f64::geometry::{ColliderSet, SharedShape};
use rapier3d_f64::math::{Pose, Vector};
use rapier3d_f64::parry::bounding_volume::Aabb;
use rapier3d_f64::parry::partitioning::{Bvh, BvhBuildStrategy};
use rapier3d_f64::parry::query::{Ray, RayIntersection};

use super::cell::Cell;
use super::ghost;

/// The farthest a box may reach to be in a tree \[m\]; planes do not.
const TREE_REACH: f64 = 1e30;

/// What a ray met first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// From the origin of the ray \[m\]; 0 when it begins inside of a solid.
    pub distance: f64,
    /// The normal of the surface, world frame; zero when the ray begins inside of a solid.
    pub normal: [f64; 3],
    /// The index of the model in the world.
    pub model: usize,
}

impl Cell {
    /// Returns what a ray meets first among static models, performers and ghosts, up to a distance
    /// \[m\]. The origin is in the world frame, the direction of any length. `None` when it meets
    /// nothing, or the numbers are no ray.
    pub fn cast_ray(
        &self,
        origin: [f64; 3],
        direction: [f64; 3],
        distance_max: f64,
    ) -> Option<RayHit> {
        let (origin, direction) = (Vector::from_array(origin), Vector::from_array(direction));
        let direction = direction.try_normalize()?;
        if !origin.is_finite() || distance_max.is_nan() || distance_max < 0.0 {
            return None;
        }
        let ray = Ray::new(origin, direction);
        let nearest = self.static_solids().cast(&ray, distance_max.min(f64::MAX));
        let rest = nearest.map_or(distance_max, |hit| hit.distance.next_down());
        let moving = self.moving_solids().cast(&ray, rest.min(f64::MAX));
        moving.or(nearest)
    }

    fn static_solids(&self) -> &Solids {
        self.solids.statics.get_or_init(|| {
            let mut solids = Solids::default();
            for (model, body) in &self.contents.statics {
                solids.add_body(*model, &self.physics.bodies, &self.physics.colliders, *body);
            }
            solids.grow_tree();
            solids
        })
    }

    fn moving_solids(&self) -> &Solids {
        self.solids.movers.get_or_init(|| {
            let mut solids = Solids::default();
            for performer in self.contents.performers.values() {
                for link in &performer.links {
                    let (bodies, colliders) = (&self.physics.bodies, &self.physics.colliders);
                    solids.add_body(performer.model, bodies, colliders, *link);
                }
            }
            for ghost in self.contents.ghosts.values() {
                for part in &ghost.shapes {
                    let at = ghost::unpacked(&ghost.poses[part.link]) * part.at;
                    solids.add(ghost.model, part.shape.clone(), at);
                }
            }
            solids.grow_tree();
            solids
        })
    }
}

/// What rays may meet in a cell, found when the first is cast after a change.
#[derive(Default)]
pub(super) struct SolidsOfCell {
    statics: OnceLock<Solids>,
    movers: OnceLock<Solids>,
}

impl SolidsOfCell {
    /// Forgets what never moves, since something of it came or went.
    pub(super) fn statics_changed(&mut self) {
        self.statics.take();
    }

    /// Forgets what moves, since something of it did, or came or went.
    pub(super) fn movers_changed(&mut self) {
        self.movers.take();
    }
}

/// Shapes in a tree of the boxes around them.
#[derive(Default)]
struct Solids {
    list: Vec<Solid>,
    /// Its leaves are indices of the list.
    tree: Bvh,
    /// Indices of those that are too big for the tree.
    unbounded: Vec<usize>,
}

struct Solid {
    model: usize,
    shape: SharedShape,
    at: Pose,
}

impl Solids {
    fn add_body(
        &mut self,
        model: usize,
        bodies: &RigidBodySet,
        colliders: &ColliderSet,
        body: RigidBodyHandle,
    ) {
        for handle in bodies[body].colliders() {
            let collider = &colliders[*handle];
            self.add(model, collider.shared_shape().clone(), *collider.position());
        }
    }

    fn add(&mut self, model: usize, shape: SharedShape, at: Pose) {
        self.list.push(Solid { model, shape, at });
    }

    fn grow_tree(&mut self) {
        let mut boxes = Vec::with_capacity(self.list.len());
        for (index, solid) in self.list.iter().enumerate() {
            let around: Aabb = solid.shape.compute_aabb(&solid.at);
            let is_bounded = |corner: Vector| corner.abs().max_element() < TREE_REACH;
            if is_bounded(around.mins) && is_bounded(around.maxs) {
                boxes.push((index, around));
            } else {
                self.unbounded.push(index);
            }
        }
        self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, boxes.into_iter());
    }

    /// Returns the nearest hit up to a distance.
    fn cast(&self, ray: &Ray, distance_max: f64) -> Option<RayHit> {
        let mut nearest: Option<RayHit> = None;
        let mut limit = distance_max;
        for index in &self.unbounded {
            let hit = self.list[*index].cast(ray, limit);
            if let Some(hit) = hit.filter(|hit| nearest.is_none_or(|n| hit.distance < n.distance)) {
                limit = hit.distance;
                nearest = Some(hit);
            }
        }
        let limit = nearest.map_or(limit.next_up(), |hit| hit.distance);
        let leaf = self.tree.cast_ray(ray, limit, |index, best| {
            let hit = self.list[index as usize].cast(ray, best)?;
            Some(hit.distance)
        });
        let in_tree = leaf.and_then(|(index, _)| self.list[index as usize].cast(ray, limit));
        in_tree.or(nearest)
    }
}

impl Solid {
    fn cast(&self, ray: &Ray, distance_max: f64) -> Option<RayHit> {
        let hit: RayIntersection =
            self.shape
                .cast_ray_and_get_normal(&self.at, ray, distance_max, true)?;
        let distance = hit.time_of_impact;
        let is_inside = distance == 0.0;
        (distance >= 0.0 && distance <= distance_max).then(|| RayHit {
            distance,
            normal: if is_inside {
                [0.0; 3]
            } else {
                hit.normal.to_array()
            },
            model: self.model,
        })
    }
}
