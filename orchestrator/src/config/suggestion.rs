//! Suggests the known words that an unknown one was probably meant to be.

/// The longest word that is compared; what is longer is nobody's typing error.
const WORD_MAX: usize = 64;

/// Returns what to add to a message about a word that is not known: the likeliest of the known
/// ones, or all of them when none is near.
pub(crate) fn advice<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, &known) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => format!("; known are {}", known.join(", ")),
    }
}

/// Returns the known word that is few changes away, if there is one.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > WORD_MAX {
        return None;
    }
    let far = (length / 3).max(1);
    let distances = known.iter().map(|known| (distance(&word, known), *known));
    let (least, meant) = distances.min_by_key(|(distance, _)| *distance)?;
    (least <= far).then_some(meant)
}

/// Counts the characters to be put in, left out, changed or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut line = vec![row];
        for column in 1..=to.len() {
            let changed = usize::from(from[row - 1] != to[column - 1]);
            let mut least = (above[column] + 1)
                .min(line[column - 1] + 1)
                .min(above[column - 1] + changed);
            let is_swapped = row > 1
                && column > 1
                && from[row - 1] == to[column - 2]
                && from[row - 2] == to[column - 1];
            if is_swapped {
                let earlier: &Vec<usize> = &before;
                least = least.min(earlier[column - 2] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above[to.len()]
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
