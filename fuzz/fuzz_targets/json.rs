#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ag_ui_proto_fuzz::json(bytes));
