//! Copies the sources of the published rapier3d-f64 to the build folder and applies [`EDITS`].

use published::Edit;

/// Everything that differs from the published crate.
const EDITS: &[Edit] = &[
    // A pipeline has room for a solver that takes the place of its own.
    Edit {
        file: "pipeline/physics_pipeline/mod.rs",
        from: "    pub counters: Counters,\n",
        to: concat!(
            "    pub counters: Counters,\n",
            "    /// Solves the awake bodies in place of the solver of the pipeline.\n",
            "    pub island_solver: Option<Box<dyn crate::island_solver::IslandSolver>>,\n",
        ),
    },
    Edit {
        file: "pipeline/physics_pipeline/mod.rs",
        from: "            counters: Counters::new(true),\n",
        to: "            counters: Counters::new(true),\n            island_solver: None,\n",
    },
    // Every body that moves is swept against what moves, but for what is fast itself: two that are
    // swept against each other's ends would stop each other for ever.
    Edit {
        file: "dynamics/ccd/sweeps.rs",
        from: "        !rb2.map(is_bullet).unwrap_or(false)\n",
        to: "        !rb2.is_some_and(|rb2| is_bullet(rb2) && rb2.ccd.ccd_active)\n",
    },
    // Some point within a piece is enough; its centroid took half of the time of a robot of hulls.
    Edit {
        file: "dynamics/ccd/sweeps.rs",
        from: "                local_centroid: shape.mass_properties(1.0).local_com,\n",
        to: "                local_centroid: shape.compute_local_aabb().center(),\n",
    },
    Edit {
        file: "dynamics/ccd/sweeps.rs",
        from: "local_centroid: child_shape.mass_properties(1.0).local_com,\n",
        to: "local_centroid: child_shape.compute_local_aabb().center(),\n",
    },
    // A plane holds everything in its box: what cannot come down to it in a step is not swept.
    Edit {
        file: "dynamics/ccd/sweeps.rs",
        from: "        let mut handle_candidate = |ch2: ColliderHandle, co2: &Collider| {\n",
        to: concat!(
            "        let boxes = [start_aabb, end_aabb];\n",
            "        let way = crate::reach::Way::new(rb1, &end_body_pose, boxes);\n",
            "        let mut handle_candidate = |ch2: ColliderHandle, co2: &Collider| {\n",
            "            if !way.may_reach(co2) {\n",
            "                return;\n",
            "            }\n",
        ),
    },
    // What is swept is described when something is in its way.
    Edit {
        file: "dynamics/ccd/sweeps.rs",
        from: concat!(
            "        let Some(fast) = FastColliderInfo::new(co1, rb1, &start, &end, local_com) ",
            "else {\n",
            "            // Never-swept shape (mesh, heightfield, polyline, voxels): no CCD.\n",
            "            continue;\n",
            "        };\n",
        ),
        to: concat!(
            "        if shape_never_ccd_swept(co1.shape.as_ref()) {\n",
            "            continue;\n",
            "        }\n",
            "        let mut described = None;\n",
        ),
    },
    Edit {
        file: "dynamics/ccd/sweeps.rs",
        from: concat!(
            "            if let Some(hit_fraction) = cast_collider_pair(\n",
            "                dispatcher,\n",
            "                &fast,\n",
        ),
        to: concat!(
            "            let described = described.get_or_insert_with(|| {\n",
            "                FastColliderInfo::new(co1, rb1, &start, &end, local_com)\n",
            "            });\n",
            "            let Some(fast) = described else {\n",
            "                return;\n",
            "            };\n",
            "            if let Some(hit_fraction) = cast_collider_pair(\n",
            "                dispatcher,\n",
            "                fast,\n",
        ),
    },
    // The box around a hull takes a tenth of the time of a robot of hulls.
    Edit {
        file: "geometry/collider.rs",
        from: concat!(
            "    pub fn compute_collision_aabb(&self, prediction: Real) -> Aabb {\n",
            "        self.shape\n",
            "            .compute_aabb(&self.pos)\n",
            "            .loosened(self.contact_skin + prediction)\n",
        ),
        to: concat!(
            "    pub fn compute_collision_aabb(&self, prediction: Real) -> Aabb {\n",
            "        crate::reach::aabb(self.shape.as_ref(), &self.pos)\n",
            "            .loosened(self.contact_skin + prediction)\n",
        ),
    },
    // A round face that lies flat has more contacts than four.
    Edit {
        file: "geometry/mod.rs",
        from: "mod manifold_reduction;\n",
        to: "pub(crate) mod manifold_reduction;\n",
    },
    Edit {
        file: "geometry/narrow_phase/pair_update.rs",
        from: "            let mut selected = [0, 1, 2, 3];\n",
        to: "            let mut selected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];\n",
    },
    Edit {
        file: "geometry/narrow_phase/pair_update.rs",
        from: "            crate::geometry::manifold_reduction::reduce_manifold_naive(\n",
        to: "            crate::island_solver::select(\n",
    },
    Edit {
        file: "geometry/narrow_phase/pair_update.rs",
        from: "use crate::math::{MAX_MANIFOLD_POINTS, Real};\n",
        to: concat!(
            "use crate::island_solver::POINTS_MAX as MAX_MANIFOLD_POINTS;\n",
            "use crate::math::Real;\n",
        ),
    },
    // Whoever orders contacts by their colliders must know these.
    Edit {
        file: "dynamics/solver/manifold_store.rs",
        from: "    fn pair_ptr(",
        to: "    pub(crate) fn pair_ptr(",
    },
    // The contacts of pairs are found on all threads of the pool that calls.
    Edit {
        file: "geometry/narrow_phase/contacts.rs",
        from: concat!(
            "        let process_pair = |edge: &mut crate::data::graph::Edge<ContactPair>, ",
            "edge_id: u32| {\n",
        ),
        to: concat!(
            "        let process_pair = |edge: &mut crate::data::graph::Edge<ContactPair>,\n",
            "                            edge_id: u32,\n",
            "                            transitions: &mut Vec<PairTransition>| {\n",
        ),
    },
    Edit {
        file: "geometry/narrow_phase/contacts.rs",
        from: "                &mut transitions,\n            )\n        };\n",
        to: "                transitions,\n            )\n        };\n",
    },
    Edit {
        file: "geometry/narrow_phase/contacts.rs",
        from: concat!(
            "            let mut process_pair = process_pair;\n",
            "            let edges = &mut self.contact_graph.graph.edges;\n",
        ),
        to: concat!(
            "            let edges = &mut self.contact_graph.graph.edges;\n",
            "            let outcomes = crate::pairs::update(\n",
            "                edges, &update_candidates, &process_pair, &mut transitions,\n",
            "            );\n",
        ),
    },
    Edit {
        file: "geometry/narrow_phase/contacts.rs",
        from: "                match process_pair(&mut edges[*id as usize], *id) {\n",
        to: concat!(
            "                let outcome = match &outcomes {\n",
            "                    Some(outcomes) => outcomes[i],\n",
            "                    None => {\n",
            "                        process_pair(",
            "&mut edges[*id as usize], *id, &mut transitions)\n",
            "                    }\n",
            "                };\n",
            "                match outcome {\n",
        ),
    },
    Edit {
        file: "pipeline/physics_pipeline/solve.rs",
        from: concat!(
            "        if let Some(island_id) = islands.awake_island {\n",
            "            #[cfg(feature = \"parallel\")]\n",
        ),
        to: concat!(
            "        if let Some(mut solver) = self.island_solver.take() {\n",
            "            let any_fast = crate::island_solver::solve(\n",
            "                &mut *solver, integration_parameters, islands, bodies,\n",
            "                narrow_phase.solver_graph(), &manifold_store, impulse_joints,\n",
            "                colliders,\n",
            "            );\n",
            "            self.staged_solver.post_solve_ccd_active = Some(any_fast);\n",
            "            self.island_solver = Some(solver);\n",
            "        } else if let Some(island_id) = islands.awake_island {\n",
            "            #[cfg(feature = \"parallel\")]\n",
        ),
    },
];

fn main() {
    let folder = published::copy("rapier3d-f64", EDITS);
    published::strip_root(&folder, "pub use parry::glamx;");
}
