//! Bytes of a file as text.

/// A file whose bytes are text of a kind that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is UTF-16: save it as UTF-8")]
pub struct DecodeTextError;

/// Returns the text in a file: UTF-8, or else Latin-1, which old worlds have in comments.
///
/// # Errors
/// Fails if it is UTF-16, which libsdformat cannot read either.
pub fn decode_text(bytes: Vec<u8>) -> Result<String, DecodeTextError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(DecodeTextError);
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf_8_or_latin_1() {
        assert_eq!(decode_text("größe".into()), Ok("größe".to_owned()));
        assert_eq!(decode_text(b"gr\xf6\xdfe".to_vec()), Ok("größe".to_owned()));
        assert_eq!(
            decode_text(b"\xff\xfe<\0s\0".to_vec()),
            Err(DecodeTextError)
        );
    }
}
