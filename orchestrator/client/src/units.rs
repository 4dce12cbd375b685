//! Times, ages and parts of one as text, each in the unit that matters.

/// Returns a time \[us\] with its unit.
pub fn time(micros: f64) -> String {
    match micros {
        us if us < 999.5 => format!("{us:.0} us"),
        us if us < 999_500.0 => format!("{:.1} ms", us / 1e3),
        us if us.is_finite() => format!("{:.1} s", us / 1e6),
        _ => "-".to_owned(),
    }
}

/// Returns an age in s, minutes, hours or days.
pub fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Returns a part of one in per cent.
pub fn percent(part: f64) -> String {
    if part.is_finite() {
        format!("{:.0}%", part.max(0.0) * 100.0)
    } else {
        "-".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_unit_that_matters() {
        assert_eq!(time(999.4), "999 us");
        assert_eq!(time(999.5), "1.0 ms");
        assert_eq!(time(2_500_000.0), "2.5 s");
        assert_eq!(time(f64::NAN), "-");
        assert_eq!(age(119), "119 s");
        assert_eq!(age(120), "2 min");
        assert_eq!(age(7_200), "2 h");
        assert_eq!(age(200_000), "2 d");
        assert_eq!(percent(0.256), "26%");
        assert_eq!(percent(-0.1), "0%");
        assert_eq!(percent(f64::INFINITY), "-");
    }
}
