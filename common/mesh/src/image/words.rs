//! Numbers within the bytes of files whose headers are not to be trusted.

use super::ImageProblem;

/// Bytes of a file.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// Returns a part of the file.
    pub(super) fn part(self, at: usize, count: usize) -> Result<&'a [u8], ImageProblem> {
        let part = at.checked_add(count).and_then(|end| self.0.get(at..end));
        part.ok_or_else(|| ImageProblem::malformed(&"it ends too early"))
    }

    pub(super) fn byte(self, at: usize) -> Result<u8, ImageProblem> {
        Ok(self.part(at, 1)?[0])
    }

    /// Returns a number of two bytes, the lesser one first.
    pub(super) fn word(self, at: usize) -> Result<u16, ImageProblem> {
        let part = self.part(at, 2)?;
        Ok(u16::from_le_bytes([part[0], part[1]]))
    }

    /// Returns a number of four bytes, the least one first.
    pub(super) fn long(self, at: usize) -> Result<u32, ImageProblem> {
        let part = self.part(at, 4)?;
        Ok(u32::from_le_bytes([part[0], part[1], part[2], part[3]]))
    }
}

/// Returns a number of up to four bytes, the least one first.
pub(super) fn number(bytes: &[u8]) -> u32 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Returns the part of a number under a mask, stretched to 0 to 255; nothing without a mask.
pub(super) fn channel(number: u32, mask: u32) -> Option<u8> {
    let shift = mask.trailing_zeros();
    let most = u64::from(mask.checked_shr(shift)?);
    let part = u64::from((number & mask) >> shift);
    Some(((part * 255 + most / 2) / most) as u8)
}

/// Returns a colour by its masks of red, green, blue and alpha; opaque without the last.
pub(super) fn color(number: u32, masks: [u32; 4]) -> [u8; 4] {
    let [red, green, blue, alpha] = masks.map(|mask| channel(number, mask));
    let color = |part: Option<u8>| part.unwrap_or(0);
    [color(red), color(green), color(blue), alpha.unwrap_or(255)]
}

/// Says that a format has a form that is not read.
pub(super) fn unread(form: &str) -> ImageProblem {
    let message = format!("{form} is not read; convert the image to PNG");
    ImageProblem::Malformed { message }
}
