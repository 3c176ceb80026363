//! Under the feature `emulator`: compiles the emulator and every kernel for the CPU. Otherwise it does nothing.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(emulator)");
    println!("cargo::rustc-check-cfg=cfg(emulator_sanitized)");
    #[cfg(feature = "emulator")]
    emulator::build();
}

/// The feature needs a C++20 compiler. Where there is none, the build goes on without `cfg(emulator)`, with a warning.
///
/// With the environment variable `WARPATH_SANITIZE`, such as `address,undefined`, kernels and emulator are compiled with
/// these sanitizers (`cfg(emulator_sanitized)`). Tests that run kernels then end at the first bad access.
#[cfg(feature = "emulator")]
mod emulator {
    use std::path::{Path, PathBuf};
    use std::{env, fs, io};

    pub(super) fn build() {
        println!("cargo::rerun-if-changed=kernels");
        println!("cargo::rerun-if-env-changed=WARPATH_SANITIZE");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a directory"));
        if let Err(why) = probe(&out) {
            println!("cargo::warning=kernels are not tested, since no C++20 compiler was found: {why}");
            return;
        }
        println!("cargo::rustc-cfg=emulator");
        // For the test that builds a program of its own.
        println!("cargo::rustc-env=WARPATH_CXX={}", compiler().get_compiler().path().display());
        // Clippy looks at the sources, and links nothing; nor does rustdoc, for which docs.rs sets a variable.
        println!("cargo::rerun-if-env-changed=DOCS_RS");
        let wrapper = env::var_os("RUSTC_WORKSPACE_WRAPPER");
        let is_clippy = wrapper.is_some_and(|wrapper| Path::new(&wrapper).ends_with("clippy-driver"));
        if is_clippy || env::var_os("DOCS_RS").is_some() {
            return;
        }
        let mut build = compiler();
        build
            .flags(["-x", "c++"])
            .include("kernels")
            .define("WARPATH_EMULATOR", None)
            .warnings_into_errors(env::var_os("CI").is_some())
            // Kernels read arrays of words as vectors, and carry hints for nvcc.
            .flags(["-fno-strict-aliasing", "-Wno-unknown-pragmas"])
            .cargo_metadata(false);
        let mut sources = Vec::new();
        find_sources(Path::new("kernels"), "cu", &mut sources).expect("the kernels can be listed");
        find_sources(Path::new("kernels/emulator"), "cpp", &mut sources).expect("the emulator can be listed");
        sources.sort();
        build.files(sources);
        match env::var("WARPATH_SANITIZE").ok().filter(|sanitizers| !sanitizers.is_empty()) {
            Some(sanitizers) => sanitize(build.opt_level(1), &sanitizers),
            None => _ = build.opt_level(2),
        }
        build.compile("warpath_kernels");
        link_whole(&out.join("libwarpath_kernels.a"));
    }

    /// Links all of an archive of C++ into the tests of this package, but not into the library. Kernels enter a table before `main`:
    /// nothing else refers to them.
    fn link_whole(archive: &Path) {
        let archive = archive.display();
        let arguments = if env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple") {
            vec![format!("-Wl,-force_load,{archive}"), "-lc++".into()]
        } else {
            let whole = "-Wl,--push-state,--whole-archive";
            vec![whole.into(), archive.to_string(), "-Wl,--pop-state".into(), "-lstdc++".into()]
        };
        arguments.iter().for_each(|argument| println!("cargo::rustc-link-arg={argument}"));
    }

    fn compiler() -> cc::Build {
        let mut build = cc::Build::new();
        build.cpp(true).std("c++20");
        build
    }

    /// Can the compiler do what the emulator needs? The error is for people.
    fn probe(out: &Path) -> Result<(), String> {
        let source = out.join("probe.cpp");
        let program = "#include <bit>\n#include <source_location>\n#include <sys/mman.h>\n\
                       constinit thread_local int probe = static_cast<int>(std::bit_cast<unsigned>(1.0f));\n\
                       unsigned line() { return std::source_location::current().line(); }\n";
        fs::write(&source, program).map_err(|error| error.to_string())?;
        compiler()
            .file(&source)
            .cargo_metadata(false)
            .cargo_warnings(false)
            .try_compile("warpath_probe")
            .map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
    }

    fn find_sources(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                find_sources(&path, extension, found)?;
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
        Ok(())
    }

    fn sanitize(build: &mut cc::Build, sanitizers: &str) {
        build.flag(format!("-fsanitize={sanitizers}"));
        build.flags(["-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g1"]);
        println!("cargo::rustc-link-arg=-fsanitize={sanitizers}");
        // rustc tells the linker to leave out all default libraries and with them, for gcc, the sanitizers'. That for
        // addresses has to come before all others, which it does if it is part of the program.
        if build.get_compiler().is_like_gnu() {
            for (sanitizer, linked) in [
                ("address", "-Bstatic,--whole-archive,-lasan,--no-whole-archive"),
                ("undefined", "-Bdynamic,--no-as-needed,-lubsan"),
            ] {
                if sanitizers.split(',').any(|one| one == sanitizer) {
                    println!("cargo::rustc-link-arg=-Wl,--push-state,{linked},--pop-state");
                }
            }
        }
        println!("cargo::rustc-cfg=emulator_sanitized");
    }
}
