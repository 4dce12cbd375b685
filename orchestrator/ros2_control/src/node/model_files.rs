//! [`ModelFiles`]: models in files of this machine, read to be spawned, and listed.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use sdf::{Geometry, Model, Pose, Resolver, SearchPaths, models_in, read_model};

use crate::control::{Extent, ModelText, SourceError, SpawnableModel};

/// The most models that are listed.
const MODELS_MAX: usize = 1000;

/// Models in the folders in which models are looked for.
#[derive(Clone)]
pub(super) struct ModelFiles {
    paths: SearchPaths,
}

impl ModelFiles {
    /// Looks in the folders of the environment, and in one more.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        let paths = SearchPaths::from_environment();
        Self {
            paths: paths.with_folders(folder),
        }
    }

    /// Reads the file of a model, by its path or address.
    ///
    /// # Errors
    /// Fails if there is none.
    pub(super) fn read(&self, uri: &str) -> io::Result<ModelText> {
        let read = self.paths.read(uri, "").map_err(io::Error::other)?;
        Ok(ModelText {
            text: read.text,
            file: read.file,
        })
    }

    /// Lists the models of all folders and of other sources; those that cannot be read are left
    /// out, and so are folders of the environment that are not there.
    ///
    /// # Errors
    /// Fails if another source is no folder of this machine.
    pub(super) fn list(&self, sources: &[String]) -> Result<Vec<SpawnableModel>, SourceError> {
        let own = self.paths.folders().filter_map(|one| models_in(one).ok());
        let mut found: Vec<_> = own.flatten().collect();
        for source in sources {
            found.extend(of_source(source)?);
        }
        let mut seen = BTreeSet::new();
        found.retain(|model| seen.insert(model.file.clone()));
        found.truncate(MODELS_MAX);
        let models = found.into_iter().filter_map(|found| {
            let file = std::path::absolute(&found.file).ok()?;
            let read = self.read(file.to_str()?).ok()?;
            let model = read_model(&read.text, &read.file, &self.paths).ok()?;
            Some(SpawnableModel {
                uri: format!("file://{}", file.to_str()?),
                description: found.description,
                extent: extent(&model.parcel.model),
            })
        });
        Ok(models.collect())
    }
}

/// Returns the models of a source.
fn of_source(source: &str) -> Result<Vec<sdf::FoundModel>, SourceError> {
    let failed = |reason: String| SourceError {
        source_name: source.to_owned(),
        reason,
    };
    let path = source.strip_prefix("file://").unwrap_or(source);
    if path.contains("://") {
        return Err(failed("only folders of this machine are searched".into()));
    }
    models_in(Path::new(path)).map_err(|error| failed(error.to_string()))
}

/// Returns what the collisions of a model reach, in its own frame.
fn extent(model: &Model) -> Extent {
    let origin = model.pose.inverse();
    let collisions = model.links.iter().flat_map(|link| {
        let link_pose = origin.then(&link.pose);
        let own = link.collisions.iter();
        own.map(move |one| (link_pose.then(&one.pose), &one.geometry))
    });
    let boxes = collisions.filter_map(|(pose, geometry): (Pose, &Geometry)| geometry.bounds(&pose));
    let whole = boxes.reduce(|[low, high], other| {
        [
            std::array::from_fn(|axis| low[axis].min(other[0][axis])),
            std::array::from_fn(|axis| high[axis].max(other[1][axis])),
        ]
    });
    match whole {
        None => Extent::Nothing,
        Some(corners) if corners.iter().flatten().all(|one| one.is_finite()) => {
            Extent::Box(corners)
        }
        Some(_) => Extent::Endless,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_can_be_read_are_listed_with_their_extents() {
        let root = tempfile::tempdir().unwrap();
        let model = |shape: &str| {
            format!(
                "<sdf version='1.9'><model name='m'><pose>9 0 0 0 0 0</pose><link name='l'>\
                 <pose>0 0 1 0 0 0</pose><collision name='c'><geometry>{shape}</geometry>\
                 </collision></link></model></sdf>"
            )
        };
        let write = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
        write("ball.sdf", &model("<sphere><radius>1</radius></sphere>"));
        write("floor.sdf", &model("<plane/>"));
        write("wrong.sdf", "<sdf version='1.9'><model");
        write("world.sdf", "<sdf version='1.9'><world name='w'/></sdf>");
        let files = ModelFiles::new(Some(root.path().to_owned()));
        let source = root.path().display().to_string();
        let listed = files.list(std::slice::from_ref(&source)).unwrap();
        let own = listed.iter().filter(|model| model.uri.contains(&source));
        let own: Vec<_> = own.map(|model| model.extent).collect();
        let ball = Extent::Box([[-1.0, -1.0, 0.0], [1.0, 1.0, 2.0]]);
        assert_eq!(own, [ball, Extent::Endless]);
        let text = files.read(&listed[0].uri).unwrap().text;
        assert!(text.contains("<model"));
        for wrong in ["https://fuel.gazebosim.org", "/no/such/folder"] {
            let error = files.list(&[wrong.to_owned()]).unwrap_err();
            assert_eq!(error.source_name, wrong);
        }
    }
}
