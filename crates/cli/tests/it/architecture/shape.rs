//! Bounds on the size of files and types, and on the contents of an error.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Attribute, Fields, GenericArgument, PathArguments, Type};

use super::finding::{Finding, Rule};
use super::tree::{Crate, Source, is_for_tests};

pub fn long_files(owner: &Crate, max_lines: usize) -> Vec<Finding> {
    let long = owner.sources.iter().filter(|source| source.text.lines().count() > max_lines);
    long.map(|source| {
        let lines = source.text.lines().count();
        finding(Rule::LongFile, owner, source, 1, format!("{lines} lines"))
    })
    .collect()
}

/// Structs, and variants of enums, with more fields than `max_fields`.
pub fn many_fields(owner: &Crate, max_fields: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in owner.code() {
        for definition in definitions(source) {
            for (name, fields) in definition.groups() {
                if fields.len() > max_fields {
                    let line = definition.line();
                    let text = format!("{name} has {} fields", fields.len());
                    findings.push(finding(Rule::ManyFields, owner, source, line, text));
                }
            }
        }
    }
    findings
}

/// Fields of error types that hold text made at run time. `&'static str` is part of the program and may stand there.
pub fn text_in_errors(owner: &Crate) -> Vec<Finding> {
    let mut names = BTreeSet::new();
    for source in owner.code() {
        let mut errors = Errors { names: &mut names };
        errors.visit_file(&source.ast);
    }
    let mut findings = Vec::new();
    for source in owner.code() {
        for definition in definitions(source) {
            if !names.contains(&definition.name()) {
                continue;
            }
            for (name, fields) in definition.groups() {
                for field in fields.iter().filter(|field| holds_text(&field.ty)) {
                    let line =
                        field.ident.as_ref().map_or_else(|| definition.line(), |ident| ident.span().start().line);
                    let field = field.ident.as_ref().map(|ident| format!(".{ident}")).unwrap_or_default();
                    let text = format!("{name}{field} is text, not a type");
                    findings.push(finding(Rule::TextInError, owner, source, line, text));
                }
            }
        }
    }
    findings
}

fn finding(rule: Rule, owner: &Crate, source: &Source, line: usize, text: String) -> Finding {
    let place = format!("crates/{}/{}:{line}", owner.name, source.path);
    Finding { rule, owner: owner.name.clone(), place, text }
}

enum Definition<'a> {
    Struct(&'a syn::ItemStruct),
    Enum(&'a syn::ItemEnum),
}

impl Definition<'_> {
    fn name(&self) -> String {
        match self {
            Definition::Struct(item) => item.ident.to_string(),
            Definition::Enum(item) => item.ident.to_string(),
        }
    }

    fn line(&self) -> usize {
        match self {
            Definition::Struct(item) => item.ident.span().start().line,
            Definition::Enum(item) => item.ident.span().start().line,
        }
    }

    /// The fields of a struct, or of each variant of an enum, with the name that they have in a message.
    fn groups(&self) -> Vec<(String, &Fields)> {
        match self {
            Definition::Struct(item) => vec![(self.name(), &item.fields)],
            Definition::Enum(item) => item
                .variants
                .iter()
                .map(|variant| (format!("{}::{}", item.ident, variant.ident), &variant.fields))
                .collect(),
        }
    }
}

/// Types that a file defines, in inline modules and functions as well, without those of tests.
fn definitions(source: &Source) -> Vec<Definition<'_>> {
    struct Collect<'a>(Vec<Definition<'a>>);
    impl<'a> Visit<'a> for Collect<'a> {
        fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
            if !is_for_tests(&item.attrs) {
                visit::visit_item_mod(self, item);
            }
        }
        fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
            if !is_for_tests(&item.attrs) {
                self.0.push(Definition::Struct(item));
            }
        }
        fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
            if !is_for_tests(&item.attrs) {
                self.0.push(Definition::Enum(item));
            }
        }
    }
    let mut collect = Collect(Vec::new());
    collect.visit_file(&source.ast);
    collect.0
}

/// Names of types that derive `Error` or implement it.
struct Errors<'a> {
    names: &'a mut BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Errors<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if derives_error(&item.attrs) {
            self.names.insert(item.ident.to_string());
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if derives_error(&item.attrs) {
            self.names.insert(item.ident.to_string());
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let implemented = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        if implemented.is_some_and(|name| name.ident == "Error")
            && let Type::Path(path) = &*item.self_ty
            && let Some(last) = path.path.segments.last()
        {
            self.names.insert(last.ident.to_string());
        }
        visit::visit_item_impl(self, item);
    }
}

fn derives_error(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let mut error = false;
        let _ = attribute.parse_nested_meta(|meta| {
            error |= meta.path.segments.last().is_some_and(|segment| segment.ident == "Error");
            Ok(())
        });
        error
    })
}

/// Returns whether a type is text made at run time, or holds some: `String`, or `str` behind a pointer that owns it.
fn holds_text(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.iter().any(|segment| {
            let arguments = match &segment.arguments {
                PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
                _ => Vec::new(),
            };
            segment.ident == "String"
                || arguments.into_iter().any(|argument| match argument {
                    GenericArgument::Type(inner) => is_str(inner) || holds_text(inner),
                    _ => false,
                })
        }),
        Type::Tuple(tuple) => tuple.elems.iter().any(holds_text),
        Type::Array(array) => holds_text(&array.elem),
        Type::Slice(slice) => holds_text(&slice.elem),
        Type::Paren(inner) => holds_text(&inner.elem),
        Type::Group(inner) => holds_text(&inner.elem),
        Type::Reference(inner) => holds_text(&inner.elem),
        _ => false,
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn a_file_of_one_line_too_many_is_found_in_sources_and_tests() {
        let example = Crate::example(&[("src/lib.rs", "\n\n\n"), ("tests/it.rs", "\n\n\n\n")]);
        assert_eq!(texts(long_files(&example, 3)), ["4 lines"]);
        assert!(long_files(&example, 4).is_empty());
    }

    #[test]
    fn fields_of_structs_and_of_variants_are_counted() {
        let example = Crate::example(&[(
            "src/lib.rs",
            "struct Wide { a: u8, b: u8, c: u8 } struct Pair(u8, u8);
             enum Each { Small { a: u8 }, Wide(u8, u8, u8) }
             #[cfg(test)] mod tests { struct Wide { a: u8, b: u8, c: u8 } }",
        )]);
        assert_eq!(texts(many_fields(&example, 2)), ["Wide has 3 fields", "Each::Wide has 3 fields"]);
    }

    #[test]
    fn text_in_an_error_is_found_wherever_it_hides() {
        for field in [
            "String",
            "Box<str>",
            "Cow<'static, str>",
            "Option<Vec<String>>",
            "(u8, std::string::String)",
            "&'a [String]",
        ] {
            let text = format!("#[derive(Debug, thiserror::Error)] enum Wrong<'a> {{ One {{ why: {field} }} }}");
            let example = Crate::example(&[("src/lib.rs", &text)]);
            assert_eq!(texts(text_in_errors(&example)), ["Wrong::One.why is text, not a type"], "{field}");
        }
        let by_hand = Crate::example(&[
            ("src/lib.rs", "mod other; struct Wrong(String);"),
            ("src/other.rs", "impl std::error::Error for super::Wrong {}"),
        ]);
        assert_eq!(texts(text_in_errors(&by_hand)), ["Wrong is text, not a type"]);
    }

    #[test]
    fn words_of_the_program_and_types_that_are_no_errors_may_be_text() {
        let example = Crate::example(&[(
            "src/lib.rs",
            "#[derive(Error)] enum Fine { Static(&'static str), Io(std::io::Error), At(PathBuf) } struct Name(String);",
        )]);
        assert!(text_in_errors(&example).is_empty());
    }
}
