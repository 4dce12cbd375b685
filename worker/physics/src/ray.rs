//! Rays: what a straight line from a point meets first, ghosts included.
//!
//! Nothing is kept for rays while none is cast. The first one after a change builds a tree of the
//! boxes around everything that never moves, and one around everything that does, each from the
//! same list in the same order on every host; of several hits at the same distance the same one is
//! returned everywhere. A sensor casts all rays of a measurement at once ([`Cell::cast_rays`]).

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use rapier3d_f64::dynamics::RigidBodyHandle;
use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::{Pose, Vector};
use rapier3d_f64::parry::bounding_volume::Aabb;
use rapier3d_f64::parry::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use rapier3d_f64::parry::query::Ray;

use super::cell::Cell;
use super::ghost;

/// The farthest a box may reach to be in a tree \[m\]; planes do not.
const TREE_REACH: f64 = 1e30;

/// What stands for one over zero; finite, so that its product with zero is a number.
const INVERSE_MAX: f64 = 1e300;

/// By how much boxes count as bigger than they are, as a part of the distance.
const SLACK: f64 = 1e-14;

/// What a ray met first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// From the origin of the ray \[m\]; 0 when it begins inside of a solid.
    pub distance: f64,
    /// The normal of the surface, world frame; zero when the ray begins inside of a solid.
    pub normal: [f64; 3],
    /// The index of the model in the world; those of actors follow those of models.
    pub model: usize,
}

/// What the rays of a measurement have in common.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// World frame \[m\].
    pub origin: [f64; 3],
    /// How far from the origin rays begin \[m\].
    pub begin: f64,
    /// How far from the origin rays end \[m\].
    pub end: f64,
    /// The index of a model in the world, and of its link that rays go through.
    pub own_link: Option<(usize, usize)>,
}

/// What a ray of a measurement met first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Echo {
    /// Nothing.
    Nothing,
    /// A solid that it began in.
    TooNear,
    /// A surface.
    At {
        /// From the origin \[m\].
        distance: f64,
        /// How strongly the surface reflects: `laser_retro`.
        retro: f64,
    },
}

impl Cell {
    /// Tells what each ray meets first among static models, performers and ghosts, in the order of
    /// their directions, which are unit vectors in the world frame. Numbers that are no ray meet
    /// nothing.
    pub fn cast_rays(
        &self,
        scan: &Scan,
        directions: impl IntoIterator<Item = [f64; 3]>,
        mut tell: impl FnMut(Echo),
    ) {
        let origin = Vector::from_array(scan.origin);
        let length = (scan.end - scan.begin).min(f64::MAX);
        let is_ray = origin.is_finite() && scan.begin.is_finite() && length >= 0.0;
        let sides = [self.static_solids(), self.moving_solids()];
        for direction in directions {
            let direction = Vector::from_array(direction);
            if !is_ray || !direction.is_finite() {
                tell(Echo::Nothing);
                continue;
            }
            let ray = Ray::new(origin + direction * scan.begin, direction);
            let mut limit = length;
            let mut met: Option<(f64, f64)> = None;
            for side in sides {
                if let Some((distance, solid)) = side.meet(&ray, limit, scan.own_link) {
                    met = Some((distance, solid.retro));
                    limit = distance.next_down();
                }
            }
            tell(match met {
                None => Echo::Nothing,
                Some((0.0, _)) => Echo::TooNear,
                Some((distance, retro)) => Echo::At {
                    distance: scan.begin + distance,
                    retro,
                },
            });
        }
    }

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
                solids.add_body(self, *model, *body);
            }
            solids.with_tree()
        })
    }

    fn moving_solids(&self) -> &Solids {
        let ghosts = self.seen_ghosts();
        self.solids.movers.get_or_init(|| {
            let mut solids = Solids::default();
            for performer in self.contents.performers.values() {
                for link in &performer.links {
                    solids.add_body(self, performer.model, *link);
                }
            }
            for ghost in ghosts.values() {
                for part in &ghost.shapes {
                    let at = ghost::unpacked(&ghost.poses[part.link]) * part.at;
                    solids.add(Solid {
                        model: ghost.model,
                        link: part.link,
                        retro: part.retro,
                        shape: part.shape.clone(),
                        at,
                    });
                }
            }
            for solid in self.actor_solids() {
                solids.add(Solid {
                    model: self.world.models.len() + solid.actor,
                    link: 0,
                    retro: 0.0,
                    shape: solid.shape,
                    at: solid.at,
                });
            }
            solids.with_tree()
        })
    }
}

/// What rays may meet in a cell, found when the first is cast after a change.
#[derive(Default)]
pub(super) struct SolidsOfCell {
    statics: OnceLock<Solids>,
    movers: OnceLock<Solids>,
    /// True once anything has looked at ghosts, with rays or without.
    pub(super) has_looked: AtomicBool,
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
    /// The boxes around those of the list, until they are in the tree.
    boxes: Vec<Aabb>,
    /// Its leaves are indices of the list.
    tree: Bvh,
    list: Vec<Solid>,
    /// Those that are too big for the tree.
    unbounded: Vec<Solid>,
}

/// A ray made ready for boxes: parry's own test divides for each of them.
struct Slabs {
    origin: Vector,
    inverse: Vector,
}

struct Solid {
    model: usize,
    link: usize,
    retro: f64,
    shape: SharedShape,
    at: Pose,
}

impl Solids {
    fn add_body(&mut self, cell: &Cell, model: usize, body: RigidBodyHandle) {
        let described = &cell.world.models[model];
        for handle in cell.physics.bodies[body].colliders() {
            let collider = &cell.physics.colliders[*handle];
            let collision = cell.collision_of(*handle);
            let retro = collision.map_or(0.0, |collision| {
                described.links[collision.link].collisions[collision.collision].laser_retro
            });
            self.add(Solid {
                model,
                link: collision.map_or(0, |collision| collision.link),
                retro,
                shape: collider.shared_shape().clone(),
                at: *collider.position(),
            });
        }
    }

    fn add(&mut self, solid: Solid) {
        let around = solid.shape.compute_aabb(&solid.at);
        let is_near = |corner: Vector| corner.abs().max_element() < TREE_REACH;
        if is_near(around.mins) && is_near(around.maxs) {
            self.boxes.push(around);
            self.list.push(solid);
        } else {
            self.unbounded.push(solid);
        }
    }

    fn with_tree(mut self) -> Self {
        self.tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &std::mem::take(&mut self.boxes));
        self
    }

    /// Returns how far away the nearest solid is up to a distance, but for those of one link.
    fn meet(
        &self,
        ray: &Ray,
        distance_max: f64,
        own_link: Option<(usize, usize)>,
    ) -> Option<(f64, &Solid)> {
        let mut nearest: Option<(f64, &Solid)> = None;
        for solid in &self.unbounded {
            let limit = nearest.map_or(distance_max, |(distance, _)| distance.next_down());
            let distance = solid.meet(ray, limit, own_link);
            nearest = distance.map(|distance| (distance, solid)).or(nearest);
        }
        let limit = nearest.map_or(distance_max.next_up(), |(distance, _)| distance);
        let slabs = Slabs::new(ray);
        let leaf = self.tree.find_best(
            limit,
            |node, _| slabs.entry(node),
            |index, limit| self.list[index as usize].meet(ray, limit, own_link),
        );
        leaf.map(|(index, distance)| (distance, &self.list[index as usize]))
            .or(nearest)
    }

    /// Returns the nearest hit up to a distance.
    fn cast(&self, ray: &Ray, distance_max: f64) -> Option<RayHit> {
        let mut nearest: Option<RayHit> = None;
        for solid in &self.unbounded {
            let limit = nearest.map_or(distance_max, |hit| hit.distance.next_down());
            nearest = solid.cast(ray, limit).or(nearest);
        }
        let limit = nearest.map_or(distance_max.next_up(), |hit| hit.distance);
        let cast = |index: u32, limit| self.list[index as usize].cast(ray, limit);
        let distance = |index, limit| cast(index, limit).map(|hit| hit.distance);
        let slabs = Slabs::new(ray);
        let leaf = self
            .tree
            .find_best(limit, |node, _| slabs.entry(node), distance);
        let in_tree = leaf.and_then(|(index, _)| cast(index, limit));
        in_tree.or(nearest)
    }
}

impl Slabs {
    fn new(ray: &Ray) -> Self {
        let most = Vector::splat(INVERSE_MAX);
        Self {
            origin: ray.origin,
            inverse: ray.dir.recip().clamp(-most, most),
        }
    }

    /// Returns at most how far away the ray enters the box of a node; the greatest number when it
    /// does not. A box counts as a little bigger than it is, so that no rounding hides what is in
    /// it.
    fn entry(&self, node: &BvhNode) -> f64 {
        let one = (node.mins() - self.origin) * self.inverse;
        let other = (node.maxs() - self.origin) * self.inverse;
        let enters = one.min(other).max_element().max(0.0) * (1.0 - SLACK);
        let leaves = one.max(other).min_element() * (1.0 + SLACK);
        if enters <= leaves { enters } else { f64::MAX }
    }
}

impl Solid {
    fn meet(&self, ray: &Ray, distance_max: f64, own: Option<(usize, usize)>) -> Option<f64> {
        if own == Some((self.model, self.link)) {
            return None;
        }
        let distance = self.shape.cast_ray(&self.at, ray, distance_max, true)?;
        (distance >= 0.0 && distance <= distance_max).then_some(distance)
    }

    fn cast(&self, ray: &Ray, distance_max: f64) -> Option<RayHit> {
        let hit = self
            .shape
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
