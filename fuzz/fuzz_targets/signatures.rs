//! Takes any bytes as the contents of a device: every signature that is found lies within it, and the search never panics.

#![no_main]

use identify::signatures::find;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, u64)| {
    let (bytes, claimed) = input;
    // A device may be larger or smaller than its readable part.
    for size in [bytes.len() as u64, claimed] {
        for signature in find(&bytes, size).signatures {
            assert!(signature.offset < size, "{signature:?}");
        }
    }
});
