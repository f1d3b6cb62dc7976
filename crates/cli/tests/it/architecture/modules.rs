//! The modules of a crate, and the file in which a path's item is defined.
//!
//! This resolves names as the compiler does, but for what only an expansion of macros could tell: an item that is not
//! found in the module that its path names counts as defined there.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Item, UseTree, Visibility};

use super::tree::{Crate, Source, is_for_tests};

/// Paths through more re-exports than this are given up.
const MAX_HOPS: usize = 16;

pub struct Modules<'a> {
    all: Vec<Module<'a>>,
}

/// A module outside tests. An inline one lies in the file of the module around it.
pub struct Module<'a> {
    pub file: &'a str,
    pub items: &'a [Item],
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    definitions: BTreeSet<String>,
    pub imports: Vec<Import>,
}

/// One leaf of a `use`, in a function as well.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name that it has here, or nothing for `*`.
    pub name: Option<String>,
    pub path: Vec<String>,
    pub line: usize,
    /// True if others may take it from here.
    pub exported: bool,
}

/// The place to which a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Module(usize),
    /// An item that this module defines.
    Item(usize),
}

impl<'a> Modules<'a> {
    /// The tree below each root of a crate: its library and its programs.
    pub fn of(owner: &'a Crate) -> Modules<'a> {
        let mut modules = Modules { all: Vec::new() };
        for source in owner.code().filter(|source| is_root(&source.path)) {
            let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            modules.add(owner, source, &source.ast.items, folder, None);
        }
        modules
    }

    pub fn all(&self) -> &[Module<'a>] {
        &self.all
    }

    pub fn file(&self, module: usize) -> &'a str {
        self.all[module].file
    }

    fn add(
        &mut self,
        owner: &'a Crate,
        source: &'a Source,
        items: &'a [Item],
        folder: &str,
        parent: Option<usize>,
    ) -> usize {
        let id = self.all.len();
        let definitions = items.iter().filter_map(defined_name).collect();
        let imports = imports(items);
        self.all.push(Module { file: &source.path, items, parent, children: BTreeMap::new(), definitions, imports });
        for item in items {
            let Item::Mod(item) = item else { continue };
            if is_for_tests(&item.attrs) {
                continue;
            }
            let name = item.ident.to_string();
            let below = format!("{folder}/{name}");
            let child = match &item.content {
                Some((_, items)) => self.add(owner, source, items, &below, Some(id)),
                None => {
                    let files = [format!("{below}.rs"), format!("{below}/mod.rs")];
                    let Some(source) = files.iter().find_map(|path| owner.source(path)) else { continue };
                    self.add(owner, source, &source.ast.items, &below, Some(id))
                }
            };
            self.all[id].children.insert(name, child);
        }
        id
    }

    /// The place that a path in a module leads to, or nothing when it leads out of the crate.
    pub fn resolve(&self, module: usize, path: &[String]) -> Option<Place> {
        self.follow(module, path, 0)
    }

    fn follow(&self, module: usize, path: &[String], hops: usize) -> Option<Place> {
        if hops > MAX_HOPS {
            return None;
        }
        let mut at = module;
        let mut rest = path;
        let mut inside = false;
        while let Some((first, behind)) = rest.split_first() {
            at = match first.as_str() {
                "crate" => self.root(at),
                "self" => at,
                "super" => self.all[at].parent?,
                _ => break,
            };
            inside = true;
            rest = behind;
        }
        while let Some((first, behind)) = rest.split_first() {
            match self.lookup(at, first, inside, hops) {
                Some(Place::Module(next)) => at = next,
                Some(item) => return Some(item),
                None if inside => return Some(Place::Item(at)),
                None => return None,
            }
            inside = true;
            rest = behind;
        }
        Some(Place::Module(at))
    }

    fn root(&self, mut module: usize) -> usize {
        while let Some(parent) = self.all[module].parent {
            module = parent;
        }
        module
    }

    /// A name in a module: what it defines, declares or imports, in this order. `inside` says that a path has led here, so
    /// a name that is imported from outside the crate leads out of it.
    fn lookup(&self, module: usize, name: &str, inside: bool, hops: usize) -> Option<Place> {
        let here = &self.all[module];
        if let Some(&child) = here.children.get(name) {
            return Some(Place::Module(child));
        }
        if here.definitions.contains(name) {
            return Some(Place::Item(module));
        }
        for import in here.imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
            // `use media;` names another crate, not itself.
            if import.path.len() > 1 || import.path[0] != name {
                return self.follow(module, &import.path, hops + 1).or(inside.then_some(Place::Item(module)));
            }
        }
        for import in here.imports.iter().filter(|import| import.name.is_none()) {
            if let Some(Place::Module(other)) = self.follow(module, &import.path, hops + 1)
                && other != module
                && hops < MAX_HOPS
                && let Some(place) = self.lookup(other, name, false, hops + 1)
            {
                return Some(place);
            }
        }
        None
    }
}

fn is_root(path: &str) -> bool {
    matches!(path, "src/lib.rs" | "src/main.rs")
        || path.strip_prefix("src/bin/").is_some_and(|rest| !rest.contains('/'))
}

fn defined_name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn imports(items: &[Item]) -> Vec<Import> {
    struct Collect(Vec<Import>);
    impl<'ast> Visit<'ast> for Collect {
        fn visit_item(&mut self, item: &'ast Item) {
            if !is_for_tests(attributes(item)) && !matches!(item, Item::Mod(_)) {
                visit::visit_item(self, item);
            }
        }
        fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
            let exported = !matches!(item.vis, Visibility::Inherited);
            if item.leading_colon.is_none() {
                leaves(&item.tree, &mut Vec::new(), exported, &mut self.0);
            }
        }
    }
    let mut collect = Collect(Vec::new());
    items.iter().for_each(|item| collect.visit_item(item));
    collect.0
}

fn leaves(tree: &UseTree, path: &mut Vec<String>, exported: bool, imports: &mut Vec<Import>) {
    let mut leaf = |ident: &syn::Ident, name: Option<String>, last: Option<String>| {
        let path: Vec<String> = path.iter().cloned().chain(last).collect();
        imports.push(Import { name, path, line: ident.span().start().line, exported });
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            leaves(&tree.tree, path, exported, imports);
            path.pop();
        }
        // `a::{self}` is `a`.
        UseTree::Name(tree) if tree.ident == "self" => leaf(&tree.ident, path.last().cloned(), None),
        UseTree::Name(tree) => leaf(&tree.ident, Some(tree.ident.to_string()), Some(tree.ident.to_string())),
        UseTree::Rename(tree) if tree.ident == "self" => leaf(&tree.rename, Some(tree.rename.to_string()), None),
        UseTree::Rename(tree) => leaf(&tree.rename, Some(tree.rename.to_string()), Some(tree.ident.to_string())),
        UseTree::Glob(tree) => {
            let line = tree.star_token.spans[0].start().line;
            imports.push(Import { name: None, path: path.clone(), line, exported });
        }
        UseTree::Group(tree) => tree.items.iter().for_each(|tree| leaves(tree, path, exported, imports)),
    }
}

/// The attributes of an item, of whatever kind.
pub fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
