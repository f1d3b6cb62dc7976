//! Tables of exports that contradict the document are not offered.

use super::common::card;
use serve::wire::{
    BlockSizes, Export, Exports, ExportsError, Features, MAX_EXPORTS, MAX_REQUEST_BYTES, MAX_STRING_BYTES,
};

fn one(change: impl FnOnce(&mut Export)) -> Result<Exports, ExportsError> {
    let mut export = card();
    change(&mut export);
    Exports::new(vec![export])
}

#[test]
fn a_table_has_up_to_the_limit_of_exports_with_names_of_their_own() {
    let named = |n: usize| Export { name: n.to_string(), ..card() };
    // The volumes of a card come later, perhaps.
    assert!(Exports::new(vec![]).is_ok());
    assert!(Exports::new((0..MAX_EXPORTS).map(named).collect()).is_ok());
    let more = (0..=MAX_EXPORTS).map(named).collect();
    assert_eq!(Exports::new(more), Err(ExportsError::Count(MAX_EXPORTS + 1)));
    assert_eq!(Exports::new(vec![card(), named(1), card()]), Err(ExportsError::SameName("card".into())));
}

#[test]
fn names_and_descriptions_are_strings_as_the_document_wants_them() {
    assert!(one(|export| export.name = String::new()).is_ok());
    assert!(one(|export| export.name = "ä".repeat(MAX_STRING_BYTES / 2)).is_ok());
    for long in [MAX_STRING_BYTES + 1, 100_000] {
        let refused = one(|export| export.name = "x".repeat(long));
        assert!(matches!(refused, Err(ExportsError::TextTooLong { bytes, .. }) if bytes == long));
        assert!(one(|export| export.description = "x".repeat(long)).is_err());
    }
    assert_eq!(one(|export| export.description = "a\0".into()), Err(ExportsError::TextWithNul("card".into())));
}

#[test]
fn block_sizes_are_as_the_document_wants_them() {
    let sizes =
        |minimum, preferred, maximum| one(|export| export.blocks = BlockSizes { minimum, preferred, maximum }).is_ok();
    assert!(sizes(1, 512, 512) && sizes(4096, 4096, 1 << 20) && sizes(65536, 65536, MAX_REQUEST_BYTES));
    assert!(sizes(512, 4096, 4608), "the maximum need not be a power of 2");
    let wrong = [
        (0, 512, 4096),
        (3, 512, 4096),
        (1 << 17, 1 << 17, 1 << 20),
        (1, 256, 4096),
        (1, 513, 4096),
        (4096, 512, 4096),
        (512, 4096, 4100),
        (512, 4096, 512),
        (1, 4096, MAX_REQUEST_BYTES + 1),
        (1, 4096, u32::MAX),
        (1, 4096, 0),
    ];
    wrong.into_iter().for_each(|(a, b, c)| assert!(!sizes(a, b, c), "{a} {b} {c}"));
}

#[test]
fn sizes_can_be_used_to_their_end() {
    assert!(one(|export| export.size_bytes = 0).is_ok());
    assert!(one(|export| export.size_bytes = (1 << 63) - 1).is_ok());
    assert!(one(|export| export.size_bytes = 1 << 63).is_err());
    let refused = one(|export| {
        export.blocks = BlockSizes { minimum: 512, ..BlockSizes::default() };
        export.size_bytes = 1000;
    });
    assert!(matches!(refused, Err(ExportsError::Size { minimum: 512, .. })));
}

#[test]
fn fast_zeroes_need_zeroes() {
    let refused = one(|export| export.features = Features { write_zeroes: false, ..Features::ALL });
    assert_eq!(refused, Err(ExportsError::FastZero("card".into())));
}

#[test]
fn each_error_is_one_line_that_names_the_export() {
    let errors = [
        one(|export| export.name = "a\nb\0".into()),
        one(|export| export.size_bytes = u64::MAX),
        one(|export| export.blocks.minimum = 3),
        one(|export| export.description = "x".repeat(5000)),
        Exports::new(vec![card(); MAX_EXPORTS + 1]),
        Exports::new(vec![card(), card()]),
    ];
    for error in errors {
        let line = error.unwrap_err().to_string();
        assert_eq!(line.lines().count(), 1);
        assert!(["card", "a\\nb", "65 exports"].iter().any(|what| line.contains(what)), "{line}");
    }
}
