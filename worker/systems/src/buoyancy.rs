//! `Buoyancy`: what fluids carry of what is in them, by the volumes of collisions.
//!
//! Uniform fluid, or layers from heights on; each layer carries what of a shape is in it, at the
//! centre of that, in any orientation. Source: gz-sim, `buoyancy/Buoyancy.hh` and `.cc`, which cuts
//! boxes and balls that stand upright alone.

use std::collections::{BTreeMap, BTreeSet};

use physics::volume::{Room, Solid, Solids};
use physics::{Cell, ModelRef};
use sdf::{Pose, World};

use super::configuration::number_of;
use super::{
    Configuration, ConfigureError, Configured, GoneModel, StepTime, WorldContext, WorldSystem,
};

/// Water \[kg/m³\].
const DENSITY: f64 = 1000.0;

struct Buoyancy {
    /// Of the lowest fluid, or of all there is \[kg/m³\].
    density: f64,
    /// Heights \[m\] and the densities above them, ascending.
    layers: Vec<[f64; 2]>,
    /// Scoped names of what is carried; all, when there is none.
    enabled: Vec<String>,
    solids: Solids,
    /// Links with what they consist of, by model.
    floaters: BTreeMap<usize, Vec<(usize, Vec<Solid>)>>,
    /// Number of models looked at.
    seen: usize,
    /// Of those, the ones that were gone then, or went later.
    gone: BTreeSet<usize>,
}

/// Makes the system of a world.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn WorldSystem>, ConfigureError> {
    let mut density = DENSITY;
    let mut layers: Vec<[f64; 2]> = Vec::new();
    if let Some(uniform) = configuration.optional_number("uniform_fluid_density")? {
        density = uniform;
    } else if let Some(graded) = configuration.elements("graded_buoyancy").next() {
        density = number_of(graded, "default_density")?.unwrap_or(DENSITY);
        for change in graded
            .children()
            .filter(|child| child.name == "density_change")
        {
            let number = |name: &str| Ok(number_of(change, name)?.unwrap_or(0.0));
            let layer = [number("above_depth")?, number("density")?];
            layers.retain(|[height, _]| *height != layer[0]);
            layers.push(layer);
        }
        layers.sort_by(|a, b| a[0].total_cmp(&b[0]));
    }
    Ok(Configured {
        system: Box::new(Buoyancy {
            density,
            layers,
            enabled: configuration.texts("enable"),
            solids: Solids::default(),
            floaters: BTreeMap::new(),
            seen: 0,
            gone: BTreeSet::new(),
        }),
        subscriptions: Vec::new(),
        publications: Vec::new(),
    })
}

impl Buoyancy {
    /// Looks at models that came since it last did.
    fn learn(&mut self, world: &World) {
        let count = world.models.len();
        let mut unknown = std::mem::take(&mut self.gone);
        unknown.retain(|model| *model < count);
        unknown.extend(self.seen.min(count)..count);
        self.seen = count;
        for number in unknown {
            let model = &world.models[number];
            if model.is_vacant() {
                self.gone.insert(number);
                continue;
            }
            let mut floaters = Vec::new();
            if !model.is_static {
                for (index, link) in model.links.iter().enumerate() {
                    let name = format!("{}::{}", model.name, link.name);
                    if self.enabled.is_empty() || self.is_enabled(&name) {
                        let solids = link.collisions.iter();
                        let solids = solids.filter_map(|one| self.solids.of(world, one));
                        floaters.push((index, solids.collect()));
                    }
                }
            }
            if !floaters.is_empty() {
                self.floaters.insert(number, floaters);
            }
        }
    }

    fn is_enabled(&self, name: &str) -> bool {
        self.enabled.iter().any(|enabled| {
            let rest = name.strip_prefix(enabled.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    }

    /// Tells what each fluid carries of a solid: its density and the part in it.
    fn parts(&self, solid: &Solid, link: &Pose, mut carry: impl FnMut(f64, Room)) {
        let mut density = self.density;
        let mut below = Room::default();
        for [height, next_density] in &self.layers {
            let up_to = solid.below(link, *height);
            carry(density, up_to.without(&below));
            (below, density) = (up_to, *next_density);
        }
        carry(density, solid.whole(link).without(&below));
    }
}

impl WorldSystem for Buoyancy {
    fn before_step(&mut self, context: &mut WorldContext<'_>) {
        self.learn(context.world);
    }

    fn act(&self, _: StepTime, cell: &mut Cell) {
        let gravity = cell.world().gravity;
        let owned: Vec<_> = cell.performer_models().collect();
        for (performer, index) in owned {
            let model = ModelRef::moving(performer, index);
            for (link, solids) in self.floaters.get(&index).into_iter().flatten() {
                let pose = cell.link_pose(model, *link);
                for solid in solids {
                    self.parts(solid, &pose, |density, room| {
                        if room.volume > 0.0 {
                            let force = gravity.map(|part| -part * density * room.volume);
                            cell.add_force_at(model, *link, force, room.center());
                        }
                    });
                }
            }
        }
    }

    fn forget(&mut self, gone: &GoneModel<'_>) {
        self.floaters.remove(&gone.model);
        self.gone.insert(gone.model);
        self.solids.forget_meshes();
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut (), bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::test_rig::SystemTestRig;

    const GRADED: &str = "<graded_buoyancy><default_density>1000</default_density>
        <density_change><above_depth>0</above_depth><density>1</density></density_change>
        </graded_buoyancy>";

    fn world(parameters: &str, models: &str) -> String {
        format!(
            "<gravity>0 0 -10</gravity>
            <plugin name='gz::sim::systems::Buoyancy' filename='b'>{parameters}</plugin>{models}"
        )
    }

    fn cube(name: &str, pose: &str, mass: f64) -> String {
        let moment = mass / 6.0;
        format!(
            "<model name='{name}'><pose>{pose}</pose><link name='l'><inertial><mass>{mass}</mass>
            <inertia><ixx>{moment}</ixx><iyy>{moment}</iyy><izz>{moment}</izz></inertia></inertial>
            <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>
            </link></model>"
        )
    }

    #[test]
    fn a_uniform_fluid_carries_by_volume_and_density() {
        let models = cube("light", "0 0 0 0 0 0", 250.0) + &cube("even", "5 0 0 1 1 0", 500.0);
        let fluid = "<uniform_fluid_density>500</uniform_fluid_density>";
        let mut rig = SystemTestRig::new(&world(fluid, &models));
        rig.run(0.5);
        let light = rig.cell.link_velocity(rig.model("light"), 0)[0];
        // (500 - 250) * 10 N / 250 kg.
        assert!((light[2] - 5.0).abs() < 1e-9, "{light:?}");
        let even = rig.cell.link_velocity(rig.model("even"), 0);
        assert!(
            even.as_flattened().iter().all(|speed| speed.abs() < 1e-12),
            "{even:?}"
        );
    }

    #[test]
    fn a_model_with_a_reused_number_floats_by_its_own_volume() {
        let fluid = "<uniform_fluid_density>500</uniform_fluid_density>";
        let models = cube("small", "0 0 0 0 0 0", 250.0) + &cube("last", "9 0 0 0 0 0", 500.0);
        let mut rig = SystemTestRig::new(&world(fluid, &models));
        rig.run(0.01);
        let large = cube("large", "0 0 0 0 0 0", 1000.0).replace("<size>1 1 1<", "<size>2 1 1<");
        rig.replace("small", &large);
        rig.replace("last", &cube("other", "9 0 0 0 0 0", 500.0));
        rig.run(0.5);
        // 500 kg/m³ of water and 2 m³ of it weigh as much as the new one.
        for name in ["large", "other"] {
            let speeds = rig.velocity(name);
            let is_still = speeds.as_flattened().iter().all(|speed| speed.abs() < 1e-9);
            assert!(is_still, "{name}: {speeds:?}");
        }
    }

    #[test]
    fn a_cube_half_under_water_rests_and_one_above_swings_with_the_frequency_of_its_area() {
        // Weight = water below + air above: m = 1000 d + 1 (1 - d).
        let models = cube("rest", "0 0 0 0 0 0", 500.5) + &cube("swing", "5 0 0.1 0 0 0", 500.5);
        let mut rig = SystemTestRig::new(&world(GRADED, &models));
        // w² = (1000 - 1) * 1 m² * g / m.
        let period = std::f64::consts::TAU / (9990.0_f64 / 500.5).sqrt();
        rig.run(period / 2.0);
        let rest = rig.cell.link_pose(rig.model("rest"), 0).position[2];
        assert!(rest.abs() < 1e-9, "{rest} m");
        let swing = rig.cell.link_pose(rig.model("swing"), 0).position[2];
        assert!((swing + 0.1).abs() < 1e-3, "{swing} m");
        rig.run(period / 2.0);
        let swing = rig.cell.link_pose(rig.model("swing"), 0).position[2];
        assert!((swing - 0.1).abs() < 1e-3, "{swing} m");
    }

    #[test]
    fn a_heeled_flat_box_rights_itself_and_a_tall_one_tips_over() {
        let raft = |name: &str, size: &str, x: f64| {
            format!(
                "<model name='{name}'><pose>{x} 0 0 0.05 0 0</pose><link name='l'>
                <inertial><mass>500.5</mass></inertial><collision name='c'><geometry><box>
                <size>{size}</size></box></geometry></collision></link></model>"
            )
        };
        let models = raft("flat", "2 2 0.25", 0.0) + &raft("tall", "0.5 0.5 4", 9.0);
        let mut rig = SystemTestRig::new(&world(GRADED, &models));
        rig.run(0.001);
        let turning = |name: &str| rig.cell.link_velocity(rig.model(name), 0)[1][0];
        // Righting moment of a small angle a: rho g a (I - V h), with the second moment I of the
        // area at the water line and the centre of volume h below the centre of mass.
        let expected = -9990.0 * 0.05 * (2.0 * 8.0 / 12.0 - 0.5 * 0.0625) * 0.001;
        let found = turning("flat");
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{found} but {expected}"
        );
        assert!(turning("tall") > 0.0, "{}", turning("tall"));
    }

    #[test]
    fn only_what_is_enabled_by_name_is_carried() {
        let parameters = "<enable>a</enable><enable>b::l</enable><enable>c::other</enable>";
        let models = ["a", "ab", "b", "c"].iter().enumerate();
        let models: String = models
            .map(|(index, name)| cube(name, &format!("{} 0 0 0 0 0", 5 * index), 1000.0))
            .collect();
        let mut rig = SystemTestRig::new(&world(parameters, &models));
        rig.run(0.1);
        for (name, speed) in [("a", 0.0), ("ab", -1.0), ("b", 0.0), ("c", -1.0)] {
            let found = rig.cell.link_velocity(rig.model(name), 0)[0][2];
            assert!((found - speed).abs() < 1e-9, "{name}: {found} m/s");
        }
    }
}
