//! The files of a crate import each other in one direction.
//!
//! A file imports another when it names an item that the other one defines: in a `use`, in a path within code, or in the
//! tokens of a macro. Names are followed through re-exports to the definition, so
//!
//! - a `mod.rs` or `lib.rs` that declares modules and hands their items on imports nothing, and nobody imports it;
//! - one that holds code counts as any other file, for what it defines and for what that code names;
//! - naming a module without an item of it is no import, nor is declaring it.
//!
//! Inline modules belong to the file around them. Modules for tests, and what only tests compile, are left out: a test may
//! ask anything. Methods are not imports: an `impl` may stand in a file of its own below its type.
//!
//! A circle is a set of files each of which reaches each other one.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::Item;
use syn::visit::{self, Visit};

use super::finding::{Finding, Rule};
use super::modules::{Modules, Place, attributes};
use super::tree::{Crate, is_for_tests};

/// From a file to those that it imports, each with the first line that does so and the path there.
pub type Edges<'a> = BTreeMap<&'a str, BTreeMap<&'a str, (usize, String)>>;

pub fn circles(owner: &Crate) -> Vec<Finding> {
    let edges = edges(owner);
    components(&edges)
        .into_iter()
        .map(|files| {
            let mut inner = Vec::new();
            for from in &files {
                for (to, (line, path)) in edges.get(from).into_iter().flatten() {
                    if files.contains(to) {
                        inner.push(format!("{from}:{line} names {path} of {to}"));
                    }
                }
            }
            let place = format!("crates/{}/{}", owner.name, files[0]);
            let text = format!("{} files in a circle:\n    {}", files.len(), inner.join("\n    "));
            Finding { rule: Rule::Circle, owner: owner.name.clone(), place, text }
        })
        .collect()
}

/// The imports between the files of a crate.
pub fn edges(owner: &Crate) -> Edges<'_> {
    let modules = Modules::of(owner);
    let mut edges = Edges::new();
    for (id, module) in modules.all().iter().enumerate() {
        let mut names = Names { modules: &modules, module: id, edges: &mut edges };
        for import in module.imports.iter().filter(|import| !import.exported) {
            match &import.name {
                Some(_) => names.note(&import.path, import.line),
                None => names.note_all(&import.path, import.line),
            }
        }
        module.items.iter().for_each(|item| names.visit_item(item));
    }
    edges
}

/// Notes every path in the code of one module.
struct Names<'m, 'a> {
    modules: &'m Modules<'a>,
    module: usize,
    edges: &'m mut Edges<'a>,
}

impl Names<'_, '_> {
    fn note(&mut self, path: &[String], line: usize) {
        if let Some(Place::Item(definer)) = self.modules.resolve(self.module, path) {
            self.edge(definer, line, path.join("::"));
        }
    }

    /// `use a::*` counts as an import of what stands in `a` itself, unless that only hands on.
    fn note_all(&mut self, path: &[String], line: usize) {
        if let Some(Place::Module(named)) = self.modules.resolve(self.module, path)
            && self.modules.all()[named].items.iter().any(|item| !matches!(item, Item::Use(_) | Item::Mod(_)))
        {
            self.edge(named, line, format!("{}::*", path.join("::")));
        }
    }

    fn edge(&mut self, definer: usize, line: usize, path: String) {
        let (from, to) = (self.modules.file(self.module), self.modules.file(definer));
        if from != to {
            self.edges.entry(from).or_default().entry(to).or_insert((line, path));
        }
    }

    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        // State of the scan: colons before this token, and whether the token before was the second of `::`.
        let mut colons = 0;
        let mut field = false;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons < 2 {
                        self.note_macro_path(&path, line);
                        path.clear();
                        line = ident.span().start().line;
                    }
                    if !field {
                        path.push(ident.to_string());
                    }
                    (colons, field) = (0, false);
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                TokenTree::Group(group) => {
                    self.note_macro_path(&path, line);
                    path.clear();
                    (colons, field) = (0, false);
                    self.note_tokens(group.stream());
                }
                other => {
                    self.note_macro_path(&path, line);
                    path.clear();
                    colons = 0;
                    field = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '.');
                }
            }
        }
        self.note_macro_path(&path, line);
    }

    /// A lone word in small letters within a macro is mostly a variable, so it is no name of an item.
    fn note_macro_path(&mut self, path: &[String], line: usize) {
        let item = |name: &String| name.starts_with(char::is_uppercase);
        if path.len() > 1 || path.first().is_some_and(item) {
            self.note(path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        // Inline modules are modules of their own; a file's `use`s were noted as a whole.
        if !matches!(item, Item::Mod(_) | Item::Use(_)) && !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note(&names, line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.note_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}

/// Sets of two or more files of which each reaches each other one, in the order of their names.
fn components<'a>(edges: &Edges<'a>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, Vec<&str>> = edges.keys().map(|&file| (file, reach(edges, file))).collect();
    let mut components: Vec<Vec<&str>> = Vec::new();
    for (&file, others) in &reached {
        if others.contains(&file) && !components.iter().any(|component| component.contains(&file)) {
            let both = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(&file));
            let mut component: Vec<&str> = others.iter().filter(both).copied().collect();
            component.sort_unstable();
            components.push(component);
        }
    }
    components
}

/// Files that one reaches over one or more imports.
fn reach<'a>(edges: &Edges<'a>, from: &str) -> Vec<&'a str> {
    let mut reached: Vec<&str> = Vec::new();
    let mut todo = vec![from];
    while let Some(file) = todo.pop() {
        for &next in edges.get(file).into_iter().flat_map(BTreeMap::keys) {
            if !reached.contains(&next) {
                reached.push(next);
                todo.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        circles(&Crate::example(files)).into_iter().map(|finding| finding.text).collect()
    }

    /// Two files below a root that hands their items on; the first imports the second.
    fn pair(second: &str) -> usize {
        let root = "mod a; mod b; pub use a::A; pub use b::B;";
        found(&[("src/lib.rs", root), ("src/a.rs", "use crate::b::B; pub struct A(B);"), ("src/b.rs", second)]).len()
    }

    #[test]
    fn one_direction_is_fine() {
        assert_eq!(pair("pub struct B;"), 0);
    }

    #[test]
    fn a_way_back_is_found_however_it_is_written() {
        for back in [
            "use super::a::A; pub struct B(A);",
            "use crate::A; pub struct B(A);",
            "use crate::{a::{self as other}}; pub struct B(other::A);",
            "pub struct B(crate::a::A);",
            "pub struct B; fn f() { let _ = super::a::A::new(); }",
            "pub struct B; fn f() { use crate::a::A; }",
            "use super::*; pub struct B(A);",
            "pub struct B; fn f() { println!(\"{:?}\", crate::a::A::new()); }",
            "pub struct B; mod inner { use super::super::a::A; }",
            "pub struct B; macro_rules! m { () => { $crate::a::A } }",
        ] {
            assert_eq!(pair(back), 1, "{back}");
        }
    }

    #[test]
    fn a_circle_over_three_files_names_each_step() {
        let found = found(&[
            ("src/lib.rs", "mod a; mod b; mod c;"),
            ("src/a.rs", "pub struct A(crate::b::B);"),
            ("src/b.rs", "\nuse super::c::C; pub struct B(C);"),
            ("src/c/mod.rs", "mod d; pub struct C(d::D);"),
            ("src/c/d.rs", "pub struct D(Box<crate::a::A>);"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("4 files in a circle"), "{found:?}");
        assert!(found[0].contains("src/b.rs:2 names super::c::C of src/c/mod.rs"), "{found:?}");
    }

    #[test]
    fn a_parent_that_holds_code_is_a_member_and_one_that_hands_on_is_not() {
        let child = "use super::Parent; pub struct Child(Box<Parent>);";
        assert_eq!(found(&[("src/lib.rs", "mod c; pub struct Parent(c::Child);"), ("src/c.rs", child)]).len(), 1);
        assert_eq!(
            found(&[("src/lib.rs", "mod c; pub use c::Child; pub struct Parent;"), ("src/c.rs", child)]).len(),
            0
        );
    }

    #[test]
    fn a_name_that_is_handed_on_and_used_as_well_is_an_import() {
        let lib = "mod c; pub use c::Child; pub struct Parent(Child);";
        assert_eq!(found(&[("src/lib.rs", lib), ("src/c.rs", "pub struct Child; fn f(_: super::Parent) {}")]).len(), 1);
    }

    #[test]
    fn tests_and_other_crates_are_left_out() {
        assert_eq!(pair("pub struct B; #[cfg(test)] mod tests { use crate::a::A; }"), 0);
        assert_eq!(pair("pub struct B; #[cfg(test)] use crate::a::A;"), 0);
        assert_eq!(pair("use ::a::A; pub struct B(A);"), 0);
        assert_eq!(pair("use other::a::A; pub struct B(A);"), 0);
    }
}
