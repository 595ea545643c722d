//! Which names stand in the modules of a crate, and what the paths of a `use` bring.

use std::collections::{BTreeMap, BTreeSet};

/// How many imports are followed from one path.
const IMPORTS_MAX: usize = 16;

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

/// What a path leads to.
pub(crate) enum Target {
    /// A module or an item of it.
    Module(ModulePath),
    /// Another crate, or what has no path.
    Outside,
    Unknown,
}

/// The names of a module below those of the modules around it; empty for the crate root.
pub(crate) type ModulePath = Vec<String>;

/// The names in one module.
#[derive(Default)]
struct ModuleNames {
    modules: BTreeSet<String>,
    /// Names that `use` brings into the module, with the segments of their paths.
    imports: BTreeMap<String, Vec<String>>,
    items: BTreeSet<String>,
}

/// The names in the modules of a crate.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<ModulePath, ModuleNames>);

impl Names {
    /// Adds the names of a file, and of the inline modules in it.
    pub(crate) fn add(&mut self, module: &[String], items: &[syn::Item]) {
        let mut names = ModuleNames::default();
        for item in items {
            match item {
                syn::Item::Mod(item) if !is_test_only(&item.attrs) => {
                    let name = item.ident.to_string();
                    if let Some((_, items)) = &item.content {
                        self.add(&[module, std::slice::from_ref(&name)].concat(), items);
                    }
                    names.modules.insert(name);
                }
                syn::Item::Use(item) if !is_test_only(&item.attrs) => {
                    let paths = use_paths(&item.tree).into_iter();
                    names.imports.extend(paths.map(|path| (path.name, path.segments)));
                }
                syn::Item::Macro(item) => {
                    names.items.extend(item.ident.iter().map(ToString::to_string));
                }
                item => names.items.extend(item_name(item)),
            }
        }
        self.0.insert(module.to_vec(), names);
    }

    /// Whether a module declares another.
    pub(crate) fn is_module(&self, module: &[String], name: &str) -> bool {
        self.0.get(module).is_some_and(|names| names.modules.contains(name))
    }

    /// Returns the module that has what a path in the module `from` names; a re-export counts for the module that it
    /// comes from.
    pub(crate) fn resolve(&self, from: &[String], path: &[String]) -> Target {
        self.resolve_within(from, path, IMPORTS_MAX)
    }

    fn resolve_within(&self, from: &[String], path: &[String], imports_left: usize) -> Target {
        let mut at = from.to_vec();
        let mut is_bare = true;
        for (index, segment) in path.iter().enumerate() {
            match &segment[..] {
                "crate" | "$crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                name => {
                    let names = self.0.get(&at);
                    if names.is_some_and(|names| names.modules.contains(name)) {
                        at.push(name.to_owned());
                    } else if let Some(import) = names.and_then(|names| names.imports.get(name)) {
                        let whole = [import, &path[index + 1..]].concat();
                        return match imports_left.checked_sub(1) {
                            _ if import[0] == name => Target::Outside, // `use smallvec::smallvec`
                            Some(left) => self.resolve_within(&at, &whole, left),
                            None => Target::Unknown,
                        };
                    } else if names.is_some_and(|names| names.items.contains(name)) {
                        return Target::Module(at);
                    } else if is_bare {
                        return Target::Outside;
                    } else if at.is_empty() {
                        return Target::Unknown;
                    } else {
                        return Target::Module(at); // A macro made it.
                    }
                }
            }
            is_bare = false;
        }
        Target::Module(at)
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
