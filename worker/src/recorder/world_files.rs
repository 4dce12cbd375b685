//! [`WorldFiles`]: a thread that has the meshes and images recorded that visuals of the worlds of
//! the start name, so that a recording is drawn where these files are not.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use lockstep::Library;
use sdf::{
    Actor, Model, ResolveError, ResolvedData, ResolvedFile, Resolver, SearchPaths, UsedFile,
    UsedFiles, World,
};

use super::{RecorderFeed, RecordingLibrary};

/// Niceness of the thread: it has what the others leave.
const NICENESS: i32 = 19;

/// Thread that reads files; it ends by itself.
pub struct WorldFiles(Option<JoinHandle<()>>);

/// The files that worlds may name: all that search paths find.
#[derive(Clone)]
struct AllPaths(Arc<SearchPaths>);

impl WorldFiles {
    /// Starts to read the files of visuals, with at most so many bytes together. What came with a
    /// world for its sensors is recorded with it.
    ///
    /// # Errors
    /// Fails if the system has no thread left.
    pub fn start(worlds: &[World], most: usize, feed: RecorderFeed) -> io::Result<Self> {
        let without = worlds.iter().filter(|world| world.visual_files.is_empty());
        let models = without.clone().flat_map(|world| &world.models).cloned();
        let models: Vec<Model> = models.collect();
        let actors: Vec<Actor> = without.flat_map(|world| &world.actors).cloned().collect();
        if most == 0 || (models.is_empty() && actors.is_empty()) {
            return Ok(Self(None));
        }
        let read = move || {
            let own = Some(rustix::thread::gettid());
            // Where the system refuses, it is as any other thread.
            let _ = rustix::process::setpriority_process(own, NICENESS);
            let paths = AllPaths(Arc::new(SearchPaths::from_environment()));
            let library = RecordingLibrary::of_worlds(paths, feed.clone(), most);
            let mut used = UsedFiles::default();
            for model in &models {
                // No step is to wait because of them.
                feed.wait_for_room();
                let library = library.another();
                library.keep(&used.of(model, &*library));
            }
            for actor in &actors {
                feed.wait_for_room();
                let library = library.another();
                library.keep(&used.of_actor(actor, &*library));
            }
        };
        let thread = thread::Builder::new().name("visuals".to_owned());
        Ok(Self(Some(thread.spawn(read)?)))
    }

    /// Waits until all files are read.
    pub fn finish(mut self) {
        if let Some(thread) = self.0.take()
            && thread.join().is_err()
        {
            tracing::warn!(
                "the recording lacks files of visuals: the thread that reads them failed"
            );
        }
    }
}

impl Resolver for AllPaths {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        self.0.read(uri, from_file)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        self.0.read_data(uri, from_file)
    }

    fn read_side(&self, name: &str, mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        self.0.read_side(name, mesh_file)
    }
}

impl Library for AllPaths {
    fn another(&self) -> Arc<dyn Library> {
        Arc::new(self.clone())
    }

    fn keep(&self, _files: &BTreeSet<UsedFile>) {}
}
