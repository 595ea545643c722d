//! Which module of a folder uses which, read from the source with `syn`.
//!
//! A module stands for all files in its folder. It uses another module of the same folder by a path: `use crate::…`,
//! `super::…`, `crate::…` in an expression or a type, `crate::…` and `$crate::…` in the text of a macro. A name that a
//! module re-exports stands for the module that it comes from. The file `mod.rs` is a module of its folder, `folder::mod`:
//! it uses another if its code does, and a re-export is no use. The root is no module: it declares all of them. Between
//! the modules of the root, two uses have no path and count as well:
//!
//! ```text
//! mod engine   struct Engine;           fn run(engine: &Engine) { engine.stop() }     engine uses brake
//! mod brake    impl crate::engine::Engine { fn stop(&self) {} }                       brake uses engine
//! ```
//!
//! Test code is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::names::{ModulePath, Names, Target, is_test_only, use_paths};

/// Methods of the standard library: a call of one without a type says nothing of ours.
const STD_METHODS: &[&str] = &[
    "clear", "contains", "finish", "flush", "get", "insert", "len", "lock", "next", "open", "push",
    "read", "remove", "write",
];

/// That a line of one module uses another module of the same folder.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Use {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) file: String,
    pub(crate) line: usize,
    /// What is used, as the line names it.
    pub(crate) name: String,
}

impl Use {
    /// Names the two modules at the folder that both are in.
    fn new(from: &[String], to: &[String], file: String, line: usize, name: String) -> Self {
        let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        let in_folder = |module: &[String]| match module.get(shared) {
            Some(_) => module[..=shared].join("::"),
            None => [module, &["mod".to_owned()]].concat().join("::"),
        };
        Self { from: in_folder(from), to: in_folder(to), file, line, name }
    }
}

/// Reads a crate from its root file and returns the uses between modules of the same folder. Files are named as
/// they stand under `base`.
///
/// # Errors
///
/// Names files that cannot be read or parsed, and paths that cannot be told to belong to a module: a check that
/// skips them would be none.
pub(crate) fn uses(root_file: &Path, base: &Path) -> Result<Vec<Use>, Vec<String>> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    let directory = root_file.parent().expect("a file is in a directory").to_owned();
    load(root_file, &directory, Vec::new(), &mut files, &mut problems);
    let mut names = Names::default();
    for file in &files {
        names.add(&file.module, &file.syntax.items);
    }
    let mut found = Found::default();
    for file in &files {
        Reading::new(file, base, &names, &mut found).visit_file(&file.syntax);
    }
    found.resolve_methods();
    problems.append(&mut found.problems);
    problems.sort();
    problems.dedup();
    if !problems.is_empty() {
        return Err(problems);
    }
    found.uses.retain(|one| one.from != one.to);
    found.uses.sort();
    found.uses.dedup();
    Ok(found.uses)
}

struct Source {
    path: PathBuf,
    /// Empty for the crate root.
    module: Vec<String>,
    syntax: syn::File,
}

/// Reads a file and, through its `mod name;`, those below it.
fn load(
    path: &Path,
    directory: &Path,
    module: Vec<String>,
    files: &mut Vec<Source>,
    problems: &mut Vec<String>,
) {
    let syntax = match fs::read_to_string(path).map(|text| syn::parse_file(&text)) {
        Ok(Ok(syntax)) => syntax,
        Ok(Err(error)) => return problems.push(format!("{}: {error}", path.display())),
        Err(error) => return problems.push(format!("{}: {error}", path.display())),
    };
    let mut declared = Vec::new();
    declarations(&syntax.items, directory, &module, &mut declared);
    files.push(Source { path: path.to_owned(), module, syntax });
    for (directory, module) in declared {
        let name = module.last().expect("a module has a name");
        let beside = directory.with_file_name(format!("{name}.rs"));
        let path = if beside.exists() { beside } else { directory.join("mod.rs") };
        load(&path, &directory, module, files, problems);
    }
}

/// The modules that items declare in files of their own, each with its directory.
fn declarations(
    items: &[syn::Item],
    directory: &Path,
    module: &[String],
    declared: &mut Vec<(PathBuf, Vec<String>)>,
) {
    for item in items {
        let syn::Item::Mod(item) = item else { continue };
        if is_test_only(&item.attrs) {
            continue;
        }
        let name = item.ident.to_string();
        let directory = directory.join(&name);
        let module = [module, &[name]].concat();
        match &item.content {
            Some((_, items)) => declarations(items, &directory, &module, declared),
            None => declared.push((directory, module)),
        }
    }
}

/// A type by the module that defines it and its name.
type TypeName = (ModulePath, String);

/// A call of a method, and the type of its receiver if that is plain.
struct Call {
    from: ModulePath,
    file: String,
    line: usize,
    /// The call, as the line has it.
    name: String,
    of: Option<TypeName>,
    method: String,
}

#[derive(Default)]
struct Found {
    uses: Vec<Use>,
    problems: Vec<String>,
    /// Inherent methods, with the module of the type's definition, and the modules that define them.
    methods: BTreeMap<String, BTreeSet<(TypeName, ModulePath)>>,
    /// Names of methods of traits, which a call could mean as well.
    trait_methods: BTreeSet<String>,
    calls: Vec<Call>,
}

impl Found {
    /// A method that a module adds to a type of another module is used by whoever calls it.
    fn resolve_methods(&mut self) {
        for Call { from, file, line, name, of, method } in self.calls.drain(..) {
            let Some(defined) = self.methods.get(&method) else { continue };
            let exact = defined.iter().find(|(defined_for, _)| Some(defined_for) == of.as_ref());
            let (of, module) = match exact {
                Some(one) => one,
                // Without the type, only a name that nothing else has.
                None if defined.len() == 1
                    && of.is_none()
                    && !self.trait_methods.contains(&method)
                    && !STD_METHODS.contains(&&method[..]) =>
                {
                    defined.first().expect("one")
                }
                None => continue,
            };
            // In a folder, several files can have methods of one type.
            if module.first() != of.0.first() && module.first() != from.first() {
                self.uses.push(Use::new(&from, module, file, line, name));
            }
        }
    }
}

/// Reads one file.
struct Reading<'a> {
    file: String,
    /// The module of what is visited; it grows in inline modules.
    module: ModulePath,
    names: &'a Names,
    /// The type whose `impl` is visited.
    implemented: Option<TypeName>,
    found: &'a mut Found,
}

impl<'a> Reading<'a> {
    fn new(source: &Source, base: &Path, names: &'a Names, found: &'a mut Found) -> Self {
        Self {
            file: source.path.strip_prefix(base).unwrap_or(&source.path).display().to_string(),
            module: source.module.clone(),
            names,
            implemented: None,
            found,
        }
    }

    /// The module that has what a path names.
    fn resolve(&mut self, segments: &[String], line: usize) -> Option<ModulePath> {
        match self.names.resolve(&self.module, segments) {
            Target::Module(module) => Some(module),
            Target::Outside => None,
            Target::Unknown => {
                self.found.problems.push(format!(
                    "{}:{line}: which module has `{}`? Name it by the module's path",
                    self.file,
                    segments.join("::")
                ));
                None
            }
        }
    }

    /// Adds the use of what a path names. What a `use` brings from another module is used by the `use`; what it brings
    /// from a module below could be a re-export, and is used by the paths that begin with it.
    fn add_path(&mut self, segments: &[String], line: usize, is_import: bool) {
        let Some(to) = self.resolve(segments, line) else { return };
        if self.module.is_empty() || to.is_empty() {
            return; // The root declares all modules.
        }
        let is_below = to.len() > self.module.len() && to.starts_with(&self.module);
        let is_bare = !["crate", "$crate", "super", "self"].contains(&&segments[0][..]);
        let counts = if is_import { !is_below } else { is_below || !is_bare };
        if counts {
            let (file, name) = (self.file.clone(), segments.join("::"));
            self.found.uses.push(Use::new(&self.module, &to, file, line, name));
        }
    }

    /// The type that the path of an `impl` or of a call names, if it is one of this crate.
    fn named_type(&mut self, segments: &[String], line: usize) -> Option<TypeName> {
        let name = segments.last()?.clone();
        if name == "Self" {
            return self.implemented.clone();
        }
        let module = self.resolve(segments, line).unwrap_or_else(|| self.module.clone());
        Some((module, name))
    }

    fn add_call(&mut self, of: Option<TypeName>, method: &syn::Ident) {
        let name = match &of {
            Some((_, of)) => format!("{of}::{method}"),
            None => format!(".{method}()"),
        };
        let line = method.span().start().line;
        let (from, file, method) = (self.module.clone(), self.file.clone(), method.to_string());
        // The module that is used is known once all methods are.
        self.found.calls.push(Call { from, file, line, name, of, method });
    }

    /// Paths and calls of methods in the text of a macro.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Ident(first) if first == "crate" || first == "super" => {
                    let line = first.span().start().line;
                    let mut path = vec![first.to_string()];
                    while let [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(next), ..] =
                        &tokens[at + 1..]
                        && (a.as_char(), b.as_char()) == (':', ':')
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    if path.len() > 1 {
                        self.add_path(&path, line, false);
                    }
                }
                TokenTree::Punct(dot) if dot.as_char() == '.' => {
                    if let [TokenTree::Ident(method), TokenTree::Group(arguments), ..] =
                        &tokens[at + 1..]
                        && arguments.delimiter() == Delimiter::Parenthesis
                    {
                        let on_self = at > 0
                            && matches!(&tokens[at - 1], TokenTree::Ident(it) if it == "self");
                        let of = self.implemented.clone().filter(|_| on_self);
                        self.add_call(of, method);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

fn line_of(path: &syn::Path) -> usize {
    path.segments.first().map_or(0, |first| first.ident.span().start().line)
}

fn type_path(of: &syn::Type) -> Option<&syn::Path> {
    match of {
        syn::Type::Path(path) => Some(&path.path),
        syn::Type::Reference(reference) => type_path(&reference.elem),
        _ => None,
    }
}

fn is_self(expression: &syn::Expr) -> bool {
    matches!(expression, syn::Expr::Path(path) if path.path.is_ident("self"))
}

impl<'ast> Visit<'ast> for Reading<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes: &[syn::Attribute] = match item {
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_test_only(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for path in use_paths(&item.tree) {
            self.add_path(&path.segments, path.line, true);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = type_path(&item.self_ty)
            .and_then(|path| self.named_type(&segments(path), line_of(path)));
        let methods = item.items.iter().filter_map(|item| match item {
            syn::ImplItem::Fn(method) if !is_test_only(&method.attrs) => {
                Some(method.sig.ident.to_string())
            }
            _ => None,
        });
        if item.trait_.is_some() {
            self.found.trait_methods.extend(methods);
        } else if let Some(of) = &of {
            for method in methods {
                let defined = self.found.methods.entry(method).or_default();
                defined.insert((of.clone(), self.module.clone()));
            }
        }
        let outer = std::mem::replace(&mut self.implemented, of);
        visit::visit_item_impl(self, item);
        self.implemented = outer;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test_only(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.found.trait_methods.insert(item.sig.ident.to_string());
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let of = if is_self(&call.receiver) { self.implemented.clone() } else { None };
        self.add_call(of, &call.method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = segments(path);
        let line = line_of(path);
        // One name alone could be a variable.
        if names.len() > 1 || !self.names.is_module(&self.module, &names[0]) {
            self.add_path(&names, line, false);
        }
        // `Type::method`. What is no type has no methods, and finds none.
        if let [of @ .., _] = &names[..]
            && let (Some(of), Some(last)) = (self.named_type(of, line), path.segments.last())
        {
            self.add_call(Some(of), &last.ident);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.visit_path(&item.path);
        self.scan(item.tokens.clone());
    }

    // `pub(in crate::x)` limits who sees an item, and uses nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}
