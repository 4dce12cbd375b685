//! [`Filter`]: which rows of a table or lines of a text are shown.
//!
//! A filter is a regular expression; while it is typed and none yet, it is taken as it stands. No
//! expression takes more than a bounded time and memory per line.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

/// The most memory of a compiled expression \[bytes\].
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// The deepest nesting of groups.
const NESTING_MAX: u32 = 50;

/// Pattern that rows must contain, or with `!` in front must not contain. Case matters if it has a
/// capital.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    text: String,
    pattern: Option<Regex>,
    is_inverse: bool,
    error: Option<String>,
}

impl Filter {
    /// Makes a filter from what was typed.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let is_inverse = text.starts_with('!');
        let wanted = text.strip_prefix('!').unwrap_or(&text);
        if wanted.is_empty() {
            return Self {
                text,
                ..Self::default()
            };
        }
        let (pattern, error) = match compile(wanted) {
            Ok(pattern) => (Some(pattern), None),
            Err(error) => (compile(&regex::escape(wanted)).ok(), Some(reason(&error))),
        };
        Self {
            text,
            pattern,
            is_inverse,
            error,
        }
    }

    /// Returns what was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether everything passes.
    pub fn is_empty(&self) -> bool {
        self.pattern.is_none()
    }

    /// Returns why what was typed is no expression and is looked for as it stands.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Tells whether a row with these fields is shown.
    pub fn passes<'a>(&self, fields: impl IntoIterator<Item = &'a str>) -> bool {
        let Some(pattern) = &self.pattern else {
            return true;
        };
        let mut fields = fields.into_iter();
        fields.any(|field| pattern.is_match(field)) != self.is_inverse
    }

    /// Returns the places in a text that were looked for, for showing them; none when inverse.
    pub fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let pattern = self.pattern.as_ref().filter(|_| !self.is_inverse);
        let found = pattern.into_iter().flat_map(|one| one.find_iter(text));
        found
            .map(|found| found.range())
            .filter(|range| !range.is_empty())
    }
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Filter {}

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(!has_capital(pattern))
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .nest_limit(NESTING_MAX)
        .build()
}

/// Tells whether there is a capital letter that stands for itself; `\W` has none.
fn has_capital(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c == '\\' {
            rest.next();
        } else if c.is_uppercase() {
            return true;
        }
    }
    false
}

/// Returns the last line of what is wrong; those before it repeat the expression.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
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
    fn a_filter_is_looked_for_in_any_field_and_inverse_with_an_exclamation_mark() {
        check("", &["box"], true);
        check("ball", &["s1", "box"], false);
        check("!ball", &["s1", "box"], true);
        check("!ball", &["s1", "ball_2"], false);
        check("!", &["anything"], true);
    }

    #[test]
    fn case_matters_once_there_is_a_capital() {
        check("ox", &["s1", "BOX"], true);
        check("OX", &["s1", "box"], false);
        check("OX", &["s1", "BOX"], true);
        check(r"\W", &["a b"], true);
        check(r"x\W", &["X "], true);
    }

    #[test]
    fn a_filter_is_a_regular_expression_where_it_is_one() {
        check("s[12]$", &["s1"], true);
        check("s[12]$", &["s3"], false);
        check("^rover|^ball", &["ball"], true);
        check("s[1", &["s[1]"], true);
        check("s[1", &["s1"], false);
        check("*", &["a * b"], true);
        assert_eq!(Filter::new("s[1").error(), Some("unclosed character class"));
        assert_eq!(Filter::new("s.").error(), None);
    }

    #[test]
    fn an_expression_that_would_be_huge_is_taken_as_it_stands() {
        let filter = Filter::new(r"(\w{1000}){1000}");
        assert!(filter.error().is_some());
        assert!(filter.passes([r"a (\w{1000}){1000}"]));
        let deep = "(".repeat(4_000) + &")".repeat(4_000);
        assert!(Filter::new(deep).error().is_some());
    }

    #[test]
    fn places_are_what_was_looked_for() {
        let places = |filter: &str, text: &str| -> Vec<Range<usize>> {
            Filter::new(filter).places(text).collect()
        };
        assert_eq!(places("o", "foo"), [1..2, 2..3]);
        assert_eq!(places("o*", "foo"), std::slice::from_ref(&(1..3)));
        assert!(places("!o", "bar").is_empty());
        assert!(places("", "bar").is_empty());
    }
}
