//! CDR, the bytes of messages in DDS: values in order, each aligned to its size, after a header of
//! 4 bytes.
//!
//! Written as `CDR_LE`, which every middleware of ROS 2 writes and reads; read in both byte orders,
//! and with the smaller alignment of `CDR2`. Bytes of others are not trusted: a count is compared
//! with the bytes that are left before anything is allocated for it.

use crate::schema::RosMessage;

/// Size of the header \[bytes\].
const HEADER_BYTES: usize = 4;
/// Header of plain little-endian CDR without options.
const CDR_LE: [u8; HEADER_BYTES] = [0, 1, 0, 0];
/// The most bytes of padding after a message: payloads of DDS are multiples of 4 bytes.
const PADDING_MAX: usize = 3;

/// Bytes that are no message of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CdrError {
    /// There is no whole header.
    #[error("{length} bytes are no message: its header alone has {HEADER_BYTES}")]
    NoHeader {
        /// Number of bytes.
        length: usize,
    },
    /// The header names another encoding.
    #[error("encoding {encoding:#06x} is none of plain CDR (0, 1) and plain CDR2 (6, 7)")]
    Encoding {
        /// The encoding.
        encoding: u16,
    },
    /// The bytes end within a value.
    #[error("the bytes end at {end}, within a value that begins at {at}")]
    End {
        /// Place of the value, from the end of the header \[bytes\].
        at: usize,
        /// Number of bytes after the header.
        end: usize,
    },
    /// A list or text has more elements than the bytes that are left can hold.
    #[error("{count} elements at {at} do not fit in the {left} bytes that are left")]
    Count {
        /// Place of the count, from the end of the header \[bytes\].
        at: usize,
        /// Number of elements.
        count: u32,
        /// Number of bytes after the count.
        left: usize,
    },
    /// A truth value is neither 0 nor 1.
    #[error("{value} at {at} is no truth value")]
    Bool {
        /// Place of the value, from the end of the header \[bytes\].
        at: usize,
        /// The value.
        value: u8,
    },
    /// A text is no UTF-8.
    #[error("the text at {at} is no UTF-8")]
    Text {
        /// Place of the text, from the end of the header \[bytes\].
        at: usize,
    },
    /// More bytes follow than the type has: it is another one, or another version of it.
    #[error("{left} bytes follow after the last field: the sender has another type of this name")]
    Trailing {
        /// Number of bytes.
        left: usize,
    },
}

/// Returns a message as CDR, header included.
pub fn to_cdr<M: RosMessage>(message: &M) -> Vec<u8> {
    let mut writer = Writer {
        bytes: CDR_LE.to_vec(),
    };
    message.write(&mut writer);
    writer.bytes
}

/// Reads a message from CDR, header included.
///
/// # Errors
/// Fails if the bytes are no such message.
pub fn from_cdr<M: RosMessage>(bytes: &[u8]) -> Result<M, CdrError> {
    let mut reader = Reader::new(bytes)?;
    let message = M::read(&mut reader)?;
    match reader.left() {
        left if left > PADDING_MAX => Err(CdrError::Trailing { left }),
        _ => Ok(message),
    }
}

/// Writes values in order.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Writes the little-endian bytes of a number, aligned to their count.
    pub(crate) fn number<const N: usize>(&mut self, value: [u8; N]) {
        self.align(N);
        self.bytes.extend_from_slice(&value);
    }

    /// Writes the number of elements that follow.
    ///
    /// # Panics
    /// Panics beyond 4,294,967,295 elements, which no message of a run has.
    pub(crate) fn count(&mut self, count: usize) {
        let count = u32::try_from(count).expect("messages of a run are smaller than 4 GiB");
        self.number(count.to_le_bytes());
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn align(&mut self, size: usize) {
        let body = self.bytes.len() - HEADER_BYTES;
        let padded = HEADER_BYTES + body.next_multiple_of(size);
        self.bytes.resize(padded, 0);
    }
}

/// Reads values in order.
#[derive(Debug)]
pub struct Reader<'a> {
    /// Bytes after the header.
    body: &'a [u8],
    at: usize,
    is_little_endian: bool,
    /// The greatest alignment \[bytes\].
    align_max: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, CdrError> {
        let length = bytes.len();
        let Some((header, body)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(CdrError::NoHeader { length });
        };
        let encoding = u16::from_be_bytes([header[0], header[1]]);
        let align_max = match encoding {
            0 | 1 => 8,
            6 | 7 => 4,
            _ => return Err(CdrError::Encoding { encoding }),
        };
        Ok(Self {
            body,
            at: 0,
            is_little_endian: encoding & 1 == 1,
            align_max,
        })
    }

    /// Reads the bytes of a number in little-endian order.
    pub(crate) fn number<const N: usize>(&mut self) -> Result<[u8; N], CdrError> {
        self.at = self.at.next_multiple_of(N.min(self.align_max));
        let bytes = self.take(N)?;
        let mut number = [0; N];
        number.copy_from_slice(bytes);
        if !self.is_little_endian {
            number.reverse();
        }
        Ok(number)
    }

    /// Reads a number of elements of a least size each \[bytes\].
    pub(crate) fn count(&mut self, size_min: usize) -> Result<usize, CdrError> {
        let count = u32::from_le_bytes(self.number()?);
        let (at, left) = (self.at - 4, self.left());
        let is_there = (count as usize)
            .checked_mul(size_min)
            .is_some_and(|size| size <= left);
        is_there
            .then_some(count as usize)
            .ok_or(CdrError::Count { at, count, left })
    }

    /// Takes bytes as they are.
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], CdrError> {
        let (at, end) = (self.at, self.body.len());
        let taken = at
            .checked_add(count)
            .and_then(|until| self.body.get(at..until))
            .ok_or(CdrError::End { at, end })?;
        self.at += count;
        Ok(taken)
    }

    /// Returns the place of the next byte, from the end of the header.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn left(&self) -> usize {
        self.body.len().saturating_sub(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::std_msgs::{Bool, Float64, Header, String as Text};

    #[test]
    fn values_are_aligned_to_their_size_from_the_end_of_the_header() {
        let header = Header {
            frame_id: "a".to_owned(),
            ..Header::default()
        };
        let bytes = to_cdr(&header);
        let expected = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a', 0];
        assert_eq!(bytes, expected);
        assert_eq!(from_cdr::<Header>(&bytes), Ok(header));
    }

    #[test]
    fn both_byte_orders_are_read() {
        let mut big = vec![0, 0, 0, 0];
        big.extend(1.5_f64.to_be_bytes());
        assert_eq!(from_cdr::<Float64>(&big), Ok(Float64 { data: 1.5 }));
    }

    #[test]
    fn wrong_bytes_are_refused_with_their_place() {
        let check = |bytes: &[u8], expected: CdrError| {
            assert_eq!(from_cdr::<Text>(bytes), Err(expected));
        };
        check(&[0, 1], CdrError::NoHeader { length: 2 });
        check(&[0, 3, 0, 0], CdrError::Encoding { encoding: 3 });
        check(&[0, 1, 0, 0, 5, 0], CdrError::End { at: 0, end: 2 });
        let count = CdrError::Count {
            at: 0,
            count: u32::MAX,
            left: 1,
        };
        check(&[0, 1, 0, 0, 255, 255, 255, 255, 0], count);
        check(&[0, 1, 0, 0, 2, 0, 0, 0, 0xff, 0], CdrError::Text { at: 4 });
        let trailing = [0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4];
        check(&trailing, CdrError::Trailing { left: 4 });
        let wrong = CdrError::Bool { at: 0, value: 2 };
        assert_eq!(from_cdr::<Bool>(&[0, 1, 0, 0, 2]), Err(wrong));
    }

    #[test]
    fn padding_after_a_message_is_passed_over() {
        let padded = [0, 1, 0, 3, 1, 0, 0, 0];
        assert_eq!(from_cdr::<Bool>(&padded), Ok(Bool { data: true }));
    }
}
