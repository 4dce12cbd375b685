//! Tests of the rig, and of what all systems have in common.

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

fn run(renews: bool) -> SystemTestRig {
    let mut rig = SystemTestRig::new(WORLD);
    let thrust = Double {
        data: 5.0,
        ..Double::default()
    };
    rig.publish("/model/boat/joint/j/cmd_thrust", &thrust);
    let motors = Actuators {
        velocity: vec![600.0],
        ..Actuators::default()
    };
    rig.publish("/copter/m", &motors);
    for _ in 0..40 {
        rig.run(0.013);
        if renews {
            rig.renew_systems();
        }
    }
    rig
}

#[test]
fn systems_go_on_bit_for_bit_from_what_they_saved() {
    let (kept, renewed) = (run(false), run(true));
    assert_eq!(kept.link_states(), renewed.link_states());
    assert_eq!(kept.published, renewed.published);
    let moves = |(_, [linear, _]): &(sdf::Pose, [[f64; 3]; 2])| linear[0].abs() > 1e-3;
    assert!(
        kept.link_states().iter().all(moves),
        "{:?}",
        kept.link_states()
    );
}

#[test]
fn damaged_memories_are_refused() {
    let mut rig = SystemTestRig::new(WORLD);
    let worlds = rig.world_systems.iter_mut();
    for (name, member) in worlds {
        assert!(member.system.load(&[0xff; 300]).is_err(), "{name}");
    }
    for member in rig.models.iter_mut().flat_map(|(_, members)| members) {
        let system = &mut member.configured.system;
        assert!(system.load(&[0xff; 300]).is_err(), "{}", member.name);
    }
}

#[test]
fn the_example_of_the_documents_is_the_one_that_works() {
    let document = include_str!("../../../../docs/systems.md");
    let example = include_str!("leash.rs");
    let (_, code) = example.split_once("\n\n").expect("a header opens the file");
    assert!(
        document.contains(code),
        "docs/systems.md shows another example"
    );
    let mut rig = SystemTestRig::new(
        "<model name='dog'><link name='body'><gravity>false</gravity></link>\
         <plugin name='gz::sim::systems::VelocityControl' filename='none'/></model>",
    );
    let element = sdf::Content {
        name: "link_name".into(),
        nodes: vec![sdf::ContentNode::Text("body".into())],
        ..sdf::Content::default()
    };
    let plugin = sdf::Plugin {
        name: "Leash".to_owned(),
        filename: String::new(),
        content: sdf::Content {
            name: "plugin".into(),
            nodes: vec![sdf::ContentNode::Element(element)],
            ..sdf::Content::default()
        },
    };
    rig.join("dog", super::leash::configure, &plugin);
    rig.run(0.001);
    rig.shove("dog", [1.0, 0.0, 0.0]);
    // A quarter of the period: 1 kg on 10 N/m is farthest out, by the speed over the frequency.
    let frequency = 10.0_f64.sqrt();
    rig.run(std::f64::consts::FRAC_PI_2 / frequency);
    let reach = rig.pose("dog").position[0];
    assert!((reach - 1.0 / frequency).abs() < 2e-3, "{reach}");
    let weak = messages::Double::default();
    rig.publish("/model/dog/leash", &weak);
    rig.run(0.1);
    assert!((rig.pose("dog").position[0] - reach).abs() < 5e-3);
}
