//! Bounds are on what all files come to, however few bytes they have and whatever they are called.

use std::cell::Cell;
use std::fs;
use std::io::Write;

use flate2::Crc;
use flate2::write::ZlibEncoder;

use crate::read::read_worlds;
use crate::{ReadWorlds, ResolveError, ResolvedData, ResolvedFile, Resolver, SearchPaths};

/// Makes a black image with a bit for each of its pixels.
fn black(width: u32) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        png.extend((data.len() as u32).to_be_bytes());
        let mut crc = Crc::new();
        for part in [kind.as_slice(), data] {
            png.extend(part);
            crc.update(part);
        }
        png.extend(crc.sum().to_be_bytes());
    };
    let size = width.to_be_bytes();
    chunk(
        b"IHDR",
        &[size.as_slice(), &size, &[1, 0, 0, 0, 0]].concat(),
    );
    let mut pixels = ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let row = vec![0; 1 + width.div_ceil(8) as usize];
    for _ in 0..width {
        pixels.write_all(&row).unwrap();
    }
    chunk(b"IDAT", &pixels.finish().unwrap());
    chunk(b"IEND", &[]);
    png
}

fn world(shapes: impl IntoIterator<Item = String>) -> String {
    let shapes = shapes.into_iter().zip(0..).map(|(shape, number)| {
        format!("<collision name='c{number}'><geometry>{shape}</geometry></collision>")
    });
    let link = format!("<link name='l'>{}</link>", shapes.collect::<String>());
    format!("<sdf version='1.9'><model name='m'><static>true</static>{link}</model></sdf>")
}

fn read(shapes: impl IntoIterator<Item = String>, resolver: &dyn Resolver) -> ReadWorlds {
    read_worlds(&world(shapes), "/none/text.sdf", resolver).unwrap()
}

fn heightmap(uri: impl std::fmt::Display) -> String {
    format!("<heightmap><uri>{uri}</uri><size>1 1 1</size></heightmap>")
}

/// Has every file that is asked for, each another one with the same content.
struct Endless {
    bytes: Vec<u8>,
    read: Cell<usize>,
}

impl Resolver for Endless {
    fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        Err(ResolveError::NotFound(uri.to_owned()))
    }

    fn read_data(&self, uri: &str, _from_file: &str) -> Result<ResolvedData, ResolveError> {
        self.read.set(self.read.get() + 1);
        Ok(ResolvedData {
            bytes: self.bytes.clone(),
            file: uri.to_owned(),
            identity: uri.to_owned(),
        })
    }
}

#[test]
fn a_file_is_read_once_however_it_is_spelled() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("h.png"), black(3)).unwrap();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    fs::write(folder.path().join("m.obj"), mesh).unwrap();
    std::os::unix::fs::symlink("m.obj", folder.path().join("link.obj")).unwrap();
    let resolver = SearchPaths::new([folder.path().to_owned()]);
    let name = folder.path().display();
    let maps = ["h.png", "./h.png", "././h.png", "model://h.png"].map(heightmap);
    let meshes = [
        "m.obj".to_owned(),
        "./m.obj".into(),
        "link.obj".into(),
        format!("{name}/m.obj"),
    ];
    let meshes = meshes.map(|uri| format!("<mesh><uri>{uri}</uri></mesh>"));
    let read = read(maps.into_iter().chain(meshes), &resolver);
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let world = &read.worlds[0];
    assert_eq!((world.height_grids.len(), world.meshes.len()), (1, 1));
    assert_eq!(read.files.len(), 8, "each name is needed to find it again");
}

#[test]
fn small_images_of_many_samples_are_bounded_together() {
    // 32 M samples each, the most that one may have.
    let bytes = black(5792);
    assert!(bytes.len() < 10_000, "{} bytes", bytes.len());
    let read_count = Cell::new(0);
    let resolver = Endless {
        bytes,
        read: read_count,
    };
    let read = read(
        (0..40).map(|number| heightmap(format!("{number}.png"))),
        &resolver,
    );
    let grids = &read.worlds[0].height_grids;
    let samples: usize = grids.iter().map(|grid| grid.heights.len()).sum();
    assert!(samples <= super::SAMPLES_MAX, "{samples} samples");
    assert_eq!(grids.len(), 2);
    assert_eq!(read.files.len(), 2, "only what is used counts as such");
    let warning = read.warnings[0].to_string();
    assert!(warning.contains("samples of heights"), "{warning}");
}

#[test]
fn sums_stay_beyond_their_bounds() {
    let mut budget = super::Budget::default();
    assert!(budget.add_bytes(super::BYTES_MAX).is_ok());
    assert!(budget.add_bytes(0).is_ok());
    assert!(budget.add_bytes(1).is_err() && budget.add_bytes(0).is_err());
    assert!(budget.add_triangles(super::TRIANGLES_MAX).is_ok());
    assert!(budget.add_triangles(usize::MAX).is_err());
    assert!(budget.add_triangles_of_file(super::TRIANGLES_MAX).is_ok());
    assert!(budget.add_triangles_of_file(1).is_err());
}

/// Has a document with two buffers, and any buffer.
struct Buffers;

impl Resolver for Buffers {
    fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        Err(ResolveError::NotFound(uri.to_owned()))
    }

    fn read_data(&self, uri: &str, _from_file: &str) -> Result<ResolvedData, ResolveError> {
        let buffers = (0..2).map(|number| {
            format!("{{\"uri\":\"{number}-of-{uri}.bin\",\"byteLength\":{SIDE_BYTES}}}")
        });
        let buffers = buffers.collect::<Vec<_>>().join(",");
        let text = format!(
            "{{\"asset\":{{\"version\":\"2.0\"}},\"buffers\":[{buffers}],\"nodes\":[],\
             \"meshes\":[],\"scenes\":[{{\"nodes\":[]}}],\"scene\":0}}"
        );
        Ok(ResolvedData {
            bytes: text.into_bytes(),
            file: format!("/{uri}"),
            identity: format!("/{uri}"),
        })
    }

    fn read_side(&self, name: &str, _mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        Ok(ResolvedData {
            bytes: vec![0; SIDE_BYTES],
            file: name.to_owned(),
            identity: name.to_owned(),
        })
    }
}

/// Bytes of each of the two buffers of a mesh.
const SIDE_BYTES: usize = 200 << 20;

#[test]
fn bytes_of_side_files_count() {
    let meshes = (0..4).map(|number| format!("<mesh><uri>{number}.gltf</uri></mesh>"));
    let read = read(meshes, &Buffers);
    let told: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    let beyond = |text: &&String| text.contains("bytes") || text.contains("cannot be found");
    assert!(told.iter().filter(beyond).count() >= 2, "{told:?}");
}
