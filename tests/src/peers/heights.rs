//! Similarity of the heights at which bodies ended: a scene that fell through the floor is compared
//! with none.

/// The parts of the bodies, from the lowest, whose heights are compared.
const TENTHS: usize = 10;

/// The part of the bodies, from the highest, whose lowest height is shown, but not compared: it is
/// chance whether the few on top of a pile have fallen down its side.
const TOP: usize = 100;

/// Returns the height of the lowest body, of each tenth of them, and of the highest but one in a
/// hundred \[m\].
///
/// # Panics
/// Panics if there are no heights.
pub fn deciles(heights: &[f64]) -> Vec<f64> {
    assert!(!heights.is_empty(), "a scene has bodies");
    let mut sorted = heights.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    (0..TENTHS)
        .map(|tenth| tenth * last / TENTHS)
        .chain([last - last / TOP])
        .map(|place| sorted[place])
        .collect()
}

/// Returns the greatest difference of two lists of [`deciles`] but for the last of them \[m\];
/// infinite when any height is no finite number. Piles are chaotic, so that single bodies are not
/// compared.
pub fn disagreement(one: &[f64], other: &[f64]) -> f64 {
    if one.iter().chain(other).any(|height| !height.is_finite()) {
        return f64::INFINITY;
    }
    let pairs = deciles(one).into_iter().zip(deciles(other)).take(TENTHS);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_body_that_fell_through_the_floor_is_seen_among_many() {
        let stood: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut fell = stood.clone();
        fell[500] = -19.6;
        assert_eq!(disagreement(&stood, &stood), 0.0);
        assert!(disagreement(&stood, &fell) >= 19.6);
    }

    #[test]
    fn the_order_of_bodies_does_not_matter() {
        assert_eq!(disagreement(&[1.0, 2.0, 3.0], &[3.0, 1.0, 2.0]), 0.0);
    }

    #[test]
    fn a_height_that_is_no_number_agrees_with_nothing() {
        assert_eq!(disagreement(&[f64::NAN], &[f64::NAN]), f64::INFINITY);
    }

    #[test]
    fn deciles_reach_from_the_lowest_to_the_highest() {
        let heights: Vec<f64> = (0..=50).rev().map(f64::from).collect();
        let expected: Vec<f64> = (0..=10).map(|tenth| f64::from(tenth * 5)).collect();
        assert_eq!(deciles(&heights), expected);
    }

    #[test]
    fn the_top_tenth_is_not_compared() {
        let heights: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut higher = heights.clone();
        higher[901..].fill(5000.0);
        assert_eq!(disagreement(&heights, &higher), 0.0);
        higher[890..].fill(5000.0);
        assert!(disagreement(&heights, &higher) > 1000.0);
    }
}
