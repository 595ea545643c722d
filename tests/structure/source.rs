//! Which functions a source file defines: their names, as the documentation writes them, and their lines.
//!
//! | defined as                              | name              |
//! |-----------------------------------------|-------------------|
//! | `fn name` at the top or in a function   | `name`            |
//! | in `impl<T> Type<T>`                    | `Type::name`      |
//! | in `impl Trait for Type<T>`             | `Type::name`      |
//! | with a body in `trait Trait`            | `Trait::name`     |
//! | in the text of a macro                  | `name`            |
//!
//! Closures belong to the function around them.

use proc_macro2::extra::DelimSpan;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A function with its first and last line, counted from 1, and how many lines stand between its braces.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    pub(crate) body_lines: usize,
}

impl Function {
    fn new(name: String, start: Span, body: DelimSpan) -> Self {
        let (open, close) = (body.open().start().line, body.close().end().line);
        let body_lines = (close - open).saturating_sub(1);
        Self { name, first_line: start.start().line, last_line: close, body_lines }
    }
}

/// Returns the functions of a source file, in order of their first lines.
pub(crate) fn functions(source: &str) -> syn::Result<Vec<Function>> {
    let file = syn::parse_file(source)?;
    let mut visitor = Functions::default();
    visitor.visit_file(&file);
    visitor.found.sort_by_key(|function| (function.first_line, function.last_line));
    Ok(visitor.found)
}

#[derive(Default)]
struct Functions {
    /// The types and traits around what is visited, innermost last.
    owners: Vec<Option<String>>,
    found: Vec<Function>,
}

impl Functions {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let name = match self.owners.last() {
            Some(Some(owner)) => format!("{owner}::{}", signature.ident),
            _ => signature.ident.to_string(),
        };
        let function = Function::new(name, signature.fn_token.span, body.brace_token.span);
        self.found.push(function);
    }

    fn inside(&mut self, owner: Option<String>, visit: impl FnOnce(&mut Self)) {
        self.owners.push(owner);
        visit(self);
        self.owners.pop();
    }

    /// Finds `fn name … { … }` in the text of a macro, where there is no syntax tree.
    fn scan(&mut self, tokens: TokenStream) {
        let mut open: Option<(Ident, Span)> = None;
        let mut after_fn = None;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if ident == "fn" => after_fn = Some(ident.span()),
                TokenTree::Ident(ident) => {
                    if let Some(span) = after_fn.take() {
                        open = Some((ident, span));
                    }
                }
                TokenTree::Group(group) => {
                    after_fn = None;
                    if group.delimiter() == Delimiter::Brace
                        && let Some((name, start)) = open.take()
                    {
                        let function = Function::new(name.to_string(), start, group.delim_span());
                        self.found.push(function);
                    }
                    self.scan(group.stream());
                }
                TokenTree::Punct(punct) => {
                    after_fn = None;
                    // A declaration without a body.
                    if punct.as_char() == ';' {
                        open = None;
                    }
                }
                TokenTree::Literal(_) => after_fn = None,
            }
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.inside(None, |visitor| {
            visitor.add(&item.sig, &item.block);
            visit::visit_item_fn(visitor, item);
        });
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let owner = type_name(&item.self_ty);
        self.inside(owner, |visitor| visit::visit_item_impl(visitor, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let owner = Some(item.ident.to_string());
        self.inside(owner, |visitor| visit::visit_item_trait(visitor, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.scan(item.tokens.clone());
    }
}

/// The last name of a type's path: `Cursor` for `&mut block::Cursor<'_, T>`.
fn type_name(of: &syn::Type) -> Option<String> {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        syn::Type::Reference(reference) => type_name(&reference.elem),
        syn::Type::Paren(inner) => type_name(&inner.elem),
        syn::Type::Group(inner) => type_name(&inner.elem),
        _ => None,
    }
}
