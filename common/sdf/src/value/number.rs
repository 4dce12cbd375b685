//! Numbers out of text as libsdformat reads them: a leading number counts, what follows does not.
//!
//! Single numbers follow C's `strtod` and `strtol`, numbers in a row follow C++ streams, which know
//! neither infinity nor hexadecimals. A number that does not fit is no number.

/// Returns the number that a text begins with, by the rules of `strtod`, and the rest.
pub(crate) fn leading_double(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let (sign, rest) = split_sign(text);
    let lower = rest.get(..rest.len().min(8)).map(str::to_ascii_lowercase);
    let lower = lower.unwrap_or_default();
    if lower.starts_with("inf") {
        let length = if lower.starts_with("infinity") { 8 } else { 3 };
        return Some((sign * f64::INFINITY, &rest[length..]));
    }
    if lower.starts_with("nan") {
        return Some((f64::NAN, &rest[3..]));
    }
    if lower.starts_with("0x")
        && let Some((value, rest)) = hexadecimal(&rest[2..])
    {
        return Some((sign * value, rest));
    }
    let length = decimal_length(rest)?;
    let value: f64 = rest[..length].parse().ok()?;
    let has_digit = rest[..length]
        .bytes()
        .take_while(|byte| !matches!(byte, b'e' | b'E'))
        .any(|byte| matches!(byte, b'1'..=b'9'));
    let fits = value.is_normal() || (value == 0.0 && !has_digit);
    fits.then_some((sign * value, &rest[length..]))
}

/// Returns the number of single precision that a text begins with, and the rest.
pub(crate) fn leading_float(text: &str) -> Option<(f64, &str)> {
    let (value, rest) = leading_double(text)?;
    let size = value.abs();
    let fits = !value.is_finite()
        || size == 0.0
        || (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&size);
    fits.then_some((value, rest))
}

/// Returns the numbers that a text begins with, by the rules of a C++ stream; words after them do
/// not count.
pub(crate) fn row<const N: usize>(text: &str) -> Option<[f64; N]> {
    let mut rest = text;
    let mut values = [0.0; N];
    for value in &mut values {
        let (sign, digits) = split_sign(rest.trim_start());
        let length = decimal_length(digits)?;
        let number: f64 = digits[..length].parse().ok()?;
        let tail = &digits[length..];
        // A stream takes the `e` of a broken exponent too, and then fails.
        if !number.is_finite() || tail.starts_with(['e', 'E']) {
            return None;
        }
        *value = sign * number;
        rest = tail;
    }
    Some(values)
}

/// Returns the whole number that a text begins with: decimal, or hexadecimal after `0x`.
pub(crate) fn leading_integer(text: &str) -> Option<i128> {
    let text = text.trim_start();
    let (sign, rest) = split_sign(text);
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let (radix, digits) = if is_hexadecimal {
        (16, &rest[2..])
    } else {
        (10, rest)
    };
    let length = digits
        .bytes()
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    if length == 0 {
        // `0x` without digits is a zero with a rest.
        return is_hexadecimal.then_some(0);
    }
    let size = i128::from_str_radix(&digits[..length], radix).ok()?;
    Some(if sign < 0.0 { -size } else { size })
}

/// Returns the whole numbers of 32 bits that a text begins with, by the rules of a C++ stream.
pub(crate) fn integer_row<const N: usize>(text: &str) -> Option<[i32; N]> {
    let mut rest = text;
    let mut values = [0; N];
    for value in &mut values {
        let (sign, digits) = split_sign(rest.trim_start());
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let size: i64 = digits[..length].parse().ok()?;
        let signed = if sign < 0.0 { -size } else { size };
        *value = i32::try_from(signed).ok()?;
        rest = &digits[length..];
    }
    Some(values)
}

/// Truth is a number for libsdformat: `true` stands for 1 and `false` for 0.
pub(crate) fn truth_as_digit(text: &str) -> &str {
    match text.trim() {
        word if word.eq_ignore_ascii_case("true") => "1",
        word if word.eq_ignore_ascii_case("false") => "0",
        _ => text,
    }
}

fn split_sign(text: &str) -> (f64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Returns how many bytes at the start of a text form a decimal number without a sign.
fn decimal_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let whole = digits(0);
    let mut length = whole;
    let mut fraction = 0;
    if bytes.get(length) == Some(&b'.') {
        fraction = digits(length + 1);
        length += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    Some(length)
}

/// Reads what follows `0x`: hexadecimal digits, a fraction, and an exponent of two after `p`.
fn hexadecimal(text: &str) -> Option<(f64, &str)> {
    let mut value = 0.0;
    let mut scale = 1.0;
    let (mut length, mut count, mut in_fraction) = (0, 0, false);
    for byte in text.bytes() {
        if byte == b'.' && !in_fraction {
            in_fraction = true;
        } else if let Some(digit) = char::from(byte).to_digit(16) {
            value = value * 16.0 + f64::from(digit);
            scale *= if in_fraction { 1.0 / 16.0 } else { 1.0 };
            count += 1;
        } else {
            break;
        }
        length += 1;
    }
    if count == 0 {
        return None;
    }
    let mut value = value * scale;
    let mut rest = &text[length..];
    if let Some(after) = rest.strip_prefix(['p', 'P']) {
        let (sign, digits) = split_sign(after);
        let digit_count = digits.bytes().take_while(u8::is_ascii_digit).count();
        if digit_count > 0 {
            let exponent: f64 = digits[..digit_count].parse().ok()?;
            value *= (sign * exponent).exp2();
            rest = &digits[digit_count..];
        }
    }
    value.is_finite().then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<f64>) {
        let found = leading_double(text).map(|(value, _)| value);
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn a_leading_number_counts_as_for_strtod() {
        check(" 1.5kg", Some(1.5));
        check("-.5e-1x", Some(-0.05));
        check("5.", Some(5.0));
        check("1e", Some(1.0));
        check("0x1F", Some(31.0));
        check("0x.8p1", Some(1.0));
        check("0x", Some(0.0));
        check("-inf", Some(f64::NEG_INFINITY));
        check("Infinity", Some(f64::INFINITY));
        check("0e999", Some(0.0));
        assert!(leading_double("nano").unwrap().0.is_nan());
    }

    #[test]
    fn texts_without_a_number_and_numbers_out_of_range_are_none() {
        for text in ["", "x", "-", ".", "e5", "1e400", "1e-400", "1e-320", "ä"] {
            check(text, None);
        }
        assert!(leading_float("1e39").is_none() && leading_float("1e-39").is_none());
    }

    #[test]
    fn truth_is_a_number() {
        assert_eq!(truth_as_digit(" True"), "1");
        assert_eq!(truth_as_digit("false"), "0");
        assert_eq!(truth_as_digit("true 1"), "true 1");
    }

    #[test]
    fn rows_are_read_as_by_a_stream() {
        let check = |text: &str, expect: Option<[f64; 3]>| {
            assert_eq!(row::<3>(text), expect, "{text:?}");
        };
        check("1 2\n3", Some([1.0, 2.0, 3.0]));
        check("1 2 3x 4", Some([1.0, 2.0, 3.0]));
        check("1.2.3 4", Some([1.2, 0.3, 4.0]));
        check("1e-400 0 0", Some([0.0; 3]));
        for text in [
            "",
            "1 2",
            "1,2,3",
            "1 2 inf",
            "1 2 nan",
            "1 2 3e",
            "0x1 2 3",
            "1 2 1e400",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn whole_numbers_are_decimal_or_hexadecimal() {
        let check = |text: &str, expect: Option<i128>| {
            assert_eq!(leading_integer(text), expect, "{text:?}");
        };
        check("10.7", Some(10));
        check("-3 x", Some(-3));
        check("0xff", Some(255));
        check("x1", None);
        assert_eq!(integer_row::<2>("5 6x"), Some([5, 6]));
        assert_eq!(integer_row::<2>("5"), None);
        assert_eq!(integer_row::<2>("5 9999999999"), None);
    }
}
