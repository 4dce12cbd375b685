//! Noise: what distribution it has, and that it depends on seed, sensor and time alone.

use messages::sensor::{Altimeter, LaserScan};

use super::rig::{fixed, measure, rig_of, sensor};

const COUNT: usize = 4000;

/// Returns many heights of an altimeter at rest with some noise.
fn heights(seed: u64, noise: &str) -> Vec<f64> {
    let content = format!("<altimeter><vertical_position>{noise}</vertical_position></altimeter>");
    let mut rig = rig_of(&fixed(
        "robot",
        "0 0 0 0 0 0",
        &sensor("altimeter", &content),
    ));
    rig.seed = seed;
    rig.run_steps(COUNT as u32);
    let read: Vec<Altimeter> = rig.take("/t");
    read.iter().map(|one| one.vertical_position).collect()
}

fn mean_and_deviation(numbers: &[f64]) -> [f64; 2] {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let square: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    [mean, (square / count).sqrt()]
}

fn gaussian(content: &str) -> String {
    format!(r#"<noise type="gaussian">{content}</noise>"#)
}

#[test]
fn gaussian_noise_has_its_mean_and_deviation() {
    let noise = gaussian("<mean>3</mean><stddev>0.5</stddev>");
    let [mean, deviation] = mean_and_deviation(&heights(1, &noise));
    // Four deviations of each: 0.5 / sqrt(n) and 0.5 / sqrt(2 n).
    assert!((mean - 3.0).abs() < 0.032, "{mean}");
    assert!((deviation - 0.5).abs() < 0.023, "{deviation}");
}

#[test]
fn a_bias_is_drawn_once_with_either_sign() {
    let noise = gaussian("<bias_mean>2</bias_mean><bias_stddev>0.1</bias_stddev>");
    let biases: Vec<f64> = (0..60)
        .map(|seed| {
            let heights = heights(seed, &noise);
            assert!(
                heights.iter().all(|height| *height == heights[0]),
                "seed {seed}"
            );
            heights[0]
        })
        .collect();
    let sizes: Vec<f64> = biases.iter().map(|bias| bias.abs()).collect();
    let [mean, deviation] = mean_and_deviation(&sizes);
    assert!(
        (mean - 2.0).abs() < 0.06 && (deviation - 0.1).abs() < 0.05,
        "{mean} {deviation}"
    );
    let negative = biases.iter().filter(|bias| **bias < 0.0).count();
    assert!((15..46).contains(&negative), "{negative} of 60");
}

#[test]
fn a_wandering_bias_keeps_its_spread_and_forgets_in_its_time() {
    let noise = gaussian(
        "<dynamic_bias_stddev>0.7</dynamic_bias_stddev>
        <dynamic_bias_correlation_time>0.02</dynamic_bias_correlation_time>",
    );
    let heights = heights(5, &noise);
    let [mean, deviation] = mean_and_deviation(&heights);
    // gz-sensors' process has the variance sigma^2 tau / 2... times what a step forgets.
    let spread = 0.7 * (0.02_f64 / 2.0).sqrt();
    assert!(mean.abs() < 0.03, "{mean}");
    assert!(
        (deviation - spread).abs() < 0.2 * spread,
        "{deviation} {spread}"
    );
    let pairs = heights.windows(2).map(|pair| pair[0] * pair[1]);
    let correlation = pairs.sum::<f64>() / COUNT as f64 / (deviation * deviation);
    assert!(
        (correlation - (-0.05_f64).exp()).abs() < 0.03,
        "{correlation}"
    );
}

#[test]
fn quantized_noise_is_rounded() {
    let noise = r#"<noise type="gaussian_quantized"><stddev>1</stddev>
        <precision>0.25</precision></noise>"#;
    let heights = heights(1, noise);
    assert!(heights.iter().all(|height| (height * 4.0).fract() == 0.0));
    assert!(heights.iter().any(|height| *height != heights[0]));
}

#[test]
fn noise_is_a_function_of_seed_sensor_and_time() {
    let noise = gaussian("<stddev>1</stddev>");
    assert_eq!(heights(7, &noise), heights(7, &noise));
    assert_ne!(heights(7, &noise)[..9], heights(8, &noise)[..9]);
    let content = format!("<altimeter><vertical_position>{noise}</vertical_position></altimeter>");
    let one = sensor("altimeter", &content);
    let two = one
        .replace("\"s\"", "\"r\"")
        .replace("<topic>t", "<topic>u");
    let mut rig = rig_of(&fixed("robot", "0 0 0 0 0 0", &(one + &two)));
    rig.run_steps(9);
    let [first, second] = ["/t", "/u"].map(|topic| rig.take::<Altimeter>(topic));
    assert!((0..9).all(|at| first[at].vertical_position != second[at].vertical_position));
}

#[test]
fn noise_of_a_lidar_stays_within_its_range() {
    let content = "<lidar><scan><horizontal><samples>2000</samples><min_angle>0</min_angle>
        <max_angle>0</max_angle></horizontal></scan><range><min>0.5</min><max>2.1</max></range>
        <noise><type>gaussian</type><mean>0</mean><stddev>0.1</stddev></noise></lidar>";
    let wall = fixed("wall", "3 0 0 0 0 0", &super::rig::cuboid("2 2 2"));
    let mut rig = rig_of(&(wall + &fixed("robot", "0 0 0 0 0 0", &sensor("lidar", content))));
    let scan: LaserScan = measure(&mut rig);
    assert!(scan.ranges.iter().all(|range| (0.5..=2.1).contains(range)));
    let below: Vec<f64> = scan
        .ranges
        .iter()
        .copied()
        .filter(|range| *range < 2.0)
        .collect();
    let square: f64 = below.iter().map(|range| (range - 2.0).powi(2)).sum();
    let deviation = (square / below.len() as f64).sqrt();
    assert!(
        (below.len() as f64 - 1000.0).abs() < 90.0,
        "{}",
        below.len()
    );
    assert!((deviation - 0.1).abs() < 0.01, "{deviation}");
}
