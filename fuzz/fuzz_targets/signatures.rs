//! Whatever lies on a device: what is found lies within it, and looking never panics.

#![no_main]

use identify::signatures::find;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, u64)| {
    let (bytes, claimed) = input;
    // A device may be larger than what can be read of it, and smaller.
    for size in [bytes.len() as u64, claimed] {
        for signature in find(&bytes, size).signatures {
            assert!(signature.offset < size, "{signature:?}");
        }
    }
});
