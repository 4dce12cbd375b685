//! [`Filter`]: which rows of a table or lines of a text are shown.

/// A substring that rows must have, or with `!` in front must not have; case does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
    needle: String,
}

impl Filter {
    /// Makes a filter from what was typed.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let needle = text.strip_prefix('!').unwrap_or(&text).to_lowercase();
        Self { text, needle }
    }

    /// Returns what was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether everything passes.
    pub fn is_empty(&self) -> bool {
        self.needle.is_empty()
    }

    /// Tells whether a row with these fields is shown.
    pub fn passes<'a>(&self, fields: impl IntoIterator<Item = &'a str>) -> bool {
        let mut fields = fields.into_iter();
        self.is_empty()
            || fields.any(|field| field.to_lowercase().contains(&self.needle))
                != self.text.starts_with('!')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: &str, fields: &[&str], shown: bool) {
        assert_eq!(
            Filter::new(filter).passes(fields.iter().copied()),
            shown,
            "{filter}"
        );
    }

    #[test]
    fn a_filter_is_a_substring_of_any_field_and_inverse_with_an_exclamation_mark() {
        check("", &["box"], true);
        check("OX", &["s1", "Box"], true);
        check("ball", &["s1", "box"], false);
        check("!ball", &["s1", "box"], true);
        check("!ball", &["s1", "ball_2"], false);
        check("!", &["anything"], true);
    }
}
