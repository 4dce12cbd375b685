//! Times as lines of keys have them: `2026-12-23T09:30:00Z`, or the day alone for its beginning.

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Returns a time \[s since 1970\] in UTC.
pub fn to_text(seconds: u64) -> String {
    let (year, month, day) = date(seconds / DAY);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Reads a time, or a day; `None` if the text is neither.
pub(crate) fn of_text(text: &str) -> Option<u64> {
    let (day, time) = match text.split_once('T') {
        Some((day, time)) => (day, time.strip_suffix('Z')?),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = numbers(day, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    if !is_time || !(1970..10_000).contains(&year) {
        return None;
    }
    let days = days(year, month, day);
    let seconds = days * DAY + hour * 3600 + minute * 60 + second;
    (date(days) == (year, month, day)).then_some(seconds)
}

fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let is_plain = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split(separator).filter(is_plain).collect();
    let [a, b, c] = parts.try_into().ok()?;
    Some([a.parse().ok()?, b.parse().ok()?, c.parse().ok()?])
}

/// Returns the day since 1970 of a date; Howard Hinnant's `days_from_civil`.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.max(1) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns year, month and day of a day since 1970; Howard Hinnant's `civil_from_days`.
pub fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(to_text(seconds), text);
            assert_eq!(of_text(text), Some(seconds));
        }
        assert_eq!(of_text("2000-02-29"), Some(951_782_400));
        for wrong in [
            "",
            "2001-02-29",
            "2000-13-01",
            "2000-00-01",
            "2000-01-00",
            "2000-1",
            "tomorrow",
            "2000-01-01T24:00:00Z",
            "2000-01-01T00:00:00",
            "1969-12-31",
            "+2000-01-01",
        ] {
            assert_eq!(of_text(wrong), None, "{wrong}");
        }
    }
}
