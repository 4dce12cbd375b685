//! Shows what bytes may not do, and the cases in which less is read than by rmp-serde.

use msgpack::{Deserializer, Error, from_slice};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_bytes::ByteBuf;

/// A type that may be in itself.
#[derive(Debug, Deserialize)]
struct Tree {
    #[allow(dead_code, reason = "only read")]
    trees: Vec<Tree>,
}

/// The same, of variants alone.
#[derive(Debug, Deserialize)]
enum Chain {
    #[allow(dead_code, reason = "only read")]
    Link(Box<Chain>),
    End,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

fn error<T: DeserializeOwned>(bytes: &[u8]) -> String {
    match from_slice::<T>(bytes) {
        Ok(_) => panic!("{bytes:02x?} was read"),
        Err(error) => error.to_string(),
    }
}

/// Returns so many arrays in each other.
fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = vec![0x91; depth - 1];
    bytes.push(0x90);
    bytes
}

#[test]
fn depth_is_limited_where_a_type_is_in_itself() {
    from_slice::<Tree>(&nested(1022)).unwrap();
    assert_eq!(error::<Tree>(&nested(1024)), "depth limit exceeded");
    let links = |count| b"\x81\xa4Link".repeat(count);
    let chain = |count| [links(count), b"\xa3End".to_vec()].concat();
    assert!(matches!(
        from_slice::<Chain>(&chain(1000)).unwrap(),
        Chain::Link(_)
    ));
    assert_eq!(error::<Chain>(&chain(100_000)), "depth limit exceeded");
}

#[test]
fn depth_is_limited_where_values_are_passed_over() {
    from_slice::<IgnoredAny>(&nested(1023)).unwrap();
    assert_eq!(error::<IgnoredAny>(&nested(1024)), "depth limit exceeded");
    let maps = vec![0x81; 1_000_000];
    assert_eq!(error::<IgnoredAny>(&maps), "depth limit exceeded");
    assert_eq!(
        error::<serde_json::Value>(&nested(2000)),
        "depth limit exceeded"
    );
}

#[test]
fn depth_that_was_left_counts_no_more() {
    let mut bytes = vec![0xdc, 0xff, 0xff];
    bytes.extend(nested(3).repeat(0xffff));
    let read = |depth| {
        let mut deserializer = Deserializer::with_depth(&bytes, depth);
        Vec::<IgnoredAny>::deserialize(&mut deserializer)
    };
    assert_eq!(read(5).unwrap().len(), 0xffff);
    assert!(matches!(read(4), Err(Error::DepthLimitExceeded)));
}

#[test]
fn counts_of_what_is_not_there_allocate_nothing() {
    for marker in [0xdd, 0xdf, 0xdb, 0xc6, 0xc9] {
        let bytes = [marker, 0xff, 0xff, 0xff, 0xff];
        assert!(from_slice::<Vec<[f64; 32]>>(&bytes).is_err());
        assert!(from_slice::<Vec<u8>>(&bytes).is_err());
        assert!(from_slice::<ByteBuf>(&bytes).is_err());
        assert!(from_slice::<String>(&bytes).is_err());
        assert!(from_slice::<IgnoredAny>(&bytes).is_err());
        assert!(from_slice::<serde_json::Value>(&bytes).is_err());
    }
}

#[test]
fn text_and_bytes_are_borrowed() {
    let bytes = msgpack::to_vec(&("text", serde_bytes::Bytes::new(&[1, 2]))).unwrap();
    let (text, blob): (&str, &[u8]) = from_slice(&bytes).unwrap();
    assert_eq!((text, blob), ("text", [1, 2].as_slice()));
}

#[test]
fn whole_numbers_are_taken_for_floats_and_never_the_other_way() {
    assert_eq!(from_slice::<f64>(&[1]).unwrap(), 1.0);
    assert_eq!(from_slice::<f32>(&[0xd0, 0x80]).unwrap(), -128.0);
    assert_eq!(
        error::<u8>(&msgpack::to_vec(&1.0).unwrap()),
        "invalid type: floating point `1.0`, expected u8"
    );
    assert_eq!(
        error::<u8>(&[0xcd, 1, 0]),
        "invalid value: integer `256`, expected u8"
    );
}

#[test]
fn values_of_other_kinds_are_named() {
    let kinds: [(&[u8], &str); 7] = [
        (&[0xc0], "unit value"),
        (&[0xc3], "boolean `true`"),
        (&[0xa1, b'a'], "string \"a\""),
        (&[0xc4, 1, 0xff], "byte array"),
        (&[0x90], "sequence"),
        (&[0x80], "map"),
        (&[0xff], "integer `-1`"),
    ];
    for (bytes, kind) in kinds {
        if kind != "unit value" {
            let expected = format!("invalid type: {kind}, expected unit");
            assert_eq!(error::<()>(bytes), expected);
        }
        if kind != "boolean `true`" {
            let expected = format!("invalid type: {kind}, expected a boolean");
            assert_eq!(error::<bool>(bytes), expected);
        }
    }
    assert_eq!(error::<u8>(&[0xc1]), "wrong msgpack marker Reserved");
    assert_eq!(error::<u8>(&[0xd4, 1, 1]), "wrong msgpack marker FixExt1");
}

#[test]
fn too_many_elements_and_entries_are_refused() {
    let too_many = "array had incorrect length, expected 2";
    let three = msgpack::to_vec(&(1, 2, 3)).unwrap();
    assert_eq!(error::<Point>(&three), too_many);
    assert_eq!(error::<[u8; 2]>(&three), too_many);
    assert_eq!(error::<[u8; 2]>(&[0xc4, 3, 1, 2, 3]), too_many);
}

#[test]
fn byte_strings_stand_for_arrays_of_numbers() {
    let numbers: Vec<u16> = from_slice(&[0xc4, 3, 1, 0x90, 0xff]).unwrap();
    assert_eq!(numbers, [1, 0x90, 0xff]);
    let point: Point = from_slice(&[0xc4, 2, 1, 0xff]).unwrap();
    assert_eq!(point, Point { x: 1.0, y: 255.0 });
    assert!(from_slice::<Vec<String>>(&[0xc4, 1, 0x90]).is_err());
}

#[test]
fn extensions_and_names_that_are_unknown_are_passed_over() {
    let mut bytes = vec![0x84, 0xa1, b'z', 0xd8, 7];
    bytes.extend([0; 16]);
    bytes.extend([0xa1, b'w', 0xc7, 2, 7, 0, 0]);
    bytes.extend([0xa1, b'x', 1, 0xa1, b'y', 2]);
    let point: Point = from_slice(&bytes).unwrap();
    assert_eq!(point, Point { x: 1.0, y: 2.0 });
}

#[test]
fn names_that_are_no_text_are_refused() {
    let bytes = [0x83, 0xa1, 0xff, 0, 0xa1, b'x', 1, 0xa1, b'y', 2];
    assert!(matches!(
        from_slice::<Point>(&bytes),
        Err(Error::Utf8Error(_))
    ));
    assert!(matches!(
        from_slice::<String>(&[0xa1, 0xff]),
        Err(Error::Utf8Error(_))
    ));
    assert_eq!(
        from_slice::<ByteBuf>(&[0xa1, 0xff]).unwrap().as_slice(),
        [0xff]
    );
}

#[test]
fn variants_have_the_data_of_their_kind() {
    assert!(matches!(from_slice::<Chain>(b"\xa3End"), Ok(Chain::End)));
    assert!(matches!(from_slice::<Chain>(&[1]), Ok(Chain::End)));
    assert!(matches!(
        from_slice::<Chain>(b"\x81\xa3End\xc0"),
        Ok(Chain::End)
    ));
    assert!(from_slice::<Chain>(b"\x81\xa3End\x01").is_err());
    assert!(from_slice::<Chain>(b"\xa4Link").is_err());
    assert_eq!(
        error::<Chain>(b"\x82\xa3End\xc0\xa3End\xc0"),
        "array had incorrect length, expected 2"
    );
}
