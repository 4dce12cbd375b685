//! Batteries against the closed forms of their charge and voltage.

use super::*;
use crate::test_rig::SystemTestRig;

const STATE: &str = "/model/robot/battery/b/state";

fn bench(parameters: &str) -> SystemTestRig {
    SystemTestRig::new(&format!(
        "<gravity>0 0 0</gravity><model name='robot'><link name='l'/><link name='wheel'/>
        <joint name='j' type='revolute'><parent>l</parent><child>wheel</child>
        <axis><xyz>0 0 1</xyz></axis></joint>
        <plugin name='gz::sim::systems::LinearBatteryPlugin' filename='b'>
        <battery_name>b</battery_name><voltage>12</voltage><capacity>2</capacity>
        <open_circuit_voltage_constant_coef>12</open_circuit_voltage_constant_coef>
        {parameters}</plugin></model>"
    ))
}

fn state(rig: &SystemTestRig) -> BatteryState {
    rig.last(STATE).expect("the battery says how it is")
}

#[test]
fn a_constant_load_drains_as_the_closed_form_says() {
    let mut rig = bench(
        "<power_load>36</power_load><start_draining>true</start_draining>
        <smooth_current_tau>0.5</smooth_current_tau>",
    );
    rig.run(1.0);
    rig.renew_systems();
    rig.run(1.0);
    // i = I (1 - exp(-t/T)), of which the charge is the integral.
    let (rate, decayed) = (36.0 / 12.0, (-4.0_f64).exp());
    let used = rate / 3600.0 * (2.0 - 0.5 * (1.0 - decayed));
    let state = state(&rig);
    assert!(
        (state.current - rate * (1.0 - decayed)).abs() < 1e-3,
        "{state:?}"
    );
    assert!(
        ((2.0 - state.charge) / used - 1.0).abs() < 1e-3,
        "{state:?} but {used} A h used"
    );
    assert!(
        (state.percentage - state.charge / 2.0).abs() < 1e-12,
        "{state:?}"
    );
    assert_eq!(state.power_supply_status, "DISCHARGING");
}

#[test]
fn voltage_falls_with_charge_and_current() {
    let mut rig = bench(
        "<power_load>30</power_load><start_draining>1</start_draining><resistance>0.5</resistance>
        <initial_charge>1</initial_charge><smooth_current_tau>0.01</smooth_current_tau>
        <open_circuit_voltage_linear_coef>-4</open_circuit_voltage_linear_coef>
        <invert_current_sign>true</invert_current_sign><fix_issue_225>true</fix_issue_225>",
    );
    rig.run(0.2);
    let state = state(&rig);
    // 10 V at half charge: V = 10 - 0.5 i and V i = 30.
    let current = 10.0 - (100.0_f64 - 60.0).sqrt();
    assert!((state.current + current).abs() < 1e-3, "{state:?}");
    assert!(
        (state.voltage - (10.0 - 0.5 * current)).abs() < 1e-3,
        "{state:?}"
    );
    assert!((state.percentage - 50.0).abs() < 0.1, "{state:?}");
}

#[test]
fn draining_starts_by_message_or_when_a_joint_moves_and_stops_by_message() {
    let parameters = "<power_load>36</power_load><power_draining_topic>/on</power_draining_topic>
        <stop_power_draining_topic>/off</stop_power_draining_topic>";
    let mut told = bench(parameters);
    told.run(0.1);
    assert_eq!(state(&told).power_supply_status, "FULL");
    told.publish("/on", &StringMsg::default());
    told.run(0.1);
    assert_eq!(state(&told).power_supply_status, "DISCHARGING");
    told.publish("/off", &StringMsg::default());
    told.run(0.1);
    let charge = state(&told).charge;
    assert!(charge < 2.0);
    told.run(0.1);
    assert_eq!(state(&told).charge, charge);
    let mut moved = bench(parameters);
    let model = moved.model("robot");
    moved
        .cell
        .set_link_velocity(model, 1, [[0.0; 3], [0.0, 0.0, 1.0]]);
    moved.run(0.1);
    assert_eq!(state(&moved).power_supply_status, "DISCHARGING");
}

#[test]
fn charging_adds_the_capacity_within_the_charging_time() {
    let mut rig = bench(
        "<initial_charge>1</initial_charge><enable_recharge>true</enable_recharge>
        <charging_time>0.01</charging_time><recharge_by_topic>true</recharge_by_topic>
        <smooth_current_tau>0.001</smooth_current_tau>",
    );
    rig.publish("/model/robot/battery/b/recharge/start", &Boolean::default());
    rig.run(3.6);
    let charged = state(&rig);
    // A tenth of the time of 36 s.
    assert!((charged.charge - 1.2).abs() < 1e-2, "{charged:?}");
    assert_eq!(charged.power_supply_status, "CHARGING");
    rig.publish("/model/robot/battery/b/recharge/stop", &Boolean::default());
    rig.run(0.1);
    assert_eq!(state(&rig).power_supply_status, "NOT_CHARGING");
}

#[test]
fn an_empty_battery_says_so_once_and_gives_nothing_more() {
    let mut rig = bench(
        "<power_load>3600</power_load><start_draining>true</start_draining>
        <initial_charge>0.005</initial_charge><smooth_current_tau>0.001</smooth_current_tau>",
    );
    // 300 A drain 18 A s in 0.06 s.
    rig.run(0.05);
    let topic = "/model/robot/battery/b/empty";
    assert_eq!(rig.last::<Boolean>(topic), None);
    rig.run(0.2);
    assert!(
        rig.last::<Boolean>(topic)
            .is_some_and(|message| message.data)
    );
    assert_eq!(
        rig.published
            .iter()
            .filter(|message| message.topic == topic)
            .count(),
        1
    );
    let charge = state(&rig).charge;
    rig.run(0.2);
    assert_eq!(state(&rig).charge, charge);
}
