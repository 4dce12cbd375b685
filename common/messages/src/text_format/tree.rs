//! The tree of a text in protobuf's text format: fields with what stands behind them.
//!
//! Nothing here knows kinds of messages. Depth, and with it the stack, is bounded.

use super::TextFormatError;

/// Depth to which messages may be in each other; gz.msgs has none deeper than 10.
const DEPTH_MAX: usize = 32;

/// A field with one value, or with a list of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number or a word: `1.5`, `true`, `MODEL`.
    Word(String),
    /// A text in quotes, unescaped.
    Text(Vec<u8>),
    /// A message.
    Fields(Vec<Field>),
}

/// Returns the fields of a text.
pub(super) fn read(text: &str) -> Result<Vec<Field>, TextFormatError> {
    let mut reader = Reader::new(text);
    let fields = reader.fields(0)?;
    match reader.peek() {
        None => Ok(fields),
        Some(_) => Err(reader.error("a field's name is expected here")),
    }
}

/// Returns the values of a text that is what stands behind a field.
pub(super) fn read_values(text: &str) -> Result<Vec<Value>, TextFormatError> {
    let mut reader = Reader::new(text);
    let mut values = vec![reader.value(0)?];
    while reader.peek().is_some() {
        values.push(reader.value(0)?);
    }
    Ok(values)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next character that is neither blank nor in a comment.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = &self.text[self.at..];
            let next = rest.chars().next()?;
            if next.is_whitespace() {
                self.at += next.len_utf8();
            } else if next == '#' {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return Some(next);
            }
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.at += wanted.len_utf8();
        }
        is_there
    }

    fn expect(&mut self, wanted: char) -> Result<(), TextFormatError> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.error(&format!("{wanted:?} is expected here")))
        }
    }

    fn fields(&mut self, depth: usize) -> Result<Vec<Field>, TextFormatError> {
        let mut fields = Vec::new();
        while self.peek().is_some_and(is_word) {
            let name = self.word().to_owned();
            let has_colon = self.take(':');
            let values = match self.peek() {
                Some('[') => self.list(depth)?,
                Some('{' | '<') => vec![self.value(depth)?],
                _ if has_colon => vec![self.value(depth)?],
                _ => return Err(self.error("':' or '{' is expected here")),
            };
            fields.push(Field { name, values });
            let _ = self.take(',') || self.take(';');
        }
        Ok(fields)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Value>, TextFormatError> {
        self.expect('[')?;
        let mut values = Vec::new();
        if self.take(']') {
            return Ok(values);
        }
        loop {
            values.push(self.value(depth)?);
            if self.take(']') {
                return Ok(values);
            }
            self.expect(',')?;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, TextFormatError> {
        match self.peek() {
            Some(open @ ('{' | '<')) => {
                if depth >= DEPTH_MAX {
                    return Err(self.error("messages are nested too deeply"));
                }
                self.at += 1;
                let fields = self.fields(depth + 1)?;
                self.expect(if open == '{' { '}' } else { '>' })?;
                Ok(Value::Fields(fields))
            }
            Some('"' | '\'') => self.texts(),
            Some('-') => {
                self.at += 1;
                match self.peek() {
                    Some(next) if is_word(next) => Ok(Value::Word(format!("-{}", self.word()))),
                    _ => Err(self.error("a number is expected behind '-'")),
                }
            }
            Some(next) if is_word(next) => Ok(Value::Word(self.word().to_owned())),
            _ => Err(self.error("a value is expected here")),
        }
    }

    /// Reads a name, a word or a number; the sign of an exponent is part of it.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let is_number = rest.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        let mut last = ' ';
        let end = rest.find(|next| {
            let is_sign = matches!(next, '+' | '-') && matches!(last, 'e' | 'E') && is_number;
            last = next;
            !is_word(next) && !is_sign
        });
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Reads texts in quotes, of which several in a row are one.
    fn texts(&mut self) -> Result<Value, TextFormatError> {
        let mut bytes = Vec::new();
        while let Some(quote @ ('"' | '\'')) = self.peek() {
            self.at += 1;
            self.text_until(quote, &mut bytes)?;
        }
        Ok(Value::Text(bytes))
    }

    fn text_until(&mut self, quote: char, bytes: &mut Vec<u8>) -> Result<(), TextFormatError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(self.error("the text has no closing quote")),
                Some(next) if next == quote => return Ok(()),
                Some('\\') => self.escape(bytes)?,
                Some(next) => bytes.extend(next.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), TextFormatError> {
        let Some(next) = self.next() else {
            return Err(self.error("the text has no closing quote"));
        };
        let byte = match next {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '?' => next as u8,
            'x' | 'X' => self.digits(16, 1, 2)? as u8,
            'u' | 'U' => {
                let count = if next == 'u' { 4 } else { 8 };
                let number = self.digits(16, count, count)?;
                let Some(named) = char::from_u32(number) else {
                    return Err(self.error("there is no such character"));
                };
                bytes.extend(named.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 1, 3)? as u8
            }
            _ => return Err(self.error("there is no such escape")),
        };
        bytes.push(byte);
        Ok(())
    }

    fn digits(&mut self, radix: u32, least: usize, most: usize) -> Result<u32, TextFormatError> {
        let rest = self.text[self.at..].chars();
        let digits = rest.map_while(|next| next.to_digit(radix)).take(most);
        let (mut number, mut count) = (0_u32, 0);
        for digit in digits {
            number = number.wrapping_mul(radix) + digit;
            count += 1;
        }
        self.at += count;
        if count < least {
            return Err(self.error("more digits are expected here"));
        }
        Ok(number)
    }

    fn next(&mut self) -> Option<char> {
        let next = self.text[self.at..].chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn error(&self, what: &str) -> TextFormatError {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        TextFormatError::Syntax {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.to_owned(),
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.')
}
