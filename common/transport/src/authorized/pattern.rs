//! Patterns of names: `*` stands for any characters between two slashes, `**` for any parts.

/// Tells whether a name such as `/model/r1/cmd_vel` fits a pattern such as `/model/r1/**`, which
/// the name `/model/r1` fits as well.
pub fn fits(name: &str, pattern: &str) -> bool {
    let name: Vec<&str> = name.split('/').collect();
    let pattern: Vec<&str> = pattern.split('/').collect();
    parts_fit(&name, &pattern)
}

fn parts_fit(name: &[&str], pattern: &[&str]) -> bool {
    // Each row says which rests of the name fit what is left of the pattern.
    let mut fits_from: Vec<bool> = (0..=name.len()).map(|at| at == name.len()).collect();
    for part in pattern.iter().rev() {
        let mut now = vec![false; name.len() + 1];
        for at in (0..=name.len()).rev() {
            now[at] = if *part == "**" {
                fits_from[at] || (at < name.len() && now[at + 1])
            } else {
                at < name.len() && fits_from[at + 1] && part_fits(name[at], part)
            };
        }
        fits_from = now;
    }
    fits_from[0]
}

fn part_fits(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let Some(mut name) = name.strip_prefix(first) else {
        return false;
    };
    let mut rest = rest.split('*').collect::<Vec<_>>();
    let last = rest.pop().unwrap_or_default();
    for part in rest {
        let Some(at) = name.find(part) else {
            return false;
        };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns_part_by_part() {
        let check = |name, pattern, expected| {
            assert_eq!(fits(name, pattern), expected, "{name} {pattern}");
        };
        for name in ["/model/r1", "/model/r1/cmd_vel", "/model/r1/a/b"] {
            check(name, "/model/r1/**", true);
        }
        for name in [
            "/model/r10",
            "/model/r10/x",
            "/model",
            "/modelr1/x",
            "/x/model/r1",
        ] {
            check(name, "/model/r1/**", false);
        }
        check("/model/r1/cmd_vel", "/model/*/cmd_vel", true);
        check("/model/r1/a/cmd_vel", "/model/*/cmd_vel", false);
        check("/model/r1/a/cmd_vel", "/**/cmd_vel", true);
        check("/cmd_vel", "/**/cmd_vel", true);
        check("/r1", "/r*", true);
        check("/r1x2y", "/r*x*y", true);
        check("/r1y", "/r*x*y", false);
        check("/a", "/*", true);
        check("/ab", "/a*b*", true);
        check("/anything/at/all", "/**", true);
        let long = "/a".repeat(500);
        check(&long, &"/**/a".repeat(200), true);
    }
}
