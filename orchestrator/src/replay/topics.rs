//! Topics of a recording: those of which the run told, in the form in which the file has them.

use std::collections::BTreeSet;

use messages::Message;
use messages::sensor::Image;
use protocol::report::TopicReport;

/// Returns topics by what a run told of them and by what is recorded, by name and kind: images that
/// were recorded in a compressed form alone are on the topics of that form.
pub(super) fn offered(told: &[TopicReport], recorded: &[(String, String)]) -> Vec<TopicReport> {
    let names: BTreeSet<&str> = recorded.iter().map(|(name, _)| &**name).collect();
    let is_compressed = |topic: &TopicReport| {
        let forms = images::topics(&topic.topic);
        topic.kind == Image::KIND
            && !names.contains(&*topic.topic)
            && forms.iter().any(|form| names.contains(&**form))
    };
    let known: BTreeSet<(&str, &str)> = told
        .iter()
        .map(|topic| (&*topic.topic, &*topic.kind))
        .collect();
    let others = recorded
        .iter()
        .filter(|(name, kind)| !known.contains(&(&**name, &**kind)));
    let others = others.map(|(name, kind)| {
        let source = images::source(name);
        let source = told.iter().find(|topic| Some(&*topic.topic) == source);
        TopicReport {
            topic: name.clone(),
            kind: kind.clone(),
            publishers: source.map_or_else(Vec::new, |source| source.publishers.clone()),
            ..TopicReport::default()
        }
    });
    let kept = told.iter().filter(|topic| !is_compressed(topic));
    let mut all: Vec<TopicReport> = kept.cloned().chain(others).collect();
    all.sort_by(|one, other| one.topic.cmp(&other.topic));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_on_the_topics_that_have_them() {
        let image = |name: &str| TopicReport {
            topic: name.to_owned(),
            kind: Image::KIND.to_owned(),
            publishers: vec!["rover: eye".to_owned()],
            ..TopicReport::default()
        };
        let told = ["/a", "/b", "/silent"].map(image);
        let compressed = "foxglove.CompressedImage";
        let recorded = [
            ("/a/compressedDepth", compressed),
            ("/b", Image::KIND),
            ("/b/compressed", compressed),
            ("/clock", "gz.msgs.Clock"),
        ];
        let recorded = recorded.map(|(name, kind)| (name.to_owned(), kind.to_owned()));
        let found: Vec<(String, usize)> = offered(&told, &recorded)
            .into_iter()
            .map(|one| (one.topic, one.publishers.len()))
            .collect();
        let expected = [
            ("/a/compressedDepth", 1),
            ("/b", 1),
            ("/b/compressed", 1),
            ("/clock", 0),
            ("/silent", 1),
        ];
        assert_eq!(
            found,
            expected.map(|(name, count)| (name.to_owned(), count))
        );
    }
}
