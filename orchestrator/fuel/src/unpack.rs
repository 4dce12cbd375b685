//! [`unpack`]: a zip of strangers as files in an empty folder, and nothing outside it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::read::ZipFile;
use zip::result::ZipError;

use crate::store::RecordedFile;
use crate::zip_end;

/// The most bytes of all files of a model or world.
pub const UNPACKED_BYTES_MAX: u64 = 4 << 30;
/// The deepest folder.
const DEPTH_MAX: usize = 32;
/// The most bytes of one name in a path.
const NAME_BYTES_MAX: usize = 255;
/// The bits of a mode that say what a file is, and the values of a plain file and a folder.
const KIND_BITS: u32 = 0o170_000;
const KINDS: [u32; 3] = [0, 0o100_000, 0o040_000];

/// Reason why a zip is not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It is no zip, or a damaged one.
    #[error("the zip is damaged")]
    Damaged(#[source] ZipError),
    /// A file in it is damaged.
    #[error("{file:?} in the zip is damaged")]
    DamagedFile {
        /// The file.
        file: String,
        /// Error of the reader.
        #[source]
        source: io::Error,
    },
    /// It is made to harm.
    #[error("the zip is refused: {0}")]
    Refused(String),
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
}

/// Unpacks a zip into a folder that is empty, and returns the files by name.
///
/// # Errors
/// Fails if the zip is damaged, or has anything but plain files and folders below its own, or more
/// than it says or may have; and if the files cannot be written.
pub(crate) fn unpack(packed: File, folder: &Path) -> Result<Vec<RecordedFile>, UnpackError> {
    unpack_at_most(packed, folder, UNPACKED_BYTES_MAX)
}

fn unpack_at_most(
    packed: File,
    folder: &Path,
    bytes_max: u64,
) -> Result<Vec<RecordedFile>, UnpackError> {
    let mut archive = zip_end::open(packed)?;
    if archive
        .has_overlapping_files()
        .map_err(UnpackError::Damaged)?
    {
        return Err(refused("files in it overlap"));
    }
    let too_much = || refused(format!("its files have more than {} MiB", bytes_max >> 20));
    if archive
        .decompressed_size()
        .is_some_and(|bytes| bytes > u128::from(bytes_max))
    {
        return Err(too_much());
    }
    let mut files = Vec::new();
    let mut left = bytes_max;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(UnpackError::Damaged)?;
        let name = checked(&entry)?;
        let path = folder.join(&name);
        if entry.is_dir() {
            fs::create_dir_all(&path).map_err(|source| UnpackError::Write { path, source })?;
            continue;
        }
        left = left.checked_sub(entry.size()).ok_or_else(too_much)?;
        files.push(write(&mut entry, &name, &path)?);
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Returns the path of an entry below the folder, if it is a plain file or folder there.
fn checked<R: Read>(entry: &ZipFile<'_, R>) -> Result<PathBuf, UnpackError> {
    let name = entry.name().to_owned();
    if entry.encrypted() {
        return Err(refused(format!("{name:?} is encrypted")));
    }
    let kind = entry.unix_mode().unwrap_or(0) & KIND_BITS;
    if !KINDS.contains(&kind) {
        return Err(refused(format!("{name:?} is neither a file nor a folder")));
    }
    let outside = || refused(format!("{name:?} is no path below its folder"));
    let mut path = PathBuf::new();
    for part in name.strip_suffix('/').unwrap_or(&name).split('/') {
        let is_fit = !matches!(part, "" | "." | "..")
            && part.len() <= NAME_BYTES_MAX
            && !part.contains(['\\', ':'])
            && !part.chars().any(char::is_control);
        if !is_fit {
            return Err(outside());
        }
        path.push(part);
    }
    if path.components().count() > DEPTH_MAX {
        return Err(refused(format!(
            "{name:?} is more than {DEPTH_MAX} folders deep"
        )));
    }
    Ok(path)
}

/// Writes a file as long as the zip says that it is.
fn write<R: Read>(
    entry: &mut ZipFile<'_, R>,
    name: &Path,
    path: &Path,
) -> Result<RecordedFile, UnpackError> {
    let shown = || name.to_string_lossy().into_owned();
    let failed = |source| UnpackError::Write {
        path: path.to_owned(),
        source,
    };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut file = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(refused(format!("it has {:?} twice", shown())));
        }
        file => file.map_err(failed)?,
    };
    let (mut digest, mut written) = (Sha256::new(), 0);
    let expected = entry.size();
    let mut piece = vec![0; 1 << 16];
    loop {
        let count = entry
            .read(&mut piece)
            .map_err(|source| UnpackError::DamagedFile {
                file: shown(),
                source,
            })?;
        if count == 0 {
            break;
        }
        written += count as u64;
        if written > expected {
            return Err(refused(format!("{:?} is longer than it says", shown())));
        }
        digest.update(&piece[..count]);
        file.write_all(&piece[..count]).map_err(failed)?;
    }
    if written < expected {
        return Err(refused(format!("{:?} is shorter than it says", shown())));
    }
    Ok(RecordedFile {
        path: shown(),
        bytes: written,
        sha256: hex(&digest.finalize()),
    })
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
        text
    })
}

pub(crate) fn refused(problem: impl Into<String>) -> UnpackError {
    UnpackError::Refused(problem.into())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Seek};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn unpacked(bytes: &[u8], bytes_max: u64) -> Result<Vec<RecordedFile>, String> {
        let mut packed = tempfile::tempfile().unwrap();
        packed.write_all(bytes).unwrap();
        packed.rewind().unwrap();
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().join("in");
        fs::create_dir(&folder).unwrap();
        let files = unpack_at_most(packed, &folder, bytes_max);
        assert_eq!(
            fs::read_dir(around.path()).unwrap().count(),
            1,
            "nothing beside the folder"
        );
        let files = files.map_err(|error| match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        })?;
        for file in &files {
            assert_eq!(
                fs::metadata(folder.join(&file.path)).unwrap().len(),
                file.bytes
            );
        }
        Ok(files)
    }

    /// Replaces a text in all places by one of the same length.
    fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from.as_bytes()) {
                bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
            }
        }
        bytes
    }

    #[test]
    fn files_are_unpacked_with_their_digests() {
        let bytes = zip_of(&[("model.config", b"config"), ("meshes/a.dae", b"mesh")]);
        let files = unpacked(&bytes, 10).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["meshes/a.dae", "model.config"]);
        let digest = "b79606fb3afea5bd1609ed40b622142f1c98125abcfe89a76a661b0e8e343910";
        assert_eq!(files[1].sha256, digest);
    }

    fn check_refused(bytes: &[u8], part: &str) {
        let error = unpacked(bytes, 1 << 20).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    }

    #[test]
    fn nothing_gets_out_of_the_folder() {
        let bytes = zip_of(&[("aa/evil", b"x")]);
        for name in [
            "../evil",
            "/../evi",
            "a/../ev",
            "/a/evil",
            "a//evil",
            "a\\..\\ev",
            "c:/evil",
        ] {
            let bytes = replaced(&bytes, "aa/evil", name);
            check_refused(&bytes, "is no path below its folder");
        }
    }

    #[test]
    fn links_are_refused() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        writer.add_symlink("link", "/etc/passwd", options).unwrap();
        check_refused(
            &writer.finish().unwrap().into_inner(),
            "neither a file nor a folder",
        );
    }

    #[test]
    fn bombs_are_refused() {
        let zeros = vec![0; 2 << 20];
        check_refused(&zip_of(&[("zeros", &zeros)]), "more than 1 MiB");
        let half = vec![0; 700 << 10];
        check_refused(&zip_of(&[("a", &half), ("b", &half)]), "more than 1 MiB");
        // The central directory says 16 bytes, and the content has more.
        let bytes = zip_of(&[("zeros", &zeros)]);
        let size = (zeros.len() as u32).to_le_bytes();
        let mut lying = bytes.clone();
        for at in 0..lying.len() - 4 {
            if lying[at..at + 4] == size {
                lying[at..at + 4].copy_from_slice(&16_u32.to_le_bytes());
            }
        }
        assert!(unpacked(&lying, 1 << 20).is_err());
    }

    #[test]
    fn what_is_damaged_is_told() {
        let content: Vec<u8> = (0..4000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let bytes = zip_of(&[("mesh.bin", &content)]);
        check_refused(&bytes[..bytes.len() / 2], "damaged");
        check_refused(b"<html>not found</html>", "damaged");
        let mut changed = bytes.clone();
        changed[2000] ^= 0x55;
        check_refused(&changed, "damaged");
    }

    #[test]
    fn files_of_one_name_are_refused() {
        let twice = zip_of(&[("one", b"x"), ("two", b"y")]);
        assert_eq!(unpacked(&twice, 100).unwrap().len(), 2);
        check_refused(&replaced(&twice, "two", "one"), "it has a file twice");
    }

    /// Bytes of the end of a zip without a comment.
    const END_BYTES: usize = 22;

    #[test]
    fn ends_that_claim_too_much_are_refused() {
        let bytes = zip_of(&[("one", b"x")]);
        let end = bytes.len() - END_BYTES;
        let mut claims = bytes.clone();
        let count = 20_001_u16.to_le_bytes();
        claims[end + 8..end + 12].copy_from_slice(&[count, count].concat());
        check_refused(&claims, "more than 20000 entries");
        let mut claims = bytes.clone();
        claims[end + 12..end + 16].copy_from_slice(&(17_u32 << 20).to_le_bytes());
        check_refused(&claims, "list of files has more than 16 MiB");
        let mut claims = bytes.clone();
        claims[end + 8..end + 12].copy_from_slice(&[2, 0, 2, 0]);
        check_refused(&claims, "damaged");
    }

    #[test]
    fn a_zip_has_one_end_and_nothing_behind_it() {
        let bytes = zip_of(&[("one", b"x")]);
        let end = bytes.len() - END_BYTES;
        let copy = &bytes[end..];
        check_refused(&[&bytes[..], b"x"].concat(), "does not end where it says");
        check_refused(&[&bytes[..], copy].concat(), "not right before its end");
        let mut two = [&bytes[..], copy].concat();
        two[end + 20] = 22;
        check_refused(&two, "more than one end");
        let mut comment = [&bytes[..], b"made by hand"].concat();
        comment[end + 20] = 12;
        assert_eq!(unpacked(&comment, 100).unwrap().len(), 1);
        let mut hidden = zip_of(&[("PK\x05\x06", b"x")]);
        check_refused(&hidden, "an end in its list of files");
        hidden.clear();
        check_refused(&hidden, "damaged");
    }

    #[test]
    fn ends_of_large_zips_are_checked_too() {
        let bytes = zip_of(&[("one", b"x")]);
        let end = bytes.len() - END_BYTES;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let large = |count: u64, place: usize| {
            let list = [word(end + 12), word(end + 16)].map(|word| u64::from(word).to_le_bytes());
            let (count, place) = (count.to_le_bytes(), (place as u64).to_le_bytes());
            let mut zip = bytes[..end].to_vec();
            zip.extend(b"PK\x06\x06");
            zip.extend(44_u64.to_le_bytes());
            zip.extend([45, 0, 45, 0]);
            zip.extend([[0; 8], count, count, list[0], list[1]].concat());
            zip.extend(b"PK\x06\x07\0\0\0\0");
            zip.extend(place);
            zip.extend([1, 0, 0, 0]);
            zip.extend(&bytes[end..]);
            let at = zip.len() - END_BYTES;
            zip[at + 8..at + 12].fill(0xff);
            zip
        };
        assert_eq!(unpacked(&large(1, end), 100).unwrap().len(), 1);
        check_refused(&large(1 << 40, end), "more than 20000 entries");
        check_refused(&large(1, 0), "do not fit together");
    }
}
