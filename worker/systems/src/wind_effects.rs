//! `WindEffects`: wind that rises and turns, and pushes links that let it.
//!
//! The force on a link is its mass times the difference of the velocities of wind and link, scaled.
//! Source: gz-sim, `wind_effects/WindEffects.hh` and `.cc`.

mod gust;

use messages::Time;
use messages::state::Wind;
use physics::{Cell, ModelRef};
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use self::gust::Gust;
use super::{
    Configuration, ConfigureError, Configured, StepTime, TopicSpec, WorldContext, WorldSystem,
};
use crate::random::Draw;

/// Number of times that the wind is told \[ns\].
const INTERVAL_NS: u64 = 100_000_000;

/// The place of this system among those that draw random numbers for no model.
const PART: u64 = 1;

struct WindEffects {
    horizontal: Gust,
    /// In degrees, as in the file.
    direction: Gust,
    vertical: Gust,
    scaling: f64,
    topic: String,
    state: State,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// Mean wind that the wind tends to, world frame \[m/s\].
    aim: [f64; 3],
    is_enabled: bool,
    /// Current means of horizontal speed \[m/s\], direction \[deg\] and vertical speed \[m/s\].
    means: [f64; 3],
    has_direction: bool,
    /// Current wind, world frame \[m/s\].
    wind: [f64; 3],
}

/// Makes the system of a world.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn WorldSystem>, ConfigureError> {
    let name = &configuration.world.name;
    let content = &configuration.plugin.content;
    let horizontal = content.child("horizontal");
    let within = |child: &str| horizontal.and_then(|horizontal| horizontal.child(child));
    let factor = "force_approximation_scaling_factor";
    if content
        .child(factor)
        .is_some_and(|factor| factor.children().next().is_some())
    {
        let message = format!("<{factor}> that differs from place to place is not supported");
        return Err(ConfigureError(message));
    }
    let scaling = configuration.number(factor, 1.0)?;
    if scaling < 0.0 {
        return Err(ConfigureError(format!("<{factor}> is negative: {scaling}")));
    }
    let topic = configuration.topic(&format!("/world/{name}/wind_info"));
    let heard = configuration.topic(&format!("/world/{name}/wind"));
    Ok(Configured {
        subscriptions: vec![TopicSpec::of::<Wind>(heard)],
        publications: vec![TopicSpec::of::<Wind>(topic.as_str())],
        system: Box::new(WindEffects {
            horizontal: Gust::read(within("magnitude"), "amplitude_percent")?,
            direction: Gust::read(within("direction"), "amplitude")?,
            vertical: Gust::read(content.child("vertical"), "amplitude")?,
            scaling,
            topic,
            state: State {
                aim: configuration.world.wind,
                is_enabled: true,
                means: [0.0; 3],
                has_direction: false,
                wind: configuration.world.wind,
            },
        }),
    })
}

impl WindEffects {
    fn blow(&mut self, time: StepTime) {
        let state = &mut self.state;
        let [x, y, z] = state.aim;
        let heading = libm::atan2(y, x).to_degrees();
        if !state.has_direction {
            state.means[1] = heading;
            state.has_direction = true;
        }
        let aims = [libm::sqrt(x * x + y * y), heading, z];
        let gusts = [&self.horizontal, &self.direction, &self.vertical];
        for ((mean, gust), aim) in state.means.iter_mut().zip(gusts).zip(aims) {
            *mean += gust.share(time.step_size_s) * (aim - *mean);
        }
        let mut draw = Draw::new(time.seed, u64::MAX, PART, time.elapsed.0);
        let [speed, direction, vertical] = state.means;
        let now = time.elapsed.seconds();
        let wave = speed * self.horizontal.wave(now);
        let speed = self.horizontal.noise(speed + wave, time.seed, &mut draw);
        let direction = direction + self.direction.wave(now);
        let direction = self
            .direction
            .noise(direction, time.seed, &mut draw)
            .to_radians();
        let vertical = self.vertical.noise(vertical, time.seed, &mut draw);
        let (sine, cosine) = libm::sincos(direction);
        state.wind = [speed * cosine, speed * sine, vertical];
    }
}

impl WorldSystem for WindEffects {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut WorldContext<'_>) {
        if let Ok(wind) = messages::decode::<Wind>(&message.body) {
            let aim: [f64; 3] = (&wind.linear_velocity).into();
            if aim.iter().all(|speed| speed.is_finite()) {
                self.state.aim = aim;
                self.state.is_enabled = wind.enable_wind;
            }
        }
    }

    fn before_step(&mut self, context: &mut WorldContext<'_>) {
        if self.state.is_enabled {
            self.blow(context.time);
        }
        let step_ns = (context.time.step_size_s * 1e9).round() as u64;
        if context.time.elapsed.0 % INTERVAL_NS < step_ns {
            let mut message = Wind {
                header: context.header(),
                linear_velocity: self.state.wind.into(),
                enable_wind: self.state.is_enabled,
            };
            message.header.stamp = Time::from_ns(context.time.sim_time.0);
            context.publish(&self.topic, &message);
        }
    }

    fn act(&self, _: StepTime, cell: &mut Cell) {
        let wind = self.state.wind;
        cell.set_wind(wind);
        if !self.state.is_enabled || self.scaling == 0.0 {
            return;
        }
        let mut windy = Vec::new();
        for (performer, index) in cell.performer_models() {
            let links = cell.world().models[index].links.iter().enumerate();
            let model = ModelRef::moving(performer, index);
            windy.extend(
                links
                    .filter(|(_, link)| link.enable_wind)
                    .map(|(link, _)| (model, link)),
            );
        }
        for (model, link) in windy {
            let [velocity, _] = cell.link_velocity(model, link);
            let factor = self.scaling * cell.link_mass(model, link);
            let force = std::array::from_fn(|axis| factor * (wind[axis] - velocity[axis]));
            cell.add_load(model, link, force, [0.0; 3]);
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
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    fn world(parameters: &str) -> String {
        format!(
            "<gravity>0 0 0</gravity><wind><linear_velocity>6 8 5</linear_velocity></wind>
            <plugin name='gz::sim::systems::WindEffects' filename='w'>{parameters}</plugin>
            <model name='leaf'><enable_wind>true</enable_wind><link name='l'/></model>
            <model name='stone'><link name='l'/></model>"
        )
    }

    #[test]
    fn wind_rises_with_its_time_constant_and_takes_links_along() {
        let mut rig = SystemTestRig::new(&world(
            "<force_approximation_scaling_factor>3</force_approximation_scaling_factor>
            <horizontal><magnitude><time_for_rise>2</time_for_rise></magnitude></horizontal>
            <vertical><time_for_rise>4</time_for_rise></vertical>",
        ));
        rig.run(0.5);
        rig.renew_systems();
        rig.run(0.5);
        let rise = |time: f64, constant: f64| 1.0 - (-time / constant).exp();
        let expected = [
            6.0 * rise(1.0, 2.0),
            8.0 * rise(1.0, 2.0),
            5.0 * rise(1.0, 4.0),
        ];
        for (found, expected) in rig.cell.wind().iter().zip(expected) {
            assert!(
                (found - expected).abs() < 2e-3,
                "{found} but {expected} m/s"
            );
        }
        // v' = k (w - v) with w = W (1 - exp(-t/T)).
        let speed = |wind: f64, constant: f64| {
            let (k, rate): (f64, f64) = (3.0, 1.0 / constant);
            wind * (1.0 - (k * (-rate).exp() - rate * (-k).exp()) / (k - rate))
        };
        let leaf = rig.cell.link_velocity(rig.model("leaf"), 0)[0];
        assert!((leaf[2] - speed(5.0, 4.0)).abs() < 5e-3, "{leaf:?}");
        assert!((leaf[0] - speed(6.0, 2.0)).abs() < 5e-3, "{leaf:?}");
        let stone = rig.cell.link_velocity(rig.model("stone"), 0)[0];
        assert_eq!(stone, [0.0; 3]);
    }

    #[test]
    fn wind_swings_about_its_mean_in_speed_and_direction() {
        let mut rig = SystemTestRig::new(&world(
            "<horizontal>
              <magnitude><time_for_rise>0.001</time_for_rise>
                <sin><amplitude_percent>0.2</amplitude_percent><period>4</period></sin></magnitude>
              <direction><sin><amplitude>30</amplitude><period>4</period></sin></direction>
            </horizontal>",
        ));
        rig.run(1.0);
        let [x, y, _] = rig.cell.wind();
        assert!((x.hypot(y) - 12.0).abs() < 1e-9, "{x} {y}");
        let turned = y.atan2(x).to_degrees() - 8.0_f64.atan2(6.0).to_degrees();
        assert!((turned - 30.0).abs() < 1e-9, "{turned} degrees");
    }

    #[test]
    fn a_message_sets_the_wind_and_stops_it() {
        let mut rig = SystemTestRig::new(&world(
            "<horizontal><magnitude><time_for_rise>0.001</time_for_rise></magnitude>
            <direction><time_for_rise>0.001</time_for_rise></direction></horizontal>
            <vertical><time_for_rise>0.001</time_for_rise></vertical>",
        ));
        let mut wind = Wind {
            linear_velocity: [0.0, -2.0, 1.0].into(),
            enable_wind: true,
            ..Wind::default()
        };
        rig.publish("/world/w/wind", &wind);
        rig.run(0.2);
        let told: Wind = rig.last("/world/w/wind_info").unwrap();
        assert!((told.linear_velocity.y + 2.0).abs() < 1e-9, "{told:?}");
        wind.enable_wind = false;
        rig.publish("/world/w/wind", &wind);
        rig.run(0.001);
        let before = rig.cell.link_velocity(rig.model("leaf"), 0);
        rig.run(0.1);
        assert_eq!(rig.cell.link_velocity(rig.model("leaf"), 0), before);
    }

    #[test]
    fn noise_has_the_deviation_that_the_file_gives() {
        let mut rig = SystemTestRig::new(&world(
            "<vertical><time_for_rise>0.001</time_for_rise>
            <noise type='gaussian'><mean>1</mean><stddev>0.5</stddev></noise></vertical>",
        ));
        let samples: Vec<f64> = (0..2000)
            .map(|_| {
                rig.run(0.001);
                rig.cell.wind()[2] - 6.0
            })
            .collect();
        let mean = samples.iter().sum::<f64>() / 2000.0;
        let square = samples.iter().map(|sample| sample * sample).sum::<f64>() / 2000.0;
        assert!(
            mean.abs() < 0.05 && (square.sqrt() - 0.5).abs() < 0.04,
            "{mean} {square}"
        );
    }
}
