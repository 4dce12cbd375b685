//! Answers of the server: the files of the page, which are in the program, assets and texts, each
//! with the headers that keep a page from loading or running anything else.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http_body_util::Full;
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{HeaderMap, Response, StatusCode};

use crate::assets::Asset;

/// A file of the page.
#[derive(Debug)]
struct PageFile {
    /// Its path in the folder of the page.
    path: &'static str,
    /// Digest of its content.
    digest: &'static str,
    /// Its content, compressed by gzip.
    packed: &'static [u8],
}

/// All files of the page.
const FILES: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The page alone may run and load anything, from this server alone; meshes bring textures along
/// as `blob:`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob: data:; font-src 'self'; connect-src 'self' blob:; worker-src 'self'; \
    manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns a file of the page: `/` and `/page/...`.
pub(crate) fn file(path: &str, headers: &HeaderMap) -> Response<Full<Bytes>> {
    let name = match path {
        "/" | "/index.html" => "index.html",
        "/favicon.ico" => "favicon.ico",
        other => other.strip_prefix("/page/").unwrap_or_default(),
    };
    let Some(file) = FILES.iter().find(|file| file.path == name) else {
        return text(StatusCode::NOT_FOUND, "nothing is here; the page is at /");
    };
    let tag = format!("\"{}\"", file.digest);
    let is_known = headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .any(|known| known == &*tag);
    let takes_packed = takes_gzip(headers);
    let (status, body) = match (is_known, takes_packed) {
        (true, _) => (StatusCode::NOT_MODIFIED, Bytes::new()),
        (false, true) => (StatusCode::OK, Bytes::from_static(file.packed)),
        (false, false) => (StatusCode::OK, unpacked(file)),
    };
    let mut response = answer(status, media_type(name), body);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if takes_packed && !is_known {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// Tells whether a browser takes what is compressed by gzip.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_refused = |part: &str| part.replace(' ', "") == "q=0";
        parts.next() == Some("gzip") && !parts.any(is_refused)
    })
}

fn unpacked(file: &PageFile) -> Bytes {
    let mut content = Vec::new();
    let read = GzDecoder::new(file.packed).read_to_end(&mut content);
    read.expect("the program holds what its build has packed");
    content.into()
}

/// Returns an asset, which never changes under its name.
pub(crate) fn asset(asset: &Asset) -> Response<Full<Bytes>> {
    let mut response = answer(StatusCode::OK, asset.kind, asset.bytes.clone());
    let cached = HeaderValue::from_static("private, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, cached);
    response
}

/// Returns the layout for Foxglove, as a file to be saved: it is another one for each run.
pub(crate) fn layout(layout: Bytes) -> Response<Full<Bytes>> {
    let mut response = answer(StatusCode::OK, "application/json", layout);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let saved = HeaderValue::from_static("attachment; filename=\"phalanx-foxglove.json\"");
    headers.insert(CONTENT_DISPOSITION, saved);
    response
}

/// Returns a line of text.
pub(crate) fn text(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let body = Bytes::from(format!("{message}\n"));
    let mut response = answer(status, "text/plain; charset=utf-8", body);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns the media type of a file by the end of its name.
fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "md" | "txt" | "LICENSE" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().cloned();
        pairs
            .map(|(name, value)| (name, HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn the_page_is_packed_for_those_who_take_it_and_known_by_its_tag() {
        let plain = file("/", &HeaderMap::new());
        assert_eq!(plain.headers().get(CONTENT_ENCODING), None);
        let packed = file("/", &headers(&[(ACCEPT_ENCODING, "br, gzip;q=0.8")]));
        assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip");
        let refused = file("/", &headers(&[(ACCEPT_ENCODING, "gzip; q=0")]));
        assert_eq!(refused.headers().get(CONTENT_ENCODING), None);
        let tag = packed.headers()[ETAG].clone();
        let mut known = HeaderMap::new();
        known.insert(IF_NONE_MATCH, tag);
        assert_eq!(file("/", &known).status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn nothing_but_the_page_is_served_and_no_answer_lacks_the_policy() {
        for path in [
            "/etc/passwd",
            "/page/../Cargo.toml",
            "/page/",
            "/page/test/x",
            "//",
            "/%2e",
        ] {
            let answer = file(path, &HeaderMap::new());
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
            let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(!policy.contains("unsafe"), "{policy}");
        }
    }
}
