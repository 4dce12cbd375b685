//! Tests of compressed images, which other decoders read.

use mesh::ImageFile;
use protocol::{Digest, Iteration, Publisher, SimTime};

use super::*;

/// Returns an image of 32 x 16 pixels of a format, with some bytes behind each row.
fn image(format: &str, pixel: impl Fn(u32, u32) -> Vec<u8>) -> Image {
    let (width, height) = (32, 16);
    let mut data = Vec::new();
    let mut step = 0;
    for row in 0..height {
        let start = data.len();
        data.extend((0..width).flat_map(|column| pixel(column, row)));
        data.extend([9; 3]);
        step = data.len() - start;
    }
    Image {
        header: Header::at(1_500_000_000).with("frame_id", "rover::camera"),
        width,
        height,
        step: step as u32,
        pixel_format_type: format.to_owned(),
        data: data.into(),
    }
}

fn color(column: u32, row: u32) -> [u8; 3] {
    [(column * 7) as u8, (row * 15) as u8, 128]
}

#[test]
fn colours_come_back_as_they_were_from_png_and_nearly_so_from_jpeg() {
    for (format, order) in [("RGB_INT8", [0, 1, 2]), ("BGR_INT8", [2, 1, 0])] {
        let image = image(format, |column, row| {
            order.map(|part| color(column, row)[part]).to_vec()
        });
        for (compression, most) in [
            (Compression::Png, 0),
            (Compression::Jpeg(95), 6),
            (Compression::Jpeg(80), 16),
        ] {
            let found = compress(&image, compression).unwrap();
            assert_eq!(found.frame_id, "rover::camera");
            assert_eq!(
                (found.timestamp.sec, found.timestamp.nsec),
                (1, 500_000_000)
            );
            let file = ImageFile::new(found.data.into_vec()).unwrap();
            let decoded = file.decode().unwrap();
            assert_eq!((decoded.width, decoded.height), (32, 16));
            for (place, pixel) in decoded.pixels.iter().enumerate() {
                let expected = color(place as u32 % 32, place as u32 / 32);
                let worst = (0..3)
                    .map(|part| pixel[part].abs_diff(expected[part]))
                    .max();
                assert!(worst <= Some(most), "{compression:?} {place}: {pixel:?}");
            }
        }
    }
}

#[test]
fn the_same_image_has_the_same_bytes_on_any_machine() {
    let image = image("RGB_INT8", |column, row| color(column, row).to_vec());
    for (compression, expected) in [
        (Compression::Jpeg(80), "2dd74a7ffd333e313f5b1d8467b39c63"),
        (Compression::Png, "ccc28c3f706ed35ed3fbb9d9ccf12f78"),
    ] {
        let bytes = compress(&image, compression).unwrap().data;
        assert_eq!(Digest::of_bytes(&bytes).to_string(), expected);
    }
}

#[test]
fn distances_are_millimetres_and_what_has_none_is_zero() {
    let distances = [0.25, 1.0006, 65.535, 65.536, f32::INFINITY, f32::NAN, -1.0];
    let expected = [250, 1001, 65_535, 0, 0, 0, 0];
    assert_eq!(distances.map(millimetres), expected);
    let image = image("R_FLOAT32", |column, _| {
        distances[column as usize % 7].to_le_bytes().to_vec()
    });
    let found = compress(&image, Compression::Jpeg(80)).unwrap();
    assert_eq!((&*found.format, &*found.encoding), ("png", "16UC1"));
    let mut reader = png::Decoder::new(std::io::Cursor::new(&found.data[..]))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.bit_depth, BitDepth::Sixteen);
    let values = bytes.as_chunks::<2>().0;
    let values: Vec<u16> = values.iter().map(|two| u16::from_be_bytes(*two)).collect();
    assert_eq!(values[..7], expected);
    assert_eq!(values[32 * 15 + 1], 1001);
}

#[test]
fn a_message_of_an_image_has_its_compressed_one_beside_it() {
    let message = |format: &str, bytes: usize| TopicMessage {
        topic: "/rover/image".to_owned(),
        kind: Image::KIND.to_owned(),
        publisher: Publisher::Client,
        iteration: Iteration(3),
        sim_time: SimTime(4),
        body: messages::encode(&image(format, |_, _| vec![0; bytes])),
    };
    for (format, bytes, topic, encoding) in [
        ("L_INT8", 1, "/rover/image/compressed", "mono8"),
        ("L_INT16", 2, "/rover/image/compressed", "mono16"),
        ("R_FLOAT32", 4, "/rover/image/compressedDepth", "16UC1"),
    ] {
        let found = compressed(&message(format, bytes), Compression::Jpeg(80)).unwrap();
        assert_eq!((&*found.topic, found.sim_time), (topic, SimTime(4)));
        assert_eq!(source(topic), Some("/rover/image"));
        let image: CompressedImage = messages::decode(&found.body).unwrap();
        assert_eq!(image.encoding, encoding);
    }
    let mut other = message("L_INT8", 1);
    other.kind = "gz.msgs.Clock".to_owned();
    assert!(matches!(
        compressed(&other, Compression::Png),
        Err(CompressError::Kind(_))
    ));
    assert_eq!([source("/compressed"), source("/image")], [None, None]);
}

#[test]
fn images_that_lie_about_their_size_are_refused() {
    let mut short = image("RGB_INT8", |_, _| vec![0; 3]);
    short.height += 1;
    let mut empty = short.clone();
    empty.width = 0;
    let mut huge = short.clone();
    (huge.width, huge.height) = (u32::MAX, u32::MAX);
    let mut long = image("L_INT8", |_, _| vec![0]);
    (long.width, long.height, long.step) = (70_000, 1, 0);
    long.data = vec![0; 70_000].into();
    let other = image("RGB_FLOAT32", |_, _| vec![0; 12]);
    let error = |image: &Image| {
        compress(image, Compression::Jpeg(80))
            .unwrap_err()
            .to_string()
    };
    assert!(error(&short).contains("fewer bytes"));
    assert!(error(&empty).contains("0 x"));
    assert!(error(&huge).contains("4294967295 x"));
    assert!(error(&long).contains("70000 x 1"));
    assert!(error(&other).contains("RGB_FLOAT32"));
    assert!(compress(&long, Compression::Png).is_ok());
}

#[test]
fn a_quality_is_a_number_from_1_to_100() {
    for (text, expected) in [
        ("1", Some(1)),
        ("100", Some(100)),
        ("0", None),
        ("101", None),
        ("high", None),
    ] {
        let quality: Option<Quality> = text.parse().ok();
        assert_eq!(quality.map(|quality| quality.0), expected, "{text}");
    }
}

#[test]
fn rows_are_as_long_as_the_image_is_wide_or_there_are_none() {
    let of = |width, height, step, bytes: usize| Image {
        width,
        height,
        step,
        data: (0..bytes as u8).collect::<Vec<u8>>().into(),
        ..Image::default()
    };
    let rows = |image: &Image, bytes| -> Result<Vec<Vec<u8>>, TooFewBytes> {
        Ok(super::rows(image, bytes)?.map(<[u8]>::to_vec).collect())
    };
    assert_eq!(
        rows(&of(1, 2, 4, 7), 3),
        Ok(vec![vec![0, 1, 2], vec![4, 5, 6]])
    );
    assert_eq!(rows(&of(1, 2, 4, 6), 3), Err(TooFewBytes));
    assert_eq!(
        rows(&of(2, 1, 0, 2), 1),
        Ok(vec![vec![0, 1]]),
        "a step that is too short"
    );
    for (width, height) in [(0, 0), (0, 3), (3, 0)] {
        let none = rows(&of(width, height, 0, 9), 1).unwrap_or_default();
        assert!(none.iter().all(Vec::is_empty), "{width} x {height}");
    }
    assert_eq!(
        rows(&of(u32::MAX, u32::MAX, u32::MAX, 9), 4),
        Err(TooFewBytes)
    );
}
