//! Errors with their causes, as one line for people.

/// Prints an error with its causes.
pub struct Chain<'a>(pub &'a dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(formatter, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// Returns an error with its causes.
pub fn chain(error: &dyn std::error::Error) -> String {
    Chain(error).to_string()
}
