//! Which names stand in the root of a crate, and what the paths of a `use` bring.

use std::collections::{BTreeMap, BTreeSet};

/// Whether an item is compiled for tests only.
pub(crate) fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            condition == "test" || condition.starts_with("all(test,")
        }
        syn::Meta::Path(path) => path.is_ident("test"),
        _ => false,
    })
}

/// What a path that starts at the crate root leads to.
pub(crate) enum Target {
    Module(String),
    /// An item of the root file, or another crate.
    Outside,
    Unknown,
}

/// The names in the crate root.
pub(crate) struct RootNames {
    modules: BTreeSet<String>,
    /// Names that `use` brings into the root, with the first segment of their paths.
    imports: BTreeMap<String, String>,
    items: BTreeSet<String>,
}

impl RootNames {
    pub(crate) fn new(root: &syn::File) -> Self {
        let mut names =
            Self { modules: BTreeSet::new(), imports: BTreeMap::new(), items: BTreeSet::new() };
        for item in &root.items {
            match item {
                syn::Item::Mod(item) if !is_test_only(&item.attrs) => {
                    names.modules.insert(item.ident.to_string());
                }
                syn::Item::Use(item) => {
                    for path in use_paths(&item.tree) {
                        let mut segments = path.segments.iter();
                        let first = segments.find(|name| *name != "crate" && *name != "self");
                        names.imports.extend(first.map(|first| (path.name, first.clone())));
                    }
                }
                syn::Item::Macro(item) => {
                    names.items.extend(item.ident.iter().map(ToString::to_string));
                }
                item => names.items.extend(item_name(item)),
            }
        }
        names
    }

    pub(crate) fn target(&self, name: &str) -> Target {
        if self.modules.contains(name) {
            return Target::Module(name.to_owned());
        }
        match self.imports.get(name) {
            Some(first) if self.modules.contains(first) => Target::Module(first.clone()),
            Some(_) => Target::Outside,
            None if self.items.contains(name) => Target::Outside,
            None => Target::Unknown,
        }
    }
}

fn item_name(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// A path of a `use`, and the name that it brings.
pub(crate) struct UsePath {
    pub(crate) segments: Vec<String>,
    pub(crate) name: String,
    pub(crate) line: usize,
}

pub(crate) fn use_paths(tree: &syn::UseTree) -> Vec<UsePath> {
    fn collect(tree: &syn::UseTree, before: &[String], paths: &mut Vec<UsePath>) {
        let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        let mut add = |segments: Vec<String>, name: String, at: &syn::Ident| {
            paths.push(UsePath { segments, name, line: at.span().start().line });
        };
        match tree {
            syn::UseTree::Path(path) => collect(&path.tree, &with(&path.ident), paths),
            syn::UseTree::Name(name) if name.ident == "self" => {
                add(before.to_vec(), before.last().cloned().unwrap_or_default(), &name.ident);
            }
            syn::UseTree::Name(name) => add(with(&name.ident), name.ident.to_string(), &name.ident),
            syn::UseTree::Rename(name) => {
                add(with(&name.ident), name.rename.to_string(), &name.ident);
            }
            syn::UseTree::Glob(glob) => {
                let star = syn::Ident::new("glob", glob.star_token.spans[0]);
                add([before, &["*".to_owned()]].concat(), "*".to_owned(), &star);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    collect(tree, before, paths);
                }
            }
        }
    }
    let mut paths = Vec::new();
    collect(tree, &[], &mut paths);
    paths
}
