//! [`counted`]: a number of things, in words.

use std::fmt::Display;

/// Returns a number with the name of what it counts: `1 error`, `2 errors`, `2 recoveries`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, name: &str) -> String {
    if count == N::from(1) {
        return format!("{count} {name}");
    }
    match name.strip_suffix('y') {
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_others_are_plural() {
        assert_eq!(counted(0_u64, "error"), "0 errors");
        assert_eq!(counted(1_usize, "error"), "1 error");
        assert_eq!(counted(1_u32, "secondary"), "1 secondary");
        assert_eq!(counted(2_u32, "secondary"), "2 secondaries");
    }
}
