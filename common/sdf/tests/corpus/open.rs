//! The corpus of public SDF files, and what libsdformat made of them.
//!
//! It is not part of this repository; without it tests say so and pass.

use std::path::{Path, PathBuf};

use sdf::{ReadWorldError, ReadWorlds, SearchPaths, read_worlds};

/// Folders in which libsdformat searched for models.
const MODEL_FOLDERS: [&str; 8] = [
    "sdformat/test/integration/model",
    "sdformat/test/sdf",
    "sdformat/test/integration",
    "gz-sim/test/worlds/models",
    "gz-sim/test/worlds",
    "gz-sim/examples/worlds",
    "gz-sim/test",
    "gz-sim/examples",
];

/// The files.
pub(crate) struct Corpus {
    /// Its folder.
    pub(crate) root: PathBuf,
    /// Finds models as libsdformat did.
    pub(crate) resolver: SearchPaths,
}

/// Result of libsdformat for a file.
pub(crate) struct Verdict {
    /// `accept`, `reject` or `needs-resource`.
    pub(crate) said: String,
    /// The file, within the corpus.
    pub(crate) file: String,
    /// The names of its errors.
    pub(crate) errors: String,
}

impl Corpus {
    /// Opens the corpus, if it is there.
    pub(crate) fn open() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
        if !root.join("verdicts.tsv").is_file() {
            println!("passes without the corpus: {} is absent", root.display());
            return None;
        }
        let resolver = SearchPaths::new(MODEL_FOLDERS.map(|folder| root.join(folder)));
        Some(Self { root, resolver })
    }

    /// Returns the verdicts on files that are there.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let text = std::fs::read_to_string(self.root.join("verdicts.tsv")).unwrap();
        let verdicts = text.lines().skip(1).map(|line| {
            let mut fields = line.split('\t');
            let mut field = || fields.next().unwrap_or_default().to_owned();
            Verdict {
                said: field(),
                file: field(),
                errors: field(),
            }
        });
        verdicts
            .filter(|verdict| self.root.join(&verdict.file).is_file())
            .collect()
    }

    /// Reads a file as worlds.
    pub(crate) fn read(&self, file: &str) -> Result<ReadWorlds, ReadWorldError> {
        let path = self.root.join(file);
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        read_worlds(&text, &path.to_string_lossy(), &self.resolver)
    }
}
