#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpath_fuzz::round_trip(warpath::formats::Format::Pajek, bytes));
