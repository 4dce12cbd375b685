//! [`Damage`]: damage to a file of a journal while nobody has it open.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cluster::random::Random;

/// Number of bytes at the end of a log that count as its last record, which may be torn.
const TAIL_BYTES: u64 = 512;

/// Damage to one file; numbers choose file and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One bit is another.
    FlipBit(u64, u64),
    /// It ends somewhere.
    CutShort(u64, u64),
    /// It is gone.
    Missing(u64),
    /// It cannot be read.
    Unreadable(u64),
}

/// Damage, with the file.
#[derive(Clone, Debug)]
pub(super) struct Damaged {
    /// For people.
    pub(super) text: String,
    /// True if it is what a loss of power leaves: a log without its end.
    pub(super) is_torn_tail: bool,
}

impl Damage {
    /// Draws some.
    pub(super) fn draw(random: &mut Random) -> Self {
        let (file, place) = (random.draw(), random.draw());
        match random.below(4) {
            0 => Self::FlipBit(file, place),
            1 => Self::CutShort(file, place),
            2 => Self::Missing(file),
            _ => Self::Unreadable(file),
        }
    }

    /// Does it to a journal; `None` when there is nothing to damage.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub(super) fn strike(self, journal: &Path) -> io::Result<Option<Damaged>> {
        let (Self::FlipBit(number, _)
        | Self::CutShort(number, _)
        | Self::Missing(number)
        | Self::Unreadable(number)) = self;
        let files = files(journal)?;
        if files.is_empty() {
            return Ok(None);
        }
        let file = &files[(number % files.len() as u64) as usize];
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let length = fs::metadata(file)?.len();
        let mut is_torn_tail = false;
        let what = match self {
            Self::FlipBit(_, place) => {
                let mut bytes = fs::read(file)?;
                let Some(at) = place.checked_rem(length) else {
                    return Ok(None);
                };
                bytes[at as usize] ^= 1 << (place / 7 % 8);
                fs::write(file, bytes)?;
                is_torn_tail = name.starts_with("log-") && at + TAIL_BYTES >= length;
                format!("a bit of byte {at} of {length} is flipped")
            }
            Self::CutShort(_, place) => {
                let at = place % (length + 1);
                fs::File::options().write(true).open(file)?.set_len(at)?;
                is_torn_tail = name.starts_with("log-");
                format!("cut from {length} to {at} bytes")
            }
            Self::Missing(_) => {
                fs::remove_file(file)?;
                "removed".to_owned()
            }
            Self::Unreadable(_) => {
                // Who is root reads files of any mode, but no folder.
                fs::remove_file(file)?;
                fs::create_dir(file)?;
                "made unreadable".to_owned()
            }
        };
        let text = format!("{name}: {what}");
        Ok(Some(Damaged { text, is_torn_tail }))
    }
}

fn files(journal: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(journal)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && !path.ends_with("lock"))
        .collect();
    files.sort();
    Ok(files)
}
