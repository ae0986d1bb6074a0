//! The sources of the workspace, read as Rust.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A file of Rust.
pub(super) struct Source {
    /// From the root of the repository.
    pub(super) path: String,
    pub(super) lines: usize,
    /// Whether it begins with `//!`.
    pub(super) has_docs: bool,
    pub(super) functions: Vec<Function>,
    pub(super) syntax: syn::File,
}

/// A function with a body.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) lines: usize,
}

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// All files of this form that git knows or would add.
pub(super) fn files(form: &str) -> BTreeSet<String> {
    let list = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            form,
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(list.status.success(), "{list:?}");
    let list = String::from_utf8(list.stdout).unwrap();
    let there = list.lines().filter(|path| root().join(path).exists());
    there.map(str::to_owned).collect()
}

/// All files of Rust, but fixtures: they are data, also where they are Rust.
pub(super) fn sources() -> impl Iterator<Item = Source> {
    let ours = files("*.rs").into_iter();
    ours.filter(|path| !path.starts_with("fixtures/"))
        .map(source)
}

fn source(path: String) -> Source {
    let text = std::fs::read_to_string(root().join(&path)).unwrap();
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut found = Functions::default();
    found.visit_file(&syntax);
    Source {
        path,
        lines: text.lines().count(),
        has_docs: text.starts_with("//!"),
        functions: found.functions,
        syntax,
    }
}

#[derive(Default)]
struct Functions {
    functions: Vec<Function>,
}

impl Functions {
    fn add(&mut self, name: &syn::Ident, block: Span) {
        self.functions.push(Function {
            name: name.to_string(),
            lines: block.end().line + 1 - name.span().start().line,
        });
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig.ident, item.block.span());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig.ident, item.block.span());
        visit::visit_impl_item_fn(self, item);
    }
}
