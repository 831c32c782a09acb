//! The one function of the crate that the compiler is told to trust. It is private, so that its file
//! is built in here.

#![no_main]

#[path = "../../src/value/ascii.rs"]
mod ascii;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // What is found must not hang on where in memory the bytes stand.
    for from in 0..bytes.len().min(9) {
        let Some(bytes) = bytes.get(from..) else { continue };
        assert_eq!(ascii::text(bytes), str::from_utf8(bytes).ok());
    }
});
