//! Shows that values of every shape come back from both encodings, and that whatever rmp-serde
//! reads from bytes, whole or damaged, is read as the same value. Values and damages are drawn from
//! seeds.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::time::Duration;

use msgpack::Error;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// Values drawn for each shape.
const DRAWS: u64 = 300;
/// Damages of each value, in each encoding.
const DAMAGES: u64 = 40;

/// Numbers that follow from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns a number of any magnitude.
    fn bits(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }

    fn list<T>(&mut self, mut draw: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = match self.below(16) {
            0 => 20,
            count => count / 4,
        };
        (0..count).map(|_| draw(self)).collect()
    }
}

/// A type whose values can be drawn.
trait Draw {
    fn draw(random: &mut Random) -> Self;
}

macro_rules! drawn {
    ($($type:ty: |$random:ident| $value:expr;)*) => {$(
        impl Draw for $type {
            fn draw($random: &mut Random) -> Self {
                $value
            }
        }
    )*};
}

drawn! {
    (): |_random| ();
    bool: |random| random.below(2) == 0;
    u8: |random| random.bits() as u8;
    u16: |random| random.bits() as u16;
    u32: |random| random.bits() as u32;
    u64: |random| random.bits();
    i8: |random| random.bits() as i8;
    i16: |random| random.bits() as i16;
    i32: |random| (random.bits() as i32).wrapping_neg();
    i64: |random| random.bits().cast_signed().wrapping_neg();
    u128: |random| u128::from(random.next()) << 64 | u128::from(random.next());
    i128: |random| u128::draw(random).cast_signed();
    f32: |random| f32::from_bits(random.next() as u32);
    f64: |random| f64::from_bits(random.next());
    char: |random| ['a', '\n', 'ß', '雪', '🤖'][random.below(5)];
    String: |random| random.list(char::draw).into_iter().collect();
    ByteBuf: |random| ByteBuf::from(random.list(u8::draw));
    NonZeroU16: |random| NonZeroU16::MIN.saturating_add(u16::draw(random));
    Duration: |random| Duration::from_nanos(random.bits());
    IpAddr: |random| IpAddr::from(u32::draw(random).to_be_bytes());
    Empty: |_random| Empty;
    Wrapped: |random| Wrapped(u32::draw(random));
    Pair: |random| Pair(i32::draw(random), String::draw(random));
    Kind: |random| [Kind::First, Kind::Second][random.below(2)];
    Variant: |random| match random.below(5) {
        0 => Variant::Unit,
        1 => Variant::Newtype(Option::draw(random)),
        2 => Variant::Tuple(u8::draw(random), String::draw(random)),
        3 => Variant::Struct { a: f64::draw(random), b: Vec::draw(random) },
        _ => Variant::Nested(Box::new(Variant::draw(random))),
    };
    Fields: |random| Fields {
        number: u64::draw(random),
        wide: Draw::draw(random),
        float: f64::draw(random),
        single: f32::draw(random),
        text: String::draw(random),
        bytes: ByteBuf::draw(random),
        maybe: Option::draw(random),
        list: Vec::draw(random),
        corners: Draw::draw(random),
        map: BTreeMap::draw(random),
        kind: Kind::draw(random),
        variants: Vec::draw(random),
        unit: (),
        empty: Empty,
    };
    Older: |random| Older { text: String::draw(random), kind: Kind::draw(random) };
    Plain: |random| match random.below(4) {
        0 => Plain::Number(i64::draw(random)),
        1 => Plain::Text(String::draw(random)),
        2 => Plain::List(random.list(u8::draw)),
        _ => Plain::Fields(Older::draw(random)),
    };
    Tagged: |random| match random.below(2) {
        0 => Tagged::Older(Older::draw(random)),
        _ => Tagged::Fields { list: random.list(f32::draw) },
    };
    Flat: |random| Flat { number: u8::draw(random), rest: Older::draw(random) };
}

impl<T: Draw> Draw for Option<T> {
    fn draw(random: &mut Random) -> Self {
        bool::draw(random).then(|| T::draw(random))
    }
}

impl<T: Draw> Draw for Vec<T> {
    fn draw(random: &mut Random) -> Self {
        random.list(T::draw)
    }
}

impl<K: Draw + Ord, V: Draw> Draw for BTreeMap<K, V> {
    fn draw(random: &mut Random) -> Self {
        let entries = random.list(|random| (K::draw(random), V::draw(random)));
        entries.into_iter().collect()
    }
}

impl<T: Draw, U: Draw> Draw for (T, U) {
    fn draw(random: &mut Random) -> Self {
        (T::draw(random), U::draw(random))
    }
}

impl<T: Draw, E: Draw> Draw for Result<T, E> {
    fn draw(random: &mut Random) -> Self {
        if bool::draw(random) {
            Ok(T::draw(random))
        } else {
            Err(E::draw(random))
        }
    }
}

impl<T: Draw, const COUNT: usize> Draw for [T; COUNT] {
    fn draw(random: &mut Random) -> Self {
        std::array::from_fn(|_| T::draw(random))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Empty;

#[derive(Debug, Serialize, Deserialize)]
struct Wrapped(u32);

#[derive(Debug, Serialize, Deserialize)]
struct Pair(i32, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Kind {
    First,
    Second,
}

#[derive(Debug, Serialize, Deserialize)]
enum Variant {
    Unit,
    Newtype(Option<u16>),
    Tuple(u8, String),
    Struct { a: f64, b: Vec<i16> },
    Nested(Box<Variant>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Fields {
    number: u64,
    wide: (u128, i128),
    float: f64,
    single: f32,
    text: String,
    bytes: ByteBuf,
    maybe: Option<i8>,
    #[serde(default)]
    list: Vec<u8>,
    corners: [[f32; 3]; 2],
    map: BTreeMap<Kind, (bool, char)>,
    #[serde(default = "second")]
    kind: Kind,
    variants: Vec<Variant>,
    unit: (),
    empty: Empty,
}

fn second() -> Kind {
    Kind::Second
}

/// Fields as one who knows fewer of them reads them.
#[derive(Debug, Serialize, Deserialize)]
struct Older {
    text: String,
    kind: Kind,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Plain {
    Number(i64),
    Text(String),
    List(Vec<u8>),
    Fields(Older),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type")]
enum Tagged {
    Older(Older),
    Fields { list: Vec<f32> },
}

#[derive(Debug, Serialize, Deserialize)]
struct Flat {
    number: u8,
    #[serde(flatten)]
    rest: Older,
}

/// Compares what is read from bytes; returns true if it is a value.
fn compare<T: Serialize + DeserializeOwned + Debug>(bytes: &[u8], case: &str) -> bool {
    let ours = msgpack::from_slice::<T>(bytes);
    let theirs = rmp_serde::from_slice::<T>(bytes);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            // Not all numbers are equal to themselves.
            let are_equal = bits(&ours) == bits(&theirs);
            assert!(are_equal, "{case}: {ours:?} {theirs:?} of {bytes:02x?}");
            true
        }
        // Names that are unknown are text as well.
        (Err(_), Err(_)) | (Err(Error::Utf8Error(_)), Ok(_)) => false,
        (ours, theirs) => panic!("{case}: {ours:?} {theirs:?} of {bytes:02x?}"),
    }
}

/// Draws values of a type, and compares what is read from them, whole and damaged.
fn check<T: Draw + Serialize + DeserializeOwned + Debug>() {
    let name = std::any::type_name::<T>();
    let mut read = 0;
    for seed in 0..DRAWS {
        let value = T::draw(&mut Random(seed));
        let case = format!("{name}, seed {seed}");
        let expected = bits(&value);
        let named = msgpack::to_vec_named(&value).expect("values can be written");
        for bytes in [expected.clone(), named] {
            let back = msgpack::from_slice::<T>(&bytes);
            let back = back.unwrap_or_else(|error| panic!("{case}: {error} of {bytes:02x?}"));
            assert_eq!(bits(&back), expected, "{case}");
            compare::<Older>(&bytes, &case);
            compare::<Option<Fields>>(&bytes, &case);
            let mut random = Random(seed);
            for damage in 0..DAMAGES {
                let case = format!("{case}, damage {damage}");
                let damaged = damaged(&bytes, &mut random);
                read += u64::from(compare::<T>(&damaged, &case));
                compare::<serde_json::Value>(&damaged, &case);
                skipped_alike(&damaged, &case);
            }
        }
    }
    assert!(read > 0, "{name}: nothing damaged was read");
}

fn bits(value: &impl Serialize) -> Vec<u8> {
    msgpack::to_vec(value).expect("values can be written")
}

/// Cuts, changes, leaves out or adds a byte, with a liking for markers.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    let at = random.below(bytes.len());
    let byte = match random.below(2) {
        0 => random.next() as u8,
        _ => 0xc0 | (random.next() as u8 & 0x1f),
    };
    match random.below(5) {
        0 => damaged.truncate(at),
        1 => drop(damaged.remove(at)),
        2 => damaged.insert(at, byte),
        3 => damaged[at] ^= 1 << random.below(8),
        _ => damaged[at] = byte,
    }
    damaged
}

/// Shows that a value that nobody wants ends where it ends for rmp-serde.
fn skipped_alike(bytes: &[u8], case: &str) {
    let ours = msgpack::from_slice::<IgnoredAny>(bytes).is_ok();
    let theirs = rmp_serde::from_slice::<IgnoredAny>(bytes).is_ok();
    assert_eq!(ours, theirs, "{case}: {bytes:02x?}");
}

macro_rules! agreements {
    ($($test:ident: $($type:ty)*;)*) => {$(
        #[test]
        fn $test() {
            $(check::<$type>();)*
        }
    )*};
}

agreements! {
    whole_numbers_agree: u8 u16 u32 u64 i8 i16 i32 i64 u128 i128 NonZeroU16;
    other_scalars_agree: () bool f32 f64 char String ByteBuf Option<u8> Option<String>;
    arrays_agree: Vec<u8> Vec<f64> (u8, String) [f64; 3] Vec<Option<u8>> Pair Vec<Kind>;
    maps_agree: BTreeMap<String, f32> BTreeMap<u8, Kind> BTreeMap<Kind, Vec<u8>>;
    structs_agree: Empty Wrapped Fields Older Duration Option<Fields>;
    variants_agree: Kind Variant Result<u8, String> IpAddr Vec<Variant>;
    types_of_several_kinds_agree: Plain Tagged Flat Vec<Plain>;
}
