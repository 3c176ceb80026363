#![no_main]

// Detection and decompression: the whole path for bytes of unknown format.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = warpath_fuzz::options().read_bytes("input", bytes.to_vec());
});
