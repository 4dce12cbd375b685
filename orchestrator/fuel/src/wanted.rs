//! [`Wanted`]: the addresses of Fuel in a world and in all files that it includes.

use std::collections::{BTreeSet, VecDeque};

use sdf::tree::{self, Element, Node};
use sdf::{FuelAddress, FuelResource, Resolver, SearchPaths};

/// The scheme of models by their names.
const MODEL_SCHEME: &str = "model://";
/// The most files that are looked through.
const FILES_MAX: usize = 10_000;

/// A model or world that something names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedResource {
    /// Its address, with the version that is asked for.
    pub address: FuelAddress,
    /// The file and the line that names it.
    pub named_in: String,
    /// Reason why it is wanted.
    pub need: Need,
}

/// Reason why a model or world is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It is included: without it there is no world.
    Include,
    /// A mesh or texture of it is named, or a system may include it later: without it something
    /// is not drawn, or has no shape.
    Part,
    /// A file of a model of Fuel names another one by `model://`: it may be one of the same owner.
    Guess,
}

/// Looks through files for addresses of Fuel, each file once, and hands them out one by one. The
/// files of what was found are looked through as soon as they are there.
#[derive(Debug)]
pub struct Wanted {
    paths: SearchPaths,
    read: BTreeSet<String>,
    known: BTreeSet<FuelAddress>,
    waiting: VecDeque<WantedResource>,
}

/// The file that is being looked through.
struct Source<'s> {
    file: &'s str,
    /// The file in which relative names may stand, too: the first of all.
    first_file: &'s str,
    /// The model or world of Fuel that it is in, if its owner may have what it names.
    within: Option<&'s FuelResource>,
    /// True in an `<include>` that counts when the world is read.
    is_include: bool,
}

impl Wanted {
    /// Makes one that finds files by these paths.
    pub fn new(paths: SearchPaths) -> Self {
        Self {
            paths,
            read: BTreeSet::new(),
            known: BTreeSet::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Looks through the text of a file and through all that it includes from this machine. What is
    /// wrong with it is for its reader to tell.
    pub fn read(&mut self, text: &str, file: &str) {
        self.read_within(text, file, None);
    }

    /// Returns the next thing that is wanted.
    pub fn next_wanted(&mut self) -> Option<WantedResource> {
        self.waiting.pop_front()
    }

    /// Looks through a model or world that is in a cache by now; with `guesses` what it names by
    /// `model://` and is not on this machine is wanted from its owner.
    pub fn read_cached(&mut self, address: &FuelAddress, guesses: bool) {
        if let Ok(found) = self.paths.read(&address.whole().to_string(), "") {
            let owner = guesses.then_some(&address.resource);
            self.read_within(&found.text, &found.file, owner);
        }
    }

    fn read_within(&mut self, text: &str, file: &str, within: Option<&FuelResource>) {
        let mut texts = vec![(text.to_owned(), file.to_owned())];
        while let Some((text, name)) = texts.pop() {
            if self.read.len() >= FILES_MAX || !self.read.insert(name.clone()) {
                continue;
            }
            if !may_name_anything(&text) {
                continue;
            }
            let Ok(root) = tree::parse(&text, &name) else {
                continue;
            };
            let source = Source {
                file: &name,
                first_file: file,
                within,
                is_include: false,
            };
            self.walk(&root, &source, false, &mut texts);
        }
    }

    fn walk(
        &mut self,
        element: &Element,
        source: &Source<'_>,
        is_in_plugin: bool,
        texts: &mut Vec<(String, String)>,
    ) {
        // What the windows of Gazebo show is not needed for a run.
        if element.name == "gui" {
            return;
        }
        let is_in_plugin = is_in_plugin || element.name == "plugin";
        let source = &Source {
            is_include: element.name == "include" && !is_in_plugin
                || element.name == "uri" && source.is_include,
            ..*source
        };
        for (_, value) in &element.attributes {
            self.note(value, element, source);
        }
        for node in &element.nodes {
            match node {
                Node::Element(child) => self.walk(child, source, is_in_plugin, texts),
                Node::Text(text) => self.note(text.trim(), element, source),
            }
        }
        if element.name == "include" {
            let uri = element.child("uri").map(Element::text).unwrap_or_default();
            if !uri.is_empty() && FuelAddress::parse(&uri).is_none() {
                let found = self.paths.read(&uri, source.file);
                let found = found.or_else(|_| self.paths.read(&uri, source.first_file));
                texts.extend(found.ok().map(|found| (found.text, found.file)));
            }
        }
    }

    /// Takes a text as something wanted, if it is an address.
    fn note(&mut self, text: &str, element: &Element, source: &Source<'_>) {
        if !text.contains("://") {
            return;
        }
        let (address, need) = match FuelAddress::parse(text) {
            Some(address) if source.is_include => (address.whole(), Need::Include),
            Some(address) => (address.whole(), Need::Part),
            None => match self.guess(text, source) {
                Some(address) => (address, Need::Guess),
                None => return,
            },
        };
        if self.known.insert(address.clone()) {
            self.waiting.push_back(WantedResource {
                address,
                named_in: format!("{}:{}", source.file, element.line),
                need,
            });
            return;
        }
        // Whoever cannot go on without it decides.
        let mut waiting = self.waiting.iter_mut();
        if need == Need::Include
            && let Some(known) = waiting.find(|wanted| wanted.address == address)
        {
            known.need = need;
        }
    }

    /// Returns the model of the same owner that a name in a model of Fuel may mean, if nothing of
    /// that name is on this machine.
    fn guess(&self, text: &str, source: &Source<'_>) -> Option<FuelAddress> {
        let within = source.within?;
        let path = text.strip_prefix(MODEL_SCHEME)?;
        if self.paths.locate(text, source.file).is_some() {
            return None;
        }
        let name = path.split('/').next()?;
        let address = format!("{}/{}/models/{name}", within.server, within.owner);
        let address = FuelAddress::parse(&address)?;
        (address.resource != *within).then_some(address)
    }
}

/// Tells whether a text can have an address or include a file, by a quick look: large worlds take
/// long to be parsed. Characters and names may stand for others.
fn may_name_anything(text: &str) -> bool {
    let signs = ["://", "<include", "&#", "<!ENTITY"];
    signs.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use sdf::FuelCaches;

    use super::*;

    #[test]
    fn addresses_are_found_however_their_characters_are_written() {
        let address = "https://fuel.gazebosim.org/1.0/o/models/A";
        let found = |text: &str| {
            let mut wanted = Wanted::new(SearchPaths::default());
            wanted.read(text, "w.sdf");
            wanted.next_wanted().map(|one| one.address.to_string())
        };
        let world = |uri: &str| {
            format!("<sdf version='1.9'><world name='w'><uri>{uri}</uri></world></sdf>")
        };
        let plain = found(&world(address));
        assert!(plain.is_some());
        assert_eq!(found(&world(&address.replace(':', "&#58;"))), plain);
        let without = world("a.obj");
        assert!(!may_name_anything(&without));
        assert_eq!(found(&without), None);
    }

    #[test]
    fn addresses_are_found_wherever_they_stand() {
        let fuel = "https://fuel.gazebosim.org/1.0/o";
        let text = format!(
            "<sdf version='1.9'><world name='w'>
               <include><uri>{fuel}/models/A</uri></include>
               <include><uri>\n {fuel}/models/a/tip </uri></include>
               <include><uri>{fuel}/models/A/2</uri></include>
               <gui><plugin name='p' filename='f'><uri>{fuel}/models/gui</uri></plugin></gui>
               <model name='m'><link name='l'><visual name='v'><geometry><mesh>
                 <uri>{fuel}/models/B/tip/files/meshes/b.dae</uri></mesh></geometry>
                 <material><pbr><metal><albedo_map>{fuel}/models/C/1/files/c.png</albedo_map>
                 </metal></pbr></material></visual></link></model>
               <plugin name='p' filename='f'><breadcrumb><sdf><include><uri>{fuel}/models/D</uri>
               </include></sdf></breadcrumb></plugin>
               <include><uri>https://example.org/x.sdf</uri></include>
             </world></sdf>"
        );
        let mut wanted = Wanted::new(SearchPaths::default());
        wanted.read(&text, "w.sdf");
        let found = std::iter::from_fn(|| wanted.next_wanted());
        let short = |wanted: WantedResource| {
            let address = wanted.address.to_string();
            (address.replace(&format!("{fuel}/models/"), ""), wanted.need)
        };
        let found: Vec<_> = found.map(short).collect();
        let models = [
            ("A", Need::Include),
            ("A/2", Need::Include),
            ("B", Need::Part),
            ("C/1", Need::Part),
            ("D", Need::Part),
        ];
        assert_eq!(found, models.map(|(name, need)| (name.to_owned(), need)));
    }

    #[test]
    fn files_that_are_included_are_looked_through_once() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let config = "<model><sdf version='1.9'>model.sdf</sdf></model>";
        let include = |uri: &str| format!("<include><uri>{uri}</uri></include>");
        let model =
            |inner: &str| format!("<sdf version='1.9'><model name='m'>{inner}</model></sdf>");
        let host = "fuel.gazebosim.org/o/models";
        put("models/local/model.config", config);
        let fuel = "https://fuel.gazebosim.org/1.0/o/models";
        put(
            "models/local/model.sdf",
            &model(&(include(&format!("{fuel}/A")) + &include("local"))),
        );
        put(&format!("cache/{host}/a/3/model.config"), config);
        let other = include("model://other") + &include("model://local") + "<uri>model://a/x</uri>";
        put(&format!("cache/{host}/a/3/model.sdf"), &model(&other));
        put(&format!("cache/{host}/a/3/x"), "");
        let text = model(&include("model://local"));
        let world = put("world.sdf", &text);
        let caches = FuelCaches::new([folder.path().join("cache")]);
        let paths = SearchPaths::new([folder.path().join("models")]).with_fuel(caches);
        let mut wanted = Wanted::new(paths);
        wanted.read(&text, &world);
        let found = wanted.next_wanted().unwrap();
        assert_eq!(found.address.to_string(), format!("{fuel}/A"));
        assert!(found.named_in.ends_with("model.sdf:1"));
        assert_eq!(found.need, Need::Include);
        let address = found.address;
        wanted.read_cached(&address, false);
        assert_eq!(wanted.next_wanted(), None);
        let caches = FuelCaches::new([folder.path().join("cache")]);
        let paths = SearchPaths::new([folder.path().join("models")]).with_fuel(caches);
        let mut wanted = Wanted::new(paths);
        wanted.read_cached(&address, true);
        let found = wanted.next_wanted().unwrap();
        assert_eq!(found.need, Need::Guess);
        assert_eq!(found.address.to_string(), format!("{fuel}/other"));
        let included = wanted.next_wanted().map(|wanted| wanted.address);
        assert_eq!(included, Some(address));
        assert_eq!(wanted.next_wanted(), None);
    }
}
