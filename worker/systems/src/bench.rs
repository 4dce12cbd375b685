//! [`Bench`]: one world in one cell with its systems, stepped and spoken to, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use messages::Message;
use physics::{Cell, ModelRef};
use protocol::{Iteration, ModelId, PerformerId, Publisher, SimTime, TopicMessage};
use sdf::World;

use super::registry::{Member, members_of_model, members_of_world};
use super::{Audience, Configured, Context, Outbox, StepTime, WorldContext, WorldSystem};

/// The step size \[ns\].
const STEP_NS: u64 = 1_000_000;

/// One world in one cell; performers have the numbers of their models.
pub(crate) struct Bench {
    pub(crate) cell: Cell,
    world: Arc<World>,
    world_systems: Vec<(String, Configured<dyn WorldSystem>)>,
    model_systems: BTreeMap<usize, Vec<Member>>,
    time: StepTime,
    audience: Audience,
    /// Messages that are delivered in the next step.
    incoming: Vec<TopicMessage>,
    /// Messages of the systems so far.
    pub(crate) said: Vec<TopicMessage>,
}

impl Bench {
    /// Makes a bench of the inside of a `<world name='w'>`.
    pub(crate) fn new(content: &str) -> Self {
        let text = format!("<sdf version='1.11'><world name='w'>{content}</world></sdf>");
        let read = sdf::read_worlds(&text, "test.sdf", &sdf::NoFiles);
        let world = Arc::new(read.expect("the world is right").worlds.remove(0));
        let mut problems = Vec::new();
        let world_systems = members_of_world(&world, false, &mut problems);
        let mut cell = Cell::new(Arc::clone(&world));
        let mut model_systems = BTreeMap::new();
        for (index, model) in world.models.iter().enumerate() {
            if model.is_static {
                cell.insert_static(index);
            } else {
                cell.insert_performer(PerformerId(index as u32), index);
            }
            let members = members_of_model(&world, false, index, &mut problems);
            model_systems.insert(index, members);
        }
        assert_eq!(problems, Vec::<String>::new());
        let audience = Audience {
            publish_all: true,
            ..Audience::default()
        };
        Self {
            cell,
            world,
            world_systems,
            model_systems,
            time: StepTime {
                seed: 1,
                step_size_s: STEP_NS as f64 / 1e9,
                ..StepTime::default()
            },
            audience,
            incoming: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Has systems hear a message in the next step.
    pub(crate) fn publish<M: Message>(&mut self, topic: &str, message: &M) {
        self.incoming.push(TopicMessage {
            topic: topic.to_owned(),
            kind: M::KIND.to_owned(),
            publisher: Publisher::Client,
            iteration: self.time.iteration,
            sim_time: self.time.sim_time,
            body: messages::encode(message),
        });
    }

    /// Advances by a time \[s\].
    pub(crate) fn run(&mut self, duration_s: f64) {
        for _ in 0..(duration_s * 1e9 / STEP_NS as f64).round() as u64 {
            self.step();
        }
    }

    /// Returns the last message on a topic.
    pub(crate) fn last<M: Message>(&self, topic: &str) -> Option<M> {
        let message = self.said.iter().rfind(|message| message.topic == topic)?;
        Some(messages::decode(&message.body).expect("systems say what they announce"))
    }

    /// Names a model.
    pub(crate) fn model(&self, name: &str) -> ModelRef {
        let index = self
            .world
            .models
            .iter()
            .position(|model| model.name == name);
        let index = index.expect("the model is in the world");
        ModelRef::moving(PerformerId(index as u32), index)
    }

    /// Saves all systems, makes them anew and loads them.
    pub(crate) fn renew_systems(&mut self) {
        let mut problems = Vec::new();
        let fresh = members_of_world(&self.world, false, &mut problems);
        for ((_, old), (_, new)) in self.world_systems.iter_mut().zip(fresh) {
            let bytes = old.system.save();
            *old = new;
            old.system
                .load(&bytes)
                .expect("systems load what they saved");
        }
        for (index, members) in &mut self.model_systems {
            let fresh = members_of_model(&self.world, false, *index, &mut problems);
            for (old, new) in members.iter_mut().zip(fresh) {
                let bytes = old.configured.system.save();
                *old = new;
                let loaded = old.configured.system.load(&bytes);
                loaded.expect("systems load what they saved");
            }
        }
    }

    /// Returns where all links are and how they move.
    pub(crate) fn states(&self) -> Vec<(sdf::Pose, [[f64; 3]; 2])> {
        let mut states = Vec::new();
        for (performer, index) in self.cell.performer_models() {
            let model = ModelRef::moving(performer, index);
            for link in 0..self.world.models[index].links.len() {
                let pose = self.cell.link_pose(model, link);
                states.push((pose, self.cell.link_velocity(model, link)));
            }
        }
        states
    }

    fn step(&mut self) {
        self.time.iteration = Iteration(self.time.iteration.0 + 1);
        self.time.elapsed = SimTime(self.time.elapsed.0 + STEP_NS);
        self.time.sim_time = self.time.elapsed;
        let heard = std::mem::take(&mut self.incoming);
        let mut outbox = Outbox::default();
        let (time, world) = (self.time, &*self.world);
        for (_, member) in &mut self.world_systems {
            let mut context = WorldContext {
                time,
                world,
                publisher: Publisher::World { world: 0, part: 0 },
                audience: &self.audience,
                outbox: &mut outbox,
            };
            for (message, input) in inputs(&heard, &member.subscriptions) {
                member.system.on_message(input, message, &mut context);
            }
            member.system.before_step(&mut context);
            member.system.act(time, &mut self.cell);
        }
        for is_after in [false, true] {
            for (index, members) in &mut self.model_systems {
                for (part, member) in members.iter_mut().enumerate() {
                    let mut context = Context {
                        time,
                        cell: &mut self.cell,
                        model: ModelRef::moving(PerformerId(*index as u32), *index),
                        publisher: Publisher::Model {
                            model: ModelId::default(),
                            part: part as u32,
                        },
                        audience: &self.audience,
                        outbox: &mut outbox,
                    };
                    let member = &mut member.configured;
                    if is_after {
                        member.system.after_step(&mut context);
                        continue;
                    }
                    for (message, input) in inputs(&heard, &member.subscriptions) {
                        member.system.on_message(input, message, &mut context);
                    }
                    member.system.before_step(&mut context);
                }
            }
            if !is_after {
                self.cell.step(time.step_size_s);
            }
        }
        self.incoming.clone_from(&outbox.messages);
        self.said.extend(outbox.messages);
    }
}

fn inputs<'a>(
    heard: &'a [TopicMessage],
    specs: &'a [super::TopicSpec],
) -> Vec<(&'a TopicMessage, usize)> {
    let mut inputs = Vec::new();
    for message in heard {
        for (input, spec) in specs.iter().enumerate() {
            if spec.topic == message.topic {
                inputs.push((message, input));
            }
        }
    }
    inputs
}

#[cfg(test)]
mod tests {
    use messages::Double;
    use messages::motion::Actuators;

    use super::*;

    /// A world with each kind of force.
    const WORLD: &str = "<gravity>0 0 -9.8</gravity>
        <wind><linear_velocity>3 1 0.5</linear_velocity></wind>
        <plugin name='gz::sim::systems::WindEffects' filename='w'><horizontal><magnitude>
          <noise type='gaussian'><stddev>0.5</stddev></noise></magnitude></horizontal></plugin>
        <plugin name='gz::sim::systems::Buoyancy' filename='b'>
          <uniform_fluid_density>1.5</uniform_fluid_density></plugin>
        <plugin name='gz::sim::systems::ApplyLinkWrench' filename='a'>
          <persistent><entity_name>boat::hull</entity_name><entity_type>link</entity_type>
          <torque>0 0.1 0.2</torque></persistent></plugin>
        <model name='boat'><enable_wind>1</enable_wind>
          <link name='hull'><collision name='c'><geometry><sphere><radius>0.5</radius></sphere>
            </geometry></collision></link>
          <link name='screw'><pose>-1 0 0 0 0 0</pose></link>
          <joint name='j' type='revolute'><parent>hull</parent><child>screw</child>
            <axis><xyz>1 0 0</xyz></axis></joint>
          <plugin name='gz::sim::systems::Thruster' filename='t'><joint_name>j</joint_name>
            <p_gain>2</p_gain><i_gain>1</i_gain></plugin>
          <plugin name='gz::sim::systems::Hydrodynamics' filename='h'><link_name>hull</link_name>
            <xU>-1</xU><xDotU>-2</xDotU><mDotQ>-3</mDotQ></plugin>
          <plugin name='gz::sim::systems::LinearBatteryPlugin' filename='l'>
            <battery_name>b</battery_name><voltage>12</voltage><capacity>0.0005</capacity>
            <open_circuit_voltage_constant_coef>12</open_circuit_voltage_constant_coef>
            <power_load>20</power_load></plugin></model>
        <model name='copter'><pose>0 5 0 0 0 0</pose><link name='base'/><link name='rotor'/>
          <joint name='j' type='revolute'><parent>base</parent><child>rotor</child>
            <axis><xyz>0 0 1</xyz></axis></joint>
          <plugin name='gz::sim::systems::LiftDrag' filename='d'><link_name>base</link_name>
            </plugin>
          <plugin name='gz::sim::systems::MulticopterMotorModel' filename='m'>
            <jointName>j</jointName><linkName>rotor</linkName><commandSubTopic>m</commandSubTopic>
            <turningDirection>ccw</turningDirection></plugin></model>";

    fn run(renews: bool) -> Bench {
        let mut bench = Bench::new(WORLD);
        let thrust = Double {
            data: 5.0,
            ..Double::default()
        };
        bench.publish("/model/boat/joint/j/cmd_thrust", &thrust);
        let motors = Actuators {
            velocity: vec![600.0],
            ..Actuators::default()
        };
        bench.publish("/copter/m", &motors);
        for _ in 0..40 {
            bench.run(0.013);
            if renews {
                bench.renew_systems();
            }
        }
        bench
    }

    #[test]
    fn systems_go_on_bit_for_bit_from_what_they_saved() {
        let (kept, renewed) = (run(false), run(true));
        assert_eq!(kept.states(), renewed.states());
        assert_eq!(kept.said, renewed.said);
        let moves = |(_, [linear, _]): &(sdf::Pose, [[f64; 3]; 2])| linear[0].abs() > 1e-3;
        assert!(kept.states().iter().all(moves), "{:?}", kept.states());
    }

    #[test]
    fn damaged_memories_are_refused() {
        let mut bench = Bench::new(WORLD);
        let worlds = bench.world_systems.iter_mut();
        for (name, member) in worlds {
            assert!(member.system.load(&[0xff; 300]).is_err(), "{name}");
        }
        for member in bench.model_systems.values_mut().flatten() {
            let system = &mut member.configured.system;
            assert!(system.load(&[0xff; 300]).is_err(), "{}", member.name);
        }
    }
}
