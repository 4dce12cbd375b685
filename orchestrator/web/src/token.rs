//! [`Token`]: a secret that whoever connects must know.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Random bytes in a token that is made here.
const RANDOM_BYTES: usize = 24;
/// The shortest token that may be chosen \[characters\].
const LENGTH_MIN: usize = 16;
/// The longest one \[characters\].
const LENGTH_MAX: usize = 256;

/// A secret that whoever connects must know: letters, digits, `-` and `_`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Reason why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It is too short, too long, or has other characters.
    #[error(
        "a token is {LENGTH_MIN} to {LENGTH_MAX} letters, digits, `-` and `_`, so that it has its \
         place in an address"
    )]
    Form,
    /// The file that has it cannot be read.
    #[error("cannot read the token in {path}")]
    File {
        /// Its path.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The system gives no random bytes.
    #[error("cannot make a token: the system gives no random bytes")]
    Random(#[source] std::io::Error),
}

impl Token {
    /// Makes a token that nobody can guess.
    ///
    /// # Errors
    /// Fails if the system gives no random bytes.
    pub fn random() -> Result<Self, TokenError> {
        use base64::Engine as _;

        let mut bytes = [0; RANDOM_BYTES];
        let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(TokenError::Random)?;
        Ok(Self(
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes),
        ))
    }

    /// Takes a token that was chosen: itself, or `@` and the file that has it.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or it is no token.
    pub fn chosen(text: &str) -> Result<Self, TokenError> {
        let Some(path) = text.strip_prefix('@') else {
            return Self::of(text);
        };
        let read = std::fs::read_to_string(Path::new(path));
        let text = read.map_err(|source| TokenError::File {
            path: path.to_owned(),
            source,
        })?;
        Self::of(text.trim())
    }

    fn of(text: &str) -> Result<Self, TokenError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = (LENGTH_MIN..=LENGTH_MAX).contains(&text.len());
        let is_token = fits && text.chars().all(is_plain);
        is_token
            .then(|| Self(text.to_owned()))
            .ok_or(TokenError::Form)
    }

    /// Tells whether somebody knows it, in a time that says nothing of how near a guess is.
    pub fn is(&self, guess: &str) -> bool {
        let (own, guess) = (self.0.as_bytes(), guess.as_bytes());
        let mut difference = usize::from(own.len() != guess.len());
        for (index, byte) in own.iter().enumerate() {
            let other = guess.get(index).copied().unwrap_or(0);
            difference |= usize::from(std::hint::black_box(byte ^ other));
        }
        std::hint::black_box(difference) == 0
    }

    /// Returns it, for an address that is told to who may know it.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Never shows the secret.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_is_right() {
        let token = Token::chosen("0123456789abcdef").unwrap();
        assert!(token.is("0123456789abcdef"));
        for guess in [
            "",
            "0123456789abcdeg",
            "0123456789abcde",
            "0123456789abcdef0",
        ] {
            assert!(!token.is(guess), "{guess}");
        }
    }

    #[test]
    fn tokens_that_anybody_could_guess_or_no_address_can_have_are_refused() {
        for text in [
            "",
            "secret",
            "0123456789abcde&",
            "0123456789 abcdef",
            "ö123456789abcdef",
        ] {
            assert!(
                matches!(Token::chosen(text), Err(TokenError::Form)),
                "{text}"
            );
        }
        assert!(matches!(
            Token::chosen("@/nowhere/at/all"),
            Err(TokenError::File { .. })
        ));
    }

    #[test]
    fn random_tokens_are_tokens_and_differ() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(one, other);
        assert!(Token::chosen(one.text()).is_ok());
        assert!(!format!("{one:?}").contains(one.text()));
    }
}
