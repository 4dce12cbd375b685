//! Suggestions for words that are not known: the known word that is few changes away.

use strsim::osa_distance;

/// The longest word that is compared; longer ones are no typing errors.
const WORD_MAX: usize = 64;

/// Returns the end of a message about an unknown word: the likeliest of the known ones, or all of
/// them when none is near.
pub fn advice<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, &known) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => format!("; known are {}", known.join(", ")),
    }
}

/// Returns the known word that is few changes away, if there is one.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > WORD_MAX {
        return None;
    }
    let far = (length / 3).max(1);
    let distances = known
        .iter()
        .map(|known| (osa_distance(&word, known), *known));
    let (least, meant) = distances.min_by_key(|(distance, _)| *distance)?;
    (least <= far).then_some(meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<&str>) {
        let known = ["iterations", "seed", "secondaries", "real_time_factor"];
        assert_eq!(nearest(word, &known), expected, "{word}");
    }

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        check("itterations", Some("iterations"));
        check("iteratoins", Some("iterations"));
        check("Seed", Some("seed"));
        check("sede", Some("seed"));
        check("real-time-factor", Some("real_time_factor"));
        check("world", None);
        check("", None);
        check(&"x".repeat(10_000), None);
    }
}
