//! `LinearBatteryPlugin`: a battery whose voltage falls with its charge and its current.
//!
//! It drains from the start, by message, or from when a joint of its model moves; its loads are its
//! own and those of systems that name it. Charge is always counted as with `fix_issue_225`; without
//! it, percentages are told from 0 to 1 as Gazebo does. Source: gz-sim,
//! `battery_plugin/LinearBatteryPlugin.hh` and `.cc`.

use messages::state::BatteryState;
use messages::{Boolean, StringMsg};
use protocol::TopicMessage;
use sdf::{Model, Plugin, World};
use serde::{Deserialize, Serialize};

use super::configuration::{number_of, text_of};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// Number of times that the state is told \[ns\].
const INTERVAL_NS: u64 = 20_000_000;

/// A joint that is faster than this moves \[rad/s or m/s\].
const JOINT_SPEED_MIN: f64 = 1e-3;

/// Below this voltage a battery is dead \[V\].
const VOLTAGE_MIN: f64 = 1e-3;

/// Up to this charge it is charged, as a part of its capacity.
const FULL: f64 = 0.9;

struct LinearBattery {
    cell: Chemistry,
    /// \[W\]
    load: f64,
    /// \[h\]; none when it cannot be charged.
    charging_time: Option<f64>,
    /// Meaning of each subscribed topic.
    switches: Vec<Switch>,
    joints: usize,
    current_sign: f64,
    percent: f64,
    state_topic: String,
    empty_topic: String,
    state: State,
}

/// Parameters of the voltage.
struct Chemistry {
    /// Open-circuit voltage when full \[V\], and its change until empty \[V\].
    open_circuit: [f64; 2],
    /// \[A h\]
    capacity: f64,
    /// \[Ω\]
    resistance: f64,
    /// Time constant of the current \[s\].
    smoothing_s: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Switch {
    Drain(bool),
    Charge(bool),
}

#[derive(Serialize, Deserialize)]
struct State {
    /// \[A h\]
    charge: f64,
    /// \[V\]
    voltage: f64,
    /// Smoothed, positive while it discharges \[A\].
    current: f64,
    is_draining: bool,
    is_charging: bool,
    /// True if it said that it is empty.
    is_empty: bool,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let name = configuration.required("battery_name")?;
    let number = |name: &str, default| configuration.number(name, default);
    let voltage = configuration.optional_number("voltage")?;
    let voltage = voltage.ok_or_else(|| ConfigureError("it needs a <voltage>".to_owned()))?;
    let capacity = number("capacity", 0.0)?;
    if capacity <= 0.0 {
        return Err(ConfigureError("it needs a <capacity> above 0".to_owned()));
    }
    let charge = number("initial_charge", capacity)?;
    let smoothing = number("smooth_current_tau", 1.0)?;
    let charging_time = if configuration.flag("enable_recharge", false)? {
        let time = configuration.optional_number("charging_time")?;
        let time = time.filter(|time| *time > 0.0);
        let is_missing = || ConfigureError("it needs a <charging_time> above 0".to_owned());
        Some(time.ok_or_else(is_missing)?)
    } else {
        None
    };
    let (subscriptions, switches) = topics(configuration, &name, charging_time.is_some());
    let path = configuration.model_path();
    let topic = configuration.topic(&format!("/model/{path}/battery/{name}/state"));
    let empty_topic = empty_topic(configuration, &name);
    let sign = configuration.flag("invert_current_sign", false)?;
    let percent = configuration.flag("fix_issue_225", false)?;
    Ok(Configured {
        subscriptions,
        publications: vec![
            TopicSpec::of::<BatteryState>(topic.as_str()),
            TopicSpec::of::<Boolean>(empty_topic.as_str()),
        ],
        system: Box::new(LinearBattery {
            cell: Chemistry {
                open_circuit: [
                    number("open_circuit_voltage_constant_coef", 0.0)?,
                    number("open_circuit_voltage_linear_coef", 0.0)?,
                ],
                capacity,
                resistance: number("resistance", 0.0)?,
                smoothing_s: if smoothing > 0.0 { smoothing } else { 1.0 },
            },
            load: number("power_load", 0.0)? + loads_of_others(configuration, &name)?,
            charging_time,
            switches,
            joints: configuration.model()?.joints.len(),
            current_sign: if sign { -1.0 } else { 1.0 },
            percent: if percent { 100.0 } else { 1.0 },
            state_topic: topic,
            empty_topic,
            state: State {
                charge: charge.clamp(0.0, capacity),
                voltage,
                current: 0.0,
                is_draining: configuration.flag("start_draining", false)?,
                is_charging: false,
                is_empty: false,
            },
        }),
    })
}

/// Returns what is heard, and what it means.
fn topics(
    configuration: &Configuration<'_>,
    name: &str,
    can_charge: bool,
) -> (Vec<TopicSpec>, Vec<Switch>) {
    let mut subscriptions = Vec::new();
    let mut switches = Vec::new();
    if can_charge {
        for (word, is_on) in [("start", true), ("stop", false)] {
            let path = configuration.model_path();
            let topic = format!("/model/{path}/battery/{name}/recharge/{word}");
            subscriptions.push(TopicSpec::of::<Boolean>(configuration.topic(&topic)));
            switches.push(Switch::Charge(is_on));
        }
    }
    for (parameter, is_on) in [
        ("power_draining_topic", true),
        ("stop_power_draining_topic", false),
    ] {
        for topic in configuration.texts(parameter) {
            subscriptions.push(TopicSpec::of::<StringMsg>(configuration.topic(&topic)));
            switches.push(Switch::Drain(is_on));
        }
    }
    (subscriptions, switches)
}

/// Returns the power that other systems of the model say they take from a battery \[W\].
fn loads_of_others(configuration: &Configuration<'_>, name: &str) -> Result<f64, ConfigureError> {
    let model = configuration.model()?;
    let plugins = model.nested.iter().flat_map(|nested| &nested.plugins);
    let plugins = model.plugins.iter().chain(plugins);
    let others = plugins.filter(|plugin| !is_battery(plugin));
    let others = others
        .filter(|plugin| text_of(&plugin.content, "battery_name").is_some_and(|own| own == name));
    others
        .map(|plugin| Ok(number_of(&plugin.content, "power_load")?.unwrap_or(0.0)))
        .sum()
}

fn is_battery(plugin: &Plugin) -> bool {
    plugin.name.ends_with("::LinearBatteryPlugin") || plugin.name == "LinearBatteryPlugin"
}

/// Returns the topics on which batteries of a model, in the same scope, say whether they are empty.
pub(super) fn empty_topics(configuration: &Configuration<'_>) -> Vec<String> {
    let Some(model) = configuration.model else {
        return Vec::new();
    };
    let scope = configuration.scope.trim_end_matches("::");
    let nested = model.nested.iter().find(|nested| nested.name == scope);
    let plugins = nested.map_or(&model.plugins, |nested| &nested.plugins);
    let batteries = plugins.iter().filter(|plugin| is_battery(plugin));
    batteries
        .filter_map(|plugin| text_of(&plugin.content, "battery_name"))
        .map(|name| empty_topic(configuration, &name))
        .collect()
}

/// Returns the topics on which batteries say whether they are empty that feed what is on a link of
/// a model: those of the model, and of nested models that the link is in.
pub(crate) fn empty_topics_around(
    world: &World,
    has_siblings: bool,
    model: &Model,
    link: &str,
) -> Vec<String> {
    let own = model.plugins.iter().map(|plugin| (String::new(), plugin));
    let nested = model.nested.iter().flat_map(|nested| {
        let scope = format!("{}::", nested.name);
        let plugins = link.starts_with(&scope).then_some(&nested.plugins);
        let plugins = plugins.into_iter().flatten();
        plugins.map(move |plugin| (scope.clone(), plugin))
    });
    let batteries = own.chain(nested).filter(|(_, plugin)| is_battery(plugin));
    let topic = |(scope, plugin): (String, &Plugin)| {
        let configuration = Configuration {
            world,
            has_siblings,
            model: Some(model),
            scope: &scope,
            plugin,
            notes: &std::cell::RefCell::default(),
        };
        let name = configuration.text("battery_name")?;
        Some(empty_topic(&configuration, &name))
    };
    batteries.filter_map(topic).collect()
}

fn empty_topic(configuration: &Configuration<'_>, name: &str) -> String {
    let path = configuration.model_path();
    configuration.topic(&format!("/model/{path}/battery/{name}/empty"))
}

impl LinearBattery {
    fn state_of_charge(&self) -> f64 {
        self.state.charge / self.cell.capacity
    }

    fn update(&mut self, step_size_s: f64) {
        let charge_part = self.state_of_charge();
        let state = &mut self.state;
        if !state.is_charging {
            if state.voltage.abs() < VOLTAGE_MIN {
                state.voltage = 0.0;
                return;
            }
            if charge_part < 0.0 {
                return;
            }
        }
        let mut current = 0.0;
        if state.is_draining && state.voltage.abs() >= VOLTAGE_MIN {
            current = self.load / state.voltage;
        }
        if let Some(time) = self.charging_time.filter(|_| state.is_charging)
            && charge_part < FULL
        {
            current -= self.cell.capacity / time;
        }
        let share = (step_size_s / self.cell.smoothing_s).min(1.0);
        state.current += share * (current - state.current);
        state.charge -= step_size_s * state.current / 3600.0;
        let [full, change] = self.cell.open_circuit;
        let used = 1.0 - state.charge / self.cell.capacity;
        state.voltage = full + change * used - self.cell.resistance * state.current;
    }

    fn state(&self) -> BatteryState {
        let state = &self.state;
        let status = if state.is_charging {
            "CHARGING"
        } else if state.is_draining {
            "DISCHARGING"
        } else if self.state_of_charge() > FULL {
            "FULL"
        } else {
            "NOT_CHARGING"
        };
        BatteryState {
            voltage: state.voltage,
            current: state.current * self.current_sign,
            charge: state.charge,
            capacity: self.cell.capacity,
            percentage: self.state_of_charge() * self.percent,
            power_supply_status: status.to_owned(),
            ..BatteryState::default()
        }
    }
}

impl System for LinearBattery {
    fn on_message(&mut self, input: usize, _: &TopicMessage, _: &mut Context<'_>) {
        match self.switches[input] {
            Switch::Drain(is_on) => self.state.is_draining = is_on,
            Switch::Charge(is_on) => self.state.is_charging = is_on,
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        if !self.state.is_draining {
            let (cell, model) = (&*context.cell, context.model);
            let moves = |joint| cell.joint_velocity(model, joint, 0).abs() > JOINT_SPEED_MIN;
            self.state.is_draining = (0..self.joints).any(moves);
        }
        if self.state.is_draining || self.state.is_charging {
            self.update(context.time.step_size_s);
        }
    }

    fn after_step(&mut self, context: &mut Context<'_>) {
        let is_empty = self.state.charge <= 0.0;
        if is_empty != self.state.is_empty {
            self.state.is_empty = is_empty;
            let message = Boolean {
                header: context.header(),
                data: is_empty,
            };
            context.publish(&self.empty_topic, &message);
        }
        let step_ns = (context.time.step_size_s * 1e9).round() as u64;
        if context.time.elapsed.0 % INTERVAL_NS < step_ns && context.is_wanted(&self.state_topic) {
            let mut state = self.state();
            state.header = context.header();
            context.publish(&self.state_topic, &state);
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

#[cfg(test)]
mod tests;
